"""`react`: one agent that thinks, searches, reads, and so on until it answers. Its only access to the graph is search.

Paper: Yao et al. 2023, ReAct; after SAGE (004), appendix C.5:
m steps are m calls of the model and at most m retrievals.

Deviations:
1. An action is a tool call, not a line of text that is parsed; the thought is the text next to it. Some servers leave
   that text out.
2. The answer is an ordered list of nodes, added to in an action of its own, and not one phrase in `finish`.
3. A turn may hold several calls: searches side by side, or adding and finishing.
4. The prompt is in our own words and without worked examples; the paper shows some.
5. An agent that is stopped before it has added anything gives what its last search found.

On a graph of documents the search gives passages, whole and `k` at once, unless other node types are asked for: the
baseline of GraphSearch (002, table 4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import Field

from orienteer.agents.agent import Agent, ByFinish
from orienteer.agents.answer import ask, parted
from orienteer.agents.dialect import dialect_for
from orienteer.agents.workflow import Workflow, WorkflowConfig, check_limits
from orienteer.display import counted
from orienteer.errors import BudgetExhausted, ModelError
from orienteer.graph.reserved import PASSAGES
from orienteer.graph.store import Graph
from orienteer.lab.baselines.baseline import TEXT, Baseline
from orienteer.llm.conversation import ELISION, begin, prompt_of
from orienteer.llm.schema import object_of
from orienteer.options import Options
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Ranked, Result, Sampling, Trajectory
from orienteer.retrieval.graph_text import present
from orienteer.text.sentences import CHARACTERS_A_TOKEN, one_line
from orienteer.tools.texts import LARGEST_K, SEARCH_PASSAGES
from orienteer.tools.toolbox import Toolbox, open_passages, open_plain


class ReactConfig(WorkflowConfig):
    """ReAct's settings."""

    max_steps: int = Field(default=10, ge=1, le=LARGEST_K)
    """Steps before an agent is stopped: SAGE's m, appendix C.5. 10 is ours; Reflexion's code takes 6."""
    context_tokens: int = Field(default=24_000, ge=1)
    """Size of a request; beyond it the oldest observations are left out."""


class Episode(NamedTuple):
    """One agent's trajectory, and the ranking that it leaves."""

    trajectory: Trajectory
    hits: tuple[Ranked, ...]
    notes: tuple[str, ...]
    """What went wrong between the trajectory and the ranking."""


class React(Baseline[ReactConfig]):
    """Thought, action, observation, over search alone."""

    name = "react"
    settings = ReactConfig

    def __init__(self, graph: Graph, model: LanguageModel, config: ReactConfig | None = None) -> None:
        super().__init__(graph, model, config)
        graph.arrays.searcher(self.config.mode)  # raises without vectors, before a model is paid

    def retrieve(self, question: Question, run: Run) -> Result:
        """Let one agent search until it finishes or may go no further."""
        trajectory, hits, notes = self._explore(question, run)
        failed = (f"the model failed: {trajectory.error}",) if trajectory.error else ()
        return Result(
            question=question.text,
            method=self.name,
            hits=hits,
            trajectories=(trajectory,),
            usage=trajectory.usage,
            stopped_by=trajectory.stopped_by,
            notes=(*notes, *trajectory.notes, *failed),
        )

    def begin_agent(self, question: Question, number: int, *, random_seed: int) -> Trajectory:
        """Return the agent's trajectory before its first step."""
        return self._opening(question, self._toolbox(question), random_seed + number)

    def _toolbox(self, question: Question) -> Toolbox:
        mode = self.config.mode
        if PASSAGES.isdisjoint(question.node_types or self._graph.arrays.types.nodes):
            return open_plain(self._graph, mode)
        return open_passages(self._graph, mode, question.k)

    def _opening(self, question: Question, toolbox: Toolbox, random_seed: int, lessons: str = "") -> Trajectory:
        prompt, values = prompt_of("reflexion" if lessons else "react"), {"question": question.text, "lessons": lessons}
        sampling = Sampling(temperature=self.config.temperature, random_seed=random_seed)
        begun = begin(self._model, prompt, values, question=question, method=self.name, sampling=sampling)
        course = {"dialect": dialect_for(self._model), "toolbox": toolbox.spec, "tools": toolbox.specs}
        return begun.model_copy(update={**course, "elision": ELISION})

    def _explore(self, question: Question, run: Run, *, number: int = 0, lessons: str = "") -> Episode:
        """Let an agent run to its end; rank the nodes that it chose, or else those that it found last."""
        graph, config, toolbox = self._graph, self.config, self._toolbox(question)
        check_limits(graph, question)
        begun = self._opening(question, toolbox, run.random_seed + number, lessons)
        ending = ByFinish(toolbox.session, max_steps=config.max_steps, takes_last_set=False)
        agent = Agent(self._model, toolbox, ending, context_tokens=config.context_tokens, number=number)
        trajectory, notes = agent.explore(begun, run), list[str]()
        chosen = trajectory.selected
        if not chosen and not toolbox.session.is_finished and (chosen := _last_found(trajectory)):
            notes.append("nothing was added to the answer: the nodes of the last search stand for it")
        if trajectory.steps and not any(step.reply.message.tool_calls for step in trajectory.steps):
            notes.append(f"the model called no tool in {counted(len(trajectory.steps), 'step')}")
        mask = graph.arrays.mask(question.node_types or None, question.where)
        rows = [graph.arrays.row(node) for node in chosen]
        passing = [row for row in rows if mask is None or mask[row]]
        if len(passing) < len(rows):
            notes.append(f"{len(rows) - len(passing)} chosen nodes did not pass the filters")
        reasons = {row: "" if trajectory.selected else "found by the last search" for row in passing[: question.k]}
        reasons |= {row: why for row, why in toolbox.session.reasons.items() if row in reasons}
        hits = (
            present(graph, row, score=len(reasons) - at, query=question.text, why=why)
            for at, (row, why) in enumerate(reasons.items())
        )
        return Episode(trajectory, tuple(hits), tuple(notes))


