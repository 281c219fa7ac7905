"""A report as one page that needs nothing but a browser: written as it is made, there whole or not at all."""

from __future__ import annotations

import base64
import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TextIO

from orienteer.display import counted
from orienteer.evaluation.report import breakdowns, outcomes, tooluse, verdict
from orienteer.evaluation.report.effort import effort
from orienteer.evaluation.report.landscape import landscapes
from orienteer.evaluation.report.markup import Html, html, note, tag
from orienteer.evaluation.report.material import Material
from orienteer.evaluation.report.packed import HITS, Packed, Trajectories, write_questions
from orienteer.evaluation.report.walks import Walks
from orienteer.evaluation.running.runs import StoredRun
from orienteer.files import whole
from orienteer.graph.store import Graph

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
    with whole(path, errors="replace") as page:
        _write(material, page)


def _write(material: Material, page: TextIO) -> None:
    with tempfile.TemporaryFile("w+", encoding="utf-8") as packed:  # trajectories stand at the end, but are read first
        walks, trajectories = Walks(), Trajectories(material, packed)
        for run in material.runs:
            walks.read(run, material.columns, trajectories.add)
        style, script = _file("page.css"), _file("page.js")
        page.write(_head(material, style, script))
        for part in _parts(material, walks):
            page.write(part)
            page.write("\n")
        page.write(_questions(trajectories.shortened))
        page.write('</main>\n<script type="text/plain" id="data">')
        write_questions(material, Packed(page))
        page.write("</script>\n")
        packed.seek(0)
        shutil.copyfileobj(packed, page)
        page.write(f"<script>{script}</script>\n</body>\n</html>\n")


def _parts(material: Material, walks: Walks) -> list[Html]:
    optional = {
        "effort": effort(material),
        "landscape": landscapes(material),
        "evidence": outcomes.evidence(material, walks),
        "judged": outcomes.judged(material),
    }
    lacks = {name for name, part in optional.items() if part is None}
    lacks |= set() if material.measures else {"trade", "fields"}
    shown = [name for name in _NAMES if name not in lacks]
    contents = tag("nav", *(tag("a", _NAMES[name], href=f"#{name}") for name in shown))
    parts = [verdict.header(material), contents, verdict.table(material)]
    if material.measures:
        parts += [_switch(material.measures), verdict.trade(material), _left_out(material)]
        parts += [breakdowns.fields(material)]
    parts += [breakdowns.nodes(material), tooluse.tools(material, walks)]
    parts += [part for part in optional.values() if part is not None]
    return [*parts, outcomes.failures(material), outcomes.absent(material, optional)]


def _switch(measures: Sequence[str]) -> Html:
    """Return the buttons that choose by which measure plots and breakdowns are shown."""
    buttons = (
        tag("button", name, type="button", data_show=name, aria_pressed="true" if place == 0 else "false")
        for place, name in enumerate(measures)
    )
    return tag("div", tag("span", "Plots and kinds of question by"), *buttons, class_="switch")


def _left_out(material: Material) -> Html:
    """Say which columns the pictures that follow leave to the landscape."""
    swept = len(material.columns) - len(material.chosen)
    said = f"{counted(swept, 'variant')} of a sweep stand in the table above and in the landscape, not in what follows."
    return note(said) if swept else html()


def _questions(shortened: int) -> Html:
    said = f"The first {HITS} hits of each method; ✓ marks gold. A chip has the place of the first gold node."
    if shortened:
        said += f" For room, texts in the trajectories of {counted(shortened, 'result')} are cut or left out: they are "
        said += "whole in the run's trajectories.jsonl."
    return tag(
        "section",
        tag("h2", "Every question"),
        note(said),
        tag("noscript", tag("p", "The list of questions is drawn by the page's own script, which is switched off.")),
        tag("div", id="controls", class_="controls"),
        tag("p", id="count", class_="note", role="status"),
        tag("div", id="list"),
        tag("p", tag("button", "Show more", type="button", id="more"), class_="more"),
        id="questions",
    )


def _head(material: Material, style: str, script: str) -> Html:
    """Return the head: a policy under which the page loads nothing and runs no script but ours."""
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_sha256(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    first = material.runs[0].manifest
    title = tag("title", f"{first.dataset} on {first.graph}: {counted(len(material.columns), 'method')}")
    return Html(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"{title}\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
    )


def _file(name: str) -> str:
    return files(__package__ or __name__).joinpath(name).read_text(encoding="utf-8")


def _sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
