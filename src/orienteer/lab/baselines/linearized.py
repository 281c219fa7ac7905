"""Nodes as text, attributes and edges, for TextRAG and GraphRAG. GraphScout (003), appendix A.4; the form is ours.

    [N1] Alzheimer's disease (Disease)
      identifier: DOID:10652
      A tauopathy that is characterized by memory lapses ...
      -presents-> Symptom (3): Agnosia; Memory Disorders; Aphasia
      <-treats- Compound (5): Donepezil; Galantamine; and 3 more

A hub has more edges than a prompt can hold. Of its kinds of edge those come first whose edge type and node type both
share a word with the question, then those of which one does; of the nodes of a kind those that the rest of the evidence
holds too, then those that fit the question's words best. Each kind says how many nodes it has in all. What comes first
takes what room there is; among equals a kind that needs little leaves the rest to those that need more. Attributes
have half of a text, and what edges leave.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from pydantic import Field

from orienteer.agents.answer import NOT_THERE
from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.graph.adjacency import Entries, span
from orienteer.graph.reserved import PASSAGES
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.records import Kind, Node, Result
from orienteer.remembered import remembered
from orienteer.retrieval.analysis import STOP
from orienteer.retrieval.evidence import EvidenceText
from orienteer.retrieval.graph_text import kind_line, plain_lines
from orienteer.retrieval.mentions import named_in, type_phrases
from orienteer.text.lines import one_line, value_text
from orienteer.text.sentences import tokens as count_tokens

_MOST_TYPES = 256  # whose words are remembered
_SCORED = 5_000  # nodes whose fit to the question's words orders the names of a line
_ALIASES = 400  # characters of all other names together, as `read_node` shows them
_VALUE = 200  # characters of a property
_EDGE_TEXT = 80  # characters of what an edge says
LEAST = 40
"""Fewest tokens of a text that says anything: without room for them a node is left out, with a note."""
_MORE, _KINDS, _LABEL = 4, 6, 4  # tokens of `; and 9 more`, of `and 9 more kinds of edge`, of a label in its brackets


class LinearConfig(WorkflowConfig):
    """What both methods let choose."""

    context_tokens: int = Field(default=8_000, ge=1)
    """Size of what the model reads; the number is ours."""


class NodeText(NamedTuple):
    """A node as text."""

    row: int
    text: str
    rows: tuple[int, ...]
    """The neighbours that the text names, in their order."""
    tokens: int
    """Tokens that it takes of a prompt, with its label."""


class _EdgeGroup(NamedTuple):
    """The neighbours of a node by one kind of edge."""

    kind: Kind
    rows: Rows
    """The neighbours, in the order in which they are named."""
    entries: Entries
    fit: int
    """2 where the question speaks of both edge type and node type, 1 where of one, 0 where of neither."""


class _Fitting(NamedTuple):
    """The kinds of edge that a text has room for."""

    groups: list[_EdgeGroup]
    heads: list[str]
    """The beginning of the line of each, and a last line where some kinds have no room."""
    tokens: int
    """Tokens that are left for names."""


class Linearizer:
    """Writes nodes as text for one question."""

    def __init__(self, graph: Graph, question: str) -> None:
        self._graph = graph
        words = graph.arrays.tokenizer.words(question)
        self._stems = frozenset(graph.arrays.tokenizer.stem(word) for word in words if word not in STOP)
        hits = graph.arrays.searcher("lexical").search(question, _SCORED)
        self._fit = np.zeros(len(graph))  # (nodes,)
        self._fit[hits.rows] = hits.scores

    def write(self, row: int, tokens: int, *, first: Collection[int] = ()) -> NodeText:
        """Return a node as text of at most about so many tokens. `first` are the rows of the other evidence."""
        node, all_groups = self._graph.arrays.node_at(row), self._groups(row, first)
        title = f"{one_line(node.name)} ({one_line(node.type)})"
        left = tokens - _LABEL - count_tokens(title)
        lines = [title, *self._attributes(node, left - self._need(all_groups, left // 2))]
        groups, heads, left = self._fitting(all_groups, left - sum(map(count_tokens, lines[1:])))
        rooms = _rooms(groups, left, [self._size(group, left) for group in groups])
        named: list[int] = []
        for head, group, room in zip(heads, groups, rooms, strict=False):
            names = self._names(group, room + _MORE)  # the last of them in place of saying that there is more
            if len(names) < len(group.rows):
                names = self._names(group, room)
            more = [f"and {len(group.rows) - len(names)} more"] if len(names) < len(group.rows) else []
            lines.append(head + "; ".join([*names, *more]))
            named += group.rows[: len(names)].tolist()
        lines += heads[len(groups) :]
        text = "\n  ".join(lines)
        return NodeText(row, text, tuple(dict.fromkeys(named)), count_tokens(text) + _LABEL)

    def _need(self, groups: Sequence[_EdgeGroup], most: int) -> int:
        """Return how many tokens the lines of all edges take, at most `most`."""
        need = _KINDS if groups else 0
        for group in groups:
            if need >= most:
                return most
            need += count_tokens(self._head(group)) + _MORE + self._size(group, most)
        return min(need, most)

    def _head(self, group: _EdgeGroup) -> str:
        return f"{one_line(kind_line(self._graph, group.kind))} ({len(group.rows)}): "

    def _fitting(self, groups: Sequence[_EdgeGroup], tokens: int) -> _Fitting:
        """Return the kinds of edge that there is room for, the beginning of each line, and the tokens left."""
        fitting: list[_EdgeGroup] = []
        heads: list[str] = []
        left = tokens - _KINDS
        for group in groups:
            head = self._head(group)
            cost = count_tokens(head) + _MORE
            if cost > left:
                return _Fitting(fitting, [*heads, f"and {len(groups) - len(fitting)} more kinds of edge"], max(0, left))
            fitting.append(group)
            heads.append(head)
            left -= cost
        return _Fitting(fitting, heads, max(0, left))

    def _attributes(self, node: Node, tokens: int) -> Iterator[str]:
        """Yield the aliases, properties and text of a node as lines, as far as there is room."""
        lines = [one_line(f"also: {'; '.join(node.aliases)}", _ALIASES)] if node.aliases else []
        for name, value in node.properties.items():
            lines.append(one_line(f"{name}: {value_text(value)}", _VALUE))
        lines += plain_lines(node.text)
        left = tokens
        for line in lines:
            if left <= 0:
                return
            cut = _cut(line, left)
            yield cut
            left -= count_tokens(cut)

    def _groups(self, row: int, first: Collection[int]) -> list[_EdgeGroup]:
        """Return a node's edges by kind: those that the question speaks of first, then those with fewest neighbours."""
        graph = self._graph
        entries = graph.arrays.adjacency.entries(np.array([row], np.int32))
        kinds = entries.kind.astype(np.int64)
        symmetric = [number for number, name in enumerate(graph.arrays.types.edges) if name in graph.schema.symmetric]
        kinds = np.where(np.isin(kinds >> 1, symmetric), kinds & ~1, kinds)
        codes = kinds * len(graph.arrays.types.nodes) + graph.arrays.node_types[entries.neighbor]
        own = graph.arrays.type_at(row)
        groups = [self._group(own, code, entries.where(codes == code), first) for code in np.unique(codes).tolist()]
        return sorted(groups, key=lambda group: (-group.fit, len(group.rows), group.kind))

    def _group(self, own: str, code: int, entries: Entries, first: Collection[int]) -> _EdgeGroup:
        graph, wide = self._graph, len(self._graph.arrays.types.nodes)
        kind = graph.arrays.types.kind(code // wide, code % wide)
        rows = np.unique(entries.neighbor)
        order = np.lexsort((rows, -self._fit[rows], ~np.isin(rows, list(first))))
        fit = self._is_said(kind.edge_type, joined=(own, kind.node_type)) + self._is_said(kind.node_type)
        return _EdgeGroup(kind, rows[order], entries, fit)

    def _is_said(self, type_name: str, *, joined: Sequence[str] = ()) -> bool:
        """Tell whether the question has a telling word of a type.

        The node types that an edge type joins are no part of it: one may also be called `Disease - presents - Symptom`.
        """
        others = frozenset[str]().union(*(way for end in joined for way in self._ways(end)))
        return any(((way - others) or way) & self._stems for way in self._ways(type_name))

    @remembered(_MOST_TYPES)
    def _ways(self, type_name: str) -> tuple[frozenset[str], ...]:
        """Return the stems of each phrase for a type."""
        tokenizer = self._graph.arrays.tokenizer
        phrases = type_phrases(type_name, self._graph.schema, tokenizer)
        return tuple(frozenset(map(tokenizer.stem, phrase)) for phrase in phrases)

    def _size(self, group: _EdgeGroup, tokens: int) -> int:
        """Return how many tokens the names of a group take, counted up to `tokens`."""
        return sum(count_tokens(name) + 1 for name in self._names(group, tokens))

    def _names(self, group: _EdgeGroup, tokens: int) -> list[str]:
        """Return as many names of a group as there is room for."""
        names: list[str] = []
        left = tokens
        for row in group.rows.tolist():
            name = self._named(group, row)
            left -= count_tokens(name) + 1
            if left < 0:
                break
            names.append(name)
        return names

    def _named(self, group: _EdgeGroup, row: int) -> str:
        """Return a neighbour's name with the texts of the edges to it."""
        graph = self._graph
        name = one_line(graph.arrays.names[row])
        if not graph.arrays.has_extras:
            return name
        places = group.entries.at[slice(*span(group.entries.neighbor, row))].tolist()
        texts = dict.fromkeys(
            one_line(text, _EDGE_TEXT) for at in places if (text := graph.arrays.extras(at).get("text"))
        )
        return f"{name} ({', '.join(texts)})" if texts else name


def _cut(line: str, tokens: int) -> str:
    """Return a line cut to so many tokens, with an ellipsis where it is cut."""
    cut = line
    while (count := count_tokens(cut)) >= tokens and len(cut) > 1:
        cut = cut[: min(len(cut) - 1, len(cut) * tokens // count)]
    return line if count_tokens(line) <= tokens else f"{cut}…"


def _rooms(groups: Sequence[_EdgeGroup], tokens: int, sizes: Sequence[int]) -> list[int]:
    """Return the tokens that each group may take: first the groups that the question speaks of, with equal shares."""
    rooms = [0] * len(groups)
    left = tokens
    for fit in (2, 1, 0):
        places = sorted((at for at, group in enumerate(groups) if group.fit == fit), key=sizes.__getitem__)
        for place, at in enumerate(places):
            rooms[at] = min(sizes[at], left // (len(places) - place))
            left -= rooms[at]
    return rooms


def render_nodes(graph: Graph, written: Iterable[NodeText], tokens: int) -> EvidenceText:
    """Return nodes as evidence for a prompt, labelled in their order, as many as there is room for.

    Their texts are indented, so that none can pass for a label.
    """
    labels: dict[str, tuple[str, ...]] = {}
    pieces: list[str] = []
    left, left_out = tokens, 0
    for node in written:
        if node.tokens > left:
            left_out += 1
            continue
        left -= node.tokens
        label = f"{'C' if graph.arrays.type_at(node.row) in PASSAGES else 'N'}{len(labels) + 1}"
        labels[label] = (graph.arrays.ids[node.row],)
        pieces.append(f"[{label}] {node.text}")
    return EvidenceText("\n".join(pieces), labels, left_out)


def named_first(result: Result, workflow: Workflow, written: Sequence[NodeText]) -> Result:
    """Return an answered result with the nodes that its answer names first, then those that it cites."""
    if result.answer in (None, NOT_THERE):
        return result
    graph = workflow.graph
    rows = (row for node in written for row in (node.row, *node.rows))
    reasons = dict.fromkeys(named_in(graph, rows, str(result.answer)), "named in the answer")
    for node in result.trajectories[-1].selected:
        reasons.setdefault(graph.arrays.row(node), "cited in the answer")
    for hit in result.hits:
        reasons.setdefault(graph.arrays.row(hit.id), hit.why)
    return result.model_copy(update={"hits": workflow.present(reasons)})
