"""The intents of each graph: a JSON line each, in a file for each graph and half; README.md says what stands there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple, get_args

from .frames import GRAPHS, above, chosen, highest, lowest, tally, top
from .intent import GoldOf, Intent, Nodes, Number, Refusal, Split, Values, YesNo

HERE = Path(__file__).parent
_GOLDS = (Nodes, Number, Values, YesNo, Refusal)
_FUNCTIONS = (above, chosen, highest, lowest, tally, top)
_BUILTINS = (bool, float, frozenset, int, len, min, set, sorted, str)
NAMES: dict[str, Any] = {"__builtins__": {}, **{one.__name__: one for one in (*_GOLDS, *_FUNCTIONS, *_BUILTINS)}}
"""What the expression of a gold may name, beside `w`, the tables of its graph."""


class Entry(NamedTuple):
    """An intent, where it is asked and who may see it."""

    graph: str
    split: Split
    intent: Intent


def entries(graphs: tuple[str, ...] = GRAPHS, splits: tuple[Split, ...] = get_args(Split)) -> list[Entry]:
    """Return the intents of these graphs and splits. The files of `held` are not opened unless `held` is asked for."""
    return [
        Entry(graph, split, _intent(json.loads(line)))
        for graph in graphs
        for split in splits
        if (file := HERE / split / f"{graph}.jsonl").exists()  # some graphs have no half that may be looked at
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


def _intent(record: dict[str, Any]) -> Intent:
    golds = {"gold": _gold(record["gold"]), "also": tuple(map(_gold, record.get("also", ())))}
    return Intent(**{**record, **golds, "phrasings": tuple(record["phrasings"])})


def _gold(expression: str) -> GoldOf:
    compute: GoldOf = eval(f"lambda w: {expression}", dict(NAMES))  # our own files, and the names above alone
    return compute
