"""One source of prompts and tools: what a student learns is what training and a server's evaluation ask it."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from fakes import Answer, FakeServer
from orienteer.lab.replay import requests as requests_of
from orienteer.lab.training import IGNORED_TOKEN, collected_trajectories, training_rows
from orienteer.retriever import Retriever
from orienteer.settings import Settings
from training.tiny import END, Bytes

SCOUT = (
    '<tool_call>\n{"name": "node_id_retriever", "arguments": {"queries": ["Ada Holm"]}}\n</tool_call>',
    '<tool_call>\n{"name": "code_interpreter", "arguments": {"code": "print(1 + 1)"}}\n</tool_call>',
    r"\answer{Salt Road, Long Shore}",
)
METHODS = (
    pytest.param("ark tools=compact agents=1", id="ark with the compact tools"),
    pytest.param("graphscout", id="graphscout"),
    pytest.param("ark agents=1 faithful=true", id="ark by native calls, as the paper has it"),
)
PICKS = {"answer_nodes": [{"node_index": "w0", "reasoning": "it is hers"}]}
NATIVE = ([("search_in_graph", {"query": "Ada Holm"})], [("add_to_answer", PICKS), ("finish", {})])


@pytest.fixture
def told(books, taught, play):
    """Give a function that returns an episode of a method, as it is learnt from, and what was said in it."""

    def made(method):
        if method == "graphscout":
            episode = play("graphscout", list(SCOUT))
            return episode, list(SCOUT)
        if "faithful" in method:
            return play("ark", list(NATIVE), agents=1, faithful=True), list(NATIVE)
        episode = next(one for name, one in collected_trajectories(taught) if name == "books")
        return episode, [step.reply.raw.text for step in episode.steps]

    return made


def shown(body):
    """Return the bytes of what a model is shown."""
    return json.dumps([body["messages"], body.get("tools")], ensure_ascii=False).encode()


@pytest.mark.parametrize("method", METHODS)
def test_a_server_in_an_evaluation_gets_what_was_learnt_from(told, books, tmp_path, cli, method):
    episode, said = told(method)

    def policy(body, before):
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        return Answer(content=said[turn]) if isinstance(said[turn], str) else Answer(calls=said[turn])

    file = tmp_path / "q.jsonl"
    file.write_text(json.dumps({"question": episode.question.text, "nodes": ["n0"]}) + "\n")
    with FakeServer(policy) as server:
        ran = cli(
            *("eval", "run", books.path, file, "--method", method, "--model", "fake", "--base-url", server.url),
            *("-o", tmp_path / "run", "-q"),
        )
        assert ran.code == 0, ran.err
        bodies = server.bodies
    learnt = [request.body() for request in requests_of(episode)]
    compared = _without_ids if "faithful" in method else dict  # a server numbers its calls as it likes
    assert len(bodies) == len(learnt) > 1
    for sent, own in zip(bodies, learnt, strict=True):
        assert shown(compared(sent)) == shown(compared(own))


def _without_ids(body):
    messages = []
    for message in body["messages"]:
        calls = [{**call, "id": ""} for call in message.get("tool_calls", ())]
        plain = {name: value for name, value in message.items() if name not in ("tool_calls", "tool_call_id")}
        messages.append({**plain, "tool_calls": calls} if calls else plain)
    return {"messages": messages, "tools": body.get("tools")}


class Marked(Bytes):
    """A tokenizer of bytes with a mark that ends a reply, which notes what it is to write."""

    eos_token_id, pad_token_id = 256, 257

    def __init__(self):
        super().__init__()
        self.written = []

    def apply_chat_template(self, conversation, *, tools=None, **options):
        self.written.append(shown({"messages": conversation, "tools": tools}))
        return super().apply_chat_template(conversation, tools=tools, **options)

    def __call__(self, text, *, add_special_tokens):
        parts = text.split(END)
        ids = [token for part in parts for token in [*part.encode(), self.eos_token_id]][:-1]
        return {"input_ids": ids}

    def decode(self, token_ids):
        pieces = bytes(token if token < 256 else 0 for token in token_ids).decode()
        return pieces.replace("\0", END)


@pytest.mark.training
@pytest.mark.parametrize("method", METHODS[:2])
def test_a_policy_in_training_gets_what_was_learnt_from_token_by_token(told, books, method):
    torch = pytest.importorskip("torch")
    pytest.importorskip("trl")
    from orienteer.lab.training import StudentPolicy

    episode, said = told(method)
    tokenizer = Marked()

    class Parrot:
        training, device = False, torch.device("cpu")
        generation_config = SimpleNamespace(eos_token_id=tokenizer.eos_token_id)

        def eval(self):
            return self

        def train(self, mode):
            return self

        def generate(self, input_ids, **options):
            turn = input_ids[0].tolist().count(tokenizer.eos_token_id) - self.opening
            reply = [*said[turn // 2].encode(), tokenizer.eos_token_id]
            return torch.cat([input_ids, torch.tensor([reply])], dim=1)

    learnt = [request.body() for request in requests_of(episode)]
    Parrot.opening = len(learnt[0]["messages"])
    name, *options = method.split()
    chosen = dict(option.split("=") for option in options)
    with StudentPolicy(Parrot(), tokenizer, name="student", most_tokens=4096, most_prompt_tokens=100_000) as policy:
        agent = Retriever(books, name, model=policy, settings=Settings(methods={name: chosen}))
        [trajectory] = agent.search(episode.question.text).trajectories
    assert tokenizer.written == [shown(body) for body in learnt]
    [row] = training_rows([episode], tokenizer, max_length=10**6)
    last = trajectory.steps[-1].reply.raw
    assert row.input_ids == [*last.prompt_token_ids, *last.token_ids]
    first = next(at for at, label in enumerate(row.labels) if label != IGNORED_TOKEN)
    assert row.input_ids[:first] == list(trajectory.steps[0].reply.raw.prompt_token_ids)
