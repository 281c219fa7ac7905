"""Words that name properties, and words that are values of them: `founded`, `year of birth`, `Belgium`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from orienteer.graph.properties import number_of
from orienteer.graph.store import Graph
from orienteer.reading.units import PropertyFacts, PropertyKind, PropertyUnit, ValueUnit
from orienteer.reading.vocabulary import ENGLISH, WORDS, QuestionWords, SchemaWords, alike
from orienteer.remembered import cached_method
from orienteer.text.units import UNITS

_EDGES = 20_000  # edges that tell what properties edges have
_SAMPLE = 200  # values of a property that tell what it holds
_MOSTLY = 0.8  # share of values that are numbers; a question that leaves out the others says how many
_YEARS = (1000, 2100)  # whole numbers between these, of a property called so, are years
_YEAR_WORDS = WORDS["ages"] | {"year", "since", "until", "dissolved", "closed", "ended", "died", "lit", "light"}
_NO_UNITS = frozenset(unit for unit in UNITS if len(unit) < 4) | {"year", "years", "pound", "mile"}
"""Units that are other words, too: a property that is called so alone is not told in them."""
_LONGEST_ACRONYM = 5  # letters
_LONGEST_VALUE = 6  # words
_NO_PROPERTIES = WORDS["no properties"] | ENGLISH.adjectives.keys()
_LONGER = 3  # letters that one of two stems of one word has more
_ALIKE = 0.7  # likeness of stems that are one word


class ColumnUnit(NamedTuple):
    """A column that the names or texts of nodes were read from, as it is called in the question."""

    last: int
    role: str
    types: frozenset[int]


class Columns(Protocol):
    """The properties of nodes, or those of edges."""

    @property
    def names(self) -> Collection[str]:
        """Return what the properties are called."""

    def sample(self, name: str) -> list[object]:
        """Return some of the values of a property."""

    def types(self, name: str) -> tuple[frozenset[int], frozenset[int]]:
        """Return the types of nodes that have a property, and those of edges."""

    def called(self, text: str) -> Collection[str]:
        """Return the properties that have a value."""


class NodeColumns:
    """The properties of the nodes of one graph."""

    def __init__(self, graph: Graph) -> None:
        self._node_types, self._properties = graph.arrays.node_types, graph.arrays.properties
        self.names, self.called = graph.arrays.properties.names, graph.arrays.properties.names_with_value

    def sample(self, name: str) -> list[object]:
        """Return some of the values of a property."""
        rows = self._properties.rows(name)
        values = self._properties.values(name, rows[:: max(1, len(rows) // _SAMPLE)])
        return [value for value in values if value is not None]

    def types(self, name: str) -> tuple[frozenset[int], frozenset[int]]:
        """Return the types of nodes that have a property, and those of edges: none."""
        counts = np.bincount(self._node_types[self._properties.rows(name)])
        return frozenset(np.flatnonzero(counts).tolist()), frozenset()


class EdgeColumns:
    """The properties of the edges of one graph; of a large one by some of its edges."""

    def __init__(self, graph: Graph) -> None:
        adjacency, texts = graph.arrays.adjacency, graph.arrays.edge_extras
        self._values: dict[str, list[object]] = {}
        self._types: dict[str, set[int]] = {}
        every = max(1, len(adjacency.kind) // _EDGES)
        numbers = adjacency.extras(slice(None, None, every)) if texts is not None else None
        if numbers is None:
            numbers = np.zeros(0, np.int32)
        kinds = adjacency.kind[::every][: len(numbers)]
        is_known = (numbers >= 0) & (kinds % 2 == 0 if every == 1 else True)
        told = texts.take(numbers[is_known].astype(np.int64)) if texts is not None and len(numbers) else []
        for extra, kind in zip(json.loads(b"[%b]" % b",".join(told)), kinds[is_known].tolist(), strict=True):
            for name, value in extra.get("properties", {}).items():
                if value is not None:
                    self._values.setdefault(name, []).append(value)
                    self._types.setdefault(name, set()).add(kind >> 1)
        self.names = tuple(self._values)
        self._called: dict[str, set[str]] = {}
        for name, values in self._values.items():
            for text in {value.casefold() for value in values if isinstance(value, str)}:
                self._called.setdefault(text, set()).add(name)

    def sample(self, name: str) -> list[object]:
        """Return some of the values of a property."""
        return self._values[name][:: max(1, len(self._values[name]) // _SAMPLE)]

    def types(self, name: str) -> tuple[frozenset[int], frozenset[int]]:
        """Return the types of nodes that have a property, none, and those of edges."""
        return frozenset(), frozenset(self._types[name])

    def called(self, text: str) -> Collection[str]:
        """Return the properties that have a value."""
        return self._called.get(text.casefold(), ())


class PropertyWords:
    """Finds the properties of one graph, and their values, by words. Safe to share among threads."""

    def __init__(self, graph: Graph, vocabulary: SchemaWords, columns: Columns) -> None:
        self._arrays, self._vocabulary, self._columns = graph.arrays, vocabulary, columns
        self._groups = [frozenset(map(vocabulary.stem, group)) for group in ENGLISH.groups["properties"]]
        samples = {name: columns.sample(name) for name in columns.names}
        facts = {name: self._facts(name, sample) for name, sample in samples.items()}
        self.facts = {
            name: own for name, own in facts.items() if own.kind != "text" or not self._are_ids(samples[name])
        }

    def _are_ids(self, values: Sequence[object]) -> bool:
        """Return whether the values of a property are ids of nodes: they say where its edges lead, and no more."""
        return bool(values) and all(
            isinstance(value, str) and self._arrays.ids.find(value) is not None for value in values
        )

    def _facts(self, name: str, sample: Sequence[object]) -> PropertyFacts:
        words = [word for part in self._vocabulary.split(name) for word in part]
        # "Milliseconds" says what it is told in; a year that something was in is no number of years
        is_unit = bool(words) and words[-1] in UNITS and (len(words) > 1 or words[-1] not in _NO_UNITS)
        unit = words[-1] if is_unit else None
        content = [word for word in words if word != unit] or words
        content = [word for word in content if word not in WORDS["light"]] or content
        stems = tuple(self._vocabulary.stem(word) for word in content)
        types, edges = self._columns.types(name)
        true = "yes" if any(str(value).casefold() in ("yes", "no") for value in sample) else "true"
        is_list = any(isinstance(value, list) for value in sample)
        return PropertyFacts(name, stems, unit, _kind_of(sample, words), types, true, is_list, edges)

    def units(self, reading: QuestionWords) -> list[list[PropertyUnit]]:
        """Return by place the words from there on that name properties."""
        units = [self._decided(list(self._named(reading, place))) for place in range(len(reading.words))]
        texts = [word.text for word in reading.words]
        for place in range(len(texts) - 2):  # "year of birth", "date of launch"
            if texts[place] in WORDS["general"] and texts[place + 1] == "of":
                units[place] += units[place + 2]
        for place in range(len(texts) - 1):  # "in service", of `in_service`
            for unit in units[place + 1]:
                facts = self.facts[unit.property]
                if facts.kind == "boolean" and texts[place : unit.last] == facts.name.casefold().split("_"):
                    units[place].append(unit)
        return units

    def _decided(self, units: list[PropertyUnit]) -> list[PropertyUnit]:
        """Return units without those that share their words with a fuller name: `price` of two prices is neither."""

        def rival(unit: PropertyUnit, other: PropertyUnit) -> bool:
            own, others = self.facts[unit.property], self.facts[other.property]
            is_alike = own is not others and own.kind == others.kind and not own.types.isdisjoint(others.types)
            return is_alike and other.last == unit.last and other.cost <= unit.cost

        return [unit for unit in units if not unit.cost or not any(rival(unit, other) for other in units)]

    def _named(self, reading: QuestionWords, place: int) -> Iterator[PropertyUnit]:
        for facts in self.facts.values():
            letters = facts.name.casefold()
            initials = "".join(word.text[:1] for word in reading.words[place : place + len(letters)])
            if 2 < len(letters) <= _LONGEST_ACRONYM and letters == initials:  # "grade point average" of `gpa`
                yield PropertyUnit(place + len(letters), facts.name, 0.05)
            own = list(facts.stems)
            last, is_sure = place, True
            while own and last < len(reading.words):
                text = reading.words[last].text
                if text in _NO_PROPERTIES and text not in facts.name.casefold():  # "only" is not `online`
                    break
                is_doer = (
                    text.endswith(ENGLISH.phrases["endings of doers"])
                    and text.removesuffix("s") not in facts.name.casefold()
                )
                if is_doer and facts.kind in ("year", "date"):
                    break  # a "founder" is no `founded_year`
                stem = reading.words[last].stem
                same = self._same(stem)
                match = next((other for other in own if other in same), None)
                if match is None:
                    break
                is_sure = is_sure and not _begins_alike(stem, match)
                own.remove(match)
                last += 1
            is_said = (is_sure or not own) and "id" not in own  # a "referee" is no `referee_id`
            if last > place and is_said:  # "drugs" are no part of `drugbank_type`
                cost = 0.3 * len(own) / len(facts.stems)
                yield PropertyUnit(last, facts.name, cost)
                behind = reading.words[last].text if last < len(reading.words) else ""
                is_own = behind in facts.name.casefold().split("_")
                if behind in WORDS["general"] or (behind in WORDS["light"] and is_own):
                    yield PropertyUnit(last + 1, facts.name, cost)

    @cached_method(8_192)
    def _same(self, stem: str) -> frozenset[str]:
        """Return the stems of properties that a stem is, is like, or is of one group with."""
        return frozenset(own for facts in self.facts.values() for own in facts.stems if self._is_same(stem, own))

    def _is_same(self, stem: str, own: str) -> bool:
        is_near = abs(len(stem) - len(own)) <= _LONGER  # "birthplace" is no `birth`
        if stem == own or (is_near and alike(stem, own) >= _ALIKE and min(len(stem), len(own)) > 4):
            return True
        return any(stem in group and own in group for group in self._groups)

    def values(self, reading: QuestionWords, place: int) -> Iterator[ValueUnit]:
        """Yield the words from a place on that are a value which a node has."""
        for last in range(place + 1, min(len(reading.words), place + _LONGEST_VALUE) + 1):
            if all(word.is_stop for word in reading.words[place:last]):
                continue
            surface = reading.surface(place, last).strip("\"'")
            if surface.replace(".", "").rstrip("s").isdigit():  # "the 1990s" are no 1990
                continue
            for value in _forms(surface):
                for name in self._columns.called(value):
                    if name not in self.facts or "name" in name.casefold():
                        continue
                    yield ValueUnit(last, name, value, 0.05 if value == surface else 0.1)


def name_words(name: str) -> list[str]:
    """Return the words of a property's name."""
    return name.casefold().replace("_", " ").replace(".", " ").split()


