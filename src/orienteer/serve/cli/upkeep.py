"""Commands about this installation: cache info, cache clear, doctor."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from orienteer.display import counted
from orienteer.errors import BadInput, ModelError
from orienteer.graph.format import DEBRIS, GENERATION, GENERATIONS, LOCK, PIECES, POINTER, is_graph, is_link, no_link
from orienteer.graph.publication import remove
from orienteer.llm.address import show
from orienteer.serve.cli.arguments import file_trouble, graph_of, settings
from orienteer.serve.cli.checkup import examine, is_damaged, lines
from orienteer.serve.cli.output import Output

GROUPS: Mapping[str, str] = {"cache": "What is kept so that it need not be made, or paid for, again."}
_EXTRAS = {
    "communities": "graspologic_native",
    "cypher": "ladybug",
    "dense": "onnxruntime",
    "docs": "markitdown",
    "fast": "numba",
    "parquet": "pyarrow",
    "rdf": "pyoxigraph",
    "sandbox": "pydantic_monty",
}
_SECRETS = frozenset({"api_key"})
_KINDS = ("graphs", "vectors", "replies")  # what the cache holds
_LOCAL_SERVERS = {
    "Ollama": "http://localhost:11434/v1",
    "LM Studio": "http://localhost:1234/v1",
    "vLLM": "http://localhost:8000/v1",
    "llama.cpp": "http://localhost:8080/v1",
}

OptionalDirectory = Annotated[
    Path | None,
    typer.Argument(metavar="DIR", help="A graph, or its sources: its files are checked against their hashes."),
]


def cache_info(out: Output) -> None:
    """Say where the cache is and what it holds: graphs of sources, vectors of texts, replies of models."""
    folder = settings().cache
    sizes = {kind: {path: _size(path) for path in _cached(folder, kind)} for kind in _KINDS}
    total = sum(sum(one.values()) for one in sizes.values())
    if out.as_json:
        facts = {kind: [{"path": str(path), "bytes": size} for path, size in sizes[kind].items()] for kind in _KINDS}
        out.json({"path": str(folder), "bytes": total, **facts})
        return
    out.print(f"{folder}: {_told(sizes)}, {counted(total, 'byte')}")
    out.table([[f"  {kind}/{path.name}", f"{size:,}"] for kind in _KINDS for path, size in sizes[kind].items()])


def cache_clear(
    out: Output,
    vectors: Annotated[bool, typer.Option("--vectors", help="Also vectors of texts: a server's cost money.")] = False,
    replies: Annotated[bool, typer.Option("--replies", help="Also replies of models, which cost money.")] = False,
) -> None:
    """Remove the graphs of the cache; they are made again when they are needed. What was paid for stays unless named.

    Nothing is removed but what was put there.
    """
    folder = settings().cache
    kinds = ["graphs", *(["vectors"] if vectors else []), *(["replies"] if replies else [])]
    found = {kind: {path: _size(path) for path in _cached(folder, kind)} for kind in _KINDS}
    for kind in kinds:
        if is_link(folder / kind):
            raise BadInput(f"{folder / kind} is a link, which nothing is removed through: empty it by hand")
    removed = {path: size for kind in kinds for path, size in found[kind].items()}
    for path in removed:
        with file_trouble("remove it by hand"):
            _remove(path)
    kept = {kind: sum(found[kind].values()) for kind in _KINDS if kind not in kinds and found[kind]}
    if out.as_json:
        out.json({"path": str(folder), "removed": len(removed), "bytes": sum(removed.values()), "kept": kept})
        return
    told = _told({kind: found[kind] for kind in kinds})
    out.print(f"removed {told}, {counted(sum(removed.values()), 'byte')}")
    for kind, size in kept.items():
        out.note(f"kept: {kind}, {counted(size, 'byte')}; --{kind} removes them")


def _remove(folder: Path) -> None:
    """Remove a folder of the cache; of a graph what a writer of graphs leaves, so that anybody's else stays."""
    if not is_graph(folder):
        shutil.rmtree(folder)
        return
    for name in (GENERATIONS, PIECES):
        remove(no_link(folder / name), GENERATION)
        with suppress(OSError):  # there is none, or it holds something else
            (folder / name).rmdir()
    remove(folder, DEBRIS)
    (folder / LOCK).unlink(missing_ok=True)
    (folder / POINTER).unlink()  # the last of it: what is broken off before is a graph still, and removed next time
    with suppress(OSError):
        folder.rmdir()


