"""import, info, schema, search, neighbors, intersect, paths, show, export, validate: what they print and return."""

import json
import os

import pytest

from orienteer.graph import Graph

HIT = {"id", "type", "name", "score", "votes", "why", "text", "source", "complete", "edges", "ends", "span", "marks"}
HIT |= {"alike", "meets"}


def ids(result):
    return [hit["id"] for hit in result["hits"]]


def test_import_reports_what_came_in_and_what_was_left_out(tables, cli):
    with (tables / "edges.jsonl").open("a") as file:
        file.write('{"source": "ann", "type": "knows", "target": "nobody"}\n')
    ran = cli("import", tables, "-o", "graph", "--json")
    assert ran.code == 0
    assert {"nodes", "edges", "dropped", "merged", "seconds", "peak_bytes"} <= ran.json.keys()
    assert (ran.json["nodes"], ran.json["edges"]) == (7, 6)
    (dropped,) = ran.json["dropped"]
    assert (dropped["reason"], dropped["count"], dropped["first"][0]["line"]) == ("dangling", 1, 7)


def test_import_in_words_says_the_counts(tables, cli):
    ran = cli("import", tables, "-o", "graph", "-v")
    assert "7 nodes" in ran.out
    assert "4 person" in ran.out
    assert "reading edges" in ran.err


def test_quiet_says_nothing_on_standard_error(tables, cli):
    assert cli("import", tables, "-o", "graph", "--quiet").err == ""


def test_import_never_replaces_without_force(clubs, tables, cli):
    again = cli("import", tables, "-o", clubs)
    assert again.code == 2
    assert again.err.startswith("error: ")
    assert "--force" in again.err
    assert cli("import", tables, "-o", clubs, "--force").code == 0


def test_columns_private_and_explode_are_passed_on(home, cli):
    (home / "people.csv").write_text("key,called,clubs,secret\na,Ann,chess|choir,pin 1\nb,Bob,chess,pin 2\n")
    (home / "friends.csv").write_text("one,other,kind\na,b,knows\n")
    ran = cli(
        *("import", "-o", "graph", "--nodes", "people.csv", "--edges", "friends.csv"),
        *("--column", "id=key", "--column", "name=called", "--column", "source=one", "--column", "target=other"),
        *("--column", "edge_type=kind", "--private", "secret", "--explode", "clubs=member of"),
    )
    assert ran.code == 0, ran.err
    graph = Graph.open("graph")
    assert graph.schema.edge_types == {"knows": 1, "member of": 3}
    assert "secret" not in graph.node("a").properties


def test_validate_writes_nothing(tables, home, cli):
    before = sorted(path for path in home.rglob("*"))
    ran = cli("validate", tables, "--json")
    assert (ran.code, ran.json["nodes"]) == (0, 7)
    assert sorted(path for path in home.rglob("*")) == before


def test_strict_fails_where_a_row_would_be_dropped(tables, cli):
    with (tables / "edges.jsonl").open("a") as file:
        file.write('{"source": "ann", "type": "knows", "target": "nobody"}\n')
    ran = cli("validate", tables, "--strict")
    assert ran.code == 2
    assert "line 7" in ran.err


def test_info(clubs, tables, cli):
    facts = cli("info", clubs, "--json").json
    sizes = {"nodes", "edges", "node_types", "edge_types", "bytes"}
    others = {"format", "provenance", "extraction", "indexes", "stale", "mapping", "partial", "not_read", "dropped"}
    assert facts.keys() == sizes | others
    assert (facts["nodes"], facts["edges"]) == (7, 6)
    assert facts["node_types"] == {"person": 4, "club": 3}
    assert facts["edge_types"] == {"member of": 5, "leads": 1}
    generation = next((clubs / "generations").iterdir())
    on_disk = sum(file.stat().st_size for file in generation.iterdir() if file.name != "manifest.json")
    assert facts["bytes"] == on_disk
    assert facts["stale"] is False
    os.utime(tables / "nodes.jsonl", (1, 1))
    assert cli("info", clubs, "--json").json["stale"] is True


def test_schema(clubs, cli):
    schema = cli("schema", clubs, "--json").json
    assert schema["node_types"] == {"person": 4, "club": 3}
    assert {"source": "person", "type": "leads", "target": "club", "count": 1} in schema["edges"]
    assert "person -leads-> club" in cli("schema", clubs).out


