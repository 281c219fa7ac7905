"""`import --update` leaves the graph that an import of today's sources would give, whatever was edited."""

import csv
import json
import os
import random

import pytest

from lanes import seeds
from orienteer.errors import Error
from orienteer.graph import Graph, read_pointer
from orienteer.ingest import ImportOptions, import_graph, read_ledger, update_graph
from same_graphs import by_file, check_same, facts, files, order

pytestmark = pytest.mark.slow

TYPES = ["drug", "gene", "disease"]
RELATIONS = ["treats", "binds", "near", "same_as"]
WORDS = ["ferry", "Ada", "straße", "東京", "p53", "night", "the", "-", "NA", "x", '{"year": 1999, "deep": {"a": [1]}}']


class Table:
    """A table that is edited: its columns, and its rows as dicts."""

    def __init__(self, name, columns, rows):
        self.name, self.columns, self.rows = name, columns, rows

    def write(self, folder, form):
        rows = [{name: row.get(name, "") for name in self.columns} for row in self.rows]
        if form == "jsonl":
            lines = [json.dumps({key: cell for key, cell in row.items() if cell != ""}) for row in rows]
            (folder / f"{self.name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        elif form == "parquet":
            import pyarrow
            from pyarrow import parquet

            texts = {
                name: pyarrow.array([str(row[name]) if row[name] != "" else None for row in rows], pyarrow.string())
                for name in self.columns
            }
            parquet.write_table(pyarrow.table(texts), folder / f"{self.name}.parquet")
        else:
            with (folder / f"{self.name}.{form}").open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, self.columns, delimiter="," if form == "csv" else "\t")
                writer.writeheader()
                writer.writerows(rows)


class World(random.Random):
    """Tables at random, and edits of them."""

    def __init__(self, seed):
        super().__init__(seed)
        self.has_nodes = self.random() < 0.8
        self.has_weights = self.random() < 0.5
        self.is_mirrored = self.random() < 0.5
        self.count = 0
        self.tables = {}
        if self.has_nodes:
            for number in range(self.choice([1, 1, 2])):
                rows = [self.node() for _ in range(self.choice([3, 12, 40]))]
                columns = ["id", "name", "type", "text", "aliases", "year"]
                self.tables[f"nodes{number}"] = Table(f"nodes{number}", columns, rows)
        for number in range(self.choice([1, 2])):
            self.tables[f"edges{number}"] = Table(f"edges{number}", self.edge_columns(), [])
            self.tables[f"edges{number}"].rows += self.edges(self.choice([5, 40, 120]))

    def edge_columns(self):
        return ["source", "target", "type", *(["weight", "note"] if self.has_weights else [])]

    def words(self, most):
        return " ".join(self.choices(WORDS, k=self.randrange(most)))

    def node(self, node_id=None):
        self.count += 1
        return {
            "id": node_id or f"{self.choice('aäz東')}{self.count}",
            "name": self.choice([self.words(4), "", "NA"]),
            "type": self.choice([*TYPES, ""]),
            "text": self.words(9),
            "aliases": self.choice(["", "one|two", self.words(2)]),
            "year": self.choice(["", "1999", "2001", "-", "2.50", "{}"]),
        }

    @property
    def ids(self):
        named = [row["id"] for name, table in self.tables.items() if "nodes" in name for row in table.rows]
        return [*named, "nobody"] if named else [f"e{number}" for number in range(25)]

    def edges(self, count):
        ids, edges = self.ids, []
        for _ in range(count):
            edge = {"source": self.choice(ids), "target": self.choice(ids), "type": self.choice(RELATIONS)}
            if self.has_weights and self.random() < 0.6:
                edge |= {"weight": self.choice(["1", "1.0", "0.5", "many"]), "note": self.choice(["", self.words(3)])}
            edges.append(edge)
            if edge["type"] == "near" and self.is_mirrored:
                edges.append({**edge, "source": edge["target"], "target": edge["source"]})
        return edges

    def some(self, kind):
        return self.choice([table for name, table in self.tables.items() if name.startswith(kind)])

    # ----------------------------------------------------------------------------------------------------------- edits

    def edit(self):
        """Edit the tables in one way of many."""
        edits = [self.add_edges, self.drop_edges, self.move, self.double, self.change_edges, self.one_way, self.nothing]
        if self.has_nodes:
            edits += [self.add_nodes, self.drop_nodes, self.change_nodes, self.rename_node, self.split_node]
        if self.random() < 0.15:
            edits = [self.add_file, self.drop_file, self.rename_file, self.add_column, self.drop_column]
        self.choice(edits)()

    def nothing(self):
        pass

    def add_edges(self):
        rows = self.some("edges").rows
        at = self.randrange(len(rows) + 1)
        rows[at:at] = self.edges(self.choice([1, 4]))

    def drop_edges(self):
        rows = self.some("edges").rows
        for _ in range(min(len(rows) - 1, self.choice([1, 3, 10]))):
            rows.pop(self.randrange(len(rows)))

    def change_edges(self):
        table = self.some("edges")
        for row in self.choices(table.rows, k=2):
            name = self.choice(table.columns)
            row[name] = self.choice([*self.ids, ""]) if name in ("source", "target") else self.choice(RELATIONS)

    def one_way(self):
        """Take the reverse of some rows that list both directions."""
        for name, table in self.tables.items():
            if "edges" in name:
                ends = self.random() < 0.5
                table.rows[:] = [
                    row for row in table.rows if row["type"] != "near" or ends or row["source"] <= row["target"]
                ] or table.rows[:1]

    def move(self):
        self.shuffle(self.choice(list(self.tables.values())).rows)

    def double(self):
        rows = self.choice(list(self.tables.values())).rows
        rows.insert(self.randrange(len(rows) + 1), dict(self.choice(rows)))

    def add_nodes(self):
        rows = self.some("nodes").rows
        at = self.randrange(len(rows) + 1)
        rows[at:at] = [self.node(self.choice([None, "nobody"])) for _ in range(1)]

    def drop_nodes(self):
        rows = self.some("nodes").rows
        for _ in range(min(len(rows) - 1, self.choice([1, 2]))):
            rows.pop(self.randrange(len(rows)))

    def change_nodes(self):
        row = self.choice(self.some("nodes").rows)
        row |= {**self.node(row["id"]), "id": row["id"]}

    def rename_node(self):
        self.choice(self.some("nodes").rows)["id"] = self.choice([self.node()["id"], "", "nobody"])

    def split_node(self):
        """Have a node told by a row of two files."""
        row = dict(self.choice(self.some("nodes").rows))
        self.some("nodes").rows.append(row)

    def add_file(self):
        self.tables["edges8"] = Table("edges8", self.edge_columns(), self.edges(3))

    def drop_file(self):
        names = [name for name in self.tables if name.startswith("edges")]
        if len(names) > 1:
            del self.tables[self.choice(names)]

    def rename_file(self):
        name = self.choice([name for name in self.tables if name.startswith("edges")])
        table = self.tables.pop(name)
        table.name = "edges7"
        self.tables["edges7"] = table

    def add_column(self):
        table = self.choice(list(self.tables.values()))
        if "more" not in table.columns:
            table.columns.append("more")
            for row in table.rows:
                row["more"] = self.choice(["", "1", "two"])

    def drop_column(self):
        table = self.choice(list(self.tables.values()))
        table.columns = [name for name in table.columns if name not in ("more", "note", "year")]


