"""What a person sees at a terminal, and what a program gets: styles, widths, pager, forms and exit codes."""

import csv
import io
import json
import re

import pytest

from fakes.terminal import Terminal
from orienteer import Edge, Graph, Node, Retriever
from orienteer.ingest import demo_records

BOLD = re.compile(r"\x1b\[1[;m]")
ESCAPE = "\x1b"
QUESTION = "Who worked at both Bell Labs and Google?"


@pytest.fixture
def languages(home):
    """Give the demo graph in the folder that the test works in."""
    return Graph.from_records(*demo_records(), path="languages")


@pytest.fixture
def terminal(languages):
    """Give a function that runs a command at a terminal to its end."""

    def run(*arguments, **options):
        started = Terminal(*arguments, **{"PAGER": "cat", **options})
        try:
            return started.end(), started
        finally:
            started.close()

    return run


def test_an_answer_is_bold_and_stands_between_its_reading_and_its_proof(terminal):
    code, seen = terminal("ask", "languages", QUESTION, TERM="xterm-256color")
    assert code == 0
    answer = "Ken Thompson, Peter Weinberger, Rob Pike"
    assert BOLD.fullmatch(seen.raw[: seen.raw.index(answer)][-4:])
    places = [seen.shown.index(text) for text in ("read as: ", f"\n{answer}\n", "\n1. ", "\nanchor, ")]
    assert places == sorted(places)
    # What it took comes last, and nothing is said about a model.
    assert re.fullmatch(r"anchor, .*s\n", seen.shown[places[-1] + 1 :])
    assert "no model is configured" not in seen.shown


