"""`vanilla`: the bare model. No search, no evidence, no citation: what a model knows of a question by itself.

After GraphSearch (002), tables 1 and 4, appendix B. It ranks nothing; what it says is nobody's evidence.
"""

from __future__ import annotations

from orienteer.agents.answer import ask, parted
from orienteer.graph.store import Graph
from orienteer.options import Options
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Result, Sampling

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
