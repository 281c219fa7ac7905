"""A graph in a database of somebody else's, spoken to over Bolt."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "address": "Address, Login, is_address",
        "server": "Server",
    },
)
