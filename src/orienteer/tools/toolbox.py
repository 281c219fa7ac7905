"""The tools of one agent, and the toolboxes there are: a method opens one, and so does a trajectory by its name."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, ValidationError, validate_call

from orienteer.errors import AmbiguousNode, BadInput, BadOption, DatabaseAway, Error, ModelError, NotAGraph, UnknownNode
from orienteer.graph.store import Graph
from orienteer.index.searchers import Mode
from orienteer.llm import arguments_of
from orienteer.protocols import Closing, Tool
from orienteer.records import NOT_RUN, JsonValue, Observation, ToolboxSpec, ToolCall, ToolSpec, Trajectory
from orienteer.text.lines import CHARACTERS_A_TOKEN_OF_IDS
from orienteer.tools.answer import AddToAnswer, Finish, RemoveFromAnswer
from orienteer.tools.code.config import CodeConfig, LoweredLimits, lowered
from orienteer.tools.listing import LIST_NODES, ListNodes
from orienteer.tools.node_ids import NodeIdRetriever
from orienteer.tools.offer import Course, NamesOfQuestion, offered
from orienteer.tools.package_tool import package_tool
from orienteer.tools.search import SearchInGraph, SearchInNeighborhood
from orienteer.tools.session import REPLY_TOKENS, ReplyLines, Session
from orienteer.tools.texts import PASSAGES_TOKENS, ReadNode, ReadSchema, SearchPassages
from orienteer.tools.walks import FindPaths, Follow, IntersectNodes

if TYPE_CHECKING:
    from orienteer.tools.code.interpreter import CodeInterpreter


OVER = "Not run: the question is over."
_LONGEST_REFUSAL = 2_000  # characters; a model may be wrong at any length
COMPACT = "compact"
"""The name of the toolbox of small models."""
COMPACT_TOKENS = 160
"""Size of an observation for a model whose context and attention are small: some six rows."""
STATELESS_TOKENS = 1_450
"""Size of a reply of a server: under the 1,500 that hosts of tools take without complaint, with room for an error."""
GROUNDING_TOKENS = 6_000
"""Size of an observation: some 400 rows of a query's result, where an agent's own searches show 100."""


class Toolbox:
    """The tools of one agent. Not safe to share among threads: their session holds its sets and its answer."""

    def __init__(self, session: Session, tools: Iterable[Tool], spec: ToolboxSpec | None = None) -> None:
        self.session, self.spec = session, spec
        self._tools = {tool.spec.name: tool for tool in tools}
        self._asked: set[str] = set()
        self._course = Course()

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
        names_first: bool = True,
        more: tuple[str, ...] = (),
    ) -> Toolbox:
        """Return all tools over a graph; on request also `cypher`, which is an extra, and `select`, which is for plans.

        Searches rank by `mode`, or as the model says where it is offered the choice (None: where there are vectors).
        `names_first` has the search put what a query names before what shares words with it; methods of papers search
        by BM25 alone. `more` names further tools: `list_nodes`, and those of installed packages. Raises `BadOption`
        where there is none of a name.
        """
        offers_mode = graph.arrays.searcher.has_vectors if offers_mode is None else offers_mode
        spec = ToolboxSpec(
            name="full",
            options={
                "reply_tokens": reply_tokens,
                "mode": mode,
                "offers_mode": offers_mode,
                "offers_cypher": offers_cypher,
                "offers_select": offers_select,
                "offers_passages": offers_passages,
                **({} if names_first else {"names_first": False}),
                **({"more": list(more)} if more else {}),
            },
        )
        session = Session(graph, reply_tokens, mode=mode, offers_mode=offers_mode, offers_passages=offers_passages)
        tools: tuple[Tool, ...] = (
            SearchInGraph(session, names_first=names_first),
            SearchInNeighborhood(session),
            Follow(session),
            IntersectNodes(session),
            FindPaths(session),
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
        return cls(session, (*tools, *(_further(name, session, own) for name in more)), spec)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as data."""
        return tuple(tool.spec for tool in self._tools.values())

    def offered(self, names: NamesOfQuestion) -> tuple[ToolSpec, ...]:
        """Return the tools as they can be called now, for a model whose reply is held to a call (`offer`)."""
        return offered(self.specs, self.session, names, self._course)

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> Observation:
        """Run a tool on arguments that fit its schema. Raises `Error` where they cannot be met."""
        return self._tools[name](arguments)

    def observe(self, call: ToolCall) -> Observation:
        """Run a model's call, unless the time of the question is over.

        The model's mistakes are returned to it as text; our own errors propagate.
        """
        run = self.session.payment.run
        left = run.seconds_left() if run is not None else None
        if left is not None and left <= 0:
            return Observation(OVER, error=NOT_RUN)
        try:
            read = arguments_of(call, self.specs)
        except ValueError as error:
            return self._refused(str(error), "BadCall")
        arguments = read.value
        try:
            observation = self.call(call.name, arguments)
        except (DatabaseAway, ModelError, NotAGraph):  # a server or an embedder that is down: no arguments mend it
            raise
        except Error as error:
            if isinstance(error, UnknownNode | AmbiguousNode):
                self._course.refused = True
                self._course.told = [*error.near, *self._course.told]
            return self._refused(error.public, type(error).__name__)  # a model need not know where things lie
        self._course.has_looked = True
        self._course.shown = list(dict.fromkeys((*observation.nodes, *self._course.shown)))
        if call.name.startswith("search"):
            key = f"{call.name} {json.dumps(arguments, sort_keys=True)}"
            if key in self._asked:
                observation = Observation(
                    f"You asked just this before.\n{observation.text}", observation.nodes, observation.error
                )
            self._asked.add(key)
        if not read.notes:
            return observation
        return Observation(f"{read.note}\n{observation.text}", observation.nodes, observation.error)

    def close(self) -> None:
        """End what the tools keep running, such as the process for a model's code. Closing twice is harmless."""
        for tool in self._tools.values():
            if isinstance(tool, Closing):
                tool.close()

    def _refused(self, why: str, error: str) -> Observation:
        reply = ReplyLines(self.session)
        reply.say(why if len(why) <= _LONGEST_REFUSAL else f"{why[:_LONGEST_REFUSAL]} ...")
        return Observation(reply.text(), error=error)


