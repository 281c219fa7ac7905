"""The method `graphsearch`: its sources, its two forms, and a question's way from its sub-queries to the answer."""

from __future__ import annotations

from orienteer.agents.answer import NOT_THERE
from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.errors import BudgetExhausted
from orienteer.graph.reserved import PASSAGES
from orienteer.graph.store import Graph
from orienteer.methods.graphsearch.conclusion import Conclusion, conclude, ranking
from orienteer.methods.graphsearch.concurrency import Task, side_by_side
from orienteer.methods.graphsearch.config import GraphSearchConfig
from orienteer.methods.graphsearch.faithful import ChannelReasoning
from orienteer.methods.graphsearch.lean import LeanReasoning
from orienteer.methods.graphsearch.queries import SubQuery, one_line
from orienteer.methods.graphsearch.reasoning import Reasoning
from orienteer.methods.graphsearch.sources import TOOLS, Sources
from orienteer.methods.graphsearch.turns import Turn
from orienteer.protocols import LanguageModel, Method, Run
from orienteer.records import Message, Question, Ranked, Result, ToolboxSpec, Trajectory
from orienteer.retrieval.bases.ranked import RankedBase
from orienteer.retrieval.bases.table import open_base
from orienteer.retrieval.query import OverBase
from orienteer.tools.toolboxes import open_gathering


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
        return _Search(self, self._model, question, run).result()

    def retrieve_and_answer(self, question: Question, run: Run, model: LanguageModel) -> Result:
        """Return the ranking and the answer, whose call may come out of the run's reserve."""
        return _Search(self, model, question, run, has_answer=True).result()

    def begin_agent(self, question: Question, number: int, *, random_seed: int) -> Trajectory:
        """Return what a search begins with: a trajectory without steps."""
        opening = (Message(role="user", content=question.text),)
        options = {"mode": self.sources.spaces.mode, "offers_triples": True}
        toolbox = ToolboxSpec(name="gathering", options=options)
        return Trajectory(question=question, method=self.name, toolbox=toolbox, tools=TOOLS, opening=opening)

    def parts(self) -> tuple[Reasoning, ...]:
        """Return what is worked through side by side: the one plan of the lean form, or each channel by itself."""
        if not self.config.faithful:
            return (LeanReasoning(self.sources, self.config),)
        return tuple(ChannelReasoning(self.sources, self.config, one) for one in self.config.searched)


class _Search:
    """One question on its way."""

    def __init__(
        self, method: GraphSearch, model: LanguageModel, question: Question, run: Run, *, has_answer: bool = False
    ) -> None:
        self._config, self._sources, self._has_answer = method.config, method.sources, has_answer
        self._parts = method.parts()
        self._end = Conclusion()
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
        found = self._flow.follow(self._course, instead=self._ranked)
        return found.model_copy(update={"answer": self._end.short, "long_answer": self._end.long})

    def _course(self) -> tuple[Ranked, ...]:
        """Work through the modules, then answer; also from what there is where a budget has ended them."""
        side_by_side(self._flow, [Task(part.run) for part in self._parts])
        spent = next((part.spent for part in self._parts if part.spent is not None), None)
        try:
            self._look_again()
            if self._has_answer:
                self._end = self._answered(is_cut_short=spent is not None)
        except BudgetExhausted as refused:
            spent = spent or refused
        if spent is not None:
            raise spent
        return self._ranked()

    def _look_again(self) -> None:
        """Gather for the question itself where no sub-query found anything, or none was ever asked."""
        if any(turn.gathered.whole for part in self._parts for turn in part.turns):
            return
        query = SubQuery("0", one_line(self._flow.question.text))
        gathered = self._sources.gather(self._flow, "Q", query.query, "all")
        self._parts[0].turns.append(Turn("Q", query, gathered, gathered.text, is_asked=False))

    def _answered(self, *, is_cut_short: bool) -> Conclusion:
        """Return the answer; where nothing was read there is none, and no call is made for it."""
        gathered = [turn.gathered for part in self._parts for turn in part.turns]
        if not any(one.labels for one in gathered):
            is_empty = not is_cut_short and not any(one.kept for one in gathered)
            return Conclusion(NOT_THERE if is_empty else None)
        last = self._flow.fork(self._flow.run.final())
        try:
            return conclude(last, self._parts, self._config)
        finally:
            self._flow.join(last)

    def _ranked(self) -> tuple[Ranked, ...]:
        return ranking(self._flow, self._sources, self._parts, self._end.cited)


def _opened(graph: Graph, base: Method | None, config: GraphSearchConfig) -> Sources:
    """Return what finds the evidence: without a base the walk over passages and names, else over names and themes."""
    if base is None:
        name = "hippo" if any(one in PASSAGES for one in graph.types.nodes) else "light"
        return Sources(graph, open_base(name, graph, {"mode": config.mode}), config)
    if isinstance(base, OverBase):
        return Sources(graph, base.base, config, base.analyzer)
    return Sources(graph, RankedBase(graph, base), config)
