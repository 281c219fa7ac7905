"""One episode of a model that explores a graph and hands in a question. GraphScout (003), sections 3.3.2 to 3.3.4.

The course is the paper's: the schema and a node to begin from, calls of two tools, at most T of them, then the report.
Ours besides:

1. A report that cannot be kept is sent back once, with all that is wrong with it.
2. What passes every check is put to the model once more without tools or graph: answered rightly, it is dropped.
3. Where the model calls nothing any more, it has explored enough; nobody asks it whether.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from string import Template
from typing import NamedTuple

from orienteer.agents.agent import Agent, ByReport
from orienteer.agents.dialect import dialect_for, harmless
from orienteer.graph.store import Graph
from orienteer.index.searchers import Mode
from orienteer.lab.evaluation.quiz_item import QuizItem
from orienteer.lab.quizzes.explore.orders import QuizOrder, in_words
from orienteer.lab.quizzes.explore.report import SCHEMA, CheckedReport, QuizReport, is_answered, report_of
from orienteer.lab.quizzes.kinds import PACKAGE
from orienteer.lab.quizzes.proof import FORMS, Fault
from orienteer.llm.conversation import ELISION, Conversation
from orienteer.llm.exchange import ask, begin
from orienteer.llm.prompts import prompt_of
from orienteer.llm.schema import decode, faults
from orienteer.llm.spoken import after_thinking
from orienteer.options import Options
from orienteer.protocols import LanguageModel, Run
from orienteer.records import (
    Question,
    Sampling,
    Trajectory,
)
from orienteer.retrieval.schema import describe
from orienteer.sandbox.tiers import Choice
from orienteer.tools.code.config import CodeConfig
from orienteer.tools.code.interpreter import DIALECT
from orienteer.tools.toolbox import open_scouting

MAX_CALLS = 10  # GraphScout, 3.3.3: T
_ANSWERS = {
    "entity": "One thing: its name.",
    "boolean": "One word: True or False.",
    "number": "One number, in digits.",
    "set": "The names, each once.",
}
Check = Callable[[QuizReport], CheckedReport]


class ScoutConfig(Options):
    """How one episode goes."""

    max_calls: int = MAX_CALLS
    """Calls of tools before the report is asked for. The paper's T."""
    temperature: float = 0.7
    """Temperature of exploring and reporting; above 0, so that questions differ. Ours: the paper names none."""
    tier: Choice = "auto"
    """Where code runs."""
    retry_cpython: bool = False
    """Run code again in `cpython` where `monty` lacks something that it asks for."""


class QuizEpisode(NamedTuple):
    """The result of an order."""

    item: QuizItem | None
    faults: tuple[Fault, ...]
    """Why there is no item; the first fault is the one that counts."""
    trajectories: tuple[Trajectory, ...]


class Scout:
    """Sends a model out over one graph. Safe to share among threads: each episode has tools and a talk of its own."""

    def __init__(self, graph: Graph, config: ScoutConfig) -> None:
        """Raises `MissingExtra` without Cypher, or without the embedder of the graph's vectors."""
        self._graph, self._config = graph, config
        self._mode: Mode = "dense" if graph.arrays.searcher.has_vectors else "lexical"  # dense, as 3.2.2 has it
        graph.arrays.searcher(self._mode)
        described = describe(graph, None, has_code=True)._asdict()
        self._environment = {name: harmless(part) for name, part in described.items()}

    def explore(
        self, order: QuizOrder, model: LanguageModel, run: Run, check: Callable[..., CheckedReport]
    ) -> QuizEpisode:
        """Let a model explore from the order's node and hand in a question; have it checked.

        `check(report, touched=ids)` judges a report. Raises `ModelError` and `BudgetExhausted`.
        """
        toolbox, code = open_scouting(
            self._graph, self._mode, CodeConfig(tier=self._config.tier, retry_cpython=self._config.retry_cpython)
        )
        assert code is not None
        ending = ByReport(max_calls=self._config.max_calls)
        agent = Agent(model, toolbox, ending, context_tokens=None)
        dialect = DIALECT if code.tier == "monty" else ""
        values = {**self._environment, "calls": self._config.max_calls, "dialect": dialect}
        begun = begun_by(
            model, order, run, "quiz-explore", values, in_words(self._graph, order), self._config.temperature
        )
        course = {"dialect": dialect_for(model), "toolbox": toolbox.spec, "tools": toolbox.specs, "elision": ELISION}
        begun = begun.model_copy(update=course)
        talk = agent.begin(begun, run)
        try:
            agent.walk(talk, run)
        finally:
            toolbox.close()
        touched = {order.seed, *(node for step in talk.steps for seen in step.observations for node in seen.nodes)}
        notice = report_prompt(order, spent=" You have no calls left." if ending.is_spent else "")
        item, wrong = handed_in(talk, run, notice, lambda report: check(report, touched=touched))
        ended = {"marks": code.marks, "embedding": toolbox.session.payment.spent}
        return QuizEpisode(item, wrong, (recorded(begun, talk, item, wrong).model_copy(update=ended),))


