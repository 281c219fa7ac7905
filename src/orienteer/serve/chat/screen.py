"""Where a chat's words go: to a terminal, what matters less in a weaker colour; elsewhere as commands write."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from orienteer.display import clean
from orienteer.serve.cli.output import Output


class Waiting(NamedTuple):
    """What a person is told while something runs."""

    tell: Callable[[str], None]
    """Changes what is said."""
    end: Callable[[], None]
    """Says nothing more, for words of the answer are written now."""


class Screen(Output):
    """The streams of a chat. With `NO_COLOR` a terminal gets no colours and no other style either."""

    def __init__(self, out: Output, *, has_terminal: bool) -> None:
        """`out` is how the command was called."""
        super().__init__(quiet=out.quiet, verbosity=out.verbosity)
        self.has_terminal = has_terminal
        self._console = Console(file=sys.stdout, highlight=False, markup=False) if has_terminal else None

    def note(self, text: str) -> None:
        """Tell what is beside the answer: at a terminal in its place among the lines, else on standard error."""
        if self._console is None:
            super().note(text)
        elif not self.quiet:
            self._tell(self._console, text, "dim")

    def error(self, text: str) -> None:
        """Tell what went wrong, as commands do."""
        line = f"error: {' '.join(clean(text).split())}"
        if self._console is None:
            super().done()
            sys.stderr.write(f"{line}\n")
        else:
            self._tell(self._console, line, "red")

    def clear(self) -> None:
        """Clear the terminal, if it is one."""
        if self._console is not None:
            self._console.clear()

    @contextmanager
    def waiting(self, words: str) -> Iterator[Waiting]:
        """Show at a terminal that something runs; what is told meanwhile stands above it."""
        if self._console is None or self.quiet:
            yield Waiting(lambda words: None, lambda: None)
            return
        with self._console.status(Text(clean(words)), spinner_style=self._style(self._console, "cyan")) as status:
            yield Waiting(lambda words: status.update(Text(clean(words))), status.stop)

    def _tell(self, console: Console, text: str, style: str) -> None:
        self._wipe()
        console.print(Text(clean(text), style=self._style(console, style)), soft_wrap=True)

    @staticmethod
    def _style(console: Console, style: str) -> str:
        return "none" if console.no_color else style
