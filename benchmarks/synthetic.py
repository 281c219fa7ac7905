"""Synthetic graphs with the statistics of real ones, made once and kept in a folder.

Words follow Zipf-Mandelbrot's law and come in bursts, texts have log-normal lengths, degrees follow power laws, and
three hubs touch a good part of the graph. Sizes S and L are those of STaRK's PRIME and MAG, XL is what a machine of
8 GB should build, and of M's sisters each has four times as much of one thing, so that its cost can be told apart.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

VERSION = 1
"""Raised whenever what is made changes: older folders are then left alone."""
VOCABULARY = 500_000
COMMON_WORDS = [0, 1, 3]
"""Added to queries to make their worst case."""
_REPEATS = 0.25  # share of words that repeat an earlier one of the same text
_CHUNK_NODES = 40_000
_CHUNK_EDGES = 4_000_000
_WORD_BYTES = 8  # the longest word and the space after it


@dataclass(frozen=True, slots=True)
class Size:
    """How large a graph is."""

    nodes: int
    edges: int
    tokens: int
    node_types: int
    edge_types: int
    hub: int
    """Edges that each of the three hubs has besides those that chance gives it."""


SIZES = {
    "XS": Size(3_000, 40_000, 400_000, 6, 6, 1_500),
    "S": Size(129_375, 8_100_000, 32_000_000, 10, 18, 100_000),
    "M": Size(500_000, 8_000_000, 40_000_000, 8, 16, 50_000),
    "M-nodes": Size(2_000_000, 8_000_000, 40_000_000, 8, 16, 50_000),
    "M-edges": Size(500_000, 32_000_000, 40_000_000, 8, 16, 50_000),
    "M-words": Size(500_000, 8_000_000, 160_000_000, 8, 16, 50_000),
    "L": Size(1_872_968, 39_800_000, 213_000_000, 4, 4, 200_000),
    "XL": Size(10_000_000, 100_000_000, 600_000_000, 8, 16, 500_000),
}


class Asked(NamedTuple):
    """A query, by its words' numbers; inside the neighbourhood of a node, where there is one."""

    words: tuple[int, ...]
    node: int | None = None


class Synthetic:
    """A made graph, mapped."""

    def __init__(self, folder: Path, size: Size) -> None:
        self.folder, self.size = folder, size
        self.tokens, self.token_at = self._map("tokens"), self._map("token_at")
        self.source, self.target, self.edge_type = (self._map(name) for name in ("source", "target", "edge_type"))
        self.node_type, self.year = self._map("node_type"), self._map("year")
        self._text_at = self._map("text_at")

    def _map(self, name: str) -> NDArray[Any]:  # Any: the element type is in the file
        return np.asarray(np.load(self.folder / f"{name}.npy", mmap_mode="r"))

    def read(self, name: str, low: int, high: int) -> NDArray[Any]:  # Any: as above
        """Return a part of an array, read and not mapped: what is mapped counts as a reader's memory."""
        with (self.folder / f"{name}.npy").open("rb") as file:
            np.lib.format.read_magic(file)
            _, _, kind = np.lib.format.read_array_header_1_0(file)
            return np.fromfile(file, kind, high - low, offset=low * kind.itemsize)

    @cached_property
    def words(self) -> list[str]:
        """The vocabulary, the commonest word first."""
        return [row.tobytes().decode().rstrip() for row in _letters()]

    @cached_property
    def queries(self) -> dict[str, list[Asked]]:
        """The query sets by name."""
        content = json.loads((self.folder / "queries.json").read_text())
        return {name: [Asked(tuple(one["words"]), one["node"]) for one in asked] for name, asked in content.items()}

    @cached_property
    def hubs(self) -> list[int]:
        """The three nodes that have the most edges."""
        return [int(node) for node in np.load(self.folder / "hubs.npy")]

    @property
    def ids(self) -> list[str]:
        """Return all node ids, in order."""
        return [f"n{node:07d}" for node in range(self.size.nodes)]

    def names(self, low: int, high: int) -> list[str]:
        """Return the names of some nodes."""
        first, second = name_words(np.arange(low, high))
        pairs = zip(first.tolist(), second.tolist(), range(low, high), strict=True)
        return [f"{self.words[one]} {self.words[other]} {node}" for one, other, node in pairs]

    def texts(self, low: int, high: int) -> list[str]:
        """Return the texts of some nodes."""
        at = self._text_at[low : high + 1]
        text = self.read("text", int(at[0]), int(at[-1])).tobytes().decode()
        ends = (at - at[0]).tolist()
        return [text[begin : end - 1] for begin, end in zip(ends, ends[1:], strict=False)]

    def batches(self) -> Iterator[tuple[int, int]]:
        """Return ranges of nodes that are read at once."""
        for low in range(0, self.size.nodes, _CHUNK_NODES):
            yield low, min(low + _CHUNK_NODES, self.size.nodes)

    def documents(self) -> Iterator[str]:
        """Return what each node is found by: its name and its text."""
        for low, high in self.batches():
            for name, text in zip(self.names(low, high), self.texts(low, high), strict=True):
                yield f"{name} {text}"


