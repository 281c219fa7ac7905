"""The arguments that tools share."""

import pytest

from orienteer.llm import schema_faults
from orienteer.tools import (
    LARGEST_K,
    NEIGHBORS_K,
    SEARCH_K,
    count_schema,
    node_schema,
    number_argument,
    text_argument,
    texts_argument,
    tool_spec,
)


def test_the_defaults_are_the_papers():
    assert (SEARCH_K, NEIGHBORS_K) == (5, 20)  # ARK, section 3.1 and appendix A.2


@pytest.mark.parametrize("default", [5, 20])
def test_a_schema_states_its_default_and_its_limits(default):
    schema = count_schema(default)
    assert f"default {default}" in schema["description"]
    assert not schema_faults(1, schema)
    assert not schema_faults(LARGEST_K, schema)
    assert all(schema_faults(wrong, schema) for wrong in (0, LARGEST_K + 1, True, 2.5, "5", None))


def test_a_tool_allows_no_argument_that_it_does_not_know():
    spec = tool_spec("look", "Look.", {"node": node_schema(saves_sets=True)}, ["node"])
    assert not schema_faults({"node": "a"}, spec.parameters)
    assert schema_faults({}, spec.parameters) == ("node is missing",)
    assert schema_faults({"node": "a", "nodes": "b"}, spec.parameters)


@pytest.mark.parametrize(("value", "expected"), [(["a"], ["a"]), ([], None), (None, None)])
def test_an_empty_list_is_as_good_as_none(value, expected):
    assert texts_argument({"x": value}, "x") == expected
    assert texts_argument({}, "x") is None


@pytest.mark.parametrize(("value", "expected"), [("a b", "a b"), ("", None), (" \t", None), (None, None)])
def test_a_blank_text_is_as_good_as_none(value, expected):
    assert text_argument({"x": value}, "x") == expected
    assert text_argument({}, "x") is None


def test_a_number_has_a_default():
    assert number_argument({}, "k", 7) == 7
    assert number_argument({"k": 3}, "k", 7) == 3
