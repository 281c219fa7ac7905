"""The columns of people's tables that are the text of nodes, by which search ranks them."""

import json

import pytest

from orienteer.errors import BadInput, BadOption
from orienteer.graph import Graph
from orienteer.ingest import (
    ImportOptions,
    import_graph,
    mappings_as_toml,
    read_mappings,
    update_graph,
    validate_sources,
)

SHOP = {
    "products.csv": (
        "id,name,brand,description,price\n1,Lantern,Acme,A lamp for camps.,12\n2,Rope,Hansa,,7\n3,Tent,Acme,,99\n"
    ),
    "makers.csv": "maker,city,founded\nAcme,Kiel,1901\nHansa,Bremen,1350\n",
}


@pytest.fixture
def shop(tmp_path):
    """Give a function that writes files and imports them."""

    def make(files=SHOP, **options):
        folder = tmp_path / "shop"
        folder.mkdir(exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text)
        told = options.pop("told", [])
        report = import_graph(
            [folder],
            tmp_path / "graph",
            options=ImportOptions(force=True, **options),
            progress=lambda line, count: told.append(line),
        )
        return Graph.open(tmp_path / "graph"), report

    return make


def ranked(graph, words):
    """Return the products that BM25 ranks."""
    rows = graph.arrays.text_index.search(words.casefold().split(), 5).rows
    return [graph.arrays.ids[row] for row in rows if graph.node(graph.arrays.ids[row]).type == "product"]


def test_nodes_are_found_by_the_columns_that_are_their_text(shop):
    graph, _ = shop()
    assert ranked(graph, "lamp") == ["1"]
    assert ranked(graph, "Hansa 99") == []  # properties are not ranked
    told = []
    graph, report = shop(text_from=("name", "brand", "price"), told=told)
    assert ranked(graph, "Hansa 99") == ["3", "2"]
    assert ranked(graph, "lamp") == []
    lantern = graph.node("1")
    assert (lantern.name, lantern.text) == ("Lantern", "Acme\n12")  # the name is ranked in any case
    assert (lantern.properties["brand"], lantern.properties["price"]) == ("Acme", 12)
    assert lantern.properties["description"] == "A lamp for camps."  # no text any more, and not lost
    assert {m.type: m.text_from for m in report.mapping} == {"product": ("name", "brand", "price"), "maker": ()}
    assert any("text from: name, brand, price" in line for line in told)


def test_edges_of_a_column_of_the_text_stay(shop):
    plain, _ = shop()
    edges = sorted((edge.source, edge.type, edge.target) for edge in plain.iter_edges())
    graph, _ = shop(text_from=("brand",))
    assert edges
    assert sorted((edge.source, edge.type, edge.target) for edge in graph.iter_edges()) == edges


def test_lists_and_objects_in_cells_are_told_by_their_members(tmp_path):
    rows = [
        {"id": "a", "name": "Lantern", "reviews": [{"summary": "Bright", "stars": 5}, {"summary": "Turquoise glow"}]},
        {"id": "b", "name": "Rope", "reviews": [], "tags": ["sea", "storm"], "size": {"long": "90 feet"}},
    ]
    file = tmp_path / "nodes.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    import_graph([file], tmp_path / "graph", options=ImportOptions(text_from=("reviews", "tags", "size")))
    graph = Graph.open(tmp_path / "graph")
    assert [graph.node(node).text for node in "ab"] == ["Bright\n5\nTurquoise glow", "sea\nstorm\n90 feet"]
    assert [hit.id for hit in graph.search("turquoise", 5)] == ["a"]


