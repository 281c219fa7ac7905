"""GraphSearch in fewer calls: one plan for both channels, refinement and answer in one, triples executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from orienteer.agents.workflow import Workflow
from orienteer.errors import BudgetExhausted
from orienteer.methods.graphsearch import plan
from orienteer.methods.graphsearch.concurrency import Task
from orienteer.methods.graphsearch.config import Channel
from orienteer.methods.graphsearch.faithful import sub_answer
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
    LEAN_GROUNDED,
    LEAN_VERDICT,
    PLAN,
    STUDY,
    sub_answer_of,
    triples_of,
)
from orienteer.methods.graphsearch.turns import Gathered, Turn, known_labels, without_labels, written

_SHORT = 12
"""Words of an answer that is put in a sub-query's place as it stands; a longer one is for the model to work in."""
_CHARACTERS = 80
"""What such an answer may measure in scripts without blanks."""


class LeanReasoning(Reasoning):
    """Both channels over one plan."""

    name = "lean"

    def _decomposed(self, flow: Workflow) -> Sequence[SubQuery]:
        question = SubQuery("1", one_line(flow.question.text))
        if not self.config.decomposition:
            return [question]
        found = self._planned(flow, "graphsearch-lean-decompose", question=flow.question.text)
        if not found:
            flow.notes.append("no sub-queries in a form that can be read: the question is the only one")
        return self._first(flow, found, self.config.sub_queries) or [question]

    def _planned(self, flow: Workflow, prompt: str, **values: object) -> tuple[SubQuery, ...]:
        references = WITH_REFERENCES if self.config.grounding else WITHOUT_REFERENCES
        said = flow.ask_for(prompt, PLAN, plan.faults, True, references=references, **values)
        if said is None:
            return ()
        found = plan.read(said, self._number() + 1)
        if found.faults:
            flow.notes.append(f"the sub-queries are answered one after another: {'; '.join(found.faults)}")
        return found.queries

    # ------------------------------------------------------------------------------------------ iterative retrieval

    def _tasks(self, queries: Sequence[SubQuery]) -> Sequence[Task[Outcome]]:
        """Return a task for each sub-query and channel, and before those of one that waits, one that grounds it."""
        tasks: list[Task[Outcome]] = []
        places: dict[str, list[int]] = {}
        for query in queries:
            needs = query.needs if self.config.grounding else ()
            after: tuple[int, ...] = ()
            if needs:
                waits = tuple(place for name in needs for place in places.get(name, ()))
                tasks.append(Task(partial(self._grounding, query), waits))
                after = (len(tasks) - 1,)
            for channel in self.config.searched:
                places.setdefault(query.name, []).append(len(tasks))
                tasks.append(Task(partial(self._turn, query, channel), after))
        return tasks

    def _turn(self, query: SubQuery, channel: Channel, flow: Workflow, before: Sequence[Outcome]) -> Turn:
        """Return what comes of one sub-query in a channel; what a spent budget leaves of it, where one ends it."""
        query = next((one for one in before if isinstance(one, SubQuery)), query)
        label, gathered = f"{letter(channel)}{query.name}", Gathered()
        try:
            gathered = self._gathered(flow, label, query, channel)
            return self._studied(flow, label, query, gathered)
        except BudgetExhausted as spent:
            return Turn(label, query, gathered, gathered.text, is_asked=self.config.decomposition, spent=spent)

    def _gathered(self, flow: Workflow, label: str, query: SubQuery, channel: Channel) -> Gathered:
        """Return the evidence of a channel: what its triples match, and where that is nothing sure, by its words."""
        part = self.config.source(channel)
        if channel == "semantic" or not query.triples or part == "text":
            return self.sources.gather(flow, label, query.query, part)
        matched = self.sources.execute(flow, label, query)
        if matched is not None and matched.bindings and part == "graph":
            return matched
        found = self.sources.gather(flow, label, query.query, part)
        return found if matched is None else self.sources.joined(flow, label, matched, found)

    def _studied(self, flow: Workflow, label: str, query: SubQuery, gathered: Gathered) -> Turn:
        """Return the evidence refined and answered from, in one call; none is made where nothing was found."""
        config, context = self.config, gathered.text
        if not context or not (config.refinement or config.decomposition):
            return Turn(label, query, gathered, context, is_asked=config.decomposition)
        if not config.refinement:
            answer, used = sub_answer(flow, label, query, gathered, context)
            return Turn(label, query, gathered, context, answer, used)
        found = flow.ask_for("graphsearch-lean-study", STUDY, query=query.shown, evidence=context)
        if found is None:
            flow.notes.append(f"{label}: not refined or answered in a form that can be read; the evidence stands")
            return Turn(label, query, gathered, context, is_asked=config.decomposition)
        return Turn(
            label,
            query,
            gathered,
            found["summary"].strip() or context,
            sub_answer_of(found["answer"]) if config.decomposition else None,
            known_labels(found["used"], gathered.labels),
            float(found["confidence"]),
            is_asked=config.decomposition,
        )

    # ---------------------------------------------------------------------------------------------------- grounding

    def _grounding(self, query: SubQuery, flow: Workflow, before: Sequence[Outcome]) -> SubQuery:
        """Return a sub-query with answers put in where they are short; a model works in those that are not."""
        turns = [one for one in before if isinstance(one, Turn)]
        best = _best(turns)
        answers = {name: turn.answer for name, turn in best.items() if turn.answer and _is_short(turn.answer)}
        filled = query.filled(answers, self._variables(turns, best))
        if not query.unsaid and not filled.references() & set(query.needs):
            return filled
        try:
            found = flow.ask_for(
                "graphsearch-lean-ground",
                LEAN_GROUNDED,
                history=written(turns, self.config.history_tokens),
                query=query.shown,
            )
        except BudgetExhausted:  # what can still be gathered without a model is worth having
            return filled
        if found is not None and (text := without_labels(one_line(found["text"]))):
            return filled._replace(text=text, triples=triples_of(found["triples"]) or filled.triples)
        flow.notes.append(f"sub-query {query.name} could not be grounded, and is asked as it is")
        return filled

    def _variables(self, turns: Sequence[Turn], best: Mapping[str, Turn]) -> dict[str, str]:
        """Return the names that variables stand for: as triples bound them in the way that bears out the answer.

        An answer that no binding bears out stands for itself, where there is one unknown; without an answer the best
        binding counts.
        """
        found: dict[str, str] = {}
        for turn in turns:
            answer = best[turn.query.name].answer if turn.query.name in best else None
            rows = [
                {name: self.sources.name(node) for name, node in row.items() if name.startswith("?")}
                for row in turn.gathered.bindings
            ]
            said = (answer or "").casefold()
            fitting = [row for row in rows if said in {name.casefold() for name in row.values()}]
            unknown = {part for triple in turn.query.triples for part in triple if part.startswith("?")}
            if fitting or (rows and not (answer and len(unknown) == 1)):
                found |= (fitting or rows)[0]
            elif answer and _is_short(answer) and len(unknown) == 1:
                found |= dict.fromkeys(unknown, answer)
        return found

    # ------------------------------------------------------------------------------------------- reflection routing

    def _verdict(self, flow: Workflow) -> Verdict:
        found = flow.ask_for("graphsearch-lean-verify", LEAN_VERDICT, **self._seen_with_draft(flow))
        if found is None:
            flow.notes.append("no verdict that can be read: the draft counts as rejected")
            return Verdict(False)
        missing, against = (tuple(filter(None, map(one_line, found[name]))) for name in ("missing", "contradictions"))
        return Verdict(found["accept"], missing, against)

    def _expanded(self, flow: Workflow, verdict: Verdict) -> Sequence[SubQuery]:
        if not verdict.missing and not verdict.contradictions:
            return []
        return self._planned(
            flow,
            "graphsearch-lean-expand",
            missing=_list(verdict.missing),
            contradictions=_list(verdict.contradictions),
            most=self.config.new_queries,
            **self._seen_with_draft(flow),
        )


def _best(turns: Sequence[Turn]) -> dict[str, Turn]:
    """Return the turn whose answer counts for each sub-query: of its channels' the surest, else the first."""
    best: dict[str, Turn] = {}
    for turn in turns:
        known = best.get(turn.query.name)
        if turn.answer is not None and (known is None or turn.confidence > known.confidence):
            best[turn.query.name] = turn
    return best


def _is_short(answer: str) -> bool:
    return len(answer) <= _CHARACTERS and len(answer.split()) <= _SHORT


def _list(said: Sequence[str]) -> str:
    return "\n".join(f"  - {one}" for one in said) or "  (none)"
