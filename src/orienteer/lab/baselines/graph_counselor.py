"""`graph-counselor`: plan, execute, reflect: a plan says how deep to go, reflection whether that was deep enough.

Paper: Gao et al. 2025, Graph Counselor, as GraphScout (003) describes it: sections 2.2 and A.4. The course follows its
public code, of which no line is taken: functions inside one another, a name for the last nodes, at most two
reflections.

    plan      a call writes the steps, and how many actions they need
    execute   a call an action, with Graph-CoT's functions (`graph_functions`), until Finish or the plan is spent
    reflect   a call judges the course: sound, or what to do otherwise and how many actions deep; then all over again

Deviations:
1. The model judges from the course whether an attempt was sound. The public code, as set up, stops on the gold answer;
   here no method ever sees gold.
2. Thought and action are one call, where the public code makes two.
3. An attempt may take twice the actions that its plan names, up to `max_steps`: failed ones count.
4. The last attempt is not judged: nothing would follow from it. A verdict that cannot be read ends the course.
5. The ranking is Graph-CoT's: the nodes that Finish names, then those that actions have shown, the latest first.
6. The prompts are our own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.graph.store import Graph
from orienteer.lab.baselines.graph_functions import ActionLog, GraphFunctions
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Result
from orienteer.retrieval.graph_text import schema_lines
from orienteer.tools.parameters import LARGEST_K

PLAN = {
    "type": "object",
    "properties": {
        "steps": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "depth": {"type": "integer", "minimum": 1},
    },
    "required": ["steps", "depth"],
    "additionalProperties": False,
}
"""What the plan gives: steps in words, and how many actions they need."""
VERDICT = {
    "type": "object",
    "properties": {
        "sound": {"type": "boolean"},
        "advice": {"type": "string"},
        "depth": {"type": "integer", "minimum": 1},
    },
    "required": ["sound", "advice"],
    "additionalProperties": False,
}
"""What the model says of an attempt of its own."""
UNSOUND = "the model judged this answer unsound, and no later attempt came to another"


class GraphCounselorConfig(WorkflowConfig):
    """Graph Counselor's settings."""

    max_steps: int = Field(default=10, ge=1, le=LARGEST_K)
    """Actions of an attempt at the most; the number is ours."""
    reflections: int = Field(default=2, ge=1, le=LARGEST_K)
    """Reflections at the most, each with another attempt after it. The number is that of the public code."""
    neighbors: int = Field(default=20, ge=1, le=LARGEST_K)
    """Neighbours of a node that an observation shows; ours."""
    context_tokens: int = Field(default=10_000, ge=1)
    """Length of an attempt's steps at which it ends; Graph-CoT's code has this number."""


class GraphCounselor:
    """Plan, execute, reflect."""

    name = "graph-counselor"

    def __init__(self, graph: Graph, model: LanguageModel, config: GraphCounselorConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or GraphCounselorConfig()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Attempt until the model finds its course sound, or no further reflection is allowed."""
        config = self.config
        workflow = Workflow(self._graph, self._model, run, question=question, method=self.name, config=config)
        functions = GraphFunctions(self._graph, workflow, neighbors=config.neighbors, is_nested=True)
        course = _CounselorCourse(functions, workflow, config)
        result = workflow.follow_and_rank(
            course.run, lambda: workflow.present(functions.reasons(course.answer) or workflow.plain())
        )
        notes = (*result.notes, UNSOUND) if course.is_unsound else result.notes
        return result.model_copy(update={"answer": course.answer or None, "notes": notes})


@dataclass(slots=True)
class _CounselorCourse:
    """One question's attempts."""

    functions: GraphFunctions
    workflow: Workflow
    config: GraphCounselorConfig
    answer: str = ""
    """The answer of the last attempt that finished."""
    is_unsound: bool = False
    """Whether that answer was judged unsound, and no later attempt came to another."""
    lessons: list[str] = field(default_factory=list)

    def run(self) -> None:
        """Plan, execute and reflect until an attempt is judged sound."""
        deepest = 1
        for number in range(self.config.reflections + 1):
            plan = self._plan(deepest)
            walked = self._execute(plan, number + 1)
            if walked.answer:
                self.answer, self.is_unsound = walked.answer, False
            if number == self.config.reflections:
                return
            verdict = self._reflect(plan, walked)
            if verdict is None:
                return
            self.is_unsound = bool(self.answer)
            deepest = max(deepest, verdict.get("depth", 1))
            self.lessons.append(f"{len(self.lessons) + 1}. {' '.join(verdict['advice'].split())}")

    def _plan(self, deepest: int) -> dict[str, Any]:  # Any: JSON that fits PLAN
        plan = self.workflow.ask_for(
            "graph-counselor-plan",
            PLAN,
            schema="\n".join(schema_lines(self.functions.graph)),
            question=self.workflow.question.text,
            lessons="\n".join(self.lessons) or "none",
        )
        if plan is None:
            self.workflow.notes.append("the model's plan cannot be read: the attempt goes without one")
            plan = {"steps": ["answer the question"], "depth": self.config.max_steps}
        plan["depth"] = max(plan["depth"], deepest)
        return plan

    def _execute(self, plan: dict[str, Any], number: int) -> ActionLog:  # Any: JSON that fits PLAN
        """Take actions until Finish, the plan's depth twice over, or a limit."""
        notes = self.workflow.notes
        before = len(notes)
        walked = self.functions.walk(
            "graph-counselor-act",
            min(2 * plan["depth"], self.config.max_steps),
            self.config.context_tokens,
            plan="\n".join(f"{at}. {step}" for at, step in enumerate(plan["steps"], 1)),
        )
        notes[before:] = [f"attempt {number}: {note}" for note in notes[before:]]
        return walked

    def _reflect(self, plan: dict[str, Any], walked: ActionLog) -> dict[str, Any] | None:  # Any: JSON
        """Return what to do otherwise; None where the attempt is judged sound, or the verdict cannot be read.

        One that has not answered is never sound.
        """
        verdict = self.workflow.ask_for(
            "graph-counselor-reflect",
            VERDICT,
            question=self.workflow.question.text,
            plan="\n".join(plan["steps"]),
            steps="\n".join(walked.steps) or "none",
        )
        if verdict is None:
            self.workflow.notes.append("the model's verdict on an attempt cannot be read: no further one is begun")
            return None
        return None if verdict["sound"] and walked.answer else verdict
