"""Files on a disk: nothing is touched before it is written, and what comes out is what was there."""

import json
import os
import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings

from agent_files import json_files, toml_files
from orienteer.serve import (
    INSTRUCTIONS_BLOCK,
    KNOWN_AGENTS,
    SKILL_TEXT,
    AgentPlaces,
    CannotEdit,
    is_sealed_file,
    plan_install,
    plan_uninstall,
    sealed_file,
    unified_diff,
    with_instructions,
)

pytestmark = pytest.mark.slow

BY_NAME = {agent.name: agent for agent in KNOWN_AGENTS}
COPY = ".before-orienteer"


class Machine:
    """A home and a project in a folder, and the two plans over them."""

    def __init__(self, folder):
        self.home, self.project, self.graph = folder / "home", folder / "project", folder / "graphs/languages"
        for made in (self.home, self.project, self.graph):
            made.mkdir(parents=True)

    @property
    def places(self):
        return AgentPlaces(home=self.home, project=self.project, platform="linux", environment={})

    def install(self, *names, graph=None, project=False, instructions=False):
        agents = [BY_NAME[name] for name in names]
        return plan_install(agents, graph or self.graph, self.places, project=project, instructions=instructions)

    def uninstall(self, *names, graph=None, project=False):
        agents = [BY_NAME[name] for name in names] if names else KNOWN_AGENTS
        return plan_uninstall(agents, graph, self.places, project=project)

    def put(self, path, text, *, within=None):
        file = (within or self.home) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def write(changes):
    return [change.write() for change in changes]


def states(changes):
    return [change.state for change in changes]


