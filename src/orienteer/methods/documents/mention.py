"""Questions for documents: `which reports mention the night ferry?` is answered by all of them, counted."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from orienteer.graph.search.query_words import QueryWords
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.text.function_words import telling

_ANY = frozenset(
    "document documents file files page pages place places passage passages text texts source sources".split()
)
"""Nouns for whatever is in a folder."""
_SUFFIXES = {
    (".eml", ".msg"): "email emails mail mails message messages letter letters",
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
_NAMED = frozenset(
    """minute minutes report reports note notes memo memos article articles chapter chapters manual manuals guide guides
    tariff tariffs contract contracts notice notices policy policies form forms register registers""".split()
)
"""Nouns for documents that are so called by their path or title."""
_NOUNS = "|".join(sorted({*_ANY, *_KINDS, *_NAMED}, key=len, reverse=True))
_VERB = (
    r"(?:mention|name|cite|discuss|describe|cover|contain|include|concern|reference|speak of|speak about|talk of|"
    r"talk about|refer to|deal with|say (?:anything|something) (?:about|on)|write about)(?:s|es|ed|ing)?"
    r"|speaks (?:of|about)|talks (?:of|about)|refers to|deals with|says (?:anything|something) (?:about|on)"
    r"|(?:is|are) (?:about|on)|about"
)
_ASKED = re.compile(
    rf"(?:please\s+)?(?P<ask>how many|(?:in |of )?which|what|(?:list|show|find|give|name|tell)(?:\s+me)?(?:\s+all)?)"
    rf"(?:\s+(?:of\s+)?(?:the|my|our|these|all))*\s+(?P<noun>{_NOUNS})(?:\s+(?:that|which|do|does|here|there|all))*"
    rf"\s+(?:{_VERB})\s+(?P<subject>.+)",
    re.IGNORECASE | re.DOTALL,
)
_WHERE = re.compile(
    rf"(?:in which (?P<noun>{_NOUNS})|where)\s+(?:is|are|was|were)\s+(?P<subject>.+?)\s+"
    r"(?:mentioned|discussed|named|described|cited|referenced)\W*$",
    re.IGNORECASE | re.DOTALL,
)


class DocumentsAsked(NamedTuple):
    """What documents are asked for."""

    subject: str
    """What they speak of."""
    noun: str
    """What kind of document they are, as the question says it."""
    is_counted: bool
    """Whether their number is asked for."""


class Speaking(NamedTuple):
    """The documents that speak of something."""

    rows: list[int]
    """Of each the passage that speaks of it most, best first."""
    files: list[str]
    """Their names, in the same order."""


def asked_for(question: str) -> DocumentsAsked | None:
    """Return what documents a question asks for; None where it asks for something else.

    >>> asked_for("Which reports mention the night ferry?")
    DocumentsAsked(subject='the night ferry', noun='reports', is_counted=False)
    >>> asked_for("how many files talk about mooring fees")
    DocumentsAsked(subject='mooring fees', noun='files', is_counted=True)
    >>> asked_for("Which ferry sails at night?") is None
    True
    """
    text = question.strip()
    match = _ASKED.match(text) or _WHERE.match(text)
    if match is None:
        return None
    subject = match["subject"].strip().rstrip("?.! ")
    groups = match.groupdict()
    is_counted = (groups.get("ask") or "").casefold() == "how many"
    return DocumentsAsked(subject, (match["noun"] or "documents").casefold(), is_counted) if subject else None


def speaking(graph: Graph, asked: DocumentsAsked, mask: Mask | None) -> Speaking:
    """Return all documents of a kind in which one passage has every telling word of the subject.

    Where none has, those that have every word in one passage or another; where the kind fits none of them, all kinds
    count. `mask`, (nodes,), is of the passages that may answer.
    """
    arrays = graph.arrays
    words = QueryWords(arrays, " ".join(telling(asked.subject)))
    if not words.postings or words.unknown:
        return Speaking([], [])
    rows = words.full_in(None)
    files = {row: file for row in _allowed(rows, mask) if (file := _file(graph, row)) is not None}
    if not files:
        files = _together(graph, words, mask)
    kind = [row for row, file in files.items() if _is_of_kind(graph, file, asked.noun)]
    rows = np.array(sorted(kind or files), np.int32)
    scores = arrays.text_index.scores(words.terms, rows)
    best = rows[np.lexsort((rows, -scores))].tolist()
    first = {files[row]: row for row in reversed(best)}
    order = sorted(first.values(), key=best.index)
    return Speaking(order, [files[row] for row in order])


def _together(graph: Graph, words: QueryWords, mask: Mask | None) -> dict[int, str]:
    """Return the passages with one of the words, of the documents that have all of them, with their file."""
    index = graph.arrays.text_index
    found: list[dict[int, str]] = []
    for postings in words.postings.values():
        rows = np.unique(np.concatenate([index.rows_of(posting) for posting in postings]))
        found.append({row: file for row in _allowed(rows, mask) if (file := _file(graph, row)) is not None})
    whole = set[str].intersection(*(set(files.values()) for files in found))
    return {row: file for files in found for row, file in files.items() if file in whole}


def _allowed(rows: Rows, mask: Mask | None) -> list[int]:
    return [int(row) for row in (rows if mask is None else rows[mask[rows]])]


def _file(graph: Graph, row: int) -> str | None:
    """Return the name of the document of a passage: a row of a collection stands for itself."""
    properties = graph.arrays.properties.of(row)
    document = properties.get("document", graph.arrays.ids[row])
    return document if isinstance(document, str) else None


def _is_of_kind(graph: Graph, document: str, noun: str) -> bool:
    if noun in _ANY:
        return True
    if noun in _KINDS and document.casefold().endswith(_KINDS[noun]):
        return True
    stem = graph.arrays.tokenizer.stem(noun)
    title = graph.node(document).name if document in graph else ""
    return stem in graph.arrays.tokenizer.terms(f"{document} {title}")
