"""Look-ups that take long: they end in time, hold nobody up, and stop when their client leaves."""

import asyncio
import threading
import time

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from fakes.http_site import serving, until
from fakes.inside import inside
from orienteer.errors import BudgetExhausted, Error, Refused, Unknown, UnknownNode
from orienteer.llm import Budget
from orienteer.patience import Patience, check_patience, within
from orienteer.serve import LOOK_UPS, Answering, HttpSite, node_named, subgraph_page
from orienteer.settings import Settings

BODIES = {
    "/search": [{"query": "Who designed Python in the Netherlands 1991"}, {"query": '"Python" "Rust" of'}],
    "/neighbors": [{"node": "Python"}, {"node": "Python", "query": "designed"}, {"node": "Pythn"}],
    "/intersect": [{"nodes": ["Python", "Ruby", "Rust"]}, {"nodes": ["Python", "Rubyy"]}],
    "/paths": [{"a": "Niklaus Wirth", "b": "Go"}, {"a": "Niklaus Wirth", "b": "Goo"}],
    "/list": [{"node_types": ["language"], "where": ["year > 1980"]}, {"group_by": "year"}, {"where": ["yer > 1980"]}],
    "/subgraph": [{"nodes": ["Python", "Pythn", "Guido van", "Ruby (language)", "nobody"], "around": 3}],
    "/facets": [{"question": "Which languages support Concurrent programming?"}, {"reading": "langage"}],
    "/answers": [
        {"question": "Which languages support Concurrent programming?", "sort": "year"},
        {"reading": "langage"},
    ],
}
CASES = [(look_up, body) for look_up in LOOK_UPS for body in BODIES[look_up.path]]


class Looks(Patience):
    """A patience that ends at the n-th look at it."""

    def __init__(self, most):
        super().__init__(60)
        self.left = most

    def check(self):
        self.left -= 1
        if self.left < 0:
            raise self.over()


def outcome(generation, look_up, body, patience):
    """Return what a look-up gives, or its error as it would be told."""
    try:
        with within(patience), generation.explained():
            return look_up.read(generation, look_up.body(**body))
    except Error as error:
        return error


def plain(record):
    if isinstance(record, Error):
        return type(record), str(record)
    return record.model_copy(update={"usage": None}) if hasattr(record, "usage") else record


@pytest.mark.parametrize(("look_up", "body"), CASES, ids=lambda case: getattr(case, "path", None) or str(case)[:40])
def test_what_is_cut_off_anywhere_gives_the_whole_reply_or_none(served, look_up, body):
    generation = served.named(None).current()
    whole = outcome(generation, look_up, body, None)
    looks = 0
    while isinstance(cut := outcome(generation, look_up, body, Looks(looks)), BudgetExhausted):
        looks += 1
    assert looks > 0, "it never looks whether whoever asked still waits"
    if isinstance(whole, Unknown):  # it may be cut off while near names are looked for, and says so
        while str(cut) != str(whole):
            assert type(cut) is type(whole)
            assert cut.near == ()
            assert "took more than" in str(cut)
            looks += 1
            cut = outcome(generation, look_up, body, Looks(looks))
        assert cut.near == whole.near
    else:
        assert plain(cut) == plain(whole)


@pytest.fixture
def counted(languages, monkeypatch):
    """Give the texts that near names are looked for of."""
    texts = []
    kept = type(languages.arrays).near_names
    monkeypatch.setattr(
        type(languages.arrays),
        "near_names",
        lambda arrays, text, **how: [texts.append(text), kept(arrays, text, **how)][1],
    )
    return texts


def test_names_that_are_not_there_cost_no_search_for_near_ones(languages, counted):
    names = [f"nobody {number}" for number in range(2_000)]
    began = time.process_time()
    assert subgraph_page(languages, names).unknown == tuple(names)
    assert time.process_time() - began < 1
    assert node_named(languages, "Guido van").id == "person:guido-van-rossum"
    assert counted == []
    with pytest.raises(UnknownNode) as refused:
        node_named(languages, "Guydo van Rossum")
    assert counted == []
    assert "Guido van Rossum" in str(refused.value)
    assert counted == ["Guydo van Rossum"]


