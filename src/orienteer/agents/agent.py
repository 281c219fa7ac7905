"""One agent: a model that calls tools until it finishes or may go no further."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from orienteer.errors import BudgetExhausted, ModelError
from orienteer.llm.calls import left_out, metered
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Message, Observed, Question, Reply, Sampling, Step, StoppedBy, Trajectory
from orienteer.tools.toolbox import Toolbox

CALL_A_TOOL = "Nothing was called. Call one of the tools; call finish when the answer is complete."
LAST_TURN = (
    "The budget is spent: this is the last turn. Call add_to_answer with the nodes that answer the question best, "
    "best first. Nothing else will be run."
)
ELIDED = "[left out to save room: call the tool again where this is needed]"
_CHARACTERS_A_TOKEN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConfig:
    """How far one agent may go."""

    max_steps: int = 20
    """Steps before an agent is stopped. The paper's T_max (ARK, appendix A.2)."""
    context_tokens: int = 24_000
    """Size of a request; beyond it the oldest observations are left out."""
    takes_last_set: bool = True
    """An agent that ends without an answer gives its last result, marked so."""


class Agent:
    """One model over one toolbox."""

    def __init__(
        self,
        model: LanguageModel,
        toolbox: Toolbox,
        config: AgentConfig,
        *,
        number: int = 0,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        """`number` is which of several agents this is; its steps say so."""
        self._model, self._toolbox, self._config, self._number = model, toolbox, config, number
        self._should_stop = should_stop or (lambda: False)
        self._messages: list[Message] = []
        self._steps: list[Step] = []
        self._elided: set[str] = set()

    def explore(
        self,
        question: Question,
        run: Run,
        *,
        method: str,
        opening: Sequence[Message],
        prompt_hash: str | None,
        sampling: Sampling,
    ) -> Trajectory:
        """Run until the end. A failure of the model ends the trajectory with the steps so far; ours propagate."""
        self._messages = list(opening)
        self._toolbox.session.run = run
        stopped_by: StoppedBy = "steps"
        error: str | None = None
        notes: list[str] = []
        is_early = False
        notice: str | None = None
        try:
            for _ in range(self._config.max_steps):
                if self._should_stop():
                    stopped_by = "finish"
                    notes.append("stopped early: the other agents agree")
                    is_early = True
                    break
                reply = self._turn(run, sampling, notice)
                notice = left_out(reply) if reply.message.tool_calls else CALL_A_TOOL
                if self._toolbox.session.is_finished:
                    stopped_by = "finish"
                    break
        except BudgetExhausted as exhausted:
            stopped_by = limit_of(exhausted)
            error = self._last_turn(run, sampling)
        except ModelError as failed:
            stopped_by, error = "error", str(failed)
        if not is_early:
            self._settle(notes)
        graph, session = self._toolbox.session.graph, self._toolbox.session
        notes += session.unpaid_notes()
        return Trajectory(
            question=question,
            method=method,
            model=self._model.name,
            prompt_hash=prompt_hash,
            sampling=sampling,
            tools=self._toolbox.specs,
            opening=tuple(opening),
            steps=tuple(self._steps),
            selected=tuple(graph.ids[row] for row in session.answer),
            stopped_by=stopped_by,
            error=error,
            notes=tuple(notes),
            search_mode=session.mode,
            embedding=session.spent,
        )

    def _turn(self, run: Run, sampling: Sampling, notice: str | None) -> Reply:
        """Ask once, run what was called, record both."""
        began = time.monotonic()
        asked = [*self._messages, Message(role="user", content=notice)] if notice else self._messages
        fit(asked, self._elided, self._config.context_tokens)
        reply = metered(
            self._model,
            elide(asked, self._elided),
            run=run,
            tools=self._toolbox.specs,
            schema=None,
            sampling=sampling,
        )
        reply = reply.model_copy(update={"message": renamed(reply.message, self._messages)})
        self._messages = [*asked, reply.message]
        observed: list[Observed] = []
        try:
            for call in reply.message.tool_calls:
                found = self._toolbox.observe(call)
                observed.append(Observed(call_id=call.id, text=found.text, nodes=found.nodes, error=found.error))
                self._messages.append(Message(role="tool", content=found.text, tool_call_id=call.id))
        finally:  # a step whose search failed has been paid for
            step = Step(
                reply=reply,
                observations=tuple(observed),
                elided=tuple(sorted(self._elided)),
                notice=notice,
                seconds=time.monotonic() - began,
                agent=self._number,
            )
            self._steps.append(step)
            run.tell(step)
        return reply

    def _last_turn(self, run: Run, sampling: Sampling) -> str | None:
        """Let the model answer from what it has, out of the budget's reserve; return what went wrong."""
        if self._toolbox.session.is_finished:
            return None
        try:
            self._turn(run.final(), sampling, LAST_TURN)
        except BudgetExhausted:
            return None
        except ModelError as failed:
            return str(failed)
        return None

    def _settle(self, notes: list[str]) -> None:
        """Take the last result where nothing was chosen: forgetting to add is no reason to lose what was found."""
        session = self._toolbox.session
        last = session.last()
        if session.answer or last is None or not self._config.takes_last_set or session.is_finished:
            return
        session.answer += session.ranked(last, [])[:20]
        notes.append(f"nothing was added to the answer: the first nodes of the last result {last} stand for it")


def elide(messages: Sequence[Message], call_ids: set[str] | frozenset[str]) -> tuple[Message, ...]:
    """Return messages with the observations of these calls left out."""
    return tuple(
        message.model_copy(update={"content": ELIDED}) if message.tool_call_id in call_ids else message
        for message in messages
    )


def requests(trajectory: Trajectory) -> Iterator[tuple[Message, ...]]:
    """Return the messages of every request, exactly as they were sent."""
    messages = list(trajectory.opening)
    for step in trajectory.steps:
        if step.notice:
            messages.append(Message(role="user", content=step.notice))
        yield elide(messages, set(step.elided))
        messages.append(step.reply.message)
        messages += [Message(role="tool", content=one.text, tool_call_id=one.call_id) for one in step.observations]


def renamed(message: Message, earlier: Sequence[Message]) -> Message:
    """Return a reply whose calls have ids of their own: some servers begin anew in every reply."""
    used = {call.id for one in earlier for call in one.tool_calls}
    calls = []
    for call in message.tool_calls:
        name, number = call.id, 2
        while name in used:
            name, number = f"{call.id}_{number}", number + 1
        used.add(name)
        calls.append(call.model_copy(update={"id": name}))
    return message.model_copy(update={"tool_calls": tuple(calls)})


def fit(messages: Sequence[Message], elided: set[str], context_tokens: int) -> None:
    """Add the calls of the oldest observations to those left out until the request fits."""
    size = sum(_size(message) for message in elide(messages, elided))
    for message in messages:
        if size <= context_tokens * _CHARACTERS_A_TOKEN:
            return
        if message.role == "tool" and message.tool_call_id and message.tool_call_id not in elided:
            elided.add(message.tool_call_id)
            size -= max(0, _size(message) - len(ELIDED))


def limit_of(exhausted: BudgetExhausted) -> StoppedBy:
    """Return a spent budget as the ending that it is."""
    for limit in ("calls", "tokens", "seconds", "usd", "interrupted"):
        if exhausted.limit == limit:
            return limit
    raise AssertionError(exhausted.limit)


def _size(message: Message) -> int:
    return len(message.content or "") + sum(len(call.arguments) + len(call.name) for call in message.tool_calls)
