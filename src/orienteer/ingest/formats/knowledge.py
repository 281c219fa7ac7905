"""Knowledge graphs that other programs have made of texts, in the shape that `orienteer build --extract` gives its own.

    document                    what was read
    chunk -part_of-> document   in order: chunk -next-> chunk
    chunk -mentions-> entity    weight: how rare the entity is among the chunks
    chunk -states-> fact        a relation as a statement, with words and vectors of its own
    fact -member-> entity       `role` subject or object, where the relation has a direction
    entity -related_to-> entity the relation itself; symmetric where the program knows no direction
    entity -in_community-> community

Whatever else is a node is an entity, its type in lower case. References to what is missing are left out
and counted.
"""

from __future__ import annotations

import hashlib
import math
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

from orienteer.display import counted
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.edges import EdgeBatch
from orienteer.graph.reserved import (
    CHUNK,
    COMMUNITY,
    DOCUMENT,
    FACT,
    MEMBER,
    MENTIONS,
    NEXT,
    PART_OF,
    READ,
    RELATED_TO,
    STATES,
)
from orienteer.ingest.extraction.merger import Key
from orienteer.ingest.extraction.records import OBJECT, SUBJECT, entity_type, folded
from orienteer.ingest.formats.table import shown
from orienteer.ingest.report import RowPlace, Tally
from orienteer.ingest.tables.labels import Labels
from orienteer.ingest.tables.values import identifier, plain
from orienteer.records import Edge, JsonValue, Node

