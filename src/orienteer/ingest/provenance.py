"""The provenance of a graph: its sources, as a part of its manifest, to detect later whether they have changed."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from orienteer.errors import BadInput, BadOption, MissingExtra
from orienteer.graph.format import GENERATIONS, MANIFEST, PLACES, POINTER, damaged, is_untouched, last_change
from orienteer.ingest.bounds import SkippedGroup
from orienteer.version import __version__

if TYPE_CHECKING:
    from orienteer.ingest.documents.read.files import File
    from orienteer.ingest.documents.read.selection import Selection

_T = TypeVar("_T")
_IMPORT, _BUILD = "import", "build"
INTERRUPTED = "interrupted"
"""The key of the provenance of a graph whose build was interrupted."""
MAPPED = "mapped"
"""The key of the provenance of an import for the files of its mappings, in step with these."""
_GITIGNORE = ".gitignore"
_ASKED = 2  # open questions that a note names
_SECOND, _FINE, _COARSE = 1_000_000_000, 50_000_000, 2_000_000_000
"""Nanoseconds: a second, the resolution of times in most file systems, and in those with whole seconds."""


class Described(Protocol):
    """The part of a manifest that is read here."""

    @property
    def generation(self) -> str:
        """The name of the generation, for messages about damage."""

    @property
    def provenance(self) -> Mapping[str, Any]:  # Any: JSON
        """The sources and options of the graph."""


class _Unpublished(NamedTuple):
    """A provenance before it is written."""

    provenance: Mapping[str, Any]  # Any: JSON
    generation: str = ""


class UnreadFile(NamedTuple):
    """A file of a folder that could not be read, and was skipped."""

    file: str
    reason: str


class TableStamp(NamedTuple):
    """The state of an import's file when it was read."""

    path: str
    bytes: int
    modified: int
    """Nanoseconds."""


class DocumentStamp(NamedTuple):
    """The state of a build's file when it was read."""

    name: str
    path: str
    bytes: int
    modified: int
    """Nanoseconds."""
    sha256: str

    def is_of(self, path: Path) -> bool:
        """Return whether a file still has this size and time."""
        try:
            status = path.stat()
        except (OSError, ValueError):
            # The file does not exist, or its name is invalid.
            return False
        return (status.st_size, status.st_mtime_ns) == (self.bytes, self.modified)


class Place(NamedTuple):
    """The state of a source folder, or of a `.gitignore`, when the graph was made."""

    path: str
    changed: int
    """Nanoseconds; for a folder, the time when a file last came, went or was renamed."""


def stamp(file: File) -> DocumentStamp:
    """Return the current state of a build's file."""
    status = file.path.stat()
    with file.path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return DocumentStamp(file.name, str(file.path.resolve()), status.st_size, status.st_mtime_ns, digest)


def stamp_unread(path: Path) -> TableStamp:
    """Return the current state of a skipped file; without size and time if these cannot be read."""
    try:
        return table_stamp(path)
    except OSError:
        return TableStamp(str(path), 0, 0)


def table_stamp(path: Path) -> TableStamp:
    """Return the current state of an import's file."""
    status = path.stat()
    return TableStamp(str(path), status.st_size, status.st_mtime_ns)


# ------------------------------------------------------------------------------------------------- written and read


