"""What methods with one tool, a search, share: an agent that thinks, searches and answers, and its ranking.

On a graph of documents the search is one of passages, shown whole, `k` of them, unless other node types are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import Field

from orienteer.agents.agent import Agent, ByFinish
from orienteer.agents.dialect import dialect_for
from orienteer.agents.workflow import WorkflowConfig, check_limits
from orienteer.display import counted
from orienteer.graph.reserved import PASSAGES
from orienteer.graph.store import Graph
from orienteer.llm.conversation import ELISION
from orienteer.llm.exchange import begin
from orienteer.llm.prompts import prompt_of
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Ranked, Sampling, Trajectory
from orienteer.retrieval.graph_text import present
from orienteer.tools.parameters import LARGEST_K
from orienteer.tools.session import Session
from orienteer.tools.texts import SEARCH_PASSAGES
from orienteer.tools.toolbox import Toolbox, open_passages, open_plain


class EpisodeConfig(WorkflowConfig):
    """The options of every method of this kind."""

    max_steps: int = Field(default=10, ge=1, le=LARGEST_K)
    """Steps before an agent is stopped: SAGE's m, appendix C.5. 10 is ours; Reflexion's code takes 6."""
    context_tokens: int = Field(default=24_000, ge=1)
    """Size of a request; beyond it the oldest observations are left out."""


class Episode(NamedTuple):
    """One agent's course, and the ranking that it leaves."""

    trajectory: Trajectory
    hits: tuple[Ranked, ...]
    notes: tuple[str, ...]
    """What went wrong on the way from the course to the ranking."""


class SearchAgents:
    """Sends out agents that can search, add to the answer and finish; each has a session of its own."""

    def __init__(self, graph: Graph, model: LanguageModel, config: EpisodeConfig, *, method: str) -> None:
        self._graph, self._model, self._config, self._method = graph, model, config, method
        graph.arrays.searcher(config.mode)  # raises without vectors, before a model is paid

    def begin(self, question: Question, number: int, *, random_seed: int, lessons: str = "") -> Trajectory:
        """Return what an agent begins with: a trajectory without steps, whose prompt holds the lessons, if any."""
        return self._begun(question, number, random_seed, self._toolbox(question), lessons)

    def explore(self, question: Question, run: Run, *, number: int = 0, lessons: str = "") -> Episode:
        """Let an agent run to its end; rank the nodes that it chose, or else those that it found last."""
        check_limits(self._graph, question)
        toolbox, config = self._toolbox(question), self._config
        begun = self._begun(question, number, run.random_seed, toolbox, lessons)
        ending = ByFinish(toolbox.session, max_steps=config.max_steps, takes_last_set=False)
        agent = Agent(self._model, toolbox, ending, context_tokens=config.context_tokens, number=number)
        return self._ranked(agent.explore(begun, run), toolbox.session)

    def _toolbox(self, question: Question) -> Toolbox:
        graph, config = self._graph, self._config
        if PASSAGES.isdisjoint(question.node_types or graph.arrays.types.nodes):
            return open_plain(graph, config.mode)
        return open_passages(graph, config.mode, question.k)

    def _begun(self, question: Question, number: int, random_seed: int, toolbox: Toolbox, lessons: str) -> Trajectory:
        prompt = prompt_of("reflexion" if lessons else "react")
        values: Mapping[str, str] = {"question": question.text, "lessons": lessons}
        sampling = Sampling(temperature=self._config.temperature, random_seed=random_seed + number)
        begun = begin(self._model, prompt, values, question=question, method=self._method, sampling=sampling)
        course = {"dialect": dialect_for(self._model), "toolbox": toolbox.spec, "tools": toolbox.specs}
        return begun.model_copy(update={**course, "elision": ELISION})

    def _ranked(self, trajectory: Trajectory, session: Session) -> Episode:
        """Filter the chosen nodes, cut them at k, and give each hit the agent's own reason."""
        graph, question, notes = self._graph, trajectory.question, list[str]()
        chosen = trajectory.selected
        if not chosen and not session.is_finished and (chosen := _last_found(trajectory)):
            notes.append("nothing was added to the answer: the nodes of the last search stand for it")
        if trajectory.steps and not any(step.reply.message.tool_calls for step in trajectory.steps):
            notes.append(f"the model called no tool in {counted(len(trajectory.steps), 'step')}")
        mask = graph.arrays.mask(question.node_types or None, question.where)
        rows = [graph.arrays.row(node) for node in chosen]
        passing = [row for row in rows if mask is None or mask[row]]
        if len(passing) < len(rows):
            notes.append(f"{len(rows) - len(passing)} chosen nodes did not pass the filters")
        passing = passing[: question.k]
        hits = tuple(
            present(
                graph,
                row,
                score=len(passing) - place,
                query=question.text,
                why=session.reasons.get(row, "" if trajectory.selected else "found by the last search"),
            )
            for place, row in enumerate(passing)
        )
        return Episode(trajectory, hits, tuple(notes))


def _last_found(trajectory: Trajectory) -> tuple[str, ...]:
    """Return the nodes of the last observation of a search that found any."""
    for step in reversed(trajectory.steps):
        searched = {
            call.id for call in step.reply.message.tool_calls if call.name in ("search_in_graph", SEARCH_PASSAGES)
        }
        for seen in reversed(step.observations):
            if seen.call_id in searched and seen.nodes:
                return seen.nodes
    return ()
