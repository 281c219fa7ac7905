"""Answers judged by a model: A-Score, E-Score and QwenScore over a finished run.

A-Score and E-Score are GraphSearch's (paper 002, figure 4), after HyperGraphRAG's rubric: three criteria each, marked
from 0 to 10 in bands, kept singly; the score is their plain mean. QwenScore is GRBench's share of answers that a judge
calls right, here 1 or 0. The prompts are our own words. Ours besides:

1. The three criteria of a score are marked in one call, each with its reason first, at temperature 0.
2. A verdict that cannot be read, after one repair turn, is an error and no mark; it is left out of every mean and
   counted. (HyperGraphRAG's code takes 5 for it.)
3. No score is mixed with F1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from orienteer.errors import BadInput, BadOption, ModelError, Unknown
from orienteer.files import append_line, mend, read_lines
from orienteer.lab.evaluation.running.runs import Line, StoredRun, lock
from orienteer.llm import Allowance
from orienteer.llm.conversation import Prompt, ask, begin, prompt_of
from orienteer.llm.schema import object_of
from orienteer.protocols import LanguageModel, Run
from orienteer.records import JsonValue, Question, Record, Sampling, Trajectory, Usage

if TYPE_CHECKING:
    from orienteer.graph.store import Graph

JUDGED = "judged.jsonl"
CRITERIA: Mapping[str, tuple[str, ...]] = {
    "A-Score": ("correctness", "coherence", "comprehensiveness"),
    "E-Score": ("relevance", "knowledgeability", "factuality"),
    "QwenScore": (),
}
SCORES = tuple(CRITERIA)
FULL_MARKS = 10.0
GIVE_UP = 5  # calls that fail before any has succeeded: the server is dead, or refuses us
EVIDENCE_NODES, EVIDENCE_CHARACTERS = 20, 2_000  # of the gold nodes, and of the text of each, a judge is shown
_VERDICT = "verdict"
_SHOWN = 200  # characters of a verdict that cannot be read


class Judgement(Record):
    """One verdict on one answer."""

    id: str
    method: str
    score: str
    """A-Score, E-Score or QwenScore."""
    criteria: dict[str, float] = {}
    """Marks from 0 to 10 by criterion; for QwenScore 1 or 0 under `verdict`. Empty if there is an error."""
    reasons: dict[str, str] = {}
    model: str
    prompt_sha256: str
    request_sha256: str
    """The hash of the whole request to the judge."""
    answer_sha256: str
    usage: Usage = Usage()
    error: str | None = None
    """The reason for a missing verdict."""
    can_retry: bool = False
    """The model did not answer at all: it is asked again when judging resumes."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Return the identity of the verdict."""
        return self.score, self.request_sha256, self.id, self.method

    @property
    def mean(self) -> float:
        """Return the score: the plain mean of its criteria."""
        return sum(self.criteria.values()) / len(self.criteria)

    def is_about(self, answer: str | None) -> bool:
        """Return whether this is the judged answer."""
        return answer is not None and self.answer_sha256 == _sha256(answer)


def judge_run(
    run: StoredRun,
    model: LanguageModel,
    *,
    scores: Sequence[str] = ("A-Score",),
    evidence: Callable[[Line], str] | None = None,
    workers: int = 1,
    allowance: Run | None = None,
    listener: Callable[[Judgement], None] | None = None,
) -> tuple[Judgement, ...]:
    """Judge the answers of a run, append each verdict to its `judged.jsonl` at once, and return the new ones.

    A request that this judge has answered is not sent again, so an interrupted run resumes. The judge is not asked
    about lines that failed, gave no answer or have no gold to be judged by; `scorer` counts the first two as 0. The
    E-Score needs `evidence` if the questions bring none themselves: see `gold_evidence`. The listener gets each
    verdict as it comes.

    Raises `BadOption` for an unknown score, `GraphBusy` if another process writes this run, `ModelError` if the first
    calls all fail, `BudgetExhausted` if the allowance is spent; the judgements until then are kept.
    """
    for score in scores:
        if score not in CRITERIA:
            raise BadOption(f"a judge gives no {score!r}; it gives {', '.join(SCORES)}")
    if "E-Score" in scores and evidence is None and not carries_evidence(run):
        raise BadOption("the E-Score needs gold evidence: leave out the E-Score")
    lines = {(line.id, line.method): line for line in run.lines}.values()  # asked again: the last counts
    tasks = (_task(line, score, evidence, model) for score in dict.fromkeys(scores) for line in lines)
    file = run.path / JUDGED
    spends = allowance if allowance is not None else Allowance(reserve=0)

    def work(task: _Task) -> Judgement:
        verdict = _judge(task, model, spends)
        # Here, so that nothing that was paid for is lost when another call ends the work.
        append_line(file, verdict.model_dump_json())
        return verdict

    with lock(run.path), ThreadPoolExecutor(max_workers=max(1, workers)) as pool:  # two judges would pay twice
        done = {verdict.key for verdict in read_judgements(run.path) if verdict.model == model.name}
        mend(file)
        futures = [pool.submit(work, task) for task in tasks if task is not None and task.key not in done]
        try:
            return tuple(_verdicts(futures, listener))
        finally:
            for future in futures:
                future.cancel()


def read_judgements(path: Path) -> tuple[Judgement, ...]:
    """Return the verdicts in a run's folder, without those to be asked for again; none if nothing was judged.

    Raises `BadInput` for a line that is not a verdict.
    """
    try:
        verdicts = tuple(map(Judgement.model_validate_json, read_lines(path / JUDGED)))
    except ValidationError as error:
        raise BadInput(
            f"{path / JUDGED} holds a line that is not a verdict: remove the file, and judge again"
        ) from error
    return tuple(verdict for verdict in verdicts if not verdict.can_retry)


