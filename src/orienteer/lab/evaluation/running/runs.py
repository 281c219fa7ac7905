"""A run on disk: questions, methods, conditions, and all results.

manifest.json        the conditions of the figures
questions.jsonl      the examples, gold included
results.jsonl        one line a question and method, in order of completion
trajectories.jsonl   one line a question and method: the trajectories of that result
replies/             replies of the model to the questions in flight, so that none is paid twice after a kill
.lock                locked by the writing process
"""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import ValidationError

from orienteer.errors import BadInput, NotAGraph
from orienteer.files import append_line, check_ordinary, locked, mend, read_lines
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.examples import Example, Gold
from orienteer.llm.conversation import prompts_of
from orienteer.methods.table import METHODS
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
from orienteer.retrieval.bases.table import BASES
from orienteer.text.sentences import tokens
from orienteer.version import __version__

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
    """The work of a method for one question; SAGE's table 4 compares methods by such counts."""

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
    """Count the work of trajectories, refused calls included; a method without one makes one search."""
    if not trajectories:
        return Work(retrievals=1)
    turns = [step for trajectory in trajectories for step in trajectory.steps if step.reply.usage.calls > 0]
    calls = Counter(
        call.name for trajectory in trajectories for step in trajectory.steps for call in step.reply.message.tool_calls
    )
    # What a model was shown, without system prompts; if none was asked, what was observed.
    with_model = [trajectory for trajectory in trajectories if trajectory.model is not None]
    texts = [message.content or "" for one in with_model for message in one.opening if message.role == "user"]
    texts += [seen.text for one in with_model or trajectories for step in one.steps for seen in step.observations]
    return Work(
        iterations=len(turns),
        retrievals=sum(count for name, count in calls.items() if name not in NO_RETRIEVAL),
        set_joins=sum(count for name, count in calls.items() if name in SET_JOINS)
        + sum(trajectory.set_joins for trajectory in trajectories),
        tools=dict(sorted(calls.items())),
        tool_calls=sum(len(step.reply.message.tool_calls) + step.unread for step in turns),
        failed_calls=sum(map(failed_calls, turns)),
        context_tokens=sum(map(tokens, texts)),
    )


def failed_calls(step: Step) -> int:
    """Count the calls of a turn that could not be read or came back as an error; those beyond a limit never ran."""
    called = {call.id for call in step.reply.message.tool_calls}
    errors = [observed.error for observed in step.observations if observed.call_id in called]
    return step.unread + sum(error not in (None, NOT_RUN) for error in errors)


class Line(Record):
    """One question under one method."""

    id: str
    method: str
    """The method's name, with what was set of it: `ark` or `ark agents=1`."""
    question: str
    hits: tuple[Ranked, ...] = ()
    answer: str | None = None
    long_answer: str | None = None
    """The grounds of the answer, from methods that give them."""
    reading: Reading | None = None
    """How the question was read; None for methods without a reading."""
    refusal: Refusal | None = None
    """Why it has no exact answer; None if it has one, and for methods without a reading."""
    cited: tuple[str, ...] = ()
    """Ids that the answer cites in square brackets and that are not hits: of entities, in a ranking of passages."""
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
        """Return the ids that the response may cite in square brackets."""
        return *self.ranking, *self.cited

    @property
    def response(self) -> str | None:
        """Return the whole response: the long answer if there is one, and the short one at its end."""
        return self.answer if not (self.answer and self.long_answer) else f"{self.long_answer}\nAnswer: {self.answer}"


class QuestionTrajectories(Record):
    """The trajectories of one question under one method."""

    id: str
    method: str
    trajectories: tuple[Trajectory, ...] = ()


class RunManifest(Record):
    """The conditions of a run. Two runs with equal manifests are the same experiment."""

    version: Literal[1] = 1
    graph: str
    """Name of the graph's folder; its place does not matter."""
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
    """The dialect of the model's server or card; None leaves that to each method."""
    k: int = 20
    random_seed: int = 0
    answers: bool = False
    budget: dict[str, float | None] = {}
    orienteer: str
    python: str
    commit: str | None = None
    created: str
    notes: tuple[str, ...] = ()
    fused_from: str | None = None
    """The run, by name and time, whose agents' lists are fused here."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run on disk, read in full except for its trajectories."""

    path: Path
    manifest: RunManifest
    examples: tuple[Example, ...]
    lines: tuple[Line, ...]

    def trajectories(self) -> Iterator[tuple[str, str, tuple[Trajectory, ...]]]:
        """Return question id, method and trajectories of each result, in the order of completion."""
        # A kill may have left trajectories whose result was not written: that question is asked again.
        finished = {(line.id, line.method) for line in self.lines}
        file = self.path / TRAJECTORIES
        for line in read_lines(file):
            try:
                record = QuestionTrajectories.model_validate_json(line)
            except BadInput as error:
                raise BadInput(f"{file}: {error}") from error
            except ValidationError as error:
                raise BadInput(
                    f"{file} holds a line that is not a trajectory: name another folder and run it again"
                ) from error
            if (record.id, record.method) in finished:
                yield record.id, record.method, record.trajectories


