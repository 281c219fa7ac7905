"""Whether passages answer a question at all, their order by its phrases, and the sentence that is quoted.

A question is refused for two reasons, both measured on questions that their folders cannot answer
(`benchmarks/folders.py`; docs/guides/documents.md has the figures). A name or an identifier in it occurs nowhere in the
documents: *What did Storm Ellen cost?* Or no passage has more than a little of it. If the documents mention a thing and
not the property in question (*How old is the harbour master?*), neither words nor vectors can notice: such a question
gets its nearest passages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from itertools import groupby, islice, pairwise, product
from typing import NamedTuple

import numpy as np
from pydantic import Field

from orienteer.graph.reserved import CELLS, INNER
from orienteer.graph.search import QueryWords
from orienteer.graph.store import Graph
from orienteer.index.bm25 import Mask
from orienteer.index.searchers import Searcher
from orienteer.options import Options
from orienteer.records import JsonValue, Refusal
from orienteer.retrieval.graph_text import TextPiece, centred, header_lines, pieces_of, snippet_terms
from orienteer.text.english import FORMS, STOP, language_words, telling_words
from orienteer.text.proper_names import CALENDAR
from orienteer.text.tokenizer import Tokenizer

READ = 5
"""Passages that are examined, the first of the ranking."""
LEAST_HELD = 0.16
"""Share of the question, by the idf of its telling words, that one passage and its title must have."""
# Share of the question's telling words, by number, that a quotation may lack, the headings above it counted.
_LACKED = 1 / 4
_TOKEN = re.compile(r"[\w][\w.'’/:-]*")
IDENTIFIER = re.compile(r"\w*[a-z][A-Z]\w*|\w+(?:[_.]|::)\w[\w.:]*|[A-Z]{2,}\w*|\w*(?:[a-zA-Z]\d|\d[a-zA-Z])\w*")
"""`MongoHandler`, `run_until_forever`, `json.dump`, `HTTP`, `M1`"""
_NUMBERED = re.compile(r"\b([^\W\d_]{2,40})\s+(\d[\d.,]*)(?<![.,])")
_COMPOUND = re.compile(r"(?<![\w-])\w+(?:-\w+)+(?![\w-])")
_VERSION = re.compile(r"(?<=[A-Za-z]{2})v?(?=\d)")
_ENDS = re.compile(r"[.:;!?…\n\"“”(–—]|\s[-*]\s")  # after these a sentence may begin
_LONGEST_NAME = 200  # characters
_LOOKED_AT = 200  # passages in which an identifier of several words is looked for
_FIRST = 20  # passages that a search by words adds to those found
_CLOSE = 12  # words apart
_HALF = 0.5
_NEARLY_ALL = 0.9
BY_WORDS = "fits by itself"
"""Why a passage was found that the base does not rank."""


class DocumentsConfig(Options):
    """What is done with the passages."""

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
    readings: int = Field(default=2, ge=1, le=3)
    """With a model: how often it reads at most. After each reading that lacks something it searches for its own
    lines."""
    passages: int = Field(default=8, ge=1, le=20)
    """With a model: passages of a reading."""
    searches_first: bool = False
    """With a model: always ask for lines to search for before the first reading, which suits small models."""


class QuestionTerms:
    """A question's telling words, their terms, and its names, looked up once for all steps of `documents`."""

    def __init__(self, graph: Graph, text: str) -> None:
        index, expand = graph.arrays.text_index, graph.arrays.tokenizer.expand
        self.graph, self.text = graph, text
        words = telling_words(text)
        # A word is absent if no text has any form of it; of a word like `10ms` its parts are not enough.
        known = graph.arrays.word_forms
        forms = {word: known.inflected(word) for word in dict.fromkeys(words)}
        self.absent = tuple(
            word
            for word, others in forms.items()
            if all(index.posting(expand(form)[0]) is None for form in (word, *FORMS.get(word, ()), *others))
        )
        """Its telling words that no passage has."""
        titles = graph.arrays.name_index.spellings
        spelled = {word: tuple(titles(word, most=1)) or known.spellings(word) for word in self.absent}
        self.near = {word: others[0] for word, others in spelled.items() if others}
        """By absent word: the word of a title, or else of a passage, that it is nearly spelled like."""
        self.guessed = tuple(word for word, other in self.near.items() if not other.startswith(word[:1]))
        """Absent words that another is hardly meant by, for it begins otherwise: *goat*, `boat`; *Hanna*, `anna`."""
        said = {word: (word, *others) for word, others in forms.items() if others} | spelled
        self.spelled = re.sub(r"\w+", lambda word: " ".join(said.get(word[0].casefold()) or (word[0],)), text)
        """The question with these words in their place, and with all forms of a word."""
        self.words = [self.near.get(word, word) for word in words]
        """Its telling words, as they are spelled there."""
        self.names = names_of(text)
        self.pairs = frozenset(zip(self.words, self.words[1:], strict=False))
        """The neighbours among the telling words, two by two; stop words between them do not count."""
        self.terms = snippet_terms(graph, self.words, {others[0]: others[1:] for others in spelled.values() if others})
        self.numbered = [found for found in _NUMBERED.findall(text) if found[0].casefold() not in STOP]
        """Its words before a number, each with the number: *bed 45*."""
        self.compounds = {
            one: re.compile(rf"(?<![\w-]){r'[-‐‑ ]?'.join(map(re.escape, one.split('-')))}(?![\w-])", re.IGNORECASE)
            for one in _COMPOUND.findall(text)
        }
        """What it joins by hyphens, and how passages may write that: *check-in*, `check in`, `checkin`."""
        self.weight = self.terms.weight(self.terms.weights.keys())
        """The idf of all its terms together."""
        measures = (word for word in self.words if _DIGIT.search(word) or word in _DATED)
        self.needed = {word: expand(word)[0] for word in measures if index.posting(expand(word)[0]) is not None}
        """Its numbers, identifiers and months, each with the term that it is found by."""
        asked = _ASKED.search(text)
        vital = [*self.names, *filter(None, asked.groups() if asked is not None else ())]
        self.vital = frozenset(self.near.get(word, word) for part in vital for word in Tokenizer.words(part))
        """The words of its names, and of what it asks about them."""

    def missing(self, terms: Set[str]) -> tuple[str, ...]:
        """Return the telling words, each once, of which none of these terms is one."""
        find = self.terms.terms_of
        return tuple(word for word in dict.fromkeys(self.words) if terms.isdisjoint(find(word)))

    def shares(self, words: Sequence[str]) -> tuple[float, float]:
        """Return the shares of the question, by idf, that are among some words, and within `_CLOSE` words of each."""
        find, weight = self.terms.terms_of, self.terms.weight
        known = {word: terms for word in set(words) if (terms := find(word))}
        places = [(at, known[word]) for at, word in enumerate(words) if word in known]
        closest = 0.0
        for first, (begin, terms) in enumerate(places):
            near = set(terms)
            for at, others in islice(places, first + 1, None):
                if at > begin + _CLOSE:
                    break
                near |= others
            closest = max(closest, weight(near))
        held = weight(set[str]().union(*known.values()))
        return (held / self.weight, closest / self.weight) if known else (0.0, 0.0)

    def has_compounds(self, row: int) -> bool:
        """Return whether a passage has all that the question joins by hyphens: not `retry-factor` for *retry-limit*."""
        arrays = self.graph.arrays
        said = f"{arrays.names[row]}\n{arrays.texts[row]}" if self.compounds else ""
        return bool(self.compounds) and all(one.search(said) for one in self.compounds.values())

    def is_of_another(self, text: str) -> bool:
        """Return whether a text has another number where the question has one, as *bed 135* for *bed 45*."""
        for label, number in self.numbered:
            numbers = re.findall(rf"\b{re.escape(label)}\s+(\d[\d.,]*)(?<![.,])", text, re.IGNORECASE)
            if numbers and number not in numbers:
                return True
        return False

    def pair_share(self, words: Sequence[str]) -> float:
        """Return the share of the pairs that are adjacent among the words of a text, in that order."""
        return (
            len(self.pairs.intersection(zip(words, words[1:], strict=False))) / len(self.pairs) if self.pairs else 0.0
        )


