"""Nodes as text, attributes and edges: what TextRAG and GraphRAG read. GraphScout (003), appendix A.4; the form is ours.

    also: Alzheimer disease
    identifier: DOID:10652
    A tauopathy that is characterized by memory lapses ...
    -presents-> Symptom (3): Agnosia; Memory Disorders; Aphasia
    <-treats- Compound (5): Donepezil; Galantamine; and 3 more

A hub has more edges than a prompt can hold. Of its kinds of edge those come first that share a word with the question;
of the nodes of a kind those that the rest of the evidence holds too, then those that fit the question's words best.
Each kind says how many nodes it has in all. The kinds that share a word have what room there is before the others; among
equals a kind that needs little leaves the rest to those that need more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.build.documents.sentences import tokens as count_tokens
from orienteer.graph.adjacency import Entries
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.knowledge.evidence import Evidence, Scored
from orienteer.knowledge.linking import phrases
from orienteer.knowledge.rendering import Rendered, render
from orienteer.records import Kind, Node
from orienteer.tools.render import arrow, one_line

_SCORED = 5_000  # nodes whose fit to the question's words orders the names of a line
_VALUE = 200  # characters of a property
_NAME = 80  # characters of a name within a line
_EDGE_TEXT = 80  # characters of what an edge says
_CHARACTERS_A_TOKEN = 4
_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_SHORT = 4  # letters; a name no longer than that counts only as it is written: `CAN` is a gene, "can" is not


class Linear(NamedTuple):
    """A node as text."""

    row: int
    text: str
    rows: tuple[int, ...]
    """The neighbours that it names, in their order."""


class _Group(NamedTuple):
    """The neighbours of a node by one kind of edge."""

    kind: Kind
    rows: Rows
    """In the order in which they are named."""
    entries: Entries
    is_asked_for: bool


class Linearizer:
    """Writes nodes as text for one question."""

    def __init__(self, graph: Graph, question: str) -> None:
        self._graph = graph
        self._stems = frozenset(map(graph.tokenizer.stem, graph.tokenizer.words(question)))
        found = graph.searcher("lexical").search(question, _SCORED)
        self._fit = np.zeros(len(graph))  # (nodes,)
        self._fit[found.rows] = found.scores

    def write(self, row: int, tokens: int, *, first: Collection[int] = ()) -> Linear:
        """Return a node as text of about so many tokens at the most; `first` are the rows of the other evidence."""
        lines = list(self._attributes(self._graph.node_at(row), tokens // 2))
        left = tokens - sum(map(count_tokens, lines))
        named: list[int] = []
        groups = self._groups(row, first)
        rooms = _rooms(groups, left, {at: self._size(one) for at, one in enumerate(groups)})
        for at, group in enumerate(groups):
            line, rows = self._line(group, rooms[at])
            lines.append(line)
            named += rows
        return Linear(row, "\n".join(lines), tuple(dict.fromkeys(named)))

    def _attributes(self, node: Node, tokens: int) -> Iterator[str]:
        """Yield what a node says of itself, as far as there is room."""
        left = tokens * _CHARACTERS_A_TOKEN
        lines = [f"also: {'; '.join(map(one_line, node.aliases))}"] if node.aliases else []
        for name, value in node.properties.items():
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            lines.append(f"{name}: {one_line(shown, _VALUE)}")
        lines += [" ".join(line.split()) for line in node.text.splitlines() if line.strip()]
        for line in lines:
            if left <= 0:
                return
            yield one_line(line, left)
            left -= len(line) + 1

    def _groups(self, row: int, first: Collection[int]) -> list[_Group]:
        """Return a node's edges by kind: what the question speaks of first, then what has fewest neighbours."""
        graph = self._graph
        entries = graph.adjacency.entries(np.array([row], np.int32))
        kinds = entries.kind.astype(np.int64)
        symmetric = [number for number, name in enumerate(graph.types.edges) if name in graph.schema.symmetric]
        kinds = np.where(np.isin(kinds >> 1, symmetric), kinds & ~1, kinds)
        codes = kinds * len(graph.types.nodes) + graph.node_types[entries.neighbor]
        groups = [self._group(code, entries.where(codes == code), first) for code in np.unique(codes).tolist()]
        return sorted(groups, key=lambda one: (not one.is_asked_for, len(one.rows), one.kind))

    def _group(self, code: int, entries: Entries, first: Collection[int]) -> _Group:
        graph, wide = self._graph, len(self._graph.types.nodes)
        kind = graph.types.kind(code // wide, code % wide)
        rows = np.unique(entries.neighbor)
        order = np.lexsort((rows, -self._fit[rows], ~np.isin(rows, list(first))))
        return _Group(kind, rows[order], entries, self._is_asked_for(kind))

    def _is_asked_for(self, kind: Kind) -> bool:
        """Tell whether the question has a word of the edge type or of the node type."""
        said = (
            phrase
            for name in (kind.edge_type, kind.node_type)
            for phrase in phrases(name, self._graph.schema, self._graph.tokenizer)
        )
        return any(self._graph.tokenizer.stem(word) in self._stems for phrase in said for word in phrase)

    def _size(self, group: _Group) -> int:
        """Return about how many tokens a group takes that is named whole; of a large one as much as ever counts."""
        names = [self._named(group, row) for row in group.rows[:_SCORED].tolist()]
        return count_tokens(f"{arrow(self._graph, group.kind)} (0000): {'; '.join(names)}")

    def _line(self, group: _Group, tokens: int) -> tuple[str, list[int]]:
        """Return a group as a line of about so many tokens, and the rows that it names."""
        total = len(group.rows)
        line = f"{arrow(self._graph, group.kind)} ({total}): "
        left = tokens - count_tokens(line) - (4 if total > 1 else 0)  # `and 9 more`
        names: list[str] = []
        for row in group.rows.tolist():
            name = self._named(group, row)
            left -= count_tokens(name) + 1
            if left < 0:
                break
            names.append(name)
        more = [f"and {total - len(names)} more" if names else f"{total} in all"] if len(names) < total else []
        return line + "; ".join([*names, *more]), group.rows[: len(names)].tolist()

    def _named(self, group: _Group, row: int) -> str:
        """Return a neighbour's name, with what the edges to it say."""
        graph = self._graph
        name = one_line(graph.names[row] or graph.ids[row], _NAME)
        if not graph.has_extras:
            return name
        places = group.entries.at[group.entries.neighbor == row].tolist()
        said = dict.fromkeys(one_line(text, _EDGE_TEXT) for at in places if (text := graph.extras(at).get("text")))
        return f"{name} ({', '.join(said)})" if said else name


def _rooms(groups: Sequence[_Group], tokens: int, sizes: Mapping[int, int]) -> dict[int, int]:
    """Return the tokens that each group may take: what the question speaks of before the rest, equally among equals."""
    rooms: dict[int, int] = {}
    left = tokens
    for is_asked_for in (True, False):
        some = sorted((at for at, one in enumerate(groups) if one.is_asked_for == is_asked_for), key=sizes.__getitem__)
        for place, at in enumerate(some):
            rooms[at] = min(sizes[at], max(0, left) // (len(some) - place))
            left -= rooms[at]
    return rooms


def rendered(graph: Graph, written: Iterable[Linear], tokens: int) -> Rendered:
    """Return nodes as evidence for a prompt, labelled in their order."""
    nodes = (replace(graph.node_at(one.row), text=one.text) for one in written)
    return render(Evidence(nodes=tuple(Scored(node, 1.0) for node in nodes)), graph, tokens)


def named_in(graph: Graph, rows: Iterable[int], answer: str) -> list[int]:
    """Return those of some rows whose name stands in an answer, in its order, no letter being part of two names."""
    bare = _BRACKETS.sub(" ", answer)
    folded = bare.casefold()
    by_name: dict[str, list[int]] = {}
    for row in dict.fromkeys(rows):
        name = " ".join(graph.names[row].split())
        if any(map(str.isalpha, name)) and name.casefold() in folded:
            by_name.setdefault(name, []).append(row)
    found: list[tuple[int, int]] = []
    taken = np.zeros(len(bare), np.bool_)
    for name in sorted(by_name, key=lambda one: (-len(one), one)):
        flags = re.IGNORECASE if len(name) > _SHORT else re.NOFLAG
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", bare, flags):
            if _is_free(taken, match.start(), match.end()):
                taken[match.start() : match.end()] = True
                found += [(match.start(), row) for row in by_name[name]]
    return list(dict.fromkeys(row for _, row in sorted(found)))


def _is_free(taken: NDArray[np.bool_], begin: int, end: int) -> bool:
    return not taken[begin:end].any()
