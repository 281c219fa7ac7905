"""Prompts as files of a package, `prompts/NAME.md`: the one place that reads them."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Prompt(NamedTuple):
    """What a prompt's file holds: above its line `---` the system message, below it the user's with placeholders."""

    system: str
    user: str
    sha256: str


@cache
def prompt_of(name: str, package: str = "orienteer.methods") -> Prompt:
    """Return the prompt of a name; without a line `---` all of it is the system message."""
    text = files(package).joinpath(f"prompts/{name}.md").read_text(encoding="utf-8")
    system, _, user = text.partition("\n---\n")
    return Prompt(system.strip(), user.strip(), hashlib.sha256(text.encode()).hexdigest())
