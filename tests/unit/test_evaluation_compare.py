"""The verdict in one sentence, in each of its cases, and the differences that it rests on."""

import numpy as np
import pytest

from orienteer.errors import BadInput, BadOption
from orienteer.lab.evaluation import (
    FEWEST_QUESTIONS,
    FLAT_METHODS,
    Comparison,
    Example,
    Gold,
    RunLine,
    RunManifest,
    StoredRun,
    compare_methods,
    holm_corrected,
    kind_of_method,
    mean_interval,
    paired_differences,
    permutation_ps,
)
from orienteer.records import Question, Ranked, Usage

pytestmark = pytest.mark.slow

GOLD = Gold(nodes={"a": 1.0})
HIT, MISS = (Ranked(id="a", type="t", name="a", score=1.0),), (Ranked(id="x", type="t", name="x", score=1.0),)


def lines(method, scores, *, gold=GOLD, fields=None, **other):
    """Make a method's lines: whether it hit at 1, question by question; None is a failure."""
    return [
        RunLine(
            id=f"q{number}",
            method=method,
            question="?",
            hits=HIT if score else MISS,
            gold=gold,
            fields=fields(number) if fields else {},
            error="broke" if score is None else None,
            **other,
        )
        for number, score in enumerate(scores)
    ]


def make_run(path, *groups, **manifest):
    every = [line for group in groups for line in group]
    examples = {line.id: Example(question=Question(id=line.id, text="?"), gold=line.gold) for line in every}
    fields_ = {
        "graph": "g", "graph_sha256": "g", "nodes": 1, "edges": 0, "dataset": "jsonl", "questions_sha256": "q",
        "count": len(examples), "orienteer": "0", "python": "3", "created": "now", **manifest,
    }  # fmt: skip
    return StoredRun(path, RunManifest(**fields_), tuple(examples.values()), tuple(every))


def some(share, n):
    """Hit a share of n questions, the first ones."""
    return [number < round(share * n) for number in range(n)]


def test_the_graph_helped(tmp_path):
    flat = lines("bm25", some(0.40, 200), seconds=0.004)
    graph = lines("anchor", some(0.55, 200), seconds=0.035, usage=Usage(calls=2, usd=0.01))
    comparison = compare_methods([make_run(tmp_path, flat, graph, lines("hybrid", some(0.3, 200)))])
    assert (comparison.outcome, comparison.best_graph, comparison.best_flat, comparison.measure, comparison.n) == (
        "helped",
        "anchor",
        "bm25",
        "Hit@1",
        200,
    )
    gain = mean_interval([100.0 * gain for gain in paired_differences(some(0.55, 200), some(0.4, 200))])
    assert (comparison.gain.points, comparison.gain.low, comparison.gain.high) == pytest.approx(gain)
    assert comparison.gain.points == pytest.approx(15)
    assert (comparison.gain.better, comparison.gain.worse) == (30, 0)
    assert comparison.verdict == (
        "Use the graph: on these 200 questions anchor scores 15.0 points more Hit@1 than bm25, the best flat list "
        f"(95 % interval {gain.low:+.1f} to {gain.high:+.1f}, p = {comparison.gain.p:.2g}), "
        "at +31 ms, +2.0 calls and +0.0100 USD a question."
    )


def test_the_graph_lost(tmp_path):
    comparison = compare_methods([make_run(tmp_path, lines("bm25", some(0.9, 60)), lines("anchor", some(0.5, 60)))])
    assert comparison.outcome == "did not help"
    assert comparison.verdict.startswith(
        "Do without the graph: on these 60 questions anchor scores 40.0 points less Hit@1 than bm25"
    )


def test_the_graph_made_no_difference_on_many_questions(tmp_path):
    many = [number % 2 == 0 for number in range(3000)]
    nearly = [not score if number % 200 == 0 else score for number, score in enumerate(many)]
    swapped = [not score if number % 200 == 1 else score for number, score in enumerate(nearly)]
    comparison = compare_methods([make_run(tmp_path, lines("bm25", many), lines("anchor", swapped))])
    assert comparison.gain.high < 2
    assert (comparison.outcome, comparison.questions_needed) == ("did not help", None)


def test_a_gain_that_is_certain_and_tiny_is_no_reason_for_a_graph(tmp_path):
    flat = [number % 2 == 0 for number in range(3000)]
    graph = [score or number % 150 == 1 for number, score in enumerate(flat)]
    comparison = compare_methods([make_run(tmp_path, lines("bm25", flat), lines("anchor", graph))])
    assert 0 < comparison.gain.low < comparison.gain.high < 2
    assert comparison.outcome == "did not help"


def test_too_few_questions_cannot_tell_and_it_says_how_many_would(tmp_path):
    comparison = compare_methods(
        [make_run(tmp_path, lines("bm25", [1, 0, 1, 0] * 10), lines("anchor", [1, 0, 0, 1] * 9 + [1, 1, 1, 1]))]
    )
    assert comparison.outcome == "cannot tell"
    assert comparison.questions_needed == 1602
    assert comparison.verdict.startswith("Ask about 1,600 questions: ")
    assert "these 40 cannot tell whether the graph helps" in comparison.verdict


