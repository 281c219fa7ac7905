"""How questions begin: polite words, and the words that say what is asked for."""

from __future__ import annotations

from orienteer.methods.anchor.reading.context import Context
from orienteer.methods.anchor.reading.function_words import phrases_of, words_of

POLITE = phrases_of(
    """please, can you, could you, would you, i want to know, i would like to know, i d like to know, do you know,
    tell me, show me, give me, find me, i need to know, i wonder, we need, i need, i want, i am looking for,
    i m looking for, looking for, help me find, let me know, i d need, i d want, i m after, take, i m interested in,
    i am interested in, say, i m curious, i am curious, i m trying to find, just, so, and, ok, hi, hello, could i get,
    could i have, can i get, can i see, id like, i d like, may i have, me, about, out, for me, each, every, all,
    everything that is, to know, do we know, us, list me, what about, how about, return, get, get me, fetch, see,
    on average, work out, figure out, check, determine, compute, calculate"""
)
LISTING = phrases_of(
    """list, name, find, identify, show, give, which, what, who, whom, whose, enumerate, display, tell, what are,
    which are, who are, what is, which is, who is, what s, who s, what were, who were, who was, what was, in which,
    in what, on which, at which, to which, by which, by whom, from which, for which, with which, into which, of which,
    under which, with whom, which of, names of, the names of, name of, the name of, a list of, the list of, list of,
    all, are there, is there, what are the names of, what is the name of, where is, where are, where"""
)
COUNTING = phrases_of(
    """at how many, through how many, under how many, into how many,
    how many different, how many distinct, how many of, how many, number of, the number of, total number of,
    the total number of, count of, the count of, count how many, count all, count the, count, what is the number of,
    what is the total number of, what s the number of, tally of, how large is the number of, the headcount of,
    what number of, size of the set of, what is the count of, how big is the set of, amount of, the amount of,
    in how many, on how many, to how many, by how many, for how many, from how many, with how many, of how many"""
)
WORDS = frozenset(word for phrase in (*POLITE, *LISTING, *COUNTING) for word in phrase.split())
"""All words of these phrases, none of which is mistyped."""
ASKING = words_of("is are was were does do did has have had can could will would")
"""Verbs that begin a question to be answered by yes or no."""


def ends(context: Context, place: int, openings: tuple[str, ...]) -> list[int]:
    """Return where phrases end that begin at a place, ascending, each place once."""
    return sorted(set(context.ends(place, openings)))


def begins(context: Context, first: int) -> list[int]:
    """Return where a question may begin behind polite words, ascending: with all, some or none of them left out."""
    places = {first}
    front = [first]
    while front:
        further = [end for end in ends(context, front.pop(), POLITE) if end not in places]
        places.update(further)
        front += further
    return sorted(places)
