"""`documents`: what a person with a folder of documents wants to see first, with or without a model.

which documents     a question for documents themselves is answered by all that mention its subject, counted
passages            any other by the ranking of another method, by default `hippo`; passages that nearly repeat an
                    earlier one are listed under it, contents pages come last
quotation           the sentence or row of the first passages that fits best
abstention          if no passage has enough of the question, the result says so instead
with a model        it reads the first passages, answers by their sentences, and searches once more (`by_model.py`)
"""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.agents.answer import answer
from orienteer.display import counted
from orienteer.errors import BadOption, BudgetExhausted
from orienteer.graph.reserved import DOCUMENT, SEPARATOR, TABLE
from orienteer.graph.store import Graph
from orienteer.index.bm25 import Mask
from orienteer.index.searchers import Searcher, ranking_of
from orienteer.methods.documents.abstention import (
    BY_WORDS,
    QUOTED,
    READ,
    DocumentsConfig,
    QuestionTerms,
    evidence_order,
    match_statistics,
    quoted,
    refusal,
    unquoted,
)
from orienteer.methods.documents.by_model import ModelAnswer, ModelReading
from orienteer.methods.documents.heads import DocumentHeads
from orienteer.methods.documents.rows import TableRows
from orienteer.methods.documents.versions import Versions
from orienteer.protocols import LanguageModel, Method, Ranks, Run
from orienteer.records import Citation, Question, Refusal, Result
from orienteer.retrieval.graph_text import Folded, Presentation, folded, place_in, present
from orienteer.retrieval.query import OverBase, Spaces
from orienteer.text.english import telling_words
from orienteer.text.sentences import single_spaced
from orienteer.text.tokenizer import Tokenizer

# Passages that are ranked beyond those asked for, because some are folded away.
_MORE = 10
_MENTIONS = 2_000  # passages in which two words are looked for side by side
_REMEMBERED = 256  # answers of a model
_MOST_READ = 60_000  # passages that are read for menus, in some 4 s
_MENU = 5  # lines of a menu, and files that they stand in, at least
# How many times as many are ranked at most, if most of them repeat others.
_MOST = 8


