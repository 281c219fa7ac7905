"""`code_interpreter`: runs a model's Python in a sandbox, with read-only Cypher over the graph inside it.

Paper 003, appendix B.4.1: the name, the one parameter and `cypher(query, params=None, limit=None)` are the paper's, so
that traces made for its tool run here; `find(text, k=2)`, the node retriever within the code, is ours. What is
contained, and by what: docs/explanations/sandbox.md.
"""

from __future__ import annotations

import json
import re
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from itertools import islice
from typing import NamedTuple

from orienteer.cypher.names import QueryTable, View, identifiers
from orienteer.cypher.session import SECONDS, Cypher
from orienteer.errors import BadOption, DatabaseAway, MissingExtra, QueryStopped, UnsafeSandbox
from orienteer.graph.store import Graph
from orienteer.records import JsonValue, Observation, ToolSpec
from orienteer.retrieval.evidence import UNPAID
from orienteer.sandbox.monty import open_interpreter
from orienteer.sandbox.tiers import Choice, Functions, Interpreter, RunResult, Tier
from orienteer.tools import texts
from orienteer.tools.code_options import CodeConfig
from orienteer.tools.node_ids import MOST_TOPK, TOPK, NodeIdRetriever
from orienteer.tools.session import Session

NAME = "code_interpreter"
_PLAIN = (
    "Run Python that asks this graph, whose nodes and edges have types. The code calls "
    "cypher(query, params=None, limit=None), which is no tool of its own and needs no await: it runs one read-only "
    "Cypher query"
)
_DESCRIPTION = (
    f"{_PLAIN} and returns the rows as a list of dicts; a node in them is a dict of its id, type, name and properties. "
    "find(text, k=2) returns the nodes that are called so, or nearly, as dicts of id, type, name and score. Names "
    "stay defined from call to call. Only what is printed comes back."
)
_PROPERTIES = {"code": {"type": "string", "description": "What to run, in Python"}}
_PARAMETERS = {"type": "object", "properties": _PROPERTIES, "required": ["code"]}
SPEC = ToolSpec(name=NAME, description=_DESCRIPTION, parameters=_PARAMETERS)
DIALECT = """\
The code runs in a small Python of its own, without files, network, processes or packages.
There: functions, lambdas, comprehensions, try, with, match, f-strings, async, classes without a parent; the modules
asyncio, base64, bisect, collections, copy, csv, dataclasses, datetime, decimal, functools, hashlib, itertools, json,
math, random, re, time, typing, unicodedata.
Missing: yield, del, class inheritance, @property and @staticmethod, `import *`, next() on a generator expression, and
the modules heapq, statistics, string, operator, numpy, pandas, networkx.
cypher and find cannot be called in a key function of sorted, min, max or map: call them in a loop before.
"""
"""What a model should know of the first tier before it writes code for it."""
_FENCE = "```"
_SILENT = "Nothing was printed: use print to see a value."
_NOT_AGAIN = "Not all that earlier code defined could be defined again there."
_LEAST_SECONDS = 0.05
_SHARE = 0.9  # of the time that is left a query may take: the code has to hear of it
_MOST_NOTES = 4
_MOST_KEPT = 8_000_000  # characters of the answers of a run, as JSON
_NODE, _EDGE = {"id", "type", "name", "properties"}, {"source", "type", "target", "properties"}


class _Earlier(NamedTuple):
    """Code that ran before and shaped the state of the interpreter."""

    code: str
    is_well: bool
    """Whether it ran to its end."""


