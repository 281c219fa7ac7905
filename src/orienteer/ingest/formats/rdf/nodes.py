"""What is said of a term -> a node: its type, name, aliases, text and properties."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from orienteer.display import counted
from orienteer.ingest.formats.rdf.parser import BASE
from orienteer.ingest.formats.rdf.triples import BLANK, Grouped, Literal, Numbers, Statements
from orienteer.ingest.formats.rdf.vocabulary import EMPTY, RDFS, SCHEMATIC, local_name
from orienteer.ingest.tables.values import is_prose
from orienteer.records import JsonValue, Node


class NamedNode(NamedTuple):
    """A node, and whether a literal named it or only its IRI."""

    node: Node
    is_named: bool


class Classes:
    """The classes of each node, the most telling first."""

    def __init__(self, edges: Statements, iris: Sequence[str], type_ranks: Mapping[int, int]) -> None:
        """Read the edges whose predicate is a type; `type_ranks` says which are, and which of them is better."""
        self._iris = iris
        self.rows = rows = np.flatnonzero(np.isin(edges.predicate, list(type_ranks)) & edges.keep)
        ranks = np.zeros(max(type_ranks, default=0) + 1, np.int32)
        ranks[list(type_ranks)] = list(type_ranks.values())
        best = rows[np.argsort(ranks[edges.predicate[rows]], kind="stable")]
        self._object, self._classes = edges.object, Grouped(edges.subject[best], best)
        above = edges.rows(f"{RDFS}subClassOf")
        self._above = Grouped(edges.subject[above], above)
        self._known: dict[tuple[int, ...], tuple[int, ...]] = {}

    def of(self, numbers: Numbers) -> Iterator[tuple[int, ...]]:
        """Return the classes of each of these terms."""
        rows, counts = self._classes.of_all(numbers)
        classes = iter(self._object[rows].tolist())
        return (self._ordered(tuple(islice(classes, count))) if count else () for count in counts)

    def _ordered(self, classes: tuple[int, ...]) -> tuple[int, ...]:
        """Put the classes that say most first, and leave out blank ones and those that say nothing."""
        ordered = self._known.get(classes)
        if ordered is None:
            named = [number for number in dict.fromkeys(classes) if not self._iris[number].startswith(BLANK)]
            above = {upper for number in named for upper in self._ancestors(number)} if len(named) > 1 else set[int]()
            ranked = sorted(named, key=lambda number: (_emptiness(self._iris[number]), number in above))
            ordered = tuple(number for number in ranked if self._iris[number] not in EMPTY) or tuple(ranked[:1])
            self._known[classes] = ordered
        return ordered

    def _ancestors(self, number: int) -> set[int]:
        """Return the classes above a class, except those that are also below it."""
        ancestors, waiting = set[int](), [number]
        while waiting:
            new = set(self._object[self._above.of(waiting.pop())].tolist()) - ancestors
            ancestors |= new
            waiting += new
        return set() if number in ancestors else ancestors


def _emptiness(iri: str) -> int:
    return 2 if iri in EMPTY else int(iri.startswith(SCHEMATIC))


class Languages:
    """Chooses among values in several languages, and counts what it leaves out."""

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted.casefold()
        self._regional = self.wanted + "-"
        self._left: Counter[str] = Counter()

    def choose(self, values: Sequence[Literal]) -> Sequence[Literal]:
        """Choose among several values: those in the wanted language, then those without a language.

        Where there are neither, those in the language that comes first.
        """
        if len(values) < 2 or not any(literal.kind[:1] == "@" for literal in values):
            return values
        own = [literal for literal in values if literal.language.casefold() == self.wanted]
        own += [literal for literal in values if literal.language.casefold().startswith(self._regional)]
        untold = [literal for literal in values if literal.kind[:1] != "@"]
        chosen = own + untold or [literal for literal in values if literal.language == values[0].language]
        if len(chosen) < len(values):
            among = set(map(id, chosen))
            self._left.update(literal.language for literal in values if id(literal) not in among)
        return chosen

    def note(self) -> list[str]:
        """Return a line about the values that were left out, if any."""
        if not self._left:
            return []
        some = ", ".join(f"{name} {count:,}" for name, count in self._left.most_common(5))
        more = f" and {len(self._left) - 5} others" if len(self._left) > 5 else ""
        left = counted(sum(self._left.values()), "value")
        return [f"left out {left} in other languages than {self.wanted!r} ({some}{more}): --language picks another"]


@dataclass(frozen=True, slots=True)
class RdfNodeMaker:
    """Makes nodes."""

    roles: Sequence[tuple[str, int]]
    """Role and rank of each predicate."""
    names: Sequence[str]
    """The name of each predicate as a property."""
    class_names: Mapping[int, str]
    languages: Languages

    def make(
        self, node_id: str, iri: str, literals: Iterable[Literal], classes: Sequence[int], *, otherwise: str
    ) -> NamedNode:
        """Make a node of the literals and the classes of a term; `otherwise` is its type where it has no class."""
        by_role: dict[str, list[Literal]] = {"name": [], "aliases": [], "text": [], "type": []}
        others: dict[int, list[Literal]] = {}
        for literal in literals:
            role = self.roles[literal.predicate][0]
            (by_role[role] if role in by_role else others.setdefault(literal.predicate, [])).append(literal)
        names, aliases, texts, types = (self._best(by_role[role]) for role in ("name", "aliases", "text", "type"))
        properties: dict[str, JsonValue] = {}
        for predicate, values in others.items():
            self._take(predicate, values, properties, texts)
        types += map(self.class_names.__getitem__, classes)
        if len(types) > 1:
            properties["types"] = list(dict.fromkeys(types))
        if iri != node_id and not iri.startswith(BASE):
            properties["iri"] = iri
        name = names[0] if names else _name_of(node_id, iri)
        further = tuple(text for text in dict.fromkeys((*names, *aliases)) if text != name)
        node = Node(node_id, types[0] if types else otherwise, name, _joined(texts), further, properties)
        return NamedNode(node, bool(names))

    def _best(self, values: list[Literal]) -> list[str]:
        """Return the texts of one role, those of the best known predicate first."""
        if not values:
            return []
        values.sort(key=lambda literal: self.roles[literal.predicate][1])
        return [literal.text for literal in self.languages.choose(values) if literal.text.strip()]

    def _take(
        self, predicate: int, values: Sequence[Literal], properties: dict[str, JsonValue], texts: list[str]
    ) -> None:
        """Take the values of any other predicate: prose as text, all else as a property."""
        property_values: list[JsonValue] = []
        for literal in self.languages.choose(values):
            if literal.is_text and is_prose(literal.text):
                texts.append(literal.text)
            elif (value := literal.value) is not None and value not in property_values:
                property_values.append(value)
        if property_values:
            properties[self.names[predicate]] = property_values[0] if len(property_values) == 1 else property_values


def _name_of(node_id: str, iri: str) -> str:
    """Return the name of a node without a literal for it: the last part of its IRI."""
    return node_id if iri.startswith(BLANK) else local_name(iri).replace("_", " ").strip() or node_id


def _joined(texts: Sequence[str]) -> str:
    """Join texts, each once; one that stands at the beginning of another goes with it (DBpedia's comment, abstract)."""
    different = list(dict.fromkeys(texts))
    return "\n".join(
        text for text in different if not any(other.startswith(text) and other != text for other in different)
    )
