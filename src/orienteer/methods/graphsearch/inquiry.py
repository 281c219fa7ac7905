"""The sources that sub-queries read, the rounds that both forms share, and GraphSearch as the paper has it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from orienteer.agents.workflow import Workflow
from orienteer.errors import BudgetExhausted
from orienteer.graph.store import Graph
from orienteer.methods.graphsearch.queries import (
    EXPANSION,
    GROUNDED,
    QUERIES,
    RELATIONAL_GROUNDED,
    RELATIONAL_QUERIES,
    SUB_ANSWER,
    VERDICT,
    Channel,
    Findings,
    GraphSearchConfig,
    SubAnswer,
    SubQuery,
    history,
    known_labels,
    labels_in,
    one_line,
    quoted,
    sub_answer_of,
    triples_of,
    without_labels,
)
from orienteer.records import Step, ToolCall
from orienteer.retrieval.evidence import Evidence, render
from orienteer.retrieval.matching.matcher import TripleMatcher
from orienteer.retrieval.query import Analyzer, KnowledgeBase, Part, Query, Spaces
from orienteer.tools.evidence import (
    GATHER,
    MATCH,
    GatherEvidence,
    MatchTriples,
    arguments_of,
    matching_arguments,
    observed,
    part_of,
    worth_reading,
)
from orienteer.tools.texts import LARGEST_K

TOOLS = (GatherEvidence.spec, MatchTriples.spec)


class Sources:
    """A retriever and its graph, read by sub-queries of either channel. Safe among threads."""

    def __init__(
        self, graph: Graph, base: KnowledgeBase, config: GraphSearchConfig, analyzer: Analyzer | None = None
    ) -> None:
        """`analyzer` makes queries for the base of words alone if that does not do so itself."""
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
        """Return the retriever's evidence for a query, recorded as a tool call.

        `without` asks for what is worth reading, without the nodes of these ids. Nodes may be of any type: the
        question's filters are for its answers. Raises `BudgetExhausted` and `ModelError` if a server is asked.
        """
        tokens, most, read = self._config.evidence_tokens, self._config.top_k, without or ()
        # The last call is the answer's: a retriever's agents end without one.
        run = flow.run.without_reserve()
        # Beside what is read, the ranking may need more.
        wanted = most if without is None else max(most + len(read), flow.question.k)
        query = replace(query, k=max(most, min(wanted, LARGEST_K)))
        if self._analyzer is not None and not (query.low or query.high):
            # Analyzed before the call is recorded: a replay needs no model.
            query = query.analyzed(self._analyzer, run)
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
        """Return the matches of a sub-query's triples in the graph, recorded as a tool call, or None.

        It has bindings if that is more than edges that do not fit a predicate. Raises `BudgetExhausted` and
        `ModelError` if a server is asked, of an embedder.
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
        """Return the retriever's evidence, followed by the matches of triples without an edge that fits."""
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


# Sub-queries answered side by side, then draft, verdict and expansion in rounds.


WITH_REFERENCES = (
    "Where a sub-query takes the answer of an earlier one, write a reference in its place, as shown above."
)
WITHOUT_REFERENCES = (
    "Each sub-query must be understood by itself: no references and no unknowns that another sub-query would find."
)
T = TypeVar("T")


class Stage(NamedTuple, Generic[T]):
    """A part of a course, and the earlier parts that it waits for."""

    work: Callable[[Workflow, Sequence[T]], T]
    """Takes its own fork of the course, and the results of the stages that it waits for."""
    after: tuple[int, ...] = ()
    """Places of earlier stages."""


