"""Episodes of teachers without a model: their calls, written by an agent in its own dialect.

The turns are recited by a scripted model, so an episode is a trajectory of the agent like any other: its requests are
those that a student gets, and its observations those of its tools.

anchor   the call that found what `anchor` answers with (docs/explanations/anchor.md), nodes by the question's names
         for them, in as few words as find the same; then the answer. For `ark tools=compact`.
quiz     the query that proves a question's answer (GraphScout, 003, section 3.3.3), run as code; then the answer. For
         `graphscout`.

Rules, at the end, drop episodes of any teacher before a student sees them.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from orienteer.errors import BadOption, Error, Unknown
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.examples import Example, Gold
from orienteer.lab.evaluation.running.runs import failed_calls
from orienteer.lab.evaluation.running.sweep import Variant
from orienteer.lab.evaluation.scores.measures import exact, set_f1
from orienteer.lab.evaluation.scores.rewards import THRESHOLD, final_answer, node_reward
from orienteer.llm.replies import ScriptedModel
from orienteer.llm.spoken import as_calls, as_text
from orienteer.records import Message, Sampling, ToolCall, ToolSpec, Trajectory
from orienteer.retriever import Retriever
from orienteer.settings import Settings
from orienteer.tools.toolbox import open_compact

# The calls of `anchor` that find a whole set by names and types.
_WALKS = ("follow", "intersect")
_TRIES = 4
# Share of mistakes that are made in names of nodes, not in types: what a model of 135M parameters gets wrong.
_OF_NAMES = 0.7
# Nodes of an answer at the most, for it to be compared with a call's result.
_WIDEST = 100
# A tool's name, and its arguments.
Call = tuple[str, Mapping[str, Any]]  # Any: JSON


class Stage:
    """An agent over a graph that recites what it is given. Not safe to share among threads."""

    def __init__(self, graph: Graph, variant: Variant, settings: Settings) -> None:
        self._turns: Sequence[str] = ()
        self._agent = Retriever(
            graph,
            variant.method.name,
            model=ScriptedModel(self._next_turn, name="teacher"),
            settings=replace(settings, model=None, options=variant.options),
        )

    def play(self, example: Example, turns: Sequence[str]) -> Trajectory:
        """Return the trajectory in which the agent recites these turns, one after another."""
        self._turns = turns
        [trajectory, *_] = self._agent.search(example.question.text).trajectories
        # Without its times, so that one seed gives the same bytes.
        steps = tuple(step.model_copy(update={"seconds": 0.0}) for step in trajectory.steps)
        return trajectory.model_copy(update={"question": example.question, "steps": steps})

    def _next_turn(self, messages: Sequence[Message], tools: Sequence[ToolSpec], sampling: Sampling) -> str:
        said = sum(message.role == "assistant" for message in messages)
        return self._turns[said] if said < len(self._turns) else ""


def _calls(calls: Sequence[Call]) -> list[ToolCall]:
    return [ToolCall(id="", name=name, arguments=json.dumps(given, ensure_ascii=False)) for name, given in calls]


def spoken(*calls: Call) -> str:
    """Return calls as a turn in the dialect `terse`."""
    return as_calls(_calls(calls))


class AnchorTrail:
    """The teacher `anchor`. Not safe to share among threads.

    A share of its episodes, `mistakes`, begins with a wrong call: a misspelt name, or an unknown type. A
    student of flawless episodes has never read an error, and ends at the first one; `SftConfig.learns_failed` leaves
    such a call out.
    """

    def __init__(
        self, graph: Graph, stage: Stage, settings: Settings, *, mistakes: float = 0.0, random_seed: int = 0
    ) -> None:
        self._graph, self._stage, self._mistakes, self._random_seed = graph, stage, mistakes, random_seed
        self._anchor = Retriever(graph, "anchor", settings=replace(settings, model=None, options={}))

    def episode(self, example: Example) -> Trajectory | None:
        """Return an episode that ends with the answer of `anchor`; None if it is not sure, or no call finds it."""
        [trail, *_] = self._anchor.ask(example.question.text, k=_WIDEST).trajectories
        if trail.reading is None or not trail.reading.complete or not 0 < len(trail.selected) < _WIDEST:
            return None
        call = next(self._finding(trail, example.question.text), None)
        if call is None:
            return None
        whole = f"@{len(call[1].get('steps', [call]))}"  # a walk keeps a set for each of its steps
        answer = spoken(("add_to_answer", {"nodes": [whole]}), ("finish", {}))
        wrong = self._mistaken(call, example)
        played = self._stage.play(example, [*([spoken(wrong)] if wrong else []), spoken(call), answer])
        is_same = set(played.selected) == set(trail.selected)
        return played if is_same and played.stopped_by == "finish" else None

    def _mistaken(self, call: Call, example: Example) -> Call | None:
        """Return the call with one mistake that the tool refuses, or None for none."""
        digest = hashlib.sha256(f"{self._random_seed} {example.question.text}".encode()).digest()
        chance = np.random.default_rng(list(digest[:16]))
        if chance.random() >= self._mistakes:
            return None
        for _ in range(_TRIES):
            wrong = _with_mistake(call[1], chance)
            if wrong is not None:
                try:
                    open_compact(self._graph, "lexical").call(call[0], wrong)
                except Unknown:
                    return call[0], wrong
                except Error:
                    continue
        return None

    def _finding(self, trail: Trajectory, question: str) -> Iterator[Call]:
        """Yield calls that find just what was selected, those with the fewest words first."""
        calls = [call for step in trail.steps for call in step.reply.message.tool_calls if call.name in _WALKS]
        for call in calls:
            named = self._named(json.loads(call.arguments), question)
            for arguments in () if named is None else (_without_direction(named), named):
                # A failing call finds nothing, and is no step of an episode.
                toolbox = open_compact(self._graph, "lexical")
                with suppress(Error):
                    toolbox.call(call.name, arguments)
                sets = toolbox.session.sets
                found = {self._graph.arrays.ids[row] for row in sets[-1]} if sets else set()
                if found == set(trail.selected):
                    yield call.name, arguments
                    break

    def _named(self, arguments: dict[str, Any], question: str) -> dict[str, Any] | None:  # Any: JSON
        """Return arguments with names in place of ids, and without `k`; None if the question lacks the names."""
        named: dict[str, Any] = {}
        for parameter, value in arguments.items():
            if parameter in ("start", "nodes"):
                if any(node.startswith("@") for node in ([value] if parameter == "start" else value)):
                    return None  # a set of an earlier call, which the episode has not
                names = [self._name(node, question) for node in ([value] if parameter == "start" else value)]
                if None in names:
                    return None
                named[parameter] = names[0] if parameter == "start" else names
            elif parameter != "k":
                named[parameter] = value
        return named

    def _name(self, node: str, question: str) -> str | None:
        """Return a node's name in the question, with its type if the name alone is ambiguous; None without one."""
        arrays, row = self._graph.arrays, self._graph.arrays.row(node)
        names = [name for name in (arrays.names[row], *arrays.aliases_at(row)) if name]
        name = next((name for name in names if name in question), None)
        if name is None:
            return None
        called = {link.row for link in arrays.name_index.called(" ".join(arrays.tokenizer.words(name)))}
        return name if called <= {row} else f"{name} ({arrays.type_at(row)})"