class Documents:
    """Passages, the sentence that answers, or a refusal. Safe to share among threads."""

    name = "documents"

    def __init__(
        self, graph: Graph, base: Method, model: LanguageModel | None = None, config: DocumentsConfig | None = None
    ) -> None:
        """A ranking takes no model. Raises `BadOption` for an option that needs one."""
        self._graph, self._base = graph, base
        self.config = config if config is not None else DocumentsConfig()
        if model is None and self.config.searches_first:
            raise BadOption("documents.searches_first is set, and there is no model: name one, or leave it out")
        self._read: dict[tuple[str, Question], ModelAnswer] = {}  # by the model's name

    @cached_property
    def _spaces(self) -> Spaces:
        mode = self._base.base.config.mode if isinstance(self._base, OverBase) else "lexical"
        return Spaces(self._graph, mode, telling=True)

    def allowed(self, question: Question) -> Mask:
        """Return the mask of the passages that may answer: (nodes,)."""
        return self._spaces.answers(question.node_types, question.where)

    def _searchers(self, terms: QuestionTerms, run: Run) -> tuple[Searcher, Searcher]:
        """Return what passages are ordered by: twice words and meaning if the base goes by both, else the telling words
        and all words of a question."""
        spaces, searcher = self._spaces, self._graph.arrays.searcher
        try:
            spaces.pay(run, (terms.text, terms.spelled))
        except BudgetExhausted:
            return searcher("lexical", telling=True), searcher("lexical")
        return spaces.searcher, searcher("lexical") if ranking_of(spaces.mode).kind == "lexical" else spaces.searcher

    @cached_property
    def _are_entries(self) -> bool:
        """Whether most passages are whole documents, as in an encyclopedia."""
        properties, rows = self._graph.arrays.properties, np.flatnonzero(self._spaces.passages).astype(np.int32)
        return 2 * sum(bool(order) for order in properties.every("order", rows)) < len(rows)

    @cached_property
    def _rows(self) -> TableRows:
        return TableRows(self._graph)

    @cached_property
    def _versions(self) -> Versions:
        return Versions(self._heads.documents)

    @cached_property
    def _heads(self) -> DocumentHeads:
        return DocumentHeads(self._graph)

    @cached_property
    def _menus(self) -> frozenset[int]:
        """The rows of prose whose lines are short, and nearly all in many files or titles: they only lead elsewhere.

        They are not looked for among very many passages.
        """
        arrays, files, titles = self._graph.arrays, defaultdict[str, set[str]](set), set[str]()
        lines: dict[int, list[str]] = {}
        rows = np.flatnonzero(self._spaces.passages)
        for row in rows.tolist() if len(rows) <= _MOST_READ else ():
            titles.update(_masked(arrays.names[row].replace(SEPARATOR, "\n")))
            own, words = _masked(arrays.texts[row]), arrays.texts[row].count(" ")
            if len(own) >= _MENU and words <= 2 * len(own) and arrays.type_at(row) != TABLE:
                lines[row] = own
                files[_document(self._graph, row)].update(own)
        counts = Counter(line for own in files.values() for line in own if "0" not in line)  # numbers are data
        shared = titles | {line for line, count in counts.items() if count >= max(_MENU, 0.02 * len(files))}
        return frozenset(
            row for row, own in lines.items() if sum(line not in shared for line in own) <= 0.15 * len(own)
        )

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return passages with a quotation or a refusal; for a question about documents a passage of each."""
        if (listed := self._listed(question, run)) is not None:
            return listed
        terms = QuestionTerms(self._graph, question.text)
        ranked = self._ranked(question, terms, run)
        return (
            self._answered_by_rows(question, self._named(ranked), run)
            or self._of_newest(question, run, lambda own: self.retrieve(own, run))
            or self._answered(terms, ranked)
        )

    def _says(self, said: tuple[str, str] | None) -> bool:
        """Return whether a passage has two words side by side: "the newest boats" may be boats, and no document."""
        if said is None:
            return False
        arrays, run = self._graph.arrays, re.compile(r"\W+".join(map(re.escape, said)).removesuffix("s"), re.IGNORECASE)
        posting = arrays.text_index.posting(arrays.tokenizer.expand(said[0].split()[-1])[0])
        rows = arrays.text_index.rows_of(posting)[:_MENTIONS] if posting is not None else np.zeros(0, np.int32)
        return any(run.search(arrays.texts[row]) for row in rows.tolist())

    def _of_newest(self, question: Question, run: Run, ask: Callable[[Question], Result]) -> Result | None:
        """Return what the newest version of a document says, or that it is not known which one is the newest."""
        if (newest := self._versions.newest(question.text)) is None or self._says(newest.said):
            return None
        where = (f"document == {newest.document}",) if newest.document else ()
        own = question.model_copy(update={"text": newest.question, "where": (*question.where, *where)})
        if newest.document and not newest.is_all:
            result = ask(own)
        else:  # a model would read for nothing
            terms = QuestionTerms(self._graph, own.text)
            result = self._answered(terms, self._ranked(own, terms, run))
        update: dict[str, Any] = {
            "question": question.text,
            "notes": (*result.notes, newest.note),
        }  # fields of a result
        if not newest.document:
            refused = Refusal(kind="not_understood", text=newest.note)
            update |= {"answer": None, "answer_kind": None, "long_answer": None, "citations": (), "refusal": refused}
        elif newest.is_all and result.hits:
            update |= {"answer": newest.document, "answer_kind": "entity", "citations": (), "refusal": None}
            update["hits"] = tuple(hit.model_copy(update={"complete": True}) for hit in result.hits)
        return result.model_copy(update=update)

    def _answered_by_rows(self, question: Question, ranked: Result, run: Run) -> Result | None:
        """Return the answer of the documents' metadata, or of rows if a table is among the first passages."""
        if ranked.stopped_by != "finish":
            return None
        if any(hit.type == TABLE for hit in ranked.hits[:READ]):
            return self._rows.answered(question, run, ranked)
        return self._heads.answered(question, run, ranked) if self._heads.may_answer(question.text) else None

    def retrieve_and_answer(self, question: Question, run: Run, model: LanguageModel) -> Result:
        """Return what a model reads in the first passages, with its citations, or a refusal.

        Documents that are counted and listed, and rows that are read exactly, take no model. If the model is not heard,
        the result is that of `retrieve`, with a note. Of a graph without passages the model answers over the hits.
        """
        if (listed := self._listed(question, run)) is not None:
            is_read = listed.reading is not None and listed.reading.complete
            if listed.answer is not None or is_read:
                return listed
            if not self._spaces.has_passages:
                return answer(listed, model=model, run=run, graph=self._graph)
        k, terms = question.k, QuestionTerms(self._graph, question.text)

        def rank(text: str, most: int) -> Result:
            asked = question.model_copy(update={"text": text, "k": most + _MORE})
            own = terms if text == question.text else QuestionTerms(self._graph, text)
            found = self._named(self._ranked(asked, own, run.without_reserve()))
            hits = sorted(found.hits, key=lambda hit: self._graph.arrays.row(hit.id) in self._menus)
            return found.model_copy(update={"hits": tuple(hits[:most])})

        ranked = rank(question.text, max(k, self.config.passages))
        plain = ranked.model_copy(update={"hits": ranked.hits[:k]})
        told = plain if ranked.stopped_by != "finish" else self._answered_by_rows(question, plain, run)
        told = told or self._of_newest(question, run, lambda own: self.retrieve_and_answer(own, run, model))
        if told is not None:
            return told
        read = self._read.get((model.name, question))
        if read is None:
            held = match_statistics(terms, [self._graph.arrays.row(hit.id) for hit in ranked.hits]).held
            read = ModelReading(self._graph, model, self.config, question, rank, run).answered(ranked.hits, held)
            if read.failure is None:
                if len(self._read) >= _REMEMBERED:
                    self._read.clear()
                self._read[model.name, question] = replace(read, trajectories=())
        if read.failure is None or read.hits:
            return read.as_result(ranked, k)
        plain = listed or self._answered(terms, plain)
        notes = (*plain.notes, f"the model was not heard: {read.failure}")
        # That no sentence says it plainly refuses nothing that a model was to read: the note tells it.
        refused = plain.refusal if plain.refusal is None or plain.refusal.kind != "not_understood" else None
        trajectories = (*plain.trajectories, *read.trajectories)
        return plain.model_copy(update={"trajectories": trajectories, "notes": notes, "refusal": refused})

    def _listed(self, question: Question, run: Run) -> Result | None:
        """Return the documents that a question asks for, or the base's ranking of a graph without passages."""
        if not self._spaces.has_passages:
            ranked = self._base.retrieve(question.model_copy(update={"k": question.k + _MORE}), run)
            return self._named(ranked.model_copy(update={"hits": ranked.hits[: question.k]}))
        started = time.perf_counter()
        if (query := asked_for(question.text)) is None:
            return None
        documents = mentioning(self._graph, query, self.allowed(question))
        if not documents.rows:
            return None
        result = self._list_of(question, query, documents, run)
        seconds = time.perf_counter() - started
        return result.model_copy(update={"usage": result.usage.model_copy(update={"seconds": seconds})})

    def _named(self, ranked: Result) -> Result:
        """Return the base's result under this method's name."""
        within = tuple(
            trajectory.model_copy(update={"method": f"{self.name}:{trajectory.method}"})
            for trajectory in ranked.trajectories
        )
        return ranked.model_copy(update={"method": self.name, "trajectories": within})

    # ------------------------------------------------------------------------------------------------ which documents

    def _list_of(self, question: Question, query: DocumentQuery, documents: MentionResult, run: Run) -> Result:
        """Return the documents that mention a subject, each by its best passage; then those that have part of it.

        The base's ranking for the subject fills the places that are left.
        """
        total, rows = documents.complete, documents.rows[: question.k]
        without = f", but not of {query.without}" if query.without else ""
        mentions = f"{'does not speak' if query.is_denied else 'speaks'} of {query.subject}{without}"
        hits = tuple(
            present(
                self._graph,
                row,
                score=len(rows) - place,
                query=query.subject,
                why=mentions if place < total else f"has part of it: {query.subject}",
            ).model_copy(update={"complete": place < total})
            for place, row in enumerate(rows)
        )
        ranked = self._base.retrieve(question.model_copy(update={"text": query.subject}), run)
        more = () if query.without or query.is_denied else ranked.hits
        listed = {hit.id for hit in hits}
        hits = (*hits, *(hit for hit in more if hit.id not in listed))[: question.k]
        hits = tuple(hit.model_copy(update={"score": len(hits) - place}) for place, hit in enumerate(hits))
        result = ranked.model_copy(
            update={"question": question.text, "method": self.name, "hits": hits, "trajectories": ()}
        )
        absent = (f"not in these documents: {', '.join(documents.absent)}",) if documents.absent else ()
        if not total:
            nothing = f"no passage has all of it: {query.subject}"
            refused = Refusal(kind="not_here", words=documents.absent, text="; ".join((nothing, *absent)))
            return result.model_copy(update={"refusal": refused, "notes": (*result.notes, refused.text)})
        named = documents.documents[: min(total, self.config.listed)]
        rest = f", and {total - len(named):,} more" if total > len(named) else ""
        long_answer = f"{counted(total, 'document')}: each {mentions}" if total != 1 else f"1 document {mentions}"
        return result.model_copy(
            update={
                "answer": str(total) if query.is_counted else f"{', '.join(named)}{rest}",
                "answer_kind": "number" if query.is_counted else "set",
                "long_answer": long_answer,
                "notes": (*result.notes, *((f"k={total} lists all of them",) if total > len(rows) else ())),
            }
        )

    # ------------------------------------------------------------------------------------------------------- passages

    def _ranked(self, question: Question, terms: QuestionTerms, run: Run) -> Result:
        """Return the passages that the base and searches by words find, in one order, and folded; `k` if there are so
        many."""
        k, arrays = question.k, self._graph.arrays
        most = k + _MORE
        rank = self._base.ranked if isinstance(self._base, Ranks) else self._base.retrieve

        @cache
        def words_of(row: int) -> list[str]:
            return Tokenizer.words(arrays.texts[row])

        while True:
            result = rank(question.model_copy(update={"k": most}), run)
            hits = {arrays.row(hit.id): hit for hit in result.hits}
            scores = {row: hit.score for row, hit in hits.items()}
            if self.config.phrases and result.stopped_by == "finish":
                searchers, allowed = self._searchers(terms, run), self.allowed(question)
                scores = evidence_order(terms, scores, searchers, allowed, words_of, are_entries=self._are_entries)
            rows = list(scores)[:most]
            groups = folded(self._graph, rows, words_of) if self.config.folds else Folded(rows, {})
            if len(groups.rows) >= k or len(scores) < most or most >= _MOST * (k + _MORE):
                hit_of = Presentation(self._graph, question.text)
                shown = (
                    hit_of(row, score=scores[row], why=hits[row].why if row in hits else BY_WORDS).model_copy(
                        update={"alike": tuple(arrays.ids[other] for other in groups.alike.get(row, ()))}
                    )
                    for row in groups.rows[:k]
                )
                return result.model_copy(update={"hits": tuple(shown)})
            most *= 2

    def _answered(self, terms: QuestionTerms, ranked: Result) -> Result:
        """Return the ranking with the sentence that answers, or with a refusal."""
        arrays, result = self._graph.arrays, self._named(ranked)
        if result.stopped_by != "finish":
            return result
        rows = [arrays.row(hit.id) for hit in result.hits]
        statistics = match_statistics(terms, rows)
        if self.config.abstains and (refused := refusal(statistics)) is not None:
            return result.model_copy(update={"refusal": refused, "notes": (*result.notes, refused.text)})
        if statistics.absent:
            spelled = f" ({', '.join(statistics.near)}?)" if statistics.near else ""
            absent = f"not in these documents: {', '.join(statistics.absent)}{spelled}"
            result = result.model_copy(update={"notes": (*result.notes, absent)})
        quotation = quoted(terms, rows) if self.config.quotes else None
        if quotation is None:
            return result
        if self.config.abstains and (reserve := unquoted(terms, statistics, quotation)) is not None:
            return result.model_copy(update={"refusal": reserve, "notes": (*result.notes, reserve.text)})
        citation = Citation(
            begin=0,
            end=len(quotation.text),
            ids=(arrays.ids[quotation.row],),
            source=place_in(self._graph, quotation.row, quotation.begin),
        )
        update = {"answer": quotation.text, "answer_kind": "quotation", "citations": (citation,)}
        return result.model_copy(update=update)


