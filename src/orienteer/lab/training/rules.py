"""Rules by which trajectories are dropped before a student sees them. None but `gold` and `reward` needs a label.

The paper drops nothing (ARK, 001, section 4.3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from orienteer.errors import BadOption
from orienteer.lab.evaluation.examples import Gold
from orienteer.lab.evaluation.running.runs import failed_calls
from orienteer.lab.evaluation.scores.answers import exact, set_f1
from orienteer.lab.evaluation.scores.rewards import THRESHOLD, final_answer, node_reward
from orienteer.records import Trajectory


class Sample(NamedTuple):
    """A trajectory, the gold of its question, and what the other trajectories of the same question ended with."""

    trajectory: Trajectory
    gold: Gold
    beside: Sequence[Trajectory] = ()
    """All trajectories of the question, this one among them."""


Rule: TypeAlias = Callable[[Sample], bool]
"""Says whether a sample may stay."""


def is_finished(sample: Sample) -> bool:
    """Say whether the agent ended by itself, before its steps, its budget or its server did."""
    return sample.trajectory.stopped_by == "finish"


def is_answered(sample: Sample) -> bool:
    """Say whether there is an answer."""
    return bool(_ending(sample.trajectory))


def has_valid_calls(sample: Sample) -> bool:
    """Say whether every call could be read and none came back as an error."""
    return not any(map(failed_calls, sample.trajectory.steps))


def agrees(sample: Sample) -> bool:
    """Say whether the answer, or the first node of it, is the one that most trajectories of the question end with."""
    endings = Counter(map(_ending, sample.beside))
    own = endings[_ending(sample.trajectory)]
    return own == max(endings.values(), default=0) and 2 * own > len(sample.beside)


def fits_gold(sample: Sample) -> bool:
    """Say whether the first node is gold, or the answer where no node was chosen.

    It needs labels: the paper's rejection by them is an option of its code.
    """
    trajectory, gold = sample.trajectory, sample.gold
    if trajectory.selected:
        return trajectory.selected[0] in gold.nodes
    answer = trajectory.answer or final_answer(trajectory)
    return answer is not None and bool(gold.answers) and exact(answer, gold) > 0


def is_rewarded(sample: Sample) -> bool:
    """Say whether the answer stands by itself: worth the threshold of GraphScout's rewards or more (003, equation 5).

    The worth of nodes is their F1, that of a set in words the same over its items, else whether it is right.
    """
    trajectory, gold = sample.trajectory, sample.gold
    if gold.nodes and trajectory.selected:
        return node_reward(trajectory, tuple(gold.nodes), {}).answer >= THRESHOLD
    answer = trajectory.answer or final_answer(trajectory)
    if answer is None or not gold.answers:
        return False
    return (set_f1(answer, gold) if gold.answer_type == "set" else exact(answer, gold)) >= THRESHOLD


RULES: Mapping[str, Rule] = {
    "finished": is_finished,
    "answered": is_answered,
    "valid-calls": has_valid_calls,
    "agreement": agrees,
    "gold": fits_gold,
    "reward": is_rewarded,
}
"""By the name that `--rule` takes."""


def rules_of(names: Sequence[str]) -> dict[str, Rule]:
    """Return rules by name. Raises `BadOption` for one that there is not."""
    for name in names:
        if name not in RULES:
            raise BadOption(f"there is no rule {name!r}: there are {', '.join(RULES)}")
    return {name: RULES[name] for name in dict.fromkeys(names)}


def broken(sample: Sample, rules: Mapping[str, Rule]) -> tuple[str, ...]:
    """Return the names of the rules that would drop a sample."""
    return tuple(name for name, holds in rules.items() if not holds(sample))


def _ending(trajectory: Trajectory) -> str:
    """Return the answer in words, else the first node; empty for none."""
    return trajectory.answer or next(iter(trajectory.selected), "")
