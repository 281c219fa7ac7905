"""Questions about WordNet that are kept from whoever builds the reader: do not open this file to build it.

An edge `A -hyponym-> B` says that B is a hyponym of A, and so for every other relation.
"""

from __future__ import annotations

from .frames import Frames, chosen, groups
from .intent import Gold, Intent, Nodes, Number, Refusal, Top, YesNo


def _noun(graph: Frames, *names: str) -> frozenset[str]:
    return graph.named(*names, kind="noun")


def _parts(graph: Frames, *names: str) -> frozenset[str]:
    return graph.out("part_meronym", _noun(graph, *names))


def _rodent_or_guitar(graph: Frames) -> Gold:
    hyponyms = graph.degrees("hyponym", "noun")[sorted(_noun(graph, "rodent", "guitar"))]
    return Top(groups(hyponyms, 1), 1)


INTENTS = (
    Intent(
        "parts of a typewriter",
        "one_hop",
        (
            "What are the part meronyms of typewriter?",
            "typewriter part meronyms",
            "I want to know which part meronyms the noun typewriter has.",
        ),
        lambda graph: Nodes(_parts(graph, "typewriter")),
    ),
    Intent(
        "what Nairobi is a part of",
        "reversed_hop",
        (
            "Of what is Nairobi a part meronym?",
            "part holonyms of nairobi",
            "Which nouns have Nairobi as one of their part meronyms?",
        ),
        lambda graph: Nodes(graph.into("part_meronym", _noun(graph, "Nairobi"))),
    ),
    Intent(
        "hyponyms of hautboy",
        "alias",
        (
            "What are the hyponyms of hautboy?",
            "hautboy hyponyms",
            "List all nouns that are hyponyms of the hautboy.",
        ),
        lambda graph: Nodes(graph.out("hyponym", _noun(graph, "oboe"))),
    ),
    Intent(
        "two up from giraffe",
        "two_hops",
        (
            "What are the hypernyms of the hypernyms of giraffe?",
            "hypernyms of giraffe's hypernyms",
            "Giraffe has a hypernym; which nouns are hypernyms of that hypernym?",
        ),
        lambda graph: Nodes(graph.out("hypernym", graph.out("hypernym", _noun(graph, "giraffe")))),
    ),
    Intent(
        "siblings of haiku",
        "possessive",
        (
            "What are the hyponyms of haiku's hypernym?",
            "haiku's hypernym's hyponyms",
            "Which nouns are hyponyms of the hypernym that haiku has?",
        ),
        lambda graph: Nodes(graph.out("hyponym", graph.out("hypernym", _noun(graph, "haiku")))),
        also=(
            lambda graph: Nodes(
                graph.out("hyponym", graph.out("hypernym", _noun(graph, "haiku"))) - _noun(graph, "haiku")
            ),
        ),
    ),
    Intent(
        "parts of Austria and Hungary",
        "intersection_names",
        (
            "What is a part meronym of both Austria and Hungary?",
            "part meronyms shared by austria and hungary",
            "Which nouns are part meronyms of Austria and also part meronyms of Hungary?",
        ),
        lambda graph: Nodes(_parts(graph, "Austria") & _parts(graph, "Hungary")),
    ),
    Intent(
        "number of French rivers",
        "count_intersection",
        (
            "How many instance hyponyms of river are part meronyms of France?",
            "number of instance hyponyms of river that are part meronyms of france",
            "Of the part meronyms of France, how many are instance hyponyms of river?",
        ),
        lambda graph: Number(len(graph.out("instance_hyponym", _noun(graph, "river")) & _parts(graph, "France"))),
    ),
    Intent(
        "hyponyms of oboe or penguin",
        "disjunction",
        (
            "What are the hyponyms of oboe or penguin?",
            "hyponyms of either penguin or oboe",
            "Give me every noun which is a hyponym of oboe or a hyponym of penguin.",
        ),
        lambda graph: Nodes(graph.out("hyponym", _noun(graph, "oboe", "penguin"))),
    ),
    Intent(
        "parts of France, not rivers",
        "negation",
        (
            "Which part meronyms of France are not instance hyponyms of river?",
            "part meronyms of france but not instance hyponyms of river",
            "List the part meronyms of France, leaving out those that are instance hyponyms of river.",
        ),
        lambda graph: Nodes(_parts(graph, "France") - graph.out("instance_hyponym", _noun(graph, "river"))),
    ),
    Intent(
        "three with most hyponyms",
        "top_count",
        (
            "Which three nouns have the most hyponyms?",
            "top 3 nouns by number of hyponyms",
            "Name the 3 nouns for which the number of hyponyms is largest.",
        ),
        lambda graph: Top(groups(graph.degrees("hyponym", "noun"), 3), 3),
    ),
    Intent(
        "motives",
        "property_equals",
        (
            "Which nouns have the category noun.motive?",
            "nouns, category noun.motive",
            "Show me all the nouns for which the category is noun.motive.",
        ),
        lambda graph: Nodes(chosen(categories := graph.values("noun", "category"), categories == "noun.motive")),
    ),
    Intent(
        "guitars and percussion",
        "yes_no",
        (
            "Is guitar a hyponym of percussion instrument?",
            "does percussion instrument have the hyponym guitar",
            "Would you say that guitar is among the hyponyms of percussion instrument?",
        ),
        lambda graph: YesNo(_noun(graph, "guitar") <= graph.out("hyponym", _noun(graph, "percussion instrument"))),
    ),
    Intent(
        "rodent against guitar",
        "comparison",
        (
            "Which has more hyponyms, rodent or guitar?",
            "guitar vs rodent: more hyponyms",
            "Is it rodent or guitar that has the larger number of hyponyms?",
        ),
        _rodent_or_guitar,
    ),
    Intent(
        "pronunciation of oboe",
        "not_here",
        (
            "What is the pronunciation of oboe?",
            "oboe pronunciation",
            "Please show me the pronunciation of the noun oboe.",
        ),
        lambda graph: Refusal("not_here", "pronunciation"),
    ),
    Intent(
        "antonyms of blorptastic",
        "unknown_name",
        (
            "What is the antonym of blorptastic?",
            "blorptastic antonyms",
            "How many antonyms does blorptastic have?",
        ),
        lambda graph: Refusal("unknown_name", "blorptastic"),
    ),
    Intent(
        "hypernyms of canine",
        "shared_name",
        (
            "What are the hypernyms of canine?",
            "canine hypernyms",
            "Which nouns are hypernyms of the noun canine?",
        ),
        lambda graph: Nodes(graph.out("hypernym", _noun(graph, "canine"))),
        also=(
            lambda graph: Nodes(graph.out("hypernym", ["n02083346"])),
            lambda graph: Nodes(graph.out("hypernym", ["n05307091"])),
            lambda graph: Refusal("not_understood", "canine"),
        ),
    ),
)
