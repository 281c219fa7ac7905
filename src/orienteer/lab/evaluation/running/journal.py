"""The writing side of a run: what it has so far, and what is put to it, by one process and one thread of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import ValidationError

from orienteer.errors import BadInput
from orienteer.files import append_line, mend, read_lines
from orienteer.lab.evaluation.running.runs import RESULTS, TRAJECTORIES, Line, Told
from orienteer.records import Trajectory, Usage

Pair: TypeAlias = tuple[str, str]
"""A question's id and a method's label: what has one result."""


class Journal:
    """The results of a run as they come.

    Trajectories are written before their result, so that a result that is there is complete. What a kill has left
    beside that is cleared away when the journal is opened: a last line cut short, trajectories without their result.
    """

    def __init__(self, path: Path, *, forgets_failed: bool = False) -> None:
        """Read what is done; with `forgets_failed`, questions that failed are not. Raises `BadInput`."""
        self._results, self._trajectories = path / RESULTS, path / TRAJECTORIES
        self.forgets_failed = forgets_failed
        self.done: set[Pair] = set()
        self.failed: set[Pair] = set()
        """Of those that are done."""
        self.usage = Usage()
        """What they took together."""
        mend(self._results)
        mend(self._trajectories)
        if forgets_failed:
            _keep(self._results, lambda record: record.get("error") is None)
        for line in read_lines(self._results):
            record = _parsed(self._results, line)
            pair = record["id"], record["method"]
            self.done.add(pair)
            try:
                self.usage += Usage.model_validate(record.get("usage"))
            except ValidationError as error:
                raise _no_result(self._results, "its usage is none") from error
            if record.get("error") is not None:
                self.failed.add(pair)
        if _count(self._trajectories) > len(self.done):
            _keep(self._trajectories, lambda record: (record["id"], record["method"]) in self.done)

    def add(self, line: Line, trajectories: Sequence[Trajectory]) -> None:
        """Write a result down. It is on disk, as far as this process is concerned, when this returns."""
        record = Told(id=line.id, method=line.method, trajectories=tuple(trajectories))
        append_line(self._trajectories, record.model_dump_json())
        append_line(self._results, line.model_dump_json())


def _keep(file: Path, is_kept: Callable[[dict[str, Any]], bool]) -> None:  # Any: JSON
    """Leave out the lines that do not pass; the file is replaced as a whole."""
    if not file.exists():
        return
    new = file.with_name(f".{file.name}")
    with new.open("wb") as target:
        target.writelines(line for line in read_lines(file) if is_kept(_parsed(file, line)))
    new.replace(file)


def _parsed(file: Path, data: bytes) -> dict[str, Any]:  # Any: JSON
    try:
        record = json.loads(data)
    except ValueError as error:
        raise _no_result(file, error) from error
    if not isinstance(record, dict) or not {"id", "method"} <= record.keys():
        raise _no_result(file, "it has no id and method")
    return record


def _no_result(file: Path, why: object) -> BadInput:
    return BadInput(f"{file} holds a line that is not a result ({why}): name another folder and run it again")


def _count(file: Path) -> int:
    return sum(1 for _ in read_lines(file))
