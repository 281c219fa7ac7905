"""An update that touches little of a graph: only what changed is read and joined, all else is taken over unread.

It makes the nodes, the edges of order and of hyperlinks that a build would make, and gives new chunks their edges of
names; `join.increment` says what differs. All is made anew when more has changed since that was last done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orienteer.errors import DuplicateNode
from orienteer.graph import pieces, publication
from orienteer.graph.builder import Progress
from orienteer.graph.edges import EdgeBatch
from orienteer.graph.embedding import carried_vectors
from orienteer.graph.format import Manifest
from orienteer.graph.pieces import incidence, vectors
from orienteer.graph.reserved import CHUNK, DOCUMENT, READ, SIMILAR, SYMMETRIC, TABLE
from orienteer.graph.revision import Piece, Revision, revise
from orienteer.graph.store import Graph
from orienteer.ingest.bounds import SkippedFile
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.cut.document_nodes import DocumentNodeMaker
from orienteer.ingest.documents.intake import Intake, Shelf
from orienteer.ingest.documents.join.increment import ChangedNodes, NameIncrement, link_change, new_order_edges
from orienteer.ingest.documents.join.shelved import Shelved
from orienteer.ingest.documents.join.weaver import batches, greatest_weights
from orienteer.ingest.documents.previous import Previous
from orienteer.ingest.documents.read import collection
from orienteer.ingest.documents.read.files import File, Listing, listing, sort
from orienteer.ingest.documents.read.selection import Selection
from orienteer.ingest.documents.recipe import BuildRecipe
from orienteer.ingest.formats.table import is_unicode
from orienteer.ingest.provenance import DocumentStamp, describe_build, file_states, settled
from orienteer.records import Edge, Node

MOST_CHANGED = 0.05
"""Of the chunks: beyond, all edges are made anew. Changes are counted since that was last done."""
LEAST_PARTS = 1_000
"""Chunks and segments of a graph: making fewer anew takes a second or two, and leaves nothing as it was before."""
CHANGED = "changed_since_woven"
"""The key of the provenance for how many chunks have come or gone since all edges were made."""


class FileChanges(NamedTuple):
    """The files of a graph's sources against those that it was made of."""

    unchanged: list[DocumentStamp]
    touched: list[File]
    """Those that are new, whose size or time differs, or that the graph does not have, by name."""
    gone: list[str]
    """The names of those that are no longer there."""
    skipped: tuple[SkippedFile, ...]
    """What is no document."""


def file_changes(previous: Previous, sources: Sequence[Path], selection: Selection) -> FileChanges | None:
    """Return what became of the files of a graph; None where it takes a build to tell."""
    resolved = [source.resolve() for source in sources]
    if resolved != previous.sources or not (
        selection.is_given or collection.recognize(resolved, selection.split) is None
    ):
        return None
    states = None if selection.is_given else file_states(resolved)
    if states is None or states.may_be_ignored or not all(map(is_unicode, states.by_path)):
        return listed_changes(previous, listing(resolved, selection))
    known, now = {stamp.path: stamp for stamp in previous.stamps.values()}, states.by_path
    unchanged = [stamp for path, stamp in known.items() if now.get(path) == (stamp.bytes, stamp.modified)]
    others = now.keys() - {stamp.path for stamp in unchanged}
    touched, skipped = list[File](), list[SkippedFile]()
    for path in map(Path, sorted(others)):
        sort(path, _name_of(path, resolved), touched, skipped)
    gone = sorted(known[path].name for path in known.keys() - now.keys())
    return FileChanges(unchanged, sorted(touched, key=lambda file: file.name), gone, tuple(skipped))


def _name_of(path: Path, sources: Sequence[Path]) -> str:
    """Return the name that a file of some sources has in a graph, as `listing` gives it."""
    source = next(source for source in sources if path.is_relative_to(source))
    beneath = path.relative_to(source).as_posix() if path != source else ""
    return "/".join(filter(None, (source.name if len(sources) > 1 or not beneath else "", beneath)))


def listed_changes(previous: Previous, found: Listing) -> FileChanges:
    """Return what became of the files of a graph, by a list of all that are there."""
    unchanged, touched = list[DocumentStamp](), list[File]()
    for file in found.files:
        old = previous.stamps.get(file.name)
        if old is not None and old.path == str(file.path) and old.is_of(file.path):
            unchanged.append(old)
        else:
            touched.append(file)
    there = {file.name for file in found.files}
    return FileChanges(unchanged, touched, sorted(previous.stamps.keys() - there), found.skipped)


