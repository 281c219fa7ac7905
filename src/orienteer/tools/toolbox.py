"""The tools of one agent, and the named toolboxes: a method opens one, and so does a trajectory."""

from __future__ import annotations

import json
import logging
import re
import string
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pydantic import ConfigDict, ValidationError, validate_call

from orienteer.errors import (
    AmbiguousNode,
    BadInput,
    BadOption,
    DatabaseAway,
    Error,
    ModelError,
    NotAGraph,
    ToolFailed,
    UnknownNode,
)
from orienteer.graph.store import Graph
from orienteer.index.searchers import Mode
from orienteer.llm import arguments_of, tool_of
from orienteer.plugins import fault, load, refused, registered
from orienteer.protocols import Closing, Tool
from orienteer.records import NOT_RUN, JsonValue, Observation, Step, ToolboxSpec, ToolCall, ToolSpec, Trajectory
from orienteer.retrieval.mentions import longest_names, spelled
from orienteer.text.english import LANGUAGES, REQUESTS
from orienteer.text.sentences import CHARACTERS_A_TOKEN_OF_IDS
from orienteer.text.tokenizer import Tokenizer
from orienteer.tools.answer import FINISH, AddToAnswer, Finish, RemoveFromAnswer
from orienteer.tools.code_options import CodeConfig, LoweredLimits, lowered
from orienteer.tools.node_ids import NodeIdRetriever
from orienteer.tools.search import LIST_NODES, PLAIN, ListNodes, SearchInGraph, SearchInNeighborhood
from orienteer.tools.session import REPLY_TOKENS, ReplyLines, Session
from orienteer.tools.texts import PASSAGES_TOKENS, ReadNode, ReadSchema, SearchPassages
from orienteer.tools.walks import FindPaths, Follow, IntersectNodes

if TYPE_CHECKING:
    from orienteer.tools.code import CodeInterpreter


OVER = "Not run: the question is over."
_LONGEST_REFUSAL = 2_000  # characters; a model may be wrong at any length
COMPACT = "compact"
"""The name of the toolbox of small models."""
COMPACT_TOKENS = 160
"""Size of an observation for a model whose context and attention are small: some six rows."""
STATELESS_TOKENS = 1_450
"""Size of a reply of a server: under the 1,500 that hosts of tools take without complaint, with room for an error."""
_WHOLE_TOKENS = 1_000_000  # of a reply that is never cut
GROUNDING_TOKENS = 6_000
"""Size of an observation: some 400 rows of a query's result, where an agent's own searches show 100."""


class Toolbox:
    """The tools of one agent. Not safe to share among threads: their session holds its sets and its answer."""

    def __init__(self, session: Session, tools: Iterable[Tool], spec: ToolboxSpec | None = None) -> None:
        self.session, self.spec = session, spec
        self._tools = {tool.spec.name: tool for tool in tools}
        self._asked: set[str] = set()
        self._decoding = DecodingState()

    @classmethod
    def full(
        cls,
        graph: Graph,
        *,
        reply_tokens: int = REPLY_TOKENS,
        mode: Mode = "lexical",
        offers_mode: bool | None = None,
        offers_cypher: bool = False,
        offers_passages: bool = False,
        names_first: bool = True,
        more: tuple[str, ...] = (),
    ) -> Toolbox:
        """Return all tools over a graph; on request also `cypher`.

        Searches rank by `mode`, or as the model says if it is offered the choice (None: if there are vectors).
        `names_first` has the search put what a query names before what shares words with it; methods of papers search
        by BM25 alone. `more` names further tools: `list_nodes`, and those of installed packages. Raises `BadOption`
        if there is none of a name.
        """
        offers_mode = graph.arrays.searcher.has_vectors if offers_mode is None else offers_mode
        spec = ToolboxSpec(
            name="full",
            options={
                "reply_tokens": reply_tokens,
                "mode": mode,
                "offers_mode": offers_mode,
                "offers_cypher": offers_cypher,
                "offers_passages": offers_passages,
                **({} if names_first else {"names_first": False}),
                **({"more": list(more)} if more else {}),
            },
        )
        session = Session(
            graph,
            reply_tokens,
            mode=mode,
            offers_mode=offers_mode,
            offers_passages=offers_passages,
            takes_kinds=True,
        )
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
            from orienteer.tools.cypher import RunCypher  # an extra: agents have it if their config asks

            tools = (*tools[:5], RunCypher(session), *tools[5:])
        own = {tool.spec.name for tool in tools}
        for name in more:  # ours that agents have on request alone, or one of an installed package
            is_ours = name == LIST_NODES and name not in own
            tool = ListNodes(session) if is_ours else package_tool(name, session, {*own, LIST_NODES})
            tools = (*tools, tool)
        return cls(session, tools, spec)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as data."""
        return tuple(tool.spec for tool in self._tools.values())

    def offered(self, names: NamesOfQuestion) -> tuple[ToolSpec, ...]:
        """Return the tools as they can be called now, for a model whose reply is held to a call (`offer`)."""
        return offered(self.specs, self.session, names, self._decoding)

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> Observation:
        """Run a tool on arguments that fit its schema. Raises `Error` if they cannot be met."""
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
        arguments, name = read.value, tool_of(call.name, self._tools) or call.name
        try:
            observation = self.call(name, arguments)
        except (DatabaseAway, ModelError, NotAGraph):  # a server or an embedder that is down: no arguments mend it
            raise
        except Error as error:
            if isinstance(error, UnknownNode | AmbiguousNode):
                self._decoding.refused = True
                self._decoding.error_names = [*error.near, *self._decoding.error_names]
            return self._refused(error.public, type(error).__name__)  # a model need not know where things lie
        self._decoding.has_looked = True
        self._decoding.shown = list(dict.fromkeys((*observation.nodes, *self._decoding.shown)))
        if self.session.is_plain:
            return observation
        if name.startswith("search"):
            key = f"{name} {json.dumps(arguments, sort_keys=True)}"
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


def open_plain(graph: Graph, mode: Mode, parameters: tuple[str, ...] = ()) -> Toolbox:
    """Return ARK's tools as its paper has them. `parameters` are those of its second search, which needs some."""
    session = Session(graph, _WHOLE_TOKENS, saves_sets=False, mode=mode, is_plain=True)
    tools: list[Tool] = [SearchInGraph(session)]
    if not set(parameters) <= set(PLAIN):
        raise BadOption(f"the paper's search has no parameters {', '.join(parameters)}: they are {', '.join(PLAIN)}")
    if parameters:
        tools.append(SearchInNeighborhood(session, only=parameters))
    spec = ToolboxSpec(name="plain", options={"mode": mode, "parameters": list(parameters)})
    return Toolbox(session, [*tools, AddToAnswer(session), Finish(session)], spec)


