"""`/docs`: what OpenAPI says as a page of ours, which loads nothing and runs no script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from starlette.responses import HTMLResponse, Response

from orienteer.options import in_words
from orienteer.page.template import pieces

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


class Field(NamedTuple):
    """A field of a body, or a parameter."""

    name: str
    values: str
    """What fits, in words."""
    default: str
    """Empty where it is needed."""


class Operation(NamedTuple):
    """A method of a path."""

    method: str
    path: str
    about: str
    fields: tuple[Field, ...]


def docs_page(schema: Mapping[str, Any]) -> Response:  # Any: JSON
    """Return the page of an OpenAPI schema."""
    operations = list(_operations(schema))
    info = schema["info"]
    html = pieces(
        __package__ or "orienteer.serve.http",
        "docs.html",
        style="docs.css",
        title=f"{info['title']} {info['version']}",
        about=info["description"],
        operations=operations,
    )
    return HTMLResponse("".join(html), headers={"content-security-policy": _POLICY})


def _operations(schema: Mapping[str, Any]) -> Iterator[Operation]:  # Any: JSON
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            parameters = [
                _field(each["name"], each["schema"], each["required"]) for each in operation.get("parameters", ())
            ]
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            needed = body.get("required", ())
            fields = [_field(name, each, name in needed) for name, each in body.get("properties", {}).items()]
            yield Operation(method.upper(), path, operation.get("description", ""), (*parameters, *fields))


def _field(name: str, schema: Mapping[str, Any], is_needed: bool) -> Field:  # Any: JSON
    default = "needed" if is_needed else repr(schema.get("default"))
    return Field(name, in_words(schema), default)
