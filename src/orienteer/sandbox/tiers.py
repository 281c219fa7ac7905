"""Runs a model's Python: the protocol of an interpreter, the choice of its tier, and the second tier.

The first tier is in `monty`. The code's calls of our functions are answered here, for both.
"""

from __future__ import annotations

import inspect
import json
import signal
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from orienteer.errors import BadOption, Error, UnsafeSandbox
from orienteer.records import JsonValue
from orienteer.sandbox.printout import Printout
from orienteer.sandbox.workers import PYTHON, DeadlinePassed, NotReady, Pipe, PipeClosed, PipeError, Worker

Tier: TypeAlias = Literal["monty", "cpython"]
Functions: TypeAlias = Mapping[str, Callable[..., JsonValue]]
"""The functions that the code may call, by name. They run in our own process. An `Error` that one raises becomes an
exception in the code, with its message; any other exception is a bug, and `run` raises it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one run of code."""

    seconds: float = 20.0
    """Wall time of a run, its calls of functions included. A run that takes longer is killed, and its state is lost."""
    memory_mb: int = 512
    """Memory of the code."""
    output_characters: int = 8_000
    """Characters of printed text that come back: the first and the last of them, with the number left out."""
    calls: int = 500
    """Calls of functions in a run."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run of code."""

    printed: str
    """Standard output, cut to the limit; a line in the gap says how much was left out."""
    error: str | None = None
    """The error that ended the code, with its line, written for the code's author; None without one."""
    missing: str | None = None
    """The feature that the code needed and this tier lacks, in a few words, or None."""
    is_lost: bool = False
    """Whether the state of earlier runs is gone because the process was killed or died."""
    left_out: int = 0
    """Characters of printed text that were left out."""
    seconds: float = 0.0


class Interpreter(Protocol):
    """A Python that keeps its state from run to run until it is closed. One thread only."""

    @property
    def tier(self) -> Tier:
        """The name of the tier, for the trajectory."""

    def run(self, code: str) -> RunResult:
        """Run code; its errors come back in the result, ours propagate. Raises `MissingExtra`, `UnsafeSandbox`."""

    def close(self) -> None:
        """End its process and its state. Closing twice does no harm."""


Choice: TypeAlias = Literal["auto", "monty", "cpython"]
"""A tier by name, or `auto`: `monty` if it is installed and starts, else `cpython`."""


# A model's code calls one of our functions: the arguments are checked first, and all sizes are bounded.

# The first three bound the time that one call may take us.
_DEEPEST = 32  # levels of lists in lists in an argument
_MOST_VALUES = 200_000  # in the arguments of one call
_MOST_CHARACTERS = 2_000_000  # of text in the arguments of one call
_MOST_BITS = 1_024  # of a whole number: Python refuses to write numbers of many thousands of digits
_MOST_RETURNED = 16_000_000  # characters of a result, as JSON: a worker's messages have a largest size


def serve(functions: Functions, name: str, positional: Sequence[object], named: Mapping[str, object]) -> JsonValue:
    """Return the result of a call that code made.

    Raises `BadOption` for arguments that are not JSON, are too large or do not fit the function, and for too large a
    result; and whatever the function raises.
    """
    function = functions[name]
    counted = _ArgumentReader()
    values = [counted.as_json(value) for value in positional]
    options = {key: counted.as_json(value) for key, value in named.items()}
    try:
        inspect.signature(function).bind(*values, **options)
    except TypeError as error:
        # The signature without types: `(number, k=5)`.
        signature = inspect.signature(function)
        bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
        form = signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)
        raise BadOption(f"{name}{form}: {error}") from error
    value = function(*values, **options)
    text = json.dumps(value, ensure_ascii=False)
    if len(text) > _MOST_RETURNED:
        raise BadOption(f"the result is larger than {_MOST_RETURNED:,} characters: ask for less")
    try:
        text.encode()
    except UnicodeEncodeError:
        # Lone surrogates, from broken graphs, become question marks.
        sound: JsonValue = json.loads(text.encode(errors="replace"))
        return sound
    return value


