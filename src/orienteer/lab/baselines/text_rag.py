"""`text-rag`: the graph as texts; a model reads the nearest ones and answers. One search, one call.

Paper: TextRAG (Gao et al. 2023), a baseline of GraphScout (003, table 1, appendix A.4): a node's attributes and edges
are linearized as plain text, a dense retriever fetches the texts that are nearest to the question, and they go into
the prompt. The paper gives neither their number nor their size. Here:

1. one search ranks the nodes of the graph, by meaning;
2. the best `documents` are written as text, attributes and edges, each cut to its share of the prompt (`linearized`);
3. a call answers from them, citing.

The ranking holds the nodes in the order of the search; nodes that the answer names come first, be they documents or
neighbours that a document names. `search` ends after 2 and asks no model.

Deviations:
1. The vectors are the graph's own, of names and texts (`orienteer embed`): edges are read, and not searched.
2. `mode=lexical` ranks by words, for a graph without vectors; dense is the paper's, and hybrid is ours.
3. A document that is longer than its share keeps what the question speaks of, and says how much it leaves out.
4. The model is to answer from the texts alone, and may say that they do not hold the answer; the prompt is our own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple, TypeVar

from pydantic import Field, field_validator

from orienteer.agents.answer import answer_from
from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.graph.store import Graph
from orienteer.index.searchers import Mode, ranking_of
from orienteer.lab.baselines.graph_cot import CoreEntities
from orienteer.lab.baselines.listwise import (
    LEAST,
    LinearConfig,
    Linearizer,
    NodeText,
    expanded,
    named_first,
    render_nodes,
)
from orienteer.protocols import LanguageModel, Run
from orienteer.records import JsonValue, Question, Ranked, Result
from orienteer.retrieval.evidence import Evidence, EvidenceText, Scored, render
from orienteer.retrieval.graph_text import type_names
from orienteer.retrieval.query import ANSWER_TOKENS, AUTO, Spaces, checked_mode_or_auto
from orienteer.tools.texts import LARGEST_K, SEARCH_PASSAGES
from orienteer.tools.toolbox import Toolbox, open_grounding, open_passages

_REASONS = {
    "lexical": "its words fit the question",
    "dense": "near to the question in meaning",
    "hybrid": "fits the question in words and meaning",
}


class TextRagConfig(LinearConfig):
    """TextRAG's settings."""

    mode: Mode = "dense"
    """How texts are ranked: dense (the paper's), hybrid, hybrid:0.6 or rrf, which need vectors, or lexical."""
    documents: int = Field(default=10, ge=1, le=LARGEST_K)
    """Nodes whose text the model reads, at the most; the number is ours."""


class TextRag:
    """The nearest texts of nodes, and an answer from them."""

    name = "text-rag"

    def __init__(self, graph: Graph, config: TextRagConfig | None = None) -> None:
        """Raise `BadOption` where the mode needs vectors and there are none."""
        self._graph, self.config = graph, config if config is not None else TextRagConfig()
        graph.arrays.searcher(self.config.mode)

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the nodes whose texts are nearest to the question. No model is asked."""
        return self._search(self._workflow(question, run))

    def retrieve_and_answer(self, question: Question, run: Run, model: LanguageModel) -> Result:
        """Answer in one call from the best of them, as text."""
        config, graph, workflow = self.config, self._graph, self._workflow(question, run)
        result = self._search(workflow)
        rows = [graph.arrays.row(hit.id) for hit in result.hits[: config.documents]]
        linearizer, share = Linearizer(graph, question.text), max(config.context_tokens // max(len(rows), 1), LEAST)
        written = [linearizer.write(row, share) for row in rows]
        evidence = render_nodes(graph, written, config.context_tokens)
        result = answer_from(result, evidence, model=model, run=run, temperature=config.temperature)
        return named_first(result, workflow, written)

    def _workflow(self, question: Question, run: Run) -> Workflow:
        return Workflow(self._graph, None, run, question=question, method=self.name, config=self.config)

    def _search(self, workflow: Workflow) -> Result:
        question = workflow.question
        node_types = question.node_types or self._graph.arrays.text_types
        reason = _REASONS[ranking_of(self.config.mode).kind]

        def search() -> tuple[Ranked, ...]:
            rows = workflow.search(question.text, question.k, node_types=node_types, where=question.where)
            return workflow.present(dict.fromkeys(rows, reason))

        return workflow.follow(search)


# `graph-rag`: what surrounds the nodes of a question, two edges wide, as text, and an answer from it. One call.
#
# Paper: GraphRAG as a baseline of GraphScout (003, table 1, appendix A.4): core entities are identified from the
# question, the subgraph of two hops around each is linearized as text and given to the model. The paper does not say
# how much of it, or which part where it is too large. Here:
#
# 1. the core entities are the nodes that the question names, else the best that one search finds (`core_entities`);
# 2. around each the neighbours are ranked by how well they fit the question, those of the type that it asks for first;
# 3. those that touch all core entities, or where none does several of them, come first, then the best of each in turn:
#    `neighbors` of them in all;
# 4. core entities and neighbours are written as text, attributes and edges (`linearized`): the edges of a core entity
#    are the first hop, those of a neighbour the second. Half of the prompt goes to the core entities, half to the rest;
#    what joins two of the subgraph is named before what leads out of it;
# 5. a call answers from that, citing.
#
# The ranking holds the core entities, the neighbours, then the other nodes that the text names, in its order; with an
# answer, those that it names come first. `search` ends after 4 and asks no model.
#
# Deviations:
# 1. Entities are found by name, without a model; 003 says neither way.
# 2. The subgraph is not whole: two hops around a disease of Hetionet hold some 17,000 of its 47,031 nodes. Each line
# says
#    how many it leaves out.
# 3. The model is to answer from the text alone, and may say that it does not hold the answer; the prompt is our own.


class GraphRagConfig(LinearConfig):
    """GraphRAG's settings."""

    entities: int = Field(default=5, ge=1, le=LARGEST_K)
    """Core entities at the most; the number is ours."""
    neighbors: int = Field(default=20, ge=1, le=LARGEST_K)
    """Neighbours whose own edges are told, the second hop, at the most; the number is ours."""


