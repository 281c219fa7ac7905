"""Every table and figure of the papers, made over a slice in the published layouts by a scripted model."""

import json
import re
import shutil
import threading
import time
from pathlib import Path

import pytest

import published_layouts
from fakes.embedder import WordEmbedder
from films import CELL, NUMBER_AND_IDS
from orienteer.errors import ModelError
from orienteer.graph import Graph
from orienteer.lab.evaluation import published_tables
from orienteer.lab.quizzes import Objectives
from orienteer.lab.reproduce import reproductions
from orienteer.records import Message, Reply, ToolCall, Usage
from orienteer.serve import main as run_command_line
from orienteer.settings import Settings

pytestmark = pytest.mark.process  # pickles and a model's code are run in one
ROWS = {row.id: row for row in reproductions().row}
OTHER_LINES = {"ark:table5", "ark:figure4", "graphscout:table1", "graphscout:figure1", "sage:figure4"}
"""Rows whose lines are named by the model that is asked, and one whose published figures are gains."""
# What the audit of the papers counts (paper: tables and figures with results).
TABLES = {"ark": 10, "graphsearch": 5, "graphscout": 5, "sage": 20}
FIGURES = {
    "ark": (2, 3, 4, 5),
    "graphsearch": (2, 4, 5, "6a", "6b", 7, 8),
    "graphscout": (1, 3, 4, 5, 6, 7, 8),
    "sage": range(4, 20),
}


LOOK = 'for row in cypher("MATCH (a)-[e]-(b) RETURN a.id, b.id"): print(row["a.id"], row["b.id"])'
QUIZZED = {
    "question": "Which author is the author of On prisms?",
    "answer": ["Ida Rask"],
    "clue_nodes": ["p3", "a3"],
    "gold_query": f"MATCH (x:author)<-[:author]-(p {{id: 'p3'}}) {NUMBER_AND_IDS}",
}


class SliceModel:
    """Searches for the question, takes the first node that it is shown, answers `Ada Holm`, and fills any schema."""

    name, price = "scripted", None

    def __init__(self):
        self.requests, self._lock = 0, threading.Lock()

    def chat(self, messages, *, tools=(), schema=None, sampling=None, seconds=None):
        with self._lock:
            self.requests += 1
        asked = next((one.content for one in reversed(messages) if one.role == "user"), "")
        if "memory" in messages[0].content:  # asked whether it knows an item of a quiz without the graph
            return self._reply("unknown")
        if schema is not None:
            wanted = QUIZZED if "gold_query" in schema.get("properties", {}) else filled(schema, asked)
            return self._reply(json.dumps(wanted))
        turns = sum(one.role == "assistant" for one in messages)
        if "node_id_retriever" in messages[0].content and not tools and not turns:
            call = {"name": "node_id_retriever", "arguments": {"queries": ["Ada Holm"]}}
            return self._reply(f"<tool_call>\n{json.dumps(call)}\n</tool_call>")
        offered = {tool.name: tool for tool in tools}
        shown = [one.content for one in messages if one.role == "tool"]
        if not offered or (shown and "finish" not in offered):
            return self._reply("The text says so.\n\\answer{Ada Holm}\nAnswer: Ada Holm")
        first = re.search(r"\[([^\]\s]+)\]", " ".join(shown))
        name = next(iter(offered)) if not shown else "add_to_answer" if len(shown) == 1 and first else "finish"
        if "code_interpreter" in offered:
            call = ToolCall(id="look", name="code_interpreter", arguments=json.dumps({"code": LOOK}))
            return Reply(message=Message(role="assistant", tool_calls=(call,)), usage=Usage(calls=1))
        given = filled(offered[name].parameters, asked, node=first[1] if first else "0")
        call = ToolCall(id=f"call-{len(messages)}", name=name, arguments=json.dumps(given))
        return Reply(message=Message(role="assistant", tool_calls=(call,)), usage=Usage(calls=1))

    def _reply(self, text):
        return Reply(message=Message(role="assistant", content=text), usage=Usage(calls=1, prompt_tokens=9))