@pytest.mark.parametrize("plain", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_terminal_gets_a_style_that_it_does_not_want(terminal, plain):
    for arguments in (["ask", "languages", QUESTION], ["list", "languages", "-t", "person"], ["schema", "languages"]):
        # A line that moves is wiped, without a style.
        assert ESCAPE not in terminal(*arguments, **plain)[1].raw.replace("\r\x1b[2K", "")


@pytest.mark.parametrize(("columns", "term"), [(40, "xterm"), (60, "xterm"), (120, "xterm"), (40, "dumb")])
def test_texts_are_fitted_to_the_width_of_a_terminal_and_whole_in_a_pipe(terminal, cli, columns, term):
    pipe = cli("ask", "languages", QUESTION).out
    text = next(line.strip() for line in pipe.splitlines() if "Brought regular expressions" in line)
    assert not text.endswith("…")
    _, seen = terminal("ask", "languages", QUESTION, columns=columns, TERM=term)
    below = [line for line in seen.shown.splitlines() if line.startswith("   ")]
    assert below
    assert max(map(len, below)) <= columns
    assert min(len(line) for line in below if line.endswith("…")) > columns * 2 / 3 if columns < 120 else True
    shown = " ".join(line.strip().removesuffix(" …") for line in below)
    # Words are not broken, and a wide terminal shows all that two lines hold.
    assert text[: 2 * columns - 40].rsplit(" ", 1)[0] in shown


def test_a_pipe_gets_texts_of_any_length_whole(home, cli):
    words = " ".join(f"word{number}" for number in range(40))
    Graph.from_records([Node("a", "thing", "Anvil", words, properties={"note": words})], [], path="things")
    assert words in cli("list", "things").out
    found = cli("search", "things", "Anvil").out
    assert found.splitlines()[1].endswith("word39") or "…" not in found


def test_a_long_result_goes_through_the_persons_pager(terminal, home):
    pager = home / "pager"
    pager.write_text(f"#!/bin/sh\ncat > '{home}/paged'\necho the pager was here\n", encoding="utf-8")
    pager.chmod(0o700)
    code, seen = terminal("list", "languages", "-k", "50", lines=20, PAGER=str(pager))
    assert code == 0
    assert "the pager was here" in seen.shown
    paged = (home / "paged").read_text(encoding="utf-8")
    assert paged.count("\n") > 50
    # The notes come when the pager has ended.
    assert "more: --offset 50" in seen.shown.partition("the pager was here")[2]
    (home / "paged").unlink()
    for arguments, options in (
        (["list", "languages", "-k", "50", "--no-pager"], {"lines": 20}),
        (["list", "languages", "-k", "5"], {"lines": 20}),
        (["list", "languages", "-k", "50"], {"lines": 20, "PAGER": ""}),
        (["list", "languages", "-k", "50"], {"lines": 20, "PAGER": "no-such-pager"}),
    ):
        code, seen = terminal(*arguments, **{"PAGER": str(pager), **options})
        assert (code, "nodes" in seen.shown) == (0, True)
        assert not (home / "paged").exists(), arguments


def test_a_wait_is_shown_with_what_goes_on(home, terminal):
    """Python that is slow to hash, for two silent seconds."""
    (home / "sitecustomize.py").write_text(
        "import time\nfrom importlib import import_module\n"
        "damage = import_module('.damage', 'orienteer.graph')\nown = damage.damaged_files\n"
        "damage.damaged_files = lambda path: (time.sleep(4.5), own(path))[1]\n",
        encoding="utf-8",
    )
    import os

    code, seen = terminal("doctor", "languages", PYTHONPATH=f"{home}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    assert code == 0
    assert re.search(r"checking every file of languages against its hash \(\d s\)", seen.shown)
    # The line is gone when the result is there.
    assert seen.raw.rindex("against its hash (") < seen.raw.index("all ")


# --------------------------------------------------------------------------------------------------------------- forms


def rows_of(ran):
    return list(csv.reader(io.StringIO(ran.out)))


def test_csv_of_an_exact_answer_has_every_node_that_meets_it(home, cli):
    """65 people, of whom 20 would be listed; the oracle is the list that they were made from."""
    people = [
        Node(f"p{number:02}", "person", f"Person {number:02}", properties={"age": number}) for number in range(65)
    ]
    club = Node("club", "club", "Chess Club")
    Graph.from_records([*people, club], [Edge(one.id, "member_of", "club") for one in people], path="clubs")
    ran = cli("ask", "clubs", "Who is a member of the Chess Club?", "--format", "csv")
    header, *rows = rows_of(ran)
    assert ran.code == 0
    assert header[:3] == ["id", "type", "name"]
    assert sorted(row[0] for row in rows) == [one.id for one in people]
    assert {row[0]: row[header.index("age")] for row in rows} == {one.id: str(one.properties["age"]) for one in people}
    table = Retriever("clubs").answers("Who is a member of the Chess Club?")
    assert rows == list(csv.reader(io.StringIO("".join(table.csv()))))[1:]
    page = rows_of(
        cli("ask", "clubs", "Who is a member of the Chess Club?", "--format", "csv", "-k", "5", "--offset", "60")
    )
    assert page == [header, *rows[60:]]
    listed = cli("ask", "clubs", "Who is a member of the Chess Club?", "--offset", "60", "--json").json
    assert (listed["offset"], len([hit for hit in listed["hits"] if hit["complete"]])) == (60, 5)


def test_a_cell_that_a_spreadsheet_would_run_is_a_text(home, cli):
    Graph.from_records([Node("a", "thing", "=1+1", properties={"size": -3})], [], path="things")
    assert rows_of(cli("list", "things", "--format", "csv")) == [
        ["id", "type", "name", "size"],
        ["a", "thing", "'=1+1", "-3"],
    ]


def test_a_table_of_markdown_keeps_its_cells(home, cli):
    Graph.from_records([Node("a", "thing", "a|b <i>c</i> d\\e")], [], path="things")
    ran = cli("list", "things", "--format", "md")
    assert ran.out.splitlines() == [
        "| id | type | name |",
        "| --- | --- | --- |",
        r"| a | thing | a\|b &lt;i>c&lt;/i> d\\e |",
    ]


@pytest.mark.parametrize(
    ("arguments", "columns"),
    [
        (["ask", "clubs", "Who leads the Choir?"], ["id", "type", "name"]),
        (["ask", "clubs", "How many members does the Choir have?"], ["answer", "source"]),
        (["ask", "clubs", "chess", "--method", "bm25"], ["place", "id", "type", "name", "complete"]),
        (["search", "clubs", "chess"], ["place", "id", "type", "name", "complete"]),
        (["neighbors", "clubs", "Choir"], ["place", "id", "type", "name", "complete"]),
        (["intersect", "clubs", "Chess Club", "Choir"], ["place", "id", "type", "name", "complete"]),
        (["paths", "clubs", "bob", "dan"], ["path", "step", "source", "type", "target"]),
        (["list", "clubs"], ["id", "type", "name"]),
        (["list", "clubs", "--group-by", "type"], ["type", "count"]),
        (["list", "clubs", "--count"], ["count"]),
        (["info", "clubs"], ["field", "value"]),
        (["schema", "clubs"], ["source", "type", "target", "label", "count"]),
        (["show", "clubs", "ann"], ["field", "value"]),
        (["cypher", "clubs", "MATCH (n:person) RETURN n.name AS who"], ["who"]),
    ],
)
def test_each_form_has_the_same_rows(tables, cli, arguments, columns):
    header, *rows = rows_of(cli(*arguments, "--format", "csv"))
    assert header[: len(columns)] == columns
    assert rows
    assert all(len(row) == len(header) for row in rows)
    table = cli(*arguments, "--format", "table").out.splitlines()
    assert table[0].split() == header
    assert len(table) == len(rows) + 1
    assert len(cli(*arguments, "--format", "md").out.splitlines()) == len(rows) + 2
    short, long = cli(*arguments, "--json").json, cli(*arguments, "--format", "json").json
    assert without_time(short) == without_time(long)


def without_time(record):
    return {name: value for name, value in record.items() if name != "usage"} if isinstance(record, dict) else record


def test_two_forms_are_refused(clubs, cli):
    ran = cli("list", clubs, "--json", "--format", "csv")
    assert (ran.code, ran.out) == (2, "")
    assert "--json is short for --format json" in ran.err
    assert cli("list", clubs, "--format", "xml").code == 2


# ---------------------------------------------------------------------------------------------------------- exit codes


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["ask", "Who leads the Choir?"], 0),
        (["ask", "Is Ann a member of the Boats?"], 0),
        (["ask", "Who leads the Boats?"], 1),
        (["ask", "Who leads the Boats?", "-q"], 1),
        (["ask", "How many splendid members?"], 1),
        (["ask", "zebra", "--method", "bm25"], 1),
        (["ask", "chess", "--method", "bm25"], 0),
        (["search", "chess"], 0),
        (["search", "zebra"], 1),
        (["neighbors", "Choir"], 0),
        (["neighbors", "Choir", "--edge", "member of", "--direction", "out"], 1),
        (["list", "-t", "person"], 0),
        (["list", "--where", "born>2000"], 1),
        (["list", "--where", "born>2000", "--count"], 1),
        (["paths", "ann", "bob"], 0),
        (["paths", "ann", "cat"], 1),
        (["intersect", "Choir", "Chess Club"], 0),
        (["intersect", "Choir", "Boats"], 1),
    ],
)
def test_nothing_found_is_code_1_in_every_form(tables, cli, arguments, code):
    name, *rest = arguments
    for form in ([], ["--json"], ["--format", "csv"]):
        ran = cli(name, "clubs", *rest, *form)
        assert ran.code == code, (form, ran)
        assert not ran.err.startswith("error")
    if form == ["--json"]:
        assert json.loads(ran.out)


