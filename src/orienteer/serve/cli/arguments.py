"""The flags that commands share, how a function with flags becomes a command, and how a folder becomes a graph."""

from __future__ import annotations

import functools
import inspect
import json
import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, fields, is_dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, cast, get_type_hints

import typer

from orienteer.addresses import Address, address_in
from orienteer.display import counted
from orienteer.errors import BadInput, Error, UsageError
from orienteer.serve.cli.output import DISK_ERRORS, Output, Tabular, drop_output

if TYPE_CHECKING:
    from orienteer.executors import Executor
    from orienteer.graph.builder import Progress
    from orienteer.graph.store import Graph
    from orienteer.ingest.documents.read.selection import Selection
    from orienteer.ingest.documents.so_far import HearInterim
    from orienteer.llm.budget import Budget
    from orienteer.protocols import LanguageModel
    from orienteer.settings import Settings

STANDARD = Path("-")
"""Standard output, as the name of a file."""
_LOOK_SECONDS = 2.0  # between two looks at the files that are watched
_NAMED = 3  # files that a warning names

JsonFlag = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Form = Annotated[
    Literal["table", "csv", "md", "json"] | None,
    typer.Option("--format", metavar="FORM", help="Print the result as table, csv or md; or as json."),
]
PagerFlag = Annotated[bool, typer.Option("--no-pager", help="Do not show a long result in a pager.")]
QuietFlag = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but the result.")]
VerboseFlag = Annotated[
    int, typer.Option("--verbose", "-v", count=True, show_default=False, help="Log more; twice, also tracebacks.")
]
YesFlag = Annotated[
    bool, typer.Option("--yes", "-y", help="Make a graph of a large folder without asking.", show_default=False)
]
Include = Annotated[
    list[str] | None,
    typer.Option(metavar="GLOB", help="Read only matching files, even hidden or ignored ones. Repeatable."),
]
Exclude = Annotated[list[str] | None, typer.Option(metavar="GLOB", help="Do not read matching files. Repeatable.")]
Directory = Annotated[
    Path,
    typer.Argument(metavar="DIR", help="A graph, its address (s3://, https://), or its sources: a folder, or a table."),
]
NodeName = Annotated[str, typer.Argument(metavar="NODE", help="A node's id, name or alias.")]
Types = Annotated[list[str] | None, typer.Option("--type", "-t", metavar="T", help="Keep this node type. Repeatable.")]
Where = Annotated[
    list[str] | None,
    typer.Option(metavar="FIELD=VALUE", help="Keep nodes with a matching property: = != < <= > >=. Repeatable."),
]
K = Annotated[int, typer.Option("-k", metavar="N", min=0, help="Maximum number of hits.")]


def _named_split(split: str | None) -> str | None:
    if split == "":
        raise UsageError("--split is empty: name a split, or leave --split out")
    return split


