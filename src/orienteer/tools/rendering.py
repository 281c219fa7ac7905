"""Replies for a model: short lines, the most telling first, under a token budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Posting
from orienteer.text.lines import CHARACTERS_A_TOKEN, one_line, snippet
from orienteer.tools.session import Session

_SNIPPET = 160  # characters
_SHORTEST_SNIPPET = 40
_LINE = 100  # characters of a line of a reply besides its snippet
_REST = 80  # characters kept for saying what did not fit
_COMMON = 0.4  # a word that this share of all nodes has says nothing when it is missing


class Match(NamedTuple):
    """Which of a query's words a node has."""

    found: int
    of: int
    missing: tuple[str, ...]
    """Rarest first."""

    @property
    def is_full(self) -> bool:
        """No word is missing."""
        return not self.missing


class Words:
    """A query's words, ready to explain hits."""

    def __init__(self, graph: Graph, query: str) -> None:
        self._graph, self.query = graph, query
        tokenizer, index = graph.tokenizer, graph.text_index
        self.terms = tokenizer.query(query)
        self.postings: dict[str, list[Posting]] = {}
        unknown: list[str] = []
        for word in dict.fromkeys(tokenizer.words(query)):
            postings = [posting for term in tokenizer.expand(word) if (posting := index.posting(term))]
            if not postings:
                unknown.append(word)
            elif postings[0].nodes <= _COMMON * index.count:
                self.postings[word] = postings
        self.unknown = tuple(unknown)
        self.weights = {one.term: one.idf for postings in self.postings.values() for one in postings}

    def full(self, rows: Rows) -> Rows:
        """Return those of some sorted rows that have every word that says something."""
        if self.unknown:
            return rows[:0]
        for postings in self.postings.values():
            index = self._graph.text_index
            rows = np.unique(np.concatenate([index.having(posting, rows) for posting in postings]))
        return rows

    def full_in(self, among: Rows | None) -> Rows:
        """Return the rows that have every word that says something, of the whole graph or among some."""
        if among is not None:
            return self.full(among)
        index = self._graph.text_index
        rarest = min(self.postings.values(), key=lambda postings: sum(one.nodes for one in postings))
        return self.full(np.unique(np.concatenate([index.rows_of(posting) for posting in rarest])))

    def matches(self, rows: Rows) -> list[Match]:
        """Tell for each row which words it has."""
        order = np.argsort(rows)
        ascending = rows[order]
        has: dict[str, set[int]] = {}
        for word, postings in self.postings.items():
            has[word] = {int(row) for posting in postings for row in self._graph.text_index.having(posting, ascending)}
        rare = sorted(self.postings, key=lambda word: -self.postings[word][0].idf)
        found = []
        for row in rows.tolist():
            missing = (*self.unknown, *(word for word in rare if row not in has[word]))
            total = len(self.postings) + len(self.unknown)
            found.append(Match(total - len(missing), total, missing))
        return found

    def snippet(self, row: int, *, width: int = _SNIPPET) -> str:
        """Return the part of a node's text that shows the match best."""
        return snippet(self._graph.texts[row], self.weights, self._graph.tokenizer.terms_of, width=width)


class Reply:
    """Lines of a reply, kept under the budget; the state of the answer always ends it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lines: list[str] = []
        self._left = session.reply_tokens * CHARACTERS_A_TOKEN - _REST
        if session.saves_sets:
            self._left -= len(state(session)) + 1
        self.shown: list[int] = []

    def say(self, line: str) -> bool:
        """Add a line; False, and nothing added, where the budget is spent."""
        if len(line) + 1 > self._left:
            return False
        self._left -= len(line) + 1
        self._lines.append(line)
        return True

    def say_all(self, lines: Iterable[str]) -> None:
        """Add lines for as long as there is room."""
        for line in lines:
            if not self.say(line):
                return

    def width(self, rows: int) -> int:
        """Return how wide the snippets of this many rows can be, for all to fit."""
        return max(_SHORTEST_SNIPPET, min(_SNIPPET, self._left // max(rows, 1) - _LINE))

    def list(self, rows: Sequence[int], lines: Iterable[str]) -> None:
        """Add one line a row; say how many did not fit."""
        for place, (row, line) in enumerate(zip(rows, lines, strict=True)):
            if not self.say(line):
                self._left += _REST
                self.say(f"... {len(rows) - place} more did not fit into this reply")
                return
            self.shown.append(int(row))

    def text(self) -> str:
        """Return the whole reply."""
        lines = list(self._lines)
        if self._session.saves_sets:
            lines.append(state(self._session))
        return "\n".join(lines)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, of which there may be one."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def state(session: Session) -> str:
    """Return the line that says what is in the answer."""
    chosen = session.answer
    names = "; ".join(one_line(session.graph.names[row], 60) for row in chosen[:3])
    more = "; ..." if len(chosen) > 3 else ""
    return f"answer: {counted(len(chosen), 'node')}{f' ({names}{more})' if chosen else ''}"


def match_note(match: Match) -> str:
    """Return how much of the query a node has."""
    if not match.of:
        return ""
    missing = f", not: {', '.join(match.missing[:3])}" if match.missing else ""
    return f" {match.found}/{match.of} words{missing}"
