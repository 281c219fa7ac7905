"""Questions about the demo graph that are kept from whoever builds the reader: do not open this file to build it."""

from __future__ import annotations

from .frames import Frames, chosen, groups
from .intent import Gold, Intent, Nodes, Number, Refusal, Top, YesNo


def _older(graph: Frames) -> Gold:
    years = graph.values("language", "year")[["language:cobol", "language:fortran"]]
    return Top(groups(years, 1, largest=False), 1)


INTENTS = (
    Intent(
        "people of the Norwegian Computing Center",
        "partial_name",
        (
            "Who worked at Norwegian Computing?",
            "people who worked at norwegian computing",
            "Give me everybody that has worked at Norwegian Computing at some time.",
        ),
        lambda graph: Nodes(graph.into("worked_at", ["organization:norwegian-computing-center"])),
    ),
    Intent(
        "writing languages of JavaScript implementations",
        "two_hops",
        (
            "In which languages are the implementations of JavaScript written?",
            "languages that javascript implementations are written in",
            "There are several implementations of JavaScript; what are the languages they were written in?",
        ),
        lambda graph: Nodes(graph.out("written_in", graph.into("implements", ["language:javascript"]))),
    ),
    Intent(
        "awards of AWK's designers",
        "possessive",
        (
            "Which awards did AWK's designers receive?",
            "awards received by awk's designers",
            "What are the awards that any of the designers of AWK has received?",
        ),
        lambda graph: Nodes(graph.out("received", graph.out("designed_by", ["language:awk"]))),
    ),
    Intent(
        "influenced by Haskell and Erlang",
        "intersection_names",
        (
            "Which languages were influenced by both Haskell and Erlang?",
            "languages influenced by haskell and by erlang",
            "List those languages on which Erlang as well as Haskell had an influence.",
        ),
        lambda graph: Nodes(
            graph.into("influenced_by", ["language:haskell"]) & graph.into("influenced_by", ["language:erlang"])
        ),
    ),
    Intent(
        "neither imperative nor functional",
        "neither_nor",
        (
            "Which languages support neither imperative programming nor functional programming?",
            "languages supporting neither FP nor imperative programming",
            "Give me the languages that don't support functional programming and don't support imperative programming.",
        ),
        lambda graph: Nodes(
            graph.all("language") - graph.into("supports", ["paradigm:imperative", "paradigm:functional"])
        ),
    ),
    Intent(
        "Microsoft or Google",
        "disjunction",
        (
            "Which languages were developed at Microsoft or Google?",
            "languages developed at either google or microsoft",
            "Show every language developed at Google, at Microsoft, or at both of them.",
        ),
        lambda graph: Nodes(graph.into("developed_at", ["organization:microsoft", "organization:google"])),
    ),
    Intent(
        "number of two awards",
        "count_intersection",
        (
            "How many people received both the Turing Award and the ACM Software System Award?",
            "number of people who received turing award and acm software system award",
            "Count the people that have received the ACM Software System Award in addition to the Turing Award.",
        ),
        lambda graph: Number(
            len(
                graph.into("received", ["award:turing-award"])
                & graph.into("received", ["award:acm-software-system-award"])
            )
        ),
    ),
    Intent(
        "three organizations by people",
        "top_count",
        (
            "Which three organizations have the most people who worked at them?",
            "top 3 organizations by number of people who worked there",
            "Rank the organizations by how many people worked at them and give me the first 3.",
        ),
        lambda graph: Top(groups(graph.degrees("worked_at", "organization", by="target"), 3), 3),
    ),
    Intent(
        "birth of Larry Wall",
        "property_lookup",
        (
            "When was Larry Wall born?",
            "larry wall born",
            "In what year was the person Larry Wall born?",
        ),
        lambda graph: Number(float(graph.nodes["born"]["person:larry-wall"])),
    ),
    Intent(
        "languages of 1995",
        "property_equals",
        (
            "Which languages have the year 1995?",
            "languages from 1995",
            "List all languages whose year is 1995.",
        ),
        lambda graph: Nodes(chosen(years := graph.values("language", "year"), years == 1995)),
    ),
    Intent(
        "born in the forties",
        "property_range",
        (
            "Which people were born between 1943 and 1945?",
            "people born 1943-1945",
            "Give me everyone who was born in 1943 or later but not after 1945.",
        ),
        lambda graph: Nodes(chosen(years := graph.values("person", "born"), (years >= 1943) & (years <= 1945))),
    ),
    Intent(
        "mean year of Bell Labs languages",
        "aggregate",
        (
            "What is the average year of the languages developed at Bell Labs?",
            "average year of languages developed at bell laboratories",
            "Taking all of the languages that were developed at Bell Labs, what is their mean year?",
        ),
        lambda graph: Number(
            float(
                graph.values("language", "year")
                .reindex(sorted(graph.into("developed_at", ["organization:bell-labs"])))
                .mean()
            ),
            tolerance=0.051,
        ),
    ),
    Intent(
        "COBOL or Fortran",
        "comparison",
        (
            "Which is older, COBOL or Fortran?",
            "older language: fortran or cobol",
            "Of Fortran and COBOL, which language has the earlier year?",
        ),
        _older,
    ),
    Intent(
        "Rob Pike and the Turing Award",
        "yes_no",
        (
            "Did Rob Pike receive the Turing Award?",
            "rob pike received turing award?",
            "Is it true that the Turing Award was received by Rob Pike?",
        ),
        lambda graph: YesNo("award:turing-award" in graph.out("received", ["person:rob-pike"])),
    ),
    Intent(
        "influenced by more than six",
        "threshold",
        (
            "Which languages were influenced by more than six languages?",
            "languages influenced by over 6 others",
            "Find the languages that at least 7 languages have had an influence on.",
        ),
        lambda graph: Nodes(chosen(counts := graph.degrees("influenced_by", "language"), counts > 6)),
    ),
    Intent(
        "metaprogramming with static typing",
        "two_conditions",
        (
            "Which languages with static typing support metaprogramming?",
            "languages supporting metaprogramming, typing static",
            "I am interested in languages that support metaprogramming and whose typing is static.",
        ),
        lambda graph: Nodes(
            graph.into("supports", ["paradigm:metaprogramming"])
            & chosen(typing := graph.values("language", "typing"), typing == "static")
        ),
    ),
    Intent(
        "creators of Oberon",
        "shared_name",
        (
            "Who created Oberon?",
            "people who created oberon",
            "By which people was the Oberon system created?",
        ),
        lambda graph: Nodes(graph.into("created", ["software:oberon"])),
    ),
    Intent(
        "salary of Guido",
        "not_here",
        (
            "What is the salary of Guido van Rossum?",
            "guido van rossum salary",
            "Please look up Guido van Rossum's salary for me.",
        ),
        lambda graph: Refusal("not_here", "salary"),
    ),
    Intent(
        "youngest person",
        "superlative_property",
        (
            "Who is the youngest person?",
            "person with the latest year of birth",
            "Of all the people, who was born last?",
        ),
        lambda graph: Top(groups(graph.values("person", "born"), 1), 1),
    ),
    Intent(
        "born after 1960",
        "property_compare",
        (
            "Which people were born after 1960?",
            "people born > 1960",
            "Give me all the people whose birth was later than 1960.",
        ),
        lambda graph: Nodes(chosen(years := graph.values("person", "born"), years > 1960)),
    ),
    Intent(
        "number of people of Bell Labs",
        "count_hop",
        (
            "How many people worked at Bell Labs?",
            "number of people who worked at bell labs",
            "What is the number of persons that have Bell Laboratories as a place where they worked?",
        ),
        lambda graph: Number(len(graph.into("worked_at", ["organization:bell-labs"]))),
    ),
    Intent(
        "rarest award",
        "superlative_count",
        (
            "Which award was received by the fewest people?",
            "award with the fewest people who received it",
            "Which of the awards has the smallest number of people who received it?",
        ),
        lambda graph: Top(groups(graph.degrees("received", "award", by="target"), 1, largest=False), 1),
    ),
    Intent(
        "Go without Thompson",
        "negation",
        (
            "Who other than Ken Thompson designed Go?",
            "designers of go except ken thompson",
            "Apart from Ken Thompson, which people designed the language Go?",
        ),
        lambda graph: Nodes(graph.out("designed_by", ["language:go"]) - frozenset(["person:ken-thompson"])),
    ),
    Intent(
        "three workplaces",
        "threshold",
        (
            "Which people worked at exactly three organizations?",
            "people who worked at exactly 3 organizations",
            "List all the people for whom the number of organizations they worked at is 3, no more and no less.",
        ),
        lambda graph: Nodes(chosen(counts := graph.degrees("worked_at", "person"), counts == 3)),
    ),
    Intent(
        "five oldest languages",
        "superlative_property",
        (
            "What are the five oldest languages?",
            "5 oldest languages",
            "Sort the languages by year and give me the first 5.",
        ),
        lambda graph: Top(groups(graph.values("language", "year"), 5, largest=False), 5),
    ),
)
