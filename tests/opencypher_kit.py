"""openCypher's own test kit over our graphs: its scenarios, their graphs with typed nodes, and a verdict on an answer.

    python tests/opencypher_kit.py ../shared/data/tck [CATEGORY]    how many are right, refused and wrong, by category

`../shared/data/tck` has the scenarios that only read, and says how a graph of labels may become a graph of types. A
statement may be asked with its variables renamed: that changes nothing but the names of columns.
"""

# ruff: noqa: T201

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from orienteer.cypher import (
    ArraysEngine,
    Cypher,
    CypherStatement,
    CypherToken,
    Projection,
    ProjectionItem,
    parse_cypher,
    tokenize_cypher,
)
from orienteer.errors import BadQuery, Error as OrienteerError, QueryStopped
from orienteer.graph import Graph
from orienteer.query import Variable
from orienteer.records import Edge, Node

SECONDS = 10
NO_LABEL = "Thing"
"""The type of a node without a label."""
_SIGNS = ("p0", "h0", "*", "_ID", "id", "v0", "V0", "$p", "v0.id", "count", "true", "end")
SPELLINGS: Mapping[str, Sequence[str]] = {
    "plain": (),
    "numbered": [f"v{number}" for number in range(60)],
    "made up": [
        f"`{name}`"
        for number in range(6)
        for name in (f"c{number}", f"list {number}", f"node {number}'", f"part {number}'", "edge'" + "'" * number)
    ],
    "words": [f"`{word}`" for word in ("match", "return", "null", "where", *_SIGNS)],
}
"""Names for variables, by what they could be taken for: the engine's own, those made up for a statement, words."""


@dataclass(frozen=True)
class Scenario:
    """A statement of the kit over a graph, and what it gives."""

    source: str
    category: str
    graph: dict[str, Any]
    is_any_graph: bool
    query: str
    parameters: dict[str, Any]
    expected: dict[str, Any]

    def is_drawn(self, share: int) -> bool:
        """Return whether the scenario is in a fixed draw of one in `share`; those over one graph are drawn together."""
        drawn = self.source if self.is_any_graph else json.dumps(self.graph, sort_keys=True)
        return int(hashlib.sha256(drawn.encode()).hexdigest(), 16) % share == 0


def scenarios(folder: Path) -> list[Scenario]:
    """Return the scenarios in a folder."""
    lines = (folder / "scenarios.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        Scenario(s["source"], s["category"], s["graph"], s["any"], s["query"], s["params"], s["expected"])
        for s in map(json.loads, lines)
    ]


# ------------------------------------------------------------------------------------------------------------ graphs


class World(NamedTuple):
    """The graph of a scenario, and the nodes as the kit writes them, by id."""

    cypher: Cypher
    nodes: Mapping[str, Any]
    shown: Mapping[str, Any]
    """The nodes as an answer has to show them."""
    called: Mapping[str, str]
    """What the kit calls properties that have another name here."""


class Worlds:
    """Makes one graph for all scenarios with the same set-up; each is closed when the next set-up is asked for."""

    def __init__(self, scratch: Callable[[], Path], engine: Any = None) -> None:
        self._scratch, self._engine, self._key, self._world = scratch, engine, "", None

    def close(self) -> None:
        if self._world is not None:
            self._world.cypher.close()
        self._key, self._world = "", None

    def of(self, typed: Typed) -> World:
        if self._key != typed.key or self._world is None:
            self.close()
            graph = Graph.from_records(typed.nodes, typed.edges, path=self._scratch())
            shown = {
                node.id: {"id": node.id, "type": node.type, "name": node.name, "properties": dict(node.properties)}
                for node in typed.nodes
            }
            called = {here: key for key, here in typed.renamed.items()}
            self._key, self._world = typed.key, World(Cypher(graph, self._engine), typed.written, shown, called)
        return self._world


@dataclass(frozen=True)
class Typed:
    """A scenario's graph with one type for each node, and its statement in the names of that graph."""

    scenario: Scenario
    nodes: Sequence[Node]
    edges: Sequence[Edge]
    written: Mapping[str, Any]
    query: str
    renamed: Mapping[str, str]
    """Properties that have another name here, as the product has its own of that name."""

    @property
    def key(self) -> str:
        return repr((self.nodes, self.edges))


