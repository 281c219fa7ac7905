"""`graphscout`: a model explores a graph with code and a node retriever, and answers in `\answer{...}`.

Paper: GraphScout (003), sections 3.2 and 3.4, appendix B.4. This is its solver as it runs; any model can be it.
`GraphScoutConfig` lists what deviates from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from string import Template
from typing import Literal, Self, TypeAlias

from pydantic import Field, field_validator, model_validator

from orienteer.agents.agent import Agent, ByAnswerLine, ByFirstAnswer
from orienteer.agents.answer import NOT_THERE
from orienteer.agents.dialect import dialect_for, harmless
from orienteer.agents.workflow import Workflow, WorkflowConfig, check_limits
from orienteer.cypher.names import View, identifiers
from orienteer.cypher.session import Cypher
from orienteer.errors import BadOption, DatabaseAway
from orienteer.graph.store import Graph
from orienteer.index.searchers import Mode
from orienteer.llm.conversation import ELISION, begin, prompt_of
from orienteer.options import Options
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Ranked, Result, Sampling, Step, Trajectory
from orienteer.retrieval.graph_text import present_all, types_by_size
from orienteer.retrieval.mentions import AnswerLinker
from orienteer.retrieval.query import AUTO, checked_mode_or_auto
from orienteer.retrieval.schema import describe
from orienteer.sandbox.tiers import Choice
from orienteer.text.sentences import one_line
from orienteer.tools.code import DIALECT, CodeInterpreter
from orienteer.tools.code_options import CodeConfig
from orienteer.tools.toolbox import Toolbox, open_scouting

_NO_NODES = "no node that may be a hit is named in the answer or was shown by a call: found by plain search"
_NAMED = 3  # node types that the prompt's first line names
_SMALL = 20  # nodes of a result that was rather found than listed
_REFUSE = rf"write \answer{{{NOT_THERE}}}: what you know besides is none."
_CODE = "\nIt is asked in Cypher, read-only. $scope\n\nProperties:\n$properties\n\nCode that asks it:\n$examples\n"
_SECOND_TIER = "It is all of Python, in a process without network and without files but its own.\n"


class GraphScout:
    """Explore by code, ground names by search, answer in a line."""

    name = "graphscout"

    def __init__(self, graph: Graph, model: LanguageModel, config: GraphScoutConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or GraphScoutConfig()
        self.mode: Mode = self.config.mode
        if self.mode == AUTO:
            self.mode = "dense" if graph.arrays.searcher.has_vectors else "lexical"
        # A graph without vectors is refused here, before a model is paid.
        graph.arrays.searcher(self.mode)
        if self.config.has_code and self.config.directed:
            Cypher(graph).query("RETURN 1", view=self.config.naming)  # `UnknownType` if one of these is none
        toolbox, code = self._tools()
        self._toolbox, self._specs = toolbox.spec, toolbox.specs
        self._tier, self._marks = code.tier if code else None, code.marks if code else ()
        toolbox.close()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Explore until the model answers, and rank what its answer names."""
        check_limits(self._graph, question)
        toolbox, code = self._tools()
        try:
            begun, most = self._opening(question, run.random_seed), self.config.max_calls
            agent = Agent(
                self._model,
                toolbox,
                ByFirstAnswer(max_calls=most + 1) if self.config.faithful else ByAnswerLine(max_calls=most),
                context_tokens=None if self.config.faithful else self.config.context_tokens,
            )
            trajectory = agent.explore(begun, run)
            marks = code.marks if code else ()
        finally:
            toolbox.close()
        hits, notes = self._presented(question, trajectory)
        trajectory = trajectory.model_copy(update={"marks": marks, "selected": tuple(hit.id for hit in hits)})
        failed = (f"the model failed: {trajectory.error}",) if trajectory.error else ()
        result = Result(
            question=question.text,
            method=self.name,
            hits=hits,
            answer=trajectory.answer,
            trajectories=(trajectory,),
            usage=trajectory.usage,
            stopped_by=trajectory.stopped_by,
            notes=(*trajectory.notes, *notes, *failed),
        )
        is_done = bool(hits) or trajectory.stopped_by == "error"
        if is_done:
            return result
        # A course without hits would answer nothing: one search by the question's words costs no call.
        config = WorkflowConfig(mode=self.mode)
        workflow = Workflow(self._graph, None, run, question=question, method=self.name, config=config)
        plain = workflow.follow(lambda: workflow.present(workflow.plain_search()))
        return result.model_copy(
            update={
                "hits": plain.hits,
                "trajectories": (*result.trajectories, *plain.trajectories),
                "usage": result.usage + plain.usage,
                "notes": (*result.notes, _NO_NODES, *plain.notes),
            }
        )

    def begin_agent(self, question: Question, number: int, *, random_seed: int) -> Trajectory:
        """Return the trajectory without steps that the course begins with."""
        return self._opening(question, random_seed)

    def _opening(self, question: Question, random_seed: int) -> Trajectory:
        return begin(
            self._model,
            prompt_of(self._prompt)._replace(system=self._system),
            {"question": question.text},
            question=question,
            method=self.name,
            sampling=Sampling(temperature=self.config.temperature, random_seed=random_seed),
            dialect="qwen" if self.config.calls == "text" else dialect_for(self._model),
            toolbox=self._toolbox,
            tools=self._specs,
            elision=ELISION,
            marks=self._marks,
        )

    @property
    def _prompt(self) -> str:
        if self.config.faithful:
            return "graphscout-faithful"
        return "graphscout" if self.config.has_code else "graphscout-no-code"

    @cached_property
    def _system(self) -> str:
        """The system prompt for this graph, which is the same for every question."""
        config, graph = self.config, self._graph
        view = config.naming
        described = describe(graph, view, has_code=config.has_code, is_plain=config.faithful)
        about = view.label if view is not None and view.label is not None else ", ".join(types_by_size(graph)[:_NAMED])
        parts = {name: harmless(part) for name, part in described._asdict().items()}
        return Template(prompt_of(self._prompt).system).substitute(
            parts,
            code=Template(_CODE).substitute(parts) if config.has_code else "",
            about=one_line(harmless(about)),
            dialect=DIALECT if self._tier == "monty" else _SECOND_TIER,
            max_calls=config.max_calls,
            otherwise=_REFUSE,
        )

    @cached_property
    def _linker(self) -> AnswerLinker:
        view = self.config.naming
        return AnswerLinker(self._graph, None if view is None else identifiers(self._graph.arrays, view))

    def _tools(self) -> tuple[Toolbox, CodeInterpreter | None]:
        """Return the tools of one question, and the one that runs code. Raises `MissingExtra`, `UnsafeSandbox`."""
        config = self.config
        if config.has_code:
            Cypher(self._graph)  # the extra, before a model is paid
        tier, again, is_plain = config.tier, config.retry_cpython, config.faithful
        code = CodeConfig(tier=tier, retry_cpython=again, view=config.naming, is_plain=is_plain)
        return open_scouting(self._graph, self.mode, code, has_code=config.has_code)

    def _presented(self, question: Question, trajectory: Trajectory) -> tuple[tuple[Ranked, ...], list[str]]:
        """Return the hits with notes, none if the database of a graph in place has gone away."""
        try:
            shown = _shown_nodes(self._graph, trajectory.steps)
            linked = self._linker.link(trajectory.answer or "", shown)
            named = dict.fromkeys(linked.rows, "named in the answer")
            reasons = named | {row: why for row, why in shown.items() if row not in named}
            notes = [f"the answer names what is not a node: {'; '.join(linked.missing[:5])}"] if linked.missing else []
            return present_all(self._graph, question, reasons), notes
        except DatabaseAway:
            if trajectory.stopped_by != "error":
                raise
            return (), []


