"""One episode of a model that explores a graph and hands in a question. GraphScout (003), sections 3.3.2 to 3.3.4.

The course is the paper's: the schema and a node to begin from, calls of two tools, at most T of them, then the report.
Ours besides:

1. A report that cannot be kept is sent back once, with all that is wrong with it.
2. What passes every check is put to the model once more without tools or graph: answered rightly, it is dropped.
3. Where the model calls nothing any more, it has explored enough; nobody asks it whether.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import Template
from typing import NamedTuple

from orienteer.agents.dialect import harmless
from orienteer.evaluation.quiz_item import QuizItem
from orienteer.graph.store import Graph
from orienteer.index.searchers import Mode
from orienteer.llm.calls import metered
from orienteer.llm.prompts import Prompt, prompt_of
from orienteer.llm.schema import decode, faults
from orienteer.llm.spoken import after_thinking
from orienteer.protocols import LanguageModel, Run
from orienteer.quizzes.explore.orders import in_words
from orienteer.quizzes.explore.report import SCHEMA, Checked, Order, Report, is_answered, report_of
from orienteer.quizzes.kinds import PACKAGE
from orienteer.quizzes.proof import FORMS, Fault
from orienteer.records import NOT_RUN, JsonValue, Message, Observed, Question, Reply, Sampling, Step, Trajectory
from orienteer.retrieval.schema import describe
from orienteer.sandbox.tiers import Choice
from orienteer.tools.code import DIALECT, CodeConfig, CodeInterpreter
from orienteer.tools.node_ids import NodeIdRetriever
from orienteer.tools.session import Session
from orienteer.tools.toolbox import Toolbox

MAX_CALLS = 10  # GraphScout, 3.3.3: T
NO_MORE = "Not run: there are no calls left."
_ANSWERS = {
    "entity": "One thing: its name.",
    "boolean": "One word: True or False.",
    "number": "One number, in digits.",
    "set": "The names, each once.",
}
Check = Callable[[Report], Checked]


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


class Episode(NamedTuple):
    """What came of an order."""

    item: QuizItem | None
    faults: tuple[Fault, ...]
    """Why there is no item; the first one counts."""
    trajectories: tuple[Trajectory, ...]


class Conversation:
    """One talk with a model, recorded as it goes: every request can be read off its trajectory.

    But for marks of the protocol in observations, which are recorded as the tool gave them.
    """

    def __init__(self, model: LanguageModel, run: Run, opening: Sequence[Message], sampling: Sampling) -> None:
        self._model, self._run, self.sampling = model, run, sampling
        self.opening = tuple(opening)
        self.messages = list(opening)
        self.steps: list[Step] = []

    def say(self, toolbox: Toolbox, left: int) -> int:
        """Let the model call tools, at most so many, and return how many it called."""
        began = time.monotonic()
        reply = metered(
            self._model, self.messages, run=self._run, tools=toolbox.specs, schema=None, sampling=self.sampling
        )
        reply = _renamed(reply, len(self.steps))
        observed = [
            _observed(toolbox, reply, place, is_left=place < left) for place in range(len(reply.message.tool_calls))
        ]
        self.messages += [reply.message, *(_as_message(one) for one in observed)]
        self._keep(Step(reply=reply, observations=tuple(observed), seconds=time.monotonic() - began))
        return len(reply.message.tool_calls)

    def hand_in(self, notice: str | None) -> dict[str, JsonValue] | str:
        """Ask for a report and return it, or what is wrong with its form."""
        began = time.monotonic()
        if notice is not None:
            self.messages.append(Message(role="user", content=notice))
        reply = metered(self._model, self.messages, run=self._run, tools=(), schema=SCHEMA, sampling=self.sampling)
        self.messages.append(reply.message)
        self._keep(Step(reply=reply, notice=notice, seconds=time.monotonic() - began))
        try:
            said = decode(after_thinking(reply.message.content or ""))
        except ValueError as error:
            return f"It is no JSON: {error}."
        wrong = faults(said, SCHEMA)
        return f"It does not fit its form: {'; '.join(wrong)}." if wrong or not isinstance(said, dict) else said

    def ask(self) -> str:
        """Return what the model says to the opening."""
        began = time.monotonic()
        reply = metered(self._model, self.messages, run=self._run, tools=(), schema=None, sampling=self.sampling)
        self._keep(Step(reply=reply, seconds=time.monotonic() - began))
        return after_thinking(reply.message.content or "")

    def _keep(self, step: Step) -> None:
        self.steps.append(step)
        self._run.tell(step)


class Scout:
    """Sends a model out over one graph. Safe among threads: each episode has a model, tools and a talk of its own."""

    def __init__(self, graph: Graph, config: ScoutConfig) -> None:
        """Raises `MissingExtra` without Cypher, or without the embedder of the graph's vectors."""
        self._graph, self._config = graph, config
        self._mode: Mode = "dense" if graph.searcher.has_vectors else "lexical"  # dense, as 3.2.2 has it
        graph.searcher(self._mode)
        described = describe(graph, None, has_code=True)._asdict()
        self._environment = {name: harmless(part) for name, part in described.items()}

    def explore(self, order: Order, model: LanguageModel, run: Run, check: Callable[..., Checked]) -> Episode:
        """Let a model explore from the order's node on, hand in a question and have it checked.

        `check(report, touched=ids)` judges a report. Raises `ModelError` and `BudgetExhausted`.
        """
        prompt = prompt_of("quiz-explore", PACKAGE)
        session = Session(self._graph, saves_sets=False, mode=self._mode)
        session.run = run
        code = CodeInterpreter(session, CodeConfig(tier=self._config.tier, retry_cpython=self._config.retry_cpython))
        toolbox = Toolbox(session, (code, NodeIdRetriever(session)))
        talk = self._talk(prompt, order, model, run, DIALECT if code.tier == "monty" else "")
        try:
            calls = self._explored(talk, toolbox)
        finally:
            code.close()
        touched = {order.seed, *(node for step in talk.steps for one in step.observations for node in one.nodes)}
        spent = " You have no calls left." if calls >= self._config.max_calls else ""
        notice = report_prompt(order, spent=spent)
        item, wrong = handed_in(talk, notice, lambda report: check(report, touched=touched))
        told = recorded(talk, order, model, prompt, item, wrong).model_copy(
            update={
                "tools": toolbox.specs,
                "marks": code.marks,
                "embedding": session.spent,
                "search_mode": session.mode,
            }
        )
        return Episode(item, wrong, (told,))

    def _talk(self, prompt: Prompt, order: Order, model: LanguageModel, run: Run, dialect: str) -> Conversation:
        system = Template(prompt.system).substitute(self._environment, calls=self._config.max_calls, dialect=dialect)
        user = Template(prompt.user).substitute(in_words(self._graph, order))
        opening = (Message(role="system", content=system), Message(role="user", content=user))
        return Conversation(model, run, opening, sampling_of(order, run, self._config.temperature))

    def _explored(self, talk: Conversation, toolbox: Toolbox) -> int:
        """Let the model call tools until it calls none, or may call no more; return how many it called."""
        calls, most = 0, self._config.max_calls
        while calls < most and (made := talk.say(toolbox, most - calls)):
            calls += made
        return calls


