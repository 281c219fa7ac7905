"""The arguments that tools share."""

import pytest

from orienteer.llm.schema import faults
from orienteer.tools import parameters


def test_the_defaults_are_the_papers():
    assert (parameters.SEARCH_K, parameters.NEIGHBORS_K) == (5, 20)  # ARK, section 3.1 and appendix A.2


@pytest.mark.parametrize("default", [5, 20])
def test_a_schema_states_its_default_and_its_limits(default):
    schema = parameters.count(default)
    assert f"default {default}" in schema["description"]
    assert not faults(1, schema)
    assert not faults(parameters.LARGEST_K, schema)
    assert all(faults(wrong, schema) for wrong in (0, parameters.LARGEST_K + 1, True, 2.5, "5", None))


def test_a_tool_allows_no_argument_that_it_does_not_know():
    spec = parameters.spec("look", "Look.", {"node": parameters.node(saves_sets=True)}, ["node"])
    assert not faults({"node": "a"}, spec.parameters)
    assert faults({}, spec.parameters) == ("node is missing",)
    assert faults({"node": "a", "nodes": "b"}, spec.parameters)


@pytest.mark.parametrize(("value", "expected"), [(["a"], ["a"]), ([], None), (None, None)])
def test_an_empty_list_is_as_good_as_none(value, expected):
    assert parameters.texts({"x": value}, "x") == expected
    assert parameters.texts({}, "x") is None


@pytest.mark.parametrize(("value", "expected"), [("a b", "a b"), ("", None), (" \t", None), (None, None)])
def test_a_blank_text_is_as_good_as_none(value, expected):
    assert parameters.text({"x": value}, "x") == expected
    assert parameters.text({}, "x") is None


def test_a_number_has_a_default():
    assert parameters.number({}, "k", 7) == 7
    assert parameters.number({"k": 3}, "k", 7) == 3
