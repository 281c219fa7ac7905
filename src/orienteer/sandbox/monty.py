"""The first tier: pydantic-monty, a Python interpreter of its own that has no way out, in a worker process.

The worker is the boundary beside the interpreter: an abort inside it is a signal that ends its process, so it never
runs in ours. It has no environment, no files and no mounts; whatever would reach the system is answered with its own
refusal. Memory and time are bounded inside, and a clock of ours kills the worker where it overstays.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TypeAlias

from orienteer.errors import BadOption, Error, MissingExtra
from orienteer.sandbox.interpreter import Functions, Limits, Ran, Tier
from orienteer.sandbox.monty_errors import missing, told
from orienteer.sandbox.printed import Printed
from orienteer.sandbox.serving import serve

if TYPE_CHECKING:
    from pydantic_monty import FunctionSnapshot, FutureSnapshot, Monty, MontyComplete, MontySession, NameLookupSnapshot

    Paused: TypeAlias = FunctionSnapshot | NameLookupSnapshot | FutureSnapshot

_GRACE = 0.5  # seconds that the worker has to stop by itself, its state kept by the pool, before it is killed
_ENDLESS = 1_000_000_000  # round trips of a session; we count the calls of each run ourselves
_RECURSION = 500
