"""docs/interface.md names every command, option, setting, method, public name and error: and nothing that is not.

Other pages name every retriever, format and layer.
"""

import re
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

import orienteer
from orienteer import errors, settings
from orienteer.agents import Event
from orienteer.ingest import (
    CONTAINER_SUFFIXES,
    DATABASE_SUFFIXES,
    FORMATS,
    GRAPH_SUFFIXES,
    RDF_SUFFIXES,
    BuildConfig,
    BuildEstimate,
    BuildReport,
    CostEstimate,
    ExtractionSummary,
    RejectedRecords,
    demo_questions,
    demo_records,
)
from orienteer.llm import Budget, OpenAIConfig
from orienteer.methods import AUTO, METHODS
from orienteer.options import options_of
from orienteer.plugins import own
from orienteer.records import Price, Ranked, Result, StoppedBy, Usage
from orienteer.retrieval import BASES
from orienteer.serve import (
    ALL_AGENTS,
    DETECTED_AGENTS,
    DOCTOR_EXTRAS,
    KEYS_VARIABLE,
    KNOWN_AGENTS,
    ServeOptions,
    command_line,
)

DOCS = Path(__file__).parents[2] / "docs"
INTERFACE = (DOCS / "interface.md").read_text(encoding="utf-8")
README = (DOCS.parent / "README.md").read_text(encoding="utf-8")
COMMON = {"--json", "--quiet", "-q", "--verbose", "-v", "--help", "-h"}
OF_SOURCES = {"--yes", "-y", "--include", "--exclude"}
"""What commands have that make a graph of the sources that they are given."""
OF_ROWS = {"--format", "--no-pager"}
"""What commands have whose result has rows."""
OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*(?![\w-])")


def code(text: str) -> set[str]:
    """Return the words of a text that stand in code: inline, or in a block."""
    blocks = "\n".join(re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    return set(re.findall(r"[\w.:/-]+", "\n".join([blocks, *inline])))


def commands_of(group, names=()):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands_of(command, (*names, name))
        else:
            yield " ".join((*names, name)), command


def whole_command_line():
    root = command_line()
    root.list_commands(None)  # adds the commands of the annexes
    return root


COMMANDS = dict(commands_of(whole_command_line()))
CLASSES = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.Error)]
_BUILT = (BuildReport, BuildEstimate, ExtractionSummary, RejectedRecords, CostEstimate)


def section(heading: str) -> str:
    """Return the text beneath a heading, up to the next one of its depth or above."""
    depth = len(heading) - len(heading.lstrip("#"))
    match = re.search(rf"^{re.escape(heading)}$\n(.*?)(?=^#{{1,{depth}}} |\Z)", INTERFACE, re.MULTILINE | re.DOTALL)
    assert match, f"docs/interface.md has no heading {heading!r}"
    return match[1]


def options_shown(command) -> set[str]:
    return {
        flag for option in command.params for flag in (*option.opts, *option.secondary_opts) if flag.startswith("-")
    }


def takes_sources(command) -> bool:
    """Tell whether a command makes a graph of the sources that it is given."""
    return not {option.name for option in command.params}.isdisjoint({"directory", "directories"})


@pytest.mark.parametrize("name", COMMANDS)
def test_command_has_its_options(name):
    shown = set(OPTION.findall(" ".join(re.findall(r"`([^`]+)`", section(f"### `orienteer {name}`")))))
    of_sources = OF_SOURCES if takes_sources(COMMANDS[name]) else set()
    of_rows = OF_ROWS if options_shown(COMMANDS[name]) >= OF_ROWS else set()
    everywhere = section("## Everywhere")
    assert not of_rows or f"`{name}`" in everywhere, f"docs/interface.md does not say that {name} has rows"
    there = options_shown(COMMANDS[name]) - COMMON - of_sources - of_rows
    assert there <= shown, f"{name} has options that docs/interface.md does not name"
    assert shown - COMMON <= there, f"docs/interface.md promises options that {name} has not"


def test_every_command_of_the_page_exists():
    named = re.findall(r"^### `orienteer ([a-z ]+)`$", INTERFACE, re.MULTILINE)
    assert sorted(named) == sorted(COMMANDS)


