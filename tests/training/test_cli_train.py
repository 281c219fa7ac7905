"""`orienteer train` as a person runs it, and what it says to wrong requests: one sentence, and the exit code 2."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from fakes import Answer, FakeServer
from orienteer.lab.training import collected_trajectories, read_collection


@pytest.fixture
def here(worlds, home):
    """Give a folder with both graphs, questions, and files that are not what they seem."""
    for name, graph in worlds.items():
        shutil.copytree(graph.path, home / name)
    (home / "questions.jsonl").write_text(
        json.dumps({"id": "a", "question": "Which novels are written by Ada Holm?", "nodes": ["n0", "n4"]}) + "\n"
    )
    (home / "broken.jsonl").write_text("{\n")
    (home / "empty").mkdir()
    (home / "letters").mkdir()
    (home / "letters" / "letter.txt").write_text("dear")
    (home / "file").write_text("x")
    return home


def is_one_sentence(ran):
    """Say whether all that stands on standard error is a line that begins with `error: `."""
    lines = ran.err.strip().splitlines()
    return lines[-1].startswith("error: ") and not any("Traceback" in line for line in lines) and len(lines) == 1


# ------------------------------------------------------------------------------------------------------------- collect


def test_a_collection_at_the_command_line(here, cli):
    command = ("books", "ships", "--teacher", "anchor", "--number", "8", "--rule", "finished", "-o", "c")
    ran = cli("train", "collect", *command)
    assert ran.code == 0, ran.err
    collection = read_collection(here / "c")
    stay = [part.trajectories for part in collection.parts]
    rows = [line.split() for line in ran.out.splitlines() if line.split() and line.split()[0] in ("books", "ships")]
    assert [int(row[-1]) for row in rows] == stay
    assert f"{sum(stay)} trajectories in c" in ran.out
    again = cli("train", "collect", *command, "--json")
    assert again.json == json.loads((here / "c" / "collection.json").read_text())
    shown = cli("trace", "show", "c/books/trajectories.jsonl")
    assert shown.code == 0, shown.err
    assert cli("trace", "replay", "c/books/trajectories.jsonl", "books").code == 0


def test_given_questions_at_the_command_line(here, cli):
    ran = cli("train", "collect", "books", "questions.jsonl", "--teacher", "anchor", "-o", "c")
    assert ran.code == 0, ran.err
    [(name, trajectory)] = collected_trajectories(here / "c")
    assert (name, set(trajectory.selected)) == ("books", {"n0", "n4"})


def test_what_was_spent_on_a_model_is_told(here, cli):
    turn = Answer(calls=[("add_to_answer", {"nodes": ["n0"]}), ("finish", {})])
    with FakeServer(lambda body, before: turn) as server:
        ran = cli(
            *("train", "collect", "books", "questions.jsonl", "--teacher", "ark agents=1", "-n", "2", "-o", "c"),
            *("--model", "fake", "--base-url", server.url),
        )
    assert ran.code == 0, ran.err
    assert "2 trajectories in c, 2 calls, 220 tokens" in ran.out
    assert "Spent: 2 calls, 220 tokens" in (here / "c" / "card.md").read_text()


NOBODY = ("--model", "m", "--base-url", "http://127.0.0.1:1/v1", "-o", "c")
ANCHOR = ("--teacher", "anchor", "-o", "c")
COLLECT = (
    (("nowhere", *ANCHOR), "nowhere"),
    (("questions.jsonl", *ANCHOR), "name the graph that they are about before it"),
    (("books", "nowhere.jsonl", *ANCHOR), "nowhere.jsonl"),
    (("books", "broken.jsonl", *ANCHOR), "broken.jsonl"),
    (("books", "--avoid", "nowhere.jsonl", *ANCHOR), "nowhere.jsonl"),
    (("books", "--avoid", "broken.jsonl", *ANCHOR), "broken.jsonl"),
    (("books", "books", *ANCHOR), "two graphs are called 'books'"),
    (("books", "--rule", "nice", *ANCHOR), "no rule 'nice'"),
    (("books", "--pattern", "nice", *ANCHOR), "nice"),
    (("books", "-n", "0", *ANCHOR), "-n"),
    (("books", "--number", "0", *ANCHOR), "--number"),
    (("books", "--random-seed", "-1", *ANCHOR), "--random-seed"),
    (("books", "--teacher", "nobody", "--model", "m", "-o", "c"), "nobody"),
    (("books", "--teacher", "ark colour=red", *NOBODY), "colour"),
    (("books", "--teacher", "bm25", *NOBODY), "calls no model"),
    (("books", "--teacher", "ark", "-o", "c"), "model"),
    (("books", "--teacher", "ark", "--budget-usd", "1", *NOBODY), "price"),
    (("books", "--teacher", "anchor", "-o", "letters"), "holds letter.txt and no collection"),
    (("books", "--teacher", "anchor", "-o", "file"), "file"),
    (("books", "--teacher", "anchor", "-o", "file/c"), "file"),
    (("books", "--teacher", "anchor", "-o", "books"), "and no collection"),
)


@pytest.mark.parametrize(("arguments", "message"), COLLECT, ids=[" ".join(arguments) for arguments, _ in COLLECT])
def test_a_wrong_request_to_collect_is_told_and_nothing_is_left(here, cli, arguments, message):
    before = sorted(path.name for path in here.iterdir())
    ran = cli("train", "collect", *arguments, "-q")
    assert ran.code == 2, (ran.out, ran.err)
    assert is_one_sentence(ran), ran.err
    assert message in ran.err
    assert set(path.name for path in here.iterdir()) - {"c"} == set(before)
    assert not (here / "c" / "books").exists() or not list((here / "c").rglob("trajectories.jsonl"))


# ---------------------------------------------------------------------------------------------------- sft, grpo, export

STUDENT = ("--student", "nowhere", "-o", "t")
TRAIN = (
    (("sft", "nowhere", *STUDENT), "nowhere is not a collection"),
    (("sft", "letters", *STUDENT), "letters is not a collection"),
    (("sft", "file", *STUDENT), "file is not a collection"),
    (("sft", "c", *STUDENT), "there is no student at "),
    (("sft", "c", "--student", "empty", "-o", "t"), "empty holds no model (config.json)"),
    (("sft", "c", "--student", "questions.jsonl", "-o", "t"), "questions.jsonl is no model that can be trained"),
    (("sft", "c", *STUDENT, "--recipe", "mine"), "unknown recipe 'mine'"),
    (("sft", "c", *STUDENT, "--recipe", "broken.jsonl"), "broken.jsonl cannot be read"),
    (("sft", "c", *STUDENT, "--set", "colour=red"), "colour"),
    (("sft", "c", *STUDENT, "--set", "lora"), "lora"),
    (("sft", "c", *STUDENT, "--set", "lora=-1"), "lora"),
    (("sft", "c", *STUDENT, "--set", "graphs=nowhere"), "holds no graph 'nowhere': there are books, ships"),
    (("sft", "c", "--student", "file", "-o", "letters"), "holds letter.txt and no training"),
    (("sft", "c", "--student", "file", "-o", "file"), "file"),
    (("grpo", "nowhere", *STUDENT), "nowhere is not a collection"),
    (("grpo", "c", *STUDENT), "there is no student at "),
    (("grpo", "c", *STUDENT, "--graph", "empty"), "was not collected over a graph 'empty': there are books, ships"),
    (("grpo", "c", *STUDENT, "--set", "group=1"), "group"),
    (("grpo", "c", *STUDENT, "--set", "reward=money"), "reward"),
    (("grpo", "c", *STUDENT, "--recipe", "smollm2-compact"), "epochs"),
    (("export", "nowhere", "-o", "s.gguf"), "nowhere holds no training"),
    (("export", "letters", "-o", "s.gguf"), "letters holds no training"),
    (("export", "letters", "-o", "nowhere/s.gguf"), "nowhere"),
    (("export", "letters", "-o", "empty"), "empty is a folder"),
    (("export", "letters", "-o", "s.gguf", "--precision", "f32"), "--precision"),
)


@pytest.mark.parametrize(("arguments", "message"), TRAIN, ids=[" ".join(arguments) for arguments, _ in TRAIN])
def test_a_wrong_request_to_train_is_told(here, taught, cli, arguments, message):
    """With PyTorch and without: without it, what is missing is told by the name of its extra."""
    shutil.copytree(taught, here / "c")
    ran = cli("train", *arguments, "-q")
    assert ran.code == 2, (ran.out, ran.err)
    assert is_one_sentence(ran), ran.err
    is_missing = "pip install 'orienteer[train]'" in ran.err
    assert message in ran.err or (is_missing and not _has_torch())


def _has_torch():
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


def test_without_pytorch_the_extra_is_named(here, taught, cli):
    if _has_torch():
        pytest.skip("PyTorch is installed here")
    shutil.copytree(taught, here / "c")
    for command in (("sft", "c", "--student", "smollm2", "-o", "t"), ("grpo", "c", "--student", "smollm2", "-o", "t")):
        ran = cli("train", *command)
        assert ran.code == 2
        assert "pip install 'orienteer[train]'" in ran.err
    assert not (here / "t" / "training.json").exists()


def test_collections_of_two_agents_are_not_mixed(here, taught, quizzed, cli):
    shutil.copytree(taught, here / "calls")
    shutil.copytree(quizzed, here / "programs")
    ran = cli("train", "sft", "calls", "programs", "--student", "nowhere", "-o", "t", "-q")
    assert ran.code == 2
    told = "calls has episodes of 'ark tools=compact agents=1', programs of 'graphscout': train on one kind"
    assert told in ran.err
    assert not (here / "t").exists()


def test_a_graph_that_has_moved_is_asked_for(here, taught, cli):
    shutil.copytree(taught, here / "c")
    file = here / "c" / "collection.json"
    file.write_text(re.sub(r'"path": ".*/(books|ships)"', r'"path": "/gone/\1"', file.read_text()))
    ran = cli("train", "grpo", "c", "--student", "nowhere", "-o", "t", "-q")
    assert ran.code == 2
    assert "the graph books is no longer at /gone/books: say where it is with --graph DIR" in ran.err
    again = cli("train", "grpo", "c", "--student", "nowhere", "-o", "t", "-q", "--graph", "books", "--graph", "ships")
    assert again.code == 2
    assert "/gone" not in again.err


def test_a_manifest_of_another_version_is_told(here, taught, cli):
    shutil.copytree(taught, here / "c")
    (here / "c" / "collection.json").write_text('{"version": 7}')
    for command in (
        ("sft", "c", "--student", "nowhere", "-o", "t"),
        ("collect", "books", "--teacher", "anchor", "-o", "c"),
    ):
        ran = cli("train", *command, "-q")
        assert ran.code == 2
        assert "is from another version: collect again, in another folder" in ran.err


@pytest.mark.training
@pytest.mark.filterwarnings("ignore")
def test_from_graphs_to_a_student_that_is_exported(here, episodes, cli, process):
    """The four commands, one after another, as the documentation has them."""
    pytest.importorskip("torch")
    pytest.importorskip("trl")
    from training import tiny

    random = tiny.student(here / "random", tiny.texts_of(episodes))
    tiny.as_gguf(random, here / "base.gguf")
    small = _set(**tiny.SETTINGS, max_steps=1, micro_batch=4)
    few = _set(reward="nodes", batch=1, group=4, turns=2, most_tokens=16)
    for command in (
        ("collect", "ships", "--teacher", "anchor", "--pattern", "one_hop", "--number", "4", "-o", "c"),
        ("sft", "c", "--student", "base.gguf", "-o", "s", *small, "--set", "batch=4"),
        ("grpo", "c", "--student", "s/model", "-o", "g", *small, *few),
        ("export", "g", "-o", "student.gguf", "--base", "base.gguf"),
    ):
        if command[0] == "sft":  # as a person runs it: what the libraries say on the way is theirs to keep
            started = process("train", *command, "-q")
            out, err = started.communicate()
            assert started.returncode == 0, err
            assert out.startswith("1 step in ")
            assert not err, "quiet is quiet"
            continue
        ran = cli("train", *command, "-q")
        assert ran.code == 0, (command, ran.err)
        assert ran.out
    card = json.loads((here / "student.card.json").read_text())
    assert (card["kind"], card["agent"]) == ("grpo", "ark tools=compact agents=1")
    for name, student in (("s", here / "base.gguf"), ("g", here / "s" / "model")):
        training = json.loads((here / name / "training.json").read_text())
        assert training["student"] == str(student), "wherever it is gone on with from"


def _set(**options):
    return [part for name, value in options.items() for part in ("--set", f"{name}={value}")]


@pytest.mark.training
@pytest.mark.filterwarnings("ignore")
def test_a_student_of_a_student_knows_the_file_that_the_first_came_from(here, episodes, lesson, cli):
    """So that `train export` needs to be told once."""
    pytest.importorskip("torch")
    pytest.importorskip("trl")
    from training import tiny

    tiny.as_gguf(tiny.student(here / "random", tiny.texts_of(episodes)), here / "base.gguf")
    small = _set(**tiny.SETTINGS, max_steps=1, batch=4, micro_batch=4)
    for student, target in (("base.gguf", "one"), ("one/model", "two")):
        assert cli("train", "sft", lesson, "--student", student, "-o", target, "-q", *small).code == 0
    ran = cli("train", "export", "two", "-o", "two.gguf", "-q")
    assert ran.code == 0, ran.err
    noted = (here / "two" / "model" / "base").read_text().strip()
    assert noted == str(here / "base.gguf"), "wherever it is asked from"
