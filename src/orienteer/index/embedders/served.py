"""Vectors from a server with OpenAI's `/v1/embeddings`. Its token counts are recorded.

Every text is sent to the server and may cost money: no server is asked unless a person has named it.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from orienteer.errors import ModelError
from orienteer.index.embedders.onnx import unit, without_surrogates
from orienteer.llm.openai import OpenAIConfig, Server
from orienteer.llm.wire import plausible
from orienteer.protocols import Embedded
from orienteer.records import Usage

if TYPE_CHECKING:
    from orienteer.protocols import Vectors

LONGEST = 8_000  # characters of a text that are sent: below 8,191 tokens, OpenAI's limit, in any script
BATCH = 64  # texts in a request: fewer requests against a smaller loss when one fails
_SHORT = 300  # characters of a server's reply that an error quotes


class ServedEmbedder:
    """A model behind a server; safe among threads. Texts are sent up to their 8,000th character."""

    def __init__(self, model: str, config: OpenAIConfig | None = None) -> None:
        self.name, self._model = f"openai:{model}", model
        self.config = config if config is not None else OpenAIConfig()
        self._server = Server(model, self.config)
        self.base_url = self._server.url
        self.fingerprint = hashlib.sha256(f"{self.base_url}\0{model}\0{LONGEST}".encode()).hexdigest()
        self.concurrency = self.config.concurrency
        self.price = self._server.price
        """What the model costs, or None if that is not known."""
        self._lock = threading.Lock()
        self._usage = Usage()

    @property
    def usage(self) -> Usage:
        """Return the cost of all calls so far."""
        with self._lock:
            return self._usage

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "document"]) -> Vectors:
        """Return a vector of length 1 for each text. Raises `ModelError`."""
        return self.embed_metered(texts, kind=kind).vectors

    def embed_metered(
        self, texts: Sequence[str], *, kind: Literal["query", "document"], seconds: float | None = None
    ) -> Embedded:
        """Return a vector of length 1 for each text, and their cost. Raises `ModelError`, `ModelLate`."""
        from orienteer.llm.transport import time_limit

        with time_limit(seconds):
            batches = [self._ask(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]
        if not batches:
            return Embedded(np.zeros((0, 0), np.float32), Usage())
        if len({batch.vectors.shape[1] for batch in batches}) > 1:
            raise ModelError(f"{self.base_url} gave vectors of several dimensions for {self._model!r}")
        vectors = unit(np.concatenate([batch.vectors for batch in batches]))
        return Embedded(vectors, sum((batch.usage for batch in batches), Usage()))

    def parts(self, text: str) -> tuple[str, ...]:
        """Cut a text into parts that are sent whole, between words where possible."""
        parts: list[str] = []
        while len(text) > LONGEST:
            cut = text.rfind(" ", LONGEST // 2, LONGEST) + 1 or LONGEST
            parts.append(text[:cut].strip())
            text = text[cut:]
        return (*parts, text) if text.strip() or not parts else tuple(parts)

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self._server.close()

    def _ask(self, texts: Sequence[str]) -> Embedded:
        # An empty text is refused by OpenAI; a space is the nearest thing to it that is not.
        sent = [without_surrogates(text[:LONGEST]) or " " for text in texts]
        started = time.monotonic()
        body = {"model": self._model, "input": sent, "encoding_format": "float"}
        reply = self._server.post("embeddings", body)
        if not reply.is_success:
            raise self._server.failure(reply, offers="embeddings")
        vectors, tokens = self._read(reply.text, len(texts))
        seconds, price = time.monotonic() - started, self.price if tokens is not None else None
        usd = None if price is None else price.usd(prompt_tokens=tokens or 0, cached_tokens=0, completion_tokens=0)
        spent = Usage(calls=1, prompt_tokens=tokens or 0, seconds=seconds, usd=usd)
        with self._lock:
            self._usage += spent
        return Embedded(vectors, spent)

    def _read(self, body: str, count: int) -> tuple[Vectors, int | None]:
        """Return the vectors of a reply, in the order of the texts, and the tokens that the server counted."""
        try:
            reply: dict[str, Any] = json.loads(body)  # Any: JSON
            rows = sorted(reply["data"], key=lambda row: int(row["index"]))
            with np.errstate(over="raise"):
                vectors = np.array([row["embedding"] for row in rows], np.float32)
            if not np.isfinite(vectors).all():
                raise ValueError("not a number")
            tokens = plausible((reply.get("usage") or {}).get("prompt_tokens"))
        except (ValueError, ArithmeticError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ModelError(
                f"{self.base_url} did not answer with a list of embeddings: {body[:_SHORT]!r}. "
                "Is the base URL right? It usually ends in /v1."
            ) from error
        if vectors.ndim != 2 or len(vectors) != count or not vectors.size:
            raise ModelError(f"{self.base_url} gave vectors of the shape {vectors.shape} for {count} texts")
        return vectors, tokens