def _further(name: str, session: Session, taken: Collection[str]) -> Tool:
    """Return a tool that agents have on request alone: ours, or one of an installed package. Raises `BadOption`."""
    if name == LIST_NODES and name not in taken:
        return ListNodes(session)
    return package_tool(name, session, {*taken, LIST_NODES})


def open_plain(graph: Graph, mode: Mode, parameters: tuple[str, ...] = ()) -> Toolbox:
    """Return ARK's tools as its paper has them. `parameters` are those of its second search, which needs some."""
    session = Session(graph, saves_sets=False, mode=mode)
    tools: list[Tool] = [SearchInGraph(session, is_plain=True)]
    if parameters:
        tools.append(SearchInNeighborhood(session, only=parameters))
    spec = ToolboxSpec(name="plain", options={"mode": mode, "parameters": list(parameters)})
    return Toolbox(session, [*tools, AddToAnswer(session, is_plain=True), Finish(session)], spec)


def open_compact(graph: Graph, mode: Mode) -> Toolbox:
    """Return what a small model can learn to use: a walk, an intersection, a search, and the end; short replies."""
    session = Session(graph, COMPACT_TOKENS, mode=mode)
    tools = (Follow(session), IntersectNodes(session), SearchInGraph(session), AddToAnswer(session), Finish(session))
    return Toolbox(session, tools, ToolboxSpec(name=COMPACT, options={"mode": mode}))


def open_stateless(graph: Graph, mode: Mode = "lexical", *, offers_cypher: bool = False) -> Toolbox:
    """Return the tools of a server that keeps nothing from call to call: no sets, no answer; names are mended.

    Replies keep to their tokens although most of them is ids, and say how to go on. On request also Cypher, which is
    an extra.
    """
    session = Session(
        graph,
        STATELESS_TOKENS,
        saves_sets=False,
        mends_names=True,
        offers_offset=True,
        mode=mode,
        characters_a_token=CHARACTERS_A_TOKEN_OF_IDS,
    )
    tools: tuple[Tool, ...] = (
        SearchInGraph(session, names_first=True),
        SearchInNeighborhood(session),
        Follow(session),
        IntersectNodes(session),
        FindPaths(session),
        ReadNode(session),
        ReadSchema(session),
        ListNodes(session),
    )
    if offers_cypher:
        from orienteer.tools.cypher import RunCypher

        tools = (*tools, RunCypher(session))
    options: dict[str, JsonValue] = {"mode": mode, **({"offers_cypher": True} if offers_cypher else {})}
    return Toolbox(session, tools, ToolboxSpec(name="stateless", options=options))


def open_passages(graph: Graph, mode: Mode, k: int, *, has_filters: bool = False, has_answer: bool = True) -> Toolbox:
    """Return the search of passages; with `has_answer` also the tools by which an agent answers and ends."""
    session = Session(graph, PASSAGES_TOKENS, saves_sets=False, mode=mode)
    search = SearchPassages(session, k, has_filters=has_filters)
    answer: tuple[Tool, ...] = (AddToAnswer(session, is_plain=True), Finish(session)) if has_answer else ()
    options = {"mode": mode, "k": k, "has_filters": has_filters, "has_answer": has_answer}
    return Toolbox(session, (search, *answer), ToolboxSpec(name="passages", options=options))


