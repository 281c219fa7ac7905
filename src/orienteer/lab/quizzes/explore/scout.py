"""One episode of a model that explores a graph and hands in a question. GraphScout (003), sections 3.3.2 to 3.3.4.

The course is the paper's: the schema and a node to begin from, calls of two tools, at most T of them, then the report.
Ours as well:

1. A report that cannot be kept is sent back once, with all that is wrong with it.
2. What passes every check is put to the model once more without tools or graph: answered rightly, it is dropped.
3. When the model calls nothing any more, it has explored enough.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from string import Template
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field, ValidationError

from orienteer.agents.agent import Agent, ByReport
from orienteer.agents.dialect import dialect_for, harmless
from orienteer.errors import BadInput
from orienteer.files import append_line, mend, read_lines, write_whole
from orienteer.graph.store import Graph
from orienteer.index.searchers import Mode
from orienteer.lab.evaluation.examples import QuizItem
from orienteer.lab.evaluation.running.asker import ReplyFolder
from orienteer.lab.evaluation.running.runs import LOCK, lock
from orienteer.lab.quizzes.explore.report import (
    SCHEMA,
    CheckedReport,
    QuizOrder,
    QuizReport,
    in_words,
    is_answered,
    report_of,
)
from orienteer.lab.quizzes.kinds import PACKAGE
from orienteer.lab.quizzes.proof import FORMS, Fault
from orienteer.llm.conversation import ELISION, Conversation, ask, begin, prompt_of
from orienteer.llm.schema import decode, faults
from orienteer.llm.spoken import after_thinking
from orienteer.options import Options
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Record, Sampling, Trajectory
from orienteer.retrieval.graph_text import arrow
from orienteer.retrieval.schema import describe
from orienteer.sandbox.tiers import Choice
from orienteer.text.sentences import one_line
from orienteer.tools.code import DIALECT
from orienteer.tools.code_options import CodeConfig
from orienteer.tools.toolbox import open_scouting

_ANSWERS = {
    "entity": "One thing: its name.",
    "boolean": "One word: True or False.",
    "number": "One number, in digits.",
    "set": "The names, each once.",
}


class ScoutConfig(Options):
    """How one episode goes."""

    max_calls: int = Field(default=10, ge=1)
    """Calls of tools before the report is asked for. The paper's T (3.3.3)."""
    temperature: float = 0.7
    """Temperature of exploring and reporting; above 0, so that questions differ. Ours: the paper names none."""
    tier: Choice = "auto"
    """Where code runs."""
    retry_cpython: bool = False
    """Run code again in `cpython` if `monty` lacks something that it asks for."""


class QuizEpisode(NamedTuple):
    """The result of an order."""

    item: QuizItem | None
    faults: tuple[Fault, ...]
    """Why there is no item; the first fault is the one that counts."""
    trajectories: tuple[Trajectory, ...]


Check = Callable[..., CheckedReport]
"""`check(report, touched=ids)` judges a report; the ids are those of the nodes that came up."""


class Scout:
    """Sends a model out over one graph. Safe to share among threads: each episode has tools of its own."""

    def __init__(self, graph: Graph, config: ScoutConfig) -> None:
        """Raises `MissingExtra` without the embedder of the graph's vectors."""
        self._graph, self._config = graph, config
        self._mode: Mode = "dense" if graph.arrays.searcher.has_vectors else "lexical"  # dense, as 3.2.2 has it
        graph.arrays.searcher(self._mode)
        self._environment = _environment(graph, has_code=True)

    def explore(self, order: QuizOrder, model: LanguageModel, run: Run, check: Check) -> QuizEpisode:
        """Let a model explore from the order's node and hand in a question; have it checked.

        Raises `ModelError` and `BudgetExhausted`.
        """
        graph, config = self._graph, self._config
        toolbox, code = open_scouting(
            graph, self._mode, CodeConfig(tier=config.tier, retry_cpython=config.retry_cpython)
        )
        assert code is not None
        ending = ByReport(max_calls=config.max_calls)
        agent = Agent(model, toolbox, ending, context_tokens=sys.maxsize)  # what the model is known to hold, no less
        dialect = DIALECT if code.tier == "monty" else ""
        environment = {**self._environment, "calls": config.max_calls, "dialect": dialect}
        begun = _opening(model, order, run, "quiz-explore", environment, in_words(graph, order), config.temperature)
        course = {"dialect": dialect_for(model), "toolbox": toolbox.spec, "tools": toolbox.specs, "elision": ELISION}
        begun = begun.model_copy(update=course)
        talk = agent.begin(begun, run)
        try:
            agent.walk(talk, run)
        finally:
            toolbox.close()
        touched = {order.seed, *(node for step in talk.steps for seen in step.observations for node in seen.nodes)}
        notice = _report_prompt(order, spent=" You have no calls left." if ending.is_spent else "")
        episode = _handed_in(begun, talk, run, notice, partial(check, touched=touched))
        ended = {"marks": code.marks, "embedding": toolbox.session.payment.spent}
        return episode._replace(trajectories=(episode.trajectories[0].model_copy(update=ended),))


