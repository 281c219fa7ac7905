"""The sentence or row of the first passages that answers a question best, by its words: quoted, never written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from orienteer.graph.reserved import CELLS
from orienteer.graph.store import Graph
from orienteer.methods.documents.phrase_order import beside, pairs_of
from orienteer.retrieval.excerpt import Shown, TextPiece, centred, pieces_of
from orienteer.retrieval.graph_text import header_lines, shown_of
from orienteer.text.english import STOP
from orienteer.text.function_words import telling_words
from orienteer.text.tokenizer import Tokenizer

READ = 5
"""Passages that a quotation is looked for in, the first of the ranking."""
LONGEST = 400
"""Characters of a quotation."""
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(
    r"(?<![\w.])\d[\d.,]*(?![\w(])|\b(?:three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|"
    r"fifty|hundred|thousand|million|dozen|twice|once)\b",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_MARKS = ".,:;!?()[]\"'“”‘’"
_LEAST_WORDS = 4
_DATE = re.compile(
    r"\b(?:1[5-9]\d\d|20\d\d|\d{1,2}[:.]\d\d|\d{1,2}(?:st|nd|rd|th)?)\b|\b(?:january|february|march|april|may|june|july|"
    r"august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|spring|"
    r"summer|autumn|winter|morning|noon|evening|midnight|daily|weekly|every)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Z][\w'’.-]{0,60}\s+(?:[a-z]{1,3}\s+)?[A-Z][a-z][\w'’-]*|(?<=\bby )[A-Z][a-z]+")
_ASKS = (
    (
        re.compile(r"\bhow (?:many|much|long|far|old|often|big|large|high|deep|tall|wide|fast|heavy|late|early)\b"),
        _NUMBER,
    ),
    (re.compile(r"\b(?:price|cost|fee|tariff|rate|size|limit|maximum|minimum|default|amount|percentage)\b"), _NUMBER),
    (re.compile(r"\b(?:when|(?:what|which) (?:year|date|day|time|month))\b"), _DATE),
    (re.compile(r"\bwho(?:m|se)?\b"), _NAME),
)
"""What a question asks for, and what a text has that answers it."""
_KIND = 0.2
"""What having that is worth, beside 1 for all of the question's words."""
_ABOVE = 0.5
"""What a word of the question is worth that stands in the title above the sentence alone."""
_NEAR = 0.25
"""The same in the rest of its passage."""
_PLACE = 0.3
"""What the first passage of the ranking is worth; the second half of it, the third a third."""
_BESIDE = 0.3
"""What having all neighbours among the question's words side by side is worth."""
_HEADING = re.compile(r"[^.!?:;]{1,60}")
"""A line that is a heading, where it is no more than this and has no number."""
_HEADED = 1.0
"""What a mere heading loses."""
_LACKING = 0.3
"""What each number, identifier or month of the question costs that does not stand beside a sentence."""
_MONTHS = frozenset(
    ["january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december"]
)
"""Without May, which is a verb too."""
_MOST = re.compile(
    r"\b(?:most|least|fewest|best|worst|latest|total|sum|average|mean|altogether|[a-z]{3,}(?<!inter)(?<!requ)(?<!for)est)\b"
)
"""Words that want rows compared or added up, which a quotation does not."""
_PROSE = 0.1
"""What a sentence is worth beside a fragment or a line of code."""
_SAID = re.compile(r"\b(?:is|are|was|were|means|refers to|stands for|denotes)\b|[:–—-]")
_DEFINED = re.compile(
    r"^\s*+(?:(?:what|who)(?:'s| is| are| was| were| does| do)\b(?!.*\b(?:of|in|for|by|at|from|with)\b)"
    r"|define\b|explain\b|.*\b(?:meaning|definition)\b|.*\bmeans?\W*$)",
    re.IGNORECASE,
)
_DEFINES = 0.6
"""What a sentence is worth that begins with what a question wants defined."""


