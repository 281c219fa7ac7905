"""What would change in which file: read without touching anything, shown, and then perhaps written."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from os.path import commonprefix
from pathlib import Path
from typing import Any, Literal, NamedTuple

from orienteer.errors import Error
from orienteer.files import exchange
from orienteer.serve.install import edits, toml_edit
from orienteer.serve.install.agents import (
    AGENTS,
    SKILL_FILE,
    Agent,
    Entry,
    Places,
    entry_name,
    is_sealed,
    launcher,
    name_for,
    own_names,
    sealed,
    server_words,
    skill,
    with_block,
    without_block,
)
from orienteer.serve.install.edits import CannotEdit, Editor, NotOurs, cut_value, nested, put_value

State = Literal["add", "update", "remove", "same", "left alone", "by hand"]
_SHARED = "agents"
"""Who reads instructions that are not one agent's."""
_EDITORS: Mapping[str, Editor] = {"jsonc": edits.EDITOR, "toml": toml_edit.EDITOR}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What happens to one file of an agent, or why nothing does."""

    agent: str
    what: Literal["server", "instructions"] = "server"
    state: State
    file: Path | None = None
    """The file as the agent knows it, perhaps a link; None where no file is edited."""
    names: tuple[str, ...] = ()
    """The entries that come, change or go."""
    reason: str = ""
    """Why the file is left alone."""
    paste: str = ""
    """The lines to put in by hand, where the file is not edited."""
    where: str = ""
    """Where these lines go."""
    then: str = ""
    """What is left to do once it is written."""
    before: bytes | None = None
    """What the file held when it was read; None for no file."""
    after: bytes | None = None
    """What it is to hold."""

    @property
    def is_due(self) -> bool:
        """Whether there is something to write."""
        return self.state in {"add", "update", "remove"}

    @property
    def real_file(self) -> Path | None:
        """The file that is written, where the agent's is a link."""
        return real(self.file) if self.file is not None else None

    def difference(self) -> list[str]:
        """Return the lines of a unified diff; none where nothing is due."""
        if not self.is_due:
            return []
        before, after = (
            None if content is None else content.decode(errors="replace") for content in (self.before, self.after)
        )
        return difference(str(self.file), before, after)

    def write(self) -> Path | None:
        """Write the file, and return the copy of what it held first, if there is one. Raises `CannotEdit`."""
        if self.file is None or not self.is_due:
            return None
        try:
            copy = write_change(self.file, self.before, self.after, keeps_copy=self.state != "remove")
        except OSError as error:
            raise CannotEdit(f"{error.strerror or error}; nothing was changed in it") from error
        if self.after is None and self.file.name == SKILL_FILE and not any(self.file.parent.iterdir()):
            self.file.parent.rmdir()  # the folder of the skill, which has our name
        return copy


# ------------------------------------------------------------------------------------------------------------- install


def plan_install(
    agents: Sequence[Agent], directory: Path, places: Places, *, project: bool, instructions: bool
) -> list[Change]:
    """Return what tells agents of a graph's server, a change an agent, in its files or in those of the project."""
    changes = []
    for agent in agents:
        words = server_words(launcher(whole_path=agent.needs_whole_path), directory)
        if agent.form == "yaml" and project and agent.project_files:
            changes.append(_own_file(agent, directory, words, places))
        elif files := agent.candidates(places, project=project):
            file = next((file for file in files if os.path.lexists(file)), files[-1])
            then = agent.then_in_project if project else agent.then
            changes.append(replace(_server_entry(agent, file, directory, agent.entry(words)), then=then))
        elif not project:
            paste = _lines_to_paste(agent, entry_name(directory), agent.entry(words))
            changes.append(Change(agent=agent.name, state="by hand", paste=paste, where=agent.where))
    if instructions:
        changes += [_instructions(agent, file, project=project) for agent, file in _guides(agents, places, project)]
    return [_kept_out(change) if project and _leads_out(change, places) else change for change in changes]


