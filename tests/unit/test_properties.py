"""Properties come back as they were, and conditions on them mean what they say."""

import math

import pytest
from hypothesis import given, strategies as st

from orienteer.errors import BadOption, UnknownProperty
from orienteer.graph import Condition, number_of_property, parse_conditions
from orienteer.records import Node

pytestmark = pytest.mark.slow

VALUES = {
    "int": {"year": 1998}, "float": {"year": 1998.5}, "text number": {"year": "2005"}, "negative": {"year": -3},
    "list": {"year": [1990, 2020], "tag": ["Red", "green"]}, "empty list": {"year": []}, "null": {"year": None},
    "true": {"open": True, "tag": "true"}, "false": {"open": False}, "date": {"born": "1961-04-30"},
    "month": {"born": "1961-05"}, "moment": {"born": "1999-12-31T23:59:59Z"}, "no date": {"born": "1961-13-45"},
    "word": {"tag": "RED", "year": "unknown"}, "spaced": {"tag": " red  hat "}, "unicode": {"tag": "Straße"},
    "object": {"tag": {"a": 1}}, "long": {"tag": "x" * 300}, "zero": {"year": 0, "open": "yes"},
    "odd name": {"first name": "Ada", "a.b": 1, "größe": 7, "x<y": 5},
    "none": {},
}  # fmt: skip


@pytest.fixture(scope="module")
def graph(build):
    return build([Node(name, text="word", properties=properties) for name, properties in VALUES.items()])


def meeting(graph, *where):
    return {hit.id for hit in graph.search("word", 99, where=where)}


def test_properties_come_back_as_they_were(graph):
    for name, properties in VALUES.items():
        back = graph.node(name).properties
        assert back == properties
        assert {key: type(value) for key, value in back.items()} == {
            key: type(value) for key, value in properties.items()
        }


YEARS = {"int", "float", "text number", "negative", "list", "zero"}


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("year = 1998", {"int"}), ("year=1998.0", {"int"}), ("year = 1.998e3", {"int"}), (" year  =  1998 ", {"int"}),
        ("year = 2005", {"text number"}), ("year = -3", {"negative"}), ("year = unknown", {"word"}),
        ("year = UNKNOWN", {"word"}), ("year = 0", {"zero"}), ("YEAR = 1998", {"int"}),
        ("year > 1998", {"float", "text number", "list"}), ("year >= 1998", {"int", "float", "text number", "list"}),
        ("year < 1998", {"negative", "list", "zero"}), ("year <= 1998", {"int", "negative", "list", "zero"}),
        ("year = 1990", {"list"}), ("year = 2020", {"list"}),
        ("year != 1990", {*YEARS, "empty list", "null", "word"} - {"list"}),
        ("year != unknown", {*YEARS, "empty list", "null"}), ("year = nan", set()), ("year < 0", {"negative"}),
        ("tag = red", {"list", "word"}), ("tag = RED", {"list", "word"}), ("tag = strasse", {"unicode"}),
        ("tag != red", {"true", "spaced", "unicode", "object", "long"}), ("tag = re", set()),
        ("open = true", {"true"}), ("open = True", {"true"}), ("open = false", {"false"}), ("open = 1", set()),
        ("open != true", {"false", "zero"}), ("open = 0", set()),
        ("born = 1961-04-30", {"date"}), ("born < 1961-05-01", {"date"}), ("born >= 1961-05", {"month", "moment"}),
        ("born > 1999-12-30", {"moment"}), ("born <= 1999-12-31", {"date", "month", "moment"}),
        ("born = 1961-13-45", {"no date"}), ("born != 1961-04-30", {"month", "moment", "no date"}),
        ("first name = ada", {"odd name"}), ("a.b = 1", {"odd name"}), ("größe > 6", {"odd name"}),
        ("GRÖSSE > 6", {"odd name"}),
    ],
)  # fmt: skip
def test_conditions(graph, where, expected):
    assert meeting(graph, where) == expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("born >= 1990", {"moment"}), ("born < 1990", {"date", "month"}),
        ("year >= 1990-01-01", {"int", "float", "text number", "list"}), ("year < 1990-01-01", {"negative", "zero"}),
    ],
)  # fmt: skip
def test_a_year_is_compared_with_dates_as_a_year(graph, where, expected):
    """Not as the number of a day, which would let every date pass `>= 1990` and every year pass `< 1990-01-01`."""
    assert meeting(graph, where) == expected


