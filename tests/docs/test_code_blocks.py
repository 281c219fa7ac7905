"""Every code block of README and docs does what the page says, from top to bottom, a page at a time.

    ```python    runs; with `>>>` what it prints is compared
    ```console   lines after `$ ` run, and what they print is compared where the page shows it
    ```bash      runs whole
    ```json      parses
    ```toml      is a settings file
    ```js, r     run by test_other_languages.py
    ```sh        in the README alone: the two command lines that CI runs on a fresh machine

No block imports from anything deeper than `orienteer`, `orienteer.errors` and the module of an adapter. A block that
needs a framework runs where that is installed.

`...` on a page stands for anything. A page runs in a folder of its own that holds the checkout's `src` and `docs`,
and the demo graph at `languages`. Whatever server a page names, a scripted one on loopback answers.
"""

from __future__ import annotations

import contextlib
import difflib
import doctest
import importlib.util
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fakes import Answer, FakeServer
from orienteer import Graph
from orienteer.errors import BadOption
from orienteer.ingest import demo_records
from orienteer.serve import main
from orienteer.settings import read_settings

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = {"text", "js", "r"}
"""test_other_languages.py runs the last two."""
FOR_A_SHELL = set("|&;<>$`*~#(){}!\\")
ANYTHING = "..."
EXPORTED = ("ORIENTEER_MODEL", "ORIENTEER_BASE_URL")
FRAMEWORKS = {"dspy": "dspy", "haystack": "haystack", "langchain": "langchain_core", "llamaindex": "llama_index"}
"""What each adapter stands on."""
FINAL = "The designers are in the evidence [person:robert-virding]."


class Block(NamedTuple):
    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, text.count("\n", 0, fence.start()) + 1, fence[1], fence[2].rstrip("\n"))
        for fence in FENCE.finditer(text)
    ]


# ------------------------------------------------------------------------------------------------------ a page runs


