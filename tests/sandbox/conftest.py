"""What the tests of the second tier share."""

import time
from pathlib import Path

import pytest

from orienteer.sandbox import CPythonInterpreter, Limits


@pytest.fixture
def opened():
    """Give a function that opens an interpreter; all of them are closed at the end."""
    interpreters = []

    def opened_with(functions=None, **limits):
        interpreters.append(CPythonInterpreter(functions or {}, Limits(**limits)))
        return interpreters[-1]

    yield opened_with
    for interpreter in interpreters:
        interpreter.close()


def state(process):
    """Return the state of a process in a letter: T where it is held still, nothing where it is no more."""
    try:
        letter = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""
    return "" if letter == "Z" else letter


@pytest.fixture
def becomes():
    """Give a function that waits until a process is in a state, and tells whether it came to be."""

    def comes_to_be(process, wanted):
        for _ in range(400):
            if state(process) == wanted:
                return True
            time.sleep(0.02)
        return False

    return comes_to_be
