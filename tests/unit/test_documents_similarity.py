"""Similarities against brute force: the nearest are nearest, overlaps are overlaps, percentiles are numpy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from orienteer.graph import NumberLists
from orienteer.ingest import (
    CachedEmbedder,
    Candidates,
    RowPairs,
    distinct_pairs,
    nearest_rows,
    pair_cosines,
    pair_overlaps,
    percentile_table,
    signal_correlations,
)
from orienteer.records import Usage
from orienteer.text import PhraseRanking


def unit(random, count, wide=8):
    vectors = random.standard_normal((count, wide)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@given(st.integers(0, 60), st.integers(1, 60), st.integers(1, 12), st.integers(0, 99))
def test_the_nearest_are_those_of_brute_force(queries, keys, k, seed):
    random = np.random.default_rng(seed)
    first, second = unit(random, queries), unit(random, keys)
    found = nearest_rows(first, second, k)
    expected = [
        (row, int(at)) for row in range(queries) for at in np.argsort(-(first[row] @ second.T), kind="stable")[:k]
    ]
    products = (first @ second.T) if queries else np.zeros((0, keys))
    got = list(zip(found.first.tolist(), found.second.tolist(), strict=True))
    assert [row for row, _ in got] == [row for row, _ in expected]
    assert [products[pair] for pair in got] == pytest.approx([products[pair] for pair in expected], abs=1e-5)


def test_nothing_is_its_own_neighbour_and_the_nearest_is_first():
    # The paper's code sorted distances the wrong way and kept the farthest.
    vectors = np.array([[1, 0], [0.9, 0.4359], [0, 1], [-1, 0]], np.float32)
    found = nearest_rows(vectors, vectors, 2, is_same=True)
    assert found.second.reshape(-1, 2).tolist() == [[1, 2], [0, 2], [1, 0], [2, 1]]


def test_ties_go_to_the_earlier_one():
    same = np.ones((5, 1), np.float32)
    assert nearest_rows(same[:1], same, 3).second.tolist() == [0, 1, 2]


@given(
    st.lists(st.sets(st.integers(0, 9), max_size=6), min_size=1, max_size=9),
    st.lists(st.sets(st.integers(0, 9), max_size=6), min_size=1, max_size=9),
)
def test_overlaps_are_the_sizes_of_intersections(first, second):
    sets = [*first, *second]
    lists = NumberLists(
        np.cumsum([0, *map(len, sets)]), np.array([one for held in sets for one in sorted(held)], np.int32)
    )
    rows, others = np.arange(len(first)), len(first) + np.arange(len(second))
    every = RowPairs(*map(np.ravel, np.meshgrid(rows, others, indexing="ij")))
    assert pair_overlaps(lists, every).tolist() == [len(one & other) for one in first for other in second]


def test_candidates_are_pairs_once_with_their_cosines():
    random = np.random.default_rng(1)
    vectors = unit(random, 6)
    lists = [RowPairs(np.array([0, 1, 4]), np.array([1, 0, 2])), RowPairs(np.array([3]), np.array([5]))]
    found = distinct_pairs(lists, is_same=True)
    assert list(zip(*map(np.ndarray.tolist, found), strict=True)) == [(0, 1), (2, 4), (3, 5)]
    expected = [vectors[a] @ vectors[b] for a, b in [(0, 1), (2, 4), (3, 5)]]
    assert pair_cosines(vectors, found) == pytest.approx(expected, abs=1e-6)
    ordered = distinct_pairs(lists, is_same=False)
    assert list(zip(*map(np.ndarray.tolist, ordered), strict=True)) == [(0, 1), (1, 0), (3, 5), (4, 2)]


@pytest.fixture
def two():
    """Give ten pairs with two signals that go opposite ways."""
    pairs = RowPairs(np.arange(10), np.arange(10) + 10)
    return Candidates(pairs, {"up": np.arange(10.0), "down": np.arange(10.0)[::-1] * 2})


@pytest.mark.parametrize(
    ("percentile", "logic", "kept"),
    [(80, "or", [0, 1, 8, 9]), (80, "and", []), (40, "and", [4, 5]), (40, "or", list(range(10)))],
)
def test_a_pair_is_kept_above_the_percentile_of_its_candidates(two, percentile, logic, kept):
    thresholds = two.thresholds(percentile)
    assert thresholds == {name: np.percentile(values, percentile) for name, values in two.signals.items()}
    assert np.flatnonzero(two.kept(thresholds, logic=logic)).tolist() == kept


def test_a_value_at_the_percentile_does_not_exceed_it():
    flat = Candidates(RowPairs(np.arange(4), np.arange(4)), {"entities": np.array([1.0, 1.0, 1.0, 2.0])})
    assert flat.kept(flat.thresholds(50)).tolist() == [False, False, False, True]


def test_the_table_of_percentiles_counts_edges_degree_and_density(two):
    table = {(row["percentile"], row["logic"]): row for row in percentile_table([two], nodes=20)}
    assert len(table) == 12
    row = table[80, "or"]
    assert (row["edges"], row["share"], row["mean_degree"], row["density"]) == (4, 0.4, 0.4, 4 / 190)
    edges = {key: row["edges"] for key, row in table.items()}
    assert [edges[at, "or"] for at in (80, 85, 90, 95, 97, 99)] == sorted(
        (edges[at, "or"] for at in (80, 85, 90, 95, 97, 99)), reverse=True
    )
    assert all(edges[at, "and"] <= edges[at, "or"] for at in (80, 85, 90, 95, 97, 99))


def test_correlations_of_signals(two):
    table = signal_correlations(two)
    assert table["up"]["down"] == pytest.approx(-1)
    assert table["up"]["up"] == 1
    constant = Candidates(two.pairs, {"up": two.signals["up"], "flat": np.ones(10)})
    assert signal_correlations(constant)["up"]["flat"] == 0


def test_key_phrases_are_rare_elsewhere_and_often_here():
    texts = [
        "the old ferry sails; the ferry rests",
        "the old house stands",
        "the new house burns",
        "the old town sleeps",
    ]
    phrases = PhraseRanking(texts)
    assert phrases.of(texts[0], most=2) == ["ferry rests"]  # sails stands beside the same word; old is everywhere
    assert "the" not in " ".join(phrases.of(texts[0])).split()
    assert PhraseRanking([]).of("") == []


class Counting:
    """Embeds a text by its length, and counts what it is asked."""

    name, fingerprint, concurrency, usage = "counting", "counting-1", 2, Usage()

    def __init__(self):
        self.asked = []

    def embed(self, texts, *, kind):
        self.asked += texts
        raw = np.array([[len(text), 1.0] for text in texts], np.float32)
        return raw / np.linalg.norm(raw, axis=1, keepdims=True)

    def parts(self, text):
        return (text,)


def test_what_was_embedded_is_not_embedded_again(tmp_path):
    model = Counting()
    first = CachedEmbedder(model, tmp_path, progress=lambda stage, count: None)
    vectors = first.embed(["a", "bb", "a"])
    assert sorted(model.asked) == ["a", "bb"]
    again = CachedEmbedder(model, tmp_path, progress=lambda stage, count: None)
    assert again.embed(["bb", "ccc", "a"])[[0, 2]] == pytest.approx(vectors[[1, 0]], abs=1e-3)
    assert sorted(model.asked) == ["a", "bb", "ccc"]
    assert (first.embedded, again.embedded) == (2, 1)
    assert first.embed([]).shape[0] == 0
