"""One agent: a model that calls tools until it finishes or may go no further."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from orienteer.agents.dialect import DIALECTS
from orienteer.errors import BudgetExhausted, ModelError
from orienteer.llm.calls import left_out
from orienteer.llm.conversation import ELISION, Conversation
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Message, Observation, Question, Reply, Sampling, StoppedBy, Trajectory
from orienteer.tools.toolbox import Toolbox

CALL_A_TOOL = "Nothing was called. Call one of the tools; call finish when the answer is complete."
LAST_TURN = (
    "The budget is spent: this is the last turn. Call add_to_answer with the nodes that answer the question best, "
    "best first. Nothing else will be run."
)


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
        talk = Conversation(
            self._model,
            opening,
            sampling=sampling,
            tools=self._toolbox.specs,
            dialect=DIALECTS["native"],
            agent=self._number,
            context_tokens=self._config.context_tokens,
        )
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
                reply = talk.turn(run, notice=notice, observe=self._observed).reply
                notice = left_out(reply) if reply.message.tool_calls else CALL_A_TOOL
                if self._toolbox.session.is_finished:
                    stopped_by = "finish"
                    break
        except BudgetExhausted as exhausted:
            stopped_by = limit_of(exhausted)
            error = self._last_turn(run, talk)
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
            toolbox=self._toolbox.spec,
            tools=self._toolbox.specs,
            opening=tuple(opening),
            elision=ELISION,
            steps=tuple(talk.steps),
            selected=tuple(graph.ids[row] for row in session.answer),
            stopped_by=stopped_by,
            error=error,
            notes=tuple(notes),
            embedding=session.spent,
        )

    def _observed(self, reply: Reply) -> Iterator[Observation]:
        return map(self._toolbox.observe, reply.message.tool_calls)

    def _last_turn(self, run: Run, talk: Conversation) -> str | None:
        """Let the model answer from what it has, out of the budget's reserve; return what went wrong."""
        if self._toolbox.session.is_finished:
            return None
        try:
            talk.turn(run.final(), notice=LAST_TURN, observe=self._observed)
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


def limit_of(exhausted: BudgetExhausted) -> StoppedBy:
    """Return a spent budget as the ending that it is."""
    for limit in ("calls", "tokens", "seconds", "usd", "interrupted"):
        if exhausted.limit == limit:
            return limit
    raise AssertionError(exhausted.limit)
