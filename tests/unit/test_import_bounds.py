"""What comes of a file is bounded by the file: small ones that unpack, repeat or nest without end are refused."""

from __future__ import annotations

import gzip
import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.inside import inside
from orienteer.errors import BadInput
from orienteer.graph import Graph
from orienteer.ingest import (
    DEEPEST_JSON,
    FEWEST_CELLS,
    MOST_EMPTY,
    MOST_HELD,
    Batch,
    DelimitedText,
    DropCounts,
    EdgeElement,
    ElementMaker,
    GraphMl,
    JsonLines,
    XmlNames,
    check_readable,
    column_names,
    header_of,
    import_graph,
    list_members,
    memory_told,
    object_in_cell,
    open_unpacked,
    parsed_json,
)
from orienteer.lab.evaluation import rows_of_file
from orienteer.lab.formats import load_pickle

pytestmark = [pytest.mark.corpus("attacks by files"), pytest.mark.slow]

MB = 1 << 20
LINES = ("x" * 1023 + "\n") * 1024
GRAPHML = (
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="d" for="node" attr.name="label"'
    ' attr.type="string">{}</key><graph edgedefault="directed">{}</graph></graphml>'
)
GEXF = (
    '<gexf xmlns="http://gexf.net/1.3" version="1.3"><graph><attributes class="node"><attribute id="0" title="t"'
    ' type="{}">{}</attribute></attributes><nodes>{}</nodes></graph></gexf>'
)


