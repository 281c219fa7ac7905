"""`orienteer build` that is interrupted or killed at ten places: the target is as before or whole, the next build too.

The places are lines of its progress on a terminal: files read of 194, stages, and the moment of publishing.
"""

from __future__ import annotations

import json
import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from office_files import pdf
from orienteer.graph import damaged_files, is_graph

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.platform == "win32", reason="a terminal, SIGKILL"),
]

FILES = 194
NAMES = ["Ada Holm", "Noor Vik", "Salt Bay", "Night Ferry", "Low Tide", "Mill Lane", "Crane Seven", "Harbour Office"]
WORDS = [
    "the",
    "crew",
    "of",
    "a",
    "boat",
    "pays",
    "its",
    "fees",
    "when",
    "it",
    "lands",
    "late",
    "at",
    "night",
    "and",
    "sails",
    "before",
    "the",
    "tide",
    "turns",
]
PUBLISHED, TABLES = LAST = ("published", "tables")
PLACES = (
    *(f"{count} of {FILES}" for count in (10, 70, 130, 190)),
    *("reading edges", "indexing nodes", "sorting edges", "publishing"),
    *LAST,
)
POINTER = "orienteer.json"
WHOLE = {POINTER, "generations", "pieces", ".lock"}
"""What a graph's folder holds when nobody writes there."""
_ONCE = re.compile(
    rb'"(created|manifest|folder|sha256)": "[^"]*"|"(modified|changed)": \d+|"/[^"]*"|,\s*"places": \[[^]]*\]'
)
"""Times, what follows from them, and paths."""
_GENERATION = re.compile(r"\d{8}T\d{6}-[0-9a-f]{8}")
_PIECE = re.compile(r"-[0-9a-f]{8}/")


class Broken(NamedTuple):
    """A build that was to be ended at a place."""

    code: int
    said: str


@pytest.fixture
def docs(home: Path) -> Path:
    """Text, Markdown, web pages, mail, tables and a PDF."""
    chance, folder = random.Random(5), home / "docs"
    folder.mkdir()
    pdf(folder / "000.pdf", "Ada Holm sails the Night Ferry from Salt Bay.", "Its fees are paid late.")
    for at in range(1, FILES):
        lines = [" ".join((*chance.choices(WORDS, k=14), "with", chance.choice(NAMES))) + "." for _ in range(30)]
        text = "\n\n".join(" ".join(lines[begin : begin + 6]) for begin in range(0, 30, 6))
        kinds = {
            "txt": text,
            "md": f"# Notes {at}\n\n{text}\n\nSee [more]({at + 1:03}.html).\n",
            "html": f"<h1>Notes {at}</h1><p>{'<p>'.join(text.splitlines())}",
            "eml": f"From: ada@holm.example\nSubject: Fees {at}\nMessage-ID: <{at}@holm.example>\n\n{text}\n",
            "csv": "Boat,Fee\n" + "".join(f"Boat {row},{chance.randrange(90)}\n" for row in range(20)),
        }
        kind = list(kinds)[at % len(kinds)]
        (folder / f"{at:03}.{kind}").write_text(kinds[kind], encoding="utf-8")
    return folder


def contents(target: Path) -> dict[str, bytes]:
    """Return the files of a graph, without its times, random names and what an ended build left for the next writer."""
    files = {}
    current = json.loads(_pointer(target) or b"{}").get("generation")
    for path in target.rglob("*"):
        parts = path.relative_to(target).parts
        if path.is_file() and not parts[0].startswith(".new-") and (len(parts) == 1 or parts[1] == current):
            name = _PIECE.sub("/", _GENERATION.sub("", str(path.relative_to(target))))
            content = path.read_bytes()
            if path.suffix == ".json":
                content = _ONCE.sub(b"", _GENERATION.sub("", content.decode()).encode())
            files[name] = content
    return files


def broken(command: list[object], target: Path, place: str, sent: signal.Signals) -> Broken:
    """Build on a terminal of its own, send a signal at a place, and return how it ended."""
    import pty

    before, said, is_sent = _pointer(target), "", False
    controller, terminal = pty.openpty()
    arguments = [sys.executable, "-m", "orienteer", *map(str, command), "-o", str(target)]
    with subprocess.Popen(arguments, stdin=terminal, stdout=subprocess.DEVNULL, stderr=terminal) as building:
        os.close(terminal)
        while building.poll() is None or select.select([controller], [], [], 0)[0]:
            if select.select([controller], [], [], 0.001)[0] and (part := _read(controller)):
                said += part
            elif building.poll() is not None:
                break
            if place == PUBLISHED:
                is_here = _pointer(target) != before
            else:
                is_here = _plans_tables(target) if place == TABLES else place in said
            if not is_sent and is_here:
                building.send_signal(sent)
                is_sent = True
    os.close(controller)
    return Broken(building.returncode, said)


def _pointer(target: Path) -> bytes:
    return (target / POINTER).read_bytes() if is_graph(target) else b""


def _plans_tables(target: Path) -> bool:
    with suppress(FileNotFoundError):  # folders come and go
        return any(target.glob(".new-*/*/tables"))
    return False


def _read(controller: int) -> str:
    try:
        return os.read(controller, 65536).decode(errors="replace")
    except OSError:  # Linux says so when nobody holds the other end
        return ""


def generation(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files of a graph itself, without those beside it."""
    return {name: content for name, content in files.items() if name.startswith("generations")}


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
@pytest.mark.parametrize("is_new", [True, False], ids=["no graph before", "a graph before"])
def test_a_build_ended_at_ten_places(cli, docs, home, monkeypatch, sent, is_new):
    temporary = home / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    command = ["build", docs, "--embedder", "none"]
    assert cli(*command, "-o", home / "unbroken").code == 0
    unbroken, older = contents(home / "unbroken"), dict[str, bytes]()
    target, force = home / "graph", [] if is_new else ["--force"]
    for place in PLACES:
        for _ in range(9):  # it may be done before the signal comes
            shutil.rmtree(target, ignore_errors=True)
            if not is_new:
                assert cli(*command, "--include", "*.md", "-o", target).code == 0
                older = contents(target)
            ended = broken([*command, *force], target, place, sent)
            if ended.code:
                break
        assert ended.code == (130 if sent == signal.SIGINT else -sent), (place, ended.said)
        kept = [int(count) for count in re.findall(r"kept: (\d+) of", ended.said)]
        assert not is_graph(target) or damaged_files(target) == [], place
        found = generation(contents(target))
        is_whole = found == generation(unbroken)  # but for the pieces beside it
        assert is_whole or kept or found == generation(older), place
        assert is_whole or place not in LAST, place
        assert bool(kept) == (sent == signal.SIGINT and is_new and not is_whole), place
        if kept:
            assert kept[0] >= (int(place.split()[0]) if " of " in place else FILES), place
        update = ["--update"] if is_new and is_whole else force
        again = cli(*command, *update, "-o", target, "--json")
        assert again.code == 0, (place, again.err)
        assert again.json["unchanged"] == (kept[0] if kept else FILES if update == ["--update"] else None), place
        assert contents(target) == unbroken, place
        assert {path.name for path in target.iterdir()} == WHOLE, place
        assert len(list((target / "generations").iterdir())) == 1, place
        assert list(temporary.iterdir()) == [], place
