"""LightRAG's working directory, as networkx and its JSON stores write it, of early and late versions."""

import json

import networkx
import pytest

from orienteer.errors import BadInput
from orienteer.graph import Graph
from orienteer.ingest import ImportOptions, import_graph

CHUNKS = {
    "chunk-1": {"tokens": 5, "content": "Ada Holm was born in Salt Bay.", "chunk_order_index": 1,
                "full_doc_id": "doc-1", "file_path": "notes/towns.md", "llm_cache_list": ["x"]},
    "chunk-2": {"tokens": 3, "content": "Ada Holm sails.", "chunk_order_index": 0,
                "full_doc_id": "doc-1", "file_path": "notes/towns.md"},
    "chunk-3": {"tokens": 1, "content": "林檎", "chunk_order_index": 0, "full_doc_id": "doc-2",
                "file_path": "unknown_source"},
}  # fmt: skip
DOCUMENTS = {"doc-1": {"content": "...", "file_path": "notes/towns.md"}, "doc-2": {"content": "林檎"}}


def entity(made, name, kind, description, sources, node=None):
    made.add_node(
        node or name,
        **{"entity_id": name, "entity_type": kind, "description": description, "source_id": sources},
        **{"file_path": "notes/towns.md", "created_at": 1748435888},
    )


@pytest.fixture
def folder(tmp_path):
    made = networkx.Graph()
    entity(made, "Ada Holm", "person", "A captain.<SEP>Born by the sea.<SEP>A captain.", "chunk-1<SEP>chunk-2")
    entity(made, "Salt Bay", "Geo Place", "A town.", "chunk-1<SEP>chunk-9")
    entity(made, "林檎", "UNKNOWN", "", "chunk-3")
    made.add_edge(
        "Salt Bay",
        "Ada Holm",
        **{
            "weight": 9.0,
            "description": "Ada Holm was born there.<SEP>She left.",
            "keywords": "birth, origin<SEP>birth",
        },
        **{"source_id": "chunk-1", "file_path": "notes/towns.md", "created_at": 1748435888},
    )
    return write(tmp_path / "rag_storage", made)


def write(folder, made, chunks=CHUNKS, **stores):
    folder.mkdir()
    networkx.write_graphml(made, folder / "graph_chunk_entity_relation.graphml")
    for name, found in {"text_chunks": chunks, "full_docs": DOCUMENTS, **stores}.items():
        (folder / f"kv_store_{name}.json").write_text(json.dumps(found))
    (folder / "vdb_entities.json").write_text('{"embedding_dim": 4, "data": [], "matrix": ""}')
    (folder / "kv_store_llm_response_cache.json").write_text("{broken")
    return folder


def read(folder):
    report = import_graph([folder], folder.parent / "graph", options=ImportOptions(force=True))
    return report, Graph.open(folder.parent / "graph")


@pytest.mark.slow
def test_the_shape_of_a_knowledge_base(folder):
    report, graph = read(folder)
    assert report.node_types == {"document": 2, "chunk": 3, "person": 1, "geo_place": 1, "name": 1, "fact": 1}
    assert report.edge_types == {"part_of": 3, "next": 1, "mentions": 4, "states": 1, "member": 2, "related_to": 1}
    assert report.symmetric == ("related_to",)  # the file says that its edges have no direction
    chunk = graph.node("chunk-1")
    assert (chunk.type, chunk.name, chunk.text) == ("chunk", "towns", "Ada Holm was born in Salt Bay.")
    assert chunk.properties == {"document": "document:doc-1", "order": 1, "tokens": 5}
    assert {(one.source, one.target) for one in graph.iter_edges() if one.type == "next"} == {("chunk-2", "chunk-1")}
    assert graph.node("document:doc-1").properties == {"file": "notes/towns.md"}
    assert graph.node("document:doc-2").name == "doc-2"
    assert graph.node("name:林檎").name == "林檎"


def test_what_sep_joins_is_parted(folder):
    report, graph = read(folder)
    assert graph.node("person:ada holm").text == "A captain.\nBorn by the sea."
    mentions = {(one.source, one.target) for one in graph.iter_edges() if one.type == "mentions"}
    assert mentions == {
        ("chunk-1", "person:ada holm"), ("chunk-2", "person:ada holm"),
        ("chunk-1", "geo_place:salt bay"), ("chunk-3", "name:林檎"),
    }  # fmt: skip
    (cut,) = report.dropped
    assert (cut.reason, cut.count, cut.first[0].value) == ("dangling", 1, "chunk-9")


def test_a_relation_is_an_edge_and_a_fact(folder):
    _, graph = read(folder)
    (related,) = [one for one in graph.iter_edges() if one.type == "related_to"]
    assert {related.source, related.target} == {"person:ada holm", "geo_place:salt bay"}
    assert (related.text, related.weight) == ("Ada Holm was born there.\nShe left.", 9.0)
    assert related.properties == {"keywords": ["birth", "origin"], "sources": ["chunk-1"]}
    (fact,) = [graph.node(one) for one in graph.arrays.ids if one.startswith("fact:")]
    assert (fact.name, fact.text) == ("Ada Holm – Salt Bay", "Ada Holm was born there.\nShe left.")
    assert fact.properties == {"keywords": ["birth", "origin"]}
    assert [one.properties for one in graph.iter_edges() if one.type == "member"] == [{}, {}]  # nobody knows the roles


