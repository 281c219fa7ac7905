"""A line that a query was written as, read back: for whoever corrects how a question was read."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, NoReturn

from orienteer.errors import BadOption, nearest
from orienteer.graph.properties import number_of
from orienteer.graph.store import Graph
from orienteer.methods.anchor.reading.query import (
    Among,
    Best,
    Comparison,
    Condition,
    Either,
    Filled,
    Form,
    Joined,
    Measure,
    Nodes,
    Query,
    Valued,
    negated,
)

_TOKEN = re.compile(
    r"""\s*(?:(?P<text>"[^"]*")|(?P<arrow><-[^<>"]+?-(?=\s|$)|<-[^<>"]+?->|-[^<>"]+?->)|(?P<sign>!=|<=|>=|=|<|>)|(?P<mark>[()|])"""
    r"""|(?P<word>[^\s"()|<>=!]+))"""
)
_LONGEST = 4_000  # characters


class _Token(NamedTuple):
    kind: str
    text: str


def parse(line: str, graph: Graph) -> Query:
    """Return the query that a line says. Raises `BadOption` naming what cannot be read, and what may stand there."""
    return _Line(line, graph).query()


class _Line:
    """One line, read from left to right."""

    def __init__(self, line: str, graph: Graph) -> None:
        if len(line) > _LONGEST:
            raise BadOption(f"a reading of {len(line)} characters is too long: {_LONGEST:,} are allowed")
        self._text, self._graph = line, graph
        self._tokens = list(self._split(line))
        self._at = 0

    def _split(self, line: str) -> Iterator[_Token]:
        place = 0
        while place < len(line.rstrip()):
            match = _TOKEN.match(line, place)
            if match is None or match.end() == place:
                raise BadOption(f"the reading cannot be read at {line[place : place + 30]!r}")
            assert match.lastgroup is not None
            yield _Token(match.lastgroup, match[match.lastgroup])
            place = match.end()

    def _peek(self, ahead: int = 0) -> _Token:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else _Token("end", "")

    def _takes(self, *words: str) -> bool:
        """Step over these words if they stand here."""
        if [self._peek(ahead).text.casefold() for ahead in range(len(words))] != list(words):
            return False
        self._at += len(words)
        return True

    def _fail(self, wanted: str) -> NoReturn:
        here = self._peek().text or "its end"
        raise BadOption(f"the reading {self._text!r} cannot be read at {here!r}: {wanted}")

    def query(self) -> Query:
        """Return the whole line."""
        query = self._query()
        if self._at < len(self._tokens):
            self._fail("write `and` between conditions, and nothing behind the last")
        return query

    def _query(self) -> Query:
        if self._takes("whether", "any"):
            return Query("test", self._nodes())
        if self._takes("whether"):
            measure = self._measure()
            self._of()
            nodes = self._nodes()
            if not (self._takes("is", "more", "than", "of") or (is_less := self._takes("is", "less", "than", "of"))):
                self._fail("write `is more than of` or `is less than of`")
            is_less = self._tokens[self._at - 3].text.casefold() == "less"
            return Query("compare", nodes, measure, self._nodes(), not is_less)
        if self._takes("list"):
            return Query("list", self._nodes())
        if self._takes("count"):
            return Query("count", self._nodes())
        form: Form = "average" if self._takes("average") else "sum" if self._takes("sum") else "value"
        start = self._at
        is_property = self._property_here() is not None
        self._at = start
        if form != "value" or is_property:
            measure = self._measure()
            if self._takes("of"):
                return Query(form, self._nodes(), measure)
            if form != "value":
                self._of()
        self._at = start
        return Query("list", self._nodes())

    def _of(self) -> None:
        if not self._takes("of"):
            self._fail("write `of` and the nodes")

    def _property_here(self) -> str | None:
        return self._longest(self._graph.arrays.properties.names)

    def _longest(self, names: Sequence[str]) -> str | None:
        """Return the longest of some names that stands here, and step over it."""
        best: tuple[int, str] | None = None
        for name in names:
            words = name.casefold().split()
            ahead = [self._peek(at).text.casefold() for at in range(len(words))]
            if ahead == words and (best is None or len(words) > best[0]):
                best = (len(words), name)
        if best is None:
            return None
        self._at += best[0]
        return best[1]

    def _measure(self) -> Measure:
        if self._takes("number", "of"):
            kinds, target = self._relation()
            return Measure(kinds=kinds, target=target)
        name = self._property_here()
        if name is None:
            names = ", ".join(self._graph.arrays.properties.names) or "none"
            self._fail(f"a property stands here, or `number of -EDGE-> ...`; properties: {names}")
        return Measure(property=name)

    def _nodes(self) -> Nodes:
        best: Best | None = None
        if self._peek().text.casefold() in ("most", "least"):
            descending = self._peek().text.casefold() == "most"
            self._at += 1
            first = 1
            if self._peek().text.isdigit():
                first = int(self._peek().text)
                self._at += 1
            if first < 1 or not self._takes("by"):
                self._fail("write `most by FIELD of` or `most 3 by FIELD of`")
            best = Best(self._measure(), descending, first)
            self._of()
        types = self._types()
        conditions: list[Condition] = []
        if self._peek().kind == "text":
            conditions.append(Among(self._named(types)))
        if self._takes("that"):
            conditions.append(self._condition(types))
            while self._takes("and"):
                conditions.append(self._condition(types))
        if not types and not conditions and not self._is_anything:
            self._fail("a kind of nodes stands here, `anything`, or a name in quotation marks")
        return Nodes(types, tuple(conditions), best)

    def _types(self) -> frozenset[int]:
        self._is_anything = self._takes("anything")
        if self._is_anything:
            return frozenset()
        names = self._graph.arrays.types.nodes
        labels = {self._graph.schema.label(name): number for number, name in enumerate(names)}
        labels |= {str(name): number for number, name in enumerate(names)}
        numbers: set[int] = set()
        while True:
            label = self._longest(list(labels))
            if label is None:
                if numbers or self._peek().kind == "word":
                    near = nearest(self._peek().text, list(labels))
                    hint = f"near: {', '.join(near)}" if near else f"kinds: {', '.join(sorted(labels))}"
                    self._fail(f"no kind of nodes is called so; {hint}")
                return frozenset()
            numbers.add(labels[label])
            if not self._takes("|"):
                return frozenset(numbers)

    def _named(self, types: frozenset[int]) -> tuple[int, ...]:
        arrays = self._graph.arrays
        rows: list[int] = []
        while True:
            name = self._peek().text[1:-1]
            self._at += 1
            called = arrays.candidates(name)
            kept = [row for row in called if not types or int(arrays.node_types[row]) in types]
            if not kept:
                arrays.row(name)  # raises with near names where there is none
                raise BadOption(f"{name!r} is no node of that kind: it is a {arrays.type_at(called[0])}")
            rows += kept
            if self._peek().text.casefold() != "or" or self._peek(1).kind != "text":
                return tuple(dict.fromkeys(rows))
            self._at += 1

    def _condition(self, types: frozenset[int]) -> Condition:
        if self._takes("not"):
            return negated(self._condition(types))
        if self._takes("("):
            options: list[tuple[Condition, ...]] = []
            while True:
                option = [self._condition(types)]
                while self._takes("and"):
                    option.append(self._condition(types))
                options.append(tuple(option))
                if self._takes(")"):
                    return Either(tuple(options))
                if not self._takes("or"):
                    self._fail("write `or`, or close the bracket")
        if self._takes("is"):
            if self._peek().kind != "text":
                self._fail("a name in quotation marks stands behind `is`")
            return Among(self._named(frozenset()))
        if self._takes("number", "of"):
            kinds, target = self._relation(types)
            return Joined(kinds, target, comparison=self._sign(), number=self._number())
        if self._peek().kind == "arrow":
            kinds, target = self._relation(types)
            return Joined(kinds, target)
        has = self._takes("has")
        name = self._property_here()
        if name is None:
            self._fail('a condition stands here: `-EDGE-> ...`, `FIELD >= VALUE`, `has FIELD`, `is "NAME"`')
        if has:
            return Filled(name)
        sign = self._sign()
        if self._peek().kind == "text":
            value: str | float = self._peek().text[1:-1]
            self._at += 1
            if sign not in ("=", "!="):
                self._fail("texts are compared by = and != alone")
            return Valued(name, sign, value)
        return Valued(name, sign, self._number())

    def _sign(self) -> Comparison:
        if self._peek().kind != "sign":
            self._fail("write one of = != < <= > >=")
        self._at += 1
        return self._tokens[self._at - 1].text  # type: ignore[return-value]  # the pattern has these alone

    def _number(self) -> float:
        number = number_of(self._peek().text)
        if math.isnan(number):
            self._fail("a number or a date stands here; a text stands in quotation marks")
        self._at += 1
        return number

    def _relation(self, types: frozenset[int] = frozenset()) -> tuple[tuple[int, ...], Nodes]:
        token = self._peek()
        if token.kind != "arrow":
            self._fail("an edge stands here: -EDGE-> or <-EDGE-")
        self._at += 1
        if self._takes("("):
            target = self._nodes()
            if not self._takes(")"):
                self._fail("close the bracket")
        else:
            target = self._plain_nodes()
        names = token.text.strip("<->").split("|")
        kinds: set[int] = set()
        for name in names:
            for edge in self._edges(name):
                if token.text.startswith("<-"):
                    kinds.add(edge * 2 + 1)
                if token.text.endswith("->"):
                    kinds.add(edge * 2)
        fitting = self._fitting(kinds, types, target)
        if not fitting:
            self._fail(f"no edge {token.text} joins these kinds of nodes")
        return tuple(sorted(fitting)), target

    def _plain_nodes(self) -> Nodes:
        types = self._types()
        if self._peek().kind == "text":
            return Nodes(types, (Among(self._named(types)),))
        if not types and not self._is_anything:
            self._fail("a kind of nodes stands here, a name in quotation marks, or a set in brackets")
        return Nodes(types)

    def _edges(self, name: str) -> list[int]:
        edges = self._graph.arrays.types.edges
        folded = name.strip().casefold()
        numbers = [
            number
            for number, edge in enumerate(edges)
            if folded in (str(edge).casefold(), self._graph.schema.label(edge).casefold())
        ]
        if not numbers:
            labels = sorted({self._graph.schema.label(edge) for edge in edges})
            near = nearest(name, labels)
            hint = f"near: {', '.join(near)}" if near else f"edges: {', '.join(labels)}"
            self._fail(f"no edge is called {name!r}; {hint}")
        return numbers

    def _fitting(self, kinds: set[int], types: frozenset[int], target: Nodes) -> set[int]:
        """Return the kinds that may lead from nodes of these types to a set: one label may be of several edge types."""
        arrays, numbers = self._graph.arrays, {name: at for at, name in enumerate(self._graph.arrays.types.nodes)}
        rows = target.named
        ends = target.types or frozenset(int(arrays.node_types[row]) for row in rows)
        fitting: set[int] = set()
        for triple in self._graph.schema.edges:
            edge = arrays.types.edges.index(triple.type)
            for kind, near, far in (
                (edge * 2, triple.source, triple.target),
                (edge * 2 + 1, triple.target, triple.source),
            ):
                if kind in kinds and (not types or numbers[near] in types) and (not ends or numbers[far] in ends):
                    fitting.add(kind)
        return fitting
