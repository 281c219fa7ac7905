"""`documents`: what a person with a folder of documents wants to see first, without a model.

which documents     a question for documents themselves is answered by all that speak of its subject, counted
passages            any other by the ranking of another method, `hippo` where none is named; passages that nearly
                    repeat one before them are told beneath it, contents pages come last
quotation           the sentence or row of the first passages that fits best
abstention          where too little of the question stands in any passage, that is said instead
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache, cached_property

import numpy as np

from orienteer.display import counted
from orienteer.graph.store import Graph
from orienteer.methods.documents.abstention import grounds, refusal, unquoted
from orienteer.methods.documents.config import DocumentsConfig
from orienteer.methods.documents.mention import DocumentsAsked, Speaking, asked_for, speaking
from orienteer.methods.documents.phrase_order import PhraseOrder
from orienteer.methods.documents.quotation import quoted
from orienteer.protocols import Method, Run
from orienteer.records import Citation, Question, Ranked, Refusal, Result
from orienteer.retrieval.graph_text import place_in, present
from orienteer.retrieval.near_duplicates import Folded, folded
from orienteer.retrieval.spaces import Spaces
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
