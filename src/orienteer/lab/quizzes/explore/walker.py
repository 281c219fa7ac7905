"""The quizzer of table 2's ablation: a walk at random, its nodes and edges as text, and one call that writes the item.

GraphScout (003), section 4.2.3: subgraphs are sampled by random walks, turned into text, and a model makes a question
of them without looking any further. What it hands in is checked as what an explorer hands in, and sent back once. How
long a walk is, and what of a node is told, the paper leaves open.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from orienteer.agents.dialect import harmless
from orienteer.graph.store import Graph
from orienteer.lab.quizzes.explore.orders import QuizOrder, in_words
from orienteer.lab.quizzes.explore.report import CheckedReport
from orienteer.lab.quizzes.explore.scout import QuizEpisode, begun_by, handed_in, recorded, report_prompt
from orienteer.llm.conversation import Conversation
from orienteer.protocols import LanguageModel, Run
from orienteer.retrieval.graph_text import arrow
from orienteer.retrieval.schema import describe
from orienteer.text.lines import one_line

STEPS = 20
"""Steps of a walk; ours."""
RETURN = 0.15
"""Chance of going back to the first node before a step, which keeps a walk near it. Ours, after random walks with
restart."""
_TEXT = 200  # characters of a node's text that are told


class Walker:
    """Has a model write questions from walks over one graph. Safe to share among threads."""

    def __init__(self, graph: Graph, *, temperature: float) -> None:
        self._graph, self._temperature = graph, temperature
        described = describe(graph, None, has_code=False)._asdict()
        self._environment = {name: harmless(part) for name, part in described.items()}

    def explore(
        self, order: QuizOrder, model: LanguageModel, run: Run, check: Callable[..., CheckedReport]
    ) -> QuizEpisode:
        """Walk from the order's node, have a question written about the walk, and have it checked.

        `check(report, touched=ids)` judges a report. Raises `ModelError` and `BudgetExhausted`.
        """
        rows = walk(
            self._graph, self._graph.arrays.row(order.seed), np.random.default_rng([run.random_seed, order.place])
        )
        parts = {"piece": piece(self._graph, rows), "report": report_prompt(order)}
        values = {**in_words(self._graph, order), **parts}
        begun = begun_by(model, order, run, "quiz-walk", self._environment, values, self._temperature)
        talk = Conversation(model, begun.opening, sampling=begun.sampling)
        touched = {self._graph.arrays.ids[row] for row in rows}
        item, wrong = handed_in(talk, run, None, lambda report: check(report, touched=touched))
        return QuizEpisode(item, wrong, (recorded(begun, talk, item, wrong),))


def walk(graph: Graph, start: int, chance: np.random.Generator, *, steps: int = STEPS) -> tuple[int, ...]:
    """Return the rows that a random walk meets, each once, in order. All edges of a node are equally likely."""
    adjacency = graph.arrays.adjacency
    here, rows = start, {start: None}
    for _ in range(steps):
        if chance.random() < RETURN:
            here = start
        begin, end = adjacency.ends(here)
        if begin == end:
            break
        here = int(adjacency.neighbor[begin + int(chance.integers(end - begin))])
        rows[here] = None
    return tuple(rows)


def piece(graph: Graph, rows: tuple[int, ...]) -> str:
    """Return nodes and all edges among them as text for a model."""
    nodes = [
        f"[{graph.arrays.ids[row]}] {one_line(graph.arrays.names[row])} (type {graph.arrays.type_at(row)})"
        + (f": {text}" if text else "")
        for row in rows
        for text in (one_line(graph.arrays.texts[row][:_TEXT]),)
    ]
    edges = [
        f"[{edge.source}] {arrow(graph.schema.label(edge.type), 'out')} [{edge.target}]"
        for place, row in enumerate(rows)
        for edge in graph.arrays.edges_between(row, np.array(rows[place + 1 :], np.int32))
    ]
    return harmless("\n".join([*nodes, *dict.fromkeys(edges)]))