def read_run(path: Path) -> StoredRun:
    """Read a run. Raises `BadInput` if the folder has none, or one of another version."""
    manifest = read_manifest(path)
    try:
        examples = tuple(map(Example.model_validate_json, read_lines(path / QUESTIONS)))
        lines = tuple(map(Line.model_validate_json, read_lines(path / RESULTS)))
    except ValidationError as error:
        raise BadInput(f"{path} holds a line that is not a result: {error.errors()[0]['msg']}; run it again") from error
    return StoredRun(path, manifest, examples, lines)


def read_manifest(path: Path) -> RunManifest:
    """Read the conditions of a run. Raises `BadInput` if the folder has none."""
    file = path / MANIFEST
    check_ordinary(file)
    try:
        return RunManifest.model_validate_json(file.read_bytes())
    except OSError as error:
        raise BadInput(
            f"{path} is not a run ({file.name}: {error.strerror}): name a folder that eval run -o wrote"
        ) from error
    except ValidationError as error:
        detail = error.errors()[0]
        place = ".".join(map(str, detail["loc"]))
        raise BadInput(f"{file} is not a manifest of this version: {place} {detail['msg']}; run it again") from error


def lock(path: Path) -> AbstractContextManager[None]:
    """Lock a run for writing. Raises `GraphBusy`, and `BadInput` if a file of it is a link."""
    # Anyone who sent the run could have a link's target overwritten.
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


# The writing side of a run: its results so far and the new ones, by one process and one thread of it.


# A question's id and a method's label: what has one result.
Pair: TypeAlias = tuple[str, str]


class Journal:
    """The results of a run as they come.

    Trajectories are written before their result, so that every result is complete. Opening the journal removes the
    remains of a kill: an incomplete last line, and trajectories without their result.
    """

    def __init__(self, path: Path, *, forgets_failed: bool = False) -> None:
        """Read what is done; with `forgets_failed`, questions that failed are not. Raises `BadInput`."""
        self._results, self._trajectories = path / RESULTS, path / TRAJECTORIES
        self.forgets_failed = forgets_failed
        self.done: set[Pair] = set()
        self.failed: set[Pair] = set()
        """Of those that are done."""
        self.usage = Usage()
        """Their usage together."""
        mend(self._results)
        mend(self._trajectories)
        if forgets_failed:
            _keep(self._results, lambda record: record.get("error") is None)
        for line in read_lines(self._results):
            record = _parsed(self._results, line)
            pair = record["id"], record["method"]
            self.done.add(pair)
            try:
                self.usage += Usage.model_validate(record.get("usage"))
            except ValidationError as error:
                raise _no_result(self._results, "its usage is invalid") from error
            if record.get("error") is not None:
                self.failed.add(pair)
        if sum(1 for _ in read_lines(self._trajectories)) > len(self.done):
            _keep(self._trajectories, lambda record: (record["id"], record["method"]) in self.done)

    def add(self, line: Line, trajectories: Sequence[Trajectory]) -> None:
        """Write a result down. It is on disk, as far as this process is concerned, when this returns."""
        record = QuestionTrajectories(id=line.id, method=line.method, trajectories=tuple(trajectories))
        append_line(self._trajectories, record.model_dump_json())
        append_line(self._results, line.model_dump_json())


def _keep(file: Path, is_kept: Callable[[dict[str, Any]], bool]) -> None:  # Any: JSON
    """Drop the lines that do not pass; the file is replaced as a whole."""
    if not file.exists():
        return
    new = file.with_name(f".{file.name}")
    with new.open("wb") as target:
        target.writelines(line for line in read_lines(file) if is_kept(_parsed(file, line)))
    new.replace(file)


def _parsed(file: Path, data: bytes) -> dict[str, Any]:  # Any: JSON
    try:
        record = json.loads(data)
    except ValueError as error:
        raise _no_result(file, error) from error
    if not isinstance(record, dict) or not {"id", "method"} <= record.keys():
        raise _no_result(file, "it has no id and method")
    return record


def _no_result(file: Path, why: object) -> BadInput:
    return BadInput(f"{file} holds a line that is not a result ({why}): name another folder and run it again")


# The conditions of a run: hashes of graph and prompts, versions; whether those of two runs agree.


_FIXED = (
    *("graph_sha256", "questions_sha256", "dataset", "split", "where", "k", "random_seed", "answers", "orienteer"),
    "fused_from",
)
_OF_THE_MODEL = ("model", "budget", "dialect")  # say nothing of a run without one
_SHOWN = 100  # characters of a value in a message
_HASHED = 12  # digits of a hash that are shown


