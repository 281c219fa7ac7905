"""Make a quiz without a model on every graph, and prove each item again by two ways: the engine, and an oracle.

    python benchmarks/quiz.py --graphs FOLDER [--names hetionet debian_bookworm wordnet30] [--count 500] [--json FILE]

FOLDER holds graphs that `orienteer import` made, a folder a name. The engine runs the gold query as the item holds it;
the oracle (`tests/quiz_oracle.py`) reads the same text and walks the store's arrays in plain Python. Neither shares
code with what drew the item. Load is printed, for the machine's other work is in the seconds.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

from orienteer.cypher.session import Cypher
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.examples import Cell, QuizItem
from orienteer.lab.quizzes.generator import Quiz
from orienteer.lab.quizzes.proof import Fault, prove
from orienteer.lab.quizzes.quiz import balance, generate_quiz
from report import Report, Target, command_line

TESTS = Path(__file__).parent.parent / "tests"
NAMES = ("hetionet", "debian_bookworm", "wordnet30")
SECONDS = 120


def main() -> None:
    """Run all graphs."""
    parser = command_line(__doc__)
    parser.add_argument("--graphs", type=Path, required=True, metavar="FOLDER", help="the folder of graphs")
    parser.add_argument("--names", nargs="+", default=NAMES, metavar="NAME", help="the graphs in it")
    parser.add_argument("--count", type=int, default=500, metavar="N", help="items a graph")
    parser.add_argument("--seed", type=int, default=7, metavar="K", help="the random seed")
    options = parser.parse_args()
    sys.path.insert(0, str(TESTS))
    oracle: Any = import_module("quiz_oracle")  # Any: it stands beside the tests
    targets = {f"{name}, mismatches": Target(0) for name in options.names}
    report = Report({**targets, **{f"{name}, made": Target(SECONDS) for name in options.names}})
    for name in options.names:
        graph = Graph.open(options.graphs / name)
        report.add(f"{name}, load of the machine", getattr(os, "getloadavg", lambda: (0.0,))()[0], "")
        Cypher(graph).query("RETURN 1")  # the copy that queries read is made once a graph
        begun = time.perf_counter()
        quiz = generate_quiz(graph, options.count, random_seed=options.seed)
        report.add(f"{name}, made", time.perf_counter() - begun, "s")
        measure(report, name, graph, quiz, oracle)
    report.write(options.json)


def measure(report: Report, name: str, graph: Graph, quiz: Quiz, oracle: Any) -> None:  # Any: as above
    """Prove every item again, and say what was made and what was not."""
    report.add(f"{name}, items", len(quiz.items), "")
    report.add(f"{name}, drafts rejected", quiz.rejected.total(), "")
    report.add(f"{name}, rejected for a mismatch", quiz.rejected["mismatch"], "")
    wrong = [item for item in quiz.items if not is_proved(graph, item, oracle)]
    report.add(f"{name}, mismatches", len(wrong), "")
    print_balance(quiz)
    for item in wrong:
        print(f"  {item.id} {item.question}\n  {item.gold_query} {item.gold_parameters}")


def is_proved(graph: Graph, item: QuizItem, oracle: Any) -> bool:  # Any: as above
    """Tell whether the engine and the oracle both give the item's answer, and its path has the item's hops."""
    proof = prove(graph, item.answer_type, item.gold_query, item.gold_parameters)
    if isinstance(proof, Fault):
        return False
    ids = oracle.answered(graph, item.gold_query, item.gold_parameters)
    seen = {"boolean": (str(len(ids) > 0),), "number": (str(len(ids)),)}.get(item.answer_type, item.answers)
    nodes = tuple(ids) if item.answer_type in ("entity", "set") else ()
    is_same = proof.answers(graph, item.answer_type) == item.answers == seen and proof.nodes == item.nodes == nodes
    return bool(is_same and oracle.hops(item.gold_query) == item.hops)


def print_balance(quiz: Quiz) -> None:
    """Print the grid, and why drafts became no items."""
    counts = balance(quiz.items)
    columns = sorted({cell.answer_type for cell in counts})
    print(f"  {'':22}" + "".join(f"{column:>9}" for column in columns))
    for pattern, difficulty in dict.fromkeys((cell.pattern, cell.difficulty) for cell in counts):
        cells = [counts[Cell(column, pattern, difficulty)] for column in columns]
        print(f"  {pattern + ' ' + difficulty:22}" + "".join(f"{number:9}" for number in cells))
    values = Counter(item.answers[0] for item in quiz.items if item.answer_type == "boolean")
    print(f"  booleans: {dict(values)}; rejected: {dict(quiz.rejected.most_common())}")
    if quiz.exhausted:
        print(f"  exhausted: {', '.join(map(' '.join, quiz.exhausted))}")


if __name__ == "__main__":
    main()
