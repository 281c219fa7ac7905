"""Files for `neo4j-admin database import`: the examples and rules of the Neo4j operations manual, chapter Import."""

import gzip

import pytest

from orienteer.errors import BadInput, BadOption, DuplicateNode
from orienteer.graph import Graph
from orienteer.ingest import ImportOptions, import_graph, validate_sources
from orienteer.records import Edge, Node

MOVIES = 'movieId:ID,title,year:int,:LABEL\ntt1,"The Matrix",1999,Movie\ntt2,"The ""Matrix"", 2",2003,Movie;Sequel\n'
ACTORS = "personId:ID,name,:LABEL\nkeanu,Keanu Reeves,Actor\ncarrie,Carrie-Anne Moss,Actor\n"
ROLES = ":START_ID,role,:END_ID,:TYPE\nkeanu,Neo,tt1,ACTED_IN\nkeanu,Neo,tt2,ACTED_IN\ncarrie,Trinity,tt1,ACTED_IN\n"


@pytest.fixture
def read(tmp_path):
    """Give a function that imports files by name: the report and the graph."""

    def reading(files, *, sources=None, **options):
        folder = tmp_path / "import"
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        given = [folder / one for one in sources] if sources else [folder]
        report = import_graph(given, tmp_path / "made", options=ImportOptions(force=True, **options))
        return report, Graph.open(tmp_path / "made")

    return reading


def edges_of(graph):
    return sorted((edge.source, edge.type, edge.target) for edge in graph.iter_edges())


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_manuals_movies_are_read_whatever_parts_the_fields(separator, read):
    def parted(text):
        array = "|" if separator == ";" else ";"
        return text.replace(";", array).replace(",", separator).replace(f'""{separator} 2', '"", 2')

    files = {"movies.csv": parted(MOVIES), "actors.csv": parted(ACTORS), "roles.csv": parted(ROLES)}
    if separator == "|":
        files = {name: text.replace("Movie|Sequel", "Movie;Sequel") for name, text in files.items()}
    report, graph = read(files)
    assert graph.node("tt1") == Node("tt1", "Movie", "The Matrix", "", (), {"movieId": "tt1", "year": 1999})
    assert graph.node("tt2").name == 'The "Matrix", 2'
    assert graph.node("tt2").properties == {"movieId": "tt2", "year": 2003, "labels": ["Sequel"]}
    assert graph.node("carrie").name == "Carrie-Anne Moss"
    assert sorted(graph.iter_edges(), key=lambda edge: (edge.source, edge.target)) == [
        Edge("carrie", "ACTED_IN", "tt1", properties={"role": "Trinity"}),
        Edge("keanu", "ACTED_IN", "tt1", properties={"role": "Neo"}),
        Edge("keanu", "ACTED_IN", "tt2", properties={"role": "Neo"}),
    ]
    assert (report.node_types, report.dropped, report.ignored) == ({"Actor": 2, "Movie": 2}, (), ())


def test_headers_may_be_files_of_their_own_before_several_parts(read):
    header, rows = MOVIES.split("\n", 1)
    first, second = rows.splitlines(keepends=True)
    report, graph = read(
        {
            "movies-header.csv": header + "\n",
            "movies-part1.csv.gz": first,
            "movies-part2.csv": second,
            "actors_header.csv": ACTORS.split("\n", 1)[0],
            "actors.csv": ACTORS.split("\n", 1)[1],
            "actors_in_movies_header.csv": ROLES.split("\n", 1)[0] + "\n\n",
            "actors_in_movies_0_0.csv": ROLES.split("\n", 1)[1],
            "notes.csv": "a,b\n1,2\n",
            "README.md": "what this is",
        }
    )
    assert (report.nodes, report.edges) == (4, 3)
    assert graph.node("tt2").properties["labels"] == ["Sequel"]
    assert [(one.reason, one.is_telling) for one in report.ignored] == [
        ("no table", False),  # README.md
        ("no part of the graph", True),
    ]
    assert report.ignored[1].file.endswith("notes.csv")


