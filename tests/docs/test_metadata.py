"""What an index shows of the package: addresses, links that hold outside the checkout, citation, classifiers."""

from __future__ import annotations

import datetime
import importlib.util
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest
import yaml

import orienteer

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TABLE = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["custom"]["links"]
ADDRESS = TABLE["address"]
TAG = f"v{orienteer.__version__}"


def hook():
    """Return the module of the metadata hook, as the build finds it."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def targets(text: str) -> list[str]:
    """Return every target of a link or picture of a Markdown page, read by a parser that is not ours."""
    from markdown_it import MarkdownIt

    found = []
    for block in MarkdownIt("commonmark").enable("table").parse(text):
        if block.type in ("html_block", "html_inline"):
            found += re.findall(r'(?:src|srcset|href)="([^"]+)"', block.content)
        for token in block.children or ():
            found += [token.attrs[name] for name in ("href", "src") if name in token.attrs]
    return found


def check_targets(text: str) -> None:
    """Fail if a target is relative, of another version, or leads to a file that is not in the tree."""
    found = targets(text)
    ours = [target for target in found if target.startswith(ADDRESS)]
    assert len(ours) > 30, "the README links to its docs"
    for target in found:
        assert target.startswith("https://"), f"{target} is dead on an index page"
    for target in ours:
        kind, tag, path = re.fullmatch(rf"{re.escape(ADDRESS)}/(blob|raw)/([^/]+)/([^#]+)(?:#.*)?", target).groups()
        assert tag == TAG
        assert (ROOT / path).is_file(), f"{target} is not in the tree"
        assert (kind == "raw") == path.endswith((".png", ".svg"))


def check_urls(urls: dict[str, str]) -> None:
    assert {"Source", "Documentation", "Changes", "Issues"} <= set(urls)
    for url in urls.values():
        assert url == ADDRESS or url.startswith(f"{ADDRESS}/")
        if f"/{TAG}/" in url:
            assert (ROOT / url.partition(f"/{TAG}/")[2]).exists(), f"{url} is not in the tree"


# ------------------------------------------------------------------------------------------------ before any build


def test_links_of_the_readme_are_absolute_in_the_metadata():
    links = hook().Links(TABLE, version=orienteer.__version__)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert not [target for target in targets(readme) if target.startswith(ADDRESS)], "relative in the checkout"
    check_targets(links.absolute(readme))
    check_urls(links.urls())


@pytest.mark.parametrize(
    ("text", "absolute"),
    [
        ("[a](docs/a.md#b)", "[a](https://x.org/f/1/docs/a.md#b)"),
        ("![a](a.png)", "![a](https://x.org/p/1/a.png)"),
        ('<img src="a.svg">', '<img src="https://x.org/p/1/a.svg">'),
        ("[a](https://y.org/a.md), [b](#c), [d](mailto:e@f.org)", None),
        ("```text\n[a](b.md)\n```", None),
    ],
)
def test_relative_links_alone_change(text, absolute):
    table = {"address": "https://x.org/", "file": "{address}/f/{version}/{path}", "urls": {}}
    links = hook().Links({**table, "picture": "{address}/p/{version}/{path}"}, version="1")
    assert links.absolute(text) == (absolute or text)


def test_the_address_is_written_once():
    """It is not decided: who changes it changes one line."""
    files = [path for path in ROOT.glob("*") if path.suffix in {".cff", ".cfg", ".md", ".py", ".toml", ".yml", ".yaml"}]
    files += [*(ROOT / ".github").rglob("*.*ml"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    files += (ROOT / "scripts").glob("*")
    naming = [path for path in files if path.is_file() and ADDRESS in path.read_text(encoding="utf-8")]
    assert naming == [ROOT / "pyproject.toml"]
    assert naming[0].read_text(encoding="utf-8").count(ADDRESS) == 1


def test_citation_changelog_and_package_have_one_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == orienteer.__version__
    assert citation["license"] == PROJECT["project"]["license"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## \[([^]]+)\](?: - (\d{4}-\d\d-\d\d))?$", changes, re.MULTILINE)
    assert versions[0] == ("Unreleased", "")
    assert versions[1] == (citation["version"], str(citation["date-released"]))
    assert citation["date-released"] <= datetime.date(2100, 1, 1)


def test_citation_has_what_its_format_requires():
    """By the schema of CFF 1.2.0; `cffconvert --validate` says the same."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"authors", "cff-version", "message", "title"} <= set(citation)
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert all({"name"} <= set(author) or {"family-names"} <= set(author) for author in citation["authors"])


def test_supported_pythons_are_said_alike():
    classified = {
        found[1]
        for name in PROJECT["project"]["classifiers"]
        if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", name))
    }
    assert f">={min(classified, key=lambda v: int(v[2:]))}" == PROJECT["project"]["requires-python"]
    tests = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    assert set(tests["jobs"]["quick"]["strategy"]["matrix"]["python"]) == classified
    page = (ROOT / "docs" / "reference" / "systems.md").read_text(encoding="utf-8")
    assert f"Python {min(classified)} to {max(classified)}" in page


# ---------------------------------------------------------------------------------------------------- by a real build


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """Return a folder with the wheel and the source distribution, the first made of the second."""
    pytest.importorskip("build", reason="the package build is not installed")
    pytest.importorskip("hatchling", reason="the package hatchling is not installed")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return folder


def metadata(content: bytes) -> Message:
    return message_from_bytes(content)


@pytest.mark.process
@pytest.mark.thorough
def test_the_wheel_says_where_it_comes_from(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        info = f"orienteer-{orienteer.__version__}.dist-info"
        said = metadata(wheel.read(f"{info}/METADATA"))
        names = wheel.namelist()
        assert f"{info}/licenses/LICENSE" in names
    assert (said["Name"], said["Version"]) == ("orienteer", orienteer.__version__)
    assert said["License-Expression"] == "Apache-2.0"
    assert said["Description-Content-Type"] == "text/markdown"
    check_targets(said.get_payload(decode=True).decode())
    check_urls(dict(url.split(", ") for url in said.get_all("Project-URL")))
    assert {name.split("/")[0] for name in names} == {"orienteer", info}
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".map"))]
    assert {"orienteer/py.typed", "orienteer/serve/page/index.html"} <= set(names)


@pytest.mark.process
@pytest.mark.thorough
def test_the_source_distribution_has_all_that_a_packager_needs(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        members = archive.getmembers()
    top = f"orienteer-{orienteer.__version__}/"
    names = {member.name.removeprefix(top) for member in members}
    assert all(member.name.startswith(top) and member.isfile() for member in members), "no links, nothing beside"
    assert {"CHANGELOG.md", "CITATION.cff", "LICENSE", "README.md", "SECURITY.md", "requirements.lock"} <= names
    assert {"tests/conftest.py", "scripts/test", "docs/interface.md", "hatch_build.py", "PKG-INFO"} <= names
    odd = r"__pycache__|\.py[co]$|node_modules|\.venv|_cache/|\.egg-info|\.log$|(^|/)\.env|(^|/)dist/"
    assert not [name for name in names if re.search(odd, name)]
