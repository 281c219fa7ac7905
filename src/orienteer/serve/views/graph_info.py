"""What a graph is and what it was made of, without where that lies on this machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orienteer.errors import NotAGraph, without_paths
from orienteer.serve.views.records import ExtractedBy, GraphInfo, NotRead

if TYPE_CHECKING:
    from orienteer.graph.store import Graph


def info(graph: Graph) -> GraphInfo:
    """Return what a graph is: its sizes and types, what it was made of, what was not read of that."""
    from orienteer.graph.format import is_pulled
    from orienteer.ingest.provenance import is_stale, skipped_groups, sources_of

    manifest = graph.arrays.manifest
    provenance = beneath(manifest.provenance, sources_of(manifest))
    build: dict[str, Any] = manifest.provenance.get("options") or {}  # Any: JSON
    form = build.get("extract")
    return GraphInfo(
        name=graph.path.resolve().name,
        generation=graph.generation,
        nodes=manifest.nodes,
        edges=manifest.edges,
        node_types=manifest.node_types,
        edge_types=manifest.edge_types,
        partial=manifest.partial,
        not_read=tuple(
            NotRead(reason=group.reason, number=group.number, files=tuple(group.files))
            for group in skipped_groups(manifest)
        ),
        mapping=tuple(provenance.get("mapping") or ()),
        bytes=sum(record.bytes for record in manifest.files.values()),
        format=manifest.format,
        provenance=provenance,
        extraction=None if form is None else ExtractedBy(form=form, model=build.get("extracting_model")),
        indexes=("lexical", "names", *_pieces(graph)),
        stale=bool(manifest.provenance.get("sources")) and not is_pulled(graph.path) and is_stale(manifest),
    )


def _pieces(graph: Graph) -> Iterable[str]:
    """Return what lies beside a graph; nothing of one that is gone, whose open files can still be read."""
    from orienteer.graph.format import read_pointer

    try:
        return read_pointer(graph.path).pieces
    except NotAGraph:
        return ()


def beneath(value: Any, roots: Sequence[Path]) -> Any:  # Any: JSON in and out
    """Return JSON with every path beneath one of the folders that a person named, which is its name alone.

    `/home/ada/beers/a.csv` is `a.csv` where `/home/ada/beers` was named, and `/home/ada/beers` is `beers`. Any other
    path is the name of its file.
    """
    if isinstance(value, dict):
        return {name: beneath(member, roots) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [beneath(member, roots) for member in value]
    if not isinstance(value, str):
        return value
    root = next((root for root in roots if value != str(root) and Path(value).is_relative_to(root)), None)
    if root is not None:
        return Path(value).relative_to(root).as_posix()
    return Path(value).name if Path(value).is_absolute() else without_paths(value, roots)
