"""One chat call to any OpenAI-compatible server, its recorded and scripted twins, budget and usage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orienteer.faces import face

if TYPE_CHECKING:
    from orienteer.llm.budget import Allowance as Allowance
    from orienteer.llm.budget import Budget as Budget
    from orienteer.llm.openai import OpenAIConfig as OpenAIConfig
    from orienteer.llm.openai import OpenAIModel as OpenAIModel
    from orienteer.llm.schema import arguments_of as arguments_of

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "budget": ["Allowance", "Budget"],
        "openai": ["OpenAIConfig", "OpenAIModel"],
        "prices": ["price_of"],
        "replies": ["RecordedModel", "Recording"],
        "schema": ["arguments_of"],
        "scripted": ["ScriptedModel"],
    },
)
