"""`sage`: the best nodes by words and nearness, and those of their neighbours that fit. SAGE (paper 004).

    seeds      k1 nodes by any method; hybrid search unless another is named (`sage:spark`)
    expansion  all nodes one edge away from a seed: over what the graph was given and over `similar` edges alike, in
               the graph or beside it (`orienteer link`)
    pruning    the k2 of them whose hybrid score H is highest, weighed by the edges that led there
    union      k = k1 + k2 nodes in one order, seeds and neighbours scored against the question alike

No step of it calls a model.

`SageConfig` lists what deviates from it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.cypher.parser import parse
from orienteer.cypher.syntax import EdgePattern
from orienteer.errors import BadOption, BadQuery
from orienteer.graph.pieces.similar import SIMILAR
from orienteer.graph.store import Graph
from orienteer.index.searchers import WEIGHT
from orienteer.llm.schema import json_object
from orienteer.methods.sage.hop import LAYER, Expander, LeadingEdge, SageConfig, seeds_of
from orienteer.protocols import Method, Run
from orienteer.query.expressions import parts
from orienteer.records import Direction, JsonValue, Question, Ranked, Result, Trajectory, Usage
from orienteer.retrieval.graph_text import arrow, present, title

_OWN_SEEDS = ("auto", "hybrid")
_EDGES = "edges"  # the mark of a planned course whose result was found along edges that its plan names
_NO_VECTORS = "no vectors: BM25 stands in for the hybrid score (orienteer embed)"
_NO_SIMILAR = "not expanded: the graph has no edges but those of names, which the paper does not have"
_NAMED_AN_EDGE = "not expanded: the search for the seeds named an edge (policy -edge)"
_BESIDE = "similar edges beside the graph (orienteer link) were walked too; no tool shows them"


class _Seeds(NamedTuple):
    """Seeds, best first, and how a replay finds them again."""

    rows: list[int]
    saved: tuple[str, ...] = ()
    """The sets of the trail in which its own searches have kept them."""
    apart: tuple[int, ...] = ()
    """The seeds that no set holds."""


class Sage:
    """Hybrid seeds, or those of another method, expanded by one hop and pruned. Calls no model by itself."""

    name = "sage"

    def __init__(self, graph: Graph, config: SageConfig | None = None, seeds: Method | None = None) -> None:
        config = config if config is not None else SageConfig()
        if seeds is None and config.seeds not in _OWN_SEEDS:
            raise BadOption(f"seeds is {config.seeds!r}: write sage:{config.seeds}, or pass the method as seeds=")
        self.config = config.settled()
        self.seeds = seeds
        """The method that finds the seeds; None for hybrid search."""
        if seeds is not None:
            self.name = f"{self.name}:{seeds.name}"
        self.expander = Expander(graph, self.config)
        """What ranks, without the record of it."""
        self._graph = graph

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return seeds and neighbours, best first."""
        return _SageCourse(self, self._graph, question, run).result()


