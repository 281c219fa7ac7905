"""Documents and tables -> a chunk graph and a report. The way in is `build_graph`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orienteer.errors import BadOption
from orienteer.executors import Executor, Threads
from orienteer.graph.builder import GraphBuilder, Progress
from orienteer.graph.embedding import embed_graph
from orienteer.graph.format import Manifest, is_graph
from orienteer.graph.store import Graph
from orienteer.ingest.documents.amendment import Update, amend
from orienteer.ingest.documents.build_report import BuildEstimate, BuildReport
from orienteer.ingest.documents.config import BuildConfig, Chunking
from orienteer.ingest.documents.cut.document_nodes import DocumentNodeMaker
from orienteer.ingest.documents.cut.metadata import Annotator, MetadataForm
from orienteer.ingest.documents.cut.replies import CONCURRENCY, NodeForm, NodeReader, ReplyCache
from orienteer.ingest.documents.embedder import CachedEmbedder
from orienteer.ingest.documents.intake import Intake, Shelf, Watch
from orienteer.ingest.documents.join.weaver import Weaver
from orienteer.ingest.documents.previous import Previous
from orienteer.ingest.documents.read.selection import Selection
from orienteer.ingest.documents.recipe import BuildRecipe, settle
from orienteer.ingest.documents.so_far import HearInterim, SoFar, Unwoven, is_unwoven
from orienteer.ingest.documents.table_rows import publish_rows
from orienteer.ingest.extraction.by_model import PACKAGE, Form, ModelExtractor, ReplyForm, types_of
from orienteer.ingest.extraction.extraction import Extractor
from orienteer.ingest.provenance import describe_build, settled
from orienteer.ingest.report import peak_bytes
from orienteer.llm.conversation import prompt_of
from orienteer.options import Options
from orienteer.records import Usage

if TYPE_CHECKING:
    from orienteer.protocols import Embedder, LanguageModel

VECTORS_GONE = (
    "its vectors belonged to the previous graph: orienteer embed makes them again, unchanged texts from the cache"
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
    """How prose is cut; by tokens unless said otherwise, but semantic where the configuration is `faithful`."""
    extract: Form | None = None
    """Extract entities and statements from the chunks, in this form; an update goes on with that of its graph."""
    metadata: bool = False
    """Have the model describe each chunk also where it extracts; where it does not, that is what it does."""
    include: tuple[str, ...] = ()
    """Patterns of the files that are read, as in a `.gitignore`; they win over it, and read what is hidden."""
    exclude: tuple[str, ...] = ()
    """Patterns of files and folders that are not read. An update goes on with those of its graph."""
    split: str = ""
    """The split to read from a source with splits; an update keeps that of its graph."""
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
    hear: HearInterim | None = None,
    executor: Executor | None = None,
) -> BuildReport:
    """Make a chunk graph of documents and tables and publish it at the target.

    A model writes metadata about every chunk, or extracts from it (`BuildOptions.extract`, which works without a model
    too). Its replies, and all vectors, are cached as they come, so that nothing is paid for twice.
    Of a first build that takes long, `hear` is told of graphs of what has been read so far: each is to be opened at
    once. `executor` says where the model and the embedder work, in threads of this process if nothing else is said;
    elsewhere they are opened by their names. What cannot be read is left out, and the report lists it. An update
    without sources uses those of the graph.
    Raises `BadInput`, and leaves the target as it was, if nothing can be read, or under `strict` if anything cannot;
    `BadOption`, `GraphBusy`, `ModelError`.
    """
    build = _Build(options or BuildOptions(), embedder, model, cache, progress or _silent, hear, executor)
    return build.run(sources, target)


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

    The documents are read and cut. The target is the graph that an update replaces. Raises as `build_graph` does.
    """
    build = _Build(options or BuildOptions(), embedder, model, cache, progress or _silent)
    return build.estimate(sources, target)


