"""The output of commands: results to standard output, progress and notes to standard error, nothing else."""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from orienteer.display import Count, clean, escape_json, format_duration, seconds_left

if TYPE_CHECKING:
    from orienteer.graph.store import Graph

_WIPE = "\r\x1b[2K"
# Seconds between two lines of progress if no line moves.
_PROGRESS_SECONDS = 5.0
DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""The errors of a disk that is full, or fails."""


class Output:
    """The streams of a command, and how results, notes and progress are written to them."""

    def __init__(
        self, *, as_json: bool = False, quiet: bool = False, verbosity: int = 0, assumes_yes: bool = False
    ) -> None:
        self.as_json, self.quiet, self.verbosity, self.assumes_yes = as_json, quiet, verbosity, assumes_yes
        self.include: Sequence[str] = ()
        self.exclude: Sequence[str] = ()
        """Patterns of the files of a folder that the command reads, and of those that it skips."""
        self.opened: list[Graph] = []
        """The graphs that the command reads: if it fails because one of them is damaged, the error says so."""
        self.is_shared = False
        """Whether others write to standard error meanwhile, such as the log of a server: then no line moves."""
        self._stage, self._began, self._printed = "", 0.0, 0.0
        self._is_within_line = False

    def json(self, result: Any) -> None:  # Any: JSON, records or tuples of them
        """Print a result as JSON; characters that would steer a terminal are escaped."""
        self._write(escape_json(json.dumps(result, ensure_ascii=False, indent=2, default=_plain_data)) + "\n")

    def show(self, record: Any, text: str | Callable[[], None]) -> None:  # Any: as above
        """Print the result of a command: as JSON with `--json`, else its text, or what a function prints."""
        if self.as_json:
            self.json(record)
        elif isinstance(text, str):
            self.print(text)
        else:
            text()

    def print(self, text: str = "") -> None:
        """Print a line of a result without characters that would steer a terminal."""
        self._write(clean(text) + "\n")

    def words(self, text: str) -> None:
        """Print a part of a line at once; any other output ends the line first."""
        if not self._is_within_line:
            self._wipe()
        with _named():
            sys.stdout.write(clean(text))
            sys.stdout.flush()
        self._is_within_line = True

    def marked(self, text: str, marks: Sequence[tuple[int, int]], *, indent: int = 0) -> None:
        """Print a text with the characters at `marks` in bold, fitted to a terminal; elsewhere plain and uncut."""
        if not sys.stdout.isatty():
            for line in text.splitlines():
                self.print(f"{' ' * indent}{line}")
            return
        from rich.console import Console
        from rich.padding import Padding
        from rich.text import Text

        self._wipe()
        console = Console(file=sys.stdout, highlight=False, markup=False)
        shown, at = Text(), 0
        for begin, end in marks if not console.no_color else ():
            shown.append(clean(text[at:begin]))
            shown.append(clean(text[begin:end]), "bold")
            at = end
        console.print(Padding(shown.append(clean(text[at:])), (0, 0, 0, indent)))

    def table(self, rows: Sequence[Sequence[str]], *, header: Sequence[str] = ()) -> None:
        """Print columns: fitted to the width of a terminal; elsewhere plain, one line a row, never cut."""
        rows = [[clean(cell).replace("\n", " ") for cell in row] for row in rows]
        if sys.stdout.isatty():
            self._rich_table(rows, header)
            return
        lines = [list(header), *rows] if header else rows
        widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))] if lines else []
        for line in lines:
            self.print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())

    def note(self, text: str) -> None:
        """Write a line to standard error, unless this run is quiet."""
        if not self.quiet:
            self._wipe()
            with _named():
                # Both streams keep their order if they go to the same place.
                sys.stdout.flush()
            sys.stderr.write(clean(text) + "\n")
            sys.stderr.flush()

    def progress(self, stage: str, count: int) -> None:
        """Show the progress of long work, with the total and the time left if known.

        On a terminal it is one line that moves. Elsewhere it is a line every few seconds, and with `-v` one for each
        stage. A text without a count is a note.
        """
        if self.quiet or not count:
            self.note(stage)
            return
        now = time.monotonic()
        is_new = stage.partition(",")[0] != self._stage
        if is_new:
            self._stage, self._began = stage.partition(",")[0], now
            self._printed = self._printed or now
        line = f"{stage}: {count:,}"
        if isinstance(count, Count) and count.of >= count:
            line += f" of {count.of:,}"
            if left := seconds_left(count, now - self._began):
                line += f", about {format_duration(left)} left"
        if self._moves:
            sys.stderr.write(f"{_WIPE}{clean(line)}")
        elif is_new and self.verbosity:
            sys.stderr.write(clean(stage) + "\n")
        elif now - self._printed >= _PROGRESS_SECONDS:
            sys.stderr.write(clean(line) + "\n")
            self._printed = now
        sys.stderr.flush()

    def done(self) -> None:
        """Remove the line that moves, and flush standard output."""
        self._wipe()
        with _named():
            sys.stdout.flush()

    @property
    def _moves(self) -> bool:
        """Whether progress is one line that moves."""
        return sys.stderr.isatty() and not self.is_shared

    def _wipe(self) -> None:
        """Remove the line that moves, and end one that was going on."""
        if self._is_within_line:
            self._is_within_line = False
            self._write("\n")
        if self._stage and self._moves:
            sys.stderr.write(_WIPE)
            sys.stderr.flush()
        self._stage = ""

    def _write(self, text: str) -> None:
        self._wipe()
        with _named():
            sys.stdout.write(text)

    def _rich_table(self, rows: Sequence[Sequence[str]], header: Sequence[str]) -> None:
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        self._wipe()
        console = Console(file=sys.stdout, highlight=False, markup=False)
        style = "none" if console.no_color else "bold"
        table = Table(box=SIMPLE_HEAD, show_header=bool(header), show_edge=False, pad_edge=False, header_style=style)
        for name in header or [""] * max(map(len, rows), default=0):
            # An id that is cut would be useless.
            table.add_column(name, overflow="fold")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        console.print(table)


def drop_output() -> None:
    """Discard the buffer of standard output, or Python would complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _named() -> Iterator[None]:
    """Name standard output in system errors of writing to it."""
    try:
        yield
    except OSError as error:
        error.filename = "standard output"
        raise


def _plain_data(value: Any) -> Any:
    """Return a value as data of JSON."""
    from pydantic import BaseModel

    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    return str(value)
