"""What the words of a question may be: names, types, edge types, properties, values and quantities."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np

from orienteer.graph.properties import number_of
from orienteer.graph.store import Graph
from orienteer.reading.linker import MOST_NAMESAKES, LinkedPhrase, PartialNames, PhraseLinker, type_likeness
from orienteer.reading.query import NAME, TEXT, Executor, Measure
from orienteer.reading.vocabulary import (
    ENGLISH,
    WORDS,
    Label,
    Quantity,
    QuestionWords,
    SchemaWords,
    Written,
    alike,
    quantity,
)
from orienteer.remembered import cached_method
from orienteer.retrieval.mentions import letter_likeness
from orienteer.text.tokenizer import singulars
from orienteer.text.units import UNITS

# ================================================================================================================ units
# What words of a question may be, each with where it ends and how far-fetched that is.

LIGHT_FIT = 0.25
"""How alike a verb is to any edge type that says no more than that there is an edge."""
PropertyKind: TypeAlias = Literal["number", "year", "date", "boolean", "text"]


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


class ConverseEdges(dict[int, float]):
    """Edge types that words say from the other end, with how alike they are: `taught` of `studied_under`."""


class KindVerb(dict[int, float]):
    """All edge types, for a verb of what things of some kinds stand for: who ordered something has an order of it."""

    def __init__(self, edges: Mapping[int, float], types: frozenset[int], deeds: frozenset[int]) -> None:
        """Take every edge type, with how alike the verb is to it, and the kinds; `deeds` are those of what is done."""
        super().__init__(edges)
        self.types, self.deeds = types, deeds


class TimedEdges(dict[int, float]):
    """Edge types that tell when they began or ended, for a verb of joining or leaving that names none."""

    def __init__(self, edges: Mapping[int, float], dates: frozenset[str], *, is_end: bool) -> None:
        """Take the edge types, with how alike the verb is to them, and the properties that tell the time."""
        super().__init__(edges)
        self.dates, self.is_end = dates, is_end


class EdgeUnit(NamedTuple):
    """Words that name edge types, with how alike each is."""

    last: int
    edges: Mapping[int, float]
    first: int

    @property
    def fit(self) -> float:
        """Return how alike the best of its edge types is."""
        return max(self.edges.values(), default=0.0)

    def cut(self, kept: Collection[int]) -> EdgeUnit:
        """Return the same words for some of their edge types, from the same end."""
        edges = {edge: fit for edge, fit in self.edges.items() if edge in kept}
        if isinstance(self.edges, TimedEdges):
            return self._replace(edges=TimedEdges(edges, self.edges.dates, is_end=self.edges.is_end))
        if isinstance(self.edges, KindVerb):
            return self._replace(edges=KindVerb(edges, self.edges.types, self.edges.deeds))
        return self._replace(edges=ConverseEdges(edges) if isinstance(self.edges, ConverseEdges) else edges)


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
    true: str
    """The value that means yes: `true`, or `yes`."""
    is_list: bool = False
    """Some node has several values: of such, `a and b` are both."""
    edges: frozenset[int] = frozenset()
    """Of a property of edges, the edge types that have it."""

    @property
    def is_measured(self) -> bool:
        """Return whether its values are more or less than one another."""
        return self.kind in ("number", "year", "date")


@dataclass(slots=True)
class Units:
    """What the words of one question may be, by the place where they begin."""

    types: dict[int, list[TypeUnit]] = field(default_factory=dict)
    names: dict[int, list[NameUnit]] = field(default_factory=dict)
    edges: dict[int, list[EdgeUnit]] = field(default_factory=dict)
    properties: dict[int, list[PropertyUnit]] = field(default_factory=dict)
    values: dict[int, list[ValueUnit]] = field(default_factory=dict)
    quantities: dict[int, Quantity] = field(default_factory=dict)
    edge_properties: dict[int, list[PropertyUnit]] = field(default_factory=dict)
    edge_values: dict[int, list[ValueUnit]] = field(default_factory=dict)
    unknown_ids: list[tuple[int, int]] = field(default_factory=list)
    """Where kinds stand with ids that none of their nodes has."""

    def covered(self) -> set[int]:
        """Return the places of words that may be something."""
        edges = {first: [unit for unit in units if unit.fit > LIGHT_FIT] for first, units in self.edges.items()}
        places = {
            place
            for units in (
                *(self.types, self.names, edges, self.properties, self.values),
                *(self.edge_properties, self.edge_values),
            )
            for first, spans in units.items()
            for span in spans
            for place in range(first, span.last)
        }
        return places | {place for first, span in self.quantities.items() for place in range(first, span.last)}


# =========================================================================================================== edge words
# Words that name edge types: by the schema's labels, by synonyms, and by irregular forms of verbs.

SYNONYM = 0.6  # likeness, below every likeness of the same word
_ABSTRACT = ("ity", "ism", "ness")  # what a thing is like, and not the thing
_LEAST_FIT = 0.3  # the share of a label that words must be like


class _LabelPlace(NamedTuple):
    """A word of a label that a word may be, and how alike they are."""

    edge: int
    label: Label
    at: int
    likeness: float
    is_converse: bool = False
    """The word says it from the other end."""


class EdgeWords:
    """Finds the edge types of one graph by words. Safe to share among threads."""

    def __init__(self, vocabulary: SchemaWords) -> None:
        self._vocabulary = vocabulary
        self._groups = [self._stems(group) for group in ENGLISH.groups["relations"]]
        self._converses = [tuple(map(self._stems, pair)) for pair in ENGLISH.converses]
        self._light = self._stems(WORDS["light verbs"])
        self._deeds = [self._stems(group) for group in ENGLISH.groups["deeds"]]
        kind = Label(("kind",), (vocabulary.stem("kind"),))
        self._labels = [
            [kind if " ".join(label.words) in ENGLISH.phrases["is a kind of"] else label for label in labels]
            for labels in vocabulary.edge_labels
        ]
        self._any = dict.fromkeys(range(len(vocabulary.edge_labels)), LIGHT_FIT)

    def _stems(self, words: Iterable[str]) -> frozenset[str]:
        """Return words and their stems."""
        return frozenset(words) | frozenset(map(self._vocabulary.stem, words))

    def units(self, reading: QuestionWords, place: int) -> Iterator[EdgeUnit]:
        """Yield the words from a place on that name edge types, with how much of each label they are."""
        if reading.words[place].is_quoted:
            return
        spans: dict[tuple[int, bool], dict[int, float]] = {}
        for like in self._likest(reading, place):
            last, fit = self._fit(reading, place, like)
            if fit >= _LEAST_FIT:
                edges = spans.setdefault((last, like.is_converse), ConverseEdges() if like.is_converse else {})
                edges[like.edge] = max(fit, edges.get(like.edge, 0.0))
        for (last, _), edges in spans.items():
            yield EdgeUnit(last, edges, place)
        word = reading.words[place]
        if (verb := self._kind_verb(reading, place)) is not None:
            yield EdgeUnit(place + 1, verb, place)
        if word.stem in self._light or ENGLISH.verb_of.get(word.text) in WORDS["light verbs"]:
            yield EdgeUnit(place + 1, self._any, place)

    def _kind_verb(self, reading: QuestionWords, place: int) -> KindVerb | None:
        """Return a verb by the kinds that stand for what it does, or for who does it: `order`, `supplier`."""
        word = reading.words[place]
        is_asked = any(before.text in WORDS["before bare verbs"] for before in reading.words[:place])
        is_verb = word.text.endswith(("ed", "ing")) or word.text in ENGLISH.verb_of
        stem = self._vocabulary.stem(ENGLISH.verb_of.get(word.text, word.text))
        if not is_verb and (not is_asked or word.text.endswith("s")):
            return None
        nouns = {stem}.union(*(group for group in self._deeds if stem in group))

        def called(nouns: set[str]) -> frozenset[int]:
            return frozenset(
                kind
                for kind, labels in enumerate(self._vocabulary.node_labels)
                for label in labels
                if label.stems[-1] in nouns and (word.text != label.words[-1] or is_asked)
            )

        types = called(nouns.union(*(group for group in self._groups if stem in group)))
        return KindVerb(self._any, types, called(nouns)) if types else None

    def _likest(self, reading: QuestionWords, place: int) -> Iterator[_LabelPlace]:
        """Yield what words of labels a word may be; one that says little by itself, only a whole label."""
        word = reading.words[place]
        if word.text.endswith("ly"):  # "formerly" is no `former_club`
            return
        verb = ENGLISH.verb_of.get(word.text) or self._verb_of_agent(word.text)
        places = self._like(word.stem) or self._like(word.text)
        before = reading.text[reading.words[place - 1].end : word.start] if place else ","
        # in "pictures that show a horse" it does not ask
        is_said = before.isspace() and word.text.startswith(ENGLISH.phrases["asking verbs"])
        for like in (*places, *(self._like(self._vocabulary.stem(verb)) if verb is not None else ())):
            if word.text.endswith(_ABSTRACT) and word.text not in like.label.words and like.likeness > SYNONYM:
                continue  # "hospitality" is no `hospital`
            if is_said or not word.is_stop or (len(like.label.stems) == 1 and like.likeness == 1):
                yield like

    def _verb_of_agent(self, word: str) -> str | None:
        """Return the irregular verb whose agent a noun is: `lend` of `lender`, which edges called `lent_by` say."""
        verb = word.removesuffix("s").removesuffix("er")
        return verb if verb != word and verb in ENGLISH.verb_of.values() else None

    def _fit(self, reading: QuestionWords, place: int, like: _LabelPlace) -> tuple[int, float]:
        """Return where the words end that are a label from one of its words on, and the share of it that they are."""
        last, total = place + 1, like.likeness
        for own in like.label.stems[like.at + 1 :]:
            near = range(last, min(len(reading.words), last + 2))
            after = next((at for at in near if alike(reading.words[at].stem, own)), None)
            if after is None:
                break
            total += alike(reading.words[after].stem, own)
            last = after + 1
        return last, total / len(like.label.stems)

    @cached_method(8_192)
    def _like(self, stem: str) -> tuple[_LabelPlace, ...]:
        """Return the words of labels that a stem may be."""
        groups = [group for group in self._groups if stem in group]
        forms = frozenset(form for form, verb in ENGLISH.verb_of.items() if verb == stem)
        others = [other for pair in self._converses for one, other in (pair, pair[::-1]) if stem in one]
        places = []
        for edge, labels in enumerate(self._labels):
            for label in labels:
                for at, own in enumerate(label.stems):
                    likeness = alike(stem, own) if min(len(stem), len(own)) > 2 or stem == own else 0.0
                    is_converse = likeness < 1 and any(own in group for group in others)  # a mentee is no mentor
                    likeness = 0.0 if is_converse else likeness
                    if not likeness and own in forms:
                        likeness = 0.9
                    if not likeness and any(own in group for group in groups):
                        likeness = SYNONYM
                    if likeness:
                        places.append(_LabelPlace(edge, label, at, likeness))
                    elif any(own in group for group in others) and "by" not in label.words:
                        # of what is `bought_by` somebody nobody is told who sold it
                        places.append(_LabelPlace(edge, label, at, SYNONYM, is_converse=True))
        return tuple(places)


# ======================================================================================================= property words
# Words that name properties, and words that are values of them: `founded`, `year of birth`, `Belgium`.

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


# ============================================================================================================== lexicon
# What the words of a question may be: names, types, edge types, properties, values and quantities of one graph.

__all__ = ["EdgeUnit", "Lexicon", "NameUnit", "PropertyFacts", "PropertyUnit", "TypeUnit", "Units", "ValueUnit"]

_ID = re.compile(
    rf"(?i)(?P<sign>(?:\s+(?:{'|'.join(sorted(WORDS['before id']))})\b\.?)?\s*#?\s*)(?<=[\s#])"
    r"(?P<id>(?=\S*\d)\w+(?:[-/._:]\w+)*)"
)
"""An id behind a word for a kind, and what says that it is one."""
_SURE_SPELLING = 0.8  # letters in common; a name that is spelled less alike is another one
_BY_STEM = 0.86  # quality; names of which the stems alone agree are below


class Lexicon:
    """The words of one graph, for exact readings. Safe to share among threads."""

    def __init__(self, graph: Graph, vocabulary: SchemaWords, linker: PhraseLinker) -> None:
        self.graph, self.vocabulary, self._linker = graph, vocabulary, linker
        self._partial_names, self._edge_words = PartialNames(graph), EdgeWords(vocabulary)
        self._property_words = PropertyWords(graph, vocabulary, NodeColumns(graph))
        self._edge_property_words = PropertyWords(graph, vocabulary, EdgeColumns(graph))
        self._type_words = [self._words_for(labels) for labels in vocabulary.node_labels]
        self.nested: frozenset[int] = frozenset()
        """The node types of places that may lie in others of the type."""

    @property
    def properties(self) -> dict[str, PropertyFacts]:
        """Return the properties by name."""
        return self._property_words.facts

    @property
    def edge_properties(self) -> dict[str, PropertyFacts]:
        """Return the properties of edges by name."""
        return self._edge_property_words.facts

    @cached_property
    def with_texts(self) -> frozenset[int]:
        """Return the node types of which some nodes have texts."""
        arrays = self.graph.arrays
        return frozenset(np.unique(np.asarray(arrays.node_types)[arrays.texts.sizes > 0]).tolist())

    @cached_property
    def _columns(self) -> dict[tuple[str, tuple[str, ...]], frozenset[int]]:
        """Return the node types by role, `name` or `text`, and the words of the column that it was read from."""
        number = {name: at for at, name in enumerate(self.graph.arrays.types.nodes)}
        types: dict[tuple[str, tuple[str, ...]], frozenset[int]] = {}
        for table in self.graph.arrays.manifest.provenance.get("mapping") or ():
            own = number.get(table.get("type"))
            if own is None or table.get("kind") == "edges":
                continue
            for column, role in table.get("columns", {}).items():
                if role in (NAME, TEXT):
                    key = role, tuple(map(self.vocabulary.stem, name_words(column)))
                    types[key] = types.get(key, frozenset()) | {own}
        return types

    @cached_property
    def of_texts(self) -> frozenset[int]:
        """Return the node types whose texts were read from several columns, some of which are properties as well."""
        counts = Counter(kind for (role, _), types in self._columns.items() if role == TEXT for kind in types)
        return frozenset(kind for kind, count in counts.items() if count > 1)

    def columns_at(self, reading: QuestionWords, place: int) -> Iterator[ColumnUnit]:
        """Yield the columns that are named here, of which texts or names were made."""
        for (role, stems), types in self._columns.items():
            last = place + len(stems)
            if stems and tuple(word.stem for word in reading.words[place:last]) == stems:
                yield ColumnUnit(last, role, types)

    @cached_property
    def people(self) -> frozenset[int]:
        """Return the node types of people, by what they and their properties are called: what was born is one."""
        stem, labels = self.vocabulary.stem, self.vocabulary.node_labels
        stems, telling = set(map(stem, WORDS["people"])), set(map(stem, WORDS["properties of people"]))
        called = {
            number
            for number, own in enumerate(labels)
            for label in own
            if stems & set(label.stems) or (label.words[-1].endswith("er") and label.words[-1] not in WORDS["no roles"])
        }
        known = (facts.types for facts in self.properties.values() if telling.intersection(facts.stems))
        return frozenset(called).union(*known)

    @cached_property
    def places(self) -> frozenset[int]:
        """Return the node types that are called as places are."""
        labels = enumerate(self.vocabulary.node_labels)
        return frozenset(kind for kind, own in labels if any(label.words[-1] in WORDS["places"] for label in own))

    @cached_property
    def timed(self) -> dict[str, TimedEdges]:
        """Return the edge types that verbs of joining and leaving may say: people have no other with such a date."""
        ends: dict[frozenset[str], set[str]] = {}
        names, number = self.graph.arrays.types, {name: at for at, name in enumerate(self.graph.arrays.types.edges)}
        people = {names.nodes[kind] for kind in self.people}
        dated = {key: self._dated_edges(WORDS[key]) for key in ("edge begins", "edge ends")}
        for one in self.graph.schema.edges:
            if any(number[one.type] in facts.edges for own in dated.values() for facts in own):
                ends.setdefault(frozenset((one.source, one.target)), set()).add(one.type)
        alone = {number[next(iter(own))] for pair, own in ends.items() if len(own) == 1 and len(pair & people) == 1}
        return {
            key: TimedEdges(
                {edge: SYNONYM for facts in dated[which] for edge in facts.edges & alone},
                frozenset(facts.name for facts in dated[which]),
                is_end=which == "edge ends",
            )
            for key, which in (("joining", "edge begins"), ("leaving", "edge ends"))
        }

    def _dated_edges(self, words: Collection[str]) -> list[PropertyFacts]:
        """Return the dates of edges that are called by any of these words."""
        own = (facts for facts in self.edge_properties.values() if facts.kind in ("year", "date"))
        return [facts for facts in own if not set(words).isdisjoint(name_words(facts.name))]

    def _timed_units(self, reading: QuestionWords, place: int) -> Iterator[EdgeUnit]:
        """Yield the edge types that `join`, `sign for` or `leave` may say."""
        words = [word.text for word in reading.words[place : place + _LONGEST_VALUE]]
        for key, edges in self.timed.items():
            for phrase in ENGLISH.by_first[key].get(words[0], ()):
                if edges and words[: len(phrase)] == list(phrase):
                    yield EdgeUnit(place + len(phrase), edges, place)

    def edges_called(self, word: str) -> list[EdgeUnit]:
        """Return the edge types that a word names which the question does not say."""
        return list(self._edge_words.units(self.vocabulary.read(word), 0))

    def number(self, facts: PropertyFacts, row: int) -> float | None:
        """Return the number that a node has for a property; None where it has none."""
        value = float(self.graph.arrays.properties.numbers(facts.name, np.array([row], np.int32))[0])
        return None if np.isnan(value) else value

    def measured(self, row: int, measure: Measure) -> float | None:
        """Return what a measure of a node is; None where the node has no value."""
        value = float(Executor(self.graph).measured([row], measure)[0])
        return None if np.isnan(value) else value

    def value(self, facts: PropertyFacts, row: int) -> str | float | None:
        """Return the text or the number that a node has for a property; None where it has none, or a list."""
        value = self.graph.arrays.properties.values(facts.name, np.array([row], np.int32))[0]
        if isinstance(value, bool):
            return str(value).lower()
        return float(value) if isinstance(value, int | float) else value if isinstance(value, str) else None

    def units(self, reading: QuestionWords) -> tuple[Units, list[LinkedPhrase]]:
        """Return what the words of a question may be, and the names that were read otherwise than they are written."""
        units = Units()
        respelled: list[LinkedPhrase] = []
        by_stem: set[tuple[int, int]] = set()
        for phrase in self._phrases(reading):
            if phrase.quality <= _BY_STEM and not reading.is_written_as_name(phrase.first):
                by_stem.add((phrase.first, phrase.last))
            rows = self._likeliest(self._with_its_signs(reading, phrase))
            if rows and not self._ends_with_kind(reading, phrase):
                cost = 0.1 * (1 - phrase.quality) + 0.3 * phrase.is_doubtful + 0.2 * (phrase.read_as is not None)
                units.names.setdefault(phrase.first, []).append(NameUnit(phrase.last, rows, cost))
            if phrase.read_as is not None:
                respelled.append(phrase)
        written = [Written(word.text, word.start, word.end) for word in reading.words]
        properties = self._property_words.units(reading)
        for place in range(len(reading.words)):
            units.types[place] = list(self._types(reading, place))
            is_plural = reading.words[place].text.endswith("s")  # "employees" are no `job_title`
            kinds = {unit.last for unit in units.types[place] if unit.cost == 0 or (is_plural and unit.cost < 0.2)}
            is_named = bool(
                self.graph.arrays.properties.names_with_value(reading.words[place].text)
            )  # a status is no verb
            units.edges[place] = [
                unit
                for unit in self._edge_words.units(reading, place)
                if unit.fit > SYNONYM or not (unit.last in kinds or is_named)
            ]
            if self.edge_properties and not any(unit.fit > LIGHT_FIT for unit in units.edges[place]):
                units.edges[place] += self._timed_units(reading, place)
            sure = {unit.last for unit in units.types[place] if unit.cost == 0}  # "orders" are not `ordered_on`
            units.properties[place] = [
                unit
                for unit in properties[place]
                if unit.last not in sure or unit.property.casefold() == reading.words[place].text
            ]
            units.values[place] = list(self._property_words.values(reading, place))
            if (amount := quantity(reading.text.casefold(), written, place)) is not None:
                units.quantities[place] = amount
        if self.edge_properties:
            self._add_of_edges(reading, units)
        self._add_ids(reading, units)
        self._add_uncovered(reading, units)
        self._add_partial(reading, units)
        for place, own in units.names.items():
            said = {
                unit.last for unit in units.properties.get(place, ()) if not unit.cost
            }  # "released" is no "Release"
            kept = (unit for unit in own if unit.last not in said or (place, unit.last) not in by_stem)
            units.names[place] = [self._apposed(reading, units, place, unit) for unit in kept]
        return units, respelled

    def _add_of_edges(self, reading: QuestionWords, units: Units) -> None:
        """Add the properties of edges and their values; words for these name edges by no synonym."""
        units.edge_properties = dict(enumerate(self._edge_property_words.units(reading)))
        words = range(len(reading.words))
        units.edge_values = {at: list(self._edge_property_words.values(reading, at)) for at in words}
        for place, own in units.edge_properties.items():  # "roles" that edges have are no `acted_in`
            said = {unit.last for unit in own if not unit.cost}
            units.edges[place] = [unit for unit in units.edges[place] if unit.fit > SYNONYM or unit.last not in said]

    def _apposed(self, reading: QuestionWords, units: Units, place: int, unit: NameUnit) -> NameUnit:
        """Return a name cut to the kind that stands before it, if it is of that kind: `the album Salt` is no track."""
        before = reading.words[place - 1].text if place else ""
        is_asked = place > 1 and reading.words[place - 2].text in ("which", "what", "many", "who")
        kinds = {kind for said in units.types.get(place - 1, ()) if said.last == place for kind in said.types}
        rows = tuple(row for row in unit.rows if int(self.graph.arrays.node_types[row]) in kinds)
        return unit if is_asked or before.endswith("s") or not rows else unit._replace(rows=rows)

    def _phrases(self, reading: QuestionWords) -> Iterator[LinkedPhrase]:
        """Yield the phrases that name nodes: of those that are spelled otherwise, the ones that are nearly alike."""
        for phrase in self._linker.phrases(reading):
            if phrase.read_as is None or letter_likeness(phrase.phrase, phrase.read_as) >= _SURE_SPELLING:
                yield phrase

    def _ends_with_kind(self, reading: QuestionWords, phrase: LinkedPhrase) -> bool:
        """Return whether a far-fetched name ends with a kind: "Python packages" is not called `python-packaging`."""
        if phrase.quality > _BY_STEM or len(phrase.words) < 2:
            return False
        return any(unit.last == phrase.last for unit in self._types(reading, phrase.last - 1))

    def _with_its_signs(self, reading: QuestionWords, phrase: LinkedPhrase) -> list[tuple[int, float]]:
        """Return the candidates whose names have the signs that stand right behind a phrase: `C++` is not `C`."""
        sign = reading.text[reading.words[phrase.last - 1].end :][:1]
        if sign not in ("+", "#"):
            return list(phrase.candidates)
        return [(row, quality) for row, quality in phrase.candidates if self._has(row, sign)]

    def _has(self, row: int, sign: str) -> bool:
        arrays = self.graph.arrays
        return any(sign in name.casefold() for name in (arrays.names[row], arrays.ids[row], *arrays.aliases_at(row)))

    def _likeliest(self, candidates: Sequence[tuple[int, float]]) -> tuple[int, ...]:
        """Return the nodes that a phrase may mean, of each type those that are called most exactly so."""
        node_types = self.graph.arrays.node_types
        best: dict[int, float] = {}
        for row, quality in candidates:
            kind = int(node_types[row])
            best[kind] = max(quality, best.get(kind, 0.0))
        return tuple(row for row, quality in candidates if quality == best[int(node_types[row])])

    def _types(self, reading: QuestionWords, place: int) -> Iterator[TypeUnit]:
        """Yield the words from a place on that name node types: by label, else by another word of the same group."""
        by_span: dict[int, dict[int, float]] = {}
        free = [True] * len(reading.words)
        if reading.words[place].text in WORDS["of any kind"]:
            yield TypeUnit(place + 1, frozenset(), 0.05)
        for number, labels in enumerate(self.vocabulary.node_labels):
            for label in labels:
                likeness, last = type_likeness(reading, place, free, label, self.vocabulary)
                if likeness > 0 and self._is_called(reading, last, label):
                    types = by_span.setdefault(last, {})
                    types[number] = max(likeness, types.get(number, 0.0))
        for last, types in by_span.items():
            best = max(types.values())
            likeliest = frozenset(number for number, likeness in types.items() if likeness == best)
            yield TypeUnit(last, likeliest, 0.3 * (1 - best))
            is_group = reading.words[last - 1].text in WORDS["people together"] and last < len(reading.words)
            if is_group and reading.words[last].text in ("member", "members"):
                yield TypeUnit(last + 1, likeliest, 0.3 * (1 - best))
        like = self._types_like(reading.words[place].text) if not by_span else frozenset[int]()
        if not (by_span or like) and reading.words[place].text in WORDS["plain people"]:
            like = self.people
        if self.nested and not by_span and reading.words[place].text in WORDS["plain places"]:
            yield TypeUnit(place + 1, self.nested, 0.0)
        elif like and not self.is_name_or_value(reading, place):
            yield TypeUnit(place + 1, like, 0.15)

    def _is_called(self, reading: QuestionWords, last: int, label: Label) -> bool:
        """Return whether the word before a place is the last of a label, in any number: "patents" are no patients."""
        return not singulars(reading.words[last - 1].text).isdisjoint(singulars(label.words[-1]))

    def is_name_or_value(self, reading: QuestionWords, place: int) -> bool:
        """Tell whether a word is a name or a value: where some are "Professor", that is no other word for lecturers."""
        word = reading.words[place].text
        arrays = self.graph.arrays
        return any(
            arrays.name_index.called(form) or arrays.properties.names_with_value(form)
            for form in {word, word.removesuffix("s")}
        )

    def _words_for(self, labels: Sequence[Label]) -> frozenset[str]:
        """Return the words of English that say the same as labels of a node type."""
        own = {form for label in labels if len(label.stems) == 1 for form in singulars(label.words[-1])}
        return frozenset(word for group in ENGLISH.groups["types"] if not own.isdisjoint(group) for word in group)

    def _types_like(self, word: str) -> frozenset[int]:
        """Return the node types that a word says in another word of its group."""
        forms = singulars(word)
        return frozenset(number for number, words in enumerate(self._type_words) if not forms.isdisjoint(words))

    def _add_ids(self, reading: QuestionWords, units: Units) -> None:
        """Add the nodes that a kind and an id name: `match 306`, `order no. 1007`, `ticket #A-42`."""
        for place, kinds in units.types.items():
            for kind in (kind for kind in kinds if kind.types and not reading.words[kind.last - 1].text.endswith("s")):
                found = _ID.match(reading.text, reading.words[kind.last - 1].end)
                if found is None or (units.properties.get(kind.last) and found["sign"].strip(" #")):
                    continue  # "player number 10" of a property `number`
                begin = next(at for at, word in enumerate(reading.words) if word.end > found.start("id"))
                last = next(
                    (at for at, word in enumerate(reading.words) if word.start >= found.end()), len(reading.words)
                )
                is_named = any(unit.last == last for unit in units.names.get(place, ()))
                if is_named or (not found["sign"].strip() and self._may_be_amount(units, begin, kind.types)):
                    continue
                rows = self._with_id(kind.types, found["id"])
                if len(rows) == 1:
                    units.names.setdefault(place, []).append(NameUnit(last, tuple(rows), kind.cost))
                elif not rows and (found["sign"].strip() or kind.cost == 0):
                    units.unknown_ids.append((place, last))

    def _may_be_amount(self, units: Units, place: int, types: frozenset[int]) -> bool:
        """Return whether a number has a unit, or may be a year of what has dates."""
        amount = units.quantities.get(place)
        if amount is None or amount.unit is not None:
            return amount is not None
        has_dates = any(facts.kind in ("year", "date") and facts.types & types for facts in self.properties.values())
        return has_dates and _YEARS[0] <= amount.value <= _YEARS[1]

    def _with_id(self, types: frozenset[int], text: str) -> set[int]:
        """Return the nodes of some types whose id, name, key within the id or property `id` is a text."""
        arrays, rows = self.graph.arrays, set[int]()
        for number in types:
            label = arrays.types.nodes[number]
            rows.update(row for one in (text, f"{label}:{text}") for row in arrays.candidates(one))
            if "id" in arrays.properties.names and (mask := arrays.mask([label], [f"id={text}"])) is not None:
                rows.update(np.flatnonzero(mask).tolist())
        return {row for row in rows if int(arrays.node_types[row]) in types}

    def _add_partial(self, reading: QuestionWords, units: Units) -> None:
        """Add the names of which words are a part, where no whole name is written so."""
        for name in self._partial_names.of(reading, units.covered()):
            if [word.text for word in reading.words[name.first - 1 : name.last]] == ["in", "common"]:
                continue
            sign = reading.text[reading.words[name.last - 1].end :][:1]
            whole = any(unit.last == name.last for unit in units.names.get(name.first, ()))
            rows = tuple(row for row in name.rows if sign not in ("+", "#") or self._has(row, sign))
            word = reading.words[name.first].text
            # "Russian breweries" are not "Russian River", nor "Belgian beers" all that is a "Belgian Strong Ale"
            is_origin = (
                name.last == name.first + 1
                and word.endswith(ENGLISH.phrases["endings of origins"])
                and bool(units.types.get(name.last))
            )
            if not rows or is_origin or whole:
                continue
            units.names.setdefault(name.first, []).append(NameUnit(name.last, rows, 0.2))
            own = tuple(row for row in rows if self._has(row, f"{reading.words[name.last - 1].text}'s"))
            if own and sign in ("'", "’"):  # "Crohn's" of "Crohn's disease"
                units.names.setdefault(name.first, []).append(NameUnit(name.last + 1, own, 0.2))

    def _add_uncovered(self, reading: QuestionWords, units: Units) -> None:
        """Add the names that words are which stand where a kind is mostly said: `by which gnuplot is suggested`."""
        covered = units.covered()
        for place, word in enumerate(reading.words):
            if place in covered or word.is_stop:
                continue
            links = self.graph.arrays.name_index.called(reading.surface(place, place + 1))
            if links and len(links) <= MOST_NAMESAKES:
                units.names.setdefault(place, []).append(NameUnit(place + 1, tuple(link.row for link in links), 0.1))
