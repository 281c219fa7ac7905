"""The tool `ask`: a question with progress, stopped if the caller leaves, and its result as lines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from orienteer.display import clean, counted, cut
from orienteer.errors import without_paths
from orienteer.serve.mcp.tools import MOST_ROWS
from orienteer.serve.views.records import answers_of, lines_between, read_as
from orienteer.text.sentences import one_line, single_spaced

if TYPE_CHECKING:
    from orienteer.agents.events import Event
    from orienteer.graph.store import Graph
    from orienteer.records import Ranked, Result
    from orienteer.serve.graphs import Generation

Notify = Callable[[str], Awaitable[None]]
"""Sends a line of progress to the caller."""

_STEP = 120  # characters of a line of progress
_NOTE = 300
_WHY = 240
_QUOTATION = 1_200


class AskArguments(NamedTuple):
    """The arguments of a call of `ask`."""

    question: str
    k: int
    node_types: tuple[str, ...]


EventsOf: TypeAlias = Callable[["Generation", AskArguments], AsyncGenerator["Event", None]]
"""Answers a question and yields its events; closing it stops the question."""


async def own_events(generation: Generation, asked: AskArguments) -> AsyncGenerator[Event, None]:
    """Yield the events of a question by the method of the settings. Raises as `Retriever.astream` does."""
    retriever = await asyncio.to_thread(generation.retriever)
    with generation.explained():
        async with aclosing(retriever.astream(asked.question, asked.k, node_types=asked.node_types)) as events:
            async for event in events:
                yield generation.noted_event(event)


async def result_of(events: AsyncGenerator[Event, None], *, notify: Notify, paths: Sequence[Path]) -> Result:
    """Return the result of a question, after notifying the caller of each step in order. No step names `paths`.

    If the task is cancelled, the question stops: no further model call is made. Raises the errors of the question, and
    without any hit the error of the model or of the budget.
    """
    from orienteer.retriever import failure

    result: Result | None = None
    async with aclosing(events):
        async for event in events:
            if event.kind == "done":
                result = event.result
            elif (line := _step(event)) is not None:
                await notify(one_line(single_spaced(clean(without_paths(line, paths))), _STEP))
    assert result is not None  # a stream ends with it, or raises
    error = failure(result)
    if error is not None and not result.hits:
        raise error
    if error is None or any(str(error) in note for note in result.notes):
        return result
    return result.model_copy(update={"notes": (*result.notes, error.public)})


def _step(event: Event) -> str | None:
    """Return the progress line of an event, or None for events that the reply reports."""
    if event.kind == "observation":
        return f"{event.call.name}: {event.observation.text}"
    if event.kind == "note":
        return event.text
    if event.kind == "step" and event.agent is None:
        return "writes the answer"
    return None


def reply_of(result: Result, graph: Graph, k: int) -> str:
    """Return a result as a tool's reply: the reading line, the answer, notes, and numbered hits."""
    from orienteer.tools.session import ReplyLines
    from orienteer.tools.toolbox import open_stateless

    reply = ReplyLines(open_stateless(graph).session)
    lines = [line for line in (read_as(result), _answer(result, reply.room // 2)) if line]
    reply.say_all("\n".join([*lines, *_notes(result)]).splitlines())
    if not result.hits:
        reply.say("Nothing was found. Try other words, or fewer filters.")
        return reply.text()
    more = f"; k={min(2 * k, MOST_ROWS)} shows more" if len(result.hits) == k < MOST_ROWS else ""
    reply.say(f"{counted(len(result.hits), 'hit')}, best first{more}")
    reply.list(range(len(result.hits)), _hits(result, reply.snippets(len(result.hits)).width))
    return reply.text()


def _notes(result: Result) -> Iterator[str]:
    """Yield the notes of a result that its other lines do not repeat, and the limit that ended it early."""
    from orienteer.retriever import LIMITS

    if result.stopped_by in LIMITS:
        yield f"note: the budget of {result.stopped_by} ended: this was found until then"
    refused = None if result.refusal is None else result.refusal.text
    for note in result.notes:
        if note != result.meeting and (refused is None or refused not in note):
            yield f"note: {one_line(note, _NOTE)}"


def _answer(result: Result, room: int) -> str:
    """Return the answer, cut to `room` characters; a quotation as one line, with its source."""
    if result.answer_kind == "quotation" and result.answer is not None:
        places = [citation.source.place for citation in result.citations if citation.source is not None]
        where = f" (quoted from {', '.join(places)})" if places else ""
        return f"answer: “{one_line(result.answer, _QUOTATION)}”{where}"
    answers = answers_of(result, larger_k="k=", most_k=MOST_ROWS)
    return cut(f"answer: {'; '.join(answers)}", room) if answers else ""


def _hits(result: Result, width: int) -> Iterator[str]:
    """Yield each hit as a line, with up to `width` characters of its text; some have a heading above."""
    between = lines_between(result)
    for place, hit in enumerate(result.hits, 1):
        heading = f"{between[place]}\n" if place in between else ""
        yield f"{heading}{place}. {_hit(hit, width)}"


def _hit(hit: Ranked, width: int) -> str:
    """Return a hit as a line: its id, name, type, source, reason, and the best of its text."""
    name = one_line(hit.name)
    title = f"[{hit.id}] {name} ({hit.type})" if name != hit.id else f"[{hit.id}] ({hit.type})"
    where = f" {hit.source.place}" if hit.source is not None and hit.source.place else ""
    why = " | ".join(filter(None, (one_line(hit.why, _WHY), one_line(" ".join(hit.text.split()), width))))
    return f"{title}{where}{f': {why}' if why else ''}"
