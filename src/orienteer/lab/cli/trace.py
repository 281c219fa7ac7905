"""Commands on recorded trajectories: trace show, requests, replay, diff, lint."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import count, groupby, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from orienteer.display import counted
from orienteer.errors import BadInput, nearest
from orienteer.serve.cli.arguments import Directory, open_graph
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.lab.replay import CallReplay, Difference, Lint
    from orienteer.records import Trajectory


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A file that ask --trace wrote, - for standard input, a RUN, or RUN#QUESTION or RUN#QUESTION#METHOD.",
    ),
]


def show(out: Output, file: File) -> None:
    """Print trajectories: every call, its observation, and the selected nodes."""
    if out.as_json:
        out.json([one.trajectory.model_dump(mode="json") | one.of for one in _traced(file)])
        return
    for one in _traced(file):
        trajectory = one.trajectory
        model = f", {trajectory.model}" if trajectory.model else ""
        usage = trajectory.usage
        spent = f", {counted(usage.calls, 'call')}, {counted(usage.tokens, 'token')}" if usage.calls else ""
        out.print(f"{one.number}. {trajectory.question.text}")
        steps = counted(len(trajectory.steps), "step")
        out.print(f"   {one.title}{model}: {steps}{spent}, ended by {trajectory.stopped_by}")
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
    from orienteer.lab.replay import requests

    sent = [(one, request) for one in _traced(file) for request in requests(one.trajectory)]
    bodies = []
    for one, request in sent:
        body, error = request.body(), one.trajectory.steps[request.step - 1].error
        if out.as_json:
            about = {"trajectory": one.number, "step": request.step, "refused": request.is_refused, "error": error}
            bodies.append({**about, "body": body, **one.of})
            continue
        ending = "; the server refused it" if request.is_refused else f"; it failed: {error}" if error else ""
        out.print(f"== trajectory {one.number} ({one.title}), step {request.step}{ending}")
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
    if out.as_json:
        out.json(bodies)
    elif not sent:
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
    from orienteer.lab.replay import replay
    from orienteer.tools.toolbox import lowered_limits

    graph, told = open_graph(directory, out), set[str]()
    made, equal = Counter[str](), Counter[str]()
    replayed: list[dict[str, object]] = []
    for one in _traced(file):
        for note in () if trust_limits else lowered_limits(one.trajectory).notes:
            if note not in told:
                out.note(f"{note} (--trust-limits uses the trace's)")
            told.add(note)
        for call in replay(one.trajectory, graph, trusts_limits=trust_limits):
            made[one.method] += 1
            equal[one.method] += call.is_equal
            if out.as_json:
                about = {"trajectory": one.number, "equal": call.is_equal, **one.of}
                replayed.append(call.model_dump(mode="json") | about)
            else:
                _print_call(out, f"trajectory {one.number}{one.name and f' ({one.name})'}", call)
    if out.as_json:
        out.json({"calls": made.total(), "equal": equal.total(), "replayed": replayed})
    else:
        for method in filter(None, made):
            out.print(f"{method}: {equal[method]} of {made[method]}")
        out.print(f"{equal.total()} of {made.total()} observations are equal")
    return int(equal < made)


def diff(out: Output, first: File, second: File) -> int:
    """Compare two traces, trajectory by trajectory: where they differ, and what each selected."""
    from orienteer.lab.replay import diff

    ours, theirs = sides = dict[str, list[_Traced]](), dict[str, list[_Traced]]()
    for side, source in zip(sides, (first, second), strict=True):
        for one in _traced(source):
            side.setdefault(one.key, []).append(one)
    both = [key for key in ours if key in theirs]
    alike = [key for key in both if len(ours[key]) == len(theirs[key])] or both[:1]  # of which `diff` says so
    if not alike:
        raise BadInput(f"{first} and {second} have no question and method in common: name a result of each")
    if odd := [key for key in {**ours, **theirs} if key not in alike]:
        out.note(f"not compared, for one has none or other numbers of agents: {len(odd):,} results, {odd[0]} first")
    compared: list[tuple[_Traced, Difference]] = []
    for key in alike:
        trajectories = ([one.trajectory for one in side[key]] for side in sides)
        compared += zip(ours[key], diff(*trajectories), strict=True)
    if out.as_json:
        out.json([part.model_dump(mode="json") | {"equal": part.is_empty, **one.of} for one, part in compared])
    else:
        for number, (one, difference) in enumerate(compared, 1):
            _print_difference(out, f"{number}. {one.name and f'{one.name}: '}", difference)
    return int(bool(odd) or not all(difference.is_empty for _, difference in compared))


def lint(out: Output, file: File) -> None:
    """Print the causes of lost turns: failed calls, repeated calls, unused results, cut replies, empty answers."""
    from orienteer.lab.replay import lint, together

    # Of a run those of agents: methods without a model have nothing to lint.
    traced = (one for one in _traced(file) if not one.name or one.trajectory.model is not None)
    lints = [(one, lint(one.trajectory)) for one in traced]
    if not lints:
        raise BadInput(f"no agent has a trajectory in the run {file}: methods without a model have nothing to lint")
    total = together(part for _, part in lints)
    if out.as_json:
        found = [
            {"trajectory": one.number, **finding.model_dump(mode="json"), **one.of}
            for one, part in lints
            for finding in part.findings
        ]
        counts = {name: value for name, value in total._asdict().items() if name != "findings"}
        out.json({"trajectories": len(lints), **counts, "findings": found})
        return
    for one, part in lints:
        if part.findings:
            out.print(f"{one.number}. {one.trajectory.question.text}")
            out.print(f"   {one.title}: {_in_vain(part)}")
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


class _Traced(NamedTuple):
    """A trajectory of a file or a run."""

    number: int
    """From 1."""
    trajectory: Trajectory
    method: str = ""
    """As the run names it; this and the next are empty for a file."""
    name: str = ""
    """QUESTION#METHOD."""
    key: str = ""
    """The part of the name that was not asked for: by it two runs are compared."""

    @property
    def title(self) -> str:
        return self.name or self.trajectory.method

    @property
    def of(self) -> dict[str, str]:
        """Return the further fields of a run's trajectory in JSON."""
        return {"result": self.name} if self.name else {}


