"""Commands that answer questions: demo, ask, methods."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orienteer.errors import Error, UsageError
from orienteer.files import cache_folder, make_cache_folder
from orienteer.serve.cli import answering, arguments, background
from orienteer.serve.cli.answering import hear, print_outcome, retries_shown
from orienteer.serve.cli.output import Output, Tabular
from orienteer.serve.views.records import MOST_NEAREST, SentWords

if TYPE_CHECKING:
    from orienteer.agents.events import Stream
    from orienteer.graph.store import Graph
    from orienteer.methods.table import MethodCard
    from orienteer.records import Result
    from orienteer.retriever import Retriever

_AUTO = "auto: documents on chunks of documents; else reader, then ark, where a model is configured; else anchor"
_HITS, _PASSAGES = 20, 5  # hits, and passages that are printed, unless a person says how many
_LONGEST_PATH = 60  # characters of a folder that may stand in place of a question
_PATIENCE = 1.0  # seconds that agents get to end after an interruption


def ask(
    out: Tabular,
    directory: arguments.Directory,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know.")],
    method: Annotated[
        str | None,
        typer.Option(
            metavar="M", help="Default: auto; orienteer methods lists all. To run one over another: graphsearch:hippo."
        ),
    ] = None,
    *,
    model: arguments.ModelFlags,
    k: Annotated[
        int | None,
        typer.Option("-k", metavar="N", min=0, help="Maximum number of hits. Default: 20; of documents 5 are printed."),
    ] = None,
    offset: Annotated[int, typer.Option(metavar="N", min=0, help="Number of hits to skip.")] = 0,
    types: arguments.Types = None,
    where: arguments.Where = None,
    reading: Annotated[
        str | None,
        typer.Option(metavar="LINE", help="Use this reading instead of interpreting the question."),
    ] = None,
    why: Annotated[bool, typer.Option("--why", help="Print which rules of the grammar read the question.")] = False,
    no_answer: Annotated[bool, typer.Option("--no-answer", help="Rank only, do not answer.")] = False,
    trajectories: Annotated[bool, typer.Option("--trajectories", help="Include the trajectories in the JSON.")] = False,
    set_options: arguments.MethodOptions = None,
    agents: Annotated[int | None, typer.Option(metavar="N", help="Number of parallel agents.")] = None,
    max_steps: Annotated[int | None, typer.Option(metavar="N", help="Maximum steps per agent.")] = None,
    budget: arguments.BudgetFlags,
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the trajectories there, as JSON lines.")
    ] = None,
    watch: arguments.Watch = False,
) -> int:
    """Answer a question, with the path or quotation that proves it."""
    from orienteer.options import pairs_of
    from orienteer.retriever import Retriever

    _check_question(directory, question)
    if trace is not None:
        from orienteer.agents import traces

        if out.as_json and trace == arguments.STANDARD:
            raise UsageError("the trace and the JSON cannot both be standard output: --trace FILE, or --trajectories")
        traces.check_writable(trace)
    flags, filters = {"agents": agents, "max_steps": max_steps}, {"node_types": types or (), "where": where or ()}
    configured = model.settings(options={**pairs_of(set_options or ()), **_given(flags)})

    def answer() -> tuple[Graph, Result]:
        """Answer from the current graph, rebuilt if its sources have changed."""
        graph = arguments.open_place(directory, out)
        retriever = Retriever(graph, method, budget=budget.limits(configured), settings=configured)
        shows_words = sys.stdout.isatty() and not out.form and trace != arguments.STANDARD
        hits = _HITS if k is None else k
        start = partial(retriever.stream, question, hits, reading=reading, offset=offset, hears_parts=shows_words)
        start = partial(start, has_answer=not no_answer, **filters)
        result, words = _listen(out, retriever, start, trace=trace)
        if out.form:
            out.show(
                result.model_dump(mode="json", exclude=None if trajectories else {"trajectories"}),
                "",
                lambda: answering.result_rows(retriever, result, k, **filters),
            )
        if trace == arguments.STANDARD:
            _write_trace(out, result, trace)
        try:
            print_outcome(out, graph, result, words, most=_most_readable(graph, result) if k is None else None)
            _print_rules(out, result, is_asked=why)
        finally:
            # The result is shown before the trace is written, for a disk may be full.
            if trace not in (None, arguments.STANDARD):
                _write_trace(out, result, trace)
        if (note := background.start_vectors(graph, configured)) is not None:
            out.note(f"note: {note}")
        return graph, result

    graph, result = answer()
    if watch:
        _watch(out, graph, answer)
    return int(result.is_unread or not (k == 0 or offset or _is_found(result)))


def _check_question(directory: Path, question: str) -> None:
    """Raise `UsageError` for an empty question, and for one that stands before the folder."""
    if not question.strip():
        raise UsageError("the question is empty: write in words what you want to know")
    if len(question) < _LONGEST_PATH and Path(question).exists() and not directory.exists():
        raise UsageError(f"the folder comes before the question: orienteer ask {question} '{directory}'")


def _is_found(result: Result) -> bool:
    """Return whether there is an answer, or something that meets the question; as with grep, else the code is 1."""
    if result.table is not None:
        return bool(result.table.rows)
    if result.answer is not None:
        return True
    return result.refusal is None and bool(result.hits if result.total is None else result.total)


def _given(flags: Mapping[str, int | None]) -> dict[str, int]:
    return {name: value for name, value in flags.items() if value is not None}


def _most_readable(graph: Graph, result: Result) -> int | None:
    """Return how many hits a person reads, unless all."""
    if result.reading is not None:  # what meets the question only in part, or was not asked for at all
        return sum(hit.complete for hit in result.hits) + MOST_NEAREST
    return _PASSAGES if graph.arrays.is_made_of_documents else None


def _print_rules(out: Output, result: Result, *, is_asked: bool) -> None:
    if is_asked and result.reading is not None and result.reading.text is not None and not out.form:
        out.print(f"\nread by: {'; '.join(result.reading.rules) or result.reading.by or 'a line of yours'}")


def _watch(out: Output, graph: Graph, answer: Callable[[], tuple[Graph, Result]]) -> None:
    """Answer again whenever a source of the graph has changed. Errors are printed, and do not end it."""
    if not graph.arrays.manifest.provenance.get("sources"):
        raise UsageError(f"{graph.path} was made of no files: there is nothing to watch")
    if graph.path.parent != arguments.settings().cache / "graphs":
        raise UsageError(f"{graph.path} is a graph: watch the folder that it was made of, or orienteer build --watch")
    out.done()
    for _ in arguments.watched(out, graph):
        # Otherwise previous generations would stay open.
        out.opened.clear()
        try:
            answer()
        except Error as error:
            out.note(f"error: {error}")
        out.done()


def _write_trace(out: Output, result: Result, trace: Path) -> None:
    from orienteer.agents import traces

    with arguments.file_trouble("the result is above; the trace was not written"):
        traces.write(trace, result.trajectories)
    if not result.trajectories:
        out.note(f"{result.method} takes no steps: the trace is empty")


def demo(out: Output) -> None:
    """Answer three questions over a small graph about programming languages: how each was read, and its evidence."""
    import hashlib

    from orienteer.graph.format import is_graph
    from orienteer.graph.store import Graph
    from orienteer.ingest.demo import demo_questions, demo_records
    from orienteer.retriever import Retriever

    configured = arguments.settings()
    # The folder's name has a hash of the content: a new version makes its own demo.
    nodes, edges = demo_records()
    digest = hashlib.sha256(repr((nodes, edges)).encode()).hexdigest()[:12]
    path = cache_folder(configured.cache, "graphs") / f"demo-{digest}"
    if not is_graph(path):
        out.note(f"making a graph about programming languages in the cache at {path}")
        with arguments.file_trouble("set ORIENTEER_CACHE to a folder that can be written"):
            make_cache_folder(configured.cache, "graphs")
            Graph.from_records(nodes, edges, path=path)
    graph = arguments.open_graph(path, out)
    methods = ["anchor", "ark"] if configured.model else ["anchor"]
    results = []
    for method in methods:
        retriever = Retriever(graph, method, settings=configured)
        for example in demo_questions():
            if not out.as_json:
                out.print(f"{example.question}\n")
            result, _ = _listen(out, retriever, partial(retriever.stream, example.question, 5), trace=None)
            results.append(result)
            print_outcome(out, graph, result)
            if not out.as_json:
                out.print()
    dumped = [result.model_dump(mode="json", exclude={"trajectories"}) for result in results]
    out.show(dumped, f"Ask it yourself: orienteer ask {graph.path} 'Who designed Python?'")
    if not configured.model:
        out.note("With a model, agents search too: orienteer ask DIR QUESTION --method ark --model NAME --base-url URL")


def methods(
    out: Output,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One of them, in full.")] = None,
    all_methods: Annotated[
        bool, typer.Option("--all", help="List the baselines of papers and the methods of packages, too.")
    ] = False,
) -> None:
    """List the methods; for one of them, also its options with defaults and values."""
    from orienteer.methods.table import AUTO, CORE, cards, method_of
    from orienteer.options import options_of, schema_of

    if name == AUTO:
        raise UsageError(f"{_AUTO}: name one of them")
    if name is not None:
        method = method_of(name)
        schema = schema_of(method.config_class())
        if out.as_json:
            out.json({**_facts(method), "options": schema})
            return
        needs = "needs a model" if method.needs_model else "needs no model"
        papers = f"; papers {method.paper}" if method.paper else ""
        out.print(f"{method.name}: {method.summary} ({needs}{papers})")
        out.print()
        answering.option_table(out, schema)
        if deviations := _deviations(method):
            out.print("\nwhat deviates from the paper even with faithful=true:")
        for number, deviation in enumerate(deviations, 1):
            out.print(f"{number}. {deviation}")
        return
    installed = cards(lambda error: out.note(f"note: left out: {error}")) if all_methods else CORE
    if out.as_json:
        listed = ((method, options_of(method.config_class())) for method in installed.values())
        out.json(
            [{**_facts(method), "options": [option._asdict() for option in options]} for method, options in listed]
        )
        return
    rows = [[card.name, "a model" if card.needs_model else "", card.summary] for card in installed.values()]
    out.print(_AUTO)
    out.print()
    out.table(rows, header=("method", "needs", "what it does"))
    more = "" if all_methods else "; --all lists the baselines of papers and the methods of packages, too"
    out.note(f"orienteer methods NAME shows the options of one{more}")


def _facts(method: MethodCard) -> dict[str, object]:
    facts = {name: getattr(method, name) for name in ("name", "needs_model", "summary", "paper")}
    return {**facts, "deviations": _deviations(method)}


def _deviations(method: MethodCard) -> tuple[str, ...]:
    config = method.config_class()
    return () if config is None else config.deviations


def _listen(
    out: Output, retriever: Retriever, start: Callable[[], Stream], *, trace: Path | None
) -> tuple[Result, SentWords]:
    """Start a question and show its steps; return its result, and the words of its answer that were printed."""
    from orienteer.agents.events import DoneEvent

    result: Result | None = None
    words = SentWords()
    # A started question may retry before its first event is read.
    with retries_shown(out), start() as events:
        try:
            for event in events:
                hear(out, event, words, has_agents=retriever.method.needs_model)
                if isinstance(event, DoneEvent):
                    result = event.result
        except KeyboardInterrupt:
            trajectories = events.interrupt(patience=_PATIENCE)
            if trace is not None:
                from orienteer.agents import traces

                # What was paid for is not lost by an interruption.
                traces.write(trace, trajectories)
                out.note(f"the trace so far is in {trace}")
            raise
    # A stream ends with a result, or raises.
    assert result is not None
    return result, words


COMMANDS = {
    "demo": (demo, "demo"),
    "ask": (ask, "ask FOLDER 'which genes are associated with asthma?' --type Gene"),
    "methods": (methods, "methods --json"),
}
