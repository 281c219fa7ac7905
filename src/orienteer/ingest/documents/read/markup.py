"""HTML made fit for a parser: every tag well formed, none nested deeply, each block with its line.

A parser of HTML takes time and memory that grow with the square of some pages: of what is left open, of what nests, of
one tag's attributes. Pages are other people's, so that what a parser is given is written anew from the tags as the
standard parts them: tags that only format are left out, ends that are missing are written, and of the attributes those
stay that are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape, unescape
from typing import NamedTuple

MARK = "\ue000"
"""The attribute that says on which line of the text a block begins, and behind a hyphen which is its last."""
DEEPEST = 80
"""Elements within elements that are read as such; what lies deeper keeps its words alone. Browsers stop at 512."""
MOST_OPEN = 2 * DEEPEST
"""Elements among which the one is looked for that ends; of more the last alone."""
SHORT = 200
"""Characters of attributes that are worth remembering: most tags of a page have the same ones."""
DEEPEST_TABLE = 20
"""Maximum depth of tables. Pages with a layout of tables had ten."""
HEADINGS = {f"h{level}": level for level in range(1, 7)}

_ABOUT = r"""(?:[\s/]++|[^\s/><][^\s/><=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s><"'][^\s><]*+))?+)*+"""
_MARKUP = re.compile(
    rf"""<(?:!--(?:-?>|.*?(?:--!?>|\Z))
      | !\[CDATA\[(?P<data>.*?)(?:\]\]>|\Z)
      | (?:[!?]|/(?![a-z]))[^>]*+>?
      | (?P<silent>script|style)(?=[\s/>])(?!/>){_ABOUT}(?<!["'\s]/)>.*?(?:</(?P=silent)(?=[\s/>])[^>]*+>|\Z)
      | (?P<raw>title|textarea|xmp|iframe|noembed)(?=[\s/>])(?!/>){_ABOUT}(?<!["'\s]/)>
        (?P<content>(?:[^<]++|<(?!/?(?P=raw)[\s/>]))*+)</(?P=raw)[^>]*+>
      | select(?=[\s/>]){_ABOUT}>(?:[^<]++|</?opt(?:ion|group)\b{_ABOUT}>)*+</select\s*>
      | svg(?=[\s/>]){_ABOUT}>(?:[^<]++|<(?!/?(?:svg|p|div|table|[uo]l|h[1-6])\b))*+</svg\s*>
      | sup>(?<=\d<sup>)(?=-?\d)
      | (?P<end>/?)(?P<name>[a-z][^\s/><]*+)(?P<about>{_ABOUT})(?P<close>>?)
      | )""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"""([^\s/><="'][^\s/><=]*+)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s><"'][^\s><]*+)))?+""")
_READ = frozenset(f"id name href alt alttext title colspan rowspan role hidden rel accesskey {MARK}".split())
_IMPLIED = frozenset(["p", "li", "td", "th", "tr", "tbody", "thead", "tfoot", "caption"])
"""Elements that end where the next begins."""
_VOID = frozenset(["br", "hr", "img", "wbr"])
_BLOCKS = frozenset(
    [
        *("div", "section", "article", "main", "header", "footer", "aside", "nav", "ul", "ol", "blockquote", "figure"),
        *("figcaption", "fieldset", "address", "details", "summary", "legend", "label", "pre", "table", "br", "hr"),
        *_IMPLIED,
        *HEADINGS,
    ]
)
_OWN = frozenset(["svg", "math", "annotation", "abbr"])
"""Elements within a line that are read by their names."""
_SAME = {
    **dict.fromkeys(["dd", "dt", "menuitem"], "li"),
    **dict.fromkeys(["dl", "menu", "dir"], "ul"),
    **dict.fromkeys(["listing", "plaintext"], "pre"),
    **dict.fromkeys(["form", "center", "search", "hgroup", "dialog", "optgroup"], "div"),
    **dict.fromkeys(["image", "area"], "img"),
    **{"option": "br", "button": "label", "acronym": "abbr", "dfn": "abbr"},
}
_NOTHING = frozenset(["html", "head", "body", "frameset", "frame", "meta", "link", "base", "col", "colgroup", "param"])
_NOTHING |= {"source", "track", "input", "embed", "keygen"}
"""Elements that hold no words."""
_UNSEEN = frozenset(["template", "datalist"])
_ENDS_HEADING = frozenset(["p", "ul", "ol", "pre", "table", "section", "article", *HEADINGS])
"""What begins no longer within a heading that has words already: its end was forgotten."""


class Tag(NamedTuple):
    """A tag, and the text that follows it."""

    name: str
    """In lower case, without the prefix of a namespace; end tags have a slash before it."""
    attributes: dict[str, str]
    text: str


def tags_of(text: str) -> Iterator[Tag]:
    """Return the tags of a text in XML, in order. Only character references are resolved, and no file is opened."""
    for match in _MARKUP.finditer(text):
        if name := match["name"] or match["raw"]:
            rest = match["content"] or text[match.end() : max(text.find("<", match.end()), match.end())]
            about = {
                key: unescape(one or two or bare) for key, one, two, bare in _ATTRIBUTE.findall(match["about"] or "")
            }
            yield Tag((match["end"] or "") + name.lower().rpartition(":")[2], about, unescape(rest))


@dataclass(slots=True)
class _Scope:
    """What is open within a table, or the page."""

    names: list[str] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    """How each is ended; empty for what was left out."""


@dataclass(slots=True)
class Markup:
    """A page that is written anew."""

    text: str
    is_marked: bool = False
    """Its blocks say already on which lines they stand."""
    is_too_deep: bool = False
    """Some elements are nested too deeply."""
    _scopes: list[_Scope] = field(default_factory=lambda: [_Scope()])
    _depth: int = 0
    _line: int = 1
    _counted: int = 0
    """Characters whose lines are counted."""
    _heading: int = 0
    """Where the words of the last heading begin."""

    def written(self) -> str:
        """Return the page for a parser. Takes time that grows with its length, whatever it holds."""
        if not self.is_marked:
            self.text = self.text.replace(MARK, "\ufffd")
        return _MARKUP.sub(self._written, self.text)

    def _written(self, match: re.Match[str]) -> str:
        end, name, about, close = match.group("end", "name", "about", "close")
        if not name:
            return _without_tags(match)
        if not close:
            return escape(match[0], quote=False)  # no tag after all
        name = name.lower()
        name = _SAME.get(name, name)
        if end:
            return self._end(name)
        return "" if name in _NOTHING else self._start(name, about, match)

    def _start(self, name: str, attributes: str, match: re.Match[str]) -> str:
        about = _about(attributes) if attributes else ""
        is_block = name in _BLOCKS
        if is_block and not self.is_marked:
            about = f' {MARK}="{self._line_at(match.end() if name == "pre" else match.start())}"{about}'
        elif name in _UNSEEN:
            about += ' hidden=""'
        if name in _VOID:
            return f"<{name}{about}/>"
        own = name if is_block or name in _OWN else "q" if about else ""
        names = self._scopes[-1].names
        if not own and name not in names[-MOST_OPEN:]:
            return ""
        before = self._heading_ended(match.start()) if name in _ENDS_HEADING and names else ""
        end = f"</{own}>" if own else ""
        begin = f"<{own}{about}>" if own else ""
        if self._depth >= DEEPEST or len(self._scopes) + (name == "table") > DEEPEST_TABLE + 1:
            self.is_too_deep = True
            begin, end = f"<{'br' if is_block else 'wbr'}{about}/>", ""
        if attributes.endswith("/") and attributes[-2:-1] in " \t\n\"'":
            return before + begin + end  # it closes itself, as tags do in XHTML and SVG
        if name not in _IMPLIED:
            names.append(name)
            self._scopes[-1].ends.append(end)
            self._depth += 1
            if name == "table":
                self._scopes.append(_Scope())
            elif name in HEADINGS:
                self._heading = match.end()
        return before + begin

    def _line_at(self, at: int) -> int:
        """Return the line of a place; that of the first word, where it is the end of one."""
        self._line += self.text.count("\n", self._counted, at)
        self._counted = at
        return self._line

    def _heading_ended(self, at: int) -> str:
        """Return the end of a heading that was forgotten, if there is one where an element begins."""
        last = self._scopes[-1].names[-1]
        return self._end(last) if last in HEADINGS and self.text[self._heading : at].strip() else ""

    def _end(self, name: str) -> str:
        """Return the ends of an element and of all that is open within it; of one that is not open, nothing."""
        if name in _IMPLIED:
            return "" if self._depth >= DEEPEST or len(self._scopes) > DEEPEST_TABLE + 1 else f"</{name}>"
        is_page, within = name in ("html", "body"), ""
        is_outer = is_page or (name == "template" and any(name in scope.names[-MOST_OPEN:] for scope in self._scopes))
        while (
            len(self._scopes) > 1 and (name == "table" or is_outer) and name not in self._scopes[-1].names[-MOST_OPEN:]
        ):
            inner = self._scopes.pop()
            self._depth -= len(inner.names)
            within += "".join(reversed(inner.ends))
        names, ends = self._scopes[-1].names, self._scopes[-1].ends
        if name in HEADINGS and names and names[-1] in HEADINGS:
            name = names[-1]
        near = names[: -MOST_OPEN - 1 : -1] if self._depth <= MOST_OPEN else names[-1:]
        if name not in near and not is_page:
            return within
        at = 0 if is_page else len(names) - 1 - near.index(name)
        within += "".join(reversed(ends[at:]))
        self._depth -= len(names) - at
        del names[at:], ends[at:]
        return within


def _without_tags(match: re.Match[str]) -> str:
    """Return what is no tag, or an element whose content is no markup. Scripts, styles and comments are no text."""
    said, raw = match["data"] or match["content"] or "", (match["raw"] or "").lower()
    if raw in ("title", "textarea"):
        kind = "title" if raw == "title" else "pre"
        return f"<{kind}>{said.replace('<', '&lt;')}</{kind}>"
    if raw:
        return f"<pre>{escape(said, quote=False)}</pre>" if raw == "xmp" else ""
    return escape(said, quote=False) or {"<": "&lt;", "<sup>": "^"}.get(match[0].lower(), "")


def _about(attributes: str) -> str:
    """Return those attributes of a tag that are read, each once."""
    return _short_about(attributes) if len(attributes) < SHORT else _read_about(attributes)


def _read_about(attributes: str) -> str:
    found: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(attributes):
        if (key := name.lower()) in _READ:
            found.setdefault(key, (double or single or bare).replace('"', "&quot;"))
    return "".join(f' {name}="{value}"' for name, value in found.items())


_short_about = lru_cache(1024)(_read_about)