def name_words(nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the two words of each node's name; its number is the third."""
    return 1000 + nodes * 7919 % 400_000, 500 + nodes * 104_729 % 300_000


def load(name: str, work: Path) -> Synthetic:
    """Return the graph of a size, made now if it is not in the folder yet."""
    size, folder = SIZES[name], work / f"synthetic-{name}-{VERSION}"
    if not folder.exists():
        fresh = folder.with_suffix(".new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        _make(size, fresh)
        fresh.rename(folder)
    return Synthetic(folder, size)


def _make(size: Size, folder: Path) -> None:
    rng = np.random.default_rng(7)
    _save(folder, "node_type", rng.choice(size.node_types, size.nodes, p=_zipf(size.node_types)).astype(np.uint8))
    _save(folder, "year", rng.integers(1950, 2025, size.nodes).astype(np.int16))
    _make_texts(size, folder, rng)
    _make_edges(size, folder, rng)
    queries = _make_queries(Synthetic(folder, size), np.random.default_rng(11))
    content = {name: [one._asdict() for one in asked] for name, asked in queries.items()}
    (folder / "queries.json").write_text(json.dumps(content))


def _save(folder: Path, name: str, array: NDArray[Any]) -> None:  # Any: whatever is saved
    np.save(folder / f"{name}.npy", array)


def _create(folder: Path, name: str, kind: type[np.generic], length: int) -> NDArray[Any]:  # Any: as above
    return np.lib.format.open_memmap(folder / f"{name}.npy", "w+", kind, (length,))


def _zipf(count: int) -> NDArray[np.float64]:
    weights = 1 / np.arange(1, count + 1)
    return np.asarray(weights / weights.sum())


def _cumulated(count: int, *, exponent: float, offset: float) -> NDArray[np.float64]:
    total = np.cumsum((np.arange(count) + offset) ** -exponent)
    return np.asarray(total / total[-1])


def _letters() -> NDArray[np.uint8]:
    """Return the words as bytes, filled up with spaces: two or three syllables and an s, common words short."""
    syllables = np.array([[ord(first), ord(second)] for first in "bcdfghjklmnprstvwz" for second in "aeiou"], np.uint8)
    count = len(syllables)
    number = np.arange(count, VOCABULARY + count)
    letters = np.full((VOCABULARY, _WORD_BYTES), ord(" "), np.uint8)
    letters[:, 0:2] = syllables[number % count]
    letters[:, 2:4] = syllables[number // count % count]
    third = number // count**2
    long = third > 0
    letters[long, 4:6] = syllables[third[long]]
    letters[long, 6] = letters[~long, 4] = ord("s")
    return letters


# ------------------------------------------------------------------------------------------------------------- texts


def _make_texts(size: Size, folder: Path, rng: np.random.Generator) -> None:
    shares = rng.lognormal(0, 0.8, size.nodes)
    lengths = np.maximum(4, shares * size.tokens / shares.sum()).astype(np.int64)
    token_at = np.concatenate([[0], np.cumsum(lengths)])
    _save(folder, "token_at", token_at)
    tokens = _create(folder, "tokens", np.int32, int(token_at[-1]))
    cumulated = _cumulated(VOCABULARY, exponent=1.07, offset=2.7)
    letters = _letters()
    widths = (letters != ord(" ")).sum(axis=1) + 1  # (words,), with the space after each
    sizes = []
    for low in range(0, size.nodes, _CHUNK_NODES):
        high = min(low + _CHUNK_NODES, size.nodes)
        drawn = _draw(rng, cumulated, lengths[low:high])
        tokens[token_at[low] : token_at[high]] = drawn
        sizes.append(np.add.reduceat(widths[drawn], token_at[low:high] - token_at[low]))
    text_at = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    _save(folder, "text_at", text_at)
    text = _create(folder, "text", np.uint8, int(text_at[-1]))
    for low in range(0, size.nodes, _CHUNK_NODES):
        high = min(low + _CHUNK_NODES, size.nodes)
        drawn = tokens[token_at[low] : token_at[high]]
        kept = np.arange(_WORD_BYTES) < widths[drawn][:, None]
        text[text_at[low] : text_at[high]] = letters[drawn][kept]


def _draw(rng: np.random.Generator, cumulated: NDArray[np.float64], lengths: NDArray[np.int64]) -> NDArray[np.int32]:
    """Draw the words of some texts, a share of them repeats of earlier ones."""
    total = int(lengths.sum())
    fresh = np.minimum(cumulated.searchsorted(rng.random(total)), VOCABULARY - 1).astype(np.int32)
    place = np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    repeats = np.flatnonzero((rng.random(total, np.float32) < _REPEATS) & (place > 0))
    origin = np.arange(total)
    origin[repeats] -= rng.integers(1, place[repeats] + 1)
    while len(repeats):  # a repeat of a repeat leads on to the word that was drawn
        origin[repeats] = origin[origin[repeats]]
        repeats = repeats[origin[origin[repeats]] != origin[repeats]]
    return np.asarray(fresh[origin])


# ------------------------------------------------------------------------------------------------------------- edges


def _make_edges(size: Size, folder: Path, rng: np.random.Generator) -> None:
    by_source = rng.permutation(size.nodes).astype(np.int32)
    hubs = by_source[-3:]
    _save(folder, "hubs", hubs)
    by_target = np.concatenate([rng.permutation(by_source[:-3]), hubs])
    sources = _cumulated(size.nodes, exponent=0.45, offset=50)
    targets = _cumulated(size.nodes, exponent=0.65, offset=200)
    left = size.edges - 3 * size.hub
    pairs = [_Ends(np.full(size.hub, hub, np.int32), _choose(rng, size.nodes, size.hub)) for hub in hubs]
    while left > 0:
        count = min(left, _CHUNK_EDGES)
        chosen = (
            order[np.minimum(cumulated.searchsorted(rng.random(count)), size.nodes - 1)]
            for order, cumulated in ((by_source, sources), (by_target, targets))
        )
        pairs.insert(-3, _Ends(*chosen))
        left -= count
    source, target = np.concatenate([one.source for one in pairs]), np.concatenate([one.target for one in pairs])
    apart = source != target
    _save(folder, "source", source[apart])
    _save(folder, "target", target[apart])
    types = rng.choice(size.edge_types, int(apart.sum()), p=_zipf(size.edge_types))
    _save(folder, "edge_type", types.astype(np.uint8))


class _Ends(NamedTuple):
    source: NDArray[np.int32]
    target: NDArray[np.int32]


def _choose(rng: np.random.Generator, nodes: int, count: int) -> NDArray[np.int32]:
    return rng.choice(nodes, count, replace=False).astype(np.int32)


# ----------------------------------------------------------------------------------------------------------- queries


def _make_queries(graph: Synthetic, rng: np.random.Generator) -> dict[str, list[Asked]]:
    """Return queries of two to six words of a node's text, the commonest left out; in neighbourhoods, a neighbour's."""
    everywhere = [Asked(_words_of(graph, int(rng.integers(graph.size.nodes)), rng)) for _ in range(300)]
    queries = {
        "global": everywhere,
        "global + common words": [Asked((*one.words, *COMMON_WORDS)) for one in everywhere[:50]],
    }
    degrees = np.bincount(graph.source, minlength=graph.size.nodes)
    degrees += np.bincount(graph.target, minlength=graph.size.nodes)
    centers = {
        "around degree 10": rng.choice(_of_degree(degrees, 9, 12), 200),
        "around degree 1,000": rng.choice(_of_degree(degrees, 900, 1_100), 200),
        "around hub": np.resize(graph.hubs, 60),
    }
    around = neighbors(graph, np.concatenate(list(centers.values())))
    for name, nodes in centers.items():
        queries[name] = [Asked(_words_of(graph, int(rng.choice(around[node])), rng), node) for node in map(int, nodes)]
    ends = rng.choice(_of_degree(degrees, 9, 12), (100, 2))
    queries["path"] = [Asked((int(target),), int(source)) for source, target in ends]
    return queries


def _words_of(graph: Synthetic, node: int, rng: np.random.Generator) -> tuple[int, ...]:
    found = np.unique(graph.tokens[graph.token_at[node] : graph.token_at[node + 1]])
    count = int(rng.integers(2, 7))
    rare = found[found >= (200 if rng.random() < 0.7 else 20)]
    pool = rare if len(rare) >= 2 else found
    return tuple(int(word) for word in rng.choice(pool, min(count, len(pool)), replace=False))


def _of_degree(degrees: NDArray[np.int64], low: int, high: int) -> NDArray[np.int64]:
    found = np.flatnonzero((degrees >= low) & (degrees <= high))
    return found if len(found) else np.argsort(abs(degrees - low))[:50]


def neighbors(graph: Synthetic, nodes: NDArray[np.int64]) -> dict[int, NDArray[np.int32]]:
    """Return the distinct neighbours of some nodes, found in the edges themselves."""
    wanted = np.zeros(graph.size.nodes, np.bool_)
    wanted[nodes] = True
    owners, others = [], []
    for owner, other in ((graph.source, graph.target), (graph.target, graph.source)):
        at = np.flatnonzero(wanted[owner])
        owners.append(owner[at].astype(np.int64))
        others.append(other[at].astype(np.int64))
    keys = np.unique(np.concatenate(owners) << 32 | np.concatenate(others))
    owner = keys >> 32
    firsts = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]]))
    parts = np.split((keys & 0xFFFFFFFF).astype(np.int32), firsts[1:])
    return dict(zip(owner[firsts].tolist(), parts, strict=True))
