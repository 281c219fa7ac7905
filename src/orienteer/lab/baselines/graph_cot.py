"""`graph-cot`: thought, action, observation, with four functions over the graph, read and never evaluated.

Paper: Graph Chain-of-Thought, Jin et al. 2024; defaults: 10 steps, RetrieveNode gives one node.

    RetrieveNode[words]            the node that fits the words best
    NodeFeature[node, feature]     a feature of a node
    NeighbourCheck[node, edge]     the neighbours by an edge type
    NodeDegree[node, edge]         how many there are
    Finish[answer]                 the answer, which ends the course

Deviations:
1. Actions are read by a small parser, where the paper's code evaluates them: names hold commas, quotes and brackets. A
   call inside a call is refused in an observation; several calls in one action are made in turn. Of several actions
   in one reply the first counts; the paper's code stops the model at the end of a line.
2. RetrieveNode searches by BM25, where the paper compares vectors. It returns type and name as well as the id.
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
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from orienteer.agents.workflow import CountedObservation, Workflow, WorkflowConfig
from orienteer.errors import nearest
from orienteer.graph.store import Graph
from orienteer.index.names import ALIKE
from orienteer.lab.baselines.baseline import TEXT, TEXTS, Baseline, refusal
from orienteer.llm.schema import object_of
from orienteer.protocols import Run
from orienteer.records import JsonValue, Question, Result
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


class GraphCot(Baseline[GraphCotConfig]):
    """Think, act, observe."""

    name = "graph-cot"
    settings = GraphCotConfig

    def retrieve(self, question: Question, run: Run) -> Result:
        """Step until Finish, and rank what it names."""
        config, workflow = self.config, self.start(question, run)
        functions = GraphFunctions(self._graph, workflow, neighbors=config.neighbors)
        answer = ""

        def walk() -> None:
            nonlocal answer
            answer = functions.walk("graph-cot", config.max_steps, config.context_tokens).answer or ""

        result = workflow.follow_and_rank(
            walk, lambda: workflow.present(functions.reasons(answer) or workflow.plain_search())
        )
        return result.model_copy(update={"answer": answer or None})


# The nodes that a question is about: what GraphRAG and Cypher start from. GraphScout (003), appendix A.4; ours.
#
# Names in the question are looked up with `node_id_retriever`: nodes of just that name, alias or identifier; else of
# the name that is spelled most like it, if there is one. Words of the schema, "disease" among diseases, are not names.
# One search is made with the whole question as well.

HOMONYMS = 2
"""Nodes that one name may mean, the node retriever's topk (003, appendix B.4.1): of those that have it as their name,
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
            for row in self._nodes_of_name(workflow, name):
                rows.setdefault(row, f"named in the question: {name}")
        return rows

    def search(self, workflow: Workflow, k: int) -> dict[int, str]:
        """Return the rows that one search with the whole question finds, best first."""
        text = workflow.question.text
        return dict.fromkeys(workflow.search(text, k) if text.strip() else (), "found by the question")

    def answer_types(self, workflow: Workflow) -> tuple[str, ...]:
        """Return the node types that the question asks for, or none if it does not say."""
        return self._names.analyze(workflow.question.text, workflow.run).answer_types

    def _nodes_of_name(self, workflow: Workflow, name: str) -> tuple[int, ...]:
        """Return the nodes that a name means, looked up with the tool."""
        graph = self._graph
        rows = called(graph, name)
        if not rows:
            near = near_name(graph, name, ALIKE)
            if near is None:
                return ()
            workflow.notes.append(f"{name!r} is read as {near!r}")
            name, rows = near, called(graph, near)
        nodes = workflow.use(NAME, queries=[name], topk=min(len(rows), MOST_TOPK)).nodes
        best, _ = workflow.rank(np.array(sorted(map(graph.arrays.row, nodes)), np.int32), len(nodes))
        folded = name.casefold()
        return tuple(sorted(best.tolist(), key=lambda row: graph.arrays.names[row].casefold() != folded)[:HOMONYMS])


# Actions of Graph-CoT as a model writes them, `Function[argument, argument]`: read, never evaluated.

ARGUMENTS: Mapping[str, int] = MappingProxyType(
    {"RetrieveNode": 1, "NodeFeature": 2, "NeighbourCheck": 2, "NodeDegree": 2, "Finish": 1}
)
"""How many arguments each function takes."""
_CALL = re.compile(r"(?<!\w)[^\WA-Za-z_]*+([A-Za-z_]\w*+)[ \t]*\[")
_ACTION = re.compile(r"\baction\b[ \t]*\d*[ \t]*[:.]", re.IGNORECASE)
_SPELLED = {"neighborcheck": "NeighbourCheck", **{name.casefold(): name for name in ARGUMENTS}}
_CALLS = 4  # calls that one action may hold


