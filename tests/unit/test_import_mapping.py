"""What the values of tables tell: keys, references, kinds of things, null words, headers; and what is refused."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from orienteer.errors import BadInput, BadOption
from orienteer.graph import Graph
from orienteer.ingest import (
    ColumnLink,
    ImportOptions,
    ImportReport,
    edge_type_of,
    import_graph,
    link_of,
    list_documents,
    node_type_of,
    read_mappings,
    spec_of,
    without_key,
)
from orienteer.records import Node

pytestmark = pytest.mark.slow


def imported(folder: Path, files: Mapping[str, str], **options: Any) -> tuple[Graph, ImportReport]:
    folder = folder / "tables"
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    report = import_graph([folder], folder.parent / "graph", options=ImportOptions(**options))
    return Graph.open(folder.parent / "graph"), report


def triples(graph: Graph) -> list[tuple[str, str, str]]:
    return sorted((edge.source, edge.type, edge.target) for edge in graph.iter_edges())


def nodes_of(graph: Graph) -> list[Node]:
    return [graph.node(identifier) for identifier in graph.arrays.ids]


def refusal(folder: Path, files: Mapping[str, str], **options: Any) -> str:
    with pytest.raises(BadInput) as raised:
        imported(folder, files, **options)
    assert not (folder / "graph").exists()
    return str(raised.value)


@pytest.mark.parametrize(
    ("name", "node_type", "edge_type"),
    [
        ("beers", "beer", "beers"),
        ("Breweries", "brewery", "breweries"),
        ("brewed_by", "brewed_by", "brewed_by"),
        ("BeerStyles", "beer_style", "beer_styles"),
        ("title.basics", "title", "title"),
        ("people", "person", "people"),
        ("species", "species", "species"),
        ("tbl_addresses", "address", "addresses"),
        ("genus", "genus", "genus"),
        ("data", "data", "data"),
    ],
)
def test_types_come_from_names_of_files(name: str, node_type: str, edge_type: str) -> None:
    assert (node_type_of(name), edge_type_of(name)) == (node_type, edge_type)


@pytest.mark.parametrize(
    ("column", "about"),
    [
        ("brewery_id", "brewery"),
        ("BreweryID", "brewery"),
        ("fk_brewery", "brewery"),
        ("brewery", "brewery"),
        ("id", "id"),
    ],
)
def test_a_key_is_about_what_its_name_says(column: str, about: str) -> None:
    assert without_key(column) == about


WORDS = st.from_regex(r"[a-z]+( [a-z]+)?", fullmatch=True)
KEYS = st.from_regex(r"[a-z]+([ ._][a-z]+)?", fullmatch=True)


@given(
    link=st.one_of(
        st.builds(ColumnLink, WORDS.filter(lambda w: not w.startswith("new ")), KEYS, WORDS),
        st.builds(ColumnLink, WORDS, st.just(""), WORDS, st.just(""), st.sampled_from(["", "|", ";", ",", "json"])),
        st.builds(
            ColumnLink,
            WORDS.filter(lambda w: not w.startswith("new ")),
            KEYS,
            end=st.sampled_from(["source", "target"]),
        ),
    ).filter(lambda link: " split" not in f"{link.node_type} {link.key}")
)
def test_a_role_reads_as_it_is_written(link: ColumnLink) -> None:
    assert link_of(str(link)) == link


def test_ids_are_prefixed_only_where_tables_collide(tmp_path: Path) -> None:
    files = {
        "cats.csv": "id,name,owner\n1,Mia,P1\n2,Tom,P2\n",
        "dogs.csv": "id,name,owner\n1,Rex,P2\n",
        "owners.csv": "id,name\nP1,Ada\nP2,Ben\n",
    }
    graph, report = imported(tmp_path, files)
    assert sorted(graph.node_ids()) == ["P1", "P2", "cat:1", "cat:2", "dog:1"]
    assert triples(graph) == [("cat:1", "owner", "P1"), ("cat:2", "owner", "P2"), ("dog:1", "owner", "P2")]
    roles = {Path(mapping.file).name: mapping.columns["id"] for mapping in report.mapping}
    assert roles == {"cats.csv": "prefixed id", "dogs.csv": "prefixed id", "owners.csv": "id"}


def test_references_by_name_and_by_rows_of_the_same_table(tmp_path: Path) -> None:
    files = {
        "staff.csv": "id,name,boss,site\n1,Ada,,Øst\n2,Ben,1.0,Øst\n3,Cy,1.0,Vest\n",
        "sites.csv": "site,opened\nØst,1990\nVest,1995\n",
    }
    graph, _ = imported(tmp_path, files)
    assert triples(graph) == [
        ("1", "site", "Øst"),
        ("2", "boss", "1"),
        ("2", "site", "Øst"),
        ("3", "boss", "1"),
        ("3", "site", "Vest"),
    ]


def test_numbers_that_happen_to_be_ids_are_no_references(tmp_path: Path) -> None:
    files = {"cats.csv": "id,name,age\n1,Mia,2\n2,Tom,1\n3,Zoe,3\n", "dogs.csv": "id,name,owner_id\n1,Rex,2\n2,Bo,1\n"}
    graph, report = imported(tmp_path, files)
    assert triples(graph) == []
    assert graph.node("cat:1").properties == {"age": 2}
    (dogs,) = [mapping for mapping in report.mapping if mapping.type == "dog"]
    assert "owner_id: a key by its name, which leads to no table" in dogs.questions


def test_a_name_of_two_rows_names_neither(tmp_path: Path) -> None:
    files = {"towns.csv": "id,name\n1,Ash\n2,Ash\n3,Elm\n4,Oak\n", "clubs.csv": "club,town\nA,Elm\nB,Ash\nC,Oak\n"}
    graph, report = imported(tmp_path, files)
    assert triples(graph) == [("A", "town", "3"), ("C", "town", "4")]
    assert [cut.first[0].value for cut in report.dropped] == ["town Ash: several rows have it"]


@pytest.mark.parametrize(
    ("cell", "parts"), [("1|2", "12"), ("1; 2", "12"), ('"[1, 2]"', "12"), ('"[""1"", ""3""]"', "13")]
)
def test_lists_in_cells_are_edges_each(cell: str, parts: str, tmp_path: Path) -> None:
    files = {"cats.csv": "id,name\n1,Mia\n2,Tom\n3,Zoe\n", "shows.csv": f"show,cats\nWinter,{cell}\nSpring,{cell}\n"}
    graph, _ = imported(tmp_path, files)
    assert triples(graph) == [(show, "cats", part) for show in ("Spring", "Winter") for part in parts]


def test_null_words_are_empty_and_codes_that_look_like_them_are_not(tmp_path: Path) -> None:
    files = {
        "nodes.csv": "id,name,size,iso,strand\n1,A,n/a,NA,+\n2,B,5,DE,-\n3,NULL,-,FR,+\n4,D,\\N,n/a,-\n",
        "edges.csv": "source,type,target,since\n1,r,2,NA\n2,r,3,1999\n",
    }
    graph, report = imported(tmp_path, files)
    assert [graph.node(i).properties.get("size") for i in "1234"] == [None, 5, None, None]
    assert [graph.node(i).properties.get("iso") for i in "1234"] == ["NA", "DE", "FR", None]
    assert [graph.node(i).properties.get("strand") for i in "1234"] == ["+", "-", "+", "-"]
    assert graph.node("3").name == "3"
    assert [edge.properties for edge in graph.iter_edges()] == [{}, {"since": 1999}]
    notes = "\n".join(report.notes)
    assert "size 1 n/a, 1 -, 1 \\N" in notes
    assert "since 1 NA" in notes
    assert "iso 1 NA, strand 2 -" in notes


@pytest.mark.parametrize(
    ("cells", "column", "numbers"),
    [
        (("5400 kg", "12 kg", "0.5 kg"), "weight_kg", [5400, 12, 0.5]),
        (("1,200 EUR", "800 EUR", ""), "weight_eur", [1200, 800]),
        (("€20", "€ 7.5", "n/a"), "weight_eur", [20, 7.5]),
        (("12%", "3 %", "4%"), "weight_percent", [12, 3, 4]),
        (("3 km/h", "4 km/h", "5 km/h"), "weight_kmh", [3, 4, 5]),
        (("20m", "30m", "40m"), "weight_m", [20, 30, 40]),
        (("5400 kg", "12 km", "7 kg"), None, []),  # two units
        (("12b", "14b", "7b"), None, []),  # numbers of houses
        (("5 stars", "3 stars", "1 stars"), "weight_stars", [5, 3, 1]),  # a unit of their own
        (("5 Main", "3 Main", "1 Main"), None, []),  # addresses
        (("5 kg", "heavy", "7 kg"), None, []),
    ],
)
def test_numbers_with_their_unit_are_numbers(
    cells: tuple[str, ...], column: str | None, numbers: list[float], tmp_path: Path
) -> None:
    rows = "".join(f'{at},Thing {at},"{cell}"\n' for at, cell in enumerate(cells, 1))
    graph, report = imported(tmp_path, {"things.csv": f"id,name,weight\n{rows}"})
    values = [node.properties for node in nodes_of(graph)]
    if column is None:
        assert [properties.get("weight") for properties in values] == list(cells)
    else:
        assert [properties[column] for properties in values if column in properties] == numbers
        assert all("weight" not in properties for properties in values)
        (mapping,) = report.mapping
        assert mapping.columns["weight"] == f"number {column.removeprefix('weight_')}"
        assert f"kept as {column}" in mapping.why


def test_a_column_that_names_its_unit_keeps_its_name_and_a_mapping_says_so_too(tmp_path: Path) -> None:
    folder = tmp_path / "things"
    folder.mkdir()
    (folder / "things.csv").write_text("id,name,mass_kg,tag\n1,A,5 kg,2 t\n2,B,7 kg,x\n")
    import_graph([folder], tmp_path / "graph")
    assert [node.properties["mass_kg"] for node in nodes_of(Graph.open(tmp_path / "graph"))] == [5, 7]
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(
        '[[table]]\nfile = "things.csv"\nkind = "nodes"\ntype = "thing"\n[table.columns]\n'
        'id = "id"\nname = "name"\nmass_kg = "property"\ntag = "number t"\n'
    )
    import_graph([folder], tmp_path / "given", options=ImportOptions(mapping=mapping))
    first, second = (node.properties for node in nodes_of(Graph.open(tmp_path / "given")))
    assert (first, second) == ({"mass_kg": "5 kg", "tag_t": 2}, {"mass_kg": "7 kg", "tag_text": "x"})
    mapping.write_text(mapping.read_text().replace("number t", "number of parsecs"))
    with pytest.raises(BadInput, match="number UNIT"):
        import_graph([folder], tmp_path / "refused", options=ImportOptions(mapping=mapping))


@pytest.mark.parametrize(
    ("folder", "words"),
    [("disease_ontology", ("disease",)), ("Papers2024", ("paper",)), ("graph", ()), ("my-kg-export", ())],
)
def test_nodes_without_a_type_are_called_by_their_folder(folder: str, words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "nodes.csv").write_text("id,name\na,A\nb,B\n")
    (tmp_path / folder / "edges.csv").write_text("source,type,target\na,cites,b\n")
    report = import_graph([tmp_path / folder], tmp_path / "target")
    assert Graph.open(tmp_path / "target").schema.also_called.get("node", ()) == words
    assert any("by the folder's name" in note for note in report.notes) == bool(words)


def test_two_tables_with_a_column_of_the_same_places_do_not_lead_to_each_other(tmp_path: Path) -> None:
    stadiums = "".join(f"S{at},Ground {at},{town}\n" for at, town in enumerate(("Ash", "Birk", "Cove", "Dale", "Elm")))
    referees = "".join(f"R{at},Ref {at},{town}\n" for at, town in enumerate(("Ash", "Birk", "Cove", "Dale", "Fern")))
    graph, _ = imported(
        tmp_path, {"stadiums.csv": f"id,name,town\n{stadiums}", "referees.csv": f"id,name,town\n{referees}"}
    )
    assert triples(graph) == []


def test_a_table_that_joins_two_rows_of_one_table_is_one_of_edges(tmp_path: Path) -> None:
    graph, _ = imported(
        tmp_path,
        {
            "drugs.csv": "id,name\nd1,Ibuprin\nd2,Nexol\nd3,Wafarin\n",
            "interacts_with.csv": "drug_id,other_drug_id\nd1,d3\nd2,d3\n",
        },
    )
    assert triples(graph) == [("d1", "interacts_with", "d3"), ("d2", "interacts_with", "d3")]


def test_formats_with_nulls_of_their_own_keep_their_texts(tmp_path: Path) -> None:
    graph, _ = imported(tmp_path, {"nodes.jsonl": '{"id": "a", "name": "A", "grade": "n/a"}\n'})
    assert graph.node("a").properties == {"grade": "n/a"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,likes,b\nb,likes,c\n", [("a", "likes", "b"), ("b", "likes", "c")]),
        ("a,likes,b\nb,hates,c\n", [("a", "likes", "b"), ("b", "hates", "c")]),
        ("http://x/a,http://x/p,http://x/b\nhttp://x/c,http://x/q,http://x/d\n", 2),
    ],
)
def test_triples_repeat_themselves(text: str, expected: object, tmp_path: Path) -> None:
    graph, _ = imported(tmp_path, {"kg.csv": text})
    assert triples(graph) == expected if isinstance(expected, list) else len(triples(graph)) == expected


def test_a_header_is_no_triple(tmp_path: Path) -> None:
    files = {"cats.csv": "id,name\n1,Mia\n2,Tom\n", "fights.csv": "cat,other_cat,year\n1,2,2001\n2,1,2003\n2,1,2004\n"}
    graph, report = imported(tmp_path, files)
    assert report.edge_types == {"fights": 3}
    assert sorted(graph.node_ids()) == ["1", "2"]


def test_ends_that_are_ids_of_several_tables_are_asked_for(tmp_path: Path) -> None:
    files = {
        "genes.csv": "id,name\n1,A\n2,B\n",
        "drugs.csv": "id,name\n1,C\n2,D\n",
        "hits.csv": "source,target\n1,2\n2,2\n",
    }
    message = refusal(tmp_path / "1", files)
    file = tmp_path / "1" / "tables" / "hits.csv"
    line = f"--edges {file}:source=source@drug,target=target@gene"
    assert line in message
    spec = spec_of(line.removeprefix("--edges ").replace("/1/", "/2/"), is_edges=True)
    graph, _ = imported(tmp_path / "2", files, edges=(spec,))
    assert triples(graph) == [("drug:1", "hits", "gene:2"), ("drug:2", "hits", "gene:2")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x.csv:source=a", "name both ends"),
        ("x.csv:sauce=a,target=b", "'sauce=a'"),
        ("x.csv:source=a,target=", "'target='"),
    ],
)
def test_a_flag_that_says_too_little_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadOption, match=message):
        spec_of(text, is_edges=True)
    with pytest.raises(BadOption, match="no direction"):
        spec_of("x.csv:id=a:undirected", is_edges=False)


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("", "names no table"),
        ("[[table]\n", "is no TOML"),
        ('[[table]]\nfile = "a.csv"\n', "table 1: kind"),
        ('[[table]]\nfile = "a.csv"\nkind = "nodes"\n[table.columns]\nx = "idd"\n', "'idd' is no role"),
        ('[[table]]\nfile = "b.csv"\nkind = "nodes"\n', "names b.csv, which is none of the tables"),
        ('[[table]]\nfile = "a.csv"\nkind = "nodes"\n[table.columns]\nx = "id"\n', "no column 'x'"),
        ('[[table]]\nfile = "a.csv"\nkind = "nodes"\n[table.columns]\nid = "edge r -> b.id"\n', "leads to b.id"),
    ],
)
def test_a_mapping_that_does_not_fit_is_told_with_its_place(toml: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(toml)
    assert message in refusal(tmp_path, {"a.csv": "id,name\n1,A\n"}, mapping=tmp_path / "m.toml")


def test_a_mapping_leaves_aside_what_it_does_not_name(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(
        '[[table]]\nfile = "a.csv"\nkind = "nodes"\ntype = "a"\n[table.columns]\nid = "id"\n'
    )
    _, report = imported(tmp_path, {"a.csv": "id,name\n1,A\n", "b.csv": "id,name\n1,B\n"}, mapping=tmp_path / "m.toml")
    assert report.node_types == {"a": 1}
    assert [Path(file.file).name for file in report.ignored] == ["b.csv"]
    assert len(read_mappings(tmp_path / "m.toml")) == 1


def test_a_name_that_is_no_utf_8_is_left_out_and_told(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "nodes.csv").write_text("id,name\na,A\n")
    try:
        Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.csv")).write_text("id,name\nb,B\n")
    except OSError:
        pytest.skip("this file system takes names in UTF-8 alone")
    report = import_graph([folder], tmp_path / "graph")
    assert report.node_types == {"node": 1}
    (file,) = report.ignored
    assert (file.reason, file.is_telling) == ("its name is no UTF-8: rename it", True)
    report.model_dump_json().encode()


def test_documents_beside_one_with_a_bad_name_and_an_unreadable_folder_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_text("# A")
    (tmp_path / "locked").mkdir()
    real = os.scandir

    def scandir(path: Any) -> Any:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = list_documents([tmp_path])
    assert [file.name for file in found.files] == ["a.md"]
    assert [skipped.reason for skipped in found.skipped] == ["cannot be read: Permission denied"]


def test_what_passages_of_a_corpus_share_becomes_no_node(tmp_path: Path) -> None:
    lines = [
        json.dumps({"pid": f"p{at}", "title": f"Ferry {at}", "text": f"It sails at {at}.", "origin": "ab"[at % 2]})
        for at in range(40)
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines), encoding="utf-8")
    report = import_graph([tmp_path], tmp_path / "graph")
    assert (report.nodes, report.edges) == (40, 0)
    assert Graph.open(tmp_path / "graph").node("p3").properties["origin"] == "b"