def everything(folder):
    """Return every file below a folder with its bytes, links with what they lead to."""
    return {
        path.relative_to(folder): path.readlink() if path.is_symlink() else path.read_bytes()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


BROKEN = {
    "comments": (
        "zed",
        ".config/zed/settings.json",
        '{\n    // my theme, "quoted", and // slashes\n    "theme": "One",\n    "context_servers": {\n'
        '        "other": {"command": "x"}, // keep\n    }, /* tail */\n}\n',
    ),
    "toml": ("codex", ".codex/config.toml", '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "x" # note\n'),
    "one line": ("gemini", ".gemini/settings.json", '{"theme":"dark"}'),
    "carriage returns": ("cursor", ".cursor/mcp.json", '{\r\n  "mcpServers": {}\r\n}\r\n'),
    "state": ("claude-code", ".claude.json", json.dumps({"n": 3, "projects": {"/a": {"mcpServers": {}}}}, indent=2)),
    "tabs": ("opencode", ".config/opencode/opencode.json", '{\n\t"$schema": "x",\n\t"mcp": {\n\t\t"a": {}\n\t}\n}\n'),
    "byte order mark": ("vscode", ".config/Code/User/mcp.json", '\ufeff{\n  "servers": {\n  }\n}'),
    "empty": ("windsurf", ".codeium/windsurf/mcp_config.json", ""),
    "blank": ("junie", ".junie/mcp/mcp.json", " \n\n"),
    "odd blanks": ("cline", ".cline/data/settings/cline_mcp_settings.json", '{ "mcpServers" :{ }\n, }'),
    "keys twice": (
        "copilot-cli",
        ".copilot/mcp-config.json",
        '{"a": 1, "a": 2, "mcpServers": {"b": {"x": 1, "x": 2}}}',
    ),
    "comments alone": ("antigravity", ".gemini/config/mcp_config.json", "// nothing yet"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_install_twice_is_once_and_uninstall_gives_the_bytes_back(machine, case):
    name, path, text = BROKEN[case]
    file = machine.put(path, text)
    file.chmod(0o640)
    before = everything(machine.home)
    plan = machine.install(name)
    assert everything(machine.home) == before
    assert states(plan) == ["add"]
    assert write(plan) == [Path(f"{file}{COPY}")]
    assert Path(f"{file}{COPY}").read_bytes() == text.encode()
    assert {stat.S_IMODE(one.stat().st_mode) for one in (file, Path(f"{file}{COPY}"))} == {0o640}
    after = everything(machine.home)
    again = machine.install(name)
    assert states(again) == ["same"]
    assert write(again) == [None]
    assert everything(machine.home) == after
    assert write(machine.uninstall()) == [None]
    assert everything(machine.home) == before
    assert machine.uninstall() == []


@settings(max_examples=60)
@given(json_files())
def test_any_json_has_the_same_bytes_after_uninstall(tmp_path_factory, text):
    machine = Machine(tmp_path_factory.mktemp("json"))
    machine.put(".cursor/mcp.json", text)
    before = everything(machine.home)
    write(machine.install("cursor"))
    assert states(machine.install("cursor")) == ["same"]
    write(machine.install("cursor", graph=machine.project))
    write(machine.uninstall())
    assert everything(machine.home) == before


@settings(max_examples=60)
@given(toml_files())
def test_any_toml_has_the_same_bytes_after_uninstall(tmp_path_factory, text):
    machine = Machine(tmp_path_factory.mktemp("toml"))
    machine.put(".codex/config.toml", text)
    before = everything(machine.home)
    write(machine.install("codex"))
    assert states(machine.install("codex")) == ["same"]
    write(machine.install("codex", graph=machine.project))
    write(machine.uninstall())
    assert everything(machine.home) == before


def test_every_agent_at_once_where_there_was_no_file(machine):
    names = [name for name in BY_NAME if name not in {"continue", "goose", "jetbrains"}]
    plan = machine.install(*names)
    assert set(states(plan)) == {"add"}
    assert everything(machine.home) == {}
    write(plan)
    assert all(change.file.is_file() for change in plan)
    assert [path for path in everything(machine.home) if path.name.endswith(COPY)] == []
    assert states(machine.install(*names)) == ["same"] * len(names)
    write(machine.uninstall())
    assert everything(machine.home) == {}


def test_a_file_that_was_changed_since_loses_our_entry_alone(machine):
    file = machine.put(".cursor/mcp.json", '{\n  "a": 1\n}\n')
    write(machine.install("cursor"))
    file.write_text(file.read_text().replace('"a": 1', '"a": 2'))
    [change] = machine.uninstall()
    copy = change.write()
    assert json.loads(file.read_text()) == {"a": 2, "mcpServers": {}}
    assert copy.read_text() == '{\n  "a": 1\n}\n'  # it stays, for it is the only one that knows


def test_the_copy_is_never_overwritten(machine):
    file = machine.put(".cursor/mcp.json", '{"a": 1}')
    copy = machine.put(f".cursor/mcp.json{COPY}", "precious")
    write(machine.install("cursor"))
    file.write_text('{"a": 2}')
    write(machine.install("cursor"))
    write(machine.uninstall())
    assert copy.read_text() == "precious"
    assert json.loads(file.read_text()) == {"a": 2, "mcpServers": {}}


def test_a_copy_that_holds_our_entry_is_not_taken_for_what_was_before(machine):
    file = machine.put(".cursor/mcp.json", "{}")
    write(machine.install("cursor"))
    machine.put(f".cursor/mcp.json{COPY}", file.read_bytes())
    write(machine.uninstall())
    assert json.loads(file.read_text()) == {"mcpServers": {}}


# ----------------------------------------------------------------------------------------------------- what is not ours


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{ not json", "not JSON"),
        ('{"mcpServers": []}', "not a table of names"),
        ("[]", "not an object"),
        ('{"a": "ä"}'.encode("latin-1"), "not UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
        (b"\x00" * 100, "not JSON"),
        ('{"mcpServers": {"a": 1}, "mcpServers": {}}', "twice"),
    ],
)
def test_what_cannot_be_read_is_left_alone_with_lines_to_paste(machine, content, reason):
    machine.put(".cursor/mcp.json", content)
    before = everything(machine.home)
    [change] = machine.install("cursor")
    assert change.state == "left alone"
    assert reason in change.reason
    assert json.loads(change.paste)["mcpServers"]["orienteer-languages"]["args"][-2:] == ["mcp", str(machine.graph)]
    assert change.difference() == []
    write([change])
    assert everything(machine.home) == before
    assert machine.uninstall() == []


def test_lines_to_paste_are_in_the_form_of_the_file(machine):
    machine.put(".codex/config.toml", "[broken")
    codex, keep_going, goose = machine.install("codex", "continue", "goose")
    assert codex.state == "left alone"
    assert tomllib.loads(codex.paste)["mcp_servers"]["orienteer-languages"]["args"][-1] == str(machine.graph)
    assert [keep_going.state, goose.state] == ["by hand", "by hand"]
    arguments = json.dumps(["mcp", str(machine.graph)])[1:]
    assert keep_going.paste.startswith('mcpServers:\n  - name: "orienteer-languages"\n    command: ')
    assert goose.paste.startswith(
        'extensions:\n  orienteer-languages:\n    name: "orienteer-languages"\n    type: "stdio"'
    )
    assert arguments in keep_going.paste
    assert arguments in goose.paste


@pytest.mark.parametrize("entry", [{"command": "somebody-else"}, {"url": "http://x"}, "text", None])
def test_an_entry_of_our_name_that_is_not_ours_is_left_alone(machine, entry):
    text = json.dumps({"mcpServers": {"orienteer-languages": entry}})
    file = machine.put(".cursor/mcp.json", text)
    [change] = machine.install("cursor")
    assert (change.state, change.paste) == ("left alone", "")
    assert "not ours" in change.reason
    assert machine.uninstall() == []
    assert file.read_text() == text


def test_what_a_person_added_to_our_entry_stays(machine):
    text = (
        '{"mcpServers": {"orienteer-languages": {"command": "uvx", "args": ["--from", "orienteer[mcp]==0.0.1", '
        f'"orienteer", "mcp", {json.dumps(str(machine.graph))}], "env": {{"ORIENTEER_MODEL": "m"}}, '
        '"disabled": true}}}'
    )
    file = machine.put(".cursor/mcp.json", text)
    [change] = machine.install("cursor")
    assert change.state == "update"
    change.write()
    entry = json.loads(file.read_text())["mcpServers"]["orienteer-languages"]
    assert entry["env"] == {"ORIENTEER_MODEL": "m"}
    assert entry["disabled"] is True
    assert "orienteer[mcp]==0.0.1" not in entry["args"]
    assert states(machine.install("cursor")) == ["same"]


def test_a_second_graph_comes_beside_the_first_and_goes_alone(machine):
    other = machine.project / "languages"
    other.mkdir()
    file = machine.put(".cursor/mcp.json", '{\n  "mcpServers": {\n    "x": {}\n  }\n}\n')
    write(machine.install("cursor"))
    first = file.read_bytes()
    write(machine.install("cursor", graph=other))
    assert list(json.loads(file.read_text())["mcpServers"]) == ["orienteer-languages-2", "orienteer-languages", "x"]
    write(machine.uninstall(graph=other))
    assert file.read_bytes() == first
    write(machine.uninstall())
    assert file.read_text() == '{\n  "mcpServers": {\n    "x": {}\n  }\n}\n'


def test_both_files_of_an_agent_are_searched(machine):
    machine.put(".config/opencode/opencode.json", "{}")
    write(machine.install("opencode"))
    machine.put(".config/opencode/opencode.jsonc", "// new\n{}")
    [change] = machine.install("opencode")
    assert change.file.name == "opencode.jsonc"
    change.write()
    assert sorted(change.file.name for change in machine.uninstall()) == ["opencode.json", "opencode.jsonc"]


# --------------------------------------------------------------------------------------------------- the file as a file


def test_a_link_stays_one_and_what_it_leads_to_changes(machine):
    real = machine.put("dotfiles/cursor.json", "{}")
    (machine.home / ".cursor").mkdir()
    (machine.home / ".cursor/mcp.json").symlink_to("../dotfiles/cursor.json")
    before = everything(machine.home)
    [change] = machine.install("cursor")
    assert change.write() == Path(f"{real}{COPY}")
    assert (machine.home / ".cursor/mcp.json").is_symlink()
    assert "orienteer-languages" in real.read_text()
    write(machine.uninstall())
    assert everything(machine.home) == before


def test_a_folder_that_is_a_link_is_followed(machine):
    machine.put("dotfiles/cursor/mcp.json", "{}")
    (machine.home / ".cursor").symlink_to("dotfiles/cursor")
    before = everything(machine.home)
    write(machine.install("cursor"))
    assert "orienteer-languages" in (machine.home / "dotfiles/cursor/mcp.json").read_text()
    write(machine.uninstall())
    assert everything(machine.home) == before


def link_to_nothing(file):
    file.symlink_to("nowhere")


def link_to_itself(file):
    file.symlink_to(file)


def read_only(file):
    file.write_text("{}")
    file.chmod(0o444)


def large(file):
    file.touch()
    os.truncate(file, 64_000_001)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (Path.mkdir, "it is a folder"),
        (os.mkfifo, "not an ordinary file"),
        (link_to_nothing, "a link that leads nowhere"),
        (link_to_itself, "it "),
        (read_only, "read-only"),
        (large, "64,000,001 bytes"),
    ],
    ids=["folder", "pipe", "link to nothing", "link to itself", "read-only", "large"],
)
def test_what_is_no_file_that_may_change_is_left_alone(machine, make, reason):
    file = machine.home / ".cursor/mcp.json"
    file.parent.mkdir()
    make(file)
    [change] = machine.install("cursor")
    assert change.state == "left alone"
    assert reason in change.reason
    assert "orienteer-languages" in change.paste
    assert change.write() is None
    assert [path.name for path in file.parent.iterdir()] == ["mcp.json"]


def test_a_read_only_file_that_has_our_entry_already_is_fine(machine):
    write(machine.install("cursor"))
    file = machine.home / ".cursor/mcp.json"
    file.chmod(0o400 & ~0o222)
    assert states(machine.install("cursor")) == ["same"]
    [change] = machine.uninstall()
    assert (change.state, "read-only" in change.reason) == ("left alone", True)


def test_a_file_in_the_place_of_the_folder_is_an_error_of_this_agent_alone(machine):
    machine.put(".cursor", "a file")
    cursor, junie = machine.install("cursor", "junie")
    with pytest.raises(CannotEdit, match="nothing was changed in it"):
        cursor.write()
    junie.write()
    assert (machine.home / ".cursor").read_text() == "a file"


@pytest.mark.parametrize("has_file", [True, False])
def test_a_change_between_reading_and_writing_is_refused(machine, has_file):
    file = machine.home / ".cursor/mcp.json"
    if has_file:
        machine.put(".cursor/mcp.json", "{}")
    [change] = machine.install("cursor")
    machine.put(".cursor/mcp.json", '{"theirs": 1}')
    with pytest.raises(CannotEdit, match=r"has changed since it was read; run the command again"):
        change.write()
    assert file.read_text() == '{"theirs": 1}'
    assert [path.name for path in file.parent.iterdir()] == ["mcp.json"]


def test_a_file_that_is_gone_since_is_refused(machine):
    file = machine.put(".cursor/mcp.json", "{}")
    [change] = machine.install("cursor")
    file.unlink()
    with pytest.raises(CannotEdit, match="nothing was changed in it"):
        change.write()
    assert list(file.parent.iterdir()) == []


def test_the_last_file_of_a_project_takes_no_folder_with_it(machine):
    write(machine.install("cursor", project=True, instructions=True))
    (machine.project / ".cursor/mcp.json").unlink()
    (machine.project / ".cursor").rmdir()
    write(machine.uninstall(project=True))
    assert list(machine.project.iterdir()) == []


def test_an_entry_with_half_a_character_comes_out_as_it_was(machine):
    text = '{\n  "mcpServers": {}\n}\n'
    file = machine.put(".cursor/mcp.json", text)
    write(machine.install("cursor"))
    file.write_text(file.read_text().replace('"args"', '"env": {"A": "\\ud800"},\n      "args"'))
    write(machine.uninstall())
    assert file.read_text() == text


def test_a_writer_that_fails_leaves_the_file_as_it_was(machine, monkeypatch):
    file = machine.put(".cursor/mcp.json", "{}")
    [change] = machine.install("cursor")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CannotEdit, match="No space left on device"):
        change.write()
    assert file.read_text() == "{}"
    assert [path.name for path in file.parent.iterdir()] == ["mcp.json"]


