"""JSON with comments, edited as text: what comes stands as its neighbours do, and what goes leaves what was there."""

import json

import pytest
from hypothesis import given, settings

from agent_files import json_files
from orienteer.serve import JSONC_EDITOR, CannotEdit, cut_value, parse_jsonc, put_value

pytestmark = pytest.mark.slow

PATH = ("mcpServers", "orienteer-a")
ENTRY = {"command": "uvx", "args": ["mcp", "/a b/ä"], "trust": False}


def put(text, path=PATH, value=ENTRY):
    return put_value(JSONC_EDITOR, text, path, value)


def cut(text, path=PATH):
    return cut_value(JSONC_EDITOR, text, path)


SHORT = {"command": "x"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "mcpServers": {\n    "orienteer-a": {\n      "command": "x"\n    }\n  }\n}\n'),
        ('{"a":1}', '{"a":1,"mcpServers":{"orienteer-a":{"command":"x"}}}'),
        ('{"a": 1}\n', '{"a": 1, "mcpServers": {"orienteer-a": {"command": "x"}}}\n'),
        ('{"mcpServers":{}}', '{"mcpServers":{"orienteer-a":{"command":"x"}}}'),
        (
            '{\r\n\t"mcpServers": {}\r\n}',
            '{\r\n\t"mcpServers": {\r\n\t\t"orienteer-a": {\r\n\t\t\t"command": "x"\r\n\t\t}\r\n\t}\r\n}',
        ),
        (
            '{\n  "mcpServers": {\n    "b": {} // its note\n    // "c": {}\n  }\n}\n',
            '{\n  "mcpServers": {\n    "b": {}, // its note\n    // "c": {}\n'
            '    "orienteer-a": {\n      "command": "x"\n    }\n  }\n}\n',
        ),
        (
            '{\n  "mcpServers": {\n    "b": {}, // its note\n  }, /* end */\n}\n',
            '{\n  "mcpServers": {\n    "b": {}, // its note\n'
            '    "orienteer-a": {\n      "command": "x"\n    },\n  }, /* end */\n}\n',
        ),
        (
            '{\n  "mcpServers": {"b": {}}, "x": "// no comment"\n}\n',
            '{\n  "mcpServers": {"b": {}, "orienteer-a": {"command": "x"}}, "x": "// no comment"\n}\n',
        ),
        ('{"mcpServers": {"b": 1,}}', '{"mcpServers": {"b": 1, "orienteer-a": {"command": "x"},}}'),
    ],
)
def test_an_entry_comes_and_goes(before, after):
    assert put(before, value=SHORT) == after
    if "mcpServers" in before:
        assert cut(after) == before


def test_a_text_of_comments_alone_keeps_them():
    made = put("// mine\n", value=SHORT)
    assert made.startswith("// mine\n{\n")
    assert put("// mine", value=SHORT) == made


def test_what_others_added_after_ours_stays():
    ours = '{\n  "mcpServers": {\n    "a": 1, // one\n    "orienteer-a": {}, // mine\n    "b": 2\n  }\n}\n'
    assert cut(ours) == '{\n  "mcpServers": {\n    "a": 1, // one\n     // mine\n    "b": 2\n  }\n}\n'
    ours = '{"mcpServers": {\n  "a": 1, // one\n  "orienteer-a": {} /* still */, "b": 2\n}}'
    assert parse_jsonc(cut(ours)) == {"mcpServers": {"a": 1, "b": 2}}
    assert "// one" in cut(ours)
    assert "/* still */" in cut(ours)


def test_one_key_changes_and_the_rest_stays():
    text = '{"mcpServers": {"orienteer-a": {"command": "old", "env": {"A": "b"}, /* why */ "args": [1,\n 2]}}}'
    changed = put(put(text, (*PATH, "command"), "new"), (*PATH, "args"), ["x"])
    assert parse_jsonc(changed)["mcpServers"]["orienteer-a"] == {"command": "new", "env": {"A": "b"}, "args": ["x"]}
    assert "/* why */" in changed


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{ not json", "line 1 is no JSON"),
        ('{\n"a": 1\n"b": 2}', "line 3 is no JSON"),
        ('{"a": 1} /* open', "a comment does not end"),
        ('{"a": "open', "is no JSON"),
        ('{"a": 1}{}', "is no JSON"),
        ('{"a": NaN}', "NaN"),
        ("[1]", "no object"),
        ('"text"', "no object"),
        ("[" * 100_000, "no JSON"),
        ('{"a": ' + "9" * 5000 + "}", "no JSON"),
        ('{"mcpServers": []}', "is no object"),
        ('{"mcpServers": null}', "is no object"),
        ('{"mcpServers": {}, "mcpServers": {"b": 1}}', "'mcpServers' twice"),
        ('{"mcpServers": {"orienteer-a": 1, "orienteer-a": 2}}', "'orienteer-a' twice"),
        ("{'a': 1}", "is no JSON"),
        ("{a: 1}", "is no JSON"),
        ('{"a": 1,,}', "is no JSON"),
        ("\x00", "is no JSON"),
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
        assert cut(put(text)) == text
    except CannotEdit:
        assert depth > 880


def test_a_large_file_keeps_all_else():
    text = json.dumps({"projects": {f"/a/{place}": {"history": ["x" * 50] * 40} for place in range(4000)}}, indent=2)
    made = put(text)
    assert len(text) > 8_000_000
    assert made.startswith(text[:-2])
    assert cut(made)[:-30].startswith(text[:-50])


# ------------------------------------------------------------------------------- any text: the same bytes come back


@settings(max_examples=400)
@given(json_files())
def test_what_came_goes_and_the_rest_stays_to_the_byte(text):
    before = parse_jsonc(text)
    made = put(text)
    assert parse_jsonc(made)["mcpServers"]["orienteer-a"] == ENTRY
    back = cut(made)
    if before.get("mcpServers"):
        assert back == text
    else:  # an empty object is left, and blanks within it are not remembered: what is above the editor knows them
        assert parse_jsonc(back) == {**before, "mcpServers": {}}
        assert [mark for mark in ("//", "/*") if text.count(mark) != back.count(mark)] == []


@settings(max_examples=100)
@given(json_files())
def test_two_come_and_go_in_either_order(text):
    first, second = (("mcpServers", name) for name in ("orienteer-a", "orienteer-b"))
    made = put(put(text, first), second, {"command": "y"})
    assert cut(made, second) == put(text, first)
    if parse_jsonc(text).get("mcpServers"):
        assert cut(cut(made, first), second) == text
