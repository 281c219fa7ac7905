"""Commands about this installation: cache info, cache clear, doctor."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from orienteer.display import counted
from orienteer.serve.cli.arguments import file_trouble, graph_of, settings
from orienteer.serve.cli.output import Output

GROUPS: Mapping[str, str] = {"cache": "Graphs that were made of sources at first use."}
_EXTRAS = {"cypher": "ladybug", "dense": "onnxruntime", "docs": "markitdown", "parquet": "pyarrow"}
_SECRETS = frozenset({"api_key"})
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
    """Say where the cache is and what it holds."""
    folder = settings().cache
    sizes = {path: _size(path) for path in _cached(folder)}
    total = sum(sizes.values())
    if out.as_json:
        graphs = [{"path": str(path), "bytes": size} for path, size in sizes.items()]
        out.json({"path": str(folder), "bytes": total, "graphs": graphs})
        return
    out.print(f"{folder}: {counted(len(sizes), 'graph')}, {counted(total, 'byte')}")
    out.table([[f"  {path.name}", f"{size:,}"] for path, size in sizes.items()])


def cache_clear(out: Output) -> None:
    """Remove the graphs of the cache, and nothing else; they are made again when they are needed."""
    folder = settings().cache
    removed, freed = 0, 0
    for path in list(_cached(folder)):
        freed += _size(path)
        with file_trouble("remove it by hand"):
            shutil.rmtree(path)
        removed += 1
    if out.as_json:
        out.json({"path": str(folder), "removed": removed, "bytes": freed})
    else:
        out.print(f"removed {counted(removed, 'graph')}, {counted(freed, 'byte')}")


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
        facts["graph"] = _examine(graph)
    if out.as_json:
        out.json(facts)
    else:
        _print(out, facts, mend=mend)
    return int(bool(facts.get("graph", {}).get("damaged")))


def _settings() -> dict[str, dict[str, Any]]:
    """Return each setting with where it comes from; of a key only that it is there."""
    found = settings()
    values = {one.name: getattr(found, one.name) for one in fields(found) if one.name not in ("options", "origins")}
    return {
        name: {
            "value": "set" if name in _SECRETS and value else value if not isinstance(value, Path) else str(value),
            "from": found.origins.get(name, "default"),
        }
        for name, value in values.items()
    }


def _examine(path: Path) -> dict[str, Any]:
    """Return which files of a graph are not what was published, and whether its sources have changed."""
    from orienteer.build.sources import is_stale
    from orienteer.graph.format import MANIFEST, Manifest, damaged_files, read_pointer

    file = path / "generations" / read_pointer(path).generation / MANIFEST
    damaged = damaged_files(path)
    if MANIFEST in damaged:  # it says which the others are
        return {"path": str(path), "files": None, "damaged": damaged, "stale": None}
    manifest = Manifest.model_validate_json(file.read_bytes())
    return {
        "path": str(path),
        "files": len(manifest.files),
        "damaged": damaged,
        "stale": is_stale(manifest),
    }


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
        for name in graph["damaged"]:
            out.print(f"damaged: {name}")
        if graph["damaged"]:
            out.print(f"{graph['path']} is damaged: {mend}")
        else:
            out.print(f"{graph['path']}: all {graph['files']} files whole")
        if graph["stale"]:
            out.print("its sources have changed since it was made: import it again with --force")


def _answers(url: str) -> bool:
    from http.client import HTTPException
    from urllib.request import ProxyHandler, build_opener

    try:
        # A proxy that the environment names cannot reach this machine's own servers.
        with build_opener(ProxyHandler({})).open(f"{url}/models", timeout=1) as reply:
            return bool(reply.status == 200)
    except (OSError, HTTPException):  # nobody is there, or somebody who does not speak HTTP
        return False


def _cached(folder: Path) -> Iterator[Path]:
    """Return the graphs of the cache; a folder of that name may hold other things too."""
    from orienteer.graph.format import is_graph

    graphs = folder / "graphs"
    return (path for path in sorted(graphs.iterdir()) if is_graph(path)) if graphs.is_dir() else iter(())


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


COMMANDS = {
    "cache info": (cache_info, "cache info"),
    "cache clear": (cache_clear, "cache clear"),
    "doctor": (doctor, "doctor DIR"),
}
