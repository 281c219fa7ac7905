"""The toolboxes there are: each is opened by its name and options, by a method or from a trajectory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, ValidationError, validate_call

from orienteer.errors import BadInput, BadOption
from orienteer.graph.store import Graph
from orienteer.index.searchers import Mode
from orienteer.protocols import Tool
from orienteer.records import ToolboxSpec, Trajectory
from orienteer.tools.answer import AddToAnswer, Finish
from orienteer.tools.code.config import CodeConfig, Lowered, lowered
from orienteer.tools.node_ids import NodeIdRetriever
from orienteer.tools.passages import REPLY_TOKENS as PASSAGES_TOKENS
from orienteer.tools.passages import SearchPassages
from orienteer.tools.search import SearchInGraph, SearchInNeighborhood
from orienteer.tools.session import Session
from orienteer.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from orienteer.tools.code.interpreter import CodeInterpreter

GROUNDING_TOKENS = 6_000
"""Size of an observation: some 400 rows of a query's result, where an agent's own searches show 100."""


def open_plain(graph: Graph, mode: Mode, parameters: tuple[str, ...] = ()) -> Toolbox:
    """Return ARK's tools as its paper has them; `parameters` are those of its second search, none where it has none."""
    session = Session(graph, saves_sets=False, mode=mode)
    tools: list[Tool] = [SearchInGraph(session, is_plain=True)]
    if parameters:
        tools.append(SearchInNeighborhood(session, parameters=parameters))
    spec = ToolboxSpec(name="plain", options={"mode": mode, "parameters": list(parameters)})
    return Toolbox(session, [*tools, AddToAnswer(session, is_plain=True), Finish(session)], spec)


def open_passages(graph: Graph, mode: Mode, k: int, *, has_filters: bool = False, has_answer: bool = True) -> Toolbox:
    """Return the search of passages, and where an agent ends by it the tools of the answer."""
    session = Session(graph, PASSAGES_TOKENS, saves_sets=False, mode=mode)
    search = SearchPassages(session, k, has_filters=has_filters)
    answer: tuple[Tool, ...] = (AddToAnswer(session, is_plain=True), Finish(session)) if has_answer else ()
    options = {"mode": mode, "k": k, "has_filters": has_filters, "has_answer": has_answer}
    return Toolbox(session, (search, *answer), ToolboxSpec(name="passages", options=options))


def open_grounding(graph: Graph, mode: Mode, *, offers_cypher: bool = False) -> Toolbox:
    """Return node retriever and searches, and where asked for Cypher, which is an extra."""
    session = Session(graph, GROUNDING_TOKENS, saves_sets=False, mode=mode)
    tools: list[Tool] = [NodeIdRetriever(session), SearchInGraph(session), SearchInNeighborhood(session)]
    if offers_cypher:
        from orienteer.tools.cypher import RunCypher  # an extra: who gathers neighbours need not have it

        tools.append(RunCypher(session))
    options = {"mode": mode, "offers_cypher": offers_cypher}
    return Toolbox(session, tools, ToolboxSpec(name="grounding", options=options))


def open_gathering(graph: Graph, mode: Mode = "lexical", *, offers_triples: bool = False) -> Toolbox:
    """Return a retriever's search as a tool, and where asked for triples that are matched."""
    from orienteer.tools.evidence import GatherEvidence  # knows every retriever
    from orienteer.tools.triples import MatchTriples

    session = Session(graph, saves_sets=False, mode=mode)
    gather = GatherEvidence(graph, session)
    tools: tuple[Tool, ...] = (gather, MatchTriples(graph)) if offers_triples else (gather,)
    options = {"mode": mode, "offers_triples": offers_triples}
    return Toolbox(session, tools, ToolboxSpec(name="gathering", options=options))


def open_scouting(
    graph: Graph, mode: Mode, config: CodeConfig, *, has_code: bool = True
) -> tuple[Toolbox, CodeInterpreter | None]:
    """Return GraphScout's tools, and the one that runs code, where there is one. Raises as `CodeInterpreter`."""
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
    """Return the toolbox that a trajectory names. Raises `BadInput` for one that there is not, and its options.

    Unless its limits are trusted, code runs within the default ones where they are lower.
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
    """Return how the code of a trajectory was run, and by what view; the default where none was.

    Raises `BadInput` where that cannot be read.
    """
    spec = trajectory.toolbox
    return _code_config(spec.options) if spec is not None and spec.name == "scouting" else CodeConfig()


def lowered_limits(trajectory: Trajectory) -> Lowered:
    """Return how the code of a trajectory is run where its limits are not trusted. Raises as `code_config`."""
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
    "passages": open_passages,
    "grounding": open_grounding,
    "gathering": open_gathering,
    "scouting": _open_scouting,
}


@cache
def _checked(name: str) -> Callable[..., Toolbox]:
    """Return an opener that checks the types of its options: a trajectory may come from somebody else."""
    check = validate_call(config=ConfigDict(arbitrary_types_allowed=True))
    return check(_OPENERS[name])
