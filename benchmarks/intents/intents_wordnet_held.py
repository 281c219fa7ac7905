"""To come."""

from __future__ import annotations

from .intent import Intent

INTENTS: tuple[Intent, ...] = ()
