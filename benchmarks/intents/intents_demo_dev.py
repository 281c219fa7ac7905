"""Questions about the demo graph that whoever builds the reader may look at."""

from __future__ import annotations

from .frames import chosen, groups
from .intent import Intent, Nodes, Number, Refusal, Top, YesNo

FUNCTIONAL, OBJECTS = "paradigm:functional", "paradigm:object-oriented"

INTENTS = (
    Intent(
        "designers of AWK",
        "one_hop",
        (
            "Who designed AWK?",
            "awk, designed by whom",
            "Please name the people who were involved in designing the AWK language.",
        ),
        lambda graph: Nodes(graph.out("designed_by", ["language:awk"])),
    ),
    Intent(
        "languages of MIT",
        "reversed_hop",
        (
            "Which languages were developed at MIT?",
            "languages developed at the Massachusetts Institute of Technology",
            "I would like to see every language whose development took place at MIT.",
        ),
        lambda graph: Nodes(graph.into("developed_at", ["organization:mit"])),
    ),
    Intent(
        "paradigms of Elisp",
        "alias",
        (
            "Which paradigms does Elisp support?",
            "elisp paradigms",
            "What are the programming paradigms that are supported by elisp?",
        ),
        lambda graph: Nodes(graph.out("supports", ["language:emacs-lisp"])),
    ),
    Intent(
        "workplaces of Haskell's designers",
        "possessive",
        (
            "Where did Haskell's designers work?",
            "organizations that haskell's designers worked at",
            "Give me the organizations at which any of Haskell's designers has worked.",
        ),
        lambda graph: Nodes(graph.out("worked_at", graph.out("designed_by", ["language:haskell"]))),
    ),
    Intent(
        "awards of designers of Bell Labs languages",
        "three_hops",
        (
            "Which awards did the designers of languages developed at Bell Labs receive?",
            "awards received by designers of languages developed at bell labs",
            "List every award that has gone to somebody who designed a language that was developed at Bell Labs.",
        ),
        lambda graph: Nodes(
            graph.out("received", graph.out("designed_by", graph.into("developed_at", ["organization:bell-labs"])))
        ),
    ),
    Intent(
        "Backus's language at IBM",
        "intersection_verbs",
        (
            "Which language was developed at IBM and designed by John Backus?",
            "language, developed at ibm, designed by backus",
            "Out of the languages that were developed at IBM, which one did John Backus design?",
        ),
        lambda graph: Nodes(
            graph.into("developed_at", ["organization:ibm"]) & graph.into("designed_by", ["person:john-backus"])
        ),
    ),
    Intent(
        "functional without objects",
        "negation",
        (
            "Which languages support functional programming but not object-oriented programming?",
            "languages supporting functional programming, not OOP",
            "Show me the languages with support for FP, except those that support object orientation as well.",
        ),
        lambda graph: Nodes(graph.into("supports", [FUNCTIONAL]) - graph.into("supports", [OBJECTS])),
    ),
    Intent(
        "influences on Python",
        "count_hop",
        (
            "How many languages influenced Python?",
            "number of languages python was influenced by",
            "Python took influence from other languages: how many of them are there?",
        ),
        lambda graph: Number(len(graph.out("influenced_by", ["language:python"]))),
    ),
    Intent(
        "most supported paradigm",
        "superlative_count",
        (
            "Which paradigm is supported by the most languages?",
            "most supported paradigm",
            "What is the paradigm with the largest number of languages that support it?",
        ),
        lambda graph: Top(groups(graph.degrees("supports", "paradigm", by="target"), 1), 1),
    ),
    Intent(
        "oldest language",
        "superlative_property",
        (
            "What is the oldest language?",
            "language with the earliest year",
            "Of all the languages here, which one came first, going by its year?",
        ),
        lambda graph: Top(groups(graph.values("language", "year"), 1, largest=False), 1),
    ),
    Intent(
        "languages before 1960",
        "property_compare",
        (
            "Which languages appeared before 1960?",
            "languages year < 1960",
            "List languages whose year is earlier than 1960.",
        ),
        lambda graph: Nodes(chosen(years := graph.values("language", "year"), years < 1960)),
    ),
    Intent(
        "languages without typing",
        "property_missing",
        (
            "Which languages have no typing?",
            "languages where typing is missing",
            "Give me all languages for which the typing isn't recorded.",
        ),
        lambda graph: Nodes(graph.lacking("language", "typing")),
    ),
    Intent(
        "Thompson and the Turing Award",
        "yes_no",
        (
            "Did Ken Thompson receive the Turing Award?",
            "has ken thompson received the turing award",
            "Is Ken Thompson among the people who received the Turing Award?",
        ),
        lambda graph: YesNo("award:turing-award" in graph.out("received", ["person:ken-thompson"])),
    ),
    Intent(
        "designers of Zig",
        "unknown_name",
        (
            "Who designed Zig?",
            "zig designed by",
            "Which people were behind the design of the language called Zig?",
        ),
        lambda graph: Refusal("unknown_name", "Zig"),
    ),
    Intent(
        "number of awards",
        "count_kind",
        (
            "How many awards are there?",
            "number of awards",
            "Could you count the awards in this graph for me?",
        ),
        lambda graph: Number(len(graph.all("award"))),
    ),
    Intent(
        "best language",
        "unclear",
        (
            "Which language is the best?",
            "best language",
            "In your opinion, what is the best of all these languages?",
        ),
        lambda graph: Refusal("not_understood", "best"),
    ),
    Intent(
        "number of languages of IBM or MIT",
        "count_disjunction",
        (
            "How many languages were developed at IBM or MIT?",
            "number of languages developed at either mit or ibm",
            "How many languages are there that have been developed at IBM or else at MIT?",
        ),
        lambda graph: Number(len(graph.into("developed_at", ["organization:ibm", "organization:mit"]))),
    ),
    Intent(
        "languages of the early eighties",
        "property_range",
        (
            "Which languages have a year between 1980 and 1985?",
            "languages 1980 to 1985",
            "List the languages whose year is 1980 or later and 1985 or earlier.",
        ),
        lambda graph: Nodes(chosen(years := graph.values("language", "year"), (years >= 1980) & (years <= 1985))),
    ),
    Intent(
        "people of Mozilla",
        "shared_name",
        (
            "Who worked at Mozilla?",
            "people who worked at mozilla",
            "Which people have at some point worked at Mozilla?",
        ),
        lambda graph: Nodes(graph.into("worked_at", ["organization:mozilla"])),
    ),
    Intent(
        "awards not of Alan Kay",
        "negation",
        (
            "Which awards did Alan Kay not receive?",
            "awards not received by alan kay",
            "List the awards that Alan Kay has never received.",
        ),
        lambda graph: Nodes(graph.all("award") - graph.out("received", ["person:alan-kay"])),
    ),
    Intent(
        "Haskell's designers at Microsoft",
        "yes_no",
        (
            "Did any designer of Haskell work at Microsoft?",
            "has a designer of haskell worked at microsoft",
            "Is there somebody who designed Haskell and who worked at Microsoft?",
        ),
        lambda graph: YesNo(
            bool(graph.out("designed_by", ["language:haskell"]) & graph.into("worked_at", ["organization:microsoft"]))
        ),
    ),
    Intent(
        "oldest language of Bell Labs",
        "superlative_property",
        (
            "What is the oldest language developed at Bell Labs?",
            "oldest bell labs language",
            "Of the languages developed at Bell Labs, which has the lowest year?",
        ),
        lambda graph: Top(
            groups(
                graph.values("language", "year").reindex(
                    sorted(graph.into("developed_at", ["organization:bell-labs"]))
                ),
                1,
                largest=False,
            ),
            1,
        ),
    ),
)
