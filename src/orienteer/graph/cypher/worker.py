"""The engine's own process: it answers statements, can write nowhere, and ends with whoever started it.

Run as a script, with the database's file. Requests come on standard input and answers go to standard output, each as
four bytes of length and JSON. It imports nothing of the package, so that it starts fast and has little to misuse.

What holds it: the guard before it lets reading statements through only; here RLIMIT_FSIZE forbids every byte written,
RLIMIT_AS bounds memory, and Landlock (Linux 5.13 and later) refuses every file but the database, for reading, and every
connection (6.7). On Windows there are none of these; on macOS no Landlock, and memory is not bounded.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import struct
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO

_POOL = 256 << 20  # bytes: one to three hops took the same on 40 million edges as with 2 GB
_SMALLEST_POOL = 32 << 20
_MEMORY = 2 << 30  # bytes beyond what is reserved at the start
_SMALLEST_RESERVED = 1 << 30
_RULESET, _ADD_RULE, _RESTRICT = 444, 445, 446  # the system calls of Landlock, the same on all processors
_NO_NEW_PRIVILEGES = 38
_READ_FILE, _READ_FOLDER = 1 << 2, 1 << 3


def main() -> None:
    """Answer requests until there are no more."""
    file = Path(sys.argv[1])
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # whatever the engine prints must not stand between answers
        os.dup2(nothing, stream)
    import ladybug

    _warm(ladybug)
    _forbid_writing()
    _forbid_files(file.parent)
    reserved = max(_SMALLEST_RESERVED, 1 << (file.stat().st_size * 2).bit_length())
    database = ladybug.Database(
        str(file), read_only=True, buffer_pool_size=_POOL, max_db_size=reserved, max_num_threads=1
    )
    connection = ladybug.Connection(database)
    _bound_memory(reserved)
    _send(answers, _encode({"ready": sorted(_held)}))
    while (request := _receive(requests)) is not None:
        _send(answers, _answered(connection, request))


_held: set[str] = set()


def _warm(ladybug: Any) -> None:  # Any: the engine has no types
    """Have the engine load all its parts, while files can still be opened."""
    database = ladybug.Database(":memory:", buffer_pool_size=_SMALLEST_POOL, max_db_size=_SMALLEST_RESERVED)
    connection = ladybug.Connection(database)
    connection.execute("RETURN $a, date('2001-12-31'), cast(1, 'DECIMAL')", {"a": ["x"]}).get_next()
    connection.close()
    database.close()


def _answered(connection: Any, request: dict[str, Any]) -> str:  # Any: the engine has no types; JSON
    try:
        connection.set_query_timeout(int(request["seconds"] * 1000))  # set anew: a statement might have changed it
        result = connection.execute(request["text"], request["parameters"])
        if isinstance(result, list):
            return _encode({"error": "more than one statement"})
        rows: list[str] = []
        left, limit, fetch = request["characters"], request["rows"], result.get_next
        for _ in range(min(limit, result.get_num_tuples())):
            row = _row(fetch())
            left -= len(row)
            if left < 0:
                break
            rows.append(row)
        total = result.get_num_tuples()
        result.close()
        return f'{{"total": {total}, "rows": [{",".join(rows)}]}}'
    except (RuntimeError, ValueError, TypeError, OverflowError) as error:
        return _encode({"error": str(error)})
    except MemoryError:
        return _encode({"error": "out of memory"})


def _row(values: list[Any]) -> str:
    """Return a row as JSON, which knows no infinity."""
    row = _encode(values)
    return _encode(_finite(values)) if "Infinity" in row or "NaN" in row else row


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return str(value) if isinstance(value, float) and value - value != 0 else value


def _plain(value: Any) -> Any:
    """Return what JSON knows for what it does not."""
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    return value.isoformat() if isinstance(value, date) else str(value)


_encode = json.JSONEncoder(ensure_ascii=False, default=_plain).encode


def _receive(stream: BinaryIO) -> dict[str, Any] | None:
    head = stream.read(4)
    if len(head) < 4:
        return None
    content: dict[str, Any] = json.loads(stream.read(struct.unpack("!I", head)[0]))
    return content


def _send(stream: BinaryIO, content: str) -> None:
    data = content.encode("utf-8", "surrogatepass")
    stream.write(struct.pack("!I", len(data)) + data)
    stream.flush()


# ----------------------------------------------------------------------------------------------------------- limits


def _forbid_writing() -> None:
    if sys.platform == "win32":
        return
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write then fails, in place of ending the process
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _held.add("file size")


def _bound_memory(reserved: int) -> None:
    if sys.platform == "win32":
        return
    import resource

    statistics = Path("/proc/self/statm")
    if statistics.exists():
        begun = int(statistics.read_text().split()[0]) * resource.getpagesize()
    else:
        begun = 2 * reserved + 2 * _POOL
    try:
        resource.setrlimit(resource.RLIMIT_AS, (begun + _MEMORY, begun + _MEMORY))
        _held.add("memory")
    except (ValueError, OSError):  # a system that knows the limit and refuses to set it
        return


def _forbid_files(folder: Path) -> None:
    """Leave this process, and all threads it will start, the files of one folder for reading, and nothing else."""
    if not sys.platform.startswith("linux"):
        return
    system = ctypes.CDLL(None, use_errno=True)
    version = system.syscall(_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if version < 1:
        return
    actions = (1 << (13 if version == 1 else 14 if version == 2 else 15)) - 1
    connections = 3 if version >= 4 else 0
    ruleset = struct.pack("=QQ", actions, connections) if version >= 4 else struct.pack("=Q", actions)
    rules = system.syscall(_RULESET, ruleset, ctypes.c_size_t(len(ruleset)), ctypes.c_uint32(0))
    if rules < 0:
        return
    for place, allowed in ((folder, _READ_FILE | _READ_FOLDER), (Path("/proc"), _READ_FILE)):
        beneath = os.open(place, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", allowed, beneath)
        system.syscall(_ADD_RULE, rules, ctypes.c_int(1), rule, ctypes.c_uint32(0))
        os.close(beneath)
    system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if system.syscall(_RESTRICT, rules, ctypes.c_uint32(0)) == 0:
        _held.add("landlock")
    os.close(rules)


if __name__ == "__main__":
    main()
