r"""Rewards of trajectories on quiz items: GraphScout's (003, section 3.4.2), and a stricter one by answer type.

Both follow the case rule of equation 5, with the threshold d of table 3: no `\answer{...}` is worth 0; an answer worth
d or more is worth just that; below, clues are added, up to d. Both are functions of a trajectory and an item alone.

paper    Equations 2 to 5. The answer's part is F1 over words against the one gold text, a set's names joined by commas;
         a clue counts once its id is anywhere in the trajectory. The paper leaves two things open: how words are
         normalised (here as SQuAD does), and what touching a clue is (here: the id as a whole word in what the model
         wrote, called or was shown, the opening left out, or among the nodes of an observation).
strict   Ours. By answer type: a boolean or a number by its value, with nothing else said; an entity by any of its
         names, whole; a set by F1 over its items. A clue counts if the model named it itself, as a whole string in a
         call that went well, or saw it in a result of few nodes. Failed calls cost a little.
nodes    Ours, for agents whose answer is a set of nodes (`node_reward`): F1 of the nodes, clues and failed calls as in
         `strict`.

docs/guides/evaluation.md says what can be gamed, and what results from it; tests/papers/test_rewards.py plays each.
"""

from __future__ import annotations

import json
import re
import string
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from pydantic import ValidationError

from orienteer.agents.agent import answer_in
from orienteer.errors import BadOption
from orienteer.lab.evaluation.examples import Gold, QuizItem
from orienteer.lab.evaluation.running.runs import failed_calls
from orienteer.lab.evaluation.scores.measures import exact, set_f1
from orienteer.records import JsonValue, Record, Trajectory
from orienteer.tools.toolbox import code_config

# The rules of `reward`.
Mode: TypeAlias = Literal["paper", "strict"]
Spellings: TypeAlias = Mapping[str, Sequence[str]]

# The most that clues alone may bring, and the least worth of an answer without them. GraphScout (003), table 3.
THRESHOLD = 0.4
# Nodes of a result that are few enough for each of them to count as looked at.
FEW_NODES = 20
# Strings of a call, and pieces between them, beyond which naming an id is not a choice any more.
FEW_STRINGS = 60
# The cost of a failed call, and the highest cost of all together.
FAILED_COST, MOST_COST = 0.02, 0.1
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_QUOTE = re.compile(r"['\"`]")
_BARE = {
    "number": re.compile(r"[-+\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"),  # 1-250, ~250 and 25,0 are none
    "boolean": re.compile("[a-z]+", re.IGNORECASE),
}
_DRESSING = "'\"`*"


class Reward(Record):
    """The reward of a trajectory, and its parts."""

    mode: Mode | Literal["nodes"]
    answer_text: str | None
    r"""The text in the `\answer{...}` of the last reply; None without one, or if it is empty."""
    answer: float
    """The value of the answer: equation 3, or the strict value by answer type."""
    clues: float
    """The share of the clues that count: equation 4. 0 for an item without clues."""
    touched: tuple[str, ...]
    """The ids of the clues that count."""
    failed_calls: int
    """Calls that could not be read or came back as an error."""
    cost: float
    """What is taken off for them; 0 in mode `paper`."""
    total: float


def reward(
    trajectory: Trajectory,
    item: QuizItem,
    *,
    mode: Mode = "paper",
    threshold: float = THRESHOLD,
    clues: bool = True,
    spellings: Spellings | None = None,
) -> Reward:
    """Return the reward of a trajectory on an item. GraphScout (003), equations 2 to 5.

    Without `clues` only the answer counts (table 2's ablation). `spellings` are other ways to write the ids of clues,
    such as a view's identifiers. Raises `BadOption` for another mode.
    """
    if mode not in _VALUES:
        raise BadOption(f"mode is {mode!r}: it must be one of {', '.join(_VALUES)}")
    answer = final_answer(trajectory)
    value = 0.0 if answer is None else _VALUES[mode](answer, item)
    # Every way to write each clue, by its id.
    written = {clue: (clue, *(spellings or {}).get(clue, ())) for clue in item.clue_nodes}
    touched = _TOUCHED[mode](trajectory, written)
    share = len(touched) / len(written) if written else 0.0
    failed = sum(map(failed_calls, trajectory.steps))
    cost = min(MOST_COST, FAILED_COST * failed) if mode == "strict" else 0.0
    earned = 0.0 if answer is None else by_cases(value, share if clues else 0.0, threshold=threshold)
    return Reward(
        mode=mode,
        answer_text=answer,
        answer=value,
        clues=share,
        touched=touched,
        failed_calls=failed,
        cost=cost,
        total=max(0.0, earned - cost),
    )


def node_reward(
    trajectory: Trajectory,
    gold: Collection[str],
    clues: Mapping[str, Sequence[str]],
    *,
    threshold: float = THRESHOLD,
) -> Reward:
    """Return the reward of an answer that is a set of nodes: F1 of it, by the case rule of equation 5.

    `gold` are the ids that answer, and `clues` the nodes that lead to them, by id, each with the names that a call may
    have for it. An agent that did not finish by itself has no answer: what it is left with was not its choice.
    """
    chosen = set(trajectory.selected) if trajectory.stopped_by == "finish" else set[str]()
    value = 2 * len(chosen & set(gold)) / (len(chosen) + len(set(gold))) if chosen else 0.0
    written = {clue: (clue, *names) for clue, names in clues.items()}
    touched = _chosen(trajectory, written)
    share = len(touched) / len(written) if written else 0.0
    failed = sum(map(failed_calls, trajectory.steps))
    cost = min(MOST_COST, FAILED_COST * failed)
    return Reward(
        mode="nodes",
        answer_text=", ".join(trajectory.selected) if chosen else None,
        answer=value,
        clues=share,
        touched=touched,
        failed_calls=failed,
        cost=cost,
        total=max(0.0, by_cases(value, share, threshold=threshold) - cost) if chosen else 0.0,
    )


