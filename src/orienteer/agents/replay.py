"""Trajectories in files, a JSON line each: written, read, replayed over a graph without a model, and compared."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import zip_longest
from pathlib import Path

from pydantic import ValidationError

from orienteer.display import escape_json
from orienteer.errors import BadInput
from orienteer.files import write_whole
from orienteer.graph.store import Graph
from orienteer.records import NOT_RUN, Observed, Record, StoppedBy, ToolCall, ToolSpec, Trajectory
from orienteer.retrieval.evidence import UNPAID
from orienteer.tools.evidence import is_of_method
from orienteer.tools.session import Session
from orienteer.tools.toolbox import Toolbox, open_toolbox

STANDARD = Path("-")


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
    """The first step, from 1, whose calls differ; None where none does."""
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


def check_writable(path: Path) -> None:
    """Raise `BadInput` where no trace can be written: better before a model is paid than after."""
    if path == STANDARD:
        return
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise BadInput(f"the trace cannot be written to {path}: name a file in a folder that exists")


def write(path: Path, trajectories: Iterable[Trajectory]) -> None:
    """Write trajectories as JSON lines. The file appears whole or not at all; `-` is standard output."""
    lines = "".join(f"{trajectory.model_dump_json()}\n" for trajectory in trajectories)
    if path == STANDARD:
        sys.stdout.write(escape_json(lines))
        return
    write_whole(path, lines)


def read(path: Path) -> tuple[Trajectory, ...]:
    """Return the trajectories of a file; `-` is standard input. Raises `BadInput` with the line that is none."""
    try:
        text = sys.stdin.read() if path == STANDARD else path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}; name what ask --trace FILE wrote") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} cannot be read as a trace: {error}") from error
    trajectories = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            trajectories.append(Trajectory.model_validate_json(line))
        except BadInput as error:
            raise BadInput(f"{path}, line {number}: {error}") from error
        except ValidationError as error:
            fault = error.errors()[0]
            place = ".".join(map(str, fault["loc"]))
            raise BadInput(f"{path}, line {number}, is no trajectory: {place} {fault['msg']}") from error
    if not trajectories:
        raise BadInput(f"{path} holds no trajectory: write one with: orienteer ask DIR QUESTION --trace {path}")
    return tuple(trajectories)


def replay(trajectory: Trajectory, graph: Graph, *, trusts_limits: bool = False) -> Iterator[CallReplay]:
    """Run each recorded call again, in order, over the graph as it is now and without the model.

    Somebody else may have written the trajectory: code runs within the default limits, or within lower ones that it
    names, and within higher ones only where its limits are trusted (`toolbox.lowered_limits`).

    Evidence that a method gathered for another one is passed over, for its own trajectories tell how it was found. So
    are calls that were never run.

    Raises `BadInput` where the trajectory used tools that do not exist here.
    """
    with closing(_toolbox(trajectory, graph, trusts_limits=trusts_limits)) as toolbox:
        for number, step in enumerate(trajectory.steps, 1):
            recorded = {observed.call_id: observed for observed in step.observations}
            for call in step.reply.message.tool_calls:
                if call.id not in recorded or is_of_method(call) or recorded[call.id].error == NOT_RUN:
                    continue
                toolbox.session.payment.goes_by_words = UNPAID in recorded[call.id].text
                observation = toolbox.observe(call)
                now = Observed(call_id=call.id, text=observation.text, nodes=observation.nodes, error=observation.error)
                yield CallReplay(step=number, call=call, recorded=recorded[call.id], now=now)


def diff(first: Sequence[Trajectory], second: Sequence[Trajectory]) -> tuple[Difference, ...]:
    """Compare trajectories pair by pair, in order. Raises `BadInput` where the two numbers differ."""
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
    """Return the tools that a trajectory was offered. Raises `BadInput` where some of them do not exist here."""
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
