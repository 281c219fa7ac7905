"""What cost turns in a trajectory: hand-made ones, each with one fault, and courses that were really run."""

import json
from itertools import count

import pytest

from orienteer.lab.replay import lint as lint_trajectory, together as joined_lints
from orienteer.llm import ScriptedModel
from orienteer.records import (
    NOT_RUN,
    Message,
    Observed,
    Question,
    Raw,
    Reply,
    Step,
    ToolCall,
    ToolSpec,
    Trajectory,
    Usage,
)
from orienteer.retriever import Retriever
from orienteer.settings import Settings

LOOK = ToolSpec(name="look", description="Looks.", parameters={"type": "object"})
NUMBERS = count()
SCHEMA = {"type": "object", "properties": {"kept": {"type": "array"}}, "required": ["kept"]}


def step(*calls, says=None, gives=(), errors=(), nodes=(), **fields):
    """Return a turn: calls as (tool, arguments), what each gave, and what it died of."""
    made = tuple(
        ToolCall(id=f"call_{next(NUMBERS)}", name=name, arguments=text if isinstance(text, str) else json.dumps(text))
        for name, text in calls
    )
    observations = tuple(
        Observed(
            call_id=call.id,
            text=text,
            nodes=nodes[at] if at < len(nodes) else (),
            error=errors[at] if at < len(errors) else None,
        )
        for at, (call, text) in enumerate(zip(made, gives, strict=False))
    )
    of_reply = {
        name: fields.pop(name) for name in ("truncated", "refused", "lacks", "calls_left_out", "raw") if name in fields
    }
    usage = Usage(calls=1, prompt_tokens=100, completion_tokens=10)
    reply = Reply(message=Message(role="assistant", content=says, tool_calls=made), usage=usage, **of_reply)
    return Step(reply=reply, observations=observations, **fields)


def made_of(*steps, question="Who made Salt?", tools=(LOOK,), **fields):
    fields = {"model": "m", "answer": "Ada", **fields}
    return Trajectory(question=Question(text=question), method="ark", tools=tools, steps=steps, **fields)


def found_in(*steps, **fields):
    """Return kind, turn and reason of each finding."""
    return [
        (finding.kind, finding.step, finding.why) for finding in lint_trajectory(made_of(*steps, **fields)).findings
    ]


END = step(says="It was Ada.")
FRESH = step(("look", {"for": "Salt"}), gives=["[p7] Ada Holm made it"], nodes=[("p7",)])


# ---------------------------------------------------------------------------------------------------- hand-made ones


def test_a_course_without_fault_has_no_findings():
    seen = lint_trajectory(made_of(FRESH, END))
    assert seen.findings == ()
    assert (seen.turns, seen.tokens, seen.turns_in_vain, seen.tokens_in_vain) == (2, 220, 0, 0)


def test_a_call_that_failed_is_told_with_its_reason():
    failing = step(("look", {"for": "Slt"}), gives=["No node 'Slt'.\nNear: Salt."], errors=["UnknownNode"])
    seen = lint_trajectory(made_of(failing, FRESH, END))
    [finding] = seen.findings
    assert (finding.kind, finding.step, finding.tool, finding.error) == ("failed", 1, "look", "UnknownNode")
    assert finding.why == "No node 'Slt'. Near: Salt."
    assert (seen.turns_in_vain, seen.tokens_in_vain) == (1, 110)


def test_of_a_long_error_begin_and_end_are_told():
    text = f"printed {'x' * 500}\nline 7: cypher(query)\nBadQuery: no such label"
    [(_, _, why)] = found_in(step(("look", {}), gives=[text], errors=["CodeError"]), END)
    assert why.startswith("printed xxx")
    assert why.endswith("BadQuery: no such label")
    assert len(why) < 320


def test_calls_that_were_not_run_are_told():
    over = step(("look", {"for": "a"}), ("look", {"for": "b"}), gives=["No call is left."], errors=[NOT_RUN])
    assert found_in(over, END) == [("failed", 1, "it was not run")] * 2


def test_a_turn_of_which_one_call_was_good_is_not_in_vain():
    both = step(
        ("look", {"for": "Slt"}),
        ("look", {"for": "Salt"}),
        gives=["no", "[p7] Ada"],
        errors=["UnknownNode"],
        nodes=[(), ("p7",)],
    )
    seen = lint_trajectory(made_of(both, END))
    assert len(seen.findings) == 1
    assert seen.turns_in_vain == 0


