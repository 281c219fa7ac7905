"""What an exact reading answers: the nodes that meet it, the answer in words, and the way to each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from orienteer.display import counted
from orienteer.errors import BudgetExhausted, ModelError
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.protocols import QuestionReader, Run
from orienteer.query import plan
from orienteer.query.budget import Budget
from orienteer.query.proof import Leg, WalkedStep, Witness
from orienteer.query.store import Store
from orienteer.reading.executor import Executor, QueryOutcome
from orienteer.reading.line import TOTALS, parse
from orienteer.reading.query import (
    Among,
    Between,
    Condition,
    Either,
    ExactQuery,
    Joined,
    Measure,
    NodeSet,
    Valued,
    edges_of,
    is_of_edges,
    joined_of,
    span_of,
)
from orienteer.reading.readers import queries_of, read_by
from orienteer.reading.relations import is_of_kinds
from orienteer.reading.units import is_beside
from orienteer.reading.vocabulary import SchemaWords
from orienteer.reading.wording import QueryWording
from orienteer.records import (
    AnswerKind,
    JsonValue,
    Question,
    Reading,
    Refusal,
    ResultTable,
    Sense,
    Trajectory,
    WalkedEdge,
)
from orienteer.text.sentences import one_line, value_text

_LISTED = 20  # nodes; more of them are not written out as an answer
_MOST_GROUPS = 200  # groups that are written out
_EXAMPLES = 3  # names of what was counted
_LONGEST_TEXT = 500  # characters of what a node's text says of it
_TEXTS = ("description", "summary", "definition", "note", "notes")
"""Properties that say what a node is, where it has no text."""
_LONGEST_VALUE = 200  # characters of a value in a proof


@dataclass(frozen=True, slots=True)
class ExactAnswer:
    """What was read of a question, and what it gives."""

    reading: Reading
    refusal: Refusal | None = None
    rows: Rows | None = None
    """The nodes that meet every condition, in their order; None where the question was not understood."""
    is_ordered: bool = False
    """The order is what was asked for; else any is right."""
    answer: str | None = None
    long_answer: str | None = None
    kind: AnswerKind | None = None
    table: ResultTable | None = None
    notes: tuple[str, ...] = ()
    trajectories: tuple[Trajectory, ...] = ()
    """The calls of a reader that asks a model."""
    failed: BudgetExhausted | ModelError | None = None
    """What kept the reader from reading."""


class _Spoken(NamedTuple):
    """An answer in words."""

    answer: str | None = None
    long_answer: str | None = None
    kind: AnswerKind | None = None


class Answerer:
    """Answers the questions about one graph that can be read exactly. Safe to share among threads."""

    def __init__(self, graph: Graph, reader: QuestionReader, vocabulary: SchemaWords) -> None:
        self._graph, self._reader, self._vocabulary = graph, reader, vocabulary
        self._wording = QueryWording(graph)

    def answer(self, question: Question, mask: Mask | None, run: Run) -> tuple[ExactAnswer, Explainer | None]:
        """Return the answer of a question over the nodes that a mask marks, and what explains its hits.

        Raises `BadOption` where the question's own reading cannot be read.
        """
        trajectories: tuple[Trajectory, ...] = ()
        failed: BudgetExhausted | ModelError | None = None
        if question.reading is not None:
            read: Reading | Refusal = Reading(text=question.reading)
            queries: list[ExactQuery] | Refusal = [parse(question.reading, self._graph)]
        else:
            read, trajectories, failed = read_by(self._reader, question.text, run)
            queries = queries_of(read, self._graph)
        if isinstance(queries, Refusal):
            note = f"no exact answer: {queries.text}; what follows was ranked by names and words"
            agreed = False if queries.lines else None
            refused = Reading(by=self._reader.name, not_understood=queries.words, agreed=agreed)
            return ExactAnswer(refused, queries, notes=(note,), trajectories=trajectories, failed=failed), None
        assert isinstance(read, Reading)
        executor = Executor(self._graph, mask)
        answer, *others = [self._answered(read, query, executor) for query in queries]
        senses, of_senses = read.senses, queries[1:]
        meant = [n for n, one in enumerate(others) if not _is_of_none(of_senses[n], one)]
        if 0 < len(meant) < len(others):  # "Neurology B at Old Mill" is not the one elsewhere
            senses = tuple(senses[n] for n in meant)
            others, of_senses = [others[n] for n in meant], [of_senses[n] for n in meant]
        outcomes = {(one.answer, None if one.rows is None else one.rows.tobytes()) for one in others}
        if len(outcomes) < 2:
            one = others[0] if others else answer  # of namesakes a number is that of each
            plain = one.reading.model_copy(update={"senses": ()})
            explainer = Explainer(self._graph, of_senses[0] if others else queries[0], executor)
            return replace(one, reading=plain, trajectories=trajectories), explainer
        several = replace(_of_senses(senses, others), trajectories=trajectories)
        return several, Explainer(self._graph, of_senses[0], executor)

    def _answered(self, read: Reading, query: ExactQuery, executor: Executor) -> ExactAnswer:
        outcome = executor.run(query)
        line = self._wording.line(query)
        spoken = self._spoken(query, outcome, line, executor)
        is_untold = query.form == "value" and spoken.answer is None
        found = self._found(query, outcome.rows, executor) if is_untold else []
        lacks = is_untold and all(value is None and not is_of_edges(query.measure) for _, value in found)
        lacking = [self._graph.arrays.names[row] for row in outcome.rows[:_EXAMPLES].tolist()] if lacks else []
        outcome = replace(outcome, rows=outcome.rows[:0]) if lacks else outcome
        update = {"text": line, "cypher": self._wording.cypher(query), "complete": True, "total": len(outcome.rows)}
        reading = read.model_copy(update=update)
        notes = (*read.notes, *self._notes(query, outcome, line), *self._of_none(query, outcome, executor))
        for name, count in dict.fromkeys(executor.incomparable(query)):
            have = "has" if count == 1 else "have"
            told = (
                f"{counted(count, 'node')} {have} a {name} that is neither a number nor a date: it cannot be compared"
            )
            notes = (*notes, told)
        # from kinds to wider ones: what is no kind by one edge may be one by several
        are_kinds = any(is_of_kinds(self._vocabulary, kind >> 1) for kind in edges_of(query))
        if query.form == "test" and outcome.value is False and are_kinds:
            spoken = _Spoken()
            notes = (*notes, "no edge says so, and whether it is so over several steps is not read")
        if query.first is not None and query.group is None and len(outcome.rows) > query.first:
            notes = (*notes, f"{query.first} of the {len(outcome.rows):,} nodes that meet it")
            outcome = replace(outcome, rows=outcome.rows[: query.first])
            spoken = self._names(outcome.rows)
        is_of_none = not len(outcome.rows) and query.form in ("list", "value", *TOTALS)
        if spoken.answer is None and not (notes or is_of_none) and query.form not in ("list", "value", "path"):
            notes = ("no node has a value to answer with",)
        if not len(outcome.rows) and query.form == "path":
            notes = (*notes, "no path of at most 8 edges joins them")
        if lacking and query.measure is not None:
            notes = (
                *notes,
                f"no {query.measure.property} is known of {', '.join(lacking)}",
                *self._texts(query, found),
            )
        elif is_of_none:
            notes = (*notes, f"nothing in the graph meets all of it: {line}")
        is_ordered = query.nodes.best is not None or query.form == "path"
        table = self._table(query, outcome) if outcome.table else None
        return ExactAnswer(reading, None, outcome.rows, is_ordered, *spoken, table, notes)

    def _table(self, query: ExactQuery, outcome: QueryOutcome) -> ResultTable:
        """Return all groups as data, the first with the lines of their nodes."""
        assert query.group is not None
        by = query.group.period or query.group.property or "name"
        if query.group.target is not None:
            types = self._graph.arrays.types.nodes
            by = "|".join(self._graph.schema.label(types[one]) for one in sorted(query.group.target.types)) or "node"
        number = query.form if query.measure is None else f"{query.form} {self._wording.measure(query.measure)}"
        most = _MOST_GROUPS if query.nodes.best is None else 0  # of the best a line would be the best of a group
        of = zip(outcome.table[:most], outcome.ends, strict=False)
        within = (_of_value(query.group, value) if row < 0 else _to_node(query.group, row) for (value, _), row in of)
        lines = (self._wording.line(ExactQuery("list", query.nodes.that(condition))) for condition in within)
        rows = tuple((group, int(value) if value.is_integer() else value) for group, value in outcome.table)
        return ResultTable(kind="groups", columns=(by, number), rows=rows, readings=tuple(lines))

    def _texts(self, query: ExactQuery, found: Sequence[tuple[int, JsonValue]]) -> Iterator[str]:
        """Yield the texts that nodes have where the property that is asked for holds numbers or dates: `on request`."""
        arrays, asked = self._graph.arrays, query.measure.property if query.measure is not None else None
        rows = np.array([row for row, _ in found[:_EXAMPLES]], np.int32)
        for name in arrays.properties.names if asked else ():
            if is_beside(name, asked or "") and name != asked:
                for row, value in zip(rows.tolist(), arrays.properties.values(name, rows), strict=True):
                    if value is not None:
                        yield f"{name} of {arrays.names[row]}: {one_line(_text(value), _LONGEST_VALUE)}"

    def _notes(self, query: ExactQuery, outcome: QueryOutcome, line: str) -> Iterator[str]:
        """Yield which nodes one name is of, and what an answer leaves out."""
        arrays = self._graph.arrays
        own = () if query.nodes.best is not None else (query.nodes,)  # of "X or Y, which is older" both are named
        sets = (*own, *(joined.target for joined in joined_of(query.nodes)))
        for rows in dict.fromkeys(nodes.named for nodes in sets):
            if len(rows) > 1:
                bearers = ", ".join(f"{arrays.ids[row]} ({arrays.names[row]}, {arrays.type_at(row)})" for row in rows)
                yield f"one name of {len(rows)} nodes, and all of them are meant: {bearers}"
        if query.nodes.best is not None and len(outcome.rows) > query.nodes.best.first:
            yield f"{len(outcome.rows)} nodes tie"
        if query.nodes.best is not None and query.nodes.best.skipped and not len(outcome.rows):
            place = query.nodes.best.skipped + 1
            yield f"no node is alone in place {place}: too few have a value, or nodes tie before it"
        if query.form == "every" and outcome.value is False:
            yield "the first hits are those that do not meet it"
        if outcome.missing:
            is_one = outcome.missing == 1
            are, have, count = ("is", "has", "counts") if is_one else ("are", "have", "count")
            where = f"{have} no value there and {count} for nothing"
            if query.group is not None:
                where = f"{are} in no group" + ("" if query.measure is None else f", or {have} no value there")
            if query.form == "share":
                where = f"{have} no value there, and {are} counted as not meeting it"
            yield f"{counted(outcome.missing, 'node')} {where}"
        types = self._graph.arrays.types
        used = {types.edges[kind >> 1] for kind in edges_of(query)} | {types.nodes[kind] for kind in query.nodes.types}
        if partial := sorted(used.intersection(self._graph.schema.partial)):
            yield f"the graph holds only a part of {', '.join(partial)}: what is counted is that part"

    def _of_none(self, query: ExactQuery, outcome: QueryOutcome, executor: Executor) -> Iterator[str]:
        """Yield which nodes are in no group, and how many have none of what the fewest are told by."""
        best = query.nodes.best
        if best is not None and not best.descending and best.measure.property is None:
            ranked = executor.run(ExactQuery("list", replace(query.nodes, best=None))).rows
            having = int((executor.measured(ranked, best.measure) > 0).sum())
            if having < len(ranked):
                yield f"{having:,} of {counted(len(ranked), 'node')} have any; the others count as 0"
        if query.group is None or query.group.property is not None or not outcome.table or best is not None:
            return
        target = query.group.target
        outcome = outcome if query.first is None else executor.run(replace(query, first=None))
        every = outcome.rows if target is None else Executor(self._graph).run(ExactQuery("list", target)).rows
        if len(lacking := np.setdiff1d(every, outcome.ends)):
            names = ", ".join(self._graph.arrays.names[row] for row in lacking[:_EXAMPLES].tolist())
            more = f" and {len(lacking) - _EXAMPLES:,} more" if len(lacking) > _EXAMPLES else ""
            label = self._graph.schema.label(self._graph.arrays.type_at(int(lacking[0])))
            yield f"{counted(len(lacking), label)} {'has' if len(lacking) == 1 else 'have'} none: {names}{more}"

    def _spoken(self, query: ExactQuery, outcome: QueryOutcome, line: str, executor: Executor) -> _Spoken:
        """Return the answer of a query that is one line."""
        value, rows = outcome.value, outcome.rows
        if outcome.table:
            told = "; ".join(f"{_text(group)}: {_number(number)}" for group, number in outcome.table[:_MOST_GROUPS])
            more = len(outcome.table) - _MOST_GROUPS
            if query.first is not None and more <= 0:
                return _Spoken(", ".join(_text(group) for group, _ in outcome.table), told, "text")
            return _Spoken(f"{told}; and {more} more" if more > 0 else told, None, "text")
        if query.form == "value":
            return self._values(query, rows, executor)
        if query.form == "path":
            return _Spoken(self._wording.walk([*self._steps(rows)]), None, "text") if len(rows) > 1 else _Spoken()
        if query.form == "list":
            spoken = self._names(rows)
            return spoken._replace(long_answer=self._what(rows[0])) if len(rows) == 1 and query.nodes.named else spoken
        if value is None:
            return _Spoken()
        if query.form == "count":
            meets = f"{counted(int(value), 'node')} meet{'s' if value == 1 else ''} it"
            return _Spoken(str(value), f"{meets}: {line.removeprefix('count ')}", "number")
        if query.form == "share":
            text = f"{round(value, 2):g} %"
            return _Spoken(text, f"{line}: {text} ({counted(len(rows), 'node')})", "number")
        if query.form in ("test", "compare", "every", "majority"):
            text = "yes" if value else "no"
            return _Spoken(text, f"{text}: {line}", "boolean")
        text, is_told = _number(value), query.measure is not None and query.measure.target is None
        over = f", over {counted(len(rows) - outcome.missing, 'node')}" if is_told else ""
        return _Spoken(text, f"{line}: {text}{over}", "number")

    def _what(self, row: int) -> str:
        """Return what a node is: its kind, and what its text says."""
        node = self._graph.node(self._graph.arrays.ids[row])
        text = node.text or next((_text(node.properties[name]) for name in _TEXTS if node.properties.get(name)), "")
        what = f"{node.name}: {self._graph.schema.label(node.type)}"
        return f"{what}. {one_line(text, _LONGEST_TEXT)}" if text else what

    def _steps(self, rows: Rows) -> Iterator[tuple[int, int, int]]:
        """Yield the steps of a path as (row before, kind, row behind), by any edge between the two."""
        for near, far in pairwise(rows.tolist()):
            entries = self._graph.arrays.adjacency.entries(np.array([near], np.int32))
            yield near, int(entries.kind[np.flatnonzero(entries.neighbor == far)[0]]), far

    def _names(self, rows: Rows) -> _Spoken:
        """Return the nodes' names, where they are few enough to be an answer."""
        names = [self._graph.arrays.names[row] for row in rows.tolist()[: _LISTED + 1]]
        if not names or len(names) > _LISTED:
            return _Spoken()
        return _Spoken(", ".join(names), None, "entity" if len(names) == 1 else "set")

    def _found(self, query: ExactQuery, rows: Rows, executor: Executor) -> list[tuple[int, JsonValue]]:
        """Return what nodes, or their edges, have for the property that is asked for, each with its row."""
        measure = query.measure
        assert measure is not None
        assert measure.property is not None
        if is_of_edges(measure):
            return executor.edge_values(rows.astype(np.int64), measure)
        return list(zip(rows.tolist(), self._graph.arrays.properties.values(measure.property, rows), strict=True))

    def _values(self, query: ExactQuery, rows: Rows, executor: Executor) -> _Spoken:
        """Return the values of a property, where they are few enough to be an answer."""
        found = self._found(query, rows[:_LISTED], executor)
        known = [(self._graph.arrays.names[row], value) for row, value in found if value is not None]
        if not known or query.measure is None or max(len(rows), len(known)) > _LISTED:
            return _Spoken()
        sentence = "; ".join(f"{query.measure.property} of {node}: {_text(value)}" for node, value in known)
        texts = list(dict.fromkeys(_text(value) for _, value in known))
        is_number = len(texts) == 1 and all(isinstance(value, int | float) for _, value in known)
        return _Spoken(", ".join(texts), sentence, "number" if is_number else "text")


