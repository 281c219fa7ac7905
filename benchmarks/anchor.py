"""What `anchor` finds without a model, beside `bm25` over the same questions.

    python benchmarks/anchor.py [--data FOLDER] [--json FILE] [--limit N] [--work FOLDER]

Development questions whose answers are nodes of their graph; the same with typing errors, in lower case, with aliases
in place of names; and questions generated from graphs with a fixed seed, their gold read off the edges. Sets whose
data is absent are left out, said so.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orienteer.build.run import import_graph
from orienteer.graph.store import Graph
from orienteer.records import Question, Ranked, Step, Usage
from orienteer.strategies.anchor import Anchor
from report import commit, machine

K = 20
MEASURES = ("Hit@1", "Hit@5", "Recall@20", "MRR")
ONE_OR_TWO_ANCHORS = {0, 1, 4, 6, 7, 8, 9, 10, 11, 12}
MOST = {17, 18, 22, 23, 24}
TARGETS = {
    "GRB one or two anchors Hit@1": 0.90,
    "GRB all Hit@1": 0.85,
    "PKG Hit@5": 0.52,
    "PKG MRR": 0.39,
    "PKG Recall@20": 0.55,
    "DEB plain Hit@1": 0.93,
    "DEB loose Hit@1": 0.75,
}
MOST_MILLISECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Item:
    """A question and the nodes that answer it, by name where `by_name`, else by id."""

    question: str
    gold: frozenset[str]
    by_name: bool = False


class Figures(NamedTuple):
    """Means over a set, in the order of MEASURES, and milliseconds a question."""

    means: tuple[float, ...]
    milliseconds: tuple[float, ...]


class Quiet:
    """A run that allows everything and tells nobody."""

    random_seed = 0

    def check(self) -> None: ...

    def charge(self, usage: Usage) -> None: ...

    def tell(self, event: Step | Ranked | str) -> None: ...

    def final(self) -> Quiet:
        return self


def main() -> None:
    """Run all sets."""
    parser = argparse.ArgumentParser(description="Measure anchor against bm25.")
    parser.add_argument(
        "--data", type=Path, metavar="FOLDER", default=Path(os.environ.get("ORIENTEER_DATA", "../shared/data"))
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--limit", type=int, metavar="N", help="questions of each set at the most")
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="where graphs are made and kept")
    options = parser.parse_args()
    graphs = Graphs(options.data, options.work or Path(tempfile.gettempdir()) / "orienteer-benchmark")
    rows: list[dict[str, Any]] = []  # Any: JSON
    print(f"{'set':34} {'n':>4}  {'anchor':^29}  {'bm25':^29}  ms p50 / p95 (first)")
    print(f"{'':40} {' '.join(f'{name:>6.6}' for name in MEASURES * 2)}")
    for graph_name, sets in SETS.items():
        graph = graphs.open(graph_name)
        if graph is None:
            print(f"{graph_name}: left out, {options.data / graph_name} is not there")
            continue
        for name, items in sets(graph, options.data):
            rows += measure(name, graph, list(items)[: options.limit])
    if options.json:
        content = {"machine": machine(), "commit": commit(), "rows": rows}
        options.json.write_text(json.dumps(content, indent=1) + "\n")


class Graphs:
    """Graphs made of the data's folders, once."""

    def __init__(self, data: Path, work: Path) -> None:
        self._data, self._work = data, work

    def open(self, name: str) -> Graph | None:
        """Return a graph; None where its data is absent."""
        source, target = self._data / name, self._work / name
        if not source.is_dir():
            return None
        if not target.exists():
            import_graph([source], target)
        return Graph.open(target)


# -------------------------------------------------------------------------------------------------------- measuring


