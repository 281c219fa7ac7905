"""cache and doctor over what lies beside a graph: vectors, Cypher's copy, and what was paid for."""

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from fakes import Answer, FakeServer
from fakes.embedder import WordEmbedder
from orienteer.graph import piece_folder, publish_piece
from orienteer.ingest import REPLIES_FILE, ReplyCache
from orienteer.llm import ChatRequest

WORDS = WordEmbedder()


@pytest.fixture
def server(home, monkeypatch):
    with FakeServer(lambda body, _: Answer(vectors=WORDS.embed(body["input"], kind="document").tolist())) as fake:
        monkeypatch.setenv("ORIENTEER_EMBEDDER_URL", fake.url)
        yield fake


def pieces(cli, graph):
    checkup = cli("doctor", graph, "--json")
    return checkup.code, checkup.json["graph"]["vectors"]


def test_a_graph_without_either(cli, clubs):
    assert pieces(cli, clubs) == (0, None)
    text = cli("doctor", clubs).out
    assert "vectors: none; orienteer embed makes them" in text


def test_doctor_tells_of_vectors_and_of_what_embeds_queries(cli, clubs, server, monkeypatch):
    assert cli("embed", clubs, "--embedder", "openai:fake").code == 0
    before = len(server.requests)
    code, vectors = pieces(cli, clubs)
    assert code == 0
    assert (vectors["embedder"], vectors["dimension"], vectors["nodes"], vectors["vectors"]) == (
        "openai:fake",
        48,
        7,
        7,
    )
    assert (vectors["nodes_without"], vectors["recall"], vectors["is_exact"]) == (0, 1.0, False)
    assert (vectors["embedder_available"], vectors["trouble"]) == (True, None)
    folder = piece_folder(clubs, "vectors")
    assert vectors["bytes"] == sum(file.stat().st_size for file in folder.iterdir() if file.name != "vectors.json")
    text = cli("doctor", clubs).out
    assert "vectors: 7 of 48 dimensions by openai:fake" in text
    assert "the index finds 100.0% of the nearest ten: their signs are scanned first; the embedder is there" in text
    assert len(server.requests) == before  # nothing is sent to see that

    monkeypatch.setenv("ORIENTEER_EMBEDDER_URL", "http://127.0.0.1:9/v1")
    _, vectors = pieces(cli, clubs)
    assert (vectors["embedder_available"], "another address" in vectors["trouble"]) == (False, True)
    monkeypatch.setenv("ORIENTEER_EMBEDDER_URL", "https://embeddings.example.org/v1")
    monkeypatch.setenv("ORIENTEER_OFFLINE", "1")
    assert "ORIENTEER_OFFLINE" in pieces(cli, clubs)[1]["trouble"]


def test_doctor_tells_of_vectors_that_are_cut_off(cli, clubs, server):
    assert cli("embed", clubs, "--embedder", "openai:fake").code == 0
    file = piece_folder(clubs, "vectors") / "half.f2"
    file.write_bytes(file.read_bytes()[:-1])
    code, vectors = pieces(cli, clubs)
    assert (code, list(vectors)) == (1, ["damaged"])
    ran = cli("doctor", clubs)
    assert ran.code == 1
    assert f"damaged: {file}" in ran.out
    assert f"vectors: damaged; run orienteer embed {clubs} again" in ran.out


def test_doctor_says_where_no_hashes_were_kept(cli, clubs, server):
    assert cli("embed", clubs, "--embedder", "openai:fake").code == 0
    folder = piece_folder(clubs, "vectors")
    pointer = json.loads((clubs / "orienteer.json").read_text(encoding="utf-8"))
    pointer["pieces"]["vectors"] = folder.name
    (clubs / "orienteer.json").write_text(json.dumps(pointer), encoding="utf-8")
    ran = cli("doctor", clubs)
    assert ran.code == 0
    assert f"vectors: not checked: {folder} was made without hashes" in ran.out
    assert "vectors: 7 of 48 dimensions" in ran.out


def test_doctor_tells_that_an_old_copy_may_be_deleted(cli, clubs):
    publish_piece(clubs, "cypher", lambda work: (work / "catalog.json").write_text("{}"))
    folder = piece_folder(clubs, "cypher")
    assert f"{folder} may be deleted" in cli("doctor", clubs).out
    assert cli("cypher", clubs, "MATCH (n) RETURN count(*)").code == 0


