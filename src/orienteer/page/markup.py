"""HTML that is safe by construction: whatever is not markup of ours is escaped where it meets markup."""

from __future__ import annotations

from markupsafe import Markup as Html
from markupsafe import escape

from orienteer.display import clean

__all__ = ["Html", "html", "tag"]


def html(*parts: str) -> Html:
    """Join markup and texts; texts are escaped, and lose what would steer a reader's terminal or direction."""
    return Html(clean("".join(map(escape, parts))))


def tag(name: str, *parts: str, **attributes: str | float | None) -> Html:
    """Return an element around markup and texts.

    `class_` is written as class, `data_x` as data-x; an attribute that is None is left out.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{written}>{html(*parts)}</{name}>")
