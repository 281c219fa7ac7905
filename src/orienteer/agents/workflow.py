"""The course of a method with fixed steps: calls of a model and of tools, recorded to be read and replayed.

Each call of the model is a conversation, and so a trajectory, of its own. The tool calls between them make the first
trajectory, which can be replayed without a model.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import field_validator

from orienteer.errors import BadOption, BudgetExhausted, DatabaseAway, ModelError
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.searchers import Mode, checked_mode
from orienteer.llm.conversation import Check, Exchange, ask, begin, prompt_of, recorded_by
from orienteer.llm.spoken import after_thinking
from orienteer.options import Options
from orienteer.protocols import LanguageModel, Run
from orienteer.records import (
    JsonValue,
    Message,
    Observation,
    Question,
    Ranked,
    Result,
    Sampling,
    Step,
    StoppedBy,
    ToolCall,
    Trajectory,
)
from orienteer.retrieval.graph_text import present_all
from orienteer.tools.session import Session
from orienteer.tools.texts import LARGEST_K
from orienteer.tools.toolbox import Toolbox


class WorkflowConfig(Options):
    """What every method with a fixed course lets choose."""

    temperature: float = 0.0
    """Temperature of every call; 0, so that runs repeat as far as the model lets them."""
    mode: Mode = "lexical"
    """How searches rank: lexical (words), dense (meaning), or both: hybrid, hybrid:0.6 (BM25's share) or rrf."""

    _check_mode = field_validator("mode")(checked_mode)


class Workflow:
    """The course of one question. Not safe to share among threads: a course that asks in parallel forks it."""

    def __init__(
        self,
        graph: Graph,
        model: LanguageModel | None,
        run: Run,
        *,
        question: Question,
        method: str,
        config: WorkflowConfig | None = None,
        toolbox: Toolbox | None = None,
    ) -> None:
        config = config or WorkflowConfig()
        # A graph without vectors is refused here, before a model is paid.
        graph.arrays.searcher(config.mode)
        check_limits(graph, question)
        self.graph, self.run, self.question = graph, run, question
        self.hits: tuple[Ranked, ...] = ()
        """The ranking so far, which stays if a budget ends the course."""
        self.notes: list[str] = []
        """What went less well than it might have, for the result."""
        self.set_joins = 0
        """Set joins that the course has made over the graph's arrays."""
        self._model, self._method, self._temperature = model, method, config.temperature
        self.marks: list[str] = []
        """Marks of the course in fixed words, for programs that read the trajectory."""
        self._toolbox = toolbox if toolbox is not None else Toolbox.full(graph, mode=config.mode, names_first=False)
        self._toolbox.session.payment.run = run
        self._walked: list[Step] = []
        self._asked: list[Trajectory] = []

    @property
    def session(self) -> Session:
        """The session of the course's tools, with the sets that they saved."""
        return self._toolbox.session

    @property
    def model_calls(self) -> tuple[Trajectory, ...]:
        """The trajectories of all model calls so far, by the course and by agents that it sent out."""
        return tuple(self._asked)

    @property
    def last_set(self) -> str | None:
        """The name of the last saved set that is not empty, or None."""
        return self._toolbox.session.last()

    def follow(
        self, course: Callable[[], Iterable[Ranked]], *, instead: Callable[[], Iterable[Ranked]] | None = None
    ) -> Result:
        """Run a course to its end and return its ranking.

        A spent budget leaves the ranking so far, or what `instead` returns without a model. A failed model leaves none.
        """
        begun = Trajectory(
            question=self.question,
            method=self._method,
            toolbox=self._toolbox.spec,
            tools=self._toolbox.specs,
            opening=(Message(role="user", content=self.question.text),),
        )
        self.run.tell(begun)
        stopped_by: StoppedBy = "finish"
        error: str | None = None
        try:
            self.hits = tuple(course())
        except BudgetExhausted as spent:
            stopped_by = spent.limit  # type: ignore[assignment]  # its limits are endings
            self.notes.append(f"stopped by the budget: {spent}")
            self.hits = tuple(instead()) if instead is not None else self.hits
        except ModelError as failed:
            stopped_by, self.hits = "error", ()
            self.notes.append(f"the model failed: {failed}")
        except DatabaseAway as away:  # nothing can be looked up any more
            stopped_by, error, self.hits = "error", str(away), ()
        walked = begun.model_copy(
            update={
                "steps": tuple(self._walked),
                "selected": tuple(hit.id for hit in self.hits),
                "stopped_by": stopped_by,
                "error": error,
                "set_joins": self.set_joins,
                "embedding": self.session.payment.spent,
                "marks": tuple(dict.fromkeys(self.marks)),
            }
        )
        return Result(
            question=self.question.text,
            method=self._method,
            hits=self.hits,
            trajectories=(walked, *self._asked),
            usage=sum((trajectory.usage for trajectory in self._asked), walked.usage),
            stopped_by=stopped_by,
            notes=(*self.notes, *self.session.payment.unpaid_notes()),
        )

    def follow_and_rank(self, work: Callable[[], object], ranking: Callable[[], Iterable[Ranked]]) -> Result:
        """Do the work and return its ranking, also if a spent budget cuts the work short."""

        def course() -> Iterable[Ranked]:
            work()
            return ranking()

        return self.follow(course, instead=ranking)

    def ask(self, prompt: str, /, **values: object) -> str:
        """Return the model's reply to the prompt `prompts/NAME.md` with its placeholders filled.

        What a reasoning model thinks aloud before it answers is left out.
        """
        return after_thinking(self.ask_aloud(prompt, **values))

    def ask_aloud(self, prompt: str, /, **values: object) -> str:
        """Return the model's whole reply to a prompt, with its thoughts."""
        return self._called(prompt, values).reply.message.content or ""

    def ask_for(
        self,
        prompt: str,
        schema: Mapping[str, Any],
        check: Check | None = None,
        repairs: bool = True,
        /,
        **values: object,
    ) -> dict[str, Any] | None:
        """Return the object of the model's reply, or None if it does not fit the schema even after a repair turn.

        `check` may find fault with an object that fits the schema: this too is worth the one repair turn, whose object
        is returned as it is. Without `repairs` there is no such turn.
        """
        return self._called(prompt, values, schema, check, repairs).value

    def use(self, tool: str, **arguments: JsonValue) -> Observation:
        """Run a tool and return its observation; a refusal is an observation with an error."""
        text = json.dumps(arguments, ensure_ascii=False)
        call = ToolCall(id=f"call_{len(self._walked) + 1}", name=tool, arguments=text)
        observation = self._toolbox.observe(call)
        self.walk(Step.of(call, observation))
        return observation

    def search(
        self,
        query: str,
        k: int,
        *,
        node_types: Sequence[str] = (),
        where: Sequence[str] = (),
        among: str | None = None,
        passages: Sequence[str] = (),
    ) -> tuple[int, ...]:
        """Search the graph and return all rows found, best first, even those that the tool's reply has no room for.

        `among` names a set to search in. `passages` if the toolbox offers them, count for the meaning as much as
        the query.
        """
        graph, session = self.graph, self._toolbox.session
        filters: dict[str, JsonValue] = {
            "node_types": list(node_types),
            "where": list(where),
            "among": among,
            "passages": list(passages),
        }
        before = len(session.sets)
        observation = self.use(
            "search_in_graph", query=query, k=k, **{name: value for name, value in filters.items() if value}
        )
        name = f"@{len(session.sets)}"
        if len(session.sets) == before or graph.arrays.ids.find(name) is not None:  # a node of that id hides the set
            return tuple(graph.arrays.row(node) for node in observation.nodes)
        return tuple(session.ranked(name, []))

    def rank(self, rows: Rows, k: int) -> tuple[Rows, NDArray[np.float64]]:
        """Return the `k` rows that match the question best, ranked as searches rank here, and their scores."""
        session, query = self.session, self.question.text
        mode = session.payment.payable(session.mode, query, []) if len(rows) else "lexical"  # nothing costs nothing
        return self.graph.arrays.rank(rows, query, k, mode=mode)

    def count(self, tool: str, **arguments: JsonValue) -> CountedObservation:
        """Run a tool and return its observation with the size of its whole result."""
        sets = self._toolbox.session.sets
        before = len(sets)
        observation = self.use(tool, **arguments)
        return CountedObservation(len(sets[-1]) if len(sets) > before else 0, observation)

    def present(self, reasons: Mapping[int, str]) -> tuple[Ranked, ...]:
        """Return the first `k` of these rows that pass the question's filters as hits, each with its reason."""
        return present_all(self.graph, self.question, reasons)

    def plain_search(self) -> dict[int, str]:
        """Return the rows that one search with the question's own words finds, best first, each with that reason."""
        question = self.question
        rows = self.search(question.text, question.k, node_types=question.node_types, where=question.where)
        return dict.fromkeys(rows, "found by plain search")

    def record(self, trajectory: Trajectory) -> None:
        """Record the trajectory of an agent that the course sent out."""
        self._asked.append(trajectory)

    def walk(self, step: Step) -> None:
        """Record a tool call that the course made by itself."""
        self._walked.append(step)
        self.run.tell(step)

    def fork(self, run: Run | None = None) -> Workflow:
        """Return a part of the course for another thread. It keeps a record of its own, and no saved sets of its own.

        Its calls are claimed from `run` if one is given, else from the same run.
        """
        part = copy.copy(self)
        part.run = self.run if run is None else run
        part.notes, part.marks, part._walked, part._asked = [], [], [], []
        return part

    def join(self, part: Workflow) -> None:
        """Append the record of a part. The caller chooses the order in which several parts are joined."""
        self.notes += part.notes
        self.marks += part.marks
        self._walked += part._walked
        self._asked += part._asked

    def _called(
        self,
        prompt: str,
        values: Mapping[str, object],
        schema: Mapping[str, Any] | None = None,
        check: Check | None = None,
        repairs: bool = True,
    ) -> Exchange:
        assert self._model is not None  # a course without a model has no prompts
        # A seed of its own for each call: several samples of one prompt are to differ.
        sampling = Sampling(temperature=self._temperature, random_seed=self.run.random_seed + len(self._asked))
        method = f"{self._method}: {prompt}"
        begun = begin(self._model, prompt_of(prompt), values, question=self.question, method=method, sampling=sampling)
        try:
            exchange = ask(self._model, self.run, begun, schema=schema, check=check, repairs=repairs)
        except (BudgetExhausted, ModelError) as failed:
            self._asked += recorded_by(failed)
            failed.trajectories = ()  # they are here
            raise
        self._asked.append(exchange.trajectory)
        return exchange


def check_limits(graph: Graph, question: Question) -> None:
    """Check a question's k and filters before a model is paid.

    Raises `BadOption`, `UnknownType`, `UnknownProperty`.
    """
    if question.k > LARGEST_K:
        raise BadOption(f"k is {question.k}: it must be 1 to {LARGEST_K}")
    graph.arrays.mask(question.node_types or None, question.where)


class CountedObservation(NamedTuple):
    """The observation of a tool, and how many nodes its whole result has."""

    total: int
    observation: Observation
