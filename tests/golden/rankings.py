"""Golden rankings: what the methods that need no model find today, written, read and compared.

A file holds a world, and a line is `[case, question, hits, rest]`: how it was asked, the number of the question, the
ids of the hits with their scores, best first, and where there is any of it the answer, how it ended unless it finished,
the notes, or the error that came in place of hits. Of real data neither questions nor notes are written down: a note is
a part of its hash.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from golden.worlds import WORLDS, Case
from orienteer import Error, Graph, Result, Retriever
from orienteer.settings import Settings

FOLDER = Path(__file__).parent / "rankings"
REWRITE = "PYTHONPATH=tests python -m golden.write"
TOLERANCE = 1e-5
"""Relative, of scores. Stored are six significant digits."""
LEAST = 1e-9
"""Scores nearer to 0 than this are 0."""
_SHOWN = 10


class Line(NamedTuple):
    """What came of one question, asked in one way."""

    case: str
    question: int | None
    """Its number; None where the method could not be made or asked."""
    hits: dict[str, float]
    rest: dict[str, Any]

    @property
    def ids(self) -> list[str]:
        return list(self.hits)


def rank(name: str, folder: Path, data: Path | None) -> list[Line]:
    """Return the lines of a world, which is made in this empty folder."""
    world = WORLDS[name]
    questions = list(world.questions(data))
    graph = world.make(folder, data)
    settings = Settings(cache=folder / "cache")
    return [line for case in world.cases for line in _lines(graph, case, questions, settings, is_data=world.is_data)]


def _lines(graph: Graph, case: Case, questions: Iterable[str], settings: Settings, *, is_data: bool) -> Iterator[Line]:
    try:
        retriever = Retriever(graph, case.method, settings=settings)
        for number, question in enumerate(questions):
            result = retriever.ask(question, case.k, node_types=case.node_types, where=case.where)
            hits = {hit.id: float(f"{hit.score:.6g}") for hit in result.hits}
            assert len(hits) == len(result.hits), f"{case} ranks a node twice for question {number}"
            yield Line(str(case), number, hits, _rest(result, is_data=is_data))
    except Error as error:
        message = str(error).replace(str(graph.path), "GRAPH")
        yield Line(str(case), None, {}, {"error": f"{type(error).__name__}: {message}"})


def _rest(result: Result, *, is_data: bool) -> dict[str, Any]:
    notes = [_digest(note) if is_data else note for note in result.notes]
    stopped_by = None if result.stopped_by == "finish" else result.stopped_by
    rest = {"answer": result.answer, "stopped_by": stopped_by, "notes": notes}
    return {name: value for name, value in rest.items() if value}


def _digest(note: str) -> str:
    return hashlib.sha256(note.encode()).hexdigest()[:12]


def file_of(name: str) -> Path:
    return FOLDER / f"{name}.jsonl"


def write(name: str, lines: Iterable[Line]) -> None:
    FOLDER.mkdir(exist_ok=True)
    texts = (json.dumps(line if line.rest else line[:3], ensure_ascii=False, separators=(",", ":")) for line in lines)
    file_of(name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")


def read(name: str) -> list[Line]:
    lines = (json.loads(text) for text in file_of(name).read_text("utf-8").splitlines())
    return [Line(*(line if len(line) > 3 else [*line, {}])) for line in lines]


def differences(name: str, actual: Iterable[Line]) -> list[str]:
    """Return what differs from the file of a world: a text for each line of it, none where all is as it was."""
    expected_by_key = {line[:2]: line for line in read(name)}
    actual_by_key = {line[:2]: line for line in actual}
    texts = []
    for key in dict.fromkeys((*expected_by_key, *actual_by_key)):
        expected, line = expected_by_key.get(key), actual_by_key.get(key)
        if expected is None or line is None or not _is_same(expected, line):
            case, question = key
            texts.append(
                f"world {name}, {case}, question {question}\n"
                f"  expected {_shown(expected, line)}\n  actual   {_shown(line, expected)}"
            )
    return texts


def message(texts: list[str]) -> str:
    """Return what a failing test says: the first of the differences, and how the files are written anew."""
    more = (f"... and {len(texts) - _SHOWN} more",) if len(texts) > _SHOWN else ()
    head = f"{len(texts)} rankings are not as they were. Where that is meant: {REWRITE}"
    return "\n".join((head, *texts[:_SHOWN], *more))


def _is_same(expected: Line, actual: Line) -> bool:
    scores = zip(expected.hits.values(), actual.hits.values(), strict=False)
    return (
        expected.ids == actual.ids
        and expected.rest == actual.rest
        and all(math.isclose(score, now, rel_tol=TOLERANCE, abs_tol=LEAST) for score, now in scores)
    )


def _shown(line: Line | None, other: Line | None) -> str:
    """Return the ids of a line, with their scores where the ids alone do not differ, and the rest of it."""
    if line is None:
        return "nothing"
    shown = line.hits if other is not None and line.ids == other.ids else line.ids
    return f"{shown} {line.rest or ''}".rstrip()


def names(*, is_data: bool) -> list[str]:
    """Return the worlds that are made of real data, or the others."""
    return [name for name, world in WORLDS.items() if world.is_data == is_data]
