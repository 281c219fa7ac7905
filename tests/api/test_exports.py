"""The public names, where they live, and that importing them costs nothing."""

import ast
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

import orienteer

MODULES = {name: module for module, names in orienteer._HOMES.items() for name in names.split(", ")}
HEAVY = ("numpy", "httpx2", "pandas", "pyarrow", "pydantic", "rich", "typer")


def loaded_after(code):
    """Return the heavy packages that a fresh Python has loaded after this code, and what it printed."""
    ending = f"; import json, sys; print(json.dumps([name for name in {HEAVY} if name in sys.modules]))"
    ran = subprocess.run([sys.executable, "-c", code + ending], capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    *printed, last = ran.stdout.splitlines()
    return json.loads(last), printed


def names_for_type_checkers():
    """Return the module of each name that the package imports under `TYPE_CHECKING`."""
    tree = ast.parse(Path(orienteer.__file__).read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    return {
        alias.name: statement.module.removeprefix("orienteer.") for statement in block.body for alias in statement.names
    }


def test_all_is_sorted_and_every_name_is_there():
    assert sorted(orienteer.__all__) == orienteer.__all__
    for name in orienteer.__all__:
        assert getattr(orienteer, name) is not None
    assert dir(orienteer) == orienteer.__all__


def test_all_the_homes_and_the_types_agree():
    """A name that is in one of the three lists alone would be missing at run time, or for a type checker."""
    assert names_for_type_checkers() == MODULES
    assert sorted({*MODULES, "__version__"}) == orienteer.__all__
    assert len(", ".join(orienteer._HOMES.values()).split(", ")) == len(MODULES), "two modules are the home of one name"


@pytest.mark.parametrize("name", MODULES)
def test_a_name_is_at_home_in_its_module(name):
    """The module makes what it exports, under that very name, and documents it."""
    value = getattr(orienteer, name)
    assert value is getattr(import_module(f"orienteer.{MODULES[name]}"), name)
    if not get_args(value):  # a union of classes has neither
        assert value.__name__ == name
        assert value.__module__ == f"orienteer.{MODULES[name]}"
        assert value.__doc__


def test_what_is_not_public_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = orienteer.Nothing


@pytest.mark.process
def test_the_import_is_silent_and_loads_nothing_heavy():
    assert loaded_after("import orienteer") == ([], [])


@pytest.mark.process
def test_the_import_loads_nothing_of_ours_but_the_version_and_what_makes_faces():
    code = "import orienteer, sys; print(*sorted(name for name in sys.modules if name.startswith('orienteer')))"
    assert loaded_after(code)[1] == ["orienteer orienteer.faces orienteer.version"]


@pytest.mark.process
def test_reading_a_graph_loads_no_model_no_tables_no_terminal():
    loaded, printed = loaded_after("from orienteer import Budget, Graph, Retriever, Result")
    assert set(loaded) <= {"numpy", "pydantic"}
    assert printed == []


@pytest.mark.process
def test_a_query_command_loads_neither_openai_nor_pyarrow_nor_rich():
    code = "from orienteer.serve import main; main(['search', 'no such graph', 'x', '--json', '-q'])"
    ran = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; print([n for n in {HEAVY} if n in sys.modules])"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"httpx2", "pandas", "pyarrow", "rich"} & set(ran.stdout.strip("[]\n").replace("'", "").split(", "))


def test_the_version_is_a_version():
    major, minor, *_ = orienteer.__version__.split(".")
    assert major.isdecimal()
    assert minor.isdecimal()
