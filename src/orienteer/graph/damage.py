"""What of a graph is not as it was published: told by its hashes, on request or once something has failed over it.

Opening a graph reads next to nothing of it, so that a wrong byte is met anywhere: as an index that is too large, as a
text that is no UTF-8, as JSON that ends early. Such a failure is looked into at the boundary: where a hash tells of
damage, or the files contradict one another under hashes that are right, it is that, with its remedy; else it is a fault
of ours and stays what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from pydantic import ValidationError

from orienteer.errors import Error, NotAGraph
from orienteer.graph.format import (
    AGAIN,
    CHANGED,
    MANIFEST,
    Manifest,
    damaged,
    generation_of,
    read_manifest,
    read_pointer,
    sha256_of,
    size_of,
)
from orienteer.graph.pieces import damaged_among, folder_of, is_free, remedy

_LOOKED = "_orienteer_looked"
_P = ParamSpec("_P")
_R = TypeVar("_R")


class Opened(Protocol):
    """A graph that is open."""

    path: Path
    manifest: Manifest


_O = TypeVar("_O", bound=Opened)


def damaged_files(path: Path) -> list[str]:
    """Return the files of a graph's current generation whose content is not what was published. Raises `NotAGraph`."""
    pointer = read_pointer(path)
    folder = generation_of(path, pointer)
    try:
        size_of(folder / MANIFEST)
        manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except (FileNotFoundError, NotAGraph, ValidationError):
        return [MANIFEST]
    wrong = [MANIFEST] if sha256_of(folder / MANIFEST) != pointer.manifest else []
    return [*wrong, *damaged_among(folder, manifest.files)]


def contradicting(path: Path) -> NotAGraph | None:
    """Return the error for a generation whose files are what was published, and cannot be what they are.

    None where they fit one another. Raises `NotAGraph`, `FileNotFoundError`.
    """
    pointer = read_pointer(path)
    folder = generation_of(path, pointer)
    from orienteer.graph.soundness import contradiction  # only where something has failed

    found = contradiction(folder, read_manifest(path, pointer))
    return None if found is None else damaged(folder / found[0], found[1], AGAIN)


def damaged_pieces(path: Path) -> dict[Path, list[str] | None]:
    """Return the folder of each piece with its files that are not what was published.

    None for a piece that was published before hashes were kept. One that is gone, and is made again when it is needed,
    is no damage. Raises `NotAGraph`.
    """
    pointer = read_pointer(path)
    folders = {name: folder_of(path, pointer, name) for name in pointer.pieces}
    return {
        folder: None if (files := pointer.pieces[name].files) is None else damaged_among(folder, files)
        for name, folder in folders.items()
        if folder.is_dir() or not is_free(name)
    }


def find_damage(path: Path, generation: str) -> NotAGraph | None:
    """Return the error for what is damaged of a generation, or cannot be, with the remedy; None where all is sound."""
    try:
        if read_pointer(path).generation != generation:  # it has been replaced, and what was read is gone
            return None
        folder = generation_of(path, read_pointer(path))
        for name in damaged_files(path):
            return damaged(folder / name, CHANGED, AGAIN)
        for folder, names in damaged_pieces(path).items():
            if names:
                return damaged(folder / names[0], CHANGED, remedy(path, folder))
        return contradicting(path)
    except NotAGraph as error:
        return error
    except FileNotFoundError:  # it is being replaced
        return None


@contextmanager
def damage_told(path: Path, generation: str) -> Iterator[None]:
    """Give a failure over what is damaged of a graph as `NotAGraph`; any other, and errors of ours, as they are."""
    try:
        yield
    except Exception as error:
        tell_damage(path, generation, error)
        raise


def tell_damage(path: Path, generation: str, error: Exception) -> None:
    """Raise `NotAGraph` where a failure is one over what is damaged of a graph.

    To look takes as long as reading all of the graph: the failure keeps that it was done, for the boundaries outside.
    """
    looked: set[tuple[Path, str]] = error.__dict__.setdefault(_LOOKED, set())
    if isinstance(error, Error) or (path, generation) in looked:
        return
    looked.add((path, generation))
    if (found := find_damage(path, generation)) is not None:
        raise found from error


def telling_damage(method: Callable[Concatenate[_O, _P], _R]) -> Callable[Concatenate[_O, _P], _R]:
    """Return a method of an open graph that tells damage as `damage_told` does."""

    @wraps(method)
    def told(self: _O, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        with damage_told(self.path, self.manifest.generation):
            return method(self, *args, **kwargs)

    return told
