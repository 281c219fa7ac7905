"""A model that plays every module of GraphSearch by a script, and what it was asked."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from fakes.limits import limits_in
from fakes.openai_server import Answer, FakeServer
from orienteer.llm import Allowance, OpenAIConfig, OpenAIModel, prompt_of
from orienteer.methods import GraphSearch, GraphSearchConfig
from orienteer.records import Edge, Message, Node, Question
from orienteer.retrieval import Evidence, GatherConfig, Scored, Spaces

Said: TypeAlias = str | Mapping[str, Any] | Callable[[str], Any]
"""A text, an object, or a function of the prompt's user message."""
MODULES = tuple(
    f"graphsearch-{name}"
    for name in (
        *(
            f"{module}-{channel}"
            for module in ("decompose", "refine", "ground")
            for channel in ("semantic", "relational")
        ),
        "draft",
        "verify",
        "expand",
    )
)
"""The paper's nine templates."""
ANSWERS = ("graphsearch-sub-answer", "graphsearch-answer")
LEAN = tuple(
    f"graphsearch-lean-{name}" for name in ("decompose", "study", "ground", "verify", "expand", "conclude", "answer")
)


class Script:
    """Replies by the name of the prompt; keeps what it was shown, and how many it was asked at one time."""

    def __init__(self, replies: Mapping[str, Said], repaired: Mapping[str, Said] | None = None) -> None:
        self.replies, self.repaired = dict(replies), dict(repaired or {})
        """What is said at first, and what after a fault was told, where that is something else."""
        self.seen: list[tuple[str, str]] = []
        """Names of prompts and user messages, as they came."""
        self.peak = 0
        self.gates: dict[str, threading.Barrier] = {}
        """By a pattern of prompt and user message: as many such requests must be under way at one time."""
        self._systems = {prompt_of(name).system: name for name in (*MODULES, *ANSWERS, *LEAN)}
        self._open = 0
        self._lock = threading.Lock()

    def __call__(self, messages: Sequence[Any], tools: object = (), sampling: object = None) -> str:
        """Play `ScriptedModel`'s policy."""
        said = [one.model_dump() if isinstance(one, Message) else one for one in messages]
        return self._reply(said)

    def answer(self, body: dict[str, Any], before: int) -> Answer:
        """Play `FakeServer`'s policy."""
        return Answer(content=self._reply(body["messages"]))

    @property
    def calls(self) -> Counter[str]:
        """Count the requests of each prompt, without its family's name."""
        return Counter(name.removeprefix("graphsearch-") for name, _ in self.seen)

    def shown(self, name: str, part: str = "") -> str:
        """Return the one user message of a prompt that holds a text."""
        [found] = [text for prompt, text in self.seen if prompt == f"graphsearch-{name}" and part in text]
        return found

    def all_shown(self, name: str) -> list[str]:
        """Return the user messages of a prompt."""
        return [text for prompt, text in self.seen if prompt == f"graphsearch-{name}"]

    def _reply(self, messages: Sequence[Mapping[str, Any]]) -> str:
        system = str(messages[0]["content"])
        name = next(name for text, name in self._systems.items() if system.startswith(text))
        user = str(messages[1]["content"])
        with self._lock:
            self.seen.append((name, user))
            self._open += 1
            self.peak = max(self.peak, self._open)
        try:
            for part, gate in self.gates.items():
                if re.search(part, f"{name} {user}", re.DOTALL):
                    gate.wait(20)
            short = name.removeprefix("graphsearch-")
            said = self.repaired.get(short, self.replies[short]) if len(messages) > 2 else self.replies[short]
            said = said(user) if callable(said) else said
        finally:
            with self._lock:
                self._open -= 1
        return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


@contextmanager
def served(script: Script):
    """Give a model that asks the script over HTTP."""
    with FakeServer(script.answer) as server:
        model = OpenAIModel("m", OpenAIConfig(base_url=server.url, concurrency=32))
        try:
            yield model
        finally:
            model.close()


QUESTION = "How many times did plague occur in the place where the creator of The Worship of Venus died?"
NODES = (
    Node("c1", "chunk", "The Worship of Venus", "The Worship of Venus is a canvas by Titian."),
    Node("c2", "chunk", "Titian", "Titian died in Venice in 1576."),
    Node("c3", "chunk", "Venice", "Plague occurred in Venice 22 times between 1361 and 1528."),
    Node("c4", "chunk", "Basel", "Basel lies on the Rhine."),
    Node("work", "painting", "The Worship of Venus"),
    Node("titian", "person", "Titian"),
    Node("venice", "place", "Venice"),
    Node("plague", "event", "plague", "An epidemic in Venice."),
)
EDGES = (
    Edge("work", "painted_by", "titian", "a canvas of 1518"),
    Edge("titian", "died_in", "venice", "in 1576"),
    Edge("plague", "occurred_in", "venice", "22 times"),
    Edge("c1", "mentions", "titian"),
)


FOUND = {"1": "Titian", "2": "Venice", "3": "22 times", "4": "twice", "5": "twice"}
"""Answers by the numbers of sub-queries; the last two are of expansions."""


