"""Traces: written and read back, replayed over a graph, compared."""

import io
import json
import os
import stat
import sys

import pytest

from orienteer.agents import STANDARD_STREAM, check_writable, read_trajectories, write_trajectories
from orienteer.errors import BadInput
from orienteer.lab.replay import diff as diff_trajectories, replay as replay_trajectory
from orienteer.llm import ScriptedModel
from orienteer.records import (
    Edge,
    Message,
    Node,
    Observed,
    Question,
    Reply,
    Step,
    ToolboxSpec,
    ToolCall,
    ToolSpec,
    Trajectory,
)
from orienteer.retriever import Retriever
from orienteer.settings import Settings
from orienteer.tools import CODE_SPEC, CodeConfig, lowered_limits, lowered_limits_of_code


def seeker(messages, tools, sampling):
    turns = sum(message.role == "assistant" for message in messages)
    if turns == 0:
        return [("search_in_graph", {"query": "salt"})]
    if turns == 1:
        return [("search_in_neighborhood", {"node": "f2"}), ("search_in_graph", {"query": "salt"})]
    return [("add_to_answer", {"nodes": ["f2"], "reasoning": "it is"}), ("finish", {})]


@pytest.fixture(scope="module")
def walked(small):
    """Give the trajectories of an agent with all tools, one with the paper's, and of anchor."""
    settings = Settings()
    model = ScriptedModel(seeker)
    return (
        *Retriever(small, "ark", model=model, agents=1, settings=settings).search("salt").trajectories,
        *Retriever(small, "ark", model=model, agents=1, faithful=True, settings=settings).search("salt").trajectories,
        *Retriever(small, "anchor", settings=settings).search("films that Ada Holm directed").trajectories,
    )


def test_what_is_written_is_read(walked, tmp_path):
    path = tmp_path / "trace.jsonl"
    write_trajectories(path, walked)
    assert read_trajectories(path) == walked
    assert [entry.name for entry in tmp_path.iterdir()] == ["trace.jsonl"]


def test_standard_output_and_input(walked, monkeypatch, capsys):
    write_trajectories(STANDARD_STREAM, walked)
    monkeypatch.setattr("sys.stdin", io.StringIO(capsys.readouterr().out))
    assert read_trajectories(STANDARD_STREAM) == walked


def test_standard_output_steers_no_terminal_and_is_the_same_trace(walked, monkeypatch, capsys):
    strange = "".join(map(chr, (0x1B, 0x7F, 0x85, 0x9B, 0x2028, 0x2029, 0x202E, 0x2066))) + "é林"
    said = walked[0].model_copy(update={"answer": strange})
    write_trajectories(STANDARD_STREAM, [said])
    out = capsys.readouterr().out
    assert not set(out) & set(strange[:-2])
    assert "é林" in out
    monkeypatch.setattr("sys.stdin", io.StringIO(out))
    assert read_trajectories(STANDARD_STREAM) == (said,)


def test_a_trace_that_cannot_be_put_in_place_leaves_nothing(walked, tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"):
        write_trajectories(tmp_path / "taken", walked)
    assert [entry.name for entry in tmp_path.iterdir()] == ["taken"]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions as POSIX has them")
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_trace_has_the_permissions_that_any_file_has(walked, tmp_path, mask):
    before = os.umask(mask)
    try:
        write_trajectories(tmp_path / "trace.jsonl", walked)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "trace.jsonl").stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize(
    ("content", "words"),
    [("", "no trajectory"), ('{"version": 1}', "line 1"), ("\nno json\n", "line 2"), (b"\xff\xfe", "cannot be read")],
)
def test_what_is_no_trace_is_refused(tmp_path, content, words):
    path = tmp_path / "trace.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadInput, match=words):
        read_trajectories(path)


def test_a_place_that_cannot_be_written_is_told_before(tmp_path):
    check_writable(tmp_path / "new.jsonl")
    check_writable(STANDARD_STREAM)
    for path in (tmp_path, tmp_path / "no folder" / "x"):
        with pytest.raises(BadInput):
            check_writable(path)


def test_a_trace_of_an_older_version_is_refused_by_its_number(walked, tmp_path):
    path = tmp_path / "old.jsonl"
    line = json.loads(walked[0].model_dump_json()) | {"version": 1}
    line["search_mode"] = line.pop("toolbox")["options"]["mode"]
    path.write_text(walked[0].model_dump_json() + "\n" + json.dumps(line) + "\n")
    with pytest.raises(BadInput, match=r"line 2: a trajectory of version 1 .* reads version 2; ask again"):
        read_trajectories(path)


