"""Tables in the layouts of well-known public dumps, a few invented rows of each, imported without any option.

What has to be there is worked out by the csv module from the files themselves.
"""

import csv
import shutil
from collections import Counter
from pathlib import Path

import pytest

from orienteer import Graph

SCHEMAS = Path(__file__).parents[1] / "ingest" / "schemas"
NULLS = ("", "\\N", "n/a")


def rows(schema, file):
    text = (SCHEMAS / schema / file).read_text(encoding="utf-8")
    is_tabbed = "\t" in text.splitlines()[0]
    lines = text.splitlines()
    quoting = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if is_tabbed else {}
    return list(csv.DictReader(lines, **quoting))


def column(schema, file, *names):
    return [tuple(row[name] for name in names) for row in rows(schema, file)]


@pytest.fixture
def made(home, cli):
    """Give a function that imports a schema and returns its graph, the names of nodes by id, and its edges."""

    def make(schema):
        shutil.copytree(SCHEMAS / schema, home / schema)
        ran = cli("import", schema, "-o", f"{schema}.graph", "--json")
        assert ran.code == 0, ran.err
        graph = Graph.open(Path(f"{schema}.graph"))
        names = {node_id: (graph.node(node_id).type, graph.node(node_id).name) for node_id in graph.node_ids()}
        return graph, names, Counter((edge.source, edge.type, edge.target) for edge in graph.iter_edges())

    return make


def test_openflights(made):
    graph, names, edges = made("openflights")
    airports = column("openflights", "airports.csv", "Airport ID", "Name")
    airlines = column("openflights", "airlines.csv", "Airline ID", "Name")
    assert {i: ("airport", name) for i, name in airports}.items() <= names.items()
    assert {i: ("airline", name) for i, name in airlines}.items() <= names.items()
    expected = Counter()
    for line, row in enumerate(rows("openflights", "routes.csv"), 2):
        ends = {"airline": "Airline ID", "source_airport": "Source airport ID"}
        ends["destination_airport"] = "Destination airport ID"
        expected += Counter((f"route:{line}", kind, row[n]) for kind, n in ends.items() if row[n] not in NULLS)
    for file, key in (("airports.csv", "Airport ID"), ("airlines.csv", "Airline ID")):
        expected += Counter((i, "country", f"country:{c}") for i, c in column("openflights", file, key, "Country"))
    assert edges == expected
    assert graph.node("2").aliases == ("MW Express",)
    assert "IATA" not in graph.node("104").properties


def test_movielens(made):
    graph, names, edges = made("movielens")
    movies = rows("movielens", "movies.csv")
    assert {row["movieId"]: ("movie", row["title"]) for row in movies}.items() <= names.items()
    expected = Counter(
        (f"user:{user}", kind, movie)
        for kind in ("ratings", "tags")
        for user, movie in column("movielens", f"{kind}.csv", "userId", "movieId")
    )
    expected = Counter(set(expected) - {("user:2", "tags", "1")}) + Counter({("user:2", "tags", "1"): 2})
    expected += Counter(
        (row["movieId"], "genres", f"genre:{genre}") for row in movies for genre in row["genres"].split("|")
    )
    assert edges == expected
    for movie, imdb in column("movielens", "links.csv", "movieId", "imdbId"):  # one row a movie: it says more of it
        assert graph.node(movie).properties["imdbId"] == imdb
    assert {kind for kind, _ in names.values()} == {"movie", "user", "genre"}


def test_imdb(made):
    graph, names, edges = made("imdb")
    titles = column("imdb", "title.basics.tsv", "tconst", "primaryTitle")
    people = column("imdb", "name.basics.tsv", "nconst", "primaryName", "knownForTitles")
    assert {tconst: ("title", name) for tconst, name in titles}.items() <= names.items()
    assert {nconst: ("name", name) for nconst, name, _ in people}.items() <= names.items()
    ids = {tconst for tconst, _ in titles}
    expected = Counter(
        (nconst, "known_for_titles", title) for nconst, _, known in people for title in known.split(",") if title in ids
    )
    principals = column("imdb", "title.principals.tsv", "tconst", "nconst")
    expected += Counter((tconst, "title_principals", nconst) for tconst, nconst in principals)
    kinds = column("imdb", "title.basics.tsv", "tconst", "titleType")
    expected += Counter((tconst, "title_type", f"title_type:{kind}") for tconst, kind in kinds)
    assert edges == expected
    for tconst, rating in column("imdb", "title.ratings.tsv", "tconst", "averageRating"):
        assert graph.node(tconst).properties["averageRating"] == float(rating)
    assert graph.node("tt0000002").name == 'The Clown "and" His Dogs'


