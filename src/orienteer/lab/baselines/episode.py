"""What methods with one tool, a search, share: an agent that thinks, searches and answers, and its ranking.

On a graph of documents the search is one of passages, shown whole, `k` of them, unless other node types are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from pydantic import Field

from orienteer.agents.agent import Agent, ByFinish
from orienteer.agents.dialect import dialect_for
from orienteer.agents.workflow import WorkflowConfig, check_limits
from orienteer.display import counted
from orienteer.graph.reserved import PASSAGES
from orienteer.graph.store import Graph
from orienteer.llm.conversation import ELISION, begin, prompt_of
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Ranked, Sampling, Trajectory
from orienteer.retrieval.graph_text import present
from orienteer.tools.session import Session
from orienteer.tools.texts import LARGEST_K, SEARCH_PASSAGES
from orienteer.tools.toolbox import Toolbox, open_passages, open_plain


class EpisodeConfig(WorkflowConfig):
    """The options of every method of this kind."""

    max_steps: int = Field(default=10, ge=1, le=LARGEST_K)
    """Steps before an agent is stopped: SAGE's m, appendix C.5. 10 is ours; Reflexion's code takes 6."""
    context_tokens: int = Field(default=24_000, ge=1)
    """Size of a request; beyond it the oldest observations are left out."""


class Episode(NamedTuple):
    """One agent's course, and the ranking that it leaves."""

    trajectory: Trajectory
    hits: tuple[Ranked, ...]
    notes: tuple[str, ...]
    """What went wrong on the way from the course to the ranking."""


class SearchAgents:
    """Sends out agents that can search, add to the answer and finish; each has a session of its own."""

    def __init__(self, graph: Graph, model: LanguageModel, config: EpisodeConfig, *, method: str) -> None:
        self._graph, self._model, self._config, self._method = graph, model, config, method
        graph.arrays.searcher(config.mode)  # raises without vectors, before a model is paid

    def begin(self, question: Question, number: int, *, random_seed: int, lessons: str = "") -> Trajectory:
        """Return what an agent begins with: a trajectory without steps, whose prompt holds the lessons, if any."""
        return self._begun(question, number, random_seed, self._toolbox(question), lessons)

    def explore(self, question: Question, run: Run, *, number: int = 0, lessons: str = "") -> Episode:
        """Let an agent run to its end; rank the nodes that it chose, or else those that it found last."""
        check_limits(self._graph, question)
        toolbox, config = self._toolbox(question), self._config
        begun = self._begun(question, number, run.random_seed, toolbox, lessons)
        ending = ByFinish(toolbox.session, max_steps=config.max_steps, takes_last_set=False)
        agent = Agent(self._model, toolbox, ending, context_tokens=config.context_tokens, number=number)
        return self._ranked(agent.explore(begun, run), toolbox.session)

    def _toolbox(self, question: Question) -> Toolbox:
        graph, config = self._graph, self._config
        if PASSAGES.isdisjoint(question.node_types or graph.arrays.types.nodes):
            return open_plain(graph, config.mode)
        return open_passages(graph, config.mode, question.k)

    def _begun(self, question: Question, number: int, random_seed: int, toolbox: Toolbox, lessons: str) -> Trajectory:
        prompt = prompt_of("reflexion" if lessons else "react")
        values: Mapping[str, str] = {"question": question.text, "lessons": lessons}
        sampling = Sampling(temperature=self._config.temperature, random_seed=random_seed + number)
        begun = begin(self._model, prompt, values, question=question, method=self._method, sampling=sampling)
        course = {"dialect": dialect_for(self._model), "toolbox": toolbox.spec, "tools": toolbox.specs}
        return begun.model_copy(update={**course, "elision": ELISION})

    def _ranked(self, trajectory: Trajectory, session: Session) -> Episode:
        """Filter the chosen nodes, cut them at k, and give each hit the agent's own reason."""
        graph, question, notes = self._graph, trajectory.question, list[str]()
        chosen = trajectory.selected
        if not chosen and not session.is_finished and (chosen := _last_found(trajectory)):
            notes.append("nothing was added to the answer: the nodes of the last search stand for it")
        if trajectory.steps and not any(step.reply.message.tool_calls for step in trajectory.steps):
            notes.append(f"the model called no tool in {counted(len(trajectory.steps), 'step')}")
        mask = graph.arrays.mask(question.node_types or None, question.where)
        rows = [graph.arrays.row(node) for node in chosen]
        passing = [row for row in rows if mask is None or mask[row]]
        if len(passing) < len(rows):
            notes.append(f"{len(rows) - len(passing)} chosen nodes did not pass the filters")
        passing = passing[: question.k]
        hits = tuple(
            present(
                graph,
                row,
                score=len(passing) - place,
                query=question.text,
                why=session.reasons.get(row, "" if trajectory.selected else "found by the last search"),
            )
            for place, row in enumerate(passing)
        )
        return Episode(trajectory, hits, tuple(notes))


