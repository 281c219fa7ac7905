"""Searches of retrievers and matched triples as tool calls, which a trajectory holds and replays without a model."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast, get_args

from pydantic import ValidationError

from orienteer.errors import BadOption
from orienteer.graph.reserved import PASSAGES
from orienteer.graph.store import Graph
from orienteer.index.searchers import Mode
from orienteer.llm.budget import Allowance
from orienteer.llm.schema import decode, object_of
from orienteer.plugins import registered
from orienteer.records import JsonValue, Observation, Question, ToolCall, ToolSpec
from orienteer.retrieval.bases.table import BASES, open_base
from orienteer.retrieval.evidence import TOKENS, UNPAID, Evidence, render, unpaid
from orienteer.retrieval.graph_text import folded
from orienteer.retrieval.matching.bindings import TriplePattern
from orienteer.retrieval.matching.matcher import TripleMatcher
from orienteer.retrieval.matching.predicate import stating_types
from orienteer.retrieval.query import AUTO, OF_ANSWERS, GatherConfig, Part, Query, Spaces
from orienteer.text.tokenizer import Tokenizer
from orienteer.tools.session import Session

GATHER = "gather_evidence"
# Options with which a retriever asks a model about what it finds.
_ASK = (("filter", True), ("reports", "model"))
# Options of a call that a retriever has from the question.
_OF_QUESTION = ("k", "node_types", "where")
_LIST = {"type": "array", "items": {"type": "string"}}
_SPEC = ToolSpec(
    name=GATHER,
    description="Gather what the graph holds about a query: passages, entities, facts, relations and paths.",
    parameters={
        "type": "object",
        "properties": {
            "base": {"type": "string", "description": f"The retriever: {', '.join(BASES)}."},
            "query": {"type": "string"},
            "low": {**_LIST, "description": "Names of particular things."},
            "high": {**_LIST, "description": "Themes and relations."},
            "answer_types": {**_LIST, "description": "Node types that the answer may have."},
            "options": {"type": "object", "description": "Options of the retriever that are not as by default."},
            "part": {"enum": list(get_args(Part)), "description": "Passages (text), or all but them (graph)."},
            "most": {"type": "integer", "description": "Passages at the most; then near-duplicates are left out."},
            "without": {**_LIST, "description": "Ids of nodes that were read before and are left out."},
            "tokens": {"type": "integer", "description": "Room for the reply."},
        },
        "required": ["base", "query"],
        "additionalProperties": False,
    },
)
MATCH = "match_triples"
_TRIPLE = {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 3}


class GatherEvidence:
    """Gathers evidence with the retriever that a call names, and returns it as text with labels."""

    spec = _SPEC

    def __init__(self, graph: Graph, session: Session | None = None) -> None:
        self._graph, self._session = graph, session

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Repeat the gathering of a trajectory, without a model.

        Raises `BadOption` for an unknown retriever or option, and for a call that took a model.
        """
        options = cast(dict[str, Any], arguments.get("options", {}))
        if model_options := [f"{name}={value}" for name, value in options.items() if (name, value) in _ASK]:
            raise BadOption(
                f"This call took a model ({', '.join(model_options)}): without one it cannot be made again."
            )
        by_words = self._session is not None and self._session.payment.goes_by_words
        limits = {name: value for name, value in options.items() if name in _OF_QUESTION}
        own = {name: value for name, value in options.items() if name not in limits}
        base = open_base(str(arguments["base"]), self._graph, {**own, **({"mode": "lexical"} if by_words else {})})
        low, high, types = (tuple(cast(list[str], arguments.get(name, []))) for name in ("low", "high", "answer_types"))
        # A saved call is a file that anyone may have written: its k and filters are checked like a question's.
        try:
            query = Query.of(Question.model_validate({"text": str(arguments["query"]), **limits}))
        except ValidationError as error:
            fault = error.errors()[0]
            raise BadOption(f"{'.'.join(map(str, fault['loc']))} is {fault['input']!r}: {fault['msg']}") from error
        query = replace(query, low=low, high=high, answer_types=types)
        evidence = base.gather(query, Allowance())
        evidence = unpaid(evidence) if by_words else evidence
        part = part_of(evidence, cast(Part, arguments.get("part", "all")))
        if "most" in arguments:
            without = cast(list[str], arguments.get("without", []))
            part = worth_reading(part, self._graph, int(cast(int, arguments["most"])), without=without)
        return observed(part, self._graph, int(cast(int, arguments.get("tokens", TOKENS))))


