"""Embedders: a model on this machine, any ONNX file, or a server with `/v1/embeddings`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from orienteer.errors import BadOption

if TYPE_CHECKING:
    from orienteer.llm import OpenAIConfig
    from orienteer.protocols import Embedder

MINILM = "minilm"
SERVED = "openai:"


def open_embedder(name: str, *, config: OpenAIConfig | None = None, threads: int = 1) -> Embedder:
    """Return an embedder by its name: `minilm`, `openai:NAME`, or the path of an ONNX model.

    `config` has the server of `openai:NAME`. Raises `BadOption`, `BadInput`, `MissingExtra`.
    """
    if name == MINILM:
        from orienteer.index.embedders.minilm import minilm

        return minilm(threads=threads)
    if name.startswith(SERVED):
        from orienteer.index.embedders.served import ServedEmbedder

        if name == SERVED:
            raise BadOption(f"{name!r} has no model: write {SERVED}NAME, with the server's name of it")
        return ServedEmbedder(name.removeprefix(SERVED), config)
    if not Path(name).exists():
        raise BadOption(f"no embedder {name!r}: there are {MINILM}, {SERVED}NAME, and the path of an ONNX model")
    from orienteer.index.embedders.local import local

    return local(Path(name), threads=threads)
