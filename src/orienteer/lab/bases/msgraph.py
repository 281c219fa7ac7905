"""`msgraph-local`: entities near a question, their relations, their passages, and reports of their communities.

The local search of Microsoft's GraphRAG, version 3.3.0 (Edge et al. 2024), as nano-graphrag has it too.

1. Twice as many entities as are wanted are looked for, and those kept that are near enough.
2. Relations: those between two of the entities first, then those that lead on, by how well they fit.
3. Passages by the chunk vote over entities and what the relations lead to.
4. Reports of the communities that most of the entities are in, by rating where they have one.
5. Of the tokens, half are for passages, .15 for reports, the rest for entities and relations.

Deviations:
1. Relations are not ranked by degree, which prefers hubs: `orienteer.retrieval.expansion.relations`.
2. Communities that the graph does not hold are made when a question first needs them, once a generation, and a report
   when it is first shown. Without a model it lists the members and relations that are best connected, of the finest
   level alone.
3. The ends of relations vote for passages too, so that a passage on the far end can be found.
4. One search fills the room that the vote leaves for passages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from pydantic import Field

from orienteer.errors import BadOption, BudgetExhausted, ModelError
from orienteer.index.bm25 import ScoredRows
from orienteer.lab.bases.communities import Reports
from orienteer.llm.conversation import recorded_by
from orienteer.protocols import Run
from orienteer.records import Edge, Node, Trajectory
from orienteer.retrieval.analysis import AnalyzedConfig
from orienteer.retrieval.bases.gatherer import Gatherer
from orienteer.retrieval.evidence import Evidence, Scored
from orienteer.retrieval.expansion.relations import (
    MembershipIndex,
    Relations,
    ScoredRelation,
    first_of,
    holds,
    in_turns,
    vote,
)
from orienteer.retrieval.expansion.walk import Seeds, because, name_of
from orienteer.retrieval.query import Query
from orienteer.text.sentences import tokens as count_tokens

OVERSAMPLE = 2
"""Candidates by each entity that is wanted. Microsoft's."""
TEXT, REPORTS = 0.5, 0.15
"""Shares of the tokens for passages and for reports. Microsoft's text_unit_prop and community_prop."""
_OF_REST = 0.5
"""Of what is left, the share of entities; ours."""
_LINE = 12
"""Tokens of a relation's ends and type."""
_NOTHING = "nothing in the graph is named in the query or like its names"
_T = TypeVar("_T")


class MsGraphConfig(AnalyzedConfig):
    """The settings of Microsoft's local search."""

    entities: int = Field(default=10, ge=1)
    """Entities that are picked. Microsoft's top_k_entities."""
    relations: int = Field(default=10, ge=1)
    """Relations for each entity that is picked, in all. Microsoft's top_k_relationships."""
    levels: int = Field(default=3, ge=1)
    """Levels of communities that are read, the coarsest first. Microsoft's community_level 2, counted from 1."""
    reports: Literal["list", "model"] = "list"
    """What a report is where the graph holds none: a list of members and relations, or what a model writes of it."""
    tokens: int = Field(default=12_000, ge=1)
    """What all evidence may take of a prompt. Microsoft's max_context_tokens."""


class _CommunityReports(NamedTuple):
    """Reports of communities."""

    nodes: list[Scored[Node]]
    reason: str = ""
    """Why there are none, or lists in their place."""
    trajectories: tuple[Trajectory, ...] = ()
    """The model calls that wrote them."""