def test_search(clubs, cli):
    result = cli("search", clubs, "chess violin", "--json").json
    assert result.keys() == {
        *("version", "question", "method", "hits", "answer", "long_answer", "usage", "stopped_by", "notes"),
        *("answer_kind", "citations", "reading", "refusal", "total", "offset", "table"),
    }
    assert all(hit.keys() == HIT for hit in result["hits"])
    assert set(ids(result)) == {hit.id for hit in Graph.open(clubs).search("chess violin")}
    assert result["hits"][0]["id"] == "ann"
    assert "violin" in result["hits"][0]["why"]
    scores = [hit["score"] for hit in result["hits"]]
    assert scores == sorted(scores, reverse=True)
    assert (result["method"], result["answer"], result["stopped_by"]) == ("search", None, "finish")


def test_search_puts_a_name_before_texts(clubs, cli):
    result = cli("search", clubs, "chess club", "--json").json
    assert (result["hits"][0]["id"], result["hits"][0]["why"].partition(";")[0]) == ("chess", "its name")
    assert ids(cli("search", clubs, '"plays chess"', "--json").json)[:2] == ["bob", "ann"]


def test_search_keeps_types_conditions_and_k(clubs, cli):
    assert ids(cli("search", clubs, "chess", "--type", "club", "--json").json) == ["chess"]
    assert ids(cli("search", clubs, "plays chess", "--where", "born<1985", "--json").json) == ["ann"]
    assert len(ids(cli("search", clubs, "chess", "-k", "1", "--json").json)) == 1
    assert ids(cli("search", clubs, "chess", "-k", "0", "--json").json) == []


def test_search_without_a_hit_is_code_1_and_no_error(clubs, cli):
    ran = cli("search", clubs, "zebra")
    assert (ran.code, ran.out) == (1, "no hits\n")
    assert ran.err == "note: not in this graph: zebra\n"


def test_neighbors(clubs, cli):
    page = cli("neighbors", clubs, "Choir", "--json").json
    assert page.keys() == {"node", "total", "counts", "offset", "hits"}
    assert (page["node"], page["total"], page["offset"]) == ("choir", 2, 0)
    assert {"edge_type": "leads", "direction": "in", "node_type": "person", "count": 1} in page["counts"]
    assert all(hit.keys() == HIT for hit in page["hits"])
    ann = next(hit for hit in page["hits"] if hit["id"] == "ann")
    assert {"source": "ann", "type": "leads", "target": "choir"} in ann["edges"]
    assert len(ann["edges"]) == 2
    assert ann["ends"] == [{"id": "choir", "type": "club", "name": "Choir", "role": "", "layer": 0.0}]


def test_neighbors_rank_filter_and_page(clubs, cli):
    assert ids(cli("neighbors", clubs, "choir", "--query", "sings", "--json").json) == ["dan", "ann"]
    assert ids(cli("neighbors", clubs, "ann", "--edge", "leads", "--json").json) == ["choir"]
    assert ids(cli("neighbors", clubs, "ann", "--direction", "in", "--json").json) == []
    page = cli("neighbors", clubs, "choir", "-k", "1", "--offset", "1", "--json").json
    assert (page["total"], page["offset"], ids(page)) == (2, 1, ["dan"])
    assert "1 more: --offset 1" in cli("neighbors", clubs, "choir", "-k", "1").err


def test_intersect(clubs, cli):
    shared = cli("intersect", clubs, "Chess Club", "Choir", "--type", "person", "--json").json
    (hit,) = shared["hits"]
    assert hit["id"] == "ann"
    assert len(hit["edges"]) == 3
    assert hit["score"] == 2


def test_paths(clubs, cli):
    result = cli("paths", clubs, "bob", "dan", "--json").json
    (path,) = result["paths"]
    assert path["length"] == 4
    assert path["nodes"] == ["bob", "chess", "ann", "choir", "dan"]
    kinds = [sorted((edge["source"], edge["type"], edge["target"]) for edge in hop) for hop in path["edges"]]
    assert kinds == [
        [("bob", "member of", "chess")],
        [("ann", "member of", "chess")],
        [("ann", "leads", "choir"), ("ann", "member of", "choir")],
        [("dan", "member of", "choir")],
    ]
    assert cli("paths", clubs, "bob", "dan", "--max-length", "3", "--json").json == {"paths": []}
    assert "Bob - Chess Club - Ann - Choir - Dan" in cli("paths", clubs, "bob", "dan").out


