"""Questions for documents: `which reports mention the night ferry?` is answered by all of them, counted."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.reserved import DOCUMENT
from orienteer.graph.store import Graph
from orienteer.index.bm25 import Mask
from orienteer.text.function_words import telling_words
from orienteer.text.tokenizer import Tokenizer

Weights = NDArray[np.float64]


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
_SAYS = re.compile(
    r"(?:mention|cit|credit|discuss|describ|referenc|speak|talk|refer|deal|touch|say|ha(?:s|ve) )", re.IGNORECASE
)
"""Verbs that only texts go with."""
_SPOKEN = (
    r"(?:(?:is|are|was|were|gets?|been) )?(?:mentioned|cited|credited|discussed|described|covered|referenced|"
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
        rf"{_ASK}(?P<noun>{_NOUNS})(?:\s+(?:that|which|do|does|here|there|all|in the folder))*\s+"
        rf"(?P<denied>not\s+|never\s+|don't\s+|doesn't\s+)?(?P<verb>{_SPEAKING}|{_SPEAKS})\s+(?P<subject>.+)",
        rf"(?P<noun>{_NOUNS})\s+(?P<verb>{_SPEAKING})\s+(?P<subject>.+)",
        rf"in (?:which|what|how many) (?P<noun>{_NOUNS})\s+(?:is|are|was|were|does|do|did)\s+(?P<subject>.+?)\s+"
        rf"{_SPOKEN}\W*$",
        rf"where(?:\s+in\s+(?:the|my|our|these)\s+(?P<noun>{_NOUNS}|folder))?\s+(?:is|are|was|were|does|do|did)\s+"
        rf"(?P<subject>.+?)\s+{_SPOKEN}\W*$",
    )
)
"""How people ask for documents, best first."""
_LEAST = 0.5
"""Share of a subject's words, by their idf, that a passage has to have to be near it."""


