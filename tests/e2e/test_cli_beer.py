"""A bioinformatician's first tables, asked without any option: what they hold is worked out again by pandas."""

import shutil
from pathlib import Path

import pytest

from orienteer import Graph

BEER = Path(__file__).parents[1] / "ingest" / "beer"
EMPTY = ["n/a", "N/A", "NA", "-", "null"]


@pytest.fixture
def beer(home):
    return Path(shutil.copytree(BEER, home / "beer"))


@pytest.fixture
def graph(beer, cli):
    ran = cli("import", "beer", "-o", "graph", "--json")
    assert ran.code == 0, ran.err
    return Graph.open(Path("graph"))


def triples(graph, *types):
    return {(edge.source, edge.type, edge.target) for edge in graph.iter_edges() if edge.type in types}


def pairs(table, first, second):
    return list(zip(table[first], table[second], strict=True))


def test_every_row_is_a_node_and_every_key_an_edge(graph):
    pandas = pytest.importorskip("pandas")

    def table(name):
        return pandas.read_csv(BEER / f"{name}.csv", dtype=str, keep_default_na=False)

    beers, breweries, styles, brewed = (table(name) for name in ("beers", "breweries", "styles", "brewed_by"))
    nodes = {node_id: graph.node(node_id) for node_id in graph.node_ids()}
    names = {node_id: (node.type, node.name) for node_id, node in nodes.items()}
    assert {f"beer:{nr}": ("beer", name) for nr, name in pairs(beers, "Nr", "Beer Name")}.items() <= names.items()
    assert {f"brewery:{i}": ("brewery", n) for i, n in pairs(breweries, "id", "brewery")}.items() <= names.items()
    assert {code: ("style", style) for code, style in pairs(styles, "code", "style")}.items() <= names.items()
    assert {nodes[code].text for code in styles["code"]} == set(styles["description"])

    real = brewed[brewed["beer"].isin(beers["Nr"]) & brewed["brewery"].isin(breweries["id"])]
    expected = {(f"beer:{b}", "brewed_by", f"brewery:{w}") for b, w in pairs(real, "beer", "brewery")}
    assert triples(graph, "brewed_by") == expected
    expected = {(f"beer:{nr}", "style", code) for nr, code in pairs(beers, "Nr", "style_code")}
    assert triples(graph, "style") == expected
    several = breweries[~breweries["partners"].isin([*EMPTY, ""])]
    expected = {
        (f"brewery:{i}", "partners", f"brewery:{part}")
        for i, parts in pairs(several, "id", "partners")
        for part in parts.split(";")
    }
    assert triples(graph, "partners") == expected
    expected = {(f"brewery:{i}", "country", f"country:{c}") for i, c in pairs(breweries, "id", "country")}
    assert triples(graph, "country") == expected
    hops = beers[~beers["Hops"].isin([*EMPTY, ""])]
    expected = {(f"beer:{n}", "hops", f"hop:{part}") for n, h in pairs(hops, "Nr", "Hops") for part in h.split("|")}
    assert triples(graph, "hops") == expected
    assert len(nodes) == len(beers) + len(breweries) + len(styles) + len(set(breweries["country"])) + 3

    filled = beers[~beers["awards"].isin(EMPTY)]
    awards = {f"beer:{nr}": int(count) for nr, count in pairs(filled, "Nr", "awards")}
    assert {i: node.properties["awards"] for i, node in nodes.items() if "awards" in node.properties} == awards
    since = {edge.source: edge.properties.get("since") for edge in graph.iter_edges() if edge.type == "brewed_by"}
    assert since == {f"beer:{b}": None if s in EMPTY else int(s) for b, s in pairs(real, "beer", "since")}


def test_aliases_properties_and_a_code_that_looks_like_nothing(graph):
    assert graph.node("beer:1").aliases == ("Duvel Moortgat Blond", "De Duvel")
    assert graph.node("beer:1").properties["ABV (%)"] == 8.5
    assert graph.node("brewery:10").properties["country_code"] == "NA"  # Namibia
    assert graph.node("brewery:6").properties["country"] == "Czechia"  # a kind of node stays a property