def _leads_out(change: Change, places: Places) -> bool:
    """Tell whether a project's file lies elsewhere: links may have come with somebody else's folder."""
    return change.real_file is not None and not change.real_file.is_relative_to(real(places.project))


def _kept_out(change: Change) -> Change:
    return replace(change, state="left alone", reason=f"it leads out of the project, to {change.real_file}", paste="")


def _server_entry(agent: Agent, file: Path, directory: Path, entry: Entry) -> Change:
    """Return what puts a server's entry into a file. Of one that is there, only what we write of it is changed."""
    shown = Change(agent=agent.name, state="left alone", file=file)
    try:
        original, editor = read_original(file), _EDITORS[agent.form]
        servers = _servers(editor.parse(original.text), agent)
        name = name_for(directory, servers)
        there, text = servers.get(name), original.text
        if there is None:
            text = put_value(editor, text, (agent.container, name), entry)
        else:
            for key, value in entry.items():
                if key not in there or there[key] != value:
                    text = put_value(editor, text, (agent.container, name, key), value)
        if text != original.text:
            check_writable(file)
    except NotOurs as error:
        return replace(shown, reason=str(error))
    except CannotEdit as error:
        return replace(shown, reason=str(error), paste=_lines_to_paste(agent, entry_name(directory), entry))
    after = original.encoded(text)
    state: State = "add" if there is None else "same" if after == original.content else "update"
    return replace(shown, state=state, names=(name,), before=original.content, after=after)


def _own_file(agent: Agent, directory: Path, words: Sequence[str], places: Places) -> Change:
    """Return what writes a file of a project that holds one server and nothing else."""
    name = entry_name(directory)
    file = places.project / agent.project_files[0] / f"{name}.yaml"
    lines = _lines_to_paste(agent, name, agent.entry(words))
    return _sealed_file(
        Change(agent=agent.name, state="left alone", file=file, names=(name,), paste=lines),
        sealed(f"name: {name}\nversion: 0.0.1\nschema: v1\n{lines}\n"),
    )


def _instructions(agent: str, file: Path, *, project: bool) -> Change:
    """Return what puts the instructions into a file: a block in a project's, else a skill."""
    shown = Change(agent=agent, what="instructions", state="left alone", file=file)
    if not project:
        return _sealed_file(shown, skill())
    try:
        original = read_original(file)
        text = with_block(original.text)
        if text != original.text:
            check_writable(file)
    except CannotEdit as error:
        return replace(shown, reason=str(error))
    after = original.encoded(text)
    state: State = "same" if after == original.content else "update" if "orienteer:begin" in original.text else "add"
    return replace(shown, state=state, before=original.content, after=after)


def _sealed_file(shown: Change, text: str) -> Change:
    """Return what writes a file that is all ours; one that is there must be so as we left it."""
    file = shown.file
    assert file is not None
    try:
        original = read_original(file)
        if original.content is not None and not is_sealed(original.text):
            raise NotOurs("it is not ours, or was changed")
        if original.content != text.encode():
            check_writable(file)
    except CannotEdit as error:
        return replace(shown, reason=str(error))
    after = text.encode()
    state: State = "add" if original.content is None else "same" if original.content == after else "update"
    return replace(shown, state=state, paste="", before=original.content, after=after)


# ----------------------------------------------------------------------------------------------------------- uninstall


def plan_uninstall(agents: Sequence[Agent], directory: Path | None, places: Places, *, project: bool) -> list[Change]:
    """Return what takes out the entries that are ours, all or those of one graph.

    With all graphs go the instructions, those that several agents share only with all agents.
    """
    changes: list[Change | None] = []
    for agent in agents:
        files = agent.candidates(places, project=project)
        if agent.form == "yaml":
            wanted = None if directory is None else json.dumps(str(directory), ensure_ascii=False)
            for file in [file for folder in files for file in sorted(folder.glob("orienteer*.yaml"))]:
                shown = Change(agent=agent.name, state="remove", file=file, names=(file.stem,))
                changes.append(_without_own_file(shown, wanted))
        else:
            changes += [_without_entries(agent, file, directory, project=project) for file in files]
    for reader, file in _guides(agents, places, project) if directory is None else ():
        if reader != _SHARED or len(agents) == len(AGENTS):
            changes.append(_without_instructions(reader, file, project))
    there = [change for change in changes if change is not None]
    return [change for change in there if not (project and _leads_out(change, places))]


