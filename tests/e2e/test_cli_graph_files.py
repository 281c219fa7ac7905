"""GraphML, GEXF and neo4j-admin's files through the command line: import, validate, questions, export and back."""

import gzip
import os
from pathlib import Path

import networkx
import pytest

DATA = Path(os.environ.get("ORIENTEER_DATA") or Path(__file__).parents[2].parent / "shared" / "data")
BOMB = '<!DOCTYPE graphml [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><graphml><graph><node id="&b;"/></graph></graphml>'


@pytest.fixture
def languages():
    network = networkx.DiGraph()
    network.add_node("erlang", label="Erlang", kind="language", description="A language for telephone exchanges.")
    network.add_node("joe", label="Joe Armstrong", kind="person", description="Wrote about it.")
    network.add_node("robert", label="Robert Virding", kind="person", description="Wrote another book.")
    network.add_edge("joe", "erlang", label="designed", since=1986)
    network.add_edge("robert", "erlang", label="designed", since=1986)
    return network


@pytest.mark.parametrize("name", ["languages.graphml", "languages.gexf", "languages.graphml.gz"])
def test_a_file_of_networkx_is_imported_and_asked(name, languages, home, cli):
    write = networkx.write_gexf if name.endswith("gexf") else networkx.write_graphml
    write(languages, home / "plain")
    content = (home / "plain").read_bytes()
    (home / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    ran = cli("import", name, "-o", "graph", "--json")
    assert ran.code == 0, ran.err
    assert (ran.json["node_types"], ran.json["edge_types"]) == ({"language": 1, "person": 2}, {"designed": 2})
    assert (ran.json["dropped"], ran.json["merged"], ran.json["notes"]) == ([], [], [])
    shown = cli("show", "graph", "Erlang", "--json").json
    assert (shown["id"], shown["type"], shown["text"]) == ("erlang", "language", "A language for telephone exchanges.")
    hits = cli("neighbors", "graph", "Erlang", "--edge", "designed", "--direction", "in", "--json").json["hits"]
    assert [hit["name"] for hit in hits] == ["Joe Armstrong", "Robert Virding"]
    answered = cli("ask", name, "Who designed Erlang?", "--type", "person", "-k", "2", "--json")  # made in the cache
    assert answered.code == 0
    assert {hit["id"] for hit in answered.json["hits"]} == {"joe", "robert"}


def test_an_export_is_imported_again_as_it_was(tables, cli):
    assert cli("import", tables, "-o", "graph").code == 0
    assert cli("export", "graph", "--to", "graphml", "-o", "graph.graphml").code == 0
    assert cli("import", "graph.graphml", "-o", "again").code == 0
    assert cli("schema", "again", "--json").json == cli("schema", "graph", "--json").json
    assert cli("show", "again", "Danny", "--json").json == cli("show", "graph", "Danny", "--json").json


def test_a_folder_for_neo4j_admin_is_imported(home, cli):
    folder = home / "import"
    folder.mkdir()
    (folder / "movies-header.csv").write_text("movieId:ID(Movie),title,year:int,:LABEL\n")
    (folder / "movies-part1.csv").write_text('1,"The Matrix",1999,Movie\n')
    (folder / "movies-part2.csv").write_text("2,Speed,1994,Movie\n")
    (folder / "actors.csv").write_text("personId:ID(Person),name,:LABEL\n1,Keanu Reeves,Actor\n")
    (folder / "roles.csv").write_text(
        ":START_ID(Person),:END_ID(Movie),:TYPE\n1,1,ACTED_IN\n1,2,ACTED_IN\n1,3,ACTED_IN\n"
    )
    ran = cli("validate", "import")
    assert ran.code == 0
    assert "3 nodes" in ran.out
    assert "dropped 1 dangling" in ran.out
    assert "roles.csv, line 4: Person:1 -> ACTED_IN -> Movie:3" in ran.out
    strict = cli("import", "import", "-o", "graph", "--strict")
    assert (strict.code, (home / "graph").exists()) == (2, False)
    hits = cli("search", "import", "movie", "--where", "year<=1995", "--mode", "lexical", "--json")
    assert (hits.code, hits.json["hits"]) == (1, [])
    neighbors = cli("neighbors", "import", "Keanu Reeves", "--where", "year<=1995", "--json").json["hits"]
    assert [hit["id"] for hit in neighbors] == ["Movie:2"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (BOMB, "a document type of its own"),
        ("<graphml><graph><node id='a'>", "is the file cut short?"),
        ("<html/>", "begins with <html> where <graphml> is expected"),
    ],
)
def test_a_bad_file_is_one_line_and_exit_code_2(content, message, home, cli):
    (home / "bad.graphml").write_text(content)
    for command in (("import", "bad.graphml", "-o", "graph"), ("validate", "bad.graphml"), ("info", "bad.graphml")):
        ran = cli(*command)
        assert ran.code == 2
        assert ran.err.strip().splitlines()[-1].startswith("error: bad.graphml")
        assert message in ran.err
        assert "Traceback" not in ran.err
    assert not (home / "graph").exists()


