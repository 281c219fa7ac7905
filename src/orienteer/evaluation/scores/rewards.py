r"""Rewards of trajectories on quiz items: GraphScout's (003, section 3.4.2), and a stricter one by answer type.

Both follow the case rule of equation 5, with the threshold d of table 3: no `\answer{...}` is worth 0; an answer worth
d or more is worth just that; below, clues are added, up to d. Both are functions of a trajectory and an item alone.

paper    Equations 2 to 5. The answer's part is F1 over words against the one gold text, a set's names joined by commas;
         a clue counts once its id stands anywhere in the trajectory. The paper leaves two things open: how words are
         normalised (here as SQuAD does), and what touching a clue is (here: the id as a whole word in what the model
         wrote, called or was shown, the opening left out, or among the nodes of an observation).
strict   Ours. By answer type: a boolean or a number by its value, with nothing else said; an entity by any of its
         names, whole; a set by F1 over its items. A clue counts where the model named it itself, as a whole string in a
         call that went well, or saw it in a result of few nodes. Failed calls cost a little.

What can be gamed, and what then comes of it, stands in docs/evaluation.md; tests/papers/test_rewards.py plays each.
"""

from __future__ import annotations

import json
import re
import string
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from pydantic import ValidationError

from orienteer.agents.answer_line import answer_in
from orienteer.errors import BadOption
from orienteer.evaluation.examples import Gold
from orienteer.evaluation.quiz_item import QuizItem
from orienteer.evaluation.running.runs import Line, failed_calls
from orienteer.evaluation.scores.answers import exact, set_f1
from orienteer.records import JsonValue, Record, Trajectory
from orienteer.tools.toolboxes import code_config

Mode: TypeAlias = Literal["paper", "strict"]
Spellings: TypeAlias = Mapping[str, Sequence[str]]

THRESHOLD = 0.4
"""What clues alone may bring, and what an answer must be worth to stand by itself. GraphScout (003), table 3."""
FEW_NODES = 20
"""Nodes of a result that are few enough for each of them to count as looked at."""
FEW_STRINGS = 60
"""Strings of a call, and pieces between them, beyond which naming an id is no choice any more."""
FAILED_COST, MOST_COST = 0.02, 0.1
"""What a failed call takes off, and all of them together at the most."""
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_QUOTE = re.compile(r"['\"`]")
_BARE = {
    "number": re.compile(r"[-+\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"),  # 1-250, ~250 and 25,0 are none
    "boolean": re.compile("[a-z]+", re.IGNORECASE),
}
_DRESSING = "'\"`*"


class Reward(Record):
    """What a trajectory is worth, and why."""

    mode: Mode
    said: str | None
    r"""What stood in the `\answer{...}` of the last reply; None where there was none, or nothing in it."""
    answer: float
    """What the answer is worth: equation 3, or the strict value by answer type."""
    clues: float
    """Share of the clues that count: equation 4. 0 where the item has none."""
    touched: tuple[str, ...]
    """Ids of the clues that count."""
    failed_calls: int
    """Calls that could not be read or came back as an error."""
    cost: float
    """What was taken off for them: nothing in mode `paper`."""
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
    """Return what a trajectory is worth on an item. GraphScout (003), equations 2 to 5.

    Without `clues` the answer alone counts (table 2's ablation). `spellings` are further ways in which the ids of clues
    are written, such as a view's identifiers. Raises `BadOption` for another mode.
    """
    if mode not in _VALUES:
        raise BadOption(f"mode is {mode!r}: it must be one of {', '.join(_VALUES)}")
    answer = final_answer(trajectory)
    value = 0.0 if answer is None else _VALUES[mode](answer, item)
    written = _written(item, spellings or {})
    touched = _TOUCHED[mode](trajectory, written)
    share = len(touched) / len(written) if written else 0.0
    failed = sum(map(failed_calls, trajectory.steps))
    cost = min(MOST_COST, FAILED_COST * failed) if mode == "strict" else 0.0
    earned = 0.0 if answer is None else by_cases(value, share if clues else 0.0, threshold=threshold)
    return Reward(
        mode=mode,
        said=answer,
        answer=value,
        clues=share,
        touched=touched,
        failed_calls=failed,
        cost=cost,
        total=max(0.0, earned - cost),
    )


def item_of(line: Line) -> QuizItem | None:
    """Return the item of a quiz that a line of a run was asked, None where it was no quiz's, or has no answer."""
    if not line.gold.answers:
        return None
    known = {name: value for name, value in line.fields.items() if name in QuizItem.model_fields}
    gold = {"nodes": tuple(line.gold.nodes), "answers": line.gold.answers, "answer_type": line.gold.answer_type}
    try:
        return QuizItem.model_validate({**known, "id": line.id, "question": line.question, **gold})
    except ValidationError:
        return None


