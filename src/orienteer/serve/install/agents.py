"""The agents: which files they read their MCP servers from, on each system, and what an entry holds."""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path, PureWindowsPath
from typing import Any, Literal

from orienteer.errors import BadInput, BadOption, nearest
from orienteer.serve.install.files import NotOurs
from orienteer.version import __version__

Entry = dict[str, object]


@dataclass(frozen=True, slots=True)
class Places:
    """Where a machine keeps the files of agents."""

    home: Path
    project: Path
    """The folder of the project, for files that belong to one."""
    platform: str
    """As `sys.platform`."""
    environment: Mapping[str, str]

    def path(self, text: str) -> Path:
        """Return the path of a text that begins with `~` or a folder by name, as `$codex/config.toml`."""
        is_windows = self.platform == "win32"
        config = application = self._variable("XDG_CONFIG_HOME") or self.home / ".config"
        if self.platform == "darwin":
            application = self.home / "Library" / "Application Support"
        elif is_windows:
            application = self._variable("APPDATA") or self.home / "AppData" / "Roaming"
        claude = self._variable("CLAUDE_CONFIG_DIR")
        roots = {
            "~": self.home,
            "$config": config,
            "$application": application,
            "$claude": claude or self.home / ".claude",
            "$claude-file": claude or self.home,  # .claude.json is next to the folder, or in one of your own
            "$codex": self._variable("CODEX_HOME") or self.home / ".codex",
            "$goose": application / "Block" / "goose" if is_windows else config / "goose",
            "$zed": application / "Zed" if is_windows else config / "zed",
        }
        root, _, rest = text.partition("/")
        return roots[root] / rest

    def _variable(self, name: str) -> Path | None:
        """Return the folder that a variable of the environment names; a relative one does not count."""
        path = Path(self.environment.get(name, ""))
        return path if path.is_absolute() else None


def _command_entry(words: Sequence[str]) -> Entry:
    return {"command": words[0], "args": list(words[1:])}


