"""Questions over the invented world of harbours: the half that methods may be tuned on."""

from __future__ import annotations

from .intent import Intent, Nodes, Number, Refusal, YesNo
from .world_tables import above, column, highest, lowest, named, top, value, where

INTENTS = (
    Intent(
        "owner of calloway",
        "one_hop",
        ("Who owns the Calloway?", "Calloway owner", "To which company does the ship Calloway belong?"),
        lambda w: Nodes(w.out("owned_by", named(w, "Calloway"))),
    ),
    Intent(
        "captain of rb-1",
        "alias",
        ("Who is the captain of RB-1?", "RB-1 captain", "I want to know by whom the ship RB-1 is captained."),
        lambda w: Nodes(w.out("captained_by", named(w, "RB-1"))),
    ),
    Intent(
        "ships of tallis",
        "partial_name",
        ("Which ships does Tallis own?", "Tallis ships", "List all the ships that are owned by Tallis."),
        lambda w: Nodes(w.into("owned_by", named(w, "Tallis & Sons"))),
    ),
    Intent(
        "ships of grisholm's companies",
        "two_hops",
        (
            "Which ships are owned by companies based in Grisholm?",
            "ships owned by a company based in Grisholm",
            "Some companies are based in Grisholm; what ships do they own?",
        ),
        lambda w: Nodes(w.into("owned_by", w.into("based_in", named(w, "Grisholm")))),
    ),
    Intent(
        "home of the captain",
        "possessive",
        (
            "Where does Evening Bell's captain live?",
            "home harbour of the captain of Evening Bell",
            "In what harbour does the person live who captains the Evening Bell?",
        ),
        lambda w: Nodes(w.out("lives_in", w.out("captained_by", named(w, "Evening Bell")))),
    ),
    Intent(
        "lighthouses on lindgate's way",
        "three_hops",
        (
            "Which lighthouses guard harbours at which ships owned by Lindgate Cruises call?",
            "lighthouses guarding harbours where Lindgate Cruises ships call",
            "Ships of Lindgate Cruises call at certain harbours. What lighthouses guard those harbours?",
        ),
        lambda w: Nodes(w.into("guards", w.out("calls_at", w.into("owned_by", named(w, "Lindgate Cruises"))))),
    ),
    Intent(
        "grisholm and finisk",
        "intersection_names",
        (
            "Which ships call at both Grisholm and Finisk?",
            "ships calling at Grisholm and Finisk",
            "Give me those ships that call at Grisholm and at Finisk too.",
        ),
        lambda w: Nodes(w.into("calls_at", named(w, "Grisholm")) & w.into("calls_at", named(w, "Finisk"))),
    ),
    Intent(
        "grisholm but not finisk",
        "negation",
        (
            "Which ships call at Grisholm but not at Finisk?",
            "ships calling at Grisholm, not Finisk",
            "I'm after ships that do call at Grisholm and do not call at Finisk.",
        ),
        lambda w: Nodes(w.into("calls_at", named(w, "Grisholm")) - w.into("calls_at", named(w, "Finisk"))),
    ),
    Intent(
        "ardony with ice",
        "property_equals",
        (
            "Which harbours in Ardony are not ice-free?",
            "Ardony harbours, not ice free",
            "Among the harbours of the country Ardony, which ones cannot be called ice-free?",
        ),
        lambda w: Nodes(where(w, "harbour", lambda f: f.country.eq("Ardony") & f.ice_free.eq(False))),
    ),
    Intent(
        "owned by neither",
        "neither_nor",
        (
            "Which ships registered at Halvik are owned by neither Blue Ensign Ltd nor Polar Tow?",
            "ships registered at Halvik except those of Blue Ensign Ltd and Polar Tow",
            "Halvik has ships registered there; list the ones that Blue Ensign Ltd and Polar Tow do not own.",
        ),
        lambda w: Nodes(
            w.into("registered_at", named(w, "Halvik")) - w.into("owned_by", named(w, "Blue Ensign Ltd", "Polar Tow"))
        ),
    ),
    Intent(
        "green or yellow",
        "disjunction",
        (
            "Which buoys are green or yellow?",
            "green or yellow buoys",
            "Show me buoys with the colour green and buoys with the colour yellow.",
        ),
        lambda w: Nodes(where(w, "buoy", lambda f: f.colour.isin(["green", "yellow"]))),
    ),
    Intent(
        "length of sea thimble",
        "property_lookup",
        ("How long is the Sea Thimble?", "Sea Thimble length", "What is the length of the ship called Sea Thimble?"),
        lambda w: value(w, "Sea Thimble", "length_m"),
    ),
    Intent(
        "launch of windward ann",
        "property_lookup",
        ("When was the Windward Ann launched?", "Windward Ann launched", "On what date did they launch Windward Ann?"),
        lambda w: value(w, "Windward Ann", "launched"),
    ),
    Intent(
        "motto of halvik ferries",
        "property_lookup",
        ("What is the motto of Halvik Ferries?", "Halvik Ferries motto", "Tell me Halvik Ferries's motto."),
        lambda w: value(w, "Halvik Ferries", "motto"),
    ),
    Intent(
        "aluminium hulls",
        "property_equals",
        (
            "Which ships have an aluminium hull?",
            "ships hull aluminium",
            "What are the ships whose hull is made of aluminium?",
        ),
        lambda w: Nodes(where(w, "ship", lambda f: f.hull.eq("aluminium"))),
    ),
    Intent(
        "icebreakers",
        "property_equals",
        ("Which ships are icebreakers?", "icebreaker ships", "Give me a list of all ships that are an icebreaker."),
        lambda w: Nodes(where(w, "ship", lambda f: f.icebreaker.eq(True))),
    ),
    Intent(
        "lighthouses with keepers",
        "property_equals",
        (
            "Which lighthouses are not automated?",
            "lighthouses automated: false",
            "All lighthouses other than the automated ones, please.",
        ),
        lambda w: Nodes(where(w, "lighthouse", lambda f: f.automated.eq(False))),
    ),
    Intent(
        "over 300 m",
        "property_compare",
        (
            "Which ships are longer than 300 m?",
            "ships over 300 metres long",
            "I need every ship whose length exceeds 300 meters.",
        ),
        lambda w: Nodes(where(w, "ship", lambda f: f.length_m > 300)),
    ),
    Intent(
        "forty berths",
        "property_compare",
        (
            "Which harbours have at least 38 berths?",
            "harbours with berths >= 38",
            "Name harbours that offer 38 berths or more.",
        ),
        lambda w: Nodes(where(w, "harbour", lambda f: f.berths >= 38)),
    ),
    Intent(
        "between 40 and 50 m",
        "property_range",
        (
            "Which lighthouses are between 40 and 50 metres tall?",
            "lighthouses height 40-50 m",
            "List lighthouses with a height of no less than 40 m and no more than 50 m.",
        ),
        lambda w: Nodes(where(w, "lighthouse", lambda f: f.height_m.between(40, 50))),
    ),
    Intent(
        "over five tonnes",
        "property_compare",
        (
            "Which buoys weigh over 5 tonnes?",
            "buoys heavier than 5 t",
            "What buoys have a mass of more than 5 tonnes?",
        ),
        lambda w: Nodes(where(w, "buoy", lambda f: f.mass_kg > 5000)),
    ),
    Intent(
        "range below 20,000 m",
        "property_compare",
        (
            "Which lighthouses have a range of less than 20,000 metres?",
            "lighthouses range under 20000 m",
            "Show the lighthouses whose range falls short of 20,000 m.",
        ),
        lambda w: Nodes(where(w, "lighthouse", lambda f: f.range_km < 20)),
    ),
    Intent(
        "launched after 2010",
        "property_compare",
        (
            "Which ships were launched after 2010?",
            "ships launched since 2011",
            "Give me ships with a launch date later than the year 2010.",
        ),
        lambda w: Nodes(where(w, "ship", lambda f: f.launched > "2010-12-31")),
    ),
    Intent(
        "lit before may 1804",
        "property_compare",
        (
            "Which lighthouses were first lit before 1 May 1804?",
            "lighthouses first lit before 1804-05-01",
            "What lighthouses had already been first lit by the end of April 1804?",
        ),
        lambda w: Nodes(where(w, "lighthouse", lambda f: f.first_lit < "1804-05-01")),
    ),
    Intent(
        "launched in 1986",
        "property_equals",
        (
            "Which ships were launched in 1986?",
            "ships launched 1986",
            "What are the ships that had their launch in the year 1986?",
        ),
        lambda w: Nodes(where(w, "ship", lambda f: f.launched.str.startswith("1986"))),
    ),
    Intent(
        "no price",
        "property_missing",
        (
            "Which ships have no price?",
            "ships without a price",
            "For which of the ships is the price unknown?",
        ),
        lambda w: Nodes(where(w, "ship", lambda f: f.price_eur.isna())),
    ),
    Intent(
        "most expensive",
        "superlative_property",
        (
            "What is the most expensive ship?",
            "ship with the highest price",
            "Of all the ships, which one costs the most?",
        ),
        lambda w: highest(column(w, w.all("ship"), "price_eur")),
    ),
    Intent(
        "youngest captain",
        "superlative_property",
        (
            "Who is the youngest captain?",
            "youngest captain",
            "Which captain was born later than all other captains?",
        ),
        lambda w: highest(column(w, w.all("captain"), "born")),
    ),
    Intent(
        "blue ensign's longest",
        "superlative_property",
        (
            "What is the longest ship owned by Blue Ensign Ltd?",
            "longest Blue Ensign Ltd ship",
            "Blue Ensign Ltd owns several ships; which of them has the greatest length?",
        ),
        lambda w: highest(column(w, w.into("owned_by", named(w, "Blue Ensign Ltd")), "length_m")),
    ),
    Intent(
        "five fastest",
        "superlative_property",
        (
            "What are the five fastest ships?",
            "top 5 ships by top speed",
            "List the 5 ships with the highest top speed, fastest first.",
        ),
        lambda w: top(column(w, w.all("ship"), "top_speed_kn"), 5),
    ),
    Intent(
        "average salary",
        "aggregate",
        (
            "What is the average salary of the captains?",
            "average captain salary",
            "How much does a captain earn on average?",
        ),
        lambda w: Number(float(column(w, w.all("captain"), "salary_eur").mean()), 0.01),
    ),
    Intent(
        "berths of ardony",
        "aggregate",
        (
            "How many berths do the harbours in Ardony have in total?",
            "total berths of harbours in Ardony",
            "Add up the berths of all harbours whose country is Ardony.",
        ),
        lambda w: Number(float(column(w, where(w, "harbour", lambda f: f.country.eq("Ardony")), "berths").sum())),
    ),
    Intent(
        "active ships of crown bulk",
        "count_intersection",
        (
            "How many active ships does Crown Bulk own?",
            "number of active ships owned by Crown Bulk",
            "Counting only those whose status is active, what number of ships belong to Crown Bulk?",
        ),
        lambda w: Number(
            len(w.into("owned_by", named(w, "Crown Bulk")) & where(w, "ship", lambda f: f.status.eq("active")))
        ),
    ),
    Intent(
        "stump or rock",
        "comparison",
        (
            "Which is taller, Old Stump or Tern Rock?",
            "taller: Old Stump or Tern Rock",
            "If I compare the height of Old Stump with that of Tern Rock, which one is higher?",
        ),
        lambda w: highest(column(w, named(w, "Old Stump", "Tern Rock"), "height_m")),
    ),
    Intent(
        "vesper bay's depth",
        "yes_no",
        (
            "Is Vesper Bay deeper than 10 m?",
            "Vesper Bay depth over 10 m?",
            "Does the harbour Vesper Bay have a depth of more than 10 metres?",
        ),
        lambda w: YesNo(named(w, "Vesper Bay") <= where(w, "harbour", lambda f: f.depth_m > 10)),
    ),
    Intent(
        "busy harbours",
        "threshold",
        (
            "At which harbours do more than eight ships call?",
            "harbours with more than 8 ships calling",
            "List every harbour where the number of ships that call there is above 8.",
        ),
        lambda w: above(w.degrees("calls_at", "harbour", by="target"), 8),
    ),
    Intent(
        "most ships",
        "superlative_count",
        (
            "Which company owns the most ships?",
            "company with most ships",
            "Whose fleet is the largest, by the number of ships that the company owns?",
        ),
        lambda w: highest(w.degrees("owned_by", "company", by="target")),
    ),
    Intent(
        "young captains' ships",
        "two_conditions",
        (
            "Which ships are captained by someone born after 1978?",
            "ships whose captain was born after 1978",
            "There are captains with a birth date later than 1978: which ships do they captain?",
        ),
        lambda w: Nodes(w.into("captained_by", where(w, "captain", lambda f: f.born > "1978-12-31"))),
    ),
    Intent(
        "wood of halvik ferries",
        "two_conditions",
        (
            "Which ships owned by Halvik Ferries have a wood hull and are longer than 250 m?",
            "Halvik Ferries ships, hull wood, over 250 m",
            "Of the fleet owned by Halvik Ferries, show the ships with a wooden hull and a length above 250 metres.",
        ),
        lambda w: Nodes(
            w.into("owned_by", named(w, "Halvik Ferries"))
            & where(w, "ship", lambda f: f.hull.eq("wood") & (f.length_m > 250))
        ),
    ),
    Intent(
        "nordwind",
        "unknown_name",
        (
            "Which ships are owned by Nordwind Lines?",
            "number of Nordwind Lines ships",
            "Tell me what the Nordwind Lines company has in its fleet of ships.",
        ),
        lambda w: Refusal("unknown_name", "Nordwind Lines"),
    ),
    Intent(
        "draught",
        "not_here",
        (
            "Which ship has the deepest draught?",
            "ships with a draught under 6 m",
            "How many ships of Crown Bulk have a draught of more than 9 metres?",
        ),
        lambda w: Refusal("not_here", "draught"),
    ),
    Intent(
        "the lighthouse lantern",
        "shared_name",
        (
            "How tall is the lighthouse Lantern?",
            "Lantern lighthouse height",
            "There is a lighthouse by the name of Lantern; what is its height?",
        ),
        lambda w: value(w, "Lantern", "height_m", kind="lighthouse"),
    ),
    Intent(
        "buoys off sankt olmo",
        "reversed_hop",
        (
            "Which buoys are moored off Sankt Olmo?",
            "Sankt Olmo buoys",
            "I'd like a list of whatever buoys there are that are moored off Sankt Olmo.",
        ),
        lambda w: Nodes(w.into("moored_off", named(w, "Sankt Olmo"))),
    ),
    Intent(
        "crown bulk at redsand",
        "intersection_verbs",
        (
            "Which ships owned by Crown Bulk call at Redsand?",
            "ships that call at Redsand and are owned by Crown Bulk",
            "Redsand is a harbour that ships call at; which of these does Crown Bulk own?",
        ),
        lambda w: Nodes(w.into("owned_by", named(w, "Crown Bulk")) & w.into("calls_at", named(w, "Redsand"))),
    ),
    Intent(
        "number of ships",
        "count_kind",
        ("How many ships are there?", "number of ships", "What is the total number of the ships that are listed here?"),
        lambda w: Number(len(w.all("ship"))),
    ),
    Intent(
        "number of ships without captain",
        "count_negation",
        (
            "How many ships have no captain?",
            "number of ships without a captain",
            "How many of the ships are there that nobody captains?",
        ),
        lambda w: Number(len(w.all("ship") - w.into("captained_by", w.all("captain")))),
    ),
    Intent(
        "number of captains before 1960",
        "count_hop",
        (
            "How many captains were born before 1960?",
            "number of captains born before 1960",
            "What is the count of those captains whose date of birth is earlier than 1960?",
        ),
        lambda w: Number(len(where(w, "captain", lambda f: f.born < "1960-01-01"))),
    ),
    Intent(
        "golden fathom in ice",
        "yes_no",
        (
            "Is the Golden Fathom an icebreaker?",
            "Golden Fathom icebreaker?",
            "Does the Golden Fathom count among the ships that are icebreakers?",
        ),
        lambda w: YesNo(named(w, "Golden Fathom") <= where(w, "ship", lambda f: f.icebreaker.eq(True))),
    ),
    Intent(
        "longstaff or abernot",
        "comparison",
        (
            "Who earns more, Vera Longstaff or Thea Abernot?",
            "higher salary: Vera Longstaff or Thea Abernot",
            "Compare the salary of Vera Longstaff with the salary of Thea Abernot: whose is higher?",
        ),
        lambda w: highest(column(w, named(w, "Vera Longstaff", "Thea Abernot"), "salary_eur")),
    ),
    Intent(
        "harbour of unknown depth",
        "property_missing",
        (
            "For which harbours is no depth given?",
            "harbours with missing depth",
            "Name the harbours whose depth nobody has filled in.",
        ),
        lambda w: Nodes(where(w, "harbour", lambda f: f.depth_m.isna())),
    ),
    Intent(
        "under ten million",
        "property_compare",
        (
            "Which ships cost less than 10 million euros?",
            "ships price below 10,000,000 EUR",
            "What ships could I buy at a price under €10 million?",
        ),
        lambda w: Nodes(where(w, "ship", lambda f: f.price_eur < 10_000_000)),
    ),
    Intent(
        "cheapest at ironmouth",
        "superlative_property",
        (
            "What is the cheapest ship that calls at Ironmouth?",
            "cheapest ship calling at Ironmouth",
            "Of the ships which call at Ironmouth, which one has the lowest price?",
        ),
        lambda w: lowest(column(w, w.into("calls_at", named(w, "Ironmouth")), "price_eur")),
    ),
    Intent(
        "haunted ships",
        "not_understood",
        (
            "Which ships owned by Crown Bulk are haunted?",
            "haunted ships of Crown Bulk",
            "How many of the ships that Crown Bulk owns are said to be haunted?",
        ),
        lambda w: Refusal("not_understood", "haunted"),
    ),
)
