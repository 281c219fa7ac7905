"""A run on disk: whole after any end, read back as it was written, one writer at a time."""

import json
import os

import pytest

from orienteer.errors import BadInput, GraphBusy
from orienteer.files import mend, read_lines, write_whole
from orienteer.lab.evaluation import (
    RUN_MANIFEST,
    RUN_QUESTIONS,
    RUN_REPLIES,
    RUN_RESULTS,
    RUN_TRAJECTORIES,
    Example,
    Gold,
    RunJournal,
    RunLine,
    RunManifest,
    graph_hash,
    held_run,
    joined_manifest,
    lines_by_method,
    manifest_differences,
    read_manifest,
    read_run,
    run_prompt_hashes,
    select_questions,
    work_of,
)
from orienteer.records import (
    NOT_RUN,
    Edge,
    Message,
    Node,
    Observed,
    Question,
    Ranked,
    Reply,
    Step,
    ToolCall,
    Trajectory,
    Usage,
)

MANIFEST_OF = RunManifest(
    graph="g",
    graph_sha256="a" * 64,
    nodes=1,
    edges=0,
    dataset="jsonl",
    questions_sha256="b" * 64,
    count=3,
    methods={"ark": {"agents": 3}},
    prompts={"ark.md": "c" * 64},
    model="m",
    base_url="http://one/v1",
    budget={"calls": 3},
    orienteer="0",
    python="3",
    commit="one",
    created="then",
)


def line(number, method="bm25", error=None):
    hits = (Ranked(id="n", type="t", name="N", score=1.0),)
    return RunLine(id=f"q{number}", method=method, question="?", hits=hits, usage=Usage(calls=2), error=error)


def trajectory(*tools, usage=Usage(calls=1)):  # noqa: B008 -- frozen
    calls = tuple(ToolCall(id=str(at), name=name, arguments="{}") for at, name in enumerate(tools))
    step = Step(reply=Reply(message=Message(role="assistant", tool_calls=calls), usage=usage))
    return Trajectory(question=Question(text="?"), method="ark", steps=(step,))


@pytest.fixture
def path(tmp_path):
    write_whole(tmp_path / RUN_MANIFEST, MANIFEST_OF.model_dump_json())
    write_whole(tmp_path / RUN_QUESTIONS, "")
    return tmp_path


# ------------------------------------------------------------------------------------------------------- journal


def test_what_is_added_is_read_back(path):
    journal = RunJournal(path)
    for number in range(3):
        journal.add(line(number), [trajectory("search_in_graph")])
    run = read_run(path)
    assert run.lines == (line(0), line(1), line(2))
    assert [(question, method, len(all_)) for question, method, all_ in run.trajectories()] == [
        (f"q{number}", "bm25", 1) for number in range(3)
    ]
    assert run.lines[0].ranking == ("n",)
    assert sorted(file.name for file in path.iterdir()) == sorted(
        [RUN_MANIFEST, RUN_QUESTIONS, RUN_RESULTS, RUN_TRAJECTORIES]
    )


@pytest.mark.parametrize("cut", [RUN_RESULTS, RUN_TRAJECTORIES])
def test_a_torn_last_line_is_cut_off_wherever_it_was_torn(path, cut):
    RunJournal(path).add(line(0), [trajectory("search_in_graph")])
    whole = (path / cut).read_bytes()
    RunJournal(path).add(line(1), [trajectory("search_in_graph")])
    both = (path / cut).read_bytes()
    for length in (0, 1, 2, len(both) - len(whole) - 1):
        (path / cut).write_bytes(both[: len(whole) + length])
        mend(path / cut)
        assert (path / cut).read_bytes() == whole


def test_trajectories_without_their_result_are_not_read_and_are_cleared_away(path):
    journal = RunJournal(path)
    journal.add(line(0), [trajectory("a")])
    journal.add(line(1), [trajectory("a")])
    results = (path / RUN_RESULTS).read_bytes()
    (path / RUN_RESULTS).write_bytes(results[: results.index(b"\n") + 20])  # killed while the second result was written
    assert [question for question, _, _ in read_run(path).trajectories()] == ["q0"]
    journal = RunJournal(path)
    assert journal.done == {("q0", "bm25")}
    journal.add(line(1), [trajectory("b")])
    assert [question for question, _, _ in read_run(path).trajectories()] == ["q0", "q1"]
    assert len(list(read_lines(path / RUN_TRAJECTORIES))) == 2