class _ArgumentReader:
    """Copies the arguments of one call as JSON and counts them: a model's code may send any size."""

    def __init__(self) -> None:
        self._values = self._characters = 0

    def as_json(self, value: object, depth: int = 0) -> JsonValue:
        """Return a value as JSON. Raises `BadOption` for a value that is not JSON or is too large."""
        self._values += 1
        if depth > _DEEPEST or self._values > _MOST_VALUES:
            raise BadOption(f"an argument nests deeper than {_DEEPEST} or holds more than {_MOST_VALUES:,} values")
        if value is None or isinstance(value, float):
            return value
        if isinstance(value, int):
            if value.bit_length() > _MOST_BITS:
                raise BadOption(f"an argument holds a whole number of more than {_MOST_BITS:,} bits")
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list | tuple | set | frozenset):
            return [self.as_json(item, depth + 1) for item in value]
        if isinstance(value, dict):
            for key in value:
                if not isinstance(key, str):
                    raise BadOption(f"a dict in an argument has a key of type {type(key).__name__}: keys must be text")
            return {self._text(key): self.as_json(item, depth + 1) for key, item in value.items()}
        raise BadOption(
            f"an argument holds a {type(value).__name__}: only None, booleans, numbers, text, lists and dicts can be"
        )

    def _text(self, text: str) -> str:
        self._characters += len(text)
        if self._characters > _MOST_CHARACTERS:
            raise BadOption(f"the arguments hold more than {_MOST_CHARACTERS:,} characters of text")
        return text


# The second tier: the whole of CPython, in a process that locks itself down before it receives any code.

_PROGRAM = Path(__file__).with_name("worker.py")
_START = 30.0  # seconds
_LOST = "what earlier code defined is lost"
_LONGEST = 4 << 20  # bytes of a message: room for the arguments of a call, which `interpreter` bounds
_ERROR_CHARACTERS = 4_000  # twice the worker's own bound
_MARK = 200  # characters: more than the line about what was left out
_GRACE = 0.5  # seconds in which code that ran too long may still send what it has printed
_OPTIONS = (*PYTHON, "-s", "-S")
_PACKAGES = ("numpy",)  # may be imported as well as the standard library, if installed
_SECCOMP = "seccomp (Linux on x86-64 and arm64)"
_SIDES = {  # each side to close: the walls of which one is enough, and the remedy for a system without any
    "files": ({"landlock", "no opening", "own user"}, f"{_SECCOMP}, or Landlock (Linux 5.13)"),
    "changes of files": ({"seccomp", "own user"}, _SECCOMP),
    "the network": ({"seccomp", "own network"}, f"{_SECCOMP}, or the right to make a network"),
    "processes": ({"seccomp", "process limit"}, f"{_SECCOMP}, or a start as another user than root"),
    "memory": ({"memory"}, "RLIMIT_AS"),
}


