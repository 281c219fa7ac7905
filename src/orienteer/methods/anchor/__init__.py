"""`anchor`, the method that needs no model."""

from orienteer.methods.anchor.config import AnchorConfig
from orienteer.methods.anchor.method import Anchor

__all__ = ["Anchor", "AnchorConfig"]
