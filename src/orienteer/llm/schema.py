"""Check a value against the part of JSON schema that tools use, in words a model can act on.

Understood: type, enum, const, properties, required, additionalProperties, items, minItems, maxItems, maxLength,
minimum, maximum, anyOf, oneOf. Any other keyword that would restrict a value is refused, because a rule that is
silently ignored is worse than none. One thing is stricter than the standard: 5.0 is not an integer. Models write 5.0
and "5" for an integer all the same, and one text for a list of texts: `read_value` reads what they mean.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from orienteer.errors import BadOption, nearest
from orienteer.records import JsonValue, ToolCall, ToolSpec

JsonSchema: TypeAlias = Mapping[str, Any]  # Any: a JSON schema nests without end

GRAMMAR = "x-grammar"
"""The keyword of a grammar, in GBNF, that says more closely what a schema allows; only some engines hold a reply to it.
"""
_ANNOTATIONS = frozenset({"$schema", "title", "description", "default", "examples", "format", "deprecated", GRAMMAR})
_KEYWORDS = (
    *("type", "enum", "const", "properties", "required", "additionalProperties", "items"),
    *("maxLength", "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf"),
)
_KINDS: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}
# Levels of lists and objects; our tools take at most three.
_DEEPEST = 64
_TOO_DEEP = f"it nests too deeply: at most {_DEEPEST} levels are read"
# That are named; a value may be wrong in a million places.
_MOST_FAULTS = 12
# Characters of a value that a message repeats.
_SHOWN = 80
_MOST_NOTES = 3
_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?")
# Signs of a text with several items, or of a broken list.
_SEVERAL = re.compile(r"[,;\n\[{]")
_QUOTED = r'"(?:[^"\\]|\\.)*+(?:"|\Z)|\'((?:[^\'\\]|\\.)*+)(?:\'|\Z)'
_BRACKETS = re.compile(rf"{_QUOTED}|[\[\](){{}}]", re.DOTALL)
# What stands in Python's or JavaScript's objects and not in JSON, outside of quoted texts.
_FOREIGN = re.compile(rf"{_QUOTED}|\b(?:True|False|None)\b|\b([A-Za-z_]\w*+)\s*+[:=]|,(?=\s*[\]}}])", re.DOTALL)
_ESCAPED = re.compile(r"(?<!\\)\\(?=[^\w\s\"\\/]|_)")  # as Markdown has it
_QUOTES = re.compile(r'<escape>|<\|"\|>')  # Gemma's
_FENCES = re.compile(r"\A\s*+(?:```\w*\s*+)?|(?<!\s)\s*+(?:```\s*+)?\Z")
LONGEST_REPAIRED = 100_000
"""Characters of a text that is almost JSON."""
# The end of a turn as chat templates write it.
_TURN_ENDS = re.compile(r"(?<!\s)(?:\s*+(?:<[|｜][^<>|｜\s]{1,32}[|｜]>|</s>|<eos>|<end_of_turn>|\[/INST\]))++\s*+\Z")
_LONGEST_TURN_ENDS = 1_000  # characters


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
    # Level by level: later readers of the value recurse.
    level: list[JsonValue] = [value]
    for _ in range(_DEEPEST):
        nested = [outer for outer in level if isinstance(outer, list | dict)]
        if not nested:
            return value
        level = [inner for outer in nested for inner in (outer.values() if isinstance(outer, dict) else outer)]
    raise ValueError(_TOO_DEEP)


def json_object(text: str) -> dict[str, Any] | None:  # Any: JSON
    """Return the object of a JSON text, or None if it is no object."""
    try:
        value = decode(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def without_turn_end(text: str) -> str:
    """Return a text without the marks of a chat template that end a turn, at its end alone."""
    end = _TURN_ENDS.search(text, max(0, len(text) - _LONGEST_TURN_ENDS))
    return text if end is None else text[: end.start()]


def closing(text: str, place: int) -> int | None:
    """Return the offset behind the bracket that closes the one at `place`, or None. In quotes there are no brackets."""
    depth = 0
    for piece in _BRACKETS.finditer(text, place, place + LONGEST_REPAIRED):
        if len(piece[0]) == 1:
            depth += 1 if piece[0] in "[({" else -1
            if not depth:
                return piece.end()
    return None


def repaired(text: str) -> JsonValue:
    """Return the value of a text that is almost JSON, or None if that is not clear.

    Read are single quotes, names without quotes, `True`, `None`, commas at an end, line breaks in texts, a fence
    around it, one value written twice, and JSON that is quoted once more.
    """
    if len(text) > LONGEST_REPAIRED:
        return None
    text = _FOREIGN.sub(_as_json, _QUOTES.sub('"', _FENCES.sub("", without_turn_end(text))))
    try:
        value, end = json.JSONDecoder(strict=False, parse_constant=_refuse_constant).raw_decode(text)
        if text[end:].strip() not in ("", text[:end]):
            return None
        value = decode(json.dumps(json.loads(value, strict=False) if isinstance(value, str) else value))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _as_json(piece: re.Match[str]) -> str:
    quoted, name = piece.groups()
    if quoted is not None:
        return '"' + re.sub(r'(?<!\\)"', r"\"", quoted.replace("\\'", "'")) + '"'
    if name is not None:
        return f'"{name}":'
    return {"True": "true", "False": "false", "None": "null", ",": ""}.get(piece[0], _ESCAPED.sub("", piece[0]))


def faults(value: JsonValue, schema: JsonSchema, *, path: str = "") -> tuple[str, ...]:
    """Return the first faults of a value, a sentence each; empty if it fits the schema."""
    for keyword in schema:
        if keyword not in _KEYWORDS and keyword not in _ANNOTATIONS:
            raise BadOption(f"the JSON schema keyword {keyword!r} is not understood; there are {', '.join(_KEYWORDS)}")
    return tuple(islice(_faults(value, schema, path), _MOST_FAULTS))


class ReadValue(NamedTuple):
    """A value as its schema means it."""

    value: Any  # Any: JSON
    notes: tuple[str, ...] = ()
    """What was read differently from how it is written."""

    @property
    def note(self) -> str:
        """The notes as a line for the model, or ""."""
        more = f"; and {len(self.notes) - _MOST_NOTES} more" if len(self.notes) > _MOST_NOTES else ""
        return f"note: {'; '.join(self.notes[:_MOST_NOTES])}{more}" if self.notes else ""


def read_value(value: JsonValue, schema: JsonSchema, *, path: str = "") -> ReadValue:
    """Return a value as its schema means it, if there is one way to read it; else unchanged.

    `{"k": "2", "types": "film", "where": null}` is `{"k": 2, "types": ["film"]}` where k is an integer, types a list of
    texts and where may be left out. Not read: "two", "film, person", 2.5 for an integer, 1 for true, 7 for a text.
    """
    if not faults(value, schema):
        return ReadValue(value)
    if isinstance(value, dict):
        return _read_object(value, schema, path)
    if isinstance(value, list):
        items = [read_value(item, schema.get("items", {}), path=f"{path}[{place}]") for place, item in enumerate(value)]
        return ReadValue([item.value for item in items], tuple(note for item in items for note in item.notes))
    forms = [schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())]
    readings = {short_json(reading): reading for form in forms for reading in _readings(value, form)}
    if len(readings) != 1:
        return ReadValue(value)
    ((shown, reading),) = readings.items()
    return ReadValue(reading, (f"{_at(path)}, {short_json(value)}, was read as {shown}",))


def _read_object(value: Mapping[str, JsonValue], schema: JsonSchema, path: str) -> ReadValue:
    properties, required = schema.get("properties", {}), schema.get("required", ())
    parts: dict[str, JsonValue] = {}
    notes: list[str] = []
    not_given: list[str] = []
    meant = {_folded(name): name for name in properties if name not in value}
    for written, part in value.items():
        name = written if written in properties else meant.get(_folded(written), written)
        if name != written:
            notes.append(f"{_below(path, written)} was read as {name}")
        form = properties.get(name, {})
        if part is None and name in properties and name not in required and faults(part, form):
            not_given.append(_below(path, name))
            continue
        parts[name], more = read_value(part, form, path=_below(path, name))
        notes += more
    if not_given:
        notes.append(f"null was read as not given: {', '.join(not_given)}")
    return ReadValue(parts, tuple(notes))


def _readings(value: JsonValue, form: JsonSchema) -> Iterator[JsonValue]:
    """Yield a text or a number, read as each type of a form."""
    types = form.get("type", ())
    kinds = (types,) if isinstance(types, str) else types
    if isinstance(value, float) and "integer" in kinds and value.is_integer():
        yield int(value)
    if not isinstance(value, str):
        return
    if "enum" in form:
        yield from (each for each in form["enum"] if isinstance(each, str) and _folded(each) == _folded(value))
        return
    for kind in kinds:
        yield from _as_kind(value, kind, form)


def _as_kind(value: str, kind: str, form: JsonSchema) -> Iterator[JsonValue]:
    """Yield a text, read as one type of a form."""
    if kind in ("integer", "number") and _NUMBER.fullmatch(value.strip()):
        number = float(value)
        if number.is_integer():
            yield int(number)
        elif kind == "number":
            yield number
    elif kind == "boolean" and value.strip().lower() in ("true", "false"):
        yield value.strip().lower() == "true"
    elif kind in ("array", "object"):
        # Small models write a list as JSON in a text, or a list of one text as the bare text.
        is_of_texts = kind == "array" and form.get("items", {}).get("type") == "string"
        is_bare = is_of_texts and value.strip() and not _SEVERAL.search(value)
        inner = [value] if is_bare else repaired(value)
        if inner is not None and not faults(inner, {**form, "minItems": 0}):
            yield inner


def tool_of(name: str, tools: Iterable[str]) -> str | None:
    """Return the one tool that a name means, or None: `functions.Search-Nodes:0` means `search_nodes`."""
    names = tuple(tools)
    if name in names:
        return name
    stem = name.partition("<")[0]
    parts = {_folded(part) for part in (stem, *re.split(r"[.:/|(]|__", stem))} - {""}
    meant = [tool for tool in names if _folded(tool) in parts]
    return meant[0] if len(meant) == 1 else None


def arguments_of(call: ToolCall, tools: Sequence[ToolSpec]) -> ReadValue:
    """Return the arguments of a call, an object. Raises `ValueError`, worded for the model, if they are wrong."""
    specs = {tool.name: tool for tool in tools}
    name = tool_of(call.name, specs)
    if name is None:
        near = nearest(call.name, specs, most=1)
        hint = f"Did you mean {near[0]}? " if near else ""
        raise ValueError(f"There is no tool {call.name!r}. {hint}The tools are {', '.join(specs) or 'none'}.")
    notes: tuple[str, ...] = () if name == call.name else (f"{call.name!r} was read as {name}",)
    arguments, why = None, f"must be a JSON object, not {call.arguments[:80]}"
    try:
        arguments = decode(call.arguments or "{}")
    except ValueError as error:
        why = f"are not JSON: {error}"
    if not isinstance(arguments, dict):
        arguments = repaired(call.arguments)
        if isinstance(arguments, list) and len(arguments) == 1:
            arguments = arguments[0]
        if not isinstance(arguments, dict):
            raise ValueError(f"The arguments of {name} {why}.")
        notes += (f"the arguments were read as {short_json(arguments)}",)
    read = read_arguments(name, arguments, specs[name].parameters)
    return read._replace(notes=(*notes, *read.notes))


def read_arguments(tool: str, arguments: Mapping[str, JsonValue], parameters: JsonSchema) -> ReadValue:
    """Return the arguments of a tool as its parameters mean them. Raises `ValueError`, worded for the model.

    They may stand within a member that is no parameter, alone or beside the tool's name.
    """
    schema = {"type": "object", **parameters}
    read = read_value(dict(arguments), schema)
    wrong = faults(read.value, schema)
    around = [name for name, part in arguments.items() if part != tool]
    if wrong and len(around) == 1 and not any(name in schema["properties"] for name in arguments):
        inner = arguments[around[0]]
        read = read_value(repaired(inner) if isinstance(inner, str) else inner, schema)
        read = read._replace(notes=(f"the arguments were taken out of {around[0]}", *read.notes))
    if wrong and (not isinstance(read.value, dict) or faults(read.value, schema)):
        raise ValueError(f"The arguments of {tool} are wrong: {'; '.join(wrong)}.")
    return read


def _folded(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold()


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def short_json(value: JsonValue) -> str:
    """Return a value as JSON, cut for a message."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _at(path: str) -> str:
    return path or "the value"


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _faults(value: JsonValue, schema: JsonSchema, path: str) -> Iterator[str]:
    kind, at = _KINDS[type(value)], _at(path)
    types = schema.get("type", kind)
    allowed = [types] if isinstance(types, str) else types
    if kind not in allowed and not (kind == "integer" and "number" in allowed):
        yield f"{at} must be of type {' or '.join(allowed)}, is {short_json(value)}"
        return  # other keywords would report the same fault in other words
    if "enum" in schema and _canonical(value) not in map(_canonical, schema["enum"]):
        yield f"{at} must be one of {', '.join(map(short_json, schema['enum']))}, is {short_json(value)}"
    if "const" in schema and _canonical(value) != _canonical(schema["const"]):
        yield f"{at} must be {short_json(schema['const'])}, is {short_json(value)}"
    if isinstance(value, dict):
        yield from _member_faults(value, schema, path)
    elif isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from faults(item, schema["items"], path=f"{path}[{index}]")
    yield from _bound_faults(value, schema, at)
    yield from _form_faults(value, schema, path)


