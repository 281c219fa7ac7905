"""What a question means, how three people would put it, and what a right answer is: for the reading of questions.

A gold is computed from the tables of a graph by pandas when it is asked for, and never by the package itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from .frames import Frames

RefusalKind: TypeAlias = Literal["unknown_name", "not_here", "unsupported", "not_understood"]
"""A name that the graph does not hold; a property or a kind that it lacks; what no query can say; what is unclear."""
Split: TypeAlias = Literal["dev", "held"]
"""What whoever builds the reader may look at, and what is kept from them."""


@dataclass(frozen=True)
class Nodes:
    """The answer is exactly these nodes, in any order."""

    ids: frozenset[str]


@dataclass(frozen=True)
class Top:
    """The answer is the first `size` nodes of an order with ties.

    Nodes of one group tie. Where the last group is longer than the rest of `size`, any of its nodes may fill the rest,
    and the whole group is right too.
    """

    groups: tuple[frozenset[str], ...]
    size: int

    @property
    def ids(self) -> frozenset[str]:
        """Return all the nodes that a right answer may hold."""
        return frozenset().union(*self.groups)


@dataclass(frozen=True)
class Number:
    """The answer is a number: a count exactly, an average within `tolerance` of it."""

    value: float
    tolerance: float = 0.0


@dataclass(frozen=True)
class Values:
    """The answer is what a property says: any one of these texts, or all of them where they are the items of a list."""

    texts: frozenset[str]


@dataclass(frozen=True)
class YesNo:
    """The answer is yes or no."""

    is_true: bool


@dataclass(frozen=True)
class Refusal:
    """The right answer is none, with a note that names the word."""

    kind: RefusalKind
    word: str
    """What the note has to name, as the question spells it; phrasings may differ in its case."""


Gold: TypeAlias = Nodes | Top | Number | Values | YesNo | Refusal
GoldOf: TypeAlias = "Callable[[Frames], Gold]"


@dataclass(frozen=True)
class Intent:
    """One meaning, worded in three ways."""

    name: str
    """Unique within its graph."""
    shape: str
    """One of `SHAPES`."""
    phrasings: tuple[str, str, str]
    gold: GoldOf
    also: tuple[GoldOf, ...] = ()
    """Other answers that are as right as `gold`, for a question that sensible people read in two ways."""
    may_be_empty: bool = False
    """Whether no node, or zero, is meant: elsewhere an empty gold is a mistake of whoever wrote the intent."""


SHAPES: dict[str, str] = json.loads((Path(__file__).parent / "shapes.json").read_text(encoding="utf-8"))
"""What each shape of a question is."""