def test_the_cache_tells_of_all_it_holds_and_keeps_what_was_paid_for(cli, tables, home, server):
    assert cli("embed", tables, "--embedder", "openai:fake").code == 0
    cache = home.parent / "cache"
    ReplyCache(cache / "replies").put(ChatRequest(model="m", messages=()), "a reply")
    (cache / "vectors" / "mine").mkdir()
    contents = cli("cache", "info", "--json").json
    assert [len(contents[kind]) for kind in ("graphs", "vectors", "replies")] == [1, 1, 1]
    (vectors,) = contents["vectors"]
    assert vectors["bytes"] == sum(file.stat().st_size for file in (cache / "vectors").rglob("*") if file.is_file()) > 0
    assert contents["bytes"] == sum(
        entry["bytes"] for kind in ("graphs", "vectors", "replies") for entry in contents[kind]
    )
    assert "1 graph, vectors of 1 embedder, replies of models, " in cli("cache", "info").out

    cleared = cli("cache", "clear", "--json").json
    assert (cleared["removed"], cleared["kept"].keys()) == (1, {"vectors", "replies"})
    before = len(server.requests)
    assert cli("embed", tables, "--embedder", "openai:fake").code == 0
    assert len(server.requests) == before  # the graph is made again, its vectors are there
    ran = cli("cache", "clear", "--vectors")
    assert "removed 1 graph, vectors of 1 embedder, " in ran.out
    assert "kept: replies, " in ran.err
    assert "--replies" in ran.err
    assert (cache / "vectors" / "mine").is_dir()
    assert cli("embed", tables, "--embedder", "openai:fake").code == 0
    assert len(server.requests) > before
    ran = cli("cache", "clear", "--vectors", "--replies")
    assert "replies of models" in ran.out
    assert "kept" not in ran.err
    assert not (cache / "replies").exists()
    assert cli("cache", "info", "--json").json["bytes"] == 0


def test_what_somebody_put_beside_replies_or_vectors_keeps_them(cli, home):
    cache = home.parent / "cache"
    ReplyCache(cache / "replies").put(ChatRequest(model="m", messages=()), "a reply")
    (cache / "replies" / "notes.txt").write_text("mine", encoding="utf-8")
    embedder = cache / "vectors" / ("a" * 32)
    embedder.mkdir(parents=True)
    (embedder / "notes.txt").write_text("mine", encoding="utf-8")
    assert cli("cache", "clear", "--vectors", "--replies", "--json").json["removed"] == 0
    assert (cache / "replies" / REPLIES_FILE).exists()
    assert (embedder / "notes.txt").exists()


def test_a_graph_that_the_cache_did_not_make_is_somebodys_own(cli, clubs, home):
    graphs = home.parent / "cache" / "graphs"
    shutil.copytree(clubs, graphs / "mine")
    shutil.copytree(clubs, graphs / "clubs-0123456789ab")
    assert cli("cache", "clear", "--json").json["removed"] == 1
    assert [file.name for file in graphs.iterdir()] == ["mine"]


def test_a_link_in_the_cache_is_somebodys_own(cli, clubs, home):
    graphs = home.parent / "cache" / "graphs"
    graphs.mkdir(parents=True, exist_ok=True)
    (graphs / "mine").symlink_to(clubs, target_is_directory=True)
    assert cli("cache", "info", "--json").json["graphs"] == []
    assert cli("cache", "clear", "--json").json["removed"] == 0
    assert (graphs / "mine" / "orienteer.json").exists()


def test_nothing_is_removed_through_a_linked_folder_of_the_cache(cli, clubs, home, tmp_path):
    graphs = home.parent / "cache" / "graphs"
    graphs.parent.mkdir(exist_ok=True)
    shutil.copytree(clubs, tmp_path / "mine" / "clubs-0123456789ab")
    graphs.symlink_to(tmp_path / "mine", target_is_directory=True)
    before = sorted((tmp_path / "mine").rglob("*"))
    ran = cli("cache", "clear")
    assert ran.code == 2
    assert "is a link" in ran.err
    assert sorted((tmp_path / "mine").rglob("*")) == before


@pytest.mark.parametrize("place", ["mine", "generations/mine", "pieces/mine"])
def test_what_somebody_put_into_a_graph_of_the_cache_stays(cli, clubs, home, place):
    copy = home.parent / "cache" / "graphs" / "clubs-0123456789ab"
    shutil.copytree(clubs, copy)
    mine = copy / place / "thesis.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    assert cli("cache", "clear", "--json").json["removed"] == 1
    assert mine.read_text() == "mine"
    assert sorted(file for file in copy.rglob("*") if file.is_file()) == [mine]
    assert cli("cache", "clear", "--json").json["removed"] == 0


@pytest.mark.skipif(os.name != "posix", reason="Windows has no modes")
def test_the_demo_is_made_in_a_cache_that_is_closed(cli, home):
    assert cli("demo").code == 0
    cache = Path(os.environ["ORIENTEER_CACHE"])
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (cache, *cache.iterdir())} == {0o700}
    cache.chmod(0o770)
    ran = cli("demo")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert f"chmod 700 {cache}" in ran.err
