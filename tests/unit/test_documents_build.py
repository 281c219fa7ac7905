"""A folder of documents as a graph: whole, again after changes, hostile files left out, one clear line each."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path

import pytest

from fakes.embedder import WordEmbedder
from fakes.inside import inside
from orienteer.errors import BadInput, BadOption, DuplicateNode
from orienteer.graph import NAMES_PIECE, Graph, embed_graph, piece_folder
from orienteer.ingest import (
    VECTORS_GONE,
    BuildConfig,
    BuildOptions,
    build_graph,
    graph_directory,
    holds_prose,
    is_stale,
    list_documents,
)
from orienteer.retrieval import Spaces, open_incidence, source_of_node

pytestmark = pytest.mark.slow

GUIDE = """# Guide

See [the other](notes/other.md#deep) by Ada Holm.

## Use

| Who | Year |
|---|---|
| Ada Holm | 1990 |
"""
OTHER = (
    "# Other\n\nIntro of Noor Vik.\n\n"
    + "Plain words follow here. " * 60
    + "\n\n## Deep\n\nHere Ada Holm met Noor Vik.\n"
)
PAGE = "<title>Ada Holm</title><p>She wrote the Guide."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "notes").mkdir(parents=True)
    (root / "guide.md").write_text(GUIDE, encoding="utf-8")
    (root / "notes" / "other.md").write_text(OTHER, encoding="utf-8")
    (root / "ada.html").write_text(PAGE, encoding="utf-8")
    (root / "people.csv").write_text("Name,Town\nAda Holm,Łódź\nNoor Vik,Salt Bay\n", encoding="utf-8")
    (root / ".hidden.md").write_text("secret", encoding="utf-8")
    return root


def built(source: Path, target: Path, **options):
    return build_graph([source], target, options=BuildOptions(**options))


def nodes_of(path: Path):
    graph = Graph.open(path)
    return {node_id: graph.node(node_id) for node_id in graph.node_ids()}


def edges_of(path: Path):
    return {(edge.source, edge.type, edge.target): edge for edge in Graph.open(path).iter_edges()}


def test_a_folder_becomes_documents_chunks_and_tables(folder, tmp_path):
    report = built(folder, tmp_path / "graph")
    nodes = nodes_of(tmp_path / "graph")
    assert report.documents == 4
    assert report.nodes == len(nodes)
    assert {node_id for node_id, node in nodes.items() if node.type == "document"} == {
        "ada.html",
        "guide.md",
        "notes/other.md",
        "people.csv",
    }
    assert nodes["guide.md#1"].type == "table"
    assert nodes["guide.md#1"].name == "Guide > Use"
    assert "secret" not in "".join(node.text for node in nodes.values())
    assert report.edges == sum(report.edge_types.values()) == len(list(Graph.open(tmp_path / "graph").iter_edges()))


def test_its_edges(folder, tmp_path):
    built(folder, tmp_path / "graph")
    edges = edges_of(tmp_path / "graph")
    assert ("guide.md#1", "part_of", "guide.md") in edges
    assert ("guide.md#0", "next", "guide.md#1") in edges
    deep = next(
        node_id
        for node_id, node in nodes_of(tmp_path / "graph").items()
        if "deep" in node.properties.get("anchors", ())
    )
    assert ("guide.md#0", "links_to", deep) in edges
    # The page is titled Ada Holm: cells and texts that say so mention it.
    assert edges["people.csv#0", "mentions", "ada.html#0"].properties == {
        "names": ["Ada Holm"],
        "rows": [1],
        "columns": [0],
    }
    assert ("guide.md#0", "mentions", "ada.html#0") in edges
    assert "shares_names" in Graph.open(tmp_path / "graph").schema.symmetric


def test_chunks_say_where_they_come_from(folder, tmp_path):
    built(folder, tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph")
    source = source_of_node(graph, graph.arrays.row("guide.md#1"))
    assert source.model_dump() == {"file": "guide.md", "line": 7, "page": None, "heading": "Use", "rows": "1"}
    deep = graph.node(next(one for one in graph.node_ids() if "met" in graph.node(one).text))
    start, end = deep.properties["span"]
    assert OTHER[start:end].endswith("met Noor Vik.")


def test_other_graphs_have_no_source(small):
    assert source_of_node(small, 0) is None


def test_the_same_folder_gives_the_same_graph(folder, tmp_path):
    built(folder, tmp_path / "one")
    built(folder, tmp_path / "two")
    assert nodes_of(tmp_path / "one") == nodes_of(tmp_path / "two")
    assert edges_of(tmp_path / "one") == edges_of(tmp_path / "two")


def test_an_update_leaves_what_did_not_change_byte_for_byte(folder, tmp_path):
    target = tmp_path / "graph"
    built(folder, target)
    before = nodes_of(target)
    (folder / "guide.md").write_text("# Guide\n\nAnew, by Zoe Quill.\n", encoding="utf-8")
    (folder / "ada.html").unlink()
    (folder / "fresh.txt").write_text("Fresh words of Zoe Quill.", encoding="utf-8")
    os.utime(folder / "people.csv")  # touched, not changed
    assert is_stale(Graph.open(target).arrays.manifest)

    report = built(folder, target, update=True)
    after = nodes_of(target)
    assert (report.unchanged, report.changed, report.added, report.removed) == (2, 1, 1, 1)
    kept = {one for one in before if one.startswith(("notes/", "people"))}
    assert {one: before[one] for one in kept} == {one: after[one] for one in kept}
    assert not {one for one in after if one.startswith("ada.html")}
    graph = Graph.open(target)
    assert {hit.id for hit in graph.search("Quill", 5)} == {"fresh.txt#0", "guide.md#0"}
    assert graph.search("wrote", 5) == ()  # it stood in the page that is gone
    assert ("fresh.txt#0", "shares_names", "guide.md#0") in edges_of(target)
    assert not is_stale(graph.arrays.manifest)


def test_an_update_gives_the_graph_that_building_anew_would(folder, tmp_path):
    (folder / "rows.jsonl").write_text(
        "".join(
            json.dumps({"id": at, "title": f"Row {at}", "text": "Ada Holm. " * at * 60}) + "\n" for at in range(12)
        ),
        encoding="utf-8",
    )
    built(folder, tmp_path / "graph")
    (folder / "guide.md").write_text("# Guide\n\nNoor Vik anew.\n", encoding="utf-8")
    built(folder, tmp_path / "graph", update=True)
    built(folder, tmp_path / "anew")
    assert nodes_of(tmp_path / "graph") == nodes_of(tmp_path / "anew")
    assert edges_of(tmp_path / "graph") == edges_of(tmp_path / "anew")


def test_an_update_may_leave_out_the_sources(folder, tmp_path):
    built(folder, tmp_path / "graph")
    report = build_graph([], tmp_path / "graph", options=BuildOptions(update=True))
    assert (report.unchanged, report.changed) == (4, 0)


def test_an_update_goes_by_the_options_of_its_graph(folder, tmp_path):
    config = BuildConfig(tokens=32, thresholds=("content=0.5",))
    built(folder, tmp_path / "graph", config=config)
    (folder / "guide.md").write_text(
        "# Guide\n\n" + "Ten more words that make up a sentence of this. " * 9, encoding="utf-8"
    )
    built(folder, tmp_path / "graph", update=True)
    built(folder, tmp_path / "anew", config=config)
    assert nodes_of(tmp_path / "graph") == nodes_of(tmp_path / "anew")


def test_an_update_needs_a_graph_made_with_the_same_options(folder, tmp_path, small):
    with pytest.raises(BadInput, match="no graph yet"):
        built(folder, tmp_path / "graph", update=True)
    built(folder, tmp_path / "graph")
    with pytest.raises(BadOption, match="tokens"):
        built(folder, tmp_path / "graph", update=True, config=BuildConfig(tokens=64))
    with pytest.raises(BadInput, match="was not made by build"):
        built(folder, small.path, update=True)


def test_an_update_says_that_vectors_made_afterwards_are_gone(folder, tmp_path):
    built(folder, tmp_path / "graph")
    assert not any("vectors" in note for note in built(folder, tmp_path / "graph", update=True).notes[1:])
    embed_graph(Graph.open(tmp_path / "graph"), WordEmbedder(), cache=tmp_path / "cache")
    report = built(folder, tmp_path / "graph", update=True)
    assert any("its vectors belonged to the previous graph" in note for note in report.notes)
    assert VECTORS_GONE not in Graph.open(tmp_path / "graph").arrays.manifest.provenance["notes"]


@pytest.mark.process
def test_staleness(folder, tmp_path):
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 and no more")
    pytest.importorskip("pypdfium2")
    report = built(folder, tmp_path / "graph")
    assert len(report.unreadable) == 1
    manifest = Graph.open(tmp_path / "graph").arrays.manifest
    assert not is_stale(manifest)  # what could not be read then is no news
    (folder / "new.md").write_text("new", encoding="utf-8")
    assert is_stale(manifest)
    (folder / "new.md").unlink()
    assert not is_stale(manifest)
    (folder / "guide.md").unlink()
    assert is_stale(manifest)


def test_a_name_in_a_deleted_file_joins_nothing_any_more(folder, tmp_path):
    built(folder, tmp_path / "graph")
    assert any(kind == "mentions" for _, kind, _ in edges_of(tmp_path / "graph"))
    (folder / "ada.html").unlink()
    built(folder, tmp_path / "graph", update=True)
    assert not [edge for edge in edges_of(tmp_path / "graph").values() if "ada.html" in edge.target]


# ----------------------------------------------------------------------------------------------------- what is left out


def reasons(report):
    return {Path(one.file).name: one.reason for one in (*report.unreadable, *report.skipped)}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no such files there")
def test_hostile_files_are_one_line_each(folder, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text("Not yours.", encoding="utf-8")
    (folder / "link.md").symlink_to(outside)
    (folder / "dangling.md").symlink_to(tmp_path / "nowhere")
    (folder / "ring.md").symlink_to(folder / "ring.md")
    (folder / "up").symlink_to(tmp_path, target_is_directory=True)
    (folder / "inner.md").symlink_to(folder / "guide.md")
    os.mkfifo(folder / "pipe.md")
    (folder / "empty.md").write_bytes(b"")
    (folder / "blank.md").write_text("\n \n", encoding="utf-8")
    (folder / "binary.txt").write_bytes(b"\x7fELF\0\0")
    (folder / "cut.csv").write_text("a,b\n1,2,3\n", encoding="utf-8")
    (folder / "broken.jsonl").write_text('{"a": 1}\n{"a": \n', encoding="utf-8")
    (folder / "lfs.md").write_text("version https://git-lfs.github.com/spec/v1\noid", encoding="utf-8")
    (folder / "photo.png").write_bytes(b"\x89PNG")
    report = built(folder, tmp_path / "graph")
    found = reasons(report)
    assert set(found) == {
        *("link.md", "dangling.md", "ring.md", "up", "pipe.md", "empty.md", "blank.md", "binary.txt", "cut.csv"),
        *("broken.jsonl", "lfs.md", "photo.png"),
    }
    assert found["link.md"] == "a link out of the folder"
    assert found["photo.png"] == "pictures"
    assert all("\n" not in reason for reason in found.values())
    texts = "".join(node.text for node in nodes_of(tmp_path / "graph").values())
    assert "Not yours" not in texts
    assert "inner.md" in nodes_of(tmp_path / "graph")
    rendered = report.render()
    assert all(name in report.render(is_verbose=True) for name in found)
    assert "photo.png" in rendered


def test_strict_refuses_what_cannot_be_read_and_writes_nothing(folder, tmp_path):
    (folder / "empty.md").write_bytes(b"")
    with pytest.raises(BadInput, match=r"--strict: 1 document cannot be read.*empty"):
        built(folder, tmp_path / "graph", strict=True)
    assert not (tmp_path / "graph").exists()


def test_one_bad_row_leaves_out_the_whole_file_and_no_part_of_it(folder, tmp_path):
    rows = [json.dumps({"id": at, "title": f"Row {at}", "text": "Words."}) for at in range(6_000)]
    (folder / "rows.jsonl").write_text("\n".join([*rows, "{broken"]), encoding="utf-8")
    report = built(folder, tmp_path / "graph")
    assert "broken JSON" in reasons(report)["rows.jsonl"]
    assert not any(node_id.startswith("rows.jsonl") for node_id in nodes_of(tmp_path / "graph"))


def test_a_file_that_is_left_out_is_not_counted(folder, tmp_path):
    rows = [json.dumps({"id": at, "title": f"Row {at}", "text": "Words."}) for at in range(6_000)]
    (folder / "rows.jsonl").write_text("\n".join([*rows, "{broken"]), encoding="utf-8")
    report = built(folder, tmp_path / "graph")
    assert report.documents == 4
    assert report.documents + report.chunks + report.tables == report.nodes


def test_rows_of_one_id_leave_out_their_file_and_nothing_else(folder, tmp_path):
    (folder / "rows.csv").write_text("id,title,text\n1,Ox,Eats.\n1,Cow,Eats.\n", encoding="utf-8")
    report = built(folder, tmp_path / "graph")
    assert reasons(report) == {"rows.csv": "2 rows have the id 'rows.csv#1': give each its own"}


def test_rows_without_text_are_noted(folder, tmp_path):
    (folder / "rows.csv").write_text("id,title,text\n1,Ox,Eats.\n2,Cow,\n", encoding="utf-8")
    report = built(folder, tmp_path / "graph")
    assert "1 row of tables left out for want of a text (first: rows.csv#2)" in report.notes


def test_an_update_of_a_corpus_says_what_became_of_it(tmp_path):
    corpus = tmp_path / "x_corpus.json"
    corpus.write_text(json.dumps([{"title": "A", "text": "Ada Holm.", "idx": 0}]), encoding="utf-8")
    built(corpus, tmp_path / "graph")
    again = built(corpus, tmp_path / "graph", update=True)
    assert (again.unchanged, again.changed, again.added, again.removed) == (1, 0, 0, 0)
    corpus.write_text(json.dumps([{"title": "A", "text": "Noor Vik.", "idx": 0}]), encoding="utf-8")
    again = built(corpus, tmp_path / "graph", update=True)
    assert (again.unchanged, again.changed, again.added, again.removed) == (0, 1, 0, 0)


@pytest.mark.parametrize(
    "wrong",
    [{"least_rows": -3}, {"least_sentences": 0}, {"strongest": 0}, {"shared_most": -1}, {"seconds": float("nan")}],
)
def test_options_without_sense_are_refused(wrong):
    (name,) = wrong
    with pytest.raises(BadOption, match=name):
        BuildConfig(**wrong)


def test_odd_encodings_and_huge_cells_are_noted(tmp_path):
    (tmp_path / "old.txt").write_bytes("café and naïve words".encode("cp1252"))
    (tmp_path / "wide.csv").write_text("a,b\n1," + "x" * 5_000 + "\n", encoding="utf-8")
    report = built(tmp_path, tmp_path / "graph")
    assert any("old.txt: no UTF-8, read as Windows-1252" in note for note in report.notes)
    assert any("1 cell of tables cut off" in note for note in report.notes)
    assert nodes_of(tmp_path / "graph")["old.txt#0"].text == "café and naïve words"


def test_what_is_too_large_is_left_out_before_it_is_read(folder, tmp_path):
    with gzip.open(folder / "bomb.csv.gz", "wb") as packed:
        packed.write(b"a,b\n" + b"1,2\n" * 400_000)
    (folder / "large.txt").write_text("words " * 200_000, encoding="utf-8")
    (folder / "long.csv").write_text("a,b\n" + "1,2\n" * 60, encoding="utf-8")
    found = reasons(built(folder, tmp_path / "graph", config=BuildConfig(largest_mb=1, most_rows=50)))
    assert found["bomb.csv.gz"] == "unpacks to more than largest_mb = 1"
    assert found["large.txt"].startswith("1 MB, more than")
    assert found["long.csv"].startswith("more than most_rows = 50 rows")


def test_nothing_to_read_is_an_error_that_says_why(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "empty.md").write_bytes(b"")
    with pytest.raises(BadInput, match=r"no document .* could be read: empty\.md: empty"):
        built(tmp_path / "docs", tmp_path / "graph")
    with pytest.raises(BadInput, match="does not exist"):
        built(tmp_path / "nowhere", tmp_path / "graph")
    (tmp_path / "none").mkdir()
    with pytest.raises(BadInput, match=r"no document in .*none: put text files there"):
        built(tmp_path / "none", tmp_path / "graph")


def test_a_graph_in_a_folder_of_documents_is_left_out_whole(folder, tmp_path):
    built(folder, folder / "graph")
    report = built(folder, tmp_path / "again")
    assert reasons(report) == {"graph": "a graph"}
    assert nodes_of(folder / "graph") == nodes_of(tmp_path / "again")
    assert not is_stale(Graph.open(folder / "graph").arrays.manifest)


def test_a_source_within_another_is_refused(folder):
    for sources in ([folder, folder / "guide.md"], [folder / "notes", folder]):
        with pytest.raises(BadInput, match="which is read whole"):
            list_documents(sources)


def test_two_sources_of_one_name_are_refused_and_others_are_told_apart(tmp_path):
    for name in ("a/docs", "b/docs", "c/more"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "x.md").write_text(f"Text {name}.", encoding="utf-8")
    with pytest.raises(BadInput, match="two sources are called 'docs'"):
        list_documents([tmp_path / "a" / "docs", tmp_path / "b" / "docs"])
    build_graph([tmp_path / "a" / "docs", tmp_path / "c" / "more"], tmp_path / "graph")
    assert {"docs/x.md", "more/x.md"} <= nodes_of(tmp_path / "graph").keys()


def test_corpora_that_share_ids_are_refused(tmp_path):
    for name in ("one_corpus.jsonl", "two_corpus.jsonl"):
        (tmp_path / name).write_text(f'{{"pid": 1, "title": "A", "text": "{name}"}}\n', encoding="utf-8")
    with pytest.raises(DuplicateNode, match="build the corpora one by one"):
        built(tmp_path, tmp_path / "graph")


def test_meaning_needs_an_embedder(folder, tmp_path):
    with pytest.raises(BadOption, match=r"--chunks semantic .*--embedder none"):
        built(folder, tmp_path / "graph", chunks="semantic")
    assert built(folder, tmp_path / "graph").chunking == "tokens"


@pytest.mark.parametrize("asked", [{"chunks": "tokens"}, {"extract": "triples"}])
def test_what_a_build_lacks_is_told(folder, tmp_path, asked):
    notes = built(folder, tmp_path / "graph", **asked).notes
    assert any("no vectors join chunks" in note for note in notes)
    assert any("finds no statements" in note for note in notes) == ("extract" in asked)


def test_a_graph_is_opened_without_the_extra_that_read_its_sources(folder, tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    file = folder / "corpus.parquet"
    pq.write_table(pa.table({"pid": ["1"], "title": ["Ferry"], "text": ["It crosses the sound."]}), file)
    built(folder, tmp_path / "graph")
    manifest = Graph.open(tmp_path / "graph").arrays.manifest
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert not is_stale(manifest)
    os.utime(file, ns=(1, 1))
    assert is_stale(manifest)


def test_what_no_build_could_read_now_is_a_change(folder, tmp_path):
    pytest.importorskip("pyarrow")
    built(folder, tmp_path / "graph")
    (folder / "half.parquet").write_bytes(b"PAR1")
    assert is_stale(Graph.open(tmp_path / "graph").arrays.manifest)


# ------------------------------------------------------------------------------------- documents where a graph stands


def test_a_folder_of_documents_stands_for_a_graph(folder, tmp_path):
    cache = tmp_path / "cache"
    made = graph_directory(folder, cache=cache)
    assert "guide.md" in nodes_of(made)
    first = Graph.open(made).arrays.manifest.generation
    assert graph_directory(folder, cache=cache) == made
    assert Graph.open(made).arrays.manifest.generation == first
    (folder / "guide.md").write_text("# Anew\n\nOther words.", encoding="utf-8")
    graph_directory(folder, cache=cache)
    assert nodes_of(made)["guide.md"].name == "Anew"


def test_a_folder_of_tables_with_a_readme_is_still_a_graph_of_tables(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "README.md").write_text("# About", encoding="utf-8")
    (tmp_path / "tables" / "nodes.csv").write_text("id,name\na,A\nb,B\n", encoding="utf-8")
    (tmp_path / "tables" / "edges.csv").write_text("source,type,target\na,r,b\n", encoding="utf-8")
    assert not holds_prose(tmp_path / "tables")
    graph = Graph.open(graph_directory(tmp_path / "tables", cache=tmp_path / "cache"))
    assert list(graph.node_ids()) == ["a", "b"]


def test_unclear_tables_alone_are_read_by_row_and_that_is_told(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "x.csv").write_text("7,8,9\n1,2,3\n4,5,6\n", encoding="utf-8")
    told = []
    made = graph_directory(tmp_path / "tables", cache=tmp_path / "cache", progress=lambda text, _: told.append(text))
    assert nodes_of(made)["x.csv#0"].text == "7 | 8 | 9\n1 | 2 | 3\n4 | 5 | 6"
    assert told[-1].endswith(
        f"its tables are read row by row, for they are no clear graph: orienteer validate {tmp_path / 'tables'} "
        "says how to make one of them"
    )


def test_tables_that_say_nothing_of_themselves_are_a_graph_all_the_same(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "x.csv").write_text("q,w\n1,2\n1,2\n", encoding="utf-8")
    made = nodes_of(graph_directory(tmp_path / "tables", cache=tmp_path / "cache"))
    assert [(node.type, node.properties) for node in made.values()] == [("x", {"q": 1, "w": 2})] * 2


# ------------------------------------------------------------------------------------- names, a piece of the graph


def names_of(incidence):
    """Return the ids of the passages that hold each name, and of those that it titles."""
    ids = incidence.passages.tolist()

    def of(lists, number):
        return [ids[one] for one in lists.of(number)]

    count = len(incidence.holders.begins) - 1
    return {incidence.written(one): (of(incidence.holders, one), of(incidence.titled, one)) for one in range(count)}


def test_a_build_hands_on_the_names_that_who_asks_would_find(folder, tmp_path, monkeypatch):
    built(folder, tmp_path / "with")
    built(folder, tmp_path / "without", config=BuildConfig(names=False))
    assert piece_folder(tmp_path / "with", NAMES_PIECE) is not None
    assert piece_folder(tmp_path / "without", NAMES_PIECE) is None
    unnamed = Graph.open(tmp_path / "without")
    found_anew = open_incidence(unnamed, Spaces(unnamed))
    monkeypatch.setattr(inside(open_incidence), "find_names", lambda *_, **__: pytest.fail("found again"))
    graph = Graph.open(tmp_path / "with")
    handed_on = open_incidence(graph, Spaces(graph))
    assert list(graph.node_ids()) == list(unnamed.node_ids())
    assert names_of(handed_on) == names_of(found_anew) != {}


def test_an_update_hands_on_the_names_of_the_graph_as_it_is_now(folder, tmp_path):
    built(folder, tmp_path / "graph")
    before = piece_folder(tmp_path / "graph", NAMES_PIECE)
    (folder / "new.md").write_text("# Karl Holm\n\nKarl Holm knew Ada Holm. Karl Holm sails.\n", encoding="utf-8")
    built(folder, tmp_path / "graph", update=True)
    assert piece_folder(tmp_path / "graph", NAMES_PIECE) != before
    graph = Graph.open(tmp_path / "graph")
    assert "Karl Holm" in names_of(open_incidence(graph, Spaces(graph)))


def test_names_of_an_extracted_graph_are_its_entities_and_no_piece(folder, tmp_path):
    built(folder, tmp_path / "graph", extract="entities")
    assert piece_folder(tmp_path / "graph", NAMES_PIECE) is None
