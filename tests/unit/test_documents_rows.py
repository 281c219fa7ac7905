"""Tables in documents are asked as tables: rows are compared, counted and added up, and each has its place."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pandas as pd
import pytest

from orienteer import BuildOptions, Graph, Result, Retriever, build_graph
from orienteer.errors import NotAGraph
from orienteer.graph import RowPlace, id_of_row, open_rows, place_of_row
from orienteer.records import Reply

_BOATS = """\
name,skipper,length_m,built,port
Brisk Anna,Halvard Moe,17.4,1979,Calder Bay
Kestrel,Maud Tarrant,21.8,1991,Skarn
Tern Arrow,Silas Pask,14.2,2004,Marrowick
Resolve,Anselm Orchard,33.5,1968,Skarn
Morning Plough,Maud Vik,27.9,1971,Ossel
Silver Ditty,Nora Hurrell,12.7,2003,Skarn
"""
_BERTHS = """\
# Berths

The berths were sounded in spring. A keel needs half a metre beneath it.

| Berth | Depth at lowest tide m | Crane |
|---|---|---|
| North Wall | 5.5 | yes |
| Fish Steps | 3.2 | no |
| Coal Stairs | 4.1 | no |
| Outer basin | 7.8 | yes |
| Cannery Pier | 2.9 | no |
"""


def _built(folder: Path, target: Path) -> Graph:
    build_graph([folder], target, options=BuildOptions(force=True))
    return Graph.open(target)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("harbour")
    (folder / "boats.csv").write_text(_BOATS, encoding="utf-8")
    (folder / "berths.md").write_text(_BERTHS, encoding="utf-8")
    (folder / "notes.md").write_text("# Notes\n\nThe harbour master feeds the terns at noon.\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def retriever(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    return Retriever(_built(folder, tmp_path_factory.mktemp("graphs") / "harbour"), method="documents")


def _asked(retriever: Retriever, question: str) -> Result:
    return retriever.ask(question, k=3)


_FRAME = pd.read_csv(pd.io.common.StringIO(_BOATS))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which boat is the longest?", _FRAME.name[_FRAME.length_m.idxmax()]),
        ("How many boats have their port in Skarn?", str((_FRAME.port == "Skarn").sum())),
        ("What is the average length of the boats?", f"{_FRAME.length_m.mean():.8f}".rstrip("0")),
        ("When was Tern Arrow built?", str(_FRAME.set_index("name").built["Tern Arrow"])),
        ("Who is the skipper of Kestrel?", _FRAME.set_index("name").skipper["Kestrel"]),
        ("What is the depth at lowest tide of Fish Steps?", "3.2"),
        ("Which berth is the deepest?", "Outer basin"),
    ],
)
def test_rows_are_compared_counted_and_looked_up(retriever: Retriever, question: str, answer: str) -> None:
    result = _asked(retriever, question)
    assert result.answer is not None
    assert result.answer.startswith(answer[:10])
    assert result.reading is not None
    assert result.reading.text
    assert result.citations[0].source is not None
    assert result.hits[0].type == "table"


def test_an_answer_leads_to_its_row(retriever: Retriever) -> None:
    (citation,) = _asked(retriever, "Which boat is the longest?").citations
    assert citation.source is not None
    assert (citation.source.file, citation.source.rows) == ("boats.csv", "4")
    assert "Anselm Orchard" in citation.quote


def test_what_rows_do_not_say_is_left_to_the_passages(retriever: Retriever) -> None:
    result = _asked(retriever, "When does the harbour master feed the terns?")
    assert result.answer_kind == "quotation"
    assert result.reading is None


def test_a_table_that_stands_twice_is_counted_once(folder: Path, tmp_path: Path) -> None:
    twice = tmp_path / "twice"
    twice.mkdir()
    (twice / "boats.csv").write_text(_BOATS, encoding="utf-8")
    lines = [line.replace(",", " | ") for line in _BOATS.splitlines()]
    table = "\n".join([f"| {lines[0]} |", "|---|---|---|---|---|", *(f"| {line} |" for line in lines[1:])])
    (twice / "copy.md").write_text(f"# Boats\n\nThe boats again.\n\n{table}\n", encoding="utf-8")
    rows = open_rows(_built(twice, tmp_path / "graph"))
    assert rows is not None
    assert sum(place_of_row(node) is not None for node in rows.node_ids()) == len(_FRAME)


def test_an_update_has_the_rows_of_a_build(folder: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "graph"
    source.mkdir()
    (source / "boats.csv").write_text(_BOATS, encoding="utf-8")
    _built(source, target)
    (source / "boats.csv").write_text(f"{_BOATS}Gannet,Anselm Tarrant,40.5,1983,Ossel\n", encoding="utf-8")
    build_graph([source], target, options=BuildOptions(update=True))
    assert _asked(Retriever(target, method="documents"), "Which boat is the longest?").answer == "Gannet"
    (source / "boats.csv").unlink()
    (source / "notes.md").write_text("# Notes\n\nNo table is left here, and no boat is told of.\n", encoding="utf-8")
    build_graph([source], target, options=BuildOptions(update=True))
    assert open_rows(Graph.open(target)) is None


@pytest.mark.parametrize("segment", ["a/b.csv#0", "odd/row 7/x.csv#12"])
def test_the_id_of_a_row_is_its_place(segment: str) -> None:
    assert place_of_row(id_of_row(RowPlace(segment, 4))) == RowPlace(segment, 4)
    assert place_of_row("port:Skarn") is None


def test_tables_of_documents_beside_a_graph_in_tables_are_asked_too(folder: Path, tmp_path: Path) -> None:
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    (mixed / "nodes.csv").write_text("id,name,type\n1,Ada,person\n2,Ben,person\n", encoding="utf-8")
    (mixed / "edges.csv").write_text("source,target,type\n1,2,knows\n", encoding="utf-8")
    (mixed / "berths.md").write_text(_BERTHS, encoding="utf-8")
    result = Retriever(mixed).ask("What is the depth at lowest tide of Fish Steps?")
    assert result.answer == "3.2"


def _table(header: str, *rows: str) -> str:
    lines = [header, re.sub("[^,]+", "---", header), *rows]
    return "\n".join(f"| {line.replace(',', ' | ')} |" for line in lines)


_TREES = ("Oak,Park,12", "Elm,Park,15", "Ash,Yard,9", "Fir,Yard,30", "Yew,Park,7")


@pytest.mark.parametrize(
    "last", ["Total,,73", "TOTAL:,5 trees,73", "Total,Total,73", "Sum,,73", "Average,,14.6", "Summe,,73"]
)
def test_a_row_of_totals_is_no_thing(tmp_path: Path, last: str) -> None:
    sources = tmp_path / "docs"
    sources.mkdir()
    table = _table("Tree,Place,Age", *_TREES, last)
    (sources / "trees.md").write_text(f"# Trees\n\nAll trees.\n\n{table}\n", encoding="utf-8")
    report = build_graph([sources], tmp_path / "graph", options=BuildOptions(force=True))
    assert any("left out 1: total" in note for note in report.notes)
    retriever = Retriever(tmp_path / "graph", method="documents")
    assert _asked(retriever, "What is the sum of the ages of the trees?").answer == "73"
    assert _asked(retriever, "How many trees are there?").answer == "5"


def test_rows_of_a_part_of_a_table_are_counted_once(tmp_path: Path) -> None:
    sources = tmp_path / "docs"
    sources.mkdir()
    every, part = (_TREES[0], *_TREES), [row for row in _TREES if "Park" in row]  # two oaks are alike
    (sources / "all.md").write_text(f"# Trees\n\nAll.\n\n{_table('Tree,Place,Age', *every)}\n", encoding="utf-8")
    (sources / "part.md").write_text(f"# Park\n\nSome.\n\n{_table('Tree,Place,Age', *part)}\n", encoding="utf-8")
    report = build_graph([sources], tmp_path / "graph", options=BuildOptions(force=True))
    assert any("left out 3: a table whose rows" in note for note in report.notes)
    result = _asked(Retriever(tmp_path / "graph", method="documents"), "How many trees are there?")
    assert result.answer == str(len(every))
    assert any("the rows of Park" in note and "count once" in note for note in result.notes)


def test_of_rows_of_one_name_no_id_is_told(tmp_path: Path) -> None:
    sources = tmp_path / "docs"
    sources.mkdir()
    for month, food in (("January", 200), ("February", 180)):
        table = _table("Expense,Amount", "Rent,500", f"Food,{food}", "Bus,40", "Gym,30", "Tea,5")
        (sources / f"{month}.md").write_text(f"# {month}\n\nSpent.\n\n{table}\n", encoding="utf-8")
    retriever = Retriever(_built(sources, tmp_path / "graph"), method="documents")
    assert "/row" not in str(_asked(retriever, "What is the average amount of Food?").answer)


@pytest.mark.parametrize("column", ["place of the row", "id", "name", "document", "heading", "Document"])
def test_a_column_may_have_a_name_of_ours(tmp_path: Path, column: str) -> None:
    rows = [f"Ann{n},{value},Oslo" for n, value in enumerate(["r2", "r4", "r5", "r5", "r9"])]
    for name in ("a", "b"):
        sources = tmp_path / "docs" / name
        sources.mkdir(parents=True)
        text = _table(f"person,{column},city", *(row.replace("Ann", name) for row in rows))
        (sources / "people.md").write_text(f"# People {name}\n\nWho.\n\n{text}\n", encoding="utf-8")
    retriever = Retriever(_built(tmp_path / "docs", tmp_path / "graph"), method="documents")
    result = _asked(retriever, f"What is the {column} of b4?")
    assert result.answer == "r9"
    assert result.citations[0].quote.startswith("person: b4")


def test_a_word_for_the_rows_of_unlike_tables_counts_none(tmp_path: Path) -> None:
    sources = tmp_path / "docs"
    sources.mkdir()
    staff = _table("Employee,City,Salary", "Ann,Oslo,10", "Bob,Rome,30", "Cy,Oslo,20", "Di,Bonn,40", "Ed,Rome,25")
    firms = _table("Customer,City,Revenue", "Acme,Oslo,9", "Bolt,Rome,8", "Core,Oslo,7", "Dyn,Bonn,6", "Epo,Kyiv,5")
    text = f"# Staff\n\nOurs.\n\n{staff}\n\n# Customers\n\nWho buys.\n\n{firms}\n"
    (sources / "firm.md").write_text(text, encoding="utf-8")
    retriever = Retriever(_built(sources, tmp_path / "graph"), method="documents")
    assert _asked(retriever, "How many people are in Oslo?").reading is None
    assert _asked(retriever, "How many customers are in Oslo?").answer == "2"


@pytest.mark.parametrize("question", ["How many items are there?", "Which item has the highest cost?"])
def test_what_may_be_of_several_tables_is_not_counted(tmp_path: Path, question: str) -> None:
    sources = tmp_path / "docs"
    sources.mkdir()
    costs = _table("Ware,Part,Cost", "Ropes,Deck,120", "Paint,Hull,340", "Oil,Hull,90", "Nets,Deck,560", "Tar,Hull,7")
    fines = _table("Fault,Place,Cost", "Noise,Quay,20", "Oil,Quay,900", "Speed,Quay,50", "Waste,Pier,80", "Fire,Pier,5")
    text = f"# Costs\n\nWhat we paid.\n\n{costs}\n\n# Fines\n\nWhat is due.\n\n{fines}\n"
    (sources / "harbour.md").write_text(text, encoding="utf-8")
    assert _asked(Retriever(_built(sources, tmp_path / "graph"), method="documents"), question).reading is None


SMALL = {
    "fleet.md": "# Boats of Gull\n\nThey lie in the harbour in winter.\n\n"
    + _table("Boat,Length,Port,Fee", "Seagull,12.5 m,Skarn,40 €", "Tern,8.0 m,Gull,25 €", "Heron,15.2 m,Skarn,55 €"),
    "east.md": "# Cranes\n\nOf the east.\n\n" + _table("Crane,Capacity,Built", "Elsa,4,1987", "Emma,12,2004"),
    "west.md": "# Cranes\n\nOf the west.\n\n" + _table("Crane,Colour,Height", "Wera,red,20", "Wilma,red,31"),
    "revenue.csv": "Month,Revenue,Target\nJanuary,300,1200\nMarch,397,1500\n",
    "guest.md": "# A registration\n\nOf one guest.\n\n" + _table("Guest,Ada Holm", "Room,12", "Nights,3"),
}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    folder = tmp_path_factory.mktemp("small")
    (folder / "docs").mkdir()
    for name, text in SMALL.items():
        (folder / "docs" / name).write_text(text, encoding="utf-8")
    return Retriever(_built(folder / "docs", folder / "graph"), method="documents")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which boat is the longest?", "Heron"),
        ("What is the lowest fee of a boat?", "25"),
        ("What is the average fee of the boats?", "40"),
        ("How many boats have their port in Skarn?", "2"),
        ("Which crane was built first?", "Elsa"),
        ("Which crane is the highest?", "Wilma"),
        ("Which month had the highest revenue?", "March"),
        ("What was the revenue in March?", "397"),
    ],
)
def test_small_tables_are_asked_by_what_their_rows_are(small: Retriever, question: str, answer: str) -> None:
    result = _asked(small, question)
    assert result.reading is not None
    assert answer in (result.answer or "")


@pytest.mark.parametrize("question", ["How many cranes are there?", "How many guests are there?"])
def test_rows_of_several_tables_and_fields_of_a_form_are_not_counted(small: Retriever, question: str) -> None:
    assert _asked(small, question).reading is None


def test_damaged_rows_are_told_and_made_again_as_the_error_says(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "graph"
    _built(folder, target)
    (damaged,) = target.glob("pieces/*/tables-*/id.utf8")
    os.truncate(damaged, 3)
    with pytest.raises(NotAGraph, match="build --update --output"):
        _asked(Retriever(target, method="documents"), "Which boat is the longest?")
    build_graph([], target, options=BuildOptions(update=True))
    assert _asked(Retriever(target, method="documents"), "Which boat is the longest?").answer == "Resolve"


class _Silent:
    """A model that must not be asked."""

    name, price = "silent", None

    def chat(self, messages: object, **more: object) -> Reply:
        raise AssertionError(f"asked {messages}")


def test_rows_are_read_without_a_call_of_the_model(retriever: Retriever) -> None:
    silent = Retriever(retriever.graph, method="documents", model=_Silent())
    assert _asked(silent, "Which boat is the longest?").answer == "Resolve"


def test_rows_that_an_ended_build_did_not_make_are_made_at_the_next_question(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ORIENTEER_CACHE", str(tmp_path))
    pointer = Retriever(folder).graph.path / "orienteer.json"
    content = json.loads(pointer.read_text(encoding="utf-8"))
    del content["pieces"]["tables"]
    pointer.write_text(json.dumps(content), encoding="utf-8")
    result = Retriever(folder).ask("Which boat is the longest?")
    assert result.answer is not None
    assert result.answer.startswith("Resolve")


def test_tables_without_rows_to_ask_are_looked_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ORIENTEER_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "options"
    folder.mkdir()
    (folder / "options.md").write_text("# Options\n\nText.\n\n| A | B |\n|---|---|\n| x | y |\n", encoding="utf-8")
    first = Retriever(folder).graph
    assert "table" in first.arrays.types.nodes
    assert open_rows(first) is None
    assert Retriever(folder).graph.arrays.generation == first.arrays.generation
