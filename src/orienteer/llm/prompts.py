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

    name: str
    system: str
    user: str
    """`$content` where the file has no such line: all that the user says is a value."""
    sha256: str

    def filled(self, values: Mapping[str, object]) -> tuple[Message, Message]:
        """Return the two messages that open a conversation, the placeholders of the user's message filled."""
        content = Template(self.user).substitute(values)
        return Message(role="system", content=self.system), Message(role="user", content=content)


@cache
def prompt_of(name: str, package: str = "orienteer.methods") -> Prompt:
    """Return the prompt of a name."""
    text = files(package).joinpath(f"prompts/{name}.md").read_text(encoding="utf-8")
    system, _, user = text.partition("\n---\n")
    return Prompt(name, system.strip(), user.strip() or "$content", hashlib.sha256(text.encode()).hexdigest())
