"""`code_interpreter`: a model's Python, run in a sandbox, with read-only Cypher over the graph inside it.

Paper 003, appendix B.4.1: the name, the one parameter and `cypher(query, params=None, limit=None)` are the paper's, so
that traces made for its tool run here. What is contained, and by what: docs/sandbox.md.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orienteer.errors import MissingExtra, UnsafeSandbox
from orienteer.records import JsonValue, Observation, ToolSpec
from orienteer.sandbox.interpreter import Interpreter, Limits, Ran, Tier
from orienteer.sandbox.opening import Choice, open_interpreter
from orienteer.tools import arguments as given
from orienteer.tools.code_cypher import ServedCypher
from orienteer.tools.session import Session
from orienteer.tools.shown import Shown

if TYPE_CHECKING:
    from orienteer.graph.cypher.view import View

NAME = "code_interpreter"
_DESCRIPTION = (
    "Run Python over this graph, a heterogeneous graph that is asked in Cypher. The code has a synchronous function "
    "cypher(query, params=None, limit=None), not a separate tool: it runs one read-only Cypher query and returns the "
    "rows as a list of dicts. Names stay defined from call to call. Only what is printed comes back."
)
DIALECT = """\
The code runs in a small Python of its own, without files, network, processes or packages.
- There: functions, lambdas, comprehensions, try, with, match, f-strings, async; classes without a parent; the modules
  collections, itertools, functools, re, json, math, random, datetime, time, dataclasses, typing, asyncio.
- Missing: yield, del, classes that inherit, `import *`; numpy, pandas, networkx, heapq, statistics, string.
- cypher cannot be called from a key function of sorted, min, max or map: call it in a loop first.
"""
"""What a model should know of the first tier before it writes code for it."""
_SILENT = "Nothing was printed: use print to see a value."
_LOST = "What earlier code defined is lost: define it again."


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeConfig:
    """How a model's code is run."""

    tier: Choice = "auto"
    """Where code runs: `monty`, an interpreter of its own, `cpython`, all of Python in a process that is locked down,
    or `auto`, the first of them that is installed."""
    retry_cpython: bool = False
    """Run code again in `cpython` where `monty` lacks something that it asks for; later code stays there."""
    seconds: float = 20.0
    """Wall time of one call, its queries included."""
    memory_mb: int = 256
    """Memory of the code."""
    output_characters: int = 8_000
    """Characters of printed text that come back, the first and the last."""
    calls: int = 500
    """Queries that one call of the tool may run."""
    rows: int = 10_000
    """Rows that one query returns at the most."""
    view: View | None = None
    """A graph named as in paper 003; None: by its own ids and types."""

    @property
    def limits(self) -> Limits:
        """What one run may take."""
        return Limits(
            seconds=self.seconds,
            memory_mb=self.memory_mb,
            output_characters=self.output_characters,
            calls=self.calls,
        )


class CodeInterpreter:
    """The tool of one agent: its code's state lasts until it is closed. Not shared among threads."""

    def __init__(self, session: Session, config: CodeConfig | None = None) -> None:
        """Raises `MissingExtra` and `UnsafeSandbox` here, before a model is paid."""
        self.config = config or CodeConfig()
        self.spec = ToolSpec(
            name=NAME,
            description=_DESCRIPTION,
            parameters={
                "type": "object",
                "properties": {"code": {"type": "string", "description": "Python code"}},
                "required": ["code"],
            },
        )
        self._cypher = ServedCypher(session.graph, rows=self.config.rows, view=self.config.view)
        self._shown = Shown(session.graph, self.config.view)
        self._opened: list[Interpreter] = []
        self._earlier: list[str] = []  # code that made the state as it is
        self._has_told_tier = False
        self._open(self.config.tier)
        weakref.finalize(self, _close, self._opened)

    @property
    def tier(self) -> Tier:
        """Where code runs now."""
        return self._opened[-1].tier

    @property
    def marks(self) -> tuple[str, ...]:
        """What a trajectory should keep of it: each tier that ran code, in order, and the view."""
        view = self.config.view
        tiers = (f"sandbox {one.tier}" for one in self._opened)
        return (*tiers, *(() if view is None else (f"view {view.model_dump_json()}",)))

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Run code and return what it printed, or what it died of with the line; ids that it showed are its nodes."""
        code = given.text(arguments, "code")
        if code is None:
            return Observation("There is no code to run.", error="CodeError")
        ran, notes = self._run(code), []
        if ran.missing is not None:
            notes.append(f"{self.tier} has no {ran.missing}.")
            if self.config.retry_cpython and self.tier == "monty":
                ran = self._again(code, ran, notes)
        return self._reply(ran, notes)

    def close(self) -> None:
        """End the processes. Closing twice is no fault."""
        _close(self._opened)

    def _open(self, tier: Choice) -> None:
        self._opened.append(open_interpreter(tier, {"cypher": self._cypher}, self.config.limits))

    def _run(self, code: str) -> Ran:
        self._cypher.begin(self.config.seconds)
        ran = self._opened[-1].run(code)
        self._earlier = [] if ran.is_lost else [*self._earlier, code]
        return ran

    def _again(self, code: str, ran: Ran, notes: list[str]) -> Ran:
        """Return what code gives in the second tier, after the code that made the state of the first."""
        earlier = self._earlier[:-1]
        try:
            self._open("cpython")
        except (MissingExtra, UnsafeSandbox) as error:
            notes.append(f"It cannot be run in cpython: {error}")
            return ran
        self._opened[0].close()
        self._earlier = []
        notes.append("It was run in cpython instead, as later code will be.")
        if any(self._run(one).is_lost for one in earlier):
            notes.append(_LOST)
        return self._run(code)

    def _reply(self, ran: Ran, notes: list[str]) -> Observation:
        notes += self._cypher.notes
        if not self._has_told_tier:
            notes.append(f"The code ran in the sandbox {self.tier}.")
            self._has_told_tier = True
        parts = [ran.printed.rstrip("\n"), ran.error or ""]
        if not any(parts):
            parts.append(_SILENT)
        text = "\n".join([*(one for one in parts if one), *(f"Note: {one}" for one in notes)])
        return Observation(text, self._shown.nodes(ran.printed, self._cypher.returned), error=_error(ran))


def _error(ran: Ran) -> str | None:
    if ran.is_lost:
        return "CodeStopped"
    return None if ran.error is None else "CodeError" if ran.missing is None else "MissingFeature"


def _close(opened: Sequence[Interpreter]) -> None:
    for one in opened:
        one.close()
