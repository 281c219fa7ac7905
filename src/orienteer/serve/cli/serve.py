"""Commands that serve graphs: serve and open over HTTP, mcp to agents."""

from __future__ import annotations

import functools
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orienteer.errors import Error, MissingExtra, UsageError
from orienteer.graph.format import is_graph, read_pointer
from orienteer.ingest.stores import RemoteGraph, may_be_address, remote_graph, shown
from orienteer.serve.cli import background
from orienteer.serve.cli.arguments import BudgetFlags, Directory, ModelFlags, check_writable, found_or_made, graph_of
from orienteer.serve.cli.output import Output
from orienteer.serve.door import KEYS, ServeOptions, served_methods

if TYPE_CHECKING:
    from orienteer.graph.builder import Progress
    from orienteer.ingest.documents.so_far import HearInterim
    from orienteer.llm.budget import Budget
    from orienteer.serve.graphs import Answering, ServedGraph
    from orienteer.serve.http.site import Site
    from orienteer.settings import Settings


_NEEDED = ("fastapi", "uvicorn", "prometheus_client")

Graphs = Annotated[
    list[Path] | None, typer.Argument(metavar="DIR", help="Graphs, or their sources, each served by its folder's name.")
]
Names = Annotated[
    list[str] | None,
    typer.Option("--name", metavar="NAME=DIR", help="Serve DIR by this name, not its folder's. Repeatable."),
]


def serve(
    out: Output,
    directories: Graphs = None,
    name: Names = None,
    host: Annotated[
        str | None,
        typer.Option(metavar="H", help="Where to listen, 127.0.0.1; any other host needs ORIENTEER_SERVE_KEYS."),
    ] = None,
    port: Annotated[
        int | None, typer.Option(metavar="N", min=0, max=65_535, help="The port, 8321; 0 is any free one.")
    ] = None,
    *,
    model: ModelFlags,
    budget: BudgetFlags,
    cypher: Annotated[bool, typer.Option("--cypher", help="Answer Cypher too, read-only.")] = False,
    list_methods: Annotated[
        bool, typer.Option("--list-methods", help="List each graph with each method as a model at /v1, too.")
    ] = False,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="H", help="Answer to this name too. Repeatable.")
    ] = None,
    allow_origin: Annotated[
        list[str] | None, typer.Option(metavar="O", help="Let the pages of this site ask. Repeatable.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=64, help="Processes, 1; with several there is no /metrics.")
    ] = None,
    feedback: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the thumbs of the page there, as questions for eval.")
    ] = None,
    log_questions: Annotated[
        bool, typer.Option("--log-questions", help="Put what is asked and searched for into the log.")
    ] = False,
    no_metrics: Annotated[bool, typer.Option("--no-metrics", help="Have no /metrics.")] = False,
) -> None:
    """Serve graphs over HTTP: /api for programs, /v1 for chat clients, /mcp for agents, a page at /."""
    _require_extra()
    from orienteer.serve.graphs import named_folders
    from orienteer.serve.http.site import FeedbackFile

    folders = named_folders(directories or (), name or ())
    if feedback is not None:
        check_writable(feedback)
    configured = model.settings()
    chosen = ServeOptions.read(configured.serve, where="[serve] ")
    keys = [key.strip() for key in os.environ.get(KEYS, "").split(",") if key.strip()]
    lists = {"allow_hosts": allow_host, "allow_origins": allow_origin, "keys": keys}
    flags = {"host": host, "port": port, "workers": workers, **lists}
    chosen = chosen.model_copy(update={name: value for name, value in flags.items() if value not in (None, [])})
    answering = answering_of(configured, budget, chosen.budget, runs_cypher=cypher or chosen.cypher)
    site = _site(answering, chosen)
    site.methods = served_methods(chosen.methods)
    site.lists_methods = list_methods or chosen.list_methods
    # With several processes each would count only its own requests.
    site.has_metrics = chosen.metrics and not no_metrics and chosen.workers == 1
    site.logs_questions = log_questions or chosen.log_questions
    site.has_mcp = find_spec("mcp") is not None
    site.feedback = None if feedback is None else FeedbackFile(feedback)
    # Workers are forked from a process that has all graphs: a later build would be known to only one of them.
    for folder in folders.values() if chosen.workers > 1 else ():
        if may_be_address(folder):
            graph_of(folder, out)
        elif not is_graph(folder):
            why = f"{folder} is not a graph yet, and several workers serve only finished graphs"
            raise UsageError(f"{why}: make it first (orienteer import, orienteer build), or leave out --workers")
    begins = [take_up(_served(site, graph_name), folder, out) for graph_name, folder in folders.items()]

    def started(address: str) -> None:
        for_agents = " and for agents at /mcp" if site.has_mcp else ""
        out.note(f"serving {', '.join(folders)} at {address}{for_agents} (Ctrl-C ends it)")
        for begin in begins:
            begin()

    _run(out, site, chosen, started)


