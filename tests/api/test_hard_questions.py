"""The hard questions and the replies written for them are well-formed, and their golds compute where the data are."""

import ast
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
GOLDS = """
from hard import gold, questions
for graph, own in questions("hard").items():
    for one in own:
        truth = gold(one["gold"], graph)
        ids = getattr(truth, "ids", None)
        assert ids is None or 0 < len(ids) <= 200, one["question"]
"""


def read(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (BENCHMARKS / name).read_text(encoding="utf-8").splitlines()]


def test_there_are_eighty_questions_of_each_graph_each_once_and_some_have_no_answer():
    questions = read("hard/questions.jsonl")
    assert Counter(one["graph"] for one in questions) == {"hetionet": 80, "debian_bookworm": 80, "wordnet30": 80}
    assert len({(one["graph"], one["question"]) for one in questions}) == 240
    assert all(ast.parse(str(one["gold"]), mode="eval") for one in questions)
    assert 24 <= sum(str(one["gold"]).startswith("Refusal(") for one in questions) <= 36


@pytest.mark.parametrize("name", ["hard/lines.jsonl", "hard/fourth.lines.jsonl"])
def test_each_reply_is_to_a_question_and_is_one_that_the_schema_takes(name: str):
    asked = {(one["graph"], one["question"]) for one in read("hard/questions.jsonl")}
    if name != "hard/lines.jsonl":
        asked = {(one["folder"], one["question"]) for one in read("own/fourth.jsonl")}
    replies = read(name)
    written = [(one["folder"], one["question"]) for one in replies]
    assert len(set(written)) == len(written)
    assert set(written) == asked if name == "hard/lines.jsonl" else set(written) < asked
    for reply in [*replies, *(one["again"] for one in replies if "again" in one)]:
        assert isinstance(reply["line"], str | None)
        assert isinstance(reply["unread"], list)
        assert (reply["line"] is None) == bool(reply["unread"])


@pytest.mark.process
@pytest.mark.slow
def test_golds_of_hard_questions_compute(data_folder: Path):
    pytest.importorskip("pandas")
    if missing := [name for name in ("hetionet", "debian_bookworm", "wordnet30") if not (data_folder / name).is_dir()]:
        pytest.skip(f"{data_folder} has no {', '.join(missing)}; ORIENTEER_DATA names the folder of data")
    environment = {**os.environ, "ORIENTEER_DATA": str(data_folder)}
    ran = subprocess.run(
        [sys.executable, "-c", GOLDS], cwd=BENCHMARKS, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
