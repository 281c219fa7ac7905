"""What `anchor` finds without a model, beside `bm25` over the same questions.

    python benchmarks/anchor.py [--data FOLDER] [--json FILE] [--limit N] [--work FOLDER]

Development questions whose answers are nodes of their graph; the same with typing errors, in lower case, with aliases
in place of names, with names that have hyphens or digits written in another way; and questions generated from graphs
with a fixed seed, their gold read off the edges. Sets whose data is absent are left out, said so.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orienteer.errors import NotAGraph
from orienteer.graph.embedding import embed_graph
from orienteer.graph.store import Graph
from orienteer.index.embedders import open_embedder
from orienteer.ingest.importer import ImportOptions, import_graph
from orienteer.llm import Allowance
from orienteer.methods.anchor.anchor import Anchor
from orienteer.records import Question
from report import Row, Target, about, command_line, write_json

PATTERNS = Path(__file__).parent / "data" / "patterns.jsonl"
"""Patterns in our words; those of `first look` were written when the method was done, before it was run on them."""
MOST_GOLD = 20
"""Answers that a generated question may have at the most."""
K = 20
EMBEDDED = "-embedded"
"""Ends the name of a graph whose nodes have vectors; they are made once, in some minutes."""
MEASURES = ("Hit@1", "Hit@5", "Recall@20", "MRR")
ONE_OR_TWO_ANCHORS = {0, 1, 4, 6, 7, 8, 9, 10, 11, 12}
MOST = {17, 18, 22, 23, 24}
TARGETS = {
    name: Target(least, is_least=True)
    for name, least in {
        "GRB one or two anchors Hit@1": 0.90,
        "GRB all Hit@1": 0.85,
        "PKG Hit@5": 0.62,
        "PKG MRR": 0.44,
        "PKG Recall@20": 0.62,
        "PKG with vectors Hit@5": 0.62,
        "PKG with vectors MRR": 0.48,
        "DEB plain Hit@1": 0.93,
        "DEB loose Hit@1": 0.75,
    }.items()
}
MOST_MILLISECONDS = Target(15.0)


class Figures(NamedTuple):
    """Means over a set, in the order of MEASURES, and milliseconds a question."""

    means: tuple[float, ...]
    milliseconds: tuple[float, ...]


def main() -> None:
    """Run all sets."""
    parser = command_line(__doc__, ("--data", "--json", "--work"))
    parser.add_argument("--limit", type=int, metavar="N", help="questions of each set at the most")
    options = parser.parse_args()
    graphs = Graphs(options.data, options.work)
    rows: list[Row] = []
    print(f"{'set':34} {'n':>4}  {'anchor':^29}  {'bm25':^29}  ms p50 / p95 (first)")
    print(f"{'':40} {' '.join(f'{name:>6.6}' for name in MEASURES * 2)}")
    for graph_name, sets in SETS.items():
        graph = graphs.open(graph_name)
        if graph is None:
            print(f"{graph_name}: left out, {options.data / graph_name.removesuffix(EMBEDDED)} is not there")
            continue
        for name, items in sets(graph, options.data):
            rows += measure(name, graph, list(items)[: options.limit])
    write_json(options.json, {**about(), "rows": [row.content() for row in rows]})


class Graphs:
    """Graphs made of the data's folders, once."""

    def __init__(self, data: Path, work: Path) -> None:
        self._data, self._work = data, work

    def open(self, name: str) -> Graph | None:
        """Return a graph, with vectors of its nodes where its name says so; None where its data is absent."""
        source, target = self._data / name.removesuffix(EMBEDDED), self._work / name
        if not source.is_dir():
            return None
        try:
            return Graph.open(target)
        except NotAGraph:  # not made yet, or by a version that wrote another format
            import_graph([source], target, options=ImportOptions(force=True))
        if name.endswith(EMBEDDED):
            embed_graph(Graph.open(target), open_embedder("minilm"), cache=self._work / "cache")
        return Graph.open(target)


# -------------------------------------------------------------------------------------------------------- measuring