def test_files_with_attributes_take_it_too(tmp_path):
    nodes = [{"id": "a", "label": "Erlang", "motto": "Let it crash"}, {"id": "b", "label": "Joe"}]
    file = tmp_path / "graph.json"
    file.write_text(json.dumps({"nodes": nodes, "links": [{"source": "b", "target": "a"}]}))
    import_graph([file], tmp_path / "graph", options=ImportOptions(text_from=("motto",)))
    assert [hit.id for hit in Graph.open(tmp_path / "graph").search("crash", 5)] == ["a"]
    with pytest.raises(BadInput, match=r"--text-from: there is no column 'mot'\. The columns are: .*motto"):
        validate_sources([file], options=ImportOptions(text_from=("mot",)))


def test_an_unknown_column_is_one_error_with_those_there_are(shop):
    with pytest.raises(
        BadInput, match=r"--text-from: there is no column 'brnd'\. The columns are: brand, city, description, founded"
    ):
        shop(text_from=("name", "brnd"))
    with pytest.raises(BadOption, match="'brand' cannot be private and used at once"):
        shop(text_from=("name", "brand"), private=("brand",))


def test_a_mapping_file_says_it_for_each_table(shop, tmp_path):
    graph, report = shop(text_from=("brand", "founded"))
    file = tmp_path / "shop.toml"
    file.write_text(mappings_as_toml(report.mapping, [tmp_path / "shop"]))
    told = {mapping.file: mapping.text_from for mapping in read_mappings(file)}
    assert told == {"products.csv": ("brand",), "makers.csv": ("founded",)}
    assert [graph.node("1").text, graph.node("Acme").text] == ["Acme", "1901"]
    file.write_text(file.read_text().replace('text_from = ["founded"]', ""))
    graph, _ = shop(mapping=file)
    assert [graph.node("1").text, graph.node("Acme").text] == ["Acme", ""]
    with pytest.raises(BadOption, match="'brand' cannot be private"):
        shop(mapping=file, private=("brand",))
    with pytest.raises(BadOption, match="--mapping says how every table is read: leave out .*--text-from"):
        shop(mapping=file, text_from=("brand",))
    file.write_text(file.read_text().replace('["brand"]', '["brnd"]'))
    with pytest.raises(BadInput, match=r"has no column 'brnd'"):
        shop(mapping=file)


def test_an_update_keeps_it(shop, tmp_path):
    shop(text_from=("brand",))
    (tmp_path / "shop" / "products.csv").write_text(SHOP["products.csv"] + "4,Stove,Hansa,,30\n")
    update_graph([tmp_path / "shop"], tmp_path / "graph", options=ImportOptions())
    graph = Graph.open(tmp_path / "graph")
    assert set(ranked(graph, "hansa")) == {"2", "4"}
    assert graph.node("4").text == "Hansa"
    with pytest.raises(BadInput, match=r"text_from was \['brand'\], and is \['price'\]"):
        update_graph([tmp_path / "shop"], tmp_path / "graph", options=ImportOptions(text_from=("price",)))
    update_graph([tmp_path / "shop"], tmp_path / "graph", options=ImportOptions(force=True))
    assert Graph.open(tmp_path / "graph").node("4").text == ""


def test_an_update_tells_of_a_column_of_the_text_that_is_gone(shop, tmp_path):
    shop({**SHOP, "makers.csv": "maker,founded,price\nAcme,1901,low\nHansa,1350,high\n"}, text_from=("price", "brand"))
    assert Graph.open(tmp_path / "graph").node("Acme").text == "low"
    (tmp_path / "shop" / "makers.csv").write_text("maker,founded\nAcme,1901\nHansa,1350\n")
    report = update_graph([tmp_path / "shop"], tmp_path / "graph", options=ImportOptions())
    assert any("price" in line and "is gone" in line for line in report.became)
    graph = Graph.open(tmp_path / "graph")
    assert [graph.node("Acme").text, graph.node("1").text] == ["", "12\nAcme"]
    (tmp_path / "shop" / "products.csv").write_text("id,name,brand\n1,Lantern,Acme\n")
    with pytest.raises(BadInput, match="--text-from: there is no column 'price'"):
        update_graph([tmp_path / "shop"], tmp_path / "graph", options=ImportOptions())
