"""Edges between chunks that are alike, by kind of chunk (SAGE, section 2.1.B), and the figures of its appendix B.

    chunk - chunk    topic, content, entities
    table - table    column, title, entities
    table - chunk    content with column, topic with title, entities

Deviations from the paper, each with its reason:
1. Without a model a topic is a title and key phrases of the text, entities are names by statistics: the whole method
   has to work without one. Where a model has written them, they are its own.
2. Parts of one document make no such edge, for order and parents join them already; `faithful` keeps them.
3. The weight of an edge is the highest of its cosines, of entities alone the share that they are of the smaller set:
   the paper's edges have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.build.documents.config import BuildConfig
from orienteer.build.documents.joining import LEAST_HOLDERS, Pairs, shared_pairs
from orienteer.build.documents.kinds import CELLS, SIMILAR, TABLE
from orienteer.build.documents.mentions import Names, whole
from orienteer.build.documents.names import key_of
from orienteer.build.documents.phrases import Phrases
from orienteer.build.documents.similarity import (
    Candidates,
    Found,
    Matrix,
    Sets,
    candidates,
    correlations,
    cosines,
    histogram,
    nearest,
    overlaps,
    percentile_table,
)
from orienteer.build.documents.titling import parts_of
from orienteer.graph.edges import EdgeBatch
from orienteer.graph.vectors import embedded_text
from orienteer.records import JsonValue, Node

if TYPE_CHECKING:
    from orienteer.protocols import Embedder

SHOWN = 5
"""Shared names that an edge lists."""
_BATCH = 20_000


@dataclass(slots=True)
class Fields:
    """What is compared of the parts of one kind."""

    parts: list[int] = field(default_factory=list)
    """Their numbers among all parts."""
    about: list[str] = field(default_factory=list)
    """Topics of chunks, titles of tables."""
    within: list[str] = field(default_factory=list)
    """Contents of chunks, columns of tables."""
    bodies: list[str] = field(default_factory=list)
    """Of tables header and rows, for the cells that two of them share."""
    firsts: list[int] = field(default_factory=list)
    """Of tables the number of their first row."""


class Kinds(NamedTuple):
    """The parts of a graph by kind."""

    chunks: Fields
    tables: Fields
    entities: tuple[frozenset[str], ...]
    """What a model found in each part; all empty where none was asked."""


class Alike(NamedTuple):
    """Candidates of two kinds of parts, with what their rows are."""

    name: str
    first: Fields
    second: Fields
    found: Candidates


def fields_of(nodes: Iterable[Node]) -> Kinds:
    """Return what is compared of all parts. The nodes can be iterated again."""
    phrases = Phrases(node.text for _, node in parts_of(nodes) if node.type != TABLE)
    chunks, tables = Fields(), Fields()
    entities: list[frozenset[str]] = []
    for number, (_, node) in enumerate(parts_of(nodes)):
        known = node.properties
        mine = tables if node.type == TABLE else chunks
        mine.parts.append(number)
        given = known.get("entities")
        entities.append(
            frozenset(filter(None, map(key_of, map(str, given)))) if isinstance(given, list) else frozenset()
        )
        if mine is tables:
            columns = known.get("column_descriptions") or known.get("columns") or known.get("header") or ()
            mine.about.append(str(known.get("topic") or node.name))
            mine.within.append("; ".join(map(str, columns)) if isinstance(columns, list) else node.name)
            mine.firsts.append(whole(known.get("first_row"), 1))
            mine.bodies.append("\n".join(node.text.split("\n")[-whole(known.get("rows"), 0) - 1 :]))
        else:
            said = known.get("topic") or f"{node.name}: {', '.join(phrases.of(node.text))}"
            mine.about.append(str(said))
            mine.within.append(embedded_text(node.name, node.text))
    return Kinds(chunks, tables, tuple(entities))


def compare(kinds: Kinds, names: Names, embedder: Embedder, config: BuildConfig) -> list[Alike]:
    """Return the candidates of each two kinds of parts, with every similarity of each. Embeds all fields."""
    vectors = {
        id(one): (_embedded(embedder, one.about), _embedded(embedder, one.within))
        for one in (kinds.chunks, kinds.tables)
    }
    sharing = _sharing(names, config)
    sets = _sets(names, kinds)
    found = []
    for label, first, second, (about, within) in (
        ("chunk-chunk", kinds.chunks, kinds.chunks, ("topic", "content")),
        ("table-table", kinds.tables, kinds.tables, ("title", "column")),
        ("table-chunk", kinds.tables, kinds.chunks, ("title", "column")),
    ):
        (about_a, within_a), (about_b, within_b) = vectors[id(first)], vectors[id(second)]
        is_same = first is second
        near = [
            *_both_ways(about_a, about_b, config.near, is_same=is_same),
            *_both_ways(within_a, within_b, config.near, is_same=is_same),
            _between(sharing, first, second),
        ]
        signals: dict[str, Callable[[Found], NDArray[np.float64]]] = {
            about: cosines(about_a, about_b),
            within: cosines(within_a, within_b),
            "entities": overlaps(sets.take(_rows(first)), sets.take(_rows(second))),
        }
        if not config.faithful:
            near = [_apart(one, first, second, names) for one in near]
        made = candidates(near, signals, is_same=is_same, wide=len(second.parts))
        found.append(Alike(label, first, second, made))
    return found


def similar_edges(several: Sequence[Alike], names: Names, config: BuildConfig) -> Iterator[EdgeBatch]:
    """Return the edges that the percentiles, or fixed thresholds, keep; each with what it rests on.

    Properties: `by`, the similarities that count; their values; `names` in both with `confidence`, the share that they
    are of the smaller set; `joinable`, columns of two tables under one header or with values in common; `rows`, those
    of a table that hold one of the names, as they are numbered in its file.
    """
    fixed = config.fixed_thresholds()
    for alike in several:
        found = alike.found
        asked = {name: fixed[name] for name in found.signals if name in fixed} if fixed else found.signals
        thresholds = fixed or found.thresholds(config.similar_percentile)
        passing = found.passing({name: thresholds[name] for name in asked})
        marks = list(passing.values()) or [np.zeros(len(found.pairs), np.bool_)]
        at = np.flatnonzero((np.logical_or if config.similar_logic == "or" else np.logical_and).reduce(marks))
        for low in range(0, len(at), _BATCH):
            yield _batch(alike, at[low : low + _BATCH], passing, names)


def statistics(several: Sequence[Alike]) -> dict[str, Any]:  # Any: JSON
    """Return what the paper's appendix tells of its graph.

    `percentiles` is table 5; `means` table 3; `correlations` tables 17 to 19; `histograms` figures 5 to 12.
    """
    nodes = sum(len(fields.parts) for fields in {id(one): one for a in several for one in (a.first, a.second)}.values())
    return {
        "candidates": {one.name: len(one.found.pairs) for one in several},
        "percentiles": [row._asdict() for row in percentile_table([one.found for one in several], nodes)],
        "means": {one.name: {name: _mean(values) for name, values in one.found.signals.items()} for one in several},
        "correlations": {one.name: correlations(one.found) for one in several},
        "histograms": {
            one.name: {name: histogram(values) for name, values in one.found.signals.items()} for one in several
        },
    }


def _mean(values: NDArray[np.float64]) -> float:
    return round(float(values.mean()), 4) if len(values) else 0.0


def _embedded(embedder: Embedder, texts: Sequence[str]) -> Matrix:
    if not texts:
        return np.zeros((0, 1), np.float32)
    return np.asarray(embedder.embed(texts, kind="document"), np.float32)


def _rows(fields: Fields) -> NDArray[np.int64]:
    return np.array(fields.parts, np.int64)


def _both_ways(first: Matrix, second: Matrix, k: int, *, is_same: bool) -> list[Found]:
    """Return the nearest of each thing on the other side; of one kind of things that is the same list."""
    if not len(first) or not len(second):
        return []
    found = [nearest(first, second, k, is_same=is_same)]
    if not is_same:
        back = nearest(second, first, k)
        found.append(Found(back.second, back.first))
    return found


def _sharing(names: Names, config: BuildConfig) -> Pairs:
    """Return the pairs of parts that share most rare names."""
    counts = np.bincount(names.members, minlength=len(names.names))
    is_rare = (counts >= LEAST_HOLDERS) & (counts <= config.shared_most)
    return shared_pairs(names, is_rare, strongest=config.near)


def _between(pairs: Pairs, first: Fields, second: Fields) -> Found:
    """Return the pairs that join two kinds, by their rows."""
    count = 1 + max([-1, *first.parts, *second.parts, *pairs.second.tolist()])
    place = np.full((2, count), -1)
    for side, fields in enumerate((first, second)):
        place[side, fields.parts] = np.arange(len(fields.parts))
    ends = [(pairs.first, pairs.second)] if first is second else [pairs[:2], (pairs.second, pairs.first)]
    a = np.concatenate([place[0, one] for one, _ in ends])
    b = np.concatenate([place[1, other] for _, other in ends])
    is_here = (a >= 0) & (b >= 0)
    return Found(a[is_here], b[is_here])


def _apart(found: Found, first: Fields, second: Fields, names: Names) -> Found:
    """Leave out pairs of parts of one document."""
    documents = np.array([part.document for part in names.parts], np.int64)
    keep = documents[_rows(first)[found.first]] != documents[_rows(second)[found.second]]
    return Found(found.first[keep], found.second[keep])


def _sets(names: Names, kinds: Kinds) -> Sets:
    """Return the entities of each part: a model's where it has written any, else its names."""
    if not any(kinds.entities):
        return Sets(names.begins, names.members)
    numbers: dict[str, int] = {}
    members = [sorted(numbers.setdefault(one, len(numbers)) for one in held) for held in kinds.entities]
    begins = np.cumsum([0, *map(len, members)])
    return Sets(begins, np.array([number for held in members for number in held], np.int32))


