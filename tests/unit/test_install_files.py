"""Configuration files edited as text: an entry comes and goes, and everything else in them stays."""

import json
import re

import pytest
from hypothesis import given, settings

from agent_files import json_files, toml_files
from orienteer.serve import FILE_FORMS, CannotEdit, edited_file

pytestmark = pytest.mark.slow

ENTRY = {"command": "C:\\a b\\uvx.exe", "args": ["mcp", '/é "x"\x7f'], "timeout": 30, "trust": False}
SHORT = {"command": "x"}
TABLES = {"jsonc": "mcpServers", "toml": "mcp_servers"}


def put(text, form="jsonc", name="orienteer-a", entry=ENTRY):
    return edited_file(FILE_FORMS[form], text, TABLES[form], name, entry)


def cut(text, form="jsonc", name="orienteer-a"):
    return edited_file(FILE_FORMS[form], text, TABLES[form], name, None)


def parse(text, form="jsonc"):
    return FILE_FORMS[form].parse(text)


def servers(text, form="jsonc"):
    return parse(text, form).get(TABLES[form], {})


def filled(content):
    return {key: value for key, value in content.items() if value != {}}


# ------------------------------------------------------------------------------------------ JSON with comments


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "mcpServers": {\n    "orienteer-a": {\n      "command": "x"\n    }\n  }\n}\n'),
        ('{"a": 1}\n', '{"mcpServers": {"orienteer-a": {"command": "x"}}, "a": 1}\n'),
        (
            '{\r\n\t"mcpServers": {}\r\n}',
            '{\r\n\t"mcpServers": {\r\n\t\t"orienteer-a": {\r\n\t\t\t"command": "x"\r\n\t\t}\r\n\t}\r\n}',
        ),
        (
            '{\n  "mcpServers": { // all of them\n    "b": {}, // its note\n  }, /* end */\n}\n',
            '{\n  "mcpServers": { // all of them\n    "orienteer-a": {\n      "command": "x"\n    },\n'
            '    "b": {}, // its note\n  }, /* end */\n}\n',
        ),
        (
            '{\n  "mcpServers": {"b": {}}, "x": "// no comment"\n}\n',
            '{\n  "mcpServers": {"orienteer-a": {"command": "x"}, "b": {}}, "x": "// no comment"\n}\n',
        ),
    ],
)
def test_an_entry_is_set_as_its_neighbours_are(before, after):
    assert put(before, entry=SHORT) == after
    if "mcpServers" in before and "{}}" not in before:
        assert cut(after) == before


def test_a_text_of_comments_alone_keeps_them():
    made = put("// mine\n", entry=SHORT)
    assert made.startswith("// mine\n{\n")
    assert put("// mine", entry=SHORT) == made


def test_what_others_added_around_ours_stays():
    ours = '{\n  "mcpServers": {\n    "a": 1, // one\n    "orienteer-a": {}, // mine\n    "b": 2\n  }\n}\n'
    assert servers(cut(ours)) == {"a": 1, "b": 2}
    assert re.findall("// [a-z]+", cut(ours)) == ["// one", "// mine"]
    ours = '{"mcpServers": {\n  "a": 1, // one\n  "orienteer-a": {} /* still */, "b": 2\n}}'
    assert servers(cut(ours)) == {"a": 1, "b": 2}
    assert "// one" in cut(ours)
    assert "/* still */" in cut(ours)
    ours = '{"mcpServers": {"a": 1, // one\n  "orienteer-a": {}\n}}'
    assert servers(cut(ours)) == {"a": 1}


def test_an_entry_that_is_there_is_replaced_in_its_place():
    text = '{"mcpServers": {\n  "a": 1, // one\n  "orienteer-a": {"command": "old"}, // ours\n  "b": 2}}'
    assert put(text, entry=SHORT) == text.replace('"old"', '"x"')


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{ not json", "line 1 is not JSON"),
        ('{\n"a": 1\n"b": 2}', "line 3 is not JSON"),
        ('{"a": 1} /* open', "a comment in it does not end"),
        ('{"a": "open', "is not JSON"),
        ('{"a": 1}{}', "is not JSON"),
        ('{"a": NaN}', "NaN"),
        ("[1]", "not an object"),
        ('"text"', "not an object"),
        ("[" * 100_000, "JSON that cannot be read|is not JSON"),
        ('{"a": ' + "9" * 5000 + "}", "JSON that cannot be read"),
        ('{"mcpServers": []}', "not a table of names"),
        ('{"mcpServers": null}', "not a table of names"),
        ('{"mcpServers": {}, "mcpServers": {"b": 1}}', "'mcpServers' twice"),
        ('{"mcpServers": {"orienteer-a": 1, "orienteer-a": 2}}', "'orienteer-a' twice"),
        ("{'a': 1}", "is not JSON"),
        ("{a: 1}", "is not JSON"),
        ('{"a": 1,,}', "is not JSON"),
        ("\x00", "is not JSON"),
    ],
)
def test_what_is_not_understood_is_refused(text, reason):
    with pytest.raises(CannotEdit, match=reason):
        put(text)


def test_a_key_that_others_have_twice_is_no_trouble():
    text = '{"x": 1, "x": 2, "mcpServers": {"b": {"y": 1, "y": 2}}}'
    assert cut(put(text)) == text


def test_a_pathological_text_takes_no_time_of_its_length_squared():
    for text in ('{"a": "' + '\\"' * 300_000, "/*" * 300_000, '{"a":1}' + "//" * 300_000, "{" + "," * 300_000):
        try:
            put(text)
        except CannotEdit:
            continue


