"""A process that converts PDF, Word and spreadsheet files, ended and started again where a file hangs or kills it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from types import TracebackType

from orienteer.build.documents.blocks import Document
from orienteer.build.documents.converter import Read, blocks_of
from orienteer.build.documents.files import File
from orienteer.errors import BadInput, MissingExtra


class Converter:
    """Converts files, one at a time. Use as a context manager; the process starts with the first file."""

    def __init__(self, *, seconds: float) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Converter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def __call__(self, file: File, title: str) -> Document:
        """Return a file as a document. Raises `BadInput` where it cannot be read, `MissingExtra`."""
        reply = self._ask(file)
        if "extra" in reply:
            raise MissingExtra(f"reading {file.path.suffix} files", reply["extra"])
        if "error" in reply:
            raise BadInput(reply["error"])
        found = reply["title"]
        return Document(
            file.name, found or title, blocks_of(reply), file.name, (file.path.name,), has_title=bool(found)
        )

    def _ask(self, file: File) -> Read:
        process = self._started()
        assert process.stdin is not None  # both were asked for
        assert process.stdout is not None
        is_late = threading.Event()

        def give_up() -> None:
            is_late.set()
            process.kill()

        timer = threading.Timer(self._seconds, give_up)
        timer.start()
        try:
            process.stdin.write(json.dumps({"path": str(file.path), "kind": file.path.suffix.lower()}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if not line.endswith("\n"):
            self._end()
            if is_late.is_set():
                raise BadInput(f"takes more than {self._seconds:g} s to convert: raise seconds, or save it again")
            raise BadInput("its conversion died, as of too much memory or a fault in a library: save it again")
        reply: Read = json.loads(line)
        return reply

    def _started(self) -> subprocess.Popen[str]:
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._process is None:
            self._process = subprocess.Popen(
                # -P: what lies in the working directory is no part of us
                [sys.executable, "-P", "-m", "orienteer.build.documents.converter"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
