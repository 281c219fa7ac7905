"""Templates of how words belong together: scopes, `and`, phrases, places, dates, words that begin alike."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator

from tempting.pairs import REFUSED, Asked, asks, counted, ranked, some_row
from tempting.worlds import World


# ------------------------------------------------------------------------------------------------------ closed scopes
@asks("closed scope", "cinema")
def scope_of_film(w: World, chance: random.Random) -> Iterator[Asked]:
    d = some_row(w, chance, "directed")["source"]
    name, year, born = w.row(d)["name"], chance.randint(1965, 2005), chance.randint(1940, 1990)
    films = w.targets("directed", [d])
    late = {f for f in films if w.row(f)["release_year"] > year}
    yield Asked(f"Which people acted in a film that was directed by {name} and was released after {year}?", "set",
                w.names(w.sources("acted_in", late)))  # fmt: skip
    young = {p for p in w.sources("acted_in", films) if w.row(p)["birth_year"] > born}
    yield Asked(f"Which people acted in a film that was directed by {name} and were born after {born}?", "set",
                w.names(young))  # fmt: skip
    s = some_row(w, chance, "produced_by")["target"]
    own = films & w.sources("produced_by", [s])
    yield Asked(f"who acted in films that {name} directed and that were produced by {w.row(s)['name']}", "set",
                w.names(w.sources("acted_in", own)))  # fmt: skip


@asks("closed scope", "cinema")
def scope_of_person(w: World, chance: random.Random) -> Iterator[Asked]:
    f, g = some_row(w, chance, "directed")["target"], some_row(w, chance, "acted_in")["target"]
    first, second = w.row(f)["name"], w.row(g)["name"]
    doers, actors = w.sources("directed", [f]), w.sources("acted_in", [g])
    inner, outer = w.targets("mentored", doers & actors), w.targets("mentored", doers) & actors
    yield Asked(f"Which people were mentored by a person who has directed {first} and has acted in {second}?", "set",
                w.names(inner))  # fmt: skip
    yield Asked(f"Which people were mentored by a person who has directed {first} and have acted in {second}?", "set",
                w.names(outer))  # fmt: skip
    if inner != outer:
        yield Asked(f"Who was mentored by someone who directed {first} and acted in {second}?", *REFUSED)
    if actors:
        a = sorted(actors)[0]
        yield Asked(f"who directed films in which {w.row(a)['name']} acted", "set",
                    w.names(w.sources("directed", w.targets("acted_in", [a]))))  # fmt: skip


@asks("closed scope", "harbour")
def scope_of_company(w: World, chance: random.Random) -> Iterator[Asked]:
    t = some_row(w, chance, "based_in")["target"]
    town, founded, built = w.row(t)["name"], chance.randint(1870, 1990), chance.randint(1960, 2010)
    companies = w.sources("based_in", [t])
    old = {c for c in companies if w.row(c)["founded"] < founded}
    yield Asked(f"Which ships are owned by a company that is based in {town} and was founded before {founded}?", "set",
                w.names(w.sources("owned_by", old)))  # fmt: skip
    ships = {s for s in w.sources("owned_by", companies) if w.row(s)["built"] < built}
    yield Asked(f"Which ships are owned by a company that is based in {town} and were built before {built}?", "set",
                w.names(ships))  # fmt: skip
    yield Asked(f"ships owned by a company that is based in {town} and that were built before {built}", "set",
                w.names(ships))  # fmt: skip
    h = some_row(w, chance, "harbour")
    callers = w.sources("owned_by", companies) & w.sources("calls_at", [h["id"]])
    yield Asked(f"How many ships that call at {h['name']} are owned by a company that is based in {town}?", "number",
                len(callers))  # fmt: skip


@asks("closed scope", "clinic")
def scope_of_ward(w: World, chance: random.Random) -> Iterator[Asked]:
    d = some_row(w, chance, "works_on", lambda row: int(row["source"][1:]) > 3)["source"]
    others = w.sources("works_on", w.targets("works_on", [d]))
    name = w.row(d)["name"]
    yield Asked(f"Who works on the ward where {name} works?", "one of", [w.names(others), w.names(others - {d})])
    beds = chance.randint(10, 35)
    wards = {x for x in w.targets("works_on", [d]) if w.row(x)["beds"] > beds}
    yield Asked(f"which wards that have more than {beds} beds does {name} work on", "set", w.names(wards))
    patients = w.targets("treats", w.sources("works_on", wards))
    yield Asked(f"patients treated by doctors who work on a ward that has more than {beds} beds and where {name} works",
                "set", w.names(patients))  # fmt: skip


# ------------------------------------------------------------------------------------------------------- joined by and
@asks("joined by and", "cinema")
def both_of_two(w: World, chance: random.Random) -> Iterator[Asked]:
    f = some_row(w, chance, "acted_in")["target"]
    cast = sorted(w.sources("acted_in", [f]))
    a, b = chance.sample(cast, 2) if len(cast) > 1 else chance.sample(sorted(w.ids("person")), 2)
    first, second = w.row(a)["name"], w.row(b)["name"]
    of_a, of_b = w.targets("acted_in", [a]), w.targets("acted_in", [b])
    yield Asked(f"In which films did {first} and {second} act?", "set", w.names(of_a & of_b))
    yield Asked(f"films that both {first} and {second} acted in", "set", w.names(of_a & of_b))
    yield Asked(f"films that {first} or {second} acted in", "set", w.names(of_a | of_b))
    yield Asked(f"films that {first} but not {second} acted in", "set", w.names(of_a - of_b))
    yield Asked(f"How many films did {first} and {second} both act in?", "number", len(of_a & of_b))
    x = w.row(f)["name"]
    doers = w.sources("directed", [f])
    yield Asked(f"who directed and acted in {x}", "set", w.names(doers & set(cast)))
    yield Asked(f"who directed or acted in {x}", "set", w.names(doers | set(cast)))


@asks("joined by and", "cinema")
def both_of_values(w: World, chance: random.Random) -> Iterator[Asked]:
    a, b = chance.sample(["grim", "tender", "absurd", "solemn"], 2)
    both = w.ids("film", lambda row: {a, b} <= set(row["moods"]))
    either = w.ids("film", lambda row: bool({a, b} & set(row["moods"])))
    yield Asked(f"films that are both {a} and {b}", "set", w.names(both))
    yield Asked(f"How many films are {a} or {b}?", "number", len(either))
    yield Asked(f"films that are {a} but not {b}", "set",
                w.names(w.ids("film", lambda row: a in row["moods"] and b not in row["moods"])))  # fmt: skip


@asks("joined by and", "harbour")
def both_of_harbours(w: World, chance: random.Random) -> Iterator[Asked]:
    s = some_row(w, chance, "calls_at")["source"]
    h, g = (*w.targets("calls_at", [s]), *w.ids("harbour"))[:2]
    if h == g:
        return
    first, second = w.row(h)["name"], w.row(g)["name"]
    of_h, of_g = w.sources("calls_at", [h]), w.sources("calls_at", [g])
    yield Asked(f"Which ships call at {first} and {second}?", "set", w.names(of_h & of_g))
    yield Asked(f"Which ships call at {first} or {second}?", "set", w.names(of_h | of_g))
    yield Asked(f"ships that call at neither {first} nor {second}", "set", w.names(w.ids("ship") - of_h - of_g))
    t = some_row(w, chance, "town")
    towns = w.sources("based_in", [t["id"]]), w.sources("located_in", [t["id"]])
    yield Asked(f"list the companies and harbours in {t['name']}", "set", w.names(towns[0] | towns[1]))


# ------------------------------------------------------------------------------------------------ properties that share
@asks("shared word of properties", "cinema")
def years(w: World, chance: random.Random) -> Iterator[Asked]:
    f, p = some_row(w, chance, "film"), some_row(w, chance, "person")
    yield Asked(f"What is the release year of {f['name']}?", "value", f["release_year"])
    yield Asked(f"restoration year of {f['name']}", "value", f["restoration_year"])
    yield Asked(f"What is the year of {f['name']}?", *REFUSED)
    yield Asked(f"birth year of {p['name']}", "value", p["birth_year"])
    yield Asked(f"What is the birth town of {p['name']}?", "value", p["birth_town"])
    year = chance.randint(2002, 2015)
    yield Asked(f"films with a restoration year after {year}", "set",
                w.names(w.ids("film", lambda row: row["restoration_year"] > year)))  # fmt: skip
    yield Asked(f"How many films have a release year after {year}?", "number",
                len(w.ids("film", lambda row: row["release_year"] > year)))  # fmt: skip
    d = some_row(w, chance, "directed")["source"]
    own = [w.row(x) for x in w.targets("directed", [d])]
    yield Asked(f"average release year of the films directed by {w.row(d)['name']}", "number",
                statistics.mean(row["release_year"] for row in own))  # fmt: skip
    yield Asked(f"average restoration year of the films directed by {w.row(d)['name']}", "number",
                statistics.mean(row["restoration_year"] for row in own))  # fmt: skip


@asks("shared word of properties", "shop")
def prices(w: World, chance: random.Random) -> Iterator[Asked]:
    x = some_row(w, chance, "products", lambda row: row["list_price"] != "on request")
    yield Asked(f"What is the list price of {x['name']}?", "value", x["list_price"])
    yield Asked(f"What is the purchase price of {x['name']}?", "value", x["purchase_price"])
    yield Asked(f"What is the price of {x['name']}?", *REFUSED)
    amount = chance.randint(5, 45)
    dear = w.ids("products", lambda row: row["purchase_price"] > amount)
    yield Asked(f"How many products have a purchase price over {amount}?", "number", len(dear))
    s = some_row(w, chance, "suppliers", lambda row: row["id"] != "S5")
    own = w.rows("products", lambda row: row["supplier_id"] == s["id"])
    yield Asked(f"What is the average purchase price of the products of {s['name']}?", "number",
                statistics.mean(row["purchase_price"] for row in own))  # fmt: skip
    yield Asked(f"Which product of {s['name']} has the highest purchase price?", "set",
                [max(own, key=lambda row: float(row["purchase_price"]))["name"]])  # fmt: skip


# ------------------------------------------------------------------------------------------------------ general nouns
@asks("general noun", "shop")
def values(w: World, chance: random.Random) -> Iterator[Asked]:
    x, c = some_row(w, chance, "products"), some_row(w, chance, "customers")
    yield Asked(f"What is the book value of {x['name']}?", "value", x["book_value"])
    yield Asked(f"What is the rate of {x['name']}?", *REFUSED)
    yield Asked(f"What is the phone number of {c['name']}?", "value", c["phone_number"])
    country = chance.choice(w.rows("customers"))["country"]
    yield Asked(f"number of customers in {country}", "number",
                len(w.ids("customers", lambda row: row["country"] == country)))  # fmt: skip
    yield Asked(f"What is the number of orders of {c['name']}?", "number",
                len(w.ids("orders", lambda row: row["customer_id"] == c["id"])))  # fmt: skip
    s = some_row(w, chance, "suppliers")
    own = w.rows("products", lambda row: row["supplier_id"] == s["id"])
    yield Asked(f"What is the number of products of {s['name']}?", "number", len(own))
    if own:
        yield Asked(f"total book value of the products of {s['name']}", "number", sum(r["book_value"] for r in own))


@asks("general noun", "league")
def shirts(w: World, chance: random.Random) -> Iterator[Asked]:
    p, t = some_row(w, chance, "players"), some_row(w, chance, "teams")
    own = w.ids("players", lambda row: row["team_id"] == t["id"])
    yield Asked(f"What is the shirt number of {p['name']}?", "value", p["shirt_number"])
    yield Asked(f"number of players of {t['name']}", "number", len(own))
    yield Asked(f"What is the number of players in {t['name']}?", "number", len(own))
    number = chance.randint(20, 80)
    yield Asked(f"players with a shirt number over {number}", "set",
                w.names(w.ids("players", lambda row: row["shirt_number"] > number)))  # fmt: skip
    yield Asked(f"What is the rate of {p['name']}?", *REFUSED)


# ----------------------------------------------------------------------------------------------------- name in a phrase
@asks("name in a phrase", "cinema")
def called_as_words(w: World, chance: random.Random) -> Iterator[Asked]:
    p, f = some_row(w, chance, "person"), some_row(w, chance, "film")
    yield Asked(f"What was the birth year of {p['name']}?", "value", p["birth_year"])
    yield Asked(f"release year of the film {f['name']}", "value", f["release_year"])
    yield Asked(f"Which films were produced by {w.row('s9')['name']}?", "set", [])
    yield Asked("films released", *REFUSED)
    yield Asked(f"Which films were released after {f['release_year']}?", "set",
                w.names(w.ids("film", lambda row: row["release_year"] > f["release_year"])))  # fmt: skip
    yield Asked("Who directed Release?", "set", w.names(w.sources("directed", ["f99"])))
    year = chance.randint(1940, 1990)
    yield Asked(f"people with a birth year before {year}", "set",
                w.names(w.ids("person", lambda row: row["birth_year"] < year)))  # fmt: skip
    yield Asked(f"films with a release year before {year}", "set",
                w.names(w.ids("film", lambda row: row["release_year"] < year)))  # fmt: skip
    yield Asked(f"What is the running time of {f['name']}?", "value", f["running_time"])


# ---------------------------------------------------------------------------------------------------- place in a phrase
@asks("place in a phrase", "harbour")
def in_town(w: World, chance: random.Random) -> Iterator[Asked]:
    t, u = some_row(w, chance, "located_in")["target"], some_row(w, chance, "launched_in")["target"]
    b = some_row(w, chance, "based_in")["target"]
    town, other, base = (w.row(key)["name"] for key in (t, u, b))
    harbours, depth = w.sources("located_in", [t]), chance.randint(8, 24)
    yield Asked(f"Which ships call at a harbour in {town}?", "set", w.names(w.sources("calls_at", harbours)))
    yield Asked(f"Which ships that were launched in {town} call at a harbour?", "set",
                w.names(w.sources("launched_in", [t]) & w.sources("calls_at", w.ids("harbour"))))  # fmt: skip
    yield Asked(f"ships launched in {other} that call at harbours in {town}", "set",
                w.names(w.sources("launched_in", [u]) & w.sources("calls_at", harbours)))  # fmt: skip
    yield Asked(f"How many harbours in {town} are deeper than {depth} m?", "number",
                len({h for h in harbours if w.row(h)["depth_m"] > depth}))  # fmt: skip
    companies = w.sources("based_in", [b])
    yield Asked(f"ships of companies in {base} that call at harbours in {town}", "set",
                w.names(w.sources("owned_by", companies) & w.sources("calls_at", harbours)))  # fmt: skip
    yield Asked(f"How many ships owned by companies in {base} were launched in {other}?", "number",
                len(w.sources("owned_by", companies) & w.sources("launched_in", [u])))  # fmt: skip
    year = chance.randint(1960, 2010)
    yield Asked(f"companies in {base} that own ships built before {year}", "set", w.names(
        companies & w.targets("owned_by", w.ids("ship", lambda row: row["built"] < year))))  # fmt: skip
    deepest = max((w.row(h) for h in harbours), key=lambda row: float(row["depth_m"]))["depth_m"]
    yield Asked(f"the deepest harbour in {town}", "set",
                w.names(h for h in harbours if w.row(h)["depth_m"] == deepest))  # fmt: skip


# ---------------------------------------------------------------------------------------------------- counts of nought
@asks("counts of nought", "harbour")
def top_companies(w: World, chance: random.Random) -> Iterator[Asked]:
    n = chance.randint(2, 9)
    owners = counted(w.ids("company"), (row["target"] for row in w.rows("owned_by")))
    visited = counted(w.ids("harbour"), (row["target"] for row in w.rows("calls_at")))
    yield Asked(f"the {n} companies with the most ships", "set", w.names(ranked(owners, n, most=True)))
    yield Asked(f"top {n} companies by number of ships", "set", w.names(ranked(owners, n, most=True)))
    yield Asked("which company owns the fewest ships", "set", w.names(ranked(owners, 1, most=False)))
    n += 5
    yield Asked(f"top {n} harbours by number of ships", "set", w.names(ranked(visited, n, most=True)))
    yield Asked("companies that own no ships", "set", w.names(key for key, count in owners.items() if not count))
    yield Asked("How many companies own at least one ship?", "number", sum(count > 0 for count in owners.values()))


@asks("counts of nought", "press")
def top_papers(w: World, chance: random.Random) -> Iterator[Asked]:
    n = chance.randint(2, 7)
    journals = counted(w.ids("journal"), (row["target"] for row in w.rows("published_in")))
    yield Asked(f"top {n} journals by number of papers", "set", w.names(ranked(journals, n, most=True)))
    books = counted(w.ids("author"), (row["source"] for row in w.rows("wrote") if row["target"].startswith("b")))
    n = chance.randint(12, 22)
    yield Asked(f"the {n} authors with the most books", "set", w.names(ranked(books, n, most=True)))
    yield Asked("Which authors have written no books?", "set", w.names(k for k, count in books.items() if not count))


# ----------------------------------------------------------------------------------------------------------- three who
@asks("three who", "cinema")
def three_people(w: World, chance: random.Random) -> Iterator[Asked]:
    f = some_row(w, chance, "acted_in")["target"]
    cast, n = w.names(w.sources("acted_in", [f])), chance.choice(["two", "three"])
    number = {"two": 2, "three": 3}[n]
    yield Asked(f"{n} people who acted in {w.row(f)['name']}", "some", (number, cast))
    yield Asked(f"Name {n} people who acted in {w.row(f)['name']}", "some", (number, cast))
    s = some_row(w, chance, "produced_by")["target"]
    yield Asked(f"list {n} films produced by {w.row(s)['name']}", "some",
                (number, w.names(w.sources("produced_by", [s]))))  # fmt: skip


@asks("three who", "harbour")
def three_ships(w: World, chance: random.Random) -> Iterator[Asked]:
    h, n = some_row(w, chance, "calls_at")["target"], chance.choice(["two", "three", "four"])
    number = {"two": 2, "three": 3, "four": 4}[n]
    ships = w.names(w.sources("calls_at", [h]))
    yield Asked(f"Give me {n} ships that call at {w.row(h)['name']}", "some", (number, ships))
    lengths = {key: w.row(key)["length_m"] for key in w.sources("calls_at", [h])}
    yield Asked(f"the {n} longest ships that call at {w.row(h)['name']}", "set",
                w.names(ranked(lengths, number, most=True)))  # fmt: skip


# ------------------------------------------------------------------------------------------------------ date of an edge
@asks("date of an edge", "clinic")
def since(w: World, chance: random.Random) -> Iterator[Asked]:
    edge = some_row(w, chance, "works_on")
    ward, year = w.row(edge["target"])["name"], chance.randint(1998, 2020)
    own = w.rows("works_on", lambda row: row["target"] == edge["target"])
    yield Asked(f"Which doctors have worked on {ward} since before {year}?", "set",
                w.names(row["source"] for row in own if row["since"] < year))  # fmt: skip
    yield Asked(f"doctors who work on {ward} and qualified before {year}", "set",
                w.names(row["source"] for row in own if w.row(row["source"])["qualified"] < year))  # fmt: skip
    decade = chance.choice([1980, 1990, 2010])
    yield Asked(f"doctors who qualified in the {decade}s", "set",
                w.names(w.ids("doctor", lambda row: decade <= row["qualified"] < decade + 10)))  # fmt: skip
    yield Asked(f"How many patients were born in the {decade - 30}s?", "number",
                len(w.ids("patient", lambda row: decade - 30 <= row["born"] < decade - 20)))  # fmt: skip
    yield Asked(f"Who has worked on {ward} since {edge['since']}?", "one of", [
        w.names(row["source"] for row in own if row["since"] == edge["since"]),
        w.names(row["source"] for row in own if row["since"] >= edge["since"])])  # fmt: skip


@asks("date of an edge", "cinema")
def decades(w: World, chance: random.Random) -> Iterator[Asked]:
    d, decade = some_row(w, chance, "directed")["source"], chance.choice([1960, 1970, 1980, 1990, 2010])
    films = w.ids("film", lambda row: decade <= row["release_year"] < decade + 10)
    yield Asked(f"films released in the {decade}s", "set", w.names(films))
    yield Asked(f"films released in {decade}", "set", w.names(w.ids("film", lambda row: row["release_year"] == decade)))
    yield Asked(f"How many films were released in the {decade}s?", "number", len(films))
    yield Asked(f"films directed by {w.row(d)['name']} that were released in the {decade}s", "set",
                w.names(films & w.targets("directed", [d])))  # fmt: skip
    yield Asked(f"people born in the {decade - 20}s", "set",
                w.names(w.ids("person", lambda row: decade - 20 <= row["birth_year"] < decade - 10)))  # fmt: skip
    if w.rows("person", lambda row: row["birth_year"] >= 1990):
        yield Asked(f"{w.row(d)['name']} has directed since before {decade}: which films are these?", *REFUSED)


# ---------------------------------------------------------------------------------------------- words that begin alike
_ALIKE = {
    "clinic": {"patient": "patents patterns patience patios", "doctor": "docks doctrines documents",
               "ward": "wardens wares wardrobes warrants treatments treaties workshops"},
    "harbour": {"ship": "shirts shippers shipments shops", "harbour": "harbingers harvests", "company":
                "companions compasses", "town": "towers towels tonnes owls lunches locals"},
    "press": {"author": "authorities autumns coauthors", "paper": "papayas parers", "journal":
              "journeys journalists citizens writs revues", "book": "bookings bookmakers boots"},
    "league": {"team": "teachers tears", "player": "plays prayers playgrounds", "match": "matchers machines"},
    "cinema": {"person": "personnel perches", "film": "filters firms", "studio":
               "studies studs directories actions mentions"},
    "shop": {"customer": "customs costumes", "product": "producers procedures", "supplier": "supplies supplements",
             "order": "ordeals ordinances"},
    "music": {"artist": "articles artisans", "album": "albatrosses alibis", "track": "tractors trackers trades"},
}  # fmt: skip


def _alike(world: str) -> None:
    @asks("words that begin alike", world)
    def alike(w: World, chance: random.Random) -> Iterator[Asked]:
        kind, words = chance.choice(sorted(_ALIKE[world].items()))
        table = next(name for name in w.tables if name in (kind, f"{kind}s", f"{kind}es"))
        plural = {"person": "people", "company": "companies", "match": "matches"}.get(kind, f"{kind}s")
        for word in words.split():
            yield Asked(f"How many {word} are there?", *REFUSED)
        yield Asked(f"How many {plural} are there?", "number", len(w.tables[table]))
        yield Asked(f"number of {plural}", "number", len(w.tables[table]))
        yield Asked(f"What is the total number of {plural}?", "number", len(w.tables[table]))
        yield Asked(f"list all {chance.choice(words.split())}", *REFUSED)
        if len(w.tables[table]) <= 40:
            yield Asked(f"list all {plural}", "set", sorted({row["name"] if "name" in row else row["id"]
                                                            for row in w.tables[table]}))  # fmt: skip


for _world in _ALIKE:
    _alike(_world)


@asks("words that begin alike", "press")
def wide_words(w: World, chance: random.Random) -> Iterator[Asked]:
    a = some_row(w, chance, "wrote")["source"]
    name, own = w.row(a)["name"], w.targets("wrote", [a])
    yield Asked(f"How many works did {name} write?", "number", len(own))
    yield Asked(f"How many papers did {name} write?", "number", len({x for x in own if x.startswith("w")}))
    yield Asked(f"How many books did {name} write?", "number", len({x for x in own if x.startswith("b")}))
    yield Asked(f"things written by {name}", "set", w.names(own))
    yield Asked(f"What did {name} write?", "set", w.names(own))
