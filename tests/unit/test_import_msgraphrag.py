"""MS GraphRAG's Parquet tables of every version: ends, provenance, communities, and what refers to nothing."""

import math

import pytest

from orienteer.errors import BadInput, BadOption
from orienteer.graph import Graph
from orienteer.ingest import ExtractedEntity, ImportOptions, Merger, import_graph

pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")

DOCUMENTS = [{"id": "d1", "human_readable_id": 1, "title": "ferries.txt", "text": "...", "text_unit_ids": ["t2", "t1"]}]
UNITS = [
    {"id": "t1", "human_readable_id": 1, "text": "Ada Holm sails.", "n_tokens": 4, "document_id": "d1"},
    {"id": "t2", "human_readable_id": 2, "text": "Ada Holm of Salt Bay.", "n_tokens": 6, "document_id": "d1"},
    {"id": "t3", "human_readable_id": 3, "text": "Nothing.", "n_tokens": 2, "document_id": "gone"},
]
ENTITIES = [
    {"id": "u1", "human_readable_id": 0, "title": "ADA HOLM", "type": "PERSON", "description": "A captain.\nA captain.",
     "text_unit_ids": ["t1", "t2"], "frequency": 2, "degree": 1},
    {"id": "u2", "human_readable_id": 1, "title": "SALT BAY", "type": "GEO", "description": "A town.",
     "text_unit_ids": ["t2", "t9"], "frequency": 1, "degree": 1},
    {"id": "u3", "human_readable_id": 2, "title": "LOG BOOK", "type": "DOCUMENT", "description": None,
     "text_unit_ids": [], "frequency": 0, "degree": 0},
]  # fmt: skip
RELATIONS = [
    {"id": "r1", "source": "ADA HOLM", "target": "SALT BAY", "description": "Born there.", "weight": 9.0,
     "combined_degree": 2, "text_unit_ids": ["t2"]},
    {"id": "r2", "source": "ADA HOLM", "target": "NOBODY", "description": "?", "weight": 1.0, "combined_degree": 1,
     "text_unit_ids": ["t1"]},
]  # fmt: skip
COMMUNITIES = [
    {"id": "c-0", "community": 0, "level": 0, "title": "Community 0", "entity_ids": ["u1", "u2"], "parent": -1},
    {"id": "c-1", "community": 1, "level": 1, "title": "Community 1", "entity_ids": ["u2", "u9"], "parent": 0},
]
REPORTS = [
    {"id": "x", "community": 0, "level": 0, "title": "Ada and her town", "summary": "Short.", "full_content": "# Long",
     "rank": 7.5},
]  # fmt: skip
NEW = {
    "documents": DOCUMENTS,
    "text_units": UNITS,
    "entities": ENTITIES,
    "relationships": RELATIONS,
    "communities": COMMUNITIES,
    "community_reports": REPORTS,
}


def write(folder, tables, prefix=""):
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in tables.items():
        parquet.write_table(pyarrow.Table.from_pylist(rows), folder / f"{prefix}{name}.parquet")
    return folder


def read(folder, tmp_path):
    report = import_graph([folder], tmp_path / "graph", options=ImportOptions(force=True))
    return report, Graph.open(tmp_path / "graph")


def edges(graph, edge_type):
    return {(one.source, one.target) for one in graph.iter_edges() if one.type == edge_type}


