"""Where each agent's file lies on each system, what an entry says, and what it and its command are called."""

import json
import shutil
import sys
import sysconfig
from pathlib import Path

import pytest

from fakes.inside import inside
from orienteer.errors import BadInput, BadOption
from orienteer.serve import (
    KNOWN_AGENTS,
    AgentPlaces,
    NotOurEntry,
    absolute_path,
    chosen_agents,
    entry_name,
    launcher,
    name_for,
    own_names,
    served_graphs,
    server_words,
)
from orienteer.version import __version__

HOME = Path("/home/ann")
ROAMING = Path("/roaming")
BY_NAME = {agent.name: agent for agent in KNOWN_AGENTS}


def places(platform="linux", home=HOME, **environment):
    return AgentPlaces(home=home, project=Path("/project"), platform=platform, environment=environment)


FILES = {
    "claude-code": (".claude.json",) * 3,
    "claude-desktop": (
        ".config/Claude/claude_desktop_config.json",
        "Library/Application Support/Claude/claude_desktop_config.json",
        "/roaming/Claude/claude_desktop_config.json",
    ),
    "codex": (".codex/config.toml",) * 3,
    "cursor": (".cursor/mcp.json",) * 3,
    "vscode": (
        ".config/Code/User/mcp.json",
        "Library/Application Support/Code/User/mcp.json",
        "/roaming/Code/User/mcp.json",
    ),
    "copilot-cli": (".copilot/mcp-config.json",) * 3,
    "gemini": (".gemini/settings.json",) * 3,
    "antigravity": (".gemini/config/mcp_config.json",) * 3,
    "windsurf": (".codeium/windsurf/mcp_config.json",) * 3,
    "zed": (".config/zed/settings.json", ".config/zed/settings.json", "/roaming/Zed/settings.json"),
    "opencode": (".config/opencode/opencode.json",) * 3,
    "cline": (".cline/data/settings/cline_mcp_settings.json",) * 3,
    "continue": None,
    "goose": None,
    "junie": (".junie/mcp/mcp.json",) * 3,
    "jetbrains": None,
}


@pytest.mark.parametrize(("number", "platform"), [(0, "linux"), (1, "darwin"), (2, "win32")])
@pytest.mark.parametrize("name", BY_NAME)
def test_the_file_of_an_agent_on_a_system(name, number, platform):
    here = places(platform, APPDATA=str(ROAMING))
    files = BY_NAME[name].candidates(here, project=False)
    assert [HOME / FILES[name][number]] == [*files[-1:]] if FILES[name] else files == ()


@pytest.mark.parametrize(
    ("name", "variable", "file"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "/else/.claude.json"),
        ("codex", "CODEX_HOME", "/else/config.toml"),
        ("zed", "XDG_CONFIG_HOME", "/else/zed/settings.json"),
        ("opencode", "XDG_CONFIG_HOME", "/else/opencode/opencode.json"),
        ("vscode", "XDG_CONFIG_HOME", "/else/Code/User/mcp.json"),
    ],
)
def test_variables_of_the_environment_move_files(name, variable, file):
    agent = BY_NAME[name]
    assert agent.candidates(places(**{variable: "/else"}), project=False)[-1] == Path(file)
    for nothing in ("", "relative"):
        assert agent.candidates(places(**{variable: nothing}), project=False)[-1] == HOME / FILES[name][0]


def test_windows_without_a_variable():
    assert places("win32").path("$application") == HOME / "AppData/Roaming"


def test_files_of_a_project():
    assert {name: agent.project_files for name, agent in BY_NAME.items() if agent.project_files} == {
        "claude-code": (".mcp.json",),
        "codex": (".codex/config.toml",),
        "cursor": (".cursor/mcp.json",),
        "vscode": (".vscode/mcp.json",),
        "gemini": (".gemini/settings.json",),
        "opencode": ("opencode.jsonc", "opencode.json"),
        "continue": (".continue/mcpServers",),
    }
    assert BY_NAME["cursor"].candidates(places(), project=True) == (Path("/project/.cursor/mcp.json"),)


WORDS = ("uvx", "--from", "orienteer[mcp]==1", "orienteer", "mcp", "/g")
ARGUMENTS = list(WORDS[1:])