class _Subgraph(NamedTuple):
    """A question's subgraph."""

    result: Result
    written: tuple[NodeText, ...]
    workflow: Workflow


class GraphRag:
    """Core entities, their surroundings as text, and an answer from it."""

    name = "graph-rag"

    def __init__(self, graph: Graph, config: GraphRagConfig | None = None) -> None:
        """Raise `BadOption` where the mode needs vectors and there are none."""
        self._graph, self.config = graph, config if config is not None else GraphRagConfig()
        graph.arrays.searcher(self.config.mode)
        self._cores = CoreEntities(graph)

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the nodes of the subgraph in the order of its text. No model is asked."""
        return self._gather(question, run).result

    def retrieve_and_answer(self, question: Question, run: Run, model: LanguageModel) -> Result:
        """Answer in one call from the subgraph as text."""
        result, written, workflow = self._gather(question, run)
        evidence = render_nodes(self._graph, written, self.config.context_tokens)
        result = answer_from(result, evidence, model=model, run=run, temperature=self.config.temperature)
        return named_first(result, workflow, written)

    def _gather(self, question: Question, run: Run) -> _Subgraph:
        config, graph = self.config, self._graph
        workflow = Workflow(
            graph,
            None,
            run,
            question=question,
            method=self.name,
            config=config,
            toolbox=open_grounding(graph, config.mode),
        )
        written: list[NodeText] = []

        def gather() -> tuple[Ranked, ...]:
            hits = self._cores.found(workflow, question.k)
            cores = dict(list((self._cores.named(workflow) or hits).items())[: config.entities])
            around = self._around(workflow, list(cores))
            written.extend(self._write(question.text, list(cores), list(around)))
            rows = (row for text in written for row in text.rows)
            beyond = dict.fromkeys(rows, "within two edges of the core entities")
            reasons = dict(cores)
            for row, why in (*around.items(), *beyond.items(), *hits.items()):
                reasons.setdefault(row, why)
            return workflow.present(reasons)

        return _Subgraph(workflow.follow(gather), tuple(written), workflow)

    def _around(self, workflow: Workflow, cores: Sequence[int]) -> dict[int, str]:
        """Return the neighbours whose own edges are shown: those that join core entities, then the best of each.

        In both groups nodes of a type that the question asks for come first.
        """
        graph, most = self._graph, self.config.neighbors
        types = list(self._cores.answer_types(workflow))
        near = [self._near(workflow, core, types) for core in cores]
        around: dict[int, str] = {}
        if len(cores) > 1:
            touching = graph.arrays.touching([graph.arrays.adjacency.neighbors(core) for core in cores]).rows
            joining, _ = graph.arrays.rank(touching, workflow.question.text, len(touching))
            wanted = graph.arrays.mask(types or None)
            first = [row for row in joining.tolist() if wanted is None or wanted[row]]
            around = dict.fromkeys([*first, *joining.tolist()], "joins core entities")
        for row in (row for place in zip_longest(*near) for row in place if row is not None):
            around.setdefault(row, "next to a core entity")
        return dict([(row, why) for row, why in around.items() if row not in set(cores)][:most])

    def _near(self, workflow: Workflow, core: int, types: list[str]) -> list[int]:
        """Return the neighbours of a core entity that fit the question best, those of some types first."""
        node, most = f"[{self._graph.arrays.ids[core]}]", self.config.neighbors  # in brackets any id is read as one
        nodes: dict[str, None] = {}
        for filters in [{"node_types": types}, {}] if types else [{}]:
            if len(nodes) < most:
                near = workflow.use(
                    "search_in_neighborhood", node=node, query=workflow.question.text, k=most, **filters
                )
                nodes |= dict.fromkeys(near.nodes)
        return list(map(self._graph.arrays.row, nodes))[:most]

    def _write(self, question: str, cores: Sequence[int], around: Sequence[int]) -> list[NodeText]:
        """Return both as text: half of the room for core entities, and what they leave for their neighbours."""
        linearizer, first = Linearizer(self._graph, question), {*cores, *around}
        half = self.config.context_tokens // 2
        whole = half if around else 2 * half
        written = [linearizer.write(row, max(whole // len(cores), LEAST), first=first) for row in cores]
        left = self.config.context_tokens - sum(text.tokens for text in written)
        share = max(left // max(len(around), 1), LEAST)
        return [*written, *(linearizer.write(row, share, first=first) for row in around)]


# `hyde`: search with a passage that a model makes up, since it resembles the true one more than the question does.
#
# Paper: Gao, Ma, Lin and Callan 2023, Precise zero-shot dense retrieval without relevance labels; a baseline of SAGE
# (004, section 3). Its samples are 8, at a temperature of 0.7 (the authors' code).
#
# Deviations:
# 1. `mode=dense` is the paper's: the mean of the vectors of the passages and of the question, which the authors' code
#    includes (its equation 8). Vectors have length 1 before they are averaged. `hybrid` adds BM25 to that.
# 2. By default BM25 stands in for the dense encoder. Words cannot be averaged as vectors can: question and passages are
#    put one after another, and a word counts once, however many of them hold it.
# 3. One passage by default, not 8: each costs a call. `passages=8` is the authors' code.
# 4. One prompt, in our own words and with the graph's node types, for the paper's one for each task.


MOST_PASSAGES = 63
"""With the question they are what a server embeds in one request: one call of the budget."""


class HydeConfig(WorkflowConfig):
    """HyDE's settings."""

    passages: int = Field(default=1, ge=1, le=MOST_PASSAGES)
    """Passages that are made up, a call each. The authors' code takes 8."""
    temperature: float = 0.7
    """Temperature of the passages, as in the authors' code: 0 would make them all alike."""


