"""The first tier: pydantic-monty, a Python interpreter without access to the system, in a worker process.

The process is a second boundary: if the interpreter aborts, only its process ends. It has no environment, no files and
no mounts, and the interpreter refuses every call to the system. It bounds memory and time inside, and our clock kills
the worker if it takes too long. On Linux the kernel also confines the worker, in case code ever breaks out of the
interpreter (`launched`), and kills it when this process ends. The worker is stopped between runs.
"""

from __future__ import annotations

import builtins
import os
import re
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple, get_args

from orienteer.errors import BadOption, Error, MissingExtra, UnsafeSandbox
from orienteer.sandbox.printout import Printout, error_text, trace_line
from orienteer.sandbox.tiers import Choice, CPythonInterpreter, Functions, Interpreter, Limits, RunResult, Tier, serve
from orienteer.sandbox.workers import launched, tie

if TYPE_CHECKING:
    from pydantic_monty import (
        ExternalExceptionData,
        ExternalReturnValue,
        FunctionSnapshot,
        MontyRuntimeError,
        MontySession,
        MontySyntaxError,
        SyncSnapshot as Snapshot,
    )


_ENDLESS = 1_000_000_000  # round trips in a session: no limit, since the calls of each run are counted
_DEEPEST = 500  # nested calls: half of CPython's own limit
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # on Windows SIGTERM kills
_PAUSE = getattr(signal, "SIGSTOP", _KILL)  # Windows has no such signal, and `_signal` sends none there
_GO_ON = getattr(signal, "SIGCONT", _KILL)
_VALUELESS = "\nNone"  # ends the code, so that the value of its last line never crosses into our process
_LOST = "what earlier code defined is lost"
_PROBE = "'x' * (4 << 20)\nNone"  # code that needs 4 MB: with less, nothing can be run
_LEFT_BEHIND: list[ExitStack] = []  # resources of the process that this one was forked from; not to be closed here
_PROCESSES: dict[str, int] = {}  # the process that ran code first: a forked one lacks the library's threads
_MEGABYTE = 1 << 20
_LONGEST = 16 * _MEGABYTE  # bytes that the worker may write at once: one message; the text of a call is shorter


class _Failure(NamedTuple):
    """The error of a run that did not end well."""

    error: str
    missing: str | None = None
    is_lost: bool = False


