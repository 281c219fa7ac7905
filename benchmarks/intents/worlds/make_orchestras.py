"""Write the invented world of orchestras, people, works and the places they meet in, as `nodes.csv` and `edges.csv`.

    python benchmarks/intents/worlds/make_orchestras.py

The names are written by hand, first names and surnames of players apart; sizes, dates, prices and who plays what where
are drawn with a fixed seed.
"""

from __future__ import annotations

import csv
import random
from datetime import date, timedelta
from pathlib import Path

RANDOM_SEED = 1786
FOLDER = Path(__file__).parent / "orchestras"
COUNTRIES = {"Valdoria": "Valdorian", "Kestria": "Kestrian", "Norrland-Ost": "Norrish", "Tessaly": "Tessalian"}
CITIES = [
    "Marvolen",
    "Brünnholt",
    "Castel Avara|Avara",
    "Øvreby",
    "Saint-Élo",
    "Dunmarrow",
    "Lisk",
    "Pellingrad",
    "Torvane",
    "Upper Wenlow",
    "Lower Wenlow",
    "Quillion",
    "Zabrze Nowe",
    "Haldane Ferry",
    "Orsay-le-Pont",
    "Miramonte",
    "Kråkenes",
    "Sable Point",
]
HALLS = [
    "Amalthea",
    "Marvolen Opera House|MOH",
    "Kornhalle",
    "The Glass Barn",
    "Salle Pérugin",
    "Old Exchange",
    "Tivoli Rooms",
    "Wenlow Assembly",
    "Ironworks Auditorium|Ironworks",
    "Teatro Corvo",
    "Riverside Dome",
    "Saint Brannoc's",
    "Quillion Playhouse",
    "Nordlys Hall",
    "The Copper Drum",
    "Lantern House",
    "Palais Vermeil",
    "Torvane",
    "Kråkenes Kapell",
    "Municipal Concert Hall Lisk|Lisk Municipal",
]
ORCHESTRAS = [
    "Marvolen Philharmonic|MPO",
    "Halcyon",
    "Brünnholt Staatskapelle",
    "Orchestre de Saint-Élo",
    "Dunmarrow Sinfonia",
    "The Lisk Players",
    "Pellingrad State Symphony|PSS",
    "Camerata Torvane",
    "Wenlow Band",
    "Quillion Strings",
    "Collegium Avara",
    "Øvreby Kammerorkester",
    "Ferrymen's Brass",
    "Miramonte Wind Society",
    "Nightjar Ensemble|The Nightjars",
    "Northern Lights Orchestra|NLO",
    "Ondine",
    "Sable Consort",
]
CONDUCTORS = [
    "Ambrose Teller",
    "Birgitta Lönn",
    "Cosimo Valdarno",
    "Desmond Achebe-Lund",
    "Eleni Kastros",
    "Fyodor Grabin",
    "Guinevere Stott",
    "Hyacinth Bellweather",
    "Ingmar Söderqvist|The Old Bear",
    "Jacinta Oyelaran",
    "Kasimir Wolff",
    "Léonie Duclair",
    "Marguerite Tann",
    "Niall Corrigan",
    "Oskar Wolff",
]
COMPOSERS = [
    "Anselm Rautavirta",
    "Béatrice Moulinet",
    "Caspar Quillfeather",
    "Dagny Thorsdatter",
    "Emeric Zoltay",
    "Fausto Pellegrin",
    "Gerda Immerwahr",
    "Honoré Lastelle",
    "Ilse Virelle",
    "Jerome Ashgrove",
    "Klára Novotna-Reis",
    "Ludovic Brandt",
    "Matilda Brandt",
    "Niels Åkerhjelm",
    "Octavia Sprague",
    "Piers Underhay",
    "Rosalind Fenn",
    "Sigurd Melk",
    "Tobias Grunewald|The Marvolen Nightingale",
    "Ursel Pohl",
    "Vaclav Hrdina",
    "Winifred Oakes",
]
WORKS = {
    "symphony": [
        "Winter Symphony",
        "Symphony No. 1 in D minor",
        "Symphony No. 2 in E flat",
        "Symphony of the Salt Road|Salt Road",
        "Pastoral of the North",
        "Symphony No. 4 in C",
        "The Unlit City",
        "Sinfonia Breve",
        "Symphony No. 9 in B minor",
        "Symphony of Clocks",
    ],
    "concerto": [
        "Concerto for Two Horns",
        "Cello Concerto in A minor",
        "The Swallow Concerto",
        "Double Concerto",
        "Concerto Grosso in G",
        "Concerto for the Left Hand",
        "Harp Concerto",
        "Violin Concerto in F",
        "Concerto of Bells",
    ],
    "opera": [
        "The Drowned Mill",
        "Ondine",
        "The Glassblower's Daughter",
        "King Halvard",
        "La Serrure",
        "The Three Apothecaries",
        "Amalthea",
        "The Tollkeeper",
    ],
    "quartet": [
        "Quartet of the Hours",
        "String Quartet No. 1",
        "String Quartet No. 3",
        "The Magpie Quartet|Magpie",
        "Wind Quartet in B flat",
        "Quartet for Late Guests",
        "Saxophone Quartet",
        "Fishmarket Quartet",
    ],
    "suite": [
        "Harvest Suite",
        "Suite for a Small Town",
        "The Almanac",
        "Mechanical Ballet",
        "Suite Vermeil",
        "Sketches of Øvreby",
        "The Ferry Timetable",
        "Suite of Thirteen Doors",
        "Herbarium",
    ],
    "overture": [
        "Comet Overture",
        "Overture to a Shipwreck",
        "Carnival at Lisk",
        "Festive Overture",
        "Overture for a Bridge",
        "The Magistrate",
        "Halcyon",
    ],
    "mass": [
        "Mass for Bright Mornings",
        "Missa Sine Nomine",
        "Requiem for a Lighthouse",
        "Requiem in F sharp minor",
        "Little Advent Mass",
        "Missa Corvina",
    ],
    "sonata": [
        "Sonata for an Empty Room",
        "Trumpet Sonata",
        "The Weathervane Sonata",
        "Sonata in Three Colours",
        "Duo Sonata",
        "Viola Sonata in D",
        "Moth Sonata",
    ],
}
INSTRUMENTS = {
    "strings": ["violin|fiddle", "viola", "cello|violoncello", "double bass|contrabass", "harp", "viola da gamba"],
    "woodwind": ["flute", "piccolo", "oboe", "cor anglais|English horn", "clarinet", "bassoon", "saxophone"],
    "brass": ["trumpet", "French horn", "trombone", "tuba", "serpent"],
    "percussion": ["timpani|kettledrums", "glockenspiel", "vibraphone", "tubular bells"],
    "keyboard": ["celesta", "harpsichord", "pipe organ", "piano"],
}
FIRST_NAMES = [
    "Agnieszka",
    "Bastien",
    "Cordelia",
    "Dmitri",
    "Edda",
    "Florian",
    "Greta",
    "Hamish",
    "Iolanthe",
    "Jaromir",
    "Kirsten",
    "Lorenzo",
    "Maëlle",
    "Nikolai",
    "Odile",
    "Pascoe",
    "Quirin",
    "Rosamund",
    "Séverin",
    "Thyra",
    "Ulla",
    "Viggo",
    "Wanda",
    "Xenia",
    "Yann",
    "Žofia",
    "Aurelio",
    "Bronwen",
    "Cyprian",
    "Delphine",
    "Einar",
    "Fenella",
    "Gideon",
    "Hedda",
    "Ismay",
    "Joaquín",
    "Katya",
    "Linnea",
    "Mortimer",
    "Noor",
    "Orsolya",
    "Peregrine",
    "Ragnhild",
    "Søren",
    "Tamsin",
    "Ulrich",
    "Verity",
    "Wolfram",
    "Ysolde",
    "Zoltan",
]
SURNAMES = [
    "Abendroth",
    "Barczak",
    "Caldwick",
    "Dubrovin",
    "Espinel",
    "Fairweather",
    "Grøndahl",
    "Hollings",
    "Ibsgaard",
    "Janáček-Fell",
    "Kettering",
    "Lazarev",
    "Morpurgo",
    "Nightingale",
    "Ólafsdóttir",
    "Pendergast",
    "Quennell",
    "Ravensworth",
    "Szymborski",
    "Trevanion",
    "Urquiza",
    "Vandermeer",
    "Whitlock",
    "Ximénez",
    "Yarrow",
    "Zeidler",
    "Ashworth",
    "Bellini",
    "Crowthorne",
    "Dragomir",
    "Eastlake",
    "Fontaine",
    "Gwynne",
    "Hartmann",
    "Ivarsson",
    "Jessop",
    "Kovalenko",
    "Lindqvist",
    "Marchetti",
    "Nakamura",
    "Oakes",
    "Petrosyan",
    "Rasmussen",
    "Sauvage",
    "Thackeray",
    "Umbridge",
    "Vasquez",
    "Wolff",
    "Yeoman",
    "Zielinski",
    "Brandt",
    "Sprague",
    "Tallow",
]
MATERIALS = {"strings": ["maple", "spruce"], "woodwind": ["ebony", "boxwood", "silver"]}
OCCASIONS = {
    "New Year Gala": 1,
    "Spring Matinee": 4,
    "Founders' Night": 6,
    "Harvest Concert": 9,
    "Lantern Serenade": 11,
    "Youth Evening": 2,
    "Advent Vespers": 12,
    "Regatta Prom": 7,
}
MASSES_KG = {
    "strings": (0.4, 14),
    "woodwind": (0.2, 7),
    "brass": (1, 12),
    "percussion": (8, 140),
    "keyboard": (40, 600),
}
COLUMNS = [
    "id",
    "type",
    "name",
    "aliases",
    "born",
    "died",
    "nationality",
    "salary_eur",
    "left_handed",
    "fee_eur",
    "style",
    "founded",
    "budget_eur",
    "tours_abroad",
    "form",
    "written",
    "duration_min",
    "seats",
    "opened",
    "height_m",
    "material",
    "has_organ",
    "family",
    "price_eur",
    "mass_kg",
    "country",
    "population",
    "elevation_m",
    "held_on",
    "ticket_price_eur",
    "attendance",
    "sold_out",
    "description",
]
DESCRIPTIONS = [
    "Lost for forty years and found in an attic.",
    "Written in a single week during a flood.",
    "Often cut by the third movement in performance.",
    "The score asks for a live goose.",
]


