"""Names to nodes: mentions in a text, the nodes that each may mean, and the choice among them, a caller's policy.

`C++` means the node that is called so; if there is none, `c++`, else `C`, for punctuation counts least. A mention
may also be the id of a node.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.cypher.names import Identifiers
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask, TextIndex
from orienteer.index.names import NameKind
from orienteer.records import Schema
from orienteer.text.sentences import single_spaced
from orienteer.text.tokenizer import Tokenizer

Phrase = tuple[str, ...]
"""Words that stand together, folded or stemmed."""
SHARED = 4
"""Letters that the stems of two akin words share at their beginning, at least."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_VALUE = re.compile(r"true|false|yes|no|none|null|[-+]?[\d][\d.,\s]*%?", re.IGNORECASE)
_PARTS = re.compile(r"((?:(?<!\s)\s+)?[,;|\n]\s*(?:and\s+|or\s+)?|(?<!\s)\s+(?:and|or)\s+)", re.IGNORECASE)
_BRACKETED = re.compile(r"(.*\S)\s*[(\[]([^()\[\]]+)[)\]]")
_MOST_PARTS = 200  # of an answer that is looked at
_LONGEST = 12  # parts that one name may be written in
_MOST_OF_A_NAME = 10  # nodes that share a name and that nothing tells apart
_SHORTEST = 3  # characters of a name that is looked for inside a sentence
_AROUND = " \t\r\n.\"'`*-•"
_BRACKETS = "()[]{}"
_CITATION = re.compile(r"\[[^\[\]]*\]")
_SHORT = 4  # letters; a name no longer than that counts only as it is written: `CAN` is a gene, "can" is not
_NUMBERED = re.compile(r"\d{1,3}[.)]\s+")  # of a list, a line each
_FORMS = (str.strip, lambda name: name.strip(_AROUND), lambda name: _NUMBERED.sub("", name.strip(), 1))
_ARTICLES = frozenset(("a", "an", "the", "any", "some", "this", "that", "which", "what"))


@dataclass(frozen=True, slots=True)
class Policy:
    """How a caller chooses among the nodes that a mention may mean."""

    forms: Sequence[Callable[[str], str]] = (str,)
    """The forms of a mention that are tried in turn until some node is called so."""
    most: int | None = None
    """At most so many nodes of one name; None for all of them."""
    identifiers: Identifiers | None = None
    """The identifiers of a view, which count before ids and names."""


def link(graph: Graph, mention: str, policy: Policy, shown: Collection[int] = ()) -> list[int]:
    """Return the rows that a mention means, best first; if some of them were shown before, only those."""
    for name in filter(None, dict.fromkeys(form(mention) for form in policy.forms)):
        viewed = () if policy.identifiers is None else policy.identifiers.rows(name)
        if rows := list(viewed) or called(graph, name):
            return [row for row in rows if row in shown] or rows[: policy.most]
    return []


def called(graph: Graph, name: str) -> list[int]:
    """Return the rows of exactly this id, name, alias or identifier: the id first, then names, then the others.

    Case never counts; punctuation counts only if some name is spelled just so.
    """
    by_id = graph.arrays.ids.find(name)
    nodes = sorted(graph.arrays.name_index.called(name), key=lambda node: (node.kind, node.row))
    same = set(spelled(graph, name))
    rows = [node.row for node in nodes if node.kind is NameKind.IDENTIFIER or node.row in same]
    rows = rows or [node.row for node in nodes]
    rows.sort(
        key=lambda row: graph.arrays.names[row] != name
    )  # stable: of two that differ in case, the one as it is written
    return list(dict.fromkeys(rows if by_id is None else [by_id, *rows]))


def spelled(graph: Graph, name: str) -> list[int]:
    """Return the rows with a name or alias that differs from this one in case alone."""
    folded = name.casefold()
    rows = [node.row for node in graph.arrays.name_index.called(name)]
    return [
        row for row in rows if folded in map(str.casefold, (graph.arrays.names[row], *graph.arrays.aliases_at(row)))
    ]


def near_name(graph: Graph, name: str, likeness: float = 0.0) -> str | None:
    """Return the node name that is spelled most like this one, or None if none reaches `likeness`."""
    near = graph.arrays.near_names(name, most=1)
    return near[0] if near and letter_likeness(name, near[0]) >= likeness else None


