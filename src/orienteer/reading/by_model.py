"""`ModelReader`: a model writes the line of a question in one call, and the program believes it only after checks.

    "which incidents was Conor in charge of"  ->  {"line": "incident that -commander-> \"Conor Reilly\"", "unread": []}

The model proposes, the program proves: a line must parse, names nothing and says no number that the question does not,
and uses what the question names. `readers.py` asks it what the rules refuse.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from orienteer.graph.store import Graph
from orienteer.llm.conversation import ask, begin, prompt_of
from orienteer.llm.schema import GRAMMAR, object_of
from orienteer.protocols import LanguageModel, RecordedReading, Run, manner_of
from orienteer.reading.brief import grammar_of, listed_values, names_of, schema_of
from orienteer.reading.executor import Executor
from orienteer.reading.foreign import EveryLanguage
from orienteer.reading.line import parse, tried
from orienteer.reading.quantities import converted
from orienteer.reading.query import Among, Best, ExactQuery, Joined, NodeSet, Told, Valued, parts_of
from orienteer.reading.units import SURE_NAME, NameUnit, PropertyFacts, Units
from orienteer.reading.vocabulary import AKIN, ENGLISH, QuestionWords, alike
from orienteer.reading.wording import QueryWording
from orienteer.records import JsonValue, Question, Reading, Refusal, Sampling
from orienteer.text import english
from orienteer.text.sentences import one_line

SCHEMA = object_of({"line": {"type": ["string", "null"]}, "unread": {"type": "array", "items": {"type": "string"}}})
_REMEMBERED = 256  # lines
_LONGEST_SHOWN = 300  # characters of a line that a refusal shows
_TRIES = 2
_MOST_UNREAD = 5  # words that a refusal repeats
_MOST = 0.5  # share of a kind; a line that means more is asked about once
_MOST_LEFT = 1 / 3
"""Share of a question's telling words that a line may leave out that a grammar held to the question's names.