class Hyde:
    """Hypothetical document embeddings, or with words in place of embeddings: n calls, one search."""

    name = "hyde"

    def __init__(self, graph: Graph, model: LanguageModel, config: HydeConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or HydeConfig()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Make passages up, then search with them and the question."""
        config, are_means = self.config, self.config.mode != "lexical"
        self._graph.arrays.searcher(config.mode)  # raises without vectors, before a model is paid
        toolbox = Toolbox.full(self._graph, mode=config.mode, offers_passages=are_means, names_first=False)
        workflow = Workflow(
            self._graph, self._model, run, question=question, method=self.name, config=config, toolbox=toolbox
        )
        return expanded(workflow, self._write(workflow), are_means=are_means)

    def _write(self, workflow: Workflow) -> Iterator[tuple[str, ...]]:
        """Yield the passages so far, after each."""
        written: tuple[str, ...] = ()
        for _ in range(self.config.passages):
            passage = workflow.ask("hyde", question=workflow.question.text, node_types=type_names(self._graph))
            written = (*written, passage)
            yield written


# What the agentic text baselines share: they search passages, as `naive` does, and read them whole (002, table 4).


class PassageConfig(WorkflowConfig):
    """What every one of them lets choose."""

    mode: Mode = AUTO
    """How searches rank: lexical, dense, hybrid, hybrid:WEIGHT, rrf; auto is hybrid where there are vectors."""
    context_tokens: int = Field(default=ANSWER_TOKENS, ge=1)
    """Size of the passages that a prompt shows: that of a retriever's answer, so that both read as much."""

    _check_mode = field_validator("mode")(checked_mode_or_auto)


_Config = TypeVar("_Config", bound=PassageConfig)


def settled(graph: Graph, config: _Config) -> _Config:
    """Return the settings with the mode that they come to on a graph. Raises `BadOption` for what it does not have."""
    return config.model_copy(update={"mode": Spaces(graph, config.mode).mode})


def course(
    graph: Graph, model: LanguageModel, run: Run, *, question: Question, method: str, config: PassageConfig
) -> Workflow:
    """Return the course of a question, with the search of passages as its one tool."""
    toolbox = open_passages(graph, config.mode, question.k, has_filters=True, has_answer=False)
    return Workflow(graph, model, run, question=question, method=method, config=config, toolbox=toolbox)


def search(workflow: Workflow, query: str, k: int) -> tuple[int, ...]:
    """Return the rows of the best passages that pass the question's filters."""
    question = workflow.question
    filters: dict[str, JsonValue] = {"node_types": list(question.node_types), "where": list(question.where)}
    observation = workflow.use(
        SEARCH_PASSAGES, query=query, k=k, **{name: value for name, value in filters.items() if value}
    )
    return tuple(workflow.graph.arrays.row(node) for node in observation.nodes)


def shown(graph: Graph, rows: Iterable[int], tokens: int) -> EvidenceText:
    """Return the texts of some rows for a prompt, labelled in their order."""
    return render(Evidence(nodes=tuple(Scored(graph.arrays.node_at(row), 1.0) for row in rows)), graph, tokens)
