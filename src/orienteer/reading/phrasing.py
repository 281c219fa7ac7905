"""The English that questions are phrased with: words of a schema's names, plurals, forms of verbs.

Nothing here belongs to any one graph. A word that no rule knows is taken as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from orienteer.reading.vocabulary import ENGLISH, WORDS
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
_OTHERS = _table("wrote:written run:run become:become come:come have:had cut:cut read:read bear:borne edit:edited")
PARTICIPLES: dict[str, str] = {verb: forms[-1] for verb, forms in ENGLISH.verb_forms.items()} | _OTHERS
"""Irregular participles by the base form; also of past tenses that serve as edge types."""
PAST = {forms[0]: verb for verb, forms in ENGLISH.verb_forms.items()}
GOVERNED = _table(
    """depend:on participate:in interact:with associate:with localize:to covary:with belong:to relate:to correlate:with
    collaborate:with conflict:with react:with consist:of result:in refer:to respond:to compete:with link:to connect:to
    differ:from suffer:from subscribe:to live:in reside:in rely:on specialize:in"""
)
"""The preposition that a verb takes, for edge types that leave it out."""
RELATED = _table("related:to associated:with linked:to connected:to similar:to married:to affiliated:with adjacent:to")
"""The preposition of a word after `are`."""
ACTIVE = WORDS["active past"]
"""Past tenses before a preposition that are not passive: who acted in a film was not acted in it."""
MUTUAL = WORDS["mutual"]
"""Words of edge types that hold both ways between nodes of one type, even if a table lists each pair once."""
PREPOSITIONS = word_set("about after against as at before by during for from in into of on onto over to under with")
VERBS = WORDS["verbs of edges"]
"""Verbs that serve as edge types in their base form: `CAUSES` and `cause` read alike."""
NOUN_ENDINGS = tuple(word_set("ors ers ists ions ments ities ings ants ships ages types sses ries"))


@lru_cache(1024)
def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a type's name, in small letters but for acronyms: `SideEffect`, `IN_SECTION`, `part of`."""
    parts = [word for part in _PARTS.split(name) for word in _CAMEL.split(part) if word]
    # A name all in capitals is shouted; a word all in capitals among others is an acronym.
    is_shouted = all(part.isupper() or not part.isalpha() for part in parts) and any(
        len(part) > 4 or part.lower() in PREPOSITIONS | {"of"} for part in parts
    )
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


def is_plural(noun: str) -> bool:
    """Return whether a noun reads as a plural: `genres`, not `status` nor `analysis`."""
    return len(noun) > 3 and not noun.endswith(("ss", "us", "is")) and plural(noun[:-1]) == noun


def article(noun: str) -> str:
    """Return a noun with `a` or `an`."""
    return f"{'an' if noun[:1].lower() in _VOWELS and noun[:1] else 'a'} {noun}"


# Edge types in words: a label is read as a verb, a participle, a noun, `has` something, or something `of`.
#
# A label does not say what part of speech it is, so rules guess; what none of them fits is quoted as the name of a
# link, which is clumsy and never wrong.

_KINDS = {
    **dict.fromkeys(("isa", "is a", "is an", "is kind of", "kind of"), "kind"),
    "type of": "type",
    "subclass of": "subclass",
    "sub class of": "subclass",
    "subtype of": "subtype",
    "instance of": "instance",
    "is instance of": "instance",
}


class EdgePhrase(NamedTuple):
    """Ways to say that an edge joins several things to the slot, `{}`, or None for a way that does not exist."""

    predicate: str | None
    """The things are the subject: `bind {}`, `are part of {}`. One that is None has all of the others."""
    predicate_of_many: str | None = None
    """The predicate if several names are in the slot; None if it is the same."""
    predicate_of_clause: str | None = None
    """The predicate if the slot has `genes that ...`; None if it is the same."""
    relative: str | None = None
    """The slot is the subject, one thing: `{} binds`."""
    relative_of_many: str | None = None
    """The slot is the subject, several things: `{} bind`."""
    question: str | None = None
    """`does {} bind`."""
    question_of_many: str | None = None
    """`do {} bind`."""


class EdgePhrases(NamedTuple):
    """The phrases of an edge type with its sources, and with its targets, as the things."""

    of_sources: EdgePhrase
    of_targets: EdgePhrase


