"""Recorded trajectories: replayed over a graph without a model, compared, checked for waste, shown as requests."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain, pairwise, zip_longest
from typing import Any, Literal, NamedTuple, TypeAlias

from orienteer.agents.dialect import DIALECTS
from orienteer.display import counted
from orienteer.errors import BadInput
from orienteer.graph.store import Graph
from orienteer.llm.conversation import elide, spoken
from orienteer.llm.replies import ChatRequest
from orienteer.llm.schema import decode, faults, json_object
from orienteer.llm.wire import body_of
from orienteer.records import (
    NOT_RUN,
    JsonValue,
    Message,
    Observed,
    Record,
    Step,
    StoppedBy,
    ToolCall,
    ToolSpec,
    Trajectory,
)
from orienteer.retrieval.evidence import UNPAID
from orienteer.text.english import STOP
from orienteer.text.sentences import flat
from orienteer.text.tokenizer import Tokenizer
from orienteer.tools.evidence import is_of_method
from orienteer.tools.session import Session
from orienteer.tools.toolbox import Toolbox, open_toolbox


class CallReplay(Record):
    """One recorded call and what it gives now."""

    step: int
    """From 1."""
    call: ToolCall
    recorded: Observed
    now: Observed

    @property
    def is_equal(self) -> bool:
        """Whether the observation is the recorded one, letter for letter."""
        return self.recorded == self.now


class Difference(Record):
    """How a trajectory differs from another one."""

    questions: tuple[str, str]
    methods: tuple[str, str]
    steps: tuple[int, int]
    first_step: int | None
    """The first step, from 1, whose calls differ; None if none does."""
    calls: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """The calls of that step in each."""
    both: tuple[str, ...] = ()
    """Selected in both, in the order of the first."""
    only_first: tuple[str, ...] = ()
    only_second: tuple[str, ...] = ()
    answers: tuple[str | None, str | None]
    stopped_by: tuple[StoppedBy, StoppedBy]

    @property
    def is_empty(self) -> bool:
        """Whether both made the same calls and came to the same end."""
        same_words = len(set(self.answers)) == len(set(self.questions)) == len(set(self.stopped_by)) == 1
        return self.first_step is None and not self.only_first and not self.only_second and same_words


def replay(trajectory: Trajectory, graph: Graph, *, trusts_limits: bool = False) -> Iterator[CallReplay]:
    """Repeat each recorded call, in order, over the current graph and without the model.

    Somebody else may have written the trajectory: code runs within the default limits, or within lower ones that it
    names, and within higher ones only if its limits are trusted (`toolbox.lowered_limits`).

    Evidence that a method gathered for another one is passed over, for its own trajectories tell how it was found. So
    are calls that were never run, and searches in a set that a plan made, which no call has saved.

    Raises `BadInput` if the trajectory used tools that do not exist here.
    """
    with closing(_toolbox(trajectory, graph, trusts_limits=trusts_limits)) as toolbox:
        yield from _replayed(trajectory, toolbox)


def session_of(trajectory: Trajectory, graph: Graph) -> Session:
    """Return the session that an agent ended with: what it selected, and why. Raises as `replay` does.

    Only the calls that make the answer are repeated, unless one names a set that another one has saved.
    """
    with closing(_toolbox(trajectory, graph, trusts_limits=False)) as toolbox:
        session = toolbox.session
        written = (call.arguments for step in trajectory.steps for call in step.reply.message.tool_calls)
        names_sets = session.saves_sets and any("@" in arguments for arguments in written)
        needless = set() if names_sets else {spec.name for spec in toolbox.specs} - _ANSWERING
        for _ in _replayed(trajectory, toolbox, needless):
            pass
    session.answer = [graph.arrays.row(node) for node in trajectory.selected]
    return session


def _replayed(trajectory: Trajectory, toolbox: Toolbox, needless: Collection[str] = ()) -> Iterator[CallReplay]:
    for number, step in enumerate(trajectory.steps, 1):
        recorded = {observed.call_id: observed for observed in step.observations}
        for call in step.reply.message.tool_calls:
            seen = recorded.get(call.id)
            if seen is None or seen.error == NOT_RUN or call.name in needless or is_of_method(call):
                continue
            if seen.error is None and _is_aside(call, toolbox.session):
                continue
            toolbox.session.payment.goes_by_words = UNPAID in seen.text
            now = Observed.of(call, toolbox.observe(call))
            yield CallReplay(step=number, call=call, recorded=seen, now=now)


def _is_aside(call: ToolCall, session: Session) -> bool:
    """Return whether a search was in a set that no call before it has saved."""
    among = re.search(r'"among": "@(\d+)"', call.arguments)
    return among is not None and int(among[1]) > len(session.sets)


def diff(first: Sequence[Trajectory], second: Sequence[Trajectory]) -> tuple[Difference, ...]:
    """Compare trajectories pair by pair, in order. Raises `BadInput` if the two numbers differ."""
    if len(first) != len(second):
        raise BadInput(f"the traces hold {len(first)} and {len(second)} trajectories: compare runs of as many agents")
    return tuple(_difference(a, b) for a, b in zip(first, second, strict=True))


def _difference(a: Trajectory, b: Trajectory) -> Difference:
    calls = [
        [tuple(f"{call.name} {call.arguments}" for call in step.reply.message.tool_calls) for step in trajectory.steps]
        for trajectory in (a, b)
    ]
    pairs = list(zip_longest(*calls, fillvalue=()))
    at = next((place for place, (own, other) in enumerate(pairs) if own != other), None)
    return Difference(
        questions=(a.question.text, b.question.text),
        methods=(a.method, b.method),
        steps=(len(a.steps), len(b.steps)),
        first_step=None if at is None else at + 1,
        calls=((), ()) if at is None else (pairs[at][0], pairs[at][1]),
        both=tuple(node for node in a.selected if node in b.selected),
        only_first=tuple(node for node in a.selected if node not in b.selected),
        only_second=tuple(node for node in b.selected if node not in a.selected),
        answers=(a.answer, b.answer),
        stopped_by=(a.stopped_by, b.stopped_by),
    )


def _toolbox(trajectory: Trajectory, graph: Graph, *, trusts_limits: bool) -> Toolbox:
    """Return the tools that a trajectory was offered. Raises `BadInput` if some of them do not exist here."""
    if trajectory.toolbox is None:
        if trajectory.tools:
            raise BadInput(f"the trajectory does not name its toolbox: its tools are {_names(trajectory.tools)}")
        return Toolbox(Session(graph), ())
    toolbox = open_toolbox(graph, trajectory.toolbox, trusts_limits=trusts_limits)
    names = {spec.name for spec in toolbox.specs}
    if strange := [spec for spec in trajectory.tools if spec.name not in names]:
        raise BadInput(f"the trajectory used tools of another version of orienteer: {_names(strange)}")
    return toolbox


def _names(tools: Iterable[ToolSpec]) -> str:
    return ", ".join(sorted(tool.name for tool in tools))


# What cost turns in a trajectory: calls that failed, were made before, or led nowhere; replies cut, broken or empty.
#
# It reads the record alone, without graph or model, and reports what is sure. Nothing that a fixed course did by itself
# is a turn: only requests to a model are.


FindingKind: TypeAlias = Literal["failed", "repeated", "unused", "cut", "empty"]
# Tools that are called for what they do: nobody need use what they give.
_ANSWERING = frozenset({"add_to_answer", "remove_from_answer", "finish"})
_LONGEST = 300  # characters of a reason, of its begin and its end together
_SAVED_SET = re.compile(r"@\d+")


class Finding(Record):
    """One thing that cost a turn, or a part of one."""

    kind: FindingKind
    step: int | None
    """The turn, from 1; None for what the trajectory lacks as a whole."""
    tool: str | None = None
    """Which tool was called; None if the finding is about the reply itself."""
    error: str | None = None
    """The kind of error of a call that failed, as its observation has it."""
    why: str


class Lint(NamedTuple):
    """What was found in a trajectory, and what of it was in vain."""

    findings: tuple[Finding, ...]
    turns: int
    tokens: int
    turns_in_vain: int
    """Turns that brought nothing: each call has a finding, or the reply has one and makes no call."""
    tokens_in_vain: int


def lint(trajectory: Trajectory) -> Lint:
    """Return the findings about wasted turns; a trajectory without a model has no turns."""
    steps = trajectory.steps if trajectory.model is not None else ()
    findings: list[Finding] = []
    in_vain: list[Step] = []
    for place, about_calls in enumerate(_of_calls(trajectory) if steps else ()):
        about_reply = tuple(_of_reply(trajectory, place))
        findings += [*_of_request(steps[place], place + 1), *about_reply, *filter(None, about_calls)]
        if all(about_calls) if about_calls else about_reply:
            in_vain.append(steps[place])
    if steps and trajectory.tools and not trajectory.selected and not (trajectory.answer or "").strip():
        why = f"it ended with neither an answer nor a node, by {trajectory.stopped_by}"
        findings.append(Finding(kind="empty", step=None, why=why))
    tokens, in_vain_tokens = (sum(step.reply.usage.tokens for step in some) for some in (steps, in_vain))
    return Lint(tuple(findings), len(steps), tokens, len(in_vain), in_vain_tokens)


def together(lints: Iterable[Lint]) -> Lint:
    """Return the findings of several trajectories as one."""
    findings, *counts = zip(Lint((), 0, 0, 0, 0), *lints, strict=True)
    return Lint(tuple(chain.from_iterable(findings)), *map(sum, counts))


# -------------------------------------------------------------------------------------------------------- replies


def _of_request(step: Step, number: int) -> Iterator[Finding]:
    """Yield the problems of a turn's request; its reply may be sound."""
    ways = [*step.reply.refused, step.reply.lacks]
    for before, after in pairwise(ways):
        without = ", ".join(sorted({*after} - {*before})) or "what it refused"
        yield Finding(kind="failed", step=number, why=f"the server refused the request: sent again without {without}")
    if step.reply.calls_left_out:
        left_out = counted(step.reply.calls_left_out, "call")
        yield Finding(kind="failed", step=number, why=f"{left_out} beyond those that one turn may make")


