"""Third-party configuration files: parsed, edited as text so that all else stays, and replaced whole."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from hashlib import sha256
from os.path import commonprefix
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from orienteer.errors import Error
from orienteer.files import exchange


class CannotEdit(Error):
    """A file cannot be parsed or must not be edited: it stays unchanged. The message has no full stop."""


class NotOurs(CannotEdit):
    """Something with our name is not ours, or was changed since we wrote it."""


_NOT_EDITED = "it is written in a way that is not edited here"


class Form(NamedTuple):
    """A format of configuration files: three functions over a file's text, which raise `CannotEdit`."""

    parse: Callable[[str], dict[str, Any]]  # Any: what a configuration file holds
    put: Callable[[str, str, str, Mapping[str, Any]], str]
    """Returns the text with an entry in a table: its table, its name and its values."""
    cut: Callable[[str, str, str], str]
    """Returns the text without an entry of a table."""


def servers_of(content: Mapping[str, Any], table: str) -> dict[str, Any]:  # Any: other people's entries
    """Return the entries of a parsed file. Raises `CannotEdit` if they are not a table of names."""
    servers = content.get(table, {})
    if not isinstance(servers, dict):
        raise CannotEdit(f"{table!r} in it is not a table of names")
    return servers


def edited(form: Form, text: str, table: str, name: str, entry: Mapping[str, Any] | None) -> str:  # Any: as above
    """Return a text with an entry set, or removed if `entry` is None. Raises `CannotEdit` rather than damage."""
    try:
        content = form.parse(text)
        others = {other: value for other, value in servers_of(content, table).items() if other != name}
        wanted = {**content, table: others if entry is None else {**others, name: entry}}
        changed = form.cut(text, table, name) if entry is None else form.put(text, table, name, entry)
        # The new text is parsed again: it may differ from the old one in this entry alone.
        is_right = _without_empty(form.parse(changed)) == _without_empty(wanted)
    except RecursionError as error:
        raise CannotEdit("it is nested too deep") from error
    if not is_right:
        raise CannotEdit(_NOT_EDITED)
    return changed


def _without_empty(content: Mapping[str, Any]) -> dict[str, Any]:  # Any: as above
    return {key: value for key, value in content.items() if value != {}}


def newline_of(text: str) -> str:
    """Return the first line's ending, or a line feed if there is only one line."""
    match = re.search(r"\r?\n", text)
    return match[0] if match else "\n"


def append_block(text: str, block: str) -> str:
    """Append lines, the last one without an end, after an empty one: `cut_block` gives the same text back."""
    newline = newline_of(text)
    block = block.replace("\n", newline)
    if text and not text.endswith("\n"):
        return f"{text}{newline}{newline}{block}"
    return f"{text}{newline if text else ''}{block}{newline}"


def cut_block(text: str, begin: int, end: int) -> str:
    """Return a text without the lines from `begin` to `end`, before what ends them, and an empty line before them."""
    before, after = text[:begin], text[end:]
    if not after:
        return re.sub(r"(?:\r?\n){1,2}\Z", "", before)
    return re.sub(r"(?<=\n)\r?\n\Z", "", before) + re.sub(r"\A\r?\n", "", after)


# JSON with comments and trailing commas.


_COMMENT_OR_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\Z)|//[^\r\n]*+|/\*.*?(?:\*/|\Z)', re.DOTALL)
_LAST_COMMA_OR_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\Z)|,(?=[ \t\r\n]*+[}\]])', re.DOTALL)
_BLANKS = " \t\r\n"


class _Member(NamedTuple):
    """The offsets of an object's member: of its key, its value, and its end."""

    begin: int
    value: int
    end: int


