import json

import pytest

from fakes import Answer, FakeServer
from orienteer.errors import BudgetExhausted, ModelError
from orienteer.llm.budget import Allowance, Budget
from orienteer.llm.calls import arguments_of, call
from orienteer.llm.openai import OpenAIConfig, OpenAIModel
from orienteer.llm.scripted import ScriptedModel
from orienteer.records import Message, ToolCall, ToolSpec

SEARCH = ToolSpec(
    name="search_in_graph",
    description="Find nodes.",
    parameters={
        "type": "object",
        "properties": {"query": {"type": "string"}, "k": {"type": "integer", "minimum": 1}},
        "required": ["query"],
        "additionalProperties": False,
    },
)
QUESTION = (Message(role="user", content="Which gene?"),)
SOUND = [("search_in_graph", {"query": "a"})]


def turns(*said):
    """A model that says these one after another, by how long the conversation is, and keeps what it was asked."""
    asked = []

    def policy(messages, tools, sampling):
        asked.append(tuple(messages))
        return said[sum(message.role == "assistant" for message in messages)]

    return ScriptedModel(policy), asked


def test_a_sound_call_takes_one_turn():
    model, asked = turns(SOUND)
    run = Allowance()
    reply = call(model, QUESTION, run=run, tools=(SEARCH,))
    assert (reply.repaired, len(asked), run.usage().calls) == (0, 1, 1)


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ([("search_graph", {"query": "a"})], "no tool 'search_graph'. Did you mean search_in_graph?"),
        ([("search_in_graph", {})], "query is missing"),
        ([("search_in_graph", {"query": "a", "k": 0})], "k must be at least 1, is 0"),
    ],
)
def test_a_wrong_call_is_repaired_once_by_a_tool_message(wrong, fault):
    model, asked = turns(wrong, SOUND)
    run = Allowance()
    reply = call(model, QUESTION, run=run, tools=(SEARCH,))
    assert reply.repaired == 1
    assert reply.usage.calls == run.usage().calls == 2
    assert reply.message.tool_calls[0].arguments == '{"query": "a"}'
    advice = asked[1][-1]
    assert advice.role == "tool"
    assert advice.tool_call_id == asked[1][-2].tool_calls[0].id
    assert fault in advice.content


@pytest.mark.parametrize("arguments", ['{"query": ', "[1]", "null", "[" * 50_000, '{"query": "\\ud83d"}'])
def test_arguments_that_are_no_object_are_repaired(arguments):
    wrong = Message(role="assistant", tool_calls=(ToolCall(id="c", name="search_in_graph", arguments=arguments),))
    model, asked = turns(wrong, SOUND)
    reply = call(model, QUESTION, run=Allowance(), tools=(SEARCH,))
    assert reply.repaired == 1
    assert asked[1][-2] == wrong
    assert len(asked[1][-1].content) < 500


def test_every_call_of_a_message_is_answered_when_one_is_wrong():
    model, asked = turns([*SOUND, ("seek", {})], SOUND)
    call(model, QUESTION, run=Allowance(), tools=(SEARCH,))
    good, bad = asked[1][-2:]
    assert "Not run" in good.content
    assert "no tool 'seek'" in bad.content


def test_prose_is_answered_with_the_tools_there_are():
    model, asked = turns("Let me think.", SOUND)
    assert call(model, QUESTION, run=Allowance(), tools=(SEARCH,)).message.tool_calls
    assert asked[1][-2:] == (
        Message(role="assistant", content="Let me think."),
        Message(role="user", content="Reply with a call of one of these tools: search_in_graph."),
    )


def test_an_empty_reply_is_not_sent_back():
    asked = []

    def policy(messages, tools, sampling):
        asked.append(messages)
        return Message(role="assistant") if len(messages) == 1 else "{}"

    assert call(ScriptedModel(policy), QUESTION, run=Allowance(), schema={"type": "object"}).repaired == 1
    assert [message.role for message in asked[1]] == ["user", "user"]


def test_what_is_said_after_the_repair_is_returned_as_it_is():
    model, asked = turns("Hm.", "Hm again.")
    reply = call(model, QUESTION, run=Allowance(), tools=(SEARCH,))
    assert (reply.message.content, reply.repaired, len(asked)) == ("Hm again.", 1, 2)


