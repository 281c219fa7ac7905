"""Detects damage to a graph by its hashes, on request or after a failure.

Opening a graph reads almost nothing of it, so a wrong byte may show anywhere: as an index that is too large, as a text
that is not UTF-8, as JSON that ends early. The boundary examines such a failure. If a hash differs, or the files
contradict one another although their hashes are right, the error names the damage and its remedy. Otherwise the failure
is our bug and is raised unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from orienteer.errors import Error, NotAGraph
from orienteer.graph import format
from orienteer.graph.pieces import damaged_among, folder_of, is_free, remedy

_LOOKED = "_orienteer_looked"
_P = ParamSpec("_P")
_R = TypeVar("_R")


class OpenGraph(Protocol):
    """An open graph, by ids or by rows."""

    @property
    def path(self) -> Path:
        """Its directory."""

    @property
    def generation(self) -> str:
        """The generation that is open."""


_O = TypeVar("_O", bound=OpenGraph)


def damaged_files(path: Path) -> list[str]:
    """Return the files of a graph's current generation that differ from those published. Raises `NotAGraph`."""
    pointer = format.read_pointer(path)
    folder = format.generation_of(path, pointer)
    try:
        format.size_of(folder / format.MANIFEST)
        manifest = format.parse_manifest((folder / format.MANIFEST).read_bytes())
    except (FileNotFoundError, NotAGraph, ValueError):
        return [format.MANIFEST]
    wrong = [format.MANIFEST] if format.sha256_of(folder / format.MANIFEST) != pointer.manifest else []
    return [*wrong, *damaged_among(folder, manifest.files)]


def damaged_pieces(path: Path) -> dict[Path, list[str] | None]:
    """Return the folder of each piece with its damaged files, or None for a piece from before hashes were recorded.

    A missing piece that is rebuilt on demand is not damage. Raises `NotAGraph`.
    """
    pointer = format.read_pointer(path)
    folders = {name: folder_of(path, pointer, name) for name in pointer.pieces}
    return {
        folder: None if (files := pointer.pieces[name].files) is None else damaged_among(folder, files)
        for name, folder in folders.items()
        if folder.is_dir() or not is_free(name)
    }


def find_damage(path: Path, generation: str) -> NotAGraph | None:
    """Return an error naming damage and remedy, or None for a sound generation."""
    try:
        # The files that failed may be gone.
        if not format.is_graph(path) or (pointer := format.read_pointer(path)).generation != generation:
            return None
        generation_folder = format.generation_of(path, pointer)
        for name in damaged_files(path):
            return format.damaged(generation_folder / name, format.CHANGED, format.AGAIN)
        for folder, names in damaged_pieces(path).items():
            if names:
                return format.damaged(folder / names[0], format.CHANGED, remedy(path, folder))
        from orienteer.graph.soundness import contradiction  # only after a failure

        fault = contradiction(generation_folder, format.read_manifest(path, pointer))
        return None if fault is None else format.damaged(generation_folder / fault[0], fault[1], format.AGAIN)
    except NotAGraph as error:
        return error
    except FileNotFoundError:  # it is being replaced
        return None


@contextmanager
def damage_told(path: Path, generation: str) -> Iterator[None]:
    """Turn a failure that damage to a graph has caused into `NotAGraph`; let any other failure through."""
    try:
        yield
    except Exception as error:
        tell_damage(path, generation, error)
        raise


def tell_damage(path: Path, generation: str, error: Exception) -> None:
    """Raise `NotAGraph` if damage to a graph has caused a failure.

    The check reads the whole graph. The failure is marked, so that outer boundaries do not check again.
    """
    looked: set[tuple[Path, str]] = error.__dict__.setdefault(_LOOKED, set())
    if isinstance(error, Error) or (path, generation) in looked:
        return
    looked.add((path, generation))
    if (damage := find_damage(path, generation)) is not None:
        raise damage from error


def telling_damage(method: Callable[Concatenate[_O, _P], _R]) -> Callable[Concatenate[_O, _P], _R]:
    """Make a method of an open graph do what `damage_told` does."""

    @wraps(method)
    def wrapper(self: _O, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:  # each search comes here twice, and a context manager costs more than this
            return method(self, *args, **kwargs)
        except Exception as error:
            tell_damage(self.path, self.generation, error)
            raise

    return wrapper