def typed(scenario: Scenario) -> Typed | None:
    """Return a scenario over a typed graph; None if no such graph means the same."""
    nodes, edges, query = scenario.graph["nodes"], scenario.graph["edges"], scenario.query
    if not nodes and re.search(r"\(\s*\w*\s*[:{)]|-\[|--", query):
        return None
    labels = {label for node in nodes for label in node["labels"]}
    named = {label for label in labels if re.search(rf"[:|]\s*`?{re.escape(label)}\b", query)}
    if any(len(named.intersection(node["labels"])) > 1 for node in nodes):
        return None
    if re.search(r"\blabels\s*\(", query, re.IGNORECASE) and any(len(node["labels"]) != 1 for node in nodes):
        return None
    has_names = nodes and all(isinstance(node["properties"].get("name"), str) for node in nodes)
    has_names = has_names and not any("name" in edge["properties"] for edge in edges)
    if re.search(r"\bkeys\(", query) and not has_names and any("name" in node["properties"] for node in nodes):
        return None
    if scenario.is_any_graph and expected_rows(scenario) and re.search(r"\w\[", query) and "MATCH" in query:
        return None  # its rows depend on the graph after all
    renamed = {key: f"{key}_" for key in ("id", "text", *(() if has_names else ("name",)))}
    made, written = [], {}
    for number, node in enumerate(nodes or [{"labels": [], "properties": {}}]):
        node_type = (sorted(named.intersection(node["labels"])) or sorted(node["labels"]) or [NO_LABEL])[0]
        properties = {renamed.get(key, key): value for key, value in node["properties"].items()}
        name = properties.pop("name") if "name" in properties else f"the node {number}"
        made.append(Node(f"n{number}", node_type, name, properties=properties))
        written[f"n{number}"] = _node(node["labels"], node["properties"])
    joined = [
        Edge(
            f"n{edge['source']}",
            edge["type"],
            f"n{edge['target']}",
            properties={renamed.get(key, key): value for key, value in edge["properties"].items()},
        )
        for edge in edges
    ]
    return Typed(scenario, made, joined, written, _with_keys(query, renamed), renamed)


def expected_rows(scenario: Scenario) -> int:
    return len(scenario.expected.get("rows", ()))


def _with_keys(query: str, renamed: Mapping[str, str]) -> str:
    """Return a statement with other names for some keys of properties."""
    for key, other in renamed.items():
        query = re.sub(rf"(?<=\.){key}\b(?!\s*\()|(?<=[{{,])(\s*){key}(?=\s*:)", rf"\g<1>{other}", query)
    return query


# ------------------------------------------------------------------------------------------------------------ names


def spelled(query: str, names: Sequence[str]) -> tuple[str, Mapping[str, str]] | None:
    """Return a statement with its variables called otherwise, and their names before by the new ones.

    None if it does not parse, or has too many variables. The new text is read again and must be the same tree.
    """
    try:
        statement = parse_cypher(query)
    except BadQuery:
        return None
    before = list(dict.fromkeys(_variables(statement)))
    if len(before) > len(names):
        return None
    spelling = dict(zip(before, names, strict=False))
    meant = {name: tokenize_cypher(text)[0].value for name, text in spelling.items()}
    text, end = "", 0
    tokens = tokenize_cypher(query)
    for token, is_variable in zip(tokens, _are_variables(tokens), strict=True):
        text += query[end : token.start]
        end = token.end
        text += spelling[token.value] if is_variable and token.value in spelling else query[token.start : token.end]
    text += query[end:]
    again = parse_cypher(text)
    assert _unnamed(_called(statement, meant)) == _unnamed(again), (query, text)
    columns = {meant[name]: name for name in before}
    for items, others in zip(_columns(statement), _columns(again), strict=True):
        columns |= {other.name: item.name for item, other in zip(items, others, strict=True)}
    return text, columns


def _columns(statement: CypherStatement) -> Iterator[tuple[ProjectionItem, ...]]:
    for query in statement.queries:
        last = query[-1]
        assert isinstance(last, Projection)
        yield last.items


def _variables(tree: object) -> Iterator[str]:
    """Yield the names that a statement gives, in the order of its text or nearly so."""
    if isinstance(tree, tuple):
        for part in tree:
            yield from _variables(part)
    elif is_dataclass(tree):
        if (name := _own(tree)) is not None:
            yield name
        for field in fields(tree):
            yield from _variables(getattr(tree, field.name))


def _own(tree: object) -> str | None:
    if isinstance(tree, Variable):
        return tree.name
    if isinstance(tree, ProjectionItem):
        return tree.name if tree.named else None
    return getattr(tree, "variable", None)


