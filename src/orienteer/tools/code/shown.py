"""Which nodes a run of code has shown: those whose whole ids it printed, then those of a short result."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from orienteer.cypher.table import QueryTable
from orienteer.cypher.view import identifiers
from orienteer.graph.store import Graph
from orienteer.records import JsonValue

if TYPE_CHECKING:
    from orienteer.cypher.view import View

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
        """Return the ids of nodes that were printed, in order, then those in the rows where these are few; at most 100.

        A bare number is no id: `250` rather says how many there are than which one.
        """
        values = list(dict.fromkeys(_texts(returned)))
        printed_nodes: dict[str, None] = {}
        for word in dict.fromkeys(_words(printed, values)):
            printed_nodes.update(dict.fromkeys(self._named(word)))
        others: dict[str, None] = {}
        for value in values:
            others.update(dict.fromkeys(self._named(value)))
            if len(others) > _MOST:  # nobody has seen them all: none of them was shown
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
    """Return what may be an id in a text, in order: quoted text, as in lists and dicts, words, and values."""
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


def _texts(returned: Sequence[QueryTable]) -> Iterator[str]:
    """Yield every text of the rows that may be an id: a value, one in a list or a map, the `id` of a node."""
    for table in returned:
        for row in table.rows:
            for value in row:
                yield from _text(value)


def _text(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _text(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in _NO_IDS:
                yield from _text(item)