def names_of(question: str) -> list[str]:
    """Return the words of a question that are written as names or identifiers, in order.

    >>> names_of("What did Storm Ellen cost, and what does json.dump return on an M1?")
    ['Storm', 'Ellen', 'json.dump', 'M1']

    Capitals count in English alone, for German gives one to every noun, and only if fewer than half of the words have
    one.
    """
    tokens = [token for token in _TOKEN.finditer(question) if len(token[0]) <= _LONGEST_NAME]
    is_lower = 2 * sum(token[0][0].islower() for token in tokens) >= len(tokens)
    has_capitals = is_lower and language_words(Tokenizer.words(question)) in (STOP, frozenset())
    names, end = list[str](), 0
    for token in tokens:
        word = re.sub(r"['’]s?$", "", token[0].rstrip(".'’/:-"))
        begins = not end or _ENDS.search(question, end, token.start()) is not None
        is_name = has_capitals and not begins and word[:1].isupper() and word.casefold() not in STOP
        if is_name or (IDENTIFIER.fullmatch(word) and (is_lower or not word.isupper())):
            names.append(word)
        end = token.start() + len(token[0].rstrip(".:"))
    return list(dict.fromkeys(names))


def evidence_order(
    question: QuestionTerms,
    found: Mapping[int, float],
    searchers: Sequence[Searcher],
    mask: Mask,
    words_of: Callable[[int], Sequence[str]],
    *,
    are_entries: bool,
) -> dict[int, float]:
    """Return passages with their scores, best first: those `found`, best first, and the first ones of searches.

    Of entries, passages that are documents by themselves, it is `found` as it is, unless the first of the others has
    nearly all of the question close together: among those a question may go from one name to the next.

    A score is a sum of shares: of the best score of each searcher; of the question's telling words that the passage
    has, and has close together; 1 / place among those found; and half as much for words in the title, for words side by
    side or joined by the same hyphens, and for a definition. `mask`, (nodes,), is of the passages that may answer;
    `words_of` returns the words of a row's text.
    """
    graph, text = question.graph, question.text
    places = {row: place for place, row in enumerate(found, 1)}
    rows = set(found)
    for searcher, query in product(dict.fromkeys(searchers), dict.fromkeys((text, question.spelled))):
        rows.update(searcher.search(query, _FIRST, mask=mask).rows.tolist())
    ascending = np.array(sorted(rows), np.int32)
    totals, closest = np.zeros(len(ascending)), np.zeros(len(ascending))
    for searcher in searchers:
        scores = searcher.scores(question.spelled, ascending)
        totals += scores / (scores.max(initial=0) or 1.0)
    is_definition = _DEFINED.match(text) is not None
    for at, row in enumerate(ascending.tolist()):
        title = Tokenizer.words(graph.arrays.names[row])
        titled, _ = question.shares(title)
        words = [*title, *words_of(row)]
        held, closest[at] = question.shares(words)
        defines = is_definition and Passage(question, row).defines
        beside = question.pair_share(words) + question.has_compounds(row)
        totals[at] += held + closest[at] + _HALF * (titled + beside + defines)
        if row in places:
            totals[at] += 1 / places[row]
        elif not held and searchers[0] is not searchers[1]:  # it shares stop words alone
            totals[at] = -1
    order = np.argsort(-totals, kind="stable")
    if are_entries and (not len(order) or closest[order[0]] < _NEARLY_ALL):
        return dict(found)
    return {int(ascending[at]): float(totals[at]) for at in order if totals[at] >= 0}


