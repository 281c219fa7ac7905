"""What the pages for JavaScript and R show, run against a real server: by node and by R where they are installed.

Without R its page is not unchecked: each request that it makes is sent as httr2 would, and each field that it reads
is looked for in the reply.
"""

import json
import re
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from orienteer import Graph
from orienteer.ingest import demo_records
from page_server import served

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
ADDRESS = "http://127.0.0.1:8321"
"""Where the pages start their server."""
pytestmark = [pytest.mark.process, pytest.mark.server]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    nodes, edges = demo_records()
    with served({"languages": Graph.from_records(nodes, edges)}, feedback=tmp_path_factory.mktemp("f") / "f") as there:
        yield there.address


def blocks(page: str, language: str) -> list[str]:
    text = (GUIDES / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def run_page(program: str, page: str, language: str, server: str, folder: Path) -> str:
    """Return what a program prints for all blocks of a page, one after the other."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    script = folder / f"page.{'mjs' if language == 'js' else 'R'}"
    source = "\n".join(blocks(page, language))
    assert ADDRESS in source
    script.write_text(source.replace(ADDRESS, server), encoding="utf-8")
    done = subprocess.run(
        [program, str(script)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def words(text: str) -> list[str]:
    return text.split()


def test_javascript_page(server, tmp_path):
    printed = run_page("node", "javascript.md", "js", server, tmp_path)
    shown = blocks("javascript.md", "text")[1]
    assert printed.startswith(shown)
    kinds = [line for line in printed.split("\n") if re.fullmatch(r"[a-z_]+", line)]
    assert kinds[0] == "begin"
    assert kinds[-1] == "done"
    assert "k is 500: it must be a whole number, 0 to 200" in printed


def test_r_page(server, tmp_path):
    printed = run_page("Rscript", "r.md", "r", server, tmp_path)
    shown = blocks("r.md", "text")[1]
    assert set(words(shown)) <= set(words(printed))  # R breaks a wide table by the width of the terminal
    assert words(printed)[:3] == words(shown)[:3]
    assert "1 FLOW-MATIC 1955" in printed
    assert '"k is 500: it must be a whole number, 0 to 200"' in printed


# -------------------------------------------------------------------------------------------- the page of R, without R

REQUEST = re.compile(r"^(\w+) <- server \|>\n((?:  .*\n)+)", re.MULTILINE)


def value_of(text: str):
    """Return what a literal of R becomes as JSON: texts, numbers, named lists and lists."""
    text = text.strip()
    if (inside := re.fullmatch(r"list\((.*)\)", text, re.DOTALL)) is None:
        return json.loads(text)
    parts = re.findall(r"(?:(\w+) = )?(list\([^()]*\)|\"[^\"]*\"|[\d.]+)", inside[1])
    assert parts, text
    if parts[0][0]:
        return {name: value_of(value) for name, value in parts}
    return [value_of(value) for _, value in parts]


def sent(calls: str, server: str):
    """Send the request that a pipe of httr2 describes; return the status and the reply."""
    path = re.search(r'req_url_path\("([^"]+)"\)', calls)[1]
    query = dict(re.findall(r'(\w+) = "([^"]+)"', (re.search(r"req_url_query\((.*)\)", calls) or ["", ""])[1]))
    body = re.search(r"req_body_json\((.*)\) \|>", calls)
    address = f"{server}{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
    data = json.dumps(value_of(body[1])).encode() if body else None
    request = urllib.request.Request(address, data, {"content-type": "application/json"} if data else {})
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_requests_of_the_r_page(server):
    source = "\n".join(blocks("r.md", "r"))
    assert f'request("{ADDRESS}")' in source
    replies = {name: sent(calls, server) for name, calls in REQUEST.findall(source)}
    assert len(replies) == source.count("req_perform()") == 5
    assert {name: status for name, (status, _) in replies.items()} == {
        "result": 200, "languages": 200, "found": 200, "rust": 200, "reply": 422
    }  # fmt: skip
    read = re.findall(r"\b(\w+)((?:\$\w+)+)", source.replace("resp_body_json(reply)", "reply"))
    assert len(read) > 8
    for name, path in read:
        if name not in replies:
            assert name == "frame"
            continue
        there = replies[name][1]
        for field in path[1:].split("$"):
            there = there[0] if isinstance(there, list) else there
            assert field in there, f"{name}{path}: no {field}"
            there = there[field]
    columns = set(re.findall(r'"(\w+)"', "".join(re.findall(r", c\((.*)\)\]", source))))
    assert columns == {"id", "name", "why", "type", "score"}
    assert columns <= set(replies["found"][1]["hits"][0])
