"""How large a source folder is, how tangled, and how many files one question runs through.

    python scripts/house.py [SRC ...] [--circles]

Give two folders to compare them, such as the `src` of a `git worktree` of an older commit and today's. The package is
only used by its public names, `Graph`, `Retriever` and `ScriptedModel`, and its command `demo`, so that a tree whose
modules were renamed can be measured too.

Imports of a circle are those at any depth of a file, those for type checkers included. `from a import b` is an import
of the module `a.b` where there is one, else of `a`; what importing `a.b` loads of `a` does not count.

The question is asked of the demo graph, in a process of its own, the first one there. A file is counted where a
function of it ran, in any thread, between the making of the `Retriever` and the end of its `search`: building the
method is a part of following a question through the code. Opening the graph is not, nor what a module or a class
runs when it is imported, nor what runs in a sandbox's process. `ark` and `graphscout` have a script for a model.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from importlib.util import resolve_name
from pathlib import Path
from types import FrameType
from typing import Any

PACKAGE = "orienteer"
LONG, SHORT = 300, 60
"""Lines above which a file is long, and below which it is short."""
QUESTION = "Which languages did Niklaus Wirth design?"
NODE, ANSWER = "person:niklaus-wirth", "language:pascal"
_CYPHER = f"MATCH (l:language)-[:designed_by]->(p:person {{id: '{NODE}'}}) RETURN l.id AS id, l.name AS name"
_SCRIPTS: Mapping[str, list[Any]] = {  # Any: a reply's text, or the name and arguments of its calls
    "ark": [
        [("search_in_graph", {"query": "Niklaus Wirth"})],
        [("search_in_neighborhood", {"node": NODE, "query": "language"})],
        [("add_to_answer", {"nodes": [ANSWER], "reasoning": "he designed it"})],
        [("finish", {})],
    ],
    "graphscout": [
        [("node_id_retriever", {"queries": ["Niklaus Wirth"], "topk": 1})],
        [("code_interpreter", {"code": f'print(cypher("{_CYPHER}"))'})],
        "\\answer{Pascal}",
    ],
}
OPTIONS: Mapping[str, dict[str, Any]] = {  # Any: an option's value
    "bm25": {},
    "hippo": {},
    "ark": {"agents": 1},
    "anchor": {},
    "graphscout": {"tier": "monty"},
}


def main() -> None:
    """Print a column for each folder; or, as `--probe`, the files of one question."""
    parser = argparse.ArgumentParser(description="Count files, circles of imports, and the files of one question.")
    parser.add_argument("folders", nargs="*", type=Path, default=[Path("src")], metavar="SRC")
    parser.add_argument("--circles", action="store_true", help="list the files of each circle too")
    parser.add_argument("--probe", nargs=2, metavar=("METHOD", "GRAPH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.probe:
        print(json.dumps(probe(*options.probe)))
        return
    folders = [folder.resolve() for folder in options.folders]
    columns = [figures(folder) for folder in folders]
    labels = [folder.parent.name if folder.name == "src" else folder.name for folder in folders]
    print(f"{'':32}" + "".join(f"{label[-13:]:>14}" for label in labels))
    for name in columns[0]:
        cells = ["-" if column[name] is None else f"{column[name]:,}" for column in columns]
        print(f"{name:32}" + "".join(f"{cell:>14}" for cell in cells))
    if options.circles:
        for folder in folders:
            print(f"\n{folder}", *(" <-> ".join(circle) for circle in circles(sources(folder))), sep="\n")


def figures(folder: Path) -> dict[str, int | None]:
    """Return the figures of one source folder by name; None where a question failed, with its error printed."""
    package = folder / PACKAGE
    if not (package / "__init__.py").is_file():
        raise SystemExit(f"{folder} holds no package {PACKAGE}: give the folder above it, such as src")
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in package.rglob("*.py")}
    rings = circles(sources(folder))
    counts: dict[str, int | None] = {
        "files": len(lines),
        "lines": sum(lines.values()),
        f"files over {LONG} lines": sum(count > LONG for count in lines.values()),
        f"files under {SHORT} lines": sum(count < SHORT for count in lines.values()),
        "circles of imports": len(rings),
        "files in circles": sum(map(len, rings)),
        "modules at the root": sum(not path.stem.startswith("__") for path in package.glob("*.py")),
    }
    ran = questions(folder)
    counts |= {f"{method}: files run": None if paths is None else len(paths) for method, paths in ran.items()}
    for method, paths in ran.items():
        counts[f"{method}: lines in them"] = None if paths is None else sum(lines[Path(path)] for path in paths)
    return counts


# ----------------------------------------------------------------------------------------------------------- imports


def sources(folder: Path) -> dict[str, Path]:
    """Return the files of a package by the name of their module."""
    paths = sorted((folder / PACKAGE).rglob("*.py"))
    return {".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def imported(name: str, path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    """Yield the modules of the package that a file imports, wherever the import stands in it."""
    parent = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            home = resolve_name("." * node.level + (node.module or ""), parent)
            parts = (f"{home}.{alias.name}" for alias in node.names)
            yield from (part if part in modules else home for part in parts if part in modules or home in modules)


def circles(modules: Mapping[str, Path]) -> list[list[str]]:
    """Return the sets of modules that all reach one another by imports, the largest first."""
    arrows = {name: set(imported(name, path, modules)) - {name} for name, path in modules.items()}
    reached: dict[str, set[str]] = {}
    for name in arrows:
        reached[name], waiting = set(), [name]
        while waiting:
            fresh = arrows[waiting.pop()] - reached[name]
            reached[name] |= fresh
            waiting += fresh
    rings = {frozenset(other for other in reached[name] if name in reached[other]) for name in arrows}
    return sorted((sorted(ring) for ring in rings if ring), key=lambda ring: (-len(ring), ring))


# ---------------------------------------------------------------------------------------------------------- questions


def questions(folder: Path) -> dict[str, list[str] | None]:
    """Return the paths of the files that ran for each method's question; None where it failed."""
    ran: dict[str, list[str] | None] = {}
    with tempfile.TemporaryDirectory(prefix="orienteer-house-") as scratch:
        # Nobody's settings count: neither the environment's nor those of a working directory.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ORIENTEER_")}
        environment |= {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "ORIENTEER_CACHE": scratch}

        def run(*arguments: str) -> subprocess.CompletedProcess[str]:
            command = [sys.executable, *arguments]
            return subprocess.run(command, cwd=scratch, env=environment, capture_output=True, text=True, check=False)

        made = run("-m", PACKAGE, "demo")
        graph = next(Path(scratch).glob("graphs/demo-*"), None)
        if graph is None:
            raise SystemExit(f"{folder}: `{PACKAGE} demo` made no graph: {made.stderr.strip()}")
        for method in OPTIONS:
            done = run(str(Path(__file__).resolve()), "--probe", method, str(graph))
            ran[method] = None if done.returncode else json.loads(done.stdout)
            if done.returncode:
                sys.stderr.write(f"{folder}: {method} failed: {done.stderr.strip().rpartition(chr(10))[2]}\n")
    return ran


