"""A small invented world of German shipyards, and one of English films, with German questions and their answers.

What is expected is computed from the rows, by plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from orienteer import Graph


class Schiff(NamedTuple):
    name: str
    laenge: int
    baujahr: int
    material: str
    werft: str
    eigner: str
    haefen: tuple[str, ...]


SCHIFFE = (
    Schiff("Albatros", 82, 1931, "Stahl", "Kestrel", "Nordfracht", ("Halvik", "Grisholm")),
    Schiff("Basstölpel", 40, 1948, "Holz", "Kestrel", "Tönnies", ("Halvik",)),
    Schiff("Eiderente", 120, 1967, "Stahl", "Ostersund", "Nordfracht", ("Grisholm", "Norrby")),
    Schiff("Fulmar", 55, 1950, "Holz", "Ostersund", "Polarschlepp", ("Norrby",)),
    Schiff("Gryllteiste", 150, 1990, "Stahl", "Marau", "Nordfracht", ()),
    Schiff("Kormoran", 33, 1925, "Holz", "Kestrel", "Tönnies", ("Halvik", "Grisholm", "Norrby")),
    Schiff("Mantelmöwe", 99, 2003, "Stahl", "Marau", "Polarschlepp", ("Halvik",)),
)
WERFTEN = {
    "Kestrel": (1890, "Halvik"),
    "Ostersund": (1921, "Norrby"),
    "Marau": (1960, "Grisholm"),
    "Leerwerft": (1975, "Norrby"),
}
KAPITAENE = {"Ida Falk": ("Albatros", 1959), "Jon Brandt": ("Eiderente", 1971), "Mila Öhm": ("Kormoran", 1980)}


def werften(path: Path) -> Graph:
    """Return the German graph."""
    nodes = [
        {
            "id": schiff.name,
            "type": "Schiff",
            "name": schiff.name,
            "properties": {"länge_m": schiff.laenge, "Baujahr": schiff.baujahr, "Material": schiff.material},
        }
        for schiff in SCHIFFE
    ]
    nodes += [
        {"id": name, "type": "Werft", "name": name, "properties": {"gegründet": year}}
        for name, (year, _) in WERFTEN.items()
    ]
    nodes += [{"id": name, "type": "Eigner", "name": name} for name in ("Nordfracht", "Tönnies", "Polarschlepp")]
    nodes += [{"id": name, "type": "Hafen", "name": name} for name in ("Halvik", "Grisholm", "Norrby")]
    nodes += [
        {"id": name, "type": "Kapitän", "name": name, "properties": {"Geburtsjahr": year}}
        for name, (_, year) in KAPITAENE.items()
    ]
    edges = [{"source": schiff.name, "type": "gebaut_von", "target": schiff.werft} for schiff in SCHIFFE]
    edges += [{"source": schiff.name, "type": "gehört", "target": schiff.eigner} for schiff in SCHIFFE]
    edges += [
        {"source": schiff.name, "type": "läuft_an", "target": hafen} for schiff in SCHIFFE for hafen in schiff.haefen
    ]
    edges += [{"source": name, "type": "liegt_in", "target": hafen} for name, (_, hafen) in WERFTEN.items()]
    edges += [{"source": name, "type": "befehligt", "target": schiff} for name, (schiff, _) in KAPITAENE.items()]
    return Graph.from_records(nodes, edges, path=path)


def ships(holds: Callable[[Schiff], bool]) -> set[str]:
    return {schiff.name for schiff in SCHIFFE if holds(schiff)}


def yards(holds: Callable[[str, int, str], bool]) -> set[str]:
    return {name for name, (year, hafen) in WERFTEN.items() if holds(name, year, hafen)}


GERMAN: list[tuple[str, object]] = [
    ("Welche Schiffe wurden von Kestrel gebaut?", ships(lambda s: s.werft == "Kestrel")),
    ("Nenne alle Schiffe, die von Marau gebaut wurden.", ships(lambda s: s.werft == "Marau")),
    ("Wie viele Schiffe wurden von Kestrel gebaut?", len(ships(lambda s: s.werft == "Kestrel"))),
    ("Wie viele Schiffe gibt es?", len(SCHIFFE)),
    ("Wer hat die Albatros gebaut?", {"Kestrel"}),
    ("Welche Werft hat die Eiderente gebaut?", {"Ostersund"}),
    ("Welche Schiffe hat Marau gebaut?", ships(lambda s: s.werft == "Marau")),
    ("Von wem wurde die Eiderente gebaut?", {"Ostersund"}),
    ("Welche Schiffe gehören Nordfracht?", ships(lambda s: s.eigner == "Nordfracht")),
    ("Wem gehört die Albatros?", {"Nordfracht"}),
    ("Welche Schiffe laufen Halvik an?", ships(lambda s: "Halvik" in s.haefen)),
    ("Welche Häfen läuft die Kormoran an?", {"Halvik", "Grisholm", "Norrby"}),
    ("Wie viele Schiffe laufen Norrby an?", len(ships(lambda s: "Norrby" in s.haefen))),
    ("Welche Schiffe laufen Halvik nicht an?", ships(lambda s: "Halvik" not in s.haefen)),
    ("Welche Schiffe wurden nicht von Kestrel gebaut?", ships(lambda s: s.werft != "Kestrel")),
    ("Welche Werften haben kein Schiff gebaut?", {"Leerwerft"}),
    (
        "Welche Schiffe, die von Kestrel gebaut wurden, gehören Tönnies?",
        ships(lambda s: s.werft == "Kestrel" and s.eigner == "Tönnies"),
    ),
    ("Wie lang ist die Albatros?", 82),
    ("Was ist das Baujahr der Fulmar?", 1950),
    ("Wann wurde die Fulmar gebaut?", 1950),
    ("In welchem Jahr wurde Kestrel gegründet?", 1890),
    ("Wann wurde die Werft Marau gegründet?", 1960),
    ("Welche Schiffe sind länger als 80 Meter?", ships(lambda s: s.laenge > 80)),
    (
        "Welche Schiffe, die länger als 80 Meter sind, laufen Grisholm an?",
        ships(lambda s: s.laenge > 80 and "Grisholm" in s.haefen),
    ),
    ("Welche Schiffe wurden vor 1950 gebaut?", ships(lambda s: s.baujahr < 1950)),
    ("Welche Schiffe wurden nach 1950 gebaut?", ships(lambda s: s.baujahr > 1950)),
    ("Welche Schiffe wurden seit 1950 gebaut?", ships(lambda s: s.baujahr >= 1950)),
    ("Welche Schiffe wurden zwischen 1930 und 1960 gebaut?", ships(lambda s: 1930 <= s.baujahr <= 1960)),
    ("Welche Schiffe wurden 1931 gebaut?", ships(lambda s: s.baujahr == 1931)),
    ("Welche Schiffe wurden im Jahr 1967 gebaut?", ships(lambda s: s.baujahr == 1967)),
    (
        "Wie viele Schiffe wurden vor 1950 von Kestrel gebaut?",
        len(ships(lambda s: s.baujahr < 1950 and s.werft == "Kestrel")),
    ),
    ("Welche Werften wurden vor 1930 gegründet?", yards(lambda n, y, h: y < 1930)),
    ("Welches ist das längste Schiff?", {"Gryllteiste"}),
    ("Welches Schiff ist am längsten?", {"Gryllteiste"}),
    ("Was ist das älteste Schiff?", {"Kormoran"}),
    ("Welches ist das kürzeste Schiff von Nordfracht?", {"Albatros"}),
    ("Nenne die drei längsten Schiffe.", {"Gryllteiste", "Eiderente", "Mantelmöwe"}),
    ("Welche Werft hat die meisten Schiffe gebaut?", {"Kestrel"}),
    ("Welches Schiff läuft die meisten Häfen an?", {"Kormoran"}),
    ("Welcher Eigner hat die meisten Schiffe?", {"Nordfracht"}),
    ("Ist die Albatros länger als die Fulmar?", "yes"),
    ("Wurde die Albatros von Kestrel gebaut?", "yes"),
    ("Wurde die Albatros von Marau gebaut?", "no"),
    ("Gehört die Fulmar Nordfracht?", "no"),
    ("Läuft die Albatros Halvik an?", "yes"),
    ("Hat Kestrel die Albatros gebaut?", "yes"),
    ("Gibt es Schiffe, die länger als 140 Meter sind?", "yes"),
    ("Gibt es Schiffe, die länger als 200 Meter sind?", "no"),
    ("Welche Schiffe sind aus Holz?", ships(lambda s: s.material == "Holz")),
    ("Wie viele Schiffe bestehen aus Holz?", len(ships(lambda s: s.material == "Holz"))),
    ("Welche Werften liegen in Norrby?", yards(lambda n, y, h: h == "Norrby")),
    ("In welchem Hafen liegt Kestrel?", {"Halvik"}),
    ("Wer befehligt die Albatros?", {"Ida Falk"}),
    ("Welches Schiff befehligt Jon Brandt?", {"Eiderente"}),
    ("Welche Kapitäne wurden nach 1960 geboren?", {"Jon Brandt", "Mila Öhm"}),
    ("Welche Schiffe wurden von Kestrel oder Marau gebaut?", ships(lambda s: s.werft in ("Kestrel", "Marau"))),
    ("Welche Schiffe laufen Halvik und Grisholm an?", ships(lambda s: {"Halvik", "Grisholm"} <= set(s.haefen))),
    ("Welche Schiffe laufen mindestens zwei Häfen an?", ships(lambda s: len(s.haefen) >= 2)),
    ("Welche Schiffe laufen keinen Hafen an?", ships(lambda s: not s.haefen)),
    ("Wie lang sind die Schiffe im Durchschnitt?", sum(s.laenge for s in SCHIFFE) / len(SCHIFFE)),
    (
        "Welche Schiffe gehören Nordfracht und wurden vor 1950 gebaut?",
        ships(lambda s: s.eigner == "Nordfracht" and s.baujahr < 1950),
    ),
    ("Nenne alle Schiffe von Tönnies.", ships(lambda s: s.eigner == "Tönnies")),
    ("Wann wurde Jon Brandt geboren?", 1971),
    ("welche schiffe gehören tönnies", ships(lambda s: s.eigner == "Tönnies")),
    ("Gib mir eine Liste aller Schiffe, die Halvik anlaufen.", ships(lambda s: "Halvik" in s.haefen)),
    (
        "Welche Schiffe von Nordfracht wurden vor 1950 gebaut?",
        ships(lambda s: s.eigner == "Nordfracht" and s.baujahr < 1950),
    ),
    ("Zeige mir alle Schiffe von Nordfracht", ships(lambda s: s.eigner == "Nordfracht")),
    ("Welche Schiffe hat Kestrel vor 1940 gebaut?", ships(lambda s: s.werft == "Kestrel" and s.baujahr < 1940)),
    ("Welche Schiffe hat Kestrel nicht gebaut?", ships(lambda s: s.werft != "Kestrel")),
    ("Wie viele Schiffe besitzt Nordfracht?", len(ships(lambda s: s.eigner == "Nordfracht"))),
    ("Welche Schiffe gehören nicht Nordfracht?", ships(lambda s: s.eigner != "Nordfracht")),
    ("Welche Schiffe gehören weder Nordfracht noch Tönnies?", ships(lambda s: s.eigner == "Polarschlepp")),
    ("Welche Schiffe liefen nach 1960 vom Stapel?", ships(lambda s: s.baujahr > 1960)),
    ("Welche Werft baute die Mantelmöwe?", {"Marau"}),
    ("Welche Werft hat die wenigsten Schiffe gebaut?", {"Leerwerft"}),
    ("Welcher Hafen wird von den meisten Schiffen angelaufen?", {"Halvik"}),
    ("Welche Schiffe laufen mehr als einen Hafen an?", ships(lambda s: len(s.haefen) > 1)),
    ("Welche Schiffe laufen genau einen Hafen an?", ships(lambda s: len(s.haefen) == 1)),
    ("Welche Schiffe sind kürzer als 50 m?", ships(lambda s: s.laenge < 50)),
    ("Welche Schiffe sind mindestens 99 Meter lang?", ships(lambda s: s.laenge >= 99)),
    ("Welches ist das zweitlängste Schiff?", {"Eiderente"}),
    ("Welches Schiff wurde zuerst gebaut?", {"Kormoran"}),
    ("Wie lang ist das längste Schiff?", 150),
    ("Wie lang ist Nordfrachts längstes Schiff?", 150),
    ("Welche Länge hat die Albatros?", 82),
    ("Ist die Kormoran aus Holz?", "yes"),
    ("Sind alle Schiffe von Kestrel aus Holz?", "no"),
    ("Liegt Kestrel in Halvik?", "yes"),
    ("Gibt es eine Werft, die kein Schiff gebaut hat?", "yes"),
    ("Welche Schiffe sind älter als die Fulmar?", ships(lambda s: s.baujahr < 1950)),
    ("Welche Schiffe wurden in den 1960er Jahren gebaut?", ships(lambda s: 1960 <= s.baujahr < 1970)),
    ("Welche Schiffe wurden bis 1950 gebaut?", ships(lambda s: s.baujahr <= 1950)),
    (
        "Welche Schiffe wurden zwischen 1940 und 1970 gebaut und laufen Norrby an?",
        ships(lambda s: 1940 <= s.baujahr <= 1970 and "Norrby" in s.haefen),
    ),
    (
        "Welche Schiffe, deren Eigner Tönnies ist, laufen Norrby an?",
        ships(lambda s: s.eigner == "Tönnies" and "Norrby" in s.haefen),
    ),
    ("Wem gehören die Schiffe, die von Marau gebaut wurden?", {"Nordfracht", "Polarschlepp"}),
    ("Welche Schiffe haben keinen Kapitän?", ships(lambda s: s.name not in {of for of, _ in KAPITAENE.values()})),
    ("Welcher Kapitän befehligt das älteste Schiff?", {"Mila Öhm"}),
    ("Was ist die Gesamtlänge aller Schiffe?", sum(s.laenge for s in SCHIFFE)),
    ("Welche Schiffe bestehen nicht aus Stahl?", ships(lambda s: s.material != "Stahl")),
    ("Schiffe aus Holz, die Halvik anlaufen", ships(lambda s: s.material == "Holz" and "Halvik" in s.haefen)),
    ("Welche Schiffe außer der Albatros gehören Nordfracht?", {"Eiderente", "Gryllteiste"}),
    ("Welche Schiffe wurden von der ältesten Werft gebaut?", ships(lambda s: s.werft == "Kestrel")),
    # what nobody can answer
    ("Welche Schiffe sind untergegangen?", None),
    ("Wie heißt der Koch der Albatros?", None),
    ("Wie viele Passagiere hat die Albatros?", None),
    ("Welche Schiffe mögen Kinder?", None),
    ("Warum wurde die Albatros gebaut?", None),
    ("Welche Schiffe wurden von Blohm gebaut?", None),
    ("Welche Schiffe sind rot?", None),
    ("Welche Schiffe fahren schneller als 20 Knoten?", None),
    ("Welche Schiffe wurden fast von Kestrel gebaut?", None),
    ("Welche ehemaligen Schiffe gehörten Nordfracht?", None),
    ("Welche Schiffe laufen Halvik nur im Sommer an?", None),
    ("Welche Schiffe laufen noch Halvik an?", None),
    ("Welche Schiffe wurden um 1950 gebaut?", None),
    ("Welche Schiffe wurden am 3. Mai 1950 gebaut?", None),
    ("Kennt Ida Falk Jon Brandt?", None),
    ("Was kostet die Albatros?", None),
    ("Wie hoch ist die Albatros?", None),
]


class Film(NamedTuple):
    name: str
    year: int
    minutes: int
    director: str
    cast: tuple[str, ...]
    genre: str


FILMS = (
    Film("Night Ferry", 1961, 95, "Ada Holm", ("Noor Vik", "Tomas Lind"), "Drama"),
    Film("Salt Road", 1974, 128, "Ada Holm", ("Kim Roe",), "Comedy"),
    Film("Winter Harbour", 1988, 102, "Ines Varga", ("Noor Vik",), "Drama"),
    Film("The Quiet Mill", 1993, 141, "Tomas Lind", ("Kim Roe", "Noor Vik", "Ada Holm"), "Thriller"),
    Film("Paper Boats", 2004, 88, "Ines Varga", (), "Comedy"),
)
BORN = {
    "Ada Holm": (1930, "Orsova"),
    "Noor Vik": (1941, "Gull Island"),
    "Ines Varga": (1952, "Orsova"),
    "Tomas Lind": (1949, "Orsova"),
    "Kim Roe": (1950, "Gull Island"),
}


def films(path: Path) -> Graph:
    """Return the English graph."""
    nodes = [
        {
            "id": film.name,
            "type": "film",
            "name": film.name,
            "properties": {"release_year": film.year, "runtime_minutes": film.minutes},
        }
        for film in FILMS
    ]
    nodes += [
        {"id": name, "type": "person", "name": name, "properties": {"birth_year": year}}
        for name, (year, _) in BORN.items()
    ]
    nodes += [{"id": name, "type": "genre", "name": name} for name in ("Drama", "Comedy", "Thriller")]
    nodes += [{"id": name, "type": "city", "name": name} for name in ("Orsova", "Gull Island")]
    edges = [{"source": film.name, "type": "directed_by", "target": film.director} for film in FILMS]
    edges += [{"source": name, "type": "acted_in", "target": film.name} for film in FILMS for name in film.cast]
    edges += [{"source": film.name, "type": "has_genre", "target": film.genre} for film in FILMS]
    edges += [{"source": name, "type": "born_in", "target": place} for name, (_, place) in BORN.items()]
    return Graph.from_records(nodes, edges, path=path)


def found(holds: Callable[[Film], bool]) -> set[str]:
    return {film.name for film in FILMS if holds(film)}


ENGLISH: list[tuple[str, object]] = [
    ("Welche Filme hat Ada Holm gedreht?", found(lambda f: f.director == "Ada Holm")),
    ("Wer hat Salt Road gedreht?", {"Ada Holm"}),
    ("Wer führte Regie bei Night Ferry?", {"Ada Holm"}),
    ("Wer drehte Winter Harbour?", {"Ines Varga"}),
    ("Wie viele Filme hat Ines Varga gedreht?", 2),
    ("Welche Personen haben in Night Ferry gespielt?", {"Noor Vik", "Tomas Lind"}),
    ("Wer spielte in The Quiet Mill?", {"Kim Roe", "Noor Vik", "Ada Holm"}),
    ("In welchen Filmen hat Noor Vik gespielt?", found(lambda f: "Noor Vik" in f.cast)),
    ("In welchen Filmen spielte Kim Roe mit?", found(lambda f: "Kim Roe" in f.cast)),
    ("Welche Filme wurden nicht von Ada Holm gedreht?", found(lambda f: f.director != "Ada Holm")),
    ("Wie viele Filme sind länger als 100 Minuten?", len(found(lambda f: f.minutes > 100))),
    ("Welcher Film ist am längsten?", {"The Quiet Mill"}),
    ("Wer hat die meisten Filme gedreht?", {"Ada Holm", "Ines Varga"}),
    ("Wann wurde Kim Roe geboren?", 1950),
    ("Wo wurde Ada Holm geboren?", {"Orsova"}),
    ("In welcher Stadt wurde Noor Vik geboren?", {"Gull Island"}),
    ("Welche Personen wurden in Orsova geboren?", {"Ada Holm", "Ines Varga", "Tomas Lind"}),
    ("Welche Filme erschienen vor 1980?", found(lambda f: f.year < 1980)),
    ("Welche Filme sind nach 1980 erschienen?", found(lambda f: f.year > 1980)),
    ("Wann ist Salt Road erschienen?", 1974),
    ("Hat Ada Holm Salt Road gedreht?", "yes"),
    ("Wurde Salt Road von Ines Varga gedreht?", "no"),
    ("Ist The Quiet Mill länger als Salt Road?", "yes"),
    ("Welche Filme, in denen Noor Vik gespielt hat, wurden von Ada Holm gedreht?", {"Night Ferry"}),
    ("Welche Filme haben das Genre Drama?", found(lambda f: f.genre == "Drama")),
    ("Welches Genre hat Salt Road?", {"Comedy"}),
    ("Welche Filme haben keine Schauspieler?", {"Paper Boats"}),
    ("Wer hat bei Paper Boats Regie geführt?", {"Ines Varga"}),
    ("Welche Filme sind kürzer als 100 Minuten?", found(lambda f: f.minutes < 100)),
    ("Welche Person wurde 1930 geboren?", {"Ada Holm"}),
    ("Wann kam Paper Boats heraus?", 2004),
    ("In welchem Jahr erschien Winter Harbour?", 1988),
    ("Welche Regisseurin hat Winter Harbour gedreht?", {"Ines Varga"}),
    ("Wer hat in mehr als einem Film gespielt?", {"Kim Roe", "Noor Vik"}),
    ("Welche Personen haben nie in einem Film gespielt?", {"Ines Varga"}),
    ("Spielte Kim Roe in Salt Road?", "yes"),
    ("Gibt es Filme, die vor 1960 erschienen sind?", "no"),
    ("Nenne alle Filme des Genres Drama.", found(lambda f: f.genre == "Drama")),
    ("Wer hat sowohl in Night Ferry als auch in Winter Harbour gespielt?", {"Noor Vik"}),
    (
        "Welche Filme wurden von Ada Holm oder Tomas Lind gedreht?",
        found(lambda f: f.director in ("Ada Holm", "Tomas Lind")),
    ),
    ("Wer ist die jüngste Person?", {"Ines Varga"}),
    ("Welches ist der kürzeste Film von Ines Varga?", None),  # one that she acted in?
    ("Welche Filme spielen in Paris?", None),
    ("Wer schrieb das Drehbuch zu Salt Road?", None),
    ("Welche Filme sind traurig?", None),
    ("Wie viel hat Salt Road gekostet?", None),
    ("Wer komponierte die Musik von Salt Road?", None),
]
