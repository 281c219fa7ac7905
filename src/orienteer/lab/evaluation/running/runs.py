"""A run on disk: what was asked of which method, under what conditions, and everything that came back.

manifest.json        what the figures depend on
questions.jsonl      the examples, gold included
results.jsonl        one line a question and method, in order of completion
trajectories.jsonl   one line a question and method: the trajectories of that result
replies/             replies of the model to the questions in flight, so that none is paid twice after a kill
.lock                held by whoever writes
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from orienteer.errors import BadInput
from orienteer.files import check_ordinary, locked, read_lines
from orienteer.lab.evaluation.examples import Example, Gold
from orienteer.records import (
    NOT_RUN,
    Dialect,
    JsonValue,
    Ranked,
    Reading,
    Record,
    Refusal,
    Step,
    StoppedBy,
    Trajectory,
    Usage,
)
from orienteer.text.sentences import tokens

MANIFEST, QUESTIONS, RESULTS, TRAJECTORIES, REPLIES = (
    "manifest.json",
    "questions.jsonl",
    "results.jsonl",
    "trajectories.jsonl",
    "replies",
)
LOCK = ".lock"
ANSWER = "answer"  # the method that the trajectory of an answer from hits names
SET_JOINS = frozenset({"intersect"})
NO_RETRIEVAL = frozenset({"add_to_answer", "remove_from_answer", "finish", "schema"})


class Work(Record):
    """What a method did for one question; SAGE's table 4 compares methods by such counts."""

    iterations: int = 0
    """Turns of a model."""
    retrievals: int = 0
    """Calls of tools that read the graph."""
    set_joins: int = 0
    tools: dict[str, int] = {}
    """Calls of each tool, those that a program made by itself too."""
    tool_calls: int = 0
    """Calls of tools that a model wrote, those that could not be read too."""
    failed_calls: int = 0
    """Those of them that could not be read or came back as an error."""
    context_tokens: int = 0
    """Tokens of the prompts and observations that a model was shown, each once; our own count, not a model's."""


def work_of(trajectories: Sequence[Trajectory]) -> Work:
    """Count what trajectories did; calls that were refused count too, for they took a turn.

    A method that leaves no trajectory makes one search.
    """
    if not trajectories:
        return Work(retrievals=1)
    turns = [step for trajectory in trajectories for step in trajectory.steps if step.reply.usage.calls > 0]
    calls = Counter(
        call.name for trajectory in trajectories for step in trajectory.steps for call in step.reply.message.tool_calls
    )
    return Work(
        iterations=len(turns),
        retrievals=sum(count for name, count in calls.items() if name not in NO_RETRIEVAL),
        set_joins=sum(count for name, count in calls.items() if name in SET_JOINS)
        + sum(trajectory.set_joins for trajectory in trajectories),
        tools=dict(sorted(calls.items())),
        tool_calls=sum(len(step.reply.message.tool_calls) + step.unread for step in turns),
        failed_calls=sum(map(failed_calls, turns)),
        context_tokens=_context_tokens(trajectories),
    )


def failed_calls(step: Step) -> int:
    """Count the calls of a turn that could not be read or came back as an error; those beyond a limit never ran."""
    called = {call.id for call in step.reply.message.tool_calls}
    errors = [observed.error for observed in step.observations if observed.call_id in called]
    return step.unread + sum(error not in (None, NOT_RUN) for error in errors)


def _context_tokens(trajectories: Sequence[Trajectory]) -> int:
    """Count what a model was shown, system prompts left out; where none was asked, what was observed."""
    with_model = [trajectory for trajectory in trajectories if trajectory.model is not None]
    opening = [
        message.content or "" for trajectory in with_model for message in trajectory.opening if message.role == "user"
    ]
    observations = [
        observed.text
        for trajectory in with_model or trajectories
        for step in trajectory.steps
        for observed in step.observations
    ]
    return sum(map(tokens, [*opening, *observations]))


class Line(Record):
    """One question under one method."""

    id: str
    method: str
    """The method's name, with what was set of it: `ark` or `ark agents=1`."""
    question: str
    hits: tuple[Ranked, ...] = ()
    answer: str | None = None
    long_answer: str | None = None
    """What the answer rests on, from methods that say so."""
    reading: Reading | None = None
    """How the question was read; None for methods that read nothing exactly."""
    refusal: Refusal | None = None
    """Why it has no exact answer; None where it has one, and for methods that read nothing exactly."""
    cited: tuple[str, ...] = ()
    """Ids that the answer cites in square brackets and that are no hits: of entities, in a ranking of passages."""
    gold: Gold = Gold()
    fields: dict[str, JsonValue] = {}
    usage: Usage = Usage()
    seconds: float = 0.0
    work: Work = Work()
    stopped_by: StoppedBy = "finish"
    notes: tuple[str, ...] = ()
    error: str | None = None
    """Why the question failed; it counts as 0."""

    @property
    def ranking(self) -> tuple[str, ...]:
        """Return the ids of the hits, best first."""
        return tuple(hit.id for hit in self.hits)

    @property
    def citations(self) -> tuple[str, ...]:
        """Return the ids that may stand in square brackets in what was said."""
        return *self.ranking, *self.cited

    @property
    def response(self) -> str | None:
        """Return all that was said: the long answer where there is one, and the short one at its end."""
        return self.answer if not (self.answer and self.long_answer) else f"{self.long_answer}\nAnswer: {self.answer}"


