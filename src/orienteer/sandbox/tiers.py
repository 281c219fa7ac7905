"""Which tier runs a model's code: the one asked for, or the first that can be had here."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from orienteer.errors import BadOption, MissingExtra, UnsafeSandbox
from orienteer.sandbox.interpreter import Functions, Interpreter, Limits

Choice: TypeAlias = Literal["auto", "monty", "cpython"]
"""A tier by name, or `auto`: the first where it is installed and starts, else the second."""


def open_interpreter(tier: Choice, functions: Functions, limits: Limits) -> Interpreter:
    """Return an interpreter whose code may call some functions; its process starts with the first run.

    With `auto` the first tier is started at once: only then is it known whether it can be had. Raises `BadOption` for
    an unknown tier and `MissingExtra` where it is not installed; its first run raises `UnsafeSandbox` where this
    machine cannot hold it.
    """
    if tier not in get_args(Choice):
        raise BadOption(f"tier is {tier!r}: it must be one of {', '.join(get_args(Choice))}")
    if tier == "monty":
        return _monty(functions, limits)
    if tier == "auto" and (started := _started_monty(functions, limits)) is not None:
        return started
    from orienteer.sandbox.cpython import CPythonInterpreter  # who has the first tier need not load the second

    return CPythonInterpreter(functions, limits)


def _monty(functions: Functions, limits: Limits) -> Interpreter:
    from orienteer.sandbox.monty import MontyInterpreter  # an extra: who asks for the other tier need not have it

    return MontyInterpreter(functions, limits)


def _started_monty(functions: Functions, limits: Limits) -> Interpreter | None:
    """Return the first tier, started; None where it is not installed, or does not start."""
    try:
        monty = _monty(functions, limits)
        monty.run("")
    except (MissingExtra, UnsafeSandbox):
        return None
    return monty
