"""Nothing is sent anywhere, by us or by what we stand on, and nothing is written beside cache, graph and output.

The commands run in a network namespace of their own, where every packet is read.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import office_files as office
from orienteer.methods import METHODS

LOGGER = Path(__file__).parents[1] / "fakes" / "quiet_network.py"
DEMO = Path(__file__).parents[2] / "src" / "orienteer" / "ingest" / "demo"
PYTHON = [sys.executable, "-P"]
OURS = [*PYTHON, "-m", "orienteer"]
QUESTION = "Which languages were influenced by both Erlang and Ruby?"

SANDBOX = """
import sys
from orienteer.sandbox import Limits
from orienteer.sandbox import open_interpreter
tier = open_interpreter(sys.argv[1], {}, Limits())
tier.run("print(1 + 1)")
tier.run("import socket")
tier.run("import socket; socket.create_connection(('192.0.2.9', 80), 1)")
tier.close()
"""
EMBEDS = """
import time
from orienteer.index import open_embedder
embedder = open_embedder("minilm")
end = time.monotonic() + 15  # onnxruntime looked its maker up after ten seconds, and then every five
while time.monotonic() < end:
    embedder.embed(["a text"], kind="query")
    time.sleep(0.5)
"""
RUNS = """
import json
import sys
from orienteer.serve import main
for arguments in json.loads(sys.argv[1]):
    code = main(arguments)
    assert not code or (arguments[0], code) == ("ask", 1), (arguments, code)  # 1: not read exactly
"""
CONTROL = """
import os
os.environ["RES_OPTIONS"] = "timeout:1 attempts:1"  # nobody answers
import socket
for ask in (lambda: socket.create_connection(("192.0.2.1", 443), 0.2), lambda: socket.getaddrinfo("a.example", 1)):
    try:
        ask()
    except OSError:
        pass
