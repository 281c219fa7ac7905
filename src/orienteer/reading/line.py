"""A line that a query was written as, read back: for whoever corrects how a question was read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from orienteer.errors import BadOption, nearest
from orienteer.graph.properties import number_of
from orienteer.graph.store import Graph
from orienteer.reading.query import (
    Among,
    Best,
    Comparison,
    Condition,
    Either,
    ExactQuery,
    Extent,
    Filled,
    Form,
    Joined,
    Measure,
    NodeSet,
    Valued,
    negated,
)
from orienteer.reading.tokens import Tokens

_SIGNS: Mapping[str, Comparison] = {"=": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_EXTENTS: Mapping[str, Extent] = {"every": "every", "only": "only"}


def parse(line: str, graph: Graph) -> ExactQuery:
    """Return the query that a line says. Raises `BadOption` naming what cannot be read, and what may stand there."""
    return _ReadingLine(line, graph).query()


class _ReadingLine:
    """One line, read from left to right."""

    def __init__(self, line: str, graph: Graph) -> None:
        self._tokens, self._graph = Tokens(line), graph
        self._is_claim = False
        """Whether it is asked if there are such nodes at all: a name may be of none of that kind."""

    def query(self) -> ExactQuery:
        """Return the whole line."""
        query = self._query()
        if self._tokens.peek().kind != "end":
            self._tokens.fail("write `and` between conditions, and nothing behind the last")
        return query

    def _query(self) -> ExactQuery:
        if self._tokens.takes("whether", "any"):
            self._is_claim = True
            return ExactQuery("test", self._nodes())
        if self._tokens.takes("whether", "every"):
            return self._every()
        if self._tokens.takes("whether"):
            return self._comparison()
        if self._tokens.takes("path", "from"):
            nodes = self._nodes()
            if not self._tokens.takes("to"):
                self._tokens.fail("write `to` and where the path leads")
            return ExactQuery("path", nodes, other=self._nodes())
        if self._tokens.takes("list"):
            return self._list()
        if self._tokens.takes("count"):
            return self._per(ExactQuery("count", self._nodes()))
        if self._tokens.takes("average"):
            return self._total("average")
        if self._tokens.takes("sum"):
            return self._total("sum")
        return self._value() or ExactQuery("list", self._nodes())

    def _list(self) -> ExactQuery:
        """Return the query of `[list] tower`, `[list] 3 of tower`."""
        if not self._tokens.peek().text.isdecimal():
            return ExactQuery("list", self._nodes())
        number = int(self._tokens.take().text)
        self._of()
        return ExactQuery("list", self._nodes(), first=number)

    def _comparison(self) -> ExactQuery:
        """Return the query of `whether height of "X" is more than of "Y"`."""
        measure = self._measure()
        self._of()
        nodes = self._nodes()
        is_more = self._tokens.takes("is", "more", "than", "of")
        if not is_more and not self._tokens.takes("is", "less", "than", "of"):
            self._tokens.fail("write `is more than of` or `is less than of`")
        return ExactQuery("compare", nodes, measure, self._nodes(), is_more)

    def _every(self) -> ExactQuery:
        """Return the query of `whether every hall that -in-> "X" meets material = "stone"`."""
        nodes = self._nodes()
        if not self._tokens.takes("meets"):
            self._tokens.fail("write `meets` and the conditions that all of them are to meet")
        return ExactQuery("every", nodes, other=nodes.that(*self._all(nodes.types)))

    def _total(self, form: Form) -> ExactQuery:
        """Return the query of `average height of tower`."""
        measure = self._measure()
        self._of()
        return self._per(ExactQuery(form, self._nodes(), measure))

    def _per(self, query: ExactQuery) -> ExactQuery:
        """Return a number with what it is told for each of: `per country`, `per -brewed_by-> brewery`."""
        if not self._tokens.takes("per"):
            return query
        if self._tokens.peek().kind == "arrow":
            kinds, target = self._relation(query.nodes.types)
            return replace(query, group=Measure(kinds=kinds, target=target))
        name = self._property_here()
        if name is None:
            self._tokens.fail("a property or an edge stands behind `per`")
        return replace(query, group=Measure(property=name))

    def _value(self) -> ExactQuery | None:
        """Return the query of `height of "X"`; None, with nothing taken, where no property stands here."""
        start = self._tokens.place
        name = self._property_here()
        if name is not None and self._tokens.takes("of"):
            return ExactQuery("value", self._nodes(), Measure(property=name))
        self._tokens.place = start
        return None

    def _of(self) -> None:
        if not self._tokens.takes("of"):
            self._tokens.fail("write `of` and the nodes")

    def _property_here(self) -> str | None:
        return self._tokens.takes_longest(self._graph.arrays.properties.names)

    def _measure(self) -> Measure:
        if self._tokens.takes("number", "of"):
            kinds, target = self._relation()
            return Measure(kinds=kinds, target=target)
        name = self._property_here()
        if name is None:
            names = ", ".join(self._graph.arrays.properties.names) or "none"
            self._tokens.fail(f"a property stands here, or `number of -EDGE-> ...`; properties: {names}")
        return Measure(property=name)

    def _nodes(self) -> NodeSet:
        best = self._best()
        kinds = self._kinds()
        types = kinds or frozenset()
        conditions: list[Condition] = []
        if self._tokens.peek().kind == "text":
            conditions.append(Among(self._named(types)))
        if self._tokens.takes("that"):
            conditions += self._all(types)
        if kinds is None and not conditions:
            self._tokens.fail("a kind of nodes stands here, `anything`, or a name in quotation marks")
        return NodeSet(types, tuple(conditions), best)

    def _best(self) -> Best | None:
        """Return the superlative of `most by height of`, `least 3 by height of`; None where there is none."""
        descending = self._tokens.takes("most")
        if not descending and not self._tokens.takes("least"):
            return None
        is_place = self._tokens.takes("place")
        number = int(self._tokens.take().text) if self._tokens.peek().text.isdecimal() else 1
        if number < 1 or not self._tokens.takes("by"):
            self._tokens.fail("write `most by FIELD of`, `most 3 by FIELD of` or `most place 3 by FIELD of`")
        measure = self._measure()
        self._of()
        return Best(measure, descending, skipped=number - 1) if is_place else Best(measure, descending, number)

    def _kinds(self) -> frozenset[int] | None:
        """Return the types that are named here, none for `anything`; None where neither stands here."""
        if self._tokens.takes("anything"):
            return frozenset()
        names = self._graph.arrays.types.nodes
        labels = {self._graph.schema.label(name): number for number, name in enumerate(names)}
        labels |= {str(name): number for number, name in enumerate(names)}
        numbers: set[int] = set()
        while True:
            label = self._tokens.takes_longest(list(labels))
            if label is None:
                if numbers or self._tokens.peek().kind == "word":
                    near = nearest(self._tokens.peek().text, list(labels))
                    hint = f"near: {', '.join(near)}" if near else f"kinds: {', '.join(sorted(labels))}"
                    self._tokens.fail(f"no kind of nodes is called so; {hint}")
                return None
            numbers.add(labels[label])
            if not self._tokens.takes("|"):
                return frozenset(numbers)

    def _named(self, types: frozenset[int]) -> tuple[int, ...]:
        arrays = self._graph.arrays
        rows: list[int] = []
        while True:
            name = self._tokens.peek().text[1:-1]
            self._tokens.take()
            called = arrays.candidates(name)
            kept = [row for row in called if not types or int(arrays.node_types[row]) in types]
            if not kept:
                arrays.row(name)  # raises with near names where there is none
            if not kept and not self._is_claim:
                raise BadOption(f"{name!r} is no node of that kind: it is a {arrays.type_at(called[0])}")
            rows += kept or called
            if self._tokens.peek().text.casefold() != "or" or self._tokens.peek(1).kind != "text":
                return tuple(dict.fromkeys(rows))
            self._tokens.take()

    def _condition(self, types: frozenset[int]) -> Condition:
        if self._tokens.takes("not"):
            return negated(self._condition(types))
        if self._tokens.takes("("):
            return self._either(types)
        if self._tokens.takes("is"):
            if self._tokens.peek().kind != "text":
                self._tokens.fail("a name in quotation marks stands behind `is`")
            return Among(self._named(frozenset()))
        if self._tokens.takes("number", "of"):
            kinds, target = self._relation(types)
            return Joined(kinds, target, comparison=self._sign(), number=self._number())
        if self._tokens.peek().kind == "arrow":
            extent = _EXTENTS.get(self._tokens.peek(1).text.casefold(), "some")
            kinds, target = self._relation(types, extent)
            return Joined(kinds, target, extent=extent)
        return self._of_property()

    def _either(self, types: frozenset[int]) -> Either:
        """Return what stands in brackets: conditions with `or`, and with `and` between them."""
        options: list[tuple[Condition, ...]] = []
        while True:
            options.append(self._all(types))
            if self._tokens.takes(")"):
                return Either(tuple(options))
            if not self._tokens.takes("or"):
                self._tokens.fail("write `or`, or close the bracket")

    def _all(self, types: frozenset[int]) -> tuple[Condition, ...]:
        """Return conditions with `and` between them."""
        conditions = [self._condition(types)]
        while self._tokens.takes("and"):
            conditions.append(self._condition(types))
        return tuple(conditions)

    def _of_property(self) -> Valued | Filled:
        """Return `height >= 50`, `country = "Belgium"`, `has height`."""
        has = self._tokens.takes("has")
        name = self._property_here()
        if name is None:
            self._tokens.fail('a condition stands here: `-EDGE-> ...`, `FIELD >= VALUE`, `has FIELD`, `is "NAME"`')
        if has:
            return Filled(name)
        sign = self._sign()
        if self._tokens.peek().kind != "text":
            return Valued(name, sign, self._number())
        value = self._tokens.take().text[1:-1]
        if sign not in ("=", "!="):
            self._tokens.fail("texts are compared by = and != alone")
        return Valued(name, sign, value)

    def _sign(self) -> Comparison:
        sign = _SIGNS.get(self._tokens.peek().text)
        if sign is None:
            self._tokens.fail("write one of = != < <= > >=")
        self._tokens.take()
        return sign

    def _number(self) -> float:
        number = number_of(self._tokens.peek().text)
        if math.isnan(number):
            self._tokens.fail("a number or a date stands here; a text stands in quotation marks")
        self._tokens.take()
        return number

    def _relation(self, types: frozenset[int] = frozenset(), extent: str = "some") -> tuple[tuple[int, ...], NodeSet]:
        token = self._tokens.peek()
        if token.kind != "arrow":
            self._tokens.fail("an edge stands here: -EDGE-> or <-EDGE-")
        self._tokens.take()
        if extent != "some":
            self._tokens.takes(extent)
        if self._tokens.takes("("):
            target = self._nodes()
            if not self._tokens.takes(")"):
                self._tokens.fail("close the bracket")
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
            self._tokens.fail(f"no edge {token.text} joins these kinds of nodes")
        return tuple(sorted(fitting)), target

    def _plain_nodes(self) -> NodeSet:
        kinds = self._kinds()
        types = kinds or frozenset()
        if self._tokens.peek().kind == "text":
            return NodeSet(types, (Among(self._named(types)),))
        if kinds is None:
            self._tokens.fail("a kind of nodes stands here, a name in quotation marks, or a set in brackets")
        return NodeSet(types)

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
            self._tokens.fail(f"no edge is called {name!r}; {hint}")
        return numbers

    def _fitting(self, kinds: set[int], types: frozenset[int], target: NodeSet) -> set[int]:
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
