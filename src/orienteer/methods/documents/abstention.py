"""Whether the passages that were found answer a question at all.

Two things speak against it, and both were measured on questions that their folders cannot answer
(`benchmarks/folders.py`; docs/documents.md has the figures). A name or an identifier of the question stands nowhere in
the documents: *What did Storm Ellen cost?* Or next to nothing of the question stands in any of the passages. What
merely is not said of something that is there (*How old is the harbour master?*) cannot be told by words, nor by the
likeness of vectors: such a question gets its nearest passages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import NamedTuple

import numpy as np
from pydantic import Field

from orienteer.graph.reserved import CELLS
from orienteer.graph.search import QueryWords
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.options import Options
from orienteer.records import Refusal
from orienteer.retrieval.graph_text import Shown, TextPiece, centred, header_lines, pieces_of, shown_of
from orienteer.text.english import FORMS, STOP, language_words, telling_words
from orienteer.text.tokenizer import Tokenizer

READ = 5
"""Passages that are looked at, the first of the ranking."""
LEAST_HELD = 0.16
"""Share of the question, by the idf of its telling words, that one passage has to hold with its title."""
_MOST_LACKING = 0.45
"""Share of the question that may stand nowhere for a sentence to be quoted: of ten look-ups whose quotation was right
none had more, of questions in other words than the documents' most."""
_ALIKE = 0.8
"""How alike, by `difflib`, a word of the passages is to one that was mistyped."""
_TOKEN = re.compile(r"[\w][\w.'’/:-]*")
_IDENTIFIER = re.compile(r"\w*[a-z][A-Z]\w*|\w+(?:[_.]|::)\w[\w.:]*|[A-Z]{2,}\w*|\w*(?:[a-zA-Z]\d|\d[a-zA-Z])\w*")
"""`MongoHandler`, `run_until_forever`, `json.dump`, `HTTP`, `M1`"""
_LONGEST = 200
"""Characters of a name; what is longer is none."""
_LOOKED_AT = 200
"""Passages that an identifier of several words is looked for in."""


class Grounds(NamedTuple):
    """What speaks for passages answering a question, and against it."""

    held: float
    """The share of its telling words, by their idf, that the best passage has with its title; 0 to 1."""
    absent: tuple[str, ...]
    """Its telling words that no passage of the graph has, as they are compared."""
    unknown: tuple[str, ...]
    """Its names and identifiers that stand nowhere in the graph, as the question writes them."""
    near: tuple[str, ...]
    """Words of the passages that are spelled nearly as an absent one."""
    lacking: float = 0.0
    """The share of the question, as much as an absent word may weigh, that stands nowhere and was not mistyped."""


def grounds(graph: Graph, question: str, rows: Sequence[int]) -> Grounds:
    """Return what the first passages have of a question."""
    arrays, shown = graph.arrays, shown_of(graph, question)
    texts = [f"{arrays.names[row]}\n{arrays.texts[row]}" for row in rows[:READ]]
    absent = tuple(word for word in dict.fromkeys(telling_words(question)) if _is_absent(graph, word))
    near = {word: spelled for word in absent if (spelled := _nearly(word, texts))}
    rarest = float(np.log1p(len(graph)))  # what a word weighs that no passage has
    total = shown.weight(shown.weights.keys()) + rarest * (len(absent) - len(near))
    best = max((shown.weight(shown.terms_in(text)) for text in texts), default=0)
    unknown = tuple(name for name in names_of(question) if _is_unknown(graph, name, absent, near))
    lacking = rarest * (len(absent) - len(near)) / total if total else 1.0
    return Grounds(best / total if total else 0.0, absent, unknown, tuple(dict.fromkeys(near.values())), lacking)


def refusal(reasons: Grounds) -> Refusal | None:
    """Return that nothing answers the question, where too little speaks for any passage; None where enough does."""
    if not reasons.unknown and reasons.held >= LEAST_HELD:
        return None
    words = tuple(dict.fromkeys((*reasons.unknown, *_apart(reasons.absent, reasons.unknown))))
    absent = f"; not in these documents: {', '.join(words)}" if words else ""
    return Refusal(kind="not_here", words=words, near=reasons.near, text=f"nothing here answers this{absent}")


def unquoted(reasons: Grounds, quotation: Quotation) -> Refusal | None:
    """Return why no sentence is quoted although passages are found; None where one may be.

    It would look like an answer where much of what is asked for stands nowhere, where a number or a month of the
    question is not said of it, and where rows would have to be compared.
    """
    if reasons.lacking >= _MOST_LACKING:
        words, what = reasons.absent, f"not in these documents: {', '.join(reasons.absent)}"
    elif quotation.lacks:
        words, what = quotation.lacks, f"the sentence that fits best is not about {', '.join(quotation.lacks)}"
    elif quotation.superlative:
        words, what = (quotation.superlative,), f"rows are not compared or added up here ({quotation.superlative})"
        return Refusal(kind="unsupported", words=words, text=f"no row is quoted: {what}")
    else:
        return None
    return Refusal(kind="not_understood", words=words, near=reasons.near, text=f"no sentence is quoted: {what}")


