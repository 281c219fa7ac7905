"""Edges between similar chunks, by kind of chunk (SAGE, section 2.1.B).

    chunk - chunk    topic, content, entities
    table - table    column, title, entities
    table - chunk    content with column, topic with title, entities

Deviations from the paper, each with its reason:
1. Without a model a topic is a title and key phrases of the text, a table's description its title and headers, entities
   are names by statistics: the whole method has to work without one. Where a model has written them, they are its own.
2. Parts of one document make no such edge, for order and parents join them already; `faithful` keeps them.
3. The weight of an edge is the highest of its cosines, of entities alone the share that they are of the smaller set:
   the paper's edges have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.edges import EdgeBatch
from orienteer.graph.embedding import embedded_text
from orienteer.graph.names import CorpusNames, parts_of, whole_number
from orienteer.graph.reserved import CELLS, SIMILAR, TABLE
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.cut.segments import joinable_columns
from orienteer.ingest.documents.join.pairs import SHOWN, Pairs, rare, shared_pairs
from orienteer.ingest.documents.join.similarity import (
    Candidates,
    Matrix,
    RowPairs,
    Sets,
    candidates,
    cosines,
    nearest,
    overlaps,
)
from orienteer.records import JsonValue, Node
from orienteer.text.proper_names import idf, key_of
from orienteer.text.sentences import Phrases

if TYPE_CHECKING:
    from orienteer.protocols import Embedder

_BATCH = 20_000


@dataclass(slots=True)
class Fields:
    """The fields by which parts of one kind are compared."""

    parts: list[int] = field(default_factory=list)
    """Their numbers among all parts."""
    about: list[str] = field(default_factory=list)
    """Topics of chunks, titles of tables."""
    within: list[str] = field(default_factory=list)
    """Contents of chunks, columns of tables."""
    texts: list[str] = field(default_factory=list)
    """Of tables what an embedder reads of them."""
    descriptions: list[str] = field(default_factory=list)
    """Of tables what each says that it holds."""
    bodies: list[str] = field(default_factory=list)
    """Of tables header and rows, for the cells that two of them share."""
    firsts: list[int] = field(default_factory=list)
    """Of tables the number of their first row."""


class Kinds(NamedTuple):
    """The parts of a graph by kind."""

    chunks: Fields
    tables: Fields
    entities: tuple[Mapping[str, str], ...]
    """Entities that a model wrote for each part, by folded name; all empty without a model."""
    events: tuple[Mapping[str, str], ...]


class PartSets(NamedTuple):
    """The names, or the events, of each part."""

    sets: Sets
    written: Sequence[str]
    weights: NDArray[np.float64]
    """idf of each: the rarer, the more it says."""

    def of(self, part: int) -> NDArray[np.int32]:
        """Return the numbers of a part's members: (members,)."""
        return self.sets.members[self.sets.begins[part] : self.sets.begins[part + 1]]


class KindPair(NamedTuple):
    """The candidates of two kinds of parts."""

    name: str
    first: Fields
    second: Fields
    pool: Candidates
    entities: PartSets
    beside: Mapping[str, NDArray[np.float64]] = {}
    """Similarities that the paper measures but makes no edges of; empty unless measured."""


class _FieldVectors(NamedTuple):
    """The vectors of the parts of one kind."""

    about: Matrix
    within: Matrix
    texts: Matrix
    descriptions: Matrix


def fields_of(nodes: Iterable[Node]) -> Kinds:
    """Return the fields of all parts. The nodes can be iterated several times."""
    phrases = Phrases(node.text for _, node in parts_of(nodes) if node.type != TABLE)
    chunks, tables = Fields(), Fields()
    entities: list[dict[str, str]] = []
    events: list[dict[str, str]] = []
    for number, (_, node) in enumerate(parts_of(nodes)):
        properties = node.properties
        entities.append(_keys(properties.get("entities")))
        listed = properties.get("events")
        names = [event.get("name") for event in listed if isinstance(event, dict)] if isinstance(listed, list) else []
        events.append(_keys(names))
        if node.type == TABLE:
            tables.parts.append(number)
            _add_table(tables, node)
        else:
            chunks.parts.append(number)
            about = properties.get("topic") or f"{node.name}: {', '.join(phrases.of(node.text))}"
            chunks.about.append(str(about))
            chunks.within.append(embedded_text(node.name, node.text))
    return Kinds(chunks, tables, tuple(entities), tuple(events))


def _keys(names: JsonValue) -> dict[str, str]:
    written = map(str, names) if isinstance(names, list) else ()
    return {key: name for name in written if (key := key_of(name))}


def _add_table(tables: Fields, node: Node) -> None:
    properties = node.properties
    columns = properties.get("column_descriptions") or properties.get("columns") or properties.get("header") or ()
    header, *rows = node.text.split("\n")[-whole_number(properties.get("rows"), 0) - 1 :]
    tables.about.append(str(properties.get("title") or node.name))
    tables.within.append("; ".join(map(str, columns)) if isinstance(columns, list) else node.name)
    tables.texts.append(embedded_text(node.name, node.text))
    tables.descriptions.append(str(properties.get("topic") or f"{node.name}: {header.replace(CELLS, ', ')}"))
    tables.bodies.append("\n".join([header, *rows]))
    tables.firsts.append(whole_number(properties.get("first_row"), 1))


