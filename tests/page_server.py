"""The server of the product as the tests of its page see it: what was asked and told, and who left before the end."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fakes.http_site import serving
from orienteer.graph import Graph
from orienteer.protocols import LanguageModel
from orienteer.serve import FeedbackFile


class Watched:
    """What a server heard."""

    def __init__(self) -> None:
        self.address = ""
        self.asked: list[dict[str, Any]] = []
        self.told: list[dict[str, Any]] = []
        """What thumbs told."""
        self.left = threading.Event()
        """Set once somebody has left before the end of a reply."""

    def around(self, app: Any) -> Any:
        """Return an application that notes what another one hears."""
        heard = {"/api/ask": self.asked, "/api/feedback": self.told}

        async def watched(scope: Any, receive: Any, send: Any) -> None:
            bodies, body, ended = heard.get(scope.get("path", "")), b"", False

            async def noted_receive() -> Any:
                nonlocal body
                message = await receive()
                if message["type"] == "http.disconnect" and not ended:
                    self.left.set()
                elif message["type"] == "http.request" and bodies is not None:
                    body += message["body"]
                    if not message["more_body"]:
                        bodies.append(json.loads(body))
                return message

            async def noted_send(message: Any) -> None:
                nonlocal ended
                ended = message["type"] == "http.response.body" and not message.get("more_body", False)
                await send(message)

            await app(scope, noted_receive, noted_send)

        return watched


@contextmanager
def served(
    graphs: Mapping[str, Graph], *, feedback: Path, model: LanguageModel | None = None, key: str = "", **more: Any
) -> Iterator[Watched]:
    """Serve graphs until the end of the block; a `key` that is set opens the server."""
    watched = Watched()
    options: dict[str, Any] = {"feedback": FeedbackFile(feedback), "around": watched.around}
    with serving(graphs, model=model, keys=(key,) if key else (), **options, **more) as client:
        watched.address = client.url
        yield watched
