"""The four functions over a graph that Graph-CoT's actions call, answered in words; and the nodes its answers name.

Graph-CoT (Jin et al. 2024); Graph-Counselor (Gao et al. 2025) uses them too, one inside another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from orienteer.agents.workflow import CountedObservation, Workflow
from orienteer.errors import nearest
from orienteer.graph.store import Graph
from orienteer.lab.baselines.action import ARGUMENTS, ActionCall, names_function, parse, split
from orienteer.records import JsonValue, Observation
from orienteer.retrieval.graph_text import schema_lines
from orienteer.text.lines import CHARACTERS_A_TOKEN, one_line, value_text

LAST = "LAST"
"""Stands for the nodes that the action before has given, where functions may stand inside one another."""
_FEATURE = 1_500  # characters of a feature's value
_WORDS = 8  # of a part of an answer that is searched for as a name: sentences are none
NO_ACTION = "There is no action to run. Write one: Action: Function[arguments]"
_ENDS = re.compile(r"\n[^\S\n]*+observation\b", re.IGNORECASE)
_SAID = 2_000  # characters of a reply that the next steps see
_MOST = 5  # nodes that one function is called for, where its argument stands for several


class ActionLog(NamedTuple):
    """Steps and their observations, and the answer of Finish: None where a limit came before it."""

    steps: tuple[str, ...]
    answer: str | None


class GraphFunctions:
    """The functions of one course, and the nodes that they have shown."""

    def __init__(self, graph: Graph, workflow: Workflow, *, neighbors: int, is_nested: bool = False) -> None:
        """`neighbors` are shown of each node; with `is_nested` a node may be given by another call, or by LAST."""
        self.graph, self._workflow, self._neighbors_shown, self._is_nested = graph, workflow, neighbors, is_nested
        self.seen: dict[int, str] = {}
        """Rows that observations have shown, with how; the latest last."""
        self.last: tuple[int, ...] = ()
        """Rows that the last call has given."""

    def walk(self, prompt: str, most: int, context_tokens: int, **values: str) -> ActionLog:
        """Have one step after the other written, thought and action, and run it, until Finish or a limit."""
        steps: list[str] = []
        self.last = ()  # of an earlier walk the model sees nothing
        schema, question = "\n".join(schema_lines(self.graph)), self._workflow.question.text
        for number in range(1, most + 1):
            so_far = "\n".join(steps)
            reply = self._workflow.ask(prompt, schema=schema, question=question, steps=so_far, n=number, **values)
            reply = _ENDS.split(reply, 1)[0].strip()[:_SAID]
            calls = parse(reply)
            if (finish := next((call.arguments[0] for call in calls if call.name == "Finish"), None)) is not None:
                return ActionLog((*steps, f"Step {number}. {reply}"), finish)
            observed = " ".join(map(self.observe, calls)) or NO_ACTION
            steps += [f"Step {number}. {reply}", f"Observation {number}: {observed}"]
            if sum(map(len, steps)) > context_tokens * CHARACTERS_A_TOKEN:
                self._workflow.notes.append(f"ended after {number} steps: they fill {context_tokens} tokens")
                return ActionLog(tuple(steps), None)
        self._workflow.notes.append(f"no Finish after {most} steps")
        return ActionLog(tuple(steps), None)

    def reasons(self, answer: str) -> dict[int, str]:
        """Return the rows of a ranking: what an answer names, then what was seen, the latest first."""
        named = self._named(answer) if answer else {}
        rows = named | {row: why for row, why in reversed(self.seen.items()) if row not in named}
        if not rows:
            self._workflow.notes.append("no node was named or seen: found by plain search")
        return rows

    def _named(self, answer: str) -> dict[int, str]:
        """Return the rows that the answer names, whole or in parts, else seen rows named in it, else the best match."""
        for parts in ([answer], split(answer)):
            named = {row: "named in the answer" for part in parts for row in self.graph.arrays.candidates(part)}
            if named:
                return named
        names = ((row, self.graph.arrays.names[row]) for row in self.seen)
        seen = {row: "named in the answer" for row, name in names if name and _whole(name).search(answer)}
        if seen:
            return seen
        hits = (self._workflow.search(part, 1) for part in split(answer) if len(part.split()) <= _WORDS)
        return dict.fromkeys((row for rows in hits for row in rows), "fits the answer's words best")

    def observe(self, call: ActionCall) -> str:
        """Run one call and return the observation."""
        if call.name not in ARGUMENTS:
            near = nearest(call.name, ARGUMENTS, most=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            return f"There is no function {call.name[:80]}.{hint} There are: {', '.join(ARGUMENTS)}."
        takes_calls = self._is_nested and call.name not in ("RetrieveNode", "Finish")
        if not takes_calls and any(map(names_function, call.arguments)):
            return f"{call.name} cannot take another call: make one first, and use what it gives in the next step."
        if len(call.arguments) != ARGUMENTS[call.name] or not all(call.arguments):
            return f"{call.name} takes {ARGUMENTS[call.name]} arguments, got {len(call.arguments)}."
        if call.name == "Finish":
            return "Finish stands alone: it ends the course."
        if call.name == "RetrieveNode":
            return self._retrieve(call.arguments[0])
        nodes, remark = self._nodes(call.arguments[0])
        if not nodes:
            return remark
        run = {"NodeFeature": self._feature, "NeighbourCheck": self._neighbors, "NodeDegree": self._degree}[call.name]
        before, self.last = self.last, ()
        observed = " ".join(filter(None, [remark, *(run(node, call.arguments[1]) for node in nodes)]))
        self.last = self.last or before
        return observed

    def _nodes(self, argument: str) -> tuple[tuple[str, ...], str]:
        """Return the nodes that an argument stands for, and what the model has to be told about them."""
        remark = ""
        if not self._is_nested:
            return (argument,), remark
        if (inner := parse(argument)) and names_function(argument):
            self.last = ()
            remark = self.observe(inner[0])
        elif argument.strip() != LAST:
            return (argument,), remark
        rows = self.last
        if not rows:
            return (), remark or f"{LAST} stands for nothing yet: the action before has given no node."
        more = f"Of {len(rows)} nodes the first {_MOST} are taken." if len(rows) > _MOST else ""
        return tuple(f"[{self.graph.arrays.ids[row]}]" for row in rows[:_MOST]), f"{remark} {more}".strip()

    def _retrieve(self, words: str) -> str:
        hits = self._workflow.use("search_in_graph", query=words, k=1)
        if hits.error or not hits.nodes:
            return _refusal(hits) if hits.error else f"No node has any of these words: {words}."
        row = self.graph.arrays.row(hits.nodes[0])
        self.last = ()
        self._see([row], f"retrieved by {words!r}")
        return f"The best node is {self._title(row)}."

    def _feature(self, node: str, feature: str) -> str:
        reading = self._workflow.use("read_node", node=node)
        if reading.error or not reading.nodes:
            return _refusal(reading)
        read = self.graph.node(reading.nodes[0])
        features: dict[str, JsonValue] = {"name": read.name, "type": read.type, "text": read.text, **read.properties}
        name = {name.casefold(): name for name in features}.get(feature.casefold())
        if name is None:
            return f"{read.id} has no feature {feature!r}. It has: {', '.join(features)}."
        self._see([self.graph.arrays.row(read.id)], f"read for its {feature}")
        return f"The {name} of {read.id} is: {one_line(value_text(features[name]), _FEATURE)}"

    def _neighbors(self, node: str, edge: str) -> str:
        total, around = self._around(node, edge, k=self._neighbors_shown)
        if around.error:
            return _refusal(around)
        shown = list(map(self.graph.arrays.row, around.nodes))
        self._see(list(reversed(shown)), f"a neighbour of {node} by {edge}")
        names = "; ".join(map(self._title, shown))
        more = f"; and {total - len(shown)} more" if total > len(shown) else ""
        return f"The {total} neighbours of {node} by {edge}: {names or 'none'}{more}."

    def _degree(self, node: str, edge: str) -> str:
        total, around = self._around(node, edge, k=1)
        return _refusal(around) if around.error else f"The degree of {node} by {edge} is {total}."

    def _around(self, node: str, edge: str, *, k: int) -> CountedObservation:
        """Return how many neighbours there are, and those shown."""
        return self._workflow.count(
            "search_in_neighborhood", node=node, query=self._workflow.question.text, edge_types=[edge], k=k
        )

    def _title(self, row: int) -> str:
        return (
            f"{self.graph.arrays.ids[row]} ({one_line(self.graph.arrays.names[row])}, {self.graph.arrays.type_at(row)})"
        )

    def _see(self, rows: Sequence[int], why: str) -> None:
        self.last = (*self.last, *(row for row in reversed(rows) if row not in self.last))
        for row in rows:
            self.seen.pop(row, None)
            self.seen[row] = why


def _whole(name: str) -> re.Pattern[str]:
    """Return the pattern of a name that stands by itself, in capitals or not."""
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)


def _refusal(observation: Observation) -> str:
    """Return why a tool refused: the first line of its reply. The others are about its answer, which is not used."""
    return observation.text.partition("\n")[0]
