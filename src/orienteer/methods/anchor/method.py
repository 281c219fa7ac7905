"""`anchor`: retrieval without a model. The question's own names and the schema's own words do the work."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cached_property

from orienteer.graph.store import Graph
from orienteer.methods.anchor import explanation
from orienteer.methods.anchor.answer_type import understand
from orienteer.methods.anchor.config import AnchorConfig
from orienteer.methods.anchor.edge_fit import named_by_edges
from orienteer.methods.anchor.explanation import Finding, Trail
from orienteer.methods.anchor.linker import PhraseLinker
from orienteer.methods.anchor.reach import Explorer
from orienteer.methods.anchor.scorer import NodeScorer, connect, smallest_shared
from orienteer.methods.anchor.words import SchemaWords, read
from orienteer.protocols import Run
from orienteer.records import Question, Result, Usage


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

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the nodes that the anchors, the kind of answer and the words speak for, best first."""
        started = time.perf_counter()
        finding = self.find(question)
        hits = explanation.hits(finding, self._graph, self._vocabulary)
        answer = explanation.count(finding, self._graph, self._vocabulary)
        trajectory = Trail(self._graph, run).walk(finding, question, hits)
        notes = explanation.notes(finding, self._vocabulary)
        return Result(
            question=question.text,
            method=self.name,
            hits=hits,
            answer=answer,
            trajectories=(trajectory.model_copy(update={"answer": answer, "notes": notes}),),
            usage=Usage(seconds=time.perf_counter() - started),
            notes=notes,
        )

    def find(self, question: Question) -> Finding:
        """Return the ranking of a question and what it rests on: the recipe, step by step.

        The types that the question may be answered with are also the kind of answer that is looked for.
        """
        graph, vocabulary, config = self._graph, self._vocabulary, self.config
        mask = graph.arrays.mask(question.node_types or None, question.where)
        # 1. The question as words, those of the schema as they are spelled, and the phrases that name nodes.
        reading = vocabulary.corrected(read(question.text, graph.arrays.tokenizer))
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
        scores = NodeScorer(graph, config, understanding, mask, question.k).score(connections)
        return Finding(understanding.reading, understanding.anchors, understanding.wanted, reached, scores)
