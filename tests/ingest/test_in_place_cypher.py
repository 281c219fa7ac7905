"""Cypher over a database in place: ArcadeDB, as a real server, beside our own over an import of the same graph.

`tests/cypher/constructs.txt` holds every form that the guard lets through. Where the two differ it stands here.
"""

import json
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from arcade import Arcade, require_arcade
from fakes.openai_server import Answer, FakeServer
from orienteer.addresses import Address, Login
from orienteer.connect import import_database
from orienteer.cypher import Cypher, View
from orienteer.errors import BadOption, BadQuery, QueryStopped, UnknownProperty, UnknownType
from orienteer.graph import Graph
from orienteer.ingest import demo_records
from orienteer.llm import ScriptedModel
from orienteer.retriever import Retriever
from orienteer.settings import Settings
from orienteer.tools import Toolbox

pytestmark = pytest.mark.arcadedb
CYPHER = Path(__file__).parents[1] / "cypher"
CONSTRUCTS = [
    line for line in (CYPHER / "constructs.txt").read_text(encoding="utf-8").splitlines() if line and line[0] != "#"
]
HONEST, HOSTILE = (
    [json.loads(line) for line in (CYPHER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    for name in ("honest", "hostile")
)
BEYOND = [  # in the server's own words: what its parser, its procedures or its escapes might make of a statement
    "CALL db.labels()",
    "CALL db.index.fulltext.queryNodes('Entity[name,text]', 'x') YIELD node DELETE node",
    "CALL { MATCH (n) DELETE n } RETURN 1",
    "CALL { CREATE (n:Entity {id: 'x'}) } IN TRANSACTIONS",
    "MATCH (n) CALL { WITH n SET n.name = 'x' } RETURN n",
    "CALL apoc.cypher.doIt('CREATE (n)', {})",
    "CALL apoc.load.json('file:///etc/passwd') YIELD value RETURN value",
    "RETURN apoc.text.join(['a'], ',')",
    "CALL dbms.shutdown()",
    "LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row",
    "UNWIND [1] AS x LOAD CSV FROM 'http://127.0.0.1/' AS row RETURN row",
    "MATCH (n) FOREACH (x IN [1] | SET n.name = 'x')",
    "MATCH (n) RETURN n; MATCH (n) DETACH DELETE n",
    "MATCH (n) RETURN n UNION MATCH (n) DETACH DELETE n RETURN 1 AS n",
    "MATCH (n) WHERE EXISTS { MATCH (n) SET n.name = 'x' } RETURN n",
    "MATCH (n) WHERE EXISTS { CALL { CREATE () } RETURN 1 } RETURN n",
    "RETURN COLLECT { MATCH (n) DELETE n RETURN n }",
    "MATCH (n) RETURN \\u0064elete",
    "MATCH (n) \\u0044ELETE n",
    "MATCH (n:`Entity`) DETACH /* */ DELETE n",
    "MATCH (n) // \n DELETE n",
    "/* x */ CREATE (n:Entity {id: 'x'})",
    "MATCH (n {name: 'x'}) SET n:Admin",
    "MATCH (n:`x`) REMOVE n:`Entity` RETURN n",
    "MERGE (n:Entity {id: 'x'}) RETURN n",
    "CREATE INDEX x FOR (n:Entity) ON (n.id)",
    "DROP INDEX `Entity[id]`",
    "CREATE USER eve SET PASSWORD 'x'",
    "SHOW USERS",
    "SHOW TRANSACTIONS",
    "TERMINATE TRANSACTION 'q1'",
    "EXPLAIN MATCH (n) DELETE n",
    "PROFILE CREATE (n)",
    "USE system MATCH (n) RETURN n",
    "MATCH (n:`language`) DELETE`n`",
    "MATCH (n:language|person SET n.x = 1) RETURN n",
    "MATCH (n)-[r:`x`]->() DELETE r",
    "RETURN [x IN [1] | CREATE (n)]",
    "RETURN CASE WHEN true THEN (CREATE (n)) END",
    "INSERT (n:Entity)",
    "GRANT ROLE admin TO reader",
    "ALTER USER reader SET PASSWORD 'x'",
]
ESCAPING = [  # names and texts that try to end what they stand in
    "x' OR 1=1 DETACH DELETE n //",
    "x` DETACH DELETE n //",
    "x`}) DETACH DELETE (n) //",
    "\\u0060 DELETE n",
    "x'}) CREATE (m:Entity {id: 'x'}) //",
    "*/ DELETE n /*",
    "$h0",
    "${name}",
    "x\nDELETE n",
    "x\u2028CREATE (n)",
    "\u200bx",
    "' + (CREATE (n)) + '",
]


def opened(arcade, user="reader"):
    from orienteer.connect import Server

    login = Login(user, arcade.reader if user == "reader" else arcade.password)
    return Server(Address.parse(arcade.address), login)


def in_place_of(arcade):
    from orienteer.connect import GraphInPlace

    return GraphInPlace.of(opened(arcade))


@pytest.fixture(scope="module")
def arcade(tmp_path_factory):
    require_arcade()
    server = Arcade(tmp_path_factory.mktemp("arcade"))
    server.add_reader()
    server.load(*demo_records())
    yield server
    server.kill()


@pytest.fixture(scope="module")
def in_place(arcade):
    graph = in_place_of(arcade)
    yield graph
    graph.close()


@pytest.fixture(scope="module")
def imported(arcade, tmp_path_factory):
    server = opened(arcade)
    path = tmp_path_factory.mktemp("imported") / "graph"
    import_database(server, path)
    server.close()
    return Graph.open(path)


# ------------------------------------------------------------------------------------------------------------ the same


def key(value):
    """Return a value as text; a list that no ORDER BY made has no order of its own, nor has a node's map."""
    if isinstance(value, list):
        return f"[{', '.join(sorted(map(key, value)))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {key(value[name])}' for name in sorted(value))}}}"
    return json.dumps(value)


def asked(graph, query, parameters=None):
    """Return the columns, the rows as keys and their number; of a refusal its kind."""
    try:
        table = Cypher(graph).query(query, parameters, limit=None)
    except (BadQuery, UnknownType, UnknownProperty) as error:
        return type(error).__name__, str(error).partition(" Near:")[0]
    return table.columns, [tuple(map(key, row)) for row in table.rows], table.total


def same(one, other, *, is_ordered):
    if len(one) == 2 or len(other) == 2 or is_ordered:
        return one == other
    return one[0] == other[0] and Counter(one[1]) == Counter(other[1]) and one[2] == other[2]


DIFFERENT = {  # by what is in the statement, what the server gives
    "toUpper('straße')": ('"STRASSE"', '"STRA\\u1e9eE"'),
}


@pytest.mark.parametrize("line", CONSTRUCTS)
def test_each_form_of_the_guard_gives_the_rows_that_the_store_gives(line, in_place, imported):
    query = line.removeprefix("ordered: ")
    here, there = asked(in_place, query), asked(imported, query)
    for part, (own, other) in DIFFERENT.items():
        if part in query:
            there = json.loads(json.dumps(there).replace(json.dumps(other)[1:-1], json.dumps(own)[1:-1]))
            there = (tuple(there[0]), [tuple(row) for row in there[1]], there[2])
    assert len(there) == 3, there
    assert same(here, there, is_ordered=line.startswith("ordered: ")), (here, there)


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (
            "MATCH (n:language {name: 'C'})-[:designed_by]->(p) "
            "RETURN [x IN [n, p] WHERE toLower(x.name) CONTAINS 'c' | toUpper(x.name)]",
            [(["C", "DENNIS RITCHIE"],)],
        ),
        ("RETURN toString(1.5), [x IN ['a', 'b'] | x + '!'], [1, null, 2]", [("1.5", ["a!", "b!"], [1, None, 2])]),
        (
            "MATCH (n:person) WHERE any(x IN ['Turing Award'] WHERE (n)-[:received]->(:award {name: x})) "
            "RETURN count(n) - COUNT { (:person)-[:received]->(:award {name: 'Turing Award'}) }",
            None,
        ),
        ("MATCH (n:language {name: 'C'}) WITH 'Go' AS o RETURN [x IN ['C', 'Go'] WHERE x <> o]", [(["C"],)]),
        ("MATCH (n:language {name: 'C'}) RETURN split('a-b', substring('x-', 1))", [(["a", "b"],)]),
        ("UNWIND [3, 1, null, 2] AS x RETURN x ORDER BY x", [(1,), (2,), (3,), (None,)]),
        ("MATCH (a:language {name: 'C'}), (b:language) WITH a, collect(b) AS bs RETURN a IN bs", [(True,)]),
    ],
)
def test_a_server_answers_forms_that_the_store_cannot(query, rows, in_place, imported):
    assert asked(imported, query)[0] == "BadQuery"
    if rows is None:
        assert asked(in_place, query)[0] == "BadQuery"
    else:
        assert list(Cypher(in_place).query(query).rows) == rows


