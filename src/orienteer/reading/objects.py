"""The things that a relation leads to: `X`, `both X and Y`, `X or Y`, `X but not Y`, `no X`, `more than 5 Z`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from orienteer.reading.comparisons import count, or_so
from orienteer.reading.nouns import heads_at, names_at
from orienteer.reading.query import Comparison, NodeSet
from orienteer.reading.rules import Context, Parse, best, part
from orienteer.reading.units import EdgeUnit
from orienteer.reading.vocabulary import ENGLISH, WORDS

_LONGEST = 8  # things in a row

_MOST = 24  # lists of one length that are followed


class Object(NamedTuple):
    """One of the things a relation leads to."""

    nodes: NodeSet
    negated: bool = False


class Objects(NamedTuple):
    """The things that a relation leads to: all of them, or any."""

    members: tuple[Object, ...]
    any: bool = False
    both: bool = False
    """`both X and Y`"""
    commas: bool = False
    """They are joined by commas alone so far."""
    amount: tuple[Comparison, float] | None = None
    """How many of them are asked for: `more than 8 genes`."""

    @property
    def is_denied(self) -> bool:
        """Return whether the last of them is denied."""
        return self.members[-1].negated


class Conjunction(NamedTuple):
    """Words that join a thing to those before it."""

    key: str
    """The key of its phrases."""
    is_any: bool = False
    is_denied: bool = False
    denies_verb: bool = False
    """`nor`: where nothing before it is denied, the verb is."""


_CONJUNCTIONS = (
    Conjunction("but not", is_denied=True),
    Conjunction("nor of things", is_denied=True, denies_verb=True),
    Conjunction("or of things", is_any=True),
    Conjunction("and of things"),
)


def objects_at(context: Context, place: int) -> list[Parse[Objects]]:
    """Return the things named here: `X`, `both X and Y`, `X or Y`, `X but not Y`, `neither X nor Y`, `no X`."""
    key = ("objects", place, tuple(context.referents), context.antecedent)
    return context.once(key, lambda: best([*_counted(context, place), *_listed(context, place)]))


def _counted(context: Context, place: int) -> Iterator[Parse[Objects]]:
    """Yield `more than 8 genes`, `all of the 3 genes`."""
    for begin in context.skips(place, WORDS["before both"]):
        for amount in count(context, begin):
            for head in context.nodes(amount.last):
                if not head.value.named:
                    last, asked, _ = or_so(context, head, amount.value)
                    objects = Objects((Object(head.value),), amount=asked)
                    yield Parse(last, objects, head.cost + amount.cost)


def _listed(context: Context, place: int) -> Iterator[Parse[Objects]]:
    """Yield lists of every length, with what is said before them of all: `both`, `neither`, `any of`."""
    keys = ("neither", "both of", "one of them", "none of")
    neither, both, either, none = (context.end_of(place, key) for key in keys)
    begin = next((start for start in (neither, both, either, none) if start is not None), place)
    if begin > place:  # "neither in X nor in Y"
        begin = context.skip(begin, WORDS["all prepositions"] - {"between"})
    is_denied = neither is not None or none is not None
    for parse in _rows(context, begin, is_neither=neither is not None, is_denied=is_denied):
        objects = parse.value._replace(both=both is not None)
        if either is not None:
            objects = objects._replace(any=len(objects.members) > 1)
        yield parse._replace(value=objects)


def _rows(context: Context, begin: int, *, is_neither: bool, is_denied: bool) -> Iterator[Parse[Objects]]:
    """Yield `X`, `X and Y`, `X, Y and Z`: the lists that begin here, longer and longer."""
    front = [
        Parse(head.last, Objects((Object(head.value, is_denied),)), head.cost)
        for head in context.nodes(begin)
        # "every paradigm" asks for all of them, which no condition here says
        if head.value.named or context.at(begin) not in ("all", "every", "each", "everything")
    ]
    antecedent = context.antecedent
    if antecedent is not None and context.at(begin) in WORDS["spoken of"]:
        front.append(Parse(begin + 1, Objects((Object(antecedent, is_denied),)), 0.05))
    for _ in range(_LONGEST):
        yield from front
        longer = [further for parse in front for further in _with_one_more(context, parse, is_neither=is_neither)]
        front = sorted(longer, key=lambda parse: parse.cost)[:_MOST]
        if not front or context.is_exhausted():
            return


def _with_one_more(context: Context, parse: Parse[Objects], *, is_neither: bool) -> Iterator[Parse[Objects]]:
    """Yield a list with the thing behind it: `, Y`, `and Y`, `or Y`, `but not Y`; `or both` closes it."""
    any_of_them = context.end_of(parse.last, "or any of them")
    if any_of_them is not None:
        if len(parse.value.members) > 1:
            yield Parse(any_of_them, parse.value._replace(any=True), parse.cost - 0.05)
        return
    for conjunction in _CONJUNCTIONS:
        begin = context.end_of(parse.last, conjunction.key)
        if begin is not None and _may_follow(conjunction, parse.value):
            yield from _joined(context, parse, conjunction, begin, is_neither=is_neither)
            return
    yield from _behind_comma(context, parse, is_neither=is_neither)


def _joined(
    context: Context, parse: Parse[Objects], conjunction: Conjunction, begin: int, *, is_neither: bool
) -> Iterator[Parse[Objects]]:
    """Yield a list with what a conjunction joins to it."""
    objects = parse.value
    # what is joined to a denied one by `or` is denied as well: `not X or Y`
    follows_denial = conjunction.is_any and objects.is_denied
    is_denied = conjunction.is_denied or is_neither or follows_denial
    are_all_denied = all(member.negated for member in objects.members)
    if follows_denial and context.is_behind_comma(parse.last) and not are_all_denied:
        return  # "X and not Y, or Z" may mean either
    if conjunction.denies_verb and not (objects.is_denied or is_neither):
        is_denied = False
    is_any = objects.any or (conjunction.is_any and not objects.is_denied)
    for head in context.nodes(context.skip(begin, WORDS["all prepositions"] - {"between"})):
        members = (*objects.members, Object(head.value, is_denied))
        yield Parse(head.last, Objects(members, is_any), parse.cost + head.cost)


def _behind_comma(context: Context, parse: Parse[Objects], *, is_neither: bool) -> Iterator[Parse[Objects]]:
    """Yield a list with the name behind its comma."""
    if not context.is_behind_comma(parse.last):
        return
    for head in context.nodes(parse.last):
        if head.value.named:
            members = (*parse.value.members, Object(head.value, is_neither))
            objects = Objects(members, parse.value.any, commas=True)
            yield Parse(head.last, objects, parse.cost + head.cost + 0.02)


def _may_follow(conjunction: Conjunction, objects: Objects) -> bool:
    """Return whether a list may go on so: `X or Y and Z` is no list, nor is `X and Y or Z`."""
    if conjunction.is_any:
        return len(objects.members) == 1 or objects.any or objects.commas or objects.is_denied
    return conjunction.is_denied or not objects.any


def sharing_owners(context: Context, place: int) -> Iterator[Parse[Objects]]:
    """Yield the things that share what is described: `X and Y [share]`, `[common to] X and Y`."""
    begin = context.end_of(place, "shared by")
    for objects in objects_at(context, begin) if begin is not None else ():
        if _are_several(objects.value):
            yield objects
    begin = context.skip(place, WORDS["auxiliaries"])
    for objects in objects_at(context, begin):
        last = context.end_of(context.skip(objects.last, ("both", "all", "each")), "share")
        if last is not None and _are_several(objects.value):
            yield objects._replace(last=last)
        yield from _with_another(context, objects)


def _with_another(context: Context, first: Parse[Objects]) -> Iterator[Parse[Objects]]:
    """Yield `X shares with Y`, `X has in common with Y`."""
    verb = context.end_of(first.last, "alone shares")
    if verb is None or len(first.value.members) > 1:
        return
    withs = ENGLISH.phrases["shared things with"]
    begin = context.starts(verb, *(withs if "shar" in context.at(verb - 1) else withs[:1]))
    for second in objects_at(context, begin) if begin is not None else ():
        members = (*first.value.members, *second.value.members)
        joined = first.value._replace(members=members, both=True)
        if _are_several(joined):
            yield Parse(second.last, joined, first.cost + second.cost)


def _are_several(objects: Objects) -> bool:
    """Return whether these are several named things, all of which are meant."""
    are_named = all(member.nodes.named and not member.negated for member in objects.members)
    return len(objects.members) > 1 and are_named and not objects.any and objects.amount is None


# ------------------------------------------------------------------------------------------------------ parts of nodes


part(objects_at, "objects")
part(names_at, "name")
part(heads_at, "head")


@part
def some(context: Context, place: int) -> list[Parse[NodeSet]]:
    """Read nodes that are described and not named."""
    return [parse for parse in context.nodes(place) if not parse.value.named]


@part
def one(context: Context, place: int) -> list[Parse[NodeSet]]:
    """Read nodes that are named, by themselves or within a phrase: `Duvel`, `the brewery of Duvel`."""
    return [parse for parse in context.nodes(place) if parse.value.named]


@part
def named(context: Context, place: int) -> list[Parse[NodeSet]]:
    """Read a name, and no pronoun of what is described."""
    return [parse for parse in names_at(context, place) if parse.value.named]


@part
def kind(context: Context, place: int) -> Iterator[Parse[frozenset[int]]]:
    """Read a word for a kind of things."""
    return (Parse(unit.last, unit.types, unit.cost) for unit in context.units.types.get(place, ()))


@part
def verb(context: Context, place: int) -> Iterator[Parse[EdgeUnit]]:
    """Read words for edges."""
    return (Parse(unit.last, unit, 0.0) for unit in context.units.edges.get(place, ()))
