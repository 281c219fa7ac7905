"""What the figures of a run depend on: hashes of graph and prompts, versions; whether the conditions of two agree."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypedDict

from orienteer.graph.store import Graph
from orienteer.lab.evaluation.running.runs import RunManifest
from orienteer.llm.prompts import prompts_of
from orienteer.methods.table import METHODS
from orienteer.retrieval.bases.table import BASES

_FIXED = ("graph_sha256", "questions_sha256", "dataset", "split", "where", "k", "random_seed", "answers", "orienteer")
_OF_THE_MODEL = ("model", "budget", "dialect")  # say nothing of a run without one
_SHOWN = 100  # characters of a value in a message
_HASHED = 12  # digits of a hash that are shown


def graph_hash(graph: Graph) -> str:
    """Return a sha256 over all that a graph holds, but for where and when it was made: equal graphs have equal ones."""
    content = graph.arrays.manifest.model_dump(mode="json", exclude={"generation", "created", "made_by", "provenance"})
    if not content["partial"]:  # a graph that is whole has the hash that it had before there were partial ones
        del content["partial"]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def prompt_hashes(methods: Iterable[str], *, answers: bool) -> dict[str, str]:
    """Return the sha256 of each prompt of these methods, and of the prompt for answers where there are any.

    The prompts of a method are the files that bear its name: `ark.md`, `ark-faithful.md`; a method over another has
    those of both. A file that bears no method's name is shared by all that need a model, or by all retrievers.
    """
    names = {part for method in methods for part in method.split(":")} | ({"answer"} if answers else set())
    needs_model = any(METHODS[name].needs_model for name in names if name in METHODS)
    shared = {"orienteer.methods": needs_model, "orienteer.retrieval": bool(names & {*BASES, "graphsearch"})}
    prompts = [(prompt, is_shared) for package, is_shared in shared.items() for prompt in prompts_of(package)]
    return {
        f"{prompt.name}.md": prompt.sha256
        for prompt, is_shared in prompts
        if _bears(prompt.name, names) or (is_shared and not _bears(prompt.name, {*METHODS, "answer"}))
    }


def _bears(prompt_name: str, names: Iterable[str]) -> bool:
    return any(f"{prompt_name}-".startswith(f"{name}-") for name in names)


class Versions(TypedDict):
    """The fields of a manifest that tell with what, and when, figures were made."""

    orienteer: str
    python: str
    commit: str | None
    created: str


def versions() -> Versions:
    """Return the fields of a manifest that tell with what, and when, figures were made."""
    from orienteer.version import __version__

    return {
        "orienteer": __version__,
        "python": platform.python_version(),
        "commit": _commit(),
        "created": now(),
    }


def now() -> str:
    """Return the time as it is written down."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def differences(old: RunManifest, new: RunManifest) -> list[str]:
    """Say in which conditions two manifests differ so that their results may not stand in one run.

    More methods, more questions of the same draw, another address of the model and another commit are none.
    """
    names = list(_FIXED)
    if old.model is not None and new.model is not None:
        names += _OF_THE_MODEL
    sentences = [
        _difference(name, getattr(old, name), getattr(new, name))
        for name in names
        if getattr(old, name) != getattr(new, name)
    ]
    if old.limit is not None and new.limit is not None and new.limit < old.limit:
        sentences.append(_difference("limit", old.limit, new.limit))
    if new.count < old.count and not sentences:
        sentences.append(_difference("the number of questions", old.count, new.count))
    for label in [label for label in old.methods if label in new.methods]:
        sentences += [
            f"{label!r}: {sentence}"
            for sentence in _option_differences(old.methods[label], new.methods[label], sentences)
        ]
    for name in sorted(old.prompts.keys() & new.prompts.keys()):
        if old.prompts[name] != new.prompts[name]:
            sentences.append(
                _difference(f"the prompt {name}", old.prompts[name][:_HASHED], new.prompts[name][:_HASHED])
            )
    return sentences


def joined(old: RunManifest, new: RunManifest) -> RunManifest:
    """Return the manifest of a run that goes on: the old one with what is new, which its notes tell."""
    notes = [*old.notes]
    for name in ("commit", "python", "base_url"):
        was, is_ = getattr(old, name), getattr(new, name)
        if is_ is not None and was is not None and is_ != was:
            notes.append(f"gone on with {name} {is_} on {new.created}")
    has_model = old.model is not None
    return old.model_copy(
        update={
            "methods": {**old.methods, **new.methods},
            "prompts": {**old.prompts, **new.prompts},
            "limit": new.limit,
            "count": new.count,
            "model": old.model if has_model else new.model,
            "budget": old.budget if has_model else new.budget,
            "base_url": old.base_url if has_model else new.base_url,
            "dialect": old.dialect if has_model else new.dialect,
            "notes": tuple(dict.fromkeys([*notes, *new.notes])),
        }
    )


def _option_differences(old: dict[str, Any], new: dict[str, Any], known_sentences: list[str]) -> list[str]:  # Any: JSON
    """Say in which options two settings of a method differ, but for what was said of the whole run: k."""
    names = [name for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name)]
    sentences = [_difference(name, old.get(name), new.get(name)) for name in names]
    return [sentence for sentence in sentences if sentence not in known_sentences]


def _difference(name: str, old: object, new: object) -> str:
    if name.endswith("_sha256"):
        return f"the {name.removesuffix('_sha256')} changed ({str(old)[:_HASHED]} then, {str(new)[:_HASHED]} now)"
    return f"{name} was {_written(old)} and is {_written(new)}"


def _written(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _commit() -> str | None:
    """Return the commit of the checkout that runs, marked where files differ from it; None outside of one."""
    root = Path(__file__).resolve().parents[5]
    if not (root / ".git").exists():
        return None
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() or None
