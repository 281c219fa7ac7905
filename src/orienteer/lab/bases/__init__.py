"""Retrievers of knowledge bases that papers compare with."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "bipartite": (
            "added as added_scores, EdgesAsFacts, FLOOR as FUSION_FLOOR, fused as fused_rows, LEAST_FIT, "
            "NamesInPassages, searched as searched_rows, shares as score_shares, SparseScores, "
            "TRUST as FUSION_TRUST"
        ),
        "communities": (
            "ABOUT as COMMUNITIES_ABOUT, Csr, find_communities, LARGEST as LARGEST_COMMUNITY, leiden, "
            "open_communities, PIECE as COMMUNITIES_PIECE"
        ),
        "flow": "around as edges_around_seeds, ways as flow_paths",
        "hyper": "Hyper, HyperConfig",
        "mini": "Mini, MiniConfig",
        "msgraph": "MsGraph, MsGraphConfig",
        "path": "Paths, PathsConfig",
    },
)
