"""Documents and tables -> a chunk graph and a report. The way in is `build_graph`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orienteer.build.documents.config import BuildConfig, Chunking
from orienteer.build.documents.embedding import CachedEmbedder
from orienteer.build.documents.gathering import Gathering
from orienteer.build.documents.metadata import CONCURRENCY, Annotator
from orienteer.build.documents.nodes import Making
from orienteer.build.documents.plots import write_plots
from orienteer.build.documents.replies import Replies
from orienteer.build.documents.report import BuildEstimate, BuildReport, edge_counts
from orienteer.build.documents.shelf import Shelf
from orienteer.build.documents.sources import describe
from orienteer.build.documents.updating import Previous
from orienteer.build.documents.weaving import Weaving
from orienteer.build.report import peak_bytes
from orienteer.display import counted
from orienteer.errors import BadOption, MissingExtra
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.store import Graph
from orienteer.graph.vectors import embed_graph

if TYPE_CHECKING:
    from orienteer.protocols import Embedder, LanguageModel

Progress = Callable[[str, int], None]
NO_EMBEDDER = (
    "without an embedder (--embedder, extra dense) prose is cut by tokens, not by meaning, and no vectors join chunks "
    "that are alike"
)
VECTORS_GONE = (
    "its vectors were of the graph before: orienteer embed makes them again, what has not changed from the cache"
)
REPLIES = "replies"
"""The folder of the cache in which replies of models are kept."""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What a person says of a build."""

    force: bool = False
    """Replace a graph that stands at the target."""
    strict: bool = False
    """Fail where a document cannot be read, instead of leaving it out."""
    update: bool = False
    """Take over from the graph at the target what has not changed."""
    chunks: Chunking | None = None
    """How prose is cut; semantic where there is an embedder, unless said otherwise."""
    plots: Path | None = None
    """Where a page of figures of the similarities goes; none is written where there is no path."""
    config: BuildConfig = field(default_factory=BuildConfig)


