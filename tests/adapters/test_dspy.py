"""The module of DSPy, by DSPy."""

import pytest

pytest.importorskip("dspy", reason="dspy is not installed: pip install 'orienteer[dspy]'")

import dspy
from dspy.utils import DummyLM

from adapters.conftest import QUESTION, RUBY
from orienteer.adapters.dspy import OrienteerRetriever


def test_passages_are_the_hits(retriever):
    prediction = OrienteerRetriever(retriever, k=3)(QUESTION)
    assert prediction.ids == [hit.id for hit in retriever.search(QUESTION, 3).hits]
    assert prediction.passages[0].startswith("Ruby (language)\nYukihiro Matsumoto <-designed_by- Ruby")
    assert OrienteerRetriever(retriever)(query=QUESTION, k=1).ids == [RUBY]


def test_a_program_over_it_answers(retriever):
    class Answering(dspy.Module):
        def __init__(self):
            super().__init__()
            self.retrieve = OrienteerRetriever(retriever, k=2)
            self.answer = dspy.Predict("context: list[str], question -> answer")

        def forward(self, question):
            return self.answer(context=self.retrieve(question).passages, question=question)

    model = DummyLM([{"answer": "Ruby"}])
    with dspy.context(lm=model):
        assert Answering()(question=QUESTION).answer == "Ruby"
    assert "Yukihiro Matsumoto <-designed_by- Ruby" in str(model.history[-1]["messages"])


def test_an_agent_takes_the_functions_as_tools(retriever):
    turns = [
        {"next_thought": "ask", "next_tool_name": "ask_graph", "next_tool_args": {"question": QUESTION}},
        {"next_thought": "done", "next_tool_name": "finish", "next_tool_args": {}},
        {"reasoning": "it says so", "answer": "Ruby"},
    ]
    agent = dspy.ReAct("question -> answer", tools=list(retriever.as_functions()))
    with dspy.context(lm=DummyLM(turns)):
        prediction = agent(question=QUESTION)
    assert prediction.answer == "Ruby"
    assert RUBY in prediction.trajectory["observation_0"]
