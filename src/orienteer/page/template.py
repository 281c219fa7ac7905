"""Pages made from templates: every value is escaped as text, unless it is markup of ours."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from orienteer.display import clean, counted, cut
from orienteer.page.numerals import figure, percent, share

if TYPE_CHECKING:
    from jinja2 import Environment

_TOGETHER = 200  # parts of a template that are written together


def pieces(
    package: str, template: str, *, style: str, script: str | None = None, **values: Any
) -> Iterator[str]:  # Any: what the template shows
    """Yield the pieces of a page in order, each made when it is asked for.

    Templates, style and script are files of the package. Texts are escaped where they enter the template. Characters
    that would steer a reader's terminal or the direction of text are then removed from every piece, wherever they came
    from. The page loads nothing and runs no script but this one.
    """
    values["style"] = Markup(_read(package, style))
    values["script"] = None if script is None else Markup(_read(package, script))
    digest = hashlib.sha256((values["script"] or "").encode()).digest()
    values["script_sha256"] = "" if script is None else base64.b64encode(digest).decode()
    stream = _environment(package).get_template(template).stream(values)
    stream.enable_buffering(_TOGETHER)
    return map(clean, stream)


@cache
def _environment(package: str) -> Environment:
    """Return the jinja environment of a package's templates, which may build on those of `orienteer.page`."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined  # here: most commands make no page

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(__package__ or "orienteer.page")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "counted": counted,
        "cut": cut,
        "figure": figure,
        "percent": percent,
        "share": share,
        "thousands": "{:,}".format,
    }
    return environment


def _read(package: str, name: str) -> str:
    return clean(files(package).joinpath(name).read_text(encoding="utf-8"))