Split = Annotated[
    str | None,
    typer.Option(metavar="S", help="The split of a data set, such as OTT-QA's dev.", callback=_named_split),
]
Force = Annotated[bool, typer.Option("--force", help="Replace what is already there.")]
BaseUrl = Annotated[str | None, typer.Option(metavar="URL", help="The server's address, ending in /v1.")]
MethodOptions = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="An option of the method. Repeatable.")
]
RayAddress = Annotated[
    str | None, typer.Option("--ray", metavar="ADDRESS", help="Work on a Ray cluster: HOST:PORT of its head, or auto.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFlags:
    """The flags that name a model."""

    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model's name, as its server spells it, or local:FILE.gguf.")
    ] = None
    base_url: BaseUrl = None

    def settings(self, **changes: Any) -> Settings:  # Any: the values of settings are of several types
        """Return the settings of the environment and the file, overridden by these flags. Raises `BadOption`."""
        return settings().with_flags(model=self.model, base_url=self.base_url, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetFlags:
    """The flags that limit what a question may take."""

    budget_calls: Annotated[int | None, typer.Option(metavar="N", help="Maximum model calls per question.")] = None
    budget_tokens: Annotated[int | None, typer.Option(metavar="N", help="Maximum tokens per question.")] = None
    budget_seconds: Annotated[float | None, typer.Option(metavar="S", help="Maximum seconds per question.")] = None
    budget_usd: Annotated[float | None, typer.Option(metavar="X", help="Maximum US dollars per question.")] = None

    def limits(self, configured: Settings) -> Budget:
        """Return the budget of a question, the settings' limits overridden by these flags. Raises `BadOption`."""
        return configured.limits(**_limits(self))

    def served(self, configured: Settings, own: Budget | None = None) -> Budget:
        """Return a client's budget: of the settings, over them the interface's `own`, over all these flags."""
        from orienteer.serve.door import served_budget

        return served_budget(configured, own, **_limits(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalBudgetFlags:
    """The flags that limit what a command may take in all."""

    budget_calls: Annotated[int | None, typer.Option(metavar="N", help="Maximum model calls in total.")] = None
    budget_tokens: Annotated[int | None, typer.Option(metavar="N", help="Maximum tokens in total.")] = None
    budget_seconds: Annotated[float | None, typer.Option(metavar="S", help="Maximum seconds in total.")] = None
    budget_usd: Annotated[float | None, typer.Option(metavar="X", help="Maximum US dollars in total.")] = None

    def limits(self) -> Budget:
        """Return the budget of the command. The limits of the settings are for one question. Raises `BadOption`."""
        from orienteer.llm import Budget

        return Budget(**_limits(self))


def _limits(flags: BudgetFlags | TotalBudgetFlags) -> dict[str, Any]:  # Any: whole numbers and fractions
    return {field.name.removeprefix("budget_"): getattr(flags, field.name) for field in fields(flags)}


def with_output(function: Callable[..., int | None]) -> Callable[..., int | None]:
    """Return a command with flags for its parameter `out`, and for the fields of dataclasses among the others."""
    signature = inspect.signature(function, eval_str=True)
    parameters = {name: parameter for name, parameter in signature.parameters.items() if name != "out"}
    groups = {
        name: cast("type[Any]", parameter.annotation)  # a dataclass, as the condition says
        for name, parameter in parameters.items()
        if is_dataclass(parameter.annotation)
    }
    flags = [parameter for name, parameter in parameters.items() if name not in groups]
    is_tabular = signature.parameters["out"].annotation == Tabular
    reads_sources = not parameters.keys().isdisjoint(("directory", "directories"))
    own: list[tuple[str, object, object]] = [
        *([("yes", False, YesFlag), ("include", None, Include), ("exclude", None, Exclude)] if reads_sources else ()),
        *[("as_json", False, JsonFlag), ("quiet", False, QuietFlag), ("verbosity", 0, VerboseFlag)],
        *([("form", None, Form), ("no_pager", False, PagerFlag)] if is_tabular else ()),
    ]
    flags += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, default, annotation in (*chain.from_iterable(map(_flags, groups.values())), *own)
    ]

    @functools.wraps(function)
    def command(**values: Any) -> int | None:
        given = {name: values.pop(name) for name, _, _ in own}
        verbosity, form = given["verbosity"], given.get("form") or ""
        logging.getLogger("orienteer").setLevel((logging.WARNING, logging.INFO, logging.DEBUG)[min(verbosity, 2)])
        if given["as_json"] and form not in ("", "json"):
            raise UsageError(f"--json is short for --format json: leave it out, or --format {form}")
        has_pager = is_tabular and not given["no_pager"] and not values.get("watch")
        out = Output(
            form="json" if given["as_json"] else form, quiet=given["quiet"], verbosity=verbosity, has_pager=has_pager
        )
        if reads_sources:
            out.assumes_yes, out.include, out.exclude = given["yes"], given["include"] or (), given["exclude"] or ()
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        try:
            try:
                code = _run(function, out, values)
            finally:
                out.done()
        except KeyboardInterrupt:
            out.note("interrupted")
            raise
        except BrokenPipeError:
            # The reader of the pipe has seen enough.
            drop_output()
            return 0
        return code

    # typer reads the parameters from these.
    command.__signature__ = signature.replace(parameters=flags)  # type: ignore[attr-defined]
    command.__annotations__ = {flag.name: flag.annotation for flag in flags}
    return command


def _flags(group: type[Any]) -> list[tuple[str, object, object]]:  # Any: a dataclass
    """Return the names of a dataclass's fields, with their defaults and annotations."""
    types = get_type_hints(group, include_extras=True)
    return [(field.name, field.default, types[field.name]) for field in fields(group)]


def _run(function: Callable[..., int | None], out: Output, values: Mapping[str, Any]) -> int | None:  # Any: its options
    """Return the exit code of a command. Raises `NotAGraph` for a damaged graph, `Error` for a full or failing disk."""
    try:
        out.start_clock()
        return function(out=out, **values)
    except Exception as error:
        # Damage shows as any error, of NumPy or of the system: files are checked only then, for it takes long.
        for graph in out.opened:
            from orienteer.graph.damage import tell_damage

            tell_damage(graph.path, graph.arrays.manifest.generation, error)
        if isinstance(error, OSError) and error.errno in DISK_ERRORS:
            name = error.filename or "a file"
            raise Error(f"{name}: {error.strerror}; make room on the disk or check it, and try again") from error
        raise


def open_graph(path: Path, out: Output) -> Graph:
    """Open a graph directory, or build a graph of sources in the cache; unreadable files are reported first."""
    from orienteer.graph.store import Graph
    from orienteer.ingest import bounds
    from orienteer.ingest.provenance import skipped_groups, unread_files

    directory, is_new = _found_graph(path, out)
    out.doing = f"opening {directory}"
    with file_trouble("check the path and its permissions"):
        graph = Graph.open(directory, embedder=lambda name: settings().open_embedder(name))
    out.opened.append(graph)
    out.doing = "reading the graph"
    if is_new and path.suffix == ".json" and path.is_file():
        try:
            json.loads(path.read_bytes())
        except ValueError:
            out.note(f"warning: {path} is incomplete or invalid JSON: it was read as a text")
    manifest = graph.arrays.manifest
    groups = skipped_groups(manifest)
    if is_new and groups:
        for line in bounds.lines(groups):
            out.note(line)
    elif files := unread_files(manifest):
        named = "; ".join(f"{file.file}: {file.reason}" for file in files[:_NAMED])
        more = f"; and {len(files) - _NAMED:,} more" if len(files) > _NAMED else ""
        out.note(
            f"warning: {counted(len(files), 'file')} could not be read, and {'is' if len(files) == 1 else 'are'} no "
            f"part of the graph: {named}{more}"
        )
    return graph


Watch = Annotated[bool, typer.Option("--watch", help="Rerun whenever a file changes. Ctrl-C stops.")]


def watched(out: Output, graph: Graph) -> Iterator[None]:
    """Yield whenever a source of a graph has changed, looking a twentieth of the time at most. Raises `UsageError`."""
    from orienteer.graph.format import is_pulled, read_manifest, read_pointer
    from orienteer.ingest.provenance import is_stale, sources_of

    sources = sources_of(graph.arrays.manifest)
    if not sources or is_pulled(graph.path):
        raise UsageError(f"{graph.path} was made of no files of this machine: there is nothing to watch")
    out.note(f"watching {', '.join(map(str, sources))}: Ctrl-C ends it")
    pause = _LOOK_SECONDS
    while True:
        out.is_shared = True
        time.sleep(pause)
        out.is_shared = False
        started = time.monotonic()
        has_changed = is_stale(read_manifest(graph.path, read_pointer(graph.path)))
        pause = max(_LOOK_SECONDS, 20 * (time.monotonic() - started))
        if has_changed:
            yield


def open_place(path: Path, out: Output) -> Graph:
    """Open a graph directory like `open_graph`, or a database in place. Raises `DatabaseRefused`, `DatabaseAway`."""
    address = address_in(path)
    if address is None:
        return open_graph(path, out)
    from orienteer.ingest.databases import open_database

    out.note(f"reading {Address.parse(address)} in place")
    graph = open_database(address, settings()).in_place()
    out.opened.append(graph)
    return graph


def _refuse_address(path: Path) -> None:
    """Raise `UsageError` for the address of a database: the command needs a graph directory."""
    address = address_in(path)
    if address is not None:
        place = Address.parse(address)
        raise UsageError(
            f"{place} is a database, and this command needs a graph of one's own: orienteer import {place} -o DIR "
            "makes one. In place, orienteer ask answers"
        )


def graph_of(path: Path, out: Output) -> Path:
    """Return a graph directory unchanged; for a folder of sources, their graph in the cache."""
    return _found_graph(path, out)[0]


def _found_graph(path: Path, out: Output) -> tuple[Path, bool]:
    """Return the directory of a graph, and whether it was built just now."""
    from orienteer.graph.format import is_graph

    _refuse_address(path)
    if is_graph(path) and not (out.include or out.exclude):
        return path, False
    from orienteer.ingest.cached import up_to_date
    from orienteer.ingest.stores import may_be_address

    cache, chosen = settings().cache, _selection(out)
    with file_trouble("set ORIENTEER_CACHE to a folder that can be written"):
        if not may_be_address(path) and (ready := up_to_date(path, cache=cache, selection=chosen)) is not None:
            return ready, False
        # The code that builds graphs is loaded only if one has to be built.
        from orienteer.ingest.sources import graph_at

        confirm = functools.partial(_confirm, out)
        return graph_at(path, cache=cache, selection=chosen, progress=out.progress, confirm=confirm)


def _selection(out: Output) -> Selection:
    """Return the selection of files that a command reads in a folder."""
    from orienteer.ingest.documents.read.selection import Selection

    return Selection(include=tuple(out.include), exclude=tuple(out.exclude))


Making: TypeAlias = "Callable[[Progress, HearInterim], Path]"
"""Builds the graph of some sources; reports progress and partial graphs."""


def found_or_made(path: Path, out: Output) -> Path | Making:
    """Return the graph of a path if it is up to date, else what builds it. Raises `NotAGraph`, `BadInput`."""
    from orienteer.graph.format import is_graph

    _refuse_address(path)
    if is_graph(path) and not (out.include or out.exclude):
        return path
    # These load what reads documents.
    from orienteer.ingest.sources import confirm_large, graph_at, graph_that_is_ready, may_hold_sources
    from orienteer.ingest.stores import remote_graph

    cache, chosen = settings().cache, _selection(out)
    if (ready := graph_that_is_ready(path, cache=cache, selection=chosen)) is not None:
        return ready
    if (published := remote_graph(path)) is not None:
        published.check()
    else:
        confirm_large(path, functools.partial(_confirm, out), cache=cache, selection=chosen)
        if not may_hold_sources(path, chosen):
            # This raises an error that says why.
            return graph_of(path, out)

    def make(progress: Progress, hear: HearInterim) -> Path:
        with file_trouble("set ORIENTEER_CACHE to a folder that can be written"):
            return graph_at(path, cache=cache, selection=chosen, progress=progress, hear=hear).path

    return make


def _confirm(out: Output, what: str) -> None:
    """Ask a person at a terminal to confirm. Raises `UsageError` for no, and without a terminal."""
    if out.assumes_yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{what}: add --yes if that is meant, or name a smaller folder")
    out.done()
    out.is_shared = True
    if not typer.confirm(f"{what}. Go on?", err=True):
        raise UsageError("nothing was read: name a smaller folder")
    out.is_shared = False


def open_priced_model(name: str, base_url: str | None, workers: int | None, budget: Budget) -> LanguageModel:
    """Open a model for all workers. Raises `BadOption` without a known price for a limit in dollars."""
    configured = settings().with_flags(base_url=base_url)
    if workers is not None:
        configured = configured.with_flags(server={"concurrency": workers, **configured.server})
    model = configured.open_model(name)
    budget.require_price(model.name, model.price)
    return model


@contextmanager
def executor_at(address: str | None, configured: Settings) -> Iterator[Executor]:
    """Yield a Ray cluster, or threads without an address. Raises `BadOption` if no cluster answers, `MissingExtra`."""
    from orienteer.executors import Threads

    if address is None:
        yield Threads()
        return
    from orienteer.plugins import require

    with (
        redirect_stdout(sys.stderr),
        require("executors", "ray")(address, configured) as cluster,
    ):  # where Ray tells of nodes that died
        yield cluster


def check_writable(target: Path) -> None:
    """Raise `BadInput` if a file could not be written: better before the work than after."""
    if target.is_dir() or not target.absolute().parent.is_dir():
        trouble = "is a folder" if target.is_dir() else "is in a folder that does not exist"
        raise BadInput(f"{target} {trouble}: name a file that can be written")


@contextmanager
def file_trouble(advice: str) -> Iterator[None]:
    """Turn an error of the system about a file into `BadInput` with advice, or `Error` for a failing disk."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        kind = Error if error.errno in DISK_ERRORS else BadInput
        raise kind(f"{error.filename or 'a file'}: {error.strerror or error}; {advice}") from error


def settings() -> Settings:
    """Return the settings of the environment and the settings file."""
    from orienteer.settings import read_settings

    return read_settings()
