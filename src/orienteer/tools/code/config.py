"""How a model's code is run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from orienteer.cypher.table import MOST_ROWS
from orienteer.cypher.view import View
from orienteer.errors import BadOption
from orienteer.sandbox.interpreter import Limits
from orienteer.sandbox.tiers import Choice

_MOST_SECONDS = 3_600
_LIMITS = ("seconds", "memory_mb", "output_characters", "calls", "rows")


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeConfig:
    """How a model's code is run."""

    tier: Choice = "auto"
    """Where code runs: `monty`, an interpreter of its own, `cpython`, all of Python in a process that is locked down,
    or `auto`, the first of them that is installed and starts."""
    retry_cpython: bool = False
    """Run code again in `cpython` where `monty` lacks something that it asks for; later code stays there."""
    seconds: float = 20.0
    """Wall time of one call, its queries included."""
    memory_mb: int = 256
    """Memory of the code."""
    output_characters: int = 8_000
    """Characters of printed text that come back, the first and the last."""
    calls: int = 500
    """Queries that one call of the tool may run."""
    rows: int = 10_000
    """Rows that one query returns at the most."""
    view: View | None = None
    """A graph named as in paper 003; None: by its own ids and types."""

    def __post_init__(self) -> None:
        """Raises `BadOption` for a bound that cannot be."""
        if not 0 < self.seconds <= _MOST_SECONDS:
            raise BadOption(f"seconds is {self.seconds:g}: it must be above 0, up to {_MOST_SECONDS:,}")
        if not 1 <= self.rows <= MOST_ROWS:
            raise BadOption(f"rows is {self.rows}: it must be 1 to {MOST_ROWS:,}")
        for name in ("memory_mb", "output_characters", "calls"):
            if getattr(self, name) < 1:
                raise BadOption(f"{name} is {getattr(self, name)}: it must be 1 or more")

    @property
    def limits(self) -> Limits:
        """What one run may take."""
        return Limits(
            seconds=self.seconds,
            memory_mb=self.memory_mb,
            output_characters=self.output_characters,
            calls=self.calls,
        )


class Lowered(NamedTuple):
    """A configuration from somebody else, and what of it is not granted."""

    config: CodeConfig
    notes: tuple[str, ...]


def lowered(config: CodeConfig) -> Lowered:
    """Return a configuration with no limit above the default one: who wrote a trace does not say what it may take."""
    own = CodeConfig()
    high = {name: getattr(config, name) for name in _LIMITS if getattr(config, name) > getattr(own, name)}
    notes = (f"{name} is {high[name]:,} in the trace: replayed with {getattr(own, name):,}" for name in high)
    return Lowered(replace(config, **{name: getattr(own, name) for name in high}), tuple(notes))
