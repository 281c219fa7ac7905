"""The agents: which files they read their MCP servers from, on each system, and how an entry is written there."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from orienteer.errors import BadOption, nearest

Entry = dict[str, object]
Root = Literal["home", "application", "config", "claude", "claude-folder", "codex"]
"""Where a path begins: see `Places.root`."""


@dataclass(frozen=True, slots=True)
class Places:
    """A machine, as far as it says where agents keep their files."""

    home: Path
    project: Path
    """The folder of the project, for files that belong to one."""
    platform: str
    """As `sys.platform`."""
    environment: Mapping[str, str]

    def root(self, root: Root) -> Path:
        """Return a folder that agents keep their files in."""
        config = self._variable("XDG_CONFIG_HOME") or self.home / ".config"
        match root:
            case "application" if self.platform == "darwin":
                return self.home / "Library" / "Application Support"
            case "application" if self.platform == "win32":
                return self._variable("APPDATA") or self.home / "AppData" / "Roaming"
            case "application" | "config":
                return config
            case "claude":
                return self._variable("CLAUDE_CONFIG_DIR") or self.home
            case "claude-folder":
                return self._variable("CLAUDE_CONFIG_DIR") or self.home / ".claude"
            case "codex":
                return self._variable("CODEX_HOME") or self.home / ".codex"
            case "home":
                return self.home

    def _variable(self, name: str) -> Path | None:
        """Return the folder that a variable of the environment names; a relative one does not count."""
        path = Path(self.environment.get(name, ""))
        return path if path.is_absolute() else None


class Spot(NamedTuple):
    """A path below a root; on Windows another one, where it says so."""

    root: Root
    path: str
    on_windows: str | None = None
    """A path below `application`."""

    def at(self, places: Places) -> Path:
        """Return the path on a machine."""
        if places.platform == "win32" and self.on_windows is not None:
            return places.root("application") / self.on_windows
        return places.root(self.root) / self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent, and how it is told of an MCP server."""

    name: str
    title: str
    files: tuple[Spot, ...] = ()
    """The person's own file: the first that exists, else the last. None where it is not edited."""
    project_files: tuple[str, ...] = ()
    """The same of a project, below its folder. Of YAML, a folder in which each server has a file of its own."""
    signs: tuple[Spot, ...] = ()
    """What is there where the agent is in use."""
    container: str = "mcpServers"
    """The key of the table of servers."""
    entry: Callable[[Sequence[str]], Entry]
    """What a server's entry says, for the words of its command."""
    form: Literal["jsonc", "toml", "yaml"] = "jsonc"
    is_a_list: bool = False
    """Whether the servers are a list, whose members have names."""
    needs_whole_path: bool = False
    """Whether the command is looked for in no `PATH` of the person's."""
    where: str = ""
    """Where lines are put in by hand, of an agent whose file is not edited."""
    then: str = ""
    """What is left to do when it is written."""
    then_in_project: str = ""
    """The same for the file of a project."""

    def is_here(self, places: Places) -> bool:
        """Tell whether the agent is in use on a machine."""
        return any(os.path.lexists(spot.at(places)) for spot in self.signs)

    def candidates(self, places: Places, *, project: bool) -> tuple[Path, ...]:
        """Return the files that may hold the agent's servers, in the order in which they are looked for."""
        if project:
            return tuple(places.project / path for path in self.project_files)
        return tuple(spot.at(places) for spot in self.files)


def _plain(words: Sequence[str]) -> Entry:
    return {"command": words[0], "args": list(words[1:])}


def _typed(words: Sequence[str]) -> Entry:
    return {"type": "stdio", **_plain(words)}


def _copilot(words: Sequence[str]) -> Entry:
    return {"type": "local", **_plain(words), "tools": ["*"]}  # which tools are offered; each call is still asked about


def _codex(words: Sequence[str]) -> Entry:
    # Its own limits are 10 and 60 seconds: a first start may fetch the package, and a question takes up to 45.
    return {**_plain(words), "startup_timeout_sec": 30, "tool_timeout_sec": 120}


def _gemini(words: Sequence[str]) -> Entry:
    return {**_plain(words), "timeout": 120_000, "trust": False}  # milliseconds; each call is asked about


def _opencode(words: Sequence[str]) -> Entry:
    return {"type": "local", "command": list(words), "enabled": True}


def _goose(words: Sequence[str]) -> Entry:
    return {"type": "stdio", "cmd": words[0], "args": list(words[1:]), "enabled": True}


