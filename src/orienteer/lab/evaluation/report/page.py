"""A report as one self-contained HTML page; the file appears complete or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from orienteer.display import counted
from orienteer.files import whole
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.report import material as tools
from orienteer.lab.evaluation.report import overview
from orienteer.lab.evaluation.report.material import Material
from orienteer.lab.evaluation.report.payload import HITS, TrajectoryPacker, packed, question_texts
from orienteer.lab.evaluation.running.runs import StoredRun
from orienteer.page.svg import pieces

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

    The graph tells the types and texts of gold nodes; if none is given, the runs' graph is looked for by its name, here
    and beside the runs. Verdict, table and plots go by `measure`, else by what the questions' gold calls for. Runs
    that cannot be compared are shown side by side without a verdict. Trajectories are read one result at a time.

    Raises `BadOption` without runs, for an unknown measure and for another graph than that of the runs, and `BadInput`
    for broken files of a run.
    """
    material = Material(runs, graph=graph, measure=measure, random_seed=random_seed)
    first = material.runs[0].manifest
    with whole(path, errors="replace") as page, tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        trajectories = TrajectoryPacker(material, file)  # the last part of the page, but read first
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
                title=f"{first.dataset} on {first.graph}: {counted(len(material.columns), 'method')}",
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
    """Return the contents of the page's parts by name; None for a part that these runs have no figures for."""
    parts: dict[str, Any] = {
        "header": overview.header(material),
        "table": overview.method_table(material),
        "trade": overview.trade(material) if material.measures else None,
        "fields": overview.fields(material) if material.measures else None,
        "nodes": overview.nodes(material),
        "tools": tools.tool_use(material, counts),
        "effort": overview.effort(material),
        "landscape": overview.landscapes(material),
        "evidence": overview.evidence(material, counts),
        "judged": overview.judged(material),
        "failures": overview.failures(material),
    }
    return {**parts, "absent": overview.absent(material, parts)}
