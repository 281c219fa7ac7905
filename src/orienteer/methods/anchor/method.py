"""`anchor`: retrieval without a model. The question's own names and the schema's own words do the work."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from orienteer.graph.store import Graph
from orienteer.methods.anchor import answer_type, explanation
from orienteer.methods.anchor.answer_type import Wanted
from orienteer.methods.anchor.config import AnchorConfig
from orienteer.methods.anchor.edge_fit import EdgeFit
from orienteer.methods.anchor.explanation import Finding, Trail
from orienteer.methods.anchor.linker import Anchor as Linked
from orienteer.methods.anchor.linker import Linker
from orienteer.methods.anchor.reach import Explorer, Reached
from orienteer.methods.anchor.scorer import Connections, Scorer, connect
from orienteer.methods.anchor.words import Reading, Vocabulary, read
from orienteer.protocols import Run
from orienteer.records import Question, Result, Usage
from orienteer.text import english

_BY_EDGE = 0.5  # of a type that only an edge named in the question leads to
_GUESSED = 0.5  # of a type that only the size of what joins the anchors speaks for


class Anchor:
    """Links phrases to nodes, infers the kind of answer, and ranks what connects them. Safe to share among threads."""

    name = "anchor"

    def __init__(self, graph: Graph, config: AnchorConfig | None = None) -> None:
        self._graph = graph
        self.config = config if config is not None else AnchorConfig()

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self._graph)

    @cached_property
    def _linker(self) -> Linker:
        return Linker(self._graph, self._vocabulary, self.config)

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the nodes that the anchors, the kind of answer and the words speak for, best first."""
        started = time.perf_counter()
        finding = self.find(question)
        hits = explanation.hits(finding, self._graph, self._vocabulary)
        answer = self._count(finding)
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
        graph = self._graph
        mask = graph.mask(question.node_types or None, question.where)
        reading = self._respelled(read(question.text, graph.tokenizer))
        anchors = self._linker.link(reading)
        anchors, wanted = self._understand(reading, anchors, question.node_types)
        wanted = self._named_by_edges(reading, anchors, wanted)
        reached = self._reach(reading, anchors, wanted)
        connections = connect(anchors, reached, wanted)
        if len(anchors) > 1 and not wanted.types and not wanted.yes_or_no:
            wanted = replace(wanted, types=self._smallest_shared(connections))
            reached = self._reach(reading, anchors, wanted)
            connections = connect(anchors, reached, wanted)
        scores = Scorer(graph, self.config, reading, mask, question.k).score(anchors, connections, wanted)
        return Finding(reading, anchors, wanted, reached, scores)

    def _respelled(self, reading: Reading) -> Reading:
        """Return the question with mistyped words of the schema put right."""
        for place, word in enumerate(reading.words):
            other = None if reading.is_written_as_name(place) else self._vocabulary.respelled(word.text)
            if other is not None:
                reading = reading.respelled(place, other, other)
        return reading

    def _understand(
        self, reading: Reading, anchors: tuple[Linked, ...], node_types: Sequence[str]
    ) -> tuple[tuple[Linked, ...], Wanted]:
        """Return the anchors told apart by the types beside them, and what the question asks for."""
        mentions = answer_type.mentions(reading, anchors, self._vocabulary)
        anchors, mentions = answer_type.apposed(anchors, mentions, reading, self._graph)
        anchors = tuple(one for one in anchors if len(one.candidates) <= self.config.most_nodes_a_phrase)
        anchors = answer_type.told_apart(anchors, reading, self._graph, self._vocabulary)
        anchors = answer_type.coordinated(anchors, reading, self._graph)
        wanted = answer_type.wanted(reading, anchors, mentions, self._vocabulary)
        if not self._graph.schema.edges:  # types of a mere collection are forms, such as passage and table
            wanted = replace(wanted, types={})
        if node_types:
            given = self._graph.types.node_numbers(node_types)
            wanted = replace(wanted, types=dict.fromkeys(given, 1.0))
        named = {place for anchor in anchors for place in anchor.words}
        rest = {word.text for place, word in enumerate(reading.words) if place not in named}
        is_about = len(anchors) == 1 and not wanted.types and rest <= english.INTRODUCING
        return anchors, replace(wanted, about=is_about)

    def _reach(self, reading: Reading, anchors: tuple[Linked, ...], wanted: Wanted) -> tuple[list[Reached], ...]:
        """Return by anchor what it leads to, along the edges that the words around it fit."""
        explorer = Explorer(self._graph, self._vocabulary, self.config)
        if not anchors:
            if not (wanted.superlative and wanted.types and wanted.via):
                return ()
            return (explorer.gather(EdgeFit(reading, anchors, None, wanted.said_by, self._vocabulary), wanted),)
        return tuple(
            explorer.reach(
                anchor,
                EdgeFit(reading, anchors, at, wanted.said_by, self._vocabulary),
                wanted,
                alone=len(anchors) == 1,
            )
            for at, anchor in enumerate(anchors)
        )

    def _named_by_edges(self, reading: Reading, anchors: tuple[Linked, ...], wanted: Wanted) -> Wanted:
        """Return what is asked for, where no type was named, by the edges that are: "who designed X"."""
        if wanted.types or wanted.yes_or_no:
            return wanted
        types: dict[int, float] = {}
        for at, anchor in enumerate(anchors):
            fit = EdgeFit(reading, anchors, at, (), self._vocabulary)
            for source in {int(self._graph.node_types[one.row]) for one in anchor.candidates}:
                for target, likeness in fit.targets(self._vocabulary.hops[source]).items():
                    types[target] = max(types.get(target, 0.0), _BY_EDGE * likeness)
        best = max(types.values(), default=0.0)
        return replace(wanted, types={one: sureness for one, sureness in types.items() if sureness == best})

    def _smallest_shared(self, connections: Connections) -> dict[int, float]:
        """Return the type of which the fewest nodes join the anchors: what a question can be after."""
        joined = connections.rows[connections.most_joined]
        if not len(joined):
            return {}
        sizes = np.bincount(self._graph.node_types[joined])
        best = min(np.flatnonzero(sizes).tolist(), key=lambda one: (sizes[one], one))
        return {best: _GUESSED / float(np.log2(1 + sizes[best]))}

    def _count(self, finding: Finding) -> str | None:
        """Return how many there are, where the question asks that: the number first."""
        if not finding.wanted.counts or finding.wanted.superlative or not finding.wanted.types:
            return None
        names = " or ".join(str(self._graph.types.nodes[one]) for one in finding.wanted.types)
        rows = finding.counted()
        if rows is None and not finding.anchors:
            total = sum(int(self._vocabulary.node_counts[one]) for one in finding.wanted.types)
            return f"{total} ({names} node{'' if total == 1 else 's'} in the graph)"
        if rows is None:
            return None
        of = "; ".join(dict.fromkeys(anchor.phrase for anchor in finding.anchors))
        return f"{len(rows)} ({names} node{'' if len(rows) == 1 else 's'} connected to {of})"
