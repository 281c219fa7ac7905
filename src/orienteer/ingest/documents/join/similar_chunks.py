"""Edges between similar chunks, by kind of chunk (SAGE, section 2.1.B).

    chunk - chunk    topic, content, entities
    table - table    title, column, entities
    table - chunk    title with topic, column with content, entities

Deviations from the paper, each with its reason:
1. Without a model, a topic is a title and key phrases of the text, and entities are names by statistics: the whole
   method must work without one. If a model has written them, they are the model's.
2. Parts of one document get no such edge, because order and documents join them already; `faithful` keeps these edges.
3. The weight of an edge is the highest of its cosines; for entities alone, the share that the common ones are of the
   smaller set. The paper's edges have no weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.embedding import embedded_text
from orienteer.graph.names import CorpusNames, parts_of, whole_number
from orienteer.graph.pieces.incidence import Lists
from orienteer.graph.reserved import SIMILAR, TABLE
from orienteer.index.arrays import begins_of
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.cut.segments import joinable_columns
from orienteer.ingest.documents.join.pairs import SHOWN, rare, shared_pairs
from orienteer.ingest.documents.join.similarity import (
    Candidates,
    Matrix,
    RowPairs,
    correlations,
    cosines,
    distinct_pairs,
    nearest,
    overlaps,
    percentile_table,
)
from orienteer.records import Edge, JsonValue, Node
from orienteer.text.proper_names import idf, key_of
from orienteer.text.sentences import Phrases

if TYPE_CHECKING:
    from orienteer.protocols import Embedder


QUANTILES = (5, 25, 50, 75, 95)
MOST_NAMES = 10  # of a part, from which on they are counted as one group
_TOLD = {"table-table": ("topic", "description"), "table-chunk": ("summary", "summary")}
"""What a model wrote of tables that is measured beside the signals, and its name: tables 3, 17 and 19, figures 6 to 13.

