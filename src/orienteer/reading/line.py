"""A query as a line that a person may write or correct, in words, and in Cypher; and a line read back."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal, NamedTuple, NoReturn, cast

from orienteer.errors import BadOption, UnknownNode, nearest
from orienteer.graph.properties import number_of
from orienteer.graph.store import Graph
from orienteer.query.store import Store
from orienteer.reading.query import (
    MOST_ENDS,
    NAME,
    PERIODS,
    TEXT,
    Among,
    Best,
    Between,
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
    Told,
    Valued,
    is_of_texts,
    linking_kinds,
    negated,
    span_of,
)
from orienteer.reading.wording import CLAIMS, QueryWording, in_line
from orienteer.text.sentences import one_line

# =============================================================================================================== tokens
# A line of a query as tokens, which are taken from left to right.

# Quotation marks and backticks are doubled within what they enclose.
_EDGES = r"""(?:[^<>"`]|`[^`]*`)+?"""
_TOKEN = re.compile(
    rf"""\s*(?:(?P<text>(?:"[^"]*")+)|(?P<name>(?:`[^`]*`)+)"""
    rf"""|(?P<arrow>--(?=\s|$)|<-{_EDGES}-(?=\s|$)|<-{_EDGES}->|-{_EDGES}->"""
    r"""|<?-(?:[^<>"`[]|`[^`]*`)+\[(?:[^]"`]|"[^"]*"|`[^`]*`)*\]->?(?=\s|$))"""
    r"""|(?P<sign>!=|<=|>=|=|<|>)|(?P<mark>[()|])|(?P<word>[^\s"()|<>=!`]+))"""
)
_ARROW = re.compile(
    r"((?:[^`[]|`[^`]*`)*?)(\*?)\s*(?:\[(.*)\])?", re.DOTALL
)  # edges, of any depth, and their conditions
_LABEL = re.compile(r"(?:[^|`]|`[^`]*`)+")
_WORDS = re.compile(r"[()]|[^\s()]+")  # of a name that stands in a line as it is
_LONGEST = 4_000  # characters
_LONGEST_SHOWN = 300  # characters of a reading that a refusal repeats
_MOST_NESTED = 50  # brackets and denials, which may stand within one another


class Token(NamedTuple):
    """A token: `text` in quotation marks, `name` in backticks, `arrow`, `sign`, `mark`, `word`, or `end`."""

    kind: str
    text: str

    @property
    def enclosed(self) -> str:
        """What stands within quotation marks or backticks."""
        return _without(self.text)


class Tokens:
    """The tokens of one line, and the place up to which they were taken."""

    def __init__(self, line: str) -> None:
        """Split a line. Raises `BadOption` where it is too long or too deep, or something in it is no token."""
        if len(line) > _LONGEST:
            raise BadOption(f"a reading of {len(line)} characters is too long: {_LONGEST:,} are allowed")
        self._line = line
        self._tokens = list(_split(line))
        nested = sum(token.text.casefold() in ("(", "not") for token in self._tokens)
        if nested > _MOST_NESTED:
            raise BadOption(f"a reading with {nested:,} brackets and denials is too deep: {_MOST_NESTED} are allowed")
        self.place = 0

    def peek(self, ahead: int = 0) -> Token:
        """Return a token without taking it."""
        at = self.place + ahead
        return self._tokens[at] if at < len(self._tokens) else Token("end", "")

    def take(self) -> Token:
        """Take a token."""
        token = self.peek()
        self.place += 1
        return token

    def takes(self, *words: str) -> bool:
        """Take these words if they stand here."""
        if [self.peek(ahead).text.casefold() for ahead in range(len(words))] != list(words):
            return False
        self.place += len(words)
        return True

    def needs(self, word: str, wanted: str) -> None:
        """Take a word. Raises `BadOption`, which says what is wanted, where another stands."""
        if not self.takes(word):
            self.fail(wanted)

    def is_before_arrow(self, word: str) -> bool:
        """Return whether such a word stands before an arrow from here on."""
        pairs = pairwise(self._tokens[self.place :])
        return any(one.text.casefold() == word and other.kind == "arrow" for one, other in pairs)

    def has(self, word: str) -> bool:
        """Return whether a word stands anywhere in the line, outside quotation marks."""
        return any(token.kind == "word" and token.text.casefold() == word for token in self._tokens)

    def takes_longest(self, names: Iterable[str]) -> str | None:
        """Take the longest of some names that stands here, and return it; None where none does."""
        longest, length, here = None, 0, self.peek()
        if here.kind == "name":
            longest = next((name for name in names if name.casefold() == here.enclosed.casefold()), None)
            length = longest is not None
        elif here.kind in ("word", "mark"):
            for name in names:
                words = _WORDS.findall(name.casefold())
                if len(words) > length and [self.peek(at).text.casefold() for at in range(len(words))] == words:
                    longest, length = name, len(words)
        self.place += length
        return longest

    def fail(self, wanted: str, *, value: str | None = None, near: Sequence[str] = ()) -> NoReturn:
        """Raise `BadOption` naming the token that stands here, and what may; `value` is the word with near names."""
        here = one_line(self.peek().text, _LONGEST_SHOWN) or "its end"
        line = one_line(self._line, _LONGEST_SHOWN)
        error = BadOption(f"the reading {line!r} cannot be read at {here!r}: {wanted}", value=value)
        error.near = tuple(near)
        raise error


def _split(line: str) -> Iterator[Token]:
    place = 0
    while place < len(line.rstrip()):
        match = _TOKEN.match(line, place)
        if match is None or match.end() == place:
            raise BadOption(f"the reading cannot be read at {line[place : place + 30]!r}")
        assert match.lastgroup is not None
        yield Token(match.lastgroup, match[match.lastgroup])
        place = match.end()


def _without(text: str) -> str:
    """Return what quotation marks or backticks enclose, and what has neither as it is."""
    sign = text[0]
    return text[1:-1].replace(sign * 2, sign) if sign in '"`' else text


# ================================================================================================================= line
# A line that a query was written as, read back: for whoever corrects how a question was read.

SIGNS: Mapping[str, Comparison] = {"=": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
TOTALS: tuple[Form, ...] = ("average", "median", "sum")
TOLD = ("average", "median")
_PERIOD = re.compile(r"(\d{4})(?:-(\d\d))?", re.ASCII)
_OF = "write `of` and the nodes"
EXTENTS: Mapping[str, Extent] = {"every": "every", "only": "only"}


def _measure_of(joined: Joined) -> Measure:
    return Measure(kinds=joined.kinds, target=joined.target, where=joined.where)


def parse(line: str, graph: Graph) -> ExactQuery:
    """Return the query that a line says. Raises `BadOption` naming what cannot be read, and what may stand there."""
    return _ReadingLine(line, graph).query()


def tried(line: str, graph: Graph) -> ExactQuery | str:
    """Return the query that a line says, or why it says none."""
    try:
        return parse(line, graph)
    except (BadOption, UnknownNode) as error:
        return str(error)


def _arrow(token: Token) -> tuple[list[str], bool, str]:
    """Return the labels of an arrow's edges, whether they are of any depth, and what is said of them in brackets."""
    match = _ARROW.fullmatch(token.text.strip("<->").strip())
    assert match is not None
    return [_without(label.strip()) for label in _LABEL.findall(match[1])], match[2] == "*", match[3] or ""


class _ReadingLine:
    """One line, read from left to right."""

    def __init__(self, line: str, graph: Graph) -> None:
        self._tokens, self._graph = Tokens(line), graph
        self._is_claim = False
        """Whether it is asked if there are such nodes at all: a name may be of none of that kind."""

    def query(self) -> ExactQuery:
        """Return the whole line."""
        query = self._leading() or self._query()
        if self._tokens.peek().kind != "end":
            self._tokens.fail("write `and` between conditions, and nothing behind the last")
        return query

    def _query(self) -> ExactQuery:
        if self._tokens.takes("whether", "any"):
            self._is_claim = True
            return ExactQuery("test", self._nodes())
        for form, words in CLAIMS.items():
            if self._tokens.has("meets") and self._tokens.takes(*words.split()):
                return self._claimed(form)
        if self._tokens.takes("whether"):
            return self._comparison()
        if self._tokens.takes("path", "from"):
            return self._path()
        if self._tokens.takes("list"):
            return self._list()
        if self._tokens.takes("count"):
            return self._per(ExactQuery("count", self._nodes()))
        for total in TOTALS:
            if self._tokens.takes(total):
                return self._total(total)
        return self._value() or ExactQuery("list", self._nodes())

    def _leading(self) -> ExactQuery | None:
        """Return the query of `most 3 by count hall per village`; None, with nothing taken, for any other."""
        start, descending = self._tokens.place, self._tokens.takes("most")
        if descending or self._tokens.takes("least"):
            first = int(self._tokens.take().text) if self._tokens.peek().text.isdecimal() else 1
            if self._tokens.takes("by") and self._tokens.peek().text.casefold() in ("count", *TOTALS):
                query = self._query()
                if query.group is None or first < 1:
                    self._tokens.fail("write `per` and what the groups are told by: most by count KIND per FIELD")
                return replace(query, descending=descending, first=first)
        self._tokens.place = start
        return None

    def _path(self) -> ExactQuery:
        """Return the query of `path from "X" to "Y"`."""
        nodes = self._nodes()
        self._tokens.needs("to", "write `to` and where the path leads")
        return ExactQuery("path", nodes, other=self._nodes())

    def _list(self) -> ExactQuery:
        """Return the query of `[list] tower`, `[list] 3 of tower`."""
        if not self._tokens.peek().text.isdecimal():
            return ExactQuery("list", self._nodes())
        number = int(self._tokens.take().text)
        if number < 1:
            self._tokens.fail("write `list 3 of`, or `list`")
        self._tokens.needs("of", _OF)
        return ExactQuery("list", self._nodes(), first=number)

    def _comparison(self) -> ExactQuery:
        """Return the query of `whether height of "X" is more than of "Y"`."""
        measure = self._measure()
        self._tokens.needs("of", _OF)
        nodes = self._nodes()
        is_more = self._tokens.takes("is", "more", "than", "of")
        if not is_more and not self._tokens.takes("is", "less", "than", "of"):
            self._tokens.fail("write `is more than of` or `is less than of`")
        return ExactQuery("compare", nodes, measure, self._nodes(), is_more)

    def _claimed(self, form: Form) -> ExactQuery:
        """Return the query of `whether every hall that -in-> "X" meets material = "stone"`."""
        nodes = self._nodes()
        self._tokens.needs("meets", "`meets` and the conditions that they are to meet stand behind the nodes")
        return ExactQuery(form, nodes, other=nodes.that(*self._all(nodes.types)))

    def _total(self, form: Form) -> ExactQuery:
        """Return the query of `average height of tower`."""
        measure = self._measure()
        self._tokens.needs("of", _OF)
        return self._per(ExactQuery(form, self._nodes(), measure))

    def _per(self, query: ExactQuery) -> ExactQuery:
        """Return a number with what it is told for each of: `per country`, `per -brewed_by-> brewery`."""
        if not self._tokens.takes("per"):
            return query
        if self._tokens.peek().kind == "arrow":
            return replace(query, group=_measure_of(self._one_step(query.nodes.types)))
        if self._tokens.takes("itself"):
            return replace(query, group=Measure())
        start, period, name = self._tokens.place, "", self._property_here()
        if name is None or self._tokens.peek().text.casefold() == "of":  # `month` of `per month of placed`
            self._tokens.place = start
            period = next((one for one in PERIODS if self._tokens.takes(one, "of")), "")
            name = self._property_here()
        if name is None:
            self._tokens.fail("a property, an edge or `itself` stands behind `per`; of a date also `month of FIELD`")
        return replace(query, group=Measure(property=name, period=period))

    def _value(self) -> ExactQuery | None:
        """Return the query of `height of "X"`; None, with nothing taken, where no property stands here."""
        start = self._tokens.place
        measure = self._of_edges() or Measure(property=self._property_here())
        if measure.property is not None and self._tokens.takes("of"):
            return ExactQuery("value", self._nodes(), measure)
        self._tokens.place = start
        return None

    def _of_edges(self) -> Measure | None:
        """Return `since of -member_of-> club`; None, with nothing taken, where no property of edges stands here."""
        start = self._tokens.place
        if not self._tokens.is_before_arrow("of"):
            return None  # what edges have is read of all of them
        name = self._tokens.takes_longest(self._edge_properties)
        if name is not None and self._tokens.takes("of") and self._tokens.peek().kind == "arrow":
            return replace(_measure_of(self._one_step()), property=name)
        self._tokens.place = start
        return None

    @property
    def _edge_properties(self) -> Collection[str]:
        return Store.of(self._graph).edge_properties

    def _property_here(self) -> str | None:
        return self._tokens.takes_longest(self._graph.arrays.properties.names)

    def _measure(self) -> Measure:
        if self._tokens.takes("number", "of"):
            are_edges = self._tokens.takes("edges")
            return replace(_measure_of(self._one_step()), are_edges=are_edges)
        measure = self._of_edges() or Measure(property=self._property_here())
        if measure.property is None:
            names = ", ".join(map(in_line, self._graph.arrays.properties.names)) or "none"
            self._tokens.fail(f"a property stands here, or `number of -EDGE-> ...`; properties: {names}")
        return measure

    def _nodes(self) -> NodeSet:
        best = self._best()
        kinds = self._kinds()
        types = kinds or frozenset()
        conditions: list[Condition] = []
        if self._tokens.peek().kind == "text":
            conditions.append(Among(self._named(types)))
        if self._tokens.takes("that"):
            conditions += self._all(types or self._types_of(conditions))
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
        self._tokens.needs("of", _OF)
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
                    value = self._tokens.peek().text
                    self._tokens.fail(f"no kind of nodes is called so; {hint}", value=value, near=near)
                return None
            numbers.add(labels[label])
            if not self._tokens.takes("|"):
                return frozenset(numbers)

    def _named(self, types: frozenset[int]) -> tuple[int, ...]:
        arrays = self._graph.arrays
        rows: list[int] = []
        while True:
            name = self._tokens.take().enclosed
            called, own = arrays.candidates(name), types
            if self._tokens.takes("("):
                own = self._kinds() or types
                self._tokens.needs(")", "`)` stands behind the kind of a name")
            kept = [row for row in called if not own or int(arrays.node_types[row]) in own]
            if not called:
                arrays.row(name)  # raises with near names
            if not kept and not self._is_claim:
                raise BadOption(f"{name!r} is no node of that kind: it is a {arrays.type_at(called[0])}")
            rows += kept or called
            if self._tokens.peek().text.casefold() != "or" or self._tokens.peek(1).kind != "text":
                return tuple(dict.fromkeys(rows))
            self._tokens.take()

    def _types_of(self, conditions: Iterable[Condition]) -> frozenset[int]:
        """Return the types of named nodes; none where nothing is named."""
        node_types = self._graph.arrays.node_types
        return frozenset(int(node_types[row]) for one in conditions if isinstance(one, Among) for row in one.rows)

    def _condition(self, types: frozenset[int]) -> Condition:
        if self._tokens.takes("not"):
            return negated(self._condition(types))
        if self._tokens.takes("("):
            return self._either(types)
        if self._tokens.takes("is"):
            if self._tokens.takes("between"):
                return self._between()
            if self._tokens.peek().kind != "text":
                self._tokens.fail("a name in quotation marks stands behind `is`")
            return Among(self._named(frozenset()))
        if self._tokens.takes("number", "of"):
            are_edges = self._tokens.takes("edges")
            joined = self._one_step(types)
            return replace(joined, comparison=self._sign(), number=self._number(), are_edges=are_edges)
        if self._tokens.peek().text.casefold() == "both" and self._tokens.peek(1).kind == "arrow":
            return self._twice(types)
        if self._tokens.peek().kind == "arrow":
            extent = EXTENTS.get(self._tokens.peek(1).text.casefold(), "some")
            return self._relation(types, extent)
        return self._of_property(types)

    def _twice(self, types: frozenset[int]) -> Joined:
        """Return the condition of `both -wrote-> and -directed-> film`: two edges to one node, or more."""
        self._tokens.take()
        arrows = list[Token]()
        while not arrows or self._tokens.peek(1).text.casefold() == "and":
            arrows.append(self._tokens.take())
            self._tokens.needs("and", "`and` with the other edge stands behind one: both -EDGE-> and -EDGE-> NODES")
        joined = self._one_step(types)
        if any(one.text == "--" or any(_arrow(one)[1:]) for one in arrows):
            self._tokens.fail("of all edges but the last only their types can be said")
        return replace(joined, also=tuple(self._walked(arrow, types, joined.target) for arrow in arrows))

    def _walked(self, arrow: Token, types: frozenset[int], target: NodeSet) -> tuple[int, ...]:
        """Return the kinds of an arrow's edges that may lead from nodes of types to a set; a label is of several."""
        edges = {edge for name in _arrow(arrow)[0] for edge in self._edges(name)}
        arrays, numbers = self._graph.arrays, {name: at for at, name in enumerate(self._graph.arrays.types.nodes)}
        ends = target.types or frozenset(int(arrays.node_types[row]) for row in target.named)
        fitting: set[int] = set()
        for triple in self._graph.schema.edges:
            edge, pair = arrays.types.edges.index(triple.type), (numbers[triple.source], numbers[triple.target])
            for is_turned, (near, far) in enumerate((pair, pair[::-1])):
                is_said = edge in edges and (arrow.text.startswith("<-") if is_turned else arrow.text.endswith("->"))
                if is_said and (not types or near in types) and (not ends or far in ends):
                    fitting.add(2 * edge + is_turned)
        if not fitting:
            self._tokens.fail(f"no edge {arrow.text} joins these kinds of nodes")
        return tuple(sorted(fitting))

    def _between(self) -> Between:
        """Return the condition of `is between "X" and "Y"`."""
        near = self._end()
        self._tokens.needs("and", "`and` with the other end stands behind the first")
        return Between(near, self._end())

    def _end(self) -> NodeSet:
        """Return the named nodes at an end of paths."""
        nodes = self._part()
        if not 0 < len(nodes.named) <= MOST_ENDS:
            self._tokens.fail(f"a name in quotation marks stands here, of {MOST_ENDS} nodes at most")
        return nodes

    def _either(self, types: frozenset[int]) -> Either:
        """Return what stands in brackets: conditions with `or`, and with `and` between them."""
        options: list[tuple[Condition, ...]] = []
        while True:
            options.append(self._all(types))
            if self._tokens.takes(")"):
                return Either(tuple(options))
            self._tokens.needs("or", "write `or`, or close the bracket")

    def _all(self, types: frozenset[int]) -> tuple[Condition, ...]:
        """Return conditions with `and` between them."""
        conditions = [self._condition(types)]
        while self._tokens.takes("and"):
            conditions.append(self._condition(types))
        return tuple(conditions)

    def _of_property(self, types: frozenset[int]) -> Valued | Filled | Either:
        """Return `height >= 50`, `country = "Belgium"`, `has height`, of nodes of which some type has it."""
        has = self._tokens.takes("has")
        name = self._property_here()
        if name is None and self._tokens.peek(1).text.casefold() == "contains":
            name = next((own for own in (NAME, TEXT) if self._tokens.takes(own)), None)
        if name is None:
            self._tokens.fail('a condition stands here: `-EDGE-> ...`, `FIELD >= VALUE`, `has FIELD`, `is "NAME"`')
        own = Store.of(self._graph).types_with("node", name) if types and name not in (NAME, TEXT) else ()
        names = [self._graph.arrays.types.nodes[kind] for kind in sorted(types)]
        if own and not set(own).intersection(names):
            raise BadOption(f"no {' or '.join(names)} has a {name}, which stands in a condition: {', '.join(own)} may")
        return Filled(name) if has else self._valued(name)

    def _valued(self, name: str, *, is_of_edges: bool = False) -> Valued | Either:
        """Return what is said of a property behind its name: `>= 50`, `= "Belgium"`, `= 2024` of what has days."""
        if self._tokens.takes("contains"):
            if self._tokens.peek().kind != "text":
                self._tokens.fail("a text in quotation marks stands behind `contains`")
            return Valued(name, "contains", self._tokens.take().enclosed)
        sign = self._sign()
        told = self._told()
        is_text = is_of_texts(self._graph, told.property) if told is not None else self._tokens.peek().kind == "text"
        if is_text and sign not in ("=", "!="):
            self._tokens.fail("texts are compared by = and != alone")
        if told is not None:
            return Valued(name, sign, told)
        return Valued(name, sign, self._tokens.take().enclosed) if is_text else self._dated(name, sign, is_of_edges)

    def _dated(self, name: str, sign: Comparison, is_of_edges: bool) -> Valued | Either:
        """Return a comparison with a number or a date; a year or a month of what has days is all its days."""
        match, begin = _PERIOD.fullmatch(self._tokens.peek().text), self._number()
        wording = QueryWording(self._graph)
        is_dated = wording.is_edge_dated if is_of_edges else wording.is_dated
        if match is None or sign in ("<", ">=") or not is_dated(name):
            return Valued(name, sign, begin)
        _, end = span_of(match[0])
        first, last = Valued(name, ">=", begin), Valued(name, "<", end)
        if sign in (">", "<="):
            return replace(first, value=end) if sign == ">" else last
        return Either(((first, last),), negated=sign == "!=")

    def _told(self) -> Told | None:
        """Return `average height of tower`, `born at -father-> person`; None, with nothing taken, for others."""
        start, form = self._tokens.place, next((one for one in TOLD if self._tokens.takes(one)), "value")
        name = self._property_here()
        if name is not None and form == "value" and self._tokens.takes("at"):
            joined = self._one_step()
            return Told(name, joined.target, kinds=joined.kinds)
        if name is not None and self._tokens.takes("of"):
            return Told(name, self._part(), cast(Literal["value", "average", "median"], form))
        self._tokens.place = start
        return None

    def _sign(self) -> Comparison:
        sign = SIGNS.get(self._tokens.peek().text)
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

    def _relation(self, types: frozenset[int] = frozenset(), extent: Extent = "some") -> Joined:
        token = self._tokens.peek()
        if token.kind != "arrow":
            self._tokens.fail("an edge stands here: -EDGE-> or <-EDGE-")
        self._tokens.take()
        if extent != "some":
            self._tokens.takes(extent)
        target = self._part()
        if token.text == "--":
            return Joined(linking_kinds(self._graph), target, extent=extent)
        _, is_far, conditions = _arrow(token)
        where = _ReadingLine(conditions, self._graph)._where() if conditions else ()
        fitting = self._walked(token, *((frozenset[int](), NodeSet()) if is_far else (types, target)))
        if is_far and extent != "some":
            self._tokens.fail(f"an edge of any depth, -EDGE*->, leads to some of a set, and not to {extent} of it")
        return Joined(fitting, target, extent=extent, where=where, is_far=is_far)

    def _one_step(self, types: frozenset[int] = frozenset()) -> Joined:
        """Return an edge with what it leads to, where a number or a property of such is meant."""
        joined = self._relation(types)
        if joined.is_far:
            self._tokens.fail("edges of any depth, -EDGE*->, are not counted, and have no properties")
        return joined

    def _part(self) -> NodeSet:
        """Return nodes within a condition: in brackets where more than a kind and a name is said of them."""
        if not self._tokens.takes("("):
            return self._plain_nodes()
        nodes = self._nodes()
        self._tokens.needs(")", "close the bracket")
        return nodes

    def _where(self) -> tuple[Valued, ...]:
        """Return what the edges' own properties are to meet: `since >= 1930 and not role = "guest"`."""
        conditions: list[Valued] = []
        while True:
            is_denied = self._tokens.takes("not")
            name = self._tokens.takes_longest(self._edge_properties)
            if name is None:
                names = ", ".join(map(in_line, sorted(self._edge_properties))) or "none"
                self._tokens.fail(f"a property of edges stands here; properties: {names}")
            said = self._valued(name, is_of_edges=True)
            if isinstance(said, Either) and (is_denied or said.negated):
                self._tokens.fail("of days that edges have no year is denied: write the days, by < or >=")
            bounds = [said] if isinstance(said, Valued) else [one for one in said.options[0] if isinstance(one, Valued)]
            if any(one.comparison == "contains" or isinstance(one.value, Told) for one in bounds):
                self._tokens.fail("properties of edges are compared with values alone, texts by = and !=")
            conditions += (replace(one, negated=is_denied) for one in bounds)
            if not self._tokens.takes("and"):
                break
        if self._tokens.peek().kind != "end":
            self._tokens.fail("write `and` between conditions on an edge")
        return tuple(conditions)

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
        called = ((number, (str(edge), self._graph.schema.label(edge))) for number, edge in enumerate(edges))
        numbers = [number for number, names in called if folded in map(str.casefold, names)]
        if not numbers:
            labels = sorted({self._graph.schema.label(edge) for edge in edges})
            near = nearest(name, labels)
            hint = f"near: {', '.join(near)}" if near else f"edges: {', '.join(labels)}"
            self._tokens.fail(f"no edge is called {name!r}; {hint}", value=name, near=near)
        return numbers
