"""No questions over the invented world of railways: all of its questions are held."""

from __future__ import annotations

from .intent import Intent

INTENTS: tuple[Intent, ...] = ()
