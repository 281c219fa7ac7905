"""The second tier's own process: it locks itself down, then runs code, and keeps its state from run to run.

Run as a script with two arguments: what to hold to as JSON (memory, output, functions, what may be imported), and the
number of the pipe that ends with its parent. Requests come on standard input and answers go to standard output, each as
four bytes of length and JSON. It imports nothing of the package. Code that runs here can take this program apart and
say whatever it likes on its pipe: nothing here is a wall, `confining` is, and the parent believes nothing.
"""

from __future__ import annotations

import builtins
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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from orienteer.sandbox import confinement, frames, readable_files
    from orienteer.sandbox.printout import Printed
else:
    sys.path.insert(0, str(Path(__file__).parent))
    import confinement
    import frames
    import readable_files
    from printout import Printed

    del sys.path[0]

_DESCRIPTORS = 64
_PROCESSOR_SECONDS = 3_600  # of all runs together: the last bound, where nobody is left to watch
_ROOM = 4 << 20  # bytes, without which nothing can be run
_FRAMES = 6  # of the code, that an error shows
_LINE_CHARACTERS = 160
_ERROR_CHARACTERS = 2_000  # of what an error says
_LOADED = (  # what there is where no file may be opened at all, because nothing else would keep code from any
    *("ast", "base64", "bisect", "calendar", "cmath", "collections.abc", "contextlib", "copy", "csv", "dataclasses"),
    *("datetime", "decimal", "difflib", "enum", "fractions", "functools", "graphlib", "hashlib", "heapq", "html"),
    *("itertools", "json", "math", "operator", "pprint", "random", "re", "statistics", "string", "textwrap", "time"),
    *("types", "typing", "unicodedata", "uuid", "warnings"),
)


def main() -> None:
    """Answer requests until there are no more."""
    told: dict[str, Any] = json.loads(sys.argv[1])  # Any: JSON
    lifeline = int(sys.argv[2])
    requests, answers = frames.take_streams()
    packages = {name: Path(folder) for name, folder in told["packages"].items()}
    sys.meta_path.append(_Packages(packages))
    sys.argv = [""]
    random.seed(0)  # what code draws at random it draws again when a trajectory is replayed
    _send(answers, {"ready": _locked_down(told["memory"], lifeline, packages)})
    session = Session(requests, answers, told["functions"], told["characters"])
    while (request := _receive(requests)) is not None:
        session.run(request["run"], request["code"])
    os._exit(0)  # what the code has registered for the end does not run


def _locked_down(memory: int, lifeline: int, packages: Mapping[str, Path]) -> list[str]:
    """Give up what code must not have; return what is held, by name."""
    held = confinement.shut(memory=memory, left=_readable(packages), probes=[Path(os.__file__).parent])
    confinement.limit_use(_PROCESSOR_SECONDS, _DESCRIPTORS)
    if not held["landlock"]:
        _load((*_LOADED, *packages))
        sys.path.clear()  # what is not loaded is not there
    held["seccomp"] = confinement.filter_calls(opens=held["landlock"], lifeline=lifeline)
    held["no opening"] = held["seccomp"] and not held["landlock"]
    return [name for name, holds in held.items() if holds]


def _load(modules: Iterable[str]) -> None:
    """Import what code may want, while files can be opened."""
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError:  # this Python is without it, or it was built for another
            continue


def _readable(packages: Mapping[str, Path]) -> Iterator[tuple[Path, int]]:
    """Yield what importing needs: the standard library, and some packages."""
    yield from readable_files.of_python()
    for folder in packages.values():
        yield from readable_files.of_package(folder)


class _Packages(importlib.abc.MetaPathFinder):
    """Finds the packages beside the standard library that code may import, by their folders."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = folders

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return where a package is; None for all others."""
        folder = self._folders.get(name)
        if folder is None:
            return None
        places = [str(folder)]
        return importlib.util.spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=places)


# ----------------------------------------------------------------------------------------------------------------- runs


