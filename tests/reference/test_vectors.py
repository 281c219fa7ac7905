"""Searches by vectors against the definition: every cosine in float64, sorted, ties by row."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from orienteer.errors import BadOption
from orienteer.index import LEAST_RECALL, ArrayFolder, VectorIndex, create_halves, write_index

DIMENSION = 40  # no multiple of 64


def clustered(random, count, *, dimension=DIMENSION, shift=0.0):
    """Return vectors of length 1 that lie in groups, around a common direction where there is a shift."""
    centers = random.standard_normal((max(count // 50, 1), dimension))
    drawn = 0.8 * centers[random.integers(0, len(centers), count)] + random.standard_normal((count, dimension))
    drawn += shift * np.sqrt(dimension)
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def written(folder, vectors, counts=None, **options):
    counts = np.ones(len(vectors), np.int64) if counts is None else np.asarray(counts)
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    folder.mkdir(parents=True)
    halves = create_halves(folder, *vectors.shape)
    halves[:] = vectors
    write_index(folder, first, halves)
    return VectorIndex(ArrayFolder(folder), vectors.shape[1], **options)


def true_scores(vectors, counts, query, best):
    """Return the score of each row by the definition, -inf where it has no vector."""
    cosines = vectors.astype(np.float16).astype(np.float32).astype(np.float64) @ query.astype(np.float64)
    owner = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(owner)) - (np.cumsum(counts) - counts)[owner]
    table = np.full((len(counts), max(counts.max(), 1)), -np.inf)  # (rows, vectors of a row)
    table[owner, within] = cosines
    table = -np.sort(-table, axis=1)
    taken = np.minimum(counts, best or table.shape[1])
    total = np.where(np.arange(table.shape[1]) < taken[:, None], table, 0).sum(axis=1)
    return np.where(counts > 0, total / np.maximum(taken, 1), -np.inf)


def true_search(scores, k, allowed):
    rows = np.flatnonzero(allowed & np.isfinite(scores))
    rounded = np.round(scores, 7)
    return rows[np.lexsort((rows, -rounded[rows]))][:k]


@pytest.mark.parametrize("best", [0, 1, 2])
@pytest.mark.parametrize("is_plain", [True, False])
@given(seed=st.integers(0, 10_000))
def test_every_search_of_few_vectors_is_the_definition(is_plain, best, seed, scratch):
    random = np.random.default_rng(seed)
    nodes = int(random.integers(1, 60))
    counts = np.ones(nodes, np.int64) if is_plain else random.integers(0, 4, nodes)
    vectors = clustered(random, max(int(counts.sum()), 1))
    if not counts.sum():
        counts[0] = 1
    vectors[-1] = vectors[0]  # a tie
    index = written(scratch(), vectors, counts)
    query = clustered(random, 1)[0]
    scores = true_scores(vectors, counts, query, best)
    among = np.flatnonzero(random.random(nodes) < 0.5).astype(np.int32)
    mask = random.random(nodes) < 0.5
    of_among = np.isin(np.arange(nodes), among)
    for given_among, given_mask, allowed in [
        (None, None, np.ones(nodes, bool)),
        (among, None, of_among),
        (None, mask, mask),
        (among, mask, of_among & mask),
    ]:
        for k in (0, 1, 3, 99):
            found = index.search(query, k, among=given_among, mask=given_mask, best=best)
            expected = true_search(scores, k, allowed)
            assert found.rows.tolist() == expected.tolist()
            assert found.scores == pytest.approx(scores[expected], abs=1e-6)
    assert index.scores(query, np.arange(nodes, dtype=np.int32), best=best) == pytest.approx(
        np.where(np.isfinite(scores), scores, -1), abs=1e-6
    )
    ends = index.ends(query, best=best)
    has = scores[np.isfinite(scores)]
    assert ends == pytest.approx((has.min(), has.max()), abs=1e-6)


class Many:
    """Enough vectors for the scan of signs, of one or several a row."""

    def __init__(self, folder, counts, **options):
        random = np.random.default_rng(3)
        self.counts = counts
        self.vectors = clustered(random, int(counts.sum()), dimension=96)
        self.index = written(folder, self.vectors, counts, **options)
        drawn = self.vectors[random.integers(0, len(self.vectors), 10)] + random.standard_normal((10, 96)) / 12
        self.queries = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
        self.mask = random.random(len(counts)) < 0.9

    def scores(self, query, best=1):
        return true_scores(self.vectors, self.counts, query, best)


@pytest.fixture(scope="module", params=["one", "several"])
def counts(request):
    return np.ones(5_000, np.int64) if request.param == "one" else np.random.default_rng(5).integers(0, 4, 3_600)


def test_a_search_of_every_vector_is_exact(counts, scratch):
    many = Many(scratch(), counts, is_exact=True)
    for query in many.queries[:5]:
        scores = many.scores(query)
        for mask in (None, many.mask):
            found = many.index.search(query, 20, mask=mask)
            expected = true_search(scores, 20, np.ones(len(counts), bool) if mask is None else mask)
            assert found.rows.tolist() == expected.tolist()
        ends = many.index.ends(query)
        has = scores[np.isfinite(scores)]
        assert ends == pytest.approx((has.min(), has.max()), abs=1e-6)


@pytest.mark.parametrize("k", [10, 400])
def test_the_scan_of_signs_finds_nearly_all_and_scores_them_exactly(counts, k, scratch):
    many = Many(scratch(), counts)
    among = np.flatnonzero(many.mask).astype(np.int32)
    found_of_true = []
    for query in many.queries:
        scores = many.scores(query)
        for restricted in ({}, {"mask": many.mask}, {"among": among}):
            found = many.index.search(query, k, **restricted)
            allowed = many.mask if restricted else np.ones(len(counts), bool)
            assert allowed[found.rows].all()
            assert found.scores == pytest.approx(scores[found.rows], abs=1e-6)
            assert np.lexsort((found.rows, -found.scores)).tolist() == list(range(k))
            found_of_true.append(len(set(found.rows) & set(true_search(scores, k, allowed))) / k)
        ends = many.index.ends(query)
        has = scores[np.isfinite(scores)]
        assert ends[1] == pytest.approx(has.max(), abs=0.02)
        assert ends[0] == pytest.approx(has.min(), abs=0.05)
    assert np.mean(found_of_true) > LEAST_RECALL


def test_rows_with_very_many_vectors_leave_room_for_others(scratch):
    """The nearest thousand vectors may all be of two long texts; `k` rows are wanted all the same."""
    random = np.random.default_rng(6)
    counts = np.array([2_000, 2_000, *([1] * 1_000)])
    vectors = clustered(random, int(counts.sum()), dimension=96)
    vectors[:4_000] = vectors[0] + random.standard_normal((4_000, 96)) / 100
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = written(scratch(), vectors, counts)
    found = index.search(vectors[0], 20)
    expected = true_search(true_scores(vectors, counts, vectors[0], 1), 20, np.ones(len(counts), bool))
    assert len(found.rows) == 20
    assert found.rows[:2].tolist() == expected[:2].tolist()
    assert len(set(found.rows) & set(expected)) >= 18


def test_the_recall_that_is_measured_is_that_of_the_definition(counts, scratch):
    many = Many(scratch(), counts)
    measured = many.index.measure(np.random.default_rng(0))
    owner = np.repeat(np.arange(len(counts)), counts)
    sample = np.sort(np.random.default_rng(0).choice(len(owner), 200, replace=False))
    shares = []
    for place in sample[::5]:
        scores = true_scores(many.vectors, counts, many.vectors[place].astype(np.float16).astype(np.float32), 1)
        true = set(true_search(scores, 11, np.ones(len(counts), bool))) - {owner[place]}
        found = set(many.index.search(many.vectors[place], 11).rows) - {owner[place]}
        shares.append(len(found & true) / 10)
    assert measured == pytest.approx(np.mean(shares), abs=0.02)


def test_vectors_around_a_common_direction_are_found_because_of_the_mean(scratch):
    """Without the mean, signs that all vectors share would say nothing: engines lose a fifth of the neighbours."""
    random = np.random.default_rng(1)
    vectors = clustered(random, 6_000, dimension=96, shift=0.2)
    assert float(np.mean(vectors @ vectors.mean(axis=0))) > 0.5
    assert written(scratch(), vectors).measure(random) > 0.99


def test_vectors_whose_signs_tell_nothing_have_a_low_recall(scratch):
    random = np.random.default_rng(1)
    spread = np.where(np.arange(96) < 3, 1.0, 0.02)  # three dimensions hold everything
    drawn = random.standard_normal((6_000, 96)) * spread
    vectors = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    assert written(scratch(), vectors).measure(random) < LEAST_RECALL


def test_a_query_of_another_dimension_is_refused(scratch):
    index = written(scratch(), clustered(np.random.default_rng(1), 5))
    with pytest.raises(BadOption, match=r"\(7,\)"):
        index.search(np.ones(7, np.float32), 3)
    with pytest.raises(BadOption, match="-1"):
        index.search(np.ones(DIMENSION, np.float32), 3, best=-1)