def _of_reply(trajectory: Trajectory, place: int) -> Iterator[Finding]:
    """Yield the problems of a reply, except those of its calls."""
    step, number = trajectory.steps[place], place + 1
    if step.error is not None:
        yield Finding(kind="failed", step=number, why=f"the request failed: {_short(step.error)}")
        return
    if step.reply.truncated:
        tokens = counted(step.reply.usage.completion_tokens, "token")
        yield Finding(kind="cut", step=number, why=f"the reply was cut off at its length limit, after {tokens}")
    if step.unread:
        unread = counted(step.unread, "call")
        yield Finding(kind="failed", step=number, why=f"{unread} in words could not be read")
    if not step.reply.message.tool_calls and not step.reply.truncated and not step.unread:
        yield from _of_words(trajectory, place)


def _of_words(trajectory: Trajectory, place: int) -> Iterator[Finding]:
    """Yield the problems of a whole reply without calls."""
    step, number = trajectory.steps[place], place + 1
    following = trajectory.steps[place + 1] if place + 1 < len(trajectory.steps) else None
    text = step.reply.message.content or ""
    if not text.strip():
        yield Finding(kind="empty", step=number, why="the reply has neither words nor a call")
    elif step.reply_schema is not None:
        yield from _of_object(number, text, step.reply_schema, following)
    elif trajectory.tools and step.offers_tools and following is not None and following.reply_schema is None:
        yield Finding(kind="failed", step=number, why="the reply calls nothing, and does not end the course")


