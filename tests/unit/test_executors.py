"""The seam of many pieces at once: order, what is kept, what ends it; and what may travel to another machine."""

import pickle
import threading
import time
from collections import Counter

import pytest

from orienteer.connect import KeptReplies, NodeFailure, NodeProcess, ReplyKeeper
from orienteer.errors import BadOption, BudgetExhausted, Error, MissingExtra, ModelRefused, UnknownNode
from orienteer.executors import Job, Threads, Worker
from orienteer.llm import Abilities, ReplyFile, keep_abilities
from orienteer.records import Message, Reply, Trajectory
from orienteer.settings import Settings


class Unused:
    def open(self, place):
        raise AssertionError("nothing is opened elsewhere")


def job(do, *, stop=None, **more):
    return Job(name="test", here=Worker(do, stop), recipe=Unused(), **{"threads": 4, **more})


def slower_first(piece):
    time.sleep(0.02 if piece % 5 == 0 else 0.0)
    return piece


# ------------------------------------------------------------------------------------------------------ threads


def test_results_come_all_and_each_once():
    assert sorted(Threads().results(job(slower_first), range(100))) == list(range(100))


def test_the_order_of_pieces_is_given_back_where_it_is_asked_for():
    assert list(Threads().results(job(slower_first), range(600), in_order=True)) == list(range(600))


def test_pieces_are_taken_as_they_are_needed():
    taken = Counter()

    def pieces():
        for piece in range(1000):
            taken["pieces"] += 1
            yield piece

    results = Threads().results(job(lambda piece: piece), pieces())
    next(results)
    assert taken["pieces"] <= 8
    results.close()


def test_no_more_are_under_way_than_a_job_allows():
    most, now, lock = [0], [0], threading.Lock()

    def counted(piece):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.01)
        with lock:
            now[0] -= 1

    list(Threads().results(job(counted, limit=2), range(20)))
    assert most[0] == 2


def test_one_at_a_time_that_waits_for_nobody_is_done_in_the_thread_of_the_caller():
    threads = set(Threads().results(job(lambda piece: threading.get_ident(), threads=1, waits=False), range(3)))
    assert threads == {threading.get_ident()}
    [other] = set(Threads().results(job(lambda piece: threading.get_ident(), threads=1), range(3)))
    assert other != threading.get_ident()


def test_what_is_under_way_when_another_piece_fails_is_finished_and_kept():
    begun, kept = threading.Barrier(4, timeout=10), []

    def work(piece):
        begun.wait()  # all four are under way
        if piece == 0:
            raise ValueError("the first one")
        time.sleep(0.05)
        return piece

    with pytest.raises(ValueError, match="the first one"):
        list(Threads().results(job(work, keep=kept.append), range(4)))
    assert sorted(kept) == [1, 2, 3]


def test_work_that_can_be_stopped_is_told_so_and_not_waited_for():
    stopped = threading.Event()

    def work(piece):
        if piece == 0:
            raise ValueError
        assert stopped.wait(10)

    with pytest.raises(ValueError):  # noqa: PT011
        list(Threads().results(job(work, stop=stopped.set), range(3)))
    assert stopped.is_set()


# ------------------------------------------------------------------------------------------- what may travel


@pytest.mark.parametrize(
    "error",
    [
        ModelRefused("no", 401),
        BudgetExhausted("calls", "spent"),
        UnknownNode("who?", ["a"], value="b"),
        MissingExtra("this", "ray"),
        Error("plain"),
    ],
)
def test_an_error_comes_back_as_it_was_raised(error):
    error.trajectories = (Trajectory.model_construct(),)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.__dict__) == (str(error), error.__dict__)


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """Give a function that makes settings again as on another machine, whose environment has this key and cache."""

    def made(settings):
        pickled = pickle.dumps(settings)
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        monkeypatch.setenv("ORIENTEER_API_KEY", "sk-there")
        monkeypatch.setenv("ORIENTEER_CACHE", "/there")
        return pickled, pickle.loads(pickled)

    return made


