"""The rules that all network interfaces share: limits of a request, allowed methods, and follow-up questions.

`package.module:CARD` names a method, too, and importing it would run code. So an interface resolves names only by the
table of methods, and by default serves those that run no program of a model.
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
"""The variable with the keys of a server, separated by commas. The model's key is another one."""
LEAST_KEY = 16
"""Characters of a key."""
MOST_HITS = 200
"""`k` at the most."""
LONGEST_QUESTION = 8_000
"""Characters."""
LONGEST_QUERY = 4_000
"""Characters."""
QUESTION_CALLS = 30
"""Model calls for one question, unless the operator sets another limit."""
QUESTION_SECONDS = 45.0
"""The same for time: hosts of tools give up after some 60 seconds, and get the hits until then."""
_NAMED = 12  # methods that a refusal lists
_LONGEST_NAME = 100  # characters of a name that a refusal repeats


RUNNING, WAITING = 4, 8
"""Questions that run at once, and that wait in line, unless the operator sets other numbers."""


class ServeOptions(Options):
    """`[serve]` of the settings; the flags of `orienteer serve` win."""

    host: str = "127.0.0.1"
    """Where to listen. Any host but this machine needs a key."""
    port: int = Field(default=8321, ge=0, le=65_535)
    """0 is any free one."""
    keys: tuple[str, ...] = Field(default=(), repr=False)
    """Keys that open the server; the environment's win."""
    allow_hosts: tuple[str, ...] = ()
    """Further names that the server answers to."""
    allow_origins: tuple[str, ...] = ()
    """Sites whose pages may ask."""
    methods: tuple[str, ...] | None = None
    """None is all that run no code of a model."""
    running: int = Field(default=RUNNING, ge=1, le=64)
    """Questions that run at once: each has a thread, and asks the model."""
    waiting: int = Field(default=WAITING, ge=0, le=1_000)
    """Questions in line for a place; further ones are turned away."""
    workers: int = Field(default=1, ge=1, le=64)
    """Processes, each with its own slots for questions; with several there is no `/metrics`."""
    budget: Budget = Budget()
    """The budget of a question; limits that are not set are those of `[budget]`, at most 30 calls and 45 seconds."""
    cypher: bool = False
    """Whether Cypher is answered."""
    list_methods: bool = False
    """Whether `/v1/models` also lists each graph with each method."""
    metrics: bool = True
    """Whether `/metrics` has counters for Prometheus."""
    log_questions: bool = False
    """Whether the log has questions and searches."""


def served_methods(names: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the methods to serve: by default `auto` and those without code of a model. Raises `BadOption`."""
    if names is None:
        return (AUTO, *(name for name, card in METHODS.items() if not card.runs_code))
    for name in names:
        if name != AUTO and name not in METHODS:
            raise BadOption(f"no method {name!r} can be served: choose among {AUTO}, {', '.join(METHODS)}")
    return tuple(names)


def served_method(name: str, served: Collection[str]) -> str:
    """Return a served method, or one over another such as `sage:ark`. Raises `BadOption` for any other."""
    if not name or not all(part in served and (part != AUTO or part == name) for part in name.split(":")):
        names = list(served)
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        raise BadOption(
            f"the method {name[:_LONGEST_NAME]!r} is not served here: take {', '.join(names[:_NAMED])}{more}",
            value=name,
        )
    return name


def served_budget(settings: Settings, own: Budget | None = None, **flags: float | None) -> Budget:
    """Return the budget of one question: that of the settings, within the limits of an interface.

    The operator's choices win: the interface's `own` settings, and over them flags that are not None.
    Raises `BadOption`.
    """
    allowed = settings.limits()
    calls = min(allowed.calls or QUESTION_CALLS, QUESTION_CALLS)
    seconds = min(allowed.seconds or QUESTION_SECONDS, QUESTION_SECONDS)
    chosen = {} if own is None else own.chosen
    given = {name: value for name, value in flags.items() if value is not None}
    return Budget.read({**allowed.chosen, "calls": calls, "seconds": seconds, **chosen, **given}, where="budget.")


def raise_failure(result: Result) -> None:
    """Raise the error that ended a question, unless it has hits from before; then its notes have the error."""
    from orienteer.retriever import failure

    error = failure(result)
    if error is not None and not result.hits:
        raise error


# A question that follows others, in words that can be understood alone: for the chat and for clients of a server.


PACKAGE = "orienteer.serve"
_TURNS = 6  # messages before the question that are read with it
_LONGEST_TURN = 1_500  # characters
# For rewording a question: one call, and a repair.
_CALLS, _SECONDS = 2, 15.0
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
    """How it was reworded, or why it was not."""
    usage: Usage = Usage()

    def added_to(self, result: Result) -> Result:
        """Return the result of the question with its note and usage added."""
        if self.note is None and not self.usage.calls:
            return result
        notes = result.notes if self.note is None else (self.note, *result.notes)
        return result.model_copy(update={"notes": notes, "usage": result.usage + self.usage})


def understood_alone(
    question: str, before: Sequence[Turn], model: LanguageModel | None, budget: Budget | None = None
) -> FollowUp:
    """Return a question reworded so that it needs none of the turns before it (the earliest first).

    Without a model, or if the model fails, it stays unchanged, and a note says so. `budget` is that of the question:
    one call of it is left for the answer.
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
