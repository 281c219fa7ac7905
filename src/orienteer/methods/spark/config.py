"""What `spark` lets choose."""

from __future__ import annotations

from pydantic import Field, field_validator

from orienteer.agents.workflow import WorkflowConfig
from orienteer.graph.store import Graph
from orienteer.index.searchers import Mode
from orienteer.options import Options
from orienteer.retrieval.query import checked_mode_or_auto

_LEAST_TOKENS = 1_500
_LONGEST_STEP = 600.0  # seconds


class SparkConfig(Options):
    """SPARK's settings."""

    temperature: float = 0.0
    """Temperature of the call; 0 in the paper's code."""
    mode: Mode = "auto"
    """How the answer and the fallback are ranked: auto is hybrid where the graph has vectors, else lexical."""
    cypher: bool = True
    """Offer Cypher steps, where the extra of that name is installed; the first makes a copy of the graph."""
    prompt_tokens: int = Field(default=4_000, ge=_LEAST_TOKENS)
    """Size of the prompt before the question, 1,500 or more: what does not fit of the schema is left out."""
    samples: bool = True
    """Show a few values of nodes in the prompt. The paper's planner sees the schema only (ethical statement)."""
    seconds: float = Field(default=10.0, gt=0, le=_LONGEST_STEP)
    """Time that a step of the plan may take; Cypher has a limit of its own, 10 seconds in the engine."""
    cut: bool = False
    """Cut a vector search of 25 nodes at its first wide gap, as the paper's code does."""
    fill: bool = True
    """Let plain search fill the ranking up to `k` behind what the plan has found."""
    faithful: bool = False
    """The paper's course: an invalid plan is not repaired, no values are shown, nothing is filled up."""

    _check_mode = field_validator("mode")(checked_mode_or_auto)

    @property
    def shows_values(self) -> bool:
        """Whether values of nodes may stand in the prompt."""
        return self.samples and not self.faithful

    def workflow(self, graph: Graph) -> WorkflowConfig:
        """Return the part that every method with a fixed course has, the mode settled for a graph."""
        has_vectors = graph.searcher.has_vectors
        mode: Mode = self.mode if self.mode != "auto" else "hybrid" if has_vectors else "lexical"
        return WorkflowConfig(temperature=self.temperature, mode=mode)
