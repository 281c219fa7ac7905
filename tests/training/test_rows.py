"""Trajectories as rows: what is learnt is just what the model said, and nothing that it was told (001, section 4.3)."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, strategies as st

from orienteer.errors import BadInput
from orienteer.lab.replay import requests as requests_of
from orienteer.lab.training import (
    IGNORED_TOKEN,
    RowCount,
    learnt_texts,
    parts_of_trajectory,
    prompt_tokens_of,
    training_rows,
)
from orienteer.llm import read_spoken
from orienteer.records import Message, Raw, Reply, ToolCall
from training.tiny import CHATML, END, QWEN, Bytes

WIDE = 1_000_000
SEARCH = ("search_in_graph", {"query": "Ada Holm", "node_types": ["writer"]})
READ = ("read_node", {"node": "w0"})
ADD = ("add_to_answer", {"nodes": ["n0", "n4"]})
FINISH = ("finish", {})
NATIVE = ([SEARCH], [READ, SEARCH], [ADD], [FINISH])
"""Calls with different arguments: put into one table, each would get the others' as nulls."""


def said_of(trajectory):
    return [step.reply.raw.text for step in trajectory.steps]


def learnt(trajectory, template, **options):
    return [
        learnt_texts(row, template.decode)
        for row in training_rows([trajectory], template, max_length=options.pop("max_length", WIDE), **options)
    ]


def changed(trajectory, at, **update):
    """Return a trajectory in which the reply of a step, from 0, is another."""
    steps = list(trajectory.steps)
    steps[at] = steps[at].model_copy(update={"reply": steps[at].reply.model_copy(update=update)})
    return trajectory.model_copy(update={"steps": tuple(steps)})


# --------------------------------------------------------------------------------------------------------- the mask


def test_just_the_raw_replies_and_the_marks_of_their_ends_are_learnt(episodes):
    template = Bytes()
    assert len(episodes) > 15
    for episode in episodes:
        assert learnt(episode, template) == [[f"{said}{END}" for said in said_of(episode)]]


def test_what_is_not_learnt_is_the_conversation_as_the_template_writes_it(episodes):
    """The row's text is the last request's, written by the template at once, and the last reply."""
    template = Bytes()
    for episode in episodes:
        *_, last = requests_of(episode)
        [row] = training_rows([episode], template, max_length=WIDE)
        whole = template.apply_chat_template(last.body()["messages"], tokenize=False, add_generation_prompt=True)
        assert template.decode(row.input_ids) == f"{whole}{said_of(episode)[-1]}{END}"
        assert [label for label in row.labels if label != IGNORED_TOKEN] == [
            token for token, label in zip(row.input_ids, row.labels, strict=True) if label != IGNORED_TOKEN
        ]
        ignored = template.decode([token for token, label in zip(*row, strict=True) if label == IGNORED_TOKEN])
        assert all(seen.text in ignored for step in episode.steps[:-1] for seen in step.observations)
        assert all(said not in ignored for said in said_of(episode))


def test_nothing_that_is_learnt_has_a_null(episodes, play):
    """Arguments of different tools in one column become nulls of each other (../shared/design/models.md, 6)."""
    native = play("ark", NATIVE, agents=1)
    scout = play("graphscout", ["I look.", r"\answer{Salt Road}"])
    template = Bytes(QWEN)
    made = training_rows([*episodes, native, scout], template, max_length=WIDE)
    texts = [text for row in made for text in learnt_texts(row, template.decode)]
    given = {tuple(sorted(json.loads(call.arguments))) for text in texts for call in read_spoken(text).calls}
    assert given >= {(), ("node",), ("nodes",), ("node_types", "query"), ("start", "steps")}
    assert not any("null" in text for text in texts)


def test_native_calls_are_learnt_as_the_template_writes_them(play):
    trajectory = play("ark", NATIVE, agents=1)
    assert trajectory.dialect == "native"
    template = Bytes(QWEN)
    [texts] = learnt(trajectory, template)
    assert len(texts) == len(NATIVE)
    for text, calls in zip(texts, NATIVE, strict=True):
        assert text.endswith(f"</tool_call>{END}")
        written = [json.loads(call) for call in re.findall(r"<tool_call>\n(.*?)\n</tool_call>", text)]
        assert written == [{"name": name, "arguments": arguments} for name, arguments in calls]


