"""The server as routes of an ASGI application: `/mcp` beside whatever else it serves.

Its routes are added, not mounted: a mount answers `POST /mcp` with a redirect to `/mcp/`, which clients do not follow,
and the lifespan of an application that is mounted never runs. Clients of the era of handshakes have sessions: they
cancel by a message of its own, which without one would find no question to stop. Nothing is kept in a session. No
stream stands open for what a server might have to say (GET), for this one says nothing unasked, and a shutdown would
wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple

from mcp.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.routing import BaseRoute, Route

PATH = "/mcp"
MOST_BYTES = 256 * 1024
"""Of a request's body."""
MOST_SESSIONS = 1_000
"""Of clients of the era of handshakes; one that is idle for half an hour ends."""


class HttpFace(NamedTuple):
    """What an application takes over: it adds the routes, and enters the lifespan in its own, once."""

    routes: Sequence[BaseRoute]
    lifespan: Callable[[], AbstractAsyncContextManager[Any]]


def http_face(server: Server[Any], *, is_behind_door: bool = False) -> HttpFace:
    """Return the server's routes and lifespan, for an application of Starlette or FastAPI.

        face = http_face(server(graphs))
        app = FastAPI(lifespan=...)           # which does: async with face.lifespan(): yield
        app.router.routes.extend(face.routes)

    Hosts and origins other than this machine's are refused, unless the application has a door that checks them.
    """
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False) if is_behind_door else None
    inner = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=False,
        max_request_body_size=MOST_BYTES,
        max_sessions=MOST_SESSIONS,
        transport_security=security,
    )
    routes = [
        Route(route.path, endpoint=route.endpoint, methods=["POST", "DELETE"])
        for route in inner.routes
        if isinstance(route, Route)
    ]
    return HttpFace(routes, lambda: inner.router.lifespan_context(inner))
