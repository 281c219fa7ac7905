"""The server as routes of an ASGI application: `/mcp` next to its other endpoints.

Its routes are added, not mounted: a mount answers `POST /mcp` with a redirect to `/mcp/`, which clients do not follow,
and the lifespan of a mounted application never runs. There is no stream for messages of the server (GET): this one
sends none unasked, and a shutdown would wait for it.

Nothing is kept for a client, so any of several processes answers any request. Clients of the revisions before
2026-07-28 get the id of a session, because they cancel a request by another one, which names both. A mark in memory
that all processes share then stops the request, as hanging up does.
"""

from __future__ import annotations

import asyncio
import json
import mmap
import secrets
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from hashlib import blake2b
from hmac import compare_digest
from typing import Any, NamedTuple

import mcp_types as types
from mcp.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orienteer.errors import Refused
from orienteer.records import JsonValue
from orienteer.serve.http.bodies import MOST_BYTES, content_of
from orienteer.serve.mcp.server import received

PATH = "/mcp"
SESSION = "mcp-session-id"
_VERSION = "mcp-protocol-version"
_LOOK_SECONDS = 0.1
_MARKS, _MARK_BYTES = 4_096, 16


class HttpFace(NamedTuple):
    """The routes that an application adds, and the lifespan that it enters in its own, once."""

    routes: Sequence[BaseRoute]
    lifespan: Callable[[], AbstractAsyncContextManager[Any]]


def http_face(server: Server[Any], *, is_behind_door: bool = False) -> HttpFace:
    """Return the server's routes and lifespan, for an application of Starlette or FastAPI.

        face = http_face(server(graphs))
        app = FastAPI(lifespan=...)           # which does: async with face.lifespan(): yield
        app.router.routes.extend(face.routes)

    Hosts and origins other than this machine's are refused, unless the application checks them itself. If processes are
    forked, this is called before, so that they accept each other's sessions.
    """
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False) if is_behind_door else None
    inner = server.streamable_http_app(
        streamable_http_path=PATH, stateless_http=True, max_request_body_size=MOST_BYTES, transport_security=security
    )
    sessions = Sessions()
    routes = [
        Route(route.path, endpoint=_Messages(route.endpoint, sessions), methods=["POST"])
        for route in inner.routes
        if isinstance(route, Route)
    ]
    return HttpFace(routes, lambda: inner.router.lifespan_context(inner))


class Sessions:
    """The ids of sessions, and marks of cancelled requests.

    Nothing is stored for a session: its id is signed. Forked processes share the key and the marks. A mark may be
    overwritten by that of another request; then the first one runs on until its time is up.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._marks = mmap.mmap(-1, _MARKS * _MARK_BYTES)

    def new(self) -> str:
        """Return the id of a new session."""
        name = secrets.token_hex(16)
        return name + self._signature(name)

    def has(self, session: str) -> bool:
        """Return whether an id was issued here."""
        return compare_digest(self._signature(session[:32]).encode(), session[32:].encode())

    def cancel(self, session: str, request: JsonValue) -> None:
        """Mark a request as cancelled."""
        place, mark = self._mark(session, request)
        self._marks[place : place + _MARK_BYTES] = mark

    def is_cancelled(self, session: str, request: JsonValue) -> bool:
        """Return whether a request is marked as cancelled."""
        place, mark = self._mark(session, request)
        return self._marks[place : place + _MARK_BYTES] == mark

    def _signature(self, name: str) -> str:
        return blake2b(name.encode(), key=self._key, digest_size=16).hexdigest()

    def _mark(self, session: str, request: JsonValue) -> tuple[int, bytes]:
        mark = blake2b(json.dumps([session, request]).encode(), key=self._key, digest_size=_MARK_BYTES).digest()
        return int.from_bytes(mark[:4]) % _MARKS * _MARK_BYTES, mark


class _Messages:
    """Refuses input that is not one message, and gives clients of handshakes a session in which they can cancel."""

    def __init__(self, app: ASGIApp, sessions: Sessions) -> None:
        self._app, self._sessions = app, sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        try:
            body = await content_of(Request(scope, receive))
        except Refused as refused:
            await _refusal(refused.status, str(refused))(scope, receive, send)
            return
        message, errors = received(body)
        if message is None:
            request_id = errors[0].id if len(errors) == 1 else None
            await _refusal(400, errors[0].error.message, errors[0].error.code, request_id)(scope, receive, send)
            return
        unread = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return unread.pop() if unread else await receive()

        headers = Headers(scope=scope)
        session = headers.get(SESSION)
        if headers.get(_VERSION, LATEST_HANDSHAKE_VERSION) not in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._app(scope, replay, send)
        elif isinstance(message, types.JSONRPCRequest) and message.method == "initialize":
            await self._app(scope, replay, self._opening(send))
        elif session is None:
            await self._app(scope, replay, send)
        elif not self._sessions.has(session):
            await _refusal(404, "Session not found: initialize again")(scope, receive, send)
        elif isinstance(message, types.JSONRPCRequest):
            is_cancelled = partial(self._sessions.is_cancelled, session, message.id)
            await _until(is_cancelled, self._app, scope, replay, send)
        else:
            if isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
                self._sessions.cancel(session, (message.params or {}).get("requestId"))
            await self._app(scope, replay, send)

    def _opening(self, send: Send) -> Send:
        """Return a `send` that adds the id of a new session to the reply."""

        async def open_session(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                MutableHeaders(scope=message)[SESSION] = self._sessions.new()
            await send(message)

        return open_session


async def _until(is_cancelled: Callable[[], bool], app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request. If its client cancels it, the work is stopped, and the reply ends without a message."""
    is_begun = is_whole = False

    async def tell(message: Message) -> None:
        nonlocal is_begun, is_whole
        is_begun = True
        is_whole = message["type"] == "http.response.body" and not message.get("more_body", False)
        await send(message)

    answering = asyncio.ensure_future(app(scope, receive, tell))
    try:
        while not answering.done() and not is_cancelled():
            await asyncio.wait({answering}, timeout=_LOOK_SECONDS)
    finally:
        if not answering.done():
            answering.cancel()
            await asyncio.wait({answering})
    if not answering.cancelled():
        answering.result()
    elif not is_begun:
        await Response(status_code=202)(scope, receive, send)
    elif not is_whole:
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _refusal(
    status: int, message: str, code: int = types.INVALID_REQUEST, request_id: types.RequestId | None = None
) -> Response:
    """Return an error of JSON-RPC as a reply."""
    error = {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}
    return JSONResponse(error, status)