def test_words_beside_native_calls_are_learnt_with_them(play):
    calls = (ToolCall(id="a", name="read_node", arguments='{"node": "w0"}'),)
    spoken = Message(role="assistant", content="I read of her.", tool_calls=calls)
    trajectory = play("ark", [spoken, [ADD], [FINISH]], agents=1)
    [[first, *_]] = learnt(trajectory, Bytes(QWEN))
    assert first.startswith("I read of her.\n<tool_call>")


def test_a_reply_that_was_cut_has_no_mark_of_an_end(episodes):
    """The model did not end there, and must not learn to."""
    episode = episodes[0]
    said = said_of(episode)
    cut = changed(episode, 0, truncated=True)
    assert learnt(cut, Bytes()) == [[said[0], f"{said[1]}{END}"]]
    [row] = training_rows([cut], Bytes(), max_length=WIDE)
    assert bytes(row.input_ids) == bytes(next(training_rows([episode], Bytes(), max_length=WIDE)).input_ids)


def test_a_native_reply_that_was_cut_has_no_mark_of_an_end_either(play):
    trajectory = changed(play("ark", NATIVE, agents=1), 1, truncated=True)
    [texts] = learnt(trajectory, Bytes(QWEN))
    assert [text.endswith(END) for text in texts] == [True, False, True, True]


def test_thoughts_are_learnt_and_the_request_after_them_begins_a_row_of_its_own(play):
    """A dialect leaves earlier thoughts out: what the model saw next was not what it had said."""
    turns = ["<think>hm</think>I look.", "Still.", r"\answer{Salt Road}"]
    trajectory = play("graphscout", turns)
    texts = learnt(trajectory, Bytes())
    assert texts[0] == [f"{turns[0]}{END}"]
    assert [text for row in texts for text in row] == [f"{said}{END}" for said in said_of(trajectory)]
    assert len(texts) == 2


def test_a_request_that_failed_is_not_learnt(episodes):
    episode = episodes[0]
    failed = episode.steps[0].model_copy(
        update={"error": "the server is gone", "reply": Reply(message=Message(role="assistant"), raw=Raw())}
    )
    again = episode.model_copy(update={"steps": (failed, *episode.steps)})
    assert learnt(again, Bytes()) == learnt(episode, Bytes())


# ---------------------------------------------------------------------------------------------------- templates


def test_a_template_that_drops_tools_is_refused_in_a_sentence(play):
    with pytest.raises(BadInput, match=r"^the student's chat template does not write tools: name another with [^\n]*$"):
        parts_of_trajectory(play("ark", NATIVE, agents=1), Bytes(CHATML))


def test_a_template_that_drops_tools_is_refused_though_the_prompt_names_them(play):
    """The paper's prompt names its tools, and a model that makes no call gives no other sign."""
    trajectory = play("ark", ["I do not know."], agents=1, faithful=True, max_steps=2)
    assert all(tool.name in trajectory.opening[0].content for tool in trajectory.tools)
    with pytest.raises(BadInput, match="does not write tools"):
        parts_of_trajectory(trajectory, Bytes(CHATML))


def test_a_template_that_drops_calls_is_refused_in_a_sentence(play):
    callless = QWEN.replace("message.tool_calls or []", "[]")
    with pytest.raises(BadInput, match=r"^the student's chat template does not write calls of tools: name another"):
        parts_of_trajectory(play("ark", NATIVE, agents=1), Bytes(callless))


def test_a_template_that_rewrites_what_was_said_is_refused_in_a_sentence(play):
    rewriting = QWEN.replace("{{ message.content or '' }}", "{{ message.content or '' }}{{ messages | length }}")
    assert rewriting != QWEN
    with pytest.raises(BadInput, match=r"^the student's chat template rewrites a conversation with each turn"):
        parts_of_trajectory(play("ark", NATIVE, agents=1), Bytes(rewriting))


