"""The types of a graph and what joins them, as a notebook shows them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from orienteer.display import counted, first_rows
from orienteer.page.notebook import Bundle, Content, DrawnEdge, DrawnNode, GraphAtHand, Table, view


class DrawnTypes(NamedTuple):
    """The types of a schema, as `records.Schema` has them."""

    nodes: Mapping[str, int]
    """By node type, how many nodes it has."""
    edges: Collection[tuple[DrawnEdge, int]]
    """Source type, edge type and target type, and how many edges there are."""
    labels: Mapping[str, str]
    symmetric: Collection[str]

    def svg(self) -> str:
        """Return the types on a ring, the most frequent first, with what joins them."""
        from orienteer.page.network import ring  # here: only a notebook draws

        names = {name: f"{self._label(name)} {self.nodes[name]:,}" for name in self._ordered()}
        return ring(names, self._walked(), symmetric=map(self._label, self.symmetric))

    def view(self, title: str, tables: Sequence[Table]) -> Bundle:
        """Return a picture of the types that answers the pointer, over tables."""
        nodes = [
            DrawnNode(name, self._label(name), self._label(name), self.nodes[name], self._about(name))
            for name in self._ordered()
        ]
        strong = [node.id for node in nodes]
        return view(Content(title, (), nodes, self._walked(), strong, tables=tables), GraphAtHand())

    def table(self) -> Table:
        """Return what joins the types, the most frequent first."""
        rows = [[*map(self._label, triple), f"{count:,}"] for triple, count in self._by_count()]
        return Table(("from", "edge type", "to", "edges"), first_rows(rows))

    def _about(self, name: str) -> tuple[str, ...]:
        """Return what a card says of a node type; what joins it with itself has no line in the picture."""
        own = [edge_type for source, edge_type, target in self._walked() if source == target == name]
        joined = (f"joined with one another by {', '.join(own)}",) if own else ()
        return (counted(self.nodes[name], "node"), *joined)

    def _label(self, name: str) -> str:
        return self.labels.get(name, name)

    def _ordered(self) -> list[str]:
        return sorted(self.nodes, key=lambda name: (-self.nodes[name], name))

    def _walked(self) -> list[DrawnEdge]:
        return [(source, self._label(edge_type), target) for (source, edge_type, target), _ in self._by_count()]

    def _by_count(self) -> list[tuple[DrawnEdge, int]]:
        return sorted(self.edges, key=lambda item: (-item[1], item[0]))
