"""The measure that a verdict, a table and a chart lead with: what the gold of the questions asks for.

A question with one gold node is answered by the first hit. A question with several needs all of them: the passages of
a chain of hops, the members of a set. `Hit@1` is blind to all but one. So the gold of the middle question decides:

1 node          Hit@1, STaRK's and ARK's first column.
2 to 5          Recall@5, and how often all gold is found (HippoRAG's Recall@5 and all-recall).
6 to 20         Recall@20, as 5 places cannot hold them (STaRK took 20 for this reason), and all gold at 20.
21 and more     nDCG@10. No list of 20 could come near a Recall of 1; nDCG is a share of the best possible list,
                however much gold there is (BEIR's measure).

The gold of a question does not say whether any one of its nodes would do. Whoever asks such questions chooses `Hit@1`.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median_high

from orienteer.lab.evaluation.examples import Example
from orienteer.lab.evaluation.scores.answers import ANSWERS
from orienteer.lab.evaluation.scores.measures import RANKING, relevant_count
from orienteer.records import Record

FEW, MANY = 5, 20
"""The two cutoffs: what a reader takes in at a glance, and what a ranking holds."""


class Lead(Record):
    """The leading measure, and why it leads."""

    measure: str
    why: str
    """A whole sentence that names the measure, to be shown wherever the measure leads."""
    beside: tuple[str, ...] = ()
    """Measures that belong next to it."""


def lead_of(examples: Iterable[Example], *, chosen: str | None = None, has_answers: bool = False) -> Lead:
    """Return the measure that questions call for, or the chosen one, with the reason.

    Questions without gold nodes have no say; if no question has any and answers were asked for, these are measured.
    """
    examples = list(examples)
    own = _of_sizes([size for example in examples if (size := relevant_count(example.gold.nodes))], len(examples))
    if own is None:
        measure = ANSWERS[0] if has_answers and any(example.gold.answers for example in examples) else RANKING[0]
        own = Lead(measure=measure, why=f"By {measure}, for no question has gold nodes.")
    if chosen in (None, own.measure):
        return own
    return Lead(measure=chosen, why=f"By {chosen}, as chosen; without a choice {own.why[0].lower()}{own.why[1:]}")


def _of_sizes(sizes: list[int], asked: int) -> Lead | None:
    """Return the measure for questions with these numbers of gold nodes; None without any."""
    if not sizes:
        return None
    middle, several = median_high(sizes), sum(size > 1 for size in sizes)
    kind, nodes = ("questions", " gold nodes") if len(sizes) == asked else ("questions with gold nodes", "")
    if middle == 1:
        reason = f"{_share(len(sizes) - several, sizes, kind)} one{nodes.removesuffix('s')}"
        return Lead(measure=RANKING[0], why=f"By {RANKING[0]}, for {reason}.")
    reason = f"{_share(several, sizes, kind)} several{nodes}"
    if middle <= FEW:
        return Lead(measure=f"Recall@{FEW}", why=f"By Recall@{FEW}, for {reason}.", beside=(f"AllGold@{FEW}",))
    reason += f" and half have {middle:,} or more"
    if middle <= MANY:
        why = f"By Recall@{MANY}, for {reason}: {FEW} places cannot hold them."
        return Lead(measure=f"Recall@{MANY}", why=why, beside=(f"AllGold@{MANY}",))
    return Lead(measure="nDCG@10", why=f"By nDCG@10, for {reason}: no list of {MANY} can hold them.")


def _share(count: int, sizes: list[int], kind: str) -> str:
    """Say how many of the questions have what is counted: the subject of a sentence, with its verb."""
    if len(sizes) == 1:
        return f"the one {kind.replace('questions', 'question')} has"
    return (
        f"all {count:,} {kind} have"
        if count == len(sizes)
        else f"{count:,} of the {len(sizes):,} {kind} ha{'s' if count == 1 else 've'}"
    )