def _masked(text: str) -> list[str]:
    """Return the lines of a text that say anything, with 0 for each number."""
    return [re.sub(r"\d+", "0", single_spaced(line)).casefold() for line in text.split("\n") if line.strip()]


# Questions for documents: `which reports mention the night ferry?` is answered by all of them, counted.


Weights = NDArray[np.float64]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Nouns for whatever is in a folder.
_ANY = _words(
    """document documents doc docs file files folder page pages paper papers passage passages text texts source
    sources"""
)
# Nouns for files of some kinds, by their suffixes.
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
_KINDS = {noun: suffixes for suffixes, nouns in _SUFFIXES.items() for noun in nouns.split()}
# Nouns for documents that are so called by their path or title.
_NAMED = _words(
    """minute minutes letter letters report reports note notes memo memos article articles chapter chapters manual
    manuals guide guides tariff tariffs contract contracts notice notices policy policies form forms register
    registers"""
)
_NOUNS = "|".join(sorted({*_ANY, *_KINDS, *_NAMED}, key=len, reverse=True))
_SPEAKING = (
    r"(?:(?:mention|nam|cit|credit|discuss|describ|cover|contain|includ|concern|regard|referenc)(?:s|es|ed|ing|e)?"
    r"|(?:speak|talk)(?:s|ing)? (?:of|about)|refer(?:s|ring)? to|deal(?:s|ing)? with|touch(?:es|ing)? on"
    r"|says? (?:anything|something) (?:about|on)|ha(?:s|ve) (?:anything|something) (?:about|on)"
    r"|go into|bring up|treat|write about|report on"
    r"|(?:is|are) (?:about|on)|about|on)"
)
# Verbs that only texts go with.
_SAYS = re.compile(
    r"(?:mention|cit|credit|discuss|describ|referenc|speak|talk|refer|deal|touch|say|ha(?:s|ve) )", re.IGNORECASE
)
_SPOKEN = (
    r"(?:(?:is|are|was|were|gets?|been) )?(?:mentioned|cited|credited|discussed|described|covered|referenced|"
    r"spoken (?:of|about)|talked (?:of|about)|referred to|dealt with|brought up|come up|comes up|appear|appears|occur|"
    r"occurs|turn up|turns up)"
)
_ASK = (
    r"(?:please\s+)?(?:(?:can|could) you\s+)?(?P<ask>how many|(?:in |of )?which|what|all(?: the)?|"
    r"(?:list|show|find|give|name|tell)(?: me)?(?: all)?)(?:\s+(?:of|the|my|our|these|all))*\s+"
)
# How people ask for documents, best first.
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"{_ASK}(?P<noun>{_NOUNS})(?:\s+(?:here|there|in \w+ folder))?\s+(?:in which|where|whose text)\s+"
        rf"(?P<subject>.+?)\s+{_SPOKEN}\W*$",
        rf"{_ASK}(?P<noun>{_NOUNS})(?:\s+(?:that|which|do|does|here|there|all|in the folder))*\s+"
        rf"(?P<denied>not\s+|never\s+|don't\s+|doesn't\s+)?(?P<verb>{_SPEAKING})\s+(?P<subject>.+)",
        rf"(?P<noun>{_NOUNS})\s+(?P<verb>{_SPEAKING})\s+(?P<subject>.+)",
        rf"in (?:which|what|how many) (?P<noun>{_NOUNS})\s+(?:is|are|was|were|does|do|did)\s+(?P<subject>.+?)\s+"
        rf"{_SPOKEN}\W*$",
        rf"where(?:\s+in\s+(?:the|my|our|these)\s+(?P<noun>{_NOUNS}|folder))?\s+(?:is|are|was|were|does|do|did)\s+"
        rf"(?P<subject>.+?)\s+{_SPOKEN}\W*$",
    )
)
# Share of a subject's words, by their idf, that a passage has to have to be near it.
_LEAST = 0.5


