"""ARK, also called DGR: agents that search a graph globally and along its edges, fused by votes.

Papers: DGR (000) and ARK (001), section 3 and appendices A.2 and A.3; one system under two names.

`ArkConfig` lists what deviates from them. Every ablation undoes what `faithful` undoes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from string import Template
from threading import Lock
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from orienteer.agents.agent import Agent, ByFinish, ByFinishAlone
from orienteer.agents.dialect import dialect_for
from orienteer.errors import BadOption
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.searchers import Mode, VoteCount, checked_mode, concatenate, shuffle, vote
from orienteer.llm.conversation import ELISION, begin, prompt_of
from orienteer.options import Options
from orienteer.protocols import LanguageModel, Reranked, Reranking, Run
from orienteer.records import Question, Ranked, Result, Sampling, StoppedBy, Trajectory, Usage
from orienteer.retrieval.graph_text import present, schema_lines
from orienteer.tools.search import PLAIN
from orienteer.tools.session import Session
from orienteer.tools.toolbox import COMPACT, Toolbox, open_compact, open_plain

Tools = Literal["all", "compact", "paper", "global-only", "no-query", "no-filters"]
Fusion = Literal["vote", "order", "random"]
Reranker = Callable[[Question, Sequence[Ranked]], Sequence[str]]
"""Takes a ranking and returns ids, best first. Ids that it makes up are dropped, those that it forgets are appended."""
Course = tuple[Trajectory, Session]
"""What an agent did, and the session that it ended with."""
_WAIT_SECONDS = 0.2
_PAPER_PARAMETERS = {
    "paper": PLAIN,
    "no-query": ("node_index", "node_type", "edge_type"),
    "no-filters": ("node_index", "query"),
}


class ArkConfig(Options):
    """ARK's settings, with the paper's values if it gives them."""

    deviations = (
        "The prompt is in our own words, with four examples of ours; the question follows in a user message. "
        "It says that the order of adding ranks (3.2), and 000's does not. Parameters of tools stand in their schemas.",
        "`node_index` is a node's id or exact name. `node_type` and `edge_type` are lists, the sets of section 3.1; "
        "000's prompt has one node type. `size` is 5 by default (A.2); 000's prompt says 20.",
        "The papers show no reply. Here a node is a line of its edges, if it is a neighbour, id, name, type, and the "
        "part of its text with the query's rarer words, else its beginning, of at most 160 characters; without a query "
        "no text is shown, and no tool reads one whole. Other replies are `No results.`, `Added.` and `Finished.`",
        "Names, aliases and texts are searched; properties are neither searched nor shown.",
        "A neighbourhood search drops none for lack of words, as the formula of 3.1 has it; 000's prompt speaks of a "
        "filter. A search of the graph finds only nodes with a word of the query. Without a query, and at equal "
        "scores, the order is ours. Words are stemmed; k1 is 1.2, b 0.75.",
        "A call that cannot be run has an error as its reply, with what is near or there; of the nodes to add the "
        "known ones are added, and the reply names the others, and how a shared name was read. A reply without a "
        "call, or with a "
        "broken one, is told so; of more than 32 calls the first 32 are run. At most 1,000 nodes are added.",
        "The papers give no temperature and no seeds for their agents; here they are set, sent and recorded.",
        "An agent whose model fails or whose budget ends keeps what it has selected; a search whose vector it cannot "
        "pay goes by words, and says so. Nodes of equal votes and places are in agents' order.",
        "`ask` writes an answer from the ranking in one more call; `search` and `ask --no-answer` do not.",
    )

    agents: int = Field(default=3, ge=1)
    """Parallel agents. ARK, appendix A.2."""
    max_steps: int = Field(default=20, ge=1)
    """Steps before an agent is stopped. The paper's T_max, appendix A.2."""
    temperature: float = 0.7
    """Temperature of every agent; the paper states it for training trajectories only (section 4.3)."""
    fusion: Fusion = "vote"
    """How the agents' lists become one: vote (section 3.2), or order or random (table 3)."""
    tools: Tools = "all"
    """all: ours; compact: five of them in few words, for small models; paper: the paper's four; global-only, no-query,
    no-filters: its ablations (table 2)."""
    context_tokens: int = Field(default=24_000, ge=1)
    """Size of a request; beyond it the oldest observations are left out, but never in the paper's form."""
    faithful: bool = False
    """Only what the paper has: its tools and prompt, none of the options below."""
    early_stop: bool = False
    """Stop the other agents when a majority has finished with the same first node."""
    fill: bool = False
    """Fill a short ranking up to k with the question's BM25 hits."""
    more_tools: tuple[str, ...] = ()
    """Tools that agents are offered too, by name: list_nodes, and those of installed packages."""
    mode: Mode = "lexical"
    """How searches rank unless an agent says: lexical, dense, hybrid, hybrid:0.6 or rrf; table 4's `rel`."""

    _check_mode = field_validator("mode")(checked_mode)

    @model_validator(mode="after")
    def _check_plain(self) -> Self:
        if self.tools == "compact" and (self.faithful or self.more_tools):
            raise BadOption("tools=compact has its own tools: leave out faithful and more_tools")
        if self.is_plain and (self.early_stop or self.fill or self.more_tools):
            raise BadOption(
                "early_stop, fill and more_tools are not the paper's: leave them out, or faithful and tools"
            )
        return self

    @property
    def is_plain(self) -> bool:
        """The paper's tools and nothing else, whole or with a part taken out."""
        return self.faithful or self.tools not in ("all", "compact")

    @property
    def last_turns(self) -> int:
        """Calls that a budget keeps back for the agents' last turns; the paper has none."""
        return 0 if self.is_plain else self.agents


