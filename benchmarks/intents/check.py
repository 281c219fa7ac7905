"""Check the questions: every gold computes, none is empty or trivial, no wording occurs twice.

`python -m benchmarks.intents.check [--show SPLIT]`, in the root of the repository.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import get_args

from .frames import GRAPHS, WORLDS, Frames, data_folder, frames
from .intent import SHAPES, Gold, Nodes, Number, Refusal, Split, Top, Values
from .loader import Entry, entries

LONGEST = 400
"""Nodes: an answer with more of them is none that a person reads; it should be asked for as a number."""


def main() -> int:
    """Print what is wrong, then how many intents there are of each shape; return 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--show", choices=get_args(Split), help="print every gold of a split")
    options = parser.parse_args()
    graphs = tuple(graph for graph in GRAPHS if graph == "demo" or _is_here(graph))
    if missing := [graph for graph in GRAPHS if graph not in graphs]:
        print(f"not checked, for {data_folder()} has no {', '.join(missing)}: set ORIENTEER_DATA", file=sys.stderr)
    questions = entries(graphs)
    faults = [*_duplicates(questions), *_faults(questions)]
    if options.show:
        for entry in questions:
            if entry.split == options.show:
                print(f"{entry.graph:16} {entry.intent.shape:20} {entry.intent.name}: {_shown(entry)}")
    for fault in faults:
        print(fault, file=sys.stderr)
    _summary(questions)
    return 1 if faults else 0


def _is_here(graph: str) -> bool:
    return (WORLDS / graph).is_dir() or (data_folder() / graph).is_dir()


def _duplicates(questions: Sequence[Entry]) -> Iterator[str]:
    texts = Counter((entry.graph, text.lower()) for entry in questions for text in entry.intent.phrasings)
    yield from (f"{graph}: worded twice: {text}" for (graph, text), count in texts.items() if count > 1)
    names = Counter((entry.graph, entry.intent.name) for entry in questions)
    yield from (f"{graph}: two intents named {name}" for (graph, name), count in names.items() if count > 1)
    yield from (
        f"{entry.intent.name}: no shape {entry.intent.shape}" for entry in questions if entry.intent.shape not in SHAPES
    )


def _faults(questions: Sequence[Entry]) -> Iterator[str]:
    for graph, _, intent in questions:
        is_invented = (WORLDS / graph).is_dir()
        try:
            golds = [gold(frames(graph)) for gold in (intent.gold, *intent.also)]
        except (LookupError, TypeError, ValueError) as error:
            yield f"{graph}: {intent.name}: {type(error).__name__}: {error}"
            continue
        for gold in golds:
            if _is_empty(gold) and not intent.may_be_empty:
                yield f"{graph}: {intent.name}: the gold is empty"
            if isinstance(gold, Nodes) and len(gold.ids) > LONGEST:
                yield f"{graph}: {intent.name}: the gold has {len(gold.ids)} nodes"
            if is_invented:
                yield from (f"{graph}: {intent.name}: {fault}" for fault in _trivial(gold, frames(graph)))
        if is_invented and (words := [gold.word.casefold() for gold in golds if isinstance(gold, Refusal)]):
            for phrasing in intent.phrasings:
                if not any(word in phrasing.casefold() for word in words):
                    yield f"{graph}: {intent.name}: none of {words} is in: {phrasing}"


def _trivial(gold: Gold, w: Frames) -> Iterator[str]:
    """Say what makes a gold over an invented world one that a guess would meet, or that nothing does."""
    match gold:
        case Nodes(ids) if any(ids >= w.all(kind) for kind in w.nodes["kind"].unique()):
            yield "every node of a kind"
        case Top(groups, size) if size < 2 or sum(map(len, groups)) > size:
            yield "the last places are tied"
        case Refusal(_, word) if word.casefold() in w.nodes.astype(str).to_csv().casefold():
            yield f"the world holds {word}"


def _is_empty(gold: Gold) -> bool:
    match gold:
        case Nodes() | Top():
            return not gold.ids
        case Number(value=value):
            return not value
        case Values(texts=texts):
            return not texts
        case _:
            return False


def _shown(entry: Entry) -> str:
    table = frames(entry.graph)
    gold = entry.intent.gold(table)
    if not isinstance(gold, Nodes | Top):
        return str(gold)
    names = ", ".join(sorted(str(name) for name in table.nodes["name"][sorted(gold.ids)])[:6])
    return f"{type(gold).__name__} {len(gold.ids)}: {names}"


def _summary(questions: Sequence[Entry]) -> None:
    columns = [(graph, split) for graph in GRAPHS for split in ("dev", "held")]
    counts = Counter[tuple[str, ...]]((entry.intent.shape, entry.graph, entry.split) for entry in questions)
    print(f"{'shape':22}", *(f"{graph[:6] + ' ' + split:>12}" for graph, split in columns))
    for shape in SHAPES:
        print(f"{shape:22}", *(f"{counts[shape, graph, split] or '-':>12}" for graph, split in columns))
    total = Counter[tuple[str, ...]]((entry.graph, entry.split) for entry in questions)
    print(f"{'all':22}", *(f"{total[column]:>12}" for column in columns))
    print(f"{len(questions)} intents, {3 * len(questions)} questions")


if __name__ == "__main__":
    sys.exit(main())
