"""The values of JSON and YAML files, and the tables within them."""

from __future__ import annotations

import datetime
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from orienteer.errors import BadInput
from orienteer.ingest.bounds import DEEPEST, memory_told
from orienteer.ingest.formats.files import measured, opened_text, stem, suffix, whole_json
from orienteer.ingest.formats.jsonl import JsonLines, first_objects, objects_of
from orienteer.ingest.formats.letters import read_text
from orienteer.ingest.formats.nested import NestedTable, Row, tables_of_rows, tables_within
from orienteer.ingest.formats.table import Batch, Drop

JSON, YAML, LINES = (".json",), (".yaml", ".yml"), (".jsonl", ".ndjson")
SUFFIXES = (*JSON, *YAML)
FEWEST_VALUES = 1 << 20
"""Values that the aliases of any file may stand for."""
MOST_LINES = 1 << 27
"""Bytes of lines of JSON whose objects become tables, which are held: more are streamed, and keep objects in cells.

To validate 100 MB took 240 MB of memory with long texts, 570 MB with 1.1 million objects.
"""
HELD_ROWS = 1_000
"""Lines that are parsed at once: of more, the garbage collector would look at each again and again."""
MOST_YAML = 1 << 25
"""Characters of a YAML file: reading it takes a second a megabyte."""


def tables_of(path: Path) -> list[NestedTable]:
    """Return the tables within a file, empty if it holds other values. Raises `BadInput` for a damaged one."""
    dropped: list[tuple[str, int, str]] = []
    with memory_told(path):
        try:
            is_yaml = suffix(path) in YAML
            value = _yaml(path) if is_yaml else whole_json(path, lambda *told: dropped.append(told))
            tables = tables_within(value, stem(path))
            for table in tables[:1]:
                table.dropped = dropped
            return tables
        except BadInput:
            with opened_text(path, has_lines=False) as text:
                first = list(islice(filter(str.strip, text), 2))
            if suffix(path) in YAML or len(first) < 2 or not all(line.lstrip().startswith("{") for line in first):
                raise
            return _held(path)


def tables_of_lines(path: Path) -> list[NestedTable]:
    """Return the tables of lines of JSON with objects within them; empty for others.

    Raises `BadInput` for a line that is no JSON object.
    """
    return _held(path) if any(map(_has_objects, first_objects(path))) else []


def _held(path: Path) -> list[NestedTable]:
    dropped: list[tuple[str, int, str]] = []
    lines = array("q")

    def parts(text: TextIO) -> Iterator[Sequence[Row]]:
        for taken in objects_of(text, path, rows=HELD_ROWS, drop=lambda *told: dropped.append(told)):
            if measured(text).unpacked > MOST_LINES:
                break
            lines.extend(taken.lines)
            yield taken.rows

    with memory_told(path), opened_text(path) as text:
        tables = tables_of_rows(parts(text), NestedTable(stem(path), "", lines=lines, dropped=dropped))
        if tables and measured(text).unpacked <= MOST_LINES:
            return tables
    reason = f"more than {MOST_LINES >> 20} MB of lines, or too many different keys: part it to have tables of them"
    return [_InCells(stem(path), "", said=(f"objects stay in the cells of their rows, for it has {reason}",))]


class _InCells(NestedTable):
    """Lines whose objects stay in the cells of their rows."""

    def columns(self, path: Path) -> tuple[str, ...]:
        """Return the keys of the first rows."""
        return JsonLines().columns(path)

    def batches(self, path: Path, *, rows: int, drop: Drop, header: bool) -> Iterator[Batch]:
        """Read the rows in batches."""
        return JsonLines().batches(path, rows=rows, drop=drop, header=header)


def _has_objects(row: Mapping[str, Any]) -> bool:  # Any: JSON
    """Return whether an object has objects, or lists of them."""
    return any(isinstance(each[0] if isinstance(each, list) and each else each, dict) for each in row.values())


@cache
def _yaml_loader() -> Any:  # Any: a class of either implementation
    """Return a safe loader to which `NO` is a text, as in YAML 1.2, and `12:30` no number to the base of 60."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        pass

    changed = ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
    Loader.yaml_implicit_resolvers = {
        first: [(tag, form) for tag, form in forms if tag not in changed]
        for first, forms in Loader.yaml_implicit_resolvers.items()
    }
    Loader.add_implicit_resolver(changed[0], re.compile("(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
    Loader.add_implicit_resolver(changed[1], re.compile(r"[-+]?(0|[1-9]\d*)$"), list("-+0123456789"))
    number = r"[-+]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][-+]?\d+)?$"
    Loader.add_implicit_resolver(changed[2], re.compile(number), list("-+.0123456789"))
    return Loader


def _yaml(path: Path) -> Any:  # Any: YAML, as JSON has it
    """Return the value of a YAML file; None for several documents."""
    import yaml

    loader = _yaml_loader()
    text = read_text(path).text
    if len(text) > MOST_YAML:
        raise BadInput(f"{path} has more than {MOST_YAML >> 20} MB of YAML: save it as JSON lines, or part it")
    try:
        # The library's recursion has no bound of its own.
        depth = documents = 0
        for event in yaml.parse(text, Loader=loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            documents += isinstance(event, yaml.DocumentStartEvent)
            if depth > DEEPEST:
                raise BadInput(f"{path}: more than {DEEPEST} values within values; write the file again, flatter")
            if documents > 1:
                return None
        return _Plain(path, len(text)).value(yaml.load(text, Loader=loader))
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        first = str(error).partition("\n")[0]
        raise BadInput(f"{path} is no whole YAML file ({first}); fetch the file again") from error


class _Plain:
    """Makes values as JSON has them: keys are texts, dates as ISO 8601 has them, aliases values of their own."""

    def __init__(self, path: Path, length: int) -> None:
        self._path, self._left = path, max(FEWEST_VALUES, length)

    def value(self, value: Any) -> Any:  # Any: what YAML can hold
        """Return a value. Raises `BadInput` if aliases stand for far more values than the text has characters."""
        self._left -= 1
        if self._left < 0:
            raise BadInput(f"{self._path}: its aliases stand for too many values; write the file again without them")
        if isinstance(value, dict):
            return {str(self.value(key)): self.value(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple | set):
            return [self.value(inner) for inner in value]
        if isinstance(value, datetime.date):
            return value.isoformat()
        return value if value is None or isinstance(value, str | int | float) else str(value)
