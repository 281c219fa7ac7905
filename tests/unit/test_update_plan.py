"""`import --update` keeps the plan of a graph, as an import by its mapping file would; `--replan` makes a new one."""

import csv
import json
import random
from copy import deepcopy

import pytest

from lanes import seeds
from orienteer.errors import BadOption, DuplicateNode, Error
from orienteer.graph import Graph, read_pointer
from orienteer.ingest import ImportOptions, import_graph, mappings_as_toml, update_graph
from same_graphs import by_file, check_same, mappings

EDITS = 25
WORDS = ["Adler", "Möwe", "Holm", "Sund", "Kap", "Anker", "Linde", "Birke", "Falke", "Perle", "Stern", "Welle"]
NULLS = ["N/A", "-", "null", "NA"]
ODD = ["ca. 5", "soon", "?", "unknown to all", "13/13/2020", "1,234", "007", "0.10", "äöü", "a|b", "[1, 2]"]


class Folder(random.Random):
    """Tables as people have them, at random, and edits of them."""

    def __init__(self, seed):
        super().__init__(seed)
        self.count = 0
        kinds = self.sample(self.kinds, k=self.choice([2, 3, 4]))
        self.tables = {}
        for kind in sorted(kinds, key=lambda kind: kind.__name__ != "towns"):
            self.add(kind)

    @property
    def kinds(self):
        return [self.towns, self.ships, self.trips, self.log, self.calls, self.routes]

    def add(self, kind):
        name = kind.__name__ if kind.__name__ not in self.tables else f"{kind.__name__}_{self.count}"
        form = {"ships": "xlsx", "log": "jsonl"}.get(kind.__name__, "csv")
        self.tables[name] = [form, [kind(number) for number in range(self.choice([4, 9, 25]))]]

    def name(self):
        self.count += 1
        return f"{self.choice(WORDS)} {self.choice(WORDS)} {self.count}"

    def some(self, table, column, otherwise):
        """Return a value of another table, so that columns lead there."""
        rows = self.tables[table][1] if table in self.tables else []
        values = [row[column] for row in rows if row.get(column)]
        return self.choice(values) if values else self.choice(otherwise)

    def towns(self, number):
        return {
            "code": f"{self.choice('ABCD')}{self.choice('XYZ')}{number + 10}",
            "town": self.name(),
            "region": self.choice(["north", "south", "west"]),
            "inhabitants": f"{self.randrange(1, 99)},{self.randrange(100, 999)}",
            "founded": f"{self.randrange(1, 29):02}/{self.randrange(1, 13):02}/{self.randrange(1700, 1999)}",
        }

    def ships(self, number):
        return {
            "ship_no": number + 1,
            "name": self.name(),
            "home": self.some("towns", "code", ["AX1", "BY2", "CZ3"]),
            "length": f"{self.randrange(10, 90)}.{self.randrange(10)} m",
            "built": self.randrange(1950, 2020),
        }

    def trips(self, number):
        return {
            "trip": f"T-{number + 100}",
            "ship_no": self.some("ships", "ship_no", [1, 2, 3]),
            "from_town": self.some("towns", "code", ["AX1", "BY2"]),
            "to_town": self.some("towns", "town", ["Kap", "Holm"]),
            "day": f"2024-{self.randrange(1, 13):02}-{self.randrange(1, 29):02}",
            "fare": f"{self.randrange(1, 40)},{self.randrange(10, 99)}",
        }

    def log(self, number):
        return {
            "ship": self.some("ships", "name", ["Adler", "Perle"]),
            "entry": f"{self.choice(['saw', 'met', 'left'])} {self.name()} at night, and wrote it down.",
            "tags": self.sample(["storm", "fog", "ice"], k=self.randrange(3)),
            "wind": self.choice([3, 4.5, 7]),
        }

    def calls(self, number):
        return {
            "ship_no": self.some("ships", "ship_no", [1, 2, 3]),
            "code": self.some("towns", "code", ["AX1", "BY2", "CZ3"]),
            "hours": self.choice([1, 2.5, 8]),
        }

    def routes(self, number):
        return {
            "source": self.some("towns", "code", ["AX1", "BY2", "NA"]),
            "target": self.some("towns", "town", ["Kap", "Holm", "-"]),
            "relation": self.choice(["ferry", "road", "n/a"]),
            "weight": self.choice([1, 0.5, "many"]),
        }

    # ----------------------------------------------------------------------------------------------------------- edits

    def edit(self):
        """Edit the tables in one way of many."""
        self.choice(
            [self.grow, self.grow, self.shrink, self.change, self.change, self.spoil, self.empty, self.reorder]
            + [self.double, self.add_column, self.drop_column, self.add_file, self.drop_file, self.rename_file]
        )()

    def rows(self):
        return self.choice([rows for _, rows in self.tables.values()])

    def kind(self, name):
        return getattr(self, name.split("_")[0], self.towns)

    def grow(self):
        name = self.choice(list(self.tables))
        rows = self.tables[name][1]
        made = [self.kind(name)(len(rows) + number + 50) for number in range(self.choice([1, 3]))]
        rows += [{column: row.get(column, "x") for column in rows[0]} for row in made]

    def shrink(self):
        rows = self.rows()
        for _ in range(min(len(rows) - 2, self.choice([1, 5]))):
            rows.pop(self.randrange(len(rows)))

    def change(self):
        name = self.choice(list(self.tables))
        rows = self.tables[name][1]
        column = self.choice(list(rows[0]))
        self.choice(rows)[column] = self.kind(name)(self.randrange(200, 999)).get(column, "other")

    def spoil(self):
        """Put a value where the others are of another form."""
        rows = self.rows()
        self.choice(rows)[self.choice(list(rows[0]))] = self.choice(ODD)

    def empty(self):
        rows = self.rows()
        self.choice(rows)[self.choice(list(rows[0]))] = self.choice(["", *NULLS])

    def reorder(self):
        self.shuffle(self.rows())

    def double(self):
        rows = self.rows()
        rows.append(dict(self.choice(rows)))

    def add_column(self):
        values = self.choice([[1, 2, 3], ["yes", "no"], WORDS, NULLS, ["AX10", "BY11"]])
        name = self.choice(["grade", "name", "type", "also", "town_code"])
        for row in (rows := self.rows()):
            row[name] = self.some("towns", "code", values) if name == "town_code" else self.choice(values)
        assert rows

    def drop_column(self):
        rows = self.rows()
        column = self.choice(list(rows[0]))
        if len(rows[0]) > 3:
            for row in rows:
                row.pop(column, None)

    def add_file(self):
        if len(self.tables) < 5:
            self.add(self.choice(self.kinds))

    def drop_file(self):
        if len(self.tables) > 2:
            del self.tables[self.choice(list(self.tables))]

    def rename_file(self):
        name = self.choice(list(self.tables))
        self.count += 1
        self.tables[f"{name.split('_')[0]}_{self.count}"] = self.tables.pop(name)

    def write(self, folder):
        folder.mkdir(exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
        for name, (form, rows) in self.tables.items():
            path, columns = folder / f"{name}.{form}", list(rows[0])
            if form == "jsonl":
                path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
            elif form == "xlsx":
                book = pytest.importorskip("openpyxl").Workbook()
                book.active.append(columns)
                for row in rows:
                    book.active.append([row.get(column) for column in columns])
                book.save(path)
            else:
                with path.open("w", newline="", encoding="utf-8") as file:
                    writer = csv.DictWriter(file, columns, restval="", extrasaction="ignore")
                    writer.writeheader()
                    writer.writerows(rows)


def check_planned_anew(updated, plain):
    """Check that a graph is as a plain import makes it, and its plan too, but for the words for why."""
    check_same(updated, plain)
    plans = [[(each.file, each.kind, each.type, each.columns) for each in mappings(path)] for path in (updated, plain)]
    assert plans[0] == plans[1]


def update(source, graph, **options):
    return update_graph([source], graph, options=ImportOptions(**options))


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(8, usual=1))
def test_an_update_equals_an_import_by_the_same_plan(seed, tmp_path):
    folder = Folder(seed)
    source, kept, anew, plain = (tmp_path / name for name in ("tables", "kept", "anew", "plain"))
    folder.write(source)
    update(source, kept)
    update(source, anew)
    check_same(by_file(source, kept, tmp_path / "other"), kept)
    for _ in range(EDITS):
        tables = deepcopy(folder.tables)
        folder.edit()
        folder.write(source)
        before = mappings(kept)
        generation = read_pointer(kept).generation
        try:
            import_graph([source], plain, options=ImportOptions(force=True))
        except Error as error:
            with pytest.raises(type(error), match="."):
                update(source, anew, replan=True)
            with pytest.raises(Error):
                update(source, kept)
            assert read_pointer(kept).generation == generation
            folder.tables = tables
            continue
        update(source, anew, replan=True)
        check_planned_anew(anew, plain)
        report, refusal = tried(source, kept)
        if report is None:
            assert "--replan" in refusal
            assert read_pointer(kept).generation == generation
        else:
            check_same(by_file(source, kept, tmp_path / "other"), kept)
            check_said(before, report, kept, plain)
        if report is None or (report.otherwise and folder.random() < 0.2):
            update(source, kept, replan=True)  # no file has changed since
            check_planned_anew(kept, plain)
            assert not update(source, kept).otherwise


