"""Read the pattern out of a small Cypher query that a model wrote: MATCH, WHERE with AND, RETURN. Nothing is executed.

What is understood: nodes with a label, edges with types and a direction, properties in braces, comparisons of a
property with a value. Whatever else a query holds is left out, and said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from orienteer.methods.baselines.grounding import MOST_SYMBOLS, Pattern, Symbol, Triplet

_LONGEST = 8_000  # characters
_TOKEN = re.compile(
    r"""\s+ | //[^\n]* |
    (?P<text>'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*") |
    (?P<quoted>`[^`]*`) |
    (?P<number>\d+(?:\.\d+)?) |
    (?P<word>[^\W\d]\w*) |
    (?P<sign><>|<=|>=|!=|=~|[-<>=(){}\[\]:,.|*;+/%$&!])""",
    re.VERBOSE,
)
_NAMES = frozenset({"name", "title", "label", "id"})
"""Properties whose value names a node, where a query compares them for equality."""
_COMPARISONS = frozenset({"=", "<>", "!=", "<", "<=", ">", ">="})
_CLAUSES = frozenset(
    {"match", "optional", "where", "return", "with", "order", "limit", "skip", "unwind", "union", "call"}
)
_CONTAINS = frozenset({"contains", "starts", "ends"})


class CypherError(ValueError):
    """The text holds no pattern that can be read."""


class Token(NamedTuple):
    """A piece of a query."""

    kind: str
    """text, word, number or sign; a word in backticks is of the kind quoted."""
    value: str


class _Edge(NamedTuple):
    types: tuple[str, ...]
    is_directed: bool
    points_back: bool


def read(query: str, notes: list[str]) -> Pattern:
    """Return the pattern of a query; what is left out is said in `notes`. Raises `CypherError`."""
    reader = _Reader(_tokens(_unfenced(query)), notes)
    reader.clauses()
    symbols = {name: Symbol(tuple(one.types), one.text, tuple(one.where)) for name, one in reader.symbols.items()}
    if not symbols:
        raise CypherError("it matches no node")
    if len(symbols) > MOST_SYMBOLS or len(reader.triplets) > MOST_SYMBOLS:
        raise CypherError(f"it matches more than {MOST_SYMBOLS} nodes or edges")
    target = reader.target or next((name for name, one in symbols.items() if not one.text), next(iter(symbols)))
    if not reader.target:
        notes.append(f"the query returns no node of its pattern: taken for {target}")
    return Pattern(target, symbols, tuple(reader.triplets))


def _unfenced(text: str) -> str:
    """Return what stands between the marks of a code block, else the whole text from its first MATCH on."""
    fenced = re.search(r"```\w*\n(.*?)```", text, re.DOTALL)
    text = (fenced[1] if fenced else text)[:_LONGEST]
    begin = re.search(r"\bmatch\b\s*(?:\w+\s*=\s*)?\(", text, re.IGNORECASE)
    if begin is None:
        raise CypherError("it has no MATCH")
    return text[begin.start() :]


def _tokens(text: str) -> list[Token]:
    tokens, at = [], 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise CypherError(f"{text[at : at + 20]!r} is no Cypher")
        at = found.end()
        if found.lastgroup in ("text", "quoted"):
            value = found[0][1:-1]
            tokens.append(
                Token(found.lastgroup, re.sub(r"\\(.)", r"\1", value) if found.lastgroup == "text" else value)
            )
        elif found.lastgroup:
            tokens.append(Token(found.lastgroup, found[0]))
    return tokens


class _Drafted:
    """A node of the pattern while it is read: a variable may come up more than once."""

    def __init__(self) -> None:
        self.types: list[str] = []
        self.text = ""
        self.where: list[str] = []

    def take(self, key: str, comparison: str, value: Token) -> None:
        """Take a comparison: a name for equality is what the node is searched by, all else is a condition."""
        if comparison == "=" and key.casefold() in _NAMES and not self.text:
            self.text = value.value
        elif value.value:
            self.where.append(f"{key} {comparison} {value.value}")


class _Reader:
    """One query, read from left to right."""

    def __init__(self, tokens: Sequence[Token], notes: list[str]) -> None:
        self._tokens, self._at, self._notes = tokens, 0, notes
        self.symbols: dict[str, _Drafted] = {}
        self.triplets: list[Triplet] = []
        self.target = ""

    # ------------------------------------------------------------------------------------------------- tokens

    def _peek(self, ahead: int = 0) -> Token:
        place = self._at + ahead
        return self._tokens[place] if place < len(self._tokens) else Token("end", "")

    def _next(self) -> Token:
        token = self._peek()
        self._at += 1
        return token

    def _takes(self, *signs: str) -> bool:
        """Step over these signs where they come next."""
        if [self._peek(ahead) for ahead in range(len(signs))] == [Token("sign", one) for one in signs]:
            self._at += len(signs)
            return True
        return False

    def _expect(self, sign: str) -> None:
        if not self._takes(sign):
            raise CypherError(f"{sign!r} is missing before {self._peek().value!r}")

    def _is_clause(self) -> bool:
        token, before = self._peek(), self._tokens[self._at - 1].value.casefold() if self._at else ""
        is_word = before in (".", "starts", "ends")  # a property's name, or STARTS WITH
        return token.kind == "end" or (token.kind == "word" and token.value.casefold() in _CLAUSES and not is_word)

    def _rest(self) -> list[Token]:
        """Return the tokens up to the next clause."""
        begin = self._at
        while not self._is_clause():
            self._at += 1
        return list(self._tokens[begin : self._at])

    # ------------------------------------------------------------------------------------------------ clauses

    def clauses(self) -> None:
        """Read the query to its end."""
        known: dict[str, Callable[[], None]] = {"match": self._match, "where": self._where, "return": self._return}
        while self._peek().kind != "end":
            token = self._next()
            clause = token.value.casefold() if token.kind == "word" else ""
            if clause in known:
                known[clause]()
            elif token.value != ";":
                self._left_out([token, *self._rest()])

    def _left_out(self, tokens: Sequence[Token]) -> None:
        self._notes.append(f"left out of the query: {' '.join(one.value for one in tokens)[:200]}")

    def _match(self) -> None:
        while True:
            if self._peek().kind in ("word", "quoted") and self._peek(1) == Token("sign", "="):
                self._at += 2  # a path's name
            end = self._node()
            while self._peek().value in ("-", "<") and self._peek().kind == "sign":
                edge = self._edge()
                other = self._node()
                ends = (other, end) if edge.points_back else (end, other)
                self.triplets.append(Triplet(ends[0], edge.types, ends[1], edge.is_directed))
                end = other
            if not self._takes(","):
                return

    def _node(self) -> str:
        self._expect("(")
        name = self._next().value if self._peek().kind in ("word", "quoted") else f"_{len(self.symbols) + 1}"
        drafted = self.symbols.setdefault(name, _Drafted())
        if labels := self._labels():
            drafted.types = drafted.types or labels
        if self._takes("{"):
            for key, value in self._properties():
                drafted.take(key, "=", value)
        self._expect(")")
        return name

    def _labels(self) -> list[str]:
        """Read `:A`, `:A|B` or `:A:B`; all are alternatives."""
        labels: list[str] = []
        while self._takes(":") or (labels and self._takes("|")):
            if labels:
                self._takes(":")  # `|:B` is an old spelling
            token = self._next()
            if token.kind not in ("word", "quoted"):
                raise CypherError(f"{token.value!r} is no label")
            labels.append(token.value)
        return labels

    def _properties(self) -> Iterator[tuple[str, Token]]:
        while not self._takes("}"):
            key = self._next()
            self._expect(":")
            value = self._value()
            if key.kind not in ("word", "quoted") or value is None:
                raise CypherError(f"the property {key.value!r} has no plain value")
            yield key.value, value
            self._takes(",")

    def _value(self) -> Token | None:
        """Read a text, a number or a word such as true; None where something else comes next."""
        if self._peek() == Token("sign", "-") and self._peek(1).kind == "number":
            self._at += 1
            return Token("number", f"-{self._next().value}")
        return self._next() if self._peek().kind in ("text", "number", "word") else None

    def _edge(self) -> _Edge:
        points_back = self._takes("<")
        self._expect("-")
        types: list[str] = []
        if self._takes("["):
            if self._peek().kind in ("word", "quoted"):
                self._at += 1
            types = self._labels()
            if not self._takes("]"):
                self._skip_to("]")
        self._expect("-")
        points_on = self._takes(">")
        return _Edge(tuple(types), points_back != points_on, points_back and not points_on)

    def _skip_to(self, sign: str) -> None:
        """Step over what an edge says besides its types, such as a number of steps."""
        begin = self._at
        while not self._takes(sign):
            if self._next().kind == "end":
                raise CypherError(f"{sign!r} is missing")
        self._left_out(self._tokens[begin : self._at - 1])

    def _where(self) -> None:
        condition: list[Token] = []
        for token in (*self._rest(), Token("word", "and")):
            if token.kind == "word" and token.value.casefold() == "and":
                if condition and not self._compare(condition):
                    self._left_out(condition)
                condition = []
            else:
                condition.append(token)

    def _compare(self, condition: Sequence[Token]) -> bool:
        """Take `x.key = value`; False where a condition is no such comparison."""
        tokens = [one for one in condition if one != Token("sign", ";")]
        if len(tokens) < 5 or tokens[1] != Token("sign", ".") or tokens[0].value not in self.symbols:
            return False
        drafted, key, comparison = self.symbols[tokens[0].value], tokens[2].value, tokens[3]
        reader = _Reader(tokens[4:], self._notes)
        if comparison.kind == "word" and comparison.value.casefold() in _CONTAINS:
            reader._takes_word("with")
            comparison = Token("sign", "=")
            if key.casefold() not in _NAMES:
                return False  # a part of a text is for search by words
        value = reader._value()
        if value is None or reader._peek().kind != "end" or comparison.value not in _COMPARISONS:
            return False
        drafted.take(key, "!=" if comparison.value == "<>" else comparison.value, value)
        return True

    def _takes_word(self, word: str) -> None:
        if self._peek().value.casefold() == word:
            self._at += 1

    def _return(self) -> None:
        tokens = self._rest()
        names = [one.value for one in tokens if one.kind in ("word", "quoted") and one.value in self.symbols]
        self.target = self.target or (names[0] if names else "")
