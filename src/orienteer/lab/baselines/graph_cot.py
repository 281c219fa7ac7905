"""`graph-cot`: thought, action, observation, with four functions over the graph that are read and never evaluated.

Paper: Jin et al. 2024, Graph Chain-of-Thought; defaults: 10 steps, RetrieveNode gives one node.

    RetrieveNode[words]            the node that fits the words best
    NodeFeature[node, feature]     a feature of a node
    NeighbourCheck[node, edge]     the neighbours by an edge type
    NodeDegree[node, edge]         how many there are
    Finish[answer]                 the answer, which ends the course

Deviations:
1. Actions are read by a small parser, where the paper's code evaluates them: names hold commas, quotes and brackets. A
   call inside a call is refused in an observation; several calls in one action are made in turn. Of several actions
   in one reply the first counts; the paper's code stops the model at the end of a line.
2. RetrieveNode searches by BM25, where the paper compares vectors. It tells type and name besides the id.
3. NeighbourCheck shows 20 neighbours, nearest to the question first, with their names, and says how many there are; the
   paper shows all ids.
4. One call of the model makes a step, thought and action together; the paper's code makes two.
5. The paper answers in words alone. The ranking holds the nodes that Finish names, in its order, by id, name or else
   search; then the nodes that the actions have shown, the latest first. Without any, plain search stands in, and the
   notes say so.
6. The prompt is our own, with the graph's schema and without examples for each graph.
"""

from __future__ import annotations

from pydantic import Field

from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.graph.store import Graph
from orienteer.lab.baselines.graph_functions import GraphFunctions
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Result
from orienteer.tools.parameters import LARGEST_K


class GraphCotConfig(WorkflowConfig):
    """Graph-CoT's settings."""

    max_steps: int = Field(default=10, ge=1, le=LARGEST_K)
    """Steps before the course ends. The paper's code takes 10, and 15 for some graphs."""
    neighbors: int = Field(default=20, ge=1, le=LARGEST_K)
    """Neighbours that an observation shows; ours, the paper shows all."""
    context_tokens: int = Field(default=10_000, ge=1)
    """Length of the steps at which the course ends. The number is that of the paper's code."""


class GraphCot:
    """Think, act, observe."""

    name = "graph-cot"

    def __init__(self, graph: Graph, model: LanguageModel, config: GraphCotConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or GraphCotConfig()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Step until Finish, and rank what it names."""
        config = self.config
        workflow = Workflow(self._graph, self._model, run, question=question, method=self.name, config=config)
        functions = GraphFunctions(self._graph, workflow, neighbors=config.neighbors)
        answer = ""

        def walk() -> None:
            nonlocal answer
            answer = functions.walk("graph-cot", config.max_steps, config.context_tokens).answer or ""

        result = workflow.follow_and_rank(walk, lambda: workflow.present(functions.reasons(answer) or workflow.plain()))
        return result.model_copy(update={"answer": answer or None})
