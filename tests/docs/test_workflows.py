"""The workflows that test and publish: they cannot run here, so they are held to what can be read.

Every step that runs a shell is one that a shell can read and names scripts that are there. `CONTRIBUTING.md` says how
its steps are tried by hand.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FLOWS = {file.stem: yaml.safe_load(file.read_text(encoding="utf-8")) for file in FILES}
STEPS = [
    pytest.param(step, id=f"{flow}-{job}-{number}")
    for flow, content in FLOWS.items()
    for job, told in content["jobs"].items()
    for number, step in enumerate(told.get("steps", ()))
]
RUNS = [each for each in STEPS if "run" in each.values[0]]


def test_there_are_two():
    assert set(FLOWS) == {"release", "tests"}


@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
def test_rights_are_the_least(flow):
    """Nothing may be written anywhere, but for the token of the job that publishes, which checks nothing out."""
    assert flow["permissions"] == {"contents": "read"}
    rights = {name: job["permissions"] for name, job in flow["jobs"].items() if "permissions" in job}
    assert rights in ({}, {"publish": {"id-token": "write"}})
    if rights:
        publish = flow["jobs"]["publish"]
        assert publish["needs"] == ["tests", "build"]
        assert publish["environment"]
        assert not [step for step in publish["steps"] if "checkout" in step.get("uses", "")]
    assert "secrets." not in yaml.safe_dump(flow)


@pytest.mark.parametrize("step", [each for each in STEPS if "uses" in each.values[0]])
def test_actions_are_pinned_by_commit(step):
    assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", step["uses"])
    if "checkout" in step["uses"]:
        assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("step", RUNS)
def test_no_text_of_others_is_put_into_a_shell(step):
    """What an expression gives goes through the environment: a branch may be called `$(rm -rf ~)`."""
    assert "${{" not in step["run"]


@pytest.mark.process
@pytest.mark.parametrize("step", RUNS)
def test_a_shell_can_read_each_step_and_its_scripts_are_there(step):
    assert subprocess.run(["bash", "-n", "-c", step["run"]], check=False).returncode == 0
    for script in re.findall(r"(?<![\w/])scripts/[\w.-]+", step["run"]):
        assert (ROOT / script).is_file()


def test_the_quick_lane_runs_on_each_system_that_is_classified():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    classified = set(re.findall(r'"Operating System :: (?:\w+ :: )?(\w+)"', project))
    systems = FLOWS["tests"]["jobs"]["quick"]["strategy"]["matrix"]["system"]
    runs = {"ubuntu": "Linux", "macos": "MacOS", "windows": "Windows"}
    assert {runs[system.split("-")[0]] for system in systems} == classified


def test_a_release_goes_through_all_tests():
    assert FLOWS["release"]["jobs"]["tests"]["uses"] == "./.github/workflows/tests.yml"
    assert "workflow_call" in FLOWS["tests"][True]  # YAML reads `on` as a truth
    assert FLOWS["release"][True] == {"push": {"tags": ["v*"]}}
