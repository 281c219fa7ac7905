"""One agent, a model that calls tools in turns, and the three ways in which its course can end.

A course ends with the tool `finish`, with an answer in a line, or when the model explores no further, as its method
chooses.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import NamedTuple

from orienteer.agents.dialect import DIALECTS, Terse, room_for
from orienteer.errors import BudgetExhausted, DatabaseAway, ModelError
from orienteer.llm.conversation import Conversation, Dialect, Turn, ending_of, left_out
from orienteer.llm.spoken import closing_brace, unstyled
from orienteer.protocols import LanguageModel, Run, manner_of
from orienteer.records import NOT_RUN, Observation, Reply, StoppedBy, Trajectory
from orienteer.tools.session import Session
from orienteer.tools.toolbox import COMPACT, NamesOfQuestion, Toolbox, failure_notes, names_in

CONTEXT_TOKENS = 24_000
"""Size of a request; beyond it the oldest observations are left out."""
NO_MORE = "Not run: no tool call is left."
_FEIGNED = "the model wrote results of tools itself: they were left out"
CALL_A_TOOL = "Nothing was called. Call one of the tools; call finish when the answer is complete."
LAST_TURN = (
    "The budget is spent: this is the last turn. Call add_to_answer with the nodes that answer the question best, "
    "best first. Nothing else will be run."
)
LAST_CALL = LAST_TURN.replace("The budget is spent", "Your replies call nothing")
# Replies without a call, one after another, after which a model only talks. Before its first call there is one more,
# for a client may ask in another way after two (`OpenAIModel`).
_MOST_PROSE = 2
_ONLY_TALKS = "the model called no tool any more: what it had added is its answer, or was asked for at once"
NO_ANSWER = (
    "No tool was called, and no answer given. Call a tool, or end your reply with your answer in this form: "
    r"\answer{FINAL_ANSWER}"
)
EMPTY = r"Nothing stands in \answer{}. Call a tool, or put your answer between the braces."
CUT = "Your reply was cut off at the length limit: be shorter."
ANSWER_NOW = (
    "No tool call is left. Answer from what you have seen, and end your reply with your answer in this form: "
    r"\answer{FINAL_ANSWER}"
)
AGAIN = "Write each call again, right."


class Agent:
    """One model with one toolbox, for one course. Not safe to share among threads."""

    def __init__(
        self,
        model: LanguageModel,
        toolbox: Toolbox,
        ending: Ending,
        *,
        dialect: Dialect | None = None,
        context_tokens: int | None = CONTEXT_TOKENS,
        number: int = 0,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        """`number` distinguishes agents, from 0; every step of the record has it.

        Without a dialect the agent speaks that of the trajectory that it begins with. Without `context_tokens` its
        requests are whole, however long they are.
        """
        self._model, self._toolbox, self._ending, self._number = model, toolbox, ending, number
        self._dialect, self._context_tokens, self._should_stop = dialect, context_tokens, should_stop
        self._notes: list[str] = []
        self._speaks, self._names = dialect, NamesOfQuestion()

    def explore(self, begun: Trajectory, run: Run) -> Trajectory:
        """Run to the end; if the model or a database fails, return the steps so far. Our own errors propagate."""
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
            stopped_by = ending_of(exhausted)
            try:  # let the model answer from what it has seen
                self._last_turn(talk, run)
            except (DatabaseAway, ModelError) as failed:
                error = str(failed)
        except ModelError as failed:
            stopped_by, error = "error", str(failed)
        except DatabaseAway as away:
            # Nothing can be looked up any more: what was chosen so far stays as it is.
            stopped_by, error, is_early = "error", str(away), True
        answer, notes = (None, ()) if is_early else ending.settle()
        self._notes += [*notes, *session.payment.unpaid_notes(), *failure_notes(talk.steps)]
        return begun.model_copy(
            update={
                "steps": tuple(talk.steps),
                "selected": tuple(session.graph.arrays.ids[row] for row in session.answer),
                "answer": answer,
                "stopped_by": stopped_by,
                "error": error,
                "notes": tuple(dict.fromkeys(self._notes)),
                "embedding": session.payment.spent,
            }
        )

    def begin(self, begun: Trajectory, run: Run) -> Conversation:
        """Return the conversation that a trajectory without steps opens. The run pays for its searches."""
        self._toolbox.session.payment.run = run
        self._speaks = self._dialect or DIALECTS[begun.dialect]
        if self._has_schema:
            self._names = names_in(begun.question.text, self._toolbox.session.graph)
        return Conversation(
            self._model,
            begun.opening,
            sampling=begun.sampling,
            tools=begun.tools,
            dialect=self._speaks,
            agent=self._number,
            context_tokens=self._context_tokens and room_for(self._model, begun.tools, self._context_tokens),
        )

    def walk(self, talk: Conversation, run: Run) -> bool:
        """Take turns until the course ends; return True if `should_stop` ended it early.

        Raises `BudgetExhausted`, `ModelError`.
        """
        notice: str | None = None
        while not self._ending.is_reached and not self._ending.is_spent:
            if self._should_stop():
                self._notes.append("stopped early: the other agents agree")
                return True
            notice = self._ending.observe(self._turn(talk, run, notice))
        return False

    def _turn(self, talk: Conversation, run: Run, notice: str | None, *, runs_calls: bool = True) -> Turn:
        left = self._ending.calls_left if runs_calls else 0

        def observe(reply: Reply) -> Iterator[Observation]:
            for place, call in enumerate(reply.message.tool_calls):
                is_left = left is None or place < left
                yield self._toolbox.observe(call) if is_left else Observation(NO_MORE, error=NOT_RUN)

        schema = Terse.call_schema(self._toolbox.offered(self._names)) if runs_calls and self._has_schema else None
        turn = talk.turn(
            run, notice=notice, schema=schema, offers_tools=runs_calls, is_read=runs_calls, observe=observe
        )
        if turn.feigned:
            self._notes.append(_FEIGNED)
        return turn

    @property
    def _has_schema(self) -> bool:
        """Return whether a schema limits replies to calls: for the compact tools, whose course it can follow."""
        spec = self._toolbox.spec
        is_compact = spec is not None and spec.name == COMPACT and isinstance(self._speaks, Terse)
        return is_compact and manner_of(self._model).keeps_schema

    def _last_turn(self, talk: Conversation, run: Run) -> None:
        """Ask for the answer, paid from the budget's reserve. If the reserve is spent too, nothing is asked."""
        last = self._ending.last
        if last is None or self._ending.is_reached:
            return
        try:
            turn = self._turn(talk, run.final(), last.notice, runs_calls=last.offers_tools)
        except BudgetExhausted:
            return
        self._ending.observe(turn, is_last=True)