def test_show(clubs, cli):
    assert cli("show", clubs, "Danny", "--json").json == {
        "id": "dan",
        "type": "person",
        "name": "Dan",
        "aliases": ["Danny"],
        "text": "Sings.",
        "properties": {},
        "degree": 1,
    }
    assert "born" in cli("show", clubs, "Ann").out


def test_an_unknown_node_is_answered_with_near_names(clubs, cli):
    ran = cli("show", clubs, "Choirr")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: No node 'Choirr'")
    assert "Choir" in ran.err.split("Near")[1]


def test_twice_verbose_shows_the_traceback(clubs, cli):
    ran = cli("show", clubs, "Nobody", "-v", "-v")
    assert ran.code == 2
    assert "Traceback" in ran.err
    assert "UnknownNode" in ran.err
    assert "Traceback" not in cli("show", clubs, "Nobody", "-v").err


def test_an_ambiguous_name_is_answered_with_ids(tables, cli):
    with (tables / "nodes.jsonl").open("a") as file:
        file.write('{"id": "dan2", "type": "person", "name": "Dan"}\n')
    assert cli("import", tables, "-o", "graph").code == 0
    ran = cli("show", "graph", "Dan")
    assert ran.code == 2
    assert "dan (person)" in ran.err
    assert "dan2 (person)" in ran.err


def test_sources_stand_where_a_graph_may(tables, cli):
    first = cli("search", tables, "violin", "--json")
    assert ids(first.json) == ["ann"]
    assert "in the cache" in first.err
    assert cli("search", tables, "violin", "--json").err == ""
    lines = (tables / "nodes.jsonl").read_text().replace("violin", "trumpet and the tuba")
    (tables / "nodes.jsonl").write_text(lines)
    again = cli("search", tables, "tuba", "--json")
    assert ids(again.json) == ["ann"]
    assert "changed" in again.err


def test_export_and_import_give_the_graph_back(clubs, home, cli):
    assert cli("export", clubs, "--to", "jsonl", "-o", "dump").code == 0
    assert cli("import", "dump", "-o", "again").code == 0
    graph, other = Graph.open(clubs), Graph.open("again")
    assert [graph.node(name) for name in graph.node_ids()] == [other.node(name) for name in other.node_ids()]
    assert list(graph.iter_edges()) == list(other.iter_edges())


def test_export_refuses_a_folder_on_standard_output(clubs, cli):
    assert cli("export", clubs, "--to", "jsonl", "-o", "-").code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["search"],
        ["search", "nowhere", "x"],
        ["serch", "x", "y"],
        ["search", "clubs", "x", "-k", "many"],
        ["search", "clubs", "x", "--where", "nonsense"],
        ["search", "clubs", "x", "--where", "nosuch=1"],
        ["search", "clubs", "x", "--type", "preson"],
        ["neighbors", "clubs", "ann", "--edge", "likes"],
        ["paths", "clubs", "ann", "bob", "--max-length", "99"],
        ["import", "clubs"],
        ["import", "-o", "x"],
        ["import", "clubs", "-o", "x", "--column", "name"],
        ["ask", "clubs", "x", "--method", "arc"],
        ["trace", "shw"],
        ["trace", "show", "nowhere.jsonl"],
    ],
)
def test_a_wrong_request_ends_with_2_and_one_line(tables, home, cli, arguments):
    ran = cli(*arguments, *(() if arguments == ["trace"] else ("--quiet",)))
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert not (home / "x").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ask", "clubs"], "error: Missing argument 'QUESTION'. See: orienteer ask --help"),
        (["search", "clubs"], "error: Missing argument 'WORDS'. See: orienteer search --help"),
        (["neighbors", "clubs"], "error: Missing argument 'NODE'. See: orienteer neighbors --help"),
        (["trace", "show"], "error: Missing argument 'FILE'. See: orienteer trace show --help"),
        (["cache", "claer"], "error: No such command 'claer'. Did you mean 'clear'? See: orienteer cache --help"),
        (
            ["ask", "clubs", "x", "-k", "-5"],
            "error: Invalid value for '-k': '-5' should be greater than or equal to 0. See: orienteer ask --help",
        ),
        (
            ["serve", "clubs", "--port", "abc"],
            "error: Invalid value for '--port': 'abc' should be a valid integer, unable to parse string as an integer."
            " See: orienteer serve --help",
        ),
        (["serch"], "error: No such command 'serch'. Did you mean 'search', 'serve'? See: orienteer --help"),
    ],
)
def test_a_wrong_command_line_points_to_the_help_of_its_command(cli, arguments, message):
    ran = cli(*arguments)
    assert (ran.code, ran.err) == (2, f"{message}\n")