class MontyInterpreter:
    """Runs code in a worker that starts with the first run, and again after a run that lost the state."""

    tier: Tier = "monty"

    def __init__(self, functions: Functions, limits: Limits) -> None:
        """Raises `MissingExtra` if pydantic-monty is not installed."""
        try:
            import pydantic_monty  # noqa: F401  # an extra
        except ImportError as error:
            raise MissingExtra("code in the sandbox monty", "sandbox") from error
        self._functions, self._limits = functions, limits
        self._resources = ExitStack()
        self._session: MontySession | None = None
        self._walls: frozenset[str] = frozenset()
        self._aside: _Aside | None = None
        self._calls = 0
        """Of functions, in this run."""
        self._owner = os.getpid()
        weakref.finalize(self, _close, self._resources, self._owner)

    @property
    def walls(self) -> frozenset[str]:
        """The names of the kernel's walls around the worker; empty if none runs."""
        return frozenset() if self._session is None else self._walls

    def run(self, code: str) -> RunResult:
        """Run code for at most the limit of seconds and the rest of one call of a function."""
        printed = Printout(self._limits.output_characters)
        started = time.monotonic()
        try:
            failure = self._failure(code, printed)
        except BaseException:
            # A bug in a function, or an interrupt: the worker would wait for an answer forever.
            self.close()
            raise
        if failure is not None and failure.is_lost:
            self.close()
        else:
            _signal(self._session, _PAUSE)
        excerpt = printed.excerpt()
        return RunResult(
            printed=excerpt.text,
            error=None if failure is None else failure.error,
            missing=None if failure is None else failure.missing,
            is_lost=failure is not None and failure.is_lost,
            left_out=excerpt.left_out,
            seconds=time.monotonic() - started,
        )

    def close(self) -> None:
        """End the worker. The next run starts another one, without state."""
        self._session = self._aside = None
        _close(self._resources, self._owner)

    def _failure(self, code: str, printed: Printout) -> _Failure | None:
        from pydantic_monty import MontySyntaxError

        try:
            return self._ended(code + _VALUELESS, printed)
        except MontySyntaxError:
            # The complaint may be about our last line: run the code as it was written, which is wrong as well.
            try:
                return self._ended(code, printed)
            except MontySyntaxError as error:
                return _Failure(describe(error))

    def _ended(self, code: str, printed: Printout) -> _Failure | None:
        """Run code and return its failure; None without one. Raises `MontySyntaxError`, and what a function raises."""
        from pydantic_monty import MontyCrashedError, MontyRuntimeError

        session = self._started()
        watch, self._calls, is_over = _Watch(session.worker_pid, self._limits.seconds), 0, False
        try:
            self._drive(partial(session.feed_start, code, print_callback=lambda _, text: printed.add(text)), watch)
        except MontyCrashedError as error:
            if not watch.has_fired:
                size = f"a call or an error of more than {_LONGEST // _MEGABYTE} MB would break it"
                return _Failure(f"the interpreter broke: {error} ({size}); {_LOST}", is_lost=True)
        except MontyRuntimeError as error:
            # The interpreter's own error for want of time names no line.
            if not isinstance(error.exception(), TimeoutError) or error.traceback():
                return _failed(session, error)
            is_over = True
        finally:
            watch.end()
        if not (is_over or watch.has_fired):
            return None
        seconds = self._limits.seconds
        return _Failure(f"TimeoutError: the code took longer than {seconds:g} s and was stopped; {_LOST}", is_lost=True)

    def _started(self) -> MontySession:
        """Return the session that has the state; start a worker if there is none. Raises `UnsafeSandbox`."""
        if _PROCESSES.setdefault("first", os.getpid()) != os.getpid():
            raise UnsafeSandbox(
                "the sandbox monty does not start in a process that was forked from one where it has run: start "
                "processes by spawn, or choose the tier cpython"
            )
        if self._session is None:
            self._aside = _Aside()
            self._resources.callback(self._aside.end)
            try:
                self._session, walls = self._checked_out()
            except (OSError, RuntimeError) as error:
                raise UnsafeSandbox(
                    f"the sandbox monty does not start: {error}; install it again: pip install 'orienteer[sandbox]'",
                    paths=[Path(sys.prefix)],
                ) from error
            self._walls = walls | _confine(self._session.worker_pid)
            # A paused worker would not end when asked to.
            self._resources.callback(_signal, self._session, _GO_ON)
        _signal(self._session, _GO_ON)
        return self._session

    def _checked_out(self) -> tuple[MontySession, frozenset[str]]:
        """Start a confined worker that ends with this process; return its session and the names of its walls."""
        from pydantic_monty import Monty
        from pydantic_monty._binary import find_monty_binary

        program = Path(find_monty_binary())
        pool = self._resources.enter_context(Monty(binary_path=program, min_processes=0, max_processes=1))
        checkout = pool.checkout(
            limits={
                "max_feed_duration_secs": self._limits.seconds,
                "max_memory": self._limits.memory_mb * _MEGABYTE,
                "max_recursion_depth": _DEEPEST,
                "max_suspensions": _ENDLESS,
            },
            # Sleeping takes no time, and random numbers repeat when a trajectory is replayed.
            os_policy={"sleep": "zero", "random_start": {"seed": 0}},
        )
        theirs, ours = os.pipe()
        self._resources.callback(os.close, ours)
        try:
            os.set_inheritable(theirs, True)
            session, walls = launched(checkout.__enter__, program, longest=_LONGEST)
            self._resources.push(checkout)
            if session.worker_pid is not None and tie(session.worker_pid, theirs):
                walls |= {"lifeline"}
        finally:
            os.close(theirs)
        return session, walls

    def _drive(self, begin: Callable[[], Snapshot], watch: _Watch) -> None:
        """Run code from suspension to suspension, and answer its calls until it ends.

        Raises its errors, and the bugs of functions.
        """
        from pydantic_monty import FunctionSnapshot, FutureSnapshot, MontyComplete, NameLookupSnapshot

        go_on: Callable[[], Snapshot]
        paused = self._waited(begin, watch)
        while not isinstance(paused, MontyComplete):
            if isinstance(paused, NameLookupSnapshot):
                go_on = paused.resume
                if paused.variable_name in self._functions:

                    def stub() -> None:
                        """A placeholder for a function that code names without calling it; calls go by the name."""

                    stub.__name__ = paused.variable_name
                    go_on = partial(paused.resume, value=stub)
            elif isinstance(paused, FunctionSnapshot):
                is_os = paused.is_os_function
                go_on = paused.resume_not_handled if is_os else partial(paused.resume, self._answer(paused))
            else:
                # No function returns a future, so none can be awaited.
                assert isinstance(paused, FutureSnapshot)
                go_on = partial(
                    paused.resume, {call_id: _refusal("nothing to wait for") for call_id in paused.pending_call_ids}
                )
            paused = self._waited(go_on, watch)

    def _waited(self, go_on: Callable[[], Snapshot], watch: _Watch) -> Snapshot:
        """Let the code run to its next suspension, in another thread: this one stays open to interrupts."""
        assert self._aside is not None
        waiting = self._aside.submit(go_on)
        try:
            return waiting.result()
        finally:
            if not waiting.done():
                watch.kill()

    def _answer(self, paused: FunctionSnapshot) -> ExternalReturnValue | ExternalExceptionData:
        """Call a function for the code; return its result or its error."""
        name = str(paused.function_name)
        if name not in self._functions:
            return {"exc_type": "NameError", "message": f"name {name!r} is not defined"}
        self._calls += 1
        if self._calls > self._limits.calls:
            return _refusal(f"this run has made {self._limits.calls} calls, and may make no more")
        try:
            return {"return_value": serve(self._functions, name, paused.args, paused.kwargs)}
        except Error as error:
            return _refusal(str(error))