@pytest.mark.parametrize("depth", [*range(880, 1000, 3)])
def test_a_text_that_can_just_be_read_is_edited_or_refused(depth):
    text = '{"mcpServers": ' + '{"a": ' * depth + "1" + "}" * (depth + 1)
    try:
        assert parse(cut(put(text))) == parse(text)
    except CannotEdit:
        assert depth > 880


def test_a_large_file_keeps_all_else():
    text = json.dumps({"projects": {f"/a/{place}": {"history": ["x" * 50] * 40} for place in range(4000)}}, indent=2)
    made = put(text)
    assert len(text) > 8_000_000
    assert made.endswith(text[2:])
    assert cut(made).endswith(text[2:])


@settings(max_examples=400)
@given(json_files())
def test_what_came_goes_and_the_rest_stays(text):
    before = parse(text)
    made = put(text)
    back = cut(made)
    assert servers(made)["orienteer-a"] == ENTRY
    assert filled(parse(back)) == filled(before)
    assert [mark for mark in ("//", "/*") if text.count(mark) != back.count(mark)] == []


@settings(max_examples=100)
@given(json_files())
def test_two_come_and_go_in_either_order(text):
    made = put(put(text), name="orienteer-b", entry=SHORT)
    assert servers(cut(made))["orienteer-b"] == SHORT
    assert servers(cut(made, name="orienteer-b"))["orienteer-a"] == ENTRY


# ---------------------------------------------------------------------------------------------------------- TOML


CODEX = '# mine\nmodel = "gpt-5.2"\n\n[mcp_servers.other]\ncommand = "x" # note\n\n[desktop]\na = 1\n'


def test_a_table_comes_at_the_end():
    made = put(CODEX, "toml", entry={"command": "uvx", "args": ["mcp", "/a"]})
    assert made == CODEX + '\n[mcp_servers.orienteer-a]\ncommand = "uvx"\nargs = ["mcp", "/a"]\n'
    assert cut(made, "toml") == CODEX


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "\n\n\n",
        "a = 1",
        "a = 1\n\n\n",
        "# alone",
        "a = '''\n[x]''''\nb = [ # one ]\n  '#', [1,\n 2] ]\n",
        'a = "x"\r\n\r\n[mcp_servers]\r\n\t[mcp_servers."b.c"] # note\r\n\t"d e".f = 1\r\n',
        "[[fruit]]\napple.color = 1\n\n[potato]\n\n[fruit.apple.texture]\nsmooth = true\n",
        "[mcp_servers.a]\nx=1\n[z]\n[mcp_servers]\nq = 1\n[mcp_servers.b]\n",
        "mcp_servers.a.command = 'x'\n[z]\n",
        "a = 1979-05-27T07:32:00Z\nb = [{ x = 1 }, { y = { z = 2 } }]   \nc = inf",
        'a = """"quoted""""\n',
    ],
)
def test_the_same_text_comes_back(text):
    made = put(text, "toml")
    assert servers(made, "toml")["orienteer-a"] == ENTRY
    assert text in made
    assert cut(made, "toml") == text


def test_what_others_wrote_about_ours_stays():
    made = put(CODEX, "toml") + "\n# about next\n[next]\na = 1\n"
    assert cut(made, "toml") == CODEX + "\n# about next\n[next]\na = 1\n"


def test_our_table_goes_with_its_sub_tables():
    text = (
        "[mcp_servers.'orienteer-a']\ncommand = 'x'\n[mcp_servers.orienteer-a.env]\nA = 'b'\n"
        "\n[mcp_servers.orienteer-ab]\ncommand = 'z'\n\n[mcp_servers.orienteer-a.tools.x]\nb = [\n 1,\n]\n[end]\n"
    )
    assert cut(text, "toml").strip() == "[mcp_servers.orienteer-ab]\ncommand = 'z'\n[end]"


def test_an_entry_of_toml_is_written_again_with_what_was_added():
    text = "[mcp_servers.orienteer-a]\ncommand = 'old'\n[mcp_servers.orienteer-a.env]\nA = 'b'\n\n[z]\n"
    entry = {**SHORT, "env": {"A": "b", "c d": [1]}}
    assert put(text, "toml", entry=entry) == (
        '\n[z]\n\n[mcp_servers.orienteer-a]\ncommand = "x"\nenv = { A = "b", "c d" = [1] }\n'
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
        'a = """\n[mcp_servers.orienteer-a]\nx = 1\n"""\n',
    ],
)
def test_toml_that_is_not_understood_or_cannot_grow_is_refused(text):
    with pytest.raises(CannotEdit):
        put(text, "toml")


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = { orienteer-a = { command = 'x' }, b = { command = 'y' } }\n",
        "[mcp_servers]\n'orienteer-a'.command = 'x'\n",
    ],
)
def test_ours_within_another_table_is_not_edited(text):
    with pytest.raises(CannotEdit, match="a way that is not edited"):
        cut(text, "toml")


@settings(max_examples=400)
@given(toml_files())
def test_what_came_into_toml_goes_and_the_rest_stays(text):
    back = cut(put(text, "toml"), "toml")
    assert back == text


@settings(max_examples=100)
@given(toml_files())
def test_two_of_toml_come_and_go_in_either_order(text):
    made = put(put(text, "toml"), "toml", name="orienteer-b", entry=SHORT)
    assert servers(cut(made, "toml"), "toml")["orienteer-b"] == SHORT
    assert servers(cut(made, "toml", name="orienteer-b"), "toml")["orienteer-a"] == ENTRY
