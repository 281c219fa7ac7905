"""Where a walk begins that begins from facts: those that fit a question, and the entities they are about.

HippoRAG 2 as it retrieves: five facts by nearness, a model's choice among them, five phrases.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.index.arrays import Rows
from orienteer.llm.exchange import ask_for
from orienteer.llm.prompts import prompt_of
from orienteer.protocols import LanguageModel, Run
from orienteer.records import JsonValue, Trajectory
from orienteer.retrieval.expansion.incidence import Incidence
from orienteer.retrieval.spaces import Spaces

MEMBER = "member"
"""The edge type from a fact to an entity that it is about."""


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
        texts = (self._spaces.graph.texts[row] or self._spaces.graph.names[row] for row in rows.tolist())
        return "\n".join(f"{number}. {' '.join(text.split())}" for number, text in enumerate(texts, 1))

    def _weighed(self, facts: Rows, scores: NDArray[np.float64]) -> FactSeeds:
        """Return the entities of these facts that weigh most: the mean score of its facts / passages it stands in."""
        graph = self._spaces.graph
        shares: dict[int, list[float]] = {}
        for fact, score in zip(facts.tolist(), scores.tolist(), strict=True):
            members = graph.adjacency.entries(np.array([fact], np.int32), graph.kind_mask([MEMBER], None)).neighbor
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
