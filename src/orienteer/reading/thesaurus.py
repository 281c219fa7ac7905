"""What adjectives and verbs compare: `tall` a height, `cheap` a price, `weigh` a mass; and words for more and less.

An adjective compares a property whose name has one of its words. Where none has, or several have, nothing is guessed:
the question is refused, and the refusal says which properties there are. Ages are compared by any year or date that
tells when a thing began.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


AGES = _words(
    """
    founded built opened established inaugurated year date born birth launched created commissioned released completed
    constructed started since published introduced first_light foundation construction opening launch start made debut
    """
)
"""Words of properties that say when a thing began."""
NO_AGES = _words("died death end ended closed dissolved retired hired hire joined appointed employed modified updated")
"""Words of properties that tell a time, and not how old a thing is."""


class Adjective(NamedTuple):
    """What an adjective compares: words of properties, and whether more of them is more of it."""

    words: frozenset[str]
    ascending: bool = True
    is_age: bool = False
    """It compares when things began; `ascending` means later."""


_MORE = """
tall: height elevation stature
high: height elevation altitude
long: length duration runtime span minutes seconds milliseconds hours lines pages
deep: depth draft draught
wide: width breadth beam diameter aperture
broad: width breadth beam
thick: thickness
heavy: mass weight tonnage displacement
large: size area population capacity volume diameter
big: size area population capacity volume diameter
spacious: capacity area volume
roomy: capacity volume
expensive: price cost fee toll tariff fare rent value
costly: price cost fee toll budget value
valuable: value worth price
dear: price cost fee
pricey: price cost fee
strong: abv strength power alcohol
powerful: power horsepower strength
fast: speed velocity
quick: speed velocity
hot: temperature
warm: temperature
rich: wealth revenue income budget endowment
populous: population inhabitants
bitter: ibu bitterness
sweet: sweetness sugar
busy: traffic passengers visitors calls
distant: distance
far: distance
good: rating score stars grade
"""
"""Adjectives of things that have much of a property, and what such properties are called."""
_LESS = """
short: height length duration minutes seconds milliseconds hours lines pages
low: height elevation altitude
brief: duration runtime
shallow: depth draft draught
narrow: width breadth beam diameter
thin: thickness
light: mass weight tonnage
small: size area population capacity volume diameter
cheap: price cost fee toll tariff fare rent value
weak: abv strength power
slow: speed velocity
cold: temperature
cool: temperature
near: distance
close: distance
bad: rating score stars grade
"""
"""Adjectives of things that have little of a property."""
_OLD, _NEW = ("old", "early", "ancient"), ("new", "young", "recent", "late", "modern")


def _adjectives() -> Iterator[tuple[str, Adjective]]:
    for table, ascending in ((_MORE, True), (_LESS, False)):
        for line in table.split("\n"):
            word, _, properties = line.partition(": ")
            if properties:
                yield word, Adjective(_words(properties), ascending)
    for word in _OLD:
        yield word, Adjective(AGES, ascending=False, is_age=True)
    for word in _NEW:
        yield word, Adjective(AGES, ascending=True, is_age=True)


def _comparative(word: str) -> str:
    """Return `taller` of `tall`, `larger` of `large`, `busier` of `busy`."""
    if word.endswith("e"):
        return f"{word}r"
    if word.endswith("y"):
        return f"{word[:-1]}ier"
    return f"{word}{word[-1]}er" if word in ("big", "thin", "hot") else f"{word}er"


_IRREGULAR = {"good": ("better", "best"), "bad": ("worse", "worst"), "far": ("farther", "farthest")}


def _grades(word: str) -> tuple[str, str]:
    """Return the comparative and the superlative: `taller` and `tallest`."""
    comparative = _comparative(word)
    return _IRREGULAR.get(word, (comparative, f"{comparative[:-1]}st"))


ADJECTIVES: Mapping[str, Adjective] = dict(_adjectives())
COMPARATIVES: Mapping[str, Adjective] = {
    **{_grades(word)[0]: adjective for word, adjective in ADJECTIVES.items()},
    "elder": ADJECTIVES["old"],
}
SUPERLATIVES: Mapping[str, Adjective] = {
    **{_grades(word)[1]: adjective for word, adjective in ADJECTIVES.items()},
    "eldest": ADJECTIVES["old"],
}
VERBS: Mapping[str, frozenset[str]] = {
    "earn": _words("salary wage pay income gross revenue"),
    "pay": _words("salary wage pay income"),
    "weigh": _words("mass weight tonnage"),
    "cost": _words("cost price fee toll fare budget"),
    "seat": _words("seat seats capacity"),
    "hold": _words("capacity seats"),
    "run": _words("runtime duration"),
    "last": _words("duration runtime length"),
    "measure": _words("length height diameter"),
}
"""Verbs that state a property."""
FACTORS: Mapping[str, float] = {
    "twice": 2.0,
    "double": 2.0,
    "thrice": 3.0,
    "triple": 3.0,
    "treble": 3.0,
    "quadruple": 4.0,
    "half": 0.5,
}
"""Words for how many times as much."""
MORE: Mapping[str, bool] = {
    "more": True,
    "greater": True,
    "larger": True,
    "higher": True,
    "bigger": True,
    "fewer": False,
    "less": False,
    "lower": False,
    "smaller": False,
}
"""Comparatives of any number, with whether they ask for more of it."""
MOST: Mapping[str, bool] = {
    "most": True,
    "highest": True,
    "largest": True,
    "greatest": True,
    "biggest": True,
    "maximum": True,
    "max": True,
    "least": False,
    "fewest": False,
    "lowest": False,
    "smallest": False,
    "minimum": False,
    "min": False,
    "latest": True,
    "earliest": False,
}
"""Superlatives of any number."""
