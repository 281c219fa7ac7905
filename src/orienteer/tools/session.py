"""What an agent's tools share: the graph, the saved sets, the answer, how nodes and types are named, the replies."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from orienteer.errors import (
    AmbiguousNode,
    BadOption,
    BudgetExhausted,
    Hint,
    Unknown,
    UnknownNode,
    UnknownType,
    UsageError,
)
from orienteer.graph.adjacency import KindMask, distinct
from orienteer.graph.search import SNIPPET, shared_name
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.index.searchers import Mode
from orienteer.protocols import Run
from orienteer.records import Observation, Usage
from orienteer.retrieval.evidence import UNPAID
from orienteer.retrieval.mentions import letter_likeness
from orienteer.text.english import LANGUAGES
from orienteer.text.sentences import CHARACTERS_A_TOKEN, one_line
from orienteer.text.tokenizer import Tokenizer

# How searches of an agent's tools are paid for if a server makes the vectors of their queries.


class Payment:
    """What searches cost one agent, and those that could not be paid for. Not safe to share among threads."""

    run: Run | None = None
    """The run that pays if a server embeds queries; None if nobody counts."""
    spent: Usage = Usage()
    """What embedding queries has cost."""
    goes_by_words: bool = False
    """Whether a replayed search ranks by words, because the recorded one did."""
    unpaid: int = 0
    """Searches that ranked by words because the budget had no call left to embed their query."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def payable(self, mode: Mode, query: str, notes: list[str], *, passages: Sequence[str] = ()) -> Mode:
        """Return the mode that a search can afford: this one, with its vector paid for, or lexical with a note."""
        if mode == "lexical" or not query.strip():
            return mode
        try:
            if self.run is not None:
                self.spent += self._graph.arrays.searcher.vectors.pay(self.run, query, passages)
            if self.run is not None or not self.goes_by_words:
                return mode
        except BudgetExhausted:
            pass
        self.unpaid += 1
        notes.append(UNPAID)
        return "lexical"

    def unpaid_notes(self) -> list[str]:
        """Return a note with the number of searches that went by words because vectors could not be paid for."""
        what = f"{self.unpaid} search{'es' * (self.unpaid != 1)} went by words"
        return [f"{what}: the budget had no call left to embed what was searched for"] if self.unpaid else []


REPLY_TOKENS = 1_200
"""A reply's length at the most. A page of twenty rows with snippets fits."""
SNIPPETS = 15
"""Rows of a reply that are shown with a part of their text; those after them are names alone."""
_SHORTEST_SNIPPET = 40
_TWENTY_WORDS = 120  # characters: shorter than that a snippet ends before it says anything
_LINE = 100  # characters of a line of a reply besides its snippet
_NAME = 60  # characters of a line of a reply that is a name alone
_MORE = 40  # characters that the head of a page is longer by if not all of its rows fit
_REST = 80  # characters kept for saying what did not fit
_SET = re.compile(r"@\d+", re.ASCII)
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TOKENIZER = Tokenizer()
_ALIKE = 0.75  # how much a type must look like the one that was written, to be taken for it
_MOST_OF_KIND = 1_000_000  # nodes of a type that a call begins with


