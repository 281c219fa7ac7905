"""Workbooks: each sheet is a table, its cells as texts; what another program writes comes back."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from orienteer.errors import BadInput
from orienteer.ingest import ImportReport, import_graph

openpyxl = pytest.importorskip("openpyxl")
PORTS = [["id", "name", "opened", "depth", "is_free"], [1, "Holm", datetime.date(1901, 5, 2), 3.5, True]]
PORTS += [[2, "Salt Bay", datetime.datetime(1999, 1, 1), 12.0, False], [3, "0712", datetime.date(2004, 2, 29), 7, None]]
SHIPS = [["ship_id", "name", "port_id"], *([f"s{number}", f"Ship {number}", 1 + number % 3] for number in range(9))]
Write = Callable[[Path, dict[str, Sequence[Sequence[object]]]], Path]


def xlsx(path: Path, sheets: dict[str, Sequence[Sequence[object]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    book.save(path.with_suffix(".xlsx"))
    return path.with_suffix(".xlsx")


def ods(path: Path, sheets: dict[str, Sequence[Sequence[object]]]) -> Path:
    """Write the cells of an OpenDocument sheet by hand."""
    tables = "".join(
        f'<table:table table:name="{name}">'
        + "".join(f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in rows)
        + '<table:table-row table:number-rows-repeated="1048000"><table:table-cell '
        'table:number-columns-repeated="16384"/></table:table-row></table:table>'
        for name, rows in sheets.items()
    )
    return _zipped(path.with_suffix(".ods"), tables)


def _zipped(path: Path, tables: str) -> Path:
    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("mimetype", kind, zipfile.ZIP_STORED)
        packed.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
            f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/></manifest:manifest>',
        )
        packed.writestr(
            "content.xml",
            f"<office:document-content {names}><office:body><office:spreadsheet>{tables}</office:spreadsheet>"
            "</office:body></office:document-content>",
        )
    return path


def _ods_cell(value: object) -> str:
    if value is None:
        return "<table:table-cell/>"
    if isinstance(value, bool):
        kind, shown = f'boolean" office:boolean-value="{str(value).lower()}', str(value).upper()
    elif isinstance(value, datetime.date):
        kind, shown = f'date" office:date-value="{value.isoformat()[:10]}', f"{value:%d.%m.%Y}"
    elif isinstance(value, int | float):
        kind, shown = f'float" office:value="{value}', str(value)
    else:
        kind, shown = "string", str(value)
    return f'<table:table-cell office:value-type="{kind}"><text:p>{shown}</text:p></table:table-cell>'


def imported(path: Path, tmp_path: Path) -> tuple[ImportReport, dict[str, dict[str, object]]]:
    """Return the report, and the properties and name of each node by its id."""
    from orienteer.graph import Graph

    report = import_graph([path], tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph")
    nodes = [graph.node(node_id) for node_id in graph.arrays.ids]
    return report, {node.id: {"name": node.name, **node.properties} for node in nodes}


@pytest.mark.parametrize("write", [xlsx, ods])
def test_each_sheet_is_a_table_and_they_lead_to_one_another(write: Write, tmp_path: Path) -> None:
    path = write(tmp_path / "harbour", {"Ports": PORTS, "Ships": SHIPS, "Empty": []})
    report, nodes = imported(path, tmp_path)
    assert [mapping.file for mapping in report.mapping] == [f"{path}#Ports", f"{path}#Ships"]
    assert (report.node_types, report.edges) == ({"port": 3, "ship": 9}, 9)
    holm, salt, noor = (nodes[str(number)] for number in (1, 2, 3))
    assert (holm["name"], holm["opened"], holm["depth"], holm["is_free"]) == ("Holm", "1901-05-02", 3.5, "true")
    assert (salt["opened"], salt["depth"]) == ("1999-01-01", 12)
    assert (noor["name"], "is_free" in noor) == ("0712", False)


@pytest.mark.parametrize("write", [xlsx, ods])
def test_the_point_of_a_number_is_no_sign_of_thousands(write: Write, tmp_path: Path) -> None:
    """A sheet holds 2.625 as a number, and nothing beside it says more."""
    path = write(tmp_path / "harbour", {"Ports": [["id", "depth"], ["a", 2.625], ["b", 10.0], ["c", 6.125]]})
    report, nodes = imported(path, tmp_path)
    assert [nodes[name]["depth"] for name in "abc"] == [2.625, 10, 6.125]
    assert not report.mapping[0].questions


@pytest.mark.parametrize("write", [xlsx, ods])
def test_titles_totals_and_the_header_again_are_no_rows(write: Write, tmp_path: Path) -> None:
    above = [["Register of ports"], [None], ["As of", "2024"]]
    below = [PORTS[0], ["Total", None, None, 22.5]]
    path = write(tmp_path / "harbour", {"Ports": [*above, *PORTS, *below]})
    report, nodes = imported(path, tmp_path)
    assert {node["name"] for node in nodes.values()} == {"Holm", "Salt Bay", "0712"}
    assert {cut.reason: [place.line for place in cut.first] for cut in report.dropped} == {
        "header again": [8],
        "total": [9],
    }
    assert any("its table begins at line 4; above: Register of ports" in note for note in report.notes)


def test_a_sheet_without_a_name_of_its_own_is_called_by_its_file(tmp_path: Path) -> None:
    report, _ = imported(xlsx(tmp_path / "ports", {"Sheet1": PORTS}), tmp_path)
    assert report.node_types == {"port": 3}


def test_a_cell_merged_over_rows_is_the_cell_of_each(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["id", "country"], ["a", "Norway"], ["b", None], ["c", "Denmark"]):
        book.active.append(row)
    book.active.merge_cells("B2:B3")
    book.save(tmp_path / "ports.xlsx")
    _, nodes = imported(tmp_path / "ports.xlsx", tmp_path)
    assert [node["country"] for node in nodes.values()] == ["Norway", "Norway", "Denmark"]


@pytest.mark.process
def test_a_folder_of_workbooks_is_a_graph_of_tables_and_beside_prose_they_are_documents(tmp_path: Path) -> None:
    from orienteer.graph import Graph
    from orienteer.ingest import graph_directory

    folder = tmp_path / "harbour"
    folder.mkdir()
    xlsx(folder / "harbour", {"Ports": PORTS, "Ships": SHIPS})

    def types() -> set[str]:
        return set(Graph.open(graph_directory(folder, cache=tmp_path / "cache")).arrays.manifest.node_types)

    assert types() == {"port", "ship"}
    (folder / "ports.csv").write_text("port_id,fee\n1,9\n2,8\n3,7\n")
    assert {"ship", "port"} <= types()
    (folder / "ports.csv").unlink()
    (folder / "plan.md").write_text("# Plan\n\nThe harbour is dredged in May.\n")
    assert types() >= {"document", "chunk"}
    assert "ship" not in types()


def _far_apart(path: Path) -> Path:
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "id", 1
    book.save(path)
    return path


def _repeated(path: Path) -> Path:
    cell = '<table:table-cell table:number-columns-repeated="16000" office:value-type="string"><text:p>x</text:p>'
    row = f'<table:table-row table:number-rows-repeated="1000000">{cell}</table:table-cell></table:table-row>'
    return _zipped(path, f'<table:table table:name="a">{row}</table:table>')


def _bomb(path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed, packed.open("xl/workbook.xml", "w") as content:
        for _ in range(80):
            content.write(b" " * (1 << 20))
    return path


def _cut(path: Path) -> Path:
    whole = xlsx(path, {"Ports": PORTS}).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    return path


def _empty(path: Path) -> Path:
    return xlsx(path, {"Ports": [["id", "name"]]})


@pytest.mark.parametrize(
    ("damage", "name", "message"),
    [
        (_far_apart, "a.xlsx", "far apart: save its sheets as CSV"),
        (_repeated, "a.ods", "far apart: save its sheets as CSV"),
        (_bomb, "a.xlsx", "more than 200 times its size"),
        (_cut, "a.xlsx", "is no whole workbook"),
        (_empty, "a.xlsx", "no sheet with rows below a header"),
    ],
)
def test_what_cannot_be_read_is_one_clear_error(damage, name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=message):
        import_graph([damage(tmp_path / name)], tmp_path / "graph")
    assert not (tmp_path / "graph").exists()


@pytest.mark.parametrize("name", ["a.xlsx", "a.xls", "a.ods", "a.xlsm"])
@pytest.mark.parametrize("content", [b"words", b"PK\x03\x04 words", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2_000)])
def test_no_bytes_give_a_traceback(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=name):
        import_graph([tmp_path / name], tmp_path / "graph")
