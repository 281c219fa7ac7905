"""A quiz of real edges: every gold query against an oracle that shares no code with it, over a part of Hetionet."""

import pytest

import quiz_oracle as oracle
from hetionet import hetionet
from orienteer.lab.evaluation import QUIZ_CELLS
from orienteer.lab.quizzes import generate_quiz

pytestmark = pytest.mark.data
METAEDGES = ("DaG", "DlA", "DpS", "DrD", "CtD", "CpD", "CrC", "PCiC", "GpCC", "CbG")


def test_every_gold_query_gives_its_answer_over_the_stores_own_arrays(data_folder, tmp_path_factory):
    graph = hetionet(data_folder, tmp_path_factory.mktemp("quiz"), METAEDGES)
    quiz = generate_quiz(graph, len(QUIZ_CELLS), random_seed=7)
    assert len(quiz.items) == len(QUIZ_CELLS)
    assert "mismatch" not in quiz.rejected
    for item in quiz.items:
        ids = oracle.answered(graph, item.gold_query, item.gold_parameters)
        given = {"number": (str(len(ids)),), "boolean": (str(len(ids) > 0),)}
        assert item.answers == given.get(item.answer_type, item.answers), item.question
        assert list(item.nodes) == (ids if item.answer_type in ("entity", "set") else []), item.question
        assert item.hops == oracle.hops(item.gold_query)
