"""`/mcp`: the graphs as tools of other people's agents, behind the guard; what takes long takes the places of all."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from orienteer.agents.events import Event
from orienteer.methods.table import AUTO
from orienteer.serve.graphs import Generation
from orienteer.serve.http.bodies import AskBody
from orienteer.serve.http.running import Question
from orienteer.serve.http.site import Site
from orienteer.serve.mcp.asking import Asked
from orienteer.serve.mcp.http import HttpFace, http_face
from orienteer.serve.mcp.server import server


def mcp_face(site: Site) -> HttpFace:
    """Return the routes and the lifespan of the protocol over a site's graphs. Needs the extra `mcp`."""

    async def events_of(generation: Generation, asked: Asked) -> AsyncGenerator[Event, None]:
        body = AskBody(question=asked.question, k=asked.k, node_types=asked.node_types, method=AUTO)
        question = Question(site, await site.slots.take())
        try:
            await question.start(generation, body)
            async with aclosing(question.events()) as events:
                async for event in events:
                    yield event
        finally:
            question.close()

    made = server(
        site.graphs,
        offers_cypher=site.has_cypher,
        events_of=events_of,
        look_up_in=site.look_up,
        query_in=site.in_a_place,
    )
    return http_face(made, is_behind_door=True)