class Ark:
    """Adaptive breadth and depth: n agents with global and neighbourhood search, fused by votes (section 3)."""

    name = "ark"

    def __init__(
        self, graph: Graph, model: LanguageModel, config: ArkConfig | None = None, *, rerank: Reranker | None = None
    ) -> None:
        self._graph, self._model, self.config, self._rerank = graph, model, config or ArkConfig(), rerank
        if rerank and self.config.is_plain:
            raise BadOption("a reranker is not the paper's: leave it out, or faithful and tools")
        # A graph without vectors is refused here, before a model is paid.
        graph.arrays.searcher(self.config.mode)
        self._toolbox()  # a tool that no package has, too

    def retrieve(self, question: Question, run: Run) -> Result:
        """Explore in parallel, fuse, cut at k (20 in appendix A.2). An agent that fails costs only its own votes."""
        if self.config.is_plain and (question.node_types or question.where):
            raise BadOption("node_types and where are not the paper's: leave them out, or faithful and tools")
        self._graph.arrays.mask(question.node_types or None, question.where)  # told before a model is paid
        agreement = _Agreement(self.config)
        # Of a database in place they are looked up now: hits are shown by them even if the server goes meanwhile.
        self._graph.arrays.text_index.postings(self._graph.arrays.tokenizer.query(question.text))
        with ThreadPoolExecutor(self.config.agents, thread_name_prefix="ark") as pool:
            try:
                futures = [
                    pool.submit(self._explore, question, run, number, agreement) for number in range(self.config.agents)
                ]
                courses = tuple(_result_of(future) for future in futures)
            except BaseException:  # an interrupt, or a mistake of ours: nobody waits for the other agents' end
                agreement.end()
                raise
        return self.fuse(question, courses, run)

    def fuse(self, question: Question, courses: Sequence[Course], run: Run) -> Result:
        """Return the ranking of what agents have chosen, each with its session, in the order of their numbers."""
        lists = [trajectory.selected for trajectory, _ in courses]
        reasons = {row: why for _, session in reversed(courses) for row, why in session.reasons.items()}
        fuse = {"vote": vote, "order": concatenate}.get(self.config.fusion)
        fused = fuse(lists) if fuse is not None else shuffle(lists, np.random.default_rng(run.random_seed))
        hits, notes, total = self._ranking(question, fused, reasons, [session for _, session in courses])
        agents = tuple(trajectory for trajectory, _ in courses)
        reranked = Reranked(())
        if isinstance(self._rerank, Reranking):
            reranked = self._rerank.rerank(question, hits, run)
        elif self._rerank is not None:
            reranked = Reranked(tuple(self._rerank(question, hits)))
        hits, trajectories = _in_order(hits, reranked.ids), (*agents, *reranked.trajectories)
        failed = [trajectory for trajectory in agents if trajectory.stopped_by == "error"]
        agent_notes = [f"{len(failed)} of {len(agents)} agents failed: {failed[0].error}"] if failed else []
        agent_notes += [f"agent {number}: {note}" for number, agent in enumerate(agents, 1) for note in agent.notes]
        # The names of the nodes are the answer of a model that has learnt to find nodes, and not to write.
        answered: dict[str, Any] = {}  # Any: fields of a result
        if hits and any(agent.toolbox is not None and agent.toolbox.name == COMPACT for agent in agents):
            answer = ", ".join(hit.name for hit in hits)
            answered = {"answer": answer, "answer_kind": "entity" if len(hits) == 1 else "set"}
        return Result(
            question=question.text,
            method=self.name,
            hits=hits,
            **answered,
            total=total,
            trajectories=trajectories,
            usage=sum((trajectory.usage for trajectory in trajectories), Usage()),
            stopped_by=_ending(agents),
            notes=(*notes, *agent_notes, *reranked.notes),
        )

    def begin_agent(self, question: Question, number: int, *, random_seed: int) -> Trajectory:
        """Return the trajectory without steps that an agent, numbered from 0, begins with."""
        return self._opening(question, number, random_seed, self._toolbox())

    def _explore(self, question: Question, run: Run, number: int, agreement: _Agreement) -> Course:
        toolbox = self._toolbox()
        begun = self._opening(question, number, run.random_seed, toolbox)
        is_plain = self.config.is_plain
        by = ByFinishAlone if is_plain else ByFinish
        ending = by(toolbox.session, max_steps=self.config.max_steps, takes_last_set=not is_plain)
        agent = Agent(
            self._model,
            toolbox,
            ending,
            context_tokens=None if is_plain else self.config.context_tokens,
            number=number,
            should_stop=agreement.is_reached,
        )
        trajectory = agent.explore(begun, run)
        if toolbox.session.is_finished:
            agreement.take(trajectory)
        return trajectory, toolbox.session

    def _opening(self, question: Question, number: int, random_seed: int, toolbox: Toolbox) -> Trajectory:
        name = "ark-compact" if self._is_compact else "ark-faithful" if self.config.is_plain else "ark"
        prompt = prompt_of("ark-global" if self.config.tools == "global-only" else name)
        schema = self._graph.schema
        system = Template(prompt.system).substitute(
            schema="\n".join(schema_lines(self._graph)),
            node_types=", ".join(schema.node_types),
            edge_types=", ".join(schema.label(name) for name in schema.edge_types),
            tools="\n".join(f"- {spec.name}: {spec.description}" for spec in toolbox.specs),
        )
        return begin(
            self._model,
            prompt._replace(system=system),
            {"content": f"Find the nodes that answer this question: {question.text}"},
            question=question,
            method=self.name,
            sampling=Sampling(temperature=self.config.temperature, random_seed=random_seed + number),
            dialect="terse" if self._is_compact else dialect_for(self._model),
            toolbox=toolbox.spec,
            tools=toolbox.specs,
            elision=ELISION,
        )

    @property
    def _is_compact(self) -> bool:
        """Return whether the compact tools are offered: they are set, or a distilled model has learnt them."""
        has_learnt_them = dialect_for(self._model) == "terse"
        return self.config.tools == "compact" or (has_learnt_them and not self.config.is_plain)

    def _toolbox(self) -> Toolbox:
        if self._is_compact:
            return open_compact(self._graph, self.config.mode)
        if not self.config.is_plain:
            names_first = not self._graph.is_in_place  # a server's index knows words, and no names
            return Toolbox.full(
                self._graph, mode=self.config.mode, names_first=names_first, more=self.config.more_tools
            )
        parameters = _PAPER_PARAMETERS.get("paper" if self.config.tools == "all" else self.config.tools, ())
        return open_plain(self._graph, self.config.mode, parameters)

    def _ranking(
        self, question: Question, fused: Sequence[VoteCount], reasons: dict[int, str], sessions: Sequence[Session]
    ) -> _Ranking:
        """Filter, cut and fill the fused list as configured; return the hits and notes on what was dropped or added."""
        graph, config, notes = self._graph, self.config, list[str]()
        mask = graph.arrays.mask(question.node_types or None, question.where)
        rows = [(graph.arrays.row(count.id), count.votes) for count in fused]
        chosen = [(row, votes) for row, votes in rows if mask is None or mask[row]]
        if len(chosen) < len(rows):
            dropped = len(rows) - len(chosen)
            notes.append(f"{dropped} chosen node{'s' * (dropped > 1)} did not pass the filters")
        if not config.is_plain and len(chosen) > question.k:
            notes.append(f"{question.k} of {len(chosen)} chosen nodes are shown")
        whole = _same([session.whole_answer for session in sessions if session.answer])
        total = None if whole is None else len(whole) if mask is None else int(mask[whole].sum())
        chosen = chosen[: question.k]
        voted = len(chosen)
        if config.fill and voted < question.k:
            taken = {row for row, _ in chosen}
            more = graph.arrays.text_index.search(
                graph.arrays.tokenizer.query(question.text), question.k + voted, mask=mask
            ).rows
            chosen += [(row, 0) for row in more.tolist() if row not in taken][: question.k - voted]
            added = len(chosen) - voted
            notes.append(f"{added} hit{'s' * (added != 1)} filled in by plain search")
        hits = [
            present(
                graph,
                row,
                score=len(chosen) - place,
                query=question.text,
                votes=votes,
                why=reasons.get(row, "filled in by plain search" if not votes else ""),
            )
            for place, (row, votes) in enumerate(chosen)
        ]
        if total is not None:
            hits = [hit.model_copy(update={"complete": bool(hit.votes)}) for hit in hits]
        return _Ranking(tuple(hits), notes, total)


