"""What every face shows of a graph: the records, how they are made, and how they leave this machine."""

import ast
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import networkx
import pytest

import orienteer
from fakes.inside import inside
from orienteer import Retriever, errors
from orienteer.errors import AmbiguousNode, BadOption, Error, ModelError, NotAGraph, UnknownNode, without_paths
from orienteer.graph import Graph
from orienteer.ingest import ImportOptions, import_graph
from orienteer.llm import LocalModel
from orienteer.records import Edge, Node, Question, Ranked, Result, ToolCall, Trajectory
from orienteer.serve import (
    NeighborsPage,
    facets_page,
    for_outside,
    graph_info,
    intersect_page,
    json_outside,
    machine_paths,
    message_outside,
    neighbors_page,
    node_page,
    nodes_page,
    paths_page,
    relative_paths,
    schema_page,
    search_page,
    searcher_of,
    subgraph_page,
)
from orienteer.tools import Toolbox

pytestmark = pytest.mark.slow

PACKAGE = Path(orienteer.__file__).parent


# ------------------------------------------------------------------------------------------------------------- pages


@pytest.mark.process
def test_the_records_load_neither_a_graph_nor_a_command_line():
    code = (
        "import sys; from orienteer.serve import NeighborsPage, for_outside, node_page; "
        "print([name for name in ('numpy', 'typer', 'rich', 'httpx2') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout == "[]\n"


@pytest.mark.process
@pytest.mark.parametrize("name", ["report", "formats"])
def test_what_a_page_loads_late_loads_alone(name):
    subprocess.run([sys.executable, "-c", f"import orienteer.ingest.{name}"], check=True)


def test_neighbors_are_a_page_with_counts_by_type_and_direction(small):
    page = neighbors_page(small, "Ada Holm", k=2, offset=1)
    assert (page.node, page.total, page.offset, len(page.hits), page.more) == ("p1", 4, 1, 2, 1)
    counts = {(kind.edge_type, kind.direction, kind.node_type): kind.count for kind in page.counts}
    assert counts[("directed", "out", "film")] == 2
    assert counts[("admires", "out", "person")] == counts[("admires", "in", "person")] == 1
    assert [(edge.source, edge.type, edge.target) for edge in page.hits[0].edges] == [("p1", "directed", "f1")]
    assert page.hits[0].why == "Ada Holm -directed-> Night Ferry"


def test_what_a_command_tells_beside_its_json_is_left_out_of_it(small):
    page = neighbors_page(small, "Noor", k=1)
    assert page.notes == ("'Noor' is read as Noor Vik (p2), the only name that holds it",)
    assert list(page.printed()) == ["node", "total", "counts", "offset", "hits"]
    assert list(paths_page(small, "p1", "c1").printed()) == ["paths"]
    assert list(intersect_page(small, ["f1", "f2"]).printed()) == ["hits"]
    assert list(node_page(small, "p1").printed()) == ["id", "type", "name", "aliases", "text", "properties", "degree"]
    assert list(nodes_page(small, k=1).printed()) == ["total", "offset", "hits"]
    assert list(nodes_page(small, group_by="type").printed()) == ["total", "groups"]


def test_every_kind_of_edge_of_a_node_is_counted(small):
    page = node_page(small, "p1")
    neighbors = {}
    for edge in small.iter_edges():
        for here, direction, there in ((edge.source, "out", edge.target), (edge.target, "in", edge.source)):
            if here == "p1":
                neighbors.setdefault((edge.type, direction, small.node(there).type), set()).add(there)
    counts = {(kind.edge_type, kind.direction, kind.node_type): kind.count for kind in page.counts}
    assert counts == {kind: len(ids) for kind, ids in neighbors.items()}
    assert page.degree == sum("p1" in (edge.source, edge.target) for edge in small.iter_edges())


def test_a_walk_says_how_a_name_was_read_and_refuses_what_it_cannot_tell(small):
    assert intersect_page(small, ["Night", "c2"]).nodes == ("f1", "c2")
    assert paths_page(small, "Noor", "Łódź", k=1).notes[0].startswith("'Noor' is read as Noor Vik")
    with pytest.raises(UnknownNode):
        node_page(small, "nobody at all")
    with pytest.raises(AmbiguousNode) as refused:
        node_page(small, "Salt")
    assert set(refused.value.near) == {"f2", "c1"}
    with pytest.raises(BadOption, match=r"write a list, \['f1'\]"):
        intersect_page(small, "f1")


def test_paths_have_the_names_of_their_nodes(small):
    page = paths_page(small, "p2", "c1", k=3)
    assert page.paths[0].nodes == ("p2", "f1", "c1")
    assert page.names["f1"] == "Night Ferry"
    assert [[(edge.source, edge.target) for edge in hop] for hop in page.paths[0].edges] == [
        [("p2", "f1")],
        [("f1", "c1")],
    ]


def test_lists_and_groups_say_what_is_left(small):
    page = nodes_page(small, sort="year", k=3)
    assert ([node.id for node in page.hits[:2]], page.total, page.missing, page.more) == (["f1", "f2"], 8, 6, 5)
    groups = nodes_page(small, group_by="type", k=2)
    assert ([(group.value, group.count) for group in groups.groups], groups.distinct, groups.more) == (
        [("person", 3), ("place", 3)],
        3,
        1,
    )
    assert nodes_page(small, node_types=["film"]).total == 2


def test_a_schema_counts_what_joins_what(small):
    shown = schema_page(small)
    assert shown.node_types == {"film": 2, "person": 3, "place": 3}
    assert {(edge.source, edge.type, edge.target): edge.count for edge in shown.edges}[
        ("person", "directed", "film")
    ] == 2


def test_a_search_is_a_result_without_trajectories(small):
    searcher = searcher_of(small)
    assert search_page(searcher, "Night Ferry", 1).hits[0].id == "f1"
    once, twice = (search_page(searcher, "salt", 3, node_types=["place"]) for _ in range(2))
    assert [hit.id for hit in once.hits] == [hit.id for hit in twice.hits] == ["c1"]
    assert once.trajectories == ()


def test_a_note_of_a_search_names_the_graph_and_not_where_it_lies(build):
    graph = build([Node("b1", "beer", "Duvel", properties={"country": "Belgium"}), Node("b2", "beer", "Kriek")])
    [note] = search_page(searcher_of(graph), "Belgium").notes
    assert note.endswith(f"orienteer list {graph.path.name} --where country=Belgium")
    [note] = search_page(searcher_of(graph), "Belgium", called="my beers").notes
    assert note.endswith("orienteer list 'my beers' --where country=Belgium")


# ---------------------------------------------------------------------------------------------------------- the graph


def _texts(value):
    if isinstance(value, dict):
        return [text for pair in value.items() for text in _texts(pair[0]) + _texts(pair[1])]
    if isinstance(value, list):
        return [text for member in value for text in _texts(member)]
    return [value] if isinstance(value, str) else []


def test_no_path_of_this_machine_is_in_what_a_graph_is(tmp_path):
    sources = tmp_path / "beers"
    sources.mkdir()
    (sources / "nodes.jsonl").write_text('{"id": "a", "name": "A"}\n')
    (sources / "edges.jsonl").write_text('{"source": "a", "type": "is", "target": "a"}\n')
    (sources / "notes.pdf").write_bytes(b"\x00\x01 no text")
    (tmp_path / "labels.tsv").write_text("code\tlabel\nis\tequals\n")
    import_graph([sources], tmp_path / "graph", options=ImportOptions(labels=tmp_path / "labels.tsv"))
    facts = graph_info(Graph.open(tmp_path / "graph"))
    assert facts.name == "graph"
    assert facts.provenance["given"] == ["beers"]
    assert {"edges.jsonl", "nodes.jsonl"} <= {stamp["path"] for stamp in facts.provenance["sources"]}
    assert not [text for text in _texts(facts.model_dump(mode="json")) if str(tmp_path) in text or text[:1] == "/"]


def test_paths_are_told_beneath_what_was_named():
    roots = [Path("/home/ada/beers"), Path("/home/ada/one.csv")]
    told = {"/home/ada/beers": "beers", "/home/ada/beers/a/b.csv": "a/b.csv", "/home/ada/one.csv": "one.csv"}
    told |= {"/etc/labels.tsv": "labels.tsv", "ignored /home/ada/beers/x.csv: empty": "ignored beers/x.csv: empty"}
    assert {path: relative_paths(path, roots) for path in told} == told
    assert relative_paths({"a": [1, None, "/home/ada/beers/x"]}, roots) == {"a": [1, None, "x"]}


# ---------------------------------------------------------------------------------------------------------- a picture


def test_a_subgraph_has_every_edge_among_its_nodes(small):
    ids = ["p1", "f1", "f2", "p2", "c1"]
    drawn = subgraph_page(small, ids)
    network = networkx.MultiDiGraph()
    network.add_edges_from((edge.source, edge.target, edge.type) for edge in small.iter_edges())
    network.remove_edges_from(list(networkx.selfloop_edges(network, keys=True)))  # a picture has none
    inside = {(source, kind, target) for source, target, kind in network.subgraph(ids).edges(keys=True)}
    assert [node.id for node in drawn.nodes] == ids
    assert sorted((edge.source, edge.type, edge.target) for edge in drawn.edges) == sorted(inside)
    ends = Counter(end for edge in small.iter_edges() for end in (edge.source, edge.target))
    assert {node.id: node.degree for node in drawn.nodes} == {
        **{node: ends[node] for node in ids},
        "c1": ends["c1"] - 1,
    }
    assert not drawn.truncated


def test_a_subgraph_takes_what_replies_show_and_lists_what_it_does_not_know(small):
    drawn = subgraph_page(small, ["Salt (film)", "[p1] Ada Holm (person)", "[p2]", "Salt", "nobody", "Ada Holm"])
    assert [node.id for node in drawn.nodes] == ["f2", "p1", "p2"]
    assert drawn.unknown == ("Salt", "nobody")


def test_neighbours_are_added_the_most_joined_first(small):
    drawn = subgraph_page(small, ["f1", "f2"], around=2)
    joined = Counter(
        other
        for edge in small.iter_edges()
        for here, other in ((edge.source, edge.target), (edge.target, edge.source))
        if here in {"f1", "f2"}
    )
    best = sorted(joined, key=lambda node: (-joined[node], node))[:2]
    assert [node.id for node in drawn.nodes] == ["f1", "f2", *best]
    with pytest.raises(BadOption, match="around is -1"):
        subgraph_page(small, ["f1"], around=-1)


def test_a_picture_says_what_it_leaves_out(small, monkeypatch):
    monkeypatch.setattr(inside(subgraph_page), "MOST_NODES", 2)
    drawn = subgraph_page(small, ["p1", "f2", "f1"])
    assert ([node.id for node in drawn.nodes], drawn.truncated) == (["p1", "f2"], True)
    monkeypatch.setattr(inside(subgraph_page), "MOST_EDGES", 1)
    drawn = subgraph_page(small, ["p1", "f2"])
    assert (len(drawn.edges), drawn.truncated) == (1, True)
    monkeypatch.setattr(inside(subgraph_page), "MOST_EDGES", 2)
    assert not subgraph_page(small, ["p1", "f2"]).truncated
    assert subgraph_page(small, []).nodes == ()


def test_facets_count_types_and_values(build):
    nodes = [Node(f"n{at}", "beer" if at % 3 else "pub", properties={"year": 1990 + at % 2}) for at in range(7)]
    nodes += [Node("n7", "beer", properties={"tags": ["a", "b"], "year": None}), Node("n8", "beer"), Node("n9", "x")]
    counted = facets_page(Retriever(build(nodes), "anchor"), nodes=[node.id for node in nodes[:9]])
    assert counted.total == 9
    assert {group.value: group.count for group in counted.types} == Counter(node.type for node in nodes[:9])
    years, tags = counted.properties
    assert (years.name, [(group.value, group.count) for group in years.groups]) == ("year", [(1990, 4), (1991, 3)])
    assert (years.distinct, years.missing) == (2, 2)
    assert (tags.name, {group.value: group.count for group in tags.groups}, tags.missing) == (
        "tags",
        {"a": 1, "b": 1},
        8,
    )


def test_facets_keep_the_most_frequent_values(build, monkeypatch):
    monkeypatch.setattr(inside(facets_page), "MOST_VALUES", 2)
    graph = build([Node(str(at), properties={"p": at // 2}) for at in range(7)])
    [facet] = facets_page(Retriever(graph, "anchor"), nodes=[str(at) for at in range(7)]).properties
    assert ([group.value for group in facet.groups], facet.distinct) == ([0, 1], 4)


# ------------------------------------------------------------------------------------------------ out of this machine

HOSTILE = "red \x1b[31m \u202egnp.exe\u2028 end"


def test_names_are_cleaned_and_ids_come_back(build):
    graph = build([Node("a\u202e", "t", HOSTILE), Node("b", "t", "B")], [Edge("b", "is", "a\u202e")])
    page = for_outside(neighbors_page(graph, "b"), [graph.path])
    assert page.hits[0].name == "red  [31m gnp.exe  end"
    assert not set(page.hits[0].why) & {"\x1b", "\u202e", "\u2028"}
    assert page.hits[0].id == "a\u202e"
    assert for_outside(paths_page(graph, "b", "a\u202e"), []).names["a\u202e"] == "red  [31m gnp.exe  end"
    assert for_outside(node_page(graph, "b"), []) == node_page(graph, "b")


MARKS = ["plain", "a\tb", "line\nbreak", "back\\slash \\t", '"quoted"', "\x7f\x85", "\u2028", "\u2066x", "\x00", "ä€😀"]
PLACES = ["", "/home/ada/beers: no vectors", "beers", 'a "/home/ada/b\\"', "C:\\graphs", "/homely"]


@pytest.mark.parametrize("mark", MARKS, ids=ascii)
@pytest.mark.parametrize("place", PLACES, ids=ascii)
def test_the_json_for_outside_is_that_of_the_record_for_outside(mark, place):
    paths = [Path("/home/ada/beers"), Path("graphs/here"), Path(), Path("/")]
    hit = Ranked(id=f"id {mark}", type="t", name=f"n {mark}", score=1.0, text=f"{mark} {place}", why=f"w {mark}")
    result = Result(
        question=f"q {place}", method="anchor", hits=(hit,), notes=(f"{place} {mark}", "graphs/here is old")
    )
    for each in (result, result.model_copy(update={"notes": ()})):
        assert json_outside(each, paths) == for_outside(each, paths).model_dump_json()
        assert json_outside(each, paths, exclude=["hits"]) == for_outside(each, paths).model_dump_json(exclude={"hits"})


def test_a_record_that_is_clean_is_the_same_object(small):
    page = neighbors_page(small, "p1")
    assert for_outside(page, [small.path]) is page


def test_sentences_name_no_folder_of_ours():
    hit = Ranked(id="/srv/data/beers", type="t", name="n", score=1, text="it lies in /srv/data/beers")
    result = Result(question="q", method="m", hits=(hit,), notes=("/srv/data/beers/x is stale, as /srv/data is",))
    shown = for_outside(result, [Path("/srv/data/beers")])
    assert shown.notes == ("beers/x is stale, as data is",)
    assert shown.hits == result.hits  # what a document says is its own


def test_an_error_is_told_without_where_things_lie(tmp_path):
    home = tmp_path / "where it lies"
    graph = Graph.from_records([Node("a", "t", "A")], [], path=home / "beers")
    with pytest.raises(BadOption) as refused:
        graph.search("a", mode="dense")
    assert str(home) in str(refused.value)
    assert refused.value.public.startswith("beers has no vectors: make them with orienteer embed beers")
    manifest = next((home / "beers" / "generations").iterdir()) / "manifest.json"
    manifest.write_bytes(b"{}")
    for path in (home / "beers", home / "nowhere", home):
        with pytest.raises(NotAGraph) as refused:
            Graph.open(path)
        assert str(path) in str(refused.value)
        assert "where it lies/" not in refused.value.public
        assert str(tmp_path) not in refused.value.public


def test_errors_that_were_made_of_sentences_are_told_without_paths_too(small, tmp_path, monkeypatch):
    file = tmp_path / "models" / "tiny.gguf"
    monkeypatch.setattr(LocalModel, "__init__", lambda self, path: setattr(self, "path", path))
    paths = machine_paths(small, LocalModel(file))
    assert paths == (small.path, file)
    assert machine_paths(small) == (small.path,)
    assert (
        message_outside(ModelError(f"the engine of {file} \u202eis gone"), paths) == "the engine of tiny.gguf is gone"
    )
    course = Trajectory(question=Question(text="q"), method="m", model=f"local:{file}", error=f"{file} is gone")
    shown = for_outside(course, paths)
    assert (shown.model, shown.error) == ("local:tiny.gguf", "tiny.gguf is gone")


def test_a_model_is_not_told_where_a_graph_lies(small):
    call = ToolCall(id="1", name="search_in_graph", arguments='{"query": "salt", "mode": "dense"}')
    refused = Toolbox.full(small, offers_mode=True).observe(call)
    assert "has no vectors" in refused.text
    assert str(small.path) not in refused.text


def test_an_error_crosses_processes_whole():
    import pickle

    error = pickle.loads(pickle.dumps(NotAGraph("/a/b is none", paths=[Path("/a/b")])))
    assert (str(error), error.public) == ("/a/b is none", "b is none")


def test_folders_above_a_path_are_not_told_either():
    assert without_paths("/a/b/c.npy is gone: embed /a/b", [Path("/a/b/c.npy")]) == "c.npy is gone: embed b"
    assert without_paths("a/b and . and /", [Path("a/b"), Path(), Path("/")]) == "b and . and /"


ROOMS = ("graph", "index", "llm", "cypher", "sandbox", "retrieval", "methods", "agents", "tools")
PLACES = {"path", "file", "folder", "directory", "_path", "filename"}
WRITERS = {"publication.py", "replies.py", "traces.py", "table.py"}  # no question to a server runs through these


def _told(call):
    """Yield the names in the f-strings of a call's arguments."""
    for argument in call.args:
        for part in ast.walk(argument):
            if isinstance(part, ast.FormattedValue):
                for name in ast.walk(part.value):
                    yield (
                        name.id if isinstance(name, ast.Name) else name.attr if isinstance(name, ast.Attribute) else ""
                    )


def test_every_error_that_names_a_path_says_so():
    """An f-string with a path in it goes with `paths=`, or the path would be told to somebody elsewhere."""
    classes = {name for name, one in vars(errors).items() if isinstance(one, type) and issubclass(one, Error)}
    silent = []
    for file in [*(file for room in ROOMS for file in (PACKAGE / room).rglob("*.py")), PACKAGE / "files.py"]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            is_error = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in classes
            if is_error and PLACES & set(_told(node)) and not any(word.arg == "paths" for word in node.keywords):
                silent.append(f"{file.relative_to(PACKAGE)}:{node.lineno}")
    assert [place for place in silent if Path(place.partition(":")[0]).name not in WRITERS] == []


def test_records_are_json_and_back(small):
    page = neighbors_page(small, "p1")
    assert NeighborsPage.model_validate(json.loads(page.model_dump_json())) == page
