"""`graph-cot`: thought, action, observation, with four functions over the graph that are read and never evaluated.

Paper: Jin et al. 2024, Graph Chain-of-Thought; defaults: 10 steps, RetrieveNode gives one node.

    RetrieveNode[words]            the node that fits the words best
    NodeFeature[node, feature]     a feature of a node
    NeighbourCheck[node, edge]     the neighbours by an edge type
    NodeDegree[node, edge]         how many there are
    Finish[answer]                 the answer, which ends the course

Deviations:
1. Actions are read by a small parser, where the paper's code evaluates them: names hold commas, quotes and brackets. A
   call inside a call is refused in an observation; several calls in one action are made in turn. Of several actions
   in one reply the first counts; the paper's code stops the model at the end of a line.
2. RetrieveNode searches by BM25, where the paper compares vectors. It tells type and name besides the id.
3. NeighbourCheck shows 20 neighbours, nearest to the question first, with their names, and says how many there are; the
   paper shows all ids.
4. One call of the model makes a step, thought and action together; the paper's code makes two.
5. The paper answers in words alone. The ranking holds the nodes that Finish names, in its order, by id, name or else
   search; then the nodes that the actions have shown, the latest first. Without any, plain search stands in, and the
   notes say so.
6. The prompt is our own, with the graph's schema and without examples for each graph.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from orienteer.errors import nearest
from orienteer.graph.store import Graph
from orienteer.protocols import LanguageModel, Run
from orienteer.records import JsonValue, Observation, Question, Ranked, Result
from orienteer.strategies.action import ARGUMENTS, Call, names_function, parse, split
from orienteer.strategies.workflow import Counted, Workflow, WorkflowConfig
from orienteer.tools.reading import schema_lines
from orienteer.tools.render import one_line

NO_ACTION = "There is no action to run. Write one: Action: Function[arguments]"
_ENDS = re.compile(r"\n\s*observation\b", re.IGNORECASE)
_FEATURE = 1_500  # characters of a feature's value
_THOUGHT = 2_000  # characters of a reply that the next steps see
_WORDS = 8  # of a part of an answer that is searched for as a name: sentences are none
_CHARACTERS_A_TOKEN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphCotConfig(WorkflowConfig):
    """Graph-CoT's settings."""

    max_steps: int = 10
    """Steps before the course ends. The paper's code takes 10, and 15 for some graphs."""
    neighbors: int = 20
    """Neighbours that an observation shows; ours, the paper shows all."""
    context_tokens: int = 10_000
    """Length of the steps at which the course ends. The number is that of the paper's code."""


