import json

import pytest
from hypothesis import given, strategies as st

from orienteer.llm import after_thinking, call_schema, calls_in_words, object_in, read_spoken, schema_faults
from orienteer.records import Message, ToolCall, ToolSpec

SEARCH = ToolSpec(
    name="search",
    description="Find nodes.",
    parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
FINISH = ToolSpec(name="finish", description="End.", parameters={"type": "object", "properties": {}})


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{"name": "search", "arguments": {"query":  "a\\u00e9"}}', '{"query":  "a\\u00e9"}'),
        ('Let me see.\n```json\n{"name": "search", "arguments": {"query": "a"}}\n```', '{"query": "a"}'),
        ('<tool_call>{"arguments": {"query": "}{"}, "name": "search"}</tool_call>', '{"query": "}{"}'),
        ('{"name": "search", "parameters": {"query": "a"}}', '{"query": "a"}'),
        ('{"name": "search", "arguments": "{\\"query\\": \\"a\\"}"}', '{"query": "a"}'),
        ('{"tool_calls": [{"name": "search", "arguments": {}}]}', "{}"),
        ('<think>{"name": "search", "arguments": {"no": 1}}</think>{"name": "search", "arguments": {}}', "{}"),
        ('I think {"a": 1}\n</think>\n\n{"name": "search", "arguments": {}}', "{}"),
        ('{"name": "search", "arguments": {"query": "</think>"}}', '{"query": "</think>"}'),
        ('{broken {"name": "search", "arguments": [1, {"a": 2}]}', '[1, {"a": 2}]'),
    ],
)
def test_a_call_is_found_in_prose_with_its_arguments_as_written(text, arguments):
    (found,) = read_spoken(text).calls
    assert (found.name, found.arguments) == ("search", arguments)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Rome.", "Rome."),
        ("<think>Paris? No.</think>\n\nRome.", "Rome."),
        ("Paris? No.\n</think>\n\nRome.", "Rome."),  # the opening mark was in the prompt
        ("<think>Paris? Perhaps", ""),  # cut off
        ("<think></think>", ""),
        ("The mark </think> ends a draft.", "The mark </think> ends a draft."),
        ("", ""),
    ],
)
def test_what_is_thought_aloud_is_not_said(text, said):
    assert after_thinking(text) == said


def test_several_calls_are_found_in_order():
    text = '{"name": "a", "arguments": {}}\n{"name": "b", "arguments": {"x": {"name": "c", "arguments": {}}}}'
    assert [found.name for found in read_spoken(text).calls] == ["a", "b"]


@pytest.mark.parametrize(
    "text", ["", "no call", "{}", '{"name": 3, "arguments": {}}', '{"name": "x"}', "{" * 3000, '{"a":' * 3000]
)
def test_prose_holds_no_call(text):
    assert read_spoken(text).calls == ()


@given(st.text(alphabet='{}[]":,\\ nameargumts1\n'))
def test_no_text_breaks_the_search(text):
    for found in read_spoken(text).calls:
        assert found.arguments in text or json.dumps(found.arguments) in text
    held = object_in(text)
    assert held is None or isinstance(json.loads(held), dict)


def test_an_object_is_found_in_prose():
    assert object_in('Here: ```json\n{"answer": "x"}\n``` done') == '{"answer": "x"}'
    assert object_in("none here") is None


def test_the_schema_of_a_call_takes_sound_calls_and_no_others():
    schema = call_schema((SEARCH, FINISH))
    assert schema_faults({"name": "search", "arguments": {"query": "a"}}, schema) == ()
    assert schema_faults({"name": "finish", "arguments": {}}, schema) == ()
    for wrong in (
        {"name": "seek", "arguments": {}},
        {"name": "search", "arguments": {}},
        {"name": "finish", "arguments": {"query": "a"}},
        {"name": "finish"},
        {"name": "finish", "arguments": {}, "why": "done"},
    ):
        assert schema_faults(wrong, schema)


def test_a_conversation_in_words_keeps_all_that_was_said():
    call = ToolCall(id="c1", name="search", arguments='{"query":"asthma" }')
    said = calls_in_words(
        (
            Message(role="system", content="You are."),
            Message(role="user", content="Which?"),
            Message(role="assistant", content="I look.", tool_calls=(call,)),
            Message(role="tool", tool_call_id="c1", content="n1 asthma"),
            Message(role="user", content="Go on."),
        ),
        tools=(SEARCH,),
        schema=None,
    )
    assert [message.role for message in said] == ["system", "user", "assistant", "user"]
    assert said[0].content.startswith("You are.\n\n")
    assert "search: Find nodes." in said[0].content
    assert json.dumps(SEARCH.parameters) in said[0].content
    assert said[2].content == 'I look.\n{"name": "search", "arguments": {"query":"asthma" }}'
    assert said[3].content == "Result of search:\nn1 asthma\n\nGo on."
    assert read_spoken(said[2].content).calls[0].arguments == call.arguments


def test_without_a_system_message_the_tools_get_one():
    said = calls_in_words((Message(role="user", content="Which?"),), tools=(SEARCH,), schema=None)
    assert [message.role for message in said] == ["system", "user"]
