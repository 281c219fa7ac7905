"""The vectors of a graph: a piece of its generation, made by an embedder and searched with the same one.

The embedded text of a node is `name. text`, without aliases and properties, so that a column withheld at import is in
no vector either. A node has one vector, of as much text as the embedder reads; or one for each part of a longer text;
or supplied vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, TypeVar

import numpy as np
from pydantic import StringConstraints, ValidationError

from orienteer.errors import BadOption, ModelError, NotAGraph
from orienteer.graph import format, pieces
from orienteer.index.arrays import Folder
from orienteer.index.embedders import SERVED, open_embedder
from orienteer.index.embedders.onnx import unit
from orienteer.index.searchers import KeyedCache
from orienteer.index.vectors import Vector, VectorIndex
from orienteer.llm.budget import cut_off_by
from orienteer.protocols import Batching, Embedded, Embedder, Metered, OpenEmbedder, Run
from orienteer.records import Record, Usage

if TYPE_CHECKING:
    from orienteer.protocols import Vectors

PIECE = "vectors"
ABOUT = "vectors.json"
_FORMAT = 1
_T = TypeVar("_T")
PieceFile: TypeAlias = Annotated[str, StringConstraints(pattern=f"^{format.FILE.pattern}$")]
"""The name of a file of a piece."""


class VectorsAbout(Record):
    """Facts about a graph's vectors."""

    format: int = _FORMAT
    generation: str
    created: str
    embedder: str | None
    """The embedder's name; None for supplied vectors without one, which cannot be searched for a text."""
    fingerprint: str | None = None
    dimension: int
    nodes: int
    """Nodes with a vector."""
    vectors: int
    lacking: int = 0
    """Nodes that an update added without embedding them, of types whose nodes have vectors."""
    is_parts: bool = False
    """Whether a text longer than the embedder reads has several vectors."""
    recall: float
    """The share of the ten nearest nodes of 200 sampled vectors that the scan of signs finds."""
    is_exact: bool
    """Whether searches read every vector, because the recall of the scan is below 0.97."""
    files: dict[PieceFile, int]
    """The bytes of each file."""


class GraphVectors:
    """The index of a graph's vectors, and the embedder of queries, with a cache. Safe to share among threads."""

    def __init__(self, folder: Path, about: VectorsAbout, open_: OpenEmbedder) -> None:
        self.about = about
        self.index = VectorIndex(Folder(folder, about.files), about.dimension, is_exact=about.is_exact)
        self._open = open_
        self._opening = Lock()
        self._encoded = KeyedCache[tuple[str, ...], Vector]()
        self._together = KeyedCache[tuple[str, ...], "Vectors"]()

    def encode(self, query: str, passages: Sequence[str] = ()) -> Vector:
        """Return the vector of a query, (dimension,); with passages, the mean of all vectors. Raises `ModelError`."""
        return self._encoded((query, *passages), lambda key: self._encode(key)[0])

    def pay(self, run: Run, query: str, passages: Sequence[str] = ()) -> Usage:
        """Make the vector that `encode` then returns; charge the run for it, and return the cost.

        It costs nothing if no server is asked, if the vector is cached, or if another thread is paying for the same
        one. Raises `BudgetExhausted` before a call, `ModelError`.
        """
        spent = Usage()

        def charged(key: tuple[str, ...]) -> Vector:
            nonlocal spent
            vector, spent = _charged(run, lambda seconds: self._encode(key, seconds))
            return vector

        if isinstance(self.embedder, Metered):
            self._encoded((query, *passages), charged)
        return spent

    def encode_together(self, run: Run, queries: tuple[str, ...]) -> Vectors:
        """Return the vectors of queries that one question asks: (queries, dimension), made in one call.

        A server's work is charged to the run. They are cached as a whole, apart from those of `encode`: their last
        digits may depend on one another. Raises `BudgetExhausted` before a call, `ModelError`.
        """

        def make(key: tuple[str, ...]) -> Vectors:
            embedder = self.embedder
            if isinstance(embedder, Metered):
                return _charged(run, lambda seconds: self._embed(key, "query", seconds))[0]
            return embedder.embed_together(key) if isinstance(embedder, Batching) else self._embed(key, "query").vectors

        return self._together(queries, make)

    def _encode(self, key: tuple[str, ...], seconds: float | None = None) -> tuple[Vector, Usage]:
        query, *passages = key
        if not passages or isinstance(self.embedder, Metered):
            batches = [self._embed(key, "query", seconds)]  # a server takes all in one call, whatever kind of text
        else:
            batches = [self._embed([query], "query"), self._embed(passages, "document")]
        vectors = np.concatenate([batch.vectors for batch in batches])
        mean = unit(vectors.mean(axis=0, keepdims=True))[0] if passages else vectors[0]
        return np.asarray(mean, np.float32), sum((batch.usage for batch in batches), Usage())

    def _embed(
        self, texts: Sequence[str], kind: Literal["query", "document"], seconds: float | None = None
    ) -> Embedded:
        embedder = self.embedder
        if isinstance(embedder, Metered):
            embedded = embedder.embed_metered(texts, kind=kind, seconds=seconds)
        else:
            embedded = Embedded(embedder.embed(texts, kind=kind), Usage())
        if embedded.vectors.shape[1] != self.about.dimension:
            raise ModelError(
                f"{embedder.name} gives vectors of {embedded.vectors.shape[1]} dimensions, the graph's have "
                f"{self.about.dimension}: another model made them. Run orienteer embed again; if a server has "
                "another model under the old name, orienteer cache clear --vectors first"
            )
        return embedded

    @property
    def embedder(self) -> Embedder:
        """Return the embedder of queries, opened once. Raises `BadOption`, `MissingExtra`."""
        # Loading a model takes time and memory: threads wait for the first that does.
        with self._opening:
            return self._opened

    @cached_property
    def _opened(self) -> Embedder:
        if self.about.embedder is None:
            raise BadOption("the graph's vectors were given without an embedder: search it by words")
        embedder = self._open(self.about.embedder)
        if self.about.fingerprint not in (None, embedder.fingerprint):
            raise BadOption(
                f"the embedder {embedder.name} has changed since the graph was embedded (another file, or another "
                "address): embed it again with orienteer embed"
            )
        return embedder


