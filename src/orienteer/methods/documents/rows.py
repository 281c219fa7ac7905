"""Answers from the rows of the documents' tables, which are compared, counted and added up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from orienteer.display import counted
from orienteer.graph.pieces.tables import open_rows, place_of
from orienteer.graph.reserved import CELLS, TABLE
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.protocols import Run
from orienteer.reading.answer import Answerer, ExactAnswer, Explainer
from orienteer.reading.foreign import EveryLanguage
from orienteer.reading.line import parse
from orienteer.reading.linker import AnchorConfig, PhraseLinker
from orienteer.reading.query import ExactQuery, Filled, Measure, Valued, parts_of
from orienteer.reading.reader import RulesReader
from orienteer.reading.vocabulary import SchemaWords
from orienteer.records import Citation, Question, Ranked, Result
from orienteer.retrieval.graph_text import place_in, present

_WRITTEN = 3  # rows without a name that are written out as an answer
_PROVED = 50  # nodes whose proofs are looked at for rows


class PlacedRow(NamedTuple):
    """A row of a table of the documents."""

    passage: int
    begin: int
    """Its offset in the text of the passage, in characters."""
    text: str
    """Each cell with its column."""


class TableRows:
    """The tables in a graph of documents, asked by the same rules as any tables. Safe to share among threads."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def rows(self) -> Graph | None:
        """The rows as a graph of their own, None for documents without tables."""
        return open_rows(self._graph)

    @cached_property
    def _answerer(self) -> Answerer:
        assert self.rows is not None
        words = SchemaWords(self.rows)
        rules = RulesReader(self.rows, words, PhraseLinker(self.rows, words, AnchorConfig()))
        return Answerer(self.rows, EveryLanguage(self.rows, rules), words)

    @cached_property
    def _copies(self) -> Mapping[tuple[str, ...], Sequence[str]]:
        """The names of tables whose rows another table has too, by header."""
        assert self.rows is not None
        arrays, found = self._graph.arrays, defaultdict[tuple[str, ...], list[str]](list)
        asked = {place.segment for place in map(place_of, self.rows.node_ids()) if place is not None}
        headers = {self._header_of(arrays.row(segment)) for segment in asked}
        for passage in arrays.all_of([TABLE]).tolist():
            if arrays.ids[passage] not in asked and (header := self._header_of(passage)) in headers:
                found[header].append(arrays.names[passage])
        return found

    def _header_of(self, passage: int) -> tuple[str, ...]:
        header = self._graph.arrays.properties.of(passage).get("header")
        return tuple(map(str, header)) if isinstance(header, list) else ()

    def answered(self, question: Question, run: Run, ranked: Result) -> Result | None:
        """Return the answer of the rows, with their passages as the first hits; None unless every word is read."""
        if self.rows is None or question.node_types or question.where:
            return None
        exact, explainer = self._answerer.answer(question, None, run)
        if exact.rows is None or exact.answer is None or explainer is None or exact.reading.text is None:
            return None
        if exact.reading.senses:  # of rows of one name the senses are told by ids, which nobody has seen
            return None
        query = parse(exact.reading.text, self.rows)
        if not self._is_of_one_kind(query, exact.rows):
            return None
        placed = self._placed(exact, explainer)
        are_rows = place_of(self.rows.arrays.ids[exact.rows[0]]) is not None if len(exact.rows) else False
        if (are_rows or len(query.nodes.types) > 1) and len({self._header_of(row.passage) for row in placed}) > 1:
            return None  # "people" are rows of staff, and perhaps of customers
        answer = self._written(exact, placed)
        if not placed or answer is None:
            return None
        first = placed[0]
        citation = Citation(
            begin=0,
            end=len(answer),
            ids=(self._graph.arrays.ids[first.passage],),
            source=place_in(self._graph, first.passage, first.begin),
            quote=first.text,
        )
        update = {
            "answer": answer,
            "answer_kind": exact.kind,
            "long_answer": exact.long_answer,
            "reading": exact.reading,
            "citations": (citation,),
            "hits": tuple(self._hits(placed, ranked, question)),
            "notes": (*ranked.notes, *exact.notes, *self._notes(placed)),
        }
        return ranked.model_copy(update=update)

    def _notes(self, placed: list[PlacedRow]) -> Iterator[str]:
        """Yield notes on the tables of the rows."""
        tables = dict.fromkeys(self._graph.arrays.names[row.passage] for row in placed)
        more = f" and {counted(len(tables) - _WRITTEN, 'more table')}" if len(tables) > _WRITTEN else ""
        yield f"read of the rows of {', '.join(list(tables)[:_WRITTEN])}{more}"
        if repeated := self._copies.get(self._header_of(placed[0].passage), ()):
            yield f"the rows of {', '.join(repeated[:_WRITTEN])} stand in another table too, and count once"

    def _is_of_one_kind(self, query: ExactQuery, found: Rows) -> bool:
        """Return whether the question names a kind, or only one kind has the properties that it asks for."""
        assert self.rows is not None
        arrays, nodes = self.rows.arrays, query.nodes
        if nodes.types or nodes.named:
            return True
        told = {one.property for one in parts_of(query) if isinstance(one, (Measure, Valued, Filled))}
        kinds = [arrays.types_with(name) for name in arrays.properties.names if name in told]
        if not kinds:
            return len(np.unique(arrays.node_types[found])) < 2
        return len(frozenset.intersection(*kinds)) < 2

    def _placed(self, exact: ExactAnswer, explainer: Explainer) -> list[PlacedRow]:
        """Return the rows that an answer rests on: those that meet it, else those of the proofs."""
        assert self.rows is not None
        assert exact.rows is not None
        ids = self.rows.arrays.ids
        placed = list(filter(None, (self._row_of(ids[row]) for row in exact.rows.tolist())))
        beside = dict[str, None]()
        for row in exact.rows[:_PROVED].tolist() if not placed else ():
            ends = [end for edge in explainer.why(row).edges for end in (edge.source, edge.target)]
            near = ends or [ids[one] for one in self.rows.arrays.entries(np.array([row])).neighbor.tolist()]
            beside |= dict.fromkeys(near)
        return placed or list(filter(None, map(self._row_of, beside)))

    def _row_of(self, node: str) -> PlacedRow | None:
        """Return the row that a node of the table is, or None for a value."""
        arrays, place = self._graph.arrays, place_of(node)
        passage = None if place is None else arrays.ids.find(place.segment)
        if place is None or passage is None:
            return None
        properties, text = arrays.properties.of(passage), arrays.texts[passage]
        count, header = properties.get("rows"), properties.get("header")
        if not isinstance(count, int) or not isinstance(header, list):
            return None
        lines = text.split("\n")
        at = len(lines) - count + place.row
        cells = zip(header, lines[at].split(CELLS), strict=False)
        said = "; ".join(f"{column}: {cell}" for column, cell in cells if cell.strip())
        return PlacedRow(passage, sum(len(line) + 1 for line in lines[:at]), said)

    def _written(self, exact: ExactAnswer, placed: list[PlacedRow]) -> str | None:
        """Return an answer in words: rows without a name are written out, if they are few."""
        assert self.rows is not None
        assert exact.rows is not None
        ids = [self.rows.arrays.ids[row] for row in exact.rows.tolist()]
        is_unnamed = any(
            place_of(node) and self.rows.arrays.names[row] == node for node, row in zip(ids, exact.rows, strict=True)
        )
        if exact.kind not in ("entity", "set") or not is_unnamed:
            return exact.answer
        return " / ".join(row.text for row in placed) if len(placed) <= _WRITTEN else None

    def _hits(self, placed: list[PlacedRow], ranked: Result, question: Question) -> Iterator[Ranked]:
        """Yield the passages of the rows, each once, then those that were ranked; `k` in all."""
        passages = list(dict.fromkeys(row.passage for row in placed))[: question.k]
        ids = {self._graph.arrays.ids[passage] for passage in passages}
        rest = [hit for hit in ranked.hits if hit.id not in ids][: question.k - len(passages)]
        for place, passage in enumerate(passages):
            hit = present(
                self._graph, passage, score=question.k - place, query=question.text, why="has rows of the answer"
            )
            yield hit.model_copy(update={"complete": True})
        for place, hit in enumerate(rest, len(passages)):
            yield hit.model_copy(update={"score": float(question.k - place)})
