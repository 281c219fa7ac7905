"""Folders of tables against truths written by hand: what the import makes of them, fact by fact.

    python benchmarks/tables.py [--truths FOLDER] [--sets FOLDER ...] [--only SET] [--show VERDICT] [--json FILE]

A truth (`truths/SET.json`) says of each table of a folder what a careful person would: whether its rows are things,
edges, or more of the things of another table (`as`, several where either will do), how many `rows` there are, the
column of its ids (`key`) and names (`name`; `a+b` is made of both), where columns lead (`links`: another table, or
`new` where nodes are made of the values; `a|b` is either), columns that `maybe` lead somewhere, `kinds` of columns
(number, date, text, list), `sums`, how often a value is there (`check`), and the `nodes` at the ends of edges.
A `#` in its `file` comes before a sheet, a table of a database, or the key of a list within a document; `nested` names
the table whose rows hold its rows; `types` are other names for it.

Each folder is imported with no option. Roles are taken from the mapping, all else from the graph: rows are nodes or
edges, a column of numbers is one whose properties are numbers, of dates one of ISO dates, and a link without an edge is
none. A fact is *right*, *missing* (nothing, or something weaker, was said) or *wrong* (something else was said).
Rows are *lost unsaid* that are in no node, no edge, and in no line of the report. A set without its data is skipped.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from orienteer import Error, Graph
from orienteer.elements import Edge, Node
from orienteer.ingest.importer import import_graph
from orienteer.ingest.report import Report
from orienteer.ingest.tables.mapping import ColumnLink, FileMapping
from report import command_line, write_json

Verdict: TypeAlias = Literal["right", "missing", "wrong"]
Truth: TypeAlias = dict[str, Any]  # Any: JSON, as the head of this file says
VERDICTS: tuple[Verdict, ...] = ("right", "missing", "wrong")
OWN = Path(__file__).parent / "tables"
KINDS = ("as", "rows", "nodes", "key", "name", "link", "false", "kind", "sum", "check", "no")
"""Kinds of facts in the order of the table: the first words of their names."""
ELSEWHERE = {
    "in-array": "json-array",
    "in-cp1251": "cyrillic-cp1251",
    "in-inner": "json-inner-type",
    "in-preamble": "preamble",
    "in-sep": "excel-sep-line",
}
"""Folders of sets that are called otherwise."""
ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")
NEW = "new"
PARENT = "^"
"""The column of a nested table that leads to the row that holds its rows."""
OF_EDGES = ("dangling", "unresolved")
"""Reasons by which a row of a table of edges is dropped, where a row of things loses an edge only."""


class Fact(NamedTuple):
    """One fact of a truth, and what was seen."""

    table: str
    name: str
    verdict: Verdict
    seen: object


@dataclass(frozen=True, slots=True)
class Told:
    """What the import makes of one table."""

    kind: Literal["things", "edges", "same"]
    rows: int
    nodes: int = 0
    key: str | None = None
    names: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    """Columns and the tables that they lead to; `new` or `new:TYPE` where nodes are made of the values."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    sums: Mapping[str, float] = field(default_factory=dict)
    checks: Mapping[str, int] = field(default_factory=dict)


class Outcome(NamedTuple):
    """The facts of a set, the rows lost unsaid, and the refusal, if it was refused."""

    facts: list[Fact]
    lost: int
    refusal: str = ""


def stem(name: object) -> str:
    """Return a name as it is compared: letters and digits of one case, in the singular."""
    letters = re.sub(r"[\W_]+", "", str(name).casefold())
    if letters == "people":
        return "person"
    if letters.endswith("ies"):
        return letters[:-3] + "y"
    return letters[:-1] if letters.endswith("s") and not letters.endswith("ss") else letters