def test_the_owner_stays(machine):
    file = machine.put(".cursor/mcp.json", "{}")
    try:
        os.chown(file, 1234, 1235)
    except PermissionError:
        pytest.skip("only root may give a file away")
    write(machine.install("cursor"))
    assert (file.stat().st_uid, file.stat().st_gid) == (1234, 1235)


# ----------------------------------------------------------------------------------------------- projects, instructions


def test_a_project_has_files_of_its_own(machine):
    plan = machine.install(*BY_NAME, project=True)
    write(plan)
    assert sorted(map(str, everything(machine.project))) == [
        ".codex/config.toml",
        ".continue/mcpServers/orienteer-languages.yaml",
        ".cursor/mcp.json",
        ".gemini/settings.json",
        ".mcp.json",
        ".vscode/mcp.json",
        "opencode.json",
    ]
    assert everything(machine.home) == {}
    assert set(states(machine.install(*BY_NAME, project=True))) == {"same"}
    yaml = (machine.project / ".continue/mcpServers/orienteer-languages.yaml").read_text()
    assert yaml.startswith('name: orienteer-languages\nversion: 0.0.1\nschema: v1\nmcpServers:\n  - name: "orienteer-')
    assert is_sealed_file(yaml)
    assert machine.uninstall() == []
    write(machine.uninstall(project=True))
    assert everything(machine.project) == {}