class Session:
    """Code that is run piece by piece, in one namespace."""

    def __init__(self, requests: BinaryIO, answers: BinaryIO, functions: Sequence[str], characters: int) -> None:
        self._requests, self._answers, self._characters = requests, answers, characters
        self._names: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins}  # Any: the code's own
        self._names.update({name: self._calling(name) for name in functions})

    def run(self, number: int, code: str) -> None:
        """Run code and send what it printed and died of."""
        printed = Printed(self._characters)
        source = f"<code {number}>"
        linecache.cache[source] = (len(code), None, code.splitlines(keepends=True), source)
        before = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = _Stream(printed)
        try:
            error, missing = self._died_of(code, source)
        finally:
            sys.stdout, sys.stderr = before
        said = printed.kept()
        ended = {"ended": number, "printed": said.text, "left_out": said.left_out, "error": error, "missing": missing}
        _send(self._answers, {**ended, "full": _is_full()})

    def _died_of(self, code: str, source: str) -> tuple[str | None, str | None]:
        """Return the error that code ended with, and what it lacked."""
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # the parent's last word before it kills
            exec(compile(code, source, "exec", dont_inherit=True), self._names)
        except SystemExit as error:
            return (None, None) if error.code in (None, 0) else (f"SystemExit: {error.code!r}"[:200], None)
        except ModuleNotFoundError as error:
            return _told(error, source), f"module {str(error.name)[:100]}"
        except BaseException as error:  # noqa: BLE001  # whatever the code raises is the code's, and told to its author
            return _told(error, source), None
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        return None, None

    def _calling(self, name: str) -> Callable[..., Any]:  # Any: JSON
        """Return a function of the code's that has the parent call the real one."""

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


def _is_full() -> bool:
    """Tell whether what the code keeps leaves no memory to run more."""
    try:
        bytearray(_ROOM)
    except MemoryError:
        return True
    return False


class _Stream(io.TextIOBase):
    """Standard output, and standard error, of the code."""

    def __init__(self, kept: Printed) -> None:
        self._kept = kept

    def writable(self) -> bool:
        """Say that it can be written to."""
        return True

    def write(self, text: str) -> int:
        """Keep of a text what there is room for."""
        self._kept.add(text)
        return len(text)


def _told(error: BaseException, current: str) -> str:
    """Return an error with the lines of code that led to it, the outermost first, as the first tier does."""
    try:
        found = traceback.TracebackException.from_exception(error)
        lines = [_line(one, current) for one in found.stack if one.filename.startswith("<code ")]
        if len(lines) > _FRAMES:
            half = _FRAMES // 2
            lines = [*lines[:half], f"... {len(lines) - _FRAMES} more ...", *lines[-half:]]
        if isinstance(error, SyntaxError) and error.filename == current:
            lines.append(f"line {error.lineno}: {str(error.text).strip()[:_LINE_CHARACTERS]}")
            said = f"{type(error).__name__}: {error.msg}"
        else:
            said = "".join(found.format_exception_only()).rstrip()
    except (MemoryError, RecursionError):
        return type(error).__name__
    return "\n".join([*lines, said if len(said) <= _ERROR_CHARACTERS else f"{said[:_ERROR_CHARACTERS]} ..."])


def _line(frame: traceback.FrameSummary, current: str) -> str:
    earlier = "" if frame.filename == current else " of earlier code"
    within = "" if frame.name == "<module>" else f", in {frame.name}"
    source = f": {frame.line[:_LINE_CHARACTERS]}" if frame.line else ""
    return f"line {frame.lineno}{earlier}{within}{source}"


# ---------------------------------------------------------------------------------------------------------------- pipes


def _plain(value: Any) -> Any:  # Any: what code gives
    """Return what JSON knows for what it does not: numbers of numpy, sets."""
    if isinstance(value, set | frozenset):
        return list(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} is no argument: only None, booleans, numbers, text, lists and dicts are")


def _send(stream: BinaryIO, content: Mapping[str, Any]) -> None:  # Any: JSON
    frames.send(stream, json.dumps(content, default=_plain).encode())


def _receive(stream: BinaryIO) -> dict[str, Any] | None:  # Any: JSON
    data = frames.receive(stream)
    if data is None:
        return None
    content: dict[str, Any] = json.loads(data)  # Any: JSON
    return content


if __name__ == "__main__":
    main()
