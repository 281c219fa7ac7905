"""The measure that verdict, table and page lead with: what the questions' gold asks for, or what a person chose."""

import json

import pytest

from orienteer.errors import BadOption
from orienteer.lab.evaluation import (
    Example,
    Gold,
    ReportMaterial,
    RunLine,
    RunManifest,
    StoredRun,
    compare_methods,
    lead_of,
    question_texts,
    score_runs,
    write_report,
)
from orienteer.records import Question, Ranked

FOUND = {
    "all": ["g0", "g1", "g2"],
    "one": ["g0", "x", "y"],
    "none": ["x", "y", "z"],
}


def example(number, size, **gold):
    nodes = {f"g{place}": 1.0 for place in range(size)}
    return Example(question=Question(id=f"q{number}", text="?"), gold=Gold(nodes=nodes, **gold))


def examples(*sizes):
    return [example(number, size) for number, size in enumerate(sizes)]


def make_run(path, questions, **rankings):
    """Make a run of methods on these questions; a ranking is ids, or ids question by question."""
    lines = []
    for method, ranking in rankings.items():
        for number, question in enumerate(questions):
            ids = ranking(number) if callable(ranking) else ranking
            hits = tuple(Ranked(id=node_id, type="t", name=node_id, score=1.0) for node_id in ids)
            lines.append(RunLine(id=question.question.id, method=method, question="?", hits=hits, gold=question.gold))
    facts = {
        "graph": "g", "graph_sha256": "g", "nodes": 1, "edges": 0, "dataset": "jsonl", "questions_sha256": "q",
        "count": len(questions), "orienteer": "0", "python": "3", "created": "now",
    }  # fmt: skip
    return StoredRun(path, RunManifest(**facts), tuple(questions), tuple(lines))


# ------------------------------------------------------------------------------------------------ the choice


@pytest.mark.parametrize(
    ("sizes", "measure", "beside", "why"),
    [
        ([1] * 30, "Hit@1", (), "By Hit@1, for all 30 questions have one gold node."),
        ([1], "Hit@1", (), "By Hit@1, for the one question has one gold node."),
        ([3], "Recall@5", ("AllGold@5",), "By Recall@5, for the one question has several gold nodes."),
        ([1] * 20 + [4] * 10, "Hit@1", (), "By Hit@1, for 20 of the 30 questions have one gold node."),
        ([2, 3, 4, 2], "Recall@5", ("AllGold@5",), "By Recall@5, for all 4 questions have several gold nodes."),
        ([1, 1, 2, 2], "Recall@5", ("AllGold@5",), "By Recall@5, for 2 of the 4 questions have several gold nodes."),
        ([5] * 9 + [90], "Recall@5", ("AllGold@5",), "By Recall@5, for all 10 questions have several gold nodes."),
        (
            [1, 6, 12, 20],
            "Recall@20",
            ("AllGold@20",),
            "By Recall@20, for 3 of the 4 questions have several gold nodes and half have 12 or more: 5 places "
            "cannot hold them.",
        ),
        (
            [1, 21, 3000, 4000],
            "nDCG@10",
            (),
            "By nDCG@10, for 3 of the 4 questions have several gold nodes and half have 3,000 or more: no list of "
            "20 can hold them.",
        ),
    ],
)
def test_the_size_of_gold_settles_the_measure(sizes, measure, beside, why):
    lead = lead_of(examples(*sizes))
    assert (lead.measure, lead.beside, lead.why) == (measure, beside, why)


def test_questions_without_gold_nodes_have_no_say():
    lead = lead_of([*examples(2, 3), *(example(number, 0, answers=("yes",)) for number in range(10, 90))])
    assert (lead.measure, lead.why) == ("Recall@5", "By Recall@5, for all 2 questions with gold nodes have several.")


def test_nodes_judged_irrelevant_are_no_gold():
    judged = Example(question=Question(id="1", text="?"), gold=Gold(nodes={"a": 1.0, "b": 0.0, "c": 0.0}))
    assert lead_of([judged]).measure == "Hit@1"


def test_without_gold_nodes_answers_are_measured():
    only_answers = [example(number, 0, answers=("yes",)) for number in range(3)]
    lead = lead_of(only_answers, has_answers=True)
    assert (lead.measure, lead.why) == ("EM", "By EM, for no question has gold nodes.")
    assert lead_of(only_answers).measure == "Hit@1"  # no answer was asked for
    assert lead_of([]).measure == "Hit@1"


def test_a_choice_is_said_beside_what_it_replaces():
    lead = lead_of(examples(2, 2), chosen="MRR")
    assert (lead.measure, lead.beside) == ("MRR", ())
    assert lead.why == ("By MRR, as chosen; without a choice by Recall@5, for all 2 questions have several gold nodes.")
    same = lead_of(examples(2, 2), chosen="Recall@5")
    assert (same.measure, same.beside) == ("Recall@5", ("AllGold@5",))
    assert same.why == "By Recall@5, for all 2 questions have several gold nodes."


# ------------------------------------------------------------------------------------------------ verdict and table


@pytest.fixture
def multihop(tmp_path):
    """Give a run like one on MuSiQue: both methods find a first passage as often, one finds the others too."""
    return make_run(tmp_path / "run", examples(*[3] * 60), bm25=FOUND["one"], hippo=FOUND["all"])


