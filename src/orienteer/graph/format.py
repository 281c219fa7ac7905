"""Reads the graph directory: immutable generations and one small pointer file.

    DIR/orienteer.json           the pointer to the current generation; replaced as a whole
    DIR/generations/ID/          manifest.json and the arrays; never changed once published
    DIR/pieces/ID/NAME-NUMBER/   made from a generation later (vectors, a Cypher copy, similarity edges)
    DIR/origin.json              of a pulled graph: the address that it came from
    DIR/.lock                    locked by the process that publishes
    DIR/.new-*/                  work in progress; the next process removes the leftovers of a killed one

A reader follows the pointer once and maps those files; a writer never touches a file that a reader may have open. A
directory is not trusted: a file that names other files than ours is refused, and nothing is read, written or removed
through a link. `publication` writes, `pieces` handles pieces, `damage` compares hashes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import sys
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeAlias, get_args, get_origin, get_type_hints

from orienteer.errors import NotAGraph

FORMAT = 2
POINTER = "orienteer.json"
MANIFEST = "manifest.json"
ORIGIN = "origin.json"
LOCK = ".lock"
GENERATIONS, PIECES = "generations", "pieces"
GENERATION = re.compile("[0-9]{8}T[0-9]{6}-[0-9a-f]{8}")
DEBRIS = re.compile(r"\.new-(shelf-)?[a-z0-9_]{8}")  # an ingestion of documents leaves a shelf
FILE = re.compile("[a-z0-9_]+([.][a-z0-9_]+)*")
CHANGED = "it is not what was written"
AGAIN = "import the graph again with --force"
ANEW = f"remove it, and {AGAIN}"

GenerationName: TypeAlias = Annotated[str, GENERATION]
FileName: TypeAlias = Annotated[str, FILE]
"""The name of one of our files: no folder, no drive, nothing hidden."""
FormatNumber: TypeAlias = Annotated[int, range(1, FORMAT + 1)]
Count: TypeAlias = Annotated[int, range(1 << 48)]
"""A number of nodes, edges and so on, bounded because memory is reserved by it."""
PieceName: TypeAlias = Annotated[str, re.compile("[a-z]+")]
PieceFolder: TypeAlias = Annotated[str, re.compile("[a-z]+-[0-9a-f]{8}")]


# No pydantic: opening a graph would take half as long again.
@dataclass(frozen=True, kw_only=True)
class FileRecord:
    """The size and the hash of a published file."""

    bytes: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class EdgeCount:
    """The number of edges of a type from one node type to another."""

    source: str
    type: str
    target: str
    count: Count


TEXT_TYPES = "text_types"
"""The provenance's key for the node types that all other nodes were made from."""
_PROVENANCE = {
    "given": list[str],
    "sources": list[Any],
    "options": dict[str, Any],
    TEXT_TYPES: list[str],
    "greatest_weights": dict[str, float],
}
"""The keys of the provenance that Orienteer reads; a graph may have more."""


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The facts about a generation, in a file of their own."""

    format: FormatNumber = FORMAT
    generation: GenerationName
    created: str
    made_by: str
    """The version of Orienteer that wrote it."""
    tokenizer: str
    nodes: Count
    edges: Count
    node_types: dict[str, Count]
    """The node types with their counts, in the order of their numbers in the arrays."""
    edge_types: dict[str, Count]
    triples: tuple[EdgeCount, ...]
    symmetric: tuple[str, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    also_called: dict[str, tuple[str, ...]] = field(default_factory=dict)
    partial: tuple[str, ...] = ()
    """Types of nodes or edges that the graph contains only in part."""
    text: dict[str, float] = field(default_factory=dict)
    """Statistics of the text index: terms, postings, mean length, k1, b."""
    properties: tuple[str, ...] = ()
    """Property names in the order of their files."""
    provenance: dict[str, Any] = field(default_factory=dict)
    files: dict[FileName, FileRecord] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PieceRecord:
    """A published piece."""

    folder: PieceFolder
    files: dict[FileName, FileRecord] | None = None
    """None for a piece from before hashes were recorded."""


@dataclass(frozen=True, kw_only=True)
class Pointer:
    """The one file that changes."""

    format: FormatNumber = FORMAT
    generation: GenerationName
    manifest: str
    """The hash of the generation's manifest, which has the hashes of all other files."""
    pieces: dict[PieceName, PieceRecord] = field(default_factory=dict)


def to_json(record: Manifest | Pointer) -> str:
    """Return a record as its file has it."""
    return json.dumps(asdict(record), ensure_ascii=False, indent=1)


