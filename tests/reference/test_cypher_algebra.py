"""Random statements over random multigraphs: the algebra gives the rows that brute force gives.

Brute force walks every edge from every node in plain Python. Graphs have loops, parallel edges, shared names and
nulls; statements have lengths, OPTIONAL, EXISTS, COUNT, groups, order and pages, and repeat names.
"""

import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import pytest

from orienteer.cypher import ArraysEngine, Cypher
from orienteer.errors import BadQuery
from orienteer.graph import Graph
from orienteer.records import Edge, Node

NODE_TYPES, EDGE_TYPES = ("A", "B", "C"), ("R", "S", "T")
MOST_STEPS = 100_000
"""Edges that brute force walks for one statement; longer ones are passed over."""


# A random graph.


def random_graph(draw, *, loops):
    nodes = []
    for number in range(9):
        properties = {}
        if draw.random() < 0.75:
            properties["year"] = draw.choice([1990, 1991, 1992, 1993])
        if draw.random() < 0.6:
            properties["tag"] = draw.choice(["red", "green", "gray", "re"])
        if draw.random() < 0.5:
            properties["score"] = draw.choice([0.5, 1.5, 2.0])
        node_type = NODE_TYPES[number] if number < 3 else draw.choice(NODE_TYPES)
        nodes.append(Node(f"n{number}", node_type, f"name {number % 5}", properties=properties))
    edges = []
    for _ in range(18):
        source, target = draw.choice(nodes).id, draw.choice(nodes).id
        properties = {"w": draw.randrange(4)} if draw.random() < 0.7 else {}
        if loops or source != target:
            edge = Edge(source, draw.choice(EDGE_TYPES), target, properties=properties)
            edges += [edge] * draw.choice([1, 1, 1, 2])
    return nodes, edges


# A random statement: its parts, and its text.


@dataclass(frozen=True)
class Spot:
    name: str
    types: tuple = ()

    def __str__(self):
        return f"({self.name}{':' * bool(self.types)}{'|'.join(self.types)})"


@dataclass(frozen=True)
class Link:
    name: str
    types: tuple
    direction: str
    hops: tuple | None

    def __str__(self):
        length = f"*{self.hops[0]}..{self.hops[1]}" if self.hops else ""
        body = f"-[{self.name}{':' * bool(self.types)}{'|'.join(self.types)}{length}]-"
        return f"{'<' * (self.direction == 'in')}{body}{'>' * (self.direction == 'out')}"


@dataclass(frozen=True)
class Chain:
    spots: tuple
    links: tuple

    def __str__(self):
        return str(self.spots[0]) + "".join(f"{a}{b}" for a, b in zip(self.links, self.spots[1:], strict=True))

    @property
    def names(self):
        return list(dict.fromkeys(spot.name for spot in self.spots))


@dataclass
class Statement:
    chains: list
    where: object
    optional: tuple | None
    ending: str
    names: list
    edges: list
    key: str = ""
    counted: str = ""
    page: tuple = field(default=())

    def __str__(self):
        text = f"MATCH {', '.join(map(str, self.chains))}{_where(self.where)}"
        if self.optional:
            text += f" OPTIONAL MATCH {self.optional[0]}{_where(self.optional[1])}"
        a, b = self.key, self.counted
        if self.ending == "count":
            return f"{text} RETURN count(*) AS k"
        if self.ending == "rows":
            return f"{text} RETURN " + ", ".join([f"{n}.id" for n in self.names] + [f"{e}.w" for e in self.edges])
        if self.ending == "distinct":
            return f"{text} RETURN DISTINCT " + ", ".join(f"{n}.id" for n in self.names)
        if self.ending == "group":
            return (
                f"{text} RETURN {a}.tag AS k, count(*) AS n, count({b}.year) AS c, count(DISTINCT {b}) AS d, "
                f"sum({b}.year) AS s, min({b}.tag) AS lo, max({b}.year) AS hi, avg({b}.score) AS m"
            )
        least, skip, limit = self.page
        return (
            f"{text} WITH {a} AS a, count(DISTINCT {b}) AS k WHERE k > {least} "
            f"RETURN a.id AS i, k ORDER BY k DESC, i SKIP {skip} LIMIT {limit}"
        )


