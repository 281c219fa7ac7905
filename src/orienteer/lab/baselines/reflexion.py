"""`reflexion`: episodes of `react`; after each the model judges what it found and writes down what to do otherwise.

Paper: Shinn et al. 2023, Reflexion: language agents with verbal reinforcement learning; after SAGE (004), appendix
C.6: E episodes of m steps and R <= E - 1 reflections are E m + R calls of the model and at most E m retrievals.

The ranking is that of the last episode with a ranking: the one judged good, or the one that knew all lessons.

Deviations:
1. The model judges from the trajectory whether an episode has failed. In the paper an exact match with the gold answer
   tells; here no method ever sees gold.
2. Verdict and reflection are one call, so that an episode judged good costs a call that SAGE's formula does not have.
3. The last episode is not judged: nothing would follow from it. A verdict that cannot be read ends the course.
4. Every lesson goes into the next prompt. By default there are two at the most; the authors' code keeps three.
5. An episode is our `react`, with its own deviations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import Field

from orienteer.agents.workflow import Workflow
from orienteer.errors import BudgetExhausted, ModelError
from orienteer.graph.store import Graph
from orienteer.lab.baselines.episode import EpisodeConfig, SearchAgents
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Ranked, Result, Trajectory
from orienteer.text.lines import CHARACTERS_A_TOKEN, one_line
from orienteer.tools.parameters import LARGEST_K

VERDICT = {
    "type": "object",
    "properties": {"answered": {"type": "boolean"}, "reflection": {"type": "string"}},
    "required": ["answered", "reflection"],
    "additionalProperties": False,
}
"""What the model says of an episode of its own."""
_SHORTEST = 200  # characters of an observation that the judge is shown at the least


class ReflexionConfig(EpisodeConfig):
    """Reflexion's settings: those of an episode, and how many there may be."""

    episodes: int = Field(default=3, ge=1, le=LARGEST_K)
    """Episodes at the most. SAGE's E, appendix C.6; the number is ours."""


class Reflexion:
    """Try, judge, learn, try again."""

    name = "reflexion"

    def __init__(self, graph: Graph, model: LanguageModel, config: ReflexionConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or ReflexionConfig()
        self._searcher = SearchAgents(graph, model, self.config, method=self.name)

    def retrieve(self, question: Question, run: Run) -> Result:
        """Search in episodes until one is judged to answer the question, or no further one is allowed."""
        workflow = Workflow(self._graph, self._model, run, question=question, method=self.name, config=self.config)
        return workflow.follow(lambda: self._course(workflow))

    def begin_agent(self, question: Question, number: int, *, random_seed: int) -> Trajectory:
        """Return what an episode begins with, without its opening: the lessons in it are known to the course alone."""
        return self._searcher.begin(question, number, random_seed=random_seed).model_copy(update={"opening": ()})

    def _course(self, workflow: Workflow) -> Sequence[Ranked]:
        lessons: list[str] = []
        for number in range(1, self.config.episodes + 1):
            episode = self._searcher.explore(
                workflow.question, workflow.run, number=number - 1, lessons="\n".join(lessons)
            )
            workflow.record(episode.trajectory)
            workflow.notes += (f"episode {number}: {note}" for note in episode.notes)
            workflow.hits = episode.hits or workflow.hits
            _require_order(episode.trajectory, number)
            lesson = self._lesson(workflow, episode.trajectory) if number < self.config.episodes else None
            if lesson is None:
                break
            lessons.append(f"{number}. {lesson}")
        return workflow.hits

    def _lesson(self, workflow: Workflow, trajectory: Trajectory) -> str | None:
        """Return the lesson of an episode; None where it is judged to have answered, or the verdict cannot be read."""
        names = [one_line(self._graph.node(node).name) for node in trajectory.selected]
        verdict = workflow.ask_for(
            "reflexion-judge",
            VERDICT,
            question=workflow.question.text,
            steps="\n\n".join(_in_words(trajectory, self.config.context_tokens * CHARACTERS_A_TOKEN)) or "none",
            answer="; ".join(names) or "none",
        )
        if verdict is None:
            workflow.notes.append("the model's verdict on an episode cannot be read: no further one is begun")
            return None
        return None if verdict["answered"] else " ".join(verdict["reflection"].split())


def _require_order(trajectory: Trajectory, number: int) -> None:
    """Raise the error that cut an episode short: `BudgetExhausted` or `ModelError`."""
    ended = trajectory.stopped_by
    if ended == "error":
        raise ModelError(f"{trajectory.error}, in episode {number}")
    if ended not in ("finish", "steps"):
        raise BudgetExhausted(ended, f"no {ended} were left in episode {number}")


def _in_words(trajectory: Trajectory, room: int) -> Iterator[str]:
    """Yield each step as the judge reads it: thought, calls and observations, which share the room evenly."""
    count = sum(len(step.observations) for step in trajectory.steps)
    width = max(_SHORTEST, room // max(count, 1))
    for number, step in enumerate(trajectory.steps, 1):
        message = step.reply.message
        lines = [f"Thought {number}: {message.content.strip()}"] if message.content else []
        lines += [f"Action {number}: {call.name} {call.arguments}" for call in message.tool_calls]
        lines += [f"Observation {number}: {observed.text[:width]}" for observed in step.observations]
        yield "\n".join(lines)
