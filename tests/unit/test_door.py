"""What a network face lets in: methods of the table alone, and no more hits than a face gives."""

import sys

import pytest

from orienteer.errors import BadOption
from orienteer.methods import METHODS
from orienteer.serve import served_budget, served_method, served_methods
from orienteer.settings import Settings


def test_methods_that_run_a_models_code_are_served_by_choice():
    assert [name for name, card in METHODS.items() if card.runs_code] == ["graphscout"]
    assert set(served_methods()) == {"auto", *METHODS} - {"graphscout"}
    assert served_methods(["anchor", "graphscout"]) == ("anchor", "graphscout")
    with pytest.raises(BadOption, match="no method 'this:Zen' can be served"):
        served_methods(["anchor", "this:Zen"])


@pytest.mark.parametrize("name", ["auto", "anchor", "sage:ark", "graphsearch:light"])
def test_methods_of_the_table_are_served_and_one_over_another(name):
    assert served_method(name, served_methods()) == name


@pytest.mark.parametrize(
    "name",
    ["this:Zen", "sage:this:Zen", "antigravity", "", ":", "sage:", "auto:ark", "sage:auto", "graphscout", "a" * 999],
)
def test_no_other_name_is_served_and_none_is_imported(name):
    sys.modules.pop("this", None)
    with pytest.raises(BadOption, match="is not served here: take auto, anchor") as refused:
        served_method(name, served_methods())
    assert "this" not in sys.modules
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(
    ("allowed", "flags", "expected"),
    [
        ({}, {}, {"calls": 30, "seconds": 45.0}),
        ({"calls": 5, "seconds": 9}, {}, {"calls": 5, "seconds": 9.0}),
        ({"calls": 500, "seconds": 900, "tokens": 7}, {}, {"calls": 30, "seconds": 45.0, "tokens": 7}),
        ({"calls": 5}, {"calls": 90, "seconds": 120, "usd": None}, {"calls": 90, "seconds": 120.0}),
    ],
)
def test_a_question_spends_what_is_allowed_and_no_more_than_a_face_gives(allowed, flags, expected):
    budget = served_budget(Settings(budget=allowed), **flags)
    assert {name: value for name, value in budget if value is not None} == expected


def test_a_wrong_budget_is_told():
    with pytest.raises(BadOption, match="seconds"):
        served_budget(Settings(), seconds=0)