class MatchStatistics(NamedTuple):
    """How much of a question the best passages have."""

    held: float
    """The share of its telling words, by their idf, that the best passage has with its title; 0 to 1."""
    absent: tuple[str, ...]
    """Its telling words that no passage of the graph has, as they are compared."""
    unknown: tuple[str, ...]
    """Its names and identifiers that occur nowhere in the graph, as the question writes them."""
    near: tuple[str, ...]
    """Words of titles, of names and of the passages that are spelled nearly like an absent one."""


def match_statistics(question: QuestionTerms, rows: Sequence[int]) -> MatchStatistics:
    """Return the statistics of the match between a question and the first passages."""
    graph, terms, absent, near = question.graph, question.terms, question.absent, question.near
    texts = [f"{graph.arrays.names[row]}\n{graph.arrays.texts[row]}" for row in rows[:READ]]
    rarest = float(np.log1p(len(graph)))  # the weight of a word that no passage has
    total = question.weight + rarest * (len(absent) - len(near))
    best = max((terms.weight(terms.terms_in(text)) for text in texts), default=0)
    unknown = tuple(name for name in question.names if _is_unknown(graph, name, absent, near))
    held = best / total if total else 0.0
    return MatchStatistics(held, absent, unknown, tuple(dict.fromkeys(near.values())))