_WITHOUT = re.compile(
    r",? (?:but|and) (?:do(?:es)? )?not(?: (?:mention|name|cite))? |,? (?:but )?without ", re.IGNORECASE
)
_OR = re.compile(r",? or ", re.IGNORECASE)
_AND = re.compile(r",? and |, ", re.IGNORECASE)
# The question's own verb after the subject: `the budget did Ada get`. Verbs of clauses, capitals and hyphens do not
# count: `that the crane was sold`, `people who have a licence`, `the IS curve`, `to-do lists`.
_CLAUSE = re.compile(r"\b(?:that|who|which|what|how|when|where|why|whether|if)\b.*", re.IGNORECASE)
_ASKS_MORE = re.compile(r"\w +(?:is|are|was|were|did|do|does|has|have|had) +\w")


class DocumentQuery(NamedTuple):
    """A question for documents: what they mention, their kind, and whether they are counted."""

    subject: str
    """What they mention."""
    noun: str
    """Their kind, in the question's word."""
    is_counted: bool = False
    """Whether their number is asked for."""
    without: str = ""
    """What they do not mention."""
    is_denied: bool = False
    """Whether those without the subject are asked for."""


def asked_for(question: str) -> DocumentQuery | None:
    """Return the documents that a question asks for, or None if it asks for something else.

    >>> asked_for("Which reports mention the night ferry but not Ada Holm?")
    DocumentQuery(subject='the night ferry', noun='reports', is_counted=False, without='Ada Holm', is_denied=False)
    >>> asked_for("how many files talk about mooring fees").is_counted
    True
    >>> asked_for("Which ferry sails at night?") is None
    True
    """
    text = " ".join(question.split())
    for pattern in _PATTERNS:
        match = pattern.match(text)
        subject = match["subject"].strip(" ?.!") if match is not None else ""
        if match is None or not subject:
            continue
        groups = match.groupdict()
        noun, verb = (groups.get("noun") or "").casefold(), groups.get("verb")
        # *What policies cover storm damage?* asks for something in a document: a noun for some documents alone needs a
        # verb of speaking; `about` and the like need a noun in the plural.
        if not (verb is None or _SAYS.match(verb)) and (
            noun in _NAMED or not noun.endswith("s") or match["subject"].casefold().startswith("to ")
        ):
            continue
        ask = groups.get("ask") or text.split(" ", 1)[0]
        is_counted = "how many" in (ask.casefold(), text[:11].casefold().removeprefix("in "))
        wanted, *others = _WITHOUT.split(subject, maxsplit=1)
        if _ASKS_MORE.search(_CLAUSE.sub("", QUOTED.sub("", wanted))):
            continue  # *which mails about the budget did Ada get*
        return DocumentQuery(wanted, noun or "documents", is_counted, "".join(others), bool(groups.get("denied")))
    return None