def _of_object(number: int, text: str, schema: Mapping[str, Any], following: Step | None) -> Iterator[Finding]:
    """Yield the problems of a reply that had to be an object."""
    try:
        value = decode(text)
    except ValueError as error:
        yield Finding(kind="failed", step=number, why=f"the reply is no JSON: {_short(str(error))}")
        return
    if wrong := faults(value, schema):
        yield Finding(kind="failed", step=number, why=f"the reply does not fit its schema: {_short('; '.join(wrong))}")
    elif following is not None and following.notice and following.reply_schema == schema:
        yield Finding(kind="failed", step=number, why=f"the reply was sent back: {_short(following.notice)}")
    elif _is_empty(value):
        yield Finding(kind="empty", step=number, why=f"the object of the reply holds nothing: {_short(text)}")


def _is_empty(value: JsonValue) -> bool:
    """Return whether JSON has only nulls, zeros, empty texts and empty lists; true and false are something."""
    if isinstance(value, dict):
        return all(map(_is_empty, value.values()))
    return not isinstance(value, bool) and not value


# ---------------------------------------------------------------------------------------------------------- calls


def _of_calls(trajectory: Trajectory) -> list[list[Finding | None]]:
    """Return for each turn the finding about each of its calls, or None."""
    before: dict[tuple[str, str], tuple[int, str]] = {}
    used = _Used(trajectory)
    turns: list[list[Finding | None]] = []
    for number, step in enumerate(trajectory.steps, 1):
        observed = {seen.call_id: seen for seen in step.observations}
        turn: list[Finding | None] = []
        for call in step.reply.message.tool_calls:
            earlier = before.get(key_of(call))
            before[key_of(call)] = (number, call.id)
            found = _of_call(call, observed.get(call.id), number, earlier, step.elided)
            if found is None and call.id in observed and used.is_unused(number, call, observed[call.id]):
                nodes = counted(len(observed[call.id].nodes), "node")
                why = f"nothing of it was used later, {nodes}: {_short(call.arguments)}"
                found = Finding(kind="unused", step=number, tool=call.name, why=why)
            turn.append(found)
        turns.append(turn)
    return turns