def gold_evidence(graph: Graph) -> Callable[[Line], str]:
    """Return a function that writes the gold nodes of a question for the judge: the most relevant ones."""

    def evidence(line: Line) -> str:
        gold = sorted(line.gold.nodes.items(), key=lambda item: (-item[1], item[0]))
        texts = []
        for node_id, _ in gold[:EVIDENCE_NODES]:
            try:
                node = graph.node(node_id)
            except Unknown:  # gold that this graph does not hold
                continue
            texts.append(f"{node.name} ({node.type}): {node.text[:EVIDENCE_CHARACTERS]}")
        return "\n\n".join(texts)

    return evidence


def carries_evidence(run: StoredRun) -> bool:
    """Return whether questions of a run bring the texts of their gold evidence."""
    return any(line.gold.evidence for line in run.lines)


def prompt_hashes(scores: Sequence[str] = SCORES) -> dict[str, str]:
    """Return the SHA-256 of the judge's prompt for each score."""
    return {score: _sha256(_prompt(score).system) for score in scores}


@dataclass(frozen=True, slots=True)
class _Task:
    """One answer to be judged for one score."""

    line: Line
    begun: Trajectory
    """Its method is the score."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Return the identity of the future verdict."""
        return self.begun.method, self.request_sha256, self.line.id, self.line.method

    @property
    def request_sha256(self) -> str:
        """Hash everything that the judge is shown."""
        return _sha256("\n".join(message.model_dump_json() for message in self.begun.opening))


def _task(line: Line, score: str, evidence: Callable[[Line], str] | None, model: LanguageModel) -> _Task | None:
    """Return the task of judging a line; None if it has no answer to judge, or no gold to judge it by."""
    if line.error is not None or not line.answer:
        return None
    if score == "E-Score":
        # The evidence that the question brings, else what is shown of its gold nodes.
        texts = [text[:EVIDENCE_CHARACTERS] for text in line.gold.evidence[:EVIDENCE_NODES]]
        standard = ("Evidence", "\n\n".join(texts) if texts else evidence(line) if evidence is not None else "")
    else:
        heading = "Known answer, all of it" if line.gold.answer_type == "set" else "Known answer, any of"
        standard = (heading, "\n".join(f"- {answer}" for answer in line.gold.answers))
    if not standard[1]:
        return None
    parts = (("Question", line.question), standard, ("Answer to be marked", line.response or ""))
    content = "\n\n".join(f"## {heading}\n{text}" for heading, text in parts)
    question, sampling = Question(id=line.id, text=line.question), Sampling(temperature=0.0)
    begun = begin(model, _prompt(score), {"content": content}, question=question, method=score, sampling=sampling)
    return _Task(line, begun)


def _judge(task: _Task, model: LanguageModel, allowance: Run) -> Judgement:
    """Return the verdict of one call and at most one repair. Raises `BudgetExhausted`."""
    score = task.begun.method
    verdict = Judgement(
        id=task.line.id,
        method=task.line.method,
        score=score,
        model=model.name,
        prompt_sha256=_sha256(_prompt(score).system),
        request_sha256=task.request_sha256,
        answer_sha256=_sha256(task.line.response or ""),
    )
    try:
        reply, marks, trajectory = ask(model, allowance, task.begun, schema=_schema(score))
    except ModelError as error:
        return verdict.model_copy(update={"error": str(error), "can_retry": True})
    verdict = verdict.model_copy(update={"usage": trajectory.usage})
    if marks is None:
        text = (reply.message.content or "")[:_SHOWN]
        return verdict.model_copy(update={"error": f"the verdict is not JSON that fits its schema: {text!r}"})
    if _VERDICT in marks:
        return verdict.model_copy(update={"criteria": {_VERDICT: float(marks[_VERDICT] == "yes")}})
    fields = {name: mark for name, mark in marks.items() if isinstance(mark, dict)}
    criteria = {name: float(mark["mark"]) for name, mark in fields.items()}
    reasons = {name: str(mark["reason"]) for name, mark in fields.items()}
    return verdict.model_copy(update={"criteria": criteria, "reasons": reasons})


def _verdicts(
    futures: Sequence[Future[Judgement]], listener: Callable[[Judgement], None] | None
) -> Iterator[Judgement]:
    """Yield verdicts as they come. Raises `ModelError` if the first ones are all failures of the model."""
    failed, has_succeeded = 0, False
    for future in as_completed(futures):
        verdict = future.result()
        if listener is not None:
            listener(verdict)
        failed += verdict.can_retry
        has_succeeded |= not verdict.can_retry
        if not has_succeeded and failed == min(GIVE_UP, len(futures)):
            raise ModelError(f"the judge {verdict.model!r} answered none of its first {failed} calls: {verdict.error}")
        yield verdict


def _schema(score: str) -> dict[str, JsonValue]:
    if not CRITERIA[score]:
        return object_of({_VERDICT: {"type": "string", "enum": ["yes", "no"]}})
    mark = {"type": "integer", "minimum": 0, "maximum": int(FULL_MARKS)}
    return object_of({name: object_of({"reason": {"type": "string"}, "mark": mark}) for name in CRITERIA[score]})


def _prompt(score: str) -> Prompt:
    return prompt_of(score.casefold(), "orienteer.lab.evaluation.scores")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