def _with_mistake(arguments: Mapping[str, Any], chance: np.random.Generator) -> dict[str, Any] | None:  # Any: JSON
    """Return arguments with one of their names misspelt; None if the misspelling changed nothing."""
    wrong: dict[str, Any] = copy.deepcopy(dict(arguments))
    names: list[tuple[Any, str | int]] = [(wrong, "start")] if "start" in wrong else []  # where each stands
    names += [(wrong["nodes"], place) for place in range(len(wrong.get("nodes", ())))]
    types: list[tuple[Any, str | int]] = [(wrong[key], 0) for key in ("node_types", "edge_types") if wrong.get(key)]
    types += [(step, key) for step in wrong.get("steps", ()) for key in ("edge", "type") if key in step]
    places = names if not types or chance.random() < _OF_NAMES else types
    holder, place = places[chance.integers(len(places))]
    # Slips of a typist: letters left out, one wrong, two swapped, an end cut off.
    letters = list(str(holder[place]))
    at, kind = int(chance.integers(len(letters))), int(chance.integers(4))
    if kind == 0:
        del letters[at : at + int(chance.integers(1, 3))]
    elif kind == 1:
        others = "abcdefghiklmnoprstuw" if letters[at].islower() else "ABCDEFGHKLMNPRST123456"
        letters[at] = others[chance.integers(len(others))]
    elif kind == 2:
        letters[at : at + 2] = letters[at : at + 2][::-1]
    else:
        del letters[max(2, at, len(letters) // 2) :]
    misspelt = "".join(letters).strip()
    if misspelt == holder[place]:
        return None
    holder[place] = misspelt
    return wrong


def _without_direction(arguments: Mapping[str, Any]) -> dict[str, Any]:  # Any: JSON
    """Return arguments whose steps leave the direction open, as the prompt advises."""
    # In the order of the tool's schema: `edge` first.
    steps = [{key: step[key] for key in ("edge", "type") if key in step} for step in arguments.get("steps", ())]
    return {**arguments, "steps": steps} if steps else dict(arguments)


def quiz_program(stage: Stage, example: Example) -> Trajectory | None:
    """Return the episode that runs the query that proves a question's answer; None without a query."""
    query, answers = example.fields.get("gold_query"), example.gold.answers
    if not isinstance(query, str) or not answers:
        return None
    given = example.fields.get("gold_parameters")
    parameters = f", {given!r}" if given else ""
    code = f"for row in cypher({query!r}{parameters}):\n    print(row)"
    said = ", ".join(answers) if example.gold.answer_type == "set" else answers[0]
    [call] = _calls([("code_interpreter", {"code": code})])
    played = stage.play(example, [f"<tool_call>\n{as_text(call)}\n</tool_call>", f"\\answer{{{said}}}"])
    is_sound = played.stopped_by == "finish" and all(
        not seen.error for step in played.steps for seen in step.observations
    )
    return played if is_sound else None


# Rules that drop trajectories before a student sees them. Only `gold` and `reward` need a label.
#
# The paper drops nothing (ARK, 001, section 4.3).


class Sample(NamedTuple):
    """A trajectory, the gold of its question, and all trajectories of the question, this one among them."""

    trajectory: Trajectory
    gold: Gold
    siblings: Sequence[Trajectory] = ()

    @property
    def answer(self) -> str | None:
        """Return the answer in words."""
        return self.trajectory.answer or final_answer(self.trajectory)


# Returns whether a sample may stay.
Rule: TypeAlias = Callable[[Sample], bool]


def _agrees(sample: Sample) -> bool:
    """Return whether most trajectories of the question end with this answer, or this first node."""
    endings = Counter(map(_ending, sample.siblings))
    own = endings[_ending(sample.trajectory)]
    return own == max(endings.values(), default=0) and 2 * own > len(sample.siblings)


def _fits_gold(sample: Sample) -> bool:
    """Return whether the first node is gold, of a line its very nodes, or the answer if no node was chosen."""
    gold, answer, reading = sample.gold, sample.answer, sample.trajectory.reading
    if selected := sample.trajectory.selected:
        is_whole = reading is None or (reading.total == len(gold.nodes) and gold.nodes.keys() >= {*selected})
        return selected[0] in gold.nodes and is_whole
    return answer is not None and bool(gold.answers) and exact(answer, gold) > 0


def _is_rewarded(sample: Sample) -> bool:
    """Return whether the answer is worth the threshold of GraphScout's rewards or more (003, equation 5)."""
    trajectory, gold, answer = sample.trajectory, sample.gold, sample.answer
    if gold.nodes and trajectory.selected:
        return node_reward(trajectory, tuple(gold.nodes), {}).answer >= THRESHOLD
    if answer is None or not gold.answers:
        return False
    # A set in words is worth the F1 of its items, any other answer 1 if it is right.
    return (set_f1(answer, gold) if gold.answer_type == "set" else exact(answer, gold)) >= THRESHOLD


# By the name that `--rule` takes.
RULES: Mapping[str, Rule] = {
    # The agent ended by itself, before its steps, its budget or its server did.
    "finished": lambda sample: sample.trajectory.stopped_by == "finish",
    "answered": lambda sample: bool(_ending(sample.trajectory)),
    # Every call could be read, and none came back as an error.
    "valid-calls": lambda sample: not any(map(failed_calls, sample.trajectory.steps)),
    "agreement": _agrees,
    "gold": _fits_gold,
    "reward": _is_rewarded,
}


def rules_of(names: Sequence[str]) -> dict[str, Rule]:
    """Return rules by name. Raises `BadOption` for an unknown one."""
    for name in names:
        if name not in RULES:
            raise BadOption(f"there is no rule {name!r}: there are {', '.join(RULES)}")
    return {name: RULES[name] for name in dict.fromkeys(names)}


def _ending(trajectory: Trajectory) -> str:
    """Return the answer in words, else the first node; empty for none."""
    return trajectory.answer or next(iter(trajectory.selected), "")
