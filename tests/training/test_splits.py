"""Splits: what a student may learn from, as commands take it. What was asked is told by the requests to the model."""

from __future__ import annotations

import json
import shutil

import pytest

from fakes import Answer, FakeServer
from orienteer.lab.training import SftConfig, choose_trajectories, collected_trajectories, read_collection

PER_SPLIT = {"train": 3, "val": 2, "test": 2}


@pytest.fixture
def official(worlds, home):
    """Give the folder of a data set in STaRK's official layout, over the graph `books`, that lies beside it."""
    shutil.copytree(worlds["books"].path, home / "books")
    splits, data, at = home / "qa" / "split", home / "qa" / "stark_qa", 0
    splits.mkdir(parents=True)
    data.mkdir()
    rows = ["id,query,answer_ids"]
    for split, size in PER_SPLIT.items():
        ids = [str(at + number) for number in range(size)]
        rows += [f"{one},A {split} novel of number {one}?,\"['n0']\"" for one in ids]
        (splits / f"{split}.index").write_text("\n".join(ids) + "\n")
        at += size
    (splits / "test-0.1.index").write_text(f"{at - 1}\n")
    (data / "stark_qa.csv").write_text("\n".join(rows) + "\n")
    (data / "stark_qa_human_generated_eval.csv").write_text("id,query,answer_ids\n0,A human novel?,\"['n0']\"\n")
    return home


@pytest.fixture
def collect(official, cli):
    """Give a function that collects, and returns how that ended and the questions that the model was asked."""

    def run(*arguments, folder="c", teacher="ark agents=1", questions="qa", samples="1"):
        turn = Answer(calls=[("add_to_answer", {"nodes": ["n0"]}), ("finish", {})])
        with FakeServer(lambda body, before: turn) as server:
            ran = cli(
                *("train", "collect", "books", *([questions] if questions else []), "--teacher", teacher),
                *("-n", samples, "-o", folder, "--model", "fake", "--base-url", server.url, *arguments),
            )
            return ran, [json.dumps(body["messages"]) for body in server.bodies]

    return run


def asked_of(split, requests):
    """Count the requests that have a question of a split."""
    return sum(f"A {split} novel" in request for request in requests)


def test_no_test_question_is_asked_of_a_data_set_with_splits(collect, official):
    for questions in ("qa", "qa/stark_qa/stark_qa.csv"):
        ran, requests = collect(questions=questions, folder=f"c-{questions}".replace("/", "-"))
        assert ran.code == 0, ran.err
        assert [asked_of(split, requests) for split in (*PER_SPLIT, "human")] == [3, 0, 0, 0]
        assert len(requests) == 3
    assert "questions of the split train alone" in ran.err
    assert read_collection(official / "c-qa-stark_qa-stark_qa.csv").split == "train"


@pytest.mark.parametrize("split", ["test", "test-0.1", "human"])
def test_a_split_that_is_kept_for_tests_is_refused_unless_it_is_allowed(collect, official, split):
    ran, requests = collect("--split", split, "-q")
    assert (ran.code, requests) == (2, [])
    assert f"a student learns from train and val alone, not from the split {split!r}" in ran.err
    assert "--allow-test" in ran.err
    assert not (official / "c" / "books").exists()
    ran, requests = collect("--split", split, "--allow-test", "-q")
    assert ran.code == 0, ran.err
    assert len(requests) == {"test": 2, "test-0.1": 1, "human": 1}[split]


def test_questions_without_the_split_train_are_refused(collect, official):
    rows = [{"question": "A test novel?", "nodes": ["n0"], "split": "test"}]
    (official / "only.jsonl").write_text(json.dumps(rows[0]) + "\n")
    ran, requests = collect(questions="only.jsonl")
    assert (ran.code, requests) == (2, [])
    assert "only.jsonl has no split 'train', only test" in ran.err


def test_the_same_options_choose_what_is_asked(collect, official):
    assert len(collect("--limit", "2")[1]) == 2
    (official / "own.jsonl").write_text(
        "".join(json.dumps({"question": f"A {kind} novel?", "nodes": ["n0"], "kind": kind}) + "\n" for kind in "ab")
    )
    [request] = collect("--where", "kind=b", questions="own.jsonl", folder="d")[1]
    assert "A b novel" in request
    ran, _ = collect("--limit", "1")
    assert ran.code == 2
    assert "limit (2, now 1)" in ran.err  # another collection
    for flag, value in (("--split", "train"), ("--dataset", "stark"), ("--where", "kind=b"), ("--limit", "3")):
        ran, requests = collect(flag, value, questions="", folder="e")
        assert (ran.code, requests) == (2, [])
        assert "choose given questions" in ran.err