def test_apocs_names_of_headers_and_any_order_of_fields_are_read(read):
    report, graph = read(
        {
            "all.header.nodes.Person.csv": ":ID;name;:LABEL\n",
            "all.nodes.Person.csv": "0;Ann;Person\n1;Ben;Person\n",
            "all.header.relationships.KNOWS.csv": ":START_ID;:END_ID\n",
            "all.relationships.KNOWS.csv": "0;1\n",
        }
    )
    assert report.node_types == {"Person": 2}
    assert edges_of(graph) == [("0", "edge", "1")]


def test_ids_are_unique_within_their_space_only(read):
    report, graph = read(
        {
            "movies.csv": "movieId:ID(Movie-ID),title\n1,The Matrix\n2,Speed\n",
            "actors.csv": "id:ID(Actor-ID){id-type: int},name,:LABEL\n1,Keanu Reeves,Actor\n",
            "roles.csv": ":START_ID(Actor-ID),:END_ID(Movie-ID),:TYPE\n1,1,ACTED_IN\n1,2,ACTED_IN\n2,1,ACTED_IN\n",
        }
    )
    assert {one: (graph.node(one).name, graph.node(one).properties) for one in graph.node_ids()} == {
        "Movie-ID:1": ("The Matrix", {"movieId": "1"}),
        "Movie-ID:2": ("Speed", {"movieId": "2"}),
        "Actor-ID:1": ("Keanu Reeves", {"id": "1"}),
    }
    assert edges_of(graph) == [("Actor-ID:1", "ACTED_IN", "Movie-ID:1"), ("Actor-ID:1", "ACTED_IN", "Movie-ID:2")]
    ((dangling),) = report.dropped
    assert (dangling.reason, dangling.first[0].line) == ("dangling", 4)
    assert dangling.first[0].value == "Actor-ID:2 -> ACTED_IN -> Movie-ID:1"


def test_values_have_the_types_of_the_header(read):
    report, graph = read(
        {
            "n.csv": "id:ID,i:int,l:long,b:byte,f:float,d:double,t:boolean,c:char,day:date,at:point{crs: WGS-84},"
            "s:string[],n:int[],skip:IGNORE,when:datetime{timezone: Europe/Stockholm},a:b,x:IGNORE\n"
            'a, 7 ,8,9,1.5,2e3,TRUE,x,2026-11-21,"{latitude: 1.0, longitude: 2.0}",u;v,1;2,no,2026-11-21T10:00,y,no\n'
            "b,,,,,,,,,,,,,,,\n"
            "c,seven,1_0,2.5,NaN,Infinity,yes,,,,,1;two,,,,\n",
        }
    )
    assert graph.node("a").properties == {
        "i": 7,
        "l": 8,
        "b": 9,
        "f": 1.5,
        "d": 2000.0,
        "t": True,
        "c": "x",
        "day": "2026-11-21",
        "at": "{latitude: 1.0, longitude: 2.0}",
        "s": ["u", "v"],
        "n": [1, 2],
        "when": "2026-11-21T10:00",
        "a:b": "y",
    }
    assert graph.node("b").properties == {}
    assert graph.node("c").properties == {
        "i": "seven",
        "l": "1_0",
        "b": 2.5,
        "d": "inf",
        "t": "yes",
        "n": [1, "two"],
    }
    (note,) = report.notes
    assert "left 4 values as text" in note
    assert "line 4, i: 'seven' is no int" in note


def test_labels_and_types_come_before_a_property_that_is_called_type(read):
    _, graph = read(
        {
            "n.csv": ":ID,type,:LABEL,description\n1,kind,A;B,Some words.\n2,kind,,\n",
            "r.csv": ":START_ID,:END_ID,type,:TYPE\n1,2,x,R\n",
        }
    )
    assert graph.node("1") == Node("1", "A", "1", "Some words.", (), {"type": "kind", "labels": ["B"]})
    assert graph.node("2") == Node("2", "kind", "2")
    assert list(graph.iter_edges()) == [Edge("1", "R", "2", properties={"type": "x"})]


