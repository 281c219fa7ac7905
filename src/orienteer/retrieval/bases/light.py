"""`light`: entities by the names of a question, relations by its themes, and the passages with the most votes.

LightRAG (Guo et al. 2024), the retrieval of its public code, version 1.5.7.

- *local*: entities by names (low-level keywords), then their relations.
- *global*: relations by themes (high-level keywords), then the entities that they relate.
- *hybrid*: both, in turns. *mix*: and passages by one search, in turns with those that are voted for.

Deviations:
1. Relations are ranked by how well they fit the query, never by their ends' degrees, and keep type, direction, text,
   keywords and weight: `orienteer.retrieval.expansion.relations`.
2. Entities that the query names come before those that are like the names.
3. The ends of local relations are picked as entities too, so that a passage on the far end can be found; in the public
   code a local relation leads no further than the passages that state it.
4. Themes are searched together with the whole query, without which a theme such as `mother` finds any mother. In a
   graph without facts, whose index holds no relations, those of the nodes found so are ranked.
5. A graph without entities has its passages for nodes, and a node of a graph without passages is one. What holds itself
   casts no vote: such nodes stand as they were picked.
6. Passages are merged by turns of three lists: of entities, of relations and, in mix, of the search; k in all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

from pydantic import Field

from orienteer.protocols import Run
from orienteer.retrieval.analysis import AnalyzedConfig
from orienteer.retrieval.bases.gatherer import Gatherer
from orienteer.retrieval.evidence import Evidence
from orienteer.retrieval.expansion.relations import (
    MembershipIndex,
    Relations,
    ScoredRelation,
    first_of,
    holds,
    in_turns,
    vote,
)
from orienteer.retrieval.expansion.walk import SEEDS, Seeds, because, name_of
from orienteer.retrieval.query import Query

Level = Literal["local", "global", "hybrid", "mix"]


class LightConfig(AnalyzedConfig):
    """LightRAG's settings."""

    level: Level = "hybrid"
    """What is looked for: local, global, both (hybrid), or both and passages (mix), LightRAG's own default.
    GraphSearch takes hybrid (002, section 4.1)."""
    entities: int = Field(default=SEEDS, ge=1)
    """Entities that are picked at the most. LightRAG's top_k."""
    relations: int = Field(default=SEEDS, ge=1)
    """Relations that are picked at the most. LightRAG's top_k."""


class Picked(NamedTuple):
    """What one of the two searches picks, best first."""

    nodes: dict[int, float]
    """Rows with their scores."""
    relations: list[ScoredRelation]


class Light(Gatherer[LightConfig]):
    """Names and themes, entities and relations, and their passages."""

    name, config_class = "light", LightConfig

    def _prepare(self) -> None:
        self._seeds = Seeds(self.graph, self.spaces)
        self._relations = Relations(self.graph, self.spaces, self._seeds)
        self._holders = MembershipIndex(self.graph, self.spaces)

    def _embedded(self, query: Query) -> Iterable[str]:
        return (query.text, ", ".join(query.low), _themes(query) if self.config.level != "local" else "")

    def _search(self, query: Query, run: Run) -> Evidence:
        """Return passages, entities and relations, best first."""
        level = self.config.level
        picks = []
        if level != "global":
            entities = self._seeds.find(query.low, query.text, self.config.entities, self._relations.nodes)
            relations = self._relations.near(entities, query.text, self.config.relations)
            pairs = zip(entities.rows.tolist(), entities.scores.tolist(), strict=True)
            picks.append(Picked(first_of(in_turns(_ends(relations), pairs), self.config.entities), relations))
        if level != "local":
            relations = self._relations.matching(_themes(query), query.text, self.config.relations)
            picks.append(Picked(first_of(_ends(relations), self.config.entities), relations))
        nodes = first_of(in_turns(*(pick.nodes.items() for pick in picks)), self.config.entities)
        by_key: dict[tuple[int, ...], ScoredRelation] = {}
        for relation in in_turns(*(pick.relations for pick in picks)):
            by_key.setdefault(relation.key, relation)
        return self._evidence(query, Picked(nodes, list(by_key.values())[: self.config.relations]))

    def _evidence(self, query: Query, picked: Picked) -> Evidence:
        passages = self._passages(query, picked)
        nodes = [
            self.spaces.node(row, 1 - place / (1 + len(passages)), why)
            for place, (row, why) in enumerate(passages.items())
        ]
        if not self._relations.holds_itself:
            nodes += [self.spaces.node(*entity, "an entity near the query") for entity in picked.nodes.items()]
        facts = {relation.fact: relation.score for relation in picked.relations if relation.fact >= 0}
        nodes += [self.spaces.node(*fact, "states a relation") for fact in facts.items()]
        edges = tuple(self._relations.edges_of(picked.relations))
        reason = "" if nodes else "no entity, relation or passage shares a name or a word with the query"
        return Evidence.joined([Evidence(tuple(nodes), edges, reason=reason)])

    def _passages(self, query: Query, picked: Picked) -> dict[int, str]:
        """Return rows of passages, best first, with what found each."""
        answers, fits = self.spaces.answers(query.node_types, query.where), self._seeds.fits(query.text)
        rows = list(picked.nodes)
        lists: list[tuple[list[int], Callable[[int], str]]] = []
        if self._relations.holds_itself:
            lists.append((rows, lambda row: self._relations.about(row, picked.relations)))
        else:
            groups = [(relation.fact,) if relation.fact >= 0 else relation.ends for relation in picked.relations]
            by_entity, by_relation = self._holders.of(rows), self._holders.of_groups(groups)

            def has_entities(row: int) -> str:
                names = (name_of(self.graph, rows[place]) for place in holds(by_entity, row))
                return because("holds", names, "holds entities near the query")

            def has_relations(row: int) -> str:
                names = (self._relations.describe(picked.relations[place]) for place in holds(by_relation, row))
                return because("holds", names, "holds relations that fit")

            lists.append((vote(by_entity, len(rows), fits).rows.tolist(), has_entities))
            lists.append((vote(by_relation, len(groups), fits).rows.tolist(), has_relations))
        if self.config.level == "mix":
            hits = self.spaces.search(query.text, query.k, answers).rows.tolist()
            lists.insert(0, (hits, lambda row: self.spaces.mode))
        pairs = in_turns(*([(row, why) for row in some if answers[row]] for some, why in lists))
        return {row: why(row) for row, why in first_of(pairs, query.k).items()}


def _themes(query: Query) -> str:
    """Return the query, and after it the themes that it does not say in these words."""
    text = query.text.casefold()
    return " ".join([query.text, *(theme for theme in query.high if theme.casefold() not in text)])


def _ends(relations: Iterable[ScoredRelation]) -> list[tuple[int, float]]:
    return [(end, relation.score) for relation in relations for end in relation.ends]
