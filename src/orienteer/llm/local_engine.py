"""llama.cpp's server in a process of its own, for a model in a file.

The engine is a large program in C++, and the file may be anyone's: what it does to the engine it does not do to the
process that asks, nor do two libraries that cannot stand beside each other in one. `local` starts it, and it ends when
that process does. Its argument is the number of the pipe that ends with its parent. It says {"ready"}; a request is the
engine's settings, the answer {"address"} or {"error"}.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from orienteer.sandbox import confinement, frames


def main() -> None:
    """Start the engine that is asked for, and wait until nobody needs it any more."""
    requests, answers = frames.take_streams()
    confinement.end_with(int(sys.argv[1]))
    frames.send(answers, json.dumps({"ready": []}).encode())
    asked = frames.receive(requests)
    if asked is None:
        return
    answer, server = _started(json.loads(asked))
    frames.send(answers, json.dumps(answer).encode())
    while server is not None and frames.receive(requests) is not None:
        pass


def _started(asked: dict[str, Any]) -> tuple[dict[str, str], Any]:  # Any: JSON; xllamacpp has no types
    """Return what to answer, and the server, which lives as long as somebody holds it."""
    import xllamacpp

    wanted = xllamacpp.CommonParams()
    wanted.model.path, wanted.model_alias = asked["path"], {asked["alias"]}
    wanted.n_ctx, wanted.n_parallel, wanted.n_predict = asked["context_tokens"], 1, asked["longest_reply"]
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = asked["threads"]
    wanted.hostnames, wanted.port, wanted.api_keys = ["127.0.0.1"], 0, [asked["key"]]
    wanted.use_jinja, wanted.ui, wanted.endpoint_slots, wanted.endpoint_props = True, False, False, True
    wanted.verbosity = -1
    try:
        server = xllamacpp.Server(wanted)
    except RuntimeError as error:
        return {"error": str(error)}, None
    return {"address": str(server.listening_address)}, server


if __name__ == "__main__":
    main()
