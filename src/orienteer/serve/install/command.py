"""What an entry says: the command that starts the server of a graph, the entry's name, and whether it is ours."""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
import unicodedata
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from itertools import count
from pathlib import Path, PureWindowsPath
from typing import Any

from orienteer.errors import BadInput
from orienteer.serve.install.edits import NotOurs
from orienteer.version import __version__

PACKAGE = "orienteer"
_NAME = re.compile(r"orienteer(?:-[a-z0-9-]+)?")
_NAME_CHARACTERS = 24
"""Of a graph's folder in an entry's name: agents join it to the names of tools, and end at 60 to 64 characters."""


def launcher(*, whole_path: bool) -> tuple[str, ...]:
    """Return the words that start `orienteer`, whoever runs them and from wherever.

    That is `uvx` with this very version where it is on the path; else, and where this package came from no index (an
    editable installation, a wheel), the program beside this interpreter.
    """
    uvx = shutil.which("uvx")
    if uvx is not None and _is_of_an_index():
        return (uvx if whole_path else "uvx", "--from", f"{PACKAGE}[mcp]=={__version__}", PACKAGE)
    program = Path(sysconfig.get_path("scripts")) / (f"{PACKAGE}.exe" if sys.platform == "win32" else PACKAGE)
    return (str(program),) if program.is_file() else (sys.executable, "-m", PACKAGE)


def server_words(start: tuple[str, ...], directory: Path) -> tuple[str, ...]:
    """Return the command of a graph's server, by the words that start `orienteer`. Raises `BadInput`."""
    try:
        str(directory).encode()
    except UnicodeEncodeError as error:
        raise BadInput(f"{directory} has a name that is no UTF-8: rename it, or make a link to it") from error
    return (*start, "mcp", str(directory))


def absolute(directory: Path) -> Path:
    """Return an absolute path without `..`; a link that is named stays one, so that what it leads to can change."""
    if directory.name in {"", ".."}:
        return directory.resolve()
    return directory.parent.resolve() / directory.name


def served_graphs(entry: object) -> tuple[str, ...] | None:
    """Return what an entry serves, the words after `orienteer mcp` in its command; None where it has none such."""
    if not isinstance(entry, Mapping):
        return None
    command, arguments = entry.get("command"), entry.get("args")
    words = command if isinstance(command, list) else [command, *(arguments if isinstance(arguments, list) else [])]
    for place, word in enumerate(words[:-1]):
        is_program = isinstance(word, str) and PureWindowsPath(word).name in {PACKAGE, f"{PACKAGE}.exe"}
        if is_program and words[place + 1] == "mcp":
            return tuple(str(graph) for graph in words[place + 2 :])
    return None


def own_names(servers: Mapping[str, Any], directory: Path | None = None) -> list[str]:  # Any: other people's entries
    """Return the names of the entries that are ours, or of those alone that serve a graph."""
    return [
        name
        for name, entry in servers.items()
        if _NAME.fullmatch(name)
        and (graphs := served_graphs(entry)) is not None
        and (directory is None or str(directory) in graphs)
    ]


def name_for(directory: Path, servers: Mapping[str, Any]) -> str:  # Any: as above
    """Return the name of a graph's entry among the servers of a file.

    It is the one that it has; else one out of its folder's name, with a number where another graph has that already.
    An entry of ours whose graphs are gone is free. Raises `NotOurs` where an entry of that name is not ours.
    """
    if own := own_names(servers, directory):
        return own[0]
    base = entry_name(directory)
    for number in count(1):
        name = base if number == 1 else f"{base}-{number}"
        if name not in servers:
            return name
        graphs = served_graphs(servers[name])
        if graphs is None:
            raise NotOurs(f"its entry {name!r} is not ours; rename that to have both")
        if not any(os.path.lexists(graph) for graph in graphs):
            return name
    raise AssertionError("numbers do not end")


def entry_name(directory: Path) -> str:
    """Return a name for the entry of a graph: letters, digits and hyphens, as every agent takes them.

    >>> entry_name(Path("/graphs/My notes 2.1"))
    'orienteer-my-notes-2-1'
    """
    plain = unicodedata.normalize("NFKD", directory.name).encode("ascii", "ignore").decode()
    word = re.sub(r"[^a-z0-9]+", "-", plain.lower())[:_NAME_CHARACTERS].strip("-")
    return f"{PACKAGE}-{word}" if word else PACKAGE


def _is_of_an_index() -> bool:
    """Tell whether this package was installed from an index, where others find the same version."""
    try:
        return distribution(PACKAGE).read_text("direct_url.json") is None
    except PackageNotFoundError:
        return False