def test_common_options():
    there = set.intersection(*(options_shown(command) for command in COMMANDS.values()))
    assert there == COMMON - {"--help", "-h"}
    assert code(section("## Everywhere")) >= COMMON | OF_SOURCES
    for name, command in COMMANDS.items():
        assert (options_shown(command) >= OF_SOURCES) == takes_sources(command), name
    top = {flag for option in command_line().params for flag in option.opts}
    assert code(section("## Everywhere")) >= top


def test_settings():
    text = section("## Settings")
    named = code(text)
    top = {field.name for field in fields(settings.Settings)} - {"options", "origins", "abilities"}
    assert named - {""} >= top - {"methods", "budget", "server", "price", "serve"}
    tables = (("budget", Budget), ("server", OpenAIConfig), ("price", Price), ("serve", ServeOptions))
    for table, kind in tables:
        beneath = re.search(rf"^\[{table}\].*?\n(.*?)(?=^\[|^```)", text, re.MULTILINE | re.DOTALL)
        assert beneath, f"no [{table}] on the page"
        there = set(kind.model_fields) - {"base_url", "api_key", "price"}
        assert set(re.findall(r"^(\w+) =", beneath[1], re.MULTILINE)) == there
    variables = {variable for names in settings.VARIABLES.values() for variable in names}
    assert set(re.findall(r"`((?:ORIENTEER|OPENAI)_\w+)`", INTERFACE)) == {*variables, KEYS_VARIABLE}


@pytest.mark.parametrize("name", METHODS)
def test_methods_and_their_options(name):
    row = re.search(rf"^\| `{name}` \| (.*) \|$", section("## Settings"), re.MULTILINE)
    assert row, f"docs/interface.md has no options of {name}"
    assert re.findall(r"`(\w+)`", row[1]) == [option.name for option in options_of(METHODS[name].config_class())]
    assert f"| `{name}` |" in (DOCS / "methods.md").read_text(encoding="utf-8")


def test_options_of_build():
    row = next(line for line in INTERFACE.split("\n") if line.startswith("Options, which `--set` changes"))
    assert sorted(re.findall(r"`(\w+)`", row)) == sorted(option.name for option in options_of(BuildConfig))


def test_methods_of_ask():
    row = next(line for line in INTERFACE.split("\n") if line.startswith("| `--method"))
    assert set(re.findall(r"`([a-z0-9-]+)`", row)) == {AUTO, *METHODS}


def test_agents():
    names = {agent.name for agent in KNOWN_AGENTS}
    row = next(line for line in section("### `orienteer install`").split("\n") if line.startswith("| `--agent"))
    assert set(re.findall(r"`([a-z-]+)`", row)) == {*names, ALL_AGENTS, DETECTED_AGENTS}
    table = (DOCS / "install.md").read_text(encoding="utf-8").split("## Which agents")[1]
    rows = {
        cells[1].strip(" `"): cells for cells in (line[1:-1].split("|") for line in table.split("\n") if "|" in line)
    }
    assert names <= set(rows)
    for agent in KNOWN_AGENTS:
        assert rows[agent.name][0].strip() == agent.title
        for path in agent.project_files:
            assert f"`{path}`" in rows[agent.name][3]
        for path in agent.files:
            assert Path(path).name in rows[agent.name][2]


def first_column(heading: str) -> set[str]:
    """Return what the first column of the first table beneath a heading has in code."""
    page = (DOCS / "knowledge-bases.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|([^|]+)\|", page.split(f"\n{heading}\n")[1].split("\n#")[0], re.MULTILINE)
    own = [row for row in rows if not row.startswith(" for comparison")]  # other methods, for comparison
    return {name for row in own for name in re.findall(r"`([a-z-]+)`", row)}


@pytest.mark.parametrize("heading", ["## Retrievers", "### On which graph", "### What each costs"])
def test_retrievers_and_their_tables(heading):
    assert first_column(heading) == {*BASES, *own("retrievers")}


def test_modules_of_retrievers_that_the_page_names():
    names = first_column("### Where ours differ")
    assert names >= {"flow", "hippo", "relations"}
    for name in names:
        rooms = [DOCS.parent / "src" / "orienteer" / room for room in ("retrieval", "lab/bases")]
        [module] = [file for room in rooms for file in room.rglob(f"{name}.py")]
        assert "Deviations" in module.read_text(encoding="utf-8"), name