def probed(item: QuizItem, model: LanguageModel, run: Run, *, temperature: float = 0.0) -> tuple[bool, Trajectory]:
    """Return whether a model answers an item rightly without tools or graph, and the trajectory."""
    question, sampling = Question(id=item.id, text=item.question), Sampling(temperature=temperature)
    prompt, values = prompt_of("quiz-probe", PACKAGE), {"question": item.question}
    begun = begin(model, prompt, values, question=question, method="quiz: probe", sampling=sampling)
    reply, _, trajectory = ask(model, run, begun)
    answer = after_thinking(reply.message.content or "")
    return is_answered(answer, item), trajectory.model_copy(update={"answer": answer})


def _environment(graph: Graph, *, has_code: bool) -> dict[str, object]:
    described = describe(graph, None, has_code=has_code)._asdict()
    return {name: harmless(part) for name, part in described.items()}


def _opening(
    model: LanguageModel,
    order: QuizOrder,
    run: Run,
    prompt: str,
    environment: Mapping[str, object],
    values: Mapping[str, object],
    temperature: float,
) -> Trajectory:
    """Return the trajectory that an episode begins with: its question is the order, its prompt has the environment."""
    text = prompt_of(prompt, PACKAGE)
    text = text._replace(system=Template(text.system).substitute(environment))
    question = Question(id=order.id, text=f"{' '.join(order.cell)}, from {order.seed}")
    sampling = Sampling(temperature=temperature, random_seed=run.random_seed + order.place)  # another for each place
    return begin(model, text, values, question=question, method="quiz", sampling=sampling)


def _report_prompt(order: QuizOrder, *, spent: str = "") -> str:
    answer_type = order.cell.answer_type
    text = prompt_of("quiz-report", PACKAGE).system
    return Template(text).substitute(spent=spent, answer=_ANSWERS[answer_type], form=FORMS[answer_type])


def _handed_in(
    begun: Trajectory, talk: Conversation, run: Run, notice: str | None, check: Callable[[QuizReport], CheckedReport]
) -> QuizEpisode:
    """Ask for a report, again if it cannot be kept; return the episode."""
    item, wrong = _report(talk, run, notice, check)
    if wrong:
        listed = "\n".join(f"- {fault.detail}" for fault in wrong)
        notice = f"This cannot be kept:\n{harmless(listed)}\nHand it in again, mended, whole."
        item, wrong = _report(talk, run, notice, check)
    trajectory = begun.model_copy(
        update={
            "steps": tuple(talk.steps),
            "selected": item.clue_nodes if item is not None else (),
            "answer": item.question if item is not None else None,
            "notes": tuple(f"{fault.reason}: {fault.detail}" for fault in wrong),
        }
    )
    return QuizEpisode(item, wrong, (trajectory,))


def _report(
    talk: Conversation, run: Run, notice: str | None, check: Callable[[QuizReport], CheckedReport]
) -> CheckedReport:
    reply = talk.turn(run, notice=notice, schema=SCHEMA, offers_tools=False).reply
    try:
        report = decode(after_thinking(reply.message.content or ""))
    except ValueError as error:
        return CheckedReport(None, (Fault("no report", f"It is no JSON: {error}."),))
    wrong = faults(report, SCHEMA)
    if wrong or not isinstance(report, dict):
        return CheckedReport(None, (Fault("no report", f"It does not fit its form: {'; '.join(wrong)}."),))
    return check(report_of(report))


# The quizzer of table 2's ablation: a walk at random, its nodes and edges as text, and one call that writes the item.
#
# GraphScout (003), section 4.2.3: subgraphs are sampled by random walks, turned into text, and a model makes a question
# of them without looking any further. Its report is checked as an explorer's is, and sent back once. How long a walk
# is, and which text of a node is shown, the paper leaves open.

STEPS = 20
"""Steps of a walk; ours."""
RETURN = 0.15
"""Chance of going back to the first node before a step, which keeps a walk near it. Ours, after random walks with
restart."""
_TEXT = 200  # characters of a node's text


class Walker:
    """Has a model write questions from walks over one graph. Safe to share among threads."""

    def __init__(self, graph: Graph, config: ScoutConfig) -> None:
        self._graph, self._temperature = graph, config.temperature
        self._environment = _environment(graph, has_code=False)

    def explore(self, order: QuizOrder, model: LanguageModel, run: Run, check: Check) -> QuizEpisode:
        """Walk from the order's node, have a question written about the walk, and have it checked.

        Raises `ModelError` and `BudgetExhausted`.
        """
        graph, chance = self._graph, np.random.default_rng([run.random_seed, order.place])
        rows = walk(graph, graph.arrays.row(order.seed), chance)
        values = {**in_words(graph, order), "piece": piece(graph, rows), "report": _report_prompt(order)}
        begun = _opening(model, order, run, "quiz-walk", self._environment, values, self._temperature)
        talk = Conversation(model, begun.opening, sampling=begun.sampling)
        touched = {graph.arrays.ids[row] for row in rows}
        return _handed_in(begun, talk, run, None, partial(check, touched=touched))


