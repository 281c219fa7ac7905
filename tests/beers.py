"""A small invented world of beers, after the tables that a first user brought: properties, parts of names."""

from __future__ import annotations

from pathlib import Path

from orienteer import Graph

_BREWERIES = (
    ("b1", "Duvel Moortgat", "Belgium", 1871, "be"),
    ("b2", "Rodenbach", "Belgium", 1821, "be"),
    ("b3", "Weihenstephan", "Germany", 1040, "de"),
    ("b4", "Sierra Nevada", "United States", 1979, "us"),
    ("b5", "Russian River Brewing Company", "United States", 1997, "us"),
    ("b6", "Schloss Eggenberg", "Austria", 1681, "at"),
    ("b7", "Bières de Chimay", "Belgium", 1862, "be"),
)
_BEERS = (
    ("1", "Duvel", "b1", 8.5, 1923, "s1"),
    ("2", "Vedett Blond", "b1", 5.2, 1945, "s2"),
    ("3", "Rodenbach Grand Cru", "b2", 6.0, 1986, "s3"),
    ("4", "Rodenbach Alexander", "b2", 5.6, 1986, "s3"),
    ("5", "Hefeweissbier", "b3", 5.4, 1933, "s4"),
    ("6", "Vitus", "b3", 7.7, None, "s4"),
    ("7", "Pale Ale", "b4", 5.6, 1980, "s5"),
    ("8", "Pliny the Elder", "b5", 8.0, 2000, "s5"),
    ("9", "Samichlaus", "b6", 14.0, 1979, "s6"),
    ("10", "Chimay Bleue", "b7", 9.0, 1954, "s1"),
)
_STYLES = (
    ("s1", "Belgian Strong Ale"),
    ("s2", "Pilsner"),
    ("s3", "Flanders Red"),
    ("s4", "Wheat Beer"),
    ("s5", "Pale Ale"),
    ("s6", "Doppelbock"),
)
_COUNTRIES = (("be", "Belgium"), ("de", "Germany"), ("us", "United States"), ("at", "Austria"))


def beers(path: Path, *, has_countries: bool = False) -> Graph:
    """Return the graph, made at a path; where `has_countries`, countries are nodes instead of a property."""
    nodes = [
        {
            "id": ident,
            "type": "brewery",
            "name": name,
            "properties": {"founded": year} | ({} if has_countries else {"country": country}),
        }
        for ident, name, country, year, _ in _BREWERIES
    ]
    nodes += [
        {"id": ident, "type": "beer", "name": name, "properties": {"abv": abv} | ({"launched": year} if year else {})}
        for ident, name, _, abv, year, _ in _BEERS
    ]
    nodes += [{"id": ident, "type": "style", "name": name} for ident, name in _STYLES]
    edges = [{"source": beer[0], "type": "brewed_by", "target": beer[2]} for beer in _BEERS]
    edges += [{"source": beer[0], "type": "has_style", "target": beer[5]} for beer in _BEERS]
    edges += [
        {"source": one, "type": "collaborates_with", "target": other}
        for one, other in (("b1", "b2"), ("b1", "b4"), ("b3", "b4"))
    ]
    if has_countries:
        nodes += [{"id": ident, "type": "country", "name": name} for ident, name in _COUNTRIES]
        edges += [{"source": brewery[0], "type": "located_in", "target": brewery[4]} for brewery in _BREWERIES]
    return Graph.from_records(nodes, edges, path=path)