"""


@pytest.fixture(scope="module")
def namespace(tmp_path_factory):
    """Give a function that runs commands in a namespace and returns what came of each, and what was asked for."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("no unshare here: network namespaces are Linux's")
    enter = [unshare, "--net"] if os.geteuid() == 0 else [unshare, "--net", "--map-root-user"]
    tried = subprocess.run([*enter, "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"no network namespace is to be had here: {tried.stderr.strip()}")
    folder = tmp_path_factory.mktemp("namespace")

    def run(commands, *, home, cwd):
        (folder / "commands.json").write_text(json.dumps(commands))
        environment = {
            **{name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ},
            "HOME": str(home),
            "TMPDIR": str(home / "tmp"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        logged = [*enter, sys.executable, str(LOGGER), str(folder / "commands.json"), str(folder / "log.json")]
        ran = subprocess.run(logged, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600, check=False)
        assert ran.returncode == 0, ran.stderr
        return json.loads((folder / "log.json").read_text())

    return run


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    (home / "tmp").mkdir()
    return home


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Give a folder of documents of each kind, and one of graphs of each format."""
    openpyxl, pptx, networkx = map(pytest.importorskip, ("openpyxl", "pptx", "networkx"))
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    root = tmp_path_factory.mktemp("sources")
    documents, graphs = root / "documents", root / "graphs"
    documents.mkdir()
    graphs.mkdir()
    (documents / "a.txt").write_text("Ada Holm directs quiet films. See http://a.example/b and b.md for more.")
    (documents / "b.md").write_text("# Salt\n\nTwo sisters sell salt. ![x](http://a.example/x.png) [a](a.txt)")
    (documents / "c.html").write_text(
        '<html><head><link rel="stylesheet" href="http://a.example/c.css"><script src="http://a.example/c.js">'
        '</script></head><body><img src="http://a.example/c.png"><p>A page about salt.</p></body></html>'
    )
    (documents / "d.csv").write_text("film,year\nSalt,1999\nQuiet,2001\n")
    (documents / "e.jsonl").write_text('{"id": "e", "text": "A line about Salt and Ada Holm."}\n')
    office.pdf(documents / "f.pdf", "A page about salt.")
    office.docx(documents / "g.docx", body=office.paragraph("Words about salt."))
    sheet = openpyxl.Workbook()
    for row in (("film", "year"), ("Salt", 1999), ("Quiet", 2001)):
        sheet.active.append(row)
    sheet.save(documents / "h.xlsx")
    slides = pptx.Presentation()
    slides.slides.add_slide(slides.slide_layouts[5]).shapes.title.text = "Salt on a slide"
    slides.save(documents / "i.pptx")
    (graphs / "a.ttl").write_text("<http://a.example/s> <http://a.example/p> <http://a.example/o> .")
    (graphs / "b.graphml").write_text(
        '<?xml version="1.0"?><!DOCTYPE graphml SYSTEM "http://a.example/graphml.dtd">'
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed"><node id="a"/>'
        '<node id="b"/><edge source="a" target="b"/></graph></graphml>'
    )
    (graphs / "c.jsonld").write_text(
        '{"@context": "http://a.example/context", "@id": "http://a.example/s", "name": "s"}'
    )
    with gzip.open(graphs / "d.csv.gz", "wt") as stream:
        stream.write("source,relation,target\na,knows,b\n")
    pyarrow.parquet.write_table(
        pyarrow.table({"source": ["a"], "relation": ["knows"], "target": ["b"]}), graphs / "e.parquet"
    )
    networkx.write_gexf(networkx.path_graph(3), graphs / "f.gexf")
    return root


def files_of(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_the_logger_sees_names_and_addresses(namespace, home, tmp_path):
    report = namespace([[*PYTHON, "-c", CONTROL]], home=home, cwd=tmp_path)
    assert {"address 192.0.2.1 port 443", "name a.example"} <= set(report["asked"])


@pytest.mark.timeout(600)
def test_no_command_asks_for_an_address_or_leaves_a_file(namespace, home, sources, tmp_path):
    for module in (
        "pypdfium2",
        "onnxruntime",
        "pydantic_monty",
        "pyoxigraph",
    ):
        pytest.importorskip(module)
    free = [name for name, method in METHODS.items() if not method.needs_model]
    *others, refused = sorted((sources / "graphs").iterdir(), key=lambda file: file.suffix == ".jsonld")
    runs = [
        ["import", str(DEMO), "-o", "g"],
        *(["import", str(file), "-o", f"g-{file.name}"] for file in others),
        ["embed", "g"],
        ["link", "g"],
        ["build", str(sources / "documents"), "-o", "plain", "--embedder", "none"],
        ["build", str(sources / "documents"), "-o", "kb", "--extract", "hyper", "--embedder", "minilm"],
        *(["ask", "g", QUESTION, "--method", method] for method in free),
        *(["ask", "kb", "Who directs films about salt?", "--method", method] for method in free),
        ["cypher", "g", "MATCH (n) RETURN count(n) AS n"],
        ["questions", "g", "-n", "5", "-o", "asked.jsonl"],
        ["quiz", "g", "-n", "5", "-o", "quiz.jsonl"],
        ["eval", "run", "g", "asked.jsonl", "--method", "bm25", "-o", "run"],
        ["eval", "compare", "run"],
        ["export", "g", "--to", "jsonl", "-o", "exported"],
        ["doctor", "g"],
        ["cache", "info"],
    ]
    commands = [
        ["beside", *PYTHON, "-c", EMBEDS],
        [*OURS, "demo"],
        [*PYTHON, "-c", RUNS, json.dumps(runs)],
        [*OURS, "import", str(refused), "-o", "g-refused"],
        [*PYTHON, "-c", SANDBOX, "monty"],
        [*PYTHON, "-c", SANDBOX, "cpython"],
    ]
    report = namespace(commands, home=home, cwd=tmp_path)
    failed = [command for command in report["ran"] if command["code"] not in (0, 2)]
    assert not failed, failed[0]
    assert report["asked"] == [], [command for command in report["ran"] if command["asked"]]
    (failed,) = [command for command in report["ran"] if command["code"] == 2]
    assert refused.name in failed["said"]  # its context is elsewhere, and is not fetched
    expected = {"g", "kb", "plain", "run", "exported", "asked.jsonl", "quiz.jsonl"}
    strangers = {
        name for name in files_of(tmp_path) if name.partition("/")[0] not in expected and not name.startswith("g-")
    }
    assert strangers == set()
    assert {name for name in files_of(home) if not name.startswith(".cache/orienteer/")} == set()