def test_a_row_and_what_is_gathered_of_all_are_not_mixed(in_place):
    for query in (
        "MATCH (n:language) RETURN n.name IN collect(n.name)",
        "MATCH (n:language) RETURN count(n) + n.year",
    ):
        with pytest.raises(BadQuery, match=r"mixes count\(\), collect\(\) and the like with values of one row"):
            Cypher(in_place).query(query)
    query = "MATCH (n:language) RETURN n.typing AS t, size(collect(n.name)) + size(n.typing) AS k ORDER BY k DESC, t"
    assert (
        Cypher(in_place).query(query).total
        == Cypher(in_place).query("MATCH (n:language) RETURN DISTINCT n.typing").total
    )


def drawn(chance, schema, nodes):
    """Return a statement of one to three edges that fit the schema, begun anywhere, with conditions on some nodes."""
    triples, edges = sorted(schema.edges), []
    types = [chance.choice(triples)[chance.choice([0, 2])]]
    for _ in range(chance.randint(1, 3)):
        ways = [(triple, True) for triple in triples if triple.source == types[-1]]
        ways += [(triple, False) for triple in triples if triple.target == types[-1]]
        triple, goes = chance.choice(ways)
        arrow = chance.random() < 0.7
        named = f":{triple.type}" if chance.random() < 0.7 else ""
        left, right = ("-", "->" if arrow else "-") if goes else ("<-" if arrow else "-", "-")
        edges.append(f"{left}[r{len(edges)}{named}]{right}")
        types.append(triple.target if goes else triple.source)
    texts, where = [], []
    for place, node_type in enumerate(types):
        label = f":{node_type}" if chance.random() < 0.6 else ""
        node = chance.choice([one for one in nodes if one.type == node_type])
        form = chance.choice(["", "", "id", "name", "where", "year"])
        braces = f" {{{form}: {json.dumps(getattr(node, form))}}}" if form in ("id", "name") else ""
        if form == "where":
            where.append(f"n{place}.id IN {json.dumps([node.id, nodes[0].id])}")
        if form == "year" and label in (":language", ":implementation"):
            where.append(f"n{place}.year > {chance.randint(1950, 2010)}")
        texts.append(f"(n{place}{label}{braces})")
    pattern = texts[0] + "".join(edge + text for edge, text in zip(edges, texts[1:], strict=True))
    begin = chance.choice(["", "", "p = "])
    condition = f" WHERE {' AND '.join(where)}" if where else ""
    shown = "length(p)" if begin else ", ".join(f"type(r{place})" for place in range(len(edges)))
    ids = ", ".join(f"n{place}.id" for place in range(len(types)))
    return f"MATCH {begin}{pattern}{condition} RETURN {ids}, {shown}"