def graph_hash(graph: Graph) -> str:
    """Return a sha256 over the content of a graph, not its place and time: equal graphs have equal ones."""
    content = asdict(graph.arrays.manifest)
    whole = () if content["partial"] else ("partial",)  # its hash is that from before there were partial graphs
    for name in ("generation", "created", "made_by", "provenance", *whole):
        del content[name]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def graph_nearby(runs: Sequence[StoredRun]) -> Graph | None:
    """Return the graph of the runs if a folder with its name, here or next to a run, has this very graph."""
    for run in runs:
        for folder in (Path(), run.path.parent, run.path.parent.parent):
            try:
                graph = Graph.open(folder / Path(run.manifest.graph).name)
            except (NotAGraph, OSError):
                continue
            if all(graph_hash(graph) == other.manifest.graph_sha256 for other in runs):
                return graph
    return None


def prompt_hashes(methods: Iterable[str], *, answers: bool) -> dict[str, str]:
    """Return the sha256 of each prompt of these methods, and of the prompt for answers if they are asked for.

    The prompts of a method are the files with its name: `ark.md`, `ark-faithful.md`; a method over another has those
    of both. A file without any method's name is shared by all that need a model, or by all retrievers.
    """
    names = {part for method in methods for part in method.split(":")} | ({"answer"} if answers else set())
    needs_model = any(METHODS[name].needs_model for name in names if name in METHODS)
    shared = {"orienteer.methods": needs_model, "orienteer.retrieval": bool(names & {*BASES, "graphsearch"})}
    shared["orienteer.reading"] = False
    prompts = [(prompt, is_shared) for package, is_shared in shared.items() for prompt in prompts_of(package)]
    return {
        f"{prompt.name}.md": prompt.sha256
        for prompt, is_shared in prompts
        if _bears(prompt.name, names) or (is_shared and not _bears(prompt.name, {*METHODS, "answer"}))
    }


def _bears(prompt_name: str, names: Iterable[str]) -> bool:
    return any(f"{prompt_name}-".startswith(f"{name}-") for name in names)


def now() -> str:
    """Return the current time as text."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def provenance() -> dict[str, Any]:  # Any: of any field of a manifest
    """Return where a run comes from, as fields of its manifest: Orienteer, Python, the commit, the time."""
    return {
        "orienteer": __version__,
        "python": platform.python_version(),
        "commit": _commit(),
        "created": now(),
    }


def differences(old: RunManifest, new: RunManifest) -> list[str]:
    """Return a sentence for each difference that keeps the results of two manifests out of one run."""
    # More methods, more questions of one draw, another address or commit do not change any result.
    names = list(_FIXED)
    if old.model is not None and new.model is not None:
        names += _OF_THE_MODEL
    sentences = [
        _difference(name, getattr(old, name), getattr(new, name))
        for name in names
        if getattr(old, name) != getattr(new, name)
    ]
    if old.limit is not None and new.limit is not None and new.limit < old.limit:
        sentences.append(_difference("limit", old.limit, new.limit))
    if new.count < old.count and not sentences:
        sentences.append(_difference("the number of questions", old.count, new.count))
    for label in [label for label in old.methods if label in new.methods]:
        was, is_ = old.methods[label], new.methods[label]
        differing = [name for name in sorted(was.keys() | is_.keys()) if was.get(name) != is_.get(name)]
        own = [_difference(name, was.get(name), is_.get(name)) for name in differing]
        # Of k, the sentence on the whole run is enough.
        sentences += [f"{label!r}: {sentence}" for sentence in own if sentence not in sentences]
    for name in sorted(old.prompts.keys() & new.prompts.keys()):
        hashes = old.prompts[name][:_HASHED], new.prompts[name][:_HASHED]
        if hashes[0] != hashes[1]:
            sentences.append(_difference(f"the prompt {name}", *hashes))
    return sentences


def joined(old: RunManifest, new: RunManifest) -> RunManifest:
    """Return the manifest of a continued run: the old one with the new conditions, and notes on them."""
    notes = [*old.notes]
    for name in ("commit", "python", "base_url"):
        was, is_ = getattr(old, name), getattr(new, name)
        if is_ is not None and was is not None and is_ != was:
            notes.append(f"gone on with {name} {is_} on {new.created}")
    with_model = old if old.model is not None else new
    return old.model_copy(
        update={
            "methods": {**old.methods, **new.methods},
            "prompts": {**old.prompts, **new.prompts},
            "limit": new.limit,
            "count": new.count,
            **{name: getattr(with_model, name) for name in ("model", "budget", "base_url", "dialect")},
            "notes": tuple(dict.fromkeys([*notes, *new.notes])),
        }
    )


def _difference(name: str, old: object, new: object) -> str:
    if name.endswith("_sha256"):
        return f"the {name.removesuffix('_sha256')} changed ({str(old)[:_HASHED]} then, {str(new)[:_HASHED]} now)"
    texts = [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False, default=str) for one in (old, new)]
    was, is_ = (text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…" for text in texts)
    return f"{name} was {was} and is {is_}"


def _commit() -> str | None:
    """Return the commit of the running checkout, marked if files differ from it; None outside of one."""
    root = Path(__file__).resolve().parents[5]
    if not (root / ".git").exists():
        return None
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() or None