def _is_unknown(graph: Graph, name: str, absent: Collection[str], mistyped: Collection[str]) -> bool:
    """Return whether a name occurs nowhere in the graph and was not mistyped."""
    words = Tokenizer.words(name)
    if not set(words).isdisjoint(mistyped):
        return False
    if not set(words).isdisjoint(absent):
        # `GPLv2` is GPL-2, and `Python3` Python 3.
        apart = QueryWords(graph.arrays, _VERSION.sub(" ", name))
        return name == apart.query or bool(apart.absent) or not len(apart.full_in(None))
    if len(words) == 1 or not IDENTIFIER.fullmatch(name):
        return False
    # The graph has all parts of the name: are they ever together?
    query = QueryWords(graph.arrays, name)
    if not query.postings:
        return False
    rows = query.full_in(None, reads=False)  # the name itself is looked for below, as part of a word too
    is_there = any(name.casefold() in graph.arrays.texts[row].casefold() for row in rows[:_LOOKED_AT].tolist())
    return not is_there and len(rows) <= _LOOKED_AT


def refusal(statistics: MatchStatistics) -> Refusal | None:
    """Return a refusal if the match is too weak, else None."""
    if not statistics.unknown and statistics.held >= LEAST_HELD:
        return None
    parts = {part for name in statistics.unknown for part in Tokenizer.words(name)}
    words = tuple(dict.fromkeys((*statistics.unknown, *(word for word in statistics.absent if word not in parts))))
    absent = f"; not in these documents: {', '.join(words)}" if words else ""
    return Refusal(kind="not_here", words=words, near=statistics.near, text=f"nothing here answers this{absent}")


def unquoted(question: QuestionTerms, statistics: MatchStatistics, quotation: Quotation) -> Refusal | None:
    """Return the reason to list passages and quote no sentence, or None if it may be quoted."""
    # A quotation looks like an answer. Each telling word but one, or a quarter, has to be in it; without exception
    # numbers, months, names and what is counted, and something of all that is said of them. A question why takes all
    # that it says for granted, and two questions take two answers.
    if quotation.rivals:
        return Refusal(kind="unsupported", text=f"no row is quoted: {quotation.rivals}")
    lacks, missing = quotation.lacks, [word for word in quotation.missing if word not in question.near]
    lacks += question.guessed
    is_strict, words = _WHY.match(question.text) or _TWO.match(question.text), set(question.words)
    most = 0 if is_strict else max(_LACKED * len(words), len(words) > 2)
    others = words - question.vital - question.near.keys()
    says_nothing = bool(others) and others.issubset(quotation.missing)
    if len(missing) > most or says_nothing or not question.vital.isdisjoint(missing):
        lacks = tuple(dict.fromkeys((*lacks, *missing)))
    if not lacks:
        return None
    absent = f"; not in these documents: {', '.join(statistics.absent)}" if statistics.absent else ""
    text = f"nothing here says this plainly: the sentence that fits best lacks {', '.join(lacks)}{absent}"
    return Refusal(kind="not_understood", words=lacks, near=statistics.near, text=text)


# ----------------------------------------------------------------------------------------------------------- quotation