@pytest.mark.parametrize("pair", ["Ada Holm<SEP>Salt Bay", "Salt Bay<SEP>Ada Holm"])
def test_later_versions_keep_all_sources_apart(folder, pair):
    (folder / "kv_store_entity_chunks.json").write_text(
        json.dumps({"Salt Bay": {"chunk_ids": ["chunk-1", "chunk-2"], "count": 2}})
    )
    (folder / "kv_store_relation_chunks.json").write_text(
        json.dumps({pair: {"chunk_ids": ["chunk-1", "chunk-2"], "count": 2}})
    )
    _, graph = read(folder)
    found = {(one.type, one.source) for one in graph.iter_edges() if one.target == "geo_place:salt bay"}
    assert found >= {("mentions", "chunk-1"), ("mentions", "chunk-2")}
    assert {one.source for one in graph.iter_edges() if one.type == "states"} == {"chunk-1", "chunk-2"}


def test_early_versions_keep_quotation_marks(tmp_path):
    made = networkx.Graph()
    made.add_node('"ADA HOLM"', entity_type='"PERSON"', description='"A captain."', source_id="chunk-1")
    made.add_node('"SALT BAY"', entity_type='"GEO"', description='"A town."', source_id="chunk-1")
    made.add_edge('"ADA HOLM"', '"SALT BAY"', weight=1.0, description='"Born there."', source_id="chunk-1", order=1)
    _, graph = read(write(tmp_path / "rag", made))
    assert (graph.node("person:ada holm").text, graph.node("geo:salt bay").type) == ("A captain.", "geo")
    assert [one.text for one in graph.iter_edges() if one.type == "related_to"] == ["Born there."]


def test_reports_of_nano_graphrag(folder):
    report = {
        "0": {
            "report_string": "# Ada\n\nShe sails.",
            "report_json": {"title": "Ada and the sea", "rating": 6.5},
            "level": 0,
            "title": "Cluster 0",
            "nodes": ["Ada Holm", "Nobody"],
            "occurrence": 0.5,
        }
    }
    (folder / "kv_store_community_reports.json").write_text(json.dumps(report))
    told, graph = read(folder)
    node = graph.node("community:0")
    assert (node.name, node.text) == ("Ada and the sea", "# Ada\n\nShe sails.")
    assert node.properties == {"level": 0, "rating": 6.5}
    assert [one.source for one in graph.iter_edges() if one.type == "in_community"] == ["person:ada holm"]
    assert told.dropped[0].count == 2


@pytest.mark.parametrize("first", ["statement", "entity"])
def test_statements_of_hypergraphrag(tmp_path, first):
    made = networkx.Graph()
    made.add_nodes_from(['"ADA HOLM"'] if first == "entity" else [])  # edges are written from the earlier node
    fact = '<hyperedge>"Ada Holm was born in Salt Bay."'
    made.add_node(fact, role="hyperedge", weight=7.0, source_id="chunk-1")
    made.add_node('"ADA HOLM"', role="entity", entity_type='"PERSON"', description='"A captain."', source_id="chunk-1")
    made.add_edge('"ADA HOLM"', fact, weight=80.0, source_id="chunk-1")
    report, graph = read(write(tmp_path / "expr", made))
    assert report.node_types == {"document": 2, "chunk": 3, "person": 1, "fact": 1}
    (node,) = [graph.node(one) for one in graph.arrays.ids if one.startswith("fact:")]
    assert (node.text, node.properties) == ("Ada Holm was born in Salt Bay.", {"score": 7.0})
    tied = {
        (one.source, one.type, one.target, one.weight)
        for one in graph.iter_edges()
        if node.id in (one.source, one.target)
    }
    assert tied == {("chunk-1", "states", node.id, 1.0), (node.id, "member", "person:ada holm", 80.0)}


@pytest.mark.parametrize("text", ["{", "[]", '{"chunk-1": "text"}'])
def test_a_store_that_is_broken_is_an_error(folder, text):
    (folder / "kv_store_text_chunks.json").write_text(text)
    with pytest.raises(BadInput, match="kv_store_text_chunks.json"):
        import_graph([folder], folder.parent / "graph")


def test_the_graph_file_alone_is_read_as_any_graphml(folder):
    (folder / "kv_store_text_chunks.json").unlink()
    report, _ = read(folder)
    assert "chunk" not in report.node_types
    assert report.nodes == 3


@pytest.mark.slow
def test_passages_alone_tell_how_rare_a_word_is(folder):
    _, graph = read(folder)
    assert graph.arrays.text_types == ("document", "chunk")
    alone = [graph.node(one) for one in graph.arrays.ids if graph.node(one).type in ("document", "chunk")]
    plain = Graph.from_records(alone, [], path=folder.parent / "plain")
    for query in ("Ada Holm", "born in Salt Bay", "林檎"):
        assert graph.search(query, 9, node_types=["chunk"]) == plain.search(query, 9, node_types=["chunk"])


def test_a_statement_that_stands_twice_is_one(tmp_path):
    made = networkx.Graph()
    for fact, score in (('<hyperedge>"Ada sails."', 7.0), ("<hyperedge>Ada sails.", 8.0)):
        made.add_node(fact, role="hyperedge", weight=score, source_id="chunk-2")
        made.add_node('"ADA HOLM"', role="entity", entity_type='"PERSON"', source_id="chunk-2")
        made.add_edge('"ADA HOLM"', fact, weight=80.0, source_id="chunk-2")
    report, graph = read(write(tmp_path / "expr", made))
    assert report.node_types["fact"] == 1
    assert [(one.reason, one.count) for one in report.merged] == [("duplicate", 1)]
    (node,) = [graph.node(one) for one in graph.arrays.ids if one.startswith("fact:")]
    assert (node.text, node.properties) == ("Ada sails.", {"score": 7.0})
    counted = [report.edge_types[kind] for kind in ("mentions", "states", "member")]
    assert counted == [1, 1, 1]
