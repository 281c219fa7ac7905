"""Columns that lead to rows of a table, found by how surprising it would be by chance that their values are keys there.

Words and large numbers prove much. Numbers from 1 on are in every table: they prove nothing, and a name has to lead
there, or the rows they lead to say what the name says, or the numbers make a tree of the table's own rows.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from unicodedata import combining, normalize

from orienteer.ingest.tables.draft import BEYOND_DOUBT, SURE, Draft, Link
from orienteer.ingest.tables.forms import Numbers
from orienteer.ingest.tables.plan import JOIN
from orienteer.ingest.tables.profile import ColumnProfile, wholes_of
from orienteer.ingest.tables.type_names import (
    is_key,
    is_of_own_rows,
    is_of_people,
    is_part_of_people,
    singular,
    stem_of,
    words_of,
)
from orienteer.ingest.tables.values import items, without_decimal

WHOLE, NUMBERS_NAMED, WORDS_NAMED, OWN_NAMED, TREE = 0.9, 0.5, 0.3, 0.8, 0.98
"""Share of a column's different values that have to be keys: if its name does not lead there; of numbers and of words
if it does; of its own table's ids if its name says so, and if only a tree does."""
LEADING = 0.7
"""How well the name of a column of small numbers has to lead to a table."""
LEAST_CHANCE, NO_PROOF = 0.02, 0.5
"""The chance that a word is a key of another table at least, and the chance from which on values prove nothing."""
FEWEST_TO_A_ROOT = 4
"""Rows for each without a value, in a tree of a table's own rows that nothing but the numbers tells."""
SAME_ROW = 0.1
"""Share of rows that may lead to themselves."""
LOOPS = 0.05
"""Share of rows that may join a value with itself in two columns of ends."""
FEWEST_NUMBERS = 5
"""Different numbers by which a column leads to a table though its name does not."""
UNLIKELY = 0.5
"""How surprising it has to be that the second column of a list of edges has so few loops."""
FEWEST_PAIRED, FILLED, RARE = 5, 0.8, 6.0
"""Rows of a table that two columns of small numbers lead to by their values, the share of its ids that each has, and
how surprising their end and their few loops are."""
MOST_PARTS = 1_000
"""Different values of a column that may say which part its rows play."""
SAMPLE = 400
"""Values of which one at least has to be a key before all are looked up."""
SHOWN = 3
SHORTEST_HEAD, SHORTEST = 3, 4
"""Letters of a word by which a longer one is meant that begins, or ends, with it: `loc`, `port`; `dept` is none."""
GENERIC = frozenset(
    {"id", "#key", "name", "code", "key", "index", "nr", "no", "number", "title", "label", "type", "value", "date"}
)
"""Names of columns that lead to no table in particular."""


def closeness(column: str, table: str, key: str) -> float:
    """Return how well a column's name leads to a table, from 0 to 1: by the table's name or its key's."""
    if column.casefold() == key.casefold() and "_".join(words_of(column)) not in GENERIC:
        return 1.0  # `uid`, which has no other word
    column, table, key = map(_plain, (column, table, key))
    own, other = stem_of(column), stem_of(table) or tuple(map(singular, words_of(table)))
    if not own:
        return 0.0
    if own in (other, other[-1:], stem_of(key)) or "".join(own) == "".join(other):
        return 1.0
    if (other and own[-1] in (other[-1], "_".join(other))) or own[-1:] == stem_of(key):
        return LEADING
    for a, b in ((own[-1], other[-1]), (other[-1], own[-1])) if other else ():
        is_head = len(own) == 1 and b.startswith(a) and len(a) >= SHORTEST_HEAD
        if a != b and (is_head or (len(a) >= SHORTEST and b.endswith(a))):
            return LEADING  # from_port, of airports; Kunde, of Kunden; loc, of locations
    return 0.0


@cache
def _plain(name: str) -> str:
    """Return a name without accents, which names of files often lack: `adherents.csv`, `N° adhérent`."""
    return "".join(letter for letter in normalize("NFKD", name) if not combining(letter))


