"""Distilling into a tiny student: it learns, it goes on, and what goes wrong is told in a sentence."""

from __future__ import annotations

import json
import re
import shutil
import sys
from contextlib import ExitStack, contextmanager

import pytest

from orienteer.errors import BadInput, BadOption, Error
from orienteer.lab.training import (
    IGNORED_TOKEN,
    SftConfig,
    Training,
    collected_trajectories,
    distil,
    open_student,
    read_training,
    save_student,
    training_rows,
)
from training import tiny

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = [pytest.mark.training, pytest.mark.filterwarnings("ignore")]  # what the libraries tell each other

SMALL = {
    **tiny.SETTINGS, "batch": "4", "micro_batch": "4", "max_length": "900", "max_steps": "2", "learning_rate": "1e-3",
}  # fmt: skip
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs limits of POSIX")


def config(**options):
    return SftConfig.read({**SMALL, **{name: str(value) for name, value in options.items()}})


def log_of(folder):
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def weights(folder):
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


# ---------------------------------------------------------------------------------------------------------- learning


def test_the_loss_falls_and_each_step_has_a_line(pupil):
    log = log_of(pupil)
    assert [line["step"] for line in log] == list(range(1, 49))
    losses = [line["loss"] for line in log]
    assert losses[0] > 5, "it knew nothing"
    assert losses[-1] < 0.1, "it knows the lesson by heart"
    assert sum(losses[:8]) > sum(losses[8:16]) > sum(losses[16:24]) > sum(losses[40:])


def test_what_came_of_it_is_written_down(pupil, lesson, base):
    training = read_training(pupil)
    assert (training.kind, training.agent, training.dialect) == ("sft", "ark tools=compact agents=1", "terse")
    assert (training.rows, training.steps, training.left_out) == (4, 48, {})
    assert training.loss == log_of(pupil)[-1]["loss"]
    template = open_student(str(base)).tokenizer
    made = list(training_rows((one for _, one in collected_trajectories(lesson)), template, max_length=900))
    assert training.tokens == sum(len(row.input_ids) for row in made)
    assert training.learnt == sum(label != IGNORED_TOKEN for row in made for label in row.labels)
    assert json.loads((pupil / "model" / "card.json").read_text())["agent"] == training.agent


def test_a_person_is_shown_what_is_learnt(pupil, lesson):
    shown = (pupil / "learnt.txt").read_text()
    first = next(one for _, one in collected_trajectories(lesson))
    blocks = shown.split("=== row ")[1:]
    assert len(blocks) == 3
    said = [f"{step.reply.raw.text}<|im_end|>" for step in first.steps]
    assert any(all(text in block for text in said) for block in blocks)
    assert "Answer questions over this graph" not in shown, "nothing of the prompt"


def test_the_student_says_what_it_learnt(pupil, lesson):
    """With the prompt of serving, and greedily: the saved model is the trained one."""
    student = open_student(str(pupil / "model"))
    right = 0
    for row in training_rows((one for _, one in collected_trajectories(lesson)), student.tokenizer, max_length=900):
        begin = next(at for at, label in enumerate(row.labels) if label != IGNORED_TOKEN)
        end = next(at for at in range(begin, len(row.labels)) if row.labels[at] == IGNORED_TOKEN)
        out = student.model.generate(torch.tensor([row.input_ids[:begin]]), max_new_tokens=end - begin, do_sample=False)
        right += out[0, begin:].tolist() == row.input_ids[begin:end]
    assert right >= 3


def test_lora_leaves_all_but_the_linear_layers_as_they_were(base, lesson, tmp_path):
    distil([lesson], tmp_path / "t", str(base), config(lora=4))
    before, after = weights(base), weights(tmp_path / "t" / "model")
    assert set(after) == set(before), "it is merged"
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {name for name in before if "_proj" in name}


def test_without_lora_all_weights_are_trained(base, lesson, tmp_path):
    distil([lesson], tmp_path / "t", str(base), config())
    before, after = weights(base), weights(tmp_path / "t" / "model")
    assert not any(torch.equal(before[name], after[name]) for name in before)


