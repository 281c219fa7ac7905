"""Names to nodes: a mention, the nodes that it may mean, and the choice among them, which is its caller's policy.

`C++` means the node that is called so; where there is none, `c++`, else `C`, for punctuation counts least. A mention
may also be the id of a node.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from orienteer.cypher.view import Identifiers
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask, TextIndex
from orienteer.index.names import NameKind
from orienteer.records import Schema
from orienteer.text.tokenizer import Tokenizer

Phrase = tuple[str, ...]
"""Words that stand together, folded or stemmed."""
SHARED = 4
"""Letters that the stems of two words must share at their beginning to be akin."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ARTICLES = frozenset(("a", "an", "the", "any", "some", "this", "that", "which", "what"))


@dataclass(frozen=True, slots=True)
class Policy:
    """How a caller chooses among the nodes that a mention may mean."""

    forms: Sequence[Callable[[str], str]] = (str,)
    """What a mention is tried as, one after another, until some node is called so."""
    most: int | None = None
    """Nodes of one name at the most."""
    identifiers: Identifiers | None = None
    """What a view calls nodes; these count before ids and names."""


def link(graph: Graph, mention: str, policy: Policy, shown: Collection[int] = ()) -> list[int]:
    """Return the rows that a mention means, best first: of those shown before alone, where it means any of them."""
    for name in filter(None, dict.fromkeys(form(mention) for form in policy.forms)):
        viewed = () if policy.identifiers is None else policy.identifiers.rows(name)
        if rows := list(viewed) or called(graph, name):
            return [row for row in rows if row in shown] or rows[: policy.most]
    return []


def called(graph: Graph, name: str) -> list[int]:
    """Return the rows of just this id, name, alias or identifier, names before the others.

    Case does not count, nor does punctuation where no name is spelled as this one is.
    """
    by_id = graph.ids.find(name)
    nodes = sorted(graph.name_index.called(name), key=lambda node: (node.kind, node.row))
    same = set(spelled(graph, name))
    rows = [node.row for node in nodes if node.kind is NameKind.IDENTIFIER or node.row in same]
    rows = rows or [node.row for node in nodes]
    rows.sort(key=lambda row: graph.names[row] != name)  # stable: of two that differ in case, the one as it is written
    return list(dict.fromkeys(rows if by_id is None else [by_id, *rows]))


def spelled(graph: Graph, name: str) -> list[int]:
    """Return the rows with a name or alias that differs from this one in case alone."""
    folded = name.casefold()
    rows = [node.row for node in graph.name_index.called(name)]
    return [row for row in rows if folded in map(str.casefold, (graph.names[row], *graph.aliases_at(row)))]


def letter_likeness(one: str, other: str) -> float:
    """Return how alike two texts are letter by letter, case aside, from 0 to 1."""
    return SequenceMatcher(None, one.casefold(), other.casefold(), autojunk=False).ratio()


@lru_cache(maxsize=1 << 16)
def is_akin(stem: str, other: str) -> bool:
    """Tell whether two stems begin alike, such as those of `director` and `directed`."""
    short, long = sorted((len(stem), len(other)))
    shared = next((at for at, (one, two) in enumerate(zip(stem, other, strict=False)) if one != two), short)
    return shared >= SHARED and shared >= 0.75 * short and shared >= 0.5 * long


def word_shares(index: TextIndex, words: Iterable[Sequence[str]], rows: Rows, unknown: float) -> NDArray[np.float64]:
    """Return which share of some words each node holds, rare words counting more: (n,), from 0 to 1.

    `rows` is (n,), ascending. A word is given by its terms, each of which counts as the word; it weighs the idf of its
    rarest term, and `unknown` where no node has any.
    """
    held, whole = np.zeros(len(rows)), 0.0
    for terms in words:
        postings = index.postings(terms)
        weight = max((posting.idf for posting in postings), default=unknown)
        whole += weight
        if postings:
            having = np.unique(np.concatenate([index.having(posting, rows) for posting in postings]))
            held[rows.searchsorted(having)] += weight
    return held / whole if whole else held


def type_words(name: str, tokenizer: Tokenizer) -> Phrase:
    """Return the folded words of a type's name, which is cut at `_` and where its case changes."""
    return tuple(tokenizer.words(_HUMP.sub(" ", name).replace("_", " ")))


def type_phrases(type_name: str, schema: Schema, tokenizer: Tokenizer) -> list[Phrase]:
    """Return the ways in which a node type or an edge type is said: its name, label and further words."""
    names = (type_name, schema.label(type_name), *schema.also_called.get(type_name, ()))
    return list(dict.fromkeys(filter(None, (type_words(name, tokenizer) for name in names))))


class TypeLinker:
    """Links mentions to the node types of one graph, by the stems of the words that say them."""

    def __init__(self, graph: Graph) -> None:
        self._tokenizer, self._count = graph.tokenizer, len(graph.types.nodes)
        self._numbers: dict[Phrase, list[int]] = {}
        for number, name in enumerate(graph.types.nodes):
            for phrase in type_phrases(name, graph.schema, graph.tokenizer):
                self._numbers.setdefault(tuple(map(self._tokenizer.stem, phrase)), []).append(number)

    def link(self, mention: str) -> Mask | None:
        """Mark the node types that a mention names, an article aside; None where it names none."""
        words = type_words(mention, self._tokenizer)
        if len(words) > 1 and words[0] in _ARTICLES:
            words = words[1:]
        numbers = self._numbers.get(tuple(map(self._tokenizer.stem, words)))
        return None if numbers is None else np.isin(np.arange(self._count), numbers)

    def has_article(self, mention: str) -> bool:
        """Tell whether a mention begins as no name does: with an article or a word like one."""
        return next(iter(self._tokenizer.words(mention)), "") in _ARTICLES