def probe(method: str, path: str) -> list[str]:
    """Ask one question of the package that PYTHONPATH names; return the files of it that ran."""
    from orienteer import Graph, Retriever, ScriptedModel

    graph, script, codes = Graph.open(path), _SCRIPTS.get(method), set()
    model = ScriptedModel(lambda messages, tools, sampling: _reply(method, script, messages)) if script else None

    importing = threading.local()  # how many modules a thread is running now: what they call is no step of the question

    def note(frame: FrameType, event: str, argument: object) -> None:
        if frame.f_code.co_name == "<module>" and event in ("call", "return"):
            importing.depth = getattr(importing, "depth", 0) + (1 if event == "call" else -1)
        elif event == "call" and not getattr(importing, "depth", 0):
            codes.add(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    result = Retriever(graph, method, model=model, **OPTIONS[method]).search(QUESTION, 5)
    sys.setprofile(None)
    errors = [
        seen.text for course in result.trajectories for step in course.steps for seen in step.observations if seen.error
    ]
    if not result.hits or errors:
        raise SystemExit(f"the question was not answered as it should be: {errors or 'no hits'}")
    package = Path(os.environ["PYTHONPATH"], PACKAGE)
    ran = {code.co_filename for code in codes if code.co_flags & inspect.CO_OPTIMIZED}  # functions, not modules
    return sorted(name for name in ran if Path(name).is_relative_to(package))


def _reply(method: str, script: list[Any], messages: Any) -> Any:  # Any: see _SCRIPTS
    """Return the next reply; graphscout's calls as the text that it reads."""
    reply = script[sum(message.role == "assistant" for message in messages)]
    if method != "graphscout" or isinstance(reply, str):
        return reply
    calls = (json.dumps({"name": name, "arguments": arguments}) for name, arguments in reply)
    return "\n".join(f"<tool_call>\n{call}\n</tool_call>" for call in calls)


if __name__ == "__main__":
    main()
