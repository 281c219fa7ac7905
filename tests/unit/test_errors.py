"""The tree of errors, and near names."""

import inspect
import pickle
import sys
import traceback
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from orienteer import errors
from orienteer.errors import (
    BadInput,
    BudgetExhausted,
    Error,
    GraphBusy,
    Hint,
    MissingExtra,
    UnknownNode,
    UsageError,
    nearest,
)

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


class Search:
    """A search for near names that counts how often it is made."""

    def __init__(self, failure=None):
        self.made, self.failure = 0, failure

    def __call__(self):
        self.made += 1
        if self.failure is not None:
            raise self.failure
        return Hint(["Ada Holm"], "Near: Ada Holm.")


def unknown(search):
    return UnknownNode("No node 'Ada'.", value="Ada", hint=search)


@pytest.mark.parametrize(
    "dropped", [lambda error: None, repr, hash, lambda error: error.value, lambda error: error.paths]
)
def test_near_names_are_not_looked_for_where_nobody_reads_them(dropped):
    search = Search()
    error = unknown(search)
    with suppress(UnknownNode):
        raise error
    dropped(error)
    assert search.made == 0


@pytest.mark.parametrize(
    "read",
    [
        str,
        lambda error: error.near,
        lambda error: error.public,
        lambda error: error.add("of a part"),
        lambda error: error.complete(),
        lambda error: pickle.loads(pickle.dumps(error)),
        lambda error: "".join(traceback.format_exception(error)),
    ],
)
def test_near_names_are_looked_for_once_by_whoever_reads_first(read):
    search = Search()
    error = unknown(search)
    read(error)
    for same in (error, pickle.loads(pickle.dumps(error))):
        assert str(same).startswith("No node 'Ada'. Near: Ada Holm.")
        assert (same.near, same.value) == (("Ada Holm",), "Ada")
    assert search.made == 1


def test_why_near_names_could_not_be_found_is_told_beside_what_is_wrong():
    error = unknown(Search(BadInput("/home/ada/beers is damaged", paths=[Path("/home/ada/beers")])))
    assert str(error) == "No node 'Ada'. /home/ada/beers is damaged"
    assert error.public == "No node 'Ada'. beers is damaged"
    assert error.near == ()


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


@pytest.mark.parametrize(
    ("prefix", "has_pip", "remedy"),
    [
        ("/home/ada/.venv", True, "pip install 'orienteer[serve]'"),
        ("/home/ada/.local/share/pipx/venvs/orienteer", True, "pipx install --force 'orienteer[serve]'"),
        (
            "/home/ada/.cache/uv/archive-v0/x",
            False,
            "uv pip install 'orienteer[serve]', or uvx --from 'orienteer[serve]' orienteer",
        ),
    ],
)
def test_a_missing_extra_names_the_command_of_its_installer(monkeypatch, prefix, has_pip, remedy):
    """`uvx orienteer open` has no pip, and pip in an environment of pipx is not the one on the path."""
    monkeypatch.setattr(sys, "prefix", prefix)
    monkeypatch.setattr("orienteer.errors.find_spec", lambda name: name if has_pip else None)
    assert str(MissingExtra("serving over HTTP", "serve")) == f"serving over HTTP needs the extra 'serve': {remedy}"
