"""Orienteer finds its way through knowledge graphs.

    from orienteer import Graph, Retriever

    result = Retriever(Graph.open("hetionet")).ask("which genes are associated with asthma?")

What is named here is public; every error that is raised on purpose is in `orienteer.errors`. Nothing is loaded before
it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from orienteer.version import __version__

if TYPE_CHECKING:
    from orienteer.agents.events import Event
    from orienteer.cypher.session import Cypher
    from orienteer.errors import Error
    from orienteer.graph.store import Graph
    from orienteer.llm import Budget, OpenAIConfig, OpenAIModel, Price, RecordedModel, Recording, ScriptedModel
    from orienteer.records import (
        Edge,
        Hit,
        Neighborhood,
        Node,
        Path,
        Question,
        Ranked,
        Result,
        Schema,
        Step,
        Trajectory,
        Usage,
    )
    from orienteer.retriever import Retriever

__all__ = [
    "Budget",
    "Cypher",
    "Edge",
    "Error",
    "Event",
    "Graph",
    "Hit",
    "Neighborhood",
    "Node",
    "OpenAIConfig",
    "OpenAIModel",
    "Path",
    "Price",
    "Question",
    "Ranked",
    "RecordedModel",
    "Recording",
    "Result",
    "Retriever",
    "Schema",
    "ScriptedModel",
    "Step",
    "Trajectory",
    "Usage",
    "__version__",
]

_HOMES = {
    "Cypher": "cypher.session",
    "Error": "errors",
    "Event": "agents.events",
    "Graph": "graph.store",
    "Retriever": "retriever",
    **dict.fromkeys(
        ("Budget", "OpenAIConfig", "OpenAIModel", "Price", "RecordedModel", "Recording", "ScriptedModel"), "llm"
    ),
}
"""The module of a public name; the others are records."""


def __getattr__(name: str) -> Any:  # Any: each name has its own type, above
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'records')}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
