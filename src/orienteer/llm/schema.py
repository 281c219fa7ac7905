"""Check a value against the part of JSON schema that tools use, in words a model can act on.

Understood: type, enum, const, properties, required, additionalProperties, items, minItems, maxItems, maxLength,
minimum, maximum, anyOf, oneOf. Any other keyword that would restrict a value is refused, because a rule that is
silently ignored is worse than none. One thing is stricter than the standard: 5.0 is not an integer. `meant` reads what
models write all the same: 5.0 and "5" for an integer, one text for a list of texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from orienteer.errors import BadOption, nearest
from orienteer.records import JsonValue, ToolCall, ToolSpec

JsonSchema: TypeAlias = Mapping[str, Any]  # Any: a JSON schema nests without end

_ANNOTATIONS = frozenset({"$schema", "title", "description", "default", "examples", "format", "deprecated"})
_DEEPEST = 64
"""Levels of lists and objects; our tools take at most three."""
_TOO_DEEP = f"it nests too deeply: at most {_DEEPEST} levels are read"
_MOST_FAULTS = 12
"""That are named; a value may be wrong in a million places."""
_SHOWN = 80
"""Characters of a value that a message repeats."""
_MOST_NOTES = 3
_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?")
_SEVERAL = re.compile(r"[,;\n\[{]")
"""Signs of a text with several items, or of a broken list."""


def object_of(properties: Mapping[str, JsonSchema], *, optional: Sequence[str] = ()) -> dict[str, Any]:
    """Return the schema of an object with these properties and no others."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}


def decode(text: str) -> JsonValue:
    """Parse JSON that a model wrote. Raises `ValueError`, and nothing else, whatever the text is."""
    try:
        value: JsonValue = json.loads(text, parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    except UnicodeEncodeError as error:
        raise ValueError("it holds half of a surrogate pair, which is not a character") from error
    # Level by level: whoever reads the value later does so by recursion.
    level: list[JsonValue] = [value]
    for _ in range(_DEEPEST):
        nested = [outer for outer in level if isinstance(outer, list | dict)]
        if not nested:
            return value
        level = [inner for outer in nested for inner in (outer.values() if isinstance(outer, dict) else outer)]
    raise ValueError(_TOO_DEEP)


def faults(value: JsonValue, schema: JsonSchema, *, path: str = "") -> tuple[str, ...]:
    """Return the first faults of a value, a sentence each; empty if it fits the schema."""
    sentences: list[str] = []
    for keyword, rule in schema.items():
        if len(sentences) == _MOST_FAULTS:
            break
        if keyword in _ANNOTATIONS:
            continue
        if keyword not in _CHECKS:
            raise BadOption(f"the JSON schema keyword {keyword!r} is not understood; there are {', '.join(_CHECKS)}")
        sentences.extend(islice(_CHECKS[keyword](value, rule, schema, path), _MOST_FAULTS - len(sentences)))
        if keyword == "type" and sentences:
            break  # later keywords would report the same fault in other words
    return tuple(sentences)


class Meant(NamedTuple):
    """A value as its schema means it."""

    value: Any  # Any: JSON
    notes: tuple[str, ...] = ()
    """What was read differently from how it is written."""

    @property
    def note(self) -> str:
        """The notes as a line for the model; empty if there are none."""
        more = f"; and {len(self.notes) - _MOST_NOTES} more" if len(self.notes) > _MOST_NOTES else ""
        return f"note: {'; '.join(self.notes[:_MOST_NOTES])}{more}" if self.notes else ""


def meant(value: JsonValue, schema: JsonSchema, *, path: str = "") -> Meant:
    """Return a value as its schema means it, if there is one way to read it; else unchanged.

    `{"k": "2", "types": "film", "where": null}` is `{"k": 2, "types": ["film"]}` where k is an integer, types a list of
    texts and where may be left out. Not read: "two", "film, person", 2.5 for an integer, 1 for true, 7 for a text.
    """
    if not faults(value, schema):
        return Meant(value)
    if isinstance(value, dict):
        return _object_meant(value, schema, path)
    if isinstance(value, list):
        items = [meant(item, schema.get("items", {}), path=f"{path}[{place}]") for place, item in enumerate(value)]
        return Meant([item.value for item in items], tuple(note for item in items for note in item.notes))
    forms = [schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())]
    readings = {_shown(reading): reading for form in forms for reading in _readings(value, form)}
    if len(readings) != 1:
        return Meant(value)
    ((shown, reading),) = readings.items()
    return Meant(reading, (f"{_at(path)}, {_shown(value)}, was read as {shown}",))


