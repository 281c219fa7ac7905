"""HyperGraphRAG's corpora: `DOMAIN_contexts.json`, a list of long texts without titles (Medicine is `hypertension`)."""

from __future__ import annotations

import re
from pathlib import Path

from orienteer.errors import BadInput
from orienteer.ingest.formats.files import stem, whole_json
from orienteer.ingest.tables.plan import listing

STEM = "_contexts"
FIRST = re.compile(rb'\s*\[\s*"')
"""How such a file begins; any other of this name is none."""
PEEKED_BYTES = 256


def recognize(source: Path) -> Path | None:
    """Return the one file of texts: the source itself, or the one in the folder; None without one.

    Raises `BadInput` where several lie in a folder: each is a domain of its own.
    """
    files = [path for path in listing(source) if path.is_file() and _holds_texts(path)]
    if len(files) > 1:
        raise BadInput(f"{source} holds several corpora ({', '.join(path.name for path in files)}): name one of them")
    return files[0] if files else None


def _holds_texts(path: Path) -> bool:
    if path.suffix != ".json" or not stem(path).endswith(STEM):
        return False
    with path.open("rb") as raw:
        return FIRST.match(raw.read(PEEKED_BYTES)) is not None


def texts(file: Path) -> list[str]:
    """Return the texts of a file, those that are empty left in place. Raises `BadInput`."""
    read = whole_json(file)
    if not isinstance(read, list) or not all(isinstance(text, str) for text in read):
        raise BadInput(f"{file} is no list of texts: a corpus of passages with titles is called NAME_corpus.json")
    return read
