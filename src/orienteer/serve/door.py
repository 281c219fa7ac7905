"""What a network face lets in: how much one request may ask for, and which methods it may name.

`package.module:CARD` is a method, too, and naming it imports code. So a face resolves names by the table alone, and of
these serves by default the ones that run no program that a model writes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pydantic import Field

from orienteer.errors import BadOption
from orienteer.llm.budget import Budget
from orienteer.methods.table import AUTO, METHODS
from orienteer.options import Options
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
