"""Who reads questions as lines: the rules, a reader by its name, or one after the other.

All but the rules are made and asked in one way: that of a model (`by_model.py`), and those that packages register.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal, TypeAlias

from orienteer.errors import BadOption, BudgetExhausted, Error, ModelError
from orienteer.graph.store import Graph
from orienteer.llm.conversation import recorded_by
from orienteer.plugins import fault, load, registered
from orienteer.protocols import LanguageModel, QuestionReader, RecordedReading, Run
from orienteer.reading.by_model import ModelReader
from orienteer.reading.executor import Executor
from orienteer.reading.foreign import EveryLanguage
from orienteer.reading.line import parse, tried
from orienteer.reading.query import Among, ExactQuery, Joined, Valued, parts_of
from orienteer.records import Reading, Refusal

Check: TypeAlias = Literal["refused", "always"]
_OWN = (EveryLanguage.name, ModelReader.name)
_LONGEST_QUESTION = 2_000  # characters; longer ones are no question
_OF_VALUES = ("value", "average", "median", "sum")


def read_by(reader: QuestionReader, question: str, run: Run) -> RecordedReading:
    """Return what a reader makes of a question. A failed model and a spent budget are a refusal that says so."""
    try:
        read = reader.read(question, run)
    except (BudgetExhausted, ModelError) as failed:
        why = f"the {reader.name} was not heard: {failed}"
        return RecordedReading(Refusal(kind="unsupported", text=why), recorded_by(failed), failed)
    return read if isinstance(read, RecordedReading) else RecordedReading(read)


def queries_of(read: Reading | Refusal, graph: Graph) -> list[ExactQuery] | Refusal:
    """Return the queries of a reader's lines; a refusal that shows the line if one is none of this graph."""
    queries: list[ExactQuery] = []
    if isinstance(read, Refusal):
        return read
    for line in (read.text or "", *(sense.text for sense in read.senses)):
        query = tried(line, graph)
        if isinstance(query, str):
            why = f"{read.by} read it as {line!r}, which is no query of this graph: {query}"
            return Refusal(kind="not_understood", text=why)
        queries.append(query)
    return queries


def reader_of(name: str, graph: Graph, rules: EveryLanguage, model: LanguageModel | None = None) -> QuestionReader:
    """Return a reader by its name. Raises `BadOption` for a name that none has, and where a package's fails.

    A package's gets the graph and, of our rules and the model, what its parameters name: as `ModelReader` does.
    """
    if name == rules.name:
        return rules
    if name == ModelReader.name:
        if model is None:
            raise BadOption(f"the question reader {name!r} asks a model: give --method reader --model NAME")
        return ModelReader(graph, model=model, rules=rules)
    make = load("question_readers", name, _OWN)
    if make is None:
        names = ", ".join((*_OWN, *registered("question_readers", _OWN)))
        raise BadOption(f"there is no question reader {name!r}: there are {names}")
    with _blamed(name):
        wanted, offered = inspect.signature(make).parameters, {"rules": rules, "model": model}
        return _PackagesReader(name, make(graph, **{key: offered[key] for key in offered if key in wanted}))


class _PackagesReader:
    """A package's reader, whose faults name it."""

    def __init__(self, name: str, reader: QuestionReader) -> None:
        self.name, self._reader = name, reader

    def read(self, question: str, run: Run) -> RecordedReading:
        """Return what the reader returns. Raises `BadOption` if it fails, or returns anything else."""
        with _blamed(self.name):
            read = self._reader.read(question, run)
        recorded = read if isinstance(read, RecordedReading) else RecordedReading(read)
        if isinstance(recorded.read, Reading):
            return recorded._replace(read=recorded.read.model_copy(update={"by": self.name}))
        if not isinstance(recorded.read, Refusal):
            why = f"it returned a {type(recorded.read).__name__}, and neither a Reading nor a Refusal"
            raise BadOption(fault("question_readers", self.name, why))
        return recorded


@contextmanager
def _blamed(name: str) -> Iterator[None]:
    """Raise `BadOption`, which names a package's reader, where it fails."""
    try:
        yield
    except Error:
        raise
    except Exception as error:  # somebody's code may fail in any way
        raise BadOption(fault("question_readers", name, f"it failed ({type(error).__name__}: {error})")) from error


