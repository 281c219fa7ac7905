"""The graph directory as it is read: immutable generations and one small pointer file.

    DIR/orienteer.json           the pointer: which generation is current; replaced as a whole
    DIR/generations/ID/          manifest.json and the arrays; never changed once published
    DIR/pieces/ID/NAME-NUMBER/   what is made from a generation later (vectors, a Cypher copy, similarity edges)
    DIR/.lock                    held by whoever publishes
    DIR/.new-*/                  work in progress; what a killed process left is removed by the next one

A reader follows the pointer once and maps what it finds; a writer never touches what a reader may hold. A directory
may come from anybody: a name that a file gives is one of ours, or the file is refused, and nothing in it is read,
written or removed through a link. `publishing` writes, `pieces` is about pieces, `damage` compares with the hashes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator

from orienteer.errors import NotAGraph
from orienteer.records import Record

FORMAT = 1
POINTER = "orienteer.json"
MANIFEST = "manifest.json"
LOCK = ".lock"
GENERATIONS, PIECES = "generations", "pieces"
GENERATION = re.compile("[0-9]{8}T[0-9]{6}-[0-9a-f]{8}")
DEBRIS = re.compile(r"\.new-(shelf-)?[a-z0-9_]{8}")  # a shelf is of a build
FILE = re.compile("[a-z0-9_]+([.][a-z0-9_]+)*")
CHANGED = "it is not what was written"
AGAIN = "import the graph again with --force"
ANEW = f"remove it, and {AGAIN}"

GenerationName: TypeAlias = Annotated[str, StringConstraints(pattern=f"^{GENERATION.pattern}$")]
FileName: TypeAlias = Annotated[str, StringConstraints(pattern=f"^{FILE.pattern}$")]
"""The name of a file of ours: no folder, no drive, nothing hidden."""
Count: TypeAlias = Annotated[int, Field(ge=0, lt=1 << 48)]
"""How many there are of something: rooms are made for as many."""
PieceName: TypeAlias = Annotated[str, StringConstraints(pattern="^[a-z]+$")]
PieceFolder: TypeAlias = Annotated[str, StringConstraints(pattern="^[a-z]+-[0-9a-f]{8}$")]


class FileRecord(Record):
    """A file as it was published."""

    bytes: int
    sha256: str


class EdgeCount(Record):
    """How many edges of a type join two node types."""

    source: str
    type: str
    target: str
    count: Count


TEXT_TYPES = "text_types"
"""What the provenance calls the node types that all others were made of."""


class _Provenance(BaseModel):
    """What is read again of how a graph was made; a graph may hold more."""

    model_config = ConfigDict(extra="allow")
    given: list[str] = []
    sources: list[Any] = []
    options: dict[str, Any] = {}
    left_out: list[str] = []
    text_types: list[str] = []
    greatest_weights: dict[str, float] = {}


class Manifest(Record):
    """What a generation says of itself."""

    format: int = FORMAT
    generation: GenerationName
    created: str
    made_by: str
    """The version of Orienteer that wrote it."""
    tokenizer: str
    nodes: Count
    edges: Count
    node_types: dict[str, Count]
    """In the order of their numbers in the arrays."""
    edge_types: dict[str, Count]
    triples: tuple[EdgeCount, ...]
    symmetric: tuple[str, ...] = ()
    labels: dict[str, str] = {}
    also_called: dict[str, tuple[str, ...]] = {}
    text: dict[str, float] = {}
    """Statistics of the text index: terms, postings, mean length, k1, b."""
    properties: tuple[str, ...] = ()
    """Property names in the order of their files."""
    provenance: dict[str, Any] = {}
    files: dict[FileName, FileRecord] = {}

    @field_validator("provenance")
    @classmethod
    def _readable(cls, value: dict[str, Any]) -> dict[str, Any]:
        _Provenance.model_validate(value)
        return value


class Piece(Record):
    """A piece as it was published."""

    folder: PieceFolder
    files: dict[FileName, FileRecord] | None = None
    """None for one that was published before hashes were kept."""


class Pointer(Record):
    """The one file that changes."""

    format: int = FORMAT
    generation: GenerationName
    manifest: str
    """Hash of the generation's manifest, which holds those of all other files."""
    pieces: dict[PieceName, Piece] = {}

    @field_validator("pieces", mode="before")
    @classmethod
    def _with_folders_alone(cls, value: Any) -> Any:  # Any: what the file holds
        """Take a piece that is no more than its folder's name, as pointers had them before hashes were kept."""
        if not isinstance(value, Mapping):
            return value
        return {name: {"folder": one} if isinstance(one, str) else one for name, one in value.items()}

    @field_validator("pieces")
    @classmethod
    def _named_alike(cls, value: dict[str, Piece]) -> dict[str, Piece]:
        if wrong := next((name for name, one in value.items() if one.folder.rpartition("-")[0] != name), None):
            raise ValueError(f"the folder of {wrong} is {value[wrong].folder}")
        return value


def is_graph(path: Path) -> bool:
    """Tell whether a path is a graph directory."""
    return (path / POINTER).is_file()