def _begins_alike(stem: str, other: str) -> bool:
    """Return whether one stem is the other's beginning alone."""
    return stem != other and (stem.startswith(other) or other.startswith(stem))


def _forms(surface: str) -> Iterator[str]:
    """Yield a value and what it may be made of: `wood` of `wooden`, `static` of `statically`."""
    yield surface
    for ending in ("en", "ally", "ly", "s"):
        if surface.endswith(ending) and len(surface) > len(ending) + 2:
            yield surface.removesuffix(ending)
    if surface.endswith(("ches", "shes", "sses", "xes")):
        yield surface.removesuffix("es")


def _kind_of(sample: Sequence[object], words: Sequence[str]) -> PropertyKind:
    """Return what a property holds, by some of its values and the words of its name."""
    if not sample:
        return "text"
    if all(isinstance(value, bool) or str(value).casefold() in WORDS["true or false"] for value in sample):
        return "boolean"
    numbers = [value for value in sample if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) == len(sample):
        are_years = all(float(value).is_integer() and _YEARS[0] <= value <= _YEARS[1] for value in numbers)
        is_event = len(words) == 1 and words[0].endswith("ed")  # `qualified`, `formed`
        return "year" if are_years and (is_event or not _YEAR_WORDS.isdisjoint(words)) else "number"
    texts = [value for value in sample if isinstance(value, str) and not np.isnan(number_of(value))]
    if len(texts) + len(numbers) < _MOSTLY * len(sample):
        return "text"
    return "date" if any("-" in text[1:] for text in texts) else "number"
