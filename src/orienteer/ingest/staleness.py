"""Whether the files that a graph was made of have changed since."""

from __future__ import annotations

from orienteer.graph.format import Manifest
from orienteer.ingest import provenance


def is_stale(manifest: Manifest) -> bool:
    """Say whether a source of a graph has changed, is gone, or has been joined by another since it was made.

    A graph that was not made from files is never stale.
    """
    if manifest.provenance.get("made_by") == "build":
        from orienteer.ingest.documents import stamps  # of documents; whoever opens a graph of tables needs none of it

        return stamps.is_stale(manifest)
    return provenance.is_stale(manifest)
