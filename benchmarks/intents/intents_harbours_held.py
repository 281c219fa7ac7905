"""Questions over the invented world of harbours: the half that nobody who builds a reader opens."""

from __future__ import annotations

from .intent import Intent, Nodes, Number, Refusal, YesNo
from .world_tables import above, column, highest, lowest, named, same_set, top, value, where

INTENTS = (
    Intent(
        "seat of crown bulk",
        "one_hop",
        (
            "Where is Crown Bulk based?",
            "Crown Bulk based in",
            "Could you tell me the harbour in which the company Crown Bulk has its base?",
        ),
        lambda w: Nodes(w.out("based_in", named(w, "Crown Bulk"))),
    ),
    Intent(
        "ships of longstaff",
        "reversed_hop",
        (
            "Which ships does Vera Longstaff captain?",
            "ships captained by Vera Longstaff",
            "Vera Longstaff is the captain of what ships?",
        ),
        lambda w: Nodes(w.into("captained_by", named(w, "Vera Longstaff"))),
    ),
    Intent(
        "fleet of marrin line",
        "alias",
        (
            "Which ships are owned by the Marrin Line?",
            "Marrin Line ships",
            "Please list whatever ships the Marrin Line is the owner of.",
        ),
        lambda w: Nodes(w.into("owned_by", named(w, "Marrin Line"))),
    ),
    Intent(
        "seat of saltmarsh",
        "partial_name",
        (
            "In which harbour is Saltmarsh based?",
            "Saltmarsh base harbour",
            "What harbour has Saltmarsh chosen to be based in?",
        ),
        lambda w: Nodes(w.out("based_in", named(w, "Saltmarsh Carriers"))),
    ),
    Intent(
        "captains of polar tow",
        "two_hops",
        (
            "Who captains the ships owned by Polar Tow?",
            "captains of ships owned by Polar Tow",
            "For every ship in the hands of Polar Tow, give me its captain.",
        ),
        lambda w: Nodes(w.out("captained_by", w.into("owned_by", named(w, "Polar Tow")))),
    ),
    Intent(
        "lights over halvik ferries",
        "possessive",
        (
            "Which lighthouses guard Halvik Ferries' harbour?",
            "lighthouses guarding the harbour where Halvik Ferries is based",
            "Halvik Ferries is based in some harbour; what lighthouse guards it?",
        ),
        lambda w: Nodes(w.into("guards", w.out("based_in", named(w, "Halvik Ferries")))),
    ),
    Intent(
        "owner of bly's ships",
        "possessive",
        (
            "Who owns Zacharias Bly's ships?",
            "owners of the ships of Zacharias Bly",
            "To which companies do the ships belong that Zacharias Bly captains?",
        ),
        lambda w: Nodes(w.out("owned_by", w.into("captained_by", named(w, "Zacharias Bly")))),
    ),
    Intent(
        "employers of ulmen's captains",
        "three_hops",
        (
            "Which companies own ships captained by someone who lives in Ulmen?",
            "companies that own ships whose captain lives in Ulmen",
            "There are captains living in Ulmen and they captain ships. Name the companies which own those ships.",
        ),
        lambda w: Nodes(w.out("owned_by", w.into("captained_by", w.into("lives_in", named(w, "Ulmen"))))),
    ),
    Intent(
        "dorrow and ironmouth",
        "intersection_names",
        (
            "Which ships call at both Cape Dorrow and Ironmouth?",
            "ships that call at Cape Dorrow and Ironmouth",
            "A ship may call at Cape Dorrow and at Ironmouth: which ones do both?",
        ),
        lambda w: Nodes(w.into("calls_at", named(w, "Cape Dorrow")) & w.into("calls_at", named(w, "Ironmouth"))),
    ),
    Intent(
        "ulmen's at ironmouth",
        "intersection_verbs",
        (
            "Which ships registered at Ulmen call at Ironmouth?",
            "ships registered at Ulmen and calling at Ironmouth",
            "I am interested in ships that have Ulmen as the harbour they are registered at, and that call at "
            "Ironmouth.",
        ),
        lambda w: Nodes(w.into("registered_at", named(w, "Ulmen")) & w.into("calls_at", named(w, "Ironmouth"))),
    ),
    Intent(
        "olmo without polar tow",
        "negation",
        (
            "Which ships call at Sankt Olmo, other than those owned by Polar Tow?",
            "ships calling at Sankt Olmo but not owned by Polar Tow",
            "Except for the ships of Polar Tow, what ships call at Sankt Olmo?",
        ),
        lambda w: Nodes(w.into("calls_at", named(w, "Sankt Olmo")) - w.into("owned_by", named(w, "Polar Tow"))),
    ),
    Intent(
        "blue ensign unscrapped",
        "negation",
        (
            "Which ships owned by Blue Ensign Ltd are not scrapped?",
            "Blue Ensign Ltd ships, status not scrapped",
            "What does Blue Ensign Ltd own in the way of ships whose status is anything but scrapped?",
        ),
        lambda w: Nodes(
            w.into("owned_by", named(w, "Blue Ensign Ltd")) & where(w, "ship", lambda f: f.status.ne("scrapped"))
        ),
    ),
    Intent(
        "grisholm without two owners",
        "neither_nor",
        (
            "Which ships that call at Grisholm are owned by neither Halvik Ferries nor Crown Bulk?",
            "ships calling at Grisholm, except Halvik Ferries and Crown Bulk ships",
            "Of all ships calling at Grisholm, I want those not owned by Halvik Ferries and not owned by Crown Bulk.",
        ),
        lambda w: Nodes(
            w.into("calls_at", named(w, "Grisholm")) - w.into("owned_by", named(w, "Halvik Ferries", "Crown Bulk"))
        ),
    ),
    Intent(
        "captains of two countries",
        "disjunction",
        (
            "Which captains have the nationality Belmark or Corvenia?",
            "captains with nationality Belmark or Corvenia",
            "List the captains whose nationality is either Corvenia or Belmark.",
        ),
        lambda w: Nodes(where(w, "captain", lambda f: f.nationality.isin(["Belmark", "Corvenia"]))),
    ),
    Intent(
        "salary of abernot",
        "property_lookup",
        (
            "What is Thea Abernot's salary?",
            "Thea Abernot salary",
            "How much does the captain Thea Abernot earn?",
        ),
        lambda w: value(w, "Thea Abernot", "salary_eur"),
    ),
    Intent(
        "speed of pole star",
        "property_lookup",
        (
            "How fast is the Pole Star?",
            "top speed of Pole Star",
            "I would like to know the top speed that the ship Pole Star reaches.",
        ),
        lambda w: value(w, "Pole Star", "top_speed_kn"),
    ),
    Intent(
        "birth of brask",
        "property_lookup",
        ("When was Otto Brask born?", "Otto Brask date of birth", "On which day did Otto Brask come into the world?"),
        lambda w: value(w, "Otto Brask", "born"),
    ),
    Intent(
        "harbours of drusk",
        "property_equals",
        (
            "Which harbours are in Drusk?",
            "harbours country Drusk",
            "Tell me what harbours there are in the country called Drusk.",
        ),
        lambda w: Nodes(where(w, "harbour", lambda f: f.country.eq("Drusk"))),
    ),
    Intent(
        "laid up",
        "property_equals",
        (
            "Which ships are laid up?",
            "ships status laid up",
            "Are any ships laid up at the moment? I need their names.",
        ),
        lambda w: Nodes(where(w, "ship", lambda f: f.status.eq("laid up"))),
    ),
    Intent(
        "timber carriers",
        "property_equals",
        (
            "Which ships have a description that mentions timber?",
            "ships description timber",
            "In the description of which ships does the word timber occur?",
        ),
        lambda w: Nodes(where(w, "ship", lambda f: f.description.str.contains("timber", na=False))),
    ),
    Intent(
        "serviced in 2019",
        "property_equals",
        (
            "Which buoys were last serviced in 2019?",
            "buoys last serviced 2019",
            "Name each buoy for which the last service took place during the year 2019.",
        ),
        lambda w: Nodes(where(w, "buoy", lambda f: f.last_serviced.str.startswith("2019", na=False))),
    ),
    Intent(
        "paid over 100,000",
        "property_compare",
        (
            "Which captains have a salary of more than 100,000 euros?",
            "captains salary > 100000 EUR",
            "Who among the captains earns over €100,000?",
        ),
        lambda w: Nodes(where(w, "captain", lambda f: f.salary_eur > 100_000)),
    ),
    Intent(
        "small crews",
        "property_compare",
        (
            "Which ships have a crew of at most six?",
            "ships crew <= 6",
            "Give me all ships that sail with a crew of 6 or fewer.",
        ),
        lambda w: Nodes(where(w, "ship", lambda f: f.crew <= 6)),
    ),
    Intent(
        "shallow harbours",
        "property_compare",
        (
            "Which harbours are less than 10 metres deep?",
            "harbours depth under 10 m",
            "Show every harbour whose depth does not reach 10 m.",
        ),
        lambda w: Nodes(where(w, "harbour", lambda f: f.depth_m < 10)),
    ),
    Intent(
        "under 50 m in kilometres",
        "property_compare",
        (
            "Which ships are shorter than 0.05 km?",
            "ships length under 0.05 km",
            "What ships measure less than 0.05 kilometres in length?",
        ),
        lambda w: Nodes(where(w, "ship", lambda f: f.length_m < 50)),
    ),
    Intent(
        "over 80 million",
        "property_compare",
        (
            "Which companies have a revenue of more than 80 million euros?",
            "companies with revenue over 80 million EUR",
            "List the companies that take in upwards of 80 million euros of revenue.",
        ),
        lambda w: Nodes(where(w, "company", lambda f: f.revenue_eur > 80_000_000)),
    ),
    Intent(
        "over 200 feet",
        "property_compare",
        (
            "Which lighthouses are taller than 200 feet?",
            "lighthouses height over 200 ft",
            "Which of the lighthouses have a height of more than 200 feet?",
        ),
        lambda w: Nodes(where(w, "lighthouse", lambda f: f.height_m > 200 * 0.3048)),
    ),
    Intent(
        "lit after 1900",
        "property_compare",
        (
            "Which lighthouses were first lit after 1900?",
            "lighthouses first lit later than 1900",
            "What lighthouses did people first light in the year 1901 or at any time since?",
        ),
        lambda w: Nodes(where(w, "lighthouse", lambda f: f.first_lit > "1900-12-31")),
    ),
    Intent(
        "founded since 1960",
        "property_compare",
        (
            "Which companies were founded in 1960 or later?",
            "companies founded since 1960",
            "I need companies that are no older than 1960, going by when they were founded.",
        ),
        lambda w: Nodes(where(w, "company", lambda f: f.founded >= 1960)),
    ),
    Intent(
        "between 100 and 150 m",
        "property_range",
        (
            "Which ships are between 100 and 150 metres long?",
            "ships length 100 to 150 m",
            "Show ships that are longer than 100 m but shorter than 150 m.",
        ),
        lambda w: Nodes(where(w, "ship", lambda f: f.length_m.between(100, 150))),
    ),
    Intent(
        "born 1971 to 1972",
        "property_range",
        (
            "Which captains were born between 1 January 1971 and 31 December 1972?",
            "captains born from 1971-01-01 to 1972-12-31",
            "Captains with a birth date in 1971 or in 1972: who are they?",
        ),
        lambda w: Nodes(where(w, "captain", lambda f: f.born.between("1971-01-01", "1972-12-31"))),
    ),
    Intent(
        "never serviced",
        "property_missing",
        (
            "Which buoys have no last serviced date?",
            "buoys without last serviced",
            "For what buoys is it not known when they were last serviced?",
        ),
        lambda w: Nodes(where(w, "buoy", lambda f: f.last_serviced.isna())),
    ),
    Intent(
        "with a motto",
        "property_missing",
        (
            "Which companies have a motto?",
            "companies with a motto",
            "List every company for which some motto is given.",
        ),
        lambda w: Nodes(where(w, "company", lambda f: f.motto.notna())),
    ),
    Intent(
        "heaviest buoy",
        "superlative_property",
        ("Which buoy is the heaviest?", "heaviest buoy", "What is the buoy with the largest mass of all?"),
        lambda w: highest(column(w, w.all("buoy"), "mass_kg")),
    ),
    Intent(
        "oldest active ship",
        "superlative_property",
        (
            "What is the oldest active ship, by the date it was launched?",
            "active ship launched earliest",
            "Among ships with the status active, which one was launched before all the others?",
        ),
        lambda w: lowest(column(w, where(w, "ship", lambda f: f.status.eq("active")), "launched")),
    ),
    Intent(
        "three tallest",
        "superlative_property",
        (
            "What are the three tallest lighthouses?",
            "top 3 lighthouses by height",
            "Sort lighthouses by height, the tallest first, and give me three.",
        ),
        lambda w: top(column(w, w.all("lighthouse"), "height_m"), 3),
    ),
    Intent(
        "crown bulk's average length",
        "aggregate",
        (
            "What is the average length of the ships owned by Crown Bulk?",
            "average length of Crown Bulk ships",
            "On average, how long are the ships that Crown Bulk owns?",
        ),
        lambda w: Number(float(column(w, w.into("owned_by", named(w, "Crown Bulk")), "length_m").mean()), 0.01),
    ),
    Intent(
        "vann's crews",
        "aggregate",
        (
            "What is the total crew of the ships captained by Ulrik Vann?",
            "sum of crew, ships captained by Ulrik Vann",
            "How large is the crew of all of Ulrik Vann's ships put together?",
        ),
        lambda w: Number(float(column(w, w.into("captained_by", named(w, "Ulrik Vann")), "crew").sum())),
    ),
    Intent(
        "number over 30 berths",
        "count_hop",
        (
            "How many harbours have more than 30 berths?",
            "number of harbours with over 30 berths",
            "Count the harbours for me in which there are upwards of 30 berths.",
        ),
        lambda w: Number(len(where(w, "harbour", lambda f: f.berths > 30))),
    ),
    Intent(
        "number at finisk but not grisholm",
        "count_negation",
        (
            "How many ships call at Finisk but not at Grisholm?",
            "number of ships calling at Finisk and not Grisholm",
            "Leaving out the ones that call at Grisholm, how many ships is it that call at Finisk?",
        ),
        lambda w: Number(len(w.into("calls_at", named(w, "Finisk")) - w.into("calls_at", named(w, "Grisholm")))),
    ),
    Intent(
        "number of buoys",
        "count_kind",
        ("How many buoys are there?", "total number of buoys", "What does the count of all buoys come to?"),
        lambda w: Number(len(w.all("buoy"))),
    ),
    Intent(
        "captain of the most",
        "superlative_count",
        (
            "Who captains the most ships?",
            "captains with the most ships",
            "Which captains are in command of the largest number of ships?",
        ),
        lambda w: highest(w.degrees("captained_by", "captain", by="target")),
    ),
    Intent(
        "miller or kittiwake",
        "comparison",
        (
            "Which was launched earlier, Kittiwake or Jolly Miller?",
            "launched first: Kittiwake or Jolly Miller",
            "Of the two ships Jolly Miller and Kittiwake, which one has the earlier launch date?",
        ),
        lambda w: lowest(column(w, named(w, "Kittiwake", "Jolly Miller"), "launched")),
    ),
    Intent(
        "thimble at brackwater",
        "yes_no",
        (
            "Does the Sea Thimble call at Brackwater?",
            "is Brackwater one of the harbours that Sea Thimble calls at?",
            "Is it the case that the ship Sea Thimble calls at Brackwater?",
        ),
        lambda w: YesNo(named(w, "Sea Thimble") <= w.into("calls_at", named(w, "Brackwater"))),
    ),
    Intent(
        "ice at ironmouth",
        "yes_no",
        ("Is Ironmouth ice-free?", "Ironmouth ice free?", "Can one say of the harbour Ironmouth that it is ice-free?"),
        lambda w: YesNo(named(w, "Ironmouth") <= where(w, "harbour", lambda f: f.ice_free.eq(True))),
    ),
    Intent(
        "more than five ships",
        "threshold",
        (
            "Which companies own more than five ships?",
            "companies with over 5 ships",
            "List all companies whose fleet has at least six ships.",
        ),
        lambda w: above(w.degrees("owned_by", "company", by="target"), 5),
    ),
    Intent(
        "fast at redsand",
        "two_conditions",
        (
            "Which ships that call at Redsand have a top speed above 25 knots?",
            "ships calling at Redsand faster than 25 kn",
            "Redsand is called at by ships, some of them with a top speed over 25 knots: name these.",
        ),
        lambda w: Nodes(w.into("calls_at", named(w, "Redsand")) & where(w, "ship", lambda f: f.top_speed_kn > 25)),
    ),
    Intent(
        "lights of drusk",
        "two_conditions",
        (
            "Which lighthouses guard harbours in Drusk?",
            "lighthouses guarding a harbour whose country is Drusk",
            "For the harbours that lie in the country Drusk, what lighthouses are guarding them?",
        ),
        lambda w: Nodes(w.into("guards", where(w, "harbour", lambda f: f.country.eq("Drusk")))),
    ),
    Intent(
        "ships of bellweather",
        "unknown_name",
        (
            "Which ships does Captain Bellweather command?",
            "ships captained by Bellweather",
            "How many ships are captained by Bellweather?",
        ),
        lambda w: Refusal("unknown_name", "Bellweather"),
    ),
    Intent(
        "fuel",
        "not_here",
        (
            "Which ships use more than 40 tonnes of fuel a day?",
            "ship with the lowest fuel consumption",
            "How much fuel does the Calloway burn on average?",
        ),
        lambda w: Refusal("not_here", "fuel"),
    ),
    Intent(
        "the ship lantern",
        "shared_name",
        (
            "How long is the ship Lantern?",
            "Lantern ship length",
            "One of the ships has the name Lantern; please tell me its length.",
        ),
        lambda w: value(w, "Lantern", "length_m", kind="ship"),
    ),
    Intent(
        "same calls as lady ophira",
        "same_set",
        (
            "Which ships call at exactly the same harbours as the Lady Ophira?",
            "ships calling at exactly the same harbours as Lady Ophira",
            "What other ship calls wherever the Lady Ophira calls, and nowhere else?",
        ),
        lambda w: Nodes(same_set(w, "calls_at", named(w, "Lady Ophira"), w.all("ship"))),
    ),
    Intent(
        "all steel at marrin",
        "yes_no",
        (
            "Do all ships owned by Marrin Shipping have a steel hull?",
            "are all Marrin Shipping ships steel?",
            "Is the hull of every ship that Marrin Shipping owns made of steel?",
        ),
        lambda w: YesNo(
            w.into("owned_by", named(w, "Marrin Shipping")) <= where(w, "ship", lambda f: f.hull.eq("steel"))
        ),
    ),
    Intent(
        "cursed ships",
        "not_understood",
        (
            "Which ships that call at Grisholm are cursed?",
            "cursed ships calling at Grisholm",
            "Would you count the ships calling at Grisholm which carry a curse?",
        ),
        lambda w: Refusal("not_understood", "curse"),
    ),
)
