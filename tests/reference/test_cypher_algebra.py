"""Random Cypher over random graphs: the algebra against brute force, row by row."""

import json
import random
from collections import Counter, defaultdict

import pytest

from orienteer.cypher import ArrayEngine, Cypher
from orienteer.errors import BadQuery, UnknownProperty, UnknownType
from orienteer.graph import Graph
from orienteer.records import Edge, Node

TYPES = ("Town", "River", "Road")
EDGES = ("near", "feeds", "crosses")
MOST_STEPS = 150_000  # of brute force: longer statements are left out
FEW, MANY = (6, 30), (40, 30)
"""Graphs, and statements over each."""


def random_graph(chance, *, has_loops):
    """Return nodes that share names, and edges in parallel, some with a property `w`."""
    nodes = []
    for number in range(chance.randint(5, 9)):
        properties = {}
        if chance.random() < 0.7:
            properties["year"] = chance.choice((1990, 1991, 1992))
        if chance.random() < 0.6:
            properties["tag"] = chance.choice(("red", "green", "gray"))
        if chance.random() < 0.5:
            properties["score"] = chance.choice((0.5, 1.5, 2.5))
        nodes.append(Node(f"n{number}", chance.choice(TYPES), f"name {number // 2}", "", (), properties))
    edges = []
    for _ in range(chance.randint(8, 18)):
        source, target = chance.choice(nodes), chance.choice(nodes)
        if source is target and not has_loops:
            continue
        properties = {"w": chance.randrange(4)} if chance.random() < 0.7 else {}
        edge = Edge(source.id, chance.choice(EDGES), target.id, properties=properties)
        edges += [edge] * (2 if chance.random() < 0.25 else 1)
    return nodes, edges


class TooLong(Exception):
    """Brute force would take too long."""


