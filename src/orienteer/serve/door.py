"""What a network face lets in: how much one request may ask for, and which methods it may name.

`package.module:CARD` is a method, too, and naming it imports code. So a face resolves names by the table alone, and of
these serves by default the ones that run no program that a model writes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from pydantic import Field

from orienteer.errors import BadOption, BudgetExhausted, ModelError
from orienteer.llm.budget import Allowance, Budget
from orienteer.llm.conversation import ask_for, prompt_of
from orienteer.methods.table import AUTO, METHODS
from orienteer.options import Options
from orienteer.protocols import LanguageModel
from orienteer.records import JsonValue, Result, Usage
from orienteer.settings import Settings

KEYS = "ORIENTEER_SERVE_KEYS"
"""The variable that holds the keys of a server, with commas between them. The model's key is another one."""
LEAST_KEY = 16
"""Characters of a key."""
MOST_HITS = 200
"""`k` at the most."""
LONGEST_QUESTION = 8_000
"""Characters."""
LONGEST_QUERY = 4_000
"""Characters."""
QUESTION_CALLS = 30
"""Calls of a model for one question, unless whoever runs the server says otherwise."""
QUESTION_SECONDS = 45.0
"""The same of time: hosts of tools give up after some 60 seconds, and get what was found until then."""
_NAMED = 12  # methods that a refusal lists
_LONGEST_NAME = 100  # characters of a name that a refusal repeats


RUNNING, WAITING = 4, 8
"""Questions that run at once, and that wait in line, unless whoever runs the server says otherwise."""


class ServeOptions(Options):
    """`[serve]` of the settings; the flags of `orienteer serve` win."""

    host: str = "127.0.0.1"
    """Where to listen. Any host but this machine needs a key."""
    port: int = Field(default=8321, ge=0, le=65_535)
    """0 is any free one."""
    keys: tuple[str, ...] = Field(default=(), repr=False)
    """What opens the server; the environment's win."""
    allow_hosts: tuple[str, ...] = ()
    """Further names that the server answers to."""
    allow_origins: tuple[str, ...] = ()
    """Sites whose pages may ask."""
    methods: tuple[str, ...] | None = None
    """Those that are served; None is all that run no code of a model."""
    running: int = Field(default=RUNNING, ge=1, le=64)
    """Questions that run at once: each has a thread, and asks the model."""
    waiting: int = Field(default=WAITING, ge=0, le=1_000)
    """Questions in line for a place; further ones are turned away."""
    workers: int = Field(default=1, ge=1, le=64)
    """Processes, each with places for so many questions of its own; with several there is no `/metrics`."""
    budget: Budget = Budget()
    """What a question that somebody asks here may take; what is not said is that of `[budget]`, 30 calls and 45 seconds
    at the most."""
    cypher: bool = False
    """Whether Cypher is answered."""
    list_methods: bool = False
    """Whether `/v1/models` also lists each graph with each method."""
    metrics: bool = True
    """Whether `/metrics` has counters for Prometheus."""
    log_questions: bool = False
    """Whether the log has what is asked and searched for."""


def served_methods(names: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the methods that a face serves: those named, else `auto` and all that run no code of a model.

    Raises `BadOption` for a name that is not in the table.
    """
    if names is None:
        return (AUTO, *(name for name, card in METHODS.items() if not card.runs_code))
    for name in names:
        if name != AUTO and name not in METHODS:
            raise BadOption(f"no method {name!r} can be served: choose among {AUTO}, {', '.join(METHODS)}")
    return tuple(names)


def served_method(name: str, served: Collection[str]) -> str:
    """Return the name of a method that a request names: a served one, or one over another as `sage:ark`.

    Raises `BadOption` for any other, and imports nothing.
    """
    if not name or not all(part in served and (part != AUTO or part == name) for part in name.split(":")):
        names = list(served)
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        raise BadOption(
            f"the method {name[:_LONGEST_NAME]!r} is not served here: take {', '.join(names[:_NAMED])}{more}",
            value=name,
        )
    return name


def checked_k(k: int) -> int:
    """Return how many hits a request asks for. Raises `BadOption` for more than a face gives."""
    if not 0 <= k <= MOST_HITS:
        raise BadOption(f"k is {k}: it must be 0 to {MOST_HITS}")
    return k


def served_budget(settings: Settings, own: Budget | None = None, **flags: float | None) -> Budget:
    """Return what one question may spend: what the settings allow, but no more than a face does.

    What a face's `own` settings choose wins, and over it flags that are not None, for whoever runs the server has set
    them. Raises `BadOption`.
    """
    allowed = settings.limits()
    calls = min(allowed.calls or QUESTION_CALLS, QUESTION_CALLS)
    seconds = min(allowed.seconds or QUESTION_SECONDS, QUESTION_SECONDS)
    chosen = {**({} if own is None else own.chosen)}
    chosen |= {name: value for name, value in flags.items() if value is not None}
    return Budget.read({**allowed.chosen, "calls": calls, "seconds": seconds, **chosen}, where="budget.")


# A question that follows others, in words that can be understood alone: for the chat, and for clients of a server.


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
