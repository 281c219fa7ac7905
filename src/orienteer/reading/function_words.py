"""The small words between the names of a question: what they are, and how they are grouped. Of no one graph."""

from __future__ import annotations


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


def phrases_of(text: str) -> tuple[str, ...]:
    """Return phrases that are written with commas between them, in their order: the longer before its beginning."""
    return tuple(" ".join(phrase.split()) for phrase in text.split(","))


DETERMINERS = words_of(
    """a an the any some all every each those these its their his her our your my of different distinct various known
    individual existing whole certain whatever such other particular respective entire full specific there"""
)
"""Words before a noun that say nothing which a query tells."""

EMPTY = words_of(
    """please also actually there overall altogether total here exactly exist exists existing available
    recorded listed you think know ever themselves itself respectively entirely the whole i ve got in have currently
    presently now still today nowadays thanks cheers"""
)
"""Words that may end a question and say nothing."""

ENDINGS = tuple(
    tuple(ending.split())
    for ending in phrases_of(
        """in the graph, in this graph, in the data, in the dataset, in the database, in this database, in this
        dataset, in this data, in total, at all, are there, is there, there are, do we have, in all, do you have, do
        you know, on record, in the whole graph, of them, all together, are known, can you tell me, do you know of,
        are recorded, are listed, are they, is it, did it, in here, as well, that we have, that there are, that
        exist, we have, in the collection, in the catalogue, in question, are in the graph, does the graph have,
        does the graph hold, does the graph contain, have we got, or both, or either, or any of them, for me, or
        both of them, of any kind, of them all, of all of them, of all, any more, anymore, any longer, be, were
        there, was there, each, too, either, are, is, was, were, do, all in all, all told, thank you, thank you very
        much, thanks a lot, many thanks, please and thank you, according to the graph, according to this graph,
        according to the data, according to this data, as far as you know, as far as we know, in your data, in your
        graph, in your database, of all of these, at present, right now, at the moment, to date, so far, if you can,
        if you don t mind, if possible, if any, by any chance, then, we ve got, you ve got, you have got, have they
        got, have you got, on your books, on our books, on the books, on file, on our records, in our records, in
        your records, in the records, on the list, on our list, around here, out there, at this point, to your
        knowledge, to our knowledge, that you know of, that we know of, you know of, we know of, by now, if you
        know, if you happen to know, if that s possible, put together, and so on, do you reckon, roughly, yes or no,
        true or false, to their name, to its name, to his name, to her name, under their belt, both included,
        inclusive, both inclusive, to make, to build, to buy"""
    )
)
"""Phrases that may end a question and say nothing."""

HERE_FIRST = words_of("that which who are is there here in listed recorded known available present included")
HERE = HERE_FIRST | words_of(
    """this the graph data dataset database total all altogether exist exists we have you do does hold at on record us
    been has"""
)
"""Words for being in the graph, `that are listed here`, and those that it may begin with."""

FINDING = phrases_of(
    """can i find, can one find, can you find, can we find, could i find, would i find, would you find, do i find,
        do you find, do we find, will i find, might i find, does one find, you find, one finds, you can find, one
        can find, i can find, we find, i find, might i come across, would i come across, can i come across, do i
        come across, could i come across, do you come across, you come across, i come across, will i come across,
        might i run into, can be found, could be found, may be found, to be found, can i see, can one see"""
)
"""Words for being somewhere: `beers that you find in X`."""

BEING = words_of("is are was were")

AUXILIARIES = words_of(
    """is are was were be been being am do does did has have had can get gets got also both ever themselves itself
    usually directly jointly commonly together actually known said to thereby officially originally still already now
    currently presently"""
)
"""Words before a verb that say nothing by themselves."""

DENIALS = words_of("not never no cannot neither nor without")
"""Words that deny what follows."""

PRONOUNS = words_of("it there them him her")
"""Words for named nodes that were spoken of before in the same sentence."""

RELATIVE = words_of("that which who whom where when")
"""Words that begin a clause."""

PREPOSITIONS = words_of(
    """by with to of on in for from as at into against upon within inside under through over via about between among
    than out toward towards onto off behind near around up because alongside"""
)

PARTICLES = words_of("after before out off along away down up apart")
"""Words that belong to a verb where an edge type's label has them, `named_after`, and say something else without."""

TELLING = words_of("on for with under from to against without")
"""Prepositions that change what a verb says."""

HAVING = words_of("got with having has have had featuring possessing offer offers offering")
"""Words before what nodes have."""

STATING = words_of(
    """worth have has had got reach reaches attain attains offer offers show shows charge charges carry carries see saw
    get"""
)
"""Verbs before and behind a property that say no more than that nodes have it: `reach a top speed of 30 kn`."""

CONTAINING = words_of(
    "contain contains contained containing include includes included including comprise comprises hold"
)
"""Verbs for having, where no edge is called so."""

LACKING = words_of("without lacking lack lacks")
"""Words before what nodes do not have."""

ADVERBIAL = phrases_of(
    """involved in, used for, able to, responsible for, known to, known for, able to be, at the same time, in the end,
    took place, take place, takes place, taken place, happened, occurred, used in, at some point, at any point,
    at some time, meant to, in fact, at least once, in turn, by themselves, on their own, there to, for, made use of to,
    involved with"""
)
"""Phrases that may stand between an auxiliary and its verb."""

ANY_OF = phrases_of(
    """count among, counts among, belong to, belongs to, any of, one of, some of, any one of, at least one of, each of,
    all of, either of, among, one or more of, counted among, part of, amongst, one among"""
)
"""Phrases before a set that nodes are of."""

EXCEPTING = phrases_of(
    """other than, except for, except, excluding, besides, apart from, aside from, not counting, save for, but for,
    minus, leaving out, but not"""
)
"""Phrases before what is left out."""

OTHERS = phrases_of(
    """all other, any other, every other, all others, any others, all the other, all the others, every others"""
)
"""What an adjective is compared with in a superlative: `taller than any other`."""

ANYONE_ELSE = phrases_of(
    """all others, any other, every other, all the others, all other, all the other, any of the others, the others,
    everyone else, anyone else, anybody else"""
)
"""What a property is compared with in a superlative: `born later than anyone else`."""
