"""What a question may ask for, as data: one hop, two hops, intersections, a typed neighbour, each with a constraint.

The basic patterns of 003 (section 3.2, after PolyG) in our terms: `one_hop` is `<h, r, _>`, `typed_target` is
`<h, *, _>` with the answer's type known, and the others are compositions of the first. A constraint on the answers'
own text makes a question half textual, half relational, as STaRK's are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from orienteer.errors import BadOption, nearest
from orienteer.evaluation.grid import Difficulty

MOST_ANSWERS = 20
"""A question with more gold nodes is oversized: Recall@20 could not be 1."""
CONSTRAINED = "_constrained"


@dataclass(frozen=True, slots=True)
class Pattern:
    """The form of a question: conditions on one unknown node, the answer."""

    name: str
    hops: tuple[int, ...]
    """How far each anchor is from the answer, one entry an anchor."""
    names_edges: bool = True
    """The question says which edge types lead to the answer; else any edge will do."""
    is_constrained: bool = False
    """The answer's own text or properties are asked for too."""

    @property
    def base(self) -> str:
        """Return the name without its constraint."""
        return self.name.removesuffix(CONSTRAINED)


_PLAIN = (
    Pattern("one_hop", (1,)),
    Pattern("two_hops", (2,)),
    Pattern("two_anchors", (1, 1)),
    Pattern("three_anchors", (1, 1, 1)),
    Pattern("typed_target", (1,), names_edges=False),
)
PATTERNS: Mapping[str, Pattern] = {
    pattern.name: pattern
    for plain in _PLAIN
    for pattern in (plain, Pattern(plain.name + CONSTRAINED, plain.hops, plain.names_edges, is_constrained=True))
}


def pattern_of(name: str) -> Pattern:
    """Return a pattern by its name. Raises `BadOption`."""
    if name not in PATTERNS:
        near = nearest(name, PATTERNS)
        hint = f" Near: {', '.join(near)}." if near else ""
        raise BadOption(f"There is no pattern {name!r}.{hint} There are: {', '.join(PATTERNS)}.")
    return PATTERNS[name]


class Step(NamedTuple):
    """A move along edges of one type, or of any, from nodes of one type to nodes of another."""

    start: str
    edge_type: str | None
    """None is any edge, whichever way it points."""
    is_forward: bool | None
    """Along the edge's direction; None where the edge type has none."""
    end: str

    @property
    def turned(self) -> Step:
        """Return the same move the other way round."""
        return Step(self.end, self.edge_type, None if self.is_forward is None else not self.is_forward, self.start)


class Condition(NamedTuple):
    """A named node, and the steps that lead from it to the answer."""

    anchor: int
    """The anchor's row."""
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Constraint:
    """What the answers' own words or properties must hold."""

    phrase: str
    """As the question says it: words of an answer's text, or the value of a property."""
    terms: tuple[str, ...] = ()
    """Terms of the index, every one of which the name, the aliases or the text of a node must hold."""
    property: str | None = None
    """The property whose value must be `phrase`, case aside; a list of values must hold it. None: `terms` decide."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A question before it has words: a pattern filled with nodes and edge types."""

    pattern: Pattern
    conditions: tuple[Condition, ...]
    constraint: Constraint | None = None

    @property
    def answer_type(self) -> str:
        """Return the node type that is asked for."""
        return self.conditions[0].steps[-1].end

    @property
    def anchors(self) -> tuple[int, ...]:
        """Return the rows of the named nodes."""
        return tuple(condition.anchor for condition in self.conditions)


def difficulty(draft: Draft, answers: int) -> Difficulty:
    """Return how much has to come together: one thing is simple, two are medium, more are hard. Names as in 003.

    Each edge on the way counts as one, so does a constraint, and so does a gold set of more than five nodes.
    """
    edges = sum(len(condition.steps) for condition in draft.conditions)
    things = edges + (draft.constraint is not None) + (answers > 5)
    return "simple" if things == 1 else "medium" if things == 2 else "hard"
