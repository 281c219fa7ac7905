"""No quotation that looks like an answer and is none: what new users and a hostile review ran into, a test each."""

from __future__ import annotations

import os
import zipfile
from email.message import EmailMessage
from pathlib import Path

import pytest

from orienteer import Graph, Retriever
from orienteer.ingest import BuildOptions, build_graph, cleaned_title, read_mail
from orienteer.methods import QuestionTerms, documents_asked_for, match_statistics, names_in_question
from orienteer.records import Node, Result
from orienteer.text import telling_words

_FILES = {
    "p102.md": "# Pump P-102\n\n| Quantity | Value |\n|---|---|\n| Rated flow | 80 m3/h |\n| Weight | 410 kg |\n",
    "manual.md": "# Manual\n\nStart the motor with the discharge valve closed. Alarms are sent to P-103 too.\n",
    "ferries.md": "# Ferries\n\nThe night ferry leaves at 22:40. The war began in 1914.\n",
    "harbour.md": "# Harbour\n\nThe night ferry lies at berth 3. Priya Nair and Oskar Lind met there.\n",
    "staff.md": "# Staff\n\nPriya Nair keeps the books.\n",
    "changes.md": "# Changes\n\nSupport locales of France and of the Netherlands.\n",
    "licence.md": "# Licence\n\nThe winch program comes under the GPL-2. Its log is read by the master.\n",
    "revenue.csv": "Calendar month,Revenue,Target\nJanuary,300,1200\nMarch,397,1500\n",
    "berths.csv": 'Berth,Terms,Fee\n"South | quay",short stay,55 euros\n',
    "prices.csv": "article no,name,price,stock\nA-200,seal 45 mm,12.50,7\nA-201,seal 60 mm,19.90,3\n",
    "lunch.eml": "From: a@b.example\nSubject: Lunch\n\nLunch is at noon.\n",
}


def _built(folder: Path, files: dict[str, str]) -> Graph:
    for name, text in files.items():
        (folder / "texts" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "texts" / name).write_text(text, encoding="utf-8")
    build_graph([folder / "texts"], folder / "graph", options=BuildOptions())
    return Graph.open(folder / "graph")


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    return _built(tmp_path_factory.mktemp("reserve"), _FILES)


def _ask(graph: Graph, question: str) -> Result:
    return Retriever(graph, "documents").ask(question)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("How do I start the flumox?", "flumox"),
        ("What was the revenue in April?", "april"),
        ("Which month had the highest revenue?", "highest"),
        ("What is the capital of France?", "capital"),
        ("How many books does Priya Nair keep?", "a number"),
    ],
)
def test_no_sentence_is_quoted_that_is_not_about_it(graph: Graph, question: str, word: str) -> None:
    result = _ask(graph, question)
    assert result.answer is None
    assert result.refusal is not None
    assert word in result.refusal.text.casefold()
    assert result.hits


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is the rated flow of P-102?", "80 m3/h"),
        ("What was the revenue in March?", "Revenue: 397"),
        ("What is the price of the seal 60 mm?", "price: 19.90"),
        ("war begin", "The war began in 1914."),
        ("When Does The Night Ferry Leave?", "22:40"),
        ("WHEN DOES THE NIGHT FERRY LEAVE", "22:40"),
        ("Does the winch program come under the GPLv2?", "GPL-2"),
        ("Which licens does the winch program have?", "GPL-2"),
        ("Who reads the winch log?", "The winch program comes under the GPL-2. Its log is read by the master."),
        ("What is the fee of the south quay?", "Berth: South ¦ quay; Terms: short stay; Fee: 55 euros"),
    ],
)
def test_what_is_there_is_quoted(graph: Graph, question: str, said: str) -> None:
    assert said in (_ask(graph, question).answer or "")


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("I lost my key (Which office keeps it?)", []),
        ('"Does the ferry sail?" is what Ada asked', ["Ada"]),
        ("What happens now; Then what about the boat of Ada Holm?", ["Ada", "Holm"]),
        ("one thing - Is the boat here", []),
    ],
)
def test_the_first_word_of_a_sentence_is_no_name(question: str, names: list[str]) -> None:
    assert names_in_question(question) == names


