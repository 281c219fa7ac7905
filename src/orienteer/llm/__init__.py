"""One chat call to any OpenAI-compatible server, its recorded and scripted twins, budget and usage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orienteer.faces import face

if TYPE_CHECKING:
    from orienteer.llm.budget import Allowance as Allowance, Budget as Budget
    from orienteer.llm.openai import OpenAIConfig as OpenAIConfig, OpenAIModel as OpenAIModel
    from orienteer.llm.replies import ScriptedModel as ScriptedModel
    from orienteer.llm.schema import arguments_of as arguments_of, tool_of as tool_of

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "abilities": "Abilities, keep as keep_abilities, recall as recall_abilities",
        "address": "is_address as is_model_address, show as shown_address",
        "budget": "Allowance, Budget, price_of",
        "conversation": "ask as ask_model, Conversation, ELISION, MOST_CALLS, prompt_of, prompts_of",
        "forms": "object_in, read_spoken",
        "local": (
            "card_of as card_of_file, ENGINES, LocalModel, read_card as read_model_card, "
            "read_head as read_gguf_head, threads as engine_threads"
        ),
        "openai": "OpenAIConfig, OpenAIModel",
        "probe": "Probe",
        "replies": "ChatRequest, RecordedModel, Recording, ReplyFile, ScriptedModel",
        "schema": (
            "GRAMMAR, arguments_of, decode as decode_json, faults as schema_faults, read_value, tool_of, "
            "without_turn_end"
        ),
        "spoken": (
            "after_thinking, as_calls as spoken_as_calls, call_schema, calls_schema, "
            "in_words as calls_in_words, number_of_calls"
        ),
        "transport": "LARGEST_REPLY",
        "wire": "body_of, completion_in, is_stream, PartReader",
    },
)
