"""install and uninstall as a person runs them, in a home of their own with the files of several agents."""

import json
import os
import subprocess

import pytest

from fakes.inside import inside
from orienteer.serve import KNOWN_AGENTS, write_change

AGENTS_FILES = {
    ".claude.json": '{\n  "numStartups": 3\n}',
    ".codex/config.toml": 'model = "gpt-5.2"\n',
    ".config/zed/settings.json": '{\n  // mine\n  "theme": "One",\n}\n',
    ".config/Code/User/mcp.json": "{ not json",
    ".config/goose/config.yaml": "extensions: {}\n",
}


@pytest.fixture
def me(home, monkeypatch):
    """Give the home of a person who has several agents."""
    folder = home.parent / "me"
    for name in ("XDG_CONFIG_HOME", "APPDATA", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    for path, text in AGENTS_FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def everything(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_dry_run_shows_all_and_touches_nothing(cli, me, clubs):
    before = everything(me.parent)
    ran = cli("install", clubs)
    assert everything(me.parent) == before
    assert ran.code == 1  # one file could not be read
    lines = ran.out.splitlines()
    assert f"claude-code: adds orienteer-graph to {me}/.claude.json" in lines
    assert f"--- {me}/.codex/config.toml" in lines
    assert "+[mcp_servers.orienteer-graph]" in lines
    assert f"vscode: {me}/.config/Code/User/mcp.json is left alone: line 1 is not JSON" in ran.out
    assert "goose: put in by hand, in its config.yaml" in ran.out
    assert str(clubs) in ran.out
    assert "nothing was written: add --write to do it" in ran.err
    assert "cursor" not in ran.out


def test_writing_and_taking_back(cli, me, clubs):
    before = everything(me)
    ran = cli("install", clubs, "--write", "--instructions")
    assert ran.code == 1
    assert f"zed: added orienteer-graph to {me}/.config/zed/settings.json; as it first was: " in ran.out
    assert "claude-code: added the instructions to" in ran.out
    assert "@@" not in ran.out
    entry = json.loads((me / ".claude.json").read_text())["mcpServers"]["orienteer-graph"]
    assert entry["args"][-2:] == ["mcp", str(clubs)]
    after = everything(me)
    again = cli("install", clubs, "--write", "--instructions")
    assert f"codex: {me}/.codex/config.toml has orienteer-graph already" in again.out
    assert everything(me) == after
    dry = cli("uninstall")
    assert dry.code == 0
    assert f"claude-code: removes orienteer-graph from {me}/.claude.json" in dry.out
    assert everything(me) == after
    assert cli("uninstall", "--write").code == 0
    assert everything(me) == before
    ran = cli("uninstall")
    assert (ran.code, ran.out) == (0, "there is nothing of orienteer in agents' files\n")


def test_the_command_that_is_written_runs(cli, me, clubs):
    """What an agent would start is there, and says what it is. That it serves is tested where the server is."""
    cli("install", clubs, "--agent", "claude-desktop", "--write")
    entry = json.loads((me / ".config/Claude/claude_desktop_config.json").read_text())["mcpServers"]["orienteer-graph"]
    words = [entry["command"], *entry["args"]]
    start = words[: words.index("mcp")]
    assert os.path.isabs(start[0])  # noqa: PTH117
    ran = subprocess.run([*start, "--version"], capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0


def test_json(cli, me, clubs):
    plan = cli("install", clubs, "--json").json
    assert (plan["graph"], plan["written"]) == (str(clubs), False)
    states = {change["agent"]: change["state"] for change in plan["changes"]}
    assert states == {
        "claude-code": "add",
        "codex": "add",
        "vscode": "left alone",
        "zed": "add",
        "goose": "by hand",
    }
    code = plan["changes"][2]
    assert (code["difference"], code["names"]) == (None, [])
    assert "orienteer-graph" in code["paste"]
    assert plan["changes"][0]["difference"].startswith(f"--- {me}/.claude.json\n+++ ")
    done = cli("install", clubs, "--json", "--write").json
    assert done["written"]
    assert done["changes"][0]["copy"] == f"{me}/.claude.json.before-orienteer"
    gone = cli("uninstall", "--json").json
    assert gone["graph"] is None
    assert [change["state"] for change in gone["changes"]] == ["remove"] * 3


def test_one_agent_and_all(cli, me, clubs):
    ran = cli("install", clubs, "--agent", "cursor", "--write", "-q")
    assert (ran.code, ran.out) == (0, f"cursor: added orienteer-graph to {me}/.cursor/mcp.json\n")
    ran = cli("install", clubs, "--agent", "all")
    assert ran.code == 1
    for agent in KNOWN_AGENTS:
        assert f"{agent.name}: " in ran.out
    ran = cli("install", clubs, "--agent", "detected", "--agent", "junie", "--json")
    assert {change["agent"] for change in ran.json["changes"]} >= {"junie", "zed", "cursor"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("install", "graph", "--agent", "claud-code"),
            "error: No agent 'claud-code'. Near: claude-code, claude-desktop. There",
        ),
        (("uninstall", "--agent", "vscod"), "error: No agent 'vscod'. Near: vscode, codex. There are: claude-code, "),
        (("install", "nowhere"), "error: nowhere does not exist: name a graph, or a folder or table"),
        (("install", "graph", "--agent", "zed", "--project"), "error: Zed reads no file of a project: leave out"),
        (("install", "/"), "error: / is not a graph, and too much to make one from: name a folder in it"),
    ],
)
def test_a_wrong_request_is_one_line(cli, me, clubs, arguments, message):
    before = everything(me)
    ran = cli(*arguments, "--write")
    assert ran.code == 2
    assert ran.err.startswith(message)
    assert ran.err.count("\n") == 1
    assert everything(me) == before


def test_the_home_folder_is_not_served(cli, me, monkeypatch):
    monkeypatch.chdir(me)
    ran = cli("install")
    assert ran.code == 2
    assert "too much to make one from" in ran.err


def test_a_folder_that_is_gone(cli, me, monkeypatch):
    (me / "gone").mkdir()
    monkeypatch.chdir(me / "gone")
    (me / "gone").rmdir()
    ran = cli("install", me / ".codex")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "work in a folder that is there" in ran.err


def test_where_no_agent_is(cli, me, clubs, monkeypatch):
    monkeypatch.setenv("HOME", str(me / "nobody"))
    ran = cli("install", clubs)
    assert ran.code == 2
    assert "no agent was detected here: name one with --agent" in ran.err


def test_a_project(cli, me, clubs):
    before = everything(me)
    ran = cli("install", clubs, "--project", "--write", "--instructions", "-q")
    assert ran.code == 0, ran.out
    assert f"to {clubs.parent}/.mcp.json; Claude Code asks you before it starts it\n" in ran.out
    here = clubs.parent
    assert sorted(path.name for path in here.iterdir() if path.name not in {"clubs", "graph"}) == [
        ".codex",
        ".mcp.json",
        ".vscode",
        "AGENTS.md",
        "CLAUDE.md",
    ]
    assert everything(me) == before
    assert cli("uninstall", "--project", "--write").code == 0
    assert [path for path in everything(here) if not path.startswith(("clubs/", "graph/"))] == []


def test_a_folder_that_is_no_graph_yet_is_said(cli, me, tables):
    ran = cli("install", tables, "--agent", "cursor")
    assert ran.code == 0
    assert f"{tables} is not a graph: the server makes one of it" in ran.err
    assert f"orienteer ask {tables} QUESTION" in ran.err


def test_a_file_that_changes_meanwhile_is_left_alone(cli, me, clubs, monkeypatch):
    exchange = inside(write_change).exchange

    def exchange_late(file, before, after):
        if file.name == "config.toml":
            file.write_text("theirs = 1\n")
        exchange(file, before, after)

    monkeypatch.setattr(inside(write_change), "exchange", exchange_late)
    ran = cli("install", clubs, "--write")
    assert ran.code == 1
    assert f"{me}/.codex/config.toml is left alone: it has changed since it was read" in ran.out
    assert f"claude-code: added orienteer-graph to {me}/.claude.json" in ran.out
    assert (me / ".codex/config.toml").read_text() == "theirs = 1\n"


def test_links_in_a_circle_and_to_elsewhere(cli, me, clubs):
    (me / ".cursor").mkdir()
    (me / ".cursor/mcp.json").symlink_to(me / ".cursor/mcp.json")
    (me / ".junie/mcp").mkdir(parents=True)
    (me / "dotfiles").mkdir()
    (me / "dotfiles/junie.json").write_text("{}")
    (me / ".junie/mcp/mcp.json").symlink_to(me / "dotfiles/junie.json")
    ran = cli("install", clubs, "--agent", "cursor", "--agent", "junie", "--write", "-q")
    assert ran.code == 1
    assert "mcp.json is left alone: it is a link that leads nowhere" in ran.out
    assert f"{me}/.junie/mcp/mcp.json (really {me}/dotfiles/junie.json)" in ran.out
    assert cli("uninstall", "--write").code == 0
    assert (me / "dotfiles/junie.json").read_text() == "{}"


def test_names_that_would_steer_a_terminal_do_not(cli, me, clubs):
    text = json.dumps({"mcpServers": {"\x1b[31mred": {}}}, ensure_ascii=False, indent=1)
    (me / ".cursor").mkdir()
    (me / ".cursor/mcp.json").write_text(text.replace("\\u001b", "\x7f\x9b"))
    ran = cli("install", clubs, "--agent", "cursor")
    assert "\x9b" not in ran.out
    assert "\x1b" not in ran.out
