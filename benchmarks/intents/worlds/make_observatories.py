"""Write the invented world of observatories, mostly relations, as `nodes.csv` and `edges.csv`.

    python benchmarks/intents/worlds/make_observatories.py

The names are written by hand; who works where and who discovered what is drawn with a fixed seed.
"""

from __future__ import annotations

import csv
import random
from pathlib import Path

RANDOM_SEED = 1931
FOLDER = Path(__file__).parent / "observatories"
REGIONS = ["Northmarch", "Tessaly", "Sunder Isles|The Sunders", "Lowmere"]
TOWNS = {
    "Kelmar": 0,
    "Varnholm": 0,
    "Ebbelton": 0,
    "Skarholt": 0,
    "Tessaly": 1,
    "Ivendale": 1,
    "Marrowgate": 1,
    "Upper Quenby": 1,
    "Corrin Bay|Port Corrin": 2,
    "Saltreach": 2,
    "Lisk": 2,
    "Dunmere": 3,
    "Pellow": 3,
    "Fenlow|Fenlow-on-Ditch": 3,
}
UNIVERSITIES = {
    "University of Kelmar|Kelmar University": "Kelmar",
    "University of Varnholm": "Varnholm",
    "Ivendale Polytechnic": "Ivendale",
    "Saltreach College": "Saltreach",
    "Marrowgate Institute of Optics|MIO": "Marrowgate",
    "Royal Academy of Tessaly|RAT": "Tessaly",
    "Pellow University": "Pellow",
}
OBSERVATORIES = {
    "Skarholt Sky Observatory|SSO": "Skarholt",
    "Hollin Ridge Observatory|HRO": "Kelmar",
    "Hollin Vale Observatory": "Ivendale",
    "Mount Ebbel Observatory|Ebbel Peak Station": "Ebbelton",
    "Cape Tirrel Observatory": "Corrin Bay",
    "Quenby Dome|Old Dome": "Upper Quenby",
    "Saint Ovin Observatory": "Tessaly",
    "Plainwater Radio Station": "Dunmere",
    "Dunmere Observatory": "Dunmere",
    "Ostrel Observatory": "Lisk",
    "Fenlow Observatory": "Fenlow",
    "High Carrow Observatory|HCO": "Kelmar",
}
WORKSHOPS = [
    "Harrow & Pike",
    "Lenswright Brothers",
    "Castellan Glassworks|Castellan",
    "Ormond Instruments",
    "Tidewell Optics",
    "Voss and Daughters",
]
FOUNDATIONS = ["Bellamy Trust", "Starfield Fund", "Greywick Foundation", "Nightjar Endowment", "Coppergate Society"]
TELESCOPES = [
    "Great Northern Reflector|GNR",
    "Little Northern Reflector",
    "Lumen",
    "Owl's Eye",
    "Tall Maud|Maud",
    "Iron Lily",
    "Old Faithkeeper",
    "Blue Lantern",
    "Heron Refractor",
    "Kestrel Array",
    "Wren Camera",
    "Sable Astrograph",
    "Merrow Telescope",
    "Brandvik Telescope",
    "Twin Sentinel East",
    "Twin Sentinel West",
    "Hushed Dish",
    "Big Thistle",
    "Quartz Finder",
    "Pilgrim",
    "Night Ferry",
    "Silver Ladle",
    "Candlewick",
    "Foxglove Transit",
    "Long Tom Refractor|Long Tom",
    "Ember Scope",
]
ASTRONOMERS = [
    "Ada Merrow",
    "Orsolya Brandvik",
    "Teun Brandvik",
    "Ilse Brandvik",
    "Jonas Werle",
    "Jonas Werle",
    "Petra Quillon|Petra the Patient",
    "Anselm Dray",
    "Marit Oskeland",
    "Cosmo Tarrant",
    "Hedda Lunt",
    "Bram Ostrow",
    "Yvette Sorrel",
    "Lucan Feld",
    "Nadia Pavenko",
    "Rufus Copley",
    "Sigrun Vale",
    "Tomas Irrgang",
    "Una Kestleton|U. K. Kestleton",
    "Viktor Amsel",
    "Wanda Przybor",
    "Xenia Holt",
    "Zeno Barbirol",
    "Clara Wintle",
    "Dmitri Fallow",
    "Esme Rook",
    "Felix Ondry",
    "Greta Lindqvist-Moor",
    "Hugo Starling",
    "Ines Cardoval",
    "Joachim Teller",
    "Kirsten Abel",
    "Leopold Nagy-Szabo",
    "Mina Thackeray",
    "Nils Overgaard",
    "Odile Fontanne",
    "Percy Underhay",
    "Quentin Marsh",
    "Rosalind Eke",
    "Søren Bjelke|Soren the Lynx",
]
COMETS = [
    "Lumen",
    "Ashwing",
    "Greyfeather",
    "Tallow Star",
    "Wandering Ash",
    "Icehart",
    "Morrigan's Veil",
    "Saltspark",
    "Fool's Lantern",
    "Hourglass",
    "Thistledown",
    "Redtail",
    "Little Ghost",
    "Great Ghost",
    "Needle",
    "Winterbourne",
    "Oathbreaker",
    "Pilot Fish",
    "Bellwether",
    "Snowmaiden",
    "Driftglass",
    "Copperhead",
    "Silver Hare",
    "Marrow's Torch",
    "Vagabond",
    "Last Guest",
    "Sheepdog",
    "Tinderbox",
    "Blue Widow",
    "Quarrel",
]


