"""Where retrievers start in a graph: what a query names, what is near it, and what the facts that fit it are about.

The last is HippoRAG 2 as it retrieves: five facts by nearness, a model's choice among them, five phrases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.names.titles import TitleFinder
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask, ScoredRows
from orienteer.index.searchers import Memo, ranking_of
from orienteer.llm.exchange import ask_for
from orienteer.llm.prompts import prompt_of
from orienteer.protocols import LanguageModel, Run
from orienteer.records import JsonValue, Trajectory
from orienteer.retrieval.expansion.incidence import Incidence
from orienteer.retrieval.spaces import Spaces

LEAST_COSINE = 0.2
"""Nearness below which a node does not count as found. LightRAG's cosine_better_than_threshold."""
SEEDS = 40
"""Entities, and relations, that a search gives. LightRAG's top_k."""
MEMBER = "member"
"""The edge type from a fact to an entity that it is about."""
NONE = ScoredRows(np.zeros(0, np.int32), np.zeros(0, np.float64))


class Seeds:
    """Finds nodes for names and for texts. Safe to share among threads."""

    def __init__(self, graph: Graph, spaces: Spaces) -> None:
        self._graph, self._spaces = graph, spaces
        self._titles = TitleFinder(graph.arrays, lower=True)
        lexical = ranking_of(spaces.mode).kind == "lexical"
        self._dense = None if lexical else graph.arrays.searcher("dense")
        self._top = Memo[str, float]()

    def search(self, text: str, k: int, mask: Mask) -> ScoredRows:
        """Return the `k` best of the marked rows for a text, the best 1, less those that are not near it at all."""
        hits = self._spaces.search(text, k, mask)
        if not len(hits.rows):
            return hits
        rows, scores = hits
        if self._dense is not None:
            order = np.argsort(rows)
            cosines = np.empty(len(rows))
            cosines[order] = self._dense.scores(text, rows[order])
            near = (cosines >= LEAST_COSINE) | (cosines <= -1)  # what has no vector was found by its words
            rows, scores = rows[near], scores[near]
        return ScoredRows(rows, _scaled(scores, float(hits.scores[0])))

    def named(self, words: Sequence[str], mask: Mask) -> Rows:
        """Return the marked rows that are named so, sorted."""
        named = [rows[mask[rows]] for rows in map(self._titles, words)]
        return np.unique(np.concatenate([np.zeros(0, np.int32), *named]))

    def find(self, words: Sequence[str], text: str, k: int, mask: Mask) -> ScoredRows:
        """Return the nodes for the names in a query, 1 for each that is named so, before others that are like them.

        Of several that are named so, those that fit the whole text come first. Without names, or where none leads
        anywhere, the text is searched for.
        """
        named = self.named(words, mask)
        order = np.lexsort((named, -self.fits(text)(named))) if len(named) else np.zeros(0, np.int64)
        named = named[order][:k]
        others = self.search(", ".join(words), k, mask) if words else NONE
        if not len(named) and not len(others.rows):
            others = self.search(text, k, mask)
        new = ~np.isin(others.rows, named)
        rows = np.concatenate([named, others.rows[new]])[:k]
        scores = np.concatenate([np.ones(len(named)), others.scores[new]])[:k]
        return ScoredRows(rows.astype(np.int32), scores)

    def fits(self, text: str) -> Callable[[Rows], NDArray[np.float64]]:
        """Return what says how well sorted rows fit a text: 0 to 1, the best of the whole graph being 1."""
        top = self._top(text, self._best_score)
        return lambda rows: _scaled(self._spaces.scores(text, rows), top)

    def _best_score(self, text: str) -> float:
        best = self._spaces.searcher.search(text, 1).scores
        return float(best[0]) if len(best) else 0.0


def _scaled(scores: NDArray[np.float64], top: float) -> NDArray[np.float64]:
    return (scores / top).clip(0.0, 1.0) if top > 0 else np.zeros(len(scores))


class FactSeeds(NamedTuple):
    """Facts that fit a question, best first, and entities with how much of a walk begins there."""

    facts: Rows
    scores: NDArray[np.float64]
    """Of each fact, the best one's 1."""
    entities: Rows
    weights: NDArray[np.float64]
    trajectories: tuple[Trajectory, ...] = ()
    """What a model was asked to choose among them."""


class Facts:
    """Finds the facts that fit a question. Safe to share among threads."""

    def __init__(self, spaces: Spaces, incidence: Incidence, *, k: int, phrases: int, model: LanguageModel | None):
        self._spaces, self._k, self._phrases, self._model = spaces, k, phrases, model
        assert incidence.rows is not None  # names are entities where facts have members
        self._passages = dict(zip(incidence.rows.tolist(), incidence.holders.counts().tolist(), strict=True))

    def __call__(self, question: str, run: Run) -> FactSeeds:
        """Return the facts that fit, those alone that the model keeps where there is one; none where nothing fits.

        A reply that fits no schema keeps all. Raises `BudgetExhausted`, `ModelError` where a model is asked.
        """
        hits = self._spaces.search(question, self._k, self._spaces.facts)
        rows, scores = hits.rows[hits.scores > 0], hits.scores[hits.scores > 0]
        scores = scores / scores[0] if len(scores) else scores
        if self._model is None or not len(rows):
            return self._weighed(rows, scores)
        prompt = prompt_of("hippo-facts", "orienteer.retrieval")
        exchange = ask_for(self._model, run, prompt, _schema(len(rows)), question=question, facts=self._numbered(rows))
        if exchange.value is not None:
            places = sorted({number - 1 for number in exchange.value["kept"]})
            rows, scores = rows[places], scores[places]
        return self._weighed(rows, scores)._replace(trajectories=(exchange.trajectory,))

    def _numbered(self, rows: Rows) -> str:
        """Return facts as lines of a prompt."""
        texts = (self._spaces.graph.arrays.texts[row] or self._spaces.graph.arrays.names[row] for row in rows.tolist())
        return "\n".join(f"{number}. {' '.join(text.split())}" for number, text in enumerate(texts, 1))

    def _weighed(self, facts: Rows, scores: NDArray[np.float64]) -> FactSeeds:
        """Return the entities of these facts that weigh most: the mean score of its facts / passages it stands in."""
        graph = self._spaces.graph
        shares: dict[int, list[float]] = {}
        for fact, score in zip(facts.tolist(), scores.tolist(), strict=True):
            members = graph.arrays.adjacency.entries(
                np.array([fact], np.int32), graph.arrays.kind_mask([MEMBER], None)
            ).neighbor
            for entity in np.unique(members[self._spaces.entities[members]]).tolist():
                shares.setdefault(entity, []).append(score / max(1, self._passages[entity]))
        weights = {entity: sum(some) / len(some) for entity, some in shares.items()}
        best = sorted(weights, key=lambda entity: (-weights[entity], entity))[: self._phrases]
        return FactSeeds(facts, scores, np.array(best, np.int32), np.array([weights[entity] for entity in best]))


def _schema(count: int) -> Mapping[str, JsonValue]:
    number: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": count}  # Any: a JSON schema
    return {
        "type": "object",
        "properties": {"kept": {"type": "array", "items": number}},
        "required": ["kept"],
        "additionalProperties": False,
    }
