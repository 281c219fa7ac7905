"""What several named things have together: `paradigms that Java and Go share`, `common to X and Y`."""

from __future__ import annotations

from collections.abc import Iterator

from orienteer.reading.context import Context, Parse
from orienteer.reading.objects import Objects, objects_at
from orienteer.reading.vocabulary import ENGLISH, WORDS


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
    begin = context.starts(
        verb,
        *(
            ENGLISH.phrases["shared things with"]
            if "shar" in context.at(verb - 1)
            else ENGLISH.phrases["shared things with"][:1]
        ),
    )
    for second in objects_at(context, begin) if begin is not None else ():
        members = (*first.value.members, *second.value.members)
        joined = first.value._replace(members=members, both=True)
        if _are_several(joined):
            yield Parse(second.last, joined, first.cost + second.cost)


def _are_several(objects: Objects) -> bool:
    """Return whether these are several named things, all of which are meant."""
    are_named = all(member.nodes.named and not member.negated for member in objects.members)
    return len(objects.members) > 1 and are_named and not objects.any and objects.amount is None
