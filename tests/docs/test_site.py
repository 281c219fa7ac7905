"""The docs site: what it is built from, its generated pages, and, where zensical is installed, the site itself."""

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import yaml

import orienteer
from browsing import CHROMIUM, FLAGS, QUIET, is_own
from orienteer import errors
from orienteer.serve import main

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CONFIGURATION = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
LINK = re.compile(r"\]\(([^)\s]+)\)")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
MOST_BYTES_OF_A_PICTURE = 120_000
needs_zensical = pytest.mark.skipif(
    shutil.which("zensical", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}") is None,
    reason="zensical is not installed: pip install -e '.[site]'",
)


def run(*arguments, root=ROOT):
    return subprocess.run(
        [sys.executable, root / "scripts" / "site", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


def copy_tree(target):
    """Copy what the site is built from, so that a test may change it."""
    for name in ("docs", "scripts"):
        shutil.copytree(ROOT / name, target / name)
    (target / "src").symlink_to(ROOT / "src")
    for name in ("mkdocs.yml", "pyproject.toml", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"):
        shutil.copy(ROOT / name, target)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """What the site is built from."""
    folder = tmp_path_factory.mktemp("pages") / "docs"
    done = run("--pages", folder)
    assert done.returncode == 0, done.stderr
    return folder


def named(entries):
    """Yield the files that the navigation names."""
    for entry in entries:
        for page in [entry] if isinstance(entry, str) else entry.values():
            if isinstance(page, list):
                yield from named(page)
            else:
                yield page


@pytest.mark.process
def test_navigation_names_every_page_once(pages):
    there = sorted(page.relative_to(pages).as_posix() for page in pages.rglob("*.md"))
    assert sorted(named(CONFIGURATION["nav"])) == there
    assert {"commands.md", "python.md"} == {page.name for page in (pages / "reference").glob("*.md")} - {
        page.name for page in (DOCS / "reference").glob("*.md")
    }


@pytest.mark.process
def test_links_of_the_site_stay_in_it_or_lead_to_the_source(pages):
    count = 0
    for page in pages.rglob("*.md"):
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in LINK.findall(re.sub(r"`[^`\n]*`", "", text)):
            if not target.startswith(("https://", "http://", "#")):
                file = (page.parent / target.partition("#")[0]).resolve()
                assert file.is_file(), f"{page}: {target}"
                assert file.is_relative_to(pages.resolve()), f"{page}: {target}"
                count += 1
    assert count > 300


@pytest.mark.process
def test_commands_page_says_what_help_says(pages, capsys):
    text = (pages / "reference" / "commands.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## `orienteer ([^`]+)`\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    assert len(sections) > 40
    for name, section in sections.items():
        capsys.readouterr()
        assert main([*name.split(), "--help"]) == 0
        shown = capsys.readouterr().out.partition("Example")[0]
        assert set(FLAG.findall(section)) == set(FLAG.findall(shown)) - {"--help"}, name
        usage = re.search(r"```text\n(.*)\n```", section)[1]
        assert " ".join(usage.split()) in " ".join(shown.split())
    for name in re.findall(r"^### `orienteer ([a-z ]+)`$", (DOCS / "interface.md").read_text("utf-8"), re.MULTILINE):
        assert name in sections


@pytest.mark.process
def test_python_page_has_every_public_name(pages):
    text = (pages / "reference" / "python.md").read_text(encoding="utf-8")
    assert set(orienteer.__all__) == set(re.findall(r"^## `(\w+)`$", text, re.MULTILINE))
    kinds = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, errors.Error)}
    assert kinds - {"Error"} == set(re.findall(r"^\| `(\w+)` \| `\w+` \|", text.split("## Errors")[1], re.MULTILINE))
    assert "Answers questions over a graph by a method" in text
    assert "### `Retriever.ask`" in text
    assert not re.search(r"object at 0x|<factory>|orienteer\.records\.", text)


@pytest.mark.process
def test_list_of_pages_is_current(pages, tmp_path):
    """For agents: docs/llms.txt, which `scripts/site --list` writes."""
    copy_tree(tmp_path)
    assert run("--list", root=tmp_path).returncode == 0
    written = (tmp_path / "docs" / "llms.txt").read_text(encoding="utf-8")
    assert (DOCS / "llms.txt").read_text(encoding="utf-8") == written, "run scripts/site --list"
    entries = re.findall(r"^- \[.+\]\((\S+)\): (\S.*)$", written, re.MULTILINE)
    assert [page for page, _ in entries] == list(named(CONFIGURATION["nav"]))


def test_stories_have_small_pictures():
    stories = sorted((DOCS / "stories").glob("*.md"))
    assert len(stories) == 5
    script = (ROOT / "scripts" / "pictures").read_text(encoding="utf-8")
    for story in stories:
        picture = DOCS / "pictures" / f"story-{story.stem}.png"
        assert f"(../pictures/{picture.name})" in story.read_text(encoding="utf-8")
        assert f'"{story.stem}"' in script
        assert picture.stat().st_size < MOST_BYTES_OF_A_PICTURE
    assert (DOCS / "pictures" / "page.png").stat().st_size < MOST_BYTES_OF_A_PICTURE


# ---------------------------------------------------------------------------------------------------- the site built


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    target = tmp_path_factory.mktemp("built") / "site"
    done = run(target)
    assert done.returncode == 0, done.stdout
    return target


@needs_zensical
@pytest.mark.process
@pytest.mark.thorough
def test_site_has_pages_search_and_old_addresses(site):
    for page in named(CONFIGURATION["nav"]):
        assert (site / page).with_suffix(".html").is_file()
        assert (site / page).is_file(), "agents read the Markdown"
    for page in site.rglob("*.html"):  # no list or table is shown as text
        assert not re.search(r"<p>(\||- |\* |\d+\. )|<br>- |\n(- |\|)[^<]*</p>", page.read_text("utf-8")), page
    words = json.dumps(json.loads((site / "search.json").read_text(encoding="utf-8")))
    assert "Salbutamol" in words
    assert "guides/agents.html" in (site / "install.html").read_text(encoding="utf-8")
    assert "explanations/reading.html" in (site / "reading.html").read_text(encoding="utf-8")
    assert (site / "llms.txt").read_text("utf-8") == (DOCS / "llms.txt").read_text("utf-8")


@needs_zensical
@pytest.mark.process
@pytest.mark.thorough
@pytest.mark.parametrize("link", ["guides/nowhere.md", "guides/tables.md#nowhere"])
def test_a_broken_link_ends_the_build(tmp_path, link):
    copy_tree(tmp_path)
    with (tmp_path / "docs" / "index.md").open("a", encoding="utf-8") as page:
        page.write(f"\nSee [this]({link}).\n")
    done = run(tmp_path / "site", root=tmp_path)
    assert done.returncode == 1
    assert link in done.stdout
    assert not (tmp_path / "site").exists()


@needs_zensical
@pytest.mark.process
def test_a_folder_that_is_no_site_is_kept(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    for arguments in ([tmp_path], ["--pages", tmp_path]):
        assert run(*arguments).returncode == 2
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


@needs_zensical
@pytest.mark.browser
@pytest.mark.process
@pytest.mark.server
def test_site_asks_nobody_else(site):
    """Pages, search and themes: every request goes to the server of the site, and no script complains."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: see CONTRIBUTING.md")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: see CONTRIBUTING.md")
    handler = functools.partial(Quiet, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = f"http://127.0.0.1:{server.server_port}/"
    elsewhere, troubles = [], []
    with sync_api.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, *QUIET])
        page = browser.new_page(color_scheme="dark")
        page.on("request", lambda sent: None if is_own(sent.url, home) else elsewhere.append(sent.url))
        page.on("console", lambda said: troubles.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        for name in ("index", "stories/biomedical", "explanations/concepts", "reference/python", "guides/javascript"):
            page.goto(f"{home}{name}.html")
            page.wait_for_selector("h1")
        page.goto(f"{home}index.html")
        page.keyboard.press("/")
        page.keyboard.type("Salbutamol", delay=30)
        page.wait_for_selector("a[href*='stories/biomedical.html'] >> visible=true")
        browser.close()
    server.shutdown()
    server.server_close()
    assert (elsewhere, troubles) == ([], [])


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""
