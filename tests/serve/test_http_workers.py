"""How several workers are kept: what keeps them, with a clock that is set and workers that are told what to do."""

import signal

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from orienteer.errors import Error
from orienteer.serve import Workers


class Told:
    """Workers that do as a test says: at each look it is asked what happens, until it has no more to say."""

    def __init__(self, *, fails=lambda number: False):
        self.fails = fails  # says which starts come to nothing, by their number
        self.now, self.started, self.there = 0.0, 0, set()
        self._ready, self._ended = [], []
        self.script = iter(())

    def start(self):
        self.started += 1
        self.there.add(self.started)
        if self.fails(self.started):
            self.die(self.started)
        else:
            self._ready.append(self.started)
        return self.started

    def die(self, worker=None):
        worker = min(self.there) if worker is None else worker
        self.there.discard(worker)
        self._ended.append((worker, "SIGKILL"))

    def ready(self):
        ready, self._ready = self._ready, []
        return ready

    def ended(self):
        ended, self._ended = self._ended, []
        return ended

    def end(self, worker):
        self.die(worker)

    kill = end

    def sleep(self, seconds):
        """Pass the time of a look, and have happen what happens next; after all of it the server is told to end."""
        self.now += seconds
        if next(self.script, "end") == "end":
            signal.raise_signal(signal.SIGTERM)

    def run(self, count, script):
        """Keep workers while a script runs; return how the server ended: the signal that it was told to end by."""
        self.script, told = script, []
        kept = signal.signal(signal.SIGTERM, lambda number, frame: told.append(number))
        try:
            Workers(count, self, clock=lambda: self.now, sleep=self.sleep).run(lambda: told.append("started"))
        finally:
            signal.signal(signal.SIGTERM, kept)
        return told


def deaths(workers, count, every):
    for _ in range(count):
        workers.now += every
        workers.die()
        yield "a death"
        yield "a look"


@pytest.mark.parametrize("every", [0.0, 1.0, 12.0, 7 * 86_400.0])
@pytest.mark.parametrize("count", [2, 4])
def test_a_server_outlives_any_number_of_deaths_of_workers_that_have_served(count, every):
    workers = Told()
    assert workers.run(count, deaths(workers, 20, every)) == ["started", signal.SIGTERM]
    assert workers.started == count + 20


def test_where_no_worker_can_be_started_the_server_ends_at_once():
    workers = Told(fails=lambda number: True)
    with pytest.raises(Error, match="no worker of the server stays: its log says why"):
        workers.run(4, iter(["a look"] * 100))
    assert workers.now < 5
    assert workers.started <= 4 + 3


def test_while_a_worker_serves_others_are_tried_three_times_a_minute():
    workers = Told(fails=lambda number: 2 < number < 50)

    def ten_minutes():
        workers.die()
        while workers.now < 600:
            yield "a look"

    assert workers.run(2, ten_minutes()) == ["started", signal.SIGTERM]
    assert 20 <= workers.started - 2 <= 33


def test_failed_starts_are_forgotten_once_one_serves():
    workers = Told(fails=lambda number: number % 3 != 0)  # two of three come to nothing

    def many():
        for _ in range(10):
            while len(workers.there) < 2:
                yield "a look"
            yield "a look at those that serve"
            workers.die()
            yield "a death"

    assert workers.run(2, many()) == ["started", signal.SIGTERM]


def test_a_system_without_room_for_a_process_is_waited_for():
    class Full(Told):
        def start(self):
            if 2 <= self.started < 4 and self.now < 120:
                raise OSError(11, "Resource temporarily unavailable")
            return super().start()

    workers = Full()

    def three_minutes():
        yield "a look"
        workers.die()
        while workers.now < 200:
            yield "a look"

    assert workers.run(2, three_minutes()) == ["started", signal.SIGTERM]
    assert workers.started == 3