def letter_likeness(text: str, other: str) -> float:
    """Return the likeness of two texts letter by letter, case aside, from 0 to 1."""
    return SequenceMatcher(None, text.casefold(), other.casefold(), autojunk=False).ratio()


@lru_cache(maxsize=1 << 16)
def is_akin(stem: str, other: str) -> bool:
    """Return whether two stems begin alike, as those of `director` and `directed` do."""
    short, long = sorted((len(stem), len(other)))
    shared = next((at for at, (letter, twin) in enumerate(zip(stem, other, strict=False)) if letter != twin), short)
    return shared >= SHARED and shared >= 0.75 * short and shared >= 0.5 * long


def word_shares(index: TextIndex, words: Iterable[Sequence[str]], rows: Rows, unknown: float) -> NDArray[np.float64]:
    """Return the share of the words that each node holds, rare words counting more: (n,), from 0 to 1.

    `rows` is (n,), ascending. Each word is a sequence of terms, any of which counts as the word. Its weight is the idf
    of its rarest term, or `unknown` if no node has any of them.
    """
    weights, whole = np.zeros(len(rows)), 0.0
    for terms in words:
        postings = index.postings(terms)
        weight = max((posting.idf for posting in postings), default=unknown)
        whole += weight
        if postings:
            having = np.unique(np.concatenate([index.filter_rows(posting, rows) for posting in postings]))
            weights[rows.searchsorted(having)] += weight
    return weights / whole if whole else weights


def type_words(name: str, tokenizer: Tokenizer) -> Phrase:
    """Return the folded words of a type's name, which ends a word at `_` and where its case changes."""
    return tuple(tokenizer.words(_HUMP.sub(" ", name).replace("_", " ")))


def type_phrases(type_name: str, schema: Schema, tokenizer: Tokenizer) -> list[Phrase]:
    """Return the phrases for a node type or an edge type: its name, its label and what else it is called."""
    names = (type_name, schema.label(type_name), *schema.also_called.get(type_name, ()))
    return list(dict.fromkeys(filter(None, (type_words(name, tokenizer) for name in names))))


class TypeLinker:
    """Links mentions to the node types of one graph, by the stems of their words."""

    def __init__(self, graph: Graph) -> None:
        self._tokenizer, self._count = graph.arrays.tokenizer, len(graph.arrays.types.nodes)
        self._numbers: dict[Phrase, list[int]] = {}
        for number, name in enumerate(graph.arrays.types.nodes):
            for phrase in type_phrases(name, graph.schema, graph.arrays.tokenizer):
                self._numbers.setdefault(tuple(map(self._tokenizer.stem, phrase)), []).append(number)

    def link(self, mention: str) -> Mask | None:
        """Mark the node types that a mention names, with or without an article: (types,); None if it names none."""
        words = type_words(mention, self._tokenizer)
        if len(words) > 1 and words[0] in _ARTICLES:
            words = words[1:]
        numbers = self._numbers.get(tuple(map(self._tokenizer.stem, words)))
        return None if numbers is None else np.isin(np.arange(self._count), numbers)

    def has_article(self, mention: str) -> bool:
        """Return whether a mention begins with an article or a similar word; names do not."""
        return next(iter(self._tokenizer.words(mention)), "") in _ARTICLES


# ------------------------------------------------------------------------------------------------- names in a text


class NameSpan(NamedTuple):
    """Words `begin` up to `end` of a text, and the nodes of that name."""

    begin: int
    end: int
    rows: Collection[int]


def longest_names(count: int, longest: int, named: Callable[[int, int], Collection[int]]) -> Iterator[NameSpan]:
    """Yield the names among `count` words from left to right: at each word the longest one; no word is part of two.

    `named(begin, end)` returns the nodes that these words name; none for more words than `longest` is asked for.
    """
    at = 0
    while at < count:
        for end in range(min(count, at + longest), at, -1):
            if rows := named(at, end):
                yield NameSpan(at, end, rows)
                break
        at = end


def occurrences(name: str, text: str, flags: re.RegexFlag = re.NOFLAG) -> Iterator[re.Match[str]]:
    """Return the matches of a name in a text, in order, unless it is part of a longer word."""
    return re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, flags)


