"""The answer's entities as nodes, and the ranking that they begin. Ours: the paper answers in words alone.

A name is looked for among the nodes that the course has shown, then in the whole graph: as an id, a name or an alias.
Of a list the longest run of parts that is a name counts first, for names hold commas. Booleans and numbers name
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from orienteer.cypher.view import Identifiers
from orienteer.graph.store import Graph
from orienteer.records import Step
from orienteer.retrieval.linking import Policy, link

_VALUE = re.compile(r"true|false|yes|no|none|null|[-+]?[\d][\d.,\s]*%?", re.IGNORECASE)
_PARTS = re.compile(r"(\s*[,;|\n]\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+)", re.IGNORECASE)
_BRACKETED = re.compile(r"(.*\S)\s*[(\[]([^()\[\]]+)[)\]]")
_MOST_PARTS = 200  # of an answer that is looked at
_LONGEST = 12  # parts that one name may be written in
_MOST_OF_A_NAME = 10  # nodes that share a name and that nothing tells apart
_SHORTEST = 3  # characters of a name that is looked for inside a sentence
_SMALL = 20  # nodes of a result that was rather found than listed
_AROUND = " \t\r\n.\"'`*-•"
_BRACKETS = "()[]{}"
_NUMBERED = re.compile(r"\d{1,3}[.)]\s+")  # of a list, a line each
_FORMS = (str.strip, lambda name: name.strip(_AROUND), lambda name: _NUMBERED.sub("", name.strip(), 1))


class LinkedAnswer(NamedTuple):
    """What an answer names."""

    rows: tuple[int, ...]
    missing: tuple[str, ...]
    """Parts that no node is called by."""


class AnswerLinker:
    """Finds the nodes that an answer names."""

    def __init__(self, graph: Graph, identifiers: Identifiers | None = None) -> None:
        self._graph, self._policy = graph, Policy(_FORMS, _MOST_OF_A_NAME, identifiers)

    def link(self, answer: str, shown: Collection[int] = ()) -> LinkedAnswer:
        """Return the rows that an answer names, in its order, those shown before first where a name has several."""
        rows: dict[int, None] = {}
        missing: list[str] = []
        parts = _PARTS.split(answer)[: 2 * _MOST_PARTS]
        at = begin = 0  # of the parts since `begin` none is a name
        while at < len(parts):
            linked, end = self._longest(parts, at, shown)
            if linked:
                rows.update(dict.fromkeys(self._rest(parts[begin:at], shown, missing)))
                rows.update(dict.fromkeys(linked))
                begin = end
            at = end
        rows.update(dict.fromkeys(self._rest(parts[begin:], shown, missing)))
        return LinkedAnswer(tuple(rows), tuple(missing))

    def _rest(self, parts: Sequence[str], shown: Collection[int], missing: list[str]) -> list[int]:
        """Return what a run of parts that are no names names within; where it names nothing they are missing."""
        rows = self._inside("".join(parts), shown)
        if not rows:
            bare = (part.strip(_AROUND) for part in parts[::2])
            missing += [part for part in bare if part and not _VALUE.fullmatch(part)]
        return rows

    def _longest(self, parts: Sequence[str], at: int, shown: Collection[int]) -> tuple[list[int], int]:
        """Return the nodes of the longest name that begins at a part, and where the next part begins."""
        last = min(len(parts), at + 2 * _LONGEST)
        for end in range(last - 1 if (last - at) % 2 == 0 else last, at, -2):  # parts stand at every other place
            if rows := self._named("".join(parts[at:end]), shown):
                return rows, end + 1
        return [], at + 2

    def _named(self, text: str, shown: Collection[int]) -> list[int]:
        """Return the nodes of a name; with brackets behind it, of the name and of what they hold, or of one of them."""
        if _VALUE.fullmatch(text.strip(_AROUND + _BRACKETS)):
            return []
        if rows := link(self._graph, text, self._policy, shown):
            return rows
        bracketed = _BRACKETED.fullmatch(text.strip(_AROUND))
        if bracketed is None:
            return []
        before, inner = (link(self._graph, part, self._policy, shown) for part in bracketed.groups())
        if not before and _PARTS.search(bracketed[1]):  # several parts, of which the brackets belong to the last alone
            return []
        return [row for row in before if row in inner] or before or inner

    def _inside(self, text: str, shown: Collection[int]) -> list[int]:
        """Return the nodes shown whose name stands in a sentence, in its order; of names in one another the longest."""
        folded = text.casefold()
        places: list[tuple[int, int, int]] = []
        for row in shown:
            name = self._graph.names[row].casefold()
            if len(name) < _SHORTEST or name not in folded or _VALUE.fullmatch(name):
                continue  # told at once: of most names no pattern need be made
            if match := re.search(rf"(?<!\w){re.escape(name)}(?!\w)", folded):
                places.append((match.start(), match.end(), row))
        return [
            row
            for begin, end, row in sorted(places)
            if not any(first <= begin and end <= last and last - first > end - begin for first, last, _ in places)
        ]


def shown_nodes(graph: Graph, steps: Sequence[Step]) -> dict[int, str]:
    """Return the rows that observations have shown, with how: of the latest small result first, long lists last."""
    small: dict[int, str] = {}
    large: dict[int, str] = {}
    for number, name, nodes in _results(steps):
        for node in nodes:
            (small if len(nodes) <= _SMALL else large).setdefault(graph.row(node), f"shown by {name} in step {number}")
    return {**small, **{row: why for row, why in large.items() if row not in small}}


def _results(steps: Sequence[Step]) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Return what each call gave, the latest first: the number of its step, the tool, the nodes."""
    for number in range(len(steps), 0, -1):
        step = steps[number - 1]
        names = {call.id: call.name for call in step.reply.message.tool_calls}
        for observation in reversed(step.observations):
            if observation.nodes:
                yield number, names.get(observation.call_id, "a tool"), observation.nodes
