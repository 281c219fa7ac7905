"""Merges what chunks say: one entity for each (type, name), one fact for each statement, edges back to the chunks.

    chunk -mentions-> entity     weight: idf of the entity among the chunks
    chunk -titled-> entity
    chunk -states-> fact
    fact -member-> entity        weight: importance; `role`
    entity -PREDICATE-> entity   weight: times stated; text: as written; `sources`: ids of chunks
    entity -related_to-> entity  weight: sum of the strengths; text: descriptions; `keywords`, `sources`

Entities of one name and two types stay apart: nothing says that they are one.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from orienteer.graph.reserved import FACT, MENTIONS
from orienteer.ingest.extraction.records import (
    LONGEST_NAME,
    MEMBER,
    RELATED_TO,
    STATES,
    TITLED,
    UNTYPED,
    ExtractedEntity,
    Member,
    Rejects,
    Statement,
    entity_type,
    folded,
)
from orienteer.ingest.extraction.ties import EntityName
from orienteer.records import Edge, JsonValue, Node

MOST_EDGE_TYPES = 500
"""The most frequent predicates, which are edge types; others are `related_to` with the predicate as text."""
MOST_NODE_TYPES = 100
"""The most frequent types of entities; entities of other types are of the node type `name`, with a property."""
MOST_TOLD = 20
"""Descriptions, or keywords, of an entity or a fact: the first ones, for a prompt holds many such texts."""
LEAST_MEMBERS = 2
NAMES_SHOWN = 4
"""Members that the short form of a fact names."""
_HASH_BYTES = 8


class Key(NamedTuple):
    """The identity of an entity."""

    type: str
    name: str
    """Folded."""

    @property
    def id(self) -> str:
        """The id of its node."""
        return f"{self.type}:{self.name}"


@dataclass(slots=True)
class _Entity:
    name: str
    aliases: dict[str, None] = field(default_factory=dict)
    descriptions: dict[str, None] = field(default_factory=dict)
    chunks: dict[str, None] = field(default_factory=dict)
    titled: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class _Fact:
    statement: Statement
    members: dict[Key, Member]
    keywords: dict[str, None] = field(default_factory=dict)
    chunks: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class _Relation:
    label: str
    weight: float = 0.0
    texts: dict[str, None] = field(default_factory=dict)
    keywords: dict[str, None] = field(default_factory=dict)
    chunks: dict[str, None] = field(default_factory=dict)


_RelationKey = tuple[Key, str, Key]


class Merger:
    """Takes what chunks say, in order, and returns nodes, then edges. The same records make the same graph."""

    def __init__(self, rejects: Rejects | None = None) -> None:
        self.rejects = rejects if rejects is not None else Rejects()
        self._entities: dict[Key, _Entity] = {}
        self._facts: dict[tuple[tuple[Key, ...], str], _Fact] = {}
        self._relations: dict[_RelationKey, _Relation] = {}
        self._ids: dict[Key, str] = {}
        self._frequent: frozenset[str] = frozenset()

    @property
    def entities(self) -> int:
        """Count the entities so far."""
        return len(self._entities)

    @property
    def facts(self) -> int:
        """Count the facts so far."""
        return len(self._facts)

    def add(self, chunk: str, entities: Iterable[ExtractedEntity] = (), statements: Iterable[Statement] = ()) -> None:
        """Take what a chunk says, given its id. Records that cannot be used are counted among the rejects."""
        here: dict[str, Key] = {}
        for entity in entities:
            key = self._entity(chunk, entity)
            if key is not None:
                here.setdefault(key.name, key)
        for statement in statements:
            self._statement(chunk, statement, here)

    def _entity(self, chunk: str, extracted: ExtractedEntity) -> Key | None:
        name = " ".join(extracted.name.split())
        key = Key(entity_type(extracted.type), folded(name))
        if not any(char.isalnum() for char in name):
            self.rejects.add("an entity without a name", repr(extracted.name), chunk)
            return None
        if len(name) > LONGEST_NAME:
            self.rejects.add("a name that is a text", name, chunk)
            return None
        entity = self._entities.setdefault(key, _Entity(name))
        for alias in (name, *(" ".join(alias.split()) for alias in extracted.aliases)):
            if alias and alias != entity.name:
                entity.aliases.setdefault(alias)
        _tell(entity.descriptions, [extracted.description.strip()])
        entity.chunks.setdefault(chunk)
        if extracted.is_title:
            entity.titled.setdefault(chunk)
        return key

    def _statement(self, chunk: str, statement: Statement, here: dict[str, Key]) -> None:
        reason = _fault(statement)
        if reason:
            self.rejects.add(reason, statement.text or statement.name, chunk)
            return
        members: dict[Key, Member] = {}
        for member in statement.members:
            members.setdefault(self._member(chunk, member, here), member)
        if len(members) < LEAST_MEMBERS:
            self.rejects.add("a statement about one entity", statement.text, chunk)
            return
        keys = tuple(members)
        fact = self._facts.setdefault((keys, folded(statement.text)), _Fact(statement, members))
        fact.chunks.setdefault(chunk)
        _tell(fact.keywords, statement.keywords)
        if statement.edge:
            relation = self._relations.setdefault((keys[0], statement.edge, keys[1]), _Relation(statement.label))
            relation.weight += (
                0.0 if chunk in relation.chunks else statement.weight
            )  # a chunk that says it twice is one witness
            _tell(relation.texts, [statement.edge_text.strip()])
            _tell(relation.keywords, statement.keywords)
            relation.chunks.setdefault(chunk)

    def _member(self, chunk: str, member: Member, here: dict[str, Key]) -> Key:
        """Return the entity of a member; add one unless the chunk has named it already."""
        name = folded(member.name)
        if not member.type and name in here:
            return here[name]
        key = self._entity(chunk, ExtractedEntity(member.name, member.type))
        assert key is not None  # `_fault` lets no such member through
        here.setdefault(name, key)
        return key

    def id_of(self, key: Key) -> str:
        """Return the id of an entity; call it after `nodes`."""
        return self._ids[key]

    # ------------------------------------------------------------------------------------------------- nodes, edges

    def nodes(self, is_taken: Callable[[str], bool]) -> Iterator[Node]:
        """Return entities, then facts. An id that another node has already gets a `~` at its end."""
        types = Counter(key.type for key in self._entities)
        own_types = frozenset(_most(types, MOST_NODE_TYPES))
        for key, entity in self._entities.items():
            node_id = key.id
            while is_taken(node_id):
                node_id += "~"
            self._ids[key] = node_id
            has_own_type = key.type in own_types
            properties: dict[str, JsonValue] = {} if has_own_type else {"stated_type": key.type}
            kind = key.type if has_own_type else UNTYPED
            yield Node(node_id, kind, entity.name, "\n".join(entity.descriptions), tuple(entity.aliases), properties)
        for fact in self._facts.values():
            yield self._fact(fact)

    def edges(self, chunks: int) -> Iterator[Edge]:
        """Return the edges; call it after `nodes`. `chunks` counts all chunks that were read."""
        ids = self._ids
        for key, entity in self._entities.items():
            weight = round(math.log(1 + chunks / len(entity.chunks)), 4)
            yield from (Edge(chunk, MENTIONS, ids[key], weight=weight) for chunk in entity.chunks)
            yield from (Edge(chunk, TITLED, ids[key]) for chunk in entity.titled)
        for fact in self._facts.values():
            node_id = self._fact_id(fact)
            yield from (Edge(chunk, STATES, node_id) for chunk in fact.chunks)
            for key, member in fact.members.items():
                role: dict[str, JsonValue] = {"role": member.role} if member.role else {}
                yield Edge(node_id, MEMBER, ids[key], weight=member.weight, properties=role)
        yield from self._related()

    def named(self) -> list[EntityName]:
        """Return the ids and names of the entities; call it after `nodes`."""
        return [EntityName(self._ids[key], entity.name) for key, entity in self._entities.items()]

    def labels(self) -> dict[str, str]:
        """Return the first spelling of each edge type whose name differs from it."""
        labels: dict[str, str] = {}
        for (_, kind, _), relation in self._relations.items():
            if relation.label and relation.label != kind and kind in self._edge_types():
                labels.setdefault(kind, relation.label)
        return labels

    def _related(self) -> Iterator[Edge]:
        edge_types = self._edge_types()
        for (source, kind, target), relation in self._relations.items():
            properties: dict[str, JsonValue] = {"keywords": list(relation.keywords)} if relation.keywords else {}
            yield Edge(
                self._ids[source],
                kind if kind in edge_types else RELATED_TO,
                self._ids[target],
                "\n".join(relation.texts),
                round(relation.weight, 4),
                {**properties, "sources": list(relation.chunks)},
            )

    def _edge_types(self) -> frozenset[str]:
        if not self._frequent:
            self._frequent = frozenset(_most(Counter(kind for _, kind, _ in self._relations), MOST_EDGE_TYPES))
        return self._frequent

    def _fact(self, fact: _Fact) -> Node:
        statement = fact.statement
        names = [self._entities[key].name for key in fact.members]
        short = ", ".join([*names[:NAMES_SHOWN], *["…"] * (len(names) > NAMES_SHOWN)])
        properties: dict[str, JsonValue] = {"keywords": list(fact.keywords)} if fact.keywords else {}
        if statement.score is not None:
            properties["score"] = statement.score
        return Node(
            self._fact_id(fact), FACT, statement.name or short, " ".join(statement.text.split()), (), properties
        )

    def _fact_id(self, fact: _Fact) -> str:
        content = "\0".join([*(key.id for key in fact.members), folded(fact.statement.text)])
        return f"{FACT}:{hashlib.blake2b(content.encode(errors='surrogatepass'), digest_size=_HASH_BYTES).hexdigest()}"


def _tell(noted: dict[str, None], texts: Iterable[str]) -> None:
    for text in texts:
        if text and len(noted) < MOST_TOLD:
            noted.setdefault(text)


def _fault(statement: Statement) -> str:
    """Return why a statement cannot be used; empty if it can."""
    if not statement.text.strip():
        return "a statement without words"
    if any(not any(char.isalnum() for char in member.name) for member in statement.members):
        return "a member without a name"
    if any(len(member.name) > LONGEST_NAME for member in statement.members):
        return "a member whose name is a text"
    return "a predicate without a word" if statement.edge == "" else ""


def _most(counts: Counter[str], most: int) -> Sequence[str]:
    """Return the most frequent, ties by name."""
    return sorted(counts, key=lambda name: (-counts[name], name))[:most]
