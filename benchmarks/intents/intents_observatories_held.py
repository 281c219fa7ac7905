"""Questions over the invented world of observatories: the half that nobody who builds a reader opens."""

from __future__ import annotations

from .intent import Intent, Nodes, Number, Refusal, YesNo
from .world_tables import above, column, highest, lowest, named, same_set, tally, top, value, where

INTENTS = (
    Intent(
        "employers of bjelke",
        "one_hop",
        (
            "At which observatories does Søren Bjelke work?",
            "Søren Bjelke observatories",
            "Søren Bjelke is employed somewhere; list the places, please.",
        ),
        lambda w: Nodes(w.out("works_at", named(w, "Søren Bjelke"))),
    ),
    Intent(
        "head of cape tirrel",
        "one_hop",
        (
            "Who directs the Cape Tirrel Observatory?",
            "director of Cape Tirrel Observatory",
            "By which astronomer is the Cape Tirrel Observatory directed these days?",
        ),
        lambda w: Nodes(w.out("directed_by", named(w, "Cape Tirrel Observatory"))),
    ),
    Intent(
        "comets of ember scope",
        "reversed_hop",
        (
            "Which comets were observed with the Ember Scope?",
            "comets seen with Ember Scope",
            "What has the Ember Scope been used to observe?",
        ),
        lambda w: Nodes(w.into("observed_with", named(w, "Ember Scope"))),
    ),
    Intent(
        "observatories of starfield",
        "one_hop",
        (
            "Which observatories does the Starfield Fund fund?",
            "observatories funded by Starfield Fund",
            "Tell me which observatories get their money from the Starfield Fund.",
        ),
        lambda w: Nodes(w.out("funds", named(w, "Starfield Fund")) & w.all("observatory")),
    ),
    Intent(
        "namesakes of merrow",
        "reversed_hop",
        (
            "What was named after Ada Merrow?",
            "named after Ada Merrow",
            "Ada Merrow has given her name to a few things. Which?",
        ),
        lambda w: Nodes(w.into("named_after", named(w, "Ada Merrow"))),
    ),
    Intent(
        "telescopes of hro",
        "alias",
        (
            "Which telescopes does the HRO house?",
            "HRO telescopes",
            "List the telescopes that one can find at the HRO.",
        ),
        lambda w: Nodes(w.into("housed_at", named(w, "HRO"))),
    ),
    Intent(
        "discoverers of C/1931 K7",
        "alias",
        (
            "Who discovered C/1931 K7?",
            "discoverer C/1931 K7",
            "To which astronomers do we owe the discovery of the comet C/1931 K7?",
        ),
        lambda w: Nodes(w.into("discovered", named(w, "C/1931 K7"))),
    ),
    Intent(
        "operator of saint ovin",
        "partial_name",
        (
            "Who operates Saint Ovin?",
            "Saint Ovin operator",
            "Which university is it that Saint Ovin is operated by?",
        ),
        lambda w: Nodes(w.out("operated_by", named(w, "Saint Ovin Observatory"))),
    ),
    Intent(
        "students of the brandviks",
        "partial_name",
        (
            "Which astronomers were supervised by a Brandvik?",
            "astronomers supervised by Brandvik",
            "Everybody whose supervisor had the surname Brandvik, please.",
        ),
        lambda w: Nodes(w.into("supervised_by", named(w, "Orsolya Brandvik", "Teun Brandvik", "Ilse Brandvik"))),
    ),
    Intent(
        "makers at dunmere observatory",
        "two_hops",
        (
            "Which workshops built the telescopes housed at Dunmere Observatory?",
            "builders of the telescopes at Dunmere Observatory",
            "Dunmere Observatory has telescopes. What workshops were they built by?",
        ),
        lambda w: Nodes(w.out("built_by", w.into("housed_at", named(w, "Dunmere Observatory")))),
    ),
    Intent(
        "staff of marrowgate's observatories",
        "two_hops",
        (
            "Who works at an observatory operated by the Marrowgate Institute of Optics?",
            "astronomers working at observatories operated by MIO",
            "I want the people who work at any observatory that the Marrowgate Institute of Optics operates.",
        ),
        lambda w: Nodes(w.into("works_at", w.into("operated_by", named(w, "MIO")))),
    ),
    Intent(
        "supervisors of needle's discoverers",
        "possessive",
        (
            "Who supervised Needle's discoverers?",
            "supervisors of the discoverers of Needle",
            "Needle was discovered by certain astronomers; by whom were these supervised?",
        ),
        lambda w: Nodes(w.out("supervised_by", w.into("discovered", named(w, "Needle")))),
    ),
    Intent(
        "director over blue lantern",
        "possessive",
        (
            "Who directs the Blue Lantern's observatory?",
            "director of the observatory that houses Blue Lantern",
            "Which astronomer is the director of the observatory where the Blue Lantern is housed?",
        ),
        lambda w: Nodes(w.out("directed_by", w.out("housed_at", named(w, "Blue Lantern")))),
    ),
    Intent(
        "comets of kelmar's staff",
        "three_hops",
        (
            "Which comets were discovered by astronomers who work at an observatory in Kelmar?",
            "comets discovered by astronomers working at observatories located in Kelmar",
            "Consider the observatories in Kelmar and the astronomers who work there: what comets did they discover?",
        ),
        lambda w: Nodes(w.out("discovered", w.into("works_at", w.into("located_in", named(w, "Kelmar"))))),
    ),
    Intent(
        "schools behind snowmaiden",
        "three_hops",
        (
            "At which universities did the supervisors of Snowmaiden's discoverers study?",
            "universities where supervisors of the discoverers of Snowmaiden studied",
            "Somebody supervised the astronomers who discovered Snowmaiden. Which universities had those supervisors "
            "studied at?",
        ),
        lambda w: Nodes(w.out("studied_at", w.out("supervised_by", w.into("discovered", named(w, "Snowmaiden"))))),
    ),
    Intent(
        "voss with lenswright",
        "intersection_names",
        (
            "Which telescope was built by both Voss and Daughters and Lenswright Brothers?",
            "telescopes built by Voss and Daughters and by Lenswright Brothers",
            "Did Voss and Daughters build some telescope together with Lenswright Brothers, and if so, which one?",
        ),
        lambda w: Nodes(
            w.into("built_by", named(w, "Voss and Daughters")) & w.into("built_by", named(w, "Lenswright Brothers"))
        ),
    ),
    Intent(
        "sentinel with ember",
        "intersection_names",
        (
            "Which comets were observed with Twin Sentinel West as well as with Ember Scope?",
            "comets observed with both Twin Sentinel West and Ember Scope",
            "Find me comets that Ember Scope observed and that Twin Sentinel West observed, too.",
        ),
        lambda w: Nodes(
            w.into("observed_with", named(w, "Twin Sentinel West")) & w.into("observed_with", named(w, "Ember Scope"))
        ),
    ),
    Intent(
        "teller's comets in gnr",
        "intersection_verbs",
        (
            "Which comets discovered by Joachim Teller were observed with the Great Northern Reflector?",
            "comets observed with Great Northern Reflector, discovered by Joachim Teller",
            "Joachim Teller discovered comets. Name those among them that were observed with the Great Northern "
            "Reflector.",
        ),
        lambda w: Nodes(
            w.out("discovered", named(w, "Joachim Teller"))
            & w.into("observed_with", named(w, "Great Northern Reflector"))
        ),
    ),
    Intent(
        "sorrel's from ivendale",
        "intersection_verbs",
        (
            "Which astronomers supervised by Yvette Sorrel studied at Ivendale Polytechnic?",
            "students of Ivendale Polytechnic supervised by Yvette Sorrel",
            "Who both had Yvette Sorrel as supervisor and went to Ivendale Polytechnic to study?",
        ),
        lambda w: Nodes(
            w.into("supervised_by", named(w, "Yvette Sorrel")) & w.into("studied_at", named(w, "Ivendale Polytechnic"))
        ),
    ),
    Intent(
        "starfield without greywick",
        "negation",
        (
            "Which observatories are funded by the Starfield Fund but not by the Greywick Foundation?",
            "observatories funded by Starfield Fund, not Greywick Foundation",
            "Take the observatories that the Starfield Fund funds and remove the ones that the Greywick Foundation "
            "funds: what is left?",
        ),
        lambda w: Nodes(
            (w.out("funds", named(w, "Starfield Fund")) - w.out("funds", named(w, "Greywick Foundation")))
            & w.all("observatory")
        ),
    ),
    Intent(
        "carrow without saltreach",
        "negation",
        (
            "Who works at the High Carrow Observatory and did not study at Saltreach College?",
            "High Carrow Observatory astronomers except Saltreach College alumni",
            "Other than those who studied at Saltreach College, which astronomers work at the High Carrow Observatory?",
        ),
        lambda w: Nodes(
            w.into("works_at", named(w, "High Carrow Observatory"))
            - w.into("studied_at", named(w, "Saltreach College"))
        ),
    ),
    Intent(
        "comets without telescope",
        "negation",
        (
            "Which comets were not observed with any telescope?",
            "comets observed with no telescope",
            "List all comets for which there is no telescope that they were observed with.",
        ),
        lambda w: Nodes(w.all("comet") - w.into("observed_with", w.all("telescope"))),
    ),
    Intent(
        "skarholt without two makers",
        "neither_nor",
        (
            "Which telescopes at the Skarholt Sky Observatory were built by neither Ormond Instruments "
            "nor Voss and Daughters?",
            "telescopes housed at SSO, not built by Ormond Instruments or Voss and Daughters",
            "The Skarholt Sky Observatory houses telescopes that neither Ormond Instruments nor Voss and Daughters "
            "built. Which are they?",
        ),
        lambda w: Nodes(
            w.into("housed_at", named(w, "SSO"))
            - w.into("built_by", named(w, "Ormond Instruments", "Voss and Daughters"))
        ),
    ),
    Intent(
        "ostrel or fenlow",
        "disjunction",
        (
            "Which telescopes are housed at Ostrel Observatory or Fenlow Observatory?",
            "telescopes at either Ostrel Observatory or Fenlow Observatory",
            "Show telescopes that stand at Fenlow Observatory and those that stand at Ostrel Observatory, all in one "
            "list.",
        ),
        lambda w: Nodes(w.into("housed_at", named(w, "Ostrel Observatory", "Fenlow Observatory"))),
    ),
    Intent(
        "number of brandvik telescope's comets",
        "count_hop",
        (
            "How many comets were observed with the Brandvik Telescope?",
            "number of comets observed with Brandvik Telescope",
            "The Brandvik Telescope has observed how many comets?",
        ),
        lambda w: Number(len(w.into("observed_with", named(w, "Brandvik Telescope")))),
    ),
    Intent(
        "number of castellan or voss",
        "count_disjunction",
        (
            "How many telescopes were built by Castellan Glassworks or Voss and Daughters?",
            "count of telescopes built by Castellan or Voss and Daughters",
            "What number of telescopes has either Castellan Glassworks or Voss and Daughters built?",
        ),
        lambda w: Number(len(w.into("built_by", named(w, "Castellan Glassworks", "Voss and Daughters")))),
    ),
    Intent(
        "number of copley's from the academy",
        "count_intersection",
        (
            "How many astronomers supervised by Rufus Copley studied at the Royal Academy of Tessaly?",
            "number of astronomers supervised by Rufus Copley who studied at Royal Academy of Tessaly",
            "Of Rufus Copley's students, how many were at the Royal Academy of Tessaly to study?",
        ),
        lambda w: Number(
            len(
                w.into("supervised_by", named(w, "Rufus Copley"))
                & w.into("studied_at", named(w, "Royal Academy of Tessaly"))
            )
        ),
    ),
    Intent(
        "number at dunmere without ivendale",
        "count_negation",
        (
            "How many astronomers who work at Dunmere Observatory did not study at Ivendale Polytechnic?",
            "number of Dunmere Observatory astronomers that did not study at Ivendale Polytechnic",
            "If you leave out the ones that studied at Ivendale Polytechnic, how many astronomers work at Dunmere "
            "Observatory?",
        ),
        lambda w: Number(
            len(
                w.into("works_at", named(w, "Dunmere Observatory"))
                - w.into("studied_at", named(w, "Ivendale Polytechnic"))
            )
        ),
    ),
    Intent(
        "number of workshops",
        "count_kind",
        (
            "How many workshops are there?",
            "workshops, how many",
            "What is the number of workshops that are known here?",
        ),
        lambda w: Number(len(w.all("workshop"))),
    ),
    Intent(
        "workshop with the fewest",
        "superlative_count",
        (
            "Which workshop built the fewest telescopes?",
            "workshop with fewest telescopes",
            "What is the workshop that the smallest number of telescopes was built by?",
        ),
        lambda w: lowest(w.degrees("built_by", "workshop", by="target")),
    ),
    Intent(
        "busiest supervisor",
        "superlative_count",
        (
            "Who supervised the most astronomers?",
            "astronomer who supervised most astronomers",
            "Which astronomer was the supervisor of more people than anyone else?",
        ),
        lambda w: highest(w.degrees("supervised_by", "astronomer", by="target")),
    ),
    Intent(
        "three telescopes by comets",
        "top_count",
        (
            "Which three telescopes observed the most comets?",
            "top 3 telescopes by number of comets",
            "Give me the 3 telescopes with which the greatest number of comets were observed.",
        ),
        lambda w: top(w.degrees("observed_with", "telescope", by="target"), 3),
    ),
    Intent(
        "youngest astronomer",
        "superlative_property",
        (
            "Who is the youngest astronomer?",
            "youngest of the astronomers",
            "Which of the astronomers was the last to be born?",
        ),
        lambda w: highest(column(w, w.all("astronomer"), "born")),
    ),
    Intent(
        "earliest of ebbel",
        "superlative_property",
        (
            "Which telescope at the Mount Ebbel Observatory had the earliest first light?",
            "Mount Ebbel Observatory telescope with earliest first light",
            "Among the telescopes that the Mount Ebbel Observatory houses, which one had its first light first?",
        ),
        lambda w: lowest(column(w, w.into("housed_at", named(w, "Mount Ebbel Observatory")), "first_light")),
    ),
    Intent(
        "first light of heron",
        "property_lookup",
        (
            "When did the Heron Refractor have its first light?",
            "Heron Refractor first light",
            "In what year was first light for the telescope named Heron Refractor?",
        ),
        lambda w: value(w, "Heron Refractor", "first_light"),
    ),
    Intent(
        "born after 1940",
        "property_compare",
        (
            "Which astronomers were born after 1940?",
            "astronomers born later than 1940",
            "List people in astronomy, that is astronomers, with a birth year of 1941 or more.",
        ),
        lambda w: Nodes(where(w, "astronomer", lambda f: f.born > 1940)),
    ),
    Intent(
        "first light in the fifties",
        "property_range",
        (
            "Which telescopes had first light between 1950 and 1959?",
            "telescopes first light 1950-1959",
            "What telescopes had their first light no earlier than 1950 and no later than 1959?",
        ),
        lambda w: Nodes(where(w, "telescope", lambda f: f.first_light.between(1950, 1959))),
    ),
    Intent(
        "castellan against tidewell",
        "comparison",
        (
            "Which workshop built more telescopes, Castellan Glassworks or Tidewell Optics?",
            "more telescopes: Castellan Glassworks or Tidewell Optics",
            "Between Castellan Glassworks and Tidewell Optics, who has built the larger number of telescopes?",
        ),
        lambda w: highest(
            w.degrees("built_by", "workshop", by="target")[sorted(named(w, "Castellan Glassworks", "Tidewell Optics"))]
        ),
    ),
    Intent(
        "merrow telescope's name",
        "yes_no",
        (
            "Was the Merrow Telescope named after Ada Merrow?",
            "is the Merrow Telescope named after Ada Merrow?",
            "Does the Merrow Telescope have its name from Ada Merrow?",
        ),
        lambda w: YesNo(named(w, "Merrow Telescope") <= w.into("named_after", named(w, "Ada Merrow"))),
    ),
    Intent(
        "quillon at kelmar",
        "yes_no",
        (
            "Did Petra Quillon study at the University of Kelmar?",
            "was Petra Quillon a student at Kelmar University?",
            "Is the University of Kelmar one of the places where Petra Quillon studied?",
        ),
        lambda w: YesNo(named(w, "Petra Quillon") <= w.into("studied_at", named(w, "Kelmar University"))),
    ),
    Intent(
        "three comets or more",
        "threshold",
        (
            "Who discovered at least three comets?",
            "astronomers with 3 or more comets discovered",
            "Are there astronomers that have discovered more than two comets, and who are they?",
        ),
        lambda w: above(w.degrees("discovered", "astronomer"), 2),
    ),
    Intent(
        "early ivendale alumni",
        "two_conditions",
        (
            "Which astronomers born before 1900 studied at Ivendale Polytechnic?",
            "Ivendale Polytechnic alumni born before 1900",
            "Who is there that studied at Ivendale Polytechnic and whose birth was earlier than 1900?",
        ),
        lambda w: Nodes(
            w.into("studied_at", named(w, "Ivendale Polytechnic")) & where(w, "astronomer", lambda f: f.born < 1900)
        ),
    ),
    Intent(
        "telescopes of hexley",
        "unknown_name",
        (
            "Which telescopes did Hexley Glass build?",
            "Hexley Glass telescopes",
            "What is the number of telescopes that were built by Hexley Glass?",
        ),
        lambda w: Refusal("unknown_name", "Hexley"),
    ),
    Intent(
        "staff of zurnberg",
        "unknown_name",
        (
            "Who works at the Zurnberg Observatory?",
            "astronomers at Zurnberg Observatory but not at Fenlow Observatory",
            "Do any astronomers work at the Zurnberg Observatory?",
        ),
        lambda w: Refusal("unknown_name", "Zurnberg"),
    ),
    Intent(
        "cost of telescopes",
        "not_here",
        (
            "Which telescopes cost more than two million euros?",
            "cheapest telescope built by Tidewell Optics",
            "What was the price of the Kestrel Array?",
        ),
        lambda w: Refusal("not_here", "price"),
        also=(lambda w: Refusal("not_here", "cost"), lambda w: Refusal("not_here", "cheapest")),
    ),
    Intent(
        "telescope lumen",
        "shared_name",
        (
            "Which comets were observed with the telescope Lumen?",
            "comets observed with telescope Lumen",
            "Through the telescope that is named Lumen, what comets were seen?",
        ),
        lambda w: Nodes(w.into("observed_with", named(w, "Lumen", kind="telescope"))),
    ),
    Intent(
        "towns of the region tessaly",
        "shared_name",
        (
            "Which towns are located in the region Tessaly?",
            "towns in region Tessaly",
            "I'd like to see the towns that the region by the name of Tessaly contains.",
        ),
        lambda w: Nodes(w.into("located_in", named(w, "Tessaly", kind="region")) & w.all("town")),
    ),
    Intent(
        "same universities as ondry",
        "same_set",
        (
            "Which astronomers studied at exactly the same universities as Felix Ondry?",
            "people with exactly the same universities as Felix Ondry",
            "Apart from Felix Ondry, who has studied at the very universities that Felix Ondry studied at and at no "
            "others?",
        ),
        lambda w: Nodes(same_set(w, "studied_at", named(w, "Felix Ondry"), w.all("astronomer"))),
    ),
    Intent(
        "university by its observatories' telescopes",
        "superlative_count",
        (
            "Which university operates the observatories that house the most telescopes?",
            "university with the most telescopes at the observatories that it operates",
            "Add up the telescopes at the observatories of each university: which university comes out on top?",
        ),
        lambda w: highest(
            tally(
                w.all("university"),
                lambda university: w.into("housed_at", w.into("operated_by", [university])),
            )
        ),
    ),
    Intent(
        "marrowgate people at fenlow",
        "yes_no",
        (
            "Does anyone who studied at the Marrowgate Institute of Optics work at the Fenlow Observatory?",
            "any Marrowgate Institute of Optics alumni working at Fenlow Observatory?",
            "Among the astronomers working at the Fenlow Observatory, is there one who studied at the Marrowgate "
            "Institute of Optics?",
        ),
        lambda w: YesNo(
            bool(w.into("studied_at", named(w, "MIO")) & w.into("works_at", named(w, "Fenlow Observatory")))
        ),
    ),
    Intent(
        "alumni who sing",
        "not_understood",
        (
            "Which astronomers who studied at Pellow University sing in a choir?",
            "choir singers who studied at Pellow University",
            "How many of the astronomers that studied at Pellow University belong to a choir?",
        ),
        lambda w: Refusal("not_understood", "choir"),
    ),
)