def handed_in(talk: Conversation, notice: str | None, check: Check) -> tuple[QuizItem | None, tuple[Fault, ...]]:
    """Ask for a report, once more where it cannot be kept, and return the item that it makes, or why there is none."""
    item, wrong = _judged(talk.hand_in(notice), check)
    if not wrong:
        return item, ()
    listed = "\n".join(f"- {one.detail}" for one in wrong)
    notice = f"This cannot be kept:\n{harmless(listed)}\nHand it in again, mended, whole."
    return _judged(talk.hand_in(notice), check)


def probed(item: QuizItem, model: LanguageModel, run: Run, *, temperature: float = 0.0) -> tuple[bool, Trajectory]:
    """Tell whether a model without tools and graph answers an item rightly, and how it went."""
    prompt = prompt_of("quiz-probe", PACKAGE)
    opening = (
        Message(role="system", content=prompt.system),
        Message(role="user", content=Template(prompt.user).substitute(question=item.question)),
    )
    talk = Conversation(model, run, opening, Sampling(temperature=temperature))
    said = talk.ask()
    told = Trajectory(
        question=Question(id=item.id, text=item.question),
        method="quiz: probe",
        model=model.name,
        prompt_hash=prompt.sha256,
        sampling=Sampling(temperature=temperature),
        opening=opening,
        steps=tuple(talk.steps),
        answer=said,
    )
    return is_answered(said, item), told


def recorded(
    talk: Conversation,
    order: Order,
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
        notes=tuple(f"{one.reason}: {one.detail}" for one in wrong),
    )


def report_prompt(order: Order, *, spent: str = "") -> str:
    """Return how a report is asked for."""
    answer_type = order.cell.answer_type
    text = prompt_of("quiz-report", PACKAGE).system
    return Template(text).substitute(spent=spent, answer=_ANSWERS[answer_type], form=FORMS[answer_type])


def sampling_of(order: Order, run: Run, temperature: float) -> Sampling:
    """Return how a model chooses its words in an episode: another seed for each place of the quiz."""
    return Sampling(temperature=temperature, random_seed=run.random_seed + order.place)


def _judged(said: dict[str, JsonValue] | str, check: Check) -> tuple[QuizItem | None, tuple[Fault, ...]]:
    if isinstance(said, str):
        return None, (Fault("no report", said),)
    return check(report_of(said))


def _renamed(reply: Reply, step: int) -> Reply:
    """Give each call an id of its own: some servers begin anew in every reply."""
    calls = [
        call.model_copy(update={"id": f"call_{step + 1}_{place}"})
        for place, call in enumerate(reply.message.tool_calls, 1)
    ]
    return reply.model_copy(update={"message": reply.message.model_copy(update={"tool_calls": tuple(calls)})})


def _observed(toolbox: Toolbox, reply: Reply, place: int, *, is_left: bool) -> Observed:
    call = reply.message.tool_calls[place]
    if not is_left:
        return Observed(call_id=call.id, text=NO_MORE, error=NOT_RUN)
    found = toolbox.observe(call)
    return Observed(call_id=call.id, text=found.text, nodes=found.nodes, error=found.error)


def _as_message(one: Observed) -> Message:
    """Return an observation as the model is sent it: what looks like a mark of the protocol in a text is none."""
    return Message(role="tool", content=harmless(one.text), tool_call_id=one.call_id)
