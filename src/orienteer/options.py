"""The options of a configuration dataclass: what they are called, what they mean, and values that fit them.

A configuration is a frozen dataclass whose fields are documented by a string beneath each. The command line, the
settings file and Python all set its fields through here, so that a wrong name or value meets the same words.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from orienteer.errors import BadOption, nearest


@dataclass(frozen=True, slots=True)
class Option:
    """One field of a configuration, for people."""

    name: str
    type: str
    default: Any  # Any: whatever the field holds
    doc: str
    """The string beneath the field, which cites where the default comes from."""


def options_of(config: type | None) -> tuple[Option, ...]:
    """Return the options of a configuration dataclass, in the order of its fields; none where there is none."""
    if config is None:
        return ()
    docs = _field_docs(config)
    return tuple(
        Option(one.name, _written_type(one), _default(one), docs.get(one.name, "")) for one in _settable(config)
    )


def pairs_of(texts: Iterable[str], *, form: str = "NAME=VALUE") -> dict[str, str]:
    """Return the values of `NAME=VALUE` texts by name. Raises `BadOption`."""
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise BadOption(f"{text!r} sets nothing: write {form}")
        pairs[name.strip()] = value.strip()
    return pairs


def check(config: type, values: Mapping[str, Any], *, where: str = "") -> dict[str, Any]:
    """Return the values as the types of their fields. Raises `BadOption` for a name or a value that does not fit.

    A text is taken for what it would mean on a command line: `3`, `true`, `none`, `one,two` for a list. `where` is put
    before the name in messages, as in `[budget] calls`.
    """
    hints = get_type_hints(config)
    written = {one.name: _written_type(one) for one in _settable(config)}
    checked = {}
    for name, value in values.items():
        if name not in written:
            raise unknown_option(repr(f"{where}{name}"), name, written)
        meant = _of_text(hints[name], value) if isinstance(value, str) else value
        try:
            checked[name] = TypeAdapter(hints[name]).validate_python(meant)
        except ValidationError as error:
            said = error.errors()[0]["msg"].removeprefix("Value error, ")
            wanted = _choices(hints[name])
            must = wanted or written[name]
            raise BadOption(f"{where}{name} must be {must}, is {value!r}{'' if wanted else f': {said}'}") from error
        except PydanticUserError:  # a type that only code can make, such as a function
            checked[name] = value
    return checked


def unknown_option(shown: str, name: str, known: Iterable[str]) -> BadOption:
    """Return the error for an option that there is not, with the nearest ones; `shown` is how it is written of."""
    known = list(known)
    near = nearest(name, known)
    hint = f" Near: {', '.join(near)}." if near else ""
    return BadOption(f"There is no option {shown}.{hint} There are: {', '.join(known) or 'none'}.")


def _settable(config: type) -> Iterator[Field[Any]]:
    return (one for one in fields(config) if one.init)


def _of_text(hint: Any, text: str) -> Any:  # Any: a type as it is annotated
    """Return None or a list where the field takes them and the text means one, else the text."""
    kinds = get_args(hint) or (hint,)
    if type(None) in kinds and text.casefold() in ("none", "null", ""):
        return None
    takes_several = any((get_origin(kind) or kind) in (tuple, list, frozenset) for kind in (hint, *kinds))
    return [part.strip() for part in text.split(",") if part.strip()] if takes_several else text


def _choices(hint: Any) -> str:  # Any: a type as it is annotated
    """Return the values that a field takes where they can be counted, else nothing."""
    if hint is bool:
        return "true or false"
    return f"one of {', '.join(map(str, get_args(hint)))}" if get_origin(hint) is Literal else ""


def _written_type(one: Field[Any]) -> str:
    return one.type if isinstance(one.type, str) else inspect.formatannotation(one.type)


def _default(one: Field[Any]) -> Any:
    if one.default is not MISSING:
        return one.default
    return one.default_factory() if one.default_factory is not MISSING else None


def _field_docs(config: type) -> dict[str, str]:
    """Return the string beneath each field of a class and its bases; none where the source is not at hand."""
    docs: dict[str, str] = {}
    for one in reversed(config.__mro__[:-1]):
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(one)))
        except (OSError, TypeError):
            continue
        body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
        for field, below in zip(body, body[1:], strict=False):
            match field, below:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    docs[name] = inspect.cleandoc(text)
    return docs