def test_a_file_of_a_project_that_leads_out_of_it_is_left_alone(machine):
    profile = machine.put(".profile", "export A=b\n")
    servers = machine.put("servers.json", "{}")
    (machine.project / "AGENTS.md").symlink_to(profile)
    (machine.project / ".cursor").symlink_to(machine.home)
    (machine.home / "mcp.json").symlink_to(servers)
    before = everything(machine.home)
    plan = machine.install("cursor", project=True, instructions=True)
    assert states(plan) == ["left alone", "left alone"]
    assert plan[0].reason == f"it leads out of the project, to {servers.resolve()}"
    write(plan)
    assert everything(machine.home) == before
    write(machine.install("cursor"))
    assert machine.uninstall(project=True) == []


def test_a_project_whose_folder_is_a_link_is_one(machine):
    link = machine.home / "link"
    link.symlink_to(machine.project)
    machine.project = link
    plan = machine.install("cursor", "claude-code", project=True, instructions=True)
    assert set(states(plan)) == {"add"}


def test_a_file_of_our_own_that_was_changed_is_left_alone(machine):
    write(machine.install("continue", project=True))
    file = machine.project / ".continue/mcpServers/orienteer-languages.yaml"
    file.write_text(file.read_text().replace("command:", "env: {}\n    command:"))
    assert states(machine.install("continue", project=True)) == ["left alone"]
    [change] = machine.uninstall(project=True)
    assert (change.state, change.write()) == ("left alone", None)
    assert file.exists()


