"""What the agentic text baselines share: they search passages, as `naive` does, and read them whole (002, table 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.graph.store import Graph
from orienteer.index.searchers import Mode
from orienteer.protocols import LanguageModel, Run
from orienteer.records import JsonValue, Observation, Question, ToolSpec
from orienteer.retrieval.evidence import Evidence, Scored
from orienteer.retrieval.query import ANSWER_TOKENS, AUTO, GatherConfig
from orienteer.retrieval.rendering import Rendered, render
from orienteer.retrieval.spaces import Spaces
from orienteer.tools import arguments as given
from orienteer.tools.rendering import Reply, title
from orienteer.tools.session import Session
from orienteer.tools.toolbox import Toolbox

SEARCH = "search_passages"
REPLY_TOKENS = 16_000
"""Size of an observation of that tool: 30 passages of 400 tokens, the paper's top-k; an agent's request has 24,000."""
_LONGEST = 6_000  # characters of a passage that it shows: a chunk whole, of a long table the beginning
_DESCRIPTION = (
    "Search the passages of the collection: the best ones, with their whole text. Use it for what a passage on the "
    "wanted thing would say."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageConfig(WorkflowConfig):
    """What every one of them lets choose."""

    mode: Mode = AUTO
    """How searches rank: lexical, dense, hybrid, hybrid:WEIGHT, rrf; auto is hybrid where there are vectors."""
    context_tokens: int = ANSWER_TOKENS
    """Size of the passages that a prompt shows: that of a retriever's answer, so that both read as much."""

    def __post_init__(self) -> None:
        if self.mode == AUTO:
            replace(self, mode="lexical")  # checks the rest
        else:
            WorkflowConfig.__post_init__(self)


_Config = TypeVar("_Config", bound=PassageConfig)


def settled(graph: Graph, config: _Config) -> _Config:
    """Return the settings with the mode that they come to on a graph.

    Raises `BadOption`, `UnknownType` for what the graph does not have.
    """
    spaces = Spaces(graph, GatherConfig(mode=config.mode, node_types=config.node_types, where=config.where))
    return replace(config, mode=spaces.mode)


def course(
    graph: Graph, model: LanguageModel, run: Run, *, question: Question, method: str, config: PassageConfig
) -> Workflow:
    """Return a question's course whose one tool is the search of passages."""
    session = Session(graph, REPLY_TOKENS, saves_sets=False, mode=config.mode)
    toolbox = Toolbox(session, [SearchPassages(session, config.k, has_filters=True)])
    return Workflow(graph, model, run, question=question, method=method, config=config, toolbox=toolbox)


def search(workflow: Workflow, config: PassageConfig, query: str, k: int) -> tuple[int, ...]:
    """Return the rows of the best passages that pass the filters."""
    filters: dict[str, JsonValue] = {"node_types": list(config.node_types), "where": list(config.where)}
    found = workflow.use(SEARCH, query=query, k=k, **{name: one for name, one in filters.items() if one})
    return tuple(workflow.graph.row(node) for node in found.nodes)


def shown(graph: Graph, rows: Iterable[int], tokens: int) -> Rendered:
    """Return the texts of some rows for a prompt, labelled in their order."""
    return render(Evidence(nodes=tuple(Scored(graph.node_at(row), 1.0) for row in rows)), graph, tokens)


class SearchPassages:
    """A search by somebody who reads texts: passages whole, where `search_in_graph` shows a line of a node."""

    def __init__(self, session: Session, k: int, *, has_filters: bool = False) -> None:
        """Without filters it finds passages alone, in a graph without passages any node."""
        self._session, self._k = session, k
        properties = {"query": given.query(session.mode), "k": {**given.count(k), "default": k}}
        if has_filters:
            properties |= {"node_types": given.NODE_TYPES, "where": given.WHERE}
        self.spec = given.spec(SEARCH, _DESCRIPTION, properties, ["query"])

    @staticmethod
    def again(session: Session, spec: ToolSpec) -> SearchPassages:
        """Return the tool that a trajectory was offered."""
        properties = spec.parameters["properties"]
        return SearchPassages(session, int(properties["k"]["default"]), has_filters="where" in properties)

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the best passages."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        query = given.text(arguments, "query") or ""
        k = given.number(arguments, "k", self._k)
        mode = session.payable(session.mode, query, notes)
        node_types, where = (tuple(given.texts(arguments, name) or ()) for name in ("node_types", "where"))
        spaces = Spaces(graph, GatherConfig(mode=mode, node_types=node_types, where=where))
        rows = spaces.search(query, k, spaces.answers).rows.tolist()
        reply = Reply(session)
        reply.say_all(notes)
        if not rows:
            reply.say("No passage has any of these words. Try others.")
        reply.list(rows, ("\n".join([title(graph, row), *_indented(graph.texts[row])]) for row in rows))
        return Observation(reply.text(), tuple(graph.ids[row] for row in reply.shown))


def _indented(text: str) -> Iterable[str]:
    """Yield the lines of a text so that none can pass for a line of the reply."""
    return (f"  {' '.join(line.split())}" for line in text[:_LONGEST].splitlines() if line.strip())
