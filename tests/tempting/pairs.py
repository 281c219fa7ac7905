"""Pairs of questions by kind. Each template fills its slots at random and tells the truth from the rows alone."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from tempting.worlds import WORLDS, Row, World


class Asked(NamedTuple):
    """A question with its truth, which `judge.py` compares an answer with."""

    question: str
    truth_kind: str
    """`set`, `one of` several sets, `some` so many of a set, `number`, `numbers` that are told apart, `value`, `yesno`,
    `refused`, `noted`: a number with what has to be said beside it."""
    truth: Any


class Pair(NamedTuple):
    """A question of a kind over a world."""

    kind: str
    world: str
    asked: Asked


Template = Callable[[World, random.Random], Iterator[Asked]]
_TEMPLATES: list[tuple[str, str, Template]] = []
_TRIES = 4
REFUSED = ("refused", None)


def asks(kind: str, world: str) -> Callable[[Template], Template]:
    """Let a template ask questions of a kind over a world."""

    def kept(template: Template) -> Template:
        _TEMPLATES.append((kind, world, template))
        return template

    return kept


def pairs(name: str, seed: int, fills: int) -> Iterator[tuple[World, list[Pair]]]:
    """Yield a world with the questions about it, none twice: each template filled so many times."""
    world, chance = WORLDS[name](seed), random.Random(seed)
    asked: dict[str, Pair] = {}
    for kind, own, template in _TEMPLATES:
        if own == name:
            for _ in range(fills):
                for one in template(world, chance):
                    asked.setdefault(one.question, Pair(kind, name, one))
    yield world, list(asked.values())


def some_row(world: World, chance: random.Random, table: str, holds: Callable[[Row], bool] = lambda row: True) -> Row:
    """Return any row of a table for which something holds; any at all where it holds for none."""
    return chance.choice(world.rows(table, holds) or world.rows(table))


def ranked(counts: dict[str, int], number: int, *, most: bool) -> set[str]:
    """Return the ids with the most, or the least, and all that tie with the last of them; nothing counts as most."""
    if most:
        counts = {key: count for key, count in counts.items() if count}
    order = sorted(counts.values(), reverse=most)
    if not order:
        return set()
    last = order[min(number, len(order)) - 1]
    return {key for key, count in counts.items() if (count >= last if most else count <= last)}


def counted(ids: Iterable[str], rows: Iterable[str]) -> dict[str, int]:
    """Return how often each id is among some."""
    own = Counter(rows)
    return {key: own[key] for key in ids}