def test_help_cuts_nothing(cli):
    assert cli("--help").out.count("...") == 1  # that of the usage: COMMAND [ARGS]...


def test_help_calls_things_by_their_names(cli):
    usages = {
        "ask": "DIR QUESTION",
        "search": "DIR WORDS",
        "intersect": "DIR NODE...",
        "import": "[SOURCE]...",
        "doctor": "[DIR]",
        "paths": "DIR NODE NODE",
        "trace replay": "FILE DIR",
    }
    for name, arguments in usages.items():
        shown = cli(*name.split(), "--help").out
        assert shown.startswith(f"Usage: orienteer {name} [OPTIONS] {arguments}\n"), shown
        assert not set("{}") & set(shown)
        assert "<int" not in shown
    assert "-k N" in cli("ask", "--help").out


def test_a_page_of_nothing_says_nothing_untrue(clubs, cli):
    assert "--offset" not in cli("neighbors", clubs, "choir", "-k", "0").err
    assert cli("paths", clubs, "bob", "ann", "-k", "0").out == ""


def test_a_table_in_a_pipe_is_whole(home, cli):
    row = {"id": "urn:" + "i" * 300, "type": "t" * 200, "name": "word " * 60}
    (home / "nodes.jsonl").write_text(json.dumps(row) + "\n")
    (_, line) = cli("search", "nodes.jsonl", "word").out.splitlines()
    assert all(row[part].strip() in line for part in row)


@pytest.mark.parametrize(
    "arguments",
    [
        ["info", "clubs"],
        ["schema", "clubs"],
        ["search", "clubs", "chess"],
        ["search", "clubs", "zebra"],
        ["neighbors", "clubs", "Choir"],
        ["intersect", "clubs", "Choir", "Boats"],
        ["paths", "clubs", "ann", "bob"],
        ["show", "clubs", "ann"],
        ["ask", "clubs", "Who leads the Choir?"],
        ["demo"],
        ["methods"],
        ["validate", "clubs"],
        ["import", "clubs", "-o", "made"],
        ["export", "clubs", "--to", "jsonl", "-o", "made"],
        ["cache", "info"],
        ["cache", "clear"],
        ["doctor"],
    ],
)
def test_json_is_one_document_and_quiet_is_quiet(tables, cli, arguments):
    ran = cli(*arguments, "--json", "--quiet")
    assert (ran.code, ran.err) == (int("zebra" in arguments or "Boats" in arguments), "")
    assert ran.json is not None
    assert cli(*arguments, "--quiet", *(["--force"] if "-o" in arguments else [])).err == ""


@pytest.mark.parametrize(
    "arguments", [["show", "graph", "Nobody"], ["import", "none", "-o", "x"], ["ask", "graph", " "]]
)
def test_an_error_is_a_line_on_standard_error_with_json_too(clubs, cli, arguments):
    ran = cli(*arguments, "--json")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


def test_import_says_nothing_of_what_lies_beside_tables(tables, cli):
    (tables / "README.md").write_text("words")
    assert "README" not in cli("import", tables, "-o", "graph").out
    assert "README" in cli("import", tables, "-o", "graph", "--force", "-v").out


def test_trouble_with_files_is_told_in_one_line(tables, clubs, cli, monkeypatch):
    inside_a_file = tables / "nodes.jsonl" / "graph"
    for arguments in (["import", tables, "-o", inside_a_file], ["export", clubs, "--to", "jsonl", "-o", inside_a_file]):
        ran = cli(*arguments, "--quiet")
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert "nodes.jsonl" in ran.err
    monkeypatch.setenv("ORIENTEER_CACHE", str(inside_a_file))
    for arguments in (["search", tables, "chess"], ["demo"]):
        ran = cli(*arguments, "--quiet")
        assert (ran.code, ran.out) == (2, "")
        assert "ORIENTEER_CACHE" in ran.err