class CPythonInterpreter:
    """Runs code in a process of its own. The first run starts it; a run after a loss starts another one."""

    def __init__(self, functions: Functions, limits: Limits) -> None:
        self._functions, self._limits = functions, limits
        self._worker: _Worker | None = None
        self._runs = 0

    tier: Tier = "cpython"

    @property
    def walls(self) -> frozenset[str]:
        """The names of the walls around the running process; empty if none runs."""
        return frozenset() if self._worker is None else self._worker.walls

    @property
    def process(self) -> int | None:
        """The id of the running process, or None."""
        return None if self._worker is None else self._worker.popen.pid

    def run(self, code: str) -> RunResult:
        """Run code; its own faults are part of the result.

        Raises `UnsafeSandbox` if this system cannot contain it, and any exception of a function that is not an `Error`.
        """
        if self._worker is not None and not self._worker.is_ours:
            return self._lost(PipeError("it works for the process that this one was forked from"), 0.0)
        if self._worker is not None and self._worker.pipe.has_more():
            return self._lost(PipeClosed("it wrote where it may not, after its last run"), 0.0)
        if self._worker is None:
            self._worker = _Worker(self._functions, self._limits)
        self._runs += 1
        worker, begun = self._worker, time.monotonic()
        deadline = begun + self._limits.seconds
        try:
            worker.go_on()
            worker.pipe.send({"run": self._runs, "code": _sound(code)}, deadline)
            ended = self._served(worker.pipe, deadline)
            # Nothing that the code left behind runs before the next run.
            worker.pause()
            return self._ran(ended, time.monotonic() - begun)
        except (PipeError, DeadlinePassed) as fault:
            return self._lost(fault, time.monotonic() - begun)
        except BaseException:
            # A bug in a function, or an interrupt: the code must not go on.
            self.close()
            raise

    def close(self) -> None:
        """End the process and its state. Closing twice does no harm."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()

    def _served(self, pipe: Pipe, deadline: float) -> Mapping[str, JsonValue]:
        """Answer the code's calls until it ends. Raises `PipeError`, `DeadlinePassed`."""
        calls = 0
        while True:
            message = pipe.receive(deadline)
            if "call" not in message:
                if message.get("ended") != self._runs:
                    raise PipeError("it answered for another run")
                return message
            calls += 1
            pipe.send(self._answer(message, calls), deadline)

    def _answer(self, message: Mapping[str, JsonValue], calls: int) -> Mapping[str, JsonValue]:
        name, positional, named = message["call"], message.get("positional"), message.get("named")
        if not isinstance(name, str) or not isinstance(positional, list) or not isinstance(named, dict):
            raise PipeError("it made a call in an unknown form")
        if name not in self._functions:
            raise PipeError("it called a function that it was not given")
        if calls > self._limits.calls:
            return {"error": f"this run has made {self._limits.calls} calls, and may make no more"}
        try:
            return {"value": serve(self._functions, name, positional, named)}
        except Error as error:
            return {"error": str(error)}

    def _ran(self, ended: Mapping[str, JsonValue], seconds: float) -> RunResult:
        """Return the result of a run, cut to the limits again. Raises `PipeError` for a message of another form."""
        # The code may have broken out of its interpreter and written the message itself.
        text, left_out, error, missing = (ended.get(name) for name in ("printed", "left_out", "error", "missing"))
        if not isinstance(text, str) or not isinstance(left_out, int):
            raise PipeError("it answered in an unknown form")
        printed = Printout(self._limits.output_characters + _MARK)
        printed.add(_sound(text))
        excerpt = printed.excerpt()
        ran = RunResult(
            printed=excerpt.text,
            error=_sound(error)[:_ERROR_CHARACTERS] if isinstance(error, str) else None,
            missing=_sound(missing)[:_MARK] if isinstance(missing, str) else None,
            left_out=min(max(left_out, 0), sys.maxsize) + excerpt.left_out,
            seconds=seconds,
        )
        if not ended.get("full"):
            return ran
        self.close()
        return replace(ran, error=f"{ran.error or 'MemoryError'}; {_LOST}", is_lost=True)

    def _lost(self, fault: PipeError | DeadlinePassed, seconds: float) -> RunResult:
        """End the process, and return the result of a run that it did not survive."""
        assert self._worker is not None
        printed, left_out = "", 0
        if isinstance(fault, DeadlinePassed):
            error = f"TimeoutError: the code took longer than {self._limits.seconds:g} s and was stopped; {_LOST}"
            # Interrupted, most code still yields, and what it printed shows the model how far it came.
            self._worker.popen.send_signal(signal.SIGINT)
            printed, left_out = "", 0
            with suppress(PipeError, DeadlinePassed):
                ran = self._ran(self._worker.pipe.receive(time.monotonic() + _GRACE), 0.0)
                printed, left_out = ran.printed, ran.left_out
        else:
            error = f"the interpreter broke: {self._worker.cause(fault)}; {_LOST}"
        self.close()
        return RunResult(printed, error, is_lost=True, left_out=left_out, seconds=seconds)


class _Worker(Worker):
    """The process that runs the code, and its walls."""

    def __init__(self, functions: Functions, limits: Limits) -> None:
        """Start it and wait until it has locked itself down. Raises `UnsafeSandbox` if that is not enough."""
        if not sys.platform.startswith("linux"):
            raise UnsafeSandbox(_refusal("this system cannot sandbox CPython: it needs Linux"))
        settings = {
            "memory": limits.memory_mb << 20,
            "characters": limits.output_characters,
            "functions": list(functions),
            "packages": {
                name: str(Path(spec.origin).parent)
                for name in _PACKAGES
                if (spec := find_spec(name)) is not None and spec.origin is not None
            },
        }
        longest = max(_LONGEST, 12 * (limits.output_characters + 2 * _ERROR_CHARACTERS))
        try:
            super().__init__([sys.executable, *_OPTIONS, str(_PROGRAM), json.dumps(settings)], longest=longest)
            self.walls = self.ready(_START)
        except (OSError, NotReady) as error:
            fault = _refusal(f"The process that would run the code did not start ({error})")
            raise UnsafeSandbox(fault, paths=[Path(sys.executable)]) from error
        if refusal := missing_walls(self.walls):
            self.end()
            raise UnsafeSandbox(_refusal(refusal))


def missing_walls(names: Collection[str]) -> str | None:
    """Return an error about what code inside these walls could still reach, with remedies, or None."""
    open_sides = [f"{side}: {remedy}" for side, (walls, remedy) in _SIDES.items() if not walls & set(names)]
    return f"Nothing here keeps a model's code from {'; '.join(open_sides)}" if open_sides else None


def _refusal(reason: str) -> str:
    return f"{reason}. The first tier runs everywhere: pip install 'orienteer[sandbox]' and choose the tier monty."


def _sound(text: str) -> str:
    """Return a text that can be encoded: code may print lone surrogates, which become question marks."""
    return text.encode(errors="replace").decode()