def test_what_plain_words_put_first_is_not_drowned_by_what_names_lead_to(tmp_path: Path) -> None:
    """A walk comes to twenty notes that share a name with the one passage that has the question's words."""
    notes = "\n\n".join(f"# Note {at}\n\nAda Holm met Noor Vik about matter {at}." for at in range(20))
    graph = _built(
        tmp_path, {"notes.md": notes, "rope.md": "# Ropes\n\nFrayed mooring ropes are spliced in the loft.\n"}
    )
    hits = Retriever(graph, "documents").search("Where does Ada Holm splice frayed mooring ropes?").hits
    assert hits[0].id == "rope.md#0"


def test_a_value_of_another_thing_is_no_answer(graph: Graph) -> None:
    assert "80" not in (_ask(graph, "What is the rated flow of P-103?").answer or "")


@pytest.mark.parametrize(
    ("question", "files"),
    [
        ("Which documents mention Priya Nair but not Oskar Lind?", {"staff.md"}),
        ("Which documents mention Priya Nair or lunch?", {"staff.md", "harbour.md", "lunch.eml"}),
        ("Which documents mention berth 3 and Oskar Lind?", {"harbour.md"}),
        ('Which documents mention "night ferry leaves"?', {"ferries.md"}),
        ("documents mentioning the night ferry", {"ferries.md", "harbour.md"}),
        ("Which documents do not mention the night ferry?", set(_FILES) - {"ferries.md", "harbour.md"}),
    ],
)
def test_documents_are_those_that_are_asked_for(graph: Graph, question: str, files: set[str]) -> None:
    result = _ask(graph, question)
    assert result.answer is not None
    assert set(result.answer.split(", ")) == files


def test_of_a_kind_that_has_none_there_is_none(graph: Graph) -> None:
    result = _ask(graph, "How many emails mention the night ferry?")
    assert result.answer is None
    assert result.refusal is not None


@pytest.mark.parametrize(
    "question",
    [
        "What policies cover storm damage?",
        "How many letters are on the ferry?",
        "Where are the boats named?",
        "Which guide is about to retire?",
        "What message about the storm did Ann send?",
    ],
)
def test_plain_questions_ask_for_no_documents(question: str) -> None:
    assert documents_asked_for(question) is None


@pytest.mark.parametrize("question", ["war diary", "MIT license", "man page", "van hire cost", "sin tax", "bin folder"])
def test_one_word_of_another_language_makes_no_question_of_it(question: str) -> None:
    assert telling_words(question) == question.casefold().split()


@pytest.mark.slow
def test_of_a_long_sentence_the_part_that_answers_is_shown(tmp_path: Path) -> None:
    filler = " ".join(f"filler{at} words go on and on" for at in range(60))
    graph = _built(
        tmp_path, {"long.txt": f"{filler} and catamarans surrender permits after thirtyone nights {filler}."}
    )
    result = _ask(graph, "When do catamarans surrender permits?")
    assert "surrender permits after thirtyone nights" in (result.answer or "")
    assert "surrender permits after thirtyone nights" in result.hits[0].text


@pytest.mark.parametrize(
    "head",
    [
        "Subject: =?idna?q?xyz?=",
        "Subject: =?a\0b?q?x?=",
        "Subject: =?punycode?q?xy-=FF?=",
        "Subject: =?unicode_escape?q?=5Cud800?=",
        "Content-Disposition: attachment; filename*=idna''x%ff",
    ],
)
def test_heads_in_encodings_that_are_none_cost_nothing(head: str) -> None:
    mail = read_mail(f"{head}\nFrom: a@b.example\n\nThe ferry leaves.\n".encode())
    assert "The ferry leaves." in " ".join(getattr(block, "text", "") for block in mail.blocks)
    mail.title.encode()