class World:
    """The tables while they are being drawn."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.nodes: list[dict[str, object]] = []
        self.edges: list[tuple[str, str, str]] = []

    def add(self, kind: str, prefix: str, entry: str, **properties: object) -> str:
        name, _, aliases = entry.partition("|")
        id_ = f"{prefix}{1 + len(self.ids(kind))}"
        self.nodes.append({"id": id_, "type": kind, "name": name, "aliases": aliases, **properties})
        return id_

    def ids(self, kind: str) -> list[str]:
        return [str(node["id"]) for node in self.nodes if node["type"] == kind]

    def years(self, name: str) -> dict[str, int]:
        """Return the year of a date of the nodes that have it, by id."""
        return {str(node["id"]): int(str(node[name])[:4]) for node in self.nodes if node.get(name)}

    def link(self, source: str, targets: list[str], kind: str) -> None:
        self.edges += [(source, target, kind) for target in targets]

    def some(self, value: object, share: float = 0.15) -> object:
        """Return the value, or nothing at all for a share of the rows."""
        return "" if self.rng.random() < share else value

    def day(self, first: int, last: int) -> str:
        start = date(first, 1, 1)
        return str(start + timedelta(days=self.rng.randrange((date(last, 12, 31) - start).days)))

    def flag(self, share: float) -> str:
        return "true" if self.rng.random() < share else "false"


def add_places(w: World) -> None:
    """Add cities and halls."""
    for place, name in enumerate(CITIES):
        w.add(
            "city",
            "t",
            name,
            country=list(COUNTRIES)[place % 4],
            population=w.some(w.rng.randrange(9, 1900) * 1000, 0.1),
            elevation_m=w.rng.randrange(2, 940),
        )
    for name in HALLS:
        w.add(
            "hall",
            "h",
            name,
            seats=w.rng.randrange(180, 3200, 10),
            opened=w.rng.randrange(1748, 2016),
            height_m=w.some(round(w.rng.uniform(8, 41), 1), 0.2),
            material=w.rng.choice(["brick", "brick", "stone", "timber", "concrete", "glass"]),
            has_organ=w.flag(0.4),
        )


def add_orchestras_and_instruments(w: World) -> None:
    for name in ORCHESTRAS:
        w.add(
            "orchestra",
            "o",
            name,
            founded=w.rng.randrange(1781, 2012),
            budget_eur=w.some(w.rng.randrange(2, 320) * 100_000, 0.2),
            style=w.rng.choice(["symphonic", "symphonic", "chamber", "baroque"]),
            tours_abroad=w.flag(0.5),
        )
    for family, names in INSTRUMENTS.items():
        for name in names:
            w.add(
                "instrument",
                "i",
                name,
                family=family,
                material=w.rng.choice(MATERIALS.get(family, ["brass", "steel", "maple"])),
                price_eur=w.some(w.rng.randrange(8, 900) * 50),
                mass_kg=w.some(round(w.rng.uniform(*MASSES_KG[family]), 1)),
            )


def add_people(w: World) -> None:
    """Add conductors, composers and musicians."""
    adjectives = list(COUNTRIES.values())
    for name in CONDUCTORS:
        w.add(
            "conductor",
            "d",
            name,
            born=w.day(1936, 1988),
            nationality=w.rng.choice(adjectives),
            fee_eur=w.some(w.rng.randrange(20, 480) * 100),
        )
    for name in COMPOSERS:
        born = w.rng.randrange(1712, 1986)
        died = born + w.rng.randint(31, 88)
        w.add(
            "composer",
            "c",
            name,
            born=w.day(born, born),
            died=w.day(died, died) if died < 2018 else "",
            nationality=w.rng.choice(adjectives),
            style="baroque"
            if born < 1735
            else w.rng.choice(["classical", "romantic"] if born < 1880 else ["romantic", "serialist", "minimalist"]),
        )
    w.rng.shuffle(first_names := FIRST_NAMES.copy())
    w.rng.shuffle(surnames := SURNAMES.copy())
    for number in range(104):
        w.add(
            "musician",
            "m",
            f"{first_names[number % len(first_names)]} {surnames[number % len(surnames)]}",
            born=w.some(w.day(1941, 2001), 0.08),
            nationality=w.rng.choice(adjectives),
            salary_eur=w.some(w.rng.randrange(210, 960) * 100, 0.2),
            left_handed=w.flag(0.2),
        )


def add_works(w: World) -> None:
    """Add works, each with its composer."""
    composers, born_of = w.ids("composer"), w.years("born")
    titles = [(form, name) for form, names in WORKS.items() for name in names]
    w.rng.shuffle(titles)
    for number, (form, name) in enumerate(titles):
        composer = composers[number] if number < len(composers) else w.rng.choice(composers)
        longest = {"opera": 195, "mass": 95, "symphony": 78, "concerto": 52}.get(form, 38)
        work = w.add(
            "work",
            "W0" if number < 9 else "W",
            name,
            form=form,
            written=w.some(born_of[composer] + w.rng.randint(17, 31), 0.12),
            duration_min=w.some(w.rng.randint(longest // 3, longest), 0.1),
            description=w.some(w.rng.choice(DESCRIPTIONS), 0.75),
        )
        w.link(composer, [work], "composed")


def add_concerts(w: World) -> None:
    for year in range(2016, 2024):
        for occasion, month in OCCASIONS.items():
            if w.rng.random() < 0.75:
                w.add(
                    "concert",
                    "EV-1" if len(w.ids("concert")) > 8 else "EV-10",
                    f"{occasion} {year}",
                    held_on=str(date(year, month, w.rng.randint(1, 28))),
                    ticket_price_eur=w.some(w.rng.randrange(8, 140), 0.15),
                    attendance=w.some(w.rng.randrange(90, 2900), 0.15),
                    sold_out=w.flag(0.35),
                )


def settle(w: World) -> None:
    """Put halls, orchestras and people in cities, those with the name of a city in that city."""
    cities, conductors = w.ids("city"), w.ids("conductor")
    name_of = {str(node["id"]): str(node["name"]) for node in w.nodes}

    def home(id_: str, otherwise: str) -> str:
        words = set(name_of[id_].split())
        return next((city for city in cities if words & set(name_of[city].split())), otherwise)

    for place, hall in enumerate(w.ids("hall")):
        w.link(hall, [home(hall, cities[place % 18] if place > 2 else cities[0])], "located_in")
    for orchestra in w.ids("orchestra"):
        w.link(orchestra, [home(orchestra, w.rng.choice(cities))], "based_in")
        if w.rng.random() < 0.9:
            w.link(orchestra, [w.rng.choice(conductors)], "conducted_by")
    for person in [*w.ids("musician"), *conductors, *w.ids("composer")]:
        if w.rng.random() < 0.92:
            w.link(person, [w.rng.choice(cities)], "born_in")


def teach(w: World) -> None:
    """Say what and where musicians play, and who taught whom."""
    born_of, died_of = w.years("born"), w.years("died")
    for musician in w.ids("musician"):
        w.link(musician, w.rng.sample(w.ids("instrument"), w.rng.choice([1, 1, 1, 2, 2, 3])), "plays")
        w.link(musician, w.rng.sample(w.ids("orchestra"), w.rng.choice([0, 1, 1, 1, 1, 2, 2, 3])), "plays_in")
    for colleagues in (w.ids("musician"), w.ids("composer")):
        for pupil in colleagues:
            born = born_of.get(pupil, 0)
            older = [
                one
                for one in colleagues
                if born_of.get(one, 2100) + 15 < born < min(born_of[one] + 60, died_of.get(one, 2100) - 12)
            ]
            if older and w.rng.random() < 0.6:
                w.link(pupil, w.rng.sample(older, min(len(older), w.rng.randint(1, 2))), "studied_under")


def perform(w: World) -> None:
    """Say what works are for, where they were first heard, and who gave which concert."""
    halls, conductors = w.ids("hall"), w.ids("conductor")
    for work in w.ids("work"):
        if w.rng.random() < 0.85:
            w.link(work, [w.rng.choice(halls)], "premiered_at")
        w.link(work, w.rng.sample(w.ids("instrument"), w.rng.randint(1, 5)), "scored_for")
        if w.rng.random() < 0.4:
            honoured = conductors if w.rng.random() < 0.4 else w.ids("musician")[:40]
            w.link(work, [w.rng.choice(honoured)], "dedicated_to")
    for concert in w.ids("concert"):
        w.link(concert, [w.rng.choice(halls)], "held_at")
        w.link(concert, w.rng.sample(w.ids("orchestra"), w.rng.choice([1, 1, 1, 2])), "performed_by")
        w.link(concert, w.rng.sample(w.ids("work"), w.rng.randint(2, 4)), "features")
        if w.rng.random() < 0.85:
            w.link(concert, [w.rng.choice(conductors)], "conducted_by")


def main() -> None:
    """Write both tables."""
    w = World(random.Random(RANDOM_SEED))
    for step in (
        add_places,
        add_orchestras_and_instruments,
        add_people,
        add_works,
        add_concerts,
        settle,
        teach,
        perform,
    ):
        step(w)

    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / "nodes.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(w.nodes)
    with (FOLDER / "edges.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["source", "target", "type"])
        rows.writerows(w.edges)


if __name__ == "__main__":
    main()
