"""docs/guides/mcp.md shows what the tools say, word for word, and names every tool with what it takes."""

import json
import re
from pathlib import Path

import pytest

from orienteer.serve import tools_of

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "mcp.md").read_text(encoding="utf-8")
CALLS = re.findall(r"^```text\n(\w+) (\{[^\n]*\})\n(.*?)\n```$", PAGE, re.MULTILINE | re.DOTALL)
TOOLS = tools_of(offers_cypher=True)


@pytest.mark.parametrize(("name", "arguments", "shown"), CALLS, ids=[f"{name} {text}" for name, text, _ in CALLS])
def test_a_reply_is_what_the_page_shows(served, name, arguments, shown):
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    from mcp import Client

    from fakes.talks import run
    from orienteer.serve import mcp_server

    async def call():
        async with Client(mcp_server(served)) as client:
            return await client.call_tool(name, json.loads(arguments))

    assert run(call()).content[0].text == shown


@pytest.mark.parametrize("name", TOOLS)
def test_the_page_names_what_a_tool_takes(name):
    (row,) = re.findall(rf"^\| `{name}` \|([^|]*)\|", PAGE, re.MULTILINE)
    assert re.findall(r"\w+", row) == list(TOOLS[name].properties)
    assert re.findall(r"\*\*(\w+)\*\*", row) == list(TOOLS[name].required)