def open_grounding(graph: Graph, mode: Mode, *, offers_cypher: bool = False) -> Toolbox:
    """Return the node retriever and the searches; on request also Cypher, which is an extra."""
    session = Session(graph, GROUNDING_TOKENS, saves_sets=False, mode=mode)
    tools: list[Tool] = [NodeIdRetriever(session), SearchInGraph(session), SearchInNeighborhood(session)]
    if offers_cypher:
        from orienteer.tools.cypher import RunCypher  # an extra: who gathers neighbours need not have it

        tools.append(RunCypher(session))
    options = {"mode": mode, "offers_cypher": offers_cypher}
    return Toolbox(session, tools, ToolboxSpec(name="grounding", options=options))


def open_gathering(graph: Graph, mode: Mode = "lexical", *, offers_triples: bool = False) -> Toolbox:
    """Return the searches of retrievers as a tool; on request also the matching of triples."""
    from orienteer.tools.evidence import GatherEvidence, MatchTriples  # knows every retriever

    session = Session(graph, saves_sets=False, mode=mode)
    gather = GatherEvidence(graph, session)
    tools: tuple[Tool, ...] = (gather, MatchTriples(graph)) if offers_triples else (gather,)
    options = {"mode": mode, "offers_triples": offers_triples}
    return Toolbox(session, tools, ToolboxSpec(name="gathering", options=options))


def open_scouting(
    graph: Graph, mode: Mode, config: CodeConfig, *, has_code: bool = True
) -> tuple[Toolbox, CodeInterpreter | None]:
    """Return GraphScout's tools, and the one that runs code, if any. Raises as `CodeInterpreter` does."""
    from orienteer.tools.code.interpreter import CodeInterpreter

    session = Session(graph, saves_sets=False, mode=mode)
    retriever = NodeIdRetriever(session, view=config.view)
    code = CodeInterpreter(session, config) if has_code else None
    if code is not None:
        config = config.model_copy(update={"tier": code.tier})
    options = {
        "mode": mode,
        "has_code": has_code,
        "code": config.model_dump(mode="json", exclude_defaults=True),
    }
    tools: tuple[Tool, ...] = (retriever,) if code is None else (code, retriever)
    return Toolbox(session, tools, ToolboxSpec(name="scouting", options=options)), code


def open_toolbox(graph: Graph, spec: ToolboxSpec, *, trusts_limits: bool = False) -> Toolbox:
    """Return the toolbox that a trajectory names. Raises `BadInput` for an unknown one, or for unknown options.

    Unless its limits are trusted, code runs within the default ones where these are lower.
    """
    if spec.name not in _OPENERS:
        raise BadInput(
            f"there is no toolbox {spec.name!r} in this version of orienteer; there are {', '.join(_OPENERS)}"
        )
    options = dict(spec.options)
    if spec.name == "scouting" and not trusts_limits:
        options["code"] = lowered(_code_config(options)).config
    try:
        toolbox: Toolbox = _checked(spec.name)(graph, **options)
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"]))
        raise BadInput(f"the toolbox {spec.name!r} does not take {place}={fault['input']!r}: {fault['msg']}") from error
    return toolbox


def code_config(trajectory: Trajectory) -> CodeConfig:
    """Return how the code of a trajectory was run, and in which view; the default where no code was run.

    Raises `BadInput` where the trajectory does not say so in a form that can be read.
    """
    spec = trajectory.toolbox
    return _code_config(spec.options) if spec is not None and spec.name == "scouting" else CodeConfig()


def lowered_limits(trajectory: Trajectory) -> LoweredLimits:
    """Return how to run the code of a trajectory whose limits are not trusted. Raises as `code_config` does."""
    return lowered(code_config(trajectory))


def _code_config(options: Mapping[str, Any]) -> CodeConfig:
    try:
        return CodeConfig.model_validate(options.get("code", {}))
    except BadOption as error:
        raise BadInput(f"the trajectory does not say how its code ran: {error}") from error


def _open_scouting(graph: Graph, mode: Mode, code: CodeConfig, *, has_code: bool) -> Toolbox:
    return open_scouting(graph, mode, code, has_code=has_code)[0]


_OPENERS: Mapping[str, Callable[..., Toolbox]] = {
    "full": Toolbox.full,
    "plain": open_plain,
    COMPACT: open_compact,
    "stateless": open_stateless,
    "passages": open_passages,
    "grounding": open_grounding,
    "gathering": open_gathering,
    "scouting": _open_scouting,
}


@cache
def _checked(name: str) -> Callable[..., Toolbox]:
    """Return the opener of a toolbox, which checks the types of its options: somebody else may have written them."""
    check = validate_call(config=ConfigDict(arbitrary_types_allowed=True))
    return check(_OPENERS[name])
