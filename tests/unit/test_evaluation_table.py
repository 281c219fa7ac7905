"""The rows of `eval show`: what counts as what, what is left out and counted apart, splits, and published rows."""

import json
import math
import re

import pytest

from orienteer.errors import BadOption
from orienteer.files import append_line
from orienteer.lab.evaluation import (
    JUDGED_FILE,
    RUN_TRAJECTORIES,
    STARK_GRAPHS,
    Example,
    Gold,
    Judgement,
    QuestionTrajectories,
    ReportMaterial,
    RunLine,
    RunManifest,
    StoredRun,
    TrajectoryCounts,
    WorkCounts,
    judge_run,
    mean_interval,
    published_rows,
    published_tables,
    score_runs,
    value_order,
)
from orienteer.llm import ScriptedModel
from orienteer.records import Message, Observed, Question, Ranked, Refusal, Reply, Step, Trajectory, Usage

INTERFACE = {"method", "n", "failed", "measures", "milliseconds", "usage"}  # what interface.md promises


def hits(*ids):
    """Make hits; an id that begins with b is of a brand, any other of a product."""
    return tuple(
        Ranked(id=node_id, type="brand" if node_id[0] == "b" else "product", name=f"Name {node_id}", score=1.0)
        for node_id in ids
    )


def line(number, ids=(), *, nodes=("a",), method="bm25", answers=(), kind=None, **other):
    gold = Gold(nodes=dict.fromkeys(nodes, 1.0), answers=answers, answer_type=kind)
    return RunLine(id=f"q{number}", method=method, question="?", hits=hits(*ids), gold=gold, **other)


def make_run(tmp_path, *lines, **manifest):
    facts = {
        "graph": "g", "graph_sha256": "g", "nodes": 1, "edges": 0, "dataset": "jsonl", "questions_sha256": "q",
        "count": len(lines), "orienteer": "0", "python": "3", "created": "now", **manifest,
    }  # fmt: skip
    examples = {
        line.id: Example(question=Question(id=line.id, text="?"), gold=line.gold, fields=line.fields) for line in lines
    }
    return StoredRun(tmp_path, RunManifest(**facts), tuple(examples.values()), lines)


def mean_of(row, name):
    return row.measures[name].mean


def test_a_row_has_what_the_interface_promises_and_is_json(tmp_path):
    (row,) = score_runs([make_run(tmp_path, line(1, ["a"]), line(2, ["x", "a"]))])
    record = json.loads(row.model_dump_json())
    assert set(record) >= INTERFACE
    assert list(record["measures"]) == ["Hit@1", "Hit@5", "Recall@20", "MRR"]
    assert set(record["measures"]["Hit@1"]) >= {"mean", "low", "high"}
    assert set(record["milliseconds"]) == {"p50", "p95"}
    assert record["run"] == tmp_path.name
    assert (mean_of(row, "Hit@1"), mean_of(row, "MRR"), row.n) == (0.5, 0.75, 2)


def test_intervals_are_the_bootstrap_of_the_questions(tmp_path):
    lines = [line(number, ["a"] if number % 3 else ["x"]) for number in range(60)]
    (row,) = score_runs([make_run(tmp_path, *lines)], random_seed=4)
    estimate = row.measures["Hit@1"]
    assert (estimate.mean, estimate.low, estimate.high) == mean_interval(
        [float(n % 3 > 0) for n in range(60)], random_seed=4
    )
    assert estimate.n == 60


def test_a_failed_question_counts_as_zero_everywhere(tmp_path):
    lines = [
        line(1, ["a"], answers=("yes",), answer="yes"),
        line(2, ["a"], answers=("yes",), answer="yes", error="broke"),
    ]
    (row,) = score_runs([make_run(tmp_path, *lines, answers=True)], measures=["Hit@1", "MAP", "EM", "SubEM (lenient)"])
    assert row.failed == 1
    assert {name: measure.mean for name, measure in row.measures.items()} == dict.fromkeys(row.measures, 0.5)
    assert len(row.measures) == 4


def test_questions_without_gold_nodes_are_left_out_of_rankings_and_counted(tmp_path):
    lines = [line(1, ["a"]), line(2, ["a"], nodes=()), line(3, [], nodes=(), error="broke")]
    (row,) = score_runs([make_run(tmp_path, *lines)])
    assert (row.n, row.unranked, row.failed) == (3, 2, 1)
    assert row.measures["Hit@1"] == row.measures["Hit@1"].model_copy(update={"mean": 1.0, "n": 1})