def named_in(graph: Graph, rows: Iterable[int], answer: str) -> list[int]:
    """Return the rows whose name occurs in an answer, in its order; no letter belongs to two names."""
    bare = _CITATION.sub(" ", answer)
    folded = bare.casefold()
    by_name: dict[str, list[int]] = {}
    for row in dict.fromkeys(rows):
        name = single_spaced(graph.arrays.names[row])
        if any(map(str.isalpha, name)) and name.casefold() in folded:
            by_name.setdefault(name.casefold() if len(name) > _SHORT else name, []).append(row)
    places: list[tuple[int, int]] = []
    taken = np.zeros(len(bare), np.bool_)
    for name in sorted(by_name, key=lambda name: (-len(name), name)):
        for match in occurrences(name, bare, re.IGNORECASE if len(name) > _SHORT else re.NOFLAG):
            if not taken[match.start() : match.end()].any():
                taken[match.start() : match.end()] = True
                places += [(match.start(), row) for row in by_name[name]]
    return list(dict.fromkeys(row for _, row in sorted(places)))


class LinkedAnswer(NamedTuple):
    """What an answer names."""

    rows: tuple[int, ...]
    missing: tuple[str, ...]
    """Parts that no node is called by."""


class AnswerLinker:
    """Finds the nodes that an answer in words names: ids, names and aliases, of those shown before or of all.

    Of a list the longest run of parts that is a name counts first, for names hold commas. Booleans and numbers name
    nothing.
    """

    def __init__(self, graph: Graph, identifiers: Identifiers | None = None) -> None:
        self._graph, self._policy = graph, Policy(_FORMS, _MOST_OF_A_NAME, identifiers)

    def link(self, answer: str, shown: Collection[int] = ()) -> LinkedAnswer:
        """Return the rows that an answer names, in its order, those shown before first if a name has several."""
        # A split keeps its separators: names are at the even places.
        parts = _PARTS.split(answer)[: 2 * _MOST_PARTS]
        rows: dict[int, None] = {}
        missing: list[str] = []
        begin = 0  # of the parts since then none is a name

        def named(first: int, last: int) -> list[int]:
            return self._named("".join(parts[2 * first : 2 * last - 1]), shown)

        for span in longest_names((len(parts) + 1) // 2, _LONGEST, named):
            rows.update(dict.fromkeys(self._rest(parts[begin : 2 * span.begin], shown, missing)))
            rows.update(dict.fromkeys(span.rows))
            begin = 2 * span.end
        rows.update(dict.fromkeys(self._rest(parts[begin:], shown, missing)))
        return LinkedAnswer(tuple(rows), tuple(missing))

    def _rest(self, parts: Sequence[str], shown: Collection[int], missing: list[str]) -> list[int]:
        """Return the nodes named within a run of parts that are no names; without any, the parts are missing."""
        rows = self._inside("".join(parts), shown)
        if not rows:
            bare = (part.strip(_AROUND) for part in parts[::2])
            missing += [part for part in bare if part and not _VALUE.fullmatch(part)]
        return rows

    def _named(self, text: str, shown: Collection[int]) -> list[int]:
        """Return the nodes of a name; in `name (other)` those of both, or of one of them."""
        if _VALUE.fullmatch(text.strip(_AROUND + _BRACKETS)):
            return []
        if rows := link(self._graph, text, self._policy, shown):
            return rows
        bracketed = _BRACKETED.fullmatch(text.strip(_AROUND))
        if bracketed is None:
            return []
        before, inner = (link(self._graph, part, self._policy, shown) for part in bracketed.groups())
        # Of several parts, the brackets belong to the last alone.
        if not before and _PARTS.search(bracketed[1]):
            return []
        return [row for row in before if row in inner] or before or inner

    def _inside(self, text: str, shown: Collection[int]) -> list[int]:
        """Return the shown nodes whose name occurs in a sentence, in its order; of nested names the longest."""
        folded = text.casefold()
        places: list[tuple[int, int, int]] = []
        for row in shown:
            name = self._graph.arrays.names[row].casefold()
            if len(name) < _SHORTEST or name not in folded or _VALUE.fullmatch(name):
                # Most names end here: to compile a pattern for each would take the most time.
                continue
            if match := next(occurrences(name, folded), None):
                places.append((match.start(), match.end(), row))
        return [
            row
            for begin, end, row in sorted(places)
            if not any(first <= begin and end <= last and last - first > end - begin for first, last, _ in places)
        ]
