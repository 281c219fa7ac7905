"""Publishes vectors of a graph: embeds its texts, or takes supplied vectors."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orienteer.display import Count, counted
from orienteer.errors import BadInput, Error, NotAGraph
from orienteer.executors import Executor, Job, Place, Threads, Worker
from orienteer.graph import format, pieces
from orienteer.graph.pieces.vectors import ABOUT, PIECE, VectorsAbout, read_about
from orienteer.graph.revision import Piece, Revision
from orienteer.graph.store import Graph
from orienteer.index.arrays import Folder, begins_of
from orienteer.index.postings import Layout
from orienteer.index.vector_cache import CacheWriter, Keys, VectorCache, folder_of, keys_of
from orienteer.index.vectors import LEAST_RECALL, VectorIndex, blocks, create_halves, write_index
from orienteer.protocols import Embedded, Embedder, Metered
from orienteer.records import Usage

BLOCK = 64  # texts of a block: the most that a kill costs, for each thread


class Block(NamedTuple):
    """Some texts, and the cache's keys of their vectors: (texts, 2)."""

    texts: tuple[str, ...]
    keys: Keys


class EmbeddedBlock(NamedTuple):
    """A block with its vectors and their cost."""

    block: Block
    embedded: Embedded


@dataclass(frozen=True, slots=True)
class EmbeddingRecipe:
    """Opens an embedder of blocks in another process."""

    embedder: str
    fingerprint: str

    def open(self, place: Place) -> Worker[Block, EmbeddedBlock]:
        """Open the embedder by its name. Raises `BadInput` if its vectors would differ, and the opener's errors."""
        embedder = place.opener.open_embedder(self.embedder)
        if embedder.fingerprint != self.fingerprint:
            raise BadInput(f"the embedder {self.embedder} differs from this machine's: its vectors would not fit")
        return Worker(partial(_embed, embedder))


def embedded_blocks(
    executor: Executor, embedder: Embedder, writer: CacheWriter, blocks: Iterable[Block]
) -> Generator[EmbeddedBlock, None, None]:
    """Yield each block when its vectors are cached. Started blocks are always finished. Raises `ModelError`."""
    is_served = isinstance(embedder, Metered)
    job = Job(
        name="embed",
        here=Worker(partial(_embed, embedder)),
        recipe=EmbeddingRecipe(embedder.name, embedder.fingerprint),
        threads=max(1, embedder.concurrency),
        limit=max(1, embedder.concurrency) if is_served else None,
        waits=is_served,
        keep=lambda result: writer.add(result.block.keys, result.embedded.vectors),
    )
    yield from executor.results(job, blocks)


def _embed(embedder: Embedder, block: Block) -> EmbeddedBlock:
    if isinstance(embedder, Metered):
        return EmbeddedBlock(block, embedder.embed_metered(block.texts, kind="document"))
    return EmbeddedBlock(block, Embedded(embedder.embed(block.texts, kind="document"), Usage()))


_REPORT_SECONDS = 5.0  # between two reports of the rate

Progress = Callable[[str, int], None]


class EmbeddingReport(NamedTuple):
    """The result of embedding a graph."""

    about: VectorsAbout
    embedded: int
    """Texts that were embedded."""
    cached: int
    """Texts with a cached vector."""
    cut: int
    """Texts longer than the embedder reads, which were cut."""
    seconds: float
    usage: Usage


def embedded_text(name: str, text: str) -> str:
    """Return the embedded text of a node. A node always has a name."""
    return f"{name}. {text}" if text else name


