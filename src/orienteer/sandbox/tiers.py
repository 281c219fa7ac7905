"""The choice of the tier that runs a model's code: by name, or the first that is available here."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from orienteer.errors import BadOption, MissingExtra, UnsafeSandbox
from orienteer.sandbox.interpreter import Functions, Interpreter, Limits

Choice: TypeAlias = Literal["auto", "monty", "cpython"]
"""A tier by name, or `auto`: `monty` where it is installed and starts, else `cpython`."""


def open_interpreter(tier: Choice, functions: Functions, limits: Limits) -> Interpreter:
    """Return an interpreter whose code may call some functions; its process starts with the first run.

    `auto` starts the first tier at once, to learn whether it works here. Raises `BadOption` for an unknown tier and
    `MissingExtra` for one that is not installed; the first run raises `UnsafeSandbox` where this machine cannot
    contain the code.
    """
    if tier not in get_args(Choice):
        raise BadOption(f"tier is {tier!r}: it must be one of {', '.join(get_args(Choice))}")
    if tier == "monty":
        return _monty(functions, limits)
    if tier == "auto" and (started := _started_monty(functions, limits)) is not None:
        return started
    from orienteer.sandbox.cpython import CPythonInterpreter  # here: the first tier does not need it

    return CPythonInterpreter(functions, limits)


def _monty(functions: Functions, limits: Limits) -> Interpreter:
    from orienteer.sandbox.monty import MontyInterpreter  # here: the other tier does not need the extra

    return MontyInterpreter(functions, limits)


def _started_monty(functions: Functions, limits: Limits) -> Interpreter | None:
    """Start the first tier; None where it is not installed or does not start."""
    try:
        monty = _monty(functions, limits)
        monty.run("")
    except (MissingExtra, UnsafeSandbox):
        return None
    return monty
