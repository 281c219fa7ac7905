"""Starts, pauses and ends worker processes. A worker builds its own walls (`confinement`).

A worker has an environment without keys or a home, and no open files but its pipes. It ends with this process, however
that ends: it has one end of a pipe, the lifeline, and the kernel kills it when the other end closes. That end belongs
to the process, not to a thread, so any thread may start workers. On macOS a thread of the worker watches the lifeline
instead (`confinement.end_with`). On Windows nothing does: a worker ends after its request.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import site
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, TypeVar

from orienteer.records import JsonValue
from orienteer.sandbox import confinement, readable_files

PYTHON = ("-P", "-B", "-X", "utf8")
"""Python's options: nothing is imported from the working directory, and no bytecode is written."""
# Sets have one order, so that runs repeat; pydantic searches all installed packages for plugins, in 15 ms.
_ENVIRONMENT = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "PYDANTIC_DISABLE_PLUGINS": "__all__"}
_INHERITED = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # Python's own library may be there
_INHERITED_ON_WINDOWS = ("SYSTEMROOT", "PATH")  # no library is found there without them
_DYING = 0.2  # seconds that a process may take to end after its pipe has closed
_SET_SIGNAL = 10  # F_SETSIG of fcntl, which Python names from 3.13 on


class NotReady(Exception):
    """A worker did not become ready for requests; the message says why."""

    def __init__(self, why: str, *, extra: str | None = None) -> None:
        super().__init__(why)
        self.extra = extra
        """The extra that the worker lacks, if that is the reason."""


