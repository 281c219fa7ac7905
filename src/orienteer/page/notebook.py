"""What notebooks show beside HTML: a picture that answers the pointer, where anywidget is installed.

It is the page's own picture, built into `widget/`. Nothing is imported until a notebook displays something.
"""

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
_MOST_NODES = 300  # of a picture, before somebody adds neighbours
MOST_HITS = 25
"""Hits of a picture: the page draws as many."""

Bundle: TypeAlias = tuple[dict[str, Any], dict[str, Any]]
"""What a notebook keeps of an output by media type, and what it is told of each. Any: JSON."""
DrawnEdge: TypeAlias = tuple[str, str, str]
"""Source, type and target of an edge."""
Neighbours: TypeAlias = Callable[[Any, str, int], Mapping[str, Any]]
"""Gives a page of the neighbours of a node, from an offset on, as `graph.drawn` does. Any: the graph."""


class DrawnNode(NamedTuple):
    """A node of a picture."""

    id: str
    type: str
    name: str
    degree: int = 1
    about: tuple[str, ...] = ()
    """What its card says, a paragraph each."""


class Table(NamedTuple):
    """A table beneath a picture."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    nodes: Sequence[str] = ()
    """By row the id of the node that it is about, where it is about one."""


@dataclass(eq=False, repr=False)
class GraphAtHand:
    """A graph that can be asked for neighbours while it is open elsewhere. All are equal, and a copy has none."""

    graph: weakref.ref[Any] | None = None  # Any: a graph; a result must not keep it open
    neighbours: Neighbours | None = None

    def __bool__(self) -> bool:
        return self.graph is not None and self.graph() is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GraphAtHand)  # results are equal by what they say

    def __hash__(self) -> int:
        return hash(GraphAtHand)

    def __reduce__(self) -> tuple[type[GraphAtHand], tuple[()]]:
        return GraphAtHand, ()

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
    """What a notebook shows of something: texts, a picture, tables."""

    title: str
    paragraphs: Sequence[str] = ()
    nodes: Sequence[DrawnNode] = ()
    edges: Sequence[DrawnEdge] = ()
    strong: Sequence[str] = ()
    """Nodes that are larger."""
    paths: Mapping[str, Sequence[DrawnEdge]] = {}
    """By node the edges that lead to it."""
    tables: Sequence[Table] = ()
    lines: Sequence[str] = ()

    def sent(self) -> dict[str, Any]:  # Any: JSON
        """Return what the widget is sent of it."""
        return {
            **self._asdict(),
            "nodes": [node._asdict() for node in self.nodes[:_MOST_NODES]],
            "edges": drawn_edges(self.edges),
            "paths": {node: drawn_edges(edges) for node, edges in self.paths.items()},
            "tables": [table._asdict() for table in self.tables],
        }


def view(content: Content, at_hand: GraphAtHand) -> Bundle:
    """Return an output that shows a content; nothing where it has no edges, and without a kernel or anywidget."""
    widget_class = _widget_class() if content.edges and _has_kernel() else None
    if widget_class is None:
        return {}, {}

    def hear(widget: Any, message: object, _: object) -> None:  # Any: anywidget is optional
        if (reply := at_hand.reply(message)) is not None:
            widget.send(reply)

    widget = widget_class(content={**content.sent(), "grows": bool(at_hand)})
    widget.on_msg(hear)
    bundle, told = widget._repr_mimebundle_()
    return {_VIEW: bundle[_VIEW]}, told


def drawn_edges(edges: Sequence[DrawnEdge]) -> list[dict[str, str]]:
    """Return edges as a picture takes them; what joins a node with itself has no line."""
    return [
        {"source": source, "type": edge_type, "target": target}
        for source, edge_type, target in edges
        if source != target
    ]


def _has_kernel() -> bool:
    """Return whether a notebook's kernel runs this: a terminal shows no pictures, and needs no widgets."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


@cache
def _widget_class() -> Any:  # Any: anywidget is optional
    """Return the class of the widget; None where anywidget is not installed."""
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
