"""Did the graph help? Methods of one run or several on the same questions, against one another.

The verdict sets the best method that uses the graph's edges against the best flat list, each chosen by its mean on
these very questions. The graph helped if the 95 % paired bootstrap interval of the difference lies above 0 and the
paired permutation test, corrected after Holm for every graph method that was tried, agrees. It did not help if the
same holds below 0, or if on `FEWEST` questions or more the whole interval lies below `WORTHWHILE`. Otherwise these
questions cannot tell.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orienteer.display import counted
from orienteer.errors import BadInput
from orienteer.lab.evaluation.running.runs import Line, StoredRun
from orienteer.lab.evaluation.scores.scorer import Lead, cut_short, gives_answers, latest, lead_of_runs, scorer
from orienteer.lab.evaluation.scores.statistics import (
    holm,
    mean_interval,
    mean_intervals,
    permutation_ps,
    questions_needed,
)
from orienteer.lab.evaluation.scores.table import Estimate, require_field, value_order, values_of
from orienteer.records import Record, Usage

# Methods that rank by the texts of nodes alone, a model's rewording of the question included.
FLAT = frozenset({"agr", "bm25", "dense", "hybrid", "hyde", "naive", "rar", "text-rag"})
# Methods that search texts again and again, or not at all: neither a flat list nor a witness for the graph.
TEXT_AGENTS = frozenset({"ircot", "react", "reflexion", "search-o1", "vanilla"})
WORTHWHILE = 2.0  # points: a smaller gain is no reason to build a graph
FEWEST = 150  # questions. The rule of three: with fewer, what happens to 2 in 100 may not be among them
SIGNIFICANT = 0.05
FEWEST_FOR_P = 6  # questions: with fewer, no permutation test gets below that
_CONDITIONS = (
    ("model", "model"),
    ("k", "k"),
    ("split", "split"),
    ("limit", "limit"),
    ("what may answer", "candidates"),
)
POINTS = 100  # of a measure's whole scale

MethodKind: TypeAlias = Literal["flat", "text agent", "graph"]
Decision: TypeAlias = Literal["helped", "did not help", "cannot tell", "nothing to compare"]


class Cost(Record):
    """The average cost of a question."""

    milliseconds: float
    calls: float
    usd: float | None
    """None if a price is not known."""


class Standing(Record):
    """One method on the questions that all methods have in common."""

    method: str
    """Followed by the run's folder in brackets if several runs have the method."""
    kind: MethodKind
    mean: float
    low: float
    high: float
    beside: dict[str, Estimate] = {}
    """The measures that belong next to the leading one, such as how often all gold was found."""
    cost: Cost


class PairedDifference(Record):
    """The difference between two methods on the same questions: above 0 if `ours` is better."""

    ours: str
    theirs: str
    by: dict[str, str] = {}
    n: int
    points: float
    """Mean of ours - theirs, in hundredths of the measure's scale; `low` and `high` end its 95 % interval."""
    low: float
    high: float
    p: float
    """The p of the paired permutation test, corrected after Holm for all differences that are shown together."""
    better: int
    """The number of questions on which ours scores higher; `worse` is the number on which it scores lower."""
    worse: int


class Comparison(Record):
    """The verdict, and the figures it rests on."""

    verdict: str
    outcome: Decision
    measure: str
    why: str = ""
    """Why it is by this measure, in a sentence."""
    n: int
    """The number of questions that every method was asked and that the measure applies to."""
    best_graph: str | None = None
    best_flat: str | None = None
    gain: PairedDifference | None = None
    """The best graph method over the best flat list; p is corrected for all graph methods that were tried."""
    questions_needed: int | None = None
    """Estimated number of questions that would decide, if these cannot."""
    standings: tuple[Standing, ...] = ()
    """Best first."""
    pairs: tuple[PairedDifference, ...] = ()
    groups: tuple[PairedDifference, ...] = ()
    """The differences for each value of a field; empty if no field was named."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Method:
    """A method on the common questions, in their order."""

    standing: Standing
    points: NDArray[np.float64]
    """Scores in hundredths of the measure's scale."""
    lines: tuple[Line, ...]

    @property
    def name(self) -> str:
        return self.standing.method


