"""Which questions of a set are asked: those that meet conditions on their fields, of these a sample; notes on them."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from orienteer.errors import BadInput, BadOption, nearest
from orienteer.graph.properties import Condition, number_of, parse
from orienteer.graph.store import Graph
from orienteer.ingest.extraction.gold import PROVENANCE as GOLD
from orienteer.lab.evaluation.examples import Example, QuestionSet
from orienteer.records import JsonValue

_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}
_OF_GOLD = "answer_type"  # known of every question whose gold says it


def select(
    examples: Sequence[Example], *, where: Sequence[str] = (), limit: int | None = None, random_seed: int = 0
) -> tuple[Example, ...]:
    """Return the questions that meet every condition, at most `limit` of them, in their own order.

    A limit draws a sample, for benchmarks lie in blocks of one kind; one seed draws one sample, and a larger limit
    keeps what a smaller one drew. Raises `BadOption` for a field that no question has, or a limit below 1, and
    `BadInput` where nothing is left, or where an id is missing or stands twice.
    """
    _check_ids(examples)
    conditions = parse(where)
    for condition in conditions:
        _require_field(examples, condition.property)
    matching = [example for example in examples if all(meets(example, condition) for condition in conditions)]
    if not matching:
        raise BadInput(f"no question meets {' and '.join(where)}" if where else "there is no question to ask")
    if limit is None:
        return tuple(matching)
    if limit < 1:
        raise BadOption(f"the limit is {limit}: it must be 1 or more")
    drawn = np.random.default_rng(random_seed).permutation(len(matching))[:limit]
    return tuple(matching[at] for at in sorted(drawn.tolist()))


def notes_on(questions: QuestionSet, asked: Sequence[Example], graph: Graph) -> tuple[str, ...]:
    """Return what has to be known of the questions that are asked of a graph: of those alone, not of the whole set."""
    lost = {
        example.question.id: missing
        for example in asked
        if (missing := [node for node, relevance in example.gold.nodes.items() if relevance > 0 and node not in graph])
    }
    notes = (*_leaks(questions, graph), *questions.notes_on(asked))
    if not lost:
        return notes
    question, nodes = next(iter(lost.items()))
    note = (
        f"{len(lost)} of {len(asked)} questions have gold nodes that the graph does not hold, {nodes[0]!r} of "
        f"{question!r} first: no method can find them, and they count"
    )
    return (*notes, note)


def _leaks(questions: QuestionSet, graph: Graph) -> tuple[str, ...]:
    """Say so where the graph was made with gold of the very data set that it is asked about."""
    gold = graph.arrays.manifest.provenance.get(GOLD)
    if not isinstance(gold, dict) or gold.get("dataset") != questions.name:
        return ()
    return (
        f"the graph holds {gold.get('triples')} gold triples of {questions.name} (built with --set gold=true): its "
        "figures on these questions show how triples are used, not how well they are extracted",
    )


def meets(example: Example, condition: Condition) -> bool:
    """Tell whether a field is as asked, case aside; of a list any item. A question without the field never is."""
    field = example.fields.get(condition.property, example.gold.answer_type if condition.property == _OF_GOLD else None)
    if field is None:
        return False
    values = field if isinstance(field, list) else [field]
    if condition.comparison == "!=":
        return not any(_is(value, "=", condition.value) for value in values)
    return any(_is(value, condition.comparison, condition.value) for value in values)


def _is(value: JsonValue, comparison: str, wanted: str) -> bool:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if comparison == "=" and text.casefold() == wanted.casefold():
        return True
    ours, theirs = number_of(value), number_of(wanted)
    return not (math.isnan(ours) or math.isnan(theirs)) and _COMPARE[comparison](ours, theirs)


def _require_field(examples: Sequence[Example], name: str) -> None:
    fields = dict.fromkeys(field for example in examples for field in example.fields)
    if name not in fields and name != _OF_GOLD:
        near = nearest(name, fields)
        hint = f" Near: {', '.join(near)}." if near else ""
        raise BadOption(f"No question has a field {name!r}.{hint} There are: {', '.join(fields) or 'none'}.")


def _check_ids(examples: Sequence[Example]) -> None:
    seen: set[str] = set()
    for example in examples:
        if not example.question.id:
            raise BadInput(f"a question has no id: {example.question.text[:80]!r}")
        if example.question.id in seen:
            raise BadInput(f"two questions have the id {example.question.id!r}: results could not be told apart")
        seen.add(example.question.id)
