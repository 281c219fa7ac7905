"""The settings of `anchor`. Scores are in units of BM25's idf, so one set of constants serves graphs of any size."""

from __future__ import annotations

from pydantic import Field

from orienteer.options import Options


class AnchorConfig(Options):
    """What may be set; the defaults were measured (docs/anchor.md)."""

    most_hops: int = Field(default=3, ge=1)
    """Edges between an anchor and an answer, where the question names the types between."""
    most_nodes_a_phrase: int = Field(default=25, ge=1)
    """A phrase that names more nodes than this names none."""
    connection_weight: float = 1.0
    """Weight of being connected to the anchors."""
    joint_weight: float = 2.5
    """The same where some node of the wanted type is connected to two anchors or more."""
    type_weight: float = 0.4
    """Weight of being of the wanted type, in shares of the question's whole idf."""
    count_weight: float = 0.1
    """Weight of how many nodes lead to a hit."""
    prior_weight: float = Field(default=1.0, ge=0)
    """Weight of a node's edges where no text of the wanted type tells; in shares of the question's whole idf."""
    meaning_weight: float = Field(default=0.3, ge=0)
    """Weight of nearness in meaning where the graph has vectors, in the same shares; with 0 they are not read."""
    spelling: bool = True
    """Correct words that no node has, where a name is spelled nearly so."""
