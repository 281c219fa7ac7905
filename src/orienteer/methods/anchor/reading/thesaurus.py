"""Words of English that say the same of things in any graph: verbs of relations, adjectives of properties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

RELATIONS: tuple[frozenset[str], ...] = tuple(
    frozenset(group.split())
    for group in (
        "make made makes making produce brew manufacture create build built develop design invent construct craft maker producer creator builder architect designer developer inventor",
        "write wrote written author pen compose writer composer",
        "locate located situated lie lies sit sits based stand stands location where headquartered home house housed belong find found",
        "supervise advise mentor direct lead led head oversee manage boss advisor supervisor mentor director leader chief manager run runs",
        "teach taught teacher instruct train trainer tutor",
        "study studied student attend pupil learn alumnus alumni graduate alma go went gone",
        "found founded founder establish established start started",
        "own owned owner owns possess proprietor operate operated operator run runs belong fleet",
        "employ employer employee work works worked staff job",
        "treat cure remedy therapy medicine help against for",
        "associate associated link linked relate related connect connected tie tied involve involved for",
        "cause lead trigger induce provoke effect",
        "bind target attach",
        "regulate control",
        "interact interaction",
        "resemble similar like alike",
        "maintain maintainer keep care",
        "contain include hold comprise consist member part belong",
        "depend need require dependency requirement rely",
        "recommend advise suggest",
        "win won award prize receive get winner laureate recipient go gone went bestow honour honor",
        "influence inspire shape",
        "use used employ apply utilize with",
        "border adjoin neighbour neighbor adjacent next",
        "marry married spouse wife husband",
        "child children son daughter offspring parent father mother",
        "visit call stop dock berth moor",
        "sail ply serve service",
        "carry transport ship haul load",
        "observe watch record monitor measure detect discover spot find found see seen discovery",
        "publish publisher issue release released",
        "collaborate cooperate partner team collaboration",
        "supply provide deliver furnish supplier provider",
        "express expression",
        "present presentation symptom show sign",
        "play perform star act actor performer cast",
        "sell buy purchase order trade vendor seller",
        "fund finance sponsor pay donor backer",
        "live reside dwell resident inhabitant home",
        "follow succeed successor next after",
        "precede predecessor before previous",
        "opposite antonym contrary reverse",
        "synonym equivalent",
        "kind type sort hyponym subtype subclass",
        "hypernym superclass supertype broader",
        "implement implementation",
        "support feature offer",
        "instrument equip fit mount install carry",
        "repair fix service maintain",
        "register flag registered",
    )
)
"""Words of one group may stand for one another where an edge type's label holds one of them."""

TYPES: tuple[frozenset[str], ...] = tuple(
    frozenset(group.split())
    for group in (
        "drug medicine medication compound chemical substance pharmaceutical",
        "disease illness disorder condition ailment sickness",
        "person people man woman human individual somebody someone anybody anyone",
        "company firm organization organisation business corporation enterprise institution",
        "city town place location settlement municipality",
        "country nation state",
        "ship vessel boat",
        "harbour harbor port",
        "anatomy tissue organ",
        "book volume title publication",
        "film movie picture",
        "author writer",
        "paper article publication",
        "airport airfield",
        "shop store",
        "car automobile vehicle",
        "adj adjective",
        "adv adverb",
        "worker employee staff",
        "programme program software application",
        "award prize",
        "college university school",
    )
)
"""Words of one group may stand for one another where a node type is called by one of them."""
PEOPLE = frozenset(
    """person people human employee worker staff author writer actor actress director astronomer captain scientist player
    student teacher doctor patient user customer member researcher engineer artist musician singer politician designer
    founder individual athlete driver pilot nurse lawyer journalist character man woman""".split()
)
"""What node types of people are called: whom `who` asks for."""
SYMMETRIC = frozenset(
    [
        "resemble",
        "similar",
        "interact",
        "covary",
        "sibling",
        "marry",
        "spouse",
        "adjacent",
        "neighbour",
        "neighbor",
        "border",
        "collaborate",
        "connect",
        "relate",
        "opposite",
        "antonym",
        "synonym",
        "equivalent",
        "partner",
        "coauthor",
        "twin",
    ]
)
"""Verbs and nouns that say the same both ways."""
_FORMS = """bind bound|build built|write wrote written|make made|find found|lead led|hold held|teach taught|sell sold|keep kept
grow grew grown|give gave given|take took taken|win won|wear wore worn|drive drove driven|fly flew flown|sing sang sung|draw drew drawn
know knew known|show showed shown|see saw seen|begin began begun|speak spoke spoken|choose chose chosen|fight fought|catch caught
bring brought|buy bought|meet met|run ran|sit sat|stand stood|bear bore born|break broke broken|send sent|spend spent|lose lost
think thought|feed fed|breed bred|lay laid|lie lay lain|swim swam swum|steal stole stolen|shoot shot|strike struck|throw threw thrown
become became|come came|get got gotten|eat ate eaten|drink drank drunk|say said|tell told|pay paid|rise rose risen|fall fell fallen"""
IRREGULAR_VERBS: Mapping[str, str] = {
    form: group.split()[0] for line in _FORMS.splitlines() for group in line.split("|") for form in group.split()[1:]
}
"""By form, the verb that it is of."""