def is_broken_off(path: Path) -> bool:
    """Tell whether a path holds no graph, only what a writer leaves that was killed before it could publish one."""
    return path.is_dir() and not is_graph(path) and (path / LOCK).exists() and all(map(is_ours, path.iterdir()))


def is_ours(entry: Path) -> bool:
    """Tell whether a writer that was killed before it could publish may have left this."""
    if entry.name == GENERATIONS and entry.is_dir():
        return all(GENERATION.fullmatch(one.name) for one in entry.iterdir())
    return entry.name == LOCK or DEBRIS.fullmatch(entry.name) is not None


def broken_off(path: Path) -> NotAGraph:
    """Return the error for such a path."""
    return NotAGraph(f"{path} is no graph: what was to make it was broken off, or is under way still: run it again")


def damaged(file: Path, why: object, remedy: str = AGAIN) -> NotAGraph:
    """Return the error for a file that is not as it was written."""
    if isinstance(why, ValidationError):
        first = why.errors(include_url=False, include_context=False)[0]
        value = f", is {first['input']!r:.100}" if isinstance(first["input"], str) else ""
        why = f"{'.'.join(map(str, first['loc']))!r}: {first['msg']}{value}"
    return NotAGraph(f"{file} is damaged ({why}): {remedy}")


def read_pointer(path: Path) -> Pointer:
    """Return what the pointer file says. Raises `NotAGraph` for anything that is not a graph this version reads."""
    file = path / POINTER
    if not file.is_file():
        if is_broken_off(path):
            raise broken_off(path)
        if path.exists():
            raise NotAGraph(
                f"{path} is not a graph directory: make one of it with: orienteer import {path} -o FOLDER, "
                "or with orienteer build where it holds documents"
            )
        raise NotAGraph(f"{path} does not exist: make a graph with: orienteer import SOURCE -o {path}")
    size_of(file)
    try:
        content = json.loads(file.read_bytes())
        if int(content["format"]) > FORMAT:
            raise NotAGraph(
                f"{path} has format {content['format']}, this version reads up to {FORMAT}: upgrade orienteer"
            )
        return Pointer.model_validate(content)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError, ValidationError) as error:
        raise damaged(file, error) from error


def generation_of(path: Path, pointer: Pointer) -> Path:
    """Return the folder of the generation that a pointer names. Raises `NotAGraph` where it is a link or a file."""
    return no_link(no_link(path / GENERATIONS) / pointer.generation)


def read_manifest(path: Path, pointer: Pointer) -> Manifest:
    """Return the manifest of a generation, having checked its hash, and that every file is there in its full size.

    Raises `NotAGraph`, and `FileNotFoundError` where a file is gone.
    """
    folder = generation_of(path, pointer)
    file = folder / MANIFEST
    size_of(file)
    data = file.read_bytes()
    if hashlib.sha256(data).hexdigest() != pointer.manifest:
        raise damaged(file, CHANGED)
    try:
        manifest = Manifest.model_validate_json(data)
    except ValidationError as error:
        raise damaged(file, error) from error
    if manifest.generation != pointer.generation:
        raise damaged(file, f"it is of the generation {manifest.generation}")
    check_sizes(folder, {name: record.bytes for name, record in manifest.files.items()})
    return manifest


def check_sizes(folder: Path, sizes: Mapping[str, int], remedy: str = AGAIN) -> None:
    """Raise `NotAGraph` where a file has not the size it was written with, `FileNotFoundError` where it is gone.

    What else lies there under a name of ours must be an ordinary file too: nobody reads through a link, or from a pipe.
    """
    there = (file.name for file in folder.iterdir())
    for name in {*sizes, *filter(FILE.fullmatch, there)}:
        size = size_of(folder / name, remedy)
        if size != sizes.get(name, size):
            raise NotAGraph(f"{folder / name} has {size} bytes where {sizes[name]} were written: {remedy}")


def size_of(file: Path, remedy: str = AGAIN) -> int:
    """Return the size of an ordinary file. Raises `NotAGraph` for a link, a pipe and their like, `OSError`."""
    status = file.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise NotAGraph(f"{file} is no ordinary file: put a copy of what it leads to in its place, or {remedy}")
    return status.st_size


def no_link(folder: Path, remedy: str = ANEW) -> Path:
    """Return a folder of a graph as it is, or is not yet.

    Raises `NotAGraph` where it is a link, for what that leads to is not ours, and where it is no folder.
    """
    if is_link(folder):
        raise NotAGraph(f"{folder} is a link, which a graph is not read or written through: put what it leads to there")
    if folder.exists() and not folder.is_dir():
        raise damaged(folder, "it is no folder", remedy)
    return folder


def is_link(path: Path) -> bool:
    """Tell whether a path leads elsewhere: by a symbolic link, or by a junction of Windows."""
    if sys.platform != "win32":
        return path.is_symlink()
    # Python knows of junctions from 3.12 on.
    return Path(os.path.realpath(path)) != Path(os.path.realpath(path.parent)) / path.name


def sha256_of(file: Path) -> str:
    """Return the hash of a file's content."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
