"""Words as the documents write them: forms by the documents' language, and a mistyped word next to right ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from orienteer import Graph, Retriever
from orienteer.ingest import BuildOptions, build_graph

# Of each language: documents, a question in other forms of the words, and the document that answers.
_FOLDERS: dict[str, tuple[dict[str, str], str, str]] = {
    "de": (
        {
            "a": "Die Häfen der Insel sind im Winter nicht für alle Schiffe offen, und es gibt dort kein Lager.",
            "b": "Der Kran auf dem Kai wird nach dem Sturm von einem Meister aus der Stadt geprüft.",
            "c": "Das Büro ist bei uns über der Werkstatt, aber es hat auch einen Eingang von der Straße.",
        },
        "Wann schließt der Hafen?",
        "a",
    ),
    "fr": (
        {
            "a": "Les chevaux sont dans une écurie avec leur maître, et ils ne sortent pas sans lui.",
            "b": "Le bureau est au-dessus de la boutique, mais il a aussi une porte sur la cour.",
            "c": "Dans cette salle on peut lire, et chez nous tout est pour vous quand vous avez le temps.",
        },
        "Où est le cheval ?",
        "a",
    ),
    "es": (
        {
            "a": "Los árboles que están en el patio son de mi abuelo, y él no los corta nunca.",
            "b": "La oficina está sobre el taller, pero también tiene una puerta para los clientes.",
            "c": "Cuando hay viento, las barcas se quedan en la playa hasta que todo esté en calma.",
        },
        "¿De quién es el árbol?",
        "a",
    ),
    "it": (
        {
            "a": "Le barche della nonna sono nel porto, ma non hanno più il motore che aveva prima.",
            "b": "Il negozio è sotto la casa di mio zio, e anche lui ci lavora con i suoi figli.",
            "c": "Quando piove gli operai restano in officina, perché nel cortile non si può fare nulla.",
        },
        "Di chi è la barca?",
        "a",
    ),
    "pt": (
        {
            "a": "As pontes da vila são mais velhas do que os moinhos, e não há quem as pinte com tinta.",
            "b": "O escritório fica sobre a loja, mas também tem uma porta para o pátio da minha tia.",
            "c": "Quando há navegações no rio, eles ficam em casa até que você lhes diga como está o tempo.",
        },
        "Quem autoriza a navegação?",
        "c",
    ),
    "nl": (
        {
            "a": "De katten van mijn buurman zijn niet in het huis, maar zij slapen op een kar bij ons.",
            "b": "Het kantoor is boven de winkel, en wij hebben daar ook een deur naar de straat.",
            "c": "Als er wind is, wordt de kraan door een man uit de stad nagekeken voor hij weer kan draaien.",
        },
        "Waar slaapt de kat?",
        "a",
    ),
    "sv": (
        {
            "a": "Det är inte många som har en brygga, och hamnarna på ön är för små när det blåser från väster.",
            "b": "Vi har ett kontor över butiken, men det finns också en dörr till gården där du kan vila.",
            "c": "Efter stormen ska någon från staden se till att kranen är hel, och sedan kan man lyfta med den.",
        },
        "Hur stor är hamnen?",
        "a",
    ),
    "pl": (
        {
            "a": "Opłaty za postój są tu niskie, ale nie ma ich w tym roku dla tych, którzy już byli.",
            "b": "Biuro jest nad sklepem, a z podwórza można do niego wejść przez drzwi, które są otwarte.",
            "c": "Po burzy dźwig jest badany przez mistrza, ponieważ tak każe prawo, i nikt go nie rusza.",
        },
        "Ile wynosi opłata?",
        "a",
    ),
}
_ENGLISH = {
    "a.txt": "The harbour office keeps a register of moorings. It is open from eight to four.",
    "b.txt": "The crane was overhauled by a firm from the mainland after the storm.",
    "c.txt": "Towage tariffs are printed on the yellow sheet next to the door.",
}


def _built(folder: Path, files: dict[str, str]) -> Graph:
    (folder / "texts").mkdir()
    for name, text in files.items():
        (folder / "texts" / name).write_text(text, encoding="utf-8")
    build_graph([folder / "texts"], folder / "graph", options=BuildOptions())
    return Graph.open(folder / "graph")


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    return _built(tmp_path_factory.mktemp("english"), _ENGLISH)


@pytest.mark.parametrize("language", _FOLDERS)
def test_another_form_of_a_word_finds_its_passage(language: str, tmp_path: Path) -> None:
    texts, question, answering = _FOLDERS[language]
    graph = _built(tmp_path, {f"{name}.txt": text for name, text in texts.items()})
    assert graph.arrays.word_forms.languages == (language,)
    result = Retriever(graph, "documents").ask(question)
    assert result.hits[0].id.startswith(f"{answering}.txt")
    asked = question.rstrip(" ?").rpartition(" ")[2].casefold()
    assert not any(asked in note for note in result.notes)


def test_forms_of_several_languages_are_found_side_by_side(tmp_path: Path) -> None:
    files = {
        f"{language}-{name}.txt": text for language in ("de", "fr") for name, text in _FOLDERS[language][0].items()
    }
    graph = _built(tmp_path, files)
    assert graph.arrays.word_forms.languages == ("de", "fr")
    for language in ("de", "fr"):
        _, question, answering = _FOLDERS[language]
        assert Retriever(graph, "documents").ask(question).hits[0].id.startswith(f"{language}-{answering}.txt")


def test_english_texts_are_of_no_other_language(english: Graph) -> None:
    forms = english.arrays.word_forms
    assert forms.languages == ()
    assert forms.inflected("moorings") == ()


def test_a_mistyped_word_finds_its_passage_next_to_right_ones(english: Graph) -> None:
    ask: Callable[[str], str] = lambda text: Retriever(english, "documents").ask(text).hits[0].id  # noqa: E731
    assert ask("Where in the office are the towaeg tariffs printed?").startswith("c.txt")
    assert ask("office of the mainlnd firm").startswith("b.txt")
    assert ask("Who keeps the regisster?").startswith("a.txt")


def test_spellings_are_words_of_the_texts(english: Graph) -> None:
    forms = english.arrays.word_forms
    assert forms.spellings("tarrifs") == ()  # two letters apart
    assert forms.spellings("tarifs") == ("tariffs",)
    assert forms.spellings("toawge") == ("towage",)
    assert forms.spellings("crame") == ("crane",)
    assert forms.spellings("mooringed") == ()  # no text has *moorings* but by its stem
    assert forms.spellings("stor") == ("storm",)
    assert forms.spellings("cra") == ()
    assert forms.spellings("x" * 1_000_000) == ()


def test_a_name_that_is_nowhere_is_still_refused(english: Graph) -> None:
    result = Retriever(english, "documents").ask("When was the crane sold to Brightwater?")
    assert result.refusal is not None
    assert result.refusal.kind == "not_here"
