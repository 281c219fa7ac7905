"""Answers of another system, scored on the package's own benchmark: right, refused, wrong."""

import json

import pytest


def lines(file, *rows):
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def test_another_systems_answers_are_scored_and_compared(cli, tmp_path):
    lines(
        tmp_path / "q.jsonl",
        {"id": "1", "question": "How many?", "answers": ["12"], "answer_type": "number", "shape": "count"},
        {"id": "2", "question": "Which?", "nodes": ["a", "b"], "shape": "list"},
        {"id": "3", "question": "Which not?", "nodes": ["a"], "shape": "list"},
        {"id": "4", "question": "Is it?", "unanswerable": True, "shape": "not there"},
        {"id": "5", "question": "Who?", "answers": ["Ada", "Bo"], "answer_type": "set", "shape": "list"},
    )
    lines(
        tmp_path / "theirs.jsonl",
        {"id": "1", "answer": 12.0},
        {"id": "2", "nodes": ["b", "a"]},
        {"id": "3", "hits": ["a"]},
        {"id": "4", "answer": None},
    )
    ran = cli(
        "eval", "score", tmp_path / "q.jsonl", tmp_path / "theirs.jsonl", "--name", "theirs", "-o", "run", "--json"
    )
    [row] = ran.json["methods"] if isinstance(ran.json, dict) else ran.json
    measured = {name: row["measures"][name]["mean"] for name in ("Right", "Refused", "Wrong")}
    assert measured == {"Right": 0.6, "Refused": 0.4, "Wrong": 0.0}  # the ranking and the missing line are refused
    assert row["method"] == "theirs"
    assert row["failed"] == 1
    by_shape = cli("eval", "show", "run", "--by", "shape", "--measure", "Right", "--json")
    assert "not there" in by_shape.out


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"id": "9", "answer": "x"}, "answers '9', which is none of the questions"),
        ({"id": "1", "nodes": "a"}, "nodes and hits of '1' must be lists of ids"),
    ],
)
def test_a_wrong_line_is_told_and_nothing_is_written(cli, tmp_path, row, told):
    lines(tmp_path / "q.jsonl", {"id": "1", "question": "How many?", "answers": ["12"], "answer_type": "number"})
    lines(tmp_path / "theirs.jsonl", row)
    ran = cli("eval", "score", tmp_path / "q.jsonl", tmp_path / "theirs.jsonl", "-o", tmp_path / "run")
    assert ran.code == 2
    assert told in ran.err
    assert not (tmp_path / "run").exists()


def test_the_benchmark_of_the_package_is_read_by_its_name(cli, tmp_path):
    lines(tmp_path / "theirs.jsonl", {"id": "hidden-hetionet-1", "answer": "no idea"})
    which = ("--split", "hidden", "--where", "graph=hetionet")
    ran = cli("eval", "score", "exact", tmp_path / "theirs.jsonl", *which, "-o", tmp_path / "run", "--json")
    assert ran.code == 0
    questions = [json.loads(line) for line in (tmp_path / "run" / "questions.jsonl").read_text().splitlines()]
    assert len(questions) == 36
    assert all(one["gold"]["sealed"] and not one["gold"]["answers"] and not one["gold"]["nodes"] for one in questions)
