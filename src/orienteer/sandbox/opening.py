"""Which tier runs a model's code: the one asked for, or the first that can be had here."""

from __future__ import annotations

from typing import Literal, TypeAlias

from orienteer.sandbox.interpreter import Functions, Interpreter, Limits

Choice: TypeAlias = Literal["auto", "monty", "cpython"]
"""A tier by name, or `auto`: the first where it is installed, else the second."""


def open_interpreter(tier: Choice, functions: Functions, limits: Limits) -> Interpreter:
    """Return an interpreter whose code may call some functions; its process starts with the first run.

    Raises `MissingExtra` where the tier is not installed, and `UnsafeSandbox` where this machine cannot hold it.
    """
    if tier == "monty" or (tier == "auto" and has_monty()):
        from orienteer.sandbox.monty import MontyInterpreter  # an extra: who asks for the other tier need not have it

        return MontyInterpreter(functions, limits)
    from orienteer.sandbox.cpython import CPythonInterpreter  # who has the first tier need not load the second

    return CPythonInterpreter(functions, limits)


def has_monty() -> bool:
    """Tell whether the first tier is installed, whole."""
    try:
        import pydantic_monty  # noqa: F401  # an extra
    except ImportError:
        return False
    return True
