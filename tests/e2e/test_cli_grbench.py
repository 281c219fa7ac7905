"""GRBench as its papers report it: answered by graphscout over HTTP, judged, shown by domain and level, reported."""

import json
import shutil

import pytest

from fakes import Answer, FakeServer

pytest.importorskip("pydantic_monty")

ROWS = (
    {"qid": "0", "domain": "clubs", "level": "easy", "question": "Who leads the Choir?", "answer": "Ann"},
    {"qid": "1", "domain": "clubs", "level": "easy", "question": "Who is in the Boats?", "answer": "Cat"},
    {"qid": "2", "domain": "clubs", "level": "hard", "question": "Who is in the Choir?", "answer": "Ann, Dan"},
    {"qid": "3", "domain": "village", "level": "hard", "question": "How many are in Chess Club?", "answer": "2"},
)
CODE = "print(cypher(\"MATCH (p:person)--(c:club) WHERE c.name = '{}' RETURN DISTINCT p.name\"))"
WRONG = "print(cypher('MATCH (p:persons) RETURN p'))"
LAST = {"Choir?": "Dan, Ann", "Boats?": "Cat rows", "Chess Club?": "2"}


def call(code):
    arguments = {"name": "code_interpreter", "arguments": {"code": code}}
    return f"I look.\n<tool_call>\n{json.dumps(arguments)}\n</tool_call>"


def solver(body, _):
    """Look once, or where the level is hard twice, the first time wrongly; then answer, or judge."""
    if "response_format" in body:
        return Answer(content=json.dumps({"verdict": "no" if "rows" in body["messages"][-1]["content"] else "yes"}))
    question = body["messages"][1]["content"]
    turns = sum(message["role"] == "assistant" for message in body["messages"])
    is_hard = "leads" not in question and "Boats" not in question
    if turns <= is_hard:
        return Answer(content=call(WRONG if is_hard and not turns else CODE.format("Choir")))
    answer = "Ann" if "leads" in question else next(full_name for name, full_name in LAST.items() if name in question)
    return Answer(content=f"It is clear.\n\\answer{{{answer}}}")


