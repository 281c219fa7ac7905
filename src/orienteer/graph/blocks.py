"""Texts that are embedded a block at a time, many blocks at once, each kept in the cache as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from orienteer.errors import BadInput
from orienteer.executors import Executor, Job, Place, Worker
from orienteer.index.vector_cache import CacheWriter, Keys
from orienteer.protocols import Embedded, Embedder, Metered
from orienteer.records import Usage

BLOCK = 64
"""Texts of a block: what a kill costs at the most, a thread."""


class Block(NamedTuple):
    """Some texts, and the keys of the cache under which their vectors are kept: (texts, 2)."""

    texts: tuple[str, ...]
    keys: Keys


class EmbeddedBlock(NamedTuple):
    """A block with its vectors, and what they cost."""

    block: Block
    embedded: Embedded


@dataclass(frozen=True, slots=True)
class EmbeddingRecipe:
    """What embeds blocks in another process."""

    embedder: str
    fingerprint: str

    def open(self, place: Place) -> Worker[Block, EmbeddedBlock]:
        """Open the embedder by its name. Raises `BadInput` if its vectors would be others, and as its opener does."""
        embedder = place.opener.open_embedder(self.embedder)
        if embedder.fingerprint != self.fingerprint:
            raise BadInput(f"the embedder {self.embedder} is another there than here: its vectors would not fit")
        return Worker(_embedding(embedder))


def embedded_blocks(
    executor: Executor, embedder: Embedder, writer: CacheWriter, blocks: Iterable[Block]
) -> Generator[EmbeddedBlock, None, None]:
    """Yield each block when its vectors are in the cache. Blocks under way are finished and kept, whatever ends this.

    Raises `ModelError`.
    """
    is_served = isinstance(embedder, Metered)
    job = Job(
        name="embed",
        here=Worker(_embedding(embedder)),
        recipe=EmbeddingRecipe(embedder.name, embedder.fingerprint),
        threads=max(1, embedder.concurrency),
        limit=max(1, embedder.concurrency) if is_served else None,
        waits=is_served,
        keep=lambda given: writer.add(given.block.keys, given.embedded.vectors),
    )
    yield from executor.results(job, blocks)


def _embedding(embedder: Embedder) -> Callable[[Block], EmbeddedBlock]:
    def embed(block: Block) -> EmbeddedBlock:
        if isinstance(embedder, Metered):
            return EmbeddedBlock(block, embedder.embed_metered(block.texts, kind="document"))
        return EmbeddedBlock(block, Embedded(embedder.embed(block.texts, kind="document"), Usage()))

    return embed
