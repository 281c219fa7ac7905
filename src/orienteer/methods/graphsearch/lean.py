"""GraphSearch in fewer calls: one plan, one reading a sub-query, triples executed, one conclusion if all is sure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from orienteer.agents.workflow import Workflow
from orienteer.errors import BudgetExhausted
from orienteer.graph.reserved import PASSAGES
from orienteer.llm.conversation import Check
from orienteer.methods.graphsearch.inquiry import (
    WITH_REFERENCES,
    WITHOUT_REFERENCES,
    DraftVerdict,
    Inquiry,
    Sources,
    Stage,
    label_of,
    sub_answer,
)
from orienteer.methods.graphsearch.queries import (
    CONCLUSION,
    FURTHER_PLAN,
    LEAN_GROUNDED,
    LEAN_VERDICT,
    PLAN,
    STUDY,
    Channel,
    EarlyAnswer,
    Findings,
    GraphSearchConfig,
    SubAnswer,
    SubQuery,
    further_plan_faults,
    history,
    known_labels,
    name_of,
    one_line,
    plan_faults,
    read_plan,
    study_faults,
    sub_answer_of,
    triples_of,
    without_labels,
    words_of,
)

WITHOUT_TRIPLES = "The graph states no relations: triples are empty lists."
# Words of an answer that is put in a sub-query's place as it stands; a longer one is for the model to work in.
_SHORT = 12
# What such an answer may measure in scripts without blanks.
_CHARACTERS = 80


class LeanInquiry(Inquiry):
    """Both channels over one plan."""

    name = "lean"

    def __init__(self, sources: Sources, config: GraphSearchConfig) -> None:
        super().__init__(sources, config)
        self._channels = config.searched
        self._has_triples = "relational" in config.searched and sources.has_relations
        if not self._has_triples and "semantic" in self._channels:
            # Edges that merely join texts answer no triple, and read as 50 lines of noise.
            self._channels = ("semantic",)

    # ------------------------------------------------------------------------------------------------------- the plan

    def _decomposed(self, flow: Workflow) -> Sequence[SubQuery]:
        question = SubQuery("1", one_line(flow.question.text))
        if not self.config.decomposition:
            return [question]
        queries = self._planned(flow, "graphsearch-lean-decompose", PLAN, plan_faults, question=flow.question.text)
        if not queries:
            flow.notes.append("no sub-queries in a form that can be read: the question is the only one")
        return self._first(flow, queries, self.config.sub_queries) or [question]

    def _planned(
        self, flow: Workflow, prompt: str, schema: Mapping[str, Any], check: Check, **values: object
    ) -> tuple[SubQuery, ...]:  # Any: a JSON schema
        references = WITH_REFERENCES if self.config.grounding else WITHOUT_REFERENCES
        if not self._has_triples:
            references = f"{references} {WITHOUT_TRIPLES}"
        reply = flow.ask_for(prompt, schema, check, True, references=references, **values)
        if reply is None or not reply["sub_queries"]:
            return ()
        plan = read_plan(reply, self._last_number() + 1)
        if plan.faults:
            flow.notes.append(f"the sub-queries are answered one after another: {'; '.join(plan.faults)}")
        if self._has_triples:
            return plan.queries
        return tuple(query._replace(triples=()) if query.text else query for query in plan.queries)

    # ------------------------------------------------------------------------------------------ iterative retrieval

    def _stages(self, queries: Sequence[SubQuery]) -> Sequence[Stage[SubAnswer]]:
        """Return a stage for each sub-query, after all that it waits for, directly or not."""
        places = {query.name: place for place, query in enumerate(queries)}
        waits: dict[str, frozenset[str]] = {}
        for query in queries:
            needs = query.needs if self.config.grounding else ()
            waits[query.name] = frozenset(needs).union(*(waits.get(name, ()) for name in needs)) & places.keys()
        # The ids of the passages that were shown so far.
        shown = (scored.item for answer in self.answers for scored in answer.findings.read.nodes)
        has_passages = self.sources.spaces.has_passages
        read = tuple(dict.fromkeys(node.id for node in shown if node.type in PASSAGES or not has_passages))
        return [
            Stage(
                partial(self._answered, query, _following(query, queries, waits), read),
                tuple(sorted(places[name] for name in waits[query.name])),
            )
            for query in queries
        ]

    def _answered(
        self,
        query: SubQuery,
        following: Sequence[SubQuery],
        read: Sequence[str],
        flow: Workflow,
        before: Sequence[SubAnswer],
    ) -> SubAnswer:
        """Return the answer to one sub-query; if a budget ends it, what there is of it.

        `before` are the answers to all that it waits for: one of them may have come upon its answer.
        """
        asked = query.line.casefold()
        same = (answer for answer in self.answers if answer.query.line.casefold() == asked)
        if (known := next((answer for answer in same if answer.answer is not None), None)) is not None:
            # An expansion repeats what others wait for. Its passages were read, and would be left out.
            return replace(known, label=query.name, query=query, early=())
        earlier = [answer for answer in before if answer.query.name in query.needs]
        early = next((answer for answer in before for found in answer.early if found.name == query.name), None)
        if early is not None and (answered := _taken_up(query, early, earlier)) is not None:
            return answered
        findings = Findings()
        try:
            query = self._grounded(query, flow, earlier) if earlier else query
            # Without triples it is not asked in the relational channel, if it can be asked in the other.
            has_all = query.triples or "semantic" not in self._channels
            channels: Sequence[Channel] = self._channels if has_all else ("semantic",)
            parts = [self._gathered(flow, query, channel, read) for channel in channels]
            findings = Findings.together(parts)
            return self._studied(flow, query, following, findings)
        except BudgetExhausted as spent:
            is_asked = self.config.decomposition
            return SubAnswer(query.name, query, findings, findings.text, is_asked=is_asked, spent=spent)

    def _gathered(self, flow: Workflow, query: SubQuery, channel: Channel, read: Sequence[str]) -> Findings:
        """Return the evidence of a channel: the matches of its triples, or without sure ones the hits for its words."""
        part, label = self.config.source(channel), label_of(channel, query)
        if channel == "semantic" or not query.triples or part == "text":
            return self.sources.gather(flow, label, query.query, part, without=read)
        matched = self.sources.execute(flow, label, query)
        if matched is not None and matched.bindings and part == "graph":
            return matched
        gathered = self.sources.gather(flow, label, query.query, part, without=read)
        return gathered if matched is None else self.sources.joined(flow, label, matched, gathered)

    def _studied(self, flow: Workflow, query: SubQuery, following: Sequence[SubQuery], findings: Findings) -> SubAnswer:
        """Return the evidence refined and answered from, in one call; without evidence no call is made."""
        config, name, is_asked = self.config, query.name, self.config.decomposition
        if not (config.refinement or is_asked):
            return SubAnswer(name, query, findings, findings.text, is_asked=False)
        if not findings.text:
            return SubAnswer(name, query, findings, confidence=0.0, is_asked=is_asked)
        if not config.refinement:
            answer, used = sub_answer(flow, name, query, findings, findings.text)
            return SubAnswer(name, query, findings, findings.text, answer, used)
        reply = flow.ask_for(
            "graphsearch-lean-study",
            STUDY,
            study_faults,
            True,
            question=flow.question.text,
            following=_bullets([f"#{later.name}: {later.line}" for later in following]),
            name=name,
            query=query.line,
            evidence=findings.text,
        )
        if reply is None:
            flow.notes.append(f"{name}: not refined or answered in a form that can be read; the evidence stands")
            return SubAnswer(name, query, findings, findings.text, is_asked=is_asked)
        return SubAnswer(
            name,
            query,
            findings,
            reply["summary"].strip(),
            sub_answer_of(reply["answer"]) if is_asked else None,
            known_labels(reply["used"], findings.labels),
            float(reply["confidence"]),
            _early(reply["also"], following, findings),
            is_asked=is_asked,
        )

    # ---------------------------------------------------------------------------------------------------- grounding

    def _grounded(self, query: SubQuery, flow: Workflow, earlier: Sequence[SubAnswer]) -> SubQuery:
        """Return a sub-query with answers put in if they are short; a model works in those that are not."""
        filled = query.filled(_short_answers(earlier), self._variables(earlier))
        if not query.unsaid and not filled.references() & set(query.needs):
            return filled
        if all(answer.is_empty for answer in earlier):  # then a model has nothing to work in
            return filled.filled({answer.query.name: f"“{answer.query.text}”" for answer in earlier})
        try:
            reply = flow.ask_for(
                "graphsearch-lean-ground",
                LEAN_GROUNDED,
                history=history(earlier, self.config.history_tokens),
                query=query.line,
            )
        except BudgetExhausted:
            # What can still be gathered without a model is worth having.
            return filled
        if reply is not None and (text := without_labels(one_line(reply["text"]))):
            return filled._replace(text=text, triples=triples_of(reply["triples"]) or filled.triples)
        flow.notes.append(f"sub-query {query.name} could not be grounded, and is asked as it is")
        return filled

    def _variables(self, earlier: Sequence[SubAnswer]) -> dict[str, str]:
        """Return the names for the variables, from the bindings of triples that agree with the answer."""
        graph = self.sources.graph
        values: dict[str, str] = {}
        for sub in earlier:
            answer = sub.answer
            bindings = [
                {name: graph.node(node).name for name, node in binding.items() if name.startswith("?")}
                for binding in sub.findings.bindings
            ]
            spelled = (answer or "").casefold()
            agreeing = [binding for binding in bindings if spelled in map(str.casefold, binding.values())]
            unknown = {part for triple in sub.query.triples for part in triple if part.startswith("?")}
            # An answer that no binding agrees with is itself the name if there is one unknown; without an answer the
            # best binding counts.
            if agreeing or (bindings and not (answer and len(unknown) == 1)):
                values |= (agreeing or bindings)[0]
            elif answer and _is_short(answer) and len(unknown) == 1:
                values |= dict.fromkeys(unknown, answer)
        return values

    # ------------------------------------------------------------------------------------------- reflection routing

    def _judged(self, flow: Workflow) -> DraftVerdict | None:
        """Return the verdict on a draft: without a call if the last step has no answer, in one if all is sure."""
        config = self.config
        # No call is worth its price while a last step, one that no other waits for, has no answer.
        needed = {name for answer in self.newest for name in answer.query.needs}
        is_open = any(
            answer.is_asked and answer.answer is None and answer.query.name not in needed for answer in self.newest
        )
        if config.verification and config.expansion and is_open:
            missing = tuple(answer.query.line for answer in self.newest if answer.answer is None)
            return self._marked(flow, DraftVerdict(False, missing, word="unanswered"))
        # Earlier questions that stayed open were asked again since: only the newest may not be open.
        answered = [answer for answer in self.answers if answer.answer is not None]
        is_sure = all(answer.is_sure for answer in (*answered, *self.newest))
        if config.verification and config.drafting and is_sure:
            reply = flow.ask_for("graphsearch-lean-conclude", CONCLUSION, **self._history(flow))
            if reply is not None:
                self.draft = reply["explanation"].strip()
                is_answered = words_of(reply["answer"]) is not None
                verdict = self._marked(flow, _verdict_of({**reply, "accept": reply["accept"] and is_answered}))
                self.reply = reply if verdict.accept else None
                return verdict
            flow.notes.append("no conclusion in a form that can be read: it is drafted, verified and answered apart")
        return super()._judged(flow)

    def _verdict(self, flow: Workflow) -> DraftVerdict:
        reply = flow.ask_for("graphsearch-lean-verify", LEAN_VERDICT, **self._history_with_draft(flow))
        if reply is None:
            flow.notes.append("no verdict that can be read: the draft counts as rejected")
            return DraftVerdict(False)
        return _verdict_of(reply)

    def _expanded(self, flow: Workflow, verdict: DraftVerdict) -> Sequence[SubQuery]:
        if not verdict.missing and not verdict.contradictions:
            return []
        return self._planned(
            flow,
            "graphsearch-lean-expand",
            FURTHER_PLAN,
            further_plan_faults,
            missing=_bullets(verdict.missing),
            contradictions=_bullets(verdict.contradictions),
            most=self.config.new_queries,
            **self._history_with_draft(flow),
        )


def _following(query: SubQuery, queries: Sequence[SubQuery], waits: Mapping[str, frozenset[str]]) -> list[SubQuery]:
    """Return the later sub-queries that wait for this one, and for nothing that may not be known by then."""
    known = {query.name, *waits[query.name]}
    following: list[SubQuery] = []
    for later in queries:
        if query.name in waits[later.name] and waits[later.name] <= known:
            following.append(later)
            known.add(later.name)
    return following


def _early(
    replies: Sequence[Mapping[str, Any]], following: Sequence[SubQuery], findings: Findings
) -> tuple[EarlyAnswer, ...]:  # Any: a reply that fits its schema
    """Return a reading's answers to the later sub-queries that it was shown, each once."""
    early: dict[str, EarlyAnswer] = {}
    for reply in replies:
        name, answer = name_of(reply["id"]), sub_answer_of(reply["answer"])
        if answer is not None and name in {query.name for query in following}:
            used = known_labels(reply["used"], findings.labels)
            found = EarlyAnswer(name, answer, reply["summary"].strip(), used, float(reply["confidence"]))
            early.setdefault(name, found)
    return tuple(early.values())