@pytest.fixture
def judged(clubs, home, cli):
    """Give the folder of a run that was judged."""
    (home / "grbench.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    with FakeServer(solver) as server:
        model = ("--model", "fake", "--base-url", server.url, "-q")
        ran = cli("eval", "run", clubs, "grbench.jsonl", "-m", "graphscout", "--answers", "-o", "run", *model)
        assert ran.code == 0, ran.err
        assert cli("eval", "judge", "run", "--score", "QwenScore", *model).code == 0
    return home / "run"


def test_a_call_that_cannot_be_read_is_a_failed_one(clubs, home, cli):
    def broken_first(body, _):
        turns = sum(message["role"] == "assistant" for message in body["messages"])
        replies = ('<tool_call>\n{"name": "code_interpreter", "arguments": {\n</tool_call>', call(CODE.format("Choir")))
        return Answer(content=replies[turns] if turns < len(replies) else r"\answer{Ann}")

    (home / "grbench.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
    with FakeServer(broken_first) as server:
        model = ("--model", "fake", "--base-url", server.url, "-q")
        ran = cli("eval", "run", clubs, "grbench.jsonl", "-m", "graphscout", "--answers", "-o", "broken", *model)
    assert ran.code == 0, ran.err
    [row] = cli("eval", "show", home / "broken", "--json").json
    assert (row["work"]["tool_calls"], row["tool_failures"]) == (2, 0.5)


def test_figures_4_to_6_and_table_5_by_domain_and_level(judged, home, cli):
    names = ("EM", "F1", "Rouge-L", "QwenScore")
    flags = [part for name in names for part in ("--measure", name)]
    shown = cli("eval", "show", judged, "--by", "domain", "--by", "level", *flags, "--json").json
    assert [(row["by"], row["n"]) for row in shown] == [
        ({"domain": "clubs", "level": "easy"}, 2),
        ({"domain": "clubs", "level": "hard"}, 1),
        ({"domain": "village", "level": "hard"}, 1),
    ]
    means = [[row["measures"][name]["mean"] for name in names] for row in shown]
    assert means[0] == pytest.approx([0.5, (1 + 2 / 3) / 2, (1 + 2 / 3) / 2, 0.5])
    assert means[1] == pytest.approx([1, 1, 0.5, 1])  # the other order: no fault but for the longest sequence
    assert means[2] == pytest.approx([1, 1, 1, 1])
    assert [row["work"]["tool_calls"] for row in shown] == [1, 2, 2]  # and no search that stood in
    assert [row["tool_failures"] for row in shown] == [0, 0.5, 0.5]
    assert all(row["work"]["output_tokens"] > 0 for row in shown)
    plain = cli("eval", "show", judged, "--by", "level")
    assert all(
        name in plain.out.splitlines()[0] for name in ("Rouge-L", "tool calls", "output tokens", "tool failures")
    )
    assert cli("eval", "report", judged, "-o", "report.html").code == 0
    page = (home / "report.html").read_text()
    assert "What questions took" in page
    assert "33.3 %" in page  # two of six calls
    assert all(f'data-measure="{name}"' in page for name in names)  # the breakdowns can be switched to each


def test_one_command_asks_the_questions_of_every_graph(clubs, home, cli):
    """As GraphScout's figure 3 needs: ten graphs by their domains, one row of all, and rows by area."""
    graphs = {"legal": "legal", "maple/Physics": "academic", "dblp": "academic"}
    for place in graphs:
        (home / "data" / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(clubs, home / "data" / place)
    rows = [{"qid": str(qid), "domain": place, "question": "Who leads the Choir?", "answer": "Ann"}
            for place in graphs for qid in range(2)]  # fmt: skip
    (home / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ("eval", "run", "data", "all.jsonl", "-m", "anchor", "--each", "domain", "-o", "run", "--json")
    ran = cli(*command)
    assert ran.code == 0, ran.err
    [row] = ran.json
    assert (row["run"], row["n"], row["missing"]) == ("3 runs", 6, 0)
    runs = sorted(path.name for path in (home / "run").iterdir())
    assert runs == ["dblp", "legal", "maple-Physics"]
    shown = cli("eval", "show", *(home / "run" / name for name in runs), "--together", "--by", "area", "--json").json
    assert {row["by"]["area"]: row["n"] for row in shown} == {"legal": 2, "academic": 4}
    assert cli(*command, "--limit", "1").code == 2  # another run
    shutil.rmtree(home / "data" / "legal")
    for more, said in (
        ((), "holds no graph 'legal'"),
        (("--each", "template"), "'template' is no text that names a graph in 6"),
    ):
        ran = cli(*command[:-2], "other", *more, "-q")
        assert ran.code == 2
        assert said in ran.err
    assert cli(*command[:-2], "other", "--where", "domain!=legal", "-q").code == 0


def test_all_graphs_are_opened_before_the_first_is_asked(clubs, home, cli):
    for name in ("a", "b"):
        shutil.copytree(clubs, home / "data" / name)
    (home / "data" / "b" / "orienteer.json").unlink()
    (home / "data" / "empty").mkdir()
    rows = [{"question": "Who leads the Choir?", "answers": ["Ann"], "g": "a"}]
    for value in ("empty", ".", "..", "a/..", "", str(home / "data" / "a"), 7):
        both = [*rows, {**rows[0], "g": value}]
        (home / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in both))
        ran = cli("eval", "run", "data", "q.jsonl", "-m", "anchor", "--each", "g", "-o", "run", "-q")
        assert ran.code == 2, value
        assert not (home / "run").exists(), value
    assert "'g' is no text that names a graph in 1 question, first in '2'" in ran.err