LONGEST = 400
"""Characters of a quotation."""
_NUMBER = re.compile(
    r"(?<![\w.])\d[\d.,]*(?![\w(])|\b(?:three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|"
    r"fifty|hundred|thousand|million|dozen|twice|once)\b",
    re.IGNORECASE,
)
_DATED = CALENDAR - {"may"}  # which is a verb too
_WHY = re.compile(r"\s*(?:why|how come)\b", re.IGNORECASE)
QUOTED = re.compile(r"[\"“]([^\"“”]+)[\"”]|(?<!\w)'(.{3,200}?)'(?!\w)")
"""A quoted phrase of a question; an apostrophe does not quote."""
# Two words or more with capitals, behind a word without any: *wrote To Have and Have Not*.
_TITLE = re.compile(
    r"(?<!\w)([a-z]++\s)[A-Z][a-z'’]*+(?!\w)(?:\s(?:(?:a|and|for|in|of|or|the|to)\s)?[A-Z][a-z'’]*+(?!\w))+"
)
_PRONOUN = "(?:I|you|he|she|it|we|they|there)"
# *Is it true or not that*, and at the end *or not?*, *did he not?* and *didn't he?*
_IDLE_NOT = re.compile(
    r"\bwhether\s+or\s+not\b|\bor\s+not\b(?=\s+(?:that|if|whether)\b|\W*$)"
    rf"|,\s*+\w+(?:n['’]t\s+{_PRONOUN}|\s+{_PRONOUN}\s+not)\W*$",
    re.IGNORECASE,
)
_DENIAL = r"n['’]t\b|\b(?:not(?!\s+only\b)|never|cannot|neither|nobody|nothing)\b"
_DENIES = re.compile(_DENIAL, re.IGNORECASE)
# *No. 5* and *no 5* are numbers.
_IS_DENIED = re.compile(
    rf"{_DENIAL}|\b(?:no(?!\.|\s*\d)|none|nor|without|unless|except|forbid(?:s|den)?|lack(?:s|ed|ing)?)\b",
    re.IGNORECASE,
)
# Not *who is Ada Holm*, which has the name.
_WHO = re.compile(r"\s*[Ww]ho\b(?!(?:['’]s|\s+(?:is|was|are|were))\s+[A-Z])")
_WHEN = re.compile(
    r"\s*(?:(?:since |until |by |from )?when\b|(?:at |in |on |since )?(?:what|which) (?:time|day|date|month|year)\b"
    r"|(?:\w+ ){1,2}(?:day|date|time) of\b)",
    re.IGNORECASE,
)
_DAY = re.compile(
    rf"\b(?:{'|'.join(sorted(_DATED))}|noon|midnight|spring|summer|autumn|winter|after|until"
    r"|(?:day|week|weekend|month|quarter|year|hour|morning|evening|night)s?|daily|weekly|monthly|yearly)\b",
    re.IGNORECASE,
)
_HOW_TO = re.compile(
    r"(?:^|[.!?])\s*(?:how (?:do|does|can|could|should|to|would|must|is|are)|what (?:do|can|should) (?:I|we|you))\b",
    re.IGNORECASE,
)
# What a question counts, and the verb of *what does it cost*.
_ASKED = re.compile(
    r"\bhow (?:many|much) (?:percent |more |different |of the )*(\w+)|^\s*what (?:do|does|did)\b.*?(\w+)\W*$",
    re.IGNORECASE,
)
_TWO = re.compile(r"\w.*(?:,|\band)\s+(?:in |of |to |on )?(?:who|what|when|where|which|how|why)\b", re.IGNORECASE)
# The number of an item is no number that a text states.
_ITEM = re.compile(r"^\s*\d+[.)]\s|(?<=[.!?:;])\s+\d+\.\s*$")
_NAMED = re.compile(r"\s*(?:[,:–(]|(?:is|was|are|were|has|had)\b|[A-Z])")
_DIGIT = re.compile(r"\d")
_COUNTS = re.compile(
    r"\bhow (?:many|much|long|far|old|often|big|large|high|deep|tall|wide|fast|heavy|late|early)\b", re.IGNORECASE
)
# The worth of a word that only the title above the sentence has.
_ABOVE = 0.5
# The worth of a word that only the rest of the passage has.
_NEAR = 0.25
# The worth of the first passage of the ranking; the second gets half of it, the third a third.
_PLACE = 0.3
# The worth of having all neighbours among the question's words side by side.
_QUOTATION_BESIDE = 0.3
# A line that is a heading if it is no more than this and has no number.
_HEADING = re.compile(r"[^.!?:;]{1,60}")
# Words that ask to compare or add up rows, which a quotation cannot do.
_MOST = re.compile(
    r"\b(?:most|least|fewest|best|worst|latest|total|sum|average|mean|altogether|[a-z]{3,}(?<!inter)(?<!requ)(?<!for)est)\b"
)
# A line that is drawn, as in tables of plain text.
_RULED = re.compile(r"([-=+*_~#.])\1{7}|^\s*\|")
_SAID = re.compile(r"\b(?:is|are|was|were|means|refers to|stands for|denotes)\b|[:–—-]")
_DEFINED = re.compile(
    r"^\s*+(?:(?:what|who)(?:'s| is| are| was| were)\b(?!.*\b(?:of|in|for|by|at|from|with)\b)"
    r"|define\b|explain\b|.*\b(?:meaning|definition)\b|.*\bmeans?\W*$)",
    re.IGNORECASE,
)
# What is added for a sentence that begins with the thing to define.
_DEFINES = 0.6


