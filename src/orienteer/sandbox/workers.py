"""Processes that work for this one: how each is started, held still, and ended; its walls are its own (`confining`).

A worker has an environment of its own, without keys and without a home, no open file but its pipes, and ends with this
process, however that ends: it holds one end of a pipe, the lifeline, and the kernel kills it when the other one closes.
That is the process's own end and not a thread's, so workers may be started from any. On macOS a thread of the worker
watches instead (`confining.end_with`); on Windows nothing does, and a worker ends with the request that it works on.
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

from orienteer.sandbox.pipe import Broken, Ended, Pipe, TooLate

PYTHON = ("-P", "-B", "-X", "utf8")
"""How Python is started: what lies in the working directory is no part of us, and nothing is written beside code."""
_ENVIRONMENT = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}  # sets in one order, so that runs repeat
_KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # where Python itself may lie
_KEPT_ON_WINDOWS = ("SYSTEMROOT", "PATH")  # without which no library is found there
_DYING = 0.2  # seconds that a process may take to be gone once its pipe is
_SET_SIGNAL = 10  # F_SETSIG of fcntl, which Python names from 3.13 on


class NotReady(Exception):
    """A worker did not come so far that it could be asked; the message says why."""

    def __init__(self, why: str, *, extra: str | None = None) -> None:
        super().__init__(why)
        self.extra = extra
        """The extra that it lacks, where it is that."""


class Worker:
    """One process and its pipes. Not shared among threads."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        longest: int,
        environment: Mapping[str, str] | None = None,
        folder: Path = Path(os.sep),
    ) -> None:
        """Start it, with the number of its end of the lifeline as its last argument. Raises `OSError`."""
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
        """Return what holds it, by name, as it says when it can be asked. Raises `NotReady`, and has ended it then."""
        try:
            return self._held(seconds)
        except BaseException:
            self.end()
            raise

    def _held(self, seconds: float) -> frozenset[str]:
        try:
            said = self.pipe.receive(time.monotonic() + seconds)
        except TooLate as fault:
            raise NotReady(f"it was not ready after {seconds:g} s") from fault
        except Broken as fault:
            raise NotReady(self.cause(fault)) from fault
        if isinstance(extra := said.get("extra"), str):
            raise NotReady(f"it lacks the extra {extra}", extra=extra)
        if not isinstance(ready := said.get("ready"), list):
            raise NotReady("it did not say what holds it")
        return frozenset(map(str, ready)) | ({"lifeline"} if self.is_tied else set())

    @property
    def is_ours(self) -> bool:
        """Tell whether this process started it: one that was forked later would read the answers of the other."""
        return self._owner == os.getpid()

    @property
    def is_running(self) -> bool:
        """Tell whether it is there to be asked."""
        return self.is_ours and self.popen.poll() is None

    def pause(self) -> None:
        """Let it do nothing until it is to go on. On Windows it only waits."""
        if sys.platform != "win32":
            self.popen.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it work again."""
        if sys.platform != "win32":
            self.popen.send_signal(signal.SIGCONT)

    def cause(self, fault: Broken) -> str:
        """Return what it died of, where it is gone by itself, or else what it did wrong. To be asked before its end."""
        if not isinstance(fault, Ended):
            return str(fault)
        try:
            code = self.popen.wait(_DYING)
        except subprocess.TimeoutExpired:
            return str(fault)
        return f"it died of {signal.Signals(-code).name}" if code < 0 else f"it ended with exit code {code}"

    def end(self) -> None:
        """Kill it and all that belongs to it. Ending twice is no fault."""
        self._end()


def packages() -> dict[str, str]:
    """Return the settings by which a worker finds the packages that this process finds, wherever it is started."""
    kept = {"PYTHONUSERBASE": site.getuserbase()}
    if "PYTHONHOME" in os.environ:
        kept["PYTHONHOME"] = os.environ["PYTHONHOME"]
    if folders := [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]:
        kept["PYTHONPATH"] = os.pathsep.join(str(Path(one).absolute()) for one in folders)
    return kept


def tie(process: int, lifeline: int) -> bool:
    """Have the kernel kill a process when the other end of a pipe closes, whose one end it holds; tell whether it does.

    Nothing is asked of the process, and nothing that it may do undoes it as long as it keeps its end open.
    """
    if not sys.platform.startswith("linux"):
        return False
    import fcntl

    try:
        fcntl.fcntl(lifeline, _SET_SIGNAL, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, process)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    except OSError:  # another kernel that plays Linux
        return False
    return True


def _environment() -> dict[str, str]:
    kept = (*_KEPT, *_KEPT_ON_WINDOWS) if sys.platform == "win32" else _KEPT
    return _ENVIRONMENT | {name: os.environ[name] for name in kept if name in os.environ}


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
