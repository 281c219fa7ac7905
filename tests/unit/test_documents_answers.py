"""What `documents` says without a model: quotations, documents that speak of something, and that nothing answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orienteer import Graph, Retriever
from orienteer.errors import BadOption
from orienteer.ingest import BuildOptions, build_graph
from orienteer.methods import documents_asked_for
from orienteer.records import Result
from orienteer.retrieval import ALIKE_SHARE, shingles_of, without_near_duplicates
from orienteer.text import Tokenizer

_FILES = {
    "ferries.md": """# Ferries

The Night Ferry sails from Salt Bay at 22:40 and takes two hours. Its captain is Ada Holm.

## Fares

A bicycle costs 4 crowns. Dogs travel free of charge when they are kept on a lead.
""",
    "minutes/may.txt": """The board met on 3 May 2021. The crane was repaired for 12,400 crowns by Tarn Brothers.

Ada Holm asked for a second lamp on the north pier. It was agreed.
""",
    "minutes/june.txt": """The board met on 7 June 2021. The lamp on the north pier has been delivered.

The crane broke again on the same day.
""",
    "crew.csv": "Name,Boat,Berth\nAda Holm,Night Ferry,7\nNoor Vik,Low Tide,12\nPer Lund,Grey Gull,3\n",
    "notice.html": "<title>Notice</title><h1>Notice</h1><p>An anchorage is a place where boats lie at anchor.</p>",
}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    folder = tmp_path_factory.mktemp("answers")
    for name, text in _FILES.items():
        (folder / "texts" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "texts" / name).write_text(text, encoding="utf-8")
    build_graph([folder / "texts"], folder / "graph", options=BuildOptions())
    return Graph.open(folder / "graph")


def _ask(graph: Graph, question: str, k: int = 20) -> Result:
    return Retriever(graph, "documents").ask(question, k)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "said", "place"),
    [
        ("When does the Night Ferry sail?", "at 22:40", "ferries.md:3"),
        ("How much does a bicycle cost?", "A bicycle costs 4 crowns.", "ferries.md:7"),
        ("Who repaired the crane?", "Tarn Brothers", "minutes/may.txt:1"),
        ("On which berth does Noor Vik lie?", "Berth: 12", "crew.csv, data row 2"),
        ("What is an anchorage?", "An anchorage is a place", "notice.html:1"),
    ],
)
def test_answer_is_a_sentence_or_row_as_it_stands(graph: Graph, question: str, said: str, place: str) -> None:
    result = _ask(graph, question)
    assert result.answer_kind == "quotation"
    assert result.answer is not None
    assert said in result.answer
    (citation,) = result.citations
    assert (citation.begin, citation.end) == (0, len(result.answer))
    assert citation.source is not None
    assert citation.source.place == place
    node = graph.node(citation.ids[0])
    cells = [part.split(": ")[-1] for part in result.answer.split("; ")] if node.type == "table" else [result.answer]
    assert all(" ".join(cell.split()) in " ".join(node.text.split()) for cell in cells)


def test_a_search_only_ranks(graph: Graph) -> None:
    result = Retriever(graph, "documents").search("How much does a bicycle cost?")
    assert (result.answer, result.answer_kind, result.citations) == (None, None, ())
    assert result.hits[0].id.startswith("ferries.md")


@pytest.mark.parametrize(
    "question", ["How do I configure kubernetes ingress?", "zebra", "Which violin did Paganini own?"]
)
def test_what_is_not_there_is_said(graph: Graph, question: str) -> None:
    result = _ask(graph, question)
    assert result.refusal is not None
    assert result.refusal.kind == "not_here"
    assert result.refusal.text.startswith("nothing here answers this; not in these documents: ")
    assert {word.casefold() for word in result.refusal.words} == set(
        result.refusal.text.rpartition(": ")[2].casefold().split(", ")
    )
    assert result.answer is None


def test_a_word_that_no_document_has_is_told_beside_an_answer(graph: Graph) -> None:
    result = _ask(graph, "Which quixotic brothers repaired the crane?")
    assert result.answer is not None
    assert "not in these documents: quixotic" in result.notes


@pytest.mark.parametrize(
    ("question", "files"),
    [
        ("Which documents mention the crane?", {"minutes/may.txt", "minutes/june.txt"}),
        ("list all files that speak of Ada Holm", {"minutes/may.txt", "ferries.md", "crew.csv"}),
        ("Where is the lamp mentioned?", {"minutes/may.txt", "minutes/june.txt"}),
        ("Which minutes talk about the north pier?", {"minutes/may.txt", "minutes/june.txt"}),
        ("Which spreadsheets mention Ada Holm?", {"crew.csv"}),
    ],
)
def test_documents_that_speak_of_something_are_all_told(graph: Graph, question: str, files: set[str]) -> None:
    result = _ask(graph, question)
    assert result.answer is not None
    assert set(result.answer.split(", ")) == files
    assert result.answer_kind == "set"
    whole = [hit for hit in result.hits if hit.complete]
    assert {hit.source.file for hit in whole if hit.source} == files
    assert len(whole) == len(files)
    assert list(result.hits[: len(whole)]) == whole


def test_documents_are_counted(graph: Graph) -> None:
    result = _ask(graph, "How many files mention the crane?")
    assert (result.answer, result.answer_kind) == ("2", "number")
    cut = _ask(graph, "Which documents mention the crane?", 1)
    assert len(cut.hits) == 1
    assert "k=2 lists all of them" in cut.notes


def test_no_document_has_all_of_it(graph: Graph) -> None:
    result = _ask(graph, "Which documents mention the crane of Paganini?")
    assert result.answer is None
    assert result.refusal is not None
    assert "not in these documents: paganini" in result.refusal.text.casefold()
    assert not any(hit.complete for hit in result.hits)


@pytest.mark.parametrize(
    "question",
    [
        "Which ferry sails at night?",
        "Where is the crane?",
        "What does the board say?",
        "Which page size does the database have?",
        "What is the file format?",
        "How many boats are in the harbour?",
        "Which mails about the crane did Ada get?",
        "Which documents about the crane are not drafts?",
        "How many reports that mention the crane were written in May?",
    ],
)
def test_other_questions_ask_for_no_documents(question: str) -> None:
    assert documents_asked_for(question) is None


@pytest.mark.slow
def test_near_duplicates_are_told_beneath_the_first(tmp_path: Path) -> None:
    letter = "Dear member, the harbour office closes at noon on Friday because of the regatta. " * 3
    for at in range(30):
        (tmp_path / "letters").mkdir(exist_ok=True)
        (tmp_path / "letters" / f"{at:02d}.txt").write_text(f"{letter} Yours, office.", encoding="utf-8")
    (tmp_path / "letters" / "other.txt").write_text("The regatta begins at ten on Friday.", encoding="utf-8")
    build_graph([tmp_path / "letters"], tmp_path / "graph", options=BuildOptions())
    graph = Graph.open(tmp_path / "graph")
    result = _ask(graph, "When does the regatta begin on Friday?", 5)
    assert len(result.hits) == 2
    (first,) = [hit for hit in result.hits if hit.alike]
    assert len({first.id, *first.alike}) == 30
    plain = Retriever(graph, "documents", **{"folds": False}).ask("When does the regatta begin on Friday?", 5)
    assert len(plain.hits) == 5


def test_folding_keeps_the_order_and_puts_contents_last(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    entries = "\n".join(f"- [Mooring fees {at}](fees-{at}.md)" for at in range(9))
    (tmp_path / "texts" / "contents.md").write_text(f"# Mooring fees\n\n{entries}\n", encoding="utf-8")
    (tmp_path / "texts" / "fees.md").write_text("# Fees\n\nMooring costs 9 crowns a night.\n", encoding="utf-8")
    build_graph([tmp_path / "texts"], tmp_path / "graph", options=BuildOptions())
    graph = Graph.open(tmp_path / "graph")
    rows = [graph.arrays.row(name) for name in ("contents.md#0", "fees.md#0")]
    assert without_near_duplicates(graph, rows, lambda row: Tokenizer.words(graph.arrays.texts[row])) == (
        [rows[1], rows[0]],
        {},
    )
    assert _ask(graph, "mooring fees").hits[-1].id == "contents.md#0"


def test_what_others_say_is_folded_and_what_is_new_is_not(tmp_path: Path) -> None:
    sentences = [f"The {boat} lies at the {quay} quay of Gull from spring to autumn." for boat, quay in _BERTHS]
    fee = "A night costs {} crowns."
    texts = {
        "fees.md": [*sentences, fee.format(40)],
        "copy.md": [*sentences, fee.format(40)],
        "part.md": sentences[2:],
        "draft.md": [*sentences[:3], "Nobody has looked at this yet.", *sentences[3:], fee.format(40)],
        "later.md": [*sentences, fee.format(45)],
        "reply.md": [*sentences[:2], "Ada Holm asked why the Tern and the Heron are not in this list of ours."],
    }
    (tmp_path / "texts").mkdir()
    for name, lines in texts.items():
        (tmp_path / "texts" / name).write_text("\n".join(lines), encoding="utf-8")
    build_graph([tmp_path / "texts"], tmp_path / "graph", options=BuildOptions())
    arrays = Graph.open(tmp_path / "graph").arrays
    rows = [arrays.row(f"{name}#0") for name in texts]
    kept, alike = without_near_duplicates(
        Graph.open(tmp_path / "graph"), rows, lambda row: Tokenizer.words(arrays.texts[row])
    )
    assert [arrays.ids[row] for row in kept] == ["fees.md#0", "later.md#0", "reply.md#0"]
    assert {arrays.ids[row]: [arrays.ids[one] for one in others] for row, others in alike.items()} == {
        "fees.md#0": ["copy.md#0", "part.md#0", "draft.md#0"]
    }


_BERTHS = [
    ("Gull", "east"),
    ("Auk", "west"),
    ("Puffin", "old"),
    ("Skua", "north"),
    ("Eider", "long"),
    ("Dunlin", "new"),
]


def test_runs_of_words_are_compared() -> None:
    words = list("abcdefghijkl")
    assert shingles_of(words) == {tuple(words[at : at + 4]) for at in range(9)}
    assert shingles_of(words[:2]) == {("a", "b")}
    assert 0 < ALIKE_SHARE < 1


def test_other_methods_rank_for_it(graph: Graph) -> None:
    result = Retriever(graph, "documents:bm25").ask("Who repaired the crane?")
    assert result.method == "documents"
    assert "Tarn Brothers" in (result.answer or "")
    with pytest.raises(BadOption):
        Retriever(graph, "documents:nothing")


def test_json_carries_span_marks_and_citations(graph: Graph) -> None:
    result = json.loads(_ask(graph, "Who repaired the crane?").model_dump_json())
    hit = result["hits"][0]
    text = graph.node(hit["id"]).text
    begin, end = hit["span"]
    assert hit["text"].strip("…") == text[begin:end]
    assert "crane" in {hit["text"][begin:end].casefold() for begin, end in hit["marks"]}
    assert result["citations"][0]["ids"] == [hit["id"]]


@pytest.mark.parametrize("question", ["Who repaired the Crane in Saltbury?", "What does json.nothing_at_all return?"])
def test_a_name_that_stands_nowhere_is_refused(graph: Graph, question: str) -> None:
    result = _ask(graph, question)
    assert result.refusal is not None
    assert result.refusal.words[0] in ("Saltbury", "json.nothing_at_all")


def test_a_mistyped_name_is_no_reason_to_refuse(graph: Graph) -> None:
    result = _ask(graph, "On which berth does Noor Vikk lie?")
    assert result.refusal is None
    assert "Berth: 12" in (result.answer or "")
    assert "not in these documents: vikk (vik?)" in result.notes


def test_no_row_is_quoted_where_others_fit_as_well(tmp_path):
    rows = [f"{name},Salt Bay,{number}" for number, name in enumerate(["Gull", "Tern", "Heron", "Auk"], 1)]
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "moorings.csv").write_text("\n".join(["Boat,Port,Place", *rows]), encoding="utf-8")
    build_graph([tmp_path / "docs"], tmp_path / "g", options=BuildOptions())
    several = _ask(Graph.open(tmp_path / "g"), "Where in Salt Bay is the mooring?")
    assert several.answer is None
    assert several.refusal is not None
    assert several.refusal.text == "no row is quoted: 4 rows fit alike"
    assert (_ask(Graph.open(tmp_path / "g"), "mooring of the Heron").answer or "").startswith("Boat: Heron")


def test_a_measure_is_asked_by_its_adjective(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "gull.txt").write_text("Gull is a port. The depth of Gull is 12 m.", encoding="utf-8")
    build_graph([tmp_path / "docs"], tmp_path / "g", options=BuildOptions())
    assert "12 m" in (_ask(Graph.open(tmp_path / "g"), "How deep is Gull?").answer or "")


@pytest.mark.parametrize(
    ("question", "lacking"),
    [
        ("Why did the board refuse a second lamp on the north pier?", "refuse"),
        ("Which dogs do not travel free of charge?", "a denial"),
        ("Why was the crane not repaired for 12,400 crowns?", "a denial"),
    ],
)
def test_what_a_question_takes_for_granted_must_be_said(graph: Graph, question: str, lacking: str) -> None:
    result = _ask(graph, question)
    assert result.answer is None
    assert result.refusal is not None
    assert result.refusal.kind == "not_understood"
    assert lacking in result.refusal.words
    assert result.hits


_LAMPS = {
    "lamps.md": """# Lamps

