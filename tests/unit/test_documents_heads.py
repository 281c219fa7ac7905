"""Metadata of documents: properties of their nodes, and a table that questions are asked of."""

from __future__ import annotations

from pathlib import Path

import pytest

from office_files import pdf
from orienteer import Graph, Retriever, build_graph


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    return made


def test_front_matter_is_properties_that_mean_nothing_else(folder: Path, tmp_path: Path) -> None:
    front = "title: Crane\nauthor: 'Ada Holm' # me\ntags:\n  - port\n  - steel\nkeywords: [plan, draft]\n"
    front += "lines: 3\nlinks: [b.md]\n"
    (folder / "a.md").write_text(f"---\n{front}---\n\nIt lifts four tonnes.\n", encoding="utf-8")
    build_graph([folder], tmp_path / "graph")
    properties = Graph.open(tmp_path / "graph").node("a.md").properties
    assert {name: properties[name] for name in ("author", "tags", "keywords")} == {
        "author": "Ada Holm",
        "tags": ["port", "steel"],
        "keywords": ["plan", "draft"],
    }
    assert not {"title", "lines", "links"} & properties.keys()


@pytest.mark.process
def test_a_page_and_a_pdf_say_who_made_them(folder: Path, tmp_path: Path) -> None:
    meta = '<meta name="author" content="Ada Holm"><meta property="article:published_time" content="2024-05-06">'
    (folder / "a.html").write_text(f"<html><head>{meta}</head><body><p>The crane.</p></body></html>", encoding="utf-8")
    pdf(folder / "b.pdf", "The crane lifts four tonnes.", title="Crane) /Author (Ada Holm) /CreationDate (D:20240506")
    build_graph([folder], tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph")
    assert (graph.node("a.html").properties["author"], graph.node("a.html").properties["date"]) == (
        "Ada Holm",
        "2024-05-06",
    )
    assert (graph.node("b.pdf").properties["author"], graph.node("b.pdf").properties["created"]) == (
        "Ada Holm",
        "2024-05-06",
    )


_HEADS = """\
From: {}
To: Noor Vik <noor@port.example>
Date: {} May 2024 08:00:00 +0000
Subject: {}
Message-ID: <{}@port.example>

It lifts.
"""
_SENDERS = (
    '"Holm, Ada" <ada@port.example>',
    "Ada Holm <ada@home.example>",
    "A. Holm <ada@port.example>",
    "Ada Moe <moe@port.example>",
    "Ben Moe <ben@port.example>",
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which mails did Ada Holm send?", "Crane 1, Crane 2, Crane 3"),
        ("How many mails did A. Holm send?", "3"),
        ("Who sent the most mails?", "Ada Holm"),
        ("What is the newest mail?", "Crane 5"),
        ("How many mails did Ada send?", None),  # two people
        ("How many mails did Ada Holm send in a hurry?", None),
        ("Which mails did Carl send?", None),
    ],
)
def test_a_person_is_an_address_or_a_full_name(folder: Path, tmp_path: Path, question: str, answer: str | None) -> None:
    for at, sender in enumerate(_SENDERS, 1):
        mail = _HEADS.format(sender, f"0{at}", f"Crane {at}", at)
        (folder / f"{at}.eml").write_text(mail, encoding="utf-8")
    build_graph([folder], tmp_path / "graph")
    result = Retriever(tmp_path / "graph", method="documents").ask(question)
    assert (None if result.reading is None else result.answer) == answer
    if result.reading is not None:
        assert "read of the documents' own metadata" in result.notes


def test_documents_without_a_date_are_counted(folder: Path, tmp_path: Path) -> None:
    for at, date in enumerate(("2024-05-01", "2023-05-01", "")):
        front = f"author: Ada Holm\n{f'date: {date}' if date else ''}"
        (folder / f"{at}.md").write_text(f"---\n{front}\n---\n\n# Note {at}\n\nIt lifts.\n", encoding="utf-8")
    build_graph([folder], tmp_path / "graph")
    result = Retriever(tmp_path / "graph", method="documents").ask("How many notes are from 2024?")
    assert result.answer == "1"
    assert "1 document without a date" in result.notes
    assert result.citations[0].quote == "author: Ada Holm; date: 2024-05-01"


@pytest.mark.parametrize(
    ("senders", "count"),
    [
        (["Ada Holm <news@hub.example>", "Ben Moe <news@hub.example>", "Ada Holm <a@x.example>"], 2),
        (["a@x.example (Ada Holm)", "Ada Holm <a@x.example>", "a@x.example"], 3),
        (['"Ada Holm" <a@x.example>; Ben Moe <b@x.example>', "Team: Ben Moe <b@x.example>;"], 1),
        (["ADA HOLM <A@X.example>", "A. Holm <a@x.example>"], 2),
    ],
)
def test_what_mails_of_a_person_are(folder: Path, tmp_path: Path, senders: list[str], count: int) -> None:
    for at, sender in enumerate(senders):
        mail = f"From: {sender}\nTo: c@x.example\nSubject: Crane {at}\n\nIt lifts {at}.\n"
        (folder / f"{at}.eml").write_text(mail, encoding="utf-8")
    build_graph([folder], tmp_path / "graph")
    result = Retriever(tmp_path / "graph", method="documents").ask("How many mails did Ada Holm send?")
    assert result.answer == str(count)


def test_several_authors_are_several_people(folder: Path, tmp_path: Path) -> None:
    for at, authors in enumerate(("Ada Holm, Ben Moe", "Ada Holm and Cid Vik", "[Ada Holm, Dee Orr]", "Holm, Ada")):
        (folder / f"{at}.md").write_text(f"---\nauthor: {authors}\n---\n\nIt lifts {at}.\n", encoding="utf-8")
    build_graph([folder], tmp_path / "graph")
    result = Retriever(tmp_path / "graph", method="documents").ask("How many notes did Ada Holm write?")
    assert result.answer == "4"


def test_a_table_of_that_name_is_asked_before_the_metadata(folder: Path, tmp_path: Path) -> None:
    rows = "".join(f"{at},Ada Holm,2024-05-0{at}\n" for at in range(1, 6))
    (folder / "messages.csv").write_text(f"message,sender,sent\n{rows}", encoding="utf-8")
    mail = "From: Ada Holm <a@x.example>\nTo: c@x.example\nSubject: Crane\n\nIt lifts.\n"
    (folder / "1.eml").write_text(mail, encoding="utf-8")
    build_graph([folder], tmp_path / "graph")
    result = Retriever(tmp_path / "graph", method="documents").ask("How many messages did Ada Holm send?")
    assert result.reading is None or result.answer == "5"
