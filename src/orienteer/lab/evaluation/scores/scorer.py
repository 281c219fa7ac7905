"""Every measure by its name, as a function of one line of a run.

A question that failed, or that got no answer, scores 0. A question whose gold cannot be compared with what a measure is
about has no score at all: one without gold nodes for a ranking, one without gold answers for an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import median_high
from typing import TYPE_CHECKING, TypeAlias

from orienteer.errors import BadOption
from orienteer.lab.evaluation.examples import Example
from orienteer.lab.evaluation.running.runs import Line, StoredRun, by_method
from orienteer.lab.evaluation.scores.judge import CRITERIA, FULL_MARKS, SCORES, Judgement, read_judgements
from orienteer.lab.evaluation.scores.measures import (
    ANSWERS,
    EVIDENCE,
    NAMES,
    RANKING,
    RAW,
    answer_measure,
    evidence_recall,
    evidence_step,
    is_answer_measure,
    rank_measure,
    ranking_of,
    relevant_count,
    short_answer,
    unknown_measure,
    without_citations,
)
from orienteer.lab.evaluation.scores.verdicts import VERDICTS, Verdict, is_cut, verdict
from orienteer.records import Record

if TYPE_CHECKING:
    from orienteer.lab.evaluation.scores.rewards import Mode


# The data set whose papers report Rouge.
GRBENCH = "grbench"
_RANKING_NAMES = (*RANKING, "AllGold@5", "Precision@5", "MAP", "nDCG@10", f"{EVIDENCE}@all")
_JUDGED_NAMES = (*SCORES, *(name for criteria in CRITERIA.values() for name in criteria))
# The rewards of the trajectories of a run over a quiz; see `rewards`.
REWARDS: Mapping[str, Mode] = {"Reward": "paper", "Reward (strict)": "strict"}
# Judgements by question, method and score.
Judgements: TypeAlias = Mapping[tuple[str, str, str], Judgement]


@dataclass(frozen=True, slots=True)
class LineScorer:
    """A measure of one run's lines."""

    name: str
    of: Callable[[Line], float | None]
    """The score of a line; None if the question has no gold for it, or the judge gave no judgement."""
    is_of_answers: bool = False
    scale: float = 1.0
    """The highest score there is."""


def scorer(name: str, run: StoredRun, judgements: Judgements | None = None) -> LineScorer:
    """Return a measure for the lines of this run. Raises `BadOption` if it is unknown, or was never judged."""
    if is_answer_measure(name):
        return LineScorer(name, _answer_score(name), is_of_answers=True)
    if name in _JUDGED_NAMES:
        judgements = judgements_of(run) if judgements is None else judgements
        scale = 1.0 if name == "QwenScore" else FULL_MARKS
        return LineScorer(name, _judged_score(name, judgements), is_of_answers=True, scale=scale)
    if name in REWARDS:
        return LineScorer(name, _reward_score(REWARDS[name], run), is_of_answers=True)
    if name in VERDICTS:
        return LineScorer(name, _verdict_score(VERDICTS[name]))
    if (step := evidence_step(name)) is not None:
        return LineScorer(name, _evidence_score(run, step))
    try:
        return LineScorer(name, _rank_score(name, run.manifest.candidates))
    except BadOption as error:
        raise BadOption(
            unknown_measure(name, (*_RANKING_NAMES, *NAMES, *_JUDGED_NAMES, *REWARDS, *VERDICTS))
        ) from error


def lead_of_runs(runs: Iterable[StoredRun], *, chosen: str | None = None) -> Lead:
    """Return the measure that the questions of runs call for, or the chosen one, with the reason."""
    runs = list(runs)
    examples = {
        (run.manifest.questions_sha256, example.question.id): example for run in runs for example in run.examples
    }
    return lead_of(examples.values(), chosen=chosen, has_answers=any(run.manifest.answers for run in runs))


def default_measures(run: StoredRun, judgements: Judgements | None = None) -> tuple[str, ...]:
    """Return the measures that a table shows, the leading one first."""
    # With a limit on the types that may answer, the raw measures are next to the official ones.
    judgements = judgements_of(run) if judgements is None else judgements
    names: list[str] = []
    if any(example.gold.nodes for example in run.examples):
        lead = lead_of(run.examples)
        names += dict.fromkeys((lead.measure, *lead.beside, *RANKING))
        names += [name + RAW for name in names if run.manifest.candidates is not None]
    if any(example.gold.unanswerable or example.gold.sealed for example in run.examples):
        names = [*VERDICTS, *names]
    if run.manifest.answers and any(example.gold.answers for example in run.examples):
        names += ANSWERS
        names += ["SetF1"] if any(example.gold.answer_type == "set" for example in run.examples) else []
        names += ["Rouge-L"] if run.manifest.dataset == GRBENCH else []
    for score in SCORES:
        if any(key[2] == score for key in judgements):
            names += [score, *CRITERIA[score]]
    return tuple(names)


