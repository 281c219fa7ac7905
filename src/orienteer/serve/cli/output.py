"""Where a command's words go: results to standard output, progress and notes to standard error, nothing else."""

from __future__ import annotations

import errno
import functools
import inspect
import json
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, cast, get_type_hints

import typer

from orienteer.display import clean, escape_json
from orienteer.errors import Error

if TYPE_CHECKING:
    from orienteer.graph.store import Graph

JsonFlag = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
QuietFlag = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes on standard error.")]
VerboseFlag = Annotated[
    int, typer.Option("--verbose", "-v", count=True, show_default=False, help="Log more; twice, with tracebacks.")
]

_WIPED = "\r\x1b[2K"
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # it is full, or fails


class Output:
    """What a command may say, and where."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False, verbosity: int = 0) -> None:
        self.as_json, self.quiet, self.verbosity = as_json, quiet, verbosity
        self.opened: list[Graph] = []
        """The graphs that the command reads: where it fails over damage of one, that is told."""
        self._stage = ""

    def json(self, data: Any) -> None:  # Any: JSON, records or tuples of them
        """Print a result as JSON, what would steer a terminal escaped."""
        self._write(escape_json(json.dumps(data, ensure_ascii=False, indent=2, default=_plain_data)) + "\n")

    def print(self, text: str = "") -> None:
        """Print a line of a result, free of characters that would steer a terminal."""
        self._write(clean(text) + "\n")

    def table(self, rows: Sequence[Sequence[str]], *, header: Sequence[str] = ()) -> None:
        """Print columns: laid out for the width of a terminal, else plain, a line each, nothing cut."""
        rows = [[clean(cell).replace("\n", " ") for cell in row] for row in rows]
        if sys.stdout.isatty():
            self._rich_table(rows, header)
            return
        lines = [list(header), *rows] if header else rows
        widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))] if lines else []
        for line in lines:
            self.print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())

    def note(self, text: str) -> None:
        """Say something on standard error, unless this run is quiet."""
        if not self.quiet:
            self._wipe()
            sys.stdout.flush()  # so that both streams keep their order where they go to one place
            sys.stderr.write(clean(text) + "\n")
            sys.stderr.flush()

    def progress(self, stage: str, count: int) -> None:
        """Show how far a long piece of work has come: one line that moves on a terminal, else a line a stage.

        What has no count is no stage but something to know, and stays.
        """
        if self.quiet or not count:
            self.note(stage)
            return
        if sys.stderr.isatty():
            sys.stderr.write(f"{_WIPED}{clean(f'{stage}: {count:,}')}")
        elif stage != self._stage:
            sys.stderr.write(clean(stage) + "\n")
        self._stage = stage
        sys.stderr.flush()

    def done(self) -> None:
        """Send everything on its way."""
        self._wipe()
        sys.stdout.flush()

    def _wipe(self) -> None:
        """Remove the line that moves."""
        if self._stage and sys.stderr.isatty():
            sys.stderr.write(_WIPED)
            sys.stderr.flush()
        self._stage = ""

    def _write(self, text: str) -> None:
        self._wipe()
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
            table.add_column(name, overflow="fold")  # an id that is cut is of no use
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        console.print(table)


def with_output(function: Callable[..., int | None]) -> Callable[..., int | None]:
    """Return a command with the flags that all commands have, in place of its parameter `out`.

    A parameter whose type is a dataclass stands for the flags that are its fields.
    """
    signature = inspect.signature(function, eval_str=True)
    taken = {name: one for name, one in signature.parameters.items() if name != "out"}
    groups = {name: cast("type[Any]", one.annotation) for name, one in taken.items() if is_dataclass(one.annotation)}
    own = [one for name, one in taken.items() if name not in groups]
    own += [flag for group in groups.values() for flag in _flags(group)]
    keyword = inspect.Parameter.KEYWORD_ONLY
    common = [
        inspect.Parameter("as_json", keyword, default=False, annotation=JsonFlag),
        inspect.Parameter("quiet", keyword, default=False, annotation=QuietFlag),
        inspect.Parameter("verbosity", keyword, default=0, annotation=VerboseFlag),
    ]

    @functools.wraps(function)
    def command(*, as_json: bool, quiet: bool, verbosity: int, **values: Any) -> int | None:
        logging.getLogger("orienteer").setLevel((logging.WARNING, logging.INFO, logging.DEBUG)[min(verbosity, 2)])
        out = Output(as_json=as_json, quiet=quiet, verbosity=verbosity)
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        try:
            code = _run(function, out, values)
            out.done()
        except KeyboardInterrupt:
            out.note("interrupted")
            raise
        except BrokenPipeError:
            # The reader has seen enough. What is still in the buffer goes nowhere, or Python would complain at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return code

    # typer reads the parameters from these.
    command.__signature__ = signature.replace(parameters=[*own, *common])  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in [*own, *common]}
    return command


def _run(function: Callable[..., int | None], out: Output, values: Mapping[str, Any]) -> int | None:  # Any: its options
    """Return the exit code of a command.

    Raises `NotAGraph` in place of what damage of a graph has led to, `Error` where a disk is full or fails.
    """
    try:
        return function(out=out, **values)
    except Exception as error:
        for graph in out.opened:
            from orienteer.graph.damage import tell_damage

            tell_damage(graph.path, graph.manifest.generation, error)
        if isinstance(error, OSError) and error.errno in DISK:
            raise Error(f"{error.filename or 'a file'}: {error.strerror}; see to the disk, and try again") from error
        raise


def _flags(group: type[Any]) -> list[inspect.Parameter]:  # Any: a dataclass
    """Return the fields of a dataclass as parameters of a command."""
    types = get_type_hints(group, include_extras=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(field.name, keyword, default=field.default, annotation=types[field.name])
        for field in fields(group)
    ]


def _plain_data(value: Any) -> Any:
    """Return what JSON knows for what it does not."""
    from pydantic import BaseModel

    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    return str(value)