def _called(tree: Any, names: Mapping[str, str]) -> Any:
    """Return a tree with its variables called otherwise."""
    if isinstance(tree, tuple):
        return tuple(_called(part, names) for part in tree)
    if not is_dataclass(tree) or isinstance(tree, type):
        return tree
    changed = {field.name: _called(getattr(tree, field.name), names) for field in fields(tree)}
    if (name := _own(tree)) is not None:
        changed["variable" if hasattr(tree, "variable") else "name"] = names[name]
    return replace(tree, **changed)


def _unnamed(tree: Any) -> Any:
    """Return a tree in which columns without AS, called by their text, have no name."""
    if isinstance(tree, tuple):
        return tuple(map(_unnamed, tree))
    if not is_dataclass(tree) or isinstance(tree, type):
        return tree
    changed = {field.name: _unnamed(getattr(tree, field.name)) for field in fields(tree)}
    if isinstance(tree, ProjectionItem) and not tree.named:
        changed["name"] = ""
    return replace(tree, **changed)


def _are_variables(tokens: Sequence[CypherToken]) -> Iterator[bool]:
    """Yield for each token whether it may be a variable: no key, type or function."""
    brackets: list[str] = []
    is_type = False
    for at, token in enumerate(tokens):
        if token.value in "([{" and token.kind == "sign":
            brackets.append(token.value)
        elif token.value in ")]}" and token.kind == "sign" and brackets:
            brackets.pop()
        before = tokens[at - 1].value if at and tokens[at - 1].kind == "sign" else ""
        after = tokens[at + 1].value if at + 1 < len(tokens) and tokens[at + 1].kind == "sign" else ""
        in_map = bool(brackets) and brackets[-1] == "{"
        if token.kind not in ("name", "word"):
            is_type = is_type and token.value == "|"
            yield False
            continue
        is_type = (before == ":" and not in_map) or (before == "|" and is_type)
        is_key = before == "." or (in_map and after == ":" and before in ("{", ","))
        is_dotted = after == "." and at + 3 < len(tokens) and tokens[at + 3].value == "("  # duration.between(
        yield not is_type and not is_key and not (token.kind == "word" and (after == "(" or is_dotted))


# ---------------------------------------------------------------------------------------------------------- verdicts


class Verdict(NamedTuple):
    """What became of a scenario."""

    kind: str
    """right, due (an error, refused), refused, wrong, noted (other rows, with a note), lenient, late, crashed."""
    told: str
    rows: Any = None
    """The answer in the names of the statement as it was before it was renamed; None for a refusal."""


def asked(world: World, typed: Typed, query: str, columns: Mapping[str, str]) -> Verdict:
    """Return the verdict on the answer to a scenario's statement, or to that with other names."""
    expected = typed.scenario.expected
    try:
        found = world.cypher.query(query, _plain(typed.scenario.parameters), limit=None, seconds=SECONDS)
    except QueryStopped as error:
        return Verdict("late", str(error))
    except OrienteerError as error:
        return Verdict("due" if "error" in expected else "refused", f"{type(error).__name__}: {error}")
    except Exception as error:  # noqa: BLE001  # whatever it is: it is a crash
        return Verdict("crashed", f"{type(error).__name__}: {error}")
    names = [columns.get(name, name) for name in found.columns]
    rows = [tuple(_found(value, world) for value in row) for row in found.rows]
    answer = (tuple(sorted(names)), Counter(_rows(names, rows)))
    if "error" in expected:
        return Verdict("lenient", str(expected["error"]), answer)
    theirs = [_with_keys(name, typed.renamed) for name in expected["columns"]]
    if Counter(map(_spaceless, theirs)) != Counter(map(_spaceless, names)):
        return Verdict("wrong", f"columns {names}", answer)
    places = [list(map(_spaceless, names)).index(_spaceless(name)) for name in theirs]
    ours = [tuple(row[place] for place in places) for row in rows]
    right = [tuple(map(_expected, row)) for row in expected["rows"]]
    if not expected["lists"]:
        ours, right = [tuple(map(_orderless, row)) for row in ours], [tuple(map(_orderless, row)) for row in right]
    is_right = ours == right if expected["ordered"] else Counter(ours) == Counter(right)
    kind = (
        "right"
        if is_right
        else "noted"
        if any("left out" in note or "leaves out" in note for note in found.notes)
        else "wrong"
    )
    return Verdict(kind, "" if is_right else f"rows {ours}, not {right}", answer)


def _plain(value: Any) -> Any:
    """Return a parameter of the kit as it is passed."""
    if isinstance(value, dict):
        value = value.get("$map", value)
        return {key: _plain(item) for key, item in value.items()}
    return [*map(_plain, value)] if isinstance(value, list) else value


