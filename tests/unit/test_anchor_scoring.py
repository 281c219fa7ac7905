"""What the ranking of `anchor` is computed with."""

import numpy as np
from hypothesis import given, strategies as st

from orienteer.methods import highest_places, unite_sorted

SORTED = st.sets(st.integers(0, 40)).map(sorted)


@given(st.lists(SORTED, max_size=5))
def test_lists_are_united_with_the_places_of_their_rows(lists):
    united = unite_sorted([np.array(one, np.int32) for one in lists])
    assert united.rows.tolist() == sorted(set().union(*lists))
    assert [united.rows[places].tolist() for places in united.places] == lists


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.data())
def test_the_highest_of_tied_values_are_the_first(values, data):
    count = data.draw(st.integers(1, len(values)))
    best = sorted(range(len(values)), key=lambda place: (-values[place], place))[:count]
    assert highest_places(np.array(values, np.float64), count).tolist() == sorted(best)
