"""Templates that join several of these: denials, counts and superlatives within scopes, and dates that nothing has."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator

from tempting.pairs import REFUSED, Asked, asks, counted, ranked, some_row
from tempting.worlds import World


@asks("date of an edge", "harbour")
def dates_of_nothing(w: World, chance: random.Random) -> Iterator[Asked]:
    s = some_row(w, chance, "calls_at")
    h, c, year = w.row(s["target"]), w.row(some_row(w, chance, "owned_by")["target"]), chance.randint(1960, 2010)
    callers, owned = w.sources("calls_at", [h["id"]]), w.sources("owned_by", [c["id"]])
    yield Asked(f"Which ships called at {h['name']} before {year}?", *REFUSED)
    yield Asked(f"Which ships has {c['name']} owned since {year}?", *REFUSED)
    yield Asked(f"ships owned by {c['name']} since before {year}", *REFUSED)
    old = {x for x in callers if w.row(x)["built"] < year}
    yield Asked(f"ships built before {year} that call at {h['name']}", "set", w.names(old))
    yield Asked(f"Which ships that call at {h['name']} were built before {year}?", "set", w.names(old))
    late = {x for x in owned if w.row(x)["built"] >= year}
    yield Asked(f"Which ships of {c['name']} were built in or after {year}?", "set", w.names(late))
    yield Asked(f"How many ships of {c['name']} were built in {w.row(s['source'])['built']}?", "number",
                len({x for x in owned if w.row(x)["built"] == w.row(s["source"])["built"]}))  # fmt: skip


@asks("place in a phrase", "cinema")
def birth_towns(w: World, chance: random.Random) -> Iterator[Asked]:
    town = chance.choice(w.rows("person"))["birth_town"]
    own = w.ids("person", lambda row: row["birth_town"] == town)
    yield Asked(f"Which people are in {town}?", *REFUSED)
    yield Asked(f"people from {town}", "set", w.names(own))
    yield Asked(f"How many people were born in {town}?", "number", len(own))
    yield Asked(f"films directed by people from {town}", "set", w.names(w.targets("directed", own)))
    yield Asked(f"people from {town} who never directed", "set", w.names(own - w.sources("directed", w.ids("film"))))


@asks("place in a phrase", "harbour")
def towns(w: World, chance: random.Random) -> Iterator[Asked]:
    t, u = chance.sample(w.rows("town"), 2)
    in_t, in_u = w.sources("located_in", [t["id"]]), w.sources("located_in", [u["id"]])
    yield Asked(f"Which ships are in {t['name']}?", *REFUSED)
    yield Asked(f"How many ships are in {t['name']}?", *REFUSED)
    yield Asked(f"ships launched in {t['name']}", "set", w.names(w.sources("launched_in", [t["id"]])))
    yield Asked(f"harbours in {t['name']} or {u['name']}", "set", w.names(in_t | in_u))
    yield Asked(f"Which ships call at no harbour in {t['name']}?", "set",
                w.names(w.ids("ship") - w.sources("calls_at", in_t)))  # fmt: skip
    yield Asked("towns without a harbour", "set", w.names(w.ids("town") - w.targets("located_in", w.ids("harbour"))))
    yield Asked(f"How many ships call at harbours in {t['name']}?", "number", len(w.sources("calls_at", in_t)))
    yield Asked(f"How many harbours are in {t['name']}?", "number", len(in_t))
    yield Asked(f"Which companies in {t['name']} own no ships?", "set", w.names(
        w.sources("based_in", [t["id"]]) - w.targets("owned_by", w.ids("ship"))))  # fmt: skip
    yield Asked(f"covered harbours in {t['name']}", "set", w.names(h for h in in_t if w.row(h)["covered"]))
    yield Asked(f"Which harbours in {t['name']} are not covered?", "set",
                w.names(h for h in in_t if not w.row(h)["covered"]))  # fmt: skip


@asks("counts of nought", "harbour")
def fleets(w: World, chance: random.Random) -> Iterator[Asked]:
    c = w.row(some_row(w, chance, "owned_by")["target"])
    fleet = [w.row(x) for x in w.sources("owned_by", [c["id"]])]
    lengths = {row["id"]: row["length_m"] for row in fleet}
    yield Asked(f"the longest ship of {c['name']}", "set", w.names(ranked(lengths, 1, most=True)))
    yield Asked(f"average length of the ships of {c['name']}", "number", statistics.mean(lengths.values()))
    all_lengths = {row["id"]: row["length_m"] for row in w.rows("ship")}
    longest = ranked(all_lengths, 1, most=True)
    yield Asked("Which company owns the longest ship?", "set", w.names(w.targets("owned_by", longest)))
    n = chance.randint(2, 7)
    owned = counted(w.ids("company"), (row["target"] for row in w.rows("owned_by")))
    yield Asked(f"companies with fewer than {n} ships", "set", w.names(k for k, count in owned.items() if count < n))
    yield Asked(f"companies that own at least {n} ships", "set",
                w.names(k for k, count in owned.items() if count >= n))  # fmt: skip
    late = {row["id"] for row in w.rows("ship", lambda row: row["built"] > 1980)}
    owned_late = counted(w.ids("company"), (r["target"] for r in w.rows("owned_by") if r["source"] in late))
    yield Asked("Which company owns the most ships built after 1980?", "set",
                w.names(ranked(owned_late, 1, most=True)))  # fmt: skip


@asks("direction", "press")
def papers(w: World, chance: random.Random) -> Iterator[Asked]:
    a = some_row(w, chance, "wrote", lambda row: row["target"].startswith("w"))["source"]
    x = w.row(some_row(w, chance, "cites")["target"])
    name, own = w.row(a)["name"], {p for p in w.targets("wrote", [a]) if p.startswith("w")}
    into, out = w.sources("cites", [x["id"]]), w.targets("cites", [x["id"]])
    yield Asked(f"authors of papers that cite {x['name']}", "set", w.names(w.sources("wrote", into)))
    yield Asked(f"authors of papers cited by {x['name']}", "set", w.names(w.sources("wrote", out)))
    yield Asked(f"papers that cite a paper by {name}", "set", w.names(w.sources("cites", own)))
    yield Asked(f"papers cited by papers of {name}", "set", w.names(w.targets("cites", own)))
    yield Asked(f"How many papers cite papers by {name}?", "number", len(w.sources("cites", own)))
    yield Asked(f"papers by {name} that are cited by {x['name']}", "set", w.names(own & out))
    yield Asked(f"papers by {name} that cite {x['name']}", "set", w.names(own & into))
    reviewed = w.targets("reviewed", [a])
    yield Asked(f"papers that {name} reviewed but did not write", "set", w.names(reviewed - own))
    yield Asked(f"Which papers did {name} review?", "set", w.names(reviewed))
    b = some_row(w, chance, "reviewed")["source"]
    yield Asked(f"papers written by {name} and reviewed by {w.row(b)['name']}", "set",
                w.names(own & w.targets("reviewed", [b])))  # fmt: skip
    yield Asked(f"papers reviewed by {name} and written by {w.row(b)['name']}", "set",
                w.names(reviewed & {p for p in w.targets("wrote", [b]) if p.startswith("w")}))  # fmt: skip


@asks("closed scope", "press")
def journals(w: World, chance: random.Random) -> Iterator[Asked]:
    j = w.row(some_row(w, chance, "published_in")["target"])
    year, pages = chance.randint(1975, 2015), chance.randint(10, 50)
    own = w.sources("published_in", [j["id"]])
    late = {p for p in own if w.row(p)["year"] > year}
    yield Asked(f"Who wrote a paper that was published in {j['name']} and has more than {pages} pages?", "set",
                w.names(w.sources("wrote", {p for p in own if w.row(p)["pages"] > pages})))  # fmt: skip
    yield Asked(f"authors who were born after {year - 30} and reviewed a paper that was published in {j['name']}",
                "set", w.names(a for a in w.sources("reviewed", own) if w.row(a)["born"] > year - 30))  # fmt: skip
    yield Asked(f"authors who reviewed a paper that was published in {j['name']} and who were born after {year - 30}",
                "set", w.names(a for a in w.sources("reviewed", own) if w.row(a)["born"] > year - 30))  # fmt: skip
    yield Asked(f"How many papers published in {j['name']} have a year after {year}?", "number", len(late))
    decade = chance.choice([1970, 1980, 1990])
    yield Asked(f"papers from the {decade}s", "set",
                w.names(p for p in w.ids("paper") if decade <= w.row(p)["year"] < decade + 10))  # fmt: skip
    yield Asked(f"coauthors of {w.row(some_row(w, chance, 'wrote')['source'])['name']}", *REFUSED)
    old = {x for x in w.ids("journal") if w.row(x)["founded"] < year - 40}
    yield Asked(f"papers with more than {pages} pages in journals that were founded before {year - 40}", "set",
                w.names(p for p in w.sources("published_in", old) if w.row(p)["pages"] > pages))  # fmt: skip


@asks("joined by and", "clinic")
def treated(w: World, chance: random.Random) -> Iterator[Asked]:
    d, e = chance.sample(w.rows("doctor")[4:], 2)
    of_d, of_e = w.targets("treats", [d["id"]]), w.targets("treats", [e["id"]])
    yield Asked(f"patients treated by {d['name']} and {e['name']}", "set", w.names(of_d & of_e))
    yield Asked(f"patients treated by {d['name']} or {e['name']}", "set", w.names(of_d | of_e))
    yield Asked(f"patients that {d['name']} treats but {e['name']} does not", "set", w.names(of_d - of_e))
    yield Asked(f"How many insured patients does {d['name']} treat?", "number",
                len({p for p in of_d if w.row(p)["insured"]}))  # fmt: skip
    own = w.row(some_row(w, chance, "works_on")["target"])
    staff = w.sources("works_on", [own["id"]])
    yield Asked(f"retired doctors who work on {own['name']}", "set", w.names(x for x in staff if w.row(x)["retired"]))
    yield Asked(f"doctors who work on {own['name']} and are not retired", "set",
                w.names(x for x in staff if not w.row(x)["retired"]))  # fmt: skip
    treating = w.sources("treats", w.ids("patient", lambda row: row["insured"]))
    yield Asked("doctors who treat no insured patient", "set", w.names(w.ids("doctor") - treating))


@asks("general noun", "clinic")
def beds(w: World, chance: random.Random) -> Iterator[Asked]:
    own = some_row(w, chance, "ward")
    staff = w.sources("works_on", [own["id"]])
    yield Asked(f"number of beds of {own['name']}", "number", own["beds"])
    yield Asked(f"How many beds does {own['name']} have?", "number", own["beds"])
    yield Asked(f"number of doctors on {own['name']}", "number", len(staff))
    yield Asked("total number of beds", "number", sum(row["beds"] for row in w.rows("ward")))
    yield Asked("What is the average number of beds of the wards?", "number",
                statistics.mean(row["beds"] for row in w.rows("ward")))  # fmt: skip
    most = {row["id"]: row["beds"] for row in w.rows("ward")}
    yield Asked("ward with the most beds", "set", w.names(ranked(most, 1, most=True)))
    yield Asked("ward with the fewest beds", "set", w.names(ranked(most, 1, most=False)))
    workers = counted(w.ids("ward"), (row["target"] for row in w.rows("works_on")))
    yield Asked("Which ward has the most doctors?", "set", w.names(ranked(workers, 1, most=True)))
    yield Asked(f"What is the value of {own['name']}?", *REFUSED)


@asks("direction", "clinic")
def referrals(w: World, chance: random.Random) -> Iterator[Asked]:
    edge = some_row(w, chance, "referred", lambda row: min(int(row[end][1:]) for end in ("source", "target")) > 3)
    d = w.row(edge["source"])
    out, into = w.targets("referred", [d["id"]]), w.sources("referred", [d["id"]])
    yield Asked(f"doctors referred by {d['name']}", "set", w.names(out))
    yield Asked(f"Which doctors did {d['name']} refer?", "set", w.names(out))
    yield Asked(f"Which doctors referred {d['name']}?", "set", w.names(into))
    patients = w.targets("treats", out)
    yield Asked(f"patients of doctors that {d['name']} referred", "set", w.names(patients))
    yield Asked(f"patients of doctors who referred {d['name']}", "set", w.names(w.targets("treats", into)))