def measure(name: str, graph: Graph, items: Sequence[Item]) -> list[dict[str, Any]]:  # Any: JSON
    """Ask all questions of a set both ways; print one line and return its rows."""
    if not items:
        print(f"{name:34}    0  no questions")
        return []
    strategy, run = Anchor(graph), Quiet()

    def by_anchor(text: str) -> list[str]:
        return [hit.id for hit in strategy.retrieve(Question(text=text), run).hits]

    def by_words(text: str) -> list[str]:
        return [hit.id for hit in graph.search(text, K)]

    ours, theirs = figures(graph, items, by_anchor), figures(graph, items, by_words)
    p50, p95 = np.percentile(ours.milliseconds[1:] or ours.milliseconds, [50, 95])
    cells = " ".join(f"{value:6.3f}" for value in (*ours.means, *theirs.means))
    print(f"{name:34} {len(items):4}  {cells}  {p50:.1f} / {p95:.1f} ({ours.milliseconds[0]:.0f})", flush=True)
    rows = [
        row(f"{name} {measure_name}", one, "", peer=("bm25", other), least=TARGETS.get(f"{name} {measure_name}"))
        for measure_name, one, other in zip(MEASURES, ours.means, theirs.means, strict=True)
    ]
    their_p95 = float(np.percentile(theirs.milliseconds, 95))
    rows.append(row(f"{name} p50", float(p50), "ms"))
    rows.append(row(f"{name} p95", float(p95), "ms", peer=("bm25", their_p95), most=MOST_MILLISECONDS))
    rows.append(row(f"{name} first question", ours.milliseconds[0], "ms"))
    return rows


def figures(graph: Graph, items: Sequence[Item], ask: Callable[[str], list[str]]) -> Figures:
    """Return the means of all measures."""
    values, milliseconds = [], []
    for item in items:
        started = time.perf_counter()
        ids = ask(item.question)
        milliseconds.append((time.perf_counter() - started) * 1e3)
        if item.by_name:
            ids = list(dict.fromkeys(graph.names[graph.row(one)] for one in ids))
        values.append(judge(ids, item.gold))
    return Figures(tuple(np.mean(values, axis=0).tolist()), tuple(milliseconds))


def judge(ids: Sequence[str], gold: frozenset[str]) -> tuple[float, ...]:
    """Return Hit@1, Hit@5, Recall@20 and the reciprocal rank of one ranking."""
    place = next((number for number, one in enumerate(ids[:K], 1) if one in gold), None)
    recall = len(gold & set(ids[:K])) / len(gold)
    return float(place == 1), float(place is not None and place <= 5), recall, 1 / place if place else 0.0


def row(
    name: str,
    ours: float,
    unit: str,
    *,
    peer: tuple[str, float] | None = None,
    least: float | None = None,
    most: float | None = None,
) -> dict[str, Any]:  # Any: JSON
    """Return a figure as it is written."""
    target = f">= {least:g}" if least is not None else f"<= {most:g} {unit}" if most is not None else None
    met = ours >= least if least is not None else ours <= most if most is not None else None
    return {
        "name": name,
        "ours": ours,
        "unit": unit,
        "peer": peer[0] if peer else None,
        "peer_value": peer[1] if peer else None,
        "ratio": ours / peer[1] if peer and peer[1] else None,
        "target": target,
        "met": met,
    }


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
    yield "HET generated", generated(graph, HETIONET, 150)


def primekg_sets(graph: Graph, data: Path) -> Iterator[tuple[str, Iterable[Item]]]:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(data / "primekg_ibd" / "stark_questions.parquet").to_pylist()
    items = [Item(one["query"], frozenset(map(str, _list(one["answer_ids"])))) for one in table]
    yield "PKG", items
    yield from perturbed("PKG", graph, items)


def _list(value: Any) -> list[Any]:  # Any: a list, or one written as JSON
    return list(json.loads(value)) if isinstance(value, str) else list(value)


