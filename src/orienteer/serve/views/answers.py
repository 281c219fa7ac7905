"""All nodes that meet a question: as a table, and counted by type, property and neighbour."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from orienteer.graph.properties import number_of
from orienteer.patience import check_patience
from orienteer.serve.views import records

if TYPE_CHECKING:
    from orienteer.graph.columns import Column, NodeTable
    from orienteer.graph.store import Graph
    from orienteer.records import JsonValue
    from orienteer.retriever import Retriever

MOST_FACETS = 40
"""Properties, and neighbours, that are counted."""
MOST_VALUES = 20
"""Values of each that are listed."""
_MOST_BINS = 20
_MONTHS = (1, 3, 6, *(12 * scale * years for scale in (1, 10, 100, 1_000) for years in (1, 2, 5)))
"""Lengths of a bin of dates."""


def answer_table(
    retriever: Retriever,
    question: str | None = None,
    *,
    reading: str | None = None,
    nodes: Sequence[str] = (),
    sort: str | None = None,
    descending: bool = False,
    columns: Sequence[str] = (),
    **filters: Any,  # Any: of `Retriever.answers`
) -> NodeTable:
    """Return the table of all nodes that meet a question or a reading line, or of some nodes given by their ids.

    Raises what `Retriever.answers` raises, `UnknownNode`, and `BadOption` for a column that is not there.
    """
    import numpy as np

    from orienteer.graph.columns import table_of

    arrays = retriever.graph.arrays
    if nodes:
        table = table_of(arrays, np.array(list(dict.fromkeys(map(arrays.row, nodes))), np.int32))
    else:
        table = retriever.answers(question or "", reading=reading, **filters)
    return table.sorted(sort, descending=descending).select(columns)


def answers(retriever: Retriever, *, offset: int = 0, k: int = 20, **options: Any) -> records.Answers:
    """Return a page of the table that `answer_table` makes with these options."""
    table = answer_table(retriever, **options)
    ids = [retriever.graph.arrays.ids[row] for row in table.rows[offset : offset + k].tolist()]
    return records.Answers(
        total=table.total,
        offset=offset,
        reading=table.reading,
        columns=tuple(records.TableColumn(name=one.name, kind=one.kind) for one in table.columns),
        rows=tuple(table.values(offset, k)),
        ids=tuple(ids),
    )


def facets(retriever: Retriever, question: str | None = None, **options: Any) -> records.Facets:
    """Return counts of all nodes that meet a question: by type, by property, and by each neighbour of a kind.

    Those that most nodes have come first, each with its most frequent values. Raises what `Retriever.answers` raises.
    """
    arrays, table = retriever.graph.arrays, answer_table(retriever, question, **options)
    narrowed = _narrowed(retriever.graph, table.reading)
    found: dict[str, list[records.Facet]] = {"property": [], "edge": []}
    for column in table.columns:
        check_patience()
        if column.kind != "own":
            found[column.kind].append(_facet(table, column, narrowed))
    best = {kind: sorted(own, key=lambda facet: facet.missing)[:MOST_FACETS] for kind, own in found.items()}
    left = {kind: len(own) - len(best[kind]) for kind, own in found.items()}
    names = {"property": "more properties", "edge": "more kinds of neighbours"}
    # The sorts are stable: ties stay in the order of the graph.
    types = Counter(sorted(arrays.node_types[table.rows].tolist())).most_common()
    return records.Facets(
        total=table.total,
        types=tuple(records.Group(value=arrays.types.nodes[number], count=count) for number, count in types),
        properties=tuple(best["property"]),
        edges=tuple(best["edge"]),
        notes=tuple(f"{more:,} {names[kind]} are not counted" for kind, more in left.items() if more),
    )


def _facet(table: NodeTable, column: Column, narrowed: Callable[[int, int], str | None]) -> records.Facet:
    from orienteer.graph.listing import grouped

    arrays, bins = table.arrays, list[records.Bin]()
    kind: records.FacetKind = "edge"
    if column.others is None:
        groups = grouped(arrays, table.rows, column.source)
        known = [(group.value, group.count) for group in groups if group.value is not None]
        choices = [records.Choice(value=value, count=count) for value, count in known[:MOST_VALUES]]
        kind, bins = _binned(known)
        count, distinct = table.total - sum(group.count for group in groups if group.value is None), len(known)
    else:
        rows = Counter[int](sorted(column.others.tolist()))
        choices = [
            records.Choice(value=arrays.names[row], count=count, id=arrays.ids[row], reading=narrowed(column.edge, row))
            for row, count in rows.most_common(MOST_VALUES)
        ]
        count, distinct = len(column.others), len(rows)
    return records.Facet(
        name=column.source if kind != "edge" else column.name,
        kind=kind,
        groups=tuple(choices),
        count=count,
        distinct=distinct,
        missing=table.total - count,
        bins=tuple(bins),
    )


def _narrowed(graph: Graph, reading: str | None) -> Callable[[int, int], str | None]:
    """Return what writes a reading line anew, of the nodes that an edge of a kind joins to a node; None of no list."""
    from orienteer.reading.line import parse
    from orienteer.reading.query import Among, Joined, NodeSet
    from orienteer.reading.wording import QueryWording

    query, wording, types = None if reading is None else parse(reading, graph), QueryWording(graph), graph.arrays.types

    def line(edge: int, row: int) -> str | None:
        if query is None or query.form not in ("list", "count"):
            return None
        kinds = (edge, edge ^ 1) if types.edges[edge >> 1] in graph.schema.symmetric else (edge,)
        joined = Joined(kinds, NodeSet(conditions=(Among((row,)),)))
        return wording.line(replace(query, nodes=query.nodes.that(joined)))

    return line


# Numbers and dates in bins of equal length, each with its beginning and without its end.


def _binned(values: Sequence[tuple[JsonValue, int]]) -> tuple[records.FacetKind, list[records.Bin]]:
    """Return what distinct values are, each with its count, and their bins, none if those cannot hold all."""
    import numpy as np

    kind: records.FacetKind
    if values and {type(value) for value, _ in values} <= {int, float}:
        counts = Counter({number_of(value): count for value, count in values})
        least = 1 if all(isinstance(value, int) for value, _ in values) else 0
        kind, shown, ends = "number", _plain, _steps(min(counts), max(counts), least=least)
    else:
        counts = Counter[float]()
        for value, count in values:
            if (day := _day(value)) is None:
                return "text", []
            counts[day] += count
        if not counts:
            return "text", []
        kind, shown, ends = "date", _iso, _dates(int(min(counts)), int(max(counts)))
    if len(counts) < 2 or not ends:
        return kind, []
    sizes = np.histogram([*counts], bins=ends, weights=[*counts.values()])[0].astype(np.int64).tolist()
    bins = [
        records.Bin(low=shown(low), high=shown(high), count=size)
        for (low, high), size in zip(pairwise(ends), sizes, strict=True)
    ]
    return kind, bins if sum(sizes) == counts.total() else []


def _steps(low: float, high: float, *, least: float) -> list[float]:
    """Return the ends of at most 21 bins of 1, 2 or 5 times a power of ten that hold all numbers between two."""
    length = max((high - low) / _MOST_BINS, least)
    if not sys.float_info.min < length < sys.float_info.max:
        return []
    power = 10.0 ** math.floor(math.log10(length))
    step = next(size * power for size in (1, 2, 5, 10) if size * power >= length)
    begin, end = (math.floor(round(number / step, 9)) for number in (low, high))
    return [float(f"{at * step:.12g}") for at in range(begin, end + 2)]


def _dates(low: int, high: int) -> list[float]:
    """Return the ends of at most 20 bins of days, months or years that hold all days between two, as day numbers."""
    if high - low < _MOST_BINS:
        return [*range(low, high + 2)]
    begin, end = (day.year * 12 + day.month - 1 for day in map(date.fromordinal, (low, high)))
    step = next(months for months in _MONTHS if end // months - begin // months < _MOST_BINS)
    months = range(begin // step * step, (end // step + 2) * step, step)
    return [date(min(max(month // 12, 1), 9_999), month % 12 + 1, 1).toordinal() for month in months]


def _day(value: JsonValue) -> int | None:
    """Return the number of a date's day; None for another value."""
    if not isinstance(value, str) or math.isnan(number_of(value)) or value.strip()[4:5] != "-":
        return None
    text = value.strip()
    return date(int(text[:4]), int(text[5:7]), int(text[8:10]) if text[7:8] == "-" else 1).toordinal()


def _plain(number: float) -> JsonValue:
    return int(number) if number.is_integer() else number


def _iso(number: float) -> JsonValue:
    return date.fromordinal(int(number)).isoformat()