class ActionCall(NamedTuple):
    """A function as the model wrote it."""

    name: str
    arguments: tuple[str, ...]


def parse(text: str) -> tuple[ActionCall, ...]:
    """Return the calls of an action, in order: `Function[argument, argument]`, at most four.

    The first `Action:` that holds any call counts, for a model that writes on has made up its observations; without
    that mark, every call of a known function counts. An argument in quotes ends with its quote, any other at a comma
    outside of brackets. A function of one argument takes commas as they are; the last comma separates two arguments.
    An open bracket goes to the end of its line.
    """
    marks = [mark.span() for mark in _ACTION.finditer(text)]
    ends = [*(begin for begin, _ in marks[1:]), len(text)]
    actions = (_calls(text, at, end, is_marked=True) for (_, at), end in zip(marks, ends, strict=True))
    return next(filter(None, actions), ()) if marks else _calls(text, 0, len(text), is_marked=False)


def _calls(text: str, at: int, until: int, *, is_marked: bool) -> tuple[ActionCall, ...]:
    """Return the calls that begin in a part of a text; without the mark of an action, those of known functions."""
    calls: list[ActionCall] = []
    while (match := _CALL.search(text, at)) is not None and match.start() < until and len(calls) < _CALLS:
        name, at = _SPELLED.get(match[1].casefold(), match[1]), match.end()
        if name not in ARGUMENTS and not is_marked:
            continue
        begin, at, depth = at, len(text), 1
        for place, mark in _unquoted_marks(text, begin):
            depth += (mark == "[") - (mark == "]")
            if not depth or mark == "\n":
                at = place
                break
        parts = _parts(text[begin:at])
        if (extra := len(parts) - ARGUMENTS.get(name, 2)) > 0:  # the first ones belong together
            parts = [",".join(parts[: extra + 1]), *parts[extra + 1 :]]
        calls.append(ActionCall(name, tuple(map(_unquoted, parts))))
    return tuple(calls)


def split(text: str) -> list[str]:
    """Return the parts of a text between commas outside of brackets and of quoted parts."""
    return [_unquoted(part) for part in _parts(text) if part.strip()]


def _parts(text: str) -> list[str]:
    parts, begin, depth = list[str](), 0, 0
    for at, mark in _unquoted_marks(text, 0):
        depth = max(0, depth + (mark == "[") - (mark == "]"))
        if mark == "," and not depth:
            parts.append(text[begin:at])
            begin = at + 1
    return [*parts, text[begin:]]


def _unquoted_marks(text: str, at: int) -> Iterator[tuple[int, str]]:
    """Yield each character and its index, but those of arguments in quotes."""
    is_start = True
    while at < len(text):
        mark = text[at]
        if is_start and mark in "\"'" and (end := _quoted_end(text, at)) is not None:
            at, is_start = end, False
            continue
        yield at, mark
        is_start = mark == "," or (is_start and mark == " ")
        at += 1


def _quoted_end(text: str, at: int) -> int | None:
    """Return the end of a quoted argument, or None if an apostrophe in a name is at `at`."""
    mark, end = text[at], text.find(text[at], at + 1)
    line = text.find("\n", at) if "\n" in text[at:] else len(text)
    while -1 < end < line:
        if text[end + 1 : line].lstrip(" ")[:1] in ("", ",", "]"):
            return end + 1
        end = text.find(mark, end + 1)
    return None


def _unquoted(part: str) -> str:
    part = part.strip()
    return part[1:-1].strip() if len(part) > 1 and part[0] == part[-1] and part[0] in "\"'" else part


def _names_function(text: str) -> bool:
    return any(match[1].casefold() in _SPELLED for match in _CALL.finditer(text))


# The four functions over a graph that Graph-CoT's actions call, answered in words; and the nodes its answers name.
#
# Graph-CoT (Jin et al. 2024); Graph-Counselor (Gao et al. 2025) uses them too, one inside another.

LAST = "LAST"
"""The nodes that the action before has given, if functions may be nested."""
_FEATURE = 1_500  # characters of a feature's value
_WORDS = 8  # of a part of an answer that is searched for as a name: more make a sentence
NO_ACTION = "There is no action to run. Write one: Action: Function[arguments]"
_ENDS = re.compile(r"\n[^\S\n]*+observation\b", re.IGNORECASE)
_REPLY = 2_000  # characters of a reply that the next steps see
_MOST = 5  # nodes that one function is called for, if its argument means several