class Made:
    """A graph that was made of a folder, and the mapping of each of its tables."""

    def __init__(self, folder: Path, truth: Truth) -> None:
        """Import a folder. Raises `Error` if that is refused."""
        self.folder, self.wanted = folder, truth["tables"]
        with tempfile.TemporaryDirectory(prefix="orienteer-tables-") as scratch:
            self.report: Report = import_graph([folder], Path(scratch) / "graph")
            graph = Graph.open(Path(scratch) / "graph")
            self.nodes: list[Node] = [graph.node(node) for node in graph.node_ids()]
            self.edges: list[Edge] = list(graph.iter_edges())
        self.type_of = {node.id: node.type for node in self.nodes}
        self.by_type: dict[str, list[Node]] = defaultdict(list)
        for node in self.nodes:
            self.by_type[node.type].append(node)
        self.mappings: dict[str, FileMapping] = {}
        """Mappings by the name of the truth's table."""
        for name, wanted in self.wanted.items():
            if (mapping := self._mapping_of(name, wanted)) is not None:
                self.mappings[name] = mapping

    @cached_property
    def used(self) -> list[FileMapping]:
        """The mappings of the tables that are part of the graph."""
        return [mapping for mapping in self.report.mapping if mapping.kind != "ignored"]

    def called(self, mapping: FileMapping) -> str:
        """Return the file of a mapping within the folder."""
        return mapping.file.removeprefix(f"{self.folder}/")

    def _mapping_of(self, name: str, wanted: Truth) -> FileMapping | None:
        """Return the mapping of a table, by its file, or by its type if the file is called otherwise."""
        by_file = {self.called(mapping): mapping for mapping in self.used}
        if wanted["file"] in by_file:
            return by_file[wanted["file"]]
        file = wanted["file"].partition("#")[0]
        inside = [mapping for called, mapping in by_file.items() if called.partition("#")[0] == file]
        names = {stem(each) for each in (name, *wanted.get("types", ()))}
        alike = [mapping for mapping in inside if mapping.type and stem(mapping.type) in names]
        if not alike and len(inside) == 1 and "nested" not in wanted and self._is_alone(file):
            return inside[0]
        return alike[0] if alike else None

    def _is_alone(self, file: str) -> bool:
        """Return whether a file holds one table, but for what is nested in its rows."""
        inside = [w for w in self.wanted.values() if w["file"].partition("#")[0] == file and "nested" not in w]
        return len(inside) == 1

    def told(self) -> dict[str, Told]:
        """Return what the import makes of each table of the truth, by its name."""
        told = {name: self._told(name, mapping) for name, mapping in self.mappings.items()}
        for name, wanted in self.wanted.items():
            if name not in told and "nested" in wanted and (types := self.types_of(name)):
                rows = sum(len(self.by_type[node_type]) for node_type in types)
                told[name] = Told("things", rows, links=self._joined(name))
        return told

    def _told(self, name: str, mapping: FileMapping) -> Told:
        wanted = self.wanted[name]
        is_same, of_edges = mapping.same is not None, mapping.is_of_edges
        edges = self.edges_of(mapping) if of_edges else []
        rows: Sequence[Node | Edge] = edges if of_edges else self._told_more(mapping) if is_same else self._nodes(name)
        keys = [column for column, role in mapping.columns.items() if re.search(r"\bid\b", role.partition(" ->")[0])]
        asked = {
            column: self.column(mapping, column) for column in (*wanted.get("kinds", {}), *wanted.get("check", {}))
        }
        values = {column: list(values_of(rows, mapping, real)) for column, real in asked.items() if real is not None}
        kinds = {column: kind_of(found, mapping, asked[column] or "") for column, found in values.items()}
        return Told(
            kind="edges" if of_edges else "same" if is_same else "things",
            rows=len(rows) if is_same else self._share(name, len(rows)),
            nodes=len({end for edge in edges for end in (edge.source, edge.target)}),
            key="+".join(sorted(keys)) or None,
            names=tuple(mapping.having("name", "name part")),
            links=self._links(name, mapping, edges) | self._joined(name),
            kinds={column: kind for column, kind in kinds.items() if kind},
            sums={c: sum(numbers) for c in wanted.get("sums", {}) if (numbers := numbers_in(values.get(c, ())))},
            checks={
                column: sum(str(value) == wanted["check"][column][0] for value in values[column])
                for column in wanted.get("check", {})
                if column in values
            },
        )

    def types_of(self, name: str) -> set[str]:
        """Return the node types of a table's rows."""
        if name not in self.mappings:
            names = {stem(each) for each in (name, *self.wanted[name].get("types", ()))}
            return {node_type for node_type in self.by_type if stem(node_type) in names}
        mapping = self.mappings[name]
        if mapping.having("type"):
            others = {other.type for other in self.used if other is not mapping and other.type}
            made = {link.node_type for other in self.used for link in other.links.values() if not link.key}
            return set(self.by_type) - others - made
        return {mapping.type} if mapping.type in self.by_type else set()

    def _nodes(self, name: str) -> list[Node]:
        return [node for node_type in sorted(self.types_of(name)) for node in self.by_type[node_type]]

    def edges_of(self, mapping: FileMapping) -> list[Edge]:
        """Return the edges that a table of edges made."""
        if mapping.type and not mapping.having("type"):
            return [edge for edge in self.edges if edge.type == mapping.type]
        others = {other.type for other in self.used if other.is_of_edges and other is not mapping}
        links = {link.edge_type for other in self.used for link in other.links.values()}
        return [edge for edge in self.edges if edge.type not in others | links]

    def _told_more(self, mapping: FileMapping) -> list[Node]:
        """Return the nodes that a table says more of: those with a property of its columns."""
        link = mapping.same[1] if mapping.same is not None else ColumnLink("")
        columns = set(mapping.columns) - {mapping.same[0] if mapping.same else ""}
        return [node for node in self.by_type[link.node_type] if columns & node.properties.keys()]

    def _share(self, name: str, rows: int) -> int:
        """Return the rows of a table among those of its type: all but what other tables of the type are to have."""
        mapping = self.mappings[name]
        others = [other for other in self.mappings if other != name and self.mappings[other].same is None]
        alike = [other for other in others if self._shares(mapping, self.mappings[other])]
        return max(0, rows - sum(self.wanted[other]["rows"] or 0 for other in alike))

    def _shares(self, one: FileMapping, other: FileMapping) -> bool:
        return other is not one and (other.type, other.is_of_edges) == (one.type, one.is_of_edges)

    def table_of(self, types: Collection[str]) -> str | None:
        """Return the table of the truth whose rows are nodes of one of the types."""
        things = [name for name in self.wanted if name not in self.mappings or not self.mappings[name].is_of_edges]
        owners = [name for name in things if name not in self.mappings or self.mappings[name].same is None]
        return next((name for name in owners if self.types_of(name) & set(types)), None)

    def _links(self, name: str, mapping: FileMapping, edges: Sequence[Edge]) -> dict[str, str]:
        """Return the columns that lead to other nodes: those that edges of the graph were made of."""
        found: dict[str, str] = {}
        own, above = self.types_of(name), self.wanted[name].get("links", {}).get(PARENT)
        if above and any(link.end and link.node_type in self.types_of(above) for link in mapping.links.values()):
            found[PARENT] = above  # rows within rows that are edges of these
        for column, link in mapping.links.items():
            is_made = link.end == "same" or any(
                link.end or (edge.type == link.edge_type and self.type_of[edge.source] in own)
                for edge in (edges if link.end else self.edges)
            )
            if is_made:
                found[column] = (self.table_of([link.node_type]) or NEW) if link.key else f"{NEW}:{link.node_type}"
                if link.end in ("source", "target") and not link.key:
                    found[column] = NEW
        for end in ("source", "target"):
            types = Counter(self.type_of[edge.source if end == "source" else edge.target] for edge in edges)
            for column in mapping.having(end):
                if types:
                    found[column] = self.table_of([types.most_common(1)[0][0]]) or NEW
        return found

    def _joined(self, name: str) -> dict[str, str]:
        """Return the links between a table and what is nested in it that the graph has an edge of."""
        found: dict[str, str] = {}
        for column, to in self.wanted[name].get("links", {}).items():
            is_inner = to in self.wanted and name in (self.wanted[to].get("nested"), column)
            if (column == PARENT or is_inner) and to in self.wanted:
                pair = (self.types_of(name), self.types_of(to))
                ends = ((self.type_of[edge.source], self.type_of[edge.target]) for edge in self.edges)
                if any((a in pair[0] and b in pair[1]) or (b in pair[0] and a in pair[1]) for a, b in ends):
                    found[column] = to
        return found

    def column(self, mapping: FileMapping, name: str) -> str | None:
        """Return a column of a mapping by its name, or by its place: `#2` is the second, `1` as well."""
        if name in mapping.columns:
            return name
        if not re.fullmatch(r"#?\d+", name):
            return None if any(name.startswith(f"{column}.") for column in mapping.columns) else name
        place = int(name[1:]) if name[0] == "#" else int(name) + 1
        by_number = f"column_{place}"
        columns = list(mapping.columns)
        return by_number if by_number in columns else columns[place - 1] if place <= len(columns) else None

    def lost(self, told: Mapping[str, Told]) -> int:
        """Return how many rows are in no node, no edge, and in no line of the report."""
        shown = {file.file for file in (*self.report.ignored, *self.report.unreadable) if file.is_telling}
        shown |= {mapping.file for mapping in self.report.mapping if mapping.kind == "ignored"}
        said = {file.removeprefix(f"{self.folder}/") for file in shown}
        gone = Counter[bool]()
        for name, wanted in self.wanted.items():
            if wanted["rows"] is None or "nested" in wanted or {wanted["file"], wanted["file"].split("#")[0]} & said:
                continue
            of_edges = name in told and told[name].kind != "things"
            gone[of_edges] += max(0, wanted["rows"] - (told[name].rows if name in told else 0))
        cuts = (*self.report.dropped, *self.report.merged)
        rows = sum(cut.count for cut in cuts if cut.reason not in OF_EDGES)
        edges = sum(cut.count for cut in cuts if cut.reason in OF_EDGES)
        claimed = {node_type for name in self.wanted for node_type in self.types_of(name)}
        claimed |= {link.node_type for mapping in self.used for link in mapping.links.values()}
        # A row whose node has a type that nobody meant is not lost.
        strays = sum(len(nodes) for node_type, nodes in self.by_type.items() if node_type not in claimed)
        return max(0, gone[False] - strays + max(0, gone[True] - edges) - rows)