def refused(path: Path, tmp_path: Path) -> str:
    """Import a file and return why it cannot be; nothing stays behind."""
    with pytest.raises(BadInput) as caught:
        import_graph([path], tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def written(path: Path, *parts: str | bytes, times: int = 0) -> Path:
    """Write a file of its beginning, a part that is repeated, and its end."""
    head, repeated, tail = (part.encode() if isinstance(part, str) else part for part in parts)
    with gzip.open(path, "wb", 6) if path.suffix == ".gz" else path.open("wb") as file:
        file.write(head)
        for _ in range(times):
            file.write(repeated)
        file.write(tail)
    return path


@pytest.mark.parametrize(
    ("name", "head", "repeated"),
    [
        ("nodes.csv.gz", 'id,type,name\na,t,"', "x" * MB),
        ("nodes.csv.gz", "id,type,name\n", ("a,t," + "x" * 9_995 + "\n") * 105),
        ("nodes.tsv.gz", "id\ttype\tname\na\tt\t", "x" * MB),
        ("nodes.jsonl.gz", '{"id":"a","type":"t","name":"', "x" * MB),
        ("g.graphml.gz", GRAPHML.split("{}</graph>")[0].replace("{}", "") + '<node id="n"><data key="d">', "x" * MB),
        ("g.gexf.gz", "<gexf><graph><nodes>", f'<node id="n" label="{"x" * 9_990}"/>' * 105),
        ("g.gml.gz", "graph [\n", ('node [ id 1 label "' + "x" * 9_970 + '" ]\n') * 105),
        ("g.json.gz", '{"nodes": [{"id": "', "x" * MB),
        ("g.edgelist.gz", "", ("a " + "x" * 9_990 + "\n") * 105),
        ("b.nt.gz", '<http://s> <http://p> "', "x" * MB),
        ("b.ttl.gz", "", (f'<http://e/s> <http://e/p> "{"x" * 9_990}" .\n') * 105),
        ("x_corpus.json.gz", '[{"title":"', "x" * MB),
    ],
)
def test_what_unpacks_to_hundreds_of_times_its_size_is_refused(name: str, head: str, repeated: str, tmp_path: Path):
    path = written(tmp_path / name, head, repeated, "", times=80)
    assert path.stat().st_size < MB
    if name.startswith("x_corpus"):
        with pytest.raises(BadInput, match="more than 200 times its size"), open_unpacked(path) as raw:
            raw.read()
    else:
        said = refused(path, tmp_path)
        assert str(path) in said
        assert "more than 200 times its size" in said


def test_an_honest_packed_table_is_read(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(inside(check_readable), "SMALL", 0)
    path = tmp_path / "edges.tsv.gz"
    text = "source\ttype\ttarget\n" + "".join(f"hub\tlinks_to\tn{number}\n" for number in range(2_000))
    path.write_bytes(gzip.compress(text.encode()))
    assert import_graph([path], tmp_path / "out").edges == 2_000
    monkeypatch.setattr(inside(check_readable), "MOST_RATIO", 1)  # so it was measured
    with pytest.raises(BadInput, match="more than 1 times its size"):
        import_graph([path], tmp_path / "again")


@pytest.mark.parametrize(
    ("name", "head", "repeated", "tail", "said"),
    [
        ("nodes.csv", "id,type,name\na,t,", "x" * MB, "\n", "line 2: a line of more than 64 MB"),
        ("nodes.csv", 'id,type,name\na,t,"', LINES, '"\n', "field larger than field limit"),
        ("nodes.csv", "id,type,name\na,t", ',"' + LINES + '"', "\n", "a row of more than 64 MB"),
        ("nodes.jsonl", '{"id":"a","type":"t","name":"', "x" * MB, '"}\n', "line 1: a line of more than 64 MB"),
        ("g.gml", 'graph [ node [ id 1 label "', LINES, '" ]\n', "a node or edge of more than 64 MB"),
        ("g.edgelist", "a ", "x" * MB, "\n", "line 1: a line of more than 64 MB"),
        ("b.nt", '<http://s> <http://p> "', "x" * MB, '" .\n', "line 1: a line of more than 64 MB"),
        (
            "g.graphml",
            GRAPHML.split("{}</graph>")[0].replace("{}", "") + "<desc>",
            "x" * MB,
            "",
            "a text of more than 64 MB",
        ),
        ("b.ttl", '<http://s> <http://p> "', "x" * MB, '" .\n', "a term of more than 16 MB"),
    ],
)
def test_a_record_has_a_largest_size(name: str, head: str, repeated: str, tail: str, said: str, tmp_path: Path):
    path = written(tmp_path / name, head, repeated, tail, times=66 if "a row" not in said else 150)
    assert said in refused(path, tmp_path)


def test_a_term_that_is_too_long_is_dropped_with_its_line_alone(tmp_path: Path) -> None:
    path = tmp_path / "b.nt"
    path.write_text(
        f"<http://e/{'x' * 17 * MB}> <http://e/p> <http://e/o> .\n<http://e/a> <http://e/p> <http://e/b> .\n"
    )
    report = import_graph([path], tmp_path / "out")
    assert report.nodes == 2
    (cut,) = report.dropped
    assert (cut.reason, cut.count, cut.first[0].line) == ("malformed", 1, 1)
    assert "16 MB" in cut.first[0].value


LONG = "a" * 300_000
MANY = range(800)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("b.ttl", f"@prefix p: <http://e/{LONG}> .\n" + "".join(f"p:s{one} p:b p:c .\n" for one in MANY)),
        ("b.ttl", f"@base <http://e/{LONG}/> .\n" + "".join(f"<s{one}> <b> <c> .\n" for one in MANY)),
        (
            "b.rdf",
            '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/' + LONG + '">'
            + "".join(f'<rdf:Description rdf:about="http://e/{one}"><e:p{one}>x</e:p{one}></rdf:Description>'
                      for one in MANY) + "</rdf:RDF>",
        ),
        (
            "b.jsonld",
            json.dumps({"@context": {"@vocab": f"http://e/{LONG}"}, "@graph": [{"@id": f"http://e/{one}", f"p{one}": 1}
                                                                              for one in MANY]}),
        ),
        ("g.graphml", GRAPHML.format(f"<default>{LONG}</default>", "".join(f'<node id="{one}"/>' for one in MANY))),
        ("g.gexf", GEXF.format("string", f"<default>{LONG}</default>", "".join(f'<node id="{one}"/>' for one in MANY))),
    ],
)  # fmt: skip
def test_one_long_text_cannot_stand_for_many(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert "more than 200 times its size" in refused(path, tmp_path)


def test_a_namespace_that_every_name_has_cannot_be_long(tmp_path: Path) -> None:
    path = tmp_path / "g.graphml"
    path.write_text(f'<graphml xmlns="{LONG}"><graph><node id="a"/></graph></graphml>')
    assert "a namespace of 300,000 characters" in refused(path, tmp_path)


def test_lists_of_gephi_may_be_long_and_broken(tmp_path: Path) -> None:
    path = tmp_path / "g.gexf"
    node = '<node id="{}"><attvalues><attvalue for="0" value="{}"/></attvalues></node>'
    path.write_text(
        GEXF.format("liststring", "", node.format("a", f"[{'x' * 200_000}]") + node.format("b", "[c&#10;d,e]"))
    )
    import_graph([path], tmp_path / "out")
    graph = Graph.open(tmp_path / "out")
    assert [len(one) for one in graph.node("a").properties["t"]] == [200_000]
    assert graph.node("b").properties["t"] == ["c d", "e"]


def test_texts_that_begin_alike_are_not_one_long_text(tmp_path: Path, monkeypatch) -> None:
    chunk, count = 5_000, 30
    monkeypatch.setattr(inside(XmlNames), "CHUNK", chunk)
    monkeypatch.setattr(inside(XmlNames), "MOST_RECORD", 5 * chunk)
    head, tail = GRAPHML.format("", "|").split("|")
    blocks = [head]
    for number in range(count):  # each chunk ends within a text, of one part more than the one before
        text = "x<b/>" * number + "y" * 4_000
        blocks.append("</data></node>" * bool(number) + f'<node id="{number}"><data key="d">{text}')
    padded = [
        block.replace("<node", " " * (chunk - len(block)) + "<node") if number else block + " " * (chunk - len(block))
        for number, block in enumerate(blocks)
    ]
    assert {len(block) for block in padded} == {chunk}
    path = tmp_path / "g.graphml"
    path.write_text("".join(padded) + "</data></node>" + tail)
    assert import_graph([path], tmp_path / "out").nodes == count
    monkeypatch.setattr(inside(XmlNames), "MOST_RECORD", chunk)
    path.write_text("".join(padded) + "x" * chunk + "</data></node>" + tail)
    with pytest.raises(BadInput, match="a text of more than"):
        import_graph([path], tmp_path / "again")


# ------------------------------------------------------------------------------------------------------------- depth


def nested(depth: int, kind: str = "[]") -> str:
    begin, end = ("[", "]") if kind == "[]" else ('{"a":', "}")
    return begin * depth + "1" + end * depth


DEEP = [
    pytest.param(nested(depth, kind), id=f"{depth}{kind}") for depth in (200, 900, 100_000) for kind in ("[]", "{}")
]


@pytest.mark.parametrize("deep", DEEP)
def test_json_that_nests_without_end_is_refused_with_its_line(deep: str, tmp_path: Path) -> None:
    path = tmp_path / "nodes.jsonl"
    path.write_text('{"id":"a","type":"t"}\n{"id":"b","type":"t","x":' + deep + "}\n")
    assert f"line 2: JSON that cannot be read (more than {DEEPEST_JSON} values within values)" in refused(
        path, tmp_path
    )


@pytest.mark.parametrize("deep", DEEP)
@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("graph.json", '{"a_nodes":{"1":{"features":{"name":%s},"neighbors":{}}}}', "values in values|values within"),
        ("x_corpus.json", '[{"title":"t","text":%s}]', "more than 100 values within values"),
        ("meta.json", '{"format":"orienteer-dump","version":%s}', "holds no table"),  # it is not taken for a dump
    ],
)
def test_no_layout_nests_without_end(name: str, content: str, reason: str, deep: str, tmp_path: Path) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / name).write_text(content % deep)
    assert re.search(reason, refused(folder, tmp_path))


