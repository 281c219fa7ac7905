"""Regular expressions without backtracking match what Python's own match, and never take long."""

import random
import re
import time

import pytest

from orienteer.errors import BadQuery
from orienteer.query import TextPattern

PARTS = ["a", "b", ".", "[ab]", "[^a]", r"\d", r"\w", "c?", "(a|b)", "(ab|a)", "(?:b)*", "a{1,3}", "b+?", "[a-c]{2}"]


def test_random_expressions_match_as_pythons_do():
    draw = random.Random(1)
    for _ in range(5_000):
        expression = "(?i)" * (draw.random() < 0.2) + "".join(draw.choices(PARTS, k=draw.randint(1, 5)))
        text = "".join(draw.choices("abcAB1 \n", k=draw.randint(0, 6)))
        right = re.compile(expression).fullmatch(text) is not None
        assert TextPattern(expression).matches(text) == right, (expression, text)


@pytest.mark.parametrize("expression", ["(a*)*b", "(a|aa)+b", "(.*)*x", ".*.*.*.*x", "((a{0,9}){0,9}){0,9}b"])
def test_no_expression_goes_back(expression):
    started = time.process_time()
    assert not TextPattern(expression).matches("a" * 20_000)
    assert time.process_time() - started < 2


@pytest.mark.parametrize("expression", ["(", "a{9}{9}{9}{9}{9}{9}", r"\bword"])
def test_what_is_no_expression_is_refused(expression):
    with pytest.raises(BadQuery):
        TextPattern(expression)
