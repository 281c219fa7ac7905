"""The options of GraphSearch: which form, which channels over which sources, which modules, and how much of each."""

from __future__ import annotations

from typing import Literal, Self, TypeAlias, get_args

from pydantic import Field, field_validator, model_validator

from orienteer.errors import BadOption
from orienteer.index.searchers import Mode
from orienteer.options import Options
from orienteer.retrieval.query import AUTO, Part, checked_mode_or_auto
from orienteer.tools.parameters import LARGEST_K

Channel: TypeAlias = Literal["semantic", "relational"]
Channels: TypeAlias = Literal["both", "semantic", "relational"]
CHANNELS: tuple[Channel, ...] = get_args(Channel)
_SOURCES: tuple[Part, ...] = ("text", "graph")
_PAPER_TOP_K = 30  # GraphSearch, section 4.1
_LEAN_TOP_K = 10
"""A strong model that read 30 used no passage beyond the tenth but for 1 of 47. Of the gold passages of MuSiQue's steps
10 hold 95.7 %, 30 hold 98.8 %; any stop where scores drop loses more (`benchmarks/graphsearch.py`)."""


class GraphSearchConfig(Options):
    """GraphSearch's settings, the paper's values where it gives them."""

    faithful: bool = False
    """The paper's modules, templates and order, without what makes the lean form cheaper; GraphSearch, section 3."""
    channels: Channels = "both"
    """Both channels, or one alone: semantic (sub-queries in words) or relational (triples); figure 5."""
    semantic_source: Part = _SOURCES[0]
    """What semantic sub-queries read of the evidence: text (passages), graph (all else), or all; figure 7."""
    relational_source: Part = _SOURCES[1]
    """What relational sub-queries read of the evidence: text, graph, or all; figure 7."""
    decomposition: bool = True
    """Query decomposition; without it the question is the only sub-query, and no sub-answer is asked for; table 3."""
    refinement: bool = True
    """Context refinement; without it the evidence stands as it was gathered; table 3."""
    grounding: bool = True
    """Query grounding; without it sub-queries are asked for without placeholders and run at once; table 3."""
    drafting: bool = True
    """Logic drafting; table 3."""
    verification: bool = True
    """Evidence verification; without it nothing is rejected; table 3."""
    expansion: bool = True
    """Query expansion on Reject; without it the verdict is recorded and nothing comes of it; table 3."""
    rounds: int = Field(default=2, ge=1, le=LARGEST_K)
    """Rounds of expansion at the most, each verified again; the paper states no number."""
    sub_queries: int = Field(default=8, ge=1, le=LARGEST_K)
    """Sub-queries of a decomposition at the most; the number is ours."""
    new_queries: int = Field(default=4, ge=1, le=LARGEST_K)
    """Sub-queries of one expansion at the most; the number is ours."""
    passages: int | None = Field(default=None, ge=1)
    """Passages that each sub-query reads, Top-K: 30 in the paper's form (section 4.1; 10 to 50 in figure 6a), 10 in the
    lean one, where it is not set."""
    evidence_tokens: int = Field(default=12_000, ge=1)
    """Size of the evidence that one sub-query reads of a channel: 30 passages of 400 tokens."""
    history_tokens: int = Field(default=24_000, ge=1)
    """Size of all sub-queries' contexts in one prompt; beyond it each is cut to its share."""
    temperature: float = 0.0
    """Temperature of every call; 0, so that runs repeat as far as the model lets them."""
    mode: Mode = AUTO
    """How texts are ranked: lexical, dense, hybrid, hybrid:WEIGHT, rrf; auto is hybrid where there are vectors. A
    retriever that is named, as in `graphsearch:light`, keeps its own."""

    _check_mode = field_validator("mode")(checked_mode_or_auto)

    @model_validator(mode="after")
    def _check_channels(self) -> Self:
        for channel, own in zip(CHANNELS, _SOURCES, strict=True):
            if channel not in self.searched and (source := self.source(channel)) != own:
                raise BadOption(
                    f"{channel}_source is {source!r} and channels is {self.channels!r}: nothing reads that source; "
                    "leave one of the two out"
                )
        return self

    @property
    def searched(self) -> tuple[Channel, ...]:
        """Return the channels that are searched."""
        return tuple(channel for channel in CHANNELS if self.channels in (channel, "both"))

    @property
    def top_k(self) -> int:
        """Return how many passages each sub-query reads."""
        return self.passages or (_PAPER_TOP_K if self.faithful else _LEAN_TOP_K)

    def source(self, channel: Channel) -> Part:
        """Return what a channel reads of the evidence."""
        return self.semantic_source if channel == "semantic" else self.relational_source
