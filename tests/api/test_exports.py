"""The public names, and that importing them costs nothing."""

import json
import subprocess
import sys

import pytest

import orienteer

HEAVY = ("numpy", "openai", "pandas", "pyarrow", "pydantic", "rich", "typer")


def loaded_after(code):
    """Return the heavy packages that a fresh Python has loaded after this code, and what it printed."""
    ending = f"; import json, sys; print(json.dumps([name for name in {HEAVY} if name in sys.modules]))"
    ran = subprocess.run([sys.executable, "-c", code + ending], capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    *printed, last = ran.stdout.splitlines()
    return json.loads(last), printed


def test_all_is_sorted_and_every_name_is_there():
    assert sorted(orienteer.__all__) == orienteer.__all__
    for name in orienteer.__all__:
        assert getattr(orienteer, name) is not None
    assert dir(orienteer) == orienteer.__all__


def test_what_is_not_public_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = orienteer.Nothing


def test_the_names_that_the_documents_promise():
    promised = {"Budget", "Edge", "Error", "Graph", "Node", "Ranked", "Result", "Retriever", "Schema", "Trajectory"}
    assert promised <= set(orienteer.__all__)


def test_the_import_is_silent_and_loads_nothing_heavy():
    assert loaded_after("import orienteer") == ([], [])


def test_reading_a_graph_loads_no_model_no_tables_no_terminal():
    loaded, printed = loaded_after("from orienteer import Budget, Graph, Retriever, Result")
    assert set(loaded) <= {"numpy", "pydantic"}
    assert printed == []


def test_a_query_command_loads_neither_openai_nor_pyarrow_nor_rich():
    code = "from orienteer.serve.cli.app import main; main(['search', 'no such graph', 'x', '--json', '-q'])"
    ran = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; print([n for n in {HEAVY} if n in sys.modules])"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"openai", "pandas", "pyarrow", "rich"} & set(ran.stdout.strip("[]\n").replace("'", "").split(", "))


def test_the_version_is_a_version():
    major, minor, *_ = orienteer.__version__.split(".")
    assert major.isdecimal()
    assert minor.isdecimal()
