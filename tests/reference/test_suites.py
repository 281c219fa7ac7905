"""Suites of others, as their authors publish them: csv-spectrum, JSONTestSuite, html5lib, and W3C's of RDF 1.1.

The tests read the archives of the data folder, and are skipped without it. Those of RDF print a table.
"""

from __future__ import annotations

import json
import re
import sys
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orienteer import Error, Graph
from orienteer.ingest import RDF_BASE, DelimitedText, ImportOptions, Prose, RdfDocument, import_graph, read_html
from orienteer.serve import main

pytestmark = pytest.mark.slow

Suite = Callable[[str], Path]


@pytest.fixture(scope="module")
def suite(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """Give a function that unpacks a suite and returns its folder."""

    def unpacked(name: str) -> Path:
        archive = data_folder / "suites" / f"{name}.tar.xz"
        if not archive.is_file():
            pytest.skip(f"{archive} is not here; ORIENTEER_DATA names the folder of data")
        folder = tmp_path_factory.mktemp(name)
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        return folder / name

    return unpacked


# ------------------------------------------------------------------------------------------------------ csv-spectrum

OTHER_CELLS = {"location_coordinates": ("Contact Phone Number", "2095257564", "1234567890")}
"""A fault of the suite: a column, its cell in the CSV, and what the JSON has there, which is no list besides."""


def none_is(reason: str, line: int, value: str) -> None:
    """Fail where a row is dropped."""
    pytest.fail(f"line {line}: {reason}: {value}")


def test_cells_of_csv_spectrum_are_those_of_its_json(suite: Suite) -> None:
    folder = suite("csv-spectrum")
    files = sorted((folder / "csvs").glob("*.csv"))
    for file in files:
        rows: list[dict[str, str]] = []
        for batch in DelimitedText().batches(file, rows=100, drop=none_is, header=True):
            cells = zip(*batch.columns.values(), strict=True)
            rows += [dict(zip(batch.columns, row, strict=True)) for row in cells]
        wanted = json.loads((folder / "json" / f"{file.stem}.json").read_bytes())
        if file.stem in OTHER_CELLS:
            (column, cell, other), wanted = OTHER_CELLS[file.stem], [wanted]
            assert (rows[0][column], wanted[0][column]) == (cell, other)
            wanted[0][column] = cell
        assert (file.name, rows) == (file.name, wanted)
    assert len(files) == 12


# ---------------------------------------------------------------------------------------------------------- html5lib

UNSEEN = {"script", "style", "template", "iframe", "noembed", "noframes", "select", "svg svg", "datalist"}
OTHER_WORDS = {
    "tests16.dat": {"body", "head", "link", "textarea", "title", "xmp"},
    **{"tests18.dat": {"plaintext"}, "tests2.dat": {"div", "plaintext", "td"}, "tests3.dat": {"em", "i", "span"}},
    **{"webkit02.dat": {"div"}, "tests7.dat": {"BC"}, "webkit01.dat": {"TestTest2"}},
    **{"namespace-sensitivity.dat": {"Foo"}, "plain-text-unsafe.dat": {"ab"}},
}
"""Words that a tree has and its page as it is read has not, by the file of the suite. May only shrink.

Those of the first two lines are names of tags: behind `plaintext`, or a title without end, all is text by the standard,
and is read as markup. Two words are parted by a line; one stands in a cell within a drawing, one is parted by a null.
"""


def tree_words(tree: str) -> set[str]:
    """Return the words of the texts of a tree that a page shows, written as the suite does."""
    above: list[str] = []
    said: list[str] = []
    is_seen = False
    for line in tree.split("\n"):
        node = re.match(r"\| ( *)(.*)", line)
        if node is None:
            said += [line] if is_seen else []
            continue
        del above[len(node[1]) // 2 :]
        is_seen = node[2].startswith('"') and UNSEEN.isdisjoint(above)
        if is_seen:
            said.append(node[2])
        elif node[2].startswith("<"):
            above.append(node[2].strip("<>"))
    return set(re.findall(r"\w+", "\n".join(said)))


def test_words_of_html5lib_are_read(suite: Suite) -> None:
    lost: dict[str, set[str]] = {}
    cases = 0
    for file in sorted((suite("html") / "tree-construction").rglob("*.dat")):
        for case in file.read_bytes().decode().removeprefix("#data\n").split("\n#data\n"):
            if "\n#document\n" not in case or "#document-fragment" in case or "#script-on" in case:
                continue
            cases += 1
            page = read_html(case.partition("\n#errors")[0])
            places = [heading for block in page.blocks for heading in block.place.headings]
            texts = [
                block.text
                if isinstance(block, Prose)
                else " ".join([block.caption, *block.header, *(cell for row in block.rows for cell in row)])
                for block in page.blocks
            ]
            said = " ".join([page.title, *places, *texts])
            # A word may stand in two texts of a tree, about a comment, and a page shows it as one.
            if missing := {word for word in tree_words(case.partition("\n#document\n")[2]) if word not in said}:
                lost.setdefault(file.name, set()).update(missing)
    assert cases > 1_500
    assert lost == OTHER_WORDS


# ----------------------------------------------------------------------------------------------------- JSONTestSuite

NO_JSON = {"n_number_NaN", "n_number_infinity", "n_number_minus_infinity"}
"""Read, for Python and what is made of it write them: NaN as nothing, infinities as texts."""


def read(path: Path) -> tuple[str, Graph | None]:
    """Import a file: what is said where it is refused, or the graph. Whatever else is raised is a fault."""
    try:
        import_graph([path], path.parent / "graph", options=ImportOptions(force=True))
    except Error as error:
        return str(error), None
    return "", Graph.open(path.parent / "graph")


def leaves_of(value: Any) -> set[str]:
    """Return the texts, numbers and truths within a value, as JSON; empty texts and null say nothing."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return set().union(*map(leaves_of, inner))
    return set() if value in (None, "") else {json.dumps(value)}


def leaves_in(graph: Graph) -> set[str]:
    """Return the values of a graph; a name may be the text of what the file holds otherwise."""
    nodes = [graph.node(name) for name in graph.node_ids()]
    texts = {text for node in nodes for text in (node.id, node.name, node.text, *node.aliases)}
    return texts | leaves_of([[*texts], *(node.properties for node in nodes)])


@pytest.mark.parametrize(
    ("suffix", "row"), [(".json", b'[{"id": "a", "v": %s}]'), (".jsonl", b'{"id": "a", "v": %s}\n')]
)
def test_a_value_of_jsontestsuite_in_a_row_is_read_or_refused(
    suffix: str, row: bytes, suite: Suite, scratch: Callable[[], Path]
) -> None:
    """A line ends a row of `.jsonl`: files with several lines are left to `.json`."""
    wrong, folder = set[str](), scratch()
    folder.mkdir()
    for file in sorted((suite("json") / "test_parsing").iterdir()):
        content, kind = file.read_bytes(), file.name[0]
        if suffix == ".jsonl" and (b"\n" in content or b"\r" in content):
            continue
        path = folder / f"a{suffix}"
        path.write_bytes(row.replace(b"%s", content))
        refusal, graph = read(path)
        if graph is None:
            assert str(path) in refusal
            assert "\n" not in refusal
        elif kind == "y":
            assert leaves_of(json.loads(content)) <= leaves_in(graph), file.name
        if kind != "i" and (graph is None) != (kind == "n"):
            wrong.add(file.stem)
    assert wrong == NO_JSON


@pytest.mark.parametrize(("suffix", "read"), [(".json", 1), (".jsonl", 10)])
def test_a_file_of_jsontestsuite_is_read_or_told_in_one_error(
    suffix: str, read: int, suite: Suite, scratch: Callable[[], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Only so many hold rows that can be nodes; none is a traceback."""
    codes, folder = Counter[tuple[str, int]](), scratch()
    folder.mkdir()
    for file in sorted((suite("json") / "test_parsing").iterdir()):
        path = folder / f"a{suffix}"
        path.write_bytes(file.read_bytes())
        code = main(["import", str(path), "-o", str(folder / "graph"), "--force", "-q"])
        said = capsys.readouterr().err
        codes[file.name[0], code] += 1
        assert not code or (said.startswith("error:") and said.count("error:") == 1 and path.name in said), file.name
    assert codes == {("y", 0): read, ("y", 2): 95 - read, ("n", 2): 188, ("i", 2): 35}


# --------------------------------------------------------------------------------------------------------------- RDF

KINDS = ("Positive", "Negative", "Eval")
FLOORS = {
    "rdf-n-triples": (40, 24, 0),
    "rdf-n-quads": (52, 28, 0),
    "rdf-turtle": (73, 88, 145),
    "rdf-trig": (97, 109, 143),
    "rdf-xml": (0, 39, 124),
}
"""Tests that are right: of syntax that is to be read, of syntax that is to be refused, and of what is said.

An empty file is refused; IRIs and repeated IDs are not checked; two XML literals are not in their canonical form.
"""


def statements_of(path: Path) -> list[Any] | None:
    """Return the statements of a file; None where it, or a line of it, is refused."""
    drops: list[Any] = []
    try:
        quads = [quad for batch in RdfDocument(path).batches(lambda *told: drops.append(told)) for quad in batch.quads]
    except Error:
        return None
    return None if drops else quads


def canonical(lines: bytes) -> set[Any]:
    """Return statements in N-Quads as a set, in which blank nodes are called alike."""
    import pyoxigraph

    dataset = pyoxigraph.Dataset(pyoxigraph.parse(lines, pyoxigraph.RdfFormat.N_QUADS, lenient=True))
    dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    return set(dataset)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")
@pytest.mark.parametrize("syntax", FLOORS)
def test_w3cs_tests_of_rdf(syntax: str, suite: Suite, capsys: pytest.CaptureFixture[str]) -> None:
    """The manifest says of each file whether it is to be read, and which statements it makes."""
    pytest.importorskip("pyoxigraph")
    rdflib = pytest.importorskip("rdflib")
    folder = suite("rdf") / "rdf" / "rdf11" / syntax
    terms = rdflib.Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#")
    here = f"{folder.as_uri()}/"
    manifest = rdflib.Graph().parse(folder / "manifest.ttl", publicID=f"{here}manifest.ttl")
    base = next((str(each) for each in manifest.objects(None, terms.assumedTestBase)), RDF_BASE)
    right, tried, wrong = Counter[str](), Counter[str](), list[str]()
    for entry in (one for items in manifest.objects(None, terms.entries) for one in manifest.items(items)):
        kind = next(each for each in KINDS if each in str(manifest.value(entry, rdflib.RDF.type)))
        name = str(manifest.value(entry, terms.action)).removeprefix(here)
        quads = statements_of(folder / name)
        is_right = (quads is None) == (kind == "Negative")
        if is_right and kind == "Eval":
            within = f"{base}{name.rpartition('/')[0]}/" if "/" in name else base
            lines = "".join(f"{quad} .\n" for quad in quads or ()).replace(f"<{RDF_BASE}", f"<{within}").encode()
            result = folder / str(manifest.value(entry, terms.result)).removeprefix(here)
            is_right = canonical(lines) == canonical(result.read_bytes())
        tried[kind] += 1
        right[kind] += is_right
        wrong += [] if is_right else [f"{kind} {name}"]
    table = ", ".join(f"{kind} {right[kind]} of {tried[kind]}" for kind in KINDS)
    with capsys.disabled():
        sys.stdout.write(f"\n{syntax}: {table}\n")
    assert all(right[kind] >= floor for kind, floor in zip(KINDS, FLOORS[syntax], strict=True)), wrong