def _of_call(
    call: ToolCall, seen: Observed | None, number: int, earlier: tuple[int, str] | None, elided: Sequence[str]
) -> Finding | None:
    """Return the reason why a call gave nothing: its error, or the same call before."""
    again = "" if earlier is None else f" (the same call as in turn {earlier[0]})"
    if seen is None:
        return Finding(kind="failed", step=number, tool=call.name, why=f"it was not run{again}")
    if seen.error is not None:
        why = f"it was not run{again}" if seen.error == NOT_RUN else f"{_short(seen.text)}{again}"
        return Finding(kind="failed", step=number, tool=call.name, error=seen.error, why=why)
    if earlier is None:
        return None
    lost = ", whose result had been left out to save room" if earlier[1] in elided else ""
    why = f"the same call as in turn {earlier[0]}{lost}: {_short(call.arguments)}"
    return Finding(kind="repeated", step=number, tool=call.name, why=why)


def key_of(call: ToolCall) -> tuple[str, str]:
    """Return a key for equal calls: blanks and the order of arguments make no difference."""
    value = json_object(call.arguments)
    return call.name, call.arguments if value is None else json.dumps(value, sort_keys=True)


class _Used:
    """Finds the results that a model did not use.

    A result is used if something that it was the first to show is in what the model wrote later, in words, thoughts
    or arguments: a node's id, a saved set, a word of the result that is no everyday word. What the last turn but one
    gave has been read for the ending.
    """

    def __init__(self, trajectory: Trajectory) -> None:
        self._steps = trajectory.steps
        self._written = ["\n".join(_written_in(step)) for step in trajectory.steps]
        asked = [trajectory.question.text, *(message.content or "" for message in trajectory.opening)]
        self._known = [_words("\n".join(asked))]
        """Words that stood in the talk before the results of each turn came."""
        for step, written in zip(self._steps, self._written, strict=True):
            seen = "\n".join(seen.text for seen in step.observations)
            self._known[-1] |= _words(f"{step.notice or ''}\n{written}")
            self._known.append(self._known[-1] | _words(seen))
        looking = []  # turns with a result that is meant to be read
        for number, step in enumerate(self._steps, 1):
            answering = {call.id for call in step.reply.message.tool_calls if call.name in _ANSWERING}
            if any(seen.error is None and seen.call_id not in answering for seen in step.observations):
                looking.append(number)
        self._last_look = looking[-1] if looking and looking[-1] < len(self._steps) else None

    def is_unused(self, number: int, call: ToolCall, seen: Observed) -> bool:
        """Return whether nothing of a result with nodes, in a turn from 1, was used later."""
        if call.name in _ANSWERING or not seen.nodes or number == self._last_look:
            return False
        later = "\n".join(self._written[number:])
        new = _words(seen.text) - self._known[number - 1]
        # A result that shows nothing new may have been a check: whether it was of use cannot be told.
        return bool(new) and new.isdisjoint(_words(later)) and not any(node in later for node in seen.nodes)