def test_official_and_raw_where_the_data_set_says_what_may_answer(tmp_path):
    run = make_run(tmp_path, line(1, ["b1", "b2", "a"]), candidates=("product",))
    (row,) = score_runs([run])
    assert list(row.measures) == [
        "Hit@1", "Hit@5", "Recall@20", "MRR", "Hit@1 (raw)", "Hit@5 (raw)", "Recall@20 (raw)", "MRR (raw)",
    ]  # fmt: skip
    assert (mean_of(row, "Hit@1"), mean_of(row, "Hit@1 (raw)"), mean_of(row, "MRR (raw)")) == (1.0, 0.0, 1 / 3)
    assert row.outside == 2
    (plain,) = score_runs([make_run(tmp_path, line(1, ["b1", "a"]))])
    assert (plain.outside, mean_of(plain, "Hit@1")) == (0, 0.0)


def test_answers_are_measured_where_they_were_asked_for(tmp_path):
    lines = [
        line(1, ["a"], answers=("Salt",), answer="Salt [a]"),
        line(2, ["a"], answers=("Name z", "Name a"), kind="set", answer="Name a, Name x"),
        line(3, ["a"]),
    ]
    (row,) = score_runs([make_run(tmp_path, *lines, answers=True)])
    assert list(row.measures) == ["Hit@1", "Hit@5", "Recall@20", "MRR", "EM", "F1", "SubEM", "SubEM (lenient)", "SetF1"]
    assert (mean_of(row, "EM"), row.measures["EM"].n) == (0.5, 2)  # the citation is no part of the answer
    assert (mean_of(row, "SetF1"), row.measures["SetF1"].n) == (0.5, 1)
    (unasked,) = score_runs([make_run(tmp_path, *lines)])
    assert "EM" not in unasked.measures


def test_a_refusal_scores_as_a_wrong_answer_also_where_a_method_refused_every_question(tmp_path):
    refused = Refusal(kind="not_here", text="not in the evidence: ark gave 1 hit; the model says: no Salt here")
    lines = [line(number, ["a"], answers=(gold,), refusal=refused) for number, gold in enumerate(("Salt", "no", "the"))]
    measures = ["EM", "F1", "SubEM", "SubEM (lenient)"]
    (row,) = score_runs([make_run(tmp_path, *lines, answers=True)], measures=measures)
    assert [(row.measures[name].mean, row.measures[name].n) for name in measures] == [(0.0, 3)] * 4


def test_a_method_that_only_ranks_has_no_measure_of_answers(tmp_path):
    lines = [line(1, ["a"], answers=("Salt",)), line(1, ["a"], answers=("Salt",), method="ark", answer="Salt")]
    ranks, says = score_runs([make_run(tmp_path, *lines, answers=True)])
    assert (ranks.method, "EM" in ranks.measures) == ("bm25", False)
    assert (says.method, mean_of(says, "EM")) == ("ark", 1.0)


def test_one_row_for_each_method_in_order_and_what_a_run_has_not_got_to(tmp_path):
    run = make_run(tmp_path, line(1), line(1, method="anchor"), line(2), line(3))
    assert [(row.method, row.n, row.missing) for row in score_runs([run])] == [("bm25", 3, 0), ("anchor", 1, 2)]


def test_a_question_that_was_asked_again_counts_once_by_its_last_line(tmp_path):
    (row,) = score_runs([make_run(tmp_path, line(1, error="broke"), line(1, ["a"]))])
    assert (row.n, row.failed, mean_of(row, "Hit@1")) == (1, 0, 1.0)


def test_time_usage_and_work(tmp_path):
    lines = [
        line(
            number,
            ["a"],
            seconds=number / 1000,
            usage=Usage(calls=2, prompt_tokens=10, completion_tokens=3, usd=0.5),
            work=WorkCounts(
                iterations=number, retrievals=3, set_joins=1, context_tokens=7, tool_calls=4, failed_calls=1
            ),
        )
        for number in range(101)
    ]
    (row,) = score_runs([make_run(tmp_path, *lines)])
    assert row.milliseconds == pytest.approx({"p50": 50, "p95": 95})
    assert (row.usage.calls, row.usage.prompt_tokens, row.usage.usd) == (202, 1010, 50.5)
    shared = {"tokens": 13, "output_tokens": 3, "context_tokens": 7, "tool_calls": 4}
    assert row.work == {"calls": 2, "iterations": 50, "retrievals": 3, "set_joins": 1, **shared}
    assert row.tool_failures == 0.25


