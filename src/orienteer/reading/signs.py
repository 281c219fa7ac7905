"""The words of comparisons: what stands before an amount and behind it, `over`, `at least`, `or more`."""

from __future__ import annotations

from collections.abc import Mapping

from orienteer.reading.function_words import phrases_of, words_of
from orienteer.reading.query import Comparison

SIGNS: Mapping[Comparison, tuple[str, ...]] = {
    ">=": phrases_of(
        """at least, no less than, no fewer than, not less than, not fewer than, a minimum of, minimum of, since,
        greater than or equal to, more than or equal to, equal to or greater than, equal to or more than, in or after,
        on or after, in or since, larger than or equal to, at or above, at or over, not under, not below,
        starting from, as of, no earlier than, not before"""
    ),
    "<=": phrases_of(
        """at most, up to, no more than, not more than, a maximum of, maximum of, until, till, no later than, not
        over, less than or equal to, fewer than or equal to, equal to or less than, equal to or fewer than, in or
        before, on or before, up to and including, smaller than or equal to, at or below, at or under, not greater
        than, not larger than, not higher than, not after, not later than, no higher than, no greater than, no larger
        than, not above, not exceeding, through, by the end of, by"""
    ),
    ">": phrases_of(
        """more than, greater than, larger than, higher than, over, above, exceeding, exceeds, exceed, beyond,
        in excess of, bigger than, after, later than, past, upwards of"""
    ),
    "<": phrases_of(
        """less than, fewer than, smaller than, lower than, under, below, short of, before, prior to, earlier than,
        ahead of"""
    ),
    "=": phrases_of("exactly, equal to, equals, precisely, just, only, during, in the year, in year, in, on, from"),
}
"""What is said before an amount."""

OF_SIZES = words_of("under over above below beneath")
"""Comparisons that are of no time: "lots under 1000"."""
OF_DATES = frozenset(
    phrases_of(
        """since, until, till, after, before, prior to, later than, earlier than, in, on, during, from, in the year,
        in year, starting from, as of, through, past, by, by the end of, in or after, on or after, in or since, in or
        before, on or before, not after, not later than"""
    )
)
"""Those that are said before dates alone."""

OF_COUNTS = frozenset(
    phrases_of(
        """at least, no less than, no fewer than, a minimum of, at most, up to, no more than, a maximum of, more than,
        over, above, exceeding, less than, fewer than, under, below, exactly, precisely, just, only, not more than,
        not less than, greater than, upwards of, greater than or equal to, exceeds, exceed, less than or equal to,
        fewer than or equal to, more than or equal to, equal to or greater than, equal to or less than, minimum of,
        maximum of, at or above, at or below, not fewer than, larger than, smaller than, in excess of"""
    )
)
"""Those that are said before a number of things."""

BEHIND: Mapping[Comparison, tuple[str, ...]] = {
    ">=": phrases_of(
        """or more, or higher, or deeper, or taller, or longer, or heavier, or faster, or larger, or bigger, or
        greater, or younger, at the earliest, at the least, at least, and above, and up, and later, and after, and
        over, and more, or newer, onwards, onward, or after, or above, or later, or over"""
    ),
    "<=": phrases_of(
        """at the latest, at the most, or smaller, or shorter, or lighter, or cheaper, or slower, or shallower, at most,
        or older, or before, or less, or fewer, or lower, or below, or under, and below, and under, and before,
        and earlier, or earlier"""
    ),
}
"""What is said behind an amount."""

OR_SO: Mapping[Comparison, tuple[str, ...]] = {
    ">=": phrases_of("or more, or greater, or over, plus, at least, at the least"),
    "<=": phrases_of("or fewer, or less, at most, at the most"),
}
"""What is said behind a number of things."""

OF_OTHERS = frozenset(
    phrases_of(
        """more than, greater than, larger than, higher than, above, exceeding, exceeds, exceed, bigger than, after,
        later than, less than, fewer than, smaller than, lower than, below, before, prior to, earlier than,
        no more than, no less than, no later than, no earlier than, not before"""
    )
)
"""Those that are said before another node, whose value is meant."""

SAME_YEAR = phrases_of("in the same year as, the same year as, in the very same year as, in exactly the same year as")

BY_FIRST: dict[str, list[tuple[Comparison, str]]] = {}
"""What is said before an amount, by the first word, in the order above."""
for _comparison, _phrases in SIGNS.items():
    for _phrase in _phrases:
        BY_FIRST.setdefault(_phrase.split()[0], []).append((_comparison, _phrase))