def _parsed(kind: Any, value: Any, place: str = "") -> Any:  # Any: a type, and JSON
    """Return a JSON value as one of this type. Raises `ValueError` for any other value."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        value, bound = _parsed(parts[0], value, place), parts[1]
        if value in bound if isinstance(bound, range) else bound.fullmatch(value):
            return value
    elif origin is UnionType:
        return None if value is None else _parsed(parts[0], value, place)
    elif origin in (list, tuple) and isinstance(value, list):
        return origin(_parsed(parts[0], item, f"{place}.{at}") for at, item in enumerate(value))
    elif origin is dict and isinstance(value, dict):
        return {
            _parsed(parts[0], key, f"{place}.{key}"): _parsed(parts[1], item, f"{place}.{key}")
            for key, item in value.items()
        }
    elif isinstance(kind, type) and is_dataclass(kind) and isinstance(value, dict):
        types = get_type_hints(kind, include_extras=True)
        needed = {own.name for own in fields(kind) if own.default is own.default_factory is MISSING}
        if wrong := min({*value} - {*types} or needed - {*value}, default=None):
            raise ValueError(f"{f'{place}.{wrong}'.strip('.')!r:.100} is {'unknown' if wrong in value else 'missing'}")
        return kind(**{name: _parsed(types[name], item, f"{place}.{name}") for name, item in value.items()})
    elif kind is Any or type(value) is kind or (kind is float and type(value) is int):
        return float(value) if kind is float else value
    raise ValueError(f"{place.strip('.')!r:.100} is invalid")


def is_graph(path: Path) -> bool:
    """Return whether a path is a graph directory."""
    return (path / POINTER).is_file()


def is_pulled(path: Path) -> bool:
    """Return whether a graph directory is a copy from an address: its sources are not on this machine."""
    return (path / ORIGIN).is_file()


def is_broken_off(path: Path) -> bool:
    """Return whether a path has no graph, only the leftovers of a writer that was killed before publishing."""
    return path.is_dir() and not is_graph(path) and (path / LOCK).exists() and all(map(is_ours, path.iterdir()))


def is_ours(entry: Path) -> bool:
    """Return whether an entry may be the leftover of a writer that was killed before publishing."""
    if entry.name == GENERATIONS and entry.is_dir():
        return all(GENERATION.fullmatch(child.name) for child in entry.iterdir())
    return entry.name in (LOCK, ORIGIN) or DEBRIS.fullmatch(entry.name) is not None


def broken_off(path: Path) -> NotAGraph:
    """Return the error for a path with leftovers only."""
    message = f"{path} is not a graph yet: its command was interrupted, or is still running: run it again"
    return NotAGraph(message, paths=[path])


def damaged(file: Path, why: object, remedy: str = AGAIN) -> NotAGraph:
    """Return the error for a damaged file."""
    return NotAGraph(f"{file} is damaged ({why}): {remedy}", paths=[file])


def read_pointer(path: Path) -> Pointer:
    """Read the pointer file. Raises `NotAGraph` for anything that is not a graph of a format known here."""
    file = path / POINTER
    if not file.is_file():
        if is_broken_off(path):
            raise broken_off(path)
        if path.exists():
            raise NotAGraph(
                f"{path} is not a graph directory: make one of it with: orienteer import {path} -o FOLDER, "
                "or with orienteer build if it holds documents",
                paths=[path],
            )
        raise NotAGraph(f"{path} does not exist: make a graph with: orienteer import SOURCE -o {path}", paths=[path])
    size_of(file)
    try:
        return parse_pointer(file.read_bytes(), path)
    except BAD_POINTER as error:
        raise damaged(file, error) from error


BAD_POINTER = (ValueError, KeyError, TypeError, RecursionError)
"""The errors that `parse_pointer` raises for a content that is not a pointer."""


def parse_pointer(content: bytes, graph: Path | str) -> Pointer:
    """Return the pointer of a graph from its file's content. Raises `NotAGraph` for a later format, `BAD_POINTER`."""
    values = json.loads(content)
    number = values["format"]
    if type(number) is int and number > FORMAT:  # True and 2.0 are not formats
        message = f"{graph} has format {number}, this version reads up to {FORMAT}: upgrade orienteer"
        raise NotAGraph(message, paths=[graph] if isinstance(graph, Path) else [])
    if isinstance(pieces := values.get("pieces"), dict):
        # In pointers from before hashes were recorded a piece is only a folder's name.
        values["pieces"] = {
            name: {"folder": piece} if isinstance(piece, str) else piece for name, piece in pieces.items()
        }
    pointer: Pointer = _parsed(Pointer, values)
    if wrong := next((name for name, one in pointer.pieces.items() if one.folder.rpartition("-")[0] != name), None):
        raise ValueError(f"the folder of {wrong} is {pointer.pieces[wrong].folder}")
    return pointer


