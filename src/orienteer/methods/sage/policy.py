"""Whether the search that found the seeds has already named an edge: SAGE's -Edge then leaves expansion out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from orienteer.cypher.parser import parse
from orienteer.cypher.syntax import EdgePattern, parts
from orienteer.errors import BadQuery
from orienteer.llm.schema import decode
from orienteer.records import Trajectory

_EDGES = "edges"  # how a planned course marks that what it found, it found along edges that its plan names


def names_an_edge(trajectories: Iterable[Trajectory]) -> bool:
    """Tell whether a call that was answered walked edges of a type it named, or matched an edge in Cypher.

    Where a course is marked the marks tell it: a plan that came to nothing has named no edge that counts.
    """
    for one in trajectories:
        if one.marks:
            if _EDGES in one.marks:
                return True
            continue
        for step in one.steps:
            failed = {seen.call_id for seen in step.observations if seen.error is not None}
            for call in step.reply.message.tool_calls:
                if call.id not in failed and _names_an_edge(call.name, _read(call.arguments)):
                    return True
    return False


def _names_an_edge(tool: str, arguments: dict[str, Any]) -> bool:  # Any: JSON as a model wrote it
    if tool == "cypher":
        return _has_edge(arguments.get("query"))
    steps = arguments.get("steps")
    walked = steps if isinstance(steps, list) else ()
    return bool(arguments.get("edge_types")) or any(isinstance(one, dict) and one.get("edge") for one in walked)


def _has_edge(query: object) -> bool:
    try:
        return isinstance(query, str) and any(parts(parse(query), EdgePattern))
    except BadQuery:
        return False


def _read(arguments: str) -> dict[str, Any]:  # Any: JSON as a model wrote it
    try:
        found = decode(arguments)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