def test_a_checkpoint_may_be_a_student_itself(pupil, lesson, tmp_path):
    done = distil([lesson], tmp_path / "t", str(pupil / "model"), config(learning_rate=1e-5))
    assert log_of(tmp_path / "t")[0]["loss"] < 0.1
    assert done.is_complete


# -------------------------------------------------------------------------------------------------------- validation


def loss_by_hand(student, made):
    """Return the mean loss of the tokens that are learnt, of all rows together."""
    total, count = 0.0, 0
    for row in made:
        with torch.no_grad():
            logits = student.model(torch.tensor([row.input_ids])).logits[0, :-1]
        labels = torch.tensor(row.labels[1:])
        total += torch.nn.functional.cross_entropy(logits, labels, ignore_index=IGNORED_TOKEN, reduction="sum").item()
        count += int((labels != IGNORED_TOKEN).sum())
    return total / count


@pytest.fixture(scope="module")
def stopped(pupil, lesson, taught, scratch):
    """Give a training whose validation loss soon rises: what the student knew by heart it unlearns."""
    folder = scratch()
    with tiny.no_warnings():
        done = distil(
            *([taught], folder, str(pupil / "model")),
            config(validation=3, save_steps=1, max_steps=30, learning_rate=0.1, schedule="constant"),
        )
    return folder, done


def test_training_stops_when_the_loss_of_validation_has_risen_twice(stopped, taught):
    folder, done = stopped
    checked = [line["eval_loss"] for line in log_of(folder) if "eval_loss" in line]
    assert done.steps < 30
    assert checked[-2] > min(checked) < checked[-1]
    assert min(checked[:-2]) == min(checked), "the last two were no better than the best"
    assert done.rows == len(list(collected_trajectories(taught))) - 3, "what is checked is not learnt"


def test_the_student_that_is_saved_is_the_best_one(stopped, taught):
    from orienteer.lab.training import choose_trajectories

    folder, _ = stopped
    student = open_student(str(folder / "model"))
    _, held = choose_trajectories([taught], config(validation=3))
    checked = [line["eval_loss"] for line in log_of(folder) if "eval_loss" in line]
    made = list(training_rows(held, student.tokenizer, max_length=900))
    assert loss_by_hand(student, made) == pytest.approx(min(checked), rel=1e-3)


# ------------------------------------------------------------------------------------------------------ the same folder


def test_a_finished_training_is_not_done_again(pupil, lesson, base):
    before = {path: path.stat().st_mtime_ns for path in pupil.rglob("*") if path.is_file()}
    told = []
    settings = read_training(pupil).settings
    again = distil([lesson], pupil, str(base), SftConfig.model_validate(settings), progress=lambda *at: told.append(at))
    assert again == read_training(pupil)
    assert not told
    assert {path: path.stat().st_mtime_ns for path in pupil.rglob("*") if path.is_file()} == before


def test_other_conditions_are_refused_and_named(pupil, lesson, taught, base):
    settings = SftConfig.model_validate(read_training(pupil).settings)
    for collection, student, chosen, named in (
        (taught, base, settings, r"collection\. "),
        (lesson, pupil / "model", settings, r"student \("),
        (lesson, base, settings.model_copy(update={"learning_rate": 1.0}), r"learning_rate \([\d.e-]+, now 1\.0\)\. "),
    ):
        with pytest.raises(BadInput, match=rf"holds a training with other conditions: {named}"):
            distil([collection], pupil, str(student), chosen)


