"""What is said of a term -> a node: its type, name, aliases, text and properties."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from orienteer.ingest.formats.rdf.parser import BASE
from orienteer.ingest.formats.rdf.shapes import Shapes
from orienteer.ingest.formats.rdf.triples import BLANK, Numbers
from orienteer.ingest.formats.rdf.values import Languages, Literal, is_prose
from orienteer.ingest.formats.rdf.vocabulary import EMPTY, RDFS, SCHEMATIC, local_name
from orienteer.records import JsonValue, Node


class MadeNode(NamedTuple):
    """A node, and whether it was named by what is said of it or only after its IRI."""

    node: Node
    is_named: bool


class Classes:
    """The classes of each node, the most telling first."""

    def __init__(self, shapes: Shapes, iris: Sequence[str], type_ranks: Mapping[int, int]) -> None:
        """Read the edges whose predicate is a type; `type_ranks` says which are, and which of them is better."""
        self._iris = iris
        rows = np.flatnonzero(np.isin(shapes.predicate, list(type_ranks)) & shapes.keep)
        self.rows = rows
        ranks = np.zeros(max(type_ranks, default=0) + 1, np.int32)
        ranks[list(type_ranks)] = list(type_ranks.values())
        order = np.lexsort((rows, ranks[shapes.predicate[rows]], shapes.source[rows]))
        self._source, self._class = shapes.source[rows[order]], shapes.target[rows[order]]
        above = shapes.rows(f"{RDFS}subClassOf")
        above = above[np.argsort(shapes.source[above], kind="stable")]
        self._below, self._above = shapes.source[above], shapes.target[above]
        self._known: dict[tuple[int, ...], tuple[int, ...]] = {}

    def of(self, numbers: Numbers) -> Iterator[tuple[int, ...]]:
        """Return the classes of each of these terms."""
        starts, ends = (np.searchsorted(self._source, numbers, side).tolist() for side in ("left", "right"))
        for start, end in zip(starts, ends, strict=True):
            yield self._ordered(tuple(self._class[start:end].tolist())) if start < end else ()

    def _ordered(self, classes: tuple[int, ...]) -> tuple[int, ...]:
        """Put the classes that say most first, and leave out blank ones and those that say nothing."""
        known = self._known.get(classes)
        if known is None:
            told = [one for one in dict.fromkeys(classes) if not self._iris[one].startswith(BLANK)]
            above = {upper for one in told for upper in self._ancestors(one)} if len(told) > 1 else set[int]()
            ranked = sorted(told, key=lambda one: (_emptiness(self._iris[one]), one in above))
            known = tuple(one for one in ranked if self._iris[one] not in EMPTY) or tuple(ranked[:1])
            self._known[classes] = known
        return known

    def _ancestors(self, one: int) -> set[int]:
        """Return the classes above a class, but for those that are below it too."""
        found, waiting = set[int](), [one]
        while waiting:
            here = waiting.pop()
            low, high = (int(np.searchsorted(self._below, here, side)) for side in ("left", "right"))
            new = set(self._above[low:high].tolist()) - found
            found |= new
            waiting += new
        return set() if one in found else found


def _emptiness(iri: str) -> int:
    return 2 if iri in EMPTY else int(iri.startswith(SCHEMATIC))


class NodeMaker:
    """Makes nodes."""

    def __init__(
        self,
        roles: Sequence[tuple[str, int]],
        names: Mapping[int, str],
        *,
        languages: Languages,
        class_name: Callable[[int], str],
    ) -> None:
        """Take the role and the rank of each predicate, and its name as a property where it becomes one."""
        self._roles, self._names = roles, names
        self._languages, self._class_name = languages, class_name

    def make(
        self, node_id: str, iri: str, literals: Iterable[Literal], classes: Sequence[int], *, otherwise: str
    ) -> MadeNode:
        """Make a node of the literals and the classes of a term; `otherwise` is its type where it has no class."""
        said: dict[str, list[Literal]] = {"name": [], "aliases": [], "text": [], "type": []}
        others: dict[int, list[Literal]] = {}
        for literal in literals:
            role = self._roles[literal.predicate][0]
            (said[role] if role in said else others.setdefault(literal.predicate, [])).append(literal)
        names, aliases, texts, types = (self._best(said[role]) for role in ("name", "aliases", "text", "type"))
        properties: dict[str, JsonValue] = {}
        for predicate, values in others.items():
            self._take(predicate, values, properties, texts)
        types += map(self._class_name, classes)
        if len(types) > 1:
            properties["types"] = list(dict.fromkeys(types))
        if iri != node_id and not iri.startswith(BASE):
            properties["iri"] = iri
        name = names[0] if names else _name_of(node_id, iri)
        further = tuple(one for one in dict.fromkeys((*names, *aliases)) if one != name)
        node = Node(node_id, types[0] if types else otherwise, name, _joined(texts), further, properties)
        return MadeNode(node, bool(names))

    def _best(self, values: list[Literal]) -> list[str]:
        """Return the texts of what is said in one role, of the best known predicate first."""
        if not values:
            return []
        values.sort(key=lambda one: self._roles[one.predicate][1])
        return [one.text for one in self._languages.choose(values) if one.text.strip()]

    def _take(
        self, predicate: int, values: Sequence[Literal], properties: dict[str, JsonValue], texts: list[str]
    ) -> None:
        """Take the values of any other predicate: prose as text, all else as a property."""
        kept: list[JsonValue] = []
        for one in self._languages.choose(values):
            if one.is_text and is_prose(one.text):
                texts.append(one.text)
            elif (value := one.value) is not None and value not in kept:
                kept.append(value)
        if kept:
            properties[self._names[predicate]] = kept[0] if len(kept) == 1 else kept


def _name_of(node_id: str, iri: str) -> str:
    """Return the name of a node that nothing names: the last part of its IRI."""
    return node_id if iri.startswith(BLANK) else local_name(iri).replace("_", " ").strip() or node_id


def _joined(texts: Sequence[str]) -> str:
    """Join texts, each once; one that stands at the beginning of another goes with it (DBpedia's comment, abstract)."""
    different = list(dict.fromkeys(texts))
    return "\n".join(one for one in different if not any(other.startswith(one) and other != one for other in different))
