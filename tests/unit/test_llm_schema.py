import re

import pytest
from hypothesis import given, strategies as st

from orienteer.errors import BadOption
from orienteer.llm import arguments_of, decode_json, read_value, schema_faults
from orienteer.records import ToolCall, ToolSpec

SEARCH = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "the words"},
        "k": {"type": "integer", "minimum": 1, "maximum": 100, "default": 5},
        "direction": {"enum": ["out", "in"]},
        "nodes": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
        "where": {"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "number"}}]},
        "version": {"const": 1},
        "node_type": {"type": ["string", "null"]},
    },
    "required": ["query"],
    "additionalProperties": False,
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "value",
    [
        {"query": "lipid"},
        {"query": "", "k": 1, "direction": "in", "nodes": ["a"], "version": 1},
        {"query": "x", "k": 100, "node_type": None},
        {"query": "x", "where": "year > 3"},
        {"query": "x", "where": {"year": 3, "month": 2.5}},
    ],
)
def test_what_fits_has_no_fault(value):
    assert schema_faults(value, SEARCH) == ()


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ({}, "query is missing"),
        ([], "the value must be of type object, is []"),
        ({"query": 3}, "query must be of type string, is 3"),
        ({"query": "x", "k": "five"}, 'k must be of type integer, is "five"'),
        ({"query": "x", "k": True}, "k must be of type integer, is true"),
        ({"query": "x", "k": 5.0}, "k must be of type integer, is 5.0"),
        ({"query": "x", "k": 0}, "k must be at least 1, is 0"),
        ({"query": "x", "k": 101}, "k must be at most 100, is 101"),
        ({"query": "x", "direction": "up"}, 'direction must be one of "out", "in", is "up"'),
        ({"query": "x", "nodes": "a"}, 'nodes must be of type array, is "a"'),
        ({"query": "x", "nodes": ["a", 2]}, "nodes[1] must be of type string, is 2"),
        ({"query": "x", "nodes": []}, "nodes must hold at least 1 items, holds 0"),
        ({"query": "x", "nodes": ["a"] * 4}, "nodes must hold at most 3 items, holds 4"),
        (
            {"query": "x", "where": 3},
            "either where must be of type string, is 3, or where must be of type object, is 3",
        ),
        ({"query": "x", "version": True}, "version must be 1, is true"),
        ({"query": "x", "node_type": 1}, "node_type must be of type string or null, is 1"),
        ({"query": "x", "directoin": "in"}, "directoin is not known; did you mean direction?"),
    ],
)
def test_a_fault_names_the_place_the_value_and_what_is_allowed(value, fault):
    assert schema_faults(value, SEARCH) == (fault,)


def test_all_faults_are_told_at_once():
    assert len(schema_faults({"k": 0, "direction": 1}, SEARCH)) == 3


def test_an_unknown_name_that_is_near_to_none_lists_those_there_are():
    assert schema_faults({"zzz": 1}, {"properties": {"query": {}}, "additionalProperties": False}) == (
        "zzz is not known; there are query",
    )


def test_one_of_takes_exactly_one():
    forms = {"oneOf": [{"type": "integer"}, {"minimum": 10}]}
    assert schema_faults(3, forms) == ()
    assert schema_faults(10.5, forms) == ()
    assert schema_faults(12, forms) == ("the value must fit exactly one of 2 forms, fits 2",)
    assert schema_faults(0.5, forms)


def test_a_keyword_that_would_be_passed_over_is_refused():
    with pytest.raises(BadOption, match="pattern"):
        schema_faults("x", {"type": "string", "pattern": "^a"})


@given(JSON)
def test_any_json_gets_an_answer_and_the_same_one_each_time(value):
    assert schema_faults(value, SEARCH) == schema_faults(value, SEARCH)


@given(JSON)
def test_a_constant_is_fitted_by_itself_alone(value):
    assert schema_faults(value, {"const": value}) == ()
    assert schema_faults([value], {"const": value}) != ()


@pytest.mark.parametrize(
    "text", ["", "{", "{'a': 1}", '{"a": NaN}', "[" * 100_000, '"\\ud83d"', "9" * 5000, "{} {}", "null,"]
)
def test_whatever_a_model_writes_is_json_or_a_value_error(text):
    with pytest.raises(ValueError, match="."):
        decode_json(text)


def test_json_is_decoded_as_it_stands():
    assert decode_json('{"a": [1, 2.5, "\\u00e9", null, true]}') == {"a": [1, 2.5, "é", None, True]}


# ---------------------------------------------------------------------------------------------------- calls of tools


