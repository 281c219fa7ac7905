"""The top of the page: the verdict and what it rests on, the table of all methods, quality against cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orienteer.display import counted
from orienteer.evaluation.report.columns import Column
from orienteer.evaluation.report.markup import Html, bullets, cell, html, interval, note, panels, scrolled, section, tag
from orienteer.evaluation.report.material import Material
from orienteer.evaluation.running.runs import Manifest
from orienteer.evaluation.scores.comparison import Comparison, Difference, kind_of
from orienteer.evaluation.scores.judge import CRITERIA, SCORES
from orienteer.evaluation.scores.published import Published, published_rows
from orienteer.evaluation.scores.table import Estimate
from orienteer.page import svg
from orienteer.page.numerals import NOTHING, figure, share

_COUNTS = ("n", "failed", "unranked", "missing", "outside", "unjudged")
_ALWAYS = frozenset({"n", "failed", "unranked"})
_MEANT = {
    "n": "questions asked",
    "failed": "of them failed; they count as 0",
    "unranked": "questions without gold nodes, left out of the measures of rankings",
    "missing": "questions of the run without a result of this method",
    "outside": "hits that cannot answer by the benchmark's rule, dropped from the official measures",
    "unjudged": "verdicts that are lacking, left out of the judged measures",
}
_HASHED = 12  # digits of a prompt's hash
_OUTCOMES = {"helped": "helped", "did not help": "not"}


def header(material: Material) -> Html:
    """Return title, verdict, and what the figures depend on."""
    first = material.runs[0].manifest
    found = material.comparison
    said = found.verdict if found else f"There is no verdict: {material.trouble}"
    about = f"{counted(len(material.questions), 'question')} of {first.dataset} on the graph {first.graph}"
    return tag(
        "header",
        tag("p", "Evaluation", class_="kicker"),
        tag("h1", about),
        tag("p", said, class_=f"verdict {_OUTCOMES.get(found.outcome, 'open') if found else 'open'}", id="verdict"),
        note(f"The verdict is on {_common(found)}, the table on more.") if found and not material.is_even else html(),
        _basis(found) if found else html(),
        _conditions([run.manifest for run in material.runs]),
    )


def table(material: Material) -> Html:
    """Return a row for each method, and for each published one of this data set."""
    measures = _measures(material)
    counts = [name for name in _COUNTS if name in _ALWAYS or any(getattr(c.row, name) for c in material.columns)]
    costs = [name for name in _COSTS if any(_cost(one, name) for one in material.columns)]
    is_even = material.is_even
    best = {name: max(values) for name in measures if is_even and (values := _means(material.columns, name))}
    known = {one.model_dump_json(): one for run in material.runs for one in published_rows(run.manifest)}
    body = [_row(one, counts, measures, costs, best) for one in material.columns]
    body += [_published(one, counts, measures, costs) for one in known.values()]
    heads = [
        tag("tr", tag("th"), *(_group(name, width) for name, width in _groups(counts, measures, costs) if width)),
        tag("tr", *map(_head, ["method", *counts, *measures, "p50", "p95", *costs])),
    ]
    made = tag("table", tag("thead", *heads), tag("tbody", *body), class_="sortable wide-head")
    said = [
        f"Means, with 95 % bootstrap intervals under them; {_BEST if is_even else _UNEVEN}. A heading sorts.",
        *(f"{name}: {_MEANT[name]}." for name in counts),
        *([_PUBLISHED] if known else []),
        *(f"{one.method} ({one.published}): {one.note}." for one in known.values() if one.note),
    ]
    return section("table", "Methods side by side", scrolled(made), bullets(said))


def trade(material: Material) -> Html:
    """Return plots of quality against what a question costs and against how long it takes."""
    cost = _costed(material.columns)
    unnamed = 0
    made = {}
    for measure in material.measures:
        shown = [one for one in material.columns if measure in one.row.measures]
        plots = [svg.scatter(_points(shown, measure, "ms"), "ms a question, median (log)", measure)]
        if cost is not None:
            plots.append(svg.scatter(_points(shown, measure, cost), f"{cost} a question (log)", measure))
        unnamed = max(unnamed, *(plot.unnamed for plot in plots))
        made[measure] = tag("div", *(tag("figure", plot.svg) for plot in plots), class_="pair")
    said = ["The thin line joins the methods that nothing cheaper beats; whiskers are 95 % intervals."]
    said += [] if cost is not None else ["No method called a model, so there is no cost to set quality against."]
    said += [] if cost in (None, "USD") else [f"Prices are not known, so cost is shown in {cost}."]
    said += [f"{counted(unnamed, 'mark')} had no room for a name: point at it to read it."] if unnamed else []
    return section("trade", "Quality against latency and cost", panels(made), note(" ".join(said)))


def _common(found: Comparison) -> str:
    return f"{found.n:,} questions that every method was asked"


def _basis(found: Comparison) -> Html:
    """Return the differences that the verdict rests on, folded."""
    rows = [_pair(one, found.pairs) for one in found.pairs]
    heads = ("", "points", "", "95 % interval", "p after Holm", "better", "worse")
    made = tag("table", tag("thead", tag("tr", *(tag("th", name) for name in heads))), tag("tbody", *rows))
    told = [f"{found.measure} on {_common(found)}."]
    told += [f"{one.method} counts as {_KINDS[one.kind]}." for one in found.standings]
    inside = html(scrolled(made) if rows else html(), bullets([*told, *found.notes]))
    return tag("details", tag("summary", "What this rests on"), inside, class_="basis")


def _pair(one: Difference, every: Sequence[Difference]) -> Html:
    ends = [end for pair in every for end in (pair.low, pair.high, 0.0)]
    colour = "var(--quiet)" if one.low <= 0 <= one.high else "var(--accent)"
    drawn = svg.bar(one.points, one.low, one.high, colour=colour, lowest=min(ends), highest=max(ends))
    return tag(
        "tr",
        tag("th", one.ours, tag("span", " over ", class_="over"), one.theirs, scope="row"),
        cell(f"{one.points:+.1f}"),
        cell(drawn),
        cell(f"{one.low:+.1f} to {one.high:+.1f}"),
        cell(f"{one.p:.3f}" if one.p >= 0.001 else "< .001"),
        cell(f"{one.better:,}"),
        cell(f"{one.worse:,}"),
    )


def _conditions(manifests: Sequence[Manifest]) -> Html:
    """Return what the figures depend on, one line a run, folded."""
    made = [tag("dl", *_conditions_of(one), class_="conditions") for one in manifests]
    return tag("details", tag("summary", "Under which conditions"), *made, class_="basis")


def _conditions_of(one: Manifest) -> Iterable[Html]:
    told = {
        "graph": f"{one.graph}, {one.nodes:,} nodes, {one.edges:,} edges, {one.graph_sha256}",
        "questions": f"{one.count:,} of {one.dataset}, {one.questions_sha256}",
        "chosen": ", ".join(
            [
                *([f"split {one.split}"] if one.split else []),
                *one.where,
                *([f"limit {one.limit:,}"] if one.limit else []),
            ]
        ),
        "k": f"{one.k}, random seed {one.random_seed}",
        "may answer": ", ".join(one.candidates or ()),
        "model": ", ".join(
            filter(None, (one.model, one.served_model and f"served as {one.served_model}", one.base_url))
        ),
        "answers": "asked for" if one.answers else "not asked for",
        "budget": ", ".join(f"{limit:g} {name} a question" for name, limit in one.budget.items() if limit is not None),
        "prompts": ", ".join(f"{name} {sha256[:_HASHED]}" for name, sha256 in one.prompts.items()),
        "made": f"{one.created} by orienteer {one.orienteer}, Python {one.python}"
        + (f", commit {one.commit}" if one.commit else ""),
        "notes": " · ".join(one.notes),
    }
    for name, value in told.items():
        if value:
            yield html(tag("dt", name), tag("dd", value))


def _measures(material: Material) -> list[str]:
    """Return the columns: what a judge said is left to the part on judged answers."""
    judged = {*SCORES, *(name for those in CRITERIA.values() for name in those)}
    every = dict.fromkeys(name for one in material.columns for name in one.row.measures)
    return [name for name in every if name not in judged]


def _means(columns: Iterable[Column], measure: str) -> list[float]:
    return [one.row.measures[measure].mean for one in columns if measure in one.row.measures]


def _groups(counts: Sequence[str], measures: Sequence[str], costs: Sequence[str]) -> list[tuple[str, int]]:
    return [
        ("questions", len(counts)),
        ("quality", len(measures)),
        ("milliseconds", 2),
        ("a question takes", len(costs)),
    ]


def _group(name: str, width: int) -> Html:
    return tag("th", name, colspan=width, class_="group", scope="colgroup")


def _head(name: str) -> Html:
    return tag("th", tag("button", name.replace("_", " "), type="button"), scope="col")


def _row(
    one: Column, counts: Sequence[str], measures: Sequence[str], costs: Sequence[str], best: dict[str, float]
) -> Html:
    cells = [cell(f"{getattr(one.row, name):,}", value=getattr(one.row, name)) for name in counts]
    cells += [_estimate(one.row.measures.get(name), best.get(name)) for name in measures]
    cells += [cell(figure(one.row.milliseconds[name]), value=one.row.milliseconds[name]) for name in ("p50", "p95")]
    for name in costs:
        spent = _cost(one, name)
        cells.append(cell(NOTHING if spent is None else _written(name, spent), value=spent))
    mark = tag("i", class_="dot", style=f"background:{one.colour}")
    return tag("tr", tag("th", mark, one.name, tag("small", kind_of(one.method)), scope="row"), *cells)


def _published(one: Published, counts: Sequence[str], measures: Sequence[str], costs: Sequence[str]) -> Html:
    cells = [cell(NOTHING) for _ in counts]
    cells += [_estimate(one.measures.get(name), None) for name in measures]
    cells += [cell(NOTHING) for _ in ("p50", "p95", *costs)]
    mark = tag("i", class_="dot hollow")
    named = tag("th", mark, one.method, tag("small", f"published: {one.published}"), scope="row")
    return tag("tr", named, *cells, class_="published")


def _estimate(found: Estimate | None, best: float | None) -> Html:
    if found is None:
        return cell(NOTHING)
    is_best = best is not None and found.mean >= best
    return cell(
        tag("b" if is_best else "span", share(found.mean), class_="best" if is_best else None),
        tag("small", interval(found)),
        value=found.mean,
    )


def _cost(one: Column, name: str) -> float | None:
    """Return what a question takes on average; None where a price is not known."""
    row = one.row
    if name == "USD":
        return None if row.usage.usd is None else row.usage.usd / row.n
    return row.milliseconds["p50"] if name == "ms" else row.work[name]


def _costed(columns: Sequence[Column]) -> str | None:
    """Return what cost is shown in: money where it is known of all, else tokens, else calls; None where it is none."""
    return next(
        (
            name
            for name in ("USD", "tokens", "calls")
            if all(_cost(one, name) is not None for one in columns) and any(_cost(one, name) for one in columns)
        ),
        None,
    )


def _points(columns: Sequence[Column], measure: str, cost: str) -> list[svg.Point]:
    found = []
    for one in columns:
        estimate, spent = one.row.measures[measure], _cost(one, cost)
        if spent is not None:
            found.append(svg.Point(one.name, one.colour, spent, estimate.mean, estimate.low, estimate.high))
    return found


def _written(name: str, value: float) -> str:
    return f"{value:.4f}" if name == "USD" else figure(value)


_COSTS = (
    "calls",
    "tokens",
    "output_tokens",
    "USD",
    "iterations",
    "tool_calls",
    "retrievals",
    "set_joins",
    "context_tokens",
)
_KINDS = {
    "flat": "a flat list: it ranks by the texts of nodes alone",
    "text agent": "an agent over texts: neither a flat list nor a witness for the graph",
    "graph": "a method that uses the graph's edges",
}
_BEST = "the best of ours in each column is marked"
_UNEVEN = "none is marked as the best, for the methods were not asked the same questions"
_PUBLISHED = (
    "Rows marked published are figures out of papers, on other releases of the data, other models and other software: "
    "landmarks, not rivals to be told apart by a point."
)
