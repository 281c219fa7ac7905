"""Small networks as inline SVG without a script or a style sheet: the paths to hits, and the types of a graph.

Colours are the page's own, which may be dark; every line has its name on it, or a title if there is no room.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup

from orienteer.display import clean, counted, cut, first_rows, types_html
from orienteer.page.notebook import Bundle, Content, DrawnEdge, DrawnNode, GraphAtHand, Table, view

_LETTER, _SMALL = 6.8, 5.6  # pixels of a letter of a name, and of a line's label
_LONGEST = 36  # characters of a name
_LONGEST_LABEL = 34
_HEIGHT, _ROW = 20, 30  # pixels of a mark, and from one to the next
_LEAST_GAP, _MOST_GAP = 90.0, 230.0  # pixels between two columns
# Pixels that a line within a column takes at its left, without its label.
_BULGE = 40.0
# The place of a label on a line of a ring: lines cross in the middle.
_AT_RING = 0.3
# The height of a label on another line, of its curve at 0.38: nearer to the hit, where lines are apart.
_EASED = 3 * 0.38**2 - 2 * 0.38**3
# Nodes of a column that have boxes of their own.
_MOST = 12
# The first character of what is no node, but a line on its way.
_PASSING = "\1"
_MOST_TYPES = 16
# Labels of a ring: beyond that they are titles.
_MOST_LABELS = 14
_RADIUS = 150.0  # pixels of a ring at least

# Two nodes that a line joins.
_Pair = tuple[str, str]


class _Mark(NamedTuple):
    """The box of a node: the middle of its left side, and its width."""

    x: float
    y: float
    width: float
    name: str
    about: str = ""
    """The part that the node plays in the question."""
    is_passing: bool = False
    """It is no node, but the place where a line passes a column, with its label."""

    @property
    def right(self) -> float:
        return self.x + self.width


def evidence(
    hits: Sequence[str],
    edges: Sequence[DrawnEdge],
    names: Mapping[str, str],
    roles: Mapping[str, str] | None = None,
    layers: Mapping[str, float] | None = None,
) -> Markup:
    """Draw hits by their ids, best first, in a column, and at their right the nodes of their edges by their layers.

    A node's title has its name and its role in the question. Of a long column a dozen nodes have boxes of their own.

    Hits without an edge are skipped, and nodes without a name have their id. Without edges the picture is empty.
    """
    joined = {end for source, _, target in edges for end in (source, target)}
    columns = columns_of([hit for hit in hits if hit in joined], edges, layers or {})
    names = dict(names)
    lines = _folded(columns, edges, names)
    if not columns:
        return Markup()
    # A column is ordered by the positions of its neighbours in the one before: fewer lines cross.
    tallest = max(map(len, columns))
    marks: dict[str, _Mark] = {}
    inner = [_label(labels) for pair, labels in lines.items() if set(pair) <= set(columns[0])]
    x = 4 + (_BULGE + max(map(len, inner)) * _SMALL if inner else 0.0)
    for column in columns:
        heights = {
            node: [marks[end].y for pair in lines if node in pair for end in pair if end in marks] for node in column
        }
        ordered = sorted(column, key=lambda node: sum(heights[node]) / len(heights[node]) if heights[node] else 0.0)
        top = (tallest - len(column)) * _ROW / 2 + _ROW + 4
        column_width = max(_width(names.get(node, node)) for node in column)
        for row, node in enumerate(ordered):
            name = names.get(node, node)
            width = column_width if node.startswith(_PASSING) else _width(name)
            marks[node] = _Mark(x, top + row * _ROW, width, name, (roles or {}).get(node, ""), node[:1] == _PASSING)
        # The gap has room for the labels of the lines to the next column.
        onward = [label for pair, label in lines.items() if set(pair) & set(column) and not set(pair) <= marks.keys()]
        widest = max((len(_label(label)) * _SMALL for label in onward), default=0.0)
        x += column_width + min(max(_LEAST_GAP, widest + 40), _MOST_GAP)
    height = max(mark.y for mark in marks.values()) + _ROW
    parts = [*_drawn_lines(marks, lines), *map(_drawn_mark, marks.values())]
    width = max(mark.right for mark in marks.values()) + 6
    return _picture(width, height, parts, "The hits, and the edges that support them")


def ring(names: Mapping[str, str], edges: Sequence[DrawnEdge], *, symmetric: Iterable[str] = ()) -> Markup:
    """Draw types by their readable names on a ring, joined by their edge types, some of them symmetric."""
    chosen = list(names)[:_MOST_TYPES]
    if not chosen:
        return Markup()
    widest = max(_width(names[name]) for name in chosen)
    radius = _RADIUS if len(chosen) > 1 else 0.0
    across, centre = radius * 1.5, (radius * 1.5 + widest / 2 + 10, radius + _ROW)
    marks = {}
    for place, name in enumerate(chosen):
        angle = 2 * math.pi * place / len(chosen) - math.pi / 2
        width = _width(names[name])
        x, y = centre[0] + across * math.cos(angle) - width / 2, centre[1] + radius * math.sin(angle)
        marks[name] = _Mark(x, y, width, names[name])
    lines = _lines([edge for edge in edges if edge[0] in marks and edge[2] in marks], frozenset(symmetric))
    parts = list(_chords(marks, lines))
    parts += map(_drawn_mark, marks.values())
    height = 2 * radius + 2 * _ROW
    if undrawn := len(names) - len(chosen):
        parts.append(_text(4, height, f"{counted(undrawn, 'type')} more not drawn", "start", small=True))
        height += _ROW / 2
    return _picture(2 * centre[0], height, parts, "The types of the graph, and the edges between them")


def columns_of(hits: Sequence[str], edges: Sequence[DrawnEdge], layers: Mapping[str, float]) -> list[list[str]]:
    """Return the hits, then the other nodes by their layers; one without a layer comes behind a neighbour."""
    placed = dict.fromkeys(hits, 0.0)
    placed |= {node: layer for node, layer in layers.items() if layer and node not in placed}
    reached: dict[str, float] | None = None
    while reached is None or reached:
        reached = {}
        for source, _, target in edges:
            for near, far in ((source, target), (target, source)):
                if near in placed and far not in placed:
                    reached.setdefault(far, placed[near] + 1)
        placed |= reached
    return [[node for node in placed if placed[node] == layer] for layer in sorted({*placed.values()} if hits else ())]


def _folded(columns: list[list[str]], edges: Sequence[DrawnEdge], names: dict[str, str]) -> dict[_Pair, list[str]]:
    """Fold long columns, and return the lines between what they show now.

    A line over more than one gap passes through the columns between, where it has a place of its own with its label.
    """
    shown: dict[str, tuple[int, str]] = {}
    for number, column in enumerate(columns):
        rest = f"\0{number}"
        shown |= {node: (number, node if place < _MOST else rest) for place, node in enumerate(column)}
        if len(column) > _MOST:
            names[rest] = f"+ {len(column) - _MOST} more"
            column[_MOST:] = [rest]
    ends = [
        (*shown[source], label, *shown[target]) for source, label, target in edges if {source, target} <= shown.keys()
    ]
    lines = _lines((source, label, target) for _, source, label, _, target in ends if source != target)
    at = {node: number for number, node in shown.values()}
    for (first, second), labels in list(lines.items()):
        (left, near), (right, far) = sorted(((at[first], first), (at[second], second)))
        if right - left < 2:
            continue
        text = _label(labels if first == near else list(map(_inverted, labels)))
        chain = [near, *(f"{_PASSING}{left} {number} {far} {text}" for number in range(left + 1, right)), far]
        for number, node in enumerate(chain[1:-1], left + 1):
            columns[number] += [node] if node not in columns[number] else []
            names[node] = text if number == left + 1 else ""
        del lines[first, second]
        lines |= dict.fromkeys(pairwise(chain), [])
    return lines


def _lines(edges: Iterable[DrawnEdge], symmetric: frozenset[str] = frozenset()) -> dict[_Pair, list[str]]:
    """Return the labels of each pair of nodes, those of parallel edges together, in the direction from the first."""
    lines: dict[_Pair, list[str]] = {}
    for source, edge_type, target in edges:
        is_inverted = (target, source) in lines and source != target
        pair = (target, source) if is_inverted else (source, target)
        label = edge_type if edge_type in symmetric else f"← {edge_type}" if is_inverted else f"{edge_type} →"
        labels = lines.setdefault(pair, [])
        if label not in labels:
            labels.append(label)
    return lines


def _inverted(label: str) -> str:
    """Return a label in the direction from the other end."""
    if label.endswith(" →"):
        return f"← {label[:-2]}"
    return f"{label[2:]} →" if label.startswith("← ") else label


def _label(labels: Sequence[str]) -> str:
    text = ", ".join(labels)
    return text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}…"


def _drawn_lines(marks: Mapping[str, _Mark], lines: Mapping[_Pair, list[str]]) -> Iterator[Markup]:
    """Yield a curve with its label for each line between two columns, or at the left of one.

    If all lines between two columns have one label, it stands once, above them.
    """
    turned = []
    bundles: dict[tuple[float, float], set[str]] = {}
    for (first, second), labels in lines.items():
        left, right = marks[first], marks[second]
        if left.x > right.x:
            left, right, labels = right, left, list(map(_inverted, labels))
        turned.append((left, right, labels))
        bundles.setdefault((left.x, right.x), set()).update([_label(labels)] if labels else [])
    for left, right, labels in turned:
        is_within = left.x == right.x
        begin, middle = (left.x, left.x - _BULGE) if is_within else (left.right, (left.right + right.x) / 2)
        yield _curve((begin, left.y, middle, left.y, middle, right.y, right.x, right.y), labels)
        if is_within:
            yield _text(middle + 8, (left.y + right.y) / 2 + 3, _label(labels), "end", small=True)
        elif labels and len(bundles[left.x, right.x]) > 1:
            yield _text(middle, left.y + (right.y - left.y) * _EASED - 3, _label(labels), "middle", small=True)
    for (start, end), texts in bundles.items():
        if len(texts) == 1 and start != end:
            middle = (max(mark.right for mark in marks.values() if mark.x == start) + end) / 2
            yield _text(middle, 12, texts.pop(), "middle", small=True)


def _chords(marks: Mapping[str, _Mark], lines: Mapping[_Pair, list[str]]) -> Iterator[Markup]:
    """Yield a straight line for each pair of a ring, and a loop for a type that is joined with itself."""
    has_room = len(lines) <= _MOST_LABELS
    for (first, second), labels in lines.items():
        begin, end = marks[first], marks[second]
        if first == second:
            x, y = begin.x + begin.width / 2, begin.y - _HEIGHT / 2
            yield _curve((x - 14, y, x - 26, y - 20, x + 26, y - 20, x + 14, y), labels)
            place, anchor = (x + 22, y - 8), "start"
        else:
            (x1, y1), (x2, y2) = _edge_of(begin, end), _edge_of(end, begin)
            yield _curve((x1, y1, x1, y1, x2, y2, x2, y2), labels)
            place, anchor = (x1 + (x2 - x1) * _AT_RING, y1 + (y2 - y1) * _AT_RING - 3), "middle"
            labels = list(map(_inverted, labels)) if x2 < x1 else labels
        if has_room:
            yield _text(*place, _label(labels), anchor, small=True)


def _edge_of(mark: _Mark, other: _Mark) -> tuple[float, float]:
    """Return the point at which a straight line from the middle of a mark to that of another leaves its box."""
    x, y = mark.x + mark.width / 2, mark.y
    across, down = other.x + other.width / 2 - x, other.y - y
    part = min(mark.width / 2 / max(abs(across), 1e-6), _HEIGHT / 2 / max(abs(down), 1e-6))
    return x + across * part, y + down * part


def _width(name: str) -> float:
    return len(_short_name(name)) * _LETTER + 16


def _short_name(name: str) -> str:
    name = " ".join(clean(name).split())
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _drawn_mark(mark: _Mark) -> Markup:
    """Return a node as a box with its name."""
    if mark.is_passing:
        text = _text(mark.x + mark.width / 2, mark.y - 3, mark.name, "middle", small=True)
        return _curve((mark.x, mark.y, mark.x, mark.y, mark.right, mark.y, mark.right, mark.y), [mark.name]) + text
    box = Markup(
        '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}" rx="10" fill="none" stroke="currentColor">'
        "<title>{}</title></rect>"
    ).format(
        mark.x,
        mark.y - _HEIGHT / 2,
        mark.width,
        _HEIGHT,
        cut(clean(": ".join(filter(None, (mark.about, mark.name)))), 200),
    )
    return box + _text(mark.x + mark.width / 2, mark.y + 4, _short_name(mark.name), "middle")


def _curve(points: Sequence[float], labels: Sequence[str]) -> Markup:
    return Markup(
        '<path d="M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}" fill="none" stroke="currentColor"'
        ' stroke-opacity="0.4"><title>{}</title></path>'
    ).format(*points, clean(", ".join(labels)))


def _text(x: float, y: float, text: str, anchor: str, *, small: bool = False) -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}"{}>{}</text>').format(
        x, y, anchor, Markup(' font-size="10" fill-opacity="0.75"') if small else "", clean(text)
    )


def _picture(width: float, height: float, parts: Iterable[Markup], label: str) -> Markup:
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{}" width="{:.0f}" height="{:.0f}"'
        ' viewBox="0 0 {:.0f} {:.0f}" font-family="sans-serif" font-size="12" fill="currentColor"'
        ' style="max-width:100%;height:auto">{}</svg>'
    ).format(label, width, height, width, height, Markup("").join(parts))


class DrawnTypes(NamedTuple):
    """The types of a schema, as `records.Schema` has them, for notebooks."""

    nodes: Mapping[str, int]
    """The number of nodes by node type."""
    edges: Collection[tuple[DrawnEdge, int]]
    """Source type, edge type and target type, and the number of edges."""
    labels: Mapping[str, str]
    symmetric: Collection[str]

    def html(self, title: str, tables: Iterable[Table]) -> str:
        """Return a picture of the types on a ring, the most frequent first, with their edges, above tables."""
        names = {name: f"{self._label(name)} {self.nodes[name]:,}" for name in self._ordered()}
        picture = ring(names, self._labelled_edges(), symmetric=map(self._label, self.symmetric))
        return types_html(title, [(table.header, table.rows) for table in tables], picture=picture)

    def view(self, title: str, tables: Sequence[Table]) -> Bundle:
        """Return an interactive picture of the types, above tables."""
        edges, nodes = self._labelled_edges(), []
        for name in self._ordered():
            # Edges within a type have no line in the picture: the type's card lists them.
            own = [edge_type for source, edge_type, target in edges if source == target == name]
            joined = (f"joined with one another by {', '.join(own)}",) if own else ()
            about = (counted(self.nodes[name], "node"), *joined)
            nodes.append(DrawnNode(name, self._label(name), self._label(name), self.nodes[name], about))
        strong = [node.id for node in nodes]
        return view(Content(title, (), nodes, edges, strong, tables=tables), GraphAtHand())

    def table(self) -> Table:
        """Return a table of the edges between types, the most frequent first."""
        rows = [[*map(self._label, triple), f"{count:,}"] for triple, count in self._by_count()]
        return Table(("from", "edge type", "to", "edges"), first_rows(rows))

    def _label(self, name: str) -> str:
        return self.labels.get(name, name)

    def _ordered(self) -> list[str]:
        return sorted(self.nodes, key=lambda name: (-self.nodes[name], name))

    def _labelled_edges(self) -> list[DrawnEdge]:
        return [(source, self._label(edge_type), target) for (source, edge_type, target), _ in self._by_count()]

    def _by_count(self) -> list[tuple[DrawnEdge, int]]:
        return sorted(self.edges, key=lambda item: (-item[1], item[0]))