class MsGraph(Gatherer[MsGraphConfig]):
    """Entities, what they relate to, and what is written of their communities."""

    name, config_class = "msgraph-local", MsGraphConfig

    def _prepare(self) -> None:
        graph = self.graph
        self._seeds = Seeds(graph, self.spaces)
        self._relations = Relations(graph, self.spaces, self._seeds)
        self._holders = MembershipIndex(graph, self.spaces)
        writer = self._model if self.config.reports == "model" else None
        self._reports = Reports(
            graph, self.spaces, level=self.config.levels - 1, nodes=self._relations.nodes, model=writer
        )

    def require_model(self) -> None:
        """Raise `BadOption` without the model that reports or an analysis want."""
        if self.config.reports == "model" and self._model is None:
            raise BadOption("reports is 'model', and there is no model: give one, or set reports to 'list'")
        super().require_model()

    def _embedded(self, query: Query) -> Iterable[str]:
        return (query.text, ", ".join(query.low))

    def _search(self, query: Query, run: Run) -> Evidence:
        """Return passages, entities, relations and reports, as many of each as its share of the tokens holds."""
        seeds = self._seeds.find(query.low, query.text, OVERSAMPLE * self.config.entities, self._relations.nodes)
        near = list(zip(seeds.rows.tolist(), seeds.scores.tolist(), strict=True))[: self.config.entities]
        # The relations of the entities, those between two of them first.
        rows, scores = zip(*near, strict=True) if near else ((), ())
        scored = ScoredRows(np.array(rows, np.int32), np.array(scores, np.float64))
        around = self._relations.near(scored, query.text, self.config.relations * max(1, len(near)))
        relations = sorted(around, key=lambda one: not set(one.ends).issubset(rows))
        ends = [(end, relation.score) for relation in relations for end in relation.ends]
        voters = list(first_of(in_turns(ends, near), len(ends) + len(near)))
        passages = self._passages(query, voters, relations)
        left, reports = REPORTS * self.config.tokens, _CommunityReports([])
        for community in self._reports.of(rows):
            try:
                node, trajectories = self._reports.report(community, query.text, run)
                reports = reports._replace(trajectories=(*reports.trajectories, *trajectories))
            except BudgetExhausted as spent:
                node, trajectories = self._reports.listed(community), (*reports.trajectories, *recorded_by(spent))
                reports = reports._replace(reason=f"reports are lists: {spent}", trajectories=trajectories)
            except ModelError as failed:
                failed.trajectories = (*reports.trajectories, *failed.trajectories)
                raise
            left -= _cost(node)
            if left < 0:
                break
            reports.nodes.append(
                Scored(node, community.members / max(1, len(rows)), "the community of entities near the query")
            )
        entities = [self.spaces.node(*entity, "an entity near the query") for entity in near]
        tokens = self.config.tokens
        rest = (1 - TEXT - REPORTS) * tokens * _OF_REST
        facts = [
            self.spaces.node(relation.fact, relation.score, "states a relation")
            for relation in relations
            if relation.fact >= 0
        ]
        edges: list[Scored[Edge]] = self._relations.edges_of(relations)
        nodes = [
            *reports.nodes,
            *_within(passages, TEXT * tokens, _cost),
            *_within([*([] if self._relations.holds_itself else entities), *facts], rest, _cost),
        ]
        evidence = Evidence(
            nodes=tuple(nodes),
            edges=tuple(_within(edges, rest, lambda edge: _LINE + count_tokens(edge.text))),
            reason=reports.reason if nodes else _NOTHING,
            trajectories=reports.trajectories,
        )
        return Evidence.joined([evidence])

    def _passages(self, query: Query, rows: list[int], relations: Sequence[ScoredRelation]) -> list[Scored[Node]]:
        answers = self.spaces.answers(query.node_types, query.where)
        answers = answers & ~self.spaces.communities  # their reports are evidence of their own
        holdings, voted = self._holders.of(rows), rows
        if not self._relations.holds_itself:
            voted = vote(holdings, len(rows), self._seeds.fits(query.text)).rows.tolist()
        searched = self._seeds.search(query.text, query.k, answers).rows.tolist()
        ranked = list(dict.fromkeys([*(row for row in voted if answers[row]), *searched]))[: query.k]
        picked = set(voted)

        def why(row: int) -> str:
            if row not in picked:
                return self.spaces.mode
            if self._relations.holds_itself:
                return self._relations.about(row, relations)
            names = (name_of(self.graph, rows[entity]) for entity in holds(holdings, row))
            return because("holds", names, self.spaces.mode)

        return [self.spaces.node(row, 1 - place / (1 + len(ranked)), why(row)) for place, row in enumerate(ranked)]


def _cost(node: Node) -> int:
    return count_tokens(node.name) + count_tokens(node.text)


def _within(pieces: Iterable[Scored[_T]], tokens: float, cost: Callable[[_T], int]) -> Iterator[Scored[_T]]:
    """Yield the first pieces that some tokens hold."""
    for piece in pieces:
        tokens -= cost(piece.item)
        if tokens < 0:
            return
        yield piece
