"""Vectors by an ONNX model on this machine: the text's vector is the mean of its tokens' vectors.

Mean pooling over the tokens and length 1 are sentence-transformers'. One thread: on a machine that does other work, two
threads wait for each other and are slower by an order of magnitude. One text at a time: a batch takes no less work, and
a model in 8 bits may scale by its whole input, so that a text's vector would depend on the other texts of the batch.
The few short texts of one search are the exception (`embed_together`): one pass over four of them takes half the time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from orienteer.errors import BadInput, MissingExtra
from orienteer.records import Usage

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    from orienteer.protocols import Vectors


_CHARACTERS_A_TOKEN = 32  # far more than text has: characters beyond this many for each token are not read


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenReading:
    """The options of a model's input, from sentence-transformers' files next to the model.

    The name of the class is a part of each embedder's fingerprint: another name would make stored vectors useless.
    """

    longest: int = 256
    """Tokens of a text that are read, the first and last special ones included. all-MiniLM-L6-v2's limit."""
    pooling: Literal["mean", "first"] = "mean"
    """The mean of all tokens' vectors, or the first token's vector, as for BGE's models."""
    query: str = ""
    """The prefix of a query, as for E5's models."""
    document: str = ""
    """The prefix of a text of the graph."""


class OnnxEmbedder:
    """A model and its tokenizer. Safe among threads. Raises `MissingExtra`, and `BadInput` for a broken model."""

    concurrency = 1

    def __init__(
        self,
        name: str,
        model: bytes,
        tokenizer: Tokenizer,
        *,
        reading: TokenReading | None = None,
        threads: int = 1,
    ) -> None:
        self.name, self.reading = name, reading or TokenReading()
        self._tokenizer = tokenizer
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self.reading.longest)
        self._session = _session(name, model, threads)
        self._inputs = {model_input.name for model_input in self._session.get_inputs()}
        is_fixed = any(isinstance(model_input.shape[0], int) for model_input in self._session.get_inputs())
        self._takes_batches = "attention_mask" in self._inputs and not is_fixed
        parts = (hashlib.sha256(model).hexdigest(), tokenizer.to_str(), repr(self.reading))
        self.fingerprint = hashlib.sha256("\0".join(parts).encode()).hexdigest()

    @property
    def usage(self) -> Usage:
        """Return nothing spent."""
        return Usage()

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "document"]) -> Vectors:
        """Return a vector of length 1 for the beginning of each text: (texts, dimension) float32, in their order."""
        before = self.reading.query if kind == "query" else self.reading.document
        vectors = []
        for text in texts:
            ids = np.array([self._encode(f"{before}{text}").ids], np.int64)  # (1, tokens)
            output = self._output(ids, np.ones(ids.shape, np.bool_))[0]
            if output.ndim > 1:  # else the model pools by itself
                output = output[0] if self.reading.pooling == "first" else output.mean(axis=0)
            vectors.append(output)
        return unit(np.stack(vectors)) if vectors else np.zeros((0, 0), np.float32)

    def embed_together(self, queries: Sequence[str]) -> Vectors:
        """Return the vectors of queries, in one pass; last digits may depend on the other texts."""
        if len(queries) < 2 or not self._takes_batches:
            return self.embed(queries, kind="query")
        read = [self._encode(f"{self.reading.query}{query}").ids for query in queries]
        lengths = np.array([len(tokens) for tokens in read])
        mask = np.arange(lengths.max()) < lengths[:, None]  # (queries, tokens)
        ids = np.zeros(mask.shape, np.int64)
        ids[mask] = np.concatenate(read)
        output: NDArray[np.float32] = self._output(ids, mask)
        if output.ndim == 3:
            is_read = mask if self.reading.pooling == "mean" else mask & (np.arange(mask.shape[1]) == 0)
            output = (output * is_read[..., None]).sum(axis=1) / is_read.sum(axis=1, keepdims=True)
        return unit(output)

    def parts(self, text: str) -> tuple[str, ...]:
        """Cut a text into parts that the model reads whole, between words where possible."""
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
        # Texts come one by one: for a list the tokenizer would take all cores.
        return self._tokenizer.encode(without_surrogates(text))

    def _output(self, ids: NDArray[np.int64], mask: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Return the model's output for the marked tokens of texts: (texts, tokens, dimension), or (texts, dimension)
        if it pools by itself. `ids` and `mask` are (texts, tokens)."""
        inputs = {"input_ids": ids, "attention_mask": mask.astype(np.int64), "token_type_ids": np.zeros_like(ids)}
        feed = {name: value for name, value in inputs.items() if name in self._inputs}
        return np.asarray(self._session.run(None, feed)[0], np.float32)


def without_surrogates(text: str) -> str:
    """Return a text without lone surrogates, which UTF-8 lacks: each becomes a question mark."""
    return text.encode(errors="replace").decode()


def unit(vectors: Vectors) -> Vectors:
    """Scale each row of (vectors, dimension) to length 1; rows of zeros stay unchanged."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)


def _session(name: str, model: bytes, threads: int) -> InferenceSession:
    # The wheels for Linux report their use to their vendor, unless this is set before they are loaded.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        import onnxruntime
        from onnxruntime.capi import onnxruntime_pybind11_state as state
    except ModuleNotFoundError as error:
        raise MissingExtra("a local embedder", "dense") from error
    onnxruntime.disable_telemetry_events()  # if other code has loaded it before
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except (state.Fail, state.InvalidGraph, state.InvalidProtobuf, state.NotImplemented) as error:
        raise BadInput(f"{name} cannot be run as an ONNX model ({str(error)[:200]}): export it again") from error


WORDS = "vocabulary.txt"
WORDS_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_LONGEST_WORD = 100  # characters; a longer word is unknown. BERT's own limit


def bert_words() -> tuple[str, ...]:
    """Return the word list that ships with the package. Raises `BadInput` if it has been changed."""
    content = files(__package__).joinpath(WORDS).read_bytes()
    check_hash(content, WORDS_SHA256, what=f"the word list {WORDS}")
    return tuple(content.decode().split("\n")[:-1])


def wordpiece(words: tuple[str, ...]) -> Tokenizer:
    """Return the tokenizer of BERT's uncased models: lower-cased WordPiece (Schuster and Nakajima 2012).

    A word's index is its number. The tokens are those of all-MiniLM-L6-v2's `tokenizer.json`. Raises `MissingExtra`.
    """
    try:
        from tokenizers import AddedToken, Tokenizer
        from tokenizers.models import WordPiece
        from tokenizers.normalizers import BertNormalizer
        from tokenizers.pre_tokenizers import BertPreTokenizer
        from tokenizers.processors import BertProcessing
    except ModuleNotFoundError as error:
        raise MissingExtra("a local embedder", "dense") from error
    numbers = {word: place for place, word in enumerate(words)}
    tokenizer = Tokenizer(WordPiece(numbers, unk_token="[UNK]", max_input_chars_per_word=_LONGEST_WORD))
    tokenizer.add_special_tokens([AddedToken(word, normalized=False, special=True) for word in _SPECIAL])
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", numbers["[SEP]"]), ("[CLS]", numbers["[CLS]"]))
    return tokenizer


def check_hash(content: bytes, sha256: str, *, what: str) -> None:
    """Raise `BadInput` if a file's content has another hash."""
    actual = hashlib.sha256(content).hexdigest()
    if actual != sha256:
        raise BadInput(f"{what} has the sha256 {actual[:16]}..., expected {sha256[:16]}...: install it again")
