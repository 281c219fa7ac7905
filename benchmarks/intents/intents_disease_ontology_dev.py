"""No questions of disease_ontology: all of them are kept from whoever builds the reader."""

from __future__ import annotations

from .intent import Intent

INTENTS: tuple[Intent, ...] = ()