class LastTurn(NamedTuple):
    """How the last turn is asked for."""

    notice: str
    offers_tools: bool
    """Whether calls are run. If not, only the words of the reply count, even those after a call."""
    is_after_steps: bool
    """Whether it is also asked for when the steps are spent; else only when the budget is."""


class Ending(ABC):
    """Decides when one course ends: it observes every turn and returns the next message for the model."""

    last: LastTurn | None = None
    """How the last turn is asked for; None for a course without one."""
    is_reached = False
    """Whether the course has come to its end by itself."""

    def __init__(self, most: int) -> None:
        """Limit the calls of the course, or its steps."""
        self._left = most

    @property
    def is_spent(self) -> bool:
        """Whether the steps or calls of the course are used up."""
        return self._left <= 0

    @property
    def calls_left(self) -> int | None:
        """How many calls of the next turn may run; None for all of them."""
        return self._left

    @abstractmethod
    def observe(self, turn: Turn, *, is_last: bool = False) -> str | None:
        """Process a turn; return the next message for the model, or None."""

    def settle(self) -> tuple[str | None, tuple[str, ...]]:
        """Return the answer in words, None without one, and the notes on the course."""
        return None, ()


class ByFinish(Ending):
    """Ends when the model calls `finish`."""

    calls_left = None

    def __init__(self, session: Session, *, max_steps: int, takes_last_set: bool = True) -> None:
        """With `takes_last_set` a course that ends without an answer gives its last result, with a note.

        It then also ends as soon as two replies in a row call nothing, or three before any call; without an answer
        the model is asked for one in a last turn.
        """
        super().__init__(max_steps)
        self._session, self._takes_last_set = session, takes_last_set
        self._prose, self._has_called, self._way = 0, False, tuple[str, ...]()

    @property
    def last(self) -> LastTurn:  # type: ignore[override]  # the replies decide
        """How the last turn is asked for."""
        is_asked = self._talks and not self._session.answer
        return LastTurn(LAST_CALL if self._talks else LAST_TURN, offers_tools=True, is_after_steps=is_asked)

    @property
    def _talks(self) -> bool:
        return self._takes_last_set and self._prose >= _MOST_PROSE + (not self._has_called)

    @property
    def is_spent(self) -> bool:
        """Whether the steps of the course are used up, or the model only talks."""
        return super().is_spent or self._talks

    @property
    def is_reached(self) -> bool:  # type: ignore[override]  # the session knows
        """Whether `finish` was called."""
        return self._session.is_finished

    def observe(self, turn: Turn, *, is_last: bool = False) -> str | None:
        """Ask for a call if the reply has none."""
        self._left -= 1
        calls, way = turn.reply.message.tool_calls, turn.reply.lacks
        if not is_last:
            self._prose = 0 if calls or turn.broken else 1 if way != self._way else self._prose + 1
            self._has_called, self._way = self._has_called or bool(calls), way
        return told(turn) or (left_out(turn.reply) if calls else CALL_A_TOOL)

    def settle(self) -> tuple[str | None, tuple[str, ...]]:
        """Take the last result if nothing was chosen, so that it is not lost."""
        session, notes = self._session, (_ONLY_TALKS,) if self._talks else ()
        last = session.last()
        if session.answer or last is None or not self._takes_last_set or session.is_finished:
            return None, notes
        session.answer += session.ranked(last, [])[:20]
        taken = f"nothing was added to the answer: the first nodes of the last result {last} stand for it"
        return None, (*notes, taken)


