"""Worker processes: how each is started, paused and ended. A worker builds its own walls (`confinement`).

A worker has an environment without keys and without a home, and no open file but its pipes. It ends with this process,
however that ends: it holds one end of a pipe, the lifeline, and the kernel kills it when the other end closes. The
other end belongs to the process, not to a thread, so any thread may start workers. On macOS a thread of the worker
watches the lifeline instead (`confinement.end_with`). On Windows nothing does: a worker ends after its request.
"""

from __future__ import annotations

import os
import signal
import site
import subprocess
import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

from orienteer.sandbox.pipe import DeadlinePassed, Pipe, PipeClosed, PipeError

PYTHON = ("-P", "-B", "-X", "utf8")
"""Python's options: nothing is imported from the working directory, and no bytecode is written."""
_ENVIRONMENT = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}  # sets have one order, so that runs repeat
_INHERITED = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # Python's own library may lie there
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
        theirs, ours = os.pipe()
        try:
            self.popen = subprocess.Popen(
                [*command, str(theirs)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**_environment(), **(environment or {})},
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
            return self._held(seconds)
        except BaseException:
            self.end()
            raise

    def _held(self, seconds: float) -> frozenset[str]:
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

    @property
    def is_ours(self) -> bool:
        """Tell whether this process started it: a process forked later would read the other's answers."""
        return self._owner == os.getpid()

    @property
    def is_running(self) -> bool:
        """Tell whether it can take a request."""
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
        """Return why it died, or, if it is still there, what it did wrong. To be called before `end`."""
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
    """Return the environment variables by which a worker finds the same packages as this process, in any folder."""
    settings = {"PYTHONUSERBASE": site.getuserbase()}
    if "PYTHONHOME" in os.environ:
        settings["PYTHONHOME"] = os.environ["PYTHONHOME"]
    if folders := [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]:
        settings["PYTHONPATH"] = os.pathsep.join(str(Path(folder).absolute()) for folder in folders)
    return settings


def tie(process: int, lifeline: int) -> bool:
    """Have the kernel kill a process when the other end of its lifeline closes; tell whether the kernel will.

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


def _environment() -> dict[str, str]:
    """Return the variables that every worker has: no keys, no home."""
    names = (*_INHERITED, *_INHERITED_ON_WINDOWS) if sys.platform == "win32" else _INHERITED
    return _ENVIRONMENT | {name: os.environ[name] for name in names if name in os.environ}


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
