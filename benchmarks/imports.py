"""The import of tables with the command line, beside what other engines need to load the same files."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import tables
from loaders import ENGINES
from orienteer.graph.store import Graph
from report import Report, run_script
from synthetic import Synthetic

MEGABYTE = 1_000_000
SLOW = {"arcadedb_embedded": ("XS",)}
"""The sizes that an engine is asked for, where others take it half an hour."""


def measure(report: Report, data: Synthetic, size: str, work: Path, forms: Sequence[str]) -> None:
    """Import the tables of a graph in each of these formats, and say whether all give the same bytes.

    Tables are written once and stay for the next run; graphs do not.
    """
    made = {}
    for form in forms:
        folder, target = work / f"tables-{size}-{form}", work / f"imported-{size}-{form}"
        if not folder.exists():
            new = folder.with_name(f"{folder.name}.new")
            shutil.rmtree(new, ignore_errors=True)
            tables.write(data, new, form)
            new.rename(folder)
        try:
            found = run_script("probe.py", "import", folder, target)
            made[form] = {name: file.sha256 for name, file in Graph.open(target).arrays.manifest.files.items()}
        finally:
            shutil.rmtree(target, ignore_errors=True)
        _measure_peers(report, found, size, folder, form, target)
    if len(made) > 1:
        report.add("import, formats whose graphs are the same bytes", _most_alike(list(made.values())), "")


def _measure_peers(report: Report, ours: dict[str, float], size: str, folder: Path, form: str, target: Path) -> None:
    told = [name for name, (_, forms) in ENGINES.items() if form in forms and size in SLOW.get(name, (size,))]
    for figure, unit, scale in (("seconds", "s", 1), ("processor", "s", 1), ("peak", "MB", MEGABYTE)):
        report.add(_row(form, figure), ours[figure] / scale, unit)
    for name in told:
        if importlib.util.find_spec(name) is None:
            report.add(_row(form, "seconds"), ours["seconds"], "s", peer=f"{name}: not installed")
            continue
        try:
            theirs = run_script("loaders.py", name, folder, form, target)
        except subprocess.CalledProcessError:
            report.add(_row(form, "seconds"), ours["seconds"], "s", peer=f"{name}: failed")
            continue
        finally:
            _remove(target)
        for figure, unit, scale in (("seconds", "s", 1), ("processor", "s", 1), ("peak", "MB", MEGABYTE)):
            report.add(_row(form, figure), ours[figure] / scale, unit, peer=name, peer_value=theirs[figure] / scale)


def _row(form: str, figure: str) -> str:
    return f"import, {form}" + {"seconds": "", "processor": ", processor time", "peak": ", peak memory"}[figure]


def _remove(target: Path) -> None:
    """Remove a database: a folder, or a file and what lies beside it."""
    for path in target.parent.glob(f"{target.name}*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _most_alike(graphs: Sequence[dict[str, str]]) -> int:
    return max(sum(graph == other for other in graphs) for graph in graphs)
