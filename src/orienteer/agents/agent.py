"""One agent: a model that calls tools until its course ends or may go no further."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from orienteer.agents.dialect import DIALECTS
from orienteer.agents.endings import Ending
from orienteer.errors import BudgetExhausted, ModelError
from orienteer.llm.conversation import Conversation, Dialect, Turn
from orienteer.llm.exchange import ending_of
from orienteer.protocols import LanguageModel, Run
from orienteer.records import NOT_RUN, Observation, Reply, StoppedBy, Trajectory
from orienteer.tools.toolbox import Toolbox

CONTEXT_TOKENS = 24_000
"""Size of a request; beyond it the oldest observations are left out."""
NO_MORE = "Not run: no tool call is left."
_FEIGNED = "the model wrote results of tools itself: they were left out"


class Agent:
    """One model over one toolbox, for one course. Not shared among threads."""

    def __init__(
        self,
        model: LanguageModel,
        toolbox: Toolbox,
        ending: Ending,
        *,
        dialect: Dialect = DIALECTS["native"],
        context_tokens: int | None = CONTEXT_TOKENS,
        number: int = 0,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        """`number` is which of several agents this is; its steps say so."""
        self._model, self._toolbox, self._ending, self._number = model, toolbox, ending, number
        self._dialect, self._context_tokens, self._should_stop = dialect, context_tokens, should_stop
        self._notes: list[str] = []

    def explore(self, begun: Trajectory, run: Run) -> Trajectory:
        """Run until the end. A failure of the model ends the trajectory with the steps so far; ours propagate."""
        talk, ending, session = self.begin(begun, run), self._ending, self._toolbox.session
        stopped_by: StoppedBy = "finish"
        error: str | None = None
        is_early = False
        try:
            is_early = self.walk(talk, run)
            if not is_early and not ending.is_reached:
                stopped_by = "steps"
                if ending.last is not None and ending.last.is_after_steps:
                    self._last_turn(talk, run)
        except BudgetExhausted as exhausted:
            stopped_by, error = ending_of(exhausted), self._rescue(talk, run)
        except ModelError as failed:
            stopped_by, error = "error", str(failed)
        answer, notes = (None, ()) if is_early else ending.settle()
        self._notes += [*notes, *session.unpaid_notes()]
        return begun.model_copy(
            update={
                "steps": tuple(talk.steps),
                "selected": tuple(session.graph.ids[row] for row in session.answer),
                "answer": answer,
                "stopped_by": stopped_by,
                "error": error,
                "notes": tuple(dict.fromkeys(self._notes)),
                "embedding": session.spent,
            }
        )

    def begin(self, begun: Trajectory, run: Run) -> Conversation:
        """Return the talk that a trajectory without steps opens; its searches are paid from the run."""
        self._toolbox.session.run = run
        return Conversation(
            self._model,
            begun.opening,
            sampling=begun.sampling,
            tools=begun.tools,
            dialect=self._dialect,
            agent=self._number,
            context_tokens=self._context_tokens,
        )

    def walk(self, talk: Conversation, run: Run) -> bool:
        """Take turns until the course has ended; return whether it was stopped before.

        Raises `BudgetExhausted`, `ModelError`.
        """
        notice: str | None = None
        while not self._ending.is_reached and not self._ending.is_spent:
            if self._should_stop():
                self._notes.append("stopped early: the other agents agree")
                return True
            notice = self._ending.hear(self._turn(talk, run, notice))
        return False

    def _turn(self, talk: Conversation, run: Run, notice: str | None, *, runs_calls: bool = True) -> Turn:
        left = self._ending.calls_left if runs_calls else 0

        def observe(reply: Reply) -> Iterator[Observation]:
            for place, call in enumerate(reply.message.tool_calls):
                is_left = left is None or place < left
                yield self._toolbox.observe(call) if is_left else Observation(NO_MORE, error=NOT_RUN)

        turn = talk.turn(run, notice=notice, offers_tools=runs_calls, is_read=runs_calls, observe=observe)
        if turn.feigned:
            self._notes.append(_FEIGNED)
        return turn

    def _rescue(self, talk: Conversation, run: Run) -> str | None:
        """Let the model answer from what it has; return what went wrong."""
        try:
            self._last_turn(talk, run)
        except ModelError as failed:
            return str(failed)
        return None

    def _last_turn(self, talk: Conversation, run: Run) -> None:
        """Ask for the answer, out of the budget's reserve; where no call is left for it there is none."""
        last = self._ending.last
        if last is None or self._ending.is_reached:
            return
        try:
            turn = self._turn(talk, run.final(), last.notice, runs_calls=last.offers_tools)
        except BudgetExhausted:
            return
        self._ending.hear(turn, is_last=True)
