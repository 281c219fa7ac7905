"""Published figures of methods that need training, to stand beside ours, marked as published.

They are on STaRK's synthetic questions, split `test`, and on GRBench's by domain. They come from other releases of the
data, other models and other software: read them as landmarks, and do not compare small differences.
"""

from __future__ import annotations

import re

from orienteer.lab.evaluation.running.runs import RunManifest
from orienteer.lab.evaluation.scores.measures import RANKING
from orienteer.lab.evaluation.scores.table import Estimate
from orienteer.records import Record

STARK = ("amazon", "mag", "prime")
_BY_CANDIDATES: dict[tuple[str, ...], str] = {
    ("product",): "amazon",
    ("paper",): "mag",
}  # all nodes of PRIME may answer


class Published(Record):
    """A row from a paper."""

    method: str
    published: str
    """Where the figures were printed."""
    dataset: str
    split: str
    measures: dict[str, Estimate]
    """Without intervals or n: none were printed. A figure that was not printed is left out."""
    note: str = ""


_Figures = tuple[float | None, float | None, float | None, float | None]
# Percent as printed: Hit@1, Hit@5, Recall@20, MRR. None: not printed.
_TABLE: tuple[tuple[str, str, dict[str, _Figures], str], ...] = (
    (
        "qa-gnn",
        "SAGE (paper 004), tables 2 and 20",
        {
            "amazon": (None, None, 52.05, None),
            "mag": (12.88, 39.01, 46.97, 29.12),
            "prime": (8.85, 21.35, 29.63, 14.73),
        },
        "AMAZON's other figures are left out: the table prints MAG's in their place",
    ),
    (
        "avatar",
        "ARK (paper 001), from AvaTaR, arXiv 2406.11200",
        {
            "amazon": (49.9, None, 60.6, 58.7),
            "mag": (44.36, None, 50.63, 51.15),
            "prime": (18.4, None, 39.3, 26.73),
        },
        "SAGE (paper 004) prints Hit@1 46.1 for MAG and 20.1 for PRIME",
    ),
    (
        "mfar",
        "ARK (paper 001), from mFAR",
        {
            "amazon": (53.0, None, 66.3, 64.3),
            "mag": (55.9, None, 74.1, 64.3),
            "prime": (40.0, None, 72.6, 52.0),
        },
        "an earlier version printed Hit@1 41.2, 49.0 and 40.9 for AMAZON, MAG and PRIME",
    ),
    (
        "mor",
        "SAGE (paper 004), tables 2 and 20, from MoR",
        {
            "amazon": (52.2, 74.6, 59.9, 62.2),
            "mag": (58.2, 78.3, 75.0, 67.1),
            "prime": (36.4, 60.0, 63.5, 46.9),
        },
        "",
    ),
    (
        "graphflow",
        "ARK (paper 001), from GraphFlow",
        {
            "amazon": (47.9, None, 36.2, 55.5),
            "mag": (39.1, None, 57.2, 47.8),
            "prime": (51.4, None, 79.7, 61.4),
        },
        "",
    ),
    (
        "grasp",
        "GRASP, arXiv 2605.30237",
        {
            "amazon": (71.2, None, None, None),
            "mag": (82.8, None, None, None),
            "prime": (67.8, None, None, None),
        },
        "with a reranker that is trained on the data set",
    ),
    (
        "resonate",
        "ResonatE P3, its repository",
        {"prime": (43.1, 68.8, 75.5, 54.7)},
        "no model at query time",
    ),
)


# QwenScore and F1 over all questions of a domain, as GRBench's files name it.
_GRBENCH: tuple[tuple[str, dict[str, tuple[float, float]]], ...] = (
    (
        "graphscout (4B, trained)",
        {"biomedical": (0.819, 0.855), "goodreads": (0.696, 0.646), "amazon": (0.575, 0.562), "legal": (0.567, 0.597)},
    ),
    (
        "graphscout (8B, trained)",
        {"biomedical": (0.770, 0.783), "goodreads": (0.663, 0.628), "amazon": (0.585, 0.569), "legal": (0.555, 0.573)},
    ),
)
_GRBENCH_NOTE = "over all 10 questions of each template of the domain; F1 normalised in a way that is not told"


def published_rows(manifest: RunManifest) -> tuple[Published, ...]:
    """Return the published rows for the data set of a run: STaRK's three and GRBench's domains have some.

    The names of the data set and of the graph's folder, else the node types that may answer, tell which of STaRK's it
    is; the conditions of the run tell the domain of GRBench.
    """
    if manifest.dataset == "grbench":
        return _grbench_rows(manifest)
    dataset = _stark_of(manifest)
    if dataset is None:
        return ()
    return tuple(
        Published(
            method=method,
            published=source,
            dataset=f"stark {dataset}",
            split="test",
            measures={
                name: Estimate(mean=round(figure / 100, 4), low=None, high=None, n=None)
                for name, figure in zip(RANKING, figures[dataset], strict=True)
                if figure is not None
            },
            note=note,
        )
        for method, source, figures, note in _TABLE
        if dataset in figures
    )


def _grbench_rows(manifest: RunManifest) -> tuple[Published, ...]:
    """Return GraphScout's rows of table 1 for the domain of a run; none if the run has several domains."""
    domains = {
        condition.partition("=")[2].strip()
        for condition in manifest.where
        if condition.partition("=")[0].strip() == "domain"
    }
    domain = domains.pop() if len(domains) == 1 else ""
    return tuple(
        Published(
            method=method,
            published="GraphScout (paper 003), table 1",
            dataset=f"grbench {domain}",
            split="all",
            measures={
                name: Estimate(mean=figure, low=None, high=None, n=None)
                for name, figure in zip(("QwenScore", "F1"), figures[domain], strict=True)
            },
            note=_GRBENCH_NOTE,
        )
        for method, figures in _GRBENCH
        if domain in figures
    )


def _stark_of(manifest: RunManifest) -> str | None:
    """Return the knowledge base of STaRK that a run is on, None for any other data."""
    words = re.findall("[a-z]+", f"{manifest.dataset} {manifest.graph}".casefold())
    if "stark" not in words:
        return None
    names = [name for name in STARK if name in words] or [_BY_CANDIDATES.get(manifest.candidates or (), "")]
    return names[0] if len(names) == 1 and names[0] else None