def find_links(drafts: Sequence[Draft]) -> dict[str, list[Link]]:
    """Return by file all columns whose values are keys of a table, each with its surprise."""
    found = {draft.file: _links_of(draft, drafts) for draft in drafts}
    for draft in drafts:
        found[draft.file] += _by_their_part(draft, drafts, found[draft.file])
        found[draft.file] += _chains(draft, found[draft.file])
        found[draft.file] += _pairs(draft, drafts, found[draft.file])

    return {
        draft.file: [link for link in found[draft.file] if not _says_less(link, draft, found, drafts)]
        for draft in drafts
    }


def _says_less(link: Link, draft: Draft, found: Mapping[str, Sequence[Link]], drafts: Sequence[Draft]) -> bool:
    """Return whether another link decides where a column leads, or the other table leads to it.

    `AlbumId` leads to albums before all other tables that have the column; of two keys that share their values, the
    fuller one is led to.
    """
    other, is_own = _draft_of(link.to, drafts), _is_called_by_its_table(link)
    beside = [more for more in found[draft.file] if more.column == link.column and more.to != link.to]
    if not is_own and any(map(_is_called_by_its_table, beside)):
        return True
    back = [b for b in found[other.file] if (b.column, b.to, b.key) == (link.key, draft.type, link.column)]
    if other is draft or not back:
        return False
    # Of two tables of the same keys, the one of contracts is led to, and not that of what was paid by month.
    own = (is_own, link.named, link.share, other.rows, _worded(other))
    return (_is_called_by_its_table(back[0]), back[0].named, back[0].share, draft.rows, _worded(draft)) > own


def _worded(draft: Draft) -> int:
    """Count the columns of a table that are no mere measurements."""
    return sum(column.kind != "number" for column in draft.open.values())


def _is_called_by_its_table(link: Link) -> bool:
    """Return whether a link leads to a key that is called as its table is, by a column of that name."""
    table = stem_of(link.to)
    return link.named == 1 and stem_of(link.column) == table and stem_of(link.key) in (table, ())


def _draft_of(node_type: str, drafts: Sequence[Draft]) -> Draft:
    return next(draft for draft in drafts if draft.type == node_type)


def _links_of(draft: Draft, drafts: Sequence[Draft]) -> list[Link]:
    found: list[Link] = []
    unsure: list[Link] = []
    for name, column in (draft.open | draft.joined).items():
        is_number = isinstance(column.form, Numbers) and not column.form.unit
        is_open = is_number or column.kind in ("code", "name", "list")
        if name in (*draft.given, *draft.parts) or not column.counts or not is_open:
            continue
        for other in drafts:
            if not _may_lead_to(name, draft, other):
                continue
            for key, target in other.unique.items():
                if other is draft and (key == name or JOIN in name + key):
                    continue
                link = inclusion(column, other, key, target)
                if link is None:
                    continue
                if _is_proved(link, draft, column, other):
                    found.append(link)
                elif other is not draft and link.share == 1 and link.bits >= SURE / 2 and not column.is_key:
                    unsure.append(link)
    sure, taken = {(link.to, link.key) for link in found}, {link.column for link in found}
    # One column has three of the values, another beside it a hundred.
    return found + [link for link in unsure if (link.to, link.key) in sure and link.column not in taken]


def _may_lead_to(name: str, draft: Draft, other: Draft) -> bool:
    """Return whether a column may lead to a table, before their values are compared."""
    if other is not draft and set(other.profiles) == set(draft.profiles):
        return False  # files with the same columns hold things of one kind
    if not draft.is_declared:
        return True
    # A database says itself what leads where; what it leaves out has to be called as the table is.
    is_led = is_of_own_rows(name) if other is draft else closeness(name, other.type, "") == 1
    return is_led and not any(name in stated.split(JOIN) for stated in draft.stated)


