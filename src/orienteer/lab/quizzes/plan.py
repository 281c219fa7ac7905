"""A question as data: an unknown node `x`, and the walks that lead to it from given nodes.

`orienteer questions` asks for all nodes that a pattern of its own leads to: one hop, two hops, several anchors that
meet, a typed neighbour, each also with a constraint on the answers' own text, as STaRK's are half textual, half
relational. They are the basic patterns of 003 (section 3.2, after PolyG): `one_hop` is `<h, r, _>`, `typed_target` is
`<h, *, _>` with the answer's type known, and the others are made of the first.

`orienteer quiz` fills the places of a grid (`docs/explanations/graphscout.md`, Quizzer):

    <h,_,_>   one walk along edges of any type
    <h,r,_>   one walk along edges of named types
    <h,*,t>   two walks along edges of any type, from h and from t, that meet; or h and t side by side
    <h,r,t>   the same along edges of named types
    hybrid    a plan whose first node is not named: it is the one answer of another plan, of another pattern
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from orienteer.errors import BadOption, nearest
from orienteer.lab.evaluation.examples import Cell, Difficulty

CONSTRAINED = "_constrained"
HOPS = {"simple": (1, 2), "medium": (2, 4), "hard": (3, 5)}  # 003, B.3.1


class QuestionPattern(NamedTuple):
    """A form of question that asks for all nodes that meet some conditions."""

    name: str
    hops: tuple[int, ...]
    """The number of edges from each anchor to the answer."""
    names_edges: bool
    """The question names the edge types that lead to the answer; else any edge will do."""
    is_constrained: bool
    """The question asks for something in the answer's own text or properties too."""


PATTERNS: Mapping[str, QuestionPattern] = {
    name + suffix: QuestionPattern(name + suffix, hops, name != "typed_target", is_constrained=bool(suffix))
    for name, hops in {
        "one_hop": (1,),
        "two_hops": (2,),
        "two_anchors": (1, 1),
        "three_anchors": (1, 1, 1),
        "typed_target": (1,),
    }.items()
    for suffix in ("", CONSTRAINED)
}


def pattern_of(name: str) -> QuestionPattern:
    """Return a pattern of `orienteer questions` by its name. Raises `BadOption`."""
    if name not in PATTERNS:
        near = nearest(name, PATTERNS)
        hint = f" Near: {', '.join(near)}." if near else ""
        raise BadOption(f"Unknown pattern {name!r}.{hint} Patterns: {', '.join(PATTERNS)}.")
    return PATTERNS[name]


class EdgeStep(NamedTuple):
    """A move along edges of one type, or of any, from nodes of one type to nodes of another."""

    start: str
    edge_type: str | None
    """None is any edge, whichever way it points."""
    is_forward: bool | None
    """Along the edge's direction; None where the edge type has none."""
    end: str

    @property
    def turned(self) -> EdgeStep:
        """Return the same move the other way round."""
        return EdgeStep(self.end, self.edge_type, None if self.is_forward is None else not self.is_forward, self.start)


class WalkCondition(NamedTuple):
    """A given node, and the steps that lead from it to the answer."""

    anchor: int
    """The anchor's row."""
    steps: tuple[EdgeStep, ...]


@dataclass(frozen=True, slots=True)
class Constraint:
    """A condition on the answers' own words or properties."""

    phrase: str
    """As the question says it: words of an answer's text, or the value of a property."""
    terms: tuple[str, ...] = ()
    """Terms of the index that the name, the aliases or the text of a node must all hold."""
    property: str | None = None
    """The property whose value must be `phrase`, case aside; a list of values must hold it. None: `terms` decide."""


@dataclass(frozen=True, slots=True)
class QuestionPlan:
    """A question before it has words. On a walk no node comes twice and no other given node comes at all."""

    pattern: str
    """A name in `PATTERNS`, or the place in the grid; never `hybrid`, which is what a plan with a `first` makes."""
    conditions: tuple[WalkCondition, ...]
    target: int | None = None
    """The row that `x` has to be, if the question is whether two nodes are joined."""
    first: QuestionPlan | None = None
    """The plan that describes the first condition's anchor, in place of its name."""
    constraint: Constraint | None = None

    @property
    def answer_type(self) -> str:
        """Return the node type of `x`."""
        return self.conditions[0].steps[-1].end

    @property
    def anchors(self) -> tuple[int, ...]:
        """Return the rows that the plan's own conditions start from."""
        return tuple(condition.anchor for condition in self.conditions)

    @property
    def named(self) -> tuple[int, ...]:
        """Return the rows that the question names, the seed first."""
        own = self.anchors if self.first is None else (*self.first.named, *self.anchors[1:])
        return own if self.target is None else (*own, self.target)

    @property
    def fixed(self) -> tuple[int, ...]:
        """Return the rows that no walk may come to: named ones and described ones."""
        return self.named if self.first is None else (*self.named, self.anchors[0])

    @property
    def steps(self) -> tuple[EdgeStep, ...]:
        """Return all steps, those of the first plan first."""
        own = tuple(step for condition in self.conditions for step in condition.steps)
        return own if self.first is None else (*self.first.steps, *own)

    @property
    def edge_types(self) -> tuple[str, ...]:
        """Return the edge types that are named, each once."""
        return tuple(dict.fromkeys(step.edge_type for step in self.steps if step.edge_type is not None))

    @property
    def hops(self) -> int:
        """Return the number of edges from the first node named, through `x`, to the last."""
        return len(self.steps)


def difficulty(plan: QuestionPlan, answers: int) -> Difficulty:
    """Return the difficulty by the number of parts: one is simple, two are medium, more are hard (003).

    Each edge of the path counts as one, so does a constraint, and so does a gold set of more than five nodes.
    """
    things = plan.hops + (plan.constraint is not None) + (answers > 5)
    return "simple" if things == 1 else "medium" if things == 2 else "hard"


def fits(plan: QuestionPlan, cell: Cell) -> bool:
    """Return whether a plan has the shape of a place in the grid, by the counts of appendix B.3.1.

    Simple: 1 or 2 hops along one edge type. Medium: 2 to 4 hops, at least two edge types or node types, and of two hops
    along named edges two edge types: else it would be simple. Hard: 3 to 5 hops, at least two edge types or, if none is
    named, two node types.
    """
    edge_types = {step.edge_type for step in plan.steps}
    node_types = {node_type for step in plan.steps for node_type in (step.start, step.end)}
    least, most = HOPS[cell.difficulty]
    pattern = "hybrid" if plan.first is not None else plan.pattern
    if pattern != cell.pattern or not least <= plan.hops <= most:
        return False
    if plan.first is not None and (cell.difficulty == "simple" or plan.first.pattern == plan.pattern):
        return False
    if cell.difficulty == "simple":
        return len(edge_types) == 1
    is_named = edge_types != {None}
    if is_named and (cell.difficulty == "hard" or (plan.hops == least and plan.first is None)):
        return len(edge_types) >= 2
    return len(edge_types) >= 2 or len(node_types) >= 2