def relation(label: str, source: str, target: str, *, is_mutual: bool = False) -> EdgePhrases:
    """Return the phrases of an edge type's label; `source` and `target` are the node types' nouns, in the singular."""
    words = _without_types(words_of(label), source, target)
    for read in (_kind_of, _owning, _being, _something_of, _active_past, _participle, _placed, _verb, _past, _noun):
        phrases = read(words, target)
        if phrases is not None:
            break
    else:
        # No template covers this type: its name is quoted, whatever it means.
        name = " ".join(words_of(label)) or label
        a_link = f"{'an' if name[:1].lower() in 'aeiou' else 'a'} “{name}” link"
        phrases = EdgePhrases(
            EdgePhrase(f"have {a_link} to {{}}"),
            EdgePhrase(f"have {a_link} from {{}}", None, None, *_does("have", tail=f" {a_link} to")),
        )
    if not is_mutual:
        return phrases
    # Either end may be said to be the source: things `are antonyms of` one another, rather than have them.
    plain = phrases.of_targets if phrases == _noun(words, target) else phrases.of_sources
    return EdgePhrases(plain, plain)


def _without_types(words: tuple[str, ...], source: str, target: str) -> tuple[str, ...]:
    """Leave out the node types that some schemas write around the verb: `DISEASE_DOWNREGULATES_GENE`."""
    first, last = words_of(source), words_of(target)
    begins, ends = words[: len(first)] == first, words[len(words) - len(last) :] == last
    inner = words[len(first) : len(words) - len(last)]
    if begins and ends and inner:
        return inner
    # `derived_from_adj`: the type repeats the object of the preposition.
    is_object = ends and len(words) > len(last) + 1 and words[-len(last) - 1] in PREPOSITIONS
    return words[: -len(last)] if is_object else words


def _kind_of(words: tuple[str, ...], target: str) -> EdgePhrases | None:
    """Read `is a`, `subclass of`."""
    kind = _KINDS.get(" ".join(words))
    return None if kind is None else _one_of(kind, plural(kind))


def _owning(words: tuple[str, ...], target: str) -> EdgePhrases | None:
    """Read `has tag`, `have topic`."""
    if len(words) < 2 or words[0] not in ("has", "have") or words[-1] in PREPOSITIONS | {"of"}:
        return None
    return _owned(" ".join(words[1:]), target, names_it=True)


def _noun(words: tuple[str, ...], target: str) -> EdgePhrases | None:
    """Read `target`, `hypernym`, `domain topic`: the edge's target is that to its source."""
    if not words or len(words) > 3 or not all(word.isalpha() for word in words) or words[0] in ("also", "not", "no"):
        return None
    if not PREPOSITIONS.isdisjoint(words) or "of" in words:
        return None
    noun = " ".join(words)
    return _owned(noun[:-1] if is_plural(noun) else noun, target, names_it=False)


def _owned(noun: str, target: str, *, names_it: bool) -> EdgePhrases:
    nouns, a_noun = plural(noun), article(noun)
    of_targets = f"are {nouns} of {{}}"
    if noun == target:
        sources = EdgePhrase(f"have the {noun} {{}}", "have {}", "have {}")
        return EdgePhrases(sources, EdgePhrase(of_targets, None, None, *_does("have")))
    sources = EdgePhrase(
        f"have the {noun} {{}}" if names_it else f"have {{}} as {a_noun}",
        f"have {{}} as {nouns}",
        f"have {a_noun} among the {{}}",
    )
    return EdgePhrases(sources, EdgePhrase(of_targets, None, None, *_does("have", tail=f" as {a_noun}")))


def _being(words: tuple[str, ...], target: str) -> EdgePhrases | None:
    """Read `is adjacent to`, `are located in`."""
    if len(words) < 2 or words[0] not in ("is", "are", "be", "was", "were"):
        return None
    if words[-1] in PREPOSITIONS:
        return _be(" ".join(words[1:]))
    return _something_of(words[2:] if words[1] in ("a", "an", "the") else words[1:], target)


def _something_of(words: tuple[str, ...], target: str) -> EdgePhrases | None:
    """Read `part of`, `author of`."""
    if len(words) < 2 or words[-1] != "of" or "of" in words[:-1]:
        return None
    noun = " ".join(words[:-1])
    if is_participle(words[-2]) or noun in ("because", "instead", "capable"):
        return _be(f"{noun} of")
    return _one_of(noun, noun if noun == "part" else plural(noun))


