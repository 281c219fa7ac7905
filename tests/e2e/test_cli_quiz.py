"""`orienteer quiz` as a person runs it, and what other commands make of its file."""

import json

import pytest

from orienteer.graph import Graph
from orienteer.ingest import demo_records
from orienteer.lab.evaluation import QuizItem


@pytest.fixture(scope="module")
def languages(scratch):
    """Give the folder of the graph about programming languages."""
    path = scratch()
    Graph.from_records(*demo_records(), path=path)
    return path


def items(path):
    return [QuizItem.model_validate_json(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_quiz_is_written_and_its_balance_is_told(languages, home, cli):
    ran = cli("quiz", languages, "-n", "16", "-o", "quiz.jsonl", "--random-seed", "3", "--json")
    assert ran.code == 0, ran.err
    quiz = items(home / "quiz.jsonl")
    assert [item.answer_type for item in quiz[:4]] == ["entity", "boolean", "number", "set"]
    summary = ran.json
    assert summary["questions"] == summary["asked"] == len(quiz) == 16
    assert summary["answer_types"] == {"boolean": 4, "entity": 4, "number": 4, "set": 4}
    assert sum(summary["cells"].values()) == 16
    assert len(summary["cells"]) == 56
    assert "4 booleans (2 true), 4 entities, 4 numbers, 4 sets" in ran.err
    for reason, number in summary["rejected"].items():
        assert f"{number:,} {reason}: " in ran.err


def test_the_same_seed_writes_the_same_bytes(languages, home, cli):
    for name in ("one.jsonl", "other.jsonl"):
        assert cli("quiz", languages, "-n", "8", "-o", name, "--random-seed", "5", "-q").code == 0
    assert (home / "one.jsonl").read_bytes() == (home / "other.jsonl").read_bytes()


def test_an_evaluation_reads_the_quiz_and_splits_by_its_axes(languages, home, cli):
    assert cli("quiz", languages, "-n", "12", "-o", "quiz.jsonl", "-q").code == 0
    ran = cli("eval", "run", languages, "quiz.jsonl", "--method", "bm25", "-o", "run", "-q")
    assert ran.code == 0, ran.err
    shown = cli("eval", "show", "run", "--by", "answer_type", "-q")
    assert shown.code == 0, shown.err
    assert all(name in shown.out for name in ("entity", "boolean", "number", "set"))
    assert cli("eval", "show", "run", "--by", "pattern", "-q").code == 0


def test_nodes_of_other_questions_are_avoided(languages, home, cli):
    (home / "test.jsonl").write_text(
        json.dumps({"question": "Who designed Pascal?", "nodes": ["person:niklaus-wirth"]})
        + "\n"
        + json.dumps({"question": "Which languages did he design?", "answers": ["Oberon", "Modula-2"]})
        + "\n"
    )
    assert cli("quiz", languages, "-n", "40", "-o", "free.jsonl", "-q").code == 0
    assert cli("quiz", languages, "-n", "40", "-o", "apart.jsonl", "--avoid", "test.jsonl", "-q").code == 0
    avoided = {"person:niklaus-wirth", "language:pascal", "language:oberon", "language:modula-2"}
    assert any(avoided & set(item.clue_nodes) for item in items(home / "free.jsonl"))
    assert len(items(home / "apart.jsonl")) == 40
    assert not any(avoided & set(item.clue_nodes) for item in items(home / "apart.jsonl"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "nowhere/quiz.jsonl"), "a folder that does not exist"),
        (("-o", "."), "is a folder"),
        (("-o", "-"), "a quiz cannot go to standard output"),
        (("-o", "quiz.jsonl", "--avoid", "nothing.jsonl"), "nothing.jsonl does not exist"),
        (("-o", "quiz.jsonl", "--quizzer", "random-walk"), "name one with --model"),
        (("-o", "quiz.jsonl", "--tier", "cpython"), "name one with --model"),
        (("-o", "quiz.jsonl", "--budget-calls", "3"), "name one with --model"),
        (("-o", "quiz.jsonl", "--model", "m", "--workers", "0"), "--workers"),
        (("-o", "quiz.jsonl", "-n", "0"), "-n"),
    ],
)
def test_a_wrong_request_is_told_and_writes_nothing(languages, home, cli, arguments, message):
    ran = cli("quiz", languages, *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert not list(home.iterdir())
