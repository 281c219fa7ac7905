"""Redaction of records and errors for clients: no local path, and no character that would steer a terminal.

A command shows a person their own paths, and escapes names as it prints them. A network interface sends records through
`for_outside` and errors through `message_outside`, each with `machine_paths`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from orienteer.display import clean
from orienteer.errors import Error, without_paths

if TYPE_CHECKING:
    from orienteer.graph.store import Graph
    from orienteer.protocols import LanguageModel

_R = TypeVar("_R", bound=BaseModel)
# Fields whose texts are shown within a line. Ids stay unchanged: clients send them back.
_NAMES = frozenset({"name", "aliases", "names", "why", "heading"})
# Fields that may hold a sentence of ours about a file, or the name of a model in a file. Messages to a model may, too:
# they hold the notes of a search.
_SENTENCES = frozenset({"notes", "error", "model", "content"})
# What `clean` may change, as it stands in JSON.
_STEERING = re.compile(r"\\[tbfru]|[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def machine_paths(graph: Graph | None, model: LanguageModel | None = None) -> tuple[Path, ...]:
    """Return the paths that sentences may name: a graph's directory, and the file of a local model."""
    from orienteer.llm.local import LocalModel

    of_model = (model.path, model.path.absolute()) if isinstance(model, LocalModel) else ()
    return tuple(dict.fromkeys(of_model if graph is None else (graph.path, *of_model)))


def message_outside(error: Error, paths: Sequence[Path]) -> str:
    """Return the message of an error without our paths."""
    return clean(without_paths(error.public, paths))


def json_outside(record: BaseModel, paths: Sequence[Path], *, exclude: Collection[str] = ()) -> str:
    """Return the JSON of `for_outside`, made only if a look through the text, ten times as fast, finds cause."""
    left_out = set(exclude)
    text = record.model_dump_json(exclude=left_out)
    # Of a path and the folders above it the text has the topmost one, if any.
    tops = {str(Path(*path.parts[:2])) for path in paths if path.name}
    if _STEERING.search(text) is None and not any(json.dumps(top, ensure_ascii=False)[1:-1] in text for top in tops):
        return text
    return for_outside(record, paths).model_dump_json(exclude=left_out)


def for_outside(record: _R, paths: Sequence[Path]) -> _R:
    """Return a record without our paths and without characters that disguise; the same one if unchanged."""
    shown = {field: (value, _redacted(field, value, paths)) for field, value in record}
    changed = {field: new for field, (old, new) in shown.items() if new is not old}
    return record.model_copy(update=changed) if changed else record


def _redacted(field: str, value: Any, paths: Sequence[Path]) -> Any:  # Any: the value of any field
    """Return the redacted value of a field; the same object if nothing had to change."""
    if isinstance(value, str):
        text = clean(value) if field in _NAMES else without_paths(value, paths) if field in _SENTENCES else value
        return value if text == value else text
    if isinstance(value, BaseModel):
        return for_outside(value, paths)
    if isinstance(value, tuple):
        members = tuple(_redacted(field, member, paths) for member in value)
        return value if all(new is old for new, old in zip(members, value, strict=True)) else members
    if isinstance(value, dict) and field in _NAMES:
        return {key: _redacted(field, member, paths) for key, member in value.items()}
    return value