def test_three_trajectories_are_three_whatever_agents_give_them(collect, official):
    for teacher, folder in (("ark", "three"), ("ark agents=1", "single")):
        ran, requests = collect("--limit", "2", teacher=teacher, samples="3", folder=folder)
        assert ran.code == 0, ran.err
        assert len(requests) == 6
        trajectories = [one for _, one in collected_trajectories(official / folder)]
        assert len(trajectories) == 6
        assert len({(one.question.id, one.sampling.random_seed) for one in trajectories}) == 6
        assert read_collection(official / folder).parts[0].failed == 0
    ran, requests = collect(teacher="ark", samples="2", folder="two")
    assert (ran.code, requests) == (2, [])
    assert "2 samples do not fit 3 agents" in ran.err


def test_a_student_is_watched_on_the_official_validation_split(collect, official):
    for split in ("train", "val"):
        assert collect("--split", split, folder=split)[0].code == 0
    folders = [official / "train", official / "val"]
    for config in (SftConfig(), SftConfig(validation_split="val"), SftConfig(validation=200)):
        learnt, held = choose_trajectories(folders, config)
        assert (len(learnt), len(held)) == (3, 2)
        assert all("A val novel" in one.question.text for one in held)
    learnt, held = choose_trajectories(folders, SftConfig(validation=1))
    assert (len(learnt), len(held)) == (3, 1)  # what is left of the split is not learnt
    assert [len(some) for some in choose_trajectories(folders[:1], SftConfig(validation=1))] == [2, 1]  # drawn
    with pytest.raises(Exception, match="no question is of the split 'dev'; there are: train, val"):
        choose_trajectories(folders, SftConfig(validation_split="dev"))


