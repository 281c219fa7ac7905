"""How the costs of a graph grow with its nodes, edges and words: measured, fitted, and told for a larger one.

    python benchmarks/scale.py [SIZE ...] [--work FOLDER] [--json FILE]

Each synthetic graph is made, built and asked in processes of their own, one thread; what FOLDER holds already is not
measured again. What adds up (time, memory and disk) is fitted as so much a node, an edge and a word: M's sisters each
have four times as much of one of them. What does not (searches, questions) is fitted as a power of the graph's size.
The largest graph is also foretold from the others, so that a fit can be seen to be wrong. A last column tells what the
fit gives for ten times the nodes, edges and words of the largest: on paper, not measured.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import probe
from orienteer import Graph, Retriever
from orienteer.cypher.session import Cypher
from report import command_line, run_script, write_json
from synthetic import SIZES, Asked, Synthetic, load

GROWING = ("S", "M", "M-nodes", "M-edges", "M-words", "L", "XL")
METHODS = ("bm25", "anchor", "hippo")
QUESTIONS, SEARCHES, ROUNDS, K = 20, 100, 3, 10
ENOUGH = 60.0
"""Seconds of one figure, after which no more is asked."""
GIGABYTE = 1e9
PARTS = ("nodes", "edges", "words")
SUMS = ("build, s", "build, processor s", "build, GB at most", "disk, GB")
"""Figures that add up over what a graph holds; the others grow as a power."""
NEIGHBORHOODS = ("around degree 10", "around degree 1,000", "around hub")

Figures = dict[str, float]


def main() -> None:
    """Measure what is not measured yet, then fit."""
    parser = command_line(__doc__, ("--json", "--work"))
    parser.add_argument("sizes", nargs="*", metavar="SIZE", help=f"of {', '.join(SIZES)}; {' '.join(GROWING)} if none")
    parser.add_argument("--probe", nargs=2, metavar=("SIZE", "PART"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.probe:
        size, part = options.probe
        print(json.dumps(PROBES[part](load(size, options.work), options.work / f"graph-{size}", part)))
        return
    sizes = sorted(options.sizes or GROWING, key=lambda size: SIZES[size].edges)
    figures = {size: measured(size, options.work) for size in sizes}
    names = [name for name in figures[sizes[0]] if name not in PARTS]
    fits = {name: fit(name, figures) for name in names}
    show(figures, fits)
    write_json(options.json, {"measured": figures, "fitted": fits})


# ------------------------------------------------------------------------------------------------------------ measuring


def measured(size: str, work: Path) -> Figures:
    """Return the figures of a size, part by part out of the work folder where they are there."""
    file, graph = work / f"scale-{size}.json", work / f"graph-{size}"
    figures: Figures = json.loads(file.read_text()) if file.exists() else {}
    if "build, s" not in figures:
        data = load(size, work)
        figures |= {"nodes": data.size.nodes, "edges": len(data.source), "words": len(data.tokens)}
        built = run_script("probe.py", "build", size, work, graph)
        figures |= {"build, s": built["seconds"], "build, processor s": built["processor"]}
        figures |= {"build, GB at most": built["peak"] / GIGABYTE}
        figures["disk, GB"] = sum(file.stat().st_size for file in graph.rglob("*") if file.is_file()) / GIGABYTE
        file.write_text(json.dumps(figures))
    for part in PROBES:
        if not any(name.startswith(part) for name in figures):
            print(f"{size}: measuring {part}", file=sys.stderr, flush=True)
            found = run_script("scale.py", "--probe", size, part, "--work", work)
            figures |= {f"{part}, {name}": value for name, value in found.items()}
            file.write_text(json.dumps(figures))
    return figures


def searched(data: Synthetic, path: Path, _part: str) -> Figures:
    """Open a graph; search it, among neighbours too, and walk it."""
    started = time.perf_counter()
    graph = Graph.open(path)
    figures = {"open, ms": (time.perf_counter() - started) * 1e3}
    for name in ("global", "global + common words"):
        words = [" ".join(data.words[word] for word in asked.words) for asked in data.queries[name]]
        figures |= _timed(name, lambda query: graph.search(query, K), words)
    ids = data.ids
    for name in NEIGHBORHOODS:
        calls = [
            (ids[asked.node or 0], " ".join(data.words[word] for word in asked.words)) for asked in data.queries[name]
        ]
        figures |= _timed(name, lambda call: graph.neighbors(*call, k=K), calls)
    pairs = [(ids[asked.node or 0], ids[asked.words[0]]) for asked in data.queries["path"]]
    figures |= _timed("path of up to 4 edges", lambda pair: graph.paths(pair[0], pair[1], max_length=4), pairs)
    figures |= _timed("intersect three hubs", graph.intersect, [[ids[hub] for hub in data.hubs]] * 5)
    return figures | {"own memory, GB": probe.memory()["anonymous"] / GIGABYTE}


def asked(data: Synthetic, path: Path, method: str) -> Figures:
    """Ask a method questions, the first of which pays for what the method makes once."""
    retriever = Retriever(Graph.open(path), method)
    texts = [_question(data, query, method) for query in data.queries["global"][:QUESTIONS]]
    started = time.perf_counter()
    retriever.ask(texts[0], k=K)
    first = time.perf_counter() - started
    later = _timed("", lambda text: retriever.ask(text, k=K), texts[1:])
    figures = {"first, s": first} | {name.removeprefix(", "): value for name, value in later.items()}
    return figures | {"own memory, GB": probe.memory()["anonymous"] / GIGABYTE}


def _question(data: Synthetic, query: Asked, method: str) -> str:
    """Return a question of a query's words; for `anchor` one that names a node and the type of what is sought."""
    if method != "anchor":
        return " ".join(data.words[word] for word in query.words)
    return f"Which type1 is joined to {data.names(query.words[0], query.words[0] + 1)[0]} by edge1?"