class CodeInterpreter:
    """The tool of one agent, whose code keeps its state until the tool is closed. Not safe to share among threads."""

    def __init__(self, session: Session, config: CodeConfig | None = None) -> None:
        """Raises `MissingExtra` and `UnsafeSandbox` here, before a model is paid."""
        self.config = config or CodeConfig()
        self._is_plain = session.is_plain
        self.spec = SPEC.model_copy(update={"description": f"{_PLAIN}."}) if session.is_plain else SPEC
        self._served = ServedCypher(session.graph, rows=self.config.rows, view=self.config.view)
        self._found = ServedFind(NodeIdRetriever(session, view=self.config.view))
        self._shown = ShownNodes(session.graph, self.config.view)
        self._opened: list[Interpreter] = []
        self._earlier: list[_Earlier] = []
        self._away: list[DatabaseAway] = []
        self._open(self.config.tier)
        weakref.finalize(self, _close, self._opened)

    @property
    def tier(self) -> Tier:
        """Where code runs now."""
        return self._opened[-1].tier

    @property
    def marks(self) -> tuple[str, ...]:
        """What a trajectory keeps of it: a mark such as `sandbox monty` for each tier that ran code."""
        return tuple(f"sandbox {interpreter.tier}" for interpreter in self._opened)

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the printed text and the error with its line, and the nodes whose ids were shown."""
        code = texts.text(arguments, "code")
        if code is None:
            return Observation("There is no code to run.", error="CodeError")
        # Models write the fence of a Markdown block; lines keep their numbers without it.
        fence, *lines = code.rstrip().split("\n")
        if fence.lstrip().startswith(_FENCE) and lines and lines[-1].strip() == _FENCE:
            code = "\n".join(["", *lines[:-1]])
        notes: list[str] = []
        ran = self._run(code)
        if ran.missing is not None and self.config.retry_cpython and self.tier == "monty":
            ran = self._moved(code, ran, notes)
        if ran.missing is not None:
            notes.append(f"This Python ({self.tier}) has no {ran.missing}: write the code without it.")
        return self._reply(ran, notes)

    def close(self) -> None:
        """End the processes. Closing twice is harmless."""
        _close(self._opened)

    def _open(self, tier: Choice) -> None:
        """Open a tier and start it: only then is it known whether this machine can contain it."""
        functions: Functions = {"cypher": _noting(self._served.cypher, self._away)}
        if not self._is_plain:
            functions = {**functions, "find": _noting(self._found.find, self._away)}
        self._opened.append(open_interpreter(tier, functions, self.config.limits))
        self._opened[-1].run("")

    def _run(self, code: str) -> RunResult:
        """Run code. Raises `DatabaseAway` if it asked a database that does not answer."""
        self._served.begin(self.config.seconds)
        self._found.begin()
        ran = self._opened[-1].run(code)
        if self._away:
            raise self._away.pop()
        self._earlier = [] if ran.is_lost else [*self._earlier, _Earlier(code, ran.error is None)]
        return ran

    def _moved(self, code: str, before: RunResult, notes: list[str]) -> RunResult:
        """Run earlier code again in the second tier, for its state, then this code, and return what it gives."""
        earlier = self._earlier[:-1]
        try:
            self._open("cpython")
            self._earlier = []
            again = [self._run(run.code) for run in earlier]
            ran = self._run(code)
        except (MissingExtra, UnsafeSandbox) as error:
            del self._opened[1:]
            self._earlier = earlier
            notes.append(f"It cannot be run in cpython: {error}")
            return before
        self._opened[0].close()
        notes.append(f"monty has no {before.missing}: the code ran in cpython instead, as later code will.")
        if any(new.is_lost or (old.is_well and new.error) for old, new in zip(earlier, again, strict=True)):
            notes.append(_NOT_AGAIN)
        return ran

    def _reply(self, ran: RunResult, notes: list[str]) -> Observation:
        # The kind of error that the run ended in, if any.
        error = "CodeStopped" if ran.is_lost else "MissingFeature" if ran.missing is not None else None
        error = error or (None if ran.error is None else "CodeError")
        parts = [part for part in (ran.printed.rstrip("\n"), ran.error) if part]
        lines = [f"Note: {note}" for note in (*self._served.notes, *self._found.notes, *notes)]
        lines = parts if self._is_plain else [*(parts or [_SILENT]), *lines]
        nodes = self._shown.nodes(ran.printed, self._served.returned)
        return Observation("\n".join(lines), nodes, error=error)


def _noting(look_up: Callable[..., list[JsonValue]], away: list[DatabaseAway]) -> Callable[..., list[JsonValue]]:
    """Wrap a function for the code so that it notes a database that went away: the code may catch the error."""

    @wraps(look_up)
    def look_up_noting(*arguments: JsonValue, **named: JsonValue) -> list[JsonValue]:
        try:
            return look_up(*arguments, **named)
        except DatabaseAway as error:
            away.append(error)
            raise

    return look_up_noting


def _close(opened: Sequence[Interpreter]) -> None:
    for interpreter in opened:
        interpreter.close()


class ServedCypher:
    """Answers the queries of a model's code, one run after the other. Not safe to share among threads."""

    def __init__(self, graph: Graph, *, rows: int, view: View | None) -> None:
        _ = Cypher(graph)  # before a model is paid; the graph keeps it
        self._graph, self._rows, self._view = graph, rows, view
        self._ends = 0.0
        self._number = self._characters = 0
        self.notes: list[str] = []
        """What the run did not get, and what was not read as it was written."""
        self.returned: list[QueryTable] = []
        """The answers that the run got; of very many, the first ones."""

    def begin(self, seconds: float) -> None:
        """Forget the run before; the next one ends after `seconds`."""
        self._ends = time.monotonic() + seconds
        self._number = 0
        self._characters = 0
        self.notes, self.returned = [], []

    def cypher(self, query: str, params: JsonValue = None, limit: JsonValue = None) -> list[JsonValue]:
        """Return the rows, each a dict of values by column; a node is one of its id, type, name and properties.

        Raises as `Cypher.query` does, and `BadOption`.
        """
        self._number += 1
        wanted = self._limit(limit)
        rest = self._ends - time.monotonic()
        if rest < _LEAST_SECONDS:
            raise QueryStopped("the code has no time left for a query")
        if not isinstance(query, str):
            raise BadOption(f"cypher(query, params=None, limit=None): query must be text, not {type(query).__name__}")
        if not isinstance(params, dict | None):
            raise BadOption(f"params must be a dict of values by name, not {type(params).__name__}")
        table = Cypher(self._graph).query(
            query, params or {}, limit=wanted, seconds=min(rest * _SHARE, SECONDS), view=self._view
        )
        notes = list(table.notes)
        # A cut at the limit that the code itself has set is no news to it.
        is_own = limit is not None and len(table.rows) == wanted < self._rows
        if table.truncated and not is_own:
            most = f"{self._rows:,} rows" if len(table.rows) == wanted else "the size that a result may have"
            notes.append(
                f"the result was cut at {most}: {len(table.rows):,} of {table.total:,} rows were returned; "
                "aggregate in the query, or page with ORDER BY, SKIP and LIMIT"
            )
        room = _MOST_NOTES - len(self.notes)
        self.notes += [f"query {self._number}: {note}" for note in notes[: max(room, 0)]]
        # An answer is kept if there is room: a run may ask for the largest one hundreds of times.
        self._characters += len(json.dumps(table.rows))
        if self._characters <= _MOST_KEPT:
            self.returned.append(table)
        return [dict(zip(table.columns, map(_flat, row), strict=True)) for row in table.rows]

    def _limit(self, limit: JsonValue) -> int:
        if limit is None:
            return self._rows
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
            raise BadOption(f"limit is {str(limit)[:40]}: it must be a whole number from 0, or None")
        return min(limit, self._rows)


