"""What is shown of a passage: sentences and rows as they stand, the question's words marked, and their true line."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from orienteer import Graph, Retriever
from orienteer.ingest import BuildOptions, build_graph
from orienteer.records import Ranked, Source
from orienteer.retrieval import LONGEST_EXCERPT, SnippetTerms, excerpt_of
from orienteer.text import Tokenizer

_TOKENIZER = Tokenizer()


def _shown(question: str) -> SnippetTerms:
    return SnippetTerms(dict.fromkeys(_TOKENIZER.query(question), 1.0), _TOKENIZER.terms_of)


def _sentences(random_seed: int, count: int) -> list[str]:
    """Return sentences of made-up words, each with a number of its own."""
    dice = random.Random(random_seed)
    words = ["harbour", "mast", "rope", "tide", "gull", "net", "oar", "pier", "sail", "wharf"]
    return [f"Item {at}a {' '.join(dice.choices(words, k=dice.randint(3, 14)))}." for at in range(count)]


@pytest.mark.parametrize("random_seed", range(20))
def test_excerpt_holds_the_best_sentence_whole_and_is_cut_between_sentences(random_seed: int) -> None:
    sentences = _sentences(random_seed, 60)
    text = "\n".join(" ".join(sentences[at : at + 5]) for at in range(0, 60, 5))
    wanted = sentences[random_seed * 3]
    part = excerpt_of(text, _shown(f"{wanted.split()[1]} zebra"))
    assert wanted in part.text
    assert len(part.text) <= LONGEST_EXCERPT + 2
    begin, end = part.span
    assert part.text.strip("…") == text[begin:end].strip()
    assert text[part.best :].startswith(wanted)
    assert all(sentence in part.text or sentence not in text[begin:end] for sentence in sentences)


def test_marks_are_the_words_of_the_question() -> None:
    part = excerpt_of(
        "Ferries sail at night. The captain sleeps, captains do.", _shown("Does the captain sail ferries?")
    )
    assert [part.text[begin:end] for begin, end in part.marks] == ["Ferries", "sail", "The", "captain", "captains"]


@pytest.mark.parametrize("text", ["Captains' ferries, a FERRY.", "A captain\u2019s 2nd sail-boat", "nothing of it", ""])
def test_the_terms_that_a_text_holds_are_those_of_its_marks(text: str) -> None:
    shown = _shown("Does the captain sail ferries in 2 boats?")
    assert shown.terms_in(text) == frozenset().union(*(terms for *_, terms in shown.spans(text)))


def test_a_text_that_fits_is_shown_whole_and_one_without_the_words_from_its_beginning() -> None:
    assert excerpt_of("One. Two.", _shown("two")).text == "One. Two."
    long = "Nothing here. " * 100
    assert excerpt_of(long, _shown("zebra")).text.startswith("Nothing here. Nothing")
    assert excerpt_of("", _shown("zebra")) == ("", (0, 0), (), 0)
    assert len(excerpt_of("x" * 5_000, _shown("zebra")).text) <= LONGEST_EXCERPT + 2


def test_rows_of_a_table_stand_beneath_their_header() -> None:
    rows = [f"Captain {at}k | Ferry {at}f | {'words ' * 10}" for at in range(40)]
    text = "\n".join(["Captains", "Captain | Ferry | Remark", *rows])
    part = excerpt_of(text, _shown("Who is captain of ferry 33f?"), header=2)
    assert part.text.startswith("Captains\nCaptain | Ferry | Remark\n…")
    assert rows[33].strip() in part.text
    assert text[part.best :].startswith("Captain 33k")


def _hits(folder: Path, question: str) -> tuple[Ranked, ...]:
    build_graph([folder / "texts"], folder / "graph", options=BuildOptions())
    return Retriever(Graph.open(folder / "graph"), "bm25").search(question, 3).hits


@pytest.mark.parametrize("name", ["notes.txt", "notes.md", "notes.html"])
def test_line_is_that_of_the_sentence_or_of_its_paragraph(tmp_path: Path, name: str) -> None:
    (tmp_path / "texts").mkdir()
    paragraphs = [f"Paragraph {at}p speaks of tides.\nIts second line names mast {at}m." for at in range(30)]
    body = [f"<p>{text}</p>" if name.endswith("html") else text for text in paragraphs]
    file = tmp_path / "texts" / name
    file.write_text("\n\n".join(body), encoding="utf-8")
    hit = _hits(tmp_path, "mast 17m")[0]
    assert hit.source is not None
    assert hit.source.line is not None
    line = file.read_text(encoding="utf-8").splitlines()[hit.source.line - 1]
    assert "17m" in line if name == "notes.txt" else "17p" in line
    assert hit.source.place == f"{name}:{hit.source.line}"


def test_row_is_the_one_that_fits(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    rows = "".join(f"Ada {at}q,Boat {at}b\n" for at in range(50))
    (tmp_path / "texts" / "crew.csv").write_text(f"Captain,Boat\n{rows}", encoding="utf-8")
    hit = _hits(tmp_path, "captain of boat 31b")[0]
    assert hit.source == Source(file="crew.csv", rows="32")
    assert hit.source.place == "crew.csv, data row 32"


@pytest.mark.parametrize(
    ("source", "place"),
    [
        (Source(file="a.md", line=3, heading="Top"), "a.md:3"),
        (Source(file="a.pdf", page=9), "a.pdf, page 9"),
        (Source(file="a.xlsx", heading="Tariffs", rows="4-9"), "a.xlsx, Tariffs, data rows 4-9"),
        (Source(), ""),
    ],
)
def test_place_in_one_line(source: Source, place: str) -> None:
    assert source.place == place