def test_the_share_of_failed_tool_calls_is_of_all_calls_and_not_a_mean_of_questions(tmp_path):
    lines = [
        line(1, work=WorkCounts(tool_calls=9, failed_calls=1)),
        line(2, work=WorkCounts(tool_calls=1, failed_calls=1)),
        line(3, work=WorkCounts(tools={"search_in_graph": 1})),  # by a program
    ]
    (row,) = score_runs([make_run(tmp_path, *lines)])
    assert row.tool_failures == 0.2
    (none,) = score_runs([make_run(tmp_path, line(1))])
    assert none.tool_failures is None


def test_an_unknown_price_stays_unknown(tmp_path):
    (row,) = score_runs([make_run(tmp_path, line(1, usage=Usage(usd=1.0)), line(2, usage=Usage(usd=None)))])
    assert row.usage.usd is None


def test_runs_of_one_name_go_by_their_paths(tmp_path):
    runs = [make_run(tmp_path / folder / "run", line(1)) for folder in ("a", "b")]
    assert [row.run for row in score_runs(runs)] == [str(run.path) for run in runs]
    assert [row.run for row in score_runs(runs[:1])] == ["run"]


def test_runs_together_are_scored_as_the_one_run_of_all_their_lines(tmp_path):
    halves = [
        [line(1, ["a", "b1"], seconds=1.0, fields={"area": "academic"}), line(2, ["b1", "a"], method="dense")],
        [line(3, ["b1", "x"], seconds=3.0), line(4, [], error="broke", fields={"area": "academic"})],
    ]
    runs = [
        make_run(tmp_path / name, *half, candidates=candidates)
        for name, half, candidates in zip(("one", "two"), halves, (("product",), None), strict=True)
    ]
    first, second = score_runs(runs, is_together=True)
    assert (first.run, first.method, first.n, first.failed, first.missing) == ("2 runs", "bm25", 3, 1, 1)
    assert (second.method, second.n, second.missing) == ("dense", 1, 3)
    whole = make_run(tmp_path / "whole", *halves[0], *halves[1])
    measures = ["Hit@1 (raw)", "MRR (raw)"]  # in the whole run everything may answer
    assert [row.measures for row in score_runs(runs, measures=measures, is_together=True)] == [
        row.measures for row in score_runs([whole], measures=measures)
    ]
    assert first.outside == 1  # by what may answer in its own run
    by = {row.by["area"]: row.n for row in score_runs(runs, by=["area"], is_together=True) if row.method == "bm25"}
    assert by == {"academic": 2, "-": 1}


def test_values_are_ordered_whatever_they_say():
    values = ["-", "x", "nan", "10", "2", "inf", "NaN"]
    assert sorted(values, key=value_order) == ["2", "10", "inf", "NaN", "nan", "x", "-"]


def test_split_by_a_field(tmp_path):
    lines = [
        line(1, ["a"], fields={"hops": 2, "tags": ["x", "y", "x"]}),
        line(2, ["x"], fields={"hops": 10}),
        line(3, ["a"], fields={"hops": None, "tags": []}),
        line(1, ["x"], method="anchor", fields={"hops": 2, "tags": ["x", "y"]}),
    ]
    run = make_run(tmp_path, *lines)
    cells = [(row.by["hops"], row.method, row.n, mean_of(row, "Hit@1")) for row in score_runs([run], by=["hops"])]
    assert cells == [("2", "bm25", 1, 1.0), ("2", "anchor", 1, 0.0), ("10", "bm25", 1, 0.0), ("-", "bm25", 1, 1.0)]
    assert [(row.by["tags"], row.n) for row in score_runs([run], by=["tags"]) if row.method == "bm25"] == [
        ("x", 1),
        ("y", 1),
        ("-", 2),
    ]


def test_split_by_two_fields(tmp_path):
    kinds = [("law", "hard"), ("law", "easy"), ("bio", "easy"), ("bio", "easy")]
    lines = [
        line(number, ["a"] if number else [], fields={"domain": domain, "level": level})
        for number, (domain, level) in enumerate(kinds)
    ]
    table = score_runs([make_run(tmp_path, *lines)], by=["domain", "level"])
    assert [(row.by, row.n, mean_of(row, "Hit@1")) for row in table] == [
        ({"domain": "bio", "level": "easy"}, 2, 1.0),
        ({"domain": "law", "level": "easy"}, 1, 1.0),
        ({"domain": "law", "level": "hard"}, 1, 0.0),
    ]
    with pytest.raises(BadOption, match="Near: level"):
        score_runs([make_run(tmp_path, *lines)], by=["domain", "levels"])


