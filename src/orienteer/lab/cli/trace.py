"""Commands on recorded trajectories: trace show, requests, replay, diff, lint."""

from __future__ import annotations

import json
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orienteer.display import counted
from orienteer.errors import BadInput
from orienteer.serve.cli.arguments import Directory, open_graph
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.lab.replay import CallReplay, Difference, Lint
    from orienteer.records import Trajectory


File = Annotated[Path, typer.Argument(metavar="FILE", help="A file that ask --trace wrote, or - for standard input.")]


def show(out: Output, file: File) -> None:
    """Print trajectories: every call, its observation, and the selected nodes."""
    from orienteer.agents.traces import read

    trajectories = read(file)
    if out.as_json:
        out.json([trajectory.model_dump(mode="json") for trajectory in trajectories])
        return
    for number, trajectory in enumerate(trajectories, 1):
        model = f", {trajectory.model}" if trajectory.model else ""
        usage = trajectory.usage
        spent = f", {counted(usage.calls, 'call')}, {counted(usage.tokens, 'token')}" if usage.calls else ""
        out.print(f"{number}. {trajectory.question.text}")
        steps = counted(len(trajectory.steps), "step")
        out.print(f"   {trajectory.method}{model}: {steps}{spent}, ended by {trajectory.stopped_by}")
        prompt = f"{trajectory.prompt}, version {trajectory.prompt_version}" if trajectory.prompt else None
        _print_values(
            out, ("prompt", prompt), ("read as", None if trajectory.reading is None else trajectory.reading.text)
        )
        for place, step in enumerate(trajectory.steps, 1):
            if step.reply.message.content:
                out.print(f"   {place}. {step.reply.message.content}")
            if step.error:
                out.print(f"   {place}. the request failed: {step.error}")
            observations = {observation.call_id: observation for observation in step.observations}
            for call in step.reply.message.tool_calls:
                out.print(f"   {place}. {call.name} {call.arguments}")
                for line in observations[call.id].text.splitlines() if call.id in observations else ():
                    out.print(f"        {line}")
        _print_values(
            out,
            ("selected", ", ".join(trajectory.selected)),
            ("nearby", ", ".join(trajectory.nearby)),
            ("answer", trajectory.answer),
            ("error", trajectory.error),
            *(("note", note) for note in trajectory.notes),
        )


def requests(out: Output, file: File) -> None:
    """Print every request to a model exactly as it was sent: messages, tools, sampling; --json has the whole bodies."""
    from orienteer.agents.traces import read
    from orienteer.lab.replay import requests

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
        body = request.body()
        error = trajectory.steps[request.step - 1].error
        ending = "; the server refused it" if request.is_refused else f"; it failed: {error}" if error else ""
        out.print(f"== trajectory {number} ({trajectory.method}), step {request.step}{ending}")
        tools = ", ".join(tool["function"]["name"] for tool in body.get("tools", ()))
        schema = json.dumps(body["response_format"]["json_schema"]["schema"]) if "response_format" in body else ""
        sampling = " ".join(f"{name}={value}" for name, value in body.items() if isinstance(value, int | float))
        grammar = body.get("grammar", "")
        for label, value in (("tools", tools), ("schema", schema), ("grammar", grammar), ("sampling", sampling)):
            if value:
                out.print(f"{label}: {value}")
        for message in body["messages"]:
            answers = f" {message['tool_call_id']}" if "tool_call_id" in message else ""
            out.print(f"-- {message['role']}{answers}")
            if message["content"]:
                out.print(message["content"])
            for call in message.get("tool_calls", ()):
                out.print(f"{call['id']}: {call['function']['name']} {call['function']['arguments']}")
    if not sent:
        out.note("no model was called")


def replay(
    out: Output,
    file: File,
    directory: Directory,
    trust_limits: Annotated[
        bool,
        typer.Option("--trust-limits", help="Run code under the trace's limits even if they exceed the defaults."),
    ] = False,
) -> int:
    """Run every recorded call again over a graph, without the model, and compare the observations."""
    from orienteer.agents.traces import read
    from orienteer.lab.replay import replay
    from orienteer.tools.toolbox import lowered_limits

    trajectories = read(file)
    graph = open_graph(directory, out)
    if not trust_limits:
        for note in dict.fromkeys(note for trajectory in trajectories for note in lowered_limits(trajectory).notes):
            out.note(f"{note} (--trust-limits uses the trace's)")
    calls = [
        (number, call)
        for number, trajectory in enumerate(trajectories, 1)
        for call in replay(trajectory, graph, trusts_limits=trust_limits)
    ]
    equal = sum(call.is_equal for _, call in calls)
    if out.as_json:
        replayed = [
            {**call.model_dump(mode="json"), "trajectory": number, "equal": call.is_equal} for number, call in calls
        ]
        out.json({"calls": len(calls), "equal": equal, "replayed": replayed})
    else:
        for number, call in calls:
            _print_call(out, number, call)
        out.print(f"{equal} of {len(calls)} observations are equal")
    return int(equal < len(calls))