def values_of(rows: Iterable[Node | Edge], mapping: FileMapping, column: str) -> Iterator[Any]:  # Any: JSON
    """Yield the values that the graph keeps of a column: properties, or the name, id or weight that it became."""
    role = mapping.columns.get(column, "")
    with_unit = re.compile(rf"{re.escape(column)}_(?!text$)[\w%]+")  # what has another form is kept as COLUMN_text
    for row in rows:
        kept = {name: value for name, value in row.properties.items() if name not in mapping.columns}
        measured = next((value for name, value in kept.items() if with_unit.fullmatch(name)), None)
        if column in row.properties:
            yield row.properties[column]
        elif measured is not None:
            yield measured
        elif isinstance(row, Edge):
            if role == "weight":
                yield row.weight
        elif role in ("name", "text"):
            yield row.name if role == "name" else row.text
        elif role in ("id", "prefixed id"):
            yield row.id.removeprefix(f"{row.type}:")
        elif role == "aliases":
            yield list(row.aliases)


def kind_of(values: Sequence[Any], mapping: FileMapping, column: str) -> str | None:  # Any: JSON
    """Return the kind of a column's values in the graph; None if it has none."""
    link = mapping.links.get(column)
    if (link is not None and link.separator) or any(isinstance(value, list) for value in values):
        return "list"
    if not values:
        return "text" if link is not None else None
    if all(isinstance(value, bool) for value in values):
        return "truth"
    numbers = numbers_in(values)
    if numbers:
        return "number" if len(numbers) == len(values) else "mixed"
    are_dates = all(isinstance(value, str) and ISO_DATE.fullmatch(value) for value in values)
    return "date" if are_dates else "text"


