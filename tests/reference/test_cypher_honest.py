"""Questions in Cypher of the kinds that people ask of knowledge graphs, over the demo graph.

What is right is worked out in plain Python from the records that the graph was made of, as Cypher says it: null where
something is missing, no edge twice in one MATCH, `sum` of nothing 0, nulls last.
"""

import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from opencypher_kit import SPELLINGS, spelled
from orienteer.cypher import Cypher
from orienteer.graph import Graph
from orienteer.ingest import demo_records
from orienteer.lab.quizzes import generate_questions

CORPUS = [json.loads(line) for line in (Path(__file__).parents[1] / "cypher" / "honest.jsonl").read_text().splitlines()]
NODES, EDGES = demo_records()
NODE = {node.id: node for node in NODES}
NAME = {node.id: node.name for node in NODES}
OUT, IN = defaultdict(list), defaultdict(list)
for _edge in EDGES:
    OUT[_edge.source, _edge.type].append(_edge.target)
    IN[_edge.target, _edge.type].append(_edge.source)


def of(node_type):
    return [node.id for node in NODES if node.type == node_type]


def called(name, node_type=None):
    return [node.id for node in NODES if node.name == name and node_type in (None, node.type)]


def one(name, node_type=None):
    (found,) = called(name, node_type)
    return found


def prop(node, key):
    return NODE[node].properties.get(key)


def year(node):
    return prop(node, "year")


def out(node, *types):
    return [target for edge_type in types for target in OUT[node, edge_type]]


def into(node, *types):
    return [source for edge_type in types for source in IN[node, edge_type]]


def around(node):
    """Return the type and the other end of every edge of a node."""
    return [(e.type, e.target) for e in EDGES if e.source == node] + [
        (e.type, e.source) for e in EDGES if e.target == node
    ]


def last(value):
    """Sort null after everything."""
    return (value is None, value if value is not None else 0)


def names(ids):
    return [(NAME[one],) for one in ids]


def counted(keys):
    return [(*(key if isinstance(key, tuple) else (key,)), number) for key, number in Counter(keys).items()]


def languages(where=lambda node: True):
    return [node for node in of("language") if where(node)]


def with_year(where):
    return languages(lambda node: year(node) is not None and where(year(node)))


def walks(start, edge_type, least, most, step=out):
    """Return the nodes of each walk that uses no edge twice; the demo graph has no parallel edges."""
    found, rim = [], [((start,), frozenset())]
    for length in range(1, most + 1):
        rim = [
            ((*nodes, other), used | {frozenset([(nodes[-1], other)])})
            for nodes, used in rim
            for other in step(nodes[-1], edge_type)
            if frozenset([(nodes[-1], other)]) not in used
        ]
        if length >= least:
            found += [nodes for nodes, _ in rim]
    return found


def distance(start, end, neighbors):
    rim, seen, steps = {start}, {start}, 0
    while end not in rim:
        rim = {other for node in rim for other in neighbors(node)} - seen
        seen |= rim
        steps += 1
    return steps


def designers():
    return {
        node: sorted(NAME[one] for one in out(node, "designed_by")) for node in languages() if out(node, "designed_by")
    }


def years():
    return [year(node) for node in languages() if year(node) is not None]


def person_order(node):
    return (-(prop(node, "born") or 0), NAME[node]) if prop(node, "born") is not None else (-(10**9), NAME[node])


def shape(node):
    found = NODE[node]
    return {"id": found.id, "type": found.type, "name": found.name, "properties": dict(found.properties)}


def edge_shape(source, edge_type, target):
    return {"source": source, "type": edge_type, "target": target}


C, GO, PYTHON, CPP = (one(name, "language") for name in ("C", "Go", "Python", "C++"))
BELL, GOOGLE = (one(name, "organization") for name in ("Bell Labs", "Google"))