def test_a_folder_of_something_else_is_left_alone(lesson, base, tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(BadInput, match=r"holds letter\.txt and no training"):
        distil([lesson], tmp_path, str(base), config())


# ------------------------------------------------------------------------------------------------------------ resuming


class Killed(BaseException):
    """What ends a process, as far as one can be ended within a test."""


def killing(at):
    def progress(stage, done):
        if stage == "steps" and done == at:
            raise Killed

    return progress


@pytest.fixture(scope="module")
def undisturbed(base, lesson, scratch):
    """Give the folder of a training of six steps that nothing cut off."""
    folder = scratch()
    with tiny.no_warnings():
        distil([lesson], folder, str(base), config(max_steps=6, save_steps=2))
    return folder


@pytest.mark.parametrize("at", [1, 3, 6])
def test_killed_at_any_step_it_comes_to_the_same(base, lesson, undisturbed, tmp_path, at):
    with pytest.raises(Killed):
        distil([lesson], tmp_path / "t", str(base), config(max_steps=6, save_steps=2), progress=killing(at))
    done = distil([lesson], tmp_path / "t", str(base), config(max_steps=6, save_steps=2))
    assert done.steps == 6
    log = log_of(tmp_path / "t")
    assert [line["step"] for line in log] == [1, 2, 3, 4, 5, 6]
    assert [line["loss"] for line in log] == pytest.approx([line["loss"] for line in log_of(undisturbed)], rel=1e-4)
    one, other = weights(tmp_path / "t" / "model"), weights(undisturbed / "model")
    assert all(torch.allclose(one[name], other[name], atol=1e-6) for name in other)


def damaged(kind, checkpoint):
    """Leave of a checkpoint what a kill leaves of one that is being written."""
    if kind == "empty":
        for file in checkpoint.iterdir():
            file.unlink()
        return
    (checkpoint / "whole").unlink(missing_ok=True)  # what marks it, after all else
    (checkpoint / "trainer_state.json").unlink()
    if kind == "with half of its weights":
        weights = checkpoint / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:1000])
        for name in ("optimizer.pt", "scheduler.pt", "rng_state.pth"):
            (checkpoint / name).unlink()


@pytest.mark.parametrize("kind", ["empty", "without its state", "with half of its weights"])
def test_a_checkpoint_that_a_kill_left_unfinished_is_passed_over(base, lesson, undisturbed, tmp_path, kind):
    """transformers writes a checkpoint file by file into its folder, and the state of the trainer last."""
    with pytest.raises(Killed):
        distil([lesson], tmp_path / "t", str(base), config(max_steps=6, save_steps=2), progress=killing(5))
    damaged(kind, tmp_path / "t" / "checkpoints" / "checkpoint-4")
    distil([lesson], tmp_path / "t", str(base), config(max_steps=6, save_steps=2))
    log = log_of(tmp_path / "t")
    assert [line["step"] for line in log] == [1, 2, 3, 4, 5, 6]
    assert log[-1]["loss"] == pytest.approx(log_of(undisturbed)[-1]["loss"], rel=1e-4)


# ------------------------------------------------------------------------------------------------------- a disk is full


