"""The faces of the packages: what they export, and that tests ask for nothing that is behind them."""

import ast
import re
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import pytest

import orienteer

PACKAGE = Path(orienteer.__file__).parent
ROOT = Path(__file__).parents[2]
OPEN = "orienteer.adapters."  # users import these modules by name, since each needs its own framework
IMPORT = re.compile(r"from (orienteer(?:\.lab)?\.\w+) import \(?([\w, ]+)")


def module_name(file):
    return ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


FILES = {module_name(file): file for file in PACKAGE.rglob("*.py")}
FACES = sorted(
    module_name(file)
    for file in PACKAGE.rglob("*/__init__.py")
    if "= face(" in file.read_text("utf-8") and file.parent != PACKAGE
)


def is_deep(name):
    """Return whether a name is one of a module that only its own package may know."""
    depth = 2 if name.startswith("orienteer.lab.") else 1
    return name in FILES and name.count(".") > depth and not name.startswith(OPEN)


def deep_imports(text):
    """Return the lines with what they name: modules behind a face, imported or named in a string."""
    found = []
    for node in ast.walk(ast.parse(text)):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            for dotted in re.findall(r"\borienteer(?:\.\w+){2,}", node.value):
                parts = dotted.split(".")
                names += [".".join(parts[:count]) for count in range(3, len(parts) + 1)]
            names += [f"{package}.{name.split()[0]}" for package, name in imported_in(node.value)]
        found += [(node.lineno, name) for name in names if is_deep(name)]
    return found


def imported_in(text):
    """Yield package and name of the imports that are written in a string: programs for another process."""
    for package, names in IMPORT.findall(text):
        yield from ((package, name.strip()) for name in names.split(",") if name.strip())


@pytest.mark.parametrize(
    "line",
    [
        "from orienteer.graph.store import Graph",
        "from orienteer.graph import store",
        "import orienteer.graph.store as store",
        "def test():\n    from orienteer.serve.cli import app",
        "monkeypatch.setattr('orienteer.graph.store.Graph', None)",
        "program = 'import sys; from orienteer.graph.store import Graph'",
        "program = 'from orienteer.graph import store'",
        "program = 'python -m orienteer.serve.cli.app'",
    ],
)
def test_a_planted_deep_import_is_found(line):
    assert deep_imports(line)


@pytest.mark.parametrize(
    "line",
    [
        "from orienteer.graph import Graph",
        "from orienteer import Graph, errors",
        "from orienteer.adapters.dspy import OrienteerRetriever",
        "logger = 'orienteer.serve'",
        "program = 'from orienteer.graph import Graph'",
    ],
)
def test_what_is_at_a_door_is_not(line):
    assert not deep_imports(line)


@pytest.mark.slow
def test_tests_import_no_module_behind_a_face():
    """Import the name from its package; if it is not there yet, add it to the face in the package's `__init__.py`."""
    found = [
        f"{file.relative_to(ROOT)}:{line} {name}"
        for file in sorted((ROOT / "tests").rglob("*.py"))
        if file != Path(__file__)
        for line, name in deep_imports(file.read_text("utf-8"))
    ]
    assert not found, "\n".join(found)


def homes_of(package):
    """Return where the names of a face are: name -> module, name there."""
    tree = ast.parse(FILES[package].read_text("utf-8"))
    [call] = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "face"]
    found = {}
    for module, names in ast.literal_eval(call.args[1]).items():
        for name, _, public in (entry.partition(" as ") for entry in names.split(", ")):
            assert (public or name) not in found, f"{package} exports two names {public or name}"
            found[public or name] = (f"{package}.{module}", name)
    return found


def made_in(module):
    """Return the names that a module makes at its top level."""
    names = set()
    statements = list(ast.parse(FILES[module].read_text("utf-8")).body)
    while statements:
        node = statements.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
        elif isinstance(node, ast.If | ast.Try):
            statements += [*node.body, *node.orelse]
    return names


@pytest.mark.parametrize("package", FACES)
def test_every_name_of_a_face_is_made_in_its_module_and_hidden_by_none(package):
    homes = homes_of(package)
    assert dir(import_module(package)) == import_module(package).__all__ == sorted(homes)
    wrong = {public for public, (module, name) in homes.items() if name not in made_in(module)}
    assert not wrong, "a module exports only what it makes itself"
    hidden = {public for public in homes if f"{package}.{public}" in FILES}
    assert not hidden, "a module of this name would take its place once it is imported"
    private = {public for public, (_, name) in homes.items() if name.startswith("_")}
    assert not private


@pytest.mark.slow
def test_a_face_exports_what_others_use_and_no_more():
    used = defaultdict(set)
    for folder in ("src", "tests", "benchmarks", "scripts"):
        for file in (ROOT / folder).rglob("*.py"):
            home = module_name(file) if folder == "src" else ""
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.ImportFrom) and node.module and not home.startswith(node.module):
                    used[node.module] |= {alias.name for alias in node.names}
                elif isinstance(node, ast.Constant) and isinstance(node.value, str) and folder == "tests":
                    for package, name in imported_in(node.value):
                        used[package].add(name.split()[0])
    unused = {f"{package}.{name}" for package in FACES for name in set(homes_of(package)) - used[package]}
    assert not unused


def test_what_a_face_does_not_have_is_an_error_that_names_it():
    with pytest.raises(ImportError, match="cannot import name 'Nothing' from 'orienteer.graph'"):
        from orienteer.graph import Nothing  # noqa: F401
    with pytest.raises(AttributeError, match="module 'orienteer.graph' has no attribute 'Nothing'"):
        _ = import_module("orienteer.graph").Nothing
