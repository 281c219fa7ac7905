"""Replies as models and servers give them: calls in words, arguments, answers, and the shapes of whole replies."""

import json
from contextlib import ExitStack

import pytest

from fakes import Answer, FakeServer
from orienteer.agents import answer_from_hits, read_calls, without_marks
from orienteer.errors import ModelError, ModelRefused
from orienteer.llm import (
    Allowance,
    OpenAIConfig,
    OpenAIModel,
    Probe,
    ScriptedModel,
    after_thinking,
    arguments_of,
    tool_of,
    without_turn_end,
)
from orienteer.records import Message, Node, Ranked, Result, Sampling, ToolCall, ToolSpec
from orienteer.retriever import Retriever
from orienteer.settings import Settings

SEARCH = ToolSpec(
    name="search_nodes",
    description="Find nodes.",
    parameters={
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "k": {"type": "integer", "minimum": 1, "maximum": 50},
            "node_types": {"type": "array", "items": {"type": "string"}},
            "mode": {"type": "string", "enum": ["lexical", "dense"]},
            "where": {"type": "array", "items": {"type": "object", "properties": {"year": {"type": "integer"}}}},
            "deep": {"type": "boolean"},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)
FINISH = ToolSpec(name="finish", description="End.", parameters={"type": "object", "properties": {}})
TOOLS = (SEARCH, FINISH)
QUESTION = (Message(role="user", content="Which port has the most quays?"),)
QUAYS = [("search_nodes", {"query": "quays"})]
BOTH = [*QUAYS, ("finish", {})]

# How each family of models writes a call where its server hands the words through.
FORMS = {
    "qwen, hermes": ('<tool_call>\n{"name": "search_nodes", "arguments": {"query": "quays"}}\n</tool_call>', QUAYS),
    "a bare object": ('{"name": "search_nodes", "arguments": {"query": "quays"}}', QUAYS),
    "a fence": ('I look.\n```json\n{"name": "search_nodes", "arguments": {"query": "quays"}}\n```', QUAYS),
    "qwen3 coder": (
        "<tool_call>\n<function=search_nodes>\n<parameter=query>\nquays\n</parameter>\n<parameter=k>\n5\n</parameter>\n"
        "</function>\n</tool_call>",
        [("search_nodes", {"query": "quays", "k": 5})],
    ),
    "qwen3 coder without its outer mark": (
        "<function=search_nodes>\n<parameter=query>\nquays\n</parameter>\n</function>\n</tool_call>",
        QUAYS,
    ),
    "seed-oss": (
        "<seed:tool_call>\n<function=search_nodes>\n<parameter=query>quays</parameter>\n</function>\n</seed:tool_call>",
        QUAYS,
    ),
    "glm": (
        "<tool_call>search_nodes\n<arg_key>query</arg_key>\n<arg_value>quays</arg_value>\n"
        '<arg_key>node_types</arg_key>\n<arg_value>["port", "town"]</arg_value>\n</tool_call>',
        [("search_nodes", {"query": "quays", "node_types": ["port", "town"]})],
    ),
    "glm without arguments": ("<tool_call>finish\n</tool_call>", [("finish", {})]),
    "deepseek v3 and r1": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search_nodes\n```json\n"
        '{"query": "quays"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        QUAYS,
    ),
    "deepseek v3.1": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>search_nodes<｜tool▁sep｜>"
        '{"query": "quays"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>finish<｜tool▁sep｜>{}<｜tool▁call▁end｜>'
        "<｜tool▁calls▁end｜>",
        BOTH,
    ),
    "deepseek v3.2": (
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="search_nodes">\n<｜DSML｜parameter name="query" string="true">'
        'quays</｜DSML｜parameter>\n<｜DSML｜parameter name="k" string="false">5</｜DSML｜parameter>\n'
        "</｜DSML｜invoke>\n"
        "</｜DSML｜function_calls>",
        [("search_nodes", {"query": "quays", "k": 5})],
    ),
    "kimi k2": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.search_nodes:0<|tool_call_argument_begin|>"
        '{"query": "quays"}<|tool_call_end|><|tool_calls_section_end|>',
        QUAYS,
    ),
    "mistral, a list": ('[TOOL_CALLS][{"name": "search_nodes", "arguments": {"query": "quays"}}]</s>', QUAYS),
    "mistral, with [ARGS]": ('[TOOL_CALLS]search_nodes[ARGS]{"query": "quays"}', QUAYS),
    "mistral, with an id": (
        '[TOOL_CALLS]search_nodes[CALL_ID]a1b2c3[ARGS]{"query": "quays"}[TOOL_CALLS]finish[CALL_ID]d4[ARGS]{}',
        BOTH,
    ),
    "llama 3, json": ('<|python_tag|>{"name": "search_nodes", "parameters": {"query": "quays"}}<|eom_id|>', QUAYS),
    "llama 3, a function": ('<function=search_nodes>{"query": "quays"}</function>', QUAYS),
    "llama 3, pythonic": ('[search_nodes(query="quays"), finish()]', BOTH),
    "llama 4, pythonic": (
        "<|python_start|>[search_nodes(query='quays', node_types=['port'], deep=True)]<|python_end|>",
        [("search_nodes", {"query": "quays", "node_types": ["port"], "deep": True})],
    ),
    "lfm2": ('<|tool_call_start|>[search_nodes(query="quays")]<|tool_call_end|>', QUAYS),
    "gpt-oss": (
        "<|channel|>analysis<|message|>The tool finish({}) would end it.<|end|><|start|>assistant<|channel|>commentary "
        'to=functions.search_nodes <|constrain|>json<|message|>{"query": "quays"}<|call|>',
        QUAYS,
    ),
    "anthropic": (
        '<function_calls>\n<invoke name="search_nodes">\n<parameter name="query">quays</parameter>\n</invoke>\n'
        '<invoke name="finish">\n</invoke>\n</function_calls>',
        BOTH,
    ),
    "minimax": (
        '<minimax:tool_call>\n<invoke name="search_nodes">\n<parameter name="query">quays</parameter>\n</invoke>\n'
        "</minimax:tool_call>",
        QUAYS,
    ),
    "react": ('Thought: I look.\nAction: search_nodes\nAction Input: {"query": "quays"}', QUAYS),
    "langchain": ('{"action": "search_nodes", "action_input": {"query": "quays"}}', QUAYS),
    "command a": (
        '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "search_nodes", "parameters": {"query": "quays"}}]'
        "<|END_ACTION|>",
        QUAYS,
    ),
    "gemma, tool_code": ('```tool_code\nprint(default_api.search_nodes(query="quays"))\n```', QUAYS),
    "gemma, a fence of json": ('```tool_call\n{"name": "search_nodes", "args": {"query": "quays"}}\n```', QUAYS),
    "function gemma": (
        "<start_function_call>call:search_nodes{query:<escape>quays<escape>}<end_function_call>",
        QUAYS,
    ),
    "phi, nemotron, granite": (
        '<TOOLCALL>[{"name": "search_nodes", "arguments": {"query": "quays"}}]</TOOLCALL>',
        QUAYS,
    ),
    "apertus": ('<|tools_prefix|>[{"search_nodes": {"query": "quays"}}]<|tools_suffix|>', QUAYS),
    "openai's own, as text": (
        '{"tool_calls": [{"type": "function", "function": {"name": "search_nodes", "arguments": '
        '"{\\"query\\": \\"quays\\"}"}}]}',
        QUAYS,
    ),
    "single quotes": ("<tool_call>{'name': 'search_nodes', 'arguments': {'query': 'quays'}}</tool_call>", QUAYS),
    "single quotes without marks": ("{'name': 'search_nodes', 'arguments': {'query': 'quays'}}", QUAYS),
    "a comma at the end": ('{"name": "search_nodes", "arguments": {"query": "quays",},}', QUAYS),
    "a line break in a text": (
        '{"name": "search_nodes", "arguments": {"query": "quays\nand cranes"}}',
        [("search_nodes", {"query": "quays\nand cranes"})],
    ),
    "several": (
        '<tool_call>{"name": "search_nodes", "arguments": {"query": "quays"}}</tool_call>\n'
        '<tool_call>{"name": "finish", "arguments": {}}</tool_call>',
        BOTH,
    ),
    "an end that never comes": ('<tool_call>\n{"name": "search_nodes", "arguments": {"query": "quays"}}', QUAYS),
    "glm in one line": (
        "<tool_call>search_nodes<arg_key>query</arg_key><arg_value>quays</arg_value></tool_call>",
        QUAYS,
    ),
    "its opening mark as its end": (
        '<tool_call>\n{"name": "search_nodes", "arguments": {"query": "quays"}}\n<tool_call>',
        QUAYS,
    ),
    "llama 3, a call of a tool": ('<|python_tag|>search_nodes.call(query="quays")<|eom_id|>', QUAYS),
    "mistral, without [ARGS]": ('[TOOL_CALLS]search_nodes{"query": "quays"}', QUAYS),
    "gpt-oss, from its begin": (
        '<|start|>assistant<|channel|>commentary to=functions.search_nodes<|message|>{"query":"quays"}<|call|>',
        QUAYS,
    ),
    "gpt-oss, another order": (
        '<|start|>assistant to=functions.search_nodes<|channel|>commentary json<|message|>{"query":"quays"}',
        QUAYS,
    ),
    "gpt-oss without its marks": (
        'analysisWe look.assistantcommentary to=functions.search_nodes json{"query":"quays"}',
        QUAYS,
    ),
    "qwen 2.5 coder": ('<tools>\n{"name": "search_nodes", "arguments": {"query": "quays"}}\n</tools>', QUAYS),
    "phi 4": ('<|tool_call|>[{"name": "search_nodes", "arguments": {"query": "quays"}}]<|/tool_call|>', QUAYS),
    "functools": ('functools[{"name": "search_nodes", "arguments": {"query": "quays"}}]', QUAYS),
    "function and args": ('{"function": "search_nodes", "args": {"query": "quays"}}', QUAYS),
    "tool and input": ('{"tool": "search_nodes", "input": {"query": "quays"}}', QUAYS),
    "flat, with its type": ('{"type": "function", "name": "search_nodes", "parameters": {"query": "quays"}}', QUAYS),
    "python without marks": ('search_nodes(query="quays")', QUAYS),
    "kimi k2 in lines": (
        "I look.<|tool_calls_section_begin|>\n<|tool_call_begin|>\nfunctions.search_nodes:0\n"
        '<|tool_call_argument_begin|>\n{"query": "quays"}\n<|tool_call_end|>\n<|tool_calls_section_end|>',
        QUAYS,
    ),
    "deepseek with plain bars": (
        "<|tool▁calls▁begin|><|tool▁call▁begin|>function<|tool▁sep|>search_nodes\n```json\n"
        '{"query": "quays"}\n```<|tool▁call▁end|>',
        QUAYS,
    ),
    "escaped as in markdown": (
        '<tool_call>{"name": "search\\_nodes", "arguments": {"query": "quays"}}</tool_call>',
        QUAYS,
    ),
    "words within the mark": (
        '<tool_call>\nSure: {"name": "search_nodes", "arguments": {"query": "quays"}}\n</tool_call>',
        QUAYS,
    ),
    "a fence within the mark": (
        '<tool_call>\n```json\n{"name": "search_nodes", "arguments": {"query": "quays"}}\n```\n</tool_call>',
        QUAYS,
    ),
    "qwen3 coder in one line": (
        "<tool_call><function=search_nodes><parameter=query>quays</parameter></function></tool_call>",
        QUAYS,
    ),
    "a function in lines": ('<function=search_nodes>\n{"query": "quays"}\n</function>', QUAYS),
    "a function by its attribute": (
        '<function name="search_nodes"><parameter name="query">quays</parameter></function>',
        QUAYS,
    ),
    "gemma 4": ('<|tool_call>call:search_nodes{query:<|"|>quays<|"|>}<tool_call|>', QUAYS),
    "a bare list": ('[{"name": "search_nodes", "arguments": {"query": "quays"}}]', QUAYS),
    "react in a fence": (
        'Thought: x\nAction:\n```json\n{"action": "search_nodes", "action_input": {"query": "quays"}}\n```',
        QUAYS,
    ),
    "react in bold": ('**Action:** search_nodes\n**Action Input:** {"query": "quays"}', QUAYS),
    "granite": ('<|tool_call|>{"name": "search_nodes", "arguments": {"query": "quays"}}', QUAYS),
    "words behind it": (
        '<tool_call>\n{"name": "search_nodes", "arguments": {"query": "quays"}}\n</tool_call>\nI wait for it.',
        QUAYS,
    ),
    "a bracket too few": ('<tool_call>\n{"name": "search_nodes", "arguments": {"query": "quays"}\n</tool_call>', None),
    "old anthropic": (
        "<function_calls><invoke><tool_name>search_nodes</tool_name><parameters><query>quays</query></parameters>"
        "</invoke></function_calls>",
        None,
    ),
    "react in brackets": ("Action: search_nodes[quays]", None),
}
"""Each with its calls; None for what is not read."""


