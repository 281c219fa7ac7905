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
from orienteer.graph.edges import EdgeBatch
from orienteer.graph.reserved import CO_OCCURS, FACT, MEMBER, MENTIONS, RELATED_TO, STATES, SYNONYM, TABLE, TITLED
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


# Edges between names that no text states: of names that stand together, and of names that mean nearly the same.


IN_CHUNK = 0.25
"""What two names count for that stand in one chunk and in no sentence of it together; in a sentence it is 1."""
MOST_OF_CHUNK = 60
"""Names of a chunk that are tied to one another; those of a longer list say little of each other."""
LONGEST_BETWEEN = 200
"""Characters between two names that are kept."""
_SHIFT = 32
_BATCH = 20_000
LEAST_COSINE = 0.8
"""HippoRAG 2's code."""
NEAR = 100
"""Synonyms that a name has at the most, of those after it. HippoRAG 2's code."""
LEAST_CHARACTERS = 3
"""Letters and digits of a name that has synonyms. HippoRAG 2's code."""
_ROWS = 1024  # names that are compared with all others at once
_EMBEDDED = 2048
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"\w+")


# ------------------------------------------------------------------------------------------------- names in sentences


class Spot(NamedTuple):
    """A name in a sentence."""

    number: int
    begin: int
    end: int
    """Its characters, up to but not with this one."""


class SentenceNames(NamedTuple):
    """A sentence, or a row of a table, and the names in it in their order, no word part of two."""

    text: str
    spots: tuple[Spot, ...]


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
        """Take names by number. Those in `lower` are found wherever they stand, others begin with no small letter."""
        self._keys, self._lower = keys, lower
        lengths: dict[str, set[int]] = {}
        for key in keys:
            lengths.setdefault(key.partition(" ")[0], set()).add(key.count(" ") + 1)
        self._lengths = {first: sorted(several, reverse=True) for first, several in lengths.items()}

    def within(self, sentence: str, among: frozenset[int]) -> SentenceNames:
        """Return the sentence with the names of this set, and those in lower case, that stand in it."""
        words = list(_WORD.finditer(sentence))
        folded = [word[0].casefold() for word in words]
        spots: list[Spot] = []
        at = 0
        while at < len(words):
            spot = self._spot(words, folded, at, among)
            if spot is not None:
                spots.append(spot[0])
            at += 1 if spot is None else spot[1]
        return SentenceNames(sentence, tuple(spots))

    def _spot(
        self, words: list[re.Match[str]], folded: list[str], at: int, among: frozenset[int]
    ) -> tuple[Spot, int] | None:
        """Return the longest name that begins at a word, and how many words it has."""
        for length in self._lengths.get(folded[at], ()):
            number = self._keys.get(" ".join(folded[at : at + length])) if at + length <= len(folded) else None
            if number is None or number not in among and number not in self._lower:
                continue
            if words[at][0][0].islower() and number not in self._lower:
                continue
            return Spot(number, words[at].start(), words[at + length - 1].end()), length
        return None


def distinct(spots: Iterable[Spot]) -> list[int]:
    """Return the names of spots, each once, in their order."""
    return list(dict.fromkeys(spot.number for spot in spots))


# ------------------------------------------------------------------------------------------ names that stand together


class _Ties(NamedTuple):
    codes: NDArray[np.int64]  # (pairs,): the smaller number << 32 | the other, ascending
    weights: NDArray[np.float64]
    begins: NDArray[np.int64]  # (pairs + 1,)
    parts: NDArray[np.int32]  # chunks, pair after pair