def open_page(out: Output, directory: Directory, *, model: ModelFlags, budget: BudgetFlags) -> None:
    """Serve a graph or a folder on this machine, and open the browser."""
    _require_extra()
    import webbrowser

    from orienteer.graph.store import Graph

    def start_vectors(folder: Path) -> None:
        if (note := background.start_vectors(Graph.open(folder), configured)) is not None:
            out.note(f"note: {note}")

    configured = model.settings()
    site = _site(answering_of(configured, budget), ServeOptions())
    served = _served(site, directory.resolve().name)
    served.vectors_left = functools.partial(background.seconds_left, configured=configured)
    begin = take_up(served, directory, out, then=start_vectors)

    def show(address: str) -> None:
        out.note(f"serving {served.name} at {address} (Ctrl-C ends it)")
        begin()
        if not webbrowser.open(address):
            out.note("no browser could be opened: open that address yourself")

    _run(out, site, ServeOptions(port=0), show)


def mcp(
    out: Output,
    directories: Graphs = None,
    name: Names = None,
    *,
    model: ModelFlags,
    cypher: Annotated[bool, typer.Option("--cypher", help="Offer read-only Cypher, too.")] = False,
    budget: BudgetFlags,
) -> None:
    """Serve graphs as tools for other agents (MCP), over standard input and output."""
    if find_spec("mcp") is None:
        raise MissingExtra("orienteer mcp", "mcp")
    from orienteer.serve.graphs import ServedGraph, ServedGraphs, named_folders

    answering = answering_of(model.settings(), budget, runs_cypher=cypher)
    graphs, begins = ServedGraphs(), []
    for graph_name, folder in named_folders(directories or (), name or ()).items():
        served = ServedGraph(graph_name, answering)
        # Errors are raised now, not by the first call.
        begins.append(take_up(served, folder, out, is_lazy=True))
        graphs.add(served)
    if sys.stdin.isatty():
        names = ", ".join(graphs.names)
        out.note(f"serving {names} (MCP): a host of agents starts this and talks to it here; Ctrl-C ends it")
    out.done()
    out.is_shared = True

    # These take half a second to load, so errors are reported before; while sources are read, they would take three.
    from orienteer.serve.mcp import server as protocol

    for begin in begins:
        begin()
    protocol.serve(protocol.server(graphs, offers_cypher=cypher))


def take_up(
    served: ServedGraph,
    directory: Path,
    out: Output,
    *,
    is_lazy: bool = False,
    then: Callable[[Path], None] | None = None,
) -> Callable[[], None]:
    """Serve a graph: at once if it exists (opened by its first request if `is_lazy`), else once it is built.

    Return a function that begins to build and follow it, to be called when no error can stop the server any more.
    `then` is called with its directory before it answers. Raises the errors of `found_or_made`.
    """
    found = found_or_made(directory, out)
    cache = served.answering.settings.cache
    follow_address = functools.partial(follow, remote_graph(directory), served.name, cache=cache, after=served.wait)
    if isinstance(found, Path):
        if then is not None:
            then(found)
        if is_lazy:
            served.set_directory(found)
        else:
            served.open(found)
        return follow_address
    is_address = may_be_address(directory)
    # Each build has its own pace.
    own_out = Output(quiet=out.quiet, verbosity=out.verbosity)
    own_out.is_shared = True

    def make(progress: Progress, on_interim: HearInterim) -> Path:
        def report(stage: str, count: int) -> None:
            progress(stage, count)
            own_out.progress(stage, count)

        folder = found(report, on_interim)
        if then is not None:
            then(folder)
        return folder

    def begin() -> None:
        if is_address:
            out.note(f"{shown(directory)} is being pulled: until that is done, {served.name} is not ready")
        else:
            out.note(f"{directory} is being read: until that is done, answers say from how much of it they come")
        served.make(directory, make)
        follow_address()

    return begin


