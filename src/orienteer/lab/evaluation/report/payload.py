"""Every question with the results of each method, packed so that a page with thousands of questions stays small.

JSON is deflated and written in base64, so that no text of a graph or a model can end the HTML element around it.
The page unpacks the questions when it is opened, and a trajectory when its question is opened.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

from orienteer.display import clean, cut
from orienteer.lab.evaluation.examples import Example
from orienteer.lab.evaluation.report.material import Material, MethodColumn
from orienteer.lab.evaluation.running.runs import Line
from orienteer.lab.evaluation.scores.measures import ranking_of
from orienteer.lab.evaluation.scores.scorer import gives_answers, scorer
from orienteer.lab.evaluation.scores.table import values_of
from orienteer.records import JsonValue, Reading, Step, Trajectory

# The number of hits of each method that are shown under a question.
HITS = 5
# The bytes of the page that all trajectories may take together: their texts are cut until they fit.
TRAJECTORIES = 15_000_000
_CUTS = (4_000, 1_200, 400, 120, 40)  # characters of one text, tried in turn
_LEFT_OUT = 64  # bytes that say that there was no room
_ANSWER, _FIELD = 2_000, 400  # characters that are shown of an answer and of a field
_GOLD = 30  # gold nodes that are named under a question


def packed(texts: Iterable[str]) -> Iterator[str]:
    """Yield texts deflated and in base64 as they come; only the deflater's window is held in memory."""
    deflater, rest = zlib.compressobj(9), b""
    for text in texts:
        deflated = rest + deflater.compress(text.encode(errors="replace"))
        whole = len(deflated) // 3 * 3  # three bytes are four letters of base64
        rest = deflated[whole:]
        yield base64.b64encode(deflated[:whole]).decode()
    yield base64.b64encode(rest + deflater.flush()).decode()


def question_texts(material: Material) -> Iterator[str]:
    """Yield all questions as one JSON object, one question at a time."""
    gives = [gives_answers(tuple(column.lines.values())) for column in material.columns]
    head = {
        "methods": [column.name for column in material.columns],
        "fields": {name: list(values) for name, values in material.fields.items()},
        "answers": any(gives),
    }
    yield _json(head)[:-1] + ', "questions": ['
    exact = [
        scorer("EM", column.run).of if has_answers else None
        for column, has_answers in zip(material.columns, gives, strict=True)
    ]
    for place, ((sha256, question), example) in enumerate(material.questions.items()):
        results: list[JsonValue] = []
        for column, em in zip(material.columns, exact, strict=True):
            line = column.lines.get(question) if column.run.manifest.questions_sha256 == sha256 else None
            results.append(None if line is None else _result(column, line, None if em is None else em(line)))
        yield (", " if place else "") + _json({**_question(material, example), "results": results})
    yield "]}"


class TrajectoryPacker:
    """Packs the trajectories of one result after another, each within its share of the room that is left."""

    def __init__(self, material: Material, file: TextIO, *, room: int = TRAJECTORIES) -> None:
        self._file, self._room = file, room
        self._places = {question: place for place, question in enumerate(material.questions)}
        lines = (line for column in material.columns for line in column.lines.values())
        self._expected = sum(map(has_steps, lines))
        self.shortened = 0
        """The number of results whose texts were cut shorter than usual, for lack of room."""

    def add(self, column: MethodColumn, question: str, trajectories: Sequence[Trajectory]) -> None:
        """Pack the trajectories of one result, or only their number if even the shortest cut does not fit."""
        place = self._places.get((column.run.manifest.questions_sha256, question))
        if place is None:
            return
        gold = column.lines[question].gold.nodes
        share = (self._room - _LEFT_OUT * self._expected) // max(1, self._expected)
        self._expected -= 1
        for length in _CUTS:
            element = _element([_trajectory(trajectory, gold, length) for trajectory in trajectories])
            if len(element) <= share:
                break
        else:
            element = _element({"left_out": sum(len(trajectory.steps) for trajectory in trajectories)})
            length = 0
        self.shortened += length != _CUTS[0]
        self._room -= len(element)
        self._file.write(f"t{place}-{column.number} {element}\n")

    def elements(self) -> Iterator[list[str]]:
        """Yield the id and the content of each element of the page."""
        self._file.seek(0)
        return map(str.split, self._file)


def has_steps(line: Line) -> bool:
    """Return whether a method took steps over a question: turns of a model, or tool calls without one."""
    return line.work.iterations > 0 or bool(line.work.tools)


