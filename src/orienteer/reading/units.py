"""What words of a question may be, each with where it ends and how far-fetched that is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from orienteer.graph.properties import number_of
from orienteer.graph.store import Graph
from orienteer.reading.quantities import Quantity
from orienteer.reading.vocabulary import ENGLISH, WORDS, Label, QuestionWords, SchemaWords, alike
from orienteer.remembered import cached_method
from orienteer.text.units import UNITS

LIGHT_FIT = 0.25
"""How alike a verb is to any edge type that says no more than that there is an edge."""
SURE_NAME = 0.2
"""Cost of words below which they surely are a name."""
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
    is_part: bool = False
    """They are a part of each of the names."""


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
    edges: dict[int, float]
    first: int

    @property
    def fit(self) -> float:
        """Return how alike the best of its edge types is."""
        return max(self.edges.values(), default=0.0)

    def cut(self, kept: Collection[int]) -> EdgeUnit:
        """Return the same words for some of their edge types, from the same end."""
        edges = copy(self.edges)  # with what else the words say
        for edge in self.edges.keys() - set(kept):
            del edges[edge]
        return self._replace(edges=edges)


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
        several = (self.types, self.names, edges, self.properties, self.values, self.edge_properties, self.edge_values)
        spans = [(first, unit.last) for units in several for first, own in units.items() for unit in own]
        spans += [(first, amount.last) for first, amount in self.quantities.items()]
        return {place for first, last in spans for place in range(first, last)}


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
        bare = ENGLISH.verb_of.get(word.text, word.text)
        if word.stem in self._light or bare in WORDS["light verbs"]:
            yield EdgeUnit(place + 1, self._lightly_said(self._vocabulary.stem(bare)), place)

    def _lightly_said(self, verb: str) -> dict[int, float]:
        """Return the edges whose labels tell of no other verb: who works in a town need not have the `home_town`."""
        own = frozenset[str]().union(*(group for group in self._groups if verb in group))
        every = frozenset[str]().union(*self._groups) if own else own
        compounds = ([label.stems for label in labels if len(label.stems) > 1] for labels in self._labels)
        called = [frozenset[str]().union(*several) for several in compounds]
        return {edge: fit for edge, fit in self._any.items() if called[edge] & own or not called[edge] & every}

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
            but = "" if is_asked else word.text
            return self._vocabulary.kinds_called(lambda label: label.stems[-1] in nouns and label.words[-1] != but)

        types = called(nouns.union(*(group for group in self._groups if stem in group)))
        return KindVerb(self._any, types, called(nouns)) if types else None

    def _likest(self, reading: QuestionWords, place: int) -> Iterator[_LabelPlace]:
        """Yield what words of labels a word may be; one that says little by itself, only a whole label."""
        word = reading.words[place]
        if word.text.endswith("ly"):  # "formerly" is no `former_club`
            return
        agent = word.text.removesuffix("s").removesuffix("er")  # "lender", of `lent_by`
        is_agent = agent != word.text and agent in ENGLISH.verb_of.values()
        verb = ENGLISH.verb_of.get(word.text) or (agent if is_agent else None)
        places = self._like(word.stem) or self._like(word.text)
        before = reading.text[reading.words[place - 1].end : word.start] if place else ","
        # in "pictures that show a horse" it does not ask
        is_said = before.isspace() and word.text.startswith(ENGLISH.phrases["asking verbs"])
        for like in (*places, *(self._like(self._vocabulary.stem(verb)) if verb is not None else ())):
            if word.text.endswith(_ABSTRACT) and word.text not in like.label.words and like.likeness > SYNONYM:
                continue  # "hospitality" is no `hospital`
            if is_said or not word.is_stop or (len(like.label.stems) == 1 and like.likeness == 1):
                yield like

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
YEARS = (1000, 2100)  # whole numbers between these, of a property called so, are years
_YEAR_WORDS = WORDS["ages"] | {"year", "since", "until", "dissolved", "closed", "ended", "died", "lit", "light"}
_NO_UNITS = frozenset(unit for unit in UNITS if len(unit) < 4) | {"year", "years", "pound", "mile"}
"""Units that are other words, too: a property that is called so alone is not told in them."""
_LONGEST_ACRONYM = 5  # letters
LONGEST_VALUE = 6  # words
_NO_PROPERTIES = WORDS["no properties"] | ENGLISH.adjectives.keys()
_LONGER = 3  # letters that one of two stems of one word has more
_ALIKE = 0.7  # likeness of stems that are one word


class ColumnUnit(NamedTuple):
    """A column that the names or texts of nodes were read from, as it is called in the question."""

    last: int
    role: str
    types: frozenset[int]


class Columns(NamedTuple):
    """The properties of nodes, or those of edges."""

    samples: Mapping[str, list[object]]
    """Some of the values of each."""
    types: Mapping[str, tuple[frozenset[int], frozenset[int]]]
    """The types of nodes that have it, and those of edges."""
    called: Callable[[str], Collection[str]]
    """Which of them have a value."""


def node_columns(graph: Graph) -> Columns:
    """Return the properties of the nodes of a graph."""
    properties, samples, types = graph.arrays.properties, dict[str, list[object]](), {}
    for name in properties.names:
        rows = properties.rows(name)
        values = properties.values(name, rows[:: max(1, len(rows) // _SAMPLE)])
        samples[name] = [value for value in values if value is not None]
        own = np.flatnonzero(np.bincount(graph.arrays.node_types[rows]))
        types[name] = frozenset(own.tolist()), frozenset[int]()
    return Columns(samples, types, properties.names_with_value)


def edge_columns(graph: Graph) -> Columns:
    """Return the properties of the edges of a graph; of a large one by some of its edges."""
    adjacency, texts = graph.arrays.adjacency, graph.arrays.edge_extras
    values: dict[str, list[object]] = {}
    types: dict[str, set[int]] = {}
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
                values.setdefault(name, []).append(value)
                types.setdefault(name, set()).add(kind >> 1)
    called: dict[str, set[str]] = {}
    for name, own in values.items():
        for text in {value.casefold() for value in own if isinstance(value, str)}:
            called.setdefault(text, set()).add(name)
    return Columns(
        {name: own[:: max(1, len(own) // _SAMPLE)] for name, own in values.items()},
        {name: (frozenset(), frozenset(own)) for name, own in types.items()},
        lambda text: called.get(text.casefold(), ()),
    )


_TEXTS_BESIDE = re.compile(r"_text\d*$")
"""The end of a property's name that tables give to texts among numbers or dates (docs/guides/tables.md)."""


