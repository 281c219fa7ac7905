"""What benchmarks share: options of the command line, and figures as rows, as a table for people, as JSON."""

from __future__ import annotations

import argparse
import gc
import io
import json
import os
import platform
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

DATA = Path(os.environ.get("ORIENTEER_DATA", "../shared/data"))
WORK = Path(tempfile.gettempdir()) / "orienteer-benchmark"
SHARED: dict[str, dict[str, Any]] = {  # Any: what argparse takes
    "--json": {"metavar": "FILE", "help": "write the figures there too"},
    "--data": {"metavar": "FOLDER", "default": DATA, "help": f"real graphs and questions (default: {DATA})"},
    "--work": {"metavar": "FOLDER", "default": WORK, "help": f"where graphs are made and kept (default: {WORK})"},
    "--cache": {"metavar": "FOLDER", "help": "where vectors are kept between runs"},
    "--graphs": {"metavar": "FOLDER", "help": "where graphs are kept between runs"},
}
"""Paths that several benchmarks ask for."""


def command_line(doc: str | None, shared: Sequence[str] = ("--json",)) -> argparse.ArgumentParser:
    """Return the parser of a benchmark: its help is the text at the head of its file."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in shared:
        parser.add_argument(name, type=Path, **SHARED[name])
    return parser


def write_json(file: Path | None, content: Any) -> None:  # Any: JSON
    """Write figures where the command line says so."""
    if file:
        file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Target:
    """The most that a figure may be, or the least; with `times` the most that it may be of this peer's."""

    bound: float
    times: str | None = None
    is_least: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of ours, beside a peer's where there is one."""

    name: str
    ours: float | None
    unit: str
    peer: str | None = None
    peer_value: float | None = None
    target: Target | None = None

    @property
    def ratio(self) -> float | None:
        """Ours as a share of the peer's, of the same run."""
        return self.ours / self.peer_value if self.ours is not None and self.peer_value else None

    @property
    def met(self) -> bool | None:
        """Tell whether the target is reached; None where there is nothing to judge by."""
        judged = self.ours if self.target is None or self.target.times is None else self.ratio
        if self.target is None or judged is None:
            return None
        return judged >= self.target.bound if self.target.is_least else judged <= self.target.bound

    @property
    def aim(self) -> str | None:
        """The target in words."""
        if self.target is None:
            return None
        sign = ">=" if self.target.is_least else "<="
        return f"{sign} {self.target.bound:g} " + (f"x {self.target.times}" if self.target.times else self.unit)

    def content(self) -> dict[str, Any]:  # Any: JSON
        """Return the row as it is written."""
        return {
            "name": self.name,
            "ours": self.ours,
            "unit": self.unit,
            "peer": self.peer,
            "peer_value": self.peer_value,
            "ratio": self.ratio,
            "target": self.aim,
            "met": self.met,
        }


class Report:
    """Collects rows, printing each as it comes."""

    def __init__(self, targets: dict[str, Target]) -> None:
        self.rows: list[Row] = []
        self._targets = targets
        print(f"{'':52} {'ours':>10} {'':5} {'peer':>10} {'ratio':>7}  peer, target")

    def add(
        self, name: str, ours: float | None, unit: str, *, peer: str | None = None, peer_value: float | None = None
    ) -> None:
        """Take a figure; one that has a target for a peer is judged in that peer's row only."""
        target = self._targets.get(name)
        if target and target.times not in (None, peer):
            target = None
        row = Row(name, ours, unit, peer, peer_value, target)
        self.rows.append(row)
        cells = [_figure(row.ours), f"{unit:5}", _figure(peer_value)]
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        verdict = {None: "", True: "  met", False: "  MISSED"}[row.met]
        aim = f" [{row.aim}]{verdict}" if row.aim else ""
        print(f"{name:52} {cells[0]:>10} {cells[1]} {cells[2]:>10} {ratio:>7}  {peer or ''}{aim}", flush=True)

    def write(self, file: Path | None) -> None:
        """Write all rows as JSON where the command line says so."""
        write_json(file, {**about(), "rows": [row.content() for row in self.rows]})


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def about() -> dict[str, Any]:  # Any: JSON
    """Return the machine and the commit that figures were taken on."""
    return {"machine": machine(), "commit": commit()}


