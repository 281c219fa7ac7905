"""The retrievers by name, those of installed packages too, and any method seen as one."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

from orienteer.errors import BadOption, nearest
from orienteer.graph.store import Graph
from orienteer.plugins import load, registered
from orienteer.protocols import Method, Run
from orienteer.records import Edge, Question
from orienteer.retrieval.evidence import Evidence, Scored
from orienteer.retrieval.query import GatherConfig, KnowledgeBase, Query

BASES: Mapping[str, str] = {
    "hippo": "orienteer.retrieval.bases.hippo:Hippo",
    "light": "orienteer.retrieval.bases.light:Light",
    "naive": "orienteer.retrieval.bases.gatherer:Naive",
}
"""The path of each class: `package.module:Class`; its configuration is `ClassConfig` of the same module."""
_BETWEEN = 30
"""Hits of a method whose edges to one another are looked up."""


def open_base(name: str, graph: Graph, options: Mapping[str, Any] | None = None) -> KnowledgeBase:  # Any: fields
    """Return a retriever over a graph with these options. Raises `BadOption` for an unknown name or option."""
    make = retriever_class(name)
    if make is None:
        names = [*BASES, *registered("retrievers", BASES)]
        near = nearest(name, names)
        hint = f" Near: {', '.join(near)}." if near else ""
        raise BadOption(f"There is no retriever {name!r}.{hint} There are: {', '.join(names)}.")
    config = config_class(make).read(options or {}, where=f"{name}.")
    return make(graph, config)


def retriever_class(name: str) -> Callable[..., KnowledgeBase] | None:
    """Return the class of a retriever, or None. Raises `BadOption` for a broken package."""
    make: Callable[..., KnowledgeBase] | None
    if name in BASES:
        module, _, class_name = BASES[name].partition(":")
        make = getattr(importlib.import_module(module), class_name)
    else:
        make = load("retrievers", name, BASES)
    return make


def config_class(make: Callable[..., KnowledgeBase]) -> type[GatherConfig]:
    """Return the class of a retriever's options: `NAMEConfig` from the module of `NAME`, else `GatherConfig`."""
    config: type[GatherConfig] = getattr(sys.modules[make.__module__], f"{make.__name__}Config", GatherConfig)
    return config


class RankedBase:
    """The hits of a method as evidence."""

    def __init__(self, graph: Graph, method: Method) -> None:
        self.graph, self._method = graph, method
        self.name = method.name
        self.config = GatherConfig()  # the method's own options are none of a retriever

    def gather(self, query: Query, run: Run) -> Evidence:
        """Return the hits of the method as evidence; if it was cut short or failed, the reason says so."""
        question = Question(text=query.text, k=query.k, node_types=query.node_types, where=query.where)
        result = self._method.retrieve(question, run)
        nodes = tuple(Scored(self.graph.node(hit.id), hit.score, hit.why) for hit in result.hits)
        cut = "" if result.stopped_by in ("finish", "steps") else f"{self.name} was stopped by {result.stopped_by}"
        reason = "; ".join(filter(None, (cut, *(result.notes if not nodes else ()))))
        return Evidence(
            nodes=nodes,
            edges=self._between([hit.id for hit in result.hits[:_BETWEEN]]),
            reason=reason or ("" if nodes else f"{self.name} found nothing"),
            trajectories=result.trajectories,
        )

    def _between(self, ids: list[str]) -> tuple[Scored[Edge], ...]:
        """Return the edges among some nodes, each once, scored by the worse place of its two ends."""
        rows = self.graph.arrays.rows(ids)
        place = {self.graph.arrays.row(node): at for at, node in enumerate(ids)}
        edges: list[Scored[Edge]] = []
        for row in rows.tolist():
            for edge in self.graph.arrays.edges_between(row, rows[rows > row]):
                worse = max(place[self.graph.arrays.row(edge.source)], place[self.graph.arrays.row(edge.target)])
                edges.append(Scored(edge, 1 / (1 + worse), "joins two hits"))
        return tuple(sorted(edges, key=lambda edge: -edge.score))
