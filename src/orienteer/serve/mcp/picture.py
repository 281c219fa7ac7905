"""The picture of an answer for hosts that show one, by the extension MCP Apps: one HTML document, and its content.

The document holds the notebook's widget, script and style, and asks for no domain, so a host gives it no network.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from orienteer.page.notebook import WIDGET

if TYPE_CHECKING:
    from orienteer.records import Result

URI = "ui://orienteer/answer.html"
CONTENT = "orienteer/picture"
"""The key of the content in the metadata of a reply: a host hands it to the document, and to no model."""


@cache
def document() -> str:
    """Return the document. Its script shows what the host hands over, as text alone."""
    style, script = ((WIDGET / name).read_text("utf-8") for name in ("widget.css", "widget.js"))
    # Without the host's theme it is that of the system.
    style = f":root {{ color-scheme: light dark }} body {{ margin: 0 }} {style}"
    head = '<meta charset="utf-8"><title>Orienteer</title>'
    script = script.replace("</script", "<\\/script")
    body = f'<div id="orienteer-app"></div><script type="module">{script}</script>'
    return f'<!doctype html><html lang="en"><head>{head}<style>{style}</style></head><body>{body}</body></html>'


def content_of(result: Result) -> dict[str, Any]:  # Any: JSON
    """Return the metadata of a reply with the picture of a result; empty without edges, which would be a picture."""
    content = result.picture()
    return {CONTENT: content.sent()} if content.edges else {}