def test_the_same_call_again_is_told_whatever_its_blanks():
    first = step(("look", '{"for": "Salt", "k": 2}'), gives=["[p7] Ada"], nodes=[("p7",)])
    again = step(("look", '{ "k":2, "for":"Salt" }'), gives=["[p7] Ada"], nodes=[("p7",)])
    other = step(("look", '{"for": "Salt", "k": 3}'), gives=["[p7] Ada"], nodes=[("p7",)])
    assert found_in(first, again, other, END) == [
        ("repeated", 2, 'the same call as in turn 1: { "k":2, "for":"Salt" }'),
    ]


def test_a_call_whose_result_was_left_out_is_repeated_for_that():
    call_id = FRESH.reply.message.tool_calls[0].id
    again = step(("look", {"for": "Salt"}), gives=["[p7] Ada"], nodes=[("p7",)], elided=(call_id,))
    [(kind, number, why)] = found_in(FRESH, again, END)
    assert (kind, number) == ("repeated", 2)
    assert "left out to save room" in why


def test_a_failing_call_that_is_made_again_is_one_finding():
    failing = [step(("look", "{"), gives=["no JSON"], errors=["BadCall"]) for _ in range(2)]
    assert found_in(*failing, FRESH, END) == [
        ("failed", 1, "no JSON"),
        ("failed", 2, "no JSON (the same call as in turn 1)"),
    ]


def unread(text="[q9] Oberon, a castle", nodes=("q9",), tool="look"):
    return step((tool, {"for": "castles"}), gives=[text], nodes=[nodes])


def test_a_result_of_which_nothing_was_used_is_told():
    assert found_in(unread(), FRESH, END) == [
        ("unused", 1, 'nothing of it was used later, 1 node: {"for": "castles"}'),
    ]


@pytest.mark.parametrize(
    "later",
    [
        step(("look", {"around": "q9"}), gives=["[p7] Ada"], nodes=[("p7",)]),
        step(("look", {"around": "OBERON"}), gives=["[p7] Ada"], nodes=[("p7",)]),
        step(("look", {"code": "print(\n'oberon')"}), gives=["[p7] Ada"], nodes=[("p7",)]),
        step(("look", {"for": "Salt"}), says="Not Oberon.", gives=["[p7] Ada"], nodes=[("p7",)]),
        step(("look", {"for": "Salt"}), raw=Raw(reasoning="not the castle, then"), gives=["[p7] Ada"], nodes=[("p7",)]),
    ],
    ids=["an id", "a name", "in code", "in words", "in a thought"],
)
def test_what_the_model_writes_later_is_use(later):
    assert found_in(unread(), later, END) == []


def test_a_saved_set_that_is_named_is_used():
    later = step(("look", {"among": "@4"}), gives=["[p7] Ada"], nodes=[("p7",)])
    assert found_in(unread("@4: 12 found", nodes=("q9",)), later, END) == []
    assert len(found_in(unread("@4: 12 found", nodes=("q9",)), FRESH, END)) == 1


@pytest.mark.parametrize(
    "result",
    [
        unread(nodes=()),  # finding nothing tells something, too
        unread("[castles] Salt", nodes=("castles",)),  # it showed nothing new: it may have been a check
        unread(tool="add_to_answer"),  # is called for what it does
    ],
)
def test_of_what_may_have_been_of_use_nothing_is_told(result):
    assert found_in(result, FRESH, END) == []


def test_the_last_look_is_taken_as_read_only_where_something_came_after_it():
    assert found_in(unread(), END) == []
    assert [kind for kind, *_ in found_in(unread())] == ["unused"]


def test_cut_and_empty_replies_are_told():
    cut = step(says="I think that", truncated=True)
    assert found_in(cut, step(says=" "), FRESH, END) == [
        ("cut", 1, "the reply was cut off at its length limit, after 10 tokens"),
        ("empty", 2, "the reply has neither words nor a call"),
    ]
    assert lint_trajectory(made_of(cut, step(), FRESH, END)).turns_in_vain == 2


def test_a_reply_that_calls_nothing_is_told_where_the_course_goes_on():
    prose = step(says="Let me think.")
    assert found_in(prose, FRESH, END) == [("failed", 1, "the reply calls nothing, and does not end the course")]
    report = step(says='{"kept": [1]}', offers_tools=False, reply_schema=SCHEMA)
    assert found_in(FRESH, prose, report) == []  # the quizzer's course ends so, and its report is asked for