def inclusion(column: ColumnProfile, other: Draft, key: str, target: ColumnProfile) -> Link | None:
    """Return how many of a column's values are values of a key, with cells split if that finds more of them."""
    if (column.whole_numbers is None) != (target.whole_numbers is None) and not column.separators:
        return None
    best: Link | None = None
    for separator in dict.fromkeys((*(() if column.has_lists else ("",)), *column.separators)):
        parts = parts_of_column(column, separator)
        if not parts or not any(is_in(part, target.counts) for part, _ in zip(parts, range(SAMPLE), strict=False)):
            continue
        missing = [part for part in parts if part not in target.counts and not is_in(part, target.counts)]
        share = 1 - len(missing) / len(parts)
        if best is not None and share <= best.share + 0.2:
            continue
        bits = (len(parts) - len(missing)) * -math.log2(_chance(parts, target))
        named = closeness(column.name, other.type, key)
        best = Link(column.name, other.type, key, share, bits, named, separator, tuple(missing[:SHOWN]))
        best = replace(best, absent=len(missing), different=len(parts))
    return best


def parts_of_column(column: ColumnProfile, separator: str) -> list[str]:
    """Return the different values of a column in their order, with cells split by a separator."""
    if separator == "json":
        cells = (items(value) if not column.has_lists else [value] for value in column.counts)
        return list(dict.fromkeys(part.strip() for parts in cells for part in parts))
    if not separator:
        return list(column.counts)
    parts = (cell.strip() for value in column.counts for cell in value.split(separator))
    return list(dict.fromkeys(filter(None, parts)))


def _chance(parts: Collection[str], target: ColumnProfile) -> float:
    """Return the chance that a value of a column is one of a key's; 1 if that proves nothing."""
    if target.whole_numbers is not None:
        chance = target.density(wholes_of(parts))
    else:
        chance = max(len(target.counts) / 26 ** min(map(len, target.counts)), LEAST_CHANCE)
    return chance if chance < NO_PROOF else 1.0


def _is_proved(link: Link, draft: Draft, column: ColumnProfile, other: Draft) -> bool:
    """Return whether values prove a link, with names if the values are few."""
    is_small = column.whole_numbers is not None and link.bits < SURE
    if column.has_years or (JOIN in link.column and link.share < WHOLE):
        return False  # two people may have one name
    if other is draft:
        return _leads_to_own_rows(link, draft, column)
    if is_small:
        is_led = is_key(link.column) or closeness(link.column, other.type, "") >= LEADING
        # Both files call it so, and there it is the first column, and counts: `Entry`, `To entry`.
        is_led |= link.named >= LEADING and link.key == next(iter(other.open)) and other.open[link.key].is_counter
        return link.named > 0 and is_led and link.share >= NUMBERS_NAMED
    if link.named:
        return link.share >= (NUMBERS_NAMED if column.whole_numbers is not None else WORDS_NAMED)
    is_key_of_more = link.bits >= BEYOND_DOUBT and other.rows >= draft.rows
    is_few = column.whole_numbers is not None and len(column.counts) < FEWEST_NUMBERS
    is_enough = link.share >= WHOLE and link.bits >= SURE and not is_few
    return is_enough and (not column.is_key or is_key_of_more)


def _leads_to_own_rows(link: Link, draft: Draft, column: ColumnProfile) -> bool:
    """Return whether a column leads to rows of its own table, by its name, by surprise, or as a tree."""
    is_named = is_of_own_rows(link.column)
    if link.share < (OWN_NAMED if is_named else NUMBERS_NAMED if link.named else WHOLE) or column.is_counter:
        return False
    most_own = SAME_ROW * column.filled
    if not is_named and link.bits < SURE:  # small numbers: a tree, whose roots have no value
        roots = draft.rows - column.filled
        # By chance there is no circle in a share of roots of all cases (Cayley).
        is_tree = 0 < FEWEST_TO_A_ROOT * roots <= draft.rows and link.share > TREE and len(column.counts) > 1
        is_meant = is_key(link.column) or link.named > 0
        return is_tree and is_meant and _is_forest(draft, link)  # no row above itself is among the circles
    return sum(1 for value, key in draft.cells(link.column, link.key) if value and value == key) <= most_own