class Brute:
    """What a statement gives by openCypher's rules: one loop inside another."""

    def __init__(self, nodes, edges):
        self.nodes, self.edges, self.steps = {node.id: node for node in nodes}, edges, 0
        self.around = defaultdict(list)
        for number, edge in enumerate(edges):
            self.around[edge.source].append((number, edge.target, "out"))
            self.around[edge.target].append((number, edge.source, "in"))

    def beside(self, node, step):
        """Yield the edges of a node that a step may take, each with the node at its other end; a loop once."""
        for number, other, way in self.around[node]:
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise TooLong
            edge = self.edges[number]
            is_loop = edge.source == edge.target
            if (is_loop and way == "in") or (step["types"] and edge.type not in step["types"]):
                continue
            if is_loop or step["way"] in ("both", way):
                yield number, other

    def lay(self, paths, bound, used=frozenset()):
        """Yield each way to lay the paths; no edge is taken twice."""
        if not paths:
            yield bound
            return
        first = paths[0]["nodes"][0]
        starts = [bound[first["name"]]] if first["name"] in bound else list(self.nodes)
        for start in starts:
            if start is not None and self.fits(first, start, bound):
                yield from self.walk(paths, 0, {**bound, first["name"]: start}, used)

    def walk(self, paths, place, bound, used):
        nodes, steps = paths[0]["nodes"], paths[0]["steps"]
        if place == len(steps):
            yield from self.lay(paths[1:], bound, used)
            return
        step, end = steps[place], nodes[place + 1]
        ways = [(bound[nodes[place]["name"]], used, [])]
        for length in range(step["most"] + 1):
            for node, taken, trail in ways if length >= step["least"] else ():
                if self.fits(end, node, bound):
                    edge = trail if step["long"] else trail[0]
                    yield from self.walk(paths, place + 1, {**bound, end["name"]: node, step["name"]: edge}, taken)
            ways = [
                (other, taken | {number}, [*trail, number])
                for node, taken, trail in ways
                for number, other in self.beside(node, step)
                if number not in taken
            ]

    def fits(self, pattern, node, bound):
        is_same = bound.get(pattern["name"], node) == node
        return is_same and (not pattern["types"] or self.nodes[node].type in pattern["types"])

    def value(self, term, bound):
        match term:
            case ("value", value):
                return value
            case ("name", name):
                return bound[name]
            case ("of node", name, key):
                node = self.nodes.get(bound[name])
                if node is None:
                    return None
                return {"id": node.id, "name": node.name}.get(key, node.properties.get(key))
            case ("of edge", name):
                return None if bound[name] is None else self.edges[bound[name]].properties.get("w")
        raise AssertionError(term)

    def test(self, condition, bound):
        """Return True, False or None."""
        match condition:
            case ("and" | "or" as word, one, other):
                values = [self.test(one, bound), self.test(other, bound)]
                decides = word == "or"
                return decides if decides in values else None if None in values else not decides
            case ("not", inner):
                value = self.test(inner, bound)
                return None if value is None else not value
            case ("compare", one, sign, other):
                return self.compare(self.value(one, bound), sign, self.value(other, bound))
            case ("text", one, word, part):
                text = self.value(one, bound)
                tests = {"CONTAINS": part in (text or ""), "STARTS WITH": (text or "").startswith(part)}
                return None if text is None else tests.get(word, (text or "").endswith(part))
            case ("in", one, items):
                value = self.value(one, bound)
                return None if value is None else value in items
            case ("null", one, is_null):
                return (self.value(one, bound) is None) == is_null
            case ("label", name, label):
                return None if bound[name] is None else self.nodes[bound[name]].type == label
            case ("exists", path, where):
                return any(where is None or self.test(where, way) is True for way in self.lay([path], bound))
            case ("count", path, sign, number):
                return self.compare(sum(1 for _ in self.lay([path], bound)), sign, number)
        raise AssertionError(condition)

    @staticmethod
    def compare(one, sign, other):
        if one is None or other is None:
            return None
        if sign in ("=", "<>"):
            return (one == other) == (sign == "=")
        if isinstance(one, str) != isinstance(other, str):
            return None
        return {"<": one < other, "<=": one <= other, ">": one > other, ">=": one >= other}[sign]

    def rows(self, spec):
        """Return the rows of a statement: a list if it has an order, else how often each row comes."""
        rows = [row for row in self.lay(spec["paths"], {}) if self.holds(spec["where"], row)]
        if spec["optional"] is not None:
            path, where, added = spec["optional"]
            more = [(row, [way for way in self.lay([path], row) if self.holds(where, way)]) for row in rows]
            rows = [way for row, ways in more for way in ways or [{**row, **dict.fromkeys(added)}]]
        match spec["result"]:
            case ("count",):
                return Counter([(len(rows),)])
            case ("rows", names, edges):
                ends = [("of node", name, "id") for name in names] + [("of edge", name) for name in edges]
                return Counter(tuple(self.value(term, row) for term in ends) for row in rows)
            case ("distinct", names):
                return Counter({tuple(row[name] for name in names) for row in rows})
            case ("groups", key, name):
                groups = defaultdict(list)
                for row in rows:
                    groups[self.value(key, row)].append(row)
                return Counter(self.group(value, name, members) for value, members in groups.items())
            case ("ordered", key, name, least, skip, limit):
                groups = defaultdict(set)
                for row in rows:
                    groups[row[key]].add(row[name])
                counted = [(one, len(others - {None})) for one, others in groups.items()]
                kept = sorted(
                    (one for one in counted if one[1] > least), key=lambda one: (-one[1], one[0] is None, one[0])
                )
                return kept[skip : skip + limit]
        raise AssertionError(spec["result"])

    def holds(self, where, row):
        return where is None or self.test(where, row) is True

    def group(self, value, name, members):
        of = {key: [self.value(("of node", name, key), row) for row in members] for key in ("year", "tag", "score")}
        of = {key: [one for one in values if one is not None] for key, values in of.items()}
        mean = round(sum(of["score"]) / len(of["score"]), 9) if of["score"] else None
        distinct = len({row[name] for row in members} - {None})
        low, high = min(of["tag"], default=None), max(of["year"], default=None)
        return value, len(members), len(of["year"]), distinct, sum(of["year"]), low, high, mean


