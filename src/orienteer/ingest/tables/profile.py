"""Profiles of the columns of a table, from all of their values, which are counted in one reading."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import chain, islice, repeat
from types import MappingProxyType, NoneType
from typing import Any, Literal, TypeAlias

import numpy as np

from orienteer.graph.edges import CodedColumn
from orienteer.ingest.formats.table import EDGE_ROWS, PointedText
from orienteer.ingest.tables.cells import holds, is_text, texts_of
from orienteer.ingest.tables.forms import MOST_SHAPES, Dates, Form, Numbers, form_of, shapes_of
from orienteer.ingest.tables.plan import Table
from orienteer.ingest.tables.type_names import is_key, says
from orienteer.ingest.tables.values import (
    LONGEST_NUMBER,
    PROSE_WORDS,
    identifier,
    items,
    numeric,
    parts_of,
    without_decimal,
)

_NULLS = r"n/a N/A NA - – — null NULL None NaN nan \N #N/A <NA> (null) k.A."
NULL_WORDS = tuple(_NULLS.split())
"""Words that say that there is no value, in tables of text."""
MOST_VALUES = 2_000_000
"""Different values of a column that are counted: what has more is compared with nothing."""
MOST_CHARACTERS = 1 << 27
"""Characters of a column's different values that are counted."""
SAME_FORM = 0.8
"""Share of a column's other values that have the form of `NA` or `-` where these are values themselves."""
FEWEST_LISTS = 0.6
"""Share of cells in brackets that make a column one of lists."""
SOME_VALUES = 2_000
"""Values that tell codes from names and texts."""
TRUTHS = frozenset(
    frozenset(pair.split())
    for pair in ("yes no", "true false", "y n", "t f", "ja nein", "j n", "oui non", "si no", "sí no", "sim não", "x")
)
"""The two words, or the one, of columns that say yes or no."""
HALVES = frozenset({"yes", "no", "y", "n", "true", "false", "t", "f", "ja", "nein", "m", "male", "female"})
"""Values that say yes or no, or divide all things into two halves: no kind of thing."""
REPEATS, MOST_KINDS = 2, 1000
"""Rows a value, on average, that make the values of a column a kind of thing, and how many values it has at most."""
MOST_REPEATED = 0.02
"""Share of rows that may be there twice in a table whose ids are looked for."""
LONGEST_PART, MOST_BLANKS = 40, 4
"""Characters, and blanks, of a part of a list."""

LEAST_CHANCE = 2.0**-60
"""The chance of a number to be one of a column's, at least."""
_CODED = re.compile(r"0[\d '’\u00a0\u202f]")
"""A nought at the head, which no number has."""
_DECIMAL = re.compile(r"\d,\d")
_WHOLE = re.compile(r"-?\d{1,18}([.,]0)?", re.ASCII)

Kind: TypeAlias = Literal["empty", "number", "date", "truth", "code", "name", "prose", "list"]
"""What the values of a column are; `name` for short texts."""


