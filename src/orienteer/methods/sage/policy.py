"""Whether the search that found the seeds has already named an edge: SAGE's -Edge then leaves expansion out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from orienteer.cypher.parser import parse
from orienteer.cypher.syntax import EdgePattern, parts
from orienteer.errors import BadQuery
from orienteer.llm.schema import decode
from orienteer.records import Trajectory

_EDGES = "edges"  # the mark of a planned course whose result was found along edges that its plan names


def names_an_edge(trajectories: Iterable[Trajectory]) -> bool:
    """Tell whether a call that succeeded walked edges of a type it named, or matched an edge in Cypher.

    The marks of a trajectory decide where it has any: a plan that came to nothing has named no edge that counts.
    """
    for trajectory in trajectories:
        if trajectory.marks:
            if _EDGES in trajectory.marks:
                return True
            continue
        for step in trajectory.steps:
            failed = {observed.call_id for observed in step.observations if observed.error is not None}
            for call in step.reply.message.tool_calls:
                if call.id not in failed and _names_an_edge(call.name, _arguments(call.arguments)):
                    return True
    return False


def _names_an_edge(tool: str, arguments: dict[str, Any]) -> bool:  # Any: JSON as a model wrote it
    if tool == "cypher":
        query = arguments.get("query")
        try:
            return isinstance(query, str) and any(parts(parse(query), EdgePattern))
        except BadQuery:
            return False
    steps = arguments.get("steps")
    hops = steps if isinstance(steps, list) else ()
    return bool(arguments.get("edge_types")) or any(isinstance(hop, dict) and hop.get("edge") for hop in hops)


def _arguments(text: str) -> dict[str, Any]:  # Any: JSON as a model wrote it
    try:
        arguments = decode(text)
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}