def grbench(graph: Graph, file: Path, templates: set[int]) -> list[Item]:
    """Return the questions of these templates whose edges are all there."""
    names = set(graph.names)
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
        rows = [row for row in graph.candidates(text) if graph.names[row] == text]
        is_name = " " in text or any(letter.isupper() or letter.isdigit() for letter in text[1:]) or start > 0
        if rows and is_name and text.casefold() not in {one.casefold() for one in graph.schema.node_types}:
            return Mention(text, tuple(sorted({alias for row in rows for alias in graph.aliases_at(row)} - {text})))
    return None


def drop_letter(text: str, chance: random.Random) -> str:
    """Return the text without one of its letters or digits."""
    place = chance.choice([at for at, letter in enumerate(text) if letter.isalnum()])
    return text[:place] + text[place + 1 :]


def _changed(item: Item, old: str, new: str) -> Item:
    return replace(item, question=item.question.replace(old, new, 1))


# -------------------------------------------------------------------------------------------------- questions of ours


class Clause(NamedTuple):
    """A condition on the answer: an edge to a named node, `<` where it comes from there, and ways to say it."""

    edge: str
    type: str
    said: tuple[str, ...]
    beyond: tuple[str, str] | None = None
    """A further edge and type, when the named node is two steps away."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """What is asked for, under which conditions, in which words."""

    answer: str
    clauses: tuple[Clause, ...]
    frames: tuple[str, ...] = ("Which {kind} {clauses}?",)
    kind: tuple[str, ...] = ("things",)


class Drawer:
    """Draws questions from a graph; its gold is read off the edges one by one."""

    def __init__(self, graph: Graph, random_seed: int) -> None:
        self._graph, self._chance = graph, random.Random(random_seed)
        self._by_type = {name: np.flatnonzero(graph.mask([name])).tolist() for name in graph.schema.node_types}

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
            said.append(self._chance.choice(clause.said).format(self._graph.names[anchor]))
        gold -= named
        if not 1 <= len(gold) <= K:
            return None
        frame, kind = self._chance.choice(pattern.frames), self._chance.choice(pattern.kind)
        ids = frozenset(self._graph.ids[one] for one in gold)
        return Item(frame.format(kind=kind, clauses=" and ".join(said)), ids)

    def _named(self, row: int, clause: Clause) -> set[int]:
        if clause.beyond is None:
            return self._step(row, clause.edge, clause.type)
        between = self._step(row, *clause.beyond)
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
        kind = graph.types.edges.index(name) * 2 + edge.startswith("<")
        entries = graph.adjacency.entries(np.array([row], np.int32))
        along = entries.kind >> 1 == kind >> 1 if name in graph.schema.symmetric else entries.kind == kind
        right = graph.node_types[entries.neighbor] == graph.types.nodes.index(node_type)
        return set(entries.neighbor[along & right].tolist())

    def _is_plain(self, row: int) -> bool:
        """Tell whether a node's name is one that a person would write, and its type's only one."""
        name = self._graph.names[row]
        same = [
            one for one in self._graph.candidates(name) if self._graph.node_types[one] == self._graph.node_types[row]
        ]
        return 3 <= len(name) <= 60 and same == [row]


def _turned(edge: str) -> str:
    return edge[1:] if edge.startswith("<") else f"<{edge}"


def generated(graph: Graph, patterns: Sequence[Pattern], count: int, *, random_seed: int = 7) -> list[Item]:
    """Return this many different questions, of all patterns alike."""
    drawer = Drawer(graph, random_seed)
    found: dict[str, Item] = {}
    tries = 0
    while len(found) < count and tries < count * 2_000:
        item = drawer.draw(patterns[len(found) % len(patterns)])
        tries += 1
        if item is not None:
            found.setdefault(item.question, item)
    return list(found.values())


def _debian(number: int) -> tuple[Pattern, ...]:
    """Return the patterns over the Debian graph in the schema's words (0) or in others (1)."""
    said = {
        "in_section": ("are in section {}", "come from the {} area"),
        "recommends": ("recommend {}", "work best together with {}"),
        "depends": ("depend on {}", "need {}"),
        "maintained_by": ("are maintained by {}", "are looked after by {}"),
        "suggests": ("suggest {}", "can be extended by {}"),
        "has_tag": ("have the tag {}", "are labelled {}"),
        "built_from": ("are built from the source {}", "are compiled out of {}"),
    }
    types = {"in_section": "section", "maintained_by": "maintainer", "has_tag": "debtag", "built_from": "source"}
    pairs = (
        ("in_section", "recommends"),
        ("maintained_by", "depends"),
        ("in_section", "suggests", "maintained_by"),
        ("has_tag", "depends"),
        ("built_from", "recommends"),
    )
    frames = (
        ("Which packages {clauses}?", "Find the packages that {clauses}.", "What packages {clauses}?"),
        ("What are good programs that {clauses}?", "I look for software that {clauses}", "Which tools {clauses}?"),
    )[number]
    return tuple(
        Pattern(
            "package", tuple(Clause(edge, types.get(edge, "package"), (said[edge][number],)) for edge in edges), frames
        )
        for edges in pairs
    )


