"""Vectors by an ONNX model on this machine: tokens in, one vector a token out, their mean the text's.

Mean pooling over the tokens and length 1 are sentence-transformers'. One thread: a second one on a machine that does
other work is slower by an order of magnitude, for they wait for each other. One text at a time: several together take
no less work, and a model in 8 bits, which scales by all that it is given, would give each of them another vector.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from orienteer.errors import BadInput, MissingExtra
from orienteer.records import Usage

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    from orienteer.protocols import Vectors

_CHARACTERS_A_TOKEN = 32  # far more than text has: what is longer than this many for each token need not be read


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a model reads: what sentence-transformers keeps in files beside it."""

    longest: int = 256
    """Tokens of a text that are read, with those that begin and end it. all-MiniLM-L6-v2's."""
    pooling: Literal["mean", "first"] = "mean"
    """The mean of all tokens, or the first one, as BGE's models take."""
    query: str = ""
    """What is put before a query, as E5's models want it."""
    document: str = ""
    """What is put before a text of the graph."""


class OnnxEmbedder:
    """A model and its tokenizer. Safe among threads. Raises `MissingExtra`, and `BadInput` for what is no model."""

    concurrency = 1

    def __init__(
        self,
        name: str,
        model: bytes,
        tokenizer: Tokenizer,
        *,
        reading: Reading | None = None,
        threads: int = 1,
    ) -> None:
        self.name, self.reading = name, reading or Reading()
        self._tokenizer = tokenizer
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self.reading.longest)
        self._session = _session(name, model, threads)
        self._inputs = {one.name for one in self._session.get_inputs()}
        parts = (hashlib.sha256(model).hexdigest(), tokenizer.to_str(), repr(self.reading))
        self.fingerprint = hashlib.sha256("\0".join(parts).encode()).hexdigest()

    @property
    def usage(self) -> Usage:
        """Return nothing spent."""
        return Usage()

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "document"]) -> Vectors:
        """Return a vector of length 1 for each text, of its first tokens."""
        before = self.reading.query if kind == "query" else self.reading.document
        found = [self._run(self._encode(f"{before}{text}").ids) for text in texts]
        return unit(np.stack(found)) if found else np.zeros((0, 0), np.float32)

    def parts(self, text: str) -> tuple[str, ...]:
        """Return a text in parts of as many tokens as the model reads, cut between words where there are any."""
        longest = self.reading.longest * _CHARACTERS_A_TOKEN
        parts: list[str] = []
        while True:
            ahead = text[:longest]
            read = self._encode(f"{self.reading.document}{ahead}")
            end = max((stop for _, stop in read.offsets), default=0) - len(self.reading.document)
            if not read.overflowing and len(ahead) == len(text):
                return (*parts, text) if text.strip() or not parts else tuple(parts)
            if not read.overflowing or end < 1:
                end = len(ahead)
            cut = ahead.rfind(" ", 0, end) + 1
            cut = cut if cut > end // 2 else end
            parts.append(text[:cut].strip())
            text = text[cut:]

    def _encode(self, text: str) -> Any:  # Any: tokenizers has no name for it in its interface
        return self._tokenizer.encode(whole(text))  # one by one: a whole list would take all cores

    def _run(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        """Return the vector of a text's tokens, of which there is one at least."""
        ids = np.array([tokens], np.int64)  # (1, tokens)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        read = {name: value for name, value in given.items() if name in self._inputs}
        found: NDArray[np.float32] = np.asarray(self._session.run(None, read)[0], np.float32)[0]
        if found.ndim == 1:  # the model pools by itself
            return found
        return np.asarray(found[0] if self.reading.pooling == "first" else found.mean(axis=0), np.float32)


def whole(text: str) -> str:
    """Return a text that can be written as UTF-8: a question mark for each half of a character, which is in none."""
    return text.encode(errors="replace").decode()


def unit(vectors: Vectors) -> Vectors:
    """Return vectors of length 1 in the same directions; those of length 0 as they are."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)


def _session(name: str, model: bytes, threads: int) -> InferenceSession:
    # Its wheels for Linux tell their maker what they are used for, unless this is set before they are loaded.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        import onnxruntime
        from onnxruntime.capi import onnxruntime_pybind11_state as state
    except ModuleNotFoundError as error:
        raise MissingExtra("a local embedder", "dense") from error
    onnxruntime.disable_telemetry_events()  # where somebody else has loaded it before
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except (state.Fail, state.InvalidGraph, state.InvalidProtobuf, state.NotImplemented) as error:
        raise BadInput(f"{name} cannot be run as an ONNX model ({str(error)[:200]}): export it again") from error