@pytest.mark.parametrize("version", ['"' + "x" * MB + '"', nested(90)])
def test_a_version_that_is_shown_is_cut(version: str, tmp_path: Path) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "meta.json").write_text(f'{{"format":"orienteer-dump","version":{version}}}')
    said = refused(folder, tmp_path).replace(str(folder), "")
    assert "is a dump of version" in said
    assert len(said) < 120


@pytest.mark.parametrize("deep", DEEP)
def test_cells_that_nest_without_end_stay_text(deep: str, tmp_path: Path) -> None:
    assert object_in_cell('{"a":' + deep + "}") is None
    assert list_members(f"[{deep}]") == [f"[{deep}]"]
    path = tmp_path / "nodes.tsv"
    path.write_text(f'id\ttype\tx\taliases\na\tt\t{{"a":{deep}}}\t[{deep}]\n')
    assert import_graph([path], tmp_path / "out").nodes == 1


@pytest.mark.parametrize("deep", DEEP)
def test_questions_that_nest_without_end_are_refused(deep: str, tmp_path: Path) -> None:
    path = tmp_path / "questions.json"
    path.write_text('[{"question":"?","answer":' + deep + "}]")
    with pytest.raises(BadInput, match=str(path)):
        rows_of_file(path)


def test_questions_that_are_no_utf8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "questions.json"
    path.write_bytes(b'[{"question":"caf\xe9"}]')
    with pytest.raises(BadInput, match="byte 17 is not UTF-8"):
        rows_of_file(path)