class ByAnswerLine(Ending):
    r"""Ends when the model answers in `\answer{...}`. GraphScout (003), 3.2."""

    last = LastTurn(ANSWER_NOW, offers_tools=False, is_after_steps=True)

    def __init__(self, *, max_calls: int) -> None:
        """`max_calls` limits the tool calls; a turn without any counts as one."""
        super().__init__(max_calls)
        self._answer: AnswerLine | None = None

    def observe(self, turn: Turn, *, is_last: bool = False) -> str | None:
        """Take the answer of a reply without calls, or return what is wrong with it."""
        reply, calls = turn.reply, turn.reply.message.tool_calls
        self._left -= max(1, len(calls))
        if turn.broken:
            return told(turn)
        if calls and not is_last:
            return left_out(reply)
        line = read(reply.message.content or "")
        if line is None or (reply.truncated and not line.is_closed):
            return "\n".join((CUT, NO_ANSWER) if reply.truncated else (NO_ANSWER,))
        if not line.text:
            return EMPTY
        self._answer, self.is_reached = line, True
        return None

    def settle(self) -> tuple[str | None, tuple[str, ...]]:
        """Return the answer, with notes on its form."""
        if self._answer is None:
            return None, (r"the model gave no answer in \answer{}",)
        return self._answer.text, self._answer.notes


class ByFinishAlone(ByFinish):
    """The end of a course in ARK's paper: `finish`, or the last step. No last turn follows."""

    last = None  # type: ignore[assignment]


class ByFirstAnswer(ByAnswerLine):
    """The end of a course in GraphScout's paper: the first reply without a call. Nothing is asked after it."""

    last = calls_left = None  # type: ignore[assignment]

    def observe(self, turn: Turn, *, is_last: bool = False) -> str | None:
        """Take the answer of a reply without calls, if it has one. `max_calls` counts the turns."""
        self._left -= 1
        if not turn.reply.message.tool_calls:
            self._answer, self.is_reached = read(turn.reply.message.content or ""), True
        return None


