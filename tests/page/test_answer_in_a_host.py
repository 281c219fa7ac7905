"""The picture of an answer in a host of agents that is played here: MCP Apps, in a frame without network."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from mcp import Client
from mcp.client.extension import advertise

from fakes.talks import graphs_at
from orienteer.serve import mcp_server

EXTENSION, MIME_TYPE = "io.modelcontextprotocol/ui", "text/html;profile=mcp-app"
QUESTION = {"question": "Which people who received the Turing Award designed a language that influenced Python?"}
ERAS = ("legacy", "auto")
# A frame of the host: no origin of its own, no network, nothing but what is written into it.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'none'"
HOME = "http://host.test/"
HOST = """<!doctype html><meta charset="utf-8"><title>host</title><body>
<iframe sandbox="allow-scripts" width="100%%" height="900" id="frame"></iframe><script>
  window.heard = [];
  const frame = document.getElementById("frame"), reply = %(reply)s;
  const send = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
  addEventListener("message", ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    window.heard.push(data);
    if (data.method === "ui/initialize")
      send({ id: data.id, result: { protocolVersion: "2026-01-26", hostContext: { theme: "%(theme)s" } } });
    if (data.method === "ui/notifications/initialized") send({ method: "ui/notifications/tool-result", params: reply });
  });
  frame.srcdoc = %(document)s;
</script>"""


def talked(graphs, use, *, mode="auto", shows=True, settings=None):
    """Return what a host does with a server; it shows pictures, or declares something else."""

    async def within():
        declared = [advertise(EXTENSION, {"mimeTypes": [MIME_TYPE]} if settings is None else settings)]
        async with Client(mcp_server(graphs), mode=mode, extensions=declared if shows else []) as client:
            return await use(client)

    with ThreadPoolExecutor(1) as thread:  # the browser's client has a loop in this one
        return thread.submit(lambda: asyncio.run(asyncio.wait_for(within(), 60))).result()


async def everything(client):
    tools = (await client.list_tools()).tools
    resources = (await client.list_resources()).resources
    return tools, resources, await client.call_tool("ask", QUESTION)


@pytest.mark.parametrize("mode", ERAS)
def test_a_host_that_shows_pictures_is_told_of_the_document_and_gets_the_content(languages, mode):
    tools, resources, reply = talked(graphs_at({"languages": languages.path}), everything, mode=mode)
    (address,) = {tool.meta["ui"]["resourceUri"] for tool in tools if tool.meta}
    assert [tool.name for tool in tools if tool.meta] == ["ask"]
    (page,) = [resource for resource in resources if str(resource.uri) == address]
    assert address.startswith("ui://")
    assert page.mime_type == MIME_TYPE
    picture = reply.meta["orienteer/picture"]
    drawn = {(edge["source"], edge["type"], edge["target"]) for edge in picture["edges"]}
    assert ("language:c", "designed by", "person:dennis-ritchie") in drawn  # a label, as the page has it
    assert {end for source, _, target in drawn for end in (source, target)} <= {node["id"] for node in picture["nodes"]}


@pytest.mark.parametrize(
    "declared", [{"shows": False}, {"settings": {}}, {"settings": {"mimeTypes": ["text/html"]}}], ids=str
)
@pytest.mark.parametrize("mode", ERAS)
def test_for_other_hosts_nothing_changes(languages, mode, declared):
    graphs = graphs_at({"languages": languages.path})
    tools, resources, reply = talked(graphs, everything, mode=mode, **declared)
    shown_tools, _, shown = talked(graphs, everything, mode=mode)
    assert not any(tool.meta for tool in tools)
    assert not any(str(resource.uri).startswith("ui://") for resource in resources)
    assert "orienteer/picture" not in (reply.meta or {})
    assert (reply.content, reply.structured_content) == (shown.content, shown.structured_content)
    assert [tool.input_schema for tool in tools] == [tool.input_schema for tool in shown_tools]


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1000])
def test_the_picture_is_drawn_in_a_frame_without_network(browser, languages, picture, theme, width):
    async def asked(client):
        ((content),) = (await client.read_resource("ui://orienteer/answer.html")).contents
        return content, await client.call_tool("ask", QUESTION)

    content, reply = talked(graphs_at({"languages": languages.path}), asked)
    assert content.mime_type == MIME_TYPE
    assert not {"csp", "permissions", "domain"} & content.meta["ui"].keys()
    document = content.text.replace(
        "<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{POLICY}">', 1
    )
    held = {
        "reply": json.dumps(reply.model_dump(mode="json", by_alias=True)).replace("</", "<\\/"),
        "document": json.dumps(document).replace("</", "<\\/").replace("<!--", "<\\!--"),
        "theme": theme,
    }
    context = browser.new_context(viewport={"width": width, "height": 1000})
    page, troubles, requests = context.new_page(), [], []
    page.on("console", lambda told: troubles.append(told.text) if told.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda sent: requests.append(sent.url))
    page.route(HOME, lambda route: route.fulfill(content_type="text/html", body=HOST % held))
    page.goto(HOME)
    frame = page.frame_locator("#frame")
    frame.locator(".drawing[data-settled]").wait_for(timeout=20_000)
    assert "Dennis Ritchie, John McCarthy" in frame.locator(".told").all_inner_texts()
    assert frame.locator(".notebook").get_attribute("data-theme") == theme
    frame.get_by_role("button", name="Dennis Ritchie").click()
    assert frame.locator(".about h3").inner_text() == "Dennis Ritchie"
    page.wait_for_function("heard.some(({ method }) => method === 'ui/notifications/size-changed')")
    picture(page, f"host-{theme}-{width}")
    assert requests == [HOME]
    assert not troubles
    context.close()


@pytest.mark.browser
def test_a_reply_without_a_picture_is_text_and_stays_text(browser, languages):
    markup = "<img src=x onerror=\"parent.postMessage({method: 1}, '*')\">"

    async def read(client):
        return (await client.read_resource("ui://orienteer/answer.html")).contents[0].text

    held = {
        "reply": json.dumps({"content": [{"type": "text", "text": markup}]}),
        "document": json.dumps(talked(graphs_at({"languages": languages.path}), read)).replace("</", "<\\/"),
        "theme": "light",
    }
    page = browser.new_page()
    page.route(HOME, lambda route: route.fulfill(content_type="text/html", body=HOST % held))
    page.goto(HOME)
    told = page.frame_locator("#frame").locator(".told")
    told.wait_for()
    assert told.inner_text() == markup
    assert not page.evaluate("heard.some(({ method }) => method === 1)")
    page.close()