def cut_short(run: StoredRun, names: Iterable[str]) -> tuple[str, ...]:
    """Return a note that names the measures that look at more places than the rankings have, if there are any."""
    longer = []
    for name in dict.fromkeys(names):
        with suppress(BadOption):  # a measure of no ranking
            longer += [name] if (rank_measure(name).k or 0) > run.manifest.k else []
    measures, notes = ", ".join(longer), list[str]()
    if longer:
        notes.append(f"rankings hold only k={run.manifest.k} hits, and {measures} sees no more than these")
    if not VERDICTS.keys().isdisjoint(names) and (cut := sum(map(is_cut, run.lines))):
        notes.append(f"{cut:,} exact answers have more than k={run.manifest.k} nodes: no verdict on them without -k")
    return tuple(notes)


def judgements_of(run: StoredRun) -> Judgements:
    """Return the judgements of a run; none if no judge was asked.

    A judge is a model with a prompt. For each score only the last judge's judgements count, so that the marks of two
    judges are never mixed, and only those on the current answer of the line.
    """
    responses = {(line.id, line.method): line.response for line in run.lines}
    judged = read_judgements(run.path)
    judges = {judgement.score: (judgement.model, judgement.prompt_sha256) for judgement in judged}
    return {
        (judgement.id, judgement.method, judgement.score): judgement
        for judgement in judged
        if (judgement.model, judgement.prompt_sha256) == judges[judgement.score]
        and judgement.is_about(responses.get((judgement.id, judgement.method)))
    }