def test_the_shape_of_a_knowledge_base(tmp_path):
    report, graph = read(write(tmp_path / "output", NEW), tmp_path)
    assert report.node_types == {
        "document": 1, "chunk": 3, "person": 1, "geo": 1, "document_entity": 1, "fact": 1, "community": 2,
    }  # fmt: skip
    assert report.edge_types == {
        "part_of": 2, "next": 1, "mentions": 3, "states": 1, "member": 2, "related_to": 1, "in_community": 3,
    }  # fmt: skip
    assert report.symmetric == ()
    chunk = graph.node("t1")
    assert (chunk.type, chunk.name, chunk.text) == ("chunk", "ferries.txt", "Ada Holm sails.")
    assert chunk.properties == {"document": "document:d1", "order": 1, "tokens": 4}
    assert edges(graph, "next") == {("t2", "t1")}  # as the document lists them
    assert graph.node("person:ada holm").text == "A captain."
    assert edges(graph, "mentions") == {("t1", "person:ada holm"), ("t2", "person:ada holm"), ("t2", "geo:salt bay")}
    weights = {one.target: one.weight for one in graph.iter_edges() if one.type == "mentions"}
    # By hand: three chunks, of which two speak of Ada and one of the town.
    assert weights == pytest.approx({"person:ada holm": math.log(1 + 3 / 2), "geo:salt bay": math.log(4)}, abs=1e-4)


def test_a_relation_is_an_edge_and_a_fact(tmp_path):
    _, graph = read(write(tmp_path / "output", NEW), tmp_path)
    (related,) = [one for one in graph.iter_edges() if one.type == "related_to"]
    assert (related.source, related.target, related.text, related.weight) == (
        "person:ada holm", "geo:salt bay", "Born there.", 9.0,
    )  # fmt: skip
    assert related.properties == {"sources": ["t2"]}
    ((chunk, fact),) = edges(graph, "states")
    assert (chunk, graph.node(fact).type, graph.node(fact).name) == ("t2", "fact", "ADA HOLM – SALT BAY")
    assert graph.node(fact).text == "Born there."
    members = {one.target: one.properties for one in graph.iter_edges() if one.type == "member"}
    assert members == {"person:ada holm": {"role": "subject"}, "geo:salt bay": {"role": "object"}}


def test_communities_carry_their_reports(tmp_path):
    _, graph = read(write(tmp_path / "output", NEW), tmp_path)
    told, untold = graph.node("community:0"), graph.node("community:1")
    assert (told.name, told.text, told.properties) == ("Ada and her town", "# Long", {"level": 0, "rating": 7.5})
    assert (untold.name, untold.text, untold.properties) == ("Community 1", "", {"level": 1})
    assert edges(graph, "in_community") == {
        ("person:ada holm", "community:0"), ("geo:salt bay", "community:0"), ("geo:salt bay", "community:1"),
    }  # fmt: skip


@pytest.mark.slow
def test_what_refers_to_nothing_is_counted_and_not_fatal(tmp_path):
    report, _ = read(write(tmp_path / "output", NEW), tmp_path)
    (cut,) = report.dropped
    # The document `gone`, the text unit t9, the entity NOBODY, the member u9.
    assert (cut.reason, cut.count) == ("dangling", 4)
    assert [(place.file.rsplit("/")[-1], place.line, place.value) for place in cut.first] == [
        ("text_units.parquet", 3, "gone"),
        ("entities.parquet", 2, "t9"),
        ("relationships.parquet", 2, "ADA HOLM -> NOBODY"),
    ]  # fmt: skip
    with pytest.raises(BadInput, match="--strict"):
        import_graph([tmp_path / "output"], tmp_path / "strict", options=ImportOptions(strict=True))


