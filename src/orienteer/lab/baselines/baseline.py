"""What the baselines share: a graph, a model and the paper's settings, and a course of steps for each question."""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar

from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.graph.store import Graph
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Observation, Question
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
    """Return why a tool refused: the first line of its reply. The others are about its answer, which is not used."""
    return observation.text.partition("\n")[0]
