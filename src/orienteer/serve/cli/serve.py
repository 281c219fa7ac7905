"""Commands that serve graphs over HTTP: serve, open."""

from __future__ import annotations

import functools
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orienteer.errors import Error, MissingExtra, UsageError
from orienteer.graph.format import is_graph, read_pointer
from orienteer.ingest.remote.address import Address, address_of, may_be_address, shown
from orienteer.ingest.remote.pull import updated_copy
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
        int | None,
        typer.Option(metavar="N", min=1, max=64, help="Processes, 1; with several there is no /metrics."),
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
    lists = {"allow_hosts": allow_host, "allow_origins": allow_origin, "keys": _keys()}
    flags = {"host": host, "port": port, "workers": workers, **lists}
    chosen = chosen.model_copy(update={name: value for name, value in flags.items() if value not in (None, [])})
    site = _site(answering_of(configured, budget, chosen.budget), chosen)
    site.methods, site.has_cypher = served_methods(chosen.methods), cypher or chosen.cypher
    site.lists_methods = list_methods or chosen.list_methods
    site.has_metrics = chosen.metrics and not no_metrics and chosen.workers == 1  # each process would count its own
    site.logs_questions = log_questions or chosen.log_questions
    site.has_mcp = find_spec("mcp") is not None
    site.feedback = None if feedback is None else FeedbackFile(feedback)
    if chosen.workers > 1:
        _require_there(folders.values(), out)
    begins = [take_up(_served(site, graph_name), folder, out) for graph_name, folder in folders.items()]

    def tell(address: str) -> None:
        for_agents = " and for agents at /mcp" if site.has_mcp else ""
        out.note(f"serving {', '.join(folders)} at {address}{for_agents} (Ctrl-C ends it)")
        for begin in begins:
            begin()

    _run(out, site, chosen, tell)


def open_page(out: Output, directory: Directory, *, model: ModelFlags, budget: BudgetFlags) -> None:
    """Serve a graph or a folder on this machine, and open the browser."""
    _require_extra()
    import webbrowser

    configured = model.settings()
    site = _site(answering_of(configured, budget), ServeOptions())
    served = _served(site, directory.resolve().name)
    served.vectors_left = functools.partial(background.seconds_left, configured=configured)
    begin = take_up(served, directory, out, then=functools.partial(_start_vectors, out, configured))

    def show(address: str) -> None:
        out.note(f"serving {served.name} at {address} (Ctrl-C ends it)")
        begin()
        if not webbrowser.open(address):
            out.note("no browser could be opened: open that address yourself")

    _run(out, site, ServeOptions(port=0), show)


def take_up(
    served: ServedGraph,
    directory: Path,
    out: Output,
    *,
    is_lazy: bool = False,
    then: Callable[[Path], None] | None = None,
) -> Callable[[], None]:
    """Have a graph served: at once where it is there, opened by its first request if `is_lazy`; else once it is made.

    Return what begins to make it, where that is to be done, to be called when nothing can be refused any more. `then`
    is called with its directory before it answers. Raises as `found_or_made` does.
    """
    found = found_or_made(directory, out)
    follow = _following(served, directory)
    if isinstance(found, Path):
        if then is not None:
            then(found)
        if is_lazy:
            served.lie_at(found)
        else:
            served.open(found)
        return follow
    is_address = may_be_address(directory)
    told = Output(quiet=out.quiet, verbosity=out.verbosity)  # each graph that is made has a pace of its own
    told.is_shared = True

    def make(progress: Progress, hear: HearInterim) -> Path:
        def tell(stage: str, count: int) -> None:
            progress(stage, count)
            told.progress(stage, count)

        folder = found(tell, hear)
        if then is not None:
            then(folder)
        return folder

    def begin() -> None:
        if is_address:
            out.note(f"{shown(directory)} is being pulled: until that is done, {served.name} is not ready")
        else:
            out.note(f"{directory} is being read: until that is done, answers say from how much of it they come")
        served.make(directory, make)
        follow()

    return begin


def _require_there(folders: Iterable[Path], out: Output) -> None:
    """Pull graphs at addresses, and raise `UsageError` for sources: workers are forked from a process that has all.

    While a graph is made or pulled later, the one process that does it would know of it.
    """
    for folder in folders:
        if address_of(folder) is not None:
            graph_of(folder, out)
        elif not is_graph(folder):
            told = f"{folder} is no graph yet, and several workers serve only what is there"
            raise UsageError(f"{told}: make it first (orienteer import, orienteer build), or leave out --workers")


