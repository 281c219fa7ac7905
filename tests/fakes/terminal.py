"""A command at a terminal of the standard library's."""

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[()][A-Z0-9]|[=>])")
WHERE = "\x1b[6n"  # asks a terminal where its cursor stands
SECONDS = 60.0  # for a line to come: the machine is shared
LAUNCH = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    """A process at a terminal of its own: what it writes is read as a person does."""

    def __init__(self, *arguments, columns=100, lines=40, **environment):
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        command = [sys.executable, "-c", LAUNCH, sys.executable, "-m", "orienteer", *arguments]
        # What this machine says of its own terminal is not said of this one.
        outside = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
        variables = {**outside, "TERM": "xterm", **environment}
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=variables)
        os.close(slave)
        self.raw = ""
        self._seen = 0

    def type(self, text):
        os.write(self._master, text.encode())

    def wait(self, text):
        """Wait until a text comes after what was waited for before; return all that came until its end."""
        ends = time.monotonic() + SECONDS
        while (at := self.shown.find(text, self._seen)) < 0:
            assert time.monotonic() < ends, f"{text!r} did not come:\n{self.shown[self._seen :]}"
            self._read(0.1)
        came, self._seen = self.shown[self._seen : at + len(text)], at + len(text)
        return came

    @property
    def shown(self):
        return ESCAPES.sub("", self.raw).replace("\r", "")

    def end(self):
        """Return the exit code once the process has ended."""
        ends = time.monotonic() + SECONDS
        while self.process.poll() is None:
            assert time.monotonic() < ends, f"it did not end:\n{self.shown[self._seen :]}"
            self._read(0.1)
        self._read(0.0)
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)

    def _read(self, seconds):
        poll = select.poll()  # `select` takes no descriptor above 1,023, and other tests hold many open
        poll.register(self._master, select.POLLIN)
        if poll.poll(1_000 * seconds):
            with contextlib.suppress(OSError):  # the other end is closed
                came = os.read(self._master, 65536).decode(errors="replace")
                self.raw += came
                for _ in range(came.count(WHERE)):
                    self.type("\x1b[20;1R")