def _where(condition):
    return "" if condition is None else f" WHERE {text_of(condition)}"


class Drawing:
    """Draws a statement."""

    def __init__(self, draw):
        self.draw, self.numbers = draw, iter(range(1000))

    def fresh(self):
        return f"v{next(self.numbers)}"

    def chain(self, known, length, reuse, first=None):
        draw, spots = self.draw, []
        for at in range(length + 1):
            name = first if at == 0 and first else self.fresh()
            if not (at == 0 and first) and known and draw.random() < reuse:
                name = draw.choice(known)
            spots.append(Spot(name, (draw.choice(NODE_TYPES),) if draw.random() < 0.25 else ()))
            if name not in known:
                known.append(name)
        links = tuple(
            Link(
                self.fresh(),
                tuple(draw.sample(EDGE_TYPES, draw.choice([0, 1, 1, 2]))),
                draw.choice(["out", "in", "both"]),
                draw.choice([(1, 2), (2, 2), (0, 2), (1, 3)]) if draw.random() < 0.15 else None,
            )
            for _ in range(length)
        )
        return Chain(tuple(spots), links)

    def condition(self, names, edges, depth=0):
        draw = self.draw
        if depth < 2 and draw.random() < 0.4:
            joined = draw.choice(["AND", "OR", "NOT"])
            parts = [self.condition(names, edges, depth + 1) for _ in range(1 if joined == "NOT" else 2)]
            return (joined, *parts)
        return self.atom(names, edges)

    def atom(self, names, edges, is_inner=False):
        draw = self.draw
        name, sign = draw.choice(names), draw.choice(["=", "<>", "<", "<=", ">", ">="])
        kind = draw.choice(["value", "two", "text", "in", "null", "label", "same", "edge", "inner", "inner"])
        if kind == "two":
            return ("compare", (name, "year"), sign, (draw.choice(names), "year"))
        if kind == "text":
            return ("text", name, draw.choice(["CONTAINS", "STARTS WITH", "ENDS WITH"]), draw.choice(["re", "d", "gr"]))
        if kind == "in":
            return ("in", name, tuple(draw.sample(["red", "green", "gray", "re"], 2)))
        if kind == "null":
            return ("null", name, draw.choice(["year", "tag", "score"]), draw.choice(["IS NULL", "IS NOT NULL"]))
        if kind == "label":
            return ("label", name, draw.choice(NODE_TYPES))
        if kind == "same" and len(names) > 1:
            return ("same", name, draw.choice(["=", "<>"]), draw.choice(names))
        if kind == "edge" and edges:
            return ("compare", (draw.choice(edges), "w"), sign, draw.choice([0, 1, 2]))
        if kind == "inner" and not is_inner:
            known = list(names)
            chain = self.chain(known, draw.choice([1, 1, 2]), 0.25, first=name)
            inner = [other for other in chain.names if other not in names]
            where = self.atom(inner + names, [], True) if inner and draw.random() < 0.5 else None
            if draw.random() < 0.6:
                return ("exists", chain, where)
            return ("counted", chain, where, draw.choice(["=", "<", ">"]), draw.choice([0, 1, 2]))
        return ("compare", (name, "year"), sign, draw.choice([1990, 1991, 1992]))

    def statement(self):
        draw, known = self.draw, []
        chains = [self.chain(known, draw.choice([1, 1, 2, 2, 3]), 0.2)]
        if draw.random() < 0.3:
            chains.append(self.chain(known, draw.choice([1, 2]), 0.5))
        names = list(known)
        edges = [link.name for chain in chains for link in chain.links if not link.hops]
        where = self.condition(names, edges) if draw.random() < 0.7 else None
        optional = None
        if draw.random() < 0.4:
            chain = self.chain(known, draw.choice([1, 2, 2]), 0.15, first=draw.choice(names))
            new = [name for name in chain.names if name not in names]
            inside = self.atom(new + names, [], True) if new and draw.random() < 0.5 else None
            optional = (chain, inside, new)
        every = names + (optional[2] if optional else [])
        ending = draw.choice(["count", "rows", "distinct", "group", "page"])
        return Statement(
            chains,
            where,
            optional,
            ending,
            draw.sample(every, min(len(every), draw.choice([1, 2]))),
            draw.sample(edges, min(len(edges), draw.choice([0, 1]))),
            draw.choice(every),
            draw.choice(every),
            (draw.choice([0, 1, 2]), draw.choice([0, 1]), draw.choice([2, 5])),
        )