@dataclass(slots=True, eq=False, repr=False, match_args=False)
class Session:
    """What one agent has done with one graph: what a tool is made of. Not safe to share among threads.

    A tool reads `graph` and, for its defaults, `mode`, `saves_sets`, `takes_kinds`, `mends_names`, `offers_mode`,
    `offers_passages`, `offers_offset`, `is_plain` and `reply_characters`: `reply_tokens` of `characters_a_token` each.
    Of what a model names it gets rows by `rows`, `all_rows`, `ranked` or `all_ranked`, and types by `node_types` and
    `edge_types`; these add to `notes` what the reply is to say. `save` keeps a result as `@1`, `@2` and so on: `sets`
    are those results, `is_set` knows their names, `last` has the last of these, and `are_whole` tells what nothing has
    cut. `answer` holds the rows that were chosen, best first, `reasons` why, `whole_answer` the set that they are if
    they are one, `is_finished` and `comment` how the agent ended; `payment` is what pays for vectors.
    """

    graph: Graph
    reply_tokens: int = REPLY_TOKENS
    saves_sets: bool = True
    """Whether results are kept as `@1`, `@2`, and replies end with the state of the answer."""
    mends_names: bool | None = None
    """Whether a near type, a part of a name, or one of several nodes of a name is taken, with a note, where a model
    names no other; None if sets are saved. A server that keeps nothing from call to call mends, and saves none."""
    characters_a_token: float = CHARACTERS_A_TOKEN
    """Characters counted as a token of a reply: `CHARACTERS_A_TOKEN_OF_IDS` is safe if most of it is ids."""
    mode: Mode = "lexical"
    """How searches rank if the model does not say. All modes but `lexical` need vectors."""
    offers_mode: bool = False
    """Whether the model may say how a search is to rank."""
    takes_kinds: bool = False
    """Whether `all TYPE`, or the name of a type that no node has, means all nodes of the type."""
    offers_passages: bool = False
    """Whether a search takes passages, whose meaning counts as well as that of the query."""
    offers_offset: bool = False
    """Whether every list continues by an offset, because no set keeps the rest of it."""
    is_plain: bool = False
    """Whether tools have the parameters of their paper, and replies hold what was found, without counts and notices."""
    sets: list[Rows] = field(default_factory=list)
    """Whole results, each (n,) rows, ascending: what a walk starts from."""
    _shown: list[Rows] = field(default_factory=list, init=False)
    """The rows of each set that were shown, best first: an answer takes them in this order."""
    _whole: set[int] = field(default_factory=set, init=False)
    """The numbers of the sets that nothing has cut: all neighbours, and not the best so many of a search."""
    whole_answer: Rows | None = None
    """The saved set that the answer is, if it is one that nothing has cut, and nothing else."""
    answer: list[int] = field(default_factory=list)
    """Rows in the order in which they were chosen, which is the ranking."""
    reasons: dict[int, str] = field(default_factory=dict)
    """Why a row was chosen, in the agent's words."""
    is_finished: bool = False
    comment: str = ""
    payment: Payment = field(init=False)
    """What pays for the vectors of searches."""

    def __post_init__(self) -> None:
        self.payment = Payment(self.graph)
        if self.mends_names is None:
            self.mends_names = self.saves_sets

    @property
    def reply_characters(self) -> int:
        """The characters that a reply can have."""
        return int(self.reply_tokens * self.characters_a_token)

    def save(self, rows: Rows, *, first: Rows | None = None, is_whole: bool = False) -> str:
        """Save a whole result and return its name, or an empty string if this session saves none.

        `first` holds the rows that were shown, best first. `is_whole` if all nodes that meet what was asked are there,
        so that their number is a number of them.
        """
        if not self.saves_sets:
            return ""
        self.sets.append(distinct(rows))
        self._shown.append(rows if first is None else first)
        (self._whole.add if is_whole else self._whole.discard)(len(self.sets))
        return f"@{len(self.sets)}"

    def ranked(self, reference: str, notes: list[str]) -> list[int]:
        """Return the rows that a reference means, a saved set with its best rows first. Raises as `rows` does."""
        rows = self.rows(reference, notes)
        if not self.is_set(reference.strip()):
            return [int(row) for row in rows]
        shown = self._shown[self._number(reference) - 1]
        return [int(row) for row in (*shown, *np.setdiff1d(rows, shown))]

    def all_ranked(self, references: Sequence[str], notes: list[str]) -> list[int]:
        """Return the rows of several references, as `ranked` does each, with a note for each that means none.

        Raises as `rows` does if all of them mean none.
        """
        wanted: list[int] = []
        failures: list[UsageError] = []
        for reference in references:
            try:
                wanted += self.ranked(reference, notes)
            except (Unknown, BadOption) as error:
                failures.append(error)
        if failures and not wanted:
            raise failures[0]
        notes += [error.public[:300] for error in failures[:8]]
        return wanted

    def last(self) -> str | None:
        """Return the name of the last result that is not empty."""
        return next((f"@{number}" for number in range(len(self.sets), 0, -1) if len(self.sets[number - 1])), None)

    def rows(
        self, reference: str, notes: list[str], *, mask: Mask | None = None, kinds: KindMask | None = None
    ) -> Rows:
        """Return the rows that a reference means: `@3`, an id, a name, `name (Type)`, or if kinds are taken `all TYPE`.

        Of several nodes with one name, those with an edge that passes the filters are taken, and a note says so.
        Raises `UnknownNode`, `AmbiguousNode`, `BadOption`.
        """
        text = reference.strip()
        if self.is_set(text):
            number = self._number(text)
            if not 1 <= number <= len(self.sets):
                names = f"@1 to @{len(self.sets)}" if self.sets else "none yet"
                raise BadOption(f"There is no saved set {text}; there are {names}.")
            return self.sets[number - 1]
        if self.takes_kinds and (types := self._kind(text, notes)):
            return self._of_kind(types, notes)
        arrays, candidates = self.graph.arrays, self._named(text, notes)
        if len(candidates) > 1:
            if self.mends_names:
                candidates = self._with_edges(candidates, mask, kinds)
            if len(candidates) > 1:
                ids, nodes = [arrays.ids[row] for row in candidates], "; ".join(map(self._described, candidates[:8]))
                raise AmbiguousNode(f"{text!r} names {len(ids)} nodes: {nodes}. Use an id.", ids)
            row = candidates[0]
            notes.append(f"{text!r} is read as {arrays.ids[row]} ({arrays.type_at(row)})")
        elif (sharing := shared_name(arrays, text)) is not None:
            notes.append(f"{sharing}. Read as {arrays.ids[candidates[0]]}; for another use its id")
        return np.array(candidates, np.int32)

    def _kind(self, text: str, notes: list[str]) -> list[str]:
        """Return the node type that a reference means as a whole, none if a node is called so."""
        name = text.removeprefix("all ").strip()
        if not name or self.graph.arrays.candidates(text):
            return []
        try:
            if name == text:  # a near form may be that of a node's name
                self.graph.arrays.types.node_numbers([name])
            return self.node_types([name], notes)
        except UnknownType:
            return []

    def _of_kind(self, types: list[str], notes: list[str]) -> Rows:
        """Return all nodes of a type, with a note. Raises `BadOption` for very many."""
        count = self.graph.schema.node_types[types[0]]
        if count > _MOST_OF_KIND:
            more = f"there are {count:,} nodes of the type {types[0]}, more than {_MOST_OF_KIND:,}"
            raise BadOption(f"{more}: begin with a search, or with nodes by name")
        notes.append(f"it begins with {counted(count, 'node')}, all of the type {types[0]}")
        return self.graph.arrays.all_of(types)

    def are_whole(self, references: Sequence[str]) -> bool:
        """Return whether each of these is a node, or a saved set that nothing has cut."""
        sets = (reference for reference in references if self.is_set(reference.strip()))
        return all(self._number(reference) in self._whole for reference in sets)

    def is_set(self, text: str) -> bool:
        """Return whether a reference is the name of a saved set; a node may have an id that looks like one."""
        return self.saves_sets and bool(_SET.fullmatch(text)) and self.graph.arrays.ids.find(text) is None

    @staticmethod
    def _number(text: str) -> int:
        digits = text.strip()[1:]
        return int(digits) if digits.isdecimal() and len(digits) < 9 else 0

    def _named(self, text: str, notes: list[str]) -> list[int]:
        """Return the candidates for a name, or for what replies show: `name (Type)`, `[id]`, or both together."""
        graph = self.graph
        inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
        if rows := graph.arrays.candidates(inner) or self._typed(inner, notes):
            return rows
        if text.startswith("[") and (row := graph.arrays.ids.find(text[1:].partition("] ")[0])) is not None:
            return [row]
        if self.mends_names and (row := graph.arrays.named_in_part(inner)) is not None:
            name = one_line(graph.arrays.names[row])
            notes.append(f"{inner!r} is read as {name} [{graph.arrays.ids[row]}], the only name that holds it")
            return [row]
        raise unknown_node(graph, inner)

    def _typed(self, text: str, notes: list[str]) -> list[int]:
        """Return the candidates for `name (Type)`, none if the brackets hold no type."""
        name, _, rest = text.rpartition(" (")
        if not name or not rest.endswith(")"):
            return []
        try:
            types = self.node_types([rest[:-1]], notes)
        except UnknownType:
            return []
        wanted = self.graph.arrays.types.node_mask(types)
        return [row for row in self.graph.arrays.candidates(name) if wanted[self.graph.arrays.node_types[row]]]

    def _with_edges(self, rows: Sequence[int], mask: Mask | None, kinds: KindMask | None) -> list[int]:
        """Return the rows with an edge that passes the filters, or all rows if none has one."""
        passing = []
        for row in rows:
            entries = self.graph.arrays.adjacency.entries(np.array([row], np.int32), kinds)
            reached = entries.neighbor if mask is None else entries.neighbor[mask[entries.neighbor]]
            if len(reached):
                passing.append(row)
        return passing or list(rows)

    def _described(self, row: int) -> str:
        arrays = self.graph.arrays
        return f"[{arrays.ids[row]}] {one_line(arrays.names[row])} ({arrays.type_at(row)})"

    def all_rows(
        self, references: Sequence[str], notes: list[str], *, mask: Mask | None = None, kinds: KindMask | None = None
    ) -> Rows:
        """Return the rows of several references together: (n,), ascending."""
        parts = [self.rows(reference, notes, mask=mask, kinds=kinds) for reference in references]
        return distinct(np.concatenate(parts)) if parts else np.zeros(0, np.int32)

    def node_types(self, names: Sequence[str], notes: list[str]) -> list[str]:
        """Return the node types of these names; a near form is corrected, with a note. Raises `UnknownType`."""
        types = self.graph.arrays.types
        return [self._type(name, notes, types.node_numbers, types.nodes) for name in names]

    def edge_types(self, names: Sequence[str], notes: list[str]) -> list[str]:
        """Return the edge types of these names; a near form is corrected, with a note. Raises `UnknownType`."""
        types = self.graph.arrays.types
        return [self._type(name, notes, types.edge_numbers, types.edges) for name in names]

    def _type(
        self, name: str, notes: list[str], look_up: Callable[[list[str]], list[int]], types: Sequence[str]
    ) -> str:
        try:
            look_up([name])
        except UnknownType as error:
            schema = self.graph.schema
            called = {word.casefold(): code for code in types for word in schema.also_called.get(code, ())}
            # The one type with all words of the name, in any form: `works` is `worked_at`, `gene` is `gene/protein`.
            words = _stems(name)
            having = [code for code in types if words and words <= _stems(schema.label(code))]
            guess = (
                called.get(name.casefold())
                or (error.near[0] if error.near and letter_likeness(name, error.near[0]) >= _ALIKE else None)
                or (having[0] if len(having) == 1 else None)
            )
            if guess is None or not self.mends_names:
                raise
            notes.append(f"{name!r} is read as {schema.label(guess)!r}")
            return guess
        return name