def test_conditions_are_joined_by_and(graph):
    assert meeting(graph, "year > 1980", "year < 2000") == {"int", "float", "list"}
    assert meeting(graph, "tag = red", "tag = green") == {"list"}
    assert meeting(graph, "year = 1998", "tag = red") == set()


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">=", "=", "!="])
@given(
    values=st.lists(
        st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53), min_size=1, max_size=6
    ),
    bound=st.data(),
)
def test_numbers_compare_as_numbers(build, operator, values, bound):
    limit = bound.draw(st.sampled_from(values) | st.integers(-5, 5))
    graph = build([Node(f"n{at}", text="word", properties={"p": value}) for at, value in enumerate(values)])
    python = {"<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__", "=": "__eq__", "!=": "__ne__"}[operator]
    expected = {f"n{at}" for at, value in enumerate(values) if getattr(float(value), python)(float(limit))}
    assert meeting(graph, f"p {operator} {limit!r}") == expected


@pytest.mark.parametrize(
    "where", ["", "year", "= 5", "year =", "year ~ 5", "year > soon", "year <= ", "born > 1999-13-01"]
)
def test_what_is_no_condition_is_told(graph, where):
    with pytest.raises(BadOption, match="condition|neither"):
        graph.search("word", 5, where=[where])


@pytest.mark.parametrize("where", ["year == 1998", "year => 1998", "year =< 1998", "year <> 1998", "year =! 1998"])
def test_an_operator_of_another_language_is_understood_or_told_but_never_taken_for_text(graph, where):
    """Taken for the text `= 1998` it would silently match nothing."""
    meant = {"==": "=", "=>": ">=", "=<": "<=", "<>": "!=", "=!": "!="}
    try:
        found = meeting(graph, where)
    except BadOption:
        return
    operator = where.split()[1]
    assert found == meeting(graph, where.replace(operator, meant[operator]))


def test_an_unknown_property_is_told_with_near_ones(graph):
    with pytest.raises(UnknownProperty, match="year") as error:
        graph.search("word", 5, where=["yaer = 5"])
    assert error.value.near == ("year",)


def test_a_graph_without_properties_says_none(build):
    with pytest.raises(UnknownProperty, match="none"):
        build([Node("a")]).search("a", 5, where=["year = 5"])


def test_parse():
    assert parse_conditions(["year>=2000", "a b != c = d"]) == (
        Condition("year", ">=", "2000"),
        Condition("a b", "!=", "c = d"),
    )
    assert parse_conditions(()) == ()


def test_numbers_and_dates():
    days = [
        "1999-12-31",
        "2000-01-01",
        "2000-02-28",
        "2000-02-29",
        "2000-03-01",
        "2000-12-30",
        "2000-12-31",
        "2001-01-01",
    ]
    assert [number_of_property(day) for day in days] == sorted({number_of_property(day) for day in days})
    assert number_of_property("2001-01") == number_of_property("2001-01-01")
    assert number_of_property(" 12 ") == number_of_property(12) == number_of_property("1.2e1") == 12
    assert number_of_property("-.5") == -0.5
    for value in (None, True, "", "x", "nan", [], {}, "1961-13-45", "12 apples"):
        assert math.isnan(number_of_property(value)), value


@given(st.one_of(st.integers(), st.integers(min_value=10**300, max_value=10**400), st.floats(), st.text(max_size=20)))
def test_any_value_has_a_number_or_none(value):
    assert isinstance(number_of_property(value), float)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.lists(st.dictionaries(st.text(max_size=6), JSON, max_size=3), min_size=1, max_size=4))
def test_any_json_comes_back(build, properties):
    graph = build([Node(f"n{at}", properties=one) for at, one in enumerate(properties)])
    for at, one in enumerate(properties):
        assert repr(sorted(graph.node(f"n{at}").properties.items())) == repr(sorted(one.items()))
