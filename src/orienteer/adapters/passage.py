"""A hit as the text that a framework hands to its model."""

from __future__ import annotations

from orienteer.display import clean
from orienteer.records import Ranked


def passage(hit: Ranked) -> str:
    """Return name and type of a hit, why it is there, and the best of its text, a line each."""
    return clean("\n".join(filter(None, (f"{hit.name} ({hit.type})", hit.why, hit.text))))
