"""Questions for documents: `which reports mention the night ferry?` is answered by all of them, counted."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from orienteer.graph.store import Graph
from orienteer.index.bm25 import Mask
from orienteer.text.function_words import telling


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ANY = _words(
    """document documents doc docs file files folder page pages paper papers passage passages text texts source
    sources"""
)
"""Nouns for whatever is in a folder."""
_SUFFIXES = {
    (".eml", ".msg"): "email emails mail mails message messages",
    (".xlsx", ".xlsm", ".csv", ".tsv", ".ods"): "spreadsheet spreadsheets sheet sheets workbook workbooks table tables",
    (".pptx", ".odp"): "deck decks slide slides presentation presentations",
    (".pdf",): "pdf pdfs",
    (".docx", ".odt"): "word",
    (".ipynb",): "notebook notebooks",
    (".log",): "log logs",
    (".py", ".js", ".ts", ".c", ".h", ".go", ".rs", ".java", ".sh"): "script scripts module modules",
}
"""Nouns for files of some kinds, by their suffixes."""
_KINDS = {noun: suffixes for suffixes, nouns in _SUFFIXES.items() for noun in nouns.split()}
_NAMED = _words(
    """minute minutes letter letters report reports note notes memo memos article articles chapter chapters manual
    manuals guide guides tariff tariffs contract contracts notice notices policy policies form forms register
    registers"""
)
"""Nouns for documents that are so called by their path or title."""
_NOUNS = "|".join(sorted({*_ANY, *_KINDS, *_NAMED}, key=len, reverse=True))
_SPEAKS = (
    r"(?:mention|name|cite|credit|discuss|describe|cover|contain|include|concern|regard|reference|touch on|go into|"
    r"bring up|speak (?:of|about)|talk (?:of|about)|refer to|deal with|treat|write about|report on|"
    r"say (?:anything|something) (?:about|on)|have (?:anything|something) (?:about|on))"
)
_SPEAKING = (
    r"(?:(?:mention|nam|cit|credit|discuss|describ|cover|contain|includ|concern|regard|referenc)(?:s|es|ed|ing|e)?"
    r"|(?:speak|talk)(?:s|ing)? (?:of|about)|refer(?:s|ring)? to|deal(?:s|ing)? with|touch(?:es|ing)? on"
    r"|says? (?:anything|something) (?:about|on)|ha(?:s|ve) (?:anything|something) (?:about|on)"
    r"|(?:is|are) (?:about|on)|about|on)"
)
_SPOKEN = (
    r"(?:(?:is|are|was|were|gets?|been) )?(?:mentioned|named|cited|credited|discussed|described|covered|referenced|"
    r"spoken (?:of|about)|talked (?:of|about)|referred to|dealt with|brought up|come up|comes up|appear|appears|occur|"
    r"occurs|turn up|turns up)"
)
_ASK = (
    r"(?:please\s+)?(?:(?:can|could) you\s+)?(?P<ask>how many|(?:in |of )?which|what|all(?: the)?|"
    r"(?:list|show|find|give|name|tell)(?: me)?(?: all)?)(?:\s+(?:of|the|my|our|these|all))*\s+"
)
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"{_ASK}(?P<noun>{_NOUNS})(?:\s+(?:here|there|in \w+ folder))?\s+(?:in which|where|whose text)\s+"
        rf"(?P<subject>.+?)\s+{_SPOKEN}\W*$",
        rf"{_ASK}(?P<noun>{_NOUNS})(?:\s+(?:that|which|do|does|here|there|all))*\s+(?:{_SPEAKING}|{_SPEAKS})\s+"
        r"(?P<subject>.+)",
        rf"in (?:which|what|how many) (?P<noun>{_NOUNS})\s+(?:is|are|was|were|does|do|did)\s+(?P<subject>.+?)\s+"
        rf"{_SPOKEN}\W*$",
        rf"where(?:\s+in\s+(?:the|my|our|these)\s+(?P<noun>{_NOUNS}|folder))?\s+(?:is|are|was|were|does|do|did)\s+"
        rf"(?P<subject>.+?)\s+{_SPOKEN}\W*$",
    )
)
"""How people ask for documents, best first."""
_LEAST = 0.5
"""Share of a subject's words, by their idf, that a passage has to have to be near it."""


