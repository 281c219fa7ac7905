"""The patterns of `.gitignore`, as git reads them; `--include` and `--exclude` are written the same way.

A pattern without a slash fits a name in any folder, one with a slash a path from the folder of its file. `*` and `?`
fit within a name, `**` fits any folders, a slash at the end says that only folders are meant, `!` takes back. The last
pattern that fits decides. Checked against `git check-ignore`.

Not by `pathspec`, whose expressions backtrack: `*a*a*a*a*a*a*a*a*b` keeps it busy for a second on a name of 40 letters,
four times as long with each further star, and a folder is a stranger's. Here that takes 10 microseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

GITIGNORE = ".gitignore"
MOST_BYTES = 1 << 18
"""Of a `.gitignore`; a larger one is no list that anybody wrote, and trying its patterns on each name takes minutes."""
MOST_PATTERNS = 2_000
"""Lines of a `.gitignore` that are read. Each pattern is tried on every name."""
_ANY_FOLDERS = None
_CLASSES = {
    **{"alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "space": r"\s"},
    **{"punct": r"!-/:-@\[-`{-~", "xdigit": "0-9A-Fa-f", "blank": r" \t"},
}


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern."""

    parts: tuple[re.Pattern[str] | None, ...]
    """Of each name of the path from the folder of the pattern; None for any number of folders."""
    is_negated: bool = False
    only_folders: bool = False

    def fits(self, names: Sequence[str], *, is_folder: bool, spells_dots: bool = False) -> bool:
        """Return whether the pattern fits a path, given by the names from the pattern's folder down.

        With `spells_dots` a name that begins with a dot is fitted by what begins with a dot alone, as in a shell.
        """
        if self.only_folders and not is_folder:
            return False
        if len(self.parts) == 2 and self.parts[0] is _ANY_FOLDERS and not spells_dots:  # most patterns are such
            name = self.parts[1]
            return name is _ANY_FOLDERS or name.fullmatch(names[-1]) is not None
        return len(self.parts) in self._places(names, spells_dots)

    def leads_to(self, names: Sequence[str]) -> bool:
        """Return whether the pattern names something within a folder, and this folder by name on the way to it.

        `.github/*.yml` leads to `.github`; `*.yml` and `**/x` lead nowhere in particular.
        """
        places = self._places(names, spells_dots=True)
        return any(0 < at < len(self.parts) and self.parts[at - 1] is not _ANY_FOLDERS for at in places)

    def _places(self, names: Sequence[str], spells_dots: bool) -> set[int]:
        """Return how many parts of the pattern the names may have used up."""
        places = self._past_folders({0})
        for name in names:
            step: set[int] = set()
            needs_dot = spells_dots and name.startswith(".")
            for at in places - {len(self.parts)}:
                part = self.parts[at]
                if part is _ANY_FOLDERS and not needs_dot:
                    step |= {at, at + 1} if at == len(self.parts) - 1 else {at}
                elif part is not _ANY_FOLDERS and (not needs_dot or part.pattern.startswith("\\.")):
                    step |= {at + 1} if part.fullmatch(name) else set()
            places = self._past_folders(step)
        return places

    def _past_folders(self, places: set[int]) -> set[int]:
        """Add the places behind `**`, which fits no folder too, unless it is last: `a/**` is what lies within `a`."""
        more = set(places)
        for at in places:
            while at < len(self.parts) - 1 and self.parts[at] is _ANY_FOLDERS:
                at += 1
                more.add(at)
        return more


def pattern_of(line: str) -> Pattern | None:
    """Return the pattern of a line of a `.gitignore`; None for a comment, an empty line, and what can fit nothing."""
    text = line.removesuffix("\r")
    if text.startswith("#"):
        return None
    while text.endswith(" ") and not text.endswith("\\ "):
        text = text[:-1]
    is_negated = text.startswith("!")
    text = text.removeprefix("!")
    only_folders = text.endswith("/")
    text = text.removesuffix("/")
    if not text:
        return None
    names = text.removeprefix("/").split("/")
    is_anchored = "/" in text
    parts: list[re.Pattern[str] | None] = [] if is_anchored else [_ANY_FOLDERS]
    for name in names:
        if name == "**" and is_anchored:
            parts.append(_ANY_FOLDERS)
            continue
        expression = _expression(name)
        if expression is None:
            return None
        parts.append(re.compile(expression, re.DOTALL))
    return Pattern(tuple(parts), is_negated, only_folders)


def _expression(glob: str) -> str | None:
    """Return the regular expression of a pattern for one name; None for one that fits nothing.

    What stands between two stars is tried from the left and never again, so that no name takes long.
    """
    pieces, piece, at = [], "", 0
    while at < len(glob):
        sign = glob[at]
        at += 1
        if sign == "*":
            pieces.append(piece)
            piece = ""
        elif sign == "?":
            piece += "."
        elif sign == "[":
            end, inside = _bracket(glob, at)
            if inside is None:
                return None
            piece += inside
            at = end
        elif sign == "\\":
            if at == len(glob):
                return None
            piece += re.escape(glob[at])
            at += 1
        else:
            piece += re.escape(sign)
    if not pieces:
        return piece
    first, *middle = pieces
    return first + "".join(f"(?>.*?{each})" for each in middle if each) + f".*{piece}"


def _bracket(glob: str, at: int) -> tuple[int, str | None]:
    """Return where a `[...]` ends and its expression; None where it does not end."""
    is_negated = glob[at : at + 1] in ("!", "^")
    at += is_negated
    inside, is_first = "", True
    while at < len(glob):
        sign = glob[at]
        if sign == "]" and not is_first:
            if not inside:
                return at + 1, "." if is_negated else "(?!)"
            return at + 1, f"[{'^' if is_negated else ''}{inside}]"
        is_first = False
        if glob.startswith("[:", at) and (end := glob.find(":]", at)) > 0:
            named = _CLASSES.get(glob[at + 2 : end])
            if named is None:
                return at, None
            inside += named
            at = end + 2
            continue
        first, at = _letter(glob, at)
        if glob[at : at + 1] == "-" and glob[at + 1 : at + 2] not in ("]", ""):
            last, at = _letter(glob, at + 1)
            if first <= last:
                inside += f"{re.escape(first)}-{re.escape(last)}"
            continue
        inside += re.escape(first)
    return at, None


def _letter(glob: str, at: int) -> tuple[str, int]:
    """Return a letter in a `[...]` and the place behind it."""
    if glob[at] == "\\" and at + 1 < len(glob):
        return glob[at + 1], at + 2
    return glob[at], at + 1


class Rules:
    """The patterns of one folder, in order."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._patterns = [pattern for line in lines if (pattern := pattern_of(line)) is not None]

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def verdict(self, names: Sequence[str], *, is_folder: bool, spells_dots: bool = False) -> bool | None:
        """Return whether the last pattern that fits a path names it or takes it back; None where none fits."""
        for pattern in reversed(self._patterns):
            if pattern.fits(names, is_folder=is_folder, spells_dots=spells_dots):
                return not pattern.is_negated
        return None

    def lead_to(self, names: Sequence[str]) -> bool:
        """Return whether a pattern names something within this folder, and the folder on the way to it."""
        return any(pattern.leads_to(names) for pattern in self._patterns)


def rules_of(folder: Path) -> Rules | None:
    """Return the rules of the `.gitignore` in a folder, None without one that can be read."""
    path = folder / GITIGNORE
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return None
        text = path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return None
    return Rules(text.removeprefix("\ufeff").split("\n")[:MOST_PATTERNS]) or None
