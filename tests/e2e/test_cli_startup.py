"""What a command loads as it starts: no more than it needs."""

import json
import os
import statistics
import subprocess
import sys
import time
from importlib import import_module

import pytest

from orienteer.ingest import import_graph
from orienteer.serve import COMMANDS, command_line, command_tables

RUN = """
import json, sys
from orienteer.__main__ import main
sys.argv = ["orienteer", *sys.argv[1:]]
code = main()
assert code == 0, code
print(json.dumps(list(sys.modules)), file=sys.stderr)
"""
HEAVY = {"rich", "openai", "httpx2", "pyarrow", "pandas", "onnxruntime", "fastapi", "mcp"}
OF_IMPORT = ("ingest.formats", "ingest.tables", "ingest.importer", "ingest.sources", "ingest.documents.read.files")
OF_OTHERS = ("evaluation.", "quizzes.", "training.", "agents.replay")


def loaded(*arguments):
    """Return the modules that a command has loaded when it ends."""
    command = [sys.executable, "-c", RUN, *map(str, arguments)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    assert ran.stdout
    return json.loads(ran.stderr.splitlines()[-1])


def cpu_seconds(*command, runs=7):
    """Return the median processor time of a command."""
    seconds = []
    for _ in range(runs + 1):
        before = os.times()
        subprocess.run(list(map(str, command)), check=True, capture_output=True, stdin=subprocess.DEVNULL)
        after = os.times()
        seconds.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return statistics.median(seconds[1:])  # the first writes bytecode


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """The folder of the cache, for all commands here."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ORIENTEER_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="module")
def ships(tmp_path_factory):
    """A folder with a graph in two tables, which is older than the grain of the clock of files."""
    folder = tmp_path_factory.mktemp("ships")
    (folder / "nodes.csv").write_text("id,name,type\n1,Ann,person\n2,Swift,ship\n3,Bob,person\n", encoding="utf-8")
    (folder / "edges.csv").write_text("source,target,type\n1,2,sails\n3,2,built\n", encoding="utf-8")
    time.sleep(0.06)
    return folder


@pytest.fixture(scope="module")
def graph(ships, cache):
    """The graph of these tables."""
    target = cache / "ships"
    import_graph([ships], target)
    return target


GROUPS = ("eval", "train", "trace", "cache")


def test_the_lines_of_the_help_are_those_of_the_commands():
    """The table that the help is made of repeats what the modules of the commands say, for it loads none of them."""
    tables = [COMMANDS, *command_tables().values()]
    for module, table in ((module, table) for tables_of in tables for module, table in tables_of.items()):
        lines = {name: line for name, line in table.items() if name not in GROUPS}
        commands = import_module(module).COMMANDS
        said = {name: (function.__doc__ or "").partition("\n")[0] for name, (function, _) in commands.items()}
        assert said == lines, module


def test_the_help_is_the_same_once_every_command_is_loaded():
    def shown(group):
        return group.make_context("orienteer", [], resilient_parsing=True).get_help()

    def whole(group):
        for command in group.commands.values():
            assert command.help
            if hasattr(command, "commands"):
                whole(command)
        return group

    root = command_line()
    root.list_commands(None)  # adds those of the annexes
    for group in (root, *map(root.commands.get, GROUPS)):
        assert shown(group) == shown(whole(group))


@pytest.mark.parametrize("arguments", [["--version"], ["--help"]])
def test_help_and_version_load_no_command(arguments):
    modules = loaded(*arguments)
    ours = {name.removeprefix("orienteer.") for name in modules if name.startswith("orienteer.")}
    assert ours <= {
        "__main__",
        "display",
        "errors",
        "faces",
        "serve",
        "serve.cli",
        "serve.cli.app",
        "serve.cli.output",
        "plugins",
        *(("lab", "lab.cli", "connect", "connect.cli") if "--help" in arguments else ()),
        "version",
    }
    assert not {"numpy", "pydantic", "rich"}.intersection(modules)


def nothing_of_an_import(modules):
    """Say whether these are the modules of a look at a graph, and no more."""
    ours = [name.removeprefix("orienteer.") for name in modules if name.startswith("orienteer.")]
    own = {name.rpartition(".")[2] for name in ours if name.startswith("serve.cli.")}
    return (
        not [name for name in ours if name.startswith((*OF_IMPORT, *OF_OTHERS))]
        and not HEAVY.intersection(modules)
        and not own.intersection(COMMANDS.keys() - {"ask", "graph"})
    )


@pytest.mark.parametrize(
    "command", [["ask", "Who sails Swift?"], ["ask", "Swift", "--method", "bm25"], ["search", "Swift"], ["show", "Ann"]]
)
def test_a_question_loads_nothing_of_an_import(command, graph):
    name, *words = command
    assert nothing_of_an_import(loaded(name, graph, *words))


def test_nor_does_a_question_to_a_folder_whose_graph_is_in_the_cache(ships, cache):
    assert not nothing_of_an_import(loaded("ask", ships, "Who sails Swift?"))
    assert nothing_of_an_import(loaded("ask", ships, "Who sails Swift?"))


def test_a_host_of_agents_waits_for_nothing_of_an_import(graph):
    pytest.importorskip("mcp")
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    first = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
    command = [sys.executable, "-c", RUN, "mcp", str(graph)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, input=f"{json.dumps(first)}\n")
    assert json.loads(ran.stdout)["result"]["serverInfo"]["name"]
    ours = [name.removeprefix("orienteer.") for name in json.loads(ran.stderr.splitlines()[-1])]
    assert not [name for name in ours if name.startswith(OF_IMPORT)]


def opening(graph):
    """Return a program that opens a graph and searches it."""
    return f"from orienteer import Graph; assert Graph.open({str(graph)!r}).search('Swift', 1)"


def test_opening_a_graph_loads_no_models_of_requests_and_nothing_that_writes(graph):
    """Of all modules, those of pydantic take the longest to load."""
    shown = f"{opening(graph)}; import json, sys; print(json.dumps(list(sys.modules)))"
    modules = json.loads(subprocess.run([sys.executable, "-c", shown], capture_output=True, check=True).stdout)
    ours = {name.rpartition(".")[2] for name in modules if name.startswith("orienteer.")}
    assert "store" in ours
    assert not {"records", "options", "settings", "builder", "postings"}.intersection(ours)
    assert not {"pydantic", *HEAVY}.intersection(modules)


@pytest.mark.timing
def test_opening_and_searching_costs_little_more_than_numpy(graph):
    """At most 1.6 times at rest (`benchmarks/store.py`)."""
    numpy = cpu_seconds(sys.executable, "-c", "import numpy")
    assert cpu_seconds(sys.executable, "-c", opening(graph)) < 1.8 * numpy


@pytest.mark.timing
def test_a_start_costs_little_more_than_what_it_cannot_do_without(graph):
    """The bounds are generous, for a machine may be busy; the tests above, which count modules, are exact."""
    bare = cpu_seconds(sys.executable, "-c", "import typer")
    needed = cpu_seconds(
        sys.executable, "-c", "import numpy, typer; from pydantic import BaseModel, TypeAdapter; TypeAdapter(int)"
    )
    orienteer = (sys.executable, "-m", "orienteer")
    assert cpu_seconds(*orienteer, "--version") < 1.6 * bare
    assert cpu_seconds(*orienteer, "--help") < 1.8 * bare
    assert cpu_seconds(*orienteer, "ask", graph, "Who sails Swift?") < 2.5 * needed