def numbers_in(values: Iterable[Any]) -> list[float]:  # Any: JSON
    """Return the numbers among values."""
    return [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]


def facts_of(truth: Truth, told: Mapping[str, Told]) -> list[Fact]:
    """Return each fact of a truth with its verdict."""
    facts: list[Fact] = []
    for table, wanted in truth["tables"].items():
        got = told.get(table)
        nothing: Judged = [(name, "missing", None) for name in asked_of(wanted)]
        found = nothing if got is None else judged(wanted, got, truth)
        facts += [Fact(table, name, verdict, seen) for name, verdict, seen in found]
    if not truth["tables"]:
        facts.append(Fact("", "no table", "wrong" if told else "right", list(told)))
    return facts


Judged: TypeAlias = list[tuple[str, Verdict, object]]


def asked_of(wanted: Truth) -> list[str]:
    """Return the names of the facts of a table."""
    names = ["as"]
    names += ["rows"] if wanted["rows"] is not None else []
    names += ["nodes"] if wanted.get("nodes") else []
    names += ["key"] if wanted.get("key") and "things" in wanted["as"] and not wanted.get("nested") else []
    names += ["name"] if wanted.get("name") else []
    named = (("link", "links"), ("kind", "kinds"), ("sum", "sums"), ("check", "check"))
    return [*names, *(f"{fact} {column}" for fact, columns in named for column in wanted.get(columns, {}))]


