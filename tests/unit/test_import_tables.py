"""What a column says: node and edge rules, known names, labels, which file is what."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from orienteer.errors import BadInput, BadOption
from orienteer.graph import Graph
from orienteer.ingest import (
    Batch,
    ColumnSpec,
    DropCounts,
    ImportOptions,
    ImportReport,
    NodeMaker,
    id_text,
    import_graph,
    list_members,
    number_or_text,
    plain_value,
)
from orienteer.records import Edge, Node

pytestmark = pytest.mark.slow


class Imported:
    """A graph that was just made, with its report."""

    def __init__(self, folder: Path, options: ImportOptions) -> None:
        target = folder.parent / f"{folder.name}.graph"
        self.report: ImportReport = import_graph([folder], target, options=options)
        self.graph = Graph.open(target)

    @property
    def nodes(self) -> list[Node]:
        return [self.graph.node(node_id) for node_id in self.graph.node_ids()]

    @property
    def edges(self) -> list[Edge]:
        return list(self.graph.iter_edges())

    @property
    def triples(self) -> list[tuple[str, str, str]]:
        return sorted((edge.source, edge.type, edge.target) for edge in self.edges)


def imported(tmp_path: Path, files: Mapping[str, str | list[dict[str, Any]]], **options: Any) -> Imported:
    folder = tmp_path / "source"
    folder.mkdir(parents=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else "".join(json.dumps(row) + "\n" for row in content)
        (folder / name).write_text(text, encoding="utf-8")
    return Imported(folder, ImportOptions(**options))


def node_of(row: dict[str, Any]) -> Node:
    maker = NodeMaker(ColumnSpec(), tally=DropCounts())
    batch = Batch({"id": ["n"]} | {name: [value] for name, value in row.items()}, [1])
    (made,) = maker.of_batch(batch, id_column="id", file="nodes.jsonl")
    return next(made.nodes.nodes())


@pytest.mark.parametrize(
    ("row", "node_type", "left"),
    [
        ({"kind": "k", "type": "t", "pos": "p", "category": "c"}, "t", {"kind": "k", "pos": "p", "category": "c"}),
        ({"kind": "k", "pos": "p", "category": "c"}, "k", {"pos": "p", "category": "c"}),
        ({"category": "c", "pos": "p", "type": "t"}, "t", {"category": "c", "pos": "p"}),
        ({"category": "noun.Tops", "pos": "noun"}, "noun", {"category": "noun.Tops"}),
        ({"category": "c"}, "c", {}),
        ({"kind": "", "type": None, "pos": "p"}, "p", {}),
        ({"name": "x"}, "node", {}),
        ({"category": ["biolink:Gene", "biolink:NamedThing"]}, "biolink:Gene", {"category": ["biolink:NamedThing"]}),
        ({"category": "biolink:Gene|biolink:NamedThing"}, "biolink:Gene", {"category": ["biolink:NamedThing"]}),
        ({"type": "a|b"}, "a|b", {}),
    ],
)
def test_the_node_type_is_type_kind_pos_category_in_this_order(
    row: dict[str, Any], node_type: str, left: dict[str, Any]
) -> None:
    node = node_of(row)
    assert (node.type, node.properties) == (node_type, left)


@pytest.mark.parametrize(
    ("row", "text", "left"),
    [
        (
            {"summary": "s", "description": "d", "definition": "f", "text": "t"},
            "t",
            {"summary": "s", "description": "d", "definition": "f"},
        ),
        ({"summary": "s", "description": "d"}, "d", {"summary": "s"}),
        ({"text": "", "summary": "s"}, "s", {}),
        ({"name": "x"}, "", {}),
    ],
)
def test_the_text_is_text_definition_description_summary_in_this_order(
    row: dict[str, Any], text: str, left: dict[str, Any]
) -> None:
    node = node_of(row)
    assert (node.text, node.properties) == (text, left)


@pytest.mark.parametrize("column", ["lemmas", "synonyms", "aliases"])
@pytest.mark.parametrize("value", [["a", "b", "x", "a"], "a|b|x|a", '["a", "b", "x", "a"]', "['a', 'b', 'x', 'a']"])
def test_aliases_come_from_lists_and_split_text_without_the_name(column: str, value: Any) -> None:
    node = node_of({"name": "x", column: value})
    assert (node.aliases, node.properties) == (("a", "b"), {})


def test_objects_in_columns_are_opened_and_their_keys_follow_the_rules() -> None:
    row = {
        "name": "Aspirin",
        "extra": '{"synonyms": "ASA|acetylsalicylic acid", "kind": "drug", "mass": 180, "name": "other", "empty": ""}',
        "properties": {"description": "for pain", "tags": ["a", None], "nested": {"deep": [1, 2]}},
    }
    node = node_of(row)
    assert node == Node(
        "n",
        "drug",
        "Aspirin",
        "for pain",
        ("ASA", "acetylsalicylic acid"),
        {"mass": 180, "extra.name": "other", "tags": ["a"], "nested": {"deep": [1, 2]}},
    )


def test_broken_json_in_a_column_stays_text() -> None:
    assert node_of({"extra": '{"a": 1'}).properties == {"extra": '{"a": 1'}


def test_all_else_is_kept_and_what_says_nothing_is_not() -> None:
    row = {
        "one": 1,
        "half": 0.5,
        "yes": True,
        "no": False,
        "zero": 0,
        "none": None,
        "empty": "",
        "list": [],
        "nan": float("nan"),
    }
    assert node_of(row).properties == {"one": 1, "half": 0.5, "yes": True, "no": False, "zero": 0}


def test_cells_of_text_tables_become_numbers_only_where_nothing_is_lost(tmp_path: Path) -> None:
    csv = "id,name,a,b,c,d,e,f\n007,1.50,12,1.5,1.50,007,1e3,-3\n"
    (node,) = imported(tmp_path, {"nodes.csv": csv}).nodes
    assert (node.id, node.name) == ("007", "1.50")
    assert node.properties == {"a": 12, "b": 1.5, "c": 1.5, "d": "007", "e": 1000, "f": -3}


@given(st.one_of(st.integers(), st.floats(allow_nan=False), st.text()).map(str))
def test_a_number_prints_as_its_cell(cell: str) -> None:
    assert str(number_or_text(cell)) == cell


@pytest.mark.parametrize(
    ("value", "text"), [(12, "12"), (12.0, "12"), (1.5, "1.5"), (None, ""), (float("nan"), ""), (" a ", " a ")]
)
def test_ids_are_text(value: Any, text: str) -> None:
    assert id_text(value) == text


def test_values_of_other_kinds_become_json() -> None:
    import datetime
    from decimal import Decimal

    import numpy as np

    assert plain_value(datetime.date(2020, 1, 2)) == "2020-01-02"
    assert plain_value(Decimal("1.5")) == 1.5
    assert plain_value(np.int64(3)) == 3
    assert plain_value(np.array([1, 2])) == [1, 2]
    assert plain_value(b"x") == "x"
    assert list_members(None) == []
    assert list_members(5) == ["5"]


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=15)


@settings(max_examples=8, deadline=None)
@given(names=st.lists(NAMES, min_size=1, max_size=60))
def test_names_come_back_byte_for_byte(names: list[str], tmp_path_factory) -> None:
    rows = [{"id": f"n{place:02}", "name": name} for place, name in enumerate(names)]
    found = imported(tmp_path_factory.mktemp("names"), {"nodes.jsonl": rows})
    assert [node.name for node in found.nodes] == names


# ----------------------------------------------------------------------------------------------- known names


SHAPES = {
    "ark": ("index,name,type,summary\n1,A,gene,s\n2,B,drug,s\n", "start_node_index,end_node_index,type\n2,1,hits\n"),
    "ark-agent-cli": ("id,name,type,properties\n1,A,gene,\n2,B,drug,\n", "from,to,type,properties\n2,1,hits,\n"),
    "kgx": ("id,category,name\n1,gene,A\n2,drug,B\n", "id,subject,predicate,object\ne1,2,hits,1\n"),
    "stark": ("node_id,type,title\n1,gene,A\n2,drug,B\n", "head,tail,relation\n2,1,hits\n"),
    "hetionet": ("id,name,kind\n1,A,gene\n2,B,drug\n", "source,metaedge,target\n2,hits,1\n"),
    "capitals": ("ID,Name,Type\n1,A,gene\n2,B,drug\n", "Source,Relation,Target\n2,hits,1\n"),
    "neo4j-like": (":ID,name,type\n1,A,gene\n2,B,drug\n", ":START_ID,:END_ID,:TYPE\n2,1,hits\n"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_known_names_need_no_option(shape: str, tmp_path: Path) -> None:
    nodes, edges = SHAPES[shape]
    files = {"one.csv": nodes, "two.csv": edges, "README.md": "words", "graph.json": '{"name": "g"}'}
    found = imported(tmp_path, files)
    assert [(node.id, node.type, node.name) for node in found.nodes] == [("1", "gene", "A"), ("2", "drug", "B")]
    assert found.triples == [("2", "hits", "1")]
    assert sorted(Path(one.file).name for one in found.report.ignored) == ["README.md", "graph.json"]


def test_primekg_csv_makes_its_nodes_from_the_edges(tmp_path: Path) -> None:
    header = "relation,display_relation,x_index,x_id,x_type,x_name,x_source,y_index,y_id,y_type,y_name,y_source\n"
    rows = (
        "protein_protein,ppi,0,9796,gene/protein,PHYHIP,NCBI,8889,56992,gene/protein,KIF15,NCBI\n"
        "protein_protein,ppi,8889,56992,gene/protein,KIF15,NCBI,0,9796,gene/protein,PHYHIP,NCBI\n"
        "contraindication,contraindication,7,DB1,drug,Aspirin,DrugBank,0,9796,gene/protein,PHYHIP,NCBI\n"
        "contraindication,contraindication,0,9796,gene/protein,PHYHIP,NCBI,7,DB1,drug,Aspirin,DrugBank\n"
    )
    found = imported(tmp_path, {"kg.csv": header + rows})
    assert found.nodes[0] == Node("0", "gene/protein", "PHYHIP", "", (), {"id": 9796, "source": "NCBI"})
    assert found.triples == [("0", "protein_protein", "8889"), ("7", "contraindication", "0")]
    assert found.graph.schema.symmetric == {"protein_protein"}
    assert found.graph.schema.labels == {"protein_protein": "ppi"}
    assert {edge.properties.get("display_relation") for edge in found.edges} == {None}


def test_columns_that_repeat_the_ends_are_not_stored(tmp_path: Path) -> None:
    edges = "head,relation,tail,head_type,tail_type,display_relation,text\n1,r,2,gene,drug,shown,1 r 2\n"
    found = imported(tmp_path, {"nodes.csv": "id,name,type\n1,A,gene\n2,B,drug\n", "edges.csv": edges})
    assert found.edges == [Edge("1", "r", "2", "1 r 2")]
    assert found.graph.schema.labels == {"r": "shown"}


def test_edges_keep_weight_text_and_all_else(tmp_path: Path) -> None:
    edges = [
        {
            "from": "a",
            "to": "b",
            "type": "r",
            "weight": 0.5,
            "note": "x",
            "properties": '{"year": 2001, "description": "d"}',
        },
        {"from": "a", "to": "b", "type": "r", "weight": None, "note": "", "properties": None},
        {"from": "b", "to": "a", "type": "", "weight": "heavy"},
    ]
    found = imported(tmp_path, {"nodes.jsonl": [{"id": "a"}, {"id": "b"}], "edges.jsonl": edges})
    assert sorted(found.edges, key=lambda edge: (edge.source, -len(edge.properties))) == [
        Edge("a", "r", "b", "d", 0.5, {"note": "x", "year": 2001}),
        Edge("a", "r", "b"),
        Edge("b", "edge", "a", "", 1.0, {"weight": "heavy"}),
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("triples.tsv", "a\tlikes\tb\nb\tlikes\tc\n"),
        ("kg.csv", "a,likes,b\nb,likes,c\n"),
        ("train.txt", "a\tlikes\tb\nb\tlikes\tc\n"),
        ("net.sif", "a likes b\nb likes c\n"),
    ],
)
def test_three_columns_without_names_are_triples(name: str, content: str, tmp_path: Path) -> None:
    found = imported(tmp_path, {name: content})
    assert found.triples == [("a", "likes", "b"), ("b", "likes", "c")]
    assert found.nodes == [Node(one, "node", one) for one in "abc"]


def test_hetionets_own_files_need_no_option(tmp_path: Path) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "hetionet-v1.0-nodes.tsv").write_text("id\tname\tkind\nGene::1\tA\tGene\nGene::2\tB\tGene\n")
    edges = b"source\tmetaedge\ttarget\nGene::1\tGr>G\tGene::2\n"
    (folder / "hetionet-v1.0-edges.sif.gz").write_bytes(gzip.compress(edges))
    assert Imported(folder, ImportOptions()).triples == [("Gene::1", "Gr>G", "Gene::2")]


def test_a_word_that_is_also_a_column_name_may_be_data(tmp_path: Path) -> None:
    assert imported(tmp_path, {"kg.tsv": "aspirin\ttype\tdrug\n"}).triples == [("aspirin", "type", "drug")]


# ----------------------------------------------------------------------------------------------------- options


def test_columns_and_files_can_be_named_by_hand(tmp_path: Path) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "things.csv").write_text("code,what,words\nA,gene,hello\nB,drug,bye\n")
    (folder / "pairs.csv").write_text("one,two,how\nA,B,r\n")
    columns = {"id": "code", "node_type": "what", "text": "words", "source": "one", "target": "two", "edge_type": "how"}
    options = ImportOptions(nodes=(folder / "things.csv",), edges=(folder / "pairs.csv",), columns=columns)
    found = Imported(folder, options)
    assert found.nodes == [Node("A", "gene", "A", "hello"), Node("B", "drug", "B", "bye")]
    assert found.triples == [("A", "r", "B")]
    options = ImportOptions(columns=columns, force=True)
    assert Imported(folder, options).triples == [("A", "r", "B")]


def test_a_role_or_a_column_that_does_not_exist_is_named(tmp_path: Path) -> None:
    files = {"nodes.csv": "id,name\n1,A\n"}
    with pytest.raises(BadOption, match="No role 'idd'.*id, name"):
        imported(tmp_path / "1", files, columns={"idd": "id"})
    with pytest.raises(BadInput, match=r"--column: there is no column 'nmae'.*id, name"):
        imported(tmp_path / "2", files, columns={"name": "nmae"})
    with pytest.raises(BadInput, match=r"--private: there is no column 'secert'"):
        imported(tmp_path / "3", files, private=("secert",))
    with pytest.raises(BadInput, match=r"--explode: no table of nodes has a column 'tags'"):
        imported(tmp_path / "4", files, explode={"tags": "has"})
    with pytest.raises(BadOption, match="cannot be private and used"):
        imported(tmp_path / "5", files, private=("name",), columns={"text": "name"})


def _bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_private_columns_are_stored_nowhere(tmp_path: Path) -> None:
    nodes = [{"id": "a", "name": "A", "secret": "hush1", "extra": '{"inner": "hush2", "open": "said"}'}, {"id": "b"}]
    edges = [{"source": "a", "type": "r", "target": "b", "who": "hush3"}, {"source": "b", "type": "r", "target": "a"}]
    files = {"nodes.jsonl": nodes, "edges.jsonl": edges}
    found = imported(tmp_path, files, private=("secret", "inner", "who"))
    stored = _bytes(tmp_path / "source.graph")
    assert b"said" in stored
    assert b"hush" not in stored
    assert found.report.private == {"secret": 1, "inner": 1, "who": 1}
    assert "private column secret" in found.report.render()


def test_a_list_column_can_become_nodes_and_edges(tmp_path: Path) -> None:
    nodes = [{"id": "p1", "tags": ["red", "old", "red"]}, {"id": "p2", "tags": "red|new"}, {"id": "p3", "tags": None}]
    found = imported(tmp_path, {"nodes.jsonl": nodes}, explode={"tags": "has_tag"})
    assert found.triples == [
        ("p1", "has_tag", "tags:old"),
        ("p1", "has_tag", "tags:red"),
        ("p2", "has_tag", "tags:new"),
        ("p2", "has_tag", "tags:red"),
    ]
    assert found.graph.node("tags:red") == Node("tags:red", "tags", "red")
    assert found.graph.node("p1").properties == {}


# ------------------------------------------------------------------------------------------------------ labels

CODES = (
    "metaedge\tabbreviation\tedges\n"
    "Anatomy - downregulates - Gene\tAdG\t1\n"
    "Compound - downregulates - Gene\tCdG\t1\n"
    "Gene > regulates > Gene\tGr>G\t2\n"
)
CODED = {
    "nodes.tsv": "id\tname\tkind\ng\tG\tGene\nh\tH\tGene\na\tA\tAnatomy\nc\tC\tCompound\n",
    "edges.tsv": "source\tmetaedge\ttarget\na\tAdG\tg\nc\tCdG\tg\ng\tGr>G\th\ng\tGr>G\tg\n",
}


def test_a_table_of_codes_beside_the_edges_gives_labels(tmp_path: Path) -> None:
    found = imported(tmp_path, CODED | {"metaedges.tsv": CODES})
    schema = found.graph.schema
    assert schema.labels == {"AdG": "downregulates", "CdG": "downregulates", "Gr>G": "regulates"}
    assert schema.also_called["AdG"] == ("Anatomy - downregulates - Gene",)
    assert schema.edge_types == {"AdG": 1, "CdG": 1, "Gr>G": 2}
    assert found.report.ignored == ()


def test_labels_can_be_given_by_hand_with_further_words(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("AdG,lowers,turns down|represses\nGene,protein-coding gene,\nother,unused,\n")
    schema = imported(tmp_path, CODED, labels=labels).graph.schema
    assert schema.labels == {"AdG": "lowers", "Gene": "protein-coding gene"}
    assert schema.also_called["AdG"] == ("turns down", "represses")


def test_labels_of_no_known_type_are_an_error(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("code,label\nXyZ,lowers\n")
    with pytest.raises(BadInput, match="names no edge type.*AdG"):
        imported(tmp_path, CODED, labels=labels)


def test_a_table_that_is_not_about_types_is_ignored(tmp_path: Path) -> None:
    files = CODED | {"questions.jsonl": [{"id": n, "query": "which?", "about": "AdG"} for n in range(9)]}
    found = imported(tmp_path, files)
    assert found.graph.schema.labels == {}
    assert [Path(one.file).name for one in found.report.ignored] == ["questions.jsonl"]


def unclear(tmp_path: Path, files: Mapping[str, str], **options: Any) -> str:
    with pytest.raises(BadInput) as raised:
        imported(tmp_path, files, **options)
    return str(raised.value)


def test_a_table_that_says_nothing_of_itself_loses_no_row(tmp_path: Path) -> None:
    found = imported(tmp_path, {"table.csv": "alpha,beta\n1,2\n1,2\n3,\n"})
    assert [(node.type, dict(node.properties)) for node in found.nodes] == [
        ("table", {"alpha": 1, "beta": 2}),
        ("table", {"alpha": 1, "beta": 2}),
        ("table", {"alpha": 3}),
    ]


def test_what_is_not_clear_is_asked_for(tmp_path: Path) -> None:
    assert "--column target=COLUMN" in unclear(tmp_path / "2", {"edges.csv": "source,whither\n1,2\n"})
    file = tmp_path / "3" / "source" / "nodes.csv"
    assert f"--nodes {file}:id=alpha" in unclear(tmp_path / "3", {"nodes.csv": "alpha,beta\n1,2\n"})
    assert "holds no table" in unclear(tmp_path / "4", {})
    assert "things.csv is empty, and no other" in unclear(tmp_path / "6", {"things.csv": "", "README.md": ""})
    assert "holds no table" in unclear(tmp_path / "5", {"README.txt": "a\tb\tc\n"})


def test_genes_with_a_start_and_an_end_are_nodes(tmp_path: Path) -> None:
    found = imported(tmp_path, {"genes.csv": "id,name,start,end\ng1,BRCA1,10,20\n"})
    assert found.nodes == [Node("g1", "gene", "BRCA1", "", (), {"start": 10, "end": 20})]


def _names(rows: Iterable[Any]) -> list[str]:
    return [row.id for row in rows]


def test_several_tables_of_nodes_are_read_together(tmp_path: Path) -> None:
    files = {"genes.csv": "id,name\ng1,A\n", "drugs.csv": "id,name\nd1,B\n", "hits.csv": "source,target\nd1,g1\n"}
    found = imported(tmp_path, files)
    assert _names(found.nodes) == ["d1", "g1"]
    assert [node.type for node in found.nodes] == ["drug", "gene"]
    assert found.triples == [("d1", "hits", "g1")]