class Shelf:
    """A retriever that gives passages, entities and their relations for the words of a query."""

    name, config, analyzer = "shelf", GatherConfig(), None

    def __init__(self, graph):
        self.graph, self.queries, self._spaces = graph, [], Spaces(graph)
        self.base = self  # as a retriever's method has it

    def gather(self, query, run):
        self.queries.append(query)
        spaces, found = self._spaces, []
        for mask in (spaces.passages, spaces.entities):
            found += [spaces.node(row, 1.0) for row in spaces.search(query.text, 3, mask).rows]
        known = {one.item.id for one in found}
        edges = tuple(Scored(edge, 1.0) for edge in EDGES if {edge.source, edge.target} & known and edge.text)
        return Evidence(tuple(found), edges, reason="" if found else "no word in common")


class Nothing(Shelf):
    """A retriever that finds nothing."""

    def gather(self, query, run):
        self.queries.append(query)
        return Evidence(reason="the shelf is empty")


def first_label(user):
    found = re.search(r"^\[([SR]\d+\.\w+)\]", user, re.MULTILINE)
    return found[1] if found else ""


def number(user):
    return re.search(r"[SR](\d+)\.", user)[1]


def steps_of(result):
    """Return the gathers of the first trajectory: label and node ids."""
    walked = [(step.reply.message.tool_calls[0], step.observations[0]) for step in result.trajectories[0].steps]
    return [(call.id.rpartition("_")[2], call, seen) for call, seen in walked]


def planned(*queries):
    """Return a plan: id, text, triples, deps."""
    return {
        "sub_queries": [
            {"id": name, "text": text, "triples": [dict(zip("spo", one, strict=True)) for one in triples], "deps": deps}
            for name, text, triples, deps in queries
        ]
    }


CHAIN = planned(
    (1, "Who made The Worship of Venus?", [("The Worship of Venus", "painted by", "?creator")], []),
    (2, "Where did #1 die?", [("?creator", "died in", "?place")], [1]),
    (3, "How often did plague occur in #2?", [("plague", "occurred in", "?place")], [2]),
)


REJECT = {"accept": False, "missing": ["how often plague came"], "contradictions": []}
ACCEPT = {"accept": True, "missing": [], "contradictions": []}
MORE = planned((1, "How many plagues in Venice from 1361 to 1528?", [("plague", "in", "Venice")], []))


def study(user):
    label = first_label(user)
    return {
        "summary": f"context {label.partition('.')[0]} says it [{label}]",
        "used": [label],
        "answer": FOUND.get(number(user)),
        "confidence": 0.6,
        "also": [],
    }


def sure(user):
    """Return what `study` does, of a reader that has no doubt."""
    return {**study(user), "confidence": 0.9}


def lean(**changed):
    script = {
        "lean-decompose": CHAIN,
        "lean-study": study,
        "lean-ground": {"text": "a grounded text", "triples": []},
        "draft": lambda user: f"draft over {user.count('Sub-query ')} turns",
        "lean-verify": ACCEPT,
        "lean-expand": MORE,
        "lean-conclude": {
            **ACCEPT,
            "explanation": "Titian died in Venice [R2.E1].",
            "answer": "22",
            "cited": ["S3.C1"],
        },
        "lean-answer": {"answer": "22", "explanation": "Titian died in Venice [R2.E1].", "cited": ["S3.C1"]},
    }
    return {**script, **{name.replace("_", "-"): said for name, said in changed.items()}}


SEMANTIC = ["Who made The Worship of Venus?", "Where did #1 die?", "How often did plague occur in #2?"]
RELATIONAL = [
    {"triples": [{"s": "The Worship of Venus", "p": "painted by", "o": "Entity#1"}]},
    {"triples": [{"s": "Entity#1", "p": "died in", "o": "Entity#2"}]},
    {"triples": [{"s": "plague", "p": "occurred in", "o": "Entity#2"}]},
]


def cited(user):
    found = re.search(r"\[([SR]\d+\.\w+)\]", user)
    return found[1] if found else ""


def refined(channel):
    return lambda user: f"{channel} context {number(user)} says it [{first_label(user)}]"


def grounded_words(user):
    query = user.rpartition("Sub-query to complete: ")[2]
    return {"query": query.replace("#1", "Titian").replace("#2", "Venice")}


def grounded_triples(user):
    query = user.rpartition("Sub-query to complete: ")[2]
    s, p, o = query.strip("() ").replace("Entity#1", "Titian").split(", ")
    return {"triples": [{"s": s, "p": p, "o": "Venice" if s == "plague" else o}]}


ACCEPTED = {"verdict": "Accept"}
SEMANTIC_ANSWER = {"answer": "22", "explanation": "", "cited": ["S3.C1"]}


def faithful(**changed):
    script = {
        "decompose-semantic": {"sub_queries": SEMANTIC},
        "decompose-relational": {"sub_queries": RELATIONAL},
        "refine-semantic": refined("semantic"),
        "refine-relational": refined("relational"),
        "ground-semantic": grounded_words,
        "ground-relational": grounded_triples,
        "sub-answer": lambda user: {"answer": FOUND.get(number(user)), "used": [cited(user)]},
        "draft": lambda user: f"draft over {user.count('Sub-query ')} sub-queries",
        "verify": {"verdict": "Accept"},
        "expand": {"queries": []},
        "answer": {"answer": "22", "explanation": "Titian died in Venice [S2.C1].", "cited": ["S3.C1", "R3.E1"]},
    }
    return {**script, **changed}


def ask(graph, script, *, run=None, base=None, text=QUESTION, **options):
    question = Question(text=text, **limits_in(options))
    with served(script) as model:
        method = GraphSearch(graph, model, GraphSearchConfig(**options), base or Shelf(graph))
        return method.retrieve_and_answer(question, run or Allowance(), model)