def test_patterns_drawn_at_random_have_the_rows_that_the_store_finds(in_place, imported):
    chance, nodes = random.Random(11), list(demo_records()[0])
    found = 0
    for _ in range(150):
        query = drawn(chance, imported.schema, nodes)
        here, there = asked(in_place, query), asked(imported, query)
        assert same(here, there, is_ordered=False), (query, here, there)
        found += len(there) == 3 and there[2] > 0
    assert found > 40


@pytest.mark.parametrize("case", HONEST, ids=[case["id"] for case in HONEST])
def test_questions_that_people_ask_get_the_rows_that_the_store_gives(case, in_place, imported):
    here, there = (asked(graph, case["query"], case.get("parameters")) for graph in (in_place, imported))
    assert same(here, there, is_ordered=case.get("ordered", False)), (here, there)


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (n:langage) RETURN n",
        "MATCH (n)-[:desined_by]->(m) RETURN n",
        "MATCH (n:language) RETURN n.yaer",
        "MATCH (n:person) RETURN n.typing",
        "MATCH (n:language) WHERE n.year = '1972' RETURN n",
        "MATCH (n:person)-[:designed_by]->(m:language) RETURN n",
        "MATCH (n:language) RETURN m",
        "MATCH (n:language) RETURN size(n)",
        "MATCH (n:language) RETURN nope(n)",
        "MATCH (n:language) WHERE count(n) > 1 RETURN n",
        "MATCH (n) RETURN n.text",
        "MATCH (n) RETURN $missing",
        "MATCH (n:language) RETURN n ORDER BY n",
    ],
)
def test_what_the_store_refuses_is_refused_in_the_same_words(query, in_place, imported):
    here, there = asked(in_place, query), asked(imported, query)
    assert len(there) == 2, there
    assert here == there