That it has no other names shows nothing then. Of false lines of a small model 1 of 22 left no more, of written ones 172
of 189.
"""
_COMMONER = 8  # times; a word in small letters that texts use so much more than edges touch its node is no sure name
_GRAMMAR = ENGLISH.vocabulary | ENGLISH.numerals.keys() | ENGLISH.ordinals.keys()
_YEAR, _MOMENT = 0.99, 1e-6  # in years: shorter than one, and nothing but rounding
_FEW = (0.0, 1.0)
"""Numbers of things that a line may say where the question says none: at least one, no more than one."""


class _Words(NamedTuple):
    """The words of a question, what they may be, and the nodes that they may name."""

    question: QuestionWords
    units: Units
    rows: frozenset[int]


class ModelReader:
    """Reads questions about one graph by a model's line. Safe to share among threads."""

    name = "model"

    def __init__(self, graph: Graph, model: LanguageModel, rules: EveryLanguage) -> None:
        """The words of questions are what they may be to `rules`, of the same graph."""
        self._graph, self._model, self._lexicon = graph, model, rules.lexicon
        self._wording, self._lines = QueryWording(graph), OrderedDict[str, Reading | Refusal]()
        self._lock = threading.Lock()

    def read(self, question: str, run: Run) -> RecordedReading:
        """Return the line of a question, asked for once, and once more if a check finds fault with it; or why none.

        Raises `BudgetExhausted`, `ModelError`.
        """
        with self._lock:
            if question in self._lines:
                self._lines.move_to_end(question)
                return RecordedReading(self._lines[question])
        words, lexicon = self._words(question), self._lexicon
        shown, schema = schema_of(lexicon, words.units, words.rows), SCHEMA
        if manner_of(self._model).keeps_grammar:
            schema = SCHEMA | {GRAMMAR: grammar_of(lexicon, question, words.units, shown)}
        values = {"graph": shown.text, "names": names_of(lexicon, words.units), "question": question}
        sampling = Sampling(temperature=0.0, random_seed=run.random_seed)
        prompt, asked = prompt_of("reader", "orienteer.reading"), Question(text=question)
        begun = begin(self._model, prompt, values, question=asked, method=self.name, sampling=sampling)
        doubts = partial(self._doubts, words)
        exchange = ask(self._model, run, begun, schema=schema, check=doubts, agent=None)
        reply, faults = exchange.value, list[str]()
        if reply is None:  # another reader, or agents, may do without a line
            read: Reading | Refusal = Refusal(kind="unsupported", text="the model wrote no line: its reply is none")
        else:
            faults = list(self._faults(reply["line"], words))
            read = self._believed(reply["line"], reply["unread"], faults, words)
        if (reply is not None and not faults) or len(exchange.trajectory.steps) >= _TRIES:
            with self._lock:  # else the budget had no room for a second try: another's may
                self._lines[question] = read
                while len(self._lines) > _REMEMBERED:
                    self._lines.popitem(last=False)
        return RecordedReading(read, (exchange.trajectory,))

    def _words(self, question: str) -> _Words:
        lexicon = self._lexicon
        read = lexicon.vocabulary.corrected(lexicon.vocabulary.read(question))
        units, _ = lexicon.units(read)
        arrays = self._graph.arrays
        for first, own in units.names.items():
            for at, one in enumerate(own):  # and all others of the same names: a line takes all of a name
                names = dict.fromkeys((read.surface(first, one.last), *(arrays.names[row] for row in one.rows)))
                rows = dict.fromkeys((*one.rows, *(row for name in names for row in arrays.candidates(name))))
                own[at] = one._replace(rows=tuple(rows))
        return _Words(read, units, frozenset(row for own in units.names.values() for one in own for row in one.rows))

    def _doubts(self, words: _Words, reply: JsonValue) -> list[str]:
        """Return what is wrong with a reply, or so unlikely that it is asked about once."""
        assert isinstance(reply, dict), "it fits the schema"
        line = reply["line"]
        if not isinstance(line, str) or reply["unread"]:
            return []
        if faults := list(self._faults(line, words)):
            return faults
        query = parse(line, self._graph)
        outcome = Executor(self._graph).run(query)
        rows, is_told = outcome.rows, isinstance(outcome.value, bool)
        if not len(rows) and not is_told:  # no is an answer
            return [f"nothing in the graph meets {line!r}: if the question means it so, send it again"]
        arrays = self._graph.arrays
        wide = sum(arrays.schema.node_types[arrays.types.nodes[kind]] for kind in query.nodes.types)
        is_cut = query.form in ("list", "count") and query.group is None and query.nodes.conditions
        if is_cut and len(rows) > _MOST * wide > 1:
            return [f"{len(rows)} of {wide} nodes meet {line!r}: if the question means it so, send it again"]
        unused = [text for text, is_used in self._named(query, words) if not is_used]
        told = f"{line!r} says nothing of {', '.join(unused)}: if the question means it so, send it again"
        return [told] if unused else []

    def _named(self, query: ExactQuery, words: _Words) -> Iterator[tuple[str, bool]]:
        """Yield the names and numbers of a question, and whether a query uses them."""
        parts, question, units = list(parts_of(query)), words.question, words.units
        used, covered = self._covered(query, words)
        for first, one in ((first, one) for first, own in units.names.items() for one in own):
            places = range(first, one.last)
            if self._is_sure(places, one, question):
                told = (at for at in places if not question.words[at].is_stop)
                yield question.surface(first, one.last), not used.isdisjoint(places) or covered.issuperset(told)
        has_numbers = any(
            (isinstance(part, Valued) and isinstance(part.value, float | int))
            or (isinstance(part, Joined) and part.comparison is not None)
            or (isinstance(part, Best | ExactQuery) and (part.first or 0) > 1)
            for part in parts
        )
        for first, amount in units.quantities.items():
            surface = question.surface(first, amount.last)
            if amount.value not in _FEW or not surface.isalpha():  # "that entails one"
                yield surface, has_numbers or not used.isdisjoint(range(first, amount.last))

    def _is_sure(self, places: range, unit: NameUnit, question: QuestionWords) -> bool:
        """Return whether words surely name a node, and are not plain English that a node only happens to be called."""
        is_written = question.is_quoted(places[0], unit.last) or any(map(question.is_written_as_name, places))
        if unit.cost >= SURE_NAME or is_written:
            return unit.cost < SURE_NAME
        words = [question.words[at] for at in places]
        if all(word.is_stop or word.text in _GRAMMAR or word.text.isdigit() for word in words):
            return False
        posting = self._lexicon.vocabulary.posting(words[0].text)
        if len(words) > 1 or posting is None:
            return True
        degrees = self._graph.arrays.adjacency.degree(np.array(unit.rows, np.int32))
        return posting.nodes <= _COMMONER * (1 + int(degrees.max()))

    def _covered(self, query: ExactQuery, words: _Words) -> tuple[set[int], set[int]]:
        """Return the places of a question's words whose nodes a query names, and of all that anything in it covers."""
        vocabulary, units, parts = self._lexicon.vocabulary, words.units, list(parts_of(query))
        stems = {vocabulary.stem(word) for word in re.findall(r"[^\W_]+", self._wording.line(query).casefold())}
        rows = {row for part in parts if isinstance(part, Among) for row in part.rows}
        kinds = {kind for part in parts if isinstance(part, NodeSet) for kind in part.types}
        named = ((first, one) for first, own in units.names.items() for one in own if rows.intersection(one.rows))
        used = {at for first, one in named for at in range(first, one.last)}
        covered = used | {at for at, word in enumerate(words.question.words) if word.stem in stems}
        for first, types in units.types.items():
            covered.update(at for one in types if kinds & one.types for at in range(first, one.last))
        return used, covered

    # ------------------------------------------------------------------------------------------------- what is checked
    def _faults(self, line: str | None, words: _Words) -> Iterator[str]:
        """Yield why a line is not believed: it must parse, and may say nothing that the question does not."""
        if line is None:
            return
        query = tried(line, self._graph)
        if isinstance(query, str):
            yield query
            return
        amounts = words.units.quantities.values()  # and the beginnings and ends of times
        numbers = frozenset(number for one in amounts for number in (one.value, *(one.span or ())))
        yield from filter(None, (self._fault(part, words, numbers) or self._untold(part) for part in parts_of(query)))
        named = list(self._named(query, words))
        if named and not any(is_used for _, is_used in named):
            yield f"it says nothing of {', '.join(text for text, _ in named)}"

    def _fault(self, part: object, words: _Words, numbers: frozenset[float]) -> str | None:
        """Return what a part of a query says that the question does not; None if that is nothing."""
        match part:
            case Among(rows=rows) if not words.rows.issuperset(rows):
                unsaid = next(row for row in rows if row not in words.rows)
                return f"{self._graph.arrays.names[unsaid]!r} is no name that the question has"
            case Valued(property=name, comparison=sign, value=float() | int() as value):
                is_none = value == 0 and sign == "="  # "run out of"
                if not is_none and not self._is_said(name, value, words, numbers):
                    return f"the question does not say the number {value:g}, of {name}"
            case Valued(property=name, value=str() as value) if not self._is_worded(name, value, words):
                return f"{value!r} is no value that the question names"
            case Joined(comparison=str(), number=number) if number not in numbers and number not in _FEW:
                return f"the question does not say the number {number:g}"
            case ExactQuery(first=int(first)) if first not in numbers:
                return f"the question does not ask for {first}"
            case Best(first=first, skipped=skipped) if (first > 1 and first not in numbers) or (
                skipped
                and skipped + 1 not in {*numbers, *(ENGLISH.ordinals.get(word.text) for word in words.question.words)}
            ):
                return f"the question does not ask for {max(first, skipped + 1)}"
        return None

    def _untold(self, part: object) -> str | None:
        """Return why a part of a query compares with nothing, or with several things; None if it does not."""
        match part:
            case ExactQuery(form="compare") if Executor(self._graph).run(part).value is None:
                return "single things are compared, and each must have a value"
            case Told(property=name, nodes=nodes, form="value", kinds=()):
                named = Executor(self._graph).run(ExactQuery("list", nodes)).rows
                every = self._graph.arrays.properties.values(name, named)
                values = {str(one).casefold() for one in every if one is not None}
                if len(values) != 1:
                    return f"what is compared with must be one value, and {name} has {len(values)} of them there"
        return None

    def _facts(self, name: str) -> PropertyFacts | None:
        """Return what a property of nodes holds, or one of edges that is called so."""
        lexicon = self._lexicon
        return lexicon.properties.get(name) or lexicon.edge_properties.get(name)

    def _is_said(self, name: str, value: float, words: _Words, numbers: frozenset[float]) -> bool:
        """Return whether the question says a number, in the field's own unit or another, or a moment of what it says.

        A bare year may be said more closely in other words, "the second half of 2017"; months and days are themselves.
        """
        facts, amounts = self._facts(name), words.units.quantities.values()
        if facts is not None and facts.kind in ("year", "date"):
            spans = [one.span for one in amounts if one.span is not None]
            closest = [span for span in spans if span[1] - span[0] < _YEAR]
            if facts.kind == "date" and closest:
                return any(span[0] - _MOMENT <= value <= span[1] + _MOMENT for span in spans)
            return any(int(value) == int(number) or value == int(number) + 1 for number in numbers)
        unit = facts.unit if facts is not None else None
        meant = (converted(one.value, one.unit if unit is not None else None, unit) for one in amounts)
        return any(one is not None and abs(one - value) <= 1e-6 * max(1.0, abs(value)) for one in meant)

    def _is_worded(self, name: str, value: str, words: _Words) -> bool:
        """Return whether the question has the words of a text, or names no other value of a field of few."""
        vocabulary, facts = self._lexicon.vocabulary, self._facts(name)
        said = [word.stem for word in words.question.words if not word.is_stop]
        own = [vocabulary.stem(word) for word in re.findall(r"[^\W_]+", value.casefold()) if word not in english.STOP]
        if own and all(any(alike(stem, other) >= AKIN for other in said) for stem in own):
            return True
        others = {one.value for several in words.units.values.values() for one in several if one.property == name}
        return facts is not None and not others and value in listed_values(self._graph, facts)

    def _believed(
        self, proposed: str | None, unread: Sequence[str], faults: Sequence[str], words: _Words
    ) -> Reading | Refusal:
        """Return the line of a model, or why it is not believed, which shows the line."""
        shown = one_line(proposed or "", _LONGEST_SHOWN)
        if faults:
            why = f"the model read it as {shown!r}, and {faults[0]}" if shown else faults[0]
            return Refusal(kind="not_understood", text=why)
        if unread or proposed is None:
            text = words.question.text.casefold()  # what is no part of the question is none of its words
            left_out = tuple(one_line(word) for word in unread if word.casefold() in text)[:_MOST_UNREAD]
            told = ", ".join(map(repr, left_out)) or "the question"
            return Refusal(kind="not_understood", words=left_out, text=f"the model finds no line for {told}")
        query = parse(proposed, self._graph)
        line = self._wording.line(query)
        if tried(line, self._graph) != query:
            return Refusal(kind="not_understood", text=f"the model read it as {shown!r}, which cannot be written again")
        question, amounts = words.question, words.units.quantities.items()
        covered = self._covered(query, words)[1] | {at for first, one in amounts for at in range(first, one.last)}
        telling = [at for at, word in enumerate(question.words) if not word.is_stop]
        left = [question.surface(at, at + 1) for at in telling if at not in covered]
        if manner_of(self._model).keeps_grammar:
            # nor does it that a small model sends a line again: it repeats itself
            unused = [text for text, is_used in self._named(query, words) if not is_used]
            if missing := unused or (left if len(left) > _MOST_LEFT * len(telling) else ()):
                why = f"the model read it as {shown!r}, which says nothing of {', '.join(missing)}"
                return Refusal(kind="not_understood", words=tuple(missing), text=why)
        notes = (f"in no word of the line: {', '.join(left)}",) if left else ()
        return Reading(text=line, by=self.name, notes=notes)
