"""What is done beside the caller's own work: indexing a batch, taking checksums."""

import hashlib

import numpy as np
import pytest

from orienteer.graph.node_indexer import NodeIndexer
from orienteer.graph.publication import Digests
from orienteer.records import Node
from orienteer.text.tokenizer import Tokenizer


class Broken(Tokenizer):
    def words(self, text: str) -> list[str]:
        raise ValueError(text)


def test_what_goes_wrong_while_indexing_is_raised(tmp_path):
    with NodeIndexer(tmp_path, Broken()) as indexer:
        indexer.add(Node("fiancé"))
        with pytest.raises(ValueError, match="fiancé"):
            indexer.finish(np.zeros(1, np.int32), []).result()


def test_a_checksum_is_that_of_the_file_whether_or_not_it_was_asked_for_before(tmp_path):
    files = [tmp_path / name for name in ("a", "b")]
    for file in files:
        file.write_bytes(file.name.encode() * 100_000)
    with Digests() as digests:
        digests.add(files[0])
        found = [digests.of(file) for file in files]
    assert found == [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]


def test_a_file_that_is_gone_is_told_when_its_checksum_is_wanted(tmp_path):
    with Digests() as digests:
        digests.add(tmp_path / "gone")
        with pytest.raises(FileNotFoundError):
            digests.of(tmp_path / "gone")
