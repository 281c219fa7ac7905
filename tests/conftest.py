"""Fixtures that several test files share."""

import gc
import os
import pickle
import shutil
import signal
import tempfile
from collections import Counter
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from orienteer.graph import Graph
from orienteer.ingest import import_graph
from orienteer.records import Edge, Node
from real_graphs import RealGraph

settings.register_profile(
    "orienteer",
    deadline=None,  # the machine is shared: a slow example is no failure
    max_examples=15,  # most of them build a graph
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("orienteer")

pytest_plugins = ["lanes"]


def pytest_configure():
    """Hear of interruptions, as do the commands that tests start: jobs in the background begin with them ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection():
    gc.disable()  # a quarter of the time to collect 15,000 tests


def pytest_collection_finish():
    """Let the collector look no more at the tests: a full collection takes a second with them."""
    gc.enable()
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items):
    """Note the corpus that the tests of a file are of: `pytestmark = pytest.mark.corpus(name)`."""
    for item in items:
        if (mark := item.get_closest_marker("corpus")) is not None:
            item.user_properties.append(("corpus", *mark.args))


def pytest_terminal_summary(terminalreporter):
    """Print how many cases of each corpus held: by its mark, or by `record_property("corpus", name)` in a test."""
    passed = [report for report in terminalreporter.getreports("passed") if report.when == "call"]
    held = Counter(value for report in passed for name, value in report.user_properties if name == "corpus")
    for corpus, number in sorted(held.items()):
        terminalreporter.write_line(f"{corpus}: {number} held")


os.environ.setdefault("ORIENTEER_VECTORS", "off")  # no test leaves a process behind that it does not ask for

MEMORY = Path("/dev/shm")  # a disk in memory, where the system has one: hundreds of small graphs are built

# Two films, their people and places: parallel edges, a loop, a pair of mutual edges, a node without edges, two names
# that are equal, aliases, properties of each kind, and text in several scripts.
SMALL_NODES = (
    Node("f1", "film", "Night Ferry", "A ferry captain finds a stranger aboard at night.", (), {"year": 1998}),
    Node("f2", "film", "Salt", "Two sisters sell salt along the frozen coast.", ("Sól",), {"year": 2011}),
    Node(
        "p1", "person", "Ada Holm", "Director and writer.", ("A. Holm",), {"born": "1961-04-30", "awards": ["X", "Y"]}
    ),
    Node("p2", "person", "Noor Vik", "Actor, plays the captain.", (), {"born": "1975-12-01"}),
    Node("p3", "person", "林檎", "作曲家。映画の音楽を書く。", (), {}),
    Node("c1", "place", "Salt", "A town on the coast."),
    Node("c2", "place", "Łódź", "A city with a film school.", ("Lodz",), {"capital": False}),
    Node("alone", "place", "Nowhere", "No edge leads here."),
)
SMALL_EDGES = (
    Edge("p1", "directed", "f1"),
    Edge("p1", "directed", "f2"),
    Edge("p1", "wrote", "f2", "first draft", 0.5, {"draft": 1}),
    Edge("p1", "wrote", "f2", "final draft", 2.0, {"draft": 2}),
    Edge("p2", "acted in", "f1", properties={"role": "captain"}),
    Edge("p3", "scored", "f1"),
    Edge("f1", "set in", "c1"),
    Edge("f2", "set in", "c1"),
    Edge("p1", "born in", "c2"),
    Edge("p1", "admires", "p2"),
    Edge("p2", "admires", "p1"),
    Edge("c1", "twinned with", "c1"),
)


@pytest.fixture(scope="session")
def scratch():
    """Give a function that returns a fresh path; all of them are removed at the end."""
    base = Path(tempfile.mkdtemp(prefix="orienteer-test-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None))
    numbers = count()
    yield lambda: base / str(next(numbers))
    shutil.rmtree(base, ignore_errors=True)


@pytest.fixture(scope="session")
def build(scratch):
    """Give a function that makes a graph of records; the graphs live as long as the session."""
    return lambda nodes, edges=(): Graph.from_records(nodes, edges, path=scratch())


class Records(NamedTuple):
    """What a graph is made of."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


@pytest.fixture(scope="session")
def small_records():
    """Give the nodes and edges of `small`."""
    return Records(SMALL_NODES, SMALL_EDGES)


@pytest.fixture(scope="session")
def small(build):
    """Give a graph of eight nodes with one of everything."""
    return build(SMALL_NODES, SMALL_EDGES)


@pytest.fixture(scope="session")
def data_folder():
    """Give the folder of real graphs."""
    folder = Path(os.environ.get("ORIENTEER_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no folder of real graphs at {folder}: set ORIENTEER_DATA")
    return folder


@pytest.fixture(scope="session")
def real_graph(data_folder, tmp_path_factory):
    """Give a function that imports a real graph, once for all processes of a run; who writes makes a copy."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "real-graphs"
    folder.mkdir(exist_ok=True)

    def imported(name):
        pytest.importorskip("pyarrow")
        source = data_folder / name
        if not source.is_dir():
            pytest.skip(f"{source} is not here; ORIENTEER_DATA names the folder of real graphs")
        import fcntl  # which Windows has not

        with (folder / f"{name}.report").open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            if content := file.read():
                return RealGraph(folder / name, pickle.loads(content))
            report = import_graph([source], folder / name)
            file.write(pickle.dumps(report))
        return RealGraph(folder / name, report)

    return imported
