"""Quality and work by kind of question, and by kind of gold node."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from markupsafe import Markup

from orienteer.lab.evaluation.report.material import GoldNode, Material, MethodColumn
from orienteer.lab.evaluation.running.runs import Line
from orienteer.lab.evaluation.scores.table import Row, score_runs, tool_failures, value_order, values_of, work
from orienteer.page import svg

UNSEEN = "unknown: in no ranking"
_MOST_TYPES = 16
_LENGTHS = ((0, "no description"), (100, "under 100 characters"), (500, "100 to 499"), (2_000, "500 to 1,999"))
_LONG = "2,000 and more"
_MEASURE = "Recall@20"
_FEWEST = 5  # questions of a value that may be called badly found
# The common name of a script, by the first word of the names of its characters.
_SCRIPTS = {"CJK": "CJK", "HIRAGANA": "CJK", "KATAKANA": "CJK", "BOPOMOFO": "CJK"}

RowsByValue = Mapping[str, Mapping[int, Row]]
"""Rows by value, then by the number of their column."""


class Quality(NamedTuple):
    """A cell of a breakdown: how well a method does on the questions of a value."""

    bar: Markup
    mean: float
    n: int
    is_low: bool
    """Whether the whole interval lies below the method's mean over all its questions."""


class Breakdown(NamedTuple):
    """A table of values down, methods across."""

    name: str
    methods: Sequence[str]
    rows: Sequence[tuple[str, int, Sequence[Quality | None]]]
    """Value, number of questions, a cell for each method."""


class Breakdowns(NamedTuple):
    """The tables of a part of the page."""

    tables: Mapping[str, Sequence[Breakdown]]
    """By measure."""
    measure: str
    fewest: int
    unsplit: Sequence[str] = ()
    has_graph: bool = True


class Effort(NamedTuple):
    """The average work of a method on the questions of a value."""

    value: str
    method: str
    n: int
    work: Mapping[str, float]
    failed: float | None
    """The share of failed tool calls. None without tool calls."""


def fields(material: Material) -> Breakdowns:
    """Return a table for each field with few values, by measure."""
    splits = {name: _by_field(material, name) for name in material.fields}
    tables = {measure: _tables(material, splits, measure) for measure in material.measures} if splits else {}
    return Breakdowns(tables, _MEASURE, _FEWEST, unsplit=material.unsplit)


def nodes(material: Material) -> Breakdowns:
    """Return how many gold nodes are found, by their type, the length of their text, and the script of their name."""
    has_graph = material.graph is not None
    if not any(line.gold.nodes for column in material.columns for line in column.lines.values()):
        return Breakdowns({}, _MEASURE, _FEWEST, has_graph=has_graph)
    kinds: dict[str, Callable[[GoldNode], str]] = {
        "node type": lambda node: node.type,
        "script of the name": script_of_name,
    }
    if has_graph:
        kinds["description"] = length_of_text
    types = Counter(node.type for node in material.gold.values())
    common = frozenset(name for name, _ in types.most_common(_MOST_TYPES))
    splits = {name: by_node_property(material, name, kind, common) for name, kind in kinds.items()}
    return Breakdowns({_MEASURE: _tables(material, splits, _MEASURE)}, _MEASURE, _FEWEST, has_graph=has_graph)


def effort(material: Material) -> Mapping[str, Sequence[Effort]] | None:
    """Return the work over all questions and by each field (GraphScout, paper 003: figures 5 and 6, table 5).

    None if no method called a model.
    """
    columns = [column for column in material.chosen if column.row.usage.calls]
    if not columns:
        return None
    tables = {"": [_effort("", column, list(column.lines.values())) for column in columns]}
    for field, values in material.fields.items():
        lines: dict[str, dict[int, list[Line]]] = {value: {} for value in values}
        for column in columns:
            for line in column.lines.values():
                for value in values_of(line, field):
                    lines.setdefault(value, {}).setdefault(column.number, []).append(line)
        tables[field] = [
            _effort(value, column, by_column[column.number])
            for value, by_column in lines.items()
            for column in columns
            if column.number in by_column
        ]
    return tables


def _effort(value: str, column: MethodColumn, lines: Sequence[Line]) -> Effort:
    return Effort(value, column.name, len(lines), work(lines), tool_failures(lines))


