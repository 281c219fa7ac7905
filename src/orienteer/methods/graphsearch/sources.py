"""What sub-queries read: a knowledge base, each channel its part of it, and triples executed on the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orienteer.agents.workflow import Workflow
from orienteer.graph.store import Graph
from orienteer.methods.graphsearch.queries import Findings, GraphSearchConfig, SubQuery
from orienteer.records import Step, ToolCall
from orienteer.retrieval.evidence import Evidence, render
from orienteer.retrieval.matching.matcher import TripleMatcher
from orienteer.retrieval.query import Analyzer, KnowledgeBase, Part, Query
from orienteer.retrieval.reading import worth_reading
from orienteer.retrieval.spaces import Spaces
from orienteer.tools.evidence import (
    GATHER,
    MATCH,
    GatherEvidence,
    MatchTriples,
    arguments_of,
    matching_arguments,
    observed,
    part_of,
)
from orienteer.tools.texts import LARGEST_K

TOOLS = (GatherEvidence.spec, MatchTriples.spec)


class Sources:
    """A retriever and its graph, read by sub-queries of either channel. Safe among threads."""

    def __init__(
        self, graph: Graph, base: KnowledgeBase, config: GraphSearchConfig, analyzer: Analyzer | None = None
    ) -> None:
        """`analyzer` makes queries for the base of words alone, where that does not do so itself."""
        self.graph, self.base, self._config, self._analyzer = graph, base, config, analyzer
        self.spaces = Spaces(graph, config.mode)
        """Which nodes of the graph are passages, entities and facts."""
        self._matcher = TripleMatcher(graph, self.spaces)

    @property
    def has_relations(self) -> bool:
        """Whether the graph states relations, or merely how texts hang together."""
        return self._matcher.has_relations

    def gather(
        self, flow: Workflow, label: str, query: Query, part: Part, *, without: Sequence[str] | None = None
    ) -> Findings:
        """Return what the retriever gives for a query, recorded as a tool call.

        `without` asks for what is worth reading, without the nodes of these ids. Nodes may be of any type: the
        question's filters are for its answers. Raises `BudgetExhausted` and `ModelError` where a server is asked.
        """
        tokens, most, read = self._config.evidence_tokens, self._config.top_k, without or ()
        # The last call is the answer's: a retriever's agents end without one.
        run = flow.run.without_reserve()
        # Beside what is read, the ranking may need more.
        wanted = most if without is None else max(most + len(read), flow.question.k)
        query = replace(query, k=max(most, min(wanted, LARGEST_K)))
        if self._analyzer is not None and not (query.low or query.high):
            query = query.analyzed(self._analyzer, run)  # before the call is recorded, which then replays as it was
        whole = self.base.gather(query, run)
        evidence, limit = part_of(whole, part), None
        if without is not None:
            evidence, limit = worth_reading(evidence, self.graph, most, without=read), most
        arguments = arguments_of(self.base.name, query, self.base.config, tokens, part, most=limit, without=read)
        self._record(flow, label, GATHER, arguments, evidence)
        for trajectory in whole.trajectories:
            flow.record(trajectory)
        if not evidence:
            reason = whole.reason or f"the retriever gave nothing that is {f'{part} and new' if read else part}"
            flow.notes.append(f"{label}: nothing was found: {reason}")
        elif whole.reason:
            flow.notes.append(f"{label}: {whole.reason}")
        return self._findings(flow, label, evidence, whole)

    def execute(self, flow: Workflow, label: str, query: SubQuery) -> Findings | None:
        """Return what matches a sub-query's triples in the graph, recorded as a tool call; None where nothing does.

        It has bindings where that is more than edges that do not fit a predicate. Raises `BudgetExhausted` and
        `ModelError` where a server is asked, of an embedder.
        """
        config = self._config
        match = self._matcher.match(query.triples, run=flow.run)
        evidence = match.evidence.relational()
        arguments = matching_arguments(query.triples, config.mode, config.evidence_tokens)
        self._record(flow, label, MATCH, arguments, evidence)
        if not match.bindings:
            flow.notes.append(f"{label}: matched by nothing ({match.reason}): the retriever is asked by words")
            return None
        if not match.sound:
            flow.notes.append(f"{label}: matched by no edge that fits: the retriever is asked by words too")
        return replace(self._findings(flow, label, evidence, match.evidence), bindings=match.sound)

    def joined(self, flow: Workflow, label: str, matched: Findings, gathered: Findings) -> Findings:
        """Return what the retriever gave, and behind it what triples match without an edge that fits, as one."""
        evidence = Evidence.joined((gathered.read, matched.read), in_order=True)
        whole = Evidence.joined((gathered.whole, matched.read), in_order=True)
        return replace(self._findings(flow, label, evidence, whole), bindings=matched.bindings)

    def _findings(self, flow: Workflow, label: str, evidence: Evidence, whole: Evidence) -> Findings:
        room = self._config.evidence_tokens
        shown = render(evidence, self.graph, room, prefix=f"{label}.")
        if evidence and not shown.labels:
            flow.notes.append(f"{label}: nothing of the evidence fits into {room} tokens: raise evidence_tokens")
        return Findings(evidence, whole, shown.text if shown.labels else "", shown.labels)

    def _record(self, flow: Workflow, label: str, tool: str, arguments: str, evidence: Evidence) -> None:
        call = ToolCall(id=f"{tool}_{label}", name=tool, arguments=arguments)
        flow.walk(Step.of(call, observed(evidence, self.graph, self._config.evidence_tokens)))