No edge rests on it, as in the paper: a summary is compared with the topics of chunks, a description with others.
"""


class TableRows(NamedTuple):
    """The header and the rows of a table segment, a line each."""

    text: str
    first: int
    """The number of the first row in its file."""

    def having(self, names: Sequence[str]) -> list[int]:
        """Return the numbers of the rows with one of some names."""
        _, *rows = self.text.casefold().split("\n")
        wanted = [name.casefold() for name in names]
        return [number for number, row in enumerate(rows, self.first) if any(name in row for name in wanted)]


class PartNames(NamedTuple):
    """The names of each part."""

    lists: Lists
    written: Sequence[str]
    weights: NDArray[np.float64]
    """(names,): the idf of each."""


class Compared(NamedTuple):
    """What the parts of a corpus are compared by; parts are numbered as in its `CorpusNames`."""

    about: list[str]
    """Topics of chunks, titles of tables."""
    within: list[str]
    """Contents of chunks, columns of tables."""
    tables: dict[int, TableRows]
    """By number; all other parts are chunks."""
    entities: PartNames
    """Those that a model wrote; if it wrote none at all, the names of the corpus."""
    told: Mapping[str, dict[int, str]]
    """The texts that a model wrote on tables, by number: `topic`, which describes one, and `summary`."""


class KindPair(NamedTuple):
    """The candidates of two kinds of parts. Pairs are numbers of parts, a table's before a chunk's."""

    name: str
    pool: Candidates


def compared(nodes: Iterable[Node], names: CorpusNames) -> Compared:
    """Return what all parts are compared by. The nodes are iterated several times."""
    phrases = Phrases(node.text for _, node in parts_of(nodes) if node.type != TABLE)
    about, within = list[str](), list[str]()
    tables: dict[int, TableRows] = {}
    entities: list[dict[str, str]] = []
    told: dict[str, dict[int, str]] = {"topic": {}, "summary": {}}
    for number, (_, node) in enumerate(parts_of(nodes)):
        properties = node.properties
        listed = properties.get("entities")
        written = map(str, listed) if isinstance(listed, list) else ()
        entities.append({key: name for name in written if (key := key_of(name))})
        if node.type != TABLE:
            about.append(str(properties.get("topic") or f"{node.name}: {', '.join(phrases.of(node.text))}"))
            within.append(embedded_text(node.name, node.text))
            continue
        columns = properties.get("column_descriptions") or properties.get("columns") or properties.get("header") or ()
        about.append(str(properties.get("title") or node.name))
        for field, texts in told.items():
            texts |= {number: str(properties[field])} if field in properties else {}
        within.append("; ".join(map(str, columns)) if isinstance(columns, list) else node.name)
        lines = node.text.split("\n")[-whole_number(properties.get("rows"), 0) - 1 :]
        tables[number] = TableRows("\n".join(lines), whole_number(properties.get("first_row"), 1))
    own = PartNames(Lists(names.begins, names.members), names.names, names.weights)
    return Compared(about, within, tables, _numbered(entities) if any(entities) else own, told)


def _numbered(several: Sequence[Mapping[str, str]]) -> PartNames:
    """Return the names of parts, given as spellings by folded name."""
    numbers: dict[str, int] = {}
    written: list[str] = []
    for names in several:
        for key, name in names.items():
            if numbers.setdefault(key, len(numbers)) == len(written):
                written.append(name)
    members = np.array([number for names in several for number in sorted(map(numbers.__getitem__, names))], np.int32)
    counts = np.bincount(members, minlength=len(written))
    weights = np.array([idf(count, len(several)) for count in counts.tolist()])
    return PartNames(Lists(begins_of(np.array([*map(len, several)], np.int64)), members), written, weights)


def compare(parts: Compared, names: CorpusNames, embedder: Embedder, config: BuildConfig) -> list[KindPair]:
    """Return the candidates of each two kinds of parts, with every similarity of each. Embeds all fields."""
    count = len(parts.about)
    is_table = np.isin(np.arange(count), list(parts.tables))
    chunks, tables = np.flatnonzero(~is_table), np.flatnonzero(is_table)
    about, within = (_embedded(texts, (chunks, tables), embedder) for texts in (parts.about, parts.within))
    sharing = shared_pairs(names, rare(names, config), strongest=config.near)
    documents = np.array([part.document for part in names.parts], np.int64)
    comparisons = []
    for name, first, second, fields in (
        ("chunk-chunk", chunks, chunks, ("topic", "content")),
        ("table-table", tables, tables, ("title", "column")),
        ("table-chunk", tables, chunks, ("title", "column")),
    ):
        near = [pairs for matrix in (about, within) for pairs in _nearest_parts(matrix, first, second, config.near)]
        for one, other in ((sharing.first, sharing.second), (sharing.second, sharing.first)):
            stays = np.isin(one, first) & np.isin(other, second)
            near.append(RowPairs(one[stays].astype(np.int64), other[stays].astype(np.int64)))
        pairs = distinct_pairs(near, is_same=first is second)
        if not config.faithful:
            apart = documents[pairs.first] != documents[pairs.second]
            pairs = RowPairs(pairs.first[apart], pairs.second[apart])
        signals = {label: cosines(matrix, pairs) for label, matrix in zip(fields, (about, within), strict=True)}
        signals["entities"] = overlaps(parts.entities.lists, pairs)
        field, label = _TOLD.get(name, ("", ""))
        texts = parts.told.get(field, {})
        measured = {label: cosines(_retold(about, texts, embedder), pairs)} if texts else {}
        comparisons.append(KindPair(name, Candidates(pairs, signals, measured)))
    return comparisons


def _retold(about: Matrix, texts: Mapping[int, str], embedder: Embedder) -> Matrix:
    """Return vectors of what parts are about, by a model's text if there is one: (parts, dimension)."""
    matrix = about.copy()
    matrix[list(texts)] = np.asarray(embedder.embed([*texts.values()], kind="document"), np.float32)
    return matrix


def _embedded(texts: Sequence[str], kinds: Iterable[NDArray[np.int64]], embedder: Embedder) -> Matrix:
    """Embed a field of all parts, kind by kind: (parts, dimension)."""
    matrix = np.zeros((0, 1), np.float32)
    for rows in kinds:
        if len(rows):
            vectors = np.asarray(embedder.embed([texts[row] for row in rows.tolist()], kind="document"), np.float32)
            matrix = matrix if len(matrix) else np.zeros((len(texts), vectors.shape[1]), np.float32)
            matrix[rows] = vectors
    return matrix


def _nearest_parts(vectors: Matrix, first: NDArray[np.int64], second: NDArray[np.int64], k: int) -> Iterator[RowPairs]:
    """Yield the nearest of each part of one kind among the other kind, and of each of these among the first."""
    near = nearest(vectors[first], vectors[second], k, is_same=first is second)
    yield RowPairs(first[near.first], second[near.second])
    if first is not second:
        back = nearest(vectors[second], vectors[first], k)
        yield RowPairs(first[back.second], second[back.first])