def _without_entries(agent: Agent, file: Path, directory: Path | None, *, project: bool) -> Change | None:
    """Return what takes our entries out of a file; None where it holds none."""
    shown = Change(agent=agent.name, state="left alone", file=file, then="" if project else agent.then)
    content = b""
    try:
        original, editor = read_original(file), _EDITORS[agent.form]
        content = original.content or b""
        servers = _servers(editor.parse(original.text), agent)
        names = own_names(servers, directory)
        if not names:
            return None
        check_writable(file)
        own = {name: servers[name] for name in names}
        before = _before_install(agent, file, original, own)
        if before is None:
            text = original.text
            for name in names:
                text = cut_value(editor, text, (agent.container, name))
            before = Original(original.encoded(text))
    except CannotEdit as error:
        may_hold_ours = b"orienteer" in content if content else is_file(file)
        return replace(shown, reason=f"{error}; look for entries of orienteer in it") if may_hold_ours else None
    return replace(shown, state="remove", names=tuple(names), before=original.content, after=before.content)


def _before_install(agent: Agent, file: Path, original: Original, own: Mapping[str, Any]) -> Original | None:
    """Return what a file held before our entries came, where it is that with these and nothing else; else None.

    So an object that we had to make goes too, and a file that we made.
    """
    editor = _EDITORS[agent.form]
    first = Original(read_copy(file))
    try:
        text = first.text
        if own_names(_servers(editor.parse(text), agent)):
            return None
        for name, entry in own.items():
            text = put_value(editor, text, (agent.container, name), entry)
    except CannotEdit:
        return None
    return first if first.encoded(text) == original.content else None


def _without_own_file(shown: Change, wanted: str | None) -> Change | None:
    """Return what removes a file of ours, where it holds a text or none is wanted; None where it is not ours."""
    file = shown.file
    assert file is not None
    try:
        original = read_original(file)
        if original.content is None or (wanted is not None and wanted not in original.text):
            return None
        if not is_sealed(original.text):
            raise NotOurs("it was changed since; remove it by hand")
        check_writable(file)
    except CannotEdit as error:
        return replace(shown, state="left alone", reason=str(error))
    return replace(shown, before=original.content)


def _without_instructions(agent: str, file: Path, project: bool) -> Change | None:
    """Return what takes the instructions out of a file; None where it has none."""
    shown = Change(agent=agent, what="instructions", state="remove", file=file)
    if not project:
        return _without_own_file(shown, None)
    try:
        original = read_original(file)
        text = without_block(original.text)
        if text == original.text:
            return None
        check_writable(file)
    except CannotEdit as error:
        return replace(shown, state="left alone", reason=f"{error}; take it out by hand") if is_file(file) else None
    is_all = not text and read_copy(file) is None
    return replace(shown, before=original.content, after=None if is_all else original.encoded(text))


# -------------------------------------------------------------------------------------------------------------- common


def _servers(content: Mapping[str, Any], agent: Agent) -> dict[str, Any]:  # Any: other people's entries
    """Return the entries of a file. Raises `CannotEdit` where they are no table of names."""
    servers = content.get(agent.container, {})
    if not isinstance(servers, dict):
        raise CannotEdit(f"{agent.container!r} in it is no table of names")
    return servers