def judged(wanted: Truth, got: Told, truth: Truth) -> Judged:
    """Return the facts of a table that the import made something of. Edges are asked for no key and no name."""
    facts: Judged = []
    for name in asked_of(wanted):
        fact, _, column = name.partition(" ")
        if fact == "as":
            facts.append((name, "right" if got.kind in wanted["as"] else "wrong", got.kind))
        elif fact in ("rows", "nodes"):
            seen = got.rows if fact == "rows" else got.nodes
            facts.append((name, "right" if seen == wanted[fact] else "wrong", seen))
        elif fact in ("key", "name"):
            if got.kind == "things":
                facts.append((name, *_called(wanted[fact], got, fact)))
        elif fact == "link":
            facts.append((name, *_led(wanted["links"][column], column, got)))
        elif fact == "kind":
            kind = got.kinds.get(column)
            facts.append((name, kind_verdict(wanted["kinds"][column], kind), kind))
        elif fact == "sum":
            total = got.sums.get(column)
            is_right = total is not None and abs(total - wanted["sums"][column]) < 0.01
            facts.append((name, "missing" if total is None else "right" if is_right else "wrong", total))
        else:
            count = got.checks.get(column)
            is_right = count == wanted["check"][column][1]
            facts.append((name, "missing" if count is None else "right" if is_right else "wrong", count))
    return [*facts, *_false_links(wanted, got, truth)]


def _called(wanted: Sequence[str], got: Told, fact: str) -> tuple[Verdict, object]:
    """Judge the key or the name: one of several columns, or several together. What has no name is called by its key."""
    names = got.names if fact == "name" else ()
    seen = sorted(names) or sorted((got.key or "").split("+"))
    if seen == [""]:
        return "missing", None
    return "right" if seen in [sorted(each.split("+")) for each in wanted] else "wrong", "+".join(seen)


def _led(to: str, column: str, got: Told) -> tuple[Verdict, object]:
    """Judge a link; `a|b` is right where either column leads there."""
    seen = [got.links[each] for each in column.split("|") if each in got.links]
    best = next((each for each in seen if not each.startswith(NEW)), seen[0] if seen else None)
    if best is None:
        return "missing", None
    if to == NEW:
        return "right" if best == NEW else "missing" if best.startswith(NEW) else "wrong", best
    if stem(best) == stem(to):
        return "right", best
    return "missing" if best.startswith(NEW) else "wrong", best


def kind_verdict(wanted: str, seen: str | None) -> Verdict:
    """Judge the kind of a column: text for numbers is a weaker kind, numbers for codes are a wrong one."""
    if seen == wanted:
        return "right"
    wrong = ("number", "date", "mixed") if wanted == "text" else ("number", "date", "list")
    return "wrong" if seen in wrong else "missing"


def _false_links(wanted: Truth, got: Told, truth: Truth) -> Judged:
    """Return the links to other tables that the truth does not have."""
    asked = {each for column in wanted.get("links", {}) for each in column.split("|")} | {*wanted.get("maybe", ())}
    above = {wanted.get("links", {}).get(PARENT), wanted.get("nested")}  # by whatever name its column has
    links = {column: to for column, to in got.links.items() if column not in asked and to not in above}
    found = [(column, to) for column, to in links.items() if to in truth["tables"]]
    return [(f"false link {column}", "wrong", to) for column, to in found]