class DocumentsAsked(NamedTuple):
    """What documents are asked for."""

    subject: str
    """What they speak of."""
    noun: str
    """What kind of document they are, as the question says it."""
    is_counted: bool
    """Whether their number is asked for."""


class Speaking(NamedTuple):
    """The documents that speak of something, or nearly."""

    rows: list[int]
    """Of each the passage that speaks of it most, best first."""
    files: list[str]
    """Their names, in the same order."""
    complete: int
    """How many of them, the first, have every telling word of it in one passage."""
    absent: tuple[str, ...]
    """Its words that no passage has."""


def asked_for(question: str) -> DocumentsAsked | None:
    """Return what documents a question asks for; None where it asks for something else.

    >>> asked_for("Which reports mention the night ferry?")
    DocumentsAsked(subject='the night ferry', noun='reports', is_counted=False)
    >>> asked_for("how many files talk about mooring fees")
    DocumentsAsked(subject='mooring fees', noun='files', is_counted=True)
    >>> asked_for("Which ferry sails at night?") is None
    True
    """
    text = " ".join(question.split())
    for pattern in _PATTERNS:
        if (match := pattern.match(text)) and (subject := match["subject"].strip(' ?.!"')):
            ask = match.groupdict().get("ask") or text.split(" ", 1)[0]
            is_counted = "how many" in (ask.casefold(), text[:11].casefold().removeprefix("in "))
            return DocumentsAsked(subject, (match["noun"] or "documents").casefold(), is_counted)
    return None


def speaking(graph: Graph, asked: DocumentsAsked, mask: Mask | None) -> Speaking:
    """Return the documents of a kind by how much one of their passages has of the subject; all where none is so called.

    `mask`, (nodes,), is of the passages that may answer. Of equals the passage with the higher BM25 comes first.
    """
    arrays, index = graph.arrays, graph.arrays.text_index
    weights = np.zeros(len(graph))  # the idf of the words that each row has
    total, absent, terms = 0.0, list[str](), list[str]()
    for word in dict.fromkeys(telling(asked.subject)):
        own = np.zeros(len(graph))
        for posting in filter(None, map(index.posting, arrays.tokenizer.expand(word))):
            rows = index.rows_of(posting)
            own[rows] = np.maximum(own[rows], posting.idf)
            terms.append(posting.term)
        absent += [] if own.any() else [word]
        weights, total = weights + own, total + float(own.max())
    if not total:
        return Speaking([], [], 0, tuple(absent))
    share = weights / total
    rows = np.flatnonzero((share >= _LEAST) if mask is None else mask & (share >= _LEAST)).astype(np.int32)
    order = np.lexsort((rows, -index.scores(terms, rows), -share[rows].round(6)))
    best: dict[str, int] = {}
    for row in rows[order].tolist():
        best.setdefault(_document(graph, row), row)
    kind = {document: row for document, row in best.items() if _is_of_kind(graph, document, asked.noun)} or best
    complete = 0 if absent else sum(bool(share[row] > 1 - 1e-9) for row in kind.values())
    return Speaking(list(kind.values()), list(kind), complete, tuple(absent))


def _document(graph: Graph, row: int) -> str:
    """Return the id of the document of a passage: a row of a collection stands for itself."""
    return str(graph.arrays.properties.of(row).get("document", graph.arrays.ids[row]))


def _is_of_kind(graph: Graph, document: str, noun: str) -> bool:
    if noun in _ANY:
        return True
    if noun in _KINDS and document.casefold().endswith(_KINDS[noun]):
        return True
    stem = graph.arrays.tokenizer.stem(noun)
    title = graph.node(document).name if document in graph else ""
    return stem in graph.arrays.tokenizer.terms(f"{document} {title}")
