"""Retrievers of knowledge bases that papers compare with."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "hyper": "Hyper, HyperConfig",
        "mini": "Mini, MiniConfig",
        "msgraph": "MsGraph, MsGraphConfig",
        "path": "Paths, PathsConfig",
    },
)
