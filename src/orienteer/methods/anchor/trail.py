"""The trajectory that `anchor` leaves: calls of an agent's tools that show what carried the ranking.

The calls are run over the real tools, so that a replay gives the same observations; the ranking does not read them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from orienteer.graph.store import Graph
from orienteer.methods.anchor.finding import Finding
from orienteer.methods.anchor.reach import Reached, Way
from orienteer.protocols import Run
from orienteer.records import JsonValue, Message, Observed, Question, Ranked, Reply, Step, ToolCall, Trajectory
from orienteer.tools.toolbox import Toolbox

_MOST_ANCHORS = 4
_SHOWN = 5


class Trail:
    """Records calls as an agent's steps."""

    def __init__(self, graph: Graph, run: Run) -> None:
        self._graph, self._run = graph, run
        self._toolbox = Toolbox.full(graph)
        self._steps: list[Step] = []

    def walk(self, finding: Finding, question: Question, hits: Sequence[Ranked]) -> Trajectory:
        """Return the trajectory: the anchors and their ways, what they share, and the answer."""
        ends = [end for at in range(min(_MOST_ANCHORS, len(finding.anchors))) if (end := self._anchor(finding, at))]
        if not ends:
            self._search(question, finding)
        elif len(ends) > 1 and finding.wanted.yes_or_no:
            self._call("paths", {"a": ends[0], "b": ends[1], "max_length": 2, "k": _SHOWN})
        elif len(ends) > 1:
            self._call("intersect", {"nodes": ends, **self._typed(finding), **self._last_edges(finding), "k": _SHOWN})
        if hits:
            self._call("add_to_answer", {"nodes": [hit.id for hit in hits], "reasoning": hits[0].why})
        else:
            self._call("finish", {})  # an empty answer is sent back once
        self._call("finish", {})
        return Trajectory(
            question=question,
            method="anchor",
            toolbox=self._toolbox.spec,
            tools=self._toolbox.specs,
            opening=(Message(role="user", content=question.text),),
            steps=tuple(self._steps),
            selected=tuple(hit.id for hit in hits),
        )

    def _anchor(self, finding: Finding, at: int) -> str | None:
        """Walk the best way from an anchor; return what the last step leads away from."""
        best = finding.best(at)
        if best is None or best.way is None:
            start: str = self._graph.ids[finding.anchors[at].candidates[0].row]
            self._call("search_in_neighborhood", {"node": start, "query": finding.reading.text, "k": _SHOWN})
            return start
        start = self._graph.ids[int(best.start[0])]
        self._call("follow", {"start": start, "steps": self._walk(best, best.way), "k": _SHOWN})
        sets = self._toolbox.session.sets
        return start if len(best.way.kinds) == 1 else f"@{len(sets) - 1}"

    def _walk(self, best: Reached, way: Way) -> list[dict[str, str]]:
        steps = []
        for kinds, node_type in zip(way.kinds, way.types, strict=True):
            step = {"type": str(self._graph.types.nodes[node_type])}
            edges = {kind >> 1 for kind in kinds}
            if len(edges) == 1:
                step["edge"] = str(self._graph.types.edges[edges.pop()])
            if len(kinds) == 1:
                step["direction"] = "in" if kinds[0] & 1 else "out"
            steps.append(step)
        return steps

    def _search(self, question: Question, finding: Finding) -> None:
        self._call("search_in_graph", {"query": question.text, **self._typed(finding)})

    def _typed(self, finding: Finding) -> dict[str, JsonValue]:
        types = [str(self._graph.types.nodes[one]) for one in finding.wanted.types]
        return {"node_types": list(types)} if types else {}

    def _last_edges(self, finding: Finding) -> dict[str, JsonValue]:
        """Return the edge types of the ways' last steps, as a filter."""
        ways = [best.way for at in range(len(finding.anchors)) if (best := finding.best(at)) and best.way]
        if len(ways) < len(finding.anchors):
            return {}
        numbers = sorted({kind >> 1 for way in ways for kind in way.kinds[-1]})
        return {"edge_types": [str(self._graph.types.edges[number]) for number in numbers]}

    def _call(self, name: str, arguments: Mapping[str, JsonValue]) -> None:
        text = json.dumps(arguments, ensure_ascii=False)
        call = ToolCall(id=f"call_{len(self._steps) + 1}", name=name, arguments=text)
        found = self._toolbox.observe(call)
        step = Step(
            reply=Reply(message=Message(role="assistant", tool_calls=(call,))),
            observations=(Observed(call_id=call.id, text=found.text, nodes=found.nodes, error=found.error),),
        )
        self._steps.append(step)
        self._run.tell(step)