def test_a_template_that_leaves_earlier_replies_out_gives_a_row_to_each_request(episodes):
    """What comes after the gap was never seen by the model together with what stood before it."""
    forgetful = CHATML.replace(
        "{{ message.content }}", "{{ message.content if message.role != 'assistant' or loop.last else '...' }}"
    )
    episode = episodes[0]
    assert learnt(episode, Bytes(forgetful)) == [[f"{said}{END}"] for said in said_of(episode)]


def test_the_end_mark_is_that_of_the_template(episodes):
    other = CHATML.replace(END, "</s>")
    [texts] = learnt(episodes[0], Bytes(other))
    assert all(text.endswith("</s>") and END not in text for text in texts)


# ---------------------------------------------------------------------------------------------------------- length


@given(st.data())
def test_no_row_is_longer_and_it_ends_with_a_whole_turn(episodes, data):
    template = Bytes()
    episode = data.draw(st.sampled_from(episodes))
    [whole] = training_rows([episode], template, max_length=WIDE)
    most = data.draw(st.integers(16, len(whole.input_ids) + 5))
    count = RowCount()
    cut = list(training_rows([episode], template, max_length=most, count=count))
    texts = [f"{said}{END}" for said in said_of(episode)]
    for row in cut:
        assert len(row.input_ids) <= most
        assert row.input_ids == whole.input_ids[: len(row.input_ids)]
        assert row.labels == whole.labels[: len(row.labels)]
        assert row.labels[-1] != IGNORED_TOKEN, "it ends with what is learnt"
        kept = learnt_texts(row, template.decode)
        assert kept == texts[: len(kept)]
        following = texts[len(kept) : len(kept) + 1]
        assert not following or _length_with(whole, len(kept) + 1) > most, "the next turn would have fitted"
    is_whole = bool(cut) and cut[0] == whole
    assert count.left_out == ({} if is_whole else {"longer than max_length": 1})


def _length_with(row, turns):
    """Return how many tokens a row has up to the end of a turn."""
    following = [*row.labels[1:], IGNORED_TOKEN]
    pairs = enumerate(zip(row.labels, following, strict=True), 1)
    return [at for at, (label, after) in pairs if label != IGNORED_TOKEN and after == IGNORED_TOKEN][turns - 1]


def test_what_was_counted_adds_up(episodes):
    template, count = Bytes(), RowCount()
    made = list(training_rows(episodes, template, max_length=1400, count=count))
    assert count.trajectories == len(episodes)
    assert count.rows == len(made)
    assert count.tokens == sum(len(row.input_ids) for row in made)
    assert count.learnt == sum(label != IGNORED_TOKEN for row in made for label in row.labels)


# ------------------------------------------------------------------------------------------------- a real tokenizer


@pytest.fixture(scope="module")
def smollm2():
    for module in ("torch", "transformers", "gguf"):
        pytest.importorskip(module)
    from transformers import AutoTokenizer

    from orienteer.lab.training import source_of

    try:
        file = source_of("smollm2")
    except BadInput as error:
        pytest.skip(str(error))
    return AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)


def test_the_mask_holds_with_a_real_tokenizer(smollm2, episodes):
    for episode in episodes:
        [row] = training_rows([episode], smollm2, max_length=WIDE)
        assert learnt_texts(row, smollm2.decode) == [f"{said}{END}" for said in said_of(episode)]
        *_, last = requests_of(episode)
        whole = prompt_tokens_of(last.body(), smollm2)
        assert smollm2.decode(row.input_ids) == f"{whole}{said_of(episode)[-1]}{END}"


def test_the_tokens_of_a_row_are_those_of_the_whole_text(smollm2, episodes):
    """Parts are cut into tokens one by one, as a server gets them; no token spans the border of two."""
    for episode in episodes:
        [row] = training_rows([episode], smollm2, max_length=WIDE)
        assert row.input_ids == smollm2(smollm2.decode(row.input_ids), add_special_tokens=False)["input_ids"]


def test_the_template_of_smollm2_is_refused_for_native_calls(smollm2, play):
    with pytest.raises(BadInput, match="does not write tools"):
        parts_of_trajectory(play("ark", NATIVE, agents=1), smollm2)
