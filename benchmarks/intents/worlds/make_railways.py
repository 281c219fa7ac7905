"""Write the invented world of railways, with many ways to be connected, as `nodes.csv` and `edges.csv`.

    python benchmarks/intents/worlds/make_railways.py

The names are written by hand; sizes, dates, sums and what runs where are drawn with a fixed seed.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from pathlib import Path

RANDOM_SEED = 1825
FOLDER = Path(__file__).parent / "railways"
REGIONS = ["Upper Sarn", "Lower Sarn", "Tolmark", "The Fells", "Ostrey"]
TOWNS = [
    "Kelbrook",
    "Ashlow",
    "Wendle",
    "Dunmarrow",
    "Port Sarn|Sarnport",
    "Hexley",
    "Orrinford",
    "Brindle",
    "Marchbank",
    "Tolvey",
    "Quenby",
    "Stavering",
    "Lathom Moor",
    "Ellerthwaite",
    "Great Ossing",
    "Little Ossing",
    "Fenwater",
    "Cradlestone",
    "Pellgate",
    "Ruswick",
    "Varnholt",
    "Iddesby",
    "Northolme",
    "Skarrow",
    "Underfell",
    "Zennick",
]
STATIONS = [
    "Kelbrook Central|KBC",
    "Kelbrook North",
    "Kelbrook Docks",
    "Ashlow",
    "Ashlow Parkway|ASP",
    "Wendle",
    "Wendle Riverside",
    "Dunmarrow Junction|DMJ",
    "Dunmarrow Road",
    "Port Sarn Harbour|PSH",
    "Port Sarn Victoria Street",
    "Hexley East",
    "Hexley West",
    "Orrinford Abbey|ORA",
    "Brindle Cross",
    "Marchbank Junction",
    "Marchbank Halt",
    "Tolvey Spa",
    "Tolvey Market",
    "Quenby Castle|QBC",
    "Stavering",
    "Stavering Airport|STA",
    "Lathom Moor Halt",
    "Ellerthwaite Bridge",
    "Great Ossing Central",
    "Great Ossing University",
    "Little Ossing Halt",
    "Fenwater Lock",
    "Cradlestone Quarry",
    "Pellgate South",
    "Pellgate Arena",
    "Ruswick Sands",
    "Varnholt Summit|VHS",
    "Varnholt Mill",
    "Iddesby Green",
    "Northolme Pier",
    "Northolme Hospital",
    "Skarrow Mines",
    "Underfell Tunnel",
    "Zennick Cove",
    "Miller's Halt",
    "Two Oaks",
    "Foxcombe",
    "Larkfield Junction",
    "Harrow Gap",
    "Thistle Bank",
]
LINES = [
    "Sarn Valley Line",
    "Great Eastern Link",
    "Coastal Line|Shore Line",
    "Fells Railway",
    "Ossing Loop",
    "Copper Line",
    "Airport Express Line|AEX",
    "Moorland Line",
    "Silver Arrow",
    "Tolmark Main Line|TML",
    "Quarry Branch",
    "Harbour Branch",
    "Northern Crossing",
    "Spa Line",
]
OPERATORS = [
    "Sarn Railways|SR",
    "Tolmark Trains",
    "Bluebell Rail",
    "Fellside Heritage Trust|FHT",
    "Northgate Transit",
    "Ostrey Regional",
    "Castellan Freight",
    "Meridian Rail Group|Meridian",
    "Swiftline",
]
TRAINS = [
    "Silver Arrow",
    "Night Heron",
    "Duchess of Hexley",
    "Iron Badger",
    "Morning Star",
    "Evening Star",
    "Peregrine",
    "Kestrel",
    "Goshawk",
    "Sparrowhawk",
    "Old Caroline|Caroline",
    "Thunder Jack",
    "Red Admiral",
    "Painted Lady",
    "Brimstone",
    "Orange Tip",
    "Cinnabar",
    "Emperor Moth",
    "Fellrunner",
    "Valley Piper",
    "Harbour Lad",
    "Salt Maiden",
    "Quarryman",
    "Slate Giant",
    "Little Hob",
    "Winter Wren",
    "Royal Ossing",
    "Pride of Sarn",
    "Spirit of Tolmark",
    "Moor Ghost",
    "Blue Comet",
    "Green Comet",
    "Lodestar",
    "Long Patience",
    "Merry Widow",
    "Captain Fitch",
    "Doctor Amble",
    "Lady Winterbourne",
    "Lord Pellgate",
    "Sir Tobias",
    "Tin Whistle",
    "Copperhead",
    "Adder",
    "Grass Snake",
    "Slow Worm",
    "Bright Horizon",
    "Farewell",
    "Unit 417|417",
    "Unit 418|418",
    "Unit 502|502",
]
DRIVERS = [
    "Ada Brennock",
    "Alaric Moss",
    "Beatrix Halloran",
    "Benedict Osei-Lund",
    "Carla Winstead",
    "Cormac Devlin",
    "Delphine Arkwright",
    "Dougal Pender",
    "Edith Vance",
    "Emeka Stroud",
    "Fenella Quist",
    "Florian Beck",
    "Gwendolyn Pace",
    "Hamish Orde",
    "Hilda Narraway",
    "Imogen Sale",
    "Ivo Tarrant",
    "Ivo Tarrant",
    "Jasper Quayle",
    "Joan Hollis",
    "Kasimir Dahl",
    "Keziah Flood",
    "Leopold Marsh",
    "Lydia Crane",
    "Mabel Thornycroft|Mab Thornycroft",
    "Marcus Elphick",
    "Nadia Rowntree",
    "Nils Backhouse",
    "Odette Farrow",
    "Oscar Pimm",
    "Petra Lindqvist",
    "Quentin Ashe",
    "Rosalind Teague",
    "Rufus Carbery",
    "Sabine Trewin",
    "Silas Cobb",
    "Tamsin Ridley",
    "Theo Vance",
    "Ursula Penhale",
    "Viola Strand",
    "Wilfred Nunn",
    "Yasmin Cole",
]
DEPOTS = [
    "Kelbrook Yard",
    "Ashlow Sheds",
    "Dunmarrow Works",
    "Port Sarn Sidings",
    "Hexley Roundhouse",
    "Great Ossing Depot|GOD",
    "Stavering Carriage Sheds",
    "Varnholt Engine House",
    "Tolvey Sidings",
    "Northolme Yard",
    "Farewell",
]
COLUMNS = [
    "id",
    "type",
    "name",
    "aliases",
    "area_km2",
    "population",
    "market_day",
    "opened",
    "platforms",
    "elevation_m",
    "daily_passengers",
    "step_free",
    "style",
    "length_km",
    "electrified",
    "gauge_mm",
    "colour",
    "founded",
    "employees",
    "revenue_eur",
    "slogan",
    "built",
    "max_speed_kmh",
    "seats",
    "weight_t",
    "traction",
    "status",
    "wifi",
    "born",
    "hired",
    "salary_eur",
    "licence_class",
    "tracks",
    "capacity",
    "train_wash",
    "date",
    "delay_min",
    "cause",
    "severity",
    "injuries",
]
SLOGANS = ["Nearly there", "Every mile a pleasure", "On the dot", "The scenic way round", "Moving stone since forever"]
CAUSES = ["signal failure", "fallen tree", "flooding", "engine fault", "trespasser", "points failure", "livestock"]
INCIDENTS = 58


def main() -> None:
    """Write both tables."""
    rng = random.Random(RANDOM_SEED)
    nodes: list[dict[str, object]] = []

    def add(kind: str, prefix: str, entries: Iterable[str], properties: Callable[[], dict[str, object]]) -> None:
        """Add a node for each name, which its aliases may follow, with properties of its own."""
        for place, entry in enumerate(entries, start=1):
            name, _, aliases = entry.partition("|")
            nodes.append({"id": f"{prefix}{place}", "type": kind, "name": name, "aliases": aliases, **properties()})

    def some(value: object, share: float = 0.15) -> object:
        """Return the value, or nothing at all for a share of the rows."""
        return "" if rng.random() < share else value

    def day(first: int, last: int) -> str:
        start = date(first, 1, 1)
        return str(start + timedelta(days=rng.randrange((date(last, 12, 31) - start).days)))

    def flag(share: float) -> str:
        return "true" if rng.random() < share else "false"

    add("region", "rg", REGIONS, lambda: {"area_km2": rng.randrange(900, 7400, 10)})
    add(
        "town",
        "tw",
        TOWNS,
        lambda: {
            "population": rng.randrange(9, 2400) * 100 + rng.randrange(100),
            "market_day": some(rng.choice(["Tuesday", "Wednesday", "Friday", "Saturday"]), 0.3),
        },
    )
    add(
        "station",
        "st",
        STATIONS,
        lambda: {
            "opened": rng.randrange(1838, 1999),
            "platforms": rng.randint(1, 14),
            "elevation_m": rng.randrange(2, 610),
            "daily_passengers": some(rng.randrange(4, 4100) * 10),
            "step_free": flag(0.5),
            "style": some(rng.choice(["gothic", "baroque", "modernist", "brick", "timber"]), 0.2),
        },
    )
    add(
        "line",
        "ln",
        LINES,
        lambda: {
            "opened": rng.randrange(1841, 1988),
            "length_km": round(rng.uniform(11, 290), 1),
            "electrified": flag(0.5),
            "gauge_mm": rng.choice([1435, 1435, 1435, 1067, 762]),
            "colour": some(rng.choice(["red", "green", "blue", "yellow", "purple"]), 0.2),
        },
    )
    add(
        "operator",
        "op",
        OPERATORS,
        lambda: {
            "founded": rng.randrange(1846, 2012),
            "employees": rng.randrange(40, 9800),
            "revenue_eur": some(rng.randrange(2, 1900) * 100_000, 0.2),
            "slogan": some(rng.choice(SLOGANS), 0.3),
        },
    )
    add(
        "depot",
        "dp",
        DEPOTS,
        lambda: {
            "opened": rng.randrange(1850, 2005),
            "tracks": rng.randint(2, 28),
            "capacity": rng.randint(6, 90),
            "train_wash": flag(0.5),
        },
    )
    add(
        "train",
        "tr",
        TRAINS,
        lambda: {
            "built": day(1938, 2023),
            "max_speed_kmh": some(rng.randrange(60, 325, 5), 0.1),
            "seats": rng.randrange(40, 720, 2),
            "weight_t": some(round(rng.uniform(48, 690), 1), 0.2),
            "traction": rng.choice(["electric", "electric", "diesel", "battery", "steam"]),
            "status": rng.choice(["in service", "in service", "in service", "under repair", "withdrawn"]),
            "wifi": flag(0.45),
        },
    )
    add(
        "driver",
        "dr",
        DRIVERS,
        lambda: {
            "born": day(1940, 1984),
            "hired": some(day(2002, 2024), 0.1),
            "salary_eur": some(rng.randrange(290, 720) * 100),
            "licence_class": rng.choice(["A", "B", "C"]),
        },
    )
    add(
        "incident",
        "in",
        (f"Incident {1001 + place}" for place in range(INCIDENTS)),
        lambda: {
            "date": day(2012, 2024),
            "delay_min": some(rng.randint(3, 340), 0.1),
            "cause": some(rng.choice(CAUSES)),
            "severity": rng.choice(["minor", "minor", "moderate", "major"]),
            "injuries": rng.choice([0, 0, 0, 0, 1, 2, 5]),
        },
    )
    ids: dict[str, list[str]] = {}
    for node in nodes:
        ids.setdefault(str(node["type"]), []).append(str(node["id"]))
    edges = _edges(rng, ids)

    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / "nodes.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(nodes)
    with (FOLDER / "edges.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["source", "target", "type"])
        rows.writerows(edges)


def _edges(rng: random.Random, ids: dict[str, list[str]]) -> list[tuple[str, str, str]]:
    """Return what is connected: stations and depots with the towns after which they are called, the rest by chance."""
    edges: list[tuple[str, str, str]] = []
    regions, towns, stations = ids["region"], ids["town"], ids["station"]
    lines, operators, depots = ids["line"], ids["operator"], ids["depot"]
    trains, drivers, incidents = ids["train"], ids["driver"], ids["incident"]

    def namesake(place: int) -> str:
        """Return the town after which a station is called, or any where there is none."""
        towns_of_name = [id_ for id_, name in zip(towns, TOWNS, strict=True) if STATIONS[place].startswith(name[:9])]
        return towns_of_name[0] if towns_of_name else rng.choice(towns)

    homes = {"Little Ossing Halt": "Little Ossing", "Great Ossing Central": "Great Ossing"}
    edges += [(town, regions[place % 5], "part_of") for place, town in enumerate(towns)]
    for place, station in enumerate(stations):
        home = homes.get(STATIONS[place])
        town = towns[TOWNS.index(home)] if home else namesake(place)
        edges.append((station, town, "located_in"))
    for line in lines:
        route = rng.sample(stations, rng.randint(4, 10))
        edges += [(line, station, "stops_at") for station in route]
        edges += [(line, station, "terminates_at") for station in (route[0], route[-1])]
    for place, depot in enumerate(depots):
        towns_of_name = [id_ for id_, name in zip(towns, TOWNS, strict=True) if DEPOTS[place].startswith(name[:7])]
        edges.append((depot, towns_of_name[0] if towns_of_name else towns[17], "located_in"))
    edges += [(operator, rng.choice(towns), "headquartered_in") for operator in operators]
    for train in trains:
        edges += [(train, line, "runs_on") for line in rng.sample(lines, rng.choice([1, 1, 2, 3]))]
        edges.append((train, rng.choice(operators), "operated_by"))
        if rng.random() < 0.9:
            edges.append((train, rng.choice(depots), "stabled_at"))
    for driver in drivers:
        edges += [(driver, train, "drives") for train in rng.sample(trains, rng.choice([1, 2, 2, 3, 4]))]
        edges.append((driver, rng.choice(operators), "employed_by"))
        edges.append((driver, rng.choice(towns), "lives_in"))
    for incident in incidents:
        edges.append((incident, rng.choice(stations[:36]), "occurred_at"))
        edges += [(incident, train, "involved") for train in rng.sample(trains[:42], rng.choice([1, 1, 1, 2]))]
    return edges


if __name__ == "__main__":
    main()
