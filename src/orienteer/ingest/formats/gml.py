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
from types import GeneratorType
from typing import Any, TextIO, TypeAlias

from orienteer.errors import BadInput
from orienteer.ingest.bounds import DEEPEST, MOST_RECORD, too_long
from orienteer.ingest.formats.elements import EdgeElement, Fields, GraphReader, NodeElement
from orienteer.ingest.formats.files import opened_text
from orienteer.ingest.formats.table import is_unicode, shown
from orienteer.ingest.report import BAD_ENCODING, Tally
from orienteer.ingest.tables.values import identifier, numeric

TOKEN = re.compile(
    r'\s*(?:"(?P<text>[^"]*)"|(?P<open>")|(?P<comment>#)|(?P<begin>\[)|(?P<end>\])|(?P<word>[^\s"\[\]]+))'
)
NAME = re.compile(r"[A-Za-z_][\w.-]*")
ENTITY = re.compile(r"&(?:(?P<name>[0-9A-Za-z]{1,40})|#(?P<decimal>[0-9]{1,7})|#x(?P<hexadecimal>[0-9A-Fa-f]{1,6}));")
LAST_CHARACTER, SURROGATES = 0x10FFFF, range(0xD800, 0xE000)
DRAWN = frozenset({"graphics", "labelgraphics"})
LIST = "_networkx_list_start"
"""What networkx writes first in a list, so that one of a single member is a list as well."""
EMPTY = frozenset({"[]", "()"})
"""What networkx writes for a list without members."""


Members: TypeAlias = Iterator[tuple[str, Any]]  # Any: JSON, or the members of a list within
Tokens: TypeAlias = Iterator[tuple[str, str]]


class Gml(GraphReader):
    """Reads GML in a stream of tokens; memory holds one node or edge."""

    def __init__(self, path: Path, tally: Tally) -> None:
        super().__init__(path, tally)
        self._characters = 0
        """Of the node or the edge that is being read."""
        self._is_bad = False
        """Its bytes are no UTF-8."""

    def elements(self) -> Iterator[NodeElement | EdgeElement]:
        """Read the file. Raises `BadInput` if it is no GML, or not whole."""
        graphs = 0
        with opened_text(self.path) as file:
            for key, value in self._members(self._tokens(file), ()):
                if key != "graph" or not isinstance(value, GeneratorType):
                    _value(value)
                    continue
                graphs += 1
                if graphs > 1:
                    self._refuse("a second graph begins; give each graph a file of its own")
                yield from self._graph(value)
        if not graphs:
            raise BadInput(f"{self.path} is no GML: it holds no `graph [`")

    def _tokens(self, file: TextIO) -> Tokens:
        """Yield the tokens of the file and what each is."""
        lines: list[str] | None = None  # of a text whose end has not come yet
        for self.place, line in enumerate(file, 1):
            self._characters += len(line)
            if self._characters > MOST_RECORD:
                raise too_long(self.path, f"line {self.place:,}", "node or edge")
            self._is_bad = self._is_bad or not is_unicode(line)
            at = 0
            if lines is not None:
                at = line.find('"') + 1
                lines.append(line[: at - 1] if at else line)
                if not at:
                    continue
                yield "text", "".join(lines)
                lines = None
            while (token := TOKEN.match(line, at)) and (kind := token.lastgroup) and kind != "comment":
                at = token.end()
                if kind == "open":
                    lines = [line[at:]]
                    break
                yield kind, "a ]" if kind == "end" else token[kind]

    def _members(self, tokens: Tokens, around: tuple[str, ...]) -> Members:
        """Yield the keys and values of a list. A value that is a list comes as its members, to be taken at once."""
        for kind, word in tokens:
            if kind == "end" and around:
                return
            if kind != "word" or not NAME.fullmatch(word):
                self._refuse(f"{shown(word)} stands where a key is expected")
            kind, value = next(tokens, ("", ""))
            number = numeric(value) if kind == "word" else None
            if kind == "text":
                yield word, _unescaped(value)
            elif number is not None:
                yield word, number
            elif kind == "begin" and len(around) == DEEPEST:
                self._refuse(f"more than {DEEPEST} values within values")
            elif kind == "begin":
                yield word, self._members(tokens, (*around, word))
            elif kind:
                self._refuse(f"{shown(value)} stands where the value of {word!r} is expected")
        if around:
            raise BadInput(f"{self.path} ends within {around[0]}; is it cut short?")

    def _graph(self, members: Members) -> Iterator[NodeElement | EdgeElement]:
        is_directed = is_multigraph = False
        for key, value in members:
            if key not in ("node", "edge") or not isinstance(value, GeneratorType):
                is_true = _value(value) == 1
                is_directed = is_true if key == "directed" else is_directed
                is_multigraph = is_true if key == "multigraph" else is_multigraph
                continue
            self._characters = 0
            fields = _fields(value, DRAWN)
            self._characters, is_bad, self._is_bad = 0, self._is_bad, False
            if is_bad:
                self.drop(BAD_ENCODING, next((value for value in fields.values() if isinstance(value, str)), ""))
            elif key == "node":
                self.add_node(identifier(fields.pop("id", None)), fields, self.place)
            else:
                source, target = identifier(fields.pop("source", None)), identifier(fields.pop("target", None))
                kind = fields.pop("key", "") if is_multigraph else ""
                kind = kind if isinstance(kind, str) else ""
                self.add_edge(EdgeElement(source, target, kind, is_directed, fields, self.place))
            yield from self.taken()

    def _refuse(self, why: str) -> None:
        raise BadInput(f"{self.path}, line {self.place:,}: {why}; write the graph again as GML")


def _fields(members: Members, drawn: frozenset[str] = frozenset()) -> Fields:
    """Return the values of a list by their keys, but how it is drawn; what comes several times is a list."""
    several: dict[str, list[Any]] = {}  # Any: JSON
    for key, member in members:
        value = _value(member)
        if not (isinstance(value, dict) and key.casefold() in drawn):
            several.setdefault(key, []).append(value)
    return {
        key: values[0] if len(values) == 1 else [value for value in values if value != LIST]
        for key, values in several.items()
    }


def _value(member: Any) -> Any:  # Any: JSON
    """Return a value, of the members of a list what they hold."""
    if isinstance(member, GeneratorType):
        return _fields(member)
    return [] if member in EMPTY else member


def _unescaped(text: str) -> str:
    """Return a text with its characters in place of what stands for them in HTML."""
    return ENTITY.sub(_character, text) if "&" in text else text


def _character(entity: re.Match[str]) -> str:
    if entity["name"]:
        return html.unescape(entity[0])
    number = int(entity["decimal"]) if entity["decimal"] else int(entity["hexadecimal"], 16)
    return entity[0] if number > LAST_CHARACTER or number in SURROGATES else chr(number)
