"""The command doctor: the installation, the settings, the model's server, and the state of a graph or database."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from orienteer.addresses import address_in
from orienteer.display import counted
from orienteer.errors import Error, ModelError, NotAGraph, install_command
from orienteer.files import cache_folder
from orienteer.llm.address import URL, show
from orienteer.records import Manner
from orienteer.serve.cli.arguments import ModelFlags, graph_of, settings
from orienteer.serve.cli.output import Output
from orienteer.settings import Settings

if TYPE_CHECKING:
    from orienteer.llm.abilities import Abilities, Outcome


EXTRAS = {
    "chat": "prompt_toolkit",
    "dense": "onnxruntime",
    "docs": "pypdfium2",
    "dspy": "dspy",
    "haystack": "haystack",
    "langchain": "langchain_core",
    "llamaindex": "llama_index",
    "local": "xllamacpp",
    "mcp": "mcp",
    "neo4j": "neo4j",
    "notebook": "anywidget",
    "parquet": "pyarrow",
    "ray": "ray",
    "rdf": "pyoxigraph",
    "s3": "obstore",
    "sandbox": "pydantic_monty",
    "serve": "fastapi",
    "train": "trl",
}
"""A module of each extra, which shows that it is installed."""
_SECRETS = frozenset({"api_key"})
_ADDRESSES = frozenset({"base_url", "embedder_url"})
_LOCAL_SERVERS = {
    "Ollama": "http://localhost:11434/v1",
    "LM Studio": "http://localhost:1234/v1",
    "vLLM": "http://localhost:8000/v1",
    "llama.cpp": "http://localhost:8080/v1",
}
_UNDAMAGED: Mapping[str, Any] = {"damaged": []}  # Any: JSON, as in all facts below

OptionalDirectory = Annotated[
    Path | None,
    typer.Argument(
        metavar="DIR",
        help="A graph, or its sources, whose files are checked against their hashes; or the address of a database, "
        "bolt://HOST/DB, whose server is asked what it is like for questions in place.",
    ),
]


def doctor(
    out: Output,
    directory: OptionalDirectory = None,
    *,
    probe: Annotated[
        bool,
        typer.Option(
            "--probe",
            help="Also ask the server of the model what it does, which may cost a little, and look for servers here.",
        ),
    ] = False,
    model: ModelFlags,
) -> int:
    """Report the installation, the settings, the abilities of a model's server, and the state of a graph."""
    import platform
    from importlib import metadata

    configured = model.settings()
    facts: dict[str, Any] = {
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in ("orienteer", "numpy", "httpx2", "pydantic", "typer")},
        "extras": {
            extra: {"installed": find_spec(module) is not None, "install": install_command(extra)}
            for extra, module in EXTRAS.items()
        },
        "settings": _settings(configured),
    }
    if probe:
        facts["servers"] = {name: {"url": url, "answers": does_answer(url)} for name, url in _LOCAL_SERVERS.items()}
    check = check_model(out, configured, probes=probe)
    facts["server"] = check.facts()
    remedy = "import the graph again with --force"
    address = address_in(directory) if directory is not None else None
    if address is not None:
        from orienteer.ingest.databases import open_database

        with closing(open_database(address, settings())) as database:
            findings = [finding._asdict() for finding in database.examine()]
            facts["database"] = {"address": str(database.address), "findings": findings}
    elif directory is not None:
        from orienteer.ingest.stores import shown

        graph = graph_of(directory, out)
        if graph != directory:
            out.note(f"the graph of {shown(directory)} is in the cache at {graph}")
            remedy = "make it again with orienteer cache clear"
        out.doing = f"checking every file of {graph} against its hash"
        facts["graph"] = _examine(graph)
    out.show(facts, lambda: _print(out, facts, check, remedy=remedy))
    if check.failure is not None:
        raise check.failure
    # This raises an error if other users could write to the cache.
    cache_folder(configured.cache, "graphs")
    if any(finding["state"] == "problem" for finding in facts.get("database", {}).get("findings", ())):
        return 1
    examined = facts.get("graph", _UNDAMAGED)
    parts = [examined, examined.get("vectors") or _UNDAMAGED, *(examined.get("pieces") or {}).values()]
    return int(any(part["damaged"] for part in parts))


