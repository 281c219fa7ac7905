"""Step 1 of `anchor`: which phrases of a question name nodes, and which do not."""

import pytest

from orienteer.graph import Graph
from orienteer.methods import Anchor
from orienteer.reading import AnchorConfig, PhraseLinker, SchemaWords, words_of_question
from orienteer.records import Question

NODES = (
    {"id": "g1", "type": "gene", "name": "BRCA1", "text": "breast cancer gene", "aliases": ("RNF53",)},
    {"id": "g2", "type": "gene", "name": "REST", "text": "a silencer of transcription"},
    {"id": "g3", "type": "gene", "name": "GLUT4", "text": "takes sugar up"},
    {"id": "d1", "type": "disease", "name": "breast cancer", "text": "a cancer; patients need rest"},
    {"id": "d2", "type": "disease", "name": "cancer", "text": "uncontrolled growth; rest helps"},
    {"id": "d3", "type": "disease", "name": "Pain, Intractable", "text": "pain that stays; rest does not help"},
    {"id": "d4", "type": "disease", "name": "diabetes mellitus", "text": "too much sugar"},
    {"id": "DX:007", "type": "disease", "name": "scurvy", "text": "lack of a vitamin"},
    {"id": "10", "type": "disease", "name": "beriberi", "text": "lack of another vitamin"},
    {"id": "m1", "type": "disease", "name": "Mumps", "text": "swollen glands"},
    {"id": "m2", "type": "virus", "name": "mumps", "text": "makes glands swell"},
    {"id": "b1", "type": "band", "name": "The Who", "text": "a band"},
    {"id": "b2", "type": "band", "name": "The-Pain", "text": "another band"},
    {"id": "l1", "type": "language", "name": "Go", "text": "a language"},
    {"id": "w1", "type": "band", "name": "Will", "text": "a singer"},
    {"id": "l2", "type": "language", "name": "C", "text": "a language"},
    {"id": "t1", "type": "drug", "name": "treats", "text": "sweets"},
    {"id": "v1", "type": "virus", "name": "rare", "text": "a name that is a common word"},
    *({"id": f"x{number}", "type": "drug", "name": "placebo", "text": "rare"} for number in range(60)),
)
EDGES = ({"source": "t1", "type": "treats", "target": "d1"}, {"source": "g1", "type": "causes", "target": "d1"})


@pytest.fixture(scope="module")
def link(scratch):
    graph = Graph.from_records(NODES, EDGES, path=scratch())
    linker = PhraseLinker(graph, SchemaWords(graph), AnchorConfig())

    def linked(question):
        anchors = linker.link(words_of_question(question, graph.arrays.tokenizer))
        return {anchor.phrase: [graph.arrays.ids[one.row] for one in anchor.candidates] for anchor in anchors}

    linked.linker, linked.graph = linker, graph
    return linked


def test_the_longest_phrase_wins(link):
    assert link("which gene causes breast cancer?") == {"breast cancer": ["d1"]}


def test_names_aliases_and_identifiers_link(link):
    assert link("is BRCA1 there") == {"BRCA1": ["g1"]}
    assert link("is RNF53 there") == {"RNF53": ["g1"]}
    assert link("is DX:007 there") == {"DX:007": ["DX:007"]}


def test_a_name_is_worth_more_than_an_alias_and_exact_words_more_than_stems(link):
    def quality(question):
        (anchor,) = link.linker.link(words_of_question(question, link.graph.arrays.tokenizer))
        return anchor.quality

    assert quality("is BRCA1 there") == 1.0
    assert quality("is RNF53 there") == pytest.approx(0.8)
    assert quality("are cancers there") == pytest.approx(0.85 * 0.95)
    assert quality("is Cancer there") == pytest.approx(0.95)


def test_a_turned_name_is_read_the_other_way_round(link):
    assert link("what helps against intractable pain") == {"intractable pain": ["d3"]}


def test_case_puts_one_of_two_namesakes_first_and_keeps_both(link):
    assert link("is Mumps there") == {"Mumps": ["m1", "m2"]}
    assert link("is mumps there") == {"mumps": ["m2", "m1"]}


@pytest.mark.parametrize(
    "question",
    [
        "are there 10 of them",  # a bare number is no identifier
        "patients who rest",  # a word of three texts is no acronym
        "who treats it",  # a word of an edge type
        "which mumps",  # right after which: the kind of answer
        "the pain",  # begins with a stop word, and is written otherwise
        "they will have it",  # stop words
        "c is a letter",
        "all diseases",  # only a type
    ],
)
def test_what_only_looks_like_a_name_is_none(link, question):
    assert link(question) == {}


def test_a_word_that_texts_use_far_more_than_edges_is_an_anchor_only_where_nothing_else_is(link):
    assert link("a rare thing about BRCA1") == {"BRCA1": ["g1"]}
    assert link("a rare thing") == {"rare": ["v1"]}
    assert link("the virus rare or BRCA1") == {"rare": ["v1"], "BRCA1": ["g1"]}, "a kind right before it tells"


