"""What questions took of a model, by kind of question (GraphScout, paper 003: figures 5 and 6, table 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from orienteer.evaluation.report.columns import Column
from orienteer.evaluation.report.markup import Html, bullets, cell, html, scrolled, section, tag
from orienteer.evaluation.report.material import Material
from orienteer.evaluation.running.runs import Line
from orienteer.evaluation.scores.table import tool_failures, values_of, work
from orienteer.page.numerals import NOTHING, figure

_SHOWN = {
    "output_tokens": "output tokens",
    "tool_calls": "tool calls",
    "tokens": "tokens",
    "calls": "calls of the model",
}
_SAID = (
    "Means for a question. Output tokens are those that the model wrote (figure 5), tokens those of prompts too "
    "(figure 6); nothing where the server does not tell them.",
    "Failed calls: the share of all tool calls that could not be read or came back as an error (table 5).",
)


def effort(material: Material) -> Html | None:
    """Return the part on what was spent; None where no method called a model."""
    shown = [one for one in material.chosen if one.row.usage.calls]
    if not shown:
        return None
    every = _table("", {"all": {one.number: list(one.lines.values()) for one in shown}}, shown)
    tables = [_table(name, _by_value(shown, name, values), shown) for name, values in material.fields.items()]
    return section("effort", "What questions took", every, tag("div", *tables, class_="tables"), bullets(_SAID))


def _by_value(shown: Sequence[Column], field: str, values: Sequence[str]) -> dict[str, dict[int, list[Line]]]:
    """Return the lines of each column by a field's value."""
    found: dict[str, dict[int, list[Line]]] = {value: {} for value in values}
    for one in shown:
        for line in one.lines.values():
            for value in values_of(line, field):
                found.setdefault(value, {}).setdefault(one.number, []).append(line)
    return found


def _table(name: str, found: Mapping[str, Mapping[int, Sequence[Line]]], shown: Sequence[Column]) -> Html:
    """Return a row for each value and method."""
    heads = ([name.replace("_", " ")] if name else []) + ["method", "n", *_SHOWN.values(), "failed calls"]
    body = []
    for value, those in found.items():
        for one in shown:
            if lines := those.get(one.number):
                first = [tag("th", value, scope="row")] if name else []
                body.append(tag("tr", *first, tag("th", one.name, scope="row"), *_cells(lines)))
    head = tag("tr", *(tag("th", one, scope="col") for one in heads))
    return html(scrolled(tag("table", tag("thead", head), tag("tbody", *body), class_="split")))


def _cells(lines: Sequence[Line]) -> Iterator[Html]:
    yield cell(f"{len(lines):,}")
    spent = work(lines)
    for name in _SHOWN:
        yield cell(figure(spent[name]) if spent[name] else NOTHING, value=spent[name])
    failed = tool_failures(lines)
    yield cell(NOTHING if failed is None else f"{100 * failed:.1f} %", value=failed)