class GraphCot:
    """Think, act, observe."""

    name = "graph-cot"

    def __init__(self, graph: Graph, model: LanguageModel, config: GraphCotConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or GraphCotConfig()
        graph.mask(self.config.node_types or None, self.config.where)  # told before a model is paid

    def retrieve(self, question: Question, run: Run) -> Result:
        """Step until Finish, and rank what it names."""
        config = self.config
        workflow = Workflow(self._graph, self._model, run, question=question, method=self.name, config=config)
        course = _Course(self._graph, workflow, config)

        def ranking() -> Sequence[Ranked]:
            return workflow.present(course.reasons() or workflow.plain(config), config)

        def steps() -> Sequence[Ranked]:
            course.step_on()
            return ranking()

        return workflow.follow(steps, instead=ranking).model_copy(update={"answer": course.answer or None})


@dataclass(slots=True)
class _Course:
    """One question's steps."""

    graph: Graph
    workflow: Workflow
    config: GraphCotConfig
    answer: str | None = None
    steps: list[str] = field(default_factory=list)
    seen: dict[int, str] = field(default_factory=dict)
    """Rows that observations have shown, with how; the latest last."""

    def step_on(self) -> None:
        """Take steps until Finish or a limit."""
        schema = "\n".join(schema_lines(self.graph))
        for number in range(1, self.config.max_steps + 1):
            said = self.workflow.ask(
                "graph-cot", schema=schema, question=self.workflow.question.text, steps="\n".join(self.steps), n=number
            )
            said = _ENDS.split(said, 1)[0].strip()[:_THOUGHT]
            calls = parse(said)
            self.answer = next((one.arguments[0] for one in calls if one.name == "Finish"), None)
            if self.answer is not None:
                return
            observed = " ".join(map(self._observe, calls)) or NO_ACTION
            self.steps += [f"Step {number}. {said}", f"Observation {number}: {observed}"]
            if sum(map(len, self.steps)) > self.config.context_tokens * _CHARACTERS_A_TOKEN:
                self.workflow.notes.append(f"ended after {number} steps: they fill {self.config.context_tokens} tokens")
                return
        self.workflow.notes.append(f"no Finish after {self.config.max_steps} steps")

    def reasons(self) -> dict[int, str]:
        """Return the rows of the ranking: what the answer names, then what was seen, the latest first."""
        named = self._named() if self.answer else {}
        rows = named | {row: why for row, why in reversed(self.seen.items()) if row not in named}
        if not rows:
            self.workflow.notes.append("no node was named or seen: found by plain search")
        return rows

    def _named(self) -> dict[int, str]:
        """Return the rows that the answer names, whole or in parts, else what was seen in it, else the best match."""
        answer = self.answer or ""
        for parts in ([answer], split(answer)):
            known = {row: "named in the answer" for part in parts for row in self.graph.candidates(part)}
            if known:
                return known
        seen = {row: "named in the answer" for row in self.seen if self._is_in(self.graph.names[row], answer)}
        searched = [part for part in split(answer) if len(part.split()) <= _WORDS]
        found = (self.workflow.search(part, 1) for part in ([] if seen else searched))
        return seen or dict.fromkeys((row for rows in found for row in rows), "fits the answer's words best")

    def _is_in(self, name: str, text: str) -> bool:
        return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None

    def _observe(self, call: Call) -> str:
        """Run one call and return what the model is told."""
        if call.name not in ARGUMENTS:
            near = nearest(call.name, ARGUMENTS, most=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            return f"There is no function {call.name[:80]}.{hint} There are: {', '.join(ARGUMENTS)}."
        if any(names_function(one) for one in call.arguments):
            return f"{call.name} cannot take another call: make one first, and use what it gives in the next step."
        if len(call.arguments) != ARGUMENTS[call.name] or not all(call.arguments):
            return f"{call.name} takes {ARGUMENTS[call.name]} arguments, got {len(call.arguments)}."
        match call:
            case Call("RetrieveNode", (words,)):
                return self._retrieve(words)
            case Call("NodeFeature", (node, feature)):
                return self._feature(node, feature)
            case Call("NeighbourCheck", (node, edge)):
                return self._neighbors(node, edge)
            case Call("NodeDegree", (node, edge)):
                return self._degree(node, edge)
            case _:
                raise AssertionError(call)  # Finish has ended the course

    def _retrieve(self, words: str) -> str:
        found = self.workflow.use("search_in_graph", query=words, k=1)
        if found.error or not found.nodes:
            return _refusal(found) if found.error else f"No node has any of these words: {words}."
        row = self.graph.row(found.nodes[0])
        self._see([row], f"retrieved by {words!r}")
        return f"The best node is {self._title(row)}."

    def _feature(self, node: str, feature: str) -> str:
        found = self.workflow.use("read_node", node=node)
        if found.error or not found.nodes:
            return _refusal(found)
        one = self.graph.node(found.nodes[0])
        features: dict[str, JsonValue] = {"name": one.name, "type": one.type, "text": one.text, **one.properties}
        known = {name.casefold(): name for name in features}
        if feature.casefold() not in known:
            return f"{one.id} has no feature {feature!r}. It has: {', '.join(features)}."
        self._see([self.graph.row(one.id)], f"read for its {feature}")
        value = features[known[feature.casefold()]]
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return f"The {known[feature.casefold()]} of {one.id} is: {one_line(text, _FEATURE)}"

    def _neighbors(self, node: str, edge: str) -> str:
        rows, found = self._around(node, edge, k=self.config.neighbors)
        if found.error:
            return _refusal(found)
        shown = [self.graph.row(one) for one in found.nodes]
        self._see(reversed(shown), f"a neighbour of {node} by {edge}")
        names = "; ".join(map(self._title, shown))
        more = f"; and {rows - len(shown)} more" if rows > len(shown) else ""
        return f"The {rows} neighbours of {node} by {edge}: {names or 'none'}{more}."

    def _degree(self, node: str, edge: str) -> str:
        rows, found = self._around(node, edge, k=1)
        return _refusal(found) if found.error else f"The degree of {node} by {edge} is {rows}."

    def _around(self, node: str, edge: str, *, k: int) -> Counted:
        """Return how many neighbours there are, and those shown."""
        return self.workflow.count(
            "search_in_neighborhood", node=node, query=self.workflow.question.text, edge_types=[edge], k=k
        )

    def _title(self, row: int) -> str:
        return f"{self.graph.ids[row]} ({one_line(self.graph.names[row])}, {self.graph.type_at(row)})"

    def _see(self, rows: Iterator[int] | Sequence[int], why: str) -> None:
        for row in rows:
            self.seen.pop(row, None)
            self.seen[row] = why


def _refusal(found: Observation) -> str:
    """Return why a tool refused: the first line of its reply. The others are about its answer, which is not used."""
    return found.text.partition("\n")[0]