class WrittenProof(NamedTuple):
    """Why a node is an answer."""

    texts: list[str]
    edges: tuple[WalkedEdge, ...]
    """All of its proof, the nearest first."""
    parts: Mapping[str, tuple[str, float]]
    """The role and the layer of each node that the edges lead to, by id, as `EdgeEnd` has them."""
    meets: tuple[str, ...]
    """The conditions that no edge shows."""


class ProofWording:
    """Writes proofs over one graph."""

    def __init__(self, graph: Graph, said: Callable[[plan.NodeSet], str]) -> None:
        """`said` gives a condition that a leg has no edges and no value for in words."""
        self._graph, self._said, self._wording = graph, said, QueryWording(graph)

    def written(self, proof: Witness) -> WrittenProof:
        """Return in words what a node meets, with the edges that show it."""
        texts = [text for leg in proof.legs for text in self._leg(proof.row, leg)]
        edges = dict.fromkeys(self.edge(near, step) for near, step in proof.steps())
        return WrittenProof(texts, tuple(edges), self._parts(proof), tuple(dict.fromkeys(self._unshown(proof))))

    def _parts(self, proof: Witness) -> dict[str, tuple[str, float]]:
        """Return the role and the layer of each node; of one with several parts, `named` and the last layer."""
        arrays, parts = self._graph.arrays, dict[str, tuple[str, float]]()
        for row, layer, end in proof.layers():
            known, last = parts.get(arrays.ids[row], ("", 0.0))
            is_named = end is not None and any(isinstance(leg.nodes, plan.Among) for leg in end.legs)
            label = "" if end is None else self._graph.schema.label(arrays.type_at(row))
            parts[arrays.ids[row]] = "named" if is_named else known or label, max(last, layer)
        return parts

    def _unshown(self, proof: Witness, whose: str = "") -> Iterator[str]:
        """Yield what a node, and the nodes of its proof, meet that no edge shows."""
        for leg in proof.legs:
            if leg.end is None and not isinstance(leg.nodes, plan.Among):
                yield whose + self._plain(leg)
            for part in (leg, *leg.examples):
                if part.end is not None:
                    name = self._graph.arrays.names[part.end.row]
                    yield from self._unshown(part.end, whose if part.end.row == proof.row else f"{name}: ")

    def _leg(self, row: int, leg: Leg) -> list[str]:
        """Return a leg of a node in words.

        A leg of edges is a way as long as it does not fork, its far end first: `migraine <-treats- aspirin`. What its
        last node meets beside follows: `asthma: -associates-> PTGS2, -associates-> TNF`.
        """
        if isinstance(leg.nodes, plan.Among):
            return [self._said(leg.nodes)]
        if leg.end is None:
            return [self._plain(leg)]
        steps, end = [*leg.steps], leg.end
        while [further.end is not None for further in _told(end)] == [True]:
            [further] = _told(end)
            assert further.end is not None
            steps, end = [*steps, *further.steps], further.end
        return [self._wording.path(row, [(step.kind, step.row) for step in steps]), *self._forks(end)]

    def _forks(self, node: Witness) -> list[str]:
        """Return what a node meets, and further down what those nodes meet that it leads to."""
        told = _told(node)
        if not told:
            return []
        texts = [self._plain(leg) if leg.end is None else self._wording.onward(leg.steps) for leg in told]
        own = f"{self._graph.arrays.names[node.row]}: {', '.join(texts)}"
        return [own, *(text for leg in told if leg.end is not None for text in self._forks(leg.end))]

    def _plain(self, leg: Leg) -> str:
        """Return a leg without edges in words."""
        if isinstance(leg.nodes, plan.Has | plan.Compared | plan.Meets):
            return f"{leg.nodes.property}: {one_line(_text(leg.value), _LONGEST_VALUE)}"
        if isinstance(leg.nodes, plan.Best):
            return f"{leg.nodes.measure.property or 'number of edges'}: {_text(leg.value)}"
        text = self._said(leg.nodes)
        if not isinstance(leg.nodes, plan.Counted):
            return text
        assert isinstance(leg.value, int), "a count is a number"
        names = [self._graph.arrays.names[one.end.row] for one in leg.examples[:_EXAMPLES] if one.end is not None]
        listed = [*names, "..."] if leg.value > len(names) else names
        return f"{text} ({leg.value}: {', '.join(listed)})" if names else f"{text} ({leg.value})"

    def edge(self, row: int, step: WalkedStep) -> WalkedEdge:
        """Return an edge that was walked from a node."""
        arrays = self._graph.arrays
        source, target = (step.row, row) if step.kind & 1 else (row, step.row)
        return WalkedEdge(
            source=arrays.ids[source], type=str(arrays.types.edges[step.kind >> 1]), target=arrays.ids[target]
        )


