"""How exactly `anchor` reads questions: right, refused or wrong, by shape, over eleven graphs.

    python benchmarks/readings.py [--data FOLDER] [--split dev|held] [--graph NAME ...] [--show wrong|refused]
                                  [--json FILE] [--work FOLDER]

The questions of `benchmarks/intents` were worded by people who had not seen the code, three ways each; their golds are
computed by pandas from the tables. The half `dev` was looked at while the reader was built, `held` was not. A question
is *right* where the whole answer is exactly the gold (every node of a set and no other, the number, yes or no, the
value), or where it had to be refused and was; *refused* where no answer was given and the question had one; *wrong*
where anything else is presented as an answer. Graphs whose data is absent are left out, said so.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from anchor import Graphs
from intents.frames import DEMO, GRAPHS, WORLDS, frames
from intents.intent import Gold, Intent, Nodes, Number, Refusal, Split, Top, Values, YesNo
from intents.loader import entries
from orienteer.graph.store import Graph
from orienteer.ingest.importer import ImportOptions, import_graph
from orienteer.llm import Allowance
from orienteer.llm.budget import Budget
from orienteer.methods.anchor.anchor import Anchor
from orienteer.records import Question, Result
from report import about, command_line, write_json

Verdict: TypeAlias = Literal["right", "refused", "wrong"]
MOST = 200  # nodes of a set that are compared one by one; the size of all of it is compared as well
WANTED = {"right": 0.85, "wrong": 0.02}


def main() -> None:
    """Ask all questions."""
    parser = command_line(__doc__, ("--data", "--json", "--work"))
    parser.add_argument("--split", choices=("dev", "held"), action="append", help="both where none is named")
    parser.add_argument("--graph", action="append", metavar="NAME", help="these graphs alone; repeatable")
    parser.add_argument("--show", choices=("wrong", "refused"), action="append", default=[], help="print these")
    options = parser.parse_args()
    os.environ["ORIENTEER_DATA"] = str(options.data)
    graphs = Graphs(options.data, options.work)
    splits: tuple[Split, ...] = tuple(options.split or ("dev", "held"))
    by_shape: dict[str, Counter[Verdict]] = defaultdict(Counter)
    by_graph: dict[str, Counter[Verdict]] = defaultdict(Counter)
    milliseconds: list[float] = []
    for name in options.graph or GRAPHS:
        graph = opened(graphs, name)
        if graph is None:
            print(f"{name}: left out, {options.data / name} is not there")
            continue
        anchor = Anchor(graph)
        for entry in entries((name,), splits):
            golds = [gold(frames(name)) for gold in (entry.intent.gold, *entry.intent.also)]
            for text in entry.intent.phrasings:
                started = time.perf_counter()
                result = anchor.retrieve(Question(text=text, k=MOST), Allowance(Budget()))
                milliseconds.append(1000 * (time.perf_counter() - started))
                verdict = judged(result, golds)
                by_shape[entry.intent.shape][verdict] += 1
                by_graph[name][verdict] += 1
                if verdict in options.show and entry.split == "dev":
                    show(text, entry.intent, result, verdict)
    report(by_shape, by_graph, milliseconds)
    write_json(options.json, {**about(), "by_shape": by_shape, "by_graph": by_graph})


def opened(graphs: Graphs, name: str) -> Graph | None:
    """Return a graph; None where its data is absent."""
    source = DEMO if name == "demo" else WORLDS / name
    if not source.is_dir():
        return graphs.open(name)
    folder = Path(tempfile.mkdtemp(prefix="orienteer-readings-")) / name
    import_graph([source], folder, options=ImportOptions())
    return Graph.open(folder)


def judged(result: Result, golds: Sequence[Gold]) -> Verdict:
    """Return the best verdict that any of the golds allows."""
    verdicts = [_judged(result, gold) for gold in golds]
    order: tuple[Verdict, ...] = ("right", "refused", "wrong")
    return next(verdict for verdict in order if verdict in verdicts)


def _judged(result: Result, gold: Gold) -> Verdict:
    is_read = result.reading is not None and result.reading.complete
    if not is_read:
        if result.answer is not None:
            return "wrong"
        return "right" if isinstance(gold, Refusal) else "refused"
    return "right" if _is_right(result, gold) else "wrong"


def _is_right(result: Result, gold: Gold) -> bool:
    ids = {hit.id for hit in result.hits if hit.complete}
    total = result.reading.total if result.reading is not None else None
    kind = result.answer_kind
    if isinstance(gold, Nodes):
        return (
            kind in ("entity", "set", None)
            and total == len(gold.ids)
            and ids <= gold.ids
            and len(ids) == min(MOST, len(gold.ids))
        )
    if isinstance(gold, Top):
        needed = set().union(*gold.groups[:-1])
        return (
            kind in ("entity", "set", None) and needed <= ids <= gold.ids and len(ids) >= min(gold.size, len(gold.ids))
        )
    if isinstance(gold, Number):
        try:
            return result.answer is not None and abs(float(result.answer) - gold.value) <= max(
                gold.tolerance, 1e-6 * abs(gold.value)
            )
        except ValueError:
            return False
    if isinstance(gold, YesNo):
        told = (result.answer or "").split("; ")  # of namesakes each answer is said, and the gold is that of any
        answers = {part.partition(" by the ")[0] for part in told}
        wanted = "yes" if gold.is_true else "no"
        return answers <= {"yes", "no"} and ("yes" if "yes" in answers else "no") == wanted
    if isinstance(gold, Values):
        texts = {text.casefold() for text in gold.texts}
        return result.answer is not None and set(result.answer.casefold().split(", ")) <= texts | set(
            ", ".join(texts).split(", ")
        )
    return False


def show(text: str, intent: Intent, result: Result, verdict: Verdict) -> None:
    """Print a question with how it was read."""
    reading = result.reading.text if result.reading is not None else None
    print(f"{verdict:8} {intent.shape:20} {text}\n         {reading or '; '.join(result.notes)}  -> {result.answer}")


def report(
    by_shape: dict[str, Counter[Verdict]], by_graph: dict[str, Counter[Verdict]], milliseconds: list[float]
) -> None:
    """Print the figures."""
    print(f"{'shape':24} {'right':>6} {'refused':>8} {'wrong':>6}")
    for shape, verdicts in sorted(by_shape.items()):
        print(f"{shape:24} {verdicts['right']:6} {verdicts['refused']:8} {verdicts['wrong']:6}")
    for name, verdicts in by_graph.items():
        print(f"{name:24} {verdicts['right']:6} {verdicts['refused']:8} {verdicts['wrong']:6}")
    total = sum(by_graph.values(), Counter[Verdict]())
    number = max(1, total.total())
    print(f"{'all':24} {total['right']:6} {total['refused']:8} {total['wrong']:6}   of {number}")
    print(
        f"right {total['right'] / number:.1%} (wanted: {WANTED['right']:.0%}), wrong {total['wrong'] / number:.1%} "
        f"(at most {WANTED['wrong']:.0%}); ms a question p50 {np.percentile(milliseconds, 50):.1f}, "
        f"p95 {np.percentile(milliseconds, 95):.1f}"
    )


if __name__ == "__main__":
    main()