def similar_edges(
    several: Sequence[KindPair], parts: Compared, names: CorpusNames, config: BuildConfig
) -> Iterator[Edge]:
    """Yield the edges that exceed the percentiles, or fixed thresholds, with their reasons.

    Properties: `by`, the similarities that count; their values; `names` in both with `confidence`, their share of the
    smaller set; `joinable`, columns of two tables under one header or with values in common; `rows`, the numbers of a
    table's rows with one of the names.
    """
    entities = parts.entities
    for kind, pool in several:
        thresholds = thresholds_of(pool, config)
        for at in np.flatnonzero(pool.kept(thresholds, logic=config.similar_logic)).tolist():
            a, b = int(pool.pairs.first[at]), int(pool.pairs.second[at])
            values = {name: float(signal[at]) for name, signal in pool.signals.items()}
            by = [name for name, value in values.items() if value > thresholds.get(name, np.inf)]
            sets = (entities.lists.of(a), entities.lists.of(b))
            both = np.intersect1d(*sets, assume_unique=True).tolist()
            confidence = len(both) / max(1, min(map(len, sets)))
            properties: dict[str, JsonValue] = {"by": by}
            properties |= {name: round(value, 4) for name, value in values.items()}
            if both:
                rarest = sorted(both, key=lambda name: (-entities.weights[name], entities.written[name]))[:SHOWN]
                shown = [entities.written[name] for name in rarest]
                properties |= {"names": shown, "confidence": round(confidence, 2)}
                if kind == "table-chunk" and (rows := parts.tables[a].having(shown)):
                    properties["rows"] = rows
            if kind == "table-table":
                joinable = joinable_columns(parts.tables[a].text, parts.tables[b].text)
                properties |= {"joinable": joinable} if joinable else {}
            weight = max((values[name] for name in by if name != "entities"), default=confidence)
            yield Edge(names.parts[a].id, SIMILAR, names.parts[b].id, "", round(weight, 4), properties)


def thresholds_of(pool: Candidates, config: BuildConfig) -> dict[str, float]:
    """Return the threshold of each similarity: its percentile, or the fixed thresholds if there are any."""
    fixed = config.fixed_thresholds()
    if not fixed:
        return pool.thresholds(config.similar_percentile)
    return {name: fixed[name] for name in pool.signals if name in fixed}


def figures_of(several: Sequence[KindPair], parts: Compared, config: BuildConfig) -> dict[str, Any]:  # Any: JSON
    """Return figures of the similarities over all candidates, as in SAGE's appendix, by pair of kinds.

    `thresholds` are those of the edges; `percentiles` is table 5, `means` table 3, `correlations` tables 17 to 19, and
    `quantiles` and `names`, how many parts have how many names, stand for the histograms of figures 5, 6, 8, 9, 11, 12.
    """
    pools = {kind_pair.name: kind_pair.pool for kind_pair in several}
    count, tables, counts = len(parts.about), len(parts.tables), parts.entities.lists.counts()
    is_table = np.isin(np.arange(count), list(parts.tables))
    return {
        "candidates": {name: len(pool.pairs) for name, pool in pools.items()},
        "nodes": {"chunk": count - tables, "table": tables},
        "thresholds": {
            name: {key: round(value, 6) for key, value in thresholds_of(pool, config).items()}
            for name, pool in pools.items()
        },
        "percentiles": percentile_table([*pools.values()], count),
        "means": {
            name: {key: round(float(values.mean()), 4) if len(values) else 0.0 for key, values in pool.every.items()}
            for name, pool in pools.items()
        },
        "correlations": {name: correlations(pool) for name, pool in pools.items()},
        "names": {
            kind: dict(enumerate(np.bincount(counts[mask].clip(max=MOST_NAMES), minlength=MOST_NAMES + 1).tolist()))
            for kind, mask in (("chunk", ~is_table), ("table", is_table))
        },
        "quantiles": {
            name: {
                key: dict(zip(QUANTILES, np.percentile(values, QUANTILES).round(4).tolist(), strict=True))
                for key, values in pool.every.items()
                if len(values)
            }
            for name, pool in pools.items()
        },
    }