Lamp No. 5 is red.

## Piers

Swimming from the piers is forbidden. The west pier lacks a ladder.

## Cars

Cars travel not only by day.
""",
    "novels.md": """# To Have and Have Not

Ernest Hemingway wrote this novel in 1937.
""",
    "cup.txt": """Bo won the cup in 2019. The skipper of the Petrel won't sail on Sundays.
""",
}


@pytest.fixture(scope="module")
def lamps(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    folder = tmp_path_factory.mktemp("lamps")
    (folder / "texts").mkdir()
    for name, text in _LAMPS.items():
        (folder / "texts" / name).write_text(text, encoding="utf-8")
    build_graph([folder / "texts"], folder / "graph", options=BuildOptions())
    return Graph.open(folder / "graph")


@pytest.mark.parametrize(
    "question",
    [
        "Which lamp is not red?",
        "Which lamps are blue or not red?",
        "Which lamp isn't 'red'?",
        "Which lamp isn't red, is it?",
        "Which Lamp Is Not Red?",
        "Is the Red Lamp NOT red?",
        "Which is not Lamp No. 5?",
        "Which cars do not travel by day?",
    ],
)
def test_a_number_or_an_idiom_does_not_deny(lamps: Graph, question: str) -> None:
    result = _ask(lamps, question)
    assert result.answer is None
    assert result.refusal is not None
    assert "a denial" in result.refusal.words


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ('Who wrote the novel "To Have and Have Not"?', "Hemingway"),
        ("Who wrote the novel 'To Have and Have Not'?", "Hemingway"),
        ("Who wrote the novel To Have and Have Not?", "Hemingway"),
        ("Who wrote the novel 'Don't Have, Have Not'?", "Hemingway"),
        ("Is it true or not that Bo won the cup?", "Bo won"),
        ("Did Bo win the cup or not?", "Bo won"),
        ("Tell me whether or not Bo won the cup", "Bo won"),
        ("Bo won the cup, did he not?", "Bo won"),
        ("Bo won the cup, didn't he?", "Bo won"),
        ("Who won not only the cup?", "Bo won"),
    ],
)
def test_a_title_a_tag_or_an_idiom_asks_for_no_denial(lamps: Graph, question: str, said: str) -> None:
    assert said in (_ask(lamps, question).answer or "")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Is swimming from the piers not allowed?", "forbidden"),
        ("Which pier has not got a ladder?", "lacks"),
        ("When does the skipper of the Petrel not sail?", "Sundays"),
    ],
)
def test_words_deny_in_many_ways(lamps: Graph, question: str, said: str) -> None:
    assert said in (_ask(lamps, question).answer or "")