def test_large_look_ups_hold_up_no_other(languages):
    with serving({"languages": languages}) as client:
        held = threading.Event()
        client.site.large_pool.submit(held.wait, 30)
        replies, threads = {}, []
        for look_up, body in CASES:
            if look_up.is_large:
                at = (look_up.path, str(body))
                ask = threading.Thread(
                    target=lambda at=at, body=body: replies.update({at: client.post(f"/api{at[0]}", body).status})
                )
                ask.start()
                threads.append(ask)
        try:
            for look_up, body in CASES:
                if not look_up.is_large:
                    assert client.post(f"/api{look_up.path}", body).status in (200, 400, 404)
            assert [client.get(path).status for path in ("/api/graphs", "/api/schema", "/api/node?id=Python")] == [
                200
            ] * 3
            assert replies == {}
        finally:
            held.set()
            for ask in threads:
                ask.join()
        assert set(replies.values()) == {200, 400, 404}


@pytest.fixture
def site():
    return HttpSite(Answering(Settings(), Budget()))


class Endless:
    """A look-up that has no end of its own."""

    def __init__(self):
        self.has_begun, self.has_ended = threading.Event(), threading.Event()

    def __call__(self):
        self.has_begun.set()
        try:
            while True:
                check_patience()
                time.sleep(0.001)
        finally:
            self.has_ended.set()


@pytest.mark.parametrize("is_large", [False, True])
def test_a_look_up_ends_when_its_client_leaves(site, is_large):
    endless = Endless()

    async def left():
        while not endless.has_begun.is_set():
            await asyncio.sleep(0.001)
        return {"type": "http.disconnect"}

    with pytest.raises(Refused, match="the client has left"):
        asyncio.run(site.look_up(endless, receive=left, is_large=is_large))
    assert endless.has_ended.wait(5)


def test_who_leaves_in_line_is_not_worked_for(site):
    held, done = threading.Event(), []
    for _ in range(2):
        site.pool.submit(held.wait, 30)

    async def left():
        return {"type": "http.disconnect"}

    with pytest.raises(Refused, match="the client has left"):
        asyncio.run(site.look_up(lambda: done.append("worked"), receive=left))
    held.set()
    site.pool.shutdown()
    assert done == []


@pytest.mark.parametrize("is_large", [False, True])
def test_a_look_up_has_so_many_seconds(site, is_large, monkeypatch):
    monkeypatch.setattr(inside(HttpSite), "LOOK_UP_SECONDS", 0.05)
    endless = Endless()
    with pytest.raises(BudgetExhausted, match="this took more than 0.05 s: ask for less at once"):
        asyncio.run(site.look_up(endless, is_large=is_large))
    assert endless.has_ended.wait(5)


def test_time_in_line_counts_and_what_never_looks_is_not_waited_for(languages, monkeypatch):
    monkeypatch.setattr(inside(HttpSite), "LOOK_UP_SECONDS", 0.2)
    held = threading.Event()
    with serving({"languages": languages}, speed=5) as client:
        for _ in range(2):
            client.site.pool.submit(held.wait, 30)
        try:
            refused = client.post("/api/search", {"query": "Python"})
            assert (refused.status, refused.headers["retry-after"]) == (503, "5")
            assert refused.error["message"] == "this took more than 0.2 s: ask for less at once"
        finally:
            held.set()
        until(lambda: client.post("/api/search", {"query": "Python"}).status == 200)


def test_what_lasts_is_made_whole_whoever_waits(languages):
    with within(Looks(0)):
        made = languages.arrays.once("made for a test", lambda: [check_patience(), "made"][1])
        with pytest.raises(BudgetExhausted):
            check_patience()
    assert made == "made"
