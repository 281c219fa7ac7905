"""What an exact reading answers: the nodes that meet it, the answer in words, and the way to each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.methods.anchor.linker import LinkedPhrase
from orienteer.methods.anchor.reading.execution import Executor, Outcome
from orienteer.methods.anchor.reading.line import parse
from orienteer.methods.anchor.reading.query import Among, Condition, Either, Filled, Joined, Query, Valued
from orienteer.methods.anchor.reading.reader import Read, Reader, named_rows
from orienteer.methods.anchor.reading.thesaurus import MOST
from orienteer.methods.anchor.reading.wording import Wording
from orienteer.records import AnswerKind, JsonValue, Question, Reading, Refusal, RefusalKind, WalkedEdge

_LISTED = 20  # nodes; more of them are not written out as an answer
_NEAR = 3  # names that are offered for one that is not there


@dataclass(frozen=True, slots=True)
class Answer:
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
    notes: tuple[str, ...] = ()


class Answerer:
    """Answers the questions about one graph that can be read exactly. Safe to share among threads."""

    def __init__(self, graph: Graph, reader: Reader) -> None:
        self._graph, self._reader = graph, reader
        self._wording = Wording(graph)

    def answer(self, question: Question, mask: Mask | None) -> tuple[Answer, Explainer | None]:
        """Return the answer of a question over the nodes that a mask marks, and what explains its hits.

        Raises `BadOption` where the question's own reading cannot be read.
        """
        if question.reading is not None:
            read = Read(parse(question.reading, self._graph))
        else:
            read = self._reader.read(question.text)
        if read.query is None:
            return self._refused(read), None
        executor = Executor(self._graph, mask)
        outcome = executor.run(read.query)
        return self._answered(read.query, outcome, read.respelled), Explainer(self._graph, read.query, executor)

    def _refused(self, read: Read) -> Answer:
        words = (*read.unknown_names, *read.not_understood)
        near: tuple[str, ...] = ()
        kind: RefusalKind = "not_understood"
        if read.unknown_names:
            kind = "unknown_name"
            found = (name for word in read.unknown_names for name in self._graph.arrays.near_names(word, most=_NEAR))
            near = tuple(dict.fromkeys(found))
            text = f"not in this graph: {_quoted(read.unknown_names)}" + (f" (near: {', '.join(near)})" if near else "")
        elif read.complaint is not None:
            kind = "not_here" if read.complaint.startswith("nothing here") else "unsupported"
            left = tuple(word for word in read.not_understood if word.casefold() not in MOST)
            text = read.complaint + (f"; not understood: {_quoted(left)}" if left else "")
        elif read.not_understood:
            text = f"not understood: {_quoted(read.not_understood)}"
        elif read.reached is not None:
            text = f"not understood from {read.reached!r} on"
        else:
            text = "not understood as a whole"
        note = f"no exact answer: {text}; what follows was ranked by names and words"
        return Answer(
            Reading(not_understood=words), Refusal(kind=kind, words=words, near=near, text=text), notes=(note,)
        )

    def _answered(self, query: Query, outcome: Outcome, respelled: Sequence[LinkedPhrase]) -> Answer:
        rows, line = outcome.rows, self._wording.line(query)
        reading = Reading(text=line, cypher=self._wording.cypher(query), complete=True, total=len(rows))
        named = set(named_rows(query.nodes))
        notes = [
            f"read {phrase.phrase!r} as {phrase.read_as!r}"
            for phrase in respelled
            if any(candidate.row in named for candidate in phrase.candidates)
        ]
        is_best = query.nodes.best is not None
        if is_best and query.nodes.best is not None and len(rows) > query.nodes.best.first:
            notes.append(f"{len(rows)} nodes tie")
        if outcome.missing:
            nodes = "node has" if outcome.missing == 1 else "nodes have"
            notes.append(f"{outcome.missing:,} {nodes} no value there and count for nothing")
        text, sentence, kind = self._said(query, outcome)
        if text is None and not notes and query.form != "list":
            notes.append("no node has a value to answer with")
        if not len(rows) and query.form in ("list", "value"):
            notes.append(f"nothing in the graph meets all of it: {line}")
        return Answer(reading, None, rows, is_best, text, sentence, kind, tuple(notes))

    def _said(self, query: Query, outcome: Outcome) -> tuple[str | None, str | None, AnswerKind | None]:
        """Return the answer, the sentence, and what kind of answer it is."""
        line, rows = self._wording.line(query), outcome.rows
        if query.form == "count":
            described = line.removeprefix("count ")
            return (
                str(outcome.value),
                f"{outcome.value:,} {'node meets' if outcome.value == 1 else 'nodes meet'} it: {described}",
                "number",
            )
        if query.form in ("test", "compare"):
            if outcome.value is None:
                return None, None, None
            text = "yes" if outcome.value else "no"
            return text, f"{text}: {line}", "boolean"
        if query.form in ("average", "sum"):
            if outcome.value is None:
                return None, None, None
            return (
                _number(outcome.value),
                f"{line}: {_number(outcome.value)}, over {len(rows) - outcome.missing:,} nodes",
                "number",
            )
        if query.form == "value":
            return self._values(query, rows)
        names = [self._graph.arrays.names[row] for row in rows.tolist()[: _LISTED + 1]]
        if not names or len(rows) > _LISTED:
            return None, None, None
        return ", ".join(names), None, "entity" if len(names) == 1 else "set"

    def _values(self, query: Query, rows: Rows) -> tuple[str | None, str | None, AnswerKind | None]:
        assert query.measure is not None and query.measure.property is not None
        name = query.measure.property
        few = rows[:_LISTED]
        values = self._graph.arrays.properties.values(name, few)
        known = [
            (self._graph.arrays.names[row], _text(value))
            for row, value in zip(few.tolist(), values, strict=True)
            if value is not None
        ]
        if not known or len(rows) > _LISTED:
            return None, None, None
        sentence = "; ".join(f"{name} of {node}: {value}" for node, value in known)
        texts = list(dict.fromkeys(value for _, value in known))
        is_number = all(isinstance(value, int | float) for value in values if value is not None)
        return ", ".join(texts), sentence, "number" if is_number and len(texts) == 1 else "text"


class Explainer:
    """Says why a node meets a query."""

    def __init__(self, graph: Graph, query: Query, executor: Executor) -> None:
        self._graph, self._query, self._executor = graph, query, executor
        self._wording = Wording(graph)

    def why(self, row: int) -> tuple[str, tuple[WalkedEdge, ...]]:
        """Return in words what a node meets, and the edges that lead from it to what the question names."""
        texts: list[str] = []
        edges: list[WalkedEdge] = []
        for condition in self._query.nodes.conditions:
            for text, walked in self._reasons(row, condition):
                texts.append(text)
                edges += walked
        best = self._query.nodes.best
        if best is not None:
            value = float(self._executor.measured(np.array([row], np.int32), best.measure)[0])
            texts.append(f"{self._wording.measure(best.measure)}: {self._wording.moment(best.measure.property, value)}")
        measure = self._query.measure
        if measure is not None:
            value = self._value(row, measure.property) if measure.property is not None else None
            texts += [f"{measure.property}: {value}"] if value is not None else []
        return "; ".join(dict.fromkeys(texts)), tuple(dict.fromkeys(edges))

    def _reasons(self, row: int, condition: Condition) -> Iterator[tuple[str, list[WalkedEdge]]]:
        if isinstance(condition, Among):
            yield (self._wording.condition(condition), []) if condition.negated else ("named in the question", [])
        elif isinstance(condition, Either) and not condition.negated:
            for option in condition.options:
                reasons = [
                    reason for part in option if self._executor.meets(row, part) for reason in self._reasons(row, part)
                ]
                if len(reasons) >= len(option):
                    yield from reasons
        elif isinstance(condition, Valued | Filled) and not condition.negated:
            yield f"{condition.property}: {self._value(row, condition.property)}", []
        elif isinstance(condition, Joined) and not condition.negated and condition.comparison is None:
            steps = self._executor.witness(row, condition)
            if steps:
                yield self._wording.path(row, steps), list(self._edges(row, steps))
        elif isinstance(condition, Joined) and condition.comparison is not None:
            number = int(self._executor.counts(np.array([row], np.int32), condition.kinds, condition.target)[0])
            yield f"{self._wording.condition(condition)} ({number})", []
        else:
            yield self._wording.condition(condition), []

    def _value(self, row: int, name: str) -> str | None:
        value = self._graph.arrays.properties.values(name, np.array([row], np.int32))[0]
        return None if value is None else _text(value)

    def _edges(self, row: int, steps: Sequence[tuple[int, int]]) -> Iterator[WalkedEdge]:
        arrays = self._graph.arrays
        for kind, neighbor in steps:
            source, target = (neighbor, row) if kind & 1 else (row, neighbor)
            yield WalkedEdge(
                source=arrays.ids[source], type=str(arrays.types.edges[kind >> 1]), target=arrays.ids[target]
            )
            row = neighbor


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(repr(word) for word in words)


def _text(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return _number(value) if isinstance(value, float) else str(value)


def _number(value: float) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