def _last_found(trajectory: Trajectory) -> tuple[str, ...]:
    """Return the nodes of the last observation of a search that found any."""
    for step in reversed(trajectory.steps):
        searched = {
            call.id for call in step.reply.message.tool_calls if call.name in ("search_in_graph", SEARCH_PASSAGES)
        }
        for seen in reversed(step.observations):
            if seen.call_id in searched and seen.nodes:
                return seen.nodes
    return ()


# Actions of Graph-CoT as a model writes them, `Function[argument, argument]`: read, never evaluated.


ARGUMENTS: Mapping[str, int] = MappingProxyType(
    {"RetrieveNode": 1, "NodeFeature": 2, "NeighbourCheck": 2, "NodeDegree": 2, "Finish": 1}
)
"""How many arguments each function takes."""
_CALL = re.compile(r"(?<!\w)[^\WA-Za-z_]*+([A-Za-z_]\w*+)[ \t]*\[")
_ACTION = re.compile(r"\baction\b[ \t]*\d*[ \t]*[:.]", re.IGNORECASE)
_SPELLED = {"neighborcheck": "NeighbourCheck", **{name.casefold(): name for name in ARGUMENTS}}
_CALLS = 4  # calls that one action may hold


class ActionCall(NamedTuple):
    """A function as the model wrote it."""

    name: str
    arguments: tuple[str, ...]


def parse(text: str) -> tuple[ActionCall, ...]:
    """Return the calls of an action, in order: `Function[argument, argument]`, at most four.

    The first `Action:` that holds any call counts, for a model that writes on has made up its observations; without
    that mark, every call of a known function counts. An argument in quotes ends with its quote, any other at a comma
    outside of brackets. A function of one argument takes commas as they are; two arguments are parted by the last
    comma. An open bracket goes to the end of its line.
    """
    marks = [mark.span() for mark in _ACTION.finditer(text)]
    ends = [*(begin for begin, _ in marks[1:]), len(text)]
    actions = (_calls(text, at, end, is_marked=True) for (_, at), end in zip(marks, ends, strict=True))
    return next(filter(None, actions), ()) if marks else _calls(text, 0, len(text), is_marked=False)


def _calls(text: str, at: int, until: int, *, is_marked: bool) -> tuple[ActionCall, ...]:
    """Return the calls that begin in a part of a text; without the mark of an action, those of known functions."""
    calls: list[ActionCall] = []
    while (match := _CALL.search(text, at)) is not None and match.start() < until and len(calls) < _CALLS:
        name = _SPELLED.get(match[1].casefold(), match[1])
        at = match.end()
        if name in ARGUMENTS or is_marked:
            end = _closing(text, at)
            calls.append(ActionCall(name, _arguments(text[at:end], ARGUMENTS.get(name, 2))))
            at = end
    return tuple(calls)


def _closing(text: str, at: int) -> int:
    """Return where the bracket that was opened before `at` closes: quoted arguments may hold brackets."""
    depth, is_start = 1, True
    while at < len(text) and text[at] != "\n":
        mark = text[at]
        if is_start and mark in "\"'" and (end := _quoted_end(text, at)) is not None:
            at, is_start = end, False
            continue
        depth += (mark == "[") - (mark == "]")
        if not depth:
            return at
        is_start = mark == "," or (is_start and mark == " ")
        at += 1
    return at


def _quoted_end(text: str, at: int) -> int | None:
    """Return where a quoted argument ends; None where what opens at `at` is an apostrophe in a name."""
    mark, end = text[at], text.find(text[at], at + 1)
    line = text.find("\n", at) if "\n" in text[at:] else len(text)
    while -1 < end < line:
        if text[end + 1 : line].lstrip(" ")[:1] in ("", ",", "]"):
            return end + 1
        end = text.find(mark, end + 1)
    return None


def _arguments(inner: str, count: int) -> tuple[str, ...]:
    """Return the arguments; where there are too many parts, the first ones belong together."""
    parts = split(inner, strip=False)
    extra = len(parts) - count
    if extra > 0:
        parts = [",".join(parts[: extra + 1]), *parts[extra + 1 :]]
    return tuple(_unquoted(part) for part in parts)


def split(text: str, *, strip: bool = True) -> list[str]:
    """Return the parts of a text between commas that stand outside of brackets and of quoted parts."""
    parts, begin, at, depth, is_start = [], 0, 0, 0, True
    while at < len(text):
        mark = text[at]
        if is_start and mark in "\"'" and (end := _quoted_end(text, at)) is not None:
            at, is_start = end, False
            continue
        depth = max(0, depth + (mark == "[") - (mark == "]"))
        is_start = (mark == "," and not depth) or (is_start and mark == " ")
        if mark == "," and not depth:
            parts.append(text[begin:at])
            begin = at + 1
        at += 1
    parts.append(text[begin:])
    return [_unquoted(part) for part in parts if part.strip()] if strip else parts


def _unquoted(part: str) -> str:
    part = part.strip()
    return part[1:-1].strip() if len(part) > 1 and part[0] == part[-1] and part[0] in "\"'" else part


def names_function(text: str) -> bool:
    """Return whether one of the functions is called within a text."""
    return any(match[1].casefold() in _SPELLED for match in _CALL.finditer(text))
