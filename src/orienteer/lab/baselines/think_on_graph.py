"""`think-on-graph` (ToG): a beam search over paths, pruned by the model's scores of relations and of nodes.

Paper: Sun et al. 2024, Think-on-Graph; defaults: beam width 3, depth 3.

1. a call names the topics of the question, and each is linked to a node: the first paths;
2. at each depth a call scores the relations around the ends of the paths, and the best 3 are walked;
3. a call, or a search instead, scores the nodes reached, and the best 3 paths are kept;
4. a call says whether they suffice, and which of their nodes answer; the search ends when they do.

The score of a path is the product of the scores of its relations and nodes. The ranking holds the nodes that the model
takes for the answer, then the ends of the kept paths, the deepest and best first, and the topics last. Without a topic,
or without any chosen relation, plain search stands in, and the notes say so.

Deviations:
1. One call scores all relations of a depth and one all nodes, where the paper's code makes one for each node and each
   relation. So the beam is as wide as the paper's text says, over all paths together.
2. Of more than 20 nodes behind a relation, the 20 nearest to the question are scored; the code draws 5 at random. Of
   more than 60 relations at a depth, those with the fewest nodes behind them are scored.
3. It stops once the paths suffice; the code goes on.
4. A path never returns to one of its nodes.
5. One call tells whether the paths suffice and names the answer. Where they never do, the method has a ranking and no
   answer of its own: what the model knows without the graph is no evidence.
6. Temperature 0 throughout; the code explores at 0.4.
7. The prompts are our own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.graph.store import Graph
from orienteer.protocols import LanguageModel, Run
from orienteer.records import JsonValue, Kind, Question, Result
from orienteer.retrieval.graph_text import kind_line
from orienteer.text.sentences import one_line
from orienteer.tools.texts import LARGEST_K

Scorer = Literal["model", "bm25"]
_NUMBERED: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"number": {"type": "integer"}, "score": {"type": "number"}},
        "required": ["number", "score"],
        "additionalProperties": False,
    },
}
SCORES: dict[str, Any] = {
    "type": "object",
    "properties": {"scores": _NUMBERED},
    "required": ["scores"],
    "additionalProperties": False,
}
"""What the calls that score give: numbers of lines and how well each fits, 0 to 1."""
TOPICS: dict[str, Any] = {
    "type": "object",
    "properties": {"topics": {"type": "array", "items": {"type": "string"}}},
    "required": ["topics"],
    "additionalProperties": False,
}
VERDICT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "enough": {"type": "boolean"},
        "nodes": {"type": "array", "items": {"type": "integer"}},
        "answer": {"type": "string"},
    },
    "required": ["enough", "nodes", "answer"],
    "additionalProperties": False,
}


class ThinkOnGraphConfig(WorkflowConfig):
    """ToG's settings."""

    width: int = Field(default=3, ge=1, le=LARGEST_K)
    """Paths that are kept at each depth. The paper's N."""
    depth: int = Field(default=3, ge=1, le=LARGEST_K)
    """Edges of a path at the most. The paper's D."""
    topics: int = Field(default=3, ge=1, le=LARGEST_K)
    """Nodes to begin with, at the most. As many as paths are kept."""
    relations: int = Field(default=60, ge=1, le=LARGEST_K)
    """Relations that are scored at a depth, at the most, those with the fewest nodes behind them; ours."""
    nodes: int = Field(default=20, ge=1, le=LARGEST_K)
    """Nodes behind a relation that are scored, at the most; the paper's code thins out from 20 on."""
    scorer: Scorer = "model"
    """What scores nodes: model, or bm25 against the question. The paper's code offers both."""


class BeamPath(NamedTuple):
    """A path from a topic: its rows, the relations between them in words, and its score."""

    rows: tuple[int, ...]
    relations: tuple[str, ...] = ()
    score: float = 1.0


class PathRelation(NamedTuple):
    """One kind of edge at the end of a path."""

    path: BeamPath
    kind: Kind
    size: int
    """The number of nodes behind it."""
    score: float = 0.0


