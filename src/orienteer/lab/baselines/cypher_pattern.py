"""Read the pattern out of a small Cypher query that a model wrote: MATCH, WHERE with AND, RETURN. Nothing is executed.

The parser of our Cypher reads one clause at a time, so that a clause which it refuses does not lose the others. What is
understood: nodes with labels, edges with types and a direction, properties in braces, comparisons of a property with a
value. Whatever else a query holds is left out, and a note says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from orienteer.cypher.expressions import read_expression
from orienteer.cypher.patterns import read_path
from orienteer.cypher.syntax import Binary, Expression, Literal_, NodePattern, PathPattern, Property, Variable, made_up
from orienteer.cypher.tokens import LONGEST, CypherToken, TokenReader, tokenize
from orienteer.errors import BadQuery
from orienteer.lab.baselines.triplet_pattern import MOST_SYMBOLS, Symbol, Triplet, TripletPattern

_FENCED = re.compile(r"```\w*\n(.*?)```", re.DOTALL)
_BEGIN = re.compile(r"\bmatch\b\s*(?:\w+\s*=\s*)?\(", re.IGNORECASE)
_STATEMENT = re.compile(r"""(?:/\*.*?\*/|//[^\n]*|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|[^;])*""", re.DOTALL)
_CLAUSES = frozenset(
    {"match", "optional", "where", "return", "with", "order", "limit", "skip", "unwind", "union", "call"}
)
_NAMES = frozenset({"name", "title", "label", "id"})
"""Properties whose value names a node, where a query compares them for equality."""
_COMPARISONS = {"=": "=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
"""The operators of a condition on a property, by those of Cypher."""
_PARTS_OF_TEXT = ("CONTAINS", "STARTS WITH", "ENDS WITH")


def read(query: str, notes: list[str]) -> TripletPattern:
    """Return the pattern of a query; `notes` takes what is left out. Raises `BadQuery` where it holds no pattern."""
    reader = _PatternReader(_statement(query), notes)
    reader.read()
    symbols = reader.symbols
    if not symbols:
        raise BadQuery("it matches no node")
    if len(symbols) > MOST_SYMBOLS or len(reader.triplets) > MOST_SYMBOLS:
        raise BadQuery(f"it matches more than {MOST_SYMBOLS} nodes or edges")
    target = reader.target or next((name for name, symbol in symbols.items() if not symbol.text), next(iter(symbols)))
    if not reader.target:
        notes.append(f"the query returns no node of its pattern: taken for {target.lstrip(chr(0))}")
    return TripletPattern(target, symbols, tuple(reader.triplets))


def _statement(text: str) -> str:
    """Return the first statement of a code block, else of the whole text, from its first MATCH on."""
    fenced = _FENCED.search(text)
    text = (fenced[1] if fenced else text)[:LONGEST]
    begin = _BEGIN.search(text)
    if begin is None:
        raise BadQuery("it has no MATCH")
    statement = _STATEMENT.match(text, begin.start())
    assert statement is not None  # it matches the empty text too
    return statement[0]


class _PatternReader:
    """Reads one statement, clause by clause. A variable may come up in several of them."""

    def __init__(self, statement: str, notes: list[str]) -> None:
        self._statement, self._notes = statement, notes
        self.symbols: dict[str, Symbol] = {}
        self.triplets: list[Triplet] = []
        self.target = ""

    def read(self) -> None:
        """Read the statement to its end. Raises `BadQuery` where a pattern cannot be read."""
        clause, before = list[CypherToken](), ""
        for token in tokenize(self._statement):
            is_name = before in (".", "starts", "ends")  # a property's name, or STARTS WITH
            before = token.value.casefold()
            if token.kind == "end" or (token.kind == "word" and before in _CLAUSES and not is_name):
                self._read_clause(clause)
                clause = []
            clause.append(token)

    def _read_clause(self, tokens: Sequence[CypherToken]) -> None:
        word = tokens[0].value.casefold() if tokens else ""
        if word == "match":
            self._read_match(tokens[1:])
        elif word == "where":
            for is_and, condition in groupby(
                tokens[1:], lambda token: token.kind == "word" and token.value.upper() == "AND"
            ):
                if not is_and and not self._takes_condition(text := self._text(list(condition))):
                    self._leave_out(text)
        elif word == "return":
            names = (token.value for token in tokens if token.kind in ("word", "name"))
            self.target = self.target or next((name for name in names if name in self.symbols), "")
        else:
            self._leave_out(self._text(tokens))

    def _text(self, tokens: Sequence[CypherToken]) -> str:
        return self._statement[tokens[0].start : tokens[-1].end] if tokens else ""

    def _leave_out(self, text: str) -> None:
        if text:
            self._notes.append(f"left out of the query: {' '.join(text.split())[:200]}")

    def _read_match(self, tokens: Sequence[CypherToken]) -> None:
        text = " ".join(self._single_steps(tokens))
        reader = TokenReader(text)
        self._add_path(read_path(reader, read_expression))
        while reader.takes(","):
            self._add_path(read_path(reader, read_expression))
        self._leave_out(text[reader.peek().start :])

    def _single_steps(self, tokens: Sequence[CypherToken]) -> Iterator[str]:
        """Yield the words of a pattern, its edges one step long and the labels of a node alternatives.

        The parser refuses `*` without a bound and `(n:A:B)`, both of which models write.
        """
        signs = [token.value if token.kind == "sign" else "" for token in tokens]
        is_length = False
        for place, token in enumerate(tokens):
            is_length = signs[place] == "*" or (is_length and (token.kind == "integer" or signs[place] == ".."))
            if is_length:
                self._leave_out(self._text([token]))
            else:
                yield (
                    "|"
                    if signs[place] == ":" and signs[place - 2 : place - 1] in ([":"], ["|"])
                    else self._text([token])
                )

    def _add_path(self, path: PathPattern) -> None:
        names = [self._added(node) for node in path.nodes]
        for start, edge, end in zip(names, path.edges, names[1:], strict=False):
            head, tail = (end, start) if edge.direction == "in" else (start, end)
            self.triplets.append(Triplet(head, edge.types, tail, edge.direction != "both"))
            for key, _ in edge.properties:
                self._leave_out(f"{key} of an edge")

    def _added(self, node: NodePattern) -> str:
        """Return the name of a node, which is now a symbol of the pattern."""
        name = node.variable or made_up("node", len(self.symbols))
        symbol = self.symbols.get(name, Symbol())
        self.symbols[name] = replace(symbol, node_types=symbol.node_types or node.types)
        for key, value in node.properties:
            if not self._takes_comparison(name, key, "=", value):
                raise BadQuery(f"the property {key!r} has no plain value")
        return name

    def _takes_condition(self, condition: str) -> bool:
        """Take `x.key = value`; False where a condition is no such comparison."""
        try:
            reader = TokenReader(condition)
            comparison = read_expression(reader)
        except BadQuery:
            return False
        if reader.peek().kind != "end" or not isinstance(comparison, Binary):
            return False
        compared, operator = comparison.left, comparison.operator
        if not isinstance(compared, Property) or not isinstance(compared.base, Variable):
            return False
        if operator in _PARTS_OF_TEXT and compared.key.casefold() in _NAMES:
            operator = "="  # a part of another text is for search by words
        return self._takes_comparison(compared.base.name, compared.key, operator, comparison.right)

    def _takes_comparison(self, name: str, key: str, operator: str, right: Expression) -> bool:
        """Take a comparison: a name for equality is what a node is searched by, all else is a condition."""
        symbol, value = self.symbols.get(name), _value(right)
        if symbol is None or value is None or operator not in _COMPARISONS:
            return False
        if operator == "=" and key.casefold() in _NAMES and not symbol.text:
            self.symbols[name] = replace(symbol, text=value)
        elif value:
            self.symbols[name] = replace(symbol, where=(*symbol.where, f"{key} {_COMPARISONS[operator]} {value}"))
        return True


def _value(expression: Expression) -> str | None:
    """Return a text, a number or a word such as true, as it is written in a condition; None for anything else."""
    if isinstance(expression, Variable):
        return expression.name
    if not isinstance(expression, Literal_):
        return None
    return expression.value if isinstance(expression.value, str) else json.dumps(expression.value)
