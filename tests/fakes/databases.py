"""A database in memory, with the answers that a server gives to what an import and an update ask."""

import re
from collections import Counter

from orienteer.addresses import Address


def is_older(value, mark):
    """Tell whether a value is below another of its kind; None where they have no order."""
    for kinds in ((int, float), (str,)):
        if isinstance(value, kinds) and isinstance(mark, kinds):
            return value < mark
    return None


class Store:
    """Nodes and edges of a database by their element ids."""

    def __init__(self):
        self.nodes = {}
        """(labels, properties)"""
        self.edges = {}
        """(source, type, target, properties), the ends by their element ids"""


class FakeServer:
    """What a `Server` is to those that read a whole database: it knows their statements, and refuses all others."""

    def __init__(self, store):
        self.address, self.agent, self.store, self.asked = Address.parse("bolt://localhost/films"), "fake", store, []

    def rows(self, statement, **values):
        return list(self.stream(statement, **values))

    def stream(self, statement, **values):
        self.asked.append(statement)
        for pattern, answer in ANSWERS:
            if (match := re.fullmatch(pattern, statement)) is not None:
                yield from map(list, answer(self.store, *match.groups(), **values))
                return
        raise AssertionError(f"no server was tried with this: {statement}")


def nodes_of(store, where=None, *, mark=None):
    for own_id, (labels, properties) in store.nodes.items():
        if where is None or not is_older(properties.get(where), mark):
            yield own_id, list(labels), dict(properties)


def edges_of(store, name=None, edge_type=None, *, only=None):
    """Yield edges with their ends as `name` tells them."""
    for source, kind, target, properties in store.edges.values():
        if (edge_type is None or kind == edge_type) and (only is None or (source, kind, target) in only):
            yield _id(store, source, name), kind, _id(store, target, name), dict(properties)


def edges_beside_changed(store, changed_by, name, *, types, mark):
    touched = {
        (source, kind, target)
        for source, kind, target, properties in store.edges.values()
        if kind in types and not is_older(properties.get(changed_by), mark)
    }
    return edges_of(store, name, only=touched)


def _id(store, own_id, name):
    return own_id if name is None else store.nodes[own_id][1].get(name)


def values_of(store, name):
    values = [properties[name] for _, properties in store.nodes.values() if name in properties]
    return [(len(store.nodes), len(values), len(set(values)))]


def sets_of(store):
    return Counter(tuple(labels) for labels, _ in store.nodes.values()).items()


def newest(properties, name):
    values = [own[name] for own in properties if name in own]
    numbers = [value for value in values if not isinstance(value, str)]
    return [(max(numbers or values, default=None),)]  # openCypher puts numbers above texts


def types_of(store, changed_by, *, mark=None):
    edges, telling, newer = Counter(), Counter(), Counter()
    for _, kind, _, properties in store.edges.values():
        edges[kind] += 1
        telling[kind] += changed_by in properties
        newer[kind] += mark is None or not is_older(properties.get(changed_by), mark)
    return [(kind, count, telling[kind], newer[kind]) for kind, count in edges.items()]


PROPERTY = r"`(\w+)`"
NODES = r"RETURN elementId\(n\) AS id, labels\(n\) AS labels, properties\(n\) AS properties"
EDGES = (
    rf"RETURN (?:a\.{PROPERTY}|elementId\(a\)) AS a, type\(r\) AS type, (?:b\.`\w+`|elementId\(b\)) AS b, "
    r"properties\(r\) AS more"
)
BESIDE = (
    rf"MATCH \(a\)-\[c\]->\(b\) WHERE type\(c\) IN \$types AND NOT coalesce\(c\.{PROPERTY} < \$mark, false\) "
    r"WITH DISTINCT a, b, type\(c\) AS kind MATCH \(a\)-\[r\]->\(b\) WHERE type\(r\) = kind "
)
ANSWERS = [
    (r"MATCH \(n\) RETURN labels\(n\) AS labels, count\(\*\) AS count", sets_of),
    (r"MATCH \(n\) RETURN count\(n\) AS count", lambda store: [(len(store.nodes),)]),
    (r"MATCH \(\)-\[r\]->\(\) RETURN count\(r\) AS count", lambda store: [(len(store.edges),)]),
    (
        r"MATCH \(n\) RETURN properties\(n\) AS properties LIMIT 1",
        lambda store: [(dict(properties),) for _, properties in store.nodes.values()][:1],
    ),
    (
        rf"MATCH \(n\) RETURN count\(n\) AS nodes, count\(n\.{PROPERTY}\) AS have, "
        r"count\(DISTINCT n\.`\w+`\) AS differ",
        values_of,
    ),
    (
        rf"MATCH \(n\) RETURN max\(n\.{PROPERTY}\) AS newest",
        lambda store, name: newest([properties for _, properties in store.nodes.values()], name),
    ),
    (
        rf"MATCH \(\)-\[r\]->\(\) RETURN max\(r\.{PROPERTY}\) AS newest",
        lambda store, name: newest([edge[3] for edge in store.edges.values()], name),
    ),
    (rf"MATCH \(n\) {NODES}", nodes_of),
    (rf"MATCH \(n\) WHERE NOT coalesce\(n\.{PROPERTY} < \$mark, false\) {NODES}", nodes_of),
    (
        rf"MATCH \(n\) RETURN (?:n\.{PROPERTY}|elementId\(n\)) AS id",
        lambda store, name: [(_id(store, own_id, name),) for own_id in store.nodes],
    ),
    (
        r"MATCH \(\)-\[r\]->\(\) RETURN type\(r\) AS type, count\(r\) AS edges, "
        rf"count\(r\.{PROPERTY}\) AS telling, "
        r"(?:count\(r\)|sum\(CASE WHEN NOT coalesce\(r\.`\w+` < \$mark, false\) THEN 1 ELSE 0 END\)) AS newer",
        types_of,
    ),
    (rf"MATCH \(a\)-\[r\]->\(b\) {EDGES}", edges_of),
    (rf"MATCH \(a\)-\[r:`(\w+)`\]->\(b\) {EDGES}", lambda store, kind, name: edges_of(store, name, kind)),
    (BESIDE + EDGES, edges_beside_changed),
]
