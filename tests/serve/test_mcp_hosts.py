"""A real agent asks through what `orienteer install` wrote for it: Copilot CLI, where it is on the path.

Its model is a scripted server on loopback, its home a folder of the test, and it is told to stay offline.
"""

import json
import os
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from fakes import Answer, FakeServer

COPILOT = shutil.which("copilot")
pytestmark = pytest.mark.skipif(COPILOT is None, reason="no copilot on the path: npm install @github/copilot")
CALLS = (
    ("ask", {"question": "Who designed Rust?", "k": 3}),
    ("neighbors", {"node": "person:graydon-hoare", "kk": 3}),
    ("node", {"node": "Erlng"}),
)


def calling(body, _):
    """Call one of our tools after the other, then say that it is done; a request that offers none is a chore."""
    done = sum(message["role"] == "tool" for message in body["messages"])
    if done == len(CALLS) or "tools" not in body:
        return Answer(content="done")
    name, arguments = CALLS[done]
    return Answer(calls=[(f"orienteer-languages-{name}", arguments)])


@pytest.fixture
def environment(tmp_path):
    (tmp_path / ".copilot").mkdir()
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "HOME": str(tmp_path),
        "COPILOT_OFFLINE": "true",
        "COPILOT_MODEL": "fake",
        "COPILOT_PROVIDER_API_KEY": "none",
    }


def run(command, environment, folder):
    done = subprocess.run(
        command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def test_copilot_asks_and_reads_what_we_say(languages, environment, tmp_path):
    install = ["install", str(languages.path), "--agent", "copilot-cli", "--write"]
    run([sys.executable, "-m", "orienteer", *install], environment, tmp_path)
    with FakeServer(calling) as model:
        environment["COPILOT_PROVIDER_BASE_URL"] = model.url
        flags = ["--allow-all-tools", "--no-auto-update", "--stream", "off"]
        run([COPILOT, "-p", "Who designed Rust?", *flags], environment, tmp_path)
    last = model.bodies[-1]
    ours = [tool["function"] for tool in last["tools"] if tool["function"]["name"].startswith("orienteer-languages-")]
    assert len(ours) == 8
    assert "maximum" not in json.dumps(ours)
    answer, mended, unknown = (message["content"] for message in last["messages"] if message["role"] == "tool")
    assert "[person:graydon-hoare] Graydon Hoare (person)" in answer
    assert mended.endswith("The arguments of neighbors are wrong: kk is not known; did you mean k?.")
    assert unknown.endswith("Not in this graph: 'Erlng'. Near names: Erlang.")