def test_one_graph_of_two_in_files_of_our_own(machine):
    write(machine.install("continue", project=True))
    write(machine.install("continue", graph=machine.home, project=True))
    [change] = machine.uninstall(graph=machine.home, project=True)
    assert change.file.name == "orienteer-home.yaml"


def test_a_skill_comes_and_goes(machine):
    machine.put(".claude/settings.json", "{}")
    before = everything(machine.home)
    plan = machine.install("claude-code", "claude-desktop", "cursor", "codex", instructions=True)
    skills = [change for change in plan if change.what == "instructions"]
    assert [str(change.file.relative_to(machine.home)) for change in skills] == [
        ".claude/skills/orienteer/SKILL.md",
        ".agents/skills/orienteer/SKILL.md",
    ]
    write(plan)
    text = skills[0].file.read_text()
    head = text.split("---\n")[1].splitlines()
    assert head[0] == "name: orienteer"
    assert "what a named thing is" in json.loads(head[1].removeprefix("description: "))
    write(machine.uninstall())
    assert everything(machine.home) == before
    assert not skills[0].file.parent.exists()


def test_a_skill_that_was_changed_is_left_alone(machine):
    file = machine.put(".claude/skills/orienteer/SKILL.md", SKILL_TEXT.replace("`ask`", "`search`"))
    [_, change] = machine.install("claude-code", instructions=True)
    assert (change.state, change.paste) == ("left alone", "")
    assert states(machine.uninstall("claude-code")) == ["left alone"]
    assert file.exists()


def test_an_older_skill_of_ours_is_renewed(machine):
    file = machine.put(".claude/skills/orienteer/SKILL.md", sealed_file("---\nold\n---\n", "<!-- orienteer:{} -->\n"))
    [_, change] = machine.install("claude-code", instructions=True)
    assert change.state == "update"
    change.write()
    assert file.read_text() == SKILL_TEXT


@pytest.mark.parametrize("text", ["", "# Mine\n", "# Mine", "# Mine\r\n\r\nx\r\n", "\n", "a\n\n\n", "\ufeffä\n"])
def test_a_block_comes_and_goes_in_a_project(machine, text):
    file = machine.put("AGENTS.md", text, within=machine.project)
    plan = machine.install("cursor", project=True, instructions=True)
    write(plan)
    made = file.read_bytes().decode()
    assert made.startswith(text)
    assert INSTRUCTIONS_BLOCK in made.replace("\r\n", "\n")
    assert "\n" not in made.replace("\r\n", "") or "\r\n" not in text
    assert set(states(machine.install("cursor", project=True, instructions=True))) == {"same"}
    write(machine.uninstall(project=True))
    assert everything(machine.project) == {Path("AGENTS.md"): text.encode()}


