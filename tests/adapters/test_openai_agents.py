"""The plain functions as tools of the OpenAI Agents SDK, with its strict schemas."""

import asyncio
import json

import pytest

pytest.importorskip("agents", reason="openai-agents is not installed: pip install openai-agents")

from agents import function_tool
from agents.tool_context import ToolContext

from adapters.conftest import QUESTION, RUBY


def call(tool, **arguments):
    text = json.dumps(arguments)
    context = ToolContext(context=None, tool_name=tool.name, tool_call_id="1", tool_arguments=text)
    return asyncio.run(tool.on_invoke_tool(context, text))


@pytest.mark.parametrize("strict", [True, False])
def test_functions_are_tools(retriever, strict):
    search, neighbors, ask = (function_tool(function, strict_mode=strict) for function in retriever.as_functions())
    assert search.strict_json_schema is strict
    if strict:
        assert all(
            set(tool.params_json_schema["required"]) == set(tool.params_json_schema["properties"])
            for tool in (search, neighbors, ask)
        )
    assert RUBY in call(search, query="Ruby", node_types=None, k=1)
    assert call(neighbors, node="rubby", query=None, node_types=None, edge_types=None, offset=0).startswith("error: ")
    assert call(ask, question=QUESTION).startswith("read as: ")
