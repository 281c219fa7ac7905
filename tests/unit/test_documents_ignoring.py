"""Which files of a folder are read: `.gitignore` as git reads it, --include, --exclude."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from orienteer.errors import BadOption
from orienteer.ingest import Selection, ignore_pattern_of, list_documents

PATTERNS = [
    *("*.log", "!keep.log", "build/", "/top.txt", "a/b", "a/**", "**/b", "a/**/c", "b/", "!b/", "*", "!*/", "!*.md"),
    *("doc?.txt", "[a-c].txt", "[!a-c].txt", "[^x]*", "\\#x", "\\!x", "#no", "x\\ ", "x ", "a*b*c", "**", "/**", "**/"),
    *(
        "foo**",
        "a/*",
        "/a/*/c",
        "[[:alpha:]].md",
        "[z-a]",
        "[]]x",
        "a\\",
        "[",
        "a[",
        "*.[ch]",
        "*/c",
        "c/*.md",
        "/",
        "!",
    ),
    *("a/**/", "\ufeffx", "x\r", "b/**/*.md", "!a/keep.log", ".*", "!.x"),
]
NAMES = [
    "a",
    "b",
    "c",
    "x",
    "x ",
    "#x",
    "!x",
    "doc1.txt",
    "a.txt",
    "d.txt",
    "keep.log",
    "w.log",
    "q.md",
    "top.txt",
    ".x",
]


def _tree(folder: Path, dice: random.Random, depth: int = 0) -> None:
    for name in dice.sample(NAMES, 7):
        if depth < 3 and name in ("a", "b", "c", "x"):
            (folder / name).mkdir()
            _tree(folder / name, dice, depth + 1)
        else:
            (folder / name).write_text("words", encoding="utf-8")
    if dice.random() < (1.0 if depth == 0 else 0.3):
        (folder / ".gitignore").write_text("\n".join(dice.sample(PATTERNS, 4)), encoding="utf-8")


@pytest.mark.process
@pytest.mark.skipif(shutil.which("git") is None, reason="git is the judge")
@pytest.mark.parametrize("seed", range(12))
def test_the_files_that_are_read_are_those_that_git_would_add(tmp_path: Path, seed: int) -> None:
    _tree(tmp_path, random.Random(seed))
    git = ["git", "-c", "core.excludesFile=", "-c", "core.quotePath=false", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    told = subprocess.run([*git, "ls-files", "-zco", "--exclude-standard"], check=True, capture_output=True, text=True)
    expected = {
        name for name in told.stdout.split("\0") if name and not any(part.startswith(".") for part in name.split("/"))
    }
    assert {file.name for file in list_documents([tmp_path]).files} == expected


def test_rules_above_a_folder_of_a_repository_count_too(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*.log\n/docs/made.txt\nbuild/\n")
    for folder in ("docs", "build"):
        (tmp_path / folder).mkdir()
        for name in ("a.log", "made.txt", "b.txt"):
            (tmp_path / folder / name).write_text("words")
    assert [file.name for file in list_documents([tmp_path / "docs"]).files] == ["b.txt"]
    # What a person names is meant, ignored or not.
    assert [file.name for file in list_documents([tmp_path / "build"]).files] == ["a.log", "b.txt", "made.txt"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for name in (
        *("a.md", "b.txt", "sub/c.md", "sub/d.py", ".env", ".github/w.yml", ".github/.x.yml", "made/e.md"),
        *("made/f.log", "g.log", "sub/.hidden.md"),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("words")
    (root / ".gitignore").write_text("made/\n*.log\n")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("[core]")
    return root


@pytest.mark.parametrize(
    ("include", "exclude", "names"),
    [
        ((), (), ["a.md", "b.txt", "sub/c.md", "sub/d.py"]),
        (("*.md",), (), ["a.md", "sub/c.md"]),
        (("*.md", "*.py"), ("sub/c.*",), ["a.md", "sub/d.py"]),
        ((), ("*.md",), ["b.txt", "sub/d.py"]),
        (("sub",), (), ["sub/c.md", "sub/d.py"]),
        ((), ("sub/",), ["a.md", "b.txt"]),
        (("*.log",), (), ["g.log"]),
        (("made/*.log",), (), ["made/f.log"]),
        (("made",), (), ["made/e.md"]),
        (("made/**",), ("*.md",), ["made/f.log"]),
        ((".env",), (), [".env"]),
        ((".github",), (), [".github/w.yml"]),
        ((".github/*.yml",), (), [".github/w.yml"]),
        ((".github/.*",), (), [".github/.x.yml"]),
        ((".*",), (), [".env", ".github/w.yml", ".gitignore", "sub/.hidden.md"]),
        (("**",), ("*.md", "*.txt"), ["g.log", "made/f.log", "sub/d.py"]),
        (("nothing*",), (), []),
    ],
)
def test_include_and_exclude(folder: Path, include, exclude, names) -> None:
    found = list_documents([folder], Selection(include=include, exclude=exclude))
    assert [file.name for file in found.files] == names


def test_what_git_ignores_is_told(folder: Path) -> None:
    left_out = {(Path(file.file).name, file.reason) for file in list_documents([folder]).skipped}
    assert ("made", "ignored by .gitignore") in left_out
    assert ("g.log", "ignored by .gitignore") in left_out


@pytest.mark.parametrize("glob", ["", "#x", "a[", "a\\", "/"])
def test_a_pattern_that_can_fit_nothing_is_refused(glob: str) -> None:
    with pytest.raises(BadOption, match="fits no file"):
        Selection(include=(glob,))


def test_no_pattern_takes_long() -> None:
    pattern = ignore_pattern_of("*a" * 60 + "*b")
    assert pattern is not None
    started = time.perf_counter()
    assert not pattern.fits(["a" * 255], is_folder=False)
    deep = ignore_pattern_of("**/" * 60 + "b")
    assert deep is not None
    assert not deep.fits(["a"] * 100, is_folder=False)
    assert time.perf_counter() - started < 1
