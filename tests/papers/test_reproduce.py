"""Every table and figure of the papers, made over a slice in the published layouts by a scripted model."""

import json
import re
import threading
import time

import pytest

import published_layouts
from fakes.embedder import WordEmbedder
from films import CELL, NUMBER_AND_IDS
from orienteer.lab.evaluation import published_tables
from orienteer.lab.quizzes import Objectives
from orienteer.lab.reproduce import data_sets, reproduced_rows
from orienteer.records import Message, Reply, ToolCall, Usage
from orienteer.serve import main as run_command_line
from orienteer.settings import Settings

pytestmark = pytest.mark.process  # pickles and a model's code are run in one
ROWS = reproduced_rows()
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
    return {name: getattr(published_layouts, name)(folder / name) for name in data_sets()}


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
        words += ["--model", "scripted"] if ROWS[row_id].asks_model else []
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
