"""Which columns of a table name its rows, its ids and its names, by a score of what values and headers say."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from orienteer.ingest.tables.columns import NODE_RANKS, plainly
from orienteer.ingest.tables.draft import SURE, Draft, Link
from orienteer.ingest.tables.plan import JOIN
from orienteer.ingest.tables.type_names import header_words, is_key, stem_of, words_of

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
    """Return the column of the ids: what other tables refer to first, then what its name, place and values say.

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
        is_known = NODE_RANKS.get(plainly(name), ("", 0))[0] == "id"
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
        if place and not is_keyed and not is_known and not is_referred:
            score -= 3.0 * (column.kind == "number")
            score -= 2.0 * (column.kind == "name" and not set(words_of(name)) & header_words("names"))
        ranked.append((score, -place, name))
    best = max(ranked, default=(0.0, 0, ""))
    return best[2] if best[0] >= LEAST_ID else None


def joint_key(draft: Draft) -> tuple[str, ...]:
    """Return the first two columns if only together they are different in each row, though by chance they would not."""
    pair = list(draft.open.items())[:2]
    called = [p for p in draft.open.values() if p.kind in ("code", "name") or p.whole_numbers is not None]
    if (
        len(pair) < 2
        or draft.declared is not None
        or any(p.is_key and (p in dict(pair).values() or is_key(p.name)) for p in called)
    ):
        return ()
    (first, a), (second, b) = pair
    is_fit = a in called and b in called and min(a.filled, b.filled) == draft.rows
    key = JOIN.join((first, second))
    if not is_fit or {first, second} & draft.given.keys() or key.count(JOIN) > 1 or key in draft.open:
        return ()
    expected = draft.rows**2 / 2 / (len(a.counts) * len(b.counts))
    if expected < FEWEST_EXPECTED:
        return ()
    seen, rows = set[str](), 0
    for cells in draft.cell_columns(first, second):
        rows += len(cells[0])
        seen.update(map(" ".join, zip(*cells, strict=True)))  # `New` and `York Hill` are `New York` and `Hill`
        if len(seen) < rows:
            return ()
    return (first, second)


def name_columns(draft: Draft, taken: Collection[str]) -> tuple[str, ...]:
    """Return the column by which people call the rows; two for first and last name; none where no column does.

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
    own = stem_of(draft.type)
    ranked: list[tuple[float, int, str]] = []
    for place, (name, column) in enumerate(fit.items()):
        stem, is_keyed = stem_of(name), is_key(name)
        role, rank = NODE_RANKS.get(plainly(name), ("", 0))
        different = len(column.counts) / column.filled
        some = list(column.counts)[:SOME]
        named = sum(
            1
            for value in some
            if not value[:1].islower() and not value[:1].isdigit() and value.count(" ") <= LONGEST_NAME
        )
        score = 3.0 * (role == "name" or bool(set(words_of(name)) & header_words("names"))) - 0.1 * rank * (
            role == "name"
        )
        score += 2.0 * (bool(stem) and stem == own[-len(stem) :] and not is_keyed)
        score += 1.7 * different + named / len(some) + 0.5 * (place < 2)
        score -= 1.5 * (column.kind == "code") + 2.0 * (different < NAMES_DIFFER)
        score -= sum(any(map(str.isdigit, value)) for value in some) / len(some)
        score -= 2.0 * (column.filled < draft.rows / 2) or 1.5 * (column.filled < NEARLY_ALL * draft.rows)
        score -= (1.0 if name == draft.id_name else 2.0) * is_keyed
        ranked.append((score, -place, name))
    best = max(ranked, default=(0.0, 0, ""))
    if best[0] >= LEAST_NAME:
        return (best[2],) if best[2] != draft.id_name else ()
    if draft.id_name in taken:
        return ()  # the rows say more of others
    codes = [  # routes are called by their numbers, GR100
        name
        for name, column in fit.items()
        if name != draft.id_name and column.is_key and all(any(map(str.isalpha, value)) for value in column.counts)
    ]
    return tuple(codes[:1])