def test_prose_without_tools_needs_no_repair():
    model, asked = turns("BRCA1")
    assert call(model, QUESTION, run=Allowance()).message.content == "BRCA1"
    assert len(asked) == 1


@pytest.mark.parametrize(("wrong", "fault"), [("no", "is no JSON"), ('{"answer": 3}', "answer must be of type string")])
def test_an_object_is_held_to_its_schema(wrong, fault):
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    model, asked = turns(wrong, '{"answer": "x"}')
    assert call(model, QUESTION, run=Allowance(), schema=schema).message.content == '{"answer": "x"}'
    assert fault in asked[1][-1].content


def test_a_repair_is_claimed_like_any_call():
    model, asked = turns("Hm.", SOUND)
    run = Allowance(Budget(calls=1), reserve=0)
    reply = call(model, QUESTION, run=run, tools=(SEARCH,))
    assert (reply.message.content, reply.repaired, len(asked)) == ("Hm.", 0, 1)
    with pytest.raises(BudgetExhausted):
        call(model, QUESTION, run=run, tools=(SEARCH,))
    assert len(asked) == 1


def test_a_repair_does_not_eat_the_last_turn():
    model, asked = turns("Hm.", SOUND)
    run = Allowance(Budget(calls=2))
    assert call(model, QUESTION, run=run, tools=(SEARCH,)).repaired == 0
    assert call(model, QUESTION, run=run.final()).message.content == "Hm."
    assert len(asked) == 2


def test_a_call_that_fails_is_settled():
    def policy(messages, tools, sampling):
        raise ModelError("dead")

    run = Allowance(Budget(calls=2, tokens=100), reserve=0)
    for _ in range(2):
        with pytest.raises(ModelError):
            call(ScriptedModel(policy), QUESTION, run=run)
    with pytest.raises(BudgetExhausted):
        call(ScriptedModel(policy), QUESTION, run=run)
    assert run.usage().calls == 0


def test_arguments_come_back_parsed():
    assert arguments_of(ToolCall(id="1", name="search_in_graph", arguments='{"query": "é", "k": 3}'), (SEARCH,)) == {
        "query": "é",
        "k": 3,
    }


@pytest.mark.parametrize("mode", ["tools", "schema", "text"])
@pytest.mark.parametrize(
    ("wrong", "fault"),
    [('{"query": "a", "k": 0}', "at least 1"), ('{"query": }', "no JSON"), ('{"quer": "a"}', "did you mean query")],
)
def test_a_repair_reaches_the_model_in_every_way_of_asking(mode, wrong, fault):
    def policy(body, before):
        is_told = any(fault in (message["content"] or "") for message in body["messages"])
        is_asked_again = len(body["messages"]) > 2
        arguments = '{"query": "a"}' if is_told or (is_asked_again and wrong == '{"query": }') else wrong
        if "tools" in body:
            return Answer(calls=[("search_in_graph", arguments)])
        return Answer(content=f'{{"name": "search_in_graph", "arguments": {arguments}}}')

    with FakeServer(policy) as server:
        model = OpenAIModel("fake", OpenAIConfig(base_url=server.url, mode=mode))
        reply = call(model, QUESTION, run=Allowance(), tools=(SEARCH,))
        model.close()
    assert reply.repaired == 1
    assert reply.usage.calls == 2
    assert reply.usage.prompt_tokens == 200
    assert json.loads(reply.message.tool_calls[0].arguments) == {"query": "a"}


def test_prose_steps_down_after_its_repair():
    def policy(body, before):
        return Answer(
            content='{"name": "search_in_graph", "arguments": {"query": "a"}}' if "oneOf" in str(body) else "Hm."
        )

    with FakeServer(policy, ignores=("tools",)) as server:
        model = OpenAIModel("fake", OpenAIConfig(base_url=server.url))
        replies = [call(model, QUESTION, run=Allowance(), tools=(SEARCH,)) for _ in range(2)]
        model.close()
    assert [len(reply.message.tool_calls) for reply in replies] == [0, 1]
    assert [reply.repaired for reply in replies] == [1, 0]