def changed_nodes(shelved: Shelved, nodes: Iterable[Node], files: frozenset[str]) -> ChangedNodes:
    """Compare the nodes that some files have now, in the order of the shelf, with those that a graph has of them.

    A part is as it was if all before it in its document are so too: its titles depend on these.
    """
    places = chain.from_iterable(shelved.of_files(files).values())
    old = {shelved.ids[at]: at for at in places}
    now = list(nodes)
    kept: set[str] = set()
    is_same: dict[str, bool] = {}
    for node in now:
        at = old.get(node.id)
        before = None if at is None else shelved.node(at)
        owner = str(node.properties.get("document", node.id))
        if node.type == DOCUMENT:
            is_same[owner] = before is not None and _titled_alike(before, node)
            is_whole = before == node
        else:
            is_whole = is_same[owner] = is_same.get(owner, True) and before == node
        if is_whole:
            kept.add(node.id)
    gone = np.array(sorted(at for node_id, at in old.items() if node_id not in kept), np.int64)
    return ChangedNodes(now, frozenset(kept), gone)


def _titled_alike(before: Node, now: Node) -> bool:
    return (before.name, before.properties.get("untitled")) == (now.name, now.properties.get("untitled"))


class _Published(NamedTuple):
    manifest: Manifest
    notes: list[str]
    """What should be said of it."""


class Amendment:
    """Makes the next generation of a graph out of its last one and the nodes of the files that changed."""

    def __init__(self, previous: Previous, config: BuildConfig) -> None:
        self._graph, self._config = previous.graph, config
        self.shelved = previous.shelved
        self._manifest = self._graph.arrays.manifest
        self._names = _names_beside(self._graph) if config.has_names else None

    @property
    def is_possible(self) -> bool:
        """Return whether the graph is large, has the names of its build, no edges of vectors, and nothing extracted.

        Edges of vectors are chosen among all pairs.
        """
        manifest = self._manifest
        return (
            int(np.count_nonzero(~self.shelved.is_document)) >= LEAST_PARTS
            and (self._names is not None or not self._config.has_names)
            and SIMILAR not in manifest.edge_types
            and set(manifest.node_types) <= set(READ)
        )

    def changed(self, changed: ChangedNodes) -> int | None:
        """Return how many chunks came or went since all edges were made; None where they are too many."""
        before = self._manifest.provenance.get(CHANGED, 0)
        parts = int(np.count_nonzero(~self.shelved.is_document[changed.gone]))
        parts += sum(node.type != DOCUMENT for node in changed.new)
        total = (before if isinstance(before, int) else 0) + parts
        return total if total <= MOST_CHANGED * np.count_nonzero(~self.shelved.is_document) else None

    def counts(self, changed: ChangedNodes) -> dict[str, int]:
        """Return how many documents, chunks and segments of tables there are after a change, as a report has them."""
        types, stays = self._graph.arrays.types, changed.staying(self.shelved)
        kinds = [types.nodes[number] for number in self._graph.arrays.node_types[self.shelved.rows[stays]].tolist()]
        kinds += [node.type for node in changed.new]
        staying = [(self.shelved.marks[at], self.shelved.ids[at]) for at in np.flatnonzero(stays).tolist()]
        alone = sum(mark.is_part and mark.document == node_id for mark, node_id in staying)
        alone += sum(node.type != DOCUMENT and "document" not in node.properties for node in changed.new)
        counts = Counter(kinds)
        return {"documents": counts[DOCUMENT] + alone, "chunks": counts[CHUNK], "tables": counts[TABLE]}

    def revision(self, changed: ChangedNodes) -> tuple[Revision, NameIncrement | None]:
        """Return the change of the graph, and that of its names if it has any."""
        links = link_change(self.shelved, changed)
        edges: list[EdgeBatch] = [*batches(new_order_edges(changed)), *batches(links.edges)]
        names = None
        if self._names is not None:
            names = NameIncrement(self.shelved, changed, self._names, self._config)
            found = list(names.edges())
            edges += batches(edge for edge in found if isinstance(edge, Edge))
            edges += [batch for batch in found if isinstance(batch, EdgeBatch)]
        gone = self.shelved.rows[changed.gone]
        return Revision(gone, changed.new, edges, links.lost, SYMMETRIC), names

    def publish(self, changed: ChangedNodes, work: Path, provenance: dict[str, object]) -> _Published | None:
        """Publish the next generation, with what lies beside it; return its manifest and what should be said.

        None where two files have nodes of one id: a build says which.
        """
        revision, names = self.revision(changed)
        notes: list[str] = []
        beside: dict[str, Piece] = {}
        if names is not None:
            beside[incidence.PIECE] = lambda folder, generation, layout: incidence.write_incidence(
                names.incidence(layout), generation, folder
            )
        if vectors.read_about(self._graph.path) is not None:
            beside[vectors.PIECE] = carried_vectors(self._graph, revision, notes.append)
        greatest = greatest_weights(self._manifest.provenance.get("greatest_weights", {}), revision.edges)
        try:
            manifest = revise(
                self._graph,
                revision,
                work,
                provenance=settled({**provenance, "greatest_weights": greatest}),
                pieces=beside,
            )
        except DuplicateNode:
            return None
        return _Published(manifest, notes)