def text_of(condition):
    kind, *parts = condition
    if kind in ("AND", "OR"):
        return f"({text_of(parts[0])} {kind} {text_of(parts[1])})"
    if kind == "NOT":
        return f"NOT ({text_of(parts[0])})"
    if kind == "compare":
        (name, key), sign, other = parts
        return f"{name}.{key} {sign} {f'{other[0]}.{other[1]}' if isinstance(other, tuple) else other}"
    if kind == "text":
        return f"{parts[0]}.tag {parts[1]} '{parts[2]}'"
    if kind == "in":
        return f"{parts[0]}.tag IN {list(parts[1])}"
    if kind == "null":
        return f"{parts[0]}.{parts[1]} {parts[2]}"
    if kind == "label":
        return f"{parts[0]}:{parts[1]}"
    if kind == "same":
        return f"{parts[0]} {parts[1]} {parts[2]}"
    body = f"{{ MATCH {parts[0]}{_where(parts[1])} }}"
    return f"EXISTS {body}" if kind == "exists" else f"COUNT {body} {parts[2]} {parts[3]}"


# Brute force.


class TooLong(Exception):
    pass


class BruteForce:
    """Answers statements. A node is its id, an edge its number, a missing one None."""

    def __init__(self, nodes, edges):
        self.nodes, self.edges = {node.id: node for node in nodes}, edges
        self.around = defaultdict(list)
        for number, edge in enumerate(edges):
            self.around[edge.source].append((number, edge.type, edge.target, "out"))
            if edge.source != edge.target:
                self.around[edge.target].append((number, edge.type, edge.source, "in"))
        self.steps = 0

    def follow(self, node, link):
        for number, edge_type, other, direction in self.around[node]:
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise TooLong
            fits = link.direction in ("both", direction) or other == node
            if fits and (not link.types or edge_type in link.types):
                yield number, other

    def rows(self, chains, row, used=frozenset()):
        """Yield every way to lay some chains; an edge serves once."""
        if not chains:
            yield row
            return
        first, *rest = chains
        spot = first.spots[0]
        for node in [row[spot.name]] if spot.name in row else list(self.nodes):
            if node is not None and self.fits(spot, node, row):
                for longer, more in self.along(first, 0, {**row, spot.name: node}, used):
                    yield from self.rows(rest, longer, more)

    def fits(self, spot, node, row):
        return row.get(spot.name, node) == node and (not spot.types or self.nodes[node].type in spot.types)

    def along(self, chain, at, row, used):
        if at == len(chain.links):
            yield row, used
            return
        link, spot = chain.links[at], chain.spots[at + 1]
        least, most = link.hops or (1, 1)

        def walks(node, trail):
            if len(trail) >= least:
                yield node, trail
            if len(trail) < most:
                for number, other in self.follow(node, link):
                    if number not in trail and number not in used:
                        yield from walks(other, [*trail, number])

        for node, trail in walks(row[chain.spots[at].name], []):
            if self.fits(spot, node, row):
                edge = trail if link.hops else trail[0]
                yield from self.along(chain, at + 1, {**row, spot.name: node, link.name: edge}, used.union(trail))

    def value(self, row, name, key):
        thing = row[name]
        if thing is None:
            return None
        if isinstance(thing, int):
            return self.edges[thing].properties.get(key)
        return thing if key == "id" else self.nodes[thing].properties.get(key)

    def test(self, condition, row):
        """Return whether a condition holds: True, False, or None for null."""
        kind, *parts = condition
        if kind in ("AND", "OR"):
            results, decisive = [self.test(part, row) for part in parts], kind == "OR"
            return decisive if decisive in results else None if None in results else not decisive
        if kind == "NOT":
            result = self.test(parts[0], row)
            return None if result is None else not result
        if kind in ("exists", "counted"):
            count = sum(parts[1] is None or self.test(parts[1], inner) is True for inner in self.rows([parts[0]], row))
            return count > 0 if kind == "exists" else self.compare(count, parts[2], parts[3])
        if kind == "null":
            return (self.value(row, parts[0], parts[1]) is None) == (parts[2] == "IS NULL")
        if kind == "same":
            return self.compare(row[parts[0]], parts[1], row[parts[2]])
        if kind == "compare":
            (name, key), sign, other = parts
            return self.compare(
                self.value(row, name, key), sign, self.value(row, *other) if isinstance(other, tuple) else other
            )
        if kind == "label":
            return None if row[parts[0]] is None else self.nodes[row[parts[0]]].type == parts[1]
        tag = self.value(row, parts[0], "tag")
        if tag is None:
            return None
        if kind == "in":
            return tag in parts[1]
        return {"CONTAINS": parts[2] in tag, "STARTS WITH": tag.startswith(parts[2])}.get(
            parts[1], tag.endswith(parts[2])
        )

    @staticmethod
    def compare(a, sign, b):
        if a is None or b is None:
            return None
        if sign in ("=", "<>"):
            return (a == b) == (sign == "=")
        return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[sign]

    def answer(self, statement):
        """Return the rows, as a list if they have an order, else counted."""
        rows = [
            row
            for row in self.rows(statement.chains, {})
            if statement.where is None or self.test(statement.where, row) is True
        ]
        if statement.optional:
            chain, where, new = statement.optional
            longer = []
            for row in rows:
                more = [r for r in self.rows([chain], row) if where is None or self.test(where, r) is True]
                longer += more or [{**row, **dict.fromkeys(new)}]
            rows = longer
        if statement.ending == "count":
            return Counter([(len(rows),)])
        if statement.ending in ("rows", "distinct"):
            found = [
                tuple(
                    [row[name] for name in statement.names]
                    + [self.value(row, edge, "w") for edge in statement.edges if statement.ending == "rows"]
                )
                for row in rows
            ]
            return Counter(found if statement.ending == "rows" else set(found))
        if statement.ending == "group":
            return self.groups(statement, rows)
        counted = defaultdict(set)
        for row in rows:
            counted[row[statement.key]].add(row[statement.counted])
        least, skip, limit = statement.page
        pairs = [(key, len(nodes - {None})) for key, nodes in counted.items()]
        pairs = sorted((pair for pair in pairs if pair[1] > least), key=lambda p: (-p[1], p[0] is None, p[0]))
        return pairs[skip : skip + limit]

    def groups(self, statement, rows):
        groups = defaultdict(list)
        for row in rows:
            groups[self.value(row, statement.key, "tag")].append(row)
        found = []
        for key, members in groups.items():
            of = {
                name: [v for row in members if (v := self.value(row, statement.counted, name)) is not None]
                for name in ("year", "tag", "score")
            }
            distinct = {row[statement.counted] for row in members} - {None}
            mean = round(sum(of["score"]) / len(of["score"]), 9) if of["score"] else None
            counts = len(members), len(of["year"]), len(distinct), sum(of["year"])
            found.append((key, *counts, min(of["tag"], default=None), max(of["year"], default=None), mean))
        return Counter(found)


