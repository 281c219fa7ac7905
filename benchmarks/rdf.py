"""The import of a large N-Triples file, packed with gzip: processor time, throughput, and memory at its highest.

    python benchmarks/rdf.py [--json FILE] [--statements 1000000]

The file is made up: a node for every ten statements, each statement about a node drawn by chance, so that what is said
of one stands all over the file; half of them join two nodes, the others are labels, comments, numbers and classes.
Beside the import, pyoxigraph alone parses the same file. Both are processes of their own.
"""

from __future__ import annotations

import gzip
import random
import sys
import tempfile
from pathlib import Path

from report import Report, command_line, run

RDF, RDFS, XSD = (
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "http://www.w3.org/2000/01/rdf-schema#",
    "http://www.w3.org/2001/XMLSchema#",
)
PARSE = (
    "import gzip, sys, pyoxigraph; "
    "[None for quad in pyoxigraph.parse(gzip.open(sys.argv[1]), pyoxigraph.RdfFormat.N_TRIPLES)]"
)


def main() -> None:
    """Make the file, import it, parse it."""
    parser = command_line(__doc__)
    parser.add_argument("--statements", type=int, default=1_000_000, metavar="N")
    options = parser.parse_args()
    report = Report({})
    with tempfile.TemporaryDirectory(prefix="orienteer-rdf-") as folder:
        file, count = Path(folder) / "made.nt.gz", options.statements
        write(file, count)
        parsing = run(sys.executable, "-c", PARSE, file)
        done = run(sys.executable, "-m", "orienteer", "import", file, "-o", Path(folder) / "graph", "-q")
        report.add("import, processor time", done.processor, "s", peer="pyoxigraph alone", peer_value=parsing.processor)
        report.add("import, throughput", count / done.processor, "1/s")
        report.add("import, memory at its highest", done.peak / 2**20, "MB")
    report.write(options.json)


def write(file: Path, count: int) -> None:
    """Write the statements."""
    drawn = random.Random(1)
    nodes = max(1, count // 10)
    with gzip.open(file, "wt", compresslevel=1, encoding="utf-8") as out:
        for number in range(count):
            node, other = drawn.randrange(nodes), drawn.randrange(nodes)
            out.write(f"<http://example.org/entity/{node}> {said(number, node, other)} .\n")


def said(number: int, node: int, other: int) -> str:
    """Return predicate and object of a statement."""
    kind = number % 10
    if kind == 0:
        return f"<{RDF}type> <http://example.org/Class{node % 20}>"
    if kind == 1:
        return f'<{RDFS}label> "Name of entity {node}"@en'
    if kind == 2:
        return f'<{RDFS}comment> "Entity {node} has a text of about a dozen words, which is {number}"@en'
    if kind < 5:
        return f'<http://example.org/value{kind}> "{number}"^^<{XSD}integer>'
    return f"<http://example.org/relation{kind}> <http://example.org/entity/{other}>"


if __name__ == "__main__":
    main()