class ActionLog(NamedTuple):
    """Steps and their observations, and the answer of Finish: None if a limit came before it."""

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
            reply = _ENDS.split(reply, 1)[0].strip()[:_REPLY]
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
        arrays = self.graph.arrays
        for parts in ([answer], split(answer)):
            if rows := [row for part in parts for row in arrays.candidates(part)]:
                return dict.fromkeys(rows, "named in the answer")
        words = {row: re.compile(rf"(?<!\w){re.escape(arrays.names[row])}(?!\w)", re.IGNORECASE) for row in self.seen}
        if rows := [row for row, name in words.items() if arrays.names[row] and name.search(answer)]:
            return dict.fromkeys(rows, "named in the answer")
        hits = (self._workflow.search(part, 1) for part in split(answer) if len(part.split()) <= _WORDS)
        return dict.fromkeys((row for rows in hits for row in rows), "fits the answer's words best")

    def observe(self, call: ActionCall) -> str:
        """Run one call and return the observation."""
        name, arguments = call
        if name not in ARGUMENTS:
            near = nearest(name, ARGUMENTS, most=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            return f"There is no function {name[:80]}.{hint} There are: {', '.join(ARGUMENTS)}."
        takes_calls = self._is_nested and name not in ("RetrieveNode", "Finish")
        if not takes_calls and any(map(_names_function, arguments)):
            return f"{name} cannot take another call: make one first, and use what it gives in the next step."
        if len(arguments) != ARGUMENTS[name] or not all(arguments):
            return f"{name} takes {ARGUMENTS[name]} arguments, got {len(arguments)}."
        if name == "Finish":
            return "Finish stands alone: it ends the course."
        if name == "RetrieveNode":
            words = arguments[0]
            hits = self._workflow.use("search_in_graph", query=words, k=1)
            if hits.error or not hits.nodes:
                return refusal(hits) if hits.error else f"No node has any of these words: {words}."
            row = self.graph.arrays.row(hits.nodes[0])
            self.last = ()
            self._see([row], f"retrieved by {words!r}")
            return f"The best node is {self._title(row)}."
        nodes, remark = self._nodes(arguments[0])
        if not nodes:
            return remark
        function = {"NodeFeature": self._feature, "NeighbourCheck": self._neighbors, "NodeDegree": self._degree}[name]
        before, self.last = self.last, ()
        observed = " ".join(filter(None, [remark, *(function(node, arguments[1]) for node in nodes)]))
        self.last = self.last or before
        return observed

    def _nodes(self, argument: str) -> tuple[tuple[str, ...], str]:
        """Return the nodes that an argument means, and a remark for the model."""
        remark = ""
        if self._is_nested and (inner := parse(argument)) and _names_function(argument):
            self.last = ()
            remark = self.observe(inner[0])
        elif not self._is_nested or argument.strip() != LAST:
            return (argument,), remark
        rows = self.last
        if not rows:
            return (), remark or f"{LAST} stands for nothing yet: the action before has given no node."
        more = f"Of {len(rows)} nodes the first {_MOST} are taken." if len(rows) > _MOST else ""
        return tuple(f"[{self.graph.arrays.ids[row]}]" for row in rows[:_MOST]), f"{remark} {more}".strip()

    def _feature(self, node: str, feature: str) -> str:
        reading = self._workflow.use("read_node", node=node)
        if reading.error or not reading.nodes:
            return refusal(reading)
        read = self.graph.node(reading.nodes[0])
        features: dict[str, JsonValue] = {"name": read.name, "type": read.type, "text": read.text, **read.properties}
        name = {name.casefold(): name for name in features}.get(feature.casefold())
        if name is None:
            return f"{read.id} has no feature {feature!r}. It has: {', '.join(features)}."
        self._see([self.graph.arrays.row(read.id)], f"read for its {feature}")
        return f"The {name} of {read.id} is: {one_line(value_text(features[name]), _FEATURE)}"

    def _neighbors(self, node: str, edge: str) -> str:
        total, around = self._neighborhood(node, edge, k=self._neighbors_shown)
        if around.error:
            return refusal(around)
        shown = list(map(self.graph.arrays.row, around.nodes))
        self._see(list(reversed(shown)), f"a neighbour of {node} by {edge}")
        names = "; ".join(map(self._title, shown))
        more = f"; and {total - len(shown)} more" if total > len(shown) else ""
        return f"The {total} neighbours of {node} by {edge}: {names or 'none'}{more}."

    def _degree(self, node: str, edge: str) -> str:
        total, around = self._neighborhood(node, edge, k=1)
        return refusal(around) if around.error else f"The degree of {node} by {edge} is {total}."

    def _neighborhood(self, node: str, edge: str, *, k: int) -> CountedObservation:
        query = self._workflow.question.text
        return self._workflow.count("search_in_neighborhood", node=node, query=query, edge_types=[edge], k=k)

    def _title(self, row: int) -> str:
        arrays = self.graph.arrays
        return f"{arrays.ids[row]} ({one_line(arrays.names[row])}, {arrays.type_at(row)})"

    def _see(self, rows: Sequence[int], why: str) -> None:
        self.last = (*self.last, *(row for row in reversed(rows) if row not in self.last))
        for row in rows:
            self.seen.pop(row, None)
            self.seen[row] = why


# `graph-counselor`: plan, execute, reflect: a plan says how deep to go, reflection whether that was deep enough.
#
# Paper: Gao et al. 2025, Graph Counselor, as GraphScout (003) describes it: sections 2.2 and A.4. The course follows
# its public code, of which no line is taken: functions inside one another, a name for the last nodes, at most two
# reflections.
#
#     plan      a call writes the steps, and how many actions they need
#     execute   a call an action, with Graph-CoT's functions, until Finish or the plan is spent
#     reflect   a call judges the course: sound, or what to do otherwise and how many actions deep; then all over again
#
# Deviations:
# 1. The model judges from the course whether an attempt was sound. The public code, as set up, stops on the gold
#    answer; here no method ever sees gold.
# 2. Thought and action are one call; the public code makes two.
# 3. An attempt may take twice the actions that its plan names, up to `max_steps`: failed ones count.
# 4. The last attempt is not judged: nothing would follow from it. A verdict that cannot be read ends the course.
# 5. The ranking is Graph-CoT's: the nodes that Finish names, then those that actions have shown, the latest first.
# 6. The prompts are our own.

_DEPTH = {"type": "integer", "minimum": 1}
PLAN = object_of({"steps": {**TEXTS, "minItems": 1}, "depth": _DEPTH})
VERDICT = object_of({"sound": {"type": "boolean"}, "advice": TEXT, "depth": _DEPTH}, optional=["depth"])
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


class GraphCounselor(Baseline[GraphCounselorConfig]):
    """Plan, execute, reflect."""

    name = "graph-counselor"
    settings = GraphCounselorConfig

    def retrieve(self, question: Question, run: Run) -> Result:
        """Attempt until the model finds its course sound, or no further reflection is allowed."""
        config, workflow = self.config, self.start(question, run)
        functions = GraphFunctions(self._graph, workflow, neighbors=config.neighbors, is_nested=True)
        answer, is_unsound = "", False

        def attempt() -> None:
            nonlocal answer, is_unsound
            deepest, lessons = 1, list[str]()
            for number in range(1, config.reflections + 2):
                plan = workflow.ask_for(
                    "graph-counselor-plan",
                    PLAN,
                    schema="\n".join(schema_lines(self._graph)),
                    question=workflow.question.text,
                    lessons="\n".join(lessons) or "none",
                )
                if plan is None:
                    workflow.notes.append("the model's plan cannot be read: the attempt goes without one")
                    plan = {"steps": ["answer the question"], "depth": self.config.max_steps}
                plan["depth"] = max(plan["depth"], deepest)
                before = len(workflow.notes)
                walked = functions.walk(
                    "graph-counselor-act",
                    min(2 * plan["depth"], config.max_steps),
                    config.context_tokens,
                    plan="\n".join(f"{at}. {step}" for at, step in enumerate(plan["steps"], 1)),
                )
                workflow.notes[before:] = [f"attempt {number}: {note}" for note in workflow.notes[before:]]
                if walked.answer:
                    answer, is_unsound = walked.answer, False
                verdict = self._reflect(workflow, plan, walked) if number <= config.reflections else None
                if verdict is None:
                    return
                is_unsound = bool(answer)
                deepest = max(deepest, verdict.get("depth", 1))
                lessons.append(f"{len(lessons) + 1}. {' '.join(verdict['advice'].split())}")

        result = workflow.follow_and_rank(
            attempt, lambda: workflow.present(functions.reasons(answer) or workflow.plain_search())
        )
        notes = (*result.notes, UNSOUND) if is_unsound else result.notes
        return result.model_copy(update={"answer": answer or None, "notes": notes})

    def _reflect(self, workflow: Workflow, plan: dict[str, Any], walked: ActionLog) -> dict[str, Any] | None:
        """Return the model's advice, or None if the attempt is judged sound or the verdict cannot be read."""
        verdict = workflow.ask_for(
            "graph-counselor-reflect",
            VERDICT,
            question=workflow.question.text,
            plan="\n".join(plan["steps"]),
            steps="\n".join(walked.steps) or "none",
        )
        if verdict is None:
            workflow.notes.append("the model's verdict on an attempt cannot be read: no further one is begun")
            return None
        # An attempt without an answer is never sound.
        return None if verdict["sound"] and walked.answer else verdict
