"""Servers that follow a graph at an address: each looks for a new generation every few seconds, in the background.

What is new is pulled into the cache, where the served graph finds it as it finds any that is published; requests go on
with the one before. A store that is away changes nothing but the log.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from orienteer.errors import Error
from orienteer.graph.format import read_pointer
from orienteer.ingest.remote.address import Address
from orienteer.ingest.remote.pull import brought_up

FOLLOW_SECONDS = 5.0
"""Between two looks at an address: one request, which is answered with "not modified"."""
_LONGEST_SECONDS = 60.0
"""Between two looks at a store that does not answer."""
logger = logging.getLogger(__name__)


def follow(address: Address, name: str, *, cache: Path, after: Callable[[float], None]) -> None:
    """Keep the copy of a graph up to date in a thread, as long as the process runs.

    `after` waits for the first copy, up to so many seconds.
    """

    def work() -> None:
        after(threading.TIMEOUT_MAX)
        is_away, pause = False, FOLLOW_SECONDS
        while True:
            trouble = _looked(address, name, cache)
            if trouble is not None and not is_away:
                logger.warning("%s goes on with what it has: %s", name, trouble)
            if trouble is None and is_away:
                logger.warning("%s: %s can be read again", name, address)
            is_away = trouble is not None
            pause = min(2 * pause, _LONGEST_SECONDS) if is_away else FOLLOW_SECONDS
            time.sleep(pause)

    threading.Thread(target=work, name="orienteer-follow", daemon=True).start()


def _looked(address: Address, name: str, cache: Path) -> str | None:
    """Bring the copy up to date, and return what kept it from that."""
    try:
        found = brought_up(address, cache=cache, tell=lambda stage, count: None)
    except (Error, OSError) as error:
        return str(error)
    if found.is_new:
        logger.info("%s: generation %s was pulled from %s", name, read_pointer(found.path).generation, address)
    return None
