"""TOML edited as text: a table at the end, found again by its keys, and every other byte as it was."""

import tomllib

import pytest
from hypothesis import given, settings

from agent_files import toml_files
from orienteer.serve import TOML_EDITOR, CannotEdit, cut_value, put_value

pytestmark = pytest.mark.slow

PATH = ("mcp_servers", "orienteer-a")
ENTRY = {"command": "C:\\a b\\uvx.exe", "args": ["mcp", '/é "x"\x7f'], "startup_timeout_sec": 30, "on": True}


def put(text, path=PATH, value=ENTRY):
    return put_value(TOML_EDITOR, text, path, value)


def cut(text, path=PATH):
    return cut_value(TOML_EDITOR, text, path)


CODEX = '# mine\nmodel = "gpt-5.2"\n\n[mcp_servers.other]\ncommand = "x" # note\n\n[desktop]\na = 1\n'


def test_a_table_comes_at_the_end():
    made = put(CODEX, value={"command": "uvx", "args": ["mcp", "/a"]})
    assert made == CODEX + '\n[mcp_servers.orienteer-a]\ncommand = "uvx"\nargs = ["mcp", "/a"]\n'
    assert cut(made) == CODEX


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "\n\n\n",
        "a = 1",
        "a = 1\n\n\n",
        "# alone",
        'a = """\n[mcp_servers.orienteer-a]\nx = 1\n"""\n',
        "a = '''\n[x]''''\nb = [ # one ]\n  '#', [1,\n 2] ]\n",
        'a = "x"\r\n\r\n[mcp_servers]\r\n\t[mcp_servers."b.c"] # note\r\n\t"d e".f = 1\r\n',
        "[[fruit]]\napple.color = 1\n\n[potato]\n\n[fruit.apple.texture]\nsmooth = true\n",
        "[mcp_servers.a]\nx=1\n[z]\n[mcp_servers]\nq = 1\n[mcp_servers.b]\n",
        "mcp_servers.a.command = 'x'\n[z]\n",
        "a = 1979-05-27T07:32:00Z\nb = [{ x = 1 }, { y = { z = 2 } }]   \nc = inf",
        'a = """"quoted""""\n',
    ],
)
def test_the_same_bytes_come_back(text):
    made = put(text)
    assert tomllib.loads(made)["mcp_servers"]["orienteer-a"] == ENTRY
    assert text in made
    assert cut(made) == text


def test_what_others_wrote_about_ours_stays():
    made = put(CODEX) + "\n# about next\n[next]\na = 1\n"
    assert cut(made) == CODEX + "\n# about next\n[next]\na = 1\n"


def test_our_table_goes_with_its_sub_tables_however_it_is_written():
    text = (
        "[mcp_servers]\n'orienteer-a'.command = 'x'\nother = { command = 'y' }\n"
        "[mcp_servers.orienteer-a.env]\nA = 'b'\n"
        "\n[mcp_servers.orienteer-ab]\ncommand = 'z'\n\n[mcp_servers.orienteer-a.tools.x]\nb = [\n 1,\n]\n[end]\n"
    )
    assert cut(text) == (
        "[mcp_servers]\nother = { command = 'y' }\n\n[mcp_servers.orienteer-ab]\ncommand = 'z'\n[end]\n"
    )


def test_one_key_changes_and_the_rest_stays():
    text = "[mcp_servers.orienteer-a] # ours\ncommand = 'old' # why\nargs = [\n  'x', # one\n]\n\n[z]\n"
    changed = put(put(put(text, (*PATH, "command"), "new"), (*PATH, "args"), ["y"]), (*PATH, "tool_timeout_sec"), 9)
    assert changed == (
        '[mcp_servers.orienteer-a] # ours\ncommand = "new" # why\nargs = ["y"]\ntool_timeout_sec = 9\n\n[z]\n'
    )


@pytest.mark.parametrize(
    "text",
    [
        "a = ",
        "[a\n",
        "a = 1\na = 2\n",
        "mcp_servers = { b = { command = 'x' } }\n",
        "mcp_servers = 1\n",
        "[[mcp_servers]]\na = 1\n",
        "a = " + "[" * 100_000,
        '{"a": 1}',
    ],
)
def test_what_is_not_understood_or_cannot_grow_is_refused(text):
    with pytest.raises(CannotEdit):
        put(text)


def test_ours_within_an_inline_table_is_not_edited():
    with pytest.raises(CannotEdit, match="a way that is not edited"):
        cut("mcp_servers = { orienteer-a = { command = 'x' }, b = { command = 'y' } }\n")


# ------------------------------------------------------------------------------- any text: the same bytes come back


@settings(max_examples=400)
@given(toml_files())
def test_what_came_goes_and_the_rest_stays_to_the_byte(text):
    assert cut(put(text)) == text


@settings(max_examples=100)
@given(toml_files())
def test_two_come_and_go_in_either_order(text):
    first, second = (("mcp_servers", name) for name in ("orienteer-a", "orienteer-b"))
    made = put(put(text, first), second, {"command": "y"})
    assert cut(cut(made, second), first) == text
    assert tomllib.loads(cut(made, first))["mcp_servers"]["orienteer-b"] == {"command": "y"}