class _Aside:
    """A thread that calls what it is given, one thing after the other.

    An executor would lock what all threads share when it ends. The garbage collector may end an interpreter in a thread
    that holds just those locks: one that is starting, for instance.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        threading.Thread(target=_calling, args=(self._calls,), name="monty", daemon=True).start()

    def submit(self, go_on: Callable[[], Snapshot]) -> Future[Snapshot]:
        """Return what will be the result of the call."""
        waiting: Future[Snapshot] = Future()

        def call() -> None:
            try:
                waiting.set_result(go_on())
            except BaseException as error:  # noqa: BLE001  # raised where the result is waited for
                waiting.set_exception(error)

        self._calls.put(call)
        return waiting

    def end(self) -> None:
        """Let the thread end after the calls that it was given."""
        self._calls.put(None)


def _calling(calls: SimpleQueue[Callable[[], None] | None]) -> None:
    while (call := calls.get()) is not None:
        call()
        del call  # its result holds memory of the worker


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
        """Stop watching: from here on the worker is not killed."""
        with self._turn:
            self._worker = None
        # Its thread ends a little later: waiting for that takes longer than most code does.
        self._timer.cancel()

    def kill(self) -> None:
        """Kill the worker now, unless its run has ended."""
        with self._turn:
            if self._worker is None:
                return
            self.has_fired = True
            try:
                os.kill(self._worker, _KILL)
            except ProcessLookupError:  # it has died by itself; the run reports that
                return


def _close(resources: ExitStack, owner: int) -> None:
    """Close resources in the process that opened them: a process that was forked later lacks the threads for it."""
    if os.getpid() == owner:
        resources.close()
    else:
        _LEFT_BEHIND.append(resources.pop_all())


def _failed(session: MontySession, error: MontyRuntimeError) -> _Failure:
    """Return the failure of code. Its state is lost if the worker died, or if it leaves no memory for another run."""
    from pydantic_monty import MontyCrashedError, MontyRuntimeError

    is_lost = session.worker_pid is None  # the worker died while the code was stopped
    if isinstance(error.exception(), MemoryError) and not is_lost:
        try:
            session.feed_start(_PROBE)
        except (MontyRuntimeError, MontyCrashedError):
            is_lost = True
    return _Failure(f"{describe(error)}; {_LOST}" if is_lost else describe(error), missing(error), is_lost)


def _signal(session: MontySession | None, number: signal.Signals) -> None:
    """Send a worker a signal; do nothing without a worker, or on Windows."""
    if session is None or session.worker_pid is None or sys.platform == "win32":
        return
    try:
        os.kill(session.worker_pid, number)
    except ProcessLookupError:  # it has died by itself; the next run reports that
        return


def _confine(worker: int | None) -> frozenset[str]:
    """Limit a worker's resources; return the name of this wall, or nothing if the system does not allow it."""
    if sys.platform != "linux" or worker is None:
        return frozenset()
    import resource  # Linux alone limits another process

    # It may not open, write or start anything: it has its pipes, and code needs nothing else.
    for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC, resource.RLIMIT_CORE):
        try:
            resource.prlimit(worker, limit, (0, 0))
        except PermissionError:
            # A container that forbids it: the interpreter holds code there too.
            return frozenset()
    return frozenset({"limits"})


