"""The first tier: pydantic-monty, a Python interpreter of its own that has no way out, in a worker process.

The worker is the boundary beside the interpreter: an abort inside it is a signal that ends its process, so it never
runs in ours. It has no environment, no files and no mounts; whatever would reach the system is answered with its own
refusal. Memory and time are bounded inside, and a clock of ours kills the worker where it overstays. On Linux the
kernel holds it too, should code ever break out of the interpreter (`launching`), and kills it when this process ends;
nowhere does it run between runs.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from orienteer.errors import Error, MissingExtra, UnsafeSandbox
from orienteer.sandbox.callback import serve
from orienteer.sandbox.interpreter import Functions, Limits, Ran, Tier
from orienteer.sandbox.launch import launched
from orienteer.sandbox.monty_errors import missing, told
from orienteer.sandbox.printout import Printed
from orienteer.sandbox.workers import tie

if TYPE_CHECKING:
    from pydantic_monty import (
        ExternalExceptionData,
        ExternalReturnValue,
        FunctionSnapshot,
        MontyRuntimeError,
        MontySession,
    )
    from pydantic_monty import SyncSnapshot as Snapshot

_ENDLESS = 1_000_000_000  # round trips in a session: the calls of each run are counted here
_DEEPEST = 500  # calls in calls
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has no SIGKILL, and its SIGTERM is one
_PAUSE = getattr(signal, "SIGSTOP", _KILL)  # Windows has neither, and sends none
_GO_ON = getattr(signal, "SIGCONT", _KILL)
_VALUELESS = "\nNone"  # what code ends with, so that the value of its last line never crosses into our process
_LOST = "what earlier code defined is lost"
_PROBE = "'x' * (4 << 20)\nNone"  # without so much room nothing can be run
_LEFT_BEHIND: list[ExitStack] = []  # of the process that this one was forked from: nothing of it may end here
_PROCESSES: dict[str, int] = {}  # the one that ran code first: the library has threads, which no forked one has
_MEGABYTE = 1 << 20
_LONGEST = 16 * _MEGABYTE  # bytes that the worker may write at once: a message, if it is honest; text of a call is less


class _Failure(NamedTuple):
    """How a run ended that did not end well."""

    error: str
    missing: str | None = None
    is_lost: bool = False


class MontyInterpreter:
    """Runs code in a worker that starts with the first run, and again after a run that lost the state."""

    def __init__(self, functions: Functions, limits: Limits) -> None:
        """Raises `MissingExtra` where pydantic-monty is not installed."""
        try:
            import pydantic_monty  # noqa: F401  # an extra
        except ImportError as error:
            raise MissingExtra("code in the sandbox monty", "sandbox") from error
        self._functions, self._limits = functions, limits
        self._held = ExitStack()
        self._session: MontySession | None = None
        self._walls: frozenset[str] = frozenset()
        self._aside: ThreadPoolExecutor | None = None
        self._owner = os.getpid()
        weakref.finalize(self, _close, self._held, self._owner)

    @property
    def tier(self) -> Tier:
        """The first."""
        return "monty"

    @property
    def held(self) -> frozenset[str]:
        """What the kernel holds the worker by that is there now, by name; nothing where none is."""
        return frozenset() if self._session is None else self._walls

    def run(self, code: str) -> Ran:
        """Run code within the limits' wall time and at most one call of a function more."""
        printed = Printed(self._limits.output_characters)
        started = time.monotonic()
        try:
            failure = self._failure(code, printed)
        except BaseException:  # a bug of a function, or an interrupt: the worker waits for an answer that never comes
            self.close()
            raise
        if failure is not None and failure.is_lost:
            self.close()
        else:
            _signal(self._session, _PAUSE)
        kept = printed.kept()
        return Ran(
            printed=kept.text,
            error=None if failure is None else failure.error,
            missing=None if failure is None else failure.missing,
            is_lost=failure is not None and failure.is_lost,
            left_out=kept.left_out,
            seconds=time.monotonic() - started,
        )

    def close(self) -> None:
        """End the worker. The next run starts another one, which knows nothing."""
        self._session = self._aside = None
        _close(self._held, self._owner)

    def _failure(self, code: str, printed: Printed) -> _Failure | None:
        from pydantic_monty import MontySyntaxError

        try:
            return self._ended(code + _VALUELESS, printed)
        except MontySyntaxError:
            # What ends the code could be what is complained of; what was written is wrong by itself as well.
            try:
                return self._ended(code, printed)
            except MontySyntaxError as error:
                return _Failure(told(error))

    def _ended(self, code: str, printed: Printed) -> _Failure | None:
        """Return how code failed; None where it did not. Raises `MontySyntaxError`, and what a function does."""
        from pydantic_monty import MontyCrashedError, MontyRuntimeError

        session = self._started()
        assert self._aside is not None
        watch = _Watch(session.worker_pid, self._limits.seconds)
        run = _Run(self._functions, self._limits.calls, self._aside, watch)
        is_over = False
        try:
            run.drive(partial(session.feed_start, code, print_callback=lambda _, text: printed.add(text)))
        except MontyCrashedError as error:
            if not watch.has_fired:
                size = f"a call or an error of more than {_LONGEST // _MEGABYTE} MB would break it"
                return _Failure(f"the interpreter broke: {error} ({size}); {_LOST}", is_lost=True)
        except MontyRuntimeError as error:
            if not _is_out_of_time(error):
                return _failed(session, error)
            is_over = True
        finally:
            watch.end()
        if not (is_over or watch.has_fired):
            return None
        seconds = self._limits.seconds
        return _Failure(f"TimeoutError: the code took longer than {seconds:g} s and was stopped; {_LOST}", is_lost=True)

    def _started(self) -> MontySession:
        """Return the session in which the state is, of a worker that is started where there is none."""
        if _PROCESSES.setdefault("first", os.getpid()) != os.getpid():
            raise UnsafeSandbox(
                "the sandbox monty does not start in a process that was forked from one where it has run: start "
                "processes by spawn, or choose the tier cpython"
            )
        if self._session is None:
            self._aside = self._held.enter_context(ThreadPoolExecutor(1, "monty"))
            try:
                self._session, walls = self._checked_out()
            except (OSError, RuntimeError) as error:
                raise UnsafeSandbox(
                    f"the sandbox monty does not start: {error}; install it again: pip install 'orienteer[sandbox]'"
                ) from error
            self._walls = walls | _confine(self._session.worker_pid)
            self._held.callback(_signal, self._session, _GO_ON)  # or it could not hear that it is to end
        _signal(self._session, _GO_ON)
        return self._session

    def _checked_out(self) -> tuple[MontySession, frozenset[str]]:
        """Return a session of a worker that is held, by what, and that ends with this process."""
        from pydantic_monty import Monty
        from pydantic_monty._binary import find_monty_binary

        program = Path(find_monty_binary())
        pool = self._held.enter_context(Monty(binary_path=program, min_processes=0, max_processes=1))
        checkout = pool.checkout(
            limits={
                "max_feed_duration_secs": self._limits.seconds,
                "max_memory": self._limits.memory_mb * _MEGABYTE,
                "max_recursion_depth": _DEEPEST,
                "max_suspensions": _ENDLESS,
            },
            # Nothing is waited for, and what is drawn at random is drawn again when a trajectory is replayed.
            os_policy={"sleep": "zero", "random_start": {"seed": 0}},
        )
        theirs, ours = os.pipe()
        self._held.callback(os.close, ours)
        try:
            os.set_inheritable(theirs, True)
            session, walls = launched(checkout.__enter__, program, longest=_LONGEST)
            self._held.push(checkout)
            if session.worker_pid is not None and tie(session.worker_pid, theirs):
                walls |= {"lifeline"}
        finally:
            os.close(theirs)
        return session, walls