class MentionResult(NamedTuple):
    """The documents that mention a subject, or nearly."""

    rows: list[int]
    """Of each the passage that has most of it, best first."""
    documents: list[str]
    """Their names, in the same order."""
    complete: int
    """How many of them, from the first, have every telling word of it in one passage."""
    absent: tuple[str, ...]
    """Its words that no passage has."""


def mentioning(graph: Graph, query: DocumentQuery, mask: Mask | None) -> MentionResult:
    """Return the documents of a kind that mention a subject, those with all of it first.

    For `X or Y` one is enough; for `X and Y` a document may have each in another passage; quoted words must occur in
    this order. `mask`, (nodes,), is of the passages that may answer. Ties are broken by BM25.
    """
    arrays = graph.arrays
    parts = [_coverage(graph, part) for part in _OR.split(query.subject)]
    share = np.max([part.share for part in parts], axis=0)
    allowed = np.ones(len(graph), np.bool_) if mask is None else mask
    whole = _complete(graph, query.subject, allowed)
    if query.without:
        whole -= _complete(graph, query.without, allowed)
    if query.is_denied:
        whole = {_document(graph, row) for row in np.flatnonzero(allowed).tolist()} - whole
        share = np.zeros(len(graph))
    near = np.flatnonzero(allowed & (share >= _LEAST)) if not query.is_denied else np.flatnonzero(allowed)
    rows = near.astype(np.int32)
    terms = [term for part in parts for term in part.terms]
    order = np.lexsort((rows, -arrays.text_index.scores(terms, rows), -share[rows].round(6)))
    best: dict[str, int] = {}
    for row in rows[order].tolist():
        best.setdefault(_document(graph, row), row)
    kind = {document: row for document, row in best.items() if _is_of_kind(graph, document, query.noun)}
    if not kind:
        # The noun may be of no kind that the graph has: then it names none.
        documents = arrays.mask([DOCUMENT]) if DOCUMENT in arrays.types.nodes else None
        every = np.flatnonzero(documents).tolist() if documents is not None else []
        kind = {} if any(_is_of_kind(graph, arrays.ids[row], query.noun) for row in every) else best
    first = [document for document in kind if document in whole]
    others = [document for document in kind if document not in whole and not query.without and not query.is_denied]
    listed = [*first, *others]
    absent = tuple(dict.fromkeys(word for part in parts for word in part.absent)) if not first else ()
    return MentionResult([kind[document] for document in listed], listed, len(first), absent)


