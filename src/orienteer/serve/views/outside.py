"""How what we have to say leaves this machine: names that steer nothing, and no path of ours.

A command shows a person their own paths, and escapes names where it writes them. A network face sends records to
somebody elsewhere: records go through `for_outside` and errors through `message_outside`, each with `machine_paths`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from orienteer.display import clean
from orienteer.errors import Error, without_paths

if TYPE_CHECKING:
    from orienteer.graph.store import Graph
    from orienteer.protocols import LanguageModel

_R = TypeVar("_R", bound=BaseModel)
_NAMES = frozenset({"name", "aliases", "names", "why", "heading"})
"""Fields whose texts are shown in a line of other texts. Ids stay as they are: they come back."""
_TOLD = frozenset({"notes", "error", "model", "content"})
"""Fields that may hold a sentence of ours about a file, or the name of a model in a file; so may messages to a model,
which is told the notes of a search."""


def machine_paths(graph: Graph | None, model: LanguageModel | None = None) -> tuple[Path, ...]:
    """Return where a graph lies and, of a model in a file, this file: what sentences about them may name."""
    from orienteer.llm.local import LocalModel

    of_model = (model.path, model.path.absolute()) if isinstance(model, LocalModel) else ()
    return tuple(dict.fromkeys(of_model if graph is None else (graph.path, *of_model)))


def message_outside(error: Error, paths: Sequence[Path]) -> str:
    """Return the message of an error as somebody elsewhere may read it."""
    return clean(without_paths(error.public, paths))


def for_outside(record: _R, paths: Sequence[Path]) -> _R:
    """Return a record as somebody elsewhere may read it, the same one where nothing had to change.

    Names lose what would steer a terminal or disguise them; sentences of ours have of these paths, and of the folders
    above them, the last names alone.
    """
    changed = {}
    for field, value in record:
        shown = _shown(field, value, paths)
        if shown is not value:
            changed[field] = shown
    return record.model_copy(update=changed) if changed else record


def _shown(field: str, value: Any, paths: Sequence[Path]) -> Any:  # Any: the value of any field
    """Return the value of a field as it may leave, the same object where nothing had to change."""
    if isinstance(value, str):
        text = clean(value) if field in _NAMES else without_paths(value, paths) if field in _TOLD else value
        return value if text == value else text
    if isinstance(value, BaseModel):
        return for_outside(value, paths)
    if isinstance(value, tuple):
        members = tuple(_shown(field, member, paths) for member in value)
        return value if all(new is old for new, old in zip(members, value, strict=True)) else members
    if isinstance(value, dict) and field in _NAMES:
        return {key: _shown(field, member, paths) for key, member in value.items()}
    return value
