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

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from orienteer.agents.workflow import CountedObservation, Workflow, WorkflowConfig
from orienteer.errors import nearest
from orienteer.graph.store import Graph
from orienteer.index.names import ALIKE
from orienteer.lab.baselines.episode import ARGUMENTS, ActionCall, names_function, parse, split
from orienteer.protocols import LanguageModel, Run
from orienteer.records import JsonValue, Observation, Question, Result
from orienteer.retrieval.analysis import NameAnalyzer
from orienteer.retrieval.graph_text import schema_lines
from orienteer.retrieval.mentions import TypeLinker, called, near_name
from orienteer.text.sentences import CHARACTERS_A_TOKEN, one_line, value_text
from orienteer.tools.node_ids import MOST_TOPK, NAME
from orienteer.tools.texts import LARGEST_K


class GraphCotConfig(WorkflowConfig):
    """Graph-CoT's settings."""

    max_steps: int = Field(default=10, ge=1, le=LARGEST_K)
    """Steps before the course ends. The paper's code takes 10, and 15 for some graphs."""
    neighbors: int = Field(default=20, ge=1, le=LARGEST_K)
    """Neighbours that an observation shows; ours, the paper shows all."""
    context_tokens: int = Field(default=10_000, ge=1)
    """Length of the steps at which the course ends. The number is that of the paper's code."""


