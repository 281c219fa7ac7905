"""A model's Python, run where it can do nothing but compute, print, and call the functions that it is given.

    interpreter    the seam: `Interpreter`, what it gives back (`Ran`), its `Limits`, and `open_interpreter`
    monty          first tier: pydantic-monty, an interpreter of its own, in a worker process
    cpython        second tier: the whole of CPython in a process that is locked down

What is contained, by what, and what is not: docs/sandbox.md.
"""