def test_a_question_needs_no_option_and_says_in_one_line_what_the_folder_is(beer, cli):
    ran = cli("ask", "beer", "Which beers are brewed by Rodenbach?", "--json")
    assert ran.code == 0, ran.err
    assert "Rodenbach Grand Cru" in [hit["name"] for hit in ran.json["hits"]][:2]
    lines = [line for line in ran.err.splitlines() if "brewed_by.csv" in line]
    assert len(lines) == 2
    assert "this was open when the tables were read: brewed_by.csv: beer: " in lines[1]
    assert lines[0].startswith("beers.csv, brewed_by.csv, breweries.csv and 1 more: 5 types of things (8 beers, ")
    assert "dropped 1 unresolved" in lines[0]
    assert lines[0].endswith(" (orienteer info beer)")
    found = cli("search", "beer", "brewery", "--where", "country=Czechia", "--json")
    assert found.code == 1


def test_what_is_left_out_and_read_as_empty_is_told(beer, cli):
    ran = cli("validate", "beer", "--json")
    (cut,) = ran.json["dropped"]
    assert (cut["reason"], cut["count"]) == ("unresolved", 1)
    assert cut["first"][0]["value"] == "beer 99: no beer has it"
    assert "beer/beers.csv: read as empty: Hops 1 -, awards 2 n/a, 1 NA, 1 null" in ran.json["notes"]
    assert any("country_code 1 NA" in note and "as values" in note for note in ran.json["notes"])
    mapping = {Path(row["file"]).name: row for row in ran.json["mapping"]}
    assert (mapping["brewed_by.csv"]["kind"], mapping["brewed_by.csv"]["type"]) == ("edges", "brewed_by")
    assert mapping["beers.csv"]["columns"]["style_code"] == "edge style -> style.code"
    assert "style_code: 100% of its values are keys of style rows" in mapping["beers.csv"]["why"]
    assert "beer: 88% of its values are keys of beer rows (not: 99)" in mapping["brewed_by.csv"]["why"]


def test_the_mapping_stays_in_the_graph(graph, cli):
    mapping = cli("info", "graph", "--json").json["mapping"]
    assert {Path(row["file"]).name: row["kind"] for row in mapping} == {
        "beers.csv": "both",
        "breweries.csv": "both",
        "brewed_by.csv": "edges",
        "styles.csv": "nodes",
    }


def content(path):
    graph = Graph.open(Path(path))
    edges = sorted((e.source, e.type, e.target, str(sorted(e.properties.items()))) for e in graph.iter_edges())
    return [graph.node(node_id) for node_id in graph.node_ids()], edges


def test_the_drafted_mapping_gives_the_same_graph_and_can_be_changed(beer, graph, cli):
    ran = cli("validate", "beer", "--write-mapping", "beer.toml")
    assert ran.code == 0, ran.err
    ran = cli("import", "beer", "-o", "again", "--mapping", "beer.toml")
    assert ran.code == 0, ran.err
    assert content("again") == content("graph")
    draft = Path("beer.toml").read_text(encoding="utf-8")
    changed = draft.replace('"edge country -> new country"', '"property"').replace('"brewed_by"', '"made_by"')
    Path("beer.toml").write_text(changed, encoding="utf-8")
    ran = cli("import", "beer", "-o", "other", "--mapping", "beer.toml", "--json")
    assert "country" not in ran.json["node_types"]
    assert ran.json["edge_types"]["made_by"] == 8
    assert cli("validate", "beer", "--write-mapping", "beer.toml").code == 2  # it is there already