def _object_meant(value: Mapping[str, JsonValue], schema: JsonSchema, path: str) -> Meant:
    properties, required = schema.get("properties", {}), schema.get("required", ())
    parts: dict[str, JsonValue] = {}
    notes: list[str] = []
    not_given: list[str] = []
    for name, part in value.items():
        form = properties.get(name, {})
        if part is None and name in properties and name not in required and faults(part, form):
            not_given.append(_below(path, name))
            continue
        parts[name], more = meant(part, form, path=_below(path, name))
        notes += more
    if not_given:
        notes.append(f"null was read as not given: {', '.join(not_given)}")
    return Meant(parts, tuple(notes))


def _readings(value: JsonValue, form: JsonSchema) -> Iterator[JsonValue]:
    """Yield a text or a number, read as each type of a form."""
    types = form.get("type", ())
    for kind in (types,) if isinstance(types, str) else types:
        if isinstance(value, float) and kind == "integer" and value.is_integer():
            yield int(value)
        if not isinstance(value, str):
            continue
        if kind in ("integer", "number") and _NUMBER.fullmatch(value.strip()):
            number = float(value)
            if number.is_integer():
                yield int(number)
            elif kind == "number":
                yield number
        elif kind == "boolean" and value.strip().lower() in ("true", "false"):
            yield value.strip().lower() == "true"
        elif kind == "array" and form.get("items", {}).get("type") == "string":
            yield from _lists(value)


def _lists(text: str) -> Iterator[JsonValue]:
    """Yield the list that a text means: a list in JSON, or the text alone."""
    items: JsonValue = [text] if text.strip() and not _SEVERAL.search(text) else None
    with suppress(ValueError):
        items = decode(text) if items is None else items
    if isinstance(items, list) and all(isinstance(item, str) for item in items):
        yield items


def arguments_of(call: ToolCall, tools: Sequence[ToolSpec]) -> Meant:
    """Return the arguments of a call, an object. Raises `ValueError`, worded for the model, if they are wrong."""
    specs = {tool.name: tool for tool in tools}
    if call.name not in specs:
        near = nearest(call.name, specs, most=1)
        hint = f"Did you mean {near[0]}? " if near else ""
        raise ValueError(f"There is no tool {call.name!r}. {hint}The tools are {', '.join(specs) or 'none'}.")
    try:
        arguments = decode(call.arguments or "{}")
    except ValueError as error:
        raise ValueError(f"The arguments of {call.name} are not JSON: {error}.") from error
    if not isinstance(arguments, dict):
        raise ValueError(f"The arguments of {call.name} must be a JSON object, not {call.arguments[:80]}.")
    return arguments_meant(call.name, arguments, specs[call.name].parameters)


def arguments_meant(tool: str, arguments: Mapping[str, JsonValue], parameters: JsonSchema) -> Meant:
    """Return the arguments of a tool as its parameters mean them. Raises `ValueError`, worded for the model."""
    schema = {"type": "object", **parameters}
    read = meant(dict(arguments), schema)
    if wrong := faults(read.value, schema):
        raise ValueError(f"The arguments of {tool} are wrong: {'; '.join(wrong)}.")
    return read


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _shown(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _at(path: str) -> str:
    return path or "the value"


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


_KINDS: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


def _type(value: JsonValue, rule: str | list[str], _schema: JsonSchema, path: str) -> Iterator[str]:
    allowed = [rule] if isinstance(rule, str) else rule
    kind = _KINDS[type(value)]
    if kind not in allowed and not (kind == "integer" and "number" in allowed):
        yield f"{_at(path)} must be of type {' or '.join(allowed)}, is {_shown(value)}"


def _enum(value: JsonValue, rule: list[JsonValue], _schema: JsonSchema, path: str) -> Iterator[str]:
    if not any(_same(value, allowed) for allowed in rule):
        yield f"{_at(path)} must be one of {', '.join(map(_shown, rule))}, is {_shown(value)}"


def _const(value: JsonValue, rule: JsonValue, _schema: JsonSchema, path: str) -> Iterator[str]:
    if not _same(value, rule):
        yield f"{_at(path)} must be {_shown(rule)}, is {_shown(value)}"


def _same(left: JsonValue, right: JsonValue) -> bool:
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)  # in Python True == 1