def copied(data: Synthetic, path: Path, _part: str) -> Figures:
    """Ask Cypher, whose engine has a copy of the graph."""
    graph = Graph.open(path)
    node = data.ids[data.queries["path"][0].node or 0]
    statement = f"MATCH (n)-[:edge0]->(m) WHERE n.id = '{node}' RETURN m.id"
    started = time.perf_counter()
    cypher = Cypher(graph)
    cypher.query(statement)
    figures = {"first, s": time.perf_counter() - started} | _timed("one hop", cypher.query, [statement] * 20)
    cypher.close()
    return figures


PROBES: Mapping[str, Callable[[Synthetic, Path, str], Figures]] = {
    "store": searched,
    **dict.fromkeys(METHODS, asked),
    "cypher": copied,
}


def _timed(name: str, call: Callable[[Any], Any], cases: Sequence[Any]) -> Figures:  # Any: whatever a case is
    """Return p50 and p95 over cases, in ms; a case's time is the least of some rounds.

    After `ENOUGH` seconds no further case is asked, nor another round begun.
    """
    begun, rounds = time.perf_counter(), list[list[float]]()
    while len(rounds) < ROUNDS and time.perf_counter() - begun < ENOUGH:
        rounds.append([])
        for case in cases[: len(rounds[0]) or SEARCHES]:
            started = time.perf_counter()
            call(case)
            ended = time.perf_counter()
            rounds[-1].append(ended - started)
            if ended - begun > ENOUGH and len(rounds) == 1:
                break
    seconds: NDArray[np.float64] = np.array(rounds).min(axis=0)
    p50, p95 = np.percentile(seconds, [50, 95]) * 1e3
    return {f"{name}, p50 ms": float(p50), f"{name}, p95 ms": float(p95)}


# -------------------------------------------------------------------------------------------------------------- fitting


def fit(name: str, figures: Mapping[str, Figures]) -> Figures:
    """Fit a figure; return its coefficients, the largest graph as the others foretell it, and the graph on paper.

    Of fewer than three graphs nothing is told.
    """
    known = {size: values for size, values in figures.items() if name in values}
    if len(known) < 3:
        return {}
    largest = list(known)[-1]
    paper = {part: 10 * list(figures.values())[-1][part] for part in PARTS}
    model = _sum if name in SUMS else _power
    others = {size: values for size, values in known.items() if size != largest}
    coefficients, foretell = model(name, known)
    return coefficients | {"foretold": model(name, others)[1](known[largest]), "on paper": foretell(paper)}


Model = tuple[Figures, Callable[[Figures], float]]


def _sum(name: str, figures: Mapping[str, Figures]) -> Model:
    """Fit so much a node, an edge and a word, and something once, none below zero, by their relative errors."""
    names = ("once", *PARTS)
    columns = np.array([[1.0, *(values[part] for part in PARTS)] for values in figures.values()])
    wanted = np.array([values[name] for values in figures.values()])
    shares = columns / wanted[:, None]  # of which so many of each are to make 1 for each graph
    least, weights = np.inf, np.zeros(len(names))
    for chosen in (list(some) for count in range(1, 5) for some in combinations(range(len(names)), count)):
        solved = np.linalg.lstsq(shares[:, chosen], np.ones(len(wanted)))[0]
        error = float(((shares[:, chosen] @ solved - 1) ** 2).sum())
        if (solved >= 0).all() and error < least:
            least, weights = error, np.zeros(len(names))
            weights[chosen] = solved
    each = dict(zip(names, weights.tolist(), strict=True))
    return each, lambda values: each["once"] + sum(each[part] * values[part] for part in PARTS)


def _power(name: str, figures: Mapping[str, Figures]) -> Model:
    """Fit a power of a graph's edges."""
    edges = np.log([values["edges"] for values in figures.values()])
    power, level = np.polyfit(edges, np.log([values[name] for values in figures.values()]), 1)
    return {"power": float(power)}, lambda values: float(np.exp(level) * values["edges"] ** power)


def show(figures: Mapping[str, Figures], fits: Mapping[str, Figures]) -> None:
    """Print a table: a row a figure, a column a graph, then what the fit says."""
    sizes = list(figures)
    print(f"{'':38}" + "".join(f"{size:>9}" for size in sizes) + f"{'foretold':>10}{'on paper':>10}  each")
    for part in PARTS:
        print(f"{part:38}" + "".join(f"{values[part] / 1e6:8.2f}M" for values in figures.values()))
    for name, found in fits.items():
        cells = "".join(f"{_short(values.get(name)):>9}" for values in figures.values())
        each = ", ".join(f"{part} {value:.3g}" for part, value in found.items() if part not in ("foretold", "on paper"))
        told = "".join(f"{_short(found.get(column)):>10}" for column in ("foretold", "on paper"))
        print(f"{name:38}{cells}{told}  {each}")


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    main()