def test_strict_names_every_guess_and_a_mapping_settles_them(beer, cli):
    ran = cli("import", "beer", "-o", "graph", "--strict")
    assert ran.code == 2
    for guess in (
        "Nr: taken for the id",
        "partners: 100% of its values",
        "country: 4 different values",
        "--mapping FILE",
    ):
        assert guess in ran.err
    assert not Path("graph").exists()
    cli("validate", "beer", "--write-mapping", "beer.toml")
    (beer / "brewed_by.csv").write_text("beer,brewery,since\n1,1,1923\n")
    assert cli("import", "beer", "-o", "graph", "--strict", "--mapping", "beer.toml").code == 0


def test_a_file_can_be_settled_by_a_flag_while_the_others_are_told(beer, cli):
    flag = "beer/brewed_by.csv:source=brewery,target=beer,type=brews"
    ran = cli("import", "beer", "-o", "graph", "--edges", flag, "--json")
    assert ran.code == 0, ran.err
    assert "brewed_by" not in ran.json["edge_types"]
    assert ("brewery:3", "brews", "beer:3") in triples(Graph.open(Path("graph")), "brews")
    ran = cli("import", "beer", "-o", "pairs", "--edges", f"{flag}:undirected", "--json")
    assert ran.json["symmetric"] == ["brews"]
    ran = cli("import", "beer", "-o", "named", "--nodes", "beer/beers.csv:id=Nr,name=style_code,type=drink", "--json")
    assert ran.json["node_types"]["drink"] == 8


def test_a_kind_of_edge_can_be_marked_partial(beer, cli):
    ran = cli("import", "beer", "-o", "graph", "--partial", "brewed_by", "--partial", "hop", "--json")
    assert ran.json["partial"] == ["brewed_by", "hop"]
    assert Graph.open(Path("graph")).schema.partial == {"brewed_by", "hop"}
    assert cli("schema", "graph", "--json").json["partial"] == ["brewed_by", "hop"]
    assert "brewed_by-> brewery (partial)" in cli("schema", "graph").out
    assert cli("info", "graph", "--json").json["partial"] == ["brewed_by", "hop"]
    assert "brewed_by, hop" in cli("info", "graph").out
    assert cli("export", "graph", "--to", "jsonl", "-o", "dump").code == 0
    assert cli("import", "dump", "-o", "again", "--json").json["partial"] == ["brewed_by", "hop"]
    ran = cli("import", "beer", "-o", "other", "--partial", "brewedby")
    assert ran.code == 2
    assert "'brewedby'" in ran.err
    assert not Path("other").exists()


def test_a_table_of_its_own_and_documents_beside_tables(home, cli):
    (home / "invoices.csv").write_text("number,client,total\nA-1,Lind & Co,12.5\nA-2,Łódź Sp.,7\nA-3,Lind & Co,1\n")
    ran = cli("ask", "invoices.csv", "Which invoices are for Lind & Co?", "--json")
    assert ran.code == 0, ran.err
    assert {"A-1", "A-3"} == {hit["id"] for hit in ran.json["hits"] if hit["complete"]}
    (home / "mixed").mkdir()
    (home / "mixed" / "staff.csv").write_text("id,name,boss\n1,Ada,\n2,Ben,1\n")
    (home / "mixed" / "handbook.md").write_text("# Handbook\n\nHolidays are asked for in spring.")
    ran = cli("ask", "mixed", "When are holidays asked for?", "--json")
    assert any(hit["id"].startswith("handbook.md") for hit in ran.json["hits"])
    (home / "mixed" / "edges.csv").write_text("source,type,target\n1,knows,2\n")
    ran = cli("ask", "mixed", "Who knows Ada?")
    assert "1 document beside the tables" in ran.err


def test_a_mapping_is_not_mixed_with_flags(beer, cli):
    cli("validate", "beer", "--write-mapping", "beer.toml")
    ran = cli("import", "beer", "-o", "graph", "--mapping", "beer.toml", "--column", "id=Nr")
    assert ran.code == 2
    assert "leave out --nodes, --edges, --column, --text-from" in ran.err
