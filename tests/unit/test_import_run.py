"""The run as a whole: the report, strictness, one clear error, nothing left behind."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from orienteer.errors import BadInput, DuplicateNode
from orienteer.graph import Graph
from orienteer.ingest import ImportOptions, ImportReport, import_graph, validate_sources

NODES = "id,name,kind\na,A,gene\nb,B,gene\nc,C,gene\nx,X,drug\n"
EDGES = "source,relation,target\na,binds,b\nb,binds,a\nx,hits,a\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "nodes.csv").write_text(NODES)
    (folder / "edges.csv").write_text(EDGES)
    return folder


def left(tmp_path: Path) -> set[str]:
    return {path.name for path in tmp_path.iterdir()}


def test_the_report_counts_what_came_and_places_what_did_not(source: Path, tmp_path: Path) -> None:
    (source / "nodes.csv").write_bytes(NODES.encode() + b",nob\xc3\xb6dy,gene\nd,caf\xe9,gene\na,A,gene\n")
    (source / "edges.csv").write_text(EDGES + "x,hits,a\na,hits,ghost\n,hits,a\nx,hits,\n")
    report = import_graph([source], tmp_path / "out")
    assert (report.nodes, report.edges) == (4, 2)
    assert report.node_types == {"gene": 3, "drug": 1}
    assert report.edge_types == {"binds": 1, "hits": 1}
    assert report.symmetric == ("binds",)
    nodes, edges = str(source / "nodes.csv"), str(source / "edges.csv")
    first = {cut.reason: [(one.file, one.line) for one in cut.first] for cut in (*report.dropped, *report.merged)}
    assert first == {
        "empty id": [(nodes, 6), (edges, 7), (edges, 8)],
        "bad encoding": [(nodes, 7)],
        "dangling": [(edges, 6)],
        "duplicate": [(nodes, 8), (edges, 5)],
        "mirrored": [(edges, 3)],
    }
    counts = {cut.reason: cut.count for cut in (*report.dropped, *report.merged)}
    assert counts == {"empty id": 3, "bad encoding": 1, "dangling": 1, "duplicate": 2, "mirrored": 1}
    graph = Graph.open(tmp_path / "out")
    assert (graph.arrays.manifest.nodes, graph.arrays.manifest.edges) == (4, 2)


def test_the_report_speaks_json_and_prose(source: Path, tmp_path: Path) -> None:
    (source / "edges.csv").write_text(EDGES + "a,hits,ghost\n")
    report = import_graph([source], tmp_path / "out")
    written = json.loads(report.model_dump_json())
    assert {"nodes", "edges", "dropped", "merged", "seconds", "peak_bytes"} <= set(written)
    place = {"file": str(source / "edges.csv"), "line": 5, "value": "a -> hits -> ghost"}
    assert written["dropped"] == [{"reason": "dangling", "count": 1, "first": [place]}]
    assert ImportReport.model_validate(written) == report
    text = report.render()
    assert "4 nodes" in text
    assert "2 edges" in text
    assert "1 binds, symmetric" in text
    assert f"{source / 'edges.csv'}, line 5: a -> hits -> ghost" in text


def test_validate_gives_the_report_of_an_import_and_writes_nothing(source: Path, tmp_path: Path) -> None:
    found = validate_sources([source])
    assert left(tmp_path) == {"source"}
    made = import_graph([source], tmp_path / "out")
    volatile = {"seconds": 0.0, "peak_bytes": None}
    assert found.model_copy(update=volatile) == made.model_copy(update=volatile)


@pytest.mark.parametrize(
    ("file", "line", "reason"),
    [
        ("edges.csv", "a,hits,ghost", "1 dangling"),
        ("edges.csv", "x,hits,a", "1 duplicate"),
        ("edges.csv", "a,hits,x", "1 mirrored"),
        ("edges.csv", ",hits,a", "1 empty id"),
        ("nodes.csv", "d,é\udce9,gene", "1 bad encoding"),
    ],
)
def test_strict_turns_each_reason_into_a_failure(
    file: str, line: str, reason: str, source: Path, tmp_path: Path
) -> None:
    (source / "edges.csv").write_text("source,relation,target\na,likes,b\nx,hits,a\n")
    strict = ImportOptions(strict=True)
    assert validate_sources([source], options=strict).edges == 2
    with (source / file).open("ab") as stream:
        stream.write(line.encode(errors="surrogateescape") + b"\n")
    with pytest.raises(BadInput, match=rf"--strict: {reason} .*{file}, line \d: .*--strict"):
        import_graph([source], tmp_path / "out", options=strict)
    assert left(tmp_path) == {"source"}
    assert validate_sources([source]).edges == 2


def _two_nodes(folder: Path) -> str:
    (folder / "other_nodes.jsonl").write_text('{"id": "z"}\n{"id": "b", "name": "other"}\n')
    return r"id 'b': .*/nodes\.csv, line 3, and .*other_nodes\.jsonl, line 2"


def _no_target(folder: Path) -> str:
    (folder / "edges.csv").write_text("source,relation\na,binds\n")
    return r"edges\.csv has no column for the target .*source, relation"


def _pointer(folder: Path) -> str:
    (folder / "edges.csv").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    return "git lfs pull"


def _no_rows(folder: Path) -> str:
    (folder / "nodes.csv").write_text("id,name\n")
    return "hold no node"


@pytest.mark.slow
@pytest.mark.parametrize("damage", [_two_nodes, _no_target, _pointer, _no_rows])
def test_bad_input_is_one_clear_error_and_leaves_the_old_graph(
    damage: Callable[[Path], str], source: Path, tmp_path: Path
) -> None:
    import_graph([source], tmp_path / "old")
    before = Graph.open(tmp_path / "old").arrays.manifest
    message = damage(source)
    with pytest.raises(BadInput, match=message):
        import_graph([source], tmp_path / "new")
    with pytest.raises(BadInput, match=message):
        import_graph([source], tmp_path / "old", options=ImportOptions(force=True))
    assert left(tmp_path) == {"source", "old"}
    assert Graph.open(tmp_path / "old").arrays.manifest == before
    assert not [path for path in (tmp_path / "old").iterdir() if path.name.startswith(".new")]


def test_two_nodes_of_one_id_are_a_duplicate_node(source: Path, tmp_path: Path) -> None:
    _two_nodes(source)
    with pytest.raises(DuplicateNode):
        import_graph([source], tmp_path / "new")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04" + bytes(60), r"ZIP archive.*name it with the suffix \.xlsx"),
        (gzip.compress(b"id,name\na,A\n", mtime=0), "packed with gzip"),
        (b"PAR1" + bytes(60), "Parquet file"),
    ],
)
@pytest.mark.parametrize("name", ["nodes.csv", "nodes.jsonl"])
def test_a_file_that_is_not_what_its_name_says_is_told_as_what_it_is(
    name: str, content: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=message):
        import_graph([tmp_path / name], tmp_path / "out")
    assert left(tmp_path) == {name}


def test_what_lies_beside_tables_is_told_of_only_on_demand(source: Path, tmp_path: Path) -> None:
    for name in ("README.md", "LICENSE", "__init__.py", ".hidden.csv", "map.docx"):
        (source / name).write_text("words")
    report = import_graph([source], tmp_path / "out")
    assert [line.split("/")[-1] for line in report.render().splitlines() if "ignored" in line] == ["map.docx: no table"]
    whole = report.render(is_verbose=True)
    assert all(f"{name}: no table" in whole for name in ("README.md", "LICENSE", "__init__.py", "map.docx"))
    assert ".hidden" not in whole
    assert {tuple(one) for one in report.model_dump()["ignored"]} == {("file", "reason")}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.csv", "does not exist: name a folder"),
        ("graph.json", "is not among the formats: .csv"),
        ("", "holds no table"),
    ],
)
def test_sources_that_are_none_say_what_is_read(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "graph.json").write_text("{}")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=message):
        import_graph([tmp_path / (name or "empty")], tmp_path / "out")
    assert left(tmp_path) == {"graph.json", "empty"}


@pytest.mark.slow
def test_a_graph_is_no_source_and_is_replaced_only_by_force(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    import_graph([source], out)
    with pytest.raises(BadInput, match="is a graph already"):
        import_graph([out], tmp_path / "other")
    with pytest.raises(BadInput, match="--force"):
        import_graph([source], out)
    (source / "nodes.csv").write_text(NODES + "e,E,gene\n")
    import_graph([source], out, options=ImportOptions(force=True))
    assert Graph.open(out).arrays.manifest.nodes == 5


def test_progress_is_told_while_it_runs(source: Path, tmp_path: Path) -> None:
    told: list[tuple[str, int]] = []
    import_graph([source], tmp_path / "out", progress=lambda stage, count: told.append((stage, count)))
    assert ("reading edges", 3) in told


def test_a_private_column_is_nowhere_not_even_in_the_report_of_rows_that_were_dropped(tmp_path):
    (tmp_path / "nodes.csv").write_bytes(
        b"ssn,id,name\n123-SECRET,,\xc3\x84nn\n777-SECRET\xff,p3,Bob\n555-SECRET,p1,Cid\n"
    )
    report = import_graph([tmp_path], tmp_path / "graph", options=ImportOptions(private=("ssn",)))
    assert {cut.reason for cut in report.dropped} == {"empty id", "bad encoding"}
    assert "SECRET" not in report.model_dump_json()
    assert "SECRET" not in report.render()
    for file in (tmp_path / "graph").rglob("*"):
        assert not file.is_file() or b"SECRET" not in file.read_bytes()
    (tmp_path / "nodes.csv").write_text("ssn,id,name\n1-SECRET,p1,Dan,x\n")
    with pytest.raises(BadInput) as error:
        import_graph([tmp_path], tmp_path / "other", options=ImportOptions(private=("ssn",)))
    assert "SECRET" not in str(error.value)


def test_a_report_of_one_thing_speaks_of_one(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,name\na,Ann\n")
    (tmp_path / "edges.csv").write_text("source,target\na,a\n")
    report = import_graph([tmp_path / "nodes.csv", tmp_path / "edges.csv"], tmp_path / "graph")
    assert report.render().splitlines()[:4] == ["1 node", "  1 node", "1 edge", "  1 edge"]
    assert repr(Graph.open(tmp_path / "graph")).endswith("1 node, 1 edge)")
