"""Python's pickles and torch's tensors, read by a confined process that knows a dozen names (`pickle_worker`).

A pickle is a program: its instructions may import and call anything, and a few bytes may come to any number of values.
So nothing of it is unpickled here. The process has memory and time by the size of the file; what it sends is JSON, or
the numbers of one tensor, no more than a file of that size can mean.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadInput
from orienteer.ingest.formats.files import require
from orienteer.ingest.formats.table import shown
from orienteer.records import JsonValue
from orienteer.sandbox.workers import PYTHON, DeadlinePassed, NotReady, PipeError, Worker, packages

Tensor: TypeAlias = NDArray[Any]  # Any: numbers, of the type that was saved

_PROGRAM = Path(__file__).with_name("pickle_worker.py")
_START = 60.0  # seconds
_SECONDS = (30.0, 1 << 19)  # for one answer: in any case, and bytes of the file for one more
# Characters that one byte of the file may come to: names of fields are referred to, not repeated. A real file has
# below 10.
_MOST_REPEATED = 32
_ROOM = 1 << 16  # characters that the smallest file may come to
_KINDS = ("i8", "i4", "i2", "i1", "u1", "b1", "f8", "f4", "f2")
_LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."  # how files begin that torch wrote before 1.6


def load(path: Path) -> JsonValue:
    """Return the value of a pickle as JSON. Raises `BadInput` for foreign types, and for an incomplete file."""
    with _reading(path, "value") as answer:
        value: JsonValue = answer()["value"]
        return value


def items(path: Path) -> Iterator[tuple[str, JsonValue]]:
    """Yield the members of a pickled dictionary as JSON. Raises `BadInput` as `load` does."""
    # Only the other process holds all of them in memory: here there are a few hundred at a time.
    most = path.stat().st_size if path.exists() else 0  # a member takes more bytes than one
    with _reading(path, "members") as answer:
        while members := answer()["members"]:
            most -= len(members)
            if most < 0:
                raise PipeError("it sent more members than the file has bytes")
            yield from members.items()


def tensor(path: Path) -> Tensor:
    """Return the one tensor of a file that `torch.save` wrote, as a read-only array. Raises `BadInput`."""
    require(path)
    with path.open("rb") as raw:
        if raw.read(len(_LEGACY)) == _LEGACY:
            raise BadInput(
                f"{path} was saved by torch in its old form (before 1.6), which is not read: "
                "write it again with torch.save(torch.load(path), path)"
            )
    with _reading(path, "tensor") as answer:
        head = answer()
        if head["kind"] not in _KINDS:
            raise PipeError("it sent no tensor")
        numbers = np.frombuffer(answer.bytes(), f"<{head['kind']}").reshape(head["shape"])
    numbers.flags.writeable = False
    return numbers


class _Answers:
    """The answers of one process, none trusted."""

    def __init__(self, worker: Worker, path: Path, size: int) -> None:
        self._worker, self._path, self._seconds = worker, path, _SECONDS[0] + size / _SECONDS[1]

    def __call__(self) -> Any:  # Any: JSON
        """Return the next answer. Raises `BadInput` for a file that could not be read."""
        content = self._worker.pipe.receive(time.monotonic() + self._seconds)
        if "error" in content:
            raise _refused(self._path, str(content["error"]))
        return content

    def bytes(self) -> bytearray:
        """Return the next answer as bytes."""
        return self._worker.pipe.receive_bytes(time.monotonic() + self._seconds)


@contextmanager
def _reading(path: Path, form: str) -> Iterator[_Answers]:
    """Start the process over a file, and turn whatever goes wrong there into an error that names the file."""
    require(path)
    size = path.stat().st_size
    most = _ROOM + _MOST_REPEATED * size
    command = [sys.executable, *PYTHON, str(_PROGRAM), str(path.absolute()), form, str(most)]
    # JSON may write a character in six bytes, and puts quotes and commas between values.
    try:
        worker = Worker(command, longest=8 * most, environment=packages())
    except OSError as error:
        raise BadInput(f"{path}: the process that reads pickles did not start ({error})") from error
    try:
        worker.ready(_START)
        yield _Answers(worker, path, size)
    except NotReady as fault:
        raise BadInput(f"{path}: the process that reads pickles did not start ({fault})") from fault
    except DeadlinePassed as fault:
        raise _refused(path, "it takes too long to read") from fault
    except PipeError as fault:
        raise _refused(path, f"it takes too long, or too much memory ({worker.cause(fault)})") from fault
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _refused(path, "the process answered in an unknown form") from error
    finally:
        worker.end()


def _refused(path: Path, reason: str) -> BadInput:
    return BadInput(
        f"{path} cannot be read: {shown(reason)}. Only plain values and the arrays of numpy and torch are read, and "
        "nothing of the file was run here. If it is damaged, fetch it again; if you trust it, write it again as JSON "
        "or Parquet"
    )