class _Ranking(NamedTuple):
    """The hits of all agents."""

    hits: tuple[Ranked, ...]
    notes: list[str]
    total: int | None
    """The number of nodes of the set that all agents chose, which may be more than the hits; None without one."""


def _same(sets: Sequence[Rows | None]) -> Rows | None:
    """Return the set that all of these are, or None."""
    first = sets[0] if sets else None
    return first if all(one is not None and first is not None and np.array_equal(one, first) for one in sets) else None


class _Agreement:
    """Detects that enough agents have ended with the same first node."""

    def __init__(self, config: ArkConfig) -> None:
        self._needed = config.agents // 2 + 1 if config.early_stop and config.agents > 1 else None
        self._firsts: list[str] = []
        self._is_over = False
        self._lock = Lock()

    def take(self, trajectory: Trajectory) -> None:
        with self._lock:
            self._firsts += trajectory.selected[:1]

    def end(self) -> None:
        self._is_over = True

    def is_reached(self) -> bool:
        if self._is_over:
            return True
        if self._needed is None:
            return False
        with self._lock:
            return any(self._firsts.count(first) >= self._needed for first in set(self._firsts))


def _result_of(future: Future[Course]) -> Course:
    """Return a thread's result, in short waits."""
    # A library (polars) may have the system resume a wait after an interrupt: one long wait would never notice it.
    while not future.done():
        wait((future,), _WAIT_SECONDS)
    return future.result()


def _in_order(hits: Sequence[Ranked], wanted: Sequence[str]) -> tuple[Ranked, ...]:
    """Return the hits in the order of the wanted ids, then the others. Unknown ids are ignored."""
    by_id = {hit.id: hit for hit in hits}
    order = dict.fromkeys([*(node_id for node_id in wanted if node_id in by_id), *by_id])
    return tuple(by_id[node_id].model_copy(update={"score": float(len(hits) - at)}) for at, node_id in enumerate(order))


def _ending(trajectories: Sequence[Trajectory]) -> StoppedBy:
    """Return the limit that any agent hit, "error" if all failed, else "finish" or "steps"."""
    endings = [trajectory.stopped_by for trajectory in trajectories]
    for limit in ("interrupted", "usd", "seconds", "tokens", "calls"):
        if limit in endings:
            return endings[endings.index(limit)]
    return "error" if set(endings) == {"error"} else "steps" if "finish" not in endings else "finish"