class Explainer:
    """Says why a node meets a query."""

    def __init__(self, graph: Graph, query: ExactQuery, executor: Executor) -> None:
        self._graph, self._query, self._executor = graph, query, executor
        self._wording = QueryWording(graph)

    @cached_property
    def _first(self) -> frozenset[int]:
        """Return the nodes that are compared with others."""
        return self._rows(self._query.nodes)

    def _rows(self, nodes: NodeSet) -> frozenset[int]:
        return frozenset(self._executor.run(ExactQuery("list", nodes)).rows.tolist())

    def why(self, row: int) -> WrittenProof:
        """Return in words what a node meets, with the edges that show it."""
        if self._query.form == "path" and row not in self._first | self._rows(self._query.other or NodeSet()):
            return WrittenProof(["on the way"], (), {}, ())
        other = self._query.other if self._query.form == "compare" else None
        nodes = self._query.nodes if other is None or row in self._first else other
        proof = self._executor.proof(row, nodes)
        wording = ProofWording(self._graph, self._said)
        texts, edges, parts, meets = wording.written(proof)
        ways = len(texts)
        for condition in nodes.conditions:
            if isinstance(condition, Joined) and condition.also and not condition.negated:
                steps = self._executor.shared(row, condition)
                texts[ways:ways] = [self._wording.path(row, [(step.kind, step.row)]) for step in steps]
                ways += len(steps)
                edges += tuple(wording.edge(row, step) for step in steps)
        best, measure = self._query.nodes.best, self._query.measure
        if best is not None:
            measured = float(self._executor.measured([row], best.measure)[0])
            value = self._wording.moment(best.measure.property, measured)
            texts.append(f"{self._wording.measure(best.measure)}: {value}")
        if measure is not None and measure.property is not None and not is_of_edges(measure):
            text_of_value = self._value(row, measure.property)
            texts += [f"{measure.property}: {text_of_value}"] if text_of_value is not None else []
        for condition in self._query.claimed if self._query.form == "every" else ():
            if isinstance(condition, Valued):
                texts.append(f"{condition.property}: {self._value(row, condition.property)}")
        return WrittenProof(texts, edges, parts, tuple(dict.fromkeys((*meets, *texts[ways:]))))

    def _said(self, nodes: plan.NodeSet) -> str:
        condition = self._executor.conditions.get(nodes)
        if isinstance(nodes, plan.Among) and not isinstance(condition, Valued | Between | Joined):
            return "named in the question"
        return self._wording.condition(self._executor.conditions[nodes])

    def _value(self, row: int, name: str) -> str | None:
        value = Store.of(self._graph).values(name, np.array([row]), Budget())[0]
        return None if value is None else one_line(_text(value), _LONGEST_VALUE)


