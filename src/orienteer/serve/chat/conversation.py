"""A conversation with a graph: what was asked and found, and what each line of a person means."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from orienteer.display import escape_json
from orienteer.errors import BadInput, BadOption, UsageError, nearest
from orienteer.retriever import Retriever
from orienteer.serve.chat.question import Answered, Asking
from orienteer.serve.chat.screen import Screen
from orienteer.serve.chat.why import why_lines
from orienteer.serve.cli import printout
from orienteer.serve.cli.answering import print_outcome, show_event
from orienteer.serve.cli.arguments import file_trouble
from orienteer.serve.follow_up import Turn, understood_alone
from orienteer.serve.views import pages

if TYPE_CHECKING:
    from orienteer.graph.store import Graph
    from orienteer.records import Ranked, Result
    from orienteer.settings import Settings

_HITS, _PASSAGES = 8, 4  # of an answer: what a screen holds
_NEIGHBORS = 10
_CITED = 5  # hits that stand for an answer where there is none in words


class Command(NamedTuple):
    """What a line that begins with a stroke does."""

    takes: str
    about: str
    run: Callable[[Chat, str], None]


class Chat:
    """A person's talk with one graph. Each line goes to `say`."""

    def __init__(self, screen: Screen, graph: Graph, settings: Settings) -> None:
        self.screen, self.graph = screen, graph
        self.node_types: tuple[str, ...] = ()
        self.is_over = False
        self.asking = Asking(screen)
        self._settings = settings
        self._retriever = Retriever(graph, settings=settings)
        self._turns: list[Turn] = []
        self._answered: Answered | None = None
        self._has_told_no_model = False
        self._told: set[str] = set()
        """Notes that are true of every answer, and have been told."""

    @property
    def method(self) -> str:
        """How questions are answered."""
        return self._retriever.method.name

    def say(self, line: str) -> None:
        """Do what a line says: a command, the number of a hit, or a question. Raises `Error`, `KeyboardInterrupt`."""
        line = line.strip()
        if line.startswith("/"):
            name, _, rest = line.partition(" ")
            if (command := COMMANDS.get(name)) is None:
                near = nearest(name, COMMANDS, most=1)
                hint = f"Did you mean {near[0]}? " if near else ""
                raise UsageError(f"there is no command {name}. {hint}/help lists them")
            command.run(self, rest.strip())
        elif line.isdecimal() and self._answered is not None:
            self._show(line)
        elif line:
            self._ask(line)

    # ----------------------------------------------------------------------------------------------------- questions

    def _ask(self, line: str) -> None:
        model = self._retriever.model
        with self.screen.waiting("reading what was said before"):
            follow_up = understood_alone(line, self._turns, model)
        if follow_up.note is not None and not (model is None and self._has_told_no_model):
            self.screen.note(f"note: {follow_up.note}")
            self._has_told_no_model = model is None
        k = _PASSAGES if self.graph.arrays.is_made_of_documents else _HITS
        answered = self.asking.ask(self._retriever, follow_up.question, k, self.node_types)
        result = answered.result
        result = result.model_copy(update={"usage": result.usage + follow_up.usage})
        self._answered = answered._replace(result=result)
        self._turns += [Turn("user", line), Turn("assistant", _in_short(result))]
        print_outcome(self.screen, self.graph, self._news_of(result), answered.heard)

    def _news_of(self, result: Result) -> Result:
        """Return a result without the notes that come with every answer of the same retriever, once they were told."""
        notes = tuple(note for note in result.notes if note not in self._told)
        self._told.update(self._retriever.notes)
        return result.model_copy(update={"notes": notes})

    def _hit(self, text: str) -> Ranked:
        """Return the hit of a number, the first where none is given. Raises `BadOption`."""
        hits = self._answered.result.hits if self._answered is not None else ()
        number = int(text) if text.isdecimal() else 0 if text else 1
        if not 1 <= number <= len(hits):
            numbers = f"the last answer has 1 to {len(hits)}" if hits else "there is no answer with hits yet"
            raise BadOption(f"there is no hit {text[:80] or 1}: {numbers}")
        return hits[number - 1]

    def _node(self, text: str) -> str:
        """Return the node that a number or a name means. Raises `BadOption` where nothing is named."""
        if not text:
            raise BadOption("name a node, or the number of a hit")
        is_number = text.isdecimal() and self._answered is not None
        return self._hit(text).id if is_number else text

    # ------------------------------------------------------------------------------------------------------ commands

    def _show(self, rest: str) -> None:
        page = pages.node(self.graph, self._node(rest))
        self._tell(page.notes)
        printout.print_node(self.screen, page)

    def _why(self, rest: str) -> None:
        hit = self._hit(rest)
        for line in why_lines(self.graph, hit, self._answered.steps if self._answered is not None else ()):
            self.screen.print(line)

    def _steps(self, _: str) -> None:
        steps = self._answered.steps if self._answered is not None else ()
        if not steps:
            self.screen.note("no steps: no question was asked, or its method took none")
        for event in steps:
            show_event(self.screen, event, has_agents=self._retriever.method.needs_model, is_whole=True)

    def _neighbors(self, rest: str) -> None:
        if rest.startswith('"'):
            name, *words = _words(rest)
            query = " ".join(words)
        else:
            first, _, more = rest.partition(" ")
            name, query = (first, more.strip()) if first.isdecimal() else (rest, "")
        page = pages.neighbors(self.graph, self._node(name), query or None, node_types=self.node_types, k=_NEIGHBORS)
        self._tell(page.notes)
        printout.print_neighbors(self.screen, self.graph, page)
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

        if self._answered is None:
            raise BadInput("there is nothing to save: ask a question first")
        if not rest:
            raise BadInput("name the file: /save FILE")
        file = Path(rest).expanduser()
        if file.exists():
            raise BadInput(f"{file} is already there: name another file", paths=[file])
        text = json.dumps(self._answered.result.model_dump(mode="json"), ensure_ascii=False, indent=2)
        with file_trouble("name another file"):
            write_whole(file, f"{escape_json(text)}\n")
        self.screen.note(f"saved as {file}")

    def _clear(self, _: str) -> None:
        self._turns, self._answered = [], None
        self._has_told_no_model = False
        self.screen.clear()

    def _help(self, _: str) -> None:
        self.screen.print("A line is a question, or the number of a hit of the last answer, which is shown in full.")
        self.screen.table([[name, command.takes, command.about] for name, command in COMMANDS.items()])

    def _quit(self, _: str) -> None:
        self.is_over = True

    def _tell(self, notes: tuple[str, ...]) -> None:
        for note in notes:
            self.screen.note(f"note: {note}")


def _in_short(result: Result) -> str:
    """Return an answer as a model reads it before the next question: its words, else the first hits."""
    return result.answer or "; ".join(hit.name for hit in result.hits[:_CITED]) or "nothing was found"


def _words(text: str) -> list[str]:
    """Return words, several in quotes as one. Raises `BadOption` for a quote that is not closed."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise BadOption(f"{text[:80]!r} has a quote that is not closed") from error


COMMANDS = {
    "/show": Command("N|NODE", "a hit or a node in full", Chat._show),
    "/why": Command("[N]", "what leads from a hit to what the question names", Chat._why),
    "/steps": Command("", "the steps of the last question", Chat._steps),
    "/neighbors": Command('N|"NODE" [WORDS]', "what is one edge away from it, ranked by words", Chat._neighbors),
    "/method": Command("[NAME]", "how questions are answered; orienteer methods lists all", Chat._method),
    "/type": Command("[T ...]", "keep only these node types; without any, all", Chat._type),
    "/save": Command("FILE", "the last result as JSON", Chat._save),
    "/clear": Command("", "forget what was said, and clear the screen", Chat._clear),
    "/help": Command("", "these lines", Chat._help),
    "/quit": Command("", "leave; so does Ctrl-D", Chat._quit),
}