@dataclass(eq=False)
class ColumnProfile:
    """The cells of a column. `counts` holds how often each text is there, without what says nothing."""

    name: str
    rows: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    is_whole: bool = True
    """All cells were counted; else the column is too long, or its texts are."""
    null_words: dict[str, int] = field(default_factory=dict)
    kept_words: dict[str, int] = field(default_factory=dict)
    """Null words that are values here: `NA` among codes of countries, `-` beside `+`."""
    has_lists: bool = False
    """Some cells are lists of the file's format."""
    characters: int = 0
    decimal: str = ""
    """The decimal sign of numbers that the file holds as such, or of other columns where this one leaves it open."""
    repeats: int = 0
    """Rows of the table that equal an earlier one."""
    order: str = ""
    """The order of the table's other dates, where these leave it open."""
    said_beside: frozenset[str] = frozenset()
    """The words that other columns of the table have among their numbers or dates."""

    @cached_property
    def filled(self) -> int:
        """Return the number of non-empty cells."""
        return self.counts.total()

    @cached_property
    def is_key(self) -> bool:
        """Return whether every row has a value of its own."""
        is_filled = self.is_whole and 0 < self.rows == self.filled and not self.has_lists
        return is_filled and self.rows - self.repeats == len(self.counts)

    @property
    def is_nearly_key(self) -> bool:
        """Return whether every row has a value, and few rows have the value of another."""
        more = self.rows - len(self.counts)
        return self.is_whole and self.filled == self.rows and 0 < more <= MOST_REPEATED * self.rows

    @cached_property
    def is_numeric(self) -> bool:
        """Return whether all values are numbers as programs write them."""
        return self.is_whole and bool(self.counts) and all(numeric(value) is not None for value in self.counts)

    @cached_property
    def shapes(self) -> Counter[str] | None:
        """Count the shapes of the values; None for texts, which have too many."""
        shapes, values = Counter[str](), iter(self.counts)
        while some := list(islice(values, MOST_SHAPES)):
            shapes.update(shapes_of(some))
            if len(shapes) > MOST_SHAPES:
                return None
        return shapes

    @cached_property
    def form_and_others(self) -> tuple[Form | None, frozenset[str]]:
        """Return the form that the values have, or most of them, and the values of another form."""
        if not self.is_whole or not self.counts or self.has_lists or self.shapes is None:
            return None, frozenset()
        return form_of(self.shapes, self.counts.keys(), decimal=self.decimal, order=self.order)

    @cached_property
    def others(self) -> tuple[str, ...]:
        """Return the values that are not numbers or dates if most are: `pending`, `ca. 5`."""
        return tuple(filter(self.form_and_others[1].__contains__, self.counts)) if self.form_and_others[1] else ()

    @cached_property
    def form(self) -> Form | None:
        """Return the form of the values except `others`, as numbers or dates, or None if it is not clear."""
        form, others = self.form_and_others
        values = self.counts.keys() - others
        if not isinstance(form, Numbers):
            return form
        if others and all(map(str.isdigit, values)) and not self._are_placeholders(others):
            return None  # rooms are called 101, 102 and Aula
        if form.unit:
            return form
        if not form.is_proved:
            has_noughts = any(map(_CODED.match, values))
            has_plus = all(value[0] == "+" for value in values)
            if has_noughts or has_plus or says(self.name, "codes"):
                return None
        if all(map(str.isdigit, values)):
            return form
        # Rows that are called 0.1 and 0.10 are not called by numbers.
        are_names = self.is_key and len({form.read(value) for value in values}) < len(values)
        return None if are_names else form

    def _are_placeholders(self, words: Collection[str]) -> bool:
        """Return whether words stand for missing values: each is there several times, or in other columns, too."""
        is_repeated = len(self.counts) < self.filled and all(self.counts[word] > 1 for word in words)
        is_worded = not any(any(map(str.isdigit, word)) for word in words)
        return is_worded and (is_repeated or self.said_beside.issuperset(words))

    @cached_property
    def kind(self) -> Kind:
        """Return the kind of the values."""
        if not self.is_whole:
            return "prose"
        if not self.counts:
            return "empty"
        if self.has_lists or self.separators == ("json",):
            return "list"
        if self.form is not None:
            return "number" if isinstance(self.form, Numbers) else "date"
        if frozenset(value.casefold() for value in list(self.counts)[:3]) in TRUTHS:
            return "truth"
        if self.is_prose:
            return "prose"
        some = list(self.counts)[:SOME_VALUES]
        coded = sum(map(_is_code, some))
        return "code" if 2 * coded > len(some) else "name"

    @cached_property
    def whole_numbers(self) -> list[int] | None:
        """Return the values in order if all are whole numbers as programs write them, else None."""
        if self.kind != "number" or not (_are_digits(self.counts) or all(map(_WHOLE.fullmatch, self.counts))):
            return None
        return sorted(wholes_of(self.counts))

    @cached_property
    def is_counter(self) -> bool:
        """Return whether the values only number the rows, from 0 or 1 on."""
        whole = self.whole_numbers
        return self.is_key and whole is not None and whole[0] < 2 and whole[-1] - whole[0] == self.rows - 1

    @cached_property
    def has_years(self) -> bool:
        """Return whether the values are years: all have four digits, and the column's name or their range says so."""
        whole = self.whole_numbers
        if not whole or not 1000 <= whole[0] <= whole[-1] <= 9999:
            return False
        return says(self.name, "years") or (not is_key(self.name) and whole[0] > 1500 and whole[-1] < 2100)

    @cached_property
    def is_prose(self) -> bool:
        """Return whether the values are texts to read."""
        if not self.is_whole:
            return True
        words = map(len, map(str.split, self.counts, repeat(None), repeat(PROSE_WORDS)))
        return 3 * sum(count >= PROSE_WORDS for count in words) > len(self.counts)

    @cached_property
    def has_texts(self) -> bool:
        """Return whether the values are texts, not lists or objects."""
        return not self.has_lists and not any(value[:1] in "[{" for value in self.counts)

    @cached_property
    def has_blanks(self) -> bool:
        """Return whether most values have a blank, as names of people do."""
        return self.kind == "name" and 2 * sum(" " in value for value in self.counts) > len(self.counts)

    @cached_property
    def separators(self) -> tuple[str, ...]:
        """Return the possible separators of the values of a cell."""
        text = "\n".join(self.counts)  # at once, for most columns have none of the signs
        bracketed = sum(1 for value in self.counts if value[:1] == "[" and value[-1:] == "]") if "[" in text else 0
        if self.has_lists or (bracketed and bracketed >= FEWEST_LISTS * len(self.counts)):
            return ("json",)
        marks = [mark for mark in ("|", ";", ",") if mark in text]
        strokes = [value for value in self.counts if "/" in value] if "/" in text else []  # km/h, 2011/2012 are one
        has_lists = strokes and all(value.count("/") == value.count(" / ") for value in strokes)
        return (*marks, "/") if has_lists else tuple(marks)

    @cached_property
    def list_separator(self) -> str:
        """Return the separator of cells with short values that recur in other cells; empty without lists.

        Commas and strokes part lists only where cells have different numbers of them, and one has none or parts change
        places: `City, State` is one value.
        """
        if self.kind not in ("code", "name"):
            return ""
        for mark in self.separators:
            parts = [[part.strip() for part in value.split(mark)] for value in self.counts]
            several = [cell for cell in parts if len(cell) > 1]
            counts = Counter(part for cell in parts for part in set(cell) if part)
            is_short = all(len(part) < LONGEST_PART and part.count(" ") <= MOST_BLANKS for part in counts)
            is_decimal = mark == "," and any(map(_DECIMAL.search, self.counts))
            if is_decimal or not is_short or 20 * len(several) <= len(parts):
                continue
            recurring = sum(1 for cell in several if all(counts[part] > 1 for part in cell if part))
            lengths = set(map(len, parts))
            if mark in "|;":
                if len(several) > 1 or recurring:
                    return mark
            elif 2 * recurring >= len(several) and len(lengths) > 1 and (min(lengths) == 1 or _move(several)):
                return mark
        return ""

    def kind_separator(self, *, fewest: int = REPEATS) -> str | None:
        """Return the separator of values that are a kind of thing, empty for single values; None for a property.

        A kind of thing: words that repeat, not numbers, dates, symbols or answers of yes and no.
        """
        is_too_many = len(self.counts) > MOST_KINDS and not self.separators
        if not self.is_whole or is_too_many or self.is_numeric or self.is_prose or not self.counts:
            return None
        separator = next((mark for mark in self.separators if mark in ("json", "|", ";")), self.list_separator)
        values = Counter[str]()
        for cell, count in self.counts.items():
            for part in parts_of(cell, separator):
                values[part] += count
        is_kind = (
            2 <= len(values) <= MOST_KINDS
            and fewest * len(values) <= values.total()
            and all(len(value) > 1 and not value[:1].isdigit() and "://" not in value for value in values)
            and not {value.casefold() for value in values} <= HALVES
        )
        return separator if is_kind else None

    def density(self, values: Collection[int]) -> float:
        """Return the chance that a whole number in the range of some values is one of this column's."""
        whole = self.whole_numbers or []
        if not values or not whole:
            return 1.0
        inside = bisect_right(whole, max(values)) - bisect_left(whole, min(values))
        below = min(0, whole[0], *values)
        chance = max(len(whole) / (whole[-1] - below + 1), min(1.0, inside / (max(values) - below + 1)))
        return max(chance, LEAST_CHANCE)


