"""The nodes that a question is about: what GraphRAG and Cypher start from. GraphScout (003), appendix A.4; ours.

Names that stand in the question are looked up with `node_id_retriever`: nodes of just that name, alias or identifier;
else of the name that is spelled most like it, where there is one. Words of the schema, "disease" among diseases, are no
names. Besides, one search is made with the whole question.
"""

from __future__ import annotations

import numpy as np

from orienteer.agents.workflow import Workflow
from orienteer.graph.store import Graph
from orienteer.index.names import ALIKE
from orienteer.retrieval.analysis import NameAnalyzer
from orienteer.retrieval.mentions import TypeLinker, called, near_name
from orienteer.tools.node_ids import MOST_TOPK, NAME

HOMONYMS = 2
"""Nodes that one name may mean, the node retriever's topk (003, appendix B.4.1): of those that bear it as their name,
then of those that it is an alias of, what fits the question best."""
MOST_NAMES = 16
"""Names of a question that are looked up."""


class CoreEntities:
    """Finds the nodes that questions to one graph are about. Safe to share among threads."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._names, self._types = NameAnalyzer(graph), TypeLinker(graph)

    def named(self, workflow: Workflow) -> dict[int, str]:
        """Return the rows of the nodes that the question names, in its order, each with that name as its reason."""
        rows: dict[int, str] = {}
        text = workflow.question.text
        names = [name for name in self._names.analyze(text, workflow.run).low if self._types.link(name) is None]
        if len(names) > MOST_NAMES:
            workflow.notes.append(f"of {len(names)} names in the question the first {MOST_NAMES} are looked up")
        for name in sorted(names, key=text.find)[:MOST_NAMES]:
            for row in self._meant(workflow, name):
                rows.setdefault(row, f"named in the question: {name}")
        return rows

    def found(self, workflow: Workflow, k: int) -> dict[int, str]:
        """Return the rows that one search with the whole question finds, best first."""
        text = workflow.question.text
        return dict.fromkeys(workflow.search(text, k) if text.strip() else (), "found by the question")

    def answer_types(self, workflow: Workflow) -> tuple[str, ...]:
        """Return the node types that the question asks for; none where it does not say."""
        return self._names.analyze(workflow.question.text, workflow.run).answer_types

    def _meant(self, workflow: Workflow, name: str) -> tuple[int, ...]:
        """Return the nodes that a name means, looked up with the tool; none where no name is spelled like it."""
        graph = self._graph
        rows = called(graph, name)
        if not rows:
            near = near_name(graph, name, ALIKE)
            if near is None:
                return ()
            workflow.notes.append(f"{name!r} is read as {near!r}")
            name, rows = near, called(graph, near)
        observation = workflow.use(NAME, queries=[name], topk=min(len(rows), MOST_TOPK))
        best, _ = workflow.rank(
            np.array(sorted(map(graph.arrays.row, observation.nodes)), np.int32), len(observation.nodes)
        )
        folded = name.casefold()
        return tuple(sorted(best.tolist(), key=lambda row: graph.arrays.names[row].casefold() != folded)[:HOMONYMS])