def doctor(
    out: Output,
    directory: OptionalDirectory = None,
    probe: Annotated[bool, typer.Option("--probe", help="Also look for model servers on this machine.")] = False,
) -> int:
    """Say what is installed and set, and whether a graph is whole."""
    import platform
    from importlib import metadata
    from importlib.util import find_spec

    facts: dict[str, Any] = {
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in ("orienteer", "numpy", "openai", "pydantic", "typer")},
        "extras": {
            extra: {"installed": find_spec(module) is not None, "install": f"pip install 'orienteer[{extra}]'"}
            for extra, module in _EXTRAS.items()
        },
        "settings": _settings(),
    }
    if probe:
        facts["servers"] = {name: {"url": url, "answers": _answers(url)} for name, url in _LOCAL_SERVERS.items()}
    mend = "import the graph again with --force"
    if directory is not None:
        graph = graph_of(directory, out)
        if graph != directory:
            out.note(f"the graph of {directory} is in the cache at {graph}")
            mend = "make it again with orienteer cache clear"
        facts["graph"] = examine(graph)
    if out.as_json:
        out.json(facts)
    else:
        _print(out, facts, mend=mend)
    return int("graph" in facts and is_damaged(facts["graph"]))


def _settings() -> dict[str, dict[str, Any]]:
    """Return each setting with where it comes from; of a key only that it is there."""
    found = settings()
    values = {one.name: getattr(found, one.name) for one in fields(found) if one.name not in ("options", "origins")}
    return {
        name: {
            "value": _shown(name, value),
            "from": found.origins.get(name, "default"),
        }
        for name, value in values.items()
    }


def _shown(name: str, value: Any) -> Any:  # Any: what a setting can be
    if name in _SECRETS and value:
        return "set"
    if name in ("base_url", "embedder_url") and value:
        return show(value)
    return str(value) if isinstance(value, Path) else value


def _print(out: Output, facts: Mapping[str, Any], *, mend: str) -> None:
    out.table([["python", facts["python"]], *([name, version] for name, version in facts["versions"].items())])
    out.print()
    for name, extra in facts["extras"].items():
        out.print(f"extra {name}: {'installed' if extra['installed'] else extra['install']}")
    out.print()
    out.table(
        [[name, str(one["value"]), one["from"]] for name, one in facts["settings"].items()],
        header=("setting", "value", "from"),
    )
    for name, server in facts.get("servers", {}).items():
        out.print(f"{name} at {server['url']}: {'answers' if server['answers'] else 'no answer'}")
    if graph := facts.get("graph"):
        out.print()
        for line in lines(graph, mend=mend):
            out.print(line)


def _answers(url: str) -> bool:
    import httpx2

    from orienteer.llm.transport import Transport

    try:
        with httpx2.Client(transport=Transport(url), timeout=1) as client:
            return client.get(f"{url}/models").status_code == 200
    except (httpx2.RequestError, ModelError):  # nobody is there, or somebody who does not speak HTTP
        return False


def _cached(folder: Path, kind: str) -> list[Path]:
    """Return the folders of a kind that the cache holds; beside them may lie what somebody else has put there."""
    from orienteer.index.vector_cache import is_vectors
    from orienteer.ingest.documents.cut.replies import is_replies
    from orienteer.ingest.sources import is_cached

    is_ours = {"graphs": is_cached, "vectors": is_vectors, "replies": is_replies}[kind]
    within = folder if kind == "replies" else folder / kind
    found = sorted(within.iterdir()) if within.is_dir() else []
    return [path for path in found if path.is_dir() and not path.is_symlink() and is_ours(path)]


def _told(found: Mapping[str, Collection[Path]]) -> str:
    """Say how much there is of each kind that there is, of graphs also that there is none."""
    parts = [counted(len(found["graphs"]), "graph")]
    if vectors := found.get("vectors"):
        parts.append(f"vectors of {counted(len(vectors), 'embedder')}")
    if found.get("replies"):
        parts.append("replies of models")
    return ", ".join(parts)


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


COMMANDS = {
    "cache info": (cache_info, "cache info"),
    "cache clear": (cache_clear, "cache clear"),
    "doctor": (doctor, "doctor DIR"),
}