class Worker:
    """One process and its pipes. One thread only."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        longest: int,
        environment: Mapping[str, str] | None = None,
        folder: Path = Path(os.sep),
    ) -> None:
        """Start the process; its last argument is the number of its end of the lifeline. Raises `OSError`."""
        names = (*_INHERITED, *_INHERITED_ON_WINDOWS) if sys.platform == "win32" else _INHERITED
        inherited = {name: os.environ[name] for name in names if name in os.environ}
        theirs, ours = os.pipe()
        try:
            self.popen = subprocess.Popen(
                [*command, str(theirs)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**_ENVIRONMENT, **inherited, **(environment or {})},  # no keys, no home
                pass_fds=() if sys.platform == "win32" else (theirs,),
                cwd=folder,
                start_new_session=True,
            )
            self.is_tied = tie(self.popen.pid, theirs)
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        self._owner = os.getpid()
        self._end = weakref.finalize(self, _end, self.popen, ours)
        assert self.popen.stdin is not None  # both were asked for
        assert self.popen.stdout is not None
        self.pipe = Pipe(self.popen.stdin, self.popen.stdout, longest=longest, kill=self.popen.kill)

    def ready(self, seconds: float) -> frozenset[str]:
        """Wait until the worker is ready; return the names of its walls. Ends it and raises `NotReady` otherwise."""
        try:
            try:
                message = self.pipe.receive(time.monotonic() + seconds)
            except DeadlinePassed as fault:
                raise NotReady(f"it was not ready after {seconds:g} s") from fault
            except PipeError as fault:
                raise NotReady(self.cause(fault)) from fault
            if isinstance(extra := message.get("extra"), str):
                raise NotReady(f"it lacks the extra {extra}", extra=extra)
            if not isinstance(ready := message.get("ready"), list):
                raise NotReady("it did not report how it is confined")
            return frozenset(map(str, ready)) | ({"lifeline"} if self.is_tied else set())
        except BaseException:
            self.end()
            raise

    @property
    def is_ours(self) -> bool:
        """Return whether this process started it: a process forked later would read the other's answers."""
        return self._owner == os.getpid()

    @property
    def is_running(self) -> bool:
        """Return whether it can receive a request."""
        return self.is_ours and self.popen.poll() is None

    def pause(self) -> None:
        """Stop it until `go_on`. On Windows it only waits for its next request."""
        if sys.platform != "win32":
            self.popen.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it work again."""
        if sys.platform != "win32":
            self.popen.send_signal(signal.SIGCONT)

    def cause(self, fault: PipeError) -> str:
        """Return the cause of its death, or the fault if it is alive. Call this before `end`."""
        if not isinstance(fault, PipeClosed):
            return str(fault)
        try:
            code = self.popen.wait(_DYING)
        except subprocess.TimeoutExpired:
            return str(fault)
        return f"it died of {signal.Signals(-code).name}" if code < 0 else f"it ended with exit code {code}"

    def end(self) -> None:
        """Kill it and all its processes. Ending twice does no harm."""
        self._end()


def packages() -> dict[str, str]:
    """Return environment variables so that a worker finds the same packages as this process, in any folder."""
    settings = {"PYTHONUSERBASE": site.getuserbase()}
    if "PYTHONHOME" in os.environ:
        settings["PYTHONHOME"] = os.environ["PYTHONHOME"]
    if folders := [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]:
        settings["PYTHONPATH"] = os.pathsep.join(str(Path(folder).absolute()) for folder in folders)
    return settings


def tie(process: int, lifeline: int) -> bool:
    """Have the kernel kill a process when the other end of its lifeline closes; return whether it will.

    The process does not have to cooperate, and cannot undo it as long as its end of the pipe is open.
    """
    if not sys.platform.startswith("linux"):
        return False
    import fcntl

    try:
        fcntl.fcntl(lifeline, _SET_SIGNAL, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, process)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    except OSError:  # another kernel that imitates Linux
        return False
    return True


def _end(popen: subprocess.Popen[bytes], lifeline: int) -> None:
    if popen.poll() is None:
        if sys.platform == "win32":
            popen.kill()
        else:
            os.killpg(popen.pid, signal.SIGKILL)
    popen.wait()
    os.close(lifeline)
    for stream in (popen.stdin, popen.stdout):
        if stream is not None:
            stream.close()


# Confines a program that a library starts. The kernel binds a program to what its starting thread has given up, and
# leaves the other threads alone. So a thread is made only for this, and ends when the program runs.

T = TypeVar("T")

_LOADERS = ("/lib64/ld-*.so*", "/lib/ld-*.so*", "/lib/*-linux-gnu/ld-*.so*")  # start programs with shared libraries
_PROGRAM = confinement.READ_FILE | confinement.EXECUTE


def launched(start: Callable[[], T], program: Path, *, longest: int) -> tuple[T, frozenset[str]]:
    """Call `start`; return its result, and the names of the walls around the program that it starts.

    The program can open itself and shared libraries for reading, and nothing else. It has no network, sends no signals,
    starts nothing, and writes at most `longest` bytes at once, as far as this system can enforce that. Raises whatever
    `start` raises.
    """
    if not sys.platform.startswith("linux"):
        return start(), frozenset()
    left = _files_of(program)
    results: list[T] = []
    errors: list[BaseException] = []
    walls: set[str] = set()

    def run() -> None:
        try:
            confinement.drop_privileges()
            if confinement.keep_files(left):
                walls.add("landlock")
            if confinement.enforce(confinement.launch_program(longest=longest)):
                walls.add("seccomp")
            results.append(start())
        except BaseException as error:  # noqa: BLE001  # the waiting caller raises it
            errors.append(error)

    with _UNCOLLECTED:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    if errors:
        raise errors[0]
    return results[0], frozenset(walls)


class _CollectionPause:
    """A time without garbage collection, which must not run in a confined thread: that one can free no resource.

    Several threads may be inside; the last one to leave turns the collection on again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._collects = False

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._collects = gc.isenabled()
                gc.disable()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside and self._collects:
                gc.enable()


_UNCOLLECTED = _CollectionPause()


@cache
def _files_of(program: Path) -> tuple[tuple[Path, int], ...]:
    """Return the files that a program needs to start."""
    loaders = {loader for pattern in _LOADERS for loader in Path("/").glob(pattern[1:])}
    return (*readable_files.of_system(), *((path, _PROGRAM) for path in (program, *loaders)))


# Messages to and from an untrusted process: each has a deadline and a largest size, and must be JSON.