class Quotation(NamedTuple):
    """A sentence, two in a row, or a row of a table, word for word."""

    text: str
    """As a person reads it: of a row its cells, each with its column."""
    row: int
    """The passage."""
    begin: int
    """Its offset in the text of the passage, in characters."""
    score: float
    """How well it fits, 1 for all of the question's words."""
    lacks: tuple[str, ...] = ()
    """Numbers, identifiers and months of the question that neither a row, its header and title have, or neither a
    sentence nor its section; and `a denial` of the question, `a number` or `a name` that it asks for."""
    rivals: str = ""
    """The reason not to quote a row: rows would have to be compared, or other rows fit as well."""
    missing: tuple[str, ...] = ()
    """The telling words that neither it nor what is above it has."""


def quoted(question: QuestionTerms, rows: Sequence[int]) -> Quotation | None:
    """Return the sentences or the table row of the first passages that fit a question best, or None without its words.

    They score the share of the question's telling words in them, by their idf; less for those in their title, in the
    heading above or elsewhere in their passage. Word pairs in the question's order and the rank of their passage add to
    that. Of equals the first counts.
    """
    text, terms = question.text, question.terms
    if not question.weight:
        return None
    is_defined = _DEFINED.match(text) is not None
    best: tuple[float, Passage, SentenceContext] | None = None
    having = set(filter(question.has_compounds, rows[:READ])) or set(rows)
    for place, row in enumerate(rows[:READ]):
        if row not in having:
            continue
        passage = Passage(question, row)
        for candidate in passage.candidates():
            piece, above = candidate.piece, candidate.above
            sentence = passage.text[piece.begin : piece.end]
            is_other = _RULED.search(sentence) is not None or question.is_of_another(sentence)
            if not (piece.terms or above) or (is_other and not passage.is_table):
                continue
            fits = passage.share(candidate) / question.weight + _PLACE / (1 + place)
            # A definition begins with all that is to be defined, then says what it is.
            fits += _DEFINES * (is_defined and passage.is_definition(candidate))
            fits += _QUOTATION_BESIDE * question.pair_share(Tokenizer.words(sentence))
            if best is None or fits > best[0] + 1e-9:
                best = fits, passage, candidate
    if best is None:
        return None
    fits, passage, candidate = best
    candidate = passage.continued(candidate, is_whole=_HOW_TO.search(text) is not None)
    piece, above = candidate.piece, candidate.above
    context = passage.context_terms(candidate)
    lacks = tuple(word for word, term in question.needed.items() if term not in context)
    lacks += tuple(number for _, number in question.numbered if number in question.absent)
    lacks += () if question.has_compounds(passage.row) else tuple(question.compounds)
    lacks += _wanting(text, passage.text[piece.begin : piece.end])
    most, rivals = _MOST.search(text), ""
    alike = sum(other.terms >= piece.terms for other, *_ in passage.sentences) if passage.is_table else 0
    if most is not None and passage.is_table and not terms.terms_in(most[0]) & passage.header:
        rivals = f"rows are not compared or added up here ({most[0]})"
    elif alike > 1:
        rivals = f"{alike} rows fit alike"
    return Quotation(
        passage.quotation(piece),
        passage.row,
        piece.begin,
        fits,
        lacks,
        rivals,
        question.missing(piece.terms | above),
    )


class SentenceContext(NamedTuple):
    """A sentence, or a row, and what is above it."""

    piece: TextPiece
    above: frozenset[str]
    """The question's terms in the title and the heading above it, or in the header."""
    is_first: bool
    """Whether it is the first under them."""
    section: int = 0
    """The number of its section: what stands between two headings in the passage."""
    heading: frozenset[str] = frozenset()
    """The question's terms in the heading that it stands right below."""
    is_section: bool = False
    """Whether it begins the text beneath a heading in the passage."""
    is_heading: bool = False
    """Whether it is one of these headings, which is quoted neither by itself nor with what is above it."""


def _wanting(question: str, text: str) -> tuple[str, ...]:
    """Return what a question asks for and a text has not: `a denial`, `a number`, `a date` or `a name`."""
    said = _IDLE_NOT.sub(" ", _TITLE.sub(r"\1", QUOTED.sub(" ", question)))
    if _DENIES.search(said) and not _IS_DENIED.search(text):
        return ("a denial",)
    numbers = [match[0].casefold() for match in _NUMBER.finditer(_ITEM.sub(" ", text))]
    has_number = not all(number in question.casefold() for number in numbers)
    if _COUNTS.search(question) and not has_number:
        return ("a number",)
    if _WHEN.match(question) and not has_number and not _DAY.search(text):
        return ("a date",)
    return ("a name",) if _WHO.match(question) and not _names_another(question, text) else ()


