"""A graph's schema for a prompt: its types, relations and properties with what each is good for, and no node's data."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from orienteer.graph.store import Graph
from orienteer.records import JsonValue
from orienteer.retrieval.graph_text import types_by_size
from orienteer.text.lines import one_line
from orienteer.tools.comparisons import is_date, is_price, quantity

_LOOKED_AT = 60  # nodes of a type whose values are read
_SAMPLES = 2
_LONGEST_SAMPLE = 40
_LONG_TEXT = 60  # characters of a value from which on it is read for words
_COUNTED = {
    "citation": "most cited",
    "views": "most viewed",
    "vote": "most votes",
    "sales": "best selling",
    "population": "most people",
    "size": "largest",
    **dict.fromkeys(("count", "number", "total", "degree"), "most ..."),
}
"""Parts of the names of properties that count something, and the words of a question that asks for the most of it."""
_RATED = ("rating", "score", "overall", "stars", "impact")
_CODE = re.compile(r"(^|[_ .-])(id|ids|identifiers?|codes?|uri|url|hash|uuid|isbn|asin)$|inchi|smiles")
_CODED = re.compile(r"\S*[\d()\[\]=/]\S*|\S{40,}")  # one word that no sentence has: N06AX11, CC(=O)O, a/b
_CODE_HINT = "a code: only where the question gives it"


class PropertyUse(NamedTuple):
    """A property of a node type: what its values are, and what it is good for."""

    node_type: str
    name: str
    format: str
    """number, integer, year, date, price, yes or no, text, long text, or a list of one of these."""
    hint: str
    samples: tuple[JsonValue, ...]
    is_code: bool
    """Whether it tells nodes apart without saying anything about them."""


def property_uses(graph: Graph) -> tuple[PropertyUse, ...]:
    """Return the properties of each node type, as seen in a sample of its nodes."""
    arrays, uses = graph.arrays, []
    for name in arrays.properties.names:
        for node_type, picked in arrays.rows_with(name, _LOOKED_AT).items():
            values = [value for value in arrays.properties.values(name, picked) if value is not None]
            shape, is_code = format_of(values, name), _is_code(name) or _are_codes(values)
            hint = _CODE_HINT if is_code else _hint(name, shape)
            uses.append(PropertyUse(node_type, name, shape, hint, _samples(values), is_code))
    order = {name: place for place, name in enumerate(types_by_size(graph))}
    return tuple(sorted(uses, key=lambda use: (order[use.node_type], use.name)))


def format_of(values: Sequence[JsonValue], name: str = "") -> str:
    """Return the format of values; of a mixture, that of most."""
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


def _are_codes(values: Sequence[JsonValue]) -> bool:
    """Tell whether most of these values are codes, formulas or addresses."""
    items = [item for value in values for item in (value if isinstance(value, list) else [value])]
    coded = [item for item in items if _format(item) in ("text", "long text") and _CODED.fullmatch(str(item))]
    return len(coded) * 2 > len(items)


def _hint(name: str, shape: str) -> str:
    """Return how a question speaks of this property, as far as its name and format tell."""
    words = name.casefold()
    is_number = "number" in shape or shape == "integer"
    if is_number and (most := next((phrase for part, phrase in _COUNTED.items() if part in words), None)):
        return f'order by it for "{most}" and for the opposite'
    if is_number and "rank" in words:
        return 'order by it, descending false, for "best"'
    if is_number and any(part in words for part in _RATED):
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
