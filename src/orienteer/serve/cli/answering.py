"""What is told of a question while it runs, and its result with its notes and costs."""

from __future__ import annotations

import json
import logging
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from orienteer.serve.cli import printout
from orienteer.serve.cli.output import Output
from orienteer.serve.heard_words import NO_ANSWER, PUT_RIGHT, HeardWords

if TYPE_CHECKING:
    from orienteer.agents.events import Event
    from orienteer.graph.store import Graph
    from orienteer.records import Result

_REMARK = 160  # characters of a model's words in a turn without a call
_ARGUMENTS = 2_000  # characters of the arguments of a call: a model may write megabytes
_SIDE_BY_SIDE = 2.0  # seconds within which agents make the same attempt, each with a delay of its own


class _Retries(logging.Handler):
    """Notes that a model's server is asked again, once for agents side by side; ignores all else that the SDK logs."""

    def __init__(self, out: Output) -> None:
        super().__init__()
        self._out = out
        self._attempt, self._at = 0, 0.0

    def emit(self, record: logging.LogRecord) -> None:
        match record.args:
            case (float(), int(attempt), int(most)):
                if attempt == self._attempt and record.created < self._at + _SIDE_BY_SIDE:
                    return
                self._attempt, self._at = attempt, record.created
                self._out.note(f"the model's server failed to answer: retrying ({attempt} of {most})")


@contextmanager
def retries_shown(out: Output) -> Iterator[None]:
    """Show the SDK's retries, which only its log tells of."""
    logger, handler = logging.getLogger("openai._base_client"), _Retries(out)
    level, propagates = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagates


def print_outcome(out: Output, graph: Graph, result: Result, heard: HeardWords | None = None) -> None:
    """Print a result, unless as JSON, with its notes and costs. Raises the error that ended the work early, if any.

    Words of the answer that were printed while they were written are not printed again.
    """
    from orienteer.retriever import failure

    rest = heard.rest(result) if heard else None
    if rest:
        out.words(rest)
    error = failure(result)
    if error is None or result.hits:
        refused = result.refusal.text if result.refusal is not None and not out.as_json else None
        for note in result.notes:
            if note == result.meeting and not out.as_json:
                continue  # it stands in place of the answer
            if (error is None or str(error) not in note) and (refused is None or refused not in note):
                out.note(f"note: {note}")
        out.note(result.spent)
        if heard and rest is None:  # they cannot be taken back
            out.note(f"note: {NO_ANSWER if result.answer is None else PUT_RIGHT}")
        if not out.as_json:
            printout.print_result(out, graph, result, has_answer=rest is None)
    if error is not None:
        raise error


def show_event(out: Output, event: Event, *, has_agents: bool, is_whole: bool) -> None:
    """Show a step as notes: a call in one line and its observation beneath, or the model's words instead.

    Unless `is_whole`, of long texts only the beginning.
    """
    from orienteer.llm.spoken import after_thinking

    if event.kind == "note":
        out.note(event.text)
    elif event.kind == "step" and event.step.error is not None:
        pass  # shown at the end
    elif event.kind == "step" and event.agent is not None and not event.step.reply.message.tool_calls:
        remark = after_thinking(event.step.reply.message.content or "") or "nothing"
        if not is_whole:
            remark = textwrap.shorten(remark, _REMARK, placeholder=" ...")
        cut = " (cut off at the length limit)" if event.step.reply.truncated else ""
        out.note(f"[{event.agent + 1}] said: {remark}{cut}")
    elif event.kind == "observation":
        agent = f"[{event.agent + 1}] " if has_agents and event.agent is not None else ""
        text = event.observation.text.strip()
        arguments = _compact(event.call.arguments)
        cut = f" ... {len(arguments):,} characters" if len(arguments) > _ARGUMENTS else ""
        out.note(f"{agent}{event.call.name}({arguments[:_ARGUMENTS]}{cut})")
        for line in (text.splitlines() or [""]) if is_whole else [_gist(text)]:
            out.note(f"    {line}")


def _gist(text: str) -> str:
    """Return the first line of a text, with the next one where the first is a heading."""
    first, *others = text.splitlines() or [""]
    return f"{first} {others[0]}" if others and first.endswith(":") else first


def _compact(arguments: str) -> str:
    """Return a JSON object as the arguments of a call, `query="x", k=5`; any other text unchanged."""
    from orienteer.llm.schema import decode

    try:
        values = decode(arguments or "{}")
    except ValueError:
        return arguments
    if not isinstance(values, dict):
        return arguments
    return ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in values.items())
