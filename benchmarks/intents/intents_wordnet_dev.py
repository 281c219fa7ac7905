"""Questions about WordNet that whoever builds the reader may look at.

An edge `A -hyponym-> B` says that B is a hyponym of A, and so for every other relation.
"""

from __future__ import annotations

from .frames import Frames, chosen, groups
from .intent import Gold, Intent, Nodes, Number, Refusal, Top, Values, YesNo


def _noun(graph: Frames, *names: str) -> frozenset[str]:
    return graph.named(*names, kind="noun")


def _german_rivers(graph: Frames) -> Gold:
    return Nodes(
        graph.out("instance_hyponym", _noun(graph, "river")) & graph.out("part_meronym", _noun(graph, "Germany"))
    )


INTENTS = (
    Intent(
        "hyponyms of penguin",
        "one_hop",
        (
            "What are the hyponyms of penguin?",
            "penguin hyponyms",
            "Give me each noun that is a hyponym of penguin.",
        ),
        lambda graph: Nodes(graph.out("hyponym", _noun(graph, "penguin"))),
    ),
    Intent(
        "with fuselage as a part",
        "reversed_hop",
        (
            "What has fuselage as a part meronym?",
            "part holonyms of fuselage",
            "Fuselage is a part meronym of which nouns?",
        ),
        lambda graph: Nodes(graph.into("part_meronym", _noun(graph, "fuselage"))),
    ),
    Intent(
        "hyponyms of aeroplane",
        "alias",
        (
            "What are the hyponyms of aeroplane?",
            "aeroplane hyponyms",
            "Which nouns are hyponyms of an aeroplane?",
        ),
        lambda graph: Nodes(graph.out("hyponym", _noun(graph, "airplane"))),
    ),
    Intent(
        "parts of heavier-than-air craft",
        "two_hops",
        (
            "What are the part meronyms of the hyponyms of heavier-than-air craft?",
            "heavier-than-air craft: part meronyms of its hyponyms",
            "Take the hyponyms of heavier-than-air craft. What part meronyms do they have?",
        ),
        lambda graph: Nodes(graph.out("part_meronym", graph.out("hyponym", _noun(graph, "heavier-than-air craft")))),
    ),
    Intent(
        "rivers of Germany",
        "intersection_verbs",
        (
            "Which instance hyponyms of river are part meronyms of Germany?",
            "instance hyponyms of river that have Germany as part holonym",
            "I need everything that is an instance hyponym of river and at the same time a part meronym of Germany.",
        ),
        _german_rivers,
    ),
    Intent(
        "number of hyponyms of rodent",
        "count_hop",
        (
            "How many hyponyms does rodent have?",
            "number of hyponyms of rodent",
            "Could you count the hyponyms of rodent?",
        ),
        lambda graph: Number(len(graph.out("hyponym", _noun(graph, "rodent")))),
    ),
    Intent(
        "number of verbs",
        "count_kind",
        (
            "How many verbs are there?",
            "number of verbs",
            "What is the total count of verbs in here?",
        ),
        lambda graph: Number(len(graph.all("verb"))),
    ),
    Intent(
        "most part meronyms",
        "superlative_count",
        (
            "Which noun has the most part meronyms?",
            "noun with most part meronyms",
            "What is the noun whose number of part meronyms is the highest of all?",
        ),
        lambda graph: Top(groups(graph.degrees("part_meronym", "noun"), 1), 1),
    ),
    Intent(
        "opposite of expensive",
        "reversed_hop",
        (
            "What is the antonym of expensive?",
            "antonym expensive",
            "What is the opposite of expensive?",
        ),
        lambda graph: Nodes(graph.both("antonym", graph.named("expensive", kind="adj"))),
    ),
    Intent(
        "category of photosynthesis",
        "property_lookup",
        (
            "What is the category of photosynthesis?",
            "photosynthesis category",
            "In which category is photosynthesis?",
        ),
        lambda graph: Values(frozenset(graph.nodes["category"][sorted(_noun(graph, "photosynthesis"))])),
    ),
    Intent(
        "weather verbs",
        "property_equals",
        (
            "Which verbs have the category verb.weather?",
            "verbs with category verb.weather",
            "List all of the verbs whose category is verb.weather.",
        ),
        lambda graph: Nodes(chosen(categories := graph.values("verb", "category"), categories == "verb.weather")),
    ),
    Intent(
        "oboe and double-reed instruments",
        "yes_no",
        (
            "Is oboe a hyponym of double-reed instrument?",
            "does double-reed instrument have the hyponym oboe",
            "Tell me if oboe belongs to the hyponyms of double-reed instrument.",
        ),
        lambda graph: YesNo(_noun(graph, "oboe") <= graph.out("hyponym", _noun(graph, "double-reed instrument"))),
    ),
    Intent(
        "hyponyms of smartphone",
        "unknown_name",
        (
            "What are the hyponyms of smartphone?",
            "smartphone hyponyms",
            "How many hyponyms does the noun smartphone have?",
        ),
        lambda graph: Refusal("unknown_name", "smartphone"),
    ),
    Intent(
        "hyponyms of dog",
        "shared_name",
        (
            "How many hyponyms does the noun dog have?",
            "number of hyponyms of domestic dog",
            "Of Canis familiaris, how many hyponyms are there?",
        ),
        lambda graph: Number(len(graph.out("hyponym", ["n02084071"]))),  # the animal, by far the commonest sense
        also=(
            lambda graph: Number(len(graph.out("hyponym", _noun(graph, "dog")))),
            lambda graph: Refusal("not_understood", "dog"),
        ),
    ),
    Intent(
        "number of German and Egyptian rivers",
        "count_intersection",
        (
            "How many instance hyponyms of river are part meronyms of Egypt or Germany?",
            "number of instance hyponyms of river that are part meronyms of germany or of egypt",
            "Of the instance hyponyms of river, how many are part meronyms of at least one of Germany and Egypt?",
        ),
        lambda graph: Number(
            len(
                graph.out("instance_hyponym", _noun(graph, "river"))
                & graph.out("part_meronym", _noun(graph, "Germany", "Egypt"))
            )
        ),
    ),
    Intent(
        "siblings of helicopter",
        "possessive",
        (
            "What are the hyponyms of helicopter's hypernym?",
            "helicopter's hypernym's hyponyms",
            "Helicopter has a hypernym. List the hyponyms which that hypernym has.",
        ),
        lambda graph: Nodes(graph.out("hyponym", graph.out("hypernym", _noun(graph, "helicopter")))),
        also=(
            lambda graph: Nodes(
                graph.out("hyponym", graph.out("hypernym", _noun(graph, "helicopter"))) - _noun(graph, "helicopter")
            ),
        ),
    ),
)