def test_the_names_that_a_model_is_told_are_those_of_the_import(in_place, imported):
    here, there = Cypher(in_place).names.catalog, Cypher(imported).names.catalog
    for columns, others in ((here.node_columns, there.node_columns), (here.edge_columns, there.edge_columns)):
        assert {name: (column.kind, set(column.types)) for name, column in columns.items()} == {
            name: (column.kind, set(column.types)) for name, column in others.items()
        }
    assert here.left_out == there.left_out


def test_a_view_needs_an_import(in_place):
    with pytest.raises(BadOption, match="orienteer import bolt://"):
        Cypher(in_place).query("MATCH (n) RETURN n", view=View())


# -------------------------------------------------------------------------------------------------------------- limits


def test_rows_beyond_the_limit_are_counted_and_said_to_be_cut(in_place, imported):
    query = "MATCH (n:language) RETURN n.id ORDER BY n.id"
    here, there = (Cypher(graph).query(query, limit=3) for graph in (in_place, imported))
    assert (here.rows, here.total, here.truncated) == (there.rows, 45, True)
    whole = Cypher(in_place).query(f"{query} LIMIT 3", limit=3)
    assert (whole.total, whole.truncated) == (3, False)
    union = "MATCH (n:language) RETURN n.id AS x UNION ALL MATCH (n:person) RETURN n.id AS x"
    table = Cypher(in_place).query(union, limit=3)
    assert (len(table.rows), table.total, table.truncated) == (3, 8, True)  # four of each part were sent
    assert "the server did not say" in table.notes[0]


def test_an_answer_of_many_characters_is_cut(in_place):
    query = "UNWIND range(1, 5000) AS x MATCH (n:language {name: 'C'}) RETURN n, [n, n, n]"
    table = Cypher(in_place).query(query, limit=None)
    assert table.truncated
    assert 0 < len(table.rows) < table.total == 5_000
    assert len(json.dumps(table.rows)) < 800_000


RUNAWAY = "MATCH (a), (b), (c), (d), (e) WHERE a.name + b.name + c.name + d.name + e.name = 'x' RETURN count(*)"


def test_a_statement_that_takes_too_long_ends_here_and_on_the_server(arcade, in_place):
    with pytest.raises(QueryStopped, match="took longer than 1 s and was stopped"):
        Cypher(in_place).query(RUNAWAY, seconds=1)
    assert Cypher(in_place).query("RETURN 1 AS one").rows == ((1,),)
    for _ in range(100):
        running = [str(row[0]) for row in arcade.cypher("SHOW TRANSACTIONS YIELD currentQuery")]
        if not any("orienteer" in text and "count(*)" in text for text in running):
            break
        time.sleep(0.1)
    else:
        raise AssertionError(running)


def test_a_list_that_is_doubled_again_and_again_is_not_sent(in_place):
    doubled = " ".join("WITH x + x + x + x AS x" for _ in range(10))
    with pytest.raises(BadQuery, match=r"puts more than 1,000 texts or lists together"):
        Cypher(in_place).query(f"WITH ['a'] AS x {doubled} RETURN size(x)")


def test_what_the_server_finds_wrong_is_told_in_one_sentence_without_a_path(in_place):
    with pytest.raises(BadQuery, match=r"^the database cannot answer this form \(.*by zero\): write the query in"):
        Cypher(in_place).query("RETURN 1 / 0")


# ------------------------------------------------------------------------------------------------------------- hostile