def open_compact(graph: Graph, mode: Mode) -> Toolbox:
    """Return the tools that a small model can learn: a walk, an intersection, a search, and the end; short replies."""
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
    session = Session(graph, PASSAGES_TOKENS, saves_sets=False, mode=mode, is_plain=has_answer)
    search = SearchPassages(session, k, has_filters=has_filters)
    answer: tuple[Tool, ...] = (AddToAnswer(session), Finish(session)) if has_answer else ()
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
    from orienteer.tools.code import CodeInterpreter

    tokens = _WHOLE_TOKENS if config.is_plain else REPLY_TOKENS
    session = Session(graph, tokens, saves_sets=False, mode=mode, is_plain=config.is_plain)
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

    Unless its limits are trusted, code runs within the default ones if these are lower.
    """
    if spec.name not in _OPENERS:
        raise BadInput(
            f"there is no toolbox {spec.name!r} in this version of orienteer; there are {', '.join(_OPENERS)}"
        )
    options = dict(spec.options)
    options.pop("offers_select", None)  # of older versions
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
    """Return the code configuration of a trajectory, the default if no code was run.

    Raises `BadInput` if the trajectory does not say so in a form that can be read.
    """
    spec = trajectory.toolbox
    return _code_config(spec.options) if spec is not None and spec.name == "scouting" else CodeConfig()


def lowered_limits(trajectory: Trajectory) -> LoweredLimits:
    """Return the code configuration of an untrusted trajectory, with lower limits. Raises as `code_config` does."""
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
    """Return the opener of a toolbox, which checks the types of its options: a third party may have written them."""
    check = validate_call(config=ConfigDict(arbitrary_types_allowed=True))
    return check(_OPENERS[name])


# The tools as they can be called now: the graph's types by name, the sets that there are, no answer out of nothing.
#
# For a model whose reply is held to a JSON schema. What the schema does not let it say needs no error and no turn: a
# type that the graph has not, a set that nothing has filled, an end before anything was looked for, a text without end.
# Names of nodes are copied, not spelt: out of the question, or of what a reply has told.


JsonSchema: TypeAlias = Mapping[str, Any]  # Any: it nests without end
Names: TypeAlias = Mapping[str, Sequence[str]]
"""What the members of these names may hold."""
MOST_NAMED = 256
"""Types, or nodes and saved sets, that a schema names; if there are more, any text may stand."""
LONGEST_TEXT, LONGEST_LIST = 160, 8
"""Characters and members of what is not named: a small model that may go on does so until it is cut off."""
_MOST_SHOWN = 20  # ids of replies that are offered, the last first
_FOLLOW, _INTERSECT, _ADD, _REMOVE = "follow", "intersect", "add_to_answer", "remove_from_answer"
# The parameters that name nodes.
_NODES = ("nodes", "except", "start", "node", "a", "b")
# Words of a name.
_LONGEST_NAME = 24
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"  # Thai to Han: no spaces between words
_WORD = rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+"  # compiled by the first who asks: it takes 2 ms
_MARKS = string.punctuation + "“”‘’"
_SMALL = LANGUAGES["en"] | REQUESTS


class NamesOfQuestion(NamedTuple):
    """The names and possible names of nodes in a question, as it writes them."""

    known: Mapping[str, int] = {}
    """The longest names of nodes in it, and how many nodes each means; `name (Type)` too if several bear one."""
    possible: Sequence[str] = ()
    """Other stretches; next to a known name, only those with a capital letter or a digit."""


@dataclass(slots=True)
class DecodingState:
    """The parts of a course so far that decide which calls are possible next."""

    has_looked: bool = False
    """Whether some call was run."""
    refused: bool = False
    """Whether a name was refused: from then on only names that the graph has are offered, and those of errors."""
    error_names: list[str] = field(default_factory=list)
    """Names or ids that stood in refusals: near a name that is not there, or of nodes that share one."""
    shown: list[str] = field(default_factory=list)
    """Ids of nodes that replies have shown, the last reply first."""


def offered(
    tools: Sequence[ToolSpec], session: Session, names: NamesOfQuestion, course: DecodingState
) -> tuple[ToolSpec, ...]:
    """Return the tools that can be called now, with the names that their arguments may have.

    A walk begins at what the question names, at what was told or found; an answer is made of what was found alone.
    """
    schema = session.graph.schema
    types = sorted(schema.node_types)
    edges = sorted({name for code in schema.edge_types for name in (code, schema.label(code))})
    sets = [f"@{number}" for number in range(len(session.sets), 0, -1) if len(session.sets[number - 1])]
    found = [*sets, *course.shown[:_MOST_SHOWN]]
    named = _named(names, course, found)
    nodes_of = {True: dict.fromkeys(_NODES, found), False: {} if named is None else dict.fromkeys(_NODES, named)}
    of_tools = {"node_types": types, "type": types, "edge_types": edges, "edge": edges, "among": sets}
    is_idle = {
        _FOLLOW: named == [],
        _INTERSECT: named is not None and len(named) < 2,
        _ADD: not found,
        _REMOVE: not session.answer,
        FINISH: not course.has_looked and not session.answer,
    }
    return tuple(
        tool.model_copy(update={"parameters": _limited(tool.parameters, {**of_tools, **nodes_of[tool.name == _ADD]})})
        for tool in tools
        if not is_idle.get(tool.name, False)
    )


def _named(names: NamesOfQuestion, course: DecodingState, found: Sequence[str]) -> list[str] | None:
    """Return the names that a walk may begin at, or None (any text) if there are too many to list."""
    if course.refused:
        known = [name for name, count in names.known.items() if count == 1]
        return list(dict.fromkeys((*known, *course.error_names, *found)))[:MOST_NAMED]
    named = list(dict.fromkeys((*names.known, *found, *names.possible)))
    return named if len(named) <= MOST_NAMED else None


def names_in(question: str, graph: Graph) -> NamesOfQuestion:
    """Return the names and possible names of nodes in a question."""
    words = [match.span() for match in re.finditer(_WORD, question)]
    known: dict[str, int] = {}
    taken: set[int] = set()

    def rows_of(begin: int, end: int) -> list[int]:
        stretch = question[words[begin][0] : words[end - 1][1]]
        # Words like `of` and `find`, none with a capital letter of its own, name nothing.
        is_small = set(Tokenizer.words(stretch)) <= _SMALL and (stretch if begin else stretch[1:]).islower()
        return [] if is_small else graph.arrays.candidates(stretch)

    for span in longest_names(len(words), _LONGEST_NAME, rows_of):
        name = _as_spelled(question, words[span.begin][0], words[span.end - 1][1], graph)
        rows = graph.arrays.candidates(name)
        known[name] = len(rows)
        # Nodes of several types share the name: a model can then write `name (Type)`.
        of_types = [graph.arrays.type_at(row) for row in rows] if len(rows) > 1 else []
        for type_ in sorted(set(of_types)):
            if "(" not in type_:
                known[f"{name} ({type_})"] = of_types.count(type_)
        taken |= {*range(span.begin, span.end)}
    possible: dict[str, None] = {}
    for begin, end in combinations(range(len(words) + 1), 2):
        if end - begin <= _LONGEST_NAME and taken.isdisjoint(range(begin, end)):
            stretch = question[words[begin][0] : words[end - 1][1]]
            parts = Tokenizer.words(stretch)
            may_name = bool(parts) and not {parts[0], parts[-1]} & _SMALL  # neither `of` nor `find` at its ends
            # The capital that begins the question says nothing; a script without capitals may name anything.
            letters = stretch if begin else stretch[1:]
            has_sign = any(letter.isupper() or letter.isdigit() for letter in letters)
            if may_name and (not taken or has_sign or re.search(f"[{_UNSPACED}]", letters)):
                possible[stretch] = None
    return NamesOfQuestion(known, tuple(possible))


def _as_spelled(question: str, begin: int, end: int, graph: Graph) -> str:
    """Return a name with the marks around it that belong to it, as in `C++` and `.NET`."""
    before = len(question[:begin]) - len(question[:begin].rstrip(_MARKS))
    after = len(question[end:]) - len(question[end:].lstrip(_MARKS))
    forms = (
        question[first:last] for first in range(begin - before, begin + 1) for last in range(end + after, end - 1, -1)
    )
    return next((form for form in forms if spelled(graph, form)), question[begin:end])


def _limited(schema: JsonSchema, names: Names) -> dict[str, Any]:  # Any: as above
    """Return the schema of an object whose members are limited to names, or to a length."""
    # An optional member without a name to choose from is left out: a grammar cannot write an empty choice.
    required = schema.get("required", ())
    properties = {
        name: _member(member, names.get(name, ()), names)
        for name, member in schema.get("properties", {}).items()
        if name in required or names.get(name, True)
    }
    return {**schema, "properties": properties}


def _member(member: JsonSchema, named: Sequence[str], names: Names) -> JsonSchema:
    if "enum" in member or "const" in member:
        return member
    if "properties" in member:
        return _limited(member, names)
    kinds = member.get("type")
    if isinstance(kinds, list):  # one of several, or a list of them
        return {"anyOf": [_member({**member, "type": kind}, named, names) for kind in kinds]}
    if kinds == "array" and "items" in member:
        return {"maxItems": LONGEST_LIST, **member, "items": _member(member["items"], named, names)}
    if kinds != "string":
        return member
    return {"enum": list(named)} if 0 < len(named) <= MOST_NAMED else {"type": "string", "maxLength": LONGEST_TEXT}


# The tools of installed packages: opened by their names, and named with their package if they fail.


logger = logging.getLogger(__name__)


def package_tool(name: str, session: Session, taken: Collection[str]) -> Tool:
    """Return the tool that an installed package registers under this name. Raises `BadOption`."""
    make = load("tools", name, taken)
    if make is None:
        names = ", ".join(registered("tools", taken)) or "none"
        raise BadOption(f"no installed package has a tool {name!r}: there are {names}")
    try:
        tool: Tool | None = make(session) if callable(make) else None
    except Error:
        raise
    except Exception as error:  # somebody's code may fail in any way, and is named
        raise refused("tools", name, f"making it fails ({type(error).__name__}: {error})") from error
    if not isinstance(getattr(tool, "spec", None), ToolSpec) or not callable(tool):
        raise refused("tools", name, "what it names makes no tool of a Session: a tool has a `spec` and is called")
    if tool.spec.name != name:
        raise refused("tools", name, f"the tool calls itself {tool.spec.name!r}")
    return PackageTool(tool)


class PackageTool:
    """A tool of an installed package. A bug in it raises `ToolFailed`, which names the tool and the package."""

    def __init__(self, tool: Tool) -> None:
        self._tool, self.spec = tool, tool.spec

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Run the tool. Raises what it raises of our errors, else `ToolFailed`."""
        with self._bugs_named():
            observation = self._tool(arguments)
        if not isinstance(observation, Observation):
            what = f"it returned a {type(observation).__name__} where an Observation is due"
            raise ToolFailed(fault("tools", self.spec.name, what))
        return observation

    def close(self) -> None:
        """Close the tool, if it has something to close. Raises as a call does."""
        if isinstance(self._tool, Closing):
            with self._bugs_named():
                self._tool.close()

    @contextmanager
    def _bugs_named(self) -> Iterator[None]:
        try:
            yield
        except Error:
            raise
        except Exception as error:  # somebody's code may fail in any way, and is named
            what = f"it failed ({type(error).__name__}: {error})"
            logger.debug("the tool %s failed", self.spec.name, exc_info=True)
            raise ToolFailed(fault("tools", self.spec.name, what)) from error


def failure_notes(steps: Iterable[Step]) -> list[str]:
    """Return a note for each failed call of a package's tool."""
    observations = (observation for step in steps for observation in step.observations)
    return [seen.text.partition("\n")[0] for seen in observations if seen.error == ToolFailed.__name__]
