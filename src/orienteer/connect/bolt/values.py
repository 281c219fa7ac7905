"""What kind of value the driver has given."""

from __future__ import annotations

from typing import Any


def is_node(value: Any) -> bool:  # Any: a value of the database, as below
    """Tell whether a value is a node."""
    import neo4j.graph

    return isinstance(value, neo4j.graph.Node)


def is_edge(value: Any) -> bool:
    """Tell whether a value is an edge; its ends may be known by their element ids alone."""
    import neo4j.graph

    return isinstance(value, neo4j.graph.Relationship)


def is_path(value: Any) -> bool:
    """Tell whether a value is a path."""
    import neo4j.graph

    return isinstance(value, neo4j.graph.Path)


def is_time(value: Any) -> bool:
    """Tell whether a value is a date, a time or a span of time."""
    return type(value).__module__.startswith("neo4j.time") or hasattr(value, "isoformat")


def is_point(value: Any) -> bool:
    """Tell whether a value is a point: to the driver a tuple, which nothing else is."""
    return isinstance(value, tuple)