def _batch(alike: Alike, at: NDArray[np.int64], passing: Mapping[str, NDArray[np.bool_]], names: Names) -> EdgeBatch:
    pairs, signals = alike.found.pairs, alike.found.signals
    values = {name: found[at].tolist() for name, found in signals.items()}
    marks = {name: found[at].tolist() for name, found in passing.items()}
    sources, targets, extras = [], [], []
    for row, (first, second) in enumerate(zip(pairs.first[at].tolist(), pairs.second[at].tolist(), strict=True)):
        a, b = alike.first.parts[first], alike.second.parts[second]
        by = [name for name in marks if marks[name][row]]
        held = (names.of(a), names.of(b))
        both = np.intersect1d(*held, assume_unique=True)
        confidence = len(both) / max(1, min(map(len, held)))
        properties: dict[str, JsonValue] = {"by": by}
        properties |= {name: round(values[name][row], 4) for name in signals}
        if len(both):
            rarest = sorted(both.tolist(), key=lambda name: (-names.weights[name], names.names[name]))[:SHOWN]
            shown = [names.names[name] for name in rarest]
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


def joinable_columns(first: str, second: str) -> list[JsonValue]:
    """Return the columns of two tables, given as lines, that two values or a header join: pairs of headers."""
    ours, theirs = _columns(first), _columns(second)
    found: list[JsonValue] = []
    for (mine, values), (other, others) in ((a, b) for a in ours for b in theirs):
        is_header = key_of(mine) == key_of(other) != ""
        if is_header or len(values & others) >= LEAST_HOLDERS:
            found.append([mine, other])
    return found


def _columns(body: str) -> list[tuple[str, set[str]]]:
    """Return the columns of a table with the values that say something: words, not mere numbers."""
    header, *rows = [line.split(CELLS) for line in body.split("\n")]
    columns = [(name, {row[at].casefold() for row in rows if at < len(row)}) for at, name in enumerate(header)]
    return [(name, {value for value in values if any(map(str.isalpha, value))}) for name, values in columns]


def _rows_with(tables: Fields, place: int, shown: Sequence[str]) -> list[int]:
    """Return which rows of a segment hold one of some names."""
    _, *rows = tables.bodies[place].casefold().split("\n")
    wanted = [name.casefold() for name in shown]
    first = tables.firsts[place]
    return [number for number, row in enumerate(rows, first) if any(name in row for name in wanted)]
