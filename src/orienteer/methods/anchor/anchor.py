"""`anchor`: retrieval without a model. The question's own names and the schema's own words do the work."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadOption
from orienteer.graph.store import Graph
from orienteer.index.bm25 import Mask
from orienteer.llm.conversation import ending_of
from orienteer.methods.anchor.reach import Traversal, connect, named_by_edges, smallest_shared, walkers_of
from orienteer.methods.anchor.scorer import DegreePrior, EmbeddingPayment, Meaning, NodeScorer, Scores, with_first
from orienteer.protocols import Exploring, LanguageModel, Method, QuestionReader, Run
from orienteer.reading.answer import Answerer, ExactAnswer, Explainer
from orienteer.reading.answer_type import Understanding, understand
from orienteer.reading.by_model import ModelReader
from orienteer.reading.foreign import EveryLanguage
from orienteer.reading.linker import AnchorConfig, PhraseLinker
from orienteer.reading.reader import RulesReader
from orienteer.reading.readers import Check, TwoReaders, reader_of
from orienteer.reading.vocabulary import LONGEST, SchemaWords
from orienteer.records import (
    JsonValue,
    Message,
    Question,
    Ranked,
    Reading,
    Refusal,
    Result,
    Step,
    StoppedBy,
    ToolCall,
    Trajectory,
)
from orienteer.retrieval.graph_text import bare_hit, ends_of, source_of, values_of
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
    def _rules(self) -> RulesReader:
        return RulesReader(self._graph, self._vocabulary, self._linker)

    @cached_property
    def _answerer(self) -> Answerer:
        return Answerer(self._graph, self._reader(), self._vocabulary)

    def _reader(self) -> QuestionReader:
        """Return who reads questions as lines."""
        return reader_of(self.config.reader, self._graph, EveryLanguage(self._graph, self._rules))

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the nodes that the anchors, the type of answer and the words support, best first."""
        started = time.perf_counter()
        exact, explainer = self._answerer.answer(question, self._mask(question), run)
        payment = self._meaning.pay(question.text, run) if exact.rows is None else EmbeddingPayment()
        # Of nodes that meet a reading the page must not change the order.
        asked = question if exact.rows is None else question.model_copy(update={"k": _RANKED})
        ranking = self.find(asked, by_meaning=exact.rows is None and payment.lack is None)
        notes, page = [*exact.notes], slice(question.offset, question.k)
        if exact.rows is None:
            ranking = replace(ranking, scores=ranking.scores.part(page))
            notes += result_notes(ranking, self._graph)  # an exact reading has notes of its own
        else:
            known = ranking.scores
            if question.k > max(_RANKED, len(exact.rows)):  # of those nearby as many as are asked for
                known = known.with_more(self.find(question, by_meaning=False).scores, but=exact.rows)
            scores = with_first(known, exact.rows, page, is_ordered=exact.is_ordered)
            ranking = replace(ranking, scores=scores)
        hits = explained_hits(ranking, self._graph, self._vocabulary)
        if exact.rows is not None and explainer is not None:
            rows = ranking.scores.rows
            is_complete = np.isin(rows, exact.rows, assume_unique=True)
            hits = tuple(
                self._explained(hit, row, explainer) if complete else hit
                for hit, row, complete in zip(hits, rows.tolist(), is_complete.tolist(), strict=True)
            )
        trajectory = Trail(self._graph, run, self.name).walk(ranking, question, hits, exact.reading)
        calls = tuple(_with_outcome(call, exact, hits) for call in exact.trajectories)
        stopped_by: StoppedBy = "finish"
        if exact.failed is not None:
            stopped_by = ending_of(exact.failed)
        if payment.lack:
            notes.append(payment.lack)
        if self._vocabulary.read(question.text).is_cut:
            notes.append(f"{LONGEST} words of a question are read: of this one the first")
        return Result(
            question=question.text,
            method=self.name,
            hits=hits,
            offset=question.offset,
            answer=exact.answer,
            long_answer=exact.long_answer,
            answer_kind=exact.kind,
            table=exact.table,
            reading=exact.reading,
            refusal=exact.refusal,
            total=None if exact.rows is None else len(exact.rows),
            trajectories=(
                *calls,
                trajectory.model_copy(
                    update={
                        "answer": exact.answer,
                        "notes": tuple(notes),
                        "stopped_by": stopped_by,
                        "error": None if exact.failed is None else str(exact.failed),
                    }
                ),
            ),
            usage=sum((one.usage for one in calls), payment.usage).model_copy(
                update={"seconds": time.perf_counter() - started}
            ),
            stopped_by=stopped_by,
            notes=tuple(notes),
        )

    def read(self, question: Question, run: Run) -> ExactAnswer:
        """Return what a question is read as and all nodes that meet it, without a ranking."""
        return self._answerer.answer(question, self._mask(question), run)[0]

    def leaves(self, question: Question, result: Result, then: Method) -> str | None:
        """Return why a question is left to another method; None if it is not."""
        return None if result.refusal is None else result.refusal.text

    def _explained(self, hit: Ranked, row: int, explainer: Explainer) -> Ranked:
        texts, edges, parts, meets = explainer.why(row)
        why = "; ".join(dict.fromkeys(texts)) or hit.why
        ends = ends_of(self._graph, hit.id, edges, parts)
        return hit.model_copy(update={"why": why, "edges": edges, "ends": ends, "meets": meets, "complete": True})

    def _mask(self, question: Question) -> Mask | None:
        return self._graph.arrays.mask(question.node_types or None, question.where)

    def find(self, question: Question, *, by_meaning: bool = True) -> QuestionRanking:
        """Return the ranking of a question with everything that led to it: the recipe, step by step.

        Vectors take part unless `by_meaning` is False. The question's own node types are also the types of the answer.
        """
        graph, vocabulary, config = self._graph, self._vocabulary, self.config
        mask = self._mask(question)
        # 1. The question as words, those of the schema as they are spelled, and the phrases that name nodes.
        reading = vocabulary.corrected(vocabulary.read(question.text))
        anchors = self._linker.link(reading)
        # 2. The type of the answer: one that is named, else one that a named edge leads to ("who designed X").
        most = config.most_nodes_a_phrase
        understanding = understand(reading, anchors, graph, vocabulary, node_types=question.node_types, most_nodes=most)
        walkers = walkers_of(understanding, graph, vocabulary, config)
        wanted = understanding.wanted
        is_open = not wanted.types and not wanted.yes_or_no
        if is_open:
            wanted = replace(wanted, types=named_by_edges(walkers))
        # 3 and 4. What the anchors lead to, along the edges that fit the words around them.
        understanding = replace(understanding, wanted=wanted)
        reached = tuple(walker.reach(wanted) for walker in walkers)
        connections = connect(understanding, reached)
        if is_open and not wanted.types and len(understanding.anchors) > 1:
            wanted = replace(wanted, types=smallest_shared(connections, graph))
            understanding = replace(understanding, wanted=wanted)
            reached = tuple(walker.reach(wanted) for walker in walkers)
            connections = connect(understanding, reached)
        # 5. One score for each node.
        nearness = self._meaning.of(question.text) if by_meaning else None
        scorer = NodeScorer(
            graph, config, understanding, mask, question.k, prior=self._prior, nearness=nearness, text=question.text
        )
        return QuestionRanking(understanding.reading, understanding.anchors, wanted, reached, scorer.score(connections))


