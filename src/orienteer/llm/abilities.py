"""What a model's server really does, as `llm.probe` found out, stored by address and model, without keys."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import ValidationError

from orienteer.errors import BadOption
from orienteer.files import cache_folder, make_cache_folder, write_whole
from orienteer.records import Dialect, Manner, Record, Usage

Outcome: TypeAlias = Literal["kept", "ignored", "refused", "unknown"]
"""The result of a request for an ability: done, silently ignored, answered by an error, or inconclusive."""

# In the cache; it has a file for each server and model.
_FOLDER = "servers"
_DIALECT_WORDS: dict[Dialect | None, str] = {
    None: "calls are asked for natively",
    "schema": "calls are forced by a JSON schema, for tools are not heeded",
    "qwen": "calls are asked for in words, for neither tools nor a JSON schema are heeded",
}


class Abilities(Record):
    """What a server does with a model, and when it was probed."""

    version: Literal[1] = 1
    url: str
    """The address without user name and password, or `local` for a model that runs here."""
    model: str
    probed: str
    """The time, in UTC and ISO 8601."""
    tools: Outcome = "unknown"
    """Calls come back if tools are offered."""
    required_tools: Outcome = "unknown"
    """A call comes back if one is required, whatever the words ask for."""
    parallel_calls: Outcome = "unknown"
    """Two calls come back if two are asked for."""
    json_schema: Outcome = "unknown"
    """The reply is an object of the schema, whatever the words ask for."""
    grammar: Outcome = "unknown"
    """The reply is a word of a grammar in GBNF, sent as `grammar`, as llama.cpp's server takes it."""
    length_limit: Outcome = "unknown"
    """A reply ends at its limit of tokens and is marked as cut."""
    logprobs: Outcome = "unknown"
    """The log-probability of each token comes with the reply."""
    token_ids: Outcome = "unknown"
    """The ids of the tokens come with the reply, as vLLM gives them."""
    usage: Outcome = "unknown"
    """The reply says how many tokens it took."""
    seed: Outcome = "unknown"
    """One seed gives one reply, and another seed another."""
    context_tokens: int | None = None
    """The tokens of a request and its reply together, as the server reports them."""
    lacks: tuple[str, ...] = ()
    """Parameters that the server refuses."""
    spent: Usage = Usage()
    """What the probe took."""

    @property
    def dialect(self) -> Dialect | None:
        """How calls reach this model: None natively, else `schema` if schemas are kept, else in words."""
        if self.tools in ("kept", "unknown") or self.json_schema == "unknown":
            return None
        return "schema" if self.json_schema == "kept" else "qwen"

    @property
    def manner(self) -> Manner:
        """How this model is spoken to."""
        why = f"{self.model} at {self.url}: {self.adaptation} (asked on {self.probed[:10]} by doctor --probe)"
        return Manner(
            dialect=self.dialect,
            context_tokens=self.context_tokens,
            keeps_schema=self.json_schema == "kept",
            keeps_grammar=self.grammar == "kept",
            why=why,
        )

    @property
    def adaptation(self) -> str:
        """How calls are asked for, in words."""
        return _DIALECT_WORDS[self.dialect]

    @property
    def unheeded(self) -> frozenset[str]:
        """Parameters that requests omit: those that the server refuses or ignores."""
        wasted = {"tools": self.tools, "response_format": self.json_schema}
        return frozenset(
            {*self.lacks, *(name for name, outcome in wasted.items() if outcome in ("ignored", "refused"))}
        )

    def age(self, now: datetime | None = None) -> str:
        """Return in words how long ago the server was probed."""
        now = datetime.now(UTC) if now is None else now
        days = (now - datetime.fromisoformat(self.probed)).days
        return "today" if days <= 0 else "yesterday" if days == 1 else f"{days} days ago"


def keep(abilities: Abilities, cache: Path) -> Path:
    """Store the abilities of a server, and return the file. Raises `OSError`, `BadOption`."""
    path = _path(cache, abilities.url, abilities.model)
    make_cache_folder(cache, _FOLDER)
    write_whole(path, abilities.model_dump_json(indent=2) + "\n")
    return path


def recall(cache: Path, url: str, model: str) -> Abilities | None:
    """Return the stored abilities of a server and model, or None if there are none of this version."""
    try:
        abilities = _read(_path(cache, url, model))
    except BadOption:  # another user may write there
        return None
    return abilities if abilities is not None and (abilities.url, abilities.model) == (url, model) else None


def recall_all(cache: Path) -> dict[tuple[str, str], Abilities]:
    """Return all stored abilities, by address and model."""
    try:
        read = [(file, _read(file)) for file in sorted(cache_folder(cache, _FOLDER).glob("*.json"))]
    except BadOption:  # another user may write there
        return {}
    known = {(abilities.url, abilities.model): (file, abilities) for file, abilities in read if abilities is not None}
    return {key: abilities for key, (file, abilities) in known.items() if _path(cache, *key) == file}


def _read(path: Path) -> Abilities | None:
    """Return the abilities in a file, or None: a broken cache is no cache."""
    try:
        abilities = Abilities.model_validate_json(path.read_bytes())
        datetime.fromisoformat(abilities.probed)
    except (OSError, ValidationError, ValueError):
        return None
    return abilities


def _path(cache: Path, url: str, model: str) -> Path:
    digest = hashlib.sha256(f"{url}\n{model}".encode()).hexdigest()
    return cache_folder(cache, _FOLDER) / f"{digest[:32]}.json"
