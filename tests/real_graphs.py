"""What the fixture `real_graph` gives."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from orienteer.ingest import ImportReport


class RealGraph(NamedTuple):
    """A real graph as it is imported with no option, and what the import told."""

    path: Path
    report: ImportReport
