"""Questions over the invented world of observatories: the half that methods may be tuned on."""

from __future__ import annotations

from .intent import Intent, Nodes, Number, Refusal, YesNo
from .world_tables import above, column, highest, lowest, named, same_set, tally, top, value, where

INTENTS = (
    Intent(
        "staff of skarholt",
        "one_hop",
        (
            "Who works at the Skarholt Sky Observatory?",
            "Skarholt Sky Observatory staff",
            "Can you give me the names of all astronomers employed at the Skarholt Sky Observatory?",
        ),
        lambda w: Nodes(w.into("works_at", named(w, "Skarholt Sky Observatory"))),
    ),
    Intent(
        "discoverers of vagabond",
        "one_hop",
        (
            "Who discovered Vagabond?",
            "discoverers of the comet Vagabond",
            "I would like to know which astronomers found the comet called Vagabond.",
        ),
        lambda w: Nodes(w.into("discovered", named(w, "Vagabond"))),
    ),
    Intent(
        "telescopes of tidewell",
        "reversed_hop",
        (
            "What telescopes did Tidewell Optics build?",
            "Tidewell Optics telescopes",
            "Give me everything that was made by Tidewell Optics.",
        ),
        lambda w: Nodes(w.into("built_by", named(w, "Tidewell Optics"))),
    ),
    Intent(
        "students of sorrel",
        "reversed_hop",
        (
            "Whom did Yvette Sorrel supervise?",
            "students of Yvette Sorrel",
            "List the astronomers whose supervisor was Yvette Sorrel.",
        ),
        lambda w: Nodes(w.into("supervised_by", named(w, "Yvette Sorrel"))),
    ),
    Intent(
        "builder of gnr",
        "alias",
        ("Who built the GNR?", "builder of GNR", "By which workshop was the telescope known as GNR made?"),
        lambda w: Nodes(w.out("built_by", named(w, "GNR"))),
    ),
    Intent(
        "telescopes at plainwater",
        "partial_name",
        (
            "Which telescopes are at Plainwater?",
            "telescopes Plainwater",
            "What telescopes does Plainwater have, please?",
        ),
        lambda w: Nodes(w.into("housed_at", named(w, "Plainwater Radio Station"))),
    ),
    Intent(
        "telescopes at the hollins",
        "partial_name",
        (
            "Which telescopes are housed at the Hollin observatories?",
            "telescopes at Hollin Ridge or Hollin Vale",
            "Name the telescopes that you find at either of the two observatories called Hollin.",
        ),
        lambda w: Nodes(w.into("housed_at", named(w, "Hollin Ridge Observatory", "Hollin Vale Observatory"))),
    ),
    Intent(
        "telescopes in kelmar",
        "two_hops",
        (
            "Which telescopes are housed at an observatory in Kelmar?",
            "telescopes at observatories located in Kelmar",
            "There are observatories in Kelmar; what telescopes stand at them?",
        ),
        lambda w: Nodes(w.into("housed_at", w.into("located_in", named(w, "Kelmar")))),
    ),
    Intent(
        "observatories of the sunders",
        "two_hops",
        (
            "Which observatories are located in a town in the Sunder Isles?",
            "observatories in towns of the Sunder Isles",
            "List observatories whose town belongs to the Sunders.",
        ),
        lambda w: Nodes(w.into("located_in", w.into("located_in", named(w, "Sunder Isles"))) & w.all("observatory")),
    ),
    Intent(
        "supervisor's universities",
        "possessive",
        (
            "Where did Felix Ondry's supervisor study?",
            "universities of Felix Ondry's supervisor",
            "At which universities was the person who supervised Felix Ondry a student?",
        ),
        lambda w: Nodes(w.out("studied_at", w.out("supervised_by", named(w, "Felix Ondry")))),
    ),
    Intent(
        "discoverer's workplaces",
        "possessive",
        (
            "Where does Driftglass's discoverer work?",
            "observatories where the discoverer of Driftglass works",
            "Which observatories employ the astronomer who discovered Driftglass?",
        ),
        lambda w: Nodes(w.out("works_at", w.into("discovered", named(w, "Driftglass")))),
    ),
    Intent(
        "builders of amsel's telescopes",
        "three_hops",
        (
            "Who built the telescopes with which the comets discovered by Viktor Amsel were observed?",
            "builders of telescopes that observed comets discovered by Viktor Amsel",
            "Take the comets that Viktor Amsel discovered and the telescopes they were observed with: "
            "which workshops built those telescopes?",
        ),
        lambda w: Nodes(w.out("built_by", w.out("observed_with", w.out("discovered", named(w, "Viktor Amsel"))))),
    ),
    Intent(
        "region of eke's observatory",
        "three_hops",
        (
            "In which region is the town of the observatory directed by Rosalind Eke?",
            "region of the town of the observatory that Rosalind Eke directs",
            "Rosalind Eke is the director of an observatory. Which region does the town it is in lie in?",
        ),
        lambda w: Nodes(w.out("located_in", w.out("located_in", w.into("directed_by", named(w, "Rosalind Eke"))))),
    ),
    Intent(
        "comets of kestrel and pilgrim",
        "intersection_names",
        (
            "Which comets were observed with both the Kestrel Array and Pilgrim?",
            "comets observed with Kestrel Array and Pilgrim",
            "I need the comets that have been seen through the Kestrel Array and also through Pilgrim.",
        ),
        lambda w: Nodes(
            w.into("observed_with", named(w, "Kestrel Array")) & w.into("observed_with", named(w, "Pilgrim"))
        ),
    ),
    Intent(
        "saltreach and ivendale alumni",
        "intersection_names",
        (
            "Who studied at both Saltreach College and Ivendale Polytechnic?",
            "alumni of Saltreach College and Ivendale Polytechnic",
            "Which astronomers went to Saltreach College as well as to Ivendale Polytechnic?",
        ),
        lambda w: Nodes(
            w.into("studied_at", named(w, "Saltreach College")) & w.into("studied_at", named(w, "Ivendale Polytechnic"))
        ),
    ),
    Intent(
        "academy people at plainwater",
        "intersection_verbs",
        (
            "Which astronomers studied at the Royal Academy of Tessaly and work at the Plainwater Radio Station?",
            "astronomers working at Plainwater Radio Station who studied at Royal Academy of Tessaly",
            "Of the people working at the Plainwater Radio Station, who was a student of the Royal Academy of Tessaly?",
        ),
        lambda w: Nodes(
            w.into("studied_at", named(w, "Royal Academy of Tessaly"))
            & w.into("works_at", named(w, "Plainwater Radio Station"))
        ),
    ),
    Intent(
        "harrow's telescopes at ebbel",
        "intersection_verbs",
        (
            "Which telescopes housed at the Mount Ebbel Observatory were built by Harrow & Pike?",
            "telescopes built by Harrow & Pike, housed at Mount Ebbel Observatory",
            "What did Harrow & Pike build that now stands at the Mount Ebbel Observatory?",
        ),
        lambda w: Nodes(
            w.into("housed_at", named(w, "Mount Ebbel Observatory")) & w.into("built_by", named(w, "Harrow & Pike"))
        ),
    ),
    Intent(
        "ebbel without harrow",
        "negation",
        (
            "Which telescopes at the Mount Ebbel Observatory were not built by Harrow & Pike?",
            "telescopes at Mount Ebbel Observatory except those built by Harrow & Pike",
            "Leaving aside what Harrow & Pike built, which telescopes does the Mount Ebbel Observatory house?",
        ),
        lambda w: Nodes(
            w.into("housed_at", named(w, "Mount Ebbel Observatory")) - w.into("built_by", named(w, "Harrow & Pike"))
        ),
    ),
    Intent(
        "ivendale but not saltreach",
        "negation",
        (
            "Who studied at Ivendale Polytechnic but not at Saltreach College?",
            "alumni of Ivendale Polytechnic but not Saltreach College",
            "I am looking for astronomers that have studied at Ivendale Polytechnic and never at Saltreach College.",
        ),
        lambda w: Nodes(
            w.into("studied_at", named(w, "Ivendale Polytechnic")) - w.into("studied_at", named(w, "Saltreach College"))
        ),
    ),
    Intent(
        "neither varnholm nor saltreach",
        "neither_nor",
        (
            "Which observatories are operated by neither the University of Varnholm nor Saltreach College?",
            "observatories not operated by University of Varnholm or Saltreach College",
            "Show me all observatories other than those that the University of Varnholm or Saltreach College operates.",
        ),
        lambda w: Nodes(
            w.all("observatory") - w.into("operated_by", named(w, "University of Varnholm", "Saltreach College"))
        ),
    ),
    Intent(
        "comets of teller or holt",
        "disjunction",
        (
            "Which comets were discovered by Joachim Teller or Xenia Holt?",
            "comets discovered by Joachim Teller or Xenia Holt",
            "Give me every comet that either Joachim Teller or Xenia Holt discovered.",
        ),
        lambda w: Nodes(w.out("discovered", named(w, "Joachim Teller", "Xenia Holt"))),
    ),
    Intent(
        "number of saltreach alumni",
        "count_hop",
        (
            "How many astronomers studied at Saltreach College?",
            "number of Saltreach College alumni",
            "What is the count of people who were students at Saltreach College?",
        ),
        lambda w: Number(len(w.into("studied_at", named(w, "Saltreach College")))),
    ),
    Intent(
        "number not by ormond",
        "count_negation",
        (
            "How many telescopes were not built by Ormond Instruments?",
            "number of telescopes not built by Ormond Instruments",
            "Ormond Instruments aside, how many telescopes did other workshops build?",
        ),
        lambda w: Number(len(w.all("telescope") - w.into("built_by", named(w, "Ormond Instruments")))),
        # Two workshops built Silver Ladle together: the third wording may count it.
        also=(lambda w: Number(len(w.into("built_by", w.all("workshop") - named(w, "Ormond Instruments")))),),
    ),
    Intent(
        "number of varnholm's telescopes",
        "count_hop",
        (
            "How many telescopes are housed at observatories operated by the University of Varnholm?",
            "number of telescopes at observatories run by University of Varnholm",
            "The University of Varnholm operates some observatories: how many telescopes stand there in all?",
        ),
        lambda w: Number(len(w.into("housed_at", w.into("operated_by", named(w, "University of Varnholm"))))),
    ),
    Intent(
        "number of comets",
        "count_kind",
        ("How many comets are there?", "number of comets", "Tell me the total count of comets in this graph."),
        lambda w: Number(len(w.all("comet"))),
    ),
    Intent(
        "most telescopes",
        "superlative_count",
        (
            "Which observatory houses the most telescopes?",
            "observatory with the most telescopes",
            "At what observatory can I find the largest number of telescopes?",
        ),
        lambda w: highest(w.degrees("housed_at", "observatory", by="target")),
    ),
    Intent(
        "most comets",
        "superlative_count",
        (
            "Who discovered the most comets?",
            "astronomer with most comets discovered",
            "Which astronomer has more comet discoveries than any other?",
        ),
        lambda w: highest(w.degrees("discovered", "astronomer", by="source")),
    ),
    Intent(
        "three universities",
        "top_count",
        (
            "What are the three universities where the most astronomers studied?",
            "top 3 universities by number of astronomers who studied there",
            "Rank universities by how many astronomers studied at them and give me the first three.",
        ),
        lambda w: top(w.degrees("studied_at", "university", by="target"), 3),
    ),
    Intent(
        "earliest first light",
        "superlative_property",
        (
            "Which telescopes had the earliest first light?",
            "telescope with the lowest first light year",
            "Of all telescopes, which had first light before all others?",
        ),
        lambda w: lowest(column(w, w.all("telescope"), "first_light")),
    ),
    Intent(
        "birth of oskeland",
        "property_lookup",
        ("When was Marit Oskeland born?", "Marit Oskeland born", "What is Marit Oskeland's year of birth?"),
        lambda w: value(w, "Marit Oskeland", "born"),
    ),
    Intent(
        "first light before 1900",
        "property_compare",
        (
            "Which telescopes had their first light before 1900?",
            "telescopes first light < 1900",
            "List the telescopes whose first light was earlier than the year 1900.",
        ),
        lambda w: Nodes(where(w, "telescope", lambda f: f.first_light < 1900)),
    ),
    Intent(
        "lunt or ostrow",
        "comparison",
        (
            "Who was born first, Hedda Lunt or Bram Ostrow?",
            "older: Hedda Lunt or Bram Ostrow",
            "Between Hedda Lunt and Bram Ostrow, who is the older?",
        ),
        lambda w: lowest(column(w, named(w, "Hedda Lunt", "Bram Ostrow"), "born")),
    ),
    Intent(
        "merrow and thistledown",
        "yes_no",
        (
            "Did Ada Merrow discover Thistledown?",
            "was Thistledown discovered by Ada Merrow?",
            "Is it true that Thistledown is a comet that Ada Merrow discovered?",
        ),
        lambda w: YesNo(named(w, "Thistledown") <= w.out("discovered", named(w, "Ada Merrow"))),
    ),
    Intent(
        "kestrel at quenby",
        "yes_no",
        (
            "Is the Kestrel Array housed at Quenby Dome?",
            "does Quenby Dome house the Kestrel Array?",
            "Can one find the Kestrel Array at Quenby Dome?",
        ),
        lambda w: YesNo(named(w, "Kestrel Array") <= w.into("housed_at", named(w, "Quenby Dome"))),
    ),
    Intent(
        "workshops over five",
        "threshold",
        (
            "Which workshops built more than five telescopes?",
            "workshops with over 5 telescopes",
            "Name all workshops that have built at least six telescopes.",
        ),
        lambda w: above(w.degrees("built_by", "workshop", by="target"), 5),
    ),
    Intent(
        "voss after 1940",
        "two_conditions",
        (
            "Which telescopes built by Voss and Daughters had first light after 1940?",
            "Voss and Daughters telescopes, first light after 1940",
            "Voss and Daughters built telescopes; show only those whose first light came later than 1940.",
        ),
        lambda w: Nodes(
            w.into("built_by", named(w, "Voss and Daughters")) & where(w, "telescope", lambda f: f.first_light > 1940)
        ),
    ),
    Intent(
        "comets of ruck",
        "unknown_name",
        (
            "Which comets did Balthasar Ruck discover?",
            "comets discovered by Balthasar Ruck",
            "How many comets has Balthasar Ruck found?",
        ),
        lambda w: Refusal("unknown_name", "Balthasar Ruck"),
    ),
    Intent(
        "heaviest telescope",
        "not_here",
        (
            "Which telescope weighs the most?",
            "heaviest telescope",
            "Of the telescopes at the Ostrel Observatory, which one has the greatest weight?",
        ),
        lambda w: Refusal("not_here", "weigh"),
        also=(lambda w: Refusal("not_here", "heaviest"),),
    ),
    Intent(
        "telescopes that grumble",
        "not_understood",
        (
            "Which telescopes built by Ormond Instruments grumble at night?",
            "grumbling telescopes built by Ormond Instruments",
            "How many of the telescopes that Ormond Instruments built are known to grumble?",
        ),
        lambda w: Refusal("not_understood", "grumble"),
        also=(lambda w: Refusal("not_understood", "grumbling"),),
    ),
    Intent(
        "universities of both werles",
        "shared_name",
        (
            "At which universities did Jonas Werle study?",
            "Jonas Werle universities",
            "Give me the universities that anyone by the name of Jonas Werle studied at.",
        ),
        lambda w: Nodes(w.out("studied_at", named(w, "Jonas Werle"))),
    ),
    Intent(
        "comet lumen",
        "shared_name",
        (
            "Which telescopes was the comet Lumen observed with?",
            "telescopes that observed comet Lumen",
            "The comet named Lumen was seen through some telescopes: which?",
        ),
        lambda w: Nodes(w.out("observed_with", named(w, "Lumen", kind="comet"))),
    ),
    Intent(
        "number of varnholm or saltreach",
        "count_disjunction",
        (
            "How many observatories are operated by the University of Varnholm or Saltreach College?",
            "number of observatories run by University of Varnholm or Saltreach College",
            "Counting those of the University of Varnholm and those of Saltreach College together, how many "
            "observatories do the two operate?",
        ),
        lambda w: Number(len(w.into("operated_by", named(w, "University of Varnholm", "Saltreach College")))),
    ),
    Intent(
        "number of saltreach alumni at carrow",
        "count_intersection",
        (
            "How many astronomers who work at the High Carrow Observatory studied at Saltreach College?",
            "number of High Carrow Observatory astronomers who studied at Saltreach College",
            "Out of everyone that works at the High Carrow Observatory, how many were students of Saltreach College?",
        ),
        lambda w: Number(
            len(
                w.into("works_at", named(w, "High Carrow Observatory"))
                & w.into("studied_at", named(w, "Saltreach College"))
            )
        ),
    ),
    Intent(
        "same universities as quillon",
        "same_set",
        (
            "Who studied at exactly the same universities as Petra Quillon?",
            "astronomers with exactly the same universities as Petra Quillon",
            "Which other astronomers studied where Petra Quillon studied, and nowhere else?",
        ),
        lambda w: Nodes(same_set(w, "studied_at", named(w, "Petra Quillon"), w.all("astronomer"))),
    ),
    Intent(
        "region with the most observatories",
        "superlative_count",
        (
            "Which region has the most observatories in its towns?",
            "region whose towns have the most observatories",
            "If you count the observatories located in the towns of each region, which region comes first?",
        ),
        lambda w: highest(
            tally(
                w.all("region"),
                lambda region: w.into("located_in", w.into("located_in", [region])) & w.all("observatory"),
            )
        ),
    ),
    Intent(
        "castellan at quenby",
        "yes_no",
        (
            "Is any telescope built by Castellan Glassworks housed at Quenby Dome?",
            "any Castellan Glassworks telescope at Quenby Dome?",
            "Does Quenby Dome house so much as a single telescope that Castellan Glassworks built?",
        ),
        lambda w: YesNo(
            bool(w.into("built_by", named(w, "Castellan Glassworks")) & w.into("housed_at", named(w, "Quenby Dome")))
        ),
    ),
    Intent(
        "born in the nineties",
        "property_range",
        (
            "Which astronomers were born between 1890 and 1899?",
            "astronomers born 1890-1899",
            "List the astronomers whose birth year is 1890 at the earliest and 1899 at the latest.",
        ),
        lambda w: Nodes(where(w, "astronomer", lambda f: f.born.between(1890, 1899))),
    ),
)
