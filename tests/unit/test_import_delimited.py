"""Tables of text as people have them: the cells come back, and what is no row is reported with its line."""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from fakes.inside import inside
from orienteer.errors import BadInput
from orienteer.graph import Graph
from orienteer.ingest import DelimitedText, ImportOptions, has_arrow, import_graph, mappings_as_toml, validate_sources

HEADER = ["id", "name", "country", "depth"]
ROWS = [
    ["1", "Holm", "Norway", "9.5"],
    ["2", "Salt Bay", "Denmark", "12"],
    ["3", "Noor", "Norway", "7.25"],
    ["4", "Gull", "Sweden", "31"],
]


def text(rows: list[list[str]], delimiter: str = ",") -> str:
    """Return rows as the csv module writes them."""
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return written.getvalue()


CLEAN = text([HEADER, *ROWS])


class Found:
    """The rows of a file with their lines, and what was reported."""

    def __init__(self, path: Path, *, header: bool = True) -> None:
        self.dropped: list[tuple[str, int]] = []
        reader = DelimitedText()
        self.columns = list(reader.columns(path))
        self.notes = reader.notes(path)
        batches = reader.batches(
            path, rows=2, drop=lambda why, line, _: self.dropped.append((why, line)), header=header
        )
        self.names: list[str] = []
        self.rows: list[list[str]] = []
        self.lines: list[int] = []
        for batch in batches:
            self.names = list(batch.columns)
            self.rows += [list(row.values()) for row in batch.rows()]
            self.lines += batch.lines

    def _drop(self, reason: str, line: int, value: str) -> None:
        self.dropped.append((reason, line))


def found(tmp_path: Path, content: str | bytes, name: str = "ports.csv", *, header: bool = True) -> Found:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    both = [Found(path, header=header)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inside(DelimitedText), "has_arrow", lambda: False)
        both.append(Found(path, header=header))
    assert vars(both[0]) == vars(both[1])
    return both[0]


# ------------------------------------------------------------------------------------------------- what is read whole


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["ports.csv", "ports.tsv", "ports.txt"])
@pytest.mark.parametrize(
    "title",
    ["", "Port register, of the harbour office\n\n", "Ports\nExported 2024-05-01; by Ada\n", "\n\n"],
    ids=["none", "with a comma", "two lines", "blank lines"],
)
def test_delimiters_and_titles_are_told_from_the_rows(delimiter: str, name: str, title: str, tmp_path: Path) -> None:
    read = found(tmp_path, title + text([HEADER, *ROWS], delimiter), name)
    assert (read.columns, read.rows, read.dropped) == (HEADER, ROWS, [])
    first = title.count("\n") + 2
    assert read.lines == list(range(first, first + len(ROWS)))
    assert bool(read.notes.notes) == bool(title.strip())


@pytest.mark.parametrize(
    "content",
    [
        "sep=;\n" + text([HEADER, *ROWS], ";"),
        '"sep=|"\n' + text([HEADER, *ROWS], "|"),
        "Ports of the north;;;\n;;;\n" + text([HEADER, *ROWS], ";"),
        CLEAN.replace(",", ", "),
        "".join(f"{line};\n" for line in text([HEADER, *ROWS], ";").splitlines()),
        CLEAN.replace("\n", "\r"),
        "\ufeff" + CLEAN.replace("\n", "\r\n"),
        CLEAN.replace("\n", "\n\n"),
        CLEAN.replace("\n2,", "\n,,,\n2,"),
        CLEAN + "\n\n,,,\n",
        CLEAN.rstrip("\n"),
    ],
    ids=[
        *("sep line", "sep line in quotes", "padded title", "blanks after commas", "delimiter at the end"),
        *("carriage returns", "byte order mark", "blank lines", "empty row", "empty end", "no last line break"),
    ],
)
def test_how_a_program_writes_a_table_does_not_matter(content: str, tmp_path: Path) -> None:
    read = found(tmp_path, content)
    assert (read.columns, read.rows, read.dropped) == (HEADER, ROWS, [])


