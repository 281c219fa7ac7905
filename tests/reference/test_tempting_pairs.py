"""Pairs of questions that differ in little: none is answered falsely, and most are answered. `tests/tempting` asks.

The figures by kind: `PYTHONPATH=tests python -m tempting`.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from tempting.asking import FILLS, SEEDS, Answered, ask_all
from tempting.pairs import pairs
from tempting.worlds import WORLDS

KINDS = (
    "closed scope",
    "joined by and",
    "shared word of properties",
    "general noun",
    "name in a phrase",
    "place in a phrase",
    "counts of nought",
    "three who",
    "date of an edge",
    "words that begin alike",
    "namesakes",
    "rows of a table",
    "direction",
    "not in this graph",
    "values without a number",
)
LEAST_RIGHT = 0.7


@pytest.fixture(scope="module")
def answered(request: pytest.FixtureRequest) -> dict[str, list[Answered]]:
    """Return the answers by kind: of one seed, in the last lane of all."""
    by_kind = defaultdict(list)
    for one in ask_all(range(SEEDS if request.config.getoption("lane") == "all" else 1)):
        by_kind[one.pair.kind].append(one)
    return by_kind


def test_there_are_a_thousand_questions_of_every_kind() -> None:
    asked = Counter[str]()
    for seed in range(SEEDS):
        for name in WORLDS:
            for _, questions in pairs(name, seed, FILLS):
                asked.update(pair.kind for pair in questions)
    assert asked.total() >= 1_000
    assert set(asked) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_none_is_answered_falsely(answered: dict[str, list[Answered]], kind: str) -> None:
    assert answered[kind]
    wrong = [one.told() for one in answered[kind] if one.verdict == "wrong"]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("kind", KINDS)
def test_most_are_answered(answered: dict[str, list[Answered]], kind: str) -> None:
    right = [one for one in answered[kind] if one.verdict == "right"]
    assert len(right) >= LEAST_RIGHT * len(answered[kind]), [
        one.told() for one in answered[kind] if one.verdict == "refused"
    ]
