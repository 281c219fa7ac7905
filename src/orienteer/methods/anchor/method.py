"""`anchor`: retrieval without a model. The question's own names and the schema's own words do the work."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.methods.anchor.prior import DegreePrior, EmbeddingPayment, Meaning
from orienteer.methods.anchor.reach import Explorer, Reach, SchemaWalk, connect, named_by_edges, smallest_shared
from orienteer.methods.anchor.scorer import NodeScorer, Scores, with_first
from orienteer.protocols import Run
from orienteer.reading.answer import Answerer, Explainer
from orienteer.reading.answer_type import Understanding, understand
from orienteer.reading.linker import AnchorConfig, PhraseLinker
from orienteer.reading.reader import QuestionReader
from orienteer.reading.words import LONGEST, SchemaWords
from orienteer.records import (
    JsonValue,
    Message,
    Observed,
    Question,
    Ranked,
    Reading,
    Reply,
    Result,
    Step,
    ToolCall,
    Trajectory,
)
from orienteer.retrieval.graph_text import ends_of, source_of
from orienteer.text.sentences import snippet
from orienteer.tools.toolbox import Toolbox


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
        hits = explained_hits(finding, self._graph, self._vocabulary)
        if exact.rows is not None and explainer is not None:
            rows = finding.scores.rows
            is_complete = np.isin(rows, exact.rows, assume_unique=True)
            hits = tuple(
                self._explained(hit, row, explainer) if complete else hit
                for hit, row, complete in zip(hits, rows.tolist(), is_complete.tolist(), strict=True)
            )
        trajectory = Trail(self._graph, run).walk(finding, question, hits, exact.reading)
        # What was read exactly has notes of its own; else the ranking's say what it took for what.
        ranked = () if exact.rows is not None else result_notes(finding, self._graph)
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


# What was found for one question, and how it is told: hits with reasons, notes, a trajectory.
#
# The calls of the trajectory are run over an agent's real tools, so that a replay gives the same observations; the
# ranking does not read them.


_WORDS_SHOWN = 6
_LOOKED_THROUGH = 2_000  # characters of a text, for the best part to show
_SNIPPET_WORDS = 8  # the rarest; a snippet shows no more
_ANCHORS_WALKED = 4
_HITS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Finding(Understanding):
    """A question with what was found for it."""

    reached: tuple[Sequence[Reach], ...]
    """By anchor, what it leads to."""
    scores: Scores

    def best(self, at: int) -> Reach | None:
        """Return the best of an anchor's ways to the wanted types; None where there is none."""
        return next((reach for reach in self.reached[at] if reach.way is not None), None)

    def reasons(self, at: int, rows: NDArray[np.int32]) -> list[Reach | None]:
        """Return by row what leads from an anchor to a node most strongly; None where nothing does."""
        best: list[Reach | None] = [None] * len(rows)
        most = np.zeros(len(rows))
        for reach in self.reached[at]:
            if not len(reach.rows):
                continue
            places = reach.rows.searchsorted(rows)
            is_there = reach.rows.take(places, mode="clip") == rows
            strength = np.where(is_there, reach.strength.take(places, mode="clip"), 0.0)
            for better in np.flatnonzero(strength > most).tolist():
                best[better], most[better] = reach, strength[better]
        return best


def phrase_of(kinds: Sequence[int], graph: Graph) -> str:
    """Return the edge types of one step, as they are read."""
    return " or ".join(dict.fromkeys(graph.schema.label(graph.arrays.types.edges[kind >> 1]) for kind in kinds))


def explained_hits(finding: Finding, graph: Graph, vocabulary: SchemaWords) -> tuple[Ranked, ...]:
    """Return the ranking, with what carries each hit."""
    rows = finding.scores.rows
    words = _matching(finding, graph, vocabulary, rows)
    joined = [_connections(finding, graph, at, rows) for at in range(len(finding.anchors))]
    terms = [
        term for word in finding.reading.words if not word.is_stop for term in graph.arrays.tokenizer.expand(word.text)
    ]
    rarest = sorted(graph.arrays.text_index.postings(terms), key=lambda posting: -posting.idf)[:_SNIPPET_WORDS]
    weights = {posting.term: posting.idf for posting in rarest}
    others = _others(finding, graph)
    return tuple(
        Ranked(
            id=graph.arrays.ids[row],
            type=graph.arrays.type_at(row),
            name=graph.arrays.names[row],
            score=score,
            why="; ".join((*_why(finding, row, joined, words[row]), *other)),
            text=snippet(graph.arrays.texts[row][:_LOOKED_THROUGH], weights, graph.arrays.tokenizer.terms_of),
            source=source_of(graph, row),
        )
        for row, score, other in zip(rows.tolist(), finding.scores.scores.tolist(), others, strict=True)
    )