def compare(
    kinds: Kinds, names: CorpusNames, embedder: Embedder, config: BuildConfig, *, is_measured: bool = False
) -> list[KindPair]:
    """Return the candidates of each two kinds of parts, with every similarity of each. Embeds all fields.

    Where they are measured, what the paper measures and joins none by is taken of them as well; it takes two further
    texts of each table.
    """
    chunks, tables = kinds.chunks, kinds.tables
    ours = _vectors(embedder, chunks, is_measured=False)
    theirs = _vectors(embedder, tables, is_measured=is_measured)
    sharing = shared_pairs(names, rare(names, config), strongest=config.near)
    entities = _entities(names, kinds)
    comparisons = []
    for label, first, second, vectors, (about, within) in (
        ("chunk-chunk", chunks, chunks, (ours, ours), ("topic", "content")),
        ("table-table", tables, tables, (theirs, theirs), ("title", "column")),
        ("table-chunk", tables, chunks, (theirs, ours), ("title", "column")),
    ):
        a, b = vectors
        near = [
            *_both_ways(a.about, b.about, config.near, is_same=first is second),
            *_both_ways(a.within, b.within, config.near, is_same=first is second),
            _between(sharing, first, second),
        ]
        if not config.faithful:
            near = [_apart(pairs, first, second, names) for pairs in near]
        signals: dict[str, Callable[[RowPairs], NDArray[np.float64]]] = {
            about: cosines(a.about, b.about),
            within: cosines(a.within, b.within),
            "entities": _overlaps(entities.sets, first, second),
        }
        pool = candidates(near, signals, is_same=first is second, wide=len(second.parts))
        alike = KindPair(label, first, second, pool, entities)
        comparisons.append(alike._replace(beside=_beside(alike, a, b, kinds)) if is_measured else alike)
    return comparisons


def _vectors(embedder: Embedder, fields: Fields, *, is_measured: bool) -> _FieldVectors:
    """Embed the fields; a chunk's text is its content already, and its description its topic."""
    about, within = _embedded(embedder, fields.about), _embedded(embedder, fields.within)
    if not is_measured:
        return _FieldVectors(about, within, within, about)
    return _FieldVectors(about, within, _embedded(embedder, fields.texts), _embedded(embedder, fields.descriptions))


def _beside(
    alike: KindPair, first: _FieldVectors, second: _FieldVectors, kinds: Kinds
) -> dict[str, NDArray[np.float64]]:
    """Return what the paper's tables 3 and 17 to 19 have beside the similarities that make edges."""
    pairs, shared = alike.pool.pairs, alike.pool.signals["entities"]
    if alike.name != "chunk-chunk":
        described = "description" if alike.name == "table-table" else "summary"
        return {
            "content": cosines(first.texts, second.texts)(pairs),
            described: cosines(first.descriptions, second.descriptions)(pairs),
        }
    sizes = np.diff(alike.entities.sets.begins)[_rows(alike.first)]
    least = np.minimum(sizes[pairs.first], sizes[pairs.second])
    measures = {"overlap": shared / np.maximum(least, 1)}
    if any(kinds.events):
        measures["events"] = _overlaps(packed(kinds.events).sets, alike.first, alike.second)(pairs)
    return measures


def _overlaps(sets: Sets, first: Fields, second: Fields) -> Callable[[RowPairs], NDArray[np.float64]]:
    return overlaps(sets.take(_rows(first)), sets.take(_rows(second)))


def similar_edges(several: Sequence[KindPair], names: CorpusNames, config: BuildConfig) -> Iterator[EdgeBatch]:
    """Return the edges that the percentiles, or fixed thresholds, keep, each with its grounds.

    Properties: `by`, the similarities that count; their values; `names` in both with `confidence`, the share that they
    are of the smaller set; `joinable`, columns of two tables under one header or with values in common; `rows`, those
    of a table that hold one of the names, as they are numbered in its file.
    """
    for alike in several:
        pool = alike.pool
        thresholds = thresholds_of(pool, config)
        passing = pool.passing(thresholds)
        at = np.flatnonzero(pool.kept(thresholds, logic=config.similar_logic))
        for low in range(0, len(at), _BATCH):
            yield _batch(alike, at[low : low + _BATCH], passing, names)


def thresholds_of(pool: Candidates, config: BuildConfig) -> dict[str, float]:
    """Return what a similarity has to exceed: the percentile of each, or of some a fixed value."""
    fixed = config.fixed_thresholds()
    if not fixed:
        return pool.thresholds(config.similar_percentile)
    return {name: fixed[name] for name in pool.signals if name in fixed}