def test_what_an_entry_says():
    plain = {"command": "uvx", "args": ARGUMENTS}
    assert {agent.name: (agent.container, agent.entry(WORDS)) for agent in KNOWN_AGENTS} == {
        "claude-code": ("mcpServers", {"type": "stdio", **plain}),
        "claude-desktop": ("mcpServers", plain),
        "codex": ("mcp_servers", {**plain, "startup_timeout_sec": 30, "tool_timeout_sec": 120}),
        "cursor": ("mcpServers", plain),
        "vscode": ("servers", {"type": "stdio", **plain}),
        "copilot-cli": ("mcpServers", {"type": "local", **plain, "tools": ["*"]}),
        "gemini": ("mcpServers", {**plain, "timeout": 120_000, "trust": False}),
        "antigravity": ("mcpServers", plain),
        "windsurf": ("mcpServers", plain),
        "zed": ("context_servers", plain),
        "opencode": ("mcp", {"type": "local", "command": list(WORDS), "enabled": True}),
        "cline": ("mcpServers", plain),
        "continue": ("mcpServers", plain),
        "goose": ("extensions", {"type": "stdio", "cmd": "uvx", "args": ARGUMENTS, "enabled": True}),
        "junie": ("mcpServers", plain),
        "jetbrains": ("mcpServers", plain),
    }


def test_no_entry_grants_a_permission():
    text = json.dumps([agent.entry(WORDS) for agent in KNOWN_AGENTS]).casefold()
    assert '"trust": true' not in text
    for word in ("allow", "approve", "permission", "hook"):
        assert word not in text


@pytest.mark.parametrize("name", [name for name in BY_NAME if name not in {"goose", "jetbrains"}])
def test_what_we_write_is_known_as_ours(name):
    assert served_graphs(BY_NAME[name].entry(WORDS)) == ("/g",)


# ------------------------------------------------------------------------------------------------------------ choosing


def test_agents_are_detected_by_what_they_keep(tmp_path):
    here = places(home=tmp_path)
    assert chosen_agents(["detected"], here) == ()
    (tmp_path / ".claude.json").write_text("{}")
    (tmp_path / ".config/goose").mkdir(parents=True)
    (tmp_path / ".cursor").mkdir()
    assert [agent.name for agent in chosen_agents(["detected"], here)] == ["claude-code", "cursor", "goose"]
    assert [agent.name for agent in chosen_agents(["zed", "detected", "zed"], here)] == [
        "claude-code",
        "cursor",
        "zed",
        "goose",
    ]
    assert chosen_agents(["all", "zed"], here) == KNOWN_AGENTS


def test_an_unknown_agent_is_offered_near_names():
    with pytest.raises(BadOption, match=r"No agent 'claude'\. Near: claude-code, claude-desktop\. There are: .*, all"):
        chosen_agents(["claude"], places())


# ------------------------------------------------------------------------------------------------------ names, command


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("hetionet", "orienteer-hetionet"),
        ("My notes 2.1", "orienteer-my-notes-2-1"),
        ("a.b/c.d", "orienteer-c-d"),
        ("Müller & Söhne", "orienteer-muller-sohne"),
        ("知識", "orienteer"),
        ("--x__y--", "orienteer-x-y"),
        ("a" * 100, "orienteer-" + "a" * 24),
        ('q"]\n[x', "orienteer-q-x"),
    ],
)
def test_a_name_that_every_agent_takes(folder, name):
    assert entry_name(Path("/graphs") / folder) == name


@pytest.mark.parametrize(
    ("entry", "graphs"),
    [
        ({"command": "uvx", "args": ["--from", "orienteer[mcp]==1", "orienteer", "mcp", "/a", "/b"]}, ("/a", "/b")),
        ({"command": "/x/bin/orienteer", "args": ["mcp"]}, ()),
        ({"command": "C:\\x\\orienteer.exe", "args": ["mcp", "C:\\g"]}, ("C:\\g",)),
        ({"command": "python", "args": ["-m", "orienteer", "mcp", "/a"]}, ("/a",)),
        ({"command": ["orienteer", "mcp", "/a"]}, ("/a",)),
        ({"command": "orienteer", "args": ["serve", "mcp"]}, None),
        ({"command": "my-orienteer", "args": ["mcp", "/a"]}, None),
        ({"command": "orienteer"}, None),
        ({"command": "orienteer", "args": "mcp"}, None),
        ({"command": "orienteer", "args": [None, 3]}, None),
        ({"url": "http://127.0.0.1/orienteer/mcp"}, None),
        ({}, None),
        ("orienteer mcp", None),
        (None, None),
    ],
)
def test_an_entry_is_ours_by_its_command(entry, graphs):
    assert served_graphs(entry) == graphs