# The presentation of a ranking: hits with reasons, notes, a trajectory.
#
# The calls of the trajectory run over an agent's real tools, so that a replay gives the same observations; the ranking
# does not read them.


_RANKED = 20  # nodes that a reading's answers are ordered by
_WORDS_SHOWN = 6
_LOOKED_THROUGH = 2_000  # characters of a text, for the best part to show
_SNIPPET_WORDS = 8  # the rarest; a snippet shows no more
_ANCHORS_WALKED = 4
_HITS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class QuestionRanking(Understanding):
    """A question with its ranked nodes and the paths to them."""

    reached: tuple[Sequence[Traversal], ...]
    """By anchor, what it leads to."""
    scores: Scores

    def best(self, at: int) -> Traversal | None:
        """Return the best of an anchor's paths to the wanted types, or None."""
        return next((reach for reach in self.reached[at] if reach.way is not None), None)

    def reasons(self, at: int, rows: NDArray[np.int32]) -> list[Traversal | None]:
        """Return by row the strongest connection from an anchor to a node, or None."""
        best: list[Traversal | None] = [None] * len(rows)
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


def explained_hits(ranking: QuestionRanking, graph: Graph, vocabulary: SchemaWords) -> tuple[Ranked, ...]:
    """Return the hits, each with its reasons: its name, its connections, its words, its edges, its cosine."""
    arrays, rows, anchors = graph.arrays, ranking.scores.rows, ranking.anchors
    content = dict.fromkeys(word.text for word in ranking.reading.words if not word.is_stop)
    postings = [(word, posting) for word in content if (posting := vocabulary.posting(word)) is not None]
    having = [(word, set(arrays.text_index.filter_rows(posting, np.sort(rows)).tolist())) for word, posting in postings]
    terms = [term for word in content for term in arrays.tokenizer.expand(word)]
    rarest = sorted(arrays.text_index.postings(terms), key=lambda posting: -posting.idf)[:_SNIPPET_WORDS]
    weights = {posting.term: posting.idf for posting in rarest}
    reasons = [_connections(ranking, graph, at, rows) for at in range(len(anchors))]
    degrees = arrays.adjacency.degree(rows).tolist() if ranking.scores.by_degree else []
    cosines = ranking.scores.cosines.tolist() if ranking.scores.cosines is not None else []
    texts = {row: arrays.texts[row][:_LOOKED_THROUGH] for row in rows.tolist()}
    blank = [row for row, text in texts.items() if not text]
    values = dict(zip(blank, values_of(graph, blank), strict=True))
    hits = []
    for place, (row, score) in enumerate(zip(rows.tolist(), ranking.scores.scores.tolist(), strict=True)):
        why = [connections[row] for connections in reasons if row in connections]
        if own := [word for word, owners in having if row in owners]:
            more = f" and {len(own) - _WORDS_SHOWN} more" if len(own) > _WORDS_SHOWN else ""
            why.append(f"has {', '.join(own[:_WORDS_SHOWN])}{more}")
        if degrees and arrays.node_types[row] in ranking.wanted.types:
            why.append(f"has {degrees[place]} edge{'' if degrees[place] == 1 else 's'}")
        if cosines:
            why.append(f"cosine {cosines[place]:.2f}")
        text = snippet(texts[row] or values[row], weights, arrays.tokenizer.terms_of)
        source = source_of(graph, row)
        hits.append(bare_hit(graph, row, score=score, why="; ".join(why), text=text, source=source))
    return tuple(hits)


