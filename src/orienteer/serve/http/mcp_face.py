"""`/mcp`: the graphs as tools of other people's agents, behind the guard; what takes long takes the places of all."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from orienteer.agents.events import Event
from orienteer.methods.table import AUTO
from orienteer.serve.graphs import Generation
from orienteer.serve.http.bodies import AskBody, shaped
from orienteer.serve.http.look_ups import LOOK_UPS
from orienteer.serve.http.running import Question
from orienteer.serve.http.site import Site
from orienteer.serve.mcp.asking import Asked
from orienteer.serve.mcp.http import HttpFace, http_face
from orienteer.serve.mcp.server import server
from orienteer.serve.mcp.tools import CYPHER

_LARGE = {look_up.path.removeprefix("/") for look_up in LOOK_UPS if look_up.is_large}
"""Tools that do the same as look-ups that may be large."""


def mcp_face(site: Site) -> HttpFace:
    """Return the routes and the lifespan of the protocol over a site's graphs. Needs the extra `mcp`."""

    async def events_of(generation: Generation, asked: Asked) -> AsyncGenerator[Event, None]:
        body = shaped(AskBody, {**asked._asdict(), "method": AUTO})
        question = Question(site, await site.slots.take())
        try:
            await question.start(generation, body)
            async with aclosing(question.events()) as events:
                async for event in events:
                    yield event
        finally:
            question.close()

    async def run_in(tool: str, read: Callable[[], str]) -> str:
        if tool == CYPHER:
            return await site.in_a_place(read)
        return await site.look_up(read, is_large=tool in _LARGE)

    made = server(site.graphs, offers_cypher=site.has_cypher, events_of=events_of, run_in=run_in)
    return http_face(made, is_behind_door=True)
