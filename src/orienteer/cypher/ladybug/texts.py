"""Functions of texts for the engine, by code points as Cypher counts them.

The engine's own count what is seen as one letter (`e` and its accent), give the whole of a text that is not ASCII where
the start lies beyond its end, break on a length below 0 and lose empty parts: so regular expressions do it. Each is
given its text once, for a text that holds a call doubles what the engine has to read with each repetition.
"""

from __future__ import annotations

from collections.abc import Sequence

from orienteer.cypher.ladybug.kinds import Value, rendered, repeated
from orienteer.errors import BadQuery

_MOST_REPEATS = 1_000  # of a letter in a regular expression of the engine's
_LARGEST = 2**31 - 1  # letters; more stands for all
_LONGEST_SEPARATOR = 100  # characters
_LETTERS = "regexp_extract_all({}, '(?s).')"
_SPACE = "[\\\\t-\\\\r\\\\x1c-\\\\x20\\\\x{85}\\\\pZ]+"
_END = "\U0010ffff"  # no character, and never will be; it marks the end of what is split


def size(text: str) -> str:
    """Return how many code points a text has."""
    return f"size(regexp_replace({text}, '[^ -~]', 'x', 'g'))"


def is_empty(text: str) -> str:
    """Return whether a text has no letters."""
    return f"({text} = '')"


def reverse(text: str) -> str:
    """Return a text from its end."""
    return _joined(f"list_reverse({_LETTERS.format(text)})")


def trim(text: str) -> str:
    """Return a text without the white space at both ends, whatever Unicode calls so."""
    return f"regexp_replace({text}, '^{_SPACE}|{_SPACE}$', '', 'g')"


def ltrim(text: str) -> str:
    """Return a text without the white space at its start."""
    return f"regexp_replace({text}, '^{_SPACE}', '')"


def rtrim(text: str) -> str:
    """Return a text without the white space at its end."""
    return f"regexp_replace({text}, '{_SPACE}$', '')"


def substring(text: Value, start: Value, length: Value | None = None) -> str:
    """Return a part of a text by its start, from 0, and its length. Raises `BadQuery` for one known to be below 0."""
    begin, wide = _count("substring", start), None if length is None else _count("substring", length)
    if isinstance(begin, int) and not isinstance(wide, str) and max(begin, wide or 0) <= _MOST_REPEATS:
        rest = "*" if wide is None else f"{{0,{wide}}}"
        return f"regexp_extract({text.text}, '^(?s:.){{{begin}}}((?s:.){rest})', 1)"
    end = _LARGEST if wide is None else f"{begin} + {wide}"
    return _joined(f"list_slice({_LETTERS.format(text.text)}, {begin} + 1, {end})")


def left(text: Value, length: Value) -> str:
    """Return the first letters of a text. Raises `BadQuery` for a length that is known to be below 0."""
    wide = _count("left", length)
    if isinstance(wide, int) and wide <= _MOST_REPEATS:
        return f"regexp_extract({text.text}, '^(?s:.){{0,{wide}}}')"
    return _joined(f"list_slice({_LETTERS.format(text.text)}, 1, {wide})")


def right(text: Value, length: Value) -> str:
    """Return the last letters of a text. Raises `BadQuery` for a length that is known to be below 0."""
    wide = _count("right", length)
    if isinstance(wide, int) and wide <= _MOST_REPEATS:
        return f"regexp_extract({text.text}, '(?s:.){{0,{wide}}}$')"
    letters = f"list_reverse({_LETTERS.format(text.text)})"
    return _joined(f"list_reverse(list_slice({letters}, 1, {wide}))")


def split(text: Value, separator: Value) -> str:
    """Return the parts of a text, empty ones too. Raises `BadQuery` where the separator is not known, or empty."""
    known = separator.known
    if not isinstance(known, str):
        raise BadQuery("split() takes what it splits at as a text or a parameter, as in split(n.name, ', ')")
    if not 0 < len(known) <= _LONGEST_SEPARATOR or _END in known:
        raise BadQuery(
            f"split() takes 1 to {_LONGEST_SEPARATOR} characters to split at, not {len(known)}: "
            "for one letter write substring(n.name, 0, 1)"
        )
    at = "".join(f"\\\\x{{{ord(letter):x}}}" for letter in known)
    marked = f"list_to_string({text.text}, ['', '{_END}'])"  # a sum, but null of null
    return f"regexp_extract_all({marked}, '(?s)(.*?)(?:{at}|\\\\x{{{ord(_END):x}}}\\\\z)', 1)"


def replace(text: Value, search: Value, by: Value) -> str:
    """Return a text with a part of it replaced everywhere. Raises `BadQuery` for an empty part: it is everywhere."""
    if search.known == "":
        raise BadQuery("replace() needs a text to look for: '' stands before every letter")
    if search.known is not None:
        return f"replace({text.text}, {search.text}, {by.text})"
    # The engine finds no empty part; where one comes it must not be taken for a text without it.
    return f"CASE WHEN {search.text} <> '' THEN replace({text.text}, {search.text}, {by.text}) END"


def contains(text: Value, part: Value) -> str:
    """Return whether a text has a part; the empty one every text has, which the engine does not find."""
    if part.known == "":
        return f"({text.text} STARTS WITH '')"
    found = f"{text.text} CONTAINS {part.text}"
    return f"({found})" if part.known is not None else f"({found} OR {text.text} ENDS WITH {part.text})"


def sum_of(parts: Sequence[Value]) -> str:
    """Return texts as one, null where one is null: the engine's sum takes null for an empty text.

    Raises `BadQuery` where a part is long.
    """
    sum_ = f"({' + '.join(part.text for part in parts)})"
    unsure = [part for part in parts if part.known is None]
    repeated("+", *unsure)
    conditions = " AND ".join(f"{part.text} IS NOT NULL" for part in unsure)
    return f"CASE WHEN {conditions} THEN {sum_} END" if unsure else sum_


def matching(text: str, pattern: str, group: int = 0) -> str:
    """Return what of a text a pattern finds, null where it finds nothing."""
    return f"nullif(regexp_extract({text}, {rendered(pattern)}, {group}), '')"


def _joined(letters: str) -> str:
    return f"list_to_string('', {letters})"


def _count(what: str, number: Value) -> int | str:
    """Return a number of letters: as a number where it is known, else as the engine takes it, null below 0."""
    if number.kind.name == "float":
        raise BadQuery(f"{what}() takes a whole number of letters, not {number.kind.shown} with decimals: toInteger()")
    if isinstance(number.known, int):
        if number.known < 0:
            raise BadQuery(
                f"{what}() takes 0 letters or more, not {number.known}: "
                "for letters at the end write right(text, n), for all but some left(text, size(text) - n)"
            )
        return min(number.known, _LARGEST)
    # Both branches of a CASE are reckoned, so what breaks the engine must not come out of either.
    return f"CASE WHEN ({number.text}) >= 0 THEN ({number.text}) END"