def test_a_replay_over_the_same_graph_gives_the_same(walked, small):
    for one in walked:
        replayed = list(replay_trajectory(one, small))
        assert len(replayed) == sum(len(step.observations) for step in one.steps) > 0
        assert all(call.is_equal for call in replayed)


def test_a_replay_over_another_graph_shows_what_differs(walked, build):
    other = build([Node("f2", "film", "Salt and Pepper"), Node("p", "person", "Pia")], [Edge("p", "directed", "f2")])
    replayed = list(replay_trajectory(walked[0], other))
    assert not replayed[0].is_equal
    assert "Salt and Pepper" in replayed[0].now.text
    assert "Salt and Pepper" not in replayed[0].recorded.text


def test_a_replay_needs_the_tools(small):
    strange = ToolSpec(name="dowse", description="", parameters={})
    lost = Trajectory(question=Question(text="x"), method="x", tools=(strange,))
    with pytest.raises(BadInput, match="dowse"):
        list(replay_trajectory(lost, small))


def test_equal_traces_have_no_difference(walked):
    assert all(one.is_empty for one in diff_trajectories(walked, walked))


def test_a_difference_names_the_step_and_the_selection(walked):
    first = walked[0]
    shorter = first.model_copy(update={"steps": first.steps[:1], "selected": ("c1",), "stopped_by": "steps"})
    (found,) = diff_trajectories([first], [shorter])
    assert not found.is_empty
    assert (found.steps, found.first_step) == ((3, 1), 2)
    assert len(found.calls[0]) == 2
    assert found.calls[1] == ()
    assert (found.both, found.only_first, found.only_second) == ((), ("f2",), ("c1",))
    assert found.stopped_by == ("finish", "steps")


def test_a_difference_of_words_alone_is_one(walked):
    (found,) = diff_trajectories([walked[0]], [walked[0].model_copy(update={"answer": "Salt"})])
    assert found.first_step is None
    assert not found.is_empty


def test_traces_of_different_lengths_are_refused(walked):
    with pytest.raises(BadInput, match="3 and 1"):
        diff_trajectories(walked, walked[:1])


LIMITS = (
    ("memory_mb", 6_000, "memory_mb is 6,000 in the trace: replayed with 256"),
    ("seconds", 3_600, "seconds is 3,600.0 in the trace: replayed with 20.0"),
    ("output_characters", 10**9, "output_characters is 1,000,000,000 in the trace: replayed with 8,000"),
    ("calls", 10**6, "calls is 1,000,000 in the trace: replayed with 500"),
    ("rows", 100_000, "rows is 100,000 in the trace: replayed with 10,000"),
)


def of_code(config, code):
    """Return a trajectory whose code ran as a configuration says."""
    call = ToolCall(id="1", name=CODE_SPEC.name, arguments=json.dumps({"code": code}))
    return Trajectory(
        question=Question(text="x"),
        method="graphscout",
        tools=(CODE_SPEC,),
        toolbox=ToolboxSpec(name="scouting", options={"mode": "lexical", "has_code": True, "code": config}),
        steps=(
            Step(
                reply=Reply(message=Message(role="assistant", tool_calls=(call,))),
                observations=(Observed(call_id="1", text="", nodes=()),),
            ),
        ),
    )


@pytest.mark.parametrize(("name", "high", "note"), LIMITS)
def test_a_trace_gives_code_no_more_than_the_default_limits(name, high, note):
    assert lowered_limits(of_code({name: high}, "")).notes == (note,)
    lowest = {"memory_mb": 1, "seconds": 0.5, "output_characters": 1, "calls": 1, "rows": 1}
    assert lowered_limits(of_code(lowest, "")).notes == ()
    config = lowered_limits_of_code(CodeConfig(**{**lowest, name: high})).config
    assert config == CodeConfig(**{**lowest, name: getattr(CodeConfig(), name)})


@pytest.mark.slow
def test_code_of_a_trace_runs_within_the_default_limits_unless_they_are_trusted(small):
    long = of_code({"output_characters": 50_000}, "print('word ' * 4_000)")
    (ran,) = replay_trajectory(long, small)
    assert "characters left out" in ran.now.text
    (trusted,) = replay_trajectory(long, small, trusts_limits=True)
    assert "characters left out" not in trusted.now.text
    assert len(trusted.now.text) > 19_000 > len(ran.now.text)
