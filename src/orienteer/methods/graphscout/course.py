"""One question's course: calls and what they give, turn by turn, until a reply answers in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orienteer.agents.agent import limit_of
from orienteer.agents.answer_line import AnswerLine, read
from orienteer.agents.dialect import Native, Qwen
from orienteer.errors import BudgetExhausted, ModelError
from orienteer.llm.calls import left_out
from orienteer.llm.conversation import Conversation, Turn
from orienteer.methods.graphscout.config import GraphScoutConfig
from orienteer.protocols import LanguageModel, Run
from orienteer.records import NOT_RUN, Observation, Reply, StoppedBy, Trajectory
from orienteer.tools.toolbox import Toolbox

NO_ANSWER = (
    "No tool was called, and no answer given. Call a tool, or end your reply with your answer in this form: "
    r"\answer{FINAL_ANSWER}"
)
EMPTY = r"Nothing stands in \answer{}. Call a tool, or put your answer between the braces."
CUT = "Your reply was cut off at the length limit: be shorter."
LAST_TURN = (
    "No tool call is left. Answer from what you have seen, and end your reply with your answer in this form: "
    r"\answer{FINAL_ANSWER}"
)
NO_MORE = "Not run: no tool call is left."
AGAIN = "Write each call again, right."
_FEIGNED = "the model wrote results of tools itself: they were left out"


class Course:
    """A model over a toolbox, for one question. Not shared among threads."""

    def __init__(
        self, model: LanguageModel, toolbox: Toolbox, config: GraphScoutConfig, run: Run, begun: Trajectory
    ) -> None:
        self._toolbox, self._config, self._run, self._begun = toolbox, config, run, begun
        self._talk = Conversation(
            model,
            begun.opening,
            sampling=begun.sampling,
            tools=begun.tools,
            dialect=Qwen() if config.calls == "text" else Native(reads_words=True),
            context_tokens=config.context_tokens,
        )
        self.notes: list[str] = []
        self.answer: AnswerLine | None = None
        """The answer, once a reply has given one that is not empty."""
        self._made = 0  # tool calls, and turns that made none
        toolbox.session.run = run

    def follow(self) -> Trajectory:
        """Return the trajectory to its end. A failure of the model ends it with the steps so far; ours propagate."""
        stopped_by: StoppedBy = "finish"
        error: str | None = None
        try:
            self._take_turns()
            if self.answer is None:
                stopped_by = "steps"
                self._last_turn()
        except BudgetExhausted as exhausted:
            stopped_by = limit_of(exhausted)
            error = self._rescue()
        except ModelError as failed:
            stopped_by, error = "error", str(failed)
        self.notes += self._toolbox.session.unpaid_notes()
        if self.answer is None and error is None:
            self.notes.append(r"the model gave no answer in \answer{}")
        return self._begun.model_copy(
            update={
                "steps": tuple(self._talk.steps),
                "answer": self.answer.text if self.answer else None,
                "stopped_by": stopped_by,
                "error": error,
                "notes": tuple(dict.fromkeys((*self.notes, *(self.answer.notes if self.answer else ())))),
                "embedding": self._toolbox.session.spent,
            }
        )

    def _take_turns(self) -> None:
        """Let the model call tools until it answers, or may call no more."""
        notice: str | None = None
        while self.answer is None and self._made < self._config.max_calls:
            turn = self._turn(self._run, notice)
            notice = self._judged(turn.reply, turn.broken)

    def _judged(self, reply: Reply, broken: Sequence[str]) -> str | None:
        """Take the answer of a reply that calls nothing, and return what the model is to be told."""
        calls = reply.message.tool_calls
        self._made += max(1, len(calls))
        cut = (CUT,) if reply.truncated else ()
        if broken:
            return "\n".join((*cut, *broken, AGAIN))
        if calls:
            return left_out(reply)
        found = read(reply.message.content or "")
        if found is None or (reply.truncated and not found.is_closed):
            return "\n".join((*cut, NO_ANSWER))
        if not found.text:
            return EMPTY
        self.answer = found
        return None

    def _turn(self, run: Run, notice: str | None, *, is_last: bool = False) -> Turn:
        """Ask once, and run what was called: in the last turn nothing is, for the answer may stand behind a call."""
        turn = self._talk.turn(
            run,
            notice=notice,
            offers_tools=not is_last,
            is_read=not is_last,
            observe=lambda reply: self._observed(reply, 0 if is_last else self._config.max_calls - self._made),
        )
        if turn.feigned:
            self.notes.append(_FEIGNED)
        return turn

    def _observed(self, reply: Reply, left: int) -> Iterator[Observation]:
        for place, call in enumerate(reply.message.tool_calls):
            yield self._toolbox.observe(call) if place < left else Observation(NO_MORE, error=NOT_RUN)

    def _rescue(self) -> str | None:
        """Let the model answer out of the budget's reserve; return what went wrong."""
        try:
            self._last_turn()
        except ModelError as failed:
            return str(failed)
        return None

    def _last_turn(self) -> None:
        """Ask for the answer, without tools; where no call is left for it there is none."""
        try:
            reply = self._turn(self._run.final(), LAST_TURN, is_last=True).reply
        except BudgetExhausted:
            return
        found = read(reply.message.content or "")
        self.answer = found if found is not None and found.text else None
