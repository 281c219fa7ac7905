"""Intervals, the paired permutation test, Holm's correction: against enumeration, textbook formulas and coverage."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from orienteer.lab.evaluation import (
    EXACT_PAIRS,
    holm_corrected,
    mean_interval,
    mean_intervals,
    paired_differences,
    permutation_ps,
    questions_needed,
)

shares = st.lists(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0]), min_size=1, max_size=40)


@given(shares, st.integers(0, 5))
def test_an_interval_holds_its_mean_and_repeats_with_its_seed(values, seed):
    interval = mean_interval(values, random_seed=seed, resamples=500)
    assert interval == mean_interval(values, random_seed=seed, resamples=500)
    assert min(values) <= interval.low <= interval.mean <= interval.high <= max(values)
    assert interval.mean == pytest.approx(np.mean(values))


@pytest.mark.parametrize("values", [[0.3], [0.1] * 7, [1 / 3] * 1000])
def test_constant_values_have_an_interval_without_width(values):
    assert mean_interval(values) == (values[0],) * 3


def test_no_values_have_no_mean():
    with pytest.raises(ValueError, match="no values"):
        mean_interval([])


def test_two_values_give_the_whole_range():
    """Of two values, both resampled means at the ends come up in a quarter of the resamples."""
    assert mean_interval([0.0, 1.0]) == (0.5, 0.0, 1.0)


@pytest.mark.parametrize("times", [1, 20], ids=["each value once", "few values, often"])
def test_the_bootstrap_is_that_of_drawing_questions_one_by_one(times):
    generator = np.random.default_rng(1)
    values = np.tile(generator.random(10), times)
    drawn = generator.choice(values, size=(20_000, len(values))).mean(axis=1)
    low, high = np.percentile(drawn, (2.5, 97.5))
    interval = mean_interval(values.tolist(), resamples=20_000)
    assert interval.low == pytest.approx(low, abs=0.008)
    assert interval.high == pytest.approx(high, abs=0.008)


def test_a_large_sample_gives_the_normal_interval():
    values = [1.0] * 900 + [0.0] * 2100
    half = 1.96 * math.sqrt(0.3 * 0.7 / 3000)
    interval = mean_interval(values)
    assert interval.low == pytest.approx(0.3 - half, abs=0.001)
    assert interval.high == pytest.approx(0.3 + half, abs=0.001)


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    generator = np.random.default_rng(3)
    covered = 0
    for trial in range(300):
        low, high = mean_interval(generator.binomial(1, 0.4, 60).tolist(), random_seed=trial, resamples=400)[1:]
        covered += low <= 0.4 <= high
    assert 0.90 <= covered / 300 <= 0.99


def test_many_distinct_values_are_done_in_batches():
    values = np.random.default_rng(0).random(3000)
    interval = mean_interval(values.tolist(), resamples=2000)
    half = 1.96 * values.std() / math.sqrt(len(values))
    assert interval.high - interval.low == pytest.approx(2 * half, rel=0.1)


@pytest.mark.parametrize("one_by_one", [mean_interval, lambda values: p_of(values, [0.0] * len(values))])
def test_a_column_does_not_depend_on_the_others(one_by_one):
    generator = np.random.default_rng(8)
    columns = [generator.normal(0.1, 1, 50), generator.integers(-1, 2, 50).astype(float), np.zeros(50), np.eye(50)[0]]
    together = mean_intervals(columns) if one_by_one is mean_interval else permutation_ps(columns)
    for column, interval in zip(columns, together, strict=True):
        assert interval == pytest.approx(one_by_one(column.tolist()), abs=1e-12)
    assert mean_intervals([]) == permutation_ps([]) == []


def test_a_difference_is_paired():
    """Two methods that vary much but differ by the same on every question have a difference without doubt."""
    theirs = [0.0, 0.3, 0.5, 0.75]
    ours = [score + 0.25 for score in theirs]
    assert mean_interval(paired_differences(ours, theirs)) == pytest.approx((0.25, 0.25, 0.25))
    with pytest.raises(ValueError, match="shorter"):
        paired_differences(ours, theirs[:-1])


def p_of(ours, theirs, **options):
    return permutation_ps([paired_differences(ours, theirs)], **options)[0]


def enumerated(gains):
    """Give the two-sided p of all assignments of signs."""
    reached = abs(sum(gains)) - 1e-9
    sums = [
        abs(sum(s * d for s, d in zip(signs, gains, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(gains))
    ]
    return sum(total >= reached for total in sums) / len(sums)


@given(st.lists(st.sampled_from([-1.0, -0.5, -1 / 3, 0.1, 0.5, 1.0]), min_size=1, max_size=9))
def test_a_small_permutation_test_is_exact(gains):
    assert p_of(gains, [0.0] * len(gains)) == pytest.approx(enumerated(gains))


def test_questions_that_are_level_do_not_count_in_the_permutation_test():
    assert p_of([1.0] * 5 + [0.5] * 100, [0.0] * 5 + [0.5] * 100) == 2 / 2**5
    assert p_of([0.5] * 10, [0.5] * 10) == 1.0
    assert p_of([], []) == 1.0


def test_a_large_permutation_test_is_close_to_the_sign_test():
    """With differences of one size the test is the binomial one."""
    better, worse = 40, 22
    n = better + worse
    exact = 2 * sum(math.comb(n, count) for count in range(better, n + 1)) / 2**n
    assert n > EXACT_PAIRS
    p = p_of([1.0] * better + [0.0] * worse, [0.0] * better + [1.0] * worse)
    assert p == pytest.approx(exact, abs=0.01)


def test_p_is_symmetric_never_zero_and_repeats():
    ours, theirs = [1.0] * 200, [0.0] * 200
    assert p_of(ours, theirs) == p_of(theirs, ours) == 1 / 10_001


def test_p_is_uniform_where_there_is_no_difference():
    generator = np.random.default_rng(5)
    ps = [p_of(*generator.binomial(1, 0.5, (2, 80)).astype(float), resamples=400) for _ in range(200)]
    assert 0.01 <= np.mean(np.array(ps) < 0.05) <= 0.10


def test_holm():
    assert holm_corrected([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm_corrected([0.5, 0.9]) == [1.0, 1.0]
    assert holm_corrected([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_keeps_the_order_and_never_lowers(ps):
    corrected = holm_corrected(ps)
    assert all(p <= c <= 1 for p, c in zip(ps, corrected, strict=True))
    order = sorted(range(len(ps)), key=ps.__getitem__)
    assert [corrected[place] for place in order] == sorted(corrected)


def test_as_many_questions_as_are_said_to_be_needed_find_the_difference_mostly():
    generator = np.random.default_rng(9)
    theirs = (generator.random(400) < 0.4).astype(float)
    ours = np.where(generator.random(400) < 0.2, 1.0, theirs)
    needed = questions_needed(ours.tolist(), theirs.tolist(), smallest=0.02)
    told_apart = 0
    for trial in range(200):
        chosen = generator.integers(0, 400, needed)
        told_apart += (
            mean_interval(paired_differences(ours[chosen], theirs[chosen]), random_seed=trial, resamples=300).low > 0
        )
    assert 0.7 <= told_apart / 200 <= 0.95


def test_a_difference_near_zero_is_taken_for_the_smallest_that_matters():
    level = [1.0, 0.0] * 20, [0.0, 1.0] * 20
    assert questions_needed(*level, smallest=0.1) == pytest.approx((2.8016 * 1.0127 / 0.1) ** 2, rel=0.01)
    assert questions_needed([0.5], [0.2], smallest=0.1) is None
    assert questions_needed([0.5] * 9, [0.2] * 9, smallest=0.1) is None