def test_every_command_shows_an_example_and_the_common_options(cli):
    from orienteer.serve import COMMANDS, command_tables

    tables = [COMMANDS, *command_tables().values()]
    for commands in (commands for table in tables for commands in table.values()):
        for name in commands.keys() - {"eval", "train", "trace", "cache"}:
            ran = cli(*name.split(), "--help")
            assert ran.code == 0
            assert f"Example:\n    orienteer {name.split()[0]}" in ran.out
            assert all(option in ran.out for option in ("--json", "--quiet", "--verbose", "-v"))


def test_text_is_free_of_what_steers_a_terminal(home, cli):
    (home / "nodes.jsonl").write_text(json.dumps({"id": "a", "name": "red \x1b[31m alert", "text": "bell \x07"}) + "\n")
    assert cli("import", "nodes.jsonl", "-o", "graph").code == 0
    for arguments in (["show", "graph", "a"], ["search", "graph", "alert"]):
        ran = cli(*arguments)
        assert "alert" in ran.out
        assert not set(ran.out) & {"\x1b", "\x07"}
    assert cli("show", "graph", "a", "--json").json["name"] == "red \x1b[31m alert"


STEERING = "red \x9b31m alert \x7f\x85\u2028\u202egnp.exe\u2066"


def test_json_and_tracebacks_are_free_of_it_too(home, cli):
    (home / "nodes.jsonl").write_text(json.dumps({"id": "a", "type": "t", "name": STEERING}) + "\n")
    assert cli("import", "nodes.jsonl", "-o", "graph").code == 0
    for arguments in (["show", "graph", "a"], ["search", "graph", "alert"], ["ask", "graph", "alert"]):
        for ran in (cli(*arguments), cli(*arguments, "--json")):
            assert "alert" in ran.out
            assert not set(ran.out + ran.err) & set("\x9b\x7f\x85\u2028\u202e\u2066")
    assert cli("show", "graph", "a", "--json").json["name"] == STEERING
    failed = cli("show", "graph", f"nobody {STEERING}", "-v", "-v")
    assert failed.code == 2
    assert "Traceback" in failed.err
    assert not set(failed.err) & set("\x9b\x7f\x85\u2028\u202e\u2066")


def test_one_is_not_many(home, cli):
    (home / "nodes.jsonl").write_text('{"id": "a", "name": "Ann"}\n{"id": "b", "name": "Bob"}\n')
    (home / "edges.jsonl").write_text('{"source": "a", "type": "knows", "target": "b"}\n')
    assert cli("import", ".", "-o", "graph").code == 0
    assert "2 nodes and 1 edge are in" in cli("export", "graph", "--to", "graphml", "-o", "x").err
    assert cli("neighbors", "graph", "a").out.startswith("1 neighbour: ")
    (home / "people").mkdir()
    (home / "nodes.jsonl").rename(home / "people" / "nodes.jsonl")
    assert cli("search", "people", "ann").code == 0
    assert ": 1 graph, " in cli("cache", "info").out
    assert cli("cache", "clear").out.startswith("removed 1 graph, ")


def test_a_large_set_is_counted_where_the_answer_would_stand(cli, home):
    (home / "beers").mkdir()
    (home / "beers" / "nodes.csv").write_text(
        "id,type,name\ny,brewery,Holm\n" + "".join(f"b{at},beer,Ale {at}\n" for at in range(30))
    )
    (home / "beers" / "edges.csv").write_text(
        "source,type,target\n" + "".join(f"b{at},brewed_by,y\n" for at in range(30))
    )
    assert cli("import", "beers", "-o", "graph", "-q").code == 0
    ran = cli("ask", "graph", "Which beers are brewed by Holm?", "-k", "3")
    assert ran.out.splitlines()[1] == "30 nodes meet all of it: the first 3 are listed (-k 30 lists all)"
    assert "30 nodes" not in ran.err
    ran = cli("ask", "graph", "Which beers are brewed by Holm?", "-k", "30", "-q")
    assert ran.out.splitlines()[1] == "30 nodes meet all of it: all are listed"
    ran = cli("ask", "graph", "Which beers are brewed by Holm?", "-k", "3", "--json")
    assert (ran.json["answer"], ran.json["total"], ran.json["offset"], len(ran.json["hits"])) == (None, 30, 0, 3)