def _refusal(message: str) -> ExternalExceptionData:
    return {"exc_type": "RuntimeError", "message": message}


# Errors of the first tier's code, written for the code's author, and the features of Python that the tier lacks.

_LONGEST_MESSAGE = 2_000  # characters

_UNSUPPORTED = re.compile(r"does not (?:yet )?support (?:the )?(.+)")
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")
_NOT_IMPORTED = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
_NO_MEMBER = re.compile(r"module '([\w.]+)' has no attribute '(\w+)'")
_NO_METHOD = re.compile(r"(?:type object )?'(\w+)' (?:object )?has no attribute '(\w+)'")
_NO_INSTANCE = re.compile(r"cannot create '(\w+)' instances")
_NO_NAME = re.compile(r"name '(\w+)' is not defined")
_NO_GENERATOR = "'list' object is not an iterator"
_IN_CALLBACK = "cannot suspend in this synchronous context"


def describe(error: MontyRuntimeError | MontySyntaxError) -> str:
    """Return an error with the lines of code that led to it."""
    frames = error.traceback()
    lines = [
        trace_line(
            frame.line,
            frame.function_name,
            frame.source_line,
            is_earlier=frame.filename != frames[0].filename,
        )
        for frame in frames
    ]
    return error_text(lines, error.display("type-msg"))


def missing(error: MontyRuntimeError | MontySyntaxError) -> str | None:
    """Return the feature of Python that the code needed and this tier lacks; None if CPython would fail as well."""
    # The wording of the interpreter's error is the only sign. Code that raises such an error itself is believed: it
    # gets the same error from the second tier.
    raised, message = type(error.exception()), error.display("msg")[:_LONGEST_MESSAGE]
    if raised is NotImplementedError:
        return _unsupported(message)
    if raised is ModuleNotFoundError and (match := _NO_MODULE.match(message)):
        return f"module {match[1]}"
    if raised is ImportError and (match := _NOT_IMPORTED.match(message)):
        return f"{match[2]}.{match[1]}"
    if raised is NameError and (match := _NO_NAME.match(message)):
        return f"builtin {match[1]}" if match[1] in vars(builtins) else None
    if raised is TypeError:
        return _instance(message)
    return _member(message) if raised is AttributeError else None


def _instance(message: str) -> str | None:
    """Return the type that this tier cannot make or iterate over; None if the code is wrong."""
    if message == _NO_GENERATOR:
        return "generator expressions beside lists: `next(iter([...]))` does what next() on one would"
    match = _NO_INSTANCE.match(message)
    return f"builtin {match[1]}" if match and hasattr(builtins, match[1]) else None


def _unsupported(message: str) -> str | None:
    if _IN_CALLBACK in message:
        return "calls of cypher inside sorted, min, max, map and the like"
    if message.startswith("Wildcard imports"):
        return "`from ... import *`"
    match = _UNSUPPORTED.search(message)
    return match[1] if match else None


def _member(message: str) -> str | None:
    """Return the attribute that CPython's module or type has; None if the code is wrong."""
    if match := _NO_MEMBER.match(message):
        return f"{match[1]}.{match[2]}"
    match = _NO_METHOD.match(message)
    if match is None or match[2].startswith("__"):
        return None
    kind = getattr(builtins, match[1], None)
    return f"{match[1]}.{match[2]}" if isinstance(kind, type) and hasattr(kind, match[2]) else None


def open_interpreter(tier: Choice, functions: Functions, limits: Limits) -> Interpreter:
    """Return an interpreter whose code may call some functions; its process starts with the first run.

    `auto` starts the first tier at once, to find out whether it works here. Raises `BadOption` for an unknown tier and
    `MissingExtra` for one that is not installed; the first run raises `UnsafeSandbox` if this machine cannot contain
    the code.
    """
    if tier not in get_args(Choice):
        raise BadOption(f"tier is {tier!r}: it must be one of {', '.join(get_args(Choice))}")
    if tier != "cpython":
        try:
            monty = MontyInterpreter(functions, limits)
            if tier == "auto":
                monty.run("")
        except (MissingExtra, UnsafeSandbox):
            if tier == "monty":
                raise
        else:
            return monty
    return CPythonInterpreter(functions, limits)