def main() -> None:
    """Write both tables."""
    rng = random.Random(RANDOM_SEED)
    nodes: list[list[str | int]] = []
    edges: list[tuple[str, str, str]] = []

    def add(kind: str, prefix: str, names: list[str], **columns: list[int]) -> list[str]:
        ids = [f"{prefix}{number:02d}" for number in range(1, len(names) + 1)]
        for place, (id_, entry) in enumerate(zip(ids, names, strict=True)):
            name, _, aliases = entry.partition("|")
            years = [columns[column][place] if column in columns else "" for column in ("born", "first_light")]
            nodes.append([id_, kind, name, aliases, *years])
        return ids

    regions = add("region", "R", REGIONS)
    towns = add("town", "T", list(TOWNS))
    town_of = {entry.partition("|")[0]: id_ for entry, id_ in zip(TOWNS, towns, strict=True)}
    universities = add("university", "U", list(UNIVERSITIES))
    observatories = add("observatory", "O", list(OBSERVATORIES))
    workshops = add("workshop", "W", WORKSHOPS)
    foundations = add("foundation", "F", FOUNDATIONS)
    lights = [rng.randrange(1884, 1979) for _ in TELESCOPES]
    telescopes = add("telescope", "S", TELESCOPES, first_light=lights)
    births = sorted(rng.sample(range(1850, 1950), len(ASTRONOMERS)))
    astronomers = add("astronomer", "A", ASTRONOMERS, born=rng.sample(births, len(births)))
    comets = add("comet", "C", [f"{name}|{_designation(rng)}" for name in COMETS])

    edges += [(town, regions[place], "located_in") for town, place in zip(towns, TOWNS.values(), strict=True)]
    edges += [(id_, town_of[town], "located_in") for id_, town in zip(universities, UNIVERSITIES.values(), strict=True)]
    edges += [
        (id_, town_of[town], "located_in") for id_, town in zip(observatories, OBSERVATORIES.values(), strict=True)
    ]
    for observatory in observatories:
        edges.append((observatory, rng.choice(universities), "operated_by"))
        edges.append((observatory, rng.choice(astronomers), "directed_by"))
    for foundation in foundations:
        edges += [(foundation, observatory, "funds") for observatory in rng.sample(observatories, rng.randint(2, 4))]
        edges += [(foundation, telescope, "funds") for telescope in rng.sample(telescopes, rng.randint(1, 3))]
    for telescope in telescopes:
        edges.append((telescope, rng.choice(observatories[:11]), "housed_at"))
        edges += [(telescope, workshop, "built_by") for workshop in rng.sample(workshops, rng.choice([1, 1, 1, 2]))]
    for place, astronomer in enumerate(astronomers):
        edges += [(astronomer, id_, "studied_at") for id_ in rng.sample(universities, rng.choice([1, 1, 2]))]
        edges += [(astronomer, id_, "works_at") for id_ in rng.sample(observatories, rng.choice([0, 1, 1, 1, 2]))]
        if place >= 5:
            teacher = rng.choice([id_ for id_ in astronomers[:20] if id_ != astronomer])
            if (teacher, astronomer, "supervised_by") not in edges:
                edges.append((astronomer, teacher, "supervised_by"))
    for comet in comets:
        edges += [(astronomer, comet, "discovered") for astronomer in rng.sample(astronomers, rng.choice([1, 1, 2]))]
        edges += [(comet, telescope, "observed_with") for telescope in rng.sample(telescopes, rng.choice([0, 1, 2, 3]))]
    edges += [(telescopes[12], astronomers[0], "named_after"), (telescopes[13], astronomers[1], "named_after")]
    edges += [(comets[23], astronomers[7], "named_after"), (comets[6], astronomers[34], "named_after")]
    edges += [(comet, astronomers[0], "named_after") for comet in (comets[1], comets[21])]

    FOLDER.mkdir(exist_ok=True)
    _write("nodes.csv", ["id", "type", "name", "aliases", "born", "first_light"], nodes)
    _write("edges.csv", ["source", "target", "type"], edges)


def _designation(rng: random.Random) -> str:
    return f"C/{rng.randrange(1890, 1979)} {rng.choice('ABCDEFGHKLM')}{rng.randint(1, 9)}"


def _write(name: str, header: list[str], rows: list[list[str | int]] | list[tuple[str, str, str]]) -> None:
    with (FOLDER / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
