"""Tables in segments, and table files that are collections."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from orienteer.ingest import (
    BuildConfig,
    DocumentNodeMaker,
    SourceFile,
    describe_column,
    documents_of_table,
    is_question_table,
    roles_of_columns,
    table_segments,
)
from orienteer.lab.formats import ottqa_segments


def rows(count):
    return [(f"r{number}", str(number)) for number in range(1, count + 1)]


@given(st.integers(0, 200))
def test_segments_hold_every_row_once_and_are_neither_long_nor_short(count):
    found = list(table_segments(("name", "n"), iter(rows(count)), BuildConfig()))
    assert [row for one in found for row in one.rows] == rows(count)
    assert [one.first for one in found] == [1 + sum(len(one.rows) for one in found[:at]) for at in range(len(found))]
    assert len(found) == 1 or all(5 <= len(one.rows) <= 10 for one in found)  # SAGE, section 2.1.A
    assert all(len(one.rows) == 10 for one in found[:-2])


@pytest.mark.parametrize(("count", "sizes"), [(11, [6, 5]), (14, [7, 7]), (15, [10, 5]), (23, [10, 7, 6]), (4, [4])])
def test_too_few_rows_for_a_last_segment_share_those_of_the_one_before(count, sizes):
    assert [len(one.rows) for one in table_segments(("name", "n"), rows(count), BuildConfig())] == sizes


@given(st.integers(0, 60), st.integers(1, 12), st.integers(1, 12))
def test_no_segment_has_more_rows_than_were_asked_for(count, most, least):
    config = BuildConfig(segment_rows=most, least_rows=least)
    found = list(table_segments(("name", "n"), rows(count), config))
    assert [row for one in found for row in one.rows] == rows(count)
    assert [one.first for one in found] == [1 + sum(len(one.rows) for one in found[:at]) for at in range(len(found))]
    assert all(len(one.rows) <= most for one in found)
    assert len(found) == 1 or all(len(one.rows) >= min(least, most // 2) for one in found)


@given(st.integers(0, 200))
def test_segments_are_those_of_the_importer_of_ottqa(count):
    found = list(table_segments(("name", "n"), rows(count), BuildConfig(), rest_joins=True))
    assert [len(one.rows) for one in found] == [len(part) for part in ottqa_segments(count)]


def test_rows_are_read_as_they_are_needed():
    read = []

    def stream():
        for row in rows(1_000):
            read.append(row)
            yield row

    next(table_segments(("a", "b"), stream(), BuildConfig()))
    assert len(read) == 15


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["1991", "2004", "1987"], "Y (year, 1987 to 2004)"),
        (["1,200", "3.5", "-7"], "Y (number, -7 to 1,200)"),
        (["$5", "12%", "n/a", "7", "8"], "Y (number, $5 to 12%)"),
        (["5 May 2001", "2001-06-01"], "Y (date, 5 May 2001 to 2001-06-01)"),
        (["ox", "cow", "ox", "pig", "hen"], "Y (text, as ox; cow; pig)"),
        (["", " "], "Y (empty)"),
    ],
)
def test_columns_are_described_by_what_they_hold(values, said):
    assert describe_column("Y", values) == said


def test_a_long_cell_is_cut_off_and_counted():
    (found,) = table_segments(("a",), [("x" * 100,), ("two\nlines",)], BuildConfig(cell_characters=20))
    assert found.rows == (("x" * 20 + "…",), ("two lines",))
    assert found.cut == 1


@pytest.mark.parametrize(
    ("columns", "roles"),
    [
        (("id", "title", "text"), ("id", "title", "text")),
        (("_id", "Title", "contents", "year"), ("_id", "Title", "contents")),
        (("title", "abstract"), (None, "title", "abstract")),
        (("pid", "passage"), ("pid", None, "passage")),
        (("id", "name", "description"), None),
        (("Year", "Winner"), None),
        (("text",), None),
    ],
)
def test_a_collection_is_told_by_its_columns(columns, roles):
    assert roles_of_columns(columns) == roles


def written(folder: Path, name: str, table) -> SourceFile:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in table), encoding="utf-8")
    return SourceFile(path, name, "table")


def read(file, config=None):
    config = config or BuildConfig()
    maker = DocumentNodeMaker(config)
    found = documents_of_table(file, "Things", config, drop=lambda reason, line, value: None)
    return [node for document in found for node in maker.nodes(document)]


def test_a_row_is_a_document_and_one_chunk_where_it_is_short(tmp_path):
    file = written(tmp_path, "things.jsonl", [{"id": 7, "title": "Ox", "text": "An ox eats.", "legs": 4, "file": "no"}])
    (node,) = read(file)
    assert (node.id, node.type, node.name, node.text) == ("things.jsonl#7", "chunk", "Ox", "An ox eats.")
    expected = {"row": 1, "legs": 4, "file": "things.jsonl", "file_": "no", "tokens": 4, "span": [0, 11]}
    assert node.properties == expected


def test_a_long_row_is_cut_under_a_document(tmp_path):
    file = written(tmp_path, "things.jsonl", [{"id": "a", "title": "Ox", "text": "An ox eats hay. " * 200}])
    document, *chunks = read(file)
    assert (document.id, document.type) == ("things.jsonl#a", "document")
    assert [chunk.id for chunk in chunks] == [f"things.jsonl#a#{at}" for at in range(len(chunks))]
    assert len(chunks) > 1
    assert all(chunk.properties["document"] == document.id for chunk in chunks)


def test_a_corpus_has_one_chunk_a_row_under_its_own_id(tmp_path):
    file = written(tmp_path, "corpus.jsonl", [{"pid": "p1", "title": "Ox", "text": "An ox eats hay. " * 200}])
    (node,) = read(file)
    assert (node.id, node.type) == ("p1", "chunk")
    assert node.text == "An ox eats hay. " * 200


def test_any_other_table_is_one_document_in_segments(tmp_path):
    file = written(tmp_path, "years.jsonl", [{"Year": 1990 + at, "Winner": f"W{at}"} for at in range(9)])
    document, segment = read(file)
    assert (document.type, segment.type) == ("document", "table")
    assert segment.text.splitlines()[:2] == ["Year | Winner", "1990 | W0"]
    assert segment.properties["columns"] == ["Year (year, 1990 to 1998)", "Winner (text, as W0; W1; W2)"]
    assert (segment.properties["first_row"], segment.properties["rows"]) == (1, 9)


def test_what_a_table_is_can_be_said_by_hand(tmp_path):
    file = written(tmp_path, "things.jsonl", [{"id": 7, "title": "Ox", "text": "An ox eats."}])
    assert [node.type for node in read(file, BuildConfig(tables="segments"))] == ["document", "table"]


def test_questions_beside_documents_are_told(tmp_path):
    asked = written(tmp_path, "questions.jsonl", [{"id": 1, "question": "Who?", "answer": "I"}])
    assert is_question_table(asked)
    assert not is_question_table(written(tmp_path, "t.jsonl", [{"id": 1, "title": "a", "text": "b"}]))
