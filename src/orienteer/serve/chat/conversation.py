"""A chat with a graph: its questions, its answers, and its commands."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple, TextIO

from orienteer.agents.events import Event, RunningQuestion
from orienteer.display import clean, escape_json
from orienteer.errors import BadInput, BadOption, Unknown, UsageError, nearest
from orienteer.llm.schema import json_object
from orienteer.records import Direction, Ranked
from orienteer.retrieval.graph_text import arrow, ends_of
from orienteer.retriever import Retriever
from orienteer.serve.cli import answering
from orienteer.serve.cli.answering import hear, print_outcome, retries_shown, show_event
from orienteer.serve.cli.arguments import file_trouble
from orienteer.serve.cli.output import Output
from orienteer.serve.door import Turn, understood_alone
from orienteer.serve.views import pages
from orienteer.serve.views.records import SentWords

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from orienteer.graph.store import Graph
    from orienteer.records import Result
    from orienteer.settings import Settings


# The output of a chat: at a terminal, notes in a weaker colour; elsewhere like other commands.


class Screen(Output):
    """The streams of a chat. With `NO_COLOR` a terminal gets no colours and no other style either."""

    def __init__(self, out: Output, *, has_terminal: bool) -> None:
        """`out` has the flags of the command."""
        super().__init__(quiet=out.quiet, verbosity=out.verbosity)
        self.has_terminal = has_terminal
        self._terminal = super()._console(sys.stdout) if has_terminal else None

    def error(self, text: str) -> None:
        """Print an error like other commands."""
        line = f"error: {' '.join(clean(text).split())}"
        if self.has_terminal:
            self.print(line, "red")
        else:
            super().done()
            sys.stderr.write(f"{line}\n")

    def clear(self) -> None:
        """Clear the terminal, if it is one."""
        if self._terminal is not None:
            self._terminal.clear()

    @contextmanager
    def status(self, words: str) -> Iterator[Status]:
        """Show at a terminal that something runs; other output appears above it."""
        status = (self._terminal or super()._console(sys.stdout)).status(words, spinner_style="cyan")
        if self._terminal is not None and not self.quiet:
            status.start()
        try:
            yield status
        finally:
            status.stop()

    def _console(self, stream: TextIO) -> Console:
        """Return the terminal whose last line shows the status: all else appears above it."""
        return self._terminal or super()._console(stream)


# The reason for a hit, as a tree of the edges from it to the nodes of the question.


_MOST_ANCHORS = 5
_LONGEST = 3  # edges of a path
_PATHS = 2  # between a hit and a node that was looked at
# The arguments by which calls of tools name nodes.
_NODES = ("node", "nodes", "start")


def why_lines(graph: Graph, hit: Ranked, steps: Iterable[Event]) -> Iterator[str]:
    """Yield the hit, and its edges to the nodes of the question, else paths to the nodes that tools looked at."""
    yield f"{hit.name} ({hit.type})"
    edges, ends = hit.edges, hit.ends
    if not edges:
        edges = tuple(
            edge
            for anchor in _nodes_of_calls(graph, steps)
            if anchor != hit.id
            for path in pages.paths(graph, hit.id, anchor, max_length=_LONGEST, k=_PATHS).paths
            for hop in path.edges
            for edge in hop
        )
        ends = ends_of(graph, hit.id, edges)
    if edges:
        named = {end.id: end for end in ends}
        reached, open_nodes = {hit.id}, [(hit.id, 1)]
        while open_nodes:
            node, depth = open_nodes.pop()
            found = []
            for edge in edges:
                other = edge.target if edge.source == node else edge.source if edge.target == node else None
                if other is None or other in reached:
                    continue
                reached.add(other)
                walked: Direction = "out" if edge.source == node else "in"
                direction = None if edge.type in graph.schema.symmetric else walked
                found.append((other, f"{arrow(graph.schema.label(edge.type), direction)} {named[other].name}"))
            for other, line in found:
                yield f"{'  ' * depth}{line} ({named[other].type})"
            open_nodes += [(other, depth + 1) for other, _ in reversed(found)]
    else:
        yield f"  {hit.why or 'by the words of its name and text'}"


def _nodes_of_calls(graph: Graph, steps: Iterable[Event]) -> list[str]:
    """Return the nodes that tools were called on, in order."""
    nodes: dict[str, None] = {}
    for event in steps:
        if event.kind != "observation":
            continue
        given = json_object(event.call.arguments) or {}
        for value in (given[name] for name in _NODES if name in given):
            for text in value if isinstance(value, list) else [value]:
                try:
                    nodes[pages.node_named(graph, str(text)).id] = None
                except Unknown:
                    # A saved set, or a name that the tool refused.
                    continue
    return list(nodes)[:_MOST_ANCHORS]


# Hits and passages of an answer: a screen has room for them.
_HITS, _PASSAGES = 8, 4
_NEIGHBORS = 10
_CITED = 5  # hits that stand for an answer where there is none in words


class Command(NamedTuple):
    """A command of a chat: a line that begins with a slash."""

    takes: str
    about: str
    run: Callable[[Chat, str], None]


class Chat:
    """A chat with one graph. Each line goes to `say`."""

    def __init__(self, screen: Screen, graph: Graph, settings: Settings) -> None:
        self.screen, self.graph = screen, graph
        self.node_types: tuple[str, ...] = ()
        self.is_over = False
        self._settings = settings
        self._retriever = Retriever(graph, settings=settings)
        self._turns: list[Turn] = []
        self._result: Result | None = None
        # Steps, observations and notes of the last question.
        self._steps: list[Event] = []
        # Stopped questions. They may still wait for a last reply of a model.
        self._stopped: list[RunningQuestion] = []
        self._has_noted_no_model = False
        # Notes of every answer that were printed once.
        self._printed_notes: set[str] = set()

    @property
    def method(self) -> str:
        """The name of the method."""
        return self._retriever.method.name

    @property
    def is_waiting(self) -> bool:
        """Whether a stopped question still waits for a model."""
        return any(not running.future.done() for running in self._stopped)

    def say(self, line: str) -> None:
        """Run a line: a command, the number of a hit, or a question. Raises `Error`, `KeyboardInterrupt`."""
        line = line.strip()
        if line.startswith("/"):
            name, _, rest = line.partition(" ")
            if (command := COMMANDS.get(name)) is None:
                near = nearest(name, COMMANDS, most=1)
                hint = f"Did you mean {near[0]}? " if near else ""
                raise UsageError(f"unknown command {name}. {hint}/help lists all")
            command.run(self, rest.strip())
        elif line.isdecimal() and self._result is not None:
            self._show(line)
        elif line:
            model = self._retriever.model
            with self.screen.status("reading what was said before"):
                follow_up = understood_alone(line, self._turns, model)
            if follow_up.note is not None and not (model is None and self._has_noted_no_model):
                self.screen.note(f"note: {follow_up.note}")
                self._has_noted_no_model = model is None
            k = _PASSAGES if self.graph.arrays.is_made_of_documents else _HITS
            result, self._steps, words = self._listen(follow_up.question, k)
            self._result = result = result.model_copy(update={"usage": result.usage + follow_up.usage})
            # The model of the next question reads the answer, or why there is none and the first hits.
            refused = [result.refusal.text] if result.refusal is not None else []
            told = "; ".join([*refused, *(hit.name for hit in result.hits[:_CITED])])
            answer = result.answer or told or "nothing was found"
            self._turns += [Turn("user", line), Turn("assistant", answer)]
            # Notes of every answer of the same retriever are printed once.
            notes = tuple(note for note in result.notes if note not in self._printed_notes)
            self._printed_notes.update(self._retriever.notes)
            print_outcome(self.screen, self.graph, result.model_copy(update={"notes": notes}), words)

    # ----------------------------------------------------------------------------------------------------- questions

    def _listen(self, question: str, k: int) -> tuple[Result, list[Event], SentWords]:
        """Return a result, its steps, and its words that were printed. Raises `Error`, `KeyboardInterrupt`."""
        events: SimpleQueue[Event | None] = SimpleQueue()
        steps: list[Event] = []
        retriever, screen, words = self._retriever, self.screen, SentWords()
        with retries_shown(screen), screen.status("looking") as status:
            running = retriever.start(
                question, k, listen=events.put, node_types=self.node_types, hears_parts=screen.has_terminal
            )
            running.future.add_done_callback(lambda _: events.put(None))
            try:
                while (event := events.get()) is not None:
                    if event.kind == "answer_part":
                        status.stop()
                    hear(screen, event, words, has_agents=retriever.method.needs_model)
                    if event.kind in ("step", "observation", "note"):
                        steps.append(event)
                        status.update("looking")
                    elif event.kind == "hit" and retriever.model is not None and not words:
                        # The model reads the hits now.
                        status.update("writing the answer")
            except KeyboardInterrupt:
                running.close()
                self._stopped.append(running)
                raise
        return running.future.result(), steps, words

    def _hit(self, text: str) -> Ranked:
        """Return the hit with a number, by default the first. Raises `BadOption`."""
        hits = self._result.hits if self._result is not None else ()
        number = int(text) if text.isdecimal() else 0 if text else 1
        if not 1 <= number <= len(hits):
            numbers = f"the last answer has 1 to {len(hits)}" if hits else "there is no answer with hits yet"
            raise BadOption(f"no hit {text[:80] or 1}: {numbers}")
        return hits[number - 1]

    def _node(self, text: str) -> str:
        """Return the node of a hit's number or of a name. Raises `BadOption` for an empty text."""
        if not text:
            raise BadOption("name a node, or the number of a hit")
        return self._hit(text).id if text.isdecimal() and self._result is not None else text

    # ------------------------------------------------------------------------------------------------------ commands

    def _show(self, rest: str) -> None:
        page = pages.node(self.graph, self._node(rest))
        self.screen.notes(page.notes)
        answering.print_node(self.screen, page)

    def _why(self, rest: str) -> None:
        hit = self._hit(rest)
        for line in why_lines(self.graph, hit, self._steps):
            self.screen.print(line)

    def _show_steps(self, _: str) -> None:
        if not self._steps:
            self.screen.note("no steps: no question was asked, or its method took none")
        for event in self._steps:
            show_event(self.screen, event, has_agents=self._retriever.method.needs_model, is_whole=True)

    def _neighbors(self, rest: str) -> None:
        if rest.startswith('"'):
            name, *words = _words(rest)
            query = " ".join(words)
        else:
            first, _, more = rest.partition(" ")
            name, query = (first, more.strip()) if first.isdecimal() else (rest, "")
        page = pages.neighbors(self.graph, self._node(name), query or None, node_types=self.node_types, k=_NEIGHBORS)
        self.screen.notes(page.notes)
        answering.print_neighbors(self.screen, self.graph, page)
        if page.more:
            self.screen.note(f"{page.more:,} more: words after the node rank them")

    def _method(self, rest: str) -> None:
        if rest:
            self._retriever = Retriever(self.graph, rest, settings=self._settings)
        self.screen.print(f"{self.method}: {self._retriever.method.summary}")

    def _type(self, rest: str) -> None:
        types = tuple(_words(rest))
        self.graph.arrays.mask(types or None, ())
        self.node_types = types
        self.screen.print(f"types: {', '.join(types) or 'all'}")

    def _save(self, rest: str) -> None:
        from orienteer.files import write_whole

        if self._result is None:
            raise BadInput("there is nothing to save: ask a question first")
        if not rest:
            raise BadInput("name the file: /save FILE")
        file = Path(rest).expanduser()
        if file.exists():
            raise BadInput(f"{file} is already there: name another file", paths=[file])
        text = json.dumps(self._result.model_dump(mode="json"), ensure_ascii=False, indent=2)
        with file_trouble("name another file"):
            write_whole(file, f"{escape_json(text)}\n")
        self.screen.note(f"saved as {file}")

    def _clear(self, _: str) -> None:
        self._turns, self._steps, self._result = [], [], None
        self._has_noted_no_model = False
        self.screen.clear()

    def _help(self, _: str) -> None:
        self.screen.print("A line is a question, or the number of a hit of the last answer, which is shown in full.")
        self.screen.table([[name, command.takes, command.about] for name, command in COMMANDS.items()])

    def _quit(self, _: str) -> None:
        self.is_over = True


def _words(text: str) -> list[str]:
    """Return words, several in quotes as one. Raises `BadOption` for a quote that is not closed."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise BadOption(f"{text[:80]!r} has a quote that is not closed") from error


COMMANDS = {
    "/show": Command("N|NODE", "a hit or a node in full", Chat._show),
    "/why": Command("[N]", "what leads from a hit to what the question names", Chat._why),
    "/steps": Command("", "the steps of the last question", Chat._show_steps),
    "/neighbors": Command('N|"NODE" [WORDS]', "what is one edge away from it, ranked by words", Chat._neighbors),
    "/method": Command("[NAME]", "how questions are answered; orienteer methods lists all", Chat._method),
    "/type": Command("[T ...]", "keep only these node types; without any, all", Chat._type),
    "/save": Command("FILE", "the last result as JSON", Chat._save),
    "/clear": Command("", "forget what was said, and clear the screen", Chat._clear),
    "/help": Command("", "these lines", Chat._help),
    "/quit": Command("", "leave; so does Ctrl-D", Chat._quit),
}