def read(text):
    """Return the calls of a text, named and read as the tools mean them, and what is told of broken ones."""
    found = read_calls(Message(role="assistant", content=text), turn=0)
    names = [tool.name for tool in TOOLS]
    calls = [(tool_of(call.name, names), arguments_of(call, TOOLS).value) for call in found.message.tool_calls]
    return calls, found


@pytest.mark.parametrize("form", [name for name, (_, calls) in FORMS.items() if calls is not None])
def test_a_call_is_read_in_each_form_that_models_write(form):
    text, calls = FORMS[form]
    given, found = read(text)
    assert given == calls
    assert found.broken == ()


def test_nearly_all_forms_are_read():
    assert sum(calls is not None for _, calls in FORMS.values()) / len(FORMS) >= 28 / 33
    for text, calls in FORMS.values():
        if calls is None:  # never read as something else
            assert read(text)[0] == []


@pytest.mark.parametrize("form", [name for name, (text, _) in FORMS.items() if text[0] in "<["])
@pytest.mark.parametrize(
    "thought", ["<think>{}</think>\n", "<think>{}", "<thinking>{}</thinking>", "[THINK]{}[/THINK]"]
)
def test_what_is_only_thought_is_no_call(form, thought):
    calls, found = read(thought.format(FORMS[form][0]))
    assert (calls, found.broken) == ([], ())


