"""Rules that papers give for questions made from a graph."""

import numpy as np
import pytest

from orienteer.lab.quizzes import (
    Constraint,
    EdgeStep,
    QuestionPlan,
    WalkCondition,
    generate_questions,
    plan_difficulty,
    rows_that_satisfy,
    solve_plan,
)

# 003, section 3.2 (after PolyG): <h, r, _> asks for what one relation leads to, <h, *, _> for what any does.


def test_003_head_and_relation(small):
    plan = QuestionPlan(
        "one_hop", (WalkCondition(small.arrays.row("p1"), (EdgeStep("person", "directed", True, "film"),)),)
    )
    assert [small.arrays.ids[row] for row in solve_plan(small, plan).rows] == ["f1", "f2"]


def test_003_head_and_any_relation(small):
    plan = QuestionPlan(
        "typed_target", (WalkCondition(small.arrays.row("f1"), (EdgeStep("film", None, None, "person"),)),)
    )
    assert [small.arrays.ids[row] for row in solve_plan(small, plan).rows] == ["p1", "p2", "p3"]


def test_003_simple_is_one_relation_and_hard_has_three_steps_or_more(small):
    step = EdgeStep("person", "directed", True, "film")
    one = QuestionPlan("one_hop", (WalkCondition(0, (step,)),))
    two = QuestionPlan("two_hops", (WalkCondition(0, (step.turned, step)),))
    three = QuestionPlan("three_anchors", tuple(WalkCondition(row, (step,)) for row in range(3)))
    assert [plan_difficulty(plan, 1) for plan in (one, two, three)] == ["simple", "medium", "hard"]


# STaRK: the answers are those of the relational candidates of which the textual requirement holds too.


def test_stark_joins_relation_and_text(small):
    condition = WalkCondition(small.arrays.row("p1"), (EdgeStep("person", "directed", True, "film"),))
    constraint = Constraint("frozen coast", tuple(small.arrays.tokenizer.terms("frozen coast")))
    plan = QuestionPlan("one_hop_constrained", (condition,), constraint=constraint)
    rows = solve_plan(small, plan).rows
    assert [small.arrays.ids[row] for row in rows] == ["f2"]
    candidates = solve_plan(small, QuestionPlan("one_hop", (condition,))).rows
    assert set(rows) == set(candidates) & set(
        rows_that_satisfy(small, constraint, np.arange(len(small), dtype=np.int32))
    )


# 003, section 3.3: of a set the size is computed, and an entity is proved to be the only one.


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_003_the_answer_type_is_proved(small, seed):
    for one in generate_questions(small, 30, random_seed=seed).items:
        assert (one.answer_type == "entity") == (len(one.nodes) == 1)
        assert len(one.nodes) <= 20