class _Build:
    """One build. Each stage is told what it takes, and returns what it makes."""

    def __init__(
        self,
        options: BuildOptions,
        embedder: Embedder | None,
        model: LanguageModel | None,
        cache: Path | None,
        progress: Progress,
        hear: HearInterim | None = None,
        executor: Executor | None = None,
    ) -> None:
        if model is not None and cache is None:
            raise BadOption("a model needs a cache, so that nothing is paid for twice: give cache=FOLDER")
        self._options, self._model, self._cache, self._progress = options, model, cache, progress
        self._hear = hear
        self._executor = executor or Threads()
        self._embedder = None
        if embedder is not None:
            self._embedder = CachedEmbedder(embedder, cache, progress=progress, executor=self._executor)
        self._started = time.perf_counter()
        self._seconds: dict[str, float] = {}
        """By stage."""
        self._intake: Intake | None = None
        self._unwoven: Unwoven | None = None
        """What was read when somebody interrupted the build."""

    def run(self, sources: Sequence[Path], target: Path) -> BuildReport:
        """Make the graph, stage by stage, or out of the one before if little has changed."""
        if not (self._options.update or self._options.force) and is_unwoven(target, sources):
            self._options = self._options.model_copy(update={"update": True})  # it goes on from what was read
        amended = self._amended(sources, target) if self._options.update and is_graph(target) else None
        if amended is not None:
            return amended
        try:
            return self._built(sources, target)
        except KeyboardInterrupt:
            if self._unwoven is not None:
                self._unwoven.publish(target, self._progress)
            raise

    def _amended(self, sources: Sequence[Path], target: Path) -> BuildReport | None:
        """Make the graph out of the one before, from what has changed; None where all edges are to be made anew."""
        if self._embedder is not None or self._model is not None:
            return None
        update = Update(sources, self._recipe, self._stage, self._progress, is_strict=self._options.strict)
        amended = amend(target, update)
        if amended is None:
            return None
        with self._stage("tables"):
            notes = [*amended.notes, *publish_rows(target)]
        return self._report(amended.survey, amended.manifest, amended.manifest.edge_types, amended.recipe, notes)

    def _report(
        self,
        survey: Mapping[str, Any],  # Any: what the fields of a report hold
        manifest: Manifest,
        edges: Mapping[str, int],
        recipe: BuildRecipe,
        notes: Sequence[str],
        **more: Any,  # Any: the same
    ) -> BuildReport:
        return BuildReport(
            **survey,
            nodes=manifest.nodes,
            edges=sum(edges.values()),
            edge_types=dict(sorted(filter(itemgetter(1), edges.items()), key=lambda pair: (-pair[1], pair[0]))),
            chunking=recipe.chunking,
            notes=tuple(notes),
            stages={name: round(seconds, 3) for name, seconds in self._seconds.items()},
            peak_bytes=peak_bytes(),
            seconds=time.perf_counter() - self._started,
            **more,
        )

    def _built(self, sources: Sequence[Path], target: Path) -> BuildReport:
        """Make the graph, stage by stage."""
        options = self._options
        recipe = None if options.update else self._recipe(None)  # before anything is locked
        with ExitStack() as stack:
            force = options.force or options.update
            builder = stack.enter_context(GraphBuilder(target, force=force, progress=self._progress))
            previous = Previous(target) if options.update else None
            recipe = recipe or self._recipe(previous)
            scratch = stack.enter_context(_scratch(target))
            shelf = Shelf(scratch)
            stack.push(lambda kind, error, trace: self._kept(kind, shelf, previous, recipe))
            with self._stage("reading"):
                watch = None
                if self._hear is not None and previous is None:
                    watch = SoFar(scratch, sources, recipe.config, recipe.options, self._hear)
                intake = self._read(sources, recipe, previous, shelf, watch)
            annotator = self._annotator(recipe)
            if annotator is not None:
                shelf = self._described(annotator, shelf, stack.enter_context(_scratch(target)))
            extractor = self._extractor(recipe, shelf)
            weaver = Weaver(builder, shelf, recipe.config, progress=self._progress)
            self._weave(weaver, extractor, shelf)
            notes = [
                *recipe.notes,
                *(note for payer in (annotator, extractor) if payer is not None for note in payer.notes),
            ]
            origin = describe_build(
                intake.sources,
                intake.stamps,
                recipe.options,
                **intake.left_out,
                greatest_weights=weaver.greatest,
                notes=[*notes, *intake.notes],
            )
            builder.describe(settled(origin))
            with self._stage("indexes"):
                manifest = builder.publish() if extractor is None else extractor.publish(builder)
        if extractor is None:  # else its entities are the names
            with self._stage("names"):
                weaver.publish_names(target)
            with self._stage("tables"):
                notes += publish_rows(target)
        with self._stage("vectors"):
            notes += self._embed(recipe.config, target)
        if previous is not None and previous.had_vectors and self._embedder is None:
            notes.append(VECTORS_GONE)
        by_model = None if extractor is None else extractor.by_model
        payers = [payer for payer in (annotator, by_model) if payer is not None]
        return self._report(
            intake.survey,
            manifest,
            weaver.counts,
            recipe,
            [*notes, *intake.notes],
            similarity=weaver.similarity,
            embedded=None if self._embedder is None else self._embedder.embedded,
            extracted=None if extractor is None else extractor.report,
            usage=sum((payer.usage for payer in payers), Usage()) if payers else None,
        )

    def estimate(self, sources: Sequence[Path], target: Path | None) -> BuildEstimate:
        """Read and cut all documents, and count what a model would be asked."""
        if self._options.update and target is None:
            raise BadOption("an update needs the graph that it updates")
        previous = Previous(target) if self._options.update and target is not None else None
        recipe = self._recipe(previous)
        with ExitStack() as stack:
            shelf = Shelf(stack.enter_context(_scratch()))
            intake = self._read(sources, recipe, previous, shelf)
            annotator, by_model = self._annotator(recipe), self._model_extractor(recipe)
            price = None if self._model is None else self._model.price
            return BuildEstimate(
                **intake.survey,
                notes=(*recipe.notes, *intake.notes),
                model=None if self._model is None else self._model.name,
                metadata=None if annotator is None else annotator.reader.estimate(shelf, price),
                extraction=None if by_model is None else by_model.reader.estimate(shelf, price),
            )

    # ------------------------------------------------------------------------------------------------------- stages

    def _recipe(self, previous: Previous | None) -> BuildRecipe:
        """Settle the options. Raises `BadOption`."""
        options = self._options
        return settle(
            options.chunks,
            options.extract,
            options.config,
            Selection(include=options.include, exclude=options.exclude, split=options.split),
            has_metadata=options.metadata,
            previous=previous,
            embedder=self._embedder,
            model=self._model,
        )

    def _read(
        self,
        sources: Sequence[Path],
        recipe: BuildRecipe,
        previous: Previous | None,
        shelf: Shelf,
        watch: Watch | None = None,
    ) -> Intake:
        """Read and cut the sources, those of the graph before where none are named, and put the nodes on the shelf."""
        maker = DocumentNodeMaker(recipe.config, self._embedder if recipe.chunking == "semantic" else None)
        paths = sources or (previous.sources if previous is not None else ())
        intake = Intake(
            paths, maker, selection=recipe.selection, previous=previous, progress=self._progress, watch=watch
        )
        self._intake = intake
        intake.fill(shelf)
        intake.refuse(shelf, strict=self._options.strict)
        return intake

    def _kept(
        self, kind: type[BaseException] | None, shelf: Shelf, previous: Previous | None, recipe: BuildRecipe
    ) -> None:
        """Keep what was read when somebody interrupts: as long as the shelf is there."""
        if kind is KeyboardInterrupt and self._intake is not None and recipe.extract is None and self._model is None:
            self._unwoven = Unwoven.of(self._intake, shelf, previous, recipe)

    def _annotator(self, recipe: BuildRecipe) -> Annotator | None:
        """Return what has the model write metadata; None if it writes none."""
        if self._model is None or not recipe.is_described:
            return None
        return Annotator(self._reader(MetadataForm()), self._concurrency, self._progress, self._executor)

    def _described(self, annotator: Annotator, read: Shelf, folder: Path) -> Shelf:
        """Say what metadata costs, and put the nodes with it on a shelf of their own. Raises `ModelError`."""
        estimate = annotator.reader.estimate(read, annotator.model.price)
        self._progress(estimate.render(annotator.model.name), 0)
        shelf = Shelf(folder)
        with self._stage("metadata"):
            for node in annotator.annotated(read):
                shelf.add([node])
        return shelf

    def _model_extractor(self, recipe: BuildRecipe) -> ModelExtractor | None:
        """Return what has the model extract; None if nothing is extracted, or statistics do it."""
        if recipe.extract is None or self._model is None:
            return None
        form = ReplyForm(recipe.extract, types_of(recipe.config.entity_types))
        again = prompt_of("again", PACKAGE).system if recipe.config.gleanings else ""
        return ModelExtractor(self._reader(form, again), self._concurrency, self._progress, self._executor)

    def _extractor(self, recipe: BuildRecipe, shelf: Shelf) -> Extractor | None:
        """Return what extracts from the shelf, and tell what that would take; None if nothing is extracted."""
        if recipe.extract is None:
            return None
        by_model = self._model_extractor(recipe)
        if by_model is not None:
            self._progress(by_model.reader.estimate(shelf, by_model.model.price).render(by_model.model.name), 0)
        return Extractor(recipe.extract, recipe.config, by_model, self._progress)

    def _weave(self, weaver: Weaver, extractor: Extractor | None, shelf: Shelf) -> None:
        """Add the nodes of the shelf and what is extracted from them, then all edges, to the graph."""
        with self._stage("nodes"):
            weaver.add_nodes()
        if extractor is not None:
            with self._stage("extraction"):
                extractor.add_nodes(weaver, shelf)
        with self._stage("edges"):
            weaver.add_edges(self._embedder)
        if extractor is not None:
            with self._stage("extracted edges"):
                extractor.add_edges(weaver, self._embedder)

    def _embed(self, config: BuildConfig, target: Path) -> list[str]:
        """Give the new graph its vectors, those of its chunks out of the cache; return what should be said of it."""
        if self._embedder is None or self._cache is None or not config.similar:
            return []
        graph = Graph.open(target)
        types = [name for name in config.vectors if name in graph.arrays.types.nodes]
        missing = sorted(set(config.vectors) - set(types))
        if types or not config.vectors:
            embedder = self._embedder.embedder
            vectors = embed_graph(
                graph,
                embedder,
                cache=self._cache,
                node_types=types,
                progress=self._progress,
                executor=self._executor,
            )
            self._embedder.embedded += vectors.embedded
        return [f"no node has the type {', '.join(missing)}, so none of it has a vector"] if missing else []

    # --------------------------------------------------------------------------------------------------------- means

    @property
    def _concurrency(self) -> int:
        return int(getattr(self._model, "concurrency", CONCURRENCY))

    def _reader(self, form: NodeForm, again: str = "") -> NodeReader:
        assert self._model is not None
        assert self._cache is not None  # a model needs one
        return NodeReader(form, self._model, ReplyCache(self._cache / REPLIES), again)

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self._seconds[name] = time.perf_counter() - started


@contextmanager
def _scratch(target: Path | None = None) -> Iterator[Path]:
    """Give a folder for work in progress: within the target, where the next writer removes what a killed one left."""
    prefix = "orienteer-" if target is None else ".new-shelf-"
    # A server may be writing beside a part of the graph, which lies there.
    with tempfile.TemporaryDirectory(prefix=prefix, dir=target, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _silent(stage: str, count: int) -> None:
    """Take no notice of progress."""
