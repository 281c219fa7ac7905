"""What sub-queries read: a knowledge base, each channel its part of it, and triples executed on the graph."""

from __future__ import annotations

from dataclasses import replace

from orienteer.agents.workflow import Workflow
from orienteer.graph.store import Graph
from orienteer.methods.graphsearch.config import GraphSearchConfig
from orienteer.methods.graphsearch.queries import SubQuery
from orienteer.methods.graphsearch.turns import Gathered
from orienteer.records import Message, Observed, Reply, Step, ToolCall
from orienteer.retrieval.evidence import Evidence
from orienteer.retrieval.matching.matcher import TripleMatcher
from orienteer.retrieval.query import Analyzer, KnowledgeBase, Part, Query
from orienteer.retrieval.rendering import render
from orienteer.retrieval.spaces import Spaces
from orienteer.tools.evidence import GATHER, GatherEvidence, arguments_of, observed, part_of
from orienteer.tools.triples import MATCH, MatchTriples, matching_arguments

TOOLS = (GatherEvidence.spec, MatchTriples.spec)


class Sources:
    """A retriever and its graph, read by sub-queries of either channel. Safe among threads."""

    def __init__(
        self, graph: Graph, base: KnowledgeBase, config: GraphSearchConfig, analyzer: Analyzer | None = None
    ) -> None:
        """`analyzer` makes queries for the base of words alone, where that does not do so itself."""
        self.graph, self.base, self._config, self._analyzer = graph, base, config, analyzer
        self.spaces = Spaces(graph, config.mode)
        """What is what in the graph."""
        self._matcher = TripleMatcher(graph, self.spaces)

    def gather(self, flow: Workflow, label: str, query: Query, part: Part) -> Gathered:
        """Return what the retriever gives for a query, recorded as a tool call; of any type, filters are for answers.

        Raises `BudgetExhausted` and `ModelError` where a server is asked.
        """
        # The last call is the answer's: a retriever's agents end without one.
        run, query = flow.run.without_reserve(), replace(query, k=self._config.passages)
        if self._analyzer is not None and not (query.low or query.high):
            query = query.analyzed(self._analyzer, run)  # before the call is recorded, which then replays as it was
        whole = self.base.gather(query, run)
        kept = part_of(whole, part)
        said = arguments_of(self.base.name, query, self.base.config, self._config.evidence_tokens, part)
        self._record(flow, label, GATHER, said, kept)
        for one in whole.trajectories:
            flow.record(one)
        if not kept:
            reason = whole.reason or f"the retriever gave nothing that is {part}"
            flow.notes.append(f"{label}: nothing was found: {reason}")
        elif whole.reason:
            flow.notes.append(f"{label}: {whole.reason}")
        return self._gathered(flow, label, kept, whole)

    def execute(self, flow: Workflow, label: str, query: SubQuery) -> Gathered | None:
        """Return what matches a sub-query's triples in the graph, recorded as a tool call; None where nothing does.

        It has bindings where that is more than edges that do not fit a predicate. Raises `BudgetExhausted` and
        `ModelError` where a server is asked, of an embedder.
        """
        config = self._config
        found = self._matcher.match(query.triples, run=flow.run)
        kept = found.evidence.relational()
        self._record(flow, label, MATCH, matching_arguments(query.triples, config.mode, config.evidence_tokens), kept)
        if not found.bindings:
            flow.notes.append(f"{label}: matched by nothing ({found.reason}): the retriever is asked by words")
            return None
        if not found.sound:
            flow.notes.append(f"{label}: matched by no edge that fits: the retriever is asked by words too")
        return replace(self._gathered(flow, label, kept, found.evidence), bindings=found.sound)

    def joined(self, flow: Workflow, label: str, matched: Gathered, found: Gathered) -> Gathered:
        """Return what the retriever gave, and behind it what triples match without an edge that fits, as one."""
        kept = Evidence.joined((found.kept, matched.kept), in_order=True)
        whole = Evidence.joined((found.whole, matched.kept), in_order=True)
        return replace(self._gathered(flow, label, kept, whole), bindings=matched.bindings)

    def name(self, node_id: str) -> str:
        """Return the name of a node."""
        return self.graph.node(node_id).name

    def _gathered(self, flow: Workflow, label: str, kept: Evidence, whole: Evidence) -> Gathered:
        room = self._config.evidence_tokens
        shown = render(kept, self.graph, room, prefix=f"{label}.")
        if kept and not shown.labels:
            flow.notes.append(f"{label}: nothing of the evidence fits into {room} tokens: raise evidence_tokens")
        return Gathered(kept, whole, shown.text if shown.labels else "", shown.labels)

    def _record(self, flow: Workflow, label: str, tool: str, arguments: str, kept: Evidence) -> None:
        call = ToolCall(id=f"{tool}_{label}", name=tool, arguments=arguments)
        seen = observed(kept, self.graph, self._config.evidence_tokens)
        flow.walk(
            Step(
                reply=Reply(message=Message(role="assistant", tool_calls=(call,))),
                observations=(Observed(call_id=call.id, text=seen.text, nodes=seen.nodes),),
            )
        )