def spellings_of(trajectory: Trajectory, item: QuizItem) -> Spellings:
    """Return what a view of the trajectory shows for the ids of clues, as far as ids tell: what stands behind `Type::`.

    Nothing for a trajectory without a view. Where the graph is at hand, `Identifiers` gives the spelling of every node.
    """
    if code_config(trajectory).view is None:
        return {}
    return {clue: (clue.partition("::")[2],) for clue in item.clue_nodes if "::" in clue}


def by_cases(answer: float, clues: float, *, threshold: float = THRESHOLD) -> float:
    """Return equation 5 for a trajectory that answered: the answer's part, or below the threshold both, up to it."""
    return answer if answer >= threshold else min(answer + clues, threshold)


def final_answer(trajectory: Trajectory) -> str | None:
    r"""Return what stands in the `\answer{...}` of the last reply, None where there is none or it is blank.

    GraphScout (003), equation 2. An answer of an earlier reply is none: a trajectory ends with its answer.
    """
    text = trajectory.steps[-1].reply.message.content if trajectory.steps else None
    answer = answer_in(text or "")
    return answer.strip() or None if answer is not None else None


def squad_f1(answer: str, gold: str) -> float:
    """Return F1 over words as SQuAD's evaluation takes it: lower case, without punctuation and articles."""
    words, wanted = _squad_words(answer), _squad_words(gold)
    if not words or not wanted:
        return float(words == wanted)
    return 2 * (Counter(words) & Counter(wanted)).total() / (len(words) + len(wanted))


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
    # Accents and hyphens make no other entity of a name; nor is a list of names any one of them.
    return max(exact(answer, gold), exact(answer, gold, lenient=True))


# ------------------------------------------------------------------------------------------------------ the clues


def _written(item: QuizItem, spellings: Spellings) -> dict[str, tuple[str, ...]]:
    """Return every way to write each clue, by its id."""
    return {clue: (clue, *spellings.get(clue, ())) for clue in item.clue_nodes}


def _anywhere(trajectory: Trajectory, written: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the clues that the model wrote or was shown anywhere. GraphScout (003), equation 4."""
    nodes = {node for step in trajectory.steps for reply in step.observations for node in reply.nodes}
    text = "\n".join(_texts(trajectory))
    return tuple(clue for clue, ways in written.items() if clue in nodes or any(_stands_in(way, text) for way in ways))


def _texts(trajectory: Trajectory) -> Iterator[str]:
    """Return what the model wrote, called and was shown. The opening is ours, and may hold ids as examples."""
    for step in trajectory.steps:
        yield step.reply.message.content or ""
        for call in step.reply.message.tool_calls:
            yield from _strings(call.arguments) or (call.arguments,)
        yield from (reply.text for reply in step.observations)


def _stands_in(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _chosen(trajectory: Trajectory, written: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the clues that the model named in a call that went well, or saw in a result of few nodes."""
    strings: set[str] = set()
    known = {tool.name: tool.parameters.get("properties", {}) for tool in trajectory.tools}
    for step in trajectory.steps:
        replies = {reply.call_id: reply for reply in step.observations}
        for call in step.reply.message.tool_calls:
            reply = replies.get(call.id)
            if reply is None or reply.error is not None:
                continue
            strings |= _named_in(call.arguments, known.get(call.name))
            nodes = set(reply.nodes)
            strings |= nodes if len(nodes) <= FEW_NODES else set()
    return tuple(clue for clue, ways in written.items() if not strings.isdisjoint(ways))


def _named_in(arguments: str, known: Container[str] | None) -> set[str]:
    """Return the whole strings that a call holds, those within its code too; none where they are too many.

    Arguments that the tool does not know are ignored by it, so they do not count.
    """
    pieces = {piece for text in _strings(arguments, known) for piece in _QUOTE.split(text)}
    return pieces if len(pieces) <= FEW_STRINGS else set()


def _strings(arguments: str, known: Container[str] | None = None) -> tuple[str, ...]:
    """Return the texts among the arguments of a call, or those of known names; none where they are no JSON."""
    try:
        given = json.loads(arguments)
        if known is not None and isinstance(given, dict):
            given = {name: value for name, value in given.items() if name in known}
        return tuple(_leaves(given))
    except (ValueError, RecursionError):
        return ()


def _leaves(value: JsonValue) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)


_VALUES = {"paper": _by_words, "strict": _by_type}
_TOUCHED = {"paper": _anywhere, "strict": _chosen}
