"""The chunk graph of SAGE (paper 004), section 2.1 and appendix B: which edges there are, and what they carry."""

from __future__ import annotations

import numpy as np
import pytest

from fakes.bag import Bag
from orienteer.errors import BadOption
from orienteer.graph import Graph, find_names
from orienteer.ingest import (
    BuildConfig,
    BuildOptions,
    build_graph,
    compare_parts,
    compared_parts,
    joinable_columns,
    similar_edges,
)
from orienteer.records import Node

TOWNS = ("Salt Bay", "Low Tide", "Tall Pines", "Old Mill", "Far Hill", "Red Rock")


def corpus():
    nodes = []
    for at, town in enumerate(TOWNS):
        text = f"In {town} the market sells {'fish' if at % 2 else 'wood'} near {TOWNS[(at + 1) % len(TOWNS)]} daily."
        nodes.append(Node(f"c{at}", "chunk", town, text))
    for at in range(4):
        goods = ("fish", "wood", "fish", "salt")[at]
        rows = f"{TOWNS[at]} | {goods}\n{TOWNS[at + 1]} | {goods}"
        header = ["Town", "Goods"] if at < 2 else ["Place", "Sold"]
        nodes += [
            Node(f"t{at}", "document", f"Trade {goods}"),
            Node(
                f"t{at}#0", "table", f"Trade {goods}", f"{' | '.join(header)}\n{rows}", (),
                {"document": f"t{at}", "order": 0, "first_row": 1, "rows": 2, "header": header},
            ),
        ]  # fmt: skip
    return nodes


def made(config=None, nodes=None):
    config = config or BuildConfig()
    nodes = nodes or corpus()
    names = find_names(nodes, progress=lambda stage, count: None, share=config.name_share)
    parts = compared_parts(nodes, names)
    several = compare_parts(parts, names, Bag(), config)
    edges = {(edge.source, edge.target): edge for edge in similar_edges(several, parts, names, config)}
    return several, edges, parts


def test_each_pair_of_modalities_has_the_similarities_of_the_paper():
    several, _, _ = made()
    assert {one.name: tuple(one.pool.signals) for one in several} == {
        "chunk-chunk": ("topic", "content", "entities"),
        "table-table": ("title", "column", "entities"),
        "table-chunk": ("title", "column", "entities"),
    }


def test_contents_of_chunks_are_compared_with_columns_of_tables_and_topics_with_titles():
    several, _, parts = made()
    cross = several[2]
    table, chunk = cross.pool.pairs.first[0], cross.pool.pairs.second[0]
    bag = Bag()

    def cosine(first, second):
        a, b = bag.embed([first, second], kind="document")
        return float(a @ b)

    assert cross.pool.signals["column"][0] == pytest.approx(cosine(parts.within[table], parts.within[chunk]), abs=1e-3)
    assert cross.pool.signals["title"][0] == pytest.approx(cosine(parts.about[table], parts.about[chunk]), abs=1e-3)
    assert parts.within[chunk].startswith("Salt Bay. In Salt Bay")


@pytest.mark.parametrize("logic", ["or", "and"])
@pytest.mark.parametrize("percentile", [50.0, 80.0, 95.0])
def test_edges_are_the_pairs_above_the_percentile_of_their_candidates(percentile, logic):
    several, edges, _ = made(BuildConfig(similar_percentile=percentile, similar_logic=logic))
    ids = [node.id for node in corpus() if node.type != "document"]
    expected = set()
    for one in several:
        above = [values > np.percentile(values, percentile) for values in one.pool.signals.values()]
        marks = np.any(above, axis=0) if logic == "or" else np.all(above, axis=0)
        for at in np.flatnonzero(marks):
            expected.add((ids[one.pool.pairs.first[at]], ids[one.pool.pairs.second[at]]))
    assert set(edges) == expected
    assert len(expected) > 0 or logic == "and"


def test_fixed_thresholds_stand_in_place_of_percentiles():
    several, edges, _ = made(BuildConfig(thresholds=("content=0.5",)))
    chunks = several[0]
    assert len(edges) == int((chunks.pool.signals["content"] > 0.5).sum()) > 0
    assert all(edge.properties["by"] == ["content"] for edge in edges.values())
    with pytest.raises(BadOption, match="thresholds"):
        BuildConfig(thresholds=("color=1",))


def test_edges_say_what_they_rest_on():
    _, edges, _ = made(BuildConfig(similar_percentile=1.0))
    chunks = edges["c0", "c1"].properties
    assert chunks["names"] == ["Low Tide"]
    assert 0 < chunks["confidence"] <= 1
    assert chunks["by"]
    assert edges["t0#0", "t1#0"].properties["joinable"] == [["Town", "Town"], ["Goods", "Goods"]]
    assert edges["t0#0", "c1"].properties["rows"] == [2]  # Low Tide stands in both
    values = edges["t0#0", "t1#0"].properties
    assert edges["t0#0", "t1#0"].weight == max(values[name] for name in values["by"] if name != "entities")


