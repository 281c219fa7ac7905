"""Questions as JSON lines and in TREC's files, and how a data set is recognised."""

import gzip
import hashlib
import json

import pytest

from orienteer.errors import BadInput, BadOption
from orienteer.lab.evaluation import DATASETS, Example, Gold, read_questions
from orienteer.records import Question


def write_lines(path, *rows):
    """Write JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def by_id(questions):
    """Return the examples by question id."""
    return {example.question.id: example for example in questions.examples}


def test_json_lines(tmp_path):
    file = write_lines(
        tmp_path / "q.jsonl",
        {"id": "a", "question": "Which?", "nodes": ["n1", 2], "answers": ["Ferry"], "pattern": "one hop", "hops": 1},
        {"id": 7, "question": "How many?", "answers": [3], "answer_type": "number", "none": None},
        {"question": "Graded?", "nodes": {"n1": 2, "n2": 0.5, "n3": 0}},
    )
    questions = read_questions(file)
    assert (questions.name, questions.sha256) == ("jsonl", hashlib.sha256(file.read_bytes()).hexdigest())
    assert questions.examples == (
        Example(
            question=Question(id="a", text="Which?"),
            gold=Gold(nodes={"n1": 1.0, "2": 1.0}, answers=("Ferry",)),
            fields={"pattern": "one hop", "hops": 1},
        ),
        Example(question=Question(id="7", text="How many?"), gold=Gold(answers=("3",), answer_type="number")),
        Example(question=Question(id="3", text="Graded?"), gold=Gold(nodes={"n1": 2.0, "n2": 0.5})),
    )
    assert read_questions(tmp_path) == questions


def test_packed_json_lines(tmp_path):
    (tmp_path / "q.jsonl.gz").write_bytes(gzip.compress(b'{"id": "a", "question": "Which?"}\n'))
    assert list(by_id(read_questions(tmp_path / "q.jsonl.gz"))) == ["a"]


def test_splits_of_json_lines(tmp_path):
    file = write_lines(
        tmp_path / "q.jsonl", *({"id": split, "question": "?", "split": split} for split in ("dev", "test"))
    )
    assert list(by_id(read_questions(file, split="dev"))) == ["dev"]
    with pytest.raises(BadOption, match=r"no split 'val'\. There are: dev, test\."):
        read_questions(file, split="val")
    with pytest.raises(BadOption, match="has no splits"):
        read_questions(write_lines(tmp_path / "p.jsonl", {"question": "?"}), split="dev")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": ""}, "question is ''"),
        ({"question": "?", "nodes": "n1"}, "nodes is 'n1'"),
        ({"question": "?", "nodes": {"n1": True}}, "nodes is"),
        ({"question": "?", "nodes": [None]}, "nodes is"),
        ({"question": "?", "nodes": ["n1", " "]}, "nodes is"),
        ({"question": "?", "nodes": [float("nan")]}, "line 2: NaN"),
        ({"question": "?", "nodes": {"n1": float("inf")}}, "line 2: Infinity"),
        ({"question": "?", "answers": "x"}, "answers is 'x'"),
        ({"question": "?", "answers": ["x", ""]}, "answers is"),
        ({"question": "?", "id": ["x"]}, "the id is"),
        ({"question": "?", "id": True}, "the id is True"),
        ({"question": "?", "answer_type": "word"}, "one of: entity, boolean, number, set"),
    ],
)
def test_broken_questions(tmp_path, row, message):
    with pytest.raises(BadInput, match=message):
        read_questions(write_lines(tmp_path / "q.jsonl", {"question": "fine"}, row))


def test_one_id_for_two_questions(tmp_path):
    with pytest.raises(BadInput, match="two questions have the id '2'"):
        read_questions(write_lines(tmp_path / "q.jsonl", {"id": 2, "question": "a"}, {"question": "b"}))


def test_what_is_not_recognised(tmp_path):
    (tmp_path / "notes.csv").write_text("a,b\n1,2\n")
    with pytest.raises(BadInput) as refusal:
        read_questions(tmp_path)
    assert all(f"{dataset.name}: {dataset.looks_for}" in str(refusal.value) for dataset in DATASETS)
    with pytest.raises(BadInput, match="does not exist"):
        read_questions(tmp_path / "nothing")
    with pytest.raises(BadOption, match=r"Did you mean musique\?"):
        read_questions(tmp_path, dataset="musiqe")


def test_a_name_overrides_what_is_recognised(tmp_path):
    file = write_lines(tmp_path / "q.jsonl", {"qid": 1, "question": "?", "answer": "x"})
    assert read_questions(file).name == "grbench"
    (example,) = read_questions(file, dataset="jsonl").examples
    assert (example.fields, example.gold.answers) == ({"qid": 1}, ("x",))


def test_every_data_set_says_what_it_is():
    assert len({dataset.name for dataset in DATASETS}) == len(DATASETS)
    assert all(dataset.about and dataset.looks_for for dataset in DATASETS)
    assert {dataset.name for dataset in DATASETS if not dataset.url} == {"trec", "jsonl"}


# ---------------------------------------------------------------------------------------------------------------- TREC


@pytest.fixture
def mfar(tmp_path):
    (tmp_path / "val.queries").write_text("1\tWhich box?\n2\tNo judgement\n")
    (tmp_path / "val.qrels").write_text("1 0 n7 1\n1\t0\tn9\t2\n1 0 n8 0\n1 0 n5 -1\n")
    (tmp_path / "test.queries").write_text("3\tWhich lid?\n")
    (tmp_path / "test.qrels").write_text("3 Q0 n1 1\n")
    return tmp_path


def test_queries_and_qrels(mfar):
    questions = read_questions(mfar, split="val")
    assert questions.name == "trec"
    assert questions.examples[0].gold.nodes == {"n7": 1.0, "n9": 2.0}
    assert questions.examples[1].gold.nodes == {}
    assert {example.fields["split"] for example in read_questions(mfar).examples} == {"val", "test"}
    assert read_questions(mfar / "test.queries").examples == read_questions(mfar, split="test").examples
    with pytest.raises(BadOption, match="There are: test, val"):
        read_questions(mfar, split="train")


def test_queries_of_all_splits_in_one_file(tmp_path):
    (tmp_path / "queries.tsv").write_text("1\ta\n2\tb\n")
    (tmp_path / "qrels.dev.tsv").write_text("1 0 n1 1\n")
    (tmp_path / "qrels.test.tsv").write_text("2 0 n2 1\n")
    assert list(by_id(read_questions(tmp_path, split="test"))) == ["2"]
    assert list(by_id(read_questions(tmp_path))) == ["1", "2"]


def test_lines_without_their_columns(mfar):
    (mfar / "val.qrels").write_text("1 0 n7 1\n1 0 n7\n")
    with pytest.raises(BadInput, match="line 2: '1 0 n7' does not have 4 columns"):
        read_questions(mfar, split="val")
    (mfar / "val.qrels").write_text("1 0 n7 high\n")
    with pytest.raises(BadInput, match="'high' is not a relevance"):
        read_questions(mfar, split="val")
    (mfar / "val.qrels").write_text("1 0 n7 nan\n")
    with pytest.raises(BadInput, match="not a finite number"):
        read_questions(mfar, split="val")


def test_judgements_without_their_query_are_told(mfar):
    (mfar / "val.qrels").write_text("1 0 n7 1\n77 0 n8 1\n77 0 n9 1\n")
    assert read_questions(mfar, split="val").notes == (
        "1 queries have judgements and no text, so they are not asked: 77",
    )
    assert read_questions(mfar, split="test").notes == ()


def test_names_that_are_suffixes_alone_are_passed_over(mfar):
    (mfar / "txt").write_text("x")
    assert read_questions(mfar, split="test").name == "trec"


@pytest.mark.parametrize("mark", ["  ", " *", "  ./"])
def test_a_file_is_held_to_the_hash_that_its_folder_lists(tmp_path, mark):
    file = write_lines(tmp_path / "q.jsonl", {"id": "a", "question": "Which?", "nodes": ["n"]})
    sha = hashlib.sha256(file.read_bytes()).hexdigest()
    (tmp_path / "SHA256SUMS").write_text(f"{'0' * 64}  other.jsonl\n{sha}{mark}q.jsonl\n")
    assert read_questions(file).sha256 == sha
    (tmp_path / "SHA256SUMS").write_text(f"{'0' * 64}{mark}q.jsonl\n")
    with pytest.raises(BadInput, match=f"q.jsonl has the sha256 {sha}, and SHA256SUMS next to it says 0000"):
        read_questions(file)