class Quotation(NamedTuple):
    """A sentence or a row as it stands in a passage."""

    text: str
    """As a person reads it: of a row its cells, each with its column."""
    row: int
    """The passage."""
    begin: int
    """Where it begins in the text of the passage, in characters."""
    score: float
    """How well it fits, 1 for all of the question's words."""
    lacks: tuple[str, ...] = ()
    """Numbers, identifiers and months of the question that it has not: of a row, nor its header or title; of a
    sentence, nor its passage."""
    superlative: str = ""
    """A word of the question that wants rows compared or added up, where it is a row."""


def quoted(graph: Graph, question: str, rows: Sequence[int]) -> Quotation | None:
    """Return the sentence or table row of the first passages that fits a question best; None where none has its words.

    A sentence fits by the share of the question's telling words in it, by their idf; less for those that stand in its
    title, in the heading above it or elsewhere in its passage; by having them side by side as the question has them;
    and by having what is asked for: a number, a date, a name. The better the place of its passage, the better it fits.
    Of equals the first counts.
    """
    shown = shown_of(graph, question)
    total = shown.weight(shown.weights.keys())
    if not total:
        return None
    pairs, is_defined = pairs_of(question), _DEFINED.match(question) is not None
    wanted = [answer for pattern, answer in _ASKS if pattern.search(question.casefold())]
    needed = _needed(graph, question)
    most = _MOST.search(question)
    best: Quotation | None = None
    for place, row in enumerate(rows[:READ]):
        passage = _Passage(graph, row, shown)
        for piece, above, is_first in passage.pieces:
            if not piece.terms and not above:
                continue
            text = graph.arrays.texts[row][piece.begin : piece.end]
            has_kind = any(_has(answer, text, question) for answer in wanted)
            fits = passage.share(piece, above) / total + _KIND * has_kind + _PLACE / (1 + place)
            defines = is_first and above >= shown.weights.keys()
            if is_defined and (defines or _is_definition(text, piece, shown)):
                fits += _DEFINES
            fits += _BESIDE * beside(Tokenizer.words(text), pairs)
            fits += _PROSE * passage.is_prose(piece) - _HEADED * passage.is_heading(piece)
            lacks = tuple(word for word, term in needed.items() if term not in passage.beside(piece, above))
            fits -= _LACKING * len(lacks)
            if best is None or fits > best.score + 1e-9:
                whole = passage.whole(piece)
                is_compared = most is not None and passage.is_table and not shown.terms_in(most[0]) & passage.header
                superlative = most[0] if most is not None and is_compared else ""
                best = Quotation(passage.said(whole), row, whole.begin, fits, lacks, superlative)
    return best


class _Beneath(NamedTuple):
    """A sentence, or a row, and what it stands beneath."""

    piece: TextPiece
    above: frozenset[str]
    """The question's terms in the title and the heading above it, or in the header."""
    is_first: bool
    """It is the first beneath them."""