def _traced(source: str) -> Iterator[_Traced]:
    """Yield the trajectories of a file, a RUN, RUN#QUESTION or RUN#QUESTION#METHOD. Raises `BadInput`."""
    from orienteer.agents.traces import read
    from orienteer.lab.evaluation.running.runs import MANIFEST, TRAJECTORIES, read_run

    # Paths, ids and labels may hold the sign themselves.
    splits = [(source, ""), *((source[:at], source[at + 1 :]) for at, sign in enumerate(source) if sign == "#")]
    path, wanted = next(((Path(path), rest) for path, rest in splits if Path(path).exists()), (Path(source), ""))
    if path.name == TRAJECTORIES and (path.parent / MANIFEST).exists():
        path = path.parent
    if not path.is_dir():
        yield from starmap(_Traced, enumerate(read(Path(source)), 1))
        return
    run, numbers = read_run(path), count(1)
    for question, method, trajectories in run.trajectories():
        name = f"{question}#{method}"
        if wanted in ("", question, name):
            yield from (_Traced(next(numbers), one, method, name, name.removeprefix(wanted)) for one in trajectories)
    if next(numbers) > 1:
        return
    names = {line.id for line in run.lines} | {f"{line.id}#{line.method}" for line in run.lines}
    if not wanted or wanted in names:
        who = "this result records none: name another of the run" if wanted else "its methods record none"
        raise BadInput(f"{source} has no trajectory: {who}")
    near = nearest(wanted, names) or sorted({line.id for line in run.lines})[:5]
    what = f"name one that it has, such as {', '.join(near)}" if near else "it has no result yet"
    raise BadInput(f"{path} has no {wanted!r}: {what}")


def _print_values(out: Output, *labelled: tuple[str, str | None]) -> None:
    for label, value in labelled:
        if value:
            out.print(f"   {label}: {value}")


def _in_vain(part: Lint) -> str:
    """Return the turns and tokens that were in vain."""
    turns = f"{part.turns_in_vain:,} of {counted(part.turns, 'turn')} in vain"
    return f"{turns}, {part.tokens_in_vain:,} of {counted(part.tokens, 'token')}" if part.tokens else turns


def _print_call(out: Output, place: str, replayed: CallReplay) -> None:
    if replayed.is_equal:
        out.note(f"equal: {place}, step {replayed.step}, {replayed.call.name}")
        return
    out.print(f"differs: {place}, step {replayed.step}, {replayed.call.name} {replayed.call.arguments}")
    for sign, observation in (("-", replayed.recorded), ("+", replayed.now)):
        for line in observation.text.splitlines():
            out.print(f"    {sign} {line}")


def _print_difference(out: Output, place: str, difference: Difference) -> None:
    if difference.is_empty:
        out.print(f"{place}equal")
        return
    out.print(f"{place}{' / '.join(dict.fromkeys(difference.questions))}")
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