def test_failed_questions_are_forgotten_where_asked(path):
    journal = RunJournal(path)
    for number, error in enumerate([None, "dead", None]):
        journal.add(line(number, error=error), [trajectory("a")])
    kept = RunJournal(path)
    assert (len(kept.done), kept.failed, kept.usage.calls) == (3, {("q1", "bm25")}, 6)
    again = RunJournal(path, forgets_failed=True)
    assert (again.done, again.failed) == ({("q0", "bm25"), ("q2", "bm25")}, set())
    assert [question for question, _, _ in read_run(path).trajectories()] == ["q0", "q2"]


def test_a_line_that_is_no_result_is_told(path):
    (path / RUN_RESULTS).write_text("[1]\n")
    with pytest.raises(BadInput, match="not a result"):
        RunJournal(path)
    with pytest.raises(BadInput, match="not a result"):
        read_run(path)


@pytest.mark.parametrize("text", ['{"id": "q0", "method": "bm25"}', '{"id": "q0", "method": "bm25", "usage": 3}'])
def test_a_result_without_its_usage_is_told(path, text):
    (path / RUN_RESULTS).write_text(f"{text}\n")
    with pytest.raises(BadInput, match="its usage is invalid"):
        RunJournal(path)


def test_a_line_that_is_no_trajectory_is_told(path):
    RunJournal(path).add(line(0), [trajectory("a")])
    (path / RUN_TRAJECTORIES).write_text('{"id": 5}\n')
    with pytest.raises(BadInput, match="not a trajectory"):
        list(read_run(path).trajectories())


def test_one_process_writes_at_a_time(path):
    with held_run(path), pytest.raises(GraphBusy, match="another process"), held_run(path):
        pass
    with held_run(path):
        pass


def test_a_folder_without_a_run_is_told(tmp_path):
    with pytest.raises(BadInput, match="is not a run"):
        read_run(tmp_path)
    (tmp_path / RUN_MANIFEST).write_text('{"version": 2}')
    with pytest.raises(BadInput, match="not a manifest of this version"):
        read_run(tmp_path)


# -------------------------------------------------------------------------------------------------------- records


def test_work_counts_turns_reading_tools_and_set_joins():
    work = work_of([trajectory("search_in_graph", "intersect", "finish"), trajectory("add_to_answer", "intersect")])
    assert (work.iterations, work.retrievals, work.set_joins) == (2, 3, 2)
    assert work.tools == {"add_to_answer": 1, "finish": 1, "intersect": 2, "search_in_graph": 1}


def test_failed_calls_are_those_of_the_model_alone():
    calls = tuple(ToolCall(id=name, name="code_interpreter", arguments="{}") for name in "abc")
    step = Step(
        reply=Reply(message=Message(role="assistant", tool_calls=calls), usage=Usage(calls=1)),
        observations=(
            Observed(call_id="a", text="no such label", error="no such label"),
            Observed(call_id="b", text="[]"),
            Observed(call_id="c", text="no more calls", error=NOT_RUN),
            Observed(call_id="a program's own", text="not there", error="not there"),
        ),
    )
    own = step.model_copy(update={"reply": step.reply.model_copy(update={"usage": Usage()})})
    work = work_of([Trajectory(question=Question(text="?"), method="graphscout", steps=(step, own))])
    assert (work.tools, work.tool_calls, work.failed_calls) == ({"code_interpreter": 6}, 3, 1)
    unread = step.model_copy(update={"unread": 2})
    work = work_of([Trajectory(question=Question(text="?"), method="graphscout", steps=(unread, own))])
    assert (work.tool_calls, work.failed_calls) == (5, 3)


def test_calls_that_no_model_made_are_work_but_no_turns():
    assert work_of([trajectory("follow", usage=Usage())]).iterations == 0
    assert work_of([trajectory("follow", usage=Usage())]).retrievals == 1


def test_a_method_without_a_trajectory_makes_one_search():
    assert work_of(()).retrievals == 1


def test_lines_are_grouped_by_method_in_their_order():
    grouped = lines_by_method([line(0, "b"), line(0, "a"), line(1, "b")])
    assert [(method, [line.id for line in lines]) for method, lines in grouped.items()] == [
        ("b", ["q0", "q1"]),
        ("a", ["q0"]),
    ]