def _rows(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    order = sorted(range(len(names)), key=names.__getitem__)
    return (tuple(row[place] for place in order) for row in rows)


def _spaceless(name: str) -> str:
    return re.sub(r"\s+", "", name).casefold()


def _orderless(value: Any) -> Any:
    return ("list", *sorted(value[1:], key=repr)) if isinstance(value, tuple) and value[0] == "list" else value


def _node(labels: Sequence[str], properties: Mapping[str, Any]) -> Any:
    return ("node", tuple(sorted(labels)), _map(properties))


def _map(entries: Mapping[str, Any]) -> Any:
    return tuple(sorted((key, _expected(value)) for key, value in entries.items()))


def _expected(value: Any) -> Any:
    """Return a value of the kit in a form that can be compared and counted; 1 and 1.0 are one number."""
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, list):
        return ("list", *map(_expected, value))
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "$node":
        return _node(*content)
    if kind == "$edge":
        return ("edge", content[0], _map(content[1]), *content[2:])  # in a path with its direction
    if kind == "$path":
        return ("path", *map(_expected, content))
    if kind == "$float":
        return content
    assert kind == "$map", value
    return ("map", _map(content))


def _found(value: Any, world: World) -> Any:
    """Return a value of ours in the same form. A node that is not shown as it was made is no value of the kit's."""
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, list | tuple):
        return ("list", *(_found(item, world) for item in value))
    if not isinstance(value, dict):
        return value
    if set(value) == {"id", "type", "name", "properties"} and value["id"] in world.shown:
        return world.nodes[value["id"]] if value == world.shown[value["id"]] else ("not as made", repr(value))
    if {"source", "type", "target"} <= set(value):
        return ("edge", value["type"], _entries(value.get("properties", {}), world))
    if set(value) == {"nodes", "edges"}:
        return _found_path(value["nodes"], value["edges"], world)
    return ("map", _entries(value, world))


def _entries(found: Mapping[str, Any], world: World) -> Any:
    return tuple(sorted((world.called.get(key, key), _found(value, world)) for key, value in found.items()))


def _found_path(nodes: Sequence[Any], edges: Sequence[Any], world: World) -> Any:
    parts = [_found(nodes[0], world)]
    for before, edge, node in zip(nodes, edges, nodes[1:], strict=False):
        direction = "out" if edge["source"] == before["id"] else "in"
        parts += [(*_found(edge, world), direction), _found(node, world)]
    return ("path", *parts)


# ----------------------------------------------------------------------------------------------------------- command


def main(folder: Path, category: str = "") -> None:
    """Ask all scenarios of the new engine, plain and with their variables renamed, and print what became of them."""
    chosen = [scenario for scenario in scenarios(folder) if scenario.category.startswith(category)]
    cases = [case for scenario in chosen if (case := typed(scenario)) is not None]
    worlds = Worlds(lambda: Path(tempfile.mkdtemp(dir=scratch)), ArraysEngine)
    kinds: dict[str, Counter[str]] = {}
    reasons: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        for case in sorted(cases, key=lambda case: case.key):
            world = worlds.of(case)
            verdict = asked(world, case, case.query, {})
            kinds.setdefault(case.scenario.category, Counter())[verdict.kind] += 1
            if verdict.kind not in ("right", "due"):
                reasons[f"{verdict.kind}: {re.sub(r'[0-9]+', '0', verdict.told)[:70]}"] += 1
                if category or verdict.kind in ("wrong", "crashed", "late"):
                    print(verdict.kind, case.scenario.source, case.query, verdict.told[:300], sep="\n    ")
            statement = spelled(case.query, SPELLINGS["numbered"])
            renamed = verdict if statement is None else asked(world, case, *statement)
            if (renamed.kind, renamed.rows) != (verdict.kind, verdict.rows) and "rand(" not in case.query:
                print("other when renamed", case.query, verdict, renamed, sep="\n    ")
        worlds.close()
    for name, counts in sorted(kinds.items()):
        print(f"{name:42} {'  '.join(f'{kind} {count}' for kind, count in sorted(counts.items()))}")
    total = sum((counts for name, counts in kinds.items() if name != "temporal"), Counter[str]())
    print(f"{'all but temporal':42} {'  '.join(f'{kind} {count}' for kind, count in sorted(total.items()))}")
    print(*(f"{count:5} {reason}" for reason, count in reasons.most_common(60)), sep="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:3])