def test_hostile_statements_change_nothing(arcade, in_place):
    contents = "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN n.id, labels(n), properties(n), count(r) ORDER BY n.id"
    before, labels = arcade.cypher(contents), arcade.cypher("CALL db.labels()")
    assert len(HOSTILE) + len(BEYOND) >= 140
    for case in HOSTILE:
        with pytest.raises((BadQuery, UnknownType, UnknownProperty, QueryStopped)) as told:
            Cypher(in_place).query(case["query"], case.get("parameters"), seconds=2)
        assert case["kind"] == "bomb" or told.type is not QueryStopped, case
    tools = Toolbox.full(in_place, offers_cypher=True, names_first=False)
    for statement in BEYOND:
        with pytest.raises((BadQuery, UnknownType, UnknownProperty)):
            tools.call("cypher", {"query": statement})
    for text in ESCAPING:
        name = text.replace("`", "``")
        for statement, parameters in (
            ("MATCH (n {name: $x}) RETURN n", {"x": text}),
            ("MATCH (n) WHERE n.name IN $x RETURN n", {"x": [text]}),
            ("RETURN $x AS x", {"x": text}),
            (f"MATCH (n) RETURN count(n) AS `{name}`", {}),
            (f"MATCH (`{name}`:language) RETURN count(`{name}`)", {}),
            (f"RETURN {json.dumps(text, ensure_ascii=False)} AS x, {{`{name}`: 1}} AS y", {}),
        ):
            try:
                table = Cypher(in_place).query(statement, parameters)
            except (BadQuery, UnknownType, UnknownProperty):
                continue
            if statement == "RETURN $x AS x":
                assert table.rows == ((text,),)
    assert arcade.cypher(contents) == before
    assert arcade.cypher("CALL db.labels()") == labels


# ------------------------------------------------------------------------------------------------------------- methods


def told(result):
    """Return what a method's course has come to, step by step: calls, and what the tools said and showed."""
    steps = []
    for trajectory in result.trajectories:
        for step in trajectory.steps:
            calls = [(call.name, call.arguments) for call in step.reply.message.tool_calls]
            seen = [(observed.text, observed.nodes, observed.error) for observed in step.observations]
            steps.append((calls, seen, step.reply.message.content))
    return steps


def both(in_place, imported, method, policy, question, **options):
    """Ask both stores with a scripted model; return the results."""
    return [
        Retriever(graph, method, model=ScriptedModel(policy), settings=Settings(), **options).ask(question)
        for graph in (in_place, imported)
    ]


def hits(result):
    return [(hit.id, hit.why) for hit in result.hits]


def test_cypher_takes_the_same_steps_in_place_and_over_an_import(in_place, imported):
    query = "MATCH (l:language)-[:designed_by]->(p:person {name: 'Niklaus Wirth'}) RETURN l ORDER BY l.id"

    def policy(messages, tools, sampling):
        prompt = messages[-1].content
        if prompt.startswith("Query:"):
            return "Both stand there. Answer: Pascal, Modula-2"
        return query if "It was refused" in prompt else query.replace(":language", ":langage")

    here, there = both(in_place, imported, "cypher", policy, "Which languages did Niklaus Wirth design?", repair=1)
    assert here.answer == there.answer == "Pascal, Modula-2"
    assert [hit.id for hit in here.hits][:2] == ["language:pascal", "language:modula-2"]
    asked_here, asked_there = (
        [(calls, seen) for calls, seen, _ in told(result) if calls and calls[0][0] == "cypher"]
        for result in (here, there)
    )
    assert len(asked_here) == 2
    assert asked_here == asked_there
    assert [hit.id for hit in here.hits if hit.why != "found by the question"] == [
        hit.id for hit in there.hits if hit.why != "found by the question"
    ]


CODE = """
query = "MATCH (l:language)-[:designed_by]->(p:person {name: $name}) RETURN l, p.name ORDER BY l.id"
rows = cypher(query, {"name": "Niklaus Wirth"})
for row in rows:
    print(row["l"]["id"], row["l"].get("year"), row["p.name"])
try:
    cypher("MATCH (l:langage) RETURN l")
except Exception as error:
    print(error)
print(find("Pascal", 1))
"""


def test_graphscout_takes_the_same_steps_in_place_and_over_an_import(in_place, imported):
    pytest.importorskip("pydantic_monty")

    def policy(messages, tools, sampling):
        turn = sum(message.role == "assistant" for message in messages)
        if turn == 0:
            return [("node_id_retriever", {"queries": ["Niklaus Wirth"]})]
        return [("code_interpreter", {"code": CODE})] if turn == 1 else "\\answer{Pascal, Modula-2}"

    here, there = both(in_place, imported, "graphscout", policy, "Which languages did Niklaus Wirth design?")
    assert here.answer == there.answer == "Pascal, Modula-2"
    assert told(here) == told(there)
    assert "language:pascal 1970 Niklaus Wirth" in told(here)[1][1][0][0]
    assert hits(here) == hits(there)


