"""The newest or oldest of several documents: by the versions in the names of their files, or by their dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import NamedTuple

from orienteer.elements import Node
from orienteer.methods.documents.heads import day_of
from orienteer.text.english import STOP
from orienteer.text.tokenizer import Tokenizer

MOST_WORDS = 6
"""Of a document's name in a question."""
_NEWEST = r"(?:newest|latest|last|most recent|neueste[nrs]?|(?P<now>current|aktuelle[nrs]?))"
_KIND = r"(?:version|edition|revision|release|draft|copy|fassung|ausgabe)"
_OF = r"(?:of|des|der|von)\s+(?:(?:the|our|my|this)\s+)?"
_OLDEST = r"(?P<oldest>oldest|earliest|first|original|älteste[nrs]?|erste[nrs]?)"
_ASKED = re.compile(
    rf"\b(?:{_NEWEST}\s+(?P<version>{_KIND}\s+{_OF})?(?!(?:of|in|at|on|for)\b)"
    rf"|{_OLDEST}\s+(?P<first>{_KIND}\s+{_OF}))",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"\bbefore\s+(?:the\s+)?$", re.IGNORECASE)
_WHICH = re.compile(
    rf"^(?:which|what)\s+(?P<version>{_KIND}\s+{_OF})(?P<name>.+?)\s+(?:is|was)\s+(?:the\s+)?(?:{_NEWEST}|{_OLDEST})\W*$",
    re.IGNORECASE,
)
_VERSION = re.compile(
    r"(?<![^\W_])(?:version|vers|ver|v|revision|rev)[ ._-]?(\d{1,6}(?:\.\d{1,6}){0,3})(?![^\W_])", re.IGNORECASE
)
_DATE = re.compile(
    r"(?<!\d)((?:19|20)\d\d)(?:[-_.]?(0[1-9]|1[0-2]|(?<=[-_.])[1-9])(?:[-_.]?(0[1-9]|[12]\d|3[01]|(?<=[-_.])[1-9]))?)?"
    r"(?!\d)"
)
_STATE = re.compile(r"(?<![^\W_])(?:draft|final|copy|old|new|latest)(?![^\W_])", re.IGNORECASE)
_BARE = re.compile(r"\W*(?:(?:what|which|show|give|open|find|one|is|was|are|the|our|my|me)\b\W*)*$", re.IGNORECASE)
"""What is before the name of a document if no more is asked for than this."""
_DIGITS = 6  # of a part of a version
_LISTED = 3  # documents that a note names


class Newest(NamedTuple):
    """The newest document of a question, and what is asked of it."""

    document: str
    """Its id, or "" if it is not known which one is the newest."""
    question: str
    """The question without asking for the newest."""
    is_all: bool
    """Nothing more is asked than which document it is."""
    note: str
    """What it was compared with, or why that cannot be done."""
    said: tuple[str, str] | None = None
    """`newest` and the word behind it, where the question has no word for versions: the texts may have both, too."""


class Versions:
    """Documents with one name or one title, apart from versions and dates. Safe to share among threads."""

    def __init__(self, documents: Sequence[Node]) -> None:
        self._documents = documents

    @cached_property
    def _named(self) -> list[tuple[Node, tuple[frozenset[str], frozenset[str]]]]:
        """The documents, each with the words of its name and of its title."""
        return [(one, (_words(PurePosixPath(one.id).stem), _words(one.name))) for one in self._documents]

    def newest(self, question: str) -> Newest | None:
        """Return the newest or oldest of the documents that a question names; None if it names none of one name.

        What is current need not be a document, so that None is also returned if it is not known which one is.
        """
        asked = _WHICH.match(question) or _ASKED.search(question)
        if asked is None:
            return None
        before, rest = question[: asked.start()], question[asked.end() :]
        if asked.re is _WHICH:
            before, rest = "What is the ", asked["name"]
        is_said = bool(asked["version"] or asked["oldest"])
        if (other := _ASKED.search(rest)) is not None and (other["version"] or other["first"]):
            return Newest("", question, False, "two versions are asked for: ask about each by itself")
        if _BEFORE.search(before):
            return Newest("", question, False, "only the newest or the oldest can be asked for, not the one before it")
        ends = [word.end() for word in re.finditer(r"[^\W_]+", rest)][:MOST_WORDS]
        for end, is_whole in [*((end, True) for end in ends), *((end, False) for end in reversed(ends) if is_said)]:
            called = _words(rest[:end])
            named = [(one, names) for one, names in self._named if called <= names[0].union(names[1])]
            for kind in (0, 1):
                exact = [(one, names) for one, names in named if names[kind] == called]
                own = exact if len(exact) > 1 else named
                words = {names[kind] for _, names in own}
                if called and len(own) > 1 == len(words) and (not is_whole or called >= words.pop()):
                    document, note = _last([one for one, _ in own], is_oldest=bool(asked["oldest"]))
                    if not document and not is_said and asked["now"]:
                        return None
                    is_all = rest[end:].strip(" ?.!") == "" and _BARE.match(before) is not None
                    said = None if is_said else (asked[0].strip(), rest[:end].split()[0])
                    return Newest(document, before + rest, is_all, note, said)
        return None


def _words(name: str) -> frozenset[str]:
    """Return the words of a name but stop words, without versions, numbers and the like."""
    words = Tokenizer.words(_STATE.sub(" ", _VERSION.sub(" ", name)).replace("_", " "))
    return frozenset(word for word in words if word not in STOP and not word.isdigit())


def _last(documents: Sequence[Node], *, is_oldest: bool) -> tuple[str, str]:
    """Return the id of the newest or oldest document, "" if it is not known, and a note on how it was found."""
    last = "oldest" if is_oldest else "newest"
    for what, key in (("version", _version), ("date", _day), ("the date of its file", _saved)):
        known = {one.id: key(one) for one in documents}
        ids = sorted(known, key=lambda one: known[one], reverse=not is_oldest)
        others = [known[one] for one in ids[1:]]
        # 2024 may be after 2024-05-01.
        is_open = any(one.startswith(known[ids[0]]) or known[ids[0]].startswith(one) for one in others)
        if all(known.values()) and not is_open:
            return ids[0], f"{ids[0]} is the {last} by {what}; the others: {_listed(ids[1:])}"
    return "", f"which one is the {last} is not known by versions or dates: {_listed([one.id for one in documents])}"


def _listed(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _LISTED:,} more" if len(ids) > _LISTED else ""
    return f"{', '.join(ids[:_LISTED])}{more}"


def _version(document: Node) -> str:
    """Return the version in a document's name, in a form that is compared as a text; or ""."""
    found = _VERSION.search(PurePosixPath(document.id).stem)
    return ".".join(part.zfill(_DIGITS) for part in found[1].split(".")) + " " if found is not None else ""


def _day(document: Node) -> str:
    """Return the date of a document, else that in its name, or in the nearest folder that has one; or ""."""
    named = next(filter(None, map(_DATE.search, reversed(PurePosixPath(document.id).parts))), None)
    in_name = "-".join(part.zfill(2) for part in named.groups() if part) if named is not None else ""
    return day_of(document.properties, ["date"]) or in_name


def _saved(document: Node) -> str:
    """Return when a document's file was last saved, or made; or ""."""
    return day_of(document.properties, ["modified", "created"])