def _names_another(question: str, text: str) -> bool:
    """Return whether a text has a word with a capital that the question has not; the first only before a verb."""
    own, end = set(Tokenizer.words(question)), 0
    for token in _TOKEN.finditer(text):
        word = token[0].rstrip(".'’/:-")
        begins = not end or _ENDS.search(text, end, token.start()) is not None
        end = token.start() + len(token[0].rstrip(".:"))
        is_other = own.isdisjoint(Tokenizer.words(word)) and word.casefold() not in STOP
        after = _TOKEN.search(text, token.end())
        is_named = _NAMED.match(text, token.start() + len(word)) or (after is not None and after[0] in own)
        if word[:1].isupper() and is_other and (not begins or is_named):
            return True
    return False


def _inner_headings(value: JsonValue) -> dict[int, int]:
    """Return the depth of each line that is a heading, by the value of a property that a file may have feigned."""
    pairs = value if isinstance(value, list) else []
    return {
        one[0]: one[1]
        for one in pairs
        if isinstance(one, list) and len(one) == 2 and isinstance(one[0], int) and isinstance(one[1], int)
    }


class _Section(NamedTuple):
    """A section of a passage, or of the text before the first heading: its depth, and the question's terms in it."""

    number: int
    depth: int
    heading: frozenset[str]
    near: frozenset[str] = frozenset()