class CoOccurrences:
    """Counts pairs of names, given by number, chunk after chunk."""

    def __init__(self, *, most: int) -> None:
        """Keep at most that many ties of each name, and those that the other name keeps: hubs tie all to all."""
        self._most = most
        self._codes, self._parts, self._weights = array("q"), array("i"), array("d")
        self._between: dict[int, str] = {}

    def add(self, part: int, names: Sequence[int], sentences: Sequence[SentenceNames]) -> None:
        """Count the names of a chunk and of its sentences."""
        near: set[int] = set()
        for text, spots in sentences:
            near.update(_code(name, other) for name, other in combinations(distinct(spots)[:MOST_OF_CHUNK], 2))
            for spot, other in pairwise(spots):
                between = " ".join(text[spot.end : other.begin].split())
                if spot.number != other.number and 0 < len(between) <= LONGEST_BETWEEN:
                    self._between.setdefault(_code(spot.number, other.number), between)
        far = {_code(name, other) for name, other in combinations(names[:MOST_OF_CHUNK], 2)} - near
        for codes, weight in ((near, 1.0), (far, IN_CHUNK)):
            self._codes.extend(sorted(codes))
            self._parts.extend([part] * len(codes))
            self._weights.extend([weight] * len(codes))

    def edges(self, id_of: Callable[[int], str], chunks: Sequence[str]) -> Iterator[EdgeBatch]:
        """Return the ties as edges, given the ids of nodes and of chunks by number."""
        codes, parts = np.array(self._codes, np.int64), np.array(self._parts, np.int32)
        order = np.lexsort((parts, codes))
        unique, begins = np.unique(codes[order], return_index=True)
        weights = np.add.reduceat(np.array(self._weights)[order], begins) if len(unique) else np.zeros(0)
        ties = _Ties(unique, weights, np.append(begins, len(codes)), parts[order])
        strongest = _strongest(ties, self._most)
        for low in range(0, len(strongest), _BATCH):
            here = strongest[low : low + _BATCH].tolist()
            pairs = ties.codes[here].tolist()
            yield EdgeBatch(
                sources=[id_of(code >> _SHIFT) for code in pairs],
                types=[CO_OCCURS] * len(pairs),
                targets=[id_of(code & (1 << _SHIFT) - 1) for code in pairs],
                extras=[self._extra(ties, at, chunks) for at in here],
            )

    def _extra(self, ties: _Ties, at: int, chunks: Sequence[str]) -> dict[str, JsonValue]:
        parts = ties.parts[ties.begins[at] : ties.begins[at + 1]].tolist()
        extra: dict[str, JsonValue] = {
            "weight": float(ties.weights[at]),
            "properties": {"sources": [chunks[part] for part in parts]},
        }
        between = self._between.get(int(ties.codes[at]))
        return {**extra, "text": between} if between else extra


def _code(name: int, other: int) -> int:
    return min(name, other) << _SHIFT | max(name, other)


def _strongest(ties: _Ties, most: int) -> NDArray[np.int64]:
    """Return the ties that are among the strongest of either name; ties of one weight by number."""
    low, high = ties.codes >> _SHIFT, ties.codes & (1 << _SHIFT) - 1
    ends = np.concatenate([low, high])
    ranked = np.lexsort((np.tile(ties.codes, 2), -np.tile(ties.weights, 2), ends))
    group = ends[ranked]
    begins = np.searchsorted(group, group, "left")
    first = ranked[np.arange(len(ranked)) - begins < most]
    return np.unique(first % max(1, len(ties.codes)))


# ------------------------------------------------------------------------------------------- names that mean the same


class EntityName(NamedTuple):
    """An entity."""

    id: str
    name: str


def synonym_edges(entities: Sequence[EntityName], embedder: Embedder, progress: Progress) -> Iterator[EdgeBatch]:
    """Return the edges between near names: each pair once, from the earlier entity to the later.

    Names that contain different numbers are never joined: 1969 and 1968 are near for every embedder.
    """
    named = [entity for entity in entities if sum(map(str.isalnum, entity.name)) >= LEAST_CHARACTERS]
    if not named:
        return
    vectors = _unit([entity.name for entity in named], embedder, progress)
    digits = [_DIGITS.findall(entity.name) for entity in named]
    for low in range(0, len(named), _ROWS):
        near = vectors[low : low + _ROWS] @ vectors.T  # (some names, names)
        pairs = [
            (low + row, other, float(near[row, other]))
            for row in range(len(near))
            for other in _nearest(near[row], low + row)
            if digits[low + row] == digits[other]
        ]
        yield EdgeBatch(
            sources=[named[place].id for place, _, _ in pairs],
            types=[SYNONYM] * len(pairs),
            targets=[named[other].id for _, other, _ in pairs],
            extras=[{"weight": round(cosine, 4)} for _, _, cosine in pairs],
        )
        progress("comparing names", low + len(near))


def _unit(names: Sequence[str], embedder: Embedder, progress: Progress) -> NDArray[np.float32]:
    parts = []
    for low in range(0, len(names), _EMBEDDED):
        parts.append(np.asarray(embedder.embed(names[low : low + _EMBEDDED], kind="document"), np.float32))
        progress("embedding names", low + len(parts[-1]))
    vectors = np.concatenate(parts)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), np.float32)


def _nearest(cosines: NDArray[np.float32], row: int) -> list[int]:
    """Return the names after this one that are near, the nearest of them, ties by their place."""
    after = row + 1 + np.flatnonzero(cosines[row + 1 :] >= LEAST_COSINE)
    return sorted(after[np.argsort(-cosines[after], kind="stable")][:NEAR].tolist())