def _stems(name: str) -> frozenset[str]:
    """Return the stems of the words of a type's name, `PaintedBy` and `PAINTED_BY` alike, but those like `by`."""
    apart = _CAPITAL.sub(" ", name)
    return frozenset(_TOKENIZER.stems_of(_TOKENIZER.words(apart))) - LANGUAGES["en"]


def unknown_node(graph: Graph, name: str, *, longest: int | None = None) -> UnknownNode:
    """Return the error about an unknown name, with the names that are spelled most like it."""

    def hint() -> Hint:
        near = graph.arrays.near_names(name)
        return Hint(near, f"Near names: {'; '.join(near)}." if near else "")

    return UnknownNode(f"Not in this graph: {name[:longest]!r}.", hint=hint)


def type_filters(
    session: Session,
    node_types: Sequence[str] | None,
    edge_types: Sequence[str] | None,
    notes: list[str],
    *,
    around: Rows | list[str] | None = None,
) -> tuple[list[str] | None, list[str] | None]:
    """Return node types and edge types by these names, None for no names. Raises `UnknownType`.

    The error lists the types around some rows or references.
    """
    try:
        nodes = session.node_types(node_types, notes) if node_types else None
        return nodes, session.edge_types(edge_types, notes) if edge_types else None
    except UnknownType as error:
        if around is None:
            raise
        rows = session.all_rows(around, []) if isinstance(around, list) else around
        raise near_types(error, session.graph, rows) from error


