"""One chat call to any OpenAI-compatible server, its recorded and scripted twins, budget and usage.

Nothing is loaded before it is used: a search needs a budget, and no model.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orienteer.llm.budget import Allowance, Budget
    from orienteer.llm.openai import OpenAIConfig, OpenAIModel
    from orienteer.llm.prices import price_of
    from orienteer.llm.replies import RecordedModel, Recording
    from orienteer.llm.schema import arguments_of
    from orienteer.llm.scripted import ScriptedModel
    from orienteer.records import Price

__all__ = [
    "Allowance",
    "Budget",
    "OpenAIConfig",
    "OpenAIModel",
    "Price",
    "RecordedModel",
    "Recording",
    "ScriptedModel",
    "arguments_of",
    "price_of",
]

_HOMES = {
    "Allowance": "budget",
    "Budget": "budget",
    "OpenAIConfig": "openai",
    "OpenAIModel": "openai",
    "Price": "prices",
    "RecordedModel": "replies",
    "Recording": "replies",
    "ScriptedModel": "scripted",
    "arguments_of": "schema",
    "price_of": "prices",
}


def __getattr__(name: str) -> Any:  # Any: each name has its own type, above
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
