"""A question that follows others, in words that can be understood alone: for the chat, and for clients of a server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from orienteer.errors import BudgetExhausted, ModelError
from orienteer.llm.budget import Allowance, Budget
from orienteer.llm.exchange import ask_for
from orienteer.llm.prompts import prompt_of
from orienteer.protocols import LanguageModel
from orienteer.records import JsonValue, Result, Usage
from orienteer.serve.door import LONGEST_QUESTION

PACKAGE = "orienteer.serve"
_TURNS = 6  # messages before the question that are read with it
_LONGEST_TURN = 1_500  # characters
_CALLS, _SECONDS = 2, 15.0  # that putting it in words may take: one call, and a repair
_SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"question": {"type": "string"}},
    "required": ["question"],
    "additionalProperties": False,
}


class Turn(NamedTuple):
    """Something that was said in a conversation."""

    role: Literal["user", "assistant"]
    words: str


class FollowUp(NamedTuple):
    """A question in words that can be understood alone."""

    question: str
    note: str | None = None
    """What was done to it, or could not be done."""
    usage: Usage = Usage()

    def told_in(self, result: Result) -> Result:
        """Return the result of the question with what was done to it, and what that took."""
        if self.note is None and not self.usage.calls:
            return result
        notes = result.notes if self.note is None else (self.note, *result.notes)
        return result.model_copy(update={"notes": notes, "usage": result.usage + self.usage})


def understood_alone(
    question: str, before: Sequence[Turn], model: LanguageModel | None, budget: Budget | None = None
) -> FollowUp:
    """Return a question put in words that need none of what was said before, the earliest first.

    Without a model, and where the model fails, it stays as it is, and a note says so. `budget` is that of the question:
    a call of it is left to be answered with.
    """
    if not before:
        return FollowUp(question)
    if model is None:
        return FollowUp(question, "asked as it stands: without a model, what was said before is not read")
    calls = _CALLS if budget is None or budget.calls is None else min(_CALLS, budget.calls - 1)
    if calls < 1:
        return FollowUp(question, "asked as it stands: its budget has one call, and what was said before is not read")
    turns = "\n".join(f"{turn.role}: {turn.words[:_LONGEST_TURN]}" for turn in before[-_TURNS:])
    own = Budget() if budget is None else budget
    seconds = _SECONDS if own.seconds is None else min(_SECONDS, own.seconds)
    run = Allowance(own.model_copy(update={"calls": calls, "seconds": seconds}), reserve=0)
    try:
        prompt = prompt_of("follow-up", PACKAGE)
        given = ask_for(model, run, prompt, _SCHEMA, question=question, turns=turns).value
    except (BudgetExhausted, ModelError):
        given = None
    reworded = "" if given is None else str(given["question"]).strip()[:LONGEST_QUESTION]
    if not reworded:
        return FollowUp(question, "asked as it stands: the model could not put it in words of its own", run.usage())
    note = None if reworded == question else f"asked as: {reworded}"
    return FollowUp(reworded, note, run.usage())
