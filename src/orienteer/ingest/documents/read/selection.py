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
    split: str = ""
    """The split to read from a source with splits, such as OTT-QA; None for all."""

    @model_validator(mode="after")
    def _check_patterns(self) -> Self:
        for option, globs in (("--include", self.include), ("--exclude", self.exclude)):
            for glob in globs:
                if (pattern := pattern_of(glob)) is None or pattern.is_negated:
                    raise BadOption(f"{option} {glob!r} fits no file: write a pattern such as '*.md', or 'docs/'")
        if self.split and self.is_given:
            raise BadOption("--split is of a source that is read as a whole: leave out --include and --exclude")
        return self

    @property
    def is_given(self) -> bool:
        """Return whether a person chose files by patterns."""
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
        """By the folder that they stand in, given by the names from the top of the repository."""
        self.read: list[Path] = []
        """The files that were read."""
        self._way: tuple[str, ...] = ()
        """The names from the top of the repository, which is the root itself where there is none, to the root."""
        folder = root.resolve()
        top = next((above for above in (folder, *folder.parents) if (above / GIT).exists()), folder)
        way = folder.relative_to(top).parts
        for length in range(len(way)):
            self._take(top.joinpath(*way[:length]), way[:length])
        if any(self.hold(way[:length], is_folder=True) for length in range(1, len(way) + 1)):
            self._rules.clear()  # whoever names an ignored folder means it
        self._way = way

    def enter(self, folder: Path, names: tuple[str, ...]) -> None:
        """Take in the rules of a folder beneath the root."""
        self._take(folder, (*self._way, *names))

    def hold(self, names: tuple[str, ...], *, is_folder: bool) -> bool:
        """Return whether a file or folder is ignored, by the nearest rules that say anything of it."""
        path = (*self._way, *names)
        for at in range(len(path) - 1, -1, -1):
            rules = self._rules.get(path[:at])
            if rules is not None and (verdict := rules.verdict(path[at:], is_folder=is_folder)) is not None:
                return verdict
        return False

    def _take(self, folder: Path, path: tuple[str, ...]) -> None:
        if (rules := rules_of(folder)) is not None:
            self._rules[path] = rules
            self.read.append(folder / GITIGNORE)