_ADJECTIVES = """
tall: height elevation stature | short: height length duration -
high: height elevation altitude | low: height elevation altitude -
long: length duration runtime span | brief: duration runtime -
deep: depth draft draught | shallow: depth draft draught -
wide: width breadth beam diameter aperture | narrow: width breadth beam diameter -
broad: width breadth beam | thick: thickness | thin: thickness -
heavy: mass weight tonnage displacement | light: mass weight tonnage -
large: size area population capacity volume diameter | small: size area population capacity volume diameter -
big: size area population capacity volume diameter | roomy: capacity volume
expensive: price cost fee toll tariff fare rent | cheap: price cost fee toll tariff fare rent -
costly: price cost fee toll budget | dear: price cost fee
pricey: price cost fee | strong: abv strength power alcohol
weak: abv strength power - | powerful: power horsepower strength
fast: speed velocity | slow: speed velocity - | quick: speed velocity
hot: temperature | cold: temperature - | warm: temperature | cool: temperature -
rich: wealth revenue income budget endowment | populous: population inhabitants
bitter: ibu bitterness | sweet: sweetness sugar
busy: traffic passengers visitors calls | distant: distance | far: distance | near: distance - | close: distance -
good: rating score stars grade | bad: rating score stars grade -
"""
AGES = frozenset(
    [
        "founded",
        "built",
        "opened",
        "established",
        "inaugurated",
        "year",
        "date",
        "born",
        "birth",
        "launched",
        "created",
        "commissioned",
        "released",
        "completed",
        "constructed",
        "started",
        "since",
        "published",
        "introduced",
        "first_light",
        "foundation",
        "construction",
        "opening",
        "launch",
        "start",
        "made",
        "debut",
    ]
)
"""Words of properties that say when a thing began."""
_OLD, _NEW = ("old", "early", "ancient"), ("new", "young", "recent", "late", "modern")


class Adjective(NamedTuple):
    """What an adjective compares: words of properties, and whether more of them is more of it."""

    words: frozenset[str]
    ascending: bool = True
    is_age: bool = False
    """It compares when things began; `ascending` means later."""


def _adjectives() -> Iterator[tuple[str, Adjective]]:
    for part in _ADJECTIVES.replace("\n", "|").split("|"):
        if ":" in part:
            word, named = part.split(":")
            words = named.split()
            yield word.strip(), Adjective(frozenset(words) - {"-"}, "-" not in words)
    for word in _OLD:
        yield word, Adjective(AGES, ascending=False, is_age=True)
    for word in _NEW:
        yield word, Adjective(AGES, ascending=True, is_age=True)


ADJECTIVES: Mapping[str, Adjective] = dict(_adjectives())
_IRREGULAR = {"good": ("better", "best"), "bad": ("worse", "worst"), "far": ("farther", "farthest")}


def _grades(word: str) -> tuple[str, str]:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("e"):
        return f"{word}r", f"{word}st"
    if word.endswith("y"):
        return f"{word[:-1]}ier", f"{word[:-1]}iest"
    doubled = word + word[-1] if word in ("big", "thin", "hot") else word
    return f"{doubled}er", f"{doubled}est"


COMPARATIVES: Mapping[str, Adjective] = {_grades(word)[0]: adjective for word, adjective in ADJECTIVES.items()}
SUPERLATIVES: Mapping[str, Adjective] = {_grades(word)[1]: adjective for word, adjective in ADJECTIVES.items()}
PROPERTIES: tuple[frozenset[str], ...] = tuple(
    frozenset(group.split())
    for group in (
        "born birth birthday birthdate",
        "price cost",
        "salary wage pay earnings income",
        "founded foundation founding established establishment",
        "opened opening",
        "launched launch launching",
        "height elevation tallness",
        "mass weight heaviness",
        "depth deepness draught",
        "length longness",
        "colour color",
        "speed velocity",
        "employees staff workforce headcount",
        "country nation",
        "population inhabitants",
        "built construction completed",
        "released release",
        "died death",
    )
)
"""Words of one group may stand for one another where a property is called by one of them."""
VERBS: Mapping[str, frozenset[str]] = {
    "earn": frozenset(("salary", "wage", "pay", "income")),
    "weigh": frozenset(("mass", "weight", "tonnage")),
    "cost": frozenset(("cost", "price", "fee", "toll", "fare")),
    "last": frozenset(("duration", "runtime", "length")),
    "measure": frozenset(("length", "height", "diameter")),
}
"""Verbs that state a property."""
MORE = {"more": True, "greater": True, "larger": True, "higher": True, "bigger": True, "fewer": False, "less": False,
        "lower": False, "smaller": False}  # fmt: skip
"""Comparatives of any number, with whether they ask for more of it."""
MOST = {"most": True, "highest": True, "largest": True, "greatest": True, "biggest": True, "maximum": True, "max": True,
        "least": False, "fewest": False, "lowest": False, "smallest": False, "minimum": False, "min": False,
        "latest": True, "earliest": False}  # fmt: skip
"""Superlatives of any number."""
