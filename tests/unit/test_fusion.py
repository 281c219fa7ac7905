"""Several ordered lists to one. ARK's rules are in tests/papers/test_ark.py; here is what they leave open."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from orienteer.index import VoteCount, concatenate_lists, shuffle_lists, vote_lists

LISTS = st.lists(st.lists(st.sampled_from("abcdef")), max_size=4)


@pytest.mark.parametrize("lists", [[], [[]], [[], [], []]])
def test_nothing_fuses_to_nothing(lists):
    assert vote_lists(lists) == concatenate_lists(lists) == shuffle_lists(lists, np.random.default_rng(0)) == ()


def test_one_list_keeps_its_order():
    assert vote_lists([["c", "a", "b"]]) == (VoteCount("c", 1), VoteCount("a", 1), VoteCount("b", 1))


def test_a_repeat_within_a_list_takes_no_place():
    assert [one.id for one in vote_lists([["a", "a", "b"], ["c", "d", "e", "b"]])][0] == "b"
    assert [one.id for one in vote_lists([["a", "a", "b"], ["c", "d"]])] == ["a", "c", "b", "d"]


@given(LISTS)
def test_all_fusions_hold_the_union_once_with_the_same_votes(lists):
    union = {item for one in lists for item in one}
    votes = {item: sum(item in one for one in lists) for item in union}
    for fused in (vote_lists(lists), concatenate_lists(lists), shuffle_lists(lists, np.random.default_rng(3))):
        assert {one.id: one.votes for one in fused} == votes
        assert len(fused) == len(union)


@given(LISTS)
def test_the_order_of_agents_does_not_change_votes_or_places(lists):
    def keys(order):
        unique = [list(dict.fromkeys(one)) for one in order]
        return [(one.votes, min(own.index(one.id) for own in unique if one.id in own)) for one in vote_lists(order)]

    assert keys(lists) == keys(lists[::-1])


@given(LISTS)
def test_lists_are_left_as_they_are(lists):
    before = [list(one) for one in lists]
    vote_lists(lists), concatenate_lists(lists), shuffle_lists(lists, np.random.default_rng(0))
    assert lists == before