def _move(cells: Sequence[Sequence[str]]) -> bool:
    """Return whether most items of lists occur at several positions; cities before states do not."""
    places: dict[str, set[int]] = defaultdict(set)
    for cell in cells:
        for place, part in enumerate(cell):
            places[part].add(place)
    return 2 * sum(1 for found in places.values() if len(found) > 1) > len(places)


def _is_code(value: str) -> bool:
    """Return whether a value looks like a code: no letters, or one word that is short, or has digits or capitals."""
    if not any(map(str.isalpha, value)):
        return True
    return " " not in value and (len(value) < 3 or value.isupper() or any(map(str.isdigit, value)))


def _are_digits(texts: Collection[str]) -> bool:
    """Return whether all texts are digits alone, of whole numbers: faster than a look at each."""
    digits = "".join(texts)
    return digits.isascii() and digits.isdigit() and min(map(len, texts)) > 0 and max(map(len, texts)) <= LONGEST_NUMBER


def wholes_of(texts: Iterable[str]) -> set[int]:
    """Return the whole numbers among some texts, as programs write them."""
    texts = list(texts)
    if _are_digits(texts):
        return set(map(int, texts))
    return {int(without_decimal(text)) for text in texts if _WHOLE.fullmatch(text) is not None}


def profiles_of(table: Table, names: Collection[str] | None = None) -> dict[str, ColumnProfile]:
    """Read a table once, and return the profiles of its columns, or of some of them."""
    chosen = [name for name in table.columns if names is None or name in names]
    profiles = {name: ColumnProfile(name) for name in chosen}
    for batch in table.batches():
        for name, profile in profiles.items():
            profile.rows += len(batch)
            if profile.is_whole:
                _count(profile, batch.columns.get(name, ()))
    for profile in profiles.values():
        _make_texts(profile)
        if table.format.is_text:
            _take_nulls(profile)
    _settle(profiles.values())
    if any(profile.is_nearly_key for profile in profiles.values()):
        # A row that is there twice, with the same cells, is one.
        different = set[int]()
        for batch in table.batches():
            different.update(hash(tuple(map(str, row))) for row in zip(*batch.columns.values(), strict=True))
        for profile in profiles.values():
            profile.repeats = profile.rows - len(different)
            profile.__dict__.pop("is_key", None)
    return profiles


