"""`Options`, the base class of configurations: it checks names and values, and describes each option.

class ArkConfig(Options):
    agents: int = Field(default=3, ge=1)
    \"\"\"Parallel agents.\"\"\"

ArkConfig(agents=0)               BadOption: ArkConfig.agents is 0: it must be a whole number, 1 or more
ArkConfig.read({"agents": "2"})   the same from texts: of a command line, a settings file, a sweep
ArkConfig.model_json_schema()     types, bounds, choices, defaults, and the strings under the fields
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core.core_schema import with_info_wrap_validator_function

from orienteer.errors import BadOption, nearest

_LONGEST_SHOWN = 200  # characters of a value in an error


class Option(NamedTuple):
    """A field of a configuration, for people."""

    name: str
    type: str
    """As in the class: `int`, `Mode`, `tuple[str, ...]`."""
    default: Any  # Any: of the field's type
    doc: str
    """The string under the field, which cites the source of the default."""


class Options(BaseModel):
    """A configuration. Frozen, and checked by all constructors but `model_copy`, which is for checked values."""

    # A program loads many of these and creates few, so the checks are built for the first instance.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    deviations: ClassVar[tuple[str, ...]] = ()
    """What a method does otherwise than its paper even with `faithful=true`: the whole list."""

    @classmethod
    def read(cls, values: Mapping[str, Any], *, where: str = "") -> Self:  # Any: of the fields' types
        """Return the configuration with these values; texts are parsed as on a command line.

        `3`, `true` and `none` are parsed, and `one,two` is a list. `where` comes before a name in messages, as in
        `[budget] calls`. Raises `BadOption` for a name or a value that does not fit.
        """
        parsed = dict(values)
        for name, value in values.items():
            if isinstance(value, str) and name in cls.model_fields:
                kind = cls.model_fields[name].annotation
                kinds = get_args(kind) or (kind,)
                if type(None) in kinds and value.casefold() in ("none", "null", ""):
                    parsed[name] = None
                elif any((get_origin(part) or part) in (tuple, list, frozenset) for part in (kind, *kinds)):
                    parsed[name] = [part.strip() for part in value.split(",") if part.strip()]
        return cls.model_validate(parsed, context=where)

    @property
    def chosen(self) -> dict[str, Any]:  # Any: of the fields' types
        """The options that were set, by name, without those that keep their defaults."""
        return {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:  # Any: pydantic's
        """Wrap pydantic's checks, so that `BadOption` is raised in place of its error, which quotes keys too."""

        def check(
            values: Any, check_fields: ValidatorFunctionWrapHandler, info: ValidationInfo
        ) -> Any:  # Any: as above
            try:
                return check_fields(values)
            except ValidationError as error:
                fault = _fault(cls, values, error, f"{cls.__name__}." if info.context is None else info.context)
            raise fault

        return with_info_wrap_validator_function(check, handler(source))

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Describe the fields by the strings under them."""
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for name, doc in _docs_of(cls).items():
            if name in properties:
                properties[name].setdefault("description", doc)
        return schema


def options_of(config: type[Options] | None) -> tuple[Option, ...]:
    """Return the options of a configuration, in the order of its fields; empty for None."""
    if config is None:
        return ()
    docs = _docs_of(config)
    types = {name: kind for base in reversed(config.__mro__) for name, kind in inspect.get_annotations(base).items()}
    return tuple(
        Option(
            name,
            types[name] if isinstance(types[name], str) else inspect.formatannotation(types[name]),
            None if field.is_required() else field.get_default(call_default_factory=True),
            field.description or docs.get(name, ""),
        )
        for name, field in config.model_fields.items()
    )


def schema_of(config: type[Options] | None) -> dict[str, Any]:  # Any: JSON
    """Return the JSON schema of a configuration; for None, that of an empty object."""
    if config is None:
        return {"type": "object", "properties": {}, "additionalProperties": False}
    return config.model_json_schema()


def in_words(schema: Mapping[str, Any]) -> str:  # Any: JSON
    """Describe the values that fit the JSON schema of an option: `a whole number, 1 to 100, or none`."""
    if "anyOf" in schema:
        return ", or ".join(map(in_words, schema["anyOf"]))
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    kind = schema.get("type", "")
    if kind == "array":
        most = f" of {schema.get('minItems', 0)} to {schema['maxItems']:,}" if "maxItems" in schema else ""
        return f"a list{most}, each {in_words(schema['items'])}"
    words = {"boolean": "true or false", "string": "text", "object": "a table", "null": "none"}
    if kind == "string" and "maxLength" in schema:
        return f"text of {schema.get('minLength', 0)} to {schema['maxLength']:,} characters"
    if kind == "string" and "examples" in schema:
        return f"text such as {schema['examples'][0]}"
    if kind not in ("integer", "number"):
        return words.get(kind) or str(schema.get("$ref", "")).rpartition("/")[2]
    number = "a whole number" if kind == "integer" else "a number"
    if "minimum" in schema and "maximum" in schema:
        return f"{number}, {schema['minimum']:,} to {schema['maximum']:,}"
    bounds = {"minimum": "{:,} or more", "exclusiveMinimum": "above {:,}"}
    bounds |= {"maximum": "at most {:,}", "exclusiveMaximum": "below {:,}"}
    limits = " and ".join(form.format(schema[bound]) for bound, form in bounds.items() if bound in schema)
    return f"{number}, {limits}" if limits else number


def pairs_of(texts: Iterable[str], *, form: str = "NAME=VALUE") -> dict[str, str]:
    """Return the values of `NAME=VALUE` texts by name. Raises `BadOption`."""
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise BadOption(f"{text!r} sets nothing: write {form}")
        pairs[name.strip()] = value.strip()
    return pairs


def unknown_option(shown: str, name: str, names: Iterable[str]) -> BadOption:
    """Return the error for an unknown option, with the nearest of the names; `shown` is its form in the message."""
    names = list(names)
    near = nearest(name, names)
    hint = f" Near: {', '.join(near)}." if near else ""
    return BadOption(f"There is no option {shown}.{hint} There are: {', '.join(names) or 'none'}.", value=name)


@cache
def _docs_of(config: type[Options]) -> Mapping[str, str]:
    """Return the strings under the fields of a configuration, by name."""
    # Read from the source at need: pydantic would read them with the class, 12 ms for the first.
    docs: dict[str, str] = {}
    for base in reversed(config.__mro__[: config.__mro__.index(Options)]):
        # Its source is missing.
        with suppress(OSError, TypeError):
            [tree] = ast.parse(textwrap.dedent(inspect.getsource(base))).body
            body = tree.body if isinstance(tree, ast.ClassDef) else []
            for field, string in pairwise(body):
                match field, string:
                    case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(doc))):
                        docs[name] = inspect.cleandoc(doc)
    return docs


def _fault(config: type[Options], values: Any, error: ValidationError, where: str) -> BadOption:
    """Return the error for an unknown name, or else for the first value that does not fit."""
    if not isinstance(values, Mapping):
        return BadOption(f"{where.rstrip('. ')} is {values!r}: it must be a table of options")
    fault = min(error.errors(include_url=False), key=lambda fault: fault["type"] != "extra_forbidden")
    # In the words of a class's own validator, of one option or of several.
    if fault["type"] == "value_error":
        name = f"{where}{'.'.join(map(str, fault['loc']))}".rstrip(". ")
        return BadOption(": ".join(filter(None, (name, str(fault["ctx"]["error"])))))
    name = str(fault["loc"][0])
    if name not in config.model_fields:
        return unknown_option(repr(f"{where}{name}"), name, config.model_fields)
    must = in_words(config.model_json_schema()["properties"][name]) or fault["msg"]
    if fault["type"] == "missing":
        return BadOption(f"{where}{name} is missing: it must be {must}")
    if not config.model_fields[name].repr:
        return BadOption(f"{where}{name} cannot be used: it must be {must}")
    text = repr(values[name])
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}... ({len(text):,} characters)"
    return BadOption(f"{where}{name} is {shown}: it must be {must}", value=values[name])
