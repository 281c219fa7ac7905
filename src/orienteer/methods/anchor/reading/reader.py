"""`Reader`: a question to a query, or why it was not understood."""

from __future__ import annotations

import re
from dataclasses import dataclass

from orienteer.graph.store import Graph
from orienteer.methods.anchor.linker import LinkedPhrase, PhraseLinker
from orienteer.methods.anchor.reading.clauses import Clauses
from orienteer.methods.anchor.reading.context import DETERMINERS, EMPTY, Context
from orienteer.methods.anchor.reading.lexicon import Lexicon
from orienteer.methods.anchor.reading.phrases import Phrases
from orienteer.methods.anchor.reading.query import Query
from orienteer.methods.anchor.reading.questions import Questions
from orienteer.methods.anchor.reading.relations import Relations
from orienteer.methods.anchor.words import SchemaWords, read
from orienteer.text import english

_SPELLED_OUT = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"(?i)\bcan(?:no|['’])t\b", "can not"),
        (r"(?i)\b(is|are|was|were|do|does|did|has|have|had|could|would|should)n['’]t\b", r"\1 not"),
        (r"\s*(?:>=|≥|=>)\s*", " at least "),
        (r"\s*(?:<=|≤|=<)\s*", " at most "),
        (r"\s*(?:!=|<>|≠)\s*", " is not "),
        (r"(?<![-\w])\s*>\s*(?=[\d.])", " over "),
        (r"(?<![-\w])\s*<\s*(?=[\d.])", " under "),
        (r"\s*==?\s*", " is "),
    )
)
"""Signs and contractions, and the words that they stand for."""


@dataclass(frozen=True, slots=True)
class Read:
    """How a question was read."""

    query: Query | None
    cost: float = 0.0
    not_understood: tuple[str, ...] = ()
    unknown_names: tuple[str, ...] = ()
    complaint: str | None = None
    respelled: tuple[LinkedPhrase, ...] = ()


class Reader:
    """Reads questions about one graph exactly, or not at all. Safe to share among threads."""

    def __init__(self, graph: Graph, vocabulary: SchemaWords, linker: PhraseLinker) -> None:
        self.lexicon = Lexicon(graph, vocabulary, linker)
        self._relations = Relations(self.lexicon)

    def read(self, text: str) -> Read:
        """Return the query that a question means; none where some word of it is not understood."""
        for pattern, words_of in _SPELLED_OUT:
            text = pattern.sub(words_of, text)
        vocabulary = self.lexicon.vocabulary
        reading = vocabulary.corrected(read(text, self.lexicon.graph.arrays.tokenizer))
        units, respelled = self.lexicon.units(reading)
        context = Context(reading, units, self.lexicon)
        phrases = Phrases(context, self._relations)
        clauses = Clauses(context, self._relations, phrases)
        parses = Questions(context, self._relations, phrases, clauses).read()
        if parses:
            return Read(parses[0].value, parses[0].cost, respelled=tuple(respelled))
        complaint = max(context.complaints, key=lambda why: context.complaints[why], default=None)
        names, words = _left(context)
        return Read(None, not_understood=words, unknown_names=names, complaint=complaint)


def _left(context: Context) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names that no node has, and the other words that say something and are nothing of the graph."""
    covered = context.units.covered()
    names: list[str] = []
    words: list[str] = []
    for place, word in enumerate(context.reading.words):
        if place in covered or word.is_stop or word.text in EMPTY | DETERMINERS | english.ASKING | english.NO_NAMES:
            continue
        is_name = context.reading.is_written_as_name(place) or word.is_quoted
        (names if is_name else words).append(context.reading.surface(place, place + 1))
    return tuple(dict.fromkeys(names)), tuple(dict.fromkeys(words))