def diff(out: Output, first: File, second: File) -> int:
    """Compare two traces, trajectory by trajectory: where they differ, and what each selected."""
    from orienteer.agents.traces import read
    from orienteer.lab.replay import diff

    differences = diff(read(first), read(second))
    if out.as_json:
        out.json([{**part.model_dump(mode="json"), "equal": part.is_empty} for part in differences])
    else:
        for number, difference in enumerate(differences, 1):
            _print_difference(out, number, difference)
    return int(not all(difference.is_empty for difference in differences))


def lint(
    out: Output,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file that ask --trace wrote, - for standard input, or a run.")
    ],
) -> None:
    """Print the causes of lost turns: failed calls, repeated calls, unused results, cut replies, empty answers."""
    from orienteer.lab.replay import lint, together

    trajectories = _read(file)
    lints = [lint(trajectory) for trajectory in trajectories]
    total = together(lints)
    if out.as_json:
        found = [
            {"trajectory": number, **finding.model_dump(mode="json")}
            for number, part in enumerate(lints, 1)
            for finding in part.findings
        ]
        counts = {name: value for name, value in total._asdict().items() if name != "findings"}
        out.json({"trajectories": len(lints), **counts, "findings": found})
        return
    for number, (trajectory, part) in enumerate(zip(trajectories, lints, strict=True), 1):
        if part.findings:
            out.print(f"{number}. {trajectory.question.text}")
            out.print(f"   {trajectory.method}: {_in_vain(part)}")
            for _, alike in groupby(part.findings, key=lambda finding: (finding.step, finding.kind, finding.tool)):
                finding, *more = alike
                turn = "" if finding.step is None else f"{finding.step}. "
                out.print(
                    f"   {turn}{finding.kind}: {': '.join(filter(None, (finding.tool, finding.error, finding.why)))}"
                )
                if more:
                    out.print(f"      and {len(more):,} more of this turn (--json has all)")
    out.print(f"{_in_vain(total)}; {counted(len(total.findings), 'finding')}")
    # A finding's cause is a tool with its error, or the reply.
    by_kind: dict[str, Counter[str]] = {}
    for finding in total.findings:
        cause = " ".join(filter(None, (finding.tool or "the reply", finding.error)))
        by_kind.setdefault(finding.kind, Counter())[cause] += 1
    for kind, counts_by_cause in by_kind.items():
        causes = ", ".join(f"{cause} {count:,}" for cause, count in counts_by_cause.most_common())
        out.print(f"   {kind} {counts_by_cause.total():,}: {causes}")


def _read(file: Path) -> tuple[Trajectory, ...]:
    """Return the trajectories of a file, or those of the agents in the folder of a run. Raises `BadInput`."""
    from orienteer.agents.traces import read
    from orienteer.lab.replay import read_run

    if not file.is_dir():
        return read(file)
    trajectories = tuple(trajectory for trajectory in read_run(file) if trajectory.model is not None)
    if not trajectories:
        raise BadInput(f"no agent has a trajectory in the run {file}: methods without a model have nothing to lint")
    return trajectories


def _print_values(out: Output, *labelled: tuple[str, str | None]) -> None:
    for label, value in labelled:
        if value:
            out.print(f"   {label}: {value}")


def _in_vain(part: Lint) -> str:
    """Return the turns and tokens that were in vain."""
    turns = f"{part.turns_in_vain:,} of {counted(part.turns, 'turn')} in vain"
    return f"{turns}, {part.tokens_in_vain:,} of {counted(part.tokens, 'token')}" if part.tokens else turns


def _print_call(out: Output, number: int, replayed: CallReplay) -> None:
    if replayed.is_equal:
        out.note(f"equal: trajectory {number}, step {replayed.step}, {replayed.call.name}")
        return
    out.print(f"differs: trajectory {number}, step {replayed.step}, {replayed.call.name} {replayed.call.arguments}")
    for sign, observation in (("-", replayed.recorded), ("+", replayed.now)):
        for line in observation.text.splitlines():
            out.print(f"    {sign} {line}")


def _print_difference(out: Output, number: int, difference: Difference) -> None:
    if difference.is_empty:
        out.print(f"{number}. equal")
        return
    out.print(f"{number}. {' / '.join(dict.fromkeys(difference.questions))}")
    (steps, other_steps), (ending, other_ending) = difference.steps, difference.stopped_by
    out.print(f"   steps: {steps} and {other_steps}; ended by {ending} and {other_ending}")
    if difference.first_step is not None:
        out.print(f"   they differ from step {difference.first_step}")
        for sign, calls in zip("-+", difference.calls, strict=True):
            for call in calls:
                out.print(f"   {sign} {call}")
    out.print(f"   selected by both: {len(difference.both)}")
    for sign, selected in (("-", difference.only_first), ("+", difference.only_second)):
        for node_id in selected:
            out.print(f"   {sign} {node_id}")
    if difference.answers[0] != difference.answers[1]:
        out.print(f"   - {difference.answers[0]}")
        out.print(f"   + {difference.answers[1]}")


COMMANDS = {
    "trace show": (show, "trace show trace.jsonl"),
    "trace requests": (requests, "trace requests trace.jsonl"),
    "trace replay": (replay, "trace replay trace.jsonl DIR"),
    "trace diff": (diff, "trace diff monday.jsonl tuesday.jsonl"),
    "trace lint": (lint, "trace lint trace.jsonl"),
}
