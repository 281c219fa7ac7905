"""How a model's code is run: the options of `code_interpreter`, and their bounds for untrusted trajectories."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import Field

from orienteer.cypher.names import MOST_ROWS, View
from orienteer.options import Options
from orienteer.sandbox.tiers import Choice, Limits

_MOST_SECONDS = 3_600
_LIMITS = ("seconds", "memory_mb", "output_characters", "calls", "rows")


class CodeConfig(Options):
    """How a model's code is run."""

    tier: Choice = "auto"
    """Where code runs: `monty`, an interpreter of its own, `cpython`, all of Python in a process that is locked down,
    or `auto`, the first of them that is installed and starts."""
    retry_cpython: bool = False
    """Run code again in `cpython` where `monty` lacks something that it asks for; later code stays there."""
    seconds: float = Field(default=20.0, gt=0, le=_MOST_SECONDS)
    """Wall time of one call, its queries included."""
    memory_mb: int = Field(default=256, ge=1)
    """Memory of the code."""
    output_characters: int = Field(default=8_000, ge=1)
    """Characters of printed text that come back, the first and the last."""
    calls: int = Field(default=500, ge=1)
    """Queries that one call of the tool may run."""
    rows: int = Field(default=10_000, ge=1, le=MOST_ROWS)
    """Rows that one query returns at the most."""
    view: View | None = None
    """A graph named as in paper 003; None: by its own ids and types."""
    is_plain: bool = False
    """Only what paper 003 has: no `find` in the code, and replies that hold results and errors alone."""

    @property
    def limits(self) -> Limits:
        """What one run may take."""
        return Limits(
            seconds=self.seconds,
            memory_mb=self.memory_mb,
            output_characters=self.output_characters,
            calls=self.calls,
        )


class LoweredLimits(NamedTuple):
    """Somebody else's configuration with lower limits, and notes on which limits were lowered."""

    config: CodeConfig
    notes: tuple[str, ...]


def lowered(config: CodeConfig) -> LoweredLimits:
    """Return a configuration with no limit above the default: the writer of a trace does not grant limits."""
    own = CodeConfig()
    high = {name: getattr(config, name) for name in _LIMITS if getattr(config, name) > getattr(own, name)}
    notes = (f"{name} is {high[name]:,} in the trace: replayed with {getattr(own, name):,}" for name in high)
    return LoweredLimits(config.model_copy(update={name: getattr(own, name) for name in high}), tuple(notes))