def test_claude_code_reads_a_file_of_its_own_unless_both_are_one(machine):
    plan = machine.install("claude-code", "cursor", project=True, instructions=True)
    assert [change.file.name for change in plan if change.what == "instructions"] == ["CLAUDE.md", "AGENTS.md"]
    machine.put("AGENTS.md", "x\n", within=machine.project)
    (machine.project / "CLAUDE.md").symlink_to("AGENTS.md")
    plan = machine.install("claude-code", "cursor", project=True, instructions=True)
    write(plan)
    assert (machine.project / "AGENTS.md").read_text().count("orienteer:begin") == 1
    write(machine.uninstall(project=True))
    assert (machine.project / "AGENTS.md").read_text() == "x\n"


def test_what_stands_after_the_block_stays(machine):
    file = machine.put(
        "AGENTS.md", with_instructions("# Mine\n", INSTRUCTIONS_BLOCK) + "\n## More\n", within=machine.project
    )
    write(machine.uninstall(project=True))
    assert file.read_text() == "# Mine\n\n## More\n"


@pytest.mark.parametrize(
    "change_of",
    [
        lambda text: text.replace("cite it", "forget it"),
        lambda text: text + text,
        lambda text: text.replace("<!-- orienteer:end -->", ""),
        lambda text: text.replace("<!-- orienteer:begin", "<!-- orienteer:start"),
        lambda text: "before it " + text.lstrip(),
    ],
)
def test_a_block_that_was_changed_is_left_alone(machine, change_of):
    text = change_of(with_instructions("", INSTRUCTIONS_BLOCK))
    file = machine.put("AGENTS.md", text, within=machine.project)
    [_, change] = machine.install("cursor", project=True, instructions=True)
    assert change.state == "left alone"
    [change] = machine.uninstall(project=True)
    assert (change.state, change.write()) == ("left alone", None)
    assert file.read_text() == text


# ---------------------------------------------------------------------------------------------------------- differences


def test_a_difference_shows_the_lines_that_change_and_three_around_them():
    old = "".join(f"{line}\n" for line in range(20))
    assert unified_diff("f", old, old.replace("10\n", "ten\n")) == [
        *("--- f", "+++ f", "@@ -8,7 +8,7 @@", " 7", " 8", " 9", "-10", "+ten", " 11", " 12", " 13"),
    ]
    assert unified_diff("f", old, old.replace("18\n", "").replace("16\n", "x\n"))[2:] == [
        *("@@ -14,7 +14,6 @@", " 13", " 14", " 15", "-16", "-17", "-18", "+x", "+17", " 19"),
    ]
    assert unified_diff("f", None, "a\n") == ["--- no file", "+++ f", "@@ -0,0 +1,1 @@", "+a"]
    assert unified_diff("f", "a\n", None) == ["--- f", "+++ no file", "@@ -1,1 +0,0 @@", "-a"]


@settings(max_examples=60)
@given(json_files())
def test_a_difference_can_be_patched_in(tmp_path_factory, text):
    machine = Machine(tmp_path_factory.mktemp("patch"))
    file = machine.put(".cursor/mcp.json", text)
    [change] = machine.install("cursor")
    lines = change.difference()
    assert lines[0] == f"--- {file}"
    old, new = ("\n".join(line[1:] for line in lines[3:] if line[0] in kind) for kind in (" -", " +"))
    after = change.after.decode()
    assert old in text
    assert new in after
    assert text.replace(old, new, 1).rstrip("\n") == after.rstrip("\n") or text.count(old) > 1 or not old


def test_a_long_line_shows_what_changes():
    long = '{"a":"' + "x" * 1_000_000 + '"}'
    lines = unified_diff("f", long, long[:-1] + ',"mcpServers":{}}')
    assert max(map(len, lines)) < 700
    assert lines[-1].endswith('"mcpServers":{}}')


def test_a_large_file_is_shown_at_once(machine):
    text = json.dumps({"projects": {f"/a/{place}": {"history": ["x"] * 40} for place in range(4000)}}, indent=1)
    machine.put(".claude.json", text)
    [change] = machine.install("claude-code")
    assert text.count("\n") > 160_000
    assert len(change.difference()) < 25