def _connections(ranking: QuestionRanking, graph: Graph, at: int, rows: NDArray[np.int32]) -> dict[int, str]:
    """Return by row, in words, that an anchor names it or how the anchor leads there; other rows are left out."""
    arrays, anchor = graph.arrays, ranking.anchors[at]
    named = f"named in the question: {anchor.phrase!r}"
    texts = dict.fromkeys((candidate.row for candidate in anchor.candidates), named)
    joined: dict[bytes, list[str]] = {}  # by the nodes that a path starts from

    def labels(kinds: Sequence[int]) -> str:
        return " or ".join(dict.fromkeys(graph.schema.label(arrays.types.edges[kind >> 1]) for kind in kinds))

    for place, (row, reason) in enumerate(zip(rows.tolist(), ranking.reasons(at, rows), strict=True)):
        if reason is None or row in texts:
            continue
        names = " or ".join(dict.fromkeys(arrays.names[start] for start in reason.start[:2].tolist()))
        if reason.way is not None and len(reason.way.kinds) > 1:
            edges = ", ".join(map(labels, reason.way.kinds))
            between = ", ".join(str(arrays.types.nodes[number]) for number in reason.way.types[:-1])
            members = int(reason.members[np.flatnonzero(reason.rows == row)[0]])
            texts[row] = f"reached from {names} over {between} by {edges} ({members} of the last step lead here)"
            continue
        start = reason.start.tobytes()
        if start not in joined:
            # The edges between the start and each row, for all rows at once.
            entries = arrays.adjacency.entries(reason.start)
            neighbor, kind = entries.neighbor, entries.kind
            # The edges of a single node are sorted by their other ends already.
            if len(reason.start) > 1:
                order = np.argsort(neighbor, kind="stable")
                neighbor, kind = neighbor[order], kind[order]
            lows, highs = neighbor.searchsorted(rows).tolist(), neighbor.searchsorted(rows, side="right").tolist()
            spans = zip(lows, highs, strict=True)
            kinds = [sorted(set(kind[low:high].tolist())) for low, high in spans]
            joined[start] = [f"joined to {names} by {labels(each)}" for each in kinds]
        texts[row] = joined[start][place]
    return texts


