"""A graph's schema for a prompt: its types, relations and properties with what each is good for, and no node's data."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from orienteer.graph.store import Graph
from orienteer.records import JsonValue, Triple
from orienteer.tools.comparing import is_date, is_price, quantity
from orienteer.tools.render import one_line

_LOOKED_AT = 60  # nodes of a type whose values are read
_SAMPLES = 2
_LONGEST_SAMPLE = 40
_LONG_TEXT = 60  # characters of a value from which on it is read for words
_COUNTED = ("count", "number", "citations", "views", "votes", "sales", "population", "size", "total", "degree")
_RATED = ("rating", "score", "overall", "stars", "rank", "impact")
_CODE = re.compile(r"(^|[_ .-])(id|ids|identifiers?|uri|url|hash|uuid|isbn|asin)$|inchi|smiles")


class PropertyUse(NamedTuple):
    """A property of a node type: what its values are, and what it is good for."""

    node_type: str
    name: str
    format: str
    """number, integer, year, date, price, yes or no, text, long text, or a list of one of these."""
    hint: str
    samples: tuple[JsonValue, ...]

    @property
    def is_code(self) -> bool:
        """Whether it tells nodes apart and nothing about them."""
        return _is_code(self.name)


def property_uses(graph: Graph) -> tuple[PropertyUse, ...]:
    """Return the properties of each node type, as some of its nodes have them."""
    uses = []
    for name in graph.properties.names:
        rows = graph.properties.rows(name)
        types = graph.node_types[rows]
        for number in np.unique(types).tolist():
            here = rows[types == number]
            picked = here[np.unique(np.linspace(0, len(here) - 1, _LOOKED_AT).astype(np.intp))]
            values = [value for value in graph.properties.values(name, picked) if value is not None]
            shape = format_of(values, name)
            uses.append(PropertyUse(graph.types.nodes[number], name, shape, _hint(name, shape), _samples(values)))
    order = {name: place for place, name in enumerate(types_by_size(graph))}
    return tuple(sorted(uses, key=lambda use: (order[use.node_type], use.name)))


def types_by_size(graph: Graph) -> list[str]:
    """Return the node types, those with most nodes first."""
    return sorted(graph.schema.node_types, key=lambda name: (-graph.schema.node_types[name], name))


def triples_by_size(graph: Graph) -> list[Triple]:
    """Return which types edges join, those with most edges first."""
    return sorted(graph.schema.edges, key=lambda triple: (-graph.schema.edges[triple], triple))


def format_of(values: Sequence[JsonValue], name: str = "") -> str:
    """Return what values are, of a mixture what most are."""
    if values and sum(isinstance(value, list) for value in values) * 2 > len(values):
        items = [item for value in values if isinstance(value, list) for item in value]
        return f"list of {format_of(items)}" if items else "list"
    kinds = [_format(value) for value in values]
    most = max(dict.fromkeys(kinds), key=kinds.count, default="text")
    if most == "integer" and ("year" in name.casefold() or _are_years(values)):
        return "year"
    return most


def _format(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "yes or no"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if is_date(value):
        return "date"
    if is_price(value):
        return "price"
    if not isinstance(value, str):
        return "map"
    if not math.isnan(quantity(value)):
        return "number as text"
    return "long text" if len(value) > _LONG_TEXT else "text"


def _are_years(values: Iterable[JsonValue]) -> bool:
    return all(isinstance(value, int) and 1000 <= value <= 2100 for value in values)


def _is_code(name: str) -> bool:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).casefold()  # paperId
    return bool(_CODE.search(words))


def _hint(name: str, shape: str) -> str:
    """Return what a question says where this property is meant, by its name and format alone."""
    if _is_code(name):
        return "a code: only where the question gives it"
    words = name.casefold()
    if any(part in words for part in _COUNTED) and ("number" in shape or shape == "integer"):
        return 'order by it for "most ..." and "fewest ..."'
    if any(part in words for part in _RATED) and ("number" in shape or shape == "integer"):
        return 'filter it for "rated above ...", order by it for "best"'
    return {
        "year": '= for "in 1999", < and > for "before" and "after", order for "oldest" and "newest"',
        "date": "write dates 2016-02-11; = with a month or < and > with a year are understood",
        "price": "a text with a currency: compare with a plain number such as 20",
        "integer": '< and > for limits, order for "largest" and "smallest"',
        "number": '< and > for limits, order for "largest" and "smallest"',
        "number as text": "compare with a plain number",
        "yes or no": "= true or = false",
        "long text": "contains, with one or two telling words",
        "text": "= for the whole value, contains for a part",
    }.get(shape.removeprefix("list of "), "contains")


def _samples(values: Sequence[JsonValue]) -> tuple[JsonValue, ...]:
    items = [item for value in values for item in (value if isinstance(value, list) else [value])]
    short = [one_line(item, _LONGEST_SAMPLE) if isinstance(item, str) else item for item in items]
    plain = [item for item in short if isinstance(item, str | int | float)]
    return tuple(dict.fromkeys(plain))[:_SAMPLES]