@pytest.mark.parametrize("form", [name for name, (text, _) in FORMS.items() if not text.startswith(("{", "["))])
def test_a_thought_between_words_holds_no_call(form):
    calls, found = read(f"I wonder. <think>{FORMS[form][0]}</think> No.")
    assert (calls, found.broken) == ([], ())


@pytest.mark.parametrize("form", FORMS)
def test_the_marks_of_a_nodes_text_are_no_marks(form):
    """A model that quotes what a tool told it calls nothing."""
    text = f"The note says: {without_marks(FORMS[form][0])}"
    assert read(text)[0] == []


@pytest.mark.parametrize(
    "text", ["{'input': 5, 'parameters': 'x'}", "Action: none", "<functional>", "a <parameter", "```tools\nx\n```"]
)
def test_what_is_no_mark_reaches_the_model_as_it_is(text):
    assert without_marks(text) == text


BROKEN = {
    "qwen": '<tool_call>\n{"name": "search_nodes", "arguments": {"query": "qu}\n</tool_call>',
    "qwen3 coder": "<tool_call>\n<function=search_nodes>\nquays\n</function>\n</tool_call>",
    "deepseek": '<｜tool▁call▁begin｜>search_nodes<｜tool▁sep｜>{"query": <｜tool▁call▁end｜>',
    "mistral": '[TOOL_CALLS]search_nodes[ARGS]{"query": "qua',
    "anthropic": '<invoke name="search_nodes">quays</invoke>',
    "kimi": "<|tool_call_begin|>functions.search_nodes:0<|tool_call_argument_begin|>quays<|tool_call_end|>",
    "gpt-oss": '<|channel|>commentary to=functions.search_nodes<|message|>{"query": "qu',
    "react": "Action: search_nodes\nAction Input: quays",
    "a bare object": 'So: {"name": "search_nodes", "arguments": {"query": "quays}}',
    "pythonic": '<|python_start|>[search_nodes("quays")]<|python_end|>',
    "nothing": "<tool_call></tool_call>",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_broken_call_is_told_and_a_sound_one_beside_it_is_made(text):
    calls, found = read(text)
    assert calls == []
    assert len(found.broken) == 1
    assert "could not be read" in found.broken[0]
    calls, found = read(f"{FORMS['qwen, hermes'][0]}\n{text}")
    assert calls == QUAYS
    assert len(found.broken) == 1


PROSE = (
    "The port is Rotterdam (see search_nodes).",
    "[E1] Rotterdam [E2]",
    "[Rotterdam(1872)] is the oldest.",
    "It has {k: 5} quays, and f(x) = 2.",
    "Action: none was needed.",
    "Use <b>bold</b> and `code`.",
    '{"name": "Rotterdam", "quays": 5}',
    '{"action": "load", "ship": "Alma"}',
    "to=Rotterdam",
    "```python\nsearch_nodes(query='quays')\n```",
)


@pytest.mark.parametrize("text", PROSE)
def test_prose_and_data_are_no_calls(text):
    calls, found = read(text)
    assert (calls, found.broken, found.message.content) == ([], (), text)


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>" * 50_000,
        "<function=a>" * 50_000,
        '<invoke name="a"><parameter name="b">' * 20_000,
        "<arg_key>" * 50_000,
        "<tool_call>a<arg_key>k</arg_key>" * 20_000,
        "[f(" * 50_000,
        "<think>" * 50_000,
        "<|channel|>analysis<|message|>" * 20_000,
        "{'name': '" * 50_000,
        '{"name": "a", "arguments": {' * 20_000,
        "Action:" * 50_000,
        "Action: a\n" * 30_000,
        "to=" * 50_000,
        "```tool_code\nf(" * 20_000,
        '{"name": "a", "arguments": {"b": "' + '\\"' * 50_000,
        "{'name': 'a', 'arguments': {" + "b" * 200_000,
        "{'name': 'a', 'arguments': {" + " " * 90_000 + "x}}",
        "<tool_call>{'name': 'a', 'arguments': {'" * 20_000,
        "<|im_end|>" * 50_000,
    ],
    ids=range(19),
)
@pytest.mark.timeout(20)
def test_hostile_texts_are_read_in_little_time(text):
    read_calls(Message(role="assistant", content=text), turn=0)


