"""The forms of a text: what Markdown or HTML marks as heading, item, quotation, code, emphasis and link.

A graph keeps the words of a document without its marks. If the file is still the one that was read, `fitted` finds for
each line of a stored text the form that has its words.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from orienteer.ingest.documents.read.markup import HEADINGS, tags_of

Kind: TypeAlias = Literal["line", "heading", "paragraph", "item", "quote", "code", "table"]
Style: TypeAlias = Literal["strong", "em", "code", "link"]
_STYLES: dict[str, Style] = {"b": "strong", "strong": "strong", "i": "em", "em": "em", "cite": "em", "a": "link"}
_STYLES |= {"code": "code", "kbd": "code", "samp": "code", "tt": "code"}
_WITHIN = frozenset(
    [*_STYLES, *("span", "abbr", "q", "s", "del", "ins", "sub", "sup", "small", "u", "mark", "img", "wbr")]
)
_AHEAD, _BEHIND, _LONGEST = 4, 1, 20_000
"""Forms around the last one among which a line is searched that is a part of one, and their most characters."""
_DEEPEST = 40  # styles and lists within each other


class Run(NamedTuple):
    """Some words of a form, counted in the characters that are not spaces."""

    begin: int
    end: int
    style: Style
    address: str


class Form(NamedTuple):
    """A block of a source, or a line of its code."""

    kind: Kind
    level: int
    """Of a heading from 1; otherwise the lists around it."""
    number: int | None
    """Of an item in a numbered list."""
    words: str
    """Its text without spaces."""
    runs: tuple[Run, ...]


def forms_of(markup: str) -> list[Form]:
    """Return the forms of an HTML text in order. Takes time that grows with its length, whatever it holds."""
    walk = _Walk()
    for name, about, text in tags_of(f"<p>{markup}"):
        walk.take(name.removeprefix("/"), about, is_end=name.startswith("/"))
        walk.say(f"{about.get('alt', '')} {text}" if name == "img" else text)
    walk.flush()
    return walk.forms


class _Walk:
    def __init__(self) -> None:
        self.forms: list[Form] = []
        self._words = ""
        self._runs: list[Run] = []
        self._open: list[Run] = []
        """Styles without an end so far."""
        self._lists: list[int | None] = []
        """For each list around the number of its last item, None if it is not numbered."""
        self._heading = self._quotes = 0
        self._is_item = self._is_code = False

    def take(self, name: str, about: Mapping[str, str], *, is_end: bool) -> None:
        """Take a tag."""
        step = -1 if is_end else 1
        if name in _WITHIN:
            if (style := _STYLES.get(name)) is not None:
                self._style(style, about.get("href", ""), is_end=is_end)
            return
        self.flush()
        if name in HEADINGS:
            self._heading = 0 if is_end else HEADINGS[name]
        elif name == "pre":
            self._is_code = not is_end
        elif name == "blockquote":
            self._quotes = max(0, self._quotes + step)
        elif name in ("ul", "ol", "dl"):
            first = int(about["start"]) if about.get("start", "").isdecimal() else 1
            self._lists = self._lists[:-1] if is_end else [*self._lists, first - 1 if name == "ol" else None][:_DEEPEST]
        elif name == "li" and not is_end:
            self._is_item = True
            if self._lists and (number := self._lists[-1]) is not None:
                self._lists[-1] = number + 1

    def say(self, text: str) -> None:
        """Take some words; each line of code is a form of its own."""
        first, *others = text.split("\n") if self._is_code else [text]
        self._words += squeezed(first)
        for line in others:
            self.flush()
            self._words = squeezed(line)

    def flush(self) -> None:
        """End a block."""
        words, runs = self._words, (*self._runs, *(run._replace(end=len(self._words)) for run in self._open))
        self._words, self._runs, self._open = "", [], [run._replace(begin=0) for run in self._open]
        if not words:
            return
        kind: Kind = "quote" if self._quotes else "item" if self._is_item else "paragraph"
        kind = "heading" if self._heading else "code" if self._is_code else kind
        number = self._lists[-1] if kind == "item" and self._lists else None
        self._is_item = False
        shown = () if kind == "code" else tuple(run for run in runs if run.style != "link" or run.address)
        self.forms.append(Form(kind, self._heading or len(self._lists), number, words, shown))

    def _style(self, style: Style, address: str, *, is_end: bool) -> None:
        if not is_end and len(self._open) < _DEEPEST:
            self._open.append(Run(len(self._words), 0, style, address))
        same = [at for at, run in enumerate(self._open) if is_end and run.style == style]
        if same:
            self._runs.append(self._open.pop(same[-1])._replace(end=len(self._words)))


def squeezed(text: str) -> str:
    """Return a text without its spaces."""
    return "".join(text.split())


class Fitted(NamedTuple):
    """A form, and where the words of a line begin in it."""

    form: Form
    at: int


def fitted(lines: Iterable[str], forms: Sequence[Form]) -> Iterator[Fitted]:
    """Yield for each line of a document's text, in order, the form that has its words, or one of the kind `line`."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, form in enumerate(forms):
        places[form.words].append(place)
    now = 0
    for line in lines:
        words, found = squeezed(line), -1
        if same := places.get(words):
            # The next one, else the last one before: sections may be repeated, and chunks overlap.
            found = same[min(bisect_left(same, now), len(same) - 1)]
        elif words:
            near = range(max(0, now - _BEHIND), min(len(forms), now + _AHEAD))
            found = next((at for at in near if len(forms[at].words) < _LONGEST and words in forms[at].words), -1)
        now = now if found < 0 else found + (1 if same else 0)
        yield Fitted(forms[found], forms[found].words.find(words)) if found >= 0 else _LINE


_LINE = Fitted(Form("line", 0, None, "", ()), 0)