AGENTS = (
    Agent(
        name="claude-code",
        title="Claude Code",
        files=(Spot("claude", ".claude.json"),),
        project_files=(".mcp.json",),
        then_in_project="Claude Code asks you before it starts it",
        signs=(Spot("claude-folder", ""), Spot("claude", ".claude.json")),
        entry=_typed,
    ),
    Agent(
        name="claude-desktop",
        title="Claude Desktop",
        files=(Spot("application", "Claude/claude_desktop_config.json"),),
        signs=(Spot("application", "Claude"),),
        entry=_plain,
        needs_whole_path=True,
        then="restart Claude Desktop",
    ),
    Agent(
        name="codex",
        title="Codex",
        files=(Spot("codex", "config.toml"),),
        project_files=(".codex/config.toml",),
        then_in_project="Codex reads it once you trust the project",
        signs=(Spot("codex", ""),),
        container="mcp_servers",
        entry=_codex,
        form="toml",
    ),
    Agent(
        name="cursor",
        title="Cursor",
        files=(Spot("home", ".cursor/mcp.json"),),
        project_files=(".cursor/mcp.json",),
        signs=(Spot("home", ".cursor"),),
        entry=_plain,
    ),
    Agent(
        name="vscode",
        title="VS Code",
        files=(Spot("application", "Code/User/mcp.json"),),
        project_files=(".vscode/mcp.json",),
        signs=(Spot("application", "Code"),),
        container="servers",
        entry=_typed,
    ),
    Agent(
        name="copilot-cli",
        title="Copilot CLI",
        files=(Spot("home", ".copilot/mcp-config.json"),),
        signs=(Spot("home", ".copilot"),),
        entry=_copilot,
    ),
    Agent(
        name="gemini",
        title="Gemini CLI",
        files=(Spot("home", ".gemini/settings.json"),),
        project_files=(".gemini/settings.json",),
        then_in_project="Gemini CLI reads it once you trust the folder",
        signs=(Spot("home", ".gemini"),),
        entry=_gemini,
    ),
    Agent(
        name="antigravity",
        title="Antigravity",
        files=(Spot("home", ".gemini/config/mcp_config.json"),),
        signs=(Spot("home", ".gemini/config"),),
        entry=_plain,
    ),
    Agent(
        name="windsurf",
        title="Windsurf",
        files=(Spot("home", ".codeium/windsurf/mcp_config.json"),),
        signs=(Spot("home", ".codeium/windsurf"),),
        entry=_plain,
    ),
    Agent(
        name="zed",
        title="Zed",
        files=(Spot("config", "zed/settings.json", on_windows="Zed/settings.json"),),
        signs=(Spot("config", "zed", on_windows="Zed"),),
        container="context_servers",
        entry=_plain,
    ),
    Agent(
        name="opencode",
        title="opencode",
        files=(Spot("config", "opencode/opencode.jsonc"), Spot("config", "opencode/opencode.json")),
        project_files=("opencode.jsonc", "opencode.json"),
        signs=(Spot("config", "opencode"),),
        container="mcp",
        entry=_opencode,
    ),
    Agent(
        name="cline",
        title="Cline",
        files=(Spot("home", ".cline/data/settings/cline_mcp_settings.json"),),
        signs=(Spot("home", ".cline"),),
        entry=_plain,
    ),
    Agent(
        name="continue",
        title="Continue",
        project_files=(".continue/mcpServers",),
        signs=(Spot("home", ".continue"),),
        entry=_plain,
        form="yaml",
        is_a_list=True,
        where="~/.continue/config.yaml",
    ),
    Agent(
        name="goose",
        title="Goose",
        signs=(Spot("config", "goose", on_windows="Block/goose"),),
        container="extensions",
        entry=_goose,
        form="yaml",
        where="its config.yaml, which `goose info` finds",
    ),
    Agent(
        name="junie",
        title="Junie",
        files=(Spot("home", ".junie/mcp/mcp.json"),),
        signs=(Spot("home", ".junie"),),
        entry=_plain,
    ),
    Agent(
        name="jetbrains",
        title="AI Assistant of JetBrains",
        entry=_plain,
        needs_whole_path=True,
        where="Settings, Tools, AI Assistant, Model Context Protocol",
    ),
)
"""The agents that `orienteer install` knows, in the order in which they are told of."""
ALL, DETECTED = "all", "detected"


def chosen_agents(names: Sequence[str], places: Places) -> tuple[Agent, ...]:
    """Return the agents of these names, `all` of them or those `detected` on a machine, each once.

    Raises `BadOption` for a name that no agent has.
    """
    known = {agent.name: agent for agent in AGENTS}
    for name in names:
        if name not in {ALL, DETECTED, *known}:
            near = nearest(name, known)
            hint = f" Near: {', '.join(near)}." if near else ""
            raise BadOption(f"No agent {name!r}.{hint} There are: {', '.join([*known, ALL, DETECTED])}.")
    return tuple(
        agent
        for agent in AGENTS
        if ALL in names or agent.name in names or (DETECTED in names and agent.is_here(places))
    )
