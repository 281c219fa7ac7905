"""What the words of a question may be: names, types, edge types, properties, values and quantities of one graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.methods.anchor.answer_type import type_likeness
from orienteer.methods.anchor.linker import LinkedPhrase, PhraseLinker
from orienteer.methods.anchor.reading.quantities import UNITS, Quantity, Written, quantity
from orienteer.methods.anchor.reading.synonyms import IRREGULAR_VERBS, PROPERTIES, RELATIONS, TYPES
from orienteer.methods.anchor.reading.thesaurus import AGES
from orienteer.methods.anchor.words import QuestionWords, SchemaWords, alike, split_label
from orienteer.retrieval.mentions import letter_likeness

PropertyKind: TypeAlias = Literal["number", "year", "date", "boolean", "text"]
_SAMPLE = 200  # values of a property that tell what it holds
_YEARS = (1000, 2100)  # whole numbers between these, of a property called so, are years
_LONGEST_VALUE = 6  # words
_PARTIAL = 8  # nodes; a part of a name that more nodes have names none
_SURE_SPELLING = 0.8  # letters in common; a name that is spelled less alike is another one
_BY_STEM = 0.86  # quality; names of which the stems alone agree are below
_SYNONYM = 0.6  # below every likeness of the same word
_BEHIND_PROPERTIES = frozenset(["date", "year", "day", "time", "value", "figure", "rating", "level"])
_LIGHT = frozenset(
    [
        "year",
        "date",
        "time",
        "day",
        "number",
        "no",
        "count",
        "name",
        "value",
        "total",
        "is",
        "has",
        "in",
        "at",
        "of",
        "the",
    ]
)
"""Words of properties that a question leaves out: `founded_year`."""
_TYPE_LIKENESS = 0.6
_DATA_WORDS = frozenset(
    ["node", "nodes", "thing", "things", "item", "items", "entity", "entities", "one", "ones", "entry", "entries"]
)
"""Words for nodes of any type."""


class TypeUnit(NamedTuple):
    """Words that name node types: any of them where there are several."""

    last: int
    types: frozenset[int]
    cost: float


class NameUnit(NamedTuple):
    """Words that name nodes."""

    last: int
    rows: tuple[int, ...]
    cost: float


class EdgeUnit(NamedTuple):
    """Words that name edge types, with how alike each is."""

    last: int
    edges: Mapping[int, float]
    first: int


class PropertyUnit(NamedTuple):
    """Words that name a property."""

    last: int
    property: str
    cost: float


class ValueUnit(NamedTuple):
    """Words that are the value of a property for some nodes."""

    last: int
    property: str
    value: str
    cost: float


@dataclass(frozen=True, slots=True)
class PropertyFacts:
    """What a property is called and holds."""

    name: str
    stems: tuple[str, ...]
    unit: str | None
    kind: PropertyKind
    types: frozenset[int]


@dataclass(slots=True)
class Units:
    """What the words of one question may be, by the place where they begin."""

    types: dict[int, list[TypeUnit]] = field(default_factory=dict)
    names: dict[int, list[NameUnit]] = field(default_factory=dict)
    edges: dict[int, list[EdgeUnit]] = field(default_factory=dict)
    properties: dict[int, list[PropertyUnit]] = field(default_factory=dict)
    values: dict[int, list[ValueUnit]] = field(default_factory=dict)
    quantities: dict[int, Quantity] = field(default_factory=dict)

    def covered(self) -> set[int]:
        """Return the places of words that may be something."""
        places = {
            place
            for units in (self.types, self.names, self.edges, self.properties, self.values)
            for first, spans in units.items()
            for span in spans
            for place in range(first, span.last)
        }
        return places | {place for first, span in self.quantities.items() for place in range(first, span.last)}


class Lexicon:
    """The words of one graph, for exact readings. Safe to share among threads."""

    def __init__(self, graph: Graph, vocabulary: SchemaWords, linker: PhraseLinker) -> None:
        self.graph, self.vocabulary, self._linker = graph, vocabulary, linker
        self.properties = {name: self._facts(name) for name in graph.arrays.properties.names}
        self._groups = [{vocabulary.stem(word) for word in group} | set(group) for group in RELATIONS]
        self._property_groups = [frozenset(map(vocabulary.stem, group)) for group in PROPERTIES]
        self._type_groups = [frozenset(map(vocabulary.stem, group)) for group in TYPES]
        self.edges_like = lru_cache(maxsize=8192)(self._edges_like)

    def _facts(self, name: str) -> PropertyFacts:
        arrays = self.graph.arrays
        words = [word for part in split_label(name, arrays.tokenizer) for word in part]
        unit = words[-1] if len(words) > 1 and words[-1] in UNITS else None
        content = [word for word in words if word != unit]
        content = [word for word in content if word not in _LIGHT] or content
        rows = arrays.properties.rows(name)
        sample = [
            value
            for value in arrays.properties.values(name, rows[:: max(1, len(rows) // _SAMPLE)])
            if value is not None
        ]
        types = frozenset(np.unique(arrays.node_types[rows]).tolist())
        stems = tuple(self.vocabulary.stem(word) for word in content)
        return PropertyFacts(name, stems, unit, _kind_of(sample, words), types)

    def number(self, facts: PropertyFacts, row: int) -> float | None:
        """Return the number that a node has for a property; None where it has none."""
        value = float(self.graph.arrays.properties.numbers(facts.name, np.array([row], np.int32))[0])
        return None if np.isnan(value) else value

    # ------------------------------------------------------------------------------------------------- of a question

    def units(self, reading: QuestionWords) -> tuple[Units, list[LinkedPhrase]]:
        """Return what the words of a question may be, and the names that were read otherwise than they are written."""
        units = Units()
        free = [True] * len(reading.words)
        written = [Written(word.text, word.start, word.end) for word in reading.words]
        respelled: list[LinkedPhrase] = []
        for phrase in self._linker.phrases(reading):
            if phrase.read_as is not None:
                if letter_likeness(phrase.phrase, phrase.read_as) < _SURE_SPELLING:
                    continue
                respelled.append(phrase)
            rows = self._with_its_signs(reading, phrase, self._likeliest(phrase))
            if not rows:
                continue
            if phrase.quality <= _BY_STEM and len(phrase.words) > 1 and self._types_at(reading, phrase.last - 1, free):
                continue  # "Python packages" is not called `python-packaging`
            cost = 0.1 * (1 - phrase.quality) + 0.3 * phrase.is_doubtful + 0.2 * (phrase.read_as is not None)
            units.names.setdefault(phrase.first, []).append(NameUnit(phrase.last, rows, cost))
        for place, word in enumerate(reading.words):
            units.types[place] = list(self._types(reading, place, free))
            units.edges[place] = list(self._edges(reading, place))
            units.properties[place] = list(self._properties(reading, place))
            units.values[place] = list(self._values(reading, place))
            if (amount := quantity(reading.text.casefold(), written, place)) is not None:
                units.quantities[place] = amount
        for place in range(len(reading.words) - 2):  # "year of birth", "date of launch"
            if reading.words[place].text in _BEHIND_PROPERTIES and reading.words[place + 1].text == "of":
                units.properties[place] += units.properties[place + 2]
        self._add_uncovered(reading, units)
        self._add_partial(reading, units)
        return units, respelled

    def _types_at(self, reading: QuestionWords, place: int, free: Sequence[bool]) -> bool:
        return any(unit.last == place + 1 for unit in self._types(reading, place, free))

    def _with_its_signs(self, reading: QuestionWords, phrase: LinkedPhrase, rows: tuple[int, ...]) -> tuple[int, ...]:
        """Return the nodes whose names have the signs that stand right behind a phrase: `C++` is not `C`."""
        sign = reading.text[reading.words[phrase.last - 1].end :][:1]
        if sign not in ("+", "#"):
            return rows
        arrays = self.graph.arrays
        return tuple(
            row
            for row in rows
            if any(sign in name for name in (arrays.names[row], arrays.ids[row], *arrays.aliases_at(row)))
        )

    def _likeliest(self, phrase: LinkedPhrase) -> tuple[int, ...]:
        """Return the nodes that a phrase may mean, of each type those that are called most exactly so."""
        node_types = self.graph.arrays.node_types
        best: dict[int, float] = {}
        for row, quality in phrase.candidates:
            kind = int(node_types[row])
            best[kind] = max(quality, best.get(kind, 0.0))
        return tuple(row for row, quality in phrase.candidates if quality == best[int(node_types[row])])

    def _types(self, reading: QuestionWords, place: int, free: Sequence[bool]) -> Iterator[TypeUnit]:
        by_span: dict[int, dict[int, float]] = {}
        word = reading.words[place]
        if word.text in _DATA_WORDS:
            yield TypeUnit(place + 1, frozenset(), 0.05)
        for number, labels in enumerate(self.vocabulary.node_labels):
            for label in labels:
                likeness, last = type_likeness(reading, place, free, label, self.vocabulary)
                if likeness >= _TYPE_LIKENESS:
                    types = by_span.setdefault(last, {})
                    types[number] = max(likeness, types.get(number, 0.0))
        for last, types in by_span.items():
            best = max(types.values())
            yield TypeUnit(
                last, frozenset(number for number, likeness in types.items() if likeness == best), 0.3 * (1 - best)
            )
        if not by_span and (like := self._types_like(word.stem)):
            yield TypeUnit(place + 1, like, 0.15)

    def _types_like(self, stem: str) -> frozenset[int]:
        """Return the node types that a word says in another word of its group."""
        groups = [group for group in self._type_groups if stem in group]
        return frozenset(
            number
            for number, labels in enumerate(self.vocabulary.node_labels)
            for label in labels
            if groups and len(label.stems) == 1 and any(label.stems[0] in group for group in groups)
        )

    def _edges_like(self, stem: str) -> tuple[tuple[int, int, int, float], ...]:
        """Return the edge types that a word may be of: the edge type, its label, the place in it, how alike."""
        groups = [group for group in self._groups if stem in group]
        found = []
        for edge, labels in enumerate(self.vocabulary.edge_labels):
            for number, label in enumerate(labels):
                for place, own in enumerate(label.stems):
                    likeness = alike(stem, own) if min(len(stem), len(own)) > 2 or stem == own else 0.0
                    if not likeness and any(own in group for group in groups):
                        likeness = _SYNONYM
                    if likeness:
                        found.append((edge, number, place, likeness))
        return tuple(found)

    def _edges(self, reading: QuestionWords, place: int) -> Iterator[EdgeUnit]:
        word = reading.words[place]
        if word.is_quoted:
            return
        spans: dict[int, dict[int, float]] = {}
        base = IRREGULAR_VERBS.get(word.text)
        like = self.edges_like(word.stem) or self.edges_like(word.text)
        if base is not None:
            like = (*like, *self.edges_like(self.vocabulary.stem(base)))
        for edge, number, at, likeness in like:
            label = self.vocabulary.edge_labels[edge][number]
            if word.is_stop and (len(label.stems) > 1 or likeness < 1):
                continue
            last, total = place + 1, likeness
            for own in label.stems[at + 1 :]:
                after = next(
                    (p for p in range(last, min(len(reading.words), last + 2)) if alike(reading.words[p].stem, own)),
                    None,
                )
                if after is None:
                    break
                total += alike(reading.words[after].stem, own)
                last = after + 1
            fit = total / len(label.stems)
            if fit >= 0.3:
                edges = spans.setdefault(last, {})
                edges[edge] = max(fit, edges.get(edge, 0.0))
        for last, edges in spans.items():
            yield EdgeUnit(last, edges, place)

    def _properties(self, reading: QuestionWords, place: int) -> Iterator[PropertyUnit]:
        for facts in self.properties.values():
            own = list(facts.stems)
            last = place
            while own and last < len(reading.words):
                match = next((stem for stem in own if self._is_same(reading.words[last].stem, stem)), None)
                if match is None:
                    break
                own.remove(match)
                last += 1
            if last > place:
                cost = 0.3 * len(own) / len(facts.stems)
                yield PropertyUnit(last, facts.name, cost)
                if last < len(reading.words) and reading.words[last].text in _BEHIND_PROPERTIES:
                    yield PropertyUnit(last + 1, facts.name, cost)

    def _is_same(self, stem: str, own: str) -> bool:
        return _same(stem, own) or any(stem in group and own in group for group in self._property_groups)

    def _values(self, reading: QuestionWords, place: int) -> Iterator[ValueUnit]:
        for last in range(place + 1, min(len(reading.words), place + _LONGEST_VALUE) + 1):
            if all(word.is_stop for word in reading.words[place:last]):
                continue
            surface = reading.surface(place, last).strip("\"'")
            if surface.replace(".", "").isdigit():
                continue
            for name in self.graph.arrays.properties.having(surface):
                yield ValueUnit(last, name, surface, 0.05)

    def _add_uncovered(self, reading: QuestionWords, units: Units) -> None:
        """Add the names that words are which stand where a kind is mostly said: `by which gnuplot is suggested`."""
        covered = units.covered()
        for place, word in enumerate(reading.words):
            if place in covered or word.is_stop:
                continue
            links = self.graph.arrays.name_index.called(reading.surface(place, place + 1))
            if links and len(links) <= _PARTIAL:
                units.names.setdefault(place, []).append(NameUnit(place + 1, tuple(link.row for link in links), 0.1))

    def _add_partial(self, reading: QuestionWords, units: Units) -> None:
        """Add the names of which words that are nothing else are a part: `Russian River`."""
        covered = units.covered()
        place = 0
        while place < len(reading.words):
            last = place
            while last < len(reading.words) and self._may_be_part(reading, last, covered):
                last += 1
            for end in range(last, place, -1):
                rows = self.part_of(reading.folded(place, end))
                if rows:
                    units.names.setdefault(place, []).append(NameUnit(end, rows, 0.2))
                    break
            place = max(last, place + 1)

    def _may_be_part(self, reading: QuestionWords, place: int, covered: set[int]) -> bool:
        word = reading.words[place]
        if reading.is_written_as_name(place) or word.is_quoted:
            return True
        if place not in covered and not word.is_stop:
            return True
        is_inside = 0 < place < len(reading.words) - 1 and len(word.text) <= 3
        return (
            is_inside
            and reading.is_written_as_name(place - 1)
            and any(reading.is_written_as_name(after) for after in range(place + 1, min(len(reading.words), place + 3)))
        )

    def part_of(self, phrase: Sequence[str]) -> tuple[int, ...]:
        """Return the rows of nodes whose name holds these folded words in a row; none where too many do."""
        arrays = self.graph.arrays
        rows: Rows | None = None
        for word in phrase:
            posting = self.vocabulary.posting(word)
            if posting is None:
                return ()
            index = arrays.text_index
            rows = index.rows_of(posting) if rows is None else index.having(posting, rows)
        if rows is None or len(rows) > 2_000:
            return ()
        span = len(phrase)
        named = []
        first = phrase[0].encode()
        for row in rows.tolist():
            raw = arrays.names.raw(row)
            if raw.isascii() and first not in raw.lower():  # most have it in their texts alone
                continue
            own = arrays.tokenizer.words(arrays.names[row])
            if any(own[at : at + span] == list(phrase) for at in range(len(own) - span + 1)):
                named.append(row)
        return tuple(named) if len(named) <= _PARTIAL else ()


def _same(stem: str, other: str) -> bool:
    return stem == other or (alike(stem, other) >= 0.7 and min(len(stem), len(other)) > 3)


def _kind_of(sample: Sequence[object], words: Sequence[str]) -> PropertyKind:
    if sample and all(
        isinstance(value, bool) or str(value).casefold() in ("true", "false", "yes", "no") for value in sample
    ):
        return "boolean"
    numbers = [value for value in sample if isinstance(value, int | float) and not isinstance(value, bool)]
    if numbers and len(numbers) == len(sample):
        are_years = all(float(value).is_integer() and _YEARS[0] <= value <= _YEARS[1] for value in numbers)
        is_called_so = bool((AGES | {"year", "dissolved", "closed", "ended", "died", "lit", "light"}) & set(words))
        return "year" if are_years and is_called_so else "number"
    from orienteer.graph.properties import number_of

    if sample and all(isinstance(value, str) and number_of(value) == number_of(value) for value in sample):
        return "date" if any("-" in str(value)[1:] for value in sample) else "number"
    return "text"