def test_backslashes_before_quotes_are_escapes(tmp_path: Path) -> None:
    read = found(tmp_path, 'id,name,note\n1,Salt,"the \\"big\\" bay"\n2,Gull,x\n')
    assert read.rows == [["1", "Salt", 'the "big" bay'], ["2", "Gull", "x"]]
    assert found(tmp_path, 'id,path\n1,"C:\\"\n2,"D:\\a"\n').rows == [["1", "C:\\"], ["2", "D:\\a"]]


def test_names_of_rows_have_a_column_without_a_name(tmp_path: Path) -> None:
    read = found(tmp_path, '"name","depth"\n"1","Salt",9\n"2","Gull",12\n')
    assert (read.columns, read.rows) == (["", "name", "depth"], [["1", "Salt", "9"], ["2", "Gull", "12"]])


def test_columns_without_a_name_are_called_by_their_places_and_nothing_is_said(tmp_path: Path) -> None:
    read = found(tmp_path, ",name,,depth\n1,Salt,a,9\n2,Gull,b,12\n")
    assert (read.columns, read.notes.notes) == (["", "name", "", "depth"], ())
    path = tmp_path / "bays.csv"
    path.write_text(",name,,depth\n1,Salt,a,9\n2,Gull,b,12\n")
    (mapping,) = import_graph([path], tmp_path / "graph").mapping
    assert set(mapping.columns) == {"column_1", "name", "column_3", "depth"}


def test_two_columns_of_one_name_are_told_apart_and_reported(tmp_path: Path) -> None:
    read = found(tmp_path, "id,name,name\n1,Salt,S\n2,Gull,G\n")
    assert (read.columns, read.names) == (["id", "name", "name"], ["id", "name", "name_3"])
    assert read.notes.notes == ("has two columns named 'name': the one at place 3 is 'name_3'",)


def test_a_first_row_with_numbers_where_the_others_have_them_is_a_row(tmp_path: Path) -> None:
    assert found(tmp_path, text(ROWS)).notes.is_headless
    assert not found(tmp_path, CLEAN).notes.is_headless
    assert not found(tmp_path, "port,2021,2022\nHolm,9,8\nSalt,7,6\n").notes.is_headless
    (tmp_path / "ports.csv").write_text(text(ROWS))
    report = import_graph([tmp_path / "ports.csv"], tmp_path / "graph")
    assert any("no row names its columns" in note for note in report.notes)
    (mapping,) = report.mapping
    assert sorted(mapping.columns) == ["column_1", "column_2", "column_3", "column_4"]
    assert Graph.open(tmp_path / "graph").arrays.manifest.nodes == len(ROWS)


# ------------------------------------------------------------------------------------------------------- what is lost


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("9,Ebb,Norway,3,x", "too many cells"),
        ("9;Ebb;Norway;3", "delimited otherwise"),
        ("a remark", "one cell alone"),
        ('9,"Ebb,Norway,3', "quote left open"),
        ("id,name,country,depth", "header again"),
    ],
)
@pytest.mark.parametrize("place", range(1, len(ROWS) + 1))
def test_a_faulty_row_costs_itself_and_is_reported(line: str, reason: str, place: int, tmp_path: Path) -> None:
    lines = CLEAN.splitlines()
    read = found(tmp_path, "\n".join([*lines[:place], line, *lines[place:], ""]))
    assert read.rows == ROWS
    assert read.dropped == [(reason, place + 1)]


def test_a_row_that_ends_early_has_empty_cells(tmp_path: Path) -> None:
    read = found(tmp_path, CLEAN + "5,Ebb\n6,Flow,Norway,3\n")
    assert (read.rows[-2:], read.dropped) == ([["5", "Ebb", "", ""], ["6", "Flow", "Norway", "3"]], [])
    assert found(tmp_path, CLEAN + "5,Ebb").dropped == [("cut short", 6)]


