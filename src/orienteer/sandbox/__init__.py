"""Runs a model's Python, which can only compute, print, and call the functions that it is given.

    tiers          the protocol: `Interpreter`, its `RunResult` and its `Limits`; the code's calls of our functions;
                   the choice of a tier; the second tier, CPython in a process that is locked down (`worker`)
    monty          first tier: pydantic-monty, another interpreter, in a worker process
    workers        how processes are started, asked and ended
    confinement    what a process gives up for good: files, network, processes, memory

What is contained, by what, and what is not: docs/explanations/sandbox.md.
"""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "confinement": (
            "CALLS as SYSTEM_CALLS, CLOSE, enforce as enforce_filter, FCNTL, filter_program, landlock_version, "
            "launch_program, LAUNCHING as LAUNCHING_CALLS, OPENAT, PRLIMIT, SENDTO, server_program, SERVING, SOCKET, "
            "WRITE"
        ),
        "monty": "MontyInterpreter, open_interpreter",
        "tiers": "CPythonInterpreter, Interpreter, Limits, missing_walls",
        "workers": (
            "DeadlinePassed, launched as launched_confined, NotReady as WorkerNotReady, packages as package_paths, "
            "PipeClosed, PipeError, PYTHON as PYTHON_FLAGS, tie as tie_lifetime, Worker"
        ),
    },
)
