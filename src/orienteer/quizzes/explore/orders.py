"""What is ordered of a model, one order an episode: a place in the grid, and a node to begin from.

GraphScout (003), sections 3.3.1 and 3.3.2. The same graph and seed give the same orders, however many are taken.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from orienteer.agents.dialect import harmless
from orienteer.evaluation.quiz_item import CELLS, Cell
from orienteer.graph.store import Graph
from orienteer.quizzes.checks import node_fault
from orienteer.quizzes.kinds import definitions

ATTEMPTS = 3
"""Episodes that one place of a quiz is worth: each begins at another node."""
_LOOKS = 200  # nodes that are looked at for one to begin from


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizOrder:
    """What was ordered of a model."""

    id: str
    place: int
    """Which place of the quiz it is for, from 0."""
    cell: Cell
    seed: str
    """The id of the node to begin from."""
    wanted: bool | None = None
    """The value that a boolean is to have, so that both come as often; None of another answer type."""


@dataclass(frozen=True, slots=True)
class Objectives:
    """The orders of a quiz, by place and attempt."""

    graph: Graph
    random_seed: int
    quizzer: str
    avoid: Collection[str] = frozenset()

    def cell(self, place: int) -> Cell:
        """Return what is ordered for a place, from 0: every legal cell once, in chance order, and again."""
        order = np.random.default_rng(self.random_seed).permutation(len(CELLS))
        return CELLS[int(order[place % len(CELLS)])]

    def order(self, place: int, attempt: int) -> QuizOrder | None:
        """Return an order; None where no node was found to begin from."""
        cell = self.cell(place)
        seed = self._seed(np.random.default_rng([self.random_seed, place, attempt]))
        if seed is None:
            return None
        return QuizOrder(
            id=self.name(place, attempt),
            place=place,
            cell=cell,
            seed=self.graph.ids[seed],
            wanted=self._wanted(place),
        )

    def name(self, place: int, attempt: int) -> str:
        """Return what an episode is called, and the item that comes of it."""
        return f"{self.quizzer}-{self.random_seed}-{place + 1:04}-{attempt + 1}"

    def _wanted(self, place: int) -> bool | None:
        """Return the value of a boolean: by turns over the booleans of one round of the grid, the others in the next.

        So each round has as many of both, and so has each cell over two.
        """
        if self.cell(place).answer_type != "boolean":
            return None
        turn, at = divmod(place, len(CELLS))
        before = sum(self.cell(earlier).answer_type == "boolean" for earlier in range(at))
        return (turn + before) % 2 == 0

    def _seed(self, chance: np.random.Generator) -> int | None:
        """Draw a node type, then a node of it: one with edges, no hub, with a name to call it by, not to be avoided.

        Section 3.3.2: drawn evenly, rare types are begun from as often as common ones.
        """
        graph = self.graph
        degrees = np.diff(graph.adjacency.indptr)
        for _ in range(_LOOKS):
            rows = np.flatnonzero(graph.node_types == int(chance.integers(len(graph.types.nodes))))
            if not len(rows):
                continue
            row = int(rows[int(chance.integers(len(rows)))])
            if degrees[row] >= 1 and graph.ids[row] not in self.avoid and node_fault(graph, row) is None:
                return row
        return None


def in_words(graph: Graph, order: QuizOrder) -> dict[str, str]:
    """Return what a prompt says of an order."""
    row = graph.row(order.seed)
    kinds = order.cell._asdict()
    meanings = {f"{axis}_meaning": definitions()[axis][kind] for axis, kind in kinds.items()}
    wanted = "" if order.wanted is None else f"- its right answer is {order.wanted}\n"
    return {
        **kinds,
        **meanings,
        "wanted": wanted,
        "seed": harmless(order.seed),
        "name": harmless(graph.names[row]),
        "type": harmless(graph.type_at(row)),
    }
