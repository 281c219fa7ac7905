"""What APOC exports of a Neo4j database, as its manual shows it: a CSV of everything, JSON lines, a JSON list."""

import gzip
import json

import pytest

from orienteer.errors import BadInput
from orienteer.graph import Graph
from orienteer.ingest import ImportOptions, import_graph
from orienteer.records import Edge, Node

CSV = """"_id","_labels","born","kids","name","title","_start","_end","_type","name","roles"
"188",":Movie","","","","The Matrix",,,,,
"189",":Actor:Person","1964","[""a"",""b""]","Keanu Reeves","",,,,,
"190","","","","An, ""other""
line","",,,
,,,,,,"189","188","ACTED_IN","lead","[""Neo""]"
,,,,,,"190","188","DIRECTED","",""
"""
LINES = [
    {"type": "node", "id": "188", "labels": ["Movie"], "properties": {"title": "The Matrix"}},
    {"type": "node", "id": "189", "labels": ["Actor", "Person"],
     "properties": {"name": "Keanu Reeves", "born": 1964, "kids": ["a", "b"]}},
    {"type": "node", "id": "190", "properties": {"name": 'An, "other"\nline'}},
    {"id": "0", "type": "relationship", "label": "ACTED_IN", "properties": {"roles": ["Neo"], "name": "lead"},
     "start": {"id": "189", "labels": ["Person"]}, "end": {"id": "188", "labels": ["Movie"]}},
    {"id": "1", "type": "relationship", "label": "DIRECTED", "start": {"id": "190"}, "end": {"id": "188"}},
]  # fmt: skip
NODES = [
    Node("188", "Movie", "The Matrix"),
    Node("189", "Actor", "Keanu Reeves", "", (), {"born": 1964, "kids": ["a", "b"], "labels": ["Person"]}),
    Node("190", "node", 'An, "other"\nline'),
]
EDGES = [
    Edge("189", "ACTED_IN", "188", properties={"roles": ["Neo"], "name": "lead"}),
    Edge("190", "DIRECTED", "188"),
]
JSON_LINES = "".join(json.dumps(line) + "\n" for line in LINES)


@pytest.fixture
def read(tmp_path):
    """Give a function that imports a text under a name: the report and the graph."""

    def reading(text, name, **options):
        path = tmp_path / name
        content = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        report = import_graph([path], tmp_path / "made", options=ImportOptions(force=True, **options))
        return report, Graph.open(tmp_path / "made")

    return reading


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (CSV, "all.csv"),
        (CSV, "all.csv.gz"),
        (CSV.replace('"_id","_labels"', "_id,_labels").replace("\n", "\r\n").replace("r\r\n", "r\n"), "all.csv"),
        (JSON_LINES, "all.json"),
        (JSON_LINES, "all.jsonl"),
        ("\n" + JSON_LINES, "all.json.gz"),
        (json.dumps(LINES), "all.json"),
        (json.dumps(LINES, indent=1), "all.json"),
    ],
)
def test_everything_is_read_alike(text, name, read):
    report, graph = read(text, name)
    found = [graph.node(node_id) for node_id in graph.node_ids()]
    if "\r\n" in text:
        found = [Node(*(cell.replace("\r", "") if isinstance(cell, str) else cell for cell in
                        (node.id, node.type, node.name, node.text, node.aliases, node.properties)))
                 for node in found]  # fmt: skip
    assert found == NODES
    assert sorted(graph.iter_edges(), key=lambda edge: edge.type) == EDGES
    assert (report.dropped, report.merged, report.notes, report.symmetric) == ((), (), (), ())


def test_properties_named_as_the_parts_of_a_node_stay_properties(read):
    lines = [
        {"type": "node", "id": "1", "labels": ["A"], "properties": {"id": "u-7", "type": "t", "labels": "l"}},
        {"type": "node", "id": "2", "labels": ["A"], "properties": {"id": 2}},
        {"type": "relationship", "label": "R", "start": {"id": "1"}, "end": {"id": "2"},
         "properties": {"type": "t", "label": "l", "weight": 2}},
        {"type": "relationship", "label": "R", "start": "1", "end": "2", "properties": {"other": 1}},
    ]  # fmt: skip
    _, graph = read("".join(json.dumps(line) + "\n" for line in lines), "all.json")
    assert graph.node("1").properties == {"id": "u-7", "type": "t", "property.labels": "l"}
    assert (graph.node("2").type, graph.node("2").properties) == ("A", {"id": 2})
    first, second = sorted(graph.iter_edges(), key=lambda edge: edge.weight)
    assert (first.type, first.properties) == ("R", {"other": 1})
    assert (second.type, second.weight, second.properties) == ("R", 2.0, {"type": "t", "label": "l"})


def test_columns_can_be_named_and_left_out(read):
    report, graph = read(CSV, "all.csv", columns={"name": "title"}, private=("born",), explode={"kids": "has_kid"})
    assert report.private == {"born": 1}
    assert graph.node("kids:a").type == "kids"
    assert report.edge_types == {"ACTED_IN": 1, "DIRECTED": 1, "has_kid": 2}


def test_a_folder_with_its_csv_alone_is_that_graph(tmp_path):
    folder = tmp_path / "import"
    folder.mkdir()
    (folder / "all.csv").write_text(CSV)
    assert import_graph([folder], tmp_path / "made").edges == 2


def test_what_is_dropped_is_told(read):
    text = (
        JSON_LINES.replace('"id": "188", ', "", 1).encode()
        + b'{"type":"node","id":"9","properties":{"name":"K\xf6ln"}}'
    )
    report, _ = read(text, "all.json")
    assert {cut.reason: (cut.count, cut.first[0].line) for cut in report.dropped} == {
        "empty id": (1, 1),
        "bad encoding": (1, 6),
        "dangling": (2, 4),
    }


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (JSON_LINES + '{"type": "planet", "id": 1}\n', "all.json", "line 6: .* is no node and no relationship"),
        (JSON_LINES + "[1]\n", "all.json", "line 6: .* is no JSON object"),
        (JSON_LINES + '{"type": "no', "all.json", "line 6, column 10: broken JSON"),
        (json.dumps(LINES)[:-3], "all.json", "no whole JSON file"),
        (json.dumps([*LINES, 3]), "all.json", "line 6: 3 is no node and no relationship"),
        (CSV + '"1",":A","","","",""' + "," * 9 + "\n", "all.csv", "line 8: 15 fields where 11 are expected"),
        (CSV + '"1",":A","', "all.csv", "is the file cut short"),
        (CSV.replace('"kids"', '"born"'), "all.csv", "two columns named 'born'"),
    ],
)
def test_a_broken_file_is_one_clear_error(text, name, message, read, tmp_path):
    with pytest.raises(BadInput, match=message) as caught:
        read(text, name)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "made").exists()
