"""Fusion: several ordered lists become one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class VoteCount(NamedTuple):
    """A place of a fused list."""

    id: str
    votes: int
    """How many lists hold it."""


def vote(lists: Sequence[Sequence[str]]) -> tuple[VoteCount, ...]:
    """Order ids by how many lists hold them, ties by the earliest place within any list. ARK, section 3.2.

    Remaining ties keep the order of the lists put one after another.
    """
    place: dict[str, int] = {}
    votes: dict[str, int] = {}
    for ids in lists:
        for at, item in enumerate(dict.fromkeys(ids)):
            votes[item] = votes.get(item, 0) + 1
            place[item] = min(at, place.get(item, at))
    fused = sorted(votes, key=lambda item: (-votes[item], place[item]))  # stable: first come, first placed
    return tuple(VoteCount(item, votes[item]) for item in fused)


def concatenate(lists: Sequence[Sequence[str]]) -> tuple[VoteCount, ...]:
    """Put the lists one after another, first appearances only. The ordering of ARK's table 3."""
    votes = {place.id: place.votes for place in vote(lists)}
    return tuple(VoteCount(item, votes[item]) for item in dict.fromkeys(item for ids in lists for item in ids))


def shuffle(lists: Sequence[Sequence[str]], random: np.random.Generator) -> tuple[VoteCount, ...]:
    """Put the union of the lists into a random order. The random merge of ARK's table 3."""
    fused = concatenate(lists)
    return tuple(fused[at] for at in random.permutation(len(fused)))
