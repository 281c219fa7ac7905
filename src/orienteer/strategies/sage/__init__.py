"""SAGE (paper 004): seeds by any method, their neighbours one edge away, pruned. The way in is `Sage`."""

from __future__ import annotations

from orienteer.strategies.sage.config import SageConfig
from orienteer.strategies.sage.method import Sage

__all__ = ["Sage", "SageConfig"]