def test_without_labels_and_types_columns_tell_them_as_in_any_table(read):
    report, graph = read({"n.csv": ":ID,kind\n1,A\n2,B\n", "r.csv": ":START_ID,:END_ID,relation\n1,2,knows\n2,1,\n"})
    assert report.node_types == {"A": 1, "B": 1}
    assert edges_of(graph) == [("1", "knows", "2"), ("2", "edge", "1")]


def test_files_can_be_named_one_by_one_and_options_hold(read):
    files = {"movies.csv": MOVIES, "actors.csv": ACTORS, "roles.csv": ROLES, "other.csv": "id,name\n1,x\n"}
    report, graph = read(
        files,
        sources=["movies.csv", "actors.csv", "roles.csv"],
        columns={"text": "role"},
        private=("year",),
        explode={"labels": "is_a"},
    )
    assert graph.node("tt1").properties == {"movieId": "tt1"}
    assert report.private == {"year": 2}
    assert report.edge_types == {"ACTED_IN": 3, "is_a": 5}
    assert sorted(edge.text for edge in graph.iter_edges() if edge.type == "ACTED_IN") == ["Neo", "Neo", "Trinity"]
    with pytest.raises(BadInput, match=r"other\.csv has no header of neo4j-admin"):
        read(files, sources=["movies.csv", "other.csv"])
    with pytest.raises(BadOption, match="--column source has no meaning"):
        read(files, columns={"source": "role"})


def test_repeated_nodes_are_merged_or_refused(read):
    report, _ = read({"n.csv": "id:ID,name\n1,Ann\n1,Ann\n,Nobody\n"})
    assert [(cut.reason, cut.first[0].line) for cut in report.merged] == [("duplicate", 3)]
    assert [(cut.reason, cut.first[0].line, cut.first[0].value) for cut in report.dropped] == [
        ("empty id", 4, "Nobody")
    ]
    with pytest.raises(DuplicateNode, match=r"'1': the second is at .*n\.csv, line 3"):
        read({"n.csv": "id:ID,name\n1,Ann\n1,Ben\n"})


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"r.csv": ":START_ID,:TYPE\n1,R\n"}, r"r\.csv has 0 columns :END_ID, where one is expected: :START_ID, :TYPE"),
        ({"n.csv": "a:ID,b:ID\n1,2\n"}, r"n\.csv has 2 columns :ID"),
        ({"n.csv": "a:ID,x,x:int\n1,2,3\n"}, r"two columns named 'x'"),
        ({"n.csv": ":ID,:int\n1,2\n"}, r"a column without a name"),
        ({"n.csv": ":ID,:LABEL,labels\n1,A,x\n"}, r"two columns named 'labels'"),
        (
            {"n-header.csv": ":ID,name\n"},
            r"n-header\.csv is a header, but its rows are nowhere: n\.csv or n-part1\.csv",
        ),
        ({"n-header.csv": ":ID,name\n", "n.csv": "1,Ann,x\n"}, r"n\.csv, line 1: 3 fields where the header names 2"),
        ({"n.csv": ":ID,name\n1,Ann\n2,Ben,x\n"}, r"n\.csv, line 3: 3 fields where 2 are expected"),
        ({"n.csv": ':ID,name\n1,"Ann\n'}, r"n\.csv, line 2: quote left open; is the file cut short"),
        ({"n.csv": ":ID,name\n"}, r"The sources hold no node"),
    ],
)
def test_what_is_not_whole_is_one_clear_error(files, message, read):
    with pytest.raises(BadInput, match=message):
        read(files)


def test_bytes_that_are_no_text_cost_their_row_alone(read):
    report, graph = read({"n.csv": b":ID,name\n1,Ann\n2,B\xff\n"})
    assert list(graph.node_ids()) == ["1"]
    assert [(cut.reason, cut.first[0].line) for cut in report.dropped] == [("bad encoding", 3)]


def test_tables_without_such_a_header_are_what_they_were(tmp_path):
    (tmp_path / "nodes.csv").write_text("id,name\n1,Ann\n")
    (tmp_path / "edges.csv").write_text("start_id,end_id,type\n1,1,knows\n")
    assert validate_sources([tmp_path]).edge_types == {"knows": 1}
