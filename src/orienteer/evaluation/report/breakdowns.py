"""Who is found badly: quality by every field that sorts the questions, and by what the gold nodes are like."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from orienteer.evaluation.report.columns import Column
from orienteer.evaluation.report.markup import Html, bullets, cell, html, note, panels, scrolled, section, tag
from orienteer.evaluation.report.material import Known, Material
from orienteer.evaluation.running.runs import Line
from orienteer.evaluation.scores.table import Row, rows, value_order
from orienteer.page import svg
from orienteer.page.numerals import NOTHING, share

UNSEEN = "not known: in no ranking"
_MOST_TYPES = 16
_LENGTHS = ((0, "no description"), (100, "under 100 characters"), (500, "100 to 499"), (2_000, "500 to 1,999"))
_LONG = "2,000 and more"
_MEASURE = "Recall@20"
_FEWEST = 5  # questions, for a value to be called badly found
_MARKED = (
    f"Underlined: found badly. On {_FEWEST} questions or more, the whole 95 % interval lies below the method's mean "
    "over all its questions."
)
# Words that begin the names of characters, by the script that a reader would call them.
_SCRIPTS = {"CJK": "CJK", "HIRAGANA": "CJK", "KATAKANA": "CJK", "BOPOMOFO": "CJK"}

Table = Mapping[str, Mapping[int, Row]]
"""Rows by value, then by the number of their column."""


def fields(material: Material) -> Html:
    """Return a table for each field that sorts the questions into few kinds."""
    tables = {name: _by_field(material, name) for name in material.fields}
    if not tables:
        return section("fields", "By kind of question", note("No field sorts these questions into few kinds."))
    made = {}
    for measure in material.measures:
        highest = _highest(tables.values(), measure)
        drawn = (_table(material, name, table, measure, highest) for name, table in tables.items())
        made[measure] = tag("div", *drawn, class_="tables")
    said = [_MARKED]
    if material.unsplit:
        said.append(f"Not split by, for they have one value or too many: {', '.join(material.unsplit)}.")
    return section("fields", "By kind of question", panels(made), bullets(said))


def nodes(material: Material) -> Html:
    """Return how much of the gold nodes is found, by their type, the length of their text, and the script of names."""
    title = "By kind of gold node"
    if not any(line.gold.nodes for one in material.columns for line in one.lines.values()):
        return section("nodes", title, note("No question has gold nodes."))
    said = [
        f"{_MEASURE} against the gold nodes of that kind alone: a question counts once for each kind among its gold. "
        "n counts questions.",
        _MARKED,
    ]
    kinds: dict[str, Callable[[Known], str]] = {"node type": lambda one: one.type, "script of the name": _script}
    if material.graph is not None:
        kinds["description"] = _length
    else:
        said.append(
            "The graph was not at hand: types and names are told by hits alone, so gold that no method ever ranked is "
            "of unknown kind, and lengths of descriptions are not shown. Name the graph with --graph."
        )
    common = _common_types(material)
    tables = {name: _by_node(material, name, kind, common) for name, kind in kinds.items()}
    highest = _highest(tables.values(), _MEASURE)
    drawn = (_table(material, name, table, _MEASURE, highest) for name, table in tables.items())
    return section("nodes", title, tag("div", *drawn, class_="tables"), bullets(said))


def _by_field(material: Material, field: str) -> Table:
    found: dict[str, dict[int, Row]] = {value: {} for value in material.fields[field]}
    for run in material.runs:
        own = [one for one in material.chosen if one.run is run]
        if not own or not (field == "answer_type" or any(field in line.fields for line in run.lines)):
            continue
        named = {one.method: one.number for one in own}
        every = {name for one in own for name in one.row.measures}
        measures = [name for name in material.measures if name in every]
        kept = replace(run, lines=tuple(line for one in own for line in one.lines.values()))
        for row in rows([kept], measures=measures, by=[field], random_seed=material.random_seed):
            found[row.by[field]][named[row.method]] = row
    return found


def _by_node(material: Material, name: str, kind: Callable[[Known], str], common: frozenset[str]) -> Table:
    """Return rows by a property of gold nodes; each line is measured once for each value among its gold."""

    def value_of(node: str) -> str:
        known = material.gold.get(node)
        value = UNSEEN if known is None else kind(known)
        return value if name != "node type" or known is None or value in common else "other types"

    found: dict[str, dict[int, Row]] = {}
    for one in material.chosen:
        split = tuple(part for line in one.lines.values() for part in _split(line, name, value_of))
        if not split:
            continue
        run = replace(one.run, lines=split)
        for row in rows([run], measures=[_MEASURE], by=[name], random_seed=material.random_seed):
            found.setdefault(row.by[name], {})[one.number] = row
    return {value: found[value] for value in sorted(found, key=_order)}


def _split(line: Line, name: str, value_of: Callable[[str], str]) -> Iterator[Line]:
    """Return the line once for each kind of its gold nodes, with only those as gold."""
    kinds: dict[str, dict[str, float]] = {}
    for node, relevance in line.gold.nodes.items():
        if relevance > 0:
            kinds.setdefault(value_of(node), {})[node] = relevance
    for value, gold in kinds.items():
        kept = line.gold.model_copy(update={"nodes": gold})
        yield line.model_copy(update={"id": f"{line.id} {value}", "gold": kept, "fields": {name: value}})


def _common_types(material: Material) -> frozenset[str]:
    counts = Counter(one.type for one in material.gold.values())
    return frozenset(one for one, _ in counts.most_common(_MOST_TYPES))


def _length(one: Known) -> str:
    length = len((one.text or "").strip())
    return next((name for below, name in _LENGTHS if length < below or not length), _LONG)


def _script(one: Known) -> str:
    """Name the script that most letters of a name are of."""
    counts = Counter(script for letter in unicodedata.normalize("NFKC", one.name) if (script := _script_of(letter)))
    return counts.most_common(1)[0][0] if counts else "no letters"


def _script_of(letter: str) -> str | None:
    if not letter.isalpha():
        return None
    word = unicodedata.name(letter, "UNKNOWN").split(" ", 1)[0].split("-", 1)[0]
    return _SCRIPTS.get(word, word.capitalize())


def _order(value: str) -> tuple[bool, int, tuple[bool, bool, float, str]]:
    """Order values: lengths by size, what is not known last."""
    lengths = [*(name for _, name in _LENGTHS), _LONG]
    return value == UNSEEN, lengths.index(value) if value in lengths else 0, value_order(value)


def _highest(tables: Iterable[Table], measure: str) -> float:
    ends = [
        row.measures[measure].high or row.measures[measure].mean
        for table in tables
        for those in table.values()
        for row in those.values()
        if measure in row.measures
    ]
    return max(1.0, *ends) if ends else 1.0


def _table(material: Material, name: str, table: Table, measure: str, highest: float) -> Html:
    """Return values down, methods across."""
    shown = [one for one in material.chosen if any(measure in _of(table, value, one) for value in table)]
    body = [
        tag(
            "tr",
            tag("th", value, scope="row"),
            cell(f"{max((row.n for row in those.values()), default=0):,}"),
            *(_cell(those.get(one.number), one, measure, highest) for one in shown),
        )
        for value, those in table.items()
        if those
    ]
    head = tag("tr", tag("th", name.replace("_", " ")), tag("th", "n"), *(tag("th", one.name) for one in shown))
    return scrolled(tag("table", tag("thead", head), tag("tbody", *body), class_="split"))


def _of(table: Table, value: str, one: Column) -> Sequence[str]:
    row = table[value].get(one.number)
    return () if row is None else tuple(row.measures)


def _cell(row: Row | None, one: Column, measure: str, highest: float) -> Html:
    """Return a figure with its interval drawn; it is marked where the interval lies below the method's whole mean."""
    if row is None or measure not in row.measures:
        return cell(NOTHING)
    found = row.measures[measure]
    whole = one.row.measures.get(measure)
    is_low = whole is not None and row.n >= _FEWEST and found.high is not None and found.high < whole.mean
    drawn = svg.bar(found.mean, found.low, found.high, colour=one.colour, lowest=0.0, highest=highest)
    mark = tag("span", share(found.mean), class_="low" if is_low else None)
    shown = html(drawn, mark)
    return tag("td", shown, title=f"{one.name}: {share(found.mean)}, {found.n} questions")
