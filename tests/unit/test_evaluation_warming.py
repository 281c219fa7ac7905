"""Compiled searches are taken where they are worth it, and nothing is compiled any more once questions are timed."""

import pytest

from fakes.inside import inside
from orienteer.evaluation import MANY_QUESTIONS, WARMED_NOTE, evaluate, read_questions, read_run, warmed_graph
from orienteer.records import Edge, Node
from orienteer.retriever import Retriever

pytestmark = pytest.mark.slow

HUB = 5_000  # neighbours: more than are looked up one by one


@pytest.fixture(scope="module")
def graph(build):
    nodes = [Node(f"n{at}", "gene" if at % 2 else "drug", f"word{at % 50} name{at}") for at in range(HUB + 10)]
    return build(nodes, [Edge("n0", "binds", f"n{at}") for at in range(1, HUB)])


def test_few_questions_or_a_small_graph_are_left_to_numpy(graph):
    assert warmed_graph(graph, MANY_QUESTIONS - 1, fewest_nodes=0) is graph
    assert warmed_graph(graph, MANY_QUESTIONS) is graph


def test_no_search_compiles_anything_after_it(graph):
    pytest.importorskip("numba")
    from orienteer.index import CompiledIndex

    def compiled():
        return {name: len(getattr(inside(CompiledIndex), name).signatures) for name in ("everywhere", "few", "many")}

    ready = warmed_graph(graph, MANY_QUESTIONS, fewest_nodes=0)
    assert ready.arrays.text_index.is_compiled
    before = compiled()
    assert all(before.values())
    for method in ("bm25", "anchor"):
        for filters in ({}, {"node_types": ["gene"]}):
            assert Retriever(ready, method).search("which word7 binds name0?", **filters).hits
    assert ready.search("word4", 5, node_types=["drug"], where=())
    assert ready.neighbors("n0", query="word5", k=3).hits
    assert ready.neighbors("n1", query="name0", k=3).hits
    assert compiled() == before
    assert warmed_graph(ready, MANY_QUESTIONS, fewest_nodes=0) is ready


@pytest.mark.process
def test_the_manifest_says_so_and_results_are_equal(graph, tmp_path):
    pytest.importorskip("numba")
    (tmp_path / "q.jsonl").write_text('{"id": "1", "question": "which word7 binds name0?", "nodes": ["n7"]}\n')
    questions = read_questions(tmp_path / "q.jsonl")
    evaluate(graph, questions, ["bm25"], tmp_path / "plain")
    evaluate(warmed_graph(graph, MANY_QUESTIONS, fewest_nodes=0), questions, ["bm25"], tmp_path / "compiled")
    plain, compiled = read_run(tmp_path / "plain"), read_run(tmp_path / "compiled")
    assert (plain.manifest.notes, compiled.manifest.notes) == ((), (WARMED_NOTE,))
    assert plain.lines[0].hits == compiled.lines[0].hits
    assert plain.manifest.graph_sha256 == compiled.manifest.graph_sha256
