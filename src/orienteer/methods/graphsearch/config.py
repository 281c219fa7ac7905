"""The options of GraphSearch: which form, which channels over which sources, which modules, and how much of each."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, TypeAlias, get_args

from orienteer.errors import BadOption
from orienteer.index.searchers import Mode, ranking_of
from orienteer.retrieval.query import AUTO, Part
from orienteer.tools.arguments import LARGEST_K

Channel: TypeAlias = Literal["semantic", "relational"]
Channels: TypeAlias = Literal["both", "semantic", "relational"]
CHANNELS: tuple[Channel, ...] = get_args(Channel)
_SOURCES: tuple[Part, ...] = ("text", "graph")
_COUNTS = ("rounds", "sub_queries", "new_queries")
"""Options that may be 100 at the most: a sub-query takes threads and calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSearchConfig:
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
    rounds: int = 2
    """Rounds of expansion at the most, each verified again; the paper states no number."""
    sub_queries: int = 8
    """Sub-queries of a decomposition at the most; the number is ours."""
    new_queries: int = 4
    """Sub-queries of one expansion at the most; the number is ours."""
    passages: int = 30
    """What the retriever is asked for by each sub-query: Top-K; section 4.1, varied from 10 to 50 in figure 6a."""
    evidence_tokens: int = 12_000
    """Size of the evidence that one sub-query reads: 30 passages of 400 tokens."""
    history_tokens: int = 24_000
    """Size of all sub-queries' contexts in one prompt; beyond it each is cut to its share."""
    temperature: float = 0.0
    """Temperature of every call; 0, so that runs repeat as far as the model lets them."""
    mode: Mode = AUTO
    """How texts are ranked: lexical, dense, hybrid, hybrid:WEIGHT, rrf; auto is hybrid where there are vectors. A
    retriever that is named, as in `graphsearch:light`, keeps its own."""

    def __post_init__(self) -> None:
        self._check_channels()
        if self.mode != AUTO:
            ranking_of(self.mode)
        for one in fields(self):
            value, most = getattr(self, one.name), LARGEST_K if one.name in _COUNTS else None
            if type(value) is int and (value < 1 or (most and value > most)):
                raise BadOption(f"{one.name} is {value}: it must be 1 {f'to {most}' if most else 'or more'}")

    def _check_channels(self) -> None:
        known = {"channels": Channels, "semantic_source": Part, "relational_source": Part}
        for name, options in known.items():
            if (value := getattr(self, name)) not in get_args(options):
                raise BadOption(f"{name} is {value!r}: it must be one of {', '.join(get_args(options))}")
        for channel, own in zip(CHANNELS, _SOURCES, strict=True):
            if channel not in self.searched and (source := self.source(channel)) != own:
                raise BadOption(
                    f"{channel}_source is {source!r} and channels is {self.channels!r}: nothing reads that source; "
                    "leave one of the two out"
                )

    @property
    def searched(self) -> tuple[Channel, ...]:
        """Return the channels that are searched."""
        return tuple(one for one in CHANNELS if self.channels in (one, "both"))

    def source(self, channel: Channel) -> Part:
        """Return what a channel reads of the evidence."""
        return self.semantic_source if channel == "semantic" else self.relational_source