class ServedFind:
    """Finds nodes for the texts of a model's code, one run after the other. Not safe to share among threads."""

    def __init__(self, retriever: NodeIdRetriever) -> None:
        self._retriever = retriever
        self.notes: list[str] = []
        """What the run did not get as it was asked for, each once."""

    def begin(self) -> None:
        """Forget the notes of the run before."""
        self.notes = []

    def find(self, text: JsonValue, k: JsonValue = TOPK) -> list[JsonValue]:
        """Return the `k` best nodes of a text, each a dict of id, type, name and score. Raises `BadOption`."""
        if not isinstance(text, str):
            raise BadOption(f"find(text, k=2): text must be text, not {type(text).__name__}; call it for each text")
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MOST_TOPK:
            raise BadOption(f"find(text, k=2): k is {str(k)[:40]}: it must be a whole number from 1 to {MOST_TOPK}")
        notes: list[str] = []
        found = self._retriever.find(text, k, notes)
        new = [note for note in notes if note not in self.notes]
        # A replay goes by words if it reads that this was done: that note is never left out.
        self.notes += [note for note in new if note == UNPAID or len(self.notes) < _MOST_NOTES]
        return found


def _flat(value: JsonValue) -> JsonValue:
    """Return a value whose nodes and edges have their properties next to their names, as Neo4j's drivers give them."""
    # Code that is written for those asks `row["d"].get("year")`, and would take its own mistake for a missing year.
    if isinstance(value, list):
        return [_flat(item) for item in value]
    if not isinstance(value, dict):
        return value
    properties = value.get("properties")
    # A map of the query may have these keys too: the type of `properties` decides.
    if value.keys() in (_NODE, _EDGE) and isinstance(properties, dict):
        bare = {name: item for name, item in value.items() if name != "properties"}
        return {**bare, **{name: item for name, item in properties.items() if name not in bare}}
    return {name: _flat(item) for name, item in value.items()}


