"""`graphsearch`: agentic deep search over the two channels of a graph knowledge base. GraphSearch (paper 002).

    decomposition  the question in sub-queries: in words (semantic channel) and in triples (relational channel)
    refinement     the part of each sub-query's evidence that bears on it
    grounding      answers of earlier sub-queries take the place of references in later ones
    drafting       the chain of reasoning from sub-queries, contexts and answers
    verification   Accept or Reject
    expansion      on Reject: sub-queries for what is missing, answered, drafted and verified again
    the answer     short and long, citing nodes

Two forms. `faithful` is the paper's: each channel by itself, nine templates, each module reading what equations 2 to 5
give it, one pass. `lean`, the default, is ours. `GraphSearchConfig` lists what deviates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from orienteer.agents.answer import NOT_THERE, settled, with_ids
from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.errors import BudgetExhausted
from orienteer.graph.reserved import PASSAGES
from orienteer.graph.store import Graph
from orienteer.methods.graphsearch.inquiry import TOOLS, ChannelInquiry, Inquiry, Sources, Stage, side_by_side
from orienteer.methods.graphsearch.lean import LeanInquiry
from orienteer.methods.graphsearch.queries import (
    ANSWER,
    GraphSearchConfig,
    SubAnswer,
    SubQuery,
    history,
    known_labels,
    one_line,
    quoted,
    without_labels,
    words_of,
)
from orienteer.protocols import LanguageModel, Method, Run
from orienteer.records import Message, Question, Ranked, Result, ToolboxSpec, Trajectory
from orienteer.retrieval.bases.table import RankedBase, open_base
from orienteer.retrieval.query import OverBase
from orienteer.tools.toolbox import open_gathering


class GraphSearch:
    """Sub-queries in words and in triples, answered, drafted, verified and added to, over any retriever."""

    name = "graphsearch"

    def __init__(
        self, graph: Graph, model: LanguageModel, config: GraphSearchConfig | None = None, base: Method | None = None
    ) -> None:
        """`base` finds the evidence: a retriever's method, or any other, whose hits are the evidence then."""
        self.config = config if config is not None else GraphSearchConfig()
        if base is not None:
            self.name = f"{self.name}:{base.name}"
        self.sources = _opened(graph, base, self.config)
        self._model = model

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the ranking, without the call for the answer."""
        return _GraphSearchCourse(self, self._model, question, run).result()

    def retrieve_and_answer(self, question: Question, run: Run, model: LanguageModel) -> Result:
        """Return the ranking and the answer, whose call may come out of the run's reserve."""
        return _GraphSearchCourse(self, model, question, run, has_answer=True).result()

    def begin_agent(self, question: Question, number: int, *, random_seed: int) -> Trajectory:
        """Return the trajectory without steps that a search begins with."""
        opening = (Message(role="user", content=question.text),)
        options = {"mode": self.sources.spaces.mode, "offers_triples": True}
        toolbox = ToolboxSpec(name="gathering", options=options)
        return Trajectory(question=question, method=self.name, toolbox=toolbox, tools=TOOLS, opening=opening)

    def inquiries(self) -> tuple[Inquiry, ...]:
        """Return the inquiries to run side by side: one plan in the lean form, else one inquiry a channel."""
        if not self.config.faithful:
            return (LeanInquiry(self.sources, self.config),)
        return tuple(ChannelInquiry(self.sources, self.config, channel) for channel in self.config.searched)


def _opened(graph: Graph, base: Method | None, config: GraphSearchConfig) -> Sources:
    """Return the sources of evidence: without a base `hippo` for a graph with passages, else `light`."""
    if base is None:
        name = "light" if PASSAGES.isdisjoint(graph.arrays.types.nodes) else "hippo"
        return Sources(graph, open_base(name, graph, {"mode": config.mode}), config)
    if isinstance(base, OverBase):
        return Sources(graph, base.base, config, base.analyzer)
    return Sources(graph, RankedBase(graph, base), config)