def test_broken_and_surplus_calls_are_told():
    surplus = step(("look", {"for": "Salt"}), gives=["[p7] Ada"], nodes=[("p7",)], calls_left_out=2)
    assert found_in(step(says="<tool_call>", unread=1), surplus, END) == [
        ("failed", 1, "1 call in words could not be read"),
        ("failed", 2, "2 calls beyond those that one turn may make"),
    ]


def test_requests_that_failed_or_were_refused_are_told():
    refused = step(says="Ada.", refused=((), ("tools",)), lacks=("response_format", "tools"))
    lost = step(error="no answer within 120 s")
    seen = lint_trajectory(made_of(refused, lost))
    assert [finding.why for finding in seen.findings] == [
        "the server refused the request: sent again without tools",
        "the server refused the request: sent again without response_format",
        "the reply calls nothing, and does not end the course",
        "the request failed: no answer within 120 s",
    ]


@pytest.mark.parametrize(
    ("text", "kind", "why"),
    [
        ("Sure.", "failed", "the reply is no JSON"),
        ('{"keep": [1]}', "failed", "the reply does not fit its schema"),
        ('{"kept": []}', "empty", "the object of the reply holds nothing"),
    ],
)
def test_an_object_that_is_none_or_empty_is_told(text, kind, why):
    [(found, number, told)] = found_in(step(says=text, reply_schema=SCHEMA), tools=(), answer=text)
    assert (found, number) == (kind, 1)
    assert told.startswith(why)


def test_an_object_that_fits_and_was_sent_back_is_told():
    """A plan may fit its schema and name what is not there."""
    again = step(says='{"kept": [1]}', reply_schema=SCHEMA, notice="Your reply cannot be used: there is no 9.")
    found = found_in(step(says='{"kept": [9]}', reply_schema=SCHEMA), again, tools=())
    assert found == [("failed", 1, "the reply was sent back: Your reply cannot be used: there is no 9.")]


@pytest.mark.parametrize("text", ['{"kept": [false]}', '{"kept": [], "sound": true}', '{"kept": [], "depth": 2}'])
def test_what_says_anything_is_not_empty(text):
    assert found_in(step(says=text, reply_schema=SCHEMA), tools=()) == []


def test_a_course_that_comes_to_nothing_is_told():
    assert found_in(FRESH, answer=None, stopped_by="steps")[-1] == (
        "empty",
        None,
        "it ended with neither an answer nor a node, by steps",
    )
    assert all(number for _, number, _ in found_in(FRESH, answer=None, selected=("p7",)))


def test_what_no_model_did_has_no_turns():
    seen = lint_trajectory(
        made_of(unread(), step(("look", {}), gives=["no"], errors=["BadCall"]), model=None, answer=None)
    )
    assert seen == ((), 0, 0, 0, 0)


def test_several_are_added_up():
    one, other = lint_trajectory(made_of(unread(), FRESH, END)), lint_trajectory(made_of(FRESH, END))
    assert joined_lints([one, other]) == (one.findings, 5, 550, 1, 110)
    assert joined_lints([]) == ((), 0, 0, 0, 0)


# ------------------------------------------------------------------------------------------------------- a real one


def test_the_turns_of_a_real_course_are_told(small):
    """An agent of `ark` misspells a tool and a node, asks the same twice, looks at what it never needs, and ends."""
    turns = (
        [("search_in_graph", {"query": "salt"})],
        [("look_up", {"query": "salt"}), ("read_node", {"node": "No Such Film"})],
        "I should look again.",
        [("search_in_graph", {"query": "salt"})],
        [("add_to_answer", {"nodes": ["f2"], "reasoning": "it is"}), ("finish", {})],
    )
    model = ScriptedModel(lambda messages, *_: turns[sum(message.role == "assistant" for message in messages)])
    [course] = Retriever(small, "ark", model=model, agents=1, settings=Settings()).search("salt").trajectories
    seen = lint_trajectory(Trajectory.model_validate_json(course.model_dump_json()))
    assert [(finding.kind, finding.step, finding.tool, finding.error) for finding in seen.findings] == [
        ("failed", 2, "look_up", "BadCall"),
        ("failed", 2, "read_node", "UnknownNode"),
        ("failed", 3, None, None),
        ("repeated", 4, "search_in_graph", None),
    ]
    assert (seen.turns, seen.turns_in_vain) == (5, 3)