# Which nodes a run of code has shown: those whose whole ids it printed, then those of a short result.


_MOST = 100  # nodes that an observation carries
_LONGEST_ID = 500  # characters
_MOST_VALUES = 20_000  # of the rows, that are looked for in the text
_NO_IDS = {"type", "name", "properties"}  # of nodes and edges
_WORD = re.compile(r"\S+")
_GOES_BEFORE = re.compile(r"[\w:.\-/]")
_GOES_ON = re.compile(r"\w|::|[:.\-/]\w")
_QUOTED = re.compile(r"'([^'\n]{1,500})'|\"([^\"\n]{1,500})\"")
_AROUND = "'\"`,;:.!?()[]{}<>"  # what may stand about an id in printed text


class ShownNodes:
    """Finds ids of a graph, or the identifiers of a view, in text and in rows; never inside another word."""

    def __init__(self, graph: Graph, view: View | None) -> None:
        self._ids = graph.arrays.ids
        self._identifiers = None if view is None else identifiers(graph.arrays, view)

    def nodes(self, printed: str, returned: Sequence[QueryTable]) -> tuple[str, ...]:
        """Return the ids of nodes that were printed, in order, then those in the rows if these are few; at most 100.

        A bare number is no id: `250` rather says how many there are than which one.
        """
        rows = (row for table in returned for row in table.rows)
        values = list(dict.fromkeys(text for row in rows for value in row for text in _texts(value)))
        printed_nodes: dict[str, None] = {}
        for word in dict.fromkeys(_words(printed, values)):
            printed_nodes.update(dict.fromkeys(self._named(word)))
        others: dict[str, None] = {}
        for value in values:
            others.update(dict.fromkeys(self._named(value)))
            # Nobody has seen them all: none of them counts as shown.
            if len(others) > _MOST:
                others.clear()
                break
        return tuple({**printed_nodes, **others})[:_MOST]

    def _named(self, text: str) -> Iterator[str]:
        if not text or len(text) > _LONGEST_ID:
            return
        if self._identifiers is not None:
            yield from (self._ids[row] for row in self._identifiers.rows(text))
        elif self._ids.find(text) is not None:
            yield text


def _words(printed: str, values: Iterable[str]) -> Iterator[str]:
    """Yield the possible ids in a text, in order: quoted text, as in lists and dicts, words, and values."""
    places = [(match.start(), match[1] or match[2]) for match in _QUOTED.finditer(printed)]
    for match in _WORD.finditer(printed):
        places += [(match.start(), word) for word in (match[0], match[0].strip(_AROUND)) if not word.isdigit()]
    for value in islice(values, _MOST_VALUES):
        if value in printed and not value.isdigit():
            places += [(at, value) for at in _places(value, printed)]
    return (word for _, word in sorted(places, key=lambda place: place[0]))


def _places(value: str, printed: str) -> Iterator[int]:
    """Yield the places of a value that is no part of a longer id: `a|b` and `a->b` hold `a`, not so `a:b` and `a-b`."""
    at = printed.find(value) if value else -1
    while at >= 0:
        if not (_GOES_BEFORE.match(printed, at - 1, at) or _GOES_ON.match(printed, at + len(value))):
            yield at
        at = printed.find(value, at + 1)


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield every text of a value that may be an id: itself, one in a list or a map, the `id` of a node."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        items = value if isinstance(value, list) else (item for key, item in value.items() if key not in _NO_IDS)
        for item in items:
            yield from _texts(item)
