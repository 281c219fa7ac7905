"""A model's Python runs here, where it can only compute, print, and call the functions that it is given.

    interpreter    the seam: `Interpreter`, its `RunResult` and its `Limits`
    tiers          `open_interpreter`: the tier that is asked for, or the first that is available
    monty          first tier: pydantic-monty, an interpreter of its own, in a worker process
    cpython        second tier: the whole of CPython in a process that is locked down (`worker`, over a `pipe`)
    confinement    what a process gives up for good: files, network, processes, memory
    callback       the code's calls of our functions

What is contained, by what, and what is not: docs/sandbox.md.
"""
