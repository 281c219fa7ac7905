"""The retrievers by name."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from orienteer.errors import BadOption, nearest
from orienteer.graph.store import Graph
from orienteer.retrieval.query import KnowledgeBase

BASES: Mapping[str, str] = {
    "hippo": "orienteer.retrieval.bases.hippo:Hippo",
    "hyper": "orienteer.retrieval.bases.hyper:Hyper",
    "light": "orienteer.retrieval.bases.light:Light",
    "mini": "orienteer.retrieval.bases.mini:Mini",
    "msgraph-local": "orienteer.retrieval.bases.msgraph:MsGraph",
    "naive": "orienteer.retrieval.bases.naive:Naive",
    "path": "orienteer.retrieval.bases.path:Paths",
}
"""Where the class of each is: `package.module:Class`, with a configuration beside it named `ClassConfig`."""


def open_base(name: str, graph: Graph, options: Mapping[str, Any] | None = None) -> KnowledgeBase:  # Any: fields
    """Return a retriever over a graph with these options. Raises `BadOption` for a name or an option that is none."""
    if name not in BASES:
        near = nearest(name, BASES)
        hint = f" Near: {', '.join(near)}." if near else ""
        raise BadOption(f"There is no retriever {name!r}.{hint} There are: {', '.join(BASES)}.")
    module, _, kind = BASES[name].partition(":")
    found = importlib.import_module(module)
    config = getattr(found, f"{kind}Config").read(options or {}, where=f"{name}.")
    base: KnowledgeBase = getattr(found, kind)(graph, config)
    return base
