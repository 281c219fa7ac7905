"""Options of a configuration dataclass: names, documents, values from text and from code."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import pytest

from orienteer.errors import BadOption
from orienteer.options import check, options_of, pairs_of

Level: TypeAlias = Literal["hybrid", "local"]


@dataclass(frozen=True)
class Base:
    steps: int = 20
    """Steps at the most."""
    undocumented: float = 0.5


@dataclass(frozen=True)
class Config(Base):
    names: tuple[str, ...] = ()
    """Names.

    Several of them.
    """
    mode: Literal["a", "b"] = "a"
    limit: int | None = None
    fast: bool = False
    rerank: Callable[[str], str] | None = None
    own: list[int] = field(default_factory=lambda: [1])
    hidden: int = field(default=3, init=False)


def test_options_have_name_type_default_and_the_string_beneath():
    found = {one.name: one for one in options_of(Config)}
    assert list(found) == ["steps", "undocumented", "names", "mode", "limit", "fast", "rerank", "own"]
    assert (found["steps"].default, found["steps"].doc) == (20, "Steps at the most.")
    assert found["names"].doc == "Names.\n\nSeveral of them."
    assert (found["undocumented"].doc, found["own"].default) == ("", [1])
    assert "int" in found["limit"].type


def test_options_of_a_class_without_source():
    made = dataclass(type("Made", (), {"__annotations__": {"n": int}, "n": 1}))
    assert [(one.name, one.doc) for one in options_of(made)] == [("n", "")]


@pytest.mark.parametrize(
    ("pair", "value"),
    [
        ("steps=3", 3),
        ("undocumented=1e-3", 0.001),
        ("names=x, y", ("x", "y")),
        ("names=", ()),
        ("mode=b", "b"),
        ("limit=none", None),
        ("limit=4", 4),
        ("fast=true", True),
        ("own=1,2", [1, 2]),
    ],
)
def test_values_are_read_from_text(pair, value):
    (found,) = check(Config, pairs_of([pair])).values()
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("pair", ["steps=many", "steps=1.5", "mode=c", "fast=perhaps", "own=1,x"])
def test_a_value_that_does_not_fit_is_refused_by_name(pair):
    name, _, value = pair.partition("=")
    with pytest.raises(BadOption) as raised:
        check(Config, pairs_of([pair]), where="[methods.x] ")
    assert f"[methods.x] {name} must be" in str(raised.value)


def test_an_unknown_option_is_answered_with_near_ones():
    with pytest.raises(BadOption, match=r"no option 'setps'.* Near: steps"):
        check(Config, {"setps": 1})
    with pytest.raises(BadOption, match="no option 'hidden'"):
        check(Config, {"hidden": 1})


def test_values_of_code_pass_as_they_are():
    found = check(Config, {"rerank": str.lower, "names": ["x"], "steps": 2})
    assert found == {"rerank": str.lower, "names": ("x",), "steps": 2}


@pytest.mark.parametrize("text", ["steps", "=3", ""])
def test_a_pair_needs_a_name_and_an_equals_sign(text):
    with pytest.raises(BadOption, match="NAME=VALUE"):
        pairs_of([text])


def test_a_value_may_hold_equals_signs():
    assert pairs_of(["where=year>=2000"]) == {"where": "year>=2000"}


@dataclass(frozen=True)
class Chosen:
    level: Level = "hybrid"
    fast: bool = False


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ("level=low", "level must be one of hybrid, local, is 'low'"),
        ("fast=perhaps", "fast must be true or false, is 'perhaps'"),
    ],
)
def test_a_refusal_lists_the_choices_in_place_of_a_type_of_python(pair, said):
    with pytest.raises(BadOption) as raised:
        check(Chosen, pairs_of([pair]))
    assert str(raised.value) == said