@pytest.mark.slow
def test_the_first_versions_say_the_same_in_other_columns(tmp_path):
    old = {
        "documents": [{"id": "d1", "title": "ferries.txt", "text_unit_ids": ["t2", "t1"], "raw_content": "..."}],
        "text_units": [
            {**{key: value for key, value in one.items() if key != "document_id"}, "document_ids": [one["document_id"]]}
            for one in UNITS
        ],
        "entities": [
            {**{key: value for key, value in one.items() if key != "title"}, "name": f'"{one["title"]}"',
             "description_embedding": [0.1, 0.2]}
            for one in ENTITIES
        ],
        "relationships": [{**one, "source": f'"{one["source"]}"', "target": f'"{one["target"]}"'} for one in RELATIONS],
        "nodes": [
            {"level": 0, "title": '"ADA HOLM"', "type": "PERSON", "community": "0"},
            {"level": 0, "title": '"SALT BAY"', "type": "GEO", "community": "0"},
            {"level": 1, "title": '"ADA HOLM"', "type": "PERSON", "community": "-1"},
            {"level": 1, "title": '"SALT BAY"', "type": "GEO", "community": "1"},
            {"level": 1, "title": '"LOG BOOK"', "type": "DOCUMENT", "community": None},
        ],
        "communities": [
            {"id": "0", "title": "Community 0", "level": 0, "relationship_ids": ["r1"], "text_unit_ids": ["t1,t2"]},
            {"id": "1", "title": "Community 1", "level": 1, "relationship_ids": ["r1"], "text_unit_ids": ["t1,t2"]},
        ],
        "community_reports": [{**REPORTS[0], "community": "0"}],
    }  # fmt: skip
    _, ours = read(write(tmp_path / "output", old, prefix="create_final_"), tmp_path)
    theirs_report, theirs = read(write(tmp_path / "new", NEW), tmp_path / "other")
    assert theirs_report.nodes == len(ours)
    for node_id in theirs.arrays.ids:
        assert ours.node(node_id) == theirs.node(node_id)
    assert list(ours.iter_edges()) == list(theirs.iter_edges())


def test_a_title_of_several_types(tmp_path):
    both = [*ENTITIES, {**ENTITIES[0], "id": "u4", "type": "SHIP"}, {**ENTITIES[0], "id": "u5", "description": "Old."}]
    report, graph = read(write(tmp_path / "output", {**NEW, "entities": both}), tmp_path)
    assert report.node_types["ship"] == 1
    assert edges(graph, "related_to") == {("person:ada holm", "geo:salt bay")}
    assert any("several types, 'ADA HOLM' first" in note for note in report.notes)
    # A row of the same name and type is the same entity, and adds what it says.
    assert graph.node("person:ada holm").text == "A captain.\nOld."
    assert any("merged 1 row of" in note for note in report.notes)


def test_an_index_without_documents_and_communities(tmp_path):
    tables = {name: NEW[name] for name in ("text_units", "entities", "relationships")}
    report, _ = read(write(tmp_path / "project" / "output", tables).parent, tmp_path)
    assert "community" not in report.node_types
    assert report.node_types["chunk"] == 3


def test_options_about_columns(tmp_path):
    folder = write(tmp_path / "output", NEW)
    with pytest.raises(BadOption, match="--private"):
        import_graph([folder], tmp_path / "graph", options=ImportOptions(private=("text",)))
    told = import_graph([folder], tmp_path / "graph", options=ImportOptions(columns={"id": "title"}))
    assert set(told.node_types) == {"PERSON", "GEO", "DOCUMENT"}  # as plain tables


@pytest.mark.slow
def test_passages_alone_tell_how_rare_a_word_is_also_where_nothing_is_related(tmp_path):
    _, graph = read(write(tmp_path / "output", NEW | {"relationships": RELATIONS[1:]}), tmp_path)
    assert "fact" not in graph.schema.node_types
    assert graph.arrays.text_types == ("document", "chunk")
    alone = [graph.node(one) for one in graph.arrays.ids if graph.node(one).type in ("document", "chunk")]
    plain = Graph.from_records(alone, [], path=tmp_path / "plain")
    assert graph.search("Ada Holm", 9, node_types=["chunk"]) == plain.search("Ada Holm", 9, node_types=["chunk"])


def test_ids_are_those_of_extraction(tmp_path):
    entities = [{**ENTITIES[0], "title": "Ada  O’HOLM", "type": "Sea Captain"}]
    _, graph = read(write(tmp_path / "output", NEW | {"entities": entities}), tmp_path)
    merger = Merger()
    merger.add("t1", [ExtractedEntity("Ada  O’HOLM", "Sea Captain")])
    (made,) = merger.nodes(lambda node_id: False)
    assert graph.node(made.id).type == made.type == "sea_captain"
