"""Swept options as a landscape: Hit@1, Recall@20 and seconds over two of them (ARK, paper 001, figure 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from orienteer.evaluation.report.columns import Column, Sweep
from orienteer.evaluation.report.markup import Html, html, note, section, tag
from orienteer.evaluation.report.material import Material
from orienteer.page.numerals import figure, share

_MEASURES = ("Hit@1", "Recall@20")
_DEEPEST = 70  # per cent of the colour: the figures stay readable on it


def landscapes(material: Material) -> Html | None:
    """Return heat tables of each sweep; None where nothing was swept."""
    if not material.sweeps:
        return None
    said = (
        "Colour runs from the lowest to the highest of each table: blue for quality, orange for seconds. Seconds are "
        "the mean of a question, from end to end."
    )
    return section("landscape", "The budget's landscape", *map(_landscape, material.sweeps), note(said))


def _landscape(one: Sweep) -> Html:
    """Return three tables, and three more for each combination of what else was swept."""
    names = list(one.axes)
    if len(names) == 1:
        names = ["", *names]
    held = names[2:]
    parts = []
    for values in product(*(one.axes[name] for name in held)):
        said = ", ".join(f"{name} = {value}" for name, value in zip(held, values, strict=True))
        cells = {key: column for key, column in one.cells.items() if key[2:] == values} if held else one.cells
        if not cells:
            continue
        parts.append(tag("p", said, class_="held") if said else html())
        parts.append(tag("div", *(_heat(one, names, cells, what) for what in _shown(cells)), class_="heats"))
    return html(tag("h3", f"{one.method} in {one.run}"), *parts)


def _shown(cells: Mapping[tuple[str, ...], Column]) -> list[str]:
    known = list(dict.fromkeys(name for one in cells.values() for name in one.row.measures))
    return [*([name for name in _MEASURES if name in known] or known[:2]), "seconds"]


def _heat(one: Sweep, names: Sequence[str], cells: Mapping[tuple[str, ...], Column], what: str) -> Html:
    """Return one table: rows of the first option, columns of the second."""
    down, across = names[:2]
    values = {key[:2]: value for key, column in cells.items() if (value := _value(column, what)) is not None}
    low, high = min(values.values(), default=0.0), max(values.values(), default=0.0)
    body = []
    for first in one.axes[down] if down else ("",):
        row = []
        for second in one.axes[across]:
            value = values.get((first, second) if down else (second,))
            if value is None:
                row.append(tag("td", class_="heat"))
                continue
            deep = _DEEPEST * (value - low) / (high - low) if high > low else _DEEPEST / 2
            row.append(tag("td", _figure(value, what), class_="heat", style=f"--p:{deep:.0f}%"))
        body.append(tag("tr", tag("th", first, scope="row"), *row))
    head = tag("tr", tag("th", f"{down} ↓  {across} →" if down else f"{across} →"), *(tag("th", two) for two in
                                                                                   one.axes[across]))  # fmt: skip
    kind = "seconds" if what == "seconds" else "quality"
    return tag("table", tag("caption", what), tag("thead", head), tag("tbody", *body), class_=f"heatmap {kind}")


def _value(column: Column, what: str) -> float | None:
    if what == "seconds":
        return column.row.usage.seconds / column.row.n
    return column.row.measures[what].mean if what in column.row.measures else None


def _figure(value: float, what: str) -> str:
    return f"{figure(value)} s" if what == "seconds" else share(value)
