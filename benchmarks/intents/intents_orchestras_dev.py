"""Questions over the invented world of orchestras: the half that methods may be tuned on."""

from __future__ import annotations

from .intent import Intent, Nodes, Number, Refusal, YesNo
from .world_tables import above, column, highest, named, same_set, top, value, where

INTENTS = (
    Intent(
        "orchestras of hedda vasquez",
        "one_hop",
        (
            "Which ensembles does Hedda Vasquez belong to?",
            "Hedda Vasquez orchestras",
            "Tell me, in what orchestras might I come across Hedda Vasquez?",
        ),
        lambda w: Nodes(w.out("plays_in", named(w, "Hedda Vasquez"))),
    ),
    Intent(
        "works with a bassoon",
        "reversed_hop",
        (
            "What pieces call for a bassoon?",
            "works with bassoon",
            "My neighbour has taken up the bassoon. Which works have been written that include one?",
        ),
        lambda w: Nodes(w.into("scored_for", named(w, "bassoon"))),
    ),
    Intent(
        "players of the pss",
        "alias",
        (
            "Which musicians are members of the PSS?",
            "PSS players",
            "I'd like the names of all the musicians who have got a chair in the PSS.",
        ),
        lambda w: Nodes(w.into("plays_in", named(w, "PSS"))),
    ),
    Intent(
        "composer of shipwreck",
        "partial_name",
        (
            "Which composer wrote the Shipwreck overture?",
            "composer of Shipwreck",
            "That overture, the Shipwreck one: who is it by?",
        ),
        lambda w: Nodes(w.into("composed", named(w, "Overture to a Shipwreck"))),
    ),
    Intent(
        "instruments in ferrymen's brass",
        "two_hops",
        (
            "Which instruments are played by the members of Ferrymen's Brass?",
            "instruments in Ferrymen's Brass",
            "The musicians in Ferrymen's Brass, what instruments do they play between them?",
        ),
        lambda w: Nodes(w.out("plays", w.into("plays_in", named(w, "Ferrymen's Brass")))),
    ),
    Intent(
        "birthplace of the conductor of collegium avara",
        "possessive",
        (
            "In which city was Collegium Avara's conductor born?",
            "Collegium Avara conductor's birthplace",
            "The man who conducts Collegium Avara, where does he come from originally?",
        ),
        lambda w: Nodes(w.out("born_in", w.out("conducted_by", named(w, "Collegium Avara")))),
    ),
    Intent(
        "cities that have heard la serrure",
        "three_hops",
        (
            "In which cities are the halls that have hosted concerts featuring La Serrure?",
            "cities of halls of concerts with La Serrure",
            "La Serrure has been on the bill of some concerts. Those were held in halls, and I'd like to know what "
            "cities the halls are in.",
        ),
        lambda w: Nodes(w.out("located_in", w.out("held_at", w.into("features", named(w, "La Serrure"))))),
    ),
    Intent(
        "flute and harpsichord",
        "intersection_names",
        (
            "Which works are scored for both flute and harpsichord?",
            "works for flute together with harpsichord",
            "We have got a flute and a harpsichord at home. Any compositions that use the two of them?",
        ),
        lambda w: Nodes(w.into("scored_for", named(w, "flute")) & w.into("scored_for", named(w, "harpsichord"))),
    ),
    Intent(
        "zielinski's pupils from zabrze nowe",
        "intersection_verbs",
        (
            "Who was taught by Lorenzo Zielinski and was born in Zabrze Nowe?",
            "pupils of Lorenzo Zielinski from Zabrze Nowe",
            "Of those that Lorenzo Zielinski gave lessons to, which ones came into the world in Zabrze Nowe?",
        ),
        lambda w: Nodes(
            w.into("studied_under", named(w, "Lorenzo Zielinski")) & w.into("born_in", named(w, "Zabrze Nowe"))
        ),
    ),
    Intent(
        "ashgrove without a harpsichord",
        "negation",
        (
            "Which of Jerome Ashgrove's works do without a harpsichord?",
            "Jerome Ashgrove works without harpsichord",
            "I love Jerome Ashgrove, but our harpsichord is broken. What did he write that isn't "
            "scored for harpsichord?",
        ),
        lambda w: Nodes(w.out("composed", named(w, "Jerome Ashgrove")) - w.into("scored_for", named(w, "harpsichord"))),
    ),
    Intent(
        "miramonte without oboe and gamba",
        "neither_nor",
        (
            "Which members of the Miramonte Wind Society play neither the oboe nor the viola da gamba?",
            "Miramonte Wind Society musicians, not oboe, not viola da gamba",
            "Take the musicians in the Miramonte Wind Society and leave out anybody who plays the oboe or the viola da "
            "gamba. Who is left?",
        ),
        lambda w: Nodes(
            w.into("plays_in", named(w, "Miramonte Wind Society"))
            - w.into("plays", named(w, "oboe", "viola da gamba", kind="instrument"))
        ),
    ),
    Intent(
        "pupils of lazarev or wolff",
        "disjunction",
        (
            "Who was a pupil of Ismay Lazarev or of Joaquín Wolff?",
            "students of Ismay Lazarev or Joaquín Wolff",
            "I'm after anyone who took lessons either from Ismay Lazarev or else from Joaquín Wolff.",
        ),
        lambda w: Nodes(w.into("studied_under", named(w, "Ismay Lazarev", "Joaquín Wolff"))),
    ),
    Intent(
        "number of works of hrdina",
        "count_hop",
        (
            "How many works did Vaclav Hrdina compose?",
            "number of Vaclav Hrdina compositions",
            "How many pieces have we got by Vaclav Hrdina, all told?",
        ),
        lambda w: Number(len(w.out("composed", named(w, "Vaclav Hrdina")))),
    ),
    Intent(
        "kestrians in dunmarrow",
        "count_intersection",
        (
            "How many of the Dunmarrow Sinfonia's players are Kestrian?",
            "count Kestrian musicians in Dunmarrow Sinfonia",
            "In the Dunmarrow Sinfonia, what is the number of musicians with Kestrian nationality?",
        ),
        lambda w: Number(
            len(
                w.into("plays_in", named(w, "Dunmarrow Sinfonia"))
                & where(w, "musician", lambda rows: rows["nationality"] == "Kestrian")
            )
        ),
    ),
    Intent(
        "quillion strings without oskar wolff",
        "count_negation",
        (
            "How many concerts did Quillion Strings give without Oskar Wolff conducting?",
            "number of Quillion Strings concerts not conducted by Oskar Wolff",
            "Leaving aside those that Oskar Wolff directed, how many concerts has Quillion Strings performed?",
        ),
        lambda w: Number(
            len(w.into("performed_by", named(w, "Quillion Strings")) - w.into("conducted_by", named(w, "Oskar Wolff")))
        ),
    ),
    Intent(
        "harp or serpent",
        "count_disjunction",
        (
            "How many works are there for harp or serpent?",
            "count works scored for harp or serpent",
            "If you add up all that is scored for the harp, for the serpent or for both, how many works is that?",
        ),
        lambda w: Number(len(w.into("scored_for", named(w, "harp", "serpent", kind="instrument")))),
    ),
    Intent(
        "number of halls",
        "count_kind",
        (
            "How many concert halls are there?",
            "number of halls",
            "Tell me how many different halls you have got on your books.",
        ),
        lambda w: Number(len(w.all("hall"))),
    ),
    Intent(
        "busiest hall",
        "superlative_count",
        (
            "Which hall has hosted the most concerts?",
            "hall with most concerts",
            "What is the venue where concerts have been held more often than at any other?",
        ),
        lambda w: highest(w.degrees("held_at", "hall", by="target")),
    ),
    Intent(
        "two favourite instruments",
        "top_count",
        (
            "Which two instruments are asked for in the largest number of works?",
            "top 2 instruments by number of works scored for them",
            "What are the two instruments that composers reach for most, going by how many works use them?",
        ),
        lambda w: top(w.degrees("scored_for", "instrument", by="target"), 2),
    ),
    Intent(
        "tallest hall",
        "superlative_property",
        ("Which hall is the tallest?", "tallest hall", "I'd like to know which one of the halls reaches highest."),
        lambda w: highest(w.values("hall", "height_m")),
    ),
    Intent(
        "second oldest orchestra",
        "superlative_property",
        (
            "Which is the second oldest orchestra?",
            "second oldest orchestra by year founded",
            "After the very oldest orchestra, which one comes next in age?",
        ),
        lambda w: Nodes(top(w.values("orchestra", "founded"), 2, largest=False).groups[1]),
    ),
    Intent(
        "instruments as verity tallow",
        "same_set",
        (
            "Which musicians play exactly the same instruments as Verity Tallow?",
            "musicians with same instruments as Verity Tallow",
            "Is there another musician whose instruments are just those of Verity Tallow, no more and no fewer? Who?",
        ),
        lambda w: Nodes(same_set(w, "plays", named(w, "Verity Tallow"), w.all("musician"))),
    ),
    Intent(
        "seats of salle pérugin",
        "property_lookup",
        (
            "How many seats does the Salle Pérugin have?",
            "Salle Pérugin capacity",
            "How many people could you get to sit down in the Salle Pérugin?",
        ),
        lambda w: value(w, "Salle Pérugin", "seats"),
    ),
    Intent(
        "serialists",
        "property_equals",
        (
            "Which composers write in a serialist style?",
            "serialist composers",
            "Who are the serialists among the composers?",
        ),
        lambda w: Nodes(where(w, "composer", lambda rows: rows["style"] == "serialist")),
    ),
    Intent(
        "halls from before 1790",
        "property_compare",
        (
            "Which halls were opened before 1790?",
            "halls older than 1790",
            "What about really old places: any halls that opened their doors earlier than 1790?",
        ),
        lambda w: Nodes(where(w, "hall", lambda rows: rows["opened"] < 1790)),
    ),
    Intent(
        "twice as long as symphony no. 4",
        "property_compare",
        (
            "Which works last more than twice as long as Symphony No. 4 in C?",
            "works over double the duration of Symphony No. 4 in C",
            "Symphony No. 4 in C is long enough for me. What works are there that go on for more than twice that time?",
        ),
        lambda w: above(
            w.values("work", "duration_min"), 2 * column(w, named(w, "Symphony No. 4 in C"), "duration_min").item()
        ),
    ),
    Intent(
        "orchestras of about 1860",
        "property_range",
        (
            "Which orchestras were founded within ten years of 1860?",
            "orchestras founded 1850 to 1870",
            "Give or take ten years, which orchestras go back to 1860?",
        ),
        lambda w: Nodes(where(w, "orchestra", lambda rows: rows["founded"].between(1850, 1870))),
    ),
    Intent(
        "orchestras without a budget",
        "property_missing",
        (
            "Which orchestras have no recorded budget?",
            "orchestras budget unknown",
            "For which of the orchestras don't we have a figure for the budget?",
        ),
        lambda w: Nodes(w.lacking("orchestra", "budget_eur")),
    ),
    Intent(
        "average ticket",
        "aggregate",
        (
            "What is the average ticket price of the concerts?",
            "mean concert ticket price",
            "If I went to a concert, what would a ticket set me back on average, in euros?",
        ),
        lambda w: Number(float(w.values("concert", "ticket_price_eur").mean()), 0.05),
    ),
    Intent(
        "piano or harpsichord",
        "comparison",
        (
            "Which is heavier, the piano or the harpsichord?",
            "heavier: piano or harpsichord",
            "I have to get one of them up the stairs. Does the harpsichord weigh more, or the piano?",
        ),
        lambda w: highest(column(w, named(w, "piano", "harpsichord"), "mass_kg")),
    ),
    Intent(
        "the elder brandt",
        "comparison",
        (
            "Who was born first, Ludovic Brandt or Matilda Brandt?",
            "older of Ludovic Brandt and Matilda Brandt",
            "Between Matilda Brandt and Ludovic Brandt, which one is the elder?",
        ),
        lambda w: Nodes(
            frozenset([column(w, named(w, "Ludovic Brandt", "Matilda Brandt"), "born").sort_values().index[0]])
        ),
    ),
    Intent(
        "matilda brandt and rautavirta",
        "yes_no",
        (
            "Did Matilda Brandt study under Anselm Rautavirta?",
            "Matilda Brandt a pupil of Anselm Rautavirta?",
            "Am I right in thinking that Anselm Rautavirta taught Matilda Brandt?",
        ),
        lambda w: YesNo(named(w, "Anselm Rautavirta") <= w.out("studied_under", named(w, "Matilda Brandt"))),
    ),
    Intent(
        "marvolen in stone",
        "yes_no",
        (
            "Is every hall in Marvolen made of stone?",
            "all Marvolen halls stone?",
            "The halls that you find in Marvolen, are all of them built from stone?",
        ),
        lambda w: YesNo(
            w.into("located_in", named(w, "Marvolen")) <= where(w, "hall", lambda rows: rows["material"] == "stone")
        ),
    ),
    Intent(
        "musicians in three orchestras",
        "threshold",
        (
            "Which musicians play in at least three orchestras?",
            "musicians in 3 or more orchestras",
            "Are there any musicians so busy that they belong to three orchestras or more? I'd like their names.",
        ),
        lambda w: above(w.degrees("plays_in", "musician"), 2),
    ),
    Intent(
        "symphonic orchestras of kasimir wolff",
        "two_conditions",
        (
            "Which symphonic orchestras have Kasimir Wolff as their conductor?",
            "Kasimir Wolff symphonic orchestras",
            "Kasimir Wolff is in charge of a few orchestras. Which ones of those are symphonic in style?",
        ),
        lambda w: Nodes(
            w.into("conducted_by", named(w, "Kasimir Wolff"))
            & where(w, "orchestra", lambda rows: rows["style"] == "symphonic")
        ),
    ),
    Intent(
        "ravenhall",
        "unknown_name",
        (
            "Who conducts the Ravenhall Orchestra?",
            "Ravenhall Orchestra conductor",
            "What's the name of the person who leads the Ravenhall Orchestra?",
        ),
        lambda w: Refusal("unknown_name", "Ravenhall"),
    ),
    Intent(
        "telephone of the old exchange",
        "not_here",
        (
            "What is the telephone number of the Old Exchange?",
            "Old Exchange telephone",
            "I need to ring the Old Exchange; have you got a telephone number for them?",
        ),
        lambda w: Refusal("not_here", "telephone"),
    ),
    Intent(
        "haunted halls",
        "not_understood",
        ("Which halls are haunted?", "haunted halls", "Any halls that are said to be haunted?"),
        lambda w: Refusal("not_understood", "haunted"),
    ),
    Intent(
        "length of amalthea",
        "shared_name",
        (
            "How long does Amalthea last?",
            "Amalthea running time in minutes",
            "If I go and see Amalthea performed, for how many minutes will I be sitting there?",
        ),
        lambda w: value(w, "Amalthea", "duration_min", kind="work"),
    ),
    Intent(
        "best hall",
        "unclear",
        ("Which is the best hall?", "best hall", "If you had to pick, which one of the halls is best?"),
        lambda w: Refusal("not_understood", "best"),
    ),
)
