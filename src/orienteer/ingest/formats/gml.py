"""GML (Graph Modelling Language), as networkx, igraph, Gephi, yEd and the collections of network scientists write it.

A file is a list of keys and values, `graph [ directed 1 node [ id 1 label "a" ] edge [ source 1 target 2 ] ]`, in which
a value is a number, a text or a list in brackets. A key that comes several times in a node or an edge is a list. How
things are drawn (`graphics`, `LabelGraphics`) is left out. Between quotes, characters may be written as in HTML.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orienteer.errors import BadInput
from orienteer.ingest.bounds import DEEPEST, MOST_RECORD, too_long
from orienteer.ingest.formats.elements import EdgeElement, Fields, GraphReader, NodeElement
from orienteer.ingest.formats.files import opened_text
from orienteer.ingest.formats.table import is_unicode, shown
from orienteer.ingest.report import BAD_ENCODING, Tally
from orienteer.ingest.tables.values import identifier, numeric

TOKEN = re.compile(
    r'\s*(?:(?P<text>"[^"]*")|(?P<open>")|(?P<comment>#)|(?P<begin>\[)|(?P<end>\])|(?P<word>[^\s"\[\]]+))'
)
NAME = re.compile(r"[A-Za-z_][\w.-]*")
ENTITY = re.compile(r"&(?:(?P<name>[0-9A-Za-z]{1,40})|#(?P<decimal>[0-9]{1,7})|#x(?P<hexadecimal>[0-9A-Fa-f]{1,6}));")
LAST_CHARACTER, SURROGATES = 0x10FFFF, range(0xD800, 0xE000)
DRAWN = frozenset({"graphics", "labelgraphics"})
LIST = "_networkx_list_start"
"""What networkx writes first in a list, so that one of a single member is a list as well."""
EMPTY = frozenset({"[]", "()"})
"""What networkx writes for a list without members."""


class _Several(list[Any]):  # Any: JSON
    """The values of a key that came several times."""


class Gml(GraphReader):
    """Reads GML in a stream of tokens; memory holds one node or edge."""

    def __init__(self, path: Path, tally: Tally) -> None:
        super().__init__(path, tally)
        self._is_directed = self._is_multigraph = False
        self._graphs = 0
        self._key = ""
        """The key whose value comes next."""
        self._open: list[tuple[str, Fields | None]] = []
        """The lists around: the key of each, and its values where they are wanted."""
        self._characters = 0
        """Of the node or the edge that is being read."""
        self._is_bad = False
        """Its bytes are no UTF-8."""
        self._text: list[str] | None = None
        """Lines of a text whose end has not come yet."""

    def elements(self) -> Iterator[NodeElement | EdgeElement]:
        """Read the file. Raises `BadInput` if it is no GML, or not whole."""
        with opened_text(self.path) as file:
            for self.place, line in enumerate(file, 1):
                self._characters += len(line)
                if self._characters > MOST_RECORD:
                    raise too_long(self.path, f"line {self.place:,}", "node or edge")
                self._is_bad = self._is_bad or not is_unicode(line)
                self._take(line)
                yield from self.taken()
        if self._open or self._text is not None or self._key:
            raise BadInput(f"{self.path} ends within {self._open[0][0] if self._open else 'a value'}; is it cut short?")
        if not self._graphs:
            raise BadInput(f"{self.path} is no GML: it holds no `graph [`")

    def _take(self, line: str) -> None:
        """Take the tokens of a line."""
        at = 0
        if self._text is not None:
            at = line.find('"') + 1
            self._text.append(line[: at - 1] if at else line)
            if not at:
                return
            text, self._text = "".join(self._text), None
            self._put(_unescaped(text))
        while token := TOKEN.match(line, at):
            at = token.end()
            if token["comment"]:
                return
            if token["open"]:
                self._text = [line[at:]]
                self._value_here(token["open"])
                return
            self._take_token(token)

    def _take_token(self, token: re.Match[str]) -> None:
        if token["end"]:
            self._end()
        elif token["begin"]:
            self._begin()
        elif token["text"]:
            self._put(_unescaped(token["text"][1:-1]))
        elif self._key:
            number = numeric(token["word"])
            if number is None:
                self._refuse(f"{shown(token['word'])} stands where the value of {self._key!r} is expected")
            self._put(number)
        elif NAME.fullmatch(token["word"]):
            self._key = token["word"]
        else:
            self._refuse(f"{shown(token['word'])} stands where a key is expected")

    def _begin(self) -> None:
        self._value_here("[")
        key, depth = self._key, len(self._open)
        is_inner = depth > 1 and self._open[-1][1] is not None
        if depth == DEEPEST:
            self._refuse(f"more than {DEEPEST} values within values")
        if depth == 0 and key == "graph":
            self._graphs += 1
            if self._graphs > 1:
                self._refuse("a second graph begins; give each graph a file of its own")
        is_element = depth == 1 and self._open[0][0] == "graph" and key in ("node", "edge")
        is_wanted = is_element or (is_inner and not (depth == 2 and key.casefold() in DRAWN))
        self._characters = 0 if is_element else self._characters
        self._open.append((key, {} if is_wanted else None))
        self._key = ""

    def _end(self) -> None:
        if self._key or not self._open:
            self._refuse(
                "a ] stands where " + (f"the value of {self._key!r}" if self._key else "a key") + " is expected"
            )
        key, fields = self._open.pop()
        if fields is None:
            return
        if len(self._open) > 1:
            self._key = key
            self._put(fields)
            return
        self._characters, is_bad, self._is_bad = 0, self._is_bad, False
        if is_bad:
            self.drop(BAD_ENCODING, next((value for value in fields.values() if isinstance(value, str)), ""))
        elif key == "node":
            node_id = identifier(fields.pop("id", None))
            self.add_node(node_id, _listed(fields), self.place)
        else:
            self._end_edge(fields)

    def _end_edge(self, fields: Fields) -> None:
        source, target = identifier(fields.pop("source", None)), identifier(fields.pop("target", None))
        key = fields.pop("key", "") if self._is_multigraph else ""
        kind = key if isinstance(key, str) else ""
        self.add_edge(EdgeElement(source, target, kind, self._is_directed, _listed(fields), self.place))

    def _put(self, value: Any) -> None:  # Any: JSON
        """Take a value of the key before it."""
        self._value_here(value)
        key, self._key = self._key, ""
        within, fields = self._open[-1] if self._open else ("", None)
        if fields is not None:
            if key not in fields:
                fields[key] = value
            elif isinstance(fields[key], _Several):
                fields[key].append(value)
            else:
                fields[key] = _Several([fields[key], value])
        elif len(self._open) == 1 and within == "graph":
            self._is_directed = self._is_directed if key != "directed" else value == 1
            self._is_multigraph = self._is_multigraph if key != "multigraph" else value == 1

    def _value_here(self, value: Any) -> None:
        if not self._key:
            self._refuse(f"{shown(value)} stands where a key is expected")

    def _refuse(self, why: str) -> None:
        raise BadInput(f"{self.path}, line {self.place:,}: {why}; write the graph again as GML")


def _unescaped(text: str) -> str:
    """Return a text with its characters in place of what stands for them in HTML."""
    return ENTITY.sub(_character, text) if "&" in text else text


def _character(entity: re.Match[str]) -> str:
    if entity["name"]:
        return html.unescape(entity[0])
    number = int(entity["decimal"]) if entity["decimal"] else int(entity["hexadecimal"], 16)
    return entity[0] if number > LAST_CHARACTER or number in SURROGATES else chr(number)


def _listed(fields: Fields) -> Fields:
    """Return the values of an element with its lists as lists: without what marks them."""
    return {key: _plain(value) for key, value in fields.items()}


def _plain(value: Any) -> Any:  # Any: JSON
    if isinstance(value, dict):
        return _listed(value)
    if isinstance(value, list):
        return [_plain(member) for member in value if member != LIST]
    return [] if value in EMPTY else value
