"""GraphSearch as the paper has it, in one channel: nine templates, six of them of one channel alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from orienteer.agents.workflow import Workflow
from orienteer.errors import BudgetExhausted
from orienteer.methods.graphsearch.inquiry import (
    WITH_REFERENCES,
    WITHOUT_REFERENCES,
    DraftVerdict,
    Inquiry,
    Stage,
    label_of,
)
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
from orienteer.methods.graphsearch.sources import Sources


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
        """Return the sub-queries of a reply; one with a reference to an earlier one waits for all before it."""
        queries: list[SubQuery] = []
        for place, item in enumerate(items, 1):
            name = str(place)
            if self._is_relational:
                query = SubQuery(name, triples=triples_of(item["triples"]))
                waits = any(query.unknowns & earlier.unknowns for earlier in queries)
            else:
                query = SubQuery(name, one_line(item))
                waits = not query.references().isdisjoint(map(str, range(1, place)))
            if query.shown:
                queries.append(query._replace(needs=tuple(earlier.name for earlier in queries) if waits else ()))
        return queries

    def _stages(self, queries: Sequence[SubQuery]) -> Sequence[Stage[SubAnswer]]:
        places = {query.name: place for place, query in enumerate(queries)}
        waits = self.config.grounding
        return [
            Stage(partial(self._answered, query), tuple(places[name] for name in query.needs) if waits else ())
            for query in queries
        ]

    def _answered(self, query: SubQuery, flow: Workflow, earlier: Sequence[SubAnswer]) -> SubAnswer:
        """Return what comes of one sub-query; what a spent budget leaves of it, where one ends it."""
        label = label_of(self.name, query)
        findings, context, refined = Findings(), "", ""
        try:
            if earlier:
                query = self._grounded(flow, query, earlier)
            findings = self.sources.gather(flow, label, query.query, self.config.source(self.name))
            context = findings.text
            if context and self.config.refinement:
                refined = flow.ask(f"graphsearch-refine-{self.name}", query=query.shown, evidence=findings.text).strip()
                if not refined:
                    flow.notes.append(f"{label}: the evidence was not refined, and stands as it was gathered")
                context = refined or context
            used = labels_in(refined, findings.labels)
            if not self.config.decomposition:
                return SubAnswer(label, query, findings, context, used=used, is_asked=False)
            answer, cited = sub_answer(flow, label, query, findings, context)
        except BudgetExhausted as spent:
            return SubAnswer(label, query, findings, context, is_asked=self.config.decomposition, spent=spent)
        return SubAnswer(label, query, findings, context, answer, tuple(dict.fromkeys((*cited, *used))))

    def _grounded(self, flow: Workflow, query: SubQuery, earlier: Sequence[SubAnswer]) -> SubQuery:
        """Return a sub-query with its references resolved; it reads all before it (equation 2)."""
        reply = flow.ask_for(
            f"graphsearch-ground-{self.name}",
            RELATIONAL_GROUNDED if self._is_relational else GROUNDED,
            history=history(earlier, self.config.history_tokens),
            query=query.shown,
        )
        if reply is not None and self._is_relational and (triples := triples_of(reply["triples"])):
            return query._replace(triples=triples)
        if reply is not None and not self._is_relational and (text := without_labels(one_line(reply["query"]))):
            return query._replace(text=text)
        flow.notes.append(f"{self.name}: sub-query {query.name} could not be grounded, and is asked as it is")
        return query

    # ------------------------------------------------------------------------------------------- reflection routing

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
    """Return the answer to a sub-query and the labels it cites: neither, and no call, where nothing was found."""
    if not context:
        return None, ()
    reply = flow.ask_for("graphsearch-sub-answer", SUB_ANSWER, query=query.shown, context=quoted(context))
    if reply is None:
        flow.notes.append(f"{label}: no answer in a form that can be read")
        return None, ()
    return sub_answer_of(reply["answer"]), known_labels(reply["used"], findings.labels)
