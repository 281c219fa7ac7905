"""How the tools were used: breadth against depth, by kind of question and by outcome (ARK, paper 001, A.4 and 5.8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from orienteer.evaluation.report.columns import Column
from orienteer.evaluation.report.markup import Html, bullets, cell, html, note, scrolled, section, tag
from orienteer.evaluation.report.material import Material
from orienteer.evaluation.report.walks import Walk, Walks, total
from orienteer.evaluation.scores.scorer import scorer
from orienteer.evaluation.scores.table import values_of
from orienteer.page.numerals import NOTHING, figure, percent

SUCCESS = "Hit@5"  # ARK, tables 9 and 10, figure 5
_KINDS = ("global", "neighbourhood", "others")
_BINS = ((0, "0"), (1, "1"), (2, "2"), (4, "3–4"), (9, "5–9"))
_MORE = "10+"


@dataclass(frozen=True, slots=True)
class _Used:
    """The trajectories of a column, by whether the question's ranking was a hit."""

    column: Column
    by_question: Mapping[str, tuple[Walk, ...]]
    hits: tuple[Walk, ...]
    misses: tuple[Walk, ...]

    @property
    def every(self) -> tuple[Walk, ...]:
        return tuple(walk for those in self.by_question.values() for walk in those)


def tools(material: Material, walks: Walks) -> Html:
    """Return the part on tools; where nothing called one, a note that says so."""
    used = [_used(one, walks.walks[one.number]) for one in material.columns if one.number in walks.walks]
    title = "How the tools were used"
    if not used:
        return section("tools", title, note("No trajectory of these runs called a tool that reads the graph."))
    chosen = [one for one in used if one.column in material.chosen] or used
    parts = [_overview(used), _by_outcome(chosen), _by_field(material, chosen)]
    legend = tag("p", *(tag("span", tag("i", class_=name), name) for name in _KINDS), class_="legend")
    return section("tools", title, legend, *parts, bullets(_SAID))


def _used(column: Column, walks: Mapping[str, tuple[Walk, ...]]) -> _Used:
    success = scorer(SUCCESS, column.run).of
    scores = {question: success(column.lines[question]) for question in walks}
    return _Used(
        column,
        walks,
        tuple(walk for question, those in walks.items() if scores[question] == 1 for walk in those),
        tuple(walk for question, those in walks.items() if scores[question] == 0 for walk in those),
    )


def _overview(used: Sequence[_Used]) -> Html:
    """Return a row for each method: shares of calls, of trajectories, and what came to nothing."""
    heads = ("method", "trajectories", "calls", "", "global", *_RATES)
    body = []
    for one in used:
        walks = one.every
        counts = total(walks)
        cells = [cell(f"{len(walks):,}"), cell(figure(fmean(walk.calls for walk in walks)))]
        cells += [cell(stacked(counts, _KINDS))]
        cells += [cell(percent(counts["global"], counts["global"] + counts["neighbourhood"]))]
        cells += [cell(rate(walks)) for rate in _RATES.values()]
        body.append(tag("tr", tag("th", one.column.name, scope="row"), *cells))
    return scrolled(tag("table", tag("thead", _heads(heads)), tag("tbody", *body)))


def _by_outcome(used: Sequence[_Used]) -> Html:
    """Return the calls of hits beside those of misses, and how often each number of neighbourhood calls came up."""
    names = [*(name for _, name in _BINS), _MORE]
    heads = ("", "trajectories", "calls", "", "global only", "re-anchored", "median", *names)
    body = []
    for one in used:
        for what, walks in ((f"hit ({SUCCESS})", one.hits), ("miss", one.misses)):
            if not walks:
                continue
            along = [walk.neighbourhood for walk in walks]
            shares = [sum(_bin(number) == name for number in along) / len(along) for name in names]
            cells = [cell(f"{len(walks):,}"), cell(figure(fmean(walk.calls for walk in walks)))]
            cells += [cell(stacked(total(walks), _KINDS)), cell(_RATES["global only"](walks))]
            cells += [cell(_RATES["re-anchored"](walks)), cell(figure(median(along)))]
            cells += [tag("td", f"{100 * part:.0f}", class_="heat", style=f"--p:{80 * part:.0f}%") for part in shares]
            body.append(tag("tr", tag("th", one.column.name, tag("small", what), scope="row"), *cells))
    groups = tag("tr", tag("th", colspan=6), tag("th", "neighbourhood calls of a trajectory, and % of trajectories",
                                                 colspan=1 + len(names), class_="group"))  # fmt: skip
    made = tag("table", tag("thead", groups, _heads(heads)), tag("tbody", *body))
    return html(tag("h3", "In hits and in misses"), scrolled(made))


