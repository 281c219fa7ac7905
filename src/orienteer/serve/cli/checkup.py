"""What `doctor` finds of one graph: its files, its pieces, and more of its vectors and its copy for Cypher."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orienteer.display import counted
from orienteer.errors import Error, NotAGraph
from orienteer.serve.cli.arguments import settings

if TYPE_CHECKING:
    from orienteer.graph.pieces.vectors import VectorsAbout

_WHOLE: Mapping[str, Any] = {"damaged": []}


def examine(path: Path) -> dict[str, Any]:
    """Return which files of a graph are not what was published, whether its sources have changed, and its pieces."""
    from orienteer.graph.damage import damaged_files
    from orienteer.graph.format import MANIFEST, Manifest, generation_of, read_pointer
    from orienteer.graph.soundness import contradiction
    from orienteer.ingest.provenance import is_stale

    pointer = read_pointer(path)
    damaged = damaged_files(path)
    if MANIFEST in damaged:  # it says which the others are
        unknown = dict.fromkeys(("files", "stale", "pieces", "vectors", "cypher"))
        return {"path": str(path), **unknown, "damaged": damaged}
    folder = generation_of(path, pointer)
    manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    if not damaged and (found := contradiction(folder, manifest)) is not None:
        damaged = [f"{found[0]} ({found[1]})"]
    pieces = _pieces(path)
    return {
        "path": str(path),
        "files": len(manifest.files),
        "damaged": damaged,
        "stale": is_stale(manifest),
        "pieces": pieces,
        "vectors": _vectors(path, manifest.nodes, pieces.get("vectors", _WHOLE)),
        "cypher": _cypher(path),
    }


def is_damaged(graph: Mapping[str, Any]) -> bool:
    """Tell whether anything of a graph that was examined is not what was written."""
    pieces = (graph["pieces"] or {}).values()
    return bool(
        graph["damaged"] or (graph["vectors"] or {}).get("damaged") or any(piece["damaged"] for piece in pieces)
    )


def lines(graph: Mapping[str, Any], *, mend: str) -> list[str]:
    """Return what was found, for people; `mend` says how a damaged graph is made again."""
    rows = [f"damaged: {name}" for name in graph["damaged"]]
    if graph["damaged"]:
        rows.append(f"{graph['path']} is damaged: {mend}")
    else:
        rows.append(f"{graph['path']}: all {graph['files']} files whole")
    if graph["stale"]:
        rows.append("its sources have changed since it was made: import it again with --force")
    if graph["files"] is not None:
        pieces = graph["pieces"]
        rows += [line for name, piece in pieces.items() for line in _piece_lines(name, piece)]
        rows += [] if pieces.get("vectors", _WHOLE)["damaged"] else [_vectors_line(graph["vectors"])]
        rows += [] if pieces.get("cypher", _WHOLE)["damaged"] else [_cypher_line(graph["cypher"])]
    return rows


def _pieces(path: Path) -> dict[str, dict[str, Any]]:
    """Return each piece: its folder, those of its files that are not what was written, and what is done about them."""
    from orienteer.graph.damage import damaged_pieces
    from orienteer.graph.pieces import remedy

    return {
        folder.name.rpartition("-")[0]: {
            "folder": str(folder),
            "checked": names is not None,
            "damaged": names or [],
            "remedy": remedy(path, folder) if names else None,
        }
        for folder, names in damaged_pieces(path).items()
    }


def _piece_lines(name: str, piece: Mapping[str, Any]) -> list[str]:
    if not piece["checked"]:
        return [f"{name}: not checked, for hashes were not kept when {piece['folder']} was made"]
    damaged = [f"damaged: {Path(piece['folder']) / file}" for file in piece["damaged"]]
    return [*damaged, f"{name}: damaged; {piece['remedy']}"] if damaged else []


def _vectors(path: Path, nodes: int, piece: Mapping[str, Any]) -> dict[str, Any] | None:
    from orienteer.graph.pieces.vectors import read_about

    if piece["damaged"]:
        return {"damaged": f"{', '.join(piece['damaged'])}: {piece['remedy']}"}
    try:
        about = read_about(path)
    except NotAGraph as error:
        return {"damaged": str(error)}
    if about is None:
        return None
    trouble = _trouble(about)
    return {
        "damaged": None,
        **about.model_dump(include={"embedder", "dimension", "vectors", "recall", "is_parts", "is_exact"}),
        "nodes": about.nodes,
        "nodes_without": nodes - about.nodes,
        "bytes": sum(about.files.values()),
        "embedder_available": trouble is None,
        "trouble": trouble,
    }


def _trouble(about: VectorsAbout) -> str | None:
    """Return why the embedder of queries cannot be had, None where it can; a server is not asked."""
    if about.embedder is None:
        return "they were given without an embedder: no query can be embedded"
    try:
        embedder = settings().open_embedder(about.embedder)
    except Error as error:
        return str(error)
    if about.fingerprint not in (None, embedder.fingerprint):
        return "it is not as it was when the graph was embedded (another file, or another address)"
    return None


def _cypher(path: Path) -> dict[str, Any] | None:
    from orienteer.cypher.ladybug.database import about_copy
    from orienteer.graph.pieces import piece

    try:
        folder = piece(path, "cypher")
    except NotAGraph:  # what is damaged of it stands among the pieces
        return None
    about = about_copy(folder) if folder is not None else None
    if about is None:
        return None
    return {
        "engine": about.engine,
        "installed": find_spec("ladybug") is not None,
        "stale": about.is_stale,
        "bytes": about.size,
        "left_out": dict(about.left_out),
    }


def _vectors_line(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return "vectors: none; orienteer embed makes them"
    if found["damaged"]:
        return f"vectors: {found['damaged']}"
    way = "every vector is looked at" if found["is_exact"] else "signs are scanned"
    parts = [
        f"vectors: {found['vectors']:,} of {found['dimension']} dimensions by {found['embedder']}",
        f"{counted(found['bytes'], 'byte')}",
        f"recall@10 {found['recall']:.3f}: {way}",
    ]
    if found["nodes_without"]:
        parts.append(f"{counted(found['nodes_without'], 'node')} without")
    parts.append(
        "the embedder is there" if found["embedder_available"] else f"no query can be embedded: {found['trouble']}"
    )
    return "; ".join(parts)


def _cypher_line(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return "Cypher's copy: none; the first statement makes it"
    state = "made anew at the next statement, for the engine is another now" if found["stale"] else "whole"
    if not found["installed"]:
        state = "no engine: pip install 'orienteer[cypher]'"
    return f"Cypher's copy: {found['engine']}; {counted(found['bytes'], 'byte')}; {state}"