def test_a_broken_book_costs_itself_alone(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    book = tmp_path / "texts" / "book.epub"
    with zipfile.ZipFile(book, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("META-INF/container.xml", "<rootfile full-path='a'/>" * 20)
    content = bytearray(book.read_bytes())
    content[80:120] = b"\xff" * 40
    book.write_bytes(bytes(content))
    message = EmailMessage()
    message["Subject"] = "Ferry"
    message.set_content("It leaves at nine.")
    (tmp_path / "texts" / "a.eml").write_bytes(bytes(message))
    report = build_graph([tmp_path / "texts"], tmp_path / "graph", options=BuildOptions())
    assert [Path(file.file).name for file in report.unreadable] == ["book.epub"]
    assert report.documents == 1


@pytest.mark.slow
def test_long_runs_of_marks_and_of_identifiers_take_no_time() -> None:
    assert cleaned_title("¶" * 100_000 + "x") == ""
    assert cleaned_title("Fees" + " #" * 100_000) == "Fees"
    assert names_in_question("a_" * 100_000 + "/b") == []


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_a_link_leads_to_nothing_that_is_hidden_or_ignored(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    (folder / "secret").mkdir(parents=True)
    (folder / ".gitignore").write_text("secret/\n", encoding="utf-8")
    (folder / "secret" / "k.md").write_text("The vault code is 4711.", encoding="utf-8")
    (folder / ".hidden.md").write_text("The hidden code is 4712.", encoding="utf-8")
    (folder / "open.md").write_text("Nothing to see.", encoding="utf-8")
    (folder / "link.md").symlink_to("secret/k.md")
    (folder / "other.md").symlink_to(".hidden.md")
    (folder / "good.md").symlink_to("open.md")
    report = build_graph([folder], tmp_path / "graph", options=BuildOptions())
    graph = Graph.open(tmp_path / "graph")
    assert not any("47" in graph.node(node_id).text for node_id in graph.arrays.ids)
    assert {"good.md", "open.md"} <= set(graph.arrays.ids)
    assert report.documents == 2


@pytest.mark.slow
def test_documents_beside_a_graph_are_asked_where_it_cannot_be_read(tmp_path: Path) -> None:
    from orienteer.ingest import graph_directory

    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "nodes.csv").write_text("id,type,name\np1,person,Ann\np2,person,Bob\n", encoding="utf-8")
    (folder / "edges.csv").write_text("source,type,target\np1,manages,p2\n", encoding="utf-8")
    (folder / "ferry.md").write_text("# Ferry\n\nThe Night Ferry was launched in 1988 in Turku.\n", encoding="utf-8")
    retriever = Retriever(Graph.open(graph_directory(folder, cache=tmp_path / "cache")))
    assert retriever.ask("Who manages Bob?").answer == "Ann"
    assert "1988" in (retriever.ask("When was the Night Ferry launched?").answer or "")


def test_forms_of_a_verb_are_one_word(tmp_path: Path) -> None:
    files = {
        "lemon.md": "# Lemon\n\nLemon generates parsers quickly. It was written by Dora Hipp in 1987.\n",
        "other.md": "# Other\n\nNothing of the kind.\n",
    }
    result = _ask(_built(tmp_path, files), "Who wrote Lemon?")
    assert "written by Dora Hipp" in (result.answer or "")
    assert not any("wrote" in note for note in result.notes)
    assert "written" in {result.hits[0].text[begin:end] for begin, end in result.hits[0].marks}


def test_a_name_within_a_longer_word_is_no_unknown_one(tmp_path):
    """`int8.c` stands in `uint8.c`: among texts that have `int8` as a whole word alone it would not be found."""
    texts = ["Compile uint8.c after the int.", "An int8, and the letter c.", "Nothing of it."]
    nodes = [Node(f"c{place}", "chunk", f"Note {place}", text) for place, text in enumerate(texts)]
    graph = Graph.from_records(nodes, [], path=tmp_path / "notes")
    assert match_statistics(QuestionTerms(graph, "When is int8.c compiled?"), range(len(texts))).unknown == ()
    assert match_statistics(QuestionTerms(graph, "When is kzm7.c compiled?"), range(len(texts))).unknown == ("kzm7.c",)


_YARD = {
    "keys.md": "# Door\n\nThe yard door has a keypad. You open it as follows:\n\nHold the card to the grey plate.\n",
    "hoist.md": "# Hoist\n\nChanging the rope of the hoist takes two steps. Lock the drum. Then draw the pin.\n",
    "cranes.md": "# Cranes\n\nCranes of the Tern class lift boats. The yard keeps its cranes under a roof. 3.\n",
    "slip.md": "# Slip\n\nThe slip was rebuilt by the Dunmore works. It was opened again in May 2019.\n",
    "oil.txt": "Oil for the hoist\n\n| Oil | Hoist | Litres |\n+--------------------------+\n",
}


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    return _built(tmp_path_factory.mktemp("yard"), _YARD)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How do I open the yard door?", "Hold the card to the grey plate."),
        ("How do I change the rope of the hoist?", "Then draw the pin."),
        ("When was the slip opened again?", "May 2019"),
        ("Who rebuilt the slip?", "Dunmore"),
    ],
)
def test_a_quotation_goes_on_to_what_its_colon_or_a_how_to_leads_to(yard: Graph, question: str, said: str) -> None:
    assert said in (_ask(yard, question).answer or "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "lacks"),
    [
        ("How many hooks have the cranes that the yard keeps?", "hooks"),
        ("How many cranes does the yard keep under its roof?", "a number"),  # an item's number is none
        ("When was the slip rebuilt?", "a date"),
        ("What do cranes of the Tern class cost?", "cost"),
        ("Which roof do the cranes of the Fulmar yard have?", "fulmar"),
        ("Where is the yard door, and where is its spare card?", "spare"),
        ("Hoist oil litres", ""),
    ],
)
def test_a_quotation_has_what_is_counted_named_and_asked(yard: Graph, question: str, lacks: str) -> None:
    result = _ask(yard, question)
    assert result.answer is None or not result.answer.lstrip("| ").startswith("Oil |")
    assert not lacks or (result.refusal is not None and lacks in result.refusal.text.casefold())