def _written_in(step: Step) -> Iterator[str]:
    """Yield the model's words, thoughts and arguments of a turn."""
    reply = step.reply
    yield reply.message.content or ""
    for call in reply.message.tool_calls:
        try:
            yield from _texts(decode(call.arguments))  # not as JSON, where letters and line breaks may be escaped
        except ValueError:
            yield call.arguments
    if reply.raw is not None:
        yield from filter(None, (reply.raw.text, reply.raw.reasoning))


def _words(text: str) -> set[str]:
    """Return the words of a text that tell something, and the saved sets that it names."""
    return {word for word in Tokenizer.words(text) if word not in STOP} | set(_SAVED_SET.findall(text))


# --------------------------------------------------------------------------------------------------------- helpers


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield the texts and numbers that a value holds."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _texts(part)
    else:
        yield str(value)


def _short(text: str) -> str:
    """Return a text in one line, shortened in the middle: errors of code are at the end."""
    line, half = flat(text), _LONGEST // 2
    return line if len(line) <= _LONGEST else f"{line[:half]} … {line[-half:]}"


# The requests of a trajectory, exactly as they were sent: what a model is trained on, and what a person reads.


class SentRequest(NamedTuple):
    """One request as it was put to a model; `body` is what of it went to a server."""

    step: int
    """From 1."""
    chat: ChatRequest
    wants_tokens: bool = False
    streams: bool = False
    lacks: tuple[str, ...] = ()
    """Parameters that it was sent without."""
    is_refused: bool = False
    """The server refused it so; the next request is the same in another way."""

    def body(self) -> dict[str, Any]:  # Any: JSON
        """Return the body of the request, as a server of chat completions takes it."""
        return body_of(self.chat, lacks=frozenset(self.lacks), wants_tokens=self.wants_tokens, streams=self.streams)


def requests(trajectory: Trajectory) -> Iterator[SentRequest]:
    """Yield every request to the model, in order; none if no model took the steps, as in a fixed course's own."""
    if trajectory.model is None:
        return
    dialect = DIALECTS[trajectory.dialect]
    messages = list(trajectory.opening)
    for number, step in enumerate(trajectory.steps, 1):
        notices = [Message(role="user", content=step.notice)] if step.notice else []
        shown = elide([*messages, *notices], step.elided, trajectory.elision)
        sent = dialect.written(shown, trajectory.tools, trajectory.tools if step.offers_tools else ())
        schema = sent.schema if step.reply_schema is None else step.reply_schema
        chat = ChatRequest.of(trajectory.model, sent.messages, sent.tools, schema, trajectory.sampling)
        request = SentRequest(number, chat, step.reply.wanted_tokens, step.reply.streamed)
        for lacks in step.reply.refused:
            yield request._replace(lacks=lacks, is_refused=True)
        yield request._replace(lacks=step.reply.lacks)
        if step.error is None:
            seen = (Message(role="tool", content=seen.text, tool_call_id=seen.call_id) for seen in step.observations)
            messages += [*notices, *spoken(step.reply, has_tools=bool(trajectory.tools)), *seen]