def test_a_perfect_score_on_three_questions_proves_nothing(tmp_path):
    """The bootstrap of three equal differences has no width; the permutation test knows better."""
    comparison = compare_methods([make_run(tmp_path, lines("bm25", [0, 0, 0]), lines("anchor", [1, 1, 1]))])
    assert (comparison.gain.low, comparison.gain.high, comparison.gain.p) == (100, 100, 0.25)
    assert comparison.outcome == "cannot tell"
    assert comparison.questions_needed == 6
    assert comparison.verdict.endswith("+0 ms a question and no call of a model.")


def test_being_level_on_a_few_questions_proves_nothing_either(tmp_path):
    comparison = compare_methods([make_run(tmp_path, lines("bm25", [1] * 20), lines("anchor", [1] * 20))])
    assert (comparison.outcome, comparison.questions_needed) == ("cannot tell", FEWEST_QUESTIONS)
    level = compare_methods(
        [make_run(tmp_path, lines("bm25", [1] * FEWEST_QUESTIONS), lines("anchor", [1] * FEWEST_QUESTIONS))]
    )
    assert level.outcome == "did not help"


def test_trying_many_graph_methods_is_paid_for(tmp_path):
    flat, graph = [0] * 7 + [1] * 20, [1] * 7 + [1] * 20
    first = compare_methods([make_run(tmp_path, lines("bm25", flat), lines("anchor", graph))])
    assert first.outcome == "helped"
    others = [lines(f"anchor depth={number}", flat) for number in range(4)]
    many = compare_methods([make_run(tmp_path, lines("bm25", flat), lines("anchor", graph), *others)])
    assert many.gain.p == pytest.approx(5 * first.gain.p)
    assert many.outcome == "cannot tell"


def test_without_a_flat_list_without_a_graph_and_with_one_method_there_is_no_verdict(tmp_path):
    graphs = compare_methods([make_run(tmp_path, lines("ark", some(0.5, 20)), lines("anchor", some(0.4, 20)))])
    flats = compare_methods([make_run(tmp_path, lines("bm25", some(0.5, 20)), lines("react", some(0.4, 20)))])
    alone = compare_methods([make_run(tmp_path, lines("bm25", some(0.5, 20)))])
    assert {verdict.outcome for verdict in (graphs, flats, alone)} == {"nothing to compare"}
    assert graphs.verdict.startswith("Run bm25 on the same questions")
    assert "no flat list" in graphs.verdict
    assert flats.verdict.startswith("Run anchor on the same questions")
    assert "no method goes along the edges" in flats.verdict
    assert "only bm25 was run, Hit@1 0.500" in alone.verdict
    assert len(graphs.pairs) == len(flats.pairs) == 1
    assert alone.pairs == ()


def test_every_pair_with_its_corrected_p(tmp_path):
    generator = np.random.default_rng(2)
    scores = {
        name: (generator.random(80) < share).tolist() for name, share in (("bm25", 0.3), ("anchor", 0.5), ("ark", 0.6))
    }
    comparison = compare_methods(
        [make_run(tmp_path, *(lines(name, shares) for name, shares in scores.items()))], random_seed=3
    )
    assert [standing.method for standing in comparison.standings] == ["ark", "anchor", "bm25"]
    assert [(pair.ours, pair.theirs) for pair in comparison.pairs] == [
        ("ark", "anchor"),
        ("ark", "bm25"),
        ("anchor", "bm25"),
    ]
    points = {name: [100.0 * value for value in values] for name, values in scores.items()}
    columns = [paired_differences(points[pair.ours], points[pair.theirs]) for pair in comparison.pairs]
    raw = permutation_ps(columns, random_seed=3)
    assert [pair.p for pair in comparison.pairs] == pytest.approx(holm_corrected(raw))
    for difference in comparison.pairs:
        assert difference.points == pytest.approx(np.mean(points[difference.ours]) - np.mean(points[difference.theirs]))
        assert difference.low <= difference.points <= difference.high


def test_by_field_every_method_against_the_best_flat_list(tmp_path):
    def fields(number):
        return {"hops": 1 if number < 30 else 2}

    flat = lines("bm25", [1] * 30 + [0] * 10, fields=fields)
    graph = lines("anchor", [1] * 25 + [0] * 5 + [1] * 10, fields=fields)
    comparison = compare_methods([make_run(tmp_path, flat, graph)], by="hops")
    assert [(group.by, group.ours, group.theirs, group.n) for group in comparison.groups] == [
        ({"hops": "1"}, "anchor", "bm25", 30),
        ({"hops": "2"}, "anchor", "bm25", 10),
    ]
    assert [group.points for group in comparison.groups] == pytest.approx([-100 / 6, 100])
    with pytest.raises(BadOption, match="Near: hops"):
        compare_methods([make_run(tmp_path, flat)], by="hop")