def is_beside(texts: str, name: str) -> bool:
    """Return whether a property would keep the texts among the values of another: `price_text` of `price_eur`."""
    base = _TEXTS_BESIDE.sub("", texts)
    return texts != name and (name == base or name.startswith(f"{base}_"))


class PropertyWords:
    """Finds the properties of one graph, and their values, by words. Safe to share among threads."""

    def __init__(self, graph: Graph, vocabulary: SchemaWords, columns: Columns) -> None:
        self._arrays, self._vocabulary, self._columns = graph.arrays, vocabulary, columns
        self._groups = [frozenset(map(vocabulary.stem, group)) for group in ENGLISH.groups["properties"]]
        facts = ((self._facts(name, sample), sample) for name, sample in columns.samples.items())
        self.facts = {own.name: own for own, sample in facts if own.kind != "text" or not self._are_ids(sample)}
        self.beside = {name: base for name in self.facts if (base := self._beside(name)) is not None}
        """Properties of the texts that stand beside numbers or dates, and those: `price_text` of `price_eur`."""

    def _beside(self, name: str) -> str | None:
        return next((one for one in self.facts if is_beside(name, one) and self.facts[one].kind != "text"), None)

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
        types, edges = self._columns.types[name]
        true = "yes" if any(str(value).casefold() in ("yes", "no") for value in sample) else "true"
        is_list = any(isinstance(value, list) for value in sample)
        return PropertyFacts(name, stems, unit, _kind_of(sample, words), types, true, is_list, edges)

    def units(self, reading: QuestionWords) -> list[list[PropertyUnit]]:
        """Return by place the words from there on that name properties."""
        units = [self._decided(list(self._named(reading, place))) for place in range(len(reading.words))]
        texts = [word.text for word in reading.words]
        for place in range(len(texts) - 2):  # "year of birth", "date of launch", "number of staff" of one called so
            if texts[place + 1] == "of":
                is_general, first = texts[place] in WORDS["general"], texts[place]
                units[place] += [unit for unit in units[place + 2] if is_general or first in name_words(unit.property)]
        for place in range(len(texts) - 1):  # "in service", of `in_service`
            for unit in units[place + 1]:
                facts = self.facts[unit.property]
                if facts.kind == "boolean" and texts[place : unit.last] == facts.name.casefold().split("_"):
                    units[place].append(unit)
        for own in units:
            for unit in tuple(own):  # "size in kB", of `size_kb`
                behind = [at for at in range(unit.last, len(texts)) if texts[at] not in WORDS["measured in"]][:1]
                told = self.facts[unit.property].unit
                if told is not None and any(UNITS.get(texts[at]) == UNITS[told] for at in behind):
                    own.append(unit._replace(last=behind[0] + 1))
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
            own, words = list(facts.stems), name_words(facts.name)
            last, at, is_sure = place, place, True
            while own and at < len(reading.words):
                text = reading.words[at].text
                if text in _NO_PROPERTIES and text not in facts.name.casefold():  # "only" is not `online`
                    break
                is_doer = text.endswith(ENGLISH.phrases["endings of doers"]) and facts.kind in ("year", "date")
                if is_doer and text.removesuffix("s") not in facts.name.casefold():
                    break  # a "founder" is no `founded_year`
                stem = reading.words[at].stem
                match = next(filter(self._same(stem).__contains__, own), None)
                at += 1
                if match is None and last > place and text in WORDS["light"] and text in words:
                    continue  # "depth at low tide"
                if match is None:
                    break
                is_sure = is_sure and (stem == match or not (stem.startswith(match) or match.startswith(stem)))
                own.remove(match)
                last = at
            is_said = (is_sure or not own) and "id" not in own  # a "referee" is no `referee_id`
            is_whole = not own or facts.name not in self.beside
            if last > place and is_said and is_whole:  # "drugs" are no part of `drugbank_type`
                cost = 0.3 * len(own) / len(facts.stems)
                yield PropertyUnit(last, facts.name, cost)
                behind = reading.words[last].text if last < len(reading.words) else ""
                is_own = behind in facts.name.casefold().split("_")
                if behind in WORDS["general"] | WORDS["behind fields"] or (behind in WORDS["light"] and is_own):
                    yield PropertyUnit(last + 1, facts.name, cost)

    @cached_method(8_192)
    def _same(self, stem: str) -> frozenset[str]:
        """Return the stems of properties that a stem is, is like, or is of one group with."""
        groups = [group for group in self._groups if stem in group]

        def is_same(own: str) -> bool:
            is_near = abs(len(stem) - len(own)) <= _LONGER  # "birthplace" is no `birth`
            is_like = is_near and alike(stem, own) >= _ALIKE and min(len(stem), len(own)) > 4
            return stem == own or is_like or any(own in group for group in groups)

        return frozenset(own for facts in self.facts.values() for own in facts.stems if is_same(own))

    def values(self, reading: QuestionWords, place: int) -> Iterator[ValueUnit]:
        """Yield the words from a place on that are a value which a node has."""
        for last in range(place + 1, min(len(reading.words), place + LONGEST_VALUE) + 1):
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


def dates_called(facts: Iterable[PropertyFacts], key: str) -> list[PropertyFacts]:
    """Return the dates that are called by a word of a key of the vocabulary: those when edges begin, or end."""
    dates = (own for own in facts if own.kind in ("year", "date"))
    return [own for own in dates if not WORDS[key].isdisjoint(name_words(own.name))]


def name_words(name: str) -> list[str]:
    """Return the words of a property's name."""
    return name.casefold().replace("_", " ").replace(".", " ").split()


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
        are_years = all(float(value).is_integer() and YEARS[0] <= value <= YEARS[1] for value in numbers)
        is_event = len(words) == 1 and words[0].endswith("ed")  # `qualified`, `formed`
        return "year" if are_years and (is_event or not _YEAR_WORDS.isdisjoint(words)) else "number"
    texts = [value for value in sample if isinstance(value, str) and not np.isnan(number_of(value))]
    if len(texts) + len(numbers) < _MOSTLY * len(sample):
        return "text"
    return "date" if any("-" in text[1:] for text in texts) else "number"