def test_gtfs_whose_tables_are_named_txt(made):
    _, names, edges = made("gtfs")
    expected = Counter()
    for row in rows("gtfs", "trips.txt"):
        expected[f"trip:{row['trip_id']}", "route", f"route:{row['route_id']}"] += 1
        expected[f"trip:{row['trip_id']}", "service", row["service_id"]] += 1
    for row in rows("gtfs", "stop_times.txt"):
        expected[f"trip:{row['trip_id']}", "stop_times", row["stop_id"]] += 1
    for row in rows("gtfs", "routes.txt"):
        expected[f"route:{row['route_id']}", "agency", row["agency_id"]] += 1
    expected["STAG", "parent_station", "CENT"] += 1
    assert edges == expected
    assert names["FURC"] == ("stop", "Furnace Creek, North")
    assert names["route:STBA"] == ("route", "Stagecoach - Airport Shuttle")


def test_pokemon_in_one_table(made):
    graph, names, edges = made("pokemon")
    expected = Counter()
    for row in rows("pokemon", "pokemon.csv"):
        assert names[row["#"]] == ("pokemon", row["Name"])
        expected += Counter((row["#"], kind, f"type:{row[n]}") for kind, n in KINDS.items() if row[n])
    assert edges == expected
    assert graph.node("1").properties["Type 1"] == "Grass"


KINDS = {"type_1": "Type 1", "type_2": "Type 2"}


def test_stack_exchange(made):
    graph, names, edges = made("stack_exchange")
    users = {row["Id"] for row in rows("stack_exchange", "Users.csv")}
    expected = Counter()
    for row in rows("stack_exchange", "Posts.csv"):
        post = f"post:{row['Id']}"
        expected += Counter({(post, "parent", f"post:{row['ParentId']}"): 1} if row["ParentId"] else {})
        answer = row["AcceptedAnswerId"]
        expected += Counter({(post, "accepted_answer", f"post:{answer}"): 1} if answer else {})
        owner = row["OwnerUserId"]
        expected += Counter({(post, "owner_user", f"user:{owner}"): 1} if owner in users else {})
        assert graph.node(post).text == row["Body"]
    expected += Counter(
        (f"vote:{i}", "post", f"post:{p}") for i, p in column("stack_exchange", "Votes.csv", "Id", "PostId")
    )
    links = column("stack_exchange", "PostLinks.csv", "PostId", "RelatedPostId")
    expected += Counter((f"post:{post}", "post_links", f"post:{other}") for post, other in links)
    assert edges == expected
    assert names["user:3"] == ("user", "Юлия")
    assert names["user:7"] == ("user", "7")  # n/a is no name


def test_musicbrainz(made):
    _, names, edges = made("musicbrainz")
    artists = column("musicbrainz", "artist.tsv", "id", "area")
    assert edges == Counter((f"artist:{i}", "area", area) for i, area in artists)
    assert names["artist:103"] == ("artist", "Null & Void")


def test_geonames_without_a_header_has_columns_by_their_places(home, cli):
    shutil.copytree(SCHEMAS / "geonames", home / "geonames")
    ran = cli("import", "geonames", "-o", "first", "--json")
    assert ran.code == 0, ran.err
    line = "--nodes geonames/AD.txt:id=column_1,name=column_2,type=ad"
    ran = cli("import", "-o", "graph", *line.split(), "--json")
    assert ran.code == 0, ran.err
    assert ran.json["node_types"]["ad"] == 2
    assert Graph.open(Path("graph")).node("3039163").name == "Sant Julià"
