"""What every language model keeps, whatever stands behind it."""

import importlib
import inspect
import json
import pkgutil
from concurrent.futures import ThreadPoolExecutor

import pytest

import orienteer.llm
from fakes import Answer, FakeServer
from fakes.engine import install_engine, write_gguf
from orienteer.llm import LocalModel, OpenAIConfig, OpenAIModel, RecordedModel, Recording, ScriptedModel
from orienteer.records import Message, Sampling, ToolSpec

pytestmark = [pytest.mark.process, pytest.mark.server]

SEARCH = ToolSpec(
    name="search", description="Find nodes.", parameters={"type": "object", "properties": {"query": {"type": "string"}}}
)
SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}


def asked(text):
    return (Message(role="system", content="Be brief."), Message(role="user", content=text))


REQUESTS = {
    "prose": (asked("say"), {}),
    "seed": (asked("seed"), {"sampling": Sampling(random_seed=7)}),
    "calls": (asked("call"), {"tools": (SEARCH,)}),
    "schema": (asked("object"), {"schema": SCHEMA}),
    "unicode": (asked("e\u0301 \u2028 \U0001f9ec \x00"), {}),
    **{str(number): (asked(str(number)), {}) for number in range(20)},
}


def say(text, seed):
    """The one model that all of them stand for."""
    match text:
        case "call":
            return [("search", {"query": "gène"}), ("search", {"query": "b"})]
        case "object":
            return '{"answer": "x"}'
        case "seed":
            return f"seed {seed}"
        case _:
            return f"you said {text}"


def by_script(messages, tools, sampling):
    return say(messages[-1].content, sampling.random_seed)


def by_server(body, before):
    said = say(body["messages"][-1]["content"], body.get("seed"))
    return Answer(content=said) if isinstance(said, str) else Answer(calls=said)


@pytest.fixture
def openai_model():
    with FakeServer(by_server) as server:
        model = OpenAIModel("fake", OpenAIConfig(base_url=server.url))
        yield model
        model.close()


@pytest.fixture
def scripted():
    return ScriptedModel(by_script, "fake")


@pytest.fixture
def recording(scripted, tmp_path):
    return Recording(scripted, tmp_path / "cassette.jsonl")


@pytest.fixture
def recorded(scripted, tmp_path):
    path = tmp_path / "recorded.jsonl"
    source = Recording(scripted, path)
    for messages, options in REQUESTS.values():
        for _ in range(2):
            source.chat(messages, **options)
    return RecordedModel(path)


@pytest.fixture
def local(tmp_path, monkeypatch):
    with FakeServer(by_server) as server:
        install_engine(monkeypatch, tmp_path / "engine", server.url)
        write_gguf(tmp_path / "fake")
        monkeypatch.chdir(tmp_path)
        model = LocalModel("local:fake")
        yield model
        model.close()


MODELS = {
    **{OpenAIModel: "openai_model", LocalModel: "local", ScriptedModel: "scripted"},
    **{Recording: "recording", RecordedModel: "recorded"},
}


@pytest.fixture(params=MODELS.values(), ids=[model.__name__ for model in MODELS])
def model(request):
    return request.getfixturevalue(request.param)


def chat(model, name):
    messages, options = REQUESTS[name]
    return model.chat(messages, **options)


def test_every_implementation_is_in_the_list():
    found = set()
    for module in pkgutil.iter_modules(orienteer.llm.__path__, "orienteer.llm."):
        for _, one in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if one.__module__ == module.name and callable(getattr(one, "chat", None)):
                found.add(one)
    assert found == MODELS.keys()


def test_it_has_the_name_its_server_knows(model):
    assert model.name.removeprefix("local:") == "fake"


def test_prose_is_the_assistants(model):
    reply = chat(model, "prose")
    assert reply.message == Message(role="assistant", content="you said say")
    assert (reply.truncated, reply.repaired) == (False, 0)


def test_one_chat_is_one_call(model):
    usage = chat(model, "prose").usage
    assert usage.calls == 1
    assert usage.cached_tokens <= usage.prompt_tokens


def test_calls_have_ids_of_their_own_and_arguments_in_json(model):
    calls = chat(model, "calls").message.tool_calls
    assert [(call.name, json.loads(call.arguments)) for call in calls] == [
        ("search", {"query": "gène"}),
        ("search", {"query": "b"}),
    ]
    assert len({call.id for call in calls}) == 2
    assert all(call.id for call in calls)


def test_an_object_of_the_schema_is_the_content(model):
    assert json.loads(chat(model, "schema").message.content) == {"answer": "x"}


def test_the_seed_arrives(model):
    assert chat(model, "seed").message.content == "seed 7"


def test_any_text_arrives(model):
    assert chat(model, "unicode").message.content == "you said e\u0301 \u2028 \U0001f9ec \x00"


def test_a_reply_is_a_function_of_the_conversation(model):
    one, other = chat(model, "calls"), chat(model, "calls")
    assert one.message == other.message


def test_threads_do_not_mix_up_their_replies(model):
    names = [str(number) for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda name: chat(model, name), names))
    assert [reply.message.content for reply in replies] == [f"you said {name}" for name in names]


def test_a_reply_can_be_written_down(model):
    reply = chat(model, "calls")
    assert type(reply).model_validate_json(reply.model_dump_json()) == reply
