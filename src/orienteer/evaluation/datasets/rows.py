"""Files of questions as rows, in whatever form a benchmark publishes them, and the hash that names them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from orienteer.errors import BadInput, Error
from orienteer.evaluation.examples import Example
from orienteer.ingest.bounds import parsed
from orienteer.ingest.formats import format_of
from orienteer.ingest.formats.files import opened, suffix, whole_json
from orienteer.ingest.formats.jsonl import parse
from orienteer.ingest.formats.table import NODE_ROWS
from orienteer.ingest.tables.plan import listing
from orienteer.ingest.tables.values import identifier, plain
from orienteer.records import JsonValue

Row = dict[str, Any]  # Any: whatever a file format can hold
PEEKED_BYTES = 1 << 20
"""Of a JSON file, to see the keys of its first object."""
SUMS = "SHA256SUMS"  # as `sha256sum` writes it, beside the files of a download


def files_in(path: Path, *, root: Path | None = None) -> list[Path]:
    """Return a file as it is, or the visible files of a folder; none where there is nothing.

    Links that lead out of the folder, or out of the `root` that holds it, are left out.
    """
    if path.is_dir():
        return listing(path, root)
    return [path] if path.is_file() else []


def keys(path: Path) -> frozenset[str]:
    """Return the columns or the keys of the first object of a file; none where it holds no rows that can be read."""
    try:
        form = format_of(path)
        if form is not None:
            return frozenset(form.reader.columns(path))
        if suffix(path) != ".json":
            return frozenset()
        first = _first(path)
    except Error:
        return frozenset()  # whoever reads it will say what is wrong with it
    return frozenset(first) if isinstance(first, dict) else frozenset()


def rows(path: Path) -> list[Row]:
    """Return the rows of a table, of JSON lines, or of a JSON list of objects.

    Raises `BadInput` for a file that is not whole, also where a single row cannot be read.
    """
    form = format_of(path)
    if form is None:
        return list(_json_rows(path))

    def refuse(reason: str, line: int, value: str) -> NoReturn:
        raise BadInput(f"{path}, line {line}: {reason} ({value}); correct or remove the line")

    batches = form.reader.batches(path, rows=NODE_ROWS, drop=refuse, header=True)
    return [
        dict(zip(batch.columns, values, strict=True))
        for batch in batches
        for values in zip(*batch.columns.values(), strict=True)
    ]


def digest(paths: Iterable[Path]) -> str:
    """Return the sha256 of one file, as `sha256sum` prints it; of several that of their names and hashes.

    Raises `BadInput` where a `SHA256SUMS` beside a file lists another hash for it.
    """
    hashes = {}
    for path in paths:
        hashes[path.name] = sha256 = _sha256(path)
        promised = _promised(path)
        if promised not in (None, sha256):
            raise BadInput(
                f"{path} has the sha256 {sha256}, and {SUMS} beside it says {promised}: download the file again; "
                "a newer release may have replaced it"
            )
    if len(hashes) == 1:
        return next(iter(hashes.values()))
    listed = "".join(f"{sha}  {name}\n" for name, sha in sorted(hashes.items()))
    return hashlib.sha256(listed.encode()).hexdigest()


def fields(row: Mapping[str, Any], *, but: Iterable[str] = ()) -> dict[str, JsonValue]:
    """Return the other columns of a row as JSON; empty ones are left out."""
    left_out = set(but)
    values = {name: plain(value) for name, value in row.items() if name not in left_out}
    return {name: value for name, value in values.items() if value is not None}


def required(row: Mapping[str, Any], name: str, *, path: Path) -> str:
    """Return a cell that has to be there, as text. Raises `BadInput` where it is empty."""
    value = identifier(row.get(name))
    if not value.strip():
        raise BadInput(f"{path}: a row has no {name!r} ({str(dict(row))[:80]}); fill it or remove the row")
    return value


def examples_of(table: Iterable[Row], make: Callable[[Row], Example], *, path: Path) -> list[Example]:
    """Return an example for each row. Raises `BadInput` for two of one id, and for a row of another shape."""
    examples = []
    for number, row in enumerate(table, 1):
        try:
            examples.append(make(row))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise BadInput(
                f"{path}, question {number} does not have the form of this data set "
                f"({type(error).__name__}: {str(error)[:80]}); download the file again"
            ) from error
    unique((example.question.id for example in examples), path=path)
    return examples


def listed(value: Any) -> list[Any]:  # Any: what a table holds
    """Return a list, or the one that a cell holds as JSON; an empty cell is an empty list. Raises `TypeError`."""
    value_list = unpacked(value)
    if value_list is not None and value_list != "" and not isinstance(value_list, list):
        raise TypeError(f"{value_list!r} where a list is expected")
    return value_list or []


def unpacked(value: Any) -> Any:  # Any: JSON, or what a table holds
    """Return a value as it is, and the list where the value is the JSON text of one."""
    if isinstance(value, str) and value[:1] == "[":
        try:
            return parsed(value)
        except ValueError:
            return value
    return value


def unique(ids: Iterable[str], *, path: Path) -> None:
    """Raise `BadInput` where two questions have one id: results could not be told apart."""
    seen: set[str] = set()
    for question_id in ids:
        if question_id in seen:
            raise BadInput(f"{path}: two questions have the id {question_id!r}; give each its own")
        seen.add(question_id)


def _first(path: Path) -> Any:  # Any: JSON
    """Return the first object of a JSON list or of JSON lines, None for anything else. Reads no more than it has to."""
    with opened(path) as raw:
        head = raw.read(PEEKED_BYTES).decode("utf-8-sig", "ignore").lstrip()
    try:
        return json.JSONDecoder().raw_decode(head.removeprefix("[").lstrip())[0]
    except (ValueError, RecursionError):
        return None


def _json_rows(path: Path) -> Iterator[Row]:
    """Read a `.json` file: a list of objects, or JSON lines under that name, as some benchmarks publish them."""
    if suffix(path) != ".json":
        raise BadInput(f"{path}: {path.suffix or 'a file without a suffix'} is not a format of question files")
    with opened(path) as raw:
        try:
            data = raw.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadInput(f"{path}: byte {error.start:,} is not UTF-8: save it as UTF-8") from error
    if data.lstrip().startswith("["):
        objects = whole_json(path)
        if not all(isinstance(item, dict) for item in objects):
            raise BadInput(f"{path} is a list whose members are not all objects: each question must be a JSON object")
        yield from objects
        return
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            yield parse(line, path, number)


def _promised(path: Path) -> str | None:
    """Return the hash that the folder's list gives for a file, None where it gives none."""
    sums = path.with_name(SUMS)
    if not sums.is_file():
        return None
    for line in sums.read_text(encoding="utf-8", errors="replace").splitlines():
        sha, _, name = line.partition(" ")
        if name.lstrip(" *").removeprefix("./") == path.name:
            return sha.lower()
    return None


def _sha256(path: Path) -> str:
    with path.open("rb") as raw:
        return hashlib.file_digest(raw, "sha256").hexdigest()


def the_one(candidates: Sequence[Path], path: Path, *, of: str) -> Path:
    """Return the one file that was found. Raises `BadInput` where there are none, or several."""
    if len(candidates) != 1:
        names = ", ".join(file.name for file in candidates) or "none"
        raise BadInput(f"{path} holds {len(candidates)} files of {of} ({names}): name the file itself")
    return candidates[0]