@contextmanager
def full_disk(most=200_000):
    """Have no file grow beyond some bytes; the weights of a student take twice as many."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@posix
def test_a_disk_that_is_full_is_told_in_a_sentence_and_nothing_is_lost(base, lesson, undisturbed, tmp_path):
    with ExitStack() as full:

        def progress(stage, done):
            if stage == "steps" and done == 3:  # the checkpoint of step 2 is whole, that of step 4 will not be
                full.enter_context(full_disk())

        with pytest.raises(Error, match=r"could not be written .*\(.*\): make room and repeat") as told:
            distil([lesson], tmp_path / "t", str(base), config(max_steps=6, save_steps=2), progress=progress)
    assert "\n" not in str(told.value)
    done = distil([lesson], tmp_path / "t", str(base), config(max_steps=6, save_steps=2))
    assert done.is_complete
    log = log_of(tmp_path / "t")
    assert [line["step"] for line in log] == [1, 2, 3, 4, 5, 6]
    assert log[-1]["loss"] == pytest.approx(log_of(undisturbed)[-1]["loss"], rel=1e-4)


@posix
def test_a_disk_that_is_full_when_the_student_is_saved_is_told_in_a_sentence(base, tmp_path):
    student = open_student(str(base))
    training = Training(kind="sft", student="s", collection_sha256="0", agent="ark", dialect="terse", settings={})
    with pytest.raises((Error, OSError)), full_disk():
        save_student(student, student.model, tmp_path, training)


# ------------------------------------------------------------------------------------------------------- wrong students


def broken(kind, base, folder):
    """Make a folder or file that is no student, of some kind."""
    if kind == "a file of noise":
        (folder / "s.gguf").write_bytes(b"GGUF" + bytes(range(256)))
        return folder / "s.gguf"
    shutil.copytree(base, folder / "s")
    if kind == "another format":
        (folder / "s" / "config.json").write_text('{"model_type": "nothing_that_there_is"}')
    elif kind == "no JSON":
        (folder / "s" / "config.json").write_text("{")
    elif kind == "no weights":
        (folder / "s" / "model.safetensors").unlink()
    elif kind == "half of the weights":
        file = folder / "s" / "model.safetensors"
        file.write_bytes(file.read_bytes()[:1000])
    elif kind == "no tokenizer":
        for name in ("tokenizer.json", "tokenizer_config.json"):
            (folder / "s" / name).unlink()
    elif kind == "no template":
        (folder / "s" / "chat_template.jinja").unlink()
    return folder / "s"


KINDS = (
    "a file of noise",
    "another format",
    "no JSON",
    "no weights",
    "half of the weights",
    "no tokenizer",
    "no template",
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_checkpoint_is_told_in_a_sentence(base, lesson, tmp_path, cli, kind):
    student = broken(kind, base, tmp_path)
    ran = cli("train", "sft", lesson, "--student", student, "-o", tmp_path / "t", "-q", *_set(SMALL))
    assert ran.code == 2, ran.err
    [line] = [line for line in ran.err.strip().splitlines() if line.startswith("error: ")]
    assert str(student) in line
    assert "Traceback" not in ran.err


def _set(options):
    return [part for name, value in options.items() for part in ("--set", f"{name}={value}")]


def test_a_template_without_tools_is_told_in_a_sentence(base, worlds, play, copied, tmp_path, cli):
    """Of a teacher that made native calls."""
    picks = {"answer_nodes": [{"node_index": "w0", "reasoning": "hers"}]}
    turns = [[("search_in_graph", {"query": "Ada"})], [("add_to_answer", picks), ("finish", {})]]
    native = play("ark", turns, agents=1, faithful=True)
    (copied / "books" / "trajectories.jsonl").write_text(f"{native.model_dump_json()}\n")
    options = _set({**SMALL, "graphs": "books"})
    ran = cli("train", "sft", copied, "--student", base, "-o", tmp_path / "t", "-q", *options)
    assert ran.code == 2
    error = (
        r"error: the student's chat template does not write (calls of )?tools: name another with --set template=FILE"
    )
    assert re.fullmatch(error, ran.err.strip().splitlines()[-1])
    template = tmp_path / "qwen.jinja"
    template.write_text(tiny.QWEN)
    again = cli(
        *("train", "sft", copied, "--student", base, "-o", tmp_path / "t2", "-q"),
        *_set({**SMALL, "graphs": "books", "template": template, "max_length": 4000}),
    )
    assert again.code == 0, again.err
    assert (tmp_path / "t2" / "model" / "chat_template.jinja").read_text() == tiny.QWEN, "it is served with it, too"


def test_rows_that_are_all_too_long_are_told(base, lesson, tmp_path):
    with pytest.raises(BadInput, match="no row fits 20 tokens: set a greater max_length"):
        distil([lesson], tmp_path / "t", str(base), config(max_length=20))
    done = distil([lesson], tmp_path / "t2", str(base), config(max_length=420))
    assert done.left_out["longer than max_length"] > 0


@pytest.mark.parametrize(("batch", "micro_batch"), [(8, 3), (4, 8)])
def test_a_batch_that_cannot_be_parted_so_is_told(base, lesson, tmp_path, batch, micro_batch):
    """Else a step has 6 rows where 8 were asked for, or 8 where 4 were."""
    with pytest.raises(BadOption, match="micro_batch"):
        distil([lesson], tmp_path / "t", str(base), config(batch=batch, micro_batch=micro_batch, max_steps=1))
