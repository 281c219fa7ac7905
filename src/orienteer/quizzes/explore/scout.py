"""One episode of a model that explores a graph and hands in a question. GraphScout (003), sections 3.3.2 to 3.3.4.

The course is the paper's: the schema and a node to begin from, calls of two tools, at most T of them, then the report.
Ours besides:

1. A report that cannot be kept is sent back once, with all that is wrong with it.
2. What passes every check is put to the model once more without tools or graph: answered rightly, it is dropped.
3. Where the model calls nothing any more, it has explored enough; nobody asks it whether.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from string import Template
from typing import NamedTuple

from orienteer.agents.dialect import DIALECTS, harmless
from orienteer.evaluation.quiz_item import QuizItem
from orienteer.graph.store import Graph
from orienteer.index.searchers import Mode
from orienteer.llm.conversation import ELISION, Conversation
from orienteer.llm.prompts import Prompt, prompt_of
from orienteer.llm.schema import decode, faults
from orienteer.llm.spoken import after_thinking
from orienteer.protocols import LanguageModel, Run
from orienteer.quizzes.explore.orders import QuizOrder, in_words
from orienteer.quizzes.explore.report import SCHEMA, CheckedReport, QuizReport, is_answered, report_of
from orienteer.quizzes.kinds import PACKAGE
from orienteer.quizzes.proof import FORMS, Fault
from orienteer.records import (
    NOT_RUN,
    JsonValue,
    Message,
    Observation,
    Question,
    Reply,
    Sampling,
    Step,
    ToolSpec,
    Trajectory,
)
from orienteer.retrieval.schema import describe
from orienteer.sandbox.tiers import Choice
from orienteer.tools.code import DIALECT, CodeConfig
from orienteer.tools.toolbox import Toolbox
from orienteer.tools.toolboxes import open_scouting

MAX_CALLS = 10  # GraphScout, 3.3.3: T
NO_MORE = "Not run: there are no calls left."
_ANSWERS = {
    "entity": "One thing: its name.",
    "boolean": "One word: True or False.",
    "number": "One number, in digits.",
    "set": "The names, each once.",
}
Check = Callable[[QuizReport], CheckedReport]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoutConfig:
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
    """What came of an order."""

    item: QuizItem | None
    faults: tuple[Fault, ...]
    """Why there is no item; the first one counts."""
    trajectories: tuple[Trajectory, ...]


class QuizTalk:
    """One talk with a model about a quiz: calls of tools, then the report."""

    def __init__(
        self,
        model: LanguageModel,
        run: Run,
        opening: Sequence[Message],
        sampling: Sampling,
        tools: Sequence[ToolSpec] = (),
    ) -> None:
        self._run, self.sampling, self.opening = run, sampling, tuple(opening)
        self._talk = Conversation(model, opening, sampling=sampling, tools=tools, dialect=DIALECTS["native"])

    @property
    def steps(self) -> list[Step]:
        """What was asked so far."""
        return self._talk.steps

    def say(self, toolbox: Toolbox, left: int) -> int:
        """Let the model call tools, at most so many, and return how many it called."""

        def observe(reply: Reply) -> Iterator[Observation]:
            for place, call in enumerate(reply.message.tool_calls):
                yield toolbox.observe(call) if place < left else Observation(NO_MORE, error=NOT_RUN)

        return len(self._talk.turn(self._run, observe=observe).reply.message.tool_calls)

    def hand_in(self, notice: str | None) -> dict[str, JsonValue] | str:
        """Ask for a report and return it, or what is wrong with its form."""
        reply = self._talk.turn(self._run, notice=notice, schema=SCHEMA, offers_tools=False).reply
        try:
            report = decode(after_thinking(reply.message.content or ""))
        except ValueError as error:
            return f"It is no JSON: {error}."
        wrong = faults(report, SCHEMA)
        return f"It does not fit its form: {'; '.join(wrong)}." if wrong or not isinstance(report, dict) else report

    def ask(self) -> str:
        """Return what the model says to the opening."""
        return after_thinking(self._talk.turn(self._run).reply.message.content or "")


class Scout:
    """Sends a model out over one graph. Safe among threads: each episode has a model, tools and a talk of its own."""

    def __init__(self, graph: Graph, config: ScoutConfig) -> None:
        """Raises `MissingExtra` without Cypher, or without the embedder of the graph's vectors."""
        self._graph, self._config = graph, config
        self._mode: Mode = "dense" if graph.searcher.has_vectors else "lexical"  # dense, as 3.2.2 has it
        graph.searcher(self._mode)
        described = describe(graph, None, has_code=True)._asdict()
        self._environment = {name: harmless(part) for name, part in described.items()}

    def explore(
        self, order: QuizOrder, model: LanguageModel, run: Run, check: Callable[..., CheckedReport]
    ) -> QuizEpisode:
        """Let a model explore from the order's node on, hand in a question and have it checked.

        `check(report, touched=ids)` judges a report. Raises `ModelError` and `BudgetExhausted`.
        """
        prompt = prompt_of("quiz-explore", PACKAGE)
        toolbox, code = open_scouting(
            self._graph, self._mode, CodeConfig(tier=self._config.tier, retry_cpython=self._config.retry_cpython)
        )
        assert code is not None
        toolbox.session.run = run
        talk = self._talk(prompt, order, model, run, toolbox, DIALECT if code.tier == "monty" else "")
        try:
            calls = self._explored(talk, toolbox)
        finally:
            toolbox.close()
        touched = {
            order.seed,
            *(node for step in talk.steps for observed in step.observations for node in observed.nodes),
        }
        spent = " You have no calls left." if calls >= self._config.max_calls else ""
        notice = report_prompt(order, spent=spent)
        item, wrong = handed_in(talk, notice, lambda report: check(report, touched=touched))
        trajectory = recorded(talk, order, model, prompt, item, wrong).model_copy(
            update={
                "toolbox": toolbox.spec,
                "tools": toolbox.specs,
                "marks": code.marks,
                "elision": ELISION,
                "embedding": toolbox.session.spent,
            }
        )
        return QuizEpisode(item, wrong, (trajectory,))

    def _talk(
        self, prompt: Prompt, order: QuizOrder, model: LanguageModel, run: Run, toolbox: Toolbox, dialect: str
    ) -> QuizTalk:
        system = Template(prompt.system).substitute(self._environment, calls=self._config.max_calls, dialect=dialect)
        user = Template(prompt.user).substitute(in_words(self._graph, order))
        opening = (Message(role="system", content=system), Message(role="user", content=user))
        return QuizTalk(model, run, opening, sampling_of(order, run, self._config.temperature), toolbox.specs)

    def _explored(self, talk: QuizTalk, toolbox: Toolbox) -> int:
        """Let the model call tools until it calls none, or may call no more; return how many it called."""
        calls, most = 0, self._config.max_calls
        while calls < most and (further := talk.say(toolbox, most - calls)):
            calls += further
        return calls