def _count(profile: ColumnProfile, values: Sequence[Any]) -> None:
    """Count cells: texts and numbers as they are, for equal ones have one text; others as texts."""
    if isinstance(values, CodedColumn) and is_text(values):
        counts = np.bincount(values.codes, minlength=len(values.values)).tolist()
        profile.counts.update({text: count for text, count in zip(values.values, counts, strict=True) if count})
        return  # few and the same again: never too many
    types = {str} if is_text(values) else set(map(type, values))
    if any(issubclass(kind, float | Decimal | PointedText) for kind in types):
        profile.decimal = "."
    if not types <= {str, int, float, NoneType}:
        profile.has_lists |= any(issubclass(kind, list | tuple | dict) for kind in types)
        values = list(chain.from_iterable(map(_texts_in, values)))
    elif float in types:
        values = [None if cell != cell else cell for cell in values]  # no NaN equals another
    before = len(profile.counts)
    profile.counts.update(values)
    if len(profile.counts) > before:
        profile.characters += sum(map(len, values if types == {str} else map(str, filter(None, values))))
    if len(profile.counts) > MOST_VALUES or profile.characters > MOST_CHARACTERS:
        profile.is_whole = False
        profile.counts.clear()


def _make_texts(profile: ColumnProfile) -> None:
    """Make texts of the cells that were counted. Blanks around them do not count, and blank cells are empty."""
    cells = [*profile.counts]
    texts = list(map(str.strip, texts_of(cells)))
    if texts != cells:
        told, profile.counts = profile.counts, Counter()
        for text, count in zip(texts, told.values(), strict=True):
            profile.counts[text] = profile.counts.get(text, 0) + count
    del profile.counts[""]


