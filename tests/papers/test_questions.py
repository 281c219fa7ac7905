"""Rules that papers give for questions made from a graph."""

import pytest

from orienteer.quizzes.questions import PATTERNS, generate
from orienteer.quizzes.questions.draft import Condition, Constraint, Draft, Step, difficulty
from orienteer.quizzes.questions.gold import answers, holding, structural

# 003, section 3.2 (after PolyG): <h, r, _> asks for what one relation leads to, <h, *, _> for what any does.


def test_003_head_and_relation(small):
    draft = Draft(PATTERNS["one_hop"], (Condition(small.row("p1"), (Step("person", "directed", True, "film"),)),))
    assert [small.ids[row] for row in answers(small, draft)] == ["f1", "f2"]


def test_003_head_and_any_relation(small):
    draft = Draft(PATTERNS["typed_target"], (Condition(small.row("f1"), (Step("film", None, None, "person"),)),))
    assert [small.ids[row] for row in answers(small, draft)] == ["p1", "p2", "p3"]


def test_003_simple_is_one_relation_and_hard_has_three_steps_or_more(small):
    step = Step("person", "directed", True, "film")
    one = Draft(PATTERNS["one_hop"], (Condition(0, (step,)),))
    two = Draft(PATTERNS["two_hops"], (Condition(0, (step.turned, step)),))
    three = Draft(PATTERNS["three_anchors"], tuple(Condition(row, (step,)) for row in range(3)))
    assert [difficulty(draft, 1) for draft in (one, two, three)] == ["simple", "medium", "hard"]


# STaRK: the answers are those of the relational candidates of which the textual requirement holds too.


def test_stark_joins_relation_and_text(small):
    condition = Condition(small.row("p1"), (Step("person", "directed", True, "film"),))
    constraint = Constraint("frozen coast", tuple(small.tokenizer.terms("frozen coast")))
    draft = Draft(PATTERNS["one_hop_constrained"], (condition,), constraint)
    found = answers(small, draft)
    assert [small.ids[row] for row in found] == ["f2"]
    assert set(found) == set(structural(small, [condition])) & set(
        holding(small, constraint, structural(small, [condition]))
    )


# 003, section 3.3: of a set the size is computed, and an entity is proved to be the only one.


@pytest.mark.parametrize("seed", [1, 2])
def test_003_the_answer_type_is_proved(small, seed):
    for one in generate(small, 30, random_seed=seed).questions:
        assert (one.answer_type == "entity") == (len(one.nodes) == 1)
        assert len(one.nodes) <= 20