# ------------------------------------------------------------------------------------------------------- arguments

ARGUMENTS = {
    "as they should be": ('{"query": "quays", "k": 3}', {"query": "quays", "k": 3}),
    "a number as a text": ('{"query": "quays", "k": "3"}', {"query": "quays", "k": 3}),
    "an integer with a point": ('{"query": "quays", "k": 3.0}', {"query": "quays", "k": 3}),
    "null for what may be left out": ('{"query": "quays", "k": null, "mode": null}', {"query": "quays"}),
    "one text for a list": ('{"query": "quays", "node_types": "port"}', {"query": "quays", "node_types": ["port"]}),
    "a list as a text": (
        '{"query": "quays", "node_types": "[\\"port\\"]"}',
        {"query": "quays", "node_types": ["port"]},
    ),
    "a list in Python's form as a text": (
        '{"query": "quays", "where": "[{\'year\': 1872}]"}',
        {"query": "quays", "where": [{"year": 1872}]},
    ),
    "true as a text": ('{"query": "quays", "deep": "True"}', {"query": "quays", "deep": True}),
    "another case of a choice": ('{"query": "quays", "mode": "Dense"}', {"query": "quays", "mode": "dense"}),
    "another case of a name": ('{"Query": "quays", "nodeTypes": ["port"]}', {"query": "quays", "node_types": ["port"]}),
    "quoted once more": ('"{\\"query\\": \\"quays\\"}"', {"query": "quays"}),
    "written twice": ('{"query": "quays"}{"query": "quays"}', {"query": "quays"}),
    "two different ones": ('{"query": "quays"}{"query": "cranes"}', None),
    "a comma at the end": ('{"query": "quays",}', {"query": "quays"}),
    "a line break in a text": ('{"query": "quays\nand cranes"}', {"query": "quays\nand cranes"}),
    "single quotes": (
        "{'query': 'the pilot\\'s \"quay\"', 'deep': True, 'k': None}",
        {"query": 'the pilot\'s "quay"', "deep": True},
    ),
    "names without quotes": ('{query: "quays", k: 3}', {"query": "quays", "k": 3}),
    "within arguments": ('{"arguments": {"query": "quays"}}', {"query": "quays"}),
    "within properties": ('{"properties": {"query": "quays", "k": "3"}}', {"query": "quays", "k": 3}),
    "within the whole call": ('{"name": "search_nodes", "arguments": {"query": "quays"}}', {"query": "quays"}),
    "within the tool's name": ('{"search_nodes": {"query": "quays"}}', {"query": "quays"}),
    "in a list of one": ('[{"query": "quays"}]', {"query": "quays"}),
    "in a fence": ('```json\n{"query": "quays"}\n```', {"query": "quays"}),
    "an end of a turn behind": ('{"query": "quays"}<|im_end|>', {"query": "quays"}),
    "cut off": ('{"query": "qua', None),
    "a bracket too few": ('{"query": "quays"', None),
    "two texts in one": ('{"query": "quays", "node_types": "port, town"}', None),
    "a number beyond its bounds": ('{"query": "quays", "k": 500}', None),
    "a word for a number": ('{"query": "quays", "k": "three"}', None),
    "an argument that there is not": ('{"query": "quays", "size": 3}', None),
}
"""Each with what it is read as; None for what is refused, for it has several readings or none."""