def compare(
    runs: Sequence[StoredRun], *, measure: str | None = None, by: str | None = None, random_seed: int = 0
) -> Comparison:
    """Compare the methods of runs by one measure: the one that the questions' gold calls for unless another is named.

    Methods are compared on the questions that all of them were asked; the notes name the others. With `by`, each
    method is compared with the best flat list (without one, with the best method) for each value of that field. Raises
    `BadInput` for runs on different questions or graphs, or if no question is left, and `BadOption` for an unknown
    measure or field.
    """
    if not any(run.lines for run in runs):
        raise BadInput("there are no results to compare: let eval run finish a question first")
    first, *others = runs
    for other in others:
        for label, field in (("graphs", "graph_sha256"), ("questions", "questions_sha256")):
            if getattr(first.manifest, field) != getattr(other.manifest, field):
                raise BadInput(
                    f"{first.path} and {other.path} have different {label}, so their figures cannot be compared: "
                    "run the methods on the same graph and question file"
                )
    if by is not None:
        require_field(runs, by)
    lead = lead_of_runs(runs, chosen=measure)
    method_scores, notes = _method_scores(runs, lead)
    methods, left_out = _on_common_questions(method_scores, lead.measure, random_seed)
    return _verdict(methods, lead.measure, random_seed).model_copy(
        update={
            "why": lead.why,
            "standings": tuple(method.standing for method in methods),
            "pairs": tuple(_differences(combinations(methods, 2), random_seed)),
            "groups": tuple(_by_field(methods, by, random_seed)) if by is not None else (),
            "notes": (*notes, *left_out),
        }
    )


def kind_of(method: str) -> MethodKind:
    """Return the kind of a method: `ark agents=1` counts as `ark`, `a:b` as both. An unknown one uses the graph."""
    parts = set(method.split(" ", 1)[0].split(":"))
    if parts <= FLAT:
        return "flat"
    return "text agent" if parts <= FLAT | TEXT_AGENTS else "graph"


def unlike(runs: Sequence[StoredRun]) -> list[str]:
    """Return notes on the conditions in which runs differ."""
    return [
        f"the runs differ in {label}: {', '.join(sorted(map(str, values)))}"
        for label, field in _CONDITIONS
        if len(values := {getattr(run.manifest, field) for run in runs}) > 1
    ]


def repeated(runs: Sequence[StoredRun]) -> list[str]:
    """Return a note on the results that several runs over one graph have of one method and question."""
    asked = [{(run.manifest.graph_sha256, one.method, one.id, one.question) for one in run.lines} for run in runs]
    twice = [result for result, count in Counter(chain(*asked)).items() if count > 1]
    if not twice:
        return []
    _, method, question, _ = min(twice)
    return [
        f"{counted(len(twice), 'result')} in more than one of the runs, so counted again: {question!r} of {method!r}"
    ]


class _MethodScores(NamedTuple):
    """One method of one run, all its questions."""

    name: str
    scale: float
    lines: Mapping[str, Line]
    scores: Mapping[str, float | None]
    beside: Mapping[str, Mapping[str, float | None]]
    """The scores of each measure that belongs next to the leading one."""


def _method_scores(runs: Sequence[StoredRun], lead: Lead) -> tuple[list[_MethodScores], list[str]]:
    """Return every method with its scores, and notes on what makes the runs unlike one another."""
    notes = unlike(runs)
    notes += dict.fromkeys(note for run in runs for note in cut_short(run, [lead.measure, *lead.beside]))
    runs_with = Counter(method for run in runs for method in latest(run.lines))
    methods = []
    for run in runs:
        measured, *beside = [scorer(name, run) for name in (lead.measure, *lead.beside)]
        for method, lines in latest(run.lines).items():
            name = method if runs_with[method] == 1 else f"{method} [{run.path}]"
            if measured.is_of_answers and not gives_answers(lines):
                notes.append(f"{name} gives no answers and is left out")
                continue
            if failed := sum(line.error is not None for line in lines):
                notes.append(f"{name} failed on {failed} questions, which count as 0")
            by_id = {line.id: line for line in lines}
            scores = {line.id: measured.of(line) for line in lines}
            others = {other.name: {line.id: other.of(line) for line in lines} for other in beside}
            methods.append(_MethodScores(name, measured.scale, by_id, scores, others))
    return methods, notes