def _shown_nodes(graph: Graph, steps: Sequence[Step]) -> dict[int, str]:
    """Return the rows that observations showed, each with its reason: latest small results first, long ones last."""
    small: dict[int, str] = {}
    large: dict[int, str] = {}
    for number, step in reversed(list(enumerate(steps, 1))):
        names = {call.id: call.name for call in step.reply.message.tool_calls}
        for observation in reversed(step.observations):
            rows = small if len(observation.nodes) <= _SMALL else large
            why = f"shown by {names.get(observation.call_id, 'a tool')} in step {number}"
            for node in observation.nodes:
                rows.setdefault(graph.arrays.row(node), why)
    return {**small, **{row: why for row, why in large.items() if row not in small}}


# The settings of `graphscout`.


Tools: TypeAlias = Literal["all", "no-code"]
Calls: TypeAlias = Literal["text", "tools"]
OFF, TYPES_ONLY = "off", "types"
MOST_CALLS = 100


class GraphScoutConfig(Options):
    """GraphScout's settings."""

    deviations = (
        "The prompt is in our own words for what B.4.2 lists, with `\\answer{}` of 3.4.2; the question follows in a "
        "user message. Edge types come with the types that they join, properties with the form of their values. Its "
        "code examples are made from the graph, and run; rarer types are only counted.",
        "Tools, and how they are called, are described in our own words, the retriever as it ranks: in meaning where "
        "the graph has vectors, else in words, where it may find fewer than asked and the scores are ours. Nodes of "
        "exactly the name come first, with 1.0. Texts of nodes are not "
        "in Cypher; the retriever searches them.",
        "The retriever answers at most 50 queries, with 50 nodes each; a run prints 8,000 characters, a query has "
        "10,000 rows. All calls of a reply are run, up to 32.",
        "Code runs in a sandbox (docs/explanations/sandbox.md), which may be a small Python of its own. Our engine "
        "answers Cypher, read-only; errors of it and of tools that are not there name what is near. Code keeps its "
        "names from run to run.",
        "A graph has its own ids, types and directions; `view` gives it those of the paper's graphs, and the domain's "
        "label, for which its three largest types stand else.",
        "The paper gives its solver no number of calls, and a temperature and lengths for training alone (table 3): "
        "here it has 10 turns with calls, its quizzer's T (`max_calls`), temperature 0, a seed, and no limit of a "
        "reply's length. A course that still calls a tool after its turns has no answer. The first reply without a "
        "call that can be read "
        "ends the course, even with a broken call.",
        "Marks of calls and of chat templates in texts of the graph are neutralised before the model reads them.",
        "The paper answers in words alone. The ranking holds the nodes that the answer names, then those shown by "
        "calls, else those of a plain search. `ask` writes an answer from them where the model gave none.",
    )

    temperature: float = 0.0
    """Temperature of every call; 0, so that runs repeat as far as the model lets them. The paper gives none."""
    mode: Mode = AUTO
    """How node_id_retriever ranks what no name answers to: lexical, dense, hybrid, hybrid:0.6 or rrf; auto is dense
    where the graph has vectors, as in the paper (3.2.2), else lexical."""
    max_calls: int = Field(default=10, ge=1, le=MOST_CALLS)
    """Tool calls, up to 100; a reply without a sound one counts as one. The paper's T, of its quizzer (3.3.3)."""
    tools: Tools = "all"
    """all: both tools; no-code: node_id_retriever alone, the ablation of table 2."""
    calls: Calls = "text"
    """How tools are offered: text, in the words of Qwen's template (B.4.1), which any server takes; tools, by the
    server's own tool calls. What a model writes is read in either form."""
    tier: Choice = "auto"
    """Where code runs: monty, cpython, or auto, the first of them that is installed; docs/explanations/sandbox.md."""
    retry_cpython: bool = False
    """Run code again in cpython where monty lacks something that it asks for."""
    view: str = OFF
    """The domain label of the view that names the graph as the paper's graphs are named, such as biomedical; types for
    such a view without a label; off for the graph's own ids and types."""
    directed: tuple[str, ...] = ()
    """Edge types of a view whose arrow keeps its meaning: GENE_REGULATES_GENE, for GRBench's hetionet."""
    context_tokens: int = Field(default=24_000, ge=1)
    """Size of a request; beyond it the oldest observations are left out, but never in the paper's form."""
    faithful: bool = False
    """Only what the paper has: its two tools, its prompt, and a course that ends as its own."""

    _check_mode = field_validator("mode")(checked_mode_or_auto)

    @model_validator(mode="after")
    def _check_view(self) -> Self:
        if not self.view.strip():
            raise BadOption("view is empty: it must be off, types, or a domain label")
        if self.directed and self.view == OFF:
            raise BadOption("directed is for a view: without one every arrow keeps its meaning")
        return self

    @property
    def has_code(self) -> bool:
        """Whether the model may write code."""
        return self.tools == "all"

    @property
    def naming(self) -> View | None:
        """The names that the graph is asked by; None for its own."""
        if self.view == OFF:
            return None
        return View(label=None if self.view == TYPES_ONLY else self.view, directed=self.directed)

    @property
    def last_turns(self) -> int:
        """Calls that a budget keeps back for a last turn; the paper has none."""
        return 0 if self.faithful else 1
