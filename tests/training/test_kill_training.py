"""A process that is killed while it trains goes on: no step is missing in its log, and none stands there twice.

The killing is done by this file run as a program: it loads the libraries once, and forks its victims.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

STEPS, MOST_KILLS = 5, 3
LATEST = 0.9  # seconds after a victim has begun to train: about the length of a whole training

pytestmark = [
    pytest.mark.training,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL"),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def killed(base, pupil, lesson, worlds, scratch):
    """Give the folders of two trainings that were killed again and again, and then left alone."""
    folder = scratch()
    program = subprocess.run(
        [sys.executable, __file__, folder, lesson, base, pupil / "model", worlds["ships"].path],
        capture_output=True, text=True, timeout=100, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])},
    )  # fmt: skip
    assert program.returncode == 0, program.stderr[-3000:]
    return folder, json.loads(program.stdout)


def lines_of(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.mark.parametrize("kind", ["sft", "grpo"])
def test_the_log_has_each_step_once(killed, kind):
    folder, kills = killed
    assert kills[kind] > 0, "it was killed in its work"
    assert [line["step"] for line in lines_of(folder / kind / "log.jsonl")] == list(range(1, STEPS + 1))
    assert json.loads((folder / kind / "training.json").read_text())["is_complete"]
    assert (folder / kind / "model" / "model.safetensors").is_file()


def test_it_comes_to_what_an_undisturbed_training_comes_to(killed):
    folder, _ = killed
    losses = [[line["loss"] for line in lines_of(folder / name / "log.jsonl")] for name in ("sft", "undisturbed")]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


def test_each_episode_has_one_reward(killed):
    folder, _ = killed
    rewards = lines_of(folder / "grpo" / "rewards.jsonl")
    assert [line["step"] for line in rewards] == [step for step in range(1, STEPS + 1) for _ in range(4)]


# ------------------------------------------------------------------------------------------------------- the program


def train(kind, folder, lesson, base, pupil, ships):
    """Train for some steps, with a checkpoint after each."""
    from orienteer.graph import Graph
    from orienteer.lab.training import GrpoConfig, SftConfig, distil, reinforce
    from orienteer.settings import Settings
    from training import tiny

    shared = {**tiny.SETTINGS, "max_steps": str(STEPS), "save_steps": "1", "learning_rate": "1e-4"}
    if kind == "grpo":
        own = {"reward": "nodes", "batch": "1", "group": "4", "micro_batch": "4", "turns": "2", "most_tokens": "24"}
        chosen = GrpoConfig.read({**shared, **own, "kl": "0", "max_length": "1200"})
        reinforce(lesson, folder, str(pupil), chosen, {"ships": Graph.open(ships)}, settings=Settings())
    else:
        chosen = SftConfig.read({**shared, "batch": "4", "micro_batch": "4", "max_length": "900", "epochs": "9"})
        distil([lesson], folder, str(base), chosen)


def survived(kind, folder, *made_of, delay=None):
    """Train in a process of its own, which is killed some time after its training has begun; say whether it ended."""
    child = os.fork()
    if not child:
        code = 1
        try:
            train(kind, folder, *made_of)
            code = 0
        finally:
            os._exit(code)
    if delay is not None:
        begun, end = folder / "training.json", time.monotonic() + 60
        while not begun.exists() and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code not in (0, -signal.SIGKILL):
        raise SystemExit(f"{kind} could not go on in {folder}")
    return code == 0


def main(folder, *made_of):
    import warnings

    warnings.simplefilter("ignore")
    import datasets
    import torch
    import transformers
    import trl

    assert all((datasets.Dataset, torch, transformers.Trainer, trl.SFTTrainer, trl.GRPOTrainer))  # loaded before a fork
    folder.mkdir()
    chance, kills = random.Random(7), {}
    survived("sft", folder / "undisturbed", *made_of)
    for kind in ("sft", "grpo"):
        kills[kind] = 0
        while kills[kind] < MOST_KILLS and not survived(kind, folder / kind, *made_of, delay=chance.uniform(0, LATEST)):
            kills[kind] += 1
        if kills[kind] == MOST_KILLS:
            survived(kind, folder / kind, *made_of)
    sys.stdout.write(json.dumps(kills))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
