"""What the build writes into the package's metadata: its addresses, and a README whose links hold on an index page.

The project's address is in `pyproject.toml` alone, under `links`. In the checkout the README has relative
links; in the metadata each is absolute and leads to the files of this very version.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

try:
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ModuleNotFoundError:  # a test calls the functions without the build's packages
    MetadataHookInterface = object

LINK = re.compile(r"(\]\()(?![a-z]+:|#)([^)\s]+)(\))|((?:src|srcset|href)=\")(?![a-z]+:|#)([^\"\s]+)(\")")
"""A relative target, in Markdown or in HTML, between what is before and after it."""
PICTURES = (".gif", ".jpg", ".png", ".svg", ".webp")


class Links:
    """The absolute addresses of one version, from the table `links` of `pyproject.toml`."""

    def __init__(self, table: dict[str, Any], *, version: str) -> None:
        self._table = table
        self._words = {"address": table["address"].rstrip("/"), "version": version}

    def urls(self) -> dict[str, str]:
        """Return the project's addresses by label."""
        return {label: form.format(**self._words) for label, form in self._table["urls"].items()}

    def to(self, path: str) -> str:
        """Return the address of a file of the checkout; a picture's gives the picture itself."""
        is_picture = path.partition("#")[0].endswith(PICTURES)
        form = self._table["picture" if is_picture else "file"]
        return str(form.format(**self._words, path=path))

    def absolute(self, text: str) -> str:
        """Return a page of the checkout's top folder with absolute links."""
        pieces = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)  # code stays as it is
        return "".join(each if each.startswith("```") else LINK.sub(self._replaced, each) for each in pieces)

    def _replaced(self, link: re.Match[str]) -> str:
        before, path, after = (link[1], link[2], link[3]) if link[1] else (link[4], link[5], link[6])
        return f"{before}{self.to(path)}{after}"


class CustomMetadataHook(MetadataHookInterface):  # type: ignore[misc]
    """Fills the fields `readme` and `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Write the README and the addresses of this version into the metadata."""
        links = Links(self.config["links"], version=metadata["version"])
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": links.absolute(readme)}
        metadata["urls"] = links.urls()
