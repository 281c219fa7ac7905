"""What a request costs the server's processor, beside a bare route in the same minute: `benchmarks/doors.py`."""

from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")


@pytest.mark.timing
@pytest.mark.data
@pytest.mark.process
def test_a_search_costs_four_bare_routes_and_eight_connections_no_more_than_one(real_graph, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    from doors import TARGETS, measure
    from report import Report

    report = Report(TARGETS)
    measure(report, real_graph("hetionet").path, 100, 11)
    judged = {row.name: (row.ratio, row.met) for row in report.rows if row.target is not None}
    assert judged.keys() == TARGETS.keys()
    assert all(met for _, met in judged.values()), judged