class _SageCourse:
    """One question on its way. Not shared among threads."""

    def __init__(self, sage: Sage, graph: Graph, question: Question, run: Run) -> None:
        self._sage, self._graph, self._config, self._expander = sage, graph, sage.config, sage.expander
        self._question, self._run, self._query, self._k = question, run, question.text, question.k
        config = WorkflowConfig(mode=self._expander.mode)
        self._flow = Workflow(graph, None, run, question=question, method=sage.name, config=config)
        self._expansion = self._expander.of(question)
        self._spent = Usage()
        self._before: Result | None = None
        self._edges: dict[int, LeadingEdge] = {}
        self._filling: frozenset[int] = frozenset()

    def result(self) -> Result:
        started = time.perf_counter()
        result = self._flow.follow(self._ranked)
        usage = self._spent.model_copy(update={"seconds": time.perf_counter() - started})
        if self._before is None:
            return result.model_copy(update={"usage": usage})
        before = self._before
        stopped_by = result.stopped_by if result.stopped_by != "finish" else before.stopped_by
        spent = (usage + before.usage).model_copy(update={"seconds": usage.seconds})
        return result.model_copy(update={"usage": spent, "stopped_by": stopped_by})

    def _ranked(self) -> Iterable[Ranked]:
        config, graph = self._config, self._graph
        if self._expander.mode == "lexical":
            self._flow.notes.append(_NO_VECTORS)
        elif self._query.strip():
            # Raises `BudgetExhausted` before a server embeds the question.
            self._spent = graph.arrays.searcher.vectors.pay(self._run, self._query)
        is_flat = config.policy == "none"
        seeds = self._seeds(self._k if is_flat else seeds_of(self._k))
        if self._before is not None and self._before.stopped_by == "error":
            return ()
        if self._before is not None and config.policy == "-edge" and names_an_edge(self._before.trajectories):
            self._flow.notes.append(_NAMED_AN_EDGE)
            is_flat = True
        if is_flat:
            return self._present(
                self._expansion.passing(self._before_rows() if self._before is not None else seeds.rows)
            )
        self._record(seeds)
        union = self._expansion.union(seeds.rows)
        self._edges = union.edges
        return self._present(self._filled(union.rows))

    # -------------------------------------------------------------------------------------------------------- seeds

    def _seeds(self, count: int) -> _Seeds:
        """Return the seeds, of any type; with filters, also the best nodes that pass them."""
        if self._sage.seeds is not None:
            self._before = before = self._sage.seeds.retrieve(self._question, self._run)
            for trajectory in before.trajectories:
                self._flow.record(trajectory)
            self._flow.notes += before.notes
            rows = self._before_rows()[:count]
            return _Seeds(rows, apart=tuple(rows))
        if self._config.policy == "none":
            return self._search(count, is_filtered=True)
        seeds = self._search(count, is_filtered=False)
        if not self._expansion.has_filters:
            return seeds
        passing = self._search(count, is_filtered=True)
        both, saved = dict.fromkeys([*seeds.rows, *passing.rows]), (*seeds.saved, *passing.saved)
        return _Seeds(list(both), saved, tuple(dict.fromkeys([*seeds.apart, *passing.apart])))

    def _before_rows(self) -> list[int]:
        assert self._before is not None
        return [self._graph.arrays.row(hit.id) for hit in self._before.hits]

    def _search(self, count: int, *, is_filtered: bool) -> _Seeds:
        """Return the best rows by a search of the trail, or by a direct one if the tools weigh BM25 otherwise."""
        expander, expansion = self._expander, self._expansion
        if not self._query.strip():
            return _Seeds([])
        if expander.mode == "hybrid" and self._config.weight != WEIGHT:
            rows = expansion.seeds(count, is_filtered=is_filtered)
            return _Seeds(rows, apart=tuple(rows))
        where = self._question.where if is_filtered else ()
        node_types = expansion.node_types if is_filtered else expander.units
        shown = list(self._flow.search(self._query, count, node_types=node_types, where=where))
        last = self._flow.last_set
        saved = (last,) if shown and last is not None else ()
        if expander.titled is None or not len(expander.titled.titled(self._query)):
            return _Seeds(shown, saved)
        rows = expansion.seeds(count, is_filtered=is_filtered)
        return _Seeds(rows, saved, tuple(row for row in rows if row not in shown))

    # ---------------------------------------------------------------------------------------------------- expansion

    def _record(self, seeds: _Seeds) -> None:
        """Look at the neighbours through the tools, so that the trail shows them and replays."""
        walk = self._expander.walk
        if walk.has_layer:
            self._flow.notes.append(_BESIDE)
            self._flow.marks.append(SIMILAR)
        if walk.edge_types == []:
            if not walk.has_layer:
                self._flow.notes.append(_NO_SIMILAR)
            return
        starts = [*seeds.saved, *(self._graph.arrays.ids[row] for row in seeds.apart)]
        arguments: dict[str, JsonValue] = {"k": max(1, self._k // max(1, len(starts)))}
        if self._query.strip():
            arguments["query"] = self._query
        if walk.edge_types is not None:
            arguments["edge_types"] = list(walk.edge_types)
        for start in starts:
            self._flow.use("search_in_neighborhood", node=start, **arguments)

    # ------------------------------------------------------------------------------------------------- presentation

    def _filled(self, rows: list[int]) -> list[int]:
        """Return k rows, filled up from the flat list as far as that goes; in the paper's form as many as there are."""
        k = self._k
        if len(rows) >= k or self._config.faithful:
            return rows[:k]
        flat = [row for row in self._search(k, is_filtered=True).rows if row not in rows]
        self._filling = frozenset(flat)
        return [*rows, *flat][:k]

    def _why(self, row: int) -> str | None:
        """Return the edge that led to a row, or that it fills the ranking; None for a seed."""
        if row in self._filling:
            return "no neighbour left: of the flat list"
        if row not in self._edges:
            return None
        graph, (through, kind) = self._graph, self._edges[row]
        start = title(graph, through)
        if kind == LAYER:
            return f"{start} {arrow(SIMILAR, None)}"
        edge_type = graph.arrays.types.edges[kind >> 1]
        way: Direction = "in" if kind & 1 else "out"
        direction = None if edge_type in graph.schema.symmetric else way
        return f"{start} {arrow(graph.schema.label(edge_type), direction)}"

    def _present(self, rows: list[int]) -> list[Ranked]:
        rows = rows[: self._k]
        scores = self._expansion.scores(np.array(rows, np.int32)) if rows else np.zeros(0)
        reasons = {hit.id: hit.why for hit in self._before.hits} if self._before is not None else {}
        hits = []
        for place, (row, score) in enumerate(zip(rows, scores.tolist(), strict=True)):
            reason = self._why(row) or reasons.get(self._graph.arrays.ids[row]) or "seed"
            why = f"{reason}; score {score:.2f}"
            hits.append(present(self._graph, row, score=len(rows) - place, query=self._query, why=why))
        return hits


def names_an_edge(trajectories: Iterable[Trajectory]) -> bool:
    """Return whether a successful call walked edges of a type it named, or matched an edge in Cypher.

    The marks of a trajectory decide, if it has any: a plan that came to nothing has named no edge that counts.
    """
    for trajectory in trajectories:
        if trajectory.marks:
            if _EDGES in trajectory.marks:
                return True
            continue
        for step in trajectory.steps:
            failed = {observed.call_id for observed in step.observations if observed.error is not None}
            for call in step.reply.message.tool_calls:
                if call.id not in failed and _names_an_edge(call.name, json_object(call.arguments) or {}):
                    return True
    return False


def _names_an_edge(tool: str, arguments: dict[str, Any]) -> bool:  # Any: JSON as a model wrote it
    if tool == "cypher":
        query = arguments.get("query")
        try:
            return isinstance(query, str) and any(parts(parse(query), EdgePattern))
        except BadQuery:
            return False
    steps = arguments.get("steps")
    hops = steps if isinstance(steps, list) else ()
    return bool(arguments.get("edge_types")) or any(isinstance(hop, dict) and hop.get("edge") for hop in hops)