def walk(graph: Graph, start: int, chance: np.random.Generator, *, steps: int = STEPS) -> tuple[int, ...]:
    """Return the rows that a random walk meets, each once, in order. All edges of a node are equally likely."""
    adjacency = graph.arrays.adjacency
    here, rows = start, {start: None}
    for _ in range(steps):
        if chance.random() < RETURN:
            here = start
        begin, end = adjacency.ends(here)
        if begin == end:
            break
        here = int(adjacency.neighbor[begin + int(chance.integers(end - begin))])
        rows[here] = None
    return tuple(rows)


def piece(graph: Graph, rows: tuple[int, ...]) -> str:
    """Return nodes and all edges among them as text for a model."""
    arrays, lines = graph.arrays, dict[str, None]()
    for row in rows:
        text = one_line(arrays.texts[row][:_TEXT])
        title = f"[{arrays.ids[row]}] {one_line(arrays.names[row])} (type {arrays.type_at(row)})"
        lines[f"{title}: {text}" if text else title] = None
    for place, row in enumerate(rows):
        for edge in arrays.edges_between(row, np.array(rows[place + 1 :], np.int32)):
            lines[f"[{edge.source}] {arrow(graph.schema.label(edge.type), 'out')} [{edge.target}]"] = None
    return harmless("\n".join(lines))


# The episodes of a quiz on disk: those that have ended, their trajectories, and the replies to those under way.

CONDITIONS, EPISODES, TRAJECTORIES = "conditions.json", "episodes.jsonl", "trajectories.jsonl"


class Conditions(Record):
    """What the episodes of a quiz depend on. The number of questions is not part of it."""

    version: Literal[1] = 1
    graph_sha256: str
    random_seed: int
    quizzer: str
    model: str
    max_calls: int
    temperature: float
    probe: bool
    avoid_sha256: str
    """The hash of the ids to be avoided."""


class EpisodeEnd(Record):
    """An episode that has ended."""

    id: str
    place: int
    """The place of the quiz that it worked on, from 0."""
    item: QuizItem | None = None
    reason: str | None = None
    """Why there is no item: one of `proof.REASONS`."""
    details: tuple[str, ...] = ()
    """All that was wrong, in words."""


class Episodes:
    """A folder of episodes, locked for writing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.replies = ReplyFolder(folder)
        """The replies of the model to the episodes in flight."""
        try:
            ended = [EpisodeEnd.model_validate_json(line) for line in _lines(folder / EPISODES)]
        except ValidationError as error:
            raise BadInput(
                f"{folder / EPISODES} has a line that is not an episode: remove its folder and start again"
            ) from error
        self.done = {done.id: done for done in ended}
        """Those that have ended, in the order in which they did."""
        # A kill may have kept an episode from being written down after its trajectories: it begins again.
        file = folder / TRAJECTORIES
        lines = _lines(file)
        try:
            whole = [line for line in lines if json.loads(line)["question"]["id"] in self.done]
        except (ValueError, LookupError, TypeError) as error:
            raise BadInput(f"{file} has a line that is not a trajectory: remove its folder and start again") from error
        if len(whole) < len(lines):
            write_whole(file, b"".join(whole).decode())
        self.replies.prepare()

    def add(self, done: EpisodeEnd, trajectories: Sequence[Trajectory]) -> None:
        """Write an episode down, its trajectories first; its replies are of no more use."""
        for trajectory in trajectories:
            append_line(self._folder / TRAJECTORIES, trajectory.model_dump_json())
        append_line(self._folder / EPISODES, done.model_dump_json())
        self.done[done.id] = done
        self.replies.forget((done.id, "quiz"))


def _lines(file: Path) -> list[bytes]:
    mend(file)
    return list(read_lines(file))


@contextmanager
def held_episodes(folder: Path | None, conditions: Conditions) -> Iterator[Episodes]:
    """Open the episodes of a folder, or of a temporary one. Raises `BadInput` for another quiz, `GraphBusy`."""
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="orienteer-quiz-") as place:
            yield Episodes(Path(place))
        return
    folder.mkdir(parents=True, exist_ok=True)
    with lock(folder):
        file = folder / CONDITIONS
        if file.exists():
            try:
                there = Conditions.model_validate_json(file.read_bytes())
            except ValidationError as error:
                raise BadInput(
                    f"{file} has no conditions of this version: remove {folder}, or write elsewhere"
                ) from error
            old, new = there.model_dump(), conditions.model_dump()
            if differs := [name for name in new if old[name] != new[name]]:
                raise BadInput(
                    f"{folder} holds a quiz under other conditions: {', '.join(differs)}. Ask as before, remove it, "
                    "or write elsewhere"
                )
        elif foreign := sorted(file.name for file in folder.iterdir() if file.name != LOCK):
            raise BadInput(f"{folder} holds {foreign[0]} and no quiz: name another file with -o")
        else:
            write_whole(file, conditions.model_dump_json(indent=1) + "\n")
        episodes = Episodes(folder)
        yield episodes
        episodes.replies.clear()
