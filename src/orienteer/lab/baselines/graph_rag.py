"""`graph-rag`: what surrounds the nodes of a question, two edges wide, as text, and an answer from it. One call.

Paper: GraphRAG as a baseline of GraphScout (003, table 1, appendix A.4): core entities are identified from the
question, the subgraph of two hops around each is linearized as text and given to the model. The paper does not say how
much of it, or which part where it is too large. Here:

1. the core entities are the nodes that the question names, else the best that one search finds (`core_entities`);
2. around each the neighbours are ranked by how well they fit the question, those of the type that it asks for first;
3. those that touch all core entities, or where none does several of them, come first, then the best of each in turn:
   `neighbors` of them in all;
4. core entities and neighbours are written as text, attributes and edges (`linearized`): the edges of a core entity
   are the first hop, those of a neighbour the second. Half of the prompt goes to the core entities, half to the rest;
   what joins two of the subgraph is named before what leads out of it;
5. a call answers from that, citing.

The ranking holds the core entities, the neighbours, then the other nodes that the text names, in its order; with an
answer, those that it names come first. `search` ends after 4 and asks no model.

Deviations:
1. Entities are found by name, without a model; 003 says neither way.
2. The subgraph is not whole: two hops around a disease of Hetionet hold some 17,000 of its 47,031 nodes. Each line says
   how many it leaves out.
3. The model is to answer from the text alone, and may say that it does not hold the answer; the prompt is our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from pydantic import Field

from orienteer.agents.answer import answer_from
from orienteer.agents.workflow import Workflow
from orienteer.graph.store import Graph
from orienteer.lab.baselines.core_entities import CoreEntities
from orienteer.lab.baselines.linearized import LEAST, LinearConfig, Linearizer, NodeText, named_first, render_nodes
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Ranked, Result
from orienteer.tools.parameters import LARGEST_K
from orienteer.tools.toolbox import open_grounding


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