@pytest.mark.parametrize("depth", [1, 5, DEEPEST_JSON])
def test_json_of_any_sensible_depth_is_read(depth: int) -> None:
    assert parsed_json(nested(depth)) == json.loads(nested(depth))
    assert parsed_json(nested(depth, "{}").encode()) == json.loads(nested(depth, "{}"))
    assert len(parsed_json("[" + "[1]," * 5_000 + "2]")) == 5_001  # many, not deep


def test_defaults_without_a_text_are_counted_by_their_names(tmp_path: Path) -> None:
    keys = "".join(
        f'<key id="k{number}" for="node" attr.name="name {number}" attr.type="string"><default></default></key>'
        for number in range(2_000)
    )
    path = tmp_path / "a.graphml"
    path.write_text(GRAPHML.format("", "").replace("<graph ", f"{keys}<graph ").replace("></graph>", ">{}</graph>"))
    path.write_text(path.read_text().format("".join(f'<node id="n{number}"/>' for number in range(10_000))))
    with pytest.raises(BadInput, match="its defaults are long"):
        import_graph([path], tmp_path / "graph")


class Elements(list):
    """Open elements that count how often they are gone through."""

    walks = 0

    def __reversed__(self):
        Elements.walks += 1
        return super().__reversed__()


def test_a_node_knows_the_node_around_it(tmp_path: Path, monkeypatch) -> None:
    depth = 200
    inner = "<hyperedge>" * depth + '<node id="b"/><graph><node id="c"/></graph>' + "</hyperedge>" * depth
    path = tmp_path / "a.graphml"
    path.write_text(GRAPHML.format("", f'<node id="a"><graph>{inner}</graph></node><node id="d"/>'))
    reader = GraphMl(path, DropCounts())
    reader._open = Elements(reader._open)
    edges = [(one.source, one.target) for one in reader.elements() if isinstance(one, EdgeElement)]
    assert edges == [("b", "a"), ("c", "a")]
    assert not Elements.walks


# ----------------------------------------------------------------------------------------------------------- batches


