"""A model's Python, run where it can do nothing but compute, print, and call the functions that it is given.

    interpreter    the seam: `Interpreter`, what it gives back (`Ran`), and its `Limits`
    tiers          `open_interpreter`: the tier that is asked for, or the first that can be had
    monty          first tier: pydantic-monty, an interpreter of its own, in a worker process
    cpython        second tier: the whole of CPython in a process that is locked down (`worker`, over a `pipe`)
    confinement    what a process gives up for good: files, network, processes, memory
    callback       the calls that code makes of functions of ours

What is contained, by what, and what is not: docs/sandbox.md.
"""