def build_graph(
    sources: Sequence[Path],
    target: Path,
    *,
    options: BuildOptions | None = None,
    embedder: Embedder | None = None,
    model: LanguageModel | None = None,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> BuildReport:
    """Make a chunk graph of documents and tables and publish it at the target.

    With a model it writes metadata about every chunk; its replies, and all vectors, are kept in the cache as they come,
    so that nothing is paid for twice. What cannot be read is left out and told in the report. An update may leave out
    the sources: they are those of the graph. Raises `BadInput`, and leaves the target as it was, where nothing can be
    read, or under `strict` where anything cannot; `BadOption`, `GraphBusy`, `ModelError`.
    """
    build = _Build(target, options or BuildOptions(), embedder, model, cache, progress or _silent)
    return build.run(list(sources))


def estimate_build(
    sources: Sequence[Path],
    *,
    options: BuildOptions | None = None,
    embedder: Embedder | None = None,
    model: LanguageModel | None = None,
    cache: Path | None = None,
    target: Path | None = None,
    progress: Progress | None = None,
) -> BuildEstimate:
    """Return what a build would make, and what its model would take, without asking the model or writing a graph.

    The documents are read and cut. For an update the target is the graph that is there. Raises as `build_graph` does.
    """
    build = _Build(target, options or BuildOptions(), embedder, model, cache, progress or _silent)
    return build.estimate(list(sources))


class _Build:
    """One build, from its sources to its report."""

    def __init__(
        self,
        target: Path | None,
        options: BuildOptions,
        embedder: Embedder | None,
        model: LanguageModel | None,
        cache: Path | None,
        progress: Progress,
    ) -> None:
        if model is not None and cache is None:
            raise BadOption("a model needs a cache, so that nothing is paid for twice: give cache=FOLDER")
        self._target, self._options, self._model, self._cache = target, options, model, cache
        self._progress, self._raw = progress, embedder
        self._embedder = None if embedder is None else CachedEmbedder(embedder, cache, progress=progress)
        self._notes: list[str] = [] if embedder is not None else [NO_EMBEDDER]
        self._stages: dict[str, float] = {}
        self._annotator: Annotator | None = None
        self._settle(None)

    def _settle(self, previous: Previous | None) -> None:
        """Settle how prose is cut and joined: an update goes by the options of its graph where none are given."""
        options, config = self._options, self._options.config
        chunks = options.chunks
        if previous is not None:
            config = previous.config if config == BuildConfig() else config
            chunks = chunks or previous.chunking
        self._config = config
        self._chunking: Chunking = chunks or ("tokens" if self._embedder is None else "semantic")
        if previous is not None:
            previous.check(self._chosen())
        if self._chunking == "semantic" and self._embedder is None:
            raise MissingExtra("cutting prose by meaning (--chunks semantic)", "dense")
        if config.faithful and self._embedder is None:
            raise BadOption("faithful is the paper's recipe, which takes an embedder: name one (--embedder minilm)")
        self._making = Making(config, self._embedder if self._chunking == "semantic" else None)
        self._check_plots()

    def _check_plots(self) -> None:
        """Raise `BadOption` where the page of figures cannot be written, before hours of work."""
        path = self._options.plots
        if path is None:
            return
        if self._embedder is None or not self._config.similar:
            raise BadOption("plots are of similarities: they need an embedder, and similar=true")
        if path.suffix.lower() not in (".html", ".htm") or path.is_dir() or not path.parent.is_dir():
            raise BadOption(f"plots: {path} is no page in a folder that is there: name one, such as figures.html")

    def run(self, sources: list[Path]) -> BuildReport:
        started = time.perf_counter()
        target = self._target
        assert target is not None  # `build_graph` has one
        with ExitStack() as stack:
            force = self._options.force or self._options.update
            builder = stack.enter_context(GraphBuilder(target, force=force, progress=self._progress))
            previous = self._previous()
            sources = sources or (previous.sources if previous is not None else [])
            shelf = Shelf(stack.enter_context(_scratch(target)))
            gathering = Gathering(sources, self._making, previous=previous, progress=self._progress)
            with self._stage("reading"):
                gathering.into(shelf)
            gathering.refuse(shelf, strict=self._options.strict)
            if self._model is not None:
                shelf = self._annotated(shelf, stack)
            is_measured = self._options.plots is not None
            weaving = Weaving(builder, shelf, self._config, progress=self._progress, is_measured=is_measured)
            with self._stage("nodes"):
                weaving.nodes()
            with self._stage("edges"):
                weaving.edges(self._embedder)
            builder.describe(self._provenance(sources, gathering, weaving))
            with self._stage("indexes"):
                builder.publish()
        with self._stage("vectors"):
            self._embed(target)
        if previous is not None and previous.had_vectors and self._embedder is None:
            self._notes.append(VECTORS_GONE)
        if self._options.plots is not None and weaving.similarity is not None:
            write_plots(weaving.similarity, self._options.plots, title=target.name)
        report = self._report(gathering, weaving, nodes=len(shelf))
        return report.model_copy(update={"seconds": time.perf_counter() - started})

    def _report(self, gathering: Gathering, weaving: Weaving, *, nodes: int) -> BuildReport:
        making = self._making
        return BuildReport(
            documents=making.documents,
            chunks=making.chunks,
            tables=making.segments,
            nodes=nodes,
            edges=sum(weaving.counts.values()),
            edge_types=edge_counts(weaving.counts),
            chunking=self._chunking,
            unreadable=tuple(gathering.unreadable),
            skipped=tuple(gathering.skipped),
            notes=(*self._notes, *gathering.notes),
            similarity=weaving.similarity,
            embedded=None if self._embedder is None else self._embedder.embedded,
            usage=None if self._annotator is None else self._annotator.usage,
            stages={name: round(seconds, 3) for name, seconds in self._stages.items()},
            peak_bytes=peak_bytes(),
            **gathering.changes,
        )

    def estimate(self, sources: list[Path]) -> BuildEstimate:
        """Read and cut all documents, and count what a model would be asked."""
        previous = self._previous()
        sources = sources or (previous.sources if previous is not None else [])
        with ExitStack() as stack:
            shelf = Shelf(stack.enter_context(_scratch()))
            gathering = Gathering(sources, self._making, previous=previous, progress=self._progress)
            gathering.into(shelf)
            gathering.refuse(shelf, strict=self._options.strict)
            model = self._model
            found = None
            if model is not None:
                found = self._annotates(stack).estimate(shelf, getattr(model, "price", None))
        making = self._making
        return BuildEstimate(
            documents=making.documents,
            chunks=making.chunks,
            tables=making.segments,
            unreadable=tuple(gathering.unreadable),
            skipped=tuple(gathering.skipped),
            notes=(*self._notes, *gathering.notes),
            model=None if model is None else model.name,
            metadata=found,
            **gathering.changes,
        )

    def _provenance(self, sources: list[Path], gathering: Gathering, weaving: Weaving) -> dict[str, Any]:  # Any: JSON
        return describe(
            sources,
            gathering.stamps,
            self._chosen(),
            left_out=gathering.left_out,
            greatest_weights=weaving.greatest,
            notes=[*self._notes, *gathering.notes],
        )

    def _previous(self) -> Previous | None:
        if not self._options.update:
            return None
        if self._target is None:
            raise BadOption("an update needs the graph that it updates")
        previous = Previous(self._target)
        self._settle(previous)
        return previous

    def _annotates(self, stack: ExitStack) -> Annotator:
        assert self._model is not None
        assert self._cache is not None  # asked for where there is a model
        replies = stack.enter_context(Replies(self._cache / REPLIES))
        return Annotator(self._model, replies, self._progress, getattr(self._model, "concurrency", CONCURRENCY))

    def _annotated(self, shelf: Shelf, stack: ExitStack) -> Shelf:
        """Return a shelf of the same nodes with what the model says of those that have none yet."""
        annotator = self._annotator = self._annotates(stack)
        model = annotator.model
        self._progress(annotator.estimate(shelf, getattr(model, "price", None)).render(model.name), 0)
        fresh = Shelf(stack.enter_context(_scratch(self._target)))
        with self._stage("metadata"):
            fresh.add(annotator.annotated(shelf))
        if annotator.failed:
            self._notes.append(
                f"{counted(len(annotator.failed), 'chunk')} without metadata, for the model's reply was no sound "
                f"object (first: {annotator.failed[0]})"
            )
        return fresh

    def _embed(self, target: Path) -> None:
        """Give the new graph its vectors: those of its chunks are in the cache already."""
        if self._raw is None or self._embedder is None or self._cache is None or not self._config.similar:
            return
        made = embed_graph(Graph.open(target), self._raw, cache=self._cache, progress=self._progress)
        self._embedder.embedded += made.embedded

    def _chosen(self) -> dict[str, Any]:  # Any: JSON
        """Return the options that shape the graph."""
        named = {"model": self._model, "embedder": self._raw}
        return {
            "chunks": self._chunking,
            **{kind: one.name for kind, one in named.items() if one is not None},
            **changed_options(self._config),
        }

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self._stages[name] = time.perf_counter() - started


@contextmanager
def _scratch(target: Path | None = None) -> Iterator[Path]:
    """Give a folder for work in progress: within the target, where the next writer removes what a killed one left."""
    prefix = "orienteer-" if target is None else ".new-shelf-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=target) as folder:
        yield Path(folder)


def changed_options(config: BuildConfig) -> Mapping[str, Any]:  # Any: what a field holds
    """Return the options that are not as they are by default, as JSON."""
    defaults = asdict(BuildConfig())
    values = {name: value for name, value in asdict(config).items() if value != defaults[name]}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _silent(stage: str, count: int) -> None:
    """Take no notice of progress."""
