"""An embedder whose vectors are known by hand."""

from __future__ import annotations

import hashlib

import numpy as np

from orienteer.records import Usage


class Bag:
    """Embeds a text as its bag of words, hashed: texts with words in common are alike, by a cosine known by hand."""

    name, fingerprint, concurrency, usage = "bag", "bag-1", 1, Usage()
    wide = 512

    def embed(self, texts, *, kind):
        vectors = np.zeros((len(texts), self.wide), np.float32)
        for row, text in enumerate(texts):
            for word in text.casefold().replace("|", " ").replace(";", " ").split():
                vectors[row, int(hashlib.md5(word.strip(".,:()").encode()).hexdigest(), 16) % self.wide] += 1
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)

    def parts(self, text):
        return (text,)