PLAN = {
    "steps": [
        {"op": "lexical_search", "query": "Bell Labs", "node_types": ["organization"], "k": 1, "into": "labs"},
        {"op": "match", "start": "labs", "edge_types": ["worked_at"], "node_types": ["person"], "into": "people"},
        {
            "op": "cypher",
            "query": "MATCH (p:person)<-[:designed_by]-(l:language) WHERE l.year > 1969 RETURN p ORDER BY p.id",
            "into": "designers",
        },
        {"op": "intersect", "of": ["people", "designers"], "into": "both"},
        {"op": "filter", "of": "both", "property": "born", "comparison": "<", "value": 1945, "into": "old"},
        {"op": "order", "of": "old", "property": "born", "descending": False, "into": "ordered"},
    ],
    "answer": "ordered",
}


def test_spark_takes_the_same_steps_in_place_and_over_an_import(in_place, imported):
    def policy(messages, tools, sampling):
        return json.dumps(PLAN)

    here, there = both(in_place, imported, "spark", policy, "Who of Bell Labs designed a language?", fill=False)
    assert hits(here) == hits(there)
    assert here.hits
    ways = [
        [(calls, [(nodes, error) for _, nodes, error in seen]) for calls, seen, _ in told(result) if calls]
        for result in (here, there)
    ]
    assert ways[0][1:] == ways[1][1:]
    assert here.notes == there.notes


def test_graph_cot_takes_the_same_steps_in_place_and_over_an_import(in_place, imported):
    actions = (
        "Thought: find him\nAction: RetrieveNode[Niklaus Wirth]",
        "Thought: look\nAction: NeighbourCheck[person:niklaus-wirth, designed_by]",
        "Thought: count\nAction: NodeDegree[person:niklaus-wirth, designed_by]",
        "Thought: read\nAction: NodeFeature[language:pascal, year]",
        "Thought: done\nAction: Finish[Pascal]",
    )

    def policy(messages, tools, sampling):
        step = int(messages[1].content.rstrip().rpartition("Step ")[2].rstrip("."))
        return actions[min(step, len(actions)) - 1]

    here, there = both(in_place, imported, "graph-cot", policy, "When was Wirth's first language made?")
    assert here.answer == there.answer == "Pascal"
    assert hits(here)[0] == hits(there)[0] == ("language:pascal", "named in the answer")
    assert {hit for hit, _ in hits(here)} == {hit for hit, _ in hits(there)}


@pytest.mark.parametrize("method", ["anchor", "sage", "polyg", "hybrid", "think-on-graph", "graph-counselor"])
def test_methods_that_need_the_arrays_name_the_import_and_the_others(method, in_place):
    with pytest.raises(
        BadOption, match=r"orienteer import bolt://.* In place, with a model, answers: ark, spark, "
    ) as told_:
        Retriever(in_place, method, model=ScriptedModel(lambda *_: ""), settings=Settings())
    assert {"ark", "cypher", "graphscout", "spark", "graph-cot"} <= set(
        str(told_.value).rpartition(": ")[2].split(", ")
    )


# ---------------------------------------------------------------------------------------------------------- conditions


@pytest.mark.parametrize(
    "where",
    [
        ["year >= 1990"],
        ["year = 1972"],
        ["year != 1972"],
        ["typing = Static"],
        ["typing != static"],
        ["year < 1980", "typing = static"],
        ["YEAR > 2000"],
        ["born < 1930"],
    ],
)
def test_conditions_on_properties_pass_the_nodes_that_they_pass_in_the_store(where, in_place, imported):
    for graph, found in (pair := [(in_place, []), (imported, [])]):
        tools = Toolbox.full(graph, names_first=False)
        call = {"query": "language person designed", "k": 100, "where": where}
        found.append(sorted(tools.call("search_in_graph", call).nodes))
        around = graph.neighbors(["Bell Labs", "C", "Niklaus Wirth"], where=where, k=100)
        found.append((around.total, sorted(hit.id for hit in around.hits)))
    assert pair[0][1][1] == pair[1][1][1]
    assert set(pair[0][1][0]) <= set(pair[1][1][0])  # the store finds other forms of the words, too
    assert pair[0][1][0] or where == ["year = 1972"]