def parse_jsonc(text: str) -> dict[str, Any]:  # Any: JSON
    """Return the content of a text; nothing if it is blank but for comments. Raises `CannotEdit`."""

    def refuse(name: str) -> NoReturn:
        raise ValueError(f"{name} is not a JSON number")

    plain = _plain_json(text)
    if not plain.strip(_BLANKS):
        return {}
    try:
        content = json.loads(plain, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise CannotEdit(f"line {error.lineno} is not JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        # Numbers of thousands of digits and thousands of brackets raise these.
        raise CannotEdit(f"it is JSON that cannot be read here: {error}") from error
    if not isinstance(content, dict):
        raise CannotEdit("it is not an object")
    return content


def put_jsonc(text: str, table: str, name: str, entry: Mapping[str, Any]) -> str:  # Any: JSON
    """Return a text with an entry in a table: in the place of one that is there, else first in its table."""
    plain, newline = _plain_json(text), newline_of(text)
    if not plain.strip(_BLANKS):
        gap = newline if text and not text.endswith("\n") else ""
        return text + gap + _dumps({table: {name: entry}}, 2).replace("\n", newline) + newline
    root, value = plain.index("{"), dict(entry)
    servers = _member(plain, root, table)
    if servers is None:
        return _with_first(text, plain, root, table, {name: value})
    member = _member(plain, servers.value, name)
    if member is None:
        return _with_first(text, plain, servers.value, name, value)
    is_inline = "\n" not in text[member.value : member.end]
    lines = _dumps(value, None if is_inline else _unit(text)).replace("\n", newline + _indent(text, member.begin))
    return text[: member.value] + lines + text[member.end :]


def _with_first(text: str, plain: str, brace: int, key: str, value: object) -> str:
    """Return a text with a new first member in the object that opens at `brace`, in a line if the others are."""
    before, after = text[: brace + 1], text[brace + 1 :]
    if re.match(r'[ \t]*"', plain[brace + 1 :]):
        return f"{before}{_dumps(key)}: {_dumps(value)}, {after}"
    newline, outer, unit = newline_of(text), _indent(text, brace), _unit(text)
    member = f"{_dumps(key)}: {_dumps(value, unit)}".replace("\n", newline + outer + unit)
    comma = "" if plain[brace + 1 :].lstrip(_BLANKS).startswith("}") else ","
    # A comment that ends the line of the brace is about the object: it stays there.
    rest_of_line = re.match(r"[ \t]*(?://[^\r\n]*)?(?=\r?\n)", after)
    if rest_of_line is None:
        return f"{before}{newline}{outer}{unit}{member}{comma}{newline}{outer}{after}"
    return f"{before}{rest_of_line[0]}{newline}{outer}{unit}{member}{comma}{after[rest_of_line.end() :]}"


def cut_jsonc(text: str, table: str, name: str) -> str:
    """Return a text without an entry of a table, and without the comma that separated it."""
    plain = _plain_json(text)
    servers = _member(plain, plain.index("{"), table)
    entry = None if servers is None else _member(plain, servers.value, name)
    if servers is None or entry is None:
        return text
    before, after = text[: entry.begin], text[entry.end :]
    bare = _blanked(_COMMENT_OR_STRING, text)
    rest = bare[entry.end :].lstrip(_BLANKS)
    if rest.startswith(","):
        comma = len(bare) - len(rest) - entry.end
        after = after[:comma] + after[comma + 1 :]
    elif plain[: entry.begin].rstrip(_BLANKS).endswith(","):
        comma = plain.rindex(",", servers.value, entry.begin)
        before = before[:comma] + before[comma + 1 :]
    # The line goes if nothing else is on it.
    is_alone = before.rstrip(_BLANKS).endswith("{") and after.lstrip(_BLANKS).startswith("}")
    if is_alone or re.match(r"[ \t]*\r?\n", after):
        before = before.rstrip(_BLANKS)
    if is_alone or before.endswith("{"):
        after = after.lstrip(_BLANKS if is_alone else " ")
    return before + after


def _plain_json(text: str) -> str:
    """Return JSON of the same length: comments and trailing commas are blanks. Raises `CannotEdit`."""
    return _blanked(_LAST_COMMA_OR_STRING, _blanked(_COMMENT_OR_STRING, text))


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    """Replace the matches of a pattern by blanks, except for strings."""

    def blank(match: re.Match[str]) -> str:
        found = match[0]
        if found.startswith("/*") and not (len(found) > 3 and found.endswith("*/")):
            raise CannotEdit("a comment in it does not end")
        return found if found.startswith('"') else " " * len(found)

    return pattern.sub(blank, text)


def _member(plain: str, brace: int, key: str) -> _Member | None:
    """Return the member of a key in an object of valid JSON. Raises `CannotEdit` for no object, or two members."""
    if plain[brace] != "{":
        raise CannotEdit("what should be a table in it is not an object")
    decoder, members, at = json.JSONDecoder(), list[_Member](), brace + 1
    while True:
        at = _next(plain, at, _BLANKS + ",")
        if plain[at] == "}":
            break
        found, after = decoder.raw_decode(plain, at)
        value = _next(plain, after, _BLANKS + ":")
        _, end = decoder.raw_decode(plain, value)
        if found == key:
            members.append(_Member(at, value, end))
        at = end
    if len(members) > 1:
        raise CannotEdit(f"it has {key!r} twice, and programs differ about which of them counts")
    return members[0] if members else None


def _next(plain: str, at: int, skipped: str) -> int:
    """Return the first offset from `at` on whose character is not in `skipped`."""
    while plain[at] in skipped:
        at += 1
    return at


def _dumps(value: object, indent: str | int | None = None) -> str:
    """Return a value as JSON that can be encoded: only halves of characters are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return json.dumps(value, indent=indent) if re.search("[\ud800-\udfff]", text) else text


def _unit(text: str) -> str:
    """Return the indentation that a text uses: the blanks before its first indented key, or two."""
    match = re.search(r'[\r\n]([ \t]+)"', text)
    return match[1] if match else "  "


def _indent(text: str, offset: int) -> str:
    """Return the blanks at the beginning of the line of an offset."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip(" \t"))]


# TOML: an entry is a table at the end of the file, found again by its header.


_HEADER = re.compile(r"^[ \t]*\[{1,2}([^\]\n]+)\]{1,2}[ \t]*(?:#[^\n]*)?\r?$", re.MULTILINE)


def parse_toml(text: str) -> dict[str, Any]:  # Any: TOML
    """Return the content of a text. Raises `CannotEdit`."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CannotEdit(f"it is not TOML: {error}") from error


def put_toml(text: str, table: str, name: str, entry: Mapping[str, Any]) -> str:  # Any: TOML
    """Return a text with an entry as its last table."""
    lines = [f"[{_key(table)}.{_key(name)}]", *(f"{_key(key)} = {_toml(value)}" for key, value in entry.items())]
    return append_block(cut_toml(text, table, name), "\n".join(lines))


def cut_toml(text: str, table: str, name: str) -> str:
    """Return a text without the table of an entry and its sub-tables."""
    headers = [*_HEADER.finditer(text)]
    end = len(text)
    for header in reversed(headers):
        begin, keys = header.start(), list[str]()
        try:
            content: Any = tomllib.loads(f"[{header[1]}]")  # Any: TOML
        except tomllib.TOMLDecodeError:
            # The line is inside an array or a text.
            content = {}
        while content:
            [(key, content)] = content.items()
            keys.append(key)
        if keys[:2] == [table, name]:
            # Comments before the next header are about that.
            lines = text[header.end() : end].split("\n")
            while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
                lines.pop()
            text = cut_block(text, begin, len((text[: header.end()] + "\n".join(lines)).rstrip("\r\n")))
        end = begin
    return text


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml(key)


def _toml(value: object) -> str:
    """Return a value as TOML. Raises `CannotEdit` for one that is not also a value of JSON."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    try:
        # JSON may have a delete character, and TOML not.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    except TypeError as error:
        raise CannotEdit(_NOT_EDITED) from error


FORMS = {"jsonc": Form(parse_jsonc, put_jsonc, cut_jsonc), "toml": Form(parse_toml, put_toml, cut_toml)}


# Our own text: a block in a file, or a whole file. Each has a seal, a hash of the text, so that a changed one is left
# alone.


_BLOCK = re.compile(r"<!-- orienteer:begin ([0-9a-f]{12}) -->\r?\n(.*?)\r?\n<!-- orienteer:end -->", re.DOTALL)
_SEAL = re.compile(r"^(# |<!-- )orienteer:([0-9a-f]{12})( -->)?\r?\n?\Z", re.MULTILINE)
BLOCK_MARK = "<!-- orienteer:begin"


def with_block(text: str, block: str) -> str:
    """Return a text with our block at its end, or in the place that it has. Raises `CannotEdit`."""
    sealed_block = f"{BLOCK_MARK} {_hash(block)} -->\n{block}\n<!-- orienteer:end -->"
    found = _block_in(text)
    if found is None:
        return append_block(text, sealed_block)
    return text[: found.start()] + sealed_block.replace("\n", newline_of(text)) + text[found.end() :]


def without_block(text: str) -> str:
    """Return a text without our block. Raises `CannotEdit`."""
    found = _block_in(text)
    return text if found is None else cut_block(text, found.start(), found.end())


def _block_in(text: str) -> re.Match[str] | None:
    """Return the match of our block. Raises `CannotEdit` if its marks are not a pair, or if it was changed."""
    marks = text.count(BLOCK_MARK), text.count("<!-- orienteer:end")
    if marks == (0, 0):
        return None
    block = _BLOCK.search(text)
    if marks != (1, 1) or block is None:
        raise CannotEdit("the marks of our block in it are not a pair")
    if block[1] != _hash(block[2]):
        raise NotOurs("our block in it was changed")
    if block.start() and text[block.start() - 1] != "\n":
        raise CannotEdit("our block in it does not begin a line")
    return block


def sealed(text: str, seal: str = "# orienteer:{}\n") -> str:
    """Return a text with its seal as the last line."""
    return text + seal.format(_hash(text))


def is_sealed(text: str) -> bool:
    """Return whether a text is unchanged since any version of Orienteer wrote it."""
    seal = _SEAL.search(text)
    return seal is not None and seal[2] == _hash(text[: seal.start()])


def _hash(text: str) -> str:
    """Return a short hash of a text, whichever way its lines end."""
    return sha256(text.replace("\r\n", "\n").encode()).hexdigest()[:12]


# Reading, showing and writing files.


COPY_SUFFIX = ".before-orienteer"
# Bytes of a file that is edited: far above any configuration, and read and shown in seconds.
_MOST_BYTES = 64_000_000
_CONTEXT = 3  # lines around a change
# Characters that are shown of a line; files that programs write may be one line of a megabyte.
_WIDTH = 600


def real(file: Path) -> Path:
    """Return the file that a path leads to through all links; of links in a circle, one of them."""
    return Path(os.path.realpath(file))


def read_file(file: Path) -> bytes | None:
    """Return the content of a file, or None for no file. Raises `CannotEdit` if it is not a readable file."""
    try:
        if not file.exists():
            if file.is_symlink():
                raise CannotEdit("it is a link that leads nowhere")
            return None
        if not file.is_file():
            raise CannotEdit("it is a folder" if file.is_dir() else "it is not an ordinary file")
        size = file.stat().st_size
        if size > _MOST_BYTES:
            raise CannotEdit(f"it has {size:,} bytes, and more than {_MOST_BYTES:,} are not edited")
        return file.read_bytes()
    except OSError as error:
        raise CannotEdit(f"it cannot be read: {error.strerror or error}") from error


def copy_of(file: Path) -> Path:
    """Return the path of a file's backup, next to the real file if the path is a link."""
    target = real(file)
    return target.with_name(target.name + COPY_SUFFIX)


def write_change(file: Path, before: bytes | None, after: bytes | None, *, keeps_copy: bool) -> Path | None:
    """Replace a file's content, None being no file; return the path of its backup, or None without one.

    With `keeps_copy` a backup is made unless there is one, for it is never replaced. It is removed once the file holds
    the same again. Raises `CannotEdit` if the file was changed meanwhile; `OSError`.
    """
    copy = copy_of(file)
    real(file).parent.mkdir(parents=True, exist_ok=True)
    is_first = before is not None and keeps_copy and not os.path.lexists(copy)
    if is_first:
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
    has_copy = copy.is_file() and not copy.is_symlink()
    if has_copy and after is not None and copy.read_bytes() == after:
        copy.unlink()
        has_copy = False
    return copy if has_copy else None


def difference(name: str, old: str | None, new: str | None) -> list[str]:
    """Return a diff with one hunk, from the first to the last line that differs; None means a missing file."""
    before, after = _lines(old), _lines(new)
    # What is alike at both ends is skipped first: such files may have a hundred thousand lines.
    start = len(commonprefix([before, after]))
    end = len(commonprefix([before[start:][::-1], after[start:][::-1]]))
    first = max(0, start - _CONTEXT)
    removed, added = before[start : len(before) - end], after[start : len(after) - end]
    same = before[len(before) - end :][:_CONTEXT]
    at = len(commonprefix([removed[0], added[0]])) if removed and added else 0
    sizes = [start - first + len(lines) + len(same) for lines in (removed, added)]
    return [
        f"--- {'no file' if old is None else name}",
        f"+++ {'no file' if new is None else name}",
        f"@@ -{first + (sizes[0] > 0)},{sizes[0]} +{first + (sizes[1] > 0)},{sizes[1]} @@",
        *(f" {_shortened(line, 0)}" for line in before[first:start]),
        *(f"-{_shortened(line, at)}" for line in removed),
        *(f"+{_shortened(line, at)}" for line in added),
        *(f" {_shortened(line, 0)}" for line in same),
    ]


def _lines(text: str | None) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _shortened(line: str, at: int) -> str:
    """Return a line; of a long one the part around an offset."""
    if len(line) <= _WIDTH:
        return line
    begin = max(0, min(at - _WIDTH // 6, len(line) - _WIDTH))
    end = begin + _WIDTH
    return f"{'…' if begin else ''}{line[begin:end]}{'…' if end < len(line) else ''}"
