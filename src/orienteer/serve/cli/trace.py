"""Commands on recorded trajectories: trace show, requests, replay, diff."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orienteer.display import counted
from orienteer.serve.cli.arguments import Directory, open_graph
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.agents.replay import Difference, Replayed
    from orienteer.agents.requests import SentRequest
    from orienteer.records import Trajectory

GROUPS: Mapping[str, str] = {"trace": "Read, replay and compare what agents did."}

File = Annotated[Path, typer.Argument(metavar="FILE", help="What ask --trace wrote, or - for standard input.")]

TrustLimits = Annotated[
    bool, typer.Option("--trust-limits", help="Run code within the trace's limits, though they be above the defaults.")
]


def show(out: Output, file: File) -> None:
    """Print trajectories: every call, what it gave, what was selected."""
    from orienteer.agents.replay import read

    found = read(file)
    if out.as_json:
        out.json([one.model_dump(mode="json") for one in found])
        return
    for number, one in enumerate(found, 1):
        _trajectory(out, number, one)


def requests(out: Output, file: File) -> None:
    """Print every request to a model exactly as it was sent: messages, tools, sampling; --json has the whole bodies."""
    from orienteer.agents.replay import read
    from orienteer.agents.requests import requests

    sent = [
        (number, trajectory, request)
        for number, trajectory in enumerate(read(file), 1)
        for request in requests(trajectory)
    ]
    if out.as_json:
        out.json(
            [
                {
                    "trajectory": number,
                    "step": request.step,
                    "refused": request.is_refused,
                    "error": trajectory.steps[request.step - 1].error,
                    "body": request.body(),
                }
                for number, trajectory, request in sent
            ]
        )
        return
    for number, trajectory, request in sent:
        _request(out, number, trajectory, request)
    if not sent:
        out.note("no model was asked")


def replay(out: Output, file: File, directory: Directory, trust_limits: TrustLimits = False) -> int:
    """Run every recorded call again over a graph, without the model, and say whether it gives the same."""
    from orienteer.agents.replay import read, replay
    from orienteer.tools.toolboxes import lowered_limits

    trajectories = read(file)
    graph = open_graph(directory, out)
    if not trust_limits:
        for note in dict.fromkeys(note for one in trajectories for note in lowered_limits(one).notes):
            out.note(f"{note} (--trust-limits takes the trace's)")
    found = [list(replay(one, graph, trusts_limits=trust_limits)) for one in trajectories]
    differs = [one for calls in found for one in calls if not one.is_equal]
    if out.as_json:
        calls = [
            {**one.model_dump(mode="json"), "trajectory": number, "equal": one.is_equal}
            for number, calls in enumerate(found, 1)
            for one in calls
        ]
        out.json({"calls": len(calls), "equal": len(calls) - len(differs), "replayed": calls})
    else:
        for number, replayed in enumerate(found, 1):
            for one in replayed:
                _replayed(out, number, one)
        total = sum(map(len, found))
        out.print(f"{total - len(differs)} of {total} observations are equal")
    return int(bool(differs))


def diff(out: Output, first: File, second: File) -> int:
    """Compare two traces, trajectory by trajectory: where they part, and what each selected."""
    from orienteer.agents.replay import diff, read

    found = diff(read(first), read(second))
    if out.as_json:
        out.json([{**one.model_dump(mode="json"), "equal": one.is_empty} for one in found])
    else:
        for number, one in enumerate(found, 1):
            _difference(out, number, one)
    return int(not all(one.is_empty for one in found))


def _trajectory(out: Output, number: int, one: Trajectory) -> None:
    model = f", {one.model}" if one.model else ""
    usage = one.usage
    spent = f", {counted(usage.calls, 'call')}, {counted(usage.tokens, 'token')}" if usage.calls else ""
    out.print(f"{number}. {one.question.text}")
    out.print(f"   {one.method}{model}: {counted(len(one.steps), 'step')}{spent}, ended by {one.stopped_by}")
    for place, step in enumerate(one.steps, 1):
        if step.reply.message.content:
            out.print(f"   {place}. {step.reply.message.content}")
        if step.error:
            out.print(f"   {place}. the request failed: {step.error}")
        seen = {observed.call_id: observed for observed in step.observations}
        for call in step.reply.message.tool_calls:
            out.print(f"   {place}. {call.name} {call.arguments}")
            for line in seen[call.id].text.splitlines() if call.id in seen else ():
                out.print(f"        {line}")
    for label, value in (("selected", ", ".join(one.selected)), ("answer", one.answer), ("error", one.error)):
        if value:
            out.print(f"   {label}: {value}")
    for note in one.notes:
        out.print(f"   note: {note}")


def _request(out: Output, number: int, trajectory: Trajectory, request: SentRequest) -> None:
    """Print a request: a line of what stands beside the messages, then each message under its role."""
    body = request.body()
    error = trajectory.steps[request.step - 1].error
    ending = "; the server refused it so" if request.is_refused else f"; it failed: {error}" if error else ""
    out.print(f"== trajectory {number} ({trajectory.method}), step {request.step}{ending}")
    tools = ", ".join(tool["function"]["name"] for tool in body.get("tools", ()))
    schema = json.dumps(body["response_format"]["json_schema"]["schema"]) if "response_format" in body else ""
    sampling = " ".join(f"{name}={value}" for name, value in body.items() if isinstance(value, int | float))
    for label, value in (("tools", tools), ("schema", schema), ("sampling", sampling)):
        if value:
            out.print(f"{label}: {value}")
    for message in body["messages"]:
        answers = f" {message['tool_call_id']}" if "tool_call_id" in message else ""
        out.print(f"-- {message['role']}{answers}")
        if message["content"]:
            out.print(message["content"])
        for call in message.get("tool_calls", ()):
            out.print(f"{call['id']}: {call['function']['name']} {call['function']['arguments']}")


def _replayed(out: Output, number: int, one: Replayed) -> None:
    if one.is_equal:
        out.note(f"equal: trajectory {number}, step {one.step}, {one.call.name}")
        return
    out.print(f"differs: trajectory {number}, step {one.step}, {one.call.name} {one.call.arguments}")
    for sign, seen in (("-", one.recorded), ("+", one.now)):
        for line in seen.text.splitlines():
            out.print(f"    {sign} {line}")


def _difference(out: Output, number: int, one: Difference) -> None:
    if one.is_empty:
        out.print(f"{number}. equal")
        return
    out.print(f"{number}. {' / '.join(dict.fromkeys(one.questions))}")
    out.print(f"   steps: {one.steps[0]} and {one.steps[1]}; ended by {one.stopped_by[0]} and {one.stopped_by[1]}")
    if one.first_step is not None:
        out.print(f"   they part at step {one.first_step}")
        for sign, calls in zip("-+", one.calls, strict=True):
            for call in calls:
                out.print(f"   {sign} {call}")
    out.print(f"   selected by both: {len(one.both)}")
    for sign, selected in (("-", one.only_first), ("+", one.only_second)):
        for node_id in selected:
            out.print(f"   {sign} {node_id}")
    if one.answers[0] != one.answers[1]:
        out.print(f"   - {one.answers[0]}")
        out.print(f"   + {one.answers[1]}")


COMMANDS = {
    "trace show": (show, "trace show trace.jsonl"),
    "trace requests": (requests, "trace requests trace.jsonl"),
    "trace replay": (replay, "trace replay trace.jsonl DIR"),
    "trace diff": (diff, "trace diff monday.jsonl tuesday.jsonl"),
}