def _guides(agents: Sequence[Agent], places: Places, project: bool) -> list[tuple[str, Path]]:
    """Return the files for instructions with who reads them: Claude Code its own, all others one that they share."""
    names = {agent.name for agent in agents}
    guides = []
    if "claude-code" in names:
        file = (
            places.project / "CLAUDE.md" if project else places.root("claude-folder") / "skills/orienteer" / SKILL_FILE
        )
        guides.append(("claude-code", file))
    if names - {"claude-code", "claude-desktop"}:
        file = places.project / "AGENTS.md" if project else places.home / ".agents/skills/orienteer" / SKILL_FILE
        if not any(real(file) == real(other) for _, other in guides):
            guides.append((_SHARED, file))
    return guides


def _lines_to_paste(agent: Agent, name: str, entry: Entry) -> str:
    """Return what a person puts into an agent's file by hand, in the form of that file."""
    if agent.form == "toml":
        return toml_edit.put("", (agent.container, name), entry).rstrip("\n")
    if agent.form == "jsonc":
        return json.dumps(nested((agent.container, name), entry), indent=2, ensure_ascii=False)
    # JSON's texts and lists are YAML's, too. Goose drops an extension without a name in silence.
    fields = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in {"name": name, **entry}.items()]
    first, rest = ("  - ", "    ") if agent.is_a_list else ("    ", "    ")
    lines = [f"{rest if number else first}{field}" for number, field in enumerate(fields)]
    return "\n".join([f"{agent.container}:", *([] if agent.is_a_list else [f"  {name}:"]), *lines])


# The difference of two texts as a unified diff, quick in files of any size: what is alike at both ends is skipped.


_CONTEXT = 3
_WIDTH = 600
"""Characters that are shown of a line; files that programs write may be one line of a megabyte."""


def difference(name: str, old: str | None, new: str | None) -> list[str]:
    """Return the lines of a unified diff; None stands for no file. A line that is too long is cut at both ends."""
    before, after = _lines(old), _lines(new)
    same = _same_at_start(before, after)
    tail = _same_at_start(before[same:][::-1], after[same:][::-1])
    first = max(0, same - _CONTEXT)
    olds, news = (lines[first : len(lines) - max(0, tail - _CONTEXT)] for lines in (before, after))
    shown = [f"--- {name if old is not None else 'no file'}", f"+++ {name if new is not None else 'no file'}"]
    for group in SequenceMatcher(None, olds, news, autojunk=False).get_grouped_opcodes(_CONTEXT):
        (_, old_begin, _, new_begin, _), (_, _, old_end, _, new_end) = group[0], group[-1]
        shown.append(f"@@ -{_range(first, old_begin, old_end)} +{_range(first, new_begin, new_end)} @@")
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                shown += [f" {_cut(line, 0)}" for line in olds[i1:i2]]
                continue
            at = len(commonprefix([olds[i1], news[j1]])) if i1 < i2 and j1 < j2 else 0
            shown += [f"-{_cut(line, at)}" for line in olds[i1:i2]]
            shown += [f"+{_cut(line, at)}" for line in news[j1:j2]]
    return shown


def _lines(text: str | None) -> list[str]:
    """Return the lines of a text; the last says so where nothing ends it."""
    if not text:
        return []
    *lines, last = text.split("\n")
    return [*lines, f"{last}\n\\ No newline at end of file"] if last else lines


def _same_at_start(before: Sequence[str], after: Sequence[str]) -> int:
    """Return how many lines two texts begin with alike."""
    return next(
        (place for place, (old, new) in enumerate(zip(before, after, strict=False)) if old != new),
        min(len(before), len(after)),
    )


def _range(first: int, begin: int, end: int) -> str:
    """Return a range of lines as a hunk's heading has it: the first line, from 1, and how many there are."""
    return f"{first + begin + (end > begin)},{end - begin}"