def measure(name: str, graph: Graph, items: Sequence[Item]) -> list[Row]:
    """Ask all questions of a set both ways; print one line and return its rows."""
    if not items:
        print(f"{name:34}    0  no questions")
        return []
    method, run = Anchor(graph), Allowance()

    def by_anchor(text: str) -> list[str]:
        return [hit.id for hit in method.retrieve(Question(text=text), run).hits]

    def by_words(text: str) -> list[str]:
        return [graph.arrays.ids[row] for row in graph.arrays.searcher().search(text, K).rows]

    ours, theirs = figures(graph, items, by_anchor), figures(graph, items, by_words)
    p50, p95 = np.percentile(ours.milliseconds[1:] or ours.milliseconds, [50, 95])
    cells = " ".join(f"{value:6.3f}" for value in (*ours.means, *theirs.means))
    print(f"{name:34} {len(items):4}  {cells}  {p50:.1f} / {p95:.1f} ({ours.milliseconds[0]:.0f})", flush=True)
    rows = [
        Row(f"{name} {measure_name}", one, "", "bm25", other, TARGETS.get(f"{name} {measure_name}"))
        for measure_name, one, other in zip(MEASURES, ours.means, theirs.means, strict=True)
    ]
    their_p95 = float(np.percentile(theirs.milliseconds, 95))
    rows.append(Row(f"{name} p50", float(p50), "ms"))
    rows.append(Row(f"{name} p95", float(p95), "ms", "bm25", their_p95, MOST_MILLISECONDS))
    return [*rows, Row(f"{name} first question", ours.milliseconds[0], "ms")]


def figures(graph: Graph, items: Sequence[Item], ask: Callable[[str], list[str]]) -> Figures:
    """Return the means of all measures."""
    values, milliseconds = [], []
    for item in items:
        started = time.perf_counter()
        ids = ask(item.question)
        milliseconds.append((time.perf_counter() - started) * 1e3)
        if item.by_name:
            ids = list(dict.fromkeys(graph.arrays.names[graph.arrays.row(one)] for one in ids))
        values.append(judge(ids, item.gold))
    return Figures(tuple(np.mean(values, axis=0).tolist()), tuple(milliseconds))


def judge(ids: Sequence[str], gold: frozenset[str]) -> tuple[float, ...]:
    """Return Hit@1, Hit@5, Recall@20 and the reciprocal rank of one ranking."""
    place = next((number for number, one in enumerate(ids[:K], 1) if one in gold), None)
    recall = len(gold & set(ids[:K])) / len(gold)
    return float(place == 1), float(place is not None and place <= 5), recall, 1 / place if place else 0.0


# ------------------------------------------------------------------------------------------- questions that are drawn


@dataclass(frozen=True, slots=True)
class Item:
    """A question and the nodes that answer it, by name where `by_name`, else by id."""

    question: str
    gold: frozenset[str]
    by_name: bool = False


class Clause(NamedTuple):
    """A condition on the answer: an edge to a named node, `<` where it comes from there, and ways to say it."""

    edge: str
    type: str
    said: Sequence[str]
    beyond: Sequence[str] | None = None
    """A further edge and type, when the named node is two steps away."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """What is asked for, under which conditions, in which words."""

    answer: str
    clauses: tuple[Clause, ...]
    frames: tuple[str, ...]

    @classmethod
    def all_of(cls, name: str) -> list[Pattern]:
        """Return the patterns of a set."""
        rows = [json.loads(line) for line in PATTERNS.read_text(encoding="utf-8").splitlines()]
        return [
            cls(row["answer"], tuple(Clause(**clause) for clause in row["clauses"]), tuple(row["frames"]))
            for row in rows
            if row["set"] == name
        ]


class Drawer:
    """Draws questions from a graph; its gold is read off the edges one by one."""

    def __init__(self, graph: Graph, random_seed: int) -> None:
        self._graph, self._chance = graph, random.Random(random_seed)
        self._by_type = {
            name: np.flatnonzero(np.asarray(graph.arrays.mask([name]))).tolist() for name in graph.schema.node_types
        }

    def draw(self, pattern: Pattern) -> Item | None:
        """Return a question of a pattern around a random answer; None where this one does not serve."""
        row = self._chance.choice(self._by_type[pattern.answer])
        gold: set[int] = set(self._by_type[pattern.answer])
        said: list[str] = []
        named: set[int] = set()
        for clause in pattern.clauses:
            anchors = sorted(self._named(row, clause) - named)
            if not anchors:
                return None
            anchor = self._chance.choice(anchors)
            if not self._is_plain(anchor):
                return None
            named.add(anchor)
            gold &= self._meeting(anchor, clause, pattern.answer)
            said.append(self._chance.choice(clause.said).format(self._graph.arrays.names[anchor]))
        gold -= named
        if not 1 <= len(gold) <= MOST_GOLD:
            return None
        frame = self._chance.choice(pattern.frames)
        self._chance.choice((frame,))  # of one: it draws as much chance as when the sets were first made
        ids = frozenset(self._graph.arrays.ids[one] for one in gold)
        return Item(frame.format(clauses=" and ".join(said)), ids)

    def _named(self, row: int, clause: Clause) -> set[int]:
        if clause.beyond is None:
            return self._step(row, clause.edge, clause.type)
        edge, through = clause.beyond
        between = self._step(row, edge, through)
        return {one for node in between for one in self._step(node, clause.edge, clause.type)}

    def _meeting(self, anchor: int, clause: Clause, answer: str) -> set[int]:
        if clause.beyond is None:
            return self._step(anchor, _turned(clause.edge), answer)
        edge, between = clause.beyond
        return {
            one
            for node in self._step(anchor, _turned(clause.edge), between)
            for one in self._step(node, _turned(edge), answer)
        }

    def _step(self, row: int, edge: str, node_type: str) -> set[int]:
        """Return the nodes of a type at the other end of a node's edges; `<` means those that come in."""
        graph, name = self._graph, edge.lstrip("<")
        kind = graph.arrays.types.edges.index(name) * 2 + edge.startswith("<")
        entries = graph.arrays.adjacency.entries(np.array([row], np.int32))
        along = entries.kind >> 1 == kind >> 1 if name in graph.schema.symmetric else entries.kind == kind
        right = graph.arrays.node_types[entries.neighbor] == graph.arrays.types.nodes.index(node_type)
        return set(entries.neighbor[along & right].tolist())

    def _is_plain(self, row: int) -> bool:
        """Tell whether a node's name is one that a person would write, and its type's only one."""
        name = self._graph.arrays.names[row]
        same = [
            one
            for one in self._graph.arrays.candidates(name)
            if self._graph.arrays.node_types[one] == self._graph.arrays.node_types[row]
        ]
        return 3 <= len(name) <= 60 and same == [row]