@pytest.mark.parametrize(("written", "meant"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments_are_read_in_each_shape_or_refused(written, meant):
    call = ToolCall(id="c", name="search_nodes", arguments=written)
    if meant is None:
        with pytest.raises(ValueError, match="arguments of search_nodes"):
            arguments_of(call, TOOLS)
        return
    read = arguments_of(call, TOOLS)
    assert read.value == meant
    assert bool(read.notes) == (json.dumps(meant) != written)


@pytest.mark.parametrize(
    "name",
    [
        "search_nodes",
        "Search_Nodes",
        "search-nodes",
        "searchNodes",
        "search nodes",
        "functions.search_nodes",
        "functions.search_nodes:0",
        "default_api.search_nodes",
        "mcp__graph__search_nodes",
        "search_nodes()",
        "search_nodes<|channel|>commentary",
        "call:search_nodes",
    ],
)
def test_a_tool_is_known_by_its_name_however_it_is_dressed(name):
    read = arguments_of(ToolCall(id="c", name=name, arguments='{"query": "quays"}'), TOOLS)
    assert read.value == {"query": "quays"}
    assert read.notes == (() if name == "search_nodes" else (f"{name!r} was read as search_nodes",))


@pytest.mark.parametrize("name", ["search", "nodes", "", "search_nodes.delete_all", "finish.search_nodes", "."])
def test_a_name_of_no_tool_or_of_several_is_refused(name):
    tools = (*TOOLS, ToolSpec(name="delete_all", description="", parameters={"type": "object", "properties": {}}))
    with pytest.raises(ValueError, match="There is no tool"):
        arguments_of(ToolCall(id="c", name=name, arguments='{"query": "quays"}'), tools)


# --------------------------------------------------------------------------------------------------------- answers

NODE = Ranked(id="port/1", type="port", name="Rotterdam", score=1.0, why="named")
RANKING = Result(question="Which port has the most quays?", method="bm25", hits=(NODE,))
SAID = "Rotterdam [port/1]"


def choice(content, finish_reason="stop", **message):
    return {"message": {"role": "assistant", "content": content, **message}, "finish_reason": finish_reason}


ANSWERS = {
    "bare": (choice(SAID), SAID),
    "behind its mark": (choice(f"It has most.\n\nAnswer: {SAID}"), SAID),
    "bold": (choice(f"**{SAID}**"), SAID),
    "bold, with a point": (choice("Answer: **Rotterdam**."), "Rotterdam"),
    "a bold name, cited": (choice("**Rotterdam** [port/1]"), SAID),
    "a bold mark": (choice(f"It has most.\n**Answer:** {SAID}"), SAID),
    "a final answer in bold": (choice(f"It has most.\n\n**Final Answer:** {SAID}"), SAID),
    "a heading": (choice(f"It has most.\n\n### Answer: {SAID}"), SAID),
    "boxed": (choice(r"It has most. Answer: \boxed{Rotterdam}"), "Rotterdam"),
    "boxed in dollars": (choice(r"$\boxed{\text{Rotterdam}}$"), "Rotterdam"),
    "boxed, cited": (choice(r"Answer: $\boxed{Rotterdam}$ [port/1]"), SAID),
    "code": (choice("Answer: `Rotterdam`"), "Rotterdam"),
    "chatml's end": (choice(f"{SAID}<|im_end|>"), SAID),
    "mistral's end": (choice(f"{SAID}</s>"), SAID),
    "two ends": (choice(f"{SAID}\n<|eot_id|><|endoftext|>\n"), SAID),
    "deepseek's end": (choice(f"{SAID}<｜end▁of▁sentence｜>"), SAID),
    "gemma's end": (choice(f"{SAID}<end_of_turn>"), SAID),
    "an end that is spoken of": (
        choice(f"The sign <|im_end|> hangs at {SAID}"),
        f"The sign <|im_end|> hangs at {SAID}",
    ),
    "thought aloud": (choice(f"<think>Hamburg? **No**.</think>\n\n{SAID}"), SAID),
    "thought aloud, opened in the prompt": (choice(f"Hamburg?\n</think>\n\n{SAID}"), SAID),
    "thought in brackets": (choice(f"[THINK]Hamburg?[/THINK]{SAID}"), SAID),
    "harmony": (
        choice(
            "<|channel|>analysis<|message|>Hamburg?<|end|><|start|>assistant<|channel|>final<|message|>"
            f"{SAID}<|return|>"
        ),
        SAID,
    ),
    "thought beside it": (choice(SAID, reasoning_content="Hamburg?"), SAID),
    "parts": (choice([{"type": "text", "text": "Rotterdam "}, {"type": "text", "text": "[port/1]"}]), SAID),
    "parts with a thought": (
        choice(
            [{"type": "thinking", "thinking": [{"type": "text", "text": "Hamburg?"}]}, {"type": "text", "text": SAID}]
        ),
        SAID,
    ),
    "refused": (choice(None, refusal="I cannot help with that."), "the model refused: I cannot help with that."),
    "refused in a part": (choice([{"type": "refusal", "refusal": "I cannot."}]), "the model refused: I cannot."),
    "filtered": (choice("Rotterdam is", "content_filter"), "withheld the model's reply (content_filter)"),
    "filtered, in Gemini's words": (choice("Rotterdam", "SAFETY"), "withheld the model's reply (SAFETY)"),
    "failed within": (choice("Rotterdam", "error"), "withheld the model's reply (error)"),
    "cut": (choice("Answer: Rotterdam", "length"), "cut off at the length limit"),
    "cut, in other words": (choice("Answer: Rotterdam", "max_tokens"), "cut off at the length limit"),
    "cut within a thought": (choice("<think>Hamburg?", "length"), "cut off at the length limit"),
    "only thought": (choice("<think>Hamburg?</think>"), "the model said nothing"),
    "nothing": (choice(None), "the model said nothing"),
    "an end alone": (choice("<|im_end|>"), "the model said nothing"),
}
"""Each with what it is taken for; the last eleven with why they are none."""
NO_ANSWERS = [*ANSWERS][-11:]


@pytest.fixture
def asked():
    """Start a server of one body or one choice, and return a model that asks it."""
    with ExitStack() as opened:

        def ask(body=None, **served):
            sent = body if "choices" in body or "output" in body else {"choices": [body]}
            server = opened.enter_context(FakeServer(lambda *_: Answer(body=json.dumps(sent)), **served))
            model = OpenAIModel("fake", OpenAIConfig(base_url=server.url, retries=0))
            opened.callback(model.close)
            return model

        yield ask


@pytest.mark.server
@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_taken_bare_and_no_other_reply_for_one(asked, name):
    body, meant = ANSWERS[name]
    result = answer_from_hits(RANKING, model=asked(body), run=Allowance())
    if name in NO_ANSWERS:
        assert result.answer is None
        assert result.notes[-1].startswith("no answer: ")
        assert meant in result.notes[-1]
    else:
        assert result.answer == meant
        assert result.long_answer in (None, "It has most.")


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, (body, _) in ANSWERS.items()
        if isinstance(body["message"]["content"], str) and "opened in the prompt" not in name  # known at its end alone
    ],
)
def test_an_answer_that_is_heard_is_the_answer_that_is_given(build, name):
    """What is told while it is written is a beginning of what the result has."""
    said, heard = ANSWERS[name][0]["message"]["content"], []

    class Aloud(ScriptedModel):
        def chat_stream(self, messages, *, hear, sampling=None, seconds=None):
            for letter in said:
                hear(letter)
            return self.chat(messages)

    graph = build([Node("port/1", "port", "Rotterdam")], [])
    retriever = Retriever(graph, "bm25", model=Aloud(lambda *_: without_turn_end(said)), settings=Settings())
    result = retriever.start("rotterdam", listen=heard.append, hears_parts=True).future.result(30)
    told = "".join(event.text for event in heard if event.kind == "answer_part")
    assert told == "\n\n".join(filter(None, (result.long_answer, result.answer)))