def test_a_condition_on_what_no_node_has_is_refused(in_place):
    with pytest.raises(UnknownProperty, match=r"No node has a property 'yaer'\. Near: year"):
        in_place.neighbors("C", where=["yaer > 1"])


# ------------------------------------------------------------------------------- a database that was not made for us


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """Nodes of several labels, with whole numbers for ids, other names for names, dates, points, vectors and lists."""
    require_arcade()
    server = Arcade(tmp_path_factory.mktemp("odd"))
    server.add_reader()
    server.sql("CREATE VERTEX TYPE `All` IF NOT EXISTS")
    for name in ("title", "name", "first_name"):
        server.sql(f"CREATE PROPERTY `All`.{name} IF NOT EXISTS STRING")
    server.cypher(
        "UNWIND range(1, 6) AS x CREATE (n:All:Film {id: x, title: 'Film ' + toString(x), year: 1950 + x, "
        "released: date('2001-01-0' + toString(x)), place: point({x: x, y: 2}), tags: ['a', toString(x)], "
        "`odd ``key`: x * 1.5, vector: [v IN range(1, 64) | v * 0.5]})"
    )
    server.cypher(
        "UNWIND range(11, 14) AS x CREATE (n:All:Person {id: x, first_name: 'Ada', last_name: 'Number ' + toString(x)})"
    )
    server.cypher(
        "UNWIND range(21, 22) AS x CREATE (n:All:Person:Actor {id: x, name: 'Actor ' + toString(x), rating: 0.5})"
    )
    server.cypher(
        "MATCH (p:Person), (f:Film) WHERE (p.id + f.id) % 3 = 0 CREATE (p)-[:`PLAYS IN` {since: date('1999-12-31'), "
        "role: 'r' + toString(f.id)}]->(f)"
    )
    server.cypher("CREATE (n:All:Film {id: 7, title: 1984, year: 1984})")
    server.cypher("MATCH (a:Actor {id: 21}), (b:Actor {id: 22}) CREATE (a)-[:KNOWS]->(b), (a)-[:KNOWS]->(a)")
    server.sql("CREATE INDEX IF NOT EXISTS ON `All` (title, name, first_name) FULL_TEXT")
    graph = in_place_of(server)
    reader = opened(server)
    path = tmp_path_factory.mktemp("odd-imported") / "graph"
    import_database(reader, path)
    reader.close()
    yield graph, Graph.open(path)
    graph.close()
    server.kill()


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (n) RETURN n.id, n.name, labels(n)",
        "MATCH (n:Person) RETURN n.id",
        "MATCH (n:Actor) RETURN n.id, n.name, n.rating",
        "MATCH (n:Actor|Film) RETURN count(n)",
        "MATCH (n) WHERE n:Person RETURN n.name",
        "MATCH (n) WHERE NOT n:Person RETURN count(n)",
        "MATCH (n) WHERE 'Person' IN labels(n) RETURN n.id",
        "MATCH (n {id: '3'}) RETURN n.name",
        "MATCH (n) WHERE n.id IN ['3', '21'] RETURN n.name",
        "MATCH (n:Film) WHERE n.name = 'Film 2' RETURN n.year",
        "MATCH (n) WHERE n.name STARTS WITH 'Ada' RETURN n.name",
        "MATCH (n:Film {name: '1984'}) RETURN n.name, n.year",
        "MATCH (n:Film) RETURN n.released ORDER BY n.released",
        "MATCH (n:Film) WHERE n.released > '2001-01-03' RETURN n.id",
        "MATCH (n:Film) WHERE date(n.released) > date('2001-01-03') RETURN n.id, date(n.released).day",
        "MATCH (n:Film) RETURN n.tags, n.tags[0], size(n.tags)",
        "MATCH (n:Film) WHERE 'a' IN n.tags AND '3' IN n.tags RETURN n.id",
        "MATCH (n:Film) RETURN n.`odd ``key`",
        "MATCH (p:Person)-[r:`PLAYS IN`]->(f) RETURN p.id, r.role, r.since, f.name",
        "MATCH (p:Actor)-[r:`plays in`]->(f) RETURN p, f",
        "MATCH (p)-[:ACTOR_PLAYS_IN_FILM]->(f) RETURN p.id, f.id",
        "MATCH (p:Actor)-[r:PLAYS_IN]->(f:Film) RETURN r",
        "MATCH (a:Actor)-[:KNOWS]-(b) WHERE a.id <> b.id RETURN a.id, b.id",
    ],
)
def test_labels_ids_names_and_times_are_read_as_an_import_reads_them(query, odd):
    here, there = (asked(graph, query) for graph in odd)
    assert len(there) == 3, there
    assert same(here, there, is_ordered=False), (here, there)


