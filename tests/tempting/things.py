"""Templates of what is counted, named and missing: namesakes, rows, directions, unknown words, texts for numbers."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tempting.pairs import REFUSED, Asked, asks, counted, ranked, some_row
from tempting.worlds import World


# ----------------------------------------------------------------------------------------------------------- namesakes
@asks("namesakes", "music")
def artist_or_album(w: World, chance: random.Random) -> Iterator[Asked]:
    a = some_row(w, chance, "artists", lambda row: int(row["id"][1:]) in (0, 1, 2))
    name = a["name"]
    named = w.ids("albums", lambda row: row["name"] == name)
    albums = w.ids("albums", lambda row: row["artist_id"] == a["id"])
    by_artist = w.ids("tracks", lambda row: row["album_id"] in albums)
    by_album = w.ids("tracks", lambda row: row["album_id"] in named)
    yield Asked(f"How many tracks are on the album {name}?", "number", len(by_album))
    yield Asked(f"How many albums does the artist {name} have?", "number", len(albums))
    yield Asked(f"How many tracks does {name} have?", "numbers", sorted({len(by_artist), len(by_album)}))
    yield Asked(f"albums by the artist {name}", "set", w.names(albums))
    yield Asked(f"tracks on the album {name}", "set", w.names(by_album))
    yield Asked(f"When was the artist {name} formed?", "value", a["formed"])
    yield Asked(f"How many tracks are by the artist {name}?", "number", len(by_artist))
    yield Asked(f"tracks by the artist {name}", "set", w.names(by_artist))
    k = some_row(w, chance, "tracks")
    sold = [row["id"] for row in w.rows("sales") if row["track_id"] == k["id"]]
    if k["name"] not in {row["name"] for row in w.rows("artists")}:
        yield Asked(f"How many sales does the track {k['name']} have?", "number", len(sold))
        yield Asked(f"How many tracks does {k['name']} have?", *REFUSED)
    other = some_row(w, chance, "artists", lambda row: int(row["id"][1:]) > 4)
    own = w.ids("albums", lambda row: row["artist_id"] == other["id"])
    yield Asked(f"How many albums does {other['name']} have?", "number", len(own))
    yield Asked(f"albums by {other['name']}", "set", w.names(own))


@asks("namesakes", "clinic")
def two_doctors(w: World, chance: random.Random) -> Iterator[Asked]:
    first = chance.choice([0, 2])
    name, both = w.row(f"d{first}")["name"], (f"d{first}", f"d{first + 1}")
    treated = [len(w.targets("treats", [d])) for d in both]
    yield Asked(f"How many patients does {name} treat?", "numbers", sorted(set(treated)))
    wards = [len(w.targets("works_on", [d])) for d in both]
    yield Asked(f"How many wards does {name} work on?", "numbers", sorted(set(wards)))
    yield Asked(f"When did {name} qualify?", "values", sorted({w.row(d)["qualified"] for d in both}))
    d = some_row(w, chance, "doctor", lambda row: int(row["id"][1:]) > 3)
    yield Asked(f"How many patients does {d['name']} treat?", "number", len(w.targets("treats", [d["id"]])))
    yield Asked(f"Which patients does {d['name']} treat?", "set", w.names(w.targets("treats", [d["id"]])))
    yield Asked(f"How many doctors are called {name}?", "number", 2)


# ------------------------------------------------------------------------------------------------------ rows of a table
@asks("rows of a table", "league")
def goals(w: World, chance: random.Random) -> Iterator[Asked]:
    p = w.row(some_row(w, chance, "goals")["player_id"])
    own = w.rows("goals", lambda row: row["player_id"] == p["id"])
    yield Asked(f"How many goals did {p['name']} score?", "number", len(own))
    yield Asked(f"How many goals has {p['name']}?", "number", len(own))
    yield Asked(f"In how many matches did {p['name']} score a goal?", "number", len({row["match_id"] for row in own}))
    yield Asked(f"In how many different matches did {p['name']} score?", "number",
                len({row["match_id"] for row in own}))  # fmt: skip
    m = w.row(some_row(w, chance, "goals")["match_id"])
    scored = w.rows("goals", lambda row: row["match_id"] == m["id"])
    yield Asked(f"How many goals were scored in {m['name']}?", "number", len(scored))
    yield Asked(f"How many players scored in {m['name']}?", "number", len({row["player_id"] for row in scored}))
    counts = counted(w.ids("players"), (row["player_id"] for row in w.rows("goals")))
    yield Asked("Who scored the most goals?", "set", w.names(ranked(counts, 1, most=True)))
    yield Asked("How many goals are there?", "number", len(w.tables["goals"]))
    t = some_row(w, chance, "teams")
    team = w.ids("players", lambda row: row["team_id"] == t["id"])
    yield Asked(f"How many goals did the players of {t['name']} score?", "number",
                len(w.rows("goals", lambda row: row["player_id"] in team)))  # fmt: skip
    n = chance.randint(2, 5)
    yield Asked(f"players with more than {n} goals", "set", w.names(k for k, count in counts.items() if count > n))


@asks("rows of a table", "shop")
def orders(w: World, chance: random.Random) -> Iterator[Asked]:
    c = some_row(w, chance, "customers")
    own = w.ids("orders", lambda row: row["customer_id"] == c["id"])
    lines = w.rows("order_lines", lambda row: row["order_id"] in own)
    yield Asked(f"How many orders does {c['name']} have?", "number", len(own))
    yield Asked(f"How many orders did {c['name']} place?", "number", len(own))
    yield Asked(f"How many different products did {c['name']} order?", "number",
                len({row["product_id"] for row in lines}))  # fmt: skip
    x = some_row(w, chance, "products")
    sold = w.rows("order_lines", lambda row: row["product_id"] == x["id"])
    yield Asked(f"In how many orders is {x['name']}?", "number", len({row["order_id"] for row in sold}))
    n = chance.randint(2, 5)
    counts = counted(w.ids("customers"), (row["customer_id"] for row in w.rows("orders")))
    yield Asked(f"customers with more than {n} orders", "set", w.names(k for k, count in counts.items() if count > n))
    status = chance.choice(["open", "shipped", "cancelled"])
    yield Asked(f"How many orders are {status}?", "number", len(w.ids("orders", lambda row: row["status"] == status)))
    yield Asked(f"How many {status} orders does {c['name']} have?", "number",
                len({o for o in own if w.row(o)["status"] == status}))  # fmt: skip


# ----------------------------------------------------------------------------------------------------------- directions
@asks("direction", "press")
def citations(w: World, chance: random.Random) -> Iterator[Asked]:
    x = w.row(some_row(w, chance, "cites")["target"])
    name, out, into = x["name"], w.targets("cites", [x["id"]]), w.sources("cites", [x["id"]])
    yield Asked(f"Which papers cite {name}?", "set", w.names(into))
    yield Asked(f"Which papers does {name} cite?", "set", w.names(out))
    yield Asked(f"papers cited by {name}", "set", w.names(out))
    yield Asked(f"papers that are cited by {name}", "set", w.names(out))
    yield Asked(f"papers citing {name}", "set", w.names(into))
    yield Asked(f"How many papers does {name} cite?", "number", len(out))
    yield Asked(f"How many papers cite {name}?", "number", len(into))
    yield Asked(f"How many citations does {name} have?", "told", (len(out), len(into)))
    yield Asked(f"papers that cite {name} but are not cited by it", "set", w.names(into - out))
    cited = counted(w.ids("paper"), (row["target"] for row in w.rows("cites")))
    citing = counted(w.ids("paper"), (row["source"] for row in w.rows("cites")))
    yield Asked("Which paper is cited by the most papers?", "set", w.names(ranked(cited, 1, most=True)))
    yield Asked("Which paper cites the most papers?", "set", w.names(ranked(citing, 1, most=True)))


@asks("direction", "cinema")
def mentors(w: World, chance: random.Random) -> Iterator[Asked]:
    p = w.row(some_row(w, chance, "mentored")["source"])
    name, out, into = p["name"], w.targets("mentored", [p["id"]]), w.sources("mentored", [p["id"]])
    yield Asked(f"Who mentored {name}?", "set", w.names(into))
    yield Asked(f"Who did {name} mentor?", "set", w.names(out))
    yield Asked(f"Who was mentored by {name}?", "set", w.names(out))
    yield Asked(f"How many people did {name} mentor?", "number", len(out))
    yield Asked(f"How many people mentored {name}?", "number", len(into))
    yield Asked(f"mentors of {name}", "set", w.names(into))
    other = some_row(w, chance, "mentored")
    a, b = w.row(other["source"])["name"], w.row(other["target"])["name"]
    yield Asked(f"Did {a} mentor {b}?", "yesno", True)
    is_so = any(row["source"] == other["target"] and row["target"] == other["source"] for row in w.rows("mentored"))
    yield Asked(f"Did {b} mentor {a}?", "yesno", is_so)
    yield Asked(f"Was {b} mentored by {a}?", "yesno", True)


# --------------------------------------------------------------------------------------------------- not in this graph
@asks("not in this graph", "cinema")
def unknown(w: World, chance: random.Random) -> Iterator[Asked]:
    f, p = some_row(w, chance, "film"), some_row(w, chance, "person")
    stranger = f"{chance.choice(['Zyx', 'Quon', 'Vryl'])}el {chance.choice(['Ottokrat', 'Uzumbel', 'Ghastrow'])}"
    yield Asked(f"Which films did {stranger} direct?", "unknown", stranger)
    yield Asked(f"How many films were directed by {stranger}?", "unknown", stranger)
    yield Asked(f"Who catered {f['name']}?", *REFUSED)
    yield Asked(f"What is the budget of {f['name']}?", *REFUSED)
    yield Asked(f"How many prizes has {p['name']} won?", *REFUSED)
    yield Asked(f"Which language does {p['name']} speak?", *REFUSED)
    yield Asked(f"films with a Rating above {chance.randint(3, 8)}", *REFUSED)


@asks("not in this graph", "clinic")
def known(w: World, chance: random.Random) -> Iterator[Asked]:
    d, p = some_row(w, chance, "doctor"), some_row(w, chance, "patient")
    for word in ("Since", "Treats", "Ward", "Qualified", "Insured"):
        yield Asked(f"Is {word} what {d['name']} has for {p['name']}?", "not unknown", word)
    yield Asked(f"Which illness does {p['name']} have?", *REFUSED)
    yield Asked(f"What is the blood group of {p['name']}?", *REFUSED)
    yield Asked(f"What is the salary of {d['name']}?", *REFUSED)
    insured = w.ids("patient", lambda row: row["insured"])
    yield Asked("How many patients are insured?", "number", len(insured))
    yield Asked("How many patients are not insured?", "number", len(w.ids("patient")) - len(insured))
    mine = w.targets("treats", [d["id"]]) if int(d["id"][1:]) > 3 else None
    if mine is not None:
        yield Asked(f"Which patients of {d['name']} are not insured?", "set", w.names(mine - insured))


# ------------------------------------------------------------------------------------------- values that do not parse
@asks("values without a number", "shop")
def unparsed(w: World, chance: random.Random) -> Iterator[Asked]:
    s = some_row(w, chance, "suppliers", lambda row: row["id"] != "S5")
    for rows, of in (
        (w.rows("products"), "all products"),
        (w.rows("products", lambda row: row["supplier_id"] == s["id"]), f"the products of {s['name']}"),
    ):
        numbers = [row["list_price"] for row in rows if row["list_price"] != "on request"]
        missing = len(rows) - len(numbers)
        yield Asked(f"What is the average list price of {of}?", "noted", (sum(numbers) / len(numbers), missing))
        yield Asked(f"What is the total list price of {of}?", "noted", (sum(numbers), missing))
        yield Asked(f"total purchase price of {of}", "number", sum(row["purchase_price"] for row in rows))
        dearest = max(rows, key=lambda row: -1.0 if row["list_price"] == "on request" else float(row["list_price"]))
        yield Asked(f"Which of {of} has the highest list price?", "noted set", ([dearest["name"]], missing))
        yield Asked(f"What is the highest list price of {of}?", "noted", (max(numbers), missing))
    priced = w.rows("products", lambda row: row["list_price"] != "on request")
    of_each = {
        x["name"]: [row["list_price"] for row in priced if row["supplier_id"] == x["id"]] for x in w.rows("suppliers")
    }
    means = {name: sum(numbers) / len(numbers) for name, numbers in of_each.items() if numbers}
    missing = len(w.rows("products")) - len(priced)
    yield Asked("average list price per supplier", "noted table", (means, missing))
    amount = chance.randint(20, 80)
    dear = w.ids("products", lambda row: row["list_price"] != "on request" and row["list_price"] > amount)
    yield Asked(f"products with a list price over {amount}", "set", w.names(dear))
    yield Asked(f"How many products have a list price over {amount}?", "number", len(dear))
