"""The settings of `graphscout`."""

from __future__ import annotations

from typing import Literal, Self, TypeAlias

from pydantic import Field, field_validator, model_validator

from orienteer.cypher.view import View
from orienteer.errors import BadOption
from orienteer.index.searchers import Mode
from orienteer.options import Options
from orienteer.retrieval.query import AUTO, checked_mode_or_auto
from orienteer.sandbox.tiers import Choice
from orienteer.tools.code.config import CodeConfig

Tools: TypeAlias = Literal["all", "no-code"]
Calls: TypeAlias = Literal["text", "tools"]
OFF, TYPES_ONLY = "off", "types"
MOST_CALLS = 100


class GraphScoutConfig(Options):
    """GraphScout's settings."""

    temperature: float = 0.0
    """Temperature of every call; 0, so that runs repeat as far as the model lets them. The paper gives none."""
    mode: Mode = AUTO
    """How node_id_retriever ranks what no name answers to: lexical, dense, hybrid, hybrid:0.6 or rrf; auto is dense
    where the graph has vectors, as in the paper (3.2.2), else lexical."""
    max_calls: int = Field(default=10, ge=1, le=MOST_CALLS)
    """Tool calls, up to 100; a reply without a sound one counts as one. The paper's T, of its quizzer (3.3.3)."""
    tools: Tools = "all"
    """all: both tools; no-code: node_id_retriever alone, the ablation of table 2."""
    calls: Calls = "text"
    """How tools are offered: text, in the words of Qwen's template (B.4.1), which any server takes; tools, by the
    server's own tool calls. What a model writes is read in either form."""
    tier: Choice = "auto"
    """Where code runs: monty, cpython, or auto, the first of them that is installed; docs/sandbox.md."""
    retry_cpython: bool = False
    """Run code again in cpython where monty lacks something that it asks for."""
    view: str = OFF
    """The domain label of the view that names the graph as the paper's graphs are named, such as biomedical; types for
    such a view without a label; off for the graph's own ids and types."""
    directed: tuple[str, ...] = ()
    """Edge types of a view whose arrow keeps its meaning: GENE_REGULATES_GENE, for GRBench's hetionet."""
    context_tokens: int = Field(default=24_000, ge=1)
    """Size of a request; beyond it the oldest observations are left out."""

    _check_mode = field_validator("mode")(checked_mode_or_auto)

    @model_validator(mode="after")
    def _check_view(self) -> Self:
        if not self.view.strip():
            raise BadOption("view is empty: it must be off, types, or a domain label")
        if self.directed and self.view == OFF:
            raise BadOption("directed is for a view: without one every arrow keeps its meaning")
        return self

    @property
    def has_code(self) -> bool:
        """Whether the model may write code."""
        return self.tools == "all"

    @property
    def naming(self) -> View | None:
        """The names that the graph is asked by; None for its own."""
        if self.view == OFF:
            return None
        return View(label=None if self.view == TYPES_ONLY else self.view, directed=self.directed)

    @property
    def code(self) -> CodeConfig:
        """How code is run."""
        return CodeConfig(tier=self.tier, retry_cpython=self.retry_cpython, view=self.naming)