def test_the_output_of_graphrag_is_imported_by_the_titles_of_its_entities(home, cli):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    tables = {
        "entities": [
            {"id": "u1", "human_readable_id": 0, "title": "ADA HOLM", "type": "PERSON", "description": "A captain."},
            {"id": "u2", "human_readable_id": 1, "title": "SALT BAY", "type": "GEO", "description": "A town."},
        ],
        "relationships": [
            {"id": "r1", "source": "ADA HOLM", "target": "SALT BAY", "description": "Born there.", "weight": 9.0}
        ],
        "text_units": [{"id": "t1", "text": "Ada Holm was born in Salt Bay.", "document_id": "d1"}],
    }
    (home / "output").mkdir()
    for name, rows in tables.items():
        parquet.write_table(pyarrow.Table.from_pylist(rows), home / "output" / f"{name}.parquet")
    ran = cli("import", "output", "-o", "graph", "--column", "id=title", "--json")
    assert ran.code == 0, ran.err
    assert (ran.json["node_types"], ran.json["edges"], ran.json["dropped"]) == ({"PERSON": 1, "GEO": 1}, 1, [])
    assert [row["file"] for row in ran.json["ignored"]] == ["output/text_units.parquet"]
    assert cli("show", "graph", "SALT BAY", "--json").json["text"] == "A town."


@pytest.mark.data
def test_a_real_graph_comes_back_from_its_graphml_byte_for_byte(home, cli):
    if not (DATA / "primekg_ibd").is_dir():
        pytest.skip("primekg_ibd is not here; ORIENTEER_DATA names the folder of real graphs")
    pytest.importorskip("pyarrow")
    assert cli("import", DATA / "primekg_ibd", "-o", "graph").code == 0
    assert cli("export", "graph", "--to", "graphml", "-o", "graph.graphml").code == 0
    assert cli("import", "graph.graphml", "-o", "again", "--strict").code == 0
    for name in ("graph", "again"):
        assert cli("export", name, "--to", "jsonl", "-o", f"{name}-dump").code == 0
    for name in ("meta.json", "nodes.jsonl", "edges.jsonl"):
        assert (home / "graph-dump" / name).read_bytes() == (home / "again-dump" / name).read_bytes()


def test_columns_are_the_text_by_which_search_ranks(home, cli):
    (home / "lamps.csv").write_text(
        "id,name,brand,said\n1,Lantern,Acme,It glows turquoise\n2,Torch,Hansa,It is bright\n"
    )
    assert cli("import", "lamps.csv", "-o", "graph", "--text-from", "brand, said").code == 0
    assert cli("show", "graph", "1", "--json").json["text"] == "Acme\nIt glows turquoise"
    ran = cli("import", "lamps.csv", "-o", "other", "--text-from", "brand,sad")
    assert (ran.code, "no column 'sad'" in ran.err, "brand, id, name, said" in ran.err) == (2, True, True)
    ran = cli("import", "lamps.csv", "-o", "other", "--text", "tables")
    assert (ran.code, "--text has no meaning for lamps.csv" in ran.err) == (2, True)
