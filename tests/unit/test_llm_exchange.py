import json

import pytest

from fakes import Answer, FakeServer
from orienteer.errors import BudgetExhausted, ModelError
from orienteer.llm import Allowance, Budget, OpenAIConfig, OpenAIModel, ScriptedModel, ask_model
from orienteer.records import Message, Question, Trajectory

QUESTION = (Message(role="user", content="Which gene?"),)
BEGUN = Trajectory(question=Question(text="Which gene?"), method="test", model="m", opening=QUESTION)
SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
SOUND = '{"answer": "x"}'


def turns(*said):
    """A model that says these one after another, by how long the conversation is, and keeps what it was asked."""
    asked = []

    def policy(messages, tools, sampling):
        asked.append(tuple(messages))
        return said[sum(message.role == "assistant" for message in messages)]

    return ScriptedModel(policy), asked


def test_a_sound_reply_takes_one_turn():
    model, asked = turns(SOUND)
    run = Allowance()
    reply, value, trajectory = ask_model(model, run, BEGUN, schema=SCHEMA)
    assert (reply.repaired, len(asked), run.usage().calls, trajectory.usage.calls) == (0, 1, 1, 1)
    assert value == {"answer": "x"}
    assert trajectory.answer == SOUND


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ("no", "is no JSON"),
        ('{"answer": 3}', "answer must be of type string"),
        ('{"answer": ', "is no JSON"),
        ("[1]", "the value must be of type object"),
        ("[" * 50_000, "is no JSON"),
        ('{"answer": "\\ud83d"}', "surrogate"),
    ],
)
def test_a_reply_that_does_not_fit_its_schema_is_repaired_once(wrong, fault):
    model, asked = turns(wrong, SOUND)
    run = Allowance()
    reply, value, trajectory = ask_model(model, run, BEGUN, schema=SCHEMA)
    assert (reply.repaired, value) == (1, {"answer": "x"})
    assert trajectory.usage.calls == run.usage().calls == 2
    assert asked[1][-2] == Message(role="assistant", content=wrong)
    assert asked[1][-1].role == "user"
    assert fault in asked[1][-1].content
    assert len(asked[1][-1].content) < 500


def test_what_a_check_finds_is_told_in_the_same_turn():
    model, asked = turns(SOUND, '{"answer": "y"}')
    _, value, _ = ask_model(model, Allowance(), BEGUN, schema=SCHEMA, check=lambda value: ["x is no gene"])
    assert value == {"answer": "y"}
    assert asked[1][-1].content == "Your reply cannot be used: x is no gene. Send it again, right."


def test_without_repairs_the_first_reply_stays_as_it_is():
    model, asked = turns("no", SOUND)
    reply, value, _ = ask_model(model, Allowance(), BEGUN, schema=SCHEMA, repairs=False)
    assert (reply.message.content, value, len(asked)) == ("no", None, 1)


def test_an_empty_reply_is_not_sent_back():
    asked = []

    def policy(messages, tools, sampling):
        asked.append(messages)
        return Message(role="assistant") if len(messages) == 1 else "{}"

    assert ask_model(ScriptedModel(policy), Allowance(), BEGUN, schema={"type": "object"}).reply.repaired == 1
    assert [message.role for message in asked[1]] == ["user", "user"]


def test_what_is_said_after_the_repair_is_returned_as_it_is():
    model, asked = turns("Hm.", "Hm again.")
    reply, value, _ = ask_model(model, Allowance(), BEGUN, schema=SCHEMA)
    assert (reply.message.content, reply.repaired, value, len(asked)) == ("Hm again.", 1, None, 2)


def test_prose_without_a_schema_needs_no_repair():
    model, asked = turns("BRCA1")
    reply, value, _ = ask_model(model, Allowance(), BEGUN)
    assert (reply.message.content, value, len(asked)) == ("BRCA1", None, 1)


def test_a_repair_is_claimed_like_any_call():
    model, asked = turns("Hm.", SOUND)
    run = Allowance(Budget(calls=1), reserve=0)
    reply = ask_model(model, run, BEGUN, schema=SCHEMA).reply
    assert (reply.message.content, reply.repaired, len(asked)) == ("Hm.", 0, 1)
    with pytest.raises(BudgetExhausted):
        ask_model(model, run, BEGUN, schema=SCHEMA)
    assert len(asked) == 1


def test_a_repair_does_not_eat_the_last_turn():
    model, asked = turns("Hm.", SOUND)
    run = Allowance(Budget(calls=2))
    assert ask_model(model, run, BEGUN, schema=SCHEMA).reply.repaired == 0
    assert ask_model(model, run.final(), BEGUN).reply.message.content == "Hm."
    assert len(asked) == 2


def test_a_call_that_fails_is_settled_and_told_with_what_was_sent():
    def policy(messages, tools, sampling):
        raise ModelError("dead")

    run = Allowance(Budget(calls=2, tokens=100), reserve=0)
    for _ in range(2):
        with pytest.raises(ModelError) as failed:
            ask_model(ScriptedModel(policy), run, BEGUN)
        [trajectory] = failed.value.trajectories
        assert (len(trajectory.steps), trajectory.stopped_by, trajectory.error) == (1, "error", "dead")
    with pytest.raises(BudgetExhausted):
        ask_model(ScriptedModel(policy), run, BEGUN)
    assert run.usage().calls == 0


@pytest.mark.parametrize("value", [{f"a{place}": 1 for place in range(1000)}, {"x" * 100_000: 1}])
def test_what_is_said_of_a_wrong_reply_has_a_bound_however_wrong_it_is(value):
    model, asked = turns(json.dumps(value), SOUND)
    ask_model(model, Allowance(), BEGUN, schema={**SCHEMA, "additionalProperties": False})
    assert len(asked[1][-1].content) < 3_000


@pytest.mark.server
@pytest.mark.parametrize("mode", ["auto", "schema", "text"])
@pytest.mark.parametrize(("wrong", "fault"), [('{"answer": 0}', "of type string"), ('{"answer": }', "no JSON")])
def test_a_repair_reaches_the_model_in_every_way_of_asking(mode, wrong, fault):
    def policy(body, before):
        is_told = any(fault in (message["content"] or "") for message in body["messages"])
        return Answer(content=SOUND if is_told else wrong)

    with FakeServer(policy) as server:
        model = OpenAIModel("fake", OpenAIConfig(base_url=server.url, mode=mode))
        reply, value, trajectory = ask_model(model, Allowance(), BEGUN, schema=SCHEMA)
        model.close()
    assert (reply.repaired, value) == (1, {"answer": "x"})
    assert (trajectory.usage.calls, trajectory.usage.prompt_tokens) == (2, 200)
