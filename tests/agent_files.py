"""Configuration files as somebody might have written them, for the tests of `orienteer install`."""

import json
import tomllib

from hypothesis import strategies as st

BLANKS = st.sampled_from(["", " ", "\t", "\n", "\n  ", "\r\n    ", ' // , } " note\n', "/* { */", "\n/* a\n , b */\n"])
JSON_KEYS = st.sampled_from(["a", "b", "é", "//", "/*", 'q"', "\\", "\u2028", "mcp", ""])
JSON_SCALARS = st.one_of(
    st.integers(-5, 5), st.booleans(), st.none(), st.sampled_from(["", "x // y", ",}", '"', "\u2028", "\\"])
).map(json.dumps)


@st.composite
def _json_objects(draw, depth=2, fixed=()):
    """Draw an object as somebody might write it; `fixed` are members that it has in any case."""
    members = list(fixed)
    for key in draw(st.lists(JSON_KEYS, max_size=3)):
        value = draw(JSON_SCALARS if depth == 0 else st.one_of(JSON_SCALARS, _json_objects(depth - 1), _json_arrays()))
        members.append((json.dumps(key, ensure_ascii=draw(st.booleans())), value))
    members = draw(st.permutations(members))
    parts = [draw(BLANKS) + k + draw(BLANKS) + ":" + draw(BLANKS) + v + draw(BLANKS) for k, v in members]
    comma = "," + draw(BLANKS) if parts and draw(st.booleans()) else ""
    return "{" + ",".join(parts) + comma + draw(BLANKS if not parts else st.just("")) + "}"


@st.composite
def _json_arrays(draw):
    values = draw(st.lists(JSON_SCALARS, max_size=3))
    return "[" + ",".join(draw(BLANKS) + value for value in values) + draw(BLANKS) + "]"


@st.composite
def json_files(draw):
    """Draw a file that may have the table of servers, empty or with some."""
    fixed = []
    if draw(st.booleans()):
        fixed = [('"mcpServers"', draw(_json_objects(1)))]
    return draw(BLANKS) + draw(_json_objects(2, fixed)) + draw(BLANKS)


TOML_KEYS = st.sampled_from(["a", "b-c", '"d.e"', "'f g'", "1", "h.i", 'j . "k"'])
TOML_VALUES = st.sampled_from(
    [
        "1",
        "'x'",
        '"# ]"',
        '"""\n[a]\n\\""""',
        "'''\n# x\n'''",
        "[1, [2],\n # c ]\n]",
        "{ x = 1, y = { z = '}' } }",
        "07:32:00",
    ]
)
TOML_BLANKS = st.sampled_from(["", "\n", "# note [x]\n", "  \n", "\t# 'a\n"])
TOML_TABLES = st.sampled_from(
    ["[x]", "[ x.y ]", "[mcp_servers]", "[mcp_servers.other]", "[[list]]", "[list.inner] # c", "\t[z]"]
)


@st.composite
def _toml_texts(draw):
    lines = []
    for table in [None, *draw(st.lists(TOML_TABLES, max_size=4))]:
        lines += [draw(TOML_BLANKS), f"{table}\n" if table else ""]
        lines += [
            f"{draw(TOML_BLANKS)}{key} = {draw(TOML_VALUES)}{draw(st.sampled_from(['', ' # c', '  ']))}\n"
            for key in draw(st.lists(TOML_KEYS, max_size=3))
        ]
    text = "".join([*lines, draw(TOML_BLANKS)])
    text = text.removesuffix("\n") if draw(st.booleans()) else text
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def _is_valid(text):
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def toml_files():
    """Draw a file of the kind that Codex has."""
    return _toml_texts().filter(_is_valid)
