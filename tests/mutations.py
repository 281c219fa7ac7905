"""Statements that people might have written, spoiled: what a guard and an engine must live through."""

from __future__ import annotations

import re

import numpy as np

_PIECE = re.compile(r"'(?:[^'\\]|\\.)*'|`[^`]*`|\$?\w+|\s+|.", re.DOTALL)
_FOREIGN = (
    "null", "NULL", "true", "1", "-1", "0", "2.5", "'x'", "''", "[]", "{}", "*", "(", ")", "[", "]",
    "{", "}", ",", ";", "..", "=~", "<>", "<", "+", "-", "->", "%", "^", "|", ":", "$p", "AS",
    "NOT", "IN", "AND", "OR", "XOR", "DISTINCT", "WITH", "WHERE", "RETURN", "MATCH",
    "OPTIONAL MATCH", "UNWIND", "UNION", "ORDER BY", "LIMIT", "SKIP", "CREATE", "SET", "DELETE",
    "CALL", "COPY", "CHECKPOINT", "LOAD FROM", "IS NULL", "IS NOT NULL", "CONTAINS", "STARTS WITH",
    "id", "type", "labels", "nodes", "relationships", "length", "head", "last", "tail", "size",
    "collect", "count(*)", "sum", "min", "toInteger", "toString", "toLower", "substring", "date",
    "coalesce", "reverse", "split", "round", "any", "EXISTS {", "COUNT {", "CASE WHEN", "END", "n",
    "l", "p", "r", "x", "language", "person", "designed_by", "year", "name", "\xe9", "\x00",
    "\uff1b", "\\u0027", "//", "/*", "*/", "`", "'",
)  # fmt: skip


def mutate(text: str, chance: np.random.Generator, others: list[str]) -> str:
    """Return a statement with one to four of its pieces dropped, doubled, swapped, replaced or taken from others."""
    pieces = _PIECE.findall(text)
    for _ in range(int(chance.integers(1, 5))):
        at = int(chance.integers(len(pieces) + 1)) if pieces else 0
        other = int(chance.integers(len(pieces))) if pieces else 0
        kind = int(chance.integers(6))
        if kind == 0:
            del pieces[at : at + 1]
        elif kind == 1:
            pieces[at:at] = pieces[other : other + int(chance.integers(1, 4))]
        elif kind == 2 and at < len(pieces):
            pieces[at], pieces[other] = pieces[other], pieces[at]
        elif kind == 3:
            pieces[at : at + 1] = [_FOREIGN[int(chance.integers(len(_FOREIGN)))]]
        elif kind == 4:
            pieces[at:at] = [" ", _FOREIGN[int(chance.integers(len(_FOREIGN)))], " "]
        else:
            lent = _PIECE.findall(others[int(chance.integers(len(others)))])
            begin = int(chance.integers(len(lent)))
            pieces[at : at + 1] = lent[begin : begin + int(chance.integers(1, 8))]
    return "".join(pieces)


_VALUE = re.compile(r"\b[a-z]\w*\.\w+|'(?:[^'\\]|\\.)*'|\b\d+\b|\bcount\(\*\)|\bcollect\(\w+\.\w+\)")
_VARIABLE = re.compile(r"[(\[]([a-z]\w?)(?=[:)\] {])")
_ONE = (
    "toLower", "toUpper", "trim", "size", "head", "last", "tail", "toInteger", "toString",
    "toFloat", "type", "labels", "id", "reverse", "date", "abs", "round", "sqrt", "sign", "collect",
    "count", "sum", "min", "max", "avg", "nodes", "relationships", "length", "isEmpty", "exists",
    "toBoolean", "floor", "log",
)  # fmt: skip
_TWO = (
    "+", "-", "*", "/", "%", "^", "=", "<>", "<", ">=", "AND", "OR", "XOR", "IN", "CONTAINS",
    "STARTS WITH", "=~",
)  # fmt: skip
_PLAIN = (
    "null", "1", "0", "-3", "2.5", "'x'", "''", "'a rather long text'", "[]", "[1, 2]", "['x']",
    "true", "$p", "$names", "{a: 1}", "[[1], [2]]",
)  # fmt: skip


def rewrite(text: str, chance: np.random.Generator) -> str:
    """Return a statement with one to three of its values replaced by other expressions, sensible or not."""
    variables = sorted(set(_VARIABLE.findall(text))) or ["n"]
    for _ in range(int(chance.integers(1, 4))):
        places = list(_VALUE.finditer(text))
        if not places:
            return text
        place = places[int(chance.integers(len(places)))]
        text = text[: place.start()] + _expression(chance, variables, place[0], 0) + text[place.end() :]
    return text


def _expression(chance: np.random.Generator, variables: list[str], old: str, depth: int) -> str:
    def one(of: tuple[str, ...] | list[str]) -> str:
        return of[int(chance.integers(len(of)))]

    def inner() -> str:
        return _expression(chance, variables, old, depth + 1)

    kind = int(chance.integers(12 if depth < 3 else 4))
    if kind < 4:
        return (old, one(variables), f"{one(variables)}.{one(['name', 'id', 'year', 'born', 'typing'])}", one(_PLAIN))[
            kind
        ]
    if kind < 7:
        return f"{one(_ONE)}({inner()})"
    if kind < 9:
        return f"({inner()} {one(_TWO)} {inner()})"
    other = (
        f"({inner()} IS {one(['NULL', 'NOT NULL'])})",
        f"CASE WHEN {inner()} THEN {inner()} ELSE {inner()} END",
        f"{inner()}[{inner()}]",
        f"[y IN {inner()} WHERE {inner()} | {inner()}]",
        f"any(y IN {inner()} WHERE y = {inner()})",
        f"coalesce({inner()}, {inner()})",
        f"substring({inner()}, {inner()})",
        f"[{inner()}, {inner()}]",
        f"EXISTS {{ ({one(variables)})--() }}",
        f"NOT {inner()}",
        f"-{inner()}",
        f"{inner()}[1..3]",
    )
    return one(other)
