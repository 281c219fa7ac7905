"""GraphSearch as the paper has it, in one channel: nine templates, six of them of one channel alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from orienteer.agents.workflow import Workflow
from orienteer.errors import BudgetExhausted
from orienteer.methods.graphsearch.concurrency import Task
from orienteer.methods.graphsearch.config import Channel, GraphSearchConfig
from orienteer.methods.graphsearch.queries import SubQuery, one_line
from orienteer.methods.graphsearch.reasoning import (
    WITH_REFERENCES,
    WITHOUT_REFERENCES,
    Outcome,
    Reasoning,
    Verdict,
    letter,
)
from orienteer.methods.graphsearch.replies import (
    EXPANSION,
    GROUNDED,
    QUERIES,
    RELATIONAL_GROUNDED,
    RELATIONAL_QUERIES,
    SUB_ANSWER,
    VERDICT,
    sub_answer_of,
    triples_of,
)
from orienteer.methods.graphsearch.sources import Sources
from orienteer.methods.graphsearch.turns import (
    Gathered,
    Turn,
    known_labels,
    labels_in,
    quoted,
    without_labels,
    written,
)


class ChannelReasoning(Reasoning):
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
        found = flow.ask_for(
            f"graphsearch-decompose-{self.name}",
            RELATIONAL_QUERIES if self._is_relational else QUERIES,
            question=flow.question.text,
            references=WITH_REFERENCES if self.config.grounding else WITHOUT_REFERENCES,
        )
        queries = self._read(found["sub_queries"]) if found is not None else []
        if not queries:
            flow.notes.append(f"{self.name}: no sub-queries in a form that can be read: the question is the only one")
            return question
        return self._first(flow, queries, self.config.sub_queries)

    def _read(self, said: Sequence[Any]) -> list[SubQuery]:  # Any: a reply that fits its schema
        queries: list[SubQuery] = []
        for place, one in enumerate(said, 1):
            name = str(place)
            earlier = frozenset(map(str, range(1, place)))
            known = frozenset(unknown for query in queries for unknown in query.unknowns)
            if self._is_relational:
                query = SubQuery(name, triples=triples_of(one["triples"]))
                waits = bool(query.unknowns & known)
            else:
                query = SubQuery(name, one_line(one))
                waits = bool(query.references() & earlier)
            if query.shown:
                queries.append(query._replace(needs=tuple(earlier.name for earlier in queries) if waits else ()))
        return queries

    def _tasks(self, queries: Sequence[SubQuery]) -> Sequence[Task[Outcome]]:
        places = {query.name: place for place, query in enumerate(queries)}

        def task(query: SubQuery) -> Task[Outcome]:
            needs = query.needs if self.config.grounding else ()
            return Task(partial(self._turn, query), tuple(places[name] for name in needs))

        return [task(query) for query in queries]

    def _turn(self, query: SubQuery, flow: Workflow, before: Sequence[Outcome]) -> Turn:
        """Return what comes of one sub-query; what a spent budget leaves of it, where one ends it."""
        earlier = [one for one in before if isinstance(one, Turn)]
        label = f"{letter(self.name)}{query.name}"
        gathered, context, refined = Gathered(), "", ""
        try:
            if earlier:
                query = self._grounded(flow, query, earlier)
            gathered = self.sources.gather(flow, label, query.query, self.config.source(self.name))
            context = gathered.text
            if context and self.config.refinement:
                refined = self._refined(flow, label, query, gathered)
                context = refined or context
            used = labels_in(refined, gathered.labels)
            if not self.config.decomposition:
                return Turn(label, query, gathered, context, used=used, is_asked=False)
            answer, cited = sub_answer(flow, label, query, gathered, context)
        except BudgetExhausted as spent:
            return Turn(label, query, gathered, context, is_asked=self.config.decomposition, spent=spent)
        return Turn(label, query, gathered, context, answer, tuple(dict.fromkeys((*cited, *used))))

    def _grounded(self, flow: Workflow, query: SubQuery, earlier: Sequence[Turn]) -> SubQuery:
        """Return a sub-query with its references resolved; it reads all before it (equation 2)."""
        found = flow.ask_for(
            f"graphsearch-ground-{self.name}",
            RELATIONAL_GROUNDED if self._is_relational else GROUNDED,
            history=written(earlier, self.config.history_tokens),
            query=query.shown,
        )
        if found is not None and self._is_relational and (triples := triples_of(found["triples"])):
            return query._replace(triples=triples)
        if found is not None and not self._is_relational and (text := without_labels(one_line(found["query"]))):
            return query._replace(text=text)
        flow.notes.append(f"{self.name}: sub-query {query.name} could not be grounded, and is asked as it is")
        return query

    def _refined(self, flow: Workflow, label: str, query: SubQuery, gathered: Gathered) -> str:
        said = flow.ask(f"graphsearch-refine-{self.name}", query=query.shown, evidence=gathered.text).strip()
        if not said:
            flow.notes.append(f"{label}: the evidence was not refined, and stands as it was gathered")
        return said

    # ------------------------------------------------------------------------------------------- reflection routing

    def _verdict(self, flow: Workflow) -> Verdict:
        found = flow.ask_for("graphsearch-verify", VERDICT, **self._seen_with_draft(flow))
        if found is None:
            flow.notes.append(f"{self.name}: no verdict that can be read: the draft counts as rejected")
        return Verdict(found is not None and found["verdict"] == "Accept")

    def _expanded(self, flow: Workflow, verdict: Verdict) -> Sequence[SubQuery]:
        found: Mapping[str, Any] | None = flow.ask_for(
            "graphsearch-expand", EXPANSION, **self._seen_with_draft(flow), most=self.config.new_queries
        )
        if found is None:
            flow.notes.append(f"{self.name}: no new sub-queries in a form that can be read")
            return []
        said = dict.fromkeys(one_line(text) for text in found["queries"])
        return [SubQuery(str(self._number() + place), text) for place, text in enumerate(filter(None, said), 1)]


def sub_answer(
    flow: Workflow, label: str, query: SubQuery, gathered: Gathered, context: str
) -> tuple[str | None, tuple[str, ...]]:
    """Return the answer to a sub-query and what it cites: neither, and no call for it, where nothing was found."""
    if not context:
        return None, ()
    found = flow.ask_for("graphsearch-sub-answer", SUB_ANSWER, query=query.shown, context=quoted(context))
    if found is None:
        flow.notes.append(f"{label}: no answer in a form that can be read")
        return None, ()
    return sub_answer_of(found["answer"]), known_labels(found["used"], gathered.labels)