def _by_field(material: Material, field: str) -> RowsByValue:
    by_value: dict[str, dict[int, Row]] = {value: {} for value in material.fields[field]}
    for run in material.runs:
        columns = [column for column in material.chosen if column.run is run]
        if not columns or not (field == "answer_type" or any(field in line.fields for line in run.lines)):
            continue
        numbers = {column.method: column.number for column in columns}
        measured = {name for column in columns for name in column.row.measures}
        measures = [name for name in material.measures if name in measured]
        last = replace(run, lines=tuple(line for column in columns for line in column.lines.values()))
        for row in score_runs([last], measures=measures, by=[field], random_seed=material.random_seed):
            by_value[row.by[field]][numbers[row.method]] = row
    return by_value


def by_node_property(
    material: Material, name: str, kind: Callable[[GoldNode], str], common: frozenset[str]
) -> RowsByValue:
    """Return rows by a property of gold nodes; each line is measured once for each value among its gold."""

    def value_of(node_id: str) -> str:
        node = material.gold.get(node_id)
        value = UNSEEN if node is None else kind(node)
        return value if name != "node type" or node is None or value in common else "other types"

    by_value: dict[str, dict[int, Row]] = {}
    for column in material.chosen:
        lines = tuple(part for line in column.lines.values() for part in _parts(line, name, value_of))
        if not lines:
            continue
        run = replace(column.run, lines=lines)
        for row in score_runs([run], measures=[_MEASURE], by=[name], random_seed=material.random_seed):
            by_value.setdefault(row.by[name], {})[column.number] = row
    lengths = [*(length for _, length in _LENGTHS), _LONG]

    def order(value: str) -> tuple[bool, int, tuple[bool, bool, float, str]]:
        return value == UNSEEN, lengths.index(value) if value in lengths else 0, value_order(value)

    return {value: by_value[value] for value in sorted(by_value, key=order)}


def _parts(line: Line, name: str, value_of: Callable[[str], str]) -> Iterator[Line]:
    """Yield the line once for each kind of its gold nodes, with only those as gold."""
    kinds: dict[str, dict[str, float]] = {}
    for node_id, relevance in line.gold.nodes.items():
        if relevance > 0:
            kinds.setdefault(value_of(node_id), {})[node_id] = relevance
    for value, nodes in kinds.items():
        gold = line.gold.model_copy(update={"nodes": nodes})
        yield line.model_copy(update={"id": f"{line.id} {value}", "gold": gold, "fields": {name: value}})


def length_of_text(node: GoldNode) -> str:
    """Return the band of lengths that a node's text is in."""
    length = len((node.text or "").strip())
    return next((name for below, name in _LENGTHS if length < below or not length), _LONG)


def script_of_name(node: GoldNode) -> str:
    """Return the script of most letters of a name."""
    letters = filter(str.isalpha, unicodedata.normalize("NFKC", node.name))
    words = (unicodedata.name(letter, "UNKNOWN").split(" ", 1)[0].split("-", 1)[0] for letter in letters)
    counts = Counter(_SCRIPTS.get(word, word.capitalize()) for word in words)
    return counts.most_common(1)[0][0] if counts else "no letters"


def _tables(material: Material, splits: Mapping[str, RowsByValue], measure: str) -> list[Breakdown]:
    """Return a table for each split, all pictures on one scale."""
    all_rows = [row for split in splits.values() for by_column in split.values() for row in by_column.values()]
    estimates = [row.measures[measure] for row in all_rows if measure in row.measures]
    highest = max([1.0, *(estimate.high or estimate.mean for estimate in estimates)])
    return [_table(material, name, split, measure, highest) for name, split in splits.items()]


def _table(material: Material, name: str, split: RowsByValue, measure: str, highest: float) -> Breakdown:
    with_measure = {
        number for by_column in split.values() for number, row in by_column.items() if measure in row.measures
    }
    columns = [column for column in material.chosen if column.number in with_measure]
    lines = []
    for value, by_column in split.items():
        if by_column:
            cells = [_quality(by_column.get(column.number), column, measure, highest) for column in columns]
            lines.append((value, max(row.n for row in by_column.values()), cells))
    return Breakdown(name, [column.name for column in columns], lines)


def _quality(row: Row | None, column: MethodColumn, measure: str, highest: float) -> Quality | None:
    if row is None or measure not in row.measures:
        return None
    estimate, whole = row.measures[measure], column.row.measures.get(measure)
    is_low = whole is not None and row.n >= _FEWEST and estimate.high is not None and estimate.high < whole.mean
    bar = svg.bar(estimate.mean, estimate.low, estimate.high, colour=column.colour, lowest=0.0, highest=highest)
    return Quality(bar, estimate.mean, estimate.n or 0, is_low)
