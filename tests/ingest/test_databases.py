"""SQLite databases as public dumps have them, with invented rows: SQL is the oracle of what leads where."""

from __future__ import annotations

import csv
import sqlite3
from pathlib import Path
from random import Random

import pytest

from fakes.inside import inside
from orienteer.errors import BadInput
from orienteer.graph import Graph
from orienteer.ingest import ImportOptions, SqliteTable, check_readable, import_graph, mappings_as_toml, stored_tables

SCHEMAS = Path(__file__).parent / "schemas" / "databases"


@pytest.fixture
def database(tmp_path):
    """Give a function that makes the database of a script and returns its path."""

    def made(name):
        path = tmp_path / f"{name}.db"
        with sqlite3.connect(path) as connection:
            connection.executescript((SCHEMAS / f"{name}.sql").read_text(encoding="utf-8"))
        connection.close()
        return path

    return made


def asked(path, sql):
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


# Of each edge type, SQL for the types and ids of its two ends.
EDGES = {
    "chinook": {
        ("album", "artist", "artist"): "SELECT AlbumId, ArtistId FROM Album",
        ("track", "album", "album"): "SELECT TrackId, AlbumId FROM Track WHERE AlbumId IS NOT NULL",
        ("track", "genre", "genre"): "SELECT TrackId, GenreId FROM Track",
        ("playlist", "playlist_track", "track"): "SELECT PlaylistId, TrackId FROM PlaylistTrack",
        ("employee", "reports_to", "employee"): "SELECT EmployeeId, ReportsTo FROM Employee WHERE ReportsTo > 0",
        ("customer", "support_rep", "employee"): "SELECT CustomerId, SupportRepId FROM Customer",
        ("invoice", "customer", "customer"): "SELECT InvoiceId, CustomerId FROM Invoice",
        ("invoice_line", "invoice", "invoice"): "SELECT InvoiceLineId, InvoiceId FROM InvoiceLine",
        ("invoice_line", "track", "track"): "SELECT InvoiceLineId, TrackId FROM InvoiceLine",
    },
    "northwind": {
        ("product", "supplier", "supplier"): "SELECT ProductID, SupplierID FROM Products",
        ("product", "category", "category"): "SELECT ProductID, CategoryID FROM Products",
        ("territory", "region", "region"): "SELECT TerritoryID, RegionID FROM Territories",
        ("employee", "reports_to", "employee"): "SELECT EmployeeID, ReportsTo FROM Employees WHERE ReportsTo > 0",
        ("employee", "employee_territories", "territory"): "SELECT EmployeeID, TerritoryID FROM EmployeeTerritories",
        ("order", "customer", "customer"): "SELECT OrderID, CustomerID FROM Orders",
        ("order", "employee", "employee"): "SELECT OrderID, EmployeeID FROM Orders",
        ("order", "order_details", "product"): 'SELECT OrderID, ProductID FROM "Order Details"',
    },
    "sakila": {
        ("film", "language", "language"): "SELECT film_id, language_id FROM film",
        ("film", "original_language", "language"): "SELECT film_id, original_language_id FROM film WHERE film_id = 2",
        ("actor", "film_actor", "film"): "SELECT actor_id, film_id FROM film_actor",
        ("film", "film_category", "category"): "SELECT film_id, category_id FROM film_category",
        ("store", "manager_staff", "staff"): "SELECT store_id, manager_staff_id FROM store",
        ("staff", "store", "store"): "SELECT staff_id, store_id FROM staff",
    },
    "django": {
        ("library_book", "publisher", "library_publisher"):
            "SELECT id, publisher_id FROM library_book WHERE publisher_id > 0",
        ("library_book", "library_book_authors", "library_author"):
            "SELECT book_id, author_id FROM library_book_authors",
        ("library_loan", "book", "library_book"): "SELECT id, book_id FROM library_loan",
        ("library_loan", "borrower", "auth_user"): "SELECT id, borrower_id FROM library_loan",
    },
    "forum": {
        ("post", "parent", "post"): "SELECT Id, ParentId FROM Posts WHERE ParentId > 0",
        ("post", "owner_user", "user"): "SELECT Id, OwnerUserId FROM Posts",
        ("comment", "post", "post"): "SELECT Id, PostId FROM Comments",
        ("comment", "user", "user"): "SELECT Id, UserId FROM Comments",
        ("badge", "user", "user"): "SELECT Id, UserId FROM Badges",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", EDGES)
def test_a_public_dump_is_imported_without_any_option(name, database, tmp_path):
    path = database(name)
    report = import_graph([path], tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph")
    found = {}
    for edge in graph.iter_edges():
        ends = graph.node(edge.source), graph.node(edge.target)
        found.setdefault((ends[0].type, edge.type, ends[1].type), set()).add(
            tuple(end.id.removeprefix(f"{end.type}:") for end in ends)
        )
    wanted = {key: {(str(a), str(b)) for a, b in asked(path, sql)} for key, sql in EDGES[name].items()}
    assert {key: pairs for key, pairs in found.items() if key in wanted} == wanted
    assert set(found) - set(wanted) <= MADE.get(name, set())
    assert {cut.reason for cut in report.dropped} <= {"bytes"}


UNNAMED = {"chinook": {("customer", "support_rep", "employee")}, "northwind": set()}
"""Foreign keys that no name tells of: without a declaration numbers alone lead nowhere."""


@pytest.mark.parametrize("name", UNNAMED)
def test_the_same_tables_as_csv_have_the_same_edges_by_their_values(name, database, tmp_path):
    path, folder = database(name), tmp_path / "csv"
    folder.mkdir()
    for (table,) in asked(path, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"):
        connection = sqlite3.connect(path)
        cursor = connection.execute(f'SELECT * FROM "{table}"')
        with (folder / f"{table}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow([column for column, *_ in cursor.description])
            writer.writerows([None if isinstance(cell, bytes) else cell for cell in row] for row in cursor)
        connection.close()
    report = import_graph([folder], tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph")
    found = {}
    for edge in graph.iter_edges():
        ends = graph.node(edge.source), graph.node(edge.target)
        found.setdefault((ends[0].type, edge.type, ends[1].type), set()).add(
            tuple(end.id.removeprefix(f"{end.type}:") for end in ends)
        )
    wanted = {key: sql for key, sql in EDGES[name].items() if key not in UNNAMED[name]}
    assert found == {key: {(str(a), str(b)) for a, b in asked(path, sql)} for key, sql in wanted.items()}
    (employees,) = [mapping for mapping in report.mapping if mapping.type == "employee"]
    assert "ReportsTo: 100% of its values are keys of employee rows" in employees.why


MADE = {
    "forum": {("badge", "name", "name")},
}
"""Edges to nodes that are made of the values of a column."""


def test_what_the_tables_say_is_kept(database, tmp_path):
    import_graph([database("chinook")], tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph")
    track = graph.node("Bank")
    assert (track.id, track.type) == ("track:2", "track")
    own = {"Composer": "O. Reed", "Milliseconds": 185500, "UnitPrice": 1.99}
    assert own.items() <= track.properties.items()
    assert graph.node("Ada Marsh").type == "employee"
    import_graph([database("northwind")], tmp_path / "orders")
    orders = Graph.open(tmp_path / "orders")
    (edge,) = [edge for edge in orders.iter_edges() if edge.properties.get("Quantity") == 10]
    assert edge.properties == {"UnitPrice": 9.8, "Quantity": 10, "Discount": 0.1}


def test_pictures_are_left_out_and_counted(database, tmp_path):
    report = import_graph([database("northwind")], tmp_path / "graph")
    assert [(cut.reason, cut.count, cut.first[0].value) for cut in report.dropped] == [("bytes", 2, "Picture")]
    assert "Picture" not in Graph.open(tmp_path / "graph").node("Teas").properties


def test_views_virtual_tables_and_computed_columns_are_not_read(database, tmp_path):
    report = import_graph([database("forum")], tmp_path / "graph")
    names = {mapping.file.rpartition("#")[2] for mapping in report.mapping}
    assert names == {"Users", "Posts", "Comments", "Badges"}
    post = Graph.open(tmp_path / "graph").node("How do I seal a leaking kettle?")
    assert "TitleLength" not in post.properties


def test_columns_can_be_private_and_a_mapping_be_written_and_taken(database, tmp_path):
    path = database("django")
    report = import_graph([path], tmp_path / "graph", options=ImportOptions(private=("password",)))
    assert report.private == {"password": 2}
    graph = Graph.open(tmp_path / "graph")
    assert all("password" not in graph.node(name).properties for name in graph.node_ids())

    toml = tmp_path / "mapping.toml"
    toml.write_text(
        mappings_as_toml(report.mapping, [path]).replace('type = "library_loan"', 'type = "loan"'), encoding="utf-8"
    )
    again = import_graph([path], tmp_path / "again", options=ImportOptions(mapping=toml))
    assert (again.edges, again.node_types["loan"]) == (report.edges, 3)


# ------------------------------------------------------------------------------------------------------ hostile files

pytestmark = pytest.mark.corpus("attacks by files")


def made(path, script):
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.commit()
    connection.close()
    return path


SIMPLE = "CREATE TABLE beer (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO beer VALUES (1, 'Ale'), (2, 'Stout');"


def more(end):
    return "BEGIN;" + "".join(f"INSERT INTO beer VALUES ({n}, 'beer number {n}');" for n in range(3, end)) + "COMMIT;"


def test_nothing_in_a_database_runs_and_nothing_is_written(tmp_path):
    path = made(
        tmp_path / "x.db",
        SIMPLE
        + "CREATE TABLE log (id INTEGER PRIMARY KEY, name TEXT, far AS (hex(name) || 'x'), n AS (1 + id));"
        + "INSERT INTO log (id, name) VALUES (1, 'a');"
        + "CREATE TRIGGER t AFTER UPDATE ON beer BEGIN DELETE FROM log; END;"
        + "CREATE VIEW v AS SELECT load_extension('evil') FROM beer;"
        + "CREATE INDEX i ON beer (name) WHERE name > 'a';",
    )
    before = path.read_bytes(), sorted(tmp_path.iterdir())
    path.chmod(0o444)
    report = import_graph([path], tmp_path / "graph")
    assert report.node_types == {"beer": 2, "log": 1}
    assert (path.read_bytes(), sorted(p for p in tmp_path.iterdir() if p.name != "graph")) == before
    log = Graph.open(tmp_path / "graph").node("a")
    assert log.properties.keys() & {"far", "n"} == set()


def test_a_view_in_place_of_a_table_is_no_table(tmp_path):
    path = made(tmp_path / "x.db", "CREATE VIEW beer AS SELECT 1 AS id, 'x' AS name;")
    with pytest.raises(BadInput, match="is a database without tables"):
        import_graph([path], tmp_path / "graph")


def test_changes_that_are_not_written_yet_are_refused(tmp_path):
    path = made(tmp_path / "x.db", SIMPLE)
    (tmp_path / "x.db-wal").write_bytes(b"x" * 40)
    with pytest.raises(BadInput, match="x.db has changes in x.db-wal that are not in it yet"):
        import_graph([path], tmp_path / "graph")


@pytest.mark.parametrize("cut", [20, 100, 3000, 5000, 8000])
def test_a_damaged_database_is_one_clear_error(cut, tmp_path):
    path = made(tmp_path / "x.db", SIMPLE + more(900))
    content = path.read_bytes()
    assert len(content) > 8000
    path.write_bytes(content[:cut])
    with pytest.raises(BadInput, match="x.db is no whole SQLite database") as caught:
        import_graph([path], tmp_path / "graph")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "graph").exists()


def test_flipped_bytes_never_raise_anything_but_ours(tmp_path):
    path = made(tmp_path / "x.db", SIMPLE + more(200))
    content = path.read_bytes()
    random, messages = Random(7), []
    for _ in range(100):
        damaged = bytearray(content)
        for _ in range(random.randint(1, 8)):
            damaged[random.randrange(16, len(damaged))] = random.randrange(256)
        path.write_bytes(damaged)
        try:
            for table in stored_tables(path):
                for batch in SqliteTable(table).batches(path, rows=50, drop=lambda *_: None, header=True):
                    assert len(batch)
        except BadInput as error:
            messages.append(str(error))
    assert messages
    assert not any("\n" in message for message in messages)


def test_pages_that_lead_in_circles_come_to_an_end(tmp_path):
    """An interior page whose children are all one page: 40 million rows in a file of a few kilobytes."""
    path = made(tmp_path / "x.db", "PRAGMA page_size = 512;" + SIMPLE + more(3000))
    content = bytearray(path.read_bytes())
    pages = [content[at : at + 512] for at in range(0, len(content), 512)]
    interior = [number for number, page in enumerate(pages) if number and page[0] == 5]
    assert interior
    for number in interior:
        page = pages[number]
        count = int.from_bytes(page[3:5], "big")
        first = int.from_bytes(page[12:14], "big")
        child = page[first : first + 4]
        for cell in range(count):
            at = int.from_bytes(page[12 + 2 * cell : 14 + 2 * cell], "big")
            page[at : at + 4] = child
    path.write_bytes(b"".join(pages))
    monkey = pytest.MonkeyPatch()
    monkey.setattr(inside(check_readable), "SMALL", 1 << 12)
    monkey.setattr(inside(check_readable), "MOST_RATIO", 1)
    try:
        with pytest.raises(BadInput, match="comes to more than 1 times its size"):
            import_graph([path], tmp_path / "graph")
    finally:
        monkey.undo()


def test_rows_have_a_largest_size_and_texts_are_utf8(tmp_path, monkeypatch):
    path = made(tmp_path / "x.db", SIMPLE + "INSERT INTO beer VALUES (3, CAST(x'4BF66C6E' AS TEXT));")
    report = import_graph([path], tmp_path / "graph")
    assert [(cut.reason, cut.count, cut.first[0].line) for cut in report.dropped] == [("bad encoding", 1, 3)]
    path = made(tmp_path / "y.db", SIMPLE + "INSERT INTO beer VALUES (3, hex(zeroblob(5000)));")
    monkeypatch.setattr(inside(stored_tables), "MOST_RECORD", 4000)
    with pytest.raises(BadInput, match=r"y\.db.*(too big|a row of more than)"):
        import_graph([path], tmp_path / "again")


def test_names_are_quoted_and_compared_as_sqlite_does(tmp_path):
    path = made(
        tmp_path / "x.db",
        """CREATE TABLE "or""der; DROP TABLE beer" (ID INTEGER PRIMARY KEY, name TEXT);
        INSERT INTO "or""der; DROP TABLE beer" VALUES (1, 'odd');
        CREATE TABLE beer (id INTEGER PRIMARY KEY, name TEXT, "gr""oup" INTEGER REFERENCES GROUPS (Id));
        CREATE TABLE "groups" (id INTEGER PRIMARY KEY, name TEXT) WITHOUT ROWID;
        INSERT INTO "groups" VALUES (1, 'dark'); INSERT INTO beer VALUES (1, 'Stout', 1);""",
    )
    report = import_graph([path], tmp_path / "graph")
    assert report.nodes == 3
    assert report.edges == 1


def test_a_database_alone_in_a_folder_and_under_any_suffix(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    made(folder / "data.bin", SIMPLE)
    assert import_graph([folder], tmp_path / "graph").nodes == 2
    assert import_graph([folder / "data.bin"], tmp_path / "again").nodes == 2


def test_a_foreign_key_of_several_columns_leads_to_the_row_that_has_them_all(tmp_path):
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.executescript("""
            CREATE TABLE orders (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE lines (order_id INTEGER REFERENCES orders(id), line_no INTEGER, item TEXT,
              PRIMARY KEY (order_id, line_no));
            CREATE TABLE returns (id INTEGER PRIMARY KEY, reason TEXT, order_id INTEGER, line_no INTEGER,
              FOREIGN KEY (order_id, line_no) REFERENCES lines (order_id, line_no));
            INSERT INTO orders VALUES (1, 'First'), (2, 'Second');
            INSERT INTO lines VALUES (1, 1, 'Tea'), (1, 2, 'Salt'), (2, 1, 'Tea');
            INSERT INTO returns VALUES (7, 'stale', 1, 2);
        """)
    connection.close()
    report = import_graph([path], tmp_path / "graph")
    assert report.edge_types == {"order": 3, "line": 1}
    graph = Graph.open(tmp_path / "graph")
    kept = graph.node("7").properties
    assert (kept["order_id"], kept["line_no"]) == (1, 2)
    (edge,) = (edge for edge in graph.iter_edges() if edge.type == "line")
    assert (edge.source, graph.node(edge.target).properties["item"]) == ("7", "Salt")
