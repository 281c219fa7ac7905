"""An embedder that needs no model: a word is a fixed random direction, a text the sum of its words'."""

import hashlib
import re
import threading

import numpy as np

from orienteer.graph import Graph, embed_graph
from orienteer.index import unit_rows
from orienteer.records import Usage

WORDS_READ = 40


class WordEmbedder:
    """Texts that share words are near. It reads 40 words, and counts what it is asked."""

    name = "words"
    fingerprint = "words-1"

    def __init__(self, *, dimension: int = 48, concurrency: int = 1) -> None:
        self.dimension, self.concurrency = dimension, concurrency
        self.embedded: list[str] = []
        self._lock = threading.Lock()

    @property
    def usage(self) -> Usage:
        return Usage()

    def embed(self, texts, *, kind):
        with self._lock:
            self.embedded += [text for text in texts if kind == "document"]
        vectors = [sum((self._direction(word) for word in _words(text)), np.zeros(self.dimension)) for text in texts]
        return unit_rows(np.array(vectors, np.float32).reshape(-1, self.dimension))

    def parts(self, text):
        words = text.split()
        return tuple(" ".join(words[at : at + WORDS_READ]) for at in range(0, len(words), WORDS_READ)) or (text,)

    def _direction(self, word):
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little")
        return np.random.default_rng(seed).standard_normal(self.dimension)


def _words(text):
    return re.findall(r"\w+", text.casefold())[:WORDS_READ] or ["?"]


def embedded(graph: Graph, cache, *, is_parts: bool = False) -> Graph:
    """Embed a graph, and return it opened with the embedder of its queries."""
    embed_graph(graph, WordEmbedder(), cache=cache, is_parts=is_parts)
    return Graph.open(graph.path, embedder=lambda name: {"words": WordEmbedder()}[name])
