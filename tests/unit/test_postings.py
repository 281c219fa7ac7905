"""What is done beside the caller's own work: indexing a batch, taking checksums."""

import hashlib

import numpy as np
import pytest

from fakes.inside import inside
from orienteer.graph import FileDigests, NodeIndexer
from orienteer.index import NameKind, NamesWriter, PostingsWriter
from orienteer.text import Tokenizer


class Broken(Tokenizer):
    def words(self, text: str) -> list[str]:
        raise ValueError(text)


def test_what_goes_wrong_while_indexing_is_raised(tmp_path):
    with NodeIndexer(tmp_path, Broken()) as indexer:
        indexer.add([("fiancé", "fiancé", (), "")])
        with pytest.raises(ValueError, match="fiancé"):
            indexer.finish(np.zeros(1, np.int32), []).result()


TEXTS = [
    *(f"p53 p{n} {n}ms 10 The running straße 東京 n{n % 7}" for n in range(200)),
    "often " * 700,
    "",
    "often " * 255,
]


def written(folder, batches):
    """Index texts and names in batches of (first row, texts); return the files."""
    folder.mkdir()
    names = NamesWriter(Tokenizer())
    with PostingsWriter(folder, Tokenizer()) as writer:
        for first, texts in batches:
            writer.add(first, texts)
            names.add(range(first, first + len(texts)), NameKind.NAME, texts)
        statistics = writer.finish()
    names.finish(folder)
    return statistics, {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.slow
def test_batches_in_any_order_and_of_any_size_give_the_same_files(tmp_path, monkeypatch):
    whole = written(tmp_path / "whole", [(0, TEXTS)])
    for name, size in (("BATCH_BYTES", 2_000), ("_PART_BYTES", 300)):
        monkeypatch.setattr(inside(PostingsWriter), name, size)
    batches = [(first, TEXTS[first : first + 30]) for first in range(0, len(TEXTS), 30)]
    assert written(tmp_path / "batches", batches) == whole
    assert written(tmp_path / "backwards", batches[::-1]) == whole


@pytest.mark.slow
def test_several_threads_give_the_same_files(tmp_path, monkeypatch):
    found = []
    for batch in (len(TEXTS), 7):
        monkeypatch.setattr(inside(NodeIndexer), "_BATCH", batch)
        folder = tmp_path / str(batch)
        folder.mkdir()
        with NodeIndexer(folder, Tokenizer()) as indexer:
            for place, text in enumerate(TEXTS):
                indexer.add([(f"n{place}", f"Pain, {place % 3}", ("an alias",), text)])
            statistics = indexer.finish(np.arange(len(TEXTS), dtype=np.int32), [(0, "an identifier")]).result()
        found.append((statistics, {file.name: file.read_bytes() for file in folder.iterdir()}))
    assert found[0] == found[1]


def test_a_checksum_is_that_of_the_file_whether_or_not_it_was_asked_for_before(tmp_path):
    files = [tmp_path / name for name in ("a", "b")]
    for file in files:
        file.write_bytes(file.name.encode() * 100_000)
    with FileDigests() as digests:
        digests.add(files[0])
        found = [digests.of(file) for file in files]
    assert found == [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]


def test_a_file_that_is_gone_is_told_when_its_checksum_is_wanted(tmp_path):
    with FileDigests() as digests:
        digests.add(tmp_path / "gone")
        with pytest.raises(FileNotFoundError):
            digests.of(tmp_path / "gone")