def given(table, statement):
    rows = [tuple(round(v, 9) if isinstance(v, float) else v for v in row) for row in table.rows]
    return rows if statement.ending == "page" else Counter(rows)


def check(seeds, per_graph):
    """Compare the answers of the algebra; return how many were equal, and how many were refused rightly or not."""
    counts = Counter()
    for seed in seeds:
        for loops in (True, False):
            nodes, edges = random_graph(random.Random(f"graph {seed}"), loops=loops)
            force, cypher = BruteForce(nodes, edges), Cypher(Graph.from_records(nodes, edges), ArraysEngine)
            for number in range(per_graph):
                statement = Drawing(random.Random(f"{seed} {number}")).statement()
                force.steps = 0
                try:
                    right = force.answer(statement)
                except TooLong:
                    counts["too long"] += 1
                    continue
                try:
                    found = given(cypher.query(str(statement), limit=None), statement)
                except BadQuery as error:
                    is_empty = right in ([], Counter(), Counter([(0,)]))
                    is_fair = "No edge of this graph fits" in str(error) and is_empty
                    counts["nothing fits" if is_fair else "refused"] += 1
                    continue
                assert found == right, (seed, loops, number, str(statement))
                counts["equal"] += 1
    return counts


def test_random_statements_are_answered_as_by_brute_force():
    counts = check(range(4), 20)
    assert counts["equal"] >= 120
    assert counts["refused"] <= 3


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_a_thousand_more_random_statements_are_answered_as_by_brute_force():
    counts = check(range(4, 30), 25)
    assert counts["equal"] >= 1_000
    assert counts["refused"] <= 0.02 * counts["equal"]


