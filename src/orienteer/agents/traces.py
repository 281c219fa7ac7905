"""Trajectories in files, one JSON line each."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from orienteer.display import escape_json
from orienteer.errors import BadInput
from orienteer.files import write_whole
from orienteer.records import Trajectory

STANDARD = Path("-")
"""Standard input or output."""


def check_writable(path: Path) -> None:
    """Raise `BadInput` if no trace can be written there: better before a model is paid than after."""
    if path == STANDARD:
        return
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise BadInput(f"the trace cannot be written to {path}: name a file in a folder that exists")


def write(path: Path, trajectories: Iterable[Trajectory]) -> None:
    """Write trajectories as JSON lines. The file appears whole or not at all; `-` is standard output."""
    lines = "".join(f"{trajectory.model_dump_json()}\n" for trajectory in trajectories)
    if path == STANDARD:
        sys.stdout.write(escape_json(lines))
        return
    write_whole(path, lines)


def read(path: Path) -> tuple[Trajectory, ...]:
    """Return the trajectories of a file; `-` is standard input. Raises `BadInput` with the line that is invalid."""
    try:
        text = sys.stdin.read() if path == STANDARD else path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}; name what ask --trace FILE wrote") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} cannot be read as a trace: {error}") from error
    trajectories = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            trajectories.append(Trajectory.model_validate_json(line))
        except BadInput as error:
            raise BadInput(f"{path}, line {number}: {error}") from error
        except ValidationError as error:
            fault = error.errors()[0]
            place = ".".join(map(str, fault["loc"]))
            raise BadInput(f"{path}, line {number}, is not a trajectory: {place} {fault['msg']}") from error
    if not trajectories:
        raise BadInput(f"{path} holds no trajectory: write one with: orienteer ask DIR QUESTION --trace {path}")
    return tuple(trajectories)
