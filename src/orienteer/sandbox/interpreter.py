"""The seam between the caller who runs a model's Python and the interpreter that it runs in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from orienteer.records import JsonValue

Tier: TypeAlias = Literal["monty", "cpython"]
Functions: TypeAlias = Mapping[str, Callable[..., JsonValue]]
"""The functions that the code may call, by name. They run in our own process. An `Error` that one raises becomes an
exception in the code, with its message; any other exception is a bug, and `run` raises it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one run of code."""

    seconds: float = 20.0
    """Wall time of a run, its calls of functions included. A run that takes longer is killed, and its state is lost."""
    memory_mb: int = 512
    """Memory of the code."""
    output_characters: int = 8_000
    """Characters of printed text that come back: the first and the last of them, with the number left out."""
    calls: int = 500
    """Calls of functions in a run."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run of code."""

    printed: str
    """Standard output, cut to the limit; a line in the gap says how much was left out."""
    error: str | None = None
    """The error that ended the code, with its line, written for the code's author; None where the code ended well."""
    missing: str | None = None
    """The feature that the code asked for and this tier lacks, in a few words; None where nothing is lacking."""
    is_lost: bool = False
    """Whether the state of earlier runs is gone because the process was killed or died."""
    left_out: int = 0
    """Characters of printed text that were left out."""
    seconds: float = 0.0


class Interpreter(Protocol):
    """A Python that keeps its state from run to run until it is closed. One thread only."""

    @property
    def tier(self) -> Tier:
        """Return the name of the tier, for the trajectory."""

    def run(self, code: str) -> RunResult:
        """Run code; its errors come back in the result, ours propagate. Raises `MissingExtra`, `UnsafeSandbox`."""

    def close(self) -> None:
        """End its process and its state. Closing twice does no harm."""
