"""How far the making of a graph has come, and what answers meanwhile, in words."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orienteer.display import Count, format_duration, seconds_left

if TYPE_CHECKING:  # a server that lists its tools loads no reader of documents
    from orienteer.ingest.documents.so_far import Interim


@dataclass(frozen=True, slots=True)
class Stage:
    """How far the making of a graph has come."""

    text: str
    done: int = 0
    of: int | None = None
    """None where the total is not known."""
    began: float = field(default_factory=time.monotonic)

    def __str__(self) -> str:
        total = "" if self.of is None else f" of {self.of:,}"
        return (f"{self.text}: {self.done:,}{total}" if self.done else self.text) + self.left

    @property
    def seconds_left(self) -> float | None:
        """About how long its rest takes, at the pace so far; None where nobody knows."""
        if self.of is None:
            return None
        return seconds_left(Count(self.done, of=self.of), time.monotonic() - self.began)

    @property
    def left(self) -> str:
        """The same as the end of a sentence; nothing where nobody knows."""
        return "" if (seconds := self.seconds_left) is None else f", about {format_duration(seconds)} left"


def told_of(interim: Interim, stage: Stage | None) -> str:
    """Say from what a graph answers while it is made, and about how long that will be so."""
    left = "" if stage is None else stage.left
    if interim.files is None:
        return f"the sources have changed and are being read again{left}: answers come from the graph as it was before"
    if interim.files == interim.of:
        return f"all {interim.files:,} files are read, and answer by words: what joins them is being found{left}"
    total = "" if interim.of is None else f" of {interim.of:,}"
    return (
        f"{interim.files:,}{total} files are read so far{left}: answers come from these, "
        "and what is not found may be in the others"
    )
