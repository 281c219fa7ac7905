"""What people ran into at the command line: full disks, pipes, large folders, bare groups, one graph of the cache."""

import io
import os
import shutil
import sys
from pathlib import Path

import pytest

from fakes.inside import inside
from orienteer.ingest import graph_directory

FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("is_buffered", [True, False])
@pytest.mark.parametrize("arguments", [["--help"], ["list", "graph", "-q"]])
def test_a_full_standard_output_is_one_line(process, clubs, monkeypatch, arguments, is_buffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", "" if is_buffered else "1")
    with FULL.open("w") as full:
        ran = process(*arguments, stdout=full)
        (error,) = (line for line in ran.communicate(timeout=60)[1].splitlines() if "error" in line or "rror:" in line)
    assert error.startswith("error: standard output: No space left on device")
    assert ran.returncode == 1


@pytest.fixture
def pipe(home):
    os.mkfifo(home / "pipe.csv")
    return home / "pipe.csv"


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", "pipe.csv", "who?"),
        ("info", "pipe.csv"),
        ("import", "pipe.csv", "-o", "made"),
        ("validate", "pipe.csv"),
        ("build", "pipe.csv", "-o", "made"),
        ("import", "clubs", "--nodes", "pipe.csv", "-o", "made"),
        ("import", "clubs", "--labels", "pipe.csv", "-o", "made"),
    ],
)
def test_a_pipe_as_a_source_is_refused_and_not_waited_for(cli, tables, pipe, arguments):
    ran = cli(*arguments)
    assert ran.code == 2
    assert ran.err.splitlines()[-1].startswith("error: ")
    assert "pipe.csv" in ran.err
    assert not Path("made").exists()


def test_a_pipe_within_a_folder_is_left_out(cli, home, pipe):
    (home / "a.md").write_text("# Ferries\n\nThe ferry leaves at nine.\n")
    ran = cli("search", ".", "ferry", "--json")
    assert (ran.code, "leaves at nine" in ran.out) == (0, True), ran.err


@pytest.fixture
def many(home, monkeypatch):
    """Give a folder of four texts, where three are many."""
    monkeypatch.setattr(inside(graph_directory), "MANY_FILES", 3)
    folder = home / "many"
    folder.mkdir()
    for at in range(4):
        (folder / f"{at}.txt").write_text(f"The ferry of day {at} leaves at nine.")
    return folder


def test_a_large_folder_is_not_read_unasked(cli, many):
    ran = cli("ask", many, "when does the ferry leave?")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        f"error: {many} holds more than 3 files: reading all of it takes a while: "
        "add --yes if that is meant, or name a smaller folder\n"
    )
    assert cli("cache", "info", "--json").json["graphs"] == []
    assert cli("ask", many, "when does the ferry leave?", "--yes").code == 0
    assert cli("search", many, "ferry").code == 0  # it was read: nobody is asked again


def test_many_bytes_are_a_large_folder_too(cli, many, monkeypatch):
    monkeypatch.setattr(inside(graph_directory), "MANY_FILES", 99)
    monkeypatch.setattr(inside(graph_directory), "MANY_BYTES", 100)
    assert "holds more than 0 MB" in cli("info", many).err
    assert cli("info", many, "-y").code == 0


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 2), ("\n", 2)])
def test_a_person_at_a_terminal_is_asked(cli, many, monkeypatch, answer, code):
    terminal = io.StringIO(answer)
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", terminal)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    ran = cli("search", many, "ferry")
    assert ran.code == code
    assert "Go on? [y/N]" in ran.err
    assert ("error: nothing was read" in ran.err) == (code == 2)


def test_files_that_are_not_read_do_not_count(cli, many):
    for at in range(9):
        (many / f"{at}.png").write_bytes(b"0")
        (many / f".hidden{at}.txt").write_text("hidden")
    (many / "3.txt").unlink()
    assert cli("search", many, "ferry").code == 0


@pytest.mark.parametrize("group", ["eval", "cache", "trace"])
def test_a_bare_group_shows_its_commands(cli, group):
    ran = cli(group)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == cli(group, "--help").out
    assert "Commands:" in ran.out


def test_methods_are_a_table(cli):
    lines = cli("methods").out.splitlines()
    listed = [method["name"] for method in cli("methods", "--json").json]
    assert lines[0].startswith("auto: ")
    assert lines[2].split() == ["method", "needs", "what", "it", "does"]
    assert [line.split()[0] for line in lines[3:]] == listed
    assert ["a model" in line[: lines[2].index("what")] for line in lines[3:]] == [
        method["needs_model"] for method in cli("methods", "--json").json
    ]
    more = "; --all lists the baselines of papers and the methods of packages, too"
    assert cli("methods").err == f"orienteer methods NAME shows the options of one{more}\n"
    assert len(listed) == 14
    assert listed < [method["name"] for method in cli("methods", "--all", "--json").json]


def cached(cli):
    return [Path(graph["path"]).name for graph in cli("cache", "info", "--json").json["graphs"]]


def test_one_graph_of_the_cache_is_cleared_by_its_source(cli, tables, home):
    shutil.copytree(tables, home / "others")
    for folder in ("clubs", "others"):
        assert cli("info", folder, "-q").code == 0
    shutil.rmtree(home / "others")
    assert len(cached(cli)) == 2
    assert cli("cache", "clear", "others", "--json").json["removed"] == 1  # its folder is gone
    (left,) = cached(cli)
    assert left.startswith("clubs-")
    assert cli("cache", "clear", left).out.startswith("removed 1 graph")
    assert cached(cli) == []


def test_a_graph_that_the_cache_does_not_hold_is_named(cli, tables):
    assert cli("info", "clubs", "-q").code == 0
    (name,) = cached(cli)
    ran = cli("cache", "clear", f"{name}x")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"error: the cache holds no graph of {name}x, and none of that name. Near: {name}.\n"
    assert "leave out DIR" in cli("cache", "clear", "clubs", "--vectors").err
    assert cached(cli) == [name]