def item_of(key: str, question: str, gold: Gold, fields: Mapping[str, JsonValue]) -> QuizItem | None:
    """Return a question, with its id, as the item of a quiz; None if it is not of a quiz, or has no gold answer."""
    if not gold.answers:
        return None
    known = {name: value for name, value in fields.items() if name in QuizItem.model_fields}
    given = {"nodes": tuple(gold.nodes), "answers": gold.answers, "answer_type": gold.answer_type}
    try:
        return QuizItem.model_validate({**known, "id": key, "question": question, **given})
    except ValidationError:
        return None


def spellings_of(trajectory: Trajectory, item: QuizItem) -> Spellings:
    """Return the spellings of clues in a view of the trajectory, as far as the ids show them: without their `Type::`.

    Empty for a trajectory without a view. With the graph, `Identifiers` gives the spelling of every node.
    """
    if code_config(trajectory).view is None:
        return {}
    return {clue: (clue.partition("::")[2],) for clue in item.clue_nodes if "::" in clue}


def by_cases(answer: float, clues: float, *, threshold: float = THRESHOLD) -> float:
    """Return equation 5: the answer's value; below the threshold, plus that of the clues, but no more than it."""
    return answer if answer >= threshold else min(answer + clues, threshold)


def final_answer(trajectory: Trajectory) -> str | None:
    """Return the text in the `\\answer{...}` of the last reply, or None if it is missing or blank."""
    # A trajectory ends with its answer: an earlier one does not count (GraphScout, 003, equation 2).
    text = trajectory.steps[-1].reply.message.content if trajectory.steps else None
    answer = answer_in(text or "")
    return answer.strip() or None if answer is not None else None


def squad_f1(answer: str, gold: str) -> float:
    """Return F1 over words as SQuAD's evaluation takes it: lower case, without punctuation and articles."""
    words, gold_words = _squad_words(answer), _squad_words(gold)
    if not words or not gold_words:
        return float(words == gold_words)
    return 2 * (Counter(words) & Counter(gold_words)).total() / (len(words) + len(gold_words))


def _squad_words(text: str) -> list[str]:
    return _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


# ----------------------------------------------------------------------------------------------------- the answer


def _by_words(answer: str, item: QuizItem) -> float:
    """Return equation 3: F1 against the gold text, of an entity its name alone."""
    gold = ", ".join(item.answers) if item.answer_type == "set" else item.answers[0]
    return squad_f1(answer, gold)


def _by_type(answer: str, item: QuizItem) -> float:
    gold = Gold(answers=item.answers, answer_type=item.answer_type)
    if item.answer_type == "set":
        return set_f1(answer, gold)
    if item.answer_type in _BARE:
        bare = answer.strip(_DRESSING).rstrip(f"{_DRESSING}.!")
        return exact(bare, gold) if _BARE[item.answer_type].fullmatch(bare) else 0.0
    # Accents and hyphens do not make another entity; and a list of names is not one of them.
    return max(exact(answer, gold), exact(answer, gold, lenient=True))


# ------------------------------------------------------------------------------------------------------ the clues


def _anywhere(trajectory: Trajectory, written: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the clues that the model wrote or was shown anywhere. GraphScout (003), equation 4."""
    nodes = {node for step in trajectory.steps for reply in step.observations for node in reply.nodes}
    # Without the opening, which may hold ids as examples.
    texts: list[str] = []
    for step in trajectory.steps:
        texts.append(step.reply.message.content or "")
        for call in step.reply.message.tool_calls:
            texts += _strings(call.arguments) or (call.arguments,)
        texts += (reply.text for reply in step.observations)
    text = "\n".join(texts)

    def is_in_text(name: str) -> bool:  # as a whole word
        return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None

    return tuple(clue for clue, names in written.items() if clue in nodes or any(map(is_in_text, names)))


def _chosen(trajectory: Trajectory, written: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the clues that the model named in a call that succeeded, or saw in a result of few nodes."""
    strings: set[str] = set()
    parameters = {tool.name: tool.parameters.get("properties", {}) for tool in trajectory.tools}
    for step in trajectory.steps:
        replies = {reply.call_id: reply for reply in step.observations}
        for call in step.reply.message.tool_calls:
            reply = replies.get(call.id)
            if reply is None or reply.error is not None:
                continue
            # The whole strings in the call, those in its code included, unless they are too many. Arguments that are
            # not among the tool's parameters do not count: the tool ignores them.
            named = _strings(call.arguments, parameters.get(call.name))
            pieces = {piece for text in named for piece in _QUOTE.split(text)}
            strings |= pieces.union(named) if len(pieces) <= FEW_STRINGS else set()
            strings |= set(reply.nodes) if len(set(reply.nodes)) <= FEW_NODES else set()
    return tuple(clue for clue, names in written.items() if not strings.isdisjoint(names))


def _strings(arguments: str, parameters: Container[str] | None = None) -> tuple[str, ...]:
    """Return the texts among the arguments of a call, or among those named as parameters; none if it is not JSON."""

    def leaves(value: JsonValue) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | dict):
            for item in value.values() if isinstance(value, dict) else value:
                yield from leaves(item)

    try:
        values = json.loads(arguments)
        if parameters is not None and isinstance(values, dict):
            values = {name: value for name, value in values.items() if name in parameters}
        return tuple(leaves(values))
    except (ValueError, RecursionError):
        return ()


_VALUES = {"paper": _by_words, "strict": _by_type}
_TOUCHED = {"paper": _anywhere, "strict": _chosen}