class _Run:
    """One run of code, from suspension to suspension."""

    def __init__(self, functions: Functions, calls: int, aside: ThreadPoolExecutor, watch: _Watch) -> None:
        self._functions, self._calls, self._aside, self._watch = functions, calls, aside, watch
        self._made = 0

    def drive(self, begin: Callable[[], Snapshot]) -> None:
        """Answer what the code asks for until it ends. Raises its errors, and whatever is a bug of a function."""
        from pydantic_monty import FunctionSnapshot, FutureSnapshot, MontyComplete, NameLookupSnapshot

        go_on: Callable[[], Snapshot]
        paused = self._waited(begin)
        while not isinstance(paused, MontyComplete):
            if isinstance(paused, NameLookupSnapshot):
                named = paused.variable_name in self._functions
                go_on = partial(paused.resume, value=_stub(paused.variable_name)) if named else paused.resume
            elif isinstance(paused, FunctionSnapshot):
                is_os = paused.is_os_function
                go_on = paused.resume_not_handled if is_os else partial(paused.resume, self._answer(paused))
            else:
                assert isinstance(paused, FutureSnapshot)  # no function gives a future, so nobody can wait for one
                go_on = partial(
                    paused.resume, {one: _refusal("nothing to wait for") for one in paused.pending_call_ids}
                )
            paused = self._waited(go_on)

    def _waited(self, go_on: Callable[[], Snapshot]) -> Snapshot:
        """Let the code run to its next suspension, in another thread: this one could not be interrupted meanwhile."""
        waiting = self._aside.submit(go_on)
        try:
            return waiting.result()
        finally:
            if not waiting.done():
                self._watch.kill()

    def _answer(self, paused: FunctionSnapshot) -> ExternalReturnValue | ExternalExceptionData:
        """Call a function for the code; return what it gives, or its complaint."""
        name = str(paused.function_name)
        if name not in self._functions:
            return {"exc_type": "NameError", "message": f"name {name!r} is not defined"}
        self._made += 1
        if self._made > self._calls:
            return _refusal(f"this run has made {self._calls} calls, and may make no more")
        try:
            return {"return_value": serve(self._functions, name, paused.args, paused.kwargs)}
        except Error as error:
            return _refusal(str(error))