RIGHT = {
    "name-to-id": lambda: [(one("C#"),)],
    "id-to-name": lambda: [("Ken Thompson", "person")],
    "case-blind": lambda: [(n,) for n in of("person") if NAME[n].lower() in ("ada lovelace", "ken thompson")],
    "contains": lambda: names(n for n in languages() if "ALGOL" in NAME[n]),
    "starts": lambda: [(n.id, [n.type]) for n in NODES if n.name.startswith("Py")],
    "ends": lambda: names(n for n in of("organization") if NAME[n].endswith(("Labs", "University"))),
    "regex": lambda: names(n for n in languages() if NAME[n].lower().startswith("c") and len(NAME[n]) <= 2),
    "in-list": lambda: [(year(n),) for n in languages() if NAME[n] in ("Python", "Ruby")],
    "parameter-list": lambda: [(NAME[n], prop(n, "typing")) for n in languages() if NAME[n] in ("Go", "Rust", "C")],
    "unwind-parameter": lambda: [(name, one(name, "language")) for name in ("Go", "Rust", "Go")],
    "missing": lambda: [],
    "one-hop-out": lambda: names(out(one("Pascal"), "designed_by")),
    "one-hop-in": lambda: sorted(names(into(one("Niklaus Wirth"), "designed_by"))),
    "upper-snake": lambda: names(into(one("Guido van Rossum"), "designed_by")),
    "typed-snake": lambda: names(n for n in into(C, "written_in") if NODE[n].type == "software"),
    "any-edge": lambda: sorted(counted((t, NODE[m].type) for t, m in around(BELL)), key=lambda row: (-row[2], row[0])),
    "alternatives": lambda: [(n,) for n in out(CPP, "designed_by", "developed_at")],
    "type-condition": lambda: [(n, t) for t in ("designed_by", "developed_at") for n in out(CPP, t)],
    "two-hops": lambda: names(
        i
        for i in of("implementation")
        for n in out(i, "written_in")
        for p in out(n, "designed_by")
        if NAME[p] == "Bjarne Stroustrup"
    ),
    "three-hops": lambda: list(
        {
            (NAME[o],)
            for n in into(one("Lisp", "language"), "influenced_by")
            for p in out(n, "designed_by")
            for o in out(p, "worked_at")
        }
    ),
    "siblings": lambda: sorted(
        counted(NAME[b] for x in out(PYTHON, "influenced_by") for b in into(x, "influenced_by") if b != PYTHON),
        key=lambda row: (-row[1], row[0]),
    )[:5],
    "siblings-all": lambda: [(b, p) for p in out(C, "supports") for b in into(p, "supports") if b != C],
    "meeting": lambda: names(p for p in into(BELL, "worked_at") if GOOGLE in out(p, "worked_at")),
    "meeting-two-matches": lambda: names(
        p for p in into(BELL, "worked_at") if one("Turing Award") in out(p, "received")
    ),
    "meeting-where": lambda: [(p,) for p in into(BELL, "worked_at") if out(p, "received")],
    "three-way": lambda: [
        (n, a, b, p)
        for n in with_year(lambda found: found < 1975)
        for a in out(n, "supports")
        for b in out(n, "supports")
        for p in out(n, "designed_by")
        if a < b
    ],
    "not-pattern": lambda: names(languages(lambda n: not out(n, "designed_by"))),
    "not-exists": lambda: names(languages(lambda n: not any((year(m) or 0) > 1990 for m in into(n, "influenced_by")))),
    "exists-function": lambda: [(n.id,) for n in NODES if n.properties.get("year", 9999) < 1960],
    "no-property": lambda: [(sum(prop(n, "born") is None for n in of("person")),)],
    "difference": lambda: list(
        {
            (NAME[b],)
            for o in out(one("Ken Thompson"), "worked_at")
            for b in into(o, "worked_at")
            if b != one("Ken Thompson") and not out(b, "received")
        }
    ),
    "year-range": lambda: names(with_year(lambda found: 1990 <= found < 2000)),
    "chained-comparison": lambda: names(with_year(lambda found: 1990 <= found < 2000)),
    "year-arithmetic": lambda: [
        (NAME[n], NAME[p], year(n) - prop(p, "born"))
        for n in languages(lambda n: year(n) is not None)
        for p in out(n, "designed_by")
        if prop(p, "born") is not None and year(n) - prop(p, "born") < 30
    ],
    "text-property": lambda: names(n for n in with_year(lambda f: f > 1990) if prop(n, "typing") == "dynamic"),
    "not-equal": lambda: [(len(languages(lambda n: prop(n, "typing") not in (None, "dynamic"))),)],
    "null-is-not-false": lambda: [(len(languages(lambda n: prop(n, "typing") not in (None, "dynamic"))),)],
    "to-string": lambda: [(n,) for n in with_year(lambda found: found == 1972)],
    "case": lambda: counted("old" if y < 1980 else "middle" if y < 2000 else "new" for y in years()),
    "coalesce": lambda: [(n, prop(n, "born") or 0) for n in of("person")],
    "decades": lambda: sorted(
        counted(None if year(n) is None else year(n) // 10 * 10 for n in languages()), key=lambda row: last(row[0])
    ),
    "count-all": lambda: [(len(NODES), len(set(NAME.values())))],
    "count-edges": lambda: sorted(counted(e.type for e in EDGES), key=lambda row: (-row[1], row[0])),
    "schema": lambda: counted((NODE[e.source].type, e.type, NODE[e.target].type) for e in EDGES),
    "top": lambda: sorted(
        counted(NAME[p] for n in languages() for p in out(n, "designed_by")), key=lambda row: (-row[1], row[0])
    )[:3],
    "top-of-type": lambda: sorted(
        counted(NAME[e.target] for e in EDGES if e.type == "influenced_by"), key=lambda row: (-row[1], row[0])
    )[:4],
    "having": lambda: [
        row for row in counted(NAME[o] for p in of("person") for o in set(out(p, "worked_at"))) if row[1] >= 3
    ],
    "extremes": lambda: [(min(years()), max(years()), pytest.approx(sum(years()) / len(years())), sum(years()))],
    "oldest": lambda: names(with_year(lambda found: found == min(years()))),
    "collect": lambda: [(NAME[n], found) for n, found in designers().items()],
    "collect-first": lambda: [
        (NAME[n], found[0], found[-1], found[9] if len(found) > 9 else None, len(found), found[0], found[-1])
        for n, found in designers().items()
    ],
    "count-subquery": lambda: sorted(
        ((NAME[p], len(into(p, "designed_by"))) for p in of("person")), key=lambda row: (-row[1], row[0])
    )[:5],
    "size-of-pattern": lambda: names(p for p in of("person") if len(into(p, "designed_by")) > 1),
    "sum-of-nothing": lambda: [(0, 0, [], None)],
    "optional": lambda: [(NAME[n], NAME.get(i)) for n in languages() for i in (into(n, "implements") or [None])],
    "optional-count": lambda: [
        (NAME[n], len(into(n, "implements")), ["implements"] * len(into(n, "implements"))) for n in languages()
    ],
    "optional-missing-type": lambda: [("COBOL", None, None, None)],
    "union": lambda: list({*names(out(GO, "designed_by")), *names(out(C, "designed_by"))}),
    "union-all": lambda: [*names(out(GO, "designed_by")), *names(out(C, "designed_by"))],
    "two-or-fewer-hops": lambda: list({(NAME[w[-1]],) for w in walks(C, "influenced_by", 1, 2, into)}),
    "exactly-two-hops": lambda: [(NAME[w[-1]],) for w in walks(C, "influenced_by", 2, 2)],
    "shortest": lambda: [(distance(PYTHON, one("Grace Hopper"), lambda n: [m for _, m in around(n)]),)],
    "all-shortest": lambda: [
        ([NAME[n] for n in w],)
        for w in walks(PYTHON, "influenced_by", 1, 4)
        if w[-1] == one("ALGOL 60")
        and len(w) - 1 == distance(PYTHON, one("ALGOL 60"), lambda n: out(n, "influenced_by"))
    ],
    "path-names": lambda: [
        ([one("Git"), n, d], ["written_in", "designed_by"], 2)
        for n in out(one("Git"), "written_in")
        for d in out(n, "designed_by")
    ],
    "any-in-path": lambda: [
        (NAME[w[-1]], len(w) - 1) for w in walks(PYTHON, "influenced_by", 1, 2) if all((year(n) or 0) > 1970 for n in w)
    ],
    "list-condition": lambda: names(languages(lambda n: any(NAME[p].startswith("Logic") for p in out(n, "supports")))),
    "membership": lambda: [
        (NAME[n], len(out(n, "supports")))
        for n in languages()
        if "Functional programming" in [NAME[p] for p in out(n, "supports")] and len(out(n, "supports")) > 2
    ],
    "comprehension": lambda: [
        (NAME[n], sum((year(m) or 9999) < 1970 for m in out(n, "influenced_by")))
        for n in languages(lambda n: bool(out(n, "influenced_by")))
    ],
    "slice": lambda: [
        (sorted(NAME[n] for n in languages())[:3], sorted(NAME[n] for n in languages())[2:4], len(languages()) - 40)
    ],
    "skip": lambda: names(sorted(of("person"), key=person_order)[5:10]),
    "nulls-last": lambda: sorted(((n, prop(n, "born")) for n in of("person")), key=lambda row: (last(row[1]), row[0])),
    "distinct-order": lambda: [
        (one,) for one in sorted({prop(n, "typing") for n in languages()}, key=lambda v: (v is None, v or ""))
    ],
    "case-matters": lambda: [("C", NAME[n]) for n in out(C, "influenced_by")],
    "map": lambda: [({"name": "Go", "year": year(GO), "upper": "GO"},)],
    "node": lambda: [(shape(GO),)],
    "edge": lambda: [(edge_shape(s, "written_in", GO),) for s in into(GO, "written_in")],
    "backwards": lambda: [(s, edge_shape(s, "written_in", GO)) for s in into(GO, "written_in")],
}


@pytest.fixture(scope="module")
def demo(scratch):
    return Graph.from_records(NODES, EDGES, path=scratch())


def plain(rows):
    return sorted(json.dumps(row, ensure_ascii=False, sort_keys=True) for row in rows)


def test_every_query_of_the_corpus_has_its_answer_here():
    assert len(CORPUS) >= 60
    assert [line["id"] for line in CORPUS] == list(RIGHT)


@pytest.mark.parametrize("line", CORPUS, ids=lambda line: line["id"])
def test_answers_are_those_of_the_records(demo, line):
    found = Cypher(demo).query(line["query"], line.get("parameters"), limit=10_000)
    right = RIGHT[line["id"]]()
    assert found.total == len(right)
    if line.get("ordered") or line["id"] == "extremes":
        assert list(found.rows) == right
    else:
        assert plain(found.rows) == plain(right)


@pytest.mark.parametrize("spelling", [name for name, calls in SPELLINGS.items() if calls])
def test_answers_do_not_depend_on_what_variables_are_called(demo, spelling):
    """Names of ours, for nodes without a name among others, may be those that people give to their variables."""
    cypher, same = Cypher(demo), 0
    for line in CORPUS:
        text, parameters = line["query"], line.get("parameters")
        if (renamed := spelled(text, SPELLINGS[spelling])) is None:
            continue
        right = cypher.query(text, parameters, limit=10_000)
        found = cypher.query(renamed[0], parameters, limit=10_000)
        assert tuple(renamed[1].get(name, name) for name in found.columns) == right.columns
        assert plain(found.rows) == plain(right.rows), renamed
        assert found.notes == right.notes
        same += 1
    assert same > 70


def test_most_queries_find_something():
    empty = [line["id"] for line in CORPUS if not RIGHT[line["id"]]()]
    assert empty == ["missing"]


def test_the_gold_queries_of_generated_questions_give_their_nodes(demo):
    made = generate_questions(demo, 80, random_seed=3)
    checked = 0
    for question in made.items:
        if question.constraint is not None and "terms" in question.constraint:
            continue
        found = Cypher(demo).query(question.gold_query, limit=10_000)
        assert sorted(row[0] for row in found.rows) == list(question.nodes), question.gold_query
        checked += 1
    assert checked > 40