_PART = 1 << 16  # bytes, as many as a pipe holds


class PipeError(Exception):
    """The other end has broken the protocol; the message says how."""


class PipeClosed(PipeError):
    """The other end is gone."""


class DeadlinePassed(Exception):
    """The deadline has passed."""


class Pipe:
    """Two pipes to a process, one for each direction. Every call keeps its deadline, whatever the process does."""

    def __init__(self, to: IO[bytes], of: IO[bytes], *, longest: int, kill: Callable[[], None]) -> None:
        self._to, self._of, self._longest, self._kill = to.fileno(), of.fileno(), longest, kill
        if sys.platform != "win32":
            os.set_blocking(self._to, False)
            os.set_blocking(self._of, False)

    def send(self, content: Mapping[str, JsonValue], deadline: float) -> None:
        """Send a message. Raises `PipeError`, `DeadlinePassed`."""
        self.send_bytes(json.dumps(content).encode(), deadline)

    def send_bytes(self, message: bytes, deadline: float) -> None:
        """Send the bytes of a message or a file, after their number. Raises `PipeError`, `DeadlinePassed`."""
        left = memoryview(struct.pack("!I", len(message)) + message)
        with self._until(deadline):
            while left:
                try:
                    if sys.platform != "win32":
                        _wait(self._to, select.POLLOUT, deadline)
                    left = left[os.write(self._to, left[:_PART]) :]
                except BlockingIOError:
                    continue
                except OSError as error:
                    # Windows has an error of its own for a broken pipe.
                    raise PipeClosed("it ended") from error

    def receive(self, deadline: float) -> dict[str, JsonValue]:
        """Return the next message. Raises `PipeError`, `DeadlinePassed`."""
        try:
            content = json.loads(self.receive_bytes(deadline))
        except (ValueError, RecursionError) as error:
            raise PipeError("it sent something that is not a message") from error
        if not isinstance(content, dict):
            raise PipeError("it sent something that is not a message")
        return content

    def receive_bytes(self, deadline: float) -> bytearray:
        """Return the next message as bytes. Raises `PipeError`, `DeadlinePassed`."""
        with self._until(deadline):
            size = struct.unpack("!I", self._read(4, deadline))[0]
            if size > self._longest:
                raise PipeError(f"it sent a message of more than {self._longest:,} bytes")
            return self._read(size, deadline)

    def has_more(self) -> bool:
        """Return whether a message can be read, or the other end is gone."""
        return _is_ready(self._of, select.POLLIN, 0)

    def _read(self, size: int, deadline: float) -> bytearray:
        parts = bytearray()
        while len(parts) < size:
            if sys.platform != "win32":
                _wait(self._of, select.POLLIN, deadline)
            part = os.read(self._of, min(size - len(parts), _PART))
            if not part:
                raise PipeClosed("it ended")
            parts += part
        return parts

    @contextmanager
    def _until(self, deadline: float) -> Iterator[None]:
        """Keep to a deadline on Windows, which cannot poll pipes: killing the process closes its pipes."""
        if sys.platform != "win32":
            yield
            return
        is_late = threading.Event()

        def give_up() -> None:
            is_late.set()
            self._kill()

        timer = threading.Timer(max(0.0, deadline - time.monotonic()), give_up)
        timer.daemon = True
        timer.start()
        try:
            yield
        except PipeClosed:
            if is_late.is_set():
                raise DeadlinePassed from None
            raise
        finally:
            timer.cancel()


def _wait(descriptor: int, event: int, deadline: float) -> None:
    """Wait until a pipe can be read or written. Raises `DeadlinePassed`."""
    while (left := deadline - time.monotonic()) > 0:
        if _is_ready(descriptor, event, left):
            return
    raise DeadlinePassed


def _is_ready(descriptor: int, event: int, seconds: float) -> bool:
    """Wait at most `seconds` until a pipe can be read or written; return whether it can."""
    # `select` takes no descriptor above 1,023, and a server may have more.
    poll = select.poll()
    poll.register(descriptor, event)
    return bool(poll.poll(seconds * 1000))
