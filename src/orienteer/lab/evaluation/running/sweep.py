"""Methods with options set, several of one method side by side: one of them, and grids of option values.

A variant is written as on a command line, `ark agents=1 max_steps=5`; that text is its label in every table.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from orienteer.errors import BadInput, BadOption, nearest
from orienteer.graph.properties import COMPARE, Condition, number_of, parse
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.examples import Example, QuestionSet
from orienteer.methods.table import AUTO, MethodCard, method_of, options_by_method
from orienteer.options import options_of, pairs_of, unknown_option
from orienteer.records import JsonValue
from orienteer.settings import Settings

# The setting of the questions in a method's text, next to the method's own options.
K = "k"


@dataclass(frozen=True, slots=True)
class Variant:
    """A method with options set, under the label that its results carry."""

    label: str
    method: MethodCard
    options: Mapping[str, Any]
    """The options that were set, checked; the others keep their defaults."""
    k: int | None = None
    """Hits that its questions are asked for, if not as many as the run's: `naive k=10`."""
    seeds: Mapping[str, Any] = field(default_factory=dict)
    """The settings of the method that it starts from, if it is written over one."""

    @property
    def agents(self) -> int:
        """The number of model calls that one question may have under way, by its options."""
        over = self.method.over
        return int(self.all_options().get("agents" if over is None else f"{over.name}.agents", 1))

    def all_options(self) -> dict[str, Any]:
        """Return every option with its value, defaults included; those of an inner method are `ark.agents`."""
        values = {} if self.k is None else {K: self.k}
        values |= _with_defaults(self.method, self.options)
        if (over := self.method.over) is not None:
            values |= {f"{over.name}.{name}": value for name, value in _with_defaults(over, self.seeds).items()}
        return values


def variants(texts: Sequence[str], *, options: Mapping[str, str] | None = None, settings: Settings) -> list[Variant]:
    """Read methods with their options: those of the settings, then `options` for each method that knows them, then own.

    Raises `BadOption` for an unknown method or option, an option that no method knows, two equal labels, and for
    `auto`, since figures must name their method.
    """
    if not texts:
        raise BadOption("no method is named: add --method, such as --method bm25 --method anchor")
    options = options or {}
    read = [_variant(text, options, settings) for text in texts]
    labels = [variant.label for variant in read]
    for label in labels:
        if labels.count(label) > 1:
            raise BadOption(f"the method {label!r} is named twice: once is enough, or set an option of it apart")
    names = {K, *(name for variant in read for name in _with_defaults(variant.method, {}))}
    for name in options:
        if name not in names:
            raise unknown_option(repr(name), name, sorted(names))
    return read


def grid(texts: Sequence[str], values: Mapping[str, Sequence[str]]) -> list[str]:
    """Return each method with each combination of values, as texts for `variants`. Raises `BadOption` for none."""
    if not values:
        raise BadOption("there is nothing to sweep: give values with --set, such as --set agents=1,3,5")
    for name, those in values.items():
        if not those:
            raise BadOption(f"{name} has no values to sweep: write {name}=1,2,3")
    return [
        " ".join([text, *(f"{name}={shlex.quote(value)}" for name, value in chosen.items())])
        for text in texts
        for chosen in combinations(values)
    ]