class _Passage:
    """A passage and its sentences, or rows."""

    def __init__(self, graph: Graph, row: int, shown: Shown) -> None:
        self.text, self._shown = graph.arrays.texts[row], shown
        header = header_lines(graph.arrays.properties.of(row), self.text)
        lines = self.text.split("\n")
        self._columns = lines[header - 1].split(CELLS) if header else []
        self.begin = sum(len(line) + 1 for line in lines[:header])
        self.is_table = header > 0
        self.header = shown.terms_in(self.text[: self.begin])
        pieces = _rows(self.text, shown, self.begin) if header else pieces_of(self.text, shown)
        self._near = frozenset[str]().union(*(piece.terms for piece in pieces))
        title = shown.terms_in(graph.arrays.names[row]) | shown.terms_in(self.text[: self.begin])
        self.pieces = list(self._beneath(pieces, title))
        """Its sentences, or rows."""

    def _beneath(self, pieces: Sequence[TextPiece], title: frozenset[str]) -> Iterator[_Beneath]:
        heading, is_first = frozenset[str](), True
        for piece in pieces:
            yield _Beneath(piece, title | heading, is_first)
            is_first = self.is_heading(piece)
            if is_first:
                heading = piece.terms

    def beside(self, piece: TextPiece, above: frozenset[str]) -> frozenset[str]:
        """Return the question's terms that are said of a row in its header and title, of a sentence in its passage."""
        return piece.terms | above if self.is_table else self._near | above

    def is_heading(self, piece: TextPiece) -> bool:
        """Return whether a sentence is a mere heading."""
        text = self.text[piece.begin : piece.end]
        return not self._columns and _HEADING.fullmatch(text) is not None and not _DIGIT.search(text)

    def is_prose(self, piece: TextPiece) -> bool:
        """Return whether a sentence is one: most of what stands in it are words, and there are four at the least."""
        parts = self.text[piece.begin : piece.end].split()
        return len(parts) >= _LEAST_WORDS and sum(part.strip(_MARKS).isalpha() for part in parts) >= len(parts) / 2

    def whole(self, piece: TextPiece) -> TextPiece:
        """Return a sentence that says nothing but the question's own words together with the one before it."""
        words = _WORD.findall(self.text[piece.begin : piece.end])
        sought, find = self._shown.weights.keys(), self._shown.terms
        says_more = any(not sought & find(word) and word.casefold() not in STOP for word in words)
        before = [other for other, *_ in self.pieces if other.end <= piece.begin]
        if self._columns or says_more or not before:
            return piece
        return TextPiece(before[-1].begin, piece.end, piece.terms | before[-1].terms)

    def share(self, piece: TextPiece, above: frozenset[str]) -> float:
        """Return what the question's words weigh that a sentence has, those above and beside it for less."""
        above, near = above - piece.terms, self._near - piece.terms - above
        weight = self._shown.weight
        return weight(piece.terms) + _ABOVE * weight(above) + _NEAR * weight(near)

    def said(self, piece: TextPiece) -> str:
        """Return a sentence as it is written, of a row each cell with its column; of a very long one a part."""
        text = self.text[piece.begin : piece.end]
        cells = text.split(CELLS)
        if self._columns and len(cells) == len(self._columns):
            pairs = zip(self._columns, cells, strict=True)
            text = "; ".join(f"{column}: {cell}" if column else cell for column, cell in pairs if cell.strip())
        text = " ".join(text.split())
        begin, end = centred(text, (0, len(text)), self._shown, LONGEST)
        return f"{'…' * (begin > 0)}{text[begin:end]}{'…' * (end < len(text))}"


def _rows(text: str, shown: Shown, begin: int) -> list[TextPiece]:
    """Return the rows of a table, a line each, from a place in its text on."""
    pieces = []
    for line in text[begin:].split("\n"):
        pieces.append(TextPiece(begin, begin + len(line), shown.terms_in(line)))
        begin += len(line) + 1
    return pieces


def _needed(graph: Graph, question: str) -> dict[str, str]:
    """Return the numbers, identifiers and months of a question, each with the term that it is found by."""
    expand = graph.arrays.tokenizer.expand
    words = [word for word in telling_words(question) if _DIGIT.search(word) or word in _MONTHS]
    return {word: expand(word)[0] for word in words if graph.arrays.text_index.posting(expand(word)[0]) is not None}


def _has(answer: re.Pattern[str], text: str, question: str) -> bool:
    """Return whether a text has what is asked for, apart from what the question says itself."""
    return any(match[0].casefold() not in question.casefold() for match in answer.finditer(f" {text}"))


def _is_definition(text: str, piece: TextPiece, shown: Shown) -> bool:
    """Return whether a sentence begins with all that a question wants defined, and then says what it is."""
    if not piece.terms >= shown.weights.keys():
        return False
    verb = _SAID.search(text)
    return verb is not None and shown.terms_in(text[: verb.start()]) >= set(shown.weights)