def is_of_method(call: ToolCall) -> bool:
    """Return whether a method, not a retriever, gathered a call's evidence: it cannot be gathered again."""
    try:
        arguments = decode(call.arguments)
    except ValueError:
        return False
    if call.name != GATHER or not isinstance(arguments, dict):
        return False
    return arguments.get("base", "naive") not in {*BASES, *registered("retrievers", BASES)}


def part_of(evidence: Evidence, part: Part) -> Evidence:
    """Return the text part or the graph part of evidence, or all of it."""
    return {"all": evidence, "text": evidence.semantic(), "graph": evidence.relational()}[part]


def worth_reading(evidence: Evidence, graph: Graph, most: int, *, without: Collection[str] = ()) -> Evidence:
    """Return the evidence that is worth a reader's time, with at most `most` passages.

    It lacks the nodes of the ids `without`, passages that nearly repeat a better one, and edges and paths that only
    connect texts.
    """
    stating = stating_types(graph)
    nodes = [scored for scored in evidence.nodes if scored.item.id not in without]
    # The first passages that differ, contents pages last, and all other nodes after them.
    passages = {graph.arrays.row(scored.item.id): scored for scored in nodes if scored.item.type in PASSAGES}
    others = [scored for scored in nodes if scored.item.type not in PASSAGES]
    distinct = folded(graph, list(passages), lambda row: Tokenizer.words(graph.arrays.texts[row])).rows
    return replace(
        evidence,
        nodes=(*(passages[row] for row in distinct[:most]), *others),
        edges=tuple(scored for scored in evidence.edges if scored.item.type in stating),
        paths=tuple(scored for scored in evidence.paths if all(edge.type in stating for edge in scored.item)),
    )


def arguments_of(
    base: str,
    query: Query,
    config: GatherConfig,
    tokens: int = TOKENS,
    part: Part = "all",
    *,
    most: int | None = None,
    without: Sequence[str] = (),
) -> str:
    """Return the arguments of the call that gathers this, as JSON; the last two are those of `worth_reading`."""
    changed = config.model_dump(exclude_defaults=True, exclude=set(OF_ANSWERS))
    limits = {name: getattr(query, name) for name in _OF_QUESTION if getattr(query, name) != getattr(Query(""), name)}
    arguments: dict[str, Any] = {  # Any: JSON
        "base": base,
        "query": query.text,
        "low": list(query.low),
        "high": list(query.high),
        "answer_types": list(query.answer_types),
        "options": {**limits, **changed},
        "part": "" if part == "all" else part,
        "most": most,
        "without": list(without),
    }
    given_arguments = {name: value for name, value in arguments.items() if value}
    return json.dumps({**given_arguments, **({"tokens": tokens} if tokens != TOKENS else {})}, ensure_ascii=False)


def observed(evidence: Evidence, graph: Graph, tokens: int = TOKENS) -> Observation:
    """Return evidence as an observation: its text, and the ids of its nodes, best first."""
    text = render(evidence, graph, tokens).text
    note = f"\n{UNPAID}" if evidence and UNPAID in evidence.reason else ""
    return Observation(text + note, tuple(scored.item.id for scored in evidence.nodes))


class MatchTriples:
    """Matches triples of subject, predicate and object. `?x` and the like are variables."""

    spec = ToolSpec(
        name=MATCH,
        description="Find entities, facts and relations that match triples of subject, predicate, object.",
        parameters=object_of(
            {
                "triples": {"type": "array", "items": _TRIPLE},
                "mode": {"type": "string", "description": "How names are looked up: lexical, dense, hybrid, rrf."},
                "tokens": {"type": "integer", "description": "Room for the reply."},
            },
            optional=["mode", "tokens"],
        ),
    )

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Repeat the match of a trajectory."""
        triples = [TriplePattern(*triple) for triple in cast(list[list[str]], arguments["triples"])]
        spaces = Spaces(self._graph, cast(Mode, arguments.get("mode", AUTO)))
        match = TripleMatcher(self._graph, spaces).match(triples, run=Allowance())
        return observed(match.evidence.relational(), self._graph, int(cast(int, arguments.get("tokens", TOKENS))))


def matching_arguments(triples: Sequence[TriplePattern], mode: Mode = AUTO, tokens: int = TOKENS) -> str:
    """Return the arguments of the call that matches these triples, as JSON."""
    arguments: dict[str, Any] = {"triples": [list(triple) for triple in triples]}  # Any: JSON
    arguments |= {"mode": mode} if mode != AUTO else {}
    arguments |= {"tokens": tokens} if tokens != TOKENS else {}
    return json.dumps(arguments, ensure_ascii=False)