def write(world, folder, form):
    folder.mkdir(exist_ok=True)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    for path in before:
        path.unlink()
    for table in world.tables.values():
        table.write(folder, form)
    for path, content in before.items():
        if path.exists() and path.read_bytes() == content:
            os.utime(path, ns=(1, 1))  # the time of a file that stays as it is
    for path in folder.iterdir():
        if before.get(path) not in (None, path.read_bytes()):
            os.utime(path, ns=(world.count * 10**9, world.count * 10**9))


def noted(graph):
    """Return what the ledger says of the rows."""
    ledger = read_ledger(graph.path, graph.generation)
    about = ledger.about.model_dump(exclude={"generation"})
    about["tables"] = sorted(map(repr, about["tables"]))
    folder = ledger._folder
    return about, {name: (folder.path / name).read_bytes() for name in sorted(folder._names) if name != "ledger.json"}


def counts(report):
    cuts = {verb: {cut.reason: cut.count for cut in getattr(report, verb)} for verb in ("dropped", "merged")}
    return {
        **cuts,
        **{name: getattr(report, name) for name in ("nodes", "edges", "node_types", "edge_types", "symmetric")},
    }


def check(folder, updated, fresh, report, expected):
    ours, theirs = Graph.open(updated), Graph.open(fresh)
    assert facts(ours) == facts(theirs)
    assert counts(report) == counts(expected)
    if order(ours) == order(theirs):
        assert files(ours) == files(theirs)
    assert noted(ours) == noted(theirs)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "tsv"])
@pytest.mark.parametrize("seed", seeds(8, usual=2))
def test_it_holds_what_an_import_gives(seed, form, tmp_path):
    world = World(seed * 7 + len(form))
    source, updated, fresh = tmp_path / "tables", tmp_path / "updated", tmp_path / "fresh"
    write(world, source, form)
    try:
        update_graph([source], updated, options=ImportOptions())
    except Error as error:
        pytest.skip(f"no graph to begin with: {error}")
    for _ in range(6):
        for _ in range(world.choice([1, 1, 2, 4])):
            world.edit()
        write(world, source, form)
        generation = read_pointer(updated).generation
        try:
            expected = update_graph([source], fresh, options=ImportOptions(replan=True))
            import_graph([source], tmp_path / "plain", options=ImportOptions(force=True))
        except Error as error:
            with pytest.raises(type(error), match="."):
                update_graph([source], updated, options=ImportOptions())
            assert read_pointer(updated).generation == generation
            break
        report = update_graph([source], updated, options=ImportOptions())
        if report.otherwise:  # what was edited would be planned otherwise, and the graph keeps its plan
            check_same(by_file(source, updated, tmp_path / "other"), updated)
            break
        check(source, updated, fresh, report, expected)
