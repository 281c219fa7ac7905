"""The benchmarks find what they import, whatever moved since they were last run, and their golds compute."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
IMPORTS = """
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        assert "orienteer" not in str(error), (name, error)  # a peer that is not installed is no fault
"""


@pytest.mark.process
def test_every_benchmark_can_be_imported():
    names = sorted(file.stem for file in BENCHMARKS.glob("*.py"))
    ran = subprocess.run(
        [sys.executable, "-c", IMPORTS, *names], cwd=BENCHMARKS, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.process
@pytest.mark.slow
def test_golds_compute_over_the_worlds_that_are_here(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.setenv("ORIENTEER_DATA", str(tmp_path))
    command = [sys.executable, "-m", "benchmarks.intents.check"]
    ran = subprocess.run(command, cwd=BENCHMARKS.parent, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "437 intents" in ran.stdout
