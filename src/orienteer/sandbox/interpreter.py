"""The seam between who runs a model's Python and what it runs in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from orienteer.records import JsonValue

Tier: TypeAlias = Literal["monty", "cpython"]
Functions: TypeAlias = Mapping[str, Callable[..., JsonValue]]
"""What the code may call, by name. They run in our own process: an `Error` of ours becomes an exception in the code,
with its message; anything else they raise is a bug and is raised by `run`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one run of code may take."""

    seconds: float = 20.0
    """Wall time of a run, its calls of functions included; what runs longer is killed, and its state is lost."""
    memory_mb: int = 512
    """Memory of the code."""
    output_characters: int = 8_000
    """Characters of printed text that are kept: the first and the last of them, and how many were left out."""
    calls: int = 500
    """Calls of functions in a run."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run of code gave."""

    printed: str
    """Standard output, cut to the limit, with a line in its place that says how much was left out."""
    error: str | None = None
    """What the code died of, with the line where it did, as its author should read it; None where it ended well."""
    missing: str | None = None
    """What this tier lacks that the code asked for, in a few words; None where it was no such thing."""
    is_lost: bool = False
    """Whether the state of earlier runs is gone: the process was killed, or died."""
    left_out: int = 0
    """Characters of printed text that were not kept."""
    seconds: float = 0.0


class Interpreter(Protocol):
    """Python that keeps its state from run to run until it is closed. Not shared among threads."""

    @property
    def tier(self) -> Tier:
        """Which tier it is, for the trajectory."""

    def run(self, code: str) -> Ran:
        """Run code; its faults come back in what it gave, ours propagate. Raises `MissingExtra`, `UnsafeSandbox`."""

    def close(self) -> None:
        """End it: its process, its folder, its state. Closing twice is no fault."""
