"""Merges the records of chunks: one entity for each (type, name), one fact for each statement, edges to the chunks.

    chunk -mentions-> entity     weight: idf of the entity among the chunks
    chunk -titled-> entity
    chunk -states-> fact
    fact -member-> entity        weight: importance; `role`
    entity -PREDICATE-> entity   weight: times stated; text: as written; `sources`: ids of chunks
    entity -related_to-> entity  weight: sum of the strengths; text: descriptions; `keywords`, `sources`

Entities with one name and two types are not merged: nothing says that they are the same.
"""

from __future__ import annotations

import hashlib
import math
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.builder import Progress
from orienteer.graph.reserved import CO_OCCURS, FACT, MEMBER, MENTIONS, RELATED_TO, STATES, SYNONYM, TABLE, TITLED
from orienteer.index.arrays import begins_of, runs
from orienteer.ingest.extraction.records import (
    LONGEST_NAME,
    UNTYPED,
    ExtractedEntity,
    Member,
    Rejects,
    Statement,
    entity_type,
    folded,
)
from orienteer.records import Edge, JsonValue, Node
from orienteer.text.sentences import split

if TYPE_CHECKING:
    from orienteer.protocols import Embedder


MOST_EDGE_TYPES = 500
"""The most frequent predicates become edge types; others are `related_to` with the predicate as text."""
MOST_NODE_TYPES = 100
"""The most frequent types of entities become node types; other entities are of type `name`, with a property."""
MOST_TEXTS = 20
"""Descriptions, or keywords, of an entity or a fact: the first ones, for a prompt has many such texts."""
LEAST_MEMBERS = 2
NAMES_SHOWN = 4
"""Members in the short form of a fact."""
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
    weight: float = 0.0
    texts: dict[str, None] = field(default_factory=dict)
    keywords: dict[str, None] = field(default_factory=dict)
    chunks: dict[str, None] = field(default_factory=dict)


class Merger:
    """Takes the records of chunks, in order, and returns nodes, then edges. Equal records give equal graphs."""

    def __init__(self) -> None:
        self.rejects = Rejects()
        self._entities: dict[Key, _Entity] = {}
        self._facts: dict[tuple[tuple[Key, ...], str], _Fact] = {}
        self._relations: dict[tuple[Key, str, Key], _Relation] = {}
        self._ids: dict[Key, str] = {}

    @property
    def entities(self) -> int:
        """Count the entities so far."""
        return len(self._entities)

    @property
    def facts(self) -> int:
        """Count the facts so far."""
        return len(self._facts)

    def add(self, chunk: str, entities: Iterable[ExtractedEntity] = (), statements: Iterable[Statement] = ()) -> None:
        """Take the records of a chunk, given its id. Unusable ones are counted among the rejects."""
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
        _add_texts(entity.descriptions, [extracted.description.strip()])
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
        _add_texts(fact.keywords, statement.keywords)
        if statement.edge:
            relation = self._relations.setdefault((keys[0], statement.edge, keys[1]), _Relation())
            # A chunk that says it twice is one witness.
            if chunk not in relation.chunks:
                relation.weight += statement.weight
                relation.chunks[chunk] = None
            _add_texts(relation.texts, [statement.edge_text.strip()])
            _add_texts(relation.keywords, statement.keywords)

    def _member(self, chunk: str, member: Member, here: dict[str, Key]) -> Key:
        """Return the entity of a member; add it unless the chunk has named it already."""
        name = folded(member.name)
        if name not in here:
            key = self._entity(chunk, ExtractedEntity(member.name))
            assert key is not None  # `_fault` rejects such members
            here[name] = key
        return here[name]

    def id_of(self, key: Key) -> str:
        """Return the id of an entity; call it after `nodes`."""
        return self._ids[key]

    # ------------------------------------------------------------------------------------------------- nodes, edges

    def nodes(self, is_taken: Callable[[str], bool]) -> Iterator[Node]:
        """Yield entities, then facts. An id of another node gets a `~` at its end."""
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
            statement = fact.statement
            names = [self._entities[key].name for key in fact.members]
            short = ", ".join([*names[:NAMES_SHOWN], *["…"] * (len(names) > NAMES_SHOWN)])
            properties = {"keywords": list(fact.keywords)} if fact.keywords else {}
            if statement.score is not None:
                properties["score"] = statement.score
            text = " ".join(statement.text.split())
            yield Node(_fact_id(fact), FACT, statement.name or short, text, (), properties)

    def edges(self, chunks: int) -> Iterator[Edge]:
        """Yield the edges; call it after `nodes`. `chunks` is the number of all chunks."""
        ids = self._ids
        for key, entity in self._entities.items():
            weight = round(math.log(1 + chunks / len(entity.chunks)), 4)
            yield from (Edge(chunk, MENTIONS, ids[key], weight=weight) for chunk in entity.chunks)
            yield from (Edge(chunk, TITLED, ids[key]) for chunk in entity.titled)
        for fact in self._facts.values():
            node_id = _fact_id(fact)
            yield from (Edge(chunk, STATES, node_id) for chunk in fact.chunks)
            for key, member in fact.members.items():
                role: dict[str, JsonValue] = {"role": member.role} if member.role else {}
                yield Edge(node_id, MEMBER, ids[key], weight=member.weight, properties=role)
        edge_types = self._edge_types()
        for (source, kind, target), relation in self._relations.items():
            keywords: dict[str, JsonValue] = {"keywords": list(relation.keywords)} if relation.keywords else {}
            yield Edge(
                ids[source],
                kind if kind in edge_types else RELATED_TO,
                ids[target],
                "\n".join(relation.texts),
                round(relation.weight, 4),
                {**keywords, "sources": list(relation.chunks)},
            )

    def named(self) -> dict[str, str]:
        """Return the names of the entities by id; call it after `nodes`."""
        return {self._ids[key]: entity.name for key, entity in self._entities.items()}

    def labels(self) -> dict[str, str]:
        """Return the first spelling of each edge type whose name differs from it."""
        labels: dict[str, str] = {}
        edge_types = self._edge_types()
        for (_, kind, _), relation in self._relations.items():
            label = next(iter(relation.texts), "")
            if kind in edge_types and kind != RELATED_TO and label != kind:
                labels.setdefault(kind, label)
        return labels

    def _edge_types(self) -> frozenset[str]:
        return frozenset(_most(Counter(kind for _, kind, _ in self._relations), MOST_EDGE_TYPES))


