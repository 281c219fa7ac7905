"""The episodes of a quiz on disk: those that have ended, their trajectories, and the replies to those under way."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from orienteer.errors import BadInput
from orienteer.files import append_line, mend, read_lines, write_whole
from orienteer.lab.evaluation.quiz_item import QuizItem
from orienteer.lab.evaluation.running.replies import ReplyFolder
from orienteer.lab.evaluation.running.runs import LOCK, held
from orienteer.records import Record, Trajectory

CONDITIONS, EPISODES, TRAJECTORIES = "conditions.json", "episodes.jsonl", "trajectories.jsonl"


class Conditions(Record):
    """What the episodes of a quiz depend on. The number of questions is not part of it."""

    version: Literal[1] = 1
    graph_sha256: str
    random_seed: int
    quizzer: str
    model: str
    max_calls: int
    temperature: float
    probe: bool
    avoid_sha256: str
    """The hash of the ids to be avoided."""


class EpisodeEnd(Record):
    """An episode that has ended."""

    id: str
    place: int
    """The place of the quiz that it worked on, from 0."""
    item: QuizItem | None = None
    reason: str | None = None
    """Why there is no item: one of `checks.REASONS`."""
    details: tuple[str, ...] = ()
    """All that was wrong, in words."""


class Episodes:
    """A folder of episodes, held for writing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.replies = ReplyFolder(folder)
        """The replies of the model to the episodes in flight."""
        self.done = {done.id: done for done in _read(folder / EPISODES)}
        """Those that have ended, in the order in which they did."""
        self._clear()
        self.replies.prepare()

    def add(self, done: EpisodeEnd, trajectories: Sequence[Trajectory]) -> None:
        """Write an episode down, how it went first; its replies are of no more use."""
        for trajectory in trajectories:
            append_line(self._folder / TRAJECTORIES, trajectory.model_dump_json())
        append_line(self._folder / EPISODES, done.model_dump_json())
        self.done[done.id] = done
        self.replies.forget((done.id, "quiz"))

    def _clear(self) -> None:
        """Leave out trajectories of an episode that a kill has kept from being written down: it begins anew."""
        file = self._folder / TRAJECTORIES
        mend(file)
        lines = list(read_lines(file))
        try:
            ended = [line for line in lines if json.loads(line)["question"]["id"] in self.done]
        except (ValueError, LookupError, TypeError) as error:
            raise BadInput(f"{file} holds a line that is no trajectory: remove its folder, and begin anew") from error
        if len(ended) < len(lines):
            write_whole(file, b"".join(ended).decode())


@contextmanager
def held_episodes(folder: Path | None, conditions: Conditions) -> Iterator[Episodes]:
    """Give the episodes of a folder, made where it is not there; of a temporary one where none is named.

    Raises `BadInput` where it holds those of another quiz, `GraphBusy` where another process writes there.
    """
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="orienteer-quiz-") as place:
            yield Episodes(Path(place))
        return
    folder.mkdir(parents=True, exist_ok=True)
    with held(folder):
        _claim(folder, conditions)
        episodes = Episodes(folder)
        yield episodes
        episodes.replies.clear()


def _claim(folder: Path, conditions: Conditions) -> None:
    """Write the conditions, or see that they are the same."""
    file = folder / CONDITIONS
    if not file.exists():
        if foreign := sorted(file.name for file in folder.iterdir() if file.name != LOCK):
            raise BadInput(f"{folder} holds {foreign[0]} and no quiz: name another file with -o")
        write_whole(file, conditions.model_dump_json(indent=1) + "\n")
        return
    try:
        there = Conditions.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise BadInput(f"{file} holds no conditions of this version: remove {folder}, or write elsewhere") from error
    old, new = there.model_dump(), conditions.model_dump()
    if differs := [name for name in new if old[name] != new[name]]:
        raise BadInput(
            f"{folder} holds a quiz under other conditions: {', '.join(differs)}. Ask as before, remove it, or write "
            "elsewhere"
        )


def _read(file: Path) -> list[EpisodeEnd]:
    mend(file)
    try:
        return [EpisodeEnd.model_validate_json(line) for line in read_lines(file)]
    except ValidationError as error:
        raise BadInput(f"{file} holds a line that is no episode: remove its folder, and begin anew") from error