def _one_of(noun: str, nouns: str) -> EdgePhrases:
    phrases = _be(f"{nouns} of", "part of" if noun == "part" else f"{article(noun)} of")
    owning = f"have {article(noun)} among the {{}}"
    return phrases._replace(of_targets=phrases.of_targets._replace(predicate_of_clause=owning))


def _participle(words: tuple[str, ...], target: str) -> EdgePhrases | None:
    """Read `maintained by`, `involved in`, `similar to`, and `derivationally related`, whose preposition is missing."""
    if words and words[-1] in RELATED and len(words) <= 2:
        return _be(f"{' '.join(words)} {RELATED[words[-1]]}")
    if len(words) < 2 or words[-1] not in PREPOSITIONS or len(words) > 4:
        return None
    is_verb = is_third_person(words[-2]) or words[-2] in VERBS
    return None if is_verb or words[0] in PREPOSITIONS else _be(" ".join(words))


def _placed(words: tuple[str, ...], target: str) -> EdgePhrases | None:
    """Read `in`, `from`, and `in section` where sections are what the edges lead to."""
    if not words or words[0] not in PREPOSITIONS:
        return None
    if len(words) == 1:
        return _be(words[0])
    if words_of(target) != words[1:]:
        return None
    phrases = _be(words[0])
    sources = EdgePhrase(f"are {words[0]} the {target} {{}}", f"are {words[0]} {{}}", f"are {words[0]} {{}}")
    return phrases._replace(of_sources=sources)


def _verb(words: tuple[str, ...], target: str) -> EdgePhrases | None:
    """Read `binds`, `negatively regulates`, `interacts with`, `CITES`, and `depends`, whose preposition is missing."""
    preposition = words[-1] if len(words) > 1 and words[-1] in PREPOSITIONS else ""
    rest = words[:-1] if preposition else words
    if not rest or not rest[-1].isalpha() or " ".join(rest) == plural(target):
        return None
    *adverbs, verb = rest
    if any(not (adverb.endswith("ly") or adverb == "pre") for adverb in adverbs):
        return None
    is_base = verb in VERBS and verb != target
    if not is_base and not is_third_person(verb):
        return None
    base = verb if is_base else base_of(verb)
    preposition = preposition or GOVERNED.get(base, "")
    before = "".join(f"{adverb}-" if adverb == "pre" else f"{adverb} " for adverb in adverbs)
    tail = f" {preposition}" if preposition else ""
    passive = None if tail else f"are {before}{participle_of(base)} by {{}}"
    targets = EdgePhrase(passive, None, None, *_does(base, before=before, tail=tail))
    return EdgePhrases(EdgePhrase(f"{before}{base}{tail} {{}}"), targets)


def _past(words: tuple[str, ...], target: str) -> EdgePhrases | None:
    """Read `directed`, `wrote`."""
    if len(words) != 1 or not (words[0] in PAST or (words[0].endswith("ed") and len(words[0]) > 4)):
        return None
    return _past_of(words[0], "")


def _active_past(words: tuple[str, ...], target: str) -> EdgePhrases | None:
    """Read `acted in`: a past tense, not a passive."""
    return _past_of(words[0], f" {words[1]}") if len(words) == 2 and words[0] in ACTIVE else None


def _past_of(past: str, tail: str) -> EdgePhrases:
    base = PAST.get(past) or next((verb for verb in (past[:-2], past[:-1]) if verb in VERBS), past.removesuffix("ed"))
    passive = None if tail else f"were {PARTICIPLES.get(past, past)} by {{}}"
    question, relative = f"did {{}} {base}{tail}", f"{{}} {past}{tail}"
    targets = EdgePhrase(passive, None, None, relative, relative, question, question)
    return EdgePhrases(EdgePhrase(f"{past}{tail} {{}}"), targets)


def _be(many: str, one: str | None = None) -> EdgePhrases:
    """Say it with `to be`; the plural may differ from the singular: `members of` and `a member of`."""
    one = one or many
    forms = (f"{{}} is {one}", f"{{}} are {many}", f"is {{}} {one}", f"are {{}} {many}")
    return EdgePhrases(EdgePhrase(f"are {many} {{}}"), EdgePhrase(None, None, f"have {{}} {many} them", *forms))


def _does(base: str, *, before: str = "", tail: str = "") -> tuple[str, str, str, str]:
    third = f"{{}} {before}{third_of(base)}{tail}"
    return third, f"{{}} {before}{base}{tail}", f"does {{}} {before}{base}{tail}", f"do {{}} {before}{base}{tail}"