def test_the_verdict_tells_by_recall_where_hit_cannot(multihop):
    assert compare_methods([multihop], measure="Hit@1").outcome == "cannot tell"
    comparison = compare_methods([multihop])
    assert (comparison.measure, comparison.outcome) == ("Recall@5", "helped")
    assert comparison.why == "By Recall@5, for all 60 questions have several gold nodes."
    assert comparison.gain.points == pytest.approx(100 * 2 / 3)
    assert "66.7 points more Recall@5 than bm25" in comparison.verdict
    assert comparison.verdict.endswith(" hippo finds all gold for 60 of the 60 questions, bm25 for 0 (AllGold@5).")
    beside = {standing.method: standing.beside["AllGold@5"].mean for standing in comparison.standings}
    assert beside == {"hippo": 1.0, "bm25": 0.0}
    record = json.loads(comparison.model_dump_json())
    assert (record["measure"], record["why"]) == (comparison.measure, comparison.why)


def test_single_gold_stays_by_hit(tmp_path):
    run = make_run(tmp_path, examples(*[1] * 20), bm25=FOUND["none"], anchor=FOUND["one"])
    comparison = compare_methods([run])
    assert (comparison.measure, comparison.why) == ("Hit@1", "By Hit@1, for all 20 questions have one gold node.")
    assert all(standing.beside == {} for standing in comparison.standings)
    (row, _) = score_runs([run])
    assert list(row.measures) == ["Hit@1", "Hit@5", "Recall@20", "MRR"]


def test_huge_gold_goes_by_a_measure_that_can_reach_one(tmp_path):
    twenty = [f"g{place}" for place in range(20)]
    run = make_run(tmp_path, examples(*[2000] * 20), bm25=FOUND["one"], anchor=twenty)
    comparison = compare_methods([run])
    assert (comparison.measure, comparison.outcome) == ("nDCG@10", "helped")
    assert comparison.standings[0].mean == 1.0
    assert next(iter(score_runs([run])[0].measures)) == "nDCG@10"


def test_the_lead_and_what_stands_beside_it_come_first_in_a_table(multihop):
    for row in score_runs([multihop]):
        assert list(row.measures) == ["Recall@5", "AllGold@5", "Hit@1", "Hit@5", "Recall@20", "MRR"]
        assert (row.measure, row.why) == ("Recall@5", "By Recall@5, for all 60 questions have several gold nodes.")


def test_a_chosen_measure_comes_first_in_a_table(multihop):
    (row, _) = score_runs([multihop], by_measure="nDCG@3")
    assert list(row.measures)[:2] == ["nDCG@3", "Recall@5"]
    assert row.measure == "nDCG@3"
    assert row.why.startswith("By nDCG@3, as chosen; ")


def test_measures_that_are_named_are_shown_alone(multihop):
    (row, _) = score_runs([multihop], measures=["MRR", "Hit@1"])
    assert (list(row.measures), row.measure) == (["MRR", "Hit@1"], "MRR")
    (row, _) = score_runs([multihop], measures=["MRR"], by_measure="Hit@5")
    assert (list(row.measures), row.measure) == (["Hit@5", "MRR"], "Hit@5")


@pytest.mark.parametrize(
    ("name", "near"), [("recall@5", "Recall@5"), ("Hits@3", "Hit@3"), ("AllGolds@7", "AllGold@7"), ("mrr", "MRR")]
)
def test_a_wrong_name_gets_the_near_one_with_its_own_k_and_all_measures(multihop, name, near):
    for use in (lambda: compare_methods([multihop], measure=name), lambda: score_runs([multihop], by_measure=name)):
        with pytest.raises(BadOption, match=f"There is no measure '{name}'. Near: {near}") as error:
            use()
        assert "AllGold@5" in str(error.value)
        assert "SubEM" in str(error.value)


# ------------------------------------------------------------------------------------------------ the page


@pytest.mark.slow
def test_the_page_and_its_charts_name_the_measure_and_why(multihop, tmp_path):
    file = tmp_path / "report.html"
    write_report([multihop], file)
    page = file.read_text(encoding="utf-8")
    why = "By Recall@5, for all 60 questions have several gold nodes."
    assert page.index(compare_methods([multihop]).verdict) < page.index(why) < page.index("Methods side by side")
    assert page.count(why) == 2  # under the verdict and under the charts
    shown = [part.split('"')[0] for part in page.split('data-show="')[1:]]
    assert shown == ["Recall@5", "AllGold@5", "Hit@1", "Hit@5", "Recall@20", "MRR"]
    chart = page[page.index('id="trade"') : page.index('data-measure="AllGold@5"')]
    assert "Recall@5" in chart


def test_the_page_follows_a_choice(multihop, tmp_path):
    file = tmp_path / "report.html"
    write_report([multihop], file, measure="MRR")
    page = file.read_text(encoding="utf-8")
    assert "By MRR, as chosen; without a choice by Recall@5" in page
    assert page.split('data-show="')[1].startswith("MRR")


def test_the_questions_of_the_page_tell_where_all_gold_was_found(tmp_path):
    rankings = {0: ["g1", "x", "g0", "g0"], 1: ["x", "g0"], 2: ["g0"]}
    run = make_run(tmp_path / "run", examples(2, 2, 1), bm25=rankings.get)
    texts = json.loads("".join(question_texts(ReportMaterial([run], graph=None, measure=None, random_seed=0))))
    results = [question["results"][0] for question in texts["questions"]]
    assert [(result["rank"], result.get("last")) for result in results] == [(1, 3), (2, 0), (1, None)]
