"""Write the invented world of harbours, mostly numbers, dates and units, as `nodes.csv` and `edges.csv`.

    python benchmarks/intents/worlds/make_harbours.py

The names are written by hand; sizes, dates, prices and who owns what are drawn with a fixed seed.
"""

from __future__ import annotations

import csv
import random
from datetime import date, timedelta
from pathlib import Path

RANDOM_SEED = 1872
FOLDER = Path(__file__).parent / "harbours"
HARBOURS = [
    "Port Ellary",
    "Grisholm|Grisholm Haven",
    "Sankt Olmo",
    "Tarn Quay",
    "Vesper Bay",
    "Ironmouth",
    "Cold Anchor",
    "Little Ellary",
    "Pomeroy Sound",
    "Halvik",
    "Redsand",
    "Brackwater",
    "Nine Piers",
    "Ulmen",
    "Cape Dorrow",
    "Finisk",
]
COUNTRIES = ["Ardony", "Belmark", "Corvenia", "Drusk"]
SHIPS = [
    "Amber Tern",
    "Black Halyard",
    "Calloway",
    "Dauntless Heron",
    "Evening Bell",
    "Far Lantern",
    "Grey Wanderer",
    "Harbinger",
    "Isolde Marrin",
    "Jolly Miller",
    "Kittiwake",
    "Lady Ophira",
    "Lord Ophir",
    "Mistral Queen",
    "North Passage",
    "Orlop",
    "Patient Ox",
    "Quicksilver",
    "Rime Breaker|RB-1",
    "Sea Thimble",
    "Tern of Halvik",
    "Umber Cliff",
    "Valiant Goose",
    "Windward Ann",
    "Yellow Sedge",
    "Zephyrine",
    "Ice Maiden",
    "Ice Giant",
    "Stout Bessie|Bessie",
    "Golden Fathom",
    "Old Molly",
    "Copper Kettle",
    "Silent Mare",
    "Night Heron",
    "Pole Star",
    "Bright Ingot",
    "Lantern",
    "Marram Grass",
    "Tidal Promise",
    "Salt Cellar",
    "Hopewright",
    "Nimble Jenny",
    "Calm Sister",
    "Ellary Pride",
]
COMPANIES = [
    "Marrin Shipping|Marrin Line",
    "Ostergate Freight",
    "Blue Ensign Ltd",
    "Polar Tow",
    "Tallis & Sons",
    "Halvik Ferries",
    "Crown Bulk",
    "Saltmarsh Carriers",
    "Dorrow Dredging",
    "Lindgate Cruises",
]
CAPTAINS = [
    "Agnes Thorvald",
    "Bertil Mancroft",
    "Cato Winge",
    "Dorothea Pym",
    "Elias Hartnoll",
    "Frida Oxenham",
    "Gustav Lemaire",
    "Henrike Sandvoss",
    "Igor Plessey",
    "Jutta Marrin",
    "Karl Marrin",
    "Lena Driscoll-Aune",
    "Magnus Weir",
    "Nora Castellane",
    "Otto Brask",
    "Paula Ferreux",
    "Ragna Holloway",
    "Stellan Crook",
    "Thea Abernot",
    "Ulrik Vann",
    "Vera Longstaff",
    "Wilbur Nanse",
    "Ylva Torrance",
    "Zacharias Bly",
]
LIGHTHOUSES = [
    "Dorrow Light",
    "Grisholm Beacon",
    "Widow's Candle",
    "Tern Rock",
    "Halvik North Light",
    "Halvik South Light",
    "Old Stump",
    "Seven Sisters Light",
    "Redsand Tower",
    "Lantern",
    "Cold Anchor Light",
    "Gannet Point",
    "Brass Finger",
    "Ulmen Mole Head",
    "Pomeroy High Light",
    "Pomeroy Low Light",
]
BUOYS = ["Otter", "Whelk", "Limpet", "Cockle", "Razor", "Mussel", "Scallop", "Oyster", "Urchin", "Barnacle"]
BELLS = ["Tolling", "Muffled", "Cracked", "Curfew", "Vesper", "Matins", "Dinner", "Passing"]
COLUMNS = [
    "id",
    "type",
    "name",
    "aliases",
    "country",
    "depth_m",
    "berths",
    "opened",
    "ice_free",
    "length_m",
    "mass_t",
    "top_speed_kn",
    "launched",
    "price_eur",
    "hull",
    "status",
    "crew",
    "icebreaker",
    "founded",
    "employees",
    "revenue_eur",
    "motto",
    "born",
    "salary_eur",
    "nationality",
    "height_m",
    "range_km",
    "first_lit",
    "automated",
    "mass_kg",
    "colour",
    "last_serviced",
    "description",
]
MOTTOS = ["Always on time", "Ice is no excuse", "Slow and dry", "Home by Sunday", "We carry what others drop"]
DESCRIPTIONS = [
    "Refitted after a fire in the engine room.",
    "Carries grain in summer and timber in winter.",
    "Has a brass bell from an older vessel.",
    "Known for her loud horn.",
]


