"""Questions over the invented world of railways: kept from whoever builds the methods."""

from __future__ import annotations

from .intent import Intent, Nodes, Number, Refusal, YesNo
from .world_tables import above, column, highest, named, same_set, tally, top, value, where

INTENTS = (
    Intent(
        "stops of the coastal line",
        "one_hop",
        (
            "Which stations does the Coastal Line stop at?",
            "List every station on the Coastal Line.",
            "Coastal Line stops",
        ),
        lambda w: Nodes(w.out("stops_at", named(w, "Coastal Line"))),
    ),
    Intent(
        "operator of night heron",
        "one_hop",
        (
            "Which operator runs the Night Heron?",
            "Tell me who the train Night Heron is operated by.",
            "operator of Night Heron",
        ),
        lambda w: Nodes(w.out("operated_by", named(w, "Night Heron"))),
    ),
    Intent(
        "drivers of evening star",
        "reversed_hop",
        (
            "Who drives the Evening Star?",
            "Name everyone who drives the train Evening Star.",
            "Evening Star drivers",
        ),
        lambda w: Nodes(w.into("drives", named(w, "Evening Star"))),
    ),
    Intent(
        "trains at tolvey sidings",
        "reversed_hop",
        (
            "Which trains are stabled at Tolvey Sidings?",
            "Show me the trains that have Tolvey Sidings as their depot.",
            "trains kept at Tolvey Sidings",
        ),
        lambda w: Nodes(w.into("stabled_at", named(w, "Tolvey Sidings"))),
    ),
    Intent(
        "lines at asp",
        "alias",
        (
            "Which lines stop at ASP?",
            "Give me all lines with a stop at ASP.",
            "lines through ASP",
        ),
        lambda w: Nodes(w.into("stops_at", named(w, "ASP"))),
    ),
    Intent(
        "trains of castellan",
        "partial_name",
        (
            "What trains does Castellan operate?",
            "List the trains that are operated by Castellan.",
            "Castellan trains",
        ),
        lambda w: Nodes(w.into("operated_by", named(w, "Castellan Freight"))),
    ),
    Intent(
        "drivers of meridian's trains",
        "two_hops",
        (
            "Which drivers drive trains operated by Meridian Rail Group?",
            "Find everyone who drives a train that Meridian Rail Group operates.",
            "drivers of Meridian Rail Group trains",
        ),
        lambda w: Nodes(w.into("drives", w.into("operated_by", named(w, "Meridian Rail Group")))),
    ),
    Intent(
        "incidents in kelbrook",
        "two_hops",
        (
            "Which incidents occurred at stations in Kelbrook?",
            "List the incidents that happened at any station located in Kelbrook.",
            "incidents at Kelbrook's stations",
        ),
        lambda w: Nodes(w.into("occurred_at", w.into("located_in", named(w, "Kelbrook", kind="town")))),
    ),
    Intent(
        "seat of bright horizon's operator",
        "possessive",
        (
            "Where is Bright Horizon's operator headquartered?",
            "Name the town in which the operator of the Bright Horizon has its headquarters.",
            "Bright Horizon's operator headquarters town",
        ),
        lambda w: Nodes(w.out("headquartered_in", w.out("operated_by", named(w, "Bright Horizon")))),
    ),
    Intent(
        "drivers after hexley west",
        "three_hops",
        (
            "Who drives the trains that were involved in incidents at Hexley West?",
            "Find the drivers of any train involved in an incident that occurred at Hexley West.",
            "drivers of trains involved in Hexley West incidents",
        ),
        lambda w: Nodes(w.into("drives", w.out("involved", w.into("occurred_at", named(w, "Hexley West"))))),
    ),
    Intent(
        "two oaks and skarrow mines",
        "intersection_names",
        (
            "Which lines stop at both Two Oaks and Skarrow Mines?",
            "I need the lines that call at Two Oaks as well as at Skarrow Mines.",
            "lines serving Two Oaks and Skarrow Mines",
        ),
        lambda w: Nodes(
            w.into("stops_at", named(w, "Two Oaks")) & w.into("stops_at", named(w, "Skarrow Mines")),
        ),
    ),
    Intent(
        "swiftline on the copper line",
        "intersection_verbs",
        (
            "Which trains are operated by Swiftline and run on the Copper Line?",
            "Of the trains that run on the Copper Line, show those Swiftline operates.",
            "Swiftline trains on the Copper Line",
        ),
        lambda w: Nodes(
            w.into("operated_by", named(w, "Swiftline")) & w.into("runs_on", named(w, "Copper Line")),
        ),
    ),
    Intent(
        "airport express without swiftline",
        "negation",
        (
            "Which trains run on the Airport Express Line but are not operated by Swiftline?",
            "Leaving out Swiftline's trains, list those that run on the Airport Express Line.",
            "Airport Express Line trains not operated by Swiftline",
        ),
        lambda w: Nodes(
            w.into("runs_on", named(w, "Airport Express Line")) - w.into("operated_by", named(w, "Swiftline")),
        ),
    ),
    Intent(
        "neither harbour lad nor copperhead",
        "neither_nor",
        (
            "Which drivers employed by Sarn Railways drive neither Harbour Lad nor Copperhead?",
            "Of the drivers Sarn Railways employs, show those who don't drive Harbour Lad or Copperhead.",
            "drivers employed by Sarn Railways driving neither Harbour Lad nor Copperhead",
        ),
        lambda w: Nodes(
            w.into("employed_by", named(w, "Sarn Railways")) - w.into("drives", named(w, "Harbour Lad", "Copperhead")),
        ),
    ),
    Intent(
        "goshawk or moor ghost",
        "disjunction",
        (
            "Which incidents involved Goshawk or Moor Ghost?",
            "List all incidents in which either the Goshawk or the Moor Ghost was involved.",
            "incidents involving Goshawk or Moor Ghost",
        ),
        lambda w: Nodes(w.into("involved", named(w, "Goshawk", "Moor Ghost"))),
    ),
    Intent(
        "number of coastal trains",
        "count_hop",
        (
            "How many trains run on the Coastal Line?",
            "Count the trains that use the Coastal Line.",
            "number of trains on the Coastal Line",
        ),
        lambda w: Number(len(w.into("runs_on", named(w, "Coastal Line")))),
    ),
    Intent(
        "number of heritage drivers",
        "count_hop",
        (
            "How many drivers does the Fellside Heritage Trust employ?",
            "Give me the number of drivers who are employed by Fellside Heritage Trust.",
            "Fellside Heritage Trust driver count",
        ),
        lambda w: Number(len(w.into("employed_by", named(w, "Fellside Heritage Trust")))),
    ),
    Intent(
        "number on both main lines",
        "count_intersection",
        (
            "How many trains run on both the Coastal Line and the Tolmark Main Line?",
            "Count the trains which run on the Coastal Line and also on the Tolmark Main Line.",
            "number of trains on Coastal Line and Tolmark Main Line",
        ),
        lambda w: Number(
            len(w.into("runs_on", named(w, "Coastal Line")) & w.into("runs_on", named(w, "Tolmark Main Line"))),
        ),
    ),
    Intent(
        "number of tolmark trains elsewhere",
        "count_negation",
        (
            "How many trains operated by Tolmark Trains are not stabled at Port Sarn Sidings?",
            "Count the trains that Tolmark Trains operates, except those stabled at Port Sarn Sidings.",
            "number of trains operated by Tolmark Trains not stabled at Port Sarn Sidings",
        ),
        lambda w: Number(
            len(
                w.into("operated_by", named(w, "Tolmark Trains")) - w.into("stabled_at", named(w, "Port Sarn Sidings"))
            ),
        ),
    ),
    Intent(
        "number of lines at either",
        "count_disjunction",
        (
            "How many lines stop at Stavering Airport or Ashlow Parkway?",
            "Count all lines calling at either Ashlow Parkway or Stavering Airport.",
            "number of lines at Stavering Airport or Ashlow Parkway",
        ),
        lambda w: Number(len(w.into("stops_at", named(w, "Stavering Airport", "Ashlow Parkway")))),
    ),
    Intent(
        "number of incidents",
        "count_kind",
        (
            "How many incidents are there?",
            "Give the total number of incidents on record.",
            "incident count",
        ),
        lambda w: Number(len(w.all("incident"))),
    ),
    Intent(
        "station of most incidents",
        "superlative_count",
        (
            "At which station did the most incidents occur?",
            "Find the station with the largest number of incidents.",
            "station with most incidents",
        ),
        lambda w: highest(w.degrees("occurred_at", "station", by="target")),
    ),
    Intent(
        "three largest employers",
        "top_count",
        (
            "Which three operators employ the most drivers?",
            "Rank the operators by how many drivers they employ and show the first three.",
            "top 3 operators by number of drivers",
        ),
        lambda w: top(w.degrees("employed_by", "operator", by="target"), 3),
    ),
    Intent(
        "fastest train",
        "superlative_property",
        (
            "Which train has the highest maximum speed?",
            "Name the train with the greatest top speed.",
            "fastest train",
        ),
        lambda w: highest(w.values("train", "max_speed_kmh")),
    ),
    Intent(
        "youngest driver",
        "superlative_property",
        (
            "Who is the youngest driver?",
            "Find the driver who was born last.",
            "driver with the latest birth date",
        ),
        lambda w: highest(w.values("driver", "born")),
    ),
    Intent(
        "same lines as lodestar",
        "same_set",
        (
            "Which other trains run on exactly the same lines as Lodestar?",
            "Find the trains whose lines are precisely those of the Lodestar.",
            "trains with exactly the same lines as Lodestar",
        ),
        lambda w: Nodes(same_set(w, "runs_on", named(w, "Lodestar"), w.all("train"))),
    ),
    Intent(
        "age of cinnabar",
        "property_lookup",
        (
            "When was the Cinnabar built?",
            "Give me the date on which the train Cinnabar was built.",
            "Cinnabar build date",
        ),
        lambda w: value(w, "Cinnabar", "built"),
    ),
    Intent(
        "gauge of harbour branch",
        "property_lookup",
        (
            "What is the gauge of the Harbour Branch?",
            "State the Harbour Branch's gauge in mm.",
            "Harbour Branch gauge",
        ),
        lambda w: value(w, "Harbour Branch", "gauge_mm"),
    ),
    Intent(
        "diesel trains",
        "property_equals",
        (
            "Which trains have diesel traction?",
            "List all trains whose traction is diesel.",
            "diesel trains",
        ),
        lambda w: Nodes(where(w, "train", lambda rows: rows["traction"] == "diesel")),
    ),
    Intent(
        "high stations",
        "property_compare",
        (
            "Which stations lie at an elevation of more than 450 m?",
            "Show every station that is higher than 450 metres.",
            "stations with elevation above 450 m",
        ),
        lambda w: above(w.values("station", "elevation_m"), 450),
    ),
    Intent(
        "hired before 2008",
        "property_compare",
        (
            "Which drivers were hired before 2008?",
            "List drivers whose hiring date is earlier than 1 January 2008.",
            "drivers hired earlier than 2008",
        ),
        lambda w: Nodes(where(w, "driver", lambda rows: rows["hired"] < "2008")),
    ),
    Intent(
        "delays from 100 to 150",
        "property_range",
        (
            "Which incidents caused a delay of between 100 and 150 minutes?",
            "Show me incidents where the delay was at least 100 minutes and at most 150 minutes.",
            "incidents with delay 100 to 150 min",
        ),
        lambda w: Nodes(where(w, "incident", lambda rows: rows["delay_min"].between(100, 150))),
    ),
    Intent(
        "no passenger figure",
        "property_missing",
        (
            "Which stations have no daily passengers figure?",
            "List the stations for which the number of daily passengers is missing.",
            "stations without daily passengers",
        ),
        lambda w: Nodes(w.lacking("station", "daily_passengers")),
    ),
    Intent(
        "salary at sarn railways",
        "aggregate",
        (
            "What is the average salary of drivers employed by Sarn Railways?",
            "Work out the mean salary of the drivers who work for Sarn Railways.",
            "average driver salary at Sarn Railways",
        ),
        lambda w: Number(float(column(w, w.into("employed_by", named(w, "Sarn Railways")), "salary_eur").mean()), 0.51),
    ),
    Intent(
        "seats of swiftline",
        "aggregate",
        (
            "How many seats do the trains operated by Swiftline have in total?",
            "Add up the seats of all trains that Swiftline operates.",
            "total seats of Swiftline trains",
        ),
        lambda w: Number(float(column(w, w.into("operated_by", named(w, "Swiftline")), "seats").sum())),
    ),
    Intent(
        "platforms of two stations",
        "comparison",
        (
            "Which has more platforms, Hexley West or Tolvey Spa?",
            "Compare Hexley West with Tolvey Spa and name the one that has more platforms.",
            "Hexley West or Tolvey Spa: more platforms?",
        ),
        lambda w: highest(column(w, named(w, "Hexley West", "Tolvey Spa"), "platforms")),
    ),
    Intent(
        "moorland line at brindle cross",
        "yes_no",
        (
            "Does the Moorland Line stop at Brindle Cross?",
            "Is Brindle Cross one of the stations where the Moorland Line stops?",
            "Moorland Line stops at Brindle Cross?",
        ),
        lambda w: YesNo(named(w, "Brindle Cross") <= w.out("stops_at", named(w, "Moorland Line"))),
    ),
    Intent(
        "great eastern link electrified",
        "yes_no",
        (
            "Is the Great Eastern Link electrified?",
            "Check whether the Great Eastern Link is an electrified line.",
            "Great Eastern Link electrified?",
        ),
        lambda w: YesNo(bool(column(w, named(w, "Great Eastern Link"), "electrified").item())),
    ),
    Intent(
        "stations of four lines",
        "threshold",
        (
            "Which stations are served by at least four lines?",
            "List the stations where four or more lines stop.",
            "stations with at least 4 lines",
        ),
        lambda w: above(tally(w.all("station"), lambda id_: w.into("stops_at", [id_])), 3),
    ),
    Intent(
        "steam at bluebell",
        "two_conditions",
        (
            "Which trains operated by Bluebell Rail have steam traction?",
            "Show the steam trains that Bluebell Rail operates.",
            "Bluebell Rail steam trains",
        ),
        lambda w: Nodes(
            w.into("operated_by", named(w, "Bluebell Rail"))
            & where(w, "train", lambda rows: rows["traction"] == "steam"),
        ),
    ),
    Intent(
        "drivers of crimson falcon",
        "unknown_name",
        (
            "Who drives the Crimson Falcon?",
            "List the drivers of the train Crimson Falcon.",
            "Crimson Falcon drivers",
        ),
        lambda w: Refusal("unknown_name", "Crimson Falcon"),
    ),
    Intent(
        "conductors of night heron",
        "not_here",
        (
            "Which conductors work on the Night Heron?",
            "Name the conductors of the train Night Heron.",
            "Night Heron conductors",
        ),
        lambda w: Refusal("not_here", "conductors"),
    ),
    Intent(
        "left-handed drivers",
        "not_understood",
        (
            "Which drivers are left-handed?",
            "List every driver who is left-handed.",
            "left-handed drivers",
        ),
        lambda w: Refusal("not_understood", "left-handed"),
    ),
    Intent(
        "homes of ivo tarrant",
        "shared_name",
        (
            "Where does Ivo Tarrant live?",
            "Name the town that Ivo Tarrant lives in.",
            "Ivo Tarrant home town",
        ),
        lambda w: Nodes(w.out("lives_in", named(w, "Ivo Tarrant"))),
    ),
    Intent(
        "best depot",
        "unclear",
        (
            "Which is the best depot?",
            "Tell me which depot is best.",
            "best depot",
        ),
        lambda w: Refusal("not_understood", "best"),
    ),
)
