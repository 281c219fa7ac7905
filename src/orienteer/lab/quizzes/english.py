"""The English that questions are phrased with: words of a schema's names, plurals, forms of verbs.

Nothing here belongs to any one graph. A word that no rule knows is taken as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache

from orienteer.text.tokenizer import plural as plural

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PARTS = re.compile(r"[\s_\-./:>]+")
_VOWELS = "aeiou"


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


def _table(text: str) -> dict[str, str]:
    return dict(pair.split(":") for pair in text.split())


SPELLED_OUT = _table("adj:adjective adv:adverb dept:department org:organization orgs:organizations loc:location")
"""Short forms that names of types are fond of."""
PARTICIPLES = _table(
    """write:written wrote:written make:made give:given take:taken find:found hold:held bind:bound know:known see:seen
    show:shown win:won lead:led build:built buy:bought sell:sold teach:taught break:broken choose:chosen drive:driven
    eat:eaten draw:drawn speak:spoken become:become have:had run:run cut:cut read:read keep:kept
    sing:sung begin:begun wear:worn throw:thrown bear:borne feed:fed meet:met spend:spent send:sent lose:lost
    edit:edited"""
)
"""Irregular participles by the base form; also of past tenses that serve as edge types."""
PAST = _table(
    """wrote:write made:make gave:give took:take found:find held:hold bound:bind knew:know saw:see won:win led:lead
    built:build bought:buy sold:sell taught:teach broke:break chose:choose drove:drive drew:draw spoke:speak sang:sing
    began:begin wore:wear met:meet sent:send lost:lose"""
)
GOVERNED = _table(
    """depend:on participate:in interact:with associate:with localize:to covary:with belong:to relate:to correlate:with
    collaborate:with conflict:with react:with consist:of result:in refer:to respond:to compete:with link:to connect:to
    differ:from suffer:from subscribe:to live:in reside:in rely:on specialize:in"""
)
"""The preposition that a verb takes, for edge types that leave it out."""
RELATED = _table("related:to associated:with linked:to connected:to similar:to married:to affiliated:with adjacent:to")
"""The preposition of a word after `are`."""
ACTIVE = word_set(
    """acted appeared belonged collaborated competed died graduated lived occurred participated performed played
    resided resulted retired served starred studied worked"""
)
"""Past tenses before a preposition that are not passive: who acted in a film was not acted in it."""
MUTUAL = word_set(
    """adjacent alike antonym antonyms associated associates bordering borders connected connects cooccurs correlated
    correlates covaries equivalent friend friends homologous identical interacting interaction interacts knows
    linked links married neighbor neighbors neighbour neighbours opposite orthologous paralogous ppi related
    relates resembles same sibling siblings similar spouse synonym synonyms"""
)
"""Words of edge types that hold both ways between nodes of one type, even if a table lists each pair once."""
PREPOSITIONS = word_set("about after against as at before by during for from in into of on onto over to under with")
VERBS = word_set(
    """acquire activate admire affect annotate assess become bind block break buy catalyse catalyze cause cite
    conflict consist contain control cover create define depend describe design develop direct discover document
    downregulate edit employ enable encode enhance express follow found fund have hire hold illustrate implement
    include influence inhibit inspire invent join know lead like love make manage manufacture mediate mention
    modulate own palliate prescribe present prevent produce provide publish receive recommend regulate replace
    require resemble see sell serve show speak stimulate study suggest supply support surround target teach
    translate treat trigger upregulate use visit win write"""
)
"""Verbs that serve as edge types in their base form: `CAUSES` and `cause` read alike."""
NOUN_ENDINGS = tuple(word_set("ors ers ists ions ments ities ings ants ships ages types sses ries"))


@lru_cache(1024)
def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a type's name, in small letters but for acronyms: `SideEffect`, `IN_SECTION`, `part of`."""
    parts = [word for part in _PARTS.split(name) for word in _CAMEL.split(part) if word]
    # A name all in capitals is shouted; a word all in capitals among others is an acronym.
    is_shouted = all(part.isupper() or not part.isalpha() for part in parts) and any(len(part) > 4 for part in parts)
    words = [part if part.isupper() and len(part) <= 4 and not is_shouted else part.lower() for part in parts]
    return tuple(SPELLED_OUT.get(word, word) for word in words)


@lru_cache(1024)
def base_of(verb: str) -> str:
    """Return the base form of a third person: `binds`, `carries`, `causes`, `has`."""
    if verb in ("has", "is", "does"):
        return {"has": "have", "is": "be", "does": "do"}[verb]
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    if verb.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return verb[:-2]
    return verb.removesuffix("s")


@lru_cache(1024)
def third_of(base: str) -> str:
    """Return the third person of a verb's base form: `binds`, `carries`, `has`."""
    return "has" if base == "have" else "is" if base == "be" else plural(base)


@lru_cache(1024)
def participle_of(base: str) -> str:
    """Return the past participle of a verb's base form: `bound`, `carried`, `caused`, `regulated`."""
    if base in PARTICIPLES:
        return PARTICIPLES[base]
    for prefix in ("up", "down", "over", "under", "co", "re", "pre"):  # `rewrite`, `outsell` and their like
        if base.startswith(prefix) and base.removeprefix(prefix) in PARTICIPLES:
            return prefix + PARTICIPLES[base.removeprefix(prefix)]
    if base.endswith("e"):
        return f"{base}d"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return f"{base[:-1]}ied"
    is_short = len(base) <= 4 and len(base) >= 3 and base[-1] not in "aeiouwxy" and base[-2] in _VOWELS
    if is_short and base[-3] not in _VOWELS:
        return f"{base}{base[-1]}ed"
    return f"{base}ed"


def is_participle(word: str) -> bool:
    """Return whether a word reads as a past participle."""
    return (word.endswith("ed") and len(word) > 4) or word in PARTICIPLES.values() or word in ("born", "set", "put")


def is_third_person(word: str) -> bool:
    """Return whether a word reads as a verb in the third person: `binds`, not `genres` nor `actors`."""
    if base_of(word) in VERBS or base_of(word) in GOVERNED:
        return True
    return word.endswith("s") and not word.endswith(("ss", "us", "is", "itis", *NOUN_ENDINGS)) and len(word) > 3


def article(noun: str) -> str:
    """Return a noun with `a` or `an`."""
    return f"{'an' if noun[:1].lower() in _VOWELS and noun[:1] else 'a'} {noun}"
