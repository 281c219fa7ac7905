"""A browser that is here, and how it is started."""

import shutil
from pathlib import Path
from typing import NamedTuple

import orienteer.serve

PAGE = Path(orienteer.serve.__file__).parent / "page"
"""What the package ships."""
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
# Software drawing, so that WebGL is there on any machine; no calls of the browser's own.
FLAGS = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
QUIET = ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run")
NO_WEBGL = ("--no-sandbox", "--disable-gpu", "--disable-3d-apis", "--disable-software-rasterizer")
QUESTION = "Which people who received the Turing Award designed a language that influenced Python?"


class Seen(NamedTuple):
    """What a page did beside what it shows."""

    troubles: list[str]
    """Errors and warnings of the console, and of scripts."""
    elsewhere: list[str]
    """Requests to anybody but its server."""


def is_own(url: str, home: str) -> bool:
    """Whether a request stays with the server of the page."""
    return url.startswith((home, "data:", f"blob:{home}"))
