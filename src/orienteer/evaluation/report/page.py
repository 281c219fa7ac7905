"""A report as one page that needs nothing but a browser: written as it is made, there whole or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from orienteer.display import counted
from orienteer.evaluation.report import breakdowns, outcomes, overview, tools
from orienteer.evaluation.report.material import Material
from orienteer.evaluation.report.payload import HITS, TrajectoryPacker, packed, question_texts
from orienteer.evaluation.running.runs import StoredRun
from orienteer.files import whole
from orienteer.graph.store import Graph
from orienteer.page.template import pieces

_NAMES = {
    "table": "Methods",
    "trade": "Latency and cost",
    "fields": "Kinds of question",
    "nodes": "Kinds of gold node",
    "tools": "Tools",
    "effort": "What it took",
    "landscape": "Landscape",
    "evidence": "Evidence",
    "judged": "Judged answers",
    "failures": "Failures",
    "questions": "Every question",
}


def write_report(
    runs: Sequence[StoredRun],
    path: Path,
    *,
    graph: Graph | None = None,
    measure: str | None = None,
    random_seed: int = 0,
) -> None:
    """Write a report on runs as one HTML page, which loads nothing and needs no network.

    The graph tells the types and texts of gold nodes; without one, a folder of its name here or beside the runs is
    used where it holds that very graph. The verdict is by `measure`, else by the runs' first default one; runs that
    cannot be compared are shown side by side without a verdict. Trajectories are read one result at a time.

    Raises `BadOption` where there is no run, for an unknown measure and for another graph than that of the runs; what a
    run's own files lack is `BadInput`.
    """
    material = Material(runs, graph=graph, measure=measure, random_seed=random_seed)
    with whole(path, errors="replace") as page, tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        trajectories = TrajectoryPacker(material, file)  # they stand at the end of the page, but are read first
        counts = tools.TrajectoryCounts()
        for run in material.runs:
            counts.read(run, material.columns, trajectories.add)
        parts = _parts(material, counts)
        page.writelines(
            pieces(
                __package__ or __name__,
                "page.html",
                style="page.css",
                script="page.js",
                title=_title(material),
                parts=parts,
                contents={name: text for name, text in _NAMES.items() if parts.get(name, True) is not None},
                measures=material.measures,
                swept=len(material.columns) - len(material.chosen),
                hits=HITS,
                shortened=trajectories.shortened,
                questions=packed(question_texts(material)),
                trajectories=trajectories.elements(),
            )
        )


def _parts(material: Material, counts: tools.TrajectoryCounts) -> dict[str, Any]:  # Any: what a template shows
    """Return what the parts of the page show, by their names; None for a part that these runs have nothing for."""
    parts: dict[str, Any] = {
        "header": overview.header(material),
        "table": overview.method_table(material),
        "trade": overview.trade(material) if material.measures else None,
        "fields": breakdowns.fields(material) if material.measures else None,
        "nodes": breakdowns.nodes(material),
        "tools": tools.tool_use(material, counts),
        "effort": breakdowns.effort(material),
        "landscape": outcomes.landscapes(material),
        "evidence": outcomes.evidence(material, counts),
        "judged": outcomes.judged(material),
        "failures": outcomes.failures(material),
    }
    return {**parts, "absent": outcomes.absent(material, parts)}


def _title(material: Material) -> str:
    first = material.runs[0].manifest
    return f"{first.dataset} on {first.graph}: {counted(len(material.columns), 'method')}"
