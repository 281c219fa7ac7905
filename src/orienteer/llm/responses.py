"""OpenAI's responses, for servers that have no chat completions: a request and a reply, translated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Body: TypeAlias = dict[str, Any]  # Any: JSON of the wire, checked where it is read

_SAME = ("model", "temperature", "top_p", "tool_choice", "stream")


def response_body(chat: Mapping[str, Any]) -> Body:  # Any: as above
    """Return the body of a chat completion as that of a response that the server does not keep.

    What responses do not have, as a seed, is left out.
    """
    body: Body = {"store": False, "input": [item for message in chat["messages"] for item in _items(message)]}
    body |= {name: chat[name] for name in _SAME if name in chat}
    if (limit := chat.get("max_tokens", chat.get("max_completion_tokens"))) is not None:
        body["max_output_tokens"] = limit
    if "tools" in chat:
        body["tools"] = [{"type": "function", "strict": False, **tool["function"]} for tool in chat["tools"]]
    if "response_format" in chat:
        body["text"] = {"format": {"type": "json_schema", "strict": False, **chat["response_format"]["json_schema"]}}
    return body


def completion_of(response: Mapping[str, Any]) -> Body:  # Any: as above
    """Return a response in the form of a chat completion. Raises `ValueError` if the server failed."""
    if response.get("status") == "failed":
        raise ValueError(f"the response failed; {response.get('error')}")
    output = response["output"]
    items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
    parts: list[object] = []
    for item in items:
        for held in (item.get("summary"), item.get("content")):
            parts += held if isinstance(held, list) else []
    message: Body = {
        "content": parts,
        "tool_calls": [{**item, "id": item.get("call_id")} for item in items if item.get("type") == "function_call"],
    }
    why, usage = response.get("incomplete_details"), response.get("usage")
    used = usage if isinstance(usage, dict) else {}
    return {
        "model": response.get("model"),
        "choices": [{"message": message, "finish_reason": why.get("reason") if isinstance(why, dict) else "stop"}],
        "usage": {
            "prompt_tokens": used.get("input_tokens"),
            "completion_tokens": used.get("output_tokens"),
            "prompt_tokens_details": used.get("input_tokens_details"),
        },
    }


def _items(message: Mapping[str, Any]) -> Iterator[Body]:  # Any: as above
    if message["role"] == "tool":
        yield {"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}
        return
    if message["content"]:
        yield {"role": message["role"], "content": message["content"]}
    for call in message.get("tool_calls", ()):
        yield {"type": "function_call", "call_id": call["id"], **call["function"]}
