"""Passages that only lead elsewhere: menus, tables of layout, contents. By what repeats, not by lists of words."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property

from orienteer.graph.reserved import CELLS, CONTENTS, SEPARATOR
from orienteer.graph.store import Graph
from orienteer.retrieval.graph_text import header_lines
from orienteer.retrieval.query import Spaces
from orienteer.text.sentences import single_spaced

_LEAST_FILES = 5
_LEAST_SHARE = 0.02  # of the files in which a line of a menu stands
_OWN = 0.15  # share of a menu's lines that stand in few files and are no titles: at most
_MENU_LINE = 3.0  # words of a line of a menu, on average at most
_LEAST_LINES = 5
_LEADER = re.compile(r"\s*\.{3,}\s*\d*$")  # and the page behind it
_DIGITS = re.compile(r"\d+")
_UNNAMED = re.compile(r"column_\d+")


class Navigation:
    """Tells passages that only lead elsewhere. Reads all passages once, at its first question."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __contains__(self, row: object) -> bool:
        assert isinstance(row, int)
        arrays = self._graph.arrays
        text, properties = arrays.texts[row], arrays.properties.of(row)
        if properties.get(CONTENTS):
            return True
        parts, heads = _parts(text), [single_spaced(head) for head in text.split("\n", 1)[0].split(CELLS)]
        is_unnamed = all(map(_UNNAMED.fullmatch, heads))
        if header_lines(properties, text) and not is_unnamed and (len(heads) == 1 or len(set(heads)) > 1):
            return False  # rows under a real header are data, however often they repeat
        if len(parts) < _LEAST_LINES or sum(len(part.split()) for part in parts) > _MENU_LINE * len(parts):
            return False
        return sum(part not in self._shared for part in parts) <= _OWN * len(parts)

    @cached_property
    def _shared(self) -> set[str]:
        """The lines and cells without numbers that stand in many files, and the titles of passages."""
        arrays = self._graph.arrays
        counts, last, files = Counter[str](), dict[str, object](), set[object]()
        shared = {"0", "0."}
        for row in Spaces(self._graph).passages.nonzero()[0].tolist():
            file = arrays.properties.of(row).get("document", arrays.ids[row])
            files.add(file)
            shared.update(_masked(part) for part in arrays.names[row].split(SEPARATOR))
            for part in _parts(arrays.texts[row]):
                if last.get(part) != file:  # the passages of a file follow one another
                    counts[part] += 1
                    last[part] = file
        least = max(_LEAST_FILES, _LEAST_SHARE * len(files))
        return shared | {part for part, count in counts.items() if count >= least and "0" not in part}


def _parts(text: str) -> list[str]:
    """Return the lines of a text and the cells of its rows, their numbers masked."""
    return [masked for line in text.split("\n") for cell in line.split(CELLS) if (masked := _masked(cell))]


def _masked(text: str) -> str:
    return _DIGITS.sub("0", _LEADER.sub("", single_spaced(text))).casefold()
