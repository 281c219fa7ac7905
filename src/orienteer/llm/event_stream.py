"""A chat completion that comes as it is written: server-sent events, each a chunk of the message.

Nothing here trusts what a server sends: a line that is no chunk is passed over while the words come, and what the whole
stream comes to is read like any other reply, once it is there.
"""

from __future__ import annotations

import json
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from typing import Any

_DATA = "data:"
_END = "[DONE]"
_TEXTS = ("content", "reasoning_content", "reasoning")


class PartReader:
    """Passes on the words of a reply while its bytes come."""

    def __init__(self, hear: Callable[[str], None]) -> None:
        self._hear = hear
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self.failure: Exception | None = None
        """What `hear` raised: nothing is passed on after it."""

    def feed(self, piece: bytes) -> None:
        """Take some bytes of the stream. What `hear` raises is kept: here it would be taken for a broken connection."""
        if self.failure is not None:
            return
        *lines, self._rest = (self._rest + self._decoder.decode(piece)).split("\n")
        for line in lines:
            for chunk in _chunks(line):
                if text := _words(chunk):
                    try:
                        self._hear(text)
                    except Exception as error:  # noqa: BLE001  # whoever reads the reply raises it
                        self.failure = error
                        return


def is_stream(text: str) -> bool:
    """Tell whether a body is a stream of events: servers that stream nothing answer in one piece."""
    return text.lstrip().startswith((_DATA, ":", "event:"))


def completion_in(text: str) -> dict[str, Any]:  # Any: JSON of the wire, checked where it is read
    """Return the whole completion that a stream comes to, as a server that streams nothing would send it.

    Raises `ValueError` where the stream breaks off.
    """
    whole: dict[str, Any] = {}
    message: dict[str, Any] = {"role": "assistant"}
    choice: dict[str, Any] = {"message": message}
    has_ended = False
    for line in text.split("\n"):
        has_ended = has_ended or line.removeprefix(_DATA).strip() == _END
        for chunk in _chunks(line):
            if "error" in chunk:
                return chunk
            whole |= {name: chunk[name] for name in ("model", "usage") if chunk.get(name) is not None}
            part = _choice(chunk)
            choice |= {"finish_reason": part["finish_reason"]} if part.get("finish_reason") is not None else {}
            for name in _TEXTS:
                if isinstance(words := _delta(chunk).get(name), str):
                    message[name] = message.get(name, "") + words
    if not has_ended and "finish_reason" not in choice:
        raise ValueError("the stream of its reply broke off")
    return {**whole, "choices": [choice]}


def _chunks(line: str) -> Iterator[dict[str, Any]]:
    """Yield the chunk of a line; nothing for one that holds none."""
    if not line.startswith(_DATA):
        return
    try:
        chunk = json.loads(line.removeprefix(_DATA))
    except (ValueError, RecursionError):
        return
    if isinstance(chunk, dict):
        yield chunk


def _choice(chunk: dict[str, Any]) -> dict[str, Any]:
    """Return the first choice of a chunk; the last chunk, of what was used, has none."""
    choices = chunk.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else {}


def _delta(chunk: dict[str, Any]) -> dict[str, Any]:
    delta = _choice(chunk).get("delta")
    return delta if isinstance(delta, dict) else {}


def _words(chunk: dict[str, Any]) -> str:
    words = _delta(chunk).get("content")
    return words if isinstance(words, str) else ""
