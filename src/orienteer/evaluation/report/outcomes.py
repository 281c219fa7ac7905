"""Evidence step by step, judged answers, and what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orienteer.display import counted, cut
from orienteer.evaluation.report.columns import Column
from orienteer.evaluation.report.markup import Html, bullets, cell, html, note, scrolled, section, tag
from orienteer.evaluation.report.material import Material
from orienteer.evaluation.report.packed import has_steps
from orienteer.evaluation.report.walks import Walks
from orienteer.evaluation.scores.judge import CRITERIA, FULL_MARKS, read_judged
from orienteer.evaluation.scores.table import Estimate
from orienteer.page import svg
from orienteer.page.numerals import NOTHING, share

_ERROR = 600  # characters of an error that are shown
_LISTED = 40  # questions that are named under one error


def evidence(material: Material, walks: Walks) -> Html | None:
    """Return how much of the gold nodes agents had seen after each step; None where there are no steps."""
    # A lone call for the answer is a step that sees nothing: what only ranked has no curve.
    seen = {one.name: curve for one in material.chosen if any(curve := walks.curve(one))}
    shown = {name: curve for name, curve in seen.items() if len(curve) > 1}
    if not shown:
        return None
    colours = {one.name: one.colour for one in material.columns}
    said = (
        "Share of the gold nodes that stood in observations up to each step (GraphSearch, paper 002, figure 6b). "
        "Agents side by side take their steps together; a question that ended keeps its last share, one that "
        "failed has 0."
    )
    if at_once := ", ".join(f"{name} {share(curve[0])}" for name, curve in seen.items() if len(curve) == 1):
        said += f" In one step, without a curve: {at_once}."
    drawn = svg.curves(shown, colours, "step", "evidence recall")
    return section("evidence", "Evidence seen, step by step", tag("figure", drawn), note(said))


def judged(material: Material) -> Html | None:
    """Return the scores of a judge with their criteria singly; None where nothing was judged."""
    known = {name for one in material.columns for name in one.row.measures}
    scores = [score for score in CRITERIA if score in known]
    if not scores:
        return None
    judges = {(one.score, one.model) for run in material.runs for one in read_judged(run.path)}
    said = [
        "Marks from 0 to 10, with 95 % intervals; a score is the plain mean of its three criteria. QwenScore is a "
        "share from 0 to 1. Verdicts that could not be read are left out of every mean and counted as unjudged.",
        *(f"{score} was judged by {model}." for score, model in sorted(judges)),
    ]
    tables = (_scores(material, (score, *CRITERIA[score])) for score in scores)
    return section("judged", "Judged answers", tag("div", *tables, class_="tables"), bullets(said))


def _scores(material: Material, names: Sequence[str]) -> Html:
    """Return a score and its criteria, a row for each method that was judged."""
    body = [
        tag("tr", tag("th", one.name, scope="row"), *(_mark(one, name, one.row.measures.get(name)) for name in names))
        for one in material.columns
        if any(name in one.row.measures for name in names)
    ]
    heads = (tag("th", name, scope="col") for name in names)
    return scrolled(tag("table", tag("thead", tag("tr", tag("th", "method"), *heads)), tag("tbody", *body),
                        class_="split"))  # fmt: skip


def failures(material: Material) -> Html:
    """Return every error with the methods and questions that it befell."""
    places = {key: place for place, key in enumerate(material.questions)}
    befell: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for one in material.columns:
        for key, line in one.lines.items():
            if line.error is not None:
                place = places.get((one.run.manifest.questions_sha256, key), -1)
                befell.setdefault((one.name, line.error), []).append((key, place))
    if not befell:
        return section("failures", "Failures", note("No question failed under any method."))
    body = [
        tag("tr", tag("th", method, scope="row"), cell(f"{len(those):,}"), tag("td", cut(error, _ERROR), _named(those)))
        for (method, error), those in sorted(befell.items(), key=lambda item: -len(item[1]))
    ]
    head = tag("tr", *(tag("th", name) for name in ("method", "n", "error and questions")))
    total = sum(map(len, befell.values()))
    said = note(f"{counted(total, 'result')} failed. Each counts as 0 in every measure.")
    return section("failures", "Failures", said, scrolled(tag("table", tag("thead", head), tag("tbody", *body),
                                                              class_="words")))  # fmt: skip


def _named(those: list[tuple[str, int]]) -> Html:
    """Return links to questions; the list of questions can be filtered for the rest."""
    links = [
        html(tag("a", key, href=f"#question-{place}") if place >= 0 else tag("span", key), " ")
        for key, place in those[:_LISTED]
    ]
    more = f"and {len(those) - _LISTED:,} more: filter the questions by “failed”" if len(those) > _LISTED else ""
    return tag("div", *links, more, class_="named")


def absent(material: Material, parts: Mapping[str, Html | None]) -> Html:
    """Return what these runs give no material for, and what would."""
    lacking = [_REMEDIES[name] for name, part in parts.items() if part is None]
    if material.graph is None:
        lacking.append(
            "Lengths of descriptions and types of all gold nodes: name the graph with eval report --graph DIR."
        )
    if not any(has_steps(line) for one in material.columns for line in one.lines.values()):
        lacking.append("Trajectories and tool use: no method of these runs has steps.")
    if not lacking:
        return html()
    return section("absent", "Not in this report", bullets(lacking))


def _mark(one: Column, name: str, found: Estimate | None) -> Html:
    if found is None:
        return cell(NOTHING)
    highest = 1.0 if name == "QwenScore" else FULL_MARKS
    drawn = svg.bar(found.mean, found.low, found.high, colour=one.colour, lowest=0.0, highest=highest)
    is_score = name in CRITERIA
    return tag("td", drawn, tag("b" if is_score else "span", f"{found.mean:.2f}"), class_="score" if is_score else None)


_REMEDIES = {
    "effort": "What questions took by kind: no method of these runs called a model.",
    "evidence": "Evidence step by step: no method of these runs took two steps or more over questions with gold nodes.",
    "judged": "Judged answers: run with --answers, then eval judge RUN --model NAME.",
    "landscape": "A landscape over swept options: eval sweep DIR QUESTIONS --method M --set NAME=V1,V2 -o RUN.",
}
