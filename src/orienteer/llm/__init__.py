"""One chat call to any OpenAI-compatible server, its recorded and scripted twins, budget and usage."""

from orienteer.llm.budget import Allowance, Budget
from orienteer.llm.calls import arguments_of, call
from orienteer.llm.openai import OpenAIConfig, OpenAIModel
from orienteer.llm.prices import Price, price_of
from orienteer.llm.recorded import RecordedModel, Recording
from orienteer.llm.scripted import ScriptedModel

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
    "call",
    "price_of",
]