def tried(source, graph):
    """Update a graph; return its report, or why it was refused."""
    try:
        return update(source, graph), ""
    except Error as error:
        return None, str(error)


def check_said(before, report, kept, plain):
    """Check that what a new plan would change is said, and that nothing else was changed unsaid."""
    ours, theirs = ({each.file: each for each in mappings(path)} for path in (kept, plain))
    otherwise = {(each.file, each.column) for each in report.otherwise}
    for file, mapping in ours.items():
        for column, role in mapping.columns.items():
            if theirs[file].columns.get(column) != role:
                assert {(file, column), (file, "")} & otherwise, (file, column)
        was = next((each for each in before if each.file == file), None)
        for column, role in was.columns.items() if was is not None else ():
            if mapping.columns.get(column) != role:
                assert any(line.startswith(f"{file}: ") for line in report.became), (file, column, role)


# ------------------------------------------------------------------------------------------------------------- cases

SHOP = {
    "customers.csv": "customer_id,name,since\nC7,Ada,31/12/2019\nC8,Bob,14/02/2020\nC9,Eve,01/03/2021\n",
    "orders.csv": "order_no,customer_id,total\n1001,C7,12.5\n1002,C9,7.25\n1003,C7,3.1\n",
}


@pytest.fixture
def shop(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    for name, text in SHOP.items():
        (folder / name).write_text(text)
    update(folder, tmp_path / "graph")
    return folder


@pytest.fixture
def graph(tmp_path):
    return tmp_path / "graph"


def add(path, *lines):
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def roles(graph):
    return {each.file.rpartition("/")[2]: dict(each.columns) for each in mappings(graph)}


def test_a_value_of_another_form_does_not_change_its_column(shop, graph):
    add(shop / "customers.csv", "C10,Ida,soon", "C11,Jo,later")
    report = update(shop, graph)
    assert [(each.column, each.kept, each.new) for each in report.otherwise] == [("since", "date d/m/y", "property")]
    assert (
        "since would be property, and is kept as date d/m/y, texts of another form as since_text"
        in report.otherwise[0].line
    )
    held = Graph.open(graph)
    assert held.node("C7").properties["since"] == "2019-12-31"
    assert held.node("C10").properties["since_text"] == "soon"
    assert update(shop, graph).otherwise == report.otherwise  # until it is settled, also where nothing is read
    assert update(shop, graph, replan=True).otherwise == ()
    assert Graph.open(graph).node("C7").properties["since"] == "31/12/2019"


def test_rows_of_one_id_are_refused_and_a_new_plan_takes_them(shop, graph):
    before = read_pointer(graph)
    add(shop / "customers.csv", "C7,Ann,02/02/2022")
    with pytest.raises(DuplicateNode, match="The ids are those of the graph's plan: --replan makes a new one"):
        update(shop, graph)
    assert read_pointer(graph) == before
    assert update(shop, graph, replan=True).node_types["customer"] == 4


def test_a_new_file_is_planned_around_the_others(shop, graph):
    """Its type and its ids give way; what it leads to is what the graph has."""
    (shop / "Customer.csv").write_text("customer_id,city\nC7,Bonn\nX2,Kiel\n")
    (shop / "notes.csv").write_text("note_no,customer_id,says\n1,C7,rang twice\n2,C8,wrote\n3,C9,came by\n")
    report = update(shop, graph)
    assert roles(graph)["customers.csv"]["customer_id"] == "id"
    assert roles(graph)["notes.csv"]["customer_id"] == "edge customer -> customer.customer_id"
    assert {line.rpartition("/")[2].partition(":")[0] for line in report.became} == {"Customer.csv", "notes.csv"}
    types = {each.file.rpartition("/")[2]: each.type for each in mappings(graph)}
    assert types["customers.csv"] == "customer" != types["Customer.csv"]
    assert [Graph.open(graph).node(name).name for name in ("C7", "C8", "C9")] == ["Ada", "Bob", "Eve"]


def test_what_leads_to_a_file_that_is_gone_is_planned_anew(shop, graph, tmp_path):
    (shop / "goods.csv").write_text("sku,label\nA1,Tea\nB2,Rice\nC3,Salt\n")
    (shop / "lines.csv").write_text("order_no,sku,pieces\n1001,A1,2\n1001,B2,1\n1002,C3,5\n1003,A1,1\n")
    update(shop, graph, replan=True)
    assert Graph.open(graph).arrays.manifest.edge_types["lines"] == 4
    (shop / "goods.csv").unlink()
    report = update(shop, graph)
    told = "\n".join(report.became)
    assert "goods.csv: no table any more" in told
    assert "lines.csv: planned anew, for what sku leads to is gone" in told
    check_same(by_file(shop, graph, tmp_path / "other"), graph)


@pytest.mark.parametrize(
    ("header", "role", "told"),
    [
        ("customer_id,name,since", "date d/m/y", None),
        ("customer_id,name,joined", "date d/m/y", "joined is new, read as date d/m/y"),
        ("number,name,since", "date d/m/y", "planned anew, for customer_id (id) is gone"),
    ],
)
def test_columns_that_come_and_go_are_told(shop, graph, header, role, told):
    text = SHOP["customers.csv"].replace("customer_id,name,since", header)
    (shop / "customers.csv").write_text(text + "C11,Ida,05/05/2022\n")
    report = update(shop, graph)
    assert roles(graph)["customers.csv"][header.split(",")[2]] == role
    assert (told in "\n".join(report.became)) if told else not report.became


def test_letters_stay_while_the_file_does_not_show_others(shop, graph):
    (shop / "towns.csv").write_bytes("code,town\nA1,Köln\nB2,Rügen\nC3,Malmö\n".encode("cp1252"))
    update(shop, graph)
    (shop / "towns.csv").write_bytes("code,town\nA1,Köln\nB2,Rügen\nC3,Malmö\nD4,Århus\n".encode("cp1252"))
    update(shop, graph)
    (shop / "towns.csv").write_bytes("code,town\nA1,Köln\nB2,Rügen\nC3,Łódź\n".encode())
    update(shop, graph)
    assert [Graph.open(graph).node(name).name for name in ("A1", "B2", "C3")] == ["Köln", "Rügen", "Łódź"]


def test_the_plan_is_found_whatever_the_folder_is_called_by(shop, graph, monkeypatch):
    monkeypatch.chdir(shop.parent)
    add(shop / "customers.csv", "C10,Ida,soon", "C11,Jo,later")
    update(shop.relative_to(shop.parent), graph)
    monkeypatch.chdir(shop)
    add(shop / "customers.csv", "C12,Ute,06/06/2022")
    report = update_graph([shop.parent / "shop"], graph, options=ImportOptions())
    assert (report.became, [each.kept for each in report.otherwise]) == ((), ["date d/m/y"])


def test_a_graph_by_a_mapping_file_follows_the_file(shop, tmp_path):
    plan, graph = tmp_path / "plan.toml", tmp_path / "strict"
    plan.write_text(mappings_as_toml(mappings(tmp_path / "graph"), [shop]), encoding="utf-8")
    update(shop, graph, mapping=plan, strict=True)
    plan.write_text(plan.read_text().replace('"since" = "date d/m/y"', '"since" = "property"'))
    report = update(shop, graph, mapping=plan, strict=True)
    assert (report.became, report.otherwise) == ((), ())
    assert Graph.open(graph).node("C7").properties["since"] == "31/12/2019"
    with pytest.raises(BadOption, match="leave out --replan"):
        update(shop, graph, mapping=plan, strict=True, replan=True)


def test_a_mapping_that_is_drafted_gives_the_same_labels_and_null_words(tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "nodes.csv").write_text("id,name,type\na,Ada,n/a\nNA,Nan,person\nb,-,person\n")
    (folder / "edges.csv").write_text("source,relation,target\na,knows,NA\nNA,knows,b\nb,likes,a\n")
    (folder / "codes.csv").write_text("code,label\nknows,acquainted with\nlikes,fond of\n")
    import_graph([folder], tmp_path / "graph")
    assert Graph.open(tmp_path / "graph").arrays.manifest.labels.keys() == {"knows", "likes"}
    check_same(by_file(folder, tmp_path / "graph", tmp_path / "other"), tmp_path / "graph")


def test_sheets_of_one_name_are_of_one_type_unless_their_rows_differ(tmp_path):
    folder, openpyxl = tmp_path / "books", pytest.importorskip("openpyxl")
    folder.mkdir()
    for year, sheet, first in ((2023, "Orders", 1), (2024, "Orders", 1), (2025, "Orders", 50), (2023, "Sheet", 1)):
        book = openpyxl.Workbook()
        book.active.title = sheet
        for row in (["no", "item"], [first, f"Tea {year}"], [first + 1, f"Rice {year}"], [first + 2, f"Salt {year}"]):
            book.active.append(row)
        book.save(folder / f"{sheet[0]}{year}.xlsx")
    report = import_graph([folder], tmp_path / "graph")
    types = {each.file.rpartition("/")[2]: each.type for each in report.mapping}
    assert types["O2023.xlsx#Orders"] == types["O2025.xlsx#Orders"] != types["O2024.xlsx#Orders"]
    assert types["S2023.xlsx#Sheet"] not in ("sheet", "order")
    assert report.nodes == 12


def test_what_was_left_aside_is_read_when_nothing_else_is_there(tmp_path):
    folder, graph = tmp_path / "tables", tmp_path / "graph"
    folder.mkdir()
    (folder / "edges.csv").write_text("source,relation,target\na,knows,b\nb,knows,c\n")
    (folder / "calls.csv").write_text(SHOP["orders.csv"])
    assert update(folder, graph).node_types == {"node": 3}
    (folder / "edges.csv").unlink()
    report = update(folder, graph)
    assert report.node_types["call"] == 3
    assert "all is planned anew" in report.became[-1]


def test_columns_that_are_a_key_together_stay_one(tmp_path):
    folder, graph = tmp_path / "hall", tmp_path / "graph"
    folder.mkdir()
    seats = [(row, seat) for row in "ABC" for seat in (1, 2, 3, 4)]
    (folder / "seats.csv").write_text("row,seat,price\n" + "".join(f"{r},{s},{9 + s}.50\n" for r, s in seats))
    lines = "".join(f"{100 + n},{r},{s},Guest {n}\n" for n, (r, s) in enumerate(seats[::2]))
    (folder / "bookings.csv").write_text("booking,row,seat,guest\n" + lines)
    update(folder, graph)
    before = roles(graph)
    assert "row+seat" in before["seats.csv"]
    add(folder / "seats.csv", "D,1,9.50", "A,1,9.75")  # the second has the key of the first row
    add(folder / "bookings.csv", "300,D,1,Guest Z")
    report, refusal = tried(folder, graph)
    assert report is None
    assert "--replan makes a new one" in refusal
    text = (folder / "seats.csv").read_text()
    (folder / "seats.csv").write_text(text.replace("A,1,9.75\n", ""))
    report = update(folder, graph)
    assert not report.became
    assert roles(graph) == before
    check_same(by_file(folder, graph, tmp_path / "other"), graph)


@pytest.mark.parametrize(
    ("file", "header"),
    [
        ("friends.csv", "a,b"),
        ("friend_edges.csv", "source,target"),
        ("enrolments.csv", "student,course_id"),
        ("enrolment_edges.csv", "source,target"),
        ("leave.csv", "no,employee,days"),
    ],
)
def test_a_new_table_may_lead_to_people_by_their_two_names(file, header, tmp_path):
    """The kept plan does not join the names, for nothing led to them."""
    chance = random.Random(3)
    people = [(f"First{at % 20}", f"Family{at}") for at in range(50)]
    names = [" ".join(person) for person in people]
    source, graph, plain = (tmp_path / name for name in ("school", "graph", "plain"))
    source.mkdir()
    (source / "students.csv").write_text("first_name,last_name,age\n")
    add(source / "students.csv", *(f"{first},{last},{20 + at % 9}" for at, (first, last) in enumerate(people)))
    (source / "courses.csv").write_text("course_id,title\n")
    add(source / "courses.csv", *(f"C{at:03},Course {at}" for at in range(20)))
    update(source, graph)
    ends = [f"C{at:03}" for at in range(20)] if "enrolment" in file else names
    pairs = chance.sample([(one, other) for one in names for other in ends], 150)
    rows = [(str(at), one, str(at % 9)) for at, (one, _) in enumerate(pairs, 1)] if "days" in header else pairs
    (source / file).write_text(f"{header}\n")
    add(source / file, *map(",".join, rows))
    report = update(source, graph)
    assert [line for line in report.became if "gone" in line] == []
    import_graph([source], plain, options=ImportOptions(force=True))
    check_same(graph, plain)
    assert {each.file: each.columns for each in mappings(graph)} == {
        each.file: each.columns for each in mappings(plain)
    }
    assert not update(source, graph).otherwise
