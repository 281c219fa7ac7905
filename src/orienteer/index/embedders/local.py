"""An ONNX model from a path: the file, or a folder by sentence-transformers or optimum.

Its tokenizer is next to it: `tokenizer.json`, or `vocab.txt` of an uncased BERT. sentence-transformers' files about
pooling, length and prompts are respected.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orienteer.errors import BadInput, MissingExtra
from orienteer.index.embedders.onnx import OnnxEmbedder, TokenReading, wordpiece

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_MODELS = ("model.onnx", "onnx/model.onnx")
_LONGEST = 512  # BERT's limit, in tokens: the default for models without a file about it


def local(path: Path, *, threads: int = 1) -> OnnxEmbedder:
    """Return the embedder of a file or a folder. Raises `BadInput` if a file is missing, `MissingExtra`."""
    file = path
    if path.is_dir():
        models = [path / name for name in _MODELS if (path / name).is_file()]
        if not models:
            raise BadInput(f"{path} has no {' and no '.join(_MODELS)}: give the ONNX file itself", paths=[path])
        file = models[0]
    if not file.is_file():
        message = f"{path} does not exist: give an ONNX file, or the folder with it and its tokenizer"
        raise BadInput(message, paths=[path])
    folder = file.parent.parent if file.parent.name == "onnx" else file.parent
    tokenizer = _tokenizer(folder)
    prompts = _json(folder / "config_sentence_transformers.json").get("prompts") or {}
    is_first = bool(_json(folder / "1_Pooling" / "config.json").get("pooling_mode_cls_token"))
    reading = TokenReading(
        longest=int(_json(folder / "sentence_bert_config.json").get("max_seq_length") or _LONGEST),
        pooling="first" if is_first else "mean",
        query=str(prompts.get("query") or ""),
        document=str(prompts.get("document") or prompts.get("passage") or ""),
    )
    return OnnxEmbedder(str(path.resolve()), file.read_bytes(), tokenizer, reading=reading, threads=threads)


def _tokenizer(folder: Path) -> Tokenizer:
    if (folder / "tokenizer.json").is_file():
        try:
            from tokenizers import Tokenizer
        except ModuleNotFoundError as error:
            raise MissingExtra("a local embedder", "dense") from error
        return Tokenizer.from_str((folder / "tokenizer.json").read_text(encoding="utf-8"))
    if (folder / "vocab.txt").is_file():
        words = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
        return wordpiece(tuple(words[:-1] if not words[-1] else words))
    raise BadInput(f"{folder} has no tokenizer.json and no vocab.txt: add the model's tokenizer", paths=[folder])


def _json(file: Path) -> dict[str, Any]:  # Any: JSON
    if not file.is_file():
        return {}
    try:
        content = json.loads(file.read_bytes())
    except ValueError as error:
        raise BadInput(f"{file} is not valid JSON ({error}): download it again", paths=[file]) from error
    return content if isinstance(content, dict) else {}
