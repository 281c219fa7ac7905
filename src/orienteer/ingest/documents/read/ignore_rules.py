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
from functools import cached_property, lru_cache
from pathlib import Path

GITIGNORE = ".gitignore"
MOST_BYTES = 1 << 18
"""Of a `.gitignore`; a larger one is no list that anybody wrote, and trying its patterns on each name takes minutes."""
MOST_PATTERNS = 2_000
"""Lines of a `.gitignore` that are read. Each pattern is tried on every name."""
_CLASSES = {
    **{"alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "space": r"\s"},
    **{"punct": r"!-/:-@\[-`{-~", "xdigit": "0-9A-Fa-f", "blank": r" \t"},
}
_DOT = "\\."
_RANGE = r"(?:-(?:\\.|[^\]]))?"
_SIGN = re.compile(
    r"(?P<stars>\*+)|(?P<one>\?)|\\(?P<escaped>.)"
    rf"|\[(?P<negated>[!^]?)(?P<set>(?:\]{_RANGE})?+(?:\[:[^\]]*:\]|(?:\\.|[^\]]){_RANGE})*+)\]|(?P<plain>[^\[\\])",
    re.DOTALL,
)
"""A sign of a pattern, with all that belongs to it."""
_INSIDE = re.compile(r"\[:(?P<name>[^\]]*):\]|\\?(?P<first>.)(?:-\\?(?P<last>.))?", re.DOTALL)
"""What stands in a `[...]`."""


@dataclass(frozen=True)
class Pattern:
    """One pattern."""

    parts: tuple[str | None, ...]
    """The expression of each name of the path from the folder of the pattern; None for any number of folders."""
    is_negated: bool = False
    only_folders: bool = False

    def fits(self, names: Sequence[str], *, is_folder: bool, spells_dots: bool = False) -> bool:
        """Return whether the pattern fits a path, given by the names from the pattern's folder down.

        With `spells_dots` a name that begins with a dot is fitted by what begins with a dot alone, as in a shell.
        """
        if self.only_folders and not is_folder:
            return False
        path = _compiled(self.parts, spells_dots=True) if spells_dots else self._path
        return path.fullmatch(_joined(names)) is not None

    def leads_to(self, names: Sequence[str]) -> bool:
        """Return whether the pattern names something within a folder, and this folder by name on the way to it.

        `.github/*.yml` leads to `.github`; `*.yml` and `**/x` lead nowhere in particular.
        """
        named = [part is not None for part in self.parts]
        ways = (self.parts[:at] for at in range(1, 1 + len(named)) if (at < len(named) if named[at - 1] else at > 1))
        return any(_compiled(way, spells_dots=True).fullmatch(_joined(names)) for way in ways)

    @cached_property
    def _path(self) -> re.Pattern[str]:
        return _compiled(self.parts)


def _joined(names: Sequence[str]) -> str:
    return "".join(f"{name}/" for name in names)


@lru_cache(maxsize=256)  # of patterns that a person gives
def _compiled(parts: tuple[str | None, ...], *, spells_dots: bool = False) -> re.Pattern[str]:
    """Return the expression of a path, each name of which has a slash behind it."""
    no_dot = r"(?!\.)" if spells_dots else ""
    runs = [""]
    for part in parts:
        if part is None:
            runs.append("")
        else:
            runs[-1] += f"{'' if part.startswith(_DOT) else no_dot}{part}/"
    folder = f"(?:{no_dot}[^/]+/)"
    return re.compile(_parted([*runs[:-1], runs[-1] or folder], folder), re.DOTALL)


def _parted(pieces: Sequence[str], one: str) -> str:
    """Return the expression of pieces with any number of one thing between them.

    What stands between two such is tried from the left and never again, so that no name takes long.
    """
    first, *others = pieces
    middle = "".join(f"(?>{one}*?{piece})" for piece in others[:-1])
    return f"{first}{middle}{one}*{others[-1]}" if others else first


def pattern_of(line: str) -> Pattern | None:
    """Return the pattern of a line of a `.gitignore`; None for a comment, an empty line, and what can fit nothing."""
    text = line.removesuffix("\r")
    while text.endswith(" ") and not text.endswith("\\ "):
        text = text[:-1]
    is_negated, only_folders = text.startswith("!"), text.endswith("/")
    text = text.removeprefix("!").removesuffix("/")
    if not text or line.startswith("#"):
        return None
    is_anchored = "/" in text
    parts: list[str | None] = [] if is_anchored else [None]
    for name in text.removeprefix("/").split("/"):
        expression = None if name == "**" and is_anchored else _expression(name)
        if expression == "":
            return None
        if parts[-1:] != [None] or expression is not None:
            parts.append(expression)
    return Pattern(tuple(parts), is_negated, only_folders)


def _expression(glob: str) -> str:
    """Return the regular expression of a pattern for one name, empty for one that fits nothing."""
    pieces, at = [""], 0
    while at < len(glob):
        sign = _SIGN.match(glob, at)
        inside = None if sign is None or sign["set"] is None else _set(sign["set"], is_negated=bool(sign["negated"]))
        if sign is None or inside == "":
            return ""
        at = sign.end()
        if sign["stars"]:
            pieces.append("")
        else:
            pieces[-1] += inside or ("[^/]" if sign["one"] else re.escape(sign["escaped"] or sign["plain"]))
    return _parted(pieces, "[^/]")


def _set(text: str, *, is_negated: bool) -> str:
    """Return the expression of what stands in a `[...]`, empty for a class that is none."""
    inside = ""
    for one in _INSIDE.finditer(text):
        if one["name"] is not None:
            if one["name"] not in _CLASSES:
                return ""
            inside += _CLASSES[one["name"]]
        elif one["last"] is None or one["first"] <= one["last"]:
            inside += re.escape(one["first"]) + (f"-{re.escape(one['last'])}" if one["last"] else "")
    if not inside:
        return "[^/]" if is_negated else "(?!)"
    return f"(?!/)[{'^' if is_negated else ''}{inside}]"


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