BROKEN = "dangling"
Extra = Mapping[str, JsonValue]
EdgeRow = tuple[str, str, str, Extra | None]
"""Source, type, target, and what an edge carries besides."""
HASH_BYTES = 8
SHORT = 80
"""Characters of a statement that name it."""
_BATCH = 20_000
_ROLES: Mapping[str, Extra] = {role: {"properties": {"role": role}} for role in (SUBJECT, OBJECT)}
"""What ties a fact to its ends; one object for all, so that it is written once."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a text."""

    id: str
    text: str
    name: str = ""
    document: str = ""
    order: int | None = None
    """Its place in its document; None if the program does not tell."""
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity of the texts."""

    key: str
    """What relations and communities call it."""
    name: str
    type: str
    text: str
    sources: tuple[str, ...]
    """Ids of the passages that speak of it."""
    place: RowPlace


@dataclass(frozen=True, slots=True)
class EntityRelation:
    """Two entities and a text about both."""

    source: str
    target: str
    text: str
    sources: tuple[str, ...]
    place: RowPlace
    keywords: tuple[str, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class HyperFact:
    """A fact with any number of entities."""

    key: str
    """What its members are tied to."""
    text: str
    sources: tuple[str, ...]
    place: RowPlace
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Community:
    """Entities that belong together, and the report on them."""

    id: str
    title: str
    text: str
    members: tuple[str, ...]
    """Their keys."""
    place: RowPlace
    level: int | None = None
    rating: float | None = None


@dataclass(slots=True)
class KnowledgeWriter:
    """Takes the parts of a knowledge graph, passages first, then entities, and puts them into a builder."""

    builder: GraphBuilder
    tally: Tally
    is_directed: bool = True
    _documents: set[str] = field(default_factory=set)
    _passages: dict[str, Passage] = field(default_factory=dict)
    _entities: dict[str, str] = field(default_factory=dict)
    """Node ids by key."""
    _facts: dict[str, str] = field(default_factory=dict)
    """Node ids of statements by key."""
    _waiting: dict[str, Node] = field(default_factory=dict)
    """Entities that are not in the builder yet: a later one may be the same."""
    _names: dict[str, str] = field(default_factory=dict)
    _mentions: list[tuple[str, str]] = field(default_factory=list)
    _edges: list[EdgeRow] = field(default_factory=list)
    """Of the type related_to."""
    _ties: dict[tuple[str, str, str], Extra | None] = field(default_factory=dict)
    """Edges that say nothing more when they are said twice."""
    _merged: int = 0

    def add_document(self, document_id: str, name: str, properties: Mapping[str, JsonValue] | None = None) -> None:
        """Take a document. Its text stands in its passages."""
        self._documents.add(document_id)
        self.builder.add_node(Node(f"{DOCUMENT}:{document_id}", DOCUMENT, name, "", (), properties or {}))

    def add_passage(self, passage: Passage, place: RowPlace) -> None:
        """Take a passage, under its own id; its document comes before it."""
        is_known = passage.document in self._documents
        if passage.document and not is_known:
            self._drop(place, passage.document)
        stated: dict[str, JsonValue] = {
            "document": f"{DOCUMENT}:{passage.document}" if is_known else None,
            "order": passage.order,
            "tokens": passage.tokens,
        }
        properties = {name: value for name, value in stated.items() if value is not None}
        if not self.builder.add_node(Node(passage.id, CHUNK, passage.name, passage.text, (), properties)):
            self.tally.merge("duplicate", [place])
            return
        # Its text is on disk now.
        self._passages[passage.id] = Passage(passage.id, "", "", passage.document if is_known else "", passage.order)

    def add_entity(self, entity: Entity) -> None:
        """Take an entity; one of the same name and type is the same. Of several keys the first keeps its meaning."""
        kind = entity_type(entity.type)
        node_id = Key(kind, folded(entity.name)).id
        node = self._waiting.get(node_id)
        if node is not None:
            self._merged += 1
            text = "\n".join(dict.fromkeys([*node.text.splitlines(), *entity.text.splitlines()]))
            names = tuple(dict.fromkeys((*node.aliases, entity.name)))
            aliases = tuple(name for name in names if name != node.name)
            self._waiting[node_id] = replace(node, text=text, aliases=aliases)
        else:
            self._waiting[node_id] = Node(node_id, kind, entity.name, entity.text)
            self._names[node_id] = entity.name
        self._entities.setdefault(entity.key, node_id)
        self._mentions += [(source, node_id) for source in self._known(entity.sources, entity.place)]

    def add_relation(self, relation: EntityRelation) -> None:
        """Take a relation, as a statement and as an edge; its entities come before it."""
        self._settle()
        source, target = (self._entities.get(end) for end in (relation.source, relation.target))
        if source is None or target is None:
            self._drop(relation.place, f"{relation.source} -> {relation.target}")
            return
        sources = self._known(relation.sources, relation.place)
        fact = self._fact(relation, source, target)
        for passage in sources:
            self._tie(passage, STATES, fact.id)
        if not self.builder.add_node(fact):
            self.tally.merge("duplicate", [relation.place.model_copy(update={"value": shown(fact.name)})])
            return
        ends = {target: OBJECT, source: SUBJECT}  # one of both is tied once
        for end, role in reversed(ends.items()):
            self._tie(fact.id, MEMBER, end, _ROLES[role] if self.is_directed else None)
        properties = {**fact.properties, **({"sources": list(sources)} if sources else {})}
        edge = Edge(source, RELATED_TO, target, relation.text, relation.weight, properties)
        self._edges.append((source, RELATED_TO, target, edge.extras or None))

    def add_statement(self, statement: HyperFact) -> None:
        """Take a statement; of several with the same words the first stays, with the sources of all."""
        digest = hashlib.blake2b(statement.text.encode(), digest_size=HASH_BYTES)
        node_id = self._facts[statement.key] = f"{FACT}:{digest.hexdigest()}"
        for passage in self._known(statement.sources, statement.place):
            self._tie(passage, STATES, node_id)
        name = textwrap.shorten(statement.text, SHORT, placeholder=" ...")
        if self.builder.has(node_id):
            self.tally.merge("duplicate", [statement.place.model_copy(update={"value": shown(name)})])
            return
        properties: dict[str, JsonValue] = {} if statement.score is None else {"score": statement.score}
        self.builder.add_node(Node(node_id, FACT, name, statement.text, (), properties))

    def add_member(self, statement: str, entity: str, weight: float, place: RowPlace) -> None:
        """Tie a statement to an entity; both come before."""
        if statement in self._facts and entity in self._entities:
            self._tie(self._facts[statement], MEMBER, self._entities[entity], _weighted(weight))
        else:
            self._drop(place, f"{statement} -> {entity}")

    def add_community(self, community: Community) -> None:
        """Take a community; its entities come before it."""
        self._settle()
        stated = {"level": community.level, "rating": community.rating}
        properties: dict[str, JsonValue] = {name: value for name, value in stated.items() if value is not None}
        node_id = f"{COMMUNITY}:{community.id}"
        self.builder.add_node(Node(node_id, COMMUNITY, community.title, community.text, (), properties))
        for key in dict.fromkeys(community.members):
            if key in self._entities:
                self._tie(self._entities[key], "in_community", node_id)
            else:
                self._drop(community.place, key)

    def finish(self) -> Labels:
        """Write all edges. Only passages count for the rarity of words, as in a graph of `orienteer build`."""
        self._settle()
        if self._merged:
            self.tally.notes.append(
                f"merged {counted(self._merged, 'row')} of entities that share name and type with others"
            )
        ties = ((*ends, extra) for ends, extra in self._ties.items())
        rows = chain(self._parts(), self._mentioned(), ties, self._edges)
        while part := list(islice(rows, _BATCH)):
            sources, types, targets, extras = zip(*part, strict=True)
            self.builder.add_edges(EdgeBatch(sources, types, targets, extras if any(extras) else None))
        if not self.is_directed and self._edges:
            self.builder.edges.symmetric.add(RELATED_TO)
        return Labels(text_types=READ)

    def _parts(self) -> Iterator[EdgeRow]:
        """Tie passages to their documents, and each to the one after it."""
        several: defaultdict[str, list[Passage]] = defaultdict(list)
        for passage in self._passages.values():
            if passage.document:
                yield passage.id, PART_OF, f"{DOCUMENT}:{passage.document}", None
                if passage.order is not None:
                    several[passage.document].append(passage)
        for parts in several.values():
            parts.sort(key=lambda passage: (passage.order or 0, passage.id))
            yield from ((passage.id, NEXT, after.id, None) for passage, after in zip(parts, parts[1:], strict=False))

    def _mentioned(self) -> Iterator[EdgeRow]:
        """Tie passages to their entities, by the rarity of these."""
        pairs = list(dict.fromkeys(self._mentions))
        seen = Counter(entity for _, entity in pairs)
        for passage, entity in pairs:
            weight = math.log(1 + len(self._passages) / seen[entity])
            yield passage, MENTIONS, entity, _weighted(round(weight, 4))

    def _tie(self, source: str, edge_type: str, target: str, extra: Extra | None = None) -> None:
        self._ties.setdefault((source, edge_type, target), extra)

    def _settle(self) -> None:
        """Put the entities into the builder: no more come."""
        for node in self._waiting.values():
            self.builder.add_node(node)
        self._waiting.clear()

    def _fact(self, relation: EntityRelation, source: str, target: str) -> Node:
        names = [self._names[end] for end in (source, target)]
        sentence = relation.text or f"{names[0]} is related to {names[1]}."
        digest = hashlib.blake2b(
            "\0".join((source, target, sentence, *relation.keywords)).encode(), digest_size=HASH_BYTES
        )
        keywords: dict[str, JsonValue] = {"keywords": list(relation.keywords)} if relation.keywords else {}
        return Node(f"{FACT}:{digest.hexdigest()}", FACT, " – ".join(names), sentence, (), keywords)

    def _known(self, sources: Iterable[str], place: RowPlace) -> tuple[str, ...]:
        """Return the passages that are there, each once, and count those that are not."""
        passages = []
        for passage in dict.fromkeys(sources):
            if passage in self._passages:
                passages.append(passage)
            else:
                self._drop(place, passage)
        return tuple(passages)

    def _drop(self, place: RowPlace, value: str) -> None:
        self.tally.drop(BROKEN, [place.model_copy(update={"value": shown(value)})])


def _weighted(weight: float) -> Extra | None:
    """Return what an edge of a weight carries."""
    return {"weight": weight} if weight != 1.0 else None


def text_of_value(value: Any) -> str:  # Any: JSON, or whatever a Parquet file can hold
    """Return a value as stripped text; empty for nothing."""
    text = plain(value)
    return text.strip() if isinstance(text, str) else identifier(text)


def unquoted(text: str) -> str:
    """Return a text without the quotation marks around it, which early versions of these programs kept."""
    text = text.strip()
    return text[1:-1].strip() if len(text) > 1 and text[0] == text[-1] == '"' else text