class _Coverage(NamedTuple):
    """How much passages have of a subject."""

    share: Weights
    """(nodes,): the share of its telling words, by their idf."""
    terms: tuple[str, ...]
    absent: tuple[str, ...]


def _coverage(graph: Graph, words: str) -> _Coverage:
    index, expand = graph.arrays.text_index, graph.arrays.tokenizer.expand
    weights, total = np.zeros(len(graph)), 0.0
    terms, absent = list[str](), list[str]()
    for word in dict.fromkeys(telling_words(words)):
        own = np.zeros(len(graph))  # (nodes,): the idf of the word in the passages that have it
        for posting in filter(None, map(index.posting, expand(word))):
            rows = index.rows_of(posting)
            own[rows] = np.maximum(own[rows], posting.idf)
            terms.append(posting.term)
        absent += [] if own.any() else [word]
        weights, total = weights + own, total + float(own.max())
    return _Coverage(weights / (total or 1.0), tuple(terms), tuple(absent))


def _complete(graph: Graph, subject: str, allowed: Mask) -> set[str]:
    """Return the documents that have all of a subject: for `X or Y` one of them, for `X and Y` each."""
    whole = set[str]()
    for part in _OR.split(subject):
        each = [_holding(graph, phrase, allowed) for phrase in _AND.split(part) if phrase.strip()]
        whole |= _holding(graph, part, allowed) | (set.intersection(*each) if each else set())
    return whole


