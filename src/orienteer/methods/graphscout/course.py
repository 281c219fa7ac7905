"""One question's course: calls and what they give, turn by turn, until a reply answers in words."""

from __future__ import annotations

import time
from collections.abc import Sequence

from orienteer.agents.agent import elide, fit, limit_of, renamed
from orienteer.agents.answer_line import AnswerLine, read
from orienteer.agents.dialect import Heard, heard, plainly, written
from orienteer.errors import BudgetExhausted, ModelError
from orienteer.llm.calls import left_out, metered
from orienteer.methods.graphscout.config import GraphScoutConfig
from orienteer.protocols import LanguageModel, Run
from orienteer.records import NOT_RUN, Message, Observation, Observed, Reply, Step, StoppedBy, ToolCall, Trajectory
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

    def __init__(self, model: LanguageModel, toolbox: Toolbox, config: GraphScoutConfig, run: Run) -> None:
        self._model, self._toolbox, self._config, self._run = model, toolbox, config, run
        self.steps: list[Step] = []
        self.notes: list[str] = []
        self.answer: AnswerLine | None = None
        """The answer, once a reply has given one that is not empty."""
        self._messages: list[Message] = []
        self._elided: set[str] = set()
        self._made = 0  # tool calls, and turns that made none
        toolbox.session.run = run

    def follow(self, begun: Trajectory) -> Trajectory:
        """Return the trajectory to its end. A failure of the model ends it with the steps so far; ours propagate."""
        self._messages = list(begun.opening)
        stopped_by: StoppedBy = "finish"
        error: str | None = None
        try:
            self._take_turns(begun)
            if self.answer is None:
                stopped_by = "steps"
                self._last_turn(begun)
        except BudgetExhausted as exhausted:
            stopped_by = limit_of(exhausted)
            error = self._rescue(begun)
        except ModelError as failed:
            stopped_by, error = "error", str(failed)
        self.notes += self._toolbox.session.unpaid_notes()
        if self.answer is None and error is None:
            self.notes.append(r"the model gave no answer in \answer{}")
        return begun.model_copy(
            update={
                "steps": tuple(self.steps),
                "answer": self.answer.text if self.answer else None,
                "stopped_by": stopped_by,
                "error": error,
                "notes": tuple(dict.fromkeys((*self.notes, *(self.answer.notes if self.answer else ())))),
                "embedding": self._toolbox.session.spent,
            }
        )

    def _take_turns(self, begun: Trajectory) -> None:
        """Let the model call tools until it answers, or may call no more."""
        notice: str | None = None
        while self.answer is None and self._made < self._config.max_calls:
            reply, broken = self._turn(self._run, begun, notice)
            notice = self._judged(reply, broken)

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

    def _turn(
        self, run: Run, begun: Trajectory, notice: str | None, *, is_last: bool = False
    ) -> tuple[Reply, tuple[str, ...]]:
        """Ask once, run what was called, record both; return the reply, and what of it could not be read."""
        began = time.monotonic()
        asked = [*self._messages, Message(role="user", content=notice)] if notice else self._messages
        fit(asked, self._elided, self._config.context_tokens)
        reply = self._asked(run, begun, elide(asked, self._elided), is_last=is_last)
        # In the last turn words count alone: no call is run, and the answer may stand behind one.
        said = Heard(reply.message) if is_last else heard(reply.message, turn=len(self.steps))
        message, more = renamed(said.message, self._messages), reply.calls_left_out + said.left_out
        reply = reply.model_copy(update={"message": message, "calls_left_out": more})
        self._messages = [*asked, reply.message]
        if said.feigned:
            self.notes.append(_FEIGNED)
        observed: list[Observed] = []
        try:
            left = 0 if is_last else self._config.max_calls - self._made
            for place, call in enumerate(reply.message.tool_calls):
                found = self._observed(call, is_left=place < left)
                observed.append(Observed(call_id=call.id, text=found.text, nodes=found.nodes, error=found.error))
                self._messages.append(Message(role="tool", content=found.text, tool_call_id=call.id))
        finally:  # a step whose call failed has been paid for
            step = Step(
                reply=reply,
                observations=tuple(observed),
                elided=tuple(sorted(self._elided)),
                notice=notice,
                seconds=time.monotonic() - began,
                unread=len(said.broken),
            )
            self.steps.append(step)
            run.tell(step)
        return reply, said.broken

    def _asked(self, run: Run, begun: Trajectory, messages: Sequence[Message], *, is_last: bool) -> Reply:
        """Return the model's reply; the tools are offered as configured, and not in the last turn."""
        tools = () if is_last else begun.tools
        if self._config.calls == "text":
            messages, tools = written(messages, begun.tools), ()
        else:
            messages = plainly(messages)
        return metered(self._model, messages, run=run, tools=tools, schema=None, sampling=begun.sampling)

    def _observed(self, call: ToolCall, *, is_left: bool) -> Observation:
        return self._toolbox.observe(call) if is_left else Observation(NO_MORE, error=NOT_RUN)

    def _rescue(self, begun: Trajectory) -> str | None:
        """Let the model answer out of the budget's reserve; return what went wrong."""
        try:
            self._last_turn(begun)
        except ModelError as failed:
            return str(failed)
        return None

    def _last_turn(self, begun: Trajectory) -> None:
        """Ask for the answer, without tools; where no call is left for it there is none."""
        try:
            reply, _ = self._turn(self._run.final(), begun, LAST_TURN, is_last=True)
        except BudgetExhausted:
            return
        found = read(reply.message.content or "")
        self.answer = found if found is not None and found.text else None