def latest(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """Group lines by method; the last line of a question counts."""
    return {method: list({line.id: line for line in group}.values()) for method, group in by_method(lines).items()}


def _verdict_score(wanted: Verdict) -> Callable[[Line], float | None]:
    def of(line: Line) -> float | None:
        found = verdict(line)
        return None if found is None else float(found == wanted)

    return of


def _rank_score(name: str, candidates: Sequence[str] | None) -> Callable[[Line], float | None]:
    measure = rank_measure(name)
    allowed = None if measure.is_raw else candidates

    def of(line: Line) -> float | None:
        if not is_ranked(line):
            return None
        return 0.0 if line.error is not None else measure(ranking_of(line.hits, allowed), line.gold.nodes)

    return of


def _evidence_score(run: StoredRun, step: int) -> Callable[[Line], float | None]:
    """Return the scores for `Evidence@step`, step 0 being the last; None for a method that observes nothing."""
    gold = {line.id: line.gold.nodes for line in run.lines if is_ranked(line)}
    curves: dict[tuple[str, str], list[float]] = {}
    observing: set[str] = set()
    for question, method, trajectories in run.trajectories():
        if any(step.observations for trajectory in trajectories for step in trajectory.steps):
            observing.add(method)
        if question in gold:
            curves[question, method] = evidence_recall(trajectories, gold[question])

    def of(line: Line) -> float | None:
        if not is_ranked(line) or line.method not in observing:
            return None
        curve = curves.get((line.id, line.method), []) if line.error is None else []
        return (curve[:step] if step else curve)[-1] if curve else 0.0

    return of


def _reward_score(mode: Mode, run: StoredRun) -> Callable[[Line], float | None]:
    """Return the reward of a line's trajectory: 0 without one, None for a question of no quiz."""
    # Here, since it loads the solver: a second that other measures need not wait.
    from orienteer.lab.evaluation.scores.rewards import item_of, reward, spellings_of

    items = {
        line.id: item
        for line in run.lines
        if (item := item_of(line.id, line.question, line.gold, line.fields)) is not None
    }
    values: dict[tuple[str, str], float] = {}
    for question, method, trajectories in run.trajectories():
        if question in items and trajectories:
            item, course = items[question], trajectories[0]  # the others are of fallback searches
            spellings = spellings_of(course, item)
            values[question, method] = reward(course, item, mode=mode, spellings=spellings).total

    def of(line: Line) -> float | None:
        if line.id not in items:
            return None
        return 0.0 if line.error is not None else values.get((line.id, line.method), 0.0)

    return of


def _answer_score(name: str) -> Callable[[Line], float | None]:
    measure = answer_measure(name)

    def of(line: Line) -> float | None:
        if not line.gold.answers:
            return None
        answer, whole = ("", "") if line.error is not None else (line.answer or "", line.response or "")
        names, whole = [hit.name for hit in line.hits], without_citations(whole, line.citations)
        score = measure(short_answer(answer, line.citations), line.gold, others=names, whole=whole)
        return score if answer or score is None else 0.0

    return of


def _judged_score(name: str, judgements: Judgements) -> Callable[[Line], float | None]:
    score = next(score for score in SCORES if name == score or name in CRITERIA[score])
    if not any(key[2] == score for key in judgements):
        raise BadOption(f"this run has no verdicts for {name}: run eval judge with --score {score} first")

    def of(line: Line) -> float | None:
        if not _has_gold(line, score):
            return None
        if line.error is not None or not line.answer:
            return 0.0
        judgement = judgements.get((line.id, line.method, score))
        if judgement is None or judgement.error is not None:
            return None
        return judgement.mean if name == score else judgement.criteria[name]

    return of


def gives_answers(lines: Sequence[Line]) -> bool:
    """Return whether a method answers in words at all; one that only ranks has no measures of answers.

    A question that was asked, and refused over what was found, counts as one that failed.
    """
    return any(line.answer is not None for line in lines) or all(
        line.error is not None or (line.refusal is not None and line.reading is None) for line in lines
    )


def is_ranked(line: Line) -> bool:
    """Return whether a question has gold nodes, so that a ranking can be measured."""
    return any(relevance > 0 for relevance in line.gold.nodes.values())


def lacks_judgement(line: Line, score: str, judgements: Judgements) -> bool:
    """Return whether an answer that can be judged has no readable judgement."""
    if line.error is not None or not line.answer or not _has_gold(line, score):
        return False
    judgement = judgements.get((line.id, line.method, score))
    return judgement is None or judgement.error is not None


def _has_gold(line: Line, score: str) -> bool:
    if score == "E-Score":
        return is_ranked(line) or bool(line.gold.evidence)
    return bool(line.gold.answers)


# The measure that a verdict, a table and a chart lead with: what the gold of the questions asks for.
#
# A question with one gold node is answered by the first hit. A question with several needs all of them: the passages of
# a chain of hops, the members of a set. `Hit@1` is blind to all but one. So the gold of the middle question decides:
#
# 1 node          Hit@1, STaRK's and ARK's first column.
# 2 to 5          Recall@5, and how often all gold is found (HippoRAG's Recall@5 and all-recall).
# 6 to 20         Recall@20, as 5 places cannot hold them (STaRK took 20 for this reason), and all gold at 20.
# 21 and more     nDCG@10. No list of 20 could come near a Recall of 1; nDCG is a share of the best possible list,
#                 however much gold there is (BEIR's measure).
#
# The gold of a question does not say whether any one of its nodes would do. Whoever asks such questions chooses
# `Hit@1`.


# The two cutoffs: as many hits as a reader takes in at a glance, and as a ranking has.
FEW, MANY = 5, 20


class Lead(Record):
    """The leading measure, and why it leads."""

    measure: str
    why: str
    """A whole sentence that names the measure, to be shown wherever the measure leads."""
    beside: tuple[str, ...] = ()
    """Measures that belong next to it."""


def lead_of(examples: Iterable[Example], *, chosen: str | None = None, has_answers: bool = False) -> Lead:
    """Return the measure that questions call for, or the chosen one, with the reason.

    Questions without gold nodes do not count; if no question has any and answers were asked for, these are measured.
    """
    examples = list(examples)
    own = _of_sizes([size for example in examples if (size := relevant_count(example.gold.nodes))], len(examples))
    if own is None:
        measure = ANSWERS[0] if has_answers and any(example.gold.answers for example in examples) else RANKING[0]
        own = Lead(measure=measure, why=f"By {measure}, for no question has gold nodes.")
    if chosen in (None, own.measure):
        return own
    return Lead(measure=chosen, why=f"By {chosen}, as chosen; without a choice {own.why[0].lower()}{own.why[1:]}")


def _of_sizes(sizes: list[int], asked: int) -> Lead | None:
    """Return the measure for questions with these numbers of gold nodes; None without any."""
    if not sizes:
        return None
    middle, count, several = median_high(sizes), len(sizes), sum(size > 1 for size in sizes)
    kind, nodes = ("questions", " gold nodes") if count == asked else ("questions with gold nodes", "")
    part = count - several if middle == 1 else several
    if count == 1:
        reason = f"the one {kind.replace('questions', 'question')} has"
    elif part == count:
        reason = f"all {part:,} {kind} have"
    else:
        reason = f"{part:,} of the {count:,} {kind} ha{'s' if part == 1 else 've'}"
    if middle == 1:
        return Lead(measure=RANKING[0], why=f"By {RANKING[0]}, for {reason} one{nodes.removesuffix('s')}.")
    reason += f" several{nodes}"
    if middle <= FEW:
        return Lead(measure=f"Recall@{FEW}", why=f"By Recall@{FEW}, for {reason}.", beside=(f"AllGold@{FEW}",))
    reason += f" and half have {middle:,} or more"
    if middle <= MANY:
        why = f"By Recall@{MANY}, for {reason}: {FEW} places cannot hold them."
        return Lead(measure=f"Recall@{MANY}", why=why, beside=(f"AllGold@{MANY}",))
    return Lead(measure="nDCG@10", why=f"By nDCG@10, for {reason}: no list of {MANY} can hold them.")