class ByReport(Ending):
    """Ends when the model calls nothing more, or has no call left. Its report is asked for afterwards."""

    def __init__(self, *, max_calls: int) -> None:
        super().__init__(max_calls)

    def observe(self, turn: Turn, *, is_last: bool = False) -> str | None:
        """Count the calls of a turn, broken ones too."""
        calls = len(turn.reply.message.tool_calls) + len(turn.broken)
        self._left -= calls
        self.is_reached = not calls
        return told(turn)


def told(turn: Turn) -> str | None:
    """Return what the model is told of calls that could not be read, or None."""
    cut = (CUT,) if turn.reply.truncated else ()
    return "\n".join((*cut, *turn.broken, AGAIN)) if turn.broken else None


# The answer in a reply's `\answer{...}`: the one place where the wrapper is read.
#
# GraphScout (003), 3.4.2 and B.4.2: an answer without it is none. What is read, and how:
#
# - The last wrapper counts, and of one inside another the inner one.
# - Braces nest; `\{` and `\}` are characters. LaTeX inside is kept, with two exceptions: an answer wholly in
#   `\text{...}` or another command of style, or between dollar signs, is freed of it, and `\_`, `\%`, `\&`, `\$`, `\#`
#   lose their backslash.
# - An answer may have several lines, as lists have. One whose brace never closes ends with its line.
# - Text in `<think>...</think>`, `<tool_call>...</tool_call>` or `<tool_response>...</tool_response>` is not an answer;
#   neither is the rule repeated: `\answer{...}`, `\answer{FINAL_ANSWER}`. `\boxed{}` is another wrapper.
# - Text after it is ignored, with a note.


_WRAPPER = re.compile(r"\\answer[ \t]*\{")
_ASIDE = re.compile(r"<(think|tool_call|tool_response)>.*?(?:</\1>|\Z)", re.DOTALL)
_THOUGHT = "</think>"
# How many wrappers of a reply are read, from its end: no reply has more that mean anything.
_MOST = 20
_PLACEHOLDERS = frozenset({"...", "…", "FINAL_ANSWER", "<FINAL_ANSWER>"})


class AnswerLine(NamedTuple):
    """An answer, and how it was written."""

    text: str
    """What the wrapper holds; empty if it holds nothing."""
    is_closed: bool
    """Whether its brace is closed."""
    is_last: bool
    """Whether only closing marks follow it, as the rule asks."""

    @property
    def notes(self) -> tuple[str, ...]:
        """How the answer breaks the rule."""
        notes = []
        if not self.is_closed:
            notes.append(r"the brace of \answer{ is never closed: its line was taken")
        if not self.is_last:
            notes.append(r"text follows \answer{}: it was passed over")
        return tuple(notes)


def answer_in(text: str) -> str | None:
    r"""Return the content of a reply's last `\answer{...}`, or None."""
    line = read(text)
    return None if line is None else line.text


def read(text: str) -> AnswerLine | None:
    """Return the answer of a reply and its form, or None."""
    spoken = _without_asides(text)
    for wrapper in reversed(list(_WRAPPER.finditer(spoken))[-_MOST:]):
        end = closing_brace(spoken, wrapper.end())
        if end is None:
            lines = (line for line in spoken[wrapper.end() :].splitlines() if line.strip())
            inner, rest = next(lines, ""), ""
        else:
            inner, rest = spoken[wrapper.end() : end], spoken[end + 1 :]
        if (plain := unstyled(inner)) not in _PLACEHOLDERS:
            return AnswerLine(plain, end is not None, not rest.strip(" \t\r\n`*.$}"))
    return None


def _without_asides(text: str) -> str:
    """Leave out thoughts and calls; a thought that never ends takes the rest with it."""
    return _ASIDE.sub("\n", text).rpartition(_THOUGHT)[2]  # the begin of a thought may stand in the prompt