def _fact_id(fact: _Fact) -> str:
    content = "\0".join([*(key.id for key in fact.members), folded(fact.statement.text)])
    return f"{FACT}:{hashlib.blake2b(content.encode(errors='surrogatepass'), digest_size=_HASH_BYTES).hexdigest()}"


def _add_texts(known: dict[str, None], texts: Iterable[str]) -> None:
    for text in texts:
        if text and len(known) < MOST_TEXTS:
            known.setdefault(text)


def _fault(statement: Statement) -> str:
    """Return the fault of an unusable statement, or an empty text."""
    if not statement.text.strip():
        return "a statement without words"
    if any(not any(char.isalnum() for char in member.name) for member in statement.members):
        return "a member without a name"
    if any(len(member.name) > LONGEST_NAME for member in statement.members):
        return "a member whose name is a text"
    return "a predicate without a word" if statement.edge == "" else ""


def _most(counts: Counter[str], most: int) -> Sequence[str]:
    """Return the most frequent; ties are broken by name."""
    return sorted(counts, key=lambda name: (-counts[name], name))[:most]


# Edges between names that no text states: of names that occur together, and of names with nearly the same meaning.


IN_CHUNK = 0.25
"""The weight of two names in one chunk, but not in one sentence; in a sentence it is 1."""
MOST_OF_CHUNK = 60
"""Names of a chunk that are paired; the names of a longer list are hardly related."""
LONGEST_BETWEEN = 200
"""The longest text between two names that is kept, in characters."""
_SHIFT = 32
LEAST_COSINE = 0.8
"""HippoRAG 2's code."""
NEAR = 100
"""Synonyms of a name at most, among the later names. HippoRAG 2's code."""
LEAST_CHARACTERS = 3
"""Letters and digits of a name with synonyms. HippoRAG 2's code."""
_ROWS = 1024  # names that are compared with all others at once
_EMBEDDED = 2048
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"\w+")


# ------------------------------------------------------------------------------------------------- names in sentences


class NameSpan(NamedTuple):
    """A name in a sentence."""

    number: int
    begin: int
    end: int
    """Exclusive, in characters."""


class SentenceNames(NamedTuple):
    """A sentence, or a row of a table, and the names in it, in order and without overlap."""

    text: str
    spans: tuple[NameSpan, ...]


def sentences_of(node: Node) -> Iterator[str]:
    """Return the sentences of a chunk, the lines of a table."""
    if node.type == TABLE:
        yield from filter(None, node.text.split("\n"))
        return
    for line in node.text.split("\n"):
        yield from split(line)


class NamePlaces:
    """Finds names, given as folded words, in sentences: the longest first."""

    def __init__(self, keys: Mapping[str, int], *, lower: frozenset[int] = frozenset()) -> None:
        """Take names by number. Those in `lower` are always found, others only if they do not begin in lower case."""
        self._keys, self._lower = keys, lower
        lengths: dict[str, set[int]] = {}
        for key in keys:
            lengths.setdefault(key.partition(" ")[0], set()).add(key.count(" ") + 1)
        self._lengths = {first: sorted(several, reverse=True) for first, several in lengths.items()}

    def within(self, sentence: str, among: frozenset[int]) -> SentenceNames:
        """Return the sentence with its names out of this set and the set `lower`, the longest first."""
        words = list(_WORD.finditer(sentence))
        folded = [word[0].casefold() for word in words]
        spans: list[NameSpan] = []
        at = 0
        while at < len(words):
            is_lower = words[at][0][0].islower()
            for length in self._lengths.get(folded[at], ()):
                number = self._keys.get(" ".join(folded[at : at + length])) if at + length <= len(folded) else None
                if number in self._lower or (number in among and not is_lower):
                    spans.append(NameSpan(number, words[at].start(), words[at + length - 1].end()))
                    at += length
                    break
            else:
                at += 1
        return SentenceNames(sentence, tuple(spans))


