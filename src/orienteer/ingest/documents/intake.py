"""Puts the nodes of sources on a shelf. Files are read, taken over from the graph before, or left out with a reason."""

from __future__ import annotations

import marshal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from orienteer.display import Count, counted
from orienteer.errors import BadInput, MissingExtra, install_command
from orienteer.graph.builder import Progress
from orienteer.index.arrays import Strings, StringWriter
from orienteer.ingest import bounds
from orienteer.ingest.bounds import SkippedFile, memory_told
from orienteer.ingest.documents.cut.document_nodes import DocumentNodeMaker
from orienteer.ingest.documents.previous import Previous
from orienteer.ingest.documents.read import collection
from orienteer.ingest.documents.read.converter import Converter
from orienteer.ingest.documents.read.files import IGNORED, File, Listing, listing
from orienteer.ingest.documents.read.kinds import EMPTY, NotRead
from orienteer.ingest.documents.read.readers import DocumentReader
from orienteer.ingest.documents.read.selection import ALL, Selection
from orienteer.ingest.provenance import DocumentStamp, TableStamp, stamp, stamp_unread
from orienteer.records import Node

READING = "reading documents"
BLANK = "no text in it"
"""Why a file without words is left out."""
_BATCH = 4096
_MEGABYTE = 1_000_000

Watch: TypeAlias = Callable[["Shelf", int], None]
"""Called after each file with what has been read, and how many files of how many."""


class Intake:
    """Reads sources, file by file: each is taken whole, or left out whole."""

    def __init__(
        self,
        sources: Sequence[Path],
        maker: DocumentNodeMaker,
        *,
        selection: Selection = ALL,
        takes: Callable[[File], bool] | None = None,
        previous: Previous | None = None,
        progress: Progress,
        watch: Watch | None = None,
    ) -> None:
        self.sources, self._selection, self._takes = list(sources), selection, takes
        self._maker, self._previous, self._progress = maker, previous, progress
        self._watch = watch or (lambda shelf, count: None)
        self.unreadable: list[SkippedFile] = []
        self.skipped: list[SkippedFile] = []
        self.stamps: list[DocumentStamp] = []
        """The files that were read, as they were."""
        self.notes: list[str] = []
        self.passed_by: list[TableStamp] = []
        """Files that were looked at and left out, as they were: a change makes the graph stale."""
        self.files = 0
        """That there are to read, where they are read one by one."""
        self.whole = (0, 0)
        """The stamps and the nodes on the shelf of the files that were read to their end."""
        self._became: Counter[str] = Counter()
        self._missing: MissingExtra | None = None

    def fill(self, shelf: Shelf, listed: Listing | None = None) -> None:
        """Put the nodes of all sources on the shelf, or those of the files of them that are listed.

        Raises `BadInput` if a source is not there.
        """
        is_chosen = listed is not None or self._selection.is_given or self._takes is not None
        whole = None if is_chosen else collection.recognize(self.sources, self._selection.split)
        if whole is not None:
            for file in whole.files:
                self._stamp(file, self._previous.unchanged(file) if self._previous is not None else None)
            for count, document in enumerate(whole.documents(), 1):
                try:
                    self._put(shelf, self._maker.nodes(document))
                except BadInput as error:
                    raise BadInput(f"{document.file}, {document.id!r}: {error}") from error
                self._progress(READING, count)
                self._watch(shelf, count)
        else:
            sources = listed or listing(self.sources, self._selection)
            self.skipped += sources.skipped
            self._files(shelf, [file for file in sources.files if self._takes is None or self._takes(file)])
        self._note()

    def _files(self, shelf: Shelf, files: Sequence[File]) -> None:
        self.files = len(files)
        pace = _Pace(files, self._progress)
        with Converter(seconds=self._maker.config.seconds) as converter:
            reader = DocumentReader(self._maker.config, converter)
            for file in files:
                self._file(shelf, reader, file, pace)
                self.whole = (len(self.stamps), len(shelf))
                self._watch(shelf, pace.past())
        self.notes += reader.notes

    def _note(self) -> None:
        """Note what was cut off and what was empty."""
        config = self._maker.config
        if self._maker.cut_cells:
            self.notes.append(
                f"{counted(self._maker.cut_cells, 'cell')} of tables cut off after {config.cell_characters} "
                "characters (--set cell_characters=N)"
            )
        if empty := self._maker.empty:
            self.notes.append(f"{counted(len(empty), 'row')} of tables left out for want of a text (first: {empty[0]})")

    def refuse(self, shelf: Shelf, *, strict: bool, is_part: bool = False) -> None:
        """Raise where there is nothing to build, or under `strict` where anything could not be read.

        Of a shelf that `is_part` of what is built nothing is said.
        """
        if not len(shelf) and not is_part:
            if self._missing is not None:
                raise self._missing
            first = next(iter((*self.unreadable, *self.skipped)), None)
            where = ", ".join(map(str, self.sources))
            if self._selection.is_given:
                raise BadInput(f"no document in {where} is left by --include and --exclude: choose others")
            if first is None:
                raise BadInput(f"no document in {where}: put text files there, or name another folder")
            told = "; ".join(line.removeprefix("not read: ") for line in bounds.lines(self.skipped_groups))
            raise BadInput(f"no document in {where} could be read: {told}")
        if strict and self.unreadable:
            first = self.unreadable[0]
            raise BadInput(
                f"--strict: {counted(len(self.unreadable), 'document')} cannot be read "
                f"(first: {first.file}: {first.reason}). Mend them, or leave out --strict."
            )

    @property
    def skipped_groups(self) -> list[bounds.SkippedGroup]:
        """What was not read, by reason, the documents that could not be read first."""
        others = sorted(self.skipped, key=lambda file: file.reason == IGNORED)
        return bounds.grouped((*self.unreadable, *others), self.sources)

    @property
    def left_out(self) -> dict[str, Any]:  # Any: JSON
        """Return the fields of the provenance about files that are no part of the graph."""
        return {
            "passed_by": [stamp._asdict() for stamp in sorted(self.passed_by)],
            "unreadable": [file.model_dump() for file in self.unreadable if file.reason not in (EMPTY, BLANK)],
            "not_read": [group._asdict() for group in self.skipped_groups],
        }

    @property
    def survey(self) -> dict[str, Any]:  # Any: what the fields of a report hold
        """Return the fields of a report about the sources: counts, what is left out, changes since the graph before."""
        maker, previous = self._maker, self._previous
        survey: dict[str, Any] = {
            "documents": maker.documents,
            "chunks": maker.chunks,
            "tables": maker.segments,
            "unreadable": tuple(self.unreadable),
            "skipped": tuple(self.skipped),
        }
        if previous is not None:
            gone = previous.stamps.keys() - {stamp.name for stamp in self.stamps}
            survey |= {name: self._became[name] for name in ("unchanged", "changed", "added")} | {"removed": len(gone)}
        return survey

    def _file(self, shelf: Shelf, reader: DocumentReader, file: File, pace: _Pace) -> None:
        nodes, old, previous = list[Node](), None, self._previous
        try:
            if previous is not None:
                old = previous.unchanged(file)
                nodes = previous.moved(file) if old is None else previous.nodes(file)
            if not nodes:
                with memory_told(file.path):
                    documents = reader.documents(file)
                    nodes = [node for document in documents for node in self._maker.nodes(document, pace.within)]
            if not nodes:
                raise BadInput(BLANK)
            double, times = Counter(node.id for node in nodes).most_common(1)[0]
            if times > 1:
                raise BadInput(f"{times} rows have the id {double!r}: give each its own")
            self._stamp(file, old)
        except (BadInput, MissingExtra, OSError) as error:
            self._pass_by(file, error)
        else:
            self._put(shelf, nodes)

    def _stamp(self, file: File, old: DocumentStamp | None) -> None:
        """Remember a file as it is now, and whether it has changed since the graph before."""
        self.stamps.append(old or stamp(file))
        is_known = self._previous is not None and file.name in self._previous.stamps
        self._became["unchanged" if old is not None else "changed" if is_known else "added"] += 1

    def _put(self, shelf: Shelf, nodes: Sequence[Node]) -> None:
        self._maker.count(nodes)
        shelf.add(nodes)

    def _pass_by(self, file: File, error: Exception) -> None:
        """Remember a file as left out, and why."""
        reason = str(error).removeprefix(f"{file.path}").lstrip(" ,:")
        if isinstance(error, MissingExtra):
            self._missing = error
            reason = f"needs the extra {error.extra!r}: {install_command(error.extra)}"
        elif isinstance(error, OSError):
            reason = f"cannot be read: {error.strerror or error}"
        among = self.skipped if isinstance(error, NotRead) and file.kind == "unknown" else self.unreadable
        among.append(SkippedFile(file=str(file.path), reason=reason))
        self.passed_by.append(stamp_unread(file.path.resolve()))