def _matching(finding: Finding, graph: Graph, vocabulary: SchemaWords, rows: Rows) -> dict[int, list[str]]:
    """Return by row the question's words that it has, in their order."""
    ascending = np.sort(rows)
    matching: dict[int, list[str]] = {int(row): [] for row in rows}
    for word in dict.fromkeys(word.text for word in finding.reading.words if not word.is_stop):
        posting = vocabulary.posting(word)
        if posting is not None:
            for row in graph.arrays.text_index.filter_rows(posting, ascending).tolist():
                matching[row].append(word)
    return matching


def _why(finding: Finding, row: int, joined: Sequence[Mapping[int, str]], words: list[str]) -> list[str]:
    parts = []
    for anchor, connections in zip(finding.anchors, joined, strict=True):
        if any(candidate.row == row for candidate in anchor.candidates):
            parts.append(f"named in the question: {anchor.phrase!r}")
        elif row in connections:
            parts.append(connections[row])
    if words:
        more = f" and {len(words) - _WORDS_SHOWN} more" if len(words) > _WORDS_SHOWN else ""
        parts.append(f"has {', '.join(words[:_WORDS_SHOWN])}{more}")
    return parts


def _others(finding: Finding, graph: Graph) -> list[list[str]]:
    """Return by hit what speaks for it beside anchors and words: its edges, its nearness in meaning."""
    rows, cosines = finding.scores.rows, finding.scores.cosines
    others: list[list[str]] = [[] for _ in rows]
    if finding.scores.by_degree:
        degrees = graph.arrays.adjacency.degree(rows).tolist()
        for reasons, row, degree in zip(others, rows.tolist(), degrees, strict=True):
            if graph.arrays.node_types[row] in finding.wanted.types:
                reasons.append(f"has {degree} edge{'' if degree == 1 else 's'}")
    if cosines is not None:
        for reasons, cosine in zip(others, cosines.tolist(), strict=True):
            reasons.append(f"cosine {cosine:.2f}")
    return others


def _connections(finding: Finding, graph: Graph, at: int, rows: NDArray[np.int32]) -> dict[int, str]:
    """Return by row, in words, how an anchor leads to a node; without those that it does not lead to."""
    texts: dict[int, str] = {}
    joined: dict[bytes, list[str]] = {}  # by the nodes that a way starts from
    for place, (row, reason) in enumerate(zip(rows.tolist(), finding.reasons(at, rows), strict=True)):
        if reason is None:
            continue
        if reason.way is not None and len(reason.way.kinds) > 1:
            texts[row] = _walked(graph, reason, reason.way, row)
            continue
        start = reason.start.tobytes()
        if start not in joined:
            joined[start] = _joined(graph, reason.start, rows)
        texts[row] = joined[start][place]
    return texts


def _joined(graph: Graph, start: Rows, rows: NDArray[np.int32]) -> list[str]:
    """Return in words, for each of some rows, by which edges it is joined to the nodes that a way starts from."""
    entries = graph.arrays.adjacency.entries(start)
    neighbor, kind = entries.neighbor, entries.kind
    if len(start) > 1:  # the edges of a single node are sorted by their other ends
        order = np.argsort(neighbor, kind="stable")
        neighbor, kind = neighbor[order], kind[order]
    lows, highs = neighbor.searchsorted(rows).tolist(), neighbor.searchsorted(rows, side="right").tolist()
    names = _names(graph, start)
    return [
        f"joined to {names} by {phrase_of(sorted(set(kind[low:high].tolist())), graph)}"
        for low, high in zip(lows, highs, strict=True)
    ]


def _walked(graph: Graph, reason: Reach, way: SchemaWalk, row: int) -> str:
    edges = ", ".join(phrase_of(kinds, graph) for kinds in way.kinds)
    between = ", ".join(str(graph.arrays.types.nodes[number]) for number in way.types[:-1])
    members = int(reason.members[np.flatnonzero(reason.rows == row)[0]])
    return (
        f"reached from {_names(graph, reason.start)} over {between} by {edges} ({members} of the last step lead here)"
    )


def _names(graph: Graph, start: Rows) -> str:
    return " or ".join(dict.fromkeys(graph.arrays.names[row] for row in start[:2].tolist()))


def result_notes(finding: Finding, graph: Graph) -> tuple[str, ...]:
    """Return what was read otherwise than it is written where a hit rests on it, and what the order rests on."""
    rows = finding.scores.rows
    read_as = [
        f"read {anchor.phrase!r} as {anchor.read_as!r}"
        for at, anchor in enumerate(finding.anchors)
        if anchor.read_as is not None and _is_used(finding, at, rows)
    ]
    if not finding.scores.by_degree:
        return tuple(read_as)
    types = " and ".join(str(graph.arrays.types.nodes[number]) for number in finding.wanted.types)
    return (*read_as, f"no text of type {types} says much of this: those with more edges rank higher")