class TwoReaders:
    """Reads questions by rules, and by a second reader what these refuse, or all. Safe to share among threads.

    Where both read a question and their lines do not come to the same, neither is answered and the person picks.
    """

    def __init__(self, graph: Graph, rules: QuestionReader, second: QuestionReader, check: Check) -> None:
        self._graph, self._rules, self._second, self._check = graph, rules, second, check
        self.name = second.name

    def read(self, question: str, run: Run) -> RecordedReading:
        """Return the line of a question, with the calls that led to it, or why it has none.

        If the second reader is not heard, what the rules say stays, with a note.
        """
        by_rules = self._checked(read_by(self._rules, question, run)).read
        if (isinstance(by_rules, Reading) and self._check == "refused") or len(question) > _LONGEST_QUESTION:
            return RecordedReading(by_rules)
        second = self._checked(read_by(self._second, question, run))
        if second.failed is not None:
            assert isinstance(second.read, Refusal), "it was not heard"
            if isinstance(by_rules, Reading):
                noted = by_rules.model_copy(update={"notes": (*by_rules.notes, second.read.text)})
                return RecordedReading(noted, second.trajectories)
            return second._replace(read=by_rules.model_copy(update={"text": f"{by_rules.text}; {second.read.text}"}))
        return second._replace(read=self._agreed(by_rules, second.read)) if isinstance(by_rules, Reading) else second

    def _checked(self, read: RecordedReading) -> RecordedReading:
        queries = queries_of(read.read, self._graph)
        return read._replace(read=queries) if isinstance(queries, Refusal) else read

    def _agreed(self, by_rules: Reading, by_second: Reading | Refusal) -> Reading | Refusal:
        """Return the reading of both readers; a refusal that shows both lines if they do not come to the same."""
        if isinstance(by_second, Refusal):
            return by_rules.model_copy(update={"agreed": False, "notes": (*by_rules.notes, by_second.text)})
        lines = (by_rules.text or "", by_second.text or "")
        own, senses = self._meaning(lines[1]), [(one, self._meaning(one.text)) for one in by_rules.senses]
        # a sense by which no value is told is none
        senses = [one for one in senses if one[1][0] not in _OF_VALUES or isinstance(one[1][-1], tuple)] or senses
        others = [f"it may mean the {one.label} as well: {one.text}" for one, meaning in senses if meaning != own]
        if len(others) == len(senses):
            others = []
            if own != self._meaning(lines[0]):
                why = f"two readings, pick one:\nby the rules: {lines[0]}\nby the {self.name}: {lines[1]}"
                return Refusal(kind="unsupported", text=why, lines=lines)
        read = by_second if others else by_rules
        return read.model_copy(update={"by": "both", "agreed": True, "notes": (*read.notes, *others)})

    def _meaning(self, line: str) -> tuple[object, ...]:
        """Return what a line asks, and what it comes to.

        What nothing meets, and a yes or a no, may be the same by chance: there what is named and said is the same too.
        """
        query, executor = parse(line, self._graph), Executor(self._graph)
        outcome, rows = executor.run(query), executor.run(ExactQuery("list", query.nodes)).rows
        if query.form == "value" and query.measure is not None and query.measure.target is None:
            values = self._graph.arrays.properties.values(query.measure.property or "", rows)
            rows = rows[[value is not None for value in values]]
            outcome = replace(outcome, rows=rows)
        asks = (query.form, query.measure, query.first, outcome.value, outcome.table)
        if query.form != "test" and len(rows):
            return *asks, tuple(outcome.rows.tolist()), tuple(rows.tolist())
        parts = list(parts_of(query))
        names = {
            self._graph.arrays.names[row].casefold() for part in parts if isinstance(part, Among) for row in part.rows
        }
        edges = {(kind >> 1, one.negated) for one in parts if isinstance(one, Joined) for kind in one.kinds}
        return *asks, frozenset({*names, *edges, *(str(one).casefold() for one in parts if isinstance(one, Valued))})