def _charged(run: Run, make: Callable[[float | None], tuple[_T, Usage]]) -> tuple[_T, Usage]:
    """Call `make` within the run's deadline, and charge its cost if it succeeds. Raises `BudgetExhausted` before it."""
    spent = Usage()
    run.check()
    try:
        with cut_off_by(run):
            value, spent = make(run.seconds_left())
    finally:
        run.charge(spent, is_typical=False)
    return value, spent


def open_vectors(path: Path, generation: str, open_: OpenEmbedder | None = None) -> GraphVectors:
    """Open the vectors of a generation of a graph. Raises `BadOption` without any, `NotAGraph` for damage.

    Without `open_`, an embedder behind a server raises `BadOption` at use: its address is in the settings.
    """
    folder = pieces.piece(path, PIECE)
    about = read_about(path)
    if folder is None or about is None:
        message = f"{path} has no vectors: make them with orienteer embed {path}, or search by words (lexical)"
        raise BadOption(message, paths=[path])
    if about.generation != generation:
        raise NotAGraph(f"{path} was replaced by another graph since it was opened: open it again", paths=[path])

    def open_local(name: str) -> Embedder:
        if name.startswith(SERVED):
            raise BadOption(
                f"the graph was embedded by {name}: give its address with Graph.open(path, embedder=...), a function "
                "that takes the name, such as read_settings().open_embedder"
            )
        return open_embedder(name)

    try:
        return GraphVectors(folder, about, open_local if open_ is None else open_)
    except (ValueError, LookupError) as error:  # files that do not fit one another
        raise format.damaged(folder, error, pieces.remedy(path, folder)) from error


def read_about(path: Path) -> VectorsAbout | None:
    """Return the facts about a graph's vectors, or None without vectors. Raises `NotAGraph` for damage."""
    folder = pieces.piece(path, PIECE)
    if folder is None:
        return None
    try:
        about = VectorsAbout.model_validate_json((folder / ABOUT).read_bytes())
        format.check_sizes(folder, about.files, pieces.remedy(path, folder))
    except (FileNotFoundError, ValidationError) as error:
        raise format.damaged(folder, error, pieces.remedy(path, folder)) from error
    return about
