"""Tokens of a statement: texts, names, words, numbers and symbols; anything else is refused.

All parts of the parser share one reader of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, TypeAlias

from orienteer.errors import BadQuery

LONGEST = 8_000  # characters of a statement: long lists are passed as parameters
MOST_TOKENS = 3_000  # of a statement: a bound on the time of the guard
Kind: TypeAlias = Literal["text", "name", "word", "parameter", "integer", "float", "sign", "end"]

_SPACE = re.compile(r"(?:[ \t\r\n\f\v]|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_ENDING = re.compile(rf"(?:;|{_SPACE.pattern})*", re.DOTALL)
_TEXT = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_NAME = re.compile(r"`(?:[^`]|``)+`", re.DOTALL)
_WORD = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(
    r"0[xX][0-9a-fA-F]+|0[oO][0-7]+|(?:\d+\.\d+|\.\d+|\d+(?=[eE][+-]?\d))(?:[eE][+-]?\d+)?|\d+", re.ASCII
)
_SIGN = re.compile(r"<>|<=|>=|=~|\.\.|!=|\|\||[-+*/%^=<>(){}\[\],.:|&!]")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\\": "\\", "'": "'", '"': '"', "`": "`"}
_LARGEST = 2**63 - 1
_MOST_DIGITS = 100  # of a whole number, leading zeros included: Python refuses to read thousands of digits
DEEPEST = 24  # nested expressions
_LOOK_AHEAD = 8  # tokens past the end that may be peeked at
_CLAUSES = frozenset({"MATCH", "OPTIONAL", "WHERE", "WITH", "RETURN", "UNWIND", "UNION", "ORDER", "SKIP", "LIMIT"})
_RESERVED = _CLAUSES | {
    "AND", "OR", "XOR", "NOT", "IN", "IS", "NULL", "TRUE", "FALSE", "CASE", "WHEN", "THEN", "ELSE", "END", "AS",
    "BY", "DISTINCT", "STARTS", "ENDS", "CONTAINS", "EXISTS", "ALL", "ASC", "DESC", "ASCENDING", "DESCENDING",
}  # fmt: skip


class CypherToken(NamedTuple):
    """A part of a statement with its offsets."""

    kind: Kind
    value: str
    """The meaning of a text or a name, without quotes and escapes; anything else in its original text."""
    start: int
    end: int

    @property
    def description(self) -> str:
        """The token for an error message."""
        return "the end" if self.kind == "end" else repr(self.value[:40])


def tokenize(text: str) -> list[CypherToken]:
    """Return the tokens of a statement, the last of kind `end`. Raises `BadQuery` for text that is not Cypher."""
    if len(text) > LONGEST:
        raise BadQuery(
            f"the query has {len(text):,} characters: {LONGEST:,} are allowed; pass long lists as parameters"
        )
    tokens: list[CypherToken] = []
    at = 0
    while at < len(text):
        if space := _SPACE.match(text, at):
            at = space.end()
            continue
        # `match` and a look at its end, since `fullmatch` would try every way to distribute the spaces.
        if text[at] == ";" and (ending := _ENDING.match(text, at)) and ending.end() == len(text):
            break
        token = _token(text, at)
        tokens.append(token)
        at = token.end
        if len(tokens) > MOST_TOKENS:
            raise BadQuery(f"the query has more than {MOST_TOKENS:,} words and signs: ask for less at a time")
    tokens.append(CypherToken("end", "", at, at))
    return tokens


def _token(text: str, at: int) -> CypherToken:
    if match := _TEXT.match(text, at):
        return CypherToken("text", _unescaped(match[0][1:-1]), at, match.end())
    if match := _NAME.match(text, at):
        return CypherToken("name", _checked_text(match[0][1:-1].replace("``", "`")), at, match.end())
    if text[at] == "$":
        match = _WORD.match(text, at + 1) or re.compile(r"\d+", re.ASCII).match(text, at + 1)
        if match is None:
            raise BadQuery(f"{text[at : at + 20]!r} is not a parameter: write $name")
        return CypherToken("parameter", match[0], at, match.end())
    if match := _WORD.match(text, at):
        return _word(match[0], at)
    if match := _NUMBER.match(text, at):
        return _number(text, match[0], at)
    if not text.startswith("/*", at) and (match := _SIGN.match(text, at)):
        return CypherToken("sign", match[0], at, match.end())
    raise _refused(text, at)


def _word(word: str, at: int) -> CypherToken:
    """Return a word as a token. Raises `BadQuery` for letters that only look like ASCII."""
    if not word.isascii() and unicodedata.normalize("NFKC", word).isascii():
        # Full-width and other look-alike letters: an engine might fold them into a clause's name, or might not.
        raise BadQuery(f"{word!r} holds letters that only look like a to z: write them plainly, or in backticks")
    return CypherToken("word", word, at, at + len(word))


def _number(text: str, digits: str, at: int) -> CypherToken:
    end = at + len(digits)
    if end < len(text) and (text[end].isalnum() or text[end] == "_"):
        raise BadQuery(f"{text[at : end + 10].split()[0]!r} is neither a number nor a name: put names in backticks")
    if digits[:2] in ("0x", "0X", "0o", "0O") and len(digits) <= _MOST_DIGITS:
        digits = str(int(digits, 0))
    is_integer = digits.isdecimal()
    if is_integer and (len(digits) > _MOST_DIGITS or int(digits) > _LARGEST):
        raise BadQuery(f"{digits[:40]} is too large: whole numbers go up to {_LARGEST}")
    return CypherToken("integer" if is_integer else "float", digits, at, end)


def _refused(text: str, at: int) -> BadQuery:
    sign = text[at]
    if sign == ";":
        return BadQuery("one statement at a time, without a semicolon: leave out ';' and what follows it")
    if sign in "'\"`":
        return BadQuery(f"the quote {sign} before {text[at + 1 : at + 21]!r} is never closed")
    if text.startswith("/*", at):
        return BadQuery("a comment is never closed: end it with */")
    return BadQuery(f"{sign!r} (character {at + 1}, U+{ord(sign):04X}) is not Cypher outside quotes")


def _unescaped(text: str) -> str:
    def unescape(match: re.Match[str]) -> str:
        escape = match[1]
        if len(escape) > 1:
            code = int(escape[1:], 16)
            if code > 0x10FFFF or 0xD800 <= code < 0xE000:
                raise BadQuery(f"\\u{code:04x} is not a character: write the character itself")
            return chr(code)
        if escape not in _ESCAPED:
            raise BadQuery(f"the escape \\{escape} in a text is not known: write \\\\ for a backslash")
        return _ESCAPED[escape]

    return _checked_text(_ESCAPE.sub(unescape, text))


def _checked_text(text: str) -> str:
    """Return a text unchanged. Raises `BadQuery` for a lone surrogate, or a NUL, which ends a text in C."""
    if "\0" in text:
        raise BadQuery("a text or a name holds the character U+0000: leave it out")
    if any(0xD800 <= ord(character) < 0xE000 for character in text):
        raise BadQuery("a text or a name holds half a surrogate pair: leave it out")
    return text


class TokenReader:
    """Steps through the tokens of a statement."""

    def __init__(self, text: str, domain: str | None = None) -> None:
        self.source = text
        self.domain = domain
        """The label that every node has in a view as well as its type, or None."""
        self.parameters: set[str] = set()
        tokens = tokenize(text)
        self._last = len(tokens) - 1
        self._closing: dict[int, int] = {}
        """The index of the closing bracket of each opening round one."""
        opened: list[int] = []
        for index, token in enumerate(tokens):
            if token.kind == "sign" and token.value == "(":
                opened.append(index)
            elif token.kind == "sign" and token.value == ")" and opened:
                self._closing[opened.pop()] = index
        self._tokens = tokens + tokens[-1:] * _LOOK_AHEAD
        self._at = 0
        self._depth = 0
        self.read_clauses: Callable[[TokenReader], Any] = TokenReader.none_here
        """Reads the clauses of a subquery; the parser sets it."""

    # ------------------------------------------------------------------------------------------------- looking

    def peek(self, ahead: int = 0) -> CypherToken:
        """Return the next token, or one further ahead."""
        return self._tokens[self._at + ahead]

    def is_word(self, *words: str, ahead: int = 0) -> bool:
        """Return whether one of these words comes next."""
        token = self.peek(ahead)
        return token.kind == "word" and token.value.upper() in words

    def is_sign(self, *signs: str, ahead: int = 0) -> bool:
        """Return whether one of these symbols comes next."""
        token = self.peek(ahead)
        return token.kind == "sign" and token.value in signs

    def is_call(self) -> bool:
        """Return whether a function's name and its bracket come next."""
        return self.peek().kind == "word" and self.is_sign("(", ahead=1)

    def after_bracket(self, ahead: int = 0) -> int:
        """Return the distance to the token after a bracket that the next token opens, or one further ahead."""
        return self._closing.get(self._at + ahead, self._last) - self._at + 1

    # ------------------------------------------------------------------------------------------------- stepping

    def next(self) -> CypherToken:
        """Return the next token and step over it."""
        token = self.peek()
        self._at = min(self._at + 1, self._last)
        return token

    def takes_word(self, *words: str) -> bool:
        """Step over these words if they come next, one after another; return whether they did."""
        if all(self.is_word(word, ahead=ahead) for ahead, word in enumerate(words)):
            self._at += len(words)
            return True
        return False

    def takes(self, sign: str) -> bool:
        """Step over a symbol if it comes next; return whether it did."""
        if self.is_sign(sign):
            self._at += 1
            return True
        return False

    def expect(self, sign: str, where: str) -> None:
        """Step over a symbol. Raises `BadQuery` if another token comes."""
        if not self.takes(sign):
            raise self.wrong(f"{sign!r} is missing {where}")

    def expect_word(self, word: str, where: str) -> None:
        """Step over a word. Raises `BadQuery` if another token comes."""
        if not self.takes_word(word):
            raise self.wrong(f"{word} is missing {where}")

    def variable(self, what: str = "variable") -> str:
        """Return a name that the statement introduces, in backticks or not. Raises `BadQuery`."""
        is_variable, token = self.is_variable(), self.next()
        if is_variable:
            return token.value
        hint = f"; write `{token.value}` if it is a name" if token.kind == "word" else ""
        raise BadQuery(f"a {what} is expected, not {token.description}{hint}")

    def is_variable(self) -> bool:
        """Return whether the next token may be a variable's name."""
        token = self.peek()
        return token.kind == "name" or (token.kind == "word" and token.value.upper() not in _RESERVED)

    def name(self, what: str) -> str:
        """Return the name of a type or a property; it may be a reserved word. Raises `BadQuery`."""
        token = self.next()
        if token.kind in ("name", "word"):
            return token.value
        raise BadQuery(f"a name of a {what} is expected, not {token.description}")

    def text(self, start: CypherToken) -> str:
        """Return the statement's text from a token up to here."""
        return self.source[start.start : self._tokens[self._at - 1].end]

    def items(self, close: str, where: str) -> Iterator[None]:
        """Step over the commas of a list and the symbol that closes it; the caller reads an item at each step."""
        while not self.takes(close):
            yield
            if not self.is_sign(close):
                self.expect(",", where)

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Count a level of nesting. Raises `BadQuery` for too many."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise BadQuery(f"brackets and conditions are nested more than {DEEPEST} deep: write the query flatter")
        yield
        self._depth -= 1

    def none_here(self) -> Any:
        """Raise the error for clauses in a place without any."""
        raise self.wrong("no further clause is allowed here")

    def wrong(self, why: str) -> BadQuery:
        """Return an error with the line and column of the next token."""
        token = self.peek()
        line = self.source.count("\n", 0, token.start) + 1
        column = token.start - self.source.rfind("\n", 0, token.start)
        return BadQuery(f"{why} before {token.description} (line {line}, column {column})")
