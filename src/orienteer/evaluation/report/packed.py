"""Every question with what each method made of it, packed so that a page of thousands stays small.

What is packed is JSON, deflated and written in base64: no text of a graph or a model can end the element that it stands
in. The page unpacks the questions when it is opened, and a trajectory when its question is.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from orienteer.display import clean, cut
from orienteer.evaluation.examples import Example
from orienteer.evaluation.report.columns import Column
from orienteer.evaluation.report.material import Material
from orienteer.evaluation.running.runs import Line
from orienteer.evaluation.scores.measures import rank_measure, ranking_of
from orienteer.evaluation.scores.scorer import gives_answers, is_ranked, scorer
from orienteer.evaluation.scores.table import values_of
from orienteer.records import JsonValue, Ranked, Step, Trajectory

HITS = 5
"""First hits of each method that are shown under a question."""
TRAJECTORIES = 15_000_000
"""Bytes of the page that trajectories may take together: their texts are cut until they fit."""
_CUTS = (4_000, 1_200, 400, 120, 40)  # characters of one text, tried in turn
_LEFT_OUT = 64  # bytes that say that there was no room
_ANSWER, _FIELD = 2_000, 400  # characters that are shown of an answer and of a field
_GOLD = 30  # gold nodes that are named under a question
_RECIPROCAL = rank_measure("MRR")


class Packed:
    """Deflates text into an element of the page as it comes; nothing is held but the deflater's window."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._deflate, self._left = file, zlib.compressobj(9), b""

    def write(self, text: str) -> None:
        """Add a text."""
        self._put(self._deflate.compress(text.encode(errors="replace")))

    def close(self) -> None:
        """Write what is left."""
        self._put(self._deflate.flush(), is_last=True)

    def _put(self, data: bytes, *, is_last: bool = False) -> None:
        data = self._left + data
        whole = len(data) if is_last else len(data) // 3 * 3  # three bytes are four letters of base64
        self._file.write(base64.b64encode(data[:whole]).decode())
        self._left = data[whole:]


def write_questions(material: Material, packed: Packed) -> None:
    """Write all questions as one JSON object, one question at a time."""
    head = {
        "methods": [one.name for one in material.columns],
        "fields": {name: list(values) for name, values in material.fields.items()},
        "answers": any(gives_answers(tuple(one.lines.values())) for one in material.columns),
    }
    packed.write(_json(head)[:-1] + ', "questions": [')
    exact = [scorer("EM", one.run).of if gives_answers(tuple(one.lines.values())) else None for one in material.columns]
    for place, ((sha256, key), example) in enumerate(material.questions.items()):
        results: list[JsonValue] = []
        for one, em in zip(material.columns, exact, strict=True):
            line = one.lines.get(key) if one.run.manifest.questions_sha256 == sha256 else None
            results.append(None if line is None else _result(one, line, None if em is None else em(line)))
        packed.write((", " if place else "") + _json({**_question(material, example), "results": results}))
    packed.write("]}")
    packed.close()


class Trajectories:
    """Packs the trajectories of one result after another into a page, within a share of what is left of its room."""

    def __init__(self, material: Material, file: TextIO, *, room: int = TRAJECTORIES) -> None:
        self._file, self._room = file, room
        self._places = {key: place for place, key in enumerate(material.questions)}
        lines = (line for one in material.columns for line in one.lines.values())
        self._expected = sum(has_steps(line) for line in lines)
        self.shortened = 0
        """Results whose texts were cut to less than the longest allowed, for room."""

    def add(self, column: Column, question: str, trajectories: Sequence[Trajectory]) -> None:
        """Write the trajectories of one result; where even the shortest cut has no room, only their number."""
        place = self._places.get((column.run.manifest.questions_sha256, question))
        if place is None:
            return
        gold = column.lines[question].gold.nodes
        share = (self._room - _LEFT_OUT * self._expected) // max(1, self._expected)
        self._expected -= 1
        for length in _CUTS:
            data = _packed([_trajectory(one, gold, length) for one in trajectories])
            if len(data) <= share:
                break
        else:
            data = _packed({"left_out": sum(len(one.steps) for one in trajectories)})
            length = 0
        self.shortened += length != _CUTS[0]
        self._room -= len(data)
        self._file.write(f'<script type="text/plain" id="t{place}-{column.number}">{data}</script>\n')


def has_steps(line: Line) -> bool:
    """Tell whether a method took steps over a question: turns of a model, or calls of tools without one."""
    return line.work.iterations > 0 or bool(line.work.tools)


