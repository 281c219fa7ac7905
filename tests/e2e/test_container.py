"""Dockerfile and compose.yaml, as far as they can be read without a daemon."""

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from orienteer.serve import command_line
from orienteer.settings import VARIABLES, read_settings

yaml = pytest.importorskip("yaml", reason="compose.yaml is read with PyYAML: pip install pyyaml")

ROOT = Path(__file__).parents[2]
LINES = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text(encoding="utf-8")).splitlines()
STEPS = [line.split(maxsplit=1) for line in LINES if line and not line.startswith("#")]
SERVICE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]["orienteer"]
KEYS = "ORIENTEER_SERVE_KEYS"
has_serve = "serve" in command_line().commands


def steps(name):
    """Return what the steps of a kind say, in order."""
    return [rest for step, rest in STEPS if step == name]


def test_every_step_is_one_of_docker():
    known = {
        "FROM",
        "WORKDIR",
        "COPY",
        "RUN",
        "ENV",
        "USER",
        "EXPOSE",
        "STOPSIGNAL",
        "HEALTHCHECK",
        *("ENTRYPOINT", "CMD"),
    }
    assert {step for step, _ in STEPS} <= known
    assert STEPS[0][0] == "FROM"


def test_it_runs_as_nobody_of_importance():
    (user,) = steps("USER")
    assert user == "10001"
    (made,) = [run for run in steps("RUN") if "useradd" in run]
    assert f"--uid {user} " in made
    places = [place for place, (step, _) in enumerate(STEPS) if step in ("USER", "ENTRYPOINT", "CMD")]
    assert places == sorted(places)
    assert all(step not in ("RUN", "COPY") for step, _ in STEPS[places[0] :])


def test_what_is_copied_is_there_and_goes_to_the_builder():
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[:1] == "!"}
    copied = {name for copy in steps("COPY") if "--from" not in copy for name in shlex.split(copy)[:-1]}
    assert copied == let_in
    assert all((ROOT / name).exists() for name in copied)


def test_python_is_one_that_the_package_takes():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = {re.fullmatch(r"python:(3\.\d+)-slim(?: AS \w+)?", image)[1] for image in steps("FROM")}
    assert len(versions) == 1
    assert f"Programming Language :: Python :: {versions.pop()}" in project["classifiers"]


@pytest.mark.skipif(not has_serve, reason="this checkout has no command serve")
def test_the_command_and_its_extra_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (install,) = [run for run in steps("RUN") if "pip install" in run]
    extras = set(re.search(r"'\.\[([\w,]+)\]'", install)[1].split(","))
    assert {"dense", "docs", "serve"} <= extras <= set(project["optional-dependencies"])
    name, folder, *flags = json.loads(steps("CMD")[0])
    options = {flag for option in command_line().commands[name].params for flag in option.opts}
    assert folder == "/graph"
    assert {flag for flag in flags if flag.startswith("-")} <= options


def test_compose_says_the_same_command():
    assert SERVICE["command"] == json.loads(steps("CMD")[0])
    assert json.loads(steps("ENTRYPOINT")[0]) == ["orienteer"]
    assert SERVICE["ports"] == [f"127.0.0.1:{port}:{port}" for port in steps("EXPOSE")]


def test_a_key_is_required_and_none_is_written_down():
    assert SERVICE["environment"][KEYS].startswith(f"${{{KEYS}:?")
    assert not [line for line in steps("ENV") if "KEY" in line]
    assert all(value.startswith(f"${{{name}:") for name, value in SERVICE["environment"].items())


def test_other_settings_are_ours_and_may_be_empty(tmp_path):
    others = set(SERVICE["environment"]) - {KEYS}
    assert others <= {variable for names in VARIABLES.values() for variable in names}
    settings = read_settings(environment=dict.fromkeys(others, ""), folders=[tmp_path])
    assert settings.model is None


def test_nothing_but_the_cache_can_be_written():
    (graph,) = SERVICE["volumes"]
    assert (graph["target"], graph["read_only"]) == ("/graph", True)
    assert SERVICE["read_only"] is True
    assert [mount.split(":")[0] for mount in SERVICE["tmpfs"]] == ["/cache"]
    assert "ORIENTEER_CACHE=/cache" in steps("ENV")[0]


def test_it_holds_no_rights():
    assert SERVICE["cap_drop"] == ["ALL"]
    assert SERVICE["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "cap_add", "network_mode", "pid", "devices"} & set(SERVICE)