class _Pace:
    """Tells how far the reading of some files is, by their bytes, within a long one too."""

    def __init__(self, files: Sequence[File], tell: Progress) -> None:
        self._sizes = [_bytes_of(file.path) for file in files]
        self._tell, self._total = tell, max(1, sum(self._sizes))
        self._files = self._before = self._told = self._inside = 0

    def within(self, characters: int) -> None:
        """Take that so many more characters of the file that is being read are read."""
        self._inside += characters
        done = self._before + min(self._inside, self._sizes[self._files])
        if done - self._told >= _MEGABYTE:
            self._say(max(1, self._files), done)

    def past(self) -> Count:
        """Take that one more file is read, tell of it, and return how many are."""
        self._before += self._sizes[self._files]
        self._files, self._inside = self._files + 1, 0
        return self._say(self._files, self._before)

    def _say(self, files: int, done: int) -> Count:
        self._told, count = done, Count(files, of=len(self._sizes), share=done / self._total)
        size = f", {done / _MEGABYTE:,.1f} of {self._total / _MEGABYTE:,.1f} MB" if self._total >= _MEGABYTE else ""
        self._tell(READING + size, count)
        return count


def _bytes_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


class Shelf:
    """Stores the nodes of a build on disk, not in memory; returns them in order, any number of times."""

    def __init__(self, folder: Path) -> None:
        self._writer = StringWriter(folder, "node")
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, nodes: Iterable[Node]) -> None:
        """Take nodes in."""
        # Only this process reads them: JSON takes ten times as long.
        lines = [
            marshal.dumps((node.id, node.type, node.name, node.text, node.aliases, dict(node.properties)))
            for node in nodes
        ]
        self._writer.extend(lines)
        self._count += len(lines)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.so_far())

    def so_far(self, count: int | None = None) -> ShelvedNodes:
        """Return the nodes that were taken in until now, or the first of them; more may come."""
        return ShelvedNodes(self._writer.so_far(), count)


class ShelvedNodes:
    """Nodes of a shelf, in order, any number of times."""

    def __init__(self, lines: Strings, count: int | None = None) -> None:
        self._lines, self._count = lines, len(lines) if count is None else count

    def __iter__(self) -> Iterator[Node]:
        for low in range(0, self._count, _BATCH):
            rows = np.arange(low, min(low + _BATCH, self._count))
            for line in self._lines.take(rows):
                yield Node(*marshal.loads(line))
