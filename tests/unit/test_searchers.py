"""What was made of the last few queries: once each, side by side, and again after a failure."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from orienteer.errors import BadOption
from orienteer.index import SEARCH_WEIGHT, KeyedCache, RankingMode, ranking_mode_of


@pytest.mark.parametrize(
    ("mode", "meant"),
    [
        ("lexical", RankingMode("lexical")),
        ("dense", RankingMode("dense")),
        ("hybrid", RankingMode("hybrid", SEARCH_WEIGHT, "linear")),
        ("hybrid:0.6", RankingMode("hybrid", 0.6)),
        ("hybrid:.25", RankingMode("hybrid", 0.25)),
        ("hybrid:1", RankingMode("hybrid", 1.0)),
        ("hybrid:0", RankingMode("hybrid", 0.0)),
        ("rrf", RankingMode("hybrid", SEARCH_WEIGHT, "rrf")),
    ],
)
def test_a_mode_is_read(mode, meant):
    assert ranking_mode_of(mode) == meant


@pytest.mark.parametrize(
    "mode",
    ["", "sparse", "hybrid:", "hybrid:1.5", "hybrid:-0.1", "hybrid:nan", "hybrid:٠.٥", "rrf:3", "dense:1", "Hybrid"],
)
def test_a_mode_that_there_is_not_is_told(mode):
    with pytest.raises(BadOption, match="lexical, dense, hybrid, hybrid:WEIGHT"):
        ranking_mode_of(mode)


def test_each_is_made_once_also_where_threads_want_it_at_one_time():
    made = []
    gate = threading.Barrier(8, timeout=30)

    def make(text):
        made.append(text)
        return text.upper()

    recent = KeyedCache(make)

    def ask(number):
        gate.wait(10)
        return recent("ab"[number % 2])

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(8))) == ["A", "B"] * 4
    assert sorted(made) == ["a", "b"]


def test_different_ones_are_made_side_by_side():
    both = threading.Barrier(2, timeout=30)  # it would break if one had to wait for the other's end

    def make(text):
        both.wait(10)
        return text

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(KeyedCache(make), ["a", "b"])) == ["a", "b"]


def test_what_could_not_be_made_is_tried_again_by_the_next():
    tries = []

    def make(text):
        tries.append(text)
        if len(tries) == 1:
            raise ValueError("not yet")
        return len(tries)

    recent = KeyedCache(make)
    with pytest.raises(ValueError, match="not yet"):
        recent("a")
    assert (recent("a"), recent("a")) == (2, 2)


def test_whoever_wants_it_first_may_say_how_it_is_made():
    recent = KeyedCache(str.upper)
    assert (recent("a", str.title), recent("a", str.swapcase), recent("ab")) == ("A", "A", "AB")
    assert (recent("ba", lambda key: key), recent("ba")) == ("ba", "ba")


def test_the_longest_unused_is_forgotten():
    made = []
    recent = KeyedCache(lambda number: made.append(number) or number)
    for number in range(256):
        recent(number)
    recent(0)
    recent(256)
    for number in (0, 256, 1):
        recent(number)
    assert made == [*range(257), 1]