def _question(material: Material, example: Example) -> dict[str, JsonValue]:
    gold = sorted(example.gold.nodes.items(), key=lambda item: (-item[1], item[0]))
    line = Line(id=example.question.id, method="", question="", gold=example.gold, fields=example.fields)
    named = ((node, material.gold.get(node)) for node, _ in gold[:_GOLD])
    return {
        "id": example.question.id,
        "text": example.question.text,
        "kinds": {name: list(values_of(line, name)) for name in material.fields},
        "told": [[name, cut(_told(value), _FIELD)] for name, value in example.fields.items()],
        "gold": [[known.name if known else "", node, known.type if known else ""] for node, known in named],
        "golds": len(gold),
        "answers": list(example.gold.answers[:_GOLD]),
    }


def _result(column: Column, line: Line, exact: float | None) -> dict[str, JsonValue]:
    candidates = column.run.manifest.candidates
    ranking = ranking_of(line.hits, candidates)
    found: dict[str, JsonValue] = {
        "hits": [_hit(one, line) for one in _first(line.hits, ranking)],
        "count": len(ranking),
        "outside": len(line.hits) - len(ranking),
        "rank": _rank(ranking, line),
        "answer": None if line.answer is None else cut(line.answer, _ANSWER),
        "exact": exact,
        "error": None if line.error is None else cut(line.error, _ANSWER),
        "stopped": None if line.stopped_by == "finish" else line.stopped_by,
        "ms": round(line.seconds * 1000, 2),
        "calls": line.usage.calls,
        "notes": [cut(one, _FIELD) for one in line.notes],
        "turns": line.work.iterations,
    }
    return {name: value for name, value in found.items() if value not in (None, [])}


def _first(hits: Sequence[Ranked], ranking: Sequence[str]) -> Iterator[Ranked]:
    """Return the first hits of a ranking, each node once."""
    by_id = {one.id: one for one in reversed(hits)}
    return (by_id[node] for node in list(dict.fromkeys(ranking))[:HITS])


def _hit(one: Ranked, line: Line) -> list[JsonValue]:
    return [one.name, one.id, one.type, int(line.gold.nodes.get(one.id, 0) > 0), cut(one.why, _FIELD)]


def _rank(ranking: Sequence[str], line: Line) -> int | None:
    """Return the place of the first gold node, 0 where there is none, None where the question has no gold nodes."""
    if not is_ranked(line):
        return None
    reciprocal = 0.0 if line.error is not None else _RECIPROCAL(ranking, line.gold.nodes)
    return round(1 / reciprocal) if reciprocal else 0


def _trajectory(one: Trajectory, gold: dict[str, float], length: int) -> dict[str, JsonValue]:
    return {
        "method": one.method,
        "steps": [_step(step, gold, length) for step in one.steps],
        "selected": [[node, int(gold.get(node, 0) > 0)] for node in one.selected],
        "answer": cut(one.answer or "", length),
        "stopped": one.stopped_by,
        "error": cut(one.error or "", length),
    }


def _step(step: Step, gold: dict[str, float], length: int) -> dict[str, JsonValue]:
    replies = {one.call_id: one for one in step.observations}
    calls: list[JsonValue] = []
    for call in step.reply.message.tool_calls:
        reply = replies.get(call.id)
        calls.append(
            {
                "name": call.name,
                "arguments": cut(call.arguments, length),
                "text": cut(reply.text, length) if reply else "",
                "nodes": len(reply.nodes) if reply else 0,
                "gold": sum(gold.get(node, 0) > 0 for node in reply.nodes) if reply else 0,
                "error": (reply.error if reply else None) or "",
            }
        )
    said = cut(step.reply.message.content or "", length)
    return {"said": said, "notice": cut(step.notice or "", length), "calls": calls}


def _told(value: JsonValue) -> str:
    if isinstance(value, list):
        return ", ".join(map(_told, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _packed(value: JsonValue) -> str:
    return base64.b64encode(zlib.compress(_json(value).encode(errors="replace"), 6)).decode()


def _json(value: JsonValue) -> str:
    return json.dumps(_clean(value), ensure_ascii=False, separators=(",", ":"))


def _clean(value: Any) -> Any:  # Any: JSON
    """Return JSON whose texts steer nobody's terminal or direction of reading."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_clean(one) for one in value]
    if isinstance(value, dict):
        return {clean(key): _clean(one) for key, one in value.items()}
    return value