def _stdio_entry(words: Sequence[str]) -> Entry:
    return {"type": "stdio", **_command_entry(words)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent, and how an MCP server is registered with it. Paths are read by `Places.path`."""

    name: str
    title: str
    files: tuple[str, ...] = ()
    """The person's own file: the first that exists, else the last. Empty if it is not edited."""
    project_files: tuple[str, ...] = ()
    """The same of a project, below its folder. For YAML, a folder in which each server has its own file."""
    signs: tuple[str, ...] = ()
    """Files and folders that exist if the agent is in use; by default the folder of its file."""
    container: str = "mcpServers"
    """The key of the table of servers."""
    entry: Callable[[Sequence[str]], Entry] = _command_entry
    """Returns a server's entry for the words of its command."""
    form: Literal["jsonc", "toml", "yaml"] = "jsonc"
    is_a_list: bool = False
    """Whether the servers are a list, whose members have names."""
    needs_whole_path: bool = False
    """Whether the agent does not search the person's `PATH` for the command."""
    where: str = ""
    """Where lines are pasted by hand, for an agent whose file is not edited."""
    then: str = ""
    """What is left to do once it is written."""
    then_in_project: str = ""
    """The same for the file of a project."""

    def is_here(self, places: Places) -> bool:
        """Return whether the agent is in use on a machine."""
        signs = self.signs or tuple(file.rpartition("/")[0] for file in self.files)
        return any(os.path.lexists(places.path(sign)) for sign in signs)

    def candidates(self, places: Places, *, project: bool) -> tuple[Path, ...]:
        """Return the files that may hold the agent's servers, in the order in which it looks for them."""
        if project:
            return tuple(places.project / path for path in self.project_files)
        return tuple(map(places.path, self.files))


AGENTS = (
    Agent(
        name="claude-code",
        title="Claude Code",
        files=("$claude-file/.claude.json",),
        project_files=(".mcp.json",),
        then_in_project="Claude Code asks you before it starts it",
        signs=("$claude", "$claude-file/.claude.json"),
        entry=_stdio_entry,
    ),
    Agent(
        name="claude-desktop",
        title="Claude Desktop",
        files=("$application/Claude/claude_desktop_config.json",),
        needs_whole_path=True,
        then="restart Claude Desktop",
    ),
    Agent(
        name="codex",
        title="Codex",
        files=("$codex/config.toml",),
        project_files=(".codex/config.toml",),
        then_in_project="Codex reads it once you trust the project",
        container="mcp_servers",
        # Its own limits are 10 and 60 seconds: a first start may fetch the package, and a question takes up to 45.
        entry=lambda words: {**_command_entry(words), "startup_timeout_sec": 30, "tool_timeout_sec": 120},
        form="toml",
    ),
    Agent(
        name="cursor",
        title="Cursor",
        files=("~/.cursor/mcp.json",),
        project_files=(".cursor/mcp.json",),
    ),
    Agent(
        name="vscode",
        title="VS Code",
        files=("$application/Code/User/mcp.json",),
        project_files=(".vscode/mcp.json",),
        signs=("$application/Code",),
        container="servers",
        entry=_stdio_entry,
    ),
    Agent(
        name="copilot-cli",
        title="Copilot CLI",
        files=("~/.copilot/mcp-config.json",),
        # `tools` are those that are offered: each call still needs a permission.
        entry=lambda words: {"type": "local", **_command_entry(words), "tools": ["*"]},
    ),
    Agent(
        name="gemini",
        title="Gemini CLI",
        files=("~/.gemini/settings.json",),
        project_files=(".gemini/settings.json",),
        then_in_project="Gemini CLI reads it once you trust the folder",
        entry=lambda words: {**_command_entry(words), "timeout": 120_000, "trust": False},  # milliseconds
    ),
    Agent(name="antigravity", title="Antigravity", files=("~/.gemini/config/mcp_config.json",)),
    Agent(name="windsurf", title="Windsurf", files=("~/.codeium/windsurf/mcp_config.json",)),
    Agent(name="zed", title="Zed", files=("$zed/settings.json",), container="context_servers"),
    Agent(
        name="opencode",
        title="opencode",
        files=("$config/opencode/opencode.jsonc", "$config/opencode/opencode.json"),
        project_files=("opencode.jsonc", "opencode.json"),
        container="mcp",
        entry=lambda words: {"type": "local", "command": list(words), "enabled": True},
    ),
    Agent(
        name="cline",
        title="Cline",
        files=("~/.cline/data/settings/cline_mcp_settings.json",),
        signs=("~/.cline",),
    ),
    Agent(
        name="continue",
        title="Continue",
        project_files=(".continue/mcpServers",),
        signs=("~/.continue",),
        form="yaml",
        is_a_list=True,
        where="~/.continue/config.yaml",
    ),
    Agent(
        name="goose",
        title="Goose",
        signs=("$goose",),
        container="extensions",
        entry=lambda words: {"type": "stdio", "cmd": words[0], "args": list(words[1:]), "enabled": True},
        form="yaml",
        where="its config.yaml, which `goose info` finds",
    ),
    Agent(name="junie", title="Junie", files=("~/.junie/mcp/mcp.json",), signs=("~/.junie",)),
    Agent(
        name="jetbrains",
        title="AI Assistant of JetBrains",
        needs_whole_path=True,
        where="Settings, Tools, AI Assistant, Model Context Protocol",
    ),
)
"""The agents that `orienteer install` knows, in the order of its output."""
ALL, DETECTED = "all", "detected"


def chosen_agents(names: Sequence[str], places: Places) -> tuple[Agent, ...]:
    """Return the agents of these names, `all`, or those `detected`, each once. Raises `BadOption`."""
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


# What an entry says: the command that starts the server of a graph, the entry's name, and whether it is ours.


PACKAGE = "orienteer"
_NAME = re.compile(r"orienteer(?:-[a-z0-9-]+)?")
# Of a graph's folder in an entry's name: agents join it to the names of tools, and end at 60 to 64 characters.
_NAME_CHARACTERS = 24


def launcher(*, whole_path: bool) -> tuple[str, ...]:
    """Return the words that start `orienteer` for anyone, from anywhere.

    That is `uvx` with this very version if it is on the path and this package came from an index. Otherwise (an
    editable installation, a wheel) it is the program next to this interpreter.
    """
    try:
        is_of_an_index = distribution(PACKAGE).read_text("direct_url.json") is None
    except PackageNotFoundError:
        is_of_an_index = False
    uvx = shutil.which("uvx")
    if uvx is not None and is_of_an_index:
        return (uvx if whole_path else "uvx", "--from", f"{PACKAGE}[mcp]=={__version__}", PACKAGE)
    program = Path(sysconfig.get_path("scripts")) / (f"{PACKAGE}.exe" if sys.platform == "win32" else PACKAGE)
    return (str(program),) if program.is_file() else (sys.executable, "-m", PACKAGE)


def server_words(start: tuple[str, ...], directory: Path) -> tuple[str, ...]:
    """Return the command of a graph's server, given the words that start `orienteer`. Raises `BadInput`."""
    try:
        str(directory).encode()
    except UnicodeEncodeError as error:
        raise BadInput(f"the name of {directory} is not UTF-8: rename it, or make a link to it") from error
    return (*start, "mcp", str(directory))


def absolute(directory: Path) -> Path:
    """Return an absolute path without `..`. A link that is named stays one, so that its target can change."""
    if directory.name in {"", ".."}:
        return directory.resolve()
    return directory.parent.resolve() / directory.name


def served_graphs(entry: object) -> tuple[str, ...] | None:
    """Return the graphs that an entry serves: the words after `orienteer mcp`. None if its command is another one."""
    if not isinstance(entry, Mapping):
        return None
    command, arguments = entry.get("command"), entry.get("args")
    words = command if isinstance(command, list) else [command, *(arguments if isinstance(arguments, list) else [])]
    for place, word in enumerate(words[:-1]):
        is_program = isinstance(word, str) and PureWindowsPath(word).name in {PACKAGE, f"{PACKAGE}.exe"}
        if is_program and words[place + 1] == "mcp":
            return tuple(str(graph) for graph in words[place + 2 :])
    return None


def own_names(servers: Mapping[str, Any], directory: Path | None = None) -> list[str]:  # Any: other people's entries
    """Return the names of our entries, or only of those that serve a graph."""
    return [
        name
        for name, entry in servers.items()
        if _NAME.fullmatch(name)
        and (graphs := served_graphs(entry)) is not None
        and (directory is None or str(directory) in graphs)
    ]


def name_for(directory: Path, servers: Mapping[str, Any]) -> str:  # Any: as above
    """Return the name of a graph's entry among the servers of a file.

    It is the name that the graph already has, else one made from its folder's name, numbered if another graph has
    that. An entry of ours whose graphs are gone is free. Raises `NotOurs` if the entry of that name is not ours.
    """
    if own := own_names(servers, directory):
        return own[0]
    base, number = entry_name(directory), 1
    name = base
    while name in servers:
        graphs = served_graphs(servers[name])
        if graphs is None:
            raise NotOurs(f"its entry {name!r} is not ours; rename that to have both")
        if not any(os.path.lexists(graph) for graph in graphs):
            break
        number += 1
        name = f"{base}-{number}"
    return name


def entry_name(directory: Path) -> str:
    """Return a name for the entry of a graph: letters, digits and hyphens, as every agent takes them.

    >>> entry_name(Path("/graphs/My notes 2.1"))
    'orienteer-my-notes-2-1'
    """
    plain = unicodedata.normalize("NFKD", directory.name).encode("ascii", "ignore").decode()
    word = re.sub(r"[^a-z0-9]+", "-", plain.lower())[:_NAME_CHARACTERS].strip("-")
    return f"{PACKAGE}-{word}" if word else PACKAGE