def _cut(line: str, at: int) -> str:
    """Return a line, of a long one what stands about a place."""
    if len(line) <= _WIDTH:
        return line
    begin = max(0, min(at - _WIDTH // 6, len(line) - _WIDTH))
    end = begin + _WIDTH
    return f"{'…' if begin else ''}{line[begin:end]}{'…' if end < len(line) else ''}"


# Other people's files: read with care, changed at one stroke, and copied once before.


COPY_SUFFIX = ".before-orienteer"
_MOST_BYTES = 64_000_000
"""Of a file that is edited: far above any configuration, and read and shown in seconds."""
_BYTE_ORDER_MARK = "\ufeff"


class Original(NamedTuple):
    """A file as it was read; None stands for no file."""

    content: bytes | None

    @property
    def text(self) -> str:
        """Its text, without a byte order mark. Raises `CannotEdit` for what is no UTF-8."""
        try:
            return (self.content or b"").decode().removeprefix(_BYTE_ORDER_MARK)
        except UnicodeDecodeError as error:
            raise CannotEdit("it is no UTF-8") from error

    def encoded(self, text: str) -> bytes:
        """Return a text as the file would hold it, with a byte order mark where it has one."""
        mark = _BYTE_ORDER_MARK.encode()
        return (mark if (self.content or b"").startswith(mark) else b"") + text.encode()


def read_original(file: Path) -> Original:
    """Return what a file holds. Raises `CannotEdit` where it is nothing that can be read, and replaced, as a file."""
    try:
        if not file.exists():
            if file.is_symlink():
                raise CannotEdit("it is a link that leads nowhere")
            return Original(None)
        if not file.is_file():
            raise CannotEdit("it is a folder" if file.is_dir() else "it is no ordinary file")
        size = file.stat().st_size
        if size > _MOST_BYTES:
            raise CannotEdit(f"it has {size:,} bytes, and more than {_MOST_BYTES:,} are not edited")
        return Original(file.read_bytes())
    except OSError as error:
        raise CannotEdit(f"it cannot be read: {error.strerror or error}") from error


def is_file(file: Path) -> bool:
    """Tell whether a path is a file, as far as that can be told: one in a closed folder is none."""
    try:
        return file.is_file()
    except PermissionError:
        return False


def check_writable(file: Path) -> None:
    """Raise `CannotEdit` for a file that is read-only, which its folder would let us replace."""
    if file.exists() and not (file.stat().st_mode & 0o222 and os.access(file, os.W_OK)):
        raise CannotEdit("it is read-only")


def real(file: Path) -> Path:
    """Return the file that a path leads to through all links; of links in a circle, one of them."""
    return Path(os.path.realpath(file))


def copy_of(file: Path) -> Path:
    """Return where the copy of a file lies, beside the real one where it is a link."""
    target = real(file)
    return target.with_name(target.name + COPY_SUFFIX)


def read_copy(file: Path) -> bytes | None:
    """Return what a file held before its first change by us, where that is kept."""
    copy = copy_of(file)
    return copy.read_bytes() if copy.is_file() and not copy.is_symlink() else None


def write_change(file: Path, before: bytes | None, after: bytes | None, *, keeps_copy: bool) -> Path | None:
    """Change a file, and return where the copy of what it held first is, if there is one; None stands for no file.

    `keeps_copy` makes that copy where there is none; it is never replaced. It goes where the file holds the same again.
    Raises `CannotEdit` where the file was changed meanwhile; `OSError`.
    """
    copy = copy_of(file)
    real(file).parent.mkdir(parents=True, exist_ok=True)
    is_first = keeps_copy and before is not None and not os.path.lexists(copy)
    if is_first and before is not None:
        mode = file.stat().st_mode & 0o777
        exchange(copy, None, before)
        copy.chmod(mode)
    try:
        exchange(file, before, after)
    except BaseException as error:
        if is_first:
            copy.unlink()
        if isinstance(error, Error):
            raise CannotEdit("it has changed since it was read; run the command again") from error
        raise
    if after is not None and read_copy(file) == after:
        copy.unlink()
    return copy if copy.exists() else None
