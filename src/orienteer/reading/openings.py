"""How questions begin: polite words, and the words that say what is asked for."""

from __future__ import annotations

from orienteer.reading.context import Context
from orienteer.reading.function_words import phrases_of, words_of

POLITE = phrases_of(
    """please, state, can you, could you, would you, i want to know, i would like to know, i d like to know, do you
        know, tell me, show me, give me, find me, i need to know, i wonder, we need, i need, i want, i am looking
        for, i m looking for, looking for, help me find, let me know, i d need, i d want, i m after, take, i m
        interested in, i am interested in, say, i m curious, i am curious, i m trying to find, just, so, and, ok,
        hi, hello, could i get, could i have, can i get, can i see, id like, i d like, may i have, me, about, out,
        for me, each, every, all, everything that is, to know, do we know, us, list me, what about, how about,
        return, get, get me, fetch, see, on average, work out, figure out, check, determine, compute, calculate,
        could you please, might you, would you be so kind as to, be so kind as to, i was wondering, i m wondering, i
        am wondering, any idea, have you any idea, do you have any idea, do you happen to know, would you happen to
        know, i d be interested in knowing, i would be interested in knowing, i d be interested to know, i d love to
        see, i d love to know, i would love to know, i d like to see, i would like to see, kindly, let s see, let us
        see, what i want to know is, what i d like to know is, what i would like to know is, my question is, quick
        question, question, hi there, hey, hey there, hello there, good morning, go ahead and, are you able to, is
        it possible to, is it possible to know, provide, provide me with, retrieve, i d like you to, i would like
        you to, i want you to, would you mind telling me, would you mind, telling me, find out, help me find out,
        help me, i need to, i have to, we d like to know, we want to know, we would like to know, i m trying to find
        out, i m trying to work out, out of curiosity, in this graph, in the graph, in this dataset, in the dataset,
        in this data, in the data, in this database, in the database, according to the data, according to the graph,
        according to this graph, according to this data, based on the data, based on the graph, from the data, from
        the graph, here, may i know, may i ask, can i ask, could i ask, i d like to ask, see if you can, try to,
        thanks, in total, overall, altogether, can you see, could you say, can you say, are you aware of, point out,
        so what, so which, so who, only, now, well, actually, basically, right, okay, right then, now then, ok so, i
        m just after, i just want, i just want to know, i ve been asked, i was asked, someone asked me, somebody
        asked me, remind me, can you remind me, i forget, i can t remember, i can not remember, i cannot remember,
        do you remember, would you know, would you happen to have, have you got, have we got, do we have, do you
        have, is there any way to know, any chance you know, any clue, i ve got to know, i d want to know, what i
        need is, what i want is, what i m after is, the thing i want is, pull up, bring up, look up, dig out, dig
        up, run me through, walk me through, talk me through, spell out, jot down, write down, give us, show us,
        tell us, get us, find us, i should like to know, i d appreciate, i would appreciate, i d be grateful for, i
        m keen to know"""
)
LISTING = phrases_of(
    """list, name, find, identify, show, give, which, what, who, whom, whose, enumerate, display, tell, what are,
    which are, who are, what is, which is, who is, what s, who s, what were, who were, who was, what was, in which, in
    what, on which, at which, to which, by which, by whom, from which, for which, with which, into which, of which,
    under which, with whom, at what, on what, to what, by what, with what, from what, for what, of what, under what,
    under whom, after whom, from whom, of whom, which of, names of, the names of, name of, the name of, a list of, the
    list of, list of, a full list of, the full list of, a complete list of, the complete list of, full list of,
    complete list of, the name of every, the names of all, all, are there, is there, what are the names of, what is
    the name of, where is, where are, where"""
)
COUNTING = phrases_of(
    """at how many, through how many, under how many, into how many,
        how many different, how many distinct, how many of, how many, number of, the number of, total number of, the
    total number of, count of, the count of, count how many, count all, count the, count up the, count up all, count
    up, count, what is the number of, what is the total number of, what s the number of, tally of, how large is the
    number of, the headcount of, what number of, size of the set of, what is the count of, how big is the set of,
    amount of, the amount of, in how many, on how many, to how many, by how many, for how many, from how many, with
    how many, of how many"""
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
