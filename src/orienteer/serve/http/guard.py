"""The guard of every route, around all of them: hosts, origins, keys, headers, the log, and how many come at once."""

from __future__ import annotations

import hmac
import json
import logging
import re
import sys
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orienteer.display import clean, cut
from orienteer.errors import (
    BadOption,
    BudgetExhausted,
    Error,
    GraphBusy,
    ModelError,
    NotAGraph,
    QueryStopped,
    Refused,
    Unknown,
    UnknownNode,
    UsageError,
    without_paths,
)
from orienteer.records import JsonValue
from orienteer.serve.door import KEYS, LEAST_KEY
from orienteer.serve.http.site import Metrics
from orienteer.text.sentences import one_line

logger = logging.getLogger(__name__)

MOST_AT_ONCE = 200
"""Requests, streams among them."""
MOST_OF_AN_ADDRESS = 150
"""The same for one client's address, which may be that of a proxy for many."""
UPKEEP = ("/health", "/ready")
"""Paths that always answer, under any load: they report whether the server lives."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_LEFT = 499  # who asked has gone before the reply began
# Headers that the pages of other sites may send.
_ALLOWED = "authorization, content-type, x-api-key, mcp-protocol-version, mcp-session-id"
ASKED = "orienteer.asked"
"""The key under which a route stores a question or a search in the scope, for the log."""
_LONGEST_ASKED = 1_000  # characters of it
_LONGEST_PATH = 200  # characters of a path that the log shows
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# Defaults for every reply, as they are sent.
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
    (b"cache-control", b"no-store"),
)
_GZIP = re.compile(r"(?:^|,)\s*gzip\s*(?:$|,|;\s*q=(?:1|0\.0*[1-9]))")
_LEAST_ZIPPED = 1_000  # bytes
# A name, and perhaps a port: all that `Host` may have.
_HOST = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::[0-9]{0,5})?")


@dataclass(frozen=True, slots=True)
class Rules:
    """The requests that are allowed."""

    hosts: Collection[str]
    """Names that the server answers to, in small letters."""
    origins: Collection[str] = ()
    """Other sites whose pages may ask."""
    keys: Sequence[str] = ()
    """Any of them opens the server; without keys none is needed."""
    open_paths: Collection[str] = UPKEEP
    """Paths that need no key."""


def rules(
    host: str, *, keys: Sequence[str], allowed_hosts: Sequence[str], origins: Sequence[str], open_paths: Collection[str]
) -> Rules:
    """Return the rules of a server at a host. Raises `UsageError` for one that needs a key, and `BadOption`."""
    for key in keys:
        if len(key) < LEAST_KEY:
            raise BadOption(f"a key in {KEYS} has {len(key)} characters: it must have {LEAST_KEY} or more")
    if not keys and f"[{host}]" not in LOOPBACK and host not in LOOPBACK:
        raise UsageError(f"--host {host} opens the server to others: set {KEYS} to a key of {LEAST_KEY} characters")
    for origin in origins:
        scheme, colon, name = origin.partition("://")
        if scheme not in ("http", "https") or not colon or not name or "/" in name or "*" in name:
            raise BadOption(
                f"--allow-origin {origin!r} is not a valid origin: write one as https://example.org", value=origin
            )
    for name in allowed_hosts:
        if (written := _HOST.fullmatch(name)) is None or not name or written[1] != name or "/" in name or "*" in name:
            invalid = f"--allow-host {name!r} is not a valid host"
            raise BadOption(f"{invalid}: write its name alone, as graphs.example.org, without a port", value=name)
    own = [f"[{host}]" if ":" in host else host]
    names = [name.lower() for name in (*LOOPBACK, *own, *allowed_hosts)]
    return Rules(tuple(names), tuple(origins), tuple(keys), (*open_paths, *UPKEEP))


def accepts_gzip(headers: Headers) -> bool:
    """Return whether a client reads compressed replies."""
    return _GZIP.search(headers.get("accept-encoding", "")) is not None


class Guard:
    """Lets requests in, or refuses them with an error of the common shape."""

    def __init__(self, app: ASGIApp, rules: Rules, metrics: Metrics, *, logs_questions: bool = False) -> None:
        self._app, self._rules, self._metrics = app, rules, metrics
        # Streams of events pass as they are. A higher level takes four times as long for a tenth of the bytes.
        self._zipping = GZipMiddleware(app, _LEAST_ZIPPED, compresslevel=1)
        self._logs_questions = logs_questions
        self._keys = [key.encode() for key in rules.keys]
        # The current requests by the address of their client.
        self._now = Counter[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in or refuse it, complete the reply, and log it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), _LEFT
        headers = Headers(scope=scope)
        request_id = scope["request_id"] = token_hex(6)

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._complete(message, headers.get("origin"), request_id)
            await send(message)

        address = (scope.get("client") or ("",))[0]
        self._now[address] += 1
        try:
            refused = self._refused(scope, headers, address)
            app = self._zipping if accepts_gzip(headers) else self._app
            await (app if refused is None else refused)(scope, receive, answer)
        finally:
            self._now[address] -= 1
            if not self._now[address]:
                del self._now[address]
            # The line has no body, no key, no query string; the words of a question only if the operator wants that.
            seconds = time.perf_counter() - began
            route = getattr(scope.get("route"), "path", None)
            self._metrics.count_request(route or "other", status, seconds)
            path = route or clean(scope["path"].replace("\n", " "))[:_LONGEST_PATH]
            asked = scope.get(ASKED) if self._logs_questions else None
            question = (
                "" if asked is None else f" {json.dumps(one_line(clean(asked), _LONGEST_ASKED), ensure_ascii=False)}"
            )
            logger.info("%s %s %d %.1f ms %s%s", scope["method"], path, status, 1000 * seconds, request_id, question)

    def _refused(self, scope: Scope, headers: Headers, address: str) -> Response | None:
        """Return the reply to a request that is refused, or that the guard answers itself; None for any other."""
        host = headers.get("host", "").lower()
        written = _HOST.fullmatch(host)
        if written is None or written[1] not in self._rules.hosts:
            return Problem(421, f"this server is not {host!r}: start it with --allow-host", host).response()
        origin = headers.get("origin")
        # A proxy's header gives the scheme of the browser. No page of another site can set it.
        forwarded = headers.get("x-forwarded-proto", "").partition(",")[0].strip().lower()
        own = f"{forwarded if forwarded in ('http', 'https') else scope['scheme']}://{host}"
        if origin is not None and origin.lower() != own and origin not in self._rules.origins:
            why = "pages of other sites may not ask here: start the server with --allow-origin"
            return Problem(403, why, origin).response()
        if scope["path"] not in UPKEEP and (
            self._now.total() > MOST_AT_ONCE or self._now[address] > MOST_OF_AN_ADDRESS
        ):
            whose = "" if self._now.total() > MOST_AT_ONCE else " of your address"
            why = f"too many requests{whose} are under way: come again in a second"
            return Problem(503, why, None, {"retry-after": "1"}).response()
        if scope["method"] == "OPTIONS" and origin is not None:
            # `_complete` adds the headers.
            return Response(status_code=204)
        if self._keys and scope["path"] not in self._rules.open_paths and not self._has_key(headers):
            why = "a key is needed: send authorization: Bearer KEY"
            return Problem(401, why, None, {"www-authenticate": "Bearer"}).response()
        return None

    def _has_key(self, headers: Headers) -> bool:
        """Check the key of a request against every key, so that the time reveals nothing."""
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        given = (bearer.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")).encode("latin-1")
        return any([hmac.compare_digest(given, key) for key in self._keys])

    def _complete(self, message: Message, origin: str | None, request_id: str) -> None:
        """Add the headers of every reply."""
        is_set = {name for name, _ in message["headers"]}
        message["headers"] = [
            *message["headers"],
            *(pair for pair in _HEADERS if pair[0] not in is_set),
            (b"x-request-id", request_id.encode()),
        ]
        reply = MutableHeaders(scope=message)
        reply.add_vary_header("accept-encoding")
        if origin is not None and origin in self._rules.origins:
            reply["access-control-allow-origin"] = origin
            reply["access-control-allow-headers"] = _ALLOWED
            reply["access-control-allow-methods"] = "GET, POST, DELETE"
            reply["access-control-expose-headers"] = "mcp-session-id"
            reply.add_vary_header("origin")


# Errors as replies: one shape for every status, `{"error": {"message", "status", "value"}}`.

LONGEST_MESSAGE = 2_000
"""Characters: a message may repeat what was sent."""
LONGEST_VALUE = 200
"""Characters of a value that a reply repeats."""
# The first class that matches gives the status; otherwise it is 500.
_STATUSES: tuple[tuple[type[Error], int], ...] = (
    (UnknownNode, 404),
    (NotAGraph, 500),  # a request names no folder: a graph of the server is damaged
    (UsageError, 400),
    (QueryStopped, 400),
    (ModelError, 502),
    (BudgetExhausted, 503),
    (GraphBusy, 503),
)
_COME_AGAIN = "5"  # seconds, where nothing better is known


class Problem(NamedTuple):
    """The reply to an error."""

    status: int
    message: str
    value: JsonValue = None
    headers: Mapping[str, str] = {}
    near: tuple[str, ...] = ()

    def body(self) -> dict[str, JsonValue]:
        """Return the common shape of all errors."""
        message = cut(clean(self.message).replace("\n", " "), LONGEST_MESSAGE)
        # No long text is repeated, and no number that JSON cannot have.
        value = cut(clean(self.value), LONGEST_VALUE) if isinstance(self.value, str) else self.value
        near: dict[str, JsonValue] = {"near": list(map(clean, self.near))} if self.near else {}
        told = {"message": message, "status": self.status, "value": value if are_finite(value) else None}
        return {"error": told | near}

    def response(self) -> Response:
        """Return the whole reply."""
        return JSONResponse(self.body(), self.status, headers=dict(self.headers))


def problem_of(error: BaseException, paths: Sequence[Path], *, request_id: str) -> Problem:
    """Return the reply to an error; of a bug it has only the id under which the log has it."""
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
    near = error.near if isinstance(error, Unknown | BadOption) else ()
    return Problem(status, message, value, {"retry-after": _COME_AGAIN} if status == 503 else {}, near)


def are_finite(value: JsonValue) -> bool:
    """Return whether a double can hold every number in a value, at any depth: `1e400` is too large."""
    if isinstance(value, int | float):
        return abs(value) <= sys.float_info.max
    if isinstance(value, list):
        return all(map(are_finite, value))
    return not isinstance(value, dict) or all(map(are_finite, value.values()))
