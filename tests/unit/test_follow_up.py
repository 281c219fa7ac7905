"""Questions that follow others: put in words by a model, else as they are, with a note."""

import json

import pytest

from orienteer import ScriptedModel
from orienteer.errors import ModelError
from orienteer.serve import FollowUp, Turn, understood_alone

BEFORE = [Turn("user", "Who designed Ruby?"), Turn("assistant", "Yukihiro Matsumoto")]


def scripted(*replies):
    """Return a model that says one reply after another, by how often it spoke, and the messages it saw."""
    seen = []

    def say(messages, tools, sampling):
        seen.append(messages)
        return replies[sum(message.role == "assistant" for message in messages)]

    return ScriptedModel(say), seen


def test_a_first_question_costs_nothing():
    model, seen = scripted("never")
    assert understood_alone("Who designed Go?", [], model) == FollowUp("Who designed Go?")
    assert seen == []


def test_without_a_model_it_stays_and_a_note_says_so():
    given = understood_alone("And Go?", BEFORE, None)
    assert given.question == "And Go?"
    assert "without a model" in given.note


def test_a_model_sees_what_was_said_and_puts_it_in_words():
    model, seen = scripted(json.dumps({"question": "Who designed Go?"}))
    given = understood_alone("And Go?", BEFORE, model)
    assert (given.question, given.note, given.usage.calls) == ("Who designed Go?", "asked as: Who designed Go?", 1)
    told = seen[0][-1].content
    assert "user: Who designed Ruby?\nassistant: Yukihiro Matsumoto\n" in told
    assert told.endswith("And Go?")


def test_what_was_understood_alone_has_no_note():
    model, _ = scripted(json.dumps({"question": "Who designed Go?"}))
    assert understood_alone("Who designed Go?", BEFORE, model).note is None


def test_only_the_last_turns_are_read_and_none_of_them_whole():
    model, seen = scripted(json.dumps({"question": "x"}))
    understood_alone("And Go?", [Turn("user", f"question {n} {'long ' * 1000}") for n in range(20)], model)
    told = seen[0][-1].content
    assert "question 13 " not in told
    assert "question 14 " in told
    assert len(told) < 10_000


@pytest.mark.parametrize("reply", ["no object", json.dumps({"question": "  "}), json.dumps({"other": 1})])
def test_a_reply_that_is_none_leaves_the_question(reply):
    model, _ = scripted(reply, reply)
    given = understood_alone("And Go?", BEFORE, model)
    assert given.question == "And Go?"
    assert given.note.startswith("asked as it stands")
    assert given.usage.calls in (1, 2)


def test_a_model_that_fails_leaves_the_question():
    def fail(messages, tools, sampling):
        raise ModelError("gone")

    assert understood_alone("And Go?", BEFORE, ScriptedModel(fail)).question == "And Go?"


def test_a_reply_without_end_is_cut():
    model, _ = scripted(json.dumps({"question": "x" * 10**6}))
    assert len(understood_alone("And Go?", BEFORE, model).question) <= 10_000
