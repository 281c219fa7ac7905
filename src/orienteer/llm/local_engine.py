"""llama.cpp's server in a process of its own, for a model in a file.

The engine is a large program in C++, and the file is not trusted: in its own process it cannot harm ours. `local`
starts it, and it ends with that process. Its argument is the number of the pipe that ends with its parent. It sends
{"ready"}; a request is the engine's settings, the answer {"address"} or {"error"}.

Once the library is loaded, and before the file is opened, the process gives up what it can (`sandbox.confinement`): all
files but the model's and those about the processor, all writing, other programs, and outgoing connections. Its memory
is bounded by the machine's.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orienteer.sandbox import confinement, frames, readable_files

_ABOUT_PROCESSORS = ("/proc/cpuinfo", "/sys/devices/system/cpu")
_PART = re.compile(r"(.*)-\d{5}-of-(\d{5})\.gguf", re.DOTALL)  # as llama.cpp names the parts of a model


def main() -> None:
    """Start the requested engine, and wait until its parent ends."""
    requests, answers = frames.take_streams()
    lifeline = int(sys.argv[1])
    confinement.end_with(lifeline)
    frames.send(answers, json.dumps({"ready": []}).encode())
    asked = frames.receive(requests)
    if asked is None:
        return
    answer, server = _started(json.loads(asked), lifeline)
    frames.send(answers, json.dumps(answer).encode())
    while server is not None and frames.receive(requests) is not None:
        pass


def _started(asked: dict[str, Any], lifeline: int) -> tuple[dict[str, str], Any]:  # Any: JSON; xllamacpp has no types
    """Return the answer, and the server, which runs as long as it is referenced."""
    import xllamacpp

    _shut(Path(asked["path"]), lifeline)
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


def _shut(model: Path, lifeline: int) -> None:
    """Give up all rights that running a model does not need, as far as the system allows."""
    files = list(_parts(model))
    if sys.platform.startswith("linux"):  # macOS counts memory that no process uses
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        confinement.limit_memory(memory + sum(file.stat().st_size for file in files))
    confinement.limit_writing()
    left = [(file, readable_files.FILE) for file in files]
    left += [(Path(place), readable_files.FOLDER) for place in _ABOUT_PROCESSORS]
    confinement.keep_files([*left, *readable_files.of_system()], listens=True)
    confinement.enforce(confinement.server_program(lifeline=lifeline))


def _parts(model: Path) -> Iterator[Path]:
    """Yield the files of a model, which may have several parts."""
    named = _PART.fullmatch(model.name)
    if named is None:
        yield model
        return
    for file in model.parent.iterdir():
        part = _PART.fullmatch(file.name)
        if part is not None and part.groups() == named.groups():
            yield file


if __name__ == "__main__":
    main()
