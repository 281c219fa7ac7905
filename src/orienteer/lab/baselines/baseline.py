"""What the baselines share: a graph, a model and the paper's settings, and a course of steps for each question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Generic, TypeVar

from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.graph.store import Graph
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Observation, Question, Result
from orienteer.tools.toolbox import Toolbox

C = TypeVar("C", bound=WorkflowConfig)
TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}


class Baseline(Generic[C]):
    """A method of a paper."""

    name: ClassVar[str]
    settings: type[C]
    """The class of its options."""

    def __init__(self, graph: Graph, model: LanguageModel, config: C | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or self.settings()

    def start(self, question: Question, run: Run, toolbox: Toolbox | None = None) -> Workflow:
        """Return the course of a question, before its first step."""
        config = self.config
        return Workflow(
            self._graph, self._model, run, question=question, method=self.name, config=config, toolbox=toolbox
        )


def refusal(observation: Observation) -> str:
    """Return the reason of a tool that refused: the first line of its reply. The others are about the answer."""
    return observation.text.partition("\n")[0]


def named_first(result: Result, workflow: Workflow, named: Iterable[int], ranked: Mapping[int, str]) -> Result:
    """Return an answered result with the nodes that its answer names first, then those that it cites."""
    reasons = dict.fromkeys(named, "named in the answer")
    for node in result.trajectories[-1].selected:
        reasons.setdefault(workflow.graph.arrays.row(node), "cited in the answer")
    for row, why in ranked.items():
        reasons.setdefault(row, why)
    return result.model_copy(update={"hits": workflow.present(reasons)})
