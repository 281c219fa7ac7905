"""`anchor`: retrieval without a model. The question's own names and the schema's own words do the work."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cached_property

import numpy as np

from orienteer.graph.store import Graph
from orienteer.index.bm25 import Mask
from orienteer.methods.anchor import explanation
from orienteer.methods.anchor.connections import connect, smallest_shared
from orienteer.methods.anchor.edge_fit import named_by_edges
from orienteer.methods.anchor.explanation import Finding, Trail
from orienteer.methods.anchor.meaning import EmbeddingPayment, Meaning
from orienteer.methods.anchor.prior import DegreePrior
from orienteer.methods.anchor.reach import Explorer
from orienteer.methods.anchor.scorer import NodeScorer, with_first
from orienteer.protocols import Run
from orienteer.reading.answer import Answerer, Explainer
from orienteer.reading.answer_type import understand
from orienteer.reading.config import AnchorConfig
from orienteer.reading.linker import PhraseLinker
from orienteer.reading.reader import QuestionReader
from orienteer.reading.words import LONGEST, SchemaWords
from orienteer.records import Question, Ranked, Result
from orienteer.retrieval.graph_text import ends_of


class Anchor:
    """Links phrases to nodes, infers the kind of answer, and ranks what connects them. Safe to share among threads."""

    name = "anchor"

    def __init__(self, graph: Graph, config: AnchorConfig | None = None) -> None:
        self._graph = graph
        self.config = config if config is not None else AnchorConfig()

    @cached_property
    def _vocabulary(self) -> SchemaWords:
        return SchemaWords(self._graph)

    @cached_property
    def _linker(self) -> PhraseLinker:
        return PhraseLinker(self._graph, self._vocabulary, self.config)

    @cached_property
    def _prior(self) -> DegreePrior:
        return DegreePrior(self._graph, self._vocabulary)

    @cached_property
    def _meaning(self) -> Meaning:
        return Meaning(self._graph, self.config)

    @cached_property
    def _answerer(self) -> Answerer:
        return Answerer(self._graph, QuestionReader(self._graph, self._vocabulary, self._linker))

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the nodes that the anchors, the kind of answer and the words speak for, best first."""
        started = time.perf_counter()
        exact, explainer = self._answerer.answer(question, self._mask(question))
        payment = self._meaning.pay(question.text, run) if exact.rows is None else EmbeddingPayment()
        finding = self.find(question, by_meaning=exact.rows is None and payment.lack is None)
        if exact.rows is not None:
            finding = replace(
                finding, scores=with_first(finding.scores, exact.rows, question.k, is_ordered=exact.is_ordered)
            )
        hits = explanation.hits(finding, self._graph, self._vocabulary)
        if exact.rows is not None and explainer is not None:
            rows = finding.scores.rows
            is_complete = np.isin(rows, exact.rows, assume_unique=True)
            hits = tuple(
                self._explained(hit, row, explainer) if complete else hit
                for hit, row, complete in zip(hits, rows.tolist(), is_complete.tolist(), strict=True)
            )
        trajectory = Trail(self._graph, run).walk(finding, question, hits, exact.reading)
        # What was read exactly has notes of its own; else the ranking's say what it took for what.
        ranked = () if exact.rows is not None else explanation.notes(finding, self._graph)
        notes = (*exact.notes, *ranked, *((payment.lack,) if payment.lack else ()))
        if self._vocabulary.read(question.text).is_cut:
            notes = (*notes, f"{LONGEST} words of a question are read: of this one the first")
        if exact.rows is not None and len(exact.rows) > question.k:
            notes = (*notes, f"{len(exact.rows):,} nodes meet all of it: the first {question.k} are listed")
        return Result(
            question=question.text,
            method=self.name,
            hits=hits,
            answer=exact.answer,
            long_answer=exact.long_answer,
            answer_kind=exact.kind,
            reading=exact.reading,
            refusal=exact.refusal,
            trajectories=(trajectory.model_copy(update={"answer": exact.answer, "notes": notes}),),
            usage=payment.usage.model_copy(update={"seconds": time.perf_counter() - started}),
            notes=notes,
        )

    def _explained(self, hit: Ranked, row: int, explainer: Explainer) -> Ranked:
        why, edges = explainer.why(row)
        ends = ends_of(self._graph, hit.id, edges)
        return hit.model_copy(update={"why": why or hit.why, "edges": edges, "ends": ends, "complete": True})

    def _mask(self, question: Question) -> Mask | None:
        return self._graph.arrays.mask(question.node_types or None, question.where)

    def find(self, question: Question, *, by_meaning: bool = True) -> Finding:
        """Return the ranking of a question and what it rests on: the recipe, step by step.

        Vectors have a part in it unless `by_meaning` is False.
        The types that the question may be answered with are also the kind of answer that is looked for.
        """
        graph, vocabulary, config = self._graph, self._vocabulary, self.config
        mask = self._mask(question)
        # 1. The question as words, those of the schema as they are spelled, and the phrases that name nodes.
        reading = vocabulary.corrected(vocabulary.read(question.text))
        anchors = self._linker.link(reading)
        # 2. What it asks for: a kind of answer named in words, else one that a named edge leads to ("who designed X").
        most = config.most_nodes_a_phrase
        understanding = understand(reading, anchors, graph, vocabulary, node_types=question.node_types, most_nodes=most)
        wanted = understanding.wanted
        if not wanted.types and not wanted.yes_or_no:
            understanding = replace(
                understanding, wanted=replace(wanted, types=named_by_edges(understanding, graph, vocabulary))
            )
        # 3 and 4. What the anchors lead to, along the edges that fit the words around them.
        explorer = Explorer(graph, vocabulary, config)
        reached = explorer.reach(understanding)
        connections = connect(understanding, reached)
        if len(understanding.anchors) > 1 and not understanding.wanted.types and not wanted.yes_or_no:
            understanding = replace(understanding, wanted=replace(wanted, types=smallest_shared(connections, graph)))
            reached = explorer.reach(understanding)
            connections = connect(understanding, reached)
        # 5. One score for each node.
        nearness = self._meaning.of(question.text) if by_meaning else None
        scorer = NodeScorer(graph, config, understanding, mask, question.k, prior=self._prior, nearness=nearness)
        scores = scorer.score(connections)
        return Finding(understanding.reading, understanding.anchors, understanding.wanted, reached, scores)