def _turned(edge: str) -> str:
    return edge[1:] if edge.startswith("<") else f"<{edge}"


def generated(graph: Graph, name: str, count: int, *, random_seed: int = 7) -> list[Item]:
    """Return this many different questions, of all patterns of a set in turn; fewer where tries find no more."""
    drawer, patterns = Drawer(graph, random_seed), Pattern.all_of(name)
    found: dict[str, Item] = {}
    tries = 0
    while len(found) < count and tries < count * 60:
        item = drawer.draw(patterns[tries % len(patterns)])
        tries += 1
        if item is not None:
            found.setdefault(item.question, item)
    return list(found.values())


# ------------------------------------------------------------------------------------------------ questions of others


def hetionet_sets(graph: Graph, data: Path) -> Iterator[tuple[str, Iterable[Item]]]:
    file = data / "grbench" / "grbench.jsonl.gz"
    if file.exists():
        one_or_two, most = grbench(graph, file, ONE_OR_TWO_ANCHORS), grbench(graph, file, MOST)
        yield "GRB one or two anchors", one_or_two
        yield "GRB most", most
        yield "GRB all", one_or_two + most
        yield from perturbed("GRB", graph, one_or_two + most)
    else:
        print(f"GRB: left out, {file} is not there")
    made, first_look = generated(graph, "hetionet", 150), generated(graph, "hetionet, first look", 60)
    yield "HET generated", made
    yield "HET first look", first_look
    yield otherwise_written("HET", graph, made + first_look)


def primekg_sets(graph: Graph, data: Path) -> Iterator[tuple[str, Iterable[Item]]]:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(data / "primekg_ibd" / "stark_questions.parquet").to_pylist()
    items = [Item(one["query"], frozenset(map(str, _list(one["answer_ids"])))) for one in table]
    yield "PKG", items
    yield from perturbed("PKG", graph, items)
    first_look = generated(graph, "primekg_ibd, first look", 60)
    yield "PKG first look", first_look
    yield otherwise_written("PKG", graph, first_look)


def embedded_primekg_sets(graph: Graph, data: Path) -> Iterator[tuple[str, Iterable[Item]]]:
    yield "PKG with vectors", next(iter(primekg_sets(graph, data)))[1]


def _list(value: Any) -> list[Any]:  # Any: a list, or one written as JSON
    return list(json.loads(value)) if isinstance(value, str) else list(value)


def grbench(graph: Graph, file: Path, templates: set[int]) -> list[Item]:
    """Return the questions of these templates whose edges are all there."""
    names = set(graph.arrays.names)
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    kept = [one for one in rows if one["domain"] == "biomedical" and one["edges_complete"]]
    return [
        Item(one["question"], answer_names(one["answer"], names), by_name=True)
        for one in kept
        if int(float(one["template"])) in templates
    ]


def answer_names(answer: str, names: set[str]) -> frozenset[str]:
    """Cut an answer at commas into names that may hold commas: the longest run that is a name."""
    parts = [part.strip() for part in answer.split(",")]
    found, at = set(), 0
    while at < len(parts):
        runs = (", ".join(parts[at:end]) for end in range(len(parts), at, -1))
        run = next((one for one in runs if one in names), None)
        if run is not None:
            found.add(run)
        at += 1 if run is None else run.count(", ") + 1
    return frozenset(found)


