"""All tools of one agent by name."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping

from orienteer.errors import BadOption, Error, ModelError, NotAGraph
from orienteer.graph.store import Graph
from orienteer.index.searchers import Mode
from orienteer.llm import arguments_of
from orienteer.plugins import load, refused, registered
from orienteer.protocols import Closing, Tool
from orienteer.records import NOT_RUN, JsonValue, Observation, ToolboxSpec, ToolCall, ToolSpec
from orienteer.tools.answer import AddToAnswer, Finish, RemoveFromAnswer
from orienteer.tools.between import Intersect, Paths
from orienteer.tools.follow import Follow
from orienteer.tools.read_node import ReadNode, ReadSchema
from orienteer.tools.search import SearchInGraph, SearchInNeighborhood
from orienteer.tools.session import REPLY_TOKENS, ReplyLines, Session

OVER = "Not run: the question is over."
_LONGEST_REFUSAL = 2_000  # characters; a model may be wrong at any length


class Toolbox:
    """The tools of one agent. Not shared among threads: their session holds its sets and its answer."""

    def __init__(self, session: Session, tools: Iterable[Tool], spec: ToolboxSpec | None = None) -> None:
        self.session, self.spec = session, spec
        self._tools = {tool.spec.name: tool for tool in tools}
        self._asked: set[str] = set()

    @classmethod
    def full(
        cls,
        graph: Graph,
        *,
        reply_tokens: int = REPLY_TOKENS,
        mode: Mode = "lexical",
        offers_mode: bool | None = None,
        offers_cypher: bool = False,
        offers_select: bool = False,
        offers_passages: bool = False,
        more: tuple[str, ...] = (),
    ) -> Toolbox:
        """Return all tools over a graph, and where asked for `cypher`, which is an extra, and `select`, for plans.

        Searches rank by `mode`, or as the model says where it is offered the choice: None offers it where there are
        vectors. They take passages where that is asked for. `more` are tools of installed packages, by name. Raises
        `BadOption` where there is none of a name.
        """
        offers_mode = graph.searcher.has_vectors if offers_mode is None else offers_mode
        spec = ToolboxSpec(
            name="full",
            options={
                "reply_tokens": reply_tokens,
                "mode": mode,
                "offers_mode": offers_mode,
                "offers_cypher": offers_cypher,
                "offers_select": offers_select,
                "offers_passages": offers_passages,
                **({"more": list(more)} if more else {}),
            },
        )
        session = Session(graph, reply_tokens, mode=mode, offers_mode=offers_mode, offers_passages=offers_passages)
        tools: tuple[Tool, ...] = (
            SearchInGraph(session),
            SearchInNeighborhood(session),
            Follow(session),
            Intersect(session),
            Paths(session),
            ReadNode(session),
            ReadSchema(session),
            AddToAnswer(session),
            RemoveFromAnswer(session),
            Finish(session),
        )
        if offers_cypher:
            from orienteer.tools.cypher import RunCypher  # an extra: agents have it where their config asks

            tools = (*tools[:5], RunCypher(session), *tools[5:])
        if offers_select:
            from orienteer.tools.select import Select  # agents do without

            tools = (*tools, Select(session))
        own = {tool.spec.name for tool in tools}
        return cls(session, (*tools, *(_registered(name, session, own) for name in more)), spec)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as data."""
        return tuple(tool.spec for tool in self._tools.values())

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> Observation:
        """Run a tool on arguments that fit its schema. Raises `Error` where they cannot be met."""
        return self._tools[name](arguments)

    def observe(self, call: ToolCall) -> Observation:
        """Run a model's call, unless the time of the question is over.

        Its mistakes come back to it as text; ours propagate.
        """
        left = self.session.run.seconds_left() if self.session.run is not None else None
        if left is not None and left <= 0:
            return Observation(OVER, error=NOT_RUN)
        try:
            arguments = arguments_of(call, self.specs)
        except ValueError as error:
            return self._refused(str(error), "BadCall")
        try:
            found = self.call(call.name, arguments)
        except (ModelError, NotAGraph):  # an embedder that is down, a damaged graph: no arguments mend it
            raise
        except Error as error:
            return self._refused(str(error), type(error).__name__)
        if call.name.startswith("search"):
            key = f"{call.name} {json.dumps(arguments, sort_keys=True)}"
            if key in self._asked:
                found = Observation(f"You asked just this before.\n{found.text}", found.nodes, found.error)
            self._asked.add(key)
        return found

    def close(self) -> None:
        """End what tools keep running, as the process that a model's code runs in. Closing twice is no fault."""
        for tool in self._tools.values():
            if isinstance(tool, Closing):
                tool.close()

    def _refused(self, why: str, error: str) -> Observation:
        reply = ReplyLines(self.session)
        reply.say(why if len(why) <= _LONGEST_REFUSAL else f"{why[:_LONGEST_REFUSAL]} ...")
        return Observation(reply.text(), error=error)


def _registered(name: str, session: Session, taken: Collection[str]) -> Tool:
    """Return the tool that an installed package registers under a name. Raises `BadOption`."""
    make = load("tools", name, taken)
    if make is None:
        known = ", ".join(registered("tools", taken)) or "none"
        raise BadOption(f"no installed package has a tool {name!r}: there are {known}")
    tool: Tool = make(session)
    if tool.spec.name != name:
        raise refused("tools", name, f"the tool calls itself {tool.spec.name!r}")
    return tool
