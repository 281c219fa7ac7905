"""The types in names of files and columns: `beers.csv` holds beers, `brewery_id` leads to a brewery."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files

_PARTS = re.compile(r"[\W_]+")
_NUMBER_SIGN = re.compile(r"(?i)\bn[°º]|№")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@cache
def header_words(what: str) -> frozenset[str]:
    """Return the words of columns' names that are a hint of something, such as `keys` or `names`: see headers.toml."""
    import tomllib  # here: a search in a graph needs no headers

    told = tomllib.loads((files(__package__) / "headers.toml").read_text(encoding="utf-8"))
    return frozenset(told[what].casefold().split())


@cache
def _irregular() -> dict[str, str]:
    """Return the singulars of plurals that the endings would spell wrongly."""
    pairs = (word.partition(":") for word in header_words("irregular"))
    return {plural: singular or plural for plural, _, singular in pairs}


@lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name in small letters: those of `BreweryID`, `brewery_id` and `brewery id` are the same."""
    name = _NUMBER_SIGN.sub("no ", name)
    words = (word.casefold() for part in _PARTS.split(name) for word in _CAMEL.split(part) if word)
    return tuple(part for word in words for part in ([word] if word.isascii() else _unglued(word)))


def _unglued(word: str) -> list[str]:
    """Return a word and the word of headers that it ends with, in a script without capitals and blanks: `備品 番号`."""
    if word.upper() != word.lower():
        return [word]
    known = header_words("keys") | header_words("names")
    end = max((each for each in known if word.endswith(each) and each != word), key=len, default="")
    return [word.removesuffix(end), end] if end else [word]


@lru_cache(maxsize=4096)
def singular(word: str) -> str:
    """Return the singular of an English plural; any other word as it is."""
    if word in (irregular := _irregular()):
        return irregular[word]
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return word[:-2]
    return word if not word.endswith("s") or word.endswith(("ss", "us", "is")) or len(word) < 4 else word[:-1]


def node_type_of(name: str) -> str:
    """Return the type of the nodes of a file or table: `beer` for `beers`, `beer_style` for `Beer Styles`."""
    words = _telling(name)
    return "_".join((*words[:-1], singular(words[-1]))) if words else "node"


def thing_in(folder: str) -> str | None:
    """Return the type in a folder's name, `disease` for `disease_ontology`, or None."""
    parts = [word.strip("0123456789") for word in _telling(folder)]
    words = [word for word in parts if word not in header_words("of_graphs") and word.isalpha() and len(word) > 2]
    return " ".join((*words[:-1], singular(words[-1]))) if words else None


def kind_of(column: str) -> str:
    """Return the type of the nodes that are made of a column's values: `type` of both `Type 1` and `Type 2`."""
    words = words_of(column)
    while len(words) > 1 and words[-1].isdigit():
        words = words[:-1]
    return singular("_".join(words))


def edge_type_of(name: str) -> str:
    """Return the type of the edges of a file or table: its name as it is, `brewed_by`."""
    return "_".join(_telling(name)) or "edge"


def _telling(name: str) -> tuple[str, ...]:
    words = words_of(name)
    return tuple(word for word in words if word not in header_words("fillers")) or words


def without_key(column: str) -> str:
    """Return a column's name without the words for keys, joined by `_`: `brewery` of `BreweryID` and of `brewery`."""
    words, keys = words_of(column), header_words("keys")
    while len(words) > 1 and words[-1] in keys:
        words = words[:-1]
    while len(words) > 1 and words[0] in keys:
        words = words[1:]
    return "_".join(words)


def is_key(column: str) -> bool:
    """Return whether a column's name begins or ends with a word for keys."""
    words = words_of(column)
    return bool({words[0], words[-1]} & header_words("keys")) if words else False


def says(column: str, what: str) -> bool:
    """Return whether a column's name has one of the words of headers.toml for `what`: `codes`, `names`, `years`."""
    return not header_words(what).isdisjoint(words_of(column))


def is_of_own_rows(column: str) -> bool:
    """Return whether a column's name suggests other rows of its own table: `manager_id`, `parents`."""
    return any({word, singular(word)} & header_words("own_rows") for word in words_of(column))


def is_of_people(table: str) -> bool:
    """Return whether a table's name ends with a word for people."""
    return any({word, singular(word)} & header_words("people") for word in words_of(table)[-1:])


def is_part_of_people(column: str) -> bool:
    """Return whether a column of keys is called by the part that a person plays."""
    return is_key(column) and any(
        word.endswith(tuple(header_words("parts_of_people"))) for word in stem_of(column)[-1:]
    )


@lru_cache(maxsize=4096)
def stem_of(name: str) -> tuple[str, ...]:
    """Return the words of a name in the singular, without those for keys and names: `home team` of `HomeTeamIDs`."""
    words = words_of(name)
    stem = tuple(singular(word) for word in words if word not in header_words("keys") | header_words("names"))
    if len(stem) == 1 and stem[0].endswith("id") and len(stem[0]) > len("paid") and not stem[0].endswith("oid"):
        return (stem[0].removesuffix("id"),)  # movieid
    return stem
