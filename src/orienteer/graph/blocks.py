"""Embeds texts block by block, many blocks at once; each block is cached as soon as it is done."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from orienteer.errors import BadInput
from orienteer.executors import Executor, Job, Place, Worker
from orienteer.index.vector_cache import CacheWriter, Keys
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
    """Yield each block when its vectors are in the cache. Started blocks are finished and cached, whatever ends this.

    Raises `ModelError`.
    """
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
