"""The output of commands: results to standard output, progress and notes to standard error, nothing else."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO, TypeAlias

from orienteer.display import Count, clean, escape_json, format_duration, seconds_left, value_cell

if TYPE_CHECKING:
    from rich.console import Console

    from orienteer.graph.store import Graph

Rows: TypeAlias = "tuple[Sequence[str], Iterable[Sequence[object]]]"
"""A result as a table: the names of its columns, and its rows, whose values are data of JSON."""
_WIPE = "\r\x1b[2K"
# Seconds between two lines of progress if no line moves.
_PROGRESS_SECONDS = 5.0
# Seconds without any output after which a terminal shows that the command goes on.
_SILENT_SECONDS = 2.0
_LEAST_ROOM = 20  # characters of a column that is cut
DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""The errors of a disk that is full, or fails."""


class Output:
    """The streams of a command, and how results, notes and progress are written to them."""

    def __init__(self, *, form: str = "", quiet: bool = False, verbosity: int = 0, has_pager: bool = False) -> None:
        self.form, self.quiet, self.verbosity = form, quiet, verbosity
        """The form of the result is `json`, `csv`, `md` or `table`, or empty for a text for people."""
        self.assumes_yes = False
        """Whether a person need not be asked about a large folder."""
        self.include: Sequence[str] = ()
        self.exclude: Sequence[str] = ()
        """Patterns of the files of a folder that the command reads, and of those that it skips."""
        self.opened: list[Graph] = []
        """The graphs that the command reads: if it fails because one of them is damaged, the error says so."""
        self.is_shared = False
        """Whether others use the terminal meanwhile, as the log of a server or a prompt: then no line moves."""
        self.doing = "working"
        """What goes on, for a person who waits."""
        self._stage, self._line, self._began, self._printed, self._is_within_line = "", "", 0.0, 0.0, False
        # The result, and the notes that follow it, until `done` shows them; None if they are written at once.
        self._held = io.StringIO() if has_pager and sys.stdout.isatty() else None
        self._later: list[str] = []
        self._last, self._lock, self._over = time.monotonic(), RLock(), Event()

    @property
    def as_json(self) -> bool:
        """Whether the result is printed as JSON."""
        return self.form == "json"

    def json(self, result: Any) -> None:  # Any: JSON, records or tuples of them
        """Print a result as JSON; characters that would steer a terminal are escaped."""
        self._write(escape_json(json.dumps(result, ensure_ascii=False, indent=2, default=_plain_data)) + "\n")

    def show(self, record: Any, text: str | Callable[[], None], rows: Callable[[], Rows] | None = None) -> None:
        """Print a result in the form that was asked for: JSON, rows, else its text, which a function may print."""
        if self.as_json:
            self.json(record)
        elif self.form and rows is not None:
            self.rows(*rows())
        elif isinstance(text, str):
            self.print(text)
        else:
            text()

    def rows(self, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Print rows as CSV, as a table of Markdown, or aligned."""
        if self.form == "csv":
            from orienteer.graph.columns import csv_lines

            self._write(csv_lines([header, *rows]))
            return
        cells = [["" if value is None else value_cell(value) for value in row] for row in rows]
        if self.form != "md":
            self.table(cells, header=header)
            return
        for row in (header, ["---"] * len(header), *cells):
            escaped = (" ".join(cell.split()).replace("\\", r"\\").replace("|", r"\|") for cell in row)
            self.print(f"| {' | '.join(escaped).replace('<', '&lt;')} |")

    def print(
        self, text: str = "", style: str = "", *, marks: Sequence[tuple[int, int]] = (), indent: int = 0, lines: int = 0
    ) -> None:
        """Print a text of a result without characters that would steer a terminal.

        On a terminal it has a style, the characters at `marks` are bold, and an indented text is fitted to the width,
        within at most `lines` lines if any. Elsewhere it is plain and whole.
        """
        if not sys.stdout.isatty() or not (style or marks or indent):
            for line in text.split("\n"):
                self._write(f"{' ' * indent}{clean(line)}\n")
            return
        from rich.text import Text

        self._wipe()
        console, shown, at = self._console(self._stream), Text(style=style), 0
        for begin, end in (*marks, (len(text), len(text))):
            shown.append(clean(text[at:begin])).append(clean(text[begin:end]), "bold not dim")
            at = end
        width = console.width - indent
        wrapped = list(shown.wrap(console, width)) if indent else [shown]
        if 0 < lines < len(wrapped):
            last = wrapped[lines - 1].plain[: width - 2]
            wrapped[lines - 1 :] = [Text(f"{last.rpartition(' ')[0] or last} …", style)]
        for one in wrapped:
            console.print(Text(" " * indent).append_text(one), soft_wrap=True)

    def words(self, text: str) -> None:
        """Print a part of a line at once; any other output ends the line first."""
        if self._held is not None:
            self.done()
        if not self._is_within_line:
            self._wipe()
        with _named():
            sys.stdout.write(clean(text))
            sys.stdout.flush()
        self._is_within_line, self._last = True, time.monotonic()

    def table(self, rows: Sequence[Sequence[str]], *, header: Sequence[str] = (), cuts_last: bool = False) -> None:
        """Print columns, fitted to a terminal, the last one with `cuts_last` to two lines; else a line a row, whole."""
        rows = [[clean(cell).replace("\n", " ") for cell in row] for row in rows]
        if sys.stdout.isatty():
            self._rich_table(rows, header, cuts_last=cuts_last)
            return
        lines = [list(header), *rows] if header else rows
        widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))] if lines else []
        for line in lines:
            self.print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())

    def note(self, text: str) -> None:
        """Write a line to standard error, unless this run is quiet; after the result, if that is held for a pager."""
        if self.quiet:
            return
        if self._held is not None and self._held.tell():
            self._later.append(text)
            return
        self._wipe()
        with _named():
            # Both streams keep their order if they go to the same place.
            sys.stdout.flush()
        if sys.stderr.isatty():
            from rich.text import Text

            self._console(sys.stderr).print(Text(clean(text), "dim"), soft_wrap=True)
        else:
            sys.stderr.write(clean(text) + "\n")
        sys.stderr.flush()
        self._last = time.monotonic()

    def notes(self, notes: Iterable[str]) -> None:
        """Write notes on a result."""
        for note in notes:
            self.note(f"note: {note}")

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
        with self._lock:
            self._line, self._last = line, now
            if self._moves:
                sys.stderr.write(f"{_WIPE}{clean(line)}")
            elif is_new and self.verbosity:
                sys.stderr.write(clean(stage) + "\n")
            elif now - self._printed >= _PROGRESS_SECONDS:
                sys.stderr.write(clean(line) + "\n")
                self._printed = now
            sys.stderr.flush()

    def start_clock(self) -> None:
        """Show on a terminal, until `done`, what goes on and for how long when nothing is written for two seconds."""
        if self._moves and not self.quiet:
            Thread(target=self._tick, daemon=True).start()

    def _tick(self) -> None:
        while not self._over.wait(1.0):
            with self._lock:
                silent = time.monotonic() - self._last
                if silent > _SILENT_SECONDS and self._moves and not self._is_within_line:
                    self._stage, self._line = self._stage or self.doing, self._line or self.doing
                    sys.stderr.write(f"{_WIPE}{clean(self._line)} ({format_duration(silent)})")
                    sys.stderr.flush()

    def done(self) -> None:
        """Show what is held, through a pager if a screen is too small for it; remove the line that moves."""
        self._over.set()
        self._wipe()
        text, self._held = "" if self._held is None else self._held.getvalue(), None
        pager = os.environ.get("PAGER", "less")
        if text.count("\n") >= shutil.get_terminal_size().lines and shutil.which(pager.partition(" ")[0]):
            from pydoc import pipepager

            # Of less: end at once if all fits, keep styles, leave the text on the screen.
            os.environ.setdefault("LESS", "FRX")
            pipepager(text, pager)
            text = ""
        with _named():
            sys.stdout.write(text)
            sys.stdout.flush()
        later, self._later = self._later, []
        for note in later:
            self.note(note)

    @property
    def _stream(self) -> TextIO:
        return sys.stdout if self._held is None else self._held

    def _console(self, stream: TextIO) -> Console:
        """Return a terminal that shows no style where the environment wants none."""
        from rich.console import Console

        colors: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
        size = shutil.get_terminal_size()  # `rich` asks no dumb terminal, and takes it for one of 80 columns
        return Console(
            file=stream,
            width=size.columns,
            height=size.lines,
            force_terminal=True,
            color_system=colors,
            highlight=False,
            markup=False,
        )

    @property
    def _moves(self) -> bool:
        """Whether progress is one line that moves."""
        return sys.stderr.isatty() and not self.is_shared and os.environ.get("TERM") != "dumb"

    def _wipe(self) -> None:
        """Remove the line that moves, and end one that was going on."""
        if self._is_within_line:
            self._is_within_line = False
            self._write("\n")
        with self._lock:
            if self._stage and self._moves:
                sys.stderr.write(_WIPE)
                sys.stderr.flush()
            self._stage = self._line = ""

    def _write(self, text: str) -> None:
        self._wipe()
        with _named():
            self._stream.write(text)
        self._last = time.monotonic()

    def _rich_table(self, rows: Sequence[Sequence[str]], header: Sequence[str], *, cuts_last: bool) -> None:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        self._wipe()
        console = self._console(self._stream)
        others = [max(map(len, column)) + 3 for column in zip(header, *rows, strict=False)][:-1]
        room = 2 * max(_LEAST_ROOM, console.width - sum(others)) if cuts_last else 0
        table = Table(box=SIMPLE_HEAD, show_header=bool(header), show_edge=False, pad_edge=False)
        for name in header or [""] * max(map(len, rows), default=0):
            # An id that is cut would be useless.
            table.add_column(name, overflow="fold")
        for row in rows:
            last = row[-1] if not room or len(row[-1]) <= room else f"{row[-1][: room - 1]}…"
            table.add_row(*map(Text, (*row[:-1], last)))
        console.print(table)


Tabular = Annotated[Output, "has rows"]
"""The output of a command whose result has rows: `--format` chooses their form, and a pager shows a long result."""


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