def main() -> None:
    """Write both tables."""
    rng = random.Random(RANDOM_SEED)
    nodes: list[dict[str, object]] = []
    edges: list[tuple[str, str, str]] = []

    def add(kind: str, prefix: str, entry: str, **properties: object) -> str:
        name, _, aliases = entry.partition("|")
        id_ = f"{prefix}{1 + sum(node['type'] == kind for node in nodes)}"
        nodes.append({"id": id_, "type": kind, "name": name, "aliases": aliases, **properties})
        return id_

    def some(value: object, share: float = 0.15) -> object:
        """Return the value, or nothing at all for a share of the rows."""
        return "" if rng.random() < share else value

    def day(first: int, last: int) -> str:
        start = date(first, 1, 1)
        return str(start + timedelta(days=rng.randrange((date(last, 12, 31) - start).days)))

    def flag(share: float) -> str:
        return "true" if rng.random() < share else "false"

    harbours = [
        add(
            "harbour",
            "h",
            name,
            country=COUNTRIES[place % 4] if place < 14 else "Ardony",
            depth_m=some(round(rng.uniform(4, 26), 1)),
            berths=rng.randint(3, 60),
            opened=rng.randrange(1640, 1965),
            ice_free=flag(0.6),
        )
        for place, name in enumerate(HARBOURS)
    ]
    companies = [
        add(
            "company",
            "c",
            name,
            founded=rng.randrange(1790, 2010),
            employees=rng.randrange(12, 4200),
            revenue_eur=some(rng.randrange(2, 900) * 100_000),
            motto=some(rng.choice(MOTTOS), 0.4),
        )
        for name in COMPANIES
    ]
    captains = [
        add(
            "captain",
            "k",
            name,
            born=day(1948, 1996),
            salary_eur=some(rng.randrange(38, 140) * 1000 + rng.randrange(10) * 100),
            nationality=rng.choice(COUNTRIES),
        )
        for name in CAPTAINS
    ]
    ships = [
        add(
            "ship",
            "s",
            name,
            length_m=round(rng.uniform(14, 330), 1),
            mass_t=some(rng.randrange(40, 90_000)),
            top_speed_kn=some(round(rng.uniform(7, 38), 1)),
            launched=day(1949, 2023),
            price_eur=some(rng.randrange(3, 1900) * 50_000, 0.25),
            hull=rng.choice(["steel", "steel", "steel", "aluminium", "wood"]),
            status=rng.choice(["active", "active", "active", "laid up", "scrapped"]),
            crew=rng.randint(2, 64),
            icebreaker=flag(0.2),
            description=some(rng.choice(DESCRIPTIONS), 0.6),
        )
        for name in SHIPS
    ]
    lighthouses = [
        add(
            "lighthouse",
            "l",
            name,
            height_m=round(rng.uniform(9, 74), 1),
            range_km=some(rng.randint(8, 52)),
            first_lit=day(1790, 1962),
            automated=flag(0.6),
        )
        for name in LIGHTHOUSES
    ]
    buoys = [
        add(
            "buoy",
            "b",
            name,
            mass_kg=rng.randrange(180, 9200, 10),
            colour=rng.choice(["red", "green", "yellow"]),
            last_serviced=some(day(2009, 2024), 0.3),
        )
        for name in [*(f"{word} Buoy" for word in BUOYS), *(f"{word} Bell" for word in BELLS)]
    ]
    edges += [(company, rng.choice(harbours), "based_in") for company in companies]
    for ship in ships:
        edges.append((ship, rng.choice(companies), "owned_by"))
        edges.append((ship, rng.choice(harbours), "registered_at"))
        edges += [(ship, harbour, "calls_at") for harbour in rng.sample(harbours, rng.randint(1, 4))]
        if rng.random() < 0.8:
            edges.append((ship, rng.choice(captains), "captained_by"))
    edges += [(captain, rng.choice(harbours), "lives_in") for captain in captains]
    edges += [(lighthouse, rng.choice(harbours), "guards") for lighthouse in lighthouses]
    edges += [(buoy, rng.choice(harbours[:12]), "moored_off") for buoy in buoys]

    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / "nodes.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(nodes)
    with (FOLDER / "edges.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["source", "target", "type"])
        rows.writerows(edges)


if __name__ == "__main__":
    main()