def _settings(configured: Settings) -> dict[str, dict[str, Any]]:
    """Return each setting's value and origin; a key's value is only "set", and addresses lose their passwords."""
    facts = {}
    for field in fields(configured):
        if field.name in ("options", "origins", "abilities"):
            continue
        value = getattr(configured, field.name)
        if value and field.name in _SECRETS:
            value = "set"
        elif field.name == "serve" and "keys" in value:
            value = {**value, "keys": "set"}
        elif value and field.name in _ADDRESSES:
            value = show(value)
        elif isinstance(value, Path):
            value = str(value)
        facts[field.name] = {"value": value, "from": configured.origins.get(field.name, "default")}
    return facts


def does_answer(url: str) -> bool:
    """Return whether a model server answers at an address within a second."""
    import httpx2

    from orienteer.llm.transport import Transport

    try:
        with httpx2.Client(transport=Transport(url), timeout=1) as client:
            return client.get(f"{url}/models").status_code == 200
    except (httpx2.RequestError, ModelError):
        # Nothing listens there, or not by HTTP.
        return False


def _examine(path: Path) -> dict[str, Any]:
    """Return the damaged files of a graph, whether its sources have changed, and the state of its pieces."""
    from orienteer.graph.damage import damaged_files, damaged_pieces
    from orienteer.graph.format import MANIFEST, generation_of, is_pulled, parse_manifest, read_pointer
    from orienteer.graph.pieces import remedy
    from orienteer.graph.soundness import contradiction
    from orienteer.ingest.provenance import is_stale

    pointer = read_pointer(path)
    damaged = damaged_files(path)
    # The manifest lists all other files.
    if MANIFEST in damaged:
        unknown = dict.fromkeys(("files", "stale", "pieces", "vectors"))
        return {"path": str(path), **unknown, "damaged": damaged}
    folder = generation_of(path, pointer)
    manifest = parse_manifest((folder / MANIFEST).read_bytes())
    if not damaged and (fault := contradiction(folder, manifest)) is not None:
        damaged = [f"{fault[0]} ({fault[1]})"]
    pieces = {
        piece.name.rpartition("-")[0]: {
            "folder": str(piece),
            "checked": names is not None,
            "damaged": names or [],
            "remedy": remedy(path, piece) if names else None,
        }
        for piece, names in damaged_pieces(path).items()
    }
    return {
        "path": str(path),
        "files": len(manifest.files),
        "damaged": damaged,
        "stale": not is_pulled(path) and is_stale(manifest),
        "pieces": pieces,
        "vectors": _vectors(path, manifest.nodes, pieces.get("vectors", _UNDAMAGED)),
    }


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
    # Why no query can be embedded. A server is not called.
    trouble = None
    if about.embedder is None:
        trouble = "the vectors came without an embedder"
    else:
        try:
            embedder = settings().open_embedder(about.embedder)
            if about.fingerprint not in (None, embedder.fingerprint):
                trouble = "the embedder has changed since the graph was embedded (another file, or another address)"
        except Error as error:
            trouble = str(error)
    return {
        "damaged": None,
        **about.model_dump(include={"embedder", "dimension", "vectors", "recall", "is_parts", "is_exact"}),
        "nodes": about.nodes,
        "nodes_without": nodes - about.nodes,
        "bytes": sum(about.files.values()),
        "embedder_available": trouble is None,
        "trouble": trouble,
    }