def _texts_in(cell: Any) -> list[str]:
    """Return the members of a list, none of an object, and the text of anything else."""
    if isinstance(cell, list | tuple):
        return items(list(cell))
    return [] if isinstance(cell, dict) else [identifier(cell)]


def _settle(profiles: Iterable[ColumnProfile]) -> None:
    """Set an open decimal sign or order of dates by the proofs of the table's other columns."""
    forms = [(profile, profile.form) for profile in profiles]
    signs = Counter(form.decimal for _, form in forms if isinstance(form, Numbers) and form.is_proved)
    dates = [form for _, form in forms if isinstance(form, Dates) and form.is_proved]
    orders = Counter(form.order for form in dates if form.order in ("d/m/y", "m/d/y"))
    words = Counter(word for profile, _ in forms for word in profile.others)
    said = frozenset(word for word, count in words.items() if count > 1)
    for profile, form in forms:
        if form is None and said.intersection(profile.others):
            profile.said_beside = said
            del profile.form
        if form is None or not form.is_open:
            continue
        del profile.form_and_others
        if isinstance(form, Numbers) and signs:
            profile.decimal = signs.most_common(1)[0][0]
        elif isinstance(form, Dates) and orders:
            profile.order = orders.most_common(1)[0][0]
        del profile.form


def _take_nulls(profile: ColumnProfile) -> None:
    """Move null words out of the counts. `NA` and `-` remain if the other values look like them."""
    words = {word: profile.counts.pop(word) for word in NULL_WORDS if word in profile.counts}
    for word, count in words.items():
        similar = sum(1 for value in profile.counts if _form(value) == _form(word))
        if word in ("NA", "-") and similar and similar >= SAME_FORM * len(profile.counts):
            profile.kept_words[word] = count
        else:
            profile.null_words[word] = count
    profile.counts.update(profile.kept_words)


def _form(value: str) -> str:
    """Return the form of a code: two capital letters, one sign; empty for all others."""
    if len(value) == 2 and value.isascii() and value.isalpha() and value.isupper():
        return "AA"
    return "+" if len(value) == 1 and not value.isalnum() else ""


def with_nulls(
    table: Table, names: Sequence[str], notes: list[str], known: Mapping[str, ColumnProfile] = MappingProxyType({})
) -> Table:
    """Return a table that reads the null words of some columns as empty cells, and note them.

    It is read for columns without a known profile; those with a null word are profiled.
    """
    others = [name for name in names if name not in known]
    found = set[str]()
    for batch in table.batches(rows=EDGE_ROWS) if others else ():
        found.update(name for name in others if name not in found and holds(batch.columns[name], NULL_WORDS))
    profiles = {**known, **(profiles_of(table, found) if found else {})}
    profiles = {name: profiles[name] for name in names if name in profiles}
    for what, words in (
        ("empty", {name: profile.null_words for name, profile in profiles.items()}),
        ("values, for the others there look alike", {name: profile.kept_words for name, profile in profiles.items()}),
    ):
        told = [
            f"{column} {', '.join(f'{count:,} {word}' for word, count in counts.items())}"
            for column, counts in words.items()
            if counts
        ]
        notes += [f"{table.file}: read as {what}: {', '.join(told)}"] if told else []
    null_words = {name: frozenset(profile.null_words) for name, profile in profiles.items() if profile.null_words}
    return replace(table, null_words=null_words) if null_words else table
