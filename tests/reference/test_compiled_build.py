"""The compiled build and the numpy build of one input publish the same bytes, file by file."""

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from orienteer.graph import node_indexer
from orienteer.graph.builder import EdgeBatch, GraphBuilder
from orienteer.graph.format import read_manifest, read_pointer
from orienteer.index import kernels, postings, words
from orienteer.index.compiled import postings as compiled  # numba may be absent
from orienteer.index.names import NameKind, NamesWriter
from orienteer.index.postings import PostingsWriter
from orienteer.records import Node
from orienteer.text.tokenizer import Tokenizer

TOKENIZER = Tokenizer()
ANY_TEXT = st.text(st.characters(codec=None), max_size=60)
PLAIN = st.text("aBcé東京 -_10ms p53\n", max_size=80)
TEXTS = st.lists(st.one_of(ANY_TEXT, PLAIN, st.just("x" * 70 + " y")), max_size=8)
SCRIPTS = (
    "abcdefghijklmnopqrstuvwxyz" * 3
    + "ABCXYZ0123456789" * 2
    + "éßñçøşİıΣσςжЖשגحي東京大学日本語カタカナ한국어ﬁ①²Ⅷ\u0301\u200d\ud800😀"
)


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def indexed(folder: Path, batches, loops) -> tuple[dict[str, bytes], dict[str, float]]:
    folder.mkdir()
    with PostingsWriter(folder, TOKENIZER, kernels=loops) as writer:
        for batch in batches:
            writer.add(batch)
        statistics = writer.finish()
    return files(folder), statistics


def text_of(rng: random.Random) -> str:
    """Return a text of any length in any of many scripts, mixed and apart, with words that repeat."""
    letters = SCRIPTS if rng.random() < 0.5 else SCRIPTS[:110]
    known = ["".join(rng.choices(letters, k=rng.choice((1, 2, 5, 8, 9, 16, 17, 40)))) for _ in range(30)]
    return rng.choice(" \n-.,").join(rng.choices([*known, "10ms", "p53", "The", "running"], k=rng.randrange(200)))


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_words_hashes_and_numbers_are_the_same(texts):
    expected, found = words.split(texts, TOKENIZER), words.split(texts, TOKENIZER, kernels=compiled)
    assert found.hashes.tolist() == expected.hashes.tolist()
    assert found.firsts.tolist() == expected.firsts.tolist()
    assert [found.word(at) for at in range(len(found.hashes))] == [expected.word(at) for at in range(len(found.hashes))]


def test_a_vocabulary_numbers_words_as_they_come_and_finds_them_again_however_large_it_grows():
    rng = np.random.default_rng(1)
    table = words.Vocabulary(compiled)
    seen: dict[int, int] = {}
    for size in (10, 0, 50_000, 200_000, 3):
        hashes = rng.integers(1, 300_000, size).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        numbers, new = table.number(hashes)
        firsts = [at for at, value in enumerate(hashes.tolist()) if seen.setdefault(value, len(seen)) == len(seen) - 1]
        assert new.tolist() == sorted({hashes[at]: at for at in reversed(firsts)}.values())
        assert numbers.tolist() == [seen[value] for value in hashes.tolist()]
        assert table.find(hashes).tolist() == numbers.tolist()
    assert len(table) == len(seen)
    assert table.find(np.array([5], np.uint64)).tolist() == [-1]


@pytest.mark.parametrize("seed", range(4))
def test_texts_in_many_scripts_give_the_same_index(tmp_path, monkeypatch, seed):
    monkeypatch.setattr(postings, "BATCH_BYTES", 20_000)  # several batches
    rng = random.Random(seed)
    batches = [[text_of(rng) for _ in range(rng.randrange(60))] for _ in range(8)]
    batches.append(["", "often " * 700 + "rare", "often " * 254, "often " * 255, " "])
    expected, statistics = indexed(tmp_path / "numpy", batches, None)
    found, others = indexed(tmp_path / "compiled", batches, compiled)
    assert found == expected
    assert others == statistics
    assert len(expected["large.i4"]) == 8  # 700 and 255 do not fit a byte


@pytest.mark.parametrize("batches", [[], [[]], [[""]], [["a"]]])
def test_next_to_nothing_gives_the_same_index(tmp_path, batches):
    assert indexed(tmp_path / "numpy", batches, None) == indexed(tmp_path / "compiled", batches, compiled)


def test_names_give_the_same_index(tmp_path):
    rng = random.Random(5)
    texts = [text_of(rng)[:50] for _ in range(300)] + ["Pain, Intractable", "+", ""]
    folders = []
    for loops in (None, compiled):
        folders.append(tmp_path / ("numpy" if loops is None else "compiled"))
        folders[-1].mkdir()
        names = NamesWriter(TOKENIZER, kernels=loops)
        names.add(range(len(texts)), NameKind.NAME, texts)
        names.add(range(5), NameKind.ALIAS, texts[7:12])
        names.finish(folders[-1])
    assert files(folders[0]) == files(folders[1])


def built(path: Path) -> dict[str, str]:
    """Build one graph; return the checksum of each of its files."""
    rng = random.Random(9)
    with GraphBuilder(path) as builder:
        for number in range(400):
            text, aliases = text_of(rng), tuple(text_of(rng)[:20] for _ in range(rng.randrange(3)))
            builder.add_node(Node(f"n{number}", "t", text_of(rng)[:30], text, aliases, {"number": number}))
        ends = [[f"n{rng.randrange(400)}" for _ in range(900)] for _ in range(2)]
        builder.add_edges(EdgeBatch(ends[0], ["knows"] * 900, ends[1]))
        builder.publish()
    manifest = read_manifest(path, read_pointer(path))
    return {name: record.sha256 for name, record in manifest.files.items()}


@pytest.mark.parametrize("worth", [0, 30_000])
def test_a_graph_is_published_with_the_same_checksums(tmp_path, monkeypatch, worth):
    expected = built(tmp_path / "numpy")
    monkeypatch.setattr(kernels, "WORTH_BYTES", worth)
    monkeypatch.setattr(node_indexer, "_BATCH", 70)  # several wait until there is enough text for compiled loops
    assert kernels.kernels(worth) is compiled
    assert built(tmp_path / "compiled") == expected
