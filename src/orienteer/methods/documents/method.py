"""`documents`: what a person with a folder of documents wants to see first, without a model.

which documents     a question for documents themselves is answered by all that speak of its subject, counted
passages            any other by the ranking of another method, `hippo` where none is named; passages that nearly
                    repeat one before them are told beneath it, contents pages come last
quotation           the sentence or row of the first passages that fits best
abstention          where too little of the question stands in any passage, that is said instead
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.display import counted
from orienteer.graph.reserved import DOCUMENT
from orienteer.graph.store import Graph
from orienteer.index.bm25 import Mask
from orienteer.methods.documents.abstention import DocumentsConfig, PhraseOrder, grounds, quoted, refusal, unquoted
from orienteer.protocols import Method, Run
from orienteer.records import Citation, Question, Ranked, Refusal, Result
from orienteer.retrieval.graph_text import Folded, folded, place_in, present
from orienteer.retrieval.spaces import Spaces
from orienteer.text.english import telling_words
from orienteer.text.tokenizer import Tokenizer

_MORE = 10
"""Passages that are ranked beyond those that are asked for, for some are folded away."""
_MOST = 8
"""How many times as many are ranked at the most, where most of them repeat others."""


class Documents:
    """Passages, the sentence that answers, or the word that nothing here does. Safe to share among threads."""

    name = "documents"

    def __init__(self, graph: Graph, base: Method, config: DocumentsConfig | None = None) -> None:
        self._graph, self._base = graph, base
        self.config = config if config is not None else DocumentsConfig()

    @cached_property
    def _spaces(self) -> Spaces:
        return Spaces(self._graph)

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return passages with a quotation or a refusal; of a question for documents a passage of each."""
        started = time.perf_counter()
        wanted = asked_for(question.text) if self._spaces.has_passages else None
        if wanted is not None:
            answers = self._spaces.answers(question.node_types, question.where)
            documents = speaking(self._graph, wanted, answers)
            if documents.rows:
                result = self._listed(question, wanted, documents, run)
                seconds = time.perf_counter() - started
                return result.model_copy(update={"usage": result.usage.model_copy(update={"seconds": seconds})})
        return self._answered(question, self._ranked(question, run))

    # ------------------------------------------------------------------------------------------------ which documents

    def _listed(self, question: Question, wanted: DocumentsAsked, documents: Speaking, run: Run) -> Result:
        """Return the documents that speak of a subject, each by its best passage; then those that have part of it.

        Where places are left, the base's ranking for the subject fills them.
        """
        total, rows = documents.complete, documents.rows[: question.k]
        hits = tuple(
            present(
                self._graph,
                row,
                score=len(rows) - place,
                query=wanted.subject,
                why=_said_of(wanted) if place < total else f"has part of it: {wanted.subject}",
            ).model_copy(update={"complete": place < total})
            for place, row in enumerate(rows)
        )
        ranked = self._base.retrieve(question.model_copy(update={"text": wanted.subject}), run)
        more = () if wanted.without or wanted.is_denied else ranked.hits
        listed = {hit.id for hit in hits}
        hits = (*hits, *(hit for hit in more if hit.id not in listed))[: question.k]
        hits = tuple(hit.model_copy(update={"score": len(hits) - place}) for place, hit in enumerate(hits))
        result = ranked.model_copy(
            update={"question": question.text, "method": self.name, "hits": hits, "trajectories": ()}
        )
        absent = (f"not in these documents: {', '.join(documents.absent)}",) if documents.absent else ()
        if not total:
            nothing = f"no passage has all of it: {wanted.subject}"
            refused = Refusal(kind="not_here", words=documents.absent, text="; ".join((nothing, *absent)))
            return result.model_copy(update={"refusal": refused, "notes": (*result.notes, refused.text)})
        named = documents.documents[: min(total, self.config.listed)]
        rest = f", and {total - len(named):,} more" if total > len(named) else ""
        return result.model_copy(
            update={
                "answer": str(total) if wanted.is_counted else f"{', '.join(named)}{rest}",
                "answer_kind": "number" if wanted.is_counted else "set",
                "long_answer": f"{counted(total, 'document')}: each {_said_of(wanted)}"
                if total != 1
                else f"1 document {_said_of(wanted)}",
                "notes": (*result.notes, *((f"-k {total} lists all of them",) if total > len(rows) else ())),
            }
        )

    # ------------------------------------------------------------------------------------------------------- passages

    def _ranked(self, question: Question, run: Run) -> Result:
        """Return the base's ranking, folded, with as many passages as are asked for where there are so many."""
        k, texts = question.k, self._graph.arrays.texts
        most = k + _MORE

        @cache
        def words_of(row: int) -> list[str]:
            return Tokenizer.words(texts[row])

        while True:
            result = self._base.retrieve(question.model_copy(update={"k": most}), run)
            if self.config.phrases and self._spaces.has_passages:
                result = self._phrased(question, result, words_of)
            if not self.config.folds or not self._spaces.has_passages:
                break
            rows = [self._graph.arrays.row(hit.id) for hit in result.hits]
            groups = folded(self._graph, rows, words_of)
            if len(groups.rows) >= k or len(rows) < most or most >= _MOST * (k + _MORE):
                return result.model_copy(update={"hits": self._folded(result.hits, groups)[:k]})
            most *= 2
        return result.model_copy(update={"hits": result.hits[:k]})

    def _phrased(self, question: Question, result: Result, words_of: Callable[[int], Sequence[str]]) -> Result:
        """Return a result with its hits in order by how they say the question; their scores stay in order."""
        rows = np.array([self._graph.arrays.row(hit.id) for hit in result.hits], np.int32)
        scores = np.array([hit.score for hit in result.hits], np.float64)
        order = PhraseOrder(self._graph, question.text, words_of).order(rows, scores)
        hits = (
            result.hits[place].model_copy(update={"score": float(score)})
            for place, score in zip(order, scores, strict=True)
        )
        return result.model_copy(update={"hits": tuple(hits)})

    def _folded(self, hits: Sequence[Ranked], groups: Folded) -> tuple[Ranked, ...]:
        """Return the hits that are kept, in order, each with what was folded beneath it."""
        arrays = self._graph.arrays
        by_row = {arrays.row(hit.id): hit for hit in hits}
        ids = {row: tuple(arrays.ids[other] for other in others) for row, others in groups.alike.items()}
        return tuple(by_row[row].model_copy(update={"alike": ids.get(row, ())}) for row in groups.rows)

    def _answered(self, question: Question, ranked: Result) -> Result:
        """Return the ranking with the sentence that answers, or with the word that nothing does."""
        within = tuple(
            trajectory.model_copy(update={"method": f"{self.name}:{trajectory.method}"})
            for trajectory in ranked.trajectories
        )
        result = ranked.model_copy(update={"method": self.name, "trajectories": within})
        if not self._spaces.has_passages or result.stopped_by != "finish":
            return result
        rows = [self._graph.arrays.row(hit.id) for hit in result.hits]
        reasons = grounds(self._graph, question.text, rows)
        if self.config.abstains and (refused := refusal(reasons)) is not None:
            return result.model_copy(update={"refusal": refused, "notes": (*result.notes, refused.text)})
        if reasons.absent:
            spelled = f" ({', '.join(reasons.near)}?)" if reasons.near else ""
            absent = f"not in these documents: {', '.join(reasons.absent)}{spelled}"
            result = result.model_copy(update={"notes": (*result.notes, absent)})
        quotation = quoted(self._graph, question.text, rows) if self.config.quotes else None
        if quotation is None:
            return result
        if self.config.abstains and (reserve := unquoted(reasons, quotation)) is not None:
            return result.model_copy(update={"refusal": reserve, "notes": (*result.notes, reserve.text)})
        citation = Citation(
            begin=0,
            end=len(quotation.text),
            ids=(self._graph.arrays.ids[quotation.row],),
            source=place_in(self._graph, quotation.row, quotation.begin),
        )
        update = {"answer": quotation.text, "answer_kind": "quotation", "citations": (citation,)}
        return result.model_copy(update=update)


def _said_of(wanted: DocumentsAsked) -> str:
    """Return what is said of a document that is asked for."""
    without = f", but not of {wanted.without}" if wanted.without else ""
    return f"{'does not speak' if wanted.is_denied else 'speaks'} of {wanted.subject}{without}"


# Questions for documents: `which reports mention the night ferry?` is answered by all of them, counted.


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