def distinct(spans: Iterable[NameSpan]) -> list[int]:
    """Return the names of spans, each once, in order."""
    return list(dict.fromkeys(span.number for span in spans))


# ------------------------------------------------------------------------------------------ names that occur together


class CoOccurrences:
    """Counts pairs of names, given by number, chunk after chunk."""

    def __init__(self, *, most: int) -> None:
        """Keep the `most` strongest pairs of each name: hubs would join all names."""
        self._most = most
        self._codes, self._parts, self._weights = array("q"), array("i"), array("d")
        self._between: dict[int, str] = {}

    def add(self, part: int, names: Sequence[int], sentences: Sequence[SentenceNames]) -> None:
        """Count the names of a chunk and of its sentences."""
        near: set[int] = set()
        for text, spans in sentences:
            near.update(_code(name, other) for name, other in combinations(distinct(spans)[:MOST_OF_CHUNK], 2))
            for span, other in pairwise(spans):
                between = " ".join(text[span.end : other.begin].split())
                if span.number != other.number and 0 < len(between) <= LONGEST_BETWEEN:
                    self._between.setdefault(_code(span.number, other.number), between)
        far = {_code(name, other) for name, other in combinations(names[:MOST_OF_CHUNK], 2)} - near
        for codes, weight in ((near, 1.0), (far, IN_CHUNK)):
            self._codes.extend(sorted(codes))
            self._parts.extend([part] * len(codes))
            self._weights.extend([weight] * len(codes))

    def edges(self, id_of: Callable[[int], str], chunks: Sequence[str]) -> Iterator[Edge]:
        """Yield the strongest pairs as edges, given the ids of nodes and of chunks by number."""
        order = np.lexsort((self._parts, self._codes))
        pairs, counts = runs(np.array(self._codes, np.int64)[order])
        begins, parts = begins_of(counts), np.array(self._parts, np.int32)[order]  # chunks, pair after pair
        weights = np.add.reduceat(np.array(self._weights)[order], begins[:-1]) if len(pairs) else np.zeros(0)
        # Equal weights are ordered by number: the graph must not depend on the order of the chunks.
        names = np.concatenate([pairs >> _SHIFT, pairs & (1 << _SHIFT) - 1])
        ranked = np.lexsort((np.tile(pairs, 2), -np.tile(weights, 2), names))
        group = names[ranked]
        first = ranked[np.arange(len(ranked)) - np.searchsorted(group, group, "left") < self._most]
        for at in np.unique(first % max(1, len(pairs))).tolist():
            code = int(pairs[at])
            yield Edge(
                id_of(code >> _SHIFT),
                CO_OCCURS,
                id_of(code & (1 << _SHIFT) - 1),
                self._between.get(code, ""),
                float(weights[at]),
                {"sources": [chunks[part] for part in parts[begins[at] : begins[at + 1]].tolist()]},
            )


def _code(name: int, other: int) -> int:
    """Return a number for a pair: the smaller name, then 32 bits for the other."""
    return min(name, other) << _SHIFT | max(name, other)


# ------------------------------------------------------------------------------------------------------------ synonyms


def synonym_edges(entities: Mapping[str, str], embedder: Embedder, progress: Progress) -> Iterator[Edge]:
    """Yield the edges between similar names, given by id, each pair once, from the earlier entity to the later."""
    named = {entity: name for entity, name in entities.items() if sum(map(str.isalnum, name)) >= LEAST_CHARACTERS}
    if not named:
        return
    ids, names, parts = list(named), list(named.values()), list[NDArray[np.float32]]()
    for low in range(0, len(names), _EMBEDDED):
        parts.append(np.asarray(embedder.embed(names[low : low + _EMBEDDED], kind="document"), np.float32))
        progress("embedding names", low + len(parts[-1]))
    vectors = np.concatenate(parts)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), np.float32)
    # 1969 and 1968 are similar to every embedder: names with different numbers are never joined.
    digits = [_DIGITS.findall(name) for name in names]
    for low in range(0, len(names), _ROWS):
        near = vectors[low : low + _ROWS] @ vectors.T  # (some names, names)
        for place, cosines in enumerate(near, low):
            for other in _nearest(cosines, place):
                if digits[place] == digits[other]:
                    yield Edge(ids[place], SYNONYM, ids[other], weight=round(float(cosines[other]), 4))
        progress("comparing names", low + len(near))


def _nearest(cosines: NDArray[np.float32], row: int) -> list[int]:
    """Return the later names that are most similar; ties are broken by order."""
    after = row + 1 + np.flatnonzero(cosines[row + 1 :] >= LEAST_COSINE)
    return sorted(after[np.argsort(-cosines[after], kind="stable")][:NEAR].tolist())
