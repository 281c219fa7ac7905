"""Which files of a folder are meant: patterns of a person, and what `.gitignore` names."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Self

from pydantic import model_validator

from orienteer.errors import BadOption
from orienteer.ingest.documents.read.ignore_rules import GITIGNORE, Rules, pattern_of, rules_of
from orienteer.options import Options

GIT = ".git"
"""What git keeps in a repository: never documents, whatever a person includes."""


class Selection(Options):
    """The files of a folder that a person means, by patterns as in a `.gitignore`; all visible ones without any."""

    include: tuple[str, ...] = ()
    """Only what these fit is read: also what is hidden, or named by a `.gitignore`."""
    exclude: tuple[str, ...] = ()
    """What these fit is not read, whatever `include` says."""

    @model_validator(mode="after")
    def _check_patterns(self) -> Self:
        for option, globs in (("--include", self.include), ("--exclude", self.exclude)):
            for glob in globs:
                if (pattern := pattern_of(glob)) is None or pattern.is_negated:
                    raise BadOption(f"{option} {glob!r} fits no file: write a pattern such as '*.md', or 'docs/'")
        return self

    @property
    def is_given(self) -> bool:
        """Return whether a person chose files at all."""
        return bool(self.include or self.exclude)

    @property
    def digest(self) -> str:
        """Return a few letters that stand for the patterns; nothing where there are none."""
        text = repr((sorted(self.include), sorted(self.exclude)))
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8] if self.is_given else ""

    @cached_property
    def included(self) -> Rules:
        """The patterns of what is read."""
        return Rules(self.include)

    @cached_property
    def excluded(self) -> Rules:
        """The patterns of what is not read."""
        return Rules(self.exclude)

    def names(self, path: Sequence[str], *, is_folder: bool) -> bool:
        """Return whether a person named this file or folder, hidden or not."""
        return bool(self.included.verdict(path, is_folder=is_folder, spells_dots=True))

    def leaves_out(self, path: Sequence[str], *, is_folder: bool) -> bool:
        """Return whether a person left out this file or folder."""
        return bool(self.excluded.verdict(path, is_folder=is_folder))


ALL = Selection()


class IgnoredNames:
    """What the `.gitignore` files of a folder, of those within it and of its repository name."""

    def __init__(self, root: Path) -> None:
        self._rules: dict[tuple[str, ...], Rules] = {}
        """By the folder that they stand in, given by the names beneath the root."""
        self._above: list[tuple[tuple[str, ...], Rules]] = []
        """Those of the folders that hold the root, nearest first, each with the names from there to the root."""
        self.read: list[Path] = []
        """The files that were read."""
        self._read_above(root)

    def enter(self, folder: Path, names: tuple[str, ...]) -> None:
        """Take in the rules of a folder beneath the root."""
        if (rules := self._rules_of(folder)) is not None:
            self._rules[names] = rules

    def hold(self, names: tuple[str, ...], *, is_folder: bool) -> bool:
        """Return whether a file or folder is ignored, by the nearest rules that say anything of it."""
        for at in range(len(names) - 1, -1, -1):
            if (rules := self._rules.get(names[:at])) is not None:
                verdict = rules.verdict(names[at:], is_folder=is_folder)
                if verdict is not None:
                    return verdict
        verdicts = (rules.verdict((*way, *names), is_folder=is_folder) for way, rules in self._above)
        return bool(next((verdict for verdict in verdicts if verdict is not None), False))

    def _rules_of(self, folder: Path) -> Rules | None:
        rules = rules_of(folder)
        if rules is not None:
            self.read.append(folder / GITIGNORE)
        return rules

    def _read_above(self, root: Path) -> None:
        """Read the rules between the root and the top of its repository, unless they ignore the root itself."""
        folder = root.resolve()
        way: tuple[str, ...] = ()
        above: list[tuple[tuple[str, ...], Rules]] = []
        while not (folder / GIT).exists():
            if folder.parent == folder:
                return  # no repository
            folder, way = folder.parent, (folder.name, *way)
            if (rules := self._rules_of(folder)) is not None:
                above.append((way, rules))
        self._above = above
        if any(self._holds_above(way[:length], len(way)) for length in range(1, len(way) + 1)):
            self._above = []

    def _holds_above(self, way: tuple[str, ...], whole: int) -> bool:
        """Return whether a folder on the way from the top of the repository to the root is ignored."""
        for far, rules in self._above:
            beneath = way[whole - len(far) :]
            if beneath and (verdict := rules.verdict(beneath, is_folder=True)) is not None:
                return verdict
        return False