def test_split_by_the_type_that_gold_says(tmp_path):
    run = make_run(tmp_path, line(1, kind="set"), line(2))
    assert [row.by["answer_type"] for row in score_runs([run], by=["answer_type"])] == ["set", "-"]


def test_unknown_fields_and_measures_are_errors(tmp_path):
    run = make_run(tmp_path, line(1, fields={"hops": 1}))
    with pytest.raises(BadOption, match="Near: hops"):
        score_runs([run], by=["hop"])
    with pytest.raises(BadOption, match=r"no measure 'Recal@20'.*SubEM.*A-Score"):
        score_runs([run], measures=["Recal@20"])
    with pytest.raises(BadOption, match="eval judge with --score A-Score"):
        score_runs([run], measures=["coherence"])


def test_judged_measures_with_their_criteria_and_what_has_no_verdict(tmp_path):
    lines = [line(number, answers=("x",), answer=f"answer {number}") for number in range(4)]
    lines += [line(4, answers=("x",), answer="answer 4", error="broke"), line(5, answers=("x",))]
    run = make_run(tmp_path, *lines, answers=True)

    def policy(messages, *_):
        if "answer 3" in messages[1].content:
            return "no idea"
        mark = int(messages[1].content[-1]) * 2
        return json.dumps(
            {
                name: {"reason": "", "mark": mark + place}
                for place, name in enumerate(("correctness", "coherence", "comprehensiveness"))
            }
        )

    judge_run(run, ScriptedModel(policy, "judge"))
    (row,) = score_runs([run])
    assert row.unjudged == 1  # and no 5 for it
    assert row.measures["correctness"].n == 5  # three verdicts, one failed question, one without an answer
    assert mean_of(row, "correctness") == pytest.approx((0 + 2 + 4 + 0 + 0) / 5)
    assert mean_of(row, "A-Score") == pytest.approx((1 + 3 + 5 + 0 + 0) / 5)
    assert mean_of(row, "comprehensiveness") == pytest.approx((2 + 4 + 6 + 0 + 0) / 5)


def test_verdicts_of_two_judges_are_not_mixed(tmp_path):
    run = make_run(tmp_path, *(line(number, answers=("x",), answer="x") for number in range(2)), answers=True)
    judge_run(run, ScriptedModel(lambda *_: '{"verdict": "no"}', "one"), scores=["QwenScore"])
    last = ScriptedModel(lambda *_: '{"verdict": "yes"}', "two")
    judge_run(StoredRun(run.path, run.manifest, run.examples, run.lines[:1]), last, scores=["QwenScore"])
    (row,) = score_runs([run], measures=["QwenScore"])
    assert (mean_of(row, "QwenScore"), row.measures["QwenScore"].n, row.unjudged) == (1.0, 1, 1)


def test_a_verdict_on_an_answer_that_has_changed_does_not_count(tmp_path):
    run = make_run(tmp_path, line(1, answers=("x",), answer="x"), answers=True)
    hashes = {"prompt_sha256": "p", "request_sha256": "r", "answer_sha256": "of another answer"}
    verdict = Judgement(id="q1", method="bm25", score="QwenScore", criteria={"verdict": 1}, model="m", **hashes)
    append_line(tmp_path / JUDGED_FILE, verdict.model_dump_json())
    with pytest.raises(BadOption, match="no verdicts"):
        score_runs([run], measures=["QwenScore"])


def seeing(*steps):
    """Make a trajectory of the nodes that each step showed."""
    return Trajectory(
        question=Question(text="?"),
        method="ark",
        steps=tuple(
            Step(
                reply=Reply(message=Message(role="assistant")),
                observations=(Observed(call_id="c", text="", nodes=tuple(nodes)),),
            )
            for nodes in steps
        ),
    )