def near_types(error: Unknown, graph: Graph, rows: Rows) -> Unknown:
    """Return an error about a type with the edge types and node types around these nodes added."""
    counts = graph.arrays.counts(graph.arrays.adjacency.entries(rows)) if len(rows) else {}
    here = ", ".join(
        dict.fromkeys(f"{graph.schema.label(kind.edge_type)} ({kind.direction}) {kind.node_type}" for kind in counts)
    )
    return type(error)(f"{error} This node has: {here or 'no edges'}.", error.near)


class Snippets(NamedTuple):
    """Which rows of a reply are shown with a part of their text."""

    rows: int
    """So many, from the first on."""
    width: int
    """Characters of each part, at the most."""


class ReplyLines:
    """The lines of a reply, under a budget of tokens. Its last line is the state of the answer."""

    def __init__(self, session: Session, notes: Iterable[str] = ()) -> None:
        """A reply begins with the notes."""
        self._session = session
        self._lines: list[str] = []
        self._left = session.reply_characters - _REST
        if session.saves_sets:
            self._left -= len(state(session)) + 1
        self.shown: list[int] = []
        self.say_all(notes)

    def say(self, line: str) -> bool:
        """Add a line if there is room; return whether there was."""
        if len(line) + 1 > self._left:
            return False
        self._left -= len(line) + 1
        self._lines.append(line)
        return True

    def say_all(self, lines: Iterable[str]) -> int:
        """Add lines up to the first without room; return their number."""
        return sum(1 for _ in itertools.takewhile(self.say, lines))

    def say_rest(self, what: str) -> None:
        """Say what did not fit, for which there is room."""
        self._left += _REST
        self.say(f"... {what} did not fit into this reply")

    @property
    def room(self) -> int:
        """The characters that a further line can have."""
        return self._left - 1

    def snippets(self, rows: int) -> Snippets:
        """Return the number of rows that get a part of their text, and its width.

        If sets are saved, the rows after the first are names alone, so that the parts keep their size.
        """
        first = min(rows, SNIPPETS) if self._session.saves_sets else rows
        least = _TWENTY_WORDS if first < rows else _SHORTEST_SNIPPET
        width = (self._left - _NAME * (rows - first)) // max(first, 1) - _LINE
        return Snippets(first, max(least, min(SNIPPET, width)))

    def list(self, rows: Sequence[int], lines: Iterable[str]) -> None:
        """Add a line for each row, and how many did not fit."""
        for place, (row, line) in enumerate(zip(rows, lines, strict=True)):
            if not self.say(line):
                self.say_rest(f"{len(rows) - place} more")
                return
            self.shown.append(int(row))

    def page(self, rows: Sequence[int], lines: Iterable[str], head: Callable[[int], str]) -> None:
        """List rows under a head, which gets the number of rows shown, so that its range is true."""
        at, before, kept = len(self._lines), len(self.shown), len(head(len(rows))) + _MORE
        self._left -= kept
        self.list(rows, lines)
        line = head(len(self.shown) - before)
        self._lines.insert(at, line)
        self._left += kept - len(line) - 1

    def text(self) -> str:
        """Return the whole reply."""
        lines = list(self._lines)
        if self._session.saves_sets:
            lines.append(state(self._session))
        return "\n".join(lines)

    def observation(self) -> Observation:
        """Return the whole reply with the ids of the rows that it shows."""
        return Observation(self.text(), tuple(self._session.graph.arrays.ids[row] for row in self.shown))


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, which gets an s unless the number is 1."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def shown_range(offset: int, shown: int, of: int) -> str:
    """Return the range that a page shows, and the offset of the next one if there is one."""
    end = offset + shown
    if not shown:
        return f"None from {offset} on."
    return f"Shown {offset + 1}-{end}{f'; offset={end} for more' if end < of else ''}."


def state(session: Session) -> str:
    """Return the line with the state of the answer."""
    chosen = session.answer
    names = "; ".join(one_line(session.graph.arrays.names[row], 60) for row in chosen[:3])
    more = "; ..." if len(chosen) > 3 else ""
    return f"answer: {counted(len(chosen), 'node')}{f' ({names}{more})' if chosen else ''}"


@contextmanager
def aside(session: Session, rows: Rows) -> Iterator[str]:
    """Lend rows to a session as a set, by its name; it and what is saved meanwhile are forgotten afterwards."""
    before = len(session.sets)
    name = session.save(rows)
    while session.graph.arrays.ids.find(name) is not None:
        name = session.save(rows)
    try:
        yield name
    finally:
        del session.sets[before:], session._shown[before:]
