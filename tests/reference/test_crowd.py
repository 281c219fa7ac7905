"""The simulated crowd of the benchmarks, by what holds for every closed queue."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from crowd import Crowd, simulate


@pytest.mark.parametrize(
    ("users", "workers", "seconds"), [(2_000, 1, 0.005), (1_000, 8, 0.002), (100, 1, 1.85), (100, 8, 1.85), (40, 16, 3)]
)
def test_it_keeps_the_laws_of_queues(users, workers, seconds):
    pause = 10.0
    seen = simulate(Crowd(users, pause), workers, [seconds])
    assert seen.rate <= 1.05 * min(workers / seconds, users / (pause + seconds))  # what servers and users can do
    assert seen.rate >= 0.8 * min(workers / seconds, users / (pause + seconds))
    assert seen.busy == pytest.approx(seen.rate * seconds / workers, rel=0.05)  # the law of utilisation
    assert seen.p50 >= 0.999 * seconds
    if seen.busy > 0.99:  # the law of response time, where nothing is left to chance
        assert seen.p50 == pytest.approx(users / seen.rate - pause, rel=0.1)


def test_an_agent_waits_for_its_model_and_its_searches():
    seen = simulate(Crowd(1, 0.0, searches=7, model_seconds=2.0), 1, [0.1])
    assert seen.p50 == pytest.approx(7 * 2.1)
    assert seen.rate == pytest.approx(1 / 14.7, rel=0.1)