class Told(Record):
    """The trajectories of one question under one method."""

    id: str
    method: str
    trajectories: tuple[Trajectory, ...] = ()


class RunManifest(Record):
    """What the figures of a run depend on. Two runs with equal manifests are the same experiment."""

    version: Literal[1] = 1
    graph: str
    """Name of the graph's folder; where it lies does not matter."""
    graph_sha256: str
    nodes: int
    edges: int
    dataset: str
    questions_sha256: str
    split: str | None = None
    where: tuple[str, ...] = ()
    limit: int | None = None
    count: int
    """Questions that were asked."""
    candidates: tuple[str, ...] | None = None
    methods: dict[str, dict[str, Any]] = {}  # Any: JSON
    """Every option of each method, defaults included."""
    prompts: dict[str, str] = {}
    """Hash of each method's prompts."""
    model: str | None = None
    served_model: str | None = None
    """The model as the server's replies name it."""
    base_url: str | None = None
    dialect: Dialect | None = None
    """How calls reach the model, where its server or its card says; None leaves that to each method."""
    k: int = 20
    random_seed: int = 0
    answers: bool = False
    budget: dict[str, float | None] = {}
    orienteer: str
    python: str
    commit: str | None = None
    created: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as it lies on disk, read whole but for its trajectories."""

    path: Path
    manifest: RunManifest
    examples: tuple[Example, ...]
    lines: tuple[Line, ...]

    def trajectories(self) -> Iterator[tuple[str, str, tuple[Trajectory, ...]]]:
        """Return question id, method and trajectories of each result, in the order of completion.

        A kill may have left trajectories whose result was not written: that question is asked again, they are not read.
        """
        finished = {(line.id, line.method) for line in self.lines}
        file = self.path / TRAJECTORIES
        for line in read_lines(file):
            try:
                record = Told.model_validate_json(line)
            except BadInput as error:
                raise BadInput(f"{file}: {error}") from error
            except ValidationError as error:
                raise BadInput(
                    f"{file} holds a line that is not a trajectory: name another folder and run it again"
                ) from error
            if (record.id, record.method) in finished:
                yield record.id, record.method, record.trajectories


def read_run(path: Path) -> StoredRun:
    """Read a run. Raises `BadInput` where the folder holds none, or one of another version."""
    manifest = read_manifest(path)
    try:
        examples = tuple(map(Example.model_validate_json, read_lines(path / QUESTIONS)))
        lines = tuple(map(Line.model_validate_json, read_lines(path / RESULTS)))
    except ValidationError as error:
        raise BadInput(f"{path} holds a line that is not a result: {error.errors()[0]['msg']}; run it again") from error
    return StoredRun(path, manifest, examples, lines)


def read_manifest(path: Path) -> RunManifest:
    """Read the conditions of a run. Raises `BadInput` where the folder holds none."""
    file = path / MANIFEST
    check_ordinary(file)
    try:
        return RunManifest.model_validate_json(file.read_bytes())
    except OSError as error:
        raise BadInput(
            f"{path} is no run ({file.name}: {error.strerror}): name a folder that eval run -o wrote"
        ) from error
    except ValidationError as error:
        detail = error.errors()[0]
        place = ".".join(map(str, detail["loc"]))
        raise BadInput(f"{file} is not a manifest of this version: {place} {detail['msg']}; run it again") from error


def held(path: Path) -> AbstractContextManager[None]:
    """Hold a run for writing until the process ends, however it ends.

    Raises `GraphBusy` where another holds it, `BadInput` where a file of it is a link: whoever sent the run would have
    what it leads to written over.
    """
    for folder in (path, path / REPLIES):
        for file in (*folder.glob("*.json"), *folder.glob("*.jsonl"), path / REPLIES):
            if file.is_symlink():
                raise BadInput(f"{file} is a link, through which nothing is written: put a copy of the file there")
            if not file.is_dir():
                check_ordinary(file)
    return locked(path / LOCK, busy=f"another process is writing the run {path}: wait for it, or name another folder")


def by_method(lines: Iterable[Line]) -> dict[str, list[Line]]:
    """Group lines by method, methods in the order of their first line."""
    grouped: dict[str, list[Line]] = {}
    for line in lines:
        grouped.setdefault(line.method, []).append(line)
    return grouped