def _question(material: Material, example: Example) -> dict[str, JsonValue]:
    gold = sorted(example.gold.nodes.items(), key=lambda item: (-item[1], item[0]))
    line = Line(id=example.question.id, method="", question="", gold=example.gold, fields=example.fields)
    nodes = ((node_id, material.gold.get(node_id)) for node_id, _ in gold[:_GOLD])
    return {
        "id": example.question.id,
        "text": example.question.text,
        "kinds": {name: list(values_of(line, name)) for name in material.fields},
        "facts": [[name, cut(_field(value), _FIELD)] for name, value in example.fields.items()],
        "gold": [[node.name if node else "", node_id, node.type if node else ""] for node_id, node in nodes],
        "golds": len(gold),
        "answers": list(example.gold.answers[:_GOLD]),
    }


def _result(column: MethodColumn, line: Line, exact: float | None) -> dict[str, JsonValue]:
    ranking = ranking_of(line.hits, column.run.manifest.candidates)
    once = list(dict.fromkeys(ranking))
    gold = {node for node, relevance in line.gold.nodes.items() if relevance > 0}
    # The places of the first and of the last gold node: 0 if the ranking has none, or lacks one of them; None for a
    # question without gold nodes, or with fewer than two.
    places = [] if line.error is not None else [place for place, node in enumerate(once, 1) if node in gold]
    by_id = {hit.id: hit for hit in reversed(line.hits)}
    is_read = line.reading is not None and line.reading.complete
    result: dict[str, JsonValue] = {
        "hits": [
            [
                hit.name,
                hit.id,
                hit.type,
                int(line.gold.nodes.get(hit.id, 0) > 0),
                cut(hit.why, _FIELD),
                int(is_read and not hit.complete),
            ]
            for hit in map(by_id.__getitem__, once[:HITS])
        ],
        "reading": _reading(line.reading),
        "meeting": line.reading.total if line.reading is not None else None,
        "refusal": None if line.refusal is None else cut(line.refusal.text, _FIELD),
        "count": len(ranking),
        "outside": len(line.hits) - len(ranking),
        "rank": next(iter(places), 0) if gold else None,
        "last": (places[-1] if len(places) == len(gold) else 0) if len(gold) > 1 else None,
        "answer": None if line.answer is None else cut(line.answer, _ANSWER),
        "exact": exact,
        "error": None if line.error is None else cut(line.error, _ANSWER),
        "stopped": None if line.stopped_by == "finish" else line.stopped_by,
        "ms": round(line.seconds * 1000, 2),
        "calls": line.usage.calls,
        "notes": [cut(note, _FIELD) for note in line.notes],
        "turns": line.work.iterations,
    }
    return {name: value for name, value in result.items() if value not in (None, [])}


def _reading(reading: Reading | None) -> str | None:
    return None if reading is None or reading.text is None else cut(reading.text, _FIELD)


def _trajectory(trajectory: Trajectory, gold: dict[str, float], length: int) -> dict[str, JsonValue]:
    def marked(node_ids: Sequence[str]) -> list[JsonValue]:
        """Return ids, each with 1 if it is gold, else 0."""
        return [[node_id, int(gold.get(node_id, 0) > 0)] for node_id in node_ids]

    return {
        "method": trajectory.method,
        "steps": [_step(step, gold, length) for step in trajectory.steps],
        "reading": _reading(trajectory.reading) or "",
        "selected": marked(trajectory.selected),
        "nearby": marked(trajectory.nearby),
        "answer": cut(trajectory.answer or "", length),
        "stopped": trajectory.stopped_by,
        "error": cut(trajectory.error or "", length),
    }


def _step(step: Step, gold: dict[str, float], length: int) -> dict[str, JsonValue]:
    replies = {reply.call_id: reply for reply in step.observations}
    calls: list[JsonValue] = []
    for call in step.reply.message.tool_calls:
        reply = replies.get(call.id)
        calls.append(
            {
                "name": call.name,
                "arguments": cut(call.arguments, length),
                "text": cut(reply.text, length) if reply else "",
                "nodes": len(reply.nodes) if reply else 0,
                "gold": sum(gold.get(node_id, 0) > 0 for node_id in reply.nodes) if reply else 0,
                "error": (reply.error if reply else None) or "",
            }
        )
    text = cut(step.reply.message.content or "", length)
    return {"text": text, "notice": cut(step.notice or "", length), "calls": calls}


def _field(value: JsonValue) -> str:
    if isinstance(value, list):
        return ", ".join(map(_field, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _element(value: JsonValue) -> str:
    return base64.b64encode(zlib.compress(_json(value).encode(errors="replace"), 6)).decode()


def _json(value: JsonValue) -> str:
    return json.dumps(_clean(value), ensure_ascii=False, separators=(",", ":"))


def _clean(value: Any) -> Any:  # Any: JSON
    """Return JSON without characters that would steer a terminal or the direction of reading."""
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): _clean(item) for key, item in value.items()}
    return clean(value) if isinstance(value, str) else value