def test_evidence_curves(tmp_path):
    trajectories = {
        1: [seeing(["x"], ["a"], ["b"])],
        2: [seeing(["a", "b"])],  # ends early: keeps its share
        3: [seeing(["a"])],  # failed
        4: [],  # took no step
    }
    lines = [
        line(number, nodes=("a", "b"), method="ark", error="broke" if number == 3 else None) for number in trajectories
    ]
    lines += [line(5, nodes=(), method="ark"), line(1)]
    for number, agents in trajectories.items():
        record = QuestionTrajectories(id=f"q{number}", method="ark", trajectories=tuple(agents))
        append_line(tmp_path / RUN_TRAJECTORIES, record.model_dump_json())
    run = make_run(tmp_path, *lines)
    material, counts = ReportMaterial([run], graph=None, measure=None, random_seed=0), TrajectoryCounts()
    counts.read(run, material.columns)
    curves = {column.method: counts.curve(column) for column in material.columns}
    assert curves == {"ark": [1 / 4, (0.5 + 1) / 4, 2 / 4], "bm25": []}


def test_published_rows_stand_beside_the_right_data_set(tmp_path):
    def of(**named):
        rows = published_rows(make_run(tmp_path, **named).manifest)
        return {(row.method, row.published.partition(" (")[0]): row for row in rows}

    prime = of(dataset="stark", graph="stark-prime")
    assert {"qa-gnn", "avatar", "mfar", "mor", "graphflow", "grasp", "kar", "spark", "bm25", "dpr"} <= {
        method for method, _ in prime
    }
    assert prime["mor", "SAGE"].measures["Hit@1"].mean == 0.364
    assert prime["mor", "SAGE"].measures["Hit@1"].low is None
    assert prime["mor", "ARK"].measures["Hit@1"].mean == 0.3641
    assert "Hit@5" not in prime["mfar", "ARK"].measures
    assert prime["ark (GPT-4.1)", "ARK"].measures["Hit@5"].mean == 0.6957  # of table 5, beside table 1's
    mag = of(dataset="stark", graph="g", candidates=("paper",))
    assert mag["grasp", "GRASP, arXiv 2605.30237"].measures["Hit@1"].mean == 0.828
    human = of(dataset="stark", graph="stark-amazon", split="human")
    assert human["spark", "SAGE"].measures["Recall@20"].mean == 0.3356
    assert {row.split for row in human.values()} == {"human"}
    assert of(dataset="jsonl", graph="prime") == of(dataset="stark", graph="g") == {}
    healthcare = of(dataset="grbench", graph="hetionet", where=("domain=biomedical", "edges_complete=true"))
    small = healthcare["graphscout (4B, trained)", "GraphScout"]
    assert {name: measure.mean for name, measure in small.measures.items()} == {"QwenScore": 0.819, "F1": 0.855}
    assert of(dataset="grbench", graph="g") == of(dataset="grbench", graph="g", where=("domain=dblp",)) == {}
    assert of(dataset="grbench", graph="g", where=("domain=legal", "domain=amazon")) == {}
    assert of(dataset="hotpotqa", graph="kb")["graphsearch:path", "GraphSearch"].measures["SubEM"].mean == 0.82
    assert of(dataset="hypergraphrag", graph="legal")["hyper", "GraphSearch"].measures["A-Score"].mean == 8.18


def test_the_six_academic_graphs_together_have_the_academic_column(tmp_path):
    graphs = ("dblp", "Biology", "Chemistry", "Materials_Science", "Medicine", "Physics")
    manifests = [
        make_run(tmp_path, dataset="grbench", graph="g", where=(f"domain={name}",)).manifest for name in graphs
    ]
    rows = {row.method: row for row in published_rows(*manifests)}
    assert rows["graphscout (4B, trained)"].measures["F1"].mean == 0.739
    assert rows["graph-counselor (DeepSeek-Chat)"].measures["QwenScore"].mean == 0.657
    assert not published_rows(*manifests[:5])


def test_every_published_table_says_where_it_is_and_how_it_was_read():
    tables = published_tables()
    assert len({table.id for table in tables}) == len(tables)
    for table in tables:
        assert re.search(r"paper 00[1-4]\), (table|section)|arXiv \d{4}\.\d{5}|its repository", table.source), (
            table.source
        )
        assert table.read in set("SAE")
        assert all(len(row) == 1 + len(table.columns) for row in table.rows)
        assert len({label for label, *_ in table.rows}) == len(table.rows)
        assert any(table.figures.values())


def test_every_published_figure_is_a_share_of_the_test_split():
    for name in STARK_GRAPHS:
        for row in published_rows(make_run(None, dataset="stark", graph=name).manifest):
            assert row.split == "test"
            assert row.published
            assert row.measures
            assert all(
                0 < estimate.mean < 1 and math.isclose(estimate.mean * 1e4, round(estimate.mean * 1e4))
                for estimate in row.measures.values()
            )