def _two_hops() -> tuple[Pattern, ...]:
    through = Clause("depends", "package", ("maintain packages that depend on {}",), ("<maintained_by", "package"))
    holding = Clause("recommends", "package", ("hold packages that recommend {}",), ("<in_section", "package"))
    return (
        Pattern("maintainer", (through,), ("Which maintainers {clauses}?",)),
        Pattern("section", (holding,), ("Which sections {clauses}?",)),
    )


HETIONET = (
    Pattern(
        "Compound",
        (
            Clause("CcSE", "Side Effect", ("cause {}", "can lead to {}", "have {} among their side effects")),
            Clause("CbG", "Gene", ("bind {}", "bind to the protein of {}", "act on the gene {}")),
        ),
        ("Which compounds {clauses}?", "Name compounds that {clauses}.", "What drugs {clauses}?"),
    ),
    Pattern(
        "Disease",
        (
            Clause("DpS", "Symptom", ("present with {}", "show {}", "have the symptom {}")),
            Clause("DaG", "Gene", ("are associated with {}", "involve the gene {}")),
        ),
        ("Which diseases {clauses}?", "List all diseases that {clauses}", "What diseases {clauses}?"),
    ),
    Pattern(
        "Compound",
        (
            Clause("<PCiC", "Pharmacologic Class", ("belong to the class {}", "are included in {}")),
            Clause("CtD", "Disease", ("treat {}", "are used against {}")),
        ),
        ("Which compounds {clauses}?", "Give me the compounds that {clauses}."),
    ),
    Pattern(
        "Pathway",
        (Clause("<GpPW", "Gene", ("{}",)), Clause("<GpPW", "Gene", ("{}",))),
        ("In which pathways do {clauses} both participate?", "Which pathways do both {clauses} take part in?"),
    ),
    Pattern(
        "Gene",
        (
            Clause("<AeG", "Anatomy", ("are expressed in {}", "are active in the {}")),
            Clause("GpPW", "Pathway", ("participate in the pathway {}", "take part in {}")),
        ),
        ("Which genes {clauses}?", "Show genes that {clauses}."),
    ),
    Pattern(
        "Symptom",
        (Clause("<CtD", "Compound", ("presented by diseases that {} treats",), ("<DpS", "Disease")),),
        ("Which symptoms are {clauses}?", "What are the symptoms {clauses}?"),
    ),
    Pattern(
        "Pharmacologic Class",
        (Clause("CtD", "Disease", ("include compounds that treat {}",), ("PCiC", "Compound")),),
        ("Which pharmacologic classes {clauses}?", "What classes {clauses}?"),
    ),
)
GO_GENES = (
    Pattern(
        "gene",
        (
            Clause("involved_in", "biological_process", ("are involved in {}", "play a part in {}")),
            Clause("located_in", "cellular_component", ("are located in the {}", "are found in the {}")),
        ),
        ("Which genes {clauses}?", "Find human genes that {clauses}.", "What genes {clauses}?"),
    ),
    Pattern(
        "gene",
        (
            Clause("enables", "molecular_function", ("enable {}", "have {}")),
            Clause("involved_in", "biological_process", ("are involved in {}", "take part in {}")),
        ),
        ("Which genes {clauses}?", "List genes that {clauses}"),
    ),
    Pattern(
        "biological_process",
        (Clause("<involved_in", "gene", ("{}",)), Clause("<involved_in", "gene", ("{}",))),
        ("Which biological processes are {clauses} both involved in?", "What processes do {clauses} share?"),
    ),
    Pattern(
        "biological_process",
        (Clause("negatively regulates", "biological_process", ("negatively regulates {}", "inhibits {}")),),
        ("Which biological process {clauses}?", "What process {clauses}?"),
    ),
    Pattern(
        "cellular_component",
        (Clause("enables", "molecular_function", ("genes that enable {}",), ("<located_in", "gene")),),
        ("In which cellular components are {clauses} located?", "Which cellular components hold {clauses}?"),
    ),
    Pattern(
        "molecular_function",
        (Clause("<enables", "gene", ("enabled by {}",)),),
        ("Which molecular functions are {clauses}?", "What is the molecular function {clauses}?"),
    ),
)
WORDNET = (
    Pattern(
        "noun",
        (Clause("<hyponym", "noun", ("{}",)),),
        ("What are the hyponyms of {clauses}?", "List hyponyms of {clauses}"),
    ),
    Pattern(
        "noun",
        (Clause("<hypernym", "noun", ("{}",)),),
        ("Which noun is the hypernym of {clauses}?", "What is a hypernym of {clauses}?"),
    ),
    Pattern(
        "noun",
        (Clause("<part_meronym", "noun", ("{}",)),),
        ("What are the part meronyms of {clauses}?", "Which parts does {clauses} have?"),
    ),
    Pattern(
        "adj",
        (Clause("similar_to", "adj", ("{}",)),),
        ("Which adjectives are similar to {clauses}?", "Name adjectives like {clauses}."),
    ),
    Pattern(
        "adj",
        (Clause("antonym", "adj", ("{}",)),),
        ("What is the antonym of {clauses}?", "Which adjective is the antonym of {clauses}?"),
    ),
    Pattern(
        "adv",
        (Clause("derived_from_adj", "adj", ("{}",)),),
        ("Which adverb is derived from {clauses}?", "Which adverbs come from the adjective {clauses}?"),
    ),
    Pattern(
        "verb",
        (Clause("<entailment", "verb", ("{}",)),),
        ("Which verbs does {clauses} entail?", "What does the verb {clauses} entail?"),
    ),
    Pattern(
        "noun",
        (
            Clause("domain_topic", "noun", ("have the domain topic {}", "belong to the topic {}")),
            Clause("hypernym", "noun", ("have the hypernym {}", "are a kind of {}")),
        ),
        ("Which nouns {clauses}?",),
    ),
)


def debian_sets(graph: Graph, data: Path) -> Iterator[tuple[str, Iterable[Item]]]:
    yield "DEB plain", generated(graph, _debian(0), 100) + generated(graph, _two_hops(), 20)
    yield "DEB loose", generated(graph, _debian(1), 100)


def go_sets(graph: Graph, data: Path) -> Iterator[tuple[str, Iterable[Item]]]:
    yield "GO generated", generated(graph, GO_GENES, 150)


def wordnet_sets(graph: Graph, data: Path) -> Iterator[tuple[str, Iterable[Item]]]:
    yield "WN generated", generated(graph, WORDNET, 150)


Sets = Callable[[Graph, Path], Iterator[tuple[str, Iterable[Item]]]]
SETS: Mapping[str, Sets] = {
    "hetionet": hetionet_sets,
    "primekg_ibd": primekg_sets,
    "debian_bookworm": debian_sets,
    "go_genes": go_sets,
    "wordnet30": wordnet_sets,
}

if __name__ == "__main__":
    main()
