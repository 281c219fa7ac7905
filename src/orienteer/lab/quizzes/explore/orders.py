"""The orders for a model, one for each episode: a cell of the grid and a node to begin from.

GraphScout (003), sections 3.3.1 and 3.3.2. The same graph and seed give the same orders, however many are taken.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from orienteer.agents.dialect import harmless
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.examples import CELLS, Cell
from orienteer.lab.quizzes.kinds import definitions
from orienteer.lab.quizzes.proof import node_fault

ATTEMPTS = 3
"""Episodes for one place of a quiz at the most, each from another node."""
_LOOKS = 200  # nodes that are looked at for one to begin from


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizOrder:
    """An order for one episode of a model."""

    id: str
    place: int
    """Which place of the quiz it is for, from 0."""
    cell: Cell
    seed: str
    """The id of the node to begin from."""
    wanted: bool | None = None
    """The wanted value of a boolean, so that both are equally common; None for other answer types."""


@dataclass(frozen=True, slots=True)
class Objectives:
    """The orders of a quiz, by place and attempt."""

    graph: Graph
    random_seed: int
    quizzer: str
    avoid: Collection[str] = frozenset()

    def cell(self, place: int) -> Cell:
        """Return the cell for a place, from 0: all legal cells once in random order, then all again."""
        order = np.random.default_rng(self.random_seed).permutation(len(CELLS))
        return CELLS[int(order[place % len(CELLS)])]

    def order(self, place: int, attempt: int) -> QuizOrder | None:
        """Return an order; None where there is no node to begin from."""
        cell = self.cell(place)
        seed = self._seed(np.random.default_rng([self.random_seed, place, attempt]))
        if seed is None:
            return None
        return QuizOrder(
            id=self.name(place, attempt),
            place=place,
            cell=cell,
            seed=self.graph.arrays.ids[seed],
            wanted=self._wanted(place),
        )

    def name(self, place: int, attempt: int) -> str:
        """Return the name of an episode, which its item gets too."""
        return f"{self.quizzer}-{self.random_seed}-{place + 1:04}-{attempt + 1}"

    def _wanted(self, place: int) -> bool | None:
        """Return the wanted value of a boolean: they alternate within a round of the grid, and are swapped in the next.

        So each round has as many of both values, and so has each cell over two rounds.
        """
        if self.cell(place).answer_type != "boolean":
            return None
        turn, at = divmod(place, len(CELLS))
        before = sum(self.cell(earlier).answer_type == "boolean" for earlier in range(at))
        return (turn + before) % 2 == 0

    def _seed(self, chance: np.random.Generator) -> int | None:
        """Draw a node type, then a node of it that has edges and a usable name, is no hub, and need not be avoided.

        Section 3.3.2: drawn evenly, rare types are begun from as often as common ones.
        """
        graph = self.graph
        degrees = np.diff(graph.arrays.adjacency.indptr)
        for _ in range(_LOOKS):
            rows = np.flatnonzero(graph.arrays.node_types == int(chance.integers(len(graph.arrays.types.nodes))))
            if not len(rows):
                continue
            row = int(rows[int(chance.integers(len(rows)))])
            if degrees[row] >= 1 and graph.arrays.ids[row] not in self.avoid and node_fault(graph, row) is None:
                return row
        return None


def in_words(graph: Graph, order: QuizOrder) -> dict[str, str]:
    """Return the values of a prompt that tell of an order."""
    row = graph.arrays.row(order.seed)
    kinds = order.cell._asdict()
    meanings = {f"{axis}_meaning": definitions()[axis][kind] for axis, kind in kinds.items()}
    wanted = "" if order.wanted is None else f"- its right answer is {order.wanted}\n"
    return {
        **kinds,
        **meanings,
        "wanted": wanted,
        "seed": harmless(order.seed),
        "name": harmless(graph.arrays.names[row]),
        "type": harmless(graph.arrays.type_at(row)),
    }