def _is_forest(draft: Draft, link: Link) -> bool:
    """Return whether no row is above itself, over any number of steps."""
    above = {key: without_decimal(value) for value, key in draft.cells(link.column, link.key) if value}
    done = set[str]()
    for start in above:
        seen, at = set[str](), start
        while at in above and at not in done:
            if at in seen:
                return False
            seen.add(at)
            at = above[at]
        done |= seen
    return True


def _by_their_part(draft: Draft, drafts: Sequence[Draft], found: Sequence[Link]) -> list[Link]:
    """Return columns of small numbers whose name describes the rows that they lead to: `brewer_id`, `town_id`.

    Their name leads to no table, but a column of the one they lead to says `head brewer` or `town` of just these rows;
    or it names the part that somebody plays, and one table is of people.
    """
    taken = {link.column for link in found}
    people = [other for other in drafts if is_of_people(other.type)]
    more = []
    for name, column in draft.open.items():
        stem = stem_of(name)
        is_free = name not in taken and name not in draft.given and stem not in ((), stem_of(draft.type))
        if not is_free or not is_key(name) or not (column.whole_numbers or column.kind == "code"):
            continue
        fitting: list[tuple[float, Link]] = []
        for other in drafts:
            for key, target in other.unique.items():
                link = inclusion(column, other, key, target)
                if link is None or link.share < TREE or (other is draft and key == name):
                    continue
                fitting += [(bits, link) for bits in _bits_of_parts(column, stem[-1], other, key)]
        if fitting and max(fitting, key=lambda pair: pair[0])[0] >= SURE / 2:
            bits, link = max(fitting, key=lambda pair: pair[0])
            more.append(replace(link, bits=bits))
        elif len(people) == 1 and is_part_of_people(name):
            ids = [key for key, target in people[0].unique.items() if target.kind == column.kind and key != name][:1]
            led = [inclusion(column, people[0], key, people[0].unique[key]) for key in ids]
            more += [link for link in led if link is not None and link.share >= TREE]
    return more


def _chains(draft: Draft, found: Sequence[Link]) -> list[Link]:
    """Return columns of keys that lead to no other table, and to each row of their own at most once: `sequel_id`."""
    taken = {link.column for link in found} | draft.given.keys()
    chains = []
    for name, column in draft.open.items():
        is_chain = 1 < len(column.counts) == column.filled < draft.rows
        if name in taken or not is_chain or not column.whole_numbers or not is_key(name):
            continue
        for key, target in draft.unique.items():
            link = inclusion(column, draft, key, target) if key != name else None
            if link is not None and link.share >= WHOLE and _is_forest(draft, link):
                chains.append(link)
    return chains


def _pairs(draft: Draft, drafts: Sequence[Draft], found: Sequence[Link]) -> list[Link]:
    """Return two columns of small numbers, `home` and `away`, that are the ids of one table, and never meet.

    Both end with its last id, so that no other table has their numbers, and no row has one twice, though by chance
    some would.
    """
    taken = {link.column for link in found if link.bits >= SURE or link.to == draft.type} | draft.given.keys()
    led = {link.column: link.to for link in found}
    free = [(name, column) for name, column in draft.open.items() if name not in taken and column.whole_numbers]
    for other in drafts:
        key = next((key for key, target in other.unique.items() if target.is_counter), None)
        if key is None or other is draft or len(other.unique[key].counts) < FEWEST_PAIRED:
            continue
        ids = other.unique[key].whole_numbers or []
        whole = []
        for name, column in free:
            own = column.whole_numbers or []  # most of the ids, and the last one
            fills = FILLED * len(ids) <= len(own) and own[-1] == ids[-1] and set(own) <= set(ids)
            if fills and not column.is_key and led.get(name, other.type) == other.type:
                whole.append((name, column))
        if len(whole) != 2:
            continue
        shared = set(words_of(whole[0][0])) & set(words_of(whole[1][0]))
        if shared and not closeness(whole[0][0], other.type, ""):
            continue  # `ordered month`, `delivered month`
        if surprise_of_few_loops(draft, whole[0][1], whole[1][1]) + math.log(len(ids)) > RARE:
            both = [inclusion(column, other, key, other.unique[key]) for _, column in whole]
            return [link for link in both if link is not None and link.column not in led]
    return []