def test_settings_leave_their_keys_behind_and_take_those_of_the_machine(elsewhere, tmp_path):
    here = Settings(
        model="m",
        base_url="http://models.example/v1",
        api_key="sk-here",
        serve={"keys": ["sk-served"]},
        cache=tmp_path,
        methods={"ark": {"agents": 2}},
        server={"concurrency": 3},
        origins={"model": "command line"},
    )
    pickled, there = elsewhere(here)
    assert b"sk-" not in pickled
    assert (there.api_key, there.cache.as_posix(), dict(there.serve)) == ("sk-there", "/there", {})
    same = ("model", "base_url", "methods", "server", "origins", "embedder")
    assert [getattr(there, name) for name in same] == [getattr(here, name) for name in same]
    assert there.open_model().config.api_key == "sk-there"


@pytest.mark.parametrize("name", ["base_url", "embedder_url"])
def test_an_address_with_a_password_does_not_travel(name):
    with pytest.raises(BadOption, match="with a password, which is not sent to other machines") as caught:
        pickle.dumps(Settings(**{name: "http://me:secret@models.example/v1"}))
    assert "secret" not in str(caught.value)


def test_what_is_known_of_a_server_travels(elsewhere, tmp_path):
    url = "http://models.example/v1"
    facts = {"url": url, "model": "m", "probed": "2026-01-01T00:00:00+00:00", "tools": "ignored", "json_schema": "kept"}
    abilities = Abilities(**facts)
    keep_abilities(abilities, tmp_path)
    _, there = elsewhere(Settings(model="m", base_url=url, cache=tmp_path))
    assert there.open_model().abilities == abilities
    assert there.open_model("other").abilities is None


# -------------------------------------------------------------------------------------------- replies, elsewhere


def reply(words):
    return Reply(message=Message(role="assistant", content=words))


def kept_by(keeper, path):
    return KeptReplies(
        lambda key, ordinal: keeper.get(str(path), key, ordinal),
        lambda key, given, ordinal: keeper.add(str(path), key, given, ordinal),
    )


def test_replies_that_were_kept_from_elsewhere_are_those_of_the_file(tmp_path):
    keeper, path = ReplyKeeper(), tmp_path / "r.jsonl"
    there = kept_by(keeper, path)
    assert (there.get("k"), there.count("k"), there.count("k"), there.count("other")) == (None, 0, 1, 0)
    there.add("k", reply("first"))
    there.add("k", reply("second"), ordinal=1)
    assert ReplyFile(path).get("k", 1).message.content == "second"
    assert kept_by(ReplyKeeper(), path).get("k").message.content == "first"


def test_a_question_that_is_asked_twice_at_once_keeps_one_reply_of_each(tmp_path):
    keeper, path = ReplyKeeper(), tmp_path / "r.jsonl"
    threads = [threading.Thread(target=kept_by(keeper, path).add, args=("k", reply(str(at)))) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(path.read_text().splitlines()) == 1
    assert kept_by(keeper, path).get("k", 1) is None


# ------------------------------------------------------------------------------------------------------ refusals


def test_a_node_with_another_version_says_so():
    failure = NodeProcess().begin("0.0", b"", b"", None, at_once=1, processes=1)
    assert isinstance(failure, NodeFailure)
    assert "has Orienteer" in str(failure.error)
    assert "the caller 0.0: install the same" in str(failure.error)


@pytest.mark.parametrize("address", ["", "6379", "ray://192.0.2.1:10001", "192.0.2.1:port", "local"])
def test_an_address_that_is_none_is_refused(address):
    pytest.importorskip("ray", reason="needs the extra ray")
    from orienteer.connect import Cluster

    with pytest.raises(BadOption, match=r"--ray must be HOST:PORT"):
        Cluster(address, Settings())


def test_no_cluster_at_an_address_is_told_at_once():
    pytest.importorskip("ray", reason="needs the extra ray")
    from orienteer.connect import Cluster

    with pytest.raises(BadOption, match="no Ray cluster answers at 127.0.0.1:1 "), Cluster("127.0.0.1:1", Settings()):
        pass
