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

from orienteer.graph.store import Graph
from orienteer.lab.baselines.episode import EpisodeConfig, SearchAgents
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Result, Trajectory


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
