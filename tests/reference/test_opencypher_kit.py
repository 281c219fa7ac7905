"""Statements of openCypher's test kit: the right rows or a refusal, in time, whatever people call their variables."""

from collections import Counter

import pytest

from opencypher_kit import SPELLINGS, Worlds, asked, scenarios, spelled, typed
from orienteer.cypher import ArraysEngine

SHARE = 10
"""One scenario in ten is asked in every run, the others in the slow one."""
ACCEPTED = ("Pattern1.feature:[23] Fail on using pattern in WITH projection",)
"""Answered where Cypher refuses: a pattern as a value."""


@pytest.fixture(scope="module")
def kit(data_folder):
    folder = data_folder / "tck"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here; ORIENTEER_DATA names the folder of data")
    return scenarios(folder)


def verdicts(chosen, scratch):
    """Return for each way to call the variables the verdicts by scenario; None where no typed graph means the same."""
    found = {spelling: {} for spelling in SPELLINGS}
    worlds = Worlds(scratch, ArraysEngine)
    cases = [case for scenario in chosen if (case := typed(scenario)) is not None]
    for case in sorted(cases, key=lambda case: case.key):
        world = worlds.of(case)
        for spelling, names in SPELLINGS.items():
            statement = spelled(case.query, names) if names else (case.query, {})
            if statement is not None:
                found[spelling][case.scenario.source] = asked(world, case, *statement)
    worlds.close()
    return found


def check(found):
    """Assert that nothing is wrong, late or broken; return how many scenarios came to which verdict."""
    plain = found["plain"]
    faults = {source: verdict for source, verdict in plain.items() if verdict.kind in ("wrong", "late", "crashed")}
    assert not faults
    lenient = [source for source, verdict in plain.items() if verdict.kind == "lenient"]
    assert [source for source in lenient if not source.endswith(ACCEPTED)] == []
    for spelling, renamed in found.items():
        others = {
            source: (spelling, verdict, plain[source])
            for source, verdict in renamed.items()
            if (verdict.kind, verdict.rows) != (plain[source].kind, plain[source].rows)
        }
        assert not others
    return Counter(verdict.kind for verdict in plain.values())


@pytest.mark.data
def test_a_tenth_of_the_kit(kit, scratch):
    found = verdicts([scenario for scenario in kit if scenario.is_drawn(SHARE)], scratch)
    kinds = check(found)
    assert kinds["right"] >= 110
    assert len(found["numbered"]) > 150


@pytest.mark.data
@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_the_rest_of_the_kit(kit, scratch):
    found = verdicts([scenario for scenario in kit if not scenario.is_drawn(SHARE)], scratch)
    kinds = check(found)
    assert kinds["right"] >= 1_000
    assert len(found["numbered"]) > 1_200
