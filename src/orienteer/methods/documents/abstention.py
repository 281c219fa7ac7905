"""Whether the passages that were found answer a question at all.

Two things speak against it, and both were measured on questions that their folders cannot answer
(`benchmarks/folders.py`; docs/documents.md has the figures). A name or an identifier of the question stands nowhere in
the documents: *What did Storm Ellen cost?* Or next to nothing of the question stands in any of the passages. What
merely is not said of something that is there (*How old is the harbour master?*) cannot be told by words, nor by the
likeness of vectors: such a question gets its nearest passages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

import numpy as np

from orienteer.graph.search.query_words import QueryWords
from orienteer.graph.store import Graph
from orienteer.methods.documents.quotation import Quotation
from orienteer.records import Refusal
from orienteer.retrieval.graph_text import shown_of
from orienteer.text.english import FORMS, STOP
from orienteer.text.function_words import language_words, telling_words
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