def embed_graph(
    graph: Graph,
    embedder: Embedder,
    *,
    cache: Path,
    is_parts: bool = False,
    node_types: Sequence[str] = (),
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> EmbeddingReport:
    """Embed every node, or those of some types, and publish the vectors with their recall.

    Cached vectors are reused, and new ones are cached at once: after a kill, or a failure of the server, the same call
    continues. `executor` embeds the texts, by default in threads of this process; another one opens the embedder by its
    name. Raises `ModelError`, `GraphBusy`, `NotAGraph`.
    """
    started = time.perf_counter()
    texts = _TextsOfNodes(graph, embedder, is_parts=is_parts, node_types=node_types)
    folder = folder_of(cache, embedder.fingerprint)
    unique = np.unique(texts.keys, axis=0, return_index=True)[1]
    missing = np.sort(unique[VectorCache(folder).find(texts.keys[unique]) < 0])
    spent = _embed_missing(texts, missing, embedder, CacheWriter(folder), progress, executor or Threads())
    done = VectorCache(folder)

    def take(part: slice) -> NDArray[np.float16]:
        places = done.find(texts.keys[part])
        if (places < 0).any():
            raise Error(f"{folder} lost vectors meanwhile: was it cleared? Run the command again", paths=[folder])
        return done.take(places)

    about = _about(graph, embedder=embedder.name, dimension=done.dimension, nodes=texts.nodes, vectors=len(texts))
    about = about.model_copy(update={"fingerprint": embedder.fingerprint, "is_parts": is_parts})
    about = _publish(graph, about, texts.first, take)
    seconds = time.perf_counter() - started
    return EmbeddingReport(about, len(missing), len(unique) - len(missing), texts.cut, seconds, spent)


def give_vectors(graph: Graph, node_ids: Sequence[str], vectors: ArrayLike, *, embedder: str | None) -> VectorsAbout:
    """Publish supplied vectors, (ids, dimension), one for each id; an id may be repeated and then has several.

    `embedder` names the embedder of queries, for example `openai:text-embedding-ada-002` for STaRK's vectors. Raises
    `UnknownNode`, and `BadInput` for a wrong shape, numbers that are not finite, or a vector of zeros.
    """
    array = np.asarray(vectors, np.float32)
    if array.ndim != 2 or len(array) != len(node_ids) or not array.size or not np.isfinite(array).all():
        raise BadInput(f"vectors of the shape {array.shape} for {len(node_ids)} ids: give a line of numbers for each")
    lengths = np.linalg.norm(array, axis=1)
    if not lengths.all():
        raise BadInput(f"the vector of {node_ids[int(lengths.argmin())]!r} is all zeros")
    rows = np.array([graph.arrays.row(node_id) for node_id in node_ids])
    order = np.argsort(rows, kind="stable")
    counts = np.bincount(rows, minlength=len(graph))
    first, nodes = begins_of(counts), int(np.count_nonzero(counts))
    about = _about(graph, embedder=embedder, dimension=array.shape[1], nodes=nodes, vectors=len(array))
    return _publish(graph, about, first, lambda part: (array / lengths[:, None])[order[part]].astype(np.float16))


def _about(graph: Graph, *, embedder: str | None, dimension: int, nodes: int, vectors: int) -> VectorsAbout:
    """Return the facts about vectors before they are written and measured."""
    return VectorsAbout(
        generation=graph.arrays.manifest.generation,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        embedder=embedder,
        dimension=dimension,
        nodes=nodes,
        vectors=vectors,
        recall=1.0,
        is_exact=False,
        files={},
    )


def _publish(
    graph: Graph, about: VectorsAbout, first: NDArray[np.int64], take: Callable[[slice], NDArray[np.float16]]
) -> VectorsAbout:
    """Write the vectors, measure their recall, and publish them."""
    published = [about]

    def write(folder: Path) -> None:
        if format.read_pointer(graph.path).generation != about.generation:
            raise NotAGraph(f"{graph.path} was replaced by another graph meanwhile: embed it again", paths=[graph.path])
        halves = create_halves(folder, about.vectors, about.dimension)
        for part in blocks(about.vectors):
            halves[part] = take(part)
        write_index(folder, first, halves)
        recall = VectorIndex(Folder(folder), about.dimension).measure(np.random.default_rng(0))
        files = {file.name: file.stat().st_size for file in sorted(folder.iterdir())}
        published[0] = about.model_copy(update={"recall": recall, "is_exact": recall < LEAST_RECALL, "files": files})
        (folder / ABOUT).write_text(published[0].model_dump_json(indent=1), encoding="utf-8")

    pieces.publish_piece(graph.path, PIECE, write)
    return published[0]


def carried_vectors(graph: Graph, revision: Revision, tell: Callable[[str], None]) -> Piece:
    """Return a writer of a graph's vectors for its next generation: those of unchanged texts.

    Nothing is embedded. `tell` receives a sentence about added nodes without a vector.
    """
    arrays, nodes = graph.arrays, sorted(revision.nodes, key=lambda node: node.id)
    gone = {embedded_text(arrays.names[int(row)], arrays.texts[int(row)]): int(row) for row in revision.gone}
    same = [gone.get(embedded_text(node.name or node.id, node.text), -1) for node in nodes]

    def write(folder: Path, generation: str, layout: Layout) -> None:
        about, before = read_about(graph.path), pieces.piece(graph.path, PIECE)
        assert about is not None  # the caller has checked, and holds the lock
        assert before is not None
        old = Folder(before, about.files)
        first = old.array("first", "i8")
        source = layout.merged(np.arange(len(layout.old)), np.array(same, np.int64))  # (rows,): -1 for no vector
        counts = np.where(source < 0, 0, np.diff(first)[source])
        begins = begins_of(counts)
        places = np.repeat(first[source] - begins[:-1], counts) + np.arange(int(begins[-1]))  # (vectors,)
        stored = old.array("half", "f2").reshape(-1, about.dimension)
        halves = create_halves(folder, len(places), about.dimension)
        for part in blocks(len(places)):
            halves[part] = stored[places[part]]
        write_index(folder, begins, halves)
        is_embedded = np.zeros(len(arrays.types.nodes), np.bool_)  # (types,)
        is_embedded[arrays.node_types[np.diff(first) > 0]] = True
        names = {name for name, is_one in zip(arrays.types.nodes, is_embedded.tolist(), strict=True) if is_one}
        wants = np.array([node.type in names for node in nodes], np.bool_)
        lacking = int(np.count_nonzero(layout.merged(is_embedded[arrays.node_types], wants) & (counts == 0)))
        if lacking:
            tell(f"{counted(lacking, 'new node')} without a vector: orienteer embed adds the missing ones")
        files = {file.name: file.stat().st_size for file in sorted(folder.iterdir())}
        changes = {
            "generation": generation,
            "nodes": int(np.count_nonzero(counts)),
            "vectors": len(places),
            "lacking": lacking,
            "files": files,
        }
        (folder / ABOUT).write_text(about.model_copy(update=changes).model_dump_json(indent=1), encoding="utf-8")

    return write


class _TextsOfNodes:
    """The embedded texts of a graph, by index; they are never all in memory."""

    def __init__(self, graph: Graph, embedder: Embedder, *, is_parts: bool, node_types: Sequence[str]) -> None:
        self._graph, self._embedder, self._is_parts = graph, embedder, is_parts
        self.cut = 0
        counts = np.zeros(len(graph), np.int64)
        keys: list[Keys] = []
        mask = graph.arrays.mask(list(node_types) or None)
        for row in range(len(graph)) if mask is None else np.flatnonzero(mask).tolist():
            text = self._text(row)
            parts = embedder.parts(text)
            if not is_parts:
                self.cut += len(parts) > 1
                parts = (text,)
            counts[row] = len(parts)
            keys.append(keys_of(parts))
        self.keys = np.concatenate(keys) if keys else keys_of([])
        self.nodes = int(np.count_nonzero(counts))
        self.first = begins_of(counts)

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, place: int) -> str:
        row = int(self.first.searchsorted(place, side="right")) - 1
        text = self._text(row)
        return self._embedder.parts(text)[place - int(self.first[row])] if self._is_parts else text

    def _text(self, row: int) -> str:
        return embedded_text(self._graph.arrays.names[row], self._graph.arrays.texts[row])


def _embed_missing(
    texts: _TextsOfNodes,
    missing: NDArray[np.int64],
    embedder: Embedder,
    writer: CacheWriter,
    progress: Progress | None,
    executor: Executor,
) -> Usage:
    """Embed the missing texts, and return the cost."""
    started = reported = time.monotonic()
    stage, done, usage = "embedding texts", 0, Usage()
    parts = (missing[part] for part in blocks(len(missing), BLOCK))
    wanted = (Block(tuple(texts[int(place)] for place in part), texts.keys[part]) for part in parts)
    for block, embedded in embedded_blocks(executor, embedder, writer, wanted):
        done, usage = done + len(block.texts), usage + embedded.usage
        now = time.monotonic()
        if now - reported >= _REPORT_SECONDS or done == len(missing):
            reported, stage = now, f"embedding texts, {done / (now - started):.1f} a second"
        if progress is not None:
            progress(stage, Count(done, of=len(missing)))
    return usage
