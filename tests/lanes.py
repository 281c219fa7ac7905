"""Lanes: which tests `scripts/test quick`, `scripts/test` and `scripts/test all` run, and the guard of the first.

A test is quick: it starts no process, binds no socket, reads no real data, and takes no tenth of a second. A mark of
`USUAL`, or its folder, keeps it for `scripts/test`; a mark of `ALL` for `scripts/test all`. A quick test that starts a
process or binds a socket fails, in each lane, and whatever catches the error.
"""

from __future__ import annotations

import re
import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

FOLDERS = ("e2e", "golden", "ingest", "reference", "sandbox", "serve", "training")
USUAL = ("data", "process", "server", "slow")
ALL = ("arcadedb", "browser", "thorough", "timing", "training")
LANES = ("quick", "usual", "all")
WATCHED = {
    "multiprocessing.Process": "process",
    "os.fork": "process",
    "os.forkpty": "process",
    "os.posix_spawn": "process",
    "os.system": "process",
    "subprocess.Popen": "process",
    "socket.bind": "server",
}
"""What Python says to its audit hooks before it does it, and the mark of a test that may do it."""


def methods(names: Iterable[str]) -> list[Any]:
    """Return names of methods as parameters: those that always ask a worker of Cypher are marked."""
    return [pytest.param(name, marks=pytest.mark.process if name in ("sage", "spark") else ()) for name in names]


def examples(number: int) -> int:
    """Return how many examples a property is tried on: all in the last lane, a fifth of them in the others."""
    return number if _running.lane == "all" else number // 5


def seeds(number: int, *, usual: int) -> list[Any]:
    """Return seeds of a test as parameters: the first few run in the lane of the test, the others in the last."""
    return [pytest.param(seed, marks=() if seed < usual else pytest.mark.thorough) for seed in range(number)]


def lane_of(item: pytest.Item) -> str:
    """Return the first lane that runs a test."""
    marks = {mark.name for mark in item.iter_markers()}
    if marks.intersection(ALL):
        return "all"
    reads_data = "data_folder" in getattr(item, "fixturenames", ())
    return "usual" if reads_data or marks.intersection(USUAL) or item.path.parent.name in FOLDERS else "quick"


def _audited(start: Callable[[BaseProcess], None]) -> Callable[[BaseProcess], None]:
    def audited(process: BaseProcess) -> None:
        sys.audit("multiprocessing.Process", process.name)
        start(process)

    return audited


def posix_need(error: Exception) -> str | None:
    """Return what of POSIX a test itself, not the product, used and Windows lacks, or None for any other error."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if getattr(error, "winerror", None) == 1314:  # the user may make no links
        return "the right to make links"
    is_in_a_test = traceback is not None and TESTS in Path(traceback.tb_frame.f_code.co_filename).parents
    return "POSIX" if is_in_a_test and LACKING.search(str(error)) else None


LACKING = re.compile(
    r"No module named '(?:fcntl|grp|pty|pwd|resource|termios)'|module '(?:os|signal|socket|time)' has no attribute"
)
TESTS = Path(__file__).parent


class _Running:
    lane = "all"


_running = _Running()


class Guard:
    """Fails a quick test that starts a process or binds a socket."""

    def __init__(self) -> None:
        self.is_on = False
        self.met: list[str] = []
        sys.addaudithook(self._heard)
        BaseProcess.start = _audited(BaseProcess.start)  # which Python does not say

    def _heard(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.is_on and event in WATCHED:
            self.met.append(
                f"{event} of {str(arguments)[:200]} in a test of the quick lane: mark it with "
                f"@pytest.mark.{WATCHED[event]}, or call the code in this process (CONTRIBUTING.md, Tests)"
            )
            if isinstance(arguments[0], socket.socket):
                arguments[0].close()  # a warning that it was not would fail another test
            pytest.fail(self.met[-1])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.is_on, self.met = lane_of(item) == "quick", []
        try:
            return (yield)
        finally:
            self.is_on = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        try:
            result = yield
        except (AttributeError, ImportError, OSError) as error:
            if sys.platform == "win32" and (need := posix_need(error)) is not None:
                pytest.skip(f"needs {need}")
            raise
        if self.met:  # in a thread, or where something catches everything
            pytest.fail(self.met[0])
        return result


class Lanes:
    """Leaves out what other lanes run, and says at the end what was not run and why."""

    def __init__(self, lane: str) -> None:
        self.lane = lane
        self.left: Counter[str] = Counter()

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        return True if self.lane == "quick" and collection_path.name in FOLDERS else None  # nor imported

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        lanes = [lane_of(item) for item in items]
        runs = LANES[: LANES.index(self.lane) + 1]
        left = [item for item, lane in zip(items, lanes, strict=True) if lane not in runs]
        items[:] = [item for item, lane in zip(items, lanes, strict=True) if lane in runs]
        self.left.update(lane for lane in lanes if lane not in runs)
        config.hook.pytest_deselected(items=left)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if (output := getattr(session.config, "workeroutput", None)) is not None:
            output["left"] = dict(self.left)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        self.left = Counter(getattr(node, "workeroutput", {}).get("left", self.left))  # of each worker the same

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        reasons = Counter(_need(report.longrepr[2]) for report in terminalreporter.getreports("skipped"))
        if reasons:
            skipped = ", ".join(f"{number} {reason}" for reason, number in reasons.most_common())
            terminalreporter.write_line(f"skipped: {skipped}")
        left = [f"{number} of scripts/test{' all' if lane == 'all' else ''}" for lane, number in self.left.items()]
        left += [f"tests/{folder}/" for folder in FOLDERS if self.lane == "quick"]
        if left:
            terminalreporter.write_line(f"left for other lanes: {', '.join(left)}")


NEEDED = re.compile(
    r"could not import '([\w.]+)'"
    r"|(?:needs )?(?:the )?(?:extra |package )?(\S+) is not installed"
    r"|(?:needs|no) (?:the )?(?:extra |package )?([^:]+)"
)
"""What skips say in the words of pytest, of tests and of the product."""


def _need(reason: str) -> str:
    """Return what a skipped test needs, in the words that all tests have that need it."""
    reason = reason.removeprefix("Skipped: ")
    if "ORIENTEER_DATA" in reason:
        return "need real data: ../shared/data or ORIENTEER_DATA"
    if found := NEEDED.match(reason):
        return f"need {next(filter(None, found.groups()))}"
    return reason


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--lane", choices=LANES, default="all", help="which tests to run: CONTRIBUTING.md, Tests")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Guard())
    _running.lane = config.getoption("lane")
    config.pluginmanager.register(Lanes(_running.lane))
