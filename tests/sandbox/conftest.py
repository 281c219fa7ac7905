"""What the tests of the second tier share."""

import pytest

from orienteer.sandbox.cpython import CPythonInterpreter
from orienteer.sandbox.interpreter import Limits


@pytest.fixture
def opened():
    """Give a function that opens an interpreter; all of them are closed at the end."""
    made = []

    def opened_with(functions=None, **limits):
        made.append(CPythonInterpreter(functions or {}, Limits(**limits)))
        return made[-1]

    yield opened_with
    for one in made:
        one.close()