def _on_common_questions(
    method_scores: Sequence[_MethodScores], measure: str, random_seed: int
) -> tuple[list[_Method], list[str]]:
    """Return the methods on the questions that all of them have a score for, best first, and what was left out."""
    union = list(dict.fromkeys(question for method in method_scores for question in method.lines))
    common = [question for question in union if all(question in method.lines for method in method_scores)]
    scored = [question for question in common if all(method.scores[question] is not None for method in method_scores)]
    if not scored:
        raise BadInput(f"no question was asked of every method and has gold for {measure}: name another measure or run")
    notes = []
    if len(common) < len(union):
        notes.append(f"{len(union) - len(common)} of {len(union)} questions were not asked of every method: left out")
    if len(scored) < len(common):
        notes.append(f"{len(common) - len(scored)} questions have no gold or verdict for {measure}: left out")
    methods = [_method(method, scored, random_seed) for method in method_scores]

    def order(method: _Method) -> tuple[float, float, float, str]:  # best first; of two that are level, the cheaper
        return -method.standing.mean, method.standing.cost.calls, method.standing.cost.milliseconds, method.name

    return sorted(methods, key=order), notes


def _method(method: _MethodScores, questions: Sequence[str], random_seed: int) -> _Method:
    lines = tuple(method.lines[question] for question in questions)

    def values_in(scores: Mapping[str, float | None]) -> list[float]:
        return [score for question in questions if (score := scores[question]) is not None]

    scores = values_in(method.scores)
    mean, low, high = mean_interval(scores, random_seed=random_seed)
    beside = {}
    for name, others in method.beside.items():
        values = values_in(others)
        beside[name] = Estimate(**mean_interval(values, random_seed=random_seed)._asdict(), n=len(values))
    usage = sum((line.usage for line in lines), Usage())
    cost = Cost(
        milliseconds=1000 * math.fsum(line.seconds for line in lines) / len(lines),
        calls=usage.calls / len(lines),
        usd=None if usage.usd is None else usage.usd / len(lines),
    )
    kind = kind_of(method.name)
    standing = Standing(method=method.name, kind=kind, mean=mean, low=low, high=high, beside=beside, cost=cost)
    return _Method(standing, np.array(scores) * POINTS / method.scale, lines)


def _differences(pairs: Iterable[tuple[_Method, _Method]], random_seed: int) -> list[PairedDifference]:
    return _corrected(_uncorrected(list(pairs), random_seed))


def _by_field(methods: Sequence[_Method], field: str, random_seed: int) -> list[PairedDifference]:
    """Return each method against the best flat list, else against the best, for each value of a field."""
    base = next((method for method in methods if method.standing.kind == "flat"), methods[0])
    pairs = [(method, base) for method in methods if method is not base]
    places: dict[str, list[int]] = {}
    for place, line in enumerate(base.lines):
        for value in values_of(line, field):
            places.setdefault(value, []).append(place)
    return _corrected(
        [
            difference.model_copy(update={"by": {field: value}})
            for value in sorted(places, key=value_order)
            for difference in _uncorrected(pairs, random_seed, places=places[value])
        ]
    )


def _uncorrected(
    pairs: Sequence[tuple[_Method, _Method]], random_seed: int, *, places: Sequence[int] | None = None
) -> list[PairedDifference]:
    chosen = slice(None) if places is None else places
    table = [np.subtract(ours.points, theirs.points)[chosen] for ours, theirs in pairs]  # (questions,) each
    intervals = mean_intervals(table, random_seed=random_seed)
    ps = permutation_ps(table, random_seed=random_seed)
    return [
        PairedDifference(
            ours=ours.name,
            theirs=theirs.name,
            n=len(points_apart),
            points=points,
            low=low,
            high=high,
            p=p,
            better=int(np.count_nonzero(points_apart > 0)),
            worse=int(np.count_nonzero(points_apart < 0)),
        )
        for (ours, theirs), points_apart, (points, low, high), p in zip(pairs, table, intervals, ps, strict=True)
    ]