# --------------------------------------------------------------------------------------------------------- servers

CALL = {"name": "search_nodes", "arguments": '{"query": "quays"}'}
USAGE = {"prompt_tokens": 30, "completion_tokens": 7, "total_tokens": 37}
USED = (30, 7)
SERVERS = {
    "openai": (
        {
            "id": "c1", "object": "chat.completion", "created": 1, "model": "m-1", "system_fingerprint": None,
            "choices": [{"index": 0, "message": {"role": "assistant", "content": None, "refusal": None,
                         "annotations": [], "tool_calls": [{"id": "call_a", "type": "function", "function": CALL}]},
                         "logprobs": None, "finish_reason": "tool_calls"}],
            "usage": {**USAGE, "prompt_tokens_details": {"cached_tokens": 10}, "completion_tokens_details": {}},
        },
        None,
    ),
    "vllm": (
        {
            "choices": [{"index": 0, "message": {"role": "assistant", "reasoning_content": "Hm.", "content": None,
                         "tool_calls": [{"id": "chatcmpl-tool-1", "type": "function", "function": CALL}]},
                         "finish_reason": "tool_calls", "stop_reason": None}],
            "usage": {**USAGE, "prompt_tokens_details": None}, "prompt_logprobs": None,
        },
        "Hm.",
    ),
    "ollama": (
        {
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "", "reasoning": "Hm.",
                         "tool_calls": [{"id": "call_x", "index": 0, "type": "function", "function": CALL}]},
                         "finish_reason": "tool_calls"}],
            "usage": USAGE,
        },
        "Hm.",
    ),
    "llama.cpp, without its parser": (
        {
            "choices": [{"finish_reason": "stop", "index": 0, "message": {"role": "assistant",
                         "content": f"<tool_call>\n{json.dumps(CALL)}\n</tool_call><|im_end|>"}}],
            "usage": USAGE, "timings": {"predicted_n": 7},
        },
        None,
    ),
    "lm studio": (
        {
            "choices": [{"index": 0, "logprobs": None, "finish_reason": "stop", "message": {"role": "assistant",
                         "content": "<think>Hm.</think>[TOOL_CALLS]search_nodes[ARGS]{\"query\": \"quays\"}",
                         "tool_calls": []}}],
            "usage": USAGE, "stats": {},
        },
        None,
    ),
    "openrouter": (
        {
            "provider": "P", "choices": [{"index": 0, "native_finish_reason": "tool_use", "finish_reason": "tool_calls",
                         "message": {"role": "assistant", "content": "", "refusal": None, "reasoning": "Hm.",
                         "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}],
                         "tool_calls": [{"index": 0, "id": "t1", "type": "function", "function": CALL}]}}],
            "usage": USAGE,
        },
        "Hm.",
    ),
    "mistral": (
        {
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": [
                         {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
                         {"type": "text", "text": ""}],
                         "tool_calls": [{"id": "a1b2", "function": {**CALL, "arguments": {"query": "quays"}}}]}}],
            "usage": USAGE,
        },
        "Hm.",
    ),
    "gemini": (
        {
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant",
                         "extra_content": {"google": {"thought_signature": "x"}},
                         "tool_calls": [{"id": "", "type": "function", "function": CALL}]}}],
            "usage": USAGE,
        },
        None,
    ),
    "an old one": (
        {"choices": [{"message": {"role": "assistant", "content": None, "function_call": CALL},
                      "finish_reason": "function_call"}], "usage": USAGE},
        None,
    ),
    "one that leaves out the inner object": (
        {"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "c", **CALL}]}, "finish_reason": "stop"}],
         "usage": USAGE},
        None,
    ),
    "responses": (
        {
            "object": "response", "status": "completed", "error": None, "incomplete_details": None, "model": "m-1",
            "output": [
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
                {"type": "function_call", "call_id": "c1", "id": "fc1", "status": "completed", **CALL},
            ],
            "usage": {"input_tokens": 30, "output_tokens": 7, "input_tokens_details": {"cached_tokens": 4}},
        },
        "Hm.",
    ),
}  # fmt: skip
"""Each with the thought that it brings."""