class Statements:
    """Random statements, as data and as text."""

    def __init__(self, chance):
        self.chance, self.made = chance, 0

    def name(self, letter):
        self.made += 1
        return f"{letter}{self.made}"

    def path(self, known, length, *, first=None, hidden=False):
        chance, nodes = self.chance, []
        for place in range(length + 1):
            name = first if place == 0 and first else self.name("v")
            if not (place == 0 and first) and known and chance.random() < 0.25:
                name = chance.choice(known)
            draw = chance.random()
            types = (chance.choice(TYPES),) if draw < 0.25 else tuple(chance.sample(TYPES, 2)) if draw < 0.32 else ()
            nodes.append({"name": name, "types": types})
            if not hidden and name not in known:
                known.append(name)
        steps = []
        for _ in range(length):
            long, draw = chance.random() < 0.15, chance.random()
            least, most = chance.choice(((1, 2), (2, 2), (1, 3))) if long else (1, 1)
            types = (chance.choice(EDGES),) if draw < 0.5 else tuple(chance.sample(EDGES, 2)) if draw < 0.65 else ()
            way = chance.choice(("out", "in", "both"))
            steps.append(
                {"name": self.name("e"), "types": types, "way": way, "long": long, "least": least, "most": most}
            )
        return {"nodes": nodes, "steps": steps}

    def atom(self, names, edges, *, deep=False):
        chance, name = self.chance, self.chance.choice(names)
        year = ("of node", name, "year")
        other = ("of node", chance.choice(names), "year")
        choices = [
            ("compare", year, chance.choice(("=", "<>", "<", "<=", ">", ">=")), ("value", chance.choice((1990, 1991)))),
            ("compare", year, chance.choice(("=", "<", ">=")), other),
            ("compare", ("of node", name, "score"), "<", ("value", 2)),
            ("text", ("of node", name, chance.choice(("tag", "name"))), "CONTAINS", chance.choice(("re", "e 1"))),
            ("text", ("of node", name, "tag"), chance.choice(("STARTS WITH", "ENDS WITH")), chance.choice(("gr", "n"))),
            ("in", ("of node", name, "tag"), chance.sample(("red", "green", "blue"), 2)),
            ("null", ("of node", name, chance.choice(("year", "tag"))), chance.random() < 0.5),
            ("label", name, chance.choice(TYPES)),
            ("compare", ("name", name), chance.choice(("=", "<>")), ("name", chance.choice(names))),
        ]
        if edges:
            choices += [
                ("compare", ("of edge", chance.choice(edges)), chance.choice(("=", "<", "<>")), ("value", 1))
            ] * 2
        if not deep:
            path = self.path(list(names), chance.choice((1, 1, 2)), first=name, hidden=True)
            inner = [node["name"] for node in path["nodes"]]
            where = self.atom([*names, *inner], [], deep=True) if chance.random() < 0.5 else None
            count = ("count", path, chance.choice((">", "=", "<")), chance.choice((0, 1, 2)))
            choices += [("exists", path, where)] * 3 + [count] * 2
        return chance.choice(choices)

    def where(self, names, edges, depth=0):
        if depth < 2 and self.chance.random() < 0.45:
            word = self.chance.choice(("and", "or", "not"))
            parts = [self.where(names, edges, depth + 1) for _ in range(1 if word == "not" else 2)]
            return (word, *parts)
        return self.atom(names, edges)

    def statement(self):
        chance, known = self.chance, []
        paths = [self.path(known, chance.choice((1, 1, 2, 2, 3)))]
        if chance.random() < 0.3:
            paths.append(self.path(known, chance.choice((1, 2))))
        edges = [step["name"] for path in paths for step in path["steps"] if not step["long"]]
        spec = {"paths": paths, "optional": None}
        spec["where"] = self.where(known, edges) if chance.random() < 0.7 else None
        names = list(known)
        if chance.random() < 0.35:
            path = self.path(list(known), chance.choice((1, 1, 2)), first=chance.choice(known), hidden=True)
            added = list(dict.fromkeys(node["name"] for node in path["nodes"] if node["name"] not in known))
            where = self.atom([*known, *added], [], deep=True) if chance.random() < 0.5 else None
            spec["optional"] = path, where, [*added, *(step["name"] for step in path["steps"])]
            names += added
        one, other, draw = chance.choice(names), chance.choice(names), chance.random()
        if draw < 0.2:
            spec["result"] = ("count",)
        elif draw < 0.4:
            shown = chance.sample(edges, 1) if edges and chance.random() < 0.5 else []
            spec["result"] = "rows", chance.sample(names, min(len(names), chance.choice((1, 2, 3)))), shown
        elif draw < 0.6:
            spec["result"] = "distinct", chance.sample(names, min(len(names), chance.choice((1, 2))))
        elif draw < 0.8:
            spec["result"] = "groups", ("of node", one, chance.choice(("tag", "id", "name"))), other
        else:
            skip, limit = chance.choice((0, 1)), chance.choice((2, 5))
            spec["result"] = "ordered", one, other, chance.choice((0, 1)), skip, limit
        return spec


def pattern_text(path):
    text = ""
    for node, step in zip(path["nodes"], [None, *path["steps"]], strict=True):
        if step is not None:
            types = ":" + "|".join(step["types"]) if step["types"] else ""
            length = f"*{step['least']}..{step['most']}" if step["long"] else ""
            body = f"[{step['name']}{types}{length}]"
            text += {"out": f"-{body}->", "in": f"<-{body}-", "both": f"-{body}-"}[step["way"]]
        text += f"({node['name']}{':' + '|'.join(node['types']) if node['types'] else ''})"
    return text


