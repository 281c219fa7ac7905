"""Functions of texts for the engine; they count code points, as Cypher does.

They are written as regular expressions, because the engine's own functions count grapheme clusters (`e` with an accent
is one), return a whole non-ASCII text if the start is beyond its end, break on a negative length, and lose empty parts.
Each writes its text only once: nested calls would double the engine's text otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

from orienteer.cypher.kinds import Value, rendered, repeated
from orienteer.errors import BadQuery

_MOST_REPEATS = 1_000  # of a letter in a regular expression: the limit of RE2, the engine's library
_LARGEST = 2**31 - 1  # letters; a larger number means all
_LONGEST_SEPARATOR = 100  # characters of a split(): it is written into a regular expression
_LETTERS = "regexp_extract_all({}, '(?s).')"
_SPACE = "[\\\\t-\\\\r\\\\x1c-\\\\x20\\\\x{85}\\\\pZ]+"
_END = "\U0010ffff"  # never a character; marks the end of the text that is split


def size(text: str) -> str:
    """Write the number of code points of a text."""
    return f"size(regexp_replace({text}, '[^ -~]', 'x', 'g'))"


def is_empty(text: str) -> str:
    """Write the test whether a text is empty."""
    return f"({text} = '')"


def reverse(text: str) -> str:
    """Write a text in reverse order."""
    return _joined(f"list_reverse({_LETTERS.format(text)})")


def trim(text: str) -> str:
    """Write a text without the white space at both ends, as Unicode defines it."""
    return f"regexp_replace({text}, '^{_SPACE}|{_SPACE}$', '', 'g')"


def ltrim(text: str) -> str:
    """Write a text without the white space at its start."""
    return f"regexp_replace({text}, '^{_SPACE}', '')"


def rtrim(text: str) -> str:
    """Write a text without the white space at its end."""
    return f"regexp_replace({text}, '{_SPACE}$', '')"


def substring(text: Value, start: Value, length: Value | None = None) -> str:
    """Write a part of a text by its start, from 0, and its length."""
    begin, wide = _count(start), None if length is None else _count(length)
    if isinstance(begin, int) and not isinstance(wide, str) and max(begin, wide or 0) <= _MOST_REPEATS:
        rest = "*" if wide is None else f"{{0,{wide}}}"
        return f"regexp_extract({text.text}, '^(?s:.){{{begin}}}((?s:.){rest})', 1)"
    end = _LARGEST if wide is None else f"{begin} + {wide}"
    return _joined(f"list_slice({_LETTERS.format(text.text)}, {begin} + 1, {end})")


def left(text: Value, length: Value) -> str:
    """Write the first letters of a text."""
    wide = _count(length)
    if isinstance(wide, int) and wide <= _MOST_REPEATS:
        return f"regexp_extract({text.text}, '^(?s:.){{0,{wide}}}')"
    return _joined(f"list_slice({_LETTERS.format(text.text)}, 1, {wide})")


def right(text: Value, length: Value) -> str:
    """Write the last letters of a text."""
    wide = _count(length)
    if isinstance(wide, int) and wide <= _MOST_REPEATS:
        return f"regexp_extract({text.text}, '(?s:.){{0,{wide}}}$')"
    letters = f"list_reverse({_LETTERS.format(text.text)})"
    return _joined(f"list_reverse(list_slice({letters}, 1, {wide}))")


def split(text: Value, separator: Value) -> str:
    """Write the list of the parts of a text, empty ones too. Raises `BadQuery` for an unknown or empty separator."""
    literal = separator.known
    if not isinstance(literal, str):
        raise BadQuery("split() takes what it splits at as a text or a parameter, as in split(n.name, ', ')")
    if not 0 < len(literal) <= _LONGEST_SEPARATOR or _END in literal:
        raise BadQuery(
            f"split() takes 1 to {_LONGEST_SEPARATOR} characters to split at, not {len(literal)}: "
            "for one letter write substring(n.name, 0, 1)"
        )
    at = "".join(f"\\\\x{{{ord(letter):x}}}" for letter in literal)
    marked = f"list_to_string({text.text}, ['', '{_END}'])"  # the text with the mark behind it, and null for null
    return f"regexp_extract_all({marked}, '(?s)(.*?)(?:{at}|\\\\x{{{ord(_END):x}}}\\\\z)', 1)"


def replace(text: Value, search: Value, by: Value) -> str:
    """Write a text with each occurrence of a part replaced."""
    if search.known is not None:
        return f"replace({text.text}, {search.text}, {by.text})"
    # The engine never finds an empty part: the result is null then, not the unchanged text.
    return f"CASE WHEN {search.text} <> '' THEN replace({text.text}, {search.text}, {by.text}) END"


def contains(text: Value, part: Value) -> str:
    """Write the test whether a text contains a part. Every text contains the empty part, which the engine misses."""
    if part.known == "":
        return f"({text.text} STARTS WITH '')"
    test = f"{text.text} CONTAINS {part.text}"
    return f"({test})" if part.known is not None else f"({test} OR {text.text} ENDS WITH {part.text})"


def sum_of(parts: Sequence[Value]) -> str:
    """Write texts joined, null if one is null: the engine's own sum takes null for an empty text.

    Raises `BadQuery` for a long part.
    """
    sum_ = f"({' + '.join(part.text for part in parts)})"
    unsure = [part for part in parts if part.known is None]
    repeated("+", *unsure)
    conditions = " AND ".join(f"{part.text} IS NOT NULL" for part in unsure)
    return f"CASE WHEN {conditions} THEN {sum_} END" if unsure else sum_


def matching(text: str, pattern: str, group: int = 0) -> str:
    """Write the match of a pattern in a text, null without one."""
    return f"nullif(regexp_extract({text}, {rendered(pattern)}, {group}), '')"


def _joined(letters: str) -> str:
    return f"list_to_string('', {letters})"


def _count(number: Value) -> int | str:
    """Return a number of letters: the number where it is known, else the engine's text, which is null below 0."""
    if isinstance(number.known, int):
        return min(number.known, _LARGEST)
    # The engine computes both branches of a CASE, so neither may hold a form that breaks it.
    return f"CASE WHEN ({number.text}) >= 0 THEN ({number.text}) END"
