"""GraphSearch in fewer calls: one plan for both channels, refinement and answer in one, triples executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from orienteer.agents.workflow import Workflow
from orienteer.errors import BudgetExhausted
from orienteer.methods.graphsearch.config import Channel
from orienteer.methods.graphsearch.faithful import sub_answer
from orienteer.methods.graphsearch.inquiry import (
    WITH_REFERENCES,
    WITHOUT_REFERENCES,
    DraftVerdict,
    Inquiry,
    Stage,
    StageResult,
    label_of,
)
from orienteer.methods.graphsearch.queries import SubQuery, one_line, plan_faults, read_plan, triples_of
from orienteer.methods.graphsearch.sub_answers import (
    LEAN_GROUNDED,
    LEAN_VERDICT,
    PLAN,
    STUDY,
    Findings,
    SubAnswer,
    history,
    known_labels,
    sub_answer_of,
    without_labels,
)

_SHORT = 12
"""Words of an answer that is put in a sub-query's place as it stands; a longer one is for the model to work in."""
_CHARACTERS = 80
"""What such an answer may measure in scripts without blanks."""


class LeanInquiry(Inquiry):
    """Both channels over one plan."""

    name = "lean"

    def _decomposed(self, flow: Workflow) -> Sequence[SubQuery]:
        question = SubQuery("1", one_line(flow.question.text))
        if not self.config.decomposition:
            return [question]
        queries = self._planned(flow, "graphsearch-lean-decompose", question=flow.question.text)
        if not queries:
            flow.notes.append("no sub-queries in a form that can be read: the question is the only one")
        return self._first(flow, queries, self.config.sub_queries) or [question]

    def _planned(self, flow: Workflow, prompt: str, **values: object) -> tuple[SubQuery, ...]:
        references = WITH_REFERENCES if self.config.grounding else WITHOUT_REFERENCES
        reply = flow.ask_for(prompt, PLAN, plan_faults, True, references=references, **values)
        if reply is None:
            return ()
        plan = read_plan(reply, self._last_number() + 1)
        if plan.faults:
            flow.notes.append(f"the sub-queries are answered one after another: {'; '.join(plan.faults)}")
        return plan.queries

    # ------------------------------------------------------------------------------------------ iterative retrieval

    def _stages(self, queries: Sequence[SubQuery]) -> Sequence[Stage[StageResult]]:
        """Return a stage for each sub-query and channel, and before those of one that waits, one that grounds it."""
        stages: list[Stage[StageResult]] = []
        places: dict[str, list[int]] = {}
        for query in queries:
            needs = query.needs if self.config.grounding else ()
            after: tuple[int, ...] = ()
            if needs:
                waits = tuple(place for name in needs for place in places.get(name, ()))
                stages.append(Stage(partial(self._grounded, query), waits))
                after = (len(stages) - 1,)
            for channel in self.config.searched:
                places.setdefault(query.name, []).append(len(stages))
                stages.append(Stage(partial(self._answered, query, channel), after))
        return stages

    def _answered(self, query: SubQuery, channel: Channel, flow: Workflow, before: Sequence[StageResult]) -> SubAnswer:
        """Return what comes of one sub-query in a channel; what a spent budget leaves of it, where one ends it."""
        query = next((result for result in before if isinstance(result, SubQuery)), query)
        label, findings = label_of(channel, query), Findings()
        try:
            findings = self._gathered(flow, label, query, channel)
            return self._studied(flow, label, query, findings)
        except BudgetExhausted as spent:
            is_asked = self.config.decomposition
            return SubAnswer(label, query, findings, findings.text, is_asked=is_asked, spent=spent)

    def _gathered(self, flow: Workflow, label: str, query: SubQuery, channel: Channel) -> Findings:
        """Return the evidence of a channel: what its triples match, and where that is nothing sure, by its words."""
        part = self.config.source(channel)
        if channel == "semantic" or not query.triples or part == "text":
            return self.sources.gather(flow, label, query.query, part)
        matched = self.sources.execute(flow, label, query)
        if matched is not None and matched.bindings and part == "graph":
            return matched
        gathered = self.sources.gather(flow, label, query.query, part)
        return gathered if matched is None else self.sources.joined(flow, label, matched, gathered)

    def _studied(self, flow: Workflow, label: str, query: SubQuery, findings: Findings) -> SubAnswer:
        """Return the evidence refined and answered from, in one call; none is made where nothing was found."""
        config, context = self.config, findings.text
        if not context or not (config.refinement or config.decomposition):
            return SubAnswer(label, query, findings, context, is_asked=config.decomposition)
        if not config.refinement:
            answer, used = sub_answer(flow, label, query, findings, context)
            return SubAnswer(label, query, findings, context, answer, used)
        reply = flow.ask_for("graphsearch-lean-study", STUDY, query=query.shown, evidence=context)
        if reply is None:
            flow.notes.append(f"{label}: not refined or answered in a form that can be read; the evidence stands")
            return SubAnswer(label, query, findings, context, is_asked=config.decomposition)
        return SubAnswer(
            label,
            query,
            findings,
            reply["summary"].strip() or context,
            sub_answer_of(reply["answer"]) if config.decomposition else None,
            known_labels(reply["used"], findings.labels),
            float(reply["confidence"]),
            is_asked=config.decomposition,
        )

    # ---------------------------------------------------------------------------------------------------- grounding

    def _grounded(self, query: SubQuery, flow: Workflow, before: Sequence[StageResult]) -> SubQuery:
        """Return a sub-query with answers put in where they are short; a model works in those that are not."""
        earlier = [result for result in before if isinstance(result, SubAnswer)]
        best = _best(earlier)
        answers = {name: answer.answer for name, answer in best.items() if answer.answer and _is_short(answer.answer)}
        filled = query.filled(answers, self._variables(earlier, best))
        if not query.unsaid and not filled.references() & set(query.needs):
            return filled
        try:
            reply = flow.ask_for(
                "graphsearch-lean-ground",
                LEAN_GROUNDED,
                history=history(earlier, self.config.history_tokens),
                query=query.shown,
            )
        except BudgetExhausted:  # what can still be gathered without a model is worth having
            return filled
        if reply is not None and (text := without_labels(one_line(reply["text"]))):
            return filled._replace(text=text, triples=triples_of(reply["triples"]) or filled.triples)
        flow.notes.append(f"sub-query {query.name} could not be grounded, and is asked as it is")
        return filled

    def _variables(self, earlier: Sequence[SubAnswer], best: Mapping[str, SubAnswer]) -> dict[str, str]:
        """Return the names that variables stand for, by the bindings of triples that agree with the answer.

        An answer that no binding agrees with stands for itself, where there is one unknown; without an answer the best
        binding counts.
        """
        graph = self.sources.graph
        values: dict[str, str] = {}
        for sub in earlier:
            answer = best[sub.query.name].answer if sub.query.name in best else None
            bindings = [
                {name: graph.node(node).name for name, node in binding.items() if name.startswith("?")}
                for binding in sub.findings.bindings
            ]
            spelled = (answer or "").casefold()
            agreeing = [binding for binding in bindings if spelled in map(str.casefold, binding.values())]
            unknown = {part for triple in sub.query.triples for part in triple if part.startswith("?")}
            if agreeing or (bindings and not (answer and len(unknown) == 1)):
                values |= (agreeing or bindings)[0]
            elif answer and _is_short(answer) and len(unknown) == 1:
                values |= dict.fromkeys(unknown, answer)
        return values

    # ------------------------------------------------------------------------------------------- reflection routing

    def _verdict(self, flow: Workflow) -> DraftVerdict:
        reply = flow.ask_for("graphsearch-lean-verify", LEAN_VERDICT, **self._history_with_draft(flow))
        if reply is None:
            flow.notes.append("no verdict that can be read: the draft counts as rejected")
            return DraftVerdict(False)
        missing, against = (tuple(filter(None, map(one_line, reply[name]))) for name in ("missing", "contradictions"))
        return DraftVerdict(reply["accept"], missing, against)

    def _expanded(self, flow: Workflow, verdict: DraftVerdict) -> Sequence[SubQuery]:
        if not verdict.missing and not verdict.contradictions:
            return []
        return self._planned(
            flow,
            "graphsearch-lean-expand",
            missing=_bullets(verdict.missing),
            contradictions=_bullets(verdict.contradictions),
            most=self.config.new_queries,
            **self._history_with_draft(flow),
        )


def _best(answers: Sequence[SubAnswer]) -> dict[str, SubAnswer]:
    """Return the answer that counts for each sub-query: of its channels' the surest, else the first."""
    best: dict[str, SubAnswer] = {}
    for answer in answers:
        other = best.get(answer.query.name)
        if answer.answer is not None and (other is None or answer.confidence > other.confidence):
            best[answer.query.name] = answer
    return best


def _is_short(answer: str) -> bool:
    return len(answer) <= _CHARACTERS and len(answer.split()) <= _SHORT


def _bullets(sentences: Sequence[str]) -> str:
    return "\n".join(f"  - {sentence}" for sentence in sentences) or "  (none)"