def _by_field(material: Material, used: Sequence[_Used]) -> Html:
    """Return the share of global calls for each value of each field of the questions."""
    if not material.fields:
        return html()
    tables = []
    for field, values in material.fields.items():
        body = []
        for value in values:
            cells = [_share(_of_value(one, field, value)) for one in used]
            body.append(tag("tr", tag("th", value, scope="row"), *cells))
        head = _heads((field.replace("_", " "), *(one.column.name for one in used)))
        tables.append(scrolled(tag("table", tag("thead", head), tag("tbody", *body), class_="split")))
    return html(tag("h3", "By kind of question"), tag("div", *tables, class_="tables"))


def _of_value(one: _Used, field: str, value: str) -> tuple[Walk, ...]:
    lines = one.column.lines
    return tuple(
        walk
        for question, those in one.by_question.items()
        if value in values_of(lines[question], field)
        for walk in those
    )


def _share(walks: Sequence[Walk]) -> Html:
    if not walks:
        return cell(NOTHING)
    counts = total(walks)
    said = percent(counts["global"], counts["global"] + counts["neighbourhood"])
    return tag("td", stacked(counts, _KINDS), tag("span", said))


def stacked(parts: Mapping[str, float], classes: Sequence[str]) -> Html:
    """Draw shares of a whole as one bar; the parts are told in its title."""
    whole = sum(parts.values())
    said = ", ".join(f"{name} {value:,.0f}" for name, value in parts.items())
    pieces = (
        tag("i", class_=name, style=f"width:{100 * value / whole:.2f}%")
        for name, value in zip(classes, parts.values(), strict=True)
        if value
    )
    return tag("span", *pieces, class_="stacked", title=said)


def _heads(names: Iterable[str]) -> Html:
    return tag("tr", *(tag("th", name, scope="col") for name in names))


def _bin(number: int) -> str:
    return next((name for most, name in _BINS if number <= most), _MORE)


def _rate(of: Callable[[Walk], int | bool], *, by_call: bool = False) -> Callable[[Sequence[Walk]], str]:
    """Return a share in per cent, of trajectories or of their calls."""

    def made(walks: Sequence[Walk]) -> str:
        whole = sum(walk.calls for walk in walks) if by_call else len(walks)
        return percent(sum(map(of, walks)), whole)

    return made


_RATES: Mapping[str, Callable[[Sequence[Walk]], str]] = {
    "global only": _rate(lambda walk: walk.is_global_only),
    "re-anchored": _rate(lambda walk: walk.is_reanchored),
    "global again": _rate(lambda walk: walk.is_searching_again),
    "no node": _rate(lambda walk: walk.empty, by_call=True),
    "refused": _rate(lambda walk: walk.refused, by_call=True),
    "repeated": _rate(lambda walk: walk.repeated, by_call=True),
}
_SAID = (
    "Calls that read the graph, a trajectory, on average. Global is search_in_graph; neighbourhood is "
    "search_in_neighborhood and follow; its share is of these two together (ARK, figure 3).",
    "Global only: trajectories that never did but search globally (table 9). Re-anchored: searched globally after "
    "going along edges. Global again: searched globally after the first step (table 10).",
    "No node, refused, repeated: shares of the calls. Refused ones had arguments that could not be; repeated ones had "
    "been made by the same agent before.",
    f"A trajectory is a hit where its question's ranking is one by {SUCCESS}, whatever this agent itself selected; "
    "questions without gold nodes are neither.",
)