class _Watch:
    """Kills a worker after some seconds, unless its run has ended."""

    def __init__(self, worker: int | None, seconds: float) -> None:
        self.has_fired = False
        self._worker: int | None = worker
        self._turn = threading.Lock()
        self._timer = threading.Timer(seconds, self.kill)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        """Let the worker live, unless it is dead: from here on it is not killed."""
        with self._turn:
            self._worker = None
        self._timer.cancel()  # its thread ends when it comes to it: waiting for that takes longer than most code does

    def kill(self) -> None:
        """Kill the worker now, unless its run has ended."""
        with self._turn:
            if self._worker is None:
                return
            self.has_fired = True
            try:
                os.kill(self._worker, _KILL)
            except ProcessLookupError:  # it has died by itself, and the run tells so
                return


def _close(held: ExitStack, owner: int) -> None:
    """Close what a process holds, in that process: one that was forked later has none of the threads that it takes."""
    if os.getpid() == owner:
        held.close()
    else:
        _LEFT_BEHIND.append(held.pop_all())


def _failed(session: MontySession, error: MontyRuntimeError) -> _Failure:
    """Return what code died of, and whether its state is gone, or leaves no memory to run more and has to go."""
    from pydantic_monty import MontyCrashedError, MontyRuntimeError

    is_lost = session.worker_pid is None  # it died of what it was stopped for
    if isinstance(error.exception(), MemoryError) and not is_lost:
        try:
            session.feed_start(_PROBE)
        except (MontyRuntimeError, MontyCrashedError):
            is_lost = True
    return _Failure(f"{told(error)}; {_LOST}" if is_lost else told(error), missing(error), is_lost)


def _signal(session: MontySession | None, number: signal.Signals) -> None:
    """Send a worker a signal, where there is a worker, and signals."""
    if session is None or session.worker_pid is None or sys.platform == "win32":
        return
    try:
        os.kill(session.worker_pid, number)
    except ProcessLookupError:  # it has died by itself, and the next run tells so
        return


def _confine(worker: int | None) -> frozenset[str]:
    """Let a worker open, write and start nothing more: it has its pipes, and code needs no more of the system.

    Returns the name of what holds it by then; none where the system does not let it.
    """
    if sys.platform != "linux" or worker is None:
        return frozenset()
    import resource  # Linux alone limits another process

    for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC, resource.RLIMIT_CORE):
        try:
            resource.prlimit(worker, limit, (0, 0))
        except PermissionError:  # a container that forbids it: the interpreter is what holds code, there as elsewhere
            return frozenset()
    return frozenset({"limits"})


def _stub(name: str) -> Callable[[], None]:
    """Return what stands for a function where code names it without calling it; a call goes by the name."""

    def stub() -> None: ...

    stub.__name__ = name
    return stub


def _refusal(message: str) -> ExternalExceptionData:
    return {"exc_type": "RuntimeError", "message": message}


def _is_out_of_time(error: MontyRuntimeError) -> bool:
    """Tell whether the interpreter stopped the code for its time: such an error names no line."""
    return isinstance(error.exception(), TimeoutError) and not error.traceback()