def side_by_side(flow: Workflow, stages: Sequence[Stage[T]]) -> list[T]:
    """Run stages in threads, each as soon as what it waits for is done, and return their results in order.

    Their records join the course in the order of the stages. Raises the first stage's error once all have ended.
    """
    if not stages:
        return []
    forks = [flow.fork() for _ in stages]
    futures: list[Future[T]] = []

    def result(stage: Stage[T], fork: Workflow, before: Sequence[Future[T]]) -> T:
        return stage.work(fork, [future.result() for future in before])

    # A thread each: one that waits takes no time from others, and what it waits for was begun before it.
    with ThreadPoolExecutor(len(stages), thread_name_prefix="graphsearch") as pool:
        for stage, fork in zip(stages, forks, strict=True):
            futures.append(pool.submit(result, stage, fork, [futures[place] for place in stage.after]))
    for fork in forks:
        flow.join(fork)
    return [future.result() for future in futures]


class DraftVerdict(NamedTuple):
    """Whether the evidence bears the draft, and what is wrong if it does not."""

    accept: bool
    missing: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = ()
    word: str = "rejected"
    """What notes call a verdict that does not accept."""


class Inquiry(ABC):
    """Sub-queries and their answers: of one channel, or of both in one plan."""

    name: str

    def __init__(self, sources: Sources, config: GraphSearchConfig) -> None:
        self.sources, self.config = sources, config
        self.answers: list[SubAnswer] = []
        self.newest: list[SubAnswer] = []
        """Those of the answers that the last plan led to."""
        self.draft = ""
        self.is_accepted: bool | None = None
        """None if nothing was verified."""
        self.reply: Mapping[str, Any] | None = None  # Any: a reply that fits its schema
        """The answer to the question if it came with the verdict."""
        self.spent: BudgetExhausted | None = None
        """The budget that ended it early."""

    def run(self, flow: Workflow, before: Sequence[None] = ()) -> None:
        """Work through the modules; it waits for no other stage. A spent budget ends it with what there is.

        Raises `ModelError`.
        """
        try:
            self._answer(flow, self._decomposed(flow))
            self._reflect(flow)
        except BudgetExhausted as spent:
            self.spent = spent

    @abstractmethod
    def _decomposed(self, flow: Workflow) -> Sequence[SubQuery]:
        """Return the sub-queries of the question."""

    @abstractmethod
    def _stages(self, queries: Sequence[SubQuery]) -> Sequence[Stage[SubAnswer]]:
        """Return the stages for these sub-queries, in the order of the record."""

    @abstractmethod
    def _verdict(self, flow: Workflow) -> DraftVerdict:
        """Return the verdict on the draft."""

    @abstractmethod
    def _expanded(self, flow: Workflow, verdict: DraftVerdict) -> Sequence[SubQuery]:
        """Return sub-queries for the missing parts."""

    def _answer(self, flow: Workflow, queries: Sequence[SubQuery]) -> None:
        """Gather and answer. Raises `BudgetExhausted` if that cut some short, with what there is of them kept."""
        self.newest = side_by_side(flow, self._stages(queries))
        self.answers += self.newest
        for answer in self.newest:
            if answer.spent is not None:
                raise answer.spent

    def _reflect(self, flow: Workflow) -> None:
        """Draft and verify; if the draft is rejected, ask for the missing parts, and draft and verify again."""
        config = self.config
        for left in reversed(range(config.rounds + 1)):
            verdict = self._judged(flow)
            if verdict is None or verdict.accept or not config.expansion:
                return
            if not left:
                flow.notes.append(f"{self.name}: {verdict.word} still after {config.rounds} rounds of expansion")
                return
            queries = self._fresh(flow, self._expanded(flow, verdict))
            if not queries:
                flow.notes.append(f"{self.name}: {verdict.word}, and nothing new to ask for")
                return
            self._answer(flow, queries)

    def _judged(self, flow: Workflow) -> DraftVerdict | None:
        """Return the verdict on a new draft, or None without verification."""
        if self.config.drafting:
            self.draft, self.is_accepted = flow.ask("graphsearch-draft", **self._history(flow)).strip(), None
            if not self.draft:
                flow.notes.append(f"{self.name}: the model wrote no draft")
        if not self.config.verification:
            return None
        return self._marked(flow, self._verdict(flow))

    def _marked(self, flow: Workflow, verdict: DraftVerdict) -> DraftVerdict:
        """Keep a verdict, and return it."""
        self.is_accepted = verdict.accept
        flow.marks.append(f"{self.name}: {'accepted' if verdict.accept else verdict.word}")
        return verdict

    def _history(self, flow: Workflow) -> dict[str, str]:
        """Return the input of drafting: the question, and every grounded sub-query, context and answer (equation 3)."""
        return {"question": flow.question.text, "history": history(self.answers, self.config.history_tokens)}

    def _history_with_draft(self, flow: Workflow) -> dict[str, str]:
        """Return the input of verification and expansion: that of drafting, and the draft (equations 4 and 5)."""
        return {**self._history(flow), "draft": quoted(self.draft) if self.draft else "  (no draft was written)"}

    def _fresh(self, flow: Workflow, queries: Sequence[SubQuery]) -> list[SubQuery]:
        """Return the sub-queries that are new, with those that they wait for, at most `new_queries`."""
        earlier = {answer.query.line.casefold() for answer in self.answers}
        new = {query.line.casefold(): query.name for query in reversed(queries)}
        wanted = {name for shown, name in new.items() if shown not in earlier}
        for query in reversed(queries):
            wanted |= set(query.needs) if query.name in wanted else set()
        return self._first(flow, [query for query in queries if query.name in wanted], self.config.new_queries)

    def _first(self, flow: Workflow, queries: Sequence[SubQuery], most: int) -> list[SubQuery]:
        if len(queries) > most:
            flow.notes.append(f"{self.name}: of {len(queries)} sub-queries the first {most} are answered")
        return list(queries[:most])

    def _last_number(self) -> int:
        """Return the number of the last sub-query so far, 0 before the first."""
        return max((int(answer.query.name) for answer in self.answers), default=0)


