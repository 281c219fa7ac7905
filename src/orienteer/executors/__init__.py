"""Many independent pieces of work at once: in threads, or on the nodes of a cluster."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "executor": "Job, Worker",
        "threads": "Threads",
    },
)
