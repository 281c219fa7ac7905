"""The papers' tables and figures with results, each made by one command: rows.toml says how."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(__name__, {"rows": "content as reproductions"})
