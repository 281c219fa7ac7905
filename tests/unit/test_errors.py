"""The tree of errors, and near names."""

import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orienteer import errors
from orienteer.errors import BudgetExhausted, Error, GraphBusy, MissingExtra, UnknownNode, UsageError, nearest

CLASSES = [one for _, one in inspect.getmembers(errors, inspect.isclass) if issubclass(one, Exception)]


def test_every_error_stands_in_the_drawn_tree():
    """Each class is drawn once, one step to the right of its parent."""
    depth = {}
    parents = {}
    for line in errors.__doc__.splitlines():
        name = line.lstrip(" │├└─").split(" ")[0]
        if name and (line.startswith(("Error ", "├", "│", "└", " "))):
            column = line.index(name)
            depth[column] = name
            parents[name] = depth[max(one for one in depth if one < column)] if column else "Exception"
    assert parents == {one.__name__: one.__bases__[0].__name__ for one in CLASSES}


@pytest.mark.parametrize("error", CLASSES, ids=lambda error: error.__name__)
def test_every_error_is_documented_and_caught_at_the_boundary(error):
    assert issubclass(error, Error)
    assert error.__doc__.endswith((".", "2."))


def test_what_is_the_callers_fault():
    assert not issubclass(GraphBusy, UsageError)
    assert not issubclass(BudgetExhausted, UsageError)
    assert issubclass(UnknownNode, UsageError)


def test_errors_carry_what_a_program_needs():
    assert UnknownNode("no", ["a", "b"]).near == ("a", "b")
    assert BudgetExhausted("calls", "spent").limit == "calls"
    assert (
        str(MissingExtra("Parquet", "parquet")) == "Parquet needs the extra 'parquet': pip install 'orienteer[parquet]'"
    )


def test_nearest():
    types = ["Gene", "Disease", "Anatomy", "Pathway", "Biological Process"]
    assert nearest("gene", types) == ["Gene"]
    assert nearest("genes", types) == ["Gene"]
    assert nearest("DISEAS", types) == ["Disease"]
    assert nearest("process", types) == ["Biological Process"]
    assert nearest("zzz", types) == []
    assert nearest("", types) == []
    assert nearest("x", []) == []
    assert len(nearest("a", [f"a{at}" for at in range(50)], most=3)) == 3


@pytest.mark.slow
@settings(max_examples=100)
@given(st.text(max_size=10), st.lists(st.text(max_size=10), max_size=8))
def test_nearest_returns_known_words_once(word, known):
    found = nearest(word, known)
    assert set(found) <= set(known)
    assert len(found) == len(set(found)) <= 5
    assert not any(word) or word not in known or any(one.casefold() == word.casefold() for one in found)
