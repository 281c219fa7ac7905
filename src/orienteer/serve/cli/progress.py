"""How far an evaluation has come, on standard error."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING

from orienteer.display import counted
from orienteer.serve.cli import figures
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.evaluation.running.runner import Progress
    from orienteer.evaluation.scores.judge import Judgement

_TICK = 0.1  # seconds between two looks of a line that moves
_LINE = 30.0  # seconds between two lines where none moves


class Ticker:
    """Shows how far a run has come: a line that moves on a terminal, else a line now and then."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._moves = sys.stderr.isatty()
        self._next = 0.0

    def __call__(self, found: Progress) -> None:
        """Show this, unless something was shown just now."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (_TICK if self._moves else _LINE)
        if not found.asked:
            if found.done:
                self._out.note(f"going on: {found.done:,} of {found.total:,} results are there")
            return
        said = f"{found.done:,} of {found.total:,}: {figures.progress(found)}"
        if self._moves:
            self._out.progress(said[: shutil.get_terminal_size().columns - 12], found.done)
        else:
            self._out.note(said)


class Judging:
    """Shows verdicts as they come, and what they cost."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self.verdicts = self.unread = 0
        from orienteer.records import Usage  # a command that starts needs no records

        self.usage = Usage()

    def __call__(self, found: Judgement) -> None:
        """Count one more, and show it."""
        self.verdicts += 1
        self.unread += found.error is not None
        self.usage += found.usage
        self._out.progress("verdicts", self.verdicts)

    def end(self) -> None:
        """Say how many there are, and what they cost together."""
        unread = [f"{self.unread:,} of them unreadable"] if self.unread else []
        self._out.note(", ".join([counted(self.verdicts, "new verdict"), *unread, *figures.spent(self.usage)]))
