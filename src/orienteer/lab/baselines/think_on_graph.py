"""`think-on-graph` (ToG): a beam search over paths, pruned by the model's scores of relations and of nodes.

Paper: Sun et al. 2024, Think-on-Graph; defaults: beam width 3, depth 3.

1. a call names the topics of the question, and each is linked to a node: the first paths;
2. at each depth a call scores the relations around the ends of the paths, and the best 3 are walked;
3. a call, or a search instead, scores the nodes reached, and the best 3 paths are kept;
4. a call says whether they suffice, and which of their nodes answer; the search ends when they do.

The score of a path is the product of the scores of its relations and nodes. The ranking holds the nodes that the model
takes for the answer, then the ends of the kept paths, the deepest and best first, and the topics last. Without a topic,
or without any chosen relation, plain search takes its place, and the notes say so.

Deviations:
1. One call scores all relations of a depth and one all nodes, the paper's code makes one for each node and each
   relation. So the beam is as wide as the paper's text says, over all paths together.
2. Of more than 20 nodes behind a relation, the 20 nearest to the question are scored; the code draws 5 at random. Of
   more than 60 relations at a depth, those with the fewest nodes behind them are scored.
3. It stops once the paths suffice; the code goes on.
4. A path never returns to one of its nodes.
5. One call says whether the paths suffice and names the answer. If they never do, the method has a ranking and no
   answer of its own: what the model knows without the graph is no evidence.
6. Temperature 0 throughout; the code explores at 0.4.
7. The prompts are our own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field

from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.graph.store import Graph
from orienteer.lab.baselines.baseline import TEXT, TEXTS, Baseline
from orienteer.llm.schema import object_of
from orienteer.protocols import Run
from orienteer.records import JsonValue, Kind, Question, Result
from orienteer.retrieval.graph_text import kind_line
from orienteer.text.sentences import one_line
from orienteer.tools.texts import LARGEST_K

Scorer = Literal["model", "bm25"]
_SCORE = object_of({"number": {"type": "integer"}, "score": {"type": "number"}})
SCORES = object_of({"scores": {"type": "array", "items": _SCORE}})
"""The reply of the calls that score: numbers of lines and how well each fits, 0 to 1."""
TOPICS = object_of({"topics": TEXTS})
VERDICT = object_of(
    {"enough": {"type": "boolean"}, "nodes": {"type": "array", "items": {"type": "integer"}}, "answer": TEXT}
)


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


class ThinkOnGraph(Baseline[ThinkOnGraphConfig]):
    """Relations, nodes, enough?; again one edge deeper."""

    name = "think-on-graph"
    settings = ThinkOnGraphConfig

    def retrieve(self, question: Question, run: Run) -> Result:
        """Explore from the topics and return the nodes of the kept paths."""
        workflow = self.start(question, run)
        search = _BeamSearch(self._graph, workflow, self.config)
        result = workflow.follow_and_rank(search.explore, lambda: workflow.present(search.reasons()))
        return result.model_copy(update={"answer": search.answer})


class _BeamSearch:
    """One question's beam."""

    def __init__(self, graph: Graph, workflow: Workflow, config: ThinkOnGraphConfig) -> None:
        self._graph, self._workflow, self._config = graph, workflow, config
        self.answer: str | None = None
        self._beams: list[list[BeamPath]] = []
        """Kept paths by depth; the first are the topics."""
        self._chosen: list[BeamPath] = []
        """Paths whose ends the model takes for the answer."""

    def explore(self) -> None:
        """Walk deeper until the paths suffice, or end."""
        self._beams.append([BeamPath((row,)) for row in self._topics()])
        for _ in range(self._config.depth):
            relations = self._relations()
            # First the paths one edge longer, scored by their relations alone; then by their ends.
            graph, longer = self._graph, list[BeamPath]()
            for path, kind, _, score in relations:
                filters = dict[str, JsonValue]()
                if kind.edge_type not in graph.schema.symmetric:
                    filters["direction"] = kind.direction
                near = self._workflow.use(
                    "search_in_neighborhood",
                    node=graph.arrays.ids[path.rows[-1]],
                    query=self._workflow.question.text,
                    edge_types=[kind.edge_type],
                    node_types=[kind.node_type],
                    k=self._config.nodes,
                    **filters,
                )
                in_words = (*path.relations, kind_line(graph, kind).removesuffix(f" {kind.node_type}"))
                ends = (end for end in map(graph.arrays.row, near.nodes) if end not in path.rows)
                longer += [BeamPath((*path.rows, end), in_words, path.score * score) for end in ends]
            reached = self._best(longer) if relations else []
            if not reached:
                return
            self._beams.append(reached)
            if self._suffices():
                return

    def reasons(self) -> dict[int, str]:
        """Return the rows of the ranking with the path that leads to each, or those of plain search."""
        if len(self._beams) < 2:
            if self._beams and self._beams[0]:
                self._workflow.notes.append("no path was walked from the topics: found by plain search")
            return self._workflow.plain_search()
        deepest = [path for beam in reversed(self._beams) for path in sorted(beam, key=lambda path: -path.score)]
        reasons: dict[int, str] = {}
        for path in (*self._chosen, *deepest):
            reasons.setdefault(path.rows[-1], self._in_words(path) if path.relations else "named by the question")
        return reasons

    def _topics(self) -> list[int]:
        """Return the nodes that the question names, by name or alias, else by search."""
        workflow = self._workflow
        reply = workflow.ask_for("think-on-graph-topics", TOPICS, question=workflow.question.text)
        if reply is None:
            workflow.notes.append("the model's topics cannot be read: found by plain search")
            return []
        rows: dict[int, None] = {}
        for name in list(dict.fromkeys(filter(str.strip, reply["topics"])))[: self._config.topics]:
            named = np.unique(np.array(self._graph.arrays.candidates(name), np.int32))
            near = workflow.rank(named, 1)[0].tolist() or workflow.search(name, 1)
            rows |= dict.fromkeys(near)
            if not near:
                workflow.notes.append(f"not in this graph: {name!r}")
        if not rows:
            workflow.notes.append("no topic was found in the graph: found by plain search")
        return list(rows)

    def _relations(self) -> list[PathRelation]:
        """Return the relations at the ends of the paths that the model scores best."""
        arrays, around = self._graph.arrays, list[PathRelation]()
        for path in self._beams[-1]:
            row = path.rows[-1]
            self._workflow.use("search_in_neighborhood", node=arrays.ids[row], k=1)
            counts = arrays.counts(arrays.adjacency.entries(np.array([row], np.int32)))
            around += (PathRelation(path, kind, count) for kind, count in counts.items())
        around = sorted(around, key=lambda relation: relation.size)[: self._config.relations]
        if not around:
            return []
        lines = [f"{self._in_words(path)} {kind_line(self._graph, kind)} ({size})" for path, kind, size, _ in around]
        scores = self._scores("think-on-graph-relations", lines)
        if scores is None:
            self._workflow.notes.append("the model's choice of relations cannot be read: the walk ends there")
            return []
        best = [relation._replace(score=scores[at]) for at, relation in enumerate(around) if scores.get(at, 0) > 0]
        return sorted(best, key=lambda relation: -relation.path.score * relation.score)[: self._config.width]

    def _best(self, paths: Sequence[BeamPath]) -> list[BeamPath]:
        """Return the best paths by the scores of their ends."""
        scores: Mapping[int, float] | None = None
        if self._config.scorer == "model" and paths:
            scores = self._scores("think-on-graph-nodes", list(map(self._in_words, paths)))
            if scores is None:
                self._workflow.notes.append("the model's scores of nodes cannot be read: a search stands in")
        if scores is None:
            # By a search for the ends: 1 for the best one, still a little for one that matches nothing.
            ends = np.unique(np.array([path.rows[-1] for path in paths], np.int32))
            rows, fits = self._workflow.rank(ends, len(ends))
            fits = fits.clip(min=0)  # of cosines
            top = float(fits.max(initial=0.0)) or 1.0
            by_row = {row: 0.1 + 0.9 * fit / top for row, fit in zip(rows.tolist(), fits.tolist(), strict=True)}
            scores = {at: by_row[path.rows[-1]] for at, path in enumerate(paths)}
        best = [path._replace(score=path.score * scores[at]) for at, path in enumerate(paths) if scores.get(at, 0) > 0]
        return sorted(best, key=lambda path: -path.score)[: self._config.width]

    def _suffices(self) -> bool:
        """Ask whether the paths suffice; keep those whose ends the model takes for the answer."""
        paths = [path for beam in self._beams[1:] for path in beam]
        shown = _numbered(list(map(self._in_words, paths)))
        question = self._workflow.question.text
        verdict = self._workflow.ask_for("think-on-graph-enough", VERDICT, question=question, paths=shown)
        if verdict is None:
            self._workflow.notes.append("the model did not say whether the paths suffice: taken for no")
            return False
        self._chosen = [paths[number - 1] for number in verdict["nodes"] if 1 <= number <= len(paths)]
        if verdict["enough"]:
            self.answer = verdict["answer"].strip() or None
        return bool(verdict["enough"])

    def _scores(self, prompt: str, lines: Sequence[str]) -> dict[int, float] | None:
        """Return the scores of lines by their indexes, 0 to 1, or None if the model's reply cannot be read."""
        question, width = self._workflow.question.text, self._config.width
        reply = self._workflow.ask_for(prompt, SCORES, question=question, lines=_numbered(lines), width=width)
        if reply is None:
            return None
        return {
            item["number"] - 1: min(max(float(item["score"]), 0.0), 1.0)
            for item in reversed(reply["scores"])
            if 1 <= item["number"] <= len(lines)
        }

    def _in_words(self, path: BeamPath) -> str:
        names = [one_line(self._graph.arrays.names[row]) for row in path.rows]
        steps = (f" {relation} {name}" for relation, name in zip(path.relations, names[1:], strict=True))
        return "".join((names[0], *steps))


def _numbered(lines: Sequence[str]) -> str:
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
