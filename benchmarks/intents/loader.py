"""The intents of each graph, each with the split that its file says."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple, get_args

from .frames import GRAPHS
from .intent import Intent, Split

_FILES = {"debian_bookworm": "debian", "wordnet30": "wordnet"}


class Entry(NamedTuple):
    """An intent, where it is asked and who may see it."""

    graph: str
    split: Split
    intent: Intent


def entries(graphs: tuple[str, ...] = GRAPHS, splits: tuple[Split, ...] = get_args(Split)) -> list[Entry]:
    """Return the intents of these graphs and splits. The files of `held` are not opened unless `held` is asked for."""
    return [
        Entry(graph, split, intent)
        for graph in graphs
        for split in splits
        for intent in import_module(f".intents_{_FILES.get(graph, graph)}_{split}", __package__).INTENTS
    ]
