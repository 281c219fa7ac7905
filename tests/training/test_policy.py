"""The policy: many conversations are one batch, and each gets its own reply, as tokens that go on from one another."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from orienteer.errors import ModelError
from orienteer.lab.replay import requests as requests_of
from orienteer.lab.training import StudentPolicy, collected_trajectories, open_student, prompt_tokens_of
from orienteer.records import Message, Price, Sampling
from orienteer.retriever import Retriever
from orienteer.settings import Settings

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = [pytest.mark.training, pytest.mark.filterwarnings("ignore")]  # what the libraries tell each other

GREEDY = Sampling(temperature=0.0)


@pytest.fixture(scope="module")
def student(pupil):
    torch.set_num_threads(1)
    return open_student(str(pupil / "model"))


@pytest.fixture
def policy(student):
    with StudentPolicy(student.model, student.tokenizer, name="student", most_tokens=64) as policy:
        yield policy


@pytest.fixture(scope="module")
def openings(lesson):
    """Give the first request of each episode of the lesson, as a model gets it."""
    return [next(iter(requests_of(one))).chat.messages for _, one in collected_trajectories(lesson)]


def alone(student, messages, most=64):
    """Return what the student says to one conversation, sampled by transformers itself."""
    text = student.tokenizer.apply_chat_template(
        [message.model_dump() for message in messages], tokenize=False, add_generation_prompt=True
    )
    ids = student.tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
    out = student.model.generate(ids, max_new_tokens=most, do_sample=False, eos_token_id=student.tokenizer.eos_token_id)
    return tuple(ids[0].tolist()), tuple(out[0, ids.shape[1] :].tolist())


def test_from_many_threads_each_gets_its_own_reply(policy, student, openings):
    """Of prompts of different lengths, which are padded in a batch."""
    asked = openings * 4
    with ThreadPoolExecutor(len(asked)) as threads:
        replies = list(threads.map(lambda messages: policy.chat(messages, sampling=GREEDY), asked))
    assert len({reply.raw.text for reply in replies}) == len(openings)
    assert len({len(reply.raw.prompt_token_ids) for reply in replies}) > 1
    for messages, reply in zip(asked, replies, strict=True):
        assert (reply.raw.prompt_token_ids, reply.raw.token_ids) == alone(student, messages)


def test_they_are_one_batch(student, openings):
    sizes = []

    class Counting:
        def __getattr__(self, name):
            return getattr(student.model, name)

        def generate(self, input_ids, **options):
            sizes.append(len(input_ids))
            return student.model.generate(input_ids=input_ids, **options)

    with StudentPolicy(Counting(), student.tokenizer, name="student", most_tokens=4) as policy:
        barrier = threading.Barrier(8, timeout=30)

        def ask(messages):
            barrier.wait()
            return policy.chat(messages, sampling=GREEDY)

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(ask, openings * 2))
    assert sum(sizes) == 8
    assert len(sizes) < 4


def test_each_is_held_to_its_own_length_and_temperature(policy, student, openings):
    wanted = [Sampling(temperature=0.0 if at % 2 else 0.01, max_tokens=1 + 5 * at) for at in range(8)]
    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(lambda sampling: policy.chat(openings[0], sampling=sampling), wanted))
    whole = alone(student, openings[0])[1]
    for sampling, reply in zip(wanted, replies, strict=True):
        assert reply.raw.token_ids == whole[: sampling.max_tokens]
        assert reply.truncated == (len(whole) > sampling.max_tokens)


def test_a_reply_that_was_cut_says_so_and_one_that_ended_has_no_mark(policy, student, openings):
    end = student.tokenizer.eos_token
    cut, whole = (policy.chat(openings[0], sampling=Sampling(temperature=0.0, max_tokens=most)) for most in (5, 64))
    assert (cut.truncated, cut.raw.finish_reason) == (True, "length")
    assert (whole.truncated, whole.raw.finish_reason) == (False, "stop")
    assert student.tokenizer.decode(whole.raw.token_ids) == f"{whole.raw.text}{end}"
    assert end not in whole.message.content
    assert student.tokenizer.decode(cut.raw.token_ids) == cut.raw.text
    assert whole.usage.prompt_tokens == len(whole.raw.prompt_token_ids)
    assert whole.usage.completion_tokens == len(whole.raw.token_ids)
    assert policy.price == Price(prompt=0.0, completion=0.0)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_the_tokens_of_a_conversation_that_grows_extend_one_another(student, policy, lesson, worlds, temperature):
    """What was sampled stays as it was sampled; a text cut anew may be other tokens, of other probabilities."""
    [question, *_] = [one.question.text for _, one in collected_trajectories(lesson)]
    agent = Retriever(
        *(worlds["ships"], "ark"),
        model=policy,
        settings=Settings(),
        tools="compact",
        agents=1,
        max_steps=4,
        temperature=temperature,
    )
    [trajectory] = agent.search(question).trajectories
    assert len(trajectory.steps) > 1
    told = list(requests_of(trajectory))
    for before, after, request in zip(trajectory.steps, trajectory.steps[1:], told[1:], strict=False):
        so_far = (*before.reply.raw.prompt_token_ids, *before.reply.raw.token_ids)
        goes_on = prompt_tokens_of(request.body(), student.tokenizer).startswith(student.tokenizer.decode(so_far))
        assert goes_on or temperature, "what it knows by heart is written as the dialect writes it"
        if goes_on:
            assert after.reply.raw.prompt_token_ids[: len(so_far)] == so_far
    for request, step in zip(told, trajectory.steps, strict=True):
        assert student.tokenizer.decode(step.reply.raw.prompt_token_ids) == prompt_tokens_of(
            request.body(), student.tokenizer
        )
    if not temperature:
        assert trajectory.stopped_by == "finish"


def test_sampled_tokens_are_kept_although_the_text_would_be_cut_otherwise(student, openings):
    """A model that writes letter by letter what its tokenizer has in one token."""
    letters = [student.tokenizer.convert_tokens_to_ids(letter) for letter in "tool"]
    assert student.tokenizer("tool", add_special_tokens=False)["input_ids"] != letters

    class Spelling:
        training, device = False, torch.device("cpu")
        generation_config = SimpleNamespace(eos_token_id=student.tokenizer.eos_token_id)

        def eval(self):
            return self

        def train(self, mode):
            return self

        def generate(self, input_ids, **options):
            said = torch.tensor([[*letters, student.tokenizer.eos_token_id]] * len(input_ids))
            return torch.cat([input_ids, said], dim=1)

    with StudentPolicy(Spelling(), student.tokenizer, name="student") as policy:
        first = policy.chat(openings[0])
        messages = [*openings[0], first.message, Message(role="user", content="Go on.")]
        second = policy.chat(messages)
        other = policy.chat(openings[1])
    so_far = (*first.raw.prompt_token_ids, *first.raw.token_ids)
    assert first.raw.text == "tool"
    assert second.raw.prompt_token_ids[: len(so_far)] == so_far
    assert student.tokenizer.decode(other.raw.prompt_token_ids) == student.tokenizer.apply_chat_template(
        [message.model_dump() for message in openings[1]], tokenize=False, add_generation_prompt=True
    ), "another conversation of the same thread begins anew"


def test_a_prompt_that_is_too_long_is_told(student, openings):
    with (
        StudentPolicy(student.model, student.tokenizer, name="student", most_prompt_tokens=100) as policy,
        pytest.raises(ModelError, match=r"a prompt of \d+ tokens: student takes 100"),
    ):
        policy.chat(openings[0])


def test_a_mistake_of_the_model_reaches_all_who_wait_and_the_next_is_answered(student, openings):
    class Broken:
        is_broken = True

        def __getattr__(self, name):
            return getattr(student.model, name)

        def generate(self, **options):
            if self.is_broken:
                raise RuntimeError("out of memory")
            return student.model.generate(**options)

    broken = Broken()
    with StudentPolicy(broken, student.tokenizer, name="student", most_tokens=4) as policy:
        with ThreadPoolExecutor(3) as threads:
            asked = [threads.submit(policy.chat, openings[0]) for _ in range(3)]
            assert all(isinstance(one.exception(), RuntimeError) for one in asked)
        broken.is_broken = False
        assert policy.chat(openings[0]).raw.token_ids


def test_memory_bounds_a_batch_and_the_model_trains_on_as_it_did(student, openings):
    sizes = []

    class Counting:
        def __getattr__(self, name):
            return getattr(student.model, name)

        def generate(self, input_ids, **options):
            assert not student.model.training, "dropout would sample from another model"
            sizes.append(input_ids.numel() + len(input_ids) * options["max_new_tokens"])
            return student.model.generate(input_ids=input_ids, **options)

    student.model.train()
    with (
        StudentPolicy(Counting(), student.tokenizer, name="student", most_tokens=4, batch_tokens=900) as policy,
        ThreadPoolExecutor(8) as threads,
    ):
        list(threads.map(policy.chat, openings * 2))
    assert len(sizes) >= 4
    assert max(sizes) <= 900
    assert student.model.training
    student.model.eval()


def test_another_engine_samples_in_its_place_and_each_reply_ends_where_it_ends(student, openings):
    end, asked = student.tokenizer.eos_token_id, []

    def engine(prompts, temperature, most):
        asked.append((len(prompts), temperature, most))
        return [[7, 8, end, 9] for _ in prompts]

    with StudentPolicy(student.model, student.tokenizer, name="student", most_tokens=16) as policy:
        policy.sample_by(engine)
        reply = policy.chat(openings[0], sampling=GREEDY)
    assert (reply.raw.token_ids, reply.raw.finish_reason) == ((7, 8, end), "stop")
    assert asked == [(1, 0.0, 16)]