# ------------------------------------------------------------------------------------------------------- manifest


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"graph_sha256": "d" * 64}, "the graph changed (aaaaaaaaaaaa then, dddddddddddd now)"),
        ({"questions_sha256": "d" * 64}, "the questions changed"),
        ({"dataset": "stark"}, "dataset was jsonl and is stark"),
        ({"split": "test"}, "split was null and is test"),
        ({"where": ("a=1",)}, 'where was [] and is ["a=1"]'),
        ({"k": 5}, "k was 20 and is 5"),
        ({"random_seed": 7}, "random_seed was 0 and is 7"),
        ({"answers": True}, "answers was false and is true"),
        ({"orienteer": "1"}, "orienteer was 0 and is 1"),
        ({"model": "n"}, "model was m and is n"),
        ({"budget": {"calls": 4}}, "budget was"),
        ({"dialect": "schema"}, "dialect was null and is schema"),
        ({"methods": {"ark": {"agents": 1}}}, "'ark': agents was 3 and is 1"),
        ({"prompts": {"ark.md": "d" * 64}}, "the prompt ark.md was cccccccccccc and is dddddddddddd"),
        ({"count": 2}, "the number of questions was 3 and is 2"),
    ],
)
def test_other_conditions_are_told(change, message):
    (difference,) = manifest_differences(MANIFEST_OF, MANIFEST_OF.model_copy(update=change))
    assert message in difference


def test_a_smaller_limit_is_another_condition():
    old = MANIFEST_OF.model_copy(update={"limit": 3})
    (difference,) = manifest_differences(old, old.model_copy(update={"limit": 2, "count": 2}))
    assert difference == "limit was 3 and is 2"


@pytest.mark.parametrize(
    "change",
    [
        {"methods": {"bm25": {}}, "prompts": {}},
        {"limit": 10, "count": 10},
        {"model": None, "budget": {}, "base_url": None, "methods": {"bm25": {}}},
        {"base_url": "http://two/v1", "commit": "two", "python": "4", "created": "now"},
    ],
)
def test_what_may_change_does(change):
    new = MANIFEST_OF.model_copy(update=change)
    assert manifest_differences(MANIFEST_OF, new) == []
    manifest = joined_manifest(MANIFEST_OF, new)
    assert manifest.methods == {**MANIFEST_OF.methods, **new.methods}
    assert (manifest.count, manifest.created, manifest.model) == (new.count, "then", "m")
    assert manifest_differences(manifest, MANIFEST_OF.model_copy(update={"limit": new.limit, "count": new.count})) == []


def test_a_run_that_goes_on_elsewhere_says_so():
    manifest = joined_manifest(
        MANIFEST_OF, MANIFEST_OF.model_copy(update={"base_url": "http://two/v1", "created": "now"})
    )
    assert manifest.notes == ("gone on with base_url http://two/v1 on now",)


@pytest.mark.slow
def test_equal_graphs_have_equal_hashes_wherever_they_lie(build):
    nodes, edges = [Node("a", name="A"), Node("b", name="B")], [Edge("a", "r", "b")]
    assert graph_hash(build(nodes, edges)) == graph_hash(build(nodes, edges))
    others = [build(nodes, [Edge("b", "r", "a")]), build(nodes, []), build([nodes[0], Node("b", name="C")], edges)]
    assert len({graph_hash(graph) for graph in [build(nodes, edges), *others]}) == 4


def test_prompts_are_those_of_the_methods():
    hashes = run_prompt_hashes(["ark"], answers=True)
    assert {"ark.md", "ark-faithful.md", "answer.md"} <= hashes.keys()
    assert all(name.startswith(("ark.", "ark-", "answer.", "answer-", "listwise.")) for name in hashes)
    assert all(len(sha256) == 64 for sha256 in hashes.values())
    assert run_prompt_hashes(["bm25"], answers=False) == {}
    assert run_prompt_hashes(["light"], answers=False).keys() == {"analysis.md", "community.md"}
    assert "hippo-facts.md" in run_prompt_hashes(["hippo"], answers=False)


# ------------------------------------------------------------------------------------------------------ selection