class _GraphSearchCourse:
    """One question on its way."""

    def __init__(
        self, method: GraphSearch, model: LanguageModel, question: Question, run: Run, *, has_answer: bool = False
    ) -> None:
        self._config, self._sources, self._has_answer = method.config, method.sources, has_answer
        self._inquiries = method.inquiries()
        self._conclusion = Conclusion()
        graph = self._sources.graph
        self._flow = Workflow(
            graph,
            model,
            run,
            question=question,
            method=method.name,
            config=WorkflowConfig(temperature=self._config.temperature),
            toolbox=open_gathering(graph, self._sources.spaces.mode, offers_triples=True),
        )

    def result(self) -> Result:
        result = self._flow.follow_and_rank(self._run, self._ranking)
        answer = {"answer": self._conclusion.short, "long_answer": self._conclusion.long}
        return settled(result.model_copy(update=answer))

    def _answers(self) -> list[SubAnswer]:
        return [answer for inquiry in self._inquiries for answer in inquiry.answers]

    def _run(self) -> None:
        """Run the modules, then answer, also from partial results if a budget has ended them."""
        side_by_side(self._flow, [Stage(inquiry.run) for inquiry in self._inquiries])
        spent = next((inquiry.spent for inquiry in self._inquiries if inquiry.spent is not None), None)
        try:
            # Without findings or sub-queries the question itself is searched: an answer needs some evidence.
            if not any(answer.findings.whole for answer in self._answers()):
                query = SubQuery("0", one_line(self._flow.question.text))
                findings = self._sources.gather(self._flow, "Q", query.query, "all")
                answer = SubAnswer("Q", query, findings, findings.text, is_asked=False)
                self._inquiries[0].answers.append(answer)
            if self._has_answer:
                self._conclusion = self._concluded(is_cut_short=spent is not None)
        except BudgetExhausted as refused:
            spent = spent or refused
        if spent is not None:
            raise spent

    def _concluded(self, *, is_cut_short: bool) -> Conclusion:
        """Return the answer; without any evidence no call is made for it."""
        answers = self._answers()
        if not any(answer.summary or answer.answer for answer in answers):
            is_unread = any(answer.findings.read and not answer.findings.labels for answer in answers)
            return Conclusion(None if is_cut_short or is_unread else NOT_THERE)
        for reply in (inquiry.reply for inquiry in self._inquiries if inquiry.reply is not None):
            return conclusion_of(self._flow, reply, answers)
        last = self._flow.fork(self._flow.run.final())
        try:
            return conclude(last, self._inquiries, self._config)
        finally:
            self._flow.join(last)

    def _ranking(self) -> tuple[Ranked, ...]:
        """Return nodes by use: cited in the answer, used by a sub-query, retrieved for one."""
        graph, question = self._sources.graph, self._flow.question
        answers = self._sources.spaces.answers(question.node_types, question.where)
        reasons: dict[int, str] = {}
        for node, why in _by_use(self._answers(), self._conclusion.cited):
            # A report that was written for the question is not a node.
            if (row := graph.arrays.ids.find(node)) is not None:
                reasons.setdefault(row, why)
        mask = graph.arrays.mask(question.node_types or None, question.where)
        # In a graph with passages the answers are passages: other nodes that are cited come last.
        cited = dict.fromkeys(
            row for node in self._conclusion.cited if (row := graph.arrays.ids.find(node)) is not None
        )
        others = [row for row in cited if not answers[row] and (mask is None or mask[row])][: question.k - 1]
        rows = [row for row in reasons if answers[row]][: question.k - len(others)]
        return self._flow.present({row: reasons[row] for row in (*rows, *others)})


def _by_use(answers: Sequence[SubAnswer], cited: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield ids of nodes with reasons, most used first; a node may come up again."""
    for node in cited:
        yield node, "cited in the answer"
    for answer in answers:
        for label in answer.used:
            for node in answer.findings.labels[label]:
                yield node, f"used for: {answer.query.line}"
    for why, evidence in (
        ("found for", [answer.findings.read for answer in answers]),
        ("found beside what was read for", [answer.findings.whole for answer in answers]),
    ):
        # The best of each sub-query first, then the second of each.
        for place in zip_longest(*(part.nodes for part in evidence)):
            for answer, scored in zip(answers, place, strict=True):
                if scored is not None:
                    yield scored.item.id, f"{why}: {answer.query.line}"


# The answer to the question, from what all channels have found.


class Conclusion(NamedTuple):
    """The answer to the question."""

    short: str | None = None
    """The answer in a few words and its citations; None if the model gave none that can be read."""
    long: str | None = None
    cited: tuple[str, ...] = ()
    """Ids of nodes."""


def conclude(flow: Workflow, inquiries: Sequence[Inquiry], config: GraphSearchConfig) -> Conclusion:
    """Return the answer from the findings of all channels, in one call.

    Raises `BudgetExhausted`, `ModelError`.
    """
    answers = [answer for inquiry in inquiries for answer in inquiry.answers]
    standing = {True: "accepted", False: "rejected", None: "not verified"}
    drafts = [
        f"Draft ({inquiry.name}, {standing[inquiry.is_accepted]}):\n{quoted(inquiry.draft)}"
        for inquiry in inquiries
        if inquiry.draft
    ]
    reply = flow.ask_for(
        "graphsearch-answer" if config.faithful else "graphsearch-lean-answer",
        ANSWER,
        question=flow.question.text,
        history=history(answers, config.history_tokens),
        drafts="\n".join(drafts) or "(none)",
    )
    if reply is None:
        flow.notes.append("no answer in a form that can be read")
        return Conclusion()
    return conclusion_of(flow, reply, answers)


def conclusion_of(flow: Workflow, reply: Mapping[str, Any], answers: Sequence[SubAnswer]) -> Conclusion:  # Any: JSON
    """Return the answer of a reply, its labels replaced by ids of nodes; notes say what is wrong with it."""
    labels = {label: ids for answer in answers for label, ids in answer.findings.labels.items()}
    long = with_ids(reply["explanation"].strip(), labels)
    words = words_of(reply["answer"])
    if words is None and (line := one_line(reply["answer"] or "")) and not without_labels(line):
        flow.notes.append("no answer: the model gave labels alone")
        return Conclusion(None, long.text or None, long.cited)
    if words is None:
        return Conclusion(NOT_THERE, long.text or None, long.cited)
    short = with_ids(words, labels)
    listed = [node for label in known_labels(reply["cited"], labels) for node in labels[label]]
    foreign = [label for label in reply["cited"] if not known_labels([label], labels)]
    if foreign:
        flow.notes.append(f"the answer cites what is not in the evidence: {', '.join(map(repr, foreign))}")
    cited = tuple(dict.fromkeys((*short.cited, *listed)))
    if not cited and not long.cited:
        flow.notes.append("the answer cites nothing of the evidence")
    marks = "".join(f"[{node}]" for node in cited if f"[{node}]" not in short.text)
    return Conclusion(f"{short.text} {marks}".strip(), long.text or None, tuple(dict.fromkeys((*cited, *long.cited))))
