"""The commands of the lab."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "quiz": "questions as questions_command",
    },
)