def outcome_of(folder: Path, truth: Truth) -> Outcome:
    """Import a folder and judge it."""
    try:
        made = Made(folder, truth)
    except Error as error:
        return Outcome(facts_of(truth, {}), 0, str(error).splitlines()[0])
    if not truth["tables"]:
        tables = {made.called(mapping): Told("things", 0) for mapping in made.used}
        return Outcome(facts_of(truth, tables), 0)
    told = made.told()
    return Outcome(facts_of(truth, told), made.lost(told))


def truths_in(folder: Path) -> dict[str, Truth]:
    """Return the truths of a folder by the names of their sets."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


def folder_of(name: str, sets: Sequence[Path]) -> Path | None:
    """Return the folder with the data of a set; None if it is not here."""
    places = (root / each for root in sets for each in (name, ELSEWHERE.get(name, name)))
    return next((place for place in places if place.is_dir()), None)


def counted(outcomes: Iterable[Outcome]) -> dict[str, Counter[Verdict]]:
    """Return the verdicts by kind of fact."""
    counts: dict[str, Counter[Verdict]] = {kind: Counter() for kind in KINDS}
    for outcome in outcomes:
        for fact in outcome.facts:
            counts[fact.name.split(" ")[0]][fact.verdict] += 1
    return {kind: each for kind, each in counts.items() if each}


def main() -> None:
    """Judge all sets, and print the facts by kind."""
    parser = command_line(__doc__)
    parser.add_argument("--truths", type=Path, default=OWN / "truths", help="folder of truths, SET.json")
    parser.add_argument("--sets", type=Path, nargs="+", default=[OWN], help="folders with the data, each in SET")
    parser.add_argument("--only", action="append", default=[], metavar="SET", help="only this set")
    parser.add_argument("--show", choices=VERDICTS, action="append", default=[], help="print these facts")
    args = parser.parse_args()
    outcomes: dict[str, Outcome] = {}
    skipped: list[str] = []
    for name, truth in truths_in(args.truths).items():
        folder = folder_of(name, args.sets)
        if args.only and name not in args.only:
            continue
        if folder is None:
            skipped.append(f"{name} ({truth['origin']})")
            continue
        outcomes[name] = outcome_of(folder, truth)
        for fact in outcomes[name].facts:
            if fact.verdict in args.show:
                print(f"{name:14} {fact.verdict:8} {fact.table}: {fact.name} ({fact.seen})", flush=True)
        if args.show and outcomes[name].refusal:
            print(f"{name:14} refused: {outcomes[name].refusal[:160]}")
    written = print_table(outcomes, skipped)
    write_json(args.json, written)


def print_table(outcomes: Mapping[str, Outcome], skipped: Sequence[str]) -> dict[str, Any]:  # Any: JSON
    """Print the facts by kind, and return all that was found."""
    counts = counted(outcomes.values())
    counts["all"] = sum(counts.values(), Counter[Verdict]())
    print(f"{'':8}{'n':>6}" + "".join(f"{verdict:>9}" for verdict in VERDICTS))
    for kind, each in counts.items():
        print(f"{kind:8}{each.total():6}" + "".join(f"{each[verdict]:9}" for verdict in VERDICTS))
    whole = [name for name, each in outcomes.items() if all(fact.verdict == "right" for fact in each.facts)]
    refused = {name: each.refusal for name, each in outcomes.items() if each.refusal}
    lost = {name: each.lost for name, each in outcomes.items() if each.lost}
    print(f"sets all right: {len(whole)} of {len(outcomes)}; refused: {len(refused)}")
    where = ", ".join(f"{name} {rows}" for name, rows in lost.items()) or "none"
    print(f"rows lost unsaid: {sum(lost.values())} ({where})")
    print(f"skipped, no data here: {len(skipped)} ({', '.join(skipped) or 'none'})")
    facts = {name: [fact._asdict() for fact in each.facts] for name, each in outcomes.items()}
    return {"kinds": counts, "whole": whole, "refused": refused, "lost": lost, "skipped": skipped, "facts": facts}


if __name__ == "__main__":
    main()