def _canonical(value: JsonValue) -> str:
    return json.dumps(value, sort_keys=True)  # in Python True == 1


def _member_faults(value: Mapping[str, JsonValue], schema: JsonSchema, path: str) -> Iterator[str]:
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name, form in properties.items():
        if name in value:
            yield from faults(value[name], form, path=_below(path, name))
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{_below(path, name)} is missing"
    for name in value:
        if name in properties or others is True:
            continue
        if others is False:
            near = nearest(name, properties, most=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(properties) or 'none'}"
            yield f"{_below(path, name)} is not known; {hint}"
        else:
            yield from faults(value[name], others, path=_below(path, name))


def _bound_faults(value: JsonValue, schema: JsonSchema, at: str) -> Iterator[str]:
    if isinstance(value, str) and len(value) > schema.get("maxLength", math.inf):
        yield f"{at} must have at most {schema['maxLength']} characters, has {len(value)}"
    if isinstance(value, list) and len(value) < schema.get("minItems", 0):
        yield f"{at} must hold at least {schema['minItems']} items, holds {len(value)}"
    if isinstance(value, list) and len(value) > schema.get("maxItems", math.inf):
        yield f"{at} must hold at most {schema['maxItems']} items, holds {len(value)}"
    if type(value) in (int, float) and value < schema.get("minimum", -math.inf):
        yield f"{at} must be at least {schema['minimum']:g}, is {short_json(value)}"
    if type(value) in (int, float) and value > schema.get("maximum", math.inf):
        yield f"{at} must be at most {schema['maximum']:g}, is {short_json(value)}"


def _form_faults(value: JsonValue, schema: JsonSchema, path: str) -> Iterator[str]:
    """Yield the faults of a value that must fit one of several forms."""
    for keyword in ("anyOf", "oneOf"):
        found = [faults(value, form, path=path) for form in schema.get(keyword, ())]
        fitting = found.count(())
        if found and not fitting:
            yield "either " + ", or ".join("; ".join(sentences) for sentences in found)
        elif keyword == "oneOf" and fitting > 1:
            yield f"{_at(path)} must fit exactly one of {len(found)} forms, fits {fitting}"
