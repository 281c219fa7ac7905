"""What the command line prints, apart from what this machine has set."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from orienteer.serve import command_line, main

COLUMNS = 100


def printed(*arguments: object, cache: Path | None = None) -> str:
    """Return what a command prints, run in this process, in lines of a fixed width and without colours."""
    out, err = io.StringIO(), io.StringIO()
    settings = {"COLUMNS": str(COLUMNS), "NO_COLOR": "1", "TERM": "dumb"}
    if cache is not None:
        settings |= {"ORIENTEER_CACHE": str(cache), "XDG_CONFIG_HOME": str(cache / "config")}
    with _environment(settings), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    if code:
        raise AssertionError(f"orienteer {' '.join(map(str, arguments))} ended with {code}: {err.getvalue()}")
    return out.getvalue()


def help_tree() -> str:
    """Return the help of the command line, and of all its commands in their order."""
    root = command_line()
    root.list_commands(None)  # adds those of the annexes
    paths = _paths(root)
    return "\n".join(f"$ {' '.join(('orienteer', *path))} --help\n{printed(*path, '--help')}" for path in paths)


def methods() -> str:
    """Return what `methods --all --json` prints, a line each method and each of its options."""
    lines = []
    for method in json.loads(printed("methods", "--all", "--json")):
        options = [f"  {json.dumps(option, ensure_ascii=False)}" for option in method.pop("options")]
        head = json.dumps(method, ensure_ascii=False)[:-1]
        lines.append(f'{head}, "options": [' + ",".join(f"\n{option}" for option in options) + "]}")
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _paths(command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, inner in getattr(command, "commands", {}).items():
        yield from _paths(inner, (*path, name))


@contextlib.contextmanager
def _environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Have these variables set, and none that sets anything of ours, for as long as it lasts."""
    before = dict(os.environ)
    for name in before:
        if name.startswith(("ORIENTEER_", "OPENAI_", "FORCE_COLOR", "_ORIENTEER")):
            del os.environ[name]
    os.environ.update(settings)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