def _properties(value: JsonValue, rule: Mapping[str, JsonSchema], _schema: JsonSchema, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, schema in rule.items():
            if name in value:
                yield from faults(value[name], schema, path=_below(path, name))


def _required(value: JsonValue, rule: list[str], _schema: JsonSchema, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name in rule:
            if name not in value:
                yield f"{_below(path, name)} is missing"


def _additional(value: JsonValue, rule: bool | JsonSchema, schema: JsonSchema, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        return
    properties = schema.get("properties", {})
    for name in value:
        if name in properties or rule is True:
            continue
        if rule is False:
            near = nearest(name, properties, most=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(properties) or 'none'}"
            yield f"{_below(path, name)} is not known; {hint}"
        else:
            yield from faults(value[name], rule, path=_below(path, name))


def _items(value: JsonValue, rule: JsonSchema, _schema: JsonSchema, path: str) -> Iterator[str]:
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from faults(item, rule, path=f"{path}[{place}]")


def _max_length(value: JsonValue, rule: int, _schema: JsonSchema, path: str) -> Iterator[str]:
    if isinstance(value, str) and len(value) > rule:
        yield f"{_at(path)} must have at most {rule} characters, has {len(value)}"


def _min_items(value: JsonValue, rule: int, _schema: JsonSchema, path: str) -> Iterator[str]:
    if isinstance(value, list) and len(value) < rule:
        yield f"{_at(path)} must hold at least {rule} items, holds {len(value)}"


def _max_items(value: JsonValue, rule: int, _schema: JsonSchema, path: str) -> Iterator[str]:
    if isinstance(value, list) and len(value) > rule:
        yield f"{_at(path)} must hold at most {rule} items, holds {len(value)}"


def _minimum(value: JsonValue, rule: float, _schema: JsonSchema, path: str) -> Iterator[str]:
    if isinstance(value, int | float) and not isinstance(value, bool) and value < rule:
        yield f"{_at(path)} must be at least {rule:g}, is {_shown(value)}"


def _maximum(value: JsonValue, rule: float, _schema: JsonSchema, path: str) -> Iterator[str]:
    if isinstance(value, int | float) and not isinstance(value, bool) and value > rule:
        yield f"{_at(path)} must be at most {rule:g}, is {_shown(value)}"


def _any_of(value: JsonValue, rule: list[JsonSchema], _schema: JsonSchema, path: str) -> Iterator[str]:
    complaints = [faults(value, form, path=path) for form in rule]
    if all(complaints):
        yield "either " + ", or ".join("; ".join(complaint) for complaint in complaints)


def _one_of(value: JsonValue, rule: list[JsonSchema], schema: JsonSchema, path: str) -> Iterator[str]:
    fitting = sum(not faults(value, form, path=path) for form in rule)
    if fitting == 0:
        yield from _any_of(value, rule, schema, path)
    elif fitting > 1:
        yield f"{_at(path)} must fit exactly one of {len(rule)} forms, fits {fitting}"


# Any: each rule has the shape that its keyword gives it
_CHECKS: dict[str, Callable[[JsonValue, Any, JsonSchema, str], Iterator[str]]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional,
    "items": _items,
    "maxLength": _max_length,
    "minItems": _min_items,
    "maxItems": _max_items,
    "minimum": _minimum,
    "maximum": _maximum,
    "anyOf": _any_of,
    "oneOf": _one_of,
}