def perturbed(name: str, graph: Graph, items: Sequence[Item]) -> Iterator[tuple[str, list[Item]]]:
    """Return the questions with a typing error in a name, in lower case, and with an alias in place of a name."""
    chance = random.Random(7)
    mentions = [mention(graph, item.question) for item in items]
    named = [(item, found) for item, found in zip(items, mentions, strict=True) if found]
    yield f"{name} typing error", [_changed(item, one.text, drop_letter(one.text, chance)) for item, one in named]
    yield f"{name} lower case", [replace(item, question=item.question.lower()) for item in items]
    yield (
        f"{name} alias",
        [_changed(item, one.text, chance.choice(one.aliases)) for item, one in named if one.aliases],
    )


def otherwise_written(name: str, graph: Graph, items: Sequence[Item]) -> tuple[str, list[Item]]:
    """Return the questions with a name that has hyphens or digits, which are written in another way there."""
    chance = random.Random(7)
    changed: list[Item] = []
    for item in items:
        found = mention(graph, item.question)
        ways = [way for way in other_ways(found.text) if way not in item.question] if found else []
        if found and ways:
            changed.append(_changed(item, found.text, chance.choice(ways)))
    return f"{name} hyphens and digits", changed


def other_ways(name: str) -> list[str]:
    """Return other ways to write a name: a hyphen as a space or left out, one or a space where letters meet digits."""
    border = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
    ways = [re.sub(r"(?<=\w)-(?=\w)", by, name) for by in (" ", "")]
    ways += [border.sub(by, name, count=1) for by in ("-", " ")]
    return [way for way in dict.fromkeys(ways) if way != name]


class Mention(NamedTuple):
    """A name that stands in a question, and the other names of its node."""

    text: str
    aliases: tuple[str, ...]


def mention(graph: Graph, question: str) -> Mention | None:
    """Return the longest name of a node, of four letters or more, that stands in a question as it is written."""
    starts = [match.start() for match in re.finditer(r"(?<!\w)\w", question)]
    ends = [match.end() for match in re.finditer(r"[\w)](?!\w)", question)]
    spans = sorted(
        ((start, end) for start in starts for end in ends if end - start >= 4), key=lambda one: one[0] - one[1]
    )
    for start, end in spans:
        text = question[start:end]
        rows = [row for row in graph.arrays.candidates(text) if graph.arrays.names[row] == text]
        is_name = " " in text or any(letter.isupper() or letter.isdigit() for letter in text[1:]) or start > 0
        if rows and is_name and text.casefold() not in {one.casefold() for one in graph.schema.node_types}:
            return Mention(
                text, tuple(sorted({alias for row in rows for alias in graph.arrays.aliases_at(row)} - {text}))
            )
    return None


def drop_letter(text: str, chance: random.Random) -> str:
    """Return the text without one of its letters or digits."""
    place = chance.choice([at for at, letter in enumerate(text) if letter.isalnum()])
    return text[:place] + text[place + 1 :]


def _changed(item: Item, old: str, new: str) -> Item:
    return replace(item, question=item.question.replace(old, new, 1))


def debian_sets(graph: Graph, data: Path) -> Iterator[tuple[str, Iterable[Item]]]:
    plain = generated(graph, "debian_bookworm", 100) + generated(graph, "debian_bookworm, two hops", 20)
    yield "DEB plain", plain
    yield otherwise_written("DEB", graph, plain)
    yield "DEB loose", generated(graph, "debian_bookworm, loose", 100)
    yield "DEB first look", generated(graph, "debian_bookworm, first look", 60)


def go_sets(graph: Graph, data: Path) -> Iterator[tuple[str, Iterable[Item]]]:
    made = generated(graph, "go_genes", 150)
    yield "GO generated", made
    yield otherwise_written("GO", graph, made)
    yield "GO first look", generated(graph, "go_genes, first look", 60)


def wordnet_sets(graph: Graph, data: Path) -> Iterator[tuple[str, Iterable[Item]]]:
    yield "WN generated", generated(graph, "wordnet30", 150)
    yield "WN first look", generated(graph, "wordnet30, first look", 60)


def disease_sets(graph: Graph, data: Path) -> Iterator[tuple[str, Iterable[Item]]]:
    yield "DO first look", generated(graph, "disease_ontology, first look", 60)


Sets = Callable[[Graph, Path], Iterator[tuple[str, Iterable[Item]]]]
SETS: Mapping[str, Sets] = {
    "hetionet": hetionet_sets,
    "primekg_ibd": primekg_sets,
    f"primekg_ibd{EMBEDDED}": embedded_primekg_sets,
    "debian_bookworm": debian_sets,
    "go_genes": go_sets,
    "wordnet30": wordnet_sets,
    "disease_ontology": disease_sets,
}

if __name__ == "__main__":
    main()