def test_what_statements_cannot_ask_for_is_said_with_the_reason(odd):
    here, _ = odd
    with pytest.raises(UnknownProperty, match="it holds points"):
        Cypher(here).query("MATCH (n:Film) RETURN n.place")
    with pytest.raises(UnknownProperty, match="No node has a property 'vector'"):
        Cypher(here).query("MATCH (n:Film) RETURN n.vector")
    with pytest.raises(UnknownType, match="No node type 'All'"):
        Cypher(here).query("MATCH (n:All) RETURN n")


def test_a_loop_is_in_place_and_not_in_the_store(odd):
    here, there = (Cypher(graph).query("MATCH (a)-[r:KNOWS]->(b) RETURN count(r)").rows for graph in odd)
    assert (here, there) == (((2,),), ((1,),))


# ------------------------------------------------------------------------------------------------------- a server dies


STATEMENT = "MATCH (n:language) RETURN n.id LIMIT 2"
WHILE_DEAD = {  # by method the turn in which the server dies, and what the model says in each turn
    "graphscout": (1, Answer(calls=[("code_interpreter", {"code": f'print(cypher("{STATEMENT}"))'})])),
    "cypher": (0, Answer(content=STATEMENT)),
    "spark": (
        0,
        Answer(content=json.dumps({"steps": [{"op": "cypher", "query": STATEMENT, "into": "a"}], "answer": "a"})),
    ),
    "graph-cot": (0, Answer(content="Thought: look\nAction: RetrieveNode[Modula]")),
}


@pytest.mark.parametrize("method", WHILE_DEAD)
def test_a_server_that_dies_in_mid_question_is_told_in_one_sentence_and_the_trace_kept(method, tmp_path):
    from ingest.test_in_place import _command

    require_arcade()
    (tmp_path / "server").mkdir()
    arcade = Arcade(tmp_path / "server")
    last, answer = WHILE_DEAD[method]
    try:
        arcade.add_reader()
        arcade.load(*demo_records())

        def course(body, before):
            if sum(message["role"] == "assistant" for message in body["messages"]) == last:
                arcade.kill()
            return answer

        trace = tmp_path / "trace.jsonl"
        with FakeServer(course) as model:
            flags = ("Which language?", "--method", method, "--model", "fake", "--base-url", model.url)
            environment = arcade.environment(user="reader") | {"OPENAI_API_KEY": "none"}
            run = _command("ask", arcade.address, *flags, "--trace", trace, environment=environment)
    finally:
        arcade.kill()
    assert run.returncode == 1, run.stderr
    assert run.stderr.splitlines()[-1].startswith("error: no database server answers at bolt://127.0.0.1:")
    assert "Traceback" not in run.stderr
    first, *others = map(json.loads, trace.read_text(encoding="utf-8").splitlines())
    assert first["stopped_by"] == "error"
    assert first["steps"] or others
    assert arcade.reader not in run.stderr


def test_a_person_asks_a_database_in_cypher_at_the_command_line(arcade):
    from ingest.test_in_place import _command

    environment = arcade.environment(user="reader")
    query = "MATCH (l:language)-[:designed_by]->(p:person {name: $name}) RETURN l ORDER BY l.year"
    run = _command("cypher", arcade.address, query, "--param", "name=Niklaus Wirth", environment=environment)
    assert run.stdout.splitlines()[1:] == [
        "Pascal (language:pascal)",
        "Modula-2 (language:modula-2)",
        "Oberon (language:oberon)",
    ]
    run = _command("cypher", arcade.address, "CREATE (n) RETURN n", environment=environment)
    assert run.returncode == 2
    assert run.stderr.splitlines()[-1].startswith("error: CREATE is not allowed: the graph can only be read")