def _print(out: Output, facts: Mapping[str, Any], check: ModelCheck, *, remedy: str) -> None:
    out.table([["python", facts["python"]], *([name, version] for name, version in facts["versions"].items())])
    out.print()
    for name, extra in facts["extras"].items():
        out.print(f"extra {name}: {'installed' if extra['installed'] else extra['install']}")
    out.print()
    out.table(
        [[name, str(setting["value"]), setting["from"]] for name, setting in facts["settings"].items()],
        header=("setting", "value", "from"),
    )
    for name, here in facts.get("servers", {}).items():
        out.print(f"{name} at {here['url']}: {'answers' if here['answers'] else 'no answer'}")
    out.print()
    check.print(out)
    if database := facts.get("database"):
        out.print()
        out.print(f"{database['address']}, for questions in place:")
        for finding in database["findings"]:
            out.print(f"{finding['about']}: {finding['told']}")
            if finding["state"] != "well":
                out.print(f"    {finding['state']}: {finding['remedy']}")
    if graph := facts.get("graph"):
        out.print()
        for line in _graph_lines(graph, remedy=remedy):
            out.print(line)


def _graph_lines(graph: Mapping[str, Any], *, remedy: str) -> list[str]:
    """Return the facts about a graph as lines; `remedy` is the command that rebuilds a damaged graph."""
    lines = [f"damaged: {name}" for name in graph["damaged"]]
    if graph["damaged"]:
        lines.append(f"{graph['path']} is damaged: {remedy}")
    else:
        lines.append(f"{graph['path']}: all {graph['files']} files whole")
    if graph["stale"]:
        lines.append("its sources have changed since it was made: import it again with --force")
    if graph["files"] is None:
        return lines
    pieces = graph["pieces"]
    for name, piece in pieces.items():
        lines += [f"damaged: {Path(piece['folder']) / file}" for file in piece["damaged"]]
        if not piece["checked"]:
            lines.append(f"{name}: not checked: {piece['folder']} was made without hashes")
        elif piece["damaged"]:
            lines.append(f"{name}: damaged; {piece['remedy']}")
    lines += [] if pieces.get("vectors", _UNDAMAGED)["damaged"] else [_vectors_line(graph["vectors"])]
    if "cypher" in pieces:
        lines.append(f"cypher: a copy that nothing reads any more: {pieces['cypher']['folder']} may be deleted")
    return lines


def _vectors_line(vectors: Mapping[str, Any] | None) -> str:
    if vectors is None:
        return "vectors: none; orienteer embed makes them"
    if vectors["damaged"]:
        return f"vectors: {vectors['damaged']}"
    scan = "every vector is compared" if vectors["is_exact"] else "their signs are scanned first"
    parts = [
        f"vectors: {vectors['vectors']:,} of {vectors['dimension']} dimensions by {vectors['embedder']}",
        counted(vectors["bytes"], "byte"),
        f"the index finds {vectors['recall']:.1%} of the nearest ten: {scan}",
    ]
    if vectors["nodes_without"]:
        parts.append(f"{counted(vectors['nodes_without'], 'node')} without")
    parts.append(
        "the embedder is there" if vectors["embedder_available"] else f"no query can be embedded: {vectors['trouble']}"
    )
    return "; ".join(parts)


COMMANDS = {"doctor": (doctor, "doctor DIR")}


# The configured model: the abilities of its server, probed now or known from before.


_KEPT: dict[Outcome, str] = {
    "kept": "kept",
    "ignored": "ignored: taken, and not heeded",
    "refused": "refused",
    "unknown": "not told",
}
_GIVEN: dict[Outcome, str] = {"kept": "given", "ignored": "not given", "refused": "refused", "unknown": "not told"}
# The name of each ability for a person, and its possible outcomes.
_ABILITIES: dict[str, tuple[str, dict[Outcome, str]]] = {
    "tools": ("native tools", _KEPT),
    "required_tools": ("a call where one is required", _KEPT),
    "parallel_calls": ("several calls in one reply", _KEPT | {"ignored": "one at a time"}),
    "json_schema": ("JSON schema of a reply", _KEPT),
    "grammar": ("grammar of a reply, in GBNF", _KEPT),
    "length_limit": ("limit of tokens, a cut told", _KEPT),
    "seed": ("seed", _KEPT),
    "logprobs": ("log-probabilities", _GIVEN),
    "token_ids": ("token ids", _GIVEN),
    "usage": ("tokens that a reply took", _GIVEN),
}


