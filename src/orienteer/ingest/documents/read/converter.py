"""Processes that convert PDF, Word and spreadsheet files, ended and started again where a file hangs or kills one."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from types import TracebackType

from pydantic import TypeAdapter, ValidationError

from orienteer.errors import BadInput, MissingExtra
from orienteer.ingest.documents.read.blocks import Block, Document, Grid, Place, Prose, Span
from orienteer.ingest.documents.read.conversion_worker import LONGEST, OF_SUFFIX
from orienteer.ingest.documents.read.files import File
from orienteer.records import Record
from orienteer.sandbox.workers import PYTHON, DeadlinePassed, NotReady, PipeClosed, PipeError, Worker, packages

MOST_BYTES = 1 << 30
"""Bytes of a file that is converted: a process takes all of it into its memory, which may have four times this."""
_MODULE = "orienteer.ingest.documents.read.conversion_worker"
_ENVIRONMENT = {"ORT_DISABLE_TELEMETRY": "1"}  # should a library load onnxruntime after all
_START = 60.0  # seconds
_PART = 1 << 20  # bytes of a file that are sent at once
_LONGEST_REASON = 400  # characters


class _Where(Record):
    headings: tuple[str, ...]
    page: int | None
    span: tuple[int, int] | None
    anchors: tuple[str, ...]
    links: tuple[str, ...]

    @property
    def place(self) -> Place:
        return Place(self.headings, self.page, Span(*self.span) if self.span else None, self.anchors)


class _Prose(_Where):
    text: str
    code: bool


class _Grid(_Where):
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    caption: str


class _Conversion(Record):
    title: str
    blocks: list[_Prose | _Grid]


class _Refusal(Record):
    error: str


_REPLY: TypeAdapter[_Conversion | _Refusal] = TypeAdapter(_Conversion | _Refusal)


class Converter:
    """Converts files, one at a time. Use as a context manager; a process starts with the first file of its kind."""

    def __init__(self, *, seconds: float) -> None:
        self._seconds = seconds
        self._workers: dict[str, Worker] = {}
        self.held: frozenset[str] = frozenset()
        """The restrictions on the process that was started last, by name."""

    def __enter__(self) -> Converter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in list(self._workers):
            self._end(name)

    def __call__(self, file: File, title: str) -> Document:
        """Return a file as a document. Raises `BadInput` if it cannot be read, `MissingExtra`."""
        suffix = ".pdf" if file.kind == "pdf" else file.path.suffix.lower()
        kind = OF_SUFFIX[suffix]
        worker = self._started(kind, suffix)
        try:
            read = self._converted(worker, file, suffix)
        except (PipeError, DeadlinePassed) as fault:
            self._end(kind)
            raise BadInput(self._reason(fault)) from fault
        except BaseException:  # half of the file is sent, or its answer is still to come
            self._end(kind)
            raise
        if isinstance(read, _Refusal):
            raise BadInput(" ".join(read.error.split())[:_LONGEST_REASON])
        blocks = [_block(block) for block in read.blocks]
        return Document(
            file.name, read.title or title, blocks, file.name, (file.path.name,), has_title=bool(read.title)
        )

    def _converted(self, worker: Worker, file: File, suffix: str) -> _Conversion | _Refusal:
        """Return a process's answer for a file. Raises `PipeError`, `DeadlinePassed`, and `BadInput` on sending."""
        deadline = time.monotonic() + self._seconds
        worker.pipe.send_bytes(suffix.encode(), deadline)
        for part in _parts(file):
            worker.pipe.send_bytes(part, deadline)
        worker.pipe.send_bytes(b"", deadline)
        message = worker.pipe.receive_bytes(deadline)
        try:
            return _REPLY.validate_json(message, strict=True)
        except ValidationError as error:
            raise PipeError("it answered in an unknown form") from error

    def _reason(self, fault: PipeError | DeadlinePassed) -> str:
        if isinstance(fault, DeadlinePassed):
            return f"takes more than {self._seconds:g} s to convert: raise seconds, or save it again"
        if isinstance(fault, PipeClosed):
            return "its conversion ended, perhaps for lack of memory or by a fault in a library: save it again"
        return f"its conversion broke ({fault}): save it again"

    def _started(self, kind: str, suffix: str) -> Worker:
        """Return the process for a kind of file. Raises `MissingExtra`, and `BadInput` where it does not start."""
        if kind in self._workers and self._workers[kind].is_running:
            return self._workers[kind]
        self._end(kind)
        command = [sys.executable, *PYTHON, "-m", _MODULE, kind]
        try:
            worker = Worker(command, longest=LONGEST, environment=packages() | _ENVIRONMENT)
            self.held = worker.ready(max(_START, self._seconds))
        except (OSError, NotReady) as error:
            if isinstance(error, NotReady) and error.extra is not None:
                raise MissingExtra(f"reading {suffix} files", error.extra) from error
            raise BadInput(f"the process that would convert it did not start ({error})") from error
        self._workers[kind] = worker
        return worker

    def _end(self, kind: str) -> None:
        worker = self._workers.pop(kind, None)
        if worker is not None:
            worker.end()


def _parts(file: File) -> Iterator[bytes]:
    """Yield the bytes of a file. Raises `BadInput` if it cannot be read, or holds too many."""
    left = MOST_BYTES
    try:
        with file.path.open("rb") as stream:
            while part := stream.read(_PART):
                left -= len(part)
                if left < 0:
                    raise BadInput(f"holds more than {MOST_BYTES:,} bytes: split it")
                yield part
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror}): give it rights, or leave it out") from error


def _block(block: _Prose | _Grid) -> Block:
    if isinstance(block, _Prose):
        return Prose(block.text, block.place, block.links, block.code)
    return Grid(block.header, block.rows, block.place, block.caption, block.links)