class Page:
    """What the blocks of a page share: names, variables of the environment, a folder."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, block: Block) -> None:
        """Run a block. Raises `AssertionError` where it does not do what the page says."""
        kinds = {
            "python": self._python,
            "console": self._console,
            "bash": self._bash,
            "json": self._json,
            "toml": self._toml,
        }
        kinds[block.language](block)

    def _python(self, block: Block) -> None:
        adapters = (module.rpartition(".")[2] for module in modules_imported(block.text) if "adapters" in module)
        if any(importlib.util.find_spec(FRAMEWORKS[adapter]) is None for adapter in adapters):
            return
        if ">>>" not in block.text:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile("\n" * block.line + block.text, str(block), "exec"), self._names)
            return
        test = doctest.DocTestParser().get_doctest(block.text + "\n", self._names, str(block), str(block), block.line)
        errors_ = io.StringIO()
        failed, _ = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=errors_.write, clear_globs=False)
        self._names |= test.globs
        assert not failed, f"{block}\n{errors_.getvalue()}"

    def _console(self, block: Block) -> None:
        commands = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
        assert block.text.startswith("$ "), f"{block} shows no command: begin its line with `$ `"
        for other in commands[1:]:
            command, _, shown = other.partition("\n")
            output = self._command(command)
            if shown.strip():
                assert_like(shown, output, f"{block}: {command}")

    def _command(self, command: str) -> str:
        """Return what a command prints, on both channels. It may fail: what it says is then on the page."""
        if (match := re.fullmatch(r"export (\w+)=(\S+)", command)) is not None:
            name, value = match.groups()
            assert name in EXPORTED, f"{name} would outlive the page"
            os.environ[name] = self._server if name.endswith("_BASE_URL") else value
            return ""
        command = re.sub(r"(--base-url )\S+", rf"\g<1>{self._server}", command)
        if not command.startswith("orienteer ") or FOR_A_SHELL & set(command):
            return self._shell(command).stdout
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            main(shlex.split(command)[1:])
        return output.getvalue()

    def _bash(self, block: Block) -> None:
        done = self._shell(f"set -euo pipefail\n{block.text}")
        assert done.returncode == 0, f"{block}\n{done.stdout}"

    def _shell(self, command: str) -> subprocess.CompletedProcess[str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            ["bash", "-c", command],
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=60,
            check=False,
        )

    def _json(self, block: Block) -> None:
        json.loads(block.text)

    def _toml(self, block: Block) -> None:
        folder = Path("settings")
        folder.mkdir(exist_ok=True)
        (folder / "orienteer.toml").write_text(block.text, encoding="utf-8")
        settings = read_settings(environment={}, folders=[folder])
        settings.limits()
        settings.open_model(settings.model or "any")


def assert_like(shown: str, printed: str, where: str) -> None:
    """Compare what a page shows with what was said, blanks at the ends of lines aside.

    `...` is anything within a line, and a line of its own any number of lines.
    """
    wanted, got = ([line.rstrip() for line in text.strip("\n").split("\n")] for text in (shown, printed))
    pattern = "".join(
        r"(?:[^\n]*\n)*?" if line == ANYTHING else r"[^\n]*".join(map(re.escape, line.split(ANYTHING))) + r"\n"
        for line in wanted
    )
    if re.fullmatch(pattern, "\n".join([*got, ""])) is None:
        diff = difflib.unified_diff(wanted, got, "the page", "the command", lineterm="")
        raise AssertionError("\n".join([where, *diff]))


# ------------------------------------------------------------------------------------------------------ its fixtures


def policy(body: dict[str, Any], before: int) -> Answer:
    """Look at Erlang, choose two of its designers, finish; where there are no tools, answer in words."""
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    if "tools" not in body:
        return Answer(content=FINAL)
    calls = (
        ("search_in_graph", {"query": "Erlang"}),
        ("search_in_neighborhood", {"node": "language:erlang", "query": "designed"}),
        ("add_to_answer", {"nodes": ["person:robert-virding", "person:mike-williams"], "reasoning": "designed Erlang"}),
        ("finish", {}),
    )
    return Answer(calls=calls[min(turn, 3) : min(turn, 3) + 1])


@pytest.fixture(scope="module")
def server():
    """Give the address of a server that plays a model."""
    with FakeServer(policy) as served:
        yield served.url


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder like the checkout's root, with the demo graph in it, apart from what this machine has set."""
    for name in list(os.environ):
        if name.startswith(("ORIENTEER_", "OPENAI_", "COLUMNS")):
            monkeypatch.delenv(name)
    for name in EXPORTED:
        monkeypatch.setenv(name, "")  # so that what a page exports is undone at its end
    monkeypatch.setenv("ORIENTEER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    work = tmp_path / "work"
    work.mkdir()
    for name in ("src", "docs"):
        (work / name).symlink_to(ROOT / name, target_is_directory=True)
    monkeypatch.chdir(work)
    nodes, edges = demo_records()
    Graph.from_records(nodes, edges, path="languages")
    return work


# --------------------------------------------------------------------------------------------------------- the tests


@pytest.mark.process
@pytest.mark.server
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_does_what_it_says(page, folder, server):
    if page.stem == "mcp":
        pytest.importorskip("mcp", reason="the extra mcp is not installed")
    shared = Page(server)
    for block in blocks_of(page):
        if block.language in NOT_RUN or (block.language == "sh" and page.stem == "README"):
            continue
        assert block.language in {"python", "console", "bash", "json", "toml"}, f"{block}: is {block.language!r} run?"
        shared.run(block)


def modules_imported(text: str) -> list[str]:
    """Return the modules of this package that the lines of a block import from, `>>> ` before them or not."""
    return re.findall(r"^(?:>>> |\.\.\. )?\s*(?:from|import) (orienteer[\w.]*)", text, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_import_from_the_package_alone(page):
    """What a page imports, a reader relies on: the package's names, and its errors."""
    modules = [module for block in blocks_of(page) for module in modules_imported(block.text)]
    adapters = {f"orienteer.adapters.{name}" for name in FRAMEWORKS}
    assert set(modules) <= {"orienteer", "orienteer.errors", *adapters}


@pytest.mark.parametrize("module", ["orienteer", "orienteer.errors"])
@pytest.mark.parametrize("line", ["from {} import Graph", ">>> from {} import Graph", "...     import {}"])
def test_imports_of_a_block_are_found(line, module):
    assert modules_imported(f"pass\n{line.format(module)}\n") == [module]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_fence_is_found(page):
    """A fence that is indented, or never closed, would be left out in silence."""
    marks = [line for line in page.read_text(encoding="utf-8").split("\n") if line.strip().startswith("```")]
    assert len(marks) == 2 * len(blocks_of(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.process
def test_readme_opens_with_two_command_lines():
    """What CI runs on a fresh machine: the first two blocks of the page, a line each, which a shell can read."""
    blocks = blocks_of(ROOT / "README.md")
    assert [block.language for block in blocks].count("sh") == 2
    for block in blocks[:2]:
        assert block.language == "sh"
        assert "\n" not in block.text
        assert subprocess.run(["bash", "-n", "-c", block.text], check=False).returncode == 0
    assert "orienteer demo" in blocks[0].text
    assert "scripts/test" in blocks[1].text


@pytest.mark.parametrize(
    ("shown", "printed", "fits"),
    [
        ("a\nb", "a\nb\n", True),
        ("a  \nb", "a\nb", True),
        ("a\n...\nd", "a\nb\nc\nd", True),
        ("a\n...\nd", "a\nd", True),
        ("...\nd", "d", True),
        ("a ... d", "a b c d", True),
        ("a ... d", "a b\nc d", False),
        ("a\nb", "a\nc", False),
        ("a", "a\nb", False),
        ("a.b", "axb", False),
    ],
)
def test_comparison(shown, printed, fits):
    if fits:
        assert_like(shown, printed, "here")
    else:
        with pytest.raises(AssertionError, match="here"):
            assert_like(shown, printed, "here")


@pytest.mark.process
@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", ">>> 1 + 1\n3"),
        ("python", "raise SystemError"),
        ("console", "orienteer info languages"),
        ("console", "$ orienteer schema languages\nnothing"),
        ("bash", "true\nfalse"),
        ("json", "{"),
        ("toml", "modle = 'x'"),
        ("toml", "[budget]\ncalls = 0"),
        ("toml", "[server]\npatience = 1"),
    ],
)
def test_a_wrong_block_fails(language, text, folder, server):
    with pytest.raises((AssertionError, SystemError, ValueError, BadOption)):
        Page(server).run(Block(ROOT / "README.md", 1, language, text))
