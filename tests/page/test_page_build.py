"""The built page: what the package ships is what the sources give."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from browsing import PAGE

ROOT = Path(__file__).parents[2]
MOST_BYTES = 320_000
SHIPPED = {"page.js", "page.css", "layout.js", "free.js", "LICENSES.txt", "index.html"}


def files():
    return [file for file in PAGE.rglob("*") if file.is_file()]


def test_it_is_small_and_whole():
    assert {re.sub(r"-[0-9a-f]{10}(?=\.)", "", file.name) for file in files()} == SHIPPED
    assert sum(file.stat().st_size for file in files()) <= MOST_BYTES


def test_the_page_names_its_files_by_their_hashes():
    html = (PAGE / "index.html").read_text(encoding="utf-8")
    named = set(re.findall(r'"assets/([^"]+)"', html))
    assert len(named) == 2
    assert named <= {file.name for file in files()}
    script = next(PAGE.glob("assets/page-*.js")).read_text(encoding="utf-8")
    assert next(PAGE.glob("assets/layout-*.js")).name in script


def test_the_licences_of_the_libraries_are_there():
    text = (PAGE / "assets" / "LICENSES.txt").read_text(encoding="utf-8")
    for name in ("sigma 3.", "graphology 0.", "graphology-layout-forceatlas2 0.", "graphology-utils 2.", "events 3."):
        assert name in text
    assert text.count("Permission is hereby granted") == 5


def test_the_lock_file_names_no_registry():
    lock = (ROOT / "page" / "package-lock.json").read_text(encoding="utf-8")
    assert "resolved" not in lock
    assert "http" not in re.sub(r'"url": "https://[^"]+"', "", lock)  # where one may thank their makers
    assert lock.count('"integrity"') > 5


def test_every_language_says_everything():
    """A table of texts has the values and the plurals of the others."""
    source = (ROOT / "page" / "src" / "texts.ts").read_text(encoding="utf-8")
    english, german = (
        dict(re.findall(r'^  (\w+): "(.*)",$', table, re.M)) for table in source.split("const GERMAN")[:2]
    )
    assert english.keys() == german.keys()
    assert len(english) > 80
    for name, text in english.items():
        assert set(re.findall(r"{\w+}", text)) == set(re.findall(r"{\w+}", german[name])), name
        assert ("|" in text) == ("|" in german[name]), name


@pytest.mark.slow
def test_the_built_page_is_what_its_sources_give():
    if shutil.which("node") is None or not (ROOT / "page" / "node_modules").is_dir():
        pytest.skip("node or the page's libraries are not there: run npm ci in page/")
    told = subprocess.run([ROOT / "scripts" / "check-page"], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