def _with_outcome(call: Trajectory, exact: ExactAnswer, hits: Sequence[Ranked]) -> Trajectory:
    """Return a model's call with what its line gives: the nodes, or the answer that is none; bare if not believed."""
    if exact.rows is None or exact.reading.agreed is False or call.stopped_by != "finish":
        return call.model_copy(update={"answer": None})
    is_of_nodes = exact.kind in (None, "entity", "set")
    nodes = tuple(hit.id for hit in hits if hit.complete and is_of_nodes)
    return call.model_copy(update={"reading": exact.reading, "selected": nodes, "answer": exact.answer})


def result_notes(ranking: QuestionRanking, graph: Graph) -> tuple[str, ...]:
    """Return notes on names that were read otherwise than they are written, and on an order by edges."""
    rows = ranking.scores.rows
    notes = []
    for at, anchor in enumerate(ranking.anchors):
        if anchor.read_as is not None:  # noted if a hit is what the anchor names, or what it leads to
            named = {candidate.row for candidate in anchor.candidates}
            if not named.isdisjoint(rows.tolist()) or any(reason is not None for reason in ranking.reasons(at, rows)):
                notes.append(f"read {anchor.phrase!r} as {anchor.read_as!r}")
    if ranking.scores.by_degree:
        types = " and ".join(str(graph.arrays.types.nodes[number]) for number in ranking.wanted.types)
        notes.append(f"no text of type {types} says much of this: those with more edges rank higher")
    return tuple(notes)


class ReaderConfig(AnchorConfig):
    """The settings of `reader`."""

    reader: str = ModelReader.name
    """Who reads beside the rules: `model`, what a package registers as a question reader, or `rules`: nobody."""
    check: Check = "refused"
    """When that reader is asked: if the rules refuse (`refused`), or for every question (`always`)."""


