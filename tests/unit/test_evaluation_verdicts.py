"""Right, refused or wrong: verdicts on answers in words, on complete hits, and under a seal."""

import json

import pytest

from orienteer.lab.evaluation import Gold, RunLine, gold_forms, sealed, verdict
from orienteer.records import Ranked, Reading, Refusal

REFUSAL = Refusal(kind="not_understood", text="no")
NAMES = {"a": "Ada Holm", "b": "Bo Lind, the younger", "c": "C++"}


def line(answer=None, nodes=(), *, total=None, is_read=None, error=None, refusal=REFUSAL, gold):
    is_read = bool(nodes) if is_read is None else is_read
    hits = tuple(Ranked(id=node, type="person", name=NAMES[node], score=1, complete=is_read) for node in nodes)
    reading = Reading(text="x", complete=True, total=len(nodes) if total is None else total) if is_read else None
    refusal = None if is_read else refusal
    return RunLine(
        id="q",
        method="m",
        question="?",
        hits=hits,
        answer=answer,
        reading=reading,
        refusal=refusal,
        error=error,
        gold=gold,
    )


@pytest.mark.parametrize(
    ("answered", "gold", "wanted"),
    [
        ({"nodes": "ab"}, {"nodes": "ba"}, "right"),
        ({"nodes": "a"}, {"nodes": "ab"}, "wrong"),
        ({"nodes": "abc"}, {"nodes": "ab"}, "wrong"),
        ({"nodes": "ab", "is_read": False}, {"nodes": "ab"}, "refused"),  # a ranking alone answers nothing
        ({}, {"nodes": "ab"}, "refused"),
        ({"nodes": "ab", "error": "away"}, {"nodes": "ab"}, "refused"),
        ({"answer": "2", "nodes": "ab"}, {"nodes": "ab"}, "wrong"),  # their number is not what was asked
        ({"answer": "2", "nodes": "ab"}, {"answers": ["2"], "answer_type": "number"}, "right"),
        (
            {"answer": "ada holm; C++", "is_read": False},
            {"answers": ["C++", "Ada Holm"], "answer_type": "set"},
            "right",
        ),
        ({"answer": "Bo Lind, the younger"}, {"answers": ["Bo Lind, the younger"]}, "right"),
        ({"answer": "Ada Holm"}, {"answers": ["Ada Holm", "A. Holm"]}, "right"),
        ({"answer": "Ada Holm"}, {"answers": ["Ada Holm", "C++"], "answer_type": "set"}, "wrong"),
        ({"answer": "yes"}, {"answers": ["True"], "answer_type": "boolean"}, "right"),
        ({"answer": "no"}, {"answers": ["True"], "answer_type": "boolean"}, "wrong"),
        ({"answer": "1,204.004"}, {"answers": ["1204"], "answer_type": "number"}, "right"),
        ({"answer": "12.5 %"}, {"answers": ["12.50"], "answer_type": "number"}, "right"),
        ({"answer": "main: 12; extra: 3"}, {"answers": ["extra: 3", "main: 12"], "answer_type": "set"}, "right"),
        ({"answer": "main: 12; extra: 4"}, {"answers": ["extra: 3", "main: 12"], "answer_type": "set"}, "wrong"),
        ({"answer": "main: 12"}, {"answers": ["extra: 0", "main: 12"], "answer_type": "set"}, "right"),
        ({"answer": "0"}, {"answers": ["0"], "answer_type": "number"}, "right"),
        ({"answer": "5 by the track; 21 by the artist"}, {"answers": ["21"], "answer_type": "number"}, "right"),
        ({"answer": "Answer: C++ [c]", "nodes": "c", "is_read": False}, {"answers": ["C++"]}, "right"),
        ({}, {"unanswerable": True}, "right"),
        ({"refusal": None}, {"unanswerable": True}, "refused"),  # it says nothing, and knows nothing
        ({"answer": "C++"}, {"unanswerable": True}, "wrong"),
        ({"nodes": "a"}, {"unanswerable": True}, "wrong"),
        ({"nodes": "a"}, {}, None),  # without gold there is no verdict
    ],
)
def test_a_verdict_is_the_same_with_the_gold_open_and_sealed(answered, gold, wanted):
    asked = line(**answered, gold=Gold(**gold | {"nodes": dict.fromkeys(gold.get("nodes", ()), 1.0)}))
    assert verdict(asked) == wanted
    forms = gold_forms(asked.gold)
    if forms:
        under_seal = asked.model_copy(update={"gold": Gold(sealed=tuple(sealed("q", form) for form in forms))})
        assert verdict(under_seal) == wanted
        assert not any(form in json.dumps(under_seal.gold.model_dump()) for form in forms)


def test_an_answer_that_k_cut_short_has_no_verdict():
    cut = line(nodes="ab", total=3, gold=Gold(nodes={"a": 1.0, "b": 1.0, "c": 1.0}))
    assert verdict(cut) is None
    assert verdict(line(nodes="ab", total=3, gold=Gold(nodes={"a": 1.0, "b": 1.0}))) == "wrong"  # there are two
    assert verdict(line(nodes="ab", total=3, gold=Gold(sealed=("0" * 32,)))) is None
