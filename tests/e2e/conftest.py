"""The command line as a person runs it, apart from what this machine has set."""

import json
import os
import subprocess
import sys
from typing import NamedTuple

import pytest
from platformdirs import user_config_path

from orienteer.serve import main


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Give an empty folder to work in, with a cache of its own and nothing set."""
    for name in list(os.environ):
        if name.startswith(("ORIENTEER_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ORIENTEER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ORIENTEER_VECTORS", "off")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.fixture
def users_file(home):
    """Give the settings file of the person's own, which is not there yet."""
    file = user_config_path("orienteer", appauthor=False) / "orienteer.toml"
    file.parent.mkdir(parents=True)
    return file


@pytest.fixture
def cli(home, capsys):
    """Give a function that runs a command line in this process."""

    def run(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


@pytest.fixture
def process(home):
    """Give a function that starts a command line in a process of its own."""

    def start(*arguments, **options):
        return subprocess.Popen(
            [sys.executable, "-m", "orienteer", *map(str, arguments)],
            stdout=options.pop("stdout", subprocess.PIPE),
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    return start


@pytest.fixture
def tables(home):
    """Give a folder of two tables about four people and three clubs."""
    folder = home / "clubs"
    folder.mkdir()
    nodes = [
        {"id": "ann", "type": "person", "name": "Ann", "text": "Plays chess and the violin.", "born": 1980},
        {"id": "bob", "type": "person", "name": "Bob", "text": "Plays chess."},
        {"id": "cat", "type": "person", "name": "Cat", "text": "Rows.", "born": 1990},
        {"id": "dan", "type": "person", "name": "Dan", "text": "Sings.", "aliases": ["Danny"]},
        {"id": "chess", "type": "club", "name": "Chess Club", "text": "Meets on Mondays."},
        {"id": "choir", "type": "club", "name": "Choir", "text": "Meets on Tuesdays."},
        {"id": "boats", "type": "club", "name": "Boats", "text": "Meets on the river."},
    ]
    edges = [
        ("ann", "member of", "chess"),
        ("bob", "member of", "chess"),
        ("ann", "member of", "choir"),
        ("dan", "member of", "choir"),
        ("cat", "member of", "boats"),
        ("ann", "leads", "choir"),
    ]
    (folder / "nodes.jsonl").write_text("".join(json.dumps(node) + "\n" for node in nodes))
    (folder / "edges.jsonl").write_text(
        "".join(json.dumps({"source": a, "type": kind, "target": b}) + "\n" for a, kind, b in edges)
    )
    return folder


@pytest.fixture
def clubs(tables, cli):
    """Give the graph of the tables."""
    target = tables.parent / "graph"
    ran = cli("import", tables, "-o", target)
    assert ran.code == 0, ran.err
    return target
