"""The text of a hit that a framework gives its model."""

from __future__ import annotations

from orienteer.display import clean
from orienteer.records import Ranked


def passage(hit: Ranked) -> str:
    """Return name and type of a hit, its reason, and the best part of its text, a line each."""
    return clean("\n".join(filter(None, (f"{hit.name} ({hit.type})", hit.why, hit.text))))