def _embedded(embedder: Embedder, texts: Sequence[str]) -> Matrix:
    if not texts:
        return np.zeros((0, 1), np.float32)
    return np.asarray(embedder.embed(texts, kind="document"), np.float32)


def _rows(fields: Fields) -> NDArray[np.int64]:
    return np.array(fields.parts, np.int64)


def _both_ways(first: Matrix, second: Matrix, k: int, *, is_same: bool) -> list[RowPairs]:
    """Return the nearest of each thing on the other side; of one kind of things that is the same list."""
    if not len(first) or not len(second):
        return []
    near = [nearest(first, second, k, is_same=is_same)]
    if not is_same:
        back = nearest(second, first, k)
        near.append(RowPairs(back.second, back.first))
    return near


def _between(pairs: Pairs, first: Fields, second: Fields) -> RowPairs:
    """Return the pairs that join two kinds, by their rows."""
    count = 1 + max([-1, *first.parts, *second.parts, *pairs.second.tolist()])
    place = np.full((2, count), -1)
    for side, fields in enumerate((first, second)):
        place[side, fields.parts] = np.arange(len(fields.parts))
    ends = [(pairs.first, pairs.second)] if first is second else [pairs[:2], (pairs.second, pairs.first)]
    a = np.concatenate([place[0, side] for side, _ in ends])
    b = np.concatenate([place[1, other] for _, other in ends])
    is_here = (a >= 0) & (b >= 0)
    return RowPairs(a[is_here], b[is_here])


def _apart(pairs: RowPairs, first: Fields, second: Fields, names: CorpusNames) -> RowPairs:
    """Leave out pairs of parts of one document."""
    documents = np.array([part.document for part in names.parts], np.int64)
    keep = documents[_rows(first)[pairs.first]] != documents[_rows(second)[pairs.second]]
    return RowPairs(pairs.first[keep], pairs.second[keep])


def _entities(names: CorpusNames, kinds: Kinds) -> PartSets:
    """Return the entities of each part: a model's where it has written any, else its names."""
    if any(kinds.entities):
        return packed(kinds.entities)
    return PartSets(Sets(names.begins, names.members), names.names, names.weights)


def packed(several: Sequence[Mapping[str, str]]) -> PartSets:
    """Return sets of words as sets of numbers."""
    numbers: dict[str, int] = {}
    written: list[str] = []
    for words in several:
        for key, word in words.items():
            if numbers.setdefault(key, len(numbers)) == len(written):
                written.append(word)
    members = np.array([number for words in several for number in sorted(map(numbers.__getitem__, words))], np.int32)
    begins = np.cumsum([0, *map(len, several)])
    counts = np.bincount(members, minlength=len(written))
    return PartSets(Sets(begins, members), written, np.array([idf(count, len(several)) for count in counts.tolist()]))


def _batch(
    alike: KindPair, at: NDArray[np.int64], passing: Mapping[str, NDArray[np.bool_]], names: CorpusNames
) -> EdgeBatch:
    pairs, signals, entities = alike.pool.pairs, alike.pool.signals, alike.entities
    values = {name: signal[at].tolist() for name, signal in signals.items()}
    marks = {name: mark[at].tolist() for name, mark in passing.items()}
    sources, targets, extras = [], [], []
    for row, (first, second) in enumerate(zip(pairs.first[at].tolist(), pairs.second[at].tolist(), strict=True)):
        a, b = alike.first.parts[first], alike.second.parts[second]
        by = [name for name in marks if marks[name][row]]
        sets = (entities.of(a), entities.of(b))
        both = np.intersect1d(*sets, assume_unique=True)
        confidence = len(both) / max(1, min(map(len, sets)))
        properties: dict[str, JsonValue] = {"by": by}
        properties |= {name: round(values[name][row], 4) for name in signals}
        if len(both):
            rarest = sorted(both.tolist(), key=lambda name: (-entities.weights[name], entities.written[name]))[:SHOWN]
            shown = [entities.written[name] for name in rarest]
            properties |= {"names": shown, "confidence": round(confidence, 2)}
            if alike.name == "table-chunk" and (rows := _rows_with(alike.first, first, shown)):
                properties["rows"] = rows
        if alike.name == "table-table":
            joinable = joinable_columns(alike.first.bodies[first], alike.second.bodies[second])
            properties |= {"joinable": joinable} if joinable else {}
        cosine = [values[name][row] for name in by if name != "entities"]
        sources.append(names.parts[a].id)
        targets.append(names.parts[b].id)
        extras.append({"weight": round(max(cosine, default=confidence), 4), "properties": properties})
    return EdgeBatch(sources, [SIMILAR] * len(sources), targets, extras)


def _rows_with(tables: Fields, place: int, shown: Sequence[str]) -> list[int]:
    """Return which rows of a segment hold one of some names."""
    _, *rows = tables.bodies[place].casefold().split("\n")
    wanted = [name.casefold() for name in shown]
    first = tables.firsts[place]
    return [number for number, row in enumerate(rows, first) if any(name in row for name in wanted)]