def combinations(values: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Return each combination of the options' values; last option fastest."""
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


def axes(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Read `NAME=V1,V2` texts into the values of each option. Raises `BadOption`."""
    return {
        name: tuple(dict.fromkeys(part.strip() for part in written.split(",") if part.strip()))
        for name, written in pairs_of(texts, form="NAME=VALUE,VALUE").items()
    }


def options_in(label: str) -> dict[str, str]:
    """Return the options that a label names: `ark agents=1` gives {"agents": "1"}."""
    return pairs_of(_words(label)[1:])


def _variant(text: str, options: Mapping[str, str], settings: Settings) -> Variant:
    name, *own = _words(text)
    if name == AUTO:
        raise BadOption(f"{AUTO} may choose another method tomorrow: name the method that you mean")
    method = method_of(name)
    pairs = pairs_of(own)
    k_text = pairs.pop(K, options.get(K))
    if k_text is not None and not (k_text.isascii() and k_text.isdigit() and int(k_text)):
        raise BadOption(f"k is {k_text!r}: it must be a whole number, 1 or more")
    k, label = None if k_text is None else int(k_text), " ".join(text.split())
    config, over = method.config_class(), method.over
    seeds = {} if over is None else options_by_method(settings).get(over.name, {})
    if config is None:
        if pairs:
            raise BadOption(f"the method {name!r} has no options, got {', '.join(pairs)}")
        return Variant(label, method, {}, k)
    general = {name: value for name, value in options.items() if name in config.model_fields}
    outer = {} if over is None else options_by_method(settings).get(name.partition(":")[0], {})
    set_ = {**outer, **options_by_method(settings).get(name, {}), **general, **pairs}
    own_options = config.read(set_, where=f"{name}.").chosen
    return Variant(label, method, own_options, k, method.options_below(own_options, seeds))


def _with_defaults(method: MethodCard, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return every option of a method with its given value, else its default."""
    defaults = {option.name: option.default for option in options_of(method.config_class())}
    return {**defaults, **{name: value for name, value in values.items() if name in defaults}}


def _words(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BadOption(f"{text!r} cannot be read: {error}. Write a method and its options: 'ark agents=1'") from error
    if not words:
        raise BadOption("a method's name is empty: see orienteer methods")
    return words


# Which questions of a set are asked: those that meet conditions on their fields, of these a sample; notes on them.


_OF_GOLD = "answer_type"  # a field of every question whose gold has one


def select(
    examples: Sequence[Example], *, where: Sequence[str] = (), limit: int | None = None, random_seed: int = 0
) -> tuple[Example, ...]:
    """Return the questions that meet every condition, at most `limit` of them, in their own order.

    A limit draws a sample, since benchmarks come in blocks of one kind; one seed draws one sample, and a larger limit
    includes the sample of a smaller one. Raises `BadOption` for a field that no question has, or a limit below 1, and
    `BadInput` if nothing is left, or if an id is missing or repeated.
    """
    seen: set[str] = set()
    for example in examples:
        if not example.question.id:
            raise BadInput(f"a question has no id: {example.question.text[:80]!r}")
        if example.question.id in seen:
            raise BadInput(f"two questions have the id {example.question.id!r}: their results would be mixed up")
        seen.add(example.question.id)
    conditions = parse(where)
    fields = dict.fromkeys(field for example in examples for field in example.fields)
    for name in (condition.property for condition in conditions):
        if name not in fields and name != _OF_GOLD:
            near = nearest(name, fields)
            hint = f" Near: {', '.join(near)}." if near else ""
            raise BadOption(f"No question has a field {name!r}.{hint} There are: {', '.join(fields) or 'none'}.")
    matching = [example for example in examples if all(meets(example, condition) for condition in conditions)]
    if not matching:
        pairs = ((name, value) for one in examples for name, value in one.fields.items())
        values = sorted({f"{name}={value}" for name, value in pairs if name in {one.property for one in conditions}})
        there = f"; there are {', '.join(values[:5])}" if values else ""
        raise BadInput(f"no question meets {' and '.join(where)}{there}" if where else "there is no question to ask")
    if limit is None:
        return tuple(matching)
    if limit < 1:
        raise BadOption(f"the limit is {limit}: it must be 1 or more")
    drawn = np.random.default_rng(random_seed).permutation(len(matching))[:limit]
    return tuple(matching[at] for at in sorted(drawn.tolist()))


def notes_on(questions: QuestionSet, asked: Sequence[Example], graph: Graph) -> tuple[str, ...]:
    """Return notes on the questions that are asked of a graph: on those alone, not on the whole set."""
    notes = list(questions.notes_on(asked))
    lost = [
        (example.question.id, node)
        for example in asked
        for node in [node for node, relevance in example.gold.nodes.items() if relevance > 0 and node not in graph][:1]
    ]
    if lost:
        question, node = lost[0]
        notes.append(
            f"{len(lost)} of {len(asked)} questions have gold nodes that the graph does not hold, {node!r} of "
            f"{question!r} first: no method can find them, and they count"
        )
    return tuple(notes)


def meets(example: Example, condition: Condition) -> bool:
    """Return whether a field meets a condition, case aside; of a list any item. A missing field does not."""
    field = example.fields.get(condition.property, example.gold.answer_type if condition.property == _OF_GOLD else None)
    if field is None:
        return False
    comparison = "=" if condition.comparison == "!=" else condition.comparison

    def fits(value: JsonValue) -> bool:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if comparison == "=" and text.casefold() == condition.value.casefold():
            return True
        ours, theirs = number_of(value), number_of(condition.value)
        return not (math.isnan(ours) or math.isnan(theirs)) and COMPARE[comparison](ours, theirs)

    return any(map(fits, field if isinstance(field, list) else [field])) == (condition.comparison != "!=")