def _is_of_none(query: ExactQuery, answer: ExactAnswer) -> bool:
    """Return whether a value is asked of a named node that does not meet what else is said of it."""
    is_none = answer.rows is not None and not len(answer.rows) and query.form in ("value", "average", "median", "sum")
    return is_none and any(isinstance(one, Among) for one in query.nodes.conditions)


def _of_senses(senses: Sequence[Sense], answers: Sequence[ExactAnswer]) -> ExactAnswer:
    """Return the answer by the first sense of a name, which says those by the others."""
    told = [one.answer or counted(0 if one.rows is None else len(one.rows), "node") for one in answers]
    each = [f"{answer} by the {sense.label}" for answer, sense in zip(told, senses, strict=True)]
    line = "; ".join(f"{sense.label}: {one.reading.text}" for sense, one in zip(senses, answers, strict=True))
    note = f"a name is of several types, and the hits are by the first: {line}"
    first = answers[0]
    return replace(first, answer="; ".join(each), long_answer=None, kind="text", table=None, notes=(note, *first.notes))


def _told(node: Witness) -> list[Leg]:
    """Return the legs of a node on the way that say more than that it was named."""
    return [leg for leg in node.legs if not isinstance(leg.nodes, plan.Among)]


def _of_value(group: Measure, value: JsonValue) -> Condition:
    """Return the condition of the nodes with a value that a group is of."""
    assert group.property is not None
    if group.period:
        begin, end = span_of(str(value))
        return Either(((Valued(group.property, ">=", begin), Valued(group.property, "<", end)),))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Valued(group.property, "=", float(value))
    return Valued(group.property, "=", value_text(value))


def _to_node(group: Measure, row: int) -> Condition:
    """Return the condition of the nodes that are grouped under one."""
    if group.target is None:
        return Among((row,))
    return Joined(group.kinds, NodeSet(group.target.types, (Among((row,)),)), where=group.where)


def _text(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return _number(value) if isinstance(value, float) else str(value)


def _number(value: float) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