class Reader(Anchor):
    """`reader`: a model writes the line of what no rule reads, and the program checks, finds, counts and proves it."""

    name = "reader"

    def __init__(self, graph: Graph, model: LanguageModel | None = None, config: ReaderConfig | None = None) -> None:
        """Without a model it reads as `anchor` does. Raises `BadOption` for options that need one."""
        own = config or ReaderConfig()
        super().__init__(graph, own)
        self._model, self._check = model, own.check
        self._lacks_model = model is None and own.reader == ModelReader.name
        if self._lacks_model and own.check == "always":
            raise BadOption("reader.check is 'always', and there is no model: name one, or leave check at 'refused'")

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return what `anchor` returns, with a note if there is no model."""
        result = super().retrieve(question, run)
        if not self._lacks_model:
            return result
        note = "no model is named, so rules alone read: name one (--model, model=, ORIENTEER_MODEL or orienteer.toml)"
        return result.model_copy(update={"notes": (*result.notes, note)})

    def leaves(self, question: Question, result: Result, then: Method) -> str | None:
        """Return why a question is left to another method; None if it is not.

        Agents search the same graph: they have what no line says, and what a model's line finds nothing for, if the
        question describes what it is about instead of naming it; and all of a model that writes no lines. Two lines
        that do not agree are for the person, and a failed model for nobody.
        """
        reading, refusal = result.reading, result.refusal
        if result.stopped_by != "finish" or (refusal is not None and refusal.lines):
            return None
        if not isinstance(then, Exploring):
            return super().leaves(question, result, then)
        is_by_second = reading is not None and reading.by == self.config.reader != RulesReader.name
        is_empty = result.answer is None and not any(hit.complete for hit in result.hits)
        if refusal is None and not (is_by_second and is_empty):
            return None
        refusal = refusal or Refusal(kind="not_here", text="nothing meets the line")
        is_named = refusal.kind != "unsupported" and self._rules.names(question.text)
        return None if is_named else refusal.text

    def _reader(self) -> QuestionReader:
        rules = EveryLanguage(self._graph, self._rules)
        if self._lacks_model or self.config.reader == rules.name:
            return rules
        return TwoReaders(
            self._graph, rules, reader_of(self.config.reader, self._graph, rules, self._model), self._check
        )


class Trail:
    """Records calls as an agent's steps."""

    def __init__(self, graph: Graph, run: Run, method: str = "anchor") -> None:
        self._graph, self._run, self._method = graph, run, method
        self._toolbox = Toolbox.full(graph)
        self._steps: list[Step] = []

    def walk(
        self, ranking: QuestionRanking, question: Question, hits: Sequence[Ranked], reading: Reading
    ) -> Trajectory:
        """Return the trajectory: the anchors and their paths, what they share, and the answer.

        If the question was read exactly, the answer is the hits that meet all of it; the others are nearby.
        """
        types, anchors = self._graph.arrays.types, ranking.anchors
        chosen = [hit for hit in hits if hit.complete or not reading.complete]
        ends = [end for at in range(min(_ANCHORS_WALKED, len(anchors))) if (end := self._anchor(ranking, at))]
        wanted: list[JsonValue] = [str(types.nodes[number]) for number in ranking.wanted.types]
        typed: dict[str, JsonValue] = {"node_types": wanted} if wanted else {}
        if not ends:
            self._call("search_in_graph", {"query": question.text, **typed})
        elif len(ends) > 1 and ranking.wanted.yes_or_no:
            self._call("paths", {"a": ends[0], "b": ends[1], "max_length": 2, "k": _HITS_SHOWN})
        elif len(ends) > 1:
            # The edge types of the paths' last steps are a filter, if every anchor has a path.
            ways = [best.way for at in range(len(anchors)) if (best := ranking.best(at)) and best.way]
            if len(ways) == len(anchors):
                numbers = sorted({kind >> 1 for way in ways for kind in way.kinds[-1]})
                typed["edge_types"] = [str(types.edges[number]) for number in numbers]
            self._call("intersect", {"nodes": ends, **typed, "k": _HITS_SHOWN})
        if chosen:
            self._call("add_to_answer", {"nodes": [hit.id for hit in chosen], "reasoning": chosen[0].why})
        else:
            self._call("finish", {})  # an empty answer is sent back once
        self._call("finish", {})
        return Trajectory(
            question=question,
            method=self._method,
            toolbox=self._toolbox.spec,
            tools=self._toolbox.specs,
            opening=(Message(role="user", content=question.text),),
            steps=tuple(self._steps),
            reading=reading,
            selected=tuple(hit.id for hit in chosen),
            nearby=tuple(hit.id for hit in hits if reading.complete and not hit.complete),
        )

    def _anchor(self, ranking: QuestionRanking, at: int) -> str:
        """Walk the best path from an anchor; return the node or set that the last step starts from."""
        arrays, best = self._graph.arrays, ranking.best(at)
        if best is None or best.way is None:
            start: str = arrays.ids[ranking.anchors[at].candidates[0].row]
            self._call("search_in_neighborhood", {"node": start, "query": ranking.reading.text, "k": _HITS_SHOWN})
            return start
        start = arrays.ids[int(best.start[0])]
        steps: list[JsonValue] = []
        for kinds, node_type in zip(best.way.kinds, best.way.types, strict=True):
            step: dict[str, JsonValue] = {"type": str(arrays.types.nodes[node_type])}
            edges = {kind >> 1 for kind in kinds}
            if len(edges) == 1:
                step["edge"] = str(arrays.types.edges[edges.pop()])
            if len(kinds) == 1:
                step["direction"] = "in" if kinds[0] & 1 else "out"
            steps.append(step)
        self._call("follow", {"start": start, "steps": steps, "k": _HITS_SHOWN})
        return start if len(best.way.kinds) == 1 else f"@{len(self._toolbox.session.sets) - 1}"

    def _call(self, name: str, arguments: Mapping[str, JsonValue]) -> None:
        text = json.dumps(arguments, ensure_ascii=False)
        call = ToolCall(id=f"call_{len(self._steps) + 1}", name=name, arguments=text)
        step = Step.of(call, self._toolbox.observe(call))
        self._steps.append(step)
        self._run.tell(step)
