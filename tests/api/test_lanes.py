"""Each test belongs to one lane, and a quick one starts no process and binds no socket."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import lanes

ROOT = Path(__file__).parents[2]
TESTS = """
import contextlib
import multiprocessing
import socket
import subprocess
import sys
import threading

import pytest

@pytest.fixture(scope="session")
def child():
    process = multiprocessing.get_context("spawn").Process(target=int)
    process.start()
    process.join()

def bind():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))

def test_plain():
    pass

def test_a_process_of_a_fixture(child):
    pass

def test_a_process_whose_failure_is_caught():
    with contextlib.suppress(BaseException):
        subprocess.run([sys.executable, "-c", ""])

def test_a_socket_that_a_thread_binds():
    thread = threading.Thread(target=caught)
    thread.start()
    thread.join()

def caught():
    with contextlib.suppress(BaseException):
        bind()

@pytest.mark.process
def test_process(child):
    pass

@pytest.mark.server
def test_server():
    bind()

@pytest.mark.data
def test_data():
    pass

@pytest.mark.slow
@pytest.mark.browser
def test_browser():
    pytest.skip("Chromium is not installed: see CONTRIBUTING.md")
"""


def run(folder, *arguments):
    """Run the tests above, and return what is printed."""
    (folder / "test_it.py").write_text(TESTS)
    markers = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["markers"]
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n" + "".join(f"  {line}\n" for line in markers))
    command = [sys.executable, "-m", "pytest", "-p", "lanes", "-p", "no:cacheprovider", "-q", "-rf", *arguments]
    environment = {"PYTHONPATH": str(ROOT / "tests"), "PATH": ""}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout


def test_every_mark_is_of_one_lane():
    markers = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["markers"]
    names = {line.partition(":")[0] for line in markers}
    assert names == {*lanes.USUAL, *lanes.ALL, "corpus"}
    assert not set(lanes.USUAL) & set(lanes.ALL)
    assert set(lanes.WATCHED.values()) <= set(lanes.USUAL)
    assert all((ROOT / "tests" / folder).is_dir() for folder in lanes.FOLDERS)


@pytest.mark.process
def test_a_quick_test_that_leaves_its_process_fails_whatever_catches_it(tmp_path):
    printed = run(tmp_path, "--lane", "quick")
    assert "2 failed, 1 passed, 4 deselected, 1 error" in printed, printed
    assert printed.count("mark it with @pytest.mark.process") >= 2
    assert "mark it with @pytest.mark.server" in printed
    assert "left for other lanes: 3 of scripts/test, 1 of scripts/test all, tests/e2e/" in printed


@pytest.mark.process
@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_other_lanes_run_them_and_say_what_was_skipped(tmp_path, workers):
    chosen = ("-k", "test_process or test_server or test_data or test_browser", *workers)
    printed = run(tmp_path, "--lane", "usual", *chosen)
    assert "3 passed" in printed, printed
    assert "left for other lanes: 1 of scripts/test all\n" in printed
    printed = run(tmp_path, "--lane", "all", *chosen)
    assert "3 passed, 1 skipped" in printed, printed
    assert "skipped: 1 need Chromium" in printed


class _Product:
    """What the product raises is no need of a test: it is a fault there."""

    def lacking(self):
        import os

        return os.no_such_call  # type: ignore[attr-defined]


def raised(call):
    with pytest.raises((AttributeError, ImportError, OSError)) as caught:
        call()
    return caught.value


def test_what_windows_lacks_is_a_need_only_where_the_test_itself_uses_it(monkeypatch):
    error = raised(_Product().lacking)
    assert lanes.posix_need(error) == "POSIX"
    monkeypatch.setattr(lanes, "TESTS", ROOT / "src")
    assert lanes.posix_need(error) is None
    assert lanes.posix_need(raised(lambda: {}.no_such_method)) is None
    assert lanes.posix_need(raised(Path("/no/such/file").read_bytes)) is None