def test_columns_join_by_header_or_by_values():
    assert joinable_columns("Town | Year\nBath | 1990\nYork | 1991", "Place | Year\nYork | 5\nBath | 6") == [
        ["Town", "Place"],
        ["Year", "Year"],
    ]
    assert joinable_columns("Town\nBath", "Place\nBath") == []  # one value alone is chance
    assert joinable_columns("A | B\n1 | 2\n3 | 4", "C | D\n1 | 2\n3 | 4") == []  # numbers join nothing


def test_parts_of_one_document_are_apart_unless_faithful():
    nodes = [Node("d", "document", "Guide")]
    nodes += [
        Node(f"d#{at}", "chunk", "Guide", f"Words alike {at}", (), {"document": "d", "order": at}) for at in range(4)
    ]
    nodes += [Node("e", "chunk", "Else", "Other things")]
    _, edges, _ = made(BuildConfig(similar_percentile=1.0), nodes)
    assert not any(source.startswith("d#") and target.startswith("d#") for source, target in edges)
    _, edges, _ = made(BuildConfig(similar_percentile=1.0, faithful=True), nodes)
    assert ("d#0", "d#1") in edges


def test_faithful_is_the_papers_recipe_and_nothing_else(tmp_path):
    (tmp_path / "docs").mkdir()
    for at, town in enumerate(TOWNS):
        (tmp_path / "docs" / f"{at}.md").write_text(
            f"# {town}\n\nThe town of {town} lies near {TOWNS[(at + 1) % 6]}. It sells fish. "
            f"It sells {'wood ' * at}.\n",
            encoding="utf-8",
        )
    build_graph(
        [tmp_path / "docs"],
        tmp_path / "graph",
        options=BuildOptions(config=BuildConfig(faithful=True)),
        embedder=Bag(),
        cache=tmp_path / "cache",
    )
    types = set(Graph.open(tmp_path / "graph").schema.edge_types)
    assert types <= {"part_of", "next", "links_to", "similar"}
    assert "similar" in types
    with pytest.raises(BadOption, match="takes an embedder"):
        build_graph([tmp_path / "docs"], tmp_path / "other", options=BuildOptions(config=BuildConfig(faithful=True)))


@pytest.mark.slow
def test_what_is_deleted_is_in_no_index_any_more(tmp_path):
    docs, target, cache = tmp_path / "docs", tmp_path / "graph", tmp_path / "cache"
    docs.mkdir()
    for at, town in enumerate(TOWNS):
        (docs / f"{at}.md").write_text(f"# {town}\n\nNear {TOWNS[(at + 1) % 6]}. Fish {at}. Wood.\n", encoding="utf-8")
    build_graph([docs], target, embedder=Bag(), cache=cache)
    assert "0.md#0" in found_everywhere(target)
    (docs / "0.md").unlink()
    build_graph([], target, options=BuildOptions(update=True), embedder=Bag(), cache=cache)
    found = found_everywhere(target)
    assert not [one for one in found if one.startswith("0.md")]
    assert found == {node_id for node_id in Graph.open(target).node_ids() if "#" in node_id}
    ends = {end for edge in Graph.open(target).iter_edges() for end in (edge.source, edge.target)}
    assert ends <= set(Graph.open(target).node_ids())


def found_everywhere(path):
    """Return the chunks that searches find, by words, by vectors and by both."""
    graph = Graph.open(path, embedder=lambda name: Bag())
    modes = ("lexical", "dense", "hybrid")
    return {hit.id for mode in modes for hit in graph.search("Fish Wood Near", 99, mode=mode) if "#" in hit.id}


@pytest.mark.slow
def test_a_build_with_an_embedder_has_vectors_and_pays_nothing_twice(tmp_path):
    (tmp_path / "docs").mkdir()
    for at, town in enumerate(TOWNS):
        (tmp_path / "docs" / f"{at}.md").write_text(f"# {town}\n\nNear {TOWNS[(at + 1) % 6]}. Fish. Wood.\n")
    plain = build_graph([tmp_path / "docs"], tmp_path / "plain", embedder=Bag(), cache=tmp_path / "cache")
    assert plain.chunking == "tokens"
    first = build_graph(
        [tmp_path / "docs"],
        tmp_path / "graph",
        options=BuildOptions(chunks="semantic"),
        embedder=Bag(),
        cache=tmp_path / "cache",
    )
    assert first.chunking == "semantic"
    assert first.embedded > 0
    assert first.similarity is not None
    again = build_graph(
        [], tmp_path / "graph", options=BuildOptions(update=True), embedder=Bag(), cache=tmp_path / "cache"
    )
    assert again.embedded == 0
    assert again.edge_types == first.edge_types