def test_a_short_row_after_a_blank_line_ends_no_table(tmp_path: Path) -> None:
    more = [["5", "Ebb", "Norway", "3"], ["6", "Flow", "Sweden", "4"]]
    read = found(tmp_path, CLEAN + "\nx,Lee\n" + text(more))
    assert (read.rows, read.dropped) == ([*ROWS, *more], [("another table below", 7)])
    read = found(tmp_path, CLEAN + "\n8,Lee\n" + text(more))
    assert (read.rows, read.dropped) == ([*ROWS, ["8", "Lee", "", ""], *more], [])


def test_texts_of_one_column_have_no_delimiter(tmp_path: Path) -> None:
    lines = ["name", "Holm, Ada", "Noor; Bo", "Salt", "Gull", "Ebb", "Flow, a, b"]
    read = found(tmp_path, "\n".join(lines) + "\n")
    assert [read.columns, *read.rows] == [[line] for line in lines]


def test_a_quote_left_open_over_quoted_cells_costs_no_more_than_it_swallows(tmp_path: Path) -> None:
    content = 'id,name\n1,"two\nlines"\n2,"open\n3,plain\n4,"shut"\n5,plain\n6,"two\nlines"\n'
    read = found(tmp_path, content)
    assert read.rows == [["1", "two\nlines"], ["3", "plain"], ["4", "shut"], ["5", "plain"], ["6", "two\nlines"]]
    assert read.dropped == [("quote left open", 4)]


@pytest.mark.parametrize(
    ("below", "reasons"),
    [
        ("Total,,,59.75\n", ["total"]),
        ("\nSumme:,,,59.75\n", ["total"]),
        (",,,59.75\n", ["total"]),
        ("Source: the harbour office,,,\n", ["one cell alone"]),
        ("Total,,,59.75\n\nSource: the harbour office\n", ["total", "one cell alone"]),
        ("\nid,name,fee,paid\n8,Ann,3,4\n", ["another table below"] * 2),
        ("\nport,fee\nHolm,3\n", ["another table below"] * 2),
    ],
)
def test_what_is_below_a_table_is_none_of_its_rows(below: str, reasons: list[str], tmp_path: Path) -> None:
    read = found(tmp_path, CLEAN + below)
    assert read.rows == ROWS
    assert sorted(why for why, _ in read.dropped) == sorted(reasons)


def test_a_port_that_is_called_total_is_a_row(tmp_path: Path) -> None:
    rows = [*ROWS, ["5", "Total", "Norway", "3"]]
    assert found(tmp_path, text([HEADER, *rows])).rows == rows
    named = [[row[1], row[2]] for row in rows]
    assert found(tmp_path, text([["name", "country"], *named])).rows == named


def test_a_table_is_refused_if_most_rows_are_faulty(tmp_path: Path) -> None:
    path = tmp_path / "ports.csv"
    path.write_text(CLEAN + "x,y,z,1,2\n" * 4)
    assert len(Found(path).rows) == len(ROWS)
    path.write_text("id,name\n1,a\n" + "1,b,c\n" + "1,b,c,d\n")
    with pytest.raises(BadInput, match="line 3: too many cells; 2 of 3 rows do not have the 2 cells"):
        Found(path)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(content=st.text(st.sampled_from('ab,;|\t"\n\r é1\\='), max_size=60))
