"""The second tier's process: it locks itself down, then runs code, and keeps its state from run to run.

It runs as a script with two arguments: its settings as JSON (memory, output, functions, packages), and the number of
its end of the lifeline. Requests arrive on standard input and answers go to standard output, each as four bytes of
length and JSON. It imports nothing of the package. The code can take this program apart and write anything to its pipe:
this file is not a wall, `confinement` is, and the parent trusts nothing that it reads.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import json
import linecache
import os
import random
import signal
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from orienteer.sandbox import confinement, frames, readable_files
    from orienteer.sandbox.printout import Printout, error_text, trace_line
else:
    sys.path.insert(0, str(Path(__file__).parent))
    import confinement
    import frames
    import readable_files
    from printout import Printout, error_text, trace_line

    del sys.path[0]

_DESCRIPTORS = 64  # open at once: a few for the pipes and for imports
_PROCESSOR_SECONDS = 3_600  # of all runs together: the last bound, should nobody be left to watch
_ROOM = 4 << 20  # bytes: with less, nothing can be run
_LOADED = (  # modules for a system without Landlock: no file can be opened there later, so nothing can be imported
    *("ast", "base64", "bisect", "calendar", "cmath", "collections.abc", "contextlib", "copy", "csv", "dataclasses"),
    *("datetime", "decimal", "difflib", "enum", "fractions", "functools", "graphlib", "hashlib", "heapq", "html"),
    *("itertools", "json", "math", "operator", "pprint", "random", "re", "statistics", "string", "textwrap", "time"),
    *("types", "typing", "unicodedata", "uuid", "warnings"),
)


def main() -> None:
    """Answer requests until there are no more."""
    settings: dict[str, Any] = json.loads(sys.argv[1])  # Any: JSON
    lifeline = int(sys.argv[2])
    requests, answers = frames.take_streams()
    packages = {name: Path(folder) for name, folder in settings["packages"].items()}
    sys.meta_path.append(_Packages(packages))
    sys.argv = [""]
    random.seed(0)  # random numbers repeat when a trajectory is replayed
    _send(answers, {"ready": _locked_down(settings["memory"], lifeline, packages)})
    session = CodeSession(requests, answers, settings["functions"], settings["characters"])
    while (request := _receive(requests)) is not None:
        session.run(request["run"], request["code"])
    os._exit(0)  # exit handlers of the code do not run


def _locked_down(memory: int, lifeline: int, packages: Mapping[str, Path]) -> list[str]:
    """Give up what code must not have; return the names of the walls that the system enforces."""
    # Imports need the files of the standard library and of the packages.
    left = chain(readable_files.of_python(), *map(readable_files.of_package, packages.values()))
    walls = confinement.shut(memory=memory, left=left, probes=[Path(os.__file__).parent])
    confinement.limit_use(_PROCESSOR_SECONDS, _DESCRIPTORS)
    if not walls["landlock"]:
        for name in (*_LOADED, *packages):  # while files can still be opened
            # This Python lacks it, or it was built for another one.
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        sys.path.clear()  # nothing else can be imported
    walls["seccomp"] = confinement.enforce(confinement.filter_program(opens=walls["landlock"], lifeline=lifeline))
    walls["no opening"] = walls["seccomp"] and not walls["landlock"]
    return [name for name, holds in walls.items() if holds]


class _Packages(importlib.abc.MetaPathFinder):
    """Finds the packages that code may import as well as the standard library, by their folders."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = folders

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return a package's spec, or None for any other module."""
        folder = self._folders.get(name)
        if folder is None:
            return None
        return importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )


# ----------------------------------------------------------------------------------------------------------------- runs