class GraphCot:
    """Think, act, observe."""

    name = "graph-cot"

    def __init__(self, graph: Graph, model: LanguageModel, config: GraphCotConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or GraphCotConfig()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Step until Finish, and rank what it names."""
        config = self.config
        workflow = Workflow(self._graph, self._model, run, question=question, method=self.name, config=config)
        functions = GraphFunctions(self._graph, workflow, neighbors=config.neighbors)
        answer = ""

        def walk() -> None:
            nonlocal answer
            answer = functions.walk("graph-cot", config.max_steps, config.context_tokens).answer or ""

        result = workflow.follow_and_rank(walk, lambda: workflow.present(functions.reasons(answer) or workflow.plain()))
        return result.model_copy(update={"answer": answer or None})


# The nodes that a question is about: what GraphRAG and Cypher start from. GraphScout (003), appendix A.4; ours.
#
# Names that stand in the question are looked up with `node_id_retriever`: nodes of just that name, alias or identifier;
# else of the name that is spelled most like it, where there is one. Words of the schema, "disease" among diseases, are
# no names. Besides, one search is made with the whole question.


HOMONYMS = 2
"""Nodes that one name may mean, the node retriever's topk (003, appendix B.4.1): of those that bear it as their name,
then of those that it is an alias of, what fits the question best."""
MOST_NAMES = 16
"""Names of a question that are looked up."""


class CoreEntities:
    """Finds the nodes that questions to one graph are about. Safe to share among threads."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._names, self._types = NameAnalyzer(graph), TypeLinker(graph)

    def named(self, workflow: Workflow) -> dict[int, str]:
        """Return the rows of the nodes that the question names, in its order, each with that name as its reason."""
        rows: dict[int, str] = {}
        text = workflow.question.text
        names = [name for name in self._names.analyze(text, workflow.run).low if self._types.link(name) is None]
        if len(names) > MOST_NAMES:
            workflow.notes.append(f"of {len(names)} names in the question the first {MOST_NAMES} are looked up")
        for name in sorted(names, key=text.find)[:MOST_NAMES]:
            for row in self._meant(workflow, name):
                rows.setdefault(row, f"named in the question: {name}")
        return rows

    def found(self, workflow: Workflow, k: int) -> dict[int, str]:
        """Return the rows that one search with the whole question finds, best first."""
        text = workflow.question.text
        return dict.fromkeys(workflow.search(text, k) if text.strip() else (), "found by the question")

    def answer_types(self, workflow: Workflow) -> tuple[str, ...]:
        """Return the node types that the question asks for; none where it does not say."""
        return self._names.analyze(workflow.question.text, workflow.run).answer_types

    def _meant(self, workflow: Workflow, name: str) -> tuple[int, ...]:
        """Return the nodes that a name means, looked up with the tool; none where no name is spelled like it."""
        graph = self._graph
        rows = called(graph, name)
        if not rows:
            near = near_name(graph, name, ALIKE)
            if near is None:
                return ()
            workflow.notes.append(f"{name!r} is read as {near!r}")
            name, rows = near, called(graph, near)
        observation = workflow.use(NAME, queries=[name], topk=min(len(rows), MOST_TOPK))
        best, _ = workflow.rank(
            np.array(sorted(map(graph.arrays.row, observation.nodes)), np.int32), len(observation.nodes)
        )
        folded = name.casefold()
        return tuple(sorted(best.tolist(), key=lambda row: graph.arrays.names[row].casefold() != folded)[:HOMONYMS])


# The four functions over a graph that Graph-CoT's actions call, answered in words; and the nodes its answers name.
#
# Graph-CoT (Jin et al. 2024); Graph-Counselor (Gao et al. 2025) uses them too, one inside another.


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


# `graph-counselor`: plan, execute, reflect: a plan says how deep to go, reflection whether that was deep enough.
#
# Paper: Gao et al. 2025, Graph Counselor, as GraphScout (003) describes it: sections 2.2 and A.4. The course follows
# its public code, of which no line is taken: functions inside one another, a name for the last nodes, at most two
# reflections.
#
#     plan      a call writes the steps, and how many actions they need
#     execute   a call an action, with Graph-CoT's functions (`graph_functions`), until Finish or the plan is spent
#     reflect   a call judges the course: sound, or what to do otherwise and how many actions deep; then all over again
#
# Deviations:
# 1. The model judges from the course whether an attempt was sound. The public code, as set up, stops on the gold
# answer;
#    here no method ever sees gold.
# 2. Thought and action are one call, where the public code makes two.
# 3. An attempt may take twice the actions that its plan names, up to `max_steps`: failed ones count.
# 4. The last attempt is not judged: nothing would follow from it. A verdict that cannot be read ends the course.
# 5. The ranking is Graph-CoT's: the nodes that Finish names, then those that actions have shown, the latest first.
# 6. The prompts are our own.


PLAN = {
    "type": "object",
    "properties": {
        "steps": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "depth": {"type": "integer", "minimum": 1},
    },
    "required": ["steps", "depth"],
    "additionalProperties": False,
}
"""What the plan gives: steps in words, and how many actions they need."""
VERDICT = {
    "type": "object",
    "properties": {
        "sound": {"type": "boolean"},
        "advice": {"type": "string"},
        "depth": {"type": "integer", "minimum": 1},
    },
    "required": ["sound", "advice"],
    "additionalProperties": False,
}
"""What the model says of an attempt of its own."""
UNSOUND = "the model judged this answer unsound, and no later attempt came to another"


class GraphCounselorConfig(WorkflowConfig):
    """Graph Counselor's settings."""

    max_steps: int = Field(default=10, ge=1, le=LARGEST_K)
    """Actions of an attempt at the most; the number is ours."""
    reflections: int = Field(default=2, ge=1, le=LARGEST_K)
    """Reflections at the most, each with another attempt after it. The number is that of the public code."""
    neighbors: int = Field(default=20, ge=1, le=LARGEST_K)
    """Neighbours of a node that an observation shows; ours."""
    context_tokens: int = Field(default=10_000, ge=1)
    """Length of an attempt's steps at which it ends; Graph-CoT's code has this number."""


class GraphCounselor:
    """Plan, execute, reflect."""

    name = "graph-counselor"

    def __init__(self, graph: Graph, model: LanguageModel, config: GraphCounselorConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or GraphCounselorConfig()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Attempt until the model finds its course sound, or no further reflection is allowed."""
        config = self.config
        workflow = Workflow(self._graph, self._model, run, question=question, method=self.name, config=config)
        functions = GraphFunctions(self._graph, workflow, neighbors=config.neighbors, is_nested=True)
        course = _CounselorCourse(functions, workflow, config)
        result = workflow.follow_and_rank(
            course.run, lambda: workflow.present(functions.reasons(course.answer) or workflow.plain())
        )
        notes = (*result.notes, UNSOUND) if course.is_unsound else result.notes
        return result.model_copy(update={"answer": course.answer or None, "notes": notes})


@dataclass(slots=True)
class _CounselorCourse:
    """One question's attempts."""

    functions: GraphFunctions
    workflow: Workflow
    config: GraphCounselorConfig
    answer: str = ""
    """The answer of the last attempt that finished."""
    is_unsound: bool = False
    """Whether that answer was judged unsound, and no later attempt came to another."""
    lessons: list[str] = field(default_factory=list)

    def run(self) -> None:
        """Plan, execute and reflect until an attempt is judged sound."""
        deepest = 1
        for number in range(self.config.reflections + 1):
            plan = self._plan(deepest)
            walked = self._execute(plan, number + 1)
            if walked.answer:
                self.answer, self.is_unsound = walked.answer, False
            if number == self.config.reflections:
                return
            verdict = self._reflect(plan, walked)
            if verdict is None:
                return
            self.is_unsound = bool(self.answer)
            deepest = max(deepest, verdict.get("depth", 1))
            self.lessons.append(f"{len(self.lessons) + 1}. {' '.join(verdict['advice'].split())}")

    def _plan(self, deepest: int) -> dict[str, Any]:  # Any: JSON that fits PLAN
        plan = self.workflow.ask_for(
            "graph-counselor-plan",
            PLAN,
            schema="\n".join(schema_lines(self.functions.graph)),
            question=self.workflow.question.text,
            lessons="\n".join(self.lessons) or "none",
        )
        if plan is None:
            self.workflow.notes.append("the model's plan cannot be read: the attempt goes without one")
            plan = {"steps": ["answer the question"], "depth": self.config.max_steps}
        plan["depth"] = max(plan["depth"], deepest)
        return plan

    def _execute(self, plan: dict[str, Any], number: int) -> ActionLog:  # Any: JSON that fits PLAN
        """Take actions until Finish, the plan's depth twice over, or a limit."""
        notes = self.workflow.notes
        before = len(notes)
        walked = self.functions.walk(
            "graph-counselor-act",
            min(2 * plan["depth"], self.config.max_steps),
            self.config.context_tokens,
            plan="\n".join(f"{at}. {step}" for at, step in enumerate(plan["steps"], 1)),
        )
        notes[before:] = [f"attempt {number}: {note}" for note in notes[before:]]
        return walked

    def _reflect(self, plan: dict[str, Any], walked: ActionLog) -> dict[str, Any] | None:  # Any: JSON
        """Return what to do otherwise; None where the attempt is judged sound, or the verdict cannot be read.

        One that has not answered is never sound.
        """
        verdict = self.workflow.ask_for(
            "graph-counselor-reflect",
            VERDICT,
            question=self.workflow.question.text,
            plan="\n".join(plan["steps"]),
            steps="\n".join(walked.steps) or "none",
        )
        if verdict is None:
            self.workflow.notes.append("the model's verdict on an attempt cannot be read: no further one is begun")
            return None
        return None if verdict["sound"] and walked.answer else verdict
