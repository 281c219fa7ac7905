"""How the types of a schema are said."""

import pytest

from orienteer.reading import participle_of, relation_phrases, verb_base_of, words_of
from orienteer.text import plural


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Side Effect", "side effect"),
        ("SideEffect", "side effect"),
        ("biological_process", "biological process"),
        ("IN_SECTION", "in section"),
        ("DNA", "DNA"),
        ("DNAFragment", "DNA fragment"),
        ("author___writes___paper", "author writes paper"),
        ("adj", "adjective"),
        ("", ""),
    ],
)
def test_words_of_a_name(name, words):
    assert " ".join(words_of(name)) == words


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("gene", "genes"),
        ("biological process", "biological processes"),
        ("category", "categories"),
        ("person", "people"),
        ("gene/protein", "genes/proteins"),
        ("virus", "viruses"),
        ("species", "species"),
        ("day", "days"),
    ],
)
def test_plurals(one, many):
    assert plural(one) == many


@pytest.mark.parametrize(
    ("third", "base", "done"),
    [
        ("binds", "bind", "bound"),
        ("carries", "carry", "carried"),
        ("causes", "cause", "caused"),
        ("plans", "plan", "planned"),
        ("expresses", "express", "expressed"),
        ("upregulates", "upregulate", "upregulated"),
    ],
)
def test_forms_of_verbs(third, base, done):
    assert verb_base_of(third) == base
    assert participle_of(base) == done


def _both(label, source, target, **more):
    found = relation_phrases(label, source, target, **more)
    sources = found.of_sources.predicate.format("X")
    targets = found.of_targets.predicate or found.of_targets.question
    return sources, targets.format("X")


@pytest.mark.parametrize(
    ("label", "target", "sources", "targets"),
    [
        ("binds", "gene", "bind X", "are bound by X"),
        ("TREATS", "disease", "treat X", "are treated by X"),
        ("negatively regulates", "gene", "negatively regulate X", "are negatively regulated by X"),
        ("implements", "language", "implement X", "are implemented by X"),
        ("depends", "package", "depend on X", "does X depend on"),
        ("pre_depends", "package", "pre-depend on X", "does X pre-depend on"),
        ("interacts with", "protein", "interact with X", "does X interact with"),
        ("maintained_by", "maintainer", "are maintained by X", "is X maintained by"),
        ("involved_in", "process", "are involved in X", "is X involved in"),
        ("acted in", "film", "acted in X", "did X act in"),
        ("directed", "film", "directed X", "were directed by X"),
        ("wrote", "book", "wrote X", "were written by X"),
        ("is_a", "disease", "are kinds of X", "is X a kind of"),
        ("isa", "disease", "are kinds of X", "is X a kind of"),
        ("part of", "process", "are part of X", "is X part of"),
        ("author_of", "paper", "are authors of X", "is X an author of"),
        ("hypernym", "noun", "have X as a hypernym", "are hypernyms of X"),
        ("has_tag", "debtag", "have the tag X", "are tags of X"),
        ("has_brand", "brand", "have the brand X", "are brands of X"),
        ("in_section", "section", "are in the section X", "is X in"),
        ("derived_from_adj", "adjective", "are derived from X", "is X derived from"),
        ("DRUG_TREATS_DISEASE", "disease", "treat X", "are treated by X"),
        ("also_buy", "product", "have an “also buy” link to X", "have an “also buy” link from X"),
        ("P31", "item", "have a “P31” link to X", "have a “P31” link from X"),
    ],
)
def test_an_edge_type_is_said_both_ways(label, target, sources, targets):
    assert _both(label, "drug", target) == (sources, targets)


def test_a_mutual_edge_is_said_one_way():
    assert _both("resembles", "drug", "drug", is_mutual=True) == ("resemble X", "resemble X")
    assert _both("antonym", "noun", "noun", is_mutual=True) == ("are antonyms of X", "are antonyms of X")
    assert _both("derivationally_related", "noun", "verb", is_mutual=True)[0] == "are derivationally related to X"