def filled(schema, text, node="0"):
    """Return a value that a schema allows: its first choice, one item of a list, the question for a text."""
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return filled(schema["anyOf"][0], text, node)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        wanted = schema.get("required", list(schema.get("properties", {})))
        return {name: node if name in ("node", "node_index") else [node] if name == "nodes" else
                filled(schema["properties"][name], text, node) for name in wanted}  # fmt: skip
    if kind == "array":
        return [filled(schema["items"], text, node)] if "items" in schema else []
    simple = {"boolean": True, "null": None}
    return simple.get(kind, schema.get("minimum", 1) if kind in ("integer", "number") else text.splitlines()[-1][:60])


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Give the folder of each data set, as it is published."""
    folder = tmp_path_factory.mktemp("published")
    return {name: getattr(published_layouts, name)(folder / name) for name in reproductions().data}


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    """Give the folder of all rows, which share graphs and runs there."""
    return tmp_path_factory.mktemp("reproduced")


@pytest.fixture
def model(monkeypatch):
    """Give the model that is opened under any name, beside an embedder without a model."""
    model = SliceModel()
    monkeypatch.setattr(Settings, "open_model", lambda self, name=None: model)
    monkeypatch.setattr(Settings, "open_embedder", lambda self, name, threads=1: WordEmbedder())
    return model


@pytest.fixture
def reproduced(published, target, model, capsys, tmp_path, monkeypatch):
    """Give a function that makes a row by its command, and returns what it prints as JSON."""
    monkeypatch.setenv("ORIENTEER_CACHE", str(tmp_path / "cache"))

    def run(row_id, *flags, data=None, code=0):
        folders = [str(published[name]) for name in ROWS[row_id].data] if data is None else data
        words = ["reproduce", row_id, *folders, "-o", str(target), "--limit", "1", "--json", *flags]
        words += ["--model", "scripted"] if "model" in ROWS[row_id].takes else []
        assert run_command_line(words) == code
        printed = capsys.readouterr()
        return json.loads(printed.out) if not code else printed.err

    return run


def test_the_rows_are_the_tables_and_figures_with_results():
    wanted = {f"{paper}:table{number}" for paper, last in TABLES.items() for number in range(1, last + 1)}
    wanted |= {f"{paper}:figure{number}" for paper, numbers in FIGURES.items() for number in numbers}
    assert set(ROWS) == wanted
    assert len(ROWS) == 74
    assert sum(row.command is not None for row in ROWS.values()) >= 66
    assert all((row.command is None) == bool(row.reason) for row in ROWS.values())
    assert {table.id for table in published_tables() if ":" in table.id} <= set(ROWS)


@pytest.mark.parametrize("row_id", [row.id for row in ROWS.values() if row.command])
def test_a_row_over_a_slice(reproduced, model, row_id, record_property):
    started = time.monotonic()
    flags = ["--student", "pupil"] if "STUDENT" in ROWS[row_id].command else []
    if any(step.startswith("quiz") for step in ROWS[row_id].steps):  # the scripted model writes items of one kind
        seeds = (seed for seed in range(1000) if Objectives(None, seed, "model").cell(0) == CELL["entity"])
        flags += ["--random-seed", str(next(seeds))]
    made = reproduced(row_id, *flags)
    record_property("seconds", round(time.monotonic() - started, 2))
    record_property("requests", model.requests)
    figures = [value for line in made["ours"].values() for value in line.values()]
    assert figures
    table = ROWS[row_id].published
    assert (made["source"] is None) == (table is None)
    if table is not None:
        assert made["columns"][: len(table.columns)] == list(table.columns)
        assert {*made["ours"]} & {*made["published"]} or row_id in OTHER_LINES
        assert any({*line} & {*table.columns} for line in made["ours"].values()) or row_id == "sage:figure4"


def test_a_table_has_the_papers_layout_and_its_figures_in_brackets(published, target, capsys):
    words = ["reproduce", "ark:table6", str(published["stark"]), "-o", str(target)]
    assert run_command_line(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["train", "val", "test"]
    assert lines[2].split() == ["prime", "1", "(6,162)", "1", "(2,240)", "2", "(2,016)"]
    assert "in brackets: ARK (paper 001), table 6" in lines


def test_figures_by_hand(reproduced):
    """The lantern is the first question's gold in each base, and its title has the question's words."""
    ours = reproduced("ark:table1")["ours"]
    assert ours["bm25"]["amazon Hit@1"] == ours["bm25"]["mag Hit@1"] == ours["bm25"]["prime Hit@1"] == 1
    assert ours["bm25"]["average MRR"] == 1
    assert "ark (distilled, 8B)" not in ours  # no student was named
    figures = reproduced("ark:table9")["ours"]["amazon"]  # the model searches the graph, and along no edge
    assert (figures["all global_only"], figures["all both_tools"]) == (1, 0)
    counts = {label: line["count"] for label, line in reproduced("sage:table12")["ours"].items()}
    assert counts == {"Author": 1, "Paper": 3, "Field": 1, "Institution": 1, "Total": 6}
    assert reproduced("sage:table10")["ours"]["Review"]["count"] == 3
    sizes = reproduced("graphscout:table4")["ours"]
    assert sizes["physics"] == {"nodes": 7, "edges": 6, "templates": 2, "questions": 2}
    assert reproduced("graphscout:table3")["ours"] == reproduced("graphscout:table3")["published"]
    halves = reproduced("graphscout:figure4")["ours"]["graph-cot"]
    assert set(halves) <= {
        f"{part} {level} F1" for part in ROWS["graphscout:figure4"].parts for level in ("easy", "medium")
    }
    assert set(halves.values()) <= {0.0, 1.0}


def test_nothing_is_asked_twice(reproduced, model):
    first = [reproduced("ark:table2"), reproduced("sage:table3")]
    model.requests = 0
    assert [reproduced("ark:table2"), reproduced("sage:table3")] == first
    assert model.requests == 0


def test_an_interrupted_row_continues(published, model, monkeypatch, tmp_path, capsys):
    asked = model.chat
    words = ["reproduce", "ark:table8", str(published["stark"]), "-o", str(tmp_path / "out"), "--model", "scripted"]

    def interrupted(*messages, **given):
        if model.requests == 9:
            raise KeyboardInterrupt
        return asked(*messages, **given)

    monkeypatch.setenv("ORIENTEER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(model, "chat", interrupted)
    assert run_command_line(words) == 130
    before = model.requests
    monkeypatch.setattr(model, "chat", asked)
    assert run_command_line(words) == 0
    whole = model.requests
    shutil.rmtree(tmp_path / "out")
    model.requests = 0
    assert run_command_line(words) == 0
    assert before <= model.requests == whole, "what was paid before the interruption was not paid again"
    capsys.readouterr()


def test_what_is_wrong_is_said_before_anything_is_paid(reproduced, model, tmp_path, capsys):
    error = reproduced("ark:table1", data=[str(tmp_path)], code=2)
    assert error.count("error:") == 1
    assert "skb/amazon and qa/amazon, skb/mag and qa/mag, skb/prime and qa/prime" in error
    assert "huggingface.co/datasets/snap-stanford/stark" in error
    file, into = tmp_path / "file", ["-o", str(tmp_path / "out")]
    file.write_text("")
    for words, told in (
        (["reproduce", "ark:tabel1", *into], "Near: ark:table1"),
        (["reproduce", "ark:table1"], "-o FOLDER"),
        (["reproduce", "ark:table7", *into], "no DATA was given: ark:table7 needs skb/amazon and qa/amazon"),
        (["reproduce", "ark:table7", str(tmp_path / "away"), *into], "away is not there: ark:table7 needs"),
        (["reproduce", "ark:table7", str(file), *into], "file is a file: ark:table7 needs"),
        (["reproduce", "ark:table7", str(tmp_path), *into, "--limit", "0"], "--limit"),
    ):
        assert run_command_line(words) == 2
        assert told in capsys.readouterr().err
    assert model.requests == 0
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("flags", "code", "told"),
    [
        (["--model", "m", "--base-url", "http://127.0.0.1:9/v1"], 1, "is the server running?"),
        (["--model", "local:nowhere.gguf"], 2, "nowhere.gguf"),
        (["--model", "m", "--embedder", "no-such-embedder"], 2, "no-such-embedder"),
    ],
)
def test_a_model_that_cannot_be_asked_is_told_before_a_graph_is_made(
    published, tmp_path, capsys, monkeypatch, flags, code, told
):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)  # between two attempts
    if "--embedder" in flags:
        monkeypatch.setattr(Settings, "open_model", lambda self, name=None: SliceModel())
    words = ["reproduce", "ark:table4", str(published["stark"]), "-o", str(tmp_path / "out"), *flags]
    assert run_command_line(words) == code
    assert told in capsys.readouterr().err
    assert not (tmp_path / "out" / "graphs").exists()


def test_questions_that_failed_are_told_and_asked_again(published, model, monkeypatch, tmp_path, capsys):
    """A model is away for a time: BM25 has its figure, ARK has none, until the command is repeated."""
    monkeypatch.setenv("ORIENTEER_CACHE", str(tmp_path / "cache"))
    words = ["reproduce", "ark:table1", str(published["stark"]), "-o", str(tmp_path / "out"), "--limit", "1"]
    words += ["--model", "scripted", "--judge", "unused"]

    def away(*messages, **given):
        raise ModelError("the server is away")

    with monkeypatch.context() as patch:
        patch.setattr(model, "chat", away)
        assert run_command_line(words) == 1
        lines = capsys.readouterr().out.splitlines()
        assert "ours: model scripted, embedder minilm, n amazon 1, n mag 1, n prime 1" in lines
        assert "failed: ark (GPT-4.1), mag: 1 of 1" in lines
        assert not any(line.startswith("failed: bm25") for line in lines)
        assert run_command_line([*words, "--json"]) == 1
        made = json.loads(capsys.readouterr().out)
    assert made["made_by"] == {"model": "scripted", "embedder": "minilm"}
    assert {"line": "bm25", "part": "prime", "failed": 0, "n": 1} in made["asked"]
    assert {"line": "ark (GPT-4.1)", "part": "prime", "failed": 1, "n": 1} in made["asked"]
    assert run_command_line([*words, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert not any(one["failed"] for one in made["asked"])
    assert made["ours"]["ark (GPT-4.1)"]["mag Hit@1"] == 1


def test_a_folder_keeps_its_embedder(reproduced, target):
    reproduced("sage:figure18")
    before = sorted(target.glob("graphs/*"))
    told = reproduced("sage:figure18", "--embedder", "other", code=2)
    assert "made with --embedder minilm" in told
    assert sorted(target.glob("graphs/*")) == before


def test_the_order_of_rows_changes_no_figure(reproduced, published, model, monkeypatch, tmp_path, capsys):
    """GraphScout searches by meaning if its graph has vectors: it has them whichever row comes first."""
    words = ["reproduce", "graphscout:figure5", str(published["grbench"]), "-o", str(tmp_path), "--model", "scripted"]
    monkeypatch.setenv("ORIENTEER_CACHE", str(tmp_path / "cache"))
    assert run_command_line([*words, "--limit", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["made_by"] == {"model": "scripted", "embedder": "minilm"}
    graphs = [folder for folder in (tmp_path / "graphs").iterdir() if folder.is_dir()]
    assert graphs
    assert all(Graph.open(folder).arrays.searcher.has_vectors for folder in graphs)


@pytest.mark.parametrize(("row_id", "method"), [("sage:figure4", "sage"), ("sage:figure18", "sage:hybrid")])
def test_a_list_of_k_is_asked_for_as_one(reproduced, target, row_id, method):
    """As many nodes as are asked for are seeds and neighbours: the beginning of a longer list is not a shorter one."""
    ours = reproduced(row_id)["ours"]
    assert {label.rpartition(", ")[2] for label in ours} == {"2", "5", "10", "20", "50", "100"}
    files = target.glob("runs/*-k100*/results.jsonl")
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    own = [line for line in lines if line["method"].split()[0] == method and "k=2" in line["method"].split()]
    assert {len(line["hits"]) for line in own} == {2}


def test_several_parts_of_a_report_have_lines_of_their_own(reproduced):
    seeds = (seed for seed in range(1000) if Objectives(None, seed, "model").cell(0) == CELL["entity"])
    ours = reproduced("graphscout:figure8", "--random-seed", str(next(seeds)))["ours"]
    assert {"question_tokens", "question_tokens counts", "clue_nodes", "clue_nodes counts"} <= {*ours}
    assert sum(ours["clue_nodes counts"].values()) == sum(ours["question_tokens counts"].values()) == 1


def test_an_estimate_counts_what_is_paid_already(reproduced):
    """The tokens of metadata are the same before and after the graph is made."""
    before = reproduced("sage:table16")["ours"]["whole"]
    reproduced("sage:table8")
    assert reproduced("sage:table16")["ours"]["whole"] == before
    assert before["total"] == before["prompt_tokens"] + before["completion_tokens"] > 0


def test_a_folder_may_have_braces_in_its_name(published, tmp_path, capsys):
    words = ["reproduce", "sage:figure18", str(published["stark"]), "--limit", "1", "-o", str(tmp_path / "o{1} b")]
    assert run_command_line(words) == 0
    assert "bm25 + dense, 20" in capsys.readouterr().out


def test_notes_are_printed_once(published, model, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("ORIENTEER_CACHE", str(tmp_path / "cache"))
    words = ["reproduce", "ark:table3", str(published["stark"]), "--limit", "1", "-o", str(tmp_path / "out")]
    assert run_command_line([*words, "--model", "scripted"]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if line]
    assert sum("-amazon-" in line and "fused from" in line for line in told) == 1
    assert sum(line.startswith("By ") for line in told) == 3  # one for the run on each graph


def test_a_figure_of_a_tables_column_has_its_figures():
    for figure, table in (("ark:figure4", "ark:table5"), ("graphscout:figure1", "graphscout:table1")):
        own, whole = ROWS[figure].published.figures, ROWS[table].published.figures
        assert own.keys() == whole.keys()
        assert all(own[label].items() <= whole[label].items() for label in own)
    assert ROWS["ark:figure4"].published.figures["ark (GPT-4.1)"]["mag Hit@1"] == 0.734
    assert ROWS["graphscout:figure1"].published.figures["polyg (GLM-4.6)"] == {"biomedical QwenScore": 0.467}


def test_a_row_that_asks_a_model_needs_one(published, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("ORIENTEER_MODEL", raising=False)
    assert run_command_line(["reproduce", "ark:table2", str(published["stark"]), "-o", str(tmp_path / "out")]) == 2
    assert "name one with --model" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_list_has_every_row_with_its_command(capsys):
    assert run_command_line(["reproduce", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {one["id"]: one["command"] for one in listed} == {row.id: row.command for row in ROWS.values()}
    assert run_command_line(["reproduce", "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + len(ROWS)


def test_the_page_is_what_the_rows_say(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    from reproduce_page import PAGE, page

    text = PAGE.read_text(encoding="utf-8")
    assert text == page(), "write it again: python benchmarks/reproduce_page.py"
    assert all(f"`{row_id}`" in text for row_id in ROWS)