class Update(NamedTuple):
    """What is asked of an update."""

    sources: Sequence[Path]
    """Those of the graph where there are none."""
    recipe_of: Callable[[Previous], BuildRecipe]
    stage: Callable[[str], AbstractContextManager[None]]
    """Measures a stage."""
    progress: Progress
    is_strict: bool = False
    """Fail where a document cannot be read."""


class Amended(NamedTuple):
    """An update that was made."""

    manifest: Manifest
    recipe: BuildRecipe
    survey: dict[str, Any]  # Any: what the fields of a report hold
    notes: tuple[str, ...]


def amend(target: Path, update: Update) -> Amended | None:
    """Make the next generation of a graph out of its last one; None, and nothing is changed, where a build has to.

    Raises as `build_graph` does.
    """
    with publication.publishing(target) as work:
        previous = Previous(target)
        recipe = update.recipe_of(previous)
        files = file_changes(previous, update.sources or previous.sources, recipe.selection)
        if recipe.extract is not None or files is None:
            return None
        amendment = Amendment(previous, recipe.config)
        if not amendment.is_possible:
            return None
        with update.stage("reading"):
            intake, shelf = _read(previous, recipe, files, work, update)
        with update.stage("comparing"):
            touched = frozenset([*files.gone, *(file.name for file in files.touched)])
            changed = changed_nodes(amendment.shelved, shelf, touched)
            total = amendment.changed(changed)
        stamps = [*files.unchanged, *intake.stamps]
        if total is None or not stamps:
            return None
        provenance = describe_build(
            intake.sources,
            stamps,
            recipe.options,
            **intake.left_out,
            notes=[*recipe.notes, *intake.notes],
            **{CHANGED: total},
        )
        with update.stage("indexes"):
            published = amendment.publish(changed, work, provenance)
    if published is None:
        return None
    survey = {**intake.survey, **amendment.counts(changed)}
    survey["unchanged"] += len(files.unchanged)
    survey["removed"] = len(previous.stamps.keys() - {stamp.name for stamp in stamps})
    return Amended(published.manifest, recipe, survey, (*recipe.notes, *published.notes, *intake.notes))


def _read(
    previous: Previous, recipe: BuildRecipe, files: FileChanges, work: Path, update: Update
) -> tuple[Intake, Shelf]:
    """Read and cut the files that may have changed, and put their nodes on a shelf."""
    (work / "shelf").mkdir()
    shelf = Shelf(work / "shelf")
    maker = DocumentNodeMaker(recipe.config)
    intake = Intake(previous.sources, maker, selection=recipe.selection, previous=previous, progress=update.progress)
    intake.fill(shelf, Listing(tuple(files.touched), files.skipped))
    intake.refuse(shelf, strict=update.is_strict, is_part=True)
    return intake, shelf


def _names_beside(graph: Graph) -> incidence.NameIncidence | None:
    """Return the names that lie beside a graph; None without any, or without the counts that tell names."""
    folder = pieces.piece(graph.path, incidence.PIECE)
    names = None if folder is None else incidence.read_names(folder, graph.generation)
    return names if names is not None and names.case is not None else None