_SETTINGS = """# Settings

### retry-limit
Default: 2

How often a request is repeated.

### retry-factor
Default: 10

The factor of the waits between repeated requests.

### retry-wait
Default: 300

### exit
The program ends with exit code 0 or 1.
"""


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    parts = {f"{part.split()[0]}.md": f"# Settings\n\n## {part}" for part in _SETTINGS.split("### ")[1:]}
    return _built(
        tmp_path_factory.mktemp("settings"), {**parts, "more.md": "# Notes\n\nThe retry of a limit is rare.\n"}
    )


@pytest.mark.parametrize(("name", "default"), [("retry-limit", "2"), ("retry-factor", "10"), ("retry-wait", "300")])
def test_what_is_joined_by_hyphens_is_asked_of_itself_alone(settings: Graph, name: str, default: str) -> None:
    result = _ask(settings, f"What is the default of {name}?")
    assert result.hits[0].source is not None
    assert result.hits[0].source.file.endswith(f"{name}.md")
    assert result.answer is None or f"Default: {default}" in result.answer


def test_a_number_behind_a_word_that_no_text_has_is_lacking(settings: Graph) -> None:
    result = _ask(settings, "What does exit code 137 mean?")
    assert result.answer is None
    assert "137" in result.notes[0] + (result.refusal.text if result.refusal else "")