def describe_import(paths: Iterable[Path], files: Iterable[Path], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the provenance of an import: the given paths, the files with size and time, the options."""  # Any: JSON
    paths = [path.resolve() for path in paths]
    read = sorted({*_importable(paths), *(file.resolve() for file in files)})
    return _described(_IMPORT, paths, map(table_stamp, read), options)


def describe_build(
    sources: Iterable[Path], stamps: Iterable[DocumentStamp], options: Mapping[str, Any], **more: Any
) -> dict[str, Any]:  # Any: JSON
    """Return the provenance of a chunk graph."""
    return {**_described(_BUILD, (path.resolve() for path in sources), sorted(stamps), options), **more}


def describe_beside(
    stamps: Iterable[DocumentStamp],
    passed_by: Iterable[TableStamp],
    not_read: Iterable[SkippedGroup],
    chosen: Selection,
) -> dict[str, Any]:  # Any: JSON
    """Return the entries in an import's provenance for documents next to its tables."""
    return {
        "options": chosen.model_dump(mode="json", exclude_defaults=True),
        "beside": [stamp._asdict() for stamp in sorted(stamps)],
        "passed_by": [stamp._asdict() for stamp in sorted(passed_by)],
        "not_read": [group._asdict() for group in not_read],
    }


def _described(
    made_by: str, paths: Iterable[Path], stamps: Iterable[TableStamp | DocumentStamp], options: Mapping[str, Any]
) -> dict[str, Any]:  # Any: JSON
    return {
        "made_by": made_by,
        "version": __version__,
        "given": list(map(str, paths)),
        "sources": [stamp._asdict() for stamp in stamps],
        "options": dict(options),
    }


def settled(provenance: Mapping[str, Any]) -> dict[str, Any]:  # Any: JSON
    """Return a provenance with the times of its folders, if nothing has changed since the sources were read.

    While they do not change, no folder is listed again: see `is_stale`.
    """
    described = {name: value for name, value in provenance.items() if name != PLACES}
    try:
        manifest = _Unpublished(described)
        paths = [source for source in sources_of(manifest) if source.is_dir()]
        if is_chunk_graph(manifest) or "beside" in manifest.provenance:
            from orienteer.ingest.documents.read.files import folders_of

            paths = [path for source in paths for path in folders_of(source, selection_of(manifest))]
        places = [Place(str(path), last_change(path)) for path in paths]
        # File times have a limited resolution: a change right after our look might not show.
        now = time.time_ns()
        is_settled = all(now - place.changed > (_COARSE if place.changed % _SECOND == 0 else _FINE) for place in places)
        if not is_settled or _has_changed(manifest):
            return described
    except (OSError, BadInput):
        # A folder has gone meanwhile.
        return described
    return {**described, PLACES: [place._asdict() for place in places]}


def is_chunk_graph(manifest: Described) -> bool:
    """Return whether a graph was made of documents."""
    return bool(manifest.provenance.get("made_by") == _BUILD)


def sources_of(manifest: Described) -> list[Path]:
    """Return the sources of a graph, as they were given. Raises `NotAGraph`."""
    return [Path(path) for path in listed(manifest, "given", str)]


def stamps_of(manifest: Described) -> dict[str, DocumentStamp]:
    """Return the files of a chunk graph, by name. Raises `NotAGraph`."""
    return {stamp.name: stamp for stamp in listed(manifest, "sources", DocumentStamp)}


def path_of(manifest: Described, name: str) -> Path | None:
    """Return the path of a chunk graph's file by its name in the graph; None for other names. Raises `NotAGraph`."""
    given = sources_of(manifest)
    whole = {source.name: source for source in given}
    first, _, rest = name.partition("/")
    if len(given) == 1 and (given[0].name != name or given[0].is_dir()):
        return given[0] / name
    return whole[first] / rest if first in whole else None


def unread_files(manifest: Described) -> list[UnreadFile]:
    """Return the source files that could not be read. Raises `NotAGraph`."""
    return listed(manifest, "unreadable", UnreadFile)


def skipped_groups(manifest: Described) -> list[SkippedGroup]:
    """Return the source files that are not part of a graph, by reason. Raises `NotAGraph`."""
    return listed(manifest, "not_read", SkippedGroup)


def open_questions(manifest: Described, asked: str, line: str = "") -> tuple[str, ...]:
    """Return a note of the open questions about a graph's tables that may explain why `asked` has no answer.

    These are the questions about a value that `asked` names, else about a column, else about a table; no note if there
    are none. Of an answer, whose reading is `line`, they are those about the columns that it rests on. What is kept as
    text in other rows says nothing of the value of one thing.
    """
    # Few questions are refused, and only these need the words of tables.
    from orienteer.ingest.tables.type_names import singular, without_key, words_of

    words = set(map(singular, words_of(asked)))

    def is_named(name: str) -> bool:
        own = set(map(singular, words_of(name)))
        return bool(own) and own <= words

    found: dict[int, list[str]] = {}
    for mapping in manifest.provenance.get("mapping") or ():
        file = Path(mapping["file"]).name
        for question in mapping.get("questions", ()):
            column, _, rest = question.partition(": ")
            if line:
                is_of_others = "; kept as" in rest and re.match('[^"]* of "', line) is not None
                called = r"[\W_]+".join(map(re.escape, re.findall(r"[^\W_]+", column)))
                if called and not is_of_others and re.search(rf"(?<!\w){called}(?![^\W_])", line, re.IGNORECASE):
                    found.setdefault(0, []).append(f"{file}: {question}")
                continue
            values = re.findall(r"\(([^()]*)\)", rest)
            named = (
                any(is_named(value) for listed_values in values for value in listed_values.split(", ")),
                is_named(without_key(column)),
                is_named(mapping.get("type") or "") or is_named(file.partition(".")[0]),
            )
            if any(named):
                found.setdefault(named.index(True), []).append(f"{file}: {question}")
    if not found:
        return ()
    nearest = found[min(found)]
    more = f"; and {len(nearest) - _ASKED} more: orienteer info" if len(nearest) > _ASKED else ""
    return (f"this was open when the tables were read: {'; '.join(nearest[:_ASKED])}{more}",)


def private_columns(manifest: Described) -> list[str]:
    """Return the columns of tables that nobody may see. Raises `NotAGraph`."""
    options = manifest.provenance.get("options", {})
    return listed(_Unpublished(options, manifest.generation), "private", str)


def selection_of(manifest: Described) -> Selection:
    """Return the selection of a chunk graph's source files. Raises `NotAGraph`."""
    from orienteer.ingest.documents.read.selection import Selection

    options = manifest.provenance.get("options", {})
    try:
        return Selection(**{name: options[name] for name in Selection.model_fields if name in options})
    except (BadOption, TypeError) as error:
        raise damaged(Path(GENERATIONS, manifest.generation, MANIFEST), error) from error


def listed(manifest: Described, name: str, kind: type[_T]) -> list[_T]:
    """Return a list from a graph's provenance. Raises `NotAGraph` for any other value there."""
    if not manifest.provenance.get(name):
        return []
    try:
        records: list[_T] = _lists(cast(Hashable, kind)).validate_python(manifest.provenance[name])
        return records
    except ValidationError as error:
        raise damaged(Path(GENERATIONS, manifest.generation, MANIFEST), error) from error


@lru_cache
def _lists(kind: Any) -> TypeAdapter[Any]:  # Any: a type that is known when it is called
    return TypeAdapter(list[kind])


# -------------------------------------------------------------------------------------------------------- staleness


def is_stale(manifest: Described) -> bool:
    """Return whether a source of a graph has changed, is gone, or is new; never without files."""
    # Listing the files loads the import's code and takes longer for larger folders: only if a folder has changed.
    return not is_untouched(manifest.provenance) and _has_changed(manifest)


def _has_changed(manifest: Described) -> bool:
    return _is_stale_build(manifest) if is_chunk_graph(manifest) else _is_stale_import(manifest)


def _is_stale_import(manifest: Described) -> bool:
    stamps = listed(manifest, "sources", TableStamp)
    paths = {Path(stamp.path) for stamp in stamps}
    if any(not path.is_file() for path in paths) or any(table_stamp(Path(stamp.path)) != stamp for stamp in stamps):
        return True
    if new_files(manifest):
        return True
    return "beside" in manifest.provenance and _is_stale_beside(manifest)


def new_files(manifest: Described) -> list[Path]:
    """Return the files that an import of a graph's sources would read now, but did not then."""
    paths = {Path(stamp.path) for stamp in listed(manifest, "sources", TableStamp)}
    return [path for path in _importable(sources_of(manifest)) if path not in paths]


def _is_stale_beside(manifest: Described) -> bool:
    """Return whether the documents next to the tables of a graph have changed."""
    from orienteer.ingest.documents.read import files  # graphs without documents do not need it

    stamps = listed(manifest, "beside", DocumentStamp)
    passed_by = listed(manifest, "passed_by", TableStamp)
    if not all(stamp.is_of(Path(stamp.path)) for stamp in stamps):
        return True
    if any(stamp_unread(Path(stamp.path)) != stamp for stamp in passed_by):
        return True
    known = {stamp.path for stamp in stamps} | {stamp.path for stamp in passed_by}
    found = filter(files.lies_beside_tables, files.listing(sources_of(manifest), selection_of(manifest)).files)
    return any(str(file.path.resolve()) not in known for file in found)


def _importable(sources: Iterable[Path]) -> list[Path]:
    """Return the files that an import would read."""
    # A question does not need the import's code.
    from orienteer.ingest.formats import RDF, format_of
    from orienteer.ingest.formats.files import suffix
    from orienteer.ingest.tables.inside import is_container
    from orienteer.ingest.tables.plan import listing

    inside = [path for source in sources for path in listing(source)]
    return [path for path in inside if format_of(path) is not None or suffix(path) in RDF or is_container(path)]


def _is_stale_build(manifest: Described) -> bool:
    """Return whether the documents of a chunk graph have changed, or have not all been read."""
    if INTERRUPTED in manifest.provenance:
        return True
    stamps = {stamp.path: stamp for stamp in listed(manifest, "sources", DocumentStamp)}
    passed_by = listed(manifest, "passed_by", TableStamp)
    paths = stamps.keys() | {stamp.path for stamp in passed_by}
    sources, selection = sources_of(manifest), selection_of(manifest)
    seen = None if selection.is_given else file_states(sources)
    if seen is None:
        if not all(stamp.is_of(Path(path)) for path, stamp in stamps.items()):
            return True
    elif any(seen.by_path.get(path) != (stamp.bytes, stamp.modified) for path, stamp in stamps.items()):
        return True
    if any(stamp_unread(Path(stamp.path)) != stamp for stamp in passed_by):
        return True
    # Most looks at a graph end before.
    from orienteer.ingest.documents.read import collection, files
    from orienteer.ingest.documents.read.kinds import kind_of

    if seen is not None and all(path in paths or kind_of(Path(path)) is None for path in seen.by_path):
        return False
    if not all(path.exists() for path in sources):
        return True
    try:
        whole = None if selection.is_given else collection.recognize(sources, selection.split)
        listed_files = whole.files if whole is not None else files.listing(sources, selection).files
    except MissingExtra:
        # A graph opens without the extra that read its sources: then only its own files count.
        return False
    except (BadInput, BadOption):
        # A build could not read what the folder holds now, so it has changed.
        return True
    # The sources are stored resolved, so that a file has the path of its stamp unless it is a link.
    return any(str(file.path) not in paths and str(file.path.resolve()) not in paths for file in listed_files)


class FileStates(NamedTuple):
    """The visible files of some sources."""

    by_path: dict[str, tuple[int, int]]
    """Bytes, and time of modification in nanoseconds."""
    may_be_ignored: bool
    """There is a `.gitignore` among them or above."""


def file_states(sources: Sequence[Path]) -> FileStates | None:
    """Return the visible files of some sources in one walk; None if they include links, graphs or unreadable files."""
    states: dict[str, tuple[int, int]] = {}
    folders = [source for source in sources if source.is_dir()]
    may_be_ignored = any((above / _GITIGNORE).exists() for folder in folders for above in folder.parents)
    waiting = list(map(str, folders))
    try:
        for file in (source for source in sources if not source.is_dir()):
            status = file.stat()
            states[str(file)] = (status.st_size, status.st_mtime_ns)
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.name == POINTER or entry.is_symlink():
                        return None
                    may_be_ignored |= entry.name == _GITIGNORE
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir():
                        waiting.append(entry.path)
                    elif entry.is_file():
                        status = entry.stat()
                        states[entry.path] = (status.st_size, status.st_mtime_ns)
    except (OSError, ValueError):
        # It cannot be read, or the name is invalid.
        return None
    return FileStates(states, may_be_ignored)