@pytest.mark.server
@pytest.mark.parametrize("name", SERVERS)
def test_a_call_is_read_out_of_each_servers_reply(asked, name):
    body, thought = SERVERS[name]
    reply = asked(body).chat(QUESTION, tools=TOOLS)
    (call,) = reply.message.tool_calls
    assert (call.name, json.loads(call.arguments)) == ("search_nodes", {"query": "quays"})
    assert call.id
    assert not after_thinking(reply.message.content or "")
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == USED
    assert reply.raw.reasoning == thought


# ------------------------------------------------------------------------------------------------- newer models

REFUSED = {
    "temperature": (
        "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) is supported.",
        "`temperature` is deprecated for this model.",
        '{"loc": ["body", "temperature"], "msg": "Extra inputs are not permitted"}',
    ),
    "top_p": ("`temperature_` and `top_p` cannot both be specified; leave out 'top_p'",),
    "seed": ("Unrecognized request argument supplied: seed", "property 'seed' is unsupported"),
    "max_tokens": ("'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",),
}


@pytest.mark.server
@pytest.mark.parametrize(("name", "words"), [(name, words) for name, all_of in REFUSED.items() for words in all_of])
def test_a_parameter_that_a_model_refuses_is_learnt_once_and_costs_no_other(name, words):
    sampling = Sampling(temperature=0.7, top_p=0.9, max_tokens=50, random_seed=3)
    with FakeServer(lambda *_: Answer(content="fine"), refuses={name: words}) as server:
        model = OpenAIModel("fake", OpenAIConfig(base_url=server.url, retries=0))
        replies = [model.chat(QUESTION, tools=TOOLS, sampling=sampling) for _ in range(2)]
        model.close()
    assert len(server.bodies) == 3
    kept = {"temperature", "top_p", "max_tokens", "seed", "tools"} - {name}
    assert all(kept <= {*body} for body in server.bodies)
    assert all(name not in body for body in server.bodies[1:])
    assert ("max_completion_tokens" in server.bodies[-1]) == (name == "max_tokens")
    assert [reply.usage.calls for reply in replies] == [1, 1]
    assert replies[0].refused == ((),)
    assert replies[1].refused == ()


@pytest.mark.server
def test_a_question_that_speaks_of_a_parameter_does_not_cost_it():
    """A server may repeat the words of the question in its error."""
    words = "tools are wrong; input: Which seed did Anna sow, at what temperature?"
    with FakeServer(lambda *_: Answer(content="fine"), refuses={"tools": words}) as server:
        model = OpenAIModel("fake", OpenAIConfig(base_url=server.url, retries=0))
        model.chat(QUESTION, tools=TOOLS, sampling=Sampling(temperature=0.7, random_seed=3))
        model.close()
    assert [{"seed", "temperature"} <= {*body} for body in server.bodies] == [True, True]


# ------------------------------------------------------------------------------------------- servers of responses


def response(*output, **more):
    usage = {"input_tokens": 30, "output_tokens": 7}
    return {"object": "response", "status": "completed", "model": "m-1", "output": output, "usage": usage, **more}


def text_item(text):
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


@pytest.fixture
def responding():
    """Start a server that has responses alone, and return it with its model."""
    with ExitStack() as opened:

        def serve(body, *, chat=404, **served):
            def policy(sent, before):
                return Answer(body=body if isinstance(body, str) else json.dumps(body))

            server = opened.enter_context(FakeServer(policy, paths={"/v1/responses"}, missing=chat, **served))
            model = OpenAIModel("fake", OpenAIConfig(base_url=server.url, retries=0))
            opened.callback(model.close)
            return server, model

        yield serve


