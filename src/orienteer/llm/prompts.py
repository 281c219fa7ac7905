"""Prompts as files of a package, `prompts/NAME.md`: the one place that reads them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Template
from typing import NamedTuple

from orienteer.records import Message


class Prompt(NamedTuple):
    """What a prompt's file holds: above its line `---` the system message, below it the user's with placeholders."""

    system: str
    user: str
    sha256: str

    def filled(self, values: Mapping[str, object]) -> tuple[Message, Message]:
        """Return what a talk opens with, the placeholders of the user's message filled."""
        return self.asking(Template(self.user).substitute(values))

    def asking(self, content: str) -> tuple[Message, Message]:
        """Return what a talk opens with whose user says this."""
        return Message(role="system", content=self.system), Message(role="user", content=content)


@cache
def prompt_of(name: str, package: str = "orienteer.methods") -> Prompt:
    """Return the prompt of a name; without a line `---` all of it is the system message."""
    text = files(package).joinpath(f"prompts/{name}.md").read_text(encoding="utf-8")
    system, _, user = text.partition("\n---\n")
    return Prompt(system.strip(), user.strip(), hashlib.sha256(text.encode()).hexdigest())