def ours(*graphs):
    return {"command": "orienteer", "args": ["mcp", *map(str, graphs)]}


def test_a_graph_keeps_its_name_and_another_gets_a_number(tmp_path):
    first, second, gone = tmp_path / "a/graph", tmp_path / "b/graph", tmp_path / "c/graph"
    for folder in (first, second):
        folder.mkdir(parents=True)
    assert name_for(first, {}) == "orienteer-graph"
    assert name_for(first, {"orienteer-graph": ours(second)}) == "orienteer-graph-2"
    assert name_for(second, {"orienteer-graph": ours(second)}) == "orienteer-graph"
    assert name_for(first, {"orienteer-mine": ours(second, first)}) == "orienteer-mine"
    assert name_for(first, {"orienteer-graph": ours(gone)}) == "orienteer-graph"
    assert name_for(first, {"x": ours(first)}) == "orienteer-graph"  # a name that we do not give
    with pytest.raises(NotOurEntry, match="'orienteer-graph' is not ours"):
        name_for(first, {"orienteer-graph": {"command": "else"}})


def test_only_entries_with_our_name_and_our_command_are_ours():
    servers = {"orienteer-a": ours("/a"), "orienteer": ours("/b"), "mine": ours("/a"), "orienteer-c": {"command": "x"}}
    assert own_names(servers) == ["orienteer-a", "orienteer"]
    assert own_names(servers, Path("/a")) == ["orienteer-a"]


def test_a_path_is_absolute_and_keeps_the_link_that_was_named(tmp_path, monkeypatch):
    (tmp_path / "real/graph").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real/graph")
    monkeypatch.chdir(tmp_path / "real")
    assert absolute_path(Path("../link")) == tmp_path.resolve() / "link"
    assert absolute_path(Path("graph/../graph")) == tmp_path.resolve() / "real/graph"
    assert absolute_path(Path()) == tmp_path.resolve() / "real"
    assert absolute_path(Path("graph/..")) == tmp_path.resolve() / "real"


def test_a_path_that_is_no_text_is_refused():
    with pytest.raises(BadInput, match="not UTF-8"):
        server_words(("orienteer",), Path("/a/\udcff"))


class Installed:
    def __init__(self, origin):
        self._origin = origin

    def read_text(self, name):
        assert name == "direct_url.json"
        return self._origin


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Give a function that says what this machine has: uvx on the path, the package of an index, its program."""

    def set_up(*, uvx, origin, has_program=True):
        scripts = tmp_path / "scripts"
        scripts.mkdir(exist_ok=True)
        if has_program:
            (scripts / "orienteer").touch()
        monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if uvx else None)
        monkeypatch.setattr(inside(launcher), "distribution", lambda name: Installed(origin))
        monkeypatch.setattr(sysconfig, "get_path", lambda name: str(scripts))
        return str(scripts / "orienteer")

    return set_up


def test_uvx_fetches_this_version(machine):
    machine(uvx=True, origin=None)
    rest = ("--from", f"orienteer[mcp]=={__version__}", "orienteer")
    assert launcher(whole_path=False) == ("uvx", *rest)
    assert launcher(whole_path=True) == ("/bin/uvx", *rest)


def test_without_uvx_or_of_no_index_it_is_our_own_program(machine):
    editable = '{"dir_info": {"editable": true}, "url": "file:///src"}'
    program = machine(uvx=True, origin=editable)
    assert launcher(whole_path=False) == (program,)
    machine(uvx=False, origin=None)
    assert launcher(whole_path=False) == (program,)


def test_without_a_program_it_is_this_interpreter(machine):
    machine(uvx=False, origin=None, has_program=False)
    assert launcher(whole_path=False) == (sys.executable, "-m", "orienteer")


def test_the_program_of_windows(machine, monkeypatch, tmp_path):
    machine(uvx=False, origin=None)
    (tmp_path / "scripts/orienteer.exe").touch()
    monkeypatch.setattr(sys, "platform", "win32")
    assert launcher(whole_path=False) == (str(tmp_path / "scripts/orienteer.exe"),)