def begun_by(
    model: LanguageModel,
    order: QuizOrder,
    run: Run,
    prompt: str,
    environment: Mapping[str, object],
    values: Mapping[str, object],
    temperature: float,
) -> Trajectory:
    """Return the trajectory that an episode begins with: its question is the order, its prompt has the environment."""
    text = prompt_of(prompt, PACKAGE)
    text = text._replace(system=Template(text.system).substitute(environment))
    question = Question(id=order.id, text=f"{' '.join(order.cell)}, from {order.seed}")
    sampling = Sampling(temperature=temperature, random_seed=run.random_seed + order.place)  # another for each place
    return begin(model, text, values, question=question, method="quiz", sampling=sampling)


def handed_in(
    talk: Conversation, run: Run, notice: str | None, check: Check
) -> tuple[QuizItem | None, tuple[Fault, ...]]:
    """Ask for a report, again where it cannot be kept; return the item that it makes, or why there is none."""
    item, wrong = _handed_in(talk, run, notice, check)
    if not wrong:
        return item, ()
    listed = "\n".join(f"- {fault.detail}" for fault in wrong)
    notice = f"This cannot be kept:\n{harmless(listed)}\nHand it in again, mended, whole."
    return _handed_in(talk, run, notice, check)


def probed(item: QuizItem, model: LanguageModel, run: Run, *, temperature: float = 0.0) -> tuple[bool, Trajectory]:
    """Tell whether a model answers an item rightly without tools or graph, and return the trajectory."""
    question, sampling = Question(id=item.id, text=item.question), Sampling(temperature=temperature)
    prompt = prompt_of("quiz-probe", PACKAGE)
    values = {"question": item.question}
    begun = begin(model, prompt, values, question=question, method="quiz: probe", sampling=sampling)
    reply, _, trajectory = ask(model, run, begun)
    answer = after_thinking(reply.message.content or "")
    return is_answered(answer, item), trajectory.model_copy(update={"answer": answer})


def recorded(begun: Trajectory, talk: Conversation, item: QuizItem | None, wrong: Sequence[Fault]) -> Trajectory:
    """Return the trajectory of an episode, with the item's question as its answer."""
    return begun.model_copy(
        update={
            "steps": tuple(talk.steps),
            "selected": item.clue_nodes if item is not None else (),
            "answer": item.question if item is not None else None,
            "notes": tuple(f"{fault.reason}: {fault.detail}" for fault in wrong),
        }
    )


def report_prompt(order: QuizOrder, *, spent: str = "") -> str:
    """Return the message that asks for a report."""
    answer_type = order.cell.answer_type
    text = prompt_of("quiz-report", PACKAGE).system
    return Template(text).substitute(spent=spent, answer=_ANSWERS[answer_type], form=FORMS[answer_type])


def _handed_in(
    talk: Conversation, run: Run, notice: str | None, check: Check
) -> tuple[QuizItem | None, tuple[Fault, ...]]:
    reply = talk.turn(run, notice=notice, schema=SCHEMA, offers_tools=False).reply
    try:
        report = decode(after_thinking(reply.message.content or ""))
    except ValueError as error:
        return None, (Fault("no report", f"It is no JSON: {error}."),)
    wrong = faults(report, SCHEMA)
    if wrong or not isinstance(report, dict):
        return None, (Fault("no report", f"It does not fit its form: {'; '.join(wrong)}."),)
    return check(report_of(report))