def _taken_up(query: SubQuery, reader: SubAnswer, earlier: Sequence[SubAnswer]) -> SubAnswer | None:
    """Return the answer that an earlier reading found, or None if any answer that it rests on is unsure."""
    found = next(found for found in reader.early if found.name == query.name)
    if not found.is_sure or not all(answer.is_sure for answer in (reader, *earlier)):
        return None
    labels = {label: reader.findings.labels[label] for label in found.used}
    return SubAnswer(
        query.name,
        query.filled(_short_answers(earlier)),
        Findings(labels=labels),
        found.context,
        found.answer,
        found.used,
        found.confidence,
    )


def _short_answers(answers: Sequence[SubAnswer]) -> dict[str, str]:
    """Return the short answers by sub-query; they replace references literally."""
    return {answer.query.name: answer.answer for answer in answers if answer.answer and _is_short(answer.answer)}


def _verdict_of(reply: Mapping[str, Any]) -> DraftVerdict:  # Any: a reply that fits its schema
    missing, against = (tuple(filter(None, map(one_line, reply[name]))) for name in ("missing", "contradictions"))
    return DraftVerdict(reply["accept"], missing, against)


def _is_short(answer: str) -> bool:
    return len(answer) <= _CHARACTERS and len(answer.split()) <= _SHORT


def _bullets(sentences: Sequence[str]) -> str:
    return "\n".join(f"  - {sentence}" for sentence in sentences) or "  (none)"