def test_an_empty_answer_is_said_even_when_quiet(tables, cli):
    ran = cli("ask", "clubs", "Who leads the Boats?", "-q")
    assert "none: the graph holds no such thing" in ran.out
    assert ran.err == ""


# -------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["ask", "clubs", "who", "leads", "it"], "Put all words in quotes: orienteer ask DIR 'your words'"),
        (["ask", "who leads the Choir?", "clubs"], "the folder comes before the question: orienteer ask clubs"),
        (["import", "clubs"], "such as -o clubs-graph"),
        (["methods", "ancor"], "There is no method 'ancor'. Near: anchor"),
    ],
)
def test_a_slip_is_answered_with_the_command_that_was_meant(tables, cli, arguments, told):
    ran = cli(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
    assert len(ran.err) < 200


def test_json_that_is_cut_off_is_not_read_as_a_text_in_silence(home, cli):
    (home / "bad.json").write_text('{"nodes": [{"id": "a", "name": "Ann"}, {"id":', encoding="utf-8")
    assert (
        "warning: bad.json is incomplete or invalid JSON: it was read as a text" in cli("ask", "bad.json", "Ann?").err
    )


def test_info_has_the_labels_of_types(home, cli):
    (home / "labels.csv").write_text("code,label\nkn,knows\n", encoding="utf-8")
    (home / "nodes.csv").write_text("id,name,type\na,Ann,person\nb,Bob,person\n", encoding="utf-8")
    (home / "edges.csv").write_text("source,target,type\na,b,kn\n", encoding="utf-8")
    made = cli("import", "nodes.csv", "edges.csv", "--labels", "labels.csv", "-o", "graph")
    assert made.code == 0, made.err
    assert re.search(r"^  kn +knows +1$", cli("info", "graph").out, re.MULTILINE)


# ------------------------------------------------------------------------------------------------------------ namesakes


def test_a_reading_line_tells_namesakes_apart_by_type_else_by_id(home, cli):
    nodes = [
        Node("d1", "Disease", "Migraine"),
        Node("s1", "Side Effect", "Migraine"),
        Node("c1", "Compound", "Aspirin"),
        Node("c2", "Compound", "Codeine"),
        Node("g1", "Gene", "Twin"),
        Node("g2", "Gene", "Twin"),
    ]
    edges = [Edge("c1", "treats", "d1"), Edge("c2", "causes", "s1"), Edge("c1", "binds", "g1")]
    Graph.from_records(nodes, edges, path="drugs")
    for line, written, names in (
        ('Compound that -treats-> "Migraine" (Disease)', 'Compound that -treats-> "Migraine" (Disease)', ["Aspirin"]),
        ('Compound that -treats-> "d1"', 'Compound that -treats-> "Migraine" (Disease)', ["Aspirin"]),
        ('Compound that -causes-> "Migraine" (side effect)', '"Migraine" (Side Effect)', ["Codeine"]),
        ('Compound that -binds-> "g1"', 'Compound that -binds-> "g1"', ["Aspirin"]),
        ('Compound that -treats-> Disease "d1"', 'Compound that -treats-> Disease "Migraine"', ["Aspirin"]),
    ):
        ran = cli("ask", "drugs", "which?", "--reading", line, "--json").json
        assert written in ran["reading"]["text"]
        assert [hit["name"] for hit in ran["hits"] if hit["complete"]] == names
        again = cli("ask", "drugs", "which?", "--reading", ran["reading"]["text"], "--json").json
        assert again["reading"]["text"] == ran["reading"]["text"]
    wrong = cli("ask", "drugs", "which?", "--reading", 'Compound that -treats-> "Migraine" (Disease')
    assert wrong.code == 2
    assert "`)` stands behind the kind of a name" in wrong.err
