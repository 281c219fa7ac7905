"""A process that answers statements over one graph, behind walls: it can write nowhere and reach nothing.

It runs as a script with three arguments: the graph's path, its generation, and the number of its end of the lifeline.
Requests come on standard input and answers go to standard output, each as four bytes of length and JSON.

Its walls: the guard lets only reading statements through, and a budget bounds each of them; RLIMIT_FSIZE forbids every
write; RLIMIT_AS bounds memory; Landlock (Linux 5.13 and later) refuses every connection (6.7), and every file but
Python's own and those of time zones, since the graph is mapped by then. See `sandbox.confinement`. Windows has none of
the last three; macOS has no Landlock, and memory is not bounded there.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from orienteer.cypher.algebra.engine import Arrays
from orienteer.cypher.names import Bounds, QueryTable, View
from orienteer.cypher.parser import parse
from orienteer.cypher.proof import laid_statement
from orienteer.cypher.syntax import Laid
from orienteer.errors import Error
from orienteer.graph.store import Graph
from orienteer.sandbox import confinement, frames

_MEMORY = 2 << 30  # bytes beyond the mapped graph


def main() -> None:
    """Answer requests until there are no more."""
    confinement.end_with(int(sys.argv[3]))
    requests, answers = frames.take_streams()
    graph = Graph.open(sys.argv[1])
    if graph.arrays.generation != sys.argv[2]:
        # The graph was published again: the parent has the old one mapped, and answers by itself.
        frames.send(answers, b'{"extra": "generation"}')
        return
    engine = Arrays(graph)
    for model in (View, QueryTable):  # the first use of a model loads modules, and its checks are built once
        model.model_rebuild()
    walls = {"file size": confinement.limit_writing()}
    # numpy loads some of its modules at their first use.
    own = [
        (Path(folder), confinement.READ_FILE | confinement.READ_FOLDER) for folder in sys.path if Path(folder).is_dir()
    ]
    if (zones := Path("/usr/share/zoneinfo")).is_dir():
        own.append((zones, confinement.READ_FILE | confinement.READ_FOLDER))
    walls["landlock"] = confinement.keep_files([(Path("/proc"), confinement.READ_FILE), *own])
    walls["memory"] = confinement.limit_memory(_MEMORY)
    frames.send(answers, json.dumps({"ready": sorted(name for name, holds in walls.items() if holds)}).encode())
    while (request := frames.receive(requests)) is not None:
        answer = json.dumps(_answered(engine, json.loads(request)), ensure_ascii=False)
        frames.send(answers, answer.encode("utf-8", "surrogatepass"))


def _answered(engine: Arrays, request: dict[str, Any]) -> dict[str, Any]:  # Any: JSON
    """Return the answer to a request, or the error by its class."""
    view = None if request["view"] is None else View.model_validate(request["view"])
    try:
        statement = parse(request["text"], view)
        if request["laid"] is not None:
            statement = laid_statement(statement, Laid(*request["laid"]))
        bounds = Bounds(request["rows"], request["characters"], request["seconds"])
        return engine.answer(statement, request["parameters"], bounds).model_dump()
    except Error as error:
        return {"error": type(error).__name__, "message": str(error), "near": list(getattr(error, "near", ()))}
    except MemoryError:
        return {"error": "QueryStopped", "message": "the query needs more memory than it may have: ask for less"}


if __name__ == "__main__":
    main()
