"""Triples executed on the graph as a tool call, which a trajectory holds and replays without a model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from orienteer.graph.store import Graph
from orienteer.index.searchers import Mode
from orienteer.llm.budget import Allowance
from orienteer.records import JsonValue, Observation, ToolSpec
from orienteer.retrieval.evidence import TOKENS
from orienteer.retrieval.matching.matcher import TripleMatcher, TriplePattern
from orienteer.retrieval.query import AUTO
from orienteer.retrieval.spaces import Spaces
from orienteer.tools.evidence import observed

MATCH = "match_triples"
_TRIPLE = {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 3}


class MatchTriples:
    """Finds what matches triples of subject, predicate and object; `?x` and the like stand for anything."""

    spec = ToolSpec(
        name=MATCH,
        description="Find entities, facts and relations that match triples of subject, predicate, object.",
        parameters={
            "type": "object",
            "properties": {
                "triples": {"type": "array", "items": _TRIPLE},
                "mode": {"type": "string", "description": "How names are looked up: lexical, dense, hybrid, rrf."},
                "tokens": {"type": "integer", "description": "Room for the reply."},
            },
            "required": ["triples"],
            "additionalProperties": False,
        },
    )

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Match once more what a trajectory has matched."""
        triples = [TriplePattern(*one) for one in cast(list[list[str]], arguments["triples"])]
        spaces = Spaces(self._graph, cast(Mode, arguments.get("mode", AUTO)))
        found = TripleMatcher(self._graph, spaces).match(triples, run=Allowance())
        return observed(found.evidence.relational(), self._graph, int(cast(int, arguments.get("tokens", TOKENS))))


def matching_arguments(triples: Sequence[TriplePattern], mode: Mode = AUTO, tokens: int = TOKENS) -> str:
    """Return the arguments of the call that matches this, as JSON."""
    said: dict[str, Any] = {"triples": [list(one) for one in triples]}  # Any: JSON
    said |= {"mode": mode} if mode != AUTO else {}
    said |= {"tokens": tokens} if tokens != TOKENS else {}
    return json.dumps(said, ensure_ascii=False)