def surprise_of_few_loops(draft: Draft, a: ColumnProfile, b: ColumnProfile) -> float:
    """Return how surprising it is that so few rows join a value with itself, as ends of edges do; in nats."""
    expected = sum(count * b.counts[value] for value, count in a.counts.items()) / draft.rows
    loops = sum(1 for first, second in draft.cells(a.name, b.name) if first and first == second)
    if loops > LOOPS * draft.rows or not expected:
        return 0.0
    # The chance of so few, by Poisson; its logarithm, so that none is nought.
    terms = [n * math.log(expected) - expected - math.lgamma(n + 1) for n in range(loops + 1)]
    return -(max(terms) + math.log(sum(math.exp(term - max(terms)) for term in terms)))


def _bits_of_parts(column: ColumnProfile, word: str, other: Draft, key: str) -> list[float]:
    """Return how surprising it is, in bits, that columns of a table describe the rows that another column leads to."""
    texts = [name for name, profile in other.open.items() if profile.kind in ("name", "code") and name != key]
    found = []
    for name in texts:
        values = other.open[name].counts
        if len(values) > MOST_PARTS or not any(word in value.casefold() for value in values):
            continue
        rows = [(value, word in map(singular, words_of(text))) for value, text in other.cells(key, name)]
        led = [says for value, says in rows if value in column.counts]
        share = sum(says for _, says in rows) / len(rows)
        if led and sum(led) >= NUMBERS_NAMED * len(led):
            found.append(sum(led) * -math.log2(share))
    return found


def chosen(draft: Draft, links: Sequence[Link], drafts: Sequence[Draft]) -> dict[str, Link]:
    """Return one link a column: by its name before others, to ids before names before other keys."""
    best: dict[str, tuple[tuple[float, ...], Link]] = {}
    for link in links:
        other = _draft_of(link.to, drafts)
        rank = 0 if link.key == other.id_name or link.key in other.joined else 1 if other.names == (link.key,) else 2
        is_beside = link.column.casefold() == link.key.casefold() and not is_key(link.column)
        if _is_satellite(link, other, links, drafts):
            continue  # ratings say more of products: what names either leads to the products
        if not link.named and _is_within_counter(draft.open.get(link.column), other, link.key, drafts):
            continue  # fathers are grooms, but rows are called by neither
        if rank == 2 and (is_beside or (not link.named and link.bits < BEYOND_DOUBT)):
            continue  # two tables with a column `town` lead to the same towns, and neither to the rows of the other
        if link.column == draft.id_name and not _names_rows_of(link, draft, other):
            continue
        if other is draft and draft.names == (link.column,) and link.bits < BEYOND_DOUBT:
            continue
        order = (
            link.named >= 0.9,
            other is not draft or link.bits > SURE,
            link.share > TREE,
            -rank,
            link.share,
            bool(other.names),
            -other.rows,
        )
        if link.column not in best or order > best[link.column][0]:
            best[link.column] = (order, link)
    links_of = {column: link for column, (_, link) in best.items()}
    _without_doubles(links_of, draft)
    alone = {name: link for name, link in links_of.items() if name not in draft.joined}
    return links_of | _second_end(alone, draft, drafts)


