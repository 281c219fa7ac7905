"""`react`: one agent that thinks, searches, reads, and so on until it answers. Its only access to the graph is search.

Paper: Yao et al. 2023, ReAct: synergizing reasoning and acting in language models; after SAGE (004), appendix C.5:
m steps are m calls of the model and at most m retrievals.

Deviations:
1. An action is a tool call, not a line of text that is parsed; the thought is what the model writes beside it. Some
   servers leave that text out.
2. The answer is an ordered list of nodes, added to in an action of its own, and not one phrase in `finish`.
3. A turn may hold several calls: searches side by side, or adding and finishing.
4. The prompt is in our own words and without worked examples; the paper shows some.
5. An agent that is stopped before it has added anything gives what its last search found.

On a graph of documents its search gives passages, whole and `k` at once: the baseline of GraphSearch (002, table 4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import Field

from orienteer.agents.answer import ask, parted
from orienteer.agents.workflow import Workflow
from orienteer.errors import BudgetExhausted, ModelError
from orienteer.graph.store import Graph
from orienteer.lab.baselines.episode import EpisodeConfig, SearchAgents
from orienteer.options import Options
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Ranked, Result, Sampling, Trajectory
from orienteer.text.sentences import CHARACTERS_A_TOKEN, one_line
from orienteer.tools.texts import LARGEST_K


class ReactConfig(EpisodeConfig):
    """ReAct's settings."""


class React:
    """Thought, action, observation, over search alone."""

    name = "react"

    def __init__(self, graph: Graph, model: LanguageModel, config: ReactConfig | None = None) -> None:
        self.config = config or ReactConfig()
        self._searcher = SearchAgents(graph, model, self.config, method=self.name)

    def retrieve(self, question: Question, run: Run) -> Result:
        """Let one agent search until it finishes or may go no further."""
        episode = self._searcher.explore(question, run)
        trajectory = episode.trajectory
        failed = (f"the model failed: {trajectory.error}",) if trajectory.error else ()
        return Result(
            question=question.text,
            method=self.name,
            hits=episode.hits,
            trajectories=(trajectory,),
            usage=trajectory.usage,
            stopped_by=trajectory.stopped_by,
            notes=(*episode.notes, *trajectory.notes, *failed),
        )

    def begin_agent(self, question: Question, number: int, *, random_seed: int) -> Trajectory:
        """Return what the agent begins with: a trajectory without steps."""
        return self._searcher.begin(question, number, random_seed=random_seed)


# `reflexion`: episodes of `react`; after each the model judges what it found and writes down what to do otherwise.
#
# Paper: Shinn et al. 2023, Reflexion: language agents with verbal reinforcement learning; after SAGE (004), appendix
# C.6: E episodes of m steps and R <= E - 1 reflections are E m + R calls of the model and at most E m retrievals.
#
# The ranking is that of the last episode with a ranking: the one judged good, or the one that knew all lessons.
#
# Deviations:
# 1. The model judges from the trajectory whether an episode has failed. In the paper an exact match with the gold
# answer
#    tells; here no method ever sees gold.
# 2. Verdict and reflection are one call, so that an episode judged good costs a call that SAGE's formula does not have.
# 3. The last episode is not judged: nothing would follow from it. A verdict that cannot be read ends the course.
# 4. Every lesson goes into the next prompt. By default there are two at the most; the authors' code keeps three.
# 5. An episode is our `react`, with its own deviations.


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


# `vanilla`: the bare model. No search, no evidence, no citation: what a model knows of a question by itself.
#
# After GraphSearch (002), tables 1 and 4, appendix B. It ranks nothing; what it says is nobody's evidence.


NOTHING = "vanilla searches nothing: its answer is what the model knows by itself, without evidence"


class VanillaConfig(Options):
    """The bare model's settings."""

    temperature: float = 0.0
    """Temperature of the one call; 0, so that runs repeat as far as the model lets them."""


class Vanilla:
    """One call, the question alone."""

    name = "vanilla"

    def __init__(self, graph: Graph, model: LanguageModel, config: VanillaConfig | None = None) -> None:
        """The graph is never read; it is taken as by every method."""
        self.config = config or VanillaConfig()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return an empty ranking, which costs nothing."""
        return Result(question=question.text, method=self.name, notes=(NOTHING,))

    def retrieve_and_answer(self, question: Question, run: Run, model: LanguageModel) -> Result:
        """Return the model's answer; an error of the call ends the result."""
        sampling = Sampling(temperature=self.config.temperature, random_seed=run.random_seed)
        nothing = self.retrieve(question, run)
        result = ask(nothing, "vanilla", f"Question: {question.text}", parted, model=model, run=run, sampling=sampling)
        return result.model_copy(update={"stopped_by": result.trajectories[-1].stopped_by})
