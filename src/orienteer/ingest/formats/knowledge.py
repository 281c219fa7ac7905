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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, filterfalse, islice, pairwise
from typing import Any, NamedTuple

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
from orienteer.ingest.formats.graphml import JOINT
from orienteer.ingest.formats.table import shown
from orienteer.ingest.report import RowPlace, Tally
from orienteer.ingest.tables.labels import Labels
from orienteer.ingest.tables.values import finite, identifier, plain
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
class KnowledgeRow:
    """A row of a table, or an object of a store, of another program."""

    fields: Mapping[str, Any]  # Any: JSON, or whatever a Parquet file can hold
    place: RowPlace

    def text(self, *names: str) -> str:
        """Return the first of these fields that says something, as stripped text; empty for none."""
        values = (plain(self.fields.get(name)) for name in names)
        texts = (value.strip() if isinstance(value, str) else identifier(value) for value in values)
        return next(filter(None, texts), "")

    def name(self, *names: str) -> str:
        """Return such a text without the quotation marks around it, which early versions of these programs kept."""
        return unquoted(self.text(*names))

    def parts(self, name: str, *separators: str) -> tuple[str, ...]:
        """Return the members of a list, and the parts of what `<SEP>`, lines and other separators join; each once."""
        value = plain(self.fields.get(name))
        several = value if isinstance(value, list) else [] if value is None else [value]
        joined = "\n".join(map(identifier, several))
        for separator in (JOINT, *separators):
            joined = joined.replace(separator, "\n")
        return tuple(dict.fromkeys(filter(None, map(unquoted, joined.split("\n")))))

    def number(self, name: str) -> float | None:
        """Return a finite number, None for anything else."""
        value = plain(self.fields.get(name))
        return None if isinstance(value, str) else finite(value)

    def whole(self, name: str) -> int | None:
        """Return a whole number, None for anything else."""
        number = self.number(name)
        return None if number is None else int(number)


class Passage(NamedTuple):
    """The document of a passage, and its place there; empty and None if the program does not tell."""

    document: str
    order: int | None