def _corrected(differences: Sequence[PairedDifference]) -> list[PairedDifference]:
    corrected = holm([difference.p for difference in differences])
    return [difference.model_copy(update={"p": p}) for difference, p in zip(differences, corrected, strict=True)]


def _verdict(methods: Sequence[_Method], measure: str, random_seed: int) -> Comparison:
    """Return the verdict, and the gain that it rests on."""
    graphs = [method for method in methods if method.standing.kind == "graph"]
    flats = [method for method in methods if method.standing.kind == "flat"]
    n = len(methods[0].lines)
    if not graphs or not flats:
        # What is missing for a verdict, and what to run.
        best = methods[0].standing
        means = f"{measure} {best.mean:.3f} ({best.low:.3f} to {best.high:.3f})"
        leader = f"{best.method} leads with {means}" if len(methods) > 1 else f"only {best.method} was run, {means}"
        lacking, remedy = ("no method goes along the edges", "anchor") if flats else (
            "there is no flat list to measure against", "bm25"
        )  # fmt: skip
        advice = f"Run {remedy} on the same questions to learn whether the graph helps: {lacking}, and {leader}."
        return Comparison(verdict=advice, outcome="nothing to compare", measure=measure, n=n)
    graph, flat = graphs[0], flats[0]
    gain = _differences([(graph_method, flat) for graph_method in graphs], random_seed)[0]
    outcome: Decision
    needed = None
    if gain.n >= FEWEST and gain.high < WORTHWHILE:
        outcome = "did not help"
    elif gain.p >= SIGNIFICANT or gain.low <= 0 <= gain.high:
        # More questions than these would tell, and enough for the permutation test to speak.
        outcome, needed = "cannot tell", FEWEST
        if gain.better or gain.worse:
            estimate = questions_needed(graph.points.tolist(), flat.points.tolist(), smallest=WORTHWHILE)
            needed = max(2 * gain.n, estimate or 0, FEWEST_FOR_P)
    else:
        outcome = "helped" if gain.low > 0 else "did not help"
    # For how many questions all gold was found, if that is a measure of these questions.
    found = "".join(
        f" {graph.name} finds all gold for {round(estimate.mean * count):,} of the {count:,} questions, "
        f"{flat.name} for {round(flat.standing.beside[name].mean * count):,} ({name})."
        for name, estimate in graph.standing.beside.items()
        if (count := estimate.n)
    )
    return Comparison(
        verdict=_sentence(outcome, gain, needed, measure, graph.standing.cost, flat.standing.cost) + found,
        outcome=outcome,
        measure=measure,
        n=n,
        best_graph=graph.name,
        best_flat=flat.name,
        gain=gain,
        questions_needed=needed,
    )


def _sentence(
    outcome: Decision, gain: PairedDifference, needed: int | None, measure: str, graph: Cost, flat: Cost
) -> str:
    cost = f"{graph.milliseconds - flat.milliseconds:+.0f} ms"
    if graph.calls or flat.calls:
        usd = "an unknown sum" if graph.usd is None or flat.usd is None else f"{graph.usd - flat.usd:+.4f} USD"
        cost += f", {graph.calls - flat.calls:+.1f} calls and {usd} a question"
    else:
        cost += " a question and no call of a model"
    score = (
        f"{gain.ours} scores {abs(gain.points):.1f} points {'more' if gain.points >= 0 else 'less'} {measure} than "
        f"{gain.theirs}, the best flat list (95 % interval {gain.low:+.1f} to {gain.high:+.1f}, p = {gain.p:.2g}), "
        f"at {cost}"
    )
    if outcome == "helped":
        return f"Use the graph: on these {gain.n} questions {score}."
    if outcome == "did not help":
        return f"Do without the graph: on these {gain.n} questions {score}."
    rounded = int(float(f"{needed or 0:.2g}"))  # an estimate has no more than two digits
    return f"Ask about {rounded:,} questions: these {gain.n} cannot tell whether the graph helps, for {score}."
