"""All nodes that meet a question: as a table, and counted by type, property and neighbour."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from orienteer.graph.properties import number_of
from orienteer.patience import check_patience
from orienteer.serve.views import records

if TYPE_CHECKING:
    from orienteer.graph.columns import Column, NodeTable
    from orienteer.graph.listing import ListedGroup
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
    import numpy as np

    from orienteer.graph.listing import grouped

    graph, table = retriever.graph, answer_table(retriever, question, **options)
    lines = _Lines(graph, table.reading)
    properties, edges = [], []
    for column in table.columns:
        check_patience()
        if column.kind == "property":
            properties.append(_of_property(column, table.total, grouped(graph.arrays, table.rows, column.source)))
        elif column.kind == "edge":
            edges.append(_of_edge(graph, column, table.total, lines))
    numbers, counts = np.unique(graph.arrays.node_types[table.rows], return_counts=True)
    most = np.argsort(-counts, kind="stable")
    by_type = zip(numbers[most].tolist(), counts[most].tolist(), strict=True)
    # The sorts are stable: ties stay in the order of the graph.
    return records.Facets(
        total=table.total,
        types=tuple(records.Group(value=str(graph.arrays.types.nodes[one]), count=count) for one, count in by_type),
        properties=tuple(sorted(properties, key=lambda facet: facet.missing)[:MOST_FACETS]),
        edges=tuple(sorted(edges, key=lambda facet: facet.missing)[:MOST_FACETS]),
    )


def _of_property(column: Column, total: int, groups: Sequence[ListedGroup]) -> records.Facet:
    known = [group for group in groups if group.value is not None]
    missing = sum(group.count for group in groups if group.value is None)
    kind, bins = _binned([(group.value, group.count) for group in known])
    choices = (records.Choice(value=group.value, count=group.count) for group in known[:MOST_VALUES])
    return records.Facet(
        name=column.source,
        kind=kind,
        groups=tuple(choices),
        count=total - missing,
        distinct=len(known),
        missing=missing,
        bins=tuple(bins),
    )


def _of_edge(graph: Graph, column: Column, total: int, lines: _Lines) -> records.Facet:
    import numpy as np

    assert column.others is not None, "a column of neighbours has them"
    rows, counts = np.unique(column.others, return_counts=True)
    most = np.argsort(-counts, kind="stable")[:MOST_VALUES]
    choices = (
        records.Choice(
            value=graph.arrays.names[row], count=count, id=graph.arrays.ids[row], reading=lines.to(column.edge, row)
        )
        for row, count in zip(rows[most].tolist(), counts[most].tolist(), strict=True)
    )
    count = len(column.others)
    return records.Facet(
        name=column.name, kind="edge", groups=tuple(choices), count=count, distinct=len(rows), missing=total - count
    )


class _Lines:
    """Writes a reading line anew, for the nodes that are joined to another one besides."""

    def __init__(self, graph: Graph, reading: str | None) -> None:
        from orienteer.reading.line import parse
        from orienteer.reading.wording import QueryWording

        query = None if reading is None else parse(reading, graph)
        self._query = query if query is not None and query.form in ("list", "count") else None
        self._wording, self._types = QueryWording(graph), graph.arrays.types.edges
        self._symmetric = graph.schema.symmetric

    def to(self, edge: int, row: int) -> str | None:
        """Return the line with an edge of a kind to a node; None if the line is no list."""
        from orienteer.reading.query import Among, Joined, NodeSet

        if self._query is None:
            return None
        kinds = (edge, edge ^ 1) if self._types[edge >> 1] in self._symmetric else (edge,)
        nodes = self._query.nodes.that(Joined(kinds, NodeSet(conditions=(Among((row,)),))))
        return self._wording.line(replace(self._query, nodes=nodes))


# Numbers and dates in bins of equal length, each with its beginning and without its end.


def _binned(values: Sequence[tuple[JsonValue, int]]) -> tuple[records.FacetKind, list[records.Bin]]:
    """Return what distinct values are, each with its count, and their bins, none of texts."""
    if values and {type(value) for value, _ in values} <= {int, float}:
        numbers = {number_of(value): count for value, count in values}
        whole = all(isinstance(value, int) for value, _ in values)
        return "number", [
            records.Bin(low=_plain(low), high=_plain(high), count=count)
            for low, high, count in _bins(numbers, _steps(min(numbers), max(numbers), least=1 if whole else 0))
        ]
    days = Counter[float]()
    for value, count in values:
        if (day := _day(value)) is None:
            return "text", []
        days[day] += count
    dated = _bins(days, _dates(int(min(days)), int(max(days)))) if days else ()
    return "date" if days else "text", [
        records.Bin(
            low=date.fromordinal(int(low)).isoformat(), high=date.fromordinal(int(high)).isoformat(), count=count
        )
        for low, high, count in dated
    ]


def _bins(counts: Mapping[float, int], ends: Sequence[float]) -> list[tuple[float, float, int]]:
    """Return the bins between ascending ends, each with its count; none if they do not hold all that is counted."""
    import numpy as np

    if len(counts) < 2 or not ends:
        return []
    sizes = np.histogram([*counts], bins=ends, weights=[*counts.values()])[0].astype(np.int64).tolist()
    return list(zip(ends, ends[1:], sizes, strict=False)) if sum(sizes) == sum(counts.values()) else []


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


def _plain(number: float) -> float:
    return int(number) if number.is_integer() else number
