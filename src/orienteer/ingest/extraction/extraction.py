"""Extraction in a build: by a model or by statistics, merged, and added to the graph beside the chunks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from orienteer.display import counted
from orienteer.graph.builder import GraphBuilder, Progress
from orienteer.graph.edges import EdgeBatch
from orienteer.graph.format import Manifest
from orienteer.graph.reserved import DOCUMENT, READ
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.intake import Shelf
from orienteer.ingest.documents.join.weaver import Weaver, batches
from orienteer.ingest.extraction.by_model import ModelExtractor
from orienteer.ingest.extraction.by_statistics import StatisticalExtractor
from orienteer.ingest.extraction.forms import Form
from orienteer.ingest.extraction.gold import GoldTriples
from orienteer.ingest.extraction.merger import Merger
from orienteer.ingest.extraction.records import CO_OCCURS, SYNONYM, ExtractionSummary
from orienteer.ingest.extraction.ties import synonym_edges

if TYPE_CHECKING:
    from orienteer.protocols import Embedder

SYMMETRIC = frozenset({CO_OCCURS, SYNONYM})


class Extractor:
    """Extracts from the chunks of a shelf."""

    def __init__(
        self,
        form: Form,
        config: BuildConfig,
        by_model: ModelExtractor | None,
        progress: Progress,
        gold: GoldTriples | None = None,
    ) -> None:
        """Without `by_model`, statistics of the corpus take its place."""
        self.gold, self.by_model = gold, by_model
        self._form, self._config, self._progress = form, config, progress
        self._merger = Merger()
        self._statistics: StatisticalExtractor | None = None
        self._chunks = 0

    def add_nodes(self, weaver: Weaver, shelf: Shelf) -> None:
        """Read the chunks and add entities and facts. Raises `ModelError`."""
        self._chunks = sum(node.type != DOCUMENT for node in shelf)
        if self.by_model is not None:
            self.by_model.into(self._merger, shelf)
        else:
            self._statistics = StatisticalExtractor(shelf, weaver.names, self._form, self._config)
            self._statistics.into(self._merger, self._progress)
        if self.gold is not None:
            self.gold.into(self._merger)
        weaver.add_extracted_nodes(self._merger.nodes)

    def add_edges(self, weaver: Weaver, embedder: Embedder | None) -> None:
        """Add the edges of the entities and facts; call it when all nodes are there."""
        edges: Iterator[EdgeBatch] = batches(self._merger.edges(self._chunks))
        if self._statistics is not None:
            edges = chain(edges, self._statistics.edges(self._merger))
        if self._config.synonyms and embedder is not None:
            edges = chain(edges, synonym_edges(self._merger.named(), embedder, self._progress))
        weaver.add_extracted_edges(edges, symmetric=SYMMETRIC)

    def publish(self, builder: GraphBuilder) -> Manifest:
        """Publish the graph. Edge types are labelled as first written; word statistics count the texts alone."""
        return builder.publish(labels=self._merger.labels(), text_types=READ)

    @property
    def report(self) -> ExtractionSummary:
        """What was extracted."""
        by_model = self.by_model
        return ExtractionSummary(
            form=self._form,
            model=None if by_model is None else by_model.model.name,
            entities=self._merger.entities,
            facts=self._merger.facts,
            failed=() if by_model is None else tuple(by_model.failed),
            rejected=self._merger.rejects.by_reason(),
        )

    @property
    def notes(self) -> list[str]:
        """What a person should know of it."""
        report = self.report
        notes = [reject.render() for reject in report.rejected]
        notes += [] if self.gold is None else [self.gold.note]
        if report.failed:
            notes.append(
                f"nothing extracted from {counted(len(report.failed), 'chunk')}: the model's reply was not an object "
                f"(first: {report.failed[0]})"
            )
        return notes