TOOL = ToolSpec(
    name="search_in_graph",
    description="Find nodes.",
    parameters={
        "type": "object",
        "properties": {"query": {"type": "string"}, "k": {"type": "integer", "minimum": 1}},
        "required": ["query"],
        "additionalProperties": False,
    },
)


def test_arguments_come_back_parsed():
    call = ToolCall(id="1", name="search_in_graph", arguments='{"query": "é", "k": 3}')
    assert arguments_of(call, (TOOL,)) == ({"query": "é", "k": 3}, ())


LENIENT = {
    "type": "object",
    "properties": {
        "k": {"type": "integer", "minimum": 1, "maximum": 50},
        "weight": {"type": "number"},
        "types": {"type": "array", "items": {"type": "string"}},
        "down": {"type": "boolean"},
        "name": {"type": "string"},
        "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "both": {"type": ["integer", "array"], "items": {"type": "string"}},
        "numbers": {"type": "array", "items": {"type": "integer"}},
        "inner": {"type": "object", "properties": {"k": {"type": "integer"}}},
    },
    "required": ["name"],
}


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({"k": "2"}, {"k": 2}),
        ({"k": " 2 "}, {"k": 2}),
        ({"k": 2.0}, {"k": 2}),
        ({"k": "2.0"}, {"k": 2}),
        ({"k": "-3"}, {"k": -3}),
        ({"weight": "0.5"}, {"weight": 0.5}),
        ({"k": None, "types": None}, {}),
        ({"types": "film"}, {"types": ["film"]}),
        ({"types": '["film", "person"]'}, {"types": ["film", "person"]}),
        ({"down": "True"}, {"down": True}),
        ({"either": "7"}, {"either": 7}),
        ({"numbers": ["1", 2.0, 3]}, {"numbers": [1, 2, 3]}),
        ({"inner": {"k": "1"}}, {"inner": {"k": 1}}),
    ],
)
def test_arguments_are_taken_as_the_schema_means_them_with_a_note(given, taken):
    read = read_value({"name": "x", **given}, LENIENT)
    assert read.value == {"name": "x", **taken}
    assert [type(value) for value in read.value.values()] == [type(value) for value in {"name": "x", **taken}.values()]
    assert read.notes
    assert all(name in read.note for name in given)


@pytest.mark.parametrize(
    "given",
    [
        {"k": "two"},
        {"k": "2,000"},
        {"k": 2.5},
        {"k": "2.5"},
        {"k": True},
        {"k": ""},
        {"k": "1e3"},
        {"k": "9" * 5_000},
        {"types": "film, person"},
        {"types": '["film"'},
        {"types": '{"film": 1}'},
        {"types": ""},
        {"types": 7},
        {"down": 1},
        {"down": "yes"},
        {"name": 7},
        {"name": None},
        {"both": "7"},
    ],
)
def test_what_can_be_meant_in_several_ways_is_left_alone(given):
    value = {"name": "x", **given}
    assert read_value(value, LENIENT) == (value, ())
    assert schema_faults(value, LENIENT)


@given(JSON)
def test_what_fits_is_never_read_in_another_way(value):
    read = read_value(value, SEARCH)
    assert read.value == value or (schema_faults(value, SEARCH) and read.notes)


def test_a_model_that_writes_everything_wrong_gets_one_short_note():
    given = {"name": "x", "k": "1", "weight": "2", "types": "a", "down": "true", "numbers": None, "inner": None}
    assert read_value(given, LENIENT).note == (
        'note: k, "1", was read as 1; weight, "2", was read as 2; types, "a", was read as ["a"]; and 2 more'
    )
    assert read_value({**given, "k": 1, "weight": 2, "types": ["a"], "down": True}, LENIENT).note == (
        "note: null was read as not given: numbers, inner"
    )


@pytest.mark.parametrize(
    ("name", "arguments", "fault"),
    [
        ("search_graph", "{}", "no tool 'search_graph'. Did you mean search_in_graph?"),
        ("search_in_graph", "{}", "query is missing"),
        ("search_in_graph", '{"query": "a", "k": 0}', "k must be at least 1, is 0"),
        ("search_in_graph", '{"quer": "a"}', "did you mean query"),
        ("search_in_graph", '{"query": ', "not JSON"),
        ("search_in_graph", "[1]", "must be a JSON object"),
        ("search_in_graph", "null", "must be a JSON object"),
        ("search_in_graph", "[" * 50_000, "not JSON"),
        ("search_in_graph", '{"query": "\\ud83d"}', "not JSON"),
    ],
)
def test_what_is_wrong_with_a_call_is_told(name, arguments, fault):
    with pytest.raises(ValueError, match=re.escape(fault)) as told:
        arguments_of(ToolCall(id="c", name=name, arguments=arguments), (TOOL,))
    assert len(str(told.value)) < 500
