"""Whether the rows of a table are things, edges, or more of another table's rows: what scores best and loses no row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from orienteer.ingest.tables.columns import Columns, ends as ends_of
from orienteer.ingest.tables.draft import Draft
from orienteer.ingest.tables.links import is_in, surprise_of_few_loops
from orienteer.ingest.tables.mapping import ColumnLink
from orienteer.ingest.tables.profile import ColumnProfile
from orienteer.ingest.tables.type_names import is_key, stem_of

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


def joined_columns(draft: Draft, drafts: Sequence[Draft]) -> dict[str, ColumnLink]:
    """Return the two columns that a table joins if its rows are edges, else none; the draft keeps what is not sure."""
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
    """Return the column of ids by which each row says more of a row of another table; None where rows are their own."""
    link = draft.links.get(draft.id_name or "")
    is_led = any(other is not draft and any(x.to == draft.type for x in other.links.values()) for other in drafts)
    if link is None or link.to == draft.type or draft.names or is_led or link.share < 1 - LOST or len(draft.links) > 1:
        return None
    return link.column


def _values_of(link: ColumnLink, drafts: Sequence[Draft]) -> Counter[str] | None:
    """Return the values of the key that an end leads to; None where nodes are made of its values."""
    return next(
        (
            {**draft.profiles, **draft.joined}[link.key].counts
            for draft in drafts
            if link.key and draft.type == link.node_type
        ),
        None,
    )


def _ends(draft: Draft) -> dict[str, ColumnLink]:
    """Return two columns that may be ends: both lead to tables, or one does beside a key, or they share values."""
    links = {
        name: ColumnLink(link.to, link.key)
        for name, link in draft.links.items()
        if link.to != draft.type and not link.separator and name not in draft.joined
    }
    led = draft.links.keys() - draft.joined.keys()
    if len(links) == 2 == len(led):
        return {name: links[name] for name in draft.open if name in links}
    if len(links) == 1 == len(led) and draft.id_name is None and draft.declared is None:
        others = [
            name for name, profile in draft.open.items() if name not in links and is_key(name) and profile.is_whole
        ]
        if len(others) == 1 and draft.open[others[0]].counts:
            draft.guesses.append(f"{others[0]}: leads to no table here, so that nodes are made of its values")
            links[others[0]] = ColumnLink("_".join(stem_of(others[0])) or others[0])
            return {name: links[name] for name in draft.open if name in links}
    if not draft.links:
        return _sharing(draft) or _ends_by_header(draft)
    return {}


def _ends_by_header(draft: Draft) -> dict[str, ColumnLink]:
    """Return two columns whose headers are those of ends, if their values can name rows."""
    pair = [name or "" for name in ends_of(list(draft.open), Columns())]
    fit = [name for name in pair if name in draft.open and has_names(draft.open[name])]
    return {name: ColumnLink("node") for name in fit} if len(fit) == 2 else {}


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
    """Return the share of the values of two columns that both have; nought where they cannot be ends."""
    fewest = FEWEST_SHARED if len(draft.open) <= 3 else FEWEST_VALUES
    is_unlike = (a.whole_numbers is None) != (b.whole_numbers is None) or min(len(a.counts), len(b.counts)) < fewest
    has_gaps = min(a.filled, b.filled) < draft.rows * (1 - LOST)
    is_keyed = (a.is_key and b.is_key) or ((a.is_key or b.is_key) and len(draft.open) > 4)
    common = len(a.counts.keys() & b.counts.keys())
    share = common / min(len(a.counts), len(b.counts)) if a.counts and b.counts else 0.0
    return 0.0 if is_unlike or has_gaps or is_keyed or common < FEWEST_SHARED or share < 0.5 else share
