"""A collection: a teacher's trajectories over the questions of some graphs, in a folder.

FOLDER/
  collection.json        what it was made of, and how many trajectories each rule dropped
  card.md                the same for a person
  GRAPH/questions.jsonl  the questions that were asked
  GRAPH/generated.jsonl  those that were made, the avoided ones among them
  GRAPH/run-1/ ...       runs as `eval run` writes them, where the teacher needs a model
  GRAPH/trajectories.jsonl, dropped.jsonl   a trace each: `orienteer trace` reads them
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from orienteer.agents import replay
from orienteer.errors import BadInput
from orienteer.files import read_lines
from orienteer.records import Record, Trajectory, Usage

MANIFEST, CARD = "collection.json", "card.md"
QUESTIONS, TRAJECTORIES, DROPPED = "questions.jsonl", "trajectories.jsonl", "dropped.jsonl"
GENERATED = "generated.jsonl"


class GraphPart(Record):
    """What a collection holds of one graph."""

    name: str
    path: str = ""
    """Where the graph was when they were collected."""
    graph_sha256: str
    questions: int
    """Questions that were asked."""
    avoided: int = 0
    """Questions left out, since they share nodes or their text with those to be avoided."""
    trajectories: int = 0
    """Trajectories that stay."""
    failed: int = 0
    """Trajectories that ended with the model's failure, and are left out; the same command asks them again."""
    without: int = 0
    """Questions for which the teacher has no trajectory."""
    dropped: dict[str, int] = {}
    """By each rule, how many trajectories it would drop by itself."""
    dropped_total: int = 0


class Collection(Record):
    """The manifest of a collection."""

    version: Literal[1] = 1
    teacher: str
    agent: str
    """The method whose requests a student learns to answer."""
    model: str | None = None
    samples: int
    """Trajectories for each question."""
    mistakes: float = 0.0
    random_seed: int
    rules: tuple[str, ...] = ()
    questions_sha256: str | None = None
    """Of the file of questions; None where they were generated."""
    patterns: tuple[str, ...] = ()
    """Of generated questions; all where none is named."""
    question_count: int | None = None
    """Questions generated for each graph, at the most; None where a file of questions was given."""
    avoid_sha256: str | None = None
    parts: tuple[GraphPart, ...] = ()
    usage: Usage = Usage()
    orienteer: str
    is_complete: bool = False


def read_collection(path: Path) -> Collection:
    """Read the manifest of a collection. Raises `BadInput` where the folder holds none, or an unfinished one."""
    file = path / MANIFEST
    try:
        collection = Collection.model_validate_json(file.read_bytes())
    except OSError as error:
        raise BadInput(
            f"{path} is no collection ({MANIFEST}: {error.strerror}): name a folder that train collect -o wrote"
        ) from error
    except ValidationError as error:
        raise BadInput(f"{file} is no manifest of this version: collect anew, in another folder") from error
    if not collection.is_complete:
        raise BadInput(f"{path} is not collected to the end: repeat the command that wrote it, it goes on from there")
    return collection


def trajectories(path: Path, *, graphs: tuple[str, ...] = ()) -> Iterator[tuple[str, Trajectory]]:
    """Yield the graph's name and each trajectory that stays, of all graphs or of these. Raises `BadInput`."""
    parts = {part.name for part in read_collection(path).parts}
    for name in graphs:
        if name not in parts:
            raise BadInput(f"{path} holds no graph {name!r}: there are {', '.join(sorted(parts))}")
    for part in sorted(parts):
        if graphs and part not in graphs:
            continue
        file = path / part / TRAJECTORIES
        if not file.exists():
            raise BadInput(f"{file} is gone: collect anew, in another folder")
        if any(read_lines(file)):
            yield from ((part, trajectory) for trajectory in replay.read(file))


def card_of(collection: Collection) -> str:
    """Return what a collection holds, for a person."""
    total = sum(part.trajectories for part in collection.parts)
    lines = [
        "# A collection of trajectories",
        "",
        f"{total:,} trajectories of {collection.teacher!r}"
        + (f" with {collection.model}" if collection.model else ", without a model")
        + f", as episodes of {collection.agent!r}; {collection.samples} for each question, random seed "
        f"{collection.random_seed}; orienteer {collection.orienteer}.",
        "",
        "| graph | questions | left out for the test set | without a trajectory | dropped | stay |",
        "|---|--:|--:|--:|--:|--:|",
        *(
            f"| {part.name} | {part.questions:,} | {part.avoided:,} | {part.without:,} | {part.dropped_total:,} | "
            f"{part.trajectories:,} |"
            for part in collection.parts
        ),
        "",
    ]
    if collection.rules:
        lines += ["| rule | drops by itself |", "|---|--:|"]
        lines += [
            f"| {rule} | {sum(part.dropped.get(rule, 0) for part in collection.parts):,} |" for rule in collection.rules
        ]
        lines.append("")
    usage = collection.usage
    if usage.calls:
        spent = f"{usage.calls:,} calls, {usage.prompt_tokens + usage.completion_tokens:,} tokens"
        lines += [f"Spent: {spent}{'' if usage.usd is None else f', {usage.usd:.2f} US dollars'}.", ""]
    return "\n".join(lines)