def names_of(question: str) -> list[str]:
    """Return the words of a question that are written as names or identifiers, in order.

    >>> names_of("What did Storm Ellen cost, and what does json.dump return on an M1?")
    ['Storm', 'Ellen', 'json.dump', 'M1']

    In a language other than English a capital tells nothing, for German gives one to every noun, and none does where
    most words have one.
    """
    tokens = [token for token in _TOKEN.finditer(question) if len(token[0]) <= _LONGEST]
    is_lower = 2 * sum(token[0][0].islower() for token in tokens) >= len(tokens)
    has_capitals = is_lower and language_words(Tokenizer.words(question)) in (STOP, frozenset())
    names, begins = [], True
    for token in tokens:
        word = re.sub(r"['’]s?$", "", token[0].rstrip(".'’/:-"))
        is_name = has_capitals and not begins and word[:1].isupper() and word.casefold() not in STOP
        if is_name or (_IDENTIFIER.fullmatch(word) and (is_lower or not word.isupper())):
            names.append(word)
        begins = token[0][-1] in ".:" or question[token.end() : token.end() + 1] in ("?", "!")
    return list(dict.fromkeys(names))


def _is_absent(graph: Graph, word: str) -> bool:
    """Say whether no text of the graph has a word, in any form of a verb.

    Of a word that mixes letters and digits its parts are not enough.
    """
    index, expand = graph.arrays.text_index, graph.arrays.tokenizer.expand
    return all(index.posting(expand(form)[0]) is None for form in (word, *FORMS.get(word, ())))


def _is_unknown(graph: Graph, name: str, absent: Sequence[str], near: Iterable[str]) -> bool:
    """Say whether a name stands nowhere in the graph: all of it, unless it was mistyped."""
    words = Tokenizer.words(name)
    if not set(words).isdisjoint(near):
        return False
    if not set(words).isdisjoint(absent):
        return True
    if len(words) == 1 or not _IDENTIFIER.fullmatch(name):
        return False
    sought = QueryWords(graph.arrays, name)  # its parts are all there: are they ever together?
    if not sought.postings:
        return False
    rows = sought.full_in(None, reads=False)  # the name itself is looked for below, as part of a word too
    some = rows[:_LOOKED_AT].tolist()
    is_there = any(name.casefold() in graph.arrays.texts[row].casefold() for row in some)
    return not is_there and len(rows) <= _LOOKED_AT


def _nearly(word: str, texts: Iterable[str]) -> str:
    """Return the word of some texts that is spelled nearly so; empty where none is, and for a short word."""
    if len(word) < 4:
        return ""
    words = {each for text in texts for each in Tokenizer.words(text)}
    return next(iter(get_close_matches(word, sorted(words), 1, _ALIKE)), "")


def _apart(words: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the words that are part of none of some names."""
    parts = {part for name in names for part in Tokenizer.words(name)}
    return [word for word in words if word not in parts]


# The options of `documents`.


class DocumentsConfig(Options):
    """What is done with the passages that are found."""

    quotes: bool = True
    """Answer with the sentence or row that fits best, where no model answers."""
    abstains: bool = True
    """Say that nothing answers a question where too little of it stands in any passage."""
    phrases: bool = True
    """Prefer passages that have words of the question side by side, or in their title, a little."""
    folds: bool = True
    """Tell passages that nearly repeat another beneath it, and put contents pages last."""
    listed: int = Field(default=20, ge=1)
    """Documents that an answer names, where a question asks which of them speak of something."""


# Puts passages in order by how they say the question: words side by side as it has them, and in their titles.


_BESIDE = 1.0
"""What having all neighbours among the question's words side by side counts beside the logarithm of a score: 1 to 4 are
level on the open half of the questions of `benchmarks/folders.py`."""
_TITLED = 1.0
"""The same of having all its telling words in the title."""
Pairs = frozenset[tuple[str, str]]


class PhraseOrder:
    """The words of a question as it says them."""

    def __init__(self, graph: Graph, question: str, words_of: Callable[[int], Sequence[str]]) -> None:
        """`words_of` returns the words of a row's text."""
        self._graph, self._shown, self.pairs = graph, shown_of(graph, question), pairs_of(question)
        self._words_of = words_of

    def order(self, rows: Rows, scores: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[int]:
        """Return the places of some rows, best first; `rows` and `scores`, above 0, are (n,). Ties keep their order."""
        if not len(rows):
            return []
        bonus = np.array([self._bonus(int(row)) for row in rows])
        values = np.log(scores.clip(min=np.finfo(np.float64).tiny)) + bonus
        return [int(place) for place in np.argsort(-values, kind="stable")]

    def _bonus(self, row: int) -> float:
        title = self._graph.arrays.names[row]
        titled = share_of(self._shown, title)
        return _TITLED * titled + _BESIDE * beside([*Tokenizer.words(title), *self._words_of(row)], self.pairs)


def pairs_of(question: str) -> Pairs:
    """Return the neighbours among a question's telling words, two by two; those that carry it part none."""
    words = telling_words(question)
    return frozenset(zip(words, words[1:], strict=False))


def beside(words: Sequence[str], pairs: Pairs) -> float:
    """Return the share of such pairs that stand side by side among the words of a text, in that order."""
    return len(pairs.intersection(zip(words, words[1:], strict=False))) / len(pairs) if pairs else 0.0


def share_of(shown: Shown, text: str) -> float:
    """Return the share of a question's telling words, by their idf, that a text has."""
    total = shown.weight(shown.weights.keys())
    return shown.weight(shown.terms_in(text)) / total if total else 0.0


# The sentence or row of the first passages that answers a question best, by its words: quoted, never written.
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
_QUOTATION_BESIDE = 0.3
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
            fits += _QUOTATION_BESIDE * beside(Tokenizer.words(text), pairs)
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