def test_layers_of_the_architecture():
    tool = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    layers = tool["importlinter"]["contracts"][0]["layers"]
    there = " > ".join(layer.replace("orienteer.", "") for layer in layers)
    assert f"`{there}`" in (DOCS / "architecture.md").read_text(encoding="utf-8")


def test_public_names():
    rows = re.findall(r"^\| (`[^|]+) \|", section("## Python").split("### Errors")[0], re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(orienteer.__all__)


def test_errors():
    rows = re.findall(r"^\| (`[^|]+) \| (\d) \|", section("### Errors"), re.MULTILINE)
    shown = {name: int(code) for row, code in rows for name in re.findall(r"`(\w+)`", row)}
    there = {
        kind.__name__: 2 if issubclass(kind, errors.UsageError) else 1 for kind in CLASSES if kind is not errors.Error
    }
    assert shown == there


def test_endings_events_and_keys():
    named = code(INTERFACE)
    assert named >= set(get_args(StoppedBy))
    kinds = {event.model_fields["kind"].default for event in get_args(Event)}
    row = next(line for line in INTERFACE.split("\n") if line.startswith("| `Event`"))
    assert set(re.findall(r"`(\w+)`", row)) == {"Event", "stream", "kind", *kinds}
    example = section("## JSON")
    for record in (Result, Ranked, Usage):
        for key in record.model_fields:
            assert f'"{key}"' in example or f"`{key}`" in example


def test_keys_of_build():
    row = re.search(r"^\| `build` \| (.*) \|$", section("## JSON"), re.MULTILINE)
    assert row
    there = {key for record in _BUILT for key in record.model_fields}
    assert set(re.findall(r"`(\w+)`", row[1])) == {*there, "file"}


def test_formats_of_the_readme():
    table = README.split("## What it reads")[1].split("\n\n")[0]
    tables = [suffix for form in FORMATS for suffix in form.suffixes]
    assert set(re.findall(r"`(\.\w+)`", table)) - {".gz"} == {
        *tables,
        *CONTAINER_SUFFIXES,
        *GRAPH_SUFFIXES,
        *RDF_SUFFIXES,
        *DATABASE_SUFFIXES,
    }


def test_extras():
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"]) - {"test", "check"}
    for name in extras:
        assert f"orienteer[{name}]" in section("### Extras")
    # `doctor` tells of those that install something.
    empty = {name for name, packages in project["optional-dependencies"].items() if not packages}
    assert set(DOCTOR_EXTRAS) == extras - empty - {"all"}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_picture_is_of_the_demo(theme):
    """The picture shows the demo's second question with all that answers it; `scripts/record-demo` draws it anew."""
    question = demo_questions()[1].question
    picture = (DOCS / f"demo-{theme}.svg").read_text(encoding="utf-8").replace("&#160;", " ")
    words = re.sub(r"<[^>]+>", "\n", picture)
    assert question in words
    nodes, edges = demo_records()
    named = {node.id: node.name for node in nodes}
    for node in demo_questions()[1].nodes:
        assert named[node] in words


def test_security_names_tests_that_are_there():
    text = (DOCS.parent / "SECURITY.md").read_text(encoding="utf-8")
    named = {
        name
        for cell in re.findall(r"\| (`[^|]*\.py`|`sandbox/`.*?) \|$", text, re.MULTILINE)
        for name in re.findall(r"`([\w/.*]+)`", cell)
    }
    assert len(named) > 9
    tests = DOCS.parent / "tests"
    for name in named:
        assert list(tests.glob(name)) or list(tests.glob(f"unit/{name}")), (
            f"SECURITY.md names {name}, which is not there"
        )


def test_the_readme_is_short():
    """Two commands, a picture, ten lines of Python, six methods in four columns; the rest has pages of its own."""
    assert README.count("\n") <= 120
    table = README.split("## Six methods")[1].split("\n\n")[1]
    rows = [row for row in table.split("\n") if row.startswith("| `")]
    assert [row.count(" | ") for row in rows] == [3] * 6
    [python] = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert python.count("\n") <= 12
    assert len(METHODS) == 36, "the README says thirty-six"