def _holding(graph: Graph, phrase: str, allowed: Mask) -> set[str]:
    """Return the documents with a passage that has every telling word and every quotation of a phrase."""
    arrays, coverage = graph.arrays, _coverage(graph, phrase)
    quotations = [" ".join(Tokenizer.words(match[1] or match[2])) for match in QUOTED.finditer(phrase)]
    documents = set[str]()
    for row in np.flatnonzero(coverage.share > 1 - 1e-9).tolist() if not coverage.absent else ():
        words = " ".join(Tokenizer.words(f"{arrays.names[row]}\n{arrays.texts[row]}")) if quotations else ""
        if allowed[row] and all(f" {quotation} " in f" {words} " for quotation in quotations):
            documents.add(_document(graph, row))
    return documents


def _document(graph: Graph, row: int) -> str:
    """Return the id of a passage's document; a row of a collection is a document itself."""
    return str(graph.arrays.properties.of(row).get("document", graph.arrays.ids[row]))


def _is_of_kind(graph: Graph, document: str, noun: str) -> bool:
    if noun in _ANY or (noun in _KINDS and document.casefold().endswith(_KINDS[noun])):
        return True
    title = graph.node(document).name if document in graph else ""
    return graph.arrays.tokenizer.stem(noun) in graph.arrays.tokenizer.terms(f"{document} {title}")
