"""SAGE (paper 004): seeds by any method, their neighbours one edge away, pruned. The way in is `Sage`."""

from __future__ import annotations

from orienteer.methods.sage.config import SageConfig
from orienteer.methods.sage.method import Sage

__all__ = ["Sage", "SageConfig"]
