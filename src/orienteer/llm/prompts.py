"""Prompts as files of a package, `prompts/NAME.md`: the one place that reads them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Template
from typing import NamedTuple

from orienteer.errors import BadInput
from orienteer.records import Message

_FIRST_LINE = re.compile(r"version: ([1-9][0-9]{0,3})\n")


class Prompt(NamedTuple):
    """What a prompt's file holds.

    Its first line is its version. Then comes the system message, and below a line `---` the user's with placeholders.
    """

    name: str
    version: int
    """From 1: it rises whenever the words change, so that figures can be told apart by it."""
    system: str
    user: str
    """`$content` where the file has no such line: all that the user says is a value."""
    sha256: str
    """Of the words, without the line of the version."""

    def filled(self, values: Mapping[str, object]) -> tuple[Message, Message]:
        """Return the two messages that open a conversation, the placeholders of the user's message filled."""
        content = Template(self.user).substitute(values)
        return Message(role="system", content=self.system), Message(role="user", content=content)


@cache
def prompt_of(name: str, package: str = "orienteer.methods") -> Prompt:
    """Return the prompt of a name. Raises `BadInput` where the package has none, or one without a version."""
    try:
        text = files(package).joinpath(f"prompts/{name}.md").read_text(encoding="utf-8")
    except (FileNotFoundError, ModuleNotFoundError) as error:
        raise BadInput(f"No prompt {name!r} in the package {package!r}: write prompts/{name}.md there.") from error
    if (first := _FIRST_LINE.match(text)) is None:
        raise BadInput(f"The prompt {name!r} of {package!r} must begin with the line 'version: 1', or a later number.")
    words = text[first.end() :]
    system, _, user = words.partition("\n---\n")
    return Prompt(
        name, int(first[1]), system.strip(), user.strip() or "$content", hashlib.sha256(words.encode()).hexdigest()
    )


def prompts_of(package: str) -> tuple[Prompt, ...]:
    """Return all prompts of a package, by name. Raises as `prompt_of` does."""
    names = sorted(file.name for file in (files(package) / "prompts").iterdir() if file.is_file())
    return tuple(prompt_of(name.removesuffix(".md"), package) for name in names)