def generation_of(path: Path, pointer: Pointer) -> Path:
    """Return the folder of a pointer's generation. Raises `NotAGraph` for a link or a file in its place."""
    return no_link(no_link(path / GENERATIONS) / pointer.generation)


def parse_manifest(content: bytes) -> Manifest:
    """Return a manifest from its file's content. Raises `ValueError`."""
    try:
        manifest: Manifest = _parsed(Manifest, json.loads(content))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    for name, kind in _PROVENANCE.items():
        if name in manifest.provenance:
            _parsed(kind, manifest.provenance[name], f"provenance.{name}")
    return manifest


def read_manifest(path: Path, pointer: Pointer) -> Manifest:
    """Read a manifest; check its hash and the size of every file. Raises `NotAGraph`, `FileNotFoundError`."""
    folder = generation_of(path, pointer)
    file = folder / MANIFEST
    size_of(file)
    content = file.read_bytes()
    if hashlib.sha256(content).hexdigest() != pointer.manifest:
        raise damaged(file, CHANGED)
    try:
        manifest = parse_manifest(content)
    except ValueError as error:
        raise damaged(file, error) from error
    if manifest.generation != pointer.generation:
        raise damaged(file, f"it is of the generation {manifest.generation}")
    check_sizes(folder, {name: record.bytes for name, record in manifest.files.items()})
    return manifest


def check_sizes(folder: Path, sizes: Mapping[str, int], remedy: str = AGAIN) -> None:
    """Raise `NotAGraph` for a file of another size than it was written with, `FileNotFoundError` for a missing one.

    Other entries with names like ours must be ordinary files too: nothing is read through a link or from a pipe.
    """
    there = (file.name for file in folder.iterdir())
    for name in {*sizes, *filter(FILE.fullmatch, there)}:
        size = size_of(folder / name, remedy)
        if size != sizes.get(name, size):
            message = f"{folder / name} has {size} bytes, but {sizes[name]} were written: {remedy}"
            raise NotAGraph(message, paths=[folder / name])


def size_of(file: Path, remedy: str = AGAIN) -> int:
    """Return the size of an ordinary file. Raises `NotAGraph` for a link, a pipe or a device; `OSError`."""
    status = file.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise NotAGraph(
            f"{file} is not an ordinary file: replace it by a copy of its target, or {remedy}", paths=[file]
        )
    return status.st_size


def no_link(folder: Path, remedy: str = ANEW) -> Path:
    """Return a folder of a graph unchanged; it may be missing.

    Raises `NotAGraph` for a link, which may lead to third-party files, and for anything that is not a folder.
    """
    if is_link(folder):
        message = f"{folder} is a link, and graphs are not read or written through links: replace it by its target"
        raise NotAGraph(message, paths=[folder])
    try:
        # In one call: another process may remove the folder between two.
        is_folder = stat.S_ISDIR(folder.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return folder
    if not is_folder:
        raise damaged(folder, "it is not a folder", remedy)
    return folder


def is_link(path: Path) -> bool:
    """Return whether a path is a symbolic link, or a junction on Windows."""
    if sys.platform != "win32":
        return path.is_symlink()
    # Python has a test for junctions from 3.12 on.
    return Path(os.path.realpath(path)) != Path(os.path.realpath(path.parent)) / path.name


def sha256_of(file: Path) -> str:
    """Return the hash of a file's content."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


PLACES = "places"
"""The key of a provenance for the folders of the sources, and what chooses files there, as they were."""


def is_untouched(provenance: Mapping[str, Any]) -> bool:  # Any: JSON
    """Return whether every file and folder that a graph was made of is unchanged; False if that is unknown.

    Every question asks this, so it reads times alone. `orienteer.ingest.provenance` looks closer.
    """
    try:
        for place in provenance[PLACES]:
            if last_change(Path(place["path"])) != place["changed"]:
                return False
        for file in (file for name in ("sources", "beside", "passed_by") for file in provenance.get(name) or ()):
            status = Path(file["path"]).stat()
            if (status.st_size, status.st_mtime_ns) != (file["bytes"], file["modified"]):
                return False
    except (OSError, ValueError, KeyError, TypeError):  # it is gone, or the graph is older than this, or damaged
        return False
    return True


def last_change(path: Path) -> int:
    """Return the time of the last change of a file or folder, its permissions included, in nanoseconds."""
    status = path.stat()
    return max(status.st_mtime_ns, status.st_ctime_ns)