def test_methods_of_several_runs_on_the_questions_they_share(tmp_path):
    first = make_run(tmp_path / "one", lines("bm25", some(0.5, 30)), k=20)
    two = make_run(tmp_path / "two", lines("anchor", some(0.5, 20)), k=50)
    comparison = compare_methods([first, two])
    assert comparison.n == 20
    assert "10 of 30 questions were not asked of every method: left out" in comparison.notes
    assert "the runs differ in k: 20, 50" in comparison.notes


def test_one_method_in_two_runs_goes_by_the_run_too(tmp_path):
    first, two = (make_run(tmp_path / name, lines("bm25", some(0.5, 10))) for name in ("one", "two"))
    assert {standing.method for standing in compare_methods([first, two]).standings} == {
        f"bm25 [{run.path}]" for run in (first, two)
    }


@pytest.mark.parametrize(("field", "what"), [("graph_sha256", "graph"), ("questions_sha256", "questions")])
def test_runs_of_another_graph_or_of_other_questions_are_refused(tmp_path, field, what):
    first = make_run(tmp_path / "one", lines("bm25", [1]))
    two = make_run(tmp_path / "two", lines("anchor", [1]), **{field: "other"})
    with pytest.raises(BadInput, match=f"different {what}"):
        compare_methods([first, two])


def test_nothing_to_compare_is_an_error(tmp_path):
    with pytest.raises(BadInput, match="no results"):
        compare_methods([make_run(tmp_path)])
    with pytest.raises(BadInput, match="no results"):
        compare_methods([])
    with pytest.raises(BadInput, match="no question"):
        compare_methods([make_run(tmp_path, lines("bm25", [1], gold=Gold()))])
    with pytest.raises(BadOption, match="no measure"):
        compare_methods([make_run(tmp_path, lines("bm25", [1]))], measure="Hits@1")


def test_measures_that_see_less_than_their_name_says_are_told(tmp_path):
    run = make_run(tmp_path, lines("bm25", some(0.5, 8)), lines("anchor", some(0.9, 8)), k=5)
    assert compare_methods([run], measure="Recall@20").notes == (
        "rankings hold only k=5 hits, and Recall@20 sees no more than these",
    )
    assert compare_methods([run], measure="Recall@5").notes == ()


def test_runs_under_other_rules_of_what_may_answer_are_told(tmp_path):
    first = make_run(tmp_path / "a", lines("bm25", some(0.5, 8)), candidates=("t",))
    other = make_run(tmp_path / "b", lines("anchor", some(0.9, 8)))
    assert any("differ in what may answer" in note for note in compare_methods([first, other]).notes)


def test_failures_count_as_zero_and_are_told(tmp_path):
    comparison = compare_methods([make_run(tmp_path, lines("bm25", [1, 1, 1, 1]), lines("ark", [1, 1, None, None]))])
    assert {standing.method: standing.mean for standing in comparison.standings} == {"bm25": 1.0, "ark": 0.5}
    assert "ark failed on 2 questions, which count as 0" in comparison.notes


def test_a_method_without_answers_is_left_out_where_answers_are_compared(tmp_path):
    gold = Gold(answers=("Salt",))
    run = make_run(
        tmp_path, lines("bm25", [1, 1], gold=gold), lines("hyde", [1, 1], gold=gold, answer="Salt"),
        lines("ark", [1, 1], gold=gold, answer="Pepper"), answers=True,
    )  # fmt: skip
    comparison = compare_methods([run])
    assert comparison.measure == "EM"  # the first of this run's own measures: it has no gold nodes
    assert [standing.method for standing in comparison.standings] == ["hyde", "ark"]
    assert "bm25 gives no answers and is left out" in comparison.notes


def test_an_unknown_price_is_said_to_be_unknown(tmp_path):
    graph = lines("ark", some(0.9, 40), usage=Usage(calls=1, usd=None))
    comparison = compare_methods([make_run(tmp_path, lines("bm25", some(0.2, 40)), graph)])
    assert "+1.0 calls and an unknown sum a question" in comparison.verdict


def test_kinds_of_methods():
    assert {kind_of_method(name) for name in FLAT_METHODS} == {"flat"}
    assert kind_of_method("hyde model=x") == kind_of_method("hyde:bm25") == "flat"
    assert kind_of_method("react") == kind_of_method("ircot:bm25") == "text agent"
    assert {
        kind_of_method(name) for name in ("anchor", "ark agents=1", "sage:spark", "ircot:hippo", "my.module:Own")
    } == {"graph"}


def test_a_comparison_is_read_back_from_its_json(tmp_path):
    hops = {"fields": lambda number: {"hops": 1 + number % 2}}
    comparison = compare_methods(
        [make_run(tmp_path, lines("bm25", some(0.4, 50), **hops), lines("anchor", some(0.8, 50), **hops))], by="hops"
    )
    assert [group.by for group in comparison.groups] == [{"hops": "1"}, {"hops": "2"}]
    assert Comparison.model_validate_json(comparison.model_dump_json()) == comparison


def test_the_same_seed_gives_the_same_comparison(tmp_path):
    run = make_run(tmp_path, lines("bm25", some(0.4, 90)), lines("anchor", [not hit for hit in some(0.4, 90)]))
    assert compare_methods([run], random_seed=5) == compare_methods([run], random_seed=5)
