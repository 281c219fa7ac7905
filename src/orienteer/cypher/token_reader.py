"""The reader of tokens that all parts of the parser share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from orienteer.cypher.tokens import CypherToken, tokenize
from orienteer.errors import BadQuery

DEEPEST = 24  # nested expressions; ladybug's own parser broke at 800
_LOOK_AHEAD = 8  # tokens past the end that may be peeked at
_CLAUSES = frozenset({"MATCH", "OPTIONAL", "WHERE", "WITH", "RETURN", "UNWIND", "UNION", "ORDER", "SKIP", "LIMIT"})
_RESERVED = _CLAUSES | {
    "AND", "OR", "XOR", "NOT", "IN", "IS", "NULL", "TRUE", "FALSE", "CASE", "WHEN", "THEN", "ELSE", "END", "AS",
    "BY", "DISTINCT", "STARTS", "ENDS", "CONTAINS", "EXISTS", "ALL", "ASC", "DESC", "ASCENDING", "DESCENDING",
}  # fmt: skip


class TokenReader:
    """Steps through the tokens of a statement."""

    def __init__(self, text: str, domain: str | None = None) -> None:
        self.source = text
        self.domain = domain
        """The label that every node has beside its type in a view; None without one."""
        self.parameters: set[str] = set()
        tokens = tokenize(text)
        self._last = len(tokens) - 1
        self._closing = _closing(tokens)
        self._tokens = tokens + tokens[-1:] * _LOOK_AHEAD
        self._at = 0
        self._depth = 0

    # ------------------------------------------------------------------------------------------------- looking

    def peek(self, ahead: int = 0) -> CypherToken:
        """Return the next token, or one further ahead."""
        return self._tokens[self._at + ahead]

    def is_word(self, *words: str, ahead: int = 0) -> bool:
        """Tell whether one of these words comes next."""
        token = self.peek(ahead)
        return token.kind == "word" and token.value.upper() in words

    def is_sign(self, *signs: str, ahead: int = 0) -> bool:
        """Tell whether one of these signs comes next."""
        token = self.peek(ahead)
        return token.kind == "sign" and token.value in signs

    def is_call(self) -> bool:
        """Tell whether a function's name and its bracket come next."""
        return self.peek().kind == "word" and self.is_sign("(", ahead=1)

    def after_bracket(self) -> int:
        """Return how far ahead the token after the closing bracket is; the next token opens the bracket."""
        return self._closing.get(self._at, self._last) - self._at + 1

    # ------------------------------------------------------------------------------------------------- stepping

    def next(self) -> CypherToken:
        """Return the next token and step over it."""
        token = self.peek()
        self._at = min(self._at + 1, self._last)
        return token

    def takes_word(self, *words: str) -> bool:
        """Step over these words if they come next, one after another; tell whether they did."""
        if all(self.is_word(word, ahead=ahead) for ahead, word in enumerate(words)):
            self._at += len(words)
            return True
        return False

    def takes(self, sign: str) -> bool:
        """Step over a sign if it comes next; tell whether it did."""
        if self.is_sign(sign):
            self._at += 1
            return True
        return False

    def expect(self, sign: str, where: str) -> None:
        """Step over a sign. Raises `BadQuery` if another token comes."""
        if not self.takes(sign):
            raise self.wrong(f"{sign!r} is missing {where}")

    def expect_word(self, word: str, where: str) -> None:
        """Step over a word. Raises `BadQuery` if another token comes."""
        if not self.takes_word(word):
            raise self.wrong(f"{word} is missing {where}")

    def variable(self, what: str = "variable") -> str:
        """Return a name that the statement introduces, in backticks or not. Raises `BadQuery`."""
        token = self.next()
        if token.kind == "name" or (token.kind == "word" and token.value.upper() not in _RESERVED):
            return token.value
        hint = f"; write `{token.value}` if it is a name" if token.kind == "word" else ""
        raise BadQuery(f"a {what} is expected, not {token.shown}{hint}")

    def is_variable(self) -> bool:
        """Tell whether the next token may be a variable's name."""
        token = self.peek()
        return token.kind == "name" or (token.kind == "word" and token.value.upper() not in _RESERVED)

    def name(self, what: str) -> str:
        """Return the name of a type or a property; it may look like a clause's word. Raises `BadQuery`."""
        token = self.next()
        if token.kind in ("name", "word"):
            return token.value
        raise BadQuery(f"a name of a {what} is expected, not {token.shown}")

    def text(self, start: CypherToken) -> str:
        """Return the statement's text from a token up to here."""
        return self.source[start.start : self._tokens[self._at - 1].end]

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Count a level of nesting. Raises `BadQuery` for too many."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise BadQuery(f"brackets and conditions are nested more than {DEEPEST} deep: write the query flatter")
        yield
        self._depth -= 1

    def wrong(self, why: str) -> BadQuery:
        """Return an error with the place of the next token."""
        token = self.peek()
        line = self.source.count("\n", 0, token.start) + 1
        column = token.start - self.source.rfind("\n", 0, token.start)
        return BadQuery(f"{why} before {token.shown} (line {line}, column {column})")


def _closing(tokens: Sequence[CypherToken]) -> dict[int, int]:
    """Return for the place of each opening round bracket the place of its closing one."""
    closing: dict[int, int] = {}
    waiting: list[int] = []
    for place, token in enumerate(tokens):
        if token.kind == "sign" and token.value == "(":
            waiting.append(place)
        elif token.kind == "sign" and token.value == ")" and waiting:
            closing[waiting.pop()] = place
    return closing
