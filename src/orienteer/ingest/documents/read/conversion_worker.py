"""A PDF -> its blocks as JSON, in a process of its own.

A third-party PDF may exhaust memory or time, crash the process, or exploit a fault of the library. So the process
loads the library, then gives up all other rights (`sandbox.confinement`): it can only open files of its libraries, and
cannot write, use the network or start processes. It gets each PDF as bytes. Output of the library is discarded.
`converter` starts the process, waits for it and ends it.

Its last argument is the number of the pipe that closes with its parent. It first sends {"ready"} with its restrictions,
or {"extra"} with the extra to install. A request is several messages: the bounds, the bytes in parts, an empty message.
The answers are {"begins"} with the number of each page, then {"title", "blocks", "notes", "heads"} or {"error"}. To
{"draw"} in place of the bounds they are {"pages", "boxes"} and a PNG, or {"error"}.
"""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from orienteer.errors import BadInput
from orienteer.ingest.documents.read.blocks import Page
from orienteer.sandbox import confinement, frames, readable_files

if TYPE_CHECKING:
    from orienteer.ingest.documents.read.pdf import Bounds

LONGEST = 256 << 20
"""Bytes of an answer."""
MOST_MEMORY = 4 << 30
"""Bytes of memory that the process may use, if the system can enforce it."""
_READER = "orienteer.ingest.documents.read.pdf"

Read: TypeAlias = "Callable[[bytes, Bounds, Callable[[int], None]], Page]"


def main(read: Read | None = None) -> None:
    """Answer requests until the pipe closes; `read` replaces the reader."""
    requests, answers = frames.take_streams()
    lifeline = int(sys.argv[1])
    confinement.end_with(lifeline)
    try:
        reader = import_module(_READER)
    except ImportError:
        frames.send(answers, json.dumps({"extra": "docs"}).encode())
        return
    frames.send(answers, json.dumps({"ready": _shut(lifeline)}).encode())

    def begin(page: int) -> None:
        frames.send(answers, json.dumps({"begins": page}).encode())

    while (request := frames.receive(requests)) is not None:
        data, asked = _received(requests), json.loads(request)
        if "draw" in asked:
            for message in _guarded(partial(reader.draw_page, data, **asked["draw"])):
                frames.send(answers, message)
            continue
        frames.send(answers, _answer(read or reader.read_pdf, data, reader.Bounds(**asked), begin))


def _received(requests: BinaryIO) -> bytes:
    """Return the bytes of a file, received in parts."""
    stream = BytesIO()
    while part := frames.receive(requests):
        stream.write(part)
    return stream.getvalue()


def _answer(read: Read, data: bytes, bounds: Bounds, begin: Callable[[int], None]) -> bytes:
    def told() -> list[bytes]:
        page = read(data, bounds, begin)
        content = {"title": page.title, "blocks": page.blocks, "notes": page.notes, "heads": page.heads}
        return [json.dumps(content, ensure_ascii=False, default=_fields).encode(errors="replace")]

    [message] = _guarded(told)
    return message if len(message) <= LONGEST else _refusal(f"gives more than {LONGEST >> 20} MB as text: split it")


def _guarded(work: Callable[[], list[bytes]]) -> list[bytes]:
    """Return the messages of some work, or the refusal of a file that it cannot be done with."""
    try:
        return work()
    except MemoryError:
        return [_refusal("takes too much memory")]
    except BadInput as error:
        return [_refusal(str(error))]
    except RecursionError:
        return [_refusal("nests too deeply: save it again")]
    except Exception as error:  # noqa: BLE001  # a broken file may make the library raise anything
        reason = " ".join(str(error).split())[:200]
        return [_refusal(f"cannot be read ({type(error).__name__}{': ' if reason else ''}{reason}): save it again")]


def _fields(record: Any) -> dict[str, Any]:  # Any: a block, or its place
    return {name: getattr(record, name) for name in record.__slots__}


def _refusal(error: str) -> bytes:
    return json.dumps({"error": error}).encode()


def _shut(lifeline: int) -> list[str]:
    """Give up every right that reading does not need; return the restrictions in force, by name."""
    library, folders = Path(os.__file__).parent, list(_folders())
    left = (*readable_files.of_python(), *(rule for folder in folders for rule in readable_files.of_package(folder)))
    confined = confinement.shut(memory=MOST_MEMORY, left=left, probes=[library, *folders])
    if confined["landlock"]:  # an import of anything else fails as missing, not as forbidden
        sys.path[:] = [str(library), str(library / readable_files.COMPILED)]
    program = confinement.filter_program(opens=True, lifeline=lifeline, more=confinement.TIMER)
    confined["seccomp"] = confinement.enforce(program)
    return [name for name, holds in confined.items() if holds]


def _folders() -> Iterator[Path]:
    """Yield the folders of all loaded packages, which load more modules and data on demand."""
    library = Path(os.__file__).parent
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if "." in name or file is None or not hasattr(module, "__path__"):
            continue
        folder = Path(file).parent
        if folder.parent != library:
            yield folder
    for place in {Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")}:
        yield from place.glob("*.libs")  # shared libraries of wheels, named after the distribution


if __name__ == "__main__":
    main()