def label_of(channel: Channel, query: SubQuery) -> str:
    """Return the label of a sub-query in a channel: S2, R2."""
    return f"{channel[0].upper()}{query.name}"


# GraphSearch as the paper has it, in one channel: nine templates, six of them of one channel alone.


class ChannelInquiry(Inquiry):
    """One channel, from its own decomposition to its own verdict."""

    def __init__(self, sources: Sources, config: GraphSearchConfig, channel: Channel) -> None:
        super().__init__(sources, config)
        self.name: Channel = channel
        self._is_relational = channel == "relational"

    # ------------------------------------------------------------------------------------------ iterative retrieval

    def _decomposed(self, flow: Workflow) -> Sequence[SubQuery]:
        question = [SubQuery("1", one_line(flow.question.text))]
        if not self.config.decomposition:
            return question
        reply = flow.ask_for(
            f"graphsearch-decompose-{self.name}",
            RELATIONAL_QUERIES if self._is_relational else QUERIES,
            question=flow.question.text,
            references=WITH_REFERENCES if self.config.grounding else WITHOUT_REFERENCES,
        )
        queries = self._queries(reply["sub_queries"]) if reply is not None else []
        if not queries:
            flow.notes.append(f"{self.name}: no sub-queries in a form that can be read: the question is the only one")
            return question
        return self._first(flow, queries, self.config.sub_queries)

    def _queries(self, items: Sequence[Any]) -> list[SubQuery]:  # Any: a reply that fits its schema
        """Return the sub-queries of a reply; each waits for all before it (equation 2)."""
        queries: list[SubQuery] = []
        for place, item in enumerate(items, 1):
            name = str(place)
            if self._is_relational:
                query = SubQuery(name, triples=triples_of(item["triples"]))
            else:
                query = SubQuery(name, one_line(item))
            if query.line:
                queries.append(query._replace(needs=tuple(earlier.name for earlier in queries)))
        return queries

    def _stages(self, queries: Sequence[SubQuery]) -> Sequence[Stage[SubAnswer]]:
        places = {query.name: place for place, query in enumerate(queries)}
        waits = self.config.grounding
        return [
            Stage(partial(self._answered, query), tuple(places[name] for name in query.needs) if waits else ())
            for query in queries
        ]

    def _answered(self, query: SubQuery, flow: Workflow, earlier: Sequence[SubAnswer]) -> SubAnswer:
        """Return the answer to one sub-query, of an expansion the context alone; if a budget ends it, what there is."""
        label, is_asked = label_of(self.name, query), self.config.decomposition and self.is_accepted is None
        findings, context, refined = Findings(), "", ""
        try:
            if earlier:
                query = self._grounded(flow, query, earlier)
            findings = self.sources.gather(flow, label, query.query, self.config.source(self.name))
            context = findings.text
            if context and self.config.refinement:
                refined = flow.ask(f"graphsearch-refine-{self.name}", query=query.line, evidence=findings.text).strip()
                if not refined:
                    flow.notes.append(f"{label}: the evidence was not refined, and stands as it was gathered")
                context = refined or context
            used = labels_in(refined, findings.labels)
            if not is_asked:
                return SubAnswer(label, query, findings, context, used=used, is_asked=False)
            answer, cited = sub_answer(flow, label, query, findings, context)
        except BudgetExhausted as spent:
            return SubAnswer(label, query, findings, context, is_asked=is_asked, spent=spent)
        return SubAnswer(label, query, findings, context, answer, tuple(dict.fromkeys((*cited, *used))))

    def _grounded(self, flow: Workflow, query: SubQuery, earlier: Sequence[SubAnswer]) -> SubQuery:
        """Return a sub-query with its references resolved; it reads all before it (equation 2)."""
        reply = flow.ask_for(
            f"graphsearch-ground-{self.name}",
            RELATIONAL_GROUNDED if self._is_relational else GROUNDED,
            history=history(earlier, self.config.history_tokens),
            query=query.line,
        )
        if reply is not None and self._is_relational and (triples := triples_of(reply["triples"])):
            return query._replace(triples=triples)
        if reply is not None and not self._is_relational and (text := without_labels(one_line(reply["query"]))):
            return query._replace(text=text)
        flow.notes.append(f"{self.name}: sub-query {query.name} could not be grounded, and is asked as it is")
        return query

    # ------------------------------------------------------------------------------------------- reflection routing

    def _reflect(self, flow: Workflow) -> None:
        """Draft and verify once; on Reject the contexts of new sub-queries are appended (equation 5)."""
        verdict = self._judged(flow)
        if verdict is None or verdict.accept or not self.config.expansion:
            return
        if queries := self._fresh(flow, self._expanded(flow, verdict)):
            self._answer(flow, queries)
        else:
            flow.notes.append(f"{self.name}: {verdict.word}, and nothing new to ask for")

    def _verdict(self, flow: Workflow) -> DraftVerdict:
        reply = flow.ask_for("graphsearch-verify", VERDICT, **self._history_with_draft(flow))
        if reply is None:
            flow.notes.append(f"{self.name}: no verdict that can be read: the draft counts as rejected")
        return DraftVerdict(reply is not None and reply["verdict"] == "Accept")

    def _expanded(self, flow: Workflow, verdict: DraftVerdict) -> Sequence[SubQuery]:
        reply = flow.ask_for(
            "graphsearch-expand", EXPANSION, **self._history_with_draft(flow), most=self.config.new_queries
        )
        if reply is None:
            flow.notes.append(f"{self.name}: no new sub-queries in a form that can be read")
            return []
        texts = filter(None, dict.fromkeys(map(one_line, reply["queries"])))
        return [SubQuery(str(number), text) for number, text in enumerate(texts, self._last_number() + 1)]


def sub_answer(
    flow: Workflow, label: str, query: SubQuery, findings: Findings, context: str
) -> tuple[str | None, tuple[str, ...]]:
    """Return the answer to a sub-query and the labels it cites; without evidence neither, and no call is made."""
    if not context:
        return None, ()
    reply = flow.ask_for("graphsearch-sub-answer", SUB_ANSWER, query=query.line, context=quoted(context))
    if reply is None:
        flow.notes.append(f"{label}: no answer in a form that can be read")
        return None, ()
    return sub_answer_of(reply["answer"]), known_labels(reply["used"], findings.labels)
