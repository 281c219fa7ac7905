"""Documents that lie beside a graph in tables become a part of it: their nodes, and the edges between them."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from orienteer.errors import DuplicateNode
from orienteer.graph.builder import GraphBuilder, Progress
from orienteer.ingest.bounds import SkippedFile, grouped
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.cut.document_nodes import DocumentNodeMaker
from orienteer.ingest.documents.intake import Intake, Shelf
from orienteer.ingest.documents.join.weaver import Weaver
from orienteer.ingest.documents.read.files import lies_beside_tables, listing
from orienteer.ingest.documents.read.selection import Selection
from orienteer.ingest.provenance import describe_beside
from orienteer.ingest.report import Ignored
from orienteer.ingest.tables.plan import NO_PART, NO_TABLE, is_beside_tables

NO_DOCUMENT = "beside a graph in tables: orienteer build reads them"


class DocumentsBeside:
    """The documents of a folder with a graph in tables."""

    def __init__(self, folder: Path, selection: Selection, progress: Progress) -> None:
        self._folder, self._selection, self._progress = folder, selection, progress
        self.count = 0
        """Documents that were added."""

    def __call__(self, builder: GraphBuilder, left_out: Sequence[Ignored]) -> Mapping[str, Any]:  # Any: JSON
        """Add them to the graph; return what its provenance says of them. Raises `DuplicateNode`."""
        config = BuildConfig()
        maker = DocumentNodeMaker(config)
        intake = Intake(
            [self._folder], maker, selection=self._selection, takes=lies_beside_tables, progress=self._progress
        )
        with tempfile.TemporaryDirectory(prefix="orienteer-") as scratch:
            shelf = Shelf(Path(scratch))
            intake.fill(shelf)
            if len(shelf):
                self._weave(Weaver(builder, shelf, config, progress=self._progress))
        self.count = maker.documents
        others = [file for file in listing([self._folder], self._selection).files if file.kind == "unknown"]
        others = [file for file in others if not is_beside_tables(file.path)]
        not_read: list[SkippedFile] = [
            *(file for file in left_out if file.reason not in (NO_TABLE, NO_PART)),
            *intake.unreadable,
            *intake.skipped,
            *(SkippedFile(file=str(file.path), reason=NO_DOCUMENT) for file in others),
        ]
        groups = grouped(not_read, [self._folder])
        return describe_beside(intake.stamps, intake.passed_by, groups, self._selection)

    def _weave(self, weaver: Weaver) -> None:
        try:
            weaver.add_nodes()
        except DuplicateNode as error:
            raise DuplicateNode(f"{error}: a document beside the tables has the id of a node; rename it") from error
        weaver.add_edges(None)