def test_rows_of_ever_new_keys_fill_no_square(tmp_path: Path) -> None:
    path = tmp_path / "edges.jsonl"
    rows = [{"source": "a", "target": "b", f"k{number}": 1} for number in range(3_000)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    batches = list(JsonLines().batches(path, rows=50_000, drop=pytest.fail, header=True))
    assert sum(len(batch) for batch in batches) == len(rows)
    for batch in batches:
        assert len(batch) * len(batch.columns) <= FEWEST_CELLS + (MOST_EMPTY + 2) * 3 * len(batch)
    assert [row.items() <= found.items() for row, found in zip(rows, _rows(batches), strict=True)] == [True] * len(rows)


def test_edges_of_ever_new_attributes_fill_no_square(tmp_path: Path, monkeypatch) -> None:
    cells = []
    monkeypatch.setattr(
        inside(ElementMaker), "Batch", lambda columns, lines: cells.append(columns) or Batch(columns, lines)
    )
    edges = "".join(f'<edge source="a" target="b"><data key="k{number}">x</data></edge>' for number in range(3_000))
    path = tmp_path / "a.graphml"
    path.write_text(GRAPHML.format("", '<node id="a"/><node id="b"/>' + edges))
    import_graph([path], tmp_path / "graph")
    assert len(list(Graph.open(tmp_path / "graph").iter_edges())) == 3_000
    assert max(sum(map(len, one.values())) for one in cells) < 2 * FEWEST_CELLS


class Compared(str):
    """A text that counts how often it is compared."""

    count = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Compared.count += 1
        return str(self) == str(other)


def test_columns_are_not_compared_each_with_each(tmp_path: Path) -> None:
    names = [Compared(f"column {number}") for number in range(2_000)]
    Compared.count = 0
    assert column_names(names, tmp_path) == names
    assert header_of([Compared(":ID"), *names], tmp_path).columns[-1].name == names[-1]
    assert Compared.count < 20 * len(names)
    with pytest.raises(BadInput, match="two columns named 'column 7'"):
        column_names([*names, names[7], names[9]], tmp_path)


def _rows(batches):
    for batch in batches:
        for values in zip(*batch.columns.values(), strict=True):
            yield dict(zip(batch.columns, values, strict=True))


@pytest.mark.parametrize(
    ("name", "reader", "row"),
    [("nodes.csv", DelimitedText(), "a,{}\n"), ("nodes.jsonl", JsonLines(), '{{"id":"a","name":"{}"}}\n')],
)
def test_a_batch_of_large_rows_is_handed_on_early(name: str, reader, row: str, tmp_path: Path) -> None:
    path = tmp_path / name
    count, size = 60, MB
    path.write_text("id,name\n" * name.endswith("csv") + row.format("x" * size) * count)
    held = [
        sum(map(len, batch.columns["name"]))
        for batch in reader.batches(path, rows=5_000, drop=pytest.fail, header=True)
    ]
    assert sum(held) == count * size
    assert max(held) <= 2 * MOST_HELD + 2 * size


@pytest.mark.parametrize("name", ["nodes.csv", "nodes.tsv"])
def test_rows_of_any_size_below_the_largest_are_read_whatever_came_before(name: str, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(inside(DelimitedText), "MOST_RECORD", MB)
    monkeypatch.setattr(inside(Batch), "MOST_HELD", MB // 4)
    path = tmp_path / name
    separator = "," if name.endswith("csv") else "\t"
    sizes = [1] * 300 + [MB // 100] * 600 + [3, MB - 1_000, 2, MB - 1_000, 1]
    path.write_text(f"id{separator}name\n" + "".join(f"{size}{separator}{'x' * size}\n" for size in sizes))
    batches = DelimitedText().batches(path, rows=5_000, drop=pytest.fail, header=True)
    assert [len(one) for batch in batches for one in batch.columns["name"]] == sizes


@pytest.mark.parametrize("before", [0, 1, 300])
def test_one_row_that_is_too_large_is_refused_wherever_it_stands(before: int, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(inside(DelimitedText), "MOST_RECORD", MB)
    monkeypatch.setattr(inside(Batch), "MOST_HELD", MB // 4)
    path = tmp_path / "nodes.csv"
    path.write_text("id,name\n" + "a,b\n" * before + "a" + f',"{LINES[: MB // 8]}"' * 32 + "\n")
    with pytest.raises(BadInput, match="a row of more than"):
        list(DelimitedText().batches(path, rows=5_000, drop=pytest.fail, header=True))


# ----------------------------------------------------------------------------------------------------------- pickles


@pytest.mark.parametrize(
    "made",
    [
        pytest.param({number: 1 for number in (1, 2**61 - 1, 2**400)}, id="dictionary"),
        pytest.param({0.5: 1, 2.0**900: 2, float("inf"): 3}, id="floats"),
        pytest.param({True: 1, None: 2, "t": 3, b"b": 4}, id="mixed"),
    ],
)
def test_keys_of_a_pickle_become_texts(made: dict, tmp_path: Path) -> None:
    path = tmp_path / "p.pkl"
    path.write_bytes(pickle.dumps(made))
    assert load_pickle(path) == {str(key): one for key, one in made.items()}


@pytest.mark.parametrize("kind", [set, frozenset])
@pytest.mark.parametrize("protocol", [2, 4])
def test_sets_keep_their_members(kind: Callable, protocol: int, tmp_path: Path) -> None:
    members = {3, 2**61 - 1, 2**62 - 2, 1.5, "three", None}
    path = tmp_path / "p.pkl"
    path.write_bytes(pickle.dumps({"a": kind(members)}, protocol))
    assert sorted(load_pickle(path)["a"], key=str) == sorted(members, key=str)


@pytest.mark.parametrize("protocol", [2, 4])
def test_members_of_different_types_are_different(protocol: int, tmp_path: Path) -> None:
    members = [1, "1", "None", None, 1.5, "1.5", "True", b"x", "b'x'", "x", 0, "0", "str 'x'"]
    path = tmp_path / "p.pkl"
    path.write_bytes(pickle.dumps(set(members), protocol))
    expected = sorted((one.decode() if isinstance(one, bytes) else one for one in set(members)), key=repr)
    assert sorted(load_pickle(path), key=repr) == expected


# ------------------------------------------------------------------------------------------------------------- memory


@pytest.mark.parametrize("error", [MemoryError(), RecursionError()])
def test_what_takes_all_memory_names_its_file(error: BaseException, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a\n")
    with pytest.raises(BadInput, match=str(path)), open_unpacked(path):
        raise error
    with pytest.raises(BadInput, match="nodes"), memory_told("nodes"):
        raise error