def examples(*fields):
    return [
        Example(question=Question(id=str(at), text="?"), gold=Gold(answer_type="set" if at else None), fields=field)
        for at, field in enumerate(fields)
    ]


FIELDS = examples(
    {"level": "Easy", "hops": 1}, {"level": "hard", "hops": 3, "tags": ["a", "b"]}, {"year": "2001-05-04"}
)


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        (["level=easy"], "0"),
        (["level!=easy"], "1"),
        (["hops>=1", "hops<3"], "0"),
        (["hops=3.0"], "1"),
        (["tags=b"], "1"),
        (["tags!=c"], "1"),
        (["year>2001"], "2"),
        (["answer_type=set"], "12"),
        ([], "012"),
    ],
)
def test_conditions_on_fields(where, ids):
    assert "".join(example.question.id for example in select_questions(FIELDS, where=where)) == ids


def test_a_limit_draws_a_sample_that_a_larger_one_keeps():
    many = examples(*({} for _ in range(200)))
    drawn = [[example.question.id for example in select_questions(many, limit=n, random_seed=3)] for n in (10, 50, 500)]
    assert list(map(len, drawn)) == [10, 50, 200]
    assert set(drawn[0]) < set(drawn[1]) < set(drawn[2])
    assert all(ids == sorted(ids, key=int) for ids in drawn)
    assert drawn[0] != [example.question.id for example in select_questions(many, limit=10, random_seed=4)]
    assert max(map(int, drawn[0])) > 100, "the first ones are no sample"


@pytest.mark.parametrize(
    ("examples", "options", "message"),
    [
        (FIELDS, {"where": ["levle=easy"]}, "Near: level"),
        (FIELDS, {"where": ["level"]}, "not a condition"),
        (FIELDS, {"where": ["level=none"]}, "no question meets"),
        (FIELDS, {"limit": 0}, "1 or more"),
        ([], {}, "no question to ask"),
        ([*FIELDS, FIELDS[0]], {}, "two questions have the id '0'"),
        ([Example(question=Question(text="who?"))], {}, "no id"),
    ],
)
def test_a_selection_of_nothing_is_told(examples, options, message):
    with pytest.raises(Exception, match=message) as raised:
        select_questions(examples, **options)
    assert type(raised.value).__name__ in ("BadOption", "BadInput")


def test_lines_are_json_that_anyone_reads(path):
    RunJournal(path).add(line(0), [])
    (found,) = map(json.loads, (path / RUN_RESULTS).read_text().splitlines())
    assert {"id", "method", "question", "hits", "answer", "gold", "usage", "seconds", "error"} <= found.keys()


def test_a_manifest_knows_the_prompts_of_its_methods_and_those_they_share():
    assert run_prompt_hashes(["bm25", "anchor"], answers=False) == {}
    shared = {"answer.md", "answer-evidence.md", "listwise.md"}
    assert set(run_prompt_hashes(["4stepfocus"], answers=True)) == {"4stepfocus.md", *shared}


@pytest.mark.parametrize(
    "name",
    [RUN_MANIFEST, RUN_QUESTIONS, RUN_RESULTS, RUN_TRAJECTORIES, "judged.jsonl", RUN_REPLIES, f"{RUN_REPLIES}/a.jsonl"],
)
def test_nothing_is_written_through_a_link_in_a_run(tmp_path, name):
    (tmp_path / "mine").write_text("without an end of line")
    run = tmp_path / "run"
    (run / name).parent.mkdir(parents=True)
    (run / name).symlink_to(tmp_path / "mine")
    with pytest.raises(BadInput, match="is a link"), held_run(run):
        mend(run / name)
    assert (tmp_path / "mine").read_text() == "without an end of line"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes among files")
@pytest.mark.parametrize("name", ["manifest.json", "questions.jsonl", "results.jsonl", "replies/a.jsonl"])
def test_nobody_waits_for_a_pipe_in_a_run(tmp_path, name):
    (tmp_path / "replies").mkdir()
    os.mkfifo(tmp_path / name)
    with pytest.raises(BadInput, match="not an ordinary file"), held_run(tmp_path):
        pass
    if name == "manifest.json":
        with pytest.raises(BadInput, match="not an ordinary file"):
            read_manifest(tmp_path)
    else:
        with pytest.raises(BadInput, match="not an ordinary file"):
            list(read_lines(tmp_path / name))
