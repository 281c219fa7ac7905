"""Units of measurement by words and symbols, and texts that are a number with a unit: `5400 kg`, `€20`."""

from __future__ import annotations

import re
from collections.abc import Mapping

UNITS: Mapping[str, tuple[str, float]] = {
    unit: (dimension, factor)
    for dimension, factor, names in (
        ("length", 1e-3, "mm millimetre millimeter"),
        ("length", 1e-2, "cm centimetre centimeter"),
        ("length", 1.0, "m metre meter"),
        ("length", 1e3, "km kilometre kilometer"),
        ("length", 0.3048, "ft foot feet"),
        ("length", 0.0254, "inch inches"),
        ("length", 1609.344, "mi mile"),
        ("length", 1852.0, "nmi"),
        ("mass", 1e-3, "mg milligram"),
        ("mass", 1.0, "g gram gramme"),
        ("mass", 1e3, "kg kilogram kilo"),
        ("mass", 1e6, "t tonne ton"),
        ("mass", 453.59237, "lb lbs pound"),
        ("time", 1e-3, "ms millisecond"),
        ("time", 1.0, "s sec second"),
        ("time", 60.0, "min minute"),
        ("time", 3600.0, "h hr hour"),
        ("time", 86400.0, "d day"),
        ("time", 604800.0, "week"),
        ("time", 31557600.0, "yr year"),
        ("volume", 1e-3, "ml millilitre milliliter"),
        ("volume", 1e-2, "cl centilitre centiliter"),
        ("volume", 1.0, "l litre liter"),
        ("volume", 100.0, "hl hectolitre hectoliter"),
        ("area", 1.0, "sqm m2"),
        ("area", 1e4, "ha hectare"),
        ("area", 1e6, "sqkm km2"),
        ("data", 1.0, "b byte"),
        ("data", 1e3, "kb kilobyte"),
        ("data", 1e6, "mb megabyte"),
        ("data", 1e9, "gb gigabyte"),
        ("data", 1024.0, "kib"),
        ("data", 1024.0**2, "mib"),
        ("data", 1024.0**3, "gib"),
        ("power", 1.0, "w watt"),
        ("power", 1e3, "kw kilowatt"),
        ("power", 1e6, "mw megawatt"),
        ("share", 1.0, "percent pct"),
        ("speed", 1.0, "kmh kph"),
        ("speed", 1.852, "kn kt knot"),
        ("euro", 1.0, "eur euro"),
        ("euro", 1e3, "keur teur"),
        ("euro", 1e6, "meur"),
        ("dollar", 1.0, "usd dollar"),
        ("dollar", 1e3, "kusd"),
        ("dollar", 1e6, "musd"),
        ("sterling", 1.0, "gbp"),
        ("sterling", 1e6, "mgbp"),
        ("temperature", 1.0, "celsius degc"),
    )
    for name in names.split()
    for unit in ((name, f"{name}s") if len(name) > 3 and not name.endswith("s") else (name,))
}
"""A unit's dimension, and its size in the dimension's base unit, by word."""
CURRENCIES: Mapping[str, str] = {"€": "eur", "$": "usd", "£": "gbp"}
SIGNS: Mapping[str, str] = {"%": "percent", **CURRENCIES}
"""Units by the symbol next to a number."""
_WRITTEN: Mapping[str, str] = {**SIGNS, "km/h": "kmh", "m²": "sqm", "km²": "sqkm", "°c": "celsius"}
_NUMBER = r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_BEHIND = re.compile(rf"({_NUMBER})(\s?)([A-Za-z%€$£°²/]{{1,12}}\d?)")
_BEFORE = re.compile(rf"([€$£])\s?({_NUMBER})")
_GLUED = frozenset("mgl")
"""Units of one letter that may directly follow the digits: the others are rather the end of a code, `12b`."""


def measured(text: str) -> tuple[str, str] | None:
    """Return number and unit of a text, in English notation: `("5400", "kg")`; None if it is not such a text."""
    text = text.strip()
    if match := _BEFORE.fullmatch(text):
        return match[2].replace(",", ""), CURRENCIES[match[1]]
    match = _BEHIND.fullmatch(text)
    if match is None:
        return None
    unit = _WRITTEN.get(match[3].casefold(), match[3].casefold())
    if unit not in UNITS or (len(match[3]) == 1 and match[3].isalpha() and not match[2] and unit not in _GLUED):
        return None
    return match[1].replace(",", ""), unit
