"""What several named things have together: `paradigms that Java and Go share`, `common to X and Y`."""

from __future__ import annotations

from collections.abc import Iterator

from orienteer.reading.context import Context, Parse
from orienteer.reading.function_words import AUXILIARIES, phrases_of
from orienteer.reading.objects import Objects, objects_at

_SHARE = phrases_of(
    """share, shares, shared, have in common, has in common, had in common, share in common, share with each other,
    have in common with each other"""
)
_SHARED_BY = phrases_of(
    """shared by, shared between, shared among, common to, in common between, in common to, in common for,
    shared in common by, that are common to"""
)
_ALONE_SHARES = phrases_of("share, shares, shared, have, has, had")
_WITH = phrases_of("in common with, with")


def sharing_owners(context: Context, place: int) -> Iterator[Parse[Objects]]:
    """Yield the things that share what is described: `X and Y [share]`, `[common to] X and Y`."""
    begin = context.starts(place, *_SHARED_BY)
    for objects in objects_at(context, begin) if begin is not None else ():
        if _are_several(objects.value):
            yield objects
    begin = context.skip(place, AUXILIARIES)
    for objects in objects_at(context, begin):
        last = context.starts(context.skip(objects.last, ("both", "all", "each")), *_SHARE)
        if last is not None and _are_several(objects.value):
            yield objects._replace(last=last)
        yield from _with_another(context, objects)


def _with_another(context: Context, first: Parse[Objects]) -> Iterator[Parse[Objects]]:
    """Yield `X shares with Y`, `X has in common with Y`."""
    verb = context.starts(first.last, *_ALONE_SHARES)
    if verb is None or len(first.value.members) > 1:
        return
    begin = context.starts(verb, *(_WITH if "shar" in context.at(verb - 1) else _WITH[:1]))
    for second in objects_at(context, begin) if begin is not None else ():
        members = (*first.value.members, *second.value.members)
        joined = first.value._replace(members=members, both=True)
        if _are_several(joined):
            yield Parse(second.last, joined, first.cost + second.cost)


def _are_several(objects: Objects) -> bool:
    """Return whether these are several named things, all of which are meant."""
    are_named = all(member.nodes.named and not member.negated for member in objects.members)
    return len(objects.members) > 1 and are_named and not objects.any and objects.amount is None
