"""What a build extracts: by a model or by statistics, merged, and woven into the graph beside the chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from orienteer.display import counted
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.edges import EdgeBatch
from orienteer.graph.format import Manifest
from orienteer.graph.reserved import DOCUMENT, READ
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.join.weaver import Weaving, batches
from orienteer.ingest.documents.shelf import Shelf
from orienteer.ingest.extraction.by_model import Asking
from orienteer.ingest.extraction.by_statistics import Counting
from orienteer.ingest.extraction.forms import Form
from orienteer.ingest.extraction.gold import GoldTriples
from orienteer.ingest.extraction.merger import Merging
from orienteer.ingest.extraction.records import CO_OCCURS, SYNONYM
from orienteer.ingest.extraction.rejects import Extracted
from orienteer.ingest.extraction.synonyms import synonym_edges

if TYPE_CHECKING:
    from orienteer.protocols import Embedder

Progress = Callable[[str, int], None]
SYMMETRIC = frozenset({CO_OCCURS, SYNONYM})


class Extracting:
    """Extracts from the chunks of a shelf."""

    def __init__(
        self,
        form: Form,
        config: BuildConfig,
        asking: Asking | None,
        progress: Progress,
        gold: GoldTriples | None = None,
    ) -> None:
        """Without a model that is asked, statistics of the corpus take its place."""
        self.gold = gold
        self._form, self._config, self._asking, self._progress = form, config, asking, progress
        self._merging = Merging()
        self._counting: Counting | None = None
        self._chunks = 0

    def nodes(self, weaving: Weaving, shelf: Shelf) -> None:
        """Read the chunks and add entities and facts. Raises `ModelError`."""
        self._chunks = sum(node.type != DOCUMENT for node in shelf)
        if self._asking is not None:
            self._asking.into(self._merging, shelf)
        else:
            self._counting = Counting(shelf, weaving.names, self._form, self._config)
            self._counting.into(self._merging, self._progress)
        if self.gold is not None:
            self.gold.into(self._merging)
        weaving.further_nodes(self._merging.nodes)

    def edges(self, weaving: Weaving, embedder: Embedder | None) -> None:
        """Add what joins them, once all nodes are there."""
        edges: Iterator[EdgeBatch] = batches(self._merging.edges(self._chunks))
        if self._counting is not None:
            edges = chain(edges, self._counting.edges(self._merging))
        if self._config.synonyms and embedder is not None:
            edges = chain(edges, synonym_edges(self._merging.named(), embedder, self._progress))
        weaving.further_edges(edges, symmetric=SYMMETRIC)

    def publish(self, builder: GraphBuilder) -> Manifest:
        """Publish the graph, with edge types as they were first written, its words measured by what was read."""
        return builder.publish(labels=self._merging.labels(), text_types=READ)

    @property
    def report(self) -> Extracted:
        """What was made."""
        asking = self._asking
        return Extracted(
            form=self._form,
            model=None if asking is None else asking.model.name,
            entities=self._merging.entities,
            facts=self._merging.facts,
            failed=() if asking is None else tuple(asking.failed),
            rejected=self._merging.rejects.by_reason(),
        )

    @property
    def notes(self) -> list[str]:
        """What should be said of it."""
        report = self.report
        notes = [reject.render() for reject in report.rejected]
        notes += [] if self.gold is None else [self.gold.note]
        if report.failed:
            notes.append(
                f"nothing extracted from {counted(len(report.failed), 'chunk')}, for the model's reply was no object "
                f"(first: {report.failed[0]})"
            )
        return notes
