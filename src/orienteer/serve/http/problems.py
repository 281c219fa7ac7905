"""What went wrong as a reply: one shape for every status, `{"error": {"message", "status", "value"}}`."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from starlette.responses import JSONResponse, Response

from orienteer.display import clean, cut
from orienteer.errors import (
    BudgetExhausted,
    Error,
    GraphBusy,
    ModelError,
    NotAGraph,
    QueryStopped,
    Refused,
    UnknownNode,
    UsageError,
    without_paths,
)
from orienteer.records import JsonValue
from orienteer.serve.http.numbers import are_finite

logger = logging.getLogger(__name__)

LONGEST_MESSAGE = 2_000
"""Characters: a message may repeat what was sent."""
LONGEST_VALUE = 200
"""Characters of a value that a reply repeats."""
_STATUSES: tuple[tuple[type[Error], int], ...] = (
    (UnknownNode, 404),
    (NotAGraph, 500),  # a request names no folder: it is ours that is damaged
    (UsageError, 400),
    (QueryStopped, 400),
    (ModelError, 502),
    (BudgetExhausted, 503),
    (GraphBusy, 503),
)
"""The first class that an error is of says its status; any other is 500."""
_COME_AGAIN = "5"  # seconds, where nothing better is known


class Problem(NamedTuple):
    """What a reply says of an error."""

    status: int
    message: str
    value: JsonValue = None
    headers: Mapping[str, str] = {}

    def body(self) -> dict[str, JsonValue]:
        """Return the one shape of all errors."""
        message = cut(clean(self.message).replace("\n", " "), LONGEST_MESSAGE)
        return {"error": {"message": message, "status": self.status, "value": _repeated(self.value)}}

    def response(self) -> Response:
        """Return the whole reply."""
        return JSONResponse(self.body(), self.status, headers=dict(self.headers))


def problem_of(error: BaseException, paths: Sequence[Path], *, request_id: str) -> Problem:
    """Return what a reply says of an error: of a bug nothing but the id by which the log has it."""
    if not isinstance(error, Error):
        logger.error("request %s failed", request_id, exc_info=error)
        return Problem(500, f"the server failed, which is its own fault: its log has it as request {request_id}")
    message = without_paths(error.public, paths)
    value = error.value if isinstance(error.value, str | int | float | bool) else None
    if isinstance(error, Refused):
        return Problem(error.status, message, value, error.headers)
    status = next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)
    if status == 500:
        logger.error("request %s: %s", request_id, error)
    return Problem(status, message, value, {"retry-after": _COME_AGAIN} if status == 503 else {})


def _repeated(value: JsonValue) -> JsonValue:
    """Return a value as a reply repeats it: no long text, and nothing with a number that JSON cannot say."""
    if isinstance(value, str):
        return cut(clean(value), LONGEST_VALUE)
    return value if are_finite(value) else None