@dataclass(slots=True)
class KnowledgeWriter:
    """Takes the parts of a knowledge graph, passages first, then entities, and puts them into a builder.

    Entities and statements have keys, by which relations, members and communities name them. `sources` are ids of
    passages, `place` is where the program says it.
    """

    builder: GraphBuilder
    tally: Tally
    is_directed: bool = True
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

    def add_document(self, document_id: str, name: str, *, file: str = "") -> None:
        """Take a document. Its text stands in its passages."""
        properties: dict[str, JsonValue] = {"file": file} if file else {}
        self.builder.add_node(Node(f"{DOCUMENT}:{document_id}", DOCUMENT, name, "", (), properties))

    def add_passage(
        self,
        passage_id: str,
        name: str,
        text: str,
        *,
        document: str,
        order: int | None,
        tokens: int | None,
        place: RowPlace,
    ) -> None:
        """Take a passage, under its own id; its document comes before it."""
        outer = f"{DOCUMENT}:{document}" if document else None
        if outer is not None and not self.builder.has(outer):
            self._drop(place, document)
            document, outer = "", None
        properties = _stated({"document": outer, "order": order, "tokens": tokens})
        if self.builder.add_node(Node(passage_id, CHUNK, name, text, (), properties)):
            self._passages[passage_id] = Passage(document, order)
        else:
            self.tally.merge("duplicate", [place])

    def add_entity(
        self, key: str, name: str, stated_type: str, *, text: str, sources: Iterable[str], place: RowPlace
    ) -> None:
        """Take an entity; one of the same name and type is the same. Of several keys the first keeps its meaning."""
        kind = entity_type(stated_type)
        node_id = Key(kind, folded(name)).id
        node = self._waiting.get(node_id)
        if node is not None:
            self._merged += 1
            lines = dict.fromkeys([*node.text.splitlines(), *text.splitlines()])
            names = dict.fromkeys((*node.aliases, name))
            aliases = tuple(alias for alias in names if alias != node.name)
            self._waiting[node_id] = replace(node, text="\n".join(lines), aliases=aliases)
        else:
            self._waiting[node_id] = Node(node_id, kind, name, text)
            self._names[node_id] = name
        self._entities.setdefault(key, node_id)
        self._mentions += [(source, node_id) for source in self._known(sources, place)]

    def add_relation(
        self,
        ends: tuple[str, str],
        text: str,
        *,
        sources: Iterable[str],
        place: RowPlace,
        keywords: Sequence[str] = (),
        weight: float = 1.0,
    ) -> None:
        """Take a relation, as a statement and as an edge; its entities come before it."""
        self._settle()
        source, target = map(self._entities.get, ends)
        if source is None or target is None:
            self._drop(place, " -> ".join(ends))
            return
        known = self._known(sources, place)
        names = [self._names[source], self._names[target]]
        sentence = text or f"{names[0]} is related to {names[1]}."
        properties: dict[str, JsonValue] = {"keywords": list(keywords)} if keywords else {}
        fact_id = _fact_id(source, target, sentence, *keywords)
        if not self._add_fact(Node(fact_id, FACT, " – ".join(names), sentence, (), properties), known, place):
            return
        roles = {target: OBJECT, source: SUBJECT}  # one of both is tied once
        for end, role in reversed(roles.items()):
            self._tie(fact_id, MEMBER, end, _ROLES[role] if self.is_directed else None)
        properties = {**properties, **({"sources": list(known)} if known else {})}
        edge = Edge(source, RELATED_TO, target, text, weight, properties)
        self._edges.append((source, RELATED_TO, target, edge.extras or None))

    def add_statement(
        self, key: str, text: str, *, sources: Iterable[str], place: RowPlace, score: float | None
    ) -> None:
        """Take a statement; of several with the same words the first stays, with the sources of all."""
        node_id = self._facts[key] = _fact_id(text)
        name = textwrap.shorten(text, SHORT, placeholder=" ...")
        properties: dict[str, JsonValue] = {} if score is None else {"score": score}
        self._add_fact(Node(node_id, FACT, name, text, (), properties), self._known(sources, place), place)

    def add_member(self, statement: str, entity: str, *, weight: float, place: RowPlace) -> None:
        """Tie a statement to an entity; both come before."""
        if statement in self._facts and entity in self._entities:
            self._tie(self._facts[statement], MEMBER, self._entities[entity], _weighted(weight))
        else:
            self._drop(place, f"{statement} -> {entity}")

    def add_community(
        self,
        community: str,
        title: str,
        text: str,
        *,
        members: Iterable[str],
        place: RowPlace,
        level: int | None,
        rating: float | None,
    ) -> None:
        """Take a community and the report on it; its entities come before it."""
        self._settle()
        node_id = f"{COMMUNITY}:{community}"
        properties = _stated({"level": level, "rating": rating})
        self.builder.add_node(Node(node_id, COMMUNITY, title or f"Community {community}", text, (), properties))
        for key in dict.fromkeys(members):
            if key in self._entities:
                self._tie(self._entities[key], "in_community", node_id)
            else:
                self._drop(place, key)

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
        several: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
        for passage_id, passage in self._passages.items():
            if passage.document:
                yield passage_id, PART_OF, f"{DOCUMENT}:{passage.document}", None
                if passage.order is not None:
                    several[passage.document].append((passage.order, passage_id))
        for parts in several.values():
            yield from ((before, NEXT, after, None) for (_, before), (_, after) in pairwise(sorted(parts)))

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

    def _add_fact(self, fact: Node, sources: Iterable[str], place: RowPlace) -> bool:
        """Add a fact with its sources; return whether it is new."""
        for passage in sources:
            self._tie(passage, STATES, fact.id)
        is_new = not self.builder.has(fact.id)
        if is_new:
            self.builder.add_node(fact)
        else:
            self.tally.merge("duplicate", [place.model_copy(update={"value": shown(fact.name)})])
        return is_new

    def _known(self, sources: Iterable[str], place: RowPlace) -> tuple[str, ...]:
        """Return the passages that are there, each once, and count those that are not."""
        several = dict.fromkeys(sources)
        for passage in filterfalse(self._passages.__contains__, several):
            self._drop(place, passage)
        return tuple(passage for passage in several if passage in self._passages)

    def _drop(self, place: RowPlace, value: str) -> None:
        self.tally.drop(BROKEN, [place.model_copy(update={"value": shown(value)})])


def _weighted(weight: float) -> Extra | None:
    """Return what an edge of a weight carries."""
    return {"weight": weight} if weight != 1.0 else None


def _stated(values: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: value for name, value in values.items() if value is not None}


def _fact_id(*words: str) -> str:
    return f"{FACT}:{hashlib.blake2b(chr(0).join(words).encode(), digest_size=HASH_BYTES).hexdigest()}"


def unquoted(text: str) -> str:
    """Return a text without the quotation marks around it, which early versions of these programs kept."""
    text = text.strip()
    return text[1:-1].strip() if len(text) > 1 and text[0] == text[-1] == '"' else text