def handed_in(talk: QuizTalk, notice: str | None, check: Check) -> tuple[QuizItem | None, tuple[Fault, ...]]:
    """Ask for a report, once more where it cannot be kept, and return the item that it makes, or why there is none."""
    item, wrong = _judged(talk.hand_in(notice), check)
    if not wrong:
        return item, ()
    listed = "\n".join(f"- {fault.detail}" for fault in wrong)
    notice = f"This cannot be kept:\n{harmless(listed)}\nHand it in again, mended, whole."
    return _judged(talk.hand_in(notice), check)


def probed(item: QuizItem, model: LanguageModel, run: Run, *, temperature: float = 0.0) -> tuple[bool, Trajectory]:
    """Tell whether a model without tools and graph answers an item rightly, and how it went."""
    prompt = prompt_of("quiz-probe", PACKAGE)
    opening = (
        Message(role="system", content=prompt.system),
        Message(role="user", content=Template(prompt.user).substitute(question=item.question)),
    )
    talk = QuizTalk(model, run, opening, Sampling(temperature=temperature))
    answer = talk.ask()
    trajectory = Trajectory(
        question=Question(id=item.id, text=item.question),
        method="quiz: probe",
        model=model.name,
        prompt_hash=prompt.sha256,
        sampling=Sampling(temperature=temperature),
        opening=opening,
        steps=tuple(talk.steps),
        answer=answer,
    )
    return is_answered(answer, item), trajectory


def recorded(
    talk: QuizTalk,
    order: QuizOrder,
    model: LanguageModel,
    prompt: Prompt,
    item: QuizItem | None,
    wrong: Sequence[Fault],
) -> Trajectory:
    """Return the trajectory of a talk: the order is its question, the item's question its answer."""
    return Trajectory(
        question=Question(id=order.id, text=f"{' '.join(order.cell)}, from {order.seed}"),
        method="quiz",
        model=model.name,
        prompt_hash=prompt.sha256,
        sampling=talk.sampling,
        opening=talk.opening,
        steps=tuple(talk.steps),
        selected=item.clue_nodes if item is not None else (),
        answer=item.question if item is not None else None,
        notes=tuple(f"{fault.reason}: {fault.detail}" for fault in wrong),
    )


def report_prompt(order: QuizOrder, *, spent: str = "") -> str:
    """Return how a report is asked for."""
    answer_type = order.cell.answer_type
    text = prompt_of("quiz-report", PACKAGE).system
    return Template(text).substitute(spent=spent, answer=_ANSWERS[answer_type], form=FORMS[answer_type])


def sampling_of(order: QuizOrder, run: Run, temperature: float) -> Sampling:
    """Return how a model chooses its words in an episode: another seed for each place of the quiz."""
    return Sampling(temperature=temperature, random_seed=run.random_seed + order.place)


def _judged(report: dict[str, JsonValue] | str, check: Check) -> tuple[QuizItem | None, tuple[Fault, ...]]:
    if isinstance(report, str):
        return None, (Fault("no report", report),)
    return check(report_of(report))