class CodeSession:
    """Runs code piece by piece in one namespace."""

    def __init__(self, requests: BinaryIO, answers: BinaryIO, functions: Sequence[str], characters: int) -> None:
        self._requests, self._answers, self._characters = requests, answers, characters
        self._names: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins}  # Any: the code's own
        self._names.update({name: self._calling(name) for name in functions})

    def run(self, number: int, code: str) -> None:
        """Run code; send what it printed and the error that ended it."""
        printed = Printout(self._characters)
        source = f"<code {number}>"
        linecache.cache[source] = (len(code), None, code.splitlines(keepends=True), source)
        before = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = _PrintStream(printed)
        try:
            error, missing = self._run(code, source)
        finally:
            sys.stdout, sys.stderr = before
        excerpt = printed.excerpt()
        try:
            bytearray(_ROOM)
            is_full = False
        except MemoryError:
            # The code's state leaves no memory for another run.
            is_full = True
        ended = {
            "ended": number,
            "printed": excerpt.text,
            "left_out": excerpt.left_out,
            "error": error,
            "missing": missing,
            "full": is_full,
        }
        _send(self._answers, ended)

    def _run(self, code: str, source: str) -> tuple[str | None, str | None]:
        """Run code; return the error that ended it, and the module that it lacked."""
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # the parent interrupts before it kills
            exec(compile(code, source, "exec", dont_inherit=True), self._names)
        except SystemExit as error:
            return (None, None) if error.code in (None, 0) else (f"SystemExit: {error.code!r}"[:200], None)
        except ModuleNotFoundError as error:
            return _describe(error, source), f"module {str(error.name)[:100]}"
        except BaseException as error:  # noqa: BLE001  # whatever the code raises is reported to its author
            return _describe(error, source), None
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        return None, None

    def _calling(self, name: str) -> Callable[..., Any]:  # Any: JSON
        """Return a function for the code; it asks the parent to call the real one."""

        def call(*positional: Any, **named: Any) -> Any:  # Any: what code gives; JSON
            _send(self._answers, {"call": name, "positional": positional, "named": named})
            answer = _receive(self._requests)
            if answer is None:
                os._exit(0)
            if "error" in answer:
                raise RuntimeError(answer["error"]) from None
            return answer["value"]

        call.__name__ = call.__qualname__ = name
        return call


class _PrintStream(io.TextIOBase):
    """Standard output and standard error of the code."""

    def __init__(self, printed: Printout) -> None:
        self._printed = printed

    def writable(self) -> bool:
        """Return True: it can be written to."""
        return True

    def write(self, text: str) -> int:
        """Add a text to the printout."""
        self._printed.add(text)
        return len(text)


def _describe(error: BaseException, current: str) -> str:
    """Return an error with the lines of code that led to it, in the first tier's form."""
    try:
        trace = traceback.TracebackException.from_exception(error)
        lines = [
            trace_line(frame.lineno, frame.name, frame.line, is_earlier=frame.filename != current)
            for frame in trace.stack
            if frame.filename.startswith("<code ")
        ]
        if isinstance(error, SyntaxError) and error.filename == current:
            lines.append(trace_line(error.lineno, None, str(error.text), is_earlier=False))
            message = f"{type(error).__name__}: {error.msg}"
        else:
            message = "".join(trace.format_exception_only()).rstrip()
    except (MemoryError, RecursionError):
        return type(error).__name__
    return error_text(lines, message)


# ---------------------------------------------------------------------------------------------------------------- pipes


def _as_json(value: Any) -> Any:  # Any: what code gives
    """Return a set as a list, and numpy's numbers and arrays as Python's, for JSON. Raises `TypeError`."""
    if isinstance(value, set | frozenset):
        return list(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(
        f"a {type(value).__name__} cannot be an argument: only None, booleans, numbers, text, lists and dicts can"
    )


def _send(stream: BinaryIO, content: Mapping[str, Any]) -> None:  # Any: JSON
    frames.send(stream, json.dumps(content, default=_as_json).encode())


def _receive(stream: BinaryIO) -> dict[str, Any] | None:  # Any: JSON
    message = frames.receive(stream)
    if message is None:
        return None
    content: dict[str, Any] = json.loads(message)  # Any: JSON
    return content


if __name__ == "__main__":
    main()