class ModelCheck(NamedTuple):
    """The abilities of the configured model's server, as far as known."""

    configured: Settings
    abilities: Abilities | None = None
    """None without a configured model, if its server was never probed, and if it failed now."""
    manner: Manner = Manner()
    """The dialect for the model, if its abilities are known."""
    failure: Error | None = None
    is_new: bool = False
    """Whether it was probed now."""

    def facts(self) -> dict[str, Any] | None:  # Any: JSON
        """Return it as JSON, or None if nothing is known."""
        configured, abilities = self.configured, self.abilities
        if self.failure is not None:
            return {"url": configured.model_address, "model": configured.model, "error": str(self.failure)}
        if abilities is None:
            return None
        return {**abilities.model_dump(mode="json"), "dialect": self.manner.dialect, "adaptation": self.manner.why}

    def print(self, out: Output) -> None:
        """Print it, or the command that finds out."""
        configured, abilities = self.configured, self.abilities
        if configured.model is None:
            out.print("no model is named: doctor --probe --model NAME --base-url URL asks what a server does")
        elif abilities is None and self.failure is None:
            out.print(f"{configured.model} at {configured.model_address}: doctor --probe asks what its server does")
        if abilities is None:
            return
        when = "now" if self.is_new else f"{abilities.age()}; doctor --probe asks again"
        out.print(f"{abilities.model} at {abilities.url}, asked on {abilities.probed[:10]}, {when}:")
        rows = [[f"  {name}", words[getattr(abilities, field)]] for field, (name, words) in _ABILITIES.items()]
        context = "not told" if abilities.context_tokens is None else counted(abilities.context_tokens, "token")
        out.table([*rows, ["  context", context]])
        out.print(f"  so {self.manner.why}")
        if self.is_new:
            spent = abilities.spent
            price = "at no known price" if spent.usd is None else f"{spent.usd:.4f} USD"
            took = f"{counted(spent.calls, 'call')}, {counted(spent.tokens, 'token')}, {spent.seconds:.1f} s"
            out.print(f"  asking took {took}, {price}")


def check_model(out: Output, configured: Settings, *, probes: bool) -> ModelCheck:
    """Return the abilities of the configured model's server, with `probes` probed now and then stored."""
    if configured.model is None:
        return ModelCheck(configured)
    from orienteer.llm.abilities import keep, recall
    from orienteer.llm.local import LocalModel
    from orienteer.llm.probe import Probe

    try:
        model = configured.open_model() if probes or configured.model_address == URL else None
        abilities = recall(configured.cache, configured.model_address, configured.model)
        if probes and model is not None:
            out.note(f"asking {model.name} at {model.base_url} what it does, by seven short requests")
            try:
                served = model.served() if isinstance(model, LocalModel) else model
                abilities = Probe(served).abilities().model_copy(update={"url": model.base_url})
            finally:
                model.close()
            try:
                keep(abilities, configured.cache)
            except OSError as error:
                out.note(f"it cannot be kept for later: {error}")
    except Error as failure:
        return ModelCheck(configured, failure=failure)
    if abilities is None:
        return ModelCheck(configured)
    manner = Manner(dialect=abilities.dialect, why=abilities.adaptation)
    if isinstance(model, LocalModel):
        manner = Manner(dialect=model.dialect, why=model.adaptation)
    elif (mode := configured.server.get("mode", "auto")) != "auto":
        manner = Manner(why=f"calls are asked for as [server] says: mode = {mode}")
    return ModelCheck(configured, abilities, manner, is_new=probes)
