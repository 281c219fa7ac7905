"""A graph that nobody needs any more is freed at once, with its files: by counting references, whatever asked it.

Python's garbage collector, which finds circles, comes by when it likes; until then each graph would keep a descriptor
for every file that it maps.
"""

import gc
import weakref
from pathlib import Path

import pytest

from fakes.embedder import WordEmbedder, embedded
from orienteer.graph import Graph
from orienteer.index import KeyedCache
from orienteer.lab.quizzes import GraphSteps
from orienteer.llm import ScriptedModel
from orienteer.methods import METHODS
from orienteer.remembered import cached_method
from orienteer.retriever import Retriever

pytestmark = pytest.mark.slow

DESCRIPTORS = Path("/proc/self/fd")
QUESTIONS = [
    "Which films were directed by Ada Holm?",
    "How many films are set in Salt?",
    "the newest film that Ada Holm directed",
    "Is Salt set in Salt?",
    "Some films were directed by Ada Holm; which of them are set in Salt?",
    "Wich filn did Noor Vikk act in?",
    "something else altogether",
]
MOST_LEFT = 10
"""Objects of a question that may wait for the collector: Python's own leave a few now and then."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory, small_records):
    """Give the folder of a small graph with vectors."""
    folder = tmp_path_factory.mktemp("lifetimes")
    graph = Graph.from_records(*small_records, path=folder / "graph")
    return embedded(graph, folder / "cache").path


@pytest.fixture
def uncollected():
    """Let no collector run in a test, and none that a test runs look at what was there before it."""
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()


def finishing(messages, tools, sampling):
    """Look once, then end."""
    is_begun = any(message.role == "assistant" for message in messages)
    return [("finish", {})] if is_begun else [("search_in_graph", {"query": "Salt", "k": 3})]


def opened(folder):
    return Graph.open(folder, embedder=lambda name: WordEmbedder())


def asked(folder, name):
    """Ask questions of a graph, and return what tells whether it is still there."""
    model = ScriptedModel(finishing) if METHODS[name].model != "no" else None
    graph = opened(folder)
    retriever = Retriever(graph, name, model=model)
    for question in QUESTIONS:
        retriever.search(question)
    return weakref.ref(graph), weakref.ref(graph.arrays)


def descriptors():
    """Return how many descriptors are open."""
    if not DESCRIPTORS.is_dir():
        pytest.skip("this system does not list descriptors")
    return sum(1 for _ in DESCRIPTORS.iterdir())


@pytest.mark.parametrize("name", METHODS)
def test_a_graph_goes_with_its_last_reference(folder, name, uncollected):
    asked(folder, name)  # what is imported and made once in a process, is now
    gc.collect()
    before = descriptors()
    graph, arrays = asked(folder, name)
    assert (graph(), arrays()) == (None, None)
    assert descriptors() == before


@pytest.mark.parametrize("name", ["anchor", "bm25", "hippo", "sage"])
def test_questions_leave_nothing_to_the_collector(folder, name, uncollected):
    retriever = Retriever(opened(folder), name)
    for question in QUESTIONS:
        retriever.search(question)
    gc.collect()
    for _ in range(8):
        for question in QUESTIONS:
            retriever.search(question)
    assert gc.collect() <= MOST_LEFT


def test_steps_of_quizzes_keep_no_graph(folder, uncollected):
    graph = Graph.open(folder)
    steps = GraphSteps(graph)
    assert all(steps.table(step).count(0) >= 0 for step in steps.named)
    arrays = weakref.ref(graph.arrays)
    del graph, steps
    assert arrays() is None


class Doubler:
    """Doubles numbers, and notes which."""

    def __init__(self):
        self.made = []

    @cached_method(2)
    def double(self, number):
        self.made.append(number)
        return 2 * number


def test_what_is_remembered_is_made_once_and_bounded():
    doubler = Doubler()
    assert [doubler.double(number) for number in (1, 1, 2, 1, 3, 3, 1)] == [2, 2, 4, 2, 6, 6, 2]
    assert doubler.made == [1, 2, 3, 1]  # a third value empties the two that are remembered
    assert Doubler().double(1) == 2


def test_what_is_remembered_does_not_keep_its_object(uncollected):
    doubler = Doubler()
    doubler.double(1)
    reference = weakref.ref(doubler)
    del doubler
    assert reference() is None


def test_an_error_is_not_remembered():
    class Failing:
        tries = 0

        @cached_method(2)
        def value(self, key):
            self.tries += 1
            if self.tries == 1:
                raise ValueError(key)
            return self.tries

    failing = Failing()
    with pytest.raises(ValueError, match="a"):
        failing.value("a")
    assert [failing.value("a"), failing.value("a")] == [2, 2]


def test_a_memo_without_a_way_to_make_values_is_given_one_at_each_call():
    memo = KeyedCache()
    assert [memo("a", str.upper), memo("a", str.lower)] == ["A", "A"]
