"""What the words of a question may be: names, types, edge types, properties, values and quantities."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from orienteer.graph.store import Graph
from orienteer.reading.answer_type import type_likeness
from orienteer.reading.executor import Executor
from orienteer.reading.linker import MOST_NAMESAKES, LinkedPhrase, PartialNames, PhraseLinker
from orienteer.reading.quantities import Written, quantity
from orienteer.reading.query import NAME, TEXT, Measure
from orienteer.reading.units import (
    LIGHT_FIT,
    LONGEST_VALUE,
    SURE_NAME,
    SYNONYM,
    YEARS,
    ColumnUnit,
    EdgeUnit,
    EdgeWords,
    NameUnit,
    PropertyFacts,
    PropertyWords,
    TimedEdges,
    TypeUnit,
    Units,
    dates_called,
    edge_columns,
    name_words,
    node_columns,
)
from orienteer.reading.vocabulary import ENGLISH, WORDS, Label, QuestionWords, SchemaWords
from orienteer.retrieval.mentions import letter_likeness
from orienteer.text.tokenizer import singulars
from orienteer.text.units import UNITS

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
        self._property_words = PropertyWords(graph, vocabulary, node_columns(graph))
        self._edge_property_words = PropertyWords(graph, vocabulary, edge_columns(graph))
        self._type_words = [_words_for(labels) for labels in vocabulary.node_labels]
        self.nested: frozenset[int] = frozenset()
        """The node types of places that may lie in others of the type."""

    @property
    def properties(self) -> dict[str, PropertyFacts]:
        """Return the properties by name."""
        return self._property_words.facts

    @property
    def beside(self) -> dict[str, str]:
        """Return the properties of texts that stand beside numbers or dates, and those."""
        return self._property_words.beside

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
        stems, telling = (set(map(self.vocabulary.stem, WORDS[key])) for key in ("people", "properties of people"))
        known = (facts.types for facts in self.properties.values() if telling.intersection(facts.stems))

        def is_role(label: Label) -> bool:
            word = label.words[-1]
            return not stems.isdisjoint(label.stems) or (word.endswith("er") and word not in WORDS["no roles"])

        return self.vocabulary.kinds_called(is_role).union(*known)

    @cached_property
    def places(self) -> frozenset[int]:
        """Return the node types that are called as places are."""
        return self.vocabulary.kinds_called(lambda label: label.words[-1] in WORDS["places"])

    @cached_property
    def timed(self) -> dict[str, TimedEdges]:
        """Return the edge types that verbs of joining and leaving may say: people have no other with such a date."""
        ends: dict[frozenset[str], set[str]] = {}
        names, number = self.graph.arrays.types, {name: at for at, name in enumerate(self.graph.arrays.types.edges)}
        people = {names.nodes[kind] for kind in self.people}
        dated = {key: dates_called(self.edge_properties.values(), key) for key in ("edge begins", "edge ends")}
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

    def _timed_units(self, reading: QuestionWords, place: int) -> Iterator[EdgeUnit]:
        """Yield the edge types that `join`, `sign for` or `leave` may say."""
        words = [word.text for word in reading.words[place : place + LONGEST_VALUE]]
        for key, edges in self.timed.items() if words[:2] != ["joined", "to"] else ():  # what is linked did not join
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
        for phrase in self._linker.phrases(reading):
            if phrase.read_as is not None and letter_likeness(phrase.phrase, phrase.read_as) < _SURE_SPELLING:
                continue
            if phrase.quality <= _BY_STEM and not reading.is_written_as_name(phrase.first):
                by_stem.add((phrase.first, phrase.last))
            rows = self._likeliest(reading, phrase)
            if rows:
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
            # a status is no verb
            is_named = bool(self.graph.arrays.properties.names_with_value(reading.words[place].text))
            exact = {unit.last: unit.property for unit in properties[place] if not unit.cost}
            units.edges[place] = [
                unit
                for unit in self._edge_words.units(reading, place)
                if unit.fit > SYNONYM or not (unit.last in kinds or is_named or self._is_elsewhere(unit, exact))
            ]
            if reading.words[place].text in WORDS["containing"]:  # "dependencies include X": X is one of them
                before = (unit for at in range(place) if not units.types[at] for unit in units.edges[at])
                said = {edge for unit in before if unit.fit > SYNONYM for edge in unit.edges}
                units.edges[place] = [unit for unit in units.edges[place] if said.isdisjoint(unit.edges)]
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
        self._add_of_edges(reading, units)
        self._add_ids(reading, units)
        self._add_uncovered(reading, units)
        self._add_partial(reading, units)
        self._cut_names(reading, units, by_stem)
        return units, respelled

    def _cut_names(self, reading: QuestionWords, units: Units, by_stem: set[tuple[int, int]]) -> None:
        """Leave out names that other words or longer names say, and cut those behind a kind to it."""
        whole = [(at, unit.last) for at, own in units.names.items() for unit in own if not unit.cost]
        whole = [span for span in whole if reading.is_written_as_name(span[0])]
        for place, own in units.names.items():
            # "released" is no "Release"
            said = {unit.last for unit in units.properties.get(place, ()) if not unit.cost}
            said |= {place + 1} if reading.words[place].text.endswith(("ed", "ing")) else set()  # who "coached" does so
            kept = [unit for unit in own if unit.last not in said or (place, unit.last) not in by_stem]
            kinds = {unit.last for unit in units.types[place] if unit.cost}  # "adverbs" are not the word "adverb"
            kept = [unit for unit in kept if not unit.cost or unit.last not in kinds]
            if reading.words[place].text in UNITS and place and reading.words[place - 1].text == "in":
                measured = {unit.last for several in units.properties.values() for unit in several}  # "size in kB"
                kept = [unit for unit in kept if unit.cost < SURE_NAME and measured.isdisjoint((place - 1, place + 1))]
            # in "Kellmouth Town", a club, no town of Kellmouth is meant
            units.names[place] = [
                self._apposed(reading, units, place, unit)
                for unit in kept
                if not any(at <= place < unit.last <= last and last - at > unit.last - place for at, last in whole)
            ]

    def _is_elsewhere(self, unit: EdgeUnit, exact: Mapping[int, str]) -> bool:
        """Return whether this graph says a word of other things than edges join: `delivered_on`, and no supplier."""
        if unit.last not in exact or unit.fit <= LIGHT_FIT:
            return False
        own, hops = self.properties[exact[unit.last]].types, self.vocabulary.hops
        return not any(
            hop.kind >> 1 in unit.edges and {kind, hop.target} & own
            for kind, several in enumerate(hops)
            for hop in several
        )

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

    def _has_sign(self, row: int, sign: str) -> bool:
        """Return whether a node's name has what stands right behind a phrase, if that is a sign of names."""
        return sign not in ("+", "#") or self._has(row, sign)

    def _has(self, row: int, text: str) -> bool:
        arrays = self.graph.arrays
        return any(text in name.casefold() for name in (arrays.names[row], arrays.ids[row], *arrays.aliases_at(row)))

    def _likeliest(self, reading: QuestionWords, phrase: LinkedPhrase) -> tuple[int, ...]:
        """Return the nodes that a phrase may mean, of each type those that are called most exactly so."""
        node_types, best = self.graph.arrays.node_types, dict[int, float]()
        is_far = phrase.quality <= _BY_STEM and len(phrase.words) > 1
        if is_far and any(unit.last == phrase.last for unit in self._types(reading, phrase.last - 1)):
            return ()  # "Python packages" is not called `python-packaging`
        sign = reading.text[reading.words[phrase.last - 1].end :][:1]  # `C++` is not `C`
        candidates = [node for node in phrase.candidates if self._has_sign(node.row, sign)]
        for row, quality in candidates:
            kind = int(node_types[row])
            best[kind] = max(quality, best.get(kind, 0.0))
        return tuple(row for row, quality in candidates if quality == best[int(node_types[row])])

    def _types(self, reading: QuestionWords, place: int) -> Iterator[TypeUnit]:
        """Yield the words from a place on that name node types: by label, else by another word of the same group."""
        by_span: dict[int, dict[int, float]] = {}
        free = [True] * len(reading.words)
        for number, labels in enumerate(self.vocabulary.node_labels):
            for label in labels:
                likeness, last = type_likeness(reading, place, free, label, self.vocabulary)
                said = singulars(reading.words[last - 1].text)  # in any number: "patents" are no patients
                if likeness > 0 and not said.isdisjoint(singulars(label.words[-1])):
                    types = by_span.setdefault(last, {})
                    types[number] = max(likeness, types.get(number, 0.0))
        if reading.words[place].text in WORDS["of any kind"]:
            own = singulars(reading.words[place].text)
            called = self.vocabulary.kinds_called(lambda label: own.issuperset(label.words))
            yield TypeUnit(place + 1, called, 0.05)
        for last, types in by_span.items():
            best = max(types.values())
            likeliest = frozenset(number for number, likeness in types.items() if likeness == best)
            yield TypeUnit(last, likeliest, 0.3 * (1 - best))
            is_group = reading.words[last - 1].text in WORDS["people together"] and last < len(reading.words)
            if is_group and reading.words[last].text in ("member", "members"):
                yield TypeUnit(last + 1, likeliest, 0.3 * (1 - best))
        forms = singulars(reading.words[place].text) if not by_span else set[str]()
        like = frozenset(number for number, words in enumerate(self._type_words) if not words.isdisjoint(forms))
        is_common = len(forms) > 1 or (place > 0 and reading.words[place - 1].text in ("a", "an"))
        if not (by_span or like) and reading.words[place].text in WORDS["plain people"]:
            like = self.people
        if self.nested and not by_span and reading.words[place].text in WORDS["plain places"]:
            yield TypeUnit(place + 1, self.nested, 0.0)
        elif like and not self.is_name_or_value(reading, place, is_common=is_common):
            yield TypeUnit(place + 1, like, 0.15)

    def is_name_or_value(self, reading: QuestionWords, place: int, *, is_common: bool = False) -> bool:
        """Tell whether a word is a name (no common noun is), or a value: "Professor" is no other word for lecturers."""
        word, arrays = reading.words[place].text, self.graph.arrays
        forms = {word, word.removesuffix("s")}
        is_name = not is_common and any(map(arrays.name_index.called, forms))
        return is_name or any(map(arrays.properties.names_with_value, forms))

    def _add_ids(self, reading: QuestionWords, units: Units) -> None:
        """Add the nodes that a kind and an id name: `match 306`, `order no. 1007`, `ticket #A-42`."""
        for place, kinds in units.types.items():
            for kind in kinds:
                word = reading.words[kind.last - 1]
                found = _ID.match(reading.text, word.end) if kind.types and self._is_single(word.text, kind) else None
                if found is None or (units.properties.get(kind.last) and found["sign"].strip(" #")):
                    continue  # "player number 10" of a property `number`
                begin = sum(word.end <= found.start("id") for word in reading.words)
                last = sum(word.start < found.end() for word in reading.words)
                is_named = any(unit.last == last for unit in units.names.get(place, ()))
                if is_named or (not found["sign"].strip() and self._may_be_amount(units, begin, kind.types)):
                    continue
                rows = self._with_id(kind.types, found["id"])
                if len(rows) == 1:
                    units.names.setdefault(place, []).append(NameUnit(last, tuple(rows), kind.cost))
                elif not rows and (found["sign"].strip() or kind.cost == 0):
                    units.unknown_ids.append((place, last))

    def _is_single(self, word: str, kind: TypeUnit) -> bool:
        """Return whether a word for a kind is no plural: `match`, `bus`."""
        labels = (label for one in kind.types for label in self.vocabulary.node_labels[one])
        return not word.endswith("s") or any(label.words[-1] == word for label in labels)

    def _may_be_amount(self, units: Units, place: int, types: frozenset[int]) -> bool:
        """Return whether a number has a unit, or may be a year of what has dates."""
        amount = units.quantities.get(place)
        if amount is None or amount.unit is not None:
            return amount is not None
        has_dates = any(facts.kind in ("year", "date") and facts.types & types for facts in self.properties.values())
        return has_dates and YEARS[0] <= amount.value <= YEARS[1]

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
            rows = tuple(row for row in name.rows if self._has_sign(row, sign))
            word = reading.words[name.first].text
            # "Russian breweries" are not "Russian River", nor "Belgian beers" all that is a "Belgian Strong Ale"
            is_origin = word.endswith(ENGLISH.phrases["endings of origins"]) and bool(units.types.get(name.last))
            if not rows or whole or (is_origin and name.last == name.first + 1):
                continue
            units.names.setdefault(name.first, []).append(NameUnit(name.last, rows, 0.2, is_part=True))
            own = tuple(row for row in rows if self._has(row, f"{reading.words[name.last - 1].text}'s"))
            if own and sign in ("'", "’"):  # "Crohn's" of "Crohn's disease"
                units.names.setdefault(name.first, []).append(NameUnit(name.last + 1, own, 0.2, is_part=True))

    def _add_uncovered(self, reading: QuestionWords, units: Units) -> None:
        """Add the names that words are which stand where a kind is mostly said: `by which gnuplot is suggested`."""
        covered = units.covered()
        for place, word in enumerate(reading.words):
            if place in covered or word.is_stop:
                continue
            links = self.graph.arrays.name_index.called(reading.surface(place, place + 1))
            if links and len(links) <= MOST_NAMESAKES:
                units.names.setdefault(place, []).append(NameUnit(place + 1, tuple(link.row for link in links), 0.1))


def _words_for(labels: Sequence[Label]) -> frozenset[str]:
    """Return the words of English that say the same as labels of a node type."""
    own = {form for label in labels if len(label.stems) == 1 for form in singulars(label.words[-1])}
    return frozenset(word for group in ENGLISH.groups["types"] if not own.isdisjoint(group) for word in group)