def machine() -> dict[str, Any]:  # Any: JSON
    """Return what the figures were taken on."""
    return {
        "system": platform.system(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def commit() -> str | None:
    """Return the commit that is checked out, marked where files differ from it; None outside a repository."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() or None


# --------------------------------------------------------------------------------------------------- pages of Markdown


def orienteer(*arguments: object) -> str:
    """Run a command of the product; return what it printed."""
    from orienteer.serve.cli.app import main  # late: most benchmarks do without

    words, printed = [*map(str, arguments)], io.StringIO()
    with redirect_stdout(printed):
        code = main(words)
    if code:
        sys.exit(f"orienteer {shlex.join(words)} ended with {code}")
    return printed.getvalue()


def markdown(head: Sequence[object], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return a table in Markdown."""
    lines = ["|" + "".join(f" {cell} |" if cell != "" else " |" for cell in cells) for cells in (head, *rows)]
    return [lines[0], "|---" * len(head) + "|", *lines[1:]]


def page_options(doc: str | None) -> argparse.ArgumentParser:
    """Return the parser of a benchmark that writes a part of a page of the documentation."""
    parser = command_line(doc, ("--data",))
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="keeps what was run; temporary by default")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables there too")
    return parser


def write_page(options: argparse.Namespace, parts: Callable[[Path], Iterable[str]]) -> None:
    """Print the lines of a page as they are made, in the work folder, and write them where the command line says."""
    lines = []
    with tempfile.TemporaryDirectory(prefix="orienteer-") as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        for line in parts(work):
            print(line, flush=True)
            lines.append(line)
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


# ----------------------------------------------------------------------------------------------------------- measuring


class Timing(NamedTuple):
    """Milliseconds a query, and what the queries gave."""

    p50: float
    p95: float
    answers: list[Any]  # Any: whatever was timed


def timed(engines: Mapping[str, tuple[Callable[[Any], Any], Sequence[Any]]], rounds: int = 3) -> dict[str, Timing]:
    """Time functions over their cases, one engine after the other in each round.

    Every case runs once to warm up. Its time is the least of all rounds, for what else the machine does only adds.
    """
    answers = {name: [search(case) for case in cases] for name, (search, cases) in engines.items()}
    seconds = {name: np.zeros((rounds, len(cases))) for name, (_, cases) in engines.items()}
    gc.disable()
    try:
        for turn in range(rounds):
            for name, (search, cases) in engines.items():
                for number, case in enumerate(cases):
                    started = time.perf_counter()
                    search(case)
                    seconds[name][turn, number] = time.perf_counter() - started
    finally:
        gc.enable()
    milliseconds = {name: np.percentile(one.min(axis=0), [50, 95]) * 1e3 for name, one in seconds.items()}
    return {name: Timing(float(p50), float(p95), answers[name]) for name, (p50, p95) in milliseconds.items()}


class Cost(NamedTuple):
    """What a command took, and what it printed."""

    seconds: float
    processor: float
    """Seconds of processor time."""
    peak: int
    """The most bytes that it held; at least as many as whoever started it."""
    output: str


def run(*command: object, env: Mapping[str, str] | None = None) -> Cost:
    """Run a command, with some variables of its environment set."""
    words, started = [*map(str, command)], time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})
    assert process.stdout is not None  # it was asked for
    with process.stdout as printed:
        output = printed.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(time.perf_counter() - started, used.ru_utime + used.ru_stime, used.ru_maxrss * unit, output)


def run_script(name: str, *arguments: object, env: Mapping[str, str] | None = None) -> dict[str, Any]:  # Any: JSON
    """Run a script of this folder in a process of its own; return the JSON on the last line that it prints."""
    done = run(sys.executable, Path(__file__).with_name(name), *arguments, env=env)
    return dict(json.loads(done.output.splitlines()[-1]))
