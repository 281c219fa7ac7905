"""A Ray cluster on loopback: nodes of one CPU each, started as a person starts them, killed as a machine dies.

Only processes that were started here are ever ended: they are found by the session that each `ray start` begins.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

_STORE = 100_000_000  # bytes, the least that is of use
_SECONDS = 60.0
_AWAIT = """
import sys, time, ray
ray.init(address=sys.argv[1], log_to_driver=False, configure_logging=False)
ends = time.monotonic() + 60
while sum(node["Alive"] for node in ray.nodes()) < int(sys.argv[2]):
    assert time.monotonic() < ends, "the node has not joined"
    time.sleep(0.2)
"""


class RayNode:
    """A node: `ray start --block` and all that it has started."""

    def __init__(self, arguments: list[str], environment: Mapping[str, str], log: Path) -> None:
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus=1", *arguments]
        command += ["--node-ip-address=127.0.0.1", f"--object-store-memory={_STORE}", "--disable-usage-stats"]
        with log.open("ab") as file:
            self._process = subprocess.Popen(
                command, env=dict(environment), stdout=file, stderr=file, start_new_session=True, cwd="/"
            )

    @property
    def processes(self) -> list[int]:
        """The ids of the processes of this node that live."""
        ours = [self._process.pid] if self._process.poll() is None else []
        return [*ours, *(number for number in _all() if _session(number) == self._process.pid and number not in ours)]

    def kill(self) -> None:
        """Kill every process of the node at once, as a machine that loses its power."""
        for _ in range(100):
            living = self.processes
            for number in living:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
            if not living:
                break
            time.sleep(0.1)
        self._process.wait()


class RayCluster:
    """A head and the nodes that have joined it. A context manager, which leaves no process."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))  # sockets of Ray need a short path
        self.port = _free_port()
        named = {name: value for name, value in os.environ.items() if not name.startswith(("RAY_", "ORIENTEER_"))}
        self._environment = {**named, "RAY_USAGE_STATS_ENABLED": "0", **environment}
        self.nodes: list[RayNode] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def logs(self) -> list[Path]:
        """Every file that Ray has written, its own logs and those of processes on the nodes."""
        return [file for file in self._folder.rglob("*") if file.is_file() and not file.is_symlink()]

    def __enter__(self) -> Self:
        head = ["--head", f"--port={self.port}", "--include-dashboard=false", f"--temp-dir={self._folder}"]
        self._start(head)
        return self

    def join(self) -> RayNode:
        """Start another node, and return it once the head knows of it."""
        node = self._start([f"--address={self.address}"])
        subprocess.run([sys.executable, "-c", _AWAIT, self.address, "2"], env=dict(self._environment), check=True)
        return node

    def _start(self, arguments: list[str]) -> RayNode:
        if arguments[0] != "--head":
            _wait_for(self.port)
        node = RayNode(arguments, self._environment, self._folder / "start.log")
        self.nodes.append(node)
        _wait_for(self.port)
        return node

    def __exit__(self, *_: object) -> None:
        for node in reversed(self.nodes):
            node.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait_for(port: int) -> None:
    ends = time.monotonic() + _SECONDS
    while time.monotonic() < ends:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise TimeoutError(f"no head of a cluster at port {port}")


def _all() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _session(number: int) -> int | None:
    try:
        return os.getsid(number)
    except (ProcessLookupError, PermissionError):
        return None