def _following(served: ServedGraph, directory: Path) -> Callable[[], None]:
    """Return what begins to look for new generations of a graph, where it lies at an address."""
    if (address := address_of(directory)) is None:
        return lambda: None

    return lambda: follow(address, served.name, cache=served.answering.settings.cache, after=served.wait)


def _start_vectors(out: Output, configured: Settings, folder: Path) -> None:
    """Have the vectors of a folder's graph made in the background, as `ask` does."""
    from orienteer.graph.store import Graph

    if (told := background.start_vectors(Graph.open(folder), configured)) is not None:
        out.note(f"note: {told}")


def _require_extra() -> None:
    """Raise `MissingExtra` where what serves is not installed."""
    if not all(map(find_spec, _NEEDED)):
        raise MissingExtra("serving over HTTP", "serve")


def answering_of(configured: Settings, budget: BudgetFlags, own: Budget | None = None) -> Answering:
    """Return what answers questions that somebody else asks; `own` limits are those of the face.

    Raises `BadOption` for a price that is not known.
    """
    from orienteer.serve.graphs import Answering

    limits = budget.served(configured, own)
    model = None if configured.model is None else configured.open_model()
    if model is not None:
        limits.require_price(model.name, model.price)
    return Answering(configured, limits, model)


def _keys() -> list[str]:
    """Return the keys of the environment."""
    return [key.strip() for key in os.environ.get(KEYS, "").split(",") if key.strip()]


def _site(answering: Answering, chosen: ServeOptions) -> Site:
    from orienteer.serve.http.site import Site, Slots

    return Site(answering=answering, slots=Slots(chosen.running, chosen.waiting))


def _served(site: Site, name: str) -> ServedGraph:
    """Return a new graph of a site, which is still to be opened."""
    from orienteer.serve.graphs import ServedGraph

    served = ServedGraph(name, site.answering, count_reload=site.metrics.count_reload)
    site.graphs.add(served)
    return served


def _run(out: Output, site: Site, chosen: ServeOptions, started: Callable[[str], None]) -> None:
    """Listen and serve until the process is told to end."""
    from orienteer.serve.http.app import application, page_files
    from orienteer.serve.http.guard import rules
    from orienteer.serve.http.server import Forks, Workers, address_of, listening
    from orienteer.serve.http.server import serve as serve_app

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
    listener = listening(chosen.host, chosen.port)
    app = application(site, let_in, page)  # before workers are forked: they share the key of agents' sessions

    def serve_one(tell: Callable[[], None]) -> None:
        serve_app(app, listener, started=tell)

    def tell() -> None:
        started(address_of(listener))

    if chosen.workers == 1:
        serve_one(tell)
    else:
        Workers(chosen.workers, Forks(serve_one)).run(tell)


COMMANDS = {
    "serve": (serve, "serve hetionet --port 8321"),
    "open": (open_page, "open notes"),
}


# Servers that follow a graph at an address: each looks for a new generation every few seconds, in the background.
#
# What is new is pulled into the cache, where the served graph finds it as it finds any that is published; requests go
# on with the one before. A store that is away changes nothing but the log.


FOLLOW_SECONDS = 5.0
"""Between two looks at an address: one request, which is answered with "not modified"."""
_LONGEST_SECONDS = 60.0
"""Between two looks at a store that does not answer."""
logger = logging.getLogger(__name__)


def follow(address: Address, name: str, *, cache: Path, after: Callable[[float], None]) -> None:
    """Keep the copy of a graph up to date in a thread, as long as the process runs.

    `after` waits for the first copy, up to so many seconds.
    """

    def work() -> None:
        after(threading.TIMEOUT_MAX)
        is_away, pause = False, FOLLOW_SECONDS
        while True:
            trouble = _looked(address, name, cache)
            if trouble is not None and not is_away:
                logger.warning("%s goes on with what it has: %s", name, trouble)
            if trouble is None and is_away:
                logger.warning("%s: %s can be read again", name, address)
            is_away = trouble is not None
            pause = min(2 * pause, _LONGEST_SECONDS) if is_away else FOLLOW_SECONDS
            time.sleep(pause)

    threading.Thread(target=work, name="orienteer-follow", daemon=True).start()


def _looked(address: Address, name: str, cache: Path) -> str | None:
    """Bring the copy up to date, and return what kept it from that."""
    try:
        found = updated_copy(address, cache=cache, tell=lambda stage, count: None)
    except (Error, OSError) as error:
        return str(error)
    if found.is_new:
        logger.info("%s: generation %s was pulled from %s", name, read_pointer(found.path).generation, address)
    return None