def _last_found(trajectory: Trajectory) -> tuple[str, ...]:
    """Return the nodes of the last observation of a search that found any."""
    for step in reversed(trajectory.steps):
        searches = {
            call.id for call in step.reply.message.tool_calls if call.name in ("search_in_graph", SEARCH_PASSAGES)
        }
        for seen in reversed(step.observations):
            if seen.call_id in searches and seen.nodes:
                return seen.nodes
    return ()


# `reflexion`: episodes of `react`; after each the model judges what it found and writes down what to do otherwise.
#
# Paper: Shinn et al. 2023, Reflexion; after SAGE (004), appendix
# C.6: E episodes of m steps and R <= E - 1 reflections are E m + R calls of the model and at most E m retrievals.
#
# The ranking is that of the last episode with a ranking: the one judged good, or the one that knew all lessons.
#
# Deviations:
# 1. The model judges from the trajectory whether an episode has failed. In the paper an exact match with the gold
#    answer decides; here no method ever sees gold.
# 2. Verdict and reflection are one call, so that an episode judged good costs a call that SAGE's formula does not have.
# 3. The last episode is not judged: nothing would follow from it. A verdict that cannot be read ends the course.
# 4. Every lesson goes into the next prompt. By default there are two at most; the authors' code keeps three.
# 5. An episode is our `react`, with its own deviations.

VERDICT = object_of({"answered": {"type": "boolean"}, "reflection": TEXT})
_SHORTEST = 200  # characters of an observation that the judge is shown at least


class ReflexionConfig(ReactConfig):
    """Reflexion's settings: those of an episode, and how many there may be."""

    episodes: int = Field(default=3, ge=1, le=LARGEST_K)
    """Episodes at the most. SAGE's E, appendix C.6; the number is ours."""


class Reflexion(React):
    """Try, judge, learn, try again."""

    name = "reflexion"
    settings = ReflexionConfig
    config: ReflexionConfig

    def retrieve(self, question: Question, run: Run) -> Result:
        """Search in episodes until one is judged to answer the question, or no further one is allowed."""
        workflow = self.start(question, run)
        return workflow.follow(lambda: self._course(workflow))

    def begin_agent(self, question: Question, number: int, *, random_seed: int) -> Trajectory:
        """Return an episode before its first step, without its opening: only the course knows its lessons."""
        return super().begin_agent(question, number, random_seed=random_seed).model_copy(update={"opening": ()})

    def _course(self, workflow: Workflow) -> Sequence[Ranked]:
        lessons: list[str] = []
        for number in range(1, self.config.episodes + 1):
            trajectory, hits, notes = self._explore(
                workflow.question, workflow.run, number=number - 1, lessons="\n".join(lessons)
            )
            workflow.record(trajectory)
            workflow.notes += (f"episode {number}: {note}" for note in notes)
            workflow.hits = hits or workflow.hits
            # An episode keeps its own error; here it ends the whole course.
            ended = trajectory.stopped_by
            if ended == "error":
                raise ModelError(f"{trajectory.error}, in episode {number}")
            if ended not in ("finish", "steps"):
                raise BudgetExhausted(ended, f"no {ended} were left in episode {number}")
            lesson = self._lesson(workflow, trajectory) if number < self.config.episodes else None
            if lesson is None:
                break
            lessons.append(f"{number}. {lesson}")
        return workflow.hits

    def _lesson(self, workflow: Workflow, trajectory: Trajectory) -> str | None:
        """Return the lesson of an episode, or None if it is judged to have answered or the verdict cannot be read."""
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
# After GraphSearch (002), tables 1 and 4, appendix B. It ranks nothing.

NOTHING = "vanilla searches nothing: its answer is what the model knows by itself, without evidence"


class VanillaConfig(Options):
    """The bare model's settings."""

    temperature: float = 0.0
    """Temperature of the one call; 0, so that runs repeat as far as the model lets them."""


class Vanilla:
    """One call, the question alone."""

    name = "vanilla"

    def __init__(self, graph: Graph, model: LanguageModel, config: VanillaConfig | None = None) -> None:
        """The graph is never read; every method takes one."""
        self.config = config or VanillaConfig()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return an empty ranking, which costs nothing."""
        return Result(question=question.text, method=self.name, notes=(NOTHING,))

    def retrieve_and_answer(self, question: Question, run: Run, model: LanguageModel) -> Result:
        """Return the model's answer; an error of the call ends the result."""
        nothing, user = self.retrieve(question, run), f"Question: {question.text}"
        result = ask(nothing, "vanilla", user, parted, model=model, run=run, temperature=self.config.temperature)
        return result.model_copy(update={"stopped_by": result.trajectories[-1].stopped_by})
