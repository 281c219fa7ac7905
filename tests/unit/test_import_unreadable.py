"""A file of a folder that cannot be read is left out and told first; a file that stands alone, or --strict, refuses."""

from __future__ import annotations

import csv
import gzip
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from orienteer.errors import BadInput, UnreadableFile
from orienteer.graph import Graph
from orienteer.ingest import ImportOptions, import_graph, spec_of

pytestmark = pytest.mark.slow

BEER = Path(__file__).parents[1] / "ingest" / "beer"
ROWS = b"id,name\n" + b"".join(b"%d,place %d\n" % (row, row * 7919) for row in range(9_000))


def database(path: Path) -> bytes:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE pub (id INTEGER PRIMARY KEY, name TEXT)")
    connection.executemany("INSERT INTO pub VALUES (?, ?)", [(row, "a pub " * 40) for row in range(2_000)])
    connection.commit()
    connection.close()
    return path.read_bytes()


BROKEN = {
    "pubs.csv.gz": (gzip.compress(ROWS, mtime=0)[:9_000], "cut short"),
    "pubs.csv": (b"id,name\n1,A,B\n", "too many cells"),
    "pubs.ndjson": ('{"id": 1}\n'.encode("utf-16"), "UTF-16"),
    "pubs.tsv": (b"PK\x03\x04 a sheet", "ZIP archive"),
    "pubs.parquet": (b"PAR1 and no more", "no whole Parquet file"),
    "pubs.jsonl": (b'{"id": 1, "name": "A"}\n{"id": 2,\n', "broken JSON"),
    "served.csv": (b'source,target\n"3,4\n', "cut short"),
}


NO_COLUMNS = (
    "\ufeff",
    "{}",
    "\ufeff{}",
    "{}\n{}\n{}",
    "\n",
    "\n\n\n",
    "\r\n",
    "\ufeff\n",
    "   ",
    "\t",
    "\u2028",
    "[]",
    "",
)
SUFFIXES = ("csv", "tsv", "txt", "jsonl", "ndjson", "json", "csv.gz", "jsonl.gz")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder of tables that are whole."""
    return shutil.copytree(BEER, tmp_path / "beer")


@pytest.mark.parametrize("name", [*BROKEN, "pubs.db"])
def test_what_cannot_be_read_is_left_out_counted_and_named_first(name: str, folder: Path, tmp_path: Path) -> None:
    whole = import_graph([folder], tmp_path / "whole")
    content, reason = BROKEN.get(name) or (database(tmp_path / "x.db")[:40_960], "no whole SQLite database")
    (folder / name).write_bytes(content)
    report = import_graph([folder], tmp_path / "graph")
    (left,) = report.unreadable
    assert left.file == str(folder / name)
    assert reason in left.reason
    assert report.render().startswith(f"warning: left out, for it cannot be read: {folder / name}: {left.reason}\n")
    assert (report.node_types, report.edge_types) == (whole.node_types, whole.edge_types)
    assert Graph.open(tmp_path / "graph").arrays.manifest.provenance["unreadable"] == [
        {"file": str(folder / name), "reason": left.reason}
    ]
    with pytest.raises(BadInput, match=f"^--strict: .*{name}"):
        import_graph([folder], tmp_path / "strict", options=ImportOptions(strict=True))
    assert not (tmp_path / "strict").exists()


def test_several_are_left_out_and_the_last_one_that_is_there_is_refused(folder: Path, tmp_path: Path) -> None:
    for name, (content, _) in BROKEN.items():
        (folder / name).write_bytes(content)
    report = import_graph([folder], tmp_path / "graph")
    assert {Path(file.file).name for file in report.unreadable} == set(BROKEN)
    for path in folder.iterdir():
        if path.name not in BROKEN:
            path.unlink()
    with pytest.raises(BadInput):
        import_graph([folder], tmp_path / "none")
    for path in folder.iterdir():
        if path.name != "pubs.csv.gz":
            path.unlink()
    with pytest.raises(UnreadableFile, match="cut short") as raised:
        import_graph([folder], tmp_path / "none")
    assert raised.value.path == folder / "pubs.csv.gz"
    with pytest.raises(BadInput, match="cut short"):
        import_graph([folder / "pubs.csv.gz"], tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_file_that_a_person_names_is_never_left_out(folder: Path, tmp_path: Path) -> None:
    (folder / "pubs.csv.gz").write_bytes(BROKEN["pubs.csv.gz"][0])
    options = ImportOptions(nodes=[spec_of(f"{folder / 'pubs.csv.gz'}:id=id,name=name", is_edges=False)])
    with pytest.raises(BadInput, match="cut short"):
        import_graph([folder], tmp_path / "graph", options=options)


@pytest.mark.parametrize(
    ("broken", "beside", "is_refused"),
    [
        ("edges.csv", {}, True),
        ("nodes.csv", {}, True),
        ("edges.csv", {"more_edges.csv": "source,type,target\na,likes,b\n"}, False),
        ("nodes.csv", {"more_nodes.csv": "id,name\nc,C\n"}, False),
    ],
)
def test_the_only_table_of_nodes_or_of_edges_is_not_done_without(broken, beside, is_refused, tmp_path: Path) -> None:
    folder = tmp_path / "graph-tables"
    folder.mkdir()
    files = {"nodes.csv": "id,name\na,A\nb,B\n", "edges.csv": "source,type,target\na,likes,b\n", **beside}
    for name, text in {**files, broken: 'id,name\na,"A\n'}.items():
        (folder / name).write_text(text)
    if is_refused:
        with pytest.raises(UnreadableFile, match="cut short"):
            import_graph([folder], tmp_path / "graph")
    else:
        assert [Path(file.file).name for file in import_graph([folder], tmp_path / "graph").unreadable] == [broken]


def test_what_is_unclear_is_refused_as_ever(folder: Path, tmp_path: Path) -> None:
    with (folder / "numbers.csv").open("w", newline="") as file:
        csv.writer(file).writerows([[row, row + 1, row + 2, row + 3] for row in range(9)])
    with pytest.raises(BadInput, match="no row with the names of its columns"):
        import_graph([folder], tmp_path / "graph")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_with_next_to_nothing_in_them_end_no_folder(
    suffix: str, tmp_path: Path, scratch: Callable[[], Path]
) -> None:
    (tmp_path / "ports.csv").write_text("id,name,year\np1,Basel,1501\np2,Bern,1353\n", encoding="utf-8")
    (tmp_path / "edges_of_ports.csv").write_text("source,target\np1,p2\n", encoding="utf-8")
    for stem in ("odd", "edges"):
        for number, content in enumerate(NO_COLUMNS):
            encoded = gzip.compress(content.encode()) if suffix.endswith("gz") else content.encode()
            (tmp_path / f"{stem}{number}.{suffix}").write_bytes(encoded)
    report = import_graph([tmp_path], scratch())
    assert report.node_types["port"] == 2
    assert report.edges == 1


@pytest.mark.parametrize("name", ["odd.csv", "odd.tsv", "odd.jsonl"])
@pytest.mark.parametrize("content", ["\ufeff", "\n\n"], ids=ascii)
def test_alone_they_are_refused_with_the_remedy(content: str, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(BadInput, match="has no columns: write the table again, or leave the file out"):
        import_graph([tmp_path / name], tmp_path / "graph")