def test_a_quiz_avoids_a_split_and_a_comparison_is_of_one(official, cli):
    def clues(name):
        return {node for line in (official / name).read_text().splitlines() for node in json.loads(line)["clue_nodes"]}

    rows = [
        {"question": "?", "nodes": ["n0", "n1"], "split": "train"},
        {"question": "??", "nodes": [], "split": "test"},
    ]
    (official / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for split, is_apart in (("train", True), ("test", False)):
        made = ("quiz", "books", "-n", "40", "-o", f"{split}.jsonl", "--avoid", "own.jsonl", "--split", split, "-q")
        ran = cli(*made)
        assert ran.code == 0, ran.err
        assert clues(f"{split}.jsonl").isdisjoint({"n0", "n1"}) == is_apart
    ran = cli("quiz", "books", "-o", "q.jsonl", "--split", "test")
    assert ran.code == 2
    assert "--avoid" in ran.err
    assert cli("eval", "run", "books", "qa", "-m", "bm25", "-m", "anchor", "-o", "run", "-q").code == 0
    for flags, n in (((), 7), (("--split", "val"), 2), (("--where", "split=train"), 3), (("--limit", "4"), 4)):
        assert cli("eval", "compare", "run", *flags, "--json").json["n"] == n
    # A run of one split, whose questions do not name it, is of that split.
    write_questions(official / "search" / "datasets" / "questions", musique=2, hotpot=1)
    of_one = ("-m", "bm25", "-m", "anchor", "--split", "musique", "-o", "one", "-q")
    assert cli("eval", "run", "books", "search", *of_one).code == 0
    assert cli("eval", "compare", "one", "--split", "musique", "--json").json["n"] == 2
    assert "has a field 'split'" in cli("eval", "compare", "one", "--split", "hotpot").err


def test_an_empty_split_is_refused(official, cli):
    (official / "q.jsonl").write_text(json.dumps({"question": "A novel?", "answers": ["n0"]}) + "\n")
    assert cli("eval", "run", "books", "q.jsonl", "-m", "bm25", "-m", "anchor", "-o", "run", "-q").code == 0
    for command in (
        ("eval", "compare", "run"),
        ("eval", "run", "books", "q.jsonl", "-m", "bm25", "-o", "other"),
        ("train", "collect", "books", "q.jsonl", "--teacher", "anchor", "-o", "c"),
        ("import", "q.jsonl", "-o", "g"),
        ("build", "q.jsonl", "-o", "g"),
    ):
        ran = cli(*command, "--split", "")
        assert ran.code == 2, command
        assert "--split is empty" in ran.err


def test_what_no_condition_can_meet_is_told_with_what_is_there(collect, official):
    ran, requests = collect("--where", "split=test")
    assert (ran.code, requests) == (2, [])
    assert "no question meets split=test; there are split=train" in ran.err


def test_results_that_count_twice_are_told(official, cli):
    (official / "q.jsonl").write_text(json.dumps({"id": "q", "question": "A novel?", "answers": ["n0"]}) + "\n")
    for run, method in (("run", "bm25"), ("other", "anchor")):
        assert cli("eval", "run", "books", "q.jsonl", "-m", method, "-o", run, "-q").code == 0
    shutil.copytree(official / "run", official / "copy")
    assert "in more than one" not in cli("eval", "show", "run", "other", "--together").err
    assert "1 result in more than one of the runs, so counted again: 'q' of 'bm25'" in (
        cli("eval", "show", "run", "copy", "--together").err
    )


def write_questions(folder, **of_splits):
    """Write a file of questions for each split, none of which names it."""
    folder.mkdir(parents=True)
    for split, size in of_splits.items():
        rows = [
            {"id": f"{split}-{one}", "question": f"A {split} novel, {one}?", "nodes": ["n0"]} for one in range(size)
        ]
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_folder_of_files_of_splits_is_asked_its_train(collect, official):
    write_questions(official / "two", train=3, test=2)
    for flags in ((), ("--split", "train")):
        ran, requests = collect(*flags, questions="two", folder=f"c{len(flags)}")
        assert ran.code == 0, ran.err
        assert [asked_of(split, requests) for split in ("train", "test")] == [3, 0]
    ran, requests = collect("--split", "test", "--allow-test", questions="two", folder="tested")
    assert asked_of("test", requests) == len(requests) == 2


def test_a_named_file_of_a_folder_is_asked_where_it_is_allowed(collect, official):
    write_questions(official / "search" / "datasets" / "questions", musique=1, hotpot=2)
    ran, requests = collect("--split", "musique", questions="search")
    assert (ran.code, requests) == (2, [])
    assert "not from the split 'musique'" in ran.err
    ran, requests = collect("--split", "musique", "--allow-test", questions="search")
    assert asked_of("musique", requests) == len(requests) == 1
    ran, requests = collect(questions="search", folder="unnamed")
    assert (ran.code, requests) == (2, [])
    assert "name one of them with --split (hotpot, musique)" in ran.err


def test_the_benchmark_of_this_package_has_no_split_to_learn_from(collect, official):
    ran, requests = collect(questions="exact")
    assert (ran.code, requests) == (2, [])
    assert "exact has no split 'train', only dev, hidden, test" in ran.err


@pytest.mark.parametrize("questions", ["alone", "alone/test.jsonl"])
def test_a_test_file_alone_is_asked_where_it_is_allowed(collect, official, questions):
    write_questions(official / "alone", test=2)
    ran, requests = collect(questions=questions)
    assert (ran.code, requests) == (2, [])
    assert "has no split 'train', only test" in ran.err
    ran, requests = collect("--split", "test", "--allow-test", questions=questions)
    assert ran.code == 0, ran.err
    assert len(requests) == 2


def test_a_question_that_is_of_validation_anywhere_is_not_learnt(collect, official):
    rows = [{"id": f"{one}", "question": f"A novel, {one}?", "nodes": ["n0"]} for one in range(3)]
    for folder, splits in (("one", ("train", "train", "train")), ("other", ("train", "val", "validation"))):
        lines = [json.dumps({**row, "split": split}) + "\n" for row, split in zip(rows, splits, strict=True)]
        (official / f"{folder}.jsonl").write_text("".join(lines))
        assert collect(questions=f"{folder}.jsonl", folder=f"{folder}-train")[0].code == 0
    assert collect("--split", "val", questions="other.jsonl", folder="other-val")[0].code == 0
    folders = [official / "one-train", official / "other-val"]
    for order in (folders, folders[::-1]):
        learnt, held = choose_trajectories(order, SftConfig())
        assert sorted({one.question.text for one in learnt}) == ["A novel, 0?", "A novel, 2?"]
        assert {one.question.text for one in held} == {"A novel, 1?"}