@pytest.mark.server
@pytest.mark.parametrize("status", [404, 405])
def test_a_server_of_responses_alone_is_asked_for_these(responding, status):
    server, model = responding(response(text_item("fine")), chat=status)
    history = (
        Message(role="system", content="Be brief."),
        *QUESTION,
        Message(role="assistant", content="I look.", tool_calls=(ToolCall(id="c1", name="finish", arguments="{}"),)),
        Message(role="tool", tool_call_id="c1", content="n1"),
    )
    schema = {"type": "object", "properties": {"port": {"type": "string"}}}
    sampling = Sampling(temperature=0.7, max_tokens=50, random_seed=3)
    replies = [model.chat(history, tools=TOOLS, sampling=sampling), model.chat(QUESTION, schema=schema)]
    assert [reply.message.content for reply in replies] == ["fine", "fine"]
    assert (replies[0].usage.prompt_tokens, replies[0].usage.completion_tokens, replies[0].model) == (30, 7, "m-1")
    first, second = server.bodies
    assert first == {
        "store": False,
        "model": "fake",
        "temperature": 0.7,
        "max_output_tokens": 50,
        "input": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": QUESTION[0].content},
            {"role": "assistant", "content": "I look."},
            {"type": "function_call", "call_id": "c1", "name": "finish", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "n1"},
        ],
        "tools": [{"type": "function", "strict": False, **tool.model_dump()} for tool in TOOLS],
    }
    assert second["text"] == {"format": {"type": "json_schema", "strict": False, "name": "reply", "schema": schema}}
    assert [seen.path for seen in server.requests] == ["/v1/responses"] * 2


@pytest.mark.server
@pytest.mark.parametrize(
    ("body", "why"),
    [
        (
            response(text_item("Rotter"), status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "cut off",
        ),
        (response(text_item("Rot"), status="incomplete", incomplete_details={"reason": "content_filter"}), "withheld"),
        (response({"type": "message", "content": [{"type": "refusal", "refusal": "I cannot."}]}), "refused: I cannot."),
        (response(), "said nothing"),
    ],
)
def test_a_response_that_is_no_answer_is_none(responding, body, why):
    _, model = responding(body)
    result = answer_from_hits(RANKING, model=model, run=Allowance())
    assert result.answer is None
    assert why in result.notes[-1]


@pytest.mark.server
def test_a_response_that_failed_is_a_failure_of_the_model(responding):
    _, model = responding(response(status="failed", error={"message": "out of paper"}))
    with pytest.raises(ModelError, match="out of paper"):
        model.chat(QUESTION)


@pytest.mark.server
def test_a_response_is_heard_while_it_is_written(responding):
    events = [
        {"type": "response.created", "response": response(status="in_progress")},
        {"type": "response.reasoning_summary_text.delta", "delta": "Hm."},
        {"type": "response.output_text.delta", "delta": "Rotter"},
        {"type": "response.output_text.delta", "delta": "dam"},
        {"type": "response.completed", "response": response(text_item("Rotterdam"))},
    ]
    server, model = responding("".join(f"event: x\ndata: {json.dumps(event)}\n\n" for event in events))
    heard = []
    reply = model.chat_stream(QUESTION, hear=heard.append)
    assert (heard, reply.message.content, reply.usage.completion_tokens) == (["Rotter", "dam"], "Rotterdam", 7)
    assert server.bodies[0]["stream"] is True
    assert "stream_options" not in server.bodies[0]
    _, broken = responding("".join(f"data: {json.dumps(event)}\n\n" for event in events[:-1]))
    with pytest.raises(ModelError, match="broke off"):
        broken.chat_stream(QUESTION, hear=heard.append)


@pytest.mark.server
def test_a_parameter_that_responses_refuse_is_learnt_as_well(responding):
    server, model = responding(
        response(text_item("fine")), refuses={"temperature": "Unsupported parameter: 'temperature'"}
    )
    for _ in range(2):
        assert model.chat(QUESTION, sampling=Sampling(temperature=0.7)).message.content == "fine"
    assert ["temperature" in body for body in server.bodies] == [True, False, False]


@pytest.mark.server
def test_a_server_of_responses_alone_can_be_probed(responding):
    server, model = responding(
        response({"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"})
    )
    found = Probe(model).abilities()
    assert (found.tools, found.required_tools, found.logprobs, found.usage) == ("kept", "kept", "ignored", "kept")
    assert server.bodies[4]["tool_choice"] == "required"
    assert all("max_output_tokens" in body for body in server.bodies)


@pytest.mark.server
def test_a_server_with_neither_is_told_as_it_was():
    with FakeServer(lambda *_: Answer(content="x"), paths=set()) as server:
        model = OpenAIModel("fake", OpenAIConfig(base_url=server.url, retries=0))
        with pytest.raises(ModelRefused, match="no model 'fake', or no chat completions"):
            model.chat(QUESTION)
        model.close()


@pytest.mark.server
def test_a_server_that_has_chatted_is_never_asked_for_responses():
    with FakeServer(lambda body, before: Answer(status=404) if before else Answer(content="x")) as server:
        model = OpenAIModel("fake", OpenAIConfig(base_url=server.url, retries=0))
        model.chat(QUESTION)
        with pytest.raises(ModelRefused):
            model.chat(QUESTION)
        model.close()
    assert {seen.path for seen in server.requests} == {"/v1/chat/completions"}