def _is_used(finding: Finding, at: int, rows: NDArray[np.int32]) -> bool:
    """Tell whether a hit is what an anchor names, or what it leads to."""
    named = {candidate.row for candidate in finding.anchors[at].candidates}
    return not named.isdisjoint(rows.tolist()) or any(reason is not None for reason in finding.reasons(at, rows))


class Trail:
    """Records calls as an agent's steps."""

    def __init__(self, graph: Graph, run: Run) -> None:
        self._graph, self._run = graph, run
        self._toolbox = Toolbox.full(graph)
        self._steps: list[Step] = []

    def walk(self, finding: Finding, question: Question, hits: Sequence[Ranked], reading: Reading) -> Trajectory:
        """Return the trajectory: the anchors and their ways, what they share, and the answer.

        Of a question that was read exactly the answer is the hits that meet all of it; the others are nearby.
        """
        chosen = [hit for hit in hits if hit.complete or not reading.complete]
        ends = [end for at in range(min(_ANCHORS_WALKED, len(finding.anchors))) if (end := self._anchor(finding, at))]
        if not ends:
            self._search(question, finding)
        elif len(ends) > 1 and finding.wanted.yes_or_no:
            self._call("paths", {"a": ends[0], "b": ends[1], "max_length": 2, "k": _HITS_SHOWN})
        elif len(ends) > 1:
            self._call(
                "intersect", {"nodes": ends, **self._typed(finding), **self._last_edges(finding), "k": _HITS_SHOWN}
            )
        if chosen:
            self._call("add_to_answer", {"nodes": [hit.id for hit in chosen], "reasoning": chosen[0].why})
        else:
            self._call("finish", {})  # an empty answer is sent back once
        self._call("finish", {})
        return Trajectory(
            question=question,
            method="anchor",
            toolbox=self._toolbox.spec,
            tools=self._toolbox.specs,
            opening=(Message(role="user", content=question.text),),
            steps=tuple(self._steps),
            reading=reading,
            selected=tuple(hit.id for hit in chosen),
            nearby=tuple(hit.id for hit in hits if reading.complete and not hit.complete),
        )

    def _anchor(self, finding: Finding, at: int) -> str | None:
        """Walk the best way from an anchor; return what the last step leads away from."""
        best = finding.best(at)
        if best is None or best.way is None:
            start: str = self._graph.arrays.ids[finding.anchors[at].candidates[0].row]
            self._call("search_in_neighborhood", {"node": start, "query": finding.reading.text, "k": _HITS_SHOWN})
            return start
        start = self._graph.arrays.ids[int(best.start[0])]
        self._call("follow", {"start": start, "steps": self._walk(best, best.way), "k": _HITS_SHOWN})
        sets = self._toolbox.session.sets
        return start if len(best.way.kinds) == 1 else f"@{len(sets) - 1}"

    def _walk(self, best: Reach, way: SchemaWalk) -> list[dict[str, str]]:
        steps = []
        for kinds, node_type in zip(way.kinds, way.types, strict=True):
            step = {"type": str(self._graph.arrays.types.nodes[node_type])}
            edges = {kind >> 1 for kind in kinds}
            if len(edges) == 1:
                step["edge"] = str(self._graph.arrays.types.edges[edges.pop()])
            if len(kinds) == 1:
                step["direction"] = "in" if kinds[0] & 1 else "out"
            steps.append(step)
        return steps

    def _search(self, question: Question, finding: Finding) -> None:
        self._call("search_in_graph", {"query": question.text, **self._typed(finding)})

    def _typed(self, finding: Finding) -> dict[str, JsonValue]:
        types = [str(self._graph.arrays.types.nodes[number]) for number in finding.wanted.types]
        return {"node_types": list(types)} if types else {}

    def _last_edges(self, finding: Finding) -> dict[str, JsonValue]:
        """Return the edge types of the ways' last steps, as a filter."""
        ways = [best.way for at in range(len(finding.anchors)) if (best := finding.best(at)) and best.way]
        if len(ways) < len(finding.anchors):
            return {}
        numbers = sorted({kind >> 1 for way in ways for kind in way.kinds[-1]})
        return {"edge_types": [str(self._graph.arrays.types.edges[number]) for number in numbers]}

    def _call(self, name: str, arguments: Mapping[str, JsonValue]) -> None:
        text = json.dumps(arguments, ensure_ascii=False)
        call = ToolCall(id=f"call_{len(self._steps) + 1}", name=name, arguments=text)
        observation = self._toolbox.observe(call)
        step = Step(
            reply=Reply(message=Message(role="assistant", tool_calls=(call,))),
            observations=(
                Observed(call_id=call.id, text=observation.text, nodes=observation.nodes, error=observation.error),
            ),
        )
        self._steps.append(step)
        self._run.tell(step)