def test_no_text_fails(content: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("any") / "t.csv"
    path.write_bytes(content.encode() or b"\n")
    with suppress(BadInput):
        read = Found(path)
        assert all(len(row) == len(read.columns) for row in read.rows)
        assert read.lines == sorted(read.lines)


CELLS = st.sampled_from(["", "1", "2.5", "abc", '"q"', '"a\nb"', "é", "Total", '"x', "id", " y"])


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    width=st.integers(1, 4),
    rows=st.lists(st.lists(CELLS, max_size=5), max_size=40),
    ragged=st.sets(st.integers(0, 39), max_size=3),
    title=st.sampled_from(["", "Title\n\n"]),
    block=st.sampled_from([200, 1 << 20]),
)
def test_arrow_reads_what_csv_reads(width, rows, ragged, title, block, tmp_path_factory) -> None:
    pytest.importorskip("pyarrow")
    lines = [row if place in ragged else [*row, *["x"] * width][:width] for place, row in enumerate(rows)]
    content = title + "\n".join(",".join(row) for row in [HEADER[:width], *lines])
    path = tmp_path_factory.mktemp("arrow") / "t.csv"
    path.write_text(content, encoding="utf-8")
    read: list[object] = []
    for patched in ({inside(has_arrow): ("BLOCK", block)}, {inside(DelimitedText): ("has_arrow", lambda: False)}):
        with pytest.MonkeyPatch.context() as patch:
            for module, (name, value) in patched.items():
                patch.setattr(module, name, value)
            try:
                read.append(sorted(map(repr, vars(Found(path)).items())))
            except BadInput:
                read.append("refused")
    assert read[0] == read[1]


# ------------------------------------------------------------------------------------------------------------ letters

LETTERS = {
    "cp1252": "id,größe,ort\n1,Übermäßig,Lübeck\n2,café,Orléans\n",
    "cp1250": "id,jméno,město\n1,Žofie Dvořáková,Přerov\n2,Jiří Šťastný,Plzeň\n3,Łódź Święta,Gdańsk\n",
    "cp1251": "id,название,страна\n1,Одесса,Украина\n2,Варна,Болгария\n",
    "cp1253": "id,όνομα,χώρα\n1,Θεσσαλονίκη,Ελλάδα\n2,Λεμεσός,Κύπρος\n",
    "iso8859_2": "id,imię,miejscowość\n1,Żaneta Wąsik,Łódź\n2,Świętosław,Śląsk\n3,Grześ,Gościęcin\n",
    "cp932": "id,名前,国\n1,横浜みなとの町,日本\n2,神戸のふるい港,日本\n",
    "utf-16": "id,название,ort\n1,Одесса,Lübeck\n2,Варна,Orléans\n",
}


@pytest.mark.parametrize("encoding", LETTERS)
def test_letters_are_told_from_the_words(encoding: str, tmp_path: Path) -> None:
    content = LETTERS[encoding]
    read = found(tmp_path, content.encode(encoding))
    assert [read.columns, *read.rows] == list(csv.reader(content.splitlines()))
    assert (read.notes.encoding == encoding) == bool(read.notes.guesses) == (encoding != "utf-16")


def test_the_text_that_excel_calls_unicode_is_a_table_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "ports.txt").write_text(text([HEADER, *ROWS], "\t"), encoding="utf-16")
    report = validate_sources([tmp_path])
    assert (report.node_types["port"], report.dropped, report.notes) == (len(ROWS), (), ())


def test_a_guess_of_letters_is_a_note_and_is_settled_in_the_mapping(tmp_path: Path) -> None:
    path = tmp_path / "ports.csv"
    path.write_bytes("id,name\n1,Ağrı\n2,İzmir\n3,Lübeck\n".encode("cp1254"))
    report = validate_sources([path])
    (note,) = [note for note in report.notes if "UTF-8" in note]
    assert note.startswith(f"{path}: not UTF-8, read as Windows-125")
    with pytest.raises(BadInput, match=r"--strict: .*not UTF-8, read as"):
        validate_sources([path], options=ImportOptions(strict=True))
    written = mappings_as_toml(report.mapping, [path])
    (guess,) = [line for line in written.splitlines() if line.startswith("encoding")]
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(written.replace(guess, 'encoding = "cp1254"'), encoding="utf-8")
    settled = import_graph([path], tmp_path / "graph", options=ImportOptions(mapping=mapping, strict=True))
    assert not settled.notes
    assert list(Graph.open(tmp_path / "graph").arrays.names) == ["Ağrı", "İzmir", "Lübeck"]
    mapping.write_text(written.replace(guess, 'encoding = "cp9"'), encoding="utf-8")
    with pytest.raises(BadInput, match="unknown encoding 'cp9'"):
        import_graph([path], tmp_path / "other", options=ImportOptions(mapping=mapping))
