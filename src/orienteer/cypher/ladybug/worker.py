"""The engine's process: it answers statements, can write nowhere, and ends with its parent.

It runs as a script with two arguments: the database's file, and the number of its end of the lifeline. Requests come on
standard input and answers go to standard output, each as four bytes of length and JSON. It imports two files of the
package, so that it starts fast and offers little to misuse.

Its walls: the guard lets only reading statements through; RLIMIT_FSIZE forbids every write; RLIMIT_AS bounds memory;
Landlock (Linux 5.13 and later) refuses every file except the database, for reading, and every connection (6.7). See
`sandbox.confinement`. Windows has none of the last three; macOS has no Landlock, and memory is not bounded there.
"""

from __future__ import annotations

import json
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orienteer.sandbox import confinement, frames
else:  # loaded as single files: the package takes long to import
    sys.path.insert(0, str(Path(__file__).parents[2] / "sandbox"))
    import confinement
    import frames

    del sys.path[0]

_POOL = 256 << 20  # bytes: with 40 million edges, one to three hops took as long as with 2 GB
_SMALLEST_POOL = 32 << 20  # bytes: the engine's buffer for the empty database that warms it up
_MEMORY = 2 << 30  # bytes beyond those that are reserved at the start
_SMALLEST_RESERVED = 1 << 30  # bytes of address space for a database


def main() -> None:
    """Answer requests until there are no more."""
    file = Path(sys.argv[1])
    confinement.end_with(int(sys.argv[2]))
    requests, answers = frames.take_streams()
    import ladybug

    _warm(ladybug)
    walls = {"file size": confinement.limit_writing()}
    left = (file.parent, confinement.READ_FILE | confinement.READ_FOLDER), (Path("/proc"), confinement.READ_FILE)
    walls["landlock"] = confinement.keep_files(left)
    reserved = max(_SMALLEST_RESERVED, 1 << (file.stat().st_size * 2).bit_length())
    database = ladybug.Database(
        str(file), read_only=True, buffer_pool_size=_POOL, max_db_size=reserved, max_num_threads=1
    )
    connection = ladybug.Connection(database)
    walls["memory"] = confinement.limit_memory(_MEMORY, begun=2 * reserved + 2 * _POOL)
    frames.send(answers, _encode({"ready": sorted(name for name, holds in walls.items() if holds)}).encode())
    while (request := frames.receive(requests)) is not None:
        frames.send(answers, _answered(connection, json.loads(request)).encode("utf-8", "surrogatepass"))


def _warm(ladybug: Any) -> None:  # Any: the engine has no types
    """Have the engine load all its parts, while files can still be opened."""
    database = ladybug.Database(":memory:", buffer_pool_size=_SMALLEST_POOL, max_db_size=_SMALLEST_RESERVED)
    connection = ladybug.Connection(database)
    connection.execute("RETURN $a, date('2001-12-31'), cast(1, 'DECIMAL')", {"a": ["x"]}).get_next()
    connection.close()
    database.close()


def _answered(connection: Any, request: dict[str, Any]) -> str:  # Any: the engine has no types; JSON
    try:
        connection.set_query_timeout(int(request["seconds"] * 1000))  # each time: a statement might have changed it
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
    """Return a row as JSON; infinity and NaN, which JSON lacks, become texts."""
    row = _encode(values)
    return _encode(_finite(values)) if "Infinity" in row or "NaN" in row else row


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and value - value != 0 else value


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold for one that it cannot: numbers for decimals, texts for dates and the rest."""
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    return value.isoformat() if isinstance(value, date) else str(value)


_encode = json.JSONEncoder(ensure_ascii=False, default=_plain).encode


if __name__ == "__main__":
    main()