def term_text(term):
    match term:
        case ("value", value):
            return json.dumps(value)
        case ("name", name):
            return name
        case ("of node", name, key):
            return f"{name}.{key}"
    return f"{term[1]}.w"


def where_text(condition):
    match condition:
        case ("and" | "or" as word, one, other):
            return f"({where_text(one)} {word.upper()} {where_text(other)})"
        case ("not", inner):
            return f"NOT ({where_text(inner)})"
        case ("compare", one, sign, other):
            return f"{term_text(one)} {sign} {term_text(other)}"
        case ("text", one, word, part):
            return f"{term_text(one)} {word} '{part}'"
        case ("in", one, items):
            return f"{term_text(one)} IN {json.dumps(items)}"
        case ("null", one, is_null):
            return f"{term_text(one)} IS {'' if is_null else 'NOT '}NULL"
        case ("label", name, label):
            return f"{name}:{label}"
        case ("exists", path, where):
            return f"EXISTS {{ MATCH {pattern_text(path)}{f' WHERE {where_text(where)}' if where else ''} }}"
        case ("count", path, sign, number):
            return f"COUNT {{ MATCH {pattern_text(path)} }} {sign} {number}"
    raise AssertionError(condition)


def statement_text(spec):
    text = "MATCH " + ", ".join(map(pattern_text, spec["paths"]))
    text += f" WHERE {where_text(spec['where'])}" if spec["where"] else ""
    if spec["optional"] is not None:
        path, where, _ = spec["optional"]
        text += f" OPTIONAL MATCH {pattern_text(path)}" + (f" WHERE {where_text(where)}" if where else "")
    match spec["result"]:
        case ("count",):
            return f"{text} RETURN count(*) AS k"
        case ("rows", names, edges):
            shown = [f"{name}.id AS x{name}" for name in names] + [f"{name}.w AS w{name}" for name in edges]
            return f"{text} RETURN {', '.join(shown)}"
        case ("distinct", names):
            return f"{text} RETURN DISTINCT {', '.join(f'{name}.id AS x{name}' for name in names)}"
        case ("groups", key, name):
            return (
                f"{text} RETURN {term_text(key)} AS k, count(*) AS n, count({name}.year) AS c, count(DISTINCT {name}) "
                f"AS d, sum({name}.year) AS s, min({name}.tag) AS lo, max({name}.year) AS hi, avg({name}.score) AS m"
            )
        case ("ordered", key, name, least, skip, limit):
            return (
                f"{text} WITH {key} AS a, count(DISTINCT {name}) AS k WHERE k > {least} "
                f"RETURN a.id AS i, k ORDER BY k DESC, i SKIP {skip} LIMIT {limit}"
            )
    raise AssertionError(spec["result"])


def check(seed, statements, *, has_loops):
    """Return how many statements were right; each wrong one fails."""
    chance = random.Random(seed)
    nodes, edges = random_graph(chance, has_loops=has_loops)
    graph = Graph.from_records(nodes, edges)
    cypher, right = Cypher(graph, ArrayEngine), 0
    for _ in range(statements):
        spec = Statements(chance).statement()
        brute = Brute(nodes, edges)
        try:
            wanted = brute.rows(spec)
        except TooLong:
            continue
        text = statement_text(spec)
        try:
            table = cypher.query(text, limit=None)
        except (UnknownType, UnknownProperty):  # the graph has none of it
            continue
        except BadQuery as error:
            assert "edges: 8 are allowed" in str(error), text
            continue
        rows = [tuple(round(value, 9) if isinstance(value, float) else value for value in row) for row in table.rows]
        assert (rows if isinstance(wanted, list) else Counter(rows)) == wanted, text
        right += 1
    return right


@pytest.mark.parametrize("has_loops", [False, True], ids=["without loops", "with loops"])
def test_random_statements_give_what_brute_force_gives(has_loops):
    graphs, statements = FEW
    right = sum(check(seed, statements, has_loops=has_loops) for seed in range(graphs))
    assert right > 0.6 * graphs * statements


@pytest.mark.thorough
@pytest.mark.parametrize("has_loops", [False, True], ids=["without loops", "with loops"])
def test_a_thousand_random_statements_give_what_brute_force_gives(has_loops):
    graphs, statements = MANY
    right = sum(check(100 + seed, statements, has_loops=has_loops) for seed in range(graphs))
    assert right > 0.6 * graphs * statements