_WITHOUT = re.compile(
    r",? (?:but|and) (?:do(?:es)? )?not(?: (?:mention|name|cite))? |,? (?:but )?without ", re.IGNORECASE
)
_OR = re.compile(r",? or ", re.IGNORECASE)
_AND = re.compile(r",? and |, ", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“]([^\"“”]+)[\"”]|'([^']{3,})'")


class DocumentsAsked(NamedTuple):
    """What documents are asked for."""

    subject: str
    """What they speak of."""
    noun: str
    """What kind of document they are, as the question says it."""
    is_counted: bool = False
    """Whether their number is asked for."""
    without: str = ""
    """What they do not speak of."""
    is_denied: bool = False
    """They are those that do not speak of the subject."""


def asked_for(question: str) -> DocumentsAsked | None:
    """Return what documents a question asks for; None where it asks for something else.

    >>> asked_for("Which reports mention the night ferry but not Ada Holm?")
    DocumentsAsked(subject='the night ferry', noun='reports', is_counted=False, without='Ada Holm', is_denied=False)
    >>> asked_for("how many files talk about mooring fees").is_counted
    True
    >>> asked_for("Which ferry sails at night?") is None
    True
    """
    text = " ".join(question.split())
    for pattern in _PATTERNS:
        match = pattern.match(text)
        subject = match["subject"].strip(" ?.!") if match is not None else ""
        if match is None or not subject or not _is_clear(match):
            continue
        groups = match.groupdict()
        ask = groups.get("ask") or text.split(" ", 1)[0]
        is_counted = "how many" in (ask.casefold(), text[:11].casefold().removeprefix("in "))
        wanted, *others = _WITHOUT.split(subject, maxsplit=1)
        noun = (groups.get("noun") or "documents").casefold()
        return DocumentsAsked(wanted, noun, is_counted, "".join(others), bool(groups.get("denied")))
    return None


def _is_clear(match: re.Match[str]) -> bool:
    """Return whether documents are asked for, and not what stands in one: *What policies cover storm damage?*

    A noun for some documents alone needs a verb of speaking; `about` and the like a noun in the plural.
    """
    groups = match.groupdict()
    noun, verb = (groups.get("noun") or "").casefold(), groups.get("verb")
    if verb is None or _SAYS.match(verb):
        return True
    return noun not in _NAMED and noun.endswith("s") and not match["subject"].casefold().startswith("to ")


class Speaking(NamedTuple):
    """The documents that speak of something, or nearly."""

    rows: list[int]
    """Of each the passage that speaks of it most, best first."""
    documents: list[str]
    """Their names, in the same order."""
    complete: int
    """How many of them, the first, have every telling word of it in one passage."""
    absent: tuple[str, ...]
    """Its words that no passage has."""


class _Subject(NamedTuple):
    """How much passages have of a subject."""

    share: Weights
    """(nodes,): the share of its telling words, by their idf."""
    terms: tuple[str, ...]
    absent: tuple[str, ...]

    @property
    def complete(self) -> NDArray[np.intp]:
        """Return the rows that have every word of it, ascending."""
        return np.flatnonzero(self.share > 1 - 1e-9) if not self.absent else np.zeros(0, np.intp)


def speaking(graph: Graph, asked: DocumentsAsked, mask: Mask | None) -> Speaking:
    """Return the documents of a kind that speak of a subject, those with all of it first.

    Of `X or Y` one is enough; of `X and Y` a document may have each in another passage; what stands in quotes has to
    stand so. `mask`, (nodes,), is of the passages that may answer. Of equals the passage with the higher BM25 comes
    first.
    """
    parts = [_subject(graph, part) for part in _OR.split(asked.subject)]
    share = np.max([part.share for part in parts], axis=0)
    allowed = np.ones(len(graph), np.bool_) if mask is None else mask
    whole = _complete(graph, asked.subject, allowed)
    if asked.without:
        whole -= _complete(graph, asked.without, allowed)
    if asked.is_denied:
        whole = {_document(graph, row) for row in np.flatnonzero(allowed).tolist()} - whole
        share = np.zeros(len(graph))
    near = np.flatnonzero(allowed & (share >= _LEAST)) if not asked.is_denied else np.flatnonzero(allowed)
    rows = near.astype(np.int32)
    terms = [term for part in parts for term in part.terms]
    order = np.lexsort((rows, -graph.arrays.text_index.scores(terms, rows), -share[rows].round(6)))
    best: dict[str, int] = {}
    for row in rows[order].tolist():
        best.setdefault(_document(graph, row), row)
    kind = {document: row for document, row in best.items() if _is_of_kind(graph, document, asked.noun)}
    if not kind and not _has_kind(graph, asked.noun):
        kind = best
    first = [document for document in kind if document in whole]
    others = [document for document in kind if document not in whole and not asked.without and not asked.is_denied]
    listed = [*first, *others]
    absent = tuple(dict.fromkeys(word for part in parts for word in part.absent)) if not first else ()
    return Speaking([kind[document] for document in listed], listed, len(first), absent)


def _subject(graph: Graph, words: str) -> _Subject:
    index, expand = graph.arrays.text_index, graph.arrays.tokenizer.expand
    weights, total = np.zeros(len(graph)), 0.0
    terms, absent = list[str](), list[str]()
    for word in dict.fromkeys(telling_words(words)):
        own = np.zeros(len(graph))  # the idf of the word where it stands
        for posting in filter(None, map(index.posting, expand(word))):
            rows = index.rows_of(posting)
            own[rows] = np.maximum(own[rows], posting.idf)
            terms.append(posting.term)
        absent += [] if own.any() else [word]
        weights, total = weights + own, total + float(own.max())
    return _Subject(weights / (total or 1.0), tuple(terms), tuple(absent))


def _complete(graph: Graph, subject: str, allowed: Mask) -> set[str]:
    """Return the documents that have all of a subject: of `X or Y` one, of `X and Y` each."""
    whole = set[str]()
    for part in _OR.split(subject):
        each = [phrase for phrase in _AND.split(part) if phrase.strip()]
        holding = [_holding(graph, phrase, allowed) for phrase in each]
        whole |= _holding(graph, part, allowed) | (set.intersection(*holding) if holding else set())
    return whole


def _holding(graph: Graph, phrase: str, allowed: Mask) -> set[str]:
    """Return the documents of which one passage has every telling word of a phrase, and what it quotes as it is."""
    arrays = graph.arrays
    quoted = [" ".join(Tokenizer.words(match[1] or match[2])) for match in _QUOTED.finditer(phrase)]
    documents = set[str]()
    for row in _subject(graph, phrase).complete.tolist():
        words = " ".join(Tokenizer.words(f"{arrays.names[row]}\n{arrays.texts[row]}")) if quoted else ""
        if allowed[row] and all(f" {one} " in f" {words} " for one in quoted):
            documents.add(_document(graph, row))
    return documents


def _document(graph: Graph, row: int) -> str:
    """Return the id of the document of a passage: a row of a collection stands for itself."""
    return str(graph.arrays.properties.of(row).get("document", graph.arrays.ids[row]))


def _has_kind(graph: Graph, noun: str) -> bool:
    """Return whether the graph has any document of a kind."""
    arrays = graph.arrays
    mask = arrays.mask([DOCUMENT]) if DOCUMENT in arrays.types.nodes else None
    return mask is not None and any(_is_of_kind(graph, arrays.ids[row], noun) for row in np.flatnonzero(mask).tolist())


def _is_of_kind(graph: Graph, document: str, noun: str) -> bool:
    if noun in _ANY:
        return True
    if noun in _KINDS and document.casefold().endswith(_KINDS[noun]):
        return True
    stem = graph.arrays.tokenizer.stem(noun)
    title = graph.node(document).name if document in graph else ""
    return stem in graph.arrays.tokenizer.terms(f"{document} {title}")
