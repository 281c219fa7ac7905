"""`anchor`, the method that needs no model."""

from orienteer.strategies.anchor.config import AnchorConfig
from orienteer.strategies.anchor.strategy import Anchor

__all__ = ["Anchor", "AnchorConfig"]