class Passage:
    """A passage and its sentences, or rows."""

    def __init__(self, question: QuestionTerms, row: int) -> None:
        arrays, terms = question.graph.arrays, question.terms
        self.graph, self.row, self.text, self._terms = question.graph, row, arrays.texts[row], terms
        header = header_lines(arrays.properties.of(row), self.text)
        lines = self.text.split("\n")
        self._columns = lines[header - 1].split(CELLS) if header else []
        self.is_table = header > 0
        begin = sum(len(line) + 1 for line in lines[:header])
        self.above = self.text[:begin]
        """The caption and header of a table."""
        self.header = terms.terms_in(self.above)
        self._near: dict[int, frozenset[str]] = {}
        """The question's terms in the text of each section, and in that right beneath the headings above it."""
        title = terms.terms_in(arrays.names[row]) | self.header
        if self.is_table:
            pieces = []
            for line in lines[header:]:
                pieces.append(TextPiece(begin, begin + len(line), terms.terms_in(line)))
                begin += len(line) + 1
            self._near[0] = frozenset[str]().union(*(piece.terms for piece in pieces))
            self.sentences = list(self._with_headings(pieces, title))
        else:
            self.sentences = list(self._sections(_inner_headings(arrays.properties.of(row).get(INNER)), title))
        """Its sentences, or rows."""

    def _sections(self, depths: Mapping[int, int], title: frozenset[str]) -> Iterator[SentenceContext]:
        """Yield the sentences, each with the headings above it; `depths` are of the lines that are headings."""
        lines, begin = self.text.split("\n"), 0
        path = [_Section(0, 0, frozenset())]
        bounds = [0, *sorted(at for at in depths if 0 < at < len(lines)), len(lines)]
        for section, (first, end) in enumerate(pairwise(bounds)):
            if first in depths:
                terms = self._terms.terms_in(lines[first])
                path = [one for one in path if one.depth < depths[first]]
                piece = TextPiece(begin, begin + len(lines[first]), terms)
                yield SentenceContext(
                    piece, title.union(*(one.heading for one in path)), False, section, is_heading=True
                )
                path.append(_Section(section, depths[first], terms))
                begin, first = piece.end + 1, first + 1
            text = "\n".join(lines[first:end])
            pieces = [TextPiece(begin + one.begin, begin + one.end, one.terms) for one in pieces_of(text, self._terms)]
            near = frozenset[str]().union(*(piece.terms for piece in pieces))
            # What stands right beneath a heading goes for the sections in it too.
            path[-1] = path[-1]._replace(near=near)
            self._near[section] = near.union(*(one.near for one in path))
            above, first_of = title.union(*(one.heading for one in path)), path[-1]
            for at, sentence in enumerate(self._with_headings(pieces, above)):
                heading = first_of.heading if not at else frozenset[str]()
                yield sentence._replace(section=section, heading=heading, is_section=not at and first_of.depth > 0)
            begin += len(text) + 1 if first < end else 0

    def _with_headings(self, pieces: Sequence[TextPiece], title: frozenset[str]) -> Iterator[SentenceContext]:
        heading, is_first = frozenset[str](), True
        for piece in pieces:
            yield SentenceContext(piece, title | heading, is_first)
            is_first = self.is_heading(piece)
            if is_first:
                heading = piece.terms

    def context_terms(self, sentence: SentenceContext) -> frozenset[str]:
        """Return the question's terms in a row, its header and title; for prose in its section and what is above."""
        return sentence.above | (sentence.piece.terms if self.is_table else self._near[sentence.section])

    def candidates(self) -> Iterator[SentenceContext]:
        """Yield what may be quoted: each sentence, or row, each two sentences in a row, and each short section."""
        for _, group in groupby(self.sentences, key=lambda sentence: sentence.section):
            told = [sentence for sentence in group if not sentence.is_heading]
            for at, sentence in enumerate(told):
                if at and not self.is_table:
                    yield from self._joined(told[at - 1 : at + 1])
                yield sentence
            if told and told[0].is_section:
                yield from self._joined(told)

    def continued(self, sentence: SentenceContext, *, is_whole: bool) -> SentenceContext:
        """Return a sentence with the one that its colon leads to; if `is_whole`, with all that follows and fits."""
        piece = sentence.piece
        for other in self.sentences if not self.is_table else ():
            is_led_to = self.text[: piece.end].endswith(":")
            if other.section != sentence.section or other.is_heading or other.piece.begin < piece.end:
                continue
            if not (is_whole or is_led_to) or other.piece.end - piece.begin > LONGEST:
                break
            piece = TextPiece(piece.begin, other.piece.end, piece.terms | other.piece.terms)
        return sentence._replace(piece=piece)

    @staticmethod
    def _joined(told: Sequence[SentenceContext]) -> Iterator[SentenceContext]:
        """Yield some sentences in a row as one, if they are not too long for a quotation."""
        begin, end = told[0].piece.begin, told[-1].piece.end
        if end - begin <= LONGEST:
            terms = frozenset[str]().union(*(sentence.piece.terms for sentence in told))
            yield told[0]._replace(piece=TextPiece(begin, end, terms))

    @property
    def defines(self) -> bool:
        """Whether one of its sentences says what the thing is that a question names."""
        return any(self.is_definition(sentence) for sentence in self.sentences)

    def is_definition(self, sentence: SentenceContext) -> bool:
        """Return whether a sentence is the first under the thing as a title, or begins with it and says what it is."""
        piece, wanted = sentence.piece, self._terms.weights.keys()
        verb = _SAID.search(self.text, piece.begin, piece.end)
        if not wanted or (sentence.is_first and sentence.above >= wanted):
            return bool(wanted)
        return verb is not None and self._terms.terms_in(self.text[piece.begin : verb.start()]) >= wanted

    def is_heading(self, piece: TextPiece) -> bool:
        """Return whether a sentence is only a heading."""
        text = self.text[piece.begin : piece.end]
        return not self._columns and _HEADING.fullmatch(text) is not None and not _DIGIT.search(text)

    def share(self, sentence: SentenceContext) -> float:
        """Return the weight of the question's terms in a sentence; those above and near it count less."""
        terms, weight = sentence.piece.terms | sentence.heading, self._terms.weight
        above = sentence.above - terms
        near = self._near[sentence.section] - terms - above
        return weight(terms) + _ABOVE * weight(above) + _NEAR * weight(near)

    def marks(self, text: str) -> tuple[tuple[int, int], ...]:
        """Return where words of the question stand in a text: characters, the end excluded."""
        return tuple((begin, end) for begin, end, _ in self._terms.spans(text))

    def quotation(self, piece: TextPiece) -> str:
        """Return a sentence as it is written, of a row each cell with its column; of a very long one a part."""
        text = self.text[piece.begin : piece.end]
        cells = text.split(CELLS)
        if self._columns and len(cells) == len(self._columns):
            pairs = zip(self._columns, cells, strict=True)
            text = "; ".join(f"{column}: {cell}" if column else cell for column, cell in pairs if cell.strip())
        text = " ".join(text.split())
        begin, end = centred(text, (0, len(text)), self._terms, LONGEST)
        return f"{'…' * (begin > 0)}{text[begin:end]}{'…' * (end < len(text))}"