# Proofs of rows.


def _shown(thing):
    """Yield the nodes and the edges in a laid value, as records."""
    for part in thing if isinstance(thing, list) else [] if thing is None else [thing]:
        if "id" in part:
            yield Node(part["id"], part["type"], part["name"], properties=part["properties"])
        else:
            yield Edge(part["source"], part["type"], part["target"], properties=part.get("properties", {}))


def _conjuncts(condition):
    if condition is None or condition[0] != "AND":
        return [] if condition is None else [condition]
    return [part for half in condition[1:] for part in _conjuncts(half)]


def _ids(laid, names):
    return {name: laid[name] and laid[name]["id"] for name in names}


def check_proof(statement, force, proof):
    """Check every row that is laid: alone, as a graph, it holds its pattern, and in the whole graph the condition."""
    laid_here = proof.laid if proof.before is None else proof.before.laid
    names = list(dict.fromkeys(name for chain in statement.chains for name in chain.names))
    for laid in laid_here:
        parts = [part for value in laid.values() for part in _shown(value)]
        nodes = {part.id: part for part in parts if isinstance(part, Node)}
        edges = [part for part in parts if isinstance(part, Edge)]
        # The nodes between the ends of a walk are told by its edges.
        ends = {end for edge in edges for end in (edge.source, edge.target)} - nodes.keys()
        alone = BruteForce([*nodes.values(), *(force.nodes[end] for end in ends)], edges)
        due = _ids(laid, names)
        found = [row for row in alone.rows(statement.chains, {}) if {name: row[name] for name in names} == due]
        assert found, (str(statement), laid)
        # What EXISTS asks for is laid as well.
        needs = [part for part in _conjuncts(statement.where) if part[0] == "exists"]
        assert any(all(alone.test(part, row) for part in needs) for row in found), (str(statement), laid)
        whole = [row for row in force.rows(statement.chains, {}) if {name: row[name] for name in names} == due]
        assert statement.where is None or any(force.test(statement.where, row) is True for row in whole)
        if statement.optional and statement.optional[2]:
            chain, _, new = statement.optional
            if all(laid[name] is not None for name in new):
                rows = alone.rows([chain], due)
                assert any({name: row[name] for name in new} == _ids(laid, new) for row in rows)
    return len(laid_here)


def proved(statement, force, cypher):
    """Prove the first rows of the answer to a statement; return how many, each checked."""
    try:
        table, count = cypher.query(str(statement), limit=3, proofs=3), 0
    except BadQuery:
        return 0
    for row, proof in zip(table.rows, table.proofs, strict=True):
        due = 1
        if statement.ending in ("count", "group", "page"):
            number = row[table.columns.index("n" if statement.ending == "group" else "k")]
            due = min(number, 3) if statement.ending != "page" else number > 0
        assert check_proof(statement, force, proof) >= due, (str(statement), row)
        count += due > 0
    return count


def test_what_a_row_of_a_random_statement_rests_on_is_enough_for_it():
    statements = rows = 0
    for seed in range(30):
        nodes, edges = random_graph(random.Random(f"graph {seed}"), loops=True)
        force, cypher = BruteForce(nodes, edges), Cypher(Graph.from_records(nodes, edges), ArraysEngine)
        for number in range(25):
            statement = Drawing(random.Random(f"proof {seed} {number}")).statement()
            force.steps = 0
            try:
                force.answer(statement)
                count = proved(statement, force, cypher)
            except TooLong:
                continue
            statements, rows = statements + (count > 0), rows + count
    assert statements >= 300
    assert rows >= 600
