"""The options of SAGE, and how many of a result's places its seeds take."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from orienteer.index.searchers import WEIGHT
from orienteer.options import Options

PAPER_WEIGHT = 0.6
"""BM25's share of the hybrid score. SAGE, appendix E."""
TOTALS = (2, 5, 10, 20, 40, 50, 80, 100)
"""Sizes of results for which the authors' code says how many seeds there are: always half, rounded down."""
NAME_EDGES = frozenset({"mentions", "shares_names"})
"""Edge types of a chunk graph that the paper does not have."""


def seeds_of(total: int) -> int:
    """Return how many of so many places are the seeds': half, rounded down, and one at the least."""
    return max(1, total // 2)


class SageConfig(Options):
    """Where seeds come from, which neighbours stay, and in what order."""

    seeds: str = "auto"
    """The method that finds the seeds: hybrid, any other, or auto: spark on a graph with a schema where there is a
    model, else hybrid."""
    policy: Literal["-edge", "+edge", "none"] = "-edge"
    """When to expand: not where the seeds' own search named an edge (-edge), always (+edge; both SAGE, section 3.2), or
    never (none): the Extended Baseline, as many nodes by the seeds' method alone."""
    pruning: Literal["weighed", "hybrid"] = "weighed"
    """Neighbours by hybrid score and the weight of the edges that lead there, or by hybrid score alone (the paper)."""
    order: Literal["splits", "seeds", "joint"] = "splits"
    """Order of the union: each beginning of 2, 5, 10, 20, 50 the result of that size (splits); seeds first, as in the
    authors' code; or both in one list by score (joint)."""
    edge_types: tuple[str, ...] = ()
    """Walk edges of these edge types only."""
    weight: float = Field(default=WEIGHT, ge=0, le=1)
    """BM25's share of the hybrid score; the rest is the vectors'. SAGE's is 0.6 (appendix E)."""
    sharpness: float = Field(default=4.0, ge=0, le=64)
    """Power of a seed's score in what its edges bring: the higher, the more the best seeds have to say."""
    trust: float | None = Field(default=None, ge=0, le=64)
    """Power of the edges' weight in a neighbour's score; 0 leaves the hybrid score. None: 0.3 in a graph of documents,
    1 elsewhere, where a node is little more than a name and what counts is the edge."""
    titles: float | None = Field(default=None, ge=0, le=1)
    """Bonus of a node whose title stands in the question when seeds are chosen, as a share of the best score. None: 0.2
    in a graph of documents, 0 elsewhere."""
    rows: float = Field(default=10.0, ge=0, le=64)
    """How much more a mention counts for the row of a table it stands in: times 1 + rows * (0.1 + the share of the
    question that the row holds)."""
    backwards: float = Field(default=0.5, ge=0, le=1)
    """What a mention or a hyperlink counts for, walked from what is mentioned to what mentions it."""
    unweighted: float = Field(default=0.2, ge=0, le=1)
    """What an edge of a type without weights counts for beside the strongest of a type with weights."""
    similar: float = Field(default=0.01, ge=0, le=1)
    """What the strongest edge of similarity counts for beside the strongest of another type: what is alike in meaning
    is near the question already, so that at 1 these edges drown those of names."""
    faithful: bool = False
    """The paper's recipe and nothing else: 0.6 BM25, no edges of names, pruned and ordered by hybrid score alone."""

    def settled(self) -> SageConfig:
        """Return what counts: under `faithful` the paper's values, whatever else is set."""
        if not self.faithful:
            return self
        return self.model_copy(update={"weight": PAPER_WEIGHT, "titles": 0.0, "pruning": "hybrid", "order": "joint"})