def _require_extra() -> None:
    """Raise `MissingExtra` if a package of the extra `serve` is missing."""
    if not all(map(find_spec, _NEEDED)):
        raise MissingExtra("serving over HTTP", "serve")


def answering_of(
    configured: Settings, budget: BudgetFlags, own: Budget | None = None, *, runs_cypher: bool = False
) -> Answering:
    """Return the model and the budget for clients; `own` limits are the interface's. Raises `BadOption`."""
    from orienteer.serve.graphs import Answering

    limits = budget.served(configured, own)
    model = None if configured.model is None else configured.open_model()
    if model is not None:
        limits.require_price(model.name, model.price)
    return Answering(configured, limits, model, runs_cypher)


def _site(answering: Answering, chosen: ServeOptions) -> Site:
    from orienteer.serve.http.site import Site, Slots

    return Site(answering=answering, slots=Slots(chosen.running, chosen.waiting))


def _served(site: Site, name: str) -> ServedGraph:
    """Add a graph to a site and return it, still to be opened."""
    from orienteer.serve.graphs import ServedGraph

    served = ServedGraph(name, site.answering, count_reload=site.metrics.count_reload)
    site.graphs.add(served)
    return served


def _run(out: Output, site: Site, chosen: ServeOptions, started: Callable[[str], None]) -> None:
    """Listen and serve until a signal ends the process."""
    from orienteer.serve.http import server
    from orienteer.serve.http.app import application, page_files
    from orienteer.serve.http.guard import rules

    page = page_files()
    let_in = rules(
        chosen.host,
        keys=chosen.keys,
        allowed_hosts=chosen.allow_hosts,
        origins=chosen.allow_origins,
        open_paths=tuple(page),
    )
    if not out.quiet:
        logging.getLogger("orienteer.serve.http").setLevel(logging.INFO)
    listener = server.listening(chosen.host, chosen.port)
    # The application is made before workers are forked: they share the key of agents' sessions.
    app = application(site, let_in, page)

    out.is_shared = True

    def is_serving() -> None:
        started(server.address_of(listener))

    if chosen.workers == 1:
        server.serve(app, listener, started=is_serving)
    else:
        forks = server.Forks(lambda ready: server.serve(app, listener, started=ready))
        server.Workers(chosen.workers, forks).run(is_serving)


COMMANDS = {
    "mcp": (mcp, "mcp beers"),
    "serve": (serve, "serve hetionet --port 8321"),
    "open": (open_page, "open notes"),
}


# Servers that follow a graph at an address: each looks for a new generation every few seconds, in the background.
#
# A new generation is pulled into the cache, where the served graph finds it. Until then requests use the previous one.
# A store that is unreachable changes nothing but the log.


FOLLOW_SECONDS = 5.0
"""Between two looks at an address: one request, usually answered by "not modified"."""
# Seconds between two looks at a store that does not answer.
_LONGEST_SECONDS = 60.0
logger = logging.getLogger(__name__)


def follow(published: RemoteGraph | None, name: str, *, cache: Path, after: Callable[[float], None]) -> None:
    """Keep the copy of a graph at an address up to date in a thread; `after` waits for the first copy."""

    if published is None:
        return

    def work() -> None:
        after(threading.TIMEOUT_MAX)
        is_away, pause = False, FOLLOW_SECONDS
        while True:
            trouble = None
            try:
                pulled = published.updated(cache, tell=lambda stage, count: None)
                if pulled.is_new:
                    generation = read_pointer(pulled.path).generation
                    logger.info("%s: generation %s was pulled from %s", name, generation, published)
            except (Error, OSError) as error:
                trouble = str(error)
            if trouble is not None and not is_away:
                logger.warning("%s goes on with what it has: %s", name, trouble)
            if trouble is None and is_away:
                logger.warning("%s: %s can be read again", name, published)
            is_away = trouble is not None
            pause = min(2 * pause, _LONGEST_SECONDS) if is_away else FOLLOW_SECONDS
            time.sleep(pause)

    threading.Thread(target=work, name="orienteer-follow", daemon=True).start()
