"""Documents and tables -> a chunk graph and a report. The way in is `build_graph`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orienteer.display import counted
from orienteer.errors import BadOption
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.embedding import embed_graph
from orienteer.graph.store import Graph
from orienteer.ingest.documents.config import BuildConfig, Chunking
from orienteer.ingest.documents.cut.document_nodes import DocumentNodeMaker
from orienteer.ingest.documents.cut.metadata import CONCURRENCY, Annotator
from orienteer.ingest.documents.cut.replies import ReplyCache
from orienteer.ingest.documents.embedder import CachedEmbedder
from orienteer.ingest.documents.intake import Intake
from orienteer.ingest.documents.join.weaver import Weaver
from orienteer.ingest.documents.plots import write_plots
from orienteer.ingest.documents.previous import Previous
from orienteer.ingest.documents.report import BuildEstimate, BuildReport, edge_counts
from orienteer.ingest.documents.shelf import Shelf
from orienteer.ingest.extraction.by_model import ModelExtractor
from orienteer.ingest.extraction.extraction import Extractor
from orienteer.ingest.extraction.forms import Form, ReplyForm, types_of
from orienteer.ingest.extraction.gold import gold_of
from orienteer.ingest.provenance import describe_build
from orienteer.ingest.report import peak_bytes
from orienteer.options import Options
from orienteer.records import Usage

if TYPE_CHECKING:
    from orienteer.protocols import Embedder, LanguageModel

Progress = Callable[[str, int], None]
NO_EMBEDDER = "without an embedder no vectors join chunks that are alike"
CUT_BY_TOKENS = ", and prose is cut by tokens, not by meaning"
VECTORS_GONE = (
    "its vectors were of the graph before: orienteer embed makes them again, what has not changed from the cache"
)
REPLIES = "replies"
"""The folder of the cache in which replies of models are kept."""


class BuildOptions(Options):
    """What a person says of a build."""

    force: bool = False
    """Replace a graph that stands at the target."""
    strict: bool = False
    """Fail where a document cannot be read, instead of leaving it out."""
    update: bool = False
    """Take over from the graph at the target what has not changed."""
    chunks: Chunking | None = None
    """How prose is cut; semantic where there is an embedder, unless said otherwise."""
    extract: Form | None = None
    """Extract entities and statements from the chunks, in this form; an update goes on with that of its graph."""
    metadata: bool = False
    """Have the model describe each chunk also where it extracts; where it does not, that is what it does."""
    plots: Path | None = None
    """Where a page of figures of the similarities goes; none is written where there is no path."""
    config: BuildConfig | None = None
    """Without one `BuildConfig()`; `BuildConfig.extracting()` where chunks are cut by tokens for extraction.

    An update without one goes by that of its graph.
    """


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

    With a model it writes metadata about every chunk, or extracts from it (`BuildOptions.extract`, which goes without a
    model too); its replies, and all vectors, are kept in the cache as they come, so that nothing is paid for twice.
    What cannot be read is left out and told in the report. An update may leave out the sources: they are those of the
    graph. Raises `BadInput`, and leaves the target as it was, where nothing can be read, or under `strict` where
    anything cannot; `BadOption`, `GraphBusy`, `ModelError`.
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
        self._notes: list[str] = []
        self._stages: dict[str, float] = {}
        self._asked: list[Annotator | ModelExtractor] = []
        if not self._options.update:  # else once its graph is open
            self._settle(None)

    def _settle(self, previous: Previous | None) -> None:
        """Settle how prose is cut and joined: an update goes by the options of its graph where none are given."""
        options = self._options
        chunks, extract = options.chunks, options.extract
        if previous is not None:
            chunks, extract = chunks or previous.chunking, extract or previous.extract
        by_tokens = self._embedder is None or extract is not None
        if self._embedder is None:
            self._notes.append(NO_EMBEDDER + (CUT_BY_TOKENS if chunks is None and extract is None else ""))
        self._extract: Form | None = extract
        self._chunking: Chunking = chunks or ("tokens" if by_tokens else "semantic")
        self._config = config = options.config or (self._usual() if previous is None else previous.config)
        if previous is not None:
            previous.check(self._chosen())
        if self._chunking == "semantic" and self._embedder is None:
            raise BadOption(
                "--chunks semantic cuts by an embedder, and --embedder none names none: name one (--embedder minilm), "
                "or cut by tokens (--chunks tokens)"
            )
        if config.faithful and self._embedder is None:
            raise BadOption("faithful is the paper's recipe, which takes an embedder: name one (--embedder minilm)")
        config.check_use(extract, has_model=self._model is not None, has_embedder=self._embedder is not None)
        if config.overlap and self._chunking == "semantic":
            raise BadOption("overlap is of chunks cut by tokens: leave it out, or cut by tokens (--chunks tokens)")
        self._maker = DocumentNodeMaker(config, self._embedder if self._chunking == "semantic" else None)
        self._check_plots()

    def _usual(self) -> BuildConfig:
        """Return the options that stand where none are given."""
        is_extracting = self._extract is not None and self._chunking == "tokens"
        return BuildConfig.extracting() if is_extracting else BuildConfig()

    @property
    def _is_described(self) -> bool:
        """Tell whether the model writes metadata."""
        return self._model is not None and (self._extract is None or self._options.metadata)

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
            intake = Intake(sources, self._maker, previous=previous, progress=self._progress)
            with self._stage("reading"):
                intake.into(shelf)
            intake.refuse(shelf, strict=self._options.strict)
            if self._is_described:
                shelf = self._annotated(shelf, stack)
            extractor = self._extractor(sources, shelf)
            is_measured = self._options.plots is not None
            weaver = Weaver(builder, shelf, self._config, progress=self._progress, is_measured=is_measured)
            with self._stage("nodes"):
                weaver.nodes()
            if extractor is not None:
                with self._stage("extraction"):
                    extractor.nodes(weaver, shelf)
                self._notes += extractor.notes
            with self._stage("edges"):
                weaver.edges(self._embedder)
            if extractor is not None:
                with self._stage("extracted edges"):
                    extractor.edges(weaver, self._embedder)
            builder.describe(self._provenance(sources, intake, weaver, extractor))
            with self._stage("indexes"):
                manifest = builder.publish() if extractor is None else extractor.publish(builder)
        if extractor is None:  # else its entities are the names
            with self._stage("names"):
                weaver.publish_names(target)
        with self._stage("vectors"):
            self._embed(target)
        if previous is not None and previous.had_vectors and self._embedder is None:
            self._notes.append(VECTORS_GONE)
        if self._options.plots is not None and weaver.similarity is not None:
            write_plots(weaver.similarity, self._options.plots, title=target.name)
        report = self._report(intake, weaver, extractor, nodes=manifest.nodes)
        return report.model_copy(update={"seconds": time.perf_counter() - started})

    def _report(self, intake: Intake, weaver: Weaver, extractor: Extractor | None, *, nodes: int) -> BuildReport:
        maker = self._maker
        return BuildReport(
            documents=maker.documents,
            chunks=maker.chunks,
            tables=maker.segments,
            nodes=nodes,
            edges=sum(weaver.counts.values()),
            edge_types=edge_counts(weaver.counts),
            chunking=self._chunking,
            unreadable=tuple(intake.unreadable),
            skipped=tuple(intake.skipped),
            notes=(*self._notes, *intake.notes),
            similarity=weaver.similarity,
            embedded=None if self._embedder is None else self._embedder.embedded,
            extracted=None if extractor is None else extractor.report,
            usage=sum((reader.usage for reader in self._asked), Usage()) if self._asked else None,
            stages={name: round(seconds, 3) for name, seconds in self._stages.items()},
            peak_bytes=peak_bytes(),
            **intake.changes,
        )

    def estimate(self, sources: list[Path]) -> BuildEstimate:
        """Read and cut all documents, and count what a model would be asked."""
        previous = self._previous()
        sources = sources or (previous.sources if previous is not None else [])
        with ExitStack() as stack:
            shelf = Shelf(stack.enter_context(_scratch()))
            intake = Intake(sources, self._maker, previous=previous, progress=self._progress)
            intake.into(shelf)
            intake.refuse(shelf, strict=self._options.strict)
            model = self._model
            price = None if model is None else model.price
            described = self._annotates().estimate(shelf, price) if self._is_described else None
            by_model = self._asks()
            extracted = None if by_model is None else by_model.estimate(shelf, price)
        maker = self._maker
        return BuildEstimate(
            documents=maker.documents,
            chunks=maker.chunks,
            tables=maker.segments,
            unreadable=tuple(intake.unreadable),
            skipped=tuple(intake.skipped),
            notes=(*self._notes, *intake.notes),
            model=None if model is None else model.name,
            metadata=described,
            extraction=extracted,
            **intake.changes,
        )

    def _provenance(
        self, sources: list[Path], intake: Intake, weaver: Weaver, extractor: Extractor | None
    ) -> dict[str, Any]:  # Any: JSON
        origin = describe_build(
            sources,
            intake.stamps,
            self._chosen(),
            left_out=intake.left_out,
            greatest_weights=weaver.greatest,
            notes=[*self._notes, *intake.notes],
        )
        return origin if extractor is None or extractor.gold is None else {**origin, **extractor.gold.provenance}

    def _previous(self) -> Previous | None:
        if not self._options.update:
            return None
        if self._target is None:
            raise BadOption("an update needs the graph that it updates")
        previous = Previous(self._target)
        self._settle(previous)
        return previous

    def _annotates(self) -> Annotator:
        assert self._model is not None
        return Annotator(self._model, self._replies(), self._progress, self._concurrency)

    def _asks(self) -> ModelExtractor | None:
        """Return what has the model extract; None where nothing is extracted, or statistics do it."""
        if self._extract is None or self._model is None:
            return None
        reply_form = ReplyForm(self._extract, types_of(self._config.entity_types))
        return ModelExtractor(
            reply_form, self._model, self._replies(), self._concurrency, self._progress, self._config.gleanings
        )

    @property
    def _concurrency(self) -> int:
        return int(getattr(self._model, "concurrency", CONCURRENCY))

    def _replies(self) -> ReplyCache:
        assert self._cache is not None  # asked for where there is a model
        return ReplyCache(self._cache / REPLIES)

    def _extractor(self, sources: list[Path], shelf: Shelf) -> Extractor | None:
        """Return what extracts, once it is told what that would take."""
        if self._extract is None:
            return None
        by_model = self._asks()
        if by_model is not None:
            self._asked.append(by_model)
            model = by_model.model
            self._progress(by_model.estimate(shelf, model.price).render(model.name), 0)
        gold = gold_of(sources, shelf) if self._config.gold else None
        return Extractor(self._extract, self._config, by_model, self._progress, gold)

    def _annotated(self, shelf: Shelf, stack: ExitStack) -> Shelf:
        """Return a shelf of the same nodes with what the model says of those that have none yet."""
        annotator = self._annotates()
        self._asked.append(annotator)
        model = annotator.model
        self._progress(annotator.estimate(shelf, model.price).render(model.name), 0)
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
        graph = Graph.open(target)
        types = [name for name in self._config.vectors if name in graph.types.nodes]
        if missing := sorted(set(self._config.vectors) - set(types)):
            self._notes.append(f"no node has the type {', '.join(missing)}, so none of it has a vector")
        if self._config.vectors and not types:
            return
        vectors = embed_graph(graph, self._raw, cache=self._cache, node_types=types, progress=self._progress)
        self._embedder.embedded += vectors.embedded

    def _chosen(self) -> dict[str, Any]:  # Any: JSON
        """Return the options that shape the graph."""
        named = {
            "model": self._model if self._is_described else None,
            "extracting_model": self._model if self._extract is not None else None,
            "embedder": self._raw,
        }
        return {
            "chunks": self._chunking,
            **({} if self._extract is None else {"extract": self._extract}),
            **{kind: model.name for kind, model in named.items() if model is not None},
            **self._config.changed(),
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


def _silent(stage: str, count: int) -> None:
    """Take no notice of progress."""
