"""The columns of ids and names of a table, and whether its rows are things, edges, or more of another table's rows.

Each is decided by a score of values and headers; what would lose rows is not chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise

from orienteer.ingest.tables.columns import Columns, ends as ends_of, node_role, plainly
from orienteer.ingest.tables.draft import SURE, Draft, Link
from orienteer.ingest.tables.links import is_in, surprise_of_few_loops
from orienteer.ingest.tables.mapping import ColumnLink
from orienteer.ingest.tables.plan import JOIN
from orienteer.ingest.tables.profile import ColumnProfile
from orienteer.ingest.tables.type_names import is_key, is_of_people, is_part_of_people, says, stem_of

LOST = 0.005
"""Share of rows that edges may lose because an end says nothing, or leads nowhere."""
REPEATED = 0.05
"""Share of rows whose pair was there before that makes rows things: two goals in one match are two."""
CLOSE = 0.75
"""Scores that differ less are told as a question."""
FEWEST_SHARED, FEWEST_VALUES = 3, 5
"""Values that the ends of a list of edges share, and have in a table of more than three columns."""
SURPRISE, WORDS_SURPRISE = 4.0, 1.0
"""How surprising it has to be, in nats, that two columns so seldom have one value in a row; the same of words."""
MOST_BESIDE = 2
"""Columns that a row has besides its ends, up to which it stays an edge if an end leads nowhere."""
MOST_TEXTS = 1
"""Columns of words beside the ends of a list of edges."""
LEAST_ID, LEAST_NAME = 1.5, 2.2
"""Scores from which on a column is one of ids, and of names."""
NAMES_DIFFER = 0.7
"""Share of different values in a column of names."""
NEARLY_ALL = 0.95
"""Share of rows that a column of names has one for."""
FEWEST_EXPECTED = 2.0
"""Pairs of rows that would be alike in two columns by chance, where none is because together they are a key."""
SOME = 500
"""Values that are looked at one by one."""
LONGEST_NAME = 7
"""Blanks in a name."""


def id_column(draft: Draft, links: Sequence[Link], referred: Collection[str]) -> str | None:
    """Return the column of the ids: first by references from other tables, then by name, position and values.

    `links` are what the table's columns may lead to, `referred` the columns that columns of other tables lead to.
    """
    parts = draft.parts
    own = stem_of(draft.type)
    far = [link for link in links if link.to != draft.type and stem_of(link.column) != own]
    away = {link.column for link in far if link.bits >= SURE or link.named == 1}
    if len(away) == 1:  # rows may say more of another table's rows, and be called as these are
        away = {name for name in away if not draft.open[name].is_key}
    ranked: list[tuple[float, int, str]] = []
    for place, (name, column) in enumerate(draft.open.items()):
        is_known = node_role(name)[0] == "id"
        is_nearly = column.filled > draft.rows / 2 and 2 * len(column.counts) > draft.rows
        if plainly(name) == "id" and is_nearly:
            return name  # one that is there twice is an error, which is told with its rows
        if not column.is_key or column.kind not in ("code", "name", "number") or name in (*parts, draft.index):
            continue
        if column.kind == "number" and column.whole_numbers is None:
            continue
        stem = stem_of(name)
        is_referred, is_keyed = name in referred, is_key(name)
        score = 4.0 * is_referred + 2.0 * (place == 0)
        score += 3.0 * (plainly(name) in ("id", "_id", "#key")) or 2.0 * (is_keyed or is_known)
        score += 1.0 * (bool(stem) and stem == own[-len(stem) :]) + 1.0 * (column.kind == "code")
        score -= 3.0 * (name in away and not is_referred)
        score -= 2.0 * (is_referred and column.kind == "name")  # names are referred to, too
        if place and not is_keyed and not is_known and not is_referred:
            score -= 3.0 * (column.kind == "number")
            score -= 2.0 * (column.kind == "name" and not says(name, "names"))
        ranked.append((score, -place, name))
    best = max(ranked, default=(0.0, 0, ""))
    return best[2] if best[0] >= LEAST_ID else None


def joint_key(draft: Draft) -> tuple[str, ...]:
    """Return the first two columns if only together they are different in each row, though by chance they would not."""
    pair = list(draft.open.items())[:2]
    called = [p for p in draft.open.values() if p.kind in ("code", "name") or p.whole_numbers is not None]
    if (
        len(pair) < 2
        or draft.is_declared
        or any(p.is_key and (p in dict(pair).values() or is_key(p.name)) for p in called)
    ):
        return ()
    (first, a), (second, b) = pair
    key = JOIN.join((first, second))
    if a not in called or b not in called or {first, second} & draft.given.keys():
        return ()
    is_free = key.count(JOIN) == 1 and key not in draft.open
    return (first, second) if is_free and _are_key_together(draft, first, second) else ()


def _are_key_together(draft: Draft, first: str, second: str) -> bool:
    """Return whether two columns are together different in each row, though by chance they would not be."""
    a, b = draft.open[first], draft.open[second]
    if min(a.filled, b.filled) < draft.rows or draft.rows**2 / 2 / (len(a.counts) * len(b.counts)) < FEWEST_EXPECTED:
        return False
    seen, rows = set[str](), 0
    for cells in draft.cell_columns(first, second):
        rows += len(cells[0])
        seen.update(map(" ".join, zip(*cells, strict=True)))  # `New` and `York Hill` are `New York` and `Hill`
        if len(seen) < rows:
            return False
    return True


def name_columns(draft: Draft, taken: Collection[str]) -> tuple[str, ...]:
    """Return the column of the rows' names; two for first and last names; empty if there is none.

    Columns that are `taken` lead to other tables.
    """
    fit = {
        name: column
        for name, column in draft.open.items()
        if name not in taken and column.kind in ("name", "code") and not column.has_lists
    }
    parts = draft.parts if set(draft.parts) <= fit.keys() else ()
    if parts:
        whole = {" ".join(pair) for pair in draft.cells(*parts)}
        full = [name for name in fit if name not in parts and 2 * len(fit[name].counts.keys() & whole) > len(whole)]
        return (full[0],) if full else parts
    own, key = stem_of(draft.type), draft.id_name or ""
    # Classes with the id `Class` are called by it, and not by their teachers or rooms.
    is_called = bool(key) and stem_of(key) == own and not is_key(key)
    ranked: list[tuple[float, int, str]] = []
    for place, (name, column) in enumerate(fit.items()):
        stem, is_keyed = stem_of(name), is_key(name)
        role, rank = node_role(name)
        different = len(column.counts) / column.filled
        some = list(column.counts)[:SOME]
        long = sum(value[:1].islower() or value[:1].isdigit() or value.count(" ") > LONGEST_NAME for value in some)
        named = len(some) - long
        score = 3.0 * (role == "name" or says(name, "names"))
        score -= 0.1 * rank * (role == "name")
        score += 2.0 * (bool(stem) and stem == own[-len(stem) :] and not is_keyed)
        is_other = column.kind == "code" or is_of_people(name) or is_part_of_people(f"{name}_id")
        score -= 3.0 * (is_called and name != key and is_other)
        score += 1.7 * different + named / len(some) + 0.5 * (place < 2)
        score -= 1.5 * (column.kind == "code") + 2.0 * (different < NAMES_DIFFER)
        score -= sum(any(map(str.isdigit, value)) for value in some) / len(some)
        score -= (1.0 if name == draft.id_name else 2.0) * is_keyed
        score -= 2.0 * (column.filled < draft.rows / 2) or 1.5 * (column.filled < NEARLY_ALL * draft.rows)
        ranked.append((score, -place, name))
    best = max(ranked, default=(0.0, 0, ""))
    if best[0] >= LEAST_NAME:
        return (best[2],) if best[2] != draft.id_name else ()
    if draft.id_name in taken or is_called:
        return ()  # the rows say more of others, or are called by their ids
    # Routes are called by their numbers, GR100.
    keys = [name for name, column in fit.items() if name != draft.id_name and column.is_key]
    lettered = [name for name in keys if all(any(map(str.isalpha, value)) for value in fit[name].counts)]
    # People have first and last names, whatever these columns are called.
    words = [name for name, column in draft.open.items() if name in fit and all(map(_is_word, column.counts))]
    pairs = (pair for pair in pairwise(draft.open) if set(pair) <= set(words) and _are_key_together(draft, *pair))
    return tuple(lettered[:1]) or next(pairs, ())


def _is_word(value: str) -> bool:
    """Return whether a value is a word as names are: `Ada`, `O'Neill`, `Meyer-Lux`."""
    return value[:1].isupper() and not any(map(str.isdigit, value)) and value.count(" ") < 2


def joined_columns(draft: Draft, drafts: Sequence[Draft]) -> dict[str, ColumnLink]:
    """Return the two columns that a table joins if its rows are edges, else none. Questions are added to the draft."""
    referred = any(link.to == draft.type for other in drafts if other is not draft for link in other.links.values())
    if referred:
        return {}
    ends = _ends(draft)
    if not ends:
        return {}
    is_one_kind = len({link.node_type for link in ends.values()}) == 1
    rows, lost, pairs = 0, 0, Counter[tuple[str, ...]]()
    keys = [_values_of(link, drafts) for link in ends.values()]
    for pair in draft.cells(*ends):
        rows += 1
        lost += not all(cell and (key is None or is_in(cell, key)) for cell, key in zip(pair, keys, strict=True))
        pairs[pair] += 1
    if lost > max(1, LOST * rows):
        draft.questions.append(
            f"{lost:,} of {rows:,} rows have no end that is there; rows are things, so that none is lost"
        )
        return {}
    own_id = draft.id_name is not None and draft.id_name not in ends
    if own_id and len(draft.open) == len(ends) + 1 and draft.open[draft.id_name or ""].is_counter:
        own_id = False  # the id numbers the pairs, and says nothing more
    is_named = bool(set(draft.names) - ends.keys())
    # An id of their own makes rows things, two ends of one kind make them edges.
    as_things = 1.0 + 2.0 * own_id + 0.5 * is_named
    are_told = all(link.key for link in ends.values()) and not is_one_kind
    is_repeated = rows - len(pairs) > REPEATED * rows
    loses_much = lost > 0 and len(draft.open) - len(ends) > MOST_BESIDE
    as_edges = 2.5 + 1.0 * is_one_kind - 2.0 * ((is_repeated or loses_much) and are_told)
    if abs(as_things - as_edges) < CLOSE:
        taken = ("edges", "things") if as_edges > as_things else ("things", "edges")
        draft.questions.append(f"rows may be {taken[1]}; taken for {taken[0]}")
    return ends if as_edges > as_things else {}


def says_more(draft: Draft, drafts: Sequence[Draft]) -> str | None:
    """Return the column of ids if each row extends a row of another table, else None."""
    link = draft.links.get(draft.id_name or "")
    is_led = any(other is not draft and any(x.to == draft.type for x in other.links.values()) for other in drafts)
    if link is None or link.to == draft.type or draft.names or is_led or link.share < 1 - LOST or len(draft.links) > 1:
        return None
    return link.column


def _values_of(link: ColumnLink, drafts: Sequence[Draft]) -> Counter[str] | None:
    """Return the values of the key that an end leads to, or None if nodes are made of its values."""
    owners = (draft for draft in drafts if link.key and draft.type == link.node_type)
    return next(({**draft.profiles, **draft.joined}[link.key].counts for draft in owners), None)


def _ends(draft: Draft) -> dict[str, ColumnLink]:
    """Return two columns that may be ends: both lead to tables, or one does and the other is a key, or they overlap."""
    links = {
        name: ColumnLink(link.to, link.key)
        for name, link in draft.links.items()
        if link.to != draft.type and not link.separator and name not in draft.joined
    }
    led = draft.links.keys() - draft.joined.keys()
    if len(links) == 2 == len(led):
        return {name: links[name] for name in draft.open if name in links}
    if len(links) == 1 == len(led) and draft.id_name is None and not draft.is_declared:
        others = [
            name for name, profile in draft.open.items() if name not in links and is_key(name) and profile.is_whole
        ]
        if len(others) == 1 and draft.open[others[0]].counts:
            draft.guesses.append(f"{others[0]}: leads to no table here, so that nodes are made of its values")
            links[others[0]] = ColumnLink("_".join(stem_of(others[0])) or others[0])
            return {name: links[name] for name in draft.open if name in links}
    if not draft.links:
        headed = [name for name in ends_of(list(draft.open), Columns()) if name and has_names(draft.open[name])]
        by_header = {name: ColumnLink("node") for name in headed} if len(headed) == 2 else {}
        return _sharing(draft) or by_header
    return {}


def _sharing(draft: Draft) -> dict[str, ColumnLink]:
    """Return two columns that share their values, and join one with itself less often than chance would."""
    fit = {name: column for name, column in draft.open.items() if has_names(column)}
    texts = [name for name, column in draft.open.items() if column.kind in ("name", "prose")]
    best: tuple[float, tuple[str, ...]] = (0.0, ())
    for place, (first, a) in enumerate(fit.items()):
        for second, b in list(fit.items())[place + 1 :]:
            share = _shared(draft, a, b)
            if share <= best[0] or len(set(texts) - {first, second}) > MOST_TEXTS:
                continue
            if a.whole_numbers is not None and (set(list(draft.open)[:2]) != {first, second} or texts):
                continue
            is_wordy = a.whole_numbers is None and len(a.counts | b.counts) >= FEWEST_VALUES and a.kind == b.kind
            surprise = surprise_of_few_loops(draft, a, b)
            if surprise > SURPRISE or (is_wordy and surprise > WORDS_SURPRISE):
                best = (share, (first, second))
    names = {stem_of(name)[-1:] for name in best[1]}
    node_type = names.pop()[0] if len(names) == 1 and names != {()} else "node"
    return {name: ColumnLink(node_type) for name in best[1]}


def has_names(column: ColumnProfile) -> bool:
    """Return whether the values of a column can name rows: codes, words or whole numbers."""
    return column.kind in ("code", "name") or column.whole_numbers is not None


def _shared(draft: Draft, a: ColumnProfile, b: ColumnProfile) -> float:
    """Return the share of values that two columns have in common, or 0 if they cannot be ends."""
    fewest = FEWEST_SHARED if len(draft.open) <= 3 else FEWEST_VALUES
    is_unlike = (a.whole_numbers is None) != (b.whole_numbers is None) or min(len(a.counts), len(b.counts)) < fewest
    has_gaps = min(a.filled, b.filled) < draft.rows * (1 - LOST)
    is_keyed = (a.is_key and b.is_key) or ((a.is_key or b.is_key) and len(draft.open) > 4)
    common = len(a.counts.keys() & b.counts.keys())
    share = common / min(len(a.counts), len(b.counts)) if a.counts and b.counts else 0.0
    return 0.0 if is_unlike or has_gaps or is_keyed or common < FEWEST_SHARED or share < 0.5 else share
