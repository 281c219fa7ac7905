"""The plain functions as tools of pydantic-ai, called by its own test model."""

import pytest

pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed: pip install pydantic-ai-slim")

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel

from adapters.conftest import QUESTION, RUBY


def test_every_tool_can_be_called(retriever):
    model = TestModel()
    agent = Agent(model, tools=list(retriever.as_functions()))
    told = str(agent.run_sync(QUESTION).output)
    tools = {tool.name: tool for tool in model.last_model_request_parameters.function_tools}
    assert list(tools) == ["search_graph", "graph_neighbors", "ask_graph"]
    assert all(name in told for name in tools)
    assert tools["ask_graph"].description.startswith("Answer a question from the knowledge graph")
    question = tools["ask_graph"].parameters_json_schema["properties"]["question"]
    assert question["description"] == "The whole question, in words."


def test_an_error_goes_back_to_the_model(retriever):
    replies = []

    def play(messages, info):
        part = messages[-1].parts[-1]
        if part.part_kind == "user-prompt":
            return ModelResponse(parts=[ToolCallPart("graph_neighbors", {"node": "rubby"})])
        replies.append(part.content)
        if len(replies) == 1:
            return ModelResponse(parts=[ToolCallPart("ask_graph", {"question": QUESTION})])
        return ModelResponse(parts=[TextPart("Ruby")])

    agent = Agent(FunctionModel(play), tools=list(retriever.as_functions()))
    assert agent.run_sync(QUESTION).output == "Ruby"
    assert replies[0].startswith("error: ")
    assert RUBY in replies[1]
