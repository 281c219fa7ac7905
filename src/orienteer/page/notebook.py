"""Interactive pictures for notebooks by anywidget: the page's own, built into `widget/`; nothing is imported before."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from orienteer.errors import Error

WIDGET = Path(__file__).parent / "widget"
_VIEW = "application/vnd.jupyter.widget-view+json"
# Nodes of a picture before a user adds neighbours.
_MOST_NODES = 300
MOST_HITS = 25  # of a picture, as on the page

Bundle: TypeAlias = tuple[dict[str, Any], dict[str, Any]]
"""The contents of a notebook's output by media type, and the metadata of each. Any: JSON."""
DrawnEdge: TypeAlias = tuple[str, str, str]
"""Source, type and target of an edge."""
Neighbours: TypeAlias = Callable[[Any, str, int], Mapping[str, Any]]
"""Returns a page of a node's neighbours, from an offset on, as `graph.drawn` does. Any: the graph."""


class DrawnNode(NamedTuple):
    """A node of a picture."""

    id: str
    type: str
    name: str
    degree: int = 1
    about: tuple[str, ...] = ()
    """The paragraphs of its card."""


class Table(NamedTuple):
    """A table under a picture."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    nodes: Sequence[str] = ()
    """The id of each row's node, if rows are about nodes."""


@dataclass(eq=False, repr=False)
class GraphAtHand:
    """A reference to a graph for neighbours, while the graph is open. All are equal, and a copy has no graph."""

    graph: weakref.ref[Any] | None = None  # Any: a graph; a result must not keep it open
    neighbours: Neighbours | None = None

    def __bool__(self) -> bool:
        return self.graph is not None and self.graph() is not None

    def __eq__(self, other: object) -> bool:
        # Results are equal by their content.
        return isinstance(other, GraphAtHand)

    def __hash__(self) -> int:
        return hash(GraphAtHand)

    def __reduce__(self) -> tuple[type[GraphAtHand], tuple[()]]:
        return GraphAtHand, ()

    def label(self, edge_type: str) -> str:
        """Return the label of an edge type in words, or its name if the graph is closed."""
        graph = None if self.graph is None else self.graph()
        return (edge_type if graph is None else str(graph.schema.label(edge_type))).replace("_", " ")

    def reply(self, wanted: object) -> dict[str, Any] | None:
        """Return a page of neighbours for a message `{"node": id, "offset": n}` of a picture; None for any other."""
        if not isinstance(wanted, dict):
            return None
        node, offset = wanted.get("node"), wanted.get("offset")
        if not isinstance(node, str) or not isinstance(offset, int):
            return None
        graph = None if self.graph is None else self.graph()
        nothing = {"node": node, "nodes": [], "edges": [], "total": 0, "offset": offset}
        if graph is None or self.neighbours is None:
            return {**nothing, "error": "the graph is closed: ask again, and display the new result"}
        try:
            return {**nothing, **self.neighbours(graph, node, offset), "error": None}
        except Error as error:
            return {**nothing, "error": str(error)}


class Content(NamedTuple):
    """The content of an interactive output: texts, a picture, tables."""

    title: str
    paragraphs: Sequence[str] = ()
    nodes: Sequence[DrawnNode] = ()
    edges: Sequence[DrawnEdge] = ()
    strong: Sequence[str] = ()
    """Larger nodes."""
    paths: Mapping[str, Sequence[DrawnEdge]] = {}
    """The edges that lead to a node, by node."""
    tables: Sequence[Table] = ()
    lines: Sequence[str] = ()
    columns: Sequence[tuple[str, Sequence[str]]] = ()
    """The nodes by column, each with a title; without columns nodes move freely."""

    def sent(self, *, grows: bool = False) -> dict[str, Any]:  # Any: JSON
        """Return what the widget takes; one that `grows` is told of neighbours when it asks."""
        return {
            **self._asdict(),
            "nodes": [node._asdict() for node in self.nodes[:_MOST_NODES]],
            "edges": drawn_edges(self.edges),
            "paths": {node: drawn_edges(edges) for node, edges in self.paths.items()},
            "tables": [table._asdict() for table in self.tables],
            "grows": grows,
        }


def view(content: Content, at_hand: GraphAtHand) -> Bundle:
    """Return an output that shows a content; an empty one without edges, a kernel or anywidget."""
    widget_class = _widget_class() if content.edges and _has_kernel() else None
    if widget_class is None:
        return {}, {}

    def reply_to(widget: Any, message: object, _: object) -> None:  # Any: anywidget is optional
        if (reply := at_hand.reply(message)) is not None:
            widget.send(reply)

    widget = widget_class(content=content.sent(grows=bool(at_hand)))
    widget.on_msg(reply_to)
    bundle, metadata = widget._repr_mimebundle_()
    return {_VIEW: bundle[_VIEW]}, metadata


def drawn_edges(edges: Sequence[DrawnEdge]) -> list[dict[str, str]]:
    """Return edges for a picture, without those from a node to itself, which have no line."""
    keys = ("source", "type", "target")
    return [dict(zip(keys, edge, strict=True)) for edge in edges if edge[0] != edge[2]]


def _has_kernel() -> bool:
    """Return whether a notebook's kernel runs this process: a terminal shows no pictures and needs no widgets."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


@cache
def _widget_class() -> Any:  # Any: anywidget is optional
    """Return the class of the widget, or None if anywidget is not installed."""
    try:
        anywidget = import_module("anywidget")
    except ModuleNotFoundError as error:
        if error.name != "anywidget":
            raise
        return None
    content = import_module("traitlets").Dict().tag(sync=True)
    module, style = ((WIDGET / name).read_text("utf-8") for name in ("widget.js", "widget.css"))
    members = {"content": content, "_esm": module, "_css": style, "__module__": __name__}
    return type("Picture", (anywidget.AnyWidget,), members)
