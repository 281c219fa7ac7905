"""Communities of a graph and what is written of them: those that it holds, else such as are made when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.reserved import COMMUNITY
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.searchers import Memo
from orienteer.llm.exchange import ask_for
from orienteer.llm.prompts import prompt_of
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Edge, Node, Trajectory
from orienteer.retrieval.expansion.communities import LEVELS, open_communities
from orienteer.retrieval.graph_text import arrow
from orienteer.retrieval.spaces import Spaces
from orienteer.text.lines import single_spaced

IN_COMMUNITY = "in_community"
_TITLE = 3
"""Names of members that make a title."""
_MEMBERS, _EDGES = 20, 20
"""Members and relations that a report lists, the best connected first; ours."""
_TEXT = 300
"""Characters of a member's text that a report holds."""
_SCHEMA = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "report": {"type": "string"}},
    "required": ["title", "report"],
    "additionalProperties": False,
}


class Met(NamedTuple):
    """A community that some entities are in."""

    members: int
    """How many of them are in it."""
    rating: float
    row: int
    """The community's node; where it was made, its first member."""


class CommunityReport(NamedTuple):
    """A community as a node, its report being the text."""

    node: Node
    trajectories: tuple[Trajectory, ...] = ()
    """What a model was asked to write it, this time: none where it was written before."""


class Reports:
    """Finds the communities of entities, and their reports. Safe to share among threads."""

    def __init__(
        self, graph: Graph, spaces: Spaces, *, level: int, nodes: NDArray[np.bool_], model: LanguageModel | None = None
    ) -> None:
        self._graph, self._spaces, self._model = graph, spaces, model
        self._nodes, self._level = nodes, level
        self.is_given = bool(spaces.communities.any()) and IN_COMMUNITY in graph.arrays.types.edges
        """Whether the graph holds communities."""
        self._opening = Lock()
        self._written = Memo[int, Node]()

    def of(self, rows: Sequence[int]) -> list[Met]:
        """Return the communities that some entities are in: most of them first, then the better rated, the smaller."""
        communities = self._given(rows) if self.is_given else self._made(rows)
        return sorted(communities, key=lambda community: (-community.members, -community.rating, community.row))

    def report(self, met: Met, question: str, run: Run) -> CommunityReport:
        """Return a community as a node, its report being the text, which a model may write for a question's sake.

        Raises `BudgetExhausted`, `ModelError`.
        """
        if self.is_given:
            return CommunityReport(self._graph.arrays.node_at(met.row))
        calls: list[Trajectory] = []
        node = self._written(met.row, lambda row: self._asked(row, question, run, calls))
        return CommunityReport(node, tuple(calls))

    def listed(self, met: Met) -> Node:
        """Return a community as a node without asking a model."""
        return self._graph.arrays.node_at(met.row) if self.is_given else self._listed(met.row)

    # -------------------------------------------------------------------------------------------------------- given

    def _given(self, rows: Sequence[int]) -> list[Met]:
        """Return the given communities of some entities, of levels up to the wanted one."""
        graph = self._graph
        entries = graph.arrays.adjacency.entries(
            np.unique(np.array(rows, np.int32)), graph.arrays.kind_mask([IN_COMMUNITY], "out")
        )
        entries = entries.where(self._spaces.communities[entries.neighbor])
        communities, counts = np.unique(entries.neighbor, return_counts=True)
        levels, ratings = self._numbers("level", communities), self._numbers("rating", communities)
        return [
            Met(count, rating, row)
            for row, count, level, rating in zip(communities.tolist(), counts.tolist(), levels, ratings, strict=True)
            if level <= self._level
        ]

    def _numbers(self, name: str, rows: Rows) -> list[float]:
        if name not in self._graph.arrays.properties.names:
            return [0.0] * len(rows)
        values = self._graph.arrays.properties.values(name, rows)
        return [float(value) if isinstance(value, int | float) else 0.0 for value in values]

    # --------------------------------------------------------------------------------------------------------- made

    @cached_property
    def _opened(self) -> NDArray[np.int32]:
        return open_communities(self._graph, self._nodes | self._spaces.facts)

    @property
    def _level_of(self) -> NDArray[np.int32]:
        """The community of each row at the finest level that is wanted."""
        with self._opening:
            community_of: NDArray[np.int32] = self._opened[min(self._level, LEVELS - 1)]
            return community_of

    def _made(self, rows: Sequence[int]) -> list[Met]:
        numbers = self._level_of[np.array(rows, np.int64)] if len(rows) else np.zeros(0, np.int32)
        communities, counts = np.unique(numbers[numbers >= 0], return_counts=True)
        return [Met(count, 0.0, row) for row, count in zip(communities.tolist(), counts.tolist(), strict=True)]

    def _asked(self, row: int, question: str, run: Run, calls: list[Trajectory]) -> Node:
        """Return a report that a model writes over the list of members and relations; the list where it fails to.

        The call, where there was one, is added to `calls`.
        """
        listed = self._listed(row)
        if self._model is None:
            return listed
        prompt = prompt_of("community", "orienteer.retrieval")
        _, reply, trajectory = ask_for(self._model, run, prompt, _SCHEMA, question=question, community=listed.text)
        calls.append(trajectory)
        if reply is None or not reply["report"].strip():
            return listed
        return Node(listed.id, COMMUNITY, reply["title"].strip() or listed.name, reply["report"], (), listed.properties)

    def _listed(self, row: int) -> Node:
        """Return a community with a list of its best connected members and their relations for a report."""
        graph = self._graph
        members = np.flatnonzero(self._level_of == self._level_of[row]).astype(np.int32)
        entries = graph.arrays.adjacency.entries(members)
        entries = entries.where(np.isin(entries.neighbor, members))
        degree = np.bincount(members.searchsorted(entries.owner), minlength=len(members))
        best = members[np.lexsort((members, -degree))]
        place = {int(row): at for at, row in enumerate(best)}
        going = np.flatnonzero((entries.kind & 1) == 0)
        order = sorted(
            going.tolist(), key=lambda at: sorted((place[int(entries.owner[at])], place[int(entries.neighbor[at])]))
        )
        edges = [
            graph.arrays.edge(
                int(entries.owner[at]), int(entries.neighbor[at]), int(entries.kind[at]), int(entries.at[at])
            )
            for at in order[:_EDGES]
        ]
        lines = [*map(self._member, best[:_MEMBERS].tolist()), *map(self._relation, edges)]
        if len(members) > _MEMBERS:
            lines.append(f"and {len(members) - _MEMBERS} more")
        titling = best[~self._spaces.facts[best]]  # a fact's name repeats those of its members
        titling = titling if len(titling) else best
        names = ", ".join(list(dict.fromkeys(single_spaced(graph.arrays.names[int(row)]) for row in titling))[:_TITLE])
        return Node(
            id=f"{COMMUNITY}:{self._level}:{graph.arrays.ids[row]}",
            type=COMMUNITY,
            name=names,
            text="\n".join(lines),
            properties={"level": self._level, "members": len(members)},
        )

    def _member(self, row: int) -> str:
        arrays = self._graph.arrays
        text = single_spaced(arrays.texts[row])[:_TEXT]
        return f"{single_spaced(arrays.names[row])} ({arrays.type_at(row)}){': ' if text else ''}{text}"

    def _relation(self, edge: Edge) -> str:
        source, target = (
            single_spaced(self._graph.arrays.names[self._graph.arrays.row(end)]) for end in (edge.source, edge.target)
        )
        text = single_spaced(edge.text)[:_TEXT]
        return f"{source} {arrow(edge.type, 'out')} {target}{': ' if text else ''}{text}"
