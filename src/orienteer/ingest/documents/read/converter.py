"""Runs the process that reads PDFs, and restarts it after a file that hangs or kills it."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from types import TracebackType

from pydantic import TypeAdapter, ValidationError

from orienteer.errors import BadInput, MissingExtra
from orienteer.ingest.documents.read.blocks import Document, Grid, Page, Prose
from orienteer.ingest.documents.read.conversion_worker import LONGEST
from orienteer.ingest.documents.read.files import File
from orienteer.records import Record
from orienteer.sandbox.workers import PYTHON, DeadlinePassed, NotReady, PipeClosed, PipeError, Worker, packages

MOST_BYTES = 1 << 30
"""Bytes of a file. The process loads all of them; its memory is limited to four times this."""
PAGE_SECONDS = 20.0
"""Processor time of one page. After it the system ends the process, and the other pages are read again."""
MOST_FAILURES = 5
"""Pages of a file that may end the process; after one more, only the pages before it are kept."""
_MODULE = "orienteer.ingest.documents.read.conversion_worker"
_START = 60.0  # seconds
_PATIENCE = 10 if hasattr(signal, "setitimer") else 1  # times the processor time, by the clock: other processes run too
_PART = 1 << 20  # bytes of a file in one message
_LONGEST_REASON = 400  # characters


@dataclass(frozen=True, slots=True)
class _Grid(Grid):
    """A table with all its rows."""

    rows: list[tuple[str, ...]]


class _Conversion(Record):
    title: str
    blocks: list[Prose | _Grid]
    notes: list[str]
    heads: dict[str, str]


class _Begun(Record):
    begins: int


class _Refusal(Record):
    error: str


class PagePicture(Record):
    """A page of a PDF as a picture."""

    pages: int
    """Of the whole file."""
    boxes: list[tuple[int, int, int, int]]
    """Left, top, right and bottom of the lines that were searched, in its pixels; none if they were not found."""
    png: bytes = b""


_DRAWN: TypeAdapter[PagePicture | _Refusal] = TypeAdapter(PagePicture | _Refusal)
_REPLY: TypeAdapter[_Begun | _Conversion | _Refusal] = TypeAdapter(_Begun | _Conversion | _Refusal)


class Converter:
    """Reads PDFs, one at a time. A context manager; the process starts with the first file."""

    def __init__(self, *, seconds: float) -> None:
        """Set the processor time of all pages of a file to `seconds`."""
        self._seconds = seconds
        self._page = 0  # the page in work
        self._worker: Worker | None = None
        self.held: frozenset[str] = frozenset()
        """The restrictions on the latest process, by name."""

    def __enter__(self) -> Converter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def __call__(self, file: File, title: str) -> Document:
        """Return a file as a document. Raises `BadInput` if it is unreadable, `MissingExtra` without the library."""
        failed: dict[int, str] = {}
        until = None
        while True:
            worker = self._started()
            try:
                read = self._converted(worker, file, failed, until)
            except (PipeError, DeadlinePassed) as fault:
                reason = self._reason(fault, worker)
                self._end()
                is_last = len(failed) == MOST_FAILURES or isinstance(fault, DeadlinePassed)
                if self._page in (0, *failed) or until is not None or (is_last and self._page == 1):
                    raise BadInput(f"{reason}: save it again") from fault
                until = self._page - 1 if is_last else None
                failed[self._page] = reason
                continue
            except BaseException:  # the pipe may hold half of a message
                self._end()
                raise
            return _document(file, title, read)

    def picture(self, data: bytes, number: int, words: str) -> PagePicture:
        """Return a page of a PDF as a picture, and where some words stand in it. Raises `BadInput`, `MissingExtra`."""
        worker = self._started()
        self._page = number
        asked = {"number": number, "words": words, "seconds": self._page_seconds}
        parts = (data[begin : begin + _PART] for begin in range(0, len(data), _PART))
        try:
            deadline = self._send(worker, {"draw": asked}, parts)
            reply = _DRAWN.validate_json(worker.pipe.receive_bytes(deadline))
            png = b"" if isinstance(reply, _Refusal) else bytes(worker.pipe.receive_bytes(deadline))
        except (PipeError, DeadlinePassed) as fault:
            reason = self._reason(fault, worker)
            self._end()
            raise BadInput(f"page {number} cannot be drawn: {reason}") from fault
        except BaseException:  # the pipe may hold half of a message
            self._end()
            raise
        if isinstance(reply, _Refusal):
            raise BadInput(f"page {number} cannot be drawn: {' '.join(reply.error.split())[:_LONGEST_REASON]}")
        return reply.model_copy(update={"png": png})

    def _converted(
        self, worker: Worker, file: File, failed: dict[int, str], until: int | None
    ) -> _Conversion | _Refusal:
        """Return the process's answer for a file. Raises `PipeError`, `DeadlinePassed`, or `BadInput` while sending."""
        self._page = 0
        bounds = {"seconds": self._seconds, "page_seconds": self._page_seconds, "until": until}
        self._send(worker, bounds | {"failed": list(failed.items())}, _parts(file))
        while True:
            message = worker.pipe.receive_bytes(time.monotonic() + _PATIENCE * self._page_seconds)
            try:
                reply = _REPLY.validate_json(message, strict=True)
            except ValidationError as error:
                raise PipeError("it answered in an unknown form") from error
            if not isinstance(reply, _Begun):
                return reply
            if reply.begins <= self._page:
                raise PipeError("it went back to an earlier page")
            self._page = reply.begins

    def _send(self, worker: Worker, asked: object, parts: Iterable[bytes]) -> float:
        """Send a request with a file; return by when it is to be answered."""
        deadline = time.monotonic() + _PATIENCE * self._page_seconds
        for message in chain([json.dumps(asked).encode()], parts, [b""]):
            worker.pipe.send_bytes(message, deadline)
        return deadline

    @property
    def _page_seconds(self) -> float:
        return min(self._seconds, PAGE_SECONDS)

    def _reason(self, fault: PipeError | DeadlinePassed, worker: Worker) -> str:
        if isinstance(fault, DeadlinePassed):
            return f"takes more than {_PATIENCE * self._page_seconds:g} s by the clock"
        if not isinstance(fault, PipeClosed):
            return f"its reading broke ({fault})"
        cause = worker.cause(fault)
        if cause.endswith("SIGPROF"):
            return f"takes more than {self._page_seconds:g} s of processor time"
        return f"the library ended on it, perhaps for lack of memory ({cause})"

    def _started(self) -> Worker:
        """Return the process. Raises `MissingExtra`, or `BadInput` if it does not start."""
        if self._worker is not None and self._worker.is_running:
            return self._worker
        self._end()
        try:
            worker = Worker([sys.executable, *PYTHON, "-m", _MODULE], longest=LONGEST, environment=packages())
            self.held = worker.ready(max(_START, self._seconds))
        except (OSError, NotReady) as error:
            if isinstance(error, NotReady) and error.extra is not None:
                raise MissingExtra("reading .pdf files", error.extra) from error
            raise BadInput(f"the process that would convert it did not start ({error})") from error
        self._worker = worker
        return worker

    def _end(self) -> None:
        if self._worker is not None:
            self._worker.end()
        self._worker = None


def _parts(file: File) -> Iterator[bytes]:
    """Yield the bytes of a file in parts. Raises `BadInput` if it is unreadable or too large."""
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


def _document(file: File, title: str, read: _Conversion | _Refusal) -> Document:
    if isinstance(read, _Refusal):
        raise BadInput(" ".join(read.error.split())[:_LONGEST_REASON])
    return Document(
        *(file.name, read.title or title, read.blocks, file.name, (file.path.name,)),
        properties=Page(heads={**read.heads}).properties,
        has_title=bool(read.title),
        notes=read.notes,
    )