def test_a_phrase_that_names_too_many_nodes_names_none(link):
    method = Anchor(link.graph)
    assert len(link("a placebo")["placebo"]) == 60
    assert method.find(Question(text="a placebo")).anchors == ()


def test_quoted_and_capitalised_words_are_names_after_all(link):
    assert link('a thing called "10"') == {"10": ["10"]}
    assert link("they use Go") == {"Go": ["l1"]}
    assert link("written in C") == {"C": ["l2"]}
    assert link("songs by The Who") == {"The Who": ["b1"]}


def test_a_lower_case_symbol_that_texts_do_not_use_links(link):
    assert link("what about brca1") == {"brca1": ["g1"]}


@pytest.mark.parametrize(
    ("question", "phrase", "node"),
    [
        ("about diabtes mellitus", "diabtes mellitus", "d4"),
        ("about diabeets mellitus", "diabeets mellitus", "d4"),
        ("about scurvvy", "scurvvy", "DX:007"),
        ("about GLT4", "GLT4", "g3"),
    ],
)
def test_a_mistyped_word_is_read_as_the_name_it_nearly_spells(link, question, phrase, node):
    (anchor,) = link.linker.link(words_of_question(question, link.graph.arrays.tokenizer))
    assert (anchor.phrase, link.graph.arrays.ids[anchor.candidates[0].row]) == (phrase, node)
    assert anchor.read_as == link.graph.arrays.names[anchor.candidates[0].row]
    assert anchor.quality < 1


def test_spelling_may_be_left_alone(link):
    plain = PhraseLinker(link.graph, SchemaWords(link.graph), AnchorConfig(spelling=False))
    assert plain.link(words_of_question("about scurvvy", link.graph.arrays.tokenizer)) == ()


@pytest.mark.parametrize("question", ["", "?!", "   ", "'", '"" ""', "\u200b", "10ms 東京 é", "a" * 3000])
def test_any_text_is_read(link, question):
    assert isinstance(link(question), dict)


def test_words_know_where_they_stand(link):
    reading = words_of_question("Is “Pain, Intractable” like O'Neil-Smith's?", link.graph.arrays.tokenizer)
    assert [reading.surface(at, at + 1) for at in range(len(reading.words))] == [
        *("Is", "Pain", "Intractable", "like", "O", "Neil", "Smith", "s"),
    ]
    assert [word.text for word in reading.words if word.is_quoted] == ["pain", "intractable"]
    assert [word.text for word in reading.words if word.after_comma] == ["intractable"]


SYMBOLS = (
    {"id": "a", "type": "disease", "name": "COVID-19", "text": "a disease of the lungs"},
    {"id": "b", "type": "gene", "name": "PRSS1", "text": "cuts proteins"},
    {"id": "c", "type": "pathway", "name": "JAK-STAT", "text": "carries signals"},
    {"id": "d", "type": "gene", "name": "TNF-alpha", "text": "a signal"},
    {"id": "e", "type": "gene", "name": "PDE3B", "text": "cuts rings"},
    {"id": "f", "type": "gene", "name": "PDE5", "text": "cuts rings"},
    {"id": "g", "type": "gene", "name": "OR2", "text": "smells"},
    {"id": "h", "type": "gene", "name": "overnight", "text": "a name that is a word"},
)


@pytest.fixture(scope="module")
def symbols(scratch):
    graph = Graph.from_records(SYMBOLS, (), path=scratch())
    linker = PhraseLinker(graph, SchemaWords(graph), AnchorConfig())

    def linked(question):
        anchors = linker.link(words_of_question(question, graph.arrays.tokenizer))
        return {anchor.phrase: [graph.arrays.ids[node.row] for node in anchor.candidates] for anchor in anchors}

    return linked


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who has COVID-19?", {"COVID-19": ["a"]}),
        ("Who has COVID19?", {"COVID19": ["a"]}),
        ("Who has covid 19?", {"covid 19": ["a"]}),
        ("Where is PRSS-1 made?", {"PRSS-1": ["b"]}),
        ("Where is prss 1 made?", {"prss 1": ["b"]}),
        ("What does JAKSTAT carry?", {"JAKSTAT": ["c"]}),
        ("What does JAK STAT carry?", {"JAK STAT": ["c"]}),
        ("What does TNFalpha bind?", {"TNFalpha": ["d"]}),
        ("What does PDE-3B bind?", {"PDE-3B": ["e"]}),
        ("What does PDE 3B bind?", {"PDE 3B": ["e"]}),
        ("one or 2 of them", {}),
        ("left over night", {}),
        ("Who has COVID-21?", {}),
    ],
)
def test_symbols_are_found_with_hyphens_and_without(symbols, question, expected):
    assert symbols(question) == expected