def _is_satellite(link: Link, other: Draft, links: Sequence[Link], drafts: Sequence[Draft]) -> bool:
    """Return whether a link leads to a table without names whose ids are those of another table it could lead to."""
    if other.names or link.key != other.id_name:
        return False
    own = other.open[link.key].counts.keys()
    further = (more for more in links if more.column == link.column and more.to != link.to and more.share >= link.share)
    return any(
        own <= _draft_of(more.to, drafts).open[more.key].counts.keys() for more in further if JOIN not in more.key
    )


def _is_within_counter(column: ColumnProfile | None, other: Draft, key: str, drafts: Sequence[Draft]) -> bool:
    """Return whether a counter has all numbers of a column, and the key that it leads to is not a counter."""
    numbers = (column.whole_numbers if column is not None else None) or ()
    if not numbers or key in other.joined or other.profiles[key].is_counter:
        return False
    counters = [each for each in drafts if any(profile.is_counter for profile in each.unique.values())]
    return any(counter.rows >= numbers[-1] for counter in counters)


def _names_rows_of(link: Link, draft: Draft, other: Draft) -> bool:
    """Return whether a column of ids names the rows of another table: it is called as they are, or all its words are
    ids there and name nothing else, and there are more of them.
    """
    is_less = draft.rows < other.rows or (bool(other.names) and not draft.names and draft.rows == other.rows)
    says_more = not draft.names and link.key == other.id_name and link.share == 1 and link.bits >= BEYOND_DOUBT
    return other is not draft and (link.named == 1 or says_more) and is_less


def _without_doubles(links: dict[str, Link], draft: Draft) -> None:
    """Leave out one of two columns that lead to the same rows by two keys, `SourceID` and `Source`."""
    for first in list(links):
        for second in list(links):
            if first == second or not {first, second} <= links.keys():
                continue
            a, b = links[first], links[second]
            is_title = not stem_of(first) or not stem_of(second)  # productions have the titles of their plays
            if a.to == b.to and a.key != b.key and (is_title or _say_the_same(draft, first, second)):
                del links[min(first, second, key=lambda name: (bool(stem_of(name)), links[name].share, is_key(name)))]


def _say_the_same(draft: Draft, first: str, second: str) -> bool:
    if draft.joined.keys() & {first, second}:
        return False
    a, b = draft.profiles[first], draft.profiles[second]
    if len(a.counts) != len(b.counts) or a.counts.keys() == b.counts.keys():
        return False
    return len(set(draft.cells(first, second))) == len(a.counts)


def _second_end(links: Mapping[str, Link], draft: Draft, drafts: Sequence[Draft]) -> dict[str, Link]:
    """Return the second column of a list of edges whose first leads to a table: `service_id`, `depends_on_id`."""
    pair = list(draft.open)[:2]
    if len(links) != 1 or draft.id_name is not None or next(iter(links)) not in pair or len(pair) < 2:
        return {}
    ((name, link),) = links.items()
    second = next(column for column in pair if column != name)
    a, b = draft.profiles[name], draft.profiles[second]
    other = _draft_of(link.to, drafts)
    values = {**other.profiles, **other.joined}[link.key].counts.keys()
    shared = len(a.counts.keys() & b.counts.keys())
    is_end = b.whole_numbers is not None and link.share > WHOLE and 2 * shared >= len(b.counts) > 2
    if not is_end or not b.counts.keys() <= values or surprise_of_few_loops(draft, a, b) < UNLIKELY:
        return {}  # users rate films, and some have one number
    return {second: Link(second, link.to, link.key, 1.0, 0.0, 0.0)}


def resolved(parts: Sequence[str], values: Collection[str]) -> float:
    """Return the share of some values that are among the values of a key."""
    return sum(1 for part in parts if is_in(part, values)) / len(parts) if parts else 0.0


def is_in(part: str, values: Collection[str]) -> bool:
    """Return whether a value is among the values of a key."""
    return key_value(part, values) is not None


def key_value(part: str, values: Collection[str] | Mapping[str, str]) -> str | None:
    """Return the key that a value spells: itself, or `12` for `12.0`."""
    if part in values:
        return part
    whole = without_decimal(part)
    return whole if whole != part and whole in values else None
