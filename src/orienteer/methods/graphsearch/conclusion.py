"""The answer to the question, from what all channels have found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from orienteer.agents.answer import NOT_THERE, with_ids
from orienteer.agents.workflow import Workflow
from orienteer.methods.graphsearch.config import GraphSearchConfig
from orienteer.methods.graphsearch.inquiry import Inquiry
from orienteer.methods.graphsearch.queries import one_line
from orienteer.methods.graphsearch.sub_answers import (
    ANSWER,
    SubAnswer,
    history,
    known_labels,
    quoted,
    without_labels,
    words_of,
)


class Conclusion(NamedTuple):
    """The answer to the question."""

    short: str | None = None
    """The answer in a few words and its citations; None where the model gave none that can be read."""
    long: str | None = None
    cited: tuple[str, ...] = ()
    """Ids of nodes."""


def conclude(flow: Workflow, inquiries: Sequence[Inquiry], config: GraphSearchConfig) -> Conclusion:
    """Return the answer from what all channels have found, in one call.

    Raises `BudgetExhausted`, `ModelError`.
    """
    answers = [answer for inquiry in inquiries for answer in inquiry.answers]
    standing = {True: "accepted", False: "rejected", None: "not verified"}
    drafts = [
        f"Draft ({inquiry.name}, {standing[inquiry.is_accepted]}):\n{quoted(inquiry.draft)}"
        for inquiry in inquiries
        if inquiry.draft
    ]
    reply = flow.ask_for(
        "graphsearch-answer" if config.faithful else "graphsearch-lean-answer",
        ANSWER,
        question=flow.question.text,
        history=history(answers, config.history_tokens),
        drafts="\n".join(drafts) or "(none)",
    )
    if reply is None:
        flow.notes.append("no answer in a form that can be read")
        return Conclusion()
    return conclusion_of(flow, reply, answers)


def conclusion_of(flow: Workflow, reply: Mapping[str, Any], answers: Sequence[SubAnswer]) -> Conclusion:  # Any: JSON
    """Return the answer of a reply, its labels replaced by ids of nodes; notes say what is wrong with it."""
    labels = {label: ids for answer in answers for label, ids in answer.findings.labels.items()}
    long = with_ids(reply["explanation"].strip(), labels)
    words = words_of(reply["answer"])
    if words is None and (line := one_line(reply["answer"] or "")) and not without_labels(line):
        flow.notes.append("no answer: the model gave labels alone")
        return Conclusion(None, long.text or None, long.cited)
    if words is None:
        return Conclusion(NOT_THERE, long.text or None, long.cited)
    short = with_ids(words, labels)
    listed = [node for label in known_labels(reply["cited"], labels) for node in labels[label]]
    foreign = [label for label in reply["cited"] if not known_labels([label], labels)]
    if foreign:
        flow.notes.append(f"the answer cites what is not in the evidence: {', '.join(map(repr, foreign))}")
    cited = tuple(dict.fromkeys((*short.cited, *listed)))
    if not cited and not long.cited:
        flow.notes.append("the answer cites nothing of the evidence")
    marks = "".join(f"[{node}]" for node in cited if f"[{node}]" not in short.text)
    return Conclusion(f"{short.text} {marks}".strip(), long.text or None, tuple(dict.fromkeys((*cited, *long.cited))))