class ThinkOnGraph:
    """Relations, nodes, enough?; again one edge deeper."""

    name = "think-on-graph"

    def __init__(self, graph: Graph, model: LanguageModel, config: ThinkOnGraphConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or ThinkOnGraphConfig()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Explore from the topics and return the nodes of the kept paths."""
        config = self.config
        workflow = Workflow(self._graph, self._model, run, question=question, method=self.name, config=config)
        search = _BeamSearch(self._graph, workflow, config)
        result = workflow.follow_and_rank(search.explore, lambda: workflow.present(search.reasons() or search.plain()))
        return result.model_copy(update={"answer": search.answer})


@dataclass(slots=True)
class _BeamSearch:
    """One question's beam."""

    graph: Graph
    workflow: Workflow
    config: ThinkOnGraphConfig
    answer: str | None = None
    beams: list[list[BeamPath]] = field(default_factory=list)
    """Kept paths by depth; the first are the topics."""
    chosen: list[BeamPath] = field(default_factory=list)
    """Paths whose ends the model takes for the answer."""

    def explore(self) -> None:
        """Walk deeper until the paths suffice, or end."""
        self.beams.append([BeamPath((row,)) for row in self._topics()])
        for _ in range(self.config.depth):
            relations = self._relations()
            reached = self._scored(self._reached(relations)) if relations else []
            if not reached:
                return
            self.beams.append(reached)
            if self._suffices():
                return

    def plain(self) -> dict[int, str]:
        """Return what plain search finds, and say why it stands in."""
        if self.beams and self.beams[0]:
            self.workflow.notes.append("no path was walked from the topics: found by plain search")
        return self.workflow.plain_search()

    def reasons(self) -> dict[int, str]:
        """Return the rows of the ranking with the path that leads to each; none where nothing was explored."""
        if len(self.beams) < 2:
            return {}
        deepest = [path for beam in reversed(self.beams) for path in sorted(beam, key=lambda path: -path.score)]
        reasons: dict[int, str] = {}
        for path in (*self.chosen, *deepest):
            reasons.setdefault(path.rows[-1], self._in_words(path) if path.relations else "named by the question")
        return reasons

    def _topics(self) -> list[int]:
        """Return the nodes that the question names, by name or alias, else by search."""
        graph, workflow = self.graph, self.workflow
        reply = workflow.ask_for("think-on-graph-topics", TOPICS, question=workflow.question.text)
        if reply is None:
            workflow.notes.append("the model's topics cannot be read: found by plain search")
            return []
        rows: dict[int, None] = {}
        for name in list(dict.fromkeys(filter(str.strip, reply["topics"])))[: self.config.topics]:
            named = np.unique(np.array(graph.arrays.candidates(name), np.int32))
            near = workflow.rank(named, 1)[0].tolist() or workflow.search(name, 1)
            rows |= dict.fromkeys(near)
            if not near:
                workflow.notes.append(f"not in this graph: {name!r}")
        if not rows:
            workflow.notes.append("no topic was found in the graph: found by plain search")
        return list(rows)

    def _relations(self) -> list[PathRelation]:
        """Return the relations at the ends of the paths that the model scores best."""
        around = sorted(self._around(), key=lambda relation: relation.size)[: self.config.relations]
        if not around:
            return []
        lines = [
            f"{self._in_words(relation.path)} {kind_line(self.graph, relation.kind)} ({relation.size})"
            for relation in around
        ]
        scores = self._ask_scores("think-on-graph-relations", lines)
        if scores is None:
            self.workflow.notes.append("the model's choice of relations cannot be read: the walk ends there")
            return []
        best = [
            relation._replace(score=scores[place]) for place, relation in enumerate(around) if scores.get(place, 0) > 0
        ]
        return sorted(best, key=lambda relation: -relation.path.score * relation.score)[: self.config.width]

    def _around(self) -> Iterator[PathRelation]:
        for path in self.beams[-1]:
            row = path.rows[-1]
            self.workflow.use("search_in_neighborhood", node=self.graph.arrays.ids[row], k=1)
            counts = self.graph.arrays.counts(self.graph.arrays.adjacency.entries(np.array([row], np.int32)))
            yield from (PathRelation(path, kind, count) for kind, count in counts.items())

    def _reached(self, relations: Sequence[PathRelation]) -> list[BeamPath]:
        """Return the paths one edge longer, scored by their relations alone."""
        graph, longer = self.graph, []
        for relation in relations:
            path, kind, filters = relation.path, relation.kind, dict[str, JsonValue]()
            if kind.edge_type not in graph.schema.symmetric:
                filters["direction"] = kind.direction
            near = self.workflow.use(
                "search_in_neighborhood",
                node=graph.arrays.ids[path.rows[-1]],
                query=self.workflow.question.text,
                edge_types=[kind.edge_type],
                node_types=[kind.node_type],
                k=self.config.nodes,
                **filters,
            )
            relations_in_words = (*path.relations, kind_line(graph, kind).removesuffix(f" {kind.node_type}"))
            longer += [
                BeamPath((*path.rows, end), relations_in_words, path.score * relation.score)
                for end in map(graph.arrays.row, near.nodes)
                if end not in path.rows
            ]
        return longer

    def _scored(self, paths: Sequence[BeamPath]) -> list[BeamPath]:
        """Return the best paths by the scores of their ends."""
        scores: Mapping[int, float] | None = None
        if self.config.scorer == "model" and paths:
            scores = self._ask_scores("think-on-graph-nodes", list(map(self._in_words, paths)))
            if scores is None:
                self.workflow.notes.append("the model's scores of nodes cannot be read: a search stands in")
        if scores is None:
            scores = self._by_words(paths)
        best = [
            path._replace(score=path.score * scores[place])
            for place, path in enumerate(paths)
            if scores.get(place, 0) > 0
        ]
        return sorted(best, key=lambda path: -path.score)[: self.config.width]

    def _by_words(self, paths: Sequence[BeamPath]) -> Mapping[int, float]:
        """Return a score for each path by a search for its end: 1 for the best, still a little for what matches none.

        That is BM25 unless the mode of searches is another.
        """
        ends = np.unique(np.array([path.rows[-1] for path in paths], np.int32))
        rows, scores = self.workflow.rank(ends, len(ends))
        scores = scores.clip(min=0)  # of cosines
        top = float(scores.max(initial=0.0)) or 1.0
        by_row = {row: 0.1 + 0.9 * score / top for row, score in zip(rows.tolist(), scores.tolist(), strict=True)}
        return {place: by_row[path.rows[-1]] for place, path in enumerate(paths)}

    def _suffices(self) -> bool:
        """Ask whether the paths suffice; keep those whose ends the model takes for the answer."""
        paths = [path for beam in self.beams[1:] for path in beam]
        verdict = self.workflow.ask_for(
            "think-on-graph-enough",
            VERDICT,
            question=self.workflow.question.text,
            paths=_numbered(list(map(self._in_words, paths))),
        )
        if verdict is None:
            self.workflow.notes.append("the model did not say whether the paths suffice: taken for no")
            return False
        self.chosen = [paths[number - 1] for number in verdict["nodes"] if 1 <= number <= len(paths)]
        if verdict["enough"]:
            self.answer = verdict["answer"].strip() or None
        return bool(verdict["enough"])

    def _ask_scores(self, prompt: str, lines: Sequence[str]) -> dict[int, float] | None:
        """Return the scores of lines by their places, 0 to 1; None where the model gives none that can be read."""
        reply = self.workflow.ask_for(
            prompt, SCORES, question=self.workflow.question.text, lines=_numbered(lines), width=self.config.width
        )
        if reply is None:
            return None
        return {
            item["number"] - 1: min(max(float(item["score"]), 0.0), 1.0)
            for item in reversed(reply["scores"])
            if 1 <= item["number"] <= len(lines)
        }

    def _in_words(self, path: BeamPath) -> str:
        names = [one_line(self.graph.arrays.names[row]) for row in path.rows]
        steps = (f" {relation} {name}" for relation, name in zip(path.relations, names[1:], strict=True))
        return "".join((names[0], *steps))


def _numbered(lines: Sequence[str]) -> str:
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
