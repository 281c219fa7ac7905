"""Questions over the invented world of orchestras: the half that is kept from whoever builds methods."""

from __future__ import annotations

from .intent import Intent, Nodes, Number, Refusal, YesNo
from .world_tables import above, column, highest, lowest, named, same_set, tally, top, where

INTENTS = (
    Intent(
        "works of octavia sprague",
        "one_hop",
        (
            "What did Octavia Sprague write?",
            "Octavia Sprague compositions",
            "Could you list for me whatever came from the pen of Octavia Sprague?",
        ),
        lambda w: Nodes(w.out("composed", named(w, "Octavia Sprague"))),
    ),
    Intent(
        "concerts of collegium avara",
        "reversed_hop",
        (
            "At which concerts did Collegium Avara appear?",
            "concerts by Collegium Avara",
            "I want to know about Collegium Avara on stage: what concerts have they given?",
        ),
        lambda w: Nodes(w.into("performed_by", named(w, "Collegium Avara"))),
    ),
    Intent(
        "players of the english horn",
        "alias",
        (
            "Which musicians play the English horn?",
            "English horn players",
            "I'm looking for somebody on the English horn. What musicians have you got?",
        ),
        lambda w: Nodes(w.into("plays", named(w, "English horn"))),
    ),
    Intent(
        "premiere of apothecaries",
        "partial_name",
        (
            "In which hall was Apothecaries first performed?",
            "Apothecaries premiere",
            "The opera about the Apothecaries, at what hall did it have its first night?",
        ),
        lambda w: Nodes(w.out("premiered_at", named(w, "The Three Apothecaries"))),
    ),
    Intent(
        "composers heard first at lantern house",
        "two_hops",
        (
            "Which composers wrote works that were premiered at Lantern House?",
            "composers with premieres at Lantern House",
            "A few pieces had their first performance in Lantern House. By what composers were they?",
        ),
        lambda w: Nodes(w.into("composed", w.into("premiered_at", named(w, "Lantern House")))),
    ),
    Intent(
        "orchestras of dubrovin's pupils",
        "possessive",
        (
            "Which orchestras do Nikolai Dubrovin's pupils play in?",
            "orchestras of Nikolai Dubrovin's students",
            "Where have those who learnt from Nikolai Dubrovin ended up playing, I mean in what orchestras?",
        ),
        lambda w: Nodes(w.out("plays_in", w.into("studied_under", named(w, "Nikolai Dubrovin")))),
    ),
    Intent(
        "birthplaces of bellweather's players",
        "three_hops",
        (
            "In which cities were the musicians born who play in orchestras conducted by Hyacinth Bellweather?",
            "birthplaces of musicians in Hyacinth Bellweather's orchestras",
            "Hyacinth Bellweather conducts certain orchestras, and musicians play in those. What cities do these "
            "musicians come from?",
        ),
        lambda w: Nodes(
            w.out(
                "born_in",
                w.into("plays_in", w.into("conducted_by", named(w, "Hyacinth Bellweather")) & w.all("orchestra")),
            )
        ),
    ),
    Intent(
        "dunmarrow and wenlow",
        "intersection_names",
        (
            "Who is a member of both the Dunmarrow Sinfonia and the Wenlow Band?",
            "musicians in Dunmarrow Sinfonia who are also in Wenlow Band",
            "Some musicians must sit in the Dunmarrow Sinfonia as well as in the Wenlow Band. Which are they?",
        ),
        lambda w: Nodes(
            w.into("plays_in", named(w, "Dunmarrow Sinfonia")) & w.into("plays_in", named(w, "Wenlow Band"))
        ),
    ),
    Intent(
        "piccolo at the palais",
        "intersection_verbs",
        (
            "Which works had their premiere at the Palais Vermeil and call for a piccolo?",
            "piccolo works premiered at Palais Vermeil",
            "Of everything that was given for the first time in the Palais Vermeil, which pieces have a "
            "part for piccolo?",
        ),
        lambda w: Nodes(w.into("premiered_at", named(w, "Palais Vermeil")) & w.into("scored_for", named(w, "piccolo"))),
    ),
    Intent(
        "marvolen-born without an orchestra",
        "negation",
        (
            "Which musicians born in Marvolen do not play in any orchestra?",
            "musicians born in Marvolen without an orchestra",
            "Among the musicians who come from Marvolen, which ones aren't in an orchestra at all?",
        ),
        lambda w: Nodes(
            (w.into("born_in", named(w, "Marvolen")) & w.all("musician")) - w.into("plays_in", w.all("orchestra"))
        ),
    ),
    Intent(
        "pellegrin without flute and trumpet",
        "neither_nor",
        (
            "Which works by Fausto Pellegrin are scored for neither flute nor trumpet?",
            "Fausto Pellegrin pieces with no flute and no trumpet",
            "We are short of a flute and of a trumpet this season. Which of Fausto Pellegrin's works need neither "
            "flute nor trumpet?",
        ),
        lambda w: Nodes(
            w.out("composed", named(w, "Fausto Pellegrin")) - w.into("scored_for", named(w, "flute", "trumpet"))
        ),
    ),
    Intent(
        "halls of kråkenes or lisk",
        "disjunction",
        (
            "Which halls are in Kråkenes or Lisk?",
            "halls in either Kråkenes or Lisk",
            "I could travel to Kråkenes or else to Lisk. What halls would I find in the one or the other?",
        ),
        lambda w: Nodes(w.into("located_in", named(w, "Kråkenes", "Lisk", kind="city"))),
    ),
    Intent(
        "forces of the cello concerto",
        "count_hop",
        (
            "How many instruments is the Cello Concerto in A minor scored for?",
            "Cello Concerto in A minor number of instruments",
            "Take the Cello Concerto in A minor: how many different instruments does one need for it?",
        ),
        lambda w: Number(len(w.out("scored_for", named(w, "Cello Concerto in A minor")))),
    ),
    Intent(
        "melk for harpsichord",
        "count_intersection",
        (
            "How many of Sigurd Melk's works use the harpsichord?",
            "number of harpsichord works by Sigurd Melk",
            "In how many of his pieces did Sigurd Melk write for the harpsichord?",
        ),
        lambda w: Number(
            len(w.out("composed", named(w, "Sigurd Melk")) & w.into("scored_for", named(w, "harpsichord")))
        ),
    ),
    Intent(
        "avara not sold out",
        "count_negation",
        (
            "How many of the concerts given by Collegium Avara were not sold out?",
            "Collegium Avara concerts not sold out, how many",
            "How often has Collegium Avara given a concert that failed to sell out?",
        ),
        lambda w: Number(
            len(
                w.into("performed_by", named(w, "Collegium Avara"))
                - where(w, "concert", lambda rows: rows["sold_out"].eq(True))
            )
        ),
    ),
    Intent(
        "born in torvane or øvreby",
        "count_disjunction",
        (
            "How many musicians were born in Torvane or in Øvreby?",
            "musicians from Torvane or Øvreby, total number",
            "Counting the musicians who hail from Torvane together with those who hail from Øvreby, how many do "
            "we get?",
        ),
        lambda w: Number(len(w.into("born_in", named(w, "Torvane", "Øvreby", kind="city")) & w.all("musician"))),
    ),
    Intent(
        "number of composers",
        "count_kind",
        (
            "How many composers do you know of?",
            "total number of composers",
            "What does the list of composers come to, in numbers?",
        ),
        lambda w: Number(len(w.all("composer"))),
    ),
    Intent(
        "most prolific composer",
        "superlative_count",
        (
            "Who has written more works than any other composer?",
            "composer with most works",
            "Which of the composers has got the largest number of works to their name?",
        ),
        lambda w: highest(w.degrees("composed", "composer")),
    ),
    Intent(
        "two busiest teachers",
        "top_count",
        (
            "Which two musicians have taught the most pupils?",
            "top 2 musicians by number of students",
            "Name me the two musicians who have had more pupils than all the others.",
        ),
        lambda w: top(tally(w.all("musician"), lambda id_: w.into("studied_under", [id_])), 2),
    ),
    Intent(
        "lowest city",
        "superlative_property",
        (
            "Which city has the lowest elevation?",
            "lowest-lying city",
            "Where would I be closest to sea level? I mean in which one of the cities.",
        ),
        lambda w: lowest(w.values("city", "elevation_m")),
    ),
    Intent(
        "second largest hall",
        "superlative_property",
        (
            "Which hall has the second largest number of seats?",
            "second biggest hall by seats",
            "Not the hall with the most seats but the one right after it: which is that?",
        ),
        lambda w: Nodes(top(w.values("hall", "seats"), 2).groups[1]),
    ),
    Intent(
        "teachers as ulrich szymborski",
        "same_set",
        (
            "Which musicians studied under exactly the same teachers as Ulrich Szymborski?",
            "musicians with same teachers as Ulrich Szymborski",
            "Who else among the musicians had just the teachers that Ulrich Szymborski had, and nobody besides?",
        ),
        lambda w: Nodes(same_set(w, "studied_under", named(w, "Ulrich Szymborski"), w.all("musician"))),
    ),
    Intent(
        "ticket for ev-125",
        "property_lookup",
        (
            "What did a ticket for EV-125 cost?",
            "EV-125 ticket price",
            "How much would I have had to pay to get a ticket to EV-125?",
        ),
        lambda w: Number(float(w.values("concert", "ticket_price_eur")["EV-125"])),
    ),
    Intent(
        "instruments of maple",
        "property_equals",
        (
            "Which instruments are made of maple?",
            "maple instruments",
            "Tell me about wood: what instruments have maple as their material?",
        ),
        lambda w: Nodes(where(w, "instrument", lambda rows: rows["material"] == "maple")),
    ),
    Intent(
        "dear conductors",
        "property_compare",
        (
            "Which conductors charge a fee of more than 30,000 euros?",
            "conductors fee > 30000 EUR",
            "We have 30000 euros and not a cent more. What conductors have a fee that is above that?",
        ),
        lambda w: above(w.values("conductor", "fee_eur"), 30_000),
    ),
    Intent(
        "above marvolen",
        "property_compare",
        (
            "Which cities lie higher than Marvolen?",
            "cities with greater elevation than Marvolen",
            "I live in Marvolen and think of moving higher up. What cities are at a greater elevation than mine?",
        ),
        lambda w: above(w.values("city", "elevation_m"), column(w, named(w, "Marvolen"), "elevation_m").item()),
    ),
    Intent(
        "musicians of the forties",
        "property_range",
        (
            "Which musicians were born in the 1940s?",
            "musicians born between 1940 and 1949",
            "What about musicians who go back to the forties, with a date of birth from 1940 to 1949?",
        ),
        lambda w: Nodes(
            where(w, "musician", lambda rows: rows["born"].str[:4].astype(float).between(1940, 1949)),
        ),
    ),
    Intent(
        "composers without a death",
        "property_missing",
        (
            "Which composers have no date of death recorded?",
            "composers without death date",
            "For whom among the composers is there nothing down as to when they died?",
        ),
        lambda w: Nodes(w.lacking("composer", "died")),
    ),
    Intent(
        "seats of marvolen",
        "aggregate",
        (
            "How many seats do the halls in Marvolen have altogether?",
            "total seats of Marvolen halls",
            "If you add up the seats of each hall that stands in Marvolen, what do you arrive at?",
        ),
        lambda w: Number(float(column(w, w.into("located_in", named(w, "Marvolen")), "seats").sum())),
    ),
    Intent(
        "dunmarrow or miramonte",
        "comparison",
        (
            "Which has more musicians, the Dunmarrow Sinfonia or the Miramonte Wind Society?",
            "more players: Dunmarrow Sinfonia or Miramonte Wind Society",
            "Do more people play in the Miramonte Wind Society or in the Dunmarrow Sinfonia?",
        ),
        lambda w: highest(
            tally(named(w, "Dunmarrow Sinfonia", "Miramonte Wind Society"), lambda id_: w.into("plays_in", [id_]))
        ),
    ),
    Intent(
        "budgets of ondine and quillion strings",
        "comparison",
        (
            "Which orchestra has the larger budget, Quillion Strings or Ondine?",
            "bigger budget, Ondine or Quillion Strings",
            "Who has got more money to spend, going by the budget: Quillion Strings, or is it Ondine?",
        ),
        lambda w: highest(column(w, named(w, "Quillion Strings", "Ondine", kind="orchestra"), "budget_eur")),
    ),
    Intent(
        "organ in the riverside dome",
        "yes_no",
        (
            "Does the Riverside Dome have an organ?",
            "organ in Riverside Dome?",
            "I'd like to give a recital at the Riverside Dome. Have they got an organ there?",
        ),
        lambda w: YesNo(named(w, "Riverside Dome") <= where(w, "hall", lambda rows: rows["has_organ"].eq(True))),
    ),
    Intent(
        "marvolen before 1850",
        "yes_no",
        (
            "Did all the halls in Marvolen open before 1850?",
            "every Marvolen hall opened before 1850?",
            "Is it true that each and every hall in Marvolen was opened earlier than 1850?",
        ),
        lambda w: YesNo(
            w.into("located_in", named(w, "Marvolen")) <= where(w, "hall", lambda rows: rows["opened"] < 1850)
        ),
    ),
    Intent(
        "conductors of several orchestras",
        "threshold",
        (
            "Which conductors conduct more than one orchestra?",
            "conductors with more than 1 orchestra",
            "Are there any conductors in charge of two orchestras or more? I'd like to know which.",
        ),
        lambda w: above(w.degrees("conducted_by", "conductor", by="target", among=w.all("orchestra")), 1),
    ),
    Intent(
        "tessalian oboists",
        "two_conditions",
        (
            "Which Tessalian musicians play the oboe?",
            "Tessalian oboe players",
            "Who is there among the musicians that plays the oboe and is of Tessalian nationality?",
        ),
        lambda w: Nodes(
            w.into("plays", named(w, "oboe")) & where(w, "musician", lambda rows: rows["nationality"] == "Tessalian")
        ),
    ),
    Intent(
        "theremin",
        "unknown_name",
        (
            "Which works are scored for the theremin?",
            "theremin works",
            "I have got myself a theremin. What works are there that use a theremin?",
        ),
        lambda w: Refusal("unknown_name", "theremin"),
    ),
    Intent(
        "children of guinevere stott",
        "not_here",
        (
            "How many children does Guinevere Stott have?",
            "Guinevere Stott children",
            "Has Guinevere Stott got any children, and if so, how many?",
        ),
        lambda w: Refusal("not_here", "children"),
    ),
    Intent(
        "conductors who shout",
        "not_understood",
        (
            "Which conductors shout at the players?",
            "conductors who shout",
            "Any conductors that are known to shout when they are cross?",
        ),
        lambda w: Refusal("not_understood", "shout"),
    ),
    Intent(
        "composer of halcyon",
        "shared_name",
        ("Who composed Halcyon?", "Halcyon composer", "Somebody must have written Halcyon. Who was it?"),
        lambda w: Nodes(w.into("composed", named(w, "Halcyon", kind="work"))),
    ),
    Intent(
        "nicest city",
        "unclear",
        ("Which is the nicest city?", "nicest city", "What would you say is the nicest one of the cities?"),
        lambda w: Refusal("not_understood", "nicest"),
    ),
)
